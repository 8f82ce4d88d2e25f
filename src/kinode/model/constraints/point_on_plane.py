"""A point on a plane of another body."""

from __future__ import annotations

from typing import Any, ClassVar

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import dot
from kinode.model.base.fields import Value, frame, law, special
from kinode.model.base.frames import Frame
from kinode.model.base.kinds import register
from kinode.model.base.scene import ConstraintScene
from kinode.model.constraints.constraint import (
    Constraint,
    direction_of,
    scalar_row,
)

ORDER = 30  # in lists of kinds


@register("point_on_plane", symbol="point_on_plane", shortcut=True)
class PointOnPlane(Constraint):
    """The origin of a frame stays in a plane of another, or at a height over it; turning is free."""

    timely: ClassVar[tuple[str, ...]] = ("height",)
    units: ClassVar[tuple[str, ...]] = ("length",)
    contact: ClassVar[str] = "a support that only presses along its normal would let go"
    point: Frame = frame("the point")
    plane: Frame = frame("frame through whose origin the plane goes")
    normal: Any = special("axis", "normal of the plane, in that frame's axes", "z")
    height: Value = law("length", "height of the point over the plane, along the normal, or a law of time", 0.0)

    def residual(self, scene: ConstraintScene) -> Array:
        X = scene.pose(self.plane)
        n = X.R @ direction_of(self.normal, scene)
        return scalar_row(dot(n, scene.pose(self.point).p - X.p) - scene.law(self.height))

    def check(self, system: Any) -> None:
        self._apart("point", "plane")
