"""LuGre friction: surfaces touch by bristles, which bend before they slip (Canudas de Wit et al., 1995).

With the deflection z and the speed u of a joint,

    dz/dt = u - stiffness |u| z / g(u),     g = sliding + (static - sliding) exp(-(u/stribeck_speed)^2)
    effort = -(stiffness z + damping dz/dt + viscous u)

There are no events: what seems to stick moves by the bending of the bristles.  The load does not enter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from kinode.algebra.scalars import Array, Scalar, absolute, exp, tidy
from kinode.model.base.fields import POSITIVE, UNSIGNED, Value, number, record
from kinode.model.base.kinds import register
from kinode.model.base.scene import VelocityScene
from kinode.model.elements.brakes import JointElement, joint

ORDER = 80  # in lists of kinds


@record
class Bristles(JointElement):
    """Friction by bristles in a joint of one freedom."""

    symbol: ClassVar[str] = "friction"
    joint: str = joint("the joint that it acts in")

    def check(self) -> None:
        super().check()
        static, sliding = getattr(self, "static", None), getattr(self, "sliding", None)
        if isinstance(static, float) and isinstance(sliding, float) and static < sliding:
            raise self.error_at("static", f"{static:g} is below the {sliding:g} of sliding")

    @property
    def states(self) -> tuple[tuple[str, str], ...]:
        return (("deflection", "angle" if self.turns else "length"),)

    def initial_states(self, resolve: Callable[[Any], Any]) -> Array:
        return np.zeros(1)

    def _parts(self, scene: VelocityScene) -> tuple[Scalar, Scalar, Scalar]:
        """Deflection, its rate, and the speed."""
        field = {name: scene.law(getattr(self, name)) for name in ("sliding", "static", "stribeck_speed", "stiffness")}
        z, u = scene.other_states(self.name)[0], scene.joint_state(self.joint)[1][0]
        ratio = u / field["stribeck_speed"]
        g = field["sliding"] + (field["static"] - field["sliding"]) * exp(-(ratio * ratio))
        return z, u - field["stiffness"] * absolute(u) * z / g, u

    def state_rates(self, scene: VelocityScene) -> Array:
        return tidy([self._parts(scene)[1]])

    def effort_of(self, scene: VelocityScene) -> Scalar:
        """What it does along its joint."""
        z, rate, u = self._parts(scene)
        stiffness, damping, viscous = (scene.law(getattr(self, name)) for name in ("stiffness", "damping", "viscous"))
        return -(stiffness * z + damping * rate + viscous * u)

    def efforts(self, scene: VelocityScene) -> Mapping[str, Scalar]:
        return {self.joint: self.effort_of(scene)}

    def quantity(self, name: str, scene: VelocityScene) -> Scalar:
        return scene.other_states(self.name)[0] if name == "deflection" else self.effort_of(scene)


@register("lugre", shortcut=True)
class LuGre(Bristles):
    """LuGre friction in a joint that turns."""

    quantities: ClassVar[dict[str, str]] = {"moment": "moment", "deflection": "angle"}
    single: ClassVar[frozenset[str]] = frozenset(quantities)
    sliding: Value = number("moment", "friction while it slides", range=POSITIVE)
    static: Value = number("moment", "friction where it begins to slide")
    stribeck_speed: Value = number("angular_velocity", "speed within which one fades to the other", range=POSITIVE)
    stiffness: Value = number("rotational_stiffness", "of the bristles", range=POSITIVE)
    damping: Value = number("rotational_damping", "of the bristles", 0.0, range=UNSIGNED)
    viscous: Value = number("rotational_damping", "moment for a unit of speed", 0.0, range=UNSIGNED)


@register("slide_lugre", shortcut=True)
class SlideLuGre(Bristles):
    """LuGre friction in a joint that slides."""

    turns: ClassVar[bool] = False
    quantities: ClassVar[dict[str, str]] = {"force": "force", "deflection": "length"}
    single: ClassVar[frozenset[str]] = frozenset(quantities)
    sliding: Value = number("force", "friction while it slides", range=POSITIVE)
    static: Value = number("force", "friction where it begins to slide")
    stribeck_speed: Value = number("velocity", "speed within which one fades to the other", range=POSITIVE)
    stiffness: Value = number("stiffness", "of the bristles", range=POSITIVE)
    damping: Value = number("damping", "of the bristles", 0.0, range=UNSIGNED)
    viscous: Value = number("damping", "force for a unit of speed", 0.0, range=UNSIGNED)
