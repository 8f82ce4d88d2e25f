"""The changes at an instant: reset maps, clock ticks, mode iteration until the modes are consistent; and chatter.

Modes are inconsistent where an active event function is clearly negative, or zero and falling. Mode iteration triggers
the function with the largest violation, after some tries the first one, until none is left. A tick leaves the modes as
they are if event functions depend on no state that clocks change. Ticks are exact multiples of a period, counted in
integer base ticks.

Chatter is events that follow each other without end; a run with chatter stops. Bouncing, or switching by a clock, may
cause millions of events. Three patterns are chatter: many instants with events within a nanosecond; idle events, which
change modes but not the rest of the state, in such numbers within so short a share of the run that it would not end;
and idle events in a row, one in each step, whose event function never leaves zero: each mode drives the state back
across its threshold.
"""

from __future__ import annotations

import math

from kinode.jit.loop.memory import tail
from kinode.ode.loops.event_triggers import ZERO_LEVEL, arm, evaluate, find_active, is_active, is_clear
from kinode.ode.loops.loop_primitives import begin_piece, law_time, project, run_kernel, start
from kinode.ode.loops.run_codes import MAX_IDLE, MAX_INSTANTS, Outcome, Pending
from kinode.ode.loops.run_memory import RunMemory
from kinode.ode.loops.sensitivity_columns import (
    argument_of,
    check_consequence,
    check_start,
    shift_back,
    shift_to_break,
    shift_to_event,
)

CLUSTER_SECONDS = 1e-9  # s, within which there may be MAX_INSTANTS with events
IDLE_SHARE = 1e-6  # of the run, in which more than MAX_IDLE idle events are chatter
STALLED_LEVEL = 1e-8  # an event function (divided by its natural scale) below it did not leave zero
RESET_ABSOLUTE, RESET_RELATIVE = 1e-9, 1e-6  # absolute and relative change of a state: a smaller change is no reset


def note_peak(run: RunMemory, peak: float) -> None:
    """Remember the largest value that an event function had before it triggered."""
    run.chatter.previous_peak = run.chatter.peak
    run.chatter.peak = peak


def note_reset(run: RunMemory) -> None:
    """Restart the counts if an event resets more than modes; called before the state changes."""
    y, changed, chatter = run.state.y, run.events.changed, run.chatter
    for i in range(run.columns.n_measured):
        if abs(changed[i] - y[i]) > RESET_ABSOLUTE + RESET_RELATIVE * abs(y[i]):
            chatter.idle, chatter.stalled = 0, 0


def is_chatter(run: RunMemory) -> bool:
    """Count the event that has just happened; True if the recent events are chatter."""
    t, chatter = run.step.t, run.chatter
    if t - chatter.cluster_time > CLUSTER_SECONDS:
        chatter.cluster_time, chatter.cluster = t, 0
    chatter.cluster += 1
    if chatter.idle == 0:
        chatter.idle_time = t
    chatter.idle += 1
    endless = False
    if chatter.idle > MAX_IDLE:
        endless = t - chatter.idle_time < IDLE_SHARE * (run.step.t_end - run.step.t_start)
        chatter.idle = 0
    chatter.stalled = chatter.stalled + 1 if min(chatter.peak, chatter.previous_peak) < STALLED_LEVEL else 0
    return endless or chatter.cluster > MAX_INSTANTS or chatter.stalled > MAX_IDLE


def begin_ticks(run: RunMemory) -> None:
    """Find the first tick of each clock (stored after its period and phase); later ticks need no division."""
    ticks = run.clocks.ticks
    for s in range(run.clocks.count):
        period, phase = ticks[3 * s], ticks[3 * s + 1]
        late = max(0, run.clocks.first - phase)
        ticks[3 * s + 2] = phase + (late + period - 1) // period * period
    _find_tick(run)


