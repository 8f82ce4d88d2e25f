"""Rows of constraints in tiles of four, and freedoms of joints in groups: what loop code works on at a time.

Rows of one constraint load the same links, and rows whose links are the same fill one tile as far as they follow each
other in the order of elimination (minimum degree, ``sparse_ldl.py``).  Freedoms through which the same tiles pass form
a group.  Y = L^-1 G' has a block for each tile and each group that it passes through: four rows, column by column, and
a column for each freedom.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from kinode.algebra.sparse_ldl import elimination_order
from kinode.kernels.rolled.passing_rows import PassingRows
from kinode.kernels.rolled.rolled_elimination import TILE
from kinode.model.constraints.constraint import POSITIONS
from kinode.structure.topology import Topology


class RowTiles:
    """The rows of each tile, and the tiles that pass through each link.

    ``held`` says of each tile whether its rows constrain positions; no tile has rows of both kinds.
    """

    def __init__(self, rows: PassingRows, topology: Topology) -> None:
        self._rows, self._nodes = rows, topology.tree.nodes
        self.free = [node.joint.n_u if node.joint.name in topology.u_of else 0 for node in topology.tree.nodes]
        self.tiles: list[list[int]] = []
        self.held: list[bool] = []
        self._fill()
        self.place = np.zeros(len(rows), dtype=np.int64)  # of each row among the entries of all tiles
        for k, tile in enumerate(self.tiles):
            self.place[tile] = TILE * k + np.arange(len(tile))

    def _fill(self) -> None:
        """Put the rows into tiles, in the order in which they are eliminated."""
        bunches: dict[tuple[str, bool], list[int]] = {}
        for r, (constraint, _) in enumerate(self._rows.rows):
            bunches.setdefault((constraint.name, self._rows.units[r] in POSITIONS), []).append(r)
        bunch_of = {r: b for b, rows in enumerate(bunches.values()) for r in rows}
        through = [{bunch_of[r] for r in rows} for rows in self._rows.rows_by_node]
        neighbors = find_neighbors(len(bunches), [here for here, n in zip(through, self.free, strict=True) if n])
        members, kinds = list(bunches.values()), [held for _, held in bunches]
        last: set[int] = set()  # the bunches of the tile that is being filled
        for b in elimination_order(neighbors, len(bunches)):
            if not last or not last <= neighbors[b] or self.held[-1] != kinds[b]:
                last = set()
            for r in members[b]:
                if not last or len(self.tiles[-1]) == TILE:
                    self.tiles.append([])
                    self.held.append(kinds[b])
                    last = set()
                self.tiles[-1].append(r)
                last.add(b)

    @cached_property
    def tiles_by_node(self) -> list[list[int]]:
        """The tiles that pass through each link."""
        return [sorted({int(self.place[r]) // TILE for r in rows}) for rows in self._rows.rows_by_node]

    def neighbors(self, among: Sequence[int]) -> list[set[int]]:
        """For each of some tiles the others of them that pass through a freedom of its links, by their numbers."""
        number = {tile: k for k, tile in enumerate(among)}
        loaded = [here for here, n in zip(self.tiles_by_node, self.free, strict=True) if n]
        return find_neighbors(len(among), [{number[t] for t in here if t in number} for here in loaded])


class FreedomGroups:
    """The columns of Y: groups of freedoms, with as many columns as whole tiles have.

    ``groups`` are the tiles that pass through each group; ``column_of`` has the first column of each link and
    ``group_of`` its group, or -1.
    """

    def __init__(self, tiles: RowTiles) -> None:
        loaded = [i for i, here in enumerate(tiles.tiles_by_node) if here and tiles.free[i]]
        loaded.sort(key=lambda i: (tiles.tiles_by_node[i][::-1], i))
        self.width = TILE * -(-max((tiles.free[i] for i in loaded), default=1) // TILE)  # columns of a group
        self.column_of = np.zeros(len(tiles.free), dtype=np.int64)
        self.group_of = np.full(len(tiles.free), -1, dtype=np.int64)
        self.groups: list[set[int]] = []
        self._pairs: list[set[tuple[int, int]]] = []
        free = 0  # columns that are left in the last group
        for i in loaded:
            if free < tiles.free[i]:
                self.groups.append(set())
                self._pairs.append(set())
                free = self.width
            self.group_of[i] = len(self.groups) - 1
            self.column_of[i] = self.width * len(self.groups) - free
            self.groups[-1] |= set(tiles.tiles_by_node[i])
            self._pairs[-1] |= set(combinations_with_replacement(tiles.tiles_by_node[i], 2))
            free -= tiles.free[i]
        self.n_columns = self.width * len(self.groups)
        self._place_others(tiles)

    def meet(self, group: int, one: int, two: int) -> bool:
        """Whether two tiles, the first not behind the second, pass through the same link of a group."""
        return (one, two) in self._pairs[group]

    def _place_others(self, tiles: RowTiles) -> None:
        """Freedoms without rows: their columns stand behind all groups, and Y has nothing there."""
        for i, n in enumerate(tiles.free):
            if n and self.group_of[i] < 0:
                self.column_of[i] = self.n_columns
                self.n_columns += n


def find_neighbors(count: int, cliques: Sequence[set[int]]) -> list[set[int]]:
    """The neighbors of each of ``count`` nodes of a graph, of whose nodes those of each clique are all connected."""
    neighbors: list[set[int]] = [set() for _ in range(count)]
    for clique in {frozenset(clique) for clique in cliques}:
        for k in clique:
            neighbors[k] |= clique
    return [row - {k} for k, row in enumerate(neighbors)]
