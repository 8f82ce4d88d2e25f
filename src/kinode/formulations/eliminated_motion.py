"""Accelerations from the equations of all bodies with the multipliers eliminated (T-10.9).

    M v_dot = -Omega v + Q + L lam,    L'v_dot = gamma
    lam = B1^-1 (gamma - B2 (Q - Omega v)),    B1 = L'M^-1 L,  B2 = L'M^-1

with gamma = -L_dot'v for joints without a drive, so that lam = B1^-1 (B3 v - B2 Q).  It computes with every scalar
type, and so it is compiled.  B1 is factorized sparse: a chain of bodies takes a number of operations in proportion to
its length.

A body without mass or inertia has no M^-1.  Its rows are added to its equations: M + L W L' and Q + L W gamma in place
of M and Q have the same solution, and the new matrix is regular if the motion is determined.

The mass matrix and the bias of joint coordinates are no part of this formulation; they are those of the recursion.
Accelerations that are given in a system with loops are spread by the recursion too.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from kinode.algebra.scalars import Array, tidy
from kinode.algebra.sparse_ldl import Row, Saddle, sparse
from kinode.algebra.spatial import cross
from kinode.formulations.absolute_coordinates import Absolute, body_matrices
from kinode.formulations.elimination_rows import DRIVE, GEAR, EliminationRow, EliminationRows
from kinode.model.base.frames import Frame
from kinode.model.system import System
from kinode.multibody.link_steps import Spatial
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
    """v_dot and lam of one instant: the balances of all bodies with the rows of all joints."""

    def __init__(self, absolute: Absolute, rows: EliminationRows) -> None:
        self.absolute, self.rows = absolute, rows

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
        """v_dot and lam."""
        rows = self.rows.rows
        M, f = self.mass_rows, [x for link in self.absolute.links.values() for x in link.wrench]
        gamma = [row.gamma for row in rows]
        for k, weight in self._weights(rows).items():
            entries = rows[k].entries
            for i, x in entries.items():
                f[i] = f[i] + weight * gamma[k] * x
                for j, y in entries.items():
                    M[i][j] = M[i].get(j, 0.0) + weight * x * y
        v_dot, lam = Saddle(M, [row.entries for row in rows])(tidy(f), tidy(gamma))
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
        return Absolute(self.instant)

    @cached_property
    def elimination(self) -> Elimination:
        """The equations of all bodies, and their solution."""
        return Elimination(self.absolute, EliminationRows(self.absolute, self.given.u_dot))

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
        count = len(self.kinematics.constraints.rows)
        lam = self.elimination.solution[1]
        return lam[len(lam) - count :]

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
        return tidy(effort)


NEWTON_EULER = Composition(whole_tree=True, motion=EliminatedMotion)
"""A snapshot by the equations of all bodies: ``Snapshot(topology, point, formulation=NEWTON_EULER)``."""
