"""Sparse symmetric linear systems for any scalar type: K = L D L' without numerical pivoting.

Constrained motion is M x = f + G' lam, G x = gamma.  The matrix of x and -lam is K = [M G'; G 0], which is symmetric
and indefinite.  No pivot vanishes if each multiplier is eliminated after the coordinates in its row.  Among the
candidates the one with the fewest neighbors is eliminated next (minimum degree; W. F. Tinney, J. W. Walker, Proc. IEEE
55 (1967) 1801-1809).  With this order the operations grow linearly with the number of small loops.  A positive definite
matrix is the case without multipliers.  A dependent row of G gives a zero pivot: select independent rows first.

Rows are dictionaries from column to entry, so time grows with the number of entries and not with the size squared.

Why our own: the entries are traced scalars, symbols or duals, and the order must be fixed before any number is known.
SciPy's and CHOLMOD's factorizations take floats only, and pivot by their size.  A chain of 10 loops (30 coordinates, 20
constraint rows) takes 1,474 operations here, and 65,065 with full matrices; 20 loops take 3,004 and 499,030.  A library
that emits the operations of a symbolic L D L' for a given sparsity would make this module obsolete.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

import numpy as np

from kinode.algebra.scalars import Array, Scalar, is_zero, maximum, tidy

Row = dict[int, Scalar]


def sparse(A: Array) -> list[Row]:
    """The rows of a matrix, without its zeros."""
    return [{j: x for j, x in enumerate(row) if not is_zero(x)} for row in A]


LOCK_FLOOR = 1e-9  # of a lock's own response: a smaller pivot is rounding (about 1e-14), as another row fixes the joint


class Saddle:
    """Solves M x = f + G' lam, G x = gamma for any number of right-hand sides with one factorization.

    ``locks`` are rows of locked joints: a row is active if its entry of ``stuck`` is 1, and absent if it is 0.  Their
    multipliers follow those of G.  They are eliminated last, and may depend on the rows of G.
    """

    def __init__(
        self, M: Sequence[Mapping[int, Scalar]], G: Sequence[Mapping[int, Scalar]],
        locks: Sequence[Mapping[int, Scalar]] = (), stuck: Sequence[Scalar] = (),
    ) -> None:  # fmt: skip
        n, m = len(M), len(M) + len(G)
        rows: list[Row] = [dict(row) for row in G]
        rows += [{j: s * x for j, x in row.items()} for row, s in zip(locks, stuck, strict=True)]
        K: list[Row] = [dict(row) for row in M] + [dict(row) for row in rows]
        for k, row in enumerate(rows):
            for j, x in row.items():
                K[j][n + k] = x
        floors: dict[int, Scalar] = {}
        for k, (lock, s) in enumerate(zip(locks, stuck, strict=True), m):
            response = sum((x * x / M[j][j] for j, x in lock.items()), 0.0)
            K[k][k] = (s - 1.0) * response
            floors[k] = LOCK_FLOOR * response
        self.n, self.n_constraints, self.factor = n, len(G), Factor(K, n, floors)

    def __call__(self, f: Array, gamma: Array) -> tuple[Array, Array]:
        """x and lam."""
        solution = self.factor.solve([*f, *gamma])
        return tidy(solution[: self.n]), tidy([-x for x in solution[self.n :]])

    def effective_mass(self, rates: Array) -> Scalar:
        """rates' (G M^-1 G')^-1 rates: twice the least kinetic energy for which the constraints have these rates."""
        n_locks = len(self.factor.order) - self.n - self.n_constraints
        right = [*np.zeros(self.n), *rates, *np.zeros(n_locks)]
        return -self.factor.quadratic_form(right, self.n + self.n_constraints)


def elimination_order(neighbors: Sequence[set[int]], n: int) -> list[int]:
    """Minimum degree order, with every multiplier (index n and above) after the coordinates in its row.

    ``neighbors`` holds, for each index, the indices of the other entries in its row.
    """
    neighbors = [set(row) for row in neighbors]
    n_before = [0 if i < n else sum(j < n for j in row) for i, row in enumerate(neighbors)]
    multipliers_of = [[j for j in row if j >= n] for row in neighbors[:n]]
    heap = [(len(row), i) for i, row in enumerate(neighbors) if not n_before[i]]
    heapq.heapify(heap)
    done = [False] * len(neighbors)
    order: list[int] = []
    while heap:
        degree, pick = heapq.heappop(heap)
        if done[pick] or degree != len(neighbors[pick]):
            continue  # an outdated entry of the heap: its neighbors have changed since
        done[pick] = True
        order.append(pick)
        adjacent = neighbors[pick]
        for i in multipliers_of[pick] if pick < n else ():
            n_before[i] -= 1
        for i in adjacent:
            neighbors[i] |= adjacent
            neighbors[i] -= {i, pick}
            if not n_before[i]:
                heapq.heappush(heap, (len(neighbors[i]), i))
    return order


class Factor:
    """L D L' of a symmetric K whose indices from n on are multipliers, in an order without zero pivots.

    ``floors`` names the indices that are eliminated last, with the least size of their (negative) pivots.
    """

    def __init__(self, K: Sequence[Mapping[int, Scalar]], n: int, floors: Mapping[int, Scalar] | None = None) -> None:
        floors = floors or {}
        rows = [{j: x for j, x in row.items() if not is_zero(x)} for row in K]
        for i, row in enumerate(rows):  # with rounding, K_ij may be zero and K_ji not: restore the symmetry
            for j, x in list(row.items()):
                rows[j].setdefault(i, x)
        early = [set(row) - {i, *floors} for i, row in enumerate(rows) if i not in floors]
        self.order = [*elimination_order(early, n), *floors]
        rank = {i: k for k, i in enumerate(self.order)}
        self.inverse: dict[int, Scalar] = {}
        self.columns: dict[int, Row] = {}
        for j in self.order:
            column = rows[j]
            pivot = column.pop(j, 0.0)
            below = sorted((i for i, x in column.items() if not is_zero(x)), key=rank.__getitem__)
            self.inverse[j] = -1.0 / maximum(-pivot, floors[j]) if j in floors else 1.0 / pivot
            self.columns[j] = {i: column[i] * self.inverse[j] for i in below}
            for i in column:
                del rows[i][j]
            for a, i in enumerate(below):
                for k in below[: a + 1]:
                    rows[i][k] = rows[k][i] = rows[i].get(k, 0.0) - self.columns[j][i] * column[k]

    def _forward(self, right: Sequence[Scalar]) -> list[Scalar]:
        """The x of L x = right."""
        x = list(right)
        for j in self.order:
            for i, value in self.columns[j].items():
                x[i] = x[i] - value * x[j]
        return x

    def quadratic_form(self, right: Sequence[Scalar], size: int | None = None) -> Scalar:
        """right' K^-1 right of the first ``size`` indices of the order, in half the operations of a solution."""
        x = self._forward(right)
        return sum((x[j] * x[j] * self.inverse[j] for j in self.order[:size]), 0.0)

    def solve(self, right: Sequence[Scalar]) -> Array:
        """The x of K x = right."""
        x = self._forward(right)
        for j in reversed(self.order):
            x[j] = x[j] * self.inverse[j]
            for i, value in self.columns[j].items():
                x[j] = x[j] - value * x[i]
        solution = np.empty(len(x), dtype=object)
        solution[:] = x
        return solution

    def unit_solution(self, k: int) -> Row:
        """Column k of K^-1: the entries from k on, in the order of elimination; the rest follows by symmetry."""
        x = self._forward([1.0 if i == k else 0.0 for i in range(len(self.order))])
        column: Row = {}
        for j in reversed(self.order):
            total = x[j] * self.inverse[j]
            for i, value in self.columns[j].items():
                total = total - value * column[i]
            column[j] = total
            if j == k:
                break
        return column
