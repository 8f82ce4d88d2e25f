"""Events within the integrator loops: roots are looked for in each step, modes settled, ticks of clocks met.

A root counts while its mode has its value. It is armed once it was clearly positive; an armed root fires where it
becomes negative, another where it is negative and falls, or clearly negative, so that a root that is zero when its mode
begins has the time to leave zero. A step is looked at about its middle and at its end, and
in more places if a root may have been negative in between; where a root fires it is cut at the first instant at which
that is seen on the dense output, found to the last bit of time.

Then the state jumps, and modes are settled: a root is violated where it is clearly negative, or zero and falling; the
worst of them fires, after some tries the first, until none is left. A tick that changes nothing that roots depend on
leaves them as they were looked at before it.
"""

# The names of memory_layout.py, in capitals, are the names of all that is stored: wanted here without a prefix.
# ruff: noqa: F403, F405

from __future__ import annotations

import math

from kinode.jit.pointers import Floats, Ints, floats, ints
from kinode.ode.loops.chatter import is_chatter, note_jump, note_seen
from kinode.ode.loops.dense_output import sample
from kinode.ode.loops.event_roots import (
    ZERO,
    any_fires,
    arm,
    counts,
    find_counting,
    fires,
    first_firing,
    is_clear,
    keep,
    look,
    may_dip,
)
from kinode.ode.loops.loop_primitives import *
from kinode.ode.loops.memory_layout import *

BY_WORST, TRIES = 12, 40  # of settling: the worst fires first, then the first; then no modes fit
PLACES = 16  # parts of a step in which a root may have been negative for a moment


def _fires_at(layout: Ints, memory: Floats, counters: Ints, t: float) -> bool:
    """Whether any root fires at a time within the step; what is clearly positive there is armed if none does."""
    between = layout[AT_BETWEEN]
    sample(layout, memory, counters, t, floats(between))
    project(layout, t, between)
    look(layout, t, between)
    if any_fires(layout, counters):
        return True
    arm(layout, counters)
    return False


def find_event(layout: Ints, memory: Floats, counters: Ints) -> bool:
    """Whether a root fires in the step that was just accepted; the step is then cut there.

    The state about its middle is at AT_BETWEEN.
    """
    n, t, end = layout[N], memory[T], memory[T_NEW]
    keep(layout, AT_G_BEFORE)
    half = t + 0.5 * memory[H_DONE]
    if not is_clear(layout, counters, half, layout[AT_BETWEEN]):
        look(layout, half, layout[AT_BETWEEN])
        if any_fires(layout, counters) and _fires_at(layout, memory, counters, half):
            _cut(layout, memory, counters, t, half)
            return True
        arm(layout, counters)
    keep(layout, AT_G_HALF)
    address = layout[AT_STATE] + 8 * Y_NEW * n
    if not is_clear(layout, counters, end, address):
        look(layout, end, address)
        if any_fires(layout, counters):
            if _fires_at(layout, memory, counters, half):  # the dense output is not what was looked at
                _cut(layout, memory, counters, t, half)
            else:
                look(layout, end, address)
                _cut(layout, memory, counters, half, end)
            return True
        arm(layout, counters)
    if may_dip(layout, counters) and _find_dip(layout, memory, counters):
        return True
    counters[VAIN] = 0
    return False


def _find_dip(layout: Ints, memory: Floats, counters: Ints) -> bool:
    """Whether a root fires between the ends and the middle of the step; the step is then cut there."""
    t, end, before = memory[T], memory[T_NEW], memory[T]
    for i in range(1, PLACES):
        at = t + (end - t) * i / PLACES
        if before < at and _fires_at(layout, memory, counters, at):
            _cut(layout, memory, counters, before, at)
            return True
        before = at
    look(layout, end, layout[AT_STATE] + 8 * Y_NEW * layout[N])  # which the next step begins with
    return False


def _aim(before: float, after: float, high: float, low: float, tries: int) -> float:
    """Where to look next for the first time at which a root fires that was ``high`` before and is ``low`` after.

    Mostly where a straight line has its zero, and beside an end of the interval where that would be the end itself;
    each third time in the middle, so that it never takes long.
    """
    middle, least = 0.5 * (before + after), 2.0**-52 * abs(after)
    if tries % 3 == 2 or not high > low:
        return middle
    guess = before + (after - before) * (high / (high - low))
    if guess - before < least:
        guess = before + least
    elif after - guess < least:
        guess = after - least
    return guess if before < guess < after else middle


