"""The loops of the classical Runge-Kutta method with a fixed step: one run, or groups of runs.

One run goes on from where it stopped; the groups of a batch go from start to end, each as many runs as lanes.
"""

# The names of memory_layout.py, in capitals, are the names of all that is stored: wanted here without a prefix.
# ruff: noqa: F403, F405

from __future__ import annotations

import math

from kinode.jit.pointers import Floats, Ints, floats, ints
from kinode.ode.loops.dense_output import end_slope, sample
from kinode.ode.loops.event_handling import begin, change, find_event, is_instant, pass_break, write_changed
from kinode.ode.loops.loop_primitives import *
from kinode.ode.loops.memory_layout import *
from kinode.ode.loops.singularity_watch import begin_watch, distance, watch

MOVED = 0.1  # of what a step changes: closing the loops may move its end so far
ROUNDING = 1e-7  # of a state: less is not looked at
ON_GRID = 1e-9  # of a step: a time nearer than that to the end of a step is there


def _fixed_step(layout: Ints, t: float, h: float) -> int:
    """One step of the classical Runge-Kutta method from Y, whose slope is in K1, to Y_NEW; nonzero if not finite."""
    n, y, new, stage = layout[CONTROLLED], state_row(layout, Y), state_row(layout, Y_NEW), state_row(layout, Y_STAGE)
    k1, k2, k3, k4 = state_row(layout, K1), state_row(layout, K2), state_row(layout, K3), state_row(layout, K4)
    half = 0.5 * h
    for i in range(n):
        stage[i] = y[i] + half * k1[i]
    rate(layout, t + half, Y_STAGE, K2)
    for i in range(n):
        stage[i] = y[i] + half * k2[i]
    rate(layout, t + half, Y_STAGE, K3)
    for i in range(n):
        stage[i] = y[i] + h * k3[i]
    rate(layout, t + h, Y_STAGE, K4)
    sixth = h / 6.0
    for i in range(n):
        new[i] = y[i] + sixth * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i])
    return not_finite(layout, Y_NEW)


def _write_fixed(layout: Ints, memory: Floats, counters: Ints) -> bool:
    """As `_write`; a time on the grid gets the state there, rounding aside."""
    n, h, sampled, new = layout[N], memory[H], layout[SAMPLED] != 0, state_row(layout, Y_NEW)
    times, out_t, later = floats(layout[AT_TIMES]), floats(layout[AT_OUT_T]), is_instant(layout, memory, counters)
    while True:
        t, beyond = memory[T_NEW], 0.0
        if sampled:
            if counters[NEXT_TIME] >= layout[TIMES]:
                return True
            t = times[counters[NEXT_TIME]]
            beyond = (t - memory[T_NEW]) / h
            if beyond > (-ON_GRID if later else ON_GRID):
                return True
        row = counters[WRITTEN]
        if row >= layout[ROOM]:
            return False
        out_t[row] = t
        place = layout[AT_OUT_Y] + 8 * row * n
        out = floats(place)
        if beyond < -ON_GRID:
            sample(layout, memory, counters, t, out)
            project(layout, t, place)
        else:
            for i in range(n):
                out[i] = new[i]
        counters[WRITTEN] += 1
        counters[NEXT_TIME] += 1
        if not sampled:
            return True


def _close_fixed(layout: Ints, memory: Floats) -> bool:
    """Bring the end of the step onto its constraints; False if it was so far from them that it may be on any branch."""
    y, new, open_end = state_row(layout, Y), state_row(layout, Y_NEW), state_row(layout, Y_STAGE)
    if layout[PROJECTION] == 0:
        normalize(layout, new)
        return True
    for i in range(layout[N]):
        open_end[i] = new[i]
    project(layout, memory[T_NEW], layout[AT_STATE] + 8 * Y_NEW * layout[N])
    memory[DISTANCE_NEW] = distance(layout)
    moved, way = 0.0, 0.0
    for i in range(layout[N]):
        moved += abs(new[i] - open_end[i])
        way += abs(new[i] - y[i]) + ROUNDING * abs(new[i])
    return moved <= MOVED * (way + ROUNDING)


