"""Changes of a system: fields of a component, another name for it everywhere, removing it with what hangs on it.

A component that is changed in place keeps its other fields, and so does the order of declaration.  A name is replaced
in all records, in laws too; ``find_uses`` says who uses one.

What stands on a body or acts in a joint is removed with it.  Ports that were on a joint get a node of their own.  A
field that is nothing but a quantity of what goes is left out, or zero where it is needed.  Laws that name it beside
other things stay, and the check of the system reports them; a parameter or a table that is still used is not removed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from kinode.errors import ModelError
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.bodies import Body
from kinode.model.base.field_reader import BASE, BODIES, FRAME, JOINT, FieldKind
from kinode.model.base.fields import Component, unknown, unknown_fields
from kinode.model.base.frames import Frame, check_frame_name
from kinode.model.base.observers.moving_frames import Observer
from kinode.model.base.parameters import Input, Parameter, Signal, TableRecord, find_dimension, read_bounds
from kinode.model.base.value_walk import Place, ValueWalk, find_expressions
from kinode.model.component_store import find_frame
from kinode.model.joints.joint import Joint
from kinode.model.network.part import PORT

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
        for _, field, _ in component.walked_fields():
            frame = getattr(component, field)
            if isinstance(frame, Frame) and frame.body == body.name and frame.name is not None:
                try:
                    frames[field] = find_frame(system, str(frame))
                except ModelError:
                    message = f"its frame {frame.name!r} is still used by {component.name}"
                    raise ModelError(message, component=body.name, field="frames") from None
        if any(frames[key] != getattr(component, key) for key in frames):
            system.replace(dataclasses.replace(component, **frames))


Change = Callable[[str], str]


class NameUse(NamedTuple):
    """A field of a component in which a name stands; the component is ``system`` for gravity."""

    component: str
    field: str

    def __str__(self) -> str:
        return f"{self.component}.{self.field}"


def find_uses(system: System, name: str) -> list[NameUse]:
    """The fields that name a component, a node, a frame or a subsystem."""
    check_known(system, name)
    uses: list[NameUse] = []
    for component in system.declared.values():
        for field, found in names_in(component):
            if any(means(other, name) for other in found):
                uses.append(NameUse(component.name, field))
    if any(means(other, name) for law in find_expressions(system.gravity) for other in law.names()):
        uses.append(NameUse("system", "gravity"))
    return uses


def check_known(system: System, name: str) -> None:
    """Refuse a name that nothing has."""
    frames = [f"{body.name}.{frame.name}" for body in (system.world, *system.bodies.values()) for frame in body.frames]
    known = [*system.declared, *system.prefixes, *system.nodes, *frames]
    if name not in known:
        raise ModelError(unknown(f"{system.name} has nothing called", name, known))


def means(found: str, name: str) -> bool:
    """Whether a name that was found is another, or a part of it."""
    return found == name or found.startswith(f"{name}.")


# -- values ----------------------------------------------------------------------------------------
class Renaming(ValueWalk):
    """Other names in records, but for those that are a law's own."""

    def __init__(self, change: Change) -> None:
        super().__init__()
        self._change = change

    def law(self, law: Expression, at: Place) -> Expression:
        def change(text: str) -> str:
            return "@".join(name if name in at.local else self._change(name) for name in text.split("@"))

        return law.rename(change)

    def name(self, name: str, at: Place, kind: FieldKind) -> str:
        return self._change(name)

    def frame(self, frame: Frame, at: Place) -> Frame:
        """A frame on a body that has another name, or with another name itself."""
        new = dataclasses.replace(self.inside_frame(frame, at), body=self._change(frame.body))
        if frame.name is None or frame.name == "com":
            return new
        named = self._change(f"{frame.body}.{frame.name}")
        return dataclasses.replace(new, name=named.removeprefix(f"{new.body}."))

    def record(self, component: Component) -> Component:
        """A component in which other names stand; its own may be another too."""
        name = self._change(component.name)
        if isinstance(component, TableRecord):
            return TableRecord(name, dataclasses.replace(component.table, name=name))
        return dataclasses.replace(component, name=name, **self.changes(component))


class _NameSearch(Renaming):
    """Notes the names."""

    def __init__(self) -> None:
        super().__init__(self._note)
        self.found: list[str] = []

    def _note(self, name: str) -> str:
        self.found.append(name)
        return name


def names_in(component: Component) -> Iterator[tuple[str, list[str]]]:
    """The names in the values of a component, by attribute; those that are a law's own left out."""
    search = _NameSearch()
    for field, _, _ in search.steps(component):
        yield field, search.found
        search.found = []


