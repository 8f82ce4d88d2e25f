"""LLVM through the C functions of llvmlite's library, without llvmlite's Python.

Why: importing ``llvmlite.binding`` takes 55 ms of processor time, of which the library itself is 7 ms; and it lets one
thread into LLVM at a time.  Here every text has a context of its own, so that threads compile side by side.  The
functions are llvmlite's own and not promised to anybody, so this way is taken only with versions that were tried
(0.50) or whose sources were read (0.48, 0.49); with any other ``binding_door.py`` does the same.
"""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
from importlib.machinery import PathFinder

KNOWN_VERSIONS = ("0.48.", "0.49.", "0.50.")
TEXT = POINTER(c_char_p)
SIGNATURES = {
    "InitializeNativeTarget": (c_int,),
    "InitializeNativeAsmPrinter": (c_int,),
    "GetVersionInfo": (c_uint,),
    "GetHostCPUFeatures": (c_int, TEXT),
    "GetHostCPUName": (None, TEXT),
    "GetDefaultTargetTriple": (None, TEXT),
    "DisposeString": (None, c_char_p),
    "ContextCreate": (c_void_p,),
    "ContextDispose": (None, c_void_p),
    "ParseAssembly": (c_void_p, c_void_p, c_char_p, TEXT),
    "DisposeModule": (None, c_void_p),
    "GetTargetFromTriple": (c_void_p, c_char_p, TEXT),
    "CreateTargetMachine": (
        c_void_p, c_void_p, c_char_p, c_char_p, c_char_p, c_int, c_char_p, c_char_p, c_int, c_int, c_char_p,
    ),
    "DisposeTargetMachine": (None, c_void_p),
    "TargetMachineEmitToMemory": (c_void_p, c_void_p, c_void_p, c_int, TEXT),
    "GetBufferStart": (c_void_p, c_void_p),
    "GetBufferSize": (c_size_t, c_void_p),
    "DisposeMemoryBuffer": (None, c_void_p),
    "CreateNewModulePassManager": (c_void_p,),
    "DisposeNewModulePassManger": (None, c_void_p),
    "module_AddAlwaysInlinerPass": (None, c_void_p),
    "module_AddSROAPass": (None, c_void_p),
    "module_AddSimplifyCFGPass": (None, c_void_p),
    "module_AddInstCombinePass": (None, c_void_p),
    "CreatePipelineTuningOptions": (c_void_p,),
    "DisposePipelineTuningOptions": (None, c_void_p),
    "CreatePassBuilder": (c_void_p, c_void_p, c_void_p),
    "DisposePassBuilder": (None, c_void_p),
    "RunNewModulePassManager": (None, c_void_p, c_void_p, c_void_p),
}  # fmt: skip
"""The functions that are called, less ``LLVMPY_``: what each returns, and its arguments."""


def find_version(folder: str) -> str:
    """The version of llvmlite as its files say it, without running them; empty if it cannot be read."""
    try:
        with open(f"{folder}/_version.py", encoding="utf-8") as file:
            lines = file.read(4096).splitlines()
    except (OSError, ValueError):
        return ""
    named = [line.partition("=")[2].strip(" '\"") for line in lines if line.startswith("version_version")]
    return named[0] if named else ""


def open_door() -> LibraryDoor | None:
    """LLVM through llvmlite's library; None where that version, or that system, is not known."""
    place = PathFinder.find_spec("llvmlite")
    if os.name != "posix" or place is None or not place.origin:
        return None
    folder = os.path.dirname(place.origin)
    version = find_version(folder)
    if not version.startswith(KNOWN_VERSIONS):
        return None
    name = "libllvmlite.dylib" if sys.platform == "darwin" else "libllvmlite.so"
    try:
        return LibraryDoor(ctypes.CDLL(f"{folder}/binding/{name}"), version)
    except (OSError, AttributeError):  # it is not there, or lacks a function
        return None


class LibraryDoor:
    """LLVM by calls of the library's functions."""

    def __init__(self, library: ctypes.CDLL, version: str) -> None:
        self._call = {}
        for name, (result, *arguments) in SIGNATURES.items():
            self._call[name] = function = getattr(library, f"LLVMPY_{name}")
            function.restype, function.argtypes = result, arguments
        self._call["InitializeNativeTarget"]()
        self._call["InitializeNativeAsmPrinter"]()
        number, parts = self._call["GetVersionInfo"](), list[int]()
        while number:
            parts.append(number & 0xFF)
            number >>= 8
        self.version = f"llvmlite {version} LLVM {tuple(reversed(parts))}"

    def describe(self) -> tuple[str, str, str]:
        """Triple, name and features of this processor; no features where LLVM cannot tell them."""
        features = self._told("GetHostCPUFeatures").split(",")
        flags = ",".join(sorted((one for one in features if one), key=lambda one: one[1:]))
        return self._told("GetDefaultTargetTriple"), self._told("GetHostCPUName"), flags

    def compile(self, text: str, level: int, optimize: bool, host: tuple[str, str, str]) -> bytes:
        """Object code of LLVM text."""
        call, error = self._call, c_char_p()
        context = call["ContextCreate"]()
        module = machine = None
        try:
            module = call["ParseAssembly"](context, text.encode(), byref(error))
            if error.value is not None:
                raise RuntimeError(f"LLVM IR parsing error\n{self._take(error)}")
            machine = self._make_machine(level, host)
            if optimize:
                self._optimize(module, machine)
            return self._emit(module, machine)
        finally:
            if machine:
                call["DisposeTargetMachine"](machine)
            if module:
                call["DisposeModule"](module)
            call["ContextDispose"](context)

    def _make_machine(self, level: int, host: tuple[str, str, str]) -> int:
        """What LLVM needs to know to make code of a level for the host."""
        error, (triple, cpu, features) = c_char_p(), (one.encode() for one in host)
        target = self._call["GetTargetFromTriple"](triple, byref(error))
        if not target:
            raise RuntimeError(self._take(error))
        machine: int | None = self._call["CreateTargetMachine"](
            target, triple, cpu, features, level, b"default", b"jitdefault", 0, 1, b""
        )
        if not machine:
            raise RuntimeError("LLVM cannot make code for this processor")
        return machine

    def _optimize(self, module: int, machine: int) -> None:
        """Run the passes for code with loops and calls (llvm_code.py)."""
        call = self._call
        options, passes = call["CreatePipelineTuningOptions"](), call["CreateNewModulePassManager"]()
        builder = call["CreatePassBuilder"](machine, options)
        for name in ("AlwaysInliner", "SROA", "SimplifyCFG", "InstCombine"):
            call[f"module_Add{name}Pass"](passes)
        call["RunNewModulePassManager"](passes, module, builder)
        call["DisposePassBuilder"](builder)
        call["DisposeNewModulePassManger"](passes)
        call["DisposePipelineTuningOptions"](options)

    def _emit(self, module: int, machine: int) -> bytes:
        """The bytes of the object file."""
        error = c_char_p()
        buffer = self._call["TargetMachineEmitToMemory"](machine, module, 1, byref(error))
        if not buffer:
            raise RuntimeError(self._take(error))
        code = ctypes.string_at(self._call["GetBufferStart"](buffer), self._call["GetBufferSize"](buffer))
        self._call["DisposeMemoryBuffer"](buffer)
        return code

    def _told(self, name: str) -> str:
        """What a function writes."""
        out = c_char_p()
        self._call[name](byref(out))
        return self._take(out)

    def _take(self, out: c_char_p) -> str:
        """The text of a string of LLVM, which is given back."""
        words = (out.value or b"").decode(errors="replace")
        self._call["DisposeString"](out)
        return words
