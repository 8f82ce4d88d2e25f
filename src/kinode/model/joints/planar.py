"""The planar joint: two travels in a plane and an angle about its normal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import ZERO3, Pose, skew, turn_about
from kinode.algebra.spatial import vector as vec
from kinode.model.base.kinds import register
from kinode.model.joints import coulomb_friction
from kinode.model.joints.coulomb_friction import Sizes, SlidingContact
from kinode.model.joints.joint import AxialJoint
from kinode.model.joints.joint_math import Pair, X, Y, Z, angle_about_z, hinge, slider

ORDER = 80  # in lists of kinds


@register("planar", symbol="planar", shortcut=True)
class Planar(AxialJoint):
    """b slides in the plane across the axis (x, y in a's axes) and turns about the axis."""

    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (("x", "length"), ("y", "length"), ("angle", "angle"))
    n_q: ClassVar[int] = 3
    rubs: ClassVar[Mapping[str, str] | None] = {"radius": "", "length": ""}

    def transform(self, q: Array, form: Array) -> Pose:
        R, turn = turn_about(2, q[2])
        return Pose(R, vec(q[0], q[1], 0.0), turn)

    def motion_subspace(self, q: Array, form: Array) -> Array:
        R, _ = turn_about(2, q[2])
        return np.vstack([np.column_stack([ZERO3, ZERO3, Z]), np.column_stack([R.T[:, 0], R.T[:, 1], ZERO3])])

    def pairs(self, form: Array) -> tuple[Pair, ...]:
        return (slider(X), slider(Y), hinge(Z))

    def axes_rate(self, speeds: Array) -> Array:
        return skew(speeds[2] * Z)

    def contacts(self, sizes: Sizes, q: Array, u: Array, form: Array) -> list[SlidingContact]:
        return [coulomb_friction.floor(sizes, Z, sizes.against(u, (1.0, 1.0, sizes.arm)))]

    def closure(self, X: Pose, form: Array) -> Array:
        return np.array([X.p[2], X.R[0, 2], X.R[1, 2]])

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        return np.array([X.p[0], X.p[1], angle_about_z(X.R)])
