"""The revolute joint (hinge): one angle about its axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from kinode.algebra.scalars import Array, tidy
from kinode.algebra.spatial import ZERO3, Pose, turn_about
from kinode.model.base.kinds import register
from kinode.model.joints import coulomb_friction
from kinode.model.joints.coulomb_friction import Sizes, SlidingContact
from kinode.model.joints.joint import AxialJoint
from kinode.model.joints.joint_math import BEARING, Pair, Z, angle_about_z, hinge

ORDER = 20  # in lists of kinds


@register("revolute", symbol="revolute", shortcut=True)
class Revolute(AxialJoint):
    """A hinge: b turns about the axis."""

    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (("angle", "angle"),)
    n_q: ClassVar[int] = 1
    has_bearings: ClassVar[bool] = True
    rubs: ClassVar[Mapping[str, str] | None] = {"radius": BEARING, "thrust_radius": "", "length": ""}

    def transform(self, q: Array, form: Array) -> Pose:
        R, turn = turn_about(2, q[0])
        return Pose(R, ZERO3, turn)

    def motion_subspace(self, q: Array, form: Array) -> Array:
        return np.concatenate([Z, ZERO3])[:, None]

    def pairs(self, form: Array) -> tuple[Pair, ...]:
        return (hinge(Z),)

    def contacts(self, sizes: Sizes, q: Array, u: Array, form: Array) -> list[SlidingContact]:
        return [coulomb_friction.journal(sizes, Z, tidy([sizes.share(u[0])]))]

    def closure(self, X: Pose, form: Array) -> Array:
        return np.array([X.p[0], X.p[1], X.p[2], X.R[0, 2], X.R[1, 2]])

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        return np.array([angle_about_z(X.R)])
