"""Forces and moments that act at points of bodies."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.spatial import ZERO3
from kinode.model.base.element import Element, Load
from kinode.model.base.fields import Value, Vector, frame, laws, record, special
from kinode.model.base.frames import Frame
from kinode.model.base.kinds import register
from kinode.model.base.scene import PositionScene

ORDER = 20  # in lists of kinds


@record
class _Push(Element):
    """A force or moment with or without its reaction."""

    on: Frame = frame("body, or frame at whose origin it acts")
    expressed_in: Frame | None = special("axes_of", "axes of the components: a body or frame; world if left out")
    reaction_on: Frame | None = special("taker", "body that takes the opposite load, at the same point")

    def check(self) -> None:
        if self.reaction_on is not None and self.reaction_on.body == self.on.body:
            raise self.error_at("reaction_on", "is the body that the load acts on")

    def placed(self, world: Frame) -> Element:
        """Without other axes the components are in those of the world that it was made in."""
        own = self.expressed_in is not None or world == Frame("world")
        return self if own else dataclasses.replace(self, expressed_in=world)

    def _components(self, scene: PositionScene, components: Sequence[Value]) -> Array:
        values = np.array([scene.law(x) for x in components], dtype=object)
        return values if self.expressed_in is None else scene.pose(self.expressed_in).R @ values


@register("force", symbol="force", shortcut=True)
class Force(_Push):
    """A force at a point, as laws; its reaction acts at the same point of space."""

    quantities: ClassVar[dict[str, str]] = {"force": "force"}
    force: Vector = laws("force", "three components")

    def wrenches(self, scene: PositionScene) -> Sequence[Load]:
        force = self._components(scene, self.force)
        load = Load(self.on, force, ZERO3)
        if self.reaction_on is None:
            return (load,)
        return (load, Load(self.reaction_on, -force, ZERO3, at=scene.pose(self.on).p))

    def quantity(self, name: str, scene: PositionScene) -> Scalar:
        return self._components(scene, self.force)


@register("moment", symbol="moment", shortcut=True)
class Moment(_Push):
    """A free moment on a body, as laws."""

    quantities: ClassVar[dict[str, str]] = {"moment": "moment"}
    moment: Vector = laws("moment", "three components")

    def wrenches(self, scene: PositionScene) -> Sequence[Load]:
        moment = self._components(scene, self.moment)
        load = Load(self.on, ZERO3, moment)
        return (load,) if self.reaction_on is None else (load, Load(self.reaction_on, ZERO3, -moment))

    def quantity(self, name: str, scene: PositionScene) -> Scalar:
        return self._components(scene, self.moment)
