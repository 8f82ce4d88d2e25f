"""Elements between points and at points: springs, forces, moments."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from kinode.algebra.scalars import Array, Scalar, power, sqrt
from kinode.algebra.spatial import ZERO3, dot
from kinode.errors import ModelError
from kinode.model.element import ELEMENTS, Element, Load, Scene, Solid, register_element
from kinode.model.fields import Value, Vector, frame, law, laws, number, record, special
from kinode.model.frames import Frame

__all__ = ["ELEMENTS", "Element", "Force", "Load", "Moment", "Scene", "Solid", "Spring", "register_element"]


@register_element
@record
class Spring(Element):
    """A spring and damper between two points; tension is positive when it pulls.

    tension = stiffness (length - free_length) + damping rate, or a law of the names ``length`` and ``rate``.
    """

    kind: ClassVar[str] = "spring"
    quantities: ClassVar[dict[str, str]] = {"length": "length", "rate": "velocity", "tension": "force"}
    single: ClassVar[frozenset[str]] = frozenset(quantities)
    local: ClassVar[Mapping[str, frozenset[str]]] = {"tension": frozenset({"length", "rate"})}

    a: Frame = frame("one end")
    b: Frame = frame("the other end")
    stiffness: Value = number("stiffness", "force for a unit of stretch", 0.0)
    damping: Value = number("damping", "force for a unit of rate", 0.0)
    free_length: Value = number("length", "length without load", 0.0)
    tension: Value | None = law("force", "instead of stiffness, damping, free_length: a law of length and rate")

    def check(self) -> None:
        if self.tension is None and self.stiffness == 0.0 and self.damping == 0.0:
            raise ModelError("has neither stiffness, damping nor a tension law", component=self.name)
        if self.tension is not None and (self.stiffness, self.damping, self.free_length) != (0.0, 0.0, 0.0):
            message = "give a tension law, or stiffness and damping, not both"
            raise ModelError(message, component=self.name, field="tension")
        if self.a == self.b:
            raise ModelError("both ends are the same point", component=self.name)
        for field in ("stiffness", "damping", "free_length"):
            value = getattr(self, field)
            if isinstance(value, float) and value < 0:
                raise ModelError(f"must not be negative, and is {value:g}", component=self.name, field=field)

    @property
    def conservative(self) -> bool:
        return self.tension is None and self.damping == 0.0

    def stretch(self, scene: Scene) -> tuple[Array, Scalar, Scalar]:
        """Unit vector from a to b, length, rate of length."""
        line = scene.pose(self.b).p - scene.pose(self.a).p
        length = sqrt(dot(line, line))
        if isinstance(length, float) and length == 0.0:
            raise ModelError("its ends meet, so that it has no direction to pull in", component=self.name)
        unit = line * (1.0 / length)
        rate = dot(unit, scene.velocity(self.b)[1] - scene.velocity(self.a)[1])
        return unit, length, rate

    def pull(self, scene: Scene, length: Scalar, rate: Scalar) -> Scalar:
        if self.tension is None:
            k, d, free = scene.law(self.stiffness), scene.law(self.damping), scene.law(self.free_length)
            return k * (length - free) + d * rate
        return scene.law(self.own("tension", self.tension))

    def wrenches(self, scene: Scene) -> Sequence[Load]:
        if self.free_length == 0.0 and self.damping == 0.0 and self.tension is None:
            # without free length the force is linear in the distance, also where the ends meet
            force = scene.law(self.stiffness) * (scene.pose(self.b).p - scene.pose(self.a).p)
        else:
            unit, length, rate = self.stretch(scene)
            force = unit * self.pull(scene, length, rate)
        return (Load(self.a, force, ZERO3), Load(self.b, -force, ZERO3))

    def potential(self, scene: Scene) -> Scalar:
        if self.tension is not None:
            return 0.0
        line = scene.pose(self.b).p - scene.pose(self.a).p
        k, free = scene.law(self.stiffness), scene.law(self.free_length)
        if self.free_length == 0.0:
            return 0.5 * k * dot(line, line)
        return 0.5 * k * power(sqrt(dot(line, line)) - free, 2.0)

    def quantity(self, name: str, scene: Scene) -> Scalar:
        _, length, rate = self.stretch(scene)
        if name == "tension":
            return self.pull(scene, length, rate)
        return {"length": length, "rate": rate}[name]


@record
class _Push(Element):
    """A force or moment with or without its reaction."""

    on: Frame = frame("body, or frame at whose origin it acts")
    expressed_in: Frame | None = special("axes", "axes of the components: a body or frame; world if left out")
    reaction_on: Frame | None = special("axes", "body that takes the opposite load, at the same point")

    def check(self) -> None:
        if self.reaction_on is not None and self.reaction_on.body == self.on.body:
            raise ModelError("is the body that the load acts on", component=self.name, field="reaction_on")

    def placed(self, world: Frame) -> Element:
        """Without other axes the components are in those of the world that it was made in."""
        own = self.expressed_in is not None or world == Frame("world")
        return self if own else dataclasses.replace(self, expressed_in=world)

    def _components(self, scene: Scene, components: Sequence[Value]) -> Array:
        values = np.array([scene.law(x) for x in components], dtype=object)
        return values if self.expressed_in is None else scene.pose(self.expressed_in).R @ values


@register_element
@record
class Force(_Push):
    """A force at a point, as laws; its reaction acts at the same point of space."""

    kind: ClassVar[str] = "force"
    quantities: ClassVar[dict[str, str]] = {"force": "force"}
    force: Vector = laws("force", "three components")

    def wrenches(self, scene: Scene) -> Sequence[Load]:
        force = self._components(scene, self.force)
        load = Load(self.on, force, ZERO3)
        if self.reaction_on is None:
            return (load,)
        return (load, Load(self.reaction_on, -force, ZERO3, at=scene.pose(self.on).p))

    def quantity(self, name: str, scene: Scene) -> Scalar:
        return self._components(scene, self.force)


@register_element
@record
class Moment(_Push):
    """A free moment on a body, as laws."""

    kind: ClassVar[str] = "moment"
    quantities: ClassVar[dict[str, str]] = {"moment": "moment"}
    moment: Vector = laws("moment", "three components")

    def wrenches(self, scene: Scene) -> Sequence[Load]:
        moment = self._components(scene, self.moment)
        load = Load(self.on, ZERO3, moment)
        return (load,) if self.reaction_on is None else (load, Load(self.reaction_on, ZERO3, -moment))

    def quantity(self, name: str, scene: Scene) -> Scalar:
        return self._components(scene, self.moment)
