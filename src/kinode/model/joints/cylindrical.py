"""The cylindrical joint: travel and angle along one axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import ZERO3, Pose, turn_about
from kinode.algebra.spatial import vector as vec
from kinode.model.base.kinds import register
from kinode.model.joints import coulomb_friction
from kinode.model.joints.coulomb_friction import Sizes, SlidingContact
from kinode.model.joints.joint import AxialJoint
from kinode.model.joints.joint_math import BEARING, Pair, Z, angle_about_z, hinge, slider

ORDER = 40  # in lists of kinds


@register("cylindrical", symbol="cylindrical", shortcut=True)
class Cylindrical(AxialJoint):
    """b travels along the axis and turns about it."""

    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (("travel", "length"), ("angle", "angle"))
    n_q: ClassVar[int] = 2
    has_bearings: ClassVar[bool] = True
    rubs: ClassVar[Mapping[str, str] | None] = {"radius": BEARING, "length": ""}

    def transform(self, q: Array, form: Array) -> Pose:
        R, turn = turn_about(2, q[1])
        return Pose(R, vec(0.0, 0.0, q[0]), turn)

    def motion_subspace(self, q: Array, form: Array) -> Array:
        return np.column_stack([np.concatenate([ZERO3, Z]), np.concatenate([Z, ZERO3])])

    def pairs(self, form: Array) -> tuple[Pair, ...]:
        return (slider(Z), hinge(Z))

    def contacts(self, sizes: Sizes, q: Array, u: Array, form: Array) -> list[SlidingContact]:
        return [coulomb_friction.guide(sizes, Z, sizes.against(u, (1.0, sizes.arm)))]

    def closure(self, X: Pose, form: Array) -> Array:
        return np.array([X.p[0], X.p[1], X.R[0, 2], X.R[1, 2]])

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        return np.array([X.p[2], angle_about_z(X.R)])