# -- another name ----------------------------------------------------------------------------------
def rename_in(system: System, old: str, new: str) -> None:
    """Give a component, a node, a frame of a body or a subsystem another name, wherever it stands."""
    check_known(system, old)
    owner, _, last = old.rpartition(".")
    body = system[owner] if owner and owner in system else None
    if isinstance(body, Body) and any(frame.name == last for frame in body.frames):
        new = new.removeprefix(f"{owner}.")
        check_frame_name(system.reader(owner), new, (frame.name for frame in body.frames))
        new = f"{owner}.{new}"
    else:
        system.check_name(new)
        if new in system.nodes:
            raise ModelError(f"the name {new!r} is taken by a node already", component=new)
        if old in system.references:
            raise ModelError(f"{old} is a reference, and keeps its name")
    for component in system.declared.values():
        for field, found in names_in(component) if component.local else ():
            if new in component.local.get(field, ()) and any(means(x, old) for x in found):
                raise ModelError(f"{new} has a meaning of its own there", component=component.name, field=field)

    def change(name: str) -> str:
        return new + name[len(old) :] if means(name, old) else name

    changed = [Renaming(change).record(component) for component in system.declared.values()]
    world = Renaming(lambda name: name if name == "world" else change(name)).record(system.world)
    gravity = Renaming(change).value(system.gravity, Place())
    system.fill(changed)
    assert isinstance(world, Body)
    system.replace(dataclasses.replace(world, system=system))
    system.gravity = gravity


def remove_from(system: System, name: str) -> list[str]:
    """Take a component out with what hangs on it; an error leaves the system as it was."""
    if name == "world":
        raise ModelError("the world cannot be removed", component="world")
    check_known(system, name)
    asked = [other for other in system.declared if means(other, name)]
    if not asked:
        raise ModelError(f"{name} is no component: only those are removed", component=name)
    going = _find_hanging(system, asked)
    for other in asked:
        if isinstance(system.declared[other], Parameter | TableRecord):
            users = [use for use in find_uses(system, other) if use.component not in going]
            if users:
                shown = ", ".join(str(use) for use in users[:5]) + ", ..." * (len(users) > 5)
                raise ModelError(f"is used by {shown}; change these first", component=other)
    taken = {*system.nodes, *system.declared, *system.prefixes}
    stays = [component for component in system.declared.values() if component.name not in going]
    for gone in going:
        node = next(f"n{k}" for k in range(1, len(taken) + 2) if f"n{k}" not in taken)
        cut = [_cut(component, gone, node) for component in stays]
        if any(node in component.values_of(PORT).values() for component in cut):
            taken.add(node)
        stays = cut
    system.fill(stays)
    return going


def _find_hanging(system: System, names: Iterable[str]) -> list[str]:
    """The components that go with some."""
    going = list(dict.fromkeys(names))
    for name in going:  # it grows on the way
        for component in system.declared.values():
            if component.name not in going and _hangs(component, name):
                going.append(component.name)
    return going


def _hangs(component: Component, name: str) -> bool:
    """Whether a component cannot be without another: it stands on it, joins it or acts in it."""
    needed = component.specs() if isinstance(component, Joint | Observer) else component.required_fields()
    for field, value in component.values_of(FRAME, BASE, BODIES).items():
        frames = value if isinstance(value, tuple) else (value,)
        if field in needed and any(frame.body == name for frame in frames):
            return True
    return name in component.values_of(JOINT).values()


def _cut(component: Component, name: str, node: str) -> Component:
    """A component without what connects it to another that goes."""
    changes: dict[str, Any] = {}
    for _, field, spec in component.walked_fields():
        value, default = getattr(component, field), component.__dataclass_fields__[field].default
        if spec.kind is PORT and isinstance(value, str) and means(value, name):
            changes[field] = node
        elif isinstance(value, Frame) and value.body == name and default is not dataclasses.MISSING:
            changes[field] = default
        elif _is_alone(value, name) or (isinstance(value, tuple) and any(_is_alone(x, name) for x in value)):
            if default is not dataclasses.MISSING:
                changes[field] = default
            else:
                changes[field] = tuple(0.0 if _is_alone(x, name) else x for x in value) if type(value) is tuple else 0.0
    return dataclasses.replace(component, **changes) if changes else component


def _is_alone(value: Any, name: str) -> bool:
    """Whether a law is one quantity of a component and nothing else."""
    return isinstance(value, Expression) and value.op == "name" and means(value.args[0].partition("@")[0], name)
