"""Newton-Euler equations in absolute coordinates, dense, with ranks and least norm: a second opinion (T-10.9).

``formulations/eliminated_motion.py`` solves the same equations sparse, without redundant rows.  Here friction is found
by iteration, teeth are rows at the pitch point, and redundant rows stay.

Every body has a velocity of its own, v = [w; V] in its axes about its origin, and every joint is a set of rows
L'v = (given velocities).  With the body equations M v_dot = -Omega v + Q + L lam (T-10.1), matrices (T-1.6) with the
angular part first, B1 = L'M^-1 L and B2 = L'M^-1,

    lam = B1^-1 (B3 v - B2 Q),    B3 v = L'M^-1 Omega v - L_dot'v      (T-10.9)

The rows of a joint are the directions of its reaction: N with N'S = 0, where S is its motion subspace.  The wrench N
lam on b about M is the reaction.  A driven joint has its freedoms T as rows too (T'S = 1); their multipliers are the
effort of the drive.  A gear is one row across two joints; if its teeth are known, it is the relative velocity of the
wheels at the pitch point, along the tooth force of the flank that carries the load.  Cut joints (``topology.cuts``) are
rows like all others, in a state in which the loops are closed.  A constraint element has rows of its own: the wrenches
of unit multipliers on bodies, and its second derivative for v_dot = 0.

Static shares of reactions are the equilibrium of every body, Q + L lam + T e = 0: Q weight and loads (T-10.5), T e the
efforts of the supporting freedoms.  These are all freedoms outside loops, and in loops those that are named
(``loop_statics`` finds the joints in loops).

Poses and velocities of bodies, expressions and loads come from the snapshot; the dynamics of the recursion is not used.
If rows are dependent (redundant constraints), the multipliers of least norm are given, with moments divided by the
characteristic length; ``is_unique`` tells which reactions do not depend on this choice.

The matrices of bodies and joints are those of ``absolute_coordinates``.  The solution uses floats and dense matrices,
because complements and ranks need numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ModelError, SupportError
from kinode.formulations.absolute_coordinates import Absolute, JointConstraint
from kinode.formulations.reaction_uniqueness import characteristic_length, complement
from kinode.model.base.contact import Lock
from kinode.model.base.frames import Frame
from kinode.model.constraints.constraint import ANGULAR
from kinode.model.constraints.tooth_mesh import ToothMesh
from kinode.model.joints.joint import Joint
from kinode.multibody import loop_constraints
from kinode.multibody.coupled_friction import find_joint_friction
from kinode.multibody.loop_statics import Freedom, Support, joints_in_loops
from kinode.multibody.snapshot import Snapshot

RANK_TOLERANCE = 1e-9  # of the largest singular value: smaller ones belong to dependent rows; rounding leaves 1e-15
UNIQUE_TOLERANCE = 1e-8  # a reaction that changes less than this with a unit of the redundant forces is unique
MOST_ITERATIONS = 1000  # of friction and reactions; each reduces the error by a factor


def plain(values: Any) -> Array:
    """An array of plain numbers."""
    return np.asarray(values, dtype=float)


@dataclass(frozen=True, eq=False)
class ConstraintRows:
    """The constraint rows L'v_dot = gamma of one joint, drive, gear, lock or constraint."""

    L: Array
    gamma: Array
    scale: float | Array = 1.0  # of the multipliers: the characteristic length for moments, so that norms are of forces


