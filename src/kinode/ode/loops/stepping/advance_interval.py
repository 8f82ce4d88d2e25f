"""Advances a run by one interval: as many steps as clocks, events and breaks in it need, with all their changes.

It is the main loop of a run (advance.py) without output. New inputs act from the start of the interval on: the slope
is evaluated anew, and modes are made consistent. An event at the end of the interval belongs to it. A clock tick there
belongs to the next one, whose inputs it sees.

Loops without events serve models that have none; they compile in a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Callable

from kinode.ode.loops.adaptive_step import take_adaptive_step
from kinode.ode.loops.event_handling import begin, handle_instant, pass_break
from kinode.ode.loops.fixed_step import fixed_step_by
from kinode.ode.loops.loop_primitives import begin_piece, law_time, rate, run_kernel, slope, start
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


def _begin_plain(run: RunMemory) -> bool:
    """The first slope of a model without events, at the start and after a break; False if it is not finite."""
    begin_piece(run)
    return start(run)


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


def _watch(stepper: StepperMemory, run: RunMemory) -> None:
    """Evaluate the watched quantities at the end of the interval."""
    if stepper.watch != 0:
        run_kernel(run, stepper.watch, law_time(run, run.step.t), run.state.y, run.model.x, stepper.watched)


def interval_by(take_step: Callable[[RunMemory], int], with_events: bool) -> Callable[[StepperMemory], int]:
    """The loop for one interval with a function that takes one step."""

    def advance_interval(stepper: StepperMemory) -> int:
        """Advance a run to its next grid time; called again after a request, it goes on."""
        stepper.code = go_on(stepper)
        return stepper.code

    def go_on(stepper: StepperMemory) -> int:
        run = stepper.run
        counts, step = run.counts, run.step
        if stepper.under_way == 0:
            if stepper.reached >= stepper.horizon:
                return Outcome.PAUSED
            stepper.under_way, run.events.listed = 1, 0
            if run.method.stepping != Stepping.FIXED:
                step.t_end = step.t_start + (stepper.reached + 1) * stepper.spacing
        if counts.pending == Pending.READY:
            _take_inputs(stepper)
            fresh = counts.started == 0
            if fresh or stepper.changed != 0:
                stepper.changed, stepper.slope_known, counts.rejected_in_a_row = 0, 1, 0
                if with_events:
                    known = False
                    if fresh:
                        known = begin(run)
                    else:
                        known = pass_break(run)
                    if not known:
                        return Outcome.NOT_FINITE
                elif not _begin_plain(run):
                    return Outcome.NOT_FINITE
        while True:
            if with_events:
                if counts.pending >= Pending.EVENT:
                    code = handle_instant(run)
                    if code != Outcome.DONE:
                        return code
                    counts.pending, stepper.slope_known = Pending.READY, 1
            if counts.pending == Pending.READY:
                if _is_there(stepper, run):
                    stepper.reached += 1
                    stepper.under_way = 0
                    _watch(stepper, run)
                    return Outcome.DONE
                if step.t == run.breaks.time:
                    stepper.slope_known = 1
                    if with_events:
                        if not pass_break(run):
                            return Outcome.NOT_FINITE
                        continue
                    elif not _begin_plain(run):
                        return Outcome.NOT_FINITE
                if with_events:
                    if step.t == run.clocks.time:
                        counts.pending = Pending.TICK
                        continue
                if stepper.slope_known == 0:
                    rate(run, step.t, run.state.y, run.state.slopes)
                    counts.evaluations += 1
                code = take_step(run)
                if code == Outcome.NEAR_SINGULAR:
                    stepper.passes += 1
                elif code != Outcome.DONE:
                    return code
            _finish(stepper, run)

    return advance_interval


step_fixed = interval_by(fixed_step_by(True), True)
step_fixed_plain = interval_by(fixed_step_by(False), False)
step_adaptive = interval_by(take_adaptive_step, True)
