"""From vector links to scalar ones: one direction of the motion of a body, as a node that parts can be connected to.

A point of a body has a velocity and takes a force, three numbers each; the body has an angular velocity and takes a
moment.  A link takes out one direction, fixed in the world: a ``frame_link`` of the point, whose position along it is
that of the node, a ``turn_link`` of the body's turning.  What parts exert at the node acts on the body.

Turns about different axes do not add up to an angle: that of a ``turn_link`` is the integral of the angular velocity
along its direction, a state of its own.

What is at the node may store energy by its position, lose it by its speed or drive it; a mass belongs to the body.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.spatial import ZERO3, Pose
from kinode.expressions.syntax_tree import Expression, symbol
from kinode.model.base.element import Load, check_still
from kinode.model.base.field_reader import FieldKind, Reader, plainly
from kinode.model.base.fields import Value, frame, number, special
from kinode.model.base.frames import UNIT_LENGTH_ROUNDING, Frame, axis_vector, read_axis
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene
from kinode.model.base.value_walk import XYZ, Form
from kinode.model.network.part import Part, Row, port

ORDER = 130  # in lists of kinds


def _read_direction(reader: Reader, raw: Any, field: str) -> Any:
    axis = read_axis(reader, raw, field)
    if not all(isinstance(x, float) for x in axis_vector(axis)):
        raise reader.fail(field, "three plain numbers are expected")
    return axis


FieldKind("direction", "AxisLike", "axis", {}, plainly(_read_direction), form=Form.AXIS, parts=XYZ)


def direction() -> Any:
    return special("direction", "direction in the world: x, y, z, -x, -y, -z or three numbers", "x")


class WorldLink(Part):
    """A direction of the world, along which something of a body is a node; each kind declares it after its ports."""

    if TYPE_CHECKING:
        along: Any

    @property
    def unit(self) -> Array:
        """The direction as a vector of length 1."""
        return np.array(axis_vector(self.along), dtype=float)

    def component_of(self, vector: str) -> Scalar:
        """The component of a vector of the system, in world axes, along the direction."""
        total: Scalar = 0.0
        for letter, x in zip("xyz", axis_vector(self.along), strict=True):
            if x != 0.0:
                total = total + x * symbol(f"{vector}.{letter}")
        return total

    def placed(self, world: Frame) -> WorldLink:
        if world == Frame("world"):
            return self
        X = world.pose(lambda x: x)
        along = X.R @ self.unit
        check_still(world, along, self.name, "along")
        along = tuple(float(x) if abs(x) > UNIT_LENGTH_ROUNDING else 0.0 for x in along)
        return dataclasses.replace(self, along=along, **self.shifted(X, along))

    def shifted(self, X: Pose, along: Sequence[float]) -> Mapping[str, Any]:
        """The fields that depend on where the origin of the world is."""
        return {}


@register("frame_link", symbol="frame_link", shortcut=True)
class FrameLink(WorldLink):
    """One direction of a point of a body as a node: ``force`` is what acts on the body along it."""

    node: str = port("translational", "node that moves as the point does along the direction")
    on: Frame = frame("body, or frame with a name, whose origin moves")
    along: Any = direction()
    offset: Value = number("length", "position of the node where that of the point is 0", 0.0)
    names: ClassVar[dict[str, str]] = {"position": "node.position", "speed": "node.speed", "force": "node.force"}
    outside: ClassVar[dict[str, str]] = {"point": "length"}  # its position along the direction
    rows: ClassVar[tuple[Row, ...]] = (Row("position of the point", "node.position = point + offset", "node.position"),)

    def local_values(self) -> dict[str, Expression | float]:
        """The point as a quantity of the system."""
        return {**super().local_values(), "point": self.component_of(f"{self.on}.position")}

    def wrenches(self, scene: LawScene) -> Sequence[Load]:
        return (Load(self.on, self.unit * scene.law(symbol(f"{self.name}.node.force")), ZERO3),)

    def shifted(self, X: Pose, along: Sequence[float]) -> Mapping[str, Any]:
        return {"offset": self.offset - sum(e * x for e, x in zip(along, X.p, strict=True) if e != 0.0)}

    def check(self) -> None:
        if not self.on.is_plain and self.on.name is None:
            raise self.error_at("on", "the frame needs a name: body.at(..., name=...)")
        super().check()


@register("turn_link", symbol="turn_link", shortcut=True)
class TurnLink(WorldLink):
    """The turning of a body about one direction as a node: ``moment`` is what acts on the body about it."""

    node: str = port("rotational", "node that turns as the body does about the direction")
    on: Frame = frame("body, or frame on it, that turns")
    along: Any = direction()
    initial_angle: Value | None = number("angle", "angle of the node at the start", None, aside=True)
    names: ClassVar[dict[str, str]] = {"angle": "node.angle", "speed": "node.speed", "moment": "node.moment"}
    starts: ClassVar[dict[str, str]] = {"node.angle": "initial_angle"}
    outside: ClassVar[dict[str, str]] = {"turning": "angular_velocity"}  # of the body about the direction
    rows: ClassVar[tuple[Row, ...]] = (Row("turning of the body", "node.speed = turning", "node.speed"),)

    def local_values(self) -> dict[str, Expression | float]:
        """The angular velocity as a quantity of the system."""
        return {**super().local_values(), "turning": self.component_of(f"{self.on.body}.angular_velocity")}

    def wrenches(self, scene: LawScene) -> Sequence[Load]:
        return (Load(self.on, ZERO3, self.unit * scene.law(symbol(f"{self.name}.node.moment"))),)
