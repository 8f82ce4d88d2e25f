"""The compiled integrator loops: from the cache on disk, or compiled now, which takes a tenth of a second.

An entry is named by the source of the loops and of jit/, the version of LLVM and the processor; where the cache
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

from kinode.jit import compiler
from kinode.jit.pointers import Struct

Loop = Callable[[Struct], int]
PREFIX = "kinode_"
TOGETHER = (
    ("advance_adaptive",),
    ("advance_fixed",),
    ("advance_outside", "check_events", "check_between"),
    ("run_groups",),
)
"""Loops that are compiled together, since they are used together."""
_ENGINES: list[Any] = []
_ONE_AT_A_TIME = threading.Lock()
_PREPARED: set[str] = set()  # loops that were begun


@remember
def _source_digest() -> str | None:
    """What the loops depend on besides jit/, or None where the source cannot be read."""
    total = hashlib.blake2b(digest_size=20)
    try:
        for file in sorted(Path(__file__).with_name("loops").glob("*.py")):
            total.update(file.read_bytes())
    except OSError:
        return None
    return total.hexdigest()


def find_source(name: str) -> Loop:
    """The loop as it is written in Python, which Python runs as it stands."""
    from kinode.ode.loops import advance, batch_groups, event_triggers

    modules = (advance, event_triggers, batch_groups)
    loop: Loop = next(getattr(module, name) for module in modules if hasattr(module, name))
    return loop


def _compile(names: tuple[str, ...]) -> bytes:
    """Object code of loops."""
    from kinode.jit.translator import translate_together

    text = translate_together({PREFIX + name: find_source(name) for name in names})
    return compiler.compile_text(text, optimize=True)


@remember
def _load(names: tuple[str, ...]) -> dict[str, Loop]:
    source = _source_digest()
    code = compiler.keep(source and f"loop {names[0]} {source}", lambda: _compile(names))
    engine = compiler.load_object(code)
    _ENGINES.append(engine)
    return {name: _function(engine.get_function_address(PREFIX + name)) for name in names}


def _function(address: int) -> Loop:
    """The machine code at an address as a function of a record; it releases Python's lock."""
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(address)

    def loop(record: Struct) -> int:
        code: int = call(ctypes.addressof(record))
        return code

    return loop


def loop(name: str) -> Loop:
    """The loop of that name, which takes its record (loops/run_memory.py)."""
    with _ONE_AT_A_TIME:
        return _load(next(names for names in TOGETHER if name in names))[name]


def prepare(name: str) -> None:
    """Begin to load or compile a loop while the caller goes on with the model."""

    def work() -> None:
        with suppress(Exception):  # comes again, and is seen, where the loop is wanted
            loop(name)

    if name not in _PREPARED:  # once: starting a thread takes as long as a short run
        _PREPARED.add(name)
        threading.Thread(target=work, name="kinode loop").start()
