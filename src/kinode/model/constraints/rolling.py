"""A wheel or a ball that rolls without slip."""

from __future__ import annotations

from typing import Any, ClassVar

from kinode.algebra.scalars import Array, Scalar, sqrt
from kinode.algebra.spatial import cross, dot
from kinode.model.base.fields import Value, choice, frame, number, special
from kinode.model.base.frames import Frame
from kinode.model.base.kinds import register
from kinode.model.base.scene import ConstraintScene, SlidingScene
from kinode.model.constraints.constraint import (
    Constraint,
    basis_of,
    direction_of,
    scalar_row,
)

ORDER = 50  # in lists of kinds


# -- rolling and sliding ---------------------------------------------------------------------------
@register("rolling", symbol="rolling", shortcut=True)
class Rolling(Constraint):
    """A thin disc or a ball rolls on a plane: it touches, and its lowest point does not slip.

    The disc may tilt but not lie flat, since then it would touch everywhere.
    """

    units: ClassVar[tuple[str, ...]] = ("length", "velocity", "velocity")
    labels: ClassVar[tuple[str, ...]] = ("normal", "x", "y")
    contact: ClassVar[str] = "a ground that only presses would let the wheel lift off"
    undefined: ClassVar[str] = "the disc lies flat, and has no lowest point: tilt it a little, or set it on its rim"
    wheel: Frame = frame("frame at the center of the wheel")
    axis: Any = special("axis", "axle of the wheel, in that frame's axes; a ball needs none", "z")
    radius: Value = number("length", "radius of the wheel")
    ground: Frame = frame("frame through whose origin the plane goes", Frame("world"))
    normal: Any = special("axis", "normal of the plane on the side of the wheel, in that frame's axes", "z")
    shape: str = choice(("disc", "ball"), "what rolls", "disc")

    def _contact(self, scene: ConstraintScene) -> tuple[Array, Array, Scalar]:
        """Axes of the plane, from the wheel's center to the contact, height of the center that touching needs."""
        T, r = scene.pose(self.ground).R @ basis_of(self.normal, scene), scene.resolve(self.radius)
        n = T[:, 2]
        if self.shape == "ball":
            return T, -r * n, r
        e = scene.pose(self.wheel).R @ direction_of(self.axis, scene)
        tilt = dot(n, e)
        upright = sqrt(1.0 - tilt * tilt)
        return T, (tilt * e - n) * (r / upright), r * upright

    def residual(self, scene: ConstraintScene) -> Array:
        T, _, height = self._contact(scene)
        return scalar_row(dot(T[:, 2], scene.pose(self.wheel).p - scene.pose(self.ground).p) - height)

    def slip(self, scene: SlidingScene) -> Array:
        T, arm, _ = self._contact(scene)
        (w, v), (w_g, v_g) = scene.velocity(self.wheel), scene.velocity(self.ground)
        from_ground = scene.pose(self.wheel).p + arm - scene.pose(self.ground).p
        sliding = v + cross(w, arm) - v_g - cross(w_g, from_ground)
        return scalar_row(dot(T[:, 0], sliding), dot(T[:, 1], sliding))

    def check(self, system: Any) -> None:
        self._apart("wheel", "ground")
        self._positive(system, "radius")
