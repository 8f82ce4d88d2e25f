"""Symmetric linear systems with few entries, solved for any kind of number: L D L' without pivoting.

Constrained motion is M x = f + G' lam, G x = gamma.  As a matrix of x and -lam that is K = [M G'; G 0], which is
indefinite; it has all its pivots as long as each multiplier is eliminated after the coordinates that its row touches.
Among what may go next the one with the fewest neighbors goes (minimum degree), which keeps the operations of many small
loops linear in their number.  A positive definite matrix is the same without multipliers.

Rows are kept as dictionaries from column to entry, so that time goes with the entries and not with the size squared.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

import numpy as np

from kinode.algebra.scalars import Array, Scalar, is_number, maximum, tidy

Row = dict[int, Scalar]


def is_zero(x: Scalar) -> bool:
    """Whether an entry is known to be zero."""
    return is_number(x) and bool(x == 0)


def sparse(A: Array) -> list[Row]:
    """The rows of a matrix, without its zeros."""
    return [{j: x for j, x in enumerate(row) if not is_zero(x)} for row in A]


def solve_saddle(M: Array, G: Array, f: Array, gamma: Array) -> tuple[Array, Array]:
    """x and lam of M x = f + G' lam, G x = gamma."""
    return Saddle(sparse(M), sparse(G))(f, gamma)


FLOOR = 1e-9  # of a lock's own response: what is left of it where others hold it is rounding, some 1e-14


class Saddle:
    """Solves for any right-hand sides with one factorization.

    ``locks`` are rows that hold where their entry of ``stuck`` is 1 and are idle where it is 0; their multipliers stand
    behind those of G.  They are eliminated last, and what they add to G may be nothing.
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
            floors[k] = FLOOR * response
        self.n, self.firm, self.factor = n, len(G), Factor(K, n, floors)

    def __call__(self, f: Array, gamma: Array) -> tuple[Array, Array]:
        """x and lam."""
        found = self.factor.solve([*f, *gamma])
        return tidy(found[: self.n]), tidy([-x for x in found[self.n :]])

    def effective_mass(self, rates: Array) -> Scalar:
        """rates' (G M^-1 G')^-1 rates: twice the energy that it takes to give the rows these rates from rest."""
        loose = len(self.factor.order) - self.n - self.firm
        return -self.factor.form([*np.zeros(self.n), *rates, *np.zeros(loose)], self.n + self.firm)


def elimination_order(near: Sequence[set[int]], n: int) -> list[int]:
    """Minimum degree, with every multiplier (index n and above) after the coordinates that it touches.

    ``near`` holds for each index those that it shares an entry with.
    """
    near = [set(row) for row in near]
    waits = [0 if i < n else sum(j < n for j in row) for i, row in enumerate(near)]
    waiting = [[j for j in row if j >= n] for row in near[:n]]
    heap = [(len(row), i) for i, row in enumerate(near) if not waits[i]]
    heapq.heapify(heap)
    done = [False] * len(near)
    order: list[int] = []
    while heap:
        degree, pick = heapq.heappop(heap)
        if done[pick] or degree != len(near[pick]):
            continue  # its neighborhood changed since: it stands in the heap again
        done[pick] = True
        order.append(pick)
        around = near[pick]
        for i in waiting[pick] if pick < n else ():
            waits[i] -= 1
        for i in around:
            near[i] |= around
            near[i] -= {i, pick}
            if not waits[i]:
                heapq.heappush(heap, (len(near[i]), i))
    return order


class Factor:
    """L D L' of a symmetric K whose indices from n on are multipliers, in an order in which no pivot vanishes.

    ``floors`` are the least sizes of the (negative) pivots of the indices that go last.
    """

    def __init__(self, K: Sequence[Mapping[int, Scalar]], n: int, floors: Mapping[int, Scalar] | None = None) -> None:
        floors = floors or {}
        rows = [{j: x for j, x in row.items() if not is_zero(x)} for row in K]
        for i, row in enumerate(rows):  # of plain numbers that are symmetric but for rounding, one may vanish alone
            for j, x in list(row.items()):
                rows[j].setdefault(i, x)
        early = [set(row) - {i, *floors} for i, row in enumerate(rows) if i not in floors]  # the last indices are late
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

    def form(self, right: Sequence[Scalar], size: int | None = None) -> Scalar:
        """right' K^-1 right, for half the operations of a solution; of the first ``size`` indices to go."""
        x = self._forward(right)
        return sum((x[j] * x[j] * self.inverse[j] for j in self.order[:size]), 0.0)

    def solve(self, right: Sequence[Scalar]) -> Array:
        """The x of K x = right."""
        x = self._forward(right)
        for j in reversed(self.order):
            x[j] = x[j] * self.inverse[j]
            for i, value in self.columns[j].items():
                x[j] = x[j] - value * x[i]
        found = np.empty(len(x), dtype=object)
        found[:] = x
        return found
