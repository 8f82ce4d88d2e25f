"""The integrator loops in machine code, which are compiled when they are first used, or found in the cache."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache as remember
from typing import Any

from kinode.jit.machine_code import CompiledFunction, compiled, find_function

_PREPARED: set[str] = set()  # loops whose loading was started in the background


def _source(name: str) -> str:
    """Where the loop of a name is written."""
    return f"kinode.ode.loops.{'batch_groups' if name == 'run_groups' else 'advance'}:{name}"


def find_source(name: str) -> Callable[[Any], int]:
    """The loop as a Python function, which Python can run too."""
    return find_function(_source(name))


@remember
def loop(name: str) -> CompiledFunction:
    """The compiled loop of that name, a function of its record (ode/loops/run_memory.py).

    Loops that advance runs come in two tiers: runs take up to twice as long until better code is there.
    """
    return compiled(_source(name), words="the integrator", tiered=name.startswith("advance_"))


def prepare(name: str) -> None:
    """Load or compile a loop in a background thread: LLVM does not hold Python's lock."""

    def work() -> None:
        with suppress(Exception):  # it is raised again where the loop is used
            loop(name)

    if name not in _PREPARED:  # once: starting a thread takes as long as a short run
        _PREPARED.add(name)
        threading.Thread(target=work, name="kinode loop").start()
