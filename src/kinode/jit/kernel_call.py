"""Calls of kernels from Python: one evaluation, or a batch of rows on several threads.

These functions handle the calls that the built-in functions (``python_function.py``) pass on.  They check only that no
kernel reads or writes beyond an array; the caller checks the shapes.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from kinode.jit.machine_code import ARGUMENTS, Machine

LEAST_SHARED_TIME = 3e-4  # s: a batch that takes less by one thread takes no less by two (batches of the UR5, quiet)
PIECE_TIME = 2e-5  # s of work that a thread takes at a time, at least
TIMED_PIECE = 8  # rows for each lane that the caller computes first, to learn how long a row takes

GIVEN = frozenset(ARGUMENTS) - {"work", "out"}
"""The arguments that a caller gives."""
_KERNEL = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(ARGUMENTS))
_BATCH = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_POINTERS, _STRIDES = ctypes.c_void_p * len(ARGUMENTS), ctypes.c_int64 * len(ARGUMENTS)
_kernel_at = lru_cache(maxsize=256)(_KERNEL)
_driver_at = lru_cache(maxsize=64)(_BATCH)  # to make a function of an address takes longer than a small batch


class _CallMemory:
    """The arguments of one call in one block of memory: their addresses are found once."""

    __slots__ = ("addresses", "given", "out")

    def __init__(self, machine: Machine) -> None:
        sizes = [machine.sizes[name] * machine.lanes for name in ARGUMENTS]
        starts = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
        block = np.zeros(starts[-1] + 1)
        parts = [block[start:end] for start, end in pairwise(starts)]
        self.addresses = [_address(block) + 8 * start for start in starts[:-1]]
        self.given = [(name, part, part.size) for name, part in zip(ARGUMENTS, parts, strict=True) if name in GIVEN]
        self.out = parts[-1]


def run_at(machine: Machine, values: Sequence[Any]) -> np.ndarray:
    """The same with one time and vectors of float64, in the order of the first arguments; ``x`` is zero."""
    idle: list[_CallMemory] = machine.idle
    try:
        memory = idle.pop()
    except IndexError:
        memory = _CallMemory(machine)
    memory.given[-1][1][:] = 0.0
    for (name, part, size), value in zip(memory.given, values, strict=False):
        if size:
            if name != "t" and value.size != size:
                raise ValueError(f"{machine.name!r} needs {size} numbers as {name!r}, not {value.size}")
            part[:] = value
    _kernel_at(machine.address)(*memory.addresses)
    out: np.ndarray = memory.out.copy()
    idle.append(memory)
    return out


def run(machine: Machine, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """Call a kernel once and return ``out``; with several lanes, arrays are lane-interleaved.

    Arguments that are not given are zero.  The memory of a call serves the next one: to copy a few numbers takes less
    time than to find an address.
    """
    idle: list[_CallMemory] = machine.idle
    try:
        memory = idle.pop()
    except IndexError:  # the first call, or another thread is within one
        memory = _CallMemory(machine)
    for name, part, size in memory.given:
        value = arrays.get(name)
        if value is None:
            part[:] = 0.0
            continue
        array = np.asarray(value, dtype=float)
        if array.size != size:
            raise ValueError(f"{machine.name!r} needs {size} numbers as {name!r}, not {array.size}")
        if size:
            part[:] = array if array.ndim == 1 else array.ravel()
    _kernel_at(machine.address)(*memory.addresses)
    out: np.ndarray = memory.out.copy()
    idle.append(memory)
    return out


class _Alone(threading.local):
    depth = 0  # of the blocks in which this thread computes by itself


_ALONE = _Alone()


@contextmanager
def alone() -> Iterator[None]:
    """Let this thread compute its batches by itself: where each thread has work of its own, sharing costs time."""
    _ALONE.depth += 1
    try:
        yield
    finally:
        _ALONE.depth -= 1


def run_batch(
    machine: Machine,
    rows: int,
    arguments: Mapping[str, tuple[np.ndarray, bool]],
    threads: int | None = None,
) -> np.ndarray:
    """Call a kernel for each row of a batch and return an array (rows, size of ``out``).

    ``arguments`` maps a name to (array, batched).  A batched array has one row for each call; any other is shared by
    all calls.  Arguments that are not given are zero.  At most ``threads`` share the work, all
    processors by default.
    """
    from kinode.jit.threads import processors, share

    out = provide_results(rows, machine.sizes["out"])
    arrays, addresses, strides = [], [], []  # ``arrays`` keeps the memory of those that were copied
    array: np.ndarray
    for name in ARGUMENTS:
        size, stride = machine.sizes[name], 0
        if name == "out":
            array, stride = out, size
        elif name == "work":
            array = EMPTY
        elif name in arguments:
            array, stride = _as_rows(machine, name, rows, *arguments[name])
        else:
            array = np.zeros(size) if size else EMPTY
        arrays.append(array)
        addresses.append(EMPTY_ADDRESS if array is EMPTY else _address(array))
        strides.append(stride)
    bases, steps = _POINTERS(*addresses), _STRIDES(*strides)
    driver = _driver_at(machine.batch_address)
    base, step = ctypes.addressof(bases), ctypes.addressof(steps)

    def compute(first: int, last: int) -> None:
        scratch = np.empty(machine.batch_work_size + 1)
        driver(first, last, base, step, _address(scratch))

    if threads == 1 or rows < 16 * machine.lanes or processors() < 2 or _ALONE.depth:
        compute(0, rows)
        return out
    first = TIMED_PIECE * machine.lanes
    start = time.perf_counter()
    compute(0, first)
    row_time = (time.perf_counter() - start) / first
    if row_time * (rows - first) < LEAST_SHARED_TIME:
        compute(first, rows)
        return out
    groups, lanes = -(-(rows - first) // machine.lanes), machine.lanes
    least = min(max(4, int(PIECE_TIME / row_time) // lanes), max(1, groups // 8))
    share(lambda a, b: compute(first + a * lanes, min(first + b * lanes, rows)), groups, least, threads)
    return out


_BUFFERS: list[np.ndarray] = []
_BUFFERS_LOCK = threading.Lock()
REUSED_SIZES = range(1 << 13, 1 << 23)  # doubles; the memory of such results is used again
MOST_BUFFERS = 4  # results whose memory is kept


def provide_results(rows: int, size: int) -> np.ndarray:
    """An array (rows, size) for results, in the memory of an earlier result that nobody uses any more if it is large.

    New memory pages take longer to obtain from the system than a batch takes to compute.
    """
    count = rows * size
    if count not in REUSED_SIZES:
        return np.empty((rows, size))
    with _BUFFERS_LOCK:
        for k in range(len(_BUFFERS)):
            # two references: the list's, and that of getrefcount itself
            if count <= _BUFFERS[k].size <= 2 * count and sys.getrefcount(_BUFFERS[k]) == 2:
                return _BUFFERS[k][:count].reshape(rows, size)
        buffer = np.empty(count)
        _BUFFERS.append(buffer)
        del _BUFFERS[:-MOST_BUFFERS]
        return buffer.reshape(rows, size)


def _address(array: np.ndarray) -> int:
    """The address of an array's first entry; ``array.ctypes.data`` is the same and takes longer."""
    start: int = array.__array_interface__["data"][0]
    return start


EMPTY = np.zeros(1)  # stands for an argument without entries
EMPTY_ADDRESS = _address(EMPTY)


def _as_rows(machine: Machine, name: str, rows: int, given: np.ndarray, batched: bool) -> tuple[np.ndarray, int]:
    """The argument as an array with contiguous rows, and the distance between its rows in doubles (0: shared)."""
    size = machine.sizes[name]
    array = np.asarray(given, dtype=float)
    if array.size != size * (rows if batched else 1):
        needed = f"{rows} rows of {size} numbers" if batched else f"{size} numbers"
        raise ValueError(f"{machine.name!r} needs {needed} as {name!r}, not an array of shape {array.shape}")
    if size == 0:
        return EMPTY, 0
    if not batched:
        return np.ascontiguousarray(array), 0
    array = array.reshape(rows, size)
    if (size > 1 and array.strides[1] != 8) or array.strides[0] % 8 or not array.flags.aligned:
        array = np.ascontiguousarray(array)
    return array, array.strides[0] // 8
