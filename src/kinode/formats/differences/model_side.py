"""One of two models that are compared: its system, and the text that it is from, where that is known."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kinode.errors import ArgumentError, unreadable
from kinode.formats.differences.normal_parts import RUN, WHOLE, FieldPath, Law
from kinode.formats.editing.actions.pasted_parts import typed_value
from kinode.formats.editing.checked_text import CheckedText
from kinode.formats.editing.entry_places import EntryPlaces
from kinode.formats.editing.entry_places import Path as TextPath
from kinode.formats.load import YAML, load, loads
from kinode.formats.yaml_text import read_spans
from kinode.formats.yaml_writer import write_flow
from kinode.model.base.fields import short
from kinode.model.base.parameters import Input, Parameter, RunDefaults
from kinode.model.system import System

INNER_UNITS = {"at": "m", "rpy": "rad", "mass": "kg", "density": "kg/m^3", "size": "m", "radius": "m", "length": "m"}


@dataclass(frozen=True)
class ModelSide:
    """A model with the places of its text.

    Attributes
    ----------
    system : System
        As much of it as could be built.
    label : str
        What it is called in tables.
    places : EntryPlaces, optional
        Its text; None of a system that was made in Python, and of URDF.
    broken : dict
        Components of the text that could not be built, with the reason.
    """

    system: System
    label: str
    places: EntryPlaces | None = None
    broken: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text of the model; empty where there is none."""
        return "" if self.places is None else self.places.text

    def find_path(self, part: str, path: FieldPath) -> TextPath | None:
        """Where a field stands in the text; None where it is not written there."""
        if self.places is None:
            return None
        words: tuple[str | int, ...] = path
        if path[:1] == ("frames",) and len(path) > 1 and self._is_placed(part, path[1]):
            full: TextPath = ("frames", *path[1:])
        elif part == "world" and path:
            full = ("frames", *path)
        else:
            full = self.places.field_path(part, words)
        while len(full) > 2 and self.places.root.find(*full) is None and str(full[-1]) == "at":
            full = full[:-1]  # a place written as three numbers
        return full if self.places.root.find(*full) is not None else None

    def _is_placed(self, body: str, frame: str) -> bool:
        """Whether a frame of a body stands in the section of frames."""
        assert self.places is not None
        node = self.places.root.find("frames", frame)
        if node is None or self.places.kind_of(frame):
            return False
        owner = node.find("body")
        return (owner.value if owner is not None else "world") == body

    def line(self, part: str, path: FieldPath = ()) -> int | None:
        """The line of a field, or of the part that it belongs to."""
        if self.places is None:
            return None
        full = self.find_path(part, path) if path else None
        entry = None if full is None else self.places.entry(full)
        if entry is not None:
            return entry.line
        return self.places.find(part, ".".join(path))[1]

    def words(self, part: str, path: FieldPath, value: Any) -> str:
        """A value as the file writes it, else in SI; a bare number with its unit."""
        unit = self.unit(part, path)
        bare = not isinstance(value, str | bool | Law) and _is_numeric(value)
        written = self.written(part, path)
        if written is not None:
            return f"{written} {unit}" if unit and bare and _is_bare(written) else written
        shown = value.text if isinstance(value, Law) else write_flow(_plain(value))
        return f"{shown} {unit}" if unit and bare else shown

    def written(self, part: str, path: FieldPath) -> str | None:
        """The text of a field as it would be typed; None where it is not written."""
        full = self.find_path(part, path)
        node = None if full is None or self.places is None else self.places.root.find(*full)
        return None if node is None else typed_value(self.text, node)

    def unit(self, part: str, path: FieldPath) -> str:
        """The SI unit of a field; empty if it has none."""
        if len(path) > 1:
            return INNER_UNITS.get(path[-1], "m" if path[0] == "frames" and len(path) == 2 else "")
        if part == WHOLE:
            return "m/s^2" if path == ("gravity",) else ""
        component = RunDefaults if part == RUN else self.system.declared.get(part)
        if isinstance(component, Parameter | Input):
            known = path == ("value",) and component.dimension is not None
            return component.dimension.unit.replace("1", "") if known and component.dimension is not None else ""
        specs = {} if component is None else component.specs()
        return component.field_unit(specs[path[0]][1]) if component is not None and path[0] in specs else ""


def _plain(value: Any) -> Any:
    """A value with laws as text."""
    if isinstance(value, Law):
        return value.text
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _is_numeric(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(_is_numeric(item) for item in value)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_bare(text: str) -> bool:
    """Whether a text is numbers alone, without a unit."""
    words = text.replace("[", " ").replace("]", " ").replace(",", " ").split()
    try:
        return bool([float(word) for word in words])
    except ValueError:
        return False


def read_side(model: Any, label: str | None = None, *, trust: bool = False) -> ModelSide:
    """A system, or the path of a model, as one of two sides."""
    if isinstance(model, System):
        return ModelSide(model, label or model.name)
    if not isinstance(model, str | os.PathLike):
        raise ArgumentError(f"compare: a System or the path of a model is expected, not {short(model)}")
    path = Path(model)
    if path.suffix.lower() not in YAML or not path.is_file():
        system = load(path, trust=trust)
        if not isinstance(system, System):
            raise ArgumentError(f"compare: {path} is a saved run; compare it with another run")
        return ModelSide(system, label or str(path))
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        text = None
    if text is None:
        load(path, trust=trust)  # says what is wrong
        raise unreadable(path, OSError("cannot be read"))
    return side_of_text(text, path, label or str(path), trust=trust)


def side_of_text(text: str, file: Path | None, label: str, *, trust: bool = False) -> ModelSide:
    """A text as one of two sides; an error where its model is wrong."""
    system = loads(text, file, trust=trust)
    return ModelSide(system, label, EntryPlaces(text, read_spans(text)))


def side_of_checked(text: str, checked: CheckedText, label: str) -> ModelSide:
    """An unfinished text as one of two sides: what could be built of it."""
    if not checked.readable:
        raise ArgumentError(f"{label} cannot be compared: {checked.problems[0].message}")
    return ModelSide(checked.system, label, EntryPlaces(text, read_spans(text)), dict(checked.broken))
