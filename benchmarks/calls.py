"""Rows about calls that a person writes: every function of a compiled system, without anything prepared.

Each is measured with what a caller reads: one value, one joint's force, a block.  Where the peer has no such call, the
limit is ten times the kernel that is run; ``python benchmarks/run.py --only "UR5: calls"`` runs them alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin

from derivatives import third
from dynamics import bind, prepared
from measure import Row, Side, call
from models import pinocchio_model, robot, state
from repeated_calls import EXAMPLES

UR5 = "ur5_robot"
TIMES_KERNEL = 10.0
WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


class Peer:
    """Pinocchio's UR5 at a state, and its calls with what a caller reads of them."""

    def __init__(self) -> None:
        self.model, self.data = pinocchio_model(robot(UR5))
        self.q, self.u = state(self.model.nv)
        self.last = self.model.njoints - 1

    def pose(self) -> Any:
        pin.forwardKinematics(self.model, self.data, self.q)
        X = self.data.oMi[self.last]
        return np.hstack([X.rotation, X.translation[:, None]])

    def position(self) -> Any:
        pin.forwardKinematics(self.model, self.data, self.q)
        return self.data.oMi[self.last].translation


def pose() -> Side:
    """Rotation and position of the last body."""
    dynamics, (q, _), _ = prepared(robot(UR5))
    value = np.hstack([part.reshape(3, -1) for part in dynamics.pose(body(dynamics), 0.0, q)])
    return call(dynamics.pose, body(dynamics), 0.0, q, value=value)


def peers_pose() -> Side:
    """Forward kinematics alone: to read a placement takes it longer than to compute it."""
    peer = Peer()
    return call(pin.forwardKinematics, peer.model, peer.data, peer.q, value=peer.pose())


def evaluated() -> Side:
    """The position of the last body by its name."""
    dynamics, (q, u), _ = prepared(robot(UR5))
    name = f"{body(dynamics)}.position"
    return reading(lambda: dynamics.evaluate(name, 0.0, q, u)[name])


def peers_position() -> Side:
    """The same, with what a caller reads."""
    return reading(Peer().position)


def jacobian() -> Side:
    """The Jacobian of the last body, in world axes."""
    dynamics, (q, _), back = prepared(robot(UR5))
    value = np.vstack([back(part) for part in dynamics.jacobian(body(dynamics), 0.0, q)[::-1]])
    return call(dynamics.jacobian, body(dynamics), 0.0, q, value=value)


def peers_jacobian() -> Side:
    """The same in the axes of the joint, which is its fastest."""
    peer = Peer()
    pin.computeJointJacobians(peer.model, peer.data, peer.q)
    value = pin.getJointJacobian(peer.model, peer.data, peer.last, WORLD).copy()
    return call(pin.computeJointJacobian, peer.model, peer.data, peer.q, peer.last, value=value)


def derivatives() -> Side:
    """Derivatives of the accelerations, and one block of them."""
    dynamics, (q, u), back = prepared(robot(UR5))
    x = third(dynamics.n_u)[np.argsort(back(np.arange(dynamics.n_u)))].copy()
    value = back(back(dynamics.derivatives(0.0, q, u, effort=x)["q"]).T).T
    return reading(lambda: dynamics.derivatives(0.0, q, u, effort=x)["q"], value)


def peers_derivatives() -> Side:
    """The same."""
    peer, tau = Peer(), third(6)

    def by_q() -> Any:
        pin.computeABADerivatives(peer.model, peer.data, peer.q, peer.u, tau)
        return peer.data.ddq_dq

    return reading(by_q)


def loaded() -> Side:
    """The acceleration under efforts."""
    dynamics, (q, u), back = prepared(robot(UR5))
    x = third(dynamics.n_u)[np.argsort(back(np.arange(dynamics.n_u)))].copy()
    return reading(lambda: dynamics.acceleration(0.0, q, u, effort=x), back(dynamics.acceleration(0.0, q, u, effort=x)))


def peers_loaded() -> Side:
    """The same."""
    peer, tau, convention = Peer(), third(6), pin.Convention.WORLD
    value = pin.aba(peer.model, peer.data, peer.q, peer.u, tau, convention).copy()
    return call(pin.aba, peer.model, peer.data, peer.q, peer.u, tau, convention, value=value)


def body(dynamics: Any) -> str:
    """The child of the last joint."""
    name: str = dynamics.system.joints["wrist_3_joint"].b.body
    return name


def reading(function: Callable[[], Any], value: Any = None) -> Side:
    """A call with what is read of its result."""
    return call(function, value=function() if value is None else value)


@cache
def with_modes() -> tuple[Any, Any, Any]:
    """The arm of the examples, whose joints stick and slide, and a state in which they slide."""
    import kinode as kn

    dynamics = kn.compile(kn.load(EXAMPLES / "ur5.yaml"))
    return dynamics, dynamics.initial.q + 0.1, dynamics.initial.u + 0.2


def without_modes() -> tuple[Any, Any, Any]:
    """The peer's arm."""
    dynamics, (q, u), _ = prepared(robot(UR5))
    return dynamics, q, u


def reactions(find: Callable[[], tuple[Any, Any, Any]]) -> Side:
    """All reactions, and the force in one joint."""
    dynamics, q, u = find()
    joint = list(dynamics.system.joints)[2]
    return unchecked(reading(lambda: dynamics.reactions(0.0, q, u)[joint].force))


def acceleration(find: Callable[[], tuple[Any, Any, Any]]) -> Side:
    """Forward dynamics."""
    dynamics, q, u = find()
    return unchecked(call(dynamics.acceleration, 0.0, q, u))


def kernel(find: Callable[[], tuple[Any, Any, Any]], name: str) -> Side:
    """The kernel of the last call in a compiled loop."""
    import ours

    dynamics, q, u = find()
    getattr(dynamics, name)(0.0, q, u)
    made = next(each for each in dynamics.kernels.made if each.name == name)
    return unchecked(ours.kernel_side(dynamics, made, q, u, dynamics.modes(0.0, q, u)))


def unchecked(side: Side) -> Side:
    """A side whose numbers are compared with none: those of the other are not the same thing."""
    return Side(side.time)


def rows() -> list[Row]:
    """The rows of this file."""
    beside = [
        ("pose of a body", "pinocchio.forwardKinematics", pose, peers_pose),
        ("one value by name", "pinocchio.forwardKinematics, read", evaluated, peers_position),
        ("Jacobian of a body", "pinocchio.computeJointJacobian", jacobian, peers_jacobian),
        ("derivatives, one block", "pinocchio.computeABADerivatives, read", derivatives, peers_derivatives),
        ("acceleration under efforts", "pinocchio.aba", loaded, peers_loaded),
    ]
    found = [Row(f"UR5: calls: {work}", name, ours, peer, 1.0) for work, name, ours, peer in beside]
    limited = [
        ("UR5: calls: reactions, one force", without_modes, reactions, "reactions"),
        ("UR5: calls: reactions, one force, with friction", with_modes, reactions, "reactions"),
        ("UR5: calls: acceleration with friction", with_modes, acceleration, "acceleration"),
    ]
    for work, find, ours, name in limited:
        sides = bind(ours, find), bind(kernel, find, name)
        found.append(Row(work, "its kernel", *sides, TIMES_KERNEL, at_most=True))
    return found
