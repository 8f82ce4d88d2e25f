"""The equations of assembly: coordinates of all joints, and what must vanish where all loops are closed.

The unknowns are the coordinates of the state and those of the cut joints, so that every joint counts alike and
the result does not depend on where a loop is cut.  Each cut joint has six equations: the difference between the pose of its
frames and the pose that its coordinates stand for, as a rotation vector and a position.  That difference is zero in
closed positions alone.  (The rows that simulations use are fewer and smooth, and vanish also half a turn away from some
closed positions; a continuous map from rotations to three numbers cannot do otherwise.)  Constraint elements and
followers with a given coordinate have rows of their own.

Lengths are divided by the characteristic length of the mechanism.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import Pose, quaternion_from_rotation
from kinode.algebra.trace import Tape
from kinode.dynamics.initialization.initial_values import InitialValues, depart, weight_of
from kinode.dynamics.initialization.loop_equations import LoopEquations
from kinode.kernels.compiled_kernels import Kernels
from kinode.kernels.kernel_options import Kernel
from kinode.model.base.frames import Resolve
from kinode.model.joints.joint import Joint
from kinode.multibody.dependent_joints import followers, loop_columns, pose_errors
from kinode.multibody.snapshot import Snapshot
from kinode.structure.evaluation_point import EvaluationPoint

POSE_ERRORS = Kernel("pose_errors")
UNCOMPILED_CALLS = 8  # in plain numbers; compiling takes as long as some fifteen
NEAR_HALF_TURN = 1e-3  # rad: there a rotation's axis is found from its quaternion


class RowGroup(NamedTuple):
    """The rows of one cut joint, constraint element or follower, and the freedoms that move them."""

    owner: str
    rows: slice
    columns: tuple[int, ...]


class _PoseErrorPlan(NamedTuple):
    """Where in the kernel's result the numbers of each cut joint stand."""

    rotations: Array  # n_cuts x 9
    positions: Array  # n_cuts x 3
    moving: Array  # n_cuts x 6
    entries: Array  # of the Jacobian
    rows: Array
    columns: Array
    followers: Array  # n_followers x 3


