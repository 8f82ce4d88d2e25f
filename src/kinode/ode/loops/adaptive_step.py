"""The loop of the explicit Runge-Kutta methods with step control.

A state is projected onto its constraints at the end of a step and at each sample. Events (event_handling.py) are looked
for between `_step` and `_write`, where both ends of the step and its dense output are at hand.
"""

# The names of memory_layout.py, in capitals, are the names of all that is stored: wanted here without a prefix.
# ruff: noqa: F403, F405

from __future__ import annotations

import math

from kinode.jit.pointers import Floats, Ints, floats, ints
from kinode.ode.loops.dense_output import add, combine, sample, table
from kinode.ode.loops.event_handling import begin, change, find_event, is_instant, pass_break, write_changed
from kinode.ode.loops.event_roots import find_growth, recall
from kinode.ode.loops.loop_primitives import *
from kinode.ode.loops.memory_layout import *
from kinode.ode.loops.singularity_watch import begin_watch, crosses, distance, watch

_EPSILON = 2.0**-52
MOVED = 10.0  # tolerances that closing the loops may move the end of a step
ROUNDING = 32.0 * _EPSILON  # of a closed state, relative, where the constraints are clear
CROSSINGS = 8  # lengths that are tried to step over a singular position
BEYOND = 10.0  # times what was left until an event: longer steps are not begun with after it
AT_ONCE = 4.0 * _EPSILON  # of the time: an output time nearer than that to an event is at the event
REFUSED, SHORTER = 8, 0.25  # steps that are taken anew, so much shorter, for roots that change too much in them
SHORT = 1e-12  # of the time: shorter steps are not begun with
UNSURE = 1e-3  # of a state: more than that is no rounding
WALL, MOST_WALLS = 1e-9, 1000  # of the run: within that, so many steps into what is not finite do not pass it


def _size_of_error(layout: Ints, memory: Floats, h: float, table_row: int) -> float:
    """Sum of the squares of an error estimate relative to the tolerance. Uses the row of the stage, which is free."""
    y, new, atol, estimate = (
        state_row(layout, Y),
        state_row(layout, Y_NEW),
        floats(layout[AT_ATOL]),
        state_row(layout, Y_STAGE),
    )
    weights, k, rtol = table(layout, table_row), state_row(layout, SLOPES), memory[RTOL]
    a, total = h * weights[0], 0.0
    for i in range(layout[CONTROLLED]):
        estimate[i] = a * k[i]
    add(layout, h, weights, 1, layout[LAST] + 1, estimate)
    for i in range(layout[CONTROLLED]):
        estimate[i] /= atol[i] + rtol * max(abs(y[i]), abs(new[i]))
    for i in range(layout[CONTROLLED]):
        total += estimate[i] * estimate[i]
    return total


def _error(layout: Ints, memory: Floats, h: float) -> float:
    """Size of the error relative to the tolerance (root mean square); with two estimates as in DOP853."""
    first = _size_of_error(layout, memory, h, layout[STAGES] + 1)
    if layout[ESTIMATES] == 2 and first != 0.0:
        second = _size_of_error(layout, memory, h, layout[STAGES] + 2)
        return first / math.sqrt((first + 0.01 * second) * layout[CONTROLLED])
    return math.sqrt(first / layout[CONTROLLED])


def _close_end(layout: Ints, memory: Floats, t: float) -> float:
    """Bring the end of a step onto its constraints; how far that moves it, relative to the tolerance.

    A solution within the tolerance is within the tolerance of the constraints. If closing the loops moves it much
    farther, it may have gone to another branch of the motion, which the error estimate cannot know. Near a singular
    position rounding errors grow, as the inverse distance in positions and as its square in speeds: nothing less
    can be asked for.
    """
    y, new, atol, open_end = (
        state_row(layout, Y),
        state_row(layout, Y_NEW),
        floats(layout[AT_ATOL]),
        state_row(layout, Y_STAGE),
    )
    if layout[PROJECTION] == 0:
        normalize(layout, new)
        return 0.0
    for i in range(layout[N]):
        open_end[i] = new[i]
    project(layout, t, layout[AT_STATE] + 8 * Y_NEW * layout[N])
    total = 0.0
    for i in range(layout[N]):
        moved = (new[i] - open_end[i]) / (atol[i] + memory[RTOL] * max(abs(y[i]), abs(new[i])))
        total += moved * moved
    memory[DISTANCE_NEW] = distance(layout)
    nearness = memory[FARTHEST] / min(memory[DISTANCE], memory[DISTANCE_NEW])
    rounding = min(ROUNDING * nearness * nearness, UNSURE)
    return math.sqrt(total / layout[CONTROLLED]) / (MOVED + rounding / memory[RTOL])


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
    d0, d1 = math.sqrt(d0 / layout[CONTROLLED]), math.sqrt(d1 / layout[CONTROLLED])
    h = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, longest)
    for i in range(n):
        stage[i] = y[i] + sign * h * k[i]
    rate(layout, t + sign * h, Y_STAGE, SLOPES + 1)
    counters[EVALUATIONS] += 1
    for i in range(n):
        change = (k_next[i] - k[i]) / (atol[i] + rtol * abs(y[i]))
        d2 += change * change
    steepest = max(d1, math.sqrt(d2 / layout[CONTROLLED]) / h)
    if not math.isfinite(steepest):
        return sign * h * 1e-3
    if steepest <= 1e-15:
        return sign * min(max(1e-6, h * 1e-3), longest)
    suited: float = (0.01 / steepest) ** (1.0 / layout[ORDER])
    return sign * min(100.0 * h, suited, longest)


