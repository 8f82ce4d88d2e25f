"""What happens at an instant: reset maps, clock ticks, and mode iteration until the modes are consistent.

Modes are inconsistent where an active event function is clearly negative, or zero and falling; the worst of them
triggers, after some tries the first, until none is left. A tick that changes nothing that event functions depend on
leaves them as they were before it.
"""

from __future__ import annotations

from kinode.jit.pointers import tail
from kinode.ode.loops.chatter import is_chatter, note_reset
from kinode.ode.loops.clock_ticks import begin_ticks, take_changed, tick
from kinode.ode.loops.event_triggers import ZERO, arm, evaluate, find_active, is_active, is_clear
from kinode.ode.loops.loop_primitives import begin_piece, law_time, project, run_kernel, start
from kinode.ode.loops.run_codes import Outcome, Pending
from kinode.ode.loops.run_memory import RunMemory

BY_WORST, TRIES = 12, 40  # of mode iteration: the worst triggers first, then the first; then no modes are consistent


def _list_event(run: RunMemory, k: int) -> None:
    """Put an event on the list, with its mode before and after, as the state is about to change.

    At the start modes are found, which is no event unless something is reset.
    """
    events, y, changed, at = run.events, run.state.y, run.events.changed, run.events.modes[k]
    counts = run.counts.started != 0
    for i in range(run.model.z_at):
        counts = counts or y[i] != changed[i]
    if not counts:
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
    run_kernel(run, events.reset, law_time(run, run.step.t), run.state.y, mask, events.changed)
    mask[k] = 0.0
    note_reset(run)
    _list_event(run, k)
    take_changed(run)
    for i in range(events.count):
        armed[i] = 0 if modes[i] == modes[k] else armed[i]  # its mode begins now
    project(run, run.step.t, run.state.y)
    events.blamed = k


def _reset_all(run: RunMemory) -> int:
    """The events of all functions that triggered, one after the other as far as they still do."""
    events, first = run.events, True
    events.consistent = 0
    for k in range(events.count):
        if events.triggered[k] != 0:
            evaluate(run, run.step.t, run.state.y)
            if first or (is_active(run, k, run.state.y) and events.g[k] < 0.0):
                _reset(run, k)
            first = False
    return Outcome.CHATTER if is_chatter(run) else Outcome.DONE


def _find_inconsistent(run: RunMemory, tries: int) -> int:
    """The event function to trigger next, as they were evaluated last, or -1.

    What comes to zero and stays there ends its mode; what was there when its mode began does not.
    """
    m, g, armed, y = run.events.count, run.events.g, run.events.armed, run.state.y
    chosen, worst = -1, 0.0
    for k in range(m):
        bad, falling = 0.0, -g[m + k]
        if g[k] < -ZERO:
            bad = -g[k]
        elif g[k] <= ZERO and falling > 0.0:
            bad = ZERO * (falling / (1.0 + falling) if falling < 1e300 else 1.0)
        elif g[k] <= ZERO and falling == 0.0 and armed[k] != 0:
            bad = 1e-300
        if bad > 0.0 and is_active(run, k, y) and (chosen < 0 or (tries < BY_WORST and bad > worst)):
            chosen, worst = k, bad
    return chosen


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
        if tries == TRIES:
            events.blamed = k
            return Outcome.MODES_INCONSISTENT
        _reset(run, k)
        tries += 1
    return Outcome.DONE


def is_instant(run: RunMemory) -> bool:
    """Whether something changes at once at the end of the step: the row there is that before, and one after follows."""
    end = run.step.t_new
    due = end == run.clocks.time or (run.events.present != 0 and end == run.breaks.time)
    return run.counts.pending == Pending.STRUCK or (due and end != run.step.t_end)


def begin(run: RunMemory) -> bool:
    """The slope at the start, which waits for the modes where there are any; False if it is not finite."""
    begin_piece(run)
    if run.events.present == 0:
        return start(run)
    if run.counts.pending == Pending.READY:
        begin_ticks(run)
        run.counts.pending = Pending.MODES
    return True


def pass_break(run: RunMemory) -> bool:
    """Go on beyond a break of laws: with another slope, and other modes maybe; False if that is not finite."""
    begin_piece(run)
    if run.events.present == 0:
        return start(run)
    run.events.consistent = 0
    run.counts.pending = Pending.TICK if run.step.t == run.clocks.time else Pending.MODES
    return True


def change(run: RunMemory) -> int:
    """Bring what changes at an instant to its end: resets, ticks, modes, and the slope to go on with."""
    counts, events = run.counts, run.events
    while counts.pending != Pending.CONSISTENT:
        if events.room - events.listed < TRIES + events.count:
            return Outcome.EVENTS_FULL
        if counts.pending == Pending.EVENT:
            counts.pending = Pending.MODES
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
                counts.pending, run.monitor.watching = Pending.CONSISTENT, 0
                if not start(run):
                    return Outcome.NOT_FINITE
    return Outcome.DONE
