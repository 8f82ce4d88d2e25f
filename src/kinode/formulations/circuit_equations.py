"""Equations of the components of a mechanism (T-7.13): solid bodies, kinematic nodes, loop closures; node potentials.

Every link has a potential V = [w; v] and a flow [moment; force], which acts on the component at that port.  A component
is defined by its equations; nothing is summed along a tree by hand.

    solid body        momentum P = m v + w x h, H = J w + h x v about its first link, in the axes of that:
                      P' + w x P = sum of forces + m g,  H' + w x H + v x P = sum of moments + h x g    (T-7.1), (T-7.2)
                      V of a further link = V seen from there                                            (T-7.3)
    kinematic node    T = V_F seen from M,  V_M = T + S u                                               (T-7.4), (T-7.8)
                      flow on F = (flow on M) seen from F, with the opposite sign                       (T-7.5), (T-7.9)
                      S' flow = effort                                                                 (T-7.6), (T-7.10)
    node              the flows of two links that are joined sum to zero
    information       the direction of gravity goes from body to body as the orientation does

The equations of potentials are written once, on dual numbers: velocities, and forms in the accelerations of joints as
their rates.  Their values give V from the root to the leaves; their rates are equations of the linear system for V', u'
and the flows: (T-7.12) differentiated once.

The order of elimination follows causality: each equation has the unknown that it is solved for, from the leaves to the
root, and the equation of a joint's axis gives its acceleration.  Every pivot is then 1, except one articulated inertia
for each freedom, and the work is proportional to the number of links.  A cut joint has the same equations, projected on
its constrained directions, so that its own accelerations drop out.  Flows of dependent rows (not in ``topology.rows``)
are zero; they are not unique.  Those of groups follow from the flows of their combinations (loop_constraints.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.affine import Affine, Unknown
from kinode.algebra.scalars import Array, Dual, Scalar, is_zero, new_level, tidy
from kinode.algebra.spatial import ZERO3, Pose, RigidInertia, cross, dot, moved_force, moved_motion, skew
from kinode.multibody.given import Given
from kinode.multibody.kinematics import Kinematics
from kinode.multibody.link_steps import LinkKinematics
from kinode.structure.tree import WORLD, TreeLink

WrenchPair = tuple[Array, Array]


class CircuitEquations:
    """Linear equations (rows that vanish), and the order in which they are solved for which unknowns."""

    def __init__(self) -> None:
        self.rows: list[Scalar] = []
        self.pivots: list[tuple[int, Unknown]] = []

    def add(self, rows: Iterable[Scalar]) -> list[int]:
        """Add rows; returns their indices."""
        start = len(self.rows)
        self.rows.extend(rows)
        return list(range(start, len(self.rows)))

    def solve_for(self, indices: Sequence[int], unknowns: Iterable[Scalar]) -> None:
        """The next pivots: solve these rows for these unknowns."""
        self.pivots += [(i, name_of(x)) for i, x in zip(indices, unknowns, strict=True)]


def unknowns(owner: str, what: str, size: int) -> Array:
    """Affine forms of new unknowns (owner, what, number)."""
    forms = np.empty(size, dtype=object)
    for k in range(size):
        forms[k] = Affine.unknown((owner, what, k))
    return forms


def name_of(x: Affine) -> Unknown:
    """The name of the unknown that a form consists of."""
    (name,) = x.terms
    return name


def duals(values: Array, rates: Array, level: int) -> Array:
    """Dual numbers of values and rates; an entry whose rate is zero stays as it is."""
    pairs = np.empty(len(values), dtype=object)
    for i, (value, rate) in enumerate(zip(values, rates, strict=True)):
        pairs[i] = value if is_zero(rate) else Dual(value, rate, level)
    return pairs


def parts(moving: Array, level: int) -> tuple[Array, Array]:
    """Values and rates of duals."""
    values_and_rates = np.empty((2, len(moving)), dtype=object)
    for i, x in enumerate(moving):
        values_and_rates[:, i] = (x.value, x.rate) if isinstance(x, Dual) and x.level == level else (x, 0.0)
    return values_and_rates[0], values_and_rates[1]


@dataclass(frozen=True, eq=False)
class Potential:
    """[w; v] of a link as duals: values are known, rates are unknowns, or zero at rest."""

    moving: Array
    level: int

    @property
    def values(self) -> Array:
        return parts(self.moving, self.level)[0]

    @property
    def rates(self) -> Array:
        return parts(self.moving, self.level)[1]

    def seen_from(self, X: Pose) -> Array:
        """The motion of the same body at another frame X, which may move relative to it."""
        return np.concatenate(moved_motion(X, self.moving[:3], self.moving[3:]))


class Cause:
    """The equations that define a potential; ``solve`` adds them to the order of elimination."""

    def __init__(self, rows: CircuitEquations, owner: str, what: str, moving: Array, level: int) -> None:
        values, rates = parts(moving, level)
        still = [is_zero(rate) for rate in rates]
        names = unknowns(owner, what, len(moving))
        self.own = [name for name, rests in zip(names, still, strict=True) if not rests]
        given = [rate for rate, rests in zip(rates, still, strict=True) if not rests]
        self.indices = rows.add(x - rate for x, rate in zip(self.own, given, strict=True))
        own = np.array([0.0 if rests else name for name, rests in zip(names, still, strict=True)], dtype=object)
        self.potential = Potential(duals(values, own, level), level)

    def solve(self, rows: CircuitEquations) -> None:
        rows.solve_for(self.indices, self.own)


def momentum(inertia: RigidInertia, V: Array) -> tuple[Array, Array]:
    """P and H about the origin, of any scalar type."""
    w, v = V[:3], V[3:]
    P: Array = inertia.mass * v + cross(w, inertia.moment)
    H: Array = inertia.J @ w + cross(inertia.moment, v)
    return P, H


def balance(inertia: RigidInertia, V: Potential, g: Array, flows: Sequence[WrenchPair]) -> Array:
    """The residual moment and force of a solid body: six rows (T-7.1), (T-7.2)."""
    w, v = V.values[:3], V.values[3:]
    (P, P_dot), (H, H_dot) = (parts(x, V.level) for x in momentum(inertia, V.moving))
    moment = H_dot + cross(w, H) + cross(v, P) - cross(inertia.moment, g)
    force = P_dot + cross(w, P) - inertia.mass * g
    for m, f in flows:
        moment, force = moment - m, force - f
    return np.concatenate([moment, force])


def closure_jacobian(joint: Any, X: Pose, form: Array) -> Array:
    """The Jacobian of a joint's closure for the six unit velocities of M in its own axes."""
    level, columns = new_level(), []
    for unit in np.eye(6):
        R_dot, p_dot = X.R @ skew(unit[:3]), X.R @ unit[3:]
        R = np.array([duals(a, b, level) for a, b in zip(X.R, R_dot, strict=True)], dtype=object)
        closure = joint.closure(Pose(R, duals(X.p, p_dot, level)), form)
        columns.append(parts(np.asarray(closure, dtype=object), level)[1])
    return tidy(np.array(columns, dtype=object).T)


