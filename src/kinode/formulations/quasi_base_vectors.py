"""The Rodrigues approach: quasi-base vectors T and Gamma, reactions as sums over the bodies behind a joint.

Equations (T-9.1) to (T-9.10), after Cajic and Lazarevic (2016).  T_a(i) is the velocity of the mass center of body i
for a unit speed of joint a; Gamma_ab(i) is the coefficient of the product of two speeds in its acceleration:

    v_Ci = sum T_a(i) u_a,    a_Ci = sum T_a(i) u_dot_a + sum Gamma_ab(i) u_a u_b        (T-9.5)

For trees, their joints taken apart into hinges, slides and screws; not for loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.spatial import ZERO3, cross, dot
from kinode.formulations.chain_kinematics import ChainKinematics, ChainLink
from kinode.formulations.hinge_chains import ChainMotion, ChainReactions
from kinode.multibody.composition import Composition
from kinode.multibody.links.link_steps import Spatial


class QuasiBaseMotion(ChainMotion):
    """One evaluation of a tree by quasi-base vectors."""

    def T(self, alpha: int, i: int) -> Array:
        """Quasi-base vector of joint alpha for body i (T-9.3)."""
        k, link = self.kinematics, self.kinematics.links[i]
        return k.quasi_base(k.links[alpha], link.center) if self._carries(alpha, link) else ZERO3

    def Gamma(self, alpha: int, beta: int, i: int) -> Array:
        """Coefficient of the product of two speeds in the acceleration of body i's mass center (T-9.4)."""
        a, b = min(alpha, beta), max(alpha, beta)
        link = self.kinematics.links[i]
        if not (self._carries(a, link) and self._carries(b, link) and self.kinematics.links[a].turns):
            return ZERO3
        return cross(self.kinematics.links[a].axis, self.T(b, i))

    def _carries(self, alpha: int, link: ChainLink) -> bool:
        return alpha in link.path and self.kinematics.links[alpha].freedom is not None

    def inertia_of(self, link: ChainLink, speeds: Sequence[Scalar], accelerations: Sequence[Scalar]) -> Spatial:
        """dL_C/dt and m a_C (T-9.5) to (T-9.7)."""
        w = self.kinematics.turning(link, speeds)
        eps = self.kinematics.turning_rate(link, speeds, accelerations)
        a = self.kinematics.point_acceleration(link, link.center, speeds, accelerations)
        return link.J @ eps + cross(w, link.J @ w), link.mass * a

    @cached_property
    def mass_matrix(self) -> Array:
        """M_ab: sum over bodies of m T_a . T_b + e_a . J e_b."""
        n, k = self.topology.n_u, self.kinematics
        M = np.zeros((n, n), dtype=object)
        M[:] = 0.0
        for link in k.link_of.values():
            states = [(k.links[i], k.state_speeds[i]) for i in link.path]
            carriers = [(alpha, *state) for alpha, state in states if state is not None]
            T = [k.quasi_base(alpha, link.center) for alpha, _, _ in carriers]
            for x, (alpha, a, ratio_a) in enumerate(carriers):
                for y, (beta, b, ratio_b) in enumerate(carriers):
                    entry = link.mass * dot(T[x], T[y])
                    if alpha.turns and beta.turns:
                        entry = entry + dot(alpha.axis, link.J @ beta.axis)
                    M[a, b] = M[a, b] + ratio_a * ratio_b * entry
        return M


QUASI_BASE = Composition(whole_tree=True, kinematics=ChainKinematics, motion=QuasiBaseMotion, reactions=ChainReactions)
"""A snapshot by quasi-base vectors: ``Snapshot(topology, point, formulation=QUASI_BASE)``."""
