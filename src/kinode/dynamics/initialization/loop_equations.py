"""The constraint rows of a system, compiled: residuals, Jacobian and rates; loop closure and rank by them."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.initialization.loop_poses import LoopPoses, PoseLayout
from kinode.errors import AssemblyError
from kinode.jit import code_cache
from kinode.jit.machine_code import keep
from kinode.kernels.compiled_kernels import Kernels
from kinode.kernels.kernel_options import Kernel
from kinode.model.constraints.constraint import POSITIONS
from kinode.multibody.snapshot import Snapshot
from kinode.structure.evaluation_point import EvaluationPoint
from kinode.structure.loop_closure import CLOSED_ENOUGH, Closure, characteristic_length, close, find_closure, find_rank

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