def _attempt(layout: Ints, memory: Floats, counters: Ints, h: float) -> bool:
    """All stages of one step of length h. False, with the component, at the first slope that is not finite.

    Stages need not be on the constraints. But near a singular position what they are off by is multiplied in their
    slopes, so that a step that was rejected there, or for its constraints, is tried again with stages that are.
    """
    last, nodes = layout[LAST], table(layout, layout[STAGES])
    blamed = memory[END_MOVED] > 1.0 or crosses(memory, 2.0 * h)
    closed = layout[PROJECTION] != 0 and counters[AFTER_REJECT] > 0 and blamed
    memory[END_MOVED] = math.inf
    for s in range(1, last + 1):
        row = Y_NEW if s == last else Y_STAGE
        t = memory[T] + nodes[s] * h
        combine(layout, h, table(layout, s), s, state_row(layout, row))
        if s == last:
            memory[END_MOVED] = _close_end(layout, memory, t)
        elif closed:
            project(layout, t, layout[AT_STATE] + 8 * row * layout[N])
        rate(layout, t, row, SLOPES + s)
        counters[EVALUATIONS] += 1
        if not_finite(layout, SLOPES + s) != 0:
            counters[FAILED] = first_not_finite(state_row(layout, SLOPES + s), layout[CONTROLLED])
            memory[FAILED_TIME] = t
            return False
    return True


def _step_end(memory: Floats) -> float:
    """Where a step ends at the latest: the end of the run, the next tick of a clock, or the next break of a law."""
    return min(memory[T_END], memory[TICK_TIME], memory[BREAK_TIME])


def _accept(layout: Ints, memory: Floats, counters: Ints, error: float, h: float, final: bool) -> None:
    """Book the step and choose the next one: PI control (Gustafsson; Hairer, Wanner II, IV.2)."""
    damping = memory[DAMPING]
    factor = 0.9 * max(error, 1e-10) ** (0.75 * damping - 1.0 / layout[ORDER]) * memory[PREVIOUS_ERROR] ** damping
    factor = min(10.0, max(0.2, factor))
    if counters[AFTER_REJECT] > 0:
        factor = min(factor, 1.0)
    # A step that was cut short says little about the step to go on with.
    if not final or abs(h * factor) > abs(memory[H]):
        memory[H] = h * factor
    memory[PREVIOUS_ERROR] = max(error, 1e-4)
    memory[T_NEW] = _step_end(memory) if final else memory[T] + h
    memory[H_DONE] = h
    counters[AFTER_REJECT] = 0
    counters[FAILED] = -1
    counters[STEPS] += 1


def _step(layout: Ints, memory: Floats, counters: Ints) -> int:
    """Try steps until one is accepted (Y_NEW, T_NEW and the slopes are then set), or say why none can be."""
    t, end = memory[T], _step_end(memory)
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
        error = max(_error(layout, memory, h), memory[END_MOVED]) if finite else math.nan
        if error <= 1.0:
            _accept(layout, memory, counters, error, h, final)
            return DONE
        counters[REJECTED] += 1
        counters[AFTER_REJECT] += 1
        # Where a stage happens to come near a singular position its slope is off, however long the step. Another length
        # brings it elsewhere; a step that ends before the position would have to cross it from where slopes are worse.
        crossing = layout[PROJECTION] != 0 and counters[AFTER_REJECT] <= CROSSINGS and crosses(memory, h)
        least = 0.8 if crossing else 0.2
        if math.isfinite(error):
            counters[FAILED] = -1
            memory[H] = h * max(least, 0.9 * error ** (-1.0 / layout[ORDER]))
        else:
            memory[H] = h * least
            if finite:
                counters[FAILED] = max(0, first_not_finite(state_row(layout, Y_NEW), layout[N]))
                memory[FAILED_TIME] = t + h
            if abs(t - memory[WALL_TIME]) > WALL * abs(memory[T_END] - memory[T_START]):
                memory[WALL_TIME], counters[WALLS] = t, 0
            counters[WALLS] += 1
            if counters[WALLS] > MOST_WALLS:  # steps that are too short to move a state by rounding go on for ever
                return NOT_FINITE