class AssemblyProblem:
    """What must vanish in a closed position, and how far a position is from the requested initial values.

    A position ``x`` has the coordinates of the state, then those of the cut joints.  Steps and columns of Jacobians go
    along the speeds, in the same order.

    Parameters
    ----------
    kernels : Kernels
    loops : LoopEquations or None
        The constraint rows of the system, None where there are none.
    values : InitialValues
        The requested initial values.
    point : EvaluationPoint
        Time, other states, parameters and inputs; its q and u do not count.
    resolve : callable
        Gives the numbers of the model at these parameters.
    """

    def __init__(
        self, kernels: Kernels, loops: LoopEquations | None, values: InitialValues, point: EvaluationPoint, resolve: Resolve
    ) -> None:
        self.kernels, self.loops, self.values, self.resolve = kernels, loops, values, resolve
        self.topology, self.joints = kernels.topology, kernels.topology.system.joints
        self.point = point.replaced(u=np.zeros(self.topology.n_u))
        self.length = loops.length if loops is not None else 1.0
        self.cuts = [cut for cut in self.topology.cuts]
        self.q_of, self.u_of = dict(self.topology.q_of), dict(self.topology.u_of)
        n_q, n_u = self.topology.n_q, self.topology.n_u
        for cut in self.cuts:
            self.q_of[cut.joint.name] = slice(n_q, n_q + cut.joint.n_q)
            self.u_of[cut.joint.name] = slice(n_u, n_u + cut.joint.n_u)
            n_q, n_u = n_q + cut.joint.n_q, n_u + cut.joint.n_u
        self.n_q, self.n_u = n_q, n_u
        self.followers = followers(self.topology)
        self.names = [name for name in self.u_of if self.joints[name].n_u] + list(self.followers)
        self._calls = 0

    # -- what each freedom is ----------------------------------------------------------------------
    @cached_property
    def owners(self) -> list[str]:
        """The joint of each freedom; freedoms of followers come behind those of the unknowns."""
        return [name for name in self.names for _ in range(self.joints[name].n_u)]

    @cached_property
    def units(self) -> Array:
        """1 for angles, the characteristic length for lengths, of each freedom."""
        kinds = [kind for name in self.names for _, kind in self.joints[name].coordinates]
        return np.array([1.0 if kind == "angle" else self.length for kind in kinds])

    @cached_property
    def weights(self) -> Array:
        """How much each freedom counts."""
        return np.array([weight_of(self.values, name) for name in self.owners])

    def exact(self, field: str) -> Array:
        """Which freedoms are given exactly; ``field`` is exact_q or exact_u."""
        marks = [getattr(self.values.joints[name], field) for name in self.names]
        return np.concatenate([np.empty(0, dtype=bool), *marks])

    @property
    def bound(self) -> bool:
        """Whether coordinates depend on each other at all."""
        return self.loops is not None or bool(self.followers)

    # -- positions ---------------------------------------------------------------------------------
    def requested(self) -> Array:
        """The position that the initial values ask for; cut joints with their own value."""
        x = np.zeros(self.n_q)
        for name, where in self.q_of.items():
            x[where] = self.values.joints[name].q if name in self.values.joints else 0.0
        return x

    def position_of(self, q: Array) -> Array:
        """The position of coordinates of the state: those of cut joints follow from the poses of their frames."""
        x = np.concatenate([q, *(cut.joint.neutral_q() for cut in self.cuts)])
        out = self.evaluate(x) if self.cuts else np.empty(0)
        for k, cut in enumerate(self.cuts):
            where, form = self.q_of[cut.joint.name], np.asarray(cut.joint.form(self.resolve), dtype=float)
            E = Pose(out[self._plan.rotations[k]].reshape(3, 3), out[self._plan.positions[k]])
            X = cut.joint.transform(x[where], form) @ E
            x[where] = self.unwound(cut.joint.name, np.asarray(cut.joint.solve_coordinates(X, form), dtype=float))
        return x

    def unwound(self, name: str, q: Array) -> Array:
        """The same coordinates with full turns taken off that lead away from the requested ones."""
        full = 2 * np.pi * np.round((q - self.values.joints[name].q) / (2 * np.pi)) if self.joints[name].n_u else q
        return q - full * self.wraps[name] if self.joints[name].quaternion is None else q

    @cached_property
    def wraps(self) -> dict[str, Array]:
        """Which coordinates of each joint come to the same pose after a full turn."""
        return {name: _wraps(self.joints[name], self.resolve) for name in self.u_of}

    def advance(self, x: Array, step: Array) -> Array:
        """The position after a step along the speeds."""
        there = x.copy()
        for name in self.u_of:
            part = step[self.u_of[name]]
            if part.any():
                there[self.q_of[name]] = self.joints[name].advance(x[self.q_of[name]], part)
        return there

    def evaluate(self, x: Array, u: Array | None = None) -> Array:
        """The kernel's result at a position."""
        q, cut_q = x[: self.topology.n_q], x[self.topology.n_q :]
        there = self.point.replaced(q=q) if u is None else self.point.replaced(q=q, u=u)
        self._calls += 1
        if self._calls <= UNCOMPILED_CALLS and not self.kernels.has(POSE_ERRORS):
            return np.concatenate([np.empty(0), *pose_errors(Snapshot(self.topology, there), cut_q)]).astype(float)
        return self.kernels.call(POSE_ERRORS, there, cut_q)

    @cached_property
    def _plan(self) -> _PoseErrorPlan:
        kinematics = Snapshot(self.topology, self.topology.layout.traced_point(Tape())).kinematics
        at, parts = 0, []
        entries: list[tuple[int, int, int]] = []
        for k, cut in enumerate(self.cuts):
            columns = [*loop_columns(kinematics, cut), *range(self.n_u)[self.u_of[cut.joint.name]]]
            parts.append((range(at, at + 9), range(at + 9, at + 12), range(at + 12, at + 18)))
            at += 18
            entries += [(at + 6 * j + i, 6 * k + i, column) for j, column in enumerate(columns) for i in range(6)]
            at += 6 * len(columns)
        sizes = (9, 3, 6)
        placed = [np.array([p[k] for p in parts], dtype=np.int64).reshape(-1, sizes[k]) for k in range(3)]
        taken = np.array(entries, dtype=np.int64).reshape(-1, 3).T
        return _PoseErrorPlan(*placed, *taken, at + np.arange(3 * len(self.followers)).reshape(-1, 3))

    @cached_property
    def groups(self) -> list[RowGroup]:
        """The rows by owner, in their order, with the freedoms that can move them."""
        plan, groups = self._plan, []
        for k, cut in enumerate(self.cuts):
            columns = plan.columns[plan.rows // 6 == k]
            groups.append(RowGroup(cut.joint.name, slice(6 * k, 6 * k + 6), tuple(dict.fromkeys(columns.tolist()))))
        at = 6 * len(self.cuts)
        if self.loops is not None:
            rows, columns = self.loops.pattern
            for k in np.flatnonzero(self._element_rows):
                mine = tuple(dict.fromkeys(columns[rows == k].tolist()))
                groups.append(RowGroup(self.loops.names[k][0], slice(at, at + 1), mine))
                at += 1
        for k in self._given_followers:
            mine = tuple(np.flatnonzero(self._follower_columns[k]).tolist())
            groups.append(RowGroup(self.followers[k], slice(at, at + 1), mine))
            at += 1
        return groups

    @cached_property
    def row_units(self) -> list[tuple[str, ...]]:
        """The units of the rows, length or angle, group by group."""
        units: list[tuple[str, ...]] = [("angle",) * 3 + ("length",) * 3 for _ in self.cuts]
        if self.loops is not None:
            units += [(self.loops.names[k][1],) for k in np.flatnonzero(self._element_rows)]
        return units + [(self.joints[self.followers[k]].coordinates[0][1],) for k in self._given_followers]

    @cached_property
    def _element_rows(self) -> Array:
        """Which rows of the loop equations belong to constraint elements and hold positions."""
        if self.loops is None:
            return np.zeros(0, dtype=bool)
        marks = self.loops.holding.copy()
        marks[: sum(len(cut.units) for cut in self.cuts)] = False
        return marks

    @cached_property
    def _given_followers(self) -> list[int]:
        """Followers whose coordinate is given exactly."""
        return [k for k, name in enumerate(self.followers) if self.values.joints[name].exact_q.all()]

    @cached_property
    def _follower_columns(self) -> Array:
        """Which freedom leads each follower."""
        kinematics = Snapshot(self.topology, self.topology.layout.traced_point(Tape())).kinematics
        marks = np.zeros((len(self.followers), self.n_u))
        for k, name in enumerate(self.followers):
            way = kinematics.state_of(name)
            if way is not None:
                marks[k, way[0]] = 1.0
        return marks

    # -- equations ---------------------------------------------------------------------------------
    def equations(self, x: Array) -> tuple[Array, Array]:
        """What must vanish at a position, and its Jacobian."""
        out = self.evaluate(x) if self.cuts or self.followers else np.empty(0)
        r, A = self._loop_rows(out)
        if self._element_rows.any():
            assert self.loops is not None
            c, G, _ = self.loops.evaluate(self.point.replaced(q=x[: self.topology.n_q]))
            G = np.hstack([G, np.zeros((len(G), self.n_u - self.topology.n_u))])
            r, A = np.concatenate([r, c[self._element_rows]]), np.vstack([A, G[self._element_rows]])
        if self._given_followers:
            d, D = self._follower_offsets(out)
            r, A = np.concatenate([r, d[self._given_followers]]), np.vstack([A, D[self._given_followers]])
        return r, A

    def _loop_rows(self, out: Array) -> tuple[Array, Array]:
        """The pose errors of the cut joints and their Jacobian."""
        n, plan = len(self.cuts), self._plan
        A = np.zeros((6 * n, self.n_u))
        A[plan.rows, plan.columns] = out[plan.entries]
        if not n:
            return np.empty(0), A
        turns = _rotation_vectors(out[plan.rotations].reshape(-1, 3, 3))
        r = np.hstack([turns, out[plan.positions] / self.length])
        blocks = A.reshape(n, 6, self.n_u)
        blocks[:, :3] = _inverse_right_jacobians(turns) @ blocks[:, :3]
        blocks[:, 3:] /= self.length
        return r.ravel(), A

    def _follower_offsets(self, out: Array) -> tuple[Array, Array]:
        """How far followers are from their requested coordinate, and how speeds change that."""
        values = out[self._plan.followers]
        asked = np.array([self.values.joints[name].q[0] for name in self.followers])
        units = self.units[len(self.units) - len(self.followers) :]
        return (values[:, 0] - asked) / units, self._follower_columns * (values[:, 2] / units)[:, None]

    def offsets(self, x: Array) -> tuple[Array, Array]:
        """How far all joints are from their requested coordinates, and how speeds change that."""
        d, D = np.zeros(self.n_u), np.zeros((self.n_u, self.n_u))
        for name, where in self.u_of.items():
            if name in self.values.joints:
                d[where], D[where, where] = depart(self.joints[name], x[self.q_of[name]], self.values.joints[name].q)
        n = self.n_u
        d, D = d / self.units[:n], D / self.units[:n, None]
        if not self.followers:
            return d, D
        behind, along = self._follower_offsets(self.evaluate(x))
        return np.concatenate([d, behind]), np.vstack([D, along])

    # -- speeds ------------------------------------------------------------------------------------
    def speed_equations(self, x: Array) -> tuple[Array, Array]:
        """A and b with A u = b for the speeds of all unknowns in a closed position: loops, and constraint elements."""
        u = np.zeros(self.topology.n_u)
        out = self.evaluate(x, u) if self.cuts else np.empty(0)
        A, b = self._loop_rows(out)[1], -out[self._plan.moving].ravel() if self.cuts else np.empty(0)
        b.reshape(-1, 6)[:, 3:] /= self.length
        if self.loops is not None:
            _, G, drift = self.loops.evaluate(self.point.replaced(q=x[: self.topology.n_q]))
            mine = np.ones(len(G), dtype=bool)
            mine[: sum(len(cut.units) for cut in self.cuts)] = False
            G = np.hstack([G, np.zeros((len(G), self.n_u - self.topology.n_u))])
            A, b = np.vstack([A, G[mine]]), np.concatenate([b, -drift[mine]])
        return A, b

    def speed_owners(self) -> list[str]:
        """The owner of each row of ``speed_equations``."""
        owners = [cut.joint.name for cut in self.cuts for _ in range(6)]
        if self.loops is not None:
            owners += [name for name, _ in self.loops.names[sum(len(cut.units) for cut in self.cuts) :]]
        return owners

    def all_speeds(self, x: Array) -> tuple[Array, Array]:
        """H and h: the speeds of all joints, followers too, are H u + h."""
        H, h = np.eye(self.n_u), np.zeros(self.n_u)
        if not self.followers:
            return H, h
        values = self.evaluate(x)[self._plan.followers]
        return np.vstack([H, self._follower_columns * values[:, 2:]]), np.concatenate([h, values[:, 1]])

    def coordinates(self, x: Array) -> dict[str, Array]:
        """The coordinates of all joints that can move, by name."""
        values = {name: x[self.q_of[name]] for name in self.u_of}
        if self.followers:
            out = self.evaluate(x)[self._plan.followers]
            values |= {name: out[k, :1] for k, name in enumerate(self.followers)}
        return values

    def columns_of(self, names: Iterable[str]) -> Array:
        """Marks the freedoms of some joints among the unknowns."""
        marks = np.zeros(self.n_u, dtype=bool)
        for name in names:
            if name in self.u_of:
                marks[self.u_of[name]] = True
        return marks


def _rotation_vectors(R: Array) -> Array:
    """Axis times angle of rotation matrices, angles up to half a turn."""
    s = 0.5 * np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
    sine, cosine = np.linalg.norm(s, axis=1), 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0)
    angle = np.arctan2(sine, cosine)
    stretch = np.divide(angle, sine, out=np.ones_like(angle), where=sine > 1e-300)
    turns: Array = s * stretch[:, None]
    for k in np.flatnonzero(angle > np.pi - NEAR_HALF_TURN):
        w, *v = np.asarray(quaternion_from_rotation(R[k]), dtype=float)
        size = float(np.linalg.norm(v))
        turns[k] = np.array(v) * (2.0 * np.arctan2(size, abs(w)) / size * (1.0 if w >= 0 else -1.0))
    return turns


