"""Which computer code was made for, told without LLVM: part of the name of every entry of the cache.

Code uses all that a processor has, so another processor must not find it, nor another version of LLVM: a home folder
may be shared by several computers.  The machine is named too: an emulator may show the description of the processor
that it runs on.  Where the system does not describe its processor, LLVM is asked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache as remember
from importlib.machinery import PathFinder

DESCRIPTION = "/proc/cpuinfo"
LINES = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU ")  # of those that say what it can
LONGEST = 16384  # bytes of the description of one processor


def identify_host(ask_llvm: Callable[[], str]) -> str:
    """The processor, the system and the version of LLVM as text: the same text, the same code."""
    processor, library = _processor(), _library()
    if not (processor and library):
        return ask_llvm()
    machine = os.uname().machine if hasattr(os, "uname") else ""  # wine shows Linux's description to Windows programs
    return f"{sys.platform} {machine}\n{processor}\n{library}"


@remember
def _processor() -> str:
    """What the system says of the first processor, as far as code depends on it; empty if it does not say."""
    try:
        with open(DESCRIPTION, encoding="utf-8", errors="replace") as file:
            first = file.read(LONGEST).partition("\n\n")[0]
    except OSError:
        return ""
    lines = [line for line in first.splitlines() if line.startswith(LINES)]
    return "\n".join(lines) if any(line.startswith(("flags", "Features")) for line in lines) else ""


@remember
def _library() -> str:
    """The version of LLVM, by size and time of the files of llvmlite; empty if they are not ordinary files."""
    place = PathFinder.find_spec("llvmlite")
    if place is None or not place.origin:
        return ""
    folder = os.path.dirname(place.origin)
    try:
        inside = [name for name in sorted(os.listdir(f"{folder}/binding")) if "llvmlite" in name]
        about = [(name, os.stat(f"{folder}/{name}")) for name in ("_version.py", *(f"binding/{x}" for x in inside))]
    except OSError:
        return ""
    return " ".join(f"{name} {status.st_size} {status.st_mtime_ns}" for name, status in about)
