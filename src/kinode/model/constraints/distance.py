"""Two points at a distance: a massless rod, or a law of its length."""

from __future__ import annotations

from typing import Any, ClassVar

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import dot
from kinode.model.base.fields import Value, frame, law
from kinode.model.base.frames import Frame
from kinode.model.base.kinds import register
from kinode.model.base.scene import ConstraintScene
from kinode.model.constraints.constraint import Constraint, scalar_row

ORDER = 10  # in lists of kinds


# -- between frames --------------------------------------------------------------------------------
@register("distance", symbol="distance", shortcut=True)
class Distance(Constraint):
    """Two points keep a distance, as if a massless rod held them; the multiplier is its force, positive pushing.

    With a law of time it is an actuator of prescribed length.
    """

    timely: ClassVar[tuple[str, ...]] = ("distance",)
    units: ClassVar[tuple[str, ...]] = ("length",)
    a: Frame = frame("one point")
    b: Frame = frame("the other point")
    distance: Value = law("length", "distance of the two points, or a law of time for it", ...)

    def residual(self, scene: ConstraintScene) -> Array:
        # Half the difference of squares over the length: smooth everywhere, and near the goal the error of length.
        line, length = scene.pose(self.b).p - scene.pose(self.a).p, scene.law(self.distance)
        return scalar_row((dot(line, line) - length * length) * 0.5 / length)

    def check(self, system: Any) -> None:
        self._apart("a", "b")
        self._positive(system, "distance", "; points that meet are a spherical joint")
