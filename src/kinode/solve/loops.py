"""The integrator loops, compiled once by numba and kept in its cache; they call a model's kernel by its address.

Nothing here knows a model: a kernel is an address with the signature of compile/ (nine pointers to double). All
memory is the caller's, and everything that a run must remember between two calls is in the arrays ``memory`` and
``counters``, so that a loop may return to Python at any step and go on later with the same bits as if it had not
stopped.

How a later part joins in: a projection onto constraints replaces `_normalize` where a step is finished and where a
sample is taken; events are looked for in `advance` between the attempt of a step and its output, where both ends of
the step and the dense output are at hand. Both would be one more address, 0 meaning none.

Written as loops, since slice assignments compile three times as long; without fast-math, since finiteness is tested;
all helpers are in this file, since numba's cache notices only changes to the file of the function that is called from
Python. Not done here: choosing arguments, memory for the output, threads (see integrators.py and batch.py).
"""

# Functions that numba compiles carry no types of their own.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

# What a loop returns.
DONE, CHUNK, FULL, NOT_FINITE, TOO_SMALL, TOO_MANY = range(6)

# layout: sizes, addresses and numbers that stay the same during a run (int64)
KERNEL, AT_TIME, AT_P, AT_INPUTS, AT_X, AT_WORK, AT_STATE, ROW_BYTES, U_BYTES, Z_BYTES = range(10)
LANES, LAST, STAGES, ORDER, SAMPLED, MAX_STEPS, LAYOUT_SIZE = range(10, 17)
# memory: what a run remembers (float64), followed by room for one weight of each stage
T, H, T_END, PREVIOUS_ERROR, RTOL, MAX_STEP, DAMPING, T_NEW, H_DONE, FAILED_TIME, T_START, MEMORY_SIZE = range(12)
# counters (int64)
STARTED, PENDING, EXTRA, STEPS, REJECTED, EVALUATIONS, WRITTEN, NEXT_TIME, FAILED, AFTER_REJECT, COUNTERS_SIZE = range(
    11
)
# rows of the state before the slopes
Y, Y_NEW, Y_STAGE, SLOPES = range(4)
# rows of the state of the fixed-step loop
K1, K2, K3, K4, K_NEXT = 3, 4, 5, 6, 7
FIXED_ROWS = 8

_EXPONENT = np.int64(0x7FF0000000000000)
_EPSILON = 2.0**-52


def _kernel_call(typing_context, address, t, q, u, z, p, inputs, x, work, out):
    """Call the machine code at ``address``; every argument is an integer, the pointers too."""

    def generate(context, builder, signature, arguments):
        from llvmlite import ir

        pointer = ir.DoubleType().as_pointer()
        function = ir.FunctionType(ir.VoidType(), [pointer] * 9)
        callee = builder.inttoptr(arguments[0], function.as_pointer())
        builder.call(callee, [builder.inttoptr(argument, pointer) for argument in arguments[1:]])
        return context.get_dummy_value()

    return types.void(*([types.int64] * 10)), generate


_call: Any = intrinsic(_kernel_call)
_njit: Any = numba.njit(error_model="numpy", nogil=True)


@_njit
def _rate(layout, time, t, row, out):
    """The rows are of the state: state[out] = f(t, state[row])."""
    for i in range(layout[LANES]):
        time[i] = t
    y = layout[AT_STATE] + row * layout[ROW_BYTES]
    _call(
        layout[KERNEL],
        layout[AT_TIME],
        y,
        y + layout[U_BYTES],
        y + layout[Z_BYTES],
        layout[AT_P],
        layout[AT_INPUTS],
        layout[AT_X],
        layout[AT_WORK],
        layout[AT_STATE] + out * layout[ROW_BYTES],
    )


@_njit
def _first_not_finite(values):
    for i in range(values.shape[0]):
        if not np.isfinite(values[i]):
            return i
    return -1


