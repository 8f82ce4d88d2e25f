"""Where the components of a model stand in its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinode.formats.model_loader import SECTIONS, TOP
from kinode.formats.span_nodes import NodeKind, SpanEntry, SpanNode
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
