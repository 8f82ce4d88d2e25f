"""Vector methods for reactions in trees: quasi-base vectors (T-9.1) to (T-9.10), vector rotators (T-9.11) to (T-9.17).

The Rodrigues approach, after Cajic and Lazarevic (2016).  T_a(i) is the velocity of the mass center of body i for a
unit speed of joint a; Gamma_ab(i) is the coefficient of the product of two speeds in its acceleration:

    v_Ci = sum T_a(i) u_a,    a_Ci = sum T_a(i) u_dot_a + sum Gamma_ab(i) u_a u_b        (T-9.5)

Mass-moment vectors and vector rotators give the reaction as a sum of named terms.  The second derivative of a vector b
that rotates with the joints alpha before it is

    b_ddot = sum_a |[n_a, b]| R_a(b) + sum_(a<b) |[n_b, b]| R_ab(b)                                  (T-9.13)
    R_a = w_dot_a u_a + w_a^2 [n_a, u_a],   R_ab = 2 w_a w_b [n_a, u_b],   u_a = [n_a, b] / |[n_a, b]|  (T-9.12)

Applied to the segments between poles and to the mass-moment vectors S of each body this gives the force; with the
deviation vectors D it gives the moment.  Each term is one mass moment times one rotator, and has a body, axes and a
cause: so the terms tell what loads a bearing.  Products |b| R are computed without dividing by |b|, so a vector along
its axis is no special case.  The literature has three hinges in a row (Hedrih, Veljovic 2011; Cajic, Lazarevic 2016);
here it is any tree, its joints taken apart into hinges, slides and screws; not loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.spatial import IDENTITY3, ZERO3, cross, dot, norm
from kinode.formulations.chains import ChainKinematics, ChainLink, ChainMotion, ChainReactions
from kinode.multibody.link_steps import Spatial
from kinode.multibody.snapshot import Composition


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

ACCELERATION, CENTRIFUGAL, CORIOLIS, GYROSCOPIC = "angular acceleration", "centrifugal", "Coriolis", "gyroscopic"
SLIDING = "sliding"
CAUSES = (ACCELERATION, CENTRIFUGAL, CORIOLIS, GYROSCOPIC, SLIDING)


@dataclass(frozen=True, eq=False)
class Change:
    """A term of the second derivative of a vector: ``product`` is |[n, b]| times its rotator."""

    cause: str
    axes: tuple[str, ...]  # joints whose rotation causes it
    vector: Array  # [n, b]
    product: Array

    @property
    def size(self) -> Scalar:
        """|[n, b]|."""
        return norm(self.vector)


@dataclass(frozen=True, eq=False)
class Term:
    """The contribution of one mass moment: a force at a point and a moment, in world axes."""

    body: str
    cause: str
    axes: tuple[str, ...]
    moment_of: str  # the mass moment: r(joint) of a segment, or S, J, D of the body
    mass_moment: Array
    force: Array
    at: Array
    moment: Array

    @property
    def name(self) -> str:
        """Such as "centrifugal of S(lower) about shoulder"."""
        return f"{self.cause} of {self.moment_of} about {' and '.join(self.axes)}" if self.axes else self.cause

    def about(self, point: Array) -> Spatial:
        """Moment about a point, and force."""
        return self.moment + cross(self.at - point, self.force), self.force


class RotatorMotion(ChainMotion):
    """One evaluation of a tree by mass moments and rotators."""

    # -- mass-moment vectors -----------------------------------------------------------------------
    @cached_property
    def tensors(self) -> list[Array]:
        """Inertia of each body about its pole (T-1.2)."""
        inertias = []
        for link in self.kinematics.links:
            c = link.center - link.pole
            outer = [[x * y for y in c] for x in c]
            inertias.append(link.J + link.mass * (dot(c, c) * IDENTITY3 - outer))
        return inertias

    def inertia_moment(self, link: ChainLink, n: Array) -> Array:
        """J_n, about the pole (T-9.11)."""
        J: Array = self.tensors[link.index] @ n
        return J

    def deviation_moment(self, link: ChainLink, n: Array) -> Array:
        """D_n = [n, [J_n, n]]: the component of J_n across the axis (T-9.11)."""
        J = self.inertia_moment(link, n)
        D: Array = J - dot(n, J) * n
        return D

    # -- rotators ----------------------------------------------------------------------------------
    def changes(
        self, turning: Sequence[ChainLink], b: Array, speeds: Sequence[Scalar], accelerations: Sequence[Scalar]
    ) -> Iterator[Change]:
        """The terms of the second derivative of a vector that rotates with hinges (T-9.13)."""
        arms = [cross(link.axis, b) for link in turning]
        for k, (alpha, arm) in enumerate(zip(turning, arms, strict=True)):
            n, w, own = alpha.axis, speeds[alpha.index], (alpha.name,)
            yield Change(ACCELERATION, own, arm, accelerations[alpha.index] * arm)
            yield Change(CENTRIFUGAL, own, arm, w * w * cross(n, arm))
            for beta, other in zip(turning[k + 1 :], arms[k + 1 :], strict=True):
                product = 2.0 * w * speeds[beta.index] * cross(n, other)
                yield Change(CORIOLIS, (alpha.name, beta.name), other, product)

    def hinges(self, link: ChainLink, *, own: bool = True) -> list[ChainLink]:
        """The hinges that rotate a link; without its own, those that rotate its joint's axis."""
        links = self.kinematics.links
        return [links[k] for k in (link.path if own else link.path[:-1]) if links[k].turns]

    def segment(self, link: ChainLink, speeds: Sequence[Scalar], accelerations: Sequence[Scalar]) -> list[Change]:
        """Acceleration of a link's pole relative to that of its carrier (T-9.14)."""
        if len(link.path) == 1:
            start = link.mount  # the base does not move: the segment starts at the joint itself
        else:
            start = self.kinematics.links[link.path[-2]].pole
        carried = self.hinges(link, own=False)
        parts = list(self.changes(carried, link.pole - start, speeds, accelerations))
        if link.slides:
            e, name, rate = link.slide * link.axis, link.name, speeds[link.index]
            parts.append(Change(SLIDING, (name,), e, accelerations[link.index] * e))
            for alpha in carried:
                product = 2.0 * speeds[alpha.index] * rate * cross(alpha.axis, e)
                parts.append(Change(CORIOLIS, (alpha.name, name), e, product))
        return parts

    # -- terms -------------------------------------------------------------------------------------
    def terms_of(self, link: ChainLink, speeds: Sequence[Scalar], accelerations: Sequence[Scalar]) -> Iterator[Term]:
        """All terms that the motion of one body needs: M A, s and N (T-9.14), (T-9.15)."""
        rho = link.center - link.pole
        for k in link.path:
            of = self.kinematics.links[k]
            label = f"r({of.name})"
            for change in self.segment(of, speeds, accelerations):
                force = link.mass * change.product
                yield Term(
                    link.body, change.cause, change.axes, label, link.mass * change.vector, force, link.center, ZERO3
                )
        turning = self.hinges(link)
        for change in self.changes(turning, rho, speeds, accelerations):
            force, moment = link.mass * change.product, link.mass * change.vector
            yield Term(link.body, change.cause, change.axes, f"S({link.body})", moment, force, link.pole, ZERO3)
        for k, alpha in enumerate(turning):
            yield from self._own_turn(link, alpha, speeds[alpha.index], accelerations[alpha.index])
            for beta in turning[k + 1 :]:
                yield self._coupled_turn(link, alpha, beta, speeds[alpha.index] * speeds[beta.index])

    def _own_turn(self, link: ChainLink, alpha: ChainLink, w: Scalar, w_dot: Scalar) -> Iterator[Term]:
        """n w_dot (n, J_n) + |D| R* of one axis (T-9.15)."""
        n, axes = alpha.axis, (alpha.name,)
        J, D = self.inertia_moment(link, n), self.deviation_moment(link, n)
        blank = Term(link.body, ACCELERATION, axes, f"J({link.body})", J, ZERO3, link.pole, w_dot * dot(n, J) * n)
        yield blank
        deviation = replace(blank, moment_of=f"D({link.body})", mass_moment=D, moment=w_dot * D)
        yield deviation
        yield replace(deviation, cause=CENTRIFUGAL, moment=w * w * cross(n, D))

    def _coupled_turn(self, link: ChainLink, alpha: ChainLink, beta: ChainLink, product: Scalar) -> Term:
        """w_a w_b ([n_a, J_nb] + [n_b, J_na] + J_[na, nb]) (T-9.15)."""
        a, b = alpha.axis, beta.axis
        J_a, J_b, J_ab = (self.inertia_moment(link, n) for n in (a, b, cross(a, b)))
        moment = product * (cross(a, J_b) + cross(b, J_a) + J_ab)
        axes = (alpha.name, beta.name)
        return Term(link.body, GYROSCOPIC, axes, f"J({link.body})", J_ab, ZERO3, link.pole, moment)

    def inertia_of(self, link: ChainLink, speeds: Sequence[Scalar], accelerations: Sequence[Scalar]) -> Spatial:
        """The sum of a body's terms."""
        moment, force = ZERO3, ZERO3
        for term in self.terms_of(link, speeds, accelerations):
            M, F = term.about(link.center)
            moment, force = moment + M, force + F
        return moment, force

    @cached_property
    def terms(self) -> list[list[Term]]:
        """The terms of each body in the actual motion."""
        rates = (self.kinematics.speeds, self.accelerations)
        return [list(self.terms_of(link, *rates)) if link.body else [] for link in self.kinematics.links]

    def joint_terms(self, name: str) -> list[tuple[Term, Spatial]]:
        """The kinetic share of a joint's reaction by terms: a on b, about b's joint point, in a's axes (T-9.16)."""
        link = self.kinematics.carried_by(name)
        return [(term, self.kinematics.as_given(link, term.about(link.pole))[1]) for term in self.terms_behind(name)]

    def terms_behind(self, name: str) -> list[Term]:
        """The terms of the bodies that a joint carries."""
        behind = self.kinematics.behind(self.kinematics.carried_by(name).index)
        return [term for link in behind for term in self.terms[link.index]]


ROTATORS = Composition(whole_tree=True, kinematics=ChainKinematics, motion=RotatorMotion, reactions=ChainReactions)
"""A snapshot by vector rotators: ``Snapshot(topology, point, formulation=ROTATORS)``."""
