"""Roots as the integrator loops look at them: which count, which fire, which are armed.

A look at all roots takes as long as a rate or longer, since what holds a stuck joint follows from the accelerations.
While things slide, or move within their play, the state alone tells that nothing is near: that is a glance.
"""

# The names of records.py, in capitals, are the names of all that is stored: wanted here without a prefix.
# ruff: noqa: F403, F405

from __future__ import annotations

from kinode.codegen.memory import Ints, call, floats, ints
from kinode.solve.records import *

ZERO = 1e-9  # of a root, which is divided by a natural scale


def run_kernel(layout: Ints, kernel: int, t: float, y: int, x: int, out: int) -> None:
    """Call a kernel on the state at an address."""
    floats(layout[AT_TIME])[0] = t
    call(
        kernel,
        layout[AT_TIME],
        y,
        y + 8 * layout[U_AT],
        y + 8 * layout[Z_AT],
        layout[AT_P],
        layout[AT_INPUTS],
        x,
        layout[AT_WORK],
        out,
    )


def look(layout: Ints, t: float, y: int) -> None:
    """All roots and their rates at a state."""
    run_kernel(layout, layout[ROOTS], t, y, layout[AT_X], layout[AT_G])


def counts(layout: Ints, k: int, y: int) -> bool:
    """Whether the mode of a root has its value in the state at an address."""
    at = ints(layout[AT_MODES])[k]
    return at < 0 or floats(y)[at] == floats(layout[AT_VALUES])[k]


def fires(layout: Ints, k: int, y: int) -> bool:
    """Whether a root, as it was looked at last, fires."""
    g = floats(layout[AT_G])
    sure = ints(layout[AT_ARMED])[k] != 0 or g[layout[N_ROOTS] + k] < 0.0
    return g[k] < (0.0 if sure else -ZERO) and counts(layout, k, y)


def any_fires(layout: Ints, y: int) -> bool:
    found = False
    for k in range(layout[N_ROOTS]):
        found = found or fires(layout, k, y)
    return found


def arm(layout: Ints) -> None:
    """Arm what is clearly positive, as it was looked at last."""
    g, armed = floats(layout[AT_G]), ints(layout[AT_ARMED])
    for k in range(layout[N_ROOTS]):
        if g[k] > ZERO:
            armed[k] = 1


def first_firing(layout: Ints, y: int) -> int:
    """The first root that fires, as they were looked at last; 0 if none does."""
    for k in range(layout[N_ROOTS]):
        if fires(layout, k, y):
            return k
    return 0


def is_clear(layout: Ints, t: float, y: int) -> bool:
    """Whether the state alone tells of all roots that count that they are clearly positive.

    Only then are the roots, which may be armed, those of this state; their rates are not.
    """
    if layout[GLANCE] == 0:
        return False
    told, g = ints(layout[AT_TOLD]), floats(layout[AT_G])
    for k in range(layout[N_ROOTS]):
        if told[k] == 0 and counts(layout, k, y):
            return False
    run_kernel(layout, layout[GLANCE], t, y, layout[AT_X], layout[AT_G])
    clear = True
    for k in range(layout[N_ROOTS]):
        clear = clear and (g[k] > ZERO or not counts(layout, k, y))
    return clear
