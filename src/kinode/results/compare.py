"""``kn.compare``: what differs between two models, or the peaks of two runs side by side.

The peaks are those of the loads of joints, of their coordinates, and of other states.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, overload

from kinode.comparing.models import ModelComparison, compare_sides, describe_percent, read_side
from kinode.comparing.normal_parts import NameMatches
from kinode.errors import ArgumentError
from kinode.formats.law_forms import LawForms
from kinode.model.base.fields import short
from kinode.model.system import System
from kinode.results.joint_loads import compute_loads
from kinode.results.run_quantities import IGNORE_OVERFLOW, Measure, measure
from kinode.results.trajectory import Trajectory
from kinode.sheets.tables import Sheet, Shown, Table, format_number

Model = System | str | os.PathLike[str]


@overload
def compare(first: Model, second: Model) -> ModelComparison: ...
@overload
def compare(first: Trajectory, second: Trajectory) -> RunComparison: ...
def compare(first: Model | Trajectory, second: Model | Trajectory) -> ModelComparison | RunComparison:
    """Say what differs between two models, or set the peaks of two runs side by side.

    Models are compared by what they mean: 1000 mm and 1 m are equal, and so are laws that differ in the order of their
    terms; comments, order and short forms do not count.  A part that only got another name is one row.

    Parameters
    ----------
    first, second : System, path, or Trajectory
        Two models, as systems or files; or two runs.

    Returns
    -------
    ModelComparison or RunComparison
        ``rows`` has the differences, or the peaks; it prints as a table, and ``to_dict()`` is plain data.

    Raises
    ------
    ArgumentError
        A model and a run cannot be compared.
    ModelError
        A file is no model, or a wrong one.

    Examples
    --------
    >>> one = kn.load("examples/pendulum.yaml")
    >>> two = one.copy()
    >>> _ = two.change("L", value="1.2 m")
    >>> print(kn.compare(one, two))
    pendulum -> pendulum: 1 changed
    ~ L.value  1 m -> 1.2 m (+20 %)
    >>> bool(kn.compare(one, one.copy()))
    False
    """
    if isinstance(first, Trajectory) and isinstance(second, Trajectory):
        return compare_runs(first, second)
    for other in (first, second):
        if isinstance(other, Trajectory):
            one = second if other is first else first
            raise ArgumentError(f"compare: a run is compared with a run, not with {short(one)}; kn.simulate makes one")
    assert not isinstance(first, Trajectory) and not isinstance(second, Trajectory)
    return compare_sides(read_side(first), read_side(second))


SMALL = 1e-9  # of the larger of two peaks: they are equal


@dataclass(frozen=True)
class ComparedPeak:
    """The largest magnitudes of one quantity in two runs.

    Attributes
    ----------
    part : str
        The joint or part, by its name in the second run.
    quantity : str
        ``force``, ``moment``, ``effort``, or the name of a coordinate such as ``elbow.q``.
    unit : str
        The SI unit of both.
    before, after : float, optional
        The peaks; None where a run does not have it.
    time_before, time_after : float, optional
        When they occur, s.
    """

    part: str
    quantity: str
    unit: str
    before: float | None
    after: float | None
    time_before: float | None = None
    time_after: float | None = None

    @property
    def percent(self) -> float | None:
        """The difference in per cent of the first; None where that is zero or one of them is missing."""
        if self.before is None or self.after is None:
            return None
        if abs(self.after - self.before) <= SMALL * max(self.before, self.after):
            return 0.0
        return 100.0 * (self.after - self.before) / self.before if self.before else None

    @property
    def name(self) -> str:
        """The quantity by its full name."""
        return self.quantity if "." in self.quantity else f"{self.part}.{self.quantity}"

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        return {
            "part": self.part, "quantity": self.quantity, "name": self.name, "unit": self.unit, "before": self.before,
            "after": self.after, "time_before": self.time_before, "time_after": self.time_after,
            "percent": self.percent,
        }  # fmt: skip


@dataclass(frozen=True)
class RunComparison(Shown):
    """Peaks of two runs; prints as a table.

    Attributes
    ----------
    first, second : str
        The two runs.
    rows : tuple of ComparedPeak
        Loads of joints first, then coordinates and other states.
    """

    first: str
    second: str
    rows: tuple[ComparedPeak, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ComparedPeak]:
        return iter(self.rows)

    @property
    def table(self) -> tuple[list[str], list[list[str]]]:
        """Head and rows as text."""
        rows = [[row.name, _cell(row.before), _cell(row.after), row.unit, _change(row)] for row in self.rows]
        return ["peak", "first", "second", "unit", "change"], rows

    @property
    def verdict(self) -> str:
        """The largest difference, in words."""
        known = [row for row in self.rows if row.percent is not None]
        if not known:
            return "nothing to compare"
        most = max(known, key=lambda row: abs(row.percent or 0.0))
        return f"{most.name} {describe_percent(most.percent)}" if most.percent else "equal peaks"

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data, for JSON."""
        return {"first": self.first, "second": self.second, "rows": [row.to_dict() for row in self.rows]}

    def __repr__(self) -> str:
        return f"<RunComparison of {self.first!r} and {self.second!r}: {self.verdict}>"

    @property
    def peaks(self) -> Table:
        """The peaks of both runs; without units where there is no room."""
        return Table(*self.table, "wnnun", narrow=(0, 1, 2, 4))

    @property
    def sheet(self) -> Sheet:
        return Sheet(f"{self.first} -> {self.second}", ": peaks", [self.peaks])


