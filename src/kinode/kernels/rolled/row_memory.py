"""Memory and loops of the rows of constraints: wrenches that go inward, Y = L^-1 G', G M^-1 G'.

Unit multipliers load links with wrenches, about one point and in world axes, so that a wrench is the same for all links
that it passes through until a freedom takes its share of it (``closed_sweeps.py``).  Wrenches of the four rows of a
tile stand beside each other, in a slot: six vectors.  A slot is used again where its wrenches have reached the world.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from kinode.algebra.scalars import Scalar
from kinode.algebra.trace import Tape
from kinode.jit.program import Block, Store
from kinode.kernels.rolled.passing_rows import PassingRows
from kinode.kernels.rolled.rolled_elimination import (
    ENTRIES,
    TILE,
    Case,
    RolledElimination,
    Step,
    add_product,
    minus_tile_times,
    read_vector,
    table_block,
    transposed_times,
    write_columns,
)
from kinode.kernels.rolled.row_tiles import FreedomGroups, RowTiles
from kinode.kernels.rolled.tree_loops import WorkSpace
from kinode.structure.link_geometry import WORLD
from kinode.structure.topology import Topology

RUN = 8  # entries that one iteration clears
SLOT = 6 * TILE
Entry = tuple[int, int, float]  # number of a row in its tile, index of its wrench, sign
BEGIN, ENTER, ENTER_AGAINST, MERGE, SHARE = range(5)


class RowMemory:
    """Where in ``work`` the rows have their wrenches and shares, and the loops over them.

    ``joint_shares`` are the indices of the shares of joints, one list for each of ``sums``; ``fields`` those of the
    numbers of each link's freedoms: S and U in world axes, D^-1.  ``reference`` is the point of the wrenches.
    """

    def __init__(self, rows: PassingRows, topology: Topology, work: WorkSpace, sums: int) -> None:
        self.rows, self.nodes, self._work = rows, topology.tree.nodes, work
        self.tiles = RowTiles(rows, topology)
        self.groups = FreedomGroups(self.tiles)
        self._entering: dict[
            int, dict[int, list[tuple[int, int, float]]]
        ] = {}  # row in a tile, index, sign; by link and tile
        self._wrench_at: dict[tuple[int, int], int] = {}
        self.reference = work.allocate(3)
        sizes = np.array([n * (12 + n) for n in self.tiles.free], dtype=np.int64)
        self.fields = work.allocate(int(sizes.sum())) + np.cumsum(sizes) - sizes
        self._start = work.size
        self._share_starts = [work.allocate(self.groups.n_columns) for _ in range(sums)]
        self.joint_shares = [at + self.groups.column_of for at in self._share_starts]
        self.eliminations: dict[tuple[int, ...], RolledElimination] = {}
        self._blocks: dict[tuple[int, int], int] = {}  # of Y, by tile and group

    def vector(self, among: tuple[int, ...]) -> int:
        """The index of a new vector of the rows of some tiles, which begins at zero."""
        return self._work.allocate(TILE * len(among))

    def eliminate(self, among: tuple[int, ...]) -> RolledElimination:
        """The elimination of G M^-1 G' of the rows of some tiles; vectors are allocated before."""
        if among not in self.eliminations:
            new = RolledElimination(self.tiles.neighbors(among), self._work.size)
            self._end = self._work.size + new.n_cleared
            self._work.allocate(new.size)
            self.eliminations[among] = new
        return self.eliminations[among]

    def places(self, among: tuple[int, ...], rows: Sequence[int]) -> np.ndarray:
        """The places of some rows in a vector of the rows of some tiles."""
        number = {tile: k for k, tile in enumerate(among)}
        tiles, lanes = np.divmod(self.tiles.place[list(rows)], TILE)
        return TILE * np.array([number[tile] for tile in tiles.tolist()], dtype=np.int64) + lanes

    def clear(self) -> list[Block]:
        """Shares, vectors and matrices become zero, and one where a diagonal has no row; then Y is allocated."""
        count = -(-(self._end - self._start) // RUN)
        offsets = self._start + RUN * np.arange(count, dtype=np.int64)
        zeros = Block(count, {"a": ("work", offsets)}, [[("a", k, 0.0) for k in range(RUN)]])
        missing = [
            elimination.tile(k, k) + (TILE + 1) * lane
            for among, elimination in self.eliminations.items()
            for k, tile in enumerate(among)
            for lane in range(len(self.tiles.tiles[tile]), TILE)
        ]
        ones = table_block([(0, at, 0, 0) for at in missing], [lambda tape: [("a", 0, 1.0)]])
        return [zeros, ones, self._allocate_blocks()]

    def _allocate_blocks(self) -> Block:
        """Allocate Y and D^-1 Y; columns that no link fills are cleared."""
        size = TILE * self.groups.width
        for g, tiles in enumerate(self.groups.groups):
            self._blocks |= {(t, g): size * (len(self._blocks) + k) for k, t in enumerate(sorted(tiles))}
        self._behind = size * len(self._blocks)  # how far D^-1 Y stands behind Y
        start = self._work.allocate(2 * self._behind)
        self._blocks = {key: start + at for key, at in self._blocks.items()}
        empty = np.ones(self._behind // TILE, dtype=bool)
        for i, here in enumerate(self.tiles.tiles_by_node):
            for t in here if self.tiles.free[i] else ():
                first = (self._share_block(i, t) - start) // TILE
                empty[first : first + self.tiles.free[i]] = False
        steps = [(0, start + TILE * int(k), 0, 0) for k in np.flatnonzero(empty)]
        stores: list[Store] = [("a", at + k, 0.0) for at in (0, self._behind) for k in range(TILE)]
        return table_block(steps, [lambda tape: stores])

    def _share_block(self, node: int, tile: int) -> int:
        """The index of the first column of Y of a link, for a tile."""
        group = int(self.groups.group_of[node])
        return self._blocks[tile, group] + TILE * int(self.groups.column_of[node] - self.groups.width * group)

    # -- wrenches go inward ------------------------------------------------------------------------
    def wrench(self, row: int, number: int, loaded: Sequence[tuple[int, float]]) -> int:
        """The index of one of the wrenches of a row, which loads some links with a sign."""
        if (row, number) not in self._wrench_at:
            self._wrench_at[row, number] = at = self._work.allocate(6)
            tile, lane = divmod(int(self.tiles.place[row]), TILE)
            for node, sign in loaded:
                if node != WORLD:
                    self._entering.setdefault(node, {}).setdefault(tile, []).append((lane, at, sign))
        return self._wrench_at[row, number]

    def shares(self) -> Block:
        """Inward, for each link and tile that passes through it: Y and D^-1 Y, and what is left of the wrenches."""
        sizes = sorted(set(self.tiles.free) - {0})
        steps = list(self._inward({n: SHARE + k for k, n in enumerate(sizes)}))
        shares: list[Case] = [lambda tape, n=n: self._share(tape, n) for n in sizes]  # type: ignore[misc]
        return table_block(steps, [_begin, _enter, _enter_against, _merge, *shares])

    def _inward(self, share: Mapping[int, int]) -> Iterator[Step]:
        """The steps, from the tips of the tree to the world; ``share`` has the operation by the number of freedoms."""
        slots: list[dict[int, list[int]]] = [{} for _ in self.nodes]  # of wrenches that reach a link, by tile
        unused: list[int] = []
        for i in reversed(range(len(self.nodes))):
            parent = self.nodes[i].parent
            for tile in self.tiles.tiles_by_node[i]:
                found = slots[i].pop(tile, [])
                own = self._entering.get(i, {}).get(tile, [])
                if not found:
                    found = [unused.pop() if unused else self._work.allocate(SLOT)]
                    yield BEGIN, found[0], 0, 0
                for other in found[1:]:
                    yield MERGE, found[0], other, 0
                    unused.append(other)
                for lane, at, sign in own:
                    yield ENTER if sign > 0 else ENTER_AGAINST, found[0] + lane, at, 0
                if self.tiles.free[i]:
                    yield share[self.tiles.free[i]], found[0], int(self.fields[i]), self._share_block(i, tile)
                if parent == WORLD:
                    unused.append(found[0])
                else:
                    slots[parent].setdefault(tile, []).append(found[0])

    def _share(self, tape: Tape, n: int) -> list[Store]:
        """The share of n freedoms in the wrenches of a tile: y = S'F, D^-1 y; F decreases by U D^-1 y."""
        F = [read_vector(tape, "a", TILE * k) for k in range(6)]
        numbers = tape.inputs("b", n * (12 + n))
        S, U, D_inverse = numbers[: 6 * n].reshape(n, 6), numbers[6 * n : 12 * n].reshape(n, 6), numbers[12 * n :]
        y: list[Scalar] = [_sum(f * s for f, s in zip(F, column, strict=True)) for column in S]
        scaled = [_sum(x * d for x, d in zip(y, row, strict=True)) for row in D_inverse.reshape(n, n)]
        left: list[Scalar] = list(F)
        for x, column in zip(scaled, U, strict=True):
            left = [f - x * u for f, u in zip(left, column, strict=True)]
        stores = [*write_columns(tape, "c", y), *write_columns(tape, "c", scaled, self._behind)]
        return [*write_columns(tape, "a", left), *stores]

    # -- products ----------------------------------------------------------------------------------
    def products(self, right: int | None = None) -> Block:
        """A = Y' D^-1 Y of each elimination; the right-hand side loses Y' D^-1 times the shares of joints."""
        steps: list[Step] = []
        for among, elimination in self.eliminations.items():
            for g, tiles in enumerate(self.groups.groups):
                here = [(k, t, self._blocks[t, g]) for k, t in enumerate(among) if t in tiles]
                for at in range(0, TILE * self.groups.width, ENTRIES):
                    for a, (j, tile, column) in enumerate(here):
                        scaled = column + at + self._behind
                        met = ((i, row) for i, other, row in here[a:] if self.groups.meet(g, tile, other))
                        steps += [(0, elimination.tile(i, j), row + at, scaled) for i, row in met]
                        if right is not None:
                            share = self._share_starts[0] + g * self.groups.width + at // TILE
                            steps.append((1, right + TILE * j, scaled, share))
        return table_block(steps, [add_product, _subtract_shares])

    def subtract_shares(self, among: tuple[int, ...], right: int, sum_number: int) -> Block:
        """A right-hand side loses Y' D^-1 times the shares of joints, as the first one does in ``products``."""
        steps: list[Step] = []
        for g, tiles in enumerate(self.groups.groups):
            for at in range(0, TILE * self.groups.width, ENTRIES):
                share = self._share_starts[sum_number] + g * self.groups.width + at // TILE
                here = ((k, self._blocks[t, g] + self._behind) for k, t in enumerate(among) if t in tiles)
                steps += [(0, right + TILE * k, scaled + at, share) for k, scaled in here]
        return table_block(steps, [_subtract_shares])

    def load_joints(self, among: tuple[int, ...], multipliers: int, sum_number: int) -> Block:
        """The shares of joints grow by Y lam; ``multipliers`` is the index of the vector of some tiles' rows."""
        steps: list[Step] = []
        for g, tiles in enumerate(self.groups.groups):
            for at in range(0, TILE * self.groups.width, ENTRIES):
                share = self._share_starts[sum_number] + g * self.groups.width + at // TILE
                here = ((k, self._blocks[t, g]) for k, t in enumerate(among) if t in tiles)
                steps += [(0, share, block + at, multipliers + TILE * k) for k, block in here]
        return table_block(steps, [_add_loads])


def _sum(terms: Iterable[Scalar]) -> Scalar:
    first, *others = terms
    return sum(others, first)


def _begin(tape: Tape) -> list[Store]:
    """Clear the slot a."""
    return [("a", k, 0.0) for k in range(SLOT)]


def _enter(tape: Tape) -> list[Store]:
    """The wrench b is added to one row of a slot."""
    return [("a", TILE * k, tape.input("a", TILE * k) + tape.input("b", k)) for k in range(6)]


def _enter_against(tape: Tape) -> list[Store]:
    """The wrench b is subtracted from one row of a slot."""
    return [("a", TILE * k, tape.input("a", TILE * k) - tape.input("b", k)) for k in range(6)]


def _merge(tape: Tape) -> list[Store]:
    """The wrenches of the slot b are added to those of a."""
    columns = [read_vector(tape, "a", TILE * k) + read_vector(tape, "b", TILE * k) for k in range(6)]
    return write_columns(tape, "a", columns)


def _subtract_shares(tape: Tape) -> list[Store]:
    """a decreases by the tile b times c."""
    return write_columns(tape, "a", [minus_tile_times(tape, read_vector(tape, "a"))])


def _add_loads(tape: Tape) -> list[Store]:
    """a grows by the transposed tile b times c."""
    return [("a", m, tape.input("a", m) + total) for m, total in enumerate(transposed_times(tape))]
