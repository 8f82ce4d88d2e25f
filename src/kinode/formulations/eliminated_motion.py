"""Accelerations from the equations of all bodies with the multipliers eliminated (T-10.9).

    M v_dot = -Omega v + Q + L lam,    L'v_dot = gamma
    lam = B1^-1 (gamma - B2 (Q - Omega v)),    B1 = L'M^-1 L,  B2 = L'M^-1

with gamma = -L_dot'v for joints without a drive, so that lam = B1^-1 (B3 v - B2 Q).  It computes with every scalar
type, and so it is compiled.  B1 is factorized sparse: a chain of bodies takes a number of operations in proportion to
its length.

A body without mass or inertia has no M^-1.  Its rows are added to its equations: M + L W L' and Q + L W gamma in place
of M and Q have the same solution, and the new matrix is regular if the motion is determined.

Active locks have rows beside those of joints; friction is solved for as everywhere, from the reactions found here.

The mass matrix and the bias of joint coordinates are no part of this formulation; they are those of the recursion.
Accelerations that are given in a system with loops are spread by the recursion too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from kinode.algebra.scalars import Array, is_zero, tidy
from kinode.algebra.sparse_ldl import Row, Saddle, sparse
from kinode.algebra.spatial import cross
from kinode.errors import SupportError
from kinode.formulations.absolute_coordinates import Absolute, body_matrices
from kinode.formulations.elimination_rows import DRIVE, GEAR, EliminationRow, EliminationRows
from kinode.model.base.contact import Lock
from kinode.model.base.frames import Frame
from kinode.model.system import System, joint_frame
from kinode.multibody.link_steps import Spatial
from kinode.multibody.loop_statics import Support, joints_in_loops
from kinode.multibody.motion import RecursiveMotion
from kinode.multibody.snapshot import Composition, Snapshot

LIGHT = 1e-9  # least eigenvalue of a body's matrix, for a mass and a sum of moments of 1: below, it has no inverse


def find_light_bodies(system: System) -> list[str]:
    """The bodies whose matrices have no inverse: without mass, or without inertia about an axis."""
    light = []
    for name, body in system.bodies.items():
        M = np.asarray(body_matrices(body.rigid_inertia(system.nominal), np.zeros(3))[0], dtype=float)
        sizes = np.sqrt(np.repeat([np.trace(M[:3, :3]), M[3, 3]], 3))
        if not sizes.all() or np.linalg.eigvalsh(M / np.outer(sizes, sizes))[0] <= LIGHT:
            light.append(name)
    return light


class Elimination:
    """v_dot and lam of one instant: the balances of all bodies with the rows of all joints, and of locks."""

    def __init__(self, absolute: Absolute, rows: EliminationRows, locks: Sequence[Lock] = ()) -> None:
        self.absolute, self.rows, self.locks = absolute, rows, locks

    @cached_property
    def mass_rows(self) -> list[Row]:
        """The rows of the block diagonal M."""
        rows: list[Row] = []
        for name, link in self.absolute.links.items():
            start = self.absolute.bodies[name]
            rows += [{start + j: x for j, x in row.items()} for row in sparse(link.M)]
        return rows

    @cached_property
    def solution(self) -> tuple[Array, Array]:
        """v_dot and lam, those of locks last."""
        count, stuck = len(self.rows.rows), [lock.stuck for lock in self.locks]
        rows = [*self.rows.rows, *(self.rows.lock_row(lock) for lock in self.locks)]
        shares = [*np.ones(count), *stuck]
        M, f = self.mass_rows, [x for link in self.absolute.links.values() for x in link.wrench]
        gamma = [s * row.gamma for s, row in zip(shares, rows, strict=True)]
        for k, weight in self._weights(rows).items():
            entries = rows[k].entries
            for i, x in entries.items():
                f[i] = f[i] + weight * gamma[k] * x
                for j, y in entries.items():
                    M[i][j] = M[i].get(j, 0.0) + weight * shares[k] * x * y
        entries_of = [row.entries for row in rows]
        v_dot, lam = Saddle(M, entries_of[:count], entries_of[count:], stuck)(tidy(f), tidy(gamma))
        return v_dot, tidy(lam)

    def _weights(self, rows: list[EliminationRow]) -> dict[int, float]:
        """The weights W of the rows that act on bodies without inertia: the mean mass of all bodies."""
        system = self.absolute.system
        light = [self.absolute.bodies[name] for name in find_light_bodies(system)]
        columns = {start + i for start in light for i in range(6)}
        masses = [float(system.nominal(body.mass)) for body in system.bodies.values()]
        weight = sum(masses) / len(masses) if sum(masses) > 0.0 else 1.0
        return {k: weight for k, row in enumerate(rows) if not columns.isdisjoint(row.entries)}


class EliminatedMotion(RecursiveMotion):
    """The motion of all bodies, with the multipliers of the joints eliminated."""

    articulated: ClassVar[bool] = False

    def __init__(self, instant: Snapshot) -> None:
        super().__init__(instant)
        self._by_recursion = self.given.u_dot is not None and self.topology.constrained

    @cached_property
    def absolute(self) -> Absolute:
        """Bodies and joints of this instant."""
        return Absolute(self.instant, friction=self.instant.friction.sliding)

    @cached_property
    def elimination(self) -> Elimination:
        """The equations of all bodies, and their solution."""
        locks = self.active_locks if self.given.u_dot is None else []
        return Elimination(self.absolute, EliminationRows(self.absolute, self.given.u_dot), locks)

    @property
    def active_locks(self) -> list[Lock]:
        """The locks that are not known to be released."""
        return [lock for lock in self.locks.locks if not is_zero(lock.stuck)]

    def find_accelerations(self) -> tuple[list[Array], list[Spatial]]:
        """Accelerations of node joints, and of links less gravity, from those of the bodies."""
        if self._by_recursion:
            return super().find_accelerations()
        k = self.kinematics
        links = []
        for i, node in enumerate(k.tree.nodes):
            X = k.link_poses[i]
            eps, a = self._acceleration_at(node.bodies[0], X.p)
            links.append((X.R.T @ eps, X.R.T @ (a - k.gravity)))
        return [self._joint_acceleration(node.joint.name) for node in k.tree.nodes], links

    def _acceleration_at(self, body: str, p: Array) -> tuple[Array, Array]:
        """Angular acceleration of a body and acceleration of one of its points, in world axes (T-1.5)."""
        start, X = self.absolute.bodies[body], self.absolute.snapshot.pose(Frame(body))
        v, v_dot = self.absolute.velocity(body), self.elimination.solution[0][start : start + 6]
        w, eps, arm = X.R @ v[:3], X.R @ v_dot[:3], p - X.p
        a = X.R @ (v_dot[3:] + cross(v[:3], v[3:]))
        return eps, a + cross(eps, arm) + cross(w, cross(w, arm))

    def _joint_acceleration(self, name: str) -> Array:
        """u_dot of a joint: prescribed, or that of its bodies along its freedoms."""
        known = self.absolute.prescribed(name)
        constraint = self.absolute.joint_constraints[name]
        if known is not None or not constraint.joint.n_u:
            return np.empty(0) if known is None else known
        relative, v_dot = -constraint.bias, self.elimination.solution[0]
        sides = ((constraint.joint.a.body, constraint.J_a, -1.0), (constraint.joint.b.body, constraint.J_b, 1.0))
        for body, J, sign in sides:
            if body in self.absolute.bodies:
                start = self.absolute.bodies[body]
                relative = relative + sign * (J @ v_dot[start : start + 6])
        return tidy(constraint.T.T @ relative)

    # -- forces ------------------------------------------------------------------------------------
    @property
    def multipliers(self) -> Array:
        """Those of the independent rows of cut joints and constraints."""
        if self._by_recursion or self.given.multipliers is not None:
            return super().multipliers
        end = len(self.elimination.rows.rows)
        return self.elimination.solution[1][end - len(self.kinematics.constraints.rows) : end]

    @property
    def lock_multipliers(self) -> Array:
        """The locking effort of each lock; zero if it is not active."""
        if self._by_recursion or self.given.u_dot is not None:
            return super().lock_multipliers
        efforts = iter(self.elimination.solution[1][len(self.elimination.rows.rows) :])
        return tidy([0.0 if is_zero(lock.stuck) else lock.stuck * next(efforts) for lock in self.locks.locks])

    @cached_property
    def link_wrenches(self) -> list[Spatial]:
        """The wrench of each node's joint on its link: its reaction by the multipliers, and its effort."""
        if self._by_recursion:
            return list(super().link_wrenches)
        return [self._link_wrench(i) for i in range(len(self.kinematics.tree.nodes))]

    def _link_wrench(self, i: int) -> Spatial:
        k, rows, lam = self.kinematics, self.elimination.rows, self.elimination.solution[1]
        node = k.tree.nodes[i]
        name = node.joint.name
        moment, force = rows.reaction(name, lam[rows.named.get(name, [])])
        F, M, _ = k.cut_pose(name)
        if node.joint.n_u:
            own = self.absolute.joint_constraints[name].T @ self._effort(name)
            moment, force = moment + M.R @ own[:3], force + M.R @ own[3:]
        if node.reversed:  # the tree's child is a: it takes the opposite, about F
            return -(F.R.T @ (moment + cross(M.p - F.p, force))), -(F.R.T @ force)
        return M.R.T @ moment, M.R.T @ force

    def _effort(self, name: str) -> Array:
        """The effort along a joint: of the model, its drive, and gears that lead or follow it."""
        rows, lam = self.elimination.rows, self.elimination.solution[1]
        effort = self.loads.own_effort(name)
        added = self.given.effort
        if added is not None and name in self.topology.u_of:
            effort = effort + added[self.topology.u_of[name]]
        for part in (DRIVE, GEAR):
            indices = rows.index(name, part)
            if indices:
                effort = effort + lam[indices]
        for follower, coupling in self.topology.couplings.items():
            if coupling.leader == name:
                ratio = self.kinematics.resolve(coupling.ratio)
                effort = effort - ratio * lam[rows.index(follower, GEAR)]
        for lock, held in zip(self.elimination.locks, lam[len(rows.rows) :], strict=True):
            effort = effort + dict(lock.joints).get(name, 0.0) * lock.stuck * held
        return tidy(effort)


