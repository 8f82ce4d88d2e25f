"""Loads the compiled integrator loops from the cache on disk, or compiles them, which takes a tenth of a second.

The key of a cache entry is the source of the loops and of jit/, the version of LLVM and the processor. Where the cache
cannot be written, each process compiles the loops again.  Loops that advance runs come in two tiers (``jit/tiers``):
code of low effort at once, a third of the time; runs take up to twice as long with it until better code is there.
Nothing in these texts may be rounded in two ways, so the numbers are the same.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from kinode.jit.code_cache import source_digest
from kinode.jit.loop.memory import Struct
from kinode.jit.machine_code import find_entry, keep, load_object

Loop = Callable[[Struct], int]
PREFIX = "kinode_"
_ENGINES: list[Any] = []  # keeps the machine code in memory
_LOAD_LOCK = threading.Lock()
_PREPARED: set[str] = set()  # loops whose loading was started in the background


class CompiledLoop:
    """The machine code at an address as a function of a record; it releases Python's lock."""

    __slots__ = ("_call", "address")

    def __init__(self, address: int) -> None:
        self.lead_to(address)

    def lead_to(self, address: int) -> None:
        """Use the code at this address from the next call on."""
        self.address = address
        self._call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(address)

    def __call__(self, record: Struct) -> int:
        code: int = self._call(ctypes.addressof(record))
        return code


_LOADED: dict[str, CompiledLoop] = {}


def _source_digest() -> str | None:
    """A digest of the source of the loops, or None where it cannot be read."""
    return source_digest("ode/loops") or None


def find_source(name: str) -> Loop:
    """The loop as a Python function, which Python can run too."""
    from kinode.ode.loops import advance, batch_groups

    loop: Loop = getattr(advance if hasattr(advance, name) else batch_groups, name)
    return loop


def load_loops(
    source: str | None, names: tuple[str, ...], find: Callable[[str], Loop], tiered: bool = False
) -> dict[str, CompiledLoop]:
    """The machine code of loops, compiled together or from the cache.

    Parameters
    ----------
    source : str or None
        The key of the cache, with what ``keep`` adds to it; None for no cache.
    names : tuple of str
    find : callable
        Gives the Python function of a name, where they are compiled.
    tiered : bool
        Whether new code is of low effort first, and exchanged later.
    """
    key, texts = source and f"loop {names[0]} {source}", list[str]()

    def make() -> bytes:
        from kinode.jit.llvm_code import compile_text
        from kinode.jit.loop.translator import translate_together
        from kinode.jit.tiers.better_code import is_wanted

        text = translate_together({PREFIX + name: find(name) for name in names})
        if not tiered or not is_wanted(find_entry(key)):
            return compile_text(text, optimize=True)
        texts.append(text)
        return compile_text(text, 0, optimize=True)

    code = keep(key, make, "the integrator", saves=lambda: not texts)
    loops = {name: CompiledLoop(address) for name, address in _place(code, names).items()}

    entry = find_entry(key)
    if texts and entry is not None:
        _improve(loops, texts[0], entry)
    return loops


def _improve(loops: Mapping[str, CompiledLoop], text: str, entry: str) -> None:
    """Have better code made, and use it from then on."""
    from kinode.jit.tiers import better_code

    def use(code: bytes) -> None:
        for name, address in _place(code, tuple(loops)).items():
            loops[name].lead_to(address)

    better_code.improve(better_code.Wanted(entry, b"", text, 2, optimize=True), use)


def _place(code: bytes, names: tuple[str, ...]) -> dict[str, int]:
    """Where the loops of object code are in memory, for good."""
    engine = load_object(code)
    _ENGINES.append(engine)
    return {name: engine.get_function_address(PREFIX + name) for name in names}


def loop(name: str) -> CompiledLoop:
    """The compiled loop of that name, a function of its record (ode/loops/run_memory.py)."""
    with _LOAD_LOCK:
        if name not in _LOADED:
            _LOADED.update(load_loops(_source_digest(), (name,), find_source, name.startswith("advance_")))
        return _LOADED[name]


def prepare(name: str) -> None:
    """Load or compile a loop in a background thread: LLVM does not hold Python's lock."""

    def work() -> None:
        with suppress(Exception):  # it is raised again where the loop is used
            loop(name)

    if name not in _PREPARED:  # once: starting a thread takes as long as a short run
        _PREPARED.add(name)
        threading.Thread(target=work, name="kinode loop").start()