class NewtonEuler(Absolute):
    """The equations of one evaluation in absolute coordinates, solved.

    ``u_dot`` prescribes the accelerations of the state: the multipliers of these rows are the efforts needed.
    ``friction`` is given by joint, or follows from the reactions.  ``flanks`` are the signs of the efforts of gears
    with known teeth; they follow from a solution without separating forces, which do not change the efforts.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        u_dot: Array | None = None,
        friction: Mapping[str, Array] | None = None,
        flanks: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(snapshot, friction=friction)
        self.given, self._given_flanks = u_dot, flanks

    @cached_property
    def flanks(self) -> Mapping[str, float]:
        """The flank of each mesh that carries its load: the sign of the gear's effort."""
        meshes = self.topology.meshes
        if self._given_flanks is not None or not meshes:
            return self._given_flanks or {}
        undecided = NewtonEuler(self.snapshot, self.given, self.friction, dict.fromkeys(meshes, 0.0))
        return {name: float(np.sign(undecided.constraint_multipliers(name)[0])) for name in meshes}

    @cached_property
    def length(self) -> float:
        return characteristic_length(self.system)

    @cached_property
    def directions(self) -> dict[str, Array]:
        """N of each joint: the directions of its reaction, scaled so that multipliers are forces."""
        constraints = self.joint_constraints.items()
        return {name: complement(plain(constraint.S), self.length) for name, constraint in constraints}

    @cached_property
    def friction(self) -> Mapping[str, Array]:
        """Efforts of friction, by iteration of friction and reactions."""
        if self.given_friction is not None:
            return self.given_friction
        frictions = find_joint_friction(self.snapshot.kinematics)
        if not frictions:
            return {}

        def wrenches(x: Array) -> list[Array]:
            efforts = {friction.name: friction.efforts(x) for friction in frictions}
            solution = NewtonEuler(self.snapshot, self.given, efforts)
            total = []
            for friction in frictions:
                effort = efforts[friction.name] + solution.held_effort(friction.name, "friction")
                total.append(friction.turned(*solution.reaction(friction.name)) + friction.own(effort))
            return total

        m = frictions[-1].where.stop
        x, start = np.zeros(m), wrenches(np.zeros(m))
        gains = [[w - w_0 for w, w_0 in zip(wrenches(unit), start, strict=True)] for unit in np.eye(m)]
        for _ in range(MOST_ITERATIONS):
            if self.topology.meshes:  # the flank of teeth may change with friction: not linear
                W = wrenches(x)
            else:
                W = [w_0 + sum(g[i] * b for g, b in zip(gains, x, strict=True)) for i, w_0 in enumerate(start)]
            old, x = x, plain(np.concatenate([friction.brakes_of(w) for friction, w in zip(frictions, W, strict=True)]))
            if abs(x - old).max(initial=0.0) <= 1e-15 * abs(x).max(initial=0.0):
                break
        return {friction.name: plain(friction.efforts(x)) for friction in frictions}

    # -- constraints -------------------------------------------------------------------------------
    @cached_property
    def rows(self) -> dict[str, ConstraintRows]:
        """All rows by origin: ``joint``, ``joint.drive``, ``follower.gear``, ``owner.part`` (lock), ``constraint``."""
        rows: dict[str, ConstraintRows] = {}
        for name, constraint in self.joint_constraints.items():
            N = self.directions[name]
            rows[name] = ConstraintRows(self.wrench_columns(constraint, N), N.T @ constraint.bias)
            wanted = self._wanted(name)
            if wanted is not None and constraint.joint.n_u:
                gamma = wanted + constraint.T.T @ constraint.bias
                rows[f"{name}.drive"] = ConstraintRows(
                    self.wrench_columns(constraint, constraint.T), gamma, self.effort_units(constraint.joint)
                )
        for name, coupling in self.topology.couplings.items():
            follower, leader = self.joint_constraints[name], self.joint_constraints[coupling.leader]
            ratio = float(self.snapshot.resolve(coupling.ratio))
            L = self.wrench_columns(follower, follower.T) - ratio * self.wrench_columns(leader, leader.T)
            gamma = follower.T.T @ follower.bias - ratio * (leader.T.T @ leader.bias)
            rows[f"{name}.gear"] = ConstraintRows(L, gamma, self.effort_units(follower.joint))
            if coupling.constraint in self.topology.meshes:
                rows[f"{name}.gear"] = self._mesh_row(self.topology.meshes[coupling.constraint])
        for lock in self.locks:
            each = [(self.joint_constraints[name], float(factor)) for name, factor in lock.joints]
            columns = plain(sum(factor * self.wrench_columns(constraint, constraint.T) for constraint, factor in each))
            rates = plain(sum(factor * (constraint.T.T @ constraint.bias) for constraint, factor in each))
            rows[f"{lock.owner}.{lock.part}"] = ConstraintRows(columns, rates, self.effort_units(each[0][0].joint))
        for element in self.topology.constraints:
            mesh = self.topology.meshes.get(element.name)
            constraint_rows = loop_constraints.loop_constraint_of(self.topology, element)
            rows[element.name] = self._element_rows(constraint_rows) if mesh is None else self._mesh_row(mesh)
        return rows

    @cached_property
    def locks(self) -> list[Lock]:
        """The active locks; none if accelerations are given."""
        every = self.snapshot.locking.locks if self.given is None else []
        return [lock for lock in every if float(lock.stuck) == 1.0]

    def held_effort(self, name: str, part: str | None = None) -> float:
        """The locking force along a joint, or that of one lock."""
        total = 0.0
        for lock in self.locks:
            if part is None or (lock.owner, lock.part) == (name, part):
                total += (
                    sum(float(f) for n, f in lock.joints if n == name)
                    * self.multipliers(f"{lock.owner}.{lock.part}")[0]
                )
        return total

    def effort_units(self, joint: Joint) -> Array:
        return np.array([self.length if kind == "angle" else 1.0 for _, kind in joint.coordinates])

    def _element_rows(self, constraint: loop_constraints.LoopConstraint) -> ConstraintRows:
        """Rows of a constraint element."""
        each, gamma = self.element_rows(constraint)
        units = np.array([self.length if unit in ANGULAR else 1.0 for unit in constraint.units])
        return ConstraintRows(self._stacked(each, len(constraint.units)), plain(gamma), units)

    def _mesh_row(self, mesh: ToothMesh) -> ConstraintRows:
        """The row of a gear with known teeth: n . (velocity of one wheel - velocity of the other) at P, of the bodies.

        n and P are fixed in the carrier.  Its rate for v_dot = 0 of all bodies, in their axes, is -gamma.
        """
        s, teeth = self.snapshot, self.snapshot.kinematics.tooth_forces
        force = teeth.forces[mesh.constraint]
        P, n = plain(force.point), plain(force.force(1.0, self.flanks[mesh.constraint]))
        w_C, v_C = (plain(x) for x in s.velocity(mesh.follower.carrier))
        P_dot = v_C + np.cross(w_C, P - plain(s.pose(mesh.follower.carrier).p))
        L, rate = np.zeros((6 * len(self.bodies), 1)), 0.0
        for side, sense in ((mesh.follower, 1.0), (mesh.leader, -1.0)):
            frame = Frame(side.wheel)
            X, (w, v) = s.pose(frame), (plain(x) for x in s.velocity(frame))
            R, arm = plain(X.R), P - plain(X.p)
            if side.wheel in self.bodies:
                column = np.concatenate([R.T @ np.cross(arm, n), R.T @ n])
                L[self.bodies[side.wheel] :][:6, 0] += sense * column
            rate += sense * (np.cross(w_C, n) @ (v + np.cross(w, arm)) + n @ (np.cross(w, v) + np.cross(w, P_dot - v)))
        follower = self.system.joints[mesh.follower.joint]
        return ConstraintRows(L, np.array([-rate]), self.effort_units(follower))

    def _wanted(self, name: str) -> Array | None:
        """The prescribed acceleration along a joint's freedoms; None if it is unknown."""
        if self.given is not None and name in self.topology.u_of:
            return plain(self.given)[self.topology.u_of[name]]
        known = self.prescribed(name)
        return None if known is None else plain(known)

    def wrench_columns(self, constraint: JointConstraint, directions: Array) -> Array:
        """The wrenches on all bodies of unit wrenches on b about M, and their opposites on a."""
        return self._stacked(self.acting(constraint, directions), directions.shape[1])

    def _stacked(self, each: Mapping[str, Array], count: int) -> Array:
        L = np.zeros((6 * len(self.bodies), count))
        for body, values in each.items():
            L[self.bodies[body] :][:6] += plain(values)
        return L

    # -- solution ----------------------------------------------------------------------------------
    @cached_property
    def _solution(self) -> tuple[Array, Array, Array]:
        """Multipliers, accelerations of all bodies, and the null space of L: multipliers without effect on the motion.

        M is replaced by M + L W L'.  With L'v_dot = gamma this adds the known L W gamma to the right-hand side, and
        W gamma to lam; the solution is the same.  The new matrix is positive definite for massless bodies too, and
        better conditioned for all.  B1 = A'A with A = C^-1 L, M = C C', is solved by the singular values of A.
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
        rank = int(np.sum(s > RANK_TOLERANCE * s.max(initial=0.0)))
        U, V, N, s = U[:, :rank], Vt[:rank].T, Vt[rank:].T, s[:rank]

        def solve(f: Array, gamma: Array) -> tuple[Array, Array]:
            y = np.linalg.solve(C, f)
            lam = V @ ((V.T @ gamma / s - U.T @ y) / s)
            return lam - W * gamma, np.linalg.solve(C.T, y + A @ lam)

        lam, v_dot = solve(f, gamma)
        # One step of iterative refinement: the residual of each body is exact to its own size (a camera on a ship).
        lam_error, v_error = solve(f + L @ lam - M @ v_dot, gamma - L.T @ v_dot)
        lam, v_dot = lam + lam_error, v_dot + v_error
        return lam - N @ (N.T @ lam), v_dot, N

    def _weights(self, L: Array, M: Array) -> Array:
        """The weight of each row: the mean mass of the bodies that it acts on, so that both sides have equal weight."""
        mass = np.repeat(M.diagonal().reshape(-1, 6)[:, 3], 6)
        touched = (L != 0.0).astype(float)
        mean_mass: Array = mass @ touched / np.maximum(touched.sum(axis=0), 1.0)
        return np.where(mean_mass > 0.0, mean_mass, mass.mean() or 1.0)

    @cached_property
    def _columns_of(self) -> dict[str, slice]:
        columns, start = {}, 0
        for name, rows in self.rows.items():
            columns[name] = slice(start, start + rows.L.shape[1])
            start += rows.L.shape[1]
        return columns

    def multipliers(self, origin: str) -> Array:
        """The multipliers of the rows of one origin (see ``rows``)."""
        multipliers: Array = self._solution[0][self._columns_of[origin]] * self.rows[origin].scale
        return multipliers

    def constraint_multipliers(self, name: str) -> Array:
        """The multipliers of a constraint element; of a gear, its effort along the following joint."""
        gears = {coupling.constraint: f"{follower}.gear" for follower, coupling in self.topology.couplings.items()}
        return self.multipliers(gears.get(name, name))

    @property
    def redundancy(self) -> int:
        """The number of dependent rows."""
        return int(self._solution[2].shape[1])

    def is_unique(self, name: str) -> Array:
        """Whether each component of a joint's reaction (moment x, y, z, force x, y, z) is unique."""
        constraint = self.joint_constraints[name]
        share = self.directions[name] @ self._solution[2][self._columns_of[name]]
        moment, force = constraint.R @ share[:3] / self.length, constraint.R @ share[3:]
        size: Array = np.linalg.norm(np.vstack([moment, force]), axis=1)
        return size < UNIQUE_TOLERANCE

    def unique_multipliers(self, origin: str) -> Array:
        """Whether each multiplier of one origin is unique."""
        size: Array = np.linalg.norm(self._solution[2][self._columns_of[origin]], axis=1)
        return size < UNIQUE_TOLERANCE

    def acceleration(self, body: str) -> tuple[Array, Array]:
        """Angular acceleration and acceleration of a body's origin, in world axes (T-1.5)."""
        k = self.bodies[body]
        R = plain(self.snapshot.pose(Frame(body)).R)
        (w, V), (eps, V_dot) = np.split(self.links[body].v, 2), np.split(self._solution[1][k : k + 6], 2)
        return R @ eps, R @ (V_dot + np.cross(w, V))

    def joint_acceleration(self, name: str) -> Array:
        """u_dot of a joint, from the relative acceleration of its bodies."""
        constraint, v_dot = self.joint_constraints[name], self._solution[1]
        relative = -constraint.bias
        a, b = constraint.joint.a.body, constraint.joint.b.body
        for body, J, sign in ((a, constraint.J_a, -1.0), (b, constraint.J_b, 1.0)):
            if body in self.bodies:
                relative = relative + sign * (J @ v_dot[self.bodies[body] :][:6])
        u_dot: Array = constraint.T.T @ relative
        return u_dot

    @cached_property
    def u_dot(self) -> Array:
        """Accelerations of the state."""
        u_dot = np.zeros(self.topology.n_u)
        for name, where in self.topology.u_of.items():
            u_dot[where] = self.joint_acceleration(name)
        return u_dot

    @cached_property
    def effort(self) -> Array:
        """The effort to be added to those of the model for the given accelerations."""
        effort = np.zeros(self.topology.n_u)
        for name, where in self.topology.u_of.items():
            effort[where] = self.multipliers(f"{name}.drive")
        return effort

    def joint_effort(self, name: str) -> Array:
        """The effort along a joint's freedoms: of the model, its drive, locks and gears."""
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
        constraint = self.joint_constraints[name]
        wrench = self.directions[name] @ self.multipliers(name)
        return constraint.R @ wrench[:3], constraint.R @ wrench[3:]


