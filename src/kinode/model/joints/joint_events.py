"""Events of joints: friction that sticks and slides, contact at the ends of the range.

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
from kinode.model.base.stick_slip import REST_SPEED, Lock, comes_to_rest, sticking_roots
from kinode.model.joints.coulomb_friction import SLIP
from kinode.model.joints.end_stops import Range

if TYPE_CHECKING:
    from kinode.model.base.scene import AccelerationScene, LockScene, PositionScene, VelocityScene
    from kinode.model.joints.joint import Joint

FRICTION, STOP = "friction.mode", "stop.mode"
CONTACT_PREVIEW = 1e-9  # s: how far ahead the speed at an end of the range is predicted


def discrete_states(joint: Joint) -> tuple[tuple[str, str], ...]:
    """The modes of a joint."""
    entries = (FRICTION,) * joint.sticks + (STOP,) * (joint.ends is not None)
    return tuple((name, "dimensionless") for name in entries)


def consistent_values(joint: Joint, scene: VelocityScene) -> dict[str, Any]:
    """The modes that a motion starts with, before they are iterated."""
    modes: dict[str, Any] = {}
    q, u, _ = scene.joint_state(joint.name)
    if joint.sticks:
        modes[FRICTION] = sign(u[0])
    if joint.ends is not None:
        contact = Range(joint, scene.resolve, q, u, 0.0)
        mode: Scalar = 0.0  # contact with a rigid end is found by its event functions
        for side, at in ((1.0, contact.upper), (-1.0, contact.lower)):
            if at is not None and not joint.ends.rigid:
                mode = mode + side * less(0.0, contact.depth(side))
        modes[STOP] = mode
    return modes


def event_functions(joint: Joint) -> tuple[Root, ...]:
    """The event functions of a joint, those of friction first."""
    functions: list[Root] = []
    if joint.sticks:
        terms = (partial(f, joint) for f in (_speed, _acceleration, _limit, _locking_effort))
        functions += sticking_roots(
            FRICTION, *terms, beside=partial(_locked_beside, joint), given=partial(_is_prescribed, joint)
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
                meets = partial(_distance_to_end, joint, side), partial(_separation_speed, joint, side)
                functions.append(Root(STOP, 0.0, side, *meets, free, by_state=True))
                functions.append(Root(STOP, side, 0.0, partial(_contact_push, joint, side), words=touch))
            else:
                for sense, value, then, words in ((-1.0, 0.0, side, free), (1.0, side, 0.0, touch)):
                    pushes = partial(_pushing, joint, side, sense), partial(_pushing_rate, joint, side, sense)
                    functions.append(Root(STOP, value, then, *pushes, words, by_state=True))
    return tuple(functions)


def reset(joint: Joint, scene: LockScene, fired: Sequence[Any]) -> Mapping[str, Any]:
    """The reset map: zero speed where friction begins to stick, and the speeds after an impact.

    A joint whose speed an impact reversed does not stick: it slides on in the other direction.
    """
    u, modes = scene.u, scene.discrete_states(joint.name)
    new: dict[str, Any] = {}
    for k, root in enumerate(joint.event_functions):
        then: Scalar = root.then
        if root.mode == FRICTION and root.then == 0.0:
            speed = _speed(joint, scene)
            rests = comes_to_rest(speed)
            u = _select(fired[k] * rests, scene.stopped(joint.name, "friction"), u)
            then = where(rests, 0.0, sign(speed))
        elif root.mode == STOP and root.value == 0.0 and joint.ends is not None and joint.ends.rigid:
            struck, slow = _impact(joint, scene, root.then)
            u, then = _select(fired[k], struck, u), where(slow, root.then, 0.0)
        assert root.mode is not None
        new[root.mode] = where(fired[k], then, new.get(root.mode, modes[root.mode]))
    return new if u is scene.u else {"u": u, **new}


def locks(joint: Joint, scene: PositionScene) -> list[Lock]:
    """The locks of a joint: its friction, and a rigid end that it rests on."""
    joint_locks, modes = [], scene.discrete_states(joint.name) if joint.discrete_states else {}
    if joint.sticks:
        mode = modes[FRICTION]
        joint_locks.append(Lock(joint.name, "friction", ((joint.name, 1.0),), 1.0 - mode * mode))
    if joint.ends is not None and joint.ends.rigid:
        mode = modes[STOP]
        takes = partial(_pushing_share, mode)
        joint_locks.insert(0, Lock(joint.name, "stop", ((joint.name, 1.0),), mode * mode, mode, takes))
    return joint_locks


def _select(fired: Scalar, new: Array, old: Array) -> Array:
    return np.array([where(fired, a, b) for a, b in zip(new, old, strict=True)], dtype=object)


# -- friction --------------------------------------------------------------------------------------
def _speed(joint: Joint, scene: VelocityScene) -> Scalar:
    return scene.joint_state(joint.name)[1][0] / SLIP[joint.coordinates[0][1]]


def _acceleration(joint: Joint, scene: AccelerationScene) -> Scalar:
    return scene.joint_acceleration(joint.name)[0]


def _limit(joint: Joint, scene: LockScene) -> Scalar:
    return scene.friction_limit(joint.name)


def _locking_effort(joint: Joint, scene: LockScene) -> Scalar:
    return scene.held_effort(joint.name, "friction")


def _locked_beside(joint: Joint, scene: LockScene) -> Scalar:
    return scene.held_beside(joint.name, "friction")


def _is_prescribed(joint: Joint, scene: VelocityScene) -> bool:
    return scene.joint_state(joint.name)[2] is not None


# -- ends of a range -------------------------------------------------------------------------------
def _pushing_share(side: Scalar, effort: Scalar) -> Scalar:
    """The share of an effort that a rigid end takes: all of it that pushes."""
    return side * minimum(side * effort, 0.0)


def _range(joint: Joint, scene: VelocityScene) -> Range:
    q, u, _ = scene.joint_state(joint.name)
    return Range(joint, scene.resolve, q, u, scene.discrete_states(joint.name)[STOP])


def _distance_to_end(joint: Joint, side: float, scene: VelocityScene) -> Scalar:
    """The distance to an end, scaled; not negative for a joint at rest or moving away.

    Such a joint may be beyond its end by the error of a step or the rounding of the event time.
    """
    contact = _range(joint, scene)
    distance = -contact.depth(side) / contact.size
    return where(less(0.0, side * contact.u), distance, maximum(distance, 0.0))


def _separation_speed(joint: Joint, side: float, scene: AccelerationScene) -> Scalar:
    """The speed away from an end a moment later: negative for a joint that is at rest there and pressed against it."""
    return -side * (scene.joint_state(joint.name)[1][0] + CONTACT_PREVIEW * scene.joint_acceleration(joint.name)[0])


def _contact_push(joint: Joint, side: float, scene: LockScene) -> Scalar:
    """Positive while a rigid end pushes and the joint does not move away; the push as the acceleration it prevents."""
    push = -side * scene.held_effort(joint.name, "stop") * scene.lock_response(joint.name, "stop")
    return minimum(push, REST_SPEED + side * _speed(joint, scene))


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
