"""Taking over a single difference from another model, as a gesture.

A field is set as the other model writes it; where its place in the text does not allow that, the whole field is taken
over, then the whole entry.  Names that only differ between the models are those of the model that is changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kinode.comparing.models import ComparedRow, ModelSide, RowChange, compare_sides, side_of_checked
from kinode.comparing.normal_parts import RUN, WHOLE, FieldPath, Law, NameMatches, NormalPart, NormalWriter
from kinode.editing.checked_text import CheckedText, check_text
from kinode.editing.copying import typed_fields, typed_value
from kinode.editing.draft import ModelDraft
from kinode.editing.gestures import plan_gesture
from kinode.editing.places import DRAWN
from kinode.editing.removing import rename_references
from kinode.editing.spans import apply_edits
from kinode.errors import ArgumentError, Error
from kinode.formats.law_forms import LawForms
from kinode.formats.yaml_text import NodeKind
from kinode.formats.yaml_writer import write_flow

Gesture = dict[str, Any]


def find_taking(row: ComparedRow, other: ModelSide, mine: ModelSide, file: Path | None = None) -> Gesture:
    """The gesture that makes a row of a model as in another one.

    Parameters
    ----------
    row : ComparedRow
        Of the comparison of ``other`` with ``mine``.
    other, mine : ModelSide
        The model to take from, and the one to change, which has a text.
    file : path, optional
        The file that the text is from.

    Raises
    ------
    ArgumentError
        It cannot be patched, with the reason.
    """
    if mine.places is None:
        raise ArgumentError(f"{mine.label} has no text that could be changed")
    reason = f"{row.name} cannot be taken over by itself: change it in the text"
    known = {_identity(each) for each in compare_sides(other, mine)}
    for gesture in _RowTaking(row, other, mine).gestures():
        try:
            text = apply_edits(mine.text, plan_gesture(mine.text, gesture, file).edits)
        except Error as error:
            reason = str(error)
            continue
        if text != mine.text and _is_settled(row, other, text, file, known):
            return {**gesture, "words": f"take over {row.name} from {other.label}"}
    raise ArgumentError(reason)


def _identity(row: ComparedRow) -> tuple[str, str, RowChange]:
    return row.part, row.field, row.change


def _is_settled(
    row: ComparedRow, other: ModelSide, text: str, file: Path | None, known: set[tuple[str, str, RowChange]]
) -> bool:  # fmt: skip
    """Whether a row is gone in a new text; a field must not bring differences that were not there."""
    checked = check_text(text, file)
    if not checked.readable:
        return False
    left = {_identity(each) for each in compare_sides(other, side_of_checked(text, checked, ""))}
    return _identity(row) not in left and (not row.field or left <= known)


class _RowTaking:
    """The gestures that may take over one row, the smallest change first."""

    def __init__(self, row: ComparedRow, other: ModelSide, mine: ModelSide) -> None:
        self.row, self.other, self.mine = row, other, mine
        matches = NameMatches(other.system, mine.system, LawForms())
        self.names: Mapping[str, str] = matches.names
        self.part = row.part or row.old_part

    def gestures(self) -> Iterator[Gesture]:
        """Those that may do."""
        row = self.row
        if row.change is RowChange.RENAMED:
            yield {"do": "rename", "name": row.after, "to": row.before}
            return
        if row.change is RowChange.CHANGED and row.field and row.field != "kind":
            yield from self.field()
        yield from self.entry()

    # -- fields ------------------------------------------------------------------------------------
    def field(self) -> Iterator[Gesture]:
        """The field alone, the field that it is in, or what a model that extends another changes."""
        path = tuple(self.row.field.split("."))
        for part in dict.fromkeys([path, path[:1]]):
            typed = self.typed(part)
            yield self.set(self.part, part, typed)
            if part[0] == "frames" and len(part) > 1:
                yield {"do": "set", "name": part[1], "path": list(part[2:] or ("at",)), "value": typed}
            if self.part not in (WHOLE, RUN):
                yield {"do": "set", "name": "changes", "path": [self.part, *part], "value": typed}

    def set(self, part: str, path: FieldPath, typed: str | None) -> Gesture:
        """The gesture that gives a field its value; an entry without fields of its own is the field."""
        return {"do": "set", "name": part, "path": list(path), "value": typed}

    def typed(self, path: FieldPath) -> str | None:
        """A field of the other model as it would be typed here; None where it has none."""
        old = self.row.old_part
        written = self.other.written(old, path)
        if written is None:
            written = self.normal(old, path)
        return None if written is None else self.translated(written)

    def normal(self, part: str, path: FieldPath) -> str | None:
        """A field that the other model does not write itself, in SI."""
        known = self.parts().get(part)
        inner = {} if known is None else _nested(known, path)
        return None if inner is None or inner == {} else write_flow(inner)

    def parts(self) -> dict[str, NormalPart]:
        """The parts of the other model."""
        return NormalWriter(self.other.system, LawForms()).parts()

    def translated(self, typed: str) -> str:
        """A value with the names of this model."""
        if not self.names:
            return typed
        return self.translate("elements", "x", {"kind": "controller", "value": typed}).get("value", typed)

    def translate(self, section: str, name: str, fields: Mapping[str, str]) -> dict[str, str]:
        """The fields of an entry with the names of this model."""
        draft = ModelDraft("kinode: 1\n", None, CheckedText(self.other.system, (), True, {}))
        draft.add(section, name, fields)
        for old, new in self.names.items():
            rename_references(draft, None, old, new)
        node = draft.root.find(section, name)
        assert node is not None
        if node.kind is not NodeKind.MAP:
            return {next(iter(fields)): typed_value(draft.text, node)}
        return {key: typed_value(draft.text, inner.node) for key, inner in node.entries.items()}

    # -- entries -----------------------------------------------------------------------------------
    def entry(self) -> Iterator[Gesture]:
        """The whole entry: as the other model writes it, or taken out where it has none."""
        if self.part in (WHOLE, RUN):
            return
        section = self.row.section
        if section in ("domains", "components"):
            yield self.plain_entry(section)
            return
        for name in _owners(self.part):
            there = self.other.places
            was = name if name != self.part else self.row.old_part or name
            path = None if there is None else there.paths.get(was)
            mine = self.mine.places.paths.get(name) if self.mine.places is not None else None
            if path is None and mine is None:
                continue
            if path is None or there is None:
                known = self.parts().get(was) if there is None or name == self.part else None
                fields = None if known is None or self.row.change is RowChange.ADDED else _typed_fields(known)
                assert mine is not None
                yield {"do": "take", "section": str(mine[0]), "name": name, "fields": fields}
            elif path[:2] == DRAWN:
                typed = dict(typed_fields(there, DRAWN[0], was))
                yield {"do": "take", "section": DRAWN[0], "name": name, "fields": typed}
            else:
                section = str(path[0])
                fields = self.translate(section, was, dict(typed_fields(there, section, was)))
                yield {"do": "take", "section": section, "name": name, "fields": fields}
        if self.other.places is None and self.row.change is RowChange.REMOVED and self.part in self.parts():
            part = self.parts()[self.part]
            yield {"do": "take", "section": part.section, "name": self.part, "fields": _typed_fields(part)}

    def plain_entry(self, section: str) -> Gesture:
        """A declared kind or domain."""
        places = self.other.places
        node = None if places is None else places.root.find(section, self.part)
        value = None if node is None or places is None else typed_value(places.text, node)
        return {"do": "take", "section": section, "name": self.part, "value": value}


def _owners(name: str) -> Iterator[str]:
    """A part, and what it belongs to."""
    yield name
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _nested(part: NormalPart, path: FieldPath) -> Any:
    """The value of a field, nested ones as a mapping."""
    if path in part.fields:
        return _readable(part.fields[path])
    inner: dict[str, Any] = {}
    for full, value in part.fields.items():
        if full[: len(path)] == path:
            here = inner
            for step in full[len(path) : -1]:
                here = here.setdefault(step, {})
            here[full[-1]] = _readable(value)
    return inner


def _readable(value: Any) -> Any:
    if isinstance(value, Law):
        return value.text
    return [_readable(item) for item in value] if isinstance(value, list | tuple) else value


def _typed_fields(part: NormalPart) -> dict[str, str]:
    fields = {path[0]: write_flow(_nested(part, path[:1])) for path in part.fields}
    return {**({"kind": part.kind} if part.kind else {}), **fields}
