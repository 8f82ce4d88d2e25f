"""From vector links to scalar ones: one direction of the motion of a point, as a node that parts can be connected to.

A point of a body has a velocity and takes a force, three numbers each.  A ``frame_link`` takes out one direction, fixed
in the world: the node's position is that of the point along it, and the force that parts exert there acts on the body.
What is at the node may store energy by its position, lose it by its speed or drive it; a mass belongs to the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kinode.algebra.expressions import Expression, symbol
from kinode.algebra.scalars import Scalar
from kinode.algebra.spatial import ZERO3
from kinode.errors import ModelError
from kinode.model.element import Load, Scene, register_element
from kinode.model.fields import Reader, Spec, Value, frame, number, record, special
from kinode.model.frames import Frame, axis_vector, read_axis
from kinode.model.part import Part, Row, port

if TYPE_CHECKING:
    from kinode.model.system import System


@register_element
@record
class FrameLink(Part):
    """One direction of a point of a body as a node: ``force`` is what acts on the body along it."""

    kind: ClassVar[str] = "frame_link"
    node: str = port("translational", "node that moves as the point does along the direction")
    on: Frame = frame("body, or frame with a name, whose origin moves")
    along: Any = special("direction", "direction in the world: x, y, z, -x, -y, -z or three numbers", "x")
    offset: Value = number("length", "position of the node where that of the point is 0", 0.0)
    names: ClassVar[dict[str, str]] = {"position": "node.position", "speed": "node.speed", "force": "node.force"}
    outside: ClassVar[dict[str, str]] = {"point": "length"}  # its position along the direction
    rows: ClassVar[tuple[Row, ...]] = (Row("position of the point", "node.position = point + offset", "node.position"),)

    @classmethod
    def read_direction(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Any:
        found = read_axis(reader, raw, field)
        if not all(isinstance(x, float) for x in axis_vector(found)):
            raise reader.fail(field, "three plain numbers are expected")
        return found

    def local_values(self) -> dict[str, Expression | float]:
        """The point is where the system has it."""
        point: Scalar = 0.0
        for letter, x in zip("xyz", axis_vector(self.along), strict=True):
            if x != 0.0:
                point = point + x * symbol(f"{self.on}.position.{letter}")
        return {**super().local_values(), "point": point}

    def wrenches(self, scene: Scene) -> Sequence[Load]:
        force = scene.law(symbol(f"{self.name}.node.force"))
        return (Load(self.on, np.array(axis_vector(self.along), dtype=float) * force, ZERO3),)

    def check_in(self, system: System | None) -> None:
        super().check_in(system)
        if not self.on.is_plain and self.on.name is None:
            raise ModelError("the frame needs a name: body.at(..., name=...)", component=self.name, field="on")
