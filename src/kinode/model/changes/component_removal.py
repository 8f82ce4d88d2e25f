"""Removing components with what hangs on them.

What stands on a body or acts in a joint goes with it.  Ports that were on a joint get a node of their own.  A field
that is nothing but a quantity of what goes is left out, or zero where it is needed.  Laws that name it beside other
things stay, and the check of the system reports them; a parameter or a table that is still used is not removed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kinode.errors import ModelError
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.fields import Component
from kinode.model.base.frames import Frame
from kinode.model.base.observers.moving_frames import Observer
from kinode.model.base.parameters import Parameter, Signal, TableRecord
from kinode.model.changes.name_changes import check_known, find_uses, means, named_values
from kinode.model.joints.joint import Joint

if TYPE_CHECKING:
    from kinode.model.system import System


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
        if any(new is not old and _port_names(new, node) for new, old in zip(cut, stays, strict=True)):
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
    for field, spec in component.specs().values():
        value = getattr(component, field.name)
        needed = field.default is dataclasses.MISSING or isinstance(component, Joint | Observer)
        frames = value if isinstance(value, tuple) else (value,)
        if spec.shape in ("frame", "base", "bodies") and needed:
            if any(isinstance(frame, Frame) and frame.body == name for frame in frames):
                return True
        elif spec.shape == "joint" and value == name:
            return True
    return False


def _port_names(component: Component, node: str) -> bool:
    return any(spec.shape == "port" and getattr(component, f.name) == node for f, spec in component.specs().values())


def _cut(component: Component, name: str, node: str) -> Component:
    """A component without what connects it to another that goes."""
    changes: dict[str, Any] = {}
    declared = {field.name: (field, spec) for field, spec in component.specs().values()}
    for field, value in named_values(component):
        if isinstance(component, Signal):
            if _is_alone(value, name):
                changes[field] = 0.0
            continue
        if field not in declared:
            continue
        own, spec = declared[field]
        if spec.shape == "port" and isinstance(value, str) and means(value, name):
            changes[field] = node
        elif isinstance(value, Frame) and value.body == name and own.default is not dataclasses.MISSING:
            changes[field] = own.default
        elif _is_alone(value, name) or (isinstance(value, tuple) and any(_is_alone(x, name) for x in value)):
            if own.default is not dataclasses.MISSING:
                changes[field] = own.default
            else:
                changes[field] = tuple(0.0 if _is_alone(x, name) else x for x in value) if type(value) is tuple else 0.0
    return dataclasses.replace(component, **changes) if changes else component


def _is_alone(value: Any, name: str) -> bool:
    """Whether a law is one quantity of a component and nothing else."""
    return isinstance(value, Expression) and value.op == "name" and means(value.args[0].partition("@")[0], name)
