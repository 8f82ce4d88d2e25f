"""Combinations of the slopes of a step: its stages, its end, and the dense output between."""

# The names of memory_layout.py, in capitals, are the names of all that is stored: wanted here without a prefix.
# ruff: noqa: F403, F405

from __future__ import annotations

from kinode.jit.pointers import Floats, Ints, floats
from kinode.ode.loops.loop_primitives import *
from kinode.ode.loops.memory_layout import *


def add(layout: Ints, h: float, weights: Floats, first: int, count: int, out: Floats) -> None:
    """out += h * sum_j weights[j] slope_j for j from the first on; in pairs, which halves the passes through memory."""
    n = layout[CONTROLLED]
    j = first
    while j < count:
        a, ka = h * weights[j], state_row(layout, SLOPES + j)
        j += 1
        if a == 0.0:
            continue
        if j < count:
            b, kb = h * weights[j], state_row(layout, SLOPES + j)
            j += 1
            for i in range(n):
                out[i] += a * ka[i] + b * kb[i]
        else:
            for i in range(n):
                out[i] += a * ka[i]


def combine(layout: Ints, h: float, weights: Floats, count: int, out: Floats) -> None:
    """out = y + h * sum_j weights[j] slope_j, without the entries that steps do not change."""
    y, a, k = state_row(layout, Y), h * weights[0], state_row(layout, SLOPES)
    for i in range(layout[CONTROLLED]):
        out[i] = y[i] + a * k[i]
    add(layout, h, weights, 1, count, out)


def table(layout: Ints, row: int) -> Floats:
    """A row of the table: the stages, the nodes, two error estimates, the powers of the dense output."""
    return floats(layout[AT_TABLE] + 8 * row * layout[STAGES])


def end_slope(layout: Ints, memory: Floats, counters: Ints) -> None:
    """The slope at the end of a step of fixed length, which is worked out where it is wanted."""
    if counters[EXTRA] == 0:
        rate(layout, memory[T_NEW], Y_NEW, K_NEXT)
        counters[EVALUATIONS] += 1
        counters[EXTRA] = 1


def sample(layout: Ints, memory: Floats, counters: Ints, t: float, out: Floats) -> None:
    """The dense output of the step that was just accepted, at time t."""
    h, stages = memory[H_DONE], layout[STAGES]
    if layout[ESTIMATES] == 0:
        end_slope(layout, memory, counters)
    if counters[EXTRA] == 0:
        nodes = table(layout, stages)
        for s in range(layout[LAST] + 1, stages):
            combine(layout, h, table(layout, s), s, state_row(layout, Y_STAGE))
            rate(layout, memory[T] + nodes[s] * h, Y_STAGE, SLOPES + s)
            counters[EVALUATIONS] += 1
        counters[EXTRA] = 1
    theta = (t - memory[T]) / h
    weights = floats(layout[AT_MEMORY] + 8 * MEMORY_SIZE)
    dense = table(layout, stages + 3)
    top = layout[POWERS] - 1
    for j in range(stages):
        w = dense[top * stages + j]
        for k in range(top - 1, -1, -1):
            w = dense[k * stages + j] + w * ((1.0 - theta) if k % 2 == 0 else theta)
        weights[j] = theta * w
    combine(layout, h, weights, stages, out)
    copy_held(layout, out)
