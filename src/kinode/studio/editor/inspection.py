"""A component in full for the inspector: its fields as written, with unit, default, documentation and value.

A subsystem has the fields that its user sees: one for each parameter, input and node inside, and its place.  Lookup
tables are shown by their cells as written, and by curves that show how they go on between and outside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NotRequired, Protocol, TypedDict, cast

import numpy as np

from kinode.editing.checked_text import TolerantLoader, check_text
from kinode.editing.draft import ModelDraft
from kinode.editing.places import Box, EntryPlaces, file_of
from kinode.editing.spans import value_end
from kinode.errors import ArgumentError, Error
from kinode.expressions.lookup_tables import METHODS, OUTSIDE, Table
from kinode.expressions.syntax_tree import Expression
from kinode.formats.yaml_files import FIELDS
from kinode.formats.yaml_text import NodeKind, plain_value
from kinode.formats.yaml_writer import PlainRecords, write_flow
from kinode.model.base.fields import Component
from kinode.model.base.parameters import Input, Parameter, RunDefaults, Signal
from kinode.model.base.value_walk import find_expressions
from kinode.model.system import System
from kinode.sheets.tables import number
from kinode.studio.editor.checked_model import CheckedVersion, places_in
from kinode.studio.editor.drawn_circuit import KINDLESS
from kinode.studio.editor.kinds import Plain, describe_class, fields_of, find_class
from kinode.studio.editor.sketch import LinkKind, Sketch, SketchLink


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


class InspectedField(TypedDict):
    """A field with what the text says, and the number that this is."""

    name: str
    path: list[str]
    unit: str | None
    dimension: str | None
    shape: str | list[float] | None
    given: str | None  # as typed
    default: str | None
    value: float | list[float] | None  # in SI
    doc: str
    choices: list[str] | None
    line: int | None
    required: bool
    reads: list[str]  # what a law reads
    live: NotRequired[str]  # what the run calls the number, where that is not the component with the path


class InspectedPort(TypedDict):
    """A port with what it is connected to."""

    name: str
    kind: LinkKind
    domain: str
    link: str | None
    field: list[str] | None
    words: str


class Inspected(TypedDict):
    """A component in full; of the whole the names of its parameters and tables too."""

    name: str
    section: str
    kind: str
    words: str
    fields: list[InspectedField]
    ports: list[InspectedPort]
    broken: str | None  # why it could not be built
    editable: bool  # whether the text describes it, so that it can be changed here
    parameters: NotRequired[list[str]]
    tables: NotRequired[list[str]]
    origin: NotRequired[str]  # the file that it comes from by `extends`: its fields can be changed here


WHOLE = "The whole: its name, gravity and how it is run."
OTHER_FIELDS = {
    "value": "its number, with a unit where it has one",
    "unit": "SI unit of a value that does not tell it by itself",
    "bounds": "lowest and highest value: [low, high]",
    "note": "a remark",
    "law": "a law of time, states, inputs and other signals",
}


def inspect_component(found: CheckedVersion, sketch: Sketch, name: str) -> Inspected:
    """All that the inspector shows of a component; of "" what belongs to the whole.

    Parameters
    ----------
    found : CheckedVersion
        The text and what it means.
    sketch : Sketch
        The sketch of it, for the ports.
    name : str
        A component; what a field of a joint is drawn as, ``elbow.damping``, is the joint.

    Raises
    ------
    ArgumentError
        If nothing is called so.
    """
    places = places_in(found.of.text, found.of.box)
    if not name:
        return _inspect_whole(found, places)
    name = _owner(sketch, name) if name not in places.paths else name
    system = found.system
    section = places.section_of(name)
    if not section:
        return _inspect_inner(found, places, sketch, name)
    if section == "systems":
        return _inspect_box(found, places, sketch, name)
    kind = places.kind_of(name)
    model = system.components.get(name)
    rows = [_field(found, places, name, row, model) for row in _rows(section, kind, system)]
    words = describe_class(_class(section, kind, system)) if _is_known(section, kind, system) else ""
    return {
        "name": name, "section": section, "kind": kind or KINDLESS.get(section, ""), "words": words, "fields": rows,
        "ports": list(_ports(sketch, name)), "broken": found.checked.broken.get(name), "editable": True,
    }  # fmt: skip


def _owner(sketch: Sketch, name: str) -> str:
    """The component that a box belongs to."""
    return str(next((box["owner"] for box in sketch["boxes"] if box["name"] == name), name))


def _class(section: str, kind: str, system: System) -> type[Component]:
    return find_class(kind or KINDLESS.get(section, ""), section, system.kinds)


def _is_known(section: str, kind: str, system: System) -> bool:
    try:
        _class(section, kind, system)
    except KeyError:
        return False
    return True


def _rows(section: str, kind: str, system: System) -> list[Plain]:
    """The fields of a component as its kind declares them; of small records those of the file."""
    if _is_known(section, kind, system) and _class(section, kind, system) not in (Parameter, Input, Signal):
        return fields_of(_class(section, kind, system))
    return [
        {
            "name": field, "shape": "law" if field == "law" else "number" if field == "value" else "text", "unit": "",
            "dimension": "", "default": None, "doc": OTHER_FIELDS.get(field, ""), "choices": [],
            "required": not k,
        }
        for k, field in enumerate(FIELDS.get(section, ()))
    ]  # fmt: skip


def _field(
    found: CheckedVersion, places: EntryPlaces, name: str, row: Plain, model: Component | None,
    path: tuple[str, ...] = (),
) -> InspectedField:  # fmt: skip
    """A field with what the text says, and the number that this is."""
    words = (*path, row["name"])
    node = places.root.find(*places.field_path(name, words))
    given = None if node is None or node.start == node.end else found.of.text[node.start : node.end]
    value = _value_of(model, row["name"])
    shown: Any = {
        **row,
        "path": list(words),
        "given": given,
        "value": _number(found.system, value) if given is not None else None,
        "line": None if node is None else node.line,
        "reads": sorted({word for law in find_expressions(value) for word in law.names()}),
    }
    return cast(InspectedField, shown)


def _value_of(model: Component | None, field: str) -> Any:
    if model is None:
        return None
    spec = model.specs().get(field)
    return getattr(model, spec[0].name if spec is not None else field, None)


def _number(system: System, value: Any) -> float | list[float] | None:
    """The plain number of a value at the present parameters; None where it depends on time or state."""
    if isinstance(value, tuple) and value and all(isinstance(x, float | Expression) for x in value):
        numbers = [_number(system, x) for x in value]
        return [x for x in numbers if isinstance(x, float)] if None not in numbers else None
    if isinstance(value, Expression) and not value.names() <= system.parameters.keys():
        return None
    if not isinstance(value, float | Expression):
        return None
    try:
        return float(system.nominal(value))
    except (Error, ArithmeticError, ValueError):
        return None


def _ports(sketch: Sketch, name: str) -> Iterator[InspectedPort]:
    """The ports of a component, each with the link or reference that it is connected to."""
    links = {(end["component"], end["port"]): link for link in sketch["links"] for end in link["ends"]}
    for box in sketch["boxes"]:
        for port in box["ports"] if box["name"] == name else ():
            link = links.get((name, port["name"]))
            others = [end for end in link["ends"] if end["component"] != name] if link is not None else []
            at = port["reference"] or ", ".join(dict.fromkeys(end["component"] for end in others))
            yield {
                "name": port["name"], "kind": port["kind"], "domain": port["domain"], "field": port["field"],
                "link": port["reference"] or _link_name(link, at),
                "words": f"connected to {at}" if at else "open",
            }  # fmt: skip


def _inspect_box(found: CheckedVersion, places: EntryPlaces, sketch: Sketch, name: str) -> Inspected:
    """A subsystem from outside: where it stands, what its nodes, inputs and parameters are given."""
    fields = []
    for path, row in box_rows(found.of, places, name):
        shown = _field(found, places, name, row, None, path)
        if path == ("parameters",):
            own = found.system.parameters.get(f"{name}.{row['name']}")
            shown["live"] = f"{name}.{row['name']}"
            shown["value"] = None if own is None else _number(found.system, own.value)
        fields.append(shown)
    return {
        "name": name, "section": "systems", "kind": "subsystem", "words": describe_box(places, name), "fields": fields,
        "ports": list(_ports(sketch, name)), "broken": found.checked.broken.get(name), "editable": True,
    }  # fmt: skip


def _link_name(link: SketchLink | None, others: str) -> str | None:
    """What a port is connected to, for a reader: a node by its name, other links by the components at their ends."""
    if link is None:
        return None
    return str(link["name"] if link["kind"] == "energy" or not others else others)


def _inspect_inner(found: CheckedVersion, places: EntryPlaces, sketch: Sketch, name: str) -> Inspected:
    """A component that the text does not describe itself: of a subsystem, a file that is extended, a drive."""
    model = found.system.components.get(name)
    if model is None:
        raise ArgumentError(f"nothing is called {name!r:.60}")
    origin = ModelDraft(found.of.text, found.of.place, found.checked, found.of.box).find_origin(name)
    if origin:
        return _inspect_inherited(found, places, sketch, model, origin)
    return {
        "name": name, "section": model.section, "kind": model.kind or KINDLESS.get(model.section, ""),
        "words": f"{name} comes from another file or a subsystem: it is changed there.", "fields": [],
        "ports": list(_ports(sketch, name)), "broken": None, "editable": False,
    }  # fmt: skip


def _inspect_inherited(
    found: CheckedVersion, places: EntryPlaces, sketch: Sketch, model: Component, origin: str
) -> Inspected:  # fmt: skip
    """A component of the file that the model extends: what it is there, and what is changed here."""
    name, section, kind = model.name, model.section, model.kind
    changed = places.root.find("changes", name)
    own = PlainRecords(found.system).sections().get(section, {}).get(name)
    given = own if isinstance(own, Mapping) else {"law" if section == "signals" else "value": own}
    fields = list[InspectedField]()
    for row in _rows(section, kind, found.system):
        node = None if changed is None else changed.find(row["name"])
        if changed is not None and changed.kind is not NodeKind.MAP and row["name"] in ("value", "law"):
            node = changed
        text = None if node is None else found.of.text[node.start : value_end(found.of.text, node)]
        shown = write_flow(given[row["name"]]) if given.get(row["name"]) is not None else row["default"]
        value = _value_of(model, row["name"])
        inherited: Any = {
            **row, "path": [row["name"]], "given": text, "default": shown, "line": None if node is None else node.line,
            "required": False, "value": _number(found.system, value),
            "reads": sorted({word for law in find_expressions(value) for word in law.names()}),
        }  # fmt: skip
        fields.append(inherited)
    return {
        "name": name, "section": section, "kind": kind or KINDLESS.get(section, ""), "fields": fields,
        "words": f"From {origin}. What is typed here is written into the changes of this file.", "origin": origin,
        "ports": list(_ports(sketch, name)), "broken": None, "editable": True,
    }  # fmt: skip


def _inspect_whole(found: CheckedVersion, places: EntryPlaces) -> Inspected:
    """What belongs to the whole: name, gravity, run settings; and the names of its parameters."""
    text: Plain = {"name": "name", "shape": "text", "doc": "name of the model", "unit": "", "default": None}
    fall: Plain = {
        "name": "gravity", "shape": "vector", "doc": "acceleration of free fall in the world's axes",
        "unit": "m/s^2", "default": "[0, 0, -9.81]",
    }  # fmt: skip
    rows = [{**row, "dimension": "", "choices": [], "required": False} for row in (text, fall)]
    fields = [_field(found, places, "", row, None) for row in rows]
    fields += [_field(found, places, "", row, None, ("run",)) for row in fields_of(RunDefaults)]
    return {
        "name": "", "section": "", "kind": "", "words": WHOLE, "fields": fields, "ports": [],
        "parameters": [name for name, path in places.paths.items() if path[0] == "parameters"],
        "tables": [name for name, path in places.paths.items() if path[0] == "tables"], "broken": None,
        "editable": True,
    }  # fmt: skip


BEYOND = 0.2  # of the length of an axis: how far outside of it a curve is drawn
POINTS = 161
MOST_CURVES = 12
MOST_CELLS = 4000


class TableCurve(TypedDict):
    """A table over its last axis, at a point of the others."""

    at: list[float]
    x: list[float]
    y: list[float | None]


class TableData(TypedDict):
    """A lookup table: its cells as written, or the reason why they are not shown."""

    name: str
    line: int
    method: str
    methods: list[str]
    outside: str
    outsides: list[str]
    file: str
    axes: list[list[Any]]
    values: list[list[Any]]
    reason: str
    curves: list[TableCurve]
    broken: str


def inspect_table(found: CheckedVersion, name: str) -> TableData:
    """A table of the text; what is wrong with it stands at its cells, and it is drawn where it is right."""
    node = places_in(found.of.text).root.find("tables", name)
    if node is None:
        raise ArgumentError(f"there is no table {name!r:.60}")
    raw = plain_value(node)
    given = raw if isinstance(raw, dict) else {}
    table = found.system.tables.get(name)
    axes, values = _axes(given.get("axes")), given.get("values")
    reason = _why_no_cells(given, axes, values, () if table is None else table.columns)
    return {
        "name": name, "line": node.line, "method": given.get("method") or METHODS[0], "methods": list(METHODS),
        "outside": given.get("outside") or OUTSIDE[0], "outsides": list(OUTSIDE), "file": given.get("file") or "",
        "axes": [] if reason else axes, "values": [] if reason else _table_rows(axes, values), "reason": reason,
        "curves": [] if table is None else find_curves(table), "broken": found.checked.broken.get(name, ""),
    }  # fmt: skip


def _axes(raw: Any) -> list[list[Any]]:
    if not isinstance(raw, list) or not raw:
        return []
    return [list(axis) for axis in raw] if all(isinstance(axis, list) for axis in raw) else [list(raw)]


def _why_no_cells(given: Plain, axes: list[list[Any]], values: Any, columns: tuple[str, ...]) -> str:
    """Why a table is not shown as cells; empty where it is.  Of a file, the columns and the units that were read."""
    if given.get("file"):
        return f"Its numbers are in the file {given['file']}{': ' if columns else ''}{'; '.join(columns)}."
    if len(axes) > 2:
        return f"It has {len(axes)} axes: its numbers are in the text."
    if not axes or not isinstance(values, list):
        return "It has no axes or values yet: write them in the text."
    if math.prod(len(axis) for axis in axes) > MOST_CELLS:
        return "It is too large for a grid: its numbers are in the text."
    return ""


def _table_rows(axes: list[list[Any]], values: Any) -> list[list[Any]]:
    """The values as rows: one for each point of the first axis; what is missing is None."""
    width = 1 if len(axes) == 1 else len(axes[1])
    nested = any(isinstance(row, list) for row in values)
    flat = [cell for row in values for cell in (_padded(row, width) if isinstance(row, list) else [row])]
    if len(axes) == 1 and nested:
        flat = [row[0] if isinstance(row, list) and row else None for row in values]
    cells = [*flat, *[None] * (len(axes[0]) * width - len(flat))]
    return [cells[k * width : (k + 1) * width] for k in range(len(axes[0]))]


def _padded(row: list[Any], width: int) -> list[Any]:
    return [*row[:width], *[None] * (width - len(row))]


def find_curves(table: Table) -> list[TableCurve]:
    """The table over its last axis, between its points and outside; one curve for each point of the first of two."""
    if len(table.axes) > 2:
        return []
    along = table.axes[-1]
    length = along[-1] - along[0]
    beyond = 0.0 if table.outsides[-1] == "error" else BEYOND * length
    x = np.unique([*np.linspace(along[0] - beyond, along[-1] + beyond, POINTS), *along])
    first = [()] if len(table.axes) == 1 else [(value,) for value in table.axes[0]]
    curves = list[TableCurve]()
    for at in first[:: max(1, -(-len(first) // MOST_CURVES))]:
        try:
            y = [float(table.evaluate(*at, float(value))) for value in x]
        except (Error, ArithmeticError):
            return []
        small = 1e-12 * max((abs(v) for v in y if math.isfinite(v)), default=0.0)  # rounding of splines
        shown = [None if not math.isfinite(v) else 0.0 if abs(v) <= small else v for v in y]
        curves.append({"at": list(at), "x": x.tolist(), "y": shown})
    return curves
