"""Writes a System as YAML text; loading the text gives an equal system.

Floats are written in their shortest exact form, expressions as text, all in SI.  Only fields that differ from their
defaults are written.  A component takes one line if it fits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from kinode.errors import ModelError
from kinode.expressions.lookup_tables import METHODS, OUTSIDE, Table
from kinode.expressions.printer import write_number
from kinode.expressions.syntax_tree import Expression
from kinode.expressions.units import DIMENSIONLESS, Dimension, parse_quantity
from kinode.fmi.fmu_file import FmuFile
from kinode.formats.yaml_text import CONTROL, reads_as_text
from kinode.model.base.bodies import Visual
from kinode.model.base.field_reader import Nested
from kinode.model.base.fields import Component
from kinode.model.base.frames import ZERO, Frame
from kinode.model.base.parameters import Input, Parameter, find_dimension
from kinode.model.base.shapes import Shape
from kinode.model.network.declared_domains import write_domain
from kinode.model.network.declared_parts import DeclaredPart, write_declaration
from kinode.model.network.part import Part
from kinode.model.signals.sampling import write_seconds
from kinode.model.system import System

WIDTH = 120
_PLAIN = re.compile(r"(?!---|\.\.\.)(?:[A-Za-z0-9_(.+]|-(?! ))(?:[A-Za-z0-9_ .()*/+^@<>=-]*[A-Za-z0-9_.()*/+^@<>=-])?")


def write_system(system: System, version: int) -> str:
    """The text of the file."""
    system = system.as_declared()
    writer = PlainRecords(system)
    lines = [
        f"kinode: {version}",
        f"name: {write_scalar(system.name)}",
        f"gravity: {write_flow(writer.plain(system.gravity))}",
    ]
    sections = writer.sections()
    for section, entries in sections.items():
        if entries:
            lines.append(f"{section}:")
            for name, entry in entries.items():
                lines += _entry(name, entry)
    if system.notes:
        lines += ["notes:", *(f"  - {write_scalar(note)}" for note in system.notes)]
    return "\n".join(lines) + "\n"


class PlainRecords:
    """Converts records to plain values: dicts, lists, text and floats."""

    def __init__(self, system: System) -> None:
        self.system = system

    def sections(self) -> dict[str, dict[str, Any]]:
        """The entries of each section by name."""
        system = self.system
        return {
            "domains": {kind: write_domain(domain) for kind, domain in system.domains.items()},
            "components": {kind: self.declaration(cls) for kind, cls in system.kinds.items()},
            "parameters": {name: self.quantity(record) for name, record in system.parameters.items()},
            "inputs": {name: self.quantity(record) for name, record in system.inputs.items()},
            "tables": {name: self.table(table) for name, table in system.tables.items()},
            "bodies": {name: self.component(body) for name, body in system.bodies.items()},
            "frames": {
                **{str(frame.name): self.pose(frame) for frame in system.world.frames},
                **{name: self.component(frame) for name, frame in system.frames.items()},
            },
            "joints": {name: self.component(joint) for name, joint in system.joints.items()},
            "constraints": {name: self.component(constraint) for name, constraint in system.constraints.items()},
            "signals": {name: self.plain(signal.law) for name, signal in system.signals.items()},
            "elements": {name: self.component(element) for name, element in system.elements.items()},
            "run": {name: self.plain(value) for name, value in system.run_defaults.items()},
        }

    def component(self, component: Component) -> dict[str, Any]:
        """The fields of a component as written in a file."""
        fields: dict[str, Any] = {"kind": component.kind} if component.kind else {}
        given = component.given()
        if "a" in given and "b" in given:
            fields["between"] = [self.plain(given.pop("a")), self.plain(given.pop("b"))]
        for name, value in given.items():
            fields |= component.specs()[name][1].kind.write(name, value, self)
        return fields

    def declaration(self, cls: type[Part]) -> dict[str, Any]:
        """The declaration of a component type."""
        return write_declaration(cls.declaration) if issubclass(cls, DeclaredPart) else {}

    def name(self, name: str) -> str:
        """The name of a joint or a node."""
        return name

    def plain(self, value: Any) -> Any:
        if isinstance(value, Expression):
            return value.text()
        if isinstance(value, FmuFile):
            return value.path
        if isinstance(value, Frame):
            return self.frame(value)
        if isinstance(value, Shape):
            return {value.kind: self.shape(value)}
        if isinstance(value, Nested):
            given = {name: self.plain(item) for name, item in value.given().items()}
            return {value.word: given} if value.word else given
        if isinstance(value, Visual):
            return value.plain()
        if isinstance(value, Fraction):
            return write_seconds(value)
        if isinstance(value, tuple):
            return [self.plain(item) for item in value]
        return value

    def shape(self, shape: Shape) -> dict[str, Any]:
        fields = {name: str(size) if name == "file" else self.plain(size) for name, size in shape.sizes}
        for name, value in (("mass", shape.mass), ("density", shape.density)):
            if value is not None:
                fields[name] = self.plain(value)
        if shape.at != ZERO:
            fields["at"] = self.plain(shape.at)
        return fields

    def frame(self, frame: Frame) -> Any:
        """A frame as written in a file: a body, a named frame, or a position on a body."""
        if frame.name is not None:
            try:
                if self.system.find_frame(str(frame)) == frame:
                    return str(frame)
            except ModelError:
                pass
        if frame.is_plain:
            return frame.body
        pose = self.pose(frame)
        return {"body": frame.body, **(pose if isinstance(pose, dict) else {"at": pose})}

    def pose(self, frame: Frame) -> Any:
        """Position and rotation of a frame on its body."""
        fields: dict[str, Any] = {}
        if frame.position != ZERO or (frame.rotation is None and frame.base is None):
            fields["at"] = self.plain(frame.position)
        if frame.rotation is not None:
            fields[frame.rotation[0]] = self.plain(frame.rotation[1])
        if frame.base is not None:
            fields["on"] = self.pose(frame.base)
        return fields["at"] if list(fields) == ["at"] else fields

    def quantity(self, record: Parameter | Input) -> Any:
        """A parameter or input; its value alone if that tells all."""
        value = self.plain(record.value)
        dimension = find_dimension(value, record.value, self.system.parameters)
        fields: dict[str, Any] = {"value": value}
        if record.dimension is not None and dimension is None:  # the value does not tell it by itself
            unit = record.dimension.unit
            if record.dimension == DIMENSIONLESS:
                unit = "rad" if record.angle else "m/m"
            text = f"{write_number(record.value)} {unit}" if isinstance(record.value, float) else ""
            if _read_dimension(text) == record.dimension:
                fields["value"] = value = text
            else:
                fields["unit"] = unit
        if isinstance(record, Parameter):
            if record.bounds is not None:
                fields["bounds"] = list(record.bounds)
            if record.note:
                fields["note"] = record.note
        return fields if len(fields) > 1 else value

    def table(self, table: Table) -> dict[str, Any]:
        axes = [list(axis) for axis in table.axes]
        fields: dict[str, Any] = {"axes": axes[0] if len(axes) == 1 else axes, "values": table.array().tolist()}
        if table.method != METHODS[0]:
            fields["method"] = table.method
        if table.outside != OUTSIDE[0]:
            fields["outside"] = list(table.outside) if isinstance(table.outside, tuple) else table.outside
        return fields


def _read_dimension(text: str) -> Dimension | None:
    """The dimension of a text such as "2 N/m"; none if it is no such text."""
    try:
        quantity = parse_quantity(text)
    except ModelError:
        return None
    return None if quantity is None else quantity.dimension


def _entry(name: str, entry: Any) -> list[str]:
    line = f"  {write_scalar(name)}: {write_flow(entry)}"
    if len(line) <= WIDTH or not isinstance(entry, Mapping):
        return [line]
    return [
        f"  {write_scalar(name)}:",
        *(f"    {write_scalar(key)}: {write_flow(value)}" for key, value in entry.items()),
    ]


def write_flow(value: Any) -> str:
    """A value on one line, mappings in braces and lists in brackets."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{write_scalar(key)}: {write_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(write_flow(item) for item in value) + "]"
    return write_scalar(value)


def write_scalar(value: Any) -> str:
    """A number, a truth value or a text as YAML, quoted where it has to be."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return write_number(value)
    text = str(value)
    if CONTROL.search(text):
        raise ModelError(f"{text!r:.60} holds a control character, which a model file cannot: take it out")
    if _PLAIN.fullmatch(text) and reads_as_text(text):
        return text
    return '"' + "".join(_escape(character) for character in text) + '"'


def _escape(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    code = ord(character)
    if character.isprintable() and not 0xD800 <= code < 0xE000 and code != 0xFEFF:
        return character
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