@_njit
def _normalize(y, quaternions, lanes):
    """Bring the quaternions that begin at the given entries back to unit length."""
    for b in range(quaternions.shape[0]):
        for lane in range(lanes):
            start = quaternions[b] * lanes + lane
            square = 0.0
            for i in range(4):
                square += y[start + i * lanes] * y[start + i * lanes]
            scale = 1.0 / np.sqrt(square)
            for i in range(4):
                y[start + i * lanes] *= scale


@_njit
def _combine(state, h, weights, count, out):
    """out = y + h * sum_j weights[j] slope_j."""
    n = state.shape[1]
    for i in range(n):
        out[i] = state[Y, i]
    for j in range(count):
        w = h * weights[j]
        if w != 0.0:
            for i in range(n):
                out[i] += w * state[SLOPES + j, i]


@_njit
def _error(h, layout, table, state, rtol, atol):
    """Size of the error estimate relative to the tolerance (root mean square); not a number where a slope is none."""
    n, row = state.shape[1], layout[STAGES] + 1
    first, second = 0.0, 0.0
    for i in range(n):
        scale = 1.0 / (atol[i] + rtol * max(abs(state[Y, i]), abs(state[Y_NEW, i])))
        a, b = 0.0, 0.0
        for j in range(layout[LAST] + 1):
            k = state[SLOPES + j, i]
            a += table[row, j] * k
            b += table[row + 1, j] * k
        first += (a * scale) * (a * scale)
        second += (b * scale) * (b * scale)
    if second == 0.0:
        return abs(h) * np.sqrt(first / n)
    return abs(h) * first / np.sqrt((first + 0.01 * second) * n)


@_njit
def _first_step(layout, memory, counters, state, time, atol):
    """A first step that suits the tolerance (Hairer, Norsett, Wanner I, II.4), with sign."""
    n = state.shape[1]
    t, rtol = memory[T], memory[RTOL]
    sign = 1.0 if memory[T_END] >= t else -1.0
    longest = min(memory[MAX_STEP], abs(memory[T_END] - t))
    d0, d1, d2 = 0.0, 0.0, 0.0
    for i in range(n):
        scale = 1.0 / (atol[i] + rtol * abs(state[Y, i]))
        d0 += (state[Y, i] * scale) * (state[Y, i] * scale)
        d1 += (state[SLOPES, i] * scale) * (state[SLOPES, i] * scale)
    d0, d1 = np.sqrt(d0 / n), np.sqrt(d1 / n)
    h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h = min(h, longest)
    for i in range(n):
        state[Y_STAGE, i] = state[Y, i] + sign * h * state[SLOPES, i]
    _rate(layout, time, t + sign * h, Y_STAGE, SLOPES + 1)
    counters[EVALUATIONS] += 1
    for i in range(n):
        change = (state[SLOPES + 1, i] - state[SLOPES, i]) / (atol[i] + rtol * abs(state[Y, i]))
        d2 += change * change
    steepest = max(d1, np.sqrt(d2 / n) / h)
    if not np.isfinite(steepest):
        return sign * h * 1e-3
    if steepest <= 1e-15:
        return sign * min(max(1e-6, h * 1e-3), longest)
    return sign * min(min(100.0 * h, (0.01 / steepest) ** (1.0 / layout[ORDER])), longest)


@_njit
def _attempt(layout, memory, counters, table, state, time, h):
    """All stages of one step of length h. False, with the component, at the first slope that is not finite."""
    n, last = state.shape[1], layout[LAST]
    for s in range(1, last + 1):
        row = Y_NEW if s == last else Y_STAGE
        t = memory[T] + table[layout[STAGES], s] * h
        _combine(state, h, table[s], s, state[row])
        _rate(layout, time, t, row, SLOPES + s)
        counters[EVALUATIONS] += 1
        total = 0.0
        for i in range(n):
            total += state[SLOPES + s, i]
        if not np.isfinite(total):
            # The sum of finite slopes may overflow: then there is nothing wrong yet.
            failed = _first_not_finite(state[SLOPES + s])
            if failed >= 0:
                counters[FAILED] = failed
                memory[FAILED_TIME] = t
                return False
    return True


