"""The linear equations (c - h J) x = b of an implicit step, for one real and several complex numbers c.

The states that jacobian_structure.py eliminates have x_i = (b_i + h sum_j J_ij x_j) / c. With them the others satisfy
(c - h J - h^2 / c J_through) x = b + h / c J b_eliminated, block by block, where J_through is the product of the
columns and rows of the eliminated states. A block has full factors, or sparse ones where it has few entries.

Full factors, of real and complex numbers, have partial pivoting. Matrices are stored column by column, so that the
inner loops go along memory; the diagonal of a factored one holds the inverse pivots. A solution goes through two
columns at a time, for half the memory traffic. Sparse factors L D U stand on the pattern of jacobian_structure.py,
without row exchanges. What these would prevent, entries that grow far beyond those of their row, is watched for; a
block in which it happens gets full factors. They are stored as the inverse pivots, then the columns of L, then the rows
of U (T. A. Davis, Direct Methods for Sparse Linear Systems, SIAM 2006, chapter 6). The matrix of a block is
direct * a + through * b, and a number on the diagonal; a and b are full, column by column.
"""

from __future__ import annotations

from kinode.jit.loop.memory import Floats, Ints, apart, tail
from kinode.ode.loops.run_memory import RunMemory


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


def gather_blocks(run: RunMemory) -> None:
    """The entries of the blocks, from a new Jacobian: direct ones, and those through eliminated states."""
    newton, n, kept, jacobian = run.newton, run.model.n_continuous, run.newton.kept, run.newton.jacobian
    direct, through, place, block_of = newton.direct, newton.through, newton.place, newton.block_of
    for i in range(newton.n_entries):
        through[i] = 0.0
    for k in range(newton.n_blocks):
        first, size = newton.block_starts[k], newton.block_starts[k + 1] - newton.block_starts[k]
        for j in range(size):
            column = tail(direct, newton.block_entries[k] + j * size)
            source = tail(jacobian, kept[first + j] * n)
            for i in range(size):
                column[i] = source[kept[first + i]]
    for e in range(newton.n_eliminated):
        i = newton.eliminated[e]
        source = tail(jacobian, i * n)
        for entry in range(newton.row_starts[e], newton.row_starts[e + 1]):
            j = newton.row_columns[entry]
            factor, at = jacobian[j * n + i], place[j]
            k = block_of[at]
            first, size = newton.block_starts[k], newton.block_starts[k + 1] - newton.block_starts[k]
            column = tail(through, newton.block_entries[k] + (at - first) * size)
            for r in range(size):
                column[r] += factor * source[kept[first + r]]


def factor_shifted(run: RunMemory, h: float) -> bool:
    """Factor the matrices of a step of length h; False if one of them is singular."""
    newton, fine = run.newton, True
    newton.factorizations += 1
    newton.factored = h
    for k in range(newton.n_blocks):
        if newton.is_sparse[k] != 0 and not _factor_sparse(run, k, h):
            newton.is_sparse[k] = 0
        if newton.is_sparse[k] == 0:
            fine = fine and _factor_full(run, k, h)
    if not fine:
        newton.factored = 0.0
    return fine


def _factor_full(run: RunMemory, k: int, h: float) -> bool:
    """Full factors of a block; False if one of them is singular."""
    newton, values = run.newton, run.newton.eigenvalues
    first, size = newton.block_starts[k], newton.block_starts[k + 1] - newton.block_starts[k]
    block = _block(run, 0, k)
    _fill(run, k, block, -h, -h * h / values[0], values[0])
    fine = factor_real(block, newton.pivots, first, size)
    for pair in range(newton.pairs):
        a, b = values[1 + 2 * pair], values[2 + 2 * pair]
        share = h * h / (a * a + b * b)
        re, im = _block(run, 1 + 2 * pair, k), _block(run, 2 + 2 * pair, k)
        _fill(run, k, re, -h, -a * share, a)
        _fill(run, k, im, 0.0, b * share, b)
        fine = fine and factor_complex(re, im, newton.pivots, (1 + pair) * run.model.n + first, size)
    return fine


def _factor_sparse(run: RunMemory, k: int, h: float) -> bool:
    """Sparse factors of a block; False if they are not accurate without row exchanges."""
    newton, values = run.newton, run.newton.eigenvalues
    find_row_sizes(run, k, -h, -h * h / values[0], values[0])
    fine = factor_sparse_real(run, k, _block(run, 0, k), -h, -h * h / values[0], values[0])
    for pair in range(newton.pairs):
        a, b = values[1 + 2 * pair], values[2 + 2 * pair]
        share = h * h / (a * a + b * b)
        re, im = _block(run, 1 + 2 * pair, k), _block(run, 2 + 2 * pair, k)
        find_row_sizes(run, k, -h, -a * share, a)
        fine = fine and factor_sparse_complex(run, k, re, im, -h, -a * share, a, b * share, b)
    return fine


