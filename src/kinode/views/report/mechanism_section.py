"""The section of the report on the mechanism: the player on a screen, a still picture on paper, and the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kinode.hooks import hook
from kinode.symbolic.markup import Markup, join, tag
from kinode.views.mechanism.mechanism_drawing import draw_mechanism
from kinode.views.report.html_markup import picture
from kinode.views.report.model_section import describe_model
from kinode.views.style import new_figure, number, style

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory


class MechanismSection(NamedTuple):
    """The section, the program that its player needs at the end of the page, and the rule for the head of the page."""

    section: Markup
    script: Markup
    policy: Markup


def describe_mechanism(run: Trajectory, seen_from: str | None, equations: bool = True) -> MechanismSection:
    """What the mechanism looks like, moving on a screen and still on paper."""
    title, model = tag("h2", "Mechanism"), describe_model(run)
    if not len(run):
        return MechanismSection(join([title, model]), Markup(""), Markup(""))
    player = hook("report_player")(run, seen_from, equations)
    still = _still_picture(run, seen_from) if run.system.bodies else Markup("")
    if player.missing:
        note = tag("p", f"Nothing moves here: {player.missing}.", class_="note")
        return MechanismSection(join([title, still, note, model]), Markup(""), Markup(""))
    on_paper = tag("div", still, class_="on-paper")
    moving = tag("div", player.element, class_="player")
    return MechanismSection(join([title, moving, on_paper, model]), player.script, player.policy)


def _still_picture(run: Trajectory, seen_from: str | None) -> Markup:
    with style():
        figure = new_figure((8.6, 5.2), shown=False)
        figure.set_layout_engine("none")
        draw_mechanism(figure.add_axes((0.0, 0.0, 1.0, 1.0)), run, grow=True, seen_from=seen_from)
        words = f"At {number(float(run.t[0]))} s; lighter, later poses. Lines are the paths of the mechanism's ends."
        words += "" if seen_from is None else f" Seen from {seen_from}, which stands still in the picture."
        return picture(figure, f"The mechanism {run.system.name}", caption=words, class_="hero")
