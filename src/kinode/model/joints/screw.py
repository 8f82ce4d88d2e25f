"""The screw joint: an angle, and the travel that its pitch makes of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from kinode.algebra.scalars import Array, cos, sin, tidy
from kinode.algebra.spatial import ZERO3, Pose, turn_about
from kinode.algebra.spatial import vector as vec
from kinode.model.base.fields import Value, number
from kinode.model.base.frames import Resolve
from kinode.model.base.kinds import register
from kinode.model.joints import coulomb_friction
from kinode.model.joints.coulomb_friction import Sizes, SlidingContact
from kinode.model.joints.joint import AxialJoint
from kinode.model.joints.joint_math import Pair, Z

ORDER = 50  # in lists of kinds


@register("screw", symbol="screw", shortcut=True)
class Screw(AxialJoint):
    """b turns about the axis and advances by ``lead`` for each turn."""

    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (("angle", "angle"),)
    n_q: ClassVar[int] = 1
    rubs: ClassVar[Mapping[str, str] | None] = {"radius": "the mean radius of the thread"}
    lead: Value = number("lead", "advance for one whole turn")

    def form(self, resolve: Resolve) -> Array:
        return tidy([resolve(self.lead) / (2.0 * math.pi)])

    def transform(self, q: Array, form: Array) -> Pose:
        R, turn = turn_about(2, q[0])
        return Pose(R, vec(0.0, 0.0, form[0] * q[0]), turn)

    def motion_subspace(self, q: Array, form: Array) -> Array:
        return np.array([0.0, 0.0, 1.0, 0.0, 0.0, form[0]], dtype=object)[:, None]

    def pairs(self, form: Array) -> tuple[Pair, ...]:
        return (Pair(Z, turns=True, slide=form[0]),)

    def effort_wrench(self, q: Array, form: Array) -> Array:
        return np.concatenate([Z, ZERO3])[:, None]

    def locks_itself(self, nominal: Resolve) -> bool:
        """Whether the friction angle, at rest if that is given, exceeds the lead angle."""
        if self.friction is None or self.friction.slip is not None or self.friction.radius is None:
            return False
        static = self.friction.static_coefficient
        coefficient = nominal(self.friction.coefficient if static is None else static)
        slope = abs(nominal(self.lead)) / (2.0 * math.pi * nominal(self.friction.radius))
        return bool(coefficient > slope)

    def contacts(self, sizes: Sizes, q: Array, u: Array, form: Array) -> list[SlidingContact]:
        return [coulomb_friction.thread(sizes, form[0], tidy([sizes.share(u[0])]))]

    def closure(self, X: Pose, form: Array) -> Array:
        """The advance is compared within one turn; whole turns are distinguished by following the motion."""
        ahead = X.p[2] / form[0]
        return np.array([X.p[0], X.p[1], X.R[0, 2], X.R[1, 2], X.R[1, 0] * cos(ahead) - X.R[0, 0] * sin(ahead)])

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        return np.array([X.p[2] / form[0]])