@_njit
def _accept(layout, memory, counters, error, h, final):
    """Book the step and choose the next one: PI control (Gustafsson; Hairer, Wanner II, IV.2)."""
    damping = memory[DAMPING]
    factor = 0.9 * max(error, 1e-10) ** (0.75 * damping - 1.0 / layout[ORDER]) * memory[PREVIOUS_ERROR] ** damping
    factor = min(10.0, max(0.2, factor))
    if counters[AFTER_REJECT] == 1:
        factor = min(factor, 1.0)
    # A last step that was cut short says little about the step to go on with.
    memory[H] = h * factor if not final or abs(h * factor) > abs(memory[H]) else memory[H]
    memory[PREVIOUS_ERROR] = max(error, 1e-4)
    memory[T_NEW] = memory[T_END] if final else memory[T] + h
    memory[H_DONE] = h
    counters[AFTER_REJECT] = 0
    counters[FAILED] = -1
    counters[STEPS] += 1


@_njit
def _step(layout, memory, counters, table, state, time, atol):
    """Try steps until one is accepted (Y_NEW, T_NEW and the slopes are then set), or say why none can be."""
    t, end = memory[T], memory[T_END]
    sign = 1.0 if end >= t else -1.0
    while True:
        h = sign * min(abs(memory[H]), memory[MAX_STEP])
        left = abs(end - t)
        final = left <= 1.01 * abs(h) and left <= 1.000001 * memory[MAX_STEP]
        if final:
            h = end - t
        elif abs(h) <= 16.0 * _EPSILON * abs(t) or abs(h) < 1e-300:
            return NOT_FINITE if counters[FAILED] >= 0 else TOO_SMALL
        if counters[STEPS] + counters[REJECTED] >= layout[MAX_STEPS]:
            return TOO_MANY
        finite = _attempt(layout, memory, counters, table, state, time, h)
        error = _error(h, layout, table, state, memory[RTOL], atol) if finite else np.nan
        if error <= 1.0:
            _accept(layout, memory, counters, error, h, final)
            return DONE
        counters[REJECTED] += 1
        counters[AFTER_REJECT] = 1
        if np.isfinite(error):
            counters[FAILED] = -1
            memory[H] = h * max(0.2, 0.9 * error ** (-1.0 / layout[ORDER]))
        else:
            memory[H] = h * 0.2
            if finite:
                counters[FAILED] = max(0, _first_not_finite(state[Y_NEW]))
                memory[FAILED_TIME] = t + h


@_njit
def _sample(layout, memory, counters, table, state, time, t, out):
    """The dense output of the step that was just accepted, at time t."""
    h, stages = memory[H_DONE], layout[STAGES]
    if counters[EXTRA] == 0:
        for s in range(layout[LAST] + 1, stages):
            _combine(state, h, table[s], s, state[Y_STAGE])
            _rate(layout, time, memory[T] + table[stages, s] * h, Y_STAGE, SLOPES + s)
            counters[EVALUATIONS] += 1
        counters[EXTRA] = 1
    theta = (t - memory[T]) / h
    top = table.shape[0] - 1
    weights = memory[MEMORY_SIZE:]
    for j in range(stages):
        w = table[top, j]
        for k in range(top - 1 - (stages + 3), -1, -1):
            w = table[stages + 3 + k, j] + w * ((1.0 - theta) if k % 2 == 0 else theta)
        weights[j] = theta * w
    _combine(state, h, weights, stages, out)


