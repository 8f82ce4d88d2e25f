"""Values of fields that are plain numbers and texts, and the expressions inside all others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from kinode.expressions.syntax_tree import Expression

PLAIN_TYPES = frozenset({float, str, int, bool, type(None)})


def is_plain_tuple(value: Any) -> bool:
    """Whether a value is a tuple of numbers, texts and nothing else."""
    return type(value) is tuple and PLAIN_TYPES.issuperset(map(type, value))


def is_plain(value: Any) -> bool:
    """Whether there is surely no expression in a value; a record may tell it by ``has_plain_numbers``."""
    return is_plain_tuple(value) or bool(getattr(value, "has_plain_numbers", False))


def find_expressions(value: Any) -> Iterable[Expression]:
    """The expressions inside a value, however nested."""
    if type(value) in PLAIN_TYPES or is_plain_tuple(value):
        return
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from find_expressions(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            if type(item) is not float:
                yield from find_expressions(item)
    elif dataclasses.is_dataclass(value):
        for name in value.__dataclass_fields__:
            item = getattr(value, name)
            if type(item) not in PLAIN_TYPES and not is_plain_tuple(item):
                yield from find_expressions(item)
