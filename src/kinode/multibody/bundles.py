"""Equal parts of a system, computed side by side: one call of a function for all of them.

A function that is traced for each of forty links spends most of its time in Python between the operations.  Given
``Bundle`` scalars, which hold one scalar for each link, it runs once.  Each operation on a bundle is done for each of
its scalars by itself, with all simplifications, so that a tape gets the same operations, in another order.

``map_alike`` finds the calls whose arguments have the same structure; a function that it is given must work for every
scalar type and may not ask for the value of one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import islice
from typing import Any, Protocol, TypeVar

import numpy as np

from kinode.algebra.scalars import ARITHMETIC, Scalar, apply, is_number, register_scalar_type
from kinode.algebra.spatial import ArticulatedInertia, Pose, RigidInertia
from kinode.algebra.trace import Traced

LEAST = 3  # calls; fewer are not worth taking their arguments apart
RECORDS: dict[type, tuple[str, ...]] = {
    Pose: ("R", "p", "turn"), RigidInertia: ("mass", "moment", "J"), ArticulatedInertia: ("J", "H", "M"),
}  # fmt: skip

T = TypeVar("T")


class Bundle:
    """Scalars with the same meaning in several equal parts."""

    __slots__ = ("entries",)

    def __init__(self, entries: list[Scalar]) -> None:
        self.entries = entries

    def __add__(self, other: Scalar) -> Scalar:
        if type(other) is Bundle:
            return _join([a + b for a, b in zip(self.entries, other.entries, strict=True)])
        return _join([a + other for a in self.entries]) if _is_plain(other) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        if type(other) is Bundle:
            return _join([a - b for a, b in zip(self.entries, other.entries, strict=True)])
        return _join([a - other for a in self.entries]) if _is_plain(other) else NotImplemented

    def __rsub__(self, other: Scalar) -> Scalar:
        return _join([other - a for a in self.entries]) if _is_plain(other) else NotImplemented

    def __mul__(self, other: Scalar) -> Scalar:
        if type(other) is Bundle:
            return _join([a * b for a, b in zip(self.entries, other.entries, strict=True)])
        if type(other) is float and other == 0.0:
            return 0.0
        return _join([a * other for a in self.entries]) if _is_plain(other) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        if type(other) is Bundle:
            return _join([a / b for a, b in zip(self.entries, other.entries, strict=True)])
        return _join([a / other for a in self.entries]) if _is_plain(other) else NotImplemented

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return _join([other / a for a in self.entries]) if _is_plain(other) else NotImplemented

    def __neg__(self) -> Scalar:
        return Bundle([-a for a in self.entries])

    def __pos__(self) -> Bundle:
        return self

    def __pow__(self, exponent: Scalar) -> Scalar:
        return apply("pow", self, exponent)


def _is_plain(x: object) -> bool:
    """Whether x can be an entry of a bundle: duals and affine forms have bundles inside instead."""
    return type(x) is Traced or is_number(x)


def _join(entries: list[Scalar]) -> Scalar:
    """The bundle; a plain number where it is the same one for all."""
    first = entries[0]
    if type(first) is float and entries.count(first) == len(entries):
        return first
    return Bundle(entries)


def _apply_bundle(name: str, args: tuple[Scalar, ...]) -> Scalar:
    if name in ARITHMETIC:
        return ARITHMETIC[name](*args)
    count = next(len(arg.entries) for arg in args if type(arg) is Bundle)
    columns = [arg.entries if type(arg) is Bundle else [arg] * count for arg in args]
    return _join([apply(name, *each) for each in zip(*columns, strict=True)])


register_scalar_type(Bundle, _apply_bundle, wraps=1)


class Owner(Protocol):
    """What the arguments of a call belong to, such as a joint; owners are alike if they are of one kind."""

    @property
    def kind(self) -> str:
        """The name of the kind."""
        ...


def map_alike(
    function: Callable[..., T], calls: Sequence[tuple[Any, ...]], owners: Sequence[Owner] | None = None
) -> list[T]:
    """The results of a function for each tuple of arguments; traced calls with arguments of one form run as one.

    Arguments are scalars, arrays, poses, inertias, tuples and named tuples of these, and None.  With ``owners``, the
    function is given that of each call first.
    """
    first: Sequence[tuple[Owner, ...]] = [()] * len(calls) if owners is None else [(owner,) for owner in owners]
    if len(calls) < LEAST:
        return [function(*owner, *call) for owner, call in zip(first, calls, strict=True)]
    groups: dict[Any, list[tuple[int, list[Scalar]]]] = {}
    for k, (owner, call) in enumerate(zip(first, calls, strict=True)):
        scalars: list[Scalar] = []
        form = (tuple([each.kind for each in owner]), _take(call, scalars))
        groups.setdefault(form if _are_traced(scalars) else k, []).append((k, scalars))
    results: list[Any] = [None] * len(calls)
    for form, group in groups.items():
        if len(group) < LEAST:
            for k, _ in group:
                results[k] = function(*first[k], *calls[k])
            continue
        bundles = map(_join, map(list, zip(*(scalars for _, scalars in group), strict=True)))
        result = function(*first[group[0][0]], *_build(form[1], bundles))
        for (k, _), part in zip(group, _split(result, len(group)), strict=True):
            results[k] = part
    return results


def _are_traced(scalars: list[Scalar]) -> bool:
    """Whether there is a node among plain numbers; other scalars are not put into bundles."""
    types = set(map(type, scalars))
    return Traced in types and all(kind is Traced or issubclass(kind, (float, int, np.number)) for kind in types)


def _take(argument: Any, scalars: list[Scalar]) -> Hashable:
    """Append the scalars of an argument; its form is returned."""
    kind = type(argument)
    if kind is np.ndarray:
        scalars += argument.ravel().tolist()
        return kind, argument.shape, argument.dtype.char
    if kind is Traced or kind is float:
        scalars.append(argument)
        return None
    if kind in RECORDS:
        return kind, *[_take(getattr(argument, field), scalars) for field in RECORDS[kind]]
    if isinstance(argument, tuple):
        return kind, *[_take(part, scalars) for part in argument]
    if argument is None or kind is int:
        return None, argument
    scalars.append(argument)
    return None


def _build(form: Any, scalars: Iterator[Scalar]) -> Any:
    """The argument of a form, with the next scalars."""
    if form is None:
        return next(scalars)
    kind = form[0]
    if kind is np.ndarray:
        return _build_array(form[1], form[2], scalars)
    if kind is None:
        return form[1]
    parts = [_build(part, scalars) for part in form[1:]]
    return tuple(parts) if kind is tuple else kind(*parts)


def _build_array(shape: tuple[int, ...], char: str, scalars: Iterator[Scalar]) -> np.ndarray:
    """Of plain numbers if all arrays were and their entries are the same; else of objects."""
    entries = list(islice(scalars, math.prod(shape)))
    if char != "O" and not any(type(x) is Bundle for x in entries):
        return np.array(entries, dtype=char).reshape(shape)
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(shape)


def _split(result: Any, count: int) -> list[Any]:
    """The results of the parts, from one with bundles."""
    kind = type(result)
    if isinstance(result, Bundle):
        return result.entries
    if kind is np.ndarray and result.dtype == object:
        entries = [x.entries if type(x) is Bundle else [x] * count for x in result.flat]
        arrays = np.empty((count, result.size), dtype=object)
        for k, column in enumerate(entries):
            arrays[:, k] = column
        return list(arrays.reshape(count, *result.shape))
    if kind in RECORDS:
        fields = [_split(getattr(result, field), count) for field in RECORDS[kind]]
        return [kind(*each) for each in zip(*fields, strict=True)]
    if isinstance(result, tuple):
        parts = [_split(part, count) for part in result]
        if kind is tuple:
            return list(zip(*parts, strict=True)) if parts else [()] * count
        return [kind(*each) for each in zip(*parts, strict=True)]
    return [result] * count