def _aim(layout: Ints, memory: Floats, counters: Ints) -> bool:
    """Set where the next step ends, T_NEW, and how long it is, H_DONE; False if that is before the grid."""
    grid = memory[T_START] + (counters[STEPS] + 1) * memory[H]
    last = counters[STEPS] + 1 == layout[MAX_STEPS]
    if last:
        grid = memory[T_END]
    slack, instant = ON_GRID * memory[H], min(memory[TICK_TIME], memory[BREAK_TIME])
    before = instant < grid - slack
    memory[T_NEW] = instant if instant <= grid + slack and not (last and not before) else grid
    whole = counters[BESIDE] == 0 and not before
    memory[H_DONE] = memory[H] if whole else memory[T_NEW] - memory[T]
    counters[BESIDE] = int(memory[T_NEW] != grid)
    return not before


def _go_fixed(layout: Ints, memory: Floats, counters: Ints) -> int:
    """One step, with what is met on its way."""
    new = state_row(layout, Y_NEW)
    if layout[PROJECTION] != 0 and counters[WATCHING] == 0:
        begin_watch(layout, memory, counters)
    on_grid = _aim(layout, memory, counters)
    bad = _fixed_step(layout, memory[T], memory[H_DONE])
    counters[STEPS] += int(on_grid)
    counters[CUT] += int(not on_grid)
    counters[EVALUATIONS] += 3
    if bad != 0:
        counters[FAILED] = first_not_finite(new, layout[N])
        memory[FAILED_TIME] = memory[T_NEW]
        return NOT_FINITE
    memory[H_DONE] = memory[T_NEW] - memory[T]
    closed = _close_fixed(layout, memory)
    counters[PENDING], counters[EXTRA] = STEPPED, 0
    if not closed:
        return TORN
    if layout[PROJECTION] != 0:
        end_slope(layout, memory, counters)
    end = memory[T_NEW]
    if layout[N_ROOTS] != 0 and _strikes(layout, memory, counters):
        counters[PENDING] = STRUCK
        if memory[T_NEW] != end:
            counters[BESIDE] = 1
            counters[STEPS] -= int(on_grid)
    elif layout[PROJECTION] != 0 and watch(layout, memory, counters):
        return NOTED
    return DONE


def _strikes(layout: Ints, memory: Floats, counters: Ints) -> bool:
    """Whether a root fires in the step, whose middle is looked at on the cubic that its four slopes give.

    (Hairer, Norsett, Wanner I, II.6, of order 3.)
    """
    y, middle, part = state_row(layout, Y), floats(layout[AT_BETWEEN]), memory[H_DONE] / 24.0
    k1, k2, k3, k4 = state_row(layout, K1), state_row(layout, K2), state_row(layout, K3), state_row(layout, K4)
    for i in range(layout[CONTROLLED]):
        middle[i] = y[i] + part * (5.0 * k1[i] + 4.0 * (k2[i] + k3[i]) - k4[i])
    return find_event(layout, memory, counters)


def advance_fixed(layout: Ints) -> int:
    """Go on with a run of the classical Runge-Kutta method; its times are memory[T_START] + i memory[H].

    Ticks, events and breaks of laws are reached by shorter steps, which lead back to these times.
    """
    memory, counters, budget = floats(layout[AT_MEMORY]), ints(layout[AT_COUNTERS]), layout[BUDGET]
    y, new, k1, k_next = (
        state_row(layout, Y),
        state_row(layout, Y_NEW),
        state_row(layout, K1),
        state_row(layout, K_NEXT),
    )
    if counters[STARTED] == 0 and not begin(layout, memory, counters):
        return NOT_FINITE
    while True:
        if counters[PENDING] >= FIRED:
            code = change(layout, memory, counters)
            if code != DONE:
                return code
            if not write_changed(layout, memory, counters, ON_GRID * memory[H]):
                return FULL
            counters[PENDING] = READY
        if counters[PENDING] == READY:
            if counters[STEPS] >= layout[MAX_STEPS]:
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
            code = _go_fixed(layout, memory, counters)
            if code != DONE:
                return code
        if not _write_fixed(layout, memory, counters):
            return FULL
        if not is_instant(layout, memory, counters):  # else another slope is to go on with
            end_slope(layout, memory, counters)
        for i in range(layout[CONTROLLED]):
            y[i] = new[i]
            k1[i] = k_next[i]
        memory[T] = memory[T_NEW]
        counters[PENDING] = FIRED if counters[PENDING] == STRUCK else READY


