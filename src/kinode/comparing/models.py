"""The differences between two models by what they mean, row by row: part, field, both values and both lines.

Both are brought to their normal form, names that only changed are matched, and what is left is compared field by field.
1000 mm and 1 m are equal, and so are laws that differ in the order of their terms; comments and order do not count.
Each side is a system, and the text that it is from, where that is known.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from kinode.comparing.normal_parts import (
    RUN,
    WHOLE,
    FieldPath,
    Law,
    NameMatches,
    NormalPart,
    NormalWriter,
    find_key,
)
from kinode.editing.checked_text import CheckedText
from kinode.editing.copying import typed_value
from kinode.editing.places import EntryPlaces
from kinode.editing.places import Path as TextPath
from kinode.errors import ArgumentError, counted, unreadable
from kinode.formats.law_forms import LawForms
from kinode.formats.load import YAML, load, loads
from kinode.formats.yaml_text import CONTROL, read_spans
from kinode.formats.yaml_writer import write_flow
from kinode.model.base.field_reader import BASE, BODIES, FRAME, JOINT
from kinode.model.base.fields import short
from kinode.model.base.parameters import Input, Parameter, RunDefaults
from kinode.model.network.part import PORT
from kinode.model.system import System
from kinode.sheets.tables import Sheet, Shown, Table

ORDER = (WHOLE, "domains", "components", "parameters", "inputs", "tables", "bodies", "frames", "joints", "systems",
         "constraints", "signals", "elements", "nodes", RUN)  # fmt: skip


def compare_sides(first: ModelSide, second: ModelSide) -> ModelComparison:
    """What differs from the first model to the second."""
    rows = list(_SideComparison(first, second).rows())
    rows.sort(key=lambda row: ORDER.index(row.section) if row.section in ORDER else len(ORDER))
    return ModelComparison(first.label, second.label, tuple(rows))


class _SideComparison:
    """Compares two sides part by part."""

    def __init__(self, first: ModelSide, second: ModelSide) -> None:
        self.first, self.second = first, second
        self.forms = LawForms()
        self.matches = NameMatches(first.system, second.system, self.forms)
        self.names = self.matches.names
        self.before = NormalWriter(first.system, self.forms, self.names).parts()
        self.after = NormalWriter(second.system, self.forms).parts()
        self.broken = {*first.broken, *second.broken}

    def rows(self) -> Iterator[ComparedRow]:
        """All differences."""
        yield from self.renamed()
        for side in (0, 1):
            yield from (self.group(name, side) for name in self.matches.groups_only(side))
        new_names = {self.new_name(key): key for key in self.before}
        for key, part in self.after.items():
            old = new_names.get(key)
            if self.is_grouped(key, 1) or key in self.broken:
                continue
            if old is None or self.before[old].section != part.section:
                yield self.whole(RowChange.ADDED, part)
            else:
                yield from self.fields(self.before[old], part)
        for key, part in self.before.items():
            other = self.after.get(self.new_name(key))
            if self.is_grouped(key, 0) or key in self.broken:
                continue
            if other is None or other.section != part.section:
                yield self.whole(RowChange.REMOVED, part)
        yield from self.broken_rows()

    def new_name(self, key: str) -> str:
        """The name in the second model of a part of the first."""
        if key in self.matches.parts:
            return self.matches.parts[key]
        for old, new in self.matches.groups.items():
            if key.startswith(f"{old}."):
                return new + key.removeprefix(old)
        return key

    def is_grouped(self, name: str, side: int) -> bool:
        """Whether a part belongs to a subsystem or drive that came or went as a whole."""
        return any(name.startswith(f"{group}.") for group in self.matches.groups_only(side))

    # -- parts as a whole --------------------------------------------------------------------------
    def renamed(self) -> Iterator[ComparedRow]:
        """Parts, subsystems, nodes and frames that only have other names."""
        for old, new in {**self.matches.groups, **self.matches.parts}.items():
            section = self.after[new].section if new in self.after else "systems"
            lines = self.first.line(old), self.second.line(new)
            yield ComparedRow(RowChange.RENAMED, section, new, "", old, new, *lines, old)
        for old, new in self.matches.nodes.items():
            yield ComparedRow(RowChange.RENAMED, "nodes", new, "", old, new, old_part=old)
        for old, new in self.matches.frames.items():
            (was, frame), (body, name) = (full.rsplit(".", 1) for full in (old, new))
            lines = self.first.line(was, ("frames", frame)), self.second.line(body, ("frames", name))
            yield ComparedRow(RowChange.RENAMED, "bodies", body, f"frames.{name}", old, new, *lines, was)

    def group(self, name: str, side: int) -> ComparedRow:
        """A subsystem or a drive that one side alone has."""
        model, parts = (self.first, self.before) if side == 0 else (self.second, self.after)
        count = sum(key.startswith(f"{name}.") for key in parts)
        words = counted(count, "component")
        if side == 0:
            return ComparedRow(RowChange.REMOVED, "systems", name, "", words, "", model.line(name), None, name)
        return ComparedRow(RowChange.ADDED, "systems", name, "", "", words, None, model.line(name))

    def whole(self, change: RowChange, part: NormalPart) -> ComparedRow:
        """A part that came or went."""
        side = self.first if change is RowChange.REMOVED else self.second
        words, line = describe_part(side, part), side.line(part.name)
        if change is RowChange.REMOVED:
            return ComparedRow(change, part.section, part.name, "", words, "", line, None, part.name)
        return ComparedRow(change, part.section, part.name, "", "", words, None, line)

    def broken_rows(self) -> Iterator[ComparedRow]:
        """Parts that could not be built on one side, compared as they are written."""
        for name in sorted(self.broken):
            sides = (self.first, self.second)
            before, after = (side.written(name, ()) for side in sides)
            lines = None if before is None else self.first.line(name), None if after is None else self.second.line(name)
            section = next((s.places.section_of(name) for s in sides if s.places and s.places.section_of(name)), "")
            if before != after:
                change = (
                    RowChange.ADDED if before is None else RowChange.REMOVED if after is None else RowChange.CHANGED
                )
                yield ComparedRow(change, section, name, "", before or "", after or "", *lines, name)

    # -- fields ------------------------------------------------------------------------------------
    def fields(self, one: NormalPart, two: NormalPart) -> Iterator[ComparedRow]:
        """The fields of a part that differ."""
        if one.kind != two.kind:
            lines = self.first.line(one.name, ("kind",)), self.second.line(two.name, ("kind",))
            yield ComparedRow(RowChange.CHANGED, two.section, two.name, "kind", one.kind, two.kind, *lines, one.name)
        paths = dict.fromkeys([*two.fields, *(self.new_path(one, path) for path in one.fields)])
        old_paths = {self.new_path(one, path): path for path in one.fields}
        for path in paths:
            before = one.fields.get(old_paths.get(path, path))
            after = two.fields.get(path)
            if before is None or after is None or find_key(before) != find_key(after):
                yield self.field(one, two, old_paths.get(path, path), path, before, after)

    def new_path(self, part: NormalPart, path: FieldPath) -> FieldPath:
        """The path in the second model of a field of the first, whose frames may have other names."""
        if path[0] != "frames" or len(path) < 2:
            return path
        new = self.matches.frames.get(f"{part.name}.{path[1]}")
        return path if new is None else ("frames", new.rpartition(".")[2], *path[2:])

    def field(
        self, one: NormalPart, two: NormalPart, old: FieldPath, path: FieldPath, before: Any, after: Any
    ) -> ComparedRow:  # fmt: skip
        """One field that differs; what one side leaves out is empty there."""
        words = (
            "" if before is None else self.first.words(one.name, old, before),
            "" if after is None else self.second.words(two.name, path, after),
        )
        lines = (
            None if before is None else self.first.line(one.name, old),
            None if after is None else self.second.line(two.name, path),
        )
        component = self.second.system.declared.get(two.name)
        link = component is not None and path[0] in component.fields_of(FRAME, JOINT, PORT, BASE, BODIES)
        percent = find_percent(before, after)
        name = ".".join(path)
        return ComparedRow(RowChange.CHANGED, two.section, two.name, name, *words, *lines, one.name, percent, link)


def find_percent(before: Any, after: Any) -> float | None:
    """The change of a number in per cent of its magnitude; None where that means nothing."""
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (before, after))
    return 100.0 * (after - before) / abs(before) if numbers and before else None


def describe_part(side: ModelSide, part: NormalPart) -> str:
    """A part in a line: its kind and its fields."""
    written = side.written(part.name, ()) if part.name else None
    if written is not None:
        return written
    plain = {".".join(path): v.text if isinstance(v, Law) else v for path, v in part.fields.items()}
    fields = ", ".join(f"{name}: {_flow(value)}" for name, value in plain.items())
    return f"{part.kind} {{{fields}}}".strip()


def _flow(value: Any) -> str:
    if isinstance(value, list | tuple) and any(isinstance(x, Law) for x in value):
        value = [x.text if isinstance(x, Law) else x for x in value]
    return write_flow(value)


WIDEST = 48  # characters of a value in a printed table
WIDEST_CELL = 40  # of a table


class RowChange(Enum):
    """How a row differs: its sign in tables, and its word."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    CHANGED = "changed"

    @property
    def sign(self) -> str:
        """A sign that needs no color."""
        return {"added": "+", "removed": "-", "renamed": ">", "changed": "~"}[self.value]