def _cut(layout: Ints, memory: Floats, counters: Ints, before: float, after: float) -> None:
    """End the step where the first root fires: not yet before, but at the time after, which was looked at last."""
    g, tries, side = floats(layout[AT_G]), 0, 0
    there = layout[AT_STATE] + 8 * Y_NEW * layout[N] if after == memory[T_NEW] else layout[AT_BETWEEN]
    k = first_firing(layout, there)
    low, most = g[k], 0.0
    high = -low
    while before < 0.5 * (before + after) < after:
        at = _aim(before, after, high, low, tries)
        tries += 1
        if _fires_at(layout, memory, counters, at):
            k = k if fires(layout, k, layout[AT_BETWEEN]) else first_firing(layout, layout[AT_BETWEEN])
            after, low = at, g[k]
            high = 0.5 * high if side == 1 else high  # Illinois: the end that stays counts less
            side = 1
        else:
            before, high = at, max(g[k], 0.0)
            most = max(most, high)
            low = 0.5 * low if side == 2 else low
            side = 2
    between, new, address = floats(layout[AT_BETWEEN]), state_row(layout, Y_NEW), layout[AT_BETWEEN]
    if after == memory[T_NEW]:
        address = layout[AT_STATE] + 8 * Y_NEW * layout[N]
        look(layout, after, address)
    else:
        _fires_at(layout, memory, counters, after)
    fired = ints(layout[AT_FIRED])
    for k in range(layout[N_ROOTS]):
        fired[k] = int(fires(layout, k, address))
    if after != memory[T_NEW]:
        for i in range(layout[N]):
            new[i] = between[i]
    memory[T_NEW] = after
    note_seen(memory, most)
    counters[CUT] += 1


def _note(layout: Ints, counters: Ints, t: float, k: int) -> None:
    """Put an event on the list, with its mode before and after, as the state is about to change.

    At the start modes are found, which is no event unless something jumps.
    """
    y, changed, at = state_row(layout, Y), floats(layout[AT_CHANGED]), ints(layout[AT_MODES])[k]
    told = counters[STARTED] != 0
    for i in range(layout[Z_AT]):
        told = told or y[i] != changed[i]
    if not told:
        return
    row = counters[LISTED_EVENTS]
    numbers = floats(layout[AT_EVENT_NUMBERS] + 24 * row)
    numbers[0], numbers[1], numbers[2] = t, 0.0, 0.0
    if at >= 0:
        numbers[1], numbers[2] = y[at], changed[at]
    ints(layout[AT_EVENT_ROOTS])[row] = k
    counters[LISTED_EVENTS] += 1


def _copy_changed(layout: Ints) -> None:
    y, changed = state_row(layout, Y), floats(layout[AT_CHANGED])
    for i in range(layout[N]):
        y[i] = changed[i]


def _fire(layout: Ints, memory: Floats, counters: Ints, k: int) -> None:
    """Let the present state jump as the event of a root has it."""
    mask, here = floats(layout[AT_MASK]), layout[AT_STATE] + 8 * Y * layout[N]
    mask[k] = 1.0
    run_kernel(layout, layout[JUMP], seen(layout, memory[T]), here, layout[AT_MASK], layout[AT_CHANGED])
    mask[k] = 0.0
    note_jump(layout, counters)
    _note(layout, counters, memory[T], k)
    _copy_changed(layout)
    armed, modes = ints(layout[AT_ARMED]), ints(layout[AT_MODES])
    for i in range(layout[N_ROOTS]):
        armed[i] = 0 if modes[i] == modes[k] else armed[i]  # its mode begins now
    project(layout, memory[T], here)
    counters[BLAMED] = k


def _fire_all(layout: Ints, memory: Floats, counters: Ints) -> int:
    """The events of all roots that fired, one after the other as far as they still do."""
    counters[FIT] = 0
    here, first, fired = layout[AT_STATE] + 8 * Y * layout[N], True, ints(layout[AT_FIRED])
    for k in range(layout[N_ROOTS]):
        if fired[k] != 0:
            look(layout, memory[T], here)
            if first or (counts(layout, k, here) and floats(layout[AT_G])[k] < 0.0):
                _fire(layout, memory, counters, k)
            first = False
    return CHATTER if is_chatter(memory, counters) else DONE