def _gather(layout: Ints, group: int, source: int, stride: int, n: int, target: Floats) -> None:
    """Entry i of lane l of a group is target[i * lanes + l]; past the last run the last one is repeated."""
    lanes = layout[LANES]
    for lane in range(lanes):
        run = min(group * lanes + lane, layout[RUNS] - 1)
        row = floats(source + 8 * stride * run)
        for i in range(n):
            target[i * lanes + lane] = row[i]


def _scatter(layout: Ints, group: int, sample: int) -> None:
    """Store the present states of a group as the given sample of each of its runs."""
    lanes, y = layout[LANES], state_row(layout, Y)
    n = layout[N] // lanes
    for lane in range(min(lanes, layout[RUNS] - group * lanes)):
        row = floats(layout[AT_OUT_Y] + 8 * n * ((group * lanes + lane) * layout[SAMPLES] + sample))
        for i in range(n):
            row[i] = y[i * lanes + lane]


def _note_failures(layout: Ints, group: int, step: int) -> None:
    """Note the step and the component for each run that is not finite for the first time."""
    lanes, new = layout[LANES], state_row(layout, Y_NEW)
    steps, components = ints(layout[AT_FAILED_STEP]), ints(layout[AT_FAILED_COMPONENT])
    for lane in range(min(lanes, layout[RUNS] - group * lanes)):
        run = group * lanes + lane
        if steps[run] < 0:
            for i in range(layout[N] // lanes):
                if not math.isfinite(new[i * lanes + lane]):
                    steps[run] = step
                    components[run] = i
                    break


def run_groups(layout: Ints) -> int:
    """Runs of the classical Runge-Kutta method from start to end, group after group, each as many runs as lanes.

    A run that is not finite any more goes on as it is beside the others; where it happened is noted.
    """
    memory, counters, stop = floats(layout[AT_MEMORY]), ints(layout[AT_COUNTERS]), ints(layout[AT_STOP])
    y, new, every = state_row(layout, Y), state_row(layout, Y_NEW), layout[EVERY]
    for group in range(layout[FIRST_GROUP], layout[LAST_GROUP]):
        _gather(layout, group, layout[AT_START], layout[N] // layout[LANES], layout[N] // layout[LANES], y)
        _gather(layout, group, layout[ALL_P], layout[P_STRIDE], layout[N_P], floats(layout[AT_P]))
        _gather(layout, group, layout[ALL_INPUTS], layout[INPUTS_STRIDE], layout[N_INPUTS], floats(layout[AT_INPUTS]))
        _scatter(layout, group, 0)
        for step in range(layout[MAX_STEPS]):
            t = memory[T_START] + step * memory[H]
            rate(layout, t, Y, K1)
            bad = _fixed_step(layout, t, memory[H])
            if bad != 0:
                _note_failures(layout, group, step + 1)
            project(layout, t + memory[H], layout[AT_STATE] + 8 * Y_NEW * layout[N])
            for i in range(layout[N]):
                y[i] = new[i]
            if (step + 1) % every == 0:
                _scatter(layout, group, (step + 1) // every)
            elif step + 1 == layout[MAX_STEPS]:
                _scatter(layout, group, layout[SAMPLES] - 1)
            counters[STEPS] += 1
            if stop[0] != 0:
                return CHUNK
    return DONE
