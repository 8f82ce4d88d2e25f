"""Absolute coordinates: the matrices of free bodies, and of the joints and constraints between them (T-10.1).

Every body has a velocity of its own, v = [w; V] in its axes about its origin, and the balance

    M v_dot + Omega v = Q + (forces of joints and constraints)        (T-10.1), matrices (T-1.6), angular part first

A joint restricts the relative motion of its two bodies, in its axes M at its point M: J_b v_b - J_a v_a = S u.  This
module computes the matrices, for every scalar type.  ``eliminated_motion`` solves the equations; ``kn.equations``
prints them.

Only poses and velocities of bodies, expressions and loads are taken from the tree; its dynamics is not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinode.algebra.scalars import Array, rate, tidy
from kinode.algebra.spatial import ZERO3, Pose, RigidInertia, cross, skew
from kinode.model.base.frames import Frame
from kinode.model.joints.joint import Joint
from kinode.model.system import joint_frame
from kinode.multibody import loop_constraints
from kinode.multibody.constraint_scenes import MotionRates
from kinode.multibody.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class FreeBody:
    """A body without its joints: M v_dot + Omega v = Q."""

    M: Array
    Omega: Array
    v: Array
    Q: Array

    @property
    def wrench(self) -> Array:
        """-Omega v + Q."""
        return tidy(self.Q - self.Omega @ self.v)


@dataclass(frozen=True, eq=False)
class JointConstraint:
    """A joint between two bodies: V_rel = J_b v_b - J_a v_a = S u, in M's canonical axes at M."""

    joint: Joint
    J_a: Array
    J_b: Array
    turning: Array  # J_a_dot v_a
    S_dot_u: Array
    S: Array
    T: Array  # wrench of unit efforts
    R: Array  # from M's canonical axes to the given ones of F

    @property
    def bias(self) -> Array:
        """J_b v_b_dot - J_a v_a_dot for u_dot = 0."""
        return tidy(self.turning + self.S_dot_u)


