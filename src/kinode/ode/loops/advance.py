"""The main loop of a run, the same for every method: steps, output, breaks, clock ticks, events; and that of a stepper.

``counts.pending`` holds the next action: a step, its output, the changes at its end, the output after them.

A stepper advances a run by one interval, without output: as many steps as clocks, events and breaks in it need, with
all their changes. New inputs act from the start of the interval on: the slope is evaluated anew, and modes are made
consistent. An event at the end of the interval belongs to it. A clock tick there belongs to the next one, whose inputs
it sees. Loops without events serve models that have none; they compile in a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Callable

from kinode.jit.loop.memory import Floats, tail
from kinode.ode.loops.adaptive_step import take_adaptive_step, take_plain_step
from kinode.ode.loops.dense_output import end_slope, sample
from kinode.ode.loops.fixed_step import GRID_TOLERANCE, fixed_step_by, take_fixed_step
from kinode.ode.loops.instants import begin, begin_plain, handle_instant, is_instant, pass_break
from kinode.ode.loops.loop_primitives import law_time, project, rate, run_kernel, slope, tell_parts
from kinode.ode.loops.radau_step import take_radau_step
from kinode.ode.loops.run_codes import Outcome, Pending, Stepping
from kinode.ode.loops.run_memory import RunMemory, StepperMemory

SAME_TIME = 4.0 * 2.0**-52  # share of the time: an output time nearer than that to an event is at the event


def _time_tolerance(run: RunMemory, t: float) -> float:
    """Distance in s within which an output time counts as being at an instant."""
    if run.method.stepping == Stepping.FIXED:
        return GRID_TOLERANCE * run.step.h
    return SAME_TIME * (abs(run.step.origin) + abs(t))


def _copy(run: RunMemory, source: Floats, target: Floats) -> None:
    for i in range(run.model.n):
        target[i] = source[i]


def _write_row(run: RunMemory, t: float, at_end: bool) -> int:
    """Store the state at a time of the step."""
    output = run.output
    if output.written >= output.room:
        return Outcome.ROWS_FULL
    row = tail(output.y, output.written * run.model.n)
    if at_end:
        _copy(run, run.state.y_new, row)
    else:
        sample(run, t, row)
        project(run, t, row)
    output.t[output.written] = t
    output.written += 1
    output.next_time += 1
    return Outcome.DONE


def _write_step(run: RunMemory) -> int:
    """Store the output of the accepted step; a code other than ``DONE`` says what it needs to be called again.

    With fixed steps an output time on the grid, up to rounding, gets the state of the grid.
    """
    output, end = run.output, run.step.t_new
    if output.sampled == 0:
        return _write_row(run, end, True)
    times, instant = output.times, is_instant(run)
    fixed = run.method.stepping == Stepping.FIXED
    while output.next_time < output.n_times:
        t = times[output.next_time]
        at_end = t == end
        if fixed:
            beyond = (t - end) / run.step.h
            if beyond > (-GRID_TOLERANCE if instant else GRID_TOLERANCE):
                return Outcome.DONE
            at_end = not beyond < -GRID_TOLERANCE
        elif (t - end) * run.step.h_done > 0.0 or (instant and t >= end - _time_tolerance(run, t)):
            return Outcome.DONE
        code = _write_row(run, t, at_end)
        if code != Outcome.DONE:
            return code
    return Outcome.DONE


def _write_after_instant(run: RunMemory) -> bool:
    """Store the state after an instant, at each output time there; False when the output arrays are full."""
    output, t_now = run.output, run.step.t
    tolerance = _time_tolerance(run, t_now)
    while True:
        t, row = t_now, output.written
        if output.sampled != 0:
            if output.next_time >= output.n_times:
                return True
            t = output.times[output.next_time]
            if t > t_now + tolerance:
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
    """Whether a stored row of the output is the present state."""
    y, out = run.state.y, tail(run.output.y, row * run.model.n)
    same = True
    for i in range(run.model.n):
        same = same and y[i] == out[i]
    return same


def _finish_step(run: RunMemory) -> None:
    """Make the end of the step the present state; its last slope becomes the first one, if it is known.

    That of a fixed step is evaluated here, but for steppers, whose inputs may change before the next one.
    """
    y, new, k, k_last = run.state.y, run.state.y_new, run.state.slopes, slope(run, run.method.last)
    fixed = run.method.stepping == Stepping.FIXED
    if fixed and run.counts.goal < 0 and not is_instant(run):  # else the slope changes there
        end_slope(run)
    run.counts.slope_known = int(not fixed or run.counts.dense_ready != 0)
    for i in range(run.model.n_continuous):
        y[i] = new[i]
    if run.counts.slope_known != 0:
        for i in range(run.model.n_continuous):
            k[i] = k_last[i]
    run.step.t = run.step.t_new
    run.counts.pending = Pending.EVENT if run.counts.pending == Pending.STEPPED_TO_EVENT else Pending.READY


def _is_over(run: RunMemory) -> bool:
    """Whether the run has reached its end, or a stepper of fixed steps that of its interval."""
    if run.counts.goal >= 0:
        return run.counts.steps == run.counts.goal
    return run.step.t == run.step.t_end


def advance_by(take_step: Callable[[RunMemory], int], with_events: bool = True) -> Callable[[RunMemory], int]:
    """The main loop with a function that takes one step; only what that function needs is compiled with it.

    Loops without events serve models that have none; they compile in half the time.
    """

    begin_run, go_on = (begin, pass_break) if with_events else (begin_plain, begin_plain)

    def advance(run: RunMemory) -> int:
        """Continue a run for at most ``counts.budget`` accepted steps."""
        counts, step, budget = run.counts, run.step, run.counts.budget
        if counts.started == 0 and not begin_run(run):
            return Outcome.NOT_FINITE
        while True:
            if with_events and counts.pending >= Pending.EVENT:
                code = handle_instant(run)
                if code != Outcome.DONE:
                    return code
                if not _write_after_instant(run):
                    return Outcome.ROWS_FULL
                counts.pending = Pending.READY
            if counts.pending == Pending.READY:
                if _is_over(run):
                    return Outcome.DONE
                if budget <= 0:
                    return Outcome.PAUSED
                if step.t == run.breaks.time:
                    if not go_on(run):
                        return Outcome.NOT_FINITE
                    continue
                if with_events and step.t == run.clocks.time:
                    counts.pending = Pending.TICK
                    continue
                budget -= 1
                if counts.slope_known == 0:
                    rate(run, step.t, run.state.y, run.state.slopes)
                    counts.evaluations += 1
                code = take_step(run)
                if code != Outcome.DONE:
                    return code
            code = _write_step(run)
            if code != Outcome.DONE:
                return code
            _finish_step(run)
            if run.model.completed != 0 and not tell_parts(run):
                return Outcome.PART_STOPS

    return advance


advance_adaptive = advance_by(take_adaptive_step)
advance_adaptive_plain = advance_by(take_plain_step, False)
advance_fixed = advance_by(take_fixed_step)
advance_fixed_plain = advance_by(fixed_step_by(False), False)
advance_implicit = advance_by(take_radau_step)


def _take_inputs(stepper: StepperMemory) -> None:
    """Take the inputs of the caller, and note whether they differ from those before."""
    inputs, given = stepper.run.model.inputs, stepper.given
    for i in range(stepper.n_inputs):
        if inputs[i] != given[i]:
            inputs[i] = given[i]
            stepper.changed = 1


def _begin_interval(stepper: StepperMemory) -> None:
    """Begin an interval; the list of events is that of one interval."""
    run = stepper.run
    stepper.under_way, run.events.listed = 1, 0
    if run.method.stepping == Stepping.FIXED:
        run.counts.goal = stepper.reached + 1
    else:
        run.step.t_end = run.step.t_start + (stepper.reached + 1) * stepper.spacing


def _end_interval(stepper: StepperMemory) -> None:
    """End an interval, and evaluate the watched quantities there."""
    run = stepper.run
    stepper.reached += 1
    stepper.under_way = 0
    if stepper.watch != 0:
        run_kernel(run, stepper.watch, law_time(run, run.step.t), run.state.y, run.model.x, stepper.watched)


def _returned(stepper: StepperMemory, code: int) -> int:
    """The code of the loop, which is kept in its memory."""
    stepper.code = code
    return code


def interval_by(
    advance: Callable[[RunMemory], int], go_on: Callable[[RunMemory], bool]
) -> Callable[[StepperMemory], int]:
    """The loop for one interval, with the main loop of a run, and how that goes on after its inputs have jumped."""

    def advance_interval(stepper: StepperMemory) -> int:
        """Advance a run to its next grid time; called again after a request, it goes on."""
        run = stepper.run
        if stepper.under_way == 0:
            if stepper.reached >= stepper.horizon:
                return _returned(stepper, Outcome.PAUSED)
            _begin_interval(stepper)
        if run.counts.pending == Pending.READY:
            _take_inputs(stepper)
            jumped = stepper.changed != 0 and run.counts.started != 0
            stepper.changed = 0
            if jumped and not go_on(run):
                return _returned(stepper, Outcome.NOT_FINITE)
        code = advance(run)
        while code == Outcome.NEAR_SINGULAR:
            stepper.passes += 1
            code = advance(run)
        if code == Outcome.DONE:
            _end_interval(stepper)
        return _returned(stepper, code)

    return advance_interval


step_fixed = interval_by(advance_fixed, pass_break)
step_fixed_plain = interval_by(advance_fixed_plain, begin_plain)
step_adaptive = interval_by(advance_adaptive, pass_break)
step_implicit = interval_by(advance_implicit, pass_break)