def _cell(value: float | None) -> str:
    return "-" if value is None else format_number(value)


def _change(row: ComparedPeak) -> str:
    return "" if row.percent is None else describe_percent(row.percent) if row.percent else "="


def compare_runs(
    first: Trajectory, second: Trajectory, labels: tuple[str, str] | None = None
) -> RunComparison:  # fmt: skip
    """The peaks of two runs, joints that were renamed side by side."""
    names = NameMatches(first.system, second.system, LawForms()).names
    one, two = find_peaks(first), find_peaks(second)
    mapped = {_new_key(key, names): value for key, value in one.items()}
    rows = []
    for key in dict.fromkeys([*two, *mapped]):
        before, after = mapped.get(key), two.get(key)
        unit = (after or before or ("", None))[0]
        (x, t), (y, s) = (_numbers(side) for side in (before, after))
        rows.append(ComparedPeak(*key, unit, x, y, t, s))
    shown = labels or (first.system.name, second.system.name)
    return RunComparison(*shown, tuple(rows))


def _numbers(side: tuple[str, Measure] | None) -> tuple[float | None, float | None]:
    return (None, None) if side is None else (side[1].peak, side[1].time)


def _new_key(key: tuple[str, str], names: Mapping[str, str]) -> tuple[str, str]:
    part, quantity = key
    new = names.get(part, part)
    renamed = quantity.startswith(f"{part}.")
    return new, f"{new}.{quantity.removeprefix(f'{part}.')}" if renamed else quantity


@IGNORE_OVERFLOW
def find_peaks(run: Trajectory) -> dict[tuple[str, str], tuple[str, Measure]]:
    """The peaks of one run, with their units: forces, moments and efforts of joints, then all coordinates."""
    peaks: dict[tuple[str, str], tuple[str, Measure]] = {}
    for load in compute_loads(run):
        peaks[load.joint, "force"] = "N", load.force
        peaks[load.joint, "moment"] = "N*m", load.moment
        if load.driving is not None:
            peaks[load.joint, "effort"] = load.effort_unit, load.driving
    names = [c.name for c in run.dynamics.coordinates if c.role in ("q", "z")]
    for name, values in run.evaluate(names).items():
        peaks[name.rpartition(".")[0], name] = str(run.units(name)), measure(run.t, values)
    return peaks
