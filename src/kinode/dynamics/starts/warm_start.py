"""Warm starts: a model's own closed position is followed to other parameters, in machine code.

It serves where exact values, and the guesses that were kept, determine the position, and where what they leave free
are a few plain coordinates; wherever it does not, it gives None, and the assembly searches.  All that does not depend
on numbers is laid out once (``newton_loop.py``).

The equations that positions and speeds near a closed position meet are those of ``AssemblyProblem``: six rows for each
cut joint, those of constraint elements, and followers with a given value.  Tables say where the kernels' results have
the numbers.
"""

from __future__ import annotations

import threading
from functools import cache as remember
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.starts import newton_loop
from kinode.dynamics.starts.assembly import SPEEDS_FIT
from kinode.dynamics.starts.assembly_problem import AssemblyProblem
from kinode.dynamics.starts.closure import CLOSURE, POSE_ERRORS
from kinode.dynamics.starts.initial_values import DEFAULT_WEIGHT, InitialValues, weight_of
from kinode.dynamics.starts.newton_loop import SOLVED, RowPlan, WarmMemory
from kinode.jit.loop.memory import floats_of, ints_of
from kinode.jit.machine_code import CompiledFunction, compiled_together
from kinode.kernels.kernel_options import Kernel
from kinode.model.joints.joint import Joint
from kinode.structure.loop_closure import CLOSED, CLOSED_ENOUGH, RANK
from kinode.structure.state_layout import EvaluationPoint

if TYPE_CHECKING:
    from kinode.dynamics.starts.assembler import Anchor, Assembler


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


ADVANCED = Kernel("advanced_position")
NEWTON_STEPS = 8  # from one closed position to another near it
NEAR = 0.25  # rad, or characteristic lengths: a position so near is taken without a look at other branches
MOST_FREEDOMS = 12  # of more, the curvature takes longer than the assembly
LARGEST = 200  # rows: of more, elimination of full rows takes longer than NumPy's


@remember
def _loops() -> dict[str, CompiledFunction]:
    names = ("follow_position", "slide", "count_leaders", "solve_speeds_there")
    return dict(zip(names, compiled_together([getattr(newton_loop, name) for name in names]), strict=True))


def is_served(assembler: Assembler, anchor: Anchor) -> bool:
    """Whether warm starts from an anchor exist: it is determined, and the machine code for it is worth while."""
    problem = assembler.problem
    joints = [problem.joints[name] for name in problem.u_of]
    return (
        (anchor.freedoms == 0 or (anchor.freedoms <= MOST_FREEDOMS and not problem.followers))
        and problem.groups[-1].rows.stop <= LARGEST
        and all(type(joint).advance is Joint.advance for joint in joints)
        and all(len(set(assembler.exact[where].tolist())) <= 1 for where in problem.u_of.values())
    )


