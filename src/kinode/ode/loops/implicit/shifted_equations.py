"""The linear equations (c - h J) x = b of an implicit step, for one real and several complex numbers c.

The states that structure_analysis.py eliminates have x_i = (b_i + h sum_j J_ij x_j) / c. With them the others satisfy
(c - h J - h^2 / c J_through) x = b + h / c J b_eliminated, block by block, where J_through is the product of the
columns and rows of the eliminated states. A small block has factors of all matrices at once (joint_factors.py), another
full ones, or sparse ones where it has few entries. Right sides have the eight places of stage_places.py.
"""

from __future__ import annotations

from kinode.jit.pointers import Floats, apart, tail
from kinode.ode.loops.implicit.joint_factors import factor_jointly, solve_first, solve_jointly
from kinode.ode.loops.implicit.linear_factors import factor_complex, factor_real, solve_complex, solve_real
from kinode.ode.loops.implicit.sparse_factors import (
    factor_sparse_complex,
    factor_sparse_real,
    find_row_sizes,
    solve_sparse_complex,
    solve_sparse_real,
)
from kinode.ode.loops.implicit.stage_places import HALF, WIDTH
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
            fine = fine and (_factor_jointly(run, k, h) if newton.joint_at[k] >= 0 else _factor_full(run, k, h))
    if not fine:
        newton.factored = 0.0
    return fine


def _factor_jointly(run: RunMemory, k: int, h: float) -> bool:
    """Factors of all matrices of a small block; False if one of them is singular."""
    newton, at, square = run.newton, run.newton.block_entries[k], -h * h
    first, size = newton.block_starts[k], newton.block_starts[k + 1] - newton.block_starts[k]
    block, direct, through = tail(newton.joint, newton.joint_at[k]), tail(newton.direct, at), tail(newton.through, at)
    inverse, inverse_im, shifts = newton.inverse_shifts, tail(newton.inverse_shifts, HALF), newton.shifts
    for i in range(size * size):
        a, b, re, im = -h * direct[i], square * through[i], tail(block, WIDTH * i), tail(block, WIDTH * i + HALF)
        for m in apart(4):
            re[m] = a + b * inverse[m]
            im[m] = b * inverse_im[m]
    for i in range(size):
        entry = tail(block, WIDTH * (i * size + i))
        for m in apart(8):
            entry[m] += shifts[m]
    return factor_jointly(block, newton.pivots, first, size, newton.scratch)


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
    newton, n = run.newton, run.model.n_continuous
    jacobian, eliminated, starts, columns = newton.jacobian, newton.eliminated, newton.row_starts, newton.row_columns
    h, inverse = newton.factored, 1.0 / newton.eigenvalues[0]
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
        _solve_block(run, k, b)
    for e in range(newton.n_eliminated):
        i = eliminated[e]
        a = b[i]
        for entry in range(starts[e], starts[e + 1]):
            j = columns[entry]
            a += h * jacobian[j * n + i] * b[j]
        b[i] = a * inverse


def _solve_block(run: RunMemory, k: int, b: Floats) -> None:
    """Solve with the real matrix of a block."""
    newton, x, kept = run.newton, run.newton.x, run.newton.kept
    first, size = newton.block_starts[k], newton.block_starts[k + 1] - newton.block_starts[k]
    if newton.is_sparse[k] != 0:
        for i in range(size):
            x[i] = b[kept[first + newton.order[first + i]]]
        solve_sparse_real(run, k, _block(run, 0, k), x)
        for i in range(size):
            b[kept[first + newton.order[first + i]]] = x[i]
        return
    for i in range(size):
        x[i] = b[kept[first + i]]
    if newton.joint_at[k] >= 0:
        solve_first(tail(newton.joint, newton.joint_at[k]), newton.pivots, first, size, x)
    else:
        solve_real(_block(run, 0, k), newton.pivots, first, size, x)
    for i in range(size):
        b[kept[first + i]] = x[i]


