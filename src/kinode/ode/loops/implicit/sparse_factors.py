"""Sparse linear equations of real and complex numbers: L D U on the pattern that sparse_structure.py lays out.

There are no row exchanges. What they would prevent, entries that grow far beyond those of their row, is watched for; a
block in which it happens gets full factors. A factor is stored as the inverse pivots, then the columns of L, then the
rows of U. Columns are computed one after the other (T. A. Davis, Direct Methods for Sparse Linear Systems, SIAM 2006,
chapter 6).

The matrix is direct * a + through * b, and a number on the diagonal; a and b are full, column by column.
"""

from __future__ import annotations

from kinode.jit.pointers import Floats, tail
from kinode.ode.loops.run_memory import RunMemory

MOST_GROWTH = 1e5  # of an entry, as a multiple of the largest of its row: beyond, digits are lost


def _spread_column(
    run: RunMemory, k: int, j: int, direct: float, through: float, diagonal: float, x: Floats, sizes: Floats
) -> None:
    """Column j of the matrix, by rank; and the largest entry of each row so far, its own pattern only."""
    newton, first = run.newton, run.newton.block_starts[k]
    size, at = newton.block_starts[k + 1] - first, newton.block_entries[k]
    order, column = newton.order, newton.order[first + j] * size
    a, b = tail(newton.direct, at + column), tail(newton.through, at + column)
    for e in range(newton.across_starts[first + j], newton.across_starts[first + j + 1]):
        i = newton.across_columns[e]
        x[i] = direct * a[order[first + i]] + through * b[order[first + i]]
        sizes[i] = max(sizes[i], abs(x[i]))
    x[j] = direct * a[order[first + j]] + through * b[order[first + j]] + diagonal
    sizes[j] = max(sizes[j], abs(x[j]))
    for e in range(newton.fill_starts[first + j], newton.fill_starts[first + j + 1]):
        i = newton.fill_rows[e]
        x[i] = direct * a[order[first + i]] + through * b[order[first + i]]
        sizes[i] = max(sizes[i], abs(x[i]))


def find_row_sizes(run: RunMemory, k: int, direct: float, through: float, diagonal: float) -> None:
    """The largest entry of each row of a block, by rank."""
    newton, x, sizes = run.newton, run.newton.x, tail(run.newton.x, 2 * run.model.n_continuous)
    size = newton.block_starts[k + 1] - newton.block_starts[k]
    for i in range(size):
        sizes[i] = 0.0
    for j in range(size):
        _spread_column(run, k, j, direct, through, diagonal, x, sizes)


def factor_sparse_real(run: RunMemory, k: int, f: Floats, direct: float, through: float, diagonal: float) -> bool:
    """Factor a block; False if an entry grows too much. ``find_row_sizes`` comes before."""
    newton, first, x = run.newton, run.newton.block_starts[k], run.newton.x
    size, begin = newton.block_starts[k + 1] - first, newton.fill_starts[first]
    sizes, rows = tail(x, 2 * run.model.n_continuous), newton.fill_rows
    lower, upper = tail(f, size), tail(f, size + newton.fill_starts[first + size] - begin)
    for j in range(size):
        _spread_column(run, k, j, direct, through, diagonal, x, sizes)
        for c in range(newton.across_starts[first + j], newton.across_starts[first + j + 1]):
            i = newton.across_columns[c]
            factor = x[i]
            upper[newton.across_entries[c]] = factor
            if not abs(factor) <= MOST_GROWTH * sizes[i]:
                return False
            for e in range(newton.fill_starts[first + i], newton.fill_starts[first + i + 1]):
                x[rows[e]] -= lower[e - begin] * factor
        if not abs(x[j]) <= MOST_GROWTH * sizes[j] or not abs(x[j]) * MOST_GROWTH > sizes[j]:
            return False
        inverse = 1.0 / x[j]
        f[j] = inverse
        for e in range(newton.fill_starts[first + j], newton.fill_starts[first + j + 1]):
            lower[e - begin] = x[rows[e]] * inverse
    return True


