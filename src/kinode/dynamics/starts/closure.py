"""Loop closure, compiled: the constraint rows of a system with their rank, and the poses of its cut joints.

Rows have residuals, a Jacobian and rates.  They are fewer than the equations of poses and smooth, and vanish also half
a turn away from some closed positions; a continuous map from rotations to three numbers cannot do otherwise.

For poses the coordinates of cut joints are unknowns beside those of the state.  Each cut joint has six equations
(T-4.11): the difference between the pose of its frames and the pose of its coordinates, as a rotation vector and a
position.  That difference is zero in closed positions alone.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from kinode.algebra.rotations import inverse_right_jacobians, rotation_vectors
from kinode.algebra.scalars import Array, rate
from kinode.algebra.spatial import Pose
from kinode.algebra.trace import Tape
from kinode.errors import AssemblyError
from kinode.jit import code_cache
from kinode.jit.machine_code import keep
from kinode.kernels.compiled_kernels import Kernels
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_outputs import closure
from kinode.kernels.tree_size import is_large
from kinode.model.base.frames import Resolve
from kinode.model.constraints.constraint import POSITIONS
from kinode.model.joints.joint import Joint
from kinode.multibody.dependent_joints import followers, loop_columns, pose_errors
from kinode.multibody.kinematics import Kinematics
from kinode.multibody.snapshot import Snapshot
from kinode.structure.loop_closure import CLOSED_ENOUGH, Closure, characteristic_length, close, find_closure, find_rank
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology

POSE_ERRORS = Kernel("pose_errors")
LOOP_KERNELS = (POSE_ERRORS, Kernel("closure"))  # loops are closed by the first, and judged by the second
UNCOMPILED_CALLS = {True: 1, False: 8}  # in plain numbers; to make a straight-line kernel takes as long as some
MANY_CUTS = 4  # from here on what is not closed by the first calls needs many more


class _Plan(NamedTuple):
    """Where in the kernel's result the numbers of each cut joint stand."""

    rotations: Array  # n_cuts x 9
    positions: Array  # n_cuts x 3
    moving: Array  # n_cuts x 6
    entries: Array  # of the Jacobian
    rows: Array
    columns: Array
    followers: Array  # n_followers x 3


