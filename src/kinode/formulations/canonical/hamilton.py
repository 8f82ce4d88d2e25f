"""Hamilton's canonical equations on a tree (T-3.17), (T-3.18).

    H(x, p) = (p - a)' A^-1 (p - a) / 2 - T_0 + V,        p = dT/du = A u + a
    u = dH/dp,        p_dot_i = -n_i . dH/dx + [f, n_i] . dT/dx_dot + Q_i

x = (t, q, z) is the configuration, n_i its directions for a unit of each speed, f its rate.  a and T_0 are due to
prescribed motions; with them H is not the energy.  The bracket [f, n_i] = (dn_i/dx) f - (df/dx) n_i vanishes where
speeds are rates of coordinates.  Where they are angular velocities, p are quasi-momenta and the bracket gives -w x p.

Poses and their derivatives are those of ``lagrange_kinematics``; no recursion is used, and the derivatives are those of
H at constant momenta.  Accelerations are the rate of A^-1 (p - a) along x_dot and p_dot.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from kinode.algebra.scalars import Array, Scalar, rate, tidy
from kinode.algebra.spatial import solve_spd
from kinode.formulations.lagrange import LagrangeMotion, LagrangeReactions
from kinode.formulations.lagrange_kinematics import LagrangeKinematics
from kinode.multibody.composition import Composition


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