def _find_tick(run: RunMemory) -> None:
    """Find the next tick of any clock."""
    clocks, due = run.clocks, -1
    ticks = clocks.ticks
    for s in range(clocks.count):
        due = ticks[3 * s + 2] if due < 0 else min(due, ticks[3 * s + 2])
    clocks.due = due
    clocks.time = math.inf
    if due >= 0:
        since = float((due - clocks.base) * clocks.numerator) / float(clocks.denominator)
        clocks.time = clocks.base_time + since


def tick(run: RunMemory) -> bool:
    """Run the compiled clocks whose tick it is; True if Python clocks have to be called too."""
    clocks, mask = run.clocks, run.events.mask
    ticks, in_python = clocks.ticks, clocks.in_python
    compiled, called = False, False
    for s in range(clocks.count):
        mask[s] = 0.0
        if ticks[3 * s + 2] == clocks.due:
            ticks[3 * s + 2] += ticks[3 * s]
            if in_python[s] != 0:
                called = True
            else:
                mask[s] = 1.0
                compiled = True
    if compiled:
        x = argument_of(run, mask, clocks.count)
        run_kernel(run, clocks.sample, _tick_time(run), run.state.y, x, run.events.changed)
        take_changed(run)
    if clocks.modes_depend != 0:
        run.events.consistent = 0
    for s in range(clocks.count):
        mask[s] = 0.0
    clocks.first = clocks.due + 1
    _find_tick(run)
    return called


def _tick_time(run: RunMemory) -> float:
    """The time of the model at the present tick, to the last bit: samples see a law of time at it, on no side of it."""
    return float(run.clocks.due * run.clocks.numerator) / float(run.clocks.denominator)


def take_changed(run: RunMemory) -> None:
    """Make the state after an event or a tick the present one."""
    y, changed = run.state.y, run.events.changed
    for i in range(run.model.n):
        y[i] = changed[i]


WORST_FIRST_TRIES = 12  # of mode iteration, by the largest violation; later ones take the first function
MAX_TRIES = 40  # of mode iteration, after which there are no consistent modes


def _list_event(run: RunMemory, k: int) -> None:
    """Put an event on the list, with its mode before and after; called before the state changes.

    Mode iteration at the start of a run is no event, unless it resets q or u.
    """
    events, y, changed, at = run.events, run.state.y, run.events.changed, run.events.modes[k]
    is_event = run.counts.started != 0
    for i in range(run.model.z_at):
        is_event = is_event or y[i] != changed[i]
    if not is_event:
        return
    numbers = tail(events.list_numbers, 3 * events.listed)
    numbers[0], numbers[1], numbers[2] = run.step.t, 0.0, 0.0
    if at >= 0:
        numbers[1], numbers[2] = y[at], changed[at]
    events.list_functions[events.listed] = k
    events.listed += 1


def _reset(run: RunMemory, k: int) -> None:
    """Apply the reset map of an event function to the present state."""
    events, mask, armed, modes = run.events, run.events.mask, run.events.armed, run.events.modes
    mask[k] = 1.0
    x = argument_of(run, mask, events.count)
    run_kernel(run, events.reset, law_time(run, run.step.t), run.state.y, x, events.changed)
    mask[k] = 0.0
    note_reset(run)
    _list_event(run, k)
    take_changed(run)
    for i in range(events.count):
        armed[i] = 0 if modes[i] == modes[k] else armed[i]  # the mode begins now
    project(run, run.step.t, run.state.y)
    events.blamed = k


def _reset_all(run: RunMemory) -> int:
    """Reset for each function that triggered, one after the other, as long as it still triggers."""
    events, first = run.events, True
    events.consistent = 0
    for k in range(events.count):
        if events.triggered[k] != 0:
            evaluate(run, run.step.t, run.state.y)
            if first or events.triggered[k] == 2 or (is_active(run, k, run.state.y) and events.g[k] < 0.0):
                _reset(run, k)
            first = False
    return Outcome.CHATTER if is_chatter(run) else Outcome.DONE


