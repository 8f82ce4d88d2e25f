"""Tells whether stability, and not accuracy, bounds the steps of an explicit method.

The last two stages of a step are at the same time. The difference of their slopes divided by that of their states is
about the size of the fastest eigenvalue (E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, IV.2). Where
it times the step is at the edge of the method's stability region, step after step, the problem is stiff there.
Differences are taken relative to the tolerance: states have different units. Steps that end at an event say nothing.
"""

from __future__ import annotations

import math

from kinode.ode.loops.dense_output import combine, table_row
from kinode.ode.loops.loop_primitives import slope
from kinode.ode.loops.run_codes import Pending
from kinode.ode.loops.run_memory import RunMemory

EVERY = 64  # steps between two looks, as long as nothing is suspected
SUSPECTED = 30  # steps at the edge of stability that make a problem stiff
CLEAR = 6  # steps in a row within it that end the suspicion
LEAST_CHANGE = 1e-3  # tolerances: below that the difference of two states may be rounding


def _find_stiffness(run: RunMemory) -> float:
    """The step times the size of the fastest eigenvalue that the last two stages show; 0 where they show none."""
    n, last, y, new = run.model.n_continuous, run.method.last, run.state.y, run.state.y_new
    stage, k, k_last = run.state.y_stage, slope(run, last - 1), slope(run, last)
    h, atol, rtol, of_slopes, of_states = run.step.h_done, run.method.atol, run.method.rtol, 0.0, 0.0
    combine(run, h, table_row(run, last - 1), last - 1, stage)
    for i in range(n):
        scale = 1.0 / (atol[i] + rtol * max(abs(y[i]), abs(new[i])))
        slopes, states = (k_last[i] - k[i]) * scale, (new[i] - stage[i]) * scale
        of_slopes += slopes * slopes
        of_states += states * states
    if of_states <= LEAST_CHANGE * LEAST_CHANGE * n:
        return 0.0
    return abs(h) * math.sqrt(of_slopes / of_states)


def watch_stiffness(run: RunMemory) -> None:
    """Look at an accepted step, now and then or while stiffness is suspected."""
    watch, step = run.stiffness, run.step
    if watch.limit == 0.0 or run.counts.pending != Pending.STEPPED:
        return
    if watch.suspected == 0 and run.counts.steps % EVERY != 0:
        return
    if _find_stiffness(run) > watch.limit:
        if watch.suspected == 0:
            watch.since = step.t
        watch.clear = 0
        watch.suspected += 1
        if watch.suspected >= SUSPECTED:
            watch.bound_steps += SUSPECTED if watch.suspected == SUSPECTED else 1
            if watch.bound_steps == SUSPECTED:
                watch.first = watch.since
            worth = watch.worth != 0 and abs(step.t_end - step.t_new) > watch.worth * abs(step.h_done)
            watch.wanted = int(worth)
    elif watch.suspected > 0:
        watch.clear += 1
        if watch.clear == CLEAR:
            watch.suspected, watch.clear = 0, 0
