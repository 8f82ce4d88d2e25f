"""One step of a Radau IIA method with error control (ode/radau_table.py has its coefficients).

The slopes of a step are, in this order: that at its start, those of the stages, the error estimate divided by the
length of the step, and that at its end. The slopes of the stages are those of the collocation polynomial, found from
the stage values and not from the rate: a stiff rate would magnify what the iteration leaves over.

The error estimate compares the slope at the start with that of the polynomial, and damps its stiff part with a matrix
that is factored anyway (Hairer, Wanner II, IV.8). The same vector raises the order of the dense output by one.
"""

from __future__ import annotations

import math

from kinode.jit.loop.memory import Floats, apart
from kinode.ode.loops.adaptive_step import ALLOWED_CORRECTION, close_end, find_step_by, step_to_event_by, take_step_by
from kinode.ode.loops.dense_output import sample, table_row
from kinode.ode.loops.loop_primitives import first_not_finite, not_finite, rate, slope
from kinode.ode.loops.newton_iteration import (
    DIVERGED,
    SOLVED,
    WITHOUT_VALUE,
    begin_iteration,
    combine_rows,
    factor_matrices,
    iterate,
    row,
)
from kinode.ode.loops.newton_matrices import solve_shifted
from kinode.ode.loops.run_memory import RunMemory
from kinode.ode.loops.state_jacobian import find_jacobian

HALVED = 1.8  # error of a step whose equations are not solved, to the power of the order: the next is half as long
INSIDE = 0.2  # weight of the error between the ends of a step
WANTED = 0.2  # contraction that steps with a new Jacobian aim at, where it bounds them, by its cube root
UNSOLVED = 3.0  # tolerances: what the slope at the end of a step may show to be missing in its solution
ABRUPT = 2.0  # power of an error between the ends of a step that is too large: it shrinks little faster than the step


def _begin(run: RunMemory) -> None:
    """Forget Jacobian and path where the state has just jumped."""
    newton = run.newton
    if run.counts.restarted != 0:
        newton.jacobian_time, newton.path_span, newton.left_over = math.nan, 0.0, 1.0
        newton.factored, newton.jump_time, run.counts.restarted = 0.0, run.step.t, 0
        newton.slope_known, newton.step_time = 0, run.step.t
    if newton.step_time != run.step.t:
        _keep_slope(run)


def _keep_slope(run: RunMemory) -> None:
    """Keep the slope with which the step before ended; it is not known if that step was cut short."""
    newton, t, source, target = run.newton, run.step.t, slope(run, run.newton.stages), run.newton.slope_before
    newton.step_time = t
    newton.slope_known = int(abs(newton.path_time + newton.path_span - t) <= 1e-6 * abs(newton.path_span))
    for i in range(run.model.n_continuous):
        target[i] = source[i]


def _solve_stages(run: RunMemory, h: float) -> int:
    """Solve the equations of the step, with the Jacobian at hand or, if that does not do, with a new one."""
    newton, t = run.newton, run.step.t
    code = DIVERGED
    if newton.jacobian_time == newton.jacobian_time and (newton.jacobian_wanted == 0 or newton.jacobian_time == t):
        if newton.factored == h or factor_matrices(run, h):
            begin_iteration(run, h)
            code = iterate(run, h)
        if code == SOLVED or newton.jacobian_time == t:
            return code
    run.counts.failed = -1
    begin_iteration(run, h)
    _renew_jacobian(run, h)
    if not factor_matrices(run, h):
        return DIVERGED
    return iterate(run, h)


