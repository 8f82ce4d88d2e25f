"""Numbers at an address, and machine code at one: what compiled loops work on, for Python too.

A loop that `translate` turns into machine code is plain Python on what this module gives, so that it also runs as it
stands, some thousand times slower, to be followed with a debugger. Nothing here checks an index: there is no length.
"""

from __future__ import annotations

import ctypes
from typing import Protocol, cast


class Floats(Protocol):
    """Real numbers in a row (float64)."""

    def __getitem__(self, index: int, /) -> float: ...
    def __setitem__(self, index: int, value: float, /) -> None: ...


class Ints(Protocol):
    """Integers in a row (int64)."""

    def __getitem__(self, index: int, /) -> int: ...
    def __setitem__(self, index: int, value: int, /) -> None: ...


_REAL, _INTEGER = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int64)
_KERNEL = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 9)


def floats(address: int) -> Floats:
    """The real numbers at an address."""
    return cast(Floats, ctypes.cast(address, _REAL))


def ints(address: int) -> Ints:
    """The integers at an address."""
    return cast(Ints, ctypes.cast(address, _INTEGER))


def call(address: int, t: int, q: int, u: int, z: int, p: int, inputs: int, x: int, work: int, out: int) -> None:
    """Call the kernel at an address with the addresses of its nine arguments."""
    _KERNEL(address)(t, q, u, z, p, inputs, x, work, out)
