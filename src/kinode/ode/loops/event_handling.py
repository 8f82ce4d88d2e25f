"""The changes at an instant: reset maps, clock ticks, and mode iteration until the modes are consistent.

Modes are inconsistent where an active event function is clearly negative, or zero and falling. Mode iteration triggers
the function with the largest violation, after some tries the first one, until none is left. A tick leaves the modes as
they are if event functions depend on no state that clocks change.
"""

from __future__ import annotations

from kinode.jit.pointers import tail
from kinode.ode.loops.chatter import is_chatter, note_reset
from kinode.ode.loops.clock_ticks import begin_ticks, take_changed, tick
from kinode.ode.loops.columns.column_shift import (
    argument_of,
    check_consequence,
    check_start,
    shift_back,
    shift_to_break,
    shift_to_event,
)
from kinode.ode.loops.event_triggers import ZERO_LEVEL, arm, evaluate, find_active, is_active, is_clear
from kinode.ode.loops.loop_primitives import begin_piece, law_time, project, run_kernel, start
from kinode.ode.loops.run_codes import Outcome, Pending
from kinode.ode.loops.run_memory import RunMemory

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
