"""Closing loops: consistent positions and speeds, and which constraint rows are independent.

Rank and rows (NUMERICS of the project, section 2): lengths are scaled by a characteristic length, never
rows by their norm; the rank is the largest found at positions reached by walking along the freedoms, so
that a start in a singular position is recognized; independent rows come from QR with column pivoting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.trace import Tape
from kinode.errors import AssemblyError
from kinode.kernels.kernel_programs import Kernel
from kinode.model.constraints.constraint import POSITIONS
from kinode.model.system import joint_frame
from kinode.multibody.snapshot import Snapshot

if TYPE_CHECKING:
    from kinode.dynamics.compile import Dynamics
    from kinode.kernels.state import State

CLOSED = 1e-13  # of the characteristic length: a loop counts as closed
CLOSED_ENOUGH = 1e-11  # and so does one that rounding keeps from coming nearer
RANK = 1e-8  # singular values below this share of the largest are none
CLEAR = 1e-5  # a position whose least singular value is no larger than this share does not tell its rank
WALKS, WALK, ONWARD = 8, 0.1, 3.0
CLOSURE = Kernel("closure")
FEW = 12  # rows among which more choices are looked at


@dataclass(frozen=True)
class ClosureRank:
    """What is known of a system's constraints at its start."""

    rows: tuple[int, ...]  # an independent set
    total: int  # of all rows
    freedoms: int
    singular: bool  # the start has more freedoms than positions near it
    length: float


