"""L D L' of a sparse symmetric matrix as loop code: its operations are a table, and one loop runs them.

The matrix is positive definite and consists of tiles of 4 x 4 entries whose pattern is known.  The order of elimination
is that of the tiles.  The lower triangle is stored with its fill, a tile column by column, so that a column is one
register of the processor.  The code has the same size for every matrix; only the table grows with the operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kinode.algebra.scalars import Scalar, apply
from kinode.algebra.trace import Tape, Traced
from kinode.jit.program import Block, Store

TILE = 4  # rows and columns
ENTRIES = TILE * TILE
Step = tuple[int, int, int, int]  # operation; indices in ``work`` of its operands
Case = Callable[[Tape], list[Store]]


class RolledElimination:
    """Factor and solutions of A x = b in ``work``.

    Parameters
    ----------
    neighbors : sequence of sets
        For each tile of rows the other tiles with which it has entries.
    start : int
        The first index in ``work``; ``size`` entries are used.  The first ``n_cleared`` of them are A, which is to be
        filled in, and must be zero where nothing is.  Rows that only fill a tile have a one on the diagonal.
    """

    def __init__(self, neighbors: Sequence[set[int]], start: int) -> None:
        self.n_tiles = n = len(neighbors)
        self._below = _filled(neighbors)
        self._at: list[dict[int, int]] = []  # where the tiles of each column stand, by row
        for j, below in enumerate(self._below):
            self._at.append({i: start + ENTRIES * k for k, i in enumerate((j, *below))})
            start += ENTRIES * (1 + len(below))
        self.n_cleared = ENTRIES * sum(map(len, self._at))
        self._inverse = start + self.n_cleared + TILE * np.arange(n, dtype=np.int64)
        self.size = 2 * self.n_cleared + TILE * n

    def tile(self, i: int, j: int) -> int:
        """The index in ``work`` of a tile of A; i is not before j."""
        return self._at[j][i]

    def _factor(self, i: int, j: int) -> int:
        """The index of a tile of L, which stands as far behind that of A as A is long."""
        return self._at[j][i] + self.n_cleared

    def factorize(self) -> Block:
        """A becomes its factor."""
        steps: list[Step] = []
        for j, below in enumerate(self._below):
            diagonal, inverse = self._at[j][j], int(self._inverse[j])
            steps.append((0, diagonal, inverse, 0))
            steps += [(1, self._at[j][i], diagonal, inverse) for i in below]
            for k, column in enumerate(below):
                right = self._at[j][column]
                steps += [(2, self._at[column][i], self._factor(i, j), right) for i in below[k:]]
        return table_block(steps, [_factor_diagonal, self._finish_column, subtract_product])

    def _finish_column(self, tape: Tape) -> list[Store]:
        """A tile below the diagonal: a = A L^-T of the diagonal tile b, and a D^-1 with D^-1 in c."""
        columns = read_tile(tape, "a")
        done: list[Scalar] = []
        for m, column in enumerate(columns):
            for k in range(m):
                column = column - done[k] * tape.input("b", TILE * k + m)
            done.append(column)
        scaled = [column * tape.input("c", m) for m, column in enumerate(done)]
        return [*write_columns(tape, "a", done), *write_columns(tape, "a", scaled, self.n_cleared)]

    def solve(self, x: int) -> Block:
        """The right-hand side in ``work`` from the index ``x`` on becomes the solution."""
        steps = self._forward(x)
        for j in reversed(range(self.n_tiles)):
            at = x + TILE * j
            steps.append((2, at, int(self._inverse[j]), 0))
            steps += [(3, at, self._factor(i, j), x + TILE * i) for i in self._below[j]]
            steps.append((4, at, self._at[j][j], 0))
        return table_block(steps, [_solve_lower, _subtract_columns, _scale, _subtract_rows, _solve_upper])

    def forward(self, x: int) -> Block:
        """The right-hand side b in ``work`` becomes L^-1 b."""
        return table_block(self._forward(x), [_solve_lower, _subtract_columns])

    def _forward(self, x: int) -> list[Step]:
        steps: list[Step] = []
        for j, below in enumerate(self._below):
            steps.append((0, x + TILE * j, self._at[j][j], 0))
            steps += [(1, x + TILE * i, self._factor(i, j), x + TILE * j) for i in below]
        return steps

    def quadratic_form(self, x: int, out: int) -> list[Block]:
        """b' A^-1 b, after ``forward``, becomes the entry ``out`` of the result."""
        tape, tiles = Tape(), TILE * np.arange(self.n_tiles, dtype=np.int64)
        total: Scalar = tape.input("out", out)
        for k in range(TILE):
            total = total + tape.input("a", k) * tape.input("a", k) * tape.input("b", k)
        views = {"a": ("work", x + tiles), "b": ("work", int(self._inverse[0]) + tiles)}
        return [Block(1, {}, [[("out", out, 0.0)]]), Block(self.n_tiles, views, [[("out", out, total)]])]


def _filled(neighbors: Sequence[set[int]]) -> list[list[int]]:
    """The tiles below the diagonal of each column, with fill."""
    below = [{i for i in column if i > j} for j, column in enumerate(neighbors)]
    for column in below:
        if column:
            first = min(column)  # its column gets all of this one's tiles, and hands them on
            below[first] |= column - {first}
    return [sorted(column) for column in below]


