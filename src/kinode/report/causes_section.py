"""The section of the report on the breakdown of joint loads: by cause or body over time, and around shafts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinode.dynamics.reactions.lost_values import is_redundant
from kinode.errors import ArgumentError
from kinode.kernels.state import Wrench
from kinode.kernels.tree_size import is_large
from kinode.results.causes import Causes, causes_or_bodies
from kinode.results.joint_loads import reactions
from kinode.sheets.markup import Markup, join, table, tag
from kinode.views.html_markup import picture
from kinode.views.plots.load_plots import draw_causes, draw_polar
from kinode.views.plots.time_plots import make_room
from kinode.views.style import SmallSheet, label, new_figure, style

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory


MOST_JOINTS = 3  # with the largest kinetic forces
MOST_ROWS = 12  # of a table
MOST_BY_CAUSE = 12  # bodies; of more the causes take seconds to compile
MOST_SHARED = 3000  # times and bodies up to which loads that are not unique are shared for a picture
TURN = 2.0 * np.pi
FIGURE_SIZE = (5.0, 2.8)  # inches
INTRODUCTION = (
    "The kinetic part of the reaction, split by what causes it. A share is what each contributes to the sum's peak, "
    "along its direction; negative ones relieve the joint. In the plots, what stands above zero adds to the magnitude "
    "of the sum, what stands below takes from it."
)
POLAR = "The force across the axis as the shaft goes around; the dot is the end of the run."


def describe_causes(run: Trajectory, wrenches: dict[str, Wrench], count: int = MOST_JOINTS) -> Markup:
    """The joints with the largest kinetic forces; nothing where the kinetic part is unknown or takes too long."""
    many = is_redundant(run.dynamics) and len(run) * len(run.system.bodies) > MOST_SHARED
    if len(run) < 2 or many or is_large(run.dynamics.topology):
        return Markup("")
    with style():
        sheet = SmallSheet(FIGURE_SIZE)
    loaded = causes_or_bodies(run, _by_kinetic_force(run, wrenches)[:count], most=MOST_BY_CAUSE)
    sections = [_joint(run, causes, sheet) for causes in loaded if causes.shares]
    return join([tag("h2", "Who loads the joints"), tag("p", INTRODUCTION), *sections]) if sections else Markup("")


def _by_kinetic_force(run: Trajectory, wrenches: dict[str, Wrench]) -> list[str]:
    """Joints by the peak of their kinetic force, those without any left out."""
    try:
        kinetic = reactions(run, list(wrenches), "kinetic") if wrenches else {}
    except ArgumentError:  # the supports of a loop are not known
        return []
    sizes = {name: float(np.abs(wrench.force).max(initial=0.0)) for name, wrench in kinetic.items()}
    whole = max((float(np.abs(wrench.force).max(initial=0.0)) for wrench in wrenches.values()), default=0.0)
    return sorted((name for name, size in sizes.items() if size > 1e-9 * whole), key=lambda name: -sizes[name])


def _joint(run: Trajectory, causes: Causes, sheet: SmallSheet) -> Markup:
    parts = [tag("h3", causes.joint), table(causes.table.most(MOST_ROWS))]
    return join([*parts, tag("div", *_pictures(run, causes, sheet), class_="plots")])


def _pictures(run: Trajectory, causes: Causes, sheet: SmallSheet) -> list[Markup]:
    pictures = []
    with style():
        for of in ("force", "moment") if len(causes.shares) > 1 else ():  # one alone is no stack
            if not np.any(causes.force if of == "force" else causes.moment):
                continue
            figure, axes = sheet.clear()
            make_room(axes, draw_causes(axes, causes, of))
            axes.set_xlabel(label("time", "s"))
            pictures.append(picture(figure, f"Kinetic {of} in {causes.joint} by {causes.by}, stacked over time"))
        if _turns(run, causes.joint) and np.any(causes.force):
            figure = new_figure((6.4, 3.2), shown=False, layout="none")
            boxes = ((0.03, 0.08, 0.42, 0.7), (0.55, 0.08, 0.42, 0.7))
            draw_polar([figure.add_axes(box, projection="polar") for box in boxes], run.pressure(causes.joint))
            pictures.append(picture(figure, f"Kinetic pressure around {causes.joint}", caption=POLAR))
    return pictures


def _turns(run: Trajectory, joint: str) -> bool:
    if not run.system.joints[joint].has_bearings:
        return False
    return float(np.ptp(run[f"{joint}.q"].reshape(len(run), -1)[:, -1])) > TURN