def _block(run: RunMemory, matrix: int, k: int) -> Floats:
    """A block of a matrix in factors."""
    return tail(run.newton.factors, matrix * run.newton.n_entries + run.newton.block_entries[k])


def _fill(run: RunMemory, k: int, out: Floats, direct: float, through: float, diagonal: float) -> None:
    """A block as a sum of its direct entries, those through eliminated states, and a number on the diagonal."""
    newton, at = run.newton, run.newton.block_entries[k]
    size, a, b = newton.block_starts[k + 1] - newton.block_starts[k], tail(newton.direct, at), tail(newton.through, at)
    for i in apart(size * size):
        out[i] = direct * a[i] + through * b[i]
    for i in range(size):
        out[i * size + i] += diagonal


def solve_shifted(run: RunMemory, b: Floats) -> None:
    """Solve with the real number c; b becomes the solution."""
    newton, n, x = run.newton, run.model.n_continuous, run.newton.x
    kept, jacobian = newton.kept, newton.jacobian
    eliminated, starts, columns, h = newton.eliminated, newton.row_starts, newton.row_columns, newton.factored
    inverse = 1.0 / newton.eigenvalues[0]
    for e in range(newton.n_eliminated):
        i = eliminated[e]
        a, column, rows = h * inverse * b[i], tail(jacobian, i * n), newton.below_rows
        start, end = newton.below_starts[e], newton.below_ends[e]
        if newton.below_many[e] != 0:
            for k in apart(start, end):
                b[k] += a * column[k]
        else:
            for at in range(start, end):
                k = rows[at]
                b[k] += a * column[k]
    for k in range(newton.n_blocks):
        first, size = newton.block_starts[k], newton.block_starts[k + 1] - newton.block_starts[k]
        if newton.is_sparse[k] != 0:
            for i in range(size):
                x[i] = b[kept[first + newton.order[first + i]]]
            solve_sparse_real(run, k, _block(run, 0, k), x)
            for i in range(size):
                b[kept[first + newton.order[first + i]]] = x[i]
        else:
            for i in range(size):
                x[i] = b[kept[first + i]]
            solve_real(_block(run, 0, k), newton.pivots, first, size, x)
            for i in range(size):
                b[kept[first + i]] = x[i]
    for e in range(newton.n_eliminated):
        i = eliminated[e]
        a = b[i]
        for entry in range(starts[e], starts[e + 1]):
            j = columns[entry]
            a += h * jacobian[j * n + i] * b[j]
        b[i] = a * inverse


def solve_pair(run: RunMemory, pair: int, b: Floats, d: Floats) -> None:
    """Solve with the complex number c of a pair; b + i d becomes the solution."""
    newton, n, h = run.newton, run.model.n_continuous, run.newton.factored
    kept, jacobian = newton.kept, newton.jacobian
    eliminated, starts, columns = newton.eliminated, newton.row_starts, newton.row_columns
    x, y, re, im = newton.x, tail(newton.x, n), newton.eigenvalues[1 + 2 * pair], newton.eigenvalues[2 + 2 * pair]
    square = re * re + im * im
    re, im = re / square, -im / square  # 1 / c
    for e in range(newton.n_eliminated):
        i = eliminated[e]
        p, q = h * (re * b[i] - im * d[i]), h * (re * d[i] + im * b[i])
        column, rows, start, end = (
            tail(jacobian, i * n),
            newton.below_rows,
            newton.below_starts[e],
            newton.below_ends[e],
        )
        if newton.below_many[e] != 0:
            for k in apart(start, end):
                b[k] += p * column[k]
                d[k] += q * column[k]
        else:
            for at in range(start, end):
                k = rows[at]
                b[k] += p * column[k]
                d[k] += q * column[k]
    for k in range(newton.n_blocks):
        first, size = newton.block_starts[k], newton.block_starts[k + 1] - newton.block_starts[k]
        f, g = _block(run, 1 + 2 * pair, k), _block(run, 2 + 2 * pair, k)
        if newton.is_sparse[k] != 0:
            for i in range(size):
                at = kept[first + newton.order[first + i]]
                x[i], y[i] = b[at], d[at]
            solve_sparse_complex(run, k, f, g, x, y)
            for i in range(size):
                at = kept[first + newton.order[first + i]]
                b[at], d[at] = x[i], y[i]
        else:
            for i in range(size):
                x[i], y[i] = b[kept[first + i]], d[kept[first + i]]
            solve_complex(f, g, newton.pivots, (1 + pair) * run.model.n + first, size, x, y)
            for i in range(size):
                b[kept[first + i]], d[kept[first + i]] = x[i], y[i]
    for e in range(newton.n_eliminated):
        i = eliminated[e]
        p, q = b[i], d[i]
        for entry in range(starts[e], starts[e + 1]):
            j = columns[entry]
            a = h * jacobian[j * n + i]
            p += a * b[j]
            q += a * d[j]
        b[i], d[i] = p * re - q * im, p * im + q * re
