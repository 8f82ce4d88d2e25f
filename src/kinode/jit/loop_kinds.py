"""The kinds of value that a loop holds (translator.py): numbers, rows of numbers, records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from kinode.jit.pointers import Floats, Ints, Struct


@dataclass(frozen=True)
class Kind:
    """The type of a value: LLVM's type for it, its words in messages, and what it is made of."""

    llvm: str
    words: str
    entry: Kind | None = None
    """The kind of its entries, if it is a row."""
    record: type[Struct] | None = None
    """The record, if it is one."""


INT, REAL, TRUTH = Kind("i64", "an integer"), Kind("double", "a real number"), Kind("i1", "true or false")
FLOATS, INTS = Kind("ptr", "real numbers in a row", REAL), Kind("ptr", "integers in a row", INT)
NOTHING = Kind("void", "nothing")
KINDS: dict[Any, Kind] = {int: INT, float: REAL, bool: TRUTH, Floats: FLOATS, Ints: INTS, None: NOTHING}


def find_kind(annotation: Any) -> Kind | None:
    """The kind that an annotation means; None for what a loop cannot hold."""
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return Kind("ptr", f"a record {annotation.__name__}", record=annotation)
    return KINDS.get(annotation)


class Value(NamedTuple):
    """An operand: its kind and LLVM's text for it."""

    kind: Kind
    text: str

    @property
    def typed(self) -> str:
        """Type and operand."""
        return f"{self.kind.llvm} {self.text}"
