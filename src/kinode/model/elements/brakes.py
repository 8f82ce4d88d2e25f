"""Brakes and clutches: friction whose pressing force is a law.

A brake acts in a joint that turns or slides.  A clutch acts between two joints that turn, on the speed
``first - ratio second``.  While that speed is not zero they oppose it with their capacity; at rest they lock, up to the
capacity times ``static_ratio``.  The ``command``, a law from 0 to 1, is the applied share of the capacity.  The mode is
1 and -1 while it slides forward or back, 0 while it sticks, and 2 while it is released.

If two brakes, or a brake and friction, lock one joint, only the sum of their efforts is unique.  Then the first brake
takes what it can, the next one what is left, and friction the rest.  None slides before all have reached their limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from kinode.algebra.scalars import Scalar, less, maximum, minimum, sign, where
from kinode.model.base.contact import JointSlip, Lock
from kinode.model.base.element import Element, Load
from kinode.model.base.events import Root
from kinode.model.base.fields import Spec, Value, declare, law, number, record, unknown
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene, LockScene, PositionScene, Scene, VelocityScene
from kinode.model.joints.coulomb_friction import SLIP

if TYPE_CHECKING:
    from kinode.model.system import System

ORDER = 70  # in lists of kinds

RELEASED = 2.0


def joint(doc: str) -> Any:
    """The name of a joint."""
    return declare(..., Spec("joint", None, doc))


@record
class JointElement(Element):
    """Acts along joints of one freedom, and on no body."""

    pushes: ClassVar[bool] = False
    turns: ClassVar[bool] = True
    joint_fields: ClassVar[tuple[str, ...]] = ("joint",)
    other: ClassVar[str] = ""  # hint in the message about a joint of the wrong type

    def check_in(self, system: System) -> None:
        for field in self.joint_fields:
            name = getattr(self, field)
            joint = system.joints.get(name)
            if joint is None:
                raise self.error_at(field, unknown("no joint is called", name, system.joints))
            if [kind for _, kind in joint.coordinates] != ["angle" if self.turns else "length"]:
                what = "turn" if self.turns else "slide"
                message = f"{name} is a {joint.kind} joint; it acts in joints with one freedom that {what}{self.other}"
                raise self.error_at(field, message)

    def wrenches(self, scene: LawScene) -> Sequence[Load]:
        return ()


@record
class Grip(JointElement):
    """Friction in or between joints, applied by a law."""

    capacity: Value = number("moment", "what it slides with when it is fully applied")
    command: Value = law("dimensionless", "how much of the capacity is applied, a law: 0 releases", 1.0)
    static_ratio: Value = number("dimensionless", "what it holds with at rest, in parts of the capacity", 1.0)
    quantities: ClassVar[dict[str, str]] = {"moment": "moment", "slip": "angular_velocity"}
    single: ClassVar[frozenset[str]] = frozenset(quantities)

    def members(self) -> tuple[tuple[str, Value], ...]:
        """Its joints, each with the factor of its speed."""
        raise NotImplementedError

    # -- checks --------------------------------------------------------------------------------------
    def check(self) -> None:
        for field, least in (("capacity", 0.0), ("static_ratio", 1.0)):
            value = getattr(self, field)
            if isinstance(value, float) and value < least:
                raise self.error_at(field, f"must be {least:g} at least, not {value:g}")

    # -- motion --------------------------------------------------------------------------------------
    @property
    def slip(self) -> GripSlip:
        """Its friction, which sticks."""
        slow = SLIP["angle" if self.turns else "length"]
        return GripSlip(self.name, "grip", self.members(), slow, self._limit)

    def applied(self, scene: LawScene) -> Scalar:
        """The sliding friction, N or N*m; the command is limited to 0 to 1."""
        return scene.law(self.capacity) * minimum(maximum(scene.law(self.command), 0.0), 1.0)

    def efforts(self, scene: PositionScene) -> Mapping[str, Scalar]:
        push = -self._direction(scene) * self.applied(scene)
        return {name: scene.law(factor) * push for name, factor in self.members()}

    def locks(self, scene: PositionScene) -> Sequence[Lock]:
        square = scene.discrete_states(self.name)["mode"] ** 2
        return (self.slip.lock(scene, (1.0 - square) * (1.0 - 0.25 * square), partial(self._takes, scene)),)

    def _takes(self, scene: LawScene, effort: Scalar) -> Scalar:
        limit = self._limit(scene)
        return minimum(maximum(effort, -limit), limit)

    def _limit(self, scene: LawScene) -> Scalar:
        return scene.law(self.static_ratio) * self.applied(scene)

    def _direction(self, scene: PositionScene) -> Scalar:
        """1 and -1 while it slides, else 0."""
        mode = scene.discrete_states(self.name)["mode"]
        return mode * (4.0 - mode * mode) / 3.0

    def quantity(self, name: str, scene: LockScene) -> Scalar:
        if name == "slip":
            return self.slip.slip(scene)
        return -self._direction(scene) * self.applied(scene) + scene.held_effort(self.name, "grip")

    # -- events --------------------------------------------------------------------------------------
    @property
    def discrete_states(self) -> tuple[tuple[str, str], ...]:
        return (("mode", "dimensionless"),)

    def consistent_values(self, scene: VelocityScene) -> Mapping[str, Any]:
        return {"mode": where(less(0.0, self._limit(scene)), sign(self.slip.slip(scene)), RELEASED)}

    @property
    def event_functions(self) -> tuple[Root, ...]:
        return self.slip.roots

    def reset(self, scene: Scene, fired: Sequence[Any]) -> Mapping[str, Any]:
        return self.slip.settle(scene, fired, {"u": scene.u, **scene.discrete_states(self.name)})


class GripSlip(JointSlip):
    """Stick-slip of a grip, which may be released."""

    @property
    def roots(self) -> tuple[Root, ...]:
        sticking = super().roots
        words = {root.value: root.words[0] for root in sticking}
        lets_go = (
            Root("mode", value, RELEASED, partial(self._presses, 1.0), words=(word, "is released"))
            for value, word in words.items()
        )
        grips = Root("mode", RELEASED, 0.0, partial(self._presses, -1.0), words=("is released", words[0.0]))
        return (*sticking, *lets_go, grips)

    def _presses(self, sense: float, scene: Scene) -> Scalar:
        """1 while it is applied, -1 while it is released, or the other way around."""
        return sense * (2.0 * less(0.0, self.limit(scene)) - 1.0)


@register("brake", symbol="brake", shortcut=True)
class Brake(Grip):
    """A brake in a joint that turns."""

    other: ClassVar[str] = "; a slide_brake acts in those that slide"
    joint: str = joint("the joint that it brakes")

    def members(self) -> tuple[tuple[str, Value], ...]:
        return ((self.joint, 1.0),)


@register("slide_brake", shortcut=True)
class SlideBrake(Brake):
    """A brake in a joint that slides."""

    turns: ClassVar[bool] = False
    other: ClassVar[str] = "; a brake acts in those that turn"
    capacity: Value = number("force", "what it slides with when it is fully applied")
    quantities: ClassVar[dict[str, str]] = {"force": "force", "slip": "velocity"}
    single: ClassVar[frozenset[str]] = frozenset(quantities)


@register("clutch", symbol="clutch", shortcut=True)
class Clutch(Grip):
    """A clutch between two joints: the speed of the first is brought to ratio times that of the second."""

    joint_fields: ClassVar[tuple[str, ...]] = ("first", "second")
    first: str = joint("one joint")
    second: str = joint("the other")
    ratio: Value = number("dimensionless", "speed of the first for a unit of the second once it holds", 1.0)

    def members(self) -> tuple[tuple[str, Value], ...]:
        return ((self.first, 1.0), (self.second, -1.0 * self.ratio))

    def check(self) -> None:
        super().check()
        if self.first == self.second:
            raise self.error_at("second", "is the other joint of the clutch too")