def _find_inconsistent(run: RunMemory, tries: int) -> int:
    """The event function to trigger next, by the last evaluation; -1 if the modes are consistent.

    A function that comes to zero and stays there ends its mode.  One that was zero when its mode began does not.
    """
    m, g, armed, y = run.events.count, run.events.g, run.events.armed, run.state.y
    worst_function, largest = -1, 0.0
    for k in range(m):
        violation, falling = 0.0, -g[m + k]
        if g[k] < -ZERO_LEVEL:
            violation = -g[k]
        elif g[k] <= ZERO_LEVEL and falling > 0.0:
            violation = ZERO_LEVEL * (falling / (1.0 + falling) if falling < 1e300 else 1.0)
        elif g[k] <= ZERO_LEVEL and falling == 0.0 and armed[k] != 0:
            violation = 1e-300
        if (
            violation > 0.0
            and is_active(run, k, y)
            and (worst_function < 0 or (tries < WORST_FIRST_TRIES and violation > largest))
        ):
            worst_function, largest = k, violation
    return worst_function


def _iterate_modes(run: RunMemory) -> int:
    """Change modes of the present state until they are consistent."""
    events, armed, tries, t, y = run.events, run.events.armed, 0, run.step.t, run.state.y
    events.consistent = 1
    while events.count > 0:
        find_active(run, y)
        if is_clear(run, t, y):
            break
        evaluate(run, t, y)
        k = _find_inconsistent(run, tries)
        if k < 0:
            for i in range(events.count):
                armed[i] = 0
            arm(run)
            break
        if tries == MAX_TRIES:
            events.blamed = k
            return Outcome.MODES_INCONSISTENT
        check_consequence(run, k)
        _reset(run, k)
        tries += 1
    return Outcome.DONE


def is_instant(run: RunMemory) -> bool:
    """Whether the state or its slope jumps at the end of the step; output then follows before and after the jump."""
    end = run.step.t_new
    due = end == run.clocks.time or (run.events.present != 0 and end == run.breaks.time)
    return run.counts.pending == Pending.STEPPED_TO_EVENT or (due and end != run.step.t_end)


def begin(run: RunMemory) -> bool:
    """Start the run: the first slope, or mode iteration where there are events; False if the slope is not finite."""
    begin_piece(run)
    if run.events.present == 0:
        return start(run)
    if run.counts.pending == Pending.READY:
        begin_ticks(run)
        run.counts.pending = Pending.MODES
    return True


def begin_plain(run: RunMemory) -> bool:
    """Start the run of a model without events, or pass a break; False if the slope is not finite."""
    shift_to_break(run)
    begin_piece(run)
    finite = start(run)
    shift_back(run)
    return finite


def pass_break(run: RunMemory) -> bool:
    """Pass a break: evaluate the slope anew, or iterate the modes; False if the slope is not finite."""
    if run.events.present == 0:
        return begin_plain(run)
    shift_to_break(run)
    begin_piece(run)
    run.events.consistent = 0
    run.counts.pending = Pending.TICK if run.step.t == run.clocks.time else Pending.MODES
    return True


def handle_instant(run: RunMemory) -> int:
    """Make all changes of an instant: resets, ticks, modes, and the slope after them."""
    counts, events = run.counts, run.events
    while counts.pending != Pending.CONSISTENT:
        if events.room - events.listed < MAX_TRIES + events.count:
            return Outcome.EVENTS_FULL
        if counts.pending == Pending.EVENT:
            counts.pending = Pending.MODES
            shift_to_event(run)
            if _reset_all(run) != Outcome.DONE:
                return Outcome.CHATTER
        elif counts.pending == Pending.TICK:
            counts.pending = Pending.MODES
            if tick(run):
                return Outcome.PYTHON_CLOCK
        else:
            if events.consistent == 0:
                code = _iterate_modes(run)
                if code != Outcome.DONE:
                    return code
            if run.step.t == run.clocks.time and counts.started == 0:
                counts.pending = Pending.TICK
            else:
                check_start(run)
                counts.pending, run.monitor.known = Pending.CONSISTENT, 0
                if not start(run):
                    return Outcome.NOT_FINITE
                shift_back(run)
    return Outcome.DONE
