"""The structure of the linear equations (c - h J) x = b of an implicit step: what is eliminated, which blocks are
apart, where their factors fill up, and which columns of the Jacobian one directional derivative gives.

States whose rate depends on states of another kind alone, such as angles on speeds, are eliminated: their pivot is the
number c. What remains are blocks without entries between them, one for each independent part of the model. In a chain
of links every acceleration depends on every position, so that a block itself is full; where bodies of their own are
coupled by springs it is sparse. The order is then that of minimum degree on its pattern, made symmetric (A. George,
J. W. H. Liu, The evolution of the minimum degree ordering algorithm, SIAM Review 31 (1989)), found on a full matrix of
marks, which is where the factors go later. A block that fills up too much keeps full factors.

Columns of which no two share a row have one directional derivative. The pattern is that of the entries seen so far, and
a missing entry would be taken for one of another column. So each Jacobian is compared with one more derivative, along a
direction in which all columns differ (A. R. Curtis, M. J. D. Powell, J. K. Reid, On the estimation of sparse Jacobian
matrices, IMA J. Appl. Math. 13 (1974)). A new entry, for instance after a joint has begun to slide, leads to a new
analysis.
"""

from __future__ import annotations

from kinode.jit.loop.memory import Floats, Ints, apart, tail
from kinode.ode.loops.run_memory import RunMemory

LEAST_GAIN = 2  # groups are used where they are fewer than columns by this factor
AGREEMENT = 1e-9  # of a row with the derivative along the other direction, relative to the sum of its terms


def color_columns(run: RunMemory) -> None:
    """Give each column the first group without a common row; no groups where there would be too many."""
    newton, n, colors = run.newton, run.model.n_continuous, run.newton.colors
    most = n // LEAST_GAIN - 1
    newton.n_colors = 0
    if most < 1 or _largest_row(run) > most:
        return
    count, used = 0, newton.degree
    for i in range(n):
        used[i] = -1
    for j in range(n):
        column = tail(newton.pattern, j * n)
        for i in range(n):
            if column[i] != 0.0:
                for k in range(j):
                    if newton.pattern[k * n + i] != 0.0:
                        used[colors[k]] = j
        color = 0
        while color < count and used[color] == j:
            color += 1
        colors[j] = color
        count = max(count, color + 1)
        if count > most:
            return
    newton.n_colors = count


def _largest_row(run: RunMemory) -> int:
    """The largest number of entries in a row."""
    n, pattern, largest = run.model.n_continuous, run.newton.pattern, 0
    counts = run.newton.degree
    for i in range(n):
        counts[i] = 0
    for j in range(n):
        column = tail(pattern, j * n)
        for i in range(n):
            if column[i] != 0.0:
                counts[i] += 1
    for i in range(n):
        largest = max(largest, counts[i])
    return largest


def other_direction(j: int) -> float:
    """The entries of a direction in which all columns differ, between 1 and 2."""
    x = 0.6180339887498949 * (j + 1)
    return 1.0 + x - int(x)


def agrees(run: RunMemory, found: Floats, lanes: int, lane: int) -> bool:
    """Whether the Jacobian times the other direction is the derivative along it."""
    newton, n, fine = run.newton, run.model.n_continuous, True
    total, size = newton.x, tail(newton.x, n)
    for i in range(n):
        total[i] = 0.0
        size[i] = 0.0
    for j in range(n):
        factor, column = other_direction(j), tail(newton.jacobian, j * n)
        for i in range(n):
            part = factor * column[i]
            total[i] += part
            size[i] += abs(part)
    for i in range(n):
        fine = fine and abs(total[i] - found[i * lanes + lane]) <= AGREEMENT * size[i]
    return fine


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


MOST_ENTRIES = 8  # of a row whose state is eliminated
FEW = 4  # a column with less than this part of all entries is listed


