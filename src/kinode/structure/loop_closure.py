"""Loop closure in numbers: consistent coordinates, and which constraint rows are independent.

The functions use only the residuals and the Jacobian of the constraint rows (T-4.5).  Lengths are scaled by a
characteristic length.  Rows are not scaled by their norm, which would turn rows of rounding errors into constraints.
The rank is the largest one at closed positions around the start, so that a singular start is recognized.  Independent
rows come from QR with column pivoting.

Many rows are not treated as one dense matrix: rows that share no freedoms are problems of their own, and where rows are
clearly independent a sparse factor of them shows it (``row_levels.py``) and gives the same steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.model.system import joint_frame
from kinode.structure.row_levels import RowFactor, factorize_rows, find_components
from kinode.structure.topology import RowGroup, Topology

CLOSED = 1e-13  # of the characteristic length, or rad: iterations end at this closure error
CLOSED_ENOUGH = 1e-11  # the same: a larger closure error is refused; rounding may prevent a smaller one
RANK = 1e-8  # singular values below this share of the largest are zero
CLEAR_RANK = 1e-5  # a position whose least singular value is below this share of the largest does not show its rank
WALK_STEPS = 8  # positions at which the rank is sampled
WALK_LENGTH = 0.1  # of the first step, rad or characteristic lengths; the last one is nearly twice as long
LOST_RANK = 1e-3  # of the smallest singular value of all rows: chosen rows below it do not stand for all
ONWARD = 3.0  # weight of the last direction against a random one
FEW_ROWS = 12  # systems with at most so many rows compare more choices of independent ones
GROUP_ROWS = 12  # a group of more rows is not combined: the operations grow with the third power
DEPENDENT = 1e-6  # entry of a projection, above which a row is part of a dependency, or a dependency changes
MANY_FACTORED = 100  # rows, from which on a sparse factor is tried before singular values
MANY_ROWS = 150  # systems with more rows sample fewer positions
LONG_WORK = 3e8  # products of a choice of rows, from which on it is left to LAPACK

RowFunction = Callable[[Array], tuple[Array, Array]]  # of q: residuals, lengths scaled, and their Jacobian
Advance = Callable[[Array, Array], Array]  # coordinates after a step along the speeds


@dataclass(frozen=True)
class Closure:
    """Rank and independent rows of the constraints of a system, from a closed position and positions around it."""

    rows: tuple[int, ...]  # an independent set
    total: int  # number of all rows
    freedoms: int
    singular: bool  # the closed position has more freedoms than those around it
    length: float  # the characteristic length
    groups: tuple[RowGroup, ...] = ()  # rows of which no choice stays independent

    @property
    def used(self) -> list[int]:
        """The independent rows, and all rows of groups: together they have the rank, wherever the mechanism is."""
        return sorted({*self.rows, *(row for group in self.groups for row in group.rows)})


def characteristic_length(topology: Topology) -> float:
    """The largest distance of a joint frame from its body's origin, or length of a constraint, m."""
    system = topology.system
    largest = max((size for c in topology.constraints for size in c.lengths(system)), default=0.0)
    for joint in system.joints.values():
        for frame in (joint_frame(joint, side) for side in ("parent", "child")):
            p = np.asarray(frame.pose(system.nominal).p, dtype=float)
            largest = max(largest, float(np.linalg.norm(p)))
    return largest or 1.0


def close(rows: RowFunction, advance: Advance, q: Array, free: Array, ease: Array | None = None) -> tuple[Array, float]:
    """Coordinates near q where all residuals vanish, and the largest that is left; ``free`` marks what may move.

    Where several steps serve, the one with the least sum of (step / ease)^2 is taken.  Gauss-Newton, with
    Levenberg-Marquardt damping where a step does not reduce the residuals.  Where the residuals cannot all vanish, it
    ends where the sum of their squares is least.
    """
    r, A = rows(q)
    damping = 0.0
    eased = np.ones(len(free)) if ease is None else ease
    for _ in range(100):
        error = float(abs(r).max(initial=0.0))
        if error <= CLOSED or not np.isfinite(error):
            break
        step, top = _damped(A[:, free], r, eased[free])
        while True:
            move = np.zeros(len(free))
            move[free] = step(damping)
            there = advance(q, move)
            r_there, A_there = rows(there)
            gain = 1.0 - float(r_there @ r_there) / float(r @ r)
            if gain > 0.0 or damping >= 1e6 * top or error <= CLOSED_ENOUGH:
                break
            damping = max(10.0 * damping, 1e-3 * top)
        if not gain > (0.5 if error <= CLOSED_ENOUGH else 1e-9):
            break
        q, r, A, damping = there, r_there, A_there, 0.0 if damping < 1e-2 * top else 0.1 * damping
    return q, float(abs(r).max(initial=0.0))