def _find_violated(layout: Ints, tries: int) -> int:
    """The root to fire next, as they were looked at last, or -1.

    What comes to zero and stays there ends its mode; what was there when its mode began does not.
    """
    m, g, here = layout[N_ROOTS], floats(layout[AT_G]), layout[AT_STATE] + 8 * Y * layout[N]
    armed = ints(layout[AT_ARMED])
    found, worst = -1, 0.0
    for k in range(m):
        bad, falling = 0.0, -g[m + k]
        if g[k] < -ZERO:
            bad = -g[k]
        elif g[k] <= ZERO and falling > 0.0:
            bad = ZERO * (falling / (1.0 + falling) if falling < 1e300 else 1.0)
        elif g[k] <= ZERO and falling == 0.0 and armed[k] != 0:
            bad = 1e-300
        if bad > 0.0 and counts(layout, k, here) and (found < 0 or (tries < BY_WORST and bad > worst)):
            found, worst = k, bad
    return found


def _settle(layout: Ints, memory: Floats, counters: Ints) -> int:
    """Change modes of the present state until no root is violated."""
    armed, tries, here = ints(layout[AT_ARMED]), 0, layout[AT_STATE] + 8 * Y * layout[N]
    counters[FIT] = 1
    while layout[N_ROOTS] > 0:
        find_counting(layout, counters, here)
        if is_clear(layout, counters, memory[T], here):
            break
        look(layout, memory[T], here)
        k = _find_violated(layout, tries)
        if k < 0:
            for i in range(layout[N_ROOTS]):
                armed[i] = 0
            arm(layout, counters)
            break
        if tries == TRIES:
            counters[BLAMED] = k
            return UNSETTLED
        _fire(layout, memory, counters, k)
        tries += 1
    return DONE


def _begin_ticks(layout: Ints, counters: Ints) -> None:
    """The next tick of each sampler stands behind its period and phase: a division now, and none later."""
    ticks = ints(layout[AT_TICKS])
    for s in range(layout[N_SAMPLERS]):
        period, phase = ticks[3 * s], ticks[3 * s + 1]
        late = max(0, counters[TICK] - phase)
        ticks[3 * s + 2] = phase + (late + period - 1) // period * period


def _find_tick(layout: Ints, memory: Floats, counters: Ints) -> None:
    """The next tick that any sampler has."""
    ticks, due = ints(layout[AT_TICKS]), -1
    for s in range(layout[N_SAMPLERS]):
        due = ticks[3 * s + 2] if due < 0 else min(due, ticks[3 * s + 2])
    counters[DUE] = due
    memory[TICK_TIME] = math.inf
    if due >= 0:
        memory[TICK_TIME] = float(due * layout[NUMERATOR]) / float(layout[DENOMINATOR])


def _tick(layout: Ints, memory: Floats, counters: Ints) -> bool:
    """Let the samplers act whose tick it is; True if there are such in Python, which are to be called now."""
    mask, ticks, in_python = floats(layout[AT_MASK]), ints(layout[AT_TICKS]), ints(layout[AT_IN_PYTHON])
    compiled, called = False, False
    for s in range(layout[N_SAMPLERS]):
        mask[s] = 0.0
        if ticks[3 * s + 2] == counters[DUE]:
            ticks[3 * s + 2] += ticks[3 * s]
            if in_python[s] != 0:
                called = True
            else:
                mask[s] = 1.0
                compiled = True
    if compiled:
        here = layout[AT_STATE] + 8 * Y * layout[N]
        run_kernel(layout, layout[SAMPLE], memory[T], here, layout[AT_MASK], layout[AT_CHANGED])
        _copy_changed(layout)
    if layout[TICKS_SEEN] != 0:
        counters[FIT] = 0
    for s in range(layout[N_SAMPLERS]):
        mask[s] = 0.0
    counters[TICK] = counters[DUE] + 1
    _find_tick(layout, memory, counters)
    return called


def is_instant(layout: Ints, memory: Floats, counters: Ints) -> bool:
    """Whether something changes at once at the end of the step: the row there is that before, and one after follows."""
    end = memory[T_NEW]
    due = end == memory[TICK_TIME] or (layout[EVENTS] != 0 and end == memory[BREAK_TIME])
    return counters[PENDING] == STRUCK or (due and end != memory[T_END])


