"""What compiled loops work on, for Python too: numbers in a row, records of numbers, machine code at an address.

A loop that `translate` turns into machine code is plain Python on what this module gives, so that it also runs as it
stands, some thousand times slower, to be followed with a debugger. Nothing here checks an index: there is no length.

A record is a class with annotated fields::

    @struct
    class Ball(Struct):
        height: float
        bounces: int
        path: Floats

Its fields are ``int`` (64 bits), ``float``, `Floats`, `Ints` or another record, which then lies within it. Python sees
a ``ctypes.Structure``, machine code the same bytes. ``ball.path = floats_of(array)`` also keeps the array alive.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, Protocol, TypeVar, cast, get_type_hints

import numpy as np
import numpy.typing as npt


class Floats(Protocol):
    """Real numbers in a row (float64)."""

    def __getitem__(self, index: int, /) -> float: ...
    def __setitem__(self, index: int, value: float, /) -> None: ...


class Ints(Protocol):
    """Integers in a row (int64)."""

    def __getitem__(self, index: int, /) -> int: ...
    def __setitem__(self, index: int, value: int, /) -> None: ...


class Struct(ctypes.Structure):
    """Base of records; fields are declared by annotations, and the class is decorated by `struct`."""


_REAL, _INTEGER = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int64)
_FLOAT64, _INT64 = np.dtype(np.float64), np.dtype(np.int64)
_KERNEL = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 9)
_FIELDS: dict[Any, Any] = {int: ctypes.c_int64, float: ctypes.c_double, Floats: _REAL, Ints: _INTEGER}
S = TypeVar("S", bound=Struct)


def struct(cls: type[S]) -> type[S]:
    """Lay out a record: its fields in the order of their annotations, eight bytes each, or a record within.

    Raises
    ------
    TypeError
        Where a field is of another type.
    """
    fields = []
    for name, hint in field_types(cls).items():
        inner = isinstance(hint, type) and issubclass(hint, Struct)
        if not inner and hint not in _FIELDS:
            raise TypeError(f"{cls.__name__}.{name}: a field is an int, a float, Floats, Ints or a Struct, not {hint}")
        fields.append((name, hint if inner else _FIELDS[hint]))
    cls._fields_ = fields
    return cls


@cache
def field_types(cls: type[Struct]) -> dict[str, Any]:
    """The types of the fields as they are annotated."""
    return {name: hint for name, hint in get_type_hints(cls).items() if name in cls.__annotations__}


def floats(address: int) -> Floats:
    """The real numbers at an address."""
    return cast(Floats, ctypes.cast(address, _REAL))


def tail(values: Floats, start: int) -> Floats:
    """The real numbers from an index on."""
    return floats((ctypes.cast(cast(Any, values), ctypes.c_void_p).value or 0) + 8 * start)


def bits(values: Floats) -> Ints:
    """The bits of real numbers, as integers."""
    return cast(Ints, ctypes.cast(cast(Any, values), _INTEGER))


def floats_of(array: npt.NDArray[np.float64]) -> Floats:
    """The numbers of an array, which lives as long as the record it is assigned to; a read-only one is copied."""
    return cast(Floats, _point_to(array, _FLOAT64, ctypes.c_double, _REAL))


def ints_of(array: npt.NDArray[np.int64]) -> Ints:
    """The same for integers."""
    return cast(Ints, _point_to(array, _INT64, ctypes.c_int64, _INTEGER))


def _point_to(array: npt.NDArray[Any], dtype: np.dtype[Any], number: Any, pointer: Any) -> Any:
    if array.dtype != dtype or not array.flags.c_contiguous:
        raise TypeError(f"{dtype} without gaps is expected, not {array.dtype} of shape {array.shape}")
    if not array.size:
        return None
    return pointer(number.from_buffer(array if array.flags.writeable else array.copy()))


def call(
    kernel: int,
    t: Floats,
    q: Floats,
    u: Floats,
    z: Floats,
    p: Floats,
    inputs: Floats,
    x: Floats,
    work: Floats,
    out: Floats,
) -> None:
    """Call the kernel at an address with its nine arguments."""
    _KERNEL(kernel)(t, q, u, z, p, inputs, x, work, out)
