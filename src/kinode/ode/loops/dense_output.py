"""Combinations of the slopes of a step: its stages, its end, and the dense output between."""

from __future__ import annotations

from kinode.jit.loop.memory import Floats, apart, tail
from kinode.ode.loops.loop_primitives import copy_discrete, rate, slope
from kinode.ode.loops.run_codes import Stepping
from kinode.ode.loops.run_memory import RunMemory


def add(run: RunMemory, h: float, weights: Floats, first: int, count: int, out: Floats) -> None:
    """out += h * sum_j weights[j] slope_j for j from the first on; in pairs, for half the memory traffic."""
    n = run.model.n_continuous
    j = first
    while j < count:
        a, ka = h * weights[j], slope(run, j)
        j += 1
        if a == 0.0:
            continue
        if j < count:
            b, kb = h * weights[j], slope(run, j)
            j += 1
            for i in range(n):
                out[i] += a * ka[i] + b * kb[i]
        else:
            for i in range(n):
                out[i] += a * ka[i]


def combine(run: RunMemory, h: float, weights: Floats, count: int, out: Floats) -> None:
    """out = y + h * sum_j weights[j] slope_j, without the discrete entries."""
    y, a, k = run.state.y, h * weights[0], run.state.slopes
    for i in range(run.model.n_continuous):
        out[i] = y[i] + a * k[i]
    add(run, h, weights, 1, count, out)


def table_row(run: RunMemory, row: int) -> Floats:
    """A row of the method's table."""
    return tail(run.method.table, row * run.method.stages)


def end_slope(run: RunMemory) -> None:
    """Evaluate the slope at the end of a step of fixed length, once."""
    if run.counts.dense_ready == 0:
        rate(run, run.step.t_new, run.state.y_new, slope(run, run.method.last))
        run.counts.evaluations += 1
        run.counts.dense_ready = 1


def sample(run: RunMemory, t: float, out: Floats) -> None:
    """The dense output of the step that was just accepted, at time t."""
    method, step, counts = run.method, run.step, run.counts
    h, stages = step.h_done, method.stages
    if method.stepping == Stepping.FIXED:
        end_slope(run)
    if counts.dense_ready == 0:
        nodes = table_row(run, stages)
        for s in range(method.last + 1, stages):
            combine(run, h, table_row(run, s), s, run.state.y_stage)
            rate(run, step.t + nodes[s] * h, run.state.y_stage, slope(run, s))
            counts.evaluations += 1
        counts.dense_ready = 1
    find_weights(run, (t - step.t) / h)
    combine(run, h, method.weights, stages, out)
    copy_discrete(run, out)


def find_weights(run: RunMemory, theta: float) -> None:
    """The weights of the slopes in the dense output, at a share of the step, in ``method.weights``."""
    method, stages = run.method, run.method.stages
    weights, dense, top = method.weights, table_row(run, stages + 3), method.powers - 1
    highest = tail(dense, top * stages)
    for j in apart(stages):
        weights[j] = highest[j]
    for k in range(top - 1, -1, -1):
        numbers, factor = tail(dense, k * stages), (1.0 - theta) if k % 2 == 0 else theta
        for j in apart(stages):
            weights[j] = numbers[j] + weights[j] * factor
    for j in apart(stages):
        weights[j] *= theta