@dataclass(frozen=True)
class ComparedRow:
    """One difference.

    Attributes
    ----------
    change : RowChange
        Added, removed, renamed or changed, from the first model to the second.
    section : str
        The section of the file: ``bodies``, ``run`` ...; ``nodes`` of a node, empty of the whole.
    part : str
        The part's name in the second model; of a removed part that in the first.  Empty is the whole.
    field : str
        The field, nested ones with dots; empty where the part as a whole came, went or was renamed.
    before, after : str
        Both values with their units, as the files write them; empty where there is none.
    line_before, line_after : int, optional
        Where they stand in both files, if they are in a file.
    old_part : str
        The part's name in the first model.
    percent : float, optional
        The change of a number, in per cent of its magnitude.
    link : bool
        Whether it says what the part is connected to.
    """

    change: RowChange
    section: str
    part: str
    field: str = ""
    before: str = ""
    after: str = ""
    line_before: int | None = None
    line_after: int | None = None
    old_part: str = ""
    percent: float | None = None
    link: bool = False

    @property
    def name(self) -> str:
        """Part and field as one word; ``model`` is the whole."""
        part = self.part or "model"
        return f"{part}.{self.field}" if self.field else part

    @property
    def lines(self) -> str:
        """Both lines, or the one that there is."""
        known = [str(line) for line in (self.line_before, self.line_after) if line is not None]
        return known[0] if len(set(known)) == 1 else " -> ".join(known)

    @property
    def cells(self) -> list[str]:
        """The row of a table: the change, part and field, both values, the change in percent, the lines."""
        change = self.change
        before = shorten(self.before, WIDEST_CELL) or ("" if change is RowChange.ADDED else "default")
        after = shorten(self.after, WIDEST_CELL) or ("" if change is RowChange.REMOVED else "default")
        if change is RowChange.RENAMED and not self.field:
            after = ""
        percent = "" if self.percent is None else describe_percent(self.percent)
        return [f"{change.sign} {change.value}", self.part or "model", self.field, before, after, percent, self.lines]

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        return {
            "change": self.change.value, "section": self.section, "part": self.part, "field": self.field,
            "before": self.before, "after": self.after, "line_before": self.line_before,
            "line_after": self.line_after, "old_part": self.old_part, "percent": self.percent, "link": self.link,
        }  # fmt: skip

    def __str__(self) -> str:
        return f"{self.change.sign} {self.name}: {describe_values(self)}"


