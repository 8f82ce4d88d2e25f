"""Factors of all matrices of a step at once, and solutions with them: for blocks of few unknowns.

Each entry has eight numbers, real parts of four matrices and their imaginary parts (stage_places.py); the first matrix
is real, the fourth fills up the vector. A loop over the columns of one small matrix is mostly remainders of vectors;
here each operation is a whole one, on all matrices. They have one order of rows. A pivot is the entry whose smallest
size, over the matrices, is the largest. The diagonal holds the inverse pivots.
"""

from __future__ import annotations

from kinode.jit.pointers import Floats, Ints, apart, tail
from kinode.ode.loops.implicit.stage_places import HALF, WIDTH


def _find_pivot(column: Floats, k: int, n: int, sizes: Floats) -> int:
    """The row of the pivot in a column, from row k on; -1 if all are zero in a matrix."""
    best, largest = -1, 0.0
    for i in range(k, n):
        re, im = tail(column, WIDTH * i), tail(column, WIDTH * i + HALF)
        for m in apart(4):
            sizes[m] = abs(re[m]) + abs(im[m])
        size = min(min(sizes[0], sizes[1]), sizes[2])
        if size > largest:
            best, largest = i, size
    return best


def _exchange(a: Floats, k: int, best: int, n: int) -> None:
    """Exchange two rows."""
    for j in range(n):
        one, other = tail(a, WIDTH * (j * n + k)), tail(a, WIDTH * (j * n + best))
        for m in apart(8):
            one[m], other[m] = other[m], one[m]


def factor_jointly(a: Floats, pivots: Ints, first: int, n: int, scratch: Floats) -> bool:
    """Factor matrices in place, their row exchanges in ``pivots`` from ``first`` on; False if one is singular."""
    x, y = scratch, tail(scratch, HALF)
    for k in range(n):
        column = tail(a, WIDTH * k * n)
        best = _find_pivot(column, k, n, scratch)
        if best < 0:
            return False
        pivots[first + k] = best
        if best != k:
            _exchange(a, k, best, n)
        re, im = tail(column, WIDTH * k), tail(column, WIDTH * k + HALF)
        for m in apart(4):
            x[m] = re[m] / (re[m] * re[m] + im[m] * im[m])
            y[m] = -im[m] / (re[m] * re[m] + im[m] * im[m])
            re[m], im[m] = x[m], y[m]
        for i in range(k + 1, n):
            p, q = tail(column, WIDTH * i), tail(column, WIDTH * i + HALF)
            for m in apart(4):
                p[m], q[m] = p[m] * x[m] - q[m] * y[m], p[m] * y[m] + q[m] * x[m]
        for j in range(k + 1, n):
            other = tail(a, WIDTH * j * n)
            r, s = tail(other, WIDTH * k), tail(other, WIDTH * k + HALF)
            for i in range(k + 1, n):
                p, q = tail(column, WIDTH * i), tail(column, WIDTH * i + HALF)
                v, w = tail(other, WIDTH * i), tail(other, WIDTH * i + HALF)
                for m in apart(4):
                    v[m] -= r[m] * p[m] - s[m] * q[m]
                    w[m] -= r[m] * q[m] + s[m] * p[m]
    return True


def solve_jointly(a: Floats, pivots: Ints, first: int, n: int, b: Floats) -> None:
    """Solve with factored matrices; b, eight numbers for each unknown, becomes the solution."""
    for k in range(n):
        best = pivots[first + k]
        if best != k:
            one, other = tail(b, WIDTH * k), tail(b, WIDTH * best)
            for m in apart(8):
                one[m], other[m] = other[m], one[m]
    for k in range(n):
        column, r, s = tail(a, WIDTH * k * n), tail(b, WIDTH * k), tail(b, WIDTH * k + HALF)
        for i in range(k + 1, n):
            p, q = tail(column, WIDTH * i), tail(column, WIDTH * i + HALF)
            v, w = tail(b, WIDTH * i), tail(b, WIDTH * i + HALF)
            for m in apart(4):
                v[m] -= r[m] * p[m] - s[m] * q[m]
                w[m] -= r[m] * q[m] + s[m] * p[m]
    for k in range(n - 1, -1, -1):
        column, r, s = tail(a, WIDTH * k * n), tail(b, WIDTH * k), tail(b, WIDTH * k + HALF)
        re, im = tail(column, WIDTH * k), tail(column, WIDTH * k + HALF)
        for m in apart(4):
            r[m], s[m] = r[m] * re[m] - s[m] * im[m], r[m] * im[m] + s[m] * re[m]
        for i in range(k):
            p, q = tail(column, WIDTH * i), tail(column, WIDTH * i + HALF)
            v, w = tail(b, WIDTH * i), tail(b, WIDTH * i + HALF)
            for m in apart(4):
                v[m] -= r[m] * p[m] - s[m] * q[m]
                w[m] -= r[m] * q[m] + s[m] * p[m]


def solve_first(a: Floats, pivots: Ints, first: int, n: int, b: Floats) -> None:
    """Solve with the real matrix alone; b, one number for each unknown, becomes the solution."""
    for k in range(n):
        best = pivots[first + k]
        b[k], b[best] = b[best], b[k]
    for k in range(n):
        column, x = tail(a, WIDTH * k * n), b[k]
        for i in range(k + 1, n):
            b[i] -= x * column[WIDTH * i]
    for k in range(n - 1, -1, -1):
        column = tail(a, WIDTH * k * n)
        x = b[k] * column[WIDTH * k]
        b[k] = x
        for i in range(k):
            b[i] -= x * column[WIDTH * i]
