"""Assembly: a state in which all constraints hold, as near as can be to the requested initial values.

Positions, in this order:

1.  A closed position that keeps every given and every guessed coordinate, if there is one.  The joints of which nothing
    is requested move; the loops that they do not connect are searched one by one.
2.  Else the position with the least sum over the freedoms of ALL joints of weight * offset^2, angles in radians and
    lengths in characteristic lengths.  From each of several starts, the guesses themselves first, the loops are closed,
    then the state slides along the constraints to the least offset: Newton's method on the tangent space with the
    curvature of the constraints, with a line search.  The nearest of these positions is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.starts.assembly import explain
from kinode.dynamics.starts.assembly_problem import AssemblyProblem, RowGroup
from kinode.dynamics.starts.initial_values import DEFAULT_WEIGHT, InitialValues, is_guessed
from kinode.dynamics.starts.position_guess import PositionGuess, find_curvature
from kinode.dynamics.starts.warm_start import NEAR, WarmStart, is_served
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.structure.loop_closure import CLOSED, CLOSED_ENOUGH, RANK, factorize_many, find_rank
from kinode.structure.loop_closure import close as close_rows

LEAST_STARTS, MOST_STARTS = 6, 20  # starts that are compared; that are tried while no closed position is known
CHOSEN_FROM = 16  # from this start on, the best of 64 positions: few lie near a closed one where many rows must hold
ROUGH = 0.05  # rad, or characteristic lengths: guesses that stay so little open are rounded, not of another branch
SLIDES, HALVINGS = 40, 30  # steps to the least offset at most; halvings of one step
CURVED = 12  # freedoms up to which the curvature of the constraints is taken into account
SAME = 1e-6  # of the least offset: two positions are equally near


class LoopGroup(NamedTuple):
    """Unknowns that depend on each other through loops, and the rows that they move."""

    free: Array  # marks freedoms
    rows: Array  # marks rows
    owners: frozenset[str]  # whose rows they are


@dataclass(frozen=True, eq=False)
class Offset:
    """A position on the way: weighted offsets, their slope along the freedoms that are left."""

    x: Array
    cost: float
    slope: Array
    tangent: Array  # one column for each freedom that is left
    flat: Array  # offsets for unit steps along these


@dataclass(frozen=True, eq=False)
class Anchor:
    """A closed position from which those of other parameters are followed, and how it was found."""

    x: Array
    exact: Array  # marks freedoms, as ``guessed``
    guessed: Array
    kept: bool  # all guesses are kept
    freedoms: int  # that exact and kept values leave


class Assembler:
    """One assembly: the requested initial values, and the numbers that do not change on the way."""

    def __init__(self, problem: AssemblyProblem) -> None:
        self.problem = problem
        constraints = problem.topology.system.constraints.values()
        self.geared = {name for c in constraints if isinstance(c, CoordinateCoupling) for name in c.joints().values()}
        self.exact = problem.exact("exact_q")
        self.guessed = problem.weights > DEFAULT_WEIGHT

    @cached_property
    def guess(self) -> PositionGuess:
        """Makes the positions that the search begins with."""
        return PositionGuess(self.problem)

    # -- positions ---------------------------------------------------------------------------------
    def solve_positions(self) -> Array:
        """The closed position nearest to the requested coordinates: all unknowns."""
        n, begin = self.problem.n_u, self.problem.requested_position()
        if not self.problem.bound:
            return begin
        begin = self.guess.position()
        if self._is_closed(begin, CLOSED) and self._keeps(begin, np.ones(len(self.exact), dtype=bool), CLOSED):
            return begin
        kept, open_groups = self.with_guesses_kept, []
        x, settled = kept.guess.settle(begin)
        for group in kept.loop_groups(~(self.exact | self.guessed | settled)[:n]):
            there = kept.search(group, x, None)
            if there is None:
                open_groups.append(group)
            else:
                x = there
        if not open_groups:
            return x
        for group in self.loop_groups(~self.exact[:n]):
            if any(group.owners & other.owners for other in open_groups):
                there = self.search(group, x, self.problem.weights)
                if there is None:
                    raise explain(self, begin)
                x = there
        return x

    def anchor(self, x: Array) -> Anchor:
        """A closed position as an anchor; guesses that only these numbers allow to keep are not kept."""
        kept = self._keeps(x, self.guessed)
        if kept and self.guessed.any():
            n, A = self.problem.n_u, self.problem.equations(x)[1]
            free, guessed = ~self.exact[:n], self.guessed[:n]
            kept = find_rank(A[:, free & ~guessed]) == find_rank(A[:, free])
        assembler = self.with_guesses_kept if kept else self
        A = assembler.problem.equations(x)[1][:, ~assembler.exact[: self.problem.n_u]]
        return Anchor(x, self.exact, self.guessed, kept, A.shape[1] - find_rank(A))

    def warm_start(self, anchor: Anchor) -> WarmStart | None:
        """The way from an anchor to positions near it; None where it is not served."""
        assembler = self.with_guesses_kept if anchor.kept else self
        if not is_served(assembler, anchor):
            return None
        assembler.problem.poses.compile()
        return WarmStart(assembler, anchor)

    @cached_property
    def with_guesses_kept(self) -> Assembler:
        """The same assembly with all guesses exact."""
        if not self.guessed.any():
            return self
        values = self.problem.requested
        joints = {n: replace(w, exact_q=w.exact_q | is_guessed(values, n)) for n, w in values.joints.items()}
        return self.with_values(replace(values, joints=joints))

    def with_values(self, values: InitialValues) -> Assembler:
        """The same assembly with other initial values."""
        return Assembler(AssemblyProblem(self.problem.poses, self.problem.loops, values))

    def loop_groups(self, free: Array) -> list[LoopGroup]:
        """The rows by the unknowns that connect them; rows that nothing moves are a group without unknowns."""
        groups = self.problem.groups
        parent = list(range(len(groups)))

        def root(k: int) -> int:
            while parent[k] != k:
                parent[k] = parent[parent[k]]
                k = parent[k]
            return k

        first: dict[int, int] = {}
        for k, group in enumerate(groups):
            for column in group.columns:
                if free[column]:
                    parent[root(k)] = root(first.setdefault(column, k))
        members: dict[int, list[RowGroup]] = {}
        for k, group in enumerate(groups):
            members.setdefault(root(k), []).append(group)
        return [self._group(together, free) for together in members.values()]

    def _group(self, groups: Sequence[RowGroup], free: Array) -> LoopGroup:
        """Some rows with those of the free unknowns that move them."""
        columns, rows = np.zeros(len(free), dtype=bool), np.zeros(self.problem.groups[-1].rows.stop, dtype=bool)
        for group in groups:
            rows[group.rows] = True
            columns[list(group.columns)] = True
        return LoopGroup(columns & free, rows, frozenset(group.owner for group in groups))

    def search(self, group: LoopGroup, x: Array, weights: Array | None) -> Array | None:
        """The nearest closed position of a group among those that several starts lead to; None if none does.

        Without weights the freedoms of the group count alike, and nothing else moves.
        """
        if not group.free.any() and abs(self.problem.residuals(x)[group.rows]).max(initial=0.0) <= CLOSED:
            return x
        candidates: list[Offset] = []
        most = MOST_STARTS
        for k, start in enumerate(self.starts(group, x)):
            if k >= (LEAST_STARTS if candidates else most) or (k and not group.free.any()):
                break
            there, error = self.close(group, start, weights)
            if error > CLOSED_ENOUGH:
                if k == 0 and weights is None and error < ROUGH:
                    most = LEAST_STARTS
                continue
            there = self._settle(group, self._unwound(there, group), weights)
            candidates.append(self._offset(there, group, self.problem.weights if weights is None else weights))
            if k == 0 and self._is_near(there, group):
                break
        if not candidates:
            return None
        least = min(point.cost for point in candidates)
        return max((c for c in candidates if c.cost <= least * (1 + SAME) + 1e-20), key=self._preference).x

    def starts(self, group: LoopGroup, x: Array) -> Iterator[Array]:
        """Where to look for closed positions: here, loop by loop, then anywhere; the same in every call."""
        yield x
        if len(group.owners) > 1:
            yield self._loop_by_loop(group, x)
        rng = np.random.default_rng(0)
        for k in count(1):
            scale = 1.0 if k % 2 or k >= CHOSEN_FROM else 0.3
            tries = [self.guess.scattered(rng, scale) for _ in range(1 if k < CHOSEN_FROM else 64)]
            there = min(tries, key=lambda y: float(abs(self.problem.equations(y)[0][group.rows]).sum()))
            if (self.guessed & ~self.exact)[: len(group.free)][group.free].any():  # guesses too
                reach = np.where(self.problem.units[: len(group.free)] == 1.0, np.pi, self.problem.length)
                step = 0.5 * scale * reach * rng.uniform(-1.0, 1.0, len(group.free))
                there = self.problem.advance(there, np.where(group.free, step, 0.0))
            yield self._merged(group, x, there)

    def _merged(self, group: LoopGroup, x: Array, other: Array) -> Array:
        """A position with the group's joints as in another."""
        merged = x.copy()
        for name, where in self.problem.u_of.items():
            if group.free[where].any():
                merged[self.problem.q_of[name]] = other[self.problem.q_of[name]]
        return merged

    def _loop_by_loop(self, group: LoopGroup, x: Array) -> Array:
        """The loops of a group closed one after the other, each with those before it."""
        loops = [rows for rows in self.problem.groups if rows.owner in group.owners]
        for last in range(1, len(loops) + 1):
            x, _ = self.close(self._group(loops[:last], group.free), x, None)
        return x

    def close(self, group: LoopGroup, x: Array, weights: Array | None) -> tuple[Array, float]:
        """A position near x in which the rows of a group vanish, and by how much they do not.

        The steps are the least ones in the measure of the weights: what counts little moves first.
        """

        def rows(x: Array) -> tuple[Array, Array]:
            r, A = self.problem.equations(x)
            return r[group.rows], A[group.rows]

        ease = None
        if weights is not None and len(group.free):
            n = len(group.free)
            ease = self.problem.units[:n] * np.sqrt(weights.max() / weights[:n])
        return close_rows(rows, self.problem.advance, x, group.free, ease)

    def _settle(self, group: LoopGroup, x: Array, weights: Array | None) -> Array:
        """The nearest position along the constraints: guesses first, then the joints of which nothing is requested."""
        if weights is None or not self.guessed.any():
            return self._slide(x, group, self.problem.weights)
        x = self._slide(x, group, np.where(self.guessed, weights, 0.0))
        if self._keeps(x, self.guessed):
            kept = self.with_guesses_kept
            moved = [rows for rows in kept.problem.groups if group.free[list(rows.columns)].any()]
            return kept._slide(x, kept._group(moved, group.free & ~self.guessed[: len(group.free)]), weights)
        return self._slide(x, group, weights)

    def _keeps(self, x: Array, which: Array, within: float = CLOSED_ENOUGH) -> bool:
        """Whether some of the freedoms are where they are requested."""
        return bool((abs(self.problem.offsets(x)[0][which]) <= within).all())

    def _is_closed(self, x: Array, within: float) -> bool:
        return bool(abs(self.problem.residuals(x)).max(initial=0.0) <= within)

    def _is_near(self, x: Array, group: LoopGroup) -> bool:
        """Whether all joints of a group are near where they are requested."""
        d = self.problem.offsets(x)[0][: len(group.free)][group.free]
        return bool(abs(d).max(initial=0.0) <= NEAR)

    def _unwound(self, x: Array, group: LoopGroup) -> Array:
        """The same position with full turns taken off that lead away from the requested coordinates."""
        there = x.copy()
        for name, where in self.problem.q_of.items():
            if name not in self.problem.requested.joints or not group.free[self.problem.u_of[name]].any():
                continue
            if name not in self.geared and not self.problem.requested.joints[name].exact_q.any():
                there[where] = self.problem.unwound(name, x[where])
        return there

    def _preference(self, point: Offset) -> list[float]:
        """Of positions equally near the one with the larger coordinates, joints in order of their names."""
        values = self.problem.coordinates(point.x)
        return [round(float(q), 6) for name in sorted(values) for q in values[name]]

    # -- the least offset along the constraints ----------------------------------------------------
    def _offset(self, x: Array, group: LoopGroup, weights: Array) -> Offset:
        """What there is to know of a position, with the weights of all freedoms."""
        d, D = self.problem.offsets(x)
        root = np.sqrt(weights / weights.max(initial=1e-300))
        free = np.flatnonzero(group.free)
        along = _find_freedoms(self.problem.equations(x)[1][np.ix_(group.rows, free)])
        tangent = np.zeros((self.problem.n_u, along.shape[1]))
        tangent[free] = along
        d, flat = root * d, root[:, None] * (D @ tangent)
        return Offset(x, 0.5 * float(d @ d), flat.T @ d, tangent, flat)

    def _slide(self, x: Array, group: LoopGroup, weights: Array) -> Array:
        """The position of least offset that is reached along the constraints."""
        here = self._offset(x, group, weights)
        for _ in range(SLIDES):
            if abs(here.slope).max(initial=0.0) <= 1e-13 * max(1e-3, 2 * here.cost) ** 0.5:
                break
            there = self._descend(here, group, weights)
            if there is None:
                break
            here = there
        return here.x

    def _descend(self, here: Offset, group: LoopGroup, weights: Array) -> Offset | None:
        """A position with less offset, or with as much and less slope."""
        step = here.tangent @ -_solve_downhill(here, self._curvature(here, group, weights))
        longest = float(abs(step).max())
        share = min(1.0, 0.5 / longest) if longest > 0 else 1.0
        for _ in range(HALVINGS):
            x, error = self.close(group, self.problem.advance(here.x, share * step), None)
            if error <= CLOSED_ENOUGH:
                there = self._offset(x, group, weights)
                less = there.cost < here.cost * (1 - 1e-12)
                flatter = np.linalg.norm(there.slope) < 0.5 * np.linalg.norm(here.slope)
                if less or (flatter and there.cost <= here.cost * (1 + 1e-9)):
                    return there
            share *= 0.5
            if share * longest < 1e-15:
                break
        return None

    def _curvature(self, here: Offset, group: LoopGroup, weights: Array) -> Array | None:
        """Second derivatives of the offsets along the constraints; None of many freedoms.

        They are those of the Lagrange function: what the constraints' curvature adds goes with their multipliers.
        """
        if here.tangent.shape[1] > CURVED:
            return None
        d, D = self.problem.offsets(here.x)
        shares = weights / weights.max()
        slope, A = D.T @ (shares * d), self.problem.equations(here.x)[1][group.rows]
        lam = np.linalg.lstsq(A[:, group.free].T, -slope[group.free], rcond=RANK)[0]
        return find_curvature(self.problem, here.x, here.tangent, group.rows, shares, lam)


def _find_freedoms(A: Array) -> Array:
    """Orthonormal directions in which the rows do not change, one in each column."""
    factor = factorize_many(A, scaled=True)
    if factor is not None:
        return factor.null_space()
    _, sizes, V = np.linalg.svd(A)
    directions: Array = V[int((sizes > RANK * sizes.max(initial=0.0)).sum()) :].T
    return directions


def _solve_downhill(here: Offset, curvature: Array | None) -> Array:
    """The step to where the slope vanishes: Newton's, or that of Gauss and Newton where Newton's leads uphill."""
    gauss = here.flat.T @ here.flat
    values, vectors = np.linalg.eigh(gauss if curvature is None else curvature)
    if values[0] < -1e-7 * values[-1]:
        values, vectors = np.linalg.eigh(gauss)
    counts = values > 1e-7 * values[-1]
    step: Array = vectors[:, counts] @ ((vectors.T @ here.slope)[counts] / values[counts])
    return step
