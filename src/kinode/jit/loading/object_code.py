"""Object code in memory and in the cache: what makes it is asked only where the cache does not have it.

The symbols that code needs are those of the C library and those that ``provide`` registers.  Object files of Linux on
64-bit x86 are loaded by ``elf_memory.py``; all others by LLVM, which is imported then.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache as remember
from typing import Any, Protocol

from kinode.jit import code_cache
from kinode.jit.loading import elf_memory
from kinode.jit.loading.host_identity import identify_host
from kinode.jit.tiers.waiting_words import waiting_words

LIBRARY = (
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "atan2", "pow", "floor", "fma",
)  # fmt: skip
"""Functions of the C library that kernels call."""
RUNTIME = ("memcpy", "memmove", "memset", "__chkstk")
"""What the code generator calls by itself; the last one on Windows, in functions with more than a page of variables."""
_PROVIDED: dict[str, int] = {}  # symbols and their addresses


class LoadedCode(Protocol):
    """Code in memory; it lives as long as this object does."""

    def get_function_address(self, name: str) -> int:
        """Where a function is."""
        ...

    def get_global_value_address(self, name: str) -> int:
        """Where a variable is."""
        ...


def provide(name: str, address: int) -> None:
    """Register a symbol for code that is loaded later."""
    _PROVIDED[name] = address


def load_object(code: bytes) -> LoadedCode:
    """Load object code into memory."""
    if elf_memory.is_supported():
        try:
            return elf_memory.place_object(code, find_symbol)
        except (elf_memory.UnknownForm, ValueError, IndexError):
            pass  # LLVM knows more forms
    return _load_by_llvm(code)


def find_entry(key: str | None) -> str | None:
    """The entry of the cache for a key, this package's source, the host and LLVM; None if nothing is cached."""
    return None if key is None else code_cache.digest(key, identify_host(_ask_llvm))


def is_kept(key: str) -> bool:
    """Whether there may be bytes in the cache for a key; whether they are whole is seen when they are read."""
    entry, place = find_entry(key), code_cache.directory()
    return entry is not None and place is not None and (place / entry).is_file()


def keep(
    key: str | None, make: Callable[[], bytes], words: str = "", saves: Callable[[], bool] = lambda: True
) -> bytes:
    """The bytes that are cached for a key, this package's source, the host and LLVM; else those of ``make()``.

    Without a key nothing is cached, nor what ``saves()`` refuses after it was made.  ``words`` say what is made, for a
    person who waits.
    """
    entry = find_entry(key)
    code = None if entry is None else code_cache.load(entry)
    if code is None:
        with waiting_words(words):
            code = make()
        if entry is not None and saves():
            code_cache.save(entry, code)
    return code


@remember
def _libraries() -> tuple[ctypes.CDLL, ...]:
    """Where the functions of the C library are: in Python's own process first."""
    if sys.platform == "win32":
        return (ctypes.CDLL("ucrtbase"), ctypes.CDLL("ntdll"))  # the latter has what RUNTIME names
    found = [ctypes.CDLL(None)]
    if not hasattr(found[0], "atan2"):
        from ctypes.util import find_library

        found.append(ctypes.CDLL(find_library("m")))
    return tuple(found)


def find_symbol(name: str) -> int:
    """The address of a symbol; 0 if it is not known."""
    if name not in _PROVIDED:
        function = next((getattr(library, name) for library in _libraries() if hasattr(library, name)), None)
        if function is None:
            return 0
        _PROVIDED[name] = ctypes.cast(function, ctypes.c_void_p).value or 0
    return _PROVIDED[name]


def _ask_llvm() -> str:
    from kinode.jit.llvm_code import host

    return "\n".join(host())


def _load_by_llvm(code: bytes) -> LoadedCode:
    """Code that LLVM has loaded; the engine owns it."""
    import llvmlite.binding as binding

    from kinode.jit.llvm_code import host
    from kinode.jit.llvm_doors.binding_door import BindingDoor

    for name in (*LIBRARY, *RUNTIME):
        if not binding.address_of_symbol(name):
            find_symbol(name)
    for name, address in _PROVIDED.items():
        binding.add_symbol(name, address)
    engine: Any = binding.create_mcjit_compiler(binding.parse_assembly(""), BindingDoor().make_target(1, host()[:3]))
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    owner: LoadedCode = engine
    return owner