@dataclass(frozen=True)
class ModelComparison(Shown):
    """What differs between two models; prints as a table, and is true if anything does.

    Attributes
    ----------
    first, second : str
        The two models.
    rows : tuple of ComparedRow
        The differences, in the order of the sections of a file.
    """

    first: str
    second: str
    rows: tuple[ComparedRow, ...]

    def __bool__(self) -> bool:
        return bool(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ComparedRow]:
        return iter(self.rows)

    @property
    def parts(self) -> list[str]:
        """The parts that differ, each once."""
        return list(dict.fromkeys(row.part for row in self.rows))

    @property
    def verdict(self) -> str:
        """How many rows of each sort, in words."""
        if not self.rows:
            return "no difference"
        counts = {change: sum(row.change is change for row in self.rows) for change in RowChange}
        return ", ".join(f"{count} {change.value}" for change, count in counts.items() if count)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data, for JSON."""
        return {"first": self.first, "second": self.second, "rows": [row.to_dict() for row in self.rows]}

    def __repr__(self) -> str:
        return f"<ModelComparison of {self.first!r} and {self.second!r}: {self.verdict}>"

    def __str__(self) -> str:
        lines = [f"{self.first} -> {self.second}: {self.verdict}"]
        widest = max((len(row.name) for row in self.rows), default=0)
        return "\n".join([*lines, *(
            f"{row.change.sign} {row.name.ljust(widest)}  {describe_values(row)}".rstrip() for row in self.rows
        )])  # fmt: skip

    @property
    def table(self) -> Table:
        """What differs, and where."""
        head = ("", "part", "field", "before", "after", "change", "lines")
        return Table(head, [row.cells for row in self.rows], "wwwwwnn")

    @property
    def sheet(self) -> Sheet:
        return Sheet(f"{self.first} -> {self.second}", f": {self.verdict}", [self.table] if self.rows else [])


def describe_values(row: ComparedRow, widest: int = WIDEST) -> str:
    """Both values of a row in a few words."""
    before, after = shorten(row.before, widest), shorten(row.after, widest)
    if row.change is RowChange.ADDED:
        return after
    if row.change is RowChange.REMOVED:
        return before
    percent = f" ({describe_percent(row.percent)})" if row.percent is not None else ""
    return f"{before or 'default'} -> {after or 'default'}{percent}"


def describe_percent(percent: float) -> str:
    """A change in per cent, with its sign."""
    return f"{percent:+.3g} %" if abs(percent) < 1e4 else f"{percent:+.1e} %"


def shorten(text: str, widest: int) -> str:
    """A text on one line, cut where it is too long; nothing in it commands a terminal."""
    line = CONTROL.sub("?", " ".join(text.split()))
    return line if len(line) <= widest else f"{line[: widest - 3]}..."


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