def _write(layout: Ints, memory: Floats, counters: Ints) -> bool:
    """Store what the accepted step holds for the output; False when the room is used up (to be called again)."""
    n, sampled, new = layout[N], layout[SAMPLED] != 0, state_row(layout, Y_NEW)
    times, out_t, later = floats(layout[AT_TIMES]), floats(layout[AT_OUT_T]), is_instant(layout, memory, counters)
    while True:
        t = memory[T_NEW]
        if sampled:
            if counters[NEXT_TIME] >= layout[TIMES]:
                return True
            t = times[counters[NEXT_TIME]]
            if (t - memory[T_NEW]) * memory[H_DONE] > 0.0 or (later and t >= memory[T_NEW] - AT_ONCE * abs(t)):
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
            sample(layout, memory, counters, t, out)
            project(layout, t, place)
        counters[WRITTEN] += 1
        counters[NEXT_TIME] += 1
        if not sampled:
            return True


def _finish(layout: Ints, memory: Floats, counters: Ints) -> None:
    """Make the accepted step the present state; its last slope becomes the first one."""
    y, new, k, k_last = (
        state_row(layout, Y),
        state_row(layout, Y_NEW),
        state_row(layout, SLOPES),
        state_row(layout, SLOPES + layout[LAST]),
    )
    for i in range(layout[CONTROLLED]):
        y[i] = new[i]
        k[i] = k_last[i]
    memory[T] = memory[T_NEW]


def _halve(layout: Ints, memory: Floats) -> None:
    """The state in the middle of the step, for a first look: on the cubic through both ends and their slopes."""
    y, new, middle = state_row(layout, Y), state_row(layout, Y_NEW), floats(layout[AT_BETWEEN])
    k, k_last, eighth = state_row(layout, SLOPES), state_row(layout, SLOPES + layout[LAST]), 0.125 * memory[H_DONE]
    for i in range(layout[CONTROLLED]):
        middle[i] = 0.5 * (y[i] + new[i]) + eighth * (k[i] - k_last[i])


def _seen_step(layout: Ints, memory: Floats, counters: Ints) -> int:
    """One step, up to the first root that fires in it; shorter if roots change too much in it to be sure."""
    refused = 0
    while True:
        tried = memory[H]
        code = _step(layout, memory, counters)
        if code != DONE:
            return code
        counters[PENDING], counters[EXTRA] = STEPPED, 0
        if layout[N_ROOTS] == 0:
            return DONE
        _halve(layout, memory)
        if find_event(layout, memory, counters):
            counters[PENDING] = STRUCK
            return DONE
        growth = find_growth(layout, counters)
        if growth >= 1.0 or refused == REFUSED:
            memory[H] = min(memory[H], max(1.0, growth) * max(tried, memory[H_DONE]))
            return DONE
        refused += 1
        memory[H] = SHORTER * memory[H_DONE]
        counters[PENDING] = READY
        counters[STEPS] -= 1
        counters[REJECTED] += 1
        recall(layout)


def _go(layout: Ints, memory: Floats, counters: Ints) -> int:
    """One step, with what is met on its way."""
    if memory[H] == 0.0:
        memory[H] = _first_step(layout, memory, counters)
    if layout[PROJECTION] != 0 and counters[WATCHING] == 0:
        begin_watch(layout, memory, counters)
    code = _seen_step(layout, memory, counters)
    if code != DONE:
        return code
    if counters[PENDING] == STRUCK:
        # Far beyond an event there is nothing to be learned, and much to be lost by rounding.
        piece = max(BEYOND * (memory[T_NEW] - memory[T]), SHORT * abs(memory[T]))
        memory[H] = min(memory[H], max(piece, memory[H] / (BEYOND * BEYOND)))
    elif layout[PROJECTION] != 0 and watch(layout, memory, counters):
        return NOTED
    return DONE


def advance(layout: Ints) -> int:
    """Go on with a run of a method with step control, for at most BUDGET accepted steps."""
    memory, counters, budget = floats(layout[AT_MEMORY]), ints(layout[AT_COUNTERS]), layout[BUDGET]
    if counters[STARTED] == 0 and not begin(layout, memory, counters):
        return NOT_FINITE
    while True:
        if counters[PENDING] >= FIRED:
            code = change(layout, memory, counters)
            if code != DONE:
                return code
            if not write_changed(layout, memory, counters, AT_ONCE * abs(memory[T])):
                return FULL
            counters[PENDING] = READY
        if counters[PENDING] == READY:
            if memory[T] == memory[T_END]:
                return DONE
            if budget <= 0:
                return CHUNK
            if memory[T] == memory[BREAK_TIME]:
                if not pass_break(layout, memory, counters):
                    return NOT_FINITE
                continue
            if memory[T] == memory[TICK_TIME]:
                counters[PENDING] = TICKED
                continue
            budget -= 1
            code = _go(layout, memory, counters)
            if code != DONE:
                return code
        if not _write(layout, memory, counters):
            return FULL
        _finish(layout, memory, counters)
        counters[PENDING] = FIRED if counters[PENDING] == STRUCK else READY