def table_block(steps: Sequence[Step], cases: Sequence[Case]) -> Block:
    """The loop that runs the steps; ``cases`` are the operations, on the views a, b and c."""
    table = np.array(steps, dtype=np.int64).reshape(-1, 4)
    views = {name: ("work", table[:, k]) for k, name in enumerate("abc", 1)}
    return Block(len(table), views, [case(Tape()) for case in cases], table[:, 0])


def copy_block(name: str, start: np.ndarray, end: np.ndarray, sign: float = 1.0) -> Block:
    """The loop that copies entries of an array to places in ``work``, with a sign."""
    views = {"a": ("work", end), "b": (name, start)}
    return Block(len(end), views, [[("a", 0, sign * Tape().input("b", 0))]])


# -- operations on tiles -----------------------------------------------------------------------------------------------
def read_vector(tape: Tape, view: str, start: int = 0) -> Traced:
    """Four neighboring entries as one vector."""
    return tape.pack([tape.input(view, start + k) for k in range(TILE)])


def read_tile(tape: Tape, view: str) -> list[Traced]:
    """The columns of a tile."""
    return [read_vector(tape, view, TILE * m) for m in range(TILE)]


def write_columns(tape: Tape, view: str, columns: Sequence[Scalar], start: int = 0) -> list[Store]:
    """The stores of vectors one after the other."""
    entries = [entry for column in columns for entry in tape.lanes(column, TILE)]
    return [(view, start + k, entry) for k, entry in enumerate(entries)]


def add_product(tape: Tape) -> list[Store]:
    """The tile a grows by b c'."""
    return _update(tape, 1.0)


def subtract_product(tape: Tape) -> list[Store]:
    """The tile a decreases by b c'."""
    return _update(tape, -1.0)


def _update(tape: Tape, sign: float) -> list[Store]:
    targets, left = read_tile(tape, "a"), read_tile(tape, "b")
    results: list[Scalar] = []
    for c, target in enumerate(targets):
        total: Scalar = target
        for m, column in enumerate(left):
            product = column * tape.input("c", TILE * m + c)
            total = total + product if sign > 0 else total - product
        results.append(total)
    return write_columns(tape, "a", results)


def _factor_diagonal(tape: Tape) -> list[Store]:
    """L of a diagonal tile below its diagonal, and D^-1 in b."""
    a = {(i, j): tape.input("a", TILE * j + i) for j in range(TILE) for i in range(j, TILE)}
    w: dict[tuple[int, int], Scalar] = {}
    L: dict[tuple[int, int], Scalar] = {}
    stores: list[Store] = []
    for j in range(TILE):
        for i in range(j, TILE):
            w[i, j] = a[i, j]
            for k in range(j):
                w[i, j] = w[i, j] - L[i, k] * w[j, k]
        inverse = apply("inv", w[j, j])
        stores.append(("b", j, inverse))
        for i in range(j + 1, TILE):
            L[i, j] = w[i, j] * inverse
            stores.append(("a", TILE * j + i, L[i, j]))
    return stores


def _solve_lower(tape: Tape) -> list[Store]:
    """a = L^-1 a with the diagonal tile b."""
    x: list[Scalar] = list(tape.inputs("a", TILE))
    for i in range(1, TILE):
        for j in range(i):
            x[i] = x[i] - tape.input("b", TILE * j + i) * x[j]
    return [("a", i, x[i]) for i in range(1, TILE)]


def _solve_upper(tape: Tape) -> list[Store]:
    """a = L^-T a with the diagonal tile b."""
    x: list[Scalar] = list(tape.inputs("a", TILE))
    for i in reversed(range(TILE - 1)):
        for j in range(i + 1, TILE):
            x[i] = x[i] - tape.input("b", TILE * i + j) * x[j]
    return [("a", i, x[i]) for i in range(TILE - 1)]


def _scale(tape: Tape) -> list[Store]:
    """a is multiplied by b, entry by entry."""
    return write_columns(tape, "a", [read_vector(tape, "a") * read_vector(tape, "b")])


def _subtract_columns(tape: Tape) -> list[Store]:
    """a decreases by the tile b times c."""
    return write_columns(tape, "a", [minus_tile_times(tape, read_vector(tape, "a"))])


def minus_tile_times(tape: Tape, total: Scalar) -> Scalar:
    """``total`` minus the tile b times the vector c."""
    for m, column in enumerate(read_tile(tape, "b")):
        total = total - column * tape.input("c", m)
    return total


def _subtract_rows(tape: Tape) -> list[Store]:
    """a decreases by the transposed tile b times c."""
    return [("a", m, tape.input("a", m) - total) for m, total in enumerate(transposed_times(tape))]


def transposed_times(tape: Tape) -> list[Scalar]:
    """The transposed tile b times the vector c."""
    b, c = tape.inputs("b", ENTRIES).reshape(TILE, TILE), tape.inputs("c", TILE)
    return [sum((b[m, k] * c[k] for k in range(1, TILE)), b[m, 0] * c[0]) for m in range(TILE)]
