"""Calls of kernels from Python: one evaluation, or many rows on several threads.

These serve everything that the built-in functions of ``native`` hand over.  Shapes are the caller's
affair; what is checked here is only that no kernel reads or writes beyond an array.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Mapping

import numpy as np

from kinode.jit.compiler import Machine
from kinode.jit.program import ARGUMENTS
from kinode.jit.thread_team import processors, team

WORTHWHILE = 4e-5  # seconds of work left below which other threads are not asked
PIECE = 2e-5  # seconds of work that a thread takes at a time

_KERNEL = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(ARGUMENTS))
_BATCH = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def run(machine: Machine, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """Call a kernel once; gives ``out``, lane-interleaved where there are several lanes.

    Arguments that are not given are zero.
    """
    lanes = machine.lanes
    places = []
    for name in ARGUMENTS:
        size = machine.sizes[name] * lanes
        given = arrays.get(name)
        array = np.zeros(size) if given is None else np.ascontiguousarray(given, dtype=float)
        if array.size != size:
            raise ValueError(f"{machine.name!r} wants {size} numbers as {name!r}, not {array.size}")
        places.append(array)
    _KERNEL(machine.address)(*[array.ctypes.data for array in places])
    return places[-1]


def run_batch(
    machine: Machine,
    rows: int,
    arguments: Mapping[str, tuple[np.ndarray, bool]],
    threads: int | None = None,
) -> np.ndarray:
    """Call a kernel for each row; gives an array (rows, size of ``out``).

    ``arguments`` maps a name to its array and to whether that has one row for each call; otherwise all rows
    share it.  Arguments that are not given are zero.  ``threads`` is at most the number of processors.
    """
    out = provide_results(rows, machine.sizes["out"])
    arrays, strides = [], []
    array: np.ndarray
    for name in ARGUMENTS:
        size = machine.sizes[name]
        if name == "out":
            array, stride = out, size
        elif name == "work" or name not in arguments:
            array, stride = np.zeros(size) if name != "work" and size else NOTHING, 0
        else:
            array, stride = _as_rows(machine, name, rows, *arguments[name])
        arrays.append(array)
        strides.append(stride)
    bases = (ctypes.c_void_p * len(ARGUMENTS))(*[_address(array) for array in arrays])
    steps = (ctypes.c_int64 * len(ARGUMENTS))(*strides)
    driver = _BATCH(machine.batch_address)
    base, step = ctypes.addressof(bases), ctypes.addressof(steps)

    def work_on(first: int, last: int) -> None:
        scratch = np.empty(machine.batch_work_size + 1)
        driver(first, last, base, step, _address(scratch))

    if threads is None:
        threads = processors()
    if threads < 2 or processors() < 2 or rows < 16 * machine.lanes:
        work_on(0, rows)
        return out
    first = 8 * machine.lanes
    start = time.perf_counter()
    work_on(0, first)
    each = (time.perf_counter() - start) / first
    if each * (rows - first) < WORTHWHILE:
        work_on(first, rows)
        return out
    crew = team()
    if not crew.lock.acquire(blocking=False):  # another thread's batch is under way
        work_on(first, rows)
        return out
    try:
        size = machine.lanes * max(4, min(int(PIECE / each), (rows - first) // 8) // machine.lanes)
        crew.run(machine.batch_address, range(first, rows), size, base, step, machine.batch_work_size + 1)
    finally:
        crew.lock.release()
    return out


_BUFFERS: list[np.ndarray] = []
_BUFFERS_LOCK = threading.Lock()
REUSED = range(1 << 13, 1 << 23)  # sizes, in numbers, of results whose memory is used again
MOST_BUFFERS = 4


def provide_results(rows: int, size: int) -> np.ndarray:
    """An array for results; a large one in memory that the caller of an earlier batch has let go.

    Pages that the system has to provide anew cost more than the work of a batch.
    """
    count = rows * size
    if count not in REUSED:
        return np.empty((rows, size))
    with _BUFFERS_LOCK:
        for k in range(len(_BUFFERS)):
            # two references: the list's, and the one that getrefcount holds itself
            if count <= _BUFFERS[k].size <= 2 * count and sys.getrefcount(_BUFFERS[k]) == 2:
                return _BUFFERS[k][:count].reshape(rows, size)
        buffer = np.empty(count)
        _BUFFERS.append(buffer)
        del _BUFFERS[:-MOST_BUFFERS]
        return buffer.reshape(rows, size)


NOTHING = np.zeros(1)


def _address(array: np.ndarray) -> int:
    """Where an array starts; ``array.ctypes`` says the same and takes longer."""
    start: int = array.__array_interface__["data"][0]
    return start


def _as_rows(machine: Machine, name: str, rows: int, given: np.ndarray, batched: bool) -> tuple[np.ndarray, int]:
    """An array whose entries of a row lie side by side, and the distance of its rows in doubles."""
    size = machine.sizes[name]
    array = np.asarray(given, dtype=float)
    if array.size != size * (rows if batched else 1):
        wanted = f"{rows} rows of {size} numbers" if batched else f"{size} numbers"
        raise ValueError(f"{machine.name!r} wants {wanted} as {name!r}, not an array of shape {array.shape}")
    if not batched:
        return np.ascontiguousarray(array), 0
    array = array.reshape(rows, size)
    if (size > 1 and array.strides[1] != 8) or array.strides[0] % 8 or not array.flags.aligned:
        array = np.ascontiguousarray(array)
    return array, array.strides[0] // 8
