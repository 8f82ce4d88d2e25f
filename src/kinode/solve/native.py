"""The compiled integrator loops: from the cache on disk, or compiled now, which takes a tenth of a second.

An entry is named by the source of the loops and of codegen/, the version of LLVM and the processor; where the cache
cannot be written, the loops are compiled again in each process.
"""

from __future__ import annotations

import ctypes
import hashlib
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache as remember
from pathlib import Path
from typing import Any

from kinode.codegen import machine

Loop = Callable[[int], int]
PREFIX = "kinode_"
SOURCES = (
    "records.py",
    "primitives.py",
    "dense_loops.py",
    "roots_loops.py",
    "chatter_loops.py",
    "events_loops.py",
    "watch_loops.py",
    "adaptive_loops.py",
    "fixed_loops.py",
)
LOOP_OF = {"dopri5": "advance", "dop853": "advance", "rk4": "advance_fixed"}
_ENGINES: list[Any] = []
_ONE_AT_A_TIME = threading.Lock()
_PREPARED: set[str] = set()  # methods whose loops were begun


@remember
def _source_digest() -> str | None:
    """What the loops depend on besides codegen/, or None where the source cannot be read."""
    total = hashlib.blake2b(digest_size=20)
    try:
        for file in SOURCES:
            total.update(Path(__file__).with_name(file).read_bytes())
    except OSError:
        return None
    return total.hexdigest()


def _compile(name: str) -> bytes:
    """Object code of a loop."""
    from kinode.codegen.translate import translate
    from kinode.solve import adaptive_loops, events_loops, fixed_loops

    modules = (adaptive_loops, fixed_loops, events_loops)
    wanted = next(getattr(module, name) for module in modules if hasattr(module, name))
    return machine.compile_text(translate(wanted, PREFIX + name), optimize=True)


@remember
def _load(name: str) -> Loop:
    source = _source_digest()
    code = machine.keep(source and f"loop {name} {source}", lambda: _compile(name))
    engine = machine.load_object(code)
    _ENGINES.append(engine)
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(engine.get_function_address(PREFIX + name))


def loop(name: str) -> Loop:
    """The loop of that name; it takes the address of the array ``layout`` and releases Python's lock."""
    with _ONE_AT_A_TIME:
        return _load(name)


def prepare(method: str) -> None:
    """Begin to load or compile the loop of a method, if it has one, while the caller goes on with the model."""

    def work() -> None:
        with suppress(Exception):  # comes again, and is seen, where the loop is wanted
            loop(LOOP_OF[method])

    if method in LOOP_OF and method not in _PREPARED:  # once: starting a thread takes as long as a short run
        _PREPARED.add(method)
        threading.Thread(target=work, name="kinode loop").start()
