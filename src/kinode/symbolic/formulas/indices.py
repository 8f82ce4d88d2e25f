"""Indices of formulas: letters that stand for bodies and joints, sets that sums run over, conditions of cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Value = int | str  # of an index: a number, or the name of a body or joint
Bindings = Mapping[str, Value]


@dataclass(frozen=True)
class Index:
    """An index by its letter: ``i``, ``alpha``."""

    letter: str

    def bound(self, bindings: Bindings) -> Value:
        """Its value."""
        return bindings[self.letter]


@dataclass(frozen=True)
class IndexFunction:
    """An index that follows from others: the parent of k.

    ``pattern`` is how it is written, ``{0}`` being its argument: ``"{0}-1"``, ``"p({0})"``.
    """

    pattern: str
    arguments: tuple[Any, ...]
    function: Callable[..., Value] = field(compare=False)

    def bound(self, bindings: Bindings) -> Value:
        """Its value."""
        return self.function(*(bound(x, bindings) for x in self.arguments))


def bound(place: Any, bindings: Bindings) -> Value:
    """The value of an index; a fixed one is its own."""
    if isinstance(place, Index | IndexFunction):
        return place.bound(bindings)
    fixed: Value = place
    return fixed


@dataclass(frozen=True)
class IndexSet:
    """What an index of a sum runs over.

    Attributes
    ----------
    index : Index
        The index that runs.
    pattern : str
        The condition below the sum sign, in words of indices: ``"{0} behind {1}"``; ``{0}`` is the index itself.
    arguments : tuple
        The other indices in the pattern.
    members : callable
        From the values of ``arguments`` to the values that the index takes.
    upper : str
        The pattern of what stands above the sum sign, if anything: ``"{1}"``.
    """

    index: Index
    pattern: str
    arguments: tuple[Any, ...] = ()
    members: Callable[..., Sequence[Value]] = field(default=tuple, compare=False)
    upper: str = ""

    def values(self, bindings: Bindings) -> Sequence[Value]:
        """The values that the index takes."""
        return self.members(*(bound(x, bindings) for x in self.arguments))


@dataclass(frozen=True)
class IndexCondition:
    """When a case holds, in words of indices: ``"{0} <= {1}"``."""

    pattern: str
    arguments: tuple[Any, ...] = ()
    holds: Callable[..., bool] = field(default=lambda *_: True, compare=False)

    def check(self, bindings: Bindings) -> bool:
        """Whether it holds."""
        return self.holds(*(bound(x, bindings) for x in self.arguments))
