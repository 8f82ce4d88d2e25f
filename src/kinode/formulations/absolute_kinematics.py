"""Absolute coordinates as the state: every body has a position, a quaternion and a velocity of its own (T-10.9).

    x = (position of the origin in world axes, quaternion) of each body,   v = [w; V] in body axes,   x_dot = D v

The joints have no coordinates of their own here: theirs are measured between the bodies.  A measured angle is known up
to full turns, so that the integral of its speed goes along as a further state, which decides the turn and nothing else.
Quaternions, unlike three angles, have no singular position: they are 26 equations for two bodies in place of 24.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from kinode.algebra.scalars import Array, Scalar, floor, tidy
from kinode.algebra.spatial import IDENTITY_POSE, ZERO3, Pose, cross, quaternion_from_rotation, rotation_from_quaternion
from kinode.algebra.trace import Tape
from kinode.formulations.eliminated_motion import EliminatedMotion
from kinode.model.base.frames import Frame
from kinode.model.joints.joint_math import quaternion_rate
from kinode.multibody import loop_constraints
from kinode.multibody.given import JointState
from kinode.multibody.kinematics import Kinematics
from kinode.multibody.loop_constraints import CutJointConstraint, LoopConstraint
from kinode.multibody.snapshot import Composition, Snapshot
from kinode.structure.spanning_tree import Cut
from kinode.structure.state_layout import EMPTY, EvaluationPoint
from kinode.structure.topology import Topology

POSE_SIZE, SPEEDS = 7, 6
TURN = 2.0 * math.pi


class AbsoluteLayout:
    """Sizes and places of the absolute state [x, v, z, turns]."""

    def __init__(self, topology: Topology) -> None:
        self.topology, self.bodies = topology, tuple(topology.system.bodies)
        self.turning = find_turning(topology)

    @property
    def n_x(self) -> int:
        return POSE_SIZE * len(self.bodies)

    @property
    def n_v(self) -> int:
        return SPEEDS * len(self.bodies)

    @property
    def n_z(self) -> int:
        """The other states, and the turns of measured angles."""
        return self.topology.n_z + len(self.turning)

    @property
    def quaternions(self) -> tuple[int, ...]:
        """The indices at which quaternions begin in [x, v, z]."""
        own = [i for i in self.topology.layout.quaternions if i >= self.topology.n_q + self.topology.n_u]
        shift = self.n_x + self.n_v - self.topology.n_q - self.topology.n_u
        return (*(POSE_SIZE * k + 3 for k in range(len(self.bodies))), *(i + shift for i in own))

    def traced_point(self, tape: Tape) -> EvaluationPoint:
        """A point of absolute coordinates whose entries are the inputs of a tape."""
        sizes = (("q", self.n_x), ("u", self.n_v), ("z", self.n_z), ("p", len(self.topology.parameters)))
        arrays = {name: tape.inputs(name, size) for name, size in (*sizes, ("inputs", len(self.topology.inputs)))}
        return EvaluationPoint(tape.input("t", 0), **arrays)

    def from_joints(self, point: EvaluationPoint) -> Array:
        """The absolute state of a point in joint coordinates, of plain numbers."""
        s = Snapshot(self.topology, point)
        x, v = [], []
        for body in self.bodies:
            X = s.pose(Frame(body))
            R = np.asarray(X.R, dtype=float)
            x += [*X.p, *quaternion_from_rotation(R)]
            v += [y for part in s.velocity(Frame(body)) for y in R.T @ np.asarray(part, dtype=float)]
        turns = [float(s.joint_state(joint)[0][k]) for joint, k in self.turning]
        return np.array([*x, *v, *point.z, *turns], dtype=float)


def find_turning(topology: Topology) -> tuple[tuple[str, int], ...]:
    """The coordinates of the state that are angles: the joint of each, and its number there."""
    joints = topology.system.joints
    return tuple(
        (name, k)
        for name in topology.q_of
        if joints[name].quaternion is None
        for k, (_, kind) in enumerate(joints[name].coordinates)
        if kind == "angle"
    )


class AbsoluteKinematics(Kinematics):
    """Poses and velocities of bodies from their own coordinates; joints of the state are measured.

    The point has x in the place of q, v in that of u, and the turns of measured angles at the end of z.
    """

    @cached_property
    def _own(self) -> dict[str, tuple[Pose, Array]]:
        own: dict[str, tuple[Pose, Array]] = {"world": (IDENTITY_POSE, np.zeros(SPEEDS))}
        for k, body in enumerate(self.system.bodies):
            x = self.q[POSE_SIZE * k :][:POSE_SIZE]
            own[body] = Pose(rotation_from_quaternion(x[3:]), x[:3]), self.u[SPEEDS * k :][:SPEEDS]
        return own

    def body_pose(self, frame: Frame) -> Pose:
        """X_WF of a frame on a body."""
        X = self._own[frame.body][0]
        return X if frame.is_plain else X @ frame.pose(self.resolve)

    def body_velocity(self, frame: Frame) -> tuple[Array, Array]:
        """Angular velocity and velocity of the origin of a frame on a body, in world axes."""
        X, v = self._own[frame.body]
        if frame.body == "world":
            return ZERO3, ZERO3
        arm = ZERO3 if frame.is_plain else frame.pose(self.resolve).p
        return X.R @ v[:3], X.R @ (v[3:] + cross(v[:3], arm))

    def find_joint_state(self, name: str) -> JointState:
        """q and u of a joint: measured, or prescribed, or those of its leader."""
        if name not in self.topology.q_of:
            return super().find_joint_state(name)
        q, u = self.cut_state(name)
        q = tidy(q)
        for k, (joint, number) in enumerate(find_turning(self.topology)):
            if joint == name:
                near = self.z[self.topology.n_z + k]
                q[number] = _beside(q[number], near)
        return q, u, None

    # -- rates of the state ------------------------------------------------------------------------
    @property
    def x_dot(self) -> Array:
        """D v."""
        rates: list[Scalar] = []
        for k, body in enumerate(self.system.bodies):
            X, v = self._own[body]
            rates += [*(X.R @ v[3:]), *quaternion_rate(self.q[POSE_SIZE * k + 3 :][:4], v[:3])]
        return tidy(rates)

    @property
    def turn_rates(self) -> list[Scalar]:
        """The speeds of the measured angles."""
        return [self.joint_state(joint)[1][k] for joint, k in find_turning(self.topology)]

    # -- drift -------------------------------------------------------------------------------------
    def find_drift(self) -> dict[str, tuple[Array, Array]]:
        """How far each joint, drive, gear and constraint is violated: positions in m and rad, and their rates."""
        drift: dict[str, tuple[Array, Array]] = {}
        for joint in self.system.joints.values():
            positions, rates = self._violation(CutJointConstraint(Cut(joint, ())))
            if joint.n_u and (joint.driven or joint.name in self.topology.couplings):
                wanted, measured = super().find_joint_state(joint.name), self.cut_state(joint.name)
                rates = np.concatenate([rates, measured[1] - wanted[1]])
                if joint.quaternion is None:
                    kinds = [kind for _, kind in joint.coordinates]
                    pairs = zip(measured[0], wanted[0], kinds, strict=True)
                    own = [(_beside(x, y) if kind == "angle" else x) - y for x, y, kind in pairs]
                    positions = np.concatenate([positions, tidy(own)])
            drift[joint.name] = positions, rates
        for constraint in self.topology.constraints:
            drift[constraint.name] = self._violation(loop_constraints.loop_constraint_of(self.topology, constraint))
        return drift

    def _violation(self, constraint: LoopConstraint) -> tuple[Array, Array]:
        if not constraint.units:
            return EMPTY, EMPTY
        return loop_constraints.residual(self, [constraint])[0], loop_constraints.drift(self, [constraint])[0]


def _beside(angle: Scalar, near: Scalar) -> Scalar:
    """An angle plus the full turns that bring it nearest to another one."""
    return angle + TURN * floor((near - angle) * (1.0 / TURN) + 0.5)


ABSOLUTE = Composition(whole_tree=True, kinematics=AbsoluteKinematics, motion=EliminatedMotion)
"""A snapshot in absolute coordinates: its point holds x and v in place of q and u."""


def trace_rate(topology: Topology, tape: Tape) -> list[Scalar]:
    """The rate of the absolute state [x, v, z, turns]: (77), (78) of the elastic system."""
    s = Snapshot(topology, AbsoluteLayout(topology).traced_point(tape), formulation=ABSOLUTE)
    motion, kinematics = s.motion, s.kinematics
    assert isinstance(motion, EliminatedMotion) and isinstance(kinematics, AbsoluteKinematics)
    return [*kinematics.x_dot, *motion.elimination.solution[0], *s.z_dot, *kinematics.turn_rates]


def trace_measurement(topology: Topology, tape: Tape) -> list[Scalar]:
    """q, u, z in joint coordinates, and then the largest violations of each owner."""
    s = Snapshot(topology, AbsoluteLayout(topology).traced_point(tape), formulation=ABSOLUTE)
    kinematics = s.kinematics
    assert isinstance(kinematics, AbsoluteKinematics)
    states = [kinematics.joint_state(name) for name in topology.q_of]
    values = [x for q, _, _ in states for x in q] + [x for _, u, _ in states for x in u]
    values += list(kinematics.z[: topology.n_z])
    for positions, rates in kinematics.find_drift().values():
        values += [*positions, *rates]
    return values


def drift_sizes(topology: Topology) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The units (length or angle) of the entries of ``find_drift``: positions and rates by owner."""
    sizes: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for joint in topology.system.joints.values():
        units = positions = Cut(joint, ()).units
        if joint.n_u and (joint.driven or joint.name in topology.couplings):
            kinds = tuple(kind for _, kind in joint.coordinates)
            units = (*units, *kinds)
            positions = units if joint.quaternion is None else positions
        sizes[joint.name] = positions, units
    for constraint in topology.constraints:
        sizes[constraint.name] = (tuple(constraint.rows(topology.system)),) * 2
    return sizes
