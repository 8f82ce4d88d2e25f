"""Brakes and clutches: friction that a law presses together.

A brake acts in a joint that turns, a clutch between two of them, on ``first - ratio second``.  Both slide with
their capacity against it, and hold up to that (times ``static_ratio``) once it is zero.  How much of the capacity is
applied is a law, the ``command``, from 0 (released) to 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kinode.algebra.scalars import Scalar, maximum, minimum, sign, where
from kinode.errors import ModelError
from kinode.model.element import Element, Load, Scene, register_element
from kinode.model.events import Root
from kinode.model.fields import Spec, Value, declare, law, number, record, unknown
from kinode.model.friction import SLIP
from kinode.model.locks import Lock
from kinode.model.sticking import comes_to_rest, sticking_roots

if TYPE_CHECKING:
    from kinode.model.system import System


def joint(doc: str) -> Any:
    """The name of a joint."""
    return declare(..., Spec("joint", None, doc))


@record
class Grip(Element):
    """What rubs between joints, pressed by a law."""

    pushes: ClassVar[bool] = False  # what it does it does along joints
    capacity: Value = number("moment", "what it slides with when it is fully applied")
    command: Value = law("dimensionless", "how much of the capacity is applied, a law: 0 releases", 1.0)
    static_ratio: Value = number("dimensionless", "what it holds with at rest, in parts of the capacity", 1.0)
    quantities: ClassVar[dict[str, str]] = {"moment": "moment", "slip": "angular_velocity"}
    single: ClassVar[frozenset[str]] = frozenset(quantities)

    def members(self) -> tuple[tuple[str, Value], ...]:
        """Its joints, with the factors of their speeds."""
        raise NotImplementedError

    # -- checks --------------------------------------------------------------------------------------
    def check(self) -> None:
        for field, least in (("capacity", 0.0), ("static_ratio", 1.0)):
            value = getattr(self, field)
            if isinstance(value, float) and value < least:
                raise ModelError(f"must be {least:g} at least, not {value:g}", component=self.name, field=field)

    def check_in(self, system: System) -> None:
        for field in self.joint_fields:
            name = getattr(self, field)
            found = system.joints.get(name)
            if found is None:
                message = unknown("no joint is called", name, system.joints)
                raise ModelError(message, component=self.name, field=field)
            if [kind for _, kind in found.coordinates] != ["angle"]:
                message = f"{name} is a {found.kind} joint; it acts in joints with one freedom that turn"
                raise ModelError(message, component=self.name, field=field)

    joint_fields: ClassVar[tuple[str, ...]] = ()

    # -- motion --------------------------------------------------------------------------------------
    def slip_of(self, scene: Any) -> Scalar:
        """The speed that it rubs with."""
        return sum((scene.law(f) * scene.joint_state(n)[1][0] for n, f in self.members()), 0.0)

    def applied(self, scene: Any) -> Scalar:
        """What it slides with: a command beyond 0 and 1 counts as these."""
        return scene.law(self.capacity) * minimum(maximum(scene.law(self.command), 0.0), 1.0)

    def efforts(self, scene: Any) -> Mapping[str, Scalar]:
        push = -scene.held(self.name)["mode"] * self.applied(scene)
        return {name: scene.law(factor) * push for name, factor in self.members()}

    def wrenches(self, scene: Scene) -> Sequence[Load]:
        return ()

    def locks(self, scene: Any) -> Sequence[Lock]:
        mode = scene.held(self.name)["mode"]
        return (Lock(self.name, "grip", tuple((n, scene.law(f)) for n, f in self.members()), 1.0 - mode * mode),)

    def quantity(self, name: str, scene: Any) -> Scalar:
        if name == "slip":
            return self.slip_of(scene)
        return -scene.held(self.name)["mode"] * self.applied(scene) + scene.held_effort(self.name, "grip")

    # -- events --------------------------------------------------------------------------------------
    @property
    def held(self) -> tuple[tuple[str, str], ...]:
        return (("mode", "dimensionless"),)

    def settled(self, scene: Any) -> Mapping[str, Any]:
        return {"mode": sign(self.slip_of(scene))}

    def _speed(self, scene: Any) -> Scalar:
        return self.slip_of(scene) / SLIP["angle"]

    def _rate(self, scene: Any) -> Scalar:
        return sum((scene.law(f) * scene.joint_acceleration(n)[0] for n, f in self.members()), 0.0)

    def _limit(self, scene: Any) -> Scalar:
        return scene.law(self.static_ratio) * self.applied(scene)

    def _holding(self, scene: Any) -> Scalar:
        return scene.held_effort(self.name, "grip")

    @property
    def roots(self) -> tuple[Root, ...]:
        return sticking_roots("mode", self._speed, self._rate, self._limit, self._holding)

    def jump(self, scene: Any, fired: Sequence[Any]) -> Mapping[str, Any]:
        sticks = sum((f for f, root in zip(fired, self.roots, strict=True) if root.then == 0.0), 0.0)
        rests = sticks * comes_to_rest(self._speed(scene))
        still = scene.stopped(self.name, "grip")
        return {"u": np.array([where(rests, a, b) for a, b in zip(still, scene.u, strict=True)], dtype=object)}


@register_element
@record
class Brake(Grip):
    """A brake in a joint of one freedom."""

    kind: ClassVar[str] = "brake"
    joint_fields: ClassVar[tuple[str, ...]] = ("joint",)
    joint: str = joint("the joint that it brakes")

    def members(self) -> tuple[tuple[str, Value], ...]:
        return ((self.joint, 1.0),)


@register_element
@record
class Clutch(Grip):
    """A clutch between two joints: the speed of the first is brought to ratio times that of the second."""

    kind: ClassVar[str] = "clutch"
    joint_fields: ClassVar[tuple[str, ...]] = ("first", "second")
    first: str = joint("one joint")
    second: str = joint("the other")
    ratio: Value = number("dimensionless", "speed of the first for a unit of the second once it holds", 1.0)

    def members(self) -> tuple[tuple[str, Value], ...]:
        return ((self.first, 1.0), (self.second, -1.0 * self.ratio))

    def check(self) -> None:
        super().check()
        if self.first == self.second:
            raise ModelError("is the other joint of the clutch too", component=self.name, field="second")
