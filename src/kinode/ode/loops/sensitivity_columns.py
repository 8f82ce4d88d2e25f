"""Jumps of the columns at an instant whose time depends on what the columns are derivatives by.

Let S be a column, the derivative of the state y at a fixed time, f the slope and T the rate of the time of an event.
The state at the event itself changes by S + f T. This is carried through all that happens at the instant: reset maps,
projections, samples and mode iteration, each by its own derivative. After them, with the new slope f+, the column at
the fixed time is what that gives, less f+ T (the saltation of hybrid systems). The time of an event with the event
function g moves by

    T = -(dg along S) / (dg along the motion)

that of a break of a law as its expression says, and that of a clock tick not at all.

The derivative does not exist where the state touches a threshold and does not cross it (grazing; also impacts that
accumulate, each weaker than the one before), and where two events of different T coincide: which of them comes first
then depends on the sign of the change.
"""

from __future__ import annotations

from kinode.jit.loop.memory import Floats
from kinode.ode.loops.event_triggers import ZERO_LEVEL, is_active
from kinode.ode.loops.loop_primitives import law_time, rate, run_kernel
from kinode.ode.loops.run_codes import Lost
from kinode.ode.loops.run_memory import RunMemory

GRAZING = 1e-6  # fall of an event function over the length of the run, at its rate at the event: less is grazing
TOUCH = 1e-6  # an event function that turns so near to zero, before it or behind, only touches it
SAME_SHIFT = 1e-9  # share of the larger of two shifts, and of the run: events of nearer shifts stay together


def argument_of(run: RunMemory, flags: Floats, n_flags: int) -> Floats:
    """The argument of a reset map or a sample: flags, then rates of time and the present columns, if there are any."""
    columns = run.columns
    if columns.count == 0:
        return flags
    y, x, at = run.state.y, columns.x, n_flags
    for i in range(n_flags):
        x[i] = flags[i]
    for k in range(columns.count):
        x[at + k] = columns.shifts[k]
    at = _write_slopes(run, at + columns.count)
    for i in range(columns.count * columns.n_state):
        x[at + i] = y[columns.n_state + i]
    return x


def _write_slopes(run: RunMemory, at: int) -> int:
    """Write the slopes of all inputs into the argument, from an index on; returns the index behind them."""
    x, courses = run.columns.x, run.courses
    for j in range(run.columns.n_inputs):
        x[at + j] = 0.0
    for c in range(courses.count):
        piece = courses.at[c]
        if run.model.time[0] >= courses.times[piece]:
            x[at + courses.entries[c]] = courses.slopes[piece]
    return at + run.columns.n_inputs


def lose(run: RunMemory, why: int, k: int) -> None:
    """Note that the columns are no derivatives from now on."""
    columns = run.columns
    if columns.count != 0 and columns.lost == 0:
        columns.lost, columns.lost_time, columns.lost_function = why, run.step.t, k


def _move_columns(run: RunMemory, slope: Floats, sign: float) -> None:
    """Add the slope, times the rate of the time of the instant, to each column."""
    y, columns, n = run.state.y, run.columns, run.columns.n_state
    for k in range(columns.count):
        shift = sign * columns.shifts[k]
        for i in range(n):
            y[n + k * n + i] += shift * slope[i]


def _differentiate_functions(run: RunMemory) -> None:
    """All event functions in ``columns.out``, then their rates along each column and along the motion."""
    columns, y, x, m, n = run.columns, run.state.y, run.columns.x, run.columns.count, run.columns.n_state
    rate(run, run.step.t, y, columns.before)
    for k in range(m):
        x[k] = 0.0
    x[m] = 1.0
    at = _write_slopes(run, m + 1)
    for i in range(m * n):
        x[at + i] = y[n + i]
    for i in range(n):
        x[at + m * n + i] = columns.before[i]
    run_kernel(run, columns.functions, law_time(run, run.step.t), y, x, columns.out)


def check_start(run: RunMemory) -> None:
    """Note it where a run starts on a threshold that a column moves: a small change decides about the mode."""
    columns, count, out = run.columns, run.events.count, run.columns.out
    if columns.count == 0 or count == 0 or run.counts.started != 0:
        return
    _differentiate_functions(run)
    for j in range(count):
        if is_active(run, j, run.state.y) and abs(out[j]) <= ZERO_LEVEL:
            _check_threshold(run, j)