class LoopCloser:
    """Compiled residuals and Jacobian of all constraint rows of a system, and what is done with them."""

    def __init__(self, dynamics: Dynamics) -> None:
        self.dynamics = dynamics
        self.topology = dynamics.topology
        self.names = self.topology.row_units
        self.length = self._characteristic_length()
        self.scale = np.array([self.length if unit in ("length", "velocity") else 1.0 for _, unit in self.names])
        self.holding = np.array([unit in POSITIONS for _, unit in self.names], dtype=bool)  # the rest are slips

    def _characteristic_length(self) -> float:
        """The largest distance between frames on one body, or length that a constraint has."""
        system = self.dynamics.system
        largest = max((size for c in self.topology.constraints for size in c.lengths(system)), default=0.0)
        for joint in system.joints.values():
            for frame in (joint_frame(joint, side) for side in ("parent", "child")):
                p = np.asarray(frame.pose(system.nominal).p, dtype=float)
                largest = max(largest, float(np.linalg.norm(p)))
        return largest or 1.0

    def evaluate(self, t: Any, q: Array, u: Array, z: Any, p: Any, inputs: Any) -> tuple[Array, Array, Array]:
        """Residuals, Jacobian and rates of all rows, lengths divided by the characteristic length; batches too."""
        out = self.dynamics._call(CLOSURE, t, q, u, z, p, inputs)
        m, (rows, columns) = len(self.names), self._pattern
        G = np.zeros((*out.shape[:-1], m, self.topology.n_u))
        G[..., rows, columns] = out[..., 2 * m :]
        return out[..., :m] / self.scale, G / self.scale[:, None], out[..., m : 2 * m] / self.scale

    def gaps(self, t: float, q: Array, u: Array, z: Any, p: Any, inputs: Any) -> Array:
        """Residuals of the rows that hold positions, by size, in one state; zero for slips."""
        out = self.dynamics._call(CLOSURE, t, q, u, z, p, inputs)
        found: Array = abs(out[: len(self.names)]) / self.scale * self.holding
        return found

    @cached_property
    def _pattern(self) -> tuple[Array, Array]:
        """Row and column of each entry of the Jacobian that the kernel gives."""
        traced = Snapshot(self.topology, self.topology.layout.traced_point(Tape()))
        pattern = traced.constraints.pattern
        rows, columns = np.array(pattern, dtype=np.int64).reshape(-1, 2).T
        return rows, columns

    def assemble(self, t: float, q: Array, held: Array, z: Any, p: Any, inputs: Any) -> Array:
        """Coordinates near q that close the loops; ``held`` marks the speeds whose coordinates stay."""
        still = np.zeros(self.topology.n_u)

        def rows(q: Array) -> tuple[Array, Array]:
            c, G, _ = self.evaluate(t, q, still, z, p, inputs)
            return c[self.holding], G[self.holding]

        found, gap = close(rows, self.dynamics.topology.advance_q, q, ~held)
        if gap > CLOSED_ENOUGH:
            raise AssemblyError(f"the loops stay open by {gap:.1e} of the mechanism's size")
        return found

    def assemble_speeds(self, t: float, q: Array, u: Array, held: Array, z: Any, p: Any, inputs: Any) -> Array:
        """Speeds nearest to u that keep the loops closed; those marked stay."""
        _, G, drift = self.evaluate(t, q, u, z, p, inputs)
        free = ~held
        found = u.copy()
        found[free] += np.linalg.lstsq(G[:, free], -drift, rcond=1e-10)[0]
        _, _, drift = self.evaluate(t, q, found, z, p, inputs)
        if len(drift) and abs(drift).max() > 1e-9 * max(1.0, float(abs(found).max(initial=0.0))):
            worst = self.names[int(np.argmax(abs(drift)))][0]
            raise AssemblyError(f"the speeds that are given tear {worst} apart: leave some of the u= out", {})
        return found

    def judge(self, state: Any, p: Any, inputs: Any, closing: ClosureRank) -> tuple[float, int]:
        """How far a state is from closing, and how many freedoms it has too many."""
        c, G, _ = self.evaluate(state.t, state.q, state.u, state.z, p, inputs)
        return float(abs(c).max(initial=0.0)), len(closing.rows) - _rank(G[list(closing.rows)])

    def stresses(self, state: State, p: Any, inputs: Any) -> Array:
        """Multipliers of all rows, one set in each column, that hold each other in balance."""
        _, G, _ = self.evaluate(state.t, state.q, np.zeros(self.topology.n_u), state.z, p, inputs)
        U, _, _ = np.linalg.svd(G)
        found: Array = U[:, _rank(G) :] / self.scale[:, None]
        return found

    def _swaps(self, rows: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Sets of rows that differ in one row of the same sort."""
        others = [k for k in range(len(self.names)) if k not in rows]
        same = [(i, k) for i in rows for k in others if self.holding[i] == self.holding[k]]
        return [tuple(sorted({*rows, k} - {i})) for i, k in same]

    def find(self, t: float, q: Array, z: Any, p: Any, inputs: Any) -> ClosureRank:
        """Rank, independent rows and freedoms, from positions around a closed one.

        Rows are to stay independent as the mechanism moves.
        """
        still = np.zeros(self.topology.n_u)
        rng = np.random.default_rng(0)
        jacobian: Callable[[Array], Array] = lambda at: self.evaluate(t, at, still, z, p, inputs)[1]  # noqa: E731
        start = jacobian(q)
        here = _rank(start)
        samples = [(here, start)]
        none = np.zeros(self.topology.n_u, dtype=bool)
        at, G, way = q, start, still
        for k in range(WALKS):
            _, sizes, V = np.linalg.svd(G)
            null = V[int((sizes > RANK * sizes[0]).sum()) if len(sizes) else 0 :]
            if not len(null):
                break
            # onwards rather than to and fro, which would stay near the start
            direction = null.T @ (rng.normal(size=len(null)) + ONWARD * null @ way)
            way = direction / np.linalg.norm(direction)
            there = self.dynamics.topology.advance_q(at, WALK * (1 + k / WALKS) * way)
            try:
                at = self.assemble(t, there, none, z, p, inputs)
            except AssemblyError:
                at, G, way = q, start, still
                continue
            G = jacobian(at)
            if _clarity(G) > CLEAR:
                samples.append((_rank(G), G))
            else:  # too near to losing its rank to tell: try another way from the start
                at, G, way = q, start, still
        rank = max(found for found, _ in samples)
        rows = self.choose([G for found, G in samples if found == rank])
        return ClosureRank(rows, len(self.names), self.topology.n_u - rank, here < rank, self.length)

    def choose(self, clear: Sequence[Array]) -> tuple[int, ...]:
        """Of the rows that are the most independent in some position, those whose worst position is the best."""
        choices = dict.fromkeys(tuple(sorted(_independent(G, self.holding))) for G in clear)
        if len(self.names) <= FEW:  # any one row for another, too
            choices |= dict.fromkeys(swap for rows in list(choices) for swap in self._swaps(rows))
        return max(choices, key=lambda rows: min(_least(G[list(rows)]) for G in clear))


def _least(G: Array) -> float:
    """The least singular value of rows as a share of the largest; 0 where there are more rows than columns."""
    sizes = np.linalg.svd(G, compute_uv=False)
    return float(sizes[-1] / sizes[0]) if len(sizes) == len(G) > 0 and sizes[0] > 0 else 0.0


RowFunction = Callable[[Array], tuple[Array, Array]]  # of q: residuals, lengths scaled, and their Jacobian


def close(rows: RowFunction, advance: Callable[[Array, Array], Array], q: Array, free: Array) -> tuple[Array, float]:
    """Coordinates near q where all residuals vanish, and the largest that is left; ``free`` marks what may move.

    Gauss-Newton, damped as Levenberg and Marquardt do where a step does not lessen the residuals: where they cannot all
    vanish, it ends where the sum of their squares is least.
    """
    r, A = rows(q)
    damping = 0.0
    for _ in range(100):
        gap = float(abs(r).max(initial=0.0))
        if gap <= CLOSED or not np.isfinite(gap):
            break
        step, top = _damped(A[:, free], r)
        while True:
            move = np.zeros(len(free))
            move[free] = step(damping)
            there = advance(q, move)
            r_there, A_there = rows(there)
            gain = 1.0 - float(r_there @ r_there) / float(r @ r)
            if gain > 0.0 or damping >= 1e6 * top or gap <= CLOSED_ENOUGH:
                break
            damping = max(10.0 * damping, 1e-3 * top)
        if not gain > (0.5 if gap <= CLOSED_ENOUGH else 1e-9):
            break
        q, r, A, damping = there, r_there, A_there, 0.0 if damping < 1e-2 * top else 0.1 * damping
    return q, float(abs(r).max(initial=0.0))


def _damped(A: Array, r: Array) -> tuple[Callable[[float], Array], float]:
    """The step that lessens r + A s, for any damping, no entry longer than 0.5; and the largest singular value."""
    U, sizes, V = np.linalg.svd(A, full_matrices=False)
    top = float(sizes.max(initial=0.0))
    right, counts = U.T @ r, sizes > 1e-10 * top

    def step(damping: float) -> Array:
        found: Array = -V[counts].T @ ((right * sizes)[counts] / (sizes[counts] ** 2 + damping**2))
        longest = float(abs(found).max(initial=0.0))
        return found * (0.5 / longest) if longest > 0.5 else found

    return step, top


def _independent(G: Array, first: Array) -> list[int]:
    """An independent set of rows: again and again the one of which most is left; those marked have precedence.

    Rows that hold positions come before slips, since without them positions would drift. This is QR with column
    pivoting of the transpose; SciPy has it, but a third of a second of a cold start would go into importing it.
    """
    found: list[int] = []
    left = G.copy()
    for part in (np.flatnonzero(first), np.flatnonzero(~first)):
        for _ in range(_rank(G[[*found, *part]]) - len(found)):
            sizes = np.linalg.norm(left[part], axis=1)
            row = int(part[np.argmax(sizes)])
            direction = left[row] / sizes.max()
            left -= np.outer(left @ direction, direction)
            left[row] = 0.0
            found.append(row)
    return found


def _clarity(G: Array) -> float:
    """The least of the singular values that count, as a share of the largest."""
    sizes = np.linalg.svd(G, compute_uv=False) if G.size else np.zeros(0)
    kept = sizes[sizes > RANK * sizes.max(initial=0.0)]
    return float(kept[-1] / kept[0]) if len(kept) else 1.0


def _rank(G: Array) -> int:
    if not G.size:
        return 0
    sizes = np.linalg.svd(G, compute_uv=False)
    return int((sizes > RANK * sizes[0]).sum()) if sizes[0] > 0 else 0
