"""Advances a run by one interval: as many steps as clocks, events and breaks in it need, with all their changes.

It is the main loop of a run (advance.py) without output. New inputs act from the start of the interval on: the slope
is evaluated anew, and modes are made consistent. An event at the end of the interval belongs to it. A clock tick there
belongs to the next one, whose inputs it sees.

Loops without events serve models that have none; they compile in a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Callable

from kinode.ode.loops.adaptive_step import take_adaptive_step
from kinode.ode.loops.event_handling import begin, begin_plain, handle_instant, pass_break
from kinode.ode.loops.fixed_step import fixed_step_by
from kinode.ode.loops.implicit.radau_step import take_radau_step
from kinode.ode.loops.loop_primitives import law_time, rate, run_kernel, slope, tell_parts
from kinode.ode.loops.run_codes import Outcome, Pending, Stepping
from kinode.ode.loops.run_memory import RunMemory
from kinode.ode.loops.stepping.stepper_memory import StepperMemory


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
    if run.method.stepping != Stepping.FIXED:
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


def _finish(stepper: StepperMemory, run: RunMemory) -> None:
    """Make the end of the step the present state; its slope is evaluated when the next step needs it."""
    y, new, k, k_last = run.state.y, run.state.y_new, run.state.slopes, slope(run, run.method.last)
    for i in range(run.model.n_continuous):
        y[i] = new[i]
    stepper.slope_known = int(run.method.stepping != Stepping.FIXED or run.counts.dense_ready != 0)
    if stepper.slope_known != 0:
        for i in range(run.model.n_continuous):
            k[i] = k_last[i]
    run.step.t = run.step.t_new
    run.counts.pending = Pending.EVENT if run.counts.pending == Pending.STEPPED_TO_EVENT else Pending.READY


def _is_there(stepper: StepperMemory, run: RunMemory) -> bool:
    """Whether the run has reached the end of the interval."""
    if run.method.stepping == Stepping.FIXED:
        return run.counts.steps > stepper.reached
    return run.step.t == run.step.t_end


def beginning_by(with_events: bool) -> Callable[[StepperMemory], bool]:
    """How a run begins, and goes on after a jump of a law or of its inputs."""

    def begin_or_go_on(stepper: StepperMemory) -> bool:
        """Evaluate the first slope, or let the modes be made consistent; False if the slope is not finite."""
        run = stepper.run
        stepper.changed, stepper.slope_known = 0, 1
        if with_events:
            if run.counts.started == 0:
                return begin(run)
            return pass_break(run)
        return begin_plain(run)

    return begin_or_go_on


def interval_by(take_step: Callable[[RunMemory], int], with_events: bool) -> Callable[[StepperMemory], int]:
    """The loop for one interval with a function that takes one step."""
    begin_or_go_on = beginning_by(with_events)

    def advance_interval(stepper: StepperMemory) -> int:
        """Advance a run to its next grid time; called again after a request, it goes on."""
        run = stepper.run
        if stepper.under_way == 0:
            if stepper.reached >= stepper.horizon:
                return _returned(stepper, Outcome.PAUSED)
            _begin_interval(stepper)
        if run.counts.pending == Pending.READY:
            _take_inputs(stepper)
            if (run.counts.started == 0 or stepper.changed != 0) and not begin_or_go_on(stepper):
                return _returned(stepper, Outcome.NOT_FINITE)
        while not (run.counts.pending == Pending.READY and _is_there(stepper, run)):
            code = go_on(stepper)
            if code != Outcome.DONE:
                return _returned(stepper, code)
        _end_interval(stepper)
        return _returned(stepper, Outcome.DONE)

    def go_on(stepper: StepperMemory) -> int:
        """The next action of the run: the changes of an instant, a break, a tick, or a step."""
        run = stepper.run
        if with_events and run.counts.pending >= Pending.EVENT:
            code = handle_instant(run)
            if code == Outcome.DONE:
                run.counts.pending, stepper.slope_known = Pending.READY, 1
            return code
        if run.step.t == run.breaks.time:
            return Outcome.DONE if begin_or_go_on(stepper) else Outcome.NOT_FINITE
        if with_events and run.step.t == run.clocks.time:
            run.counts.pending = Pending.TICK
            return Outcome.DONE
        if stepper.slope_known == 0:
            rate(run, run.step.t, run.state.y, run.state.slopes)
            run.counts.evaluations += 1
        result = take_step(run)
        if result == Outcome.NEAR_SINGULAR:
            stepper.passes += 1
        elif result != Outcome.DONE:
            return result
        _finish(stepper, run)
        if run.model.completed != 0 and not tell_parts(run):
            return Outcome.PART_STOPS
        return Outcome.DONE

    return advance_interval


step_fixed = interval_by(fixed_step_by(True), True)
step_fixed_plain = interval_by(fixed_step_by(False), False)
step_adaptive = interval_by(take_adaptive_step, True)
step_implicit = interval_by(take_radau_step, True)
