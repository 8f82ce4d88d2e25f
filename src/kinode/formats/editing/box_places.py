"""Where the inside of a subsystem stands in a text: the ``system:`` that is written out in its entry.

A box is named by the subsystems that lead to it: ``("leg", "knee")``.  What stands in another file, or is shared by
aliases, is no place that can be changed here, and is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinode.errors import ArgumentError
from kinode.formats.span_nodes import NodeKind, SpanEntry, SpanNode

Box = tuple[str, ...]


def read_box(raw: Any) -> Box:
    """The subsystems that lead to a box, from a gesture or a page."""
    given = raw if isinstance(raw, list | tuple) else None
    if given is None or not all(isinstance(name, str) and name for name in given):
        raise ArgumentError(f"box: a list of names of subsystems is expected, not {raw!r:.60}")
    return tuple(given)


def box_prefix(box: Sequence[str]) -> str:
    """What stands before the names of a box in the whole system: ``leg.knee.``"""
    return "".join(f"{name}." for name in box)


def find_box_entry(root: SpanNode, box: Sequence[str]) -> SpanEntry | None:
    """The entry ``system:`` of a box; None for the whole model, which is no box.

    Raises
    ------
    ArgumentError
        If there is no such subsystem, or its inside is not written out here.
    """
    entry: SpanEntry | None = None
    for count, name in enumerate(box, 1):
        shown = ".".join(box[:count])
        systems = root.find("systems")
        if systems is None or name not in systems.entries:
            raise ArgumentError(f"there is no subsystem {shown!r} in this model")
        node = systems.entries[name].node
        for each in (systems, node):
            if each.anchor is not None or each.kind is NodeKind.ALIAS:
                raise ArgumentError(f"{shown} is written once and used in several places (& and *): change the text")
        if "system" not in node.entries:
            file = file_of(node)
            where = f"in the file {file}: open that" if file else "missing: give it a file, or write its system out"
            raise ArgumentError(f"the inside of {shown} is {where}")
        entry = node.entries["system"]
        if entry.node.anchor is not None or entry.node.kind is NodeKind.ALIAS:
            raise ArgumentError(f"the inside of {shown} is shared with others (& and *): change it in the text")
        if entry.node.kind is not NodeKind.MAP:
            raise ArgumentError(f"the inside of {shown} is no mapping with bodies, joints or elements")
        root = entry.node
    return entry


def find_box(root: SpanNode, box: Sequence[str]) -> SpanNode:
    """The inside of a box; that of no box is the whole text."""
    entry = find_box_entry(root, box)
    return root if entry is None else entry.node


def file_of(node: SpanNode) -> str:
    """The file that a subsystem's entry names; empty if it names none."""
    file = node.find("file")
    return file.value if file is not None and isinstance(file.value, str) else ""


def split_box(root: SpanNode, name: str) -> tuple[Box, str]:
    """The box that a component of the whole system stands in, as far as boxes are written out, and its name there."""
    box: list[str] = []
    while True:
        systems = root.find("systems")
        head, _, rest = name.partition(".")
        inner = None if systems is None or not rest else systems.find(head, "system")
        if inner is None or inner.kind is not NodeKind.MAP:
            return tuple(box), name
        box.append(head)
        root, name = inner, rest