class WarmStart:
    """Starts near an anchor.

    Parameters
    ----------
    assembler : Assembler
        An assembly with the anchor's exact values; guesses that the anchor keeps are exact.
    anchor : Anchor
    """

    def __init__(self, assembler: Assembler, anchor: Anchor) -> None:
        problem = assembler.problem
        self.anchor, self.problem, self._lock = anchor, problem, threading.Lock()
        given = assembler.exact[: problem.n_u]
        # joints whose coordinates are exact, or guesses that are kept
        self.given = [name for name, where in problem.u_of.items() if given[where].all() and where.stop > where.start]
        self.given_followers = [problem.followers[k] for k in problem.given_followers]
        self._near = NEAR * problem.poses.layout.spans(problem.length)
        self.memory, self._arrays = WarmMemory(), _make_arrays(problem, anchor.freedoms)
        self._positions = plan_positions(problem, ~given)
        self._speeds: dict[bytes, PlannedRows] = {}
        self._lay_out()
        self._choose_leaders(given)

    def _lay_out(self) -> None:
        """Connect the memory of the loops with its arrays, kernels and limits."""
        problem, memory, arrays = self.problem, self.memory, self._arrays
        kernels = problem.poses.kernels
        machines = {kernel: kernels.machine(kernel) for kernel in _kernels_of(problem)}
        memory.advance = machines[ADVANCED].address
        if POSE_ERRORS in machines:
            memory.poses, memory.elements_at = machines[POSE_ERRORS].address, machines[POSE_ERRORS].sizes["out"]
        if CLOSURE in machines:
            memory.elements = machines[CLOSURE].address
        memory.n_state, memory.n_q, memory.n_u = problem.topology.n_q, problem.n_q, problem.n_u
        memory.near, memory.closed, memory.closed_enough, memory.rank = NEAR, CLOSED, CLOSED_ENOUGH, RANK
        memory.fit, memory.order = SPEEDS_FIT, ints_of(np.zeros(len(problem.owners), dtype=np.int64))
        for name, array in arrays.items():
            setattr(memory, name, floats_of(array))
        memory.positions = self._positions.record

    def _choose_leaders(self, given: Array) -> None:
        """Let as many coordinates lead as there are freedoms: those that the others depend on most gently."""
        problem, memory, n, arrays = self.problem, self.memory, self.problem.n_u, self._arrays
        place, leads = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool)
        for name, where in problem.u_of.items():
            if not given[where].all():
                place[where] = problem.q_of[name].start + np.arange(where.stop - where.start)
        memory.place = ints_of(place)
        balls = [
            (problem.q_of[name].start + head, problem.u_of[name].start + head, head)
            for name, where in problem.u_of.items()
            if (head := problem.joints[name].quaternion) is not None and not given[where].all()
        ]
        memory.n_balls, memory.balls = len(balls), ints_of(np.array(balls, dtype=np.int64).ravel())
        arrays["weight"][:] = np.where(given, 0.0, problem.weights[:n] * problem.units[:n] ** -2.0)
        if self.anchor.freedoms:
            self._set_numbers(problem.point)
            arrays["x"][:] = self.anchor.x
            count = _loops()["count_leaders"](memory)
            free = np.flatnonzero(~given)
            leads[[free[memory.order[len(free) - 1 - k]] for k in range(count)]] = True
        memory.leaders = RowTable().plan(leads, np.zeros(0, dtype=int), 0, problem.units).record
        memory.leaders.n_rows = memory.leaders.n_free
        self._positions = plan_positions(problem, ~(given | leads))
        memory.positions = self._positions.record

    def follow(self, values: InitialValues, point: EvaluationPoint) -> tuple[Array, Array] | None:
        """Position and speeds of all unknowns near the anchor; None where it does not serve.

        Parameters
        ----------
        values : InitialValues
        point : EvaluationPoint
            Time, other states, parameters and inputs.
        """
        if not self._is_asked_alike(values):
            return None
        with self._lock:  # one after the other: another way to the start would differ in the last bits
            self._set_point(values, point)
            if _loops()["follow_position"](self.memory) != SOLVED or not self._slide(values):
                return None
            x = self._arrays["x"].copy()
            if not (abs(x - self.anchor.x) <= self._near).all():
                return None
            u = self._solve_speeds(values, x)
            return None if u is None else (x, u)

    def _slide(self, values: InitialValues) -> bool:
        """Go on to the position nearest to what is asked for, where the mechanism has freedoms left."""
        if not self.memory.leaders.n_free:
            return True
        for name in self.problem.u_of.keys() & values.joints.keys():
            self._arrays["wanted"][self.problem.q_of[name]] = values.joints[name].q
        self.memory.steps = NEWTON_STEPS
        return not values.weights and _loops()["slide"](self.memory) == SOLVED

    def _is_asked_alike(self, values: InitialValues) -> bool:
        """Whether the same coordinates are exact and guessed as at the anchor."""
        names, joints = self.problem.names, values.joints
        exact = np.concatenate([joints[name].exact_q for name in names])
        guessed = [weight_of(values, name) > DEFAULT_WEIGHT for name in self.problem.owners]
        return np.array_equal(exact, self.anchor.exact) and np.array_equal(guessed, self.anchor.guessed)

    def _set_point(self, values: InitialValues, point: EvaluationPoint) -> None:
        """Write where Newton's method begins, and with which numbers."""
        arrays, problem = self._arrays, self.problem
        self._set_numbers(point)
        arrays["step"][:] = 0.0
        x = arrays["x"]
        x[:] = self.anchor.x
        for name in self.given:
            x[problem.q_of[name]] = values.joints[name].q
        planned = self._positions
        planned.asked[planned.followers] = [values.joints[name].q[0] for name in self.given_followers]
        self.memory.steps = NEWTON_STEPS

    def _set_numbers(self, point: EvaluationPoint) -> None:
        """Write time, other states, parameters and inputs."""
        arrays = self._arrays
        arrays["time"][0] = point.t
        arrays["z"][:], arrays["p"][:], arrays["inputs"][:] = point.z, point.p, point.inputs

    def _solve_speeds(self, values: InitialValues, x: Array) -> Array | None:
        """Speeds of all unknowns, the nearest to those that are asked for; None where exact ones do not fit."""
        problem, joints = self.problem, values.joints
        exact = np.concatenate([joints[name].exact_u for name in problem.names])
        coordinates = problem.coordinates(x)
        asked = np.concatenate([joints[name].u(coordinates[name]) for name in problem.names])
        n_u, key = problem.n_u, exact.tobytes()
        if key not in self._speeds:
            followers = [problem.followers.index(name) for name in self.find_fast_followers(values)]
            self._speeds[key] = plan_speeds(problem, ~exact[:n_u], followers)
        planned, step = self._speeds[key], self._arrays["step"]
        planned.asked[planned.followers] = asked[n_u:][exact[n_u:]]
        step[:n_u] = asked[:n_u]
        self.memory.speeds = planned.record
        if _loops()["solve_speeds_there"](self.memory) != SOLVED:
            return None
        if self.memory.n_open and not self._all_count_alike(values):
            return None
        return step[:n_u].copy()

    def find_fast_followers(self, values: InitialValues) -> list[str]:
        """The followers whose speed is given."""
        return [name for name in self.problem.followers if values.joints[name].exact_u.all()]

    def _all_count_alike(self, values: InitialValues) -> bool:
        """Whether all speeds that are not exact have the same weight, and are asked to be zero."""
        guessed = any(
            values.joints[name].has_u and not values.joints[name].exact_u.all() for name in self.problem.names
        )
        return not values.weights and not guessed


