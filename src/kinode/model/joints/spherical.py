"""The spherical joint (ball): a quaternion, and the angular velocity in the child's axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from kinode.algebra.scalars import Array, tidy
from kinode.algebra.spatial import IDENTITY3, ZERO3, Pose, quaternion_of, rotation_from_quaternion, skew
from kinode.model.base.kinds import register
from kinode.model.joints import coulomb_friction
from kinode.model.joints.coulomb_friction import Sizes, SlidingContact
from kinode.model.joints.joint import Joint
from kinode.model.joints.joint_math import Pair, X, Y, Z, hinge, quaternion_rate

ORDER = 70  # in lists of kinds


@register("spherical", symbol="spherical", shortcut=True)
class Spherical(Joint):
    """A ball joint; q is a unit quaternion, u the angular velocity in b's axes."""

    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (("x", "angle"), ("y", "angle"), ("z", "angle"))
    n_q: ClassVar[int] = 4
    quaternion: ClassVar[int | None] = 0
    rubs: ClassVar[Mapping[str, str] | None] = {"radius": "that of the ball"}

    def transform(self, q: Array, form: Array) -> Pose:
        return Pose(rotation_from_quaternion(q), ZERO3)

    def motion_subspace(self, q: Array, form: Array) -> Array:
        return np.vstack([IDENTITY3, np.zeros((3, 3))])

    def pairs(self, form: Array) -> tuple[Pair, ...]:
        return (hinge(X), hinge(Y), hinge(Z))

    def pair_accelerations(self, u: Array, u_dot: Array) -> Array:
        """Each hinge turns with those before it, which adds x cross y = z and so on to the angular acceleration."""
        x, y, z = u
        accelerations: Array = u_dot - tidy([y * z, -x * z, x * y])
        return accelerations

    def rate_map(self, q: Array, u: Array) -> Array:
        return quaternion_rate(q, u)

    def axes_rate(self, speeds: Array) -> Array:
        return skew(speeds)

    def contacts(self, sizes: Sizes, q: Array, u: Array, form: Array) -> list[SlidingContact]:
        return [coulomb_friction.ball(sizes, sizes.against(u, (1.0, 1.0, 1.0)))]

    def closure(self, X: Pose, form: Array) -> Array:
        return X.p

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        return quaternion_of(X.R)