class PoseLayout:
    """The unknowns of a topology's loops, and where the kernel's result has what belongs to them.

    A position ``x`` has the coordinates of the state, then those of the cut joints.  Steps and columns of Jacobians go
    along the speeds, in the same order.
    """

    def __init__(self, topology: Topology) -> None:
        self.topology, self.cuts, self.followers = topology, topology.cuts, followers(topology)
        self.q_of, self.u_of = dict(topology.q_of), dict(topology.u_of)
        n_q, n_u = topology.n_q, topology.n_u
        for cut in self.cuts:
            self.q_of[cut.joint.name] = slice(n_q, n_q + cut.joint.n_q)
            self.u_of[cut.joint.name] = slice(n_u, n_u + cut.joint.n_u)
            n_q, n_u = n_q + cut.joint.n_q, n_u + cut.joint.n_u
        self.n_q, self.n_u = n_q, n_u
        self._wraps: dict[tuple[str, bytes], Array] = {}
        self.calls = 0  # of the kernel; the first are made in plain numbers
        self.uncompiled_calls = 0 if is_large(topology) else UNCOMPILED_CALLS[len(self.cuts) >= MANY_CUTS]

    @cached_property
    def _kinematics(self) -> Kinematics:
        return Snapshot(self.topology, self.topology.layout.traced_point(Tape())).kinematics

    @cached_property
    def plan(self) -> _Plan:
        """Where numbers stand in the kernel's result."""
        at, parts = 0, []
        entries: list[tuple[int, int, int]] = []
        for k, cut in enumerate(self.cuts):
            columns = [*loop_columns(self._kinematics, cut), *range(self.n_u)[self.u_of[cut.joint.name]]]
            parts.append((range(at, at + 9), range(at + 9, at + 12), range(at + 12, at + 18)))
            at += 18
            entries += [(at + 6 * j + i, 6 * k + i, column) for j, column in enumerate(columns) for i in range(6)]
            at += 6 * len(columns)
        R, p, moving = (np.array([part[k] for part in parts], dtype=np.int64) for k in range(3))
        index, row, column = np.array(entries, dtype=np.int64).reshape(-1, 3).T
        behind = at + np.arange(3 * len(self.followers)).reshape(-1, 3)
        return _Plan(R.reshape(-1, 9), p.reshape(-1, 3), moving.reshape(-1, 6), index, row, column, behind)

    @cached_property
    def leading(self) -> Array:
        """Which freedom leads each follower: 1 where it does."""
        marks = np.zeros((len(self.followers), self.n_u))
        for k, name in enumerate(self.followers):
            way = self._kinematics.state_of(name)
            if way is not None:
                marks[k, way[0]] = 1.0
        return marks

    def spans(self, length: float) -> Array:
        """What a difference of each coordinate of 1 rad or one characteristic length comes to."""
        sizes: Array = np.where(self._lengths, length, self._angles)
        return sizes

    @cached_property
    def _units(self) -> list[str]:
        joints = self.topology.system.joints
        return [unit for name in self.q_of for _, unit in joints[name].coordinate_names]

    @cached_property
    def _lengths(self) -> Array:
        return np.array([unit == "length" for unit in self._units], dtype=bool)

    @cached_property
    def _angles(self) -> Array:
        return np.array([0.5 if unit == "dimensionless" else 1.0 for unit in self._units])  # quaternions by half angles

    @cached_property
    def _plain(self) -> tuple[Array, Array]:
        """Where coordinates stand whose rates are speeds, and where these speeds do."""
        names = [name for name in self.q_of if name not in self._others]
        q, u = ([k for name in names for k in range(at[name].start, at[name].stop)] for at in (self.q_of, self.u_of))
        return np.array(q, dtype=np.int64), np.array(u, dtype=np.int64)

    @cached_property
    def _others(self) -> list[str]:
        """Joints whose rates of coordinates are not their speeds."""
        joints = self.topology.system.joints
        return [name for name in self.q_of if type(joints[name]).rate_map is not Joint.rate_map]

    def advance(self, x: Array, step: Array) -> Array:
        """The position after a step along the speeds."""
        there, (q, u) = x.copy(), self._plain
        there[q] += step[u]
        for name in self._others:
            part, where = step[self.u_of[name]], self.q_of[name]
            if part.any():
                there[where] = self.topology.system.joints[name].advance(x[where], part)
        return there

    def rates(self, x: Array, step: Array) -> Array:
        """The rates of all coordinates while the speeds are those of a step."""
        rates, (q, u) = np.zeros(self.n_q), self._plain
        rates[q] = step[u]
        for name in self._others:
            where, joint = self.q_of[name], self.topology.system.joints[name]
            rates[where] = np.asarray(joint.rate_map(x[where], step[self.u_of[name]]), dtype=float)
        return rates

    def wraps(self, name: str, resolve: Resolve) -> Array:
        """Which coordinates of a joint come to the same pose after a full turn."""
        joint = self.topology.system.joints[name]
        form = np.asarray(joint.form(resolve), dtype=float)
        key = name, form.tobytes()
        if key not in self._wraps:
            self._wraps[key] = _find_wraps(joint, form)
        return self._wraps[key]

    def columns(self, k: int) -> tuple[int, ...]:
        """The freedoms that move the rows of the k-th cut joint."""
        return self._columns[k]

    @cached_property
    def _columns(self) -> list[tuple[int, ...]]:
        found: list[dict[int, None]] = [{} for _ in self.cuts]
        for row, column in zip((self.plan.rows // 6).tolist(), self.plan.columns.tolist(), strict=True):
            found[row][column] = None
        return [tuple(columns) for columns in found]


class LoopPoses:
    """The cut joints and the followers of a system, at one time and for one set of parameters.

    Parameters
    ----------
    layout : PoseLayout
        The unknowns; those of the kernels' topology.
    kernels : Kernels
    point : EvaluationPoint
        Time, other states, parameters and inputs; its q and u do not count.
    resolve : callable
        Gives the numbers of the model at these parameters.
    length : float
        The characteristic length by which lengths are divided, m.
    """

    def __init__(
        self, layout: PoseLayout, kernels: Kernels, point: EvaluationPoint, resolve: Resolve, length: float
    ) -> None:
        self.layout, self.kernels, self.resolve, self.length = layout, kernels, resolve, length
        self.topology, self.joints = layout.topology, layout.topology.system.joints
        self.point = point.replaced(u=np.zeros(self.topology.n_u))
        self.cuts, self.followers = layout.cuts, layout.followers
        self.q_of, self.u_of, self.n_q, self.n_u = layout.q_of, layout.u_of, layout.n_q, layout.n_u
        self.plan, self.leading, self.advance = layout.plan, layout.leading, layout.advance
        self._last: tuple[bytes | None, Array] = None, np.empty(0)  # where the kernel was evaluated, and its result
        self._errors: tuple[Array | None, Array] = None, np.empty(0)  # of which result, and the pose errors

    def position_of(self, q: Array) -> Array:
        """The position of coordinates of the state: those of cut joints follow from the poses of their frames."""
        x = np.concatenate([q, *(cut.joint.neutral_q() for cut in self.cuts)])
        out = self.evaluate(x) if self.cuts else np.empty(0)
        for k, cut in enumerate(self.cuts):
            where, form = self.q_of[cut.joint.name], np.asarray(cut.joint.form(self.resolve), dtype=float)
            E = Pose(out[self.plan.rotations[k]].reshape(3, 3), out[self.plan.positions[k]])
            X = cut.joint.transform(x[where], form) @ E
            x[where] = np.asarray(cut.joint.solve_coordinates(X, form), dtype=float)
        return x

    def evaluate(self, x: Array, u: Array | None = None) -> Array:
        """The kernel's result at a position; not to be changed, since the next call at the same one gives it again."""
        key = x.tobytes() if u is None else x.tobytes() + u.tobytes()
        if self._last[0] != key:
            self._last = key, self._evaluate(x, u)
        return self._last[1]

    def _evaluate(self, x: Array, u: Array | None) -> Array:
        q, cut_q = x[: self.topology.n_q], x[self.topology.n_q :]
        there = self.point.replaced(q=q) if u is None else self.point.replaced(q=q, u=u)
        self.layout.calls += 1
        if self.layout.calls <= self.layout.uncompiled_calls and not self.kernels.has(POSE_ERRORS):
            return pose_errors(Snapshot(self.topology, there), cut_q).astype(float)
        if self.topology.constrained:
            self.kernels.prepare(LOOP_KERNELS)
        return self.kernels.call(POSE_ERRORS, there, cut_q)

    def rates_along(self, x: Array, rates: Array, with_closure: bool) -> Array:
        """The rates of the kernel's result, and of that of the closure behind it, along rates of all coordinates.

        Those of large systems are computed with dual numbers, since their derivatives have no loop code.
        """
        n = self.topology.n_q

        def values(x: Array) -> Array:
            there = Snapshot(self.topology, self.point.replaced(q=x[:n]))
            rows = closure(there) if with_closure else ()
            return np.concatenate([pose_errors(there, x[n:]), np.array([*rows], dtype=object)])

        if is_large(self.topology):
            return rate(values, x, rates)
        kernel = Kernel("loop_rates", ("closure",) if with_closure else ())
        return self.kernels.call(kernel, self.point.replaced(q=x[:n]), np.concatenate([x[n:], rates]))

    def compile(self) -> None:
        """Compile the kernel now; without, the first calls are made in plain numbers."""
        if self.cuts or self.layout.followers:
            self.kernels.machine(POSE_ERRORS)

    def errors(self, out: Array) -> tuple[Array, Array]:
        """The pose errors of the cut joints, six each, and their Jacobian, from the kernel's result."""
        n, plan = len(self.cuts), self.plan
        A = np.zeros((6 * n, self.n_u))
        A[plan.rows, plan.columns] = out[plan.entries]
        if not n:
            return np.empty(0), A
        r = self.residuals(out)
        turns = r.reshape(-1, 6)[:, :3]
        blocks = A.reshape(n, 6, self.n_u)
        blocks[:, :3] = inverse_right_jacobians(turns) @ blocks[:, :3]
        blocks[:, 3:] /= self.length
        return r, A

    def residuals(self, out: Array) -> Array:
        """The pose errors of the cut joints, six each, from the kernel's result; of the last result they are kept."""
        if self._errors[0] is not out:
            turns = rotation_vectors(out[self.plan.rotations].reshape(-1, 3, 3))
            self._errors = out, np.hstack([turns, out[self.plan.positions] / self.length]).ravel()
        return self._errors[1]

    def is_closed(self, q: Array, within: float) -> bool:
        """Whether each cut joint stands in a pose of its own, for coordinates of the state."""
        if not self.cuts:
            return True
        return bool(abs(self.errors(self.evaluate(self.position_of(q)))[0]).max() <= within)


def _find_wraps(joint: Joint, form: Array) -> Array:
    """Which coordinates come to the same pose after a full turn."""
    if joint.quaternion is not None:
        return np.zeros(joint.n_u, dtype=bool)
    zero = joint.transform(np.zeros(joint.n_q), form)
    marks = []
    for k, (_, kind) in enumerate(joint.coordinates):
        there = joint.transform(2 * np.pi * np.eye(joint.n_q)[k], form)
        apart = np.concatenate([(there.R - zero.R).ravel(), there.p - zero.p]).astype(float)
        marks.append(kind == "angle" and bool(abs(apart).max() < 1e-9))
    return np.array(marks, dtype=bool)


CLOSURE = Kernel("closure")
FAR_STEP = 0.25  # rad or m: nearer than that no position is half a turn off
SPEEDS_FIT = 1e-9  # relative to the largest speed: rates of the rows below count as zero


class LoopEquations:
    """All constraint rows of a topology, lengths divided by its characteristic length."""

    def __init__(self, kernels: Kernels) -> None:
        self.kernels, self.topology = kernels, kernels.topology
        self.names = self.topology.row_units
        self.length = characteristic_length(self.topology)
        self.scale = np.array([self.length if unit in ("length", "velocity") else 1.0 for _, unit in self.names])
        # Mask of the rows that constrain positions; the others constrain speeds alone.
        self.position_rows = np.array([unit in POSITIONS for _, unit in self.names], dtype=bool)

    def evaluate(self, point: EvaluationPoint) -> tuple[Array, Array, Array]:
        """Residuals, Jacobian and rates of all rows, at a point or a batch of points."""
        out = self.kernels.call(CLOSURE, point)
        m, (rows, columns) = len(self.names), self.pattern
        G = np.zeros((*out.shape[:-1], m, self.topology.n_u))
        G[..., rows, columns] = out[..., 2 * m :] / self.scale[rows]
        return out[..., :m] / self.scale, G, out[..., m : 2 * m] / self.scale

    def closure_errors(self, point: EvaluationPoint) -> Array:
        """Absolute residuals of the rows that constrain positions, at one point; zero for the others."""
        out = self.kernels.call(CLOSURE, point)
        errors: Array = abs(out[: len(self.names)]) * self._weights
        return errors

    @cached_property
    def _weights(self) -> Array:
        """What residuals of positions are multiplied by; zero for the other rows."""
        weights: Array = self.position_rows / self.scale
        return weights

    @cached_property
    def pattern(self) -> tuple[Array, Array]:
        """Row and column of each entry of the Jacobian that the kernel gives."""

        def make() -> bytes:
            with self.kernels.tracing() as find_traced:
                return np.array(find_traced().snapshot.constraints.pattern, dtype=np.int64).tobytes()

        key = f"pattern of closure\n{self.kernels.fingerprint}" if code_cache.directory() is not None else None
        rows, columns = np.frombuffer(keep(key, make), dtype=np.int64).reshape(-1, 2).T
        return rows, columns

    def _at_rest(self, point: EvaluationPoint) -> EvaluationPoint:
        return point.replaced(u=np.zeros(self.topology.n_u))

    def close(self, point: EvaluationPoint, fixed: Array) -> Array:
        """Coordinates near those of a point that close the loops; ``fixed`` marks the freedoms that do not move."""
        there = self._at_rest(point)

        def rows(q: Array) -> tuple[Array, Array]:
            c, G, _ = self.evaluate(there.replaced(q=q))
            return c[self.position_rows], G[self.position_rows]

        q, error = close(rows, self.topology.advance_q, point.q, ~fixed)
        if error > CLOSED_ENOUGH:
            raise AssemblyError(f"the loops stay open by {error:.1e} of the mechanism's size")
        if abs(q - point.q).max(initial=0.0) > FAR_STEP:  # the rows vanish half a turn off, too
            resolve = Snapshot(self.topology, there).resolve
            poses = LoopPoses(PoseLayout(self.topology), self.kernels, there, resolve, self.length)
            if not poses.is_closed(q, CLOSED_ENOUGH):
                raise AssemblyError("the loops close half a turn off only")
        return q

    def close_speeds(self, point: EvaluationPoint, fixed: Array) -> Array:
        """Speeds nearest to those of a point that keep the loops closed; ``fixed`` marks those that do not change."""
        _, G, drift = self.evaluate(point)
        free = ~fixed
        u = point.u.copy()
        u[free] += np.linalg.lstsq(G[:, free], -drift, rcond=1e-10)[0]
        _, _, drift = self.evaluate(point.replaced(u=u))
        if len(drift) and abs(drift).max() > SPEEDS_FIT * max(1.0, float(abs(u).max(initial=0.0))):
            worst = self.names[int(np.argmax(abs(drift)))][0]
            raise AssemblyError(f"the speeds that are given tear {worst} apart: leave some of the u= out", {})
        return u

    def judge(self, point: EvaluationPoint, closure: Closure) -> tuple[float, int]:
        """The largest closure error of a point, and the number of its freedoms beyond those of the closure."""
        c, G, _ = self.evaluate(point)
        return float(abs(c).max(initial=0.0)), max(0, len(closure.rows) - find_rank(G[closure.used]))

    def self_stresses(self, point: EvaluationPoint) -> Array:
        """Basis of the self-stress states, one in each column: multipliers of all rows that balance each other."""
        _, G, _ = self.evaluate(self._at_rest(point))
        U, _, _ = np.linalg.svd(G)
        stresses: Array = U[:, find_rank(G) :] / self.scale[:, None]
        return stresses

    def find_closure(self, point: EvaluationPoint) -> Closure:
        """Rank, independent rows and freedoms, from a closed position."""
        there = self._at_rest(point)

        def rows(q: Array) -> tuple[Array, Array]:
            c, G, _ = self.evaluate(there.replaced(q=q))
            return c, G

        driven = any(joint.driven for joint in self.topology.system.joints.values())
        return find_closure(rows, self.topology.advance_q, point.q, self.position_rows, self.length, driven)
