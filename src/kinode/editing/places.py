"""Where the components of a model stand in its text, and where the inside of a subsystem does.

A box is the ``system:`` that is written out in the entry of a subsystem, named by the subsystems that lead to it:
``("leg", "knee")``.  What stands in another file, or is shared by aliases, is no place that can be changed here, and is
refused with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kinode.errors import ArgumentError
from kinode.formats.yaml_files import SECTIONS, TOP
from kinode.formats.yaml_text import NodeKind, SpanEntry, SpanNode
from kinode.model.base.bodies import Body
from kinode.model.base.element import ELEMENTS
from kinode.model.base.fields import Component, Spec
from kinode.model.base.observers.moving_frames import FRAMES
from kinode.model.base.parameters import RunDefaults
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.drive_unit import DriveUnit
from kinode.model.joints.joint import JOINTS
from kinode.model.network.part import Part
from kinode.model.system import System

Path = tuple[str | int, ...]
NAMED = tuple(section for section in SECTIONS if section not in ("domains", "components", "changes"))
DRAWN = ("circuit", "components")
ENDS = {"a": 0, "b": 1}  # of ``between``
SHORT = {"parameters": "value", "inputs": "value", "signals": "law"}  # the field that may stand for a whole entry


class EntryPlaces:
    """The entries of one text by the names of their components."""

    def __init__(self, text: str, root: SpanNode) -> None:
        self.text, self.root = text, root
        self.paths: dict[str, Path] = {}
        for section in NAMED:
            node = root.find(section)
            for name in node.entries if node is not None else ():
                self.paths.setdefault(name, (section, name))
        drawn = root.find(*DRAWN)
        for name in drawn.entries if drawn is not None else ():
            self.paths.setdefault(name, (*DRAWN, name))

    def section_of(self, name: str) -> str:
        """The section that a component stands in; that of a drawn component by its kind; empty if there is none."""
        path = self.paths.get(name)
        if path is None:
            return ""
        if path[:2] != DRAWN:
            return str(path[0])
        kind = self.kind_of(name)
        return "bodies" if kind in ("body", "base") else "joints" if kind in JOINTS else "elements"

    def in_section(self, section: str) -> list[str]:
        """The components of a section, drawn ones included."""
        return [name for name in self.paths if self.section_of(name) == section]

    def entry(self, path: Path) -> SpanEntry | None:
        """The entry of a mapping at the end of a path."""
        parent = self.root.find(*path[:-1])
        if parent is None or parent.kind is not NodeKind.MAP:
            return None
        return parent.entries.get(str(path[-1]))

    def node(self, name: str) -> SpanNode | None:
        """The value of a component's entry."""
        path = self.paths.get(name)
        return None if path is None else self.root.find(*path)

    def kind_of(self, name: str) -> str:
        """The kind that a component's entry gives, or empty."""
        node = self.node(name)
        kind = None if node is None else node.find("kind")
        return kind.value if kind is not None and isinstance(kind.value, str) else ""

    def class_of(self, name: str, kinds: Mapping[str, type[Any]]) -> type[Component] | None:
        """The class of a component, by its section and kind; ``kinds`` are those that the model declares."""
        if name == "run":
            return RunDefaults
        section, kind = self.section_of(name), self.kind_of(name)
        if section == "bodies":
            return Body if kind != "base" else None
        if section == "drives":
            return DriveUnit
        known: Mapping[str, Mapping[str, Any]] = {
            "joints": JOINTS, "constraints": CONSTRAINTS, "frames": FRAMES, "elements": {**ELEMENTS, **kinds},
        }  # fmt: skip
        return known.get(section, {}).get(kind)

    def specs_of(self, name: str, kinds: Mapping[str, type[Any]]) -> dict[str, Spec]:
        """The fields of a component with what they take, those that replace others included."""
        cls = self.class_of(name, kinds)
        if cls is None:
            return {}
        own = {field: spec for field, (_, spec) in cls.specs().items()}
        return {**{field: other.spec for field, other in cls.alternative_fields.items()}, **own}

    def ports_of(self, name: str, system: System) -> Mapping[str, Any]:
        """The ports of a part of a network."""
        cls = self.class_of(name, system.kinds)
        return cls.ports() if cls is not None and issubclass(cls, Part) else {}

    def field_path(self, name: str, field: tuple[str | int, ...]) -> Path:
        """The path of a field of a component, by its words; empty as the name is the top of the file.

        ``a`` and ``b`` are found in ``between``, and an entry that is a value alone is its main field.
        """
        path: Path = () if not name else (name,) if name in TOP else self.paths.get(name, (name,))
        node = self.root.find(*path)
        if not field or node is None:
            return (*path, *field)
        if node.kind is NodeKind.MAP:
            between = node.entries.get("between")
            if field[0] in ENDS and field[0] not in node.entries and between is not None:
                return (*path, "between", ENDS[str(field[0])], *field[1:])
        elif path and SHORT.get(str(path[0])) == field[0] and len(path) == 2:
            return (*path, *field[1:])
        return (*path, *field)

    def find(self, component: str, field: str) -> tuple[tuple[int, int] | None, int | None]:
        """The span and the line of a field, or of the entry that it belongs to; None where they are not known."""
        name = "" if component in ("system", "") else component
        while name and name not in self.paths and name not in TOP and "." in name:
            name = name.rpartition(".")[0]
        words = tuple(field.split(".")) if field else ()
        if name and name not in self.paths and name not in TOP:
            return None, None
        path = self.field_path(name, words)
        while path:
            entry = self.entry(path)
            if entry is not None:
                whole = entry.node.end > entry.node.start and len(path) > (1 if not name else 2)
                span = (entry.node.start, entry.node.end) if whole else (entry.start, entry.end)
                return span, entry.line
            node = self.root.find(*path)
            if node is not None:
                return (node.start, node.end), node.line
            path = path[:-1]
        return None, None


Box = tuple[str, ...]


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
