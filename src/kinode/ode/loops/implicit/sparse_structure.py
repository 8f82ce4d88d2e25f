"""Which blocks of the linear equations have sparse factors, in which order their unknowns are eliminated, and the fill.

The order is that of minimum degree on the pattern of the block, made symmetric (A. George, J. W. H. Liu, The evolution
of the minimum degree ordering algorithm, SIAM Review 31 (1989)). Unknowns are eliminated on a full matrix of marks,
which is where the factors go later. A block that fills up too much keeps full factors.
"""

from __future__ import annotations

from kinode.jit.pointers import Floats, tail
from kinode.ode.loops.run_memory import RunMemory

SPARSE_FROM = 16  # unknowns of a block; smaller ones are solved faster with full factors
FILL_SHARE = 8  # a sparse block has at most this part of its entries below the diagonal of its factor


def find_sparse_blocks(run: RunMemory) -> None:
    """Choose between full and sparse factors for each block, and lay out the sparse ones."""
    newton, listed = run.newton, 0
    newton.fill_starts[0] = 0
    newton.across_starts[0] = 0
    for k in range(newton.n_blocks):
        first, size = newton.block_starts[k], newton.block_starts[k + 1] - newton.block_starts[k]
        newton.is_sparse[k] = 0
        if size >= SPARSE_FROM:
            marks = tail(newton.factors, newton.block_entries[k])
            if _mark_entries(run, k, marks) <= size * size // FILL_SHARE:
                count = _eliminate(run, first, size, listed, marks)
                if count >= 0:
                    newton.is_sparse[k] = 1
                    _rank_rows(run, first, size)
                    _transpose(run, first, size)
                    listed += count
        if newton.is_sparse[k] == 0:
            for j in range(size):
                newton.fill_starts[first + j + 1] = listed
                newton.across_starts[first + j + 1] = listed


def _mark_entries(run: RunMemory, k: int, marks: Floats) -> int:
    """Mark the entries of a block, direct ones and those through eliminated states; returns how many there are."""
    newton, n, pattern, kept = run.newton, run.model.n_continuous, run.newton.pattern, run.newton.kept
    first, size, count = newton.block_starts[k], newton.block_starts[k + 1] - newton.block_starts[k], 0
    for j in range(size):
        source = tail(pattern, kept[first + j] * n)
        for i in range(size):
            marks[j * size + i] = source[kept[first + i]]
    for e in range(newton.n_eliminated):
        source = tail(pattern, newton.eliminated[e] * n)
        for entry in range(newton.row_starts[e], newton.row_starts[e + 1]):
            at = newton.place[newton.row_columns[entry]]
            if newton.block_of[at] == k:
                column = tail(marks, (at - first) * size)
                for i in range(size):
                    if source[kept[first + i]] != 0.0:
                        column[i] = 1.0
    for j in range(size):
        marks[j * size + j] = 0.0
        for i in range(j):
            if marks[j * size + i] != 0.0 or marks[i * size + j] != 0.0:
                marks[j * size + i] = 1.0
                marks[i * size + j] = 1.0
                count += 1
    return count


def _eliminate(run: RunMemory, first: int, size: int, listed: int, marks: Floats) -> int:
    """Eliminate the unknowns of a block, least degree first; returns the entries of its factor, -1 for too many."""
    newton, begin = run.newton, listed
    degree, rank = newton.degree, newton.rank
    for i in range(size):
        rank[first + i] = -1
        degree[first + i] = 0
        for j in range(size):
            if marks[i * size + j] != 0.0:
                degree[first + i] += 1
    for step in range(size):
        chosen, least = -1, size + 1
        for i in range(size):
            if rank[first + i] < 0 and degree[first + i] < least:
                chosen, least = i, degree[first + i]
        if listed + least - begin > size * size // FILL_SHARE:
            return -1
        rank[first + chosen] = step
        newton.order[first + step] = chosen
        start = listed
        for i in range(size):
            if rank[first + i] < 0 and marks[chosen * size + i] != 0.0:
                newton.fill_rows[listed] = i
                listed += 1
        newton.fill_starts[first + step + 1] = listed
        _connect(run, first, size, start, listed, marks)
    return listed - begin


def _connect(run: RunMemory, first: int, size: int, start: int, end: int, marks: Floats) -> None:
    """Connect the neighbors of an unknown that is eliminated with each other."""
    rows, degree = run.newton.fill_rows, run.newton.degree
    for a in range(start, end):
        i = rows[a]
        degree[first + i] -= 1
        for b in range(start, a):
            j = rows[b]
            if marks[i * size + j] == 0.0:
                marks[i * size + j] = 1.0
                marks[j * size + i] = 1.0
                degree[first + i] += 1
                degree[first + j] += 1


def _rank_rows(run: RunMemory, first: int, size: int) -> None:
    """Name the rows of the factor by their rank in the order of elimination, ascending in each column."""
    newton, rows = run.newton, run.newton.fill_rows
    for j in range(size):
        start, end = newton.fill_starts[first + j], newton.fill_starts[first + j + 1]
        for a in range(start, end):
            value, at = newton.rank[first + rows[a]], a
            while at > start and rows[at - 1] > value:
                rows[at] = rows[at - 1]
                at -= 1
            rows[at] = value


def _transpose(run: RunMemory, first: int, size: int) -> None:
    """The entries of the factor by rows: the column of each, and where it stands."""
    newton, rows, starts = run.newton, run.newton.fill_rows, run.newton.fill_starts
    begins, ends, begin = newton.across_starts, newton.degree, starts[first]
    for i in range(size):
        ends[first + i] = 0
    for a in range(begin, starts[first + size]):
        ends[first + rows[a]] += 1
    at = begin
    for i in range(size):
        begins[first + i] = at
        at += ends[first + i]
        ends[first + i] = begins[first + i]
    begins[first + size] = at
    for j in range(size):
        for a in range(starts[first + j], starts[first + j + 1]):
            i = first + rows[a]
            newton.across_columns[ends[i]] = j
            newton.across_entries[ends[i]] = a - begin
            ends[i] += 1