def _make_arrays(problem: AssemblyProblem, freedoms: int) -> dict[str, Array]:
    """The arrays that the loops work on, by the names of their fields."""
    topology, point = problem.topology, problem.point
    machines = [problem.poses.kernels.machine(kernel) for kernel in _kernels_of(problem)]
    rows = 6 * len(problem.poses.cuts) + len(problem.followers)
    rows += 0 if problem.loops is None else len(problem.loops.names)
    n_all = problem.n_u + len(problem.followers)
    sizes = {
        "time": 1, "x": problem.n_q, "still": topology.n_u, "z": len(point.z), "p": len(point.p),
        "inputs": len(point.inputs), "work": max(machine.sizes["work"] for machine in machines),
        "out": sum(machine.sizes["out"] for machine in machines),
        "cut_step": problem.n_q - topology.n_q + problem.n_u, "advanced": problem.n_q,
        "matrix": max(rows, freedoms) * (n_all + 1), "step": n_all, "residual": rows,
        "free_step": n_all * (n_all + 1), "weight": problem.n_u, "wanted": problem.n_q,
        "away": problem.n_u, "before": problem.n_q, "slopes": 2 * freedoms, "curvature": freedoms * (freedoms + 1),
        "tangents": 2 * freedoms * problem.n_u,
    }  # fmt: skip
    arrays = {name: np.zeros(max(size, 1))[:size] for name, size in sizes.items()}
    return arrays | {"unit": problem.units[: problem.n_u].copy()}


def _kernels_of(problem: AssemblyProblem) -> list[Kernel]:
    """The kernels of the loops."""
    kernels = [ADVANCED]
    if problem.poses.cuts or problem.followers:
        kernels.append(POSE_ERRORS)
    if problem.loops is not None and problem.n_cut_rows < len(problem.loops.names):
        kernels.append(CLOSURE)
    return kernels
