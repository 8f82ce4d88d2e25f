"""Poses of bodies as functions of the configuration, and everything that differentiating them gives.

The configuration x = (t, q, z) holds time, coordinates and the integrals of prescribed speeds.  Velocities are rates of
poses along x_dot, virtual motions are rates along the columns of N, and the kinetic energy is a bilinear form of these
rates.  No recursion is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar, rate, tidy, value_and_rate
from kinode.algebra.spatial import IDENTITY3, ZERO3, Pose, cross, dot
from kinode.expressions.definitions import Definitions
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.fields import Value
from kinode.model.base.frames import Frame
from kinode.model.joints.joint import Joint
from kinode.model.system import joint_frame
from kinode.multibody.given import JointState
from kinode.multibody.kinematics import Kinematics
from kinode.structure.evaluation_point import EMPTY
from kinode.structure.link_geometry import clean


@dataclass(frozen=True, eq=False)
class LagrangeLink:
    """A body and the joint that carries it: X_WB = X_WA near X(q)^(+-1) far; A is the carrier."""

    body: str
    carrier: str
    joint: Joint
    reversed: bool
    near: Pose
    far: Pose
    form: Array
    mass: Scalar
    center: Array
    J: Array  # about the center, in body axes


class LinkVariation(NamedTuple):
    """Derivatives of a body along a direction: pose, position of the mass center, angular velocity in body axes."""

    R_dot: Array
    p_dot: Array
    v: Array
    w: Array


class LagrangeKinematics(Kinematics):
    """One evaluation of a tree by Lagrange's equations: poses and their derivatives."""

    # -- the configuration x = (t, q, z) -------------------------------------------------------------
    @cached_property
    def x(self) -> Array:
        return np.concatenate([np.array([self.t], dtype=object), self.q, self.z])

    def law_at(self, value: Value, t: Scalar) -> Scalar:
        """A law of time, at another time than that of the instant (a dual, say)."""

        def lookup(name: str) -> Scalar:
            if name == "t":
                return t
            return self.laws.constants[name]

        def law_of(name: str) -> Value | None:
            if name == "t" or name in self.laws.constants:
                return None
            signal = self.system.signals.get(name)
            return self.system.parameters[name].value if signal is None else signal.law

        definitions = Definitions(law_of)
        return value.evaluate(lookup, self.laws.call, definitions) if isinstance(value, Expression) else value

    def coordinates(self, name: str, x: Array) -> Array:
        """q of any joint, as a function of x."""
        topology, joint = self.topology, self.system.joints[name]
        if name in topology.q_of:
            return x[1 : 1 + topology.n_q][topology.q_of[name]]
        if name in topology.z_of:
            return x[1 + topology.n_q :][topology.z_of[name]]
        if name in topology.couplings:
            coupling = topology.couplings[name]
            leader = self.coordinates(coupling.leader, x)
            coupled: Array = self.resolve(coupling.ratio) * leader + self.resolve(coupling.offset)
            return coupled
        if joint.motion is not None:
            return np.array([self.law_at(law, x[0]) for law in joint.motion], dtype=object)
        return EMPTY

    def flow(self, x: Array, u: Array, t_dot: Scalar) -> Array:
        """x_dot for speeds u; with ``t_dot`` = 0 and unit speeds these are the columns of N."""
        topology = self.topology
        x_dot = np.zeros(len(x), dtype=object)
        x_dot[0] = t_dot
        for name, where in topology.q_of.items():
            rates = self.system.joints[name].rate_map(self.coordinates(name, x), u[topology.u_of[name]])
            x_dot[1 + where.start : 1 + where.stop] = rates
        for name, where in topology.z_of.items():
            joint, start = self.system.joints.get(name), 1 + topology.n_q
            if joint is None:  # the states of moving frames do not affect the energies
                continue
            assert joint.speed is not None
            speed = np.array([self.law_at(law, x[0]) * t_dot for law in joint.speed], dtype=object)
            x_dot[start + where.start : start + where.stop] = joint.rate_map(self.coordinates(name, x), speed)
        return x_dot

    @cached_property
    def x_dot(self) -> Array:
        return self.flow(self.x, self.u, 1.0)

    @cached_property
    def x_ddot(self) -> Array:
        """x_ddot for u_dot = 0: the terms of N_dot u and of prescribed motions."""
        return rate(lambda x: self.flow(x, self.u, 1.0), self.x, self.x_dot)

    @cached_property
    def directions(self) -> list[Array]:
        """The columns of N: x_dot for a unit of each speed."""
        return [self.flow(self.x, unit, 0.0) for unit in np.eye(self.topology.n_u)]

    # -- poses and velocities ----------------------------------------------------------------------
    @cached_property
    def links(self) -> list[LagrangeLink]:
        links = []
        for node in self.topology.full.nodes:
            joint, body = node.joint, self.system.bodies[node.bodies[0]]
            C = Pose(joint.axis_rotation(self.resolve, self.system.nominal), ZERO3)
            sides = [joint_frame(joint, side).pose(self.resolve) @ C for side in ("parent", "child")]
            near, far = reversed(sides) if node.reversed else sides
            near, far = clean(near), clean(far.inverse())
            rigid, c = body.rigid_inertia(self.resolve), tidy([self.resolve(x) for x in body.center_of_mass])
            J = rigid.J - rigid.mass * ((c @ c) * IDENTITY3 - np.outer(c, c))
            form = joint.form(self.resolve)
            link = LagrangeLink(body.name, node.carrier, joint, node.reversed, near, far, form, rigid.mass, c, J)
            links.append(link)
        return links

    def find_body_poses(self, x: Array) -> Array:
        """The poses of all bodies as rows (R, p) of 12 numbers, from the joints' transforms."""
        poses = {"world": Pose(IDENTITY3, ZERO3)}
        rows = []
        for link in self.links:
            X = link.joint.transform(self.coordinates(link.joint.name, x), link.form)
            X_WB = poses[link.carrier] @ link.near @ (X.inverse() if link.reversed else X) @ link.far
            poses[link.body] = X_WB
            rows.append(np.concatenate([X_WB.R.ravel(), X_WB.p]))
        return np.array(rows, dtype=object)

    def find_variations(self, x: Array, along: Array) -> dict[str, LinkVariation]:
        """The derivatives of all bodies along a direction of x, by differentiating their poses."""
        variations = {}
        values, rates = value_and_rate(self.find_body_poses, x, along)
        for link, value, change in zip(self.links, values, rates, strict=True):
            R, R_dot, p_dot = value[:9].reshape(3, 3), change[:9].reshape(3, 3), change[9:]
            turn = R.T @ R_dot
            w = np.array([turn[2, 1], turn[0, 2], turn[1, 0]], dtype=object)
            variations[link.body] = LinkVariation(R_dot, p_dot, p_dot + R_dot @ link.center, w)
        return variations

    def pair(self, one: Mapping[str, LinkVariation], two: Mapping[str, LinkVariation]) -> Scalar:
        """The bilinear form of the kinetic energy: pair(V, V) = 2 T."""
        total: Scalar = 0.0
        for link in self.links:
            a, b = one[link.body], two[link.body]
            total = total + link.mass * dot(a.v, b.v) + dot(a.w, link.J @ b.w)
        return total

    @cached_property
    def body_poses(self) -> dict[str, Pose]:
        rows = self.find_body_poses(self.x)
        poses = {link.body: Pose(row[:9].reshape(3, 3), row[9:]) for link, row in zip(self.links, rows, strict=True)}
        return {"world": Pose(IDENTITY3, ZERO3), **poses}

    @cached_property
    def body_motions(self) -> dict[str, LinkVariation]:
        """Derivatives of all bodies along the actual motion."""
        still = LinkVariation(np.zeros((3, 3)), ZERO3, ZERO3, ZERO3)
        return {"world": still, **self.find_variations(self.x, self.x_dot)}

    @cached_property
    def virtual(self) -> list[dict[str, LinkVariation]]:
        """Derivatives of all bodies for a unit of each speed: the virtual motions."""
        return [self.find_variations(self.x, n) for n in self.directions]

    # -- energies ----------------------------------------------------------------------------------
    def potential_at(self, x: Array) -> Array:
        """Potential energy of gravity and joint stiffness as a function of x."""
        total: Scalar = 0.0
        for link, row in zip(self.links, self.find_body_poses(x), strict=True):
            total = total - link.mass * dot(self.gravity, row[9:] + row[:9].reshape(3, 3) @ link.center)
        for joint in self.system.joints.values():
            if joint.stiffness is not None:
                neutral = joint.neutral or (0.0,) * joint.n_u
                for k, q, q_0 in zip(joint.stiffness, self.coordinates(joint.name, x), neutral, strict=True):
                    stretch = q - self.resolve(q_0)
                    total = total + 0.5 * self.resolve(k) * stretch * stretch
        return np.array([total], dtype=object)

    @cached_property
    def kinetic_energy(self) -> Scalar:
        """T [J]."""
        return 0.5 * self.pair(self.body_motions, self.body_motions)

    def potential_energy(self, of_elements: Iterable[Scalar]) -> Scalar:
        """Of gravity and joint stiffness, with that of elements [J]."""
        return self.potential_at(self.x)[0] + sum(of_elements, 0.0)

    @cached_property
    def momenta(self) -> tuple[Array, Array, Array, Scalar]:
        """Momentum, angular momentum about the world's origin, first moment, mass."""
        P, L, first, mass = ZERO3, ZERO3, ZERO3, 0.0
        for link in self.links:
            X, motion = self.body_poses[link.body], self.body_motions[link.body]
            momentum, center = link.mass * motion.v, X.p + X.R @ link.center
            P, mass, first = P + momentum, mass + link.mass, first + link.mass * center
            L = L + cross(center, momentum) + X.R @ (link.J @ motion.w)
        return P, L, first, mass

    # -- poses and velocities for expressions and elements -------------------------------------------
    def body_pose(self, frame: Frame) -> Pose:
        """X_WF of a frame on a body."""
        return self.body_poses[frame.body] @ frame.pose(self.resolve)

    def body_velocity(self, frame: Frame) -> tuple[Array, Array]:
        """Angular velocity and velocity of the origin of a frame on a body, in world axes."""
        X, motion = self.body_poses[frame.body], self.body_motions[frame.body]
        return X.R @ motion.w, motion.p_dot + motion.R_dot @ frame.pose(self.resolve).p

    def find_joint_state(self, name: str) -> JointState:
        """q and u of a joint as functions of x and x_dot."""
        topology = self.topology
        q = self.coordinates(name, self.x)
        if name in topology.u_of:
            return q, self.u[topology.u_of[name]], None
        if name in topology.z_of:
            laws = self.system.joints[name].speed or ()
            return q, tidy([self.law_at(law, self.t) for law in laws]), None
        return q, rate(partial(self.coordinates, name), self.x, self.x_dot), None
