"""L D L' of a sparse symmetric matrix as loop code: its operations are a table, and one loop runs them.

The matrix is positive definite, and its pattern is known.  The order is that of minimum degree (``sparse_ldl.py``).
Rows of the upper triangle are stored with their fill, the diagonal first.  A long row is updated eight entries at a
time.  The code has the same size for every matrix; only the table grows with the number of operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from kinode.algebra.scalars import Scalar, apply
from kinode.algebra.sparse_ldl import elimination_order
from kinode.algebra.trace import Tape
from kinode.jit.program import Block, Store

RUN = 8  # entries of a row that one step updates
RECIPROCAL, PRODUCT, UPDATE, UPDATE_RUN = range(4)
Step = tuple[int, int, int, int]  # operation; indices in ``work`` of its result and of its two operands


class RolledElimination:
    """Factor and solutions of A x = b in ``work``.

    Parameters
    ----------
    neighbors : sequence of sets
        For each row of A the other rows with which it has an entry.
    start : int
        The first index in ``work``; ``size`` entries are used.  The first ``n_cleared`` of them are A, which is to be
        filled in, and must be zero where nothing is.
    """

    def __init__(self, neighbors: Sequence[set[int]], start: int) -> None:
        n = len(neighbors)
        order = elimination_order(neighbors, n)
        rank = {row: k for k, row in enumerate(order)}
        self.rank = np.array([rank[row] for row in range(n)], dtype=np.int64)
        self._columns = _filled([{rank[j] for j in neighbors[row]} for row in order])
        self._at: list[dict[int, int]] = []  # where the entries of each row of the upper triangle stand, by column
        for j, columns in enumerate(self._columns):
            self._at.append({i: start + k for k, i in enumerate((j, *columns))})
            start += 1 + len(columns)
        self.n_cleared = sum(map(len, self._at))
        self._inverse = start + self.n_cleared + np.arange(n, dtype=np.int64)
        self.size = 2 * self.n_cleared + n

    def entry(self, a: int, b: int) -> int:
        """The index in ``work`` of the entry of two rows of A."""
        i, j = sorted((int(self.rank[a]), int(self.rank[b])))
        return self._at[i][j]

    def _factor(self, j: int, i: int) -> int:
        """The index of an entry of L', which stands as far behind that of A as A is long."""
        return self._at[j][i] + self.n_cleared

    def factorize(self) -> Block:
        """A becomes its factor."""
        steps: list[Step] = []
        for j, columns in enumerate(self._columns):
            inverse = int(self._inverse[j])
            steps.append((RECIPROCAL, inverse, self._at[j][j], 0))
            steps += [(PRODUCT, self._factor(j, i), self._at[j][i], inverse) for i in columns]
            for k, i in enumerate(columns):
                pairs = [(self._at[i][c], self._at[j][c]) for c in columns[k:]]
                steps += _updates(self._factor(j, i), pairs)
        return _block(steps)

    def solve(self, x: int) -> Block:
        """The right-hand side in ``work`` from the index ``x`` on, in the order of ``rank``, becomes the solution."""
        steps = self._forward(x)
        for j in reversed(range(len(self._columns))):
            steps.append((PRODUCT, x + j, x + j, int(self._inverse[j])))
            steps += [(UPDATE, x + j, self._factor(j, i), x + i) for i in self._columns[j]]
        return _block(steps)

    def forward(self, x: int) -> Block:
        """The right-hand side b in ``work`` becomes L^-1 b."""
        return _block(self._forward(x))

    def _forward(self, x: int) -> list[Step]:
        steps: list[Step] = []
        for j, columns in enumerate(self._columns):
            steps += _updates(x + j, [(x + i, self._factor(j, i)) for i in columns])
        return steps

    def quadratic_form(self, tape: Tape, x: int) -> Scalar:
        """b' A^-1 b, after ``forward``."""
        total: Scalar = 0.0
        for j, inverse in enumerate(self._inverse):
            value = tape.load("work", x + j)
            total = total + value * value * tape.load("work", int(inverse))
        return total


def _filled(neighbors: Sequence[set[int]]) -> list[list[int]]:
    """The columns of each row of the upper triangle, with fill, diagonals left out."""
    upper = [{i for i in row if i > j} for j, row in enumerate(neighbors)]
    for row in upper:
        if row:
            first = min(row)  # its row gets all of this one's columns, and hands them on
            upper[first] |= row - {first}
    return [sorted(row) for row in upper]


def _updates(factor: int, pairs: Sequence[tuple[int, int]]) -> Iterable[Step]:
    """Steps that subtract the product of one number with each of several from others, in runs where they can be."""
    k = 0
    while k < len(pairs):
        run = pairs[k : k + RUN]
        start, source = run[0]
        if len(run) == RUN and run[-1] == (start + RUN - 1, source + RUN - 1):
            yield (UPDATE_RUN, start, factor, source)
            k += RUN
        else:
            yield (UPDATE, start, factor, source)
            k += 1


def _block(steps: Sequence[Step]) -> Block:
    """The loop that runs the steps."""
    tape = Tape()
    a, b, c = (tape.inputs(name, RUN) for name in ("a", "b", "c"))
    cases: list[list[Store]] = [
        [("a", 0, apply("inv", b[0]))],
        [("a", 0, b[0] * c[0])],
        [("a", 0, a[0] - b[0] * c[0])],
        [("a", k, a[k] - b[0] * c[k]) for k in range(RUN)],
    ]
    table = np.array(steps, dtype=np.int64).reshape(-1, 4)
    views = {name: ("work", table[:, k]) for k, name in enumerate("abc", 1)}
    return Block(len(table), views, cases, table[:, 0])
