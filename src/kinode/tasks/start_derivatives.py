"""Derivatives of a run's start and end by parameters, inputs and initial values.

A start is the result of a search: loops are closed, filters start at their inputs, networks at what is given for them.
It is repeated with values a little larger and smaller, and the differences of six such starts (of order six) give its
derivative to some eleven digits.  In a mechanism with loops the tangents of the projection then close the derivative to
rounding.  A parameter that no start can depend on (``start_dependence.py``) needs none of this.

A run that continues another takes over its derivatives by the same names.  Other names, and states that are given,
begin with the state as it is.

A stop condition g(t, y(t, p), p) = 0 holds at the end T for every p, so that dT/dp = -(dg/dp at a fixed time)/(dg/dt).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, Error
from kinode.kernels.kernel_options import ColumnOptions, Kernel
from kinode.kernels.state import State
from kinode.model.joints.end_stops import bounds
from kinode.model.joints.joint import Joint
from kinode.ode.endings import EndKind
from kinode.results.trajectory import Trajectory
from kinode.simulation.column_values import ColumnRequest, RunColumns, StartColumns
from kinode.simulation.stop_conditions import Condition
from kinode.tasks.start_argument import find_start

STEP = 2e-3
"""Step of the differences, as a share of the value, or in rad, m, ... where it is small."""
WEIGHTS = (45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0)
"""Of the differences over one, two and three steps to each side."""
COARSE_WEIGHTS = (8.0 / 12.0, -1.0 / 12.0, 0.0)
SMOOTH = 1e-4
"""Difference between both formulas, as a share of the largest entry: more, and the start does not change smoothly."""
AT_END = 1e-9
"""Distance from an end stop, as a share of the position, or m or rad: a joint so near is there."""
CLOSED = 1e-7
"""Change of a column by the projection, as a share of its largest entry: more, and it opens the loops."""


def find_start_columns(
    dynamics: Dynamics, request: ColumnRequest, start: Any, begin: State, p: Array, inputs: Array
) -> StartColumns:
    """The derivatives of a start.

    Parameters
    ----------
    dynamics : Dynamics
    request : ColumnRequest
        What the run is differentiated by.
    start
        The argument ``start=`` of ``kn.simulate``.
    begin : State
        The start that follows from it.
    p, inputs : array
        Parameters and inputs of the run.
    """
    by_name = start is None or isinstance(start, Mapping)
    find, known = _find_named if by_name else _find_fixed, _take_over(start, len(begin.y))
    rows = [
        known[name] if name in known else find(dynamics, request, k, start, begin, p, inputs)
        for k, name in enumerate(request.names)
    ]
    matrix = np.array(rows)
    if dynamics.topology.constrained and len(rows):
        matrix = _close(dynamics, request, matrix, begin, p, inputs, by_name)
    _check_locks(dynamics, request, matrix, begin, p, inputs)
    _check_stops(dynamics, request, matrix, begin, p)
    return StartColumns(request, matrix, start)


def _check_stops(dynamics: Dynamics, request: ColumnRequest, matrix: Array, begin: State, p: Array) -> None:
    """Refuse columns that move a joint off the rigid end that it starts at, or into it."""
    places = dynamics.topology.q_of
    for name, joint in dynamics.system.joints.items():
        if joint.ends is None or not joint.ends.rigid or name not in places:
            continue
        q, at = float(begin.q[places[name].start]), places[name].start
        for side in (0, 1):
            end = bounds(joint, dynamics.arguments.resolver(p))[side]
            if end is None or abs(q - float(end)) > AT_END * max(1.0, abs(q)):
                continue
            for k, (by, column) in enumerate(zip(request.by, matrix, strict=True)):
                moved = 0.0 if by is None or by[0] != "p" else _end_rate(dynamics, joint, side, p, by[1])
                if abs(column[at] - moved) > SMOOTH * max(1.0, abs(column[at])):
                    message = f"{name} starts at its end stop, and would be off it, or beyond it"
                    raise ArgumentError(f"sensitivity: {request.names[k]}: {message}: there is no derivative")


def _end_rate(dynamics: Dynamics, joint: Joint, side: int, p: Array, k: int) -> float:
    """How an end of a joint's range moves with a parameter."""
    step, ends = STEP * (abs(float(p[k])) or 1.0), []
    for sign in (1.0, -1.0):
        changed = p.copy()
        changed[k] += sign * step
        ends.append(float(bounds(joint, dynamics.arguments.resolver(changed))[side]))
    return (ends[0] - ends[1]) / (2.0 * step)


def _check_locks(
    dynamics: Dynamics, request: ColumnRequest, matrix: Array, begin: State, p: Array, inputs: Array
) -> None:
    """Refuse columns that move what friction, a brake or a clutch may hold at the start."""
    if dynamics.topology.events is None:
        return
    speeds, first = dynamics.topology.u_of, dynamics.n_q
    for lock in dynamics.snapshot(begin, p, inputs).lock_rows.locks:
        row = np.zeros(len(begin.y))
        for joint, factor in lock.joints:
            if joint in speeds:
                row[first + speeds[joint].start] += float(factor)
        held = bool(lock.stuck) if lock.part == "stop" else float(row @ begin.y) == 0.0
        for name, column in zip(request.names, matrix, strict=True):
            if held and abs(float(row @ column)) > CLOSED:
                message = f"{lock.owner} is at rest at the start, where friction or a lock acts either way"
                raise ArgumentError(f"sensitivity: {name}: {message}: there is no derivative; start it moving")


