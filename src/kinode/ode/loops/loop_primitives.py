"""What the compiled integrator loops have in common: calling a kernel by its address, rows of the state, quaternions.

Nothing in the loops knows a model: a kernel is an address with the signature of jit/ (nine pointers to double).
All memory is the caller's, found through the addresses in ``layout`` (memory_layout.py). What a run must remember is in
``memory`` and ``counters``, so that a loop may return to Python at any step and go on later with the same bits as if
it had not stopped.

Raw pointers instead of arrays: there is nothing to convert, and all is where ``layout`` says. jit/translator.py says
what may be written in a loop; Python runs the same functions as they stand. This module and those of the loops are
imported only to compile.
"""

# The names of memory_layout.py, in capitals, are the names of all that is stored: wanted here without a prefix.
# ruff: noqa: F403, F405

from __future__ import annotations

import math

from kinode.jit.pointers import Floats, Ints, call, floats, ints
from kinode.ode.loops.memory_layout import *

_HIGHEST, _LOWER, _LOWEST = 0x4000000000000000, 0x3FF0000000000000, 0x0010000000000000  # bits of an exponent
LONG = 1e-7  # rad or m, of a step towards the constraints: its square is beyond what matters


def run_kernel(layout: Ints, kernel: int, t: float, y: int, x: int, out: int) -> None:
    """Call a kernel at a time, on the state at an address."""
    time = floats(layout[AT_TIME])
    for i in range(layout[LANES]):
        time[i] = t
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


def rate(layout: Ints, t: float, row: int, out: int) -> None:
    """Rows are those of the state: row ``out`` = f(t, row ``row``)."""
    y, size = layout[AT_STATE], 8 * layout[N]
    run_kernel(layout, layout[KERNEL], seen(layout, t), y + row * size, layout[AT_X], y + out * size)


def seen(layout: Ints, t: float) -> float:
    """The time at which laws are looked at for another: what jumps is seen, at its breaks too, as between them."""
    memory = floats(layout[AT_MEMORY])
    return min(max(t, memory[EARLIEST]), memory[LATEST])


def begin_piece(layout: Ints, memory: Floats, counters: Ints) -> None:
    """Go on with laws of time as they are from now until their next break."""
    if layout[BREAKS] == 0:
        return
    breaks, k = floats(layout[AT_BREAKS]), counters[NEXT_BREAK]
    while k < layout[BREAKS] and breaks[k] <= memory[T]:
        memory[EARLIEST] = breaks[k] + memory[MARGIN]
        k += 1
    counters[NEXT_BREAK] = k
    memory[BREAK_TIME] = breaks[k] if k < layout[BREAKS] else math.inf
    memory[LATEST] = memory[BREAK_TIME] - memory[MARGIN]


def state_row(layout: Ints, row: int) -> Floats:
    """A row of the state."""
    return floats(layout[AT_STATE] + 8 * row * layout[N])


def not_finite(layout: Ints, row: int) -> int:
    """Nonzero if a number in the row is not finite, that is, has all bits of its exponent set.

    Integers need not be looked at in order; a sum of floats must be formed so, which takes longer.
    """
    return _any_not_finite(ints(layout[AT_STATE] + 8 * row * layout[N]), 0, layout[CONTROLLED])


def _any_not_finite(bits: Ints, first: int, stop: int) -> int:
    seen = 0
    for i in range(first, stop):
        seen |= ((bits[i] & _LOWER) + _LOWEST) & bits[i]  # the lower bits carry into the highest if all are set
    return seen & _HIGHEST


def copy_held(layout: Ints, out: Floats) -> None:
    """Give a state the entries of the present one that steps do not change."""
    y = state_row(layout, Y)
    for i in range(layout[CONTROLLED], layout[N]):
        out[i] = y[i]


def first_not_finite(values: Floats, n: int) -> int:
    for i in range(n):
        if not math.isfinite(values[i]):
            return i
    return -1


def length(y: Floats, start: int, lanes: int) -> float:
    """Length of the quaternion whose parts are at start, start + lanes, ..."""
    square = 0.0
    for i in range(4):
        square += y[start + i * lanes] * y[start + i * lanes]
    return math.sqrt(square)


def project(layout: Ints, t: float, address: int) -> None:
    """Bring the state at an address onto its constraints, if there are any, and its quaternions to unit length.

    What one step of Newton's method leaves open goes with the square of its length, so that long ones need another.
    """
    if layout[PROJECTION] != 0 and _newton(layout, t, address) > LONG:
        _newton(layout, t, address)
    normalize(layout, floats(address))


def _newton(layout: Ints, t: float, address: int) -> float:
    """One step towards the constraints; how far it moves a coordinate at most."""
    y, farthest = floats(address), 0.0
    run_kernel(layout, layout[PROJECTION], seen(layout, t), address, layout[AT_X], layout[AT_PROJECTED])
    found = floats(layout[AT_PROJECTED])
    for i in range(layout[U_AT]):
        farthest = max(farthest, abs(found[i] - y[i]))
    for i in range(layout[N]):
        y[i] = found[i]
    return farthest


def normalize(layout: Ints, y: Floats) -> None:
    """Bring the quaternions back to unit length."""
    quaternions, lanes = ints(layout[AT_QUATERNIONS]), layout[LANES]
    for b in range(layout[QUATERNIONS]):
        for start in range(quaternions[b] * lanes, (quaternions[b] + 1) * lanes):
            scale = 1.0 / length(y, start, lanes)
            for i in range(4):
                y[start + i * lanes] *= scale


def start(layout: Ints, memory: Floats, counters: Ints) -> bool:
    """The slope at the start, and what steps leave as it is; False if it is not finite, or that is no number."""
    y = state_row(layout, Y)
    copy_held(layout, state_row(layout, Y_NEW))
    copy_held(layout, state_row(layout, Y_STAGE))
    if layout[N_ROOTS] != 0:
        copy_held(layout, floats(layout[AT_BETWEEN]))
    rate(layout, memory[T], Y, SLOPES)
    counters[EVALUATIONS] += 1
    counters[FAILED] = -1
    if not_finite(layout, SLOPES) != 0:
        counters[FAILED] = first_not_finite(state_row(layout, SLOPES), layout[CONTROLLED])
    elif _any_not_finite(ints(layout[AT_STATE]), layout[CONTROLLED], layout[N]) != 0:
        for i in range(layout[CONTROLLED], layout[N]):
            counters[FAILED] = i if y[i] != y[i] else counters[FAILED]
    memory[FAILED_TIME] = memory[T]
    counters[STARTED] = 1
    return counters[FAILED] < 0
