"""A point on a line of another body."""

from __future__ import annotations

from typing import Any, ClassVar

from kinode.algebra.scalars import Array
from kinode.model.base.fields import frame, special
from kinode.model.base.frames import Frame
from kinode.model.base.kinds import register
from kinode.model.base.scene import ConstraintScene
from kinode.model.constraints.constraint import Constraint, basis_of

ORDER = 20  # in lists of kinds


@register("point_on_line", symbol="point_on_line", shortcut=True)
class PointOnLine(Constraint):
    """The origin of a frame stays on a line of another; turning is free."""

    units: ClassVar[tuple[str, ...]] = ("length", "length")
    labels: ClassVar[tuple[str, ...]] = ("x", "y")
    point: Frame = frame("the point")
    line: Frame = frame("frame through whose origin the line goes")
    axis: Any = special("axis", "direction of the line, in that frame's axes", "z")

    def residual(self, scene: ConstraintScene) -> Array:
        X = scene.pose(self.line)
        across: Array = (X.R @ basis_of(self.axis, scene)).T @ (scene.pose(self.point).p - X.p)
        return across[:2]

    def check(self, system: Any) -> None:
        self._apart("point", "line")
