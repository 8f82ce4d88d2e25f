"""The structure of the linear equations (c - h J) x = b of an implicit step: what is eliminated, and what falls apart.

States whose rate depends on states of another kind alone, such as angles on speeds, are eliminated: their pivot is the
number c. What remains are blocks without entries between them, one for each independent part of the model. In a chain
of links every acceleration depends on every position, so that a block itself is full; where bodies of their own are
coupled by springs it is sparse (sparse_structure.py).

The analysis needs the pattern of the Jacobian only. An entry belongs to the pattern once it was not zero; a new entry,
for instance after a joint has begun to slide, leads to a new analysis.
"""

from __future__ import annotations

from kinode.jit.pointers import Ints, apart, tail
from kinode.ode.loops.implicit.column_colors import color_columns
from kinode.ode.loops.implicit.sparse_structure import find_sparse_blocks
from kinode.ode.loops.run_memory import RunMemory

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
