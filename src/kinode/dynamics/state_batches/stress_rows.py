"""Rows of matrices in the compiled uniqueness analysis (stress_loop.py): sums, products, rotations."""

from __future__ import annotations

from kinode.jit.pointers import Floats, tail


def add_row(n: int, factor: float, row: Floats, out: Floats) -> None:
    """Add a multiple of a row: out += factor * row."""
    for i in range(n):
        out[i] = out[i] + factor * row[i]


def clear_row(n: int, out: Floats) -> None:
    for i in range(n):
        out[i] = 0.0


def dot_rows(n: int, a: Floats, b: Floats) -> float:
    """Scalar product, in four sums that do not wait for each other."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    whole = n - (n & 3)
    for i in range(0, whole, 4):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
    for i in range(whole, n):
        s0 += a[i] * b[i]
    return (s0 + s1) + (s2 + s3)


def add_moments(m: int, width: int, factor: float, arm: Floats, load: Floats, out: Floats) -> None:
    """Add the moments of forces with an arm: out.moment += factor * arm x load.force; rows are ``m`` apart."""
    fx, fy, fz = tail(load, 3 * m), tail(load, 4 * m), tail(load, 5 * m)
    x, y, z = factor * arm[0], factor * arm[1], factor * arm[2]
    mx, my, mz = out, tail(out, m), tail(out, 2 * m)
    i = 0
    while i < width:  # rows are short
        mx[i] = mx[i] + y * fz[i] - z * fy[i]
        my[i] = my[i] + z * fx[i] - x * fz[i]
        mz[i] = mz[i] + x * fy[i] - y * fx[i]
        i += 1


def turn_rows(m: int, width: int, R: Floats, across: int, down: int, load: Floats, out: Floats) -> None:
    """Three rows turned by a matrix: out = R load; R[across * j + down * i] is its entry in row i, column j."""
    x, y, z = load, tail(load, m), tail(load, 2 * m)
    u, v, w = out, tail(out, m), tail(out, 2 * m)
    a, b, c = R[0], R[across], R[2 * across]
    d, e, f = R[down], R[across + down], R[2 * across + down]
    g, h, k = R[2 * down], R[across + 2 * down], R[2 * across + 2 * down]
    i = 0
    while i < width:  # rows are short
        u[i] = a * x[i] + b * y[i] + c * z[i]
        v[i] = d * x[i] + e * y[i] + f * z[i]
        w[i] = g * x[i] + h * y[i] + k * z[i]
        i += 1
