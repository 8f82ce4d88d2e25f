"""The equations of one step of an implicit Runge-Kutta method, solved by simplified Newton iteration.

The stage values Z, less the start of the step, satisfy Z = h A f(Z). With A^-1 = T L T^-1, Z = T W, L having one real
eigenvalue and 2 x 2 blocks, the linear equations of an iteration fall apart into one real and several complex systems
of the size of the state (E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, IV.8):
(L - h J) dW = h T^-1 f - L W. Iterations end when what is left is far below the tolerance.
"""

from __future__ import annotations

import math

from kinode.jit.loop.memory import Floats, apart, tail
from kinode.ode.loops.dense_output import find_weights, table_row
from kinode.ode.loops.loop_primitives import first_not_finite, not_finite, rate, slope
from kinode.ode.loops.newton_matrices import factor_shifted, solve_pair, solve_shifted
from kinode.ode.loops.run_memory import RunMemory

SOLVED, DIVERGED, WITHOUT_VALUE = 0, 1, 2
MAX_ITERATIONS = 12
LEFT = 0.02  # error of the equations' solution, as a share of the tolerance: in loops it opens them a little
ROUNDING = 2.0**-48  # relative: changes below it are rounding
NOISE_SHARE = 32.0  # tolerances are at least so many times what rounding changes
SLOWEST = 0.9  # contraction of an iteration that still counts as converging
LEAST_LEFT_OVER = 0.01  # share of the first change that may be left after it: a law may jump where no stage was yet
SAME_SHARE = 1e-12  # shares of a step that differ by less are the same
FARTHEST = 4.0  # steps: so far is the path of the last step extended to begin the iteration


def factor_matrices(run: RunMemory, h: float) -> bool:
    """Factor the matrices of a step of length h; False if one of them is singular."""
    if not factor_shifted(run, h):
        return False
    _find_noise(run, h)
    return True


def _find_noise(run: RunMemory, h: float) -> None:
    """How far rounding errors of the rate move the state in a step; those of the other sign would do the same."""
    n, rounding, noise, sign = run.model.n_continuous, run.newton.rounding, run.newton.noise, 1.0
    for i in range(n):
        noise[i] = sign * h * rounding[i]
        sign = -sign
    solve_shifted(run, noise)
    for i in range(n):
        noise[i] = abs(noise[i])


def find_scale(run: RunMemory) -> None:
    """The tolerance of each entry of the state in the step."""
    n, y, atol, rtol = run.model.n_continuous, run.state.y, run.method.atol, run.method.rtol
    scale, noise, inverse = run.newton.scale, run.newton.noise, run.newton.inverse_scale
    for i in range(n):
        scale[i] = atol[i] + rtol * abs(y[i]) + NOISE_SHARE * noise[i]
        inverse[i] = 1.0 / (scale[i] + noise[i] / LEFT)


def row(run: RunMemory, rows: Floats, i: int) -> Floats:
    """The vector of a stage."""
    return tail(rows, i * run.model.n)


def combine_rows(run: RunMemory, matrix: Floats, rows: Floats, factor: float, out: Floats) -> None:
    """out_i = factor * sum_j matrix_ij rows_j, for all stages, whose number is odd."""
    n, s = run.model.n_continuous, run.newton.stages
    for i in range(s):
        target, weights = row(run, out, i), tail(matrix, i * s)
        a, x = factor * weights[0], row(run, rows, 0)
        for k in apart(n):
            target[k] = a * x[k]
        j = 1
        while j + 3 < s:  # four at a time, for less memory traffic
            a, b, c, d = factor * weights[j], factor * weights[j + 1], factor * weights[j + 2], factor * weights[j + 3]
            x, y, z, w = row(run, rows, j), row(run, rows, j + 1), row(run, rows, j + 2), row(run, rows, j + 3)
            for k in apart(n):
                target[k] += (a * x[k] + b * y[k]) + (c * z[k] + d * w[k])
            j += 4
        if j + 1 < s:
            a, b, x, y = factor * weights[j], factor * weights[j + 1], row(run, rows, j), row(run, rows, j + 1)
            for k in apart(n):
                target[k] += a * x[k] + b * y[k]


def begin_iteration(run: RunMemory, h: float) -> None:
    """Begin with the path of the last step, extended, or with no change of the state."""
    newton, s, t = run.newton, run.newton.stages, run.step.t
    if newton.path_span != 0.0 and abs(t + h - newton.path_time) <= FARTHEST * abs(newton.path_span):
        begin, ratio = (t - newton.path_time) / newton.path_span, h / newton.path_span
        if abs(begin - newton.extended_from) > SAME_SHARE or abs(ratio - newton.extended_by) > SAME_SHARE:
            _find_extension(run, begin, ratio)
        combine_rows(run, newton.extension, slope(run, 1), newton.path_span, newton.z)
    else:
        for i in range(s * run.model.n):
            newton.z[i] = 0.0
    combine_rows(run, newton.change_back, newton.z, 1.0, newton.w)


