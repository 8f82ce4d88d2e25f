"""Rank and null vectors of a matrix at sample values.

``smallness`` measures how close a matrix is to singular, independent of units: rows and columns are scaled first
[Curtis, Reid 1972].  ``null_vectors`` gives the linear combinations of rows that vanish.  Both work on plain numbers; a
rank at sample values holds for almost all values, and not for the exceptional ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinode.algebra.scalars import Array

LARGEST_DENSE = 40  # rows; a larger matrix is treated as sparse
SCALING_ITERATIONS = 100  # of least squares: more would change the scales little
NEGLIGIBLE = 1e-9  # of the largest entry or singular value of a null vector: smaller ones are rounding
SINGULAR = 1e-10  # of the largest singular value or pivot of a scaled matrix: below, the matrix counts as singular


def smallness(entries: Sequence[tuple[int, int, float]], size: int) -> float:
    """Smallest over largest singular value (pivot, if the matrix is large) of a square matrix scaled to entries near 1.

    ``entries`` are (row, column, value).  0 means singular; compare with ``SINGULAR``.
    """
    a, b, x = split_entries(entries)
    if len(set(a[x != 0])) < size or len(set(b[x != 0])) < size:
        return 0.0  # there is a row or a column of zeros
    if size == 1:
        return 1.0
    r, c = find_scales(a, b, x, size)
    x = x * r[a] * c[b]
    if size <= LARGEST_DENSE:
        A = np.zeros((size, size))
        A[a, b] = x
        values = np.linalg.svd(A, compute_uv=False)
        return float(values[-1] / values[0])
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    try:
        pivots = np.abs(splu(csc_array((x, (a, b)), shape=(size, size))).U.diagonal())
    except RuntimeError:
        return 0.0
    return float(pivots.min() / pivots.max())


def split_entries(entries: Sequence[tuple[int, int, float]]) -> tuple[Array, Array, Array]:
    """Arrays of the rows, columns and values of (row, column, value)."""
    a, b = (np.array([entry[k] for entry in entries], dtype=int) for k in (0, 1))
    return a, b, np.array([entry[2] for entry in entries], dtype=float)


def find_scales(a: Array, b: Array, x: Array, size: int) -> tuple[Array, Array]:
    """Factors of rows and columns that bring the entries as near to 1 as possible, whatever their units (pF, GOhm).

    Least squares of the logarithms [A. R. Curtis, J. K. Reid, "On the automatic scaling of matrices for Gaussian
    elimination", IMA J. Appl. Math. 10 (1972) 118-124].
    """
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import lsqr

    a, b, logs = a[x != 0], b[x != 0], np.log(np.abs(x[x != 0]))
    if not logs.any():
        return np.ones(size), np.ones(size)
    n = len(logs)
    unknowns = np.concatenate([a, size + b])
    sums = csr_array((np.ones(2 * n), (np.tile(np.arange(n), 2), unknowns)), shape=(n, 2 * size))
    scales = np.exp(-lsqr(sums, logs, atol=1e-6, btol=1e-6, iter_lim=SCALING_ITERATIONS)[0])
    return scales[:size], scales[size:]


def null_vectors(A: Array) -> tuple[list[Array], Array]:
    """Linear combinations of the rows of A that vanish, and a basis (columns) of the null space of A.

    The combinations are brought to reduced echelon form, so that each contains few rows.
    """
    a, b = np.nonzero(A)
    r, c = find_scales(a, b, A[a, b], len(A))
    U, s, Vt = np.linalg.svd(A * r[:, None] * c)
    rank = min(int(np.sum(s > NEGLIGIBLE * s.max(initial=1e-300))), len(s) - 1)
    combinations = []
    for vector in _echelon(U[:, rank:].T):
        rows = np.where(np.abs(vector) > NEGLIGIBLE, vector, 0.0) * r
        rows = rows / rows[np.flatnonzero(rows)[0]]
        combinations.append(np.where(np.abs(rows - np.round(rows)) < NEGLIGIBLE * np.abs(rows), np.round(rows), rows))
    return combinations, Vt[rank:].T


def _echelon(rows: Array) -> list[Array]:
    """The reduced row echelon form: rows with the same span."""
    R = rows.copy()
    pivot_row = 0
    for column in range(R.shape[1]):
        if pivot_row == len(R):
            break
        best = pivot_row + int(np.argmax(np.abs(R[pivot_row:, column])))
        if abs(R[best, column]) < NEGLIGIBLE * np.abs(rows).max():
            continue
        R[[pivot_row, best]] = R[[best, pivot_row]]
        R[pivot_row] /= R[pivot_row, column]
        for other in range(len(R)):
            if other != pivot_row:
                R[other] -= R[other, column] * R[pivot_row]
        pivot_row += 1
    return list(R[:pivot_row])
