"""Lagrange's equations: derivatives of energies, A(q) u_dot + D = Q (T-3.13), on a tree.

It is an independent check of the recursive formulation.  Shared are only the poses of joints (``transform``,
``rate_map``) and the evaluation of expressions.  Motion subspaces, link inertias, recursions and the symbolic
derivatives of prescribed motions are not used.  The pose of every body follows from its chain of joints, every velocity
is the derivative of a pose, and prescribed motion enters through derivatives with respect to t.

With x = (t, q, z) and x_dot = (1, N u, z_dot), twice the kinetic energy is the quadratic form
``pair(V, V)`` of the bodies' velocities V(x, x_dot), which are linear in x_dot.  For each direction n_i of N,

    n_i . (d/dt dT/dx_dot - dT/dx)  =  n_i . (Q - dV/dx)

holds for unit quaternions too: n_i is tangent to the possible motions, and the equations do not depend on how T is
continued beyond unit length.  Loops and reactions are not supported.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial

import numpy as np

from kinode.algebra.scalars import Array, Scalar, rate, tidy
from kinode.algebra.sparse_ldl import Row, sparse
from kinode.algebra.spatial import dot, solve_spd
from kinode.formulations.lagrange_kinematics import LagrangeKinematics, LinkVariation
from kinode.multibody.composition import Composition
from kinode.multibody.instant_reactions import Reactions
from kinode.multibody.links.link_steps import Spatial
from kinode.multibody.motion import Motion, MotionProblem


class LagrangeMotion(Motion):
    """Lagrange's equations of one instant."""

    kinematics: LagrangeKinematics

    def __init__(self, problem: MotionProblem) -> None:
        super().__init__(problem)
        assert isinstance(problem.kinematics, LagrangeKinematics)
        self.kinematics = problem.kinematics

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
