"""The loop of the explicit Runge-Kutta methods with step control.

A state is projected onto its constraints at the end of a step and at each sample; the last slope is reused, which
was taken before. How events will join in: they are looked for in `advance` between `_step` and `_write`, where both
ends of the step and its dense output are at hand, by one more address in ``layout``, 0 meaning none.
"""

# The names of records.py, in capitals, are the names of all that is stored: wanted here without a prefix.
# ruff: noqa: F403, F405

from __future__ import annotations

import math

from kinode.codegen.memory import Floats, Ints, floats, ints
from kinode.solve.primitives import *
from kinode.solve.records import *

_EPSILON = 2.0**-52


def _add(layout: Ints, h: float, weights: Floats, count: int, out: Floats) -> None:
    """out += h * sum_j weights[j] slope_j; in pairs, which halves the passes through memory."""
    n = layout[N]
    j = 0
    while j < count:
        a, ka = h * weights[j], state_row(layout, SLOPES + j)
        j += 1
        if a == 0.0:
            continue
        if j < count:
            b, kb = h * weights[j], state_row(layout, SLOPES + j)
            j += 1
            for i in range(n):
                out[i] += a * ka[i] + b * kb[i]
        else:
            for i in range(n):
                out[i] += a * ka[i]


def _combine(layout: Ints, h: float, weights: Floats, count: int, out: Floats) -> None:
    """out = y + h * sum_j weights[j] slope_j."""
    y = state_row(layout, Y)
    for i in range(layout[N]):
        out[i] = y[i]
    _add(layout, h, weights, count, out)


def _table(layout: Ints, row: int) -> Floats:
    """A row of the table: the stages, the nodes, two error estimates, the powers of the dense output."""
    return floats(layout[AT_TABLE] + 8 * row * layout[STAGES])


def _size_of_error(layout: Ints, memory: Floats, h: float, table_row: int) -> float:
    """Sum of the squares of an error estimate relative to the tolerance. Uses the row of the stage, which is free."""
    y, new, atol, estimate = (
        state_row(layout, Y),
        state_row(layout, Y_NEW),
        floats(layout[AT_ATOL]),
        state_row(layout, Y_STAGE),
    )
    for i in range(layout[N]):
        estimate[i] = 0.0
    _add(layout, h, _table(layout, table_row), layout[LAST] + 1, estimate)
    for i in range(layout[N]):
        estimate[i] /= atol[i] + memory[RTOL] * max(abs(y[i]), abs(new[i]))
    total = 0.0
    for i in range(layout[N]):
        total += estimate[i] * estimate[i]
    return total


def _error(layout: Ints, memory: Floats, h: float) -> float:
    """Size of the error relative to the tolerance (root mean square); with two estimates as in DOP853."""
    first = _size_of_error(layout, memory, h, layout[STAGES] + 1)
    if layout[ESTIMATES] == 2 and first != 0.0:
        second = _size_of_error(layout, memory, h, layout[STAGES] + 2)
        return first / math.sqrt((first + 0.01 * second) * layout[N])
    error = math.sqrt(first / layout[N])
    if layout[PROJECTION] == 0 or not error > 1.0:
        return error
    share = math.sqrt(_size_along_constraints(layout, memory, h) / first)
    return min(error, 10.0 * share * error) if math.isfinite(share) else error


def _size_along_constraints(layout: Ints, memory: Floats, h: float) -> float:
    """As _size_of_error, for what is left of the estimate when both solutions are brought onto the constraints.

    Near a singular position the estimate grows without bound across the constraints, where projection takes it
    away; a step is not to be rejected for that. The new state is a projected one afterwards. DOP853 goes without: its
    steps are so long that some went on in a wrong branch where they had been rejected.
    """
    y, new, atol, other = (
        state_row(layout, Y),
        state_row(layout, Y_NEW),
        floats(layout[AT_ATOL]),
        state_row(layout, Y_STAGE),
    )
    for i in range(layout[N]):
        other[i] = new[i]
    _add(layout, -h, _table(layout, layout[STAGES] + 1), layout[LAST] + 1, other)
    project(layout, memory[T] + h, layout[AT_STATE] + 8 * Y_STAGE * layout[N])
    project(layout, memory[T] + h, layout[AT_STATE] + 8 * Y_NEW * layout[N])
    total = 0.0
    for i in range(layout[N]):
        error = (new[i] - other[i]) / (atol[i] + memory[RTOL] * max(abs(y[i]), abs(new[i])))
        total += error * error
    return total


