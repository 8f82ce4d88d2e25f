"""Copying a subsystem into a system: its names go behind a prefix, its world becomes a frame of the target.

After that nothing is left that knows of subsystems: the records are those that a user would have written by hand.  An
input that is bound becomes a signal of its name with the law that it is bound to; a parameter that is bound or given
another value stays a parameter.  The target has one gravity, and the subsystem's is left out.  Nodes go behind the
prefix too, unless they are connected to a node or a joint of the target; the references are shared.

Laws of the subsystem are written out as seen from the frame that its world becomes.  In the subsystem itself nothing
changes by that, since its world rests at the origin: ``b.position.x`` is
``b.position.x@world - world.position.x@world``.  Where that world is a frame W of another system, the same words say
what is meant there, with all vectors in the same axes:

    position          p_b - p_W
    velocity          v_b - v_W - w_W x (p_b - p_W)
    angular_velocity  w_b - w_W

Orientations, forces and moments are turned only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from kinode.algebra.scalars import Scalar
from kinode.errors import DomainError, LawError, ModelError
from kinode.expressions.function_table import RESERVED
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.bodies import Body
from kinode.model.base.element import Element
from kinode.model.base.field_reader import FieldKind
from kinode.model.base.fields import Component, short, unknown
from kinode.model.base.frames import NAME, Frame
from kinode.model.base.observers.moving_frames import Observer
from kinode.model.base.parameters import Input, Parameter, Signal, TableRecord, find_dimension, read_bounds
from kinode.model.base.value_walk import Place, ValueWalk
from kinode.model.environment.atmosphere import STANDARD
from kinode.model.network.declared_parts import DeclaredPart, make_kind
from kinode.model.network.heat_ports import HeatedPart, with_heat_port
from kinode.model.network.nodes import Node, find_node
from kinode.model.network.part import PORT
from kinode.model.quantities import XYZ, QuantityName, find_quantity, split_owner

if TYPE_CHECKING:
    from kinode.model.system import System


RATES = ("velocity", "angular_velocity")
UNKNOWN = ("acceleration", "angular_acceleration", "momentum", "angular_momentum", "wind")  # relative to a moving world


def seen_from_world(system: System, text: str, moving: bool) -> Scalar | None:
    """A name of a law as seen from the world of its system, which may be ``moving``; None: it stays as it is."""
    try:
        name = find_quantity(system, text)
    except LawError:  # the check of the system reports it
        return None
    if name.part is None or name.sort not in ("frame", "system", "body", "carried", "element", "constraint"):
        return None
    if name.sort == "constraint" and not name.quantity.startswith("on."):
        return None
    if name.quantity in ("position", "com"):
        return _relative(name, name.part)
    about_origin = name.sort == "system" and name.quantity == "angular_momentum"
    if about_origin or (moving and name.quantity in UNKNOWN):
        why = "moves" if moving else "is not that of the system it is added to"
        message = f"{text}: the world of {system.name} {why}, and {name.quantity} is not known relative to it"
        raise ModelError(f"{message}; use coordinates of joints, or write the law in the whole system")
    if moving and name.sort == "frame" and name.quantity in RATES:
        return _relative_rate(name, name.part)
    return _turned(system, text) if name.axes is None else None


def _turned(system: System, text: str) -> Expression | None:
    """The same in the axes of the world; None for what has axes of its own only."""
    try:
        find_quantity(system, f"{text}@world")
    except LawError:
        return None
    return _named(text, "world")


def _named(text: str, axes: str) -> Expression:
    return Expression("name", (f"{text.partition('@')[0]}@{axes}",))


def _whole(name: QuantityName) -> tuple[str, str]:
    """The name of its owner, and the axes."""
    head, _, axes = name.text.partition("@")
    return head.rpartition(".")[0].rpartition(".")[0], axes or "world"


def _relative(name: QuantityName, part: int, quantity: str | None = None) -> Scalar:
    """What a vector is beyond that of the world."""
    owner, axes = _whole(name)
    quantity = quantity or name.quantity
    of_world = "position" if quantity == "com" else quantity
    own = _named(f"{owner}.{quantity}.{XYZ[part]}", axes)
    return own - _named(f"world.{of_world}.{XYZ[part]}", axes)


def _relative_rate(name: QuantityName, part: int) -> Scalar:
    relative = _relative(name, part)
    if name.quantity == "angular_velocity":
        return relative
    axes = _whole(name)[1]
    i, j = (part + 1) % 3, (part + 2) % 3
    w_i, w_j = (_named(f"world.angular_velocity.{XYZ[k]}", axes) for k in (i, j))
    return relative - (w_i * _relative(name, j, "position") - w_j * _relative(name, i, "position"))


def copy_into(
    target: System, name: str, system: System, on: Any,
    bind: dict[str, Any], parameters: dict[str, Any], connect: dict[str, Any],
) -> None:  # fmt: skip
    """Copy ``system`` into ``target`` under ``name``; on an error the target is as it was."""
    from kinode.model.system import System

    if not isinstance(system, System):
        raise ModelError(f"a System is expected, not {type(system).__name__}", component=name, field="system")
    twin = target.copy()
    try:
        _Copier(twin, name, system, target.find_frame(on)).run(bind, parameters, connect)
    except ModelError as error:
        raise error.located(component=name) from None
    target.take_over(twin)


class _Copier(ValueWalk):
    """One copy in progress: frames that share numbers in the subsystem share them in its copy, and with no other."""

    keeps_sharing, makes_new_tuples = True, True

    def __init__(self, target: System, name: str, system: System, on: Frame) -> None:
        super().__init__()
        self.target, self.prefix, self.system = target, name, system
        self.on = on
        self.ground = dataclasses.replace(on, name=None)
        self.world_is_used = False
        self.connected: dict[str, str] = {}  # node of the subsystem -> what it is in the target
        self.kinds: dict[type[Component], type[Component]] = {}  # declared kinds that had to take another name

    def run(self, bind: Mapping[str, Any], parameters: Mapping[str, Any], connect: Mapping[str, Any]) -> None:
        given = self._given(bind, parameters)
        self._bring_domains()
        self._connect(connect)
        self._bring_kinds()
        for component in self.system.declared.values():
            if component.name in given:
                new = self._bound(component, given[component.name])
            else:
                try:
                    new = self._copied(component)
                except ModelError as error:
                    raise error.located(component=f"{self.prefix}.{component.name}") from None
            self.target.add_component(new)
        self._place_world()
        if self.system.bodies and self.system.gravity != self.target.gravity:
            self.target.notes.append(f"{self.prefix}: its own gravity is left out; the system's acts")
        self.target.notes.extend(f"{self.prefix}: {note}" for note in self.system.notes)

    def _given(self, bind: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
        for key in parameters:
            if key not in self.system.parameters:
                message = unknown(f"{self.system.name} has no parameter", key, self.system.parameters)
                raise ModelError(message, component=self.prefix, field="parameters")
        free = [*self.system.inputs, *self.system.parameters]
        for key in bind:
            if key not in free:
                message = unknown(f"{self.system.name} has neither an input nor a parameter", key, free)
                raise ModelError(message, component=self.prefix, field="bind")
            if key in parameters:
                raise ModelError(
                    f"{key} is given twice: by bind and by parameters", component=self.prefix, field="bind"
                )
        return {**bind, **parameters}

    def _connect(self, connect: Mapping[str, Any]) -> None:
        """Check what the nodes of the subsystem are connected to."""

        def fail(message: str) -> ModelError:
            return ModelError(message, component=self.prefix, field="connect")

        nodes = self.system.nodes
        free = [name for name, node in nodes.items() if node.joint is None and not node.reference]
        for key, raw in connect.items():
            if key not in free:
                if key in self.system.references:
                    raise fail(f"{key} is shared by all systems")
                if key in nodes or key in self.system.joints:
                    raise fail(f"{key} is a joint of {self.system.name}, which stays what it is")
                raise fail(unknown(f"{self.system.name} has no node", key, free))
            name = raw.name if isinstance(raw, Component) else raw
            kind = nodes[key].domain
            if not isinstance(name, str) or not NAME.match(name) or name in ("t", "system", *RESERVED):
                raise fail(f"{key} is connected to a node, a joint or {kind.reference}, not to {short(raw)}")
            if name in self.target.references - {kind.reference}:
                raise fail(f"{key} is {kind.kind}: its reference is {kind.reference}, not {name}")
            self._check_meeting(nodes[key], name, fail)
            self.connected[key] = name

    def _check_meeting(self, node: Node, name: str, fail: Callable[[str], ModelError]) -> None:
        """Refuse to connect a node to one of another kind, as far as the target has it already."""
        part, port = node.ports[0]
        one = dataclasses.replace(self.system.parts[part], **{port: name})
        try:
            meeting = find_node(self.target, one, port, node.domain)
        except DomainError as error:
            raise fail(f"{node.name} " + error.message) from None
        except ModelError as error:
            raise fail(error.message) from None
        there = self.target.nodes.get(meeting.name)
        if there is not None and there.kind != node.kind:
            other = ".".join(there.ports[0])
            raise fail(f"{node.name} is {node.kind}, and {name} is {there.kind} by {other}: one kind meets at a node")

    def _bring_domains(self) -> None:
        """Copy declared domains; one name has one meaning."""
        for kind, domain in self.system.domains.items():
            if self.target.all_domains.get(kind, domain) != domain:
                raise ModelError(f"its domain {kind} has another meaning in {self.target.name}", component=self.prefix)
            if kind not in self.target.all_domains:
                if domain.reference in self.target.components:
                    message = f"{domain.reference}, the reference of its domain {kind}, is a component here"
                    raise ModelError(message, component=self.prefix)
                self.target.domains[kind] = domain

    def _bring_kinds(self) -> None:
        """Copy declared kinds; one whose name has another meaning in the target gets the prefix."""
        for kind, cls in self.system.kinds.items():
            name = kind if self.target.kinds.get(kind, cls) is cls else f"{self.prefix}.{kind}"
            if name != kind and isinstance(cls, type) and issubclass(cls, DeclaredPart):
                self.kinds[cls] = cls = make_kind(name, cls.declaration)
            self.target.kinds[name] = cls

    def _port(self, name: str) -> str:
        """What a port is connected to in the target."""
        if name in self.system.references:
            return name
        return self.connected.get(name, f"{self.prefix}.{name}")

    def _bound(self, old: Component, raw: Any) -> Component:
        """An input or parameter with a law or value of the target system."""
        name = f"{self.prefix}.{old.name}"
        if isinstance(old, Input):
            return Signal(name, self.target.reader(name).law(raw, None, "law"))
        assert isinstance(old, Parameter)
        value, dimension = self.target.read_value(name, raw, old.dimension, old.angle)
        if old.bounds is not None:
            read_bounds(self.target.reader(name), old.bounds, self.target.nominal(value), None)
        return dataclasses.replace(old, name=name, value=value, dimension=dimension)

    def _copied(self, old: Component) -> Component:
        name = f"{self.prefix}.{old.name}"
        if isinstance(old, TableRecord):
            return TableRecord(name, dataclasses.replace(old.table, name=name))
        if isinstance(old, Parameter | Input):
            value = self.value(old.value, Place())
            dimension = old.dimension or find_dimension(None, value, self.target.parameters)
            return dataclasses.replace(old, name=name, value=value, dimension=dimension)
        if isinstance(old, Observer):
            old = old.within(self.system)
        changed = self.changes(old)
        if isinstance(old, Body):
            changed["system"] = self.target
        cls = self.kinds.get(type(old))
        if isinstance(old, HeatedPart) and old.plain in self.kinds:
            cls = with_heat_port(self.kinds[old.plain], old.heat_domain)  # type: ignore[arg-type]
        if cls is not None:
            return cls(name, **{field: getattr(old, field) for _, field, _ in old.walked_fields()} | changed)
        new = dataclasses.replace(old, name=name, **changed)
        return new.placed(self.ground) if isinstance(new, Element | Observer) else new

    def name(self, name: str, at: Place, kind: FieldKind) -> str:
        return self._port(name) if kind is PORT else f"{self.prefix}.{name}"

    def frame(self, frame: Frame, at: Place) -> Frame:
        """A frame, or the base of one, on a body of the target."""
        if frame == Frame("world"):
            return self.on
        new = self.inside_frame(frame, at)
        if new.base is not None:
            new = dataclasses.replace(new, body=new.base.body)
        elif new.body == "world":
            new = new.on(self.ground)
        else:
            new = dataclasses.replace(new, body=f"{self.prefix}.{new.body}")
        named = frame.body == "world" and frame.name is not None
        return dataclasses.replace(new, name=f"{self.prefix}.{frame.name}") if named else new

    # -- names in laws -----------------------------------------------------------------------------
    def law(self, law: Expression, at: Place) -> Any:
        """A law in the names of the target, and its vectors as seen from the subsystem's world."""
        if self.ground != Frame("world"):
            moving = self.ground.body != "world"
            seen = {text: seen_from_world(self.system, text, moving) for text in law.names().difference(at.local)}
            new = law.substitute({text: new for text, new in seen.items() if new is not None})
            if not isinstance(new, Expression):
                return new
            law = new
        return law.rename(partial(self._rename, local=at.local))

    def _rename(self, text: str, local: Collection[str] = ()) -> str:
        """The name of a quantity, or of a table, in the target; names that are a law's own stay."""
        if text in local:
            return text
        head, at, axes = text.partition("@")
        return self._rename_head(head) + (at + self._rename_head(axes) if at else "")

    def _rename_head(self, head: str) -> str:
        if head == "t" or head in STANDARD:
            return head
        try:
            owner, rest = split_owner(self.system, head, head)
        except LawError:
            return f"{self.prefix}.{head}"
        if owner == "system":
            return head
        if owner not in self.system and owner in self.system.nodes:
            return self._rename_potential(owner, rest)
        if owner != "world":
            return f"{self.prefix}.{head}"
        for frame in self.system.world.frames:
            if rest == frame.name or rest.startswith(f"{frame.name}."):
                return f"{self.ground.body}.{self.prefix}.{rest}"
        plain = self.ground.is_plain
        self.world_is_used = self.world_is_used or not plain
        start = self.ground.body if plain else f"{self.ground.body}.{self.prefix}.world"
        return f"{start}.{rest}" if rest else start

    def _rename_potential(self, node: str, word: str) -> str:
        """A potential of a node, which may be a joint or a reference of the target."""
        inner = self.system.nodes[node]
        name = node if inner.reference else self._port(node)
        shared = name in self.system.references and inner.domain.position is not None
        return f"{name}.{inner.domain.position}.{word}" if shared else f"{name}.{word}"

    def _place_world(self) -> None:
        """Add the named frames of the subsystem's world, and that world itself if a law names it."""
        owner = self.target[self.ground.body]
        frames = [self.frame(frame, Place()) for frame in self.system.world.frames]
        if self.world_is_used:
            frames.append(dataclasses.replace(self.ground, name=f"{self.prefix}.world"))
        if frames:
            self.target.replace(dataclasses.replace(owner, frames=(*owner.frames, *frames)))