def seen_flow(X: Pose, flow: Array) -> WrenchPair:
    """Transform a flow from a link to the frame in which the link's pose is X."""
    return moved_force(X, flow[:3], flow[3:])


class Potentials:
    """Potentials and their equations, from the root to the leaves; they do not depend on efforts."""

    def __init__(self, kinematics: CircuitKinematics) -> None:
        self.rows, self.level = CircuitEquations(), new_level()
        self.sources: list[tuple[Cause, ...]] = []  # for each node: of V_M, of V_F at M, of V_F
        self.links: list[Potential] = []
        self.poses: list[Pose] = []  # X_FM
        self.subspaces: list[Array] = []
        self.gravity: list[Array] = []  # in link axes
        rest, geometry = Potential(np.zeros(6), self.level), kinematics.geometry
        for node, X_PF, form in zip(kinematics.tree.nodes, geometry.placements, geometry.forms, strict=True):
            name, (q, u, _) = node.joint.name, kinematics.node_states[node.index]
            u_dot = kinematics.rates_of(node)
            carrier = rest if node.parent == WORLD else self.links[node.parent]
            at_F = Cause(self.rows, name, "F", carrier.seen_from(X_PF), self.level)
            moving = duals(q, node.mechanics.rate_map(q, u), self.level) if node.joint.n_u else q
            X, S = node.mechanics.transform(moving, form), node.mechanics.motion_subspace(moving, form)
            carried = Cause(self.rows, name, "T", at_F.potential.seen_from(X), self.level)
            own = S @ duals(u, u_dot, self.level) if node.joint.n_u else np.zeros(6)
            at_M = Cause(self.rows, name, "M", carried.potential.moving + own, self.level)
            X, S = node.mechanics.transform(q, form), node.mechanics.motion_subspace(q, form)
            g = kinematics.gravity if node.parent == WORLD else self.gravity[node.parent]
            self.sources.append((at_M, carried, at_F))
            self.links.append(at_M.potential)
            self.poses.append(X)
            self.subspaces.append(S)
            self.gravity.append(X.R.T @ (X_PF.R.T @ g))


class CircuitKinematics(Kinematics):
    """Positions and velocities as potentials; given accelerations are part of them."""

    def serves(self, given: Given) -> bool:
        """Whether an instant that is given other things has this kinematics: not with other accelerations."""
        return super().serves(given) and given.u_dot is self.given.u_dot

    def rates_of(self, node: TreeLink) -> Array:
        """u_dot of a node's joint: prescribed, given, or unknowns."""
        name, known = node.joint.name, self.node_states[node.index][2]
        if known is not None:
            return known
        if self.given.u_dot is not None:
            state = self.state_of(name)
            assert state is not None
            start, ratio = state
            return np.array([ratio * x for x in self.given.u_dot[start : start + node.joint.n_u]], dtype=object)
        return unknowns(name, "u_dot", node.joint.n_u)

    @cached_property
    def potentials(self) -> Potentials:
        """Of all links."""
        return Potentials(self)

    @cached_property
    def link_kinematics(self) -> list[LinkKinematics]:
        """Link kinematics without bias accelerations, which follow here from differentiating the equations."""
        p = self.potentials
        each = zip(p.poses, p.subspaces, p.links, strict=True)
        return [LinkKinematics(X, S, V.values[:3], ZERO3, ZERO3) for X, S, V in each]

    @cached_property
    def link_velocities(self) -> list[Array]:
        """Velocity of each link's origin, in link axes."""
        return [V.values[3:] for V in self.potentials.links]

    @cached_property
    def link_sums(self) -> Array:
        """Kinetic energy, momentum, angular momentum, first moment and mass of all links."""
        total: Array = np.zeros(11)
        for inertia, V, X in zip(self.geometry.inertias, self.potentials.links, self.link_poses, strict=True):
            P, H = momentum(inertia, V.values)
            energy = 0.5 * (dot(V.values[:3], H) + dot(V.values[3:], P))
            force = X.R @ P
            about = X.R @ H + cross(X.p, force)
            first = X.R @ inertia.moment + inertia.mass * X.p
            total = total + np.concatenate([[energy], force, about, first, [inertia.mass]])
        return total
