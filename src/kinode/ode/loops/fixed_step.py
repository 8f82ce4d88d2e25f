"""One step of fixed length, of the classical Runge-Kutta method or of any explicit tableau.

The times of the run are ``t_start + i h``. Ticks, events and breaks of laws are reached by shorter steps, which lead
back to these times.
"""

from __future__ import annotations

from kinode.ode.loops.dense_output import combine, end_slope, table_row
from kinode.ode.loops.event_search import find_event
from kinode.ode.loops.loop_primitives import first_not_finite, normalize, not_finite, project, rate, slope
from kinode.ode.loops.run_codes import Outcome, Pending
from kinode.ode.loops.run_memory import RunMemory
from kinode.ode.loops.singularity_monitor import begin_watch, distance, watch

MOVED = 0.1  # of what a step changes: closing the loops may move its end so far
ROUNDING = 1e-7  # of a state: less is not looked at
ON_GRID = 1e-9  # of a step: a time nearer than that to the end of a step is there


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
    """The same by the stages of the method's table; the last of them is the end of the step."""
    last, nodes, stage = run.method.last, table_row(run, run.method.stages), run.state.y_stage
    for s in range(1, last):
        combine(run, h, table_row(run, s), s, stage)
        rate(run, t + nodes[s] * h, stage, slope(run, s))
    combine(run, h, table_row(run, last), last, run.state.y_new)
    return not_finite(run, run.state.y_new)


def _close_end(run: RunMemory) -> bool:
    """Bring the end of the step onto its constraints; False if it was so far from them that it may be on any branch."""
    y, new, open_end = run.state.y, run.state.y_new, run.state.y_stage
    if run.model.projection == 0:
        normalize(run, new)
        return True
    for i in range(run.model.n):
        open_end[i] = new[i]
    project(run, run.step.t_new, new)
    run.monitor.distance_new = distance(run)
    moved, way = 0.0, 0.0
    for i in range(run.model.n):
        moved += abs(new[i] - open_end[i])
        way += abs(new[i] - y[i]) + ROUNDING * abs(new[i])
    return moved <= MOVED * (way + ROUNDING)


def _aim(run: RunMemory) -> bool:
    """Set where the next step ends and how long it is; False if that is before the grid."""
    step, counts = run.step, run.counts
    grid = step.t_start + (counts.steps + 1) * step.h
    last = counts.steps + 1 == run.method.max_steps
    if last:
        grid = step.t_end
    slack, instant = ON_GRID * step.h, min(run.clocks.time, run.breaks.time)
    before = instant < grid - slack
    step.t_new = instant if instant <= grid + slack and not (last and not before) else grid
    whole = counts.off_grid == 0 and not before
    step.h_done = step.h if whole else step.t_new - step.t
    counts.off_grid = int(step.t_new != grid)
    return not before


def _strikes(run: RunMemory) -> bool:
    """Whether there is an event in the step.

    Its middle is looked at on the cubic that the four slopes of the classical method give (Hairer, Norsett, Wanner I,
    II.6, of order 3), or on that through both ends and their slopes.
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
    return find_event(run)


def take_fixed_step(run: RunMemory) -> int:
    """One step, with what is met on its way."""
    step, counts = run.step, run.counts
    begin_watch(run)
    on_grid = _aim(run)
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
    end = step.t_new
    if run.events.count != 0 and _strikes(run):
        counts.pending = Pending.STRUCK
        if step.t_new != end:
            counts.off_grid = 1
            counts.steps -= int(on_grid)
    elif run.model.projection != 0 and watch(run):
        return Outcome.NEAR_SINGULAR
    return Outcome.DONE