def _check_threshold(run: RunMemory, j: int) -> None:
    """Note it where a column moves an event function, as differentiated last, that is zero."""
    count, out = run.events.count, run.columns.out
    for k in range(run.columns.count):
        if abs(out[2 * count * (k + 1) + j]) > ZERO_LEVEL:
            lose(run, Lost.APPEARS, j)


def shift_to_event(run: RunMemory) -> None:
    """Carry the columns on to the event; its function and all others that triggered are marked."""
    columns, y, m = run.columns, run.state.y, run.columns.count
    if m == 0:
        return
    count, out, found = run.events.count, columns.out, False
    _differentiate_functions(run)
    for j in range(count):
        if run.events.triggered[j] == 0 or not is_active(run, j, y):
            continue
        falling, bend = out[2 * count * (m + 1) + j], out[2 * count * (m + 1) + count + j]
        span = run.step.t_end - run.step.t_start
        # out[count + j] is in proportion to the rate of the function, and bend to its second derivative
        grazes = not -falling * span > GRAZING or abs(falling * out[count + j]) < 2.0 * TOUCH * abs(bend)
        if grazes:
            lose(run, Lost.GRAZING, j)
        for k in range(m):
            shift = 0.0 if grazes else -out[2 * count * (k + 1) + j] / falling
            if not found:
                columns.shifts[k] = shift
            elif _differs(run, shift, columns.shifts[k]):
                lose(run, Lost.TOGETHER, j)
        found = True
    columns.shifted = 1
    _check_fixed(run, run.clocks.time)
    if columns.breaks_shift == 0:
        _check_fixed(run, run.breaks.time)
    elif run.step.t == run.breaks.time:
        lose(run, Lost.TOGETHER, run.events.blamed)
    _move_columns(run, columns.before, 1.0)


def _differs(run: RunMemory, one: float, other: float) -> bool:
    """Whether two rates of times differ."""
    largest = max(abs(one), abs(other))
    return abs(one - other) > SAME_SHIFT * largest


def _check_fixed(run: RunMemory, time: float) -> None:
    """Note it where an event whose time moves coincides with an instant that does not."""
    if run.step.t != time:
        return
    for k in range(run.columns.count):
        if run.columns.shifts[k] != 0.0:
            lose(run, Lost.TOGETHER, run.events.blamed)


def shift_to_break(run: RunMemory) -> None:
    """Carry the columns on to a break of a law of time; called before the law is evaluated behind the break."""
    columns, m = run.columns, run.columns.count
    if m == 0 or columns.breaks_shift == 0 or run.counts.started == 0:
        return
    rate(run, run.step.t, run.state.y, columns.before)
    for k in range(m):
        columns.shifts[k] = columns.break_shifts[run.breaks.next * m + k]
        if columns.shifts[k] != columns.shifts[k]:  # two laws break at once, at rates of their own
            columns.shifts[k] = 0.0
            lose(run, Lost.TOGETHER, 0)
    columns.shifted = 1
    _check_fixed(run, run.clocks.time)
    _move_columns(run, columns.before, 1.0)


def shift_back(run: RunMemory) -> None:
    """Return from the instant to its fixed time, with the slope after it; that of the columns follows anew."""
    columns = run.columns
    if columns.shifted == 0:
        return
    _move_columns(run, run.state.slopes, -1.0)
    for k in range(columns.count):
        columns.shifts[k] = 0.0
    columns.shifted = 0
    rate(run, run.step.t, run.state.y, run.state.slopes)


def check_consequence(run: RunMemory, k: int) -> None:
    """Note it where mode iteration changes a mode whose event function is just zero, and not clearly negative.

    At the start that is so for every body that lies on its stop; only a column that lifts it matters there.
    """
    if run.columns.count == 0 or run.events.g[k] < -ZERO_LEVEL:
        return
    if run.counts.started != 0:
        lose(run, Lost.APPEARS, k)
        return
    _differentiate_functions(run)
    _check_threshold(run, k)