def solve_all(run: RunMemory, b: Floats) -> None:
    """Solve with all numbers c; b, at the places of transformed values, becomes the solution."""
    newton = run.newton
    _carry_down(run, b)
    for k in range(newton.n_blocks):
        if newton.is_sparse[k] == 0 and newton.joint_at[k] >= 0:
            first, size = newton.block_starts[k], newton.block_starts[k + 1] - newton.block_starts[k]
            kept, x = newton.kept, newton.right
            for i in range(size):
                source, target = tail(b, WIDTH * kept[first + i]), tail(x, WIDTH * i)
                for m in apart(8):
                    target[m] = source[m]
            solve_jointly(tail(newton.joint, newton.joint_at[k]), newton.pivots, first, size, x)
            for i in range(size):
                source, target = tail(x, WIDTH * i), tail(b, WIDTH * kept[first + i])
                for m in apart(8):
                    target[m] = source[m]
        else:
            _solve_one_by_one(run, k, b)
    _carry_up(run, b)


def _carry_down(run: RunMemory, b: Floats) -> None:
    """What the right sides of eliminated states add to those that remain."""
    newton, n, h = run.newton, run.model.n_continuous, run.newton.factored
    inverse, inverse_im = newton.inverse_shifts, tail(newton.inverse_shifts, HALF)
    eliminated, rows, part, part_im = newton.eliminated, newton.below_rows, newton.scratch, tail(newton.scratch, HALF)
    for e in range(newton.n_eliminated):
        i = eliminated[e]
        column, re, im = tail(newton.jacobian, i * n), tail(b, WIDTH * i), tail(b, WIDTH * i + HALF)
        for m in apart(4):
            part[m] = h * (re[m] * inverse[m] - im[m] * inverse_im[m])
            part_im[m] = h * (re[m] * inverse_im[m] + im[m] * inverse[m])
        many = newton.below_many[e] != 0
        for at in range(newton.below_starts[e], newton.below_ends[e]):
            k = at if many else rows[at]
            a, target = column[k], tail(b, WIDTH * k)
            for m in apart(8):
                target[m] += a * part[m]


def _carry_up(run: RunMemory, b: Floats) -> None:
    """The eliminated states from those that remain."""
    newton, n, h = run.newton, run.model.n_continuous, run.newton.factored
    inverse, inverse_im = newton.inverse_shifts, tail(newton.inverse_shifts, HALF)
    eliminated, starts, columns = newton.eliminated, newton.row_starts, newton.row_columns
    for e in range(newton.n_eliminated):
        i = eliminated[e]
        re, im = tail(b, WIDTH * i), tail(b, WIDTH * i + HALF)
        for entry in range(starts[e], starts[e + 1]):
            j = columns[entry]
            a, source = h * newton.jacobian[j * n + i], tail(b, WIDTH * j)
            for m in apart(8):
                re[m] += a * source[m]
        for m in apart(4):
            re[m], im[m] = re[m] * inverse[m] - im[m] * inverse_im[m], re[m] * inverse_im[m] + im[m] * inverse[m]


def _solve_one_by_one(run: RunMemory, k: int, b: Floats) -> None:
    """Solve with the matrices of a block one after the other."""
    newton, kept, x, y = run.newton, run.newton.kept, run.newton.x, tail(run.newton.x, run.model.n_continuous)
    first, size = newton.block_starts[k], newton.block_starts[k + 1] - newton.block_starts[k]
    sparse = newton.is_sparse[k] != 0
    for system in range(newton.pairs + 1):
        for i in range(size):
            source = tail(b, WIDTH * kept[first + (newton.order[first + i] if sparse else i)] + system)
            x[i], y[i] = source[0], source[HALF]
        f, g = _block(run, max(0, 2 * system - 1), k), _block(run, 2 * system, k)
        if sparse and system == 0:
            solve_sparse_real(run, k, f, x)
        elif sparse:
            solve_sparse_complex(run, k, f, g, x, y)
        elif system == 0:
            solve_real(f, newton.pivots, first, size, x)
        else:
            solve_complex(f, g, newton.pivots, system * run.model.n + first, size, x, y)
        for i in range(size):
            target = tail(b, WIDTH * kept[first + (newton.order[first + i] if sparse else i)] + system)
            target[0], target[HALF] = x[i], y[i]