def _damped(A: Array, r: Array, ease: Array) -> tuple[Callable[[float], Array], float]:
    """The step s that minimizes r + A s, as a function of the damping, and the largest singular value of A.

    No entry of the step is larger than 0.5 rad or characteristic lengths.
    """
    factor = factorize_many(A * ease)
    if factor is not None:
        return _damped_by_factor(factor, r, ease), factor.top
    filled = A.any(axis=1)
    U, sizes, V = np.linalg.svd(A[filled] * ease, full_matrices=False)
    top = float(sizes.max(initial=0.0))
    right, counts = U.T @ r[filled], sizes > 1e-10 * top

    def step(damping: float) -> Array:
        s: Array = -ease * (V[counts].T @ ((right * sizes)[counts] / (sizes[counts] ** 2 + damping**2)))
        return _limited(s)

    return step, top


def _damped_by_factor(factor: RowFactor, r: Array, ease: Array) -> Callable[[float], Array]:
    """The same for many rows that are independent."""

    def step(damping: float) -> Array:
        s = factor.damped(damping).step(r) if damping else factor.step(r)
        return _limited(-ease * s)

    return step


def _limited(s: Array) -> Array:
    """A step without entries above 0.5."""
    longest = float(abs(s).max(initial=0.0))
    return s * (0.5 / longest) if longest > 0.5 else s


def factorize_many(A: Array, scaled: bool = False) -> RowFactor | None:
    """The factor of many rows that are clearly independent; None of few rows, and where that is not sure.

    ``scaled`` factors judge rows by their directions.  They are for solutions, which do not depend on units of rows.
    """
    return factorize_rows(A, scaled) if len(A) >= MANY_FACTORED else None


def find_closure(
    rows: RowFunction, advance: Advance, q: Array, position_rows: Array, length: float, driven: bool = False
) -> Closure:
    """Rank, independent rows and freedoms, from a closed position and positions around it.

    ``rows`` gives all rows.  ``position_rows`` marks those that constrain positions; the others constrain speeds alone.
    The chosen rows stay independent as the mechanism moves, but for those of ``groups``.
    """

    def positions(q: Array) -> tuple[Array, Array]:
        c, G = rows(q)
        return (c, G) if position_rows.all() else (c[position_rows], G[position_rows])

    start = rows(q)[1]
    own, _ = _judge(start)
    samples = [(own, q), *_walk(rows, positions, advance, q, start)]
    rank = max(judged.rank for judged, _ in samples)
    best = [(judged.rows, at) for judged, at in samples if judged.rank == rank]
    known = {each for each, _ in best}
    if len(known) == 1 and None not in known:
        (chosen,) = known
    else:  # the Jacobians of many rows are large: they are not kept
        chosen = choose_rows([rows(at)[1] for _, at in best], position_rows, rank)
    assert chosen is not None
    groups: tuple[RowGroup, ...] = ()
    if rank < len(position_rows) <= MANY_ROWS:
        groups = find_groups([rows(at)[1] for _, at in best], position_rows, chosen, driven)
    return Closure(chosen, len(position_rows), start.shape[1] - rank, own.rank < rank, length, groups)


def find_groups(
    jacobians: Sequence[Array], position_rows: Array, chosen: Sequence[int], driven: bool
) -> tuple[RowGroup, ...]:
    """The dependent rows whose dependencies change from position to position, so that no choice of them lasts.

    A dependency is a null vector of G'.  Rows in no dependency are in every choice.  Where the dependencies are the
    same in all positions, as between the hinges of parallel cranks, a choice lasts: such rows are no group.  Of a
    ``driven`` mechanism the positions at one time do not show that.
    """
    G = np.array(jacobians)
    sizes = np.linalg.norm(G, axis=2)
    rows = np.flatnonzero((sizes > DEPENDENT * sizes.max()).any(axis=0))
    left = [np.linalg.svd(each[rows])[0][:, len(chosen) :] for each in G]
    projections = np.array([N @ N.T for N in left])
    linked: Array = np.any(abs(projections) > DEPENDENT, axis=0)
    groups = []
    while linked.any():
        reached: Array = linked[int(np.argmax(np.any(linked, axis=1)))]
        while np.sum(further := np.any(linked[reached], axis=0)) > np.sum(reached):
            reached = further
        own = rows[reached]
        changes = abs(projections - projections[0])[:, reached].max() > DEPENDENT
        if (driven or changes) and position_rows[own].all() and len(own) <= GROUP_ROWS:
            groups.append(RowGroup(tuple(map(int, own)), len(set(chosen) & set(map(int, own)))))
        linked[reached] = False
    return tuple(groups)


