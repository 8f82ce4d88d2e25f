"""Dense linear equations of real and complex numbers: factors with partial pivoting, and solutions with them.

Matrices are stored column by column, so that the inner loops go along memory. Of a factored matrix the diagonal holds
the inverse pivots: divisions take longer than all else in a solution with a small matrix. A solution goes through two
columns at a time, for half the memory traffic.
"""

from __future__ import annotations

from kinode.jit.pointers import Floats, Ints, apart, tail


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
        for i in apart(k + 1, n):
            column[i] *= inverse
        for j in range(k + 1, n):
            other = tail(a, j * n)
            factor = other[k]
            if factor != 0.0:
                for i in apart(k + 1, n):
                    other[i] -= factor * column[i]
    return True


def solve_real(a: Floats, pivots: Ints, first: int, n: int, b: Floats) -> None:
    """Solve with a factored matrix; b becomes the solution."""
    for k in range(n):
        best = pivots[first + k]
        b[k], b[best] = b[best], b[k]
    for k in range(0, n - 1, 2):
        column, following = tail(a, k * n), tail(a, (k + 1) * n)
        x = b[k]
        z = b[k + 1] - x * column[k + 1]
        b[k + 1] = z
        for i in apart(k + 2, n):
            b[i] -= x * column[i] + z * following[i]
    k = n - 1
    while k > 0:
        column, following = tail(a, k * n), tail(a, (k - 1) * n)
        x = b[k] * column[k]
        z = (b[k - 1] - x * column[k - 1]) * following[k - 1]
        b[k], b[k - 1] = x, z
        k -= 2
        for i in apart(k + 1):
            b[i] -= x * column[i] + z * following[i]
    if k == 0:
        b[0] *= a[0]


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
        for i in apart(k + 1, n):
            re[i], im[i] = re[i] * x - im[i] * y, re[i] * y + im[i] * x
        for j in range(k + 1, n):
            other_re, other_im = tail(a, j * n), tail(c, j * n)
            x, y = other_re[k], other_im[k]
            if x != 0.0 or y != 0.0:
                for i in apart(k + 1, n):
                    other_re[i] -= x * re[i] - y * im[i]
                    other_im[i] -= x * im[i] + y * re[i]
    return True


def solve_complex(a: Floats, c: Floats, pivots: Ints, first: int, n: int, b: Floats, d: Floats) -> None:
    """Solve with the factored matrix a + i c; b + i d becomes the solution."""
    for k in range(n):
        best = pivots[first + k]
        b[k], b[best] = b[best], b[k]
        d[k], d[best] = d[best], d[k]
    for k in range(0, n - 1, 2):
        re, im, next_re, next_im = tail(a, k * n), tail(c, k * n), tail(a, (k + 1) * n), tail(c, (k + 1) * n)
        x, y = b[k], d[k]
        z = b[k + 1] - (x * re[k + 1] - y * im[k + 1])
        w = d[k + 1] - (x * im[k + 1] + y * re[k + 1])
        b[k + 1], d[k + 1] = z, w
        for i in apart(k + 2, n):
            b[i] -= (x * re[i] - y * im[i]) + (z * next_re[i] - w * next_im[i])
            d[i] -= (x * im[i] + y * re[i]) + (z * next_im[i] + w * next_re[i])
    k = n - 1
    while k > 0:
        re, im, next_re, next_im = tail(a, k * n), tail(c, k * n), tail(a, (k - 1) * n), tail(c, (k - 1) * n)
        x, y = b[k] * re[k] - d[k] * im[k], b[k] * im[k] + d[k] * re[k]
        p = b[k - 1] - (x * re[k - 1] - y * im[k - 1])
        q = d[k - 1] - (x * im[k - 1] + y * re[k - 1])
        z, w = p * next_re[k - 1] - q * next_im[k - 1], p * next_im[k - 1] + q * next_re[k - 1]
        b[k], d[k], b[k - 1], d[k - 1] = x, y, z, w
        k -= 2
        for i in apart(k + 1):
            b[i] -= (x * re[i] - y * im[i]) + (z * next_re[i] - w * next_im[i])
            d[i] -= (x * im[i] + y * re[i]) + (z * next_im[i] + w * next_re[i])
    if k == 0:
        b[0], d[0] = b[0] * a[0] - d[0] * c[0], b[0] * c[0] + d[0] * a[0]
