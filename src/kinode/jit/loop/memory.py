"""The data types of compiled loops: arrays of numbers, records of numbers, kernels called by address.

A loop that `translate` compiles is a plain Python function of these types. It also runs uncompiled, about a thousand
times slower, for instance in a debugger. An array is a pointer without a length: no index is checked.

A record is a class with annotated fields::

    @struct
    class Ball(Struct):
        height: float
        bounces: int
        path: Floats

Its fields are ``int`` (64 bits), ``float``, `Floats`, `Ints` or another record, which is then embedded. In Python it
is a ``ctypes.Structure``; machine code works on the same bytes. ``ball.path = floats_of(array)`` also keeps the array
alive.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, Protocol, TypeVar, cast, get_type_hints

import numpy as np
import numpy.typing as npt


class Floats(Protocol):
    """An array of real numbers (float64)."""

    def __getitem__(self, index: int, /) -> float: ...
    def __setitem__(self, index: int, value: float, /) -> None: ...


class Ints(Protocol):
    """An array of integers (int64)."""

    def __getitem__(self, index: int, /) -> int: ...
    def __setitem__(self, index: int, value: int, /) -> None: ...


class Struct(ctypes.Structure):
    """Base class of records: fields are declared by annotations, and the class is decorated by `struct`."""

    @property
    def kept(self) -> Any:
        """What is kept alive for its pointers, in dictionaries within each other."""
        return self._objects


_REAL, _INTEGER = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int64)
_FLOAT64, _INT64 = np.dtype(np.float64), np.dtype(np.int64)
_KERNEL = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 9)
_FIELDS: dict[Any, Any] = {int: ctypes.c_int64, float: ctypes.c_double, Floats: _REAL, Ints: _INTEGER}
S = TypeVar("S", bound=Struct)


def struct(cls: type[S]) -> type[S]:
    """Lay out a record: the fields in the order of their annotations, of eight bytes each unless they are records.

    Raises
    ------
    TypeError
        If a field has another type.
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
    """The annotated types of the fields, by name."""
    return {name: hint for name, hint in get_type_hints(cls).items() if name in cls.__annotations__}


def floats(address: int) -> Floats:
    """The array of real numbers at an address."""
    return cast(Floats, ctypes.cast(address, _REAL))


def struct_at(cls: type[S], address: int) -> S:
    """The record at an address."""
    return cls.from_address(address)


def tail(values: Floats, start: int) -> Floats:
    """The part of an array that begins at an index."""
    return floats((ctypes.cast(cast(Any, values), ctypes.c_void_p).value or 0) + 8 * start)


def bits(values: Floats) -> Ints:
    """The same memory, read as integers."""
    return cast(Ints, ctypes.cast(cast(Any, values), _INTEGER))


def apart(*limits: int) -> range:
    """A range over entries of arrays of which no two overlap, unless they are the same; it is not checked.

    For the loop that it is written in this saves a comparison of all addresses: short loops take half the time.
    """
    return range(*limits)


def floats_of(array: npt.NDArray[np.float64]) -> Floats:
    """The data of a NumPy array, which the record it is assigned to keeps alive; a read-only array is copied."""
    return cast(Floats, _point_to(array, _FLOAT64, ctypes.c_double, _REAL))


def ints_of(array: npt.NDArray[np.int64]) -> Ints:
    """The data of a NumPy array of integers; see `floats_of`."""
    return cast(Ints, _point_to(array, _INT64, ctypes.c_int64, _INTEGER))


def _point_to(array: npt.NDArray[Any], dtype: np.dtype[Any], number: Any, pointer: Any) -> Any:
    if array.dtype != dtype:
        raise TypeError(f"contiguous {dtype} is expected, not {array.dtype} of shape {array.shape}")
    try:
        return pointer(number.from_buffer(array))
    except (TypeError, ValueError):  # what `from_buffer` refuses; to ask before takes longer than to try
        if not array.flags.c_contiguous:
            raise TypeError(f"contiguous {dtype} is expected, not an array of shape {array.shape}") from None
        return pointer(number.from_buffer(array.copy())) if array.size else None


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


def invoke(function: int, *arguments: int) -> int:
    """Call the C function at an address, one of integers and addresses, while Python's lock is held."""
    result: int = ctypes.PYFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(arguments))(function)(*arguments)
    return result
