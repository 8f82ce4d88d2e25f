"""Which equations positions and speeds near a closed position meet, as tables for the compiled loops.

They are those of ``AssemblyProblem``: six rows for each cut joint, those of constraint elements, and followers with a
given value.  A table says where the kernels' results have the numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.initialization.assembly_problem import AssemblyProblem
from kinode.dynamics.initialization.warm_starts.newton_loop import RowPlan
from kinode.jit.pointers import floats_of, ints_of


class PlannedRows(NamedTuple):
    """The table of some equations, its requested values, and where those of followers stand among them."""

    record: RowPlan
    asked: Array
    followers: slice


class RowTable:
    """Rows and their coefficients, as they are collected."""

    def __init__(self) -> None:
        self.source: list[int] = []
        self.scale: list[float] = []
        self.entries: list[tuple[int, int, int]] = []  # place in the results, row, column

    def append(self, source: int, scale: float, entries: list[tuple[int, int]]) -> None:
        """A row with the places and columns of its coefficients."""
        self.entries += [(place, len(self.source), column) for place, column in entries]
        self.source.append(source)
        self.scale.append(scale)

    def plan(self, free: Array, rotations: Array, n_followers: int, units: Array) -> PlannedRows:
        """The table as a record; ``free`` marks the unknowns, which all count alike in their units."""
        record, n = RowPlan(), len(self.source)
        asked = np.zeros(max(n, 1))
        entry, row, column = np.array(self.entries, dtype=np.int64).reshape(-1, 3).T
        record.n_rows, record.n_entries = n, len(entry)
        record.n_free, record.n_turns = int(free.sum()), len(rotations)
        place = np.where(free, np.cumsum(free) - 1, -1)
        numbers = {
            "source": self.source, "entry": entry, "entry_row": row, "entry_column": column,
            "free": np.flatnonzero(free), "place": place, "rotation": rotations,
        }  # fmt: skip
        for name, values in numbers.items():
            setattr(record, name, ints_of(np.array(values, dtype=np.int64)))
        record.scale, record.asked = floats_of(np.array(self.scale)), floats_of(asked)
        record.weight = floats_of(units[: len(free)] ** -2.0)
        return PlannedRows(record, asked, slice(n - n_followers, n))


def plan_positions(problem: AssemblyProblem, free: Array) -> PlannedRows:
    """The equations of a closed position; ``free`` marks the freedoms that may move."""
    table, plan = RowTable(), problem.poses.plan
    sources = np.hstack([np.full((len(problem.poses.cuts), 3), -1), plan.positions])
    _append_cuts(table, problem, sources)
    _append_elements(table, problem, np.flatnonzero(problem.element_rows).tolist(), 0)
    for k in problem.given_followers:
        _append_follower(table, problem, k, 0)
    return table.plan(free, plan.rotations[:, 0], len(problem.given_followers), problem.units)


def plan_speeds(problem: AssemblyProblem, free: Array, followers: list[int]) -> PlannedRows:
    """The equations of speeds; ``followers`` are those with a given speed, the speeds of others are unknowns too."""
    table, plan = RowTable(), problem.poses.plan
    _append_cuts(table, problem, plan.moving)
    if problem.loops is not None:
        n = len(problem.loops.names)
        _append_elements(table, problem, list(range(problem.n_cut_rows, n)), n)
    led = [k for k in range(len(problem.followers)) if k not in followers]
    for k in led + followers:
        _append_follower(table, problem, k, 1)
    units = np.concatenate([problem.units[: len(free)], problem.units[problem.n_u :][led]])
    free = np.concatenate([free, np.ones(len(led), dtype=bool)])
    planned = table.plan(free, plan.rotations[:0, 0], len(followers), units)
    planned.record.n_led, planned.record.first_led = len(led), planned.followers.start - len(led)
    return planned


def _append_cuts(table: RowTable, problem: AssemblyProblem, sources: Array) -> None:
    """Six rows for each cut joint."""
    plan, scale = problem.poses.plan, (1.0,) * 3 + (1.0 / problem.length,) * 3
    entries: list[list[tuple[int, int]]] = [[] for _ in range(sources.size)]
    for place, row, column in zip(plan.entries.tolist(), plan.rows.tolist(), plan.columns.tolist(), strict=True):
        entries[row].append((place, column))
    for row, source in enumerate(sources.ravel().tolist()):
        table.append(source, scale[row % 6], entries[row])


def _append_elements(table: RowTable, problem: AssemblyProblem, rows: list[int], first: int) -> None:
    """Rows of constraint elements; their values begin at ``first`` in the result of the kernel of closures."""
    if problem.loops is None or not rows:
        return
    at = _n_pose_results(problem)
    n, (pattern_rows, columns) = len(problem.loops.names), problem.loops.pattern
    entries: dict[int, list[tuple[int, int]]] = {row: [] for row in rows}
    for k, (row, column) in enumerate(zip(pattern_rows.tolist(), columns.tolist(), strict=True)):
        if row in entries:
            entries[row].append((at + 2 * n + k, column))
    for row in rows:
        table.append(at + first + row, 1.0 / float(problem.loops.scale[row]), entries[row])


def _append_follower(table: RowTable, problem: AssemblyProblem, k: int, part: int) -> None:
    """The coordinate (part 0) or the speed (part 1) of a follower."""
    places, unit = problem.poses.plan.followers[k].tolist(), problem.units[problem.n_u + k]
    leaders = np.flatnonzero(problem.poses.leading[k]).tolist()
    table.append(places[part], 1.0 / float(unit), [(places[2], column) for column in leaders])


def _n_pose_results(problem: AssemblyProblem) -> int:
    """The size of the result of the kernel of pose errors."""
    plan = problem.poses.plan
    return 18 * len(plan.rotations) + len(plan.entries) + 3 * len(plan.followers)
