"""Large Jacobians of constraint rows, most of whose entries are zero: components of rows, and a factor in levels.

Rows that share no freedom, directly or through other rows, are problems of their own: the singular values of all rows
are those of the components.  Within a component, rows stand in levels, each of which shares freedoms with the levels
beside it alone.  A A' is then block tridiagonal, and its Cholesky factor takes a time proportional to the number of
levels: for a row of four-bars, to the number of loops.

The factor serves where the rows are clearly independent.  That is sure: the largest singular value is at most the
square root of the largest absolute row sum of A A', and the least one is above a number if A A' less its square has a
Cholesky factor, too.  Where it has none, the caller takes singular values.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinode.algebra.scalars import Array

SMALL_BLOCK = 32  # rows: smaller levels are joined
SURE = 1e-6  # of the largest singular value: its square is far above the rounding errors of A A'
ALIKE = 1e-4  # of the largest row: rows are scaled if none is smaller
NOISE = 1e-13  # of the largest row: rows below are rounding errors, which change no singular value that counts


def find_components(A: Array) -> list[tuple[Array, Array]]:
    """Rows and columns of each component; rows and columns of zeros belong to none."""
    return [(np.concatenate(levels), columns) for levels, columns in _walk_levels(A != 0.0)]


def _walk_levels(filled: Array) -> Iterator[tuple[list[Array], Array]]:
    """The levels of rows of each component, from its first row on, and its columns."""
    left = np.asarray(filled.any(axis=1))
    while left.any():
        levels, columns = _levels_from(filled, left, int(np.argmax(left)))
        for level in levels:
            left[level] = False
        yield levels, columns


def _levels_from(filled: Array, left: Array, row: int) -> tuple[list[Array], Array]:
    """Rows by their distance from one of them, among those that are left, and the columns of them all."""
    new, seen = left.copy(), np.zeros(filled.shape[1], dtype=bool)
    levels, level = list[Array](), np.array([row])
    while len(level):
        new[level] = False
        levels.append(level)
        columns = np.flatnonzero(filled[level].any(axis=0) & ~seen)
        seen[columns] = True
        level = np.flatnonzero(filled[:, columns].any(axis=1) & new)
    return levels, np.flatnonzero(seen)


def _blocks_of(A: Array) -> list[Array]:
    """Rows in blocks, each of which shares columns with the blocks beside it alone; rows of zeros are left out."""
    filled = A != 0.0
    blocks: list[Array] = []
    together: list[Array] = []
    for levels, _ in _walk_levels(filled):
        if len(levels) > 1:  # from one end to the other the levels are smaller
            levels, _ = _levels_from(filled, filled.any(axis=1), int(levels[-1][0]))
        for level in levels:
            together.append(level)
            if sum(map(len, together)) >= SMALL_BLOCK:
                blocks.append(np.concatenate(together))
                together = []
    return [*blocks, np.concatenate(together)] if together else blocks


class RowFactor:
    """A A' = L L' of rows without zeros, in blocks; ``shift`` is added to the diagonal.

    Raises LinAlgError where the rows are not independent.
    """

    def __init__(self, A: Array, blocks: list[Array], shift: float = 0.0) -> None:
        self.A, self._blocks, self._shift = A, blocks, shift
        self._inverses: list[Array] = []  # of the diagonal blocks of L
        self._couplings: list[Array] = []  # the blocks of L left of these
        self.scale = np.ones(len(A))  # what the rows were multiplied by
        self.most = 0.0  # a bound of the largest eigenvalue
        last: tuple[Array, Array] | None = None
        beside = np.zeros(0)
        for k, rows in enumerate(blocks):
            here = A[rows]
            columns = np.flatnonzero(here.any(axis=0))
            N = here[:, columns] @ here[:, columns].T
            sums = abs(N).sum(axis=1)
            coupling = np.zeros((len(rows), 0))
            if last is not None:
                before = here[:, last[1]] @ last[0].T
                coupling = before @ self._inverses[-1].T
                sums, beside = sums + abs(before).sum(axis=1), beside + abs(before).sum(axis=0)
                N = N - coupling @ coupling.T
            self.most = max(self.most, float(beside.max(initial=0.0)))
            beside = sums
            self._couplings.append(coupling)
            self._inverses.append(np.linalg.inv(np.linalg.cholesky(N + shift * np.eye(len(rows)) if shift else N)))
            last = here[:, columns], columns
            if k == len(blocks) - 1:
                self.most = max(self.most, float(beside.max(initial=0.0)))

    @property
    def rows(self) -> list[int]:
        """The rows, in their order; others are zero but for rounding errors."""
        return sorted(int(row) for rows in self._blocks for row in rows)

    @property
    def rank(self) -> int:
        """The number of rows."""
        return sum(map(len, self._blocks))

    @property
    def top(self) -> float:
        """A bound of the largest singular value of the rows."""
        return float(np.sqrt(self.most))

    def exceeds(self, share: float) -> bool:
        """Whether all singular values of the rows are above a share of the bound of the largest one."""
        try:
            RowFactor(self.A, self._blocks, -((share * self.top) ** 2))
        except np.linalg.LinAlgError:
            return False
        return True

    def damped(self, damping: float) -> RowFactor:
        """The same with the square of a damping added to A A'."""
        factor = RowFactor(self.A, self._blocks, damping**2)
        factor.scale = self.scale
        return factor

    def solve(self, r: Array) -> Array:
        """x with A A' x = r; zero for rows that are left out."""
        y: list[Array] = []
        for k, (rows, inverse) in enumerate(zip(self._blocks, self._inverses, strict=True)):
            y.append(inverse @ (r[rows] - self._couplings[k] @ y[-1] if k else r[rows]))
        x = np.zeros_like(r)
        for k in reversed(range(len(self._blocks))):
            right = y[k]
            if k + 1 < len(self._blocks):
                right = right - self._couplings[k + 1].T @ x[self._blocks[k + 1]]
            x[self._blocks[k]] = self._inverses[k].T @ right
        return x

    def step(self, r: Array) -> Array:
        """The least s with A s = r, or that of the damped equations."""
        r = r * self.scale
        x = self.solve(r)
        x = x + self.solve(r - self.A @ (self.A.T @ x) - self._shift * x)
        s: Array = self.A.T @ x
        return s

    def project(self, v: Array) -> Array:
        """The part of vectors that the rows do not see."""
        for _ in range(2):
            v = v - self.A.T @ self.solve(self.A @ v)
        return v

    def null_space(self) -> Array:
        """An orthonormal basis of the vectors that the rows do not see, one in each column."""
        n = self.A.shape[1]
        basis: Array = np.random.default_rng(0).normal(size=(n, n - self.rank))
        for _ in range(2):  # what the first basis has of the rows is its condition times the rounding errors
            basis = np.linalg.qr(self.project(basis))[0]
        return basis


def factorize_rows(A: Array, scaled: bool = False) -> RowFactor | None:
    """The factor of rows that are clearly independent, but for rows of zeros; None where that is not sure.

    If ``scaled``, rows are divided by their lengths, unless these are of very different size.
    """
    sizes = np.sqrt(np.einsum("ij,ij->i", A, A))
    largest = sizes.max(initial=0.0)
    counts = sizes > NOISE * largest
    scale = np.where(counts, 1.0, 0.0)
    if scaled and (sizes[counts] > ALIKE * largest).all():
        scale[counts] = 1.0 / sizes[counts]
    rows = A if (scale[sizes > 0.0] == 1.0).all() else A * scale[:, None]
    blocks = _blocks_of(rows)
    if sum(map(len, blocks)) > A.shape[1]:
        return None
    try:
        factor = RowFactor(rows, blocks)
    except np.linalg.LinAlgError:
        return None
    factor.scale = scale
    return factor if np.isfinite(factor.most) and factor.exceeds(SURE) else None
