"""The contacts of joints: friction that sticks, and the ends of a range.

Their modes are ``friction.mode`` (1, -1: slides forward, back; 0: sticks) and ``stop.mode`` (1, -1: at its upper, lower
end; 0: between).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kinode.algebra.scalars import Scalar, minimum
from kinode.model.base.contact import Contact, ContactLaw, JointSlip, Lock
from kinode.model.joints.coulomb_friction import SLIP
from kinode.model.joints.end_stops import Ends, bounds
from kinode.model.joints.joint import FRICTION, STOP, Joint

if TYPE_CHECKING:
    from kinode.model.base.scene import PositionScene, Scene, VelocityScene


class JointEnd(Contact):
    """One end of a joint's range: the upper (side 1) or the lower (-1)."""

    part = "stop"

    def __init__(self, joint: Joint, side: float, words: str) -> None:
        assert joint.ends is not None
        given = {name: value for name in Ends.specs() if (value := getattr(joint.ends, name)) is not None}
        law = ContactLaw(joint.ends.rigid, **given)
        super().__init__(joint.name, STOP, side, words, law, SLIP[joint.coordinates[0][1]])
        self.joint = joint

    def depth(self, scene: VelocityScene) -> Scalar:
        q, (lower, upper) = scene.joint_state(self.owner)[0][0], bounds(self.joint, scene.resolve)
        return q - upper if self.side > 0 else lower - q

    def speed(self, scene: VelocityScene) -> Scalar:
        return self.side * scene.joint_state(self.owner)[1][0]

    def acceleration(self, scene: Scene) -> Scalar:
        return self.side * scene.joint_acceleration(self.owner)[0]


def find_ends(joint: Joint) -> list[JointEnd]:
    """The contacts at the ends of a joint's range, the upper one first."""
    ends, what = joint.ends, "end" if joint.stop is not None else "flank"
    sides = [(1.0, "upper"), (-1.0, "lower")] if ends is not None else []
    given = [(side, end) for side, end in sides if getattr(ends, end, 0.0) is not None]
    return [JointEnd(joint, side, f"meets its {end} {what}") for side, end in given]


def find_slip(joint: Joint) -> list[JointSlip]:
    """The friction of a joint if it sticks."""
    if not joint.sticks:
        return []
    return [JointSlip(joint.name, "friction", ((joint.name, 1.0),), SLIP[joint.coordinates[0][1]], mode=FRICTION)]


def find_locks(joint: Joint, scene: PositionScene) -> list[Lock]:
    """A rigid end that the joint rests on, then its friction."""
    locks, modes = list[Lock](), scene.discrete_states(joint.name)
    if joint.ends is not None and joint.ends.rigid:
        takes = partial(_pushing_share, modes[STOP])
        locks.append(Lock(joint.name, "stop", ((joint.name, 1.0),), modes[STOP] * modes[STOP], modes[STOP], takes))
    return [*locks, *(slip.lock(scene, 1.0 - modes[FRICTION] * modes[FRICTION]) for slip in find_slip(joint))]


def _pushing_share(side: Scalar, effort: Scalar) -> Scalar:
    """The share of an effort that a rigid end takes: all of it that pushes."""
    return side * minimum(side * effort, 0.0)
