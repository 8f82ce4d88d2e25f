"""Numbers of tables that compiled code reads when it is loaded."""

from __future__ import annotations

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
