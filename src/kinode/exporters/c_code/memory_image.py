"""The memory of a run as C: its records with their numbers, and arrays of its own for all that they point to.

A real run is laid out in Python, before its first step.  Its image in C is the same to the last number, so that nothing
of that layout is written twice.  Addresses of kernels become their numbers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.jit.c.c_numbers import identifier, real, rows
from kinode.jit.loop.memory import Floats, Ints, Struct, field_types


@dataclass(frozen=True)
class ImageArray:
    """An array that a field of a record points to."""

    path: str
    is_whole: bool
    """Whether its entries are integers."""
    values: tuple[float, ...]

    @property
    def member(self) -> str:
        """Its name as a member of the model."""
        return "a_" + self.path.replace(".", "_")

    @property
    def size(self) -> int:
        """Its number of entries; an array without entries has one that nobody reads."""
        return max(1, len(self.values))


@dataclass(frozen=True, eq=False)
class MemoryImage:
    """The image of a record: statements that set its numbers, its arrays, and pointers to what the model has."""

    numbers: tuple[tuple[str, str], ...]
    """Paths of fields, each with its value as C text; zeros are left out."""
    arrays: tuple[ImageArray, ...]
    shared: tuple[tuple[str, str], ...]
    """Paths of pointers, each with the member of the model that it points to."""

    def members(self, int_type: str) -> str:
        """The arrays as members of a structure."""
        lines = [f"    {int_type if x.is_whole else 'double'} {x.member}[{x.size}];" for x in self.arrays]
        return "\n".join(lines)

    def tables(self, prefix: str, int_type: str) -> str:
        """Constant tables of the arrays that are not all zero."""
        parts = []
        for x in self.filled():
            texts = (str(int(v)) if x.is_whole else real(v) for v in x.values)
            kind = int_type if x.is_whole else "double"
            parts.append(f"static const {kind} {prefix}_{x.member}[] = {{\n{rows(texts)}\n}};")
        return "\n".join(parts)

    def filled(self) -> Iterator[ImageArray]:
        """The arrays that are not all zero."""
        return (x for x in self.arrays if any(v != 0.0 for v in x.values))

    def assignments(self, prefix: str, record: str) -> str:
        """Statements that set all numbers and fill all arrays of a model ``m`` that is zero."""
        lines = [f"    {record}.{path} = {text};" for path, text in self.numbers]
        for x in self.filled():
            copy, table = f"{prefix}_copy{'_whole' if x.is_whole else ''}", f"{prefix}_{x.member}"
            lines.append(f"    {copy}(m->{x.member}, {table}, {len(x.values)});")
        return "\n".join(lines)

    def bindings(self, record: str) -> str:
        """Statements that let all pointers of a model ``m`` point to its own arrays."""
        pointers = [*((x.path, x.member) for x in self.arrays), *self.shared]
        return "\n".join(f"    {record}.{path} = m->{member};" for path, member in pointers)


COPY = """static void {name}({kind} *to, const {kind} *from, int n)
{{
    for (int k = 0; k < n; k++) to[k] = from[k];
}}"""
COMPARE = """static int {name}(const double *a, const double *b, int n)
{{
    for (int k = 0; k < n; k++)
        if (a[k] != b[k]) return 1;
    return 0;
}}
"""


def write_copies(prefix: str, images: Sequence[MemoryImage]) -> str:
    """Functions that copy and compare arrays: the library takes none from ``string.h``."""
    parts = [COPY.format(name=f"{prefix}_copy", kind="double")]
    if any(x.is_whole for image in images for x in image.filled()):
        parts.append(COPY.format(name=f"{prefix}_copy_whole", kind=f"{prefix}_loop_int"))
    return "\n".join([*parts, COMPARE.format(name=f"{prefix}_differ")])


def take_image(
    record: Struct, number_of: Mapping[int, int], sizes: Mapping[str, int], member_of: Callable[[str], str | None]
) -> MemoryImage:
    """The image of a record with all that it points to.

    Parameters
    ----------
    record : Struct
    number_of : mapping
        The number of each kernel by its address.
    sizes : mapping
        Sizes of arrays by path, where they are not those of the array that was assigned.
    member_of : callable
        The member of the model that the pointer at a path points to; None where it has an array of its own.
    """
    lengths = _find_lengths(record)
    numbers: list[tuple[str, str]] = []
    arrays: list[ImageArray] = []
    shared: list[tuple[str, str]] = []

    def visit(part: Struct, path: str) -> None:
        for name, hint in field_types(type(part)).items():
            value, here = getattr(part, name), f"{path}{identifier(name)}"
            if hint is int and value:
                numbers.append((here, str(number_of.get(value, value))))
            elif hint is float and (value or value != value):
                numbers.append((here, real(value)))
            elif hint in (Floats, Ints) and (member := member_of(here)) is not None:
                shared.append((here, member))
            elif hint in (Floats, Ints):
                arrays.append(_array(here, value, hint is Ints, lengths, sizes.get(here)))
            elif isinstance(hint, type) and issubclass(hint, Struct):
                visit(value, f"{here}.")

    visit(record, "")
    return MemoryImage(tuple(numbers), tuple(arrays), tuple(shared))


def _array(path: str, pointer: Any, is_whole: bool, lengths: Mapping[int, int], size: int | None) -> ImageArray:
    """The array that a pointer points to."""
    address = ctypes.cast(pointer, ctypes.c_void_p).value or 0
    length = lengths.get(address, 0)
    values: Array = np.zeros(0)
    if address and length:
        kind = ctypes.c_int64 if is_whole else ctypes.c_double
        values = np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(kind)), (length,)).copy()
    if size is not None:
        values = np.concatenate([values[:size], np.zeros(max(0, size - len(values)), dtype=values.dtype)])
    return ImageArray(path, is_whole, tuple(values.tolist()))


def _find_lengths(record: Struct) -> dict[int, int]:
    """The numbers of entries of the arrays that a record keeps alive, by address."""
    lengths: dict[int, int] = {}
    for kept in _memories(record.kept):
        view = np.frombuffer(kept, dtype=np.uint8)
        lengths[view.ctypes.data] = max(lengths.get(view.ctypes.data, 0), view.size // 8)
    return lengths


def _memories(kept: Any) -> Iterator[memoryview]:
    if isinstance(kept, memoryview):
        yield kept
    elif isinstance(kept, dict):
        for value in kept.values():
            yield from _memories(value)
