"""Compiled loops over many runs: begin, integrate, evaluate quantities, reduce, one run after the other.

Every run begins in the memory of the one before, which is set back to what it was before the first step.  The loop
returns to Python where the output does not fit, or a run is so long that somebody should look at it.

Peaks, least and last values of quantities over the rows of a run are those of the reducers in ``kept_results.py`` to
the last bit (``jit/loop/translator.py`` describes the language of the loops).  All quantities are read from some rows
before the next rows, so that each row comes from memory once.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from kinode.jit.loop.memory import Floats, Ints, Struct, bits, call, floats, struct, tail
from kinode.ode.loops.run_codes import Outcome
from kinode.ode.loops.run_memory import RunMemory

PEAK, LEAST, FINAL, TIME_OF_PEAK = 0, 1, 2, 3
ENTRIES = 4  # of the table for each reduction
TILE = 128  # rows that are read for all quantities before the next ones
SURE, UNSURE, NOT_FINITE = 0, 1, 2  # what is known of the row of a peak


@struct
class ReduceMemory(Struct):
    """The rows of a run, and what is to be read from them."""

    rows: int
    count: int
    """Reductions."""
    t: Floats
    y: Floats
    """States, one row after the other."""
    y_width: int
    out: Floats
    """Computed quantities, one row after the other."""
    out_width: int
    table: Ints
    """For each reduction: 1 where it is of a computed quantity, its first column, the number of its columns (0 of a
    plain number, which keeps its sign), and what it is reduced by."""
    equal: float
    """Share of the peak from which on a value is equal to it."""
    largest: Floats
    """For each reduction: the largest size so far, of vectors its square."""
    least: Floats
    peak_row: Ints
    """The first row whose size is equal to the largest."""
    known: Ints
    """Whether that row is sure, unsure, or a value was not finite."""
    results: Floats


def _square(values: Floats, at: int, width: int) -> float:
    """The square of the length of a vector."""
    total = values[at] * values[at]
    for j in range(1, width):
        total += values[at + j] * values[at + j]
    return total


def _measure(values: Floats, at: int, width: int) -> float:
    """A number, or the square of the length of a vector."""
    return values[at] if width == 0 else _square(values, at, width)


def _size(measured: float, width: int) -> float:
    return abs(measured) if width == 0 else math.sqrt(measured)


def _note_largest(
    memory: ReduceMemory, k: int, values: Floats, first: int, stride: int, width: int, row: int
) -> None:  # fmt: skip
    """Take over a row that is larger than all before it."""
    new = _measure(values, first + stride * row, width)
    if not math.isfinite(new):
        memory.known[k] = NOT_FINITE
        return
    bound = memory.equal * _size(new, width)
    candidate = _size(_measure(values, first + stride * memory.peak_row[k], width), width)
    if row == 0 or _size(memory.largest[k], width) < bound:
        memory.peak_row[k], memory.known[k] = row, SURE
    elif candidate < bound:  # a row between both may be the first one that is equal to the new peak
        memory.known[k] = UNSURE
    memory.largest[k] = abs(new)


def _scan(
    memory: ReduceMemory, k: int, values: Floats, first: int, stride: int, width: int, start: int, end: int
) -> None:  # fmt: skip
    """Read some rows of one quantity."""
    largest, least, at = memory.largest[k], memory.least[k], first + stride * start
    for row in range(start, end):
        size = _measure(values, at, width)
        if not abs(size) <= largest:
            _note_largest(memory, k, values, first, stride, width, row)
            if memory.known[k] == NOT_FINITE:
                return
            largest = memory.largest[k]
        least = min(least, size)
        at += stride
    memory.least[k] = least


def _find_peak(memory: ReduceMemory, k: int, values: Floats, first: int, stride: int, width: int) -> int:
    """The first row whose size is equal to the largest."""
    row = memory.peak_row[k]
    if memory.known[k] == SURE:
        return row
    bound = memory.equal * _size(memory.largest[k], width)
    while _size(_measure(values, first + stride * row, width), width) < bound:
        row += 1
    return row


def _finish(memory: ReduceMemory, k: int, values: Floats, first: int, stride: int, width: int, by: int) -> float:
    """The number of one quantity, after all rows."""
    if memory.known[k] == NOT_FINITE:
        return math.nan
    if by == LEAST:
        return memory.least[k] if width == 0 else math.sqrt(memory.least[k])
    row = memory.rows - 1
    if by != FINAL:
        row = _find_peak(memory, k, values, first, stride, width)
    if by == TIME_OF_PEAK:
        return memory.t[row]
    measured = _measure(values, first + stride * row, width)
    return measured if width == 0 else math.sqrt(measured)


def reduce_rows(memory: ReduceMemory) -> int:
    """All reductions of a run."""
    for k in range(memory.count):
        memory.largest[k], memory.least[k], memory.peak_row[k], memory.known[k] = -1.0, math.inf, 0, SURE
    for tile in range((memory.rows + TILE - 1) // TILE):
        start, end = TILE * tile, min(TILE * (tile + 1), memory.rows)
        for k in range(memory.count):
            first, width = memory.table[ENTRIES * k + 1], memory.table[ENTRIES * k + 2]
            if memory.known[k] != NOT_FINITE:
                if memory.table[ENTRIES * k] != 0:
                    _scan(memory, k, memory.out, first, memory.out_width, width, start, end)
                else:
                    _scan(memory, k, memory.y, first, memory.y_width, width, start, end)
    for k in range(memory.count):
        first, width, by = memory.table[ENTRIES * k + 1], memory.table[ENTRIES * k + 2], memory.table[ENTRIES * k + 3]
        if memory.table[ENTRIES * k] != 0:
            memory.results[k] = _finish(memory, k, memory.out, first, memory.out_width, width, by)
        else:
            memory.results[k] = _finish(memory, k, memory.y, first, memory.y_width, width, by)
    return 0


STEPS_AT_ONCE = 4096  # between two looks at whether the runs go on
MADE, LEFT = 1, 2  # what became of a run; 0 while it was not made
IS_LONG = 1000  # a code beside those of ``Outcome``


@struct
class RowKernel(Struct):
    """A kernel that gives quantities at some rows at a time, as many as it has lanes."""

    address: int
    """0 for none."""
    lanes: int
    n_q: int
    n_u: int
    n_z: int
    n_out: int
    t: Floats
    q: Floats
    u: Floats
    z: Floats
    p: Floats
    inputs: Floats
    x: Floats
    work: Floats
    out: Floats


@struct
class ManyMemory(Struct):
    """Runs that differ in start, parameters and inputs; constant, except for ``run``, ``kernel`` and results."""

    run: RunMemory
    words: int
    """Numbers of eight bytes in ``run``."""
    run_at: int
    pristine_at: int
    """Addresses of ``run``, and of its bytes before the first step."""
    blocks: int
    block_table: Ints
    """For each block of memory of the run: its address, that of its numbers before the first step, its size."""
    next: int
    last: int
    """The runs from ``next`` up to, without, the last are to be made."""
    n_y: int
    n_p: int
    n_inputs: int
    y: Floats
    p: Floats
    inputs: Floats
    """Of all runs, one after the other."""
    own_p: Floats
    own_inputs: Floats
    """Of the run under way."""
    at_start: int
    """Rows of the output at the start."""
    start_known: int
    """1 where these are known before the first step."""
    origin: float
    until: float
    """Start and end of the runs in s."""
    times: Floats
    """The given output times in s."""
    long: int
    """Steps of a long run."""
    stop: Ints
    """Nonzero once the runs are to stop."""
    kernel: RowKernel
    reduce: ReduceMemory
    state: Ints
    """For each run what became of it."""
    results: Floats
    """The reductions of each run, one run after the other."""


def _set_back(many: ManyMemory) -> None:
    """Give the run the memory that it had before its first step."""
    run, pristine = bits(floats(many.run_at)), bits(floats(many.pristine_at))
    for i in range(many.words):
        run[i] = pristine[i]
    for k in range(many.blocks):
        block, first = floats(many.block_table[3 * k]), floats(many.block_table[3 * k + 1])
        for i in range(many.block_table[3 * k + 2]):
            block[i] = first[i]


def _begin(many: ManyMemory, k: int) -> None:
    """Lay out a run."""
    _set_back(many)
    start, y, output = tail(many.y, many.n_y * k), many.run.state.y, many.run.output
    for i in range(many.n_y):
        y[i] = start[i]
    p, inputs = tail(many.p, many.n_p * k), tail(many.inputs, many.n_inputs * k)
    for i in range(many.n_p):
        many.own_p[i] = p[i]
    for i in range(many.n_inputs):
        many.own_inputs[i] = inputs[i]
    for row in range(many.at_start):
        output.t[row] = 0.0
        for i in range(many.n_y):
            output.y[many.n_y * row + i] = start[i]
    output.written = many.at_start if many.start_known != 0 else 0
    output.next_time = output.written


def _spread(source: Floats, n: int, lanes: int, target: Floats) -> None:
    """Give each lane the same numbers."""
    for i in range(n):
        for lane in range(lanes):
            target[i * lanes + lane] = source[i]


def _gather(rows: Floats, width: int, first: int, n: int, start: int, last: int, lanes: int, target: Floats) -> None:
    """Interleave some columns of the rows from ``start`` on; the last row fills lanes without a row."""
    for lane in range(lanes):
        at = width * min(start + lane, last) + first
        for i in range(n):
            target[i * lanes + lane] = rows[at + i]


def _evaluate(many: ManyMemory, rows: int) -> None:
    """The quantities at all rows of a run."""
    kernel, y, n_y = many.kernel, many.run.output.y, many.n_y
    lanes, n_out, out = kernel.lanes, kernel.n_out, many.reduce.out
    _spread(many.own_p, many.n_p, lanes, kernel.p)
    _spread(many.own_inputs, many.n_inputs, lanes, kernel.inputs)
    for group in range((rows + lanes - 1) // lanes):
        start = group * lanes
        _gather(many.reduce.t, 1, 0, 1, start, rows - 1, lanes, kernel.t)
        _gather(y, n_y, 0, kernel.n_q, start, rows - 1, lanes, kernel.q)
        _gather(y, n_y, kernel.n_q, kernel.n_u, start, rows - 1, lanes, kernel.u)
        _gather(y, n_y, kernel.n_q + kernel.n_u, kernel.n_z, start, rows - 1, lanes, kernel.z)
        call(kernel.address, kernel.t, kernel.q, kernel.u, kernel.z, kernel.p, kernel.inputs, kernel.x, kernel.work,
             kernel.out)  # fmt: skip
        for lane in range(min(lanes, rows - start)):
            at = n_out * (start + lane)
            for i in range(n_out):
                out[at + i] = kernel.out[i * lanes + lane]


def _measure_run(many: ManyMemory, k: int) -> None:
    """What is kept of a run that reached its end."""
    output, t_end = many.run.output, many.run.step.t_end
    rows = output.written
    for i in range(rows):  # the loop counts time from the start
        if output.sampled != 0:
            output.t[i] = many.times[i]
        else:
            output.t[i] = many.until if output.t[i] == t_end else many.origin + output.t[i]
    many.reduce.rows = rows
    if many.kernel.address != 0:
        _evaluate(many, rows)
    reduce_rows(many.reduce)
    for i in range(many.reduce.count):
        many.results[many.reduce.count * k + i] = many.reduce.results[i]


def many_by(name: str, advance: Callable[[RunMemory], int]) -> Callable[[ManyMemory], int]:
    """The loop over runs, with the main loop of one, which has a name."""

    def make_many(many: ManyMemory) -> int:
        """Make the runs; ``next`` tells how far it came."""
        counts = many.run.counts
        while many.next < many.last:
            k = many.next
            _begin(many, k)
            most, code = many.run.method.max_steps, int(Outcome.PAUSED)
            while code == Outcome.PAUSED:
                taken = counts.steps + counts.rejected
                if many.stop[0] != 0:
                    return Outcome.PAUSED
                if taken >= many.long:
                    return IS_LONG
                counts.budget = min(STEPS_AT_ONCE, most - counts.steps)
                code = advance(many.run)
                if code == Outcome.EVENTS_FULL:
                    many.run.events.listed = 0
                    code = int(Outcome.PAUSED)
                elif code == Outcome.PAUSED and counts.steps >= most:
                    code = int(Outcome.TOO_MANY_STEPS)
            if code == Outcome.ROWS_FULL:
                return Outcome.ROWS_FULL
            if code == Outcome.DONE:
                _measure_run(many, k)
            many.state[k] = MADE if code == Outcome.DONE else LEFT
            many.next = k + 1
        return Outcome.DONE

    make_many.__name__ = f"make_many_{name}"  # by which its machine code is known
    return make_many
