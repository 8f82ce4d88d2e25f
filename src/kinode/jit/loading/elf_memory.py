"""Puts an ELF object file into memory, so that its functions can be called: 64-bit x86 on Linux.

Why our own: the loader of LLVM does the same, but to import and start LLVM takes longer than all else that a process
needs before its first call of a kernel that is in the cache; and while LLVM compiles one kernel, it loads no other.
LLVM writes code for memory of any size (its large code model), where every address is a full one: the only kind of
relocation is "write 8 bytes here".  A file with anything else is left to LLVM.

Code lies in pages that can be executed and not written, constants in pages that can only be read.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Callable
from functools import cache as remember
from typing import Any

import numpy as np

from kinode.named_tuples import NamedTuple

HEADER = np.dtype(
    [("mark", "V16"), ("type", "<u2"), ("machine", "<u2"), ("version", "<u4"), ("entry", "<u8"), ("segments", "<u8"),
     ("sections", "<u8"), ("flags", "<u4"), ("sizes", "<u2", 3), ("size", "<u2"), ("count", "<u2"), ("names", "<u2")]
)  # fmt: skip
SECTION = np.dtype(
    [("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"), ("offset", "<u8"), ("size", "<u8"),
     ("link", "<u4"), ("info", "<u4"), ("alignment", "<u8"), ("entry", "<u8")]
)  # fmt: skip
SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
RELOCATION = np.dtype([("offset", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
MARK = b"\x7fELF\x02\x01\x01"  # 64 bits, the lowest byte first
RELOCATABLE, X86_64, ADDRESS = 1, 62, 1  # type of the file, its machine, type of a relocation
SYMBOLS, ADDED, EMPTY = 2, 4, 8  # types of sections: symbols, relocations, nothing but zeros
WRITTEN, LOADED, EXECUTED = 1, 2, 4  # flags of sections
MOST_SPECIAL = 0xFF00  # sections from here on are none
PAGE = mmap.PAGESIZE


class UnknownForm(Exception):
    """The object file has something that is left to LLVM."""


@remember
def is_supported() -> bool:
    """Whether this host has such object files."""
    return sys.platform == "linux" and os.uname().machine == "x86_64" and sys.maxsize > 2**32


class _System(NamedTuple):
    """The functions of the operating system for pages."""

    map: Any
    protect: Any
    unmap: Any


@remember
def _system() -> _System:
    library = ctypes.CDLL(None, use_errno=True)
    pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    kinds = {
        "mmap": (pointer, (pointer, size, number, number, number, ctypes.c_int64)),
        "mprotect": (number, (pointer, size, number)),
        "munmap": (number, (pointer, size)),
    }
    functions = []
    for name, (result, arguments) in kinds.items():
        function = library[name]
        function.restype, function.argtypes = result, arguments
        functions.append(function)
    return _System(*functions)


class CodeMemory:
    """The memory of one object file; it is given back when nobody holds this object any more."""

    def __init__(self, size: int) -> None:
        self._system, self.size = _system(), size
        readable = mmap.PROT_READ | mmap.PROT_WRITE
        place = self._system.map(None, size, readable, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        if place in (None, ctypes.c_void_p(-1).value):
            self.size = 0
            raise UnknownForm("no memory")
        self.address: int = place
        self.symbols: dict[str, int] = {}

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if self.size and not is_ending():  # threads may run the code until the process has ended
            self._system.unmap(self.address, self.size)

    def protect(self, start: int, end: int, how: int) -> None:
        """Say what may be done with whole pages."""
        if end > start and self._system.protect(self.address + start, end - start, how):
            raise UnknownForm("the system refuses pages of this kind")

    def get_function_address(self, name: str) -> int:
        """Where a function is; 0 if there is none of that name."""
        return self.symbols.get(name, 0)

    def get_global_value_address(self, name: str) -> int:
        """Where a variable is; 0 if there is none of that name."""
        return self.symbols.get(name, 0)


def place_object(code: bytes, find: Callable[[str], int]) -> CodeMemory:
    """An object file in memory.

    Parameters
    ----------
    code : bytes
    find : callable
        Gives the address of a symbol that the file needs; 0 if it is not known.

    Raises
    ------
    UnknownForm
        Where the file has anything that is not expected of LLVM's code for this host.
    """
    sections = _read_sections(code)
    starts, ends = _lay_out(sections)
    memory = CodeMemory(ends[-1])
    content = bytearray(ends[-1])
    for section, start in zip(sections, starts, strict=True):
        if start >= 0 and section["type"] != EMPTY:
            at, size = int(section["offset"]), int(section["size"])
            content[start : start + size] = code[at : at + size]
    tables = np.flatnonzero(sections["type"] == SYMBOLS)
    if len(tables) != 1:
        raise UnknownForm("symbols")
    addresses = _read_symbols(code, sections, sections[tables[0]], starts, memory, find)
    for section in sections[sections["type"] == ADDED]:
        target = starts[int(section["info"])]
        if target >= 0:
            relocations = _entries(code, section, RELOCATION)
            if (relocations["offset"] + np.uint64(8) > sections["size"][int(section["info"])]).any():
                raise UnknownForm("relocation outside of its section")
            _relocate(content, target, relocations, addresses)
    ctypes.memmove(memory.address, bytes(content), len(content))
    memory.protect(0, ends[0], mmap.PROT_READ | mmap.PROT_EXEC)
    memory.protect(ends[0], ends[1], mmap.PROT_READ)
    return memory


def _read_sections(code: bytes) -> np.ndarray:
    """The table of sections."""
    if not code.startswith(MARK):
        raise UnknownForm("no ELF file")
    header = np.frombuffer(code, HEADER, 1)[0]
    if (header["type"], header["machine"], header["size"]) != (RELOCATABLE, X86_64, SECTION.itemsize):
        raise UnknownForm("another kind of file")
    sections = np.frombuffer(code, SECTION, int(header["count"]), int(header["sections"]))
    if ((sections["offset"] + sections["size"] > len(code)) & (sections["type"] != EMPTY)).any():
        raise UnknownForm("section outside of the file")
    return sections


def _entries(code: bytes, section: np.void, kind: np.dtype[Any]) -> np.ndarray:
    """The entries of a table."""
    return np.frombuffer(code, kind, int(section["size"]) // kind.itemsize, int(section["offset"]))


def _lay_out(sections: np.ndarray) -> tuple[list[int], list[int]]:
    """Where each section begins (-1: not in memory), and where the pages of code, constants and variables end."""
    flags = sections["flags"]
    loaded = (flags & LOADED).astype(bool) & (sections["size"] > 0)
    kinds = np.where(flags & EXECUTED, 0, np.where(flags & WRITTEN, 2, 1))
    starts, ends, end = [-1] * len(sections), list[int](), 0
    for kind in range(3):
        for k in np.flatnonzero(loaded & (kinds == kind)):
            alignment = max(1, int(sections["alignment"][k]))
            starts[k] = -(-end // alignment) * alignment
            end = starts[k] + int(sections["size"][k])
        end = -(-end // PAGE) * PAGE
        ends.append(end)
    if not ends[0]:
        raise UnknownForm("no code")
    return starts, ends


def _read_symbols(
    code: bytes, sections: np.ndarray, table: np.void, starts: list[int], memory: CodeMemory, find: Callable[[str], int]
) -> np.ndarray:
    """The address of each symbol; those with names that others may use are noted in the memory."""
    symbols = _entries(code, table, SYMBOL)
    names = int(sections["offset"][int(table["link"])])
    bases = np.array([memory.address + start if start >= 0 else 0 for start in starts], dtype=np.uint64)
    inside = (symbols["section"] > 0) & (symbols["section"] < MOST_SPECIAL)
    addresses = np.zeros(len(symbols), dtype=np.uint64)
    addresses[inside] = bases[symbols["section"][inside]] + symbols["value"][inside]
    for k in np.flatnonzero(symbols["info"] >> 4):  # not local
        start = names + int(symbols["name"][k])
        name = code[start : code.index(b"\0", start)].decode()
        if inside[k]:
            memory.symbols[name] = int(addresses[k])
            continue
        addresses[k] = find(name)
        if not addresses[k]:
            raise UnknownForm(name)
    return addresses


def _relocate(content: bytearray, start: int, relocations: np.ndarray, addresses: np.ndarray) -> None:
    """Write the addresses into a section."""
    if (relocations["type"] != ADDRESS).any():
        raise UnknownForm("relocation")
    targets = addresses[relocations["symbol"]]
    if not targets.all():
        raise UnknownForm("symbol")
    values = targets + relocations["addend"].astype(np.uint64)
    places = relocations["offset"] + np.uint64(start)
    for shift in range(8):  # eight views, whose entries begin at different bytes
        chosen = places % 8 == shift
        if chosen.any():
            words = np.frombuffer(content, "<u8", (len(content) - shift) // 8, shift)
            words[places[chosen] // 8] = values[chosen]