class Absolute:
    """The bodies, joints and constraints of one evaluation.

    ``velocities`` are given velocities of bodies; by default they follow from the state.  ``friction`` are the efforts
    of friction by joint.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        velocities: Mapping[str, Array] | None = None,
        friction: Mapping[str, Array] | None = None,
    ) -> None:
        self.snapshot = snapshot.with_friction({})
        self.topology, self.system = snapshot.topology, snapshot.system
        self.bodies = {name: 6 * k for k, name in enumerate(self.system.bodies)}
        self.velocities, self.given_friction = velocities, friction

    # -- bodies ------------------------------------------------------------------------------------
    @cached_property
    def links(self) -> dict[str, FreeBody]:
        loads = self.loads
        return {name: self._link(name, loads[name]) for name in self.bodies}

    def velocity(self, body: str) -> Array:
        """[w; V] of a body, in its axes."""
        if self.velocities is not None:
            return self.velocities[body]
        return tidy(np.concatenate(self.snapshot.kinematics.own_velocity(Frame(body))))

    def _link(self, name: str, load: Array) -> FreeBody:
        s, v = self.snapshot, self.velocity(name)
        inertia = self.system.bodies[name].rigid_inertia(s.resolve)
        M, Omega = body_matrices(inertia, v[:3])
        g = s.pose(Frame(name)).R.T @ s.gravity
        weight = np.concatenate([cross(inertia.moment, g), inertia.mass * g])  # (T-10.5)
        return FreeBody(M, Omega, v, tidy(weight + load))

    @cached_property
    def loads(self) -> dict[str, Array]:
        """Moment about the origin and force on each body, in its axes: of elements, given wrenches, joint efforts."""
        s = self.snapshot
        total: dict[str, Array] = {name: np.zeros(6) for name in self.bodies}

        def add(body: str, at: Array, force: Array, moment: Array) -> None:
            if body in total:
                X = s.pose(Frame(body))
                total[body] = total[body] + np.concatenate([X.R.T @ (moment + cross(at - X.p, force)), X.R.T @ force])

        for element in self.system.elements.values():
            for load in element.wrenches(s):
                add(load.on.body, s.pose(load.on).p if load.at is None else load.at, load.force, load.moment)
        for body, (force, moment) in s.given.wrenches.items():
            add(body, s.pose(Frame(body)).p, force, moment)
        for name, constraint in self.joint_constraints.items():
            if constraint.joint.n_u:
                for body, L in self.acting(constraint, constraint.T).items():
                    total[body] = total[body] + L @ self._own_effort(name)
        return {name: tidy(load) for name, load in total.items()}

    def _own_effort(self, name: str) -> Array:
        """The effort of a joint by the model, friction included, plus the added effort."""
        s = self.snapshot
        tau: Array = s.loads.own_effort(name) + self.friction.get(name, np.zeros(self.system.joints[name].n_u))
        added = s.given.effort
        return tidy(tau if added is None or name not in self.topology.u_of else tau + added[self.topology.u_of[name]])

    @property
    def friction(self) -> Mapping[str, Array]:
        """Efforts of friction, by joint."""
        return self.given_friction or {}

    # -- joints ------------------------------------------------------------------------------------
    @cached_property
    def joint_constraints(self) -> dict[str, JointConstraint]:
        return {name: self._joint_constraint(joint) for name, joint in self.system.joints.items()}

    def _joint_constraint(self, joint: Joint) -> JointConstraint:
        s = self.snapshot
        q, u, _ = s.joint_state(joint.name)
        form = joint.form(s.resolve)
        C = joint.axis_rotation(s.resolve, self.system.nominal)
        places, X_FM = self._places(joint, q, form, C)
        (J_a, V_a), (J_b, V_b) = (self._seen(end.body, X) for end, X in zip((joint.a, joint.b), places, strict=True))
        (w_a, v_a), (w_r, v_r) = np.split(V_a, 2), np.split(V_b - V_a, 2)
        # J_a_dot v_a: the velocity of a in axes that rotate with w_r, at a point that moves with v_r relative to a
        turning = np.concatenate([cross(w_a, w_r), cross(v_a, w_r) + cross(w_a, v_r)])
        S = tidy(joint.motion_subspace(q, form)).reshape(6, joint.n_u)
        S_dot_u: Array = np.zeros(6)
        if joint.n_u:
            S_dot_u = rate(lambda x: joint.motion_subspace(x, form) @ u, q, joint.rate_map(q, u))
        T = tidy(joint.effort_wrench(q, form)).reshape(6, joint.n_u)
        return JointConstraint(joint, J_a, J_b, tidy(turning), S_dot_u, S, T, tidy(C @ X_FM.R))

    def _places(self, joint: Joint, q: Array, form: Array, C: Array) -> tuple[tuple[Pose, Pose], Pose]:
        """M in the axes of both bodies, and in F, all in canonical axes.

        For joints of the tree they follow from the joint alone, not from poses in the world: products R'R, which are 1,
        do not arise.
        """
        s, axes = self.snapshot, Pose(C, ZERO3)
        X_aF, X_bM = (joint_frame(joint, side).pose(s.resolve) @ axes for side in ("parent", "child"))
        if joint.name not in self.topology.cut_names:
            X_FM = joint.transform(q, form)
            return (X_aF @ X_FM, X_bM), X_FM
        _, X_WM, X_FM = s.kinematics.cut_pose(joint.name)
        return (s.pose(Frame(joint.a.body)).inverse() @ X_WM, X_bM), X_FM

    def _seen(self, body: str, X: Pose) -> tuple[Array, Array]:
        """J with J v = [w; v] of a body's point at M, in M's axes; and J v.  X is M in the axes of the body."""
        if body not in self.bodies:
            return np.zeros((6, 6)), np.zeros(6)
        R = X.R.T
        J = tidy(np.block([[R, np.zeros((3, 3))], [-(R @ skew(X.p)), R]]))
        return J, tidy(J @ self.velocity(body))

    def acting(self, constraint: JointConstraint, directions: Array) -> dict[str, Array]:
        """The wrenches on the two bodies, in their axes, of given wrenches on b (and their opposites on a) at M."""
        wrenches: dict[str, Array] = {}
        a, b = constraint.joint.a.body, constraint.joint.b.body
        for body, J, sign in ((a, constraint.J_a, -1.0), (b, constraint.J_b, 1.0)):
            if body in self.bodies:
                wrenches[body] = tidy(sign * (J.T @ directions) + wrenches.get(body, 0.0))
        return wrenches

    def prescribed(self, name: str) -> Array | None:
        """The acceleration that a drive prescribes along a joint's freedoms; None without a drive."""
        if name in self.topology.couplings or not self.system.joints[name].n_u:
            return None
        return self.snapshot.joint_state(name)[2]

    # -- constraint elements -----------------------------------------------------------------------
    def element_rows(self, constraint: loop_constraints.LoopConstraint) -> tuple[dict[str, Array], Array]:
        """L and gamma of a constraint element: wrenches of unit multipliers on bodies, and L'v_dot = gamma."""
        s = self.snapshot
        L: dict[str, Array] = {}
        for j, lam in enumerate(np.eye(len(constraint.units))):
            for load in s.constraints.loads_of(constraint, lam):
                if load.on.body in self.bodies:
                    X = s.pose(Frame(load.on.body))
                    arm = s.pose(load.on).p - X.p
                    moment, force = X.R.T @ (load.moment + cross(arm, load.force)), X.R.T @ load.force
                    column = np.zeros((6, len(constraint.units)), dtype=object)
                    column[:, j] = np.concatenate([moment, force])
                    L[load.on.body] = L.get(load.on.body, 0.0) + column

        def second(frame: Frame) -> tuple[Array, Array]:
            """Accelerations of a frame for v_dot = 0 of its body, in body axes."""
            (w, v), at = s.velocity(Frame(frame.body)), s.pose(frame).p - s.pose(Frame(frame.body)).p
            return np.zeros(3), cross(w, v) + cross(w, cross(w, at))

        def turn(name: str) -> Array:
            """u_dot of a joint for v_dot = 0 of its bodies."""
            joint = self.joint_constraints[name]
            u_dot: Array = -joint.T.T @ joint.bias
            return u_dot

        then = MotionRates(second, turn)
        gamma = -loop_constraints.row_rates(s.kinematics, constraint, s.velocity, s.joint_rate, then, passing=True)
        return {body: tidy(x) for body, x in L.items()}, tidy(gamma)


def body_matrices(inertia: RigidInertia, w: Array) -> tuple[Array, Array]:
    """M and Omega of a body about its origin: M v_dot + Omega v = [moment; force] with v = [w; V] (T-1.6)."""
    m, S, J, W = inertia.mass, skew(inertia.moment), inertia.J, skew(w)
    M = np.block([[J, S], [-S, m * np.eye(3)]])
    return tidy(M), tidy(np.block([[W @ J, S @ W], [-(W @ S), m * W]]))
