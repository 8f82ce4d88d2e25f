"""Lagrange's equations on a tree: derivatives of energies, A(q) u_dot + D = Q (T-3.13); and Hamilton's canonical form.

It is an independent check of the recursive formulation.  Shared are only the poses of joints (``transform``,
``rate_map``) and the evaluation of expressions.  Motion subspaces, link inertias, recursions and the symbolic
derivatives of prescribed motions are not used.  The pose of every body follows from its chain of joints, every velocity
is the derivative of a pose along x_dot, virtual motions are rates along the columns of N, and prescribed motion enters
through derivatives with respect to t.

The configuration x = (t, q, z) holds time, coordinates and the integrals of prescribed speeds.  With x_dot = (1, N u,
z_dot), twice the kinetic energy is the quadratic form ``pair(V, V)`` of the bodies' velocities V(x, x_dot), which are
linear in x_dot.  For each direction n_i of N,

    n_i . (d/dt dT/dx_dot - dT/dx)  =  n_i . (Q - dV/dx)

holds for unit quaternions too: n_i is tangent to the possible motions, and the equations do not depend on how T is
continued beyond unit length.  Loops and reactions are not supported.

Hamilton's canonical equations (T-3.17), (T-3.18):

    H(x, p) = (p - a)' A^-1 (p - a) / 2 - T_0 + V,        p = dT/du = A u + a
    u = dH/dp,        p_dot_i = -n_i . dH/dx + [f, n_i] . dT/dx_dot + Q_i

f is the rate of x.  a and T_0 are due to prescribed motions; with them H is not the energy.  The bracket
[f, n_i] = (dn_i/dx) f - (df/dx) n_i vanishes where speeds are rates of coordinates.  Where they are angular velocities,
p are quasi-momenta and the bracket gives -w x p.  The derivatives are those of H at constant momenta; accelerations are
the rate of A^-1 (p - a) along x_dot and p_dot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar, rate, tidy, value_and_rate
from kinode.algebra.sparse_ldl import Row, sparse
from kinode.algebra.spatial import IDENTITY3, ZERO3, Pose, cross, dot, solve_spd
from kinode.expressions.definitions import Definitions
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.fields import Value
from kinode.model.base.frames import Frame
from kinode.model.joints.joint import Joint, spring_energies
from kinode.model.system import joint_frame
from kinode.multibody.given import JointState
from kinode.multibody.instant_reactions import Reactions
from kinode.multibody.kinematics import Kinematics
from kinode.multibody.link_steps import Spatial
from kinode.multibody.motion import Motion
from kinode.multibody.snapshot import Composition
from kinode.structure.state_layout import EMPTY
from kinode.structure.tree import clean


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
            for energy in spring_energies(joint, self.coordinates(joint.name, x), self.resolve):
                total = total + energy
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


class LagrangeMotion(Motion):
    """Lagrange's equations of one instant."""

    kinematics: LagrangeKinematics

    @cached_property
    def mass_matrix(self) -> Array:
        """A = d2T/du du, the bilinear form for each pair of unit speeds."""
        n, k = self.topology.n_u, self.kinematics
        A = np.zeros((n, n), dtype=object)
        for i in range(n):
            for j in range(i + 1):
                A[i, j] = A[j, i] = k.pair(k.virtual[i], k.virtual[j])
        return A

    @cached_property
    def inertial_bias(self) -> Array:
        """D: n_i . (d/dt dT/dx_dot - dT/dx) with u_dot = 0."""
        k = self.kinematics
        x, x_dot = k.x, k.x_dot

        def momenta(y: Array) -> Array:
            V = k.find_variations(y, x_dot)
            return np.array([k.pair(k.find_variations(y, n), V) for n in k.directions], dtype=object)

        def double_energy(y: Array) -> Array:
            V = k.find_variations(y, x_dot)
            return np.array([k.pair(V, V)], dtype=object)

        momenta_dot = rate(momenta, x, x_dot)
        accelerations = k.find_variations(x, k.x_ddot)
        return tidy(
            [
                momenta_dot[i] + k.pair(k.virtual[i], accelerations) - 0.5 * rate(double_energy, x, n)[0]
                for i, n in enumerate(k.directions)
            ]
        )

    @cached_property
    def mass_rows(self) -> list[Row]:
        """The rows of A."""
        return sparse(self.mass_matrix)

    @cached_property
    def generalized_force(self) -> Array:
        """Q - dV/dx along each direction: virtual work of loads and efforts, minus the derivative of the potential."""
        k, loads, total = self.kinematics, self.loads.element_loads, []
        for n, V in zip(k.directions, k.virtual, strict=True):
            Q = -rate(k.potential_at, k.x, n)[0]
            for load in loads:
                if load.on.body != "world":
                    point = k.pose(load.on).p if load.at is None else load.at
                    Q = Q + self._virtual_power(load.on.body, point, load.force, load.moment, V)
            for body, (force, moment) in self.given.wrenches.items():
                if body != "world":
                    Q = Q + self._virtual_power(body, k.body_poses[body].p, force, moment, V)
            total.append(Q)
        forces: Array = tidy(total) + self._effort_work()
        return forces

    def _virtual_power(
        self, body: str, point: Array, force: Array, moment: Array, V: Mapping[str, LinkVariation]
    ) -> Scalar:
        X, motion = self.kinematics.body_poses[body], V[body]
        arm = X.R.T @ (point - X.p)  # the point in body axes
        return dot(force, motion.p_dot + motion.R_dot @ arm) + dot(moment, X.R @ motion.w)

    def _effort_work(self) -> Array:
        """Virtual work of drives, damping and stops in the joints, and of added efforts."""
        topology, k, added = self.topology, self.kinematics, self.given.effort
        total = np.zeros(topology.n_u, dtype=object)
        for name, joint in k.system.joints.items():
            shares = self.loads.shares(name, self.loads.friction.sliding)
            outer = self.loads.outer_effort(name)
            tau = shares["drive"] + shares["damping"] + shares["stop"] + (0.0 if outer is None else outer)
            if name in topology.u_of:
                total[topology.u_of[name]] += tau
            elif joint.n_u and name in topology.couplings:
                for i, n in enumerate(k.directions):
                    total[i] = total[i] + dot(tau, rate(partial(k.coordinates, name), k.x, n))
        return total if added is None else total + added

    @cached_property
    def bias_effort(self) -> Array:
        """Q - dV/dx - D."""
        bias: Array = self.generalized_force - self.inertial_bias
        return bias

    @cached_property
    def u_dot(self) -> Array:
        """The solution of A u_dot = Q - dV/dx - D."""
        if self.given.u_dot is not None:
            return self.given.u_dot
        return tidy(solve_spd(self.mass_matrix, self.bias_effort))

    @cached_property
    def inverse_effort(self) -> Array:
        """Efforts to be added to those of the model for the given accelerations."""
        return tidy(self.mass_matrix @ self.u_dot - self.bias_effort)

    def find_accelerations(self) -> tuple[list[Array], list[Spatial]]:
        """Accelerations of node joints and links from those of the state."""
        return self.scatter(self.u_dot)


