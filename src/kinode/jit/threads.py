"""Threads that share work: one executor of the whole process, for machine code and others that release Python's lock.

To start a task takes some 20 us, so that work of less than a few hundred us is better done by the caller alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache as remember

PIECES_PER_THREAD = 4  # so that nobody waits long for a thread that the operating system has suspended


def processors() -> int:
    """The number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows have no such function
        return os.cpu_count() or 1


@remember
def _executor() -> ThreadPoolExecutor:
    """The threads beside those that call; they wait in the system for work."""
    return ThreadPoolExecutor(max(1, processors() - 1), thread_name_prefix="kinode")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_executor.cache_clear)  # threads do not survive a fork


def share(work: Callable[[int, int], None], count: int, least: int, threads: int | None = None) -> None:
    """Do ``count`` things by ``work(first, last)``, in pieces of at least ``least``; returns when all are done.

    At most ``threads`` work, the caller's included, by default as many as there are processors.
    """
    threads = min(processors() if threads is None else threads, count // least)
    if threads < 2:
        work(0, count)
        return
    size = max(least, -(-count // (PIECES_PER_THREAD * threads)))
    pieces = iter(range(0, count, size))

    def take() -> None:
        for first in pieces:  # each piece is given once, whoever asks
            work(first, min(first + size, count))

    tasks = [_executor().submit(take) for _ in range(threads - 1)]
    try:
        take()
    finally:
        wait([task for task in tasks if not task.cancel()])  # who has not begun finds nothing left
    for task in tasks:
        if not task.cancelled():
            task.result()
