"""Names in the records of a system: who uses one, and another name for it everywhere, in laws too."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kinode.errors import ModelError
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.bodies import Body, LoneMoment
from kinode.model.base.fields import Component, unknown
from kinode.model.base.frames import Frame, check_frame_name
from kinode.model.base.parameters import Input, Parameter, Signal, TableRecord

if TYPE_CHECKING:
    from kinode.model.system import System

OWN_VALUES: dict[type[Component], tuple[str, ...]] = {Parameter: ("value",), Input: ("value",), Signal: ("law",)}
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
        for field, value in named_values(component):
            if any(means(found, name) for found in names_in(component, field, value)):
                uses.append(NameUse(component.name, field))
    if any(means(found, name) for found in names_in_value(system.gravity)):
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
def named_values(component: Component) -> Iterable[tuple[str, Any]]:
    """The fields of a component that may hold names, by the names of its attributes."""
    for field in OWN_VALUES.get(type(component), ()):
        yield field, getattr(component, field)
    for declared, _ in component.specs().values():
        yield declared.name, getattr(component, declared.name)


def names_in(component: Component, field: str, value: Any) -> list[str]:
    """The names in the value of a field, those that are a law's own left out."""
    shapes = {declared.name: spec.shape for declared, spec in component.specs().values()}
    if shapes.get(field) in ("joint", "port"):
        return [value] if isinstance(value, str) else []
    local = component.local.get(field, frozenset())
    return [name for name in names_in_value(value) if name not in local]


def names_in_value(value: Any) -> list[str]:
    """The names in expressions and frames, however nested."""
    found: list[str] = []

    def note(name: str) -> str:
        found.append(name)
        return name

    change_value(value, note)
    return found


def change_value(value: Any, change: Change) -> Any:
    """A value with other names in its expressions and frames."""
    if isinstance(value, Expression):
        return value.rename(lambda text: "@".join(map(change, text.split("@"))))
    if isinstance(value, Frame):
        return _change_frame(value, change)
    if isinstance(value, LoneMoment):
        return LoneMoment.fill(value.entry, change_value(value.moment, change))
    if isinstance(value, tuple):
        return tuple(x if type(x) is float else change_value(x, change) for x in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type | Component):
        changes = {field.name: change_value(getattr(value, field.name), change) for field in dataclasses.fields(value)}
        same = all(changes[field.name] is getattr(value, field.name) for field in dataclasses.fields(value))
        return value if same else dataclasses.replace(value, **changes)
    return value


def _change_frame(frame: Frame, change: Change) -> Frame:
    """A frame on a body that has another name, or with another name itself."""
    changes = {
        "body": change(frame.body),
        "position": change_value(frame.position, change),
        "rotation": change_value(frame.rotation, change),
        "base": None if frame.base is None else _change_frame(frame.base, change),
    }
    new = dataclasses.replace(frame, **changes)
    if frame.name is None or frame.name == "com":
        return new
    named = change(f"{frame.body}.{frame.name}")
    return dataclasses.replace(new, name=named.removeprefix(f"{new.body}."))


def change_record(component: Component, change: Change) -> Component:
    """A component in which other names stand; its own may be another too."""
    changes: dict[str, Any] = {"name": change(component.name)}
    if isinstance(component, TableRecord):
        table = dataclasses.replace(component.table, name=changes["name"])
        return TableRecord(changes["name"], table)
    shapes = {declared.name: spec.shape for declared, spec in component.specs().values()}
    for field, value in named_values(component):
        local = component.local.get(field, frozenset())
        if shapes.get(field) in ("joint", "port"):
            changes[field] = change(value) if isinstance(value, str) else value
        else:
            changes[field] = change_value(value, partial(_change_other, local, change))
    return dataclasses.replace(component, **changes)


def _change_other(local: frozenset[str], change: Change, name: str) -> str:
    """Another name, unless it is one of a law's own."""
    return name if name in local else change(name)


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
        for field, local in component.local.items():
            if new in local and any(means(x, old) for x in names_in(component, field, getattr(component, field))):
                raise ModelError(f"{new} has a meaning of its own there", component=component.name, field=field)

    def change(name: str) -> str:
        return new + name[len(old) :] if means(name, old) else name

    changed = [change_record(component, change) for component in system.declared.values()]
    world = change_record(system.world, lambda name: name if name == "world" else change(name))
    gravity = change_value(system.gravity, change)
    system.fill(changed)
    assert isinstance(world, Body)
    system.replace(dataclasses.replace(world, system=system))
    system.gravity = gravity
