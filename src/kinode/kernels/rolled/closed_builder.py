"""Builds the loop code of large systems with constraints, on the passes of ``closed_sweeps.py``.

motion         kinematics, accelerations for u_dot = 0; straight-line code of loads, efforts and rows; factors, rows,
               G M^-1 G', multipliers, accelerations
projection     kinematics, rows; factors, G M^-1 G', step of q; kinematics there; step of u
closure        kinematics; residuals, rates and entries of all rows
pose_errors    kinematics; errors of the cut joints' poses and how speeds change them
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial

import numpy as np

from kinode.algebra.trace import Tape
from kinode.jit.program import Block, Program, Store
from kinode.kernels.kernel_table import find_row
from kinode.kernels.rolled.closed_sweeps import ClosedSweeper, Response
from kinode.kernels.rolled.passing_rows import PassingRows, carried_wrenches, link_wrenches
from kinode.kernels.rolled.rolled_builder import RolledBuilder
from kinode.kernels.rolled.rolled_elimination import RUN, RolledElimination
from kinode.kernels.rolled.rolled_motion import RolledKinematics, RolledMotion
from kinode.kernels.rolled.tree_loops import TreeLoops, WorkSpace
from kinode.kernels.rolled.tree_sweeps import Iterations
from kinode.model.constraints.constraint import POSITIONS
from kinode.multibody.composition import Composition
from kinode.multibody.dependent_joints import PoseError
from kinode.multibody.kinematics import Kinematics
from kinode.multibody.restraints import loop_constraints
from kinode.multibody.restraints.loop_constraints import CutJointConstraint, freedoms
from kinode.multibody.restraints.projection import probe_rates
from kinode.multibody.snapshot import Snapshot
from kinode.structure.topology import Topology


class RowMemory:
    """Where in ``work`` the rows have their wrenches and shares, and the iterations over pairs.

    ``joint_shares`` are the indices of shares of joints; those of a projection are sums that begin at zero.
    """

    def __init__(self, rows: PassingRows, topology: Topology, work: WorkSpace, sums: int) -> None:
        self.rows, self.nodes, self.topology = rows, topology.tree.nodes, topology
        pairs = rows.pairs
        self._start = work.size
        self._index = {(int(i), int(r)): p for p, (i, r) in enumerate(pairs)}
        self._wrench = work.allocate(6 * len(pairs)) + 6 * np.arange(len(pairs), dtype=np.int64)
        speeds = np.array([_speed(topology, node.joint.name) for node in self.nodes], dtype=np.int64)
        self.joint_shares = [work.allocate(topology.n_u) + np.maximum(speeds, 0) for _ in range(sums)]
        self._free = speeds >= 0
        self.eliminations: dict[tuple[int, ...], RolledElimination] = {}
        self._work = work
        sizes = np.array([self.nodes[i].joint.n_u for i in pairs[:, 0]], dtype=np.int64)
        self._sizes, self._offsets = sizes, np.cumsum(sizes) - sizes

    def eliminate(self, among: tuple[int, ...]) -> RolledElimination:
        """The elimination of G M^-1 G' of some rows."""
        if among not in self.eliminations:
            new = RolledElimination(self.rows.neighbors(among), self._work.size)
            self._work.allocate(new.size)
            self.eliminations[among] = new
        return self.eliminations[among]

    def clear(self) -> Block:
        """Everything that has been allocated so far becomes zero; then the shares of pairs are allocated."""
        count = -(-(self._work.size - self._start) // RUN)
        self._work.size = self._start + RUN * count
        offsets = self._start + RUN * np.arange(count, dtype=np.int64)
        total = int(self._sizes.sum())
        self._share, self._scaled = (self._work.allocate(total) + self._offsets for _ in range(2))
        return Block(count, {"cleared": ("work", offsets)}, [[("cleared", k, 0.0) for k in range(RUN)]])

    def wrench(self, node: int, row: int) -> int:
        """The index of the wrench of a pair."""
        return int(self._wrench[self._index[node, row]])

    def pairs(self, right: np.ndarray | None = None) -> Iterations:
        """All pairs, from the tips inward; ``right`` has the index of each row's right-hand side."""
        nodes, rows = self.rows.pairs.T
        above = [self._index.get((self.nodes[i].parent, r), 0) for i, r in self.rows.pairs.tolist()]
        views = {
            "row_wrench": ("work", self._wrench), "wrench_above": ("work", self._wrench[above]),
            "row_share": ("work", self._share), "row_scaled": ("work", self._scaled),
        }  # fmt: skip
        return Iterations(nodes, views if right is None else {**views, "right": ("work", right[rows])})

    def free_pairs(self, among: Sequence[int], multipliers: np.ndarray, joint_share: np.ndarray) -> Iterations:
        """Pairs of some rows and links whose joints have speeds of the state."""
        number = {r: k for k, r in enumerate(among)}
        chosen = [p for p, (i, r) in enumerate(self.rows.pairs.tolist()) if self._free[i] and r in number]
        nodes, rows = self.rows.pairs[chosen].T
        at = multipliers[[number[r] for r in rows.tolist()]]
        shares = ("work", joint_share[nodes])
        return Iterations(
            nodes, {"multiplier": ("work", at), "row_share": ("work", self._share[chosen]), "joint_share": shares}
        )

    def triples(self) -> Iterations:
        """Links whose joints have speeds of the state, and two rows that pass through them, of each elimination."""
        triples: list[tuple[int, int, int, int]] = []
        for among, elimination in self.eliminations.items():
            number = {r: k for k, r in enumerate(among)}
            for i in np.flatnonzero(self._free).tolist():
                here = [r for r in self.rows.rows_by_node[i] if r in number]
                for a, r in enumerate(here):
                    for s in here[: a + 1]:
                        entry = elimination.entry(number[r], number[s])
                        triples.append((i, self._index[i, r], self._index[i, s], entry))
        nodes, one, two, entries = np.array(triples, dtype=np.int64).reshape(-1, 4).T
        return Iterations(
            nodes,
            {
                "row_share": ("work", self._share[one]),
                "row_scaled": ("work", self._scaled[two]),
                "product": ("work", entries),
            },
        )


def _speed(topology: Topology, joint: str) -> int:
    """The index in u of the first speed of a joint; -1 for a joint without."""
    where = topology.u_of.get(joint)
    return -1 if where is None or where.start == where.stop else where.start


class ClosedBuilder(RolledBuilder):
    """Builds the loop code of a kernel of a system with constraints."""

    def program(self) -> Program:
        """The whole program."""
        match self.kernel.name:
            case "closure":
                blocks, constants, size = self._closure()
            case "pose_errors":
                blocks, constants, size = self._pose_errors()
            case "projection":
                blocks, constants, size = self._projection()
            case _:
                return super().program()
        sizes = {**self.count, "work": self.work.size, "out": size}
        blocks = [*self._straight(self.prelude_stores), *blocks]
        return Program("kernel", sizes, constants, blocks, find_row(self.kernel).rare)

    @cached_property
    def _rows(self) -> PassingRows:
        """The independent rows."""
        return PassingRows(self.snapshot(Tape(), full=False).kinematics, self.topology.rows)

    def _row_wrenches(self, kinematics: Kinematics, memory: RowMemory) -> Iterator[Store]:
        """The stores of the wrenches of unit multipliers on links."""
        for constraint in self._rows.constraints:
            numbers = self._rows.numbers_of(constraint)
            if not numbers:
                continue
            for node, wrenches in link_wrenches(kinematics, constraint).items():
                for r, k in numbers:
                    at = memory.wrench(node, r)
                    for j, x in enumerate(np.concatenate(wrenches[k])):
                        yield "work", at + j, x

    def _sweep(self, loops: TreeLoops) -> ClosedSweeper:
        loaded = loops.loaded
        return ClosedSweeper(
            poses="X" in loaded or "sums" in loaded, speeds="v" in loaded or "sums" in loaded,
            rates=self.kernel.name == "rate", given=None, effort_out=False,
            added=self.adds_efforts,
        )  # fmt: skip

    # -- motion ------------------------------------------------------------------------------------
    def _find_loaded(self, loops: TreeLoops) -> None:
        super()._find_loaded(loops)
        if self.needs_motion:
            kinematics = self.snapshot(Tape(), full=False).kinematics
            for constraint in self._rows.constraints:
                link_wrenches(kinematics, constraint)
            kinematics.constraints.chosen(loop_constraints.bias)

    def _forward_loops(self, constants: dict[str, np.ndarray]) -> list[Block]:
        if not self.needs_motion:
            return super()._forward_loops(constants)
        loaded, rows = self.loops.loaded, self._rows
        every = tuple(range(len(rows)))
        memory = RowMemory(rows, self.topology, self.work, 1)
        elimination = memory.eliminate(every)
        x = self.work.allocate(len(rows))
        clear = memory.clear()
        (joint_share,), right = memory.joint_shares, x + elimination.rank
        sweeper = self._sweep(self.loops)
        passes = [
            sweeper.kinematics(),
            sweeper.unaccelerated(),
            sweeper.factors(2, moving=True),
            sweeper.row_shares(3, memory.pairs(right), moving=True),
            sweeper.products(4, memory.triples()),
            sweeper.load_joints(5, memory.free_pairs(every, right, joint_share)),
            sweeper.responses(
                6, share="joint_share", to=Response.ACCELERATION if self.is_motion else None,
                keep=self.largest_n_u if loaded & {"A", "u_dot"} else 0,
            ),
        ]  # fmt: skip
        if "sums" in loaded:
            passes.append(sweeper.momentum_sums())
        self.loops.positions["multipliers"] = right
        blocks = self._lay_out(self.loops, {"joint_share": ("work", joint_share)}, passes, constants, "a")
        expressions = self.loops.expressions(Tape())
        kinematics = self.snapshot(Tape(), full=False).kinematics
        stores = [*self._row_wrenches(kinematics, memory)]
        biases = kinematics.constraints.chosen(loop_constraints.bias)
        stores += [("work", int(at), -bias) for at, bias in zip(right, biases, strict=True)]
        blocks = [
            *blocks[:2], clear, *self._straight(expressions), *self._straight(stores), *blocks[2:5],
            elimination.factorize(), elimination.solve(x), *blocks[5:],
        ]  # fmt: skip
        if self._sweeps_full:
            blocks += self._full_loops(constants)
        return blocks

    # -- projection --------------------------------------------------------------------------------
    def _projection(self) -> tuple[list[Block], dict[str, np.ndarray], int]:
        """One Newton step of q and of u, as in ``multibody.restraints.projection``."""
        rows, topology = self._rows, self.topology
        every = tuple(range(len(rows)))
        held = tuple(k for k, unit in enumerate(rows.units) if unit in POSITIONS)
        there = TreeLoops(self, topology.tree)
        memory = RowMemory(rows, topology, self.work, 2)
        positions, whole = memory.eliminate(held), memory.eliminate(every)
        clear = memory.clear()
        x, y, w = (self.work.allocate(len(rows)) for _ in range(3))
        start = partial(self._start_of_projection, memory, positions, x, held, whole, w)
        start(), self._drift(there, y)
        sweeper, (one, two) = self._sweep(self.loops), memory.joint_shares
        passes = [
            sweeper.kinematics(),
            sweeper.factors(1, moving=False),
            sweeper.row_shares(2, memory.pairs(), moving=False),
            sweeper.products(3, memory.triples()),
            sweeper.load_joints(4, memory.free_pairs(held, x + positions.rank, one)),
            sweeper.responses(5, share="one", to=Response.STEP_OF_Q),
            sweeper.load_joints(6, memory.free_pairs(every, y + whole.rank, two)),
            sweeper.responses(7, share="two", to=Response.STEP_OF_U, name="again"),
        ]
        constants: dict[str, np.ndarray] = {}
        a = self._lay_out(self.loops, {"one": ("work", one), "two": ("work", two)}, passes, constants, "a")
        offsets = [
            topology.q_of[n.joint.name].start if n.joint.name in topology.q_of else 0 for n in topology.tree.nodes
        ]
        moved = {"q": ("out", np.array(offsets, dtype=np.int64))}
        b = self._lay_out(there, moved, [self._sweep(there).kinematics()], constants, "b")
        factors = [elimination.factorize() for elimination in memory.eliminations.values()]
        tape = Tape()
        z, n = topology.layout.traced_point(tape).z, topology.n_q + topology.n_u
        tail = [("out", n + k, value) for k, value in enumerate([*z, whole.quadratic_form(tape, w)])]
        blocks = [
            a[0], clear, *self._straight(start()), *a[1:4], *factors, positions.solve(x), a[4], a[5],
            *b, *self._straight(self._drift(there, y + whole.rank)), whole.solve(y), a[6], a[7],
            whole.forward(w), *self._straight(tail),
        ]  # fmt: skip
        return blocks, constants, n + topology.n_z + 1

    def _start_of_projection(
        self, memory: RowMemory, positions: RolledElimination, x: int, held: tuple[int, ...],
        whole: RolledElimination, w: int,
    ) -> list[Store]:  # fmt: skip
        """The stores of wrenches, residuals and of the rates that probe the effective mass."""
        kinematics = self.snapshot(Tape(), full=False).kinematics
        residual = kinematics.constraints.chosen(loop_constraints.residual)[list(held)]
        stores = [*self._row_wrenches(kinematics, memory)]
        stores += [("work", int(x + k), -value) for k, value in zip(positions.rank, residual, strict=True)]
        probe = probe_rates(len(self._rows))
        return stores + [("work", int(w + k), float(value)) for k, value in zip(whole.rank, probe, strict=True)]

    def _drift(self, loops: TreeLoops, at: np.ndarray | int) -> list[Store]:
        """The stores of the rates of the rows at the projected position, with the speeds before the projection."""
        tape = Tape()
        point = self.topology.layout.traced_point(tape).replaced(q=tape.inputs("out", self.topology.n_q))
        kinematics = partial(RolledKinematics, loops_of=lambda tree: loops, tape=tape)
        composition = Composition(kinematics=kinematics, motion=RolledMotion)
        snapshot = Snapshot(self.topology, point, formulation=composition)
        drift = snapshot.constraints.chosen(loop_constraints.drift)
        return [("work", int(k), -value) for k, value in zip(np.zeros(len(drift)) + at, drift, strict=True)]

    # -- rows and poses ----------------------------------------------------------------------------
    def _closure(self) -> tuple[list[Block], dict[str, np.ndarray], int]:
        """Residuals and rates of all rows, and the entries of their Jacobian, as ``kernel_outputs.closure``."""
        self._closure_stores([])
        self.loops.loaded |= {"X"}
        entries: list[tuple[int, int, int]] = []
        self._closure_stores(entries)
        nodes, loads, outs = np.array(entries, dtype=np.int64).reshape(-1, 3).T
        pairs = Iterations(nodes, {"carried": ("work", loads), "entries": ("out", outs)})
        sweeper, constants = self._sweep(self.loops), dict[str, np.ndarray]()
        blocks = self._lay_out(self.loops, {}, [sweeper.kinematics(), sweeper.row_entries(1, pairs)], constants, "a")
        stores, size = self._closure_stores([])
        return [blocks[0], *self._straight(stores), blocks[1]], constants, size

    def _closure_stores(self, entries: list[tuple[int, int, int]]) -> tuple[list[Store], int]:
        """The stores of residuals, rates and loads, and the size of ``out``.

        ``entries`` gets node, index of its load in ``work`` and index of the first entry in ``out`` of each pair.
        """
        kinematics = self.snapshot(Tape(), full=False).kinematics
        constraints = kinematics.constraints
        values = [x for f in (loop_constraints.residual, loop_constraints.drift) for x in constraints.every(f)]
        stores: list[Store] = [("out", k, x) for k, x in enumerate(values)]
        out = len(values)
        for constraint in constraints.loop_constraints:
            carried, loads = carried_wrenches(kinematics, constraint)
            at = {}
            for frames, wrenches in loads.items():
                key = constraint.name, tuple(map(str, frames))
                if key not in self._loads_at:
                    self._loads_at[key] = self.work.allocate(wrenches.size)
                at[frames] = self._loads_at[key]
                stores += [("work", at[frames] + k, x) for k, x in enumerate(wrenches.ravel())]
            n_columns = sum(kinematics.tree.nodes[i].joint.n_u for i in carried)
            for k in range(len(constraint.units)):
                here = out + k * n_columns
                for i, frames in carried.items():
                    entries.append((i, at[frames] + 6 * k, here))
                    here += kinematics.tree.nodes[i].joint.n_u
            out += len(constraint.units) * n_columns
        return stores, out

    @cached_property
    def _loads_at(self) -> dict[tuple[str, tuple[str, ...]], int]:
        return {}

    def _pose_errors(self) -> tuple[list[Block], dict[str, np.ndarray], int]:
        """Errors of the poses of cut joints and how speeds change them, as ``dependent_joints.pose_errors``."""
        axes_at = self.work.allocate(42 * len(self.topology.cuts))
        self._pose_stores(axes_at, [])
        self.loops.loaded |= {"X"}
        entries: list[tuple[int, int, int]] = []
        self._pose_stores(axes_at, entries)
        nodes, axes, outs = np.array(entries, dtype=np.int64).reshape(-1, 3).T
        pairs = Iterations(nodes, {"cut_axes": ("work", axes), "entries": ("out", outs)})
        sweeper, constants = self._sweep(self.loops), dict[str, np.ndarray]()
        blocks = self._lay_out(self.loops, {}, [sweeper.kinematics(), sweeper.pose_columns(1, pairs)], constants, "a")
        stores, size = self._pose_stores(axes_at, [])
        return [blocks[0], *self._straight(stores), blocks[1]], constants, size

    def _pose_stores(self, axes_at: int, entries: list[tuple[int, int, int]]) -> tuple[list[Store], int]:
        """The stores of errors and axes, and the size of ``out``; ``entries`` as in ``_closure_stores``."""
        tape = Tape()
        kinematics, x = self.snapshot(tape, full=False).kinematics, tape.inputs("x", self.count["x"])
        stores: list[Store] = []
        out = start = 0
        for cut in self.topology.cuts:
            error = PoseError(kinematics, cut, x[start : start + cut.joint.n_q])
            start += cut.joint.n_q
            stores += [("out", out + k, value) for k, value in enumerate(error.head)]
            out += len(error.head)
            for k, value in enumerate(np.concatenate([error.axes(1.0), error.axes(-1.0)])):
                stores.append(("work", axes_at + k, value))
            for i in dict.fromkeys(i for i, _, _, _ in freedoms(kinematics, CutJointConstraint(cut))):
                entries.append((i, axes_at + (0 if i in error.child else 21), out))
                out += 6 * kinematics.tree.nodes[i].joint.n_u
            stores += [("out", out + k, value) for k, value in enumerate(error.tail)]
            out += len(error.tail)
            axes_at += 42
        return stores, out
