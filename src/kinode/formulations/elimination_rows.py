"""The rows L'v = (given velocities) of all joints, drives, gears and constraints, on the velocities of all bodies.

A row is the power of a unit multiplier: its column of L holds the moment and the force that it exerts on each body, in
body axes about the body's origin (T-10.1).  Its time derivative while v stays as it is gives L'v_dot = gamma.

Joints of the tree react along constant directions in the axes of their parent side; their rows are differentiated
exactly, so that L'v keeps its value along the motion.  Cut joints and constraints have the rows of their residuals, of
which ``topology.rows`` are independent, or combinations of them: the others are left out.  So are no rows of the tree,
which cannot be redundant.

A joint whose freedoms lie along coordinate axes of its parent side has unit vectors as directions: the forces X, Y, Z
and the moments MX, MY, MZ that it transmits.  If its axis is oblique, these are taken along its own axes, of which the
third is the axis.  A screw and a universal joint have neither: their directions are the gradients of their closure.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar, is_zero, tidy, value_and_rate
from kinode.algebra.sparse_ldl import Row
from kinode.algebra.spatial import cross, exact_entries, skew
from kinode.formulations.absolute_coordinates import Absolute, JointConstraint
from kinode.model.base.contact import Lock
from kinode.model.base.frames import Frame
from kinode.model.joints.joint import Joint
from kinode.model.system import System, joint_frame
from kinode.multibody import loop_constraints
from kinode.multibody.loop_constraints import CutJointConstraint, LoopConstraint
from kinode.structure.spanning_tree import Cut

PARTS = ("MX", "MY", "MZ", "X", "Y", "Z")
FORCES_FIRST = (3, 4, 5, 0, 1, 2)
SMALLEST = 1e-12  # of a direction at a generic position: smaller is rounding


class ReactionDirections(NamedTuple):
    """N of a joint, [moment; force] in the given axes of its parent side, one column for each direction; and names.

    ``own_axes``: the names refer to the joint's own axes, of which the third is along its axis.  ``slides``: the joint
    points of its two sides may be apart.
    """

    N: Array
    parts: tuple[str, ...]
    own_axes: bool
    slides: bool


def find_directions(system: System, joint: Joint) -> ReactionDirections | None:
    """The directions of a joint's reaction as constants; None if they change with its position."""
    q, form = _generic_position(joint), joint.form(system.nominal)
    R = np.asarray(joint.transform(q, form).R, dtype=float)
    S = np.asarray(joint.motion_subspace(q, form), dtype=float).reshape(6, joint.n_u)
    C = np.asarray(joint.axis_rotation(system.nominal, system.nominal), dtype=float)
    own = _turned(R) @ S
    slides = bool(np.abs(S[3:]).max(initial=0.0) > SMALLEST)
    if not _has_expressions(joint):
        parts = _free_rows(_turned(C) @ own)
        if parts is not None:
            return ReactionDirections(np.eye(6)[:, parts], tuple(PARTS[k] for k in parts), False, slides)
    parts = _free_rows(own)
    if parts is None or _has_expressions(joint):
        return None
    return ReactionDirections(_turned(C)[:, parts], tuple(PARTS[k] for k in parts), True, slides)


def _has_expressions(joint: Joint) -> bool:
    """Whether the axes of a joint depend on parameters."""
    return any(field in ("axis", "axes", "normal") for field, _ in joint.expressions())


def _free_rows(A: Array) -> list[int] | None:
    """The components that no freedom has, forces first; None if freedoms share components."""
    moving = np.abs(A).max(axis=1, initial=0.0) > SMALLEST
    if int(moving.sum()) != A.shape[1]:
        return None
    return [k for k in FORCES_FIRST if not moving[k]]


def _generic_position(joint: Joint) -> Array:
    """Coordinates in which nothing is parallel by chance."""
    return joint.advance(joint.neutral_q(), 0.3 + 0.17 * np.arange(joint.n_u))


def _turned(R: Array) -> Array:
    """[[R, 0], [0, R]]."""
    return np.kron(np.eye(2), R)


DRIVE, GEAR, MULTIPLIER = "drive", "gear", "lam"


class RowName(NamedTuple):
    """A row by its joint or constraint, and its part: X ... MZ, drive, gear, lam; ``number`` from 1 where several."""

    owner: str
    part: str
    number: int = 0


class EliminationRow(NamedTuple):
    """One row: its name, its entries by column (six for each body), and gamma of L'v_dot = gamma.

    ``rates`` are those of the entries; None where the row is that of a closure, whose gamma is found without them.
    """

    name: RowName
    entries: Row
    gamma: Scalar
    rates: Row | None = None


