"""An exported model in C, compiled and loaded."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
from c_compiler import FLAGS, find_compiler

import kinode as kn


class LoadedModel:
    """The library of a model; its functions are called by their names without prefix.

    Without a system it is the one that the folder holds.
    """

    def __init__(self, system, folder: Path, **options) -> None:
        self.folder = folder if system is None else kn.export(system, "c", folder, **options)
        self.source = next(file for file in folder.glob("*.c") if file.name != "main.c")
        self.name, self.object = self.source.stem, folder / "model.so"
        flags = [*find_compiler(), *FLAGS, "-O0", "-fPIC", "-I", str(folder)]
        main = ["-c", str(folder / "main.c"), "-o", str(folder / "main.o")]
        for more in (["-shared", str(self.source), "-o", str(self.object), "-lm"], main):
            done = subprocess.run([*flags, *more], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr[:2000]
        self.code = ctypes.CDLL(str(self.object))
        self.model = ctypes.create_string_buffer(1 << 22)
        self("defaults", result=None)

    def __call__(self, function: str, *arguments, result=ctypes.c_int):
        call = getattr(self.code, f"{self.name}_{function}")
        call.restype = result
        return call(self.model, *(ctypes.c_double(x) if isinstance(x, float) else x for x in arguments))

    def constant(self, word: str) -> int:
        """A number of the header."""
        line = next(x for x in self.source.with_suffix(".h").read_text().splitlines() if f"{word} " in x)
        return int(line.split()[-1])

    def outputs(self):
        """The outputs at the present."""
        out = np.zeros(self.constant("N_OUTPUTS"))
        self("outputs", ctypes.c_void_p(out.ctypes.data), result=None)
        return out

    def state(self):
        """The present state."""
        return np.array(self("state", result=ctypes.POINTER(ctypes.c_double))[: self.constant("N_STATES")])

    def set_parameters(self, values) -> None:
        """Set all parameters, which come first in the structure."""
        for k, value in enumerate(values):
            ctypes.c_double.from_buffer(self.model, 8 * k).value = value

    def run(self, t0: float, times):
        """The outputs at some times."""
        assert self("init", float(t0)) == 0
        rows = []
        for t in times:
            assert self("advance", float(t)) == 0
            rows.append(self.outputs())
        return np.array(rows)
