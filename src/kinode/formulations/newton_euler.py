"""Newton and Euler: absolute coordinates, every joint a constraint, multipliers eliminated [SPEC 5.1].

Every body has a velocity of its own, v = [w; V] in its axes about its origin, and every joint is a set of rows of
L'v = (given rates).  With the body equations M v_dot = -Omega v + Q + L lam [4.1] (matrices [U.3]-[U.5], angular part
first), B1 = L'M^-1 L and B2 = L'M^-1,

    lam = B1^-1 (B3 v - B2 Q),    B3 v = L'M^-1 Omega v - L_dot'v      [4.9]

The rows of a joint are the directions of its reaction, N with N'S = 0, where S is its motion subspace: a wrench N lam
on b about M is the reaction, and nothing has to be collected along a tree.  A driven joint has its freedoms T as rows
too (T'S = 1), whose multipliers are the drive's effort; a gear is one row across two joints.  Joints that close loops
(``topology.cuts``) are rows like all others, given a state in which they close.  Constraints that are no joints bring
rows of their own: what they do to bodies for unit multipliers, and their second rates while v_dot is zero.

Nothing of the recursion's dynamics is used; poses and velocities of bodies, laws and loads are the snapshot's.
Where rows depend on each other (redundant constraints) the multipliers of least norm are given, moments being divided
by a length of the model; ``is_unique`` tells which reactions do not depend on that choice.

The matrices of bodies and joints are those of ``absolute``.  The solution works with plain numbers only (complements
and ranks are decisions of plain numbers) and with dense matrices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ModelError
from kinode.formulations.absolute_coordinates import Absolute, JointConstraint
from kinode.model.base.frames import Frame
from kinode.model.base.lock import Lock
from kinode.model.joints.joint import Joint
from kinode.model.system import System, joint_frame
from kinode.multibody.restraints import loop_constraints
from kinode.multibody.restraints.coupled_friction import find_joint_friction
from kinode.multibody.snapshot import Snapshot

RANK = 1e-9  # singular values below this part of the largest are dependent rows; rounding leaves 1e-15, mechanisms 1e-4
UNIQUE = 1e-8  # a reaction that moves less than this with a unit of the redundant forces is unique

MOST_TURNS = 1000  # of friction and reactions in turn, each of which lessens the error in proportion


def plain(values: Any) -> Array:
    """An array of plain numbers."""
    return np.asarray(values, dtype=float)


@dataclass(frozen=True, eq=False)
class ConstraintRows:
    """Constraint rows of one origin: L'v_dot = gamma."""

    L: Array
    gamma: Array
    scale: float | Array = 1.0  # of the multipliers, so that moments are divided by the length where norms are taken