@_njit
def _write(layout, memory, counters, table, state, time, quaternions, times, out_t, out_y):
    """Store what the accepted step holds for the output; False when the room is used up (to be called again)."""
    sampled = layout[SAMPLED] != 0
    while True:
        t = memory[T_NEW]
        if sampled:
            if counters[NEXT_TIME] >= times.shape[0]:
                return True
            t = times[counters[NEXT_TIME]]
            if (t - memory[T_NEW]) * memory[H_DONE] > 0.0:
                return True
        row = counters[WRITTEN]
        if row >= out_t.shape[0]:
            return False
        out_t[row] = t
        if t == memory[T_NEW]:
            for i in range(state.shape[1]):
                out_y[row, i] = state[Y_NEW, i]
        else:
            _sample(layout, memory, counters, table, state, time, t, out_y[row])
        _normalize(out_y[row], quaternions, 1)
        counters[WRITTEN] += 1
        counters[NEXT_TIME] += 1
        if not sampled:
            return True


@_njit
def _finish(layout, memory, counters, state, quaternions):
    """Make the accepted step the present state.

    The last slope becomes the first one. It was taken before the quaternions were normalized: their own rates, which
    are linear in them, are scaled too; for the rest the difference is of the size of the local error times the step.
    """
    last = SLOPES + layout[LAST]
    for b in range(quaternions.shape[0]):
        start = quaternions[b]
        square = 0.0
        for i in range(4):
            square += state[Y_NEW, start + i] * state[Y_NEW, start + i]
        scale = 1.0 / np.sqrt(square)
        for i in range(4):
            state[last, start + i] *= scale
    _normalize(state[Y_NEW], quaternions, 1)
    for i in range(state.shape[1]):
        state[Y, i] = state[Y_NEW, i]
        state[SLOPES, i] = state[last, i]
    memory[T] = memory[T_NEW]
    counters[PENDING] = 0


@_njit
def _start(layout, memory, counters, state, time):
    """The slope at the start; False if it is not finite."""
    _rate(layout, time, memory[T], Y, SLOPES)
    counters[EVALUATIONS] += 1
    counters[FAILED] = _first_not_finite(state[SLOPES])
    memory[FAILED_TIME] = memory[T]
    counters[STARTED] = 1
    return counters[FAILED] < 0


def _advance(layout, memory, counters, table, state, time, atol, quaternions, times, out_t, out_y, budget):
    """Go on with a run of a method with step control, for at most ``budget`` accepted steps."""
    if counters[STARTED] == 0:
        if not _start(layout, memory, counters, state, time):
            return NOT_FINITE
        if memory[H] == 0.0:
            memory[H] = _first_step(layout, memory, counters, state, time, atol)
    while True:
        if counters[PENDING] == 0:
            if memory[T] == memory[T_END]:
                return DONE
            if budget <= 0:
                return CHUNK
            budget -= 1
            code = _step(layout, memory, counters, table, state, time, atol)
            if code != DONE:
                return code
            counters[PENDING], counters[EXTRA] = 1, 0
        if not _write(layout, memory, counters, table, state, time, quaternions, times, out_t, out_y):
            return FULL
        _finish(layout, memory, counters, state, quaternions)


@_njit
def _fixed_step(layout, state, bits, time, t, h):
    """One step of the classical Runge-Kutta method from Y, whose slope is in K1, to Y_NEW; nonzero if not finite."""
    y, new, stage = state[Y], state[Y_NEW], state[Y_STAGE]
    k1, k2, k3, k4 = state[K1], state[K2], state[K3], state[K4]
    n = state.shape[1]
    half = 0.5 * h
    for i in range(n):
        stage[i] = y[i] + half * k1[i]
    _rate(layout, time, t + half, Y_STAGE, K2)
    for i in range(n):
        stage[i] = y[i] + half * k2[i]
    _rate(layout, time, t + half, Y_STAGE, K3)
    for i in range(n):
        stage[i] = y[i] + h * k3[i]
    _rate(layout, time, t + h, Y_STAGE, K4)
    sixth = h / 6.0
    for i in range(n):
        new[i] = y[i] + sixth * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i])
    # The exponent's bits are all set in what is not finite; integers are compared in groups, floats would not be.
    new_bits = bits[Y_NEW]
    bad = np.int64(0)
    for i in range(n):
        bad |= np.int64((new_bits[i] & _EXPONENT) == _EXPONENT)
    return bad


