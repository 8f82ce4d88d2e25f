"""A component in full for the inspector: its fields as written, with unit, default, documentation and value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kinode.errors import ArgumentError, Error
from kinode.expressions.syntax_tree import Expression
from kinode.formats.editing.entry_places import EntryPlaces
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.editing.spans.span_edits import value_end
from kinode.formats.span_nodes import NodeKind
from kinode.formats.yaml_fields import FIELDS
from kinode.formats.yaml_writer import PlainRecords, write_flow
from kinode.model.base.fields import Component
from kinode.model.base.parameters import Input, Parameter, RunDefaults, Signal
from kinode.model.base.plain_values import find_expressions
from kinode.model.system import System
from kinode.studio.drawing.checked_model import CheckedVersion, places_in
from kinode.studio.drawing.drawn_parts import KINDLESS
from kinode.studio.drawing.kind_boxes import Plain, describe_class, fields_of, find_class
from kinode.studio.subsystems.box_fields import box_rows, describe_box

WHOLE = "The whole: its name, gravity and how it is run."
OTHER_FIELDS = {
    "value": "its number, with a unit where it has one",
    "unit": "SI unit of a value that does not tell it by itself",
    "bounds": "lowest and highest value: [low, high]",
    "note": "a remark",
    "law": "a law of time, states, inputs and other signals",
}


def inspect_component(found: CheckedVersion, sketch: Plain, name: str) -> Plain:
    """All that the inspector shows of a component; of "" what belongs to the whole.

    Parameters
    ----------
    found : CheckedVersion
        The text and what it means.
    sketch : dict
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


def _owner(sketch: Plain, name: str) -> str:
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
) -> Plain:  # fmt: skip
    """A field with what the text says, and the number that this is."""
    words = (*path, row["name"])
    node = places.root.find(*places.field_path(name, words))
    given = None if node is None or node.start == node.end else found.of.text[node.start : node.end]
    value = _value_of(model, row["name"])
    return {
        **row,
        "path": list(words),
        "given": given,
        "value": _number(found.system, value) if given is not None else None,
        "line": None if node is None else node.line,
        "reads": sorted({word for law in _laws(value) for word in law.names()}),
    }


def _value_of(model: Component | None, field: str) -> Any:
    if model is None:
        return None
    spec = model.specs().get(field)
    return getattr(model, spec[0].name if spec is not None else field, None)


def _laws(value: Any) -> Iterator[Expression]:
    try:
        yield from find_expressions(value)
    except TypeError:
        return


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


def _ports(sketch: Plain, name: str) -> Iterator[Plain]:
    """The ports of a component, each with the link or reference that it is connected to."""
    links = {(end["component"], end["port"]): link for link in sketch["links"] for end in link["ends"]}
    for box in sketch["boxes"]:
        for port in box["ports"] if box["name"] == name else ():
            link = links.get((name, port["name"]))
            others = [end for end in link["ends"] if end["component"] != name] if link is not None else []
            at = port["reference"] or ", ".join(dict.fromkeys(end["component"] for end in others))
            yield {
                "name": port["name"], "kind": port["kind"], "domain": port["domain"], "out": port["out"],
                "open": port["open"], "field": port["field"], "reference": port["reference"],
                "link": port["reference"] or _link_name(link, at),
                "words": f"connected to {at}" if at else "open",
            }  # fmt: skip


def _inspect_box(found: CheckedVersion, places: EntryPlaces, sketch: Plain, name: str) -> Plain:
    """A subsystem from outside: where it stands, what its nodes, inputs and parameters are given."""
    fields = []
    for path, row in box_rows(found.of, places, name):
        shown = _field(found, places, name, row, None, path)
        if path == ("parameters",):
            own = found.system.parameters.get(f"{name}.{row['name']}")
            shown |= {
                "live": f"{name}.{row['name']}",
                "value": None if own is None else _number(found.system, own.value),
            }
        fields.append(shown)
    return {
        "name": name, "section": "systems", "kind": "subsystem", "words": describe_box(places, name), "fields": fields,
        "ports": list(_ports(sketch, name)), "broken": found.checked.broken.get(name), "editable": True,
    }  # fmt: skip


def _link_name(link: Plain | None, others: str) -> str | None:
    """What a port is connected to, for a reader: a node by its name, other links by the components at their ends."""
    if link is None:
        return None
    return str(link["name"] if link["kind"] == "energy" or not others else others)


def _inspect_inner(found: CheckedVersion, places: EntryPlaces, sketch: Plain, name: str) -> Plain:
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
    found: CheckedVersion, places: EntryPlaces, sketch: Plain, model: Component, origin: str
) -> Plain:  # fmt: skip
    """A component of the file that the model extends: what it is there, and what is changed here."""
    name, section, kind = model.name, model.section, model.kind
    changed = places.root.find("changes", name)
    own = PlainRecords(found.system).sections().get(section, {}).get(name)
    given = own if isinstance(own, Mapping) else {"law" if section == "signals" else "value": own}
    fields = []
    for row in _rows(section, kind, found.system):
        node = None if changed is None else changed.find(row["name"])
        if changed is not None and changed.kind is not NodeKind.MAP and row["name"] in ("value", "law"):
            node = changed
        text = None if node is None else found.of.text[node.start : value_end(found.of.text, node)]
        shown = write_flow(given[row["name"]]) if given.get(row["name"]) is not None else row["default"]
        value = _value_of(model, row["name"])
        fields.append({
            **row, "path": [row["name"]], "given": text, "default": shown, "line": None if node is None else node.line,
            "required": False, "value": _number(found.system, value),
            "reads": sorted({word for law in _laws(value) for word in law.names()}),
        })  # fmt: skip
    return {
        "name": name, "section": section, "kind": kind or KINDLESS.get(section, ""), "fields": fields,
        "words": f"From {origin}. What is typed here is written into the changes of this file.", "origin": origin,
        "ports": list(_ports(sketch, name)), "broken": None, "editable": True,
    }  # fmt: skip


def _inspect_whole(found: CheckedVersion, places: EntryPlaces) -> Plain:
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