def begin(layout: Ints, memory: Floats, counters: Ints) -> bool:
    """The slope at the start, which waits for the modes where there are any; False if it is not finite."""
    begin_piece(layout, memory, counters)
    if layout[EVENTS] == 0:
        return start(layout, memory, counters)
    if counters[PENDING] == READY:
        _begin_ticks(layout, counters)
        _find_tick(layout, memory, counters)
        counters[PENDING] = CHANGED
    return True


def pass_break(layout: Ints, memory: Floats, counters: Ints) -> bool:
    """Go on beyond a break of laws: with another slope, and other modes maybe; False if that is not finite."""
    begin_piece(layout, memory, counters)
    if layout[EVENTS] == 0:
        return start(layout, memory, counters)
    counters[FIT], counters[PENDING] = 0, TICKED if memory[T] == memory[TICK_TIME] else CHANGED
    return True


def change(layout: Ints, memory: Floats, counters: Ints) -> int:
    """Bring what changes at once to its end: jumps, ticks, modes, and the slope to go on with."""
    while counters[PENDING] != SETTLED:
        if layout[EVENT_ROOM] - counters[LISTED_EVENTS] < TRIES + layout[N_ROOTS]:
            return LISTED
        if counters[PENDING] == FIRED:
            counters[PENDING] = CHANGED
            if _fire_all(layout, memory, counters) != DONE:
                return CHATTER
        elif counters[PENDING] == TICKED:
            counters[PENDING] = CHANGED
            if _tick(layout, memory, counters):
                return CALLED
        else:
            if counters[FIT] == 0:
                code = _settle(layout, memory, counters)
                if code != DONE:
                    return code
            if memory[T] == memory[TICK_TIME] and counters[STARTED] == 0:
                counters[PENDING] = TICKED
            else:
                counters[PENDING], counters[WATCHING] = SETTLED, 0
                if not start(layout, memory, counters):
                    return NOT_FINITE
    return DONE


def write_changed(layout: Ints, memory: Floats, counters: Ints, slack: float) -> bool:
    """Store the row after what changed at once, and the times asked for there; False when the room is used up."""
    n, y, times, out_t = layout[N], state_row(layout, Y), floats(layout[AT_TIMES]), floats(layout[AT_OUT_T])
    while True:
        t, row = memory[T], counters[WRITTEN]
        if layout[SAMPLED] != 0:
            if counters[NEXT_TIME] >= layout[TIMES]:
                return True
            t = times[counters[NEXT_TIME]]
            if t > memory[T] + slack:
                return True
        elif row > 0 and _same(layout, row - 1):
            return True
        if row >= layout[ROOM]:
            return False
        out_t[row] = t
        out = floats(layout[AT_OUT_Y] + 8 * row * n)
        for i in range(n):
            out[i] = y[i]
        counters[WRITTEN] += 1
        counters[NEXT_TIME] += 1
        if layout[SAMPLED] == 0:
            return True


def _same(layout: Ints, row: int) -> bool:
    """Whether a row that was stored is the present state."""
    y, out = state_row(layout, Y), floats(layout[AT_OUT_Y] + 8 * row * layout[N])
    same = True
    for i in range(layout[N]):
        same = same and y[i] == out[i]
    return same


def serve(layout: Ints) -> int:
    """The same for a method that takes its steps elsewhere: what is asked is in BUDGET.

    ASK: whether any root fires in Y_NEW at T_NEW; what is clearly positive is armed if none does. MARK: note which do.
    CHANGE: go on with what is pending in Y at T.
    """
    memory, counters = floats(layout[AT_MEMORY]), ints(layout[AT_COUNTERS])
    there = layout[AT_STATE] + 8 * Y_NEW * layout[N]
    if layout[BUDGET] == CHANGE:
        if counters[STARTED] == 0:
            begin(layout, memory, counters)
        return change(layout, memory, counters)
    if layout[N_ROOTS] == 0:
        return 0
    if layout[BUDGET] == ASK and is_clear(layout, counters, memory[T_NEW], there):
        return 0
    look(layout, memory[T_NEW], there)
    found = any_fires(layout, counters)
    if layout[BUDGET] == MARK:
        fired = ints(layout[AT_FIRED])
        for k in range(layout[N_ROOTS]):
            fired[k] = int(fires(layout, k, there))
    elif not found:
        arm(layout, counters)
    return int(found)
