"""Thrust of engines, fixed to a body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from kinode.algebra.scalars import Scalar
from kinode.algebra.spatial import ZERO3
from kinode.model.base.element import Element, Load
from kinode.model.base.fields import Value, choice, frame, law
from kinode.model.base.frames import LETTERS, Frame, axis_vector
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene, PositionScene

ORDER = 120  # in lists of kinds


@register("thrust", symbol="thrust", shortcut=True)
class Thrust(Element):
    """A push along an axis of the frame that it acts at, as a law, such as a table of time.

    The mass of the body stays what it is: burnt propellant is not taken off.
    """

    quantities: ClassVar[dict[str, str]] = {"thrust": "force"}
    single: ClassVar[frozenset[str]] = frozenset(quantities)
    lawful: ClassVar[frozenset[str]] = frozenset(quantities)

    on: Frame = frame("body, or frame at whose origin it acts")
    thrust: Value = law("force", "push along the axis", ...)
    axis: str = choice(LETTERS, "direction of the push, of the axes of the frame", "x")

    def wrenches(self, scene: PositionScene) -> Sequence[Load]:
        along = scene.pose(self.on).R @ np.array(axis_vector(self.axis), dtype=float)
        return (Load(self.on, along * scene.law(self.thrust), ZERO3),)

    def quantity(self, name: str, scene: LawScene) -> Scalar:
        return scene.law(self.thrust)
