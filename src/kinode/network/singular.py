"""Whether rows depend on each other at a sample of numbers, and by which combinations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinode.algebra.scalars import Array

DENSE = 40  # rows of a block that are looked at as a dense matrix
SMALL = 1e-10  # of entries scaled to 1: what is left of rows that depend on each other


def smallness(entries: Sequence[tuple[int, int, float]], size: int) -> float:
    """How near a block of the sample is to singular: its smallest pivot, rows and columns scaled to 1."""
    if size == 1:
        return abs(entries[0][2]) if entries else 0.0
    if size <= DENSE:
        return _least_value(entries, size)
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    a, b, x = (np.array(column) for column in zip(*entries, strict=True))
    A = csc_array((x, (a, b)), shape=(size, size))
    for _ in range(3):
        for axis in (1, 0):
            top = np.asarray(abs(A).max(axis=axis).todense()).ravel()
            if not top.all():
                return 0.0
            A = csc_array(A.multiply((1 / np.sqrt(top))[:, None] if axis else (1 / np.sqrt(top))[None, :]))
    try:
        pivots = np.abs(splu(A).U.diagonal())
    except RuntimeError:
        return 0.0
    return float(pivots.min() / pivots.max())


def _least_value(entries: Sequence[tuple[int, int, float]], size: int) -> float:
    """The same for small blocks: the smallest singular value, of the largest."""
    A = np.zeros((size, size))
    for a, b, x in entries:
        A[a, b] = x
    for _ in range(3):
        for axis in (1, 0):
            top = np.abs(A).max(axis=axis, keepdims=True)
            if not top.all():
                return 0.0
            A = A / np.sqrt(top)
    values = np.linalg.svd(A, compute_uv=False)
    return float(values[-1] / values[0])


def null_vectors(A: Array) -> tuple[list[Array], Array]:
    """Combinations of rows that vanish, with as few members as elimination gives, and what they leave open."""
    top = np.abs(A).max(axis=1, keepdims=True)
    scale = np.where(top > 0, top, 1.0)
    U, s, Vt = np.linalg.svd(A / scale)
    rank = min(int(np.sum(s > 1e-9 * s.max(initial=1e-300))), len(s) - 1)
    left = _echelon((U[:, rank:] / scale).T)
    return left, Vt[rank:].T


def _echelon(rows: Array) -> list[Array]:
    """Reduced rows of the same span."""
    R = rows.copy()
    pivot_row = 0
    for column in range(R.shape[1]):
        if pivot_row == len(R):
            break
        best = pivot_row + int(np.argmax(np.abs(R[pivot_row:, column])))
        if abs(R[best, column]) < 1e-9 * np.abs(rows).max():
            continue
        R[[pivot_row, best]] = R[[best, pivot_row]]
        R[pivot_row] /= R[pivot_row, column]
        for other in range(len(R)):
            if other != pivot_row:
                R[other] -= R[other, column] * R[pivot_row]
        pivot_row += 1
    return [np.where(np.abs(row - np.round(row)) < 1e-9, np.round(row), row) for row in R[:pivot_row]]
