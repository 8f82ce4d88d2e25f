"""Loop closure: consistent coordinates, and which constraint rows are independent.

The functions here know a mechanism by the residuals and the Jacobian of its constraint rows alone (T-4.5).  Lengths are
scaled by a characteristic length, never rows by their norm, which would turn rows of rounding into constraints.  The
rank is the largest one at positions reached by walking along the freedoms, so that a start in a singular position is
recognized.  Independent rows come from QR with column pivoting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kinode.algebra.scalars import Array
from kinode.model.system import joint_frame
from kinode.structure.topology import Topology

CLOSED = 1e-13  # of the characteristic length: a loop counts as closed
CLOSED_ENOUGH = 1e-11  # and so does one that rounding keeps from coming nearer
RANK = 1e-8  # singular values below this share of the largest are zero
CLEAR_RANK = 1e-5  # a position whose least singular value is below this share of the largest does not show its rank
WALKS, WALK, ONWARD = 8, 0.1, 3.0
FEW_ROWS = 12  # up to so many rows more choices of independent ones are compared

RowFunction = Callable[[Array], tuple[Array, Array]]  # of q: residuals, lengths scaled, and their Jacobian
Advance = Callable[[Array, Array], Array]  # coordinates after a step along the speeds


@dataclass(frozen=True)
class Closure:
    """What is known of the constraints of a system, from a closed position and its neighbors."""

    rows: tuple[int, ...]  # an independent set
    total: int  # number of all rows
    freedoms: int
    singular: bool  # the position has more freedoms than its neighbors
    length: float  # the characteristic length


def characteristic_length(topology: Topology) -> float:
    """The largest distance between frames on one body, or length that a constraint has."""
    system = topology.system
    largest = max((size for c in topology.constraints for size in c.lengths(system)), default=0.0)
    for joint in system.joints.values():
        for frame in (joint_frame(joint, side) for side in ("parent", "child")):
            p = np.asarray(frame.pose(system.nominal).p, dtype=float)
            largest = max(largest, float(np.linalg.norm(p)))
    return largest or 1.0


def close(rows: RowFunction, advance: Advance, q: Array, free: Array, ease: Array | None = None) -> tuple[Array, float]:
    """Coordinates near q where all residuals vanish, and the largest that is left; ``free`` marks what may move.

    Where several steps serve, the one with the least sum of (step / ease)^2 is taken.  Gauss-Newton, damped as
    Levenberg and Marquardt do where a step does not lessen the residuals: where they cannot all vanish, it ends where
    the sum of their squares is least.
    """
    r, A = rows(q)
    damping = 0.0
    eased = np.ones(len(free)) if ease is None else ease
    for _ in range(100):
        gap = float(abs(r).max(initial=0.0))
        if gap <= CLOSED or not np.isfinite(gap):
            break
        step, top = _damped(A[:, free], r, eased[free])
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


def _damped(A: Array, r: Array, ease: Array) -> tuple[Callable[[float], Array], float]:
    """The step that lessens r + A s, for any damping, no entry longer than 0.5; and the largest singular value."""
    U, sizes, V = np.linalg.svd(A * ease, full_matrices=False)
    top = float(sizes.max(initial=0.0))
    right, counts = U.T @ r, sizes > 1e-10 * top

    def step(damping: float) -> Array:
        found: Array = -ease * (V[counts].T @ ((right * sizes)[counts] / (sizes[counts] ** 2 + damping**2)))
        longest = float(abs(found).max(initial=0.0))
        return found * (0.5 / longest) if longest > 0.5 else found

    return step, top


def find_closure(rows: RowFunction, advance: Advance, q: Array, holding: Array, length: float) -> Closure:
    """Rank, independent rows and freedoms, from a closed position and positions around it.

    ``rows`` gives all rows; ``holding`` marks those that hold positions, the others hold speeds alone.  Rows are chosen
    that stay independent as the mechanism moves.
    """

    def positions(q: Array) -> tuple[Array, Array]:
        c, G = rows(q)
        return c[holding], G[holding]

    start = rows(q)[1]
    here = find_rank(start)
    samples = [(here, start), *_walk(rows, positions, advance, q, start)]
    rank = max(found for found, _ in samples)
    chosen = choose_rows([G for found, G in samples if found == rank], holding)
    return Closure(chosen, len(holding), start.shape[1] - rank, here < rank, length)


def _walk(
    rows: RowFunction, positions: RowFunction, advance: Advance, q: Array, start: Array
) -> list[tuple[int, Array]]:
    """Ranks and Jacobians at closed positions on a walk along the freedoms."""
    n = start.shape[1]
    rng, still, free = np.random.default_rng(0), np.zeros(n), np.ones(n, dtype=bool)
    at, G, way = q, start, still
    samples = []
    for k in range(WALKS):
        _, sizes, V = np.linalg.svd(G)
        null = V[int((sizes > RANK * sizes[0]).sum()) if len(sizes) else 0 :]
        if not len(null):
            break
        # onwards rather than to and fro, which would stay near the start
        direction = null.T @ (rng.normal(size=len(null)) + ONWARD * null @ way)
        way = direction / np.linalg.norm(direction)
        there, gap = close(positions, advance, advance(at, WALK * (1 + k / WALKS) * way), free)
        if gap > CLOSED_ENOUGH:
            at, G, way = q, start, still
            continue
        at = there
        G = rows(at)[1]
        if _clarity(G) > CLEAR_RANK:
            samples.append((find_rank(G), G))
        else:  # too near to losing its rank to show it: try another way from the start
            at, G, way = q, start, still
    return samples


def choose_rows(jacobians: Sequence[Array], holding: Array) -> tuple[int, ...]:
    """Of the rows that are the most independent in some position, those whose worst position is the best."""
    choices = dict.fromkeys(tuple(sorted(_independent(G, holding))) for G in jacobians)
    if len(holding) <= FEW_ROWS:  # any one row for another, too
        choices |= dict.fromkeys(swap for rows in list(choices) for swap in _swaps(rows, holding))
    return max(choices, key=lambda rows: min(_least(G[list(rows)]) for G in jacobians))


def _swaps(rows: tuple[int, ...], holding: Array) -> list[tuple[int, ...]]:
    """Sets of rows that differ in one row of the same sort."""
    others = [k for k in range(len(holding)) if k not in rows]
    same = [(i, k) for i in rows for k in others if holding[i] == holding[k]]
    return [tuple(sorted({*rows, k} - {i})) for i, k in same]


def _least(G: Array) -> float:
    """The least singular value of rows as a share of the largest; 0 where there are more rows than columns."""
    sizes = np.linalg.svd(G, compute_uv=False)
    return float(sizes[-1] / sizes[0]) if len(sizes) == len(G) > 0 and sizes[0] > 0 else 0.0


def _independent(G: Array, first: Array) -> list[int]:
    """An independent set of rows: again and again the one of which most is left; those marked have precedence.

    Rows that hold positions come before slips, since without them positions would drift. This is QR with column
    pivoting of the transpose; SciPy has it, but a third of a second of a cold start would go into importing it.
    """
    found: list[int] = []
    left = G.copy()
    for part in (np.flatnonzero(first), np.flatnonzero(~first)):
        for _ in range(find_rank(G[[*found, *part]]) - len(found)):
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


def find_rank(G: Array) -> int:
    """The rank of a Jacobian whose rows are scaled by units."""
    if not G.size:
        return 0
    sizes = np.linalg.svd(G, compute_uv=False)
    return int((sizes > RANK * sizes[0]).sum()) if sizes[0] > 0 else 0