class EliminationRows:
    """The rows of one instant.

    ``u_dot`` are given accelerations of the state: their joints have rows as driven ones do.
    """

    def __init__(self, absolute: Absolute, u_dot: Array | None = None) -> None:
        self.absolute, self.given = absolute, u_dot
        self.topology, self.system = absolute.topology, absolute.system
        self.snapshot = absolute.snapshot

    @cached_property
    def directions(self) -> dict[str, ReactionDirections | None]:
        """The constant directions of each tree joint; None where they are those of its closure."""
        joints = [joint for joint in self.system.joints.values() if joint.name not in self.topology.cut_names]
        return {joint.name: find_directions(self.system, joint) for joint in joints}

    @cached_property
    def rows(self) -> list[EliminationRow]:
        """All rows."""
        rows: list[EliminationRow] = []
        for name, directions in self.directions.items():
            rows += self._reaction_rows(self.system.joints[name], directions)
            wanted = self._wanted(name)
            if wanted is not None:
                rows += self._drive_rows(self.absolute.joint_constraints[name], wanted)
        rows += [self._gear_row(follower) for follower in self.topology.couplings]
        return [*rows, *self._loop_rows()]

    def _loop_rows(self) -> list[EliminationRow]:
        """The independent rows of cut joints and constraints."""
        constraints = loop_constraints.loop_constraints_of(self.topology)
        every = [row for constraint in constraints for row in self._closure_rows(constraint)]
        rows = every if self.topology.rows is None else [every[k] for k in self.topology.rows]
        for group in self.snapshot.constraints.combined if self.topology.groups else ():
            for place, weights in zip(group.places, group.weights, strict=True):
                rows[place] = _combine(rows[place].name, [every[k] for k in group.of], weights)
        return rows

    @cached_property
    def named(self) -> dict[str, list[int]]:
        """The indices of the rows of each joint and constraint, without drives and gears."""
        indices: dict[str, list[int]] = {}
        for k, row in enumerate(self.rows):
            if row.name.part not in (DRIVE, GEAR):
                indices.setdefault(row.name.owner, []).append(k)
        return indices

    def index(self, owner: str, part: str) -> list[int]:
        """The rows of one part of an owner: drive or gear."""
        return [k for k, row in enumerate(self.rows) if row.name[:2] == (owner, part)]

    def _wanted(self, name: str) -> Array | None:
        """The acceleration that is prescribed along a joint's freedoms; None if it is unknown."""
        if self.given is not None and name in self.topology.u_of:
            return self.given[self.topology.u_of[name]]
        return self.absolute.prescribed(name)

    # -- kinds of rows -----------------------------------------------------------------------------
    def _reaction_rows(self, joint: Joint, directions: ReactionDirections | None) -> list[EliminationRow]:
        if directions is None:
            return self._closure_rows(CutJointConstraint(Cut(joint, ())))
        if not len(directions.parts):
            return []
        L, L_dot, bodies = self._turning_columns(joint, directions)
        v = np.concatenate([self.absolute.velocity(body) for body in bodies])
        columns = [6 * k + i for k in (self.absolute.bodies[body] // 6 for body in bodies) for i in range(6)]
        gamma = tidy(-(L_dot.T @ v))
        return [
            EliminationRow(
                RowName(joint.name, part), _entries(columns, L[:, k]), gamma[k], _entries(columns, L_dot[:, k])
            )
            for k, part in enumerate(directions.parts)
        ]

    def _turning_columns(self, joint: Joint, directions: ReactionDirections) -> tuple[Array, Array, list[str]]:
        """The columns of constant directions in the parent's axes, their rates, and the bodies that they act on.

        The force acts on b at its joint point; on a at the same point, or at its own where the two stay together.
        """
        s, N = self.snapshot, directions.N
        F, M = (joint_frame(joint, side) for side in ("parent", "child"))
        sides = [(body, sign) for body, sign in ((joint.a.body, -1.0), (joint.b.body, 1.0)) if body in self._bodies]
        frames = [F, M, *(Frame(body) for body, _ in sides)]
        poses, velocities = [s.pose(frame) for frame in frames], [s.velocity(frame) for frame in frames]
        x = np.concatenate([np.concatenate([X.R.ravel(), X.p]) for X in poses])
        x_dot = [np.concatenate([(skew(w) @ X.R).ravel(), v]) for X, (w, v) in zip(poses, velocities, strict=True)]

        def columns(x: Array) -> Array:
            (R_F, p_F), (_, p_M), *carriers = [(y[:9].reshape(3, 3), y[9:]) for y in x.reshape(-1, 12)]
            m, f = R_F @ N[:3], R_F @ N[3:]
            blocks = []
            for (_, sign), (R, p) in zip(sides, carriers, strict=True):
                arm = (p_M if sign > 0.0 or directions.slides else p_F) - p
                about = np.column_stack([cross(arm, f[:, k]) for k in range(N.shape[1])])
                blocks += [sign * (exact_entries(R.T @ m) + R.T @ about), sign * exact_entries(R.T @ f)]
            return np.vstack(blocks)

        L, L_dot = value_and_rate(columns, x, np.concatenate(x_dot))
        return L, L_dot, [body for body, _ in sides]

    @property
    def _bodies(self) -> dict[str, int]:
        return self.absolute.bodies

    def _drive_rows(self, constraint: JointConstraint, wanted: Array) -> list[EliminationRow]:
        gamma = tidy(wanted + constraint.T.T @ constraint.bias)
        entries, several = self._acting(constraint, constraint.T), len(gamma) > 1
        return [
            EliminationRow(RowName(constraint.joint.name, DRIVE, (k + 1) * several), entries[k], gamma[k])
            for k in range(len(gamma))
        ]

    def _gear_row(self, follower: str) -> EliminationRow:
        coupling, at = self.topology.couplings[follower], self.absolute.joint_constraints
        ratio = self.snapshot.resolve(coupling.ratio)
        (one,), (two,) = (self._acting(at[name], at[name].T) for name in (follower, coupling.leader))
        entries = {k: one.get(k, 0.0) - ratio * two.get(k, 0.0) for k in {**one, **two}}
        gamma_one, gamma_two = (at[name].T.T @ at[name].bias for name in (follower, coupling.leader))
        gamma = tidy(gamma_one - ratio * gamma_two)[0]
        return EliminationRow(RowName(follower, GEAR), {k: x for k, x in entries.items() if not is_zero(x)}, gamma)

    def lock_row(self, lock: Lock) -> EliminationRow:
        """The row of a lock: the sum of factor * speed of its joints."""
        entries, gamma = dict[int, Scalar](), 0.0
        for name, factor in lock.joints:
            constraint = self.absolute.joint_constraints[name]
            (own,) = self._acting(constraint, constraint.T)
            entries |= {k: entries.get(k, 0.0) + factor * x for k, x in own.items()}
            gamma = gamma + factor * (constraint.T.T @ constraint.bias)[0]
        return EliminationRow(RowName(lock.owner, lock.part), entries, gamma)

    def effort_column(self, name: str, k: int) -> Row:
        """The wrenches on all bodies of a unit effort along a freedom of a joint."""
        constraint = self.absolute.joint_constraints[name]
        return self._acting(constraint, constraint.T[:, k : k + 1])[0]

    def _acting(self, constraint: JointConstraint, directions: Array) -> list[Row]:
        """The entries of the wrenches of unit efforts on b, and their opposites on a."""
        rows: list[Row] = [{} for _ in range(directions.shape[1])]
        for body, L in self.absolute.acting(constraint, directions).items():
            for k, row in enumerate(rows):
                row.update(_entries([self._bodies[body] + i for i in range(6)], L[:, k]))
        return rows

    def _closure_rows(self, constraint: LoopConstraint) -> list[EliminationRow]:
        """The rows of a residual, or of slips."""
        L, gamma = self.absolute.element_rows(constraint)
        rows = []
        for k in range(len(constraint.units)):
            entries: Row = {}
            for body, values in L.items():
                entries.update(_entries([self._bodies[body] + i for i in range(6)], values[:, k]))
            rows.append(EliminationRow(RowName(constraint.name, MULTIPLIER, k + 1), entries, gamma[k]))
        return rows

    # -- wrenches ----------------------------------------------------------------------------------
    def reaction(self, name: str, lam: Array) -> tuple[Array, Array]:
        """Moment about b's joint point and force of a joint's multipliers on b, in world axes."""
        joint, directions = self.system.joints[name], self.directions.get(name)
        F, M = (joint_frame(joint, side) for side in ("parent", "child"))
        if directions is not None:
            wrench = directions.N @ lam if len(lam) else np.zeros(6)
            R = self.snapshot.pose(F).R
            return R @ wrench[:3], R @ wrench[3:]
        loads = self.snapshot.constraints.loads_of(CutJointConstraint(Cut(joint, ())), lam)
        on_b = next(load for load in loads if load.on == M)
        return on_b.moment, on_b.force


def _combine(name: RowName, rows: list[EliminationRow], weights: Array) -> EliminationRow:
    entries: Row = {}
    for row, weight in zip(rows, weights, strict=True):
        entries |= {j: entries.get(j, 0.0) + weight * x for j, x in row.entries.items()}
    return EliminationRow(name, entries, weights @ np.array([row.gamma for row in rows], dtype=object))


def _entries(columns: list[int], values: Array) -> Row:
    return {k: x for k, x in zip(columns, values, strict=True) if not is_zero(x)}
