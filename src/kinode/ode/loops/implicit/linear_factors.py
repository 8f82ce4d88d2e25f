"""Dense linear equations of real and complex numbers: factors with partial pivoting, and solutions with them.

Matrices are stored column by column, so that the inner loops go along memory. Of a factored matrix the diagonal holds
the inverse pivots: divisions take longer than all else in a solution with a small matrix.
"""

from __future__ import annotations

from kinode.jit.pointers import Floats, Ints, tail


def factor_real(a: Floats, pivots: Ints, first: int, n: int) -> bool:
    """Factor a matrix in place, its row exchanges in ``pivots`` from ``first`` on; False if it is singular."""
    for k in range(n):
        column = tail(a, k * n)
        best, largest = k, abs(column[k])
        for i in range(k + 1, n):
            if abs(column[i]) > largest:
                best, largest = i, abs(column[i])
        pivots[first + k] = best
        if not largest > 0.0:
            return False
        if best != k:
            for j in range(n):
                a[j * n + k], a[j * n + best] = a[j * n + best], a[j * n + k]
        inverse = 1.0 / column[k]
        column[k] = inverse
        for i in range(k + 1, n):
            column[i] *= inverse
        for j in range(k + 1, n):
            other = tail(a, j * n)
            factor = other[k]
            if factor != 0.0:
                for i in range(k + 1, n):
                    other[i] -= factor * column[i]
    return True


def solve_real(a: Floats, pivots: Ints, first: int, n: int, b: Floats) -> None:
    """Solve with a factored matrix; b becomes the solution."""
    for k in range(n):
        best = pivots[first + k]
        b[k], b[best] = b[best], b[k]
    for k in range(n):
        factor, column = b[k], tail(a, k * n)
        if factor != 0.0:
            for i in range(k + 1, n):
                b[i] -= factor * column[i]
    for k in range(n - 1, -1, -1):
        column = tail(a, k * n)
        factor = b[k] * column[k]
        b[k] = factor
        for i in range(k):
            b[i] -= factor * column[i]


def factor_complex(a: Floats, c: Floats, pivots: Ints, first: int, n: int) -> bool:
    """Factor the matrix a + i c in place, as `factor_real` does."""
    for k in range(n):
        re, im = tail(a, k * n), tail(c, k * n)
        best, largest = k, abs(re[k]) + abs(im[k])
        for i in range(k + 1, n):
            size = abs(re[i]) + abs(im[i])
            if size > largest:
                best, largest = i, size
        pivots[first + k] = best
        if not largest > 0.0:
            return False
        if best != k:
            for j in range(n):
                a[j * n + k], a[j * n + best] = a[j * n + best], a[j * n + k]
                c[j * n + k], c[j * n + best] = c[j * n + best], c[j * n + k]
        square = re[k] * re[k] + im[k] * im[k]
        x, y = re[k] / square, -im[k] / square
        re[k], im[k] = x, y
        for i in range(k + 1, n):
            re[i], im[i] = re[i] * x - im[i] * y, re[i] * y + im[i] * x
        for j in range(k + 1, n):
            other_re, other_im = tail(a, j * n), tail(c, j * n)
            x, y = other_re[k], other_im[k]
            if x != 0.0 or y != 0.0:
                for i in range(k + 1, n):
                    other_re[i] -= x * re[i] - y * im[i]
                    other_im[i] -= x * im[i] + y * re[i]
    return True


def solve_complex(a: Floats, c: Floats, pivots: Ints, first: int, n: int, b: Floats, d: Floats) -> None:
    """Solve with the factored matrix a + i c; b + i d becomes the solution."""
    for k in range(n):
        best = pivots[first + k]
        b[k], b[best] = b[best], b[k]
        d[k], d[best] = d[best], d[k]
    for k in range(n):
        x, y, re, im = b[k], d[k], tail(a, k * n), tail(c, k * n)
        for i in range(k + 1, n):
            b[i] -= x * re[i] - y * im[i]
            d[i] -= x * im[i] + y * re[i]
    for k in range(n - 1, -1, -1):
        re, im = tail(a, k * n), tail(c, k * n)
        x, y = b[k] * re[k] - d[k] * im[k], b[k] * im[k] + d[k] * re[k]
        b[k], d[k] = x, y
        for i in range(k):
            b[i] -= x * re[i] - y * im[i]
            d[i] -= x * im[i] + y * re[i]
