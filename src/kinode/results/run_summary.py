"""A run in words and tables, for a terminal, a notebook and a report: its size, its end, events, loads, coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kinode.errors import counted
from kinode.results.joint_loads import JointLoads
from kinode.sheets.tables import Head, Table, number, pretty_unit, range_table
from kinode.simulation.event_log import Event, count_events

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory

ENDINGS = {
    "done": "reached its end",
    "condition": "stopped by its condition",
    "stopped": "stopped by the user",
    "failed": "failed",
}


def describe_size(run: Trajectory) -> str:
    """One line: how many bodies, joints and freedoms."""
    system, dynamics = run.system, run.dynamics
    free = dynamics.closure.freedoms if dynamics.topology.constrained else dynamics.n_u
    counts = [(len(system.bodies), "body", "bodies"), (len(system.joints), "joint", "joints")]
    if system.elements:
        counts.append((len(system.elements), "element", "elements"))
    if system.constraints:
        counts.append((len(system.constraints), "constraint", "constraints"))
    counts.append((free, "freedom", "freedoms"))
    return ", ".join(counted(count, one, many) for count, one, many in counts)


def describe_status(run: Trajectory) -> str:
    """How the run ended, and how many events there were."""
    ending = ENDINGS.get(run.status, run.status)
    return f"{ending}, {count_events(run.events)}" if run.events else ending


def events_table(events: Iterable[Event]) -> Table:
    """When, which components, from which mode to which, and the whole message."""
    rows = [[number(e.time, 6), ", ".join(e.components), e.was, e.becomes, e.message] for e in events]
    return Table(("at s", "component", "from", "to", "event"), rows, "nwwww", "events")


def coordinates_table(run: Trajectory, most: int | None = None) -> Table:
    """Start, end and range of coordinates and other states; of the first ones, if there are more than ``most``."""
    names = [c.name for c in run.dynamics.coordinates if c.role in ("q", "z")] if len(run) else []
    values = run.evaluate(names[:most])
    return range_table("coordinates", [(name, x, str(run.units(name))) for name, x in values.items()])


def loads_table(loads: Sequence[JointLoads], shares: Mapping[str, tuple[float, float]]) -> Table:
    """The loads of joints, with the peaks of their static and kinetic ``shares`` where they are known."""
    head: list[Head] = [
        "joint", ("force peak", "N"), ("at", "s"), ("mean", "N"), ("rms", "N"),
        *([("static peak", "N"), ("kinetic peak", "N")] if shares else []),
        ("axial peak", "N"), ("radial peak", "N"), ("moment peak", "N*m"), ("at", "s"), ("rms", "N*m"),
        "effort peak", "drive peak",
    ]  # fmt: skip
    rows = []
    for x in loads:
        peaks = ("" if y is None else f"{number(y.peak)} {pretty_unit(x.effort_unit)}" for y in (x.effort, x.drive))
        axial, radial = ("" if v is None else number(v) for v in (x.axial, x.radial))
        rows.append([
            x.joint, *(number(v) for v in (x.force.peak, x.force.time, x.force.mean, x.force.rms)),
            *(number(v) for v in shares.get(x.joint, ())), axial, radial,
            number(x.moment.peak), number(x.moment.time), number(x.moment.rms), *peaks,
        ])  # fmt: skip
    return Table(head, rows, title="joint loads")
