"""One step of fixed length, of the classical Runge-Kutta method or of any explicit tableau.

The grid of the run is ``t_start + i h``. Steps to clock ticks, events and breaks are shorter, and the next step leads
back to the grid.
"""

from __future__ import annotations

from collections.abc import Callable

from kinode.ode.loops.dense_output import combine, end_slope, table_row
from kinode.ode.loops.event_search import find_event
from kinode.ode.loops.loop_primitives import first_not_finite, normalize, not_finite, project, rate, slope
from kinode.ode.loops.run_codes import Outcome, Pending
from kinode.ode.loops.run_memory import RunMemory
from kinode.ode.loops.singularity_monitor import begin_monitor, distance, monitor_step
from kinode.ode.loops.step_bounds import finish_bounds, prepare_bounds

ALLOWED_CORRECTION = 0.1  # share of the change in a step by which the projection onto the constraints may move its end
STATE_ROUNDING = 1e-7  # relative: a smaller change of a state is not counted
GRID_TOLERANCE = 1e-9  # share of a step: a time nearer than that to the end of a step is there


def classical_step(run: RunMemory, t: float, h: float) -> int:
    """One step of the classical Runge-Kutta method from the present state and its slope; nonzero if not finite.

    The formulas are written out, so that a run has the same bits alone and in a batch.
    """
    n, y, new, stage = run.model.n_continuous, run.state.y, run.state.y_new, run.state.y_stage
    k1, k2, k3, k4 = slope(run, 0), slope(run, 1), slope(run, 2), slope(run, 3)
    half = 0.5 * h
    for i in range(n):
        stage[i] = y[i] + half * k1[i]
    rate(run, t + half, stage, k2)
    for i in range(n):
        stage[i] = y[i] + half * k2[i]
    rate(run, t + half, stage, k3)
    for i in range(n):
        stage[i] = y[i] + h * k3[i]
    rate(run, t + h, stage, k4)
    sixth = h / 6.0
    for i in range(n):
        new[i] = y[i] + sixth * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i])
    return not_finite(run, new)


def _tableau_step(run: RunMemory, t: float, h: float) -> int:
    """One step by the stages of the method's table, the last of which is the end of the step; nonzero if not finite."""
    last, nodes, stage = run.method.last, table_row(run, run.method.stages), run.state.y_stage
    for s in range(1, last):
        combine(run, h, table_row(run, s), s, stage)
        rate(run, t + nodes[s] * h, stage, slope(run, s))
    combine(run, h, table_row(run, last), last, run.state.y_new)
    return not_finite(run, run.state.y_new)


def _close_end(run: RunMemory) -> bool:
    """Project the end of the step onto its constraints; False if it was so far off that it may be on another branch."""
    y, new, open_end = run.state.y, run.state.y_new, run.state.y_stage
    if run.model.projection == 0:
        normalize(run, new)
        return True
    for i in range(run.model.n):
        open_end[i] = new[i]
    project(run, run.step.t_new, new)
    run.monitor.distance_new = distance(run)
    correction, step_change = 0.0, 0.0
    for i in range(run.columns.n_state):
        correction += abs(new[i] - open_end[i])
        step_change += abs(new[i] - y[i]) + STATE_ROUNDING * abs(new[i])
    return correction <= ALLOWED_CORRECTION * (step_change + STATE_ROUNDING)


def _plan_step(run: RunMemory) -> bool:
    """Set the end and length of the next step; False if it ends before the next grid point."""
    step, counts = run.step, run.counts
    grid = step.t_start + (counts.steps + 1) * step.h
    last = counts.steps + 1 == run.method.max_steps
    if last:
        grid = step.t_end
    tolerance, instant = GRID_TOLERANCE * step.h, min(run.clocks.time, run.breaks.time)
    before = instant < grid - tolerance
    step.t_new = instant if instant <= grid + tolerance and not (last and not before) else grid
    whole = counts.off_grid == 0 and not before
    step.h_done = step.h if whole else step.t_new - step.t
    counts.off_grid = int(step.t_new != grid)
    return not before


def _has_event(run: RunMemory) -> bool:
    """Whether there is an event in the step.

    The state in its middle is on the cubic of the four slopes of the classical method (Hairer, Norsett, Wanner I, II.6,
    of order 3), or on that through both ends and their slopes.
    """
    y, new, middle, h = run.state.y, run.state.y_new, run.state.between, run.step.h_done
    k1, k2, k3, k4 = slope(run, 0), slope(run, 1), slope(run, 2), slope(run, 3)
    if run.method.classical != 0:
        part = h / 24.0
        for i in range(run.model.n_continuous):
            middle[i] = y[i] + part * (5.0 * k1[i] + 4.0 * (k2[i] + k3[i]) - k4[i])
    else:
        end_slope(run)
        eighth, k_last = 0.125 * h, slope(run, run.method.last)
        for i in range(run.model.n_continuous):
            middle[i] = 0.5 * (y[i] + new[i]) + eighth * (k1[i] - k_last[i])
    covered = run.bounds.count > run.bounds.n_laws
    if covered:
        end_slope(run)
        prepare_bounds(run)
    event = find_event(run)
    if covered:
        finish_bounds(run)
    return event


def fixed_step_by(with_events: bool) -> Callable[[RunMemory], int]:
    """The step of fixed length, for models with events or without."""

    def take_fixed_step(run: RunMemory) -> int:
        """One step, with its events and its pass of singular positions."""
        step, counts = run.step, run.counts
        begin_monitor(run)
        on_grid = _plan_step(run)
        bad = 0
        if run.method.classical != 0:
            bad = classical_step(run, step.t, step.h_done)
        else:
            bad = _tableau_step(run, step.t, step.h_done)
        counts.steps += int(on_grid)
        counts.cut += int(not on_grid)
        counts.evaluations += run.method.last - 1
        if bad != 0:
            counts.failed = first_not_finite(run.state.y_new, run.model.n)
            step.failed_time = step.t_new
            return Outcome.NOT_FINITE
        step.h_done = step.t_new - step.t
        closed = _close_end(run)
        counts.pending, counts.dense_ready = Pending.STEPPED, 0
        if not closed:
            return Outcome.LEFT_BRANCH
        if run.model.projection != 0:
            end_slope(run)
        if with_events:
            end = step.t_new
            if run.events.count != 0 and _has_event(run):
                counts.pending = Pending.STEPPED_TO_EVENT
                if step.t_new != end:
                    counts.off_grid = 1
                    counts.steps -= int(on_grid)
                return Outcome.DONE
        if run.model.projection != 0 and monitor_step(run):
            return Outcome.NEAR_SINGULAR
        return Outcome.DONE

    return take_fixed_step


take_fixed_step = fixed_step_by(True)