LARGEST_IMBALANCE = 1e-8  # share of the loads: with more, the support does not balance them


def static_reactions(bodies: NewtonEuler, hold: Support = None) -> dict[str, tuple[Array, ...]]:
    """Moment and force of each joint, as ``NewtonEuler.reaction`` gives them, and multipliers of each constraint.

    The freedoms ``hold`` support the loops.
    """
    loads = _loads(bodies)
    blocks = {origin: rows.L * rows.scale for origin, rows in bodies.rows.items()}
    supporting = [_effort_wrenches(bodies, freedom) for freedom in _supporting_freedoms(bodies, hold)]
    L = np.column_stack([*blocks.values(), np.zeros((len(loads), 0)), *supporting])
    x = np.linalg.lstsq(L, -loads, rcond=RANK_TOLERANCE)[0]
    # One step of iterative refinement: the residual of each body is exact to its own size, so light bodies are too.
    x = x + np.linalg.lstsq(L, -loads - L @ x, rcond=RANK_TOLERANCE)[0]
    if np.linalg.norm(L @ x + loads) > LARGEST_IMBALANCE * np.linalg.norm(loads):
        raise SupportError("hold: these freedoms do not support the mechanism in this position")
    ends = np.cumsum([block.shape[1] for block in blocks.values()])
    each = dict(zip(blocks, np.split(x, ends)[:-1], strict=True))
    lam = {origin: values * bodies.rows[origin].scale for origin, values in each.items()}
    reactions: dict[str, tuple[Array, ...]] = {}
    for name, joint in bodies.joint_constraints.items():
        wrench = bodies.directions[name] @ lam[name]
        reactions[name] = (joint.R @ wrench[:3], joint.R @ wrench[3:])
    gears = {coupling.constraint: f"{follower}.gear" for follower, coupling in bodies.topology.couplings.items()}
    return {**reactions, **{name: (lam[gears.get(name, name)],) for name in bodies.system.constraints}}


def _loads(bodies: NewtonEuler) -> Array:
    """Weight and loads on all bodies, without gyroscopic terms."""
    return plain(np.concatenate([link.Q for link in bodies.links.values()]))


def _supporting_freedoms(bodies: NewtonEuler, hold: Support) -> list[Freedom]:
    """The supporting freedoms: those named, and those of the state outside loops."""
    loops = joints_in_loops(bodies.topology)
    joints = bodies.system.joints
    alone = [(name, k) for name in bodies.topology.u_of if name not in loops for k in range(joints[name].n_u)]
    return [*alone, *(hold or ())]


def _effort_wrenches(bodies: NewtonEuler, freedom: Freedom) -> Array:
    """The wrenches of a unit effort along a freedom on all bodies; for angles the unit is the characteristic length."""
    name, k = freedom
    joint = bodies.joint_constraints[name]
    return bodies.wrench_columns(joint, joint.T[:, k : k + 1] * bodies.effort_units(joint.joint)[k])
