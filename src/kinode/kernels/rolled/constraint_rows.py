"""The rows of constraints on a large tree: which links each loads, tiles of four of them, memory and loops for
Y = L^-1 G' and G M^-1 G'.

A row with the multiplier 1 loads the links of its frames with wrenches, by virtual power, about one point and in world
axes, so that a wrench is the same for all links between these and the world, until a freedom takes its share of it
(``constraint_passes.py``).  A pair is a link together with a row that passes through it.

Rows of one constraint load the same links, and rows whose links are the same fill one tile as far as they follow each
other in the order of elimination (minimum degree, ``sparse_ldl.py``).  Freedoms through which the same tiles pass form
a group.  Y has a block for each tile and each group that it passes through: four rows, column by column, and a column
for each freedom.  Wrenches of the four rows of a tile stand beside each other, in a slot: six vectors.  A slot is used
again where its wrenches have reached the world.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.sparse_ldl import elimination_order
from kinode.algebra.spatial import ZERO3, cross
from kinode.algebra.trace import Tape
from kinode.jit.program import Block, Store
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
from kinode.kernels.rolled.tree_loops import WorkSpace
from kinode.model.base.frames import Frame
from kinode.model.constraints.constraint import POSITIONS
from kinode.model.system import joint_frame
from kinode.multibody.kinematics import SIDES, Kinematics
from kinode.multibody.loop_constraints import LoopConstraint, carriers_of, frames_of, freedoms_of, row_rates
from kinode.structure.topology import Topology
from kinode.structure.tree import WORLD


class PassingRows:
    """Some rows of all constraints: the constraint of each row, and its number among the rows of the constraint."""

    def __init__(self, kinematics: Kinematics, chosen: Sequence[int] | None) -> None:
        constraints = kinematics.constraints.loop_constraints
        every = [(constraint, k) for constraint in constraints for k in range(len(constraint.units))]
        self.constraints = constraints
        self.rows = every if chosen is None else [every[k] for k in chosen]
        self.units = [constraint.units[k] for constraint, k in self.rows]
        self._kinematics = kinematics
        self._numbers: dict[int, list[tuple[int, int]]] = {}
        for r, (constraint, k) in enumerate(self.rows):
            self._numbers.setdefault(id(constraint), []).append((r, k))

    def __len__(self) -> int:
        return len(self.rows)

    def numbers_of(self, constraint: LoopConstraint) -> Iterable[tuple[int, int]]:
        """The rows of a constraint among these rows, and their numbers in the constraint."""
        return self._numbers.get(id(constraint), [])

    @cached_property
    def rows_by_node(self) -> list[list[int]]:
        """The rows that pass through each link."""
        passing: list[list[int]] = [[] for _ in self._kinematics.tree.nodes]
        nodes_of = {id(constraint): loaded_nodes(self._kinematics, constraint) for constraint in self.constraints}
        for r, (constraint, _) in enumerate(self.rows):
            for i in nodes_of[id(constraint)]:
                passing[i].append(r)
        return passing


def loaded_nodes(kinematics: Kinematics, constraint: LoopConstraint) -> set[int]:
    """The links between the world and the frames of a constraint."""
    frames, joints = constraint.find_dependencies(kinematics)
    frames = [*frames, *(joint_frame(kinematics.system.joints[j], side) for j in joints for side in SIDES)]
    return set[int]().union(*(carriers_of(kinematics, frame) for frame in frames))


def unit_wrenches(kinematics: Kinematics, constraint: LoopConstraint, about: Array) -> list[tuple[Frame, Array]]:
    """The frames that a constraint loads, and for each unit multiplier moment about a point and force: rows x 6.

    All is in world axes.
    """
    rates = kinematics.constraints.virtual_rates(constraint)
    return [(frame, _wrenches_at(kinematics, frame, each, about)) for frame, each in rates]


def _wrenches_at(kinematics: Kinematics, frame: Frame, rates: list[Array], about: Array) -> Array:
    """The load on a frame from the rates of rows for the six unit velocities of it: rows x 6."""
    p = kinematics.pose(frame).p - about
    wrenches = []
    for values in zip(*rates, strict=True):
        force = tidy(values[3:])
        wrenches.append(np.concatenate([tidy(values[:3]) + cross(p, force), force]))
    return np.array(wrenches, dtype=object).reshape(-1, 6)


def _child_wrenches(kinematics: Kinematics, constraint: LoopConstraint, child: Frame, about: Array) -> Array:
    """The same for the child's frame of a cut joint; that of its parent is not traced in vain."""

    def rates(unit: Array) -> Array:
        def speed(frame: Frame) -> tuple[Array, Array]:
            return (unit[:3], unit[3:]) if frame == child else (np.zeros(3), np.zeros(3))

        return row_rates(kinematics, constraint, speed, _turn_nothing)

    return _wrenches_at(kinematics, child, [rates(unit) for unit in np.eye(6)], about)


def _turn_nothing(name: str) -> Array:
    """Rates of the coordinates of a tree joint, on which the pose of a cut joint does not depend."""
    raise AssertionError(name)


def entering_wrenches(
    kinematics: Kinematics, constraint: LoopConstraint, about: Array
) -> list[tuple[Array, list[tuple[int, float]]]]:
    """Wrenches for unit multipliers, rows x 6, each with the links that it loads and its sign there.

    Where a constraint joins two frames, the wrench on one is the negative of that on the other.  That on the child of
    a cut joint, in whose parent's axes the rows are, takes fewer operations.
    """
    if constraint.relative:
        parent, child = constraint.find_dependencies(kinematics)[0]
        if parent != child:
            other, node = (kinematics.locate_frame(frame)[0] for frame in (parent, child))
            return [(_child_wrenches(kinematics, constraint, child, about), [(other, -1.0), (node, 1.0)])]
    return [
        (wrenches, [(kinematics.locate_frame(frame)[0], 1.0)])
        for frame, wrenches in unit_wrenches(kinematics, constraint, about)
    ]


def carried_frames(kinematics: Kinematics, constraint: LoopConstraint) -> dict[int, tuple[Frame, ...]]:
    """The frames of a constraint that each link carries which can change its rows."""
    relative = constraint.relative
    frames = constraint.find_dependencies(kinematics)[0] if relative else frames_of(kinematics, constraint)
    carriers = {frame: carriers_of(kinematics, frame) for frame in frames}
    nodes = dict.fromkeys(i for i, _, _, _ in freedoms_of(kinematics, constraint))
    return {i: tuple(frame for frame in carriers if i in carriers[frame]) for i in nodes}


def carried_wrenches(kinematics: Kinematics, constraint: LoopConstraint) -> dict[tuple[Frame, ...], Array]:
    """The load on each set of frames that some link carries.

    The load is moment about the world's origin and force for each row, in world axes: rows x 6.
    """
    loads = dict(unit_wrenches(kinematics, constraint, ZERO3))
    none = np.zeros((len(constraint.units), 6))
    sets = dict.fromkeys(carried_frames(kinematics, constraint).values())
    return {frames: sum((loads[f] for f in frames), none) for frames in sets}


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
