"""Common functions of the compiled integrator loops: kernel calls, projection onto constraints, the start of a run.

The loops know no model: a kernel is an address with the signature of kinode.jit (nine pointers to double).
jit/loop/translator.py describes the language of the loops; Python can run the same functions. This module and those of
the loops are imported only to compile them, or for their constants.
"""

from __future__ import annotations

import math

from kinode.jit.loop.memory import Floats, Ints, bits, call, tail
from kinode.ode.loops.courses import follow_courses
from kinode.ode.loops.run_codes import Pending
from kinode.ode.loops.run_memory import RunMemory

_HIGHEST, _LOWER, _LOWEST = 0x4000000000000000, 0x3FF0000000000000, 0x0010000000000000  # bits of an exponent
LONG_CORRECTION = 1e-7  # rad or m: after a longer Newton step the remaining error, its square, is not negligible


def run_kernel(run: RunMemory, kernel: int, t: float, y: Floats, x: Floats, out: Floats) -> None:
    """Call a kernel with a time and a state, and the inputs of that time."""
    model = run.model
    time = model.time
    for i in range(model.lanes):
        time[i] = t
    if run.courses.count != 0:
        follow_courses(run.courses, time, model.lanes, model.inputs)
    call_kernel(run, kernel, y, x, out)


def call_kernel(run: RunMemory, kernel: int, y: Floats, x: Floats, out: Floats) -> None:
    """Call a kernel with a state, and time and inputs as they are."""
    model, time = run.model, run.model.time
    call(
        kernel, time, y, tail(y, model.u_at), tail(y, model.z_at), model.p, model.inputs, x, model.work, out
    )  # fmt: skip


def rate(run: RunMemory, t: float, y: Floats, out: Floats) -> None:
    """The time derivative of a state: out = f(t, y). Columns behind the state are a further argument."""
    run_kernel(run, run.model.rate, law_time(run, t), y, tail(y, run.columns.n_state), out)


def tell_parts(run: RunMemory) -> bool:
    """Tell parts of the step that was completed; False if one of them cannot go on.  One may want an event there."""
    out = run.state.y_stage
    run_kernel(run, run.model.completed, law_time(run, run.step.t), run.state.y, run.model.x, out)
    if out[0] == 0.0:
        return True
    if out[0] < 0.0:
        if run.counts.pending == Pending.READY:
            for k in range(run.events.count):
                run.events.triggered[k] = 0
            run.counts.pending = Pending.EVENT
        run.events.triggered[int(-out[0]) - 1] = 2  # though its event function is positive
        return True
    run.counts.failed = int(out[0]) if out[0] == out[0] else 0
    return False


def law_time(run: RunMemory, t: float) -> float:
    """The time at which expressions are evaluated: that of t, kept to the side of a break on which the run is."""
    return run.step.origin + min(max(t, run.breaks.earliest), run.breaks.latest)


def begin_piece(run: RunMemory) -> None:
    """Set the time range of expressions from the present to their next break."""
    breaks = run.breaks
    if breaks.count == 0:
        return
    times, k = breaks.times, breaks.next
    while k < breaks.count and times[k] <= run.step.t:
        breaks.earliest = times[k] + breaks.margin
        k += 1
    breaks.next = k
    breaks.time = times[k] if k < breaks.count else math.inf
    breaks.latest = breaks.time - breaks.margin


def slope(run: RunMemory, stage: int) -> Floats:
    """The time derivative at a stage."""
    return tail(run.state.slopes, stage * run.model.n)


def not_finite(run: RunMemory, row: Floats) -> int:
    """Nonzero if a continuous entry of a row is not finite, that is, has all bits of its exponent set.

    Integer operations may be reordered and vectorized; a sum of floats may not, and takes longer.
    """
    return _any_not_finite(bits(row), 0, run.model.n_continuous)


def _any_not_finite(numbers: Ints, first: int, stop: int) -> int:
    flags = 0
    for i in range(first, stop):
        flags |= ((numbers[i] & _LOWER) + _LOWEST) & numbers[i]  # the lower bits carry into the highest if all are set
    return flags & _HIGHEST


def copy_discrete(run: RunMemory, out: Floats) -> None:
    """Copy the discrete states of the present state."""
    y = run.state.y
    for i in range(run.model.n_continuous, run.model.n):
        out[i] = y[i]


def first_not_finite(values: Floats, n: int) -> int:
    """Index of the first value that is not finite; -1 if all are."""
    for i in range(n):
        if not math.isfinite(values[i]):
            return i
    return -1


def length(y: Floats, start: int, lanes: int) -> float:
    """Norm of the quaternion whose components are at start, start + lanes, ..."""
    square = 0.0
    for i in range(4):
        square += y[start + i * lanes] * y[start + i * lanes]
    return math.sqrt(square)


def project(run: RunMemory, t: float, y: Floats) -> None:
    """Project a state onto its constraints, if there are any, and normalize its quaternions.

    The error after one Newton step is proportional to the square of the step, so that a long step needs another.
    """
    if run.model.projection != 0 and _newton(run, t, y) > LONG_CORRECTION:
        _newton(run, t, y)
    normalize(run, y)


def _newton(run: RunMemory, t: float, y: Floats) -> float:
    """One Newton step towards the constraints; returns the largest change of a coordinate in rad or m."""
    model, farthest = run.model, 0.0
    projected = model.projected
    run_kernel(run, model.projection, law_time(run, t), y, tail(y, run.columns.n_state), projected)
    for i in range(model.u_at):
        farthest = max(farthest, abs(projected[i] - y[i]))
    for i in range(model.n):
        y[i] = projected[i]
    return farthest


def normalize(run: RunMemory, y: Floats) -> None:
    """Normalize the quaternions."""
    quaternions, lanes = run.model.quaternions, run.model.lanes
    for b in range(run.model.n_quaternions):
        for start in range(quaternions[b] * lanes, (quaternions[b] + 1) * lanes):
            scale = 1.0 / length(y, start, lanes)
            for i in range(4):
                y[start + i * lanes] *= scale
            for k in range(run.columns.count):
                _normalize_column(y, start, start + (k + 1) * run.columns.n_state, scale)


def _normalize_column(y: Floats, start: int, at: int, scale: float) -> None:
    """The rates of a quaternion that was normalized, in one column."""
    along = 0.0
    for i in range(4):
        along += y[start + i] * y[at + i]
    for i in range(4):
        y[at + i] = scale * (y[at + i] - along * y[start + i])


def start(run: RunMemory) -> bool:
    """The slope at the start, and the discrete states of all rows; False if one of them is not finite."""
    model, state, counts = run.model, run.state, run.counts
    copy_discrete(run, state.y_new)
    copy_discrete(run, state.y_stage)
    copy_discrete(run, state.between)
    counts.failed = -1
    if model.rate != 0:
        rate(run, run.step.t, state.y, state.slopes)
        counts.evaluations += 1
        if not_finite(run, state.slopes) != 0:
            counts.failed = first_not_finite(state.slopes, model.n_continuous)
    if counts.failed < 0 and _any_not_finite(bits(state.y), model.n_continuous, model.n) != 0:
        y = state.y
        for i in range(model.n_continuous, model.n):
            counts.failed = i if y[i] != y[i] else counts.failed
    run.step.failed_time = run.step.t
    run.bounds.known = 0  # the state, or a law of time, has jumped
    counts.started, counts.restarted, counts.slope_known = 1, 1, 1
    return counts.failed < 0
