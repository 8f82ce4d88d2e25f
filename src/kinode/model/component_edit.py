"""Changing a component in place: its other fields stay, and so does the order of declaration."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from kinode.errors import ModelError
from kinode.model.base.bodies import Body
from kinode.model.base.fields import Component, unknown_fields
from kinode.model.base.frames import Frame
from kinode.model.base.parameters import Input, Parameter, Signal, TableRecord, find_dimension, read_bounds
from kinode.model.frame_lookup import find_frame

if TYPE_CHECKING:
    from kinode.model.system import System


def change(system: System, name: str, fields: dict[str, Any]) -> Component:
    """The component with these fields instead; an error leaves the system as it was."""
    old: Component = system.declared.get(name) or system[name]
    if old is system.world:
        raise ModelError("the world cannot be changed", component="world")
    if isinstance(old, TableRecord):
        new: Component = _changed_table(old, fields)
    elif isinstance(old, Parameter | Input | Signal):
        new = _changed_quantity(system, old, fields)
    else:
        new = _changed_component(system, old, fields)
    kept = dict(system.declared)
    system.replace(new)
    try:
        if isinstance(new, Body):
            _follow_frames(system, new)
        if isinstance(new, Parameter):
            _follow_dimension(system)
            for body in system.bodies.values():
                body.check(system.nominal)
    except ModelError:
        for component in kept.values():
            system.replace(component)
        raise
    return new


def _follow_dimension(system: System) -> None:
    """Give dimensions to parameters and inputs made of one whose dimension is known only now; refuse what differs."""
    records: list[Parameter | Input] = [*system.parameters.values(), *system.inputs.values()]
    for record in records:
        if isinstance(record.value, float):
            continue
        dimension = find_dimension(None, record.value, system.parameters)
        if dimension is None or dimension == record.dimension:
            continue
        if record.dimension is not None:
            message = f"would be in {dimension.unit} then; {record.dimension.unit} is needed"
            raise ModelError(message, component=record.name, field="value")
        system.replace(dataclasses.replace(record, dimension=dimension))


def _changed_component(system: System, old: Component, fields: dict[str, Any]) -> Component:
    all_fields = {**old.given(), **fields}
    given = {key: x for key, x in all_fields.items() if x is not None or key not in old.specs()}  # None: the default
    component: Component = system.make_component(old.section, old.name, fields.get("kind", old.kind), given)
    return component


def _changed_quantity(system: System, old: Parameter | Input | Signal, fields: dict[str, Any]) -> Component:
    allowed = {Signal: ("law",), Input: ("value",), Parameter: ("value", "bounds", "note")}[type(old)]
    _check_fields(old.name, fields, allowed)
    reader = system.reader(old.name)
    if isinstance(old, Signal):
        return dataclasses.replace(old, law=reader.law(fields.get("law", old.law), None, "law"))
    changes: dict[str, Any] = {}
    if "value" in fields:
        changes["value"], changes["dimension"] = system.read_value(old.name, fields["value"], old.dimension, old.angle)
    if isinstance(old, Parameter):
        if "note" in fields:
            changes["note"] = reader.text(fields["note"], "note")
        if fields.get("bounds", old.bounds) is not None:
            value = system.nominal(changes.get("value", old.value))
            dimension = changes.get("dimension", old.dimension)
            changes["bounds"] = read_bounds(reader, fields.get("bounds", old.bounds), value, dimension)
        else:
            changes["bounds"] = None
    return dataclasses.replace(old, **changes)


def _changed_table(old: TableRecord, fields: dict[str, Any]) -> TableRecord:
    _check_fields(old.name, fields, ("axes", "values", "method", "outside"))
    try:
        return TableRecord(old.name, dataclasses.replace(old.table, **fields))
    except ModelError as error:
        raise error.located(component=old.name) from None


def _check_fields(name: str, fields: dict[str, Any], allowed: tuple[str, ...]) -> None:
    wrong = [key for key in fields if key not in allowed]
    if wrong:
        raise ModelError(unknown_fields("it", wrong, allowed), component=name, field=wrong[0])


def _follow_frames(system: System, body: Body) -> None:
    """Update the components that use named frames of a body, its mass center included, after the body has changed."""
    for component in list(system.declared.values()):
        frames: dict[str, Any] = {}
        for field, _ in component.specs().values():
            frame = getattr(component, field.name)
            if isinstance(frame, Frame) and frame.body == body.name and frame.name is not None:
                try:
                    frames[field.name] = find_frame(system, f"{body.name}.{frame.name}")
                except ModelError:
                    message = f"its frame {frame.name!r} is still used by {component.name}"
                    raise ModelError(message, component=body.name, field="frames") from None
        if any(frames[key] != getattr(component, key) for key in frames):
            system.replace(dataclasses.replace(component, **frames))
