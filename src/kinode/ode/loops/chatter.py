"""Events that follow each other without end: chatter, which a run stops for.

What bounces and what switches by a clock may do so a million times. Three things may not: many instants with events
within a nanosecond; events that move nothing (their modes change, the state does not), so many in so small a part of
the run that it would not end; and such events in a row, in one step each, none of which lets its root leave zero: what
a mode does drives the state back across its threshold, from both sides.
"""

# The names of memory_layout.py, in capitals, are the names of all that is stored: wanted here without a prefix.
# ruff: noqa: F403, F405

from __future__ import annotations

from kinode.jit.pointers import Floats, Ints, floats
from kinode.ode.loops.loop_primitives import state_row
from kinode.ode.loops.memory_layout import *

CROWDED, MOST_INSTANTS = 1e-9, 50  # seconds, and events in them
MOST_IDLE, SHORT = 1000, 1e-6  # events that move nothing, and the part of the run in which they are too many
STILL = 1e-8  # of a root, which is divided by a natural scale: it did not leave zero
MOVED, ROUNDED = 1e-9, 1e-6  # of an entry of the state, and of its size: what changed by less did not jump


def note_seen(memory: Floats, seen: float) -> None:
    """Remember how large a root was before it fired."""
    memory[SEEN_BEFORE] = memory[SEEN]
    memory[SEEN] = seen


def note_jump(layout: Ints, counters: Ints) -> None:
    """Begin to count anew where the state is about to change, beyond its modes."""
    y, changed = state_row(layout, Y), floats(layout[AT_CHANGED])
    for i in range(layout[CONTROLLED]):
        if abs(changed[i] - y[i]) > MOVED + ROUNDED * abs(y[i]):
            counters[IDLE], counters[VAIN] = 0, 0


def is_chatter(memory: Floats, counters: Ints) -> bool:
    """Whether the events up to this one, which has just happened, are chatter."""
    t = memory[T]
    if t - memory[CROWD_TIME] > CROWDED:
        memory[CROWD_TIME], counters[CROWD] = t, 0
    counters[CROWD] += 1
    if counters[IDLE] == 0:
        memory[IDLE_TIME] = t
    counters[IDLE] += 1
    endless = False
    if counters[IDLE] > MOST_IDLE:
        endless = t - memory[IDLE_TIME] < SHORT * (memory[T_END] - memory[T_START])
        counters[IDLE] = 0
    counters[VAIN] = counters[VAIN] + 1 if min(memory[SEEN], memory[SEEN_BEFORE]) < STILL else 0
    return endless or counters[CROWD] > MOST_INSTANTS or counters[VAIN] > MOST_IDLE
