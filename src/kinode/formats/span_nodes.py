"""Nodes of a YAML text with the places where they stand, in characters from its start.

A span leaves out what is around a value: spaces, comments, the break of its last line.  That of a block collection ends
with its last value.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple


class NodeKind(Enum):
    """What a node is."""

    SCALAR = "scalar"
    MAP = "mapping"
    LIST = "list"
    ALIAS = "alias"


class SpanEntry(NamedTuple):
    """An entry of a mapping: its key with the span, line and column of that, and the node of its value."""

    key: str
    start: int
    end: int
    line: int
    column: int
    node: SpanNode


class SpanNode:
    """A value in a text.

    Attributes
    ----------
    kind : NodeKind
        Whether it is a scalar, a mapping, a list or an alias.
    start, end : int
        Its span; an empty value of a mapping stands where its key ends.
    line, column : int
        Where it starts; lines count from 1, columns from 0.
    style : str
        Of a scalar: empty (plain), ``'``, ``"``, ``|`` or ``>``.  Of a mapping ``{`` or ``:``, of a list ``[`` or
        ``-``: in brackets, or by indentation.  Of an alias ``*``.
    value : float, str, bool or None
        The value of a scalar.
    entries : dict
        The entries of a mapping by their keys.
    items : list
        The items of a list.
    anchor : str, optional
        The name by which aliases repeat it.
    target : SpanNode, optional
        What an alias repeats.
    """

    __slots__ = ("anchor", "column", "end", "entries", "items", "kind", "line", "start", "style", "target", "value")

    def __init__(self, kind: NodeKind, start: int, end: int, line: int, column: int, style: str) -> None:
        self.kind, self.start, self.end, self.line, self.column, self.style = kind, start, end, line, column, style
        self.value: Any = None
        self.entries: dict[str, SpanEntry] = {}
        self.items: list[SpanNode] = []
        self.anchor: str | None = None
        self.target: SpanNode | None = None

    def __repr__(self) -> str:
        return f"<{self.kind.value} {self.start}:{self.end}>"

    @property
    def in_flow(self) -> bool:
        """Whether it is a mapping or list in brackets."""
        return self.style in ("{", "[")

    def find(self, *path: str | int) -> SpanNode | None:
        """The node at the end of a path of keys and numbers of items; None where there is none."""
        here: SpanNode | None = self
        for step in path:
            if here is None:
                return None
            if here.kind is NodeKind.MAP and isinstance(step, str):
                here = here.entries[step].node if step in here.entries else None
            elif here.kind is NodeKind.LIST and isinstance(step, int):
                here = here.items[step] if 0 <= step < len(here.items) else None
            else:
                return None
        return here
