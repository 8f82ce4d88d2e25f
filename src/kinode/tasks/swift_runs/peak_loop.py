"""Peaks, least and last values of quantities over the rows of a run, as a compiled loop.

The numbers are those of ``reducers.py`` to the last bit (``jit/translator.py`` describes the language of the loop).
All quantities are read from some rows before the next rows, so that each row comes from memory once.
"""

from __future__ import annotations

import math

from kinode.jit.pointers import Floats, Ints, Struct, struct

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
