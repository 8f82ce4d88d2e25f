"""What the compiled integrator loops have in common: calling a kernel by its address, rows of the state, quaternions.

Nothing in the loops knows a model: a kernel is an address with the signature of codegen/ (nine pointers to double).
All memory is the caller's, found through the addresses in ``layout`` (records.py). What a run must remember is in
``memory`` and ``counters``, so that a loop may return to Python at any step and go on later with the same bits as if
it had not stopped.

Raw pointers instead of arrays: it compiles in half the time, and the code needs nothing of numba when it runs, so
that native.py can keep it on disk and use it without importing numba. No fast-math, since finiteness is tested. This
module and those of the loops import numba and are imported only to compile.
"""

# Functions that numba compiles carry no types of their own.
# mypy: allow-untyped-defs, allow-untyped-calls
# The names of records.py, in capitals, are the names of all that is stored: wanted here without a prefix.
# ruff: noqa: F403, F405

from __future__ import annotations

from math import sqrt
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from kinode.solve.records import *

_EXPONENT = np.int64(0x7FF0000000000000)
FLOATS = types.CPointer(types.float64)
INTS = types.CPointer(types.int64)
njit: Any = numba.njit(error_model="numpy", nogil=True)


def _define_call(typing_context, address, t, q, u, z, p, inputs, x, work, out):
    """Call the machine code at ``address``; every argument is an integer, the pointers too."""

    def generate(context, builder, signature, arguments):
        pointer = ir.DoubleType().as_pointer()
        function = ir.FunctionType(ir.VoidType(), [pointer] * 9)
        callee = builder.inttoptr(arguments[0], function.as_pointer())
        builder.call(callee, [builder.inttoptr(argument, pointer) for argument in arguments[1:]])
        return context.get_dummy_value()

    return types.void(*([types.int64] * 10)), generate


def _define_floats(typing_context, address):
    """The numbers at an address."""

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], ir.DoubleType().as_pointer())

    return FLOATS(types.int64), generate


def _define_ints(typing_context, address):
    """The integers at an address."""

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())

    return INTS(types.int64), generate


call: Any = intrinsic(_define_call)
floats: Any = intrinsic(_define_floats)
ints: Any = intrinsic(_define_ints)


@njit
def rate(layout, t, row, out):
    """Rows are those of the state: row ``out`` = f(t, row ``row``)."""
    time = floats(layout[AT_TIME])
    for i in range(layout[LANES]):
        time[i] = t
    y = layout[AT_STATE] + 8 * row * layout[N]
    call(
        layout[KERNEL],
        layout[AT_TIME],
        y,
        y + 8 * layout[U_AT],
        y + 8 * layout[Z_AT],
        layout[AT_P],
        layout[AT_INPUTS],
        layout[AT_X],
        layout[AT_WORK],
        layout[AT_STATE] + 8 * out * layout[N],
    )


@njit
def state_row(layout, row):
    return floats(layout[AT_STATE] + 8 * row * layout[N])


@njit
def not_finite(layout, row):
    """Nonzero if a number in the row is not finite, that is, has all bits of its exponent set.

    Integers are compared several at a time; a sum of floats must be formed in order, which takes longer.
    """
    bits = ints(layout[AT_STATE] + 8 * row * layout[N])
    bad = np.int64(0)
    for i in range(layout[N]):
        bad |= np.int64((bits[i] & _EXPONENT) == _EXPONENT)
    return bad


@njit
def first_not_finite(values, n):
    for i in range(n):
        if not np.isfinite(values[i]):
            return i
    return np.int64(-1)


@njit
def length(y, start, lanes):
    """Length of the quaternion whose parts are at start, start + lanes, ..."""
    square = 0.0
    for i in range(4):
        square += y[start + i * lanes] * y[start + i * lanes]
    return sqrt(square)


@njit
def project(layout, t, address):
    """Bring the state at an address onto its constraints, if there are any, and its quaternions to unit length."""
    y = floats(address)
    if layout[PROJECTION] != 0:
        time = floats(layout[AT_TIME])
        for i in range(layout[LANES]):
            time[i] = t
        call(
            layout[PROJECTION],
            layout[AT_TIME],
            address,
            address + 8 * layout[U_AT],
            address + 8 * layout[Z_AT],
            layout[AT_P],
            layout[AT_INPUTS],
            layout[AT_X],
            layout[AT_WORK],
            layout[AT_PROJECTED],
        )
        found = floats(layout[AT_PROJECTED])
        for i in range(layout[N]):
            y[i] = found[i]
    normalize(layout, y)


@njit
def normalize(layout, y):
    """Bring the quaternions back to unit length."""
    quaternions, lanes = ints(layout[AT_QUATERNIONS]), layout[LANES]
    for b in range(layout[QUATERNIONS]):
        for start in range(quaternions[b] * lanes, (quaternions[b] + 1) * lanes):
            scale = 1.0 / length(y, start, lanes)
            for i in range(4):
                y[start + i * lanes] *= scale


@njit
def start(layout, memory, counters):
    """The slope at the start; False if it is not finite."""
    rate(layout, memory[T], Y, SLOPES)
    counters[EVALUATIONS] += 1
    counters[FAILED] = first_not_finite(state_row(layout, SLOPES), layout[N])
    memory[FAILED_TIME] = memory[T]
    counters[STARTED] = 1
    return counters[FAILED] < 0
