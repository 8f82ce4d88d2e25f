"""Loops over many states in machine code: compiled when first used, or found in the cache."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache as remember
from typing import Any

from kinode.jit.python_function import load_together
from kinode.ode.compiled_loops import CompiledLoop


@remember
def load_loop(source: Callable[[Any], int]) -> CompiledLoop:
    """The machine code of a loop, a function of its record."""
    return CompiledLoop(load_together(f"loop {source.__module__}.{source.__name__}", (source,))[1][0])
