"""Detects chatter: events that follow each other without end. A run with chatter stops.

Bouncing, or switching by a clock, may cause millions of events. Three patterns are chatter. The first is many instants
with events within a nanosecond. The second is idle events, which change modes but not the rest of the state, in such
numbers within so short a share of the run that it would not end. The third is idle events in a row, one in each step,
whose event function never leaves zero: each mode drives the state back across its threshold, from both sides.
"""

from __future__ import annotations

from kinode.ode.loops.run_codes import MAX_IDLE, MAX_INSTANTS
from kinode.ode.loops.run_memory import RunMemory

CLUSTER_SECONDS = 1e-9  # s, within which there may be MAX_INSTANTS with events
IDLE_SHARE = 1e-6  # of the run, in which more than MAX_IDLE idle events are chatter
STALLED_LEVEL = 1e-8  # an event function (divided by its natural scale) below it did not leave zero
RESET_ABSOLUTE, RESET_RELATIVE = 1e-9, 1e-6  # absolute and relative change of a state: a smaller change is no reset


def note_peak(run: RunMemory, peak: float) -> None:
    """Remember the largest value that an event function had before it triggered."""
    run.chatter.previous_peak = run.chatter.peak
    run.chatter.peak = peak


def note_reset(run: RunMemory) -> None:
    """Restart the counts if an event resets more than modes; called before the state changes."""
    y, changed, chatter = run.state.y, run.events.changed, run.chatter
    for i in range(run.columns.n_measured):
        if abs(changed[i] - y[i]) > RESET_ABSOLUTE + RESET_RELATIVE * abs(y[i]):
            chatter.idle, chatter.stalled = 0, 0


def is_chatter(run: RunMemory) -> bool:
    """Count the event that has just happened; True if the recent events are chatter."""
    t, chatter = run.step.t, run.chatter
    if t - chatter.cluster_time > CLUSTER_SECONDS:
        chatter.cluster_time, chatter.cluster = t, 0
    chatter.cluster += 1
    if chatter.idle == 0:
        chatter.idle_time = t
    chatter.idle += 1
    endless = False
    if chatter.idle > MAX_IDLE:
        endless = t - chatter.idle_time < IDLE_SHARE * (run.step.t_end - run.step.t_start)
        chatter.idle = 0
    chatter.stalled = chatter.stalled + 1 if min(chatter.peak, chatter.previous_peak) < STALLED_LEVEL else 0
    return endless or chatter.cluster > MAX_INSTANTS or chatter.stalled > MAX_IDLE