def _inverse_right_jacobians(turns: Array) -> Array:
    """Change of rotation vectors for unit angular velocities in the axes of the turned frames."""
    angle = np.linalg.norm(turns, axis=1)
    K = np.zeros((len(turns), 3, 3))
    x, y, z = turns.T
    K[:, 0, 1], K[:, 0, 2], K[:, 1, 0], K[:, 1, 2], K[:, 2, 0], K[:, 2, 1] = -z, y, z, -x, -y, x
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    factor = np.where(small, 1.0 / 12.0, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    J: Array = np.eye(3) + 0.5 * K + factor[:, None, None] * (K @ K)
    return J


def _wraps(joint: Joint, resolve: Resolve) -> Array:
    """Which coordinates come to the same pose after a full turn."""
    if joint.quaternion is not None:
        return np.zeros(joint.n_u, dtype=bool)
    form = np.asarray(joint.form(resolve), dtype=float)
    zero = joint.transform(np.zeros(joint.n_q), form)
    marks = []
    for k, (_, kind) in enumerate(joint.coordinates):
        there = joint.transform(2 * np.pi * np.eye(joint.n_q)[k], form)
        apart = np.concatenate([(there.R - zero.R).ravel(), there.p - zero.p]).astype(float)
        marks.append(kind == "angle" and bool(abs(apart).max() < 1e-9))
    return np.array(marks, dtype=bool)
