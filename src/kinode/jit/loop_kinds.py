"""The data types of the loop language (translator.py): numbers, arrays of numbers, records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from kinode.jit.pointers import Floats, Ints, Struct


@dataclass(frozen=True)
class Kind:
    """A data type: its LLVM type, its description in messages, and the type of its entries or fields."""

    llvm: str
    words: str
    entry: Kind | None = None
    """The type of its entries, if it is an array."""
    record: type[Struct] | None = None
    """The class of the record, if it is one."""


INT, REAL, TRUTH = Kind("i64", "an integer"), Kind("double", "a real number"), Kind("i1", "true or false")
FLOATS, INTS = Kind("ptr", "an array of real numbers", REAL), Kind("ptr", "an array of integers", INT)
NOTHING = Kind("void", "nothing")
KINDS: dict[Any, Kind] = {int: INT, float: REAL, bool: TRUTH, Floats: FLOATS, Ints: INTS, None: NOTHING}


def find_kind(annotation: Any) -> Kind | None:
    """The data type of an annotation; None if the loop language has no such type."""
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return Kind("ptr", f"a record {annotation.__name__}", record=annotation)
    return KINDS.get(annotation)


class Value(NamedTuple):
    """An operand of an instruction: its type and its LLVM text."""

    kind: Kind
    text: str

    @property
    def typed(self) -> str:
        """LLVM type and operand."""
        return f"{self.kind.llvm} {self.text}"
