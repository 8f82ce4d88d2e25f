"""What happens at once in a joint: its friction sticks and slides, its range ends.

Modes are ``friction.mode`` (1, -1: slides forward, back; 0: sticks) and ``stop.mode`` (1, -1: at its upper, lower end;
0: between).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, less, maximum, minimum, sign, where
from kinode.model.base.events import Root
from kinode.model.base.lock import Lock
from kinode.model.base.scene import AccelerationScene, LockScene, PositionScene, VelocityScene
from kinode.model.base.stick_slip import NEARLY, comes_to_rest, sticking_roots
from kinode.model.joints.coulomb_friction import SLIP
from kinode.model.joints.end_stops import Range

if TYPE_CHECKING:
    from kinode.model.joints.joint import Joint

FRICTION, STOP = "friction.mode", "stop.mode"
SOON = 1e-9  # seconds


def held_entries(joint: Joint) -> tuple[tuple[str, str], ...]:
    """The modes of a joint."""
    entries = (FRICTION,) * joint.sticks + (STOP,) * (joint.ends is not None)
    return tuple((name, "dimensionless") for name in entries)


def settled(joint: Joint, scene: VelocityScene) -> dict[str, Any]:
    """The modes that a motion starts with, before they are iterated."""
    modes: dict[str, Any] = {}
    q, u, _ = scene.joint_state(joint.name)
    if joint.sticks:
        modes[FRICTION] = sign(u[0])
    if joint.ends is not None:
        contact = Range(joint, scene.resolve, q, u, 0.0)
        mode: Scalar = 0.0  # rigid ends are met: their roots say so
        for side, at in ((1.0, contact.upper), (-1.0, contact.lower)):
            if at is not None and not joint.ends.rigid:
                mode = mode + side * less(0.0, contact.depth(side))
        modes[STOP] = mode
    return modes


def roots(joint: Joint) -> tuple[Root, ...]:
    """What ends the modes of a joint; those of friction stand first."""
    event_functions: list[Root] = []
    if joint.sticks:
        functions = (partial(f, joint) for f in (_speed, _acceleration, _limit, _holding))
        event_functions += sticking_roots(
            FRICTION, *functions, beside=partial(_beside, joint), given=partial(_given, joint)
        )
    if joint.ends is not None:
        for side, end in ((1.0, "upper"), (-1.0, "lower")):
            if end == "upper" and getattr(joint.stop, "upper", 0.0) is None:
                continue
            if end == "lower" and getattr(joint.stop, "lower", 0.0) is None:
                continue
            what = f"{end} end" if joint.stop is not None else f"{end} flank"
            free, touch = ("is free", f"meets its {what}"), (f"meets its {what}", "is free")
            if joint.ends.rigid:
                meets = partial(_apart, joint, side), partial(_departing, joint, side)
                event_functions.append(Root(STOP, 0.0, side, *meets, free, by_state=True))
                event_functions.append(Root(STOP, side, 0.0, partial(_resting, joint, side), words=touch))
            else:
                for sense, value, then, told in ((-1.0, 0.0, side, free), (1.0, side, 0.0, touch)):
                    pushes = partial(_pushing, joint, side, sense), partial(_pushing_rate, joint, side, sense)
                    event_functions.append(Root(STOP, value, then, *pushes, told, by_state=True))
    return tuple(event_functions)


def jump(joint: Joint, scene: LockScene, fired: Sequence[Any]) -> Mapping[str, Any]:
    """Speeds after an event: none where friction begins to stick, others after an impact, which may end in rest.

    What an impact turned around does not stick on its way: it slides on, the other way.
    """
    u, held = scene.u, scene.discrete_states(joint.name)
    new: dict[str, Any] = {}
    for k, root in enumerate(joint.event_functions):
        then: Scalar = root.then
        if root.mode == FRICTION and root.then == 0.0:
            speed = _speed(joint, scene)
            rests = comes_to_rest(speed)
            u = _chosen(fired[k] * rests, scene.stopped(joint.name, "friction"), u)
            then = where(rests, 0.0, sign(speed))
        elif root.mode == STOP and root.value == 0.0 and joint.ends is not None and joint.ends.rigid:
            struck, slow = _impact(joint, scene, root.then)
            u, then = _chosen(fired[k], struck, u), where(slow, root.then, 0.0)
        assert root.mode is not None
        new[root.mode] = where(fired[k], then, new.get(root.mode, held[root.mode]))
    return new if u is scene.u else {"u": u, **new}


def locks(joint: Joint, scene: PositionScene) -> list[Lock]:
    """What holds a joint still: its friction, and a rigid end that it rests on."""
    joint_locks, held = [], scene.discrete_states(joint.name) if joint.discrete_states else {}
    if joint.sticks:
        mode = held[FRICTION]
        joint_locks.append(Lock(joint.name, "friction", ((joint.name, 1.0),), 1.0 - mode * mode))
    if joint.ends is not None and joint.ends.rigid:
        mode = held[STOP]
        takes = partial(_pushed, mode)
        joint_locks.insert(0, Lock(joint.name, "stop", ((joint.name, 1.0),), mode * mode, mode, takes))
    return joint_locks


def _chosen(fired: Scalar, new: Array, old: Array) -> Array:
    return np.array([where(fired, a, b) for a, b in zip(new, old, strict=True)], dtype=object)


# -- friction --------------------------------------------------------------------------------------
def _speed(joint: Joint, scene: VelocityScene) -> Scalar:
    return scene.joint_state(joint.name)[1][0] / SLIP[joint.coordinates[0][1]]


def _acceleration(joint: Joint, scene: AccelerationScene) -> Scalar:
    return scene.joint_acceleration(joint.name)[0]


def _limit(joint: Joint, scene: LockScene) -> Scalar:
    return scene.friction_limit(joint.name)


def _holding(joint: Joint, scene: LockScene) -> Scalar:
    return scene.held_effort(joint.name, "friction")


def _beside(joint: Joint, scene: LockScene) -> Scalar:
    return scene.held_beside(joint.name, "friction")


def _given(joint: Joint, scene: VelocityScene) -> bool:
    return scene.joint_state(joint.name)[2] is not None


# -- ends of a range -------------------------------------------------------------------------------
def _pushed(side: Scalar, effort: Scalar) -> Scalar:
    """What a rigid end takes of an effort: all that pushes."""
    return side * minimum(side * effort, 0.0)


def _range(joint: Joint, scene: VelocityScene) -> Range:
    q, u, _ = scene.joint_state(joint.name)
    return Range(joint, scene.resolve, q, u, scene.discrete_states(joint.name)[STOP])


def _apart(joint: Joint, side: float, scene: VelocityScene) -> Scalar:
    """What rests or departs is not met: it may be beyond its end by the error of a step, or the last bit of time."""
    contact = _range(joint, scene)
    gap = -contact.depth(side) / contact.size
    return where(less(0.0, side * contact.u), gap, maximum(gap, 0.0))


def _departing(joint: Joint, side: float, scene: AccelerationScene) -> Scalar:
    """The speed in a moment, so that what is at rest at its end and pressed against it rests there."""
    return -side * (scene.joint_state(joint.name)[1][0] + SOON * scene.joint_acceleration(joint.name)[0])


def _resting(joint: Joint, side: float, scene: LockScene) -> Scalar:
    """A rigid end only pushes, and any speed away ends the contact; its effort as the acceleration that it prevents."""
    holding = -side * scene.held_effort(joint.name, "stop") * scene.lock_response(joint.name, "stop")
    return minimum(holding, NEARLY + side * _speed(joint, scene))


def _impact(joint: Joint, scene: LockScene, side: float) -> tuple[Any, Scalar]:
    """Speeds after an impact, and whether the joint comes to rest at its end."""
    contact = _range(joint, scene)
    slow = less(side * contact.restitution * contact.u, contact.rest_speed)
    return scene.struck(joint.name, "stop", where(slow, 0.0, contact.restitution)), slow


def _pushing(joint: Joint, side: float, sense: float, scene: VelocityScene) -> Scalar:
    contact = _range(joint, scene)
    return sense * contact.push(side) / contact.size


def _pushing_rate(joint: Joint, side: float, sense: float, scene: AccelerationScene) -> Scalar:
    u_dot = scene.joint_acceleration(joint.name)[0]
    return sense * _range(joint, scene).push_rate(side, u_dot)