def _renew_jacobian(run: RunMemory, h: float) -> None:
    """The Jacobian in the middle of the path with which the iteration begins; its start if that did not do.

    Over the step it changes from there by half as much as from the start, and the iteration contracts twice as fast.
    """
    newton, y, stage, middle = run.newton, run.state.y, run.state.y_stage, run.newton.stages // 2
    t, z = run.step.t, row(run, run.newton.z, run.newton.stages // 2)
    if newton.columns.kernel == 0 or newton.jacobian_failed == t:
        find_jacobian(run, t, y)
        return
    for i in range(run.model.n_continuous):
        stage[i] = y[i] + z[i]
    find_jacobian(run, t + table_row(run, run.method.stages)[middle + 1] * h, stage)


def _keep_path(run: RunMemory, h: float) -> None:
    """The end of the step, and the slopes of the collocation polynomial."""
    newton, n, y, new = run.newton, run.model.n_continuous, run.state.y, run.state.y_new
    z = row(run, newton.z, newton.stages - 1)
    for k in apart(n):
        new[k] = y[k] + z[k]
    combine_rows(run, newton.slopes, newton.z, 1.0 / h, slope(run, 1))
    newton.path_time, newton.path_span = run.step.t, h


def _raw_error(run: RunMemory, h: float, start: Floats, out: Floats) -> None:
    """The difference of two solutions, with a slope at the start of the step; not yet damped."""
    n, weights, factor = run.model.n_continuous, table_row(run, run.method.stages + 1), run.newton.eigenvalues[0]
    a = factor * h * weights[0]
    for k in apart(n):
        out[k] = a * start[k]
    for j in range(1, run.newton.stages + 1):
        a, k_j = factor * h * weights[j], slope(run, j)
        for k in apart(n):
            out[k] += a * k_j[k]
    solve_shifted(run, out)


def _error_size(run: RunMemory, estimate: Floats) -> float:
    """An error relative to the tolerance (root mean square)."""
    n, atol, rtol, scale = run.model.n_continuous, run.method.atol, run.method.rtol, run.newton.scale
    new, total = run.state.y_new, 0.0
    for k in range(n):
        part = estimate[k] / max(scale[k], atol[k] + rtol * abs(new[k]))
        total += part * part
    return math.sqrt(total / n) / run.newton.ease


def _find_error(run: RunMemory, h: float) -> float:
    """The error of the step; damped once more where it is large in a first step or after a rejected one."""
    n, stage, y = run.model.n_continuous, run.state.y_stage, run.state.y
    estimate = slope(run, run.newton.stages + 1)
    _raw_error(run, h, run.state.slopes, estimate)
    size = _error_size(run, estimate)
    if size > 1.0 and (run.counts.rejected_in_a_row > 0 or run.newton.jump_time == run.step.t):
        for k in range(n):
            stage[k] = y[k] + estimate[k]
        rate(run, run.step.t, stage, run.newton.f)
        run.counts.evaluations += 1
        if not_finite(run, run.newton.f) == 0:
            _raw_error(run, h, run.newton.f, estimate)
            size = _error_size(run, estimate)
    inside = _find_error_inside(run, h, estimate)
    size = max(size, inside if inside <= 1.0 else inside**ABRUPT)
    inverse = 1.0 / h
    for k in range(n):
        estimate[k] *= inverse
    return size


def _find_error_inside(run: RunMemory, h: float, estimate: Floats) -> float:
    """The error of the path between the ends of the step that the estimate does not see.

    Where a state follows others at once, being very stiff, stages have no error, and the estimate is damped away. The
    path between stages is wrong nevertheless. That shows in its slope, which jumps from one step to the next.
    """
    n, jump, weights = run.model.n_continuous, run.newton.f, table_row(run, run.method.stages + 1)
    before, total, scale = run.newton.slope_before, 0.0, run.newton.scale
    if run.newton.slope_known == 0:
        return 0.0
    a = h * weights[0]
    for k in apart(n):
        jump[k] = a * before[k] - estimate[k]
    for j in range(1, run.newton.stages + 1):
        a, k_j = h * weights[j], slope(run, j)
        for k in apart(n):
            jump[k] += a * k_j[k]
    for k in range(n):
        part = jump[k] / scale[k]
        total += part * part
    return INSIDE * math.sqrt(total / n)


def _find_missing(run: RunMemory, h: float) -> float:
    """What is missing in the solution of the equations, relative to the tolerance (root mean square).

    Iterations end by the size of their changes. Where a fast state acts strongly on others, and the Jacobian is old, a
    change of the fast one far below its tolerance is a large one of the others. The slope at the end shows that.
    """
    n, missing, total = run.model.n_continuous, run.newton.f, 0.0
    end, path, scale = slope(run, run.method.last), slope(run, run.newton.stages), run.newton.scale
    for k in apart(n):
        missing[k] = h * (end[k] - path[k])
    solve_shifted(run, missing)
    for k in range(n):
        part = missing[k] / scale[k]
        total += part * part
    return math.sqrt(total / n)


def _try_radau(run: RunMemory, h: float) -> float:
    """Try a step of length h; returns its error relative to the tolerance, nan if a slope is not finite."""
    newton, step = run.newton, run.step
    _begin(run)
    code = _solve_stages(run, h)
    if code == WITHOUT_VALUE:
        return math.nan
    if code == DIVERGED:
        newton.jacobian_failed, newton.jacobian_time = step.t, math.nan
        return HALVED**run.method.order
    _keep_path(run, h)
    error = _find_error(run, h)
    if newton.jacobian_time == step.t:  # by its convergence a step is not rejected, but the next one is not too long
        bound = min(1.0, newton.contraction / WANTED)
        error = max(error, bound * bound)
    newton.jacobian_wanted = int(newton.contraction > newton.slow)
    step.end_correction = close_end(run, step.t + h)
    last = slope(run, run.method.last)
    rate(run, step.t + h, run.state.y_new, last)
    run.counts.evaluations += 1
    if not_finite(run, last) != 0:
        run.counts.failed = first_not_finite(last, run.model.n_continuous)
        step.failed_time = step.t + h
        return math.nan
    allowed = UNSOLVED * max(1.0, ALLOWED_CORRECTION * step.end_correction)
    if step.end_correction <= 1.0 and _find_missing(run, h) > allowed:
        if newton.jacobian_time == step.t:
            newton.jacobian_failed = step.t
        newton.jacobian_time = math.nan
        return HALVED**run.method.order
    return max(error, step.end_correction)


def _find_middle(run: RunMemory) -> None:
    """The state in the middle of the step."""
    sample(run, run.step.t + 0.5 * run.step.h_done, run.state.between)


take_radau_step = take_step_by(step_to_event_by(find_step_by(_try_radau), _find_middle))
