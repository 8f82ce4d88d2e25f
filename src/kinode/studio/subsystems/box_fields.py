"""The fields of a subsystem as its user sees them: one for each parameter, input and node inside, and its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from kinode.errors import Error
from kinode.formats.editing.box_places import Box, file_of
from kinode.formats.editing.checked_text import TolerantLoader, check_text
from kinode.formats.editing.entry_places import EntryPlaces
from kinode.formats.span_nodes import NodeKind
from kinode.model.system import System
from kinode.views.style import number

Plain = dict[str, Any]


class TextVersion(Protocol):
    """A text, the place of its file, and the subsystem that is meant of it."""

    @property
    def text(self) -> str: ...
    @property
    def place(self) -> Path: ...
    @property
    def box(self) -> Box: ...


def load_inside(of: TextVersion, places: EntryPlaces, name: str) -> System | None:
    """The system that a subsystem's entry describes or names; None where it cannot be read."""
    node = places.node(name)
    if node is None or node.kind is not NodeKind.MAP:
        return None
    try:
        if "system" in node.entries:
            return check_text(of.text, of.place, box=(*of.box, name)).system
        loader = TolerantLoader(of.place, of.place.parent, False, ())
        return loader.load_other(file_of(node), "file", whole=False)
    except Error:
        return None


def describe_box(places: EntryPlaces, name: str) -> str:
    """What a subsystem is, in a sentence."""
    node = places.node(name)
    file = "" if node is None else file_of(node)
    return f"A subsystem of the file {file}." if file else "A subsystem. Enter opens it."


def box_rows(of: TextVersion, places: EntryPlaces, name: str) -> Iterator[tuple[tuple[str, ...], Plain]]:
    """The fields of a subsystem, each with the path that leads to it in its entry."""
    node = places.node(name)
    if node is not None and file_of(node):
        yield (), _row("file", "text", "the file that it is read from", required=True)
    yield (), _row("on", "frame", "the body or frame that its world becomes", "world")
    inner = load_inside(of, places, name)
    if inner is None:
        return
    for each in inner.parameters.values():
        unit = "" if each.dimension is None else each.dimension.unit
        default = f"{number(inner.nominal(each.value))} {unit}".strip()
        yield ("parameters",), _row(each.name, "number", each.note or "a parameter of the subsystem", default, unit)
    for name_ in inner.inputs:
        yield ("bind",), _row(name_, "law", "an input of the subsystem: what is it given?")
    for node_name, at in inner.nodes.items():
        if at.joint is None and not at.reference:
            words = f"a node of the subsystem, {at.kind}: the node, joint or reference outside"
            yield ("connect",), _row(node_name, "port", words)


def _row(
    name: str, shape: str, doc: str, default: str | None = None, unit: str = "", required: bool = False
) -> Plain:  # fmt: skip
    return {
        "name": name, "shape": shape, "unit": unit, "dimension": "", "default": default, "doc": doc, "choices": [],
        "required": required,
    }  # fmt: skip