def solve_sparse_real(run: RunMemory, k: int, f: Floats, b: Floats) -> None:
    """Solve with a factored block; b, by rank, becomes the solution."""
    newton, first, rows = run.newton, run.newton.block_starts[k], run.newton.fill_rows
    size, begin = newton.block_starts[k + 1] - first, newton.fill_starts[first]
    lower, upper = tail(f, size), tail(f, size + newton.fill_starts[first + size] - begin)
    for j in range(size):
        factor = b[j]
        for e in range(newton.fill_starts[first + j], newton.fill_starts[first + j + 1]):
            b[rows[e]] -= lower[e - begin] * factor
    for j in range(size - 1, -1, -1):
        total = b[j]
        for e in range(newton.fill_starts[first + j], newton.fill_starts[first + j + 1]):
            total -= upper[e - begin] * b[rows[e]]
        b[j] = total * f[j]


def factor_sparse_complex(
    run: RunMemory, k: int, f: Floats, g: Floats, direct: float, through: float, diagonal: float, turned: float,
    shift: float,
) -> bool:  # fmt: skip
    """Factor a block that has turned * b, and a number on the diagonal, as its imaginary part; f + i g its factor."""
    newton, first, n = run.newton, run.newton.block_starts[k], run.model.n_continuous
    size, begin, rows = newton.block_starts[k + 1] - first, newton.fill_starts[first], newton.fill_rows
    x, y, sizes, count = newton.x, tail(newton.x, n), tail(newton.x, 2 * n), newton.fill_starts[first + size] - begin
    lower, upper, lower_im, upper_im = tail(f, size), tail(f, size + count), tail(g, size), tail(g, size + count)
    for j in range(size):
        _spread_column(run, k, j, direct, through, diagonal, x, sizes)
        _spread_column(run, k, j, 0.0, turned, shift, y, sizes)
        for c in range(newton.across_starts[first + j], newton.across_starts[first + j + 1]):
            i, at = newton.across_columns[c], newton.across_entries[c]
            re, im = x[i], y[i]
            upper[at], upper_im[at] = re, im
            if not abs(re) + abs(im) <= MOST_GROWTH * sizes[i]:
                return False
            for e in range(newton.fill_starts[first + i], newton.fill_starts[first + i + 1]):
                x[rows[e]] -= lower[e - begin] * re - lower_im[e - begin] * im
                y[rows[e]] -= lower[e - begin] * im + lower_im[e - begin] * re
        largest = abs(x[j]) + abs(y[j])
        if not largest <= MOST_GROWTH * sizes[j] or not largest * MOST_GROWTH > sizes[j]:
            return False
        square = x[j] * x[j] + y[j] * y[j]
        re, im = x[j] / square, -y[j] / square
        f[j], g[j] = re, im
        for e in range(newton.fill_starts[first + j], newton.fill_starts[first + j + 1]):
            i = rows[e]
            lower[e - begin] = x[i] * re - y[i] * im
            lower_im[e - begin] = x[i] * im + y[i] * re
    return True


def solve_sparse_complex(run: RunMemory, k: int, f: Floats, g: Floats, b: Floats, d: Floats) -> None:
    """Solve with a factored block f + i g; b + i d, by rank, becomes the solution."""
    newton, first, rows = run.newton, run.newton.block_starts[k], run.newton.fill_rows
    size, begin = newton.block_starts[k + 1] - first, newton.fill_starts[first]
    count = newton.fill_starts[first + size] - begin
    lower, upper, lower_im, upper_im = tail(f, size), tail(f, size + count), tail(g, size), tail(g, size + count)
    for j in range(size):
        re, im = b[j], d[j]
        for e in range(newton.fill_starts[first + j], newton.fill_starts[first + j + 1]):
            b[rows[e]] -= lower[e - begin] * re - lower_im[e - begin] * im
            d[rows[e]] -= lower[e - begin] * im + lower_im[e - begin] * re
    for j in range(size - 1, -1, -1):
        re, im = b[j], d[j]
        for e in range(newton.fill_starts[first + j], newton.fill_starts[first + j + 1]):
            x, y = b[rows[e]], d[rows[e]]
            re -= upper[e - begin] * x - upper_im[e - begin] * y
            im -= upper[e - begin] * y + upper_im[e - begin] * x
        b[j], d[j] = re * f[j] - im * g[j], re * g[j] + im * f[j]