class LagrangeReactions(Reactions):
    """Efforts along joints; reactions across them are not computed."""

    def link_effort(self, name: str) -> Array:
        """The model's own efforts of a joint."""
        return self.loads.own_effort(name)


LAGRANGE = Composition(
    whole_tree=True, kinematics=LagrangeKinematics, motion=LagrangeMotion, reactions=LagrangeReactions
)
"""A snapshot by Lagrange's equations: ``Snapshot(topology, point, formulation=LAGRANGE)``."""


class HamiltonMotion(LagrangeMotion):
    """Hamilton's equations of one instant."""

    @cached_property
    def momenta(self) -> Array:
        """p of the state: dT/du."""
        k = self.kinematics
        return tidy([k.pair(n, k.find_variations(k.x, k.x_dot)) for n in k.virtual])

    def _inertia(self, x: Array) -> tuple[Array, Array, Scalar]:
        """A, a and T_0 as functions of the configuration."""
        k, n = self.kinematics, self.topology.n_u
        units = [k.find_variations(x, k.flow(x, unit, 0.0)) for unit in np.eye(n)]
        given = k.find_variations(x, k.flow(x, np.zeros(n), 1.0))
        A = np.empty((n, n), dtype=object)
        for i in range(n):
            for j in range(i + 1):
                A[i, j] = A[j, i] = k.pair(units[i], units[j])
        return A, tidy([k.pair(unit, given) for unit in units]), 0.5 * k.pair(given, given)

    def hamiltonian(self, x: Array, p: Array) -> Scalar:
        """H of configuration and momenta."""
        A, a, T_0 = self._inertia(x)
        free = p - a
        return 0.5 * (free @ solve_spd(A, free)) - T_0 + self.kinematics.potential_at(x)[0]

    @cached_property
    def momentum_rates(self) -> Array:
        """p_dot."""
        k = self.kinematics
        x, p, f = k.x, self.momenta, k.x_dot
        moving = k.find_variations(x, f)
        rates = []
        for i, n in enumerate(k.directions):
            unit = np.eye(self.topology.n_u)[i]
            slope = rate(lambda y: np.array([self.hamiltonian(y, p)], dtype=object), x, n)[0]
            potential = rate(k.potential_at, x, n)[0]
            turning = rate(lambda y, unit=unit: k.flow(y, unit, 0.0), x, f)  # type: ignore[misc]
            bracket = turning - rate(lambda y: k.flow(y, k.u, 1.0), x, n)
            rates.append(-slope + k.pair(k.find_variations(x, bracket), moving) + self.generalized_force[i] + potential)
        return tidy(rates)

    @cached_property
    def canonical_acceleration(self) -> Array:
        """The rate of u = A^-1 (p - a) along the motion."""
        k = self.kinematics
        n = len(k.x)

        def speeds(y: Array) -> Array:
            A, a, _ = self._inertia(y[:n])
            return solve_spd(A, y[n:] - a)

        return rate(speeds, np.concatenate([k.x, self.momenta]), np.concatenate([k.x_dot, self.momentum_rates]))

    @cached_property
    def bias_effort(self) -> Array:
        """What accelerates the state: A times its accelerations."""
        bias: Array = self.mass_matrix @ self.canonical_acceleration
        return bias

    @cached_property
    def u_dot(self) -> Array:
        """Accelerations of the state."""
        return self.canonical_acceleration if self.given.u_dot is None else self.given.u_dot


HAMILTON = Composition(
    whole_tree=True, kinematics=LagrangeKinematics, motion=HamiltonMotion, reactions=LagrangeReactions
)
"""A snapshot by Hamilton's equations: ``Snapshot(topology, point, formulation=HAMILTON)``."""