def _first_step(layout: Ints, memory: Floats, counters: Ints) -> float:
    """A first step that suits the tolerance (Hairer, Norsett, Wanner I, II.4), with sign."""
    n, atol, t, rtol = layout[N], floats(layout[AT_ATOL]), memory[T], memory[RTOL]
    y, stage, k, k_next = (
        state_row(layout, Y),
        state_row(layout, Y_STAGE),
        state_row(layout, SLOPES),
        state_row(layout, SLOPES + 1),
    )
    sign = 1.0 if memory[T_END] >= t else -1.0
    longest = min(memory[MAX_STEP], abs(memory[T_END] - t))
    d0, d1, d2 = 0.0, 0.0, 0.0
    for i in range(n):
        scale = 1.0 / (atol[i] + rtol * abs(y[i]))
        d0 += (y[i] * scale) * (y[i] * scale)
        d1 += (k[i] * scale) * (k[i] * scale)
    d0, d1 = math.sqrt(d0 / n), math.sqrt(d1 / n)
    h = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, longest)
    for i in range(n):
        stage[i] = y[i] + sign * h * k[i]
    rate(layout, t + sign * h, Y_STAGE, SLOPES + 1)
    counters[EVALUATIONS] += 1
    for i in range(n):
        change = (k_next[i] - k[i]) / (atol[i] + rtol * abs(y[i]))
        d2 += change * change
    steepest = max(d1, math.sqrt(d2 / n) / h)
    if not math.isfinite(steepest):
        return sign * h * 1e-3
    if steepest <= 1e-15:
        return sign * min(max(1e-6, h * 1e-3), longest)
    suited: float = (0.01 / steepest) ** (1.0 / layout[ORDER])
    return sign * min(100.0 * h, suited, longest)


def _attempt(layout: Ints, memory: Floats, counters: Ints, h: float) -> bool:
    """All stages of one step of length h. False, with the component, at the first slope that is not finite."""
    last, nodes = layout[LAST], _table(layout, layout[STAGES])
    for s in range(1, last + 1):
        row = Y_NEW if s == last else Y_STAGE
        t = memory[T] + nodes[s] * h
        _combine(layout, h, _table(layout, s), s, state_row(layout, row))
        rate(layout, t, row, SLOPES + s)
        counters[EVALUATIONS] += 1
        if not_finite(layout, SLOPES + s) != 0:
            counters[FAILED] = first_not_finite(state_row(layout, SLOPES + s), layout[N])
            memory[FAILED_TIME] = t
            return False
    return True


def _accept(layout: Ints, memory: Floats, counters: Ints, error: float, h: float, final: bool) -> None:
    """Book the step and choose the next one: PI control (Gustafsson; Hairer, Wanner II, IV.2)."""
    damping = memory[DAMPING]
    factor = 0.9 * max(error, 1e-10) ** (0.75 * damping - 1.0 / layout[ORDER]) * memory[PREVIOUS_ERROR] ** damping
    factor = min(10.0, max(0.2, factor))
    if counters[AFTER_REJECT] == 1:
        factor = min(factor, 1.0)
    # A last step that was cut short says little about the step to go on with.
    if not final or abs(h * factor) > abs(memory[H]):
        memory[H] = h * factor
    memory[PREVIOUS_ERROR] = max(error, 1e-4)
    memory[T_NEW] = memory[T_END] if final else memory[T] + h
    memory[H_DONE] = h
    counters[AFTER_REJECT] = 0
    counters[FAILED] = -1
    counters[STEPS] += 1


def _step(layout: Ints, memory: Floats, counters: Ints) -> int:
    """Try steps until one is accepted (Y_NEW, T_NEW and the slopes are then set), or say why none can be."""
    t, end = memory[T], memory[T_END]
    sign = 1.0 if end >= t else -1.0
    while True:
        h = sign * min(abs(memory[H]), memory[MAX_STEP])
        left = abs(end - t)
        final = left <= 1.01 * abs(h) and left <= 1.000001 * memory[MAX_STEP]
        if final:
            h = end - t
        elif abs(h) <= 16.0 * _EPSILON * abs(t) or abs(h) < 1e-300:
            return NOT_FINITE if counters[FAILED] >= 0 else TOO_SMALL
        if counters[STEPS] + counters[REJECTED] >= layout[MAX_STEPS]:
            return TOO_MANY
        finite = _attempt(layout, memory, counters, h)
        error = _error(layout, memory, h) if finite else math.nan
        if error <= 1.0:
            _accept(layout, memory, counters, error, h, final)
            return DONE
        counters[REJECTED] += 1
        counters[AFTER_REJECT] = 1
        if math.isfinite(error):
            counters[FAILED] = -1
            memory[H] = h * max(0.2, 0.9 * error ** (-1.0 / layout[ORDER]))
        else:
            memory[H] = h * 0.2
            if finite:
                counters[FAILED] = max(0, first_not_finite(state_row(layout, Y_NEW), layout[N]))
                memory[FAILED_TIME] = t + h


