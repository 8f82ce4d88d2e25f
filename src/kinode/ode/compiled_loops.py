"""Loads the compiled integrator loops from the cache on disk, or compiles them, which takes a tenth of a second.

The key of a cache entry is the source of the loops and of jit/, the version of LLVM and the processor. Where the cache
cannot be written, each process compiles the loops again.
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
COMPILED_TOGETHER = (
    ("advance_adaptive",),
    ("advance_fixed",),
    ("advance_outside", "check_events", "check_between"),
    ("run_groups",),
)
"""Groups of loops that are compiled together, since they are used together."""
_ENGINES: list[Any] = []  # keeps the machine code in memory
_LOAD_LOCK = threading.Lock()
_PREPARED: set[str] = set()  # loops whose loading was started in the background


@remember
def _source_digest() -> str | None:
    """A digest of the source of the loops, or None where it cannot be read."""
    digest = hashlib.blake2b(digest_size=20)
    try:
        for file in sorted(Path(__file__).with_name("loops").glob("*.py")):
            digest.update(file.read_bytes())
    except OSError:
        return None
    return digest.hexdigest()


def find_source(name: str) -> Loop:
    """The loop as a Python function, which Python can run too."""
    from kinode.ode.loops import advance, batch_groups, event_triggers

    modules = (advance, event_triggers, batch_groups)
    loop: Loop = next(getattr(module, name) for module in modules if hasattr(module, name))
    return loop


def _compile(names: tuple[str, ...]) -> bytes:
    """Object code of some loops."""
    from kinode.jit.translator import translate_together

    text = translate_together({PREFIX + name: find_source(name) for name in names})
    return compiler.compile_text(text, optimize=True)


@remember
def _load(names: tuple[str, ...]) -> dict[str, Loop]:
    source = _source_digest()
    code = compiler.keep(source and f"loop {names[0]} {source}", lambda: _compile(names))
    engine = compiler.load_object(code)
    _ENGINES.append(engine)
    return {name: loop_at(engine.get_function_address(PREFIX + name)) for name in names}


def loop_at(address: int) -> Loop:
    """The machine code at an address as a function of a record; it releases Python's lock."""
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(address)

    def loop(record: Struct) -> int:
        code: int = call(ctypes.addressof(record))
        return code

    return loop


def loop(name: str) -> Loop:
    """The compiled loop of that name, a function of its record (loops/run_memory.py)."""
    with _LOAD_LOCK:
        return _load(next(names for names in COMPILED_TOGETHER if name in names))[name]


def prepare(name: str) -> None:
    """Load or compile a loop in a background thread."""

    def work() -> None:
        with suppress(Exception):  # it is raised again where the loop is used
            loop(name)

    if name not in _PREPARED:  # once: starting a thread takes as long as a short run
        _PREPARED.add(name)
        threading.Thread(target=work, name="kinode loop").start()
