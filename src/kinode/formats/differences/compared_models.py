"""The differences between two models by what they mean.

Both are brought to their normal form, names that only changed are matched, and what is left is compared field by field.
1000 mm and 1 m are equal, and so are laws that differ in the order of their terms; comments and order do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kinode.expressions.law_forms import LawForms
from kinode.formats.differences.compared_rows import ComparedRow, ModelComparison, RowChange
from kinode.formats.differences.model_side import ModelSide
from kinode.formats.differences.name_matches import NameMatches
from kinode.formats.differences.normal_parts import (
    REFERRING,
    RUN,
    WHOLE,
    FieldPath,
    Law,
    NormalPart,
    NormalWriter,
    find_key,
)
from kinode.formats.yaml_writer import write_flow

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
        words = f"{count} component{'s' * (count != 1)}"
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
        spec = None if component is None else component.specs().get(path[0])
        link = spec is not None and spec[1].shape in REFERRING
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