class NewtonEuler(Absolute):
    """The equations of one instant in absolute coordinates, solved.

    ``u_dot`` prescribes the accelerations of the state: its rows' multipliers are then the efforts that it needs.
    ``friction`` is given by joint, or follows from the reactions found here.
    """

    def __init__(
        self, snapshot: Snapshot, u_dot: Array | None = None, friction: Mapping[str, Array] | None = None
    ) -> None:
        super().__init__(snapshot, friction=friction)
        self.given = u_dot

    @cached_property
    def length(self) -> float:
        return characteristic_length(self.system)

    @cached_property
    def directions(self) -> dict[str, Array]:
        """N of each joint: directions of its reaction, scaled so that the multipliers are forces."""
        return {name: complement(plain(hold.S), self.length) for name, hold in self.holds.items()}

    @cached_property
    def friction(self) -> Mapping[str, Array]:
        """Efforts of friction: brakes and reactions in turn, until neither changes the other."""
        if self.given_friction is not None:
            return self.given_friction
        rubbing = find_joint_friction(self.snapshot.kinematics)
        if not rubbing:
            return {}

        def wrenches(x: Array) -> list[Array]:
            efforts = {one.name: one.efforts(x) for one in rubbing}
            there = NewtonEuler(self.snapshot, self.given, efforts)
            own = [one.own(efforts[one.name] + there.held_effort(one.name, "friction")) for one in rubbing]
            return [one.turned(*there.reaction(one.name)) + w for one, w in zip(rubbing, own, strict=True)]

        m = rubbing[-1].where.stop
        x, start = np.zeros(m), wrenches(np.zeros(m))
        grown = [[w - w_0 for w, w_0 in zip(wrenches(unit), start, strict=True)] for unit in np.eye(m)]
        for _ in range(MOST_TURNS):
            W = [w_0 + sum(g[i] * b for g, b in zip(grown, x, strict=True)) for i, w_0 in enumerate(start)]
            old, x = x, plain(np.concatenate([one.brakes(w) for one, w in zip(rubbing, W, strict=True)]))
            if abs(x - old).max(initial=0.0) <= 1e-15 * abs(x).max(initial=0.0):
                break
        return {one.name: plain(one.efforts(x)) for one in rubbing}

    # -- constraints -------------------------------------------------------------------------------
    @cached_property
    def rows(self) -> dict[str, ConstraintRows]:
        """Rows by origin: a joint's reaction by its name, its drive as ``name.drive``, a gear as ``follower.gear``.

        What is stuck has a row as ``owner.part``; constraints that are no such gear have their own names.
        """
        found: dict[str, ConstraintRows] = {}
        for name, hold in self.holds.items():
            N = self.directions[name]
            found[name] = ConstraintRows(self._columns(hold, N), N.T @ hold.bias)
            wanted = self._wanted(name)
            if wanted is not None and hold.joint.n_u:
                gamma = wanted + hold.T.T @ hold.bias
                found[f"{name}.drive"] = ConstraintRows(self._columns(hold, hold.T), gamma, self._units(hold.joint))
        for name, coupling in self.topology.couplings.items():
            one, two = self.holds[name], self.holds[coupling.leader]
            ratio = float(self.snapshot.resolve(coupling.ratio))
            L = self._columns(one, one.T) - ratio * self._columns(two, two.T)
            gamma = one.T.T @ one.bias - ratio * (two.T.T @ two.bias)
            found[f"{name}.gear"] = ConstraintRows(L, gamma, self._units(one.joint))
        for lock in self.locks:
            each = [(self.holds[name], float(factor)) for name, factor in lock.joints]
            columns = plain(sum(factor * self._columns(hold, hold.T) for hold, factor in each))
            rates = plain(sum(factor * (hold.T.T @ hold.bias) for hold, factor in each))
            found[f"{lock.owner}.{lock.part}"] = ConstraintRows(columns, rates, self._units(each[0][0].joint))
        for constraint in self.topology.constraints:
            found[constraint.name] = self._tie(loop_constraints.loop_constraint_of(self.topology, constraint))
        return found

    @cached_property
    def locks(self) -> list[Lock]:
        """What holds joints still; where accelerations are given nothing has to."""
        every = self.snapshot.locking.locks if self.given is None else []
        return [lock for lock in every if float(lock.stuck) == 1.0]

    def held_effort(self, name: str, part: str | None = None) -> float:
        """What locks do along a joint, or one part of it."""
        total = 0.0
        for lock in self.locks:
            if part is None or (lock.owner, lock.part) == (name, part):
                total += (
                    sum(float(f) for n, f in lock.joints if n == name)
                    * self.multipliers(f"{lock.owner}.{lock.part}")[0]
                )
        return total

    def _units(self, joint: Joint) -> Array:
        return np.array([self.length if kind == "angle" else 1.0 for _, kind in joint.coordinates])

    def _tie(self, tie: loop_constraints.LoopConstraint) -> ConstraintRows:
        """Rows of a constraint that is no joint."""
        each, gamma = self.tie(tie)
        units = np.array([self.length if unit.startswith("ang") else 1.0 for unit in tie.units])
        return ConstraintRows(self._stacked(each, len(tie.units)), plain(gamma), units)

    def _wanted(self, name: str) -> Array | None:
        """The acceleration that is prescribed along a joint's freedoms."""
        if self.given is not None and name in self.topology.u_of:
            return plain(self.given)[self.topology.u_of[name]]
        known = self.prescribed(name)
        return None if known is None else plain(known)

    def _columns(self, hold: JointConstraint, directions: Array) -> Array:
        """What unit wrenches on b about M, with their opposites on a, are to all bodies."""
        return self._stacked(self.acting(hold, directions), directions.shape[1])

    def _stacked(self, each: Mapping[str, Array], count: int) -> Array:
        L = np.zeros((6 * len(self.bodies), count))
        for body, values in each.items():
            L[self.bodies[body] :][:6] += plain(values)
        return L

    # -- solution ----------------------------------------------------------------------------------
    @cached_property
    def _solution(self) -> tuple[Array, Array, Array]:
        """Multipliers, accelerations of all bodies, and the multipliers that no motion can tell (null space of L).

        M is taken as M + L W L', which changes neither: L'v_dot = gamma adds the known L W gamma to the right-hand
        side, and so W gamma to lam.  It is positive definite for bodies without mass or inertia of their own too,
        and better conditioned for all.  B1 = A'A with A = C^-1 L, M = C C', is solved by the singular values of A.
        """
        links = self.links
        M = np.zeros((6 * len(links), 6 * len(links)))
        for name, k in self.bodies.items():
            M[k : k + 6, k : k + 6] = links[name].M
        f = np.concatenate([link.wrench for link in links.values()])
        L = np.column_stack([rows.L * rows.scale for rows in self.rows.values()])
        gamma = np.concatenate([rows.gamma * rows.scale for rows in self.rows.values()])
        W = self._weights(L, M)
        try:
            C = np.linalg.cholesky(M + (L * W) @ L.T)
        except np.linalg.LinAlgError:
            message = "a freedom moves nothing that has inertia: its acceleration would be infinite"
            raise self.topology.unmoved or ModelError(message, component=self.system.name) from None
        A = np.linalg.solve(C, L)
        U, s, Vt = np.linalg.svd(A)
        rank = int(np.sum(s > RANK * s.max(initial=0.0)))
        U, V, N, s = U[:, :rank], Vt[:rank].T, Vt[rank:].T, s[:rank]

        def solve(f: Array, gamma: Array) -> tuple[Array, Array]:
            y = np.linalg.solve(C, f)
            lam = V @ ((V.T @ gamma / s - U.T @ y) / s)
            return lam - W * gamma, np.linalg.solve(C.T, y + A @ lam)

        lam, v_dot = solve(f, gamma)
        # The residual of each body is as exact as its own numbers: a camera is not drowned by the ship that carries it.
        lam_error, v_error = solve(f + L @ lam - M @ v_dot, gamma - L.T @ v_dot)
        lam, v_dot = lam + lam_error, v_dot + v_error
        return lam - N @ (N.T @ lam), v_dot, N

    def _weights(self, L: Array, M: Array) -> Array:
        """One mass for each row: the mean of those that it acts on, so that neither side of a row is drowned."""
        mass = np.repeat(M.diagonal().reshape(-1, 6)[:, 3], 6)
        touched = (L != 0.0).astype(float)
        found: Array = mass @ touched / np.maximum(touched.sum(axis=0), 1.0)
        return np.where(found > 0.0, found, mass.mean() or 1.0)

    @cached_property
    def _places(self) -> dict[str, slice]:
        found, start = {}, 0
        for name, rows in self.rows.items():
            found[name] = slice(start, start + rows.L.shape[1])
            start += rows.L.shape[1]
        return found

    def multipliers(self, origin: str) -> Array:
        """The multipliers of the rows of one origin (see ``rows``)."""
        found: Array = self._solution[0][self._places[origin]] * self.rows[origin].scale
        return found

    def constraint_multipliers(self, name: str) -> Array:
        """The multipliers of a constraint that is no joint; of a gear, what it does along the joint that follows."""
        gears = {coupling.constraint: f"{follower}.gear" for follower, coupling in self.topology.couplings.items()}
        return self.multipliers(gears.get(name, name))

    @property
    def redundancy(self) -> int:
        """How many rows depend on others."""
        return int(self._solution[2].shape[1])

    def is_unique(self, name: str) -> Array:
        """For moment x, y, z and force x, y, z of a joint's reaction: whether it follows from the motion alone."""
        hold = self.holds[name]
        share = self.directions[name] @ self._solution[2][self._places[name]]
        moment, force = hold.R @ share[:3] / self.length, hold.R @ share[3:]
        size: Array = np.linalg.norm(np.vstack([moment, force]), axis=1)
        return size < UNIQUE

    def unique_multipliers(self, origin: str) -> Array:
        """Whether each multiplier of other rows follows from the motion alone."""
        size: Array = np.linalg.norm(self._solution[2][self._places[origin]], axis=1)
        return size < UNIQUE

    def acceleration(self, body: str) -> tuple[Array, Array]:
        """Angular acceleration and acceleration of a body's origin, in world axes [U.5]."""
        k = self.bodies[body]
        R = plain(self.snapshot.pose(Frame(body)).R)
        (w, V), (eps, V_dot) = np.split(self.links[body].v, 2), np.split(self._solution[1][k : k + 6], 2)
        return R @ eps, R @ (V_dot + np.cross(w, V))

    def joint_acceleration(self, name: str) -> Array:
        """u_dot of a joint, from the relative acceleration of its bodies."""
        hold, v_dot = self.holds[name], self._solution[1]
        relative = -hold.bias
        for body, J, sign in ((hold.joint.a.body, hold.J_a, -1.0), (hold.joint.b.body, hold.J_b, 1.0)):
            if body in self.bodies:
                relative = relative + sign * (J @ v_dot[self.bodies[body] :][:6])
        found: Array = hold.T.T @ relative
        return found

    @cached_property
    def u_dot(self) -> Array:
        """Accelerations of the state."""
        found = np.zeros(self.topology.n_u)
        for name, where in self.topology.u_of.items():
            found[where] = self.joint_acceleration(name)
        return found

    @cached_property
    def effort(self) -> Array:
        """What has to be added to the model's own efforts for the given accelerations."""
        found = np.zeros(self.topology.n_u)
        for name, where in self.topology.u_of.items():
            found[where] = self.multipliers(f"{name}.drive")
        return found

    def joint_effort(self, name: str) -> Array:
        """What acts along a joint's freedoms: its own efforts, its drive and what gears pass on."""
        total = self._own_effort(name) + self.held_effort(name)
        for origin in (f"{name}.drive", f"{name}.gear"):
            if origin in self.rows:
                total = total + self.multipliers(origin)
        for follower, coupling in self.topology.couplings.items():
            if coupling.leader == name:
                ratio = float(self.snapshot.resolve(coupling.ratio))
                total = total - ratio * self.multipliers(f"{follower}.gear")
        return total

    def reaction(self, name: str) -> tuple[Array, Array]:
        """Moment and force by a on b, about b's joint point, in a's joint axes, without the effort."""
        hold = self.holds[name]
        wrench = self.directions[name] @ self.multipliers(name)
        return hold.R @ wrench[:3], hold.R @ wrench[3:]


def complement(S: Array, length: float) -> Array:
    """N with N'S = 0: the wrenches [moment; force] that do no work along S, orthonormal once moments are divided."""
    scale = np.repeat([length, 1.0], 3)[:, None]
    U, _, _ = np.linalg.svd(scale * S) if S.shape[1] else (np.eye(6), None, None)
    N: Array = scale * U[:, S.shape[1] :]
    return N


def characteristic_length(system: System) -> float:
    """A length of the model: the largest arm of a joint or mass center, 1 without any."""
    sides = [joint_frame(joint, side) for joint in system.joints.values() for side in ("parent", "child")]
    arms = [frame.pose(system.nominal).p for frame in sides]
    arms += [plain([system.nominal(x) for x in body.center()]) for body in system.bodies.values()]
    return max((float(abs(plain(arm)).max()) for arm in arms), default=0.0) or 1.0
