"""Calls of kernels from Python: one evaluation, or many rows on several threads.

These serve everything that the built-in functions of ``native`` hand over.  Shapes are the caller's
affair; what is checked here is only that no kernel reads or writes beyond an array.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Mapping
from functools import cache as remember
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from kinode.codegen.machine import Machine
from kinode.codegen.program import ARGUMENTS

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

WORTHWHILE = 2e-4  # seconds of work left below which other threads are not asked

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
    out = np.empty((rows, machine.sizes["out"]))
    arrays, strides = [], []
    array: np.ndarray
    for name in ARGUMENTS:
        size = machine.sizes[name]
        if name == "out":
            array, stride = out, size
        elif name == "work" or name not in arguments:
            array, stride = np.zeros(size if name != "work" else 1), 0
        else:
            array, stride = _as_rows(machine, name, rows, *arguments[name])
        arrays.append(array)
        strides.append(stride)
    bases = (ctypes.c_void_p * len(ARGUMENTS))(*[array.ctypes.data for array in arrays])
    steps = (ctypes.c_int64 * len(ARGUMENTS))(*strides)
    driver = _BATCH(machine.batch_address)

    def work_on(first: int, last: int) -> None:
        scratch = np.empty(machine.batch_work_size + 1)
        driver(first, last, bases, steps, scratch.ctypes.data)

    _share(work_on, rows, machine.lanes, min(threads or _processors(), _processors()))
    return out


def _share(work_on: Callable[[int, int], None], rows: int, lanes: int, threads: int) -> None:
    """Do a few rows here, and the others on several threads if there is enough left to do."""
    first = min(rows, 8 * lanes)
    start = time.perf_counter()
    work_on(0, first)
    left = (rows - first) * (time.perf_counter() - start) / max(first, 1)
    if threads < 2 or left < WORTHWHILE:
        work_on(first, rows)
        return
    groups = -(-(rows - first) // lanes)
    cuts = [min(rows, first + lanes * (groups * k // threads)) for k in range(threads + 1)]
    tasks = [_pool().submit(work_on, a, b) for a, b in pairwise(cuts[1:])]
    work_on(cuts[0], cuts[1])
    for task in tasks:
        task.result()


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


@remember
def _processors() -> int:
    return os.cpu_count() or 1


@remember
def _pool() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(_processors(), thread_name_prefix="kinode")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork
