"""Models in a normal form: parts with their fields in SI, laws by meaning, fields at their defaults left out.

How a file writes it does not matter: units, order, comments, short forms, the section of a frame.  Names can be
replaced on the way, so that parts that only have other names compare as equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from kinode.expressions.law_forms import LawForms, round_number
from kinode.expressions.syntax_tree import Expression
from kinode.formats.yaml_writer import PlainRecords
from kinode.model.base.fields import Component
from kinode.model.base.frames import Frame
from kinode.model.base.parameters import Input, Parameter
from kinode.model.system import System

FieldPath = tuple[str, ...]
Rename = Callable[[str], str]
WHOLE, RUN = "", "run"
REFERRING = ("port", "joint", "frame", "base", "bodies")  # shapes of fields whose texts are names
_WORD = re.compile(r"[^\W\d]\w*(?:\.\w+)*")


class Law(NamedTuple):
    """A law: its text, and the number of its form, by which laws are compared."""

    text: str
    form: int


class NormalPart(NamedTuple):
    """A part of a model: section, name, kind, and its fields by path."""

    section: str
    name: str
    kind: str
    fields: dict[FieldPath, Any]

    def key(self) -> Any:
        """What is equal for parts that differ in name alone."""
        fields = ((_without_frame(path), find_key(value)) for path, value in self.fields.items())
        return self.section, self.kind, frozenset(fields)


def _without_frame(path: FieldPath) -> FieldPath:
    """A path without the name of a frame of a body."""
    return ("frames", *path[2:]) if path[0] == "frames" and len(path) > 1 else path


def rename_words(text: str, names: Mapping[str, str]) -> str:
    """A text with other names; of a dotted word the longest beginning that is a name is replaced."""

    def replace(found: re.Match[str]) -> str:
        head, tail = found.group(), ""
        while head:
            if head in names:
                return names[head] + tail
            head, dot, last = head.rpartition(".")
            tail = f"{dot}{last}{tail}"
        return found.group()

    return _WORD.sub(replace, text) if names else text


class NormalWriter(PlainRecords):
    """Writes the parts of a system in their normal form.

    Parameters
    ----------
    system : System
    forms : LawForms
        Shared by all that is compared.
    names : mapping
        Other names for components, nodes and frames.
    """

    def __init__(self, system: System, forms: LawForms, names: Mapping[str, str] | None = None) -> None:
        super().__init__(system.as_declared())
        self.forms, self.names = forms, dict(names or {})

    def parts(self) -> dict[str, NormalPart]:
        """All parts by name; those of kinds and domains behind the name of their section; the whole as ""."""
        system = self.system
        top: dict[str, Any] = {"name": system.name, "gravity": self.plain(system.gravity)}
        if system.notes:
            top["notes"] = list(system.notes)
        parts = {WHOLE: NormalPart(WHOLE, WHOLE, "", dict(flatten(top)))}
        for section, entries in self.sections().items():
            if section == RUN:
                parts[RUN] = NormalPart(RUN, RUN, "", dict(flatten(entries)))
                continue
            for name, entry in entries.items():
                fields = entry if isinstance(entry, Mapping) else {_main_field(section): entry}
                kind = str(fields.get("kind", "")) if section not in ("domains", "components") else ""
                key = f"{section}.{name}" if section in ("domains", "components") else name
                plain = {field: value for field, value in fields.items() if not kind or field != "kind"}
                parts[key] = NormalPart(section, name, kind, dict(flatten(plain)))
        return parts

    def component(self, component: Component) -> dict[str, Any]:
        """The fields of a component; sides of a joint one by one."""
        fields = super().component(component)
        if "between" in fields:
            a, b = fields.pop("between")
            fields = {"kind": component.kind, "a": a, "b": b, **fields}
        for name, (field, spec) in component.specs().items():
            referring = spec.shape in REFERRING or (spec.shape == "axes" and component.section == "elements")
            if name in fields and referring:
                given = getattr(component, field.name)
                words = isinstance(given, str) or (isinstance(given, tuple) and all(isinstance(x, str) for x in given))
                fields[name] = self._renamed(fields[name]) if words else fields[name]
        return fields

    def plain(self, value: Any) -> Any:
        """A value; a law by its form."""
        if isinstance(value, Expression):
            law = value.rename(lambda word: rename_words(word, self.names)) if self.names else value
            return Law(value.text(), self.forms.find(law))
        return super().plain(value)

    def quantity(self, record: Parameter | Input) -> Any:
        """A parameter or an input with its dimension, however that is written."""
        fields: dict[str, Any] = {"value": self.plain(record.value)}
        if record.dimension is not None:
            fields["unit"] = record.dimension.unit
        if isinstance(record, Parameter):
            fields |= {"bounds": list(record.bounds)} if record.bounds is not None else {}
            fields |= {"note": record.note} if record.note else {}
        return fields

    def frame(self, frame: Frame) -> Any:
        """A frame by name, or by its body and place."""
        plain = super().frame(frame)
        return {**plain, "body": self._renamed(plain["body"])} if isinstance(plain, dict) else self._renamed(plain)

    def _renamed(self, value: Any) -> Any:
        if isinstance(value, str):
            return rename_words(value, self.names)
        return [self._renamed(item) for item in value] if type(value) is list else value


def _main_field(section: str) -> str:
    return {"signals": "law", "frames": "at"}.get(section, "value")


def flatten(fields: Mapping[str, Any], before: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """The values of nested mappings by their paths."""
    for name, value in fields.items():
        if isinstance(value, Mapping) and value:
            yield from flatten(value, (*before, str(name)))
        else:
            yield (*before, str(name)), value


def find_key(value: Any) -> Any:
    """What is equal for equal values: numbers to twelve digits, laws by form."""
    if isinstance(value, Law):
        return "law", value.form
    if isinstance(value, list | tuple):
        return tuple(find_key(item) for item in value)
    if isinstance(value, Mapping):
        return frozenset((key, find_key(item)) for key, item in value.items())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return round_number(value)