def _find_extension(run: RunMemory, begin: float, ratio: float) -> None:
    """The weights of the slopes of the last step in the changes of the state to the stages of this one.

    Shares and lengths are those of the last step; steps that follow each other often have the same length.
    """
    newton, s, weights, nodes = run.newton, run.newton.stages, run.method.weights, table_row(run, run.method.stages)
    newton.extended_from, newton.extended_by = begin, ratio
    for i in range(s):
        find_weights(run, begin + nodes[i + 1] * ratio)
        for j in range(s):
            newton.extension[i * s + j] = weights[j + 1]
    find_weights(run, begin)
    for i in range(s):
        for j in range(s):
            newton.extension[i * s + j] -= weights[j + 1]


def _find_slopes(run: RunMemory, h: float) -> bool:
    """The time derivatives at the stages; False at the first that is not finite (``counts.failed``)."""
    newton, n, y, stage = run.newton, run.model.n_continuous, run.state.y, run.state.y_stage
    nodes = table_row(run, run.method.stages)
    for i in range(newton.stages):
        z, f, t = row(run, newton.z, i), row(run, newton.f, i), run.step.t + nodes[i + 1] * h
        for k in apart(n):
            stage[k] = y[k] + z[k]
        rate(run, t, stage, f)
        run.counts.evaluations += 1
        if not_finite(run, f) != 0:
            run.counts.failed = first_not_finite(f, n)
            run.step.failed_time = t
            return False
    return True


def _solve(run: RunMemory, h: float) -> None:
    """The change of W in one iteration."""
    newton, n, d = run.newton, run.model.n_continuous, run.newton.change_of_w
    values = newton.eigenvalues
    combine_rows(run, newton.change_back, newton.f, h, d)
    first, w, a = row(run, d, 0), row(run, newton.w, 0), values[0]
    for k in apart(n):
        first[k] -= a * w[k]
    solve_shifted(run, first)
    for j in range(newton.pairs):
        re, im = row(run, d, 1 + 2 * j), row(run, d, 2 + 2 * j)
        w_re, w_im = row(run, newton.w, 1 + 2 * j), row(run, newton.w, 2 + 2 * j)
        a, b = values[1 + 2 * j], values[2 + 2 * j]
        for k in apart(n):
            re[k] -= a * w_re[k] - b * w_im[k]
            im[k] -= a * w_im[k] + b * w_re[k]
        solve_pair(run, j, re, im)


def _size(run: RunMemory) -> float:
    """The change of W relative to the tolerance (root mean square); what rounding changes counts as solved."""
    newton, n, total = run.newton, run.model.n_continuous, 0.0
    inverse, squares = newton.inverse_scale, newton.squares
    for k in range(n):
        squares[k] = 0.0
    for i in range(newton.stages):
        change = row(run, newton.change_of_w, i)
        for k in apart(n):
            squares[k] += (inverse[k] * change[k]) * (inverse[k] * change[k])
    for k in range(n):
        total += squares[k]
    return math.sqrt(total / (n * newton.stages))


def iterate(run: RunMemory, h: float) -> int:
    """Solve the equations of a step of length h from the values in ``z`` and ``w``; SOLVED, or why they are not."""
    newton, n = run.newton, run.model.n
    w, d = newton.w, newton.change_of_w
    rounding = ROUNDING / run.method.rtol
    find_scale(run)
    left_over = max(newton.left_over**0.8, LEAST_LEFT_OVER)
    before = 0.0
    newton.contraction = 0.0
    for iteration in range(MAX_ITERATIONS):
        if not _find_slopes(run, h):
            return WITHOUT_VALUE
        _solve(run, h)
        newton.iterations += 1
        size = _size(run)
        if not math.isfinite(size):
            return DIVERGED
        if iteration > 0:
            contraction = size / before if before > 0.0 else 0.0
            newton.contraction = max(contraction, newton.contraction) if size > rounding else newton.contraction
            if contraction >= SLOWEST and size > rounding:
                return DIVERGED
            left_over = contraction / (1.0 - min(contraction, SLOWEST))
            left = left_over * size
            for _ in range(iteration + 1, MAX_ITERATIONS):
                left *= min(contraction, 1.0)
            if left > LEFT and size > rounding:
                return DIVERGED
        before = size
        for i in apart(newton.stages * n):
            w[i] += d[i]
        combine_rows(run, newton.change, w, 1.0, newton.z)
        if left_over * size <= LEFT or size <= rounding:
            newton.left_over = left_over
            return SOLVED
    return DIVERGED
