"""The compiled loop of the uniqueness analysis: internal stresses of every state of a batch, and the least norm.

It computes what ``formulations/reaction_uniqueness.py`` does, (T-5.4) to (T-5.6), in machine code (jit/translator.py
has the language).  The tree carries the forces of cut joints, gears and constraints to the world.  The efforts along
its free joints must vanish, which leaves a null space.  Ranks come from Householder reflections with pivoting here,
from singular values there.  Where the two might differ, because a pivot or a row of the null space is neither clearly
zero nor clearly not, the state is marked as doubtful.

Matrices are stored by rows.  A row has a column for each force in the loops, so that most work is a row added to
another.
"""

from __future__ import annotations

import math

from kinode.dynamics.state_batches.stress_memory import StressMemory
from kinode.dynamics.state_batches.stress_rows import add_row, clear_row, dot_rows
from kinode.dynamics.state_batches.stress_tree import carry_loads
from kinode.jit.pointers import Floats, tail

ZERO_PIVOT, SURE_PIVOT = 1e-12, 1e-6  # of the largest: below is zero, above is not, between is doubtful
ZERO_ROW, SURE_ROW = 1e-11, 1e-6  # the same for the norm of a component's row of the null space
ROUNDING = 1e-15  # of the largest coefficient of an equation


def analyze_states(memory: StressMemory) -> int:
    """Analyze the states from ``first`` to ``last``."""
    for state in range(memory.first, memory.last):
        directions = tail(memory.directions, state * memory.n_directions)
        carry_loads(memory, directions, tail(memory.unit_loads, state * memory.n_unit_loads))
        memory.doubtful[0] = 0.0
        _reduce(memory)
        k = _find_null_space(
            memory.reduced, memory.globals, memory.remaining, memory.factors, memory.basis, memory.doubtful
        )
        doubt = 1 if memory.doubtful[0] != 0.0 else 0
        memory.n_stresses = k
        memory.redundancy[state] = k
        norms = tail(memory.norms, state * memory.n)
        for i in range(memory.n):
            norms[i] = 0.0
        if k > 0:
            _find_stresses(memory, tail(memory.stresses, memory.keep * (state - memory.first) * memory.n * memory.m))
            doubt += _measure_rows(memory, norms)
            if memory.share != 0:
                doubt += _factorize(memory, norms)
                _share(memory, tail(memory.x, state * memory.n), tail(memory.change, state * memory.n), norms)
        memory.doubt[state] = doubt
    return 0


# -- the null space --------------------------------------------------------------------------------
def _find_null_space(m: int, n_equations: int, A: Floats, factors: Floats, basis: Floats, sizes: Floats) -> int:
    """The null space of the rows of A, as rows of ``basis``, by Householder reflections with pivoting.

    Returns its dimension; ``sizes[0]`` becomes nonzero where that is doubtful.
    """
    rank, largest = 0, 1.0
    while rank < n_equations and rank < m:
        pivot, square = rank, -1.0
        for i in range(rank, n_equations):
            row = tail(A, i * m + rank)
            size = dot_rows(m - rank, row, row)
            if size > square or size != size:
                pivot, square = i, size
        size = math.sqrt(max(square, 0.0))
        largest = max(largest, size)
        if not size < math.inf:
            sizes[0] = 1.0
        if not size > ZERO_PIVOT * largest:
            break
        if size < SURE_PIVOT * largest:
            sizes[0] = 1.0
        row, other = tail(A, rank * m), tail(A, pivot * m)
        if pivot != rank:
            for i in range(m):
                row[i], other[i] = other[i], row[i]
        v = tail(row, rank)
        head = v[0]
        v[0] = head + (size if head >= 0.0 else -size)
        factors[rank] = 1.0 / (size * (size + abs(head)))
        for i in range(rank + 1, n_equations):
            next_row = tail(A, i * m + rank)
            _reflect(m - rank, factors[rank], v, next_row)
        rank += 1
    for i in range(rank, m):
        b = tail(basis, (i - rank) * m)
        clear_row(m, b)
        b[i] = 1.0
        for j in range(rank - 1, -1, -1):
            _reflect(m - j, factors[j], tail(A, j * m + j), tail(b, j))
    return m - rank


def _reflect(n: int, factor: float, v: Floats, row: Floats) -> None:
    along = dot_rows(n, v, row)
    if along != 0.0:
        add_row(n, -factor * along, v, row)


def _reduce(memory: StressMemory) -> None:
    """Replace the columns of each cut joint by the null space of the equations that contain no others.

    Most joints are in one loop only.  What is left is small, and its components are zero outside of their loop.
    """
    m, reduced, local = memory.m, 0, memory.small
    for c in range(memory.cuts):
        first, count = memory.local_first[c], memory.local_first[c + 1] - memory.local_first[c]
        for i in range(count):
            row = tail(memory.equations, memory.local_equation[first + i] * m + 6 * c)
            for j in range(6):
                local[6 * i + j] = row[j]
        basis = tail(memory.blocks, 36 * c)
        memory.block_size[c] = _find_null_space(6, count, local, memory.factors, basis, memory.doubtful)
        reduced += memory.block_size[c]
    memory.reduced = reduced + m - 6 * memory.cuts
    for i in range(memory.globals):
        equation = tail(memory.equations, memory.global_equation[i] * m)
        _reduce_row(memory, equation, tail(memory.remaining, i * memory.reduced))
        _flush(memory.reduced, tail(memory.remaining, i * memory.reduced))
    for i in range(memory.n):
        _reduce_row(memory, tail(memory.components, i * m), tail(memory.narrow, i * memory.reduced))


