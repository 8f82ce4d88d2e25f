"""How near a run comes to singular positions, step by step.

The distance is measured by the square root of what is left of the constraints' inverse effective mass: it goes to zero
in proportion to the distance from a singular position, and is nearly linear in time there, so that it can be foreseen.
Steps may jump over such a position. Where the distance at the end of a step is not the one that was to be expected, or
where it was to come near zero, the least one is looked for on the dense output of the step.
"""

# The names of records.py, in capitals, are the names of all that is stored: wanted here without a prefix.
# ruff: noqa: F403, F405

from __future__ import annotations

import math

from kinode.codegen.memory import Floats, Ints, floats
from kinode.solve.dense_loops import sample
from kinode.solve.primitives import *
from kinode.solve.records import *

NEAR = 1e-3  # of the largest distance (integrators.py tells of the same)
SURPRISE = 0.8  # of the distance at both ends: less was to be expected between
SECTIONS = 16  # golden ones, to some 1e-3 of a step
GOLDEN = 0.381966011250105


def distance(layout: Ints) -> float:
    """From a singular position, of the state that was projected last."""
    return 1.0 / math.sqrt(floats(layout[AT_PROJECTED])[layout[N]])


def crosses(memory: Floats, h: float) -> bool:
    """Whether a step from here is expected to pass a singular position."""
    return memory[DISTANCE] + memory[TREND] * h < 0.3 * memory[DISTANCE]


def begin_watch(layout: Ints, memory: Floats, counters: Ints) -> None:
    """The distance of the present state."""
    y, stage = state_row(layout, Y), state_row(layout, Y_STAGE)
    for i in range(layout[N]):
        stage[i] = y[i]
    project(layout, memory[T], layout[AT_STATE] + 8 * Y_STAGE * layout[N])
    memory[DISTANCE] = distance(layout)
    memory[TREND], memory[BEND], memory[SPAN] = 0.0, 0.0, 0.0
    memory[FARTHEST] = max(memory[FARTHEST], memory[DISTANCE])
    counters[WATCHING] = 1


def watch(layout: Ints, memory: Floats, counters: Ints) -> bool:
    """Whether the step that was just accepted passes near a singular position.

    The time and the share of the largest distance are left in NEAR_TIME and NEAR_SHARE, the state in the row of the
    stage.
    """
    before, after = memory[DISTANCE], memory[DISTANCE_NEW]
    h = memory[H_DONE]
    expected = before + (memory[TREND] + memory[BEND] * h) * h  # the parabola through the last three
    memory[FARTHEST] = max(memory[FARTHEST], after)
    memory[DISTANCE] = after
    memory[NEAR_TIME], memory[NEAR_SHARE] = memory[T_NEW], after / memory[FARTHEST]
    if expected < SURPRISE * min(before, after):
        _look(layout, memory, counters, before, after)
    crossed = memory[NEAR_SHARE] < NEAR and memory[NEAR_TIME] != memory[T_NEW]
    slope = (after + before if crossed else after - before) / h
    # the slope at the end of the step, and half the rate of slopes
    memory[BEND] = (slope - memory[SLOPE]) / (h + memory[SPAN]) if memory[SPAN] != 0.0 else 0.0
    memory[TREND] = slope + memory[BEND] * h
    memory[SLOPE], memory[SPAN] = slope, h
    return memory[NEAR_SHARE] < NEAR


def _distance_at(layout: Ints, memory: Floats, counters: Ints, share: float) -> float:
    """The distance at a share of the step; the state is in the row of the stage."""
    t = memory[T] + share * memory[H_DONE]
    sample(layout, memory, counters, t, state_row(layout, Y_STAGE))
    project(layout, t, layout[AT_STATE] + 8 * Y_STAGE * layout[N])
    found = distance(layout)
    return found if math.isfinite(found) else 0.0


def _look(layout: Ints, memory: Floats, counters: Ints, before: float, after: float) -> None:
    """The least distance within the step, by golden sections from where two straight lines would cross."""
    low, high, best = 0.0, 1.0, before / (before + after)
    least = _distance_at(layout, memory, counters, best)
    if least > 0.5 * min(before, after):
        return
    for _ in range(SECTIONS):
        left = best - low > high - best
        share = best + GOLDEN * ((low - best) if left else (high - best))
        there = _distance_at(layout, memory, counters, share)
        if there < least:
            if left:
                high = best
            else:
                low = best
            best, least = share, there
        elif left:
            low = share
        else:
            high = share
    least = _distance_at(layout, memory, counters, best)
    memory[NEAR_TIME], memory[NEAR_SHARE] = memory[T] + best * memory[H_DONE], least / memory[FARTHEST]
