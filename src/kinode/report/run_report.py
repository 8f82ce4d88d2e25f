"""The report of a run: one HTML file that needs nothing else, on a screen and on paper.

``report`` writes it; the sections are functions from a run to markup, in reading order.  The mechanism is the player on
a screen and a still picture on paper; of each drive it says what motor and gear have to give.  What is known of the
model is in model_section.py, of its equations in derivation_section.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinode.atomic_files import write_text
from kinode.errors import Error
from kinode.hooks import hook
from kinode.kernels.state import Wrench
from kinode.report.causes_section import describe_causes
from kinode.report.derivation_section import (
    describe_circuit,
    describe_equations,
    describe_forms,
    describe_scheme,
    describe_steps,
)
from kinode.report.model_section import describe_events, describe_limits, describe_model
from kinode.report.page import compose_page, make_folder
from kinode.results.drive_sizing import compute_sizing
from kinode.results.joint_loads import (
    JointLoads,
    compute_loads,
    compute_parts,
    describe_loads,
    find_wrenches,
    is_negligible,
)
from kinode.results.run_quantities import IGNORE_OVERFLOW
from kinode.results.run_summary import describe_size, describe_status, loads_table
from kinode.sheets.markup import Markup, escape, join, table, tag
from kinode.sheets.tables import Table, number
from kinode.simulation.absolute_drift import PREFIX as DRIFT
from kinode.version import __version__
from kinode.views.html_markup import facts, picture
from kinode.views.mechanism.mechanism_drawing import draw_mechanism
from kinode.views.plots.time_plots import (
    MOST_LINES,
    PlotLine,
    coordinate_names,
    draw_lines,
    draw_loads,
    find_lines,
    group_lines,
    make_room,
    mark_events,
)
from kinode.views.style import SmallSheet, label, new_figure, small_axes, style

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory


WORDS = (
    "On the motor's side the inertia and the losses of the rotor count; on the output side is what the gear transmits "
    "to the links. Without a gear both are the same. A negative mean power is taken from the mechanism."
)


def describe_drives(run: Trajectory) -> Markup:
    """The table for choosing motors and gears; nothing if no joint is driven."""
    sizing = compute_sizing(run)
    if not len(sizing):
        return Markup("")
    return join([tag("h2", "Drives"), tag("p", WORDS), table(sizing.table, dense=True)])


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


FIGURE_SIZE = (5.0, 2.55)  # inches: two plots beside each other on a screen, one on a telephone
MOST_JOINTS = 8  # whose loads are plotted
REACTION = (
    "A reaction is what the parent side of a joint exerts on its child side, about the child's joint point, in the "
    "axes of the joint on the parent. It keeps the constraint. The effort is all that reaches the links along the "
    "joint's freedom. The drive gives that, and what its rotor and the losses of its gear take. Means are over time."
)
PARTS = (
    "The static part is what the applied loads would ask for without acceleration, the kinetic part what inertia adds."
)
FACTS = {
    "rtol": "relative tolerance",
    "atol": "absolute tolerance",
    "evaluations": "evaluations of the rate",
    "seconds": "computing time",
}
LONGEST_NAME = 200  # bytes of a file's name, of which systems take 255
MOST_GROUPS = 8  # plots of coordinates, and of speeds


def report(
    run: Trajectory, folder: str | os.PathLike[str] = ".", *, name: str | None = None, title: str | None = None,
    verify: bool = True, joints: int = MOST_JOINTS, plots: Mapping[str, Sequence[str]] | None = None,
    seen_from: str | None = None, explain: bool = False, equations: bool = True,
) -> Path:  # fmt: skip
    """Write the report of a run as one HTML file, ``<system>.html`` in a folder.

    Parameters
    ----------
    run : Trajectory
    folder : path, default "."
        Where the file goes; the folder is made if needed.
    name : str, optional
        Name of the file without its ending; that of the system if left out.
    title : str, optional
        Heading of the page.
    verify : bool, default True
        Whether independent derivations of the model are compared.
    joints : int, default 8
        How many joints have their loads plotted, the most loaded ones first.
    plots : mapping of str to sequence of str, optional
        Further plots: headings with the names of the quantities.
    seen_from : str, optional
        A body or frame that stands still in the picture of the mechanism.
    explain : bool, default False
        Whether the steps that lead to the equations are added.
    equations : bool, default True
        Whether the equations of motion are added, where they are short.

    Returns
    -------
    pathlib.Path
        The file.
    """
    file = make_folder(folder) / f"{_file_name(name or run.system.name)}.html"
    try:
        text = compose(
            run, title=title, verify=verify, joints=joints, plots=plots, seen_from=seen_from, explain=explain,
            equations=equations,
        )  # fmt: skip
    except OSError as error:
        raise Error(f"{error.filename or file}: the report cannot be written: {error.strerror}") from None
    write_text(file, text)
    return file


@IGNORE_OVERFLOW
def compose(
    run: Trajectory, *, title: str | None = None, verify: bool = True, joints: int = MOST_JOINTS,
    plots: Mapping[str, Sequence[str]] | None = None, seen_from: str | None = None, explain: bool = False,
    equations: bool = True,
) -> str:  # fmt: skip
    """The text of the report."""
    wrenches = find_wrenches(run) if len(run) else {}
    loads = compute_loads(run, wrenches) if len(run) else []
    checked = _verify(run) if verify else None
    heading = title or run.system.name
    mechanism = describe_mechanism(run, seen_from, equations)
    sections = [mechanism.section, describe_scheme(run.system), describe_circuit(run.dynamics)]
    if len(run):
        sections += [
            _chosen(run, plots or {}),
            _motion(run),
            _loads(run, loads, wrenches, joints),
            describe_drives(run),
            describe_causes(run, wrenches),
            _energy(run),
            describe_events(run),
        ]
    sections += [describe_steps(run.system)] if explain else []
    sections += [describe_equations(run.system), describe_forms(run.system)] if equations else []
    sections += [_verification(checked) if verify else Markup(""), _facts(run)]
    body = tag("main", _header(run, heading), _keys(run, loads, checked), *sections, _footer())
    return compose_page(f"{heading}: motion and joint loads", body, policy=mechanism.policy, script=mechanism.script)


def _file_name(text: str) -> str:
    """A name for a file: no separators, no leading dot."""
    plain = re.sub(r"[^\w.-]+", "_", text).strip("._")
    return plain.encode()[:LONGEST_NAME].decode(errors="ignore") or "report"


# -- top -------------------------------------------------------------------------------------------
def _header(run: Trajectory, heading: str) -> Markup:
    parts = [tag("header", tag("h1", heading), tag("p", describe_size(run), class_="lead"))]
    if run.status not in ("done", "condition"):
        parts.append(tag("div", tag("strong", "This run did not reach its end. "), run.message, class_="banner"))
    return join(parts)


def _keys(run: Trajectory, loads: Sequence[JointLoads], checked: Any) -> Markup:
    """The key figures."""

    def key(word: str, value: object, more: object, kind: str = "") -> Markup:
        return tag(
            "div", tag("span", word, class_="word"), tag("b", value), tag("span", more), class_=f"key {kind}".strip()
        )

    cards = []
    if len(run):
        cards.append(key("simulated", f"{number(float(run.t[-1] - run.t[0]))} s", describe_status(run)))
    noise = 1e-12 * max((np.nan_to_num(y.peak) for x in loads for y in (x.force, x.moment)), default=0.0)
    for word, unit in (("force", "N"), ("moment", "N·m")):
        if any(getattr(x, word).peak > noise for x in loads):
            top = max(loads, key=lambda x: np.nan_to_num(getattr(x, word).peak))
            most = getattr(top, word)
            cards.append(
                key(f"largest joint {word}", f"{number(most.peak)} {unit}", f"{top.joint}, at {number(most.time)} s")
            )
    error = _relative_error(run)
    if error is not None:
        cards.append(
            key("energy defect", f"{number(error, 2)}", "of the energy in play", "" if error < 1e-3 else "bad")
        )
    if checked is not None and not isinstance(checked, Error):
        kind, words = ("good", "agree") if checked.ok else ("bad", "DISAGREE")
        cards.append(key("independent derivations", words, f"{len(checked.rows)} comparisons", kind))
    return tag("div", *cards, class_="keys")


# -- sections --------------------------------------------------------------------------------------
def _chosen(run: Trajectory, plots: Mapping[str, Sequence[str]]) -> Markup:
    """The plots that the caller requests, each with its heading; there is one plot for each unit."""
    sections = []
    for heading, names in plots.items():
        run.evaluate(names)
        groups = group_lines([line for name in names for line in find_lines(run, name)])
        drawn = [_small(run, group, heading) for group in groups]
        sections += [tag("h3", heading), tag("div", *drawn, class_="plots")]
    return join([tag("h2", "Selected quantities"), *sections]) if sections else Markup("")


def _motion(run: Trajectory) -> Markup:
    plots: list[Markup] = []
    rest = 0
    for role, words in (("q", "Coordinates"), ("u", "Speeds")):
        names = coordinate_names(run, role)
        run.evaluate(names)
        lines = [line for name in names for line in find_lines(run, name)]
        groups = [group[k : k + MOST_LINES] for group in group_lines(lines) for k in range(0, len(group), MOST_LINES)]
        plots += [_small(run, group, words) for group in groups[:MOST_GROUPS]]
        rest += sum(len(group) for group in groups[MOST_GROUPS:])
    note: object = ""
    if rest:
        note = tag("p", f"{rest} more are not plotted here; run.plot(name) draws any of them.", class_="note")
    elif not plots:
        note = tag("p", "Nothing moves: all joints are fixed.", class_="note")
    return join([tag("h2", "Motion"), tag("div", *plots, class_="plots"), note])


def _small(run: Trajectory, lines: Sequence[PlotLine], words: str, word: str | None = None) -> Markup:
    with style():
        figure, axes = small_axes(FIGURE_SIZE)
        draw_lines(axes, run.t, lines, word=word)
        mark_events(axes, run)
        axes.set_xlabel(label("time", "s"))
        make_room(axes)
        return picture(figure, f"{words} over time: {', '.join(line.name for line in lines)}")


def _loads(run: Trajectory, loads: Sequence[JointLoads], wrenches: dict[str, Wrench], limit: int) -> Markup:
    parts = [tag("h2", "Joint loads")]
    if not loads:
        return join([*parts, tag("p", "No joint constrains a body, so that none carries a load.")])
    parts.append(tag("p", REACTION))
    shares = compute_parts(run, wrenches)
    if shares:
        parts.append(tag("p", PARTS))
    parts.append(table(loads_table(loads, shares), dense=True))
    parts += [*(tag("p", note, class_="note") for note in describe_loads(loads)), describe_limits(run)]
    order = sorted(loads, key=lambda x: -np.nan_to_num(x.force.peak))[:limit]
    shown = [x for x in loads if x in order]
    with style():
        sheets = [SmallSheet(FIGURE_SIZE) for _ in range(2)]
    for x in shown:
        wrench = wrenches[x.joint]
        parts.append(tag("h3", x.joint, tag("span", f"  ({x.kind}, on {x.on})", style="font-weight:400")))
        parts.append(tag("div", *_load_plots(run, x.joint, wrench, sheets), class_="plots"))
    if len(shown) < len(loads):
        rest = len(loads) - len(shown)
        words = f"Plotted are the {len(shown)} joints with the largest forces; {rest} more are in the table only."
        parts.append(tag("p", words, class_="note"))
    return join(parts)


def _load_plots(run: Trajectory, joint: str, wrench: Wrench, sheets: Sequence[SmallSheet]) -> list[Markup]:
    pictures = []
    with style():
        figures, rows = zip(*(sheet.clear() for sheet in sheets))
        draw_loads(rows, run, wrench)
        for axes, figure, word, values in zip(rows, figures, ("Force", "Moment"), (wrench.force, wrench.moment)):
            if is_negligible(values, wrench):
                pictures.append(tag("p", f"{word}: zero throughout.", class_="note"))
                continue
            axes.set_xlabel(label("time", "s"))
            pictures.append(picture(figure, f"{word} in {joint} over time"))
    return pictures


def _energy(run: Trajectory) -> Markup:
    names = ["system.kinetic_energy", "system.potential_energy", "system.energy"]
    values, audit = run.evaluate(names), run.audit
    lines = [PlotLine(word, "J", values[name]) for word, name in zip(("kinetic", "potential", "total"), names)]
    sentence = audit.trust.removeprefix("trust: ")
    rows = [
        (words.replace("defect", "defect at the end"), ("+" if x > 0 else "") + number(x, 5)) for words, x in audit.rows
    ]
    sums = tag("div", table(Table(["from start to end", ("", "J")], rows)))
    words = "The change of energy is compared with the work that was done; what is left is the error of the run."
    plots = tag("div", _small(run, lines, "Energy", "energy"), sums, class_="plots")
    verdict = tag("p", tag("strong", f"{sentence[:1].upper()}{sentence[1:]}."))
    drift = Markup("") if audit.drift is None else tag("p", f"{str(audit.drift).capitalize()}.")
    return join([tag("h2", "Energy audit"), tag("p", words), verdict, drift, plots])


def _relative_error(run: Trajectory) -> float | None:
    value = getattr(run.audit, "relative", None) if len(run) else None
    return None if value is None else float(abs(value))


def _verify(run: Trajectory) -> Any:
    """Compare at one state only: a reader waits for it, and an error shows at almost every state."""
    from kinode.tasks.verify import enough_states, verify

    try:
        return verify(run.system, enough_states(run.dynamics.topology, 1))
    except Error as error:
        return error


def _verification(checked: Any) -> Markup:
    parts = [tag("h2", "Verification")]
    if isinstance(checked, Error):
        return join([*parts, tag("p", f"Could not be done: {checked}")])
    verdict = "All agree." if checked.ok else "They do not all agree: do not rely on these results."
    words = f"The model was derived in independent ways and compared at {checked.states} random states. "
    parts.append(tag("p", words, tag("strong", verdict, class_="good" if checked.ok else "bad")))
    parts += [table(part) for part in checked.sheet.parts if isinstance(part, Table)]
    parts += [tag("p", words, class_="bad") for words in checked.failures]
    parts += [tag("p", words, class_="note") for words in checked.notes]
    return join(parts)


def _facts(run: Trajectory) -> Markup:
    """Solver statistics."""
    known = run.facts
    pairs: list[tuple[object, object]] = [("ended", describe_status(run))]
    if len(run):
        pairs += [(word, f"{number(float(t))} s") for word, t in (("from", run.t[0]), ("until", run.t[-1]))]
        pairs.append(("times stored", f"{len(run)}"))
    for key, value in known.items():
        if value is None or (isinstance(value, float) and not np.isfinite(value)) or key.startswith(DRIFT):
            continue
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        pairs.append((FACTS.get(key, key.replace("_", " ")), f"{number(value, 3)} s" if key == "seconds" else shown))
    sizes = f"{run.dynamics.n_q}, {run.dynamics.n_u}, {run.dynamics.n_z}"
    pairs += [("states (q, u, z)", sizes), ("kinode", __version__)]
    return join([tag("h2", "Run"), facts(pairs)])


def _footer() -> Markup:
    return tag("footer", escape(f"Written by kinode {__version__}. SI units unless said otherwise."))