RANK_TOLERANCE = 1e-9  # of the largest singular value: smaller ones belong to dependent rows; rounding leaves 1e-15
LARGEST_IMBALANCE = 1e-8  # share of the loads: with more, the support does not balance them


def static_reactions(snapshot: Snapshot, hold: Support = None) -> dict[str, tuple[Array, ...]]:
    """Moment and force of each joint and multipliers of each constraint, from the equilibrium of every body.

    Q + L lam + T e = 0: Q weight and loads (T-10.5), T e the efforts of the supporting freedoms.  These are all
    freedoms outside loops, and in loops the freedoms ``hold``.  It works on floats.
    """
    absolute = Absolute(snapshot, friction=snapshot.friction.sliding)
    rows, topology, constraints = EliminationRows(absolute), absolute.topology, snapshot.constraints
    alone = set(topology.u_of) - set(joints_in_loops(topology))
    support = [(name, k) for name in topology.u_of if name in alone for k in range(absolute.system.joints[name].n_u)]
    columns = [row.entries for row in rows.rows] + [
        rows.effort_column(*freedom) for freedom in [*support, *(hold or ())]
    ]
    L = np.zeros((6 * len(absolute.bodies), len(columns)))
    for k, column in enumerate(columns):
        L[list(column), k] = list(column.values())
    loads = np.concatenate([np.asarray(link.Q, dtype=float) for link in absolute.links.values()])
    x = np.linalg.lstsq(L, -loads, rcond=RANK_TOLERANCE)[0]
    # One step of iterative refinement: the residual of each body is exact to its own size, so light bodies are too.
    x = x + np.linalg.lstsq(L, -loads - L @ x, rcond=RANK_TOLERANCE)[0]
    if np.linalg.norm(L @ x + loads) > LARGEST_IMBALANCE * np.linalg.norm(loads):
        raise SupportError("hold: these freedoms do not support the mechanism in this position")
    count = len(constraints.rows) if topology.constrained else 0
    loops = topology.cuts or topology.constraints
    multipliers = constraints.scatter(x[len(rows.rows) - count : len(rows.rows)]) if loops else {}
    for follower, coupling in topology.couplings.items():
        multipliers[coupling.constraint] = x[rows.index(follower, GEAR)]
    reactions: dict[str, tuple[Array, ...]] = {name: (multipliers[name],) for name in absolute.system.constraints}
    for name, joint in absolute.system.joints.items():
        lam = multipliers[name] if name in topology.cut_names else x[rows.named.get(name, [])]
        R = snapshot.pose(joint_frame(joint, "parent")).R.T
        wrench = [R @ part for part in rows.reaction(name, lam)]
        for mesh in snapshot.kinematics.tooth_forces.at(name):
            teeth = snapshot.reactions.tooth_load(name, mesh, multipliers[mesh.constraint][0], "static")
            wrench = [part + more for part, more in zip(wrench, teeth, strict=True)]
        reactions[name] = tuple(wrench)
    return reactions


NEWTON_EULER = Composition(whole_tree=True, motion=EliminatedMotion)
"""A snapshot by the equations of all bodies: ``Snapshot(topology, point, formulation=NEWTON_EULER)``."""
