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

Loop = Callable[[int], int]
PREFIX = "kinode_"
LOOP_OF = {"dopri5": "advance", "dop853": "advance", "rk4": "advance_fixed"}
_ENGINES: list[Any] = []
_ONE_AT_A_TIME = threading.Lock()
_PREPARED: set[str] = set()  # methods whose loops were begun


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


def _compile(name: str) -> bytes:
    """Object code of a loop."""
    from kinode.jit.translator import translate
    from kinode.ode.loops import adaptive_step, event_handling, fixed_step

    modules = (adaptive_step, fixed_step, event_handling)
    wanted = next(getattr(module, name) for module in modules if hasattr(module, name))
    return compiler.compile_text(translate(wanted, PREFIX + name), optimize=True)


@remember
def _load(name: str) -> Loop:
    source = _source_digest()
    code = compiler.keep(source and f"loop {name} {source}", lambda: _compile(name))
    engine = compiler.load_object(code)
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
