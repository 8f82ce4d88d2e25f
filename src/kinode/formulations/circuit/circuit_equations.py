"""Components of a mechanism as rows of a circuit: solid bodies, kinematic nodes, and what closes loops (T-7.13).

Every link has a potential V = [w; v] and a flow [moment; force], which acts on the component at that port.  A component
is its rows; nothing is collected along a tree by hand.

    solid body        momentum P = m v + w x h, H = J w + h x v about its first link, in the axes of that:
                      P' + w x P = sum of forces + m g,  H' + w x H + v x P = sum of moments + h x g    (T-7.1), (T-7.2)
                      V of a further link = V seen from there                                            (T-7.3)
    kinematic node    T = V_F seen from M,  V_M = T + S u                                               (T-7.4), (T-7.8)
                      flow on F = (flow on M) seen from F, with the opposite sign                       (T-7.5), (T-7.9)
                      S' flow = effort                                                                 (T-7.6), (T-7.10)
    node              the flows of two links that are joined sum to zero
    information       the direction of gravity goes from body to body as the orientation does

The rows of potentials are written once, on dual numbers: their values one level lower give V from root to leaf, their
rates are rows of the linear system for V', u' and the flows, as differentiating (T-7.12) once asks for.

Pivots go by causality: each row says what it is solved for, from leaf to root, and the row of a joint's own axis gives
its acceleration.  Every pivot is then 1 but for one articulated inertia for each freedom, and the work is in proportion
to the number of links.  A joint that closes a loop has the same rows combined by the directions that it holds, so that
its own accelerations drop out; flows along rows that depend on others (``topology.rows``) are zero, and not unique.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.affine import Affine, Unknown, is_zero
from kinode.algebra.scalars import Array, Dual, Scalar, new_level, tidy
from kinode.algebra.spatial import ZERO3, Pose, RigidInertia, cross, moved_force, moved_motion, skew

WrenchPair = tuple[Array, Array]
NOTHING: WrenchPair = (ZERO3, ZERO3)


class CircuitEquations:
    """Rows that have to vanish, and the order in which they are solved for what."""

    def __init__(self) -> None:
        self.rows: list[Scalar] = []
        self.pivots: list[tuple[int, Unknown]] = []

    def add(self, rows: Iterable[Scalar]) -> list[int]:
        """Take rows in; where they are."""
        start = len(self.rows)
        self.rows.extend(rows)
        return list(range(start, len(self.rows)))

    def solve_for(self, places: Sequence[int], unknowns: Iterable[Scalar]) -> None:
        """The next pivots: these rows give these unknowns."""
        self.pivots += [(i, name_of(x)) for i, x in zip(places, unknowns, strict=True)]


def unknowns(owner: str, what: str, size: int) -> Array:
    """Forms of unknowns of their own: (owner, what, number)."""
    found = np.empty(size, dtype=object)
    for k in range(size):
        found[k] = Affine.unknown((owner, what, k))
    return found


def name_of(x: Affine) -> Unknown:
    """The unknown that a form is."""
    (name,) = x.terms
    return name


def duals(values: Array, rates: Array, level: int) -> Array:
    """Numbers with their rates; what rests is a plain number."""
    found = np.empty(len(values), dtype=object)
    for i, (value, rate) in enumerate(zip(values, rates, strict=True)):
        found[i] = value if is_zero(rate) else Dual(value, rate, level)
    return found


def parts(moving: Array, level: int) -> tuple[Array, Array]:
    """Values and rates of duals."""
    found = np.empty((2, len(moving)), dtype=object)
    for i, x in enumerate(moving):
        found[:, i] = (x.value, x.rate) if isinstance(x, Dual) and x.level == level else (x, 0.0)
    return found[0], found[1]


@dataclass(frozen=True, eq=False)
class Potential:
    """[w; v] of a link as duals: values are known, rates are unknowns, or zero for what rests."""

    moving: Array
    level: int

    @property
    def values(self) -> Array:
        return parts(self.moving, self.level)[0]

    @property
    def rates(self) -> Array:
        return parts(self.moving, self.level)[1]

    def seen_from(self, X: Pose) -> Array:
        """The same body's motion at another of its links, or at a place that moves in its axes: duals."""
        return np.concatenate(moved_motion(X, self.moving[:3], self.moving[3:]))


class Cause:
    """The rows that give a potential: to be solved for its rates when its turn comes."""

    def __init__(self, rows: CircuitEquations, owner: str, what: str, moving: Array, level: int) -> None:
        values, rates = parts(moving, level)
        still = [is_zero(rate) for rate in rates]
        names = unknowns(owner, what, len(moving))
        self.own = [name for name, rests in zip(names, still, strict=True) if not rests]
        given = [rate for rate, rests in zip(rates, still, strict=True) if not rests]
        self.places = rows.add(x - rate for x, rate in zip(self.own, given, strict=True))
        own = np.array([0.0 if rests else name for name, rests in zip(names, still, strict=True)], dtype=object)
        self.potential = Potential(duals(values, own, level), level)

    def solve(self, rows: CircuitEquations) -> None:
        rows.solve_for(self.places, self.own)


def momentum(inertia: RigidInertia, V: Array) -> tuple[Array, Array]:
    """P and H about the origin, of any kind of number."""
    w, v = V[:3], V[3:]
    P: Array = inertia.mass * v + cross(w, inertia.moment)
    H: Array = inertia.J @ w + cross(inertia.moment, v)
    return P, H


def balance(inertia: RigidInertia, V: Potential, g: Array, flows: Sequence[WrenchPair]) -> Array:
    """Moments and forces that are missing: six rows of a solid body (T-7.1), (T-7.2)."""
    w, v = V.values[:3], V.values[3:]
    (P, P_dot), (H, H_dot) = (parts(x, V.level) for x in momentum(inertia, V.moving))
    moment = H_dot + cross(w, H) + cross(v, P) - cross(inertia.moment, g)
    force = P_dot + cross(w, P) - inertia.mass * g
    for m, f in flows:
        moment, force = moment - m, force - f
    return np.concatenate([moment, force])


def held_directions(joint: Any, X: Pose, form: Array) -> Array:
    """Rates of what is missing for a joint to be closed, for the six unit velocities of M in its own axes."""
    level, columns = new_level(), []
    for unit in np.eye(6):
        R_dot, p_dot = X.R @ skew(unit[:3]), X.R @ unit[3:]
        R = np.array([duals(a, b, level) for a, b in zip(X.R, R_dot, strict=True)], dtype=object)
        missing = joint.closure(Pose(R, duals(X.p, p_dot, level)), form)
        columns.append(parts(np.asarray(missing, dtype=object), level)[1])
    return tidy(np.array(columns, dtype=object).T)


def seen_flow(X: Pose, flow: Array) -> WrenchPair:
    """A flow given at a link, about the origin and in the axes of the frame in which the link's pose is X."""
    return moved_force(X, flow[:3], flow[3:])
