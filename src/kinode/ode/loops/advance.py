"""One run, step after step: the same for every method, with output, breaks of laws, clock ticks and events.

What a run does next is in ``counts.pending``: a step, its rows, what changes at its end, the row after that. A method
of the loop language takes its step here; a solver beyond the loop is asked for it (``Outcome.STEP_WANTED``), and for
states between the ends of its steps (``Outcome.STATE_WANTED``).
"""

from __future__ import annotations

from collections.abc import Callable

from kinode.jit.pointers import Floats, tail
from kinode.ode.loops.adaptive_step import take_adaptive_step
from kinode.ode.loops.dense_output import end_slope, sample
from kinode.ode.loops.event_handling import begin, change, is_instant, pass_break
from kinode.ode.loops.fixed_step import ON_GRID, take_fixed_step
from kinode.ode.loops.loop_primitives import project, slope
from kinode.ode.loops.run_codes import Outcome, Pending, Stepping
from kinode.ode.loops.run_memory import RunMemory

AT_ONCE = 4.0 * 2.0**-52  # of the time: an output time nearer than that to an event is at the event


def _slack(run: RunMemory, t: float) -> float:
    """How near a time of output is to an instant to be there."""
    return ON_GRID * run.step.h if run.method.stepping == Stepping.FIXED else AT_ONCE * abs(t)


def _copy(run: RunMemory, source: Floats, target: Floats) -> None:
    for i in range(run.model.n):
        target[i] = source[i]


def _write_row(run: RunMemory, t: float, at_end: bool) -> int:
    """Store the state at a time of the step."""
    output, step = run.output, run.step
    if output.written >= output.room:
        return Outcome.ROWS_FULL
    row = tail(output.y, output.written * run.model.n)
    if at_end:
        _copy(run, run.state.y_new, row)
    elif run.method.stepping != Stepping.OUTSIDE:
        sample(run, t, row)
        project(run, t, row)
    elif step.t_asked == t:
        _copy(run, run.state.between, row)
    else:
        step.t_asked = t
        return Outcome.STATE_WANTED
    output.t[output.written] = t
    output.written += 1
    output.next_time += 1
    return Outcome.DONE


def _write_step(run: RunMemory) -> int:
    """Store what the accepted step holds for the output, or say what that needs (and is to be called again).

    With steps of fixed length a time on the grid gets the state there, rounding aside.
    """
    output, end = run.output, run.step.t_new
    if output.sampled == 0:
        return _write_row(run, end, True)
    times, later = output.times, is_instant(run)
    fixed = run.method.stepping == Stepping.FIXED
    while output.next_time < output.n_times:
        t = times[output.next_time]
        at_end = t == end
        if fixed:
            beyond = (t - end) / run.step.h
            if beyond > (-ON_GRID if later else ON_GRID):
                return Outcome.DONE
            at_end = not beyond < -ON_GRID
        elif (t - end) * run.step.h_done > 0.0 or (later and t >= end - AT_ONCE * abs(t)):
            return Outcome.DONE
        code = _write_row(run, t, at_end)
        if code != Outcome.DONE:
            return code
    return Outcome.DONE


def _write_changed(run: RunMemory) -> bool:
    """Store the row after an instant, and the times asked for there; False when the room is used up."""
    output, now = run.output, run.step.t
    slack = _slack(run, now)
    while True:
        t, row = now, output.written
        if output.sampled != 0:
            if output.next_time >= output.n_times:
                return True
            t = output.times[output.next_time]
            if t > now + slack:
                return True
        elif row > 0 and _is_written(run, row - 1):
            return True
        if row >= output.room:
            return False
        output.t[row] = t
        _copy(run, run.state.y, tail(output.y, row * run.model.n))
        output.written += 1
        output.next_time += 1
        if output.sampled == 0:
            return True


def _is_written(run: RunMemory, row: int) -> bool:
    """Whether a row that was stored is the present state."""
    y, out = run.state.y, tail(run.output.y, row * run.model.n)
    same = True
    for i in range(run.model.n):
        same = same and y[i] == out[i]
    return same


def _finish_step(run: RunMemory) -> None:
    """Make the end of the step the present; its last slope becomes the first one."""
    y, new, k, k_last = run.state.y, run.state.y_new, run.state.slopes, slope(run, run.method.last)
    if run.method.stepping == Stepping.FIXED and not is_instant(run):  # else another slope is to go on with
        end_slope(run)
    for i in range(run.model.n_continuous):
        y[i] = new[i]
        k[i] = k_last[i]
    run.step.t = run.step.t_new
    run.counts.pending = Pending.EVENT if run.counts.pending == Pending.STRUCK else Pending.READY


def ask_for_step(run: RunMemory) -> int:
    """A step is taken by a solver beyond the loop."""
    return Outcome.STEP_WANTED


def advance_by(take_step: Callable[[RunMemory], int]) -> Callable[[RunMemory], int]:
    """The loop of a method, given how it takes one step; only what that needs is compiled with it."""

    def advance(run: RunMemory) -> int:
        """Go on with a run, for at most ``counts.budget`` accepted steps."""
        counts, step, budget = run.counts, run.step, run.counts.budget
        if counts.started == 0 and not begin(run):
            return Outcome.NOT_FINITE
        while True:
            if counts.pending >= Pending.EVENT:
                code = change(run)
                if code != Outcome.DONE:
                    return code
                if not _write_changed(run):
                    return Outcome.ROWS_FULL
                counts.pending = Pending.READY
            if counts.pending == Pending.READY:
                if step.t == step.t_end:
                    return Outcome.DONE
                if budget <= 0:
                    return Outcome.PAUSED
                if step.t == run.breaks.time:
                    if not pass_break(run):
                        return Outcome.NOT_FINITE
                    continue
                if step.t == run.clocks.time:
                    counts.pending = Pending.TICK
                    continue
                budget -= 1
                code = take_step(run)
                if code != Outcome.DONE:
                    return code
            code = _write_step(run)
            if code != Outcome.DONE:
                return code
            _finish_step(run)

    return advance


advance_adaptive = advance_by(take_adaptive_step)
advance_fixed = advance_by(take_fixed_step)
advance_outside = advance_by(ask_for_step)