class Judged(NamedTuple):
    """The rank of a Jacobian, and its rows but for zeros where they are independent and were factorized."""

    rank: int
    rows: tuple[int, ...] | None


def _walk(
    rows: RowFunction, positions: RowFunction, advance: Advance, q: Array, start: Array
) -> list[tuple[Judged, Array]]:
    """Ranks at closed positions on a walk along the freedoms, and these positions."""
    n = start.shape[1]
    rng, still, free = np.random.default_rng(0), np.zeros(n), np.ones(n, dtype=bool)
    at, G, last = q, start, still
    samples = []
    for k in range(WALK_STEPS if len(start) <= MANY_ROWS else WALK_STEPS // 2):
        # mostly in the last direction: random directions alone would stay near the start
        direction = _some_freedom(G, rng, ONWARD * last)
        if direction is None:
            break
        last = direction / np.linalg.norm(direction)
        there, error = close(positions, advance, advance(at, WALK_LENGTH * (1 + k / WALK_STEPS) * last), free)
        if error > CLOSED_ENOUGH:
            at, G, last = q, start, still
            continue
        at = there
        G = rows(at)[1]
        judged, clear = _judge(G)
        if clear:
            samples.append((judged, at))
        else:  # too near to a singular position to show the rank: try another direction from the start
            at, G, last = q, start, still
    return samples


def _some_freedom(G: Array, rng: np.random.Generator, along: Array) -> Array | None:
    """A random direction along the freedoms, with some other direction added; None where there are none."""
    factor, n = factorize_many(G), G.shape[1]
    if factor is not None:
        return factor.project(rng.normal(size=n) + along) if factor.rank < n else None
    triangle = np.linalg.qr(G, mode="r") if len(G) > max(MANY_ROWS, n) else G  # the same singular values
    _, sizes, V = np.linalg.svd(triangle)
    null = V[int((sizes > RANK * sizes[0]).sum()) if len(sizes) else 0 :]
    return null.T @ (rng.normal(size=len(null)) + null @ along) if len(null) else None


def _judge(G: Array) -> tuple[Judged, bool]:
    """The rank, and whether it is clear."""
    factor = factorize_many(G)
    if factor is not None:
        return Judged(factor.rank, tuple(factor.rows)), factor.exceeds(CLEAR_RANK)
    sizes = _singular_values(G)
    return Judged(_rank(sizes), None), _clarity(sizes) > CLEAR_RANK


def choose_rows(jacobians: Sequence[Array], position_rows: Array, rank: int | None = None) -> tuple[int, ...]:
    """Independent rows for several positions: the set with the best condition in its worst position.

    ``rank`` is that of all the Jacobians, where it is known.

    The sets compared are those that pivoting chooses in each position and, where there are few rows, those that differ
    from them in one row.
    """
    choices = dict.fromkeys(tuple(sorted(_independent(G, position_rows, rank))) for G in jacobians)
    if len(position_rows) <= FEW_ROWS:
        choices |= dict.fromkeys(swap for rows in list(choices) for swap in _swaps(rows, position_rows))
    if len(choices) == 1:
        return next(iter(choices))
    return max(choices, key=lambda rows: min(_least(G[list(rows)]) for G in jacobians))


def _swaps(rows: tuple[int, ...], position_rows: Array) -> list[tuple[int, ...]]:
    """Sets of rows that differ in one row; a row of positions replaces one of positions, of speeds one of speeds."""
    others = [k for k in range(len(position_rows)) if k not in rows]
    same = [(i, k) for i in rows for k in others if position_rows[i] == position_rows[k]]
    return [tuple(sorted({*rows, k} - {i})) for i, k in same]


def _least(G: Array) -> float:
    """The least singular value of rows as a share of the largest; 0 where there are more rows than columns."""
    sizes = _singular_values(G)
    return float(sizes[-1] / sizes[0]) if len(sizes) == len(G) > 0 and sizes[0] > 0 else 0.0


def _independent(G: Array, first: Array, rank: int | None = None) -> list[int]:
    """An independent set of rows, by QR with column pivoting of the transpose; rows in the mask ``first`` come first.

    Rows of positions come before rows of speeds, since positions would drift without them.  SciPy has this algorithm,
    but importing it takes a third of a second of a cold start, which pays where there are very many rows.
    """
    filled = np.flatnonzero(G.any(axis=1))
    if rank == len(filled):
        return [int(row) for row in filled]
    factor = factorize_many(G)
    if factor is not None and rank in (None, factor.rank):
        return factor.rows
    components = find_components(G) if len(G) >= MANY_FACTORED else [(filled, np.arange(G.shape[1]))]
    parts = [_Pivoting(rows, G[np.ix_(rows, columns)], first[rows]) for rows, columns in components]
    for held in (True, False):
        together = [part.singular_values(held) for part in parts]
        top = max((sizes[0] for sizes in together if len(sizes)), default=0.0)
        for part, sizes in zip(parts, together, strict=True):
            part.choose(held, int((sizes > RANK * top).sum()))
    return [int(part.numbers[row]) for part in parts for row in part.chosen]


class _Pivoting:
    """The choice of independent rows of one component; ``numbers`` are those of its rows among all."""

    def __init__(self, numbers: Array, G: Array, first: Array) -> None:
        self.numbers, self._G, self._left, self._first = numbers, G, G.copy(), first
        self.chosen: list[int] = []

    def singular_values(self, held: bool) -> Array:
        """Those of the rows that are chosen and of those among which is chosen next."""
        part = np.flatnonzero(self._first == held)
        return _singular_values(self._G[[*self.chosen, *part]]) if len(part) else np.zeros(0)

    def choose(self, held: bool, rank: int) -> None:
        """Choose among some rows until there are as many as the rank."""
        part, left = np.flatnonzero(self._first == held), self._left
        if len(part) and len(left) ** 2 * left.shape[1] > LONG_WORK and self._first.all():
            from scipy.linalg import qr

            order = qr(left.T, mode="r", pivoting=True, check_finite=False)[-1]
            self.chosen = [int(row) for row in order[:rank]]
            return
        for _ in range(rank - len(self.chosen) if len(part) else 0):
            sizes = np.linalg.norm(left[part], axis=1)
            row = int(part[np.argmax(sizes)])
            direction = left[row] / sizes.max()
            left -= np.outer(left @ direction, direction)
            left[row] = 0.0
            self.chosen.append(row)


def without_zeros(G: Array) -> Array:
    """The rows that are not zero (in a plane mechanism two of five of a hinge), with the same singular values."""
    filled = G.any(axis=1)
    return G if filled.all() else G[filled]


def _singular_values(G: Array) -> Array:
    """The singular values in descending order, but for zeros of rows that are zero."""
    if not G.size:
        return np.zeros(0)
    components = find_components(G) if len(G) >= MANY_FACTORED else []
    if len(components) < 2:
        sizes: Array = np.linalg.svd(without_zeros(G), compute_uv=False)
        return sizes
    each = [np.linalg.svd(G[np.ix_(rows, columns)], compute_uv=False) for rows, columns in components]
    return np.sort(np.concatenate(each))[::-1]


def _clarity(sizes: Array) -> float:
    """The least nonzero singular value as a share of the largest, of all of them."""
    kept = sizes[sizes > RANK * sizes.max(initial=0.0)]
    return float(kept[-1] / kept[0]) if len(kept) else 1.0


def rows_serve(G: Array, rows: Sequence[int], count: int) -> bool:
    """Whether some rows stand for all rows of a Jacobian: of ``count`` as the rank, and as independent as can be."""
    factor = factorize_many(G)
    if factor is not None:
        return factor.rows == sorted(rows)
    whole = _singular_values(G)
    rank = _rank(whole)
    if rank != count:
        return False
    if rank == 0 or len(rows) == len(G):  # all of them are used
        return True
    return bool(np.linalg.svd(G[list(rows)], compute_uv=False)[rank - 1] > LOST_RANK * whole[rank - 1])


def surely_serve(G: Array, rows: Sequence[int]) -> bool:
    """Whether a bound shows that some rows stand for all rows of a Jacobian, without its singular values.

    With C the chosen rows and X C + E all others, the singular values of all rows are at most sqrt(1 + |X|^2) times
    those of C, and |E|.  The least one of C is at least 1 / |C^+|.  A triangle of C' gives all of it, at a fraction of
    the time that singular values take.
    """
    chosen, others = G[list(rows)], without_zeros(np.delete(G, rows, axis=0))
    if not len(rows) or len(rows) > G.shape[1]:
        return False
    Q, R = np.linalg.qr(chosen.T)
    diagonal = abs(R.diagonal())
    if not diagonal.min() > RANK * diagonal.max():
        return False
    inverse = np.linalg.inv(R)
    along = others @ Q
    X, E = along @ inverse.T, others - along @ Q.T
    least = 1.0 / np.linalg.norm(inverse)
    most = least * np.sqrt(1.0 + np.linalg.norm(X) ** 2) + np.linalg.norm(E)
    return bool(least > LOST_RANK * most)


def find_rank(G: Array) -> int:
    """The rank of a Jacobian whose rows are scaled by units."""
    return _judge(G)[0].rank


def _rank(sizes: Array) -> int:
    """How many singular values count, of all in descending order."""
    return int((sizes > RANK * sizes[0]).sum()) if len(sizes) and sizes[0] > 0 else 0
