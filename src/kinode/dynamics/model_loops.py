"""Loops over many states in machine code: compiled when first used or found in the cache, run in several threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache as remember
from typing import Any

from kinode.jit.python_function import load_together
from kinode.jit.thread_team import processors
from kinode.ode.compiled_loops import CompiledLoop


@remember
def load_loop(source: Callable[[Any], int]) -> CompiledLoop:
    """The machine code of a loop, a function of its record."""
    return CompiledLoop(load_together(f"loop {source.__module__}.{source.__name__}", (source,))[1][0])


def in_threads(work: Callable[[int, int], None], count: int, least: int) -> None:
    """Share ``count`` pieces of work among threads, at least so many for each: ``work(first, last)``."""
    threads = max(1, min(processors(), count // least))
    if threads == 1:
        work(0, count)
        return
    bounds = [count * k // threads for k in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, bounds[:-1], bounds[1:]))
