"""Events that follow each other without end: chatter, which a run stops for.

What bounces and what switches by a clock may do so a million times. Three things may not: many instants with events
within a nanosecond; events that move nothing (their modes change, the state does not), so many in so small a part of
the run that it would not end; and such events in a row, in one step each, none of which lets its event function leave
zero: what a mode does drives the state back across its threshold, from both sides.
"""

from __future__ import annotations

from kinode.ode.loops.run_memory import RunMemory

CROWDED, MOST_INSTANTS = 1e-9, 50  # seconds, and events in them
MOST_IDLE, SHORT = 1000, 1e-6  # events that move nothing, and the part of the run in which they are too many
STILL = 1e-8  # of an event function, which is divided by a natural scale: it did not leave zero
MOVED, ROUNDED = 1e-9, 1e-6  # of an entry of the state, and of its size: what changed by less was not reset


def note_seen(run: RunMemory, seen: float) -> None:
    """Remember how large an event function was before it triggered."""
    run.chatter.seen_before = run.chatter.seen
    run.chatter.seen = seen


def note_reset(run: RunMemory) -> None:
    """Begin to count anew where the state is about to change, beyond its modes."""
    y, changed, chatter = run.state.y, run.events.changed, run.chatter
    for i in range(run.model.n_continuous):
        if abs(changed[i] - y[i]) > MOVED + ROUNDED * abs(y[i]):
            chatter.idle, chatter.vain = 0, 0


def is_chatter(run: RunMemory) -> bool:
    """Whether the events up to this one, which has just happened, are chatter."""
    t, chatter = run.step.t, run.chatter
    if t - chatter.crowd_time > CROWDED:
        chatter.crowd_time, chatter.crowd = t, 0
    chatter.crowd += 1
    if chatter.idle == 0:
        chatter.idle_time = t
    chatter.idle += 1
    endless = False
    if chatter.idle > MOST_IDLE:
        endless = t - chatter.idle_time < SHORT * (run.step.t_end - run.step.t_start)
        chatter.idle = 0
    chatter.vain = chatter.vain + 1 if min(chatter.seen, chatter.seen_before) < STILL else 0
    return endless or chatter.crowd > MOST_INSTANTS or chatter.vain > MOST_IDLE
