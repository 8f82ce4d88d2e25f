"""Names in a text: every place where an entry refers to a component, a node or a frame, in laws too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kinode.editing.places import DRAWN, NAMED, EntryPlaces, Path
from kinode.errors import ModelError
from kinode.expressions.units import parse_quantity
from kinode.formats.yaml_text import NodeKind, SpanNode
from kinode.model.base.field_reader import IN_FRAMES, IN_LAWS, IN_PORTS
from kinode.model.base.frames import LETTERS, ROTATIONS

NAME = re.compile(r"(?<![\w.])[^\W\d]\w*(?:\.\w+)*")
DRAWN_END = re.compile(r"(?<![\w.])[A-Za-z][\w.]*")
NO_NAMES = ("kind", "file", "note", "unit", "color", "role")
SYSTEM_FIELDS = {"on": IN_FRAMES, "bind": IN_LAWS, "parameters": IN_LAWS, "connect": IN_PORTS}
FRAME_WORDS = ("body", "on")  # of a frame written out


class NameSite(NamedTuple):
    """A place where a name stands.

    Attributes
    ----------
    owner : str
        The component whose entry it is in; empty at the top of the file.
    path : tuple
        The path of the value.
    start, end : int
        The span of the name.
    name : str
        The name as written, with what follows it: ``elbow.q``, ``arm.hand``.
    role : str
        ``frame``, ``joint``, ``port`` or ``law``.
    alone : bool
        Whether the value is this name and nothing else.
    local : frozenset of str
        Names that have a meaning of their own in this law.
    """

    owner: str
    path: Path
    start: int
    end: int
    name: str
    role: str
    alone: bool
    local: frozenset[str] = frozenset()

    def means(self, name: str) -> bool:
        """Whether it refers to a component, node or frame of that name."""
        return self.name == name or self.name.startswith(f"{name}.")


def find_sites(places: EntryPlaces, kinds: Mapping[str, type[Any]]) -> list[NameSite]:
    """All places of a text where names stand; ``kinds`` are those that the model declares."""
    return list(_SiteFinder(places, kinds).sites())


class _SiteFinder:
    """Walks through the values of one text."""

    def __init__(self, places: EntryPlaces, kinds: Mapping[str, type[Any]]) -> None:
        self.places, self.kinds, self.text = places, kinds, places.text

    def sites(self) -> Iterator[NameSite]:
        root = self.places.root
        gravity = root.find("gravity")
        if gravity is not None:
            yield from self.walk("", ("gravity",), gravity, IN_LAWS)
        for section in NAMED:
            node = root.find(section)
            for name, entry in node.entries.items() if node is not None else ():
                yield from self.entry(name, (section, name), entry.node)
        drawn = root.find(*DRAWN)
        for name, entry in drawn.entries.items() if drawn is not None else ():
            yield from self.entry(name, (*DRAWN, name), entry.node)
        connections = root.find("circuit", "connections")
        if connections is not None:
            yield from self.connections(connections)
        changes = root.find("changes")
        for name, entry in changes.entries.items() if changes is not None else ():
            yield NameSite("", ("changes", name), entry.start, entry.end, name, IN_FRAMES, True)
            yield from self.walk(name, ("changes", name), entry.node, IN_LAWS)

    def connections(self, node: SpanNode) -> Iterator[NameSite]:
        """The ends of drawn connections."""
        items = enumerate(node.items) if node.kind is NodeKind.LIST else [(None, node)]
        for k, item in items:
            path: Path = ("circuit", "connections") if k is None else ("circuit", "connections", k)
            for found in DRAWN_END.finditer(self.text, item.start, item.end):
                yield NameSite("", path, *found.span(), found.group(), IN_PORTS, False)

    def entry(self, name: str, path: Path, node: SpanNode) -> Iterator[NameSite]:
        """The names in one entry."""
        section = self.places.section_of(name)
        if section == "tables":
            return
        if node.kind is not NodeKind.MAP or section in ("parameters", "inputs", "signals"):
            yield from self.walk(name, path, node, IN_LAWS)
            return
        specs = self.places.specs_of(name, self.kinds)
        cls = self.places.class_of(name, self.kinds)
        for field, entry in node.entries.items():
            role: str | None = IN_LAWS
            if section == "systems":
                role = SYSTEM_FIELDS.get(field)
            elif section == "frames" and not specs:
                role = IN_FRAMES if field in FRAME_WORDS else IN_LAWS
            elif field == "between":
                role = IN_FRAMES
            elif field in specs:
                role = specs[field].kind.names
            if role is not None and field not in NO_NAMES:
                local = cls.local.get(field, frozenset()) if cls is not None else frozenset()
                yield from self.walk(name, (*path, field), entry.node, role, local)

    def walk(
        self, owner: str, path: Path, node: SpanNode, role: str, local: frozenset[str] = frozenset()
    ) -> Iterator[NameSite]:  # fmt: skip
        """The names in a value, however nested."""
        if node.kind is NodeKind.SCALAR:
            yield from self.scalar(owner, path, node, role, local)
        for k, item in enumerate(node.items):
            yield from self.walk(owner, (*path, k), item, role, local)
        for key, entry in node.entries.items():
            if key in NO_NAMES:
                continue
            inner = IN_FRAMES if key in FRAME_WORDS else IN_LAWS if role == IN_FRAMES else role
            yield from self.walk(owner, (*path, key), entry.node, inner, local)

    def scalar(
        self, owner: str, path: Path, node: SpanNode, role: str, local: frozenset[str]
    ) -> Iterator[NameSite]:  # fmt: skip
        value = node.value
        if not isinstance(value, str) or (value in LETTERS and _is_direction(path)):
            return
        if role == IN_LAWS and _is_quantity(value):
            return
        for found in NAME.finditer(self.text, node.start, node.end):
            escaped = node.style == '"' and self.text[found.start() - 1] == "\\"
            if not escaped and found.group() not in local:
                yield NameSite(owner, path, *found.span(), found.group(), role, found.group() == value, local)


def _is_direction(path: Path) -> bool:
    """Whether a letter in this place is an axis."""
    words = ("axis", "axes", "normal", "along", "upright", *ROTATIONS)
    return any(step in words for step in path)


def _is_quantity(value: str) -> bool:
    """Whether a text is a number with its unit, which is no name."""
    try:
        return parse_quantity(value) is not None
    except ModelError:
        return False