def _sample(layout: Ints, memory: Floats, counters: Ints, t: float, out: Floats) -> None:
    """The dense output of the step that was just accepted, at time t."""
    h, stages = memory[H_DONE], layout[STAGES]
    if counters[EXTRA] == 0:
        nodes = _table(layout, stages)
        for s in range(layout[LAST] + 1, stages):
            _combine(layout, h, _table(layout, s), s, state_row(layout, Y_STAGE))
            rate(layout, memory[T] + nodes[s] * h, Y_STAGE, SLOPES + s)
            counters[EVALUATIONS] += 1
        counters[EXTRA] = 1
    theta = (t - memory[T]) / h
    weights = floats(layout[AT_MEMORY] + 8 * MEMORY_SIZE)
    dense = _table(layout, stages + 3)
    top = layout[POWERS] - 1
    for j in range(stages):
        w = dense[top * stages + j]
        for k in range(top - 1, -1, -1):
            w = dense[k * stages + j] + w * ((1.0 - theta) if k % 2 == 0 else theta)
        weights[j] = theta * w
    _combine(layout, h, weights, stages, out)


def _write(layout: Ints, memory: Floats, counters: Ints) -> bool:
    """Store what the accepted step holds for the output; False when the room is used up (to be called again)."""
    n, sampled, new = layout[N], layout[SAMPLED] != 0, state_row(layout, Y_NEW)
    times, out_t = floats(layout[AT_TIMES]), floats(layout[AT_OUT_T])
    while True:
        t = memory[T_NEW]
        if sampled:
            if counters[NEXT_TIME] >= layout[TIMES]:
                return True
            t = times[counters[NEXT_TIME]]
            if (t - memory[T_NEW]) * memory[H_DONE] > 0.0:
                return True
        row = counters[WRITTEN]
        if row >= layout[ROOM]:
            return False
        out_t[row] = t
        place = layout[AT_OUT_Y] + 8 * row * n
        out = floats(place)
        if t == memory[T_NEW]:
            for i in range(n):
                out[i] = new[i]
        else:
            _sample(layout, memory, counters, t, out)
        project(layout, t, place)
        counters[WRITTEN] += 1
        counters[NEXT_TIME] += 1
        if not sampled:
            return True


def _finish(layout: Ints, memory: Floats, counters: Ints) -> None:
    """Make the accepted step the present state.

    The last slope becomes the first one. It was taken before the quaternions were normalized: their own rates, which
    are linear in them, are scaled too; for the rest the difference is of the size of the local error times the step.
    """
    y, new, k, k_last = (
        state_row(layout, Y),
        state_row(layout, Y_NEW),
        state_row(layout, SLOPES),
        state_row(layout, SLOPES + layout[LAST]),
    )
    quaternions = ints(layout[AT_QUATERNIONS])
    for b in range(layout[QUATERNIONS]):
        scale = 1.0 / length(new, quaternions[b], 1)
        for i in range(quaternions[b], quaternions[b] + 4):
            k_last[i] *= scale
    project(layout, memory[T_NEW], layout[AT_STATE] + 8 * Y_NEW * layout[N])
    for i in range(layout[N]):
        y[i] = new[i]
        k[i] = k_last[i]
    memory[T] = memory[T_NEW]
    counters[PENDING] = 0


def advance(layout: Ints) -> int:
    """Go on with a run of a method with step control, for at most BUDGET accepted steps."""
    memory, counters, budget = floats(layout[AT_MEMORY]), ints(layout[AT_COUNTERS]), layout[BUDGET]
    if counters[STARTED] == 0:
        if not start(layout, memory, counters):
            return NOT_FINITE
        if memory[H] == 0.0:
            memory[H] = _first_step(layout, memory, counters)
    while True:
        if counters[PENDING] == 0:
            if memory[T] == memory[T_END]:
                return DONE
            if budget <= 0:
                return CHUNK
            budget -= 1
            code = _step(layout, memory, counters)
            if code != DONE:
                return code
            counters[PENDING], counters[EXTRA] = 1, 0
        if not _write(layout, memory, counters):
            return FULL
        _finish(layout, memory, counters)