def _reduce_row(memory: StressMemory, row: Floats, out: Floats) -> None:
    """A row of coefficients in the columns that are left."""
    at = 0
    for c in range(memory.cuts):
        wide, size = tail(row, 6 * c), memory.block_size[c]
        some = abs(wide[0]) + abs(wide[1]) + abs(wide[2]) + abs(wide[3]) + abs(wide[4]) + abs(wide[5])
        for j in range(size):
            b = tail(memory.blocks, 36 * c + 6 * j)
            out[at + j] = 0.0 if some == 0.0 else dot_rows(6, wide, b)
        at += size
    for j in range(memory.reduced - at):
        out[at + j] = row[6 * memory.cuts + j]


def _flush(n: int, row: Floats) -> None:
    """Set what is rounding in a row to zero, so that the columns of other loops stay apart."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(row[i]))
    for i in range(n):
        if abs(row[i]) < ROUNDING * largest:
            row[i] = 0.0


def _find_stresses(memory: StressMemory, stresses: Floats) -> None:
    """The components of all joints and multipliers in each state of stress, a column for each."""
    m, k, turned = memory.reduced, memory.n_stresses, memory.loads
    memory.N = stresses
    for i in range(m):
        for j in range(k):
            turned[i * k + j] = memory.basis[j * m + i]
    for i in range(memory.n):
        row, out = tail(memory.narrow, i * m), tail(stresses, i * k)
        clear_row(k, out)
        for c in range(m):
            if row[c] != 0.0:
                add_row(k, row[c], tail(turned, c * k), out)


def _measure_rows(memory: StressMemory, norms: Floats) -> int:
    """The size of each component in an orthonormal basis of the stresses; returns whether one is doubtful.

    The basis N is not orthonormal: it contains unit wrenches of the cut joints, and its norm is at most ``longest``. So
    a size is at most that of the row of N, and at least that by ``longest``. The bound that decides is noted.
    """
    k, N, square, doubt = memory.n_stresses, memory.N, 0.0, 0
    for i in range(memory.n):
        norms[i] = dot_rows(k, tail(N, i * k), tail(N, i * k))
        square += norms[i]
    longest = max(1.0, math.sqrt(square))
    if not square < math.inf:
        doubt = 1
    for i in range(memory.n):
        size = math.sqrt(norms[i])
        norms[i] = size if size < ZERO_ROW else size / longest
        if size > ZERO_ROW and size < SURE_ROW * longest:
            doubt = 1
    return doubt


def _factorize(memory: StressMemory, norms: Floats) -> int:
    """The triangle R of N'N = R'R; returns whether N is too badly conditioned."""
    k, N, R, doubt = memory.n_stresses, memory.N, memory.triangle, 0
    clear_row(k * k, R)
    for i in range(memory.n):
        row = tail(N, i * k)
        if norms[i] > ZERO_ROW:
            for a in range(k):
                if row[a] != 0.0:
                    add_row(k - a, row[a], tail(row, a), tail(R, a * k + a))
    for a in range(k):
        root = math.sqrt(R[a * k + a])
        if not root > SURE_PIVOT:
            doubt = 1
        row = tail(R, a * k + a)
        for b in range(k - a):
            row[b] = row[b] / root
        for b in range(a + 1, k):
            if row[b - a] != 0.0:
                add_row(k - b, -row[b - a], tail(row, b - a), tail(R, b * k + b))
    return doubt


def _share(memory: StressMemory, x: Floats, change: Floats, norms: Floats) -> None:
    """The change to the solution of least norm, (T-5.6); a second pass removes the rounding of the first."""
    n, k, N, R, y = memory.n, memory.n_stresses, memory.N, memory.triangle, memory.solution
    clear_row(n, change)
    for _ in range(2):
        clear_row(k, y)
        for i in range(n):
            if norms[i] > ZERO_ROW:
                add_row(k, x[i] + change[i], tail(N, i * k), y)
        for a in range(k):
            y[a] = y[a] / R[a * k + a]
            add_row(k - a - 1, -y[a], tail(R, a * k + a + 1), tail(y, a + 1))
        for a in range(k - 1, -1, -1):
            y[a] = (y[a] - dot_rows(k - a - 1, tail(R, a * k + a + 1), tail(y, a + 1))) / R[a * k + a]
        for i in range(n):
            if norms[i] > ZERO_ROW:
                change[i] -= dot_rows(k, tail(N, i * k), y)