def note_pattern(run: RunMemory) -> None:
    """Add the entries of the Jacobian to its pattern, and analyse it if there are new ones."""
    newton, n = run.newton, run.model.n_continuous
    jacobian, pattern, outside, added = newton.jacobian, newton.pattern, newton.x, newton.n_blocks == 0
    known = not added
    for i in range(n):
        outside[i] = 0.0
    for j in range(n):
        column, entries = tail(jacobian, j * n), tail(pattern, j * n)
        for i in apart(n):
            outside[i] += abs(column[i]) * (1.0 - entries[i])
    for i in range(n):
        known = known and outside[i] == 0.0
    if known:
        return
    for i in range(n * n):
        if jacobian[i] != 0.0 and pattern[i] == 0.0:
            pattern[i] = 1.0
            added = True
    if added:
        _choose_eliminated(run)
        _list_below(run)
        _find_parts(run)
        _find_blocks(run)
        find_sparse_blocks(run)
        color_columns(run)


def _choose_eliminated(run: RunMemory) -> None:
    """Mark the states to eliminate (``part`` -1), and list the entries of their rows."""
    newton, n = run.newton, run.model.n_continuous
    pattern, part, starts, columns = newton.pattern, newton.part, newton.row_starts, newton.row_columns
    for i in range(n):
        part[i] = 0
    chosen, listed = 0, 0
    for i in range(n):
        fine, entries = True, 0
        for j in range(n):
            if pattern[j * n + i] != 0.0:  # row i, column j
                fine = fine and j != i and part[j] == 0
                entries += 1
            if pattern[i * n + j] != 0.0 and part[j] != 0:  # an eliminated row needs this state
                fine = False
        if fine and entries <= MOST_ENTRIES:
            part[i] = -1
            newton.eliminated[chosen] = i
            starts[chosen] = listed
            for j in range(n):
                if pattern[j * n + i] != 0.0:
                    columns[listed] = j
                    listed += 1
            chosen += 1
    starts[chosen] = listed
    newton.n_eliminated = chosen


def _list_below(run: RunMemory) -> None:
    """List the entries in the columns of eliminated states; of a column with many, the rows between which they are."""
    newton, n, listed = run.newton, run.model.n_continuous, 0
    for e in range(newton.n_eliminated):
        column, start, first, end = tail(newton.pattern, newton.eliminated[e] * n), listed, n, 0
        for i in range(n):
            if column[i] != 0.0:
                first, end = min(first, i), i + 1
                if listed - start <= n // FEW:
                    newton.below_rows[listed] = i
                    listed += 1
        newton.below_starts[e], newton.below_ends[e], newton.below_many[e] = start, listed, 0
        if listed - start > n // FEW:
            newton.below_starts[e], newton.below_ends[e], newton.below_many[e], listed = first, end, 1, start


def _root(parents: Ints, i: int) -> int:
    """The first state of the part that a state belongs to."""
    while parents[i] != i:
        i = parents[i]
    return i


def _find_parts(run: RunMemory) -> None:
    """Join all states that are connected by an entry of the pattern."""
    n, parents = run.model.n_continuous, run.newton.parents
    for i in range(n):
        parents[i] = i
    for j in range(n):
        column = tail(run.newton.pattern, j * n)
        for i in range(n):
            if column[i] != 0.0:
                a, b = _root(parents, i), _root(parents, j)
                parents[max(a, b)] = min(a, b)


def _find_blocks(run: RunMemory) -> None:
    """List the states that remain, block by block."""
    newton, n, parents, part = run.newton, run.model.n_continuous, run.newton.parents, run.newton.part
    placed, blocks, entries = 0, 0, 0
    for root in range(n):
        if parents[root] == root:
            first = placed
            for i in range(root, n):
                if part[i] == 0 and _root(parents, i) == root:
                    newton.kept[placed] = i
                    newton.place[i] = placed
                    placed += 1
            if placed > first:
                newton.block_starts[blocks] = first
                newton.block_entries[blocks] = entries
                entries += (placed - first) * (placed - first)
                blocks += 1
    newton.block_starts[blocks], newton.block_entries[blocks] = placed, entries
    newton.n_blocks, newton.n_entries = blocks, entries
    for k in range(blocks):
        for at in range(newton.block_starts[k], newton.block_starts[k + 1]):
            newton.block_of[at] = k
