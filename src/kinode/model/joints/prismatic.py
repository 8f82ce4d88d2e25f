"""The prismatic joint (slide): one travel along its axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from kinode.algebra.scalars import Array, tidy
from kinode.algebra.spatial import IDENTITY3, ZERO3, Pose
from kinode.algebra.spatial import vector as vec
from kinode.model.base.kinds import register
from kinode.model.joints import coulomb_friction
from kinode.model.joints.coulomb_friction import Sizes, SlidingContact
from kinode.model.joints.joint import AxialJoint
from kinode.model.joints.joint_math import Pair, Z, slider, small_rotation

ORDER = 30  # in lists of kinds


@register("prismatic", symbol="prismatic", shortcut=True)
class Prismatic(AxialJoint):
    """A slide: b travels along the axis."""

    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (("travel", "length"),)
    n_q: ClassVar[int] = 1
    rubs: ClassVar[Mapping[str, str] | None] = {"radius": "", "length": ""}

    def transform(self, q: Array, form: Array) -> Pose:
        return Pose(IDENTITY3, vec(0.0, 0.0, q[0]), (2, 1.0, 0.0))

    def motion_subspace(self, q: Array, form: Array) -> Array:
        return np.concatenate([ZERO3, Z])[:, None]

    def pairs(self, form: Array) -> tuple[Pair, ...]:
        return (slider(Z),)

    def contacts(self, sizes: Sizes, q: Array, u: Array, form: Array) -> list[SlidingContact]:
        return [coulomb_friction.guide(sizes, Z, tidy([sizes.share(u[0])]), keyed=True)]

    def closure(self, X: Pose, form: Array) -> Array:
        return np.concatenate([X.p[:2], small_rotation(X.R)])

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        return np.array([X.p[2]])
