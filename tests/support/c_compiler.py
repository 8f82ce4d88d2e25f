"""C text compiled by the system's compiler, or by zig's where there is none, and loaded."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off")
HEAD = """\
#include <math.h>
#include <stdint.h>
#if defined(__GNUC__)
typedef int64_t __attribute__((may_alias)) kn_int;
#else
typedef int64_t kn_int;
#endif
"""
ARGUMENTS = (
    "const double *t, const double *q, const double *u, const double *z, const double *p, const double *inputs, "
    "const double *x, double *work, double *out"
)


def find_compiler() -> list[str]:
    """The command of a C compiler; empty if there is none."""
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    return [sys.executable, "-m", "ziglang", "cc"] if importlib.util.find_spec("ziglang") else []


def compile_library(text: str, folder: Path, flags: Sequence[str] = ("-O0",)) -> ctypes.CDLL:
    """C text as a loaded library; warnings are errors."""
    source, library = folder / "code.c", folder / "code.so"
    source.write_text(HEAD + text)
    command = [*find_compiler(), *FLAGS, *flags, "-fPIC", "-shared", str(source), "-o", str(library), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return ctypes.CDLL(str(library))
