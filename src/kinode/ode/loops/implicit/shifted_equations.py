"""The linear equations (c - h J) x = b of an implicit step, for one real and several complex numbers c.

The states that structure_analysis.py eliminates have x_i = (b_i + h sum_j J_ij x_j) / c. With them the others satisfy
(c - h J - h^2 / c J_through) x = b + h / c J b_eliminated, block by block, where J_through is the product of the
columns and rows of the eliminated states. A block has full factors, or sparse ones where it has few entries.
"""

from __future__ import annotations

from kinode.jit.pointers import Floats, apart, tail
from kinode.ode.loops.implicit.linear_factors import factor_complex, factor_real, solve_complex, solve_real
from kinode.ode.loops.implicit.sparse_factors import (
    factor_sparse_complex,
    factor_sparse_real,
    find_row_sizes,
    solve_sparse_complex,
    solve_sparse_real,
)
from kinode.ode.loops.run_memory import RunMemory


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
