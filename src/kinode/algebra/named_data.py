"""What compiled code gets when it is loaded: numbers of tables, and addresses of functions that are not kinode's.

An external function has several results of several arguments, and is opaque.  On a tape a result of it is one operation
(``external``); machine code calls the function by its address, once for all results of equal arguments.  Its
derivatives are results of other such functions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence


class NamedData(tuple[float, ...]):
    """Numbers of a table that are known by a name: code reads them when it is loaded, and serves other numbers too.

    Two of them are equal if their names and sizes are, whatever the numbers.
    """

    name: str

    def __new__(cls, name: str, numbers: Sequence[float]) -> NamedData:
        data = super().__new__(cls, numbers)
        data.name = name
        return data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedData) and (self.name, len(self)) == (other.name, len(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.name, len(self)))


class ExternalFunction(ABC):
    """A function with a name, by which it is known: two of them with equal names compute the same.

    ``door`` has two numbers that compiled code gets when it is loaded: the address of a C function and that of its
    context, its first argument.  The C function is called as ``door(context, number, arguments, results)``.
    """

    name: str
    owner: str
    """The component that brings it, for messages."""
    door: NamedData
    number: int
    size: int
    """The number of its results."""

    @abstractmethod
    def evaluate(self, arguments: Sequence[float]) -> Sequence[float]:
        """All results; raises where there are none."""

    @abstractmethod
    def derivative(self, result: int, argument: int) -> ExternalResult | None:
        """The derivative of a result by an argument, a function of the same arguments; None where it vanishes."""

    def result_name(self, result: int) -> str:
        """What one of its results is called in formulas."""
        return f"{self.name}_{result + 1}"


class ExternalResult:
    """One result of an external function."""

    __slots__ = ("function", "index")

    def __init__(self, function: ExternalFunction, index: int) -> None:
        self.function, self.index = function, index

    @property
    def name(self) -> str:
        """What tells it from all others."""
        return f"{self.function.name} {self.index}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExternalResult):
            return False
        return (self.function.name, self.index) == (other.function.name, other.index)

    def __hash__(self) -> int:
        return hash((self.function.name, self.index))

    def __repr__(self) -> str:
        return self.function.result_name(self.index)

    def __call__(self, *arguments: float) -> float:
        return float(self.function.evaluate(arguments)[self.index])
