"""A blade that does not slip sideways."""

from __future__ import annotations

from typing import Any, ClassVar

from kinode.algebra.scalars import Array, sqrt
from kinode.algebra.spatial import cross, dot
from kinode.model.base.fields import frame, special
from kinode.model.base.frames import Frame
from kinode.model.base.kinds import register
from kinode.model.base.scene import SlidingScene
from kinode.model.constraints.constraint import (
    Constraint,
    direction_of,
    scalar_row,
)

ORDER = 60  # in lists of kinds


@register("knife_edge", symbol="knife_edge", shortcut=True)
class KnifeEdge(Constraint):
    """A blade, skate or wheel of no size: its point moves along the blade, not across it in the plane."""

    units: ClassVar[tuple[str, ...]] = ("velocity",)
    blade: Frame = frame("frame at the point of contact")
    axis: Any = special("axis", "direction of the blade, in that frame's axes", "x")
    ground: Frame = frame("what the blade moves on", Frame("world"))
    normal: Any = special("axis", "normal of the plane, in the ground's axes", "z")

    def slip(self, scene: SlidingScene) -> Array:
        X, G = scene.pose(self.blade), scene.pose(self.ground)
        side = cross(G.R @ direction_of(self.normal, scene), X.R @ direction_of(self.axis, scene))
        (_, v), (w_g, v_g) = scene.velocity(self.blade), scene.velocity(self.ground)
        across = dot(side, v - v_g - cross(w_g, X.p - G.p))
        return scalar_row(across / sqrt(dot(side, side)))

    def check(self, system: Any) -> None:
        self._apart("blade", "ground")
