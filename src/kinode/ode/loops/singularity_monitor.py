"""The singularity monitor: how near a run comes to singular positions, step by step.

The distance is measured by the square root of what is left of the constraints' inverse effective mass: it goes to zero
in proportion to the distance from a singular position. Steps may jump over such a position. No step can that is too
short for the way to zero and back, at the steepest that the distance was seen to change; in the others the least
distance is looked for on the dense output.
"""

from __future__ import annotations

import math

from kinode.ode.loops.dense_output import sample
from kinode.ode.loops.loop_primitives import project
from kinode.ode.loops.run_memory import RunMemory

NEAR = 1e-3  # of the largest distance: a pass is told
STEEPER = 1.5  # times what was seen: it may change faster within a step
TURNING = 2.0  # of the largest distance, in a turn of a coordinate by 1 rad: as fast as a distance changes
PIECE = 0.4  # rad; longer ways are looked at in pieces
LOOKS = 8  # at most, in a piece
ENOUGH = 1e-2  # of what counts as near: no need to look on
FAR = 0.1  # of the largest distance: no need to look on, either


def distance(run: RunMemory) -> float:
    """From a singular position, of the state that was projected last."""
    return 1.0 / math.sqrt(run.model.projected[run.model.n])


def crosses(run: RunMemory, h: float) -> bool:
    """Whether a step from here is expected to pass a singular position."""
    monitor = run.monitor
    return monitor.distance + monitor.trend * h < 0.3 * monitor.distance


def begin_watch(run: RunMemory) -> None:
    """The distance of the present state, if the model has constraints and it is not known."""
    y, stage, monitor = run.state.y, run.state.y_stage, run.monitor
    if run.model.projection == 0 or monitor.watching != 0:
        return
    for i in range(run.model.n):
        stage[i] = y[i]
    project(run, run.step.t, stage)
    monitor.distance = distance(run)
    monitor.trend, monitor.span = 0.0, 0.0
    monitor.farthest = max(monitor.farthest, monitor.distance)
    monitor.watching = 1


def watch(run: RunMemory) -> bool:
    """Whether the step that was just accepted passes near a singular position.

    When and how near is left in ``near_time`` and ``near_share``, the state in the row of the stage.
    """
    monitor = run.monitor
    before, after = monitor.distance, monitor.distance_new
    h, way = run.step.h_done, _way(run)
    slope = (after - before) / h
    monitor.farthest = max(monitor.farthest, after)
    monitor.distance = after
    monitor.near_time, monitor.near_share = run.step.t_new, after / monitor.farthest
    reach = max(STEEPER * max(monitor.steepest, abs(slope)) * abs(h), TURNING * way * monitor.farthest)
    if before + after < reach:
        _look(run, before, reach, int(way / PIECE) + 1)
    near = monitor.near_share < NEAR
    if near and monitor.near_time != run.step.t_new:
        slope = (after + before) / h
    monitor.steepest = max(monitor.steepest, abs(slope))
    # the slope at the end of the step, from the parabola through the last three distances
    bend = (slope - monitor.slope) / (h + monitor.span) if monitor.span != 0.0 else 0.0
    monitor.trend = slope + bend * h
    monitor.slope, monitor.span = slope, h
    return near


def _way(run: RunMemory) -> float:
    """How far a coordinate goes in the step at most, in radians; lengths count as they are."""
    y, new, farthest = run.state.y, run.state.y_new, 0.0
    for i in range(run.model.u_at):
        farthest = max(farthest, abs(new[i] - y[i]))
    return farthest


def _distance_at(run: RunMemory, share: float) -> float:
    """The distance at a share of the step; the state, on its constraints, is in the row of the stage."""
    t = run.step.t + share * run.step.h_done
    sample(run, t, run.state.y_stage)
    for _ in range(2):  # the distance is that of the state before it is projected
        project(run, t, run.state.y_stage)
    left = distance(run)
    return left if math.isfinite(left) else 0.0


def _look(run: RunMemory, before: float, reach: float, pieces: int) -> None:
    """The least distance within the step: in each of its pieces that is too short for nothing to be there."""
    monitor, left, best = run.monitor, before, -1.0
    for k in range(pieces):
        right = monitor.distance_new if k == pieces - 1 else _distance_at(run, (k + 1.0) / pieces)
        if left + right < reach / pieces:
            place = _narrow(run, k / float(pieces), 1.0 / pieces, left, right)
            best = place if place >= 0.0 else best
        left = right
    if best >= 0.0:
        monitor.near_share = _distance_at(run, best) / monitor.farthest
        monitor.near_time = run.step.t + best * run.step.h_done


def _narrow(run: RunMemory, start: float, size: float, before: float, after: float) -> float:
    """The share of the step with the least distance in a piece, or -1 if a lesser one is known.

    The square of the distance is smooth, so that parabolas find it in a few looks, beginning where two straight lines
    would meet.
    """
    monitor = run.monitor
    low, high, f_low, f_high = start, start + size, before * before, after * after
    best = start + size * before / (before + after)
    least = _distance_at(run, best) ** 2
    far = monitor.farthest * monitor.farthest
    for _ in range(LOOKS):
        left, right = (f_low - least) / (best - low), (f_high - least) / (high - best)  # chords, downwards to the best
        bend = (left + right) / (high - low)
        if least < ENOUGH * NEAR * ENOUGH * NEAR * far or not bend > 0.0:
            break
        share = 0.5 * (low + best) + 0.5 * left / bend
        if not low < share < high or abs(share - best) < 1e-9 or least - bend * (share - best) ** 2 > FAR * FAR * far:
            break
        there = _distance_at(run, share) ** 2
        if there < least and share < best:
            high, f_high, best, least = best, least, share, there
        elif there < least:
            low, f_low, best, least = best, least, share, there
        elif share < best:
            low, f_low = share, there
        else:
            high, f_high = share, there
    if math.sqrt(least) >= monitor.near_share * monitor.farthest:
        return -1.0
    monitor.near_share = math.sqrt(least) / monitor.farthest
    return best
