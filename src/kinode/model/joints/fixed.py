"""The fixed joint: no freedom."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import IDENTITY3, ZERO3, Pose
from kinode.model.base.kinds import register
from kinode.model.joints.joint import Joint
from kinode.model.joints.joint_math import Pair, small_rotation

ORDER = 10  # in lists of kinds


@register("fixed", symbol="fixed", shortcut=True)
class Fixed(Joint):
    """Holds b rigidly to a."""

    no_friction: ClassVar[str] = "it does not move"

    def transform(self, q: Array, form: Array) -> Pose:
        return Pose(IDENTITY3, ZERO3)

    def motion_subspace(self, q: Array, form: Array) -> Array:
        return np.zeros((6, 0))

    def pairs(self, form: Array) -> tuple[Pair, ...]:
        return ()

    def closure(self, X: Pose, form: Array) -> Array:
        return np.concatenate([X.p, small_rotation(X.R)])

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        return np.zeros(0)
