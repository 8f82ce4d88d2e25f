"""The singularity monitor: the distance of a run from singular positions, step by step.

The distance is the inverse square root of the inverse effective mass of the constraints: it goes to zero in proportion
to the distance from a singular position. A step may jump over such a position. A step that is too short to go to zero
and back, at the steepest change of the distance so far or expected, cannot. In the others the smallest distance is
found on the dense output.
"""

from __future__ import annotations

import math

from kinode.ode.loops.dense_output import sample
from kinode.ode.loops.loop_primitives import project
from kinode.ode.loops.run_memory import RunMemory

NEAR_SHARE = 1e-3  # share of the largest distance: below it a pass is reported
STEEPER_FACTOR = 1.5  # the distance may change faster within a step than it did so far, by this factor
CHANGE_PER_RADIAN = 2.0  # largest change of the distance per rad of a coordinate, as a share of the largest distance
PIECE_RADIANS = 0.4  # rad; steps that turn a coordinate farther are searched in pieces
MAX_PARABOLAS = 8  # evaluations in a piece, at most
NEAR_ENOUGH = 1e-2  # share of NEAR_SHARE: near enough to end the search
FAR_SHARE = 0.1  # share of the largest distance: far enough to end the search


def distance(run: RunMemory) -> float:
    """The distance from a singular position, of the state that was projected last."""
    return 1.0 / math.sqrt(run.model.projected[run.model.n])


def crosses(run: RunMemory, h: float) -> bool:
    """Whether a step from here is expected to pass a singular position."""
    monitor = run.monitor
    return monitor.distance + monitor.trend * h < 0.3 * monitor.distance


def begin_monitor(run: RunMemory) -> None:
    """Evaluate the distance of the present state, if the model has constraints and it is not known."""
    y, stage, monitor = run.state.y, run.state.y_stage, run.monitor
    if run.model.projection == 0 or monitor.known != 0:
        return
    for i in range(run.model.n):
        stage[i] = y[i]
    project(run, run.step.t, stage)
    monitor.distance = distance(run)
    monitor.trend, monitor.span = 0.0, 0.0
    monitor.farthest = max(monitor.farthest, monitor.distance)
    monitor.known = 1


def monitor_step(run: RunMemory) -> bool:
    """Whether the step that was just accepted passes near a singular position.

    The time and distance are in ``near_time`` and ``near_share``, the state in ``state.y_stage``.
    """
    monitor = run.monitor
    before, after = monitor.distance, monitor.distance_new
    h, turned = run.step.h_done, _largest_change(run)
    slope = (after - before) / h
    monitor.farthest = max(monitor.farthest, after)
    monitor.distance = after
    monitor.near_time, monitor.near_share = run.step.t_new, after / monitor.farthest
    steepest = max(monitor.steepest, abs(slope), abs(monitor.trend))
    reach = max(STEEPER_FACTOR * steepest * abs(h), CHANGE_PER_RADIAN * turned * monitor.farthest)
    if before + after < reach:
        _find_smallest(run, before, reach, int(turned / PIECE_RADIANS) + 1)
    near = monitor.near_share < NEAR_SHARE
    if near and monitor.near_time != run.step.t_new:
        slope = (after + before) / h
    monitor.steepest = max(monitor.steepest, abs(slope))
    # the slope at the end of the step, from the parabola through the last three distances
    bend = (slope - monitor.slope) / (h + monitor.span) if monitor.span != 0.0 else 0.0
    monitor.trend = slope + bend * h
    monitor.slope, monitor.span = slope, h
    return near


def _largest_change(run: RunMemory) -> float:
    """The largest change of a coordinate in the step, in rad or m."""
    y, new, farthest = run.state.y, run.state.y_new, 0.0
    for i in range(run.model.u_at):
        farthest = max(farthest, abs(new[i] - y[i]))
    return farthest


def _distance_at(run: RunMemory, fraction: float) -> float:
    """The distance at a fraction of the step; the projected state is in ``state.y_stage``."""
    t = run.step.t + fraction * run.step.h_done
    sample(run, t, run.state.y_stage)
    for _ in range(2):  # the kernel gives the distance of the state before the projection
        project(run, t, run.state.y_stage)
    value = distance(run)
    return value if math.isfinite(value) else 0.0


def _find_smallest(run: RunMemory, before: float, reach: float, pieces: int) -> None:
    """Find the smallest distance within the step, in each of its pieces in which it may reach zero."""
    monitor, left, best = run.monitor, before, -1.0
    for k in range(pieces):
        right = monitor.distance_new if k == pieces - 1 else _distance_at(run, (k + 1.0) / pieces)
        if left + right < reach / pieces:
            fraction = _find_smallest_in(run, k / float(pieces), 1.0 / pieces, left, right)
            best = fraction if fraction >= 0.0 else best
        left = right
    if best >= 0.0:
        monitor.near_share = _distance_at(run, best) / monitor.farthest
        monitor.near_time = run.step.t + best * run.step.h_done


def _find_smallest_in(run: RunMemory, start: float, size: float, before: float, after: float) -> float:
    """The fraction of the step with the smallest distance in a piece, or -1 if a smaller one is known.

    The square of the distance is smooth, so that a few parabolas find its minimum. The search begins where two straight
    lines to zero would meet.
    """
    monitor = run.monitor
    low, high, f_low, f_high = start, start + size, before * before, after * after
    best = start + size * before / (before + after)
    smallest = _distance_at(run, best) ** 2
    far = monitor.farthest * monitor.farthest
    for _ in range(MAX_PARABOLAS):
        left, right = (f_low - smallest) / (best - low), (f_high - smallest) / (high - best)  # slopes of the chords
        bend = (left + right) / (high - low)
        if smallest < NEAR_ENOUGH * NEAR_SHARE * NEAR_ENOUGH * NEAR_SHARE * far or not bend > 0.0:
            break
        fraction = 0.5 * (low + best) + 0.5 * left / bend
        if (
            not low < fraction < high
            or abs(fraction - best) < 1e-9
            or smallest - bend * (fraction - best) ** 2 > FAR_SHARE * FAR_SHARE * far
        ):
            break
        square = _distance_at(run, fraction) ** 2
        if square < smallest and fraction < best:
            high, f_high, best, smallest = best, smallest, fraction, square
        elif square < smallest:
            low, f_low, best, smallest = best, smallest, fraction, square
        elif fraction < best:
            low, f_low = fraction, square
        else:
            high, f_high = fraction, square
    if math.sqrt(smallest) >= monitor.near_share * monitor.farthest:
        return -1.0
    monitor.near_share = math.sqrt(smallest) / monitor.farthest
    return best
