"""Springs and dampers between two points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from kinode.algebra.scalars import Array, Scalar, power, sqrt
from kinode.algebra.spatial import ZERO3, dot
from kinode.model.base.element import Element, Load, RepeatableFields
from kinode.model.base.fields import UNSIGNED, Value, frame, law, number
from kinode.model.base.frames import Frame
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene, PositionScene, VelocityScene

ORDER = 10  # in lists of kinds


@register("spring", symbol="spring", shortcut=True)
class Spring(Element):
    """A spring and damper between two points; tension is positive when it pulls.

    tension = stiffness (length - free_length) + damping rate, or a law of the names ``length`` and ``rate``.
    """

    quantities: ClassVar[dict[str, str]] = {"length": "length", "rate": "velocity", "tension": "force"}
    single: ClassVar[frozenset[str]] = frozenset(quantities)
    before_number: ClassVar[str] = "and is"
    local: ClassVar[Mapping[str, frozenset[str]]] = {"tension": frozenset({"length", "rate"})}

    a: Frame = frame("one end")
    b: Frame = frame("the other end")
    stiffness: Value = number("stiffness", "force for a unit of stretch", 0.0, range=UNSIGNED)
    damping: Value = number("damping", "force for a unit of rate", 0.0, range=UNSIGNED)
    free_length: Value = number("length", "length without load", 0.0, range=UNSIGNED)
    tension: Value | None = law("force", "instead of stiffness, damping, free_length: a law of length and rate")

    def check(self) -> None:
        if self.tension is None and self.stiffness == 0.0 and self.damping == 0.0:
            raise self.error_at(None, "has neither stiffness, damping nor a tension law")
        if self.tension is not None and (self.stiffness, self.damping, self.free_length) != (0.0, 0.0, 0.0):
            raise self.error_at("tension", "give a tension law, or stiffness and damping, not both")
        if self.a == self.b:
            raise self.error_at(None, "both ends are the same point")
        super().check()

    @property
    def conservative(self) -> bool:
        return self.tension is None and self.damping == 0.0

    def stretch(self, scene: VelocityScene) -> tuple[Array, Scalar, Scalar]:
        """Unit vector from a to b, length, rate of length."""
        line = scene.pose(self.b).p - scene.pose(self.a).p
        length = sqrt(dot(line, line))
        if isinstance(length, float) and length == 0.0:
            raise self.error_at(None, "its ends meet, so that it has no direction to pull in")
        unit = line * (1.0 / length)
        rate = dot(unit, scene.velocity(self.b)[1] - scene.velocity(self.a)[1])
        return unit, length, rate

    def pull(self, scene: LawScene, length: Scalar, rate: Scalar) -> Scalar:
        if self.tension is None:
            k, d, free = scene.law(self.stiffness), scene.law(self.damping), scene.law(self.free_length)
            return k * (length - free) + d * rate
        return scene.law(self.own("tension", self.tension))

    def wrenches(self, scene: VelocityScene) -> Sequence[Load]:
        if self.free_length == 0.0 and self.damping == 0.0 and self.tension is None:
            # without free length the force is linear in the distance, also where the ends meet
            force = scene.law(self.stiffness) * (scene.pose(self.b).p - scene.pose(self.a).p)
        else:
            unit, length, rate = self.stretch(scene)
            force = unit * self.pull(scene, length, rate)
        return (Load(self.a, force, ZERO3), Load(self.b, -force, ZERO3))

    def repeatable(self) -> RepeatableFields | None:
        numbers = ("stiffness", "damping", "free_length")
        return RepeatableFields(("a", "b"), numbers) if self.tension is None else None

    def potential(self, scene: PositionScene) -> Scalar:
        if self.tension is not None:
            return 0.0
        line = scene.pose(self.b).p - scene.pose(self.a).p
        k, free = scene.law(self.stiffness), scene.law(self.free_length)
        if self.free_length == 0.0:
            return 0.5 * k * dot(line, line)
        return 0.5 * k * power(sqrt(dot(line, line)) - free, 2.0)

    def quantity(self, name: str, scene: VelocityScene) -> Scalar:
        _, length, rate = self.stretch(scene)
        if name == "tension":
            return self.pull(scene, length, rate)
        return {"length": length, "rate": rate}[name]