def _take_over(start: Any, n: int) -> dict[str, Array]:
    """The derivatives at the end of a run that is continued, by name."""
    columns = getattr(start, "columns", None)
    if not isinstance(columns, RunColumns) or columns.values.shape[2] != n:
        return {}
    if columns.lost_time is not None:
        raise ArgumentError(f"sensitivity: start: {columns.message}")
    if not len(start.t) or start.t[-1] != start.end.t:
        raise ArgumentError("sensitivity: start: the run does not keep its last state; give it times up to its end")
    return dict(zip(columns.request.names, columns.values[-1], strict=True))


def _find_fixed(
    dynamics: Dynamics, request: ColumnRequest, k: int, start: Any, begin: State, p: Array, inputs: Array
) -> Array:
    """The derivative of a start that is a state: it depends on nothing but itself."""
    column = np.zeros(len(begin.y))
    if request.by[k] is None:
        names = [c.name for c in dynamics.coordinates]
        column[names.index(request.names[k])] = 1.0
    return column


def _find_named(
    dynamics: Dynamics, request: ColumnRequest, k: int, start: Any, begin: State, p: Array, inputs: Array
) -> Array:
    """The derivative of a start from initial values."""
    name, by, given = request.names[k], request.by[k], dict(start or {})
    if by is not None and by[0] == "p" and by[1] not in dynamics.start.parameters_that_count:
        return np.zeros(len(begin.y))
    if by is None and not dynamics.topology.constrained and dynamics.topology.network is None:
        return _find_fixed(dynamics, request, k, start, begin, p, inputs)
    arrays = {"p": p, "inputs": inputs}
    names = [c.name for c in dynamics.coordinates]
    value = float(begin.y[names.index(name)] if by is None else arrays[by[0]][by[1]])

    def start_at(x: float) -> Array:
        if by is None:
            return find_start(dynamics, {**given, name: x}, begin.t, p, inputs).y
        changed = {key: array.copy() for key, array in arrays.items()}
        changed[by[0]][by[1]] = x
        return find_start(dynamics, start, begin.t, changed["p"], changed["inputs"]).y

    step = STEP * (abs(value) if by is not None and value else max(1.0, abs(value)))
    return _differentiate(name, start_at, value, step, begin.y)


def _differentiate(name: str, start_at: Callable[[float], Array], value: float, step: float, y: Array) -> Array:
    """The derivative of a start by one number, from starts to both sides."""
    try:
        changes = [start_at(value + i * step) - start_at(value - i * step) for i in (1, 2, 3)]
    except Error as error:
        raise ArgumentError(f"sensitivity: the start cannot be found for {name} near {value:g}: {error}") from None
    fine, coarse = (
        sum((w * change for w, change in zip(weights, changes, strict=True)), np.zeros(len(y))) / step
        for weights in (WEIGHTS, COARSE_WEIGHTS)
    )
    if abs(fine - coarse).max(initial=0.0) > SMOOTH * max(1.0, float(abs(fine).max(initial=0.0))):
        raise ArgumentError(
            f"sensitivity: the start does not change smoothly with {name} near {value:g}; give initial values that "
            "determine it"
        )
    return np.asarray(fine)


def _close(
    dynamics: Dynamics, request: ColumnRequest, matrix: Array, begin: State, p: Array, inputs: Array, by_name: bool
) -> Array:
    """The columns, projected onto the constraints; refused where they would open the loops of a given state."""
    n, m = len(begin.y), len(request.names)
    kernel = Kernel("columns", ColumnOptions(Kernel("projection"), request.by))
    result = dynamics.kernels.call(kernel, dynamics.point(begin, p, inputs), matrix.ravel())
    closed: Array = result[n : n + m * n].reshape(m, n)
    for name, before, after in zip(request.names, matrix, closed, strict=True):
        if abs(after - before).max() > CLOSED * max(1.0, float(abs(before).max())):
            reason = "give initial values by name" if not by_name else "its initial values do not determine it"
            raise ArgumentError(f"sensitivity: the loops open at the start if {name} changes alone; {reason}")
    return closed


TIME_SHARE = 1e-6  # of the run's length, over which the rate of the condition is found


def find_end_shifts(run: Trajectory, stop_when: str) -> dict[str, float]:
    """The derivative of the end of a run, in s, by each name; empty where it did not end by its condition.

    It is not a number where the condition just touches zero, or derivatives ended before.
    """
    columns = run.columns
    if columns is None or run.ending.kind is not EndKind.CONDITION or not len(run):
        return {}
    if columns.lost_time is not None:
        return dict.fromkeys(columns.request.names, math.nan)
    condition, t = Condition(run.dynamics, stop_when), float(run.t[-1])
    y, rate = run.y[-1], run.dynamics.rate(t, run.y[-1], p=run.p, inputs=run.inputs)
    h = TIME_SHARE * max(t - float(run.t[0]), 1e-9)
    near = np.array([t - h, t + h])
    before, after = condition(near, np.stack([y - h * rate, y + h * rate]), run.p, run.inputs)
    speed = float(after - before) / (2.0 * h)
    changes = {name: float(run.sensitivity(condition.law, name)[-1]) for name in columns.request.names}
    return {name: -change / speed if speed > 0.0 else math.nan for name, change in changes.items()}