@_njit
def _write_fixed(layout, memory, counters, state, quaternions, times, out_t, out_y):
    """As `_write`, on the cubic through both ends and their slopes; a time on the grid gets the state there."""
    h = memory[H]
    sampled = layout[SAMPLED] != 0
    while True:
        t, theta = memory[T_NEW], 1.0
        if sampled:
            if counters[NEXT_TIME] >= times.shape[0]:
                return True
            t = times[counters[NEXT_TIME]]
            beyond = (t - memory[T_NEW]) / h
            if beyond > 1e-9:
                return True
            if beyond < -1e-9:
                theta = (t - memory[T]) / h
        row = counters[WRITTEN]
        if row >= out_t.shape[0]:
            return False
        out_t[row] = t
        a = theta * theta * (3.0 - 2.0 * theta)
        b = h * theta * (1.0 - theta) * (1.0 - theta)
        c = -h * theta * theta * (1.0 - theta)
        for i in range(state.shape[1]):
            out_y[row, i] = (1.0 - a) * state[Y, i] + a * state[Y_NEW, i] + b * state[K1, i] + c * state[K_NEXT, i]
        if theta != 1.0:
            _normalize(out_y[row], quaternions, layout[LANES])
        counters[WRITTEN] += 1
        counters[NEXT_TIME] += 1
        if not sampled:
            return True


def _advance_fixed(layout, memory, counters, state, bits, time, quaternions, times, out_t, out_y, budget):
    """Go on with a run of the classical Runge-Kutta method; its times are memory[T_START] + i memory[H]."""
    if counters[STARTED] == 0 and not _start(layout, memory, counters, state, time):
        return NOT_FINITE
    while True:
        if counters[PENDING] == 0:
            if counters[STEPS] >= layout[MAX_STEPS]:
                return DONE
            if budget <= 0:
                return CHUNK
            budget -= 1
            bad = _fixed_step(layout, state, bits, time, memory[T], memory[H])
            counters[STEPS] += 1
            counters[EVALUATIONS] += 4
            memory[T_NEW] = memory[T_START] + counters[STEPS] * memory[H]
            if counters[STEPS] == layout[MAX_STEPS]:
                memory[T_NEW] = memory[T_END]
            if bad != 0:
                counters[FAILED] = _first_not_finite(state[Y_NEW])
                memory[FAILED_TIME] = memory[T_NEW]
                return NOT_FINITE
            _normalize(state[Y_NEW], quaternions, layout[LANES])
            _rate(layout, time, memory[T_NEW], Y_NEW, K_NEXT)
            counters[PENDING] = 1
        if not _write_fixed(layout, memory, counters, state, quaternions, times, out_t, out_y):
            return FULL
        for i in range(state.shape[1]):
            state[Y, i] = state[Y_NEW, i]
            state[K1, i] = state[K_NEXT, i]
        memory[T] = memory[T_NEW]
        counters[PENDING] = 0


_F1, _F2, _I1, _I2 = types.float64[::1], types.float64[:, ::1], types.int64[::1], types.int64[:, ::1]
_SIGNATURES = {
    "advance": (_advance, types.int64(_I1, _F1, _I1, _F2, _F2, _F1, _F1, _I1, _F1, _F1, _F2, types.int64)),
    "advance_fixed": (_advance_fixed, types.int64(_I1, _F1, _I1, _F2, _I2, _F1, _I1, _F1, _F1, _F2, types.int64)),
}


@cache
def compiled(name: str) -> Callable[..., Any]:
    """The machine code of a loop: from numba's cache, or compiled now (seconds, once for an installation).

    The cache is next to this file, or in the user's cache directory where that cannot be written to; where neither can,
    numba refuses to cache, and the loop is compiled for this process only.
    """
    function, signature = _SIGNATURES[name]
    njit: Any = numba.njit
    try:
        made: Callable[..., Any] = njit(signature, error_model="numpy", nogil=True, cache=True)(function)
    except RuntimeError:
        made = njit(signature, error_model="numpy", nogil=True)(function)
    return made
