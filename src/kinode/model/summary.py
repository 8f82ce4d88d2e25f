"""A page of text that lists what a system consists of, for a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from kinode.errors import ModelError, counted
from kinode.expressions.syntax_tree import Expression
from kinode.expressions.units import DIMENSIONS, Dimension
from kinode.model.base.bodies import NO_INERTIA, Body, Visual
from kinode.model.base.field_reader import Nested
from kinode.model.base.fields import Component, Spec
from kinode.model.base.frames import Frame
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.joints.joint import DERIVED, INITIAL, Joint
from kinode.model.network.part import Part
from kinode.sheets.tables import word_table

if TYPE_CHECKING:
    from kinode.model.system import System

WIDTH = 80
LOCKS = "no load drives it back, however large"
_SHOWN = ("axis", "axes", "lead", "at", "motion", "speed", "effort", "stiffness", "neutral", "damping")
_STARTS = ("q", "u", "guess", "position", "rotation", "velocity", "angular_velocity")


def summarize(system: System) -> str:
    """The summary of a system."""
    lines = [system.name, "=" * min(len(system.name), WIDTH)]
    gravity, *totals = list_totals(system)
    lines += [*_wrap("gravity  ", gravity.removeprefix("gravity ")), *totals]
    for title, rows in list_sections(system):
        lines += ["", title, *(f"  {line}" for line in word_table(("", ""), rows).lines(WIDTH - 2))]
    if system.notes:
        lines += ["", "notes", *(line for note in system.notes for line in _wrap("  - ", note))]
    return "\n".join(lines) + "\n"


def list_totals(system: System) -> list[str]:
    """What a system is as a whole, in a few lines: gravity, numbers of components, mass, freedoms."""
    gravity = f"gravity {_values(system.gravity)} m/s^2" + ("" if _any(system.gravity) else "  (none)")
    return [gravity, *_totals(system)]


def list_sections(system: System) -> list[tuple[str, list[tuple[str, str]]]]:
    """The components in sections that are not empty: each with its name and what it is."""
    declared = system.as_declared()
    sections: list[tuple[str, list[tuple[str, str]]]] = [
        ("parameters", _quantities(system, system.parameters.values())),
        ("inputs", _quantities(system, system.inputs.values())),
        ("tables", [_table(name, table) for name, table in system.tables.items()]),
        ("bodies", [_body(system, body) for body in system.bodies.values()]),
        ("joints", [_joint(joint) for joint in system.joints.values()]),
        ("constraints", [_component(c) for c in system.constraints.values()]),
        ("signals", [(name, _value(signal.law)) for name, signal in system.signals.items()]),
        ("elements", [_component(e) for e in declared.elements.values() if not isinstance(e, Part)]),
        ("parts", [_component(part) for part in declared.parts.values()]),
        ("nodes", _nodes(declared)),
        ("frames", [_frames(body) for body in (system.world, *system.bodies.values()) if body.frames]),
        ("frames to look from", [_component(frame) for frame in system.frames.values()]),
        (
            "locking by itself",
            [(name, LOCKS) for name, c in system.components.items() if c.locks_itself(system.nominal)],
        ),
        ("run", [(key, _value(value)) for key, value in system.run_defaults.items()]),
    ]
    return [(title, rows) for title, rows in sections if rows]


def _totals(system: System) -> list[str]:
    count = f"{counted(len(system.bodies), 'body', 'bodies')}, {counted(len(system.joints), 'joint')}"
    lines = [f"{count}, {counted(len(system.elements), 'element')}"]
    try:
        lines.append(f"total mass {sum(system.nominal(b.mass) for b in system.bodies.values()):.6g} kg")
    except ModelError:
        lines.append("total mass unknown")
    loops = len(system.joints) - len(system.bodies)
    driven = sum(joint.n_u for joint in system.joints.values() if joint.driven)
    gears = [c for c in system.constraints.values() if isinstance(c, CoordinateCoupling)]
    geared = {next(iter(gear.joints().values())) for gear in gears} & system.joints.keys()
    others = len(system.constraints) - len(gears)
    free = sum(joint.n_u for joint in system.joints.values() if not joint.driven and joint.name not in geared)
    freedoms = f"{counted(free, 'degree')} of freedom"
    if driven:
        freedoms += f", {driven} more driven"
    if loops > 0:
        freedoms += f" before {counted(loops, 'loop')} {'is' if loops == 1 else 'are'} closed"
    if others:
        before = " and" if loops > 0 else " before"
        freedoms += f"{before} {counted(others, 'constraint')} {'acts' if others == 1 else 'act'}"
    return [*lines, freedoms]


def _quantities(system: System, records: Iterable[Any]) -> list[tuple[str, str]]:
    rows = []
    for record in records:
        text = _value(record.value)
        if isinstance(record.value, Expression):
            text += f" = {system.nominal(record.value):.6g}"
        if isinstance(record.dimension, Dimension):
            unit = record.dimension.unit
            text += f" {'rad' if unit == '1' else unit}"
        if getattr(record, "bounds", None):
            text += f", from {record.bounds[0]:.6g} to {record.bounds[1]:.6g}"
        if getattr(record, "note", ""):
            text += f"  ({record.note})"
        rows.append((record.name, text))
    return rows


def _table(name: str, table: Any) -> tuple[str, str]:
    size = " x ".join(str(n) for n in table.shape)
    *over, values = table.columns or ("",) * (len(table.axes) + 1)
    spans = ", ".join(_span(axis, column) for axis, column in zip(table.axes, over, strict=True))
    outside = table.outside if isinstance(table.outside, str) else ", ".join(table.outside)
    span = _span(table.values, values)
    return name, f"{size} values over {spans}; {table.method}, outside: {outside}; values {span}"


def _span(numbers: Sequence[float], column: str) -> str:
    """The range of numbers, and what their column in a file is called."""
    return f"{min(numbers):.6g} to {max(numbers):.6g}{f' ({column})' if column else ''}"


def _body(system: System, body: Body) -> tuple[str, str]:
    inertia, about = body.inertia, body.about
    parts = [f"mass {_number(system, body.mass)} kg"]
    if _any(body.center_of_mass):
        parts.append(f"com {_numbers(system, body.center_of_mass)} m")
    if inertia != NO_INERTIA:
        entries = inertia if _any(inertia[3:]) else inertia[:3]
        where = "" if body.given_about == "com" else f" about its {'origin' if about == 'origin' else 'mass center'}"
        parts.append(f"inertia {_numbers(system, entries)} kg*m^2{where}")
    if body.shape is not None:
        parts.append(body.shape.kind)
    if body.meshes:
        parts.append(counted(len(body.meshes), "mesh", "meshes"))
    return body.name, ", ".join(parts)


def _joint(joint: Joint) -> tuple[str, str]:
    parts = [f"{joint.kind}, {_place(joint.a)} -> {_place(joint.b)}"]
    given: dict[str, Any] = {
        "axis": getattr(joint, "axis", None),
        "axes": getattr(joint, "axes", None),
        **joint.given(),
    }
    units = [kind for _, kind in joint.coordinates]
    specs = joint.specs()
    for name in (*_SHOWN, *_STARTS):
        value = given.get(name)
        if value is None:
            continue
        text = f"{name} {_value(value)}{_unit(specs[name][1], units)}"
        parts.append(f"starts with {text}" if name in _STARTS else text)
    records = {name: getattr(joint, name) for name in ("limits", "friction", "stop", "backlash", "compliance")}
    parts += [_nested(name, record, joint) for name, record in records.items() if record is not None]
    parts.append("driven" if joint.driven else counted(joint.n_u, "freedom"))
    return joint.name, ", ".join(parts)


def _unit(spec: Spec, kinds: Sequence[str]) -> str:
    dimension = spec.dimension
    if dimension in DERIVED:
        if len(set(kinds)) != 1 or (spec.kind is INITIAL and len(kinds) > 1):
            return ""
        dimension = DERIVED[dimension][kinds[0]]
    return f" {DIMENSIONS[dimension].unit}" if dimension is not None and dimension in DIMENSIONS else ""


def _nested(name: str, record: Nested, joint: Joint) -> str:
    """A record within a field: ``friction (coefficient 0.1, radius 0.01 m)``."""
    dimensions, parts = record.dimensions(type(joint)), []
    for field, value in record.given().items():
        dimension = dimensions[field] or "dimensionless"
        unit = "" if dimension == "dimensionless" else f" {DIMENSIONS[dimension].unit}"
        parts.append(f"{field} {_value(value)}{unit}")
    return f"{name} ({', '.join(parts)})"


def _component(component: Component) -> tuple[str, str]:
    parts = [component.kind]
    for name, value in component.given().items():
        spec = component.specs()[name][1]
        shown = spec.dimension in DIMENSIONS and spec.dimension != "dimensionless"
        unit = f" {DIMENSIONS[str(spec.dimension)].unit}" if shown else ""
        parts.append(f"{name.replace('_', ' ')} {_value(value)}{unit}")
    return component.name, ", ".join(parts)


def _nodes(system: System) -> list[tuple[str, str]]:
    """The nodes of networks with their ports; empty if ports do not fit, which the checks report."""
    try:
        nodes = system.nodes
    except ModelError:
        return []
    return [(name, f"{node.kind}: {', '.join('.'.join(port) for port in node.ports)}") for name, node in nodes.items()]


def _frames(body: Body) -> tuple[str, str]:
    return body.name, ", ".join(f"{frame.name} {_place(frame).partition(' ')[2]}".strip() for frame in body.frames)


def _place(frame: Frame) -> str:
    """Position and rotation of a frame as short text."""
    if frame.name is not None and frame.name != "com" and frame.is_plain:
        return str(frame)
    parts = [frame.body]
    if frame.position != (0.0, 0.0, 0.0):
        parts.append(f"at {_values(frame.position)}")
    if frame.rotation is not None:
        parts.append(f"{frame.rotation[0]} {_value(frame.rotation[1])}")
    if frame.base is not None:
        inner = _place(frame.base).partition(" ")[2]
        parts.append(f"from {inner}")
    return " ".join(parts)


def _any(values: Iterable[Any]) -> bool:
    return any(x != 0.0 for x in values)


def _number(system: System, value: Any) -> str:
    """A plain number; arithmetic with parameters shows its present value."""
    try:
        return f"{system.nominal(value):.6g}"
    except ModelError:
        return _value(value)


def _numbers(system: System, values: Iterable[Any]) -> str:
    return f"({', '.join(_number(system, x) for x in values)})"


def _values(values: Iterable[Any]) -> str:
    return f"({', '.join(_value(x) for x in values)})"


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Expression):
        return value.excerpt()
    if isinstance(value, Frame):
        return str(value) if value.name else _place(value)
    if isinstance(value, Visual):
        return value.kind
    if isinstance(value, Fraction):
        return f"{float(value):.6g} s"
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    if isinstance(value, tuple):
        return _value(value[0]) if len(value) == 1 else _values(value)
    return str(value)


def _wrap(start: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=start, subsequent_indent=" " * len(start), break_on_hyphens=False,
        break_long_words=False,
    ) or [start.rstrip()]  # fmt: skip
