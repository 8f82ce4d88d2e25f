"""Two directions at an angle."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from kinode.algebra.scalars import Array, cos, sin
from kinode.algebra.spatial import dot
from kinode.model.base.fields import Value, frame, law, special
from kinode.model.base.frames import Frame
from kinode.model.base.kinds import register
from kinode.model.base.scene import ConstraintScene
from kinode.model.constraints.constraint import (
    PARALLEL_ANGLE,
    Constraint,
    direction_of,
    law_at_start,
    scalar_row,
)

ORDER = 40  # in lists of kinds


@register("angle", symbol="angle", shortcut=True)
class AngleConstraint(Constraint):
    """Directions of two frames keep an angle, neither parallel nor opposite; the multiplier is the moment."""

    timely: ClassVar[tuple[str, ...]] = ("angle",)
    units: ClassVar[tuple[str, ...]] = ("angle",)
    a: Frame = frame("one frame")
    b: Frame = frame("the other frame")
    axes: Any = special("axes", "the direction in each frame", ("z", "z"))
    angle: Value = law("angle", "angle between the two directions, or a law of time for it", float(np.pi / 2))

    def residual(self, scene: ConstraintScene) -> Array:
        one, two = (
            scene.pose(side).R @ direction_of(axis, scene)
            for side, axis in zip((self.a, self.b), self.axes, strict=True)
        )
        wanted = scene.law(self.angle)
        return scalar_row((cos(wanted) - dot(one, two)) / sin(wanted))  # near the goal the error of the angle

    def check(self, system: Any) -> None:
        self._apart("a", "b")
        angle = law_at_start(system, self.angle)
        if not PARALLEL_ANGLE < angle < np.pi - PARALLEL_ANGLE:
            message = f"must lie between 0 and 180 deg, not {np.degrees(angle):g} deg; parallel axes need a joint"
            raise self.error_at("angle", message)
