"""Roots as the integrator loops look at them: which count, which fire, which are armed.

A look at all roots takes as long as a rate or longer, since what holds a stuck joint follows from the accelerations.
While things slide, or move within their play, the state alone tells that nothing is near: that is a glance.
"""

# The names of memory_layout.py, in capitals, are the names of all that is stored: wanted here without a prefix.
# ruff: noqa: F403, F405

from __future__ import annotations

import math

from kinode.jit.pointers import Ints, floats, ints
from kinode.ode.loops.loop_primitives import run_kernel, seen
from kinode.ode.loops.memory_layout import *

ZERO = 1e-9  # of a root, which is divided by a natural scale
NEAR = 0.5  # of the least value seen: a parabola that goes lower is looked at more closely
BENT = 0.25  # of the largest value seen: steps do not grow where a root is bent by more, and shrink by twice that
SMALL = 1e-2  # of a root's natural scale: what it does below that is not taken for a bend


def look(layout: Ints, t: float, y: int) -> None:
    """All roots and their rates at a state."""
    run_kernel(layout, layout[ROOTS], seen(layout, t), y, layout[AT_X], layout[AT_G])


def counts(layout: Ints, k: int, y: int) -> bool:
    """Whether the mode of a root has its value in the state at an address."""
    at = ints(layout[AT_MODES])[k]
    return at < 0 or floats(y)[at] == floats(layout[AT_VALUES])[k]


def fires(layout: Ints, k: int, y: int) -> bool:
    """Whether a root, as it was looked at last, fires."""
    return _is_over(layout, k) and counts(layout, k, y)


def _is_over(layout: Ints, k: int) -> bool:
    g = floats(layout[AT_G])
    sure = ints(layout[AT_ARMED])[k] != 0 or g[layout[N_ROOTS] + k] < 0.0
    return g[k] < (0.0 if sure else -ZERO)


def any_fires(layout: Ints, counters: Ints) -> bool:
    """Whether any root fires, of those that were found to count."""
    g, listed, found = floats(layout[AT_G]), ints(layout[AT_COUNTING]), False
    for i in range(counters[COUNTING]):
        found = found or (g[listed[i]] < 0.0 and _is_over(layout, listed[i]))
    return found


def arm(layout: Ints, counters: Ints) -> None:
    """Arm what counts and is clearly positive, as it was looked at last."""
    g, armed, listed = floats(layout[AT_G]), ints(layout[AT_ARMED]), ints(layout[AT_COUNTING])
    for i in range(counters[COUNTING]):
        k = listed[i]
        if g[k] > ZERO:
            armed[k] = 1


def keep(layout: Ints, place: int) -> None:
    """Remember the roots as they were looked at last."""
    g, kept = floats(layout[AT_G]), floats(layout[place])
    for k in range(layout[N_ROOTS]):
        kept[k] = g[k]


def recall(layout: Ints) -> None:
    """Go back to the roots at the start of the step."""
    g, kept = floats(layout[AT_G]), floats(layout[AT_G_BEFORE])
    for k in range(layout[N_ROOTS]):
        g[k] = kept[k]


def may_dip(layout: Ints, counters: Ints) -> bool:
    """Whether a root that counts may have been negative between its start, middle and end, where it is positive.

    A parabola through the three tells: it has its least value in between, and that is far below what was seen.
    """
    before, half, g = floats(layout[AT_G_BEFORE]), floats(layout[AT_G_HALF]), floats(layout[AT_G])
    listed, found = ints(layout[AT_COUNTING]), False
    for i in range(counters[COUNTING]):
        k = listed[i]
        slope = 4.0 * half[k] - 3.0 * before[k] - g[k]
        if slope < 0.0:
            bend = 2.0 * (before[k] - 2.0 * half[k] + g[k])
            if -slope < 2.0 * bend:
                lowest = before[k] - 0.25 * slope * slope / bend
                found = found or lowest < NEAR * min(before[k], half[k], g[k])
    return found


def find_growth(layout: Ints, counters: Ints) -> float:
    """How much longer the next step may be, for the roots that count and that the state does not tell.

    While everything is held still the state does not change, and its error allows steps of any length: what pulls then
    is seen by these roots alone, and those that are bent by much of themselves within a step are seen too seldom.
    """
    before, half, g = floats(layout[AT_G_BEFORE]), floats(layout[AT_G_HALF]), floats(layout[AT_G])
    told, listed, found = ints(layout[AT_TOLD]), ints(layout[AT_COUNTING]), math.inf
    for i in range(counters[COUNTING]):
        k = listed[i]
        if told[k] == 0:
            bend, size = abs(before[k] - 2.0 * half[k] + g[k]), max(abs(before[k]), abs(half[k]), abs(g[k]), SMALL)
            suited = 1.0 if bend > BENT * size else 2.0
            found = min(found, 0.5 if bend > 2.0 * BENT * size else suited)
    return found


def first_firing(layout: Ints, y: int) -> int:
    """The first root that fires, as they were looked at last; 0 if none does."""
    for k in range(layout[N_ROOTS]):
        if fires(layout, k, y):
            return k
    return 0


def find_counting(layout: Ints, counters: Ints, y: int) -> None:
    """List the roots that count in the state at an address: that stays as it is until an event or a tick."""
    listed, told, found, untold = ints(layout[AT_COUNTING]), ints(layout[AT_TOLD]), 0, 0
    for k in range(layout[N_ROOTS]):
        if counts(layout, k, y):
            listed[found] = k
            found += 1
            untold += int(layout[GLANCE] == 0 or told[k] == 0)
    counters[COUNTING] = found
    counters[UNTOLD] = untold


def is_clear(layout: Ints, counters: Ints, t: float, y: int) -> bool:
    """Whether the state alone tells that all roots that count are clearly positive; they are armed then."""
    if counters[UNTOLD] != 0:
        return False
    g, armed, listed = floats(layout[AT_G]), ints(layout[AT_ARMED]), ints(layout[AT_COUNTING])
    if counters[COUNTING] != 0:
        run_kernel(layout, layout[GLANCE], seen(layout, t), y, layout[AT_X], layout[AT_G])
    for i in range(counters[COUNTING]):
        if not g[listed[i]] > ZERO:
            return False
    for i in range(counters[COUNTING]):
        armed[listed[i]] = 1
    return True
