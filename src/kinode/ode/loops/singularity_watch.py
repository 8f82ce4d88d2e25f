"""How near a run comes to singular positions, step by step.

The distance is measured by the square root of what is left of the constraints' inverse effective mass: it goes to zero
in proportion to the distance from a singular position. Steps may jump over such a position. No step can that is too
short for the way to zero and back, at the steepest that the distance was seen to change; in the others the least
distance is looked for on the dense output.
"""

# The names of memory_layout.py, in capitals, are the names of all that is stored: wanted here without a prefix.
# ruff: noqa: F403, F405

from __future__ import annotations

import math

from kinode.jit.pointers import Floats, Ints, floats
from kinode.ode.loops.dense_output import sample
from kinode.ode.loops.loop_primitives import *
from kinode.ode.loops.memory_layout import *

NEAR = 1e-3  # of the largest distance: a pass is told
STEEPER = 1.5  # times what was seen: it may change faster within a step
TURNING = 2.0  # of the largest distance, in a turn of a coordinate by 1 rad: as fast as a distance changes
PIECE = 0.4  # rad; longer ways are looked at in pieces
LOOKS = 8  # at most, in a piece
FOUND = 1e-2  # of what counts as near: no need to look on
FAR = 0.1  # of the largest distance: no need to look on, either


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
    memory[TREND], memory[SPAN] = 0.0, 0.0
    memory[FARTHEST] = max(memory[FARTHEST], memory[DISTANCE])
    counters[WATCHING] = 1


def watch(layout: Ints, memory: Floats, counters: Ints) -> bool:
    """Whether the step that was just accepted passes near a singular position.

    The time and the share of the largest distance are left in NEAR_TIME and NEAR_SHARE, the state in the row of the
    stage.
    """
    before, after = memory[DISTANCE], memory[DISTANCE_NEW]
    h, way = memory[H_DONE], _way(layout)
    slope = (after - before) / h
    memory[FARTHEST] = max(memory[FARTHEST], after)
    memory[DISTANCE] = after
    memory[NEAR_TIME], memory[NEAR_SHARE] = memory[T_NEW], after / memory[FARTHEST]
    reach = max(STEEPER * max(memory[STEEPEST], abs(slope)) * abs(h), TURNING * way * memory[FARTHEST])
    if before + after < reach:
        _look(layout, memory, counters, before, reach, int(way / PIECE) + 1)
    near = memory[NEAR_SHARE] < NEAR
    if near and memory[NEAR_TIME] != memory[T_NEW]:
        slope = (after + before) / h
    memory[STEEPEST] = max(memory[STEEPEST], abs(slope))
    # the slope at the end of the step, from the parabola through the last three distances
    bend = (slope - memory[SLOPE]) / (h + memory[SPAN]) if memory[SPAN] != 0.0 else 0.0
    memory[TREND] = slope + bend * h
    memory[SLOPE], memory[SPAN] = slope, h
    return near


def _way(layout: Ints) -> float:
    """How far a coordinate goes in the step at most, in radians; lengths count as they are."""
    y, new, farthest = state_row(layout, Y), state_row(layout, Y_NEW), 0.0
    for i in range(layout[U_AT]):
        farthest = max(farthest, abs(new[i] - y[i]))
    return farthest


def _distance_at(layout: Ints, memory: Floats, counters: Ints, share: float) -> float:
    """The distance at a share of the step; the state, on its constraints, is in the row of the stage."""
    t = memory[T] + share * memory[H_DONE]
    sample(layout, memory, counters, t, state_row(layout, Y_STAGE))
    for _ in range(2):  # the distance is that of the state before it is projected
        project(layout, t, layout[AT_STATE] + 8 * Y_STAGE * layout[N])
    found = distance(layout)
    return found if math.isfinite(found) else 0.0


def _look(layout: Ints, memory: Floats, counters: Ints, before: float, reach: float, pieces: int) -> None:
    """The least distance within the step: in each of its pieces that is too short for nothing to be there."""
    left, best = before, -1.0
    for k in range(pieces):
        right = memory[DISTANCE_NEW] if k == pieces - 1 else _distance_at(layout, memory, counters, (k + 1.0) / pieces)
        if left + right < reach / pieces:
            place = _narrow(layout, memory, counters, k / float(pieces), 1.0 / pieces, left, right)
            best = place if place >= 0.0 else best
        left = right
    if best >= 0.0:
        memory[NEAR_SHARE] = _distance_at(layout, memory, counters, best) / memory[FARTHEST]
        memory[NEAR_TIME] = memory[T] + best * memory[H_DONE]


def _narrow(
    layout: Ints, memory: Floats, counters: Ints, start: float, size: float, before: float, after: float
) -> float:
    """The share of the step with the least distance in a piece, or -1 if a lesser one is known.

    The square of the distance is smooth, so that parabolas find it in a few looks, beginning where two straight lines
    would meet.
    """
    low, high, f_low, f_high = start, start + size, before * before, after * after
    best = start + size * before / (before + after)
    least = _distance_at(layout, memory, counters, best) ** 2
    far = memory[FARTHEST] * memory[FARTHEST]
    for _ in range(LOOKS):
        left, right = (f_low - least) / (best - low), (f_high - least) / (high - best)  # chords, downwards to the best
        bend = (left + right) / (high - low)
        if least < FOUND * NEAR * FOUND * NEAR * far or not bend > 0.0:
            break
        share = 0.5 * (low + best) + 0.5 * left / bend
        if not low < share < high or abs(share - best) < 1e-9 or least - bend * (share - best) ** 2 > FAR * FAR * far:
            break
        there = _distance_at(layout, memory, counters, share) ** 2
        if there < least and share < best:
            high, f_high, best, least = best, least, share, there
        elif there < least:
            low, f_low, best, least = best, least, share, there
        elif share < best:
            low, f_low = share, there
        else:
            high, f_high = share, there
    if math.sqrt(least) >= memory[NEAR_SHARE] * memory[FARTHEST]:
        return -1.0
    memory[NEAR_SHARE] = math.sqrt(least) / memory[FARTHEST]
    return best
