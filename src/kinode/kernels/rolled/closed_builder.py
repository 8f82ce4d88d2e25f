"""Builds the loop code of large systems with constraints, on the passes of ``constraint_passes.py``.

motion         kinematics, accelerations for u_dot = 0; straight-line code of loads and efforts; rows; factors, rows,
               G M^-1 G', multipliers, accelerations
projection     kinematics, rows; factors, G M^-1 G', step of q; kinematics there; step of u
closure        kinematics; residuals, rates and entries of all rows
pose_errors    kinematics; errors of the cut joints' poses and how speeds change them
loop_rates     both of these, to be differentiated
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial

import numpy as np

from kinode.algebra.trace import Tape
from kinode.jit.program import Block, Program, Store
from kinode.kernels.kernel_table import find_row
from kinode.kernels.rolled.constraint_passes import ClosedSweeper, ClosureBlocks, Response
from kinode.kernels.rolled.constraint_rows import PassingRows, RowMemory, entering_wrenches
from kinode.kernels.rolled.repeated_cuts import CutGroup, CutKinematics, RepeatedCuts, Trace
from kinode.kernels.rolled.rolled_builder import RolledBuilder
from kinode.kernels.rolled.rolled_elimination import copy_block
from kinode.kernels.rolled.rolled_motion import RolledKinematics, RolledMotion
from kinode.kernels.rolled.tree_loops import TreeLoops, straight_blocks
from kinode.kernels.rolled.tree_sweeps import Iterations
from kinode.model.constraints.constraint import POSITIONS
from kinode.multibody import loop_constraints
from kinode.multibody.kinematics import Kinematics
from kinode.multibody.loop_constraints import CutJointConstraint, RowFunction, probe_rates
from kinode.multibody.snapshot import Composition, Snapshot


class ClosedBuilder(RolledBuilder):
    """Builds the loop code of a kernel of a system with constraints."""

    def program(self) -> Program:
        """The whole program."""
        match self.kernel.name:
            case "closure" | "pose_errors" | "loop_rates":
                blocks, constants, size = self._rows_and_poses()
            case "projection":
                blocks, constants, size = self._projection()
            case _:
                return super().program()
        sizes = {**self.count, "work": self.work.size, "out": size}
        blocks = [*straight_blocks(self.prelude_stores), *blocks]
        return Program("kernel", sizes, constants, blocks, find_row(self.kernel).rare)

    @cached_property
    def _rows(self) -> PassingRows:
        """The independent rows."""
        return PassingRows(self.snapshot(Tape(), full=False).kinematics, self.topology.rows)

    @cached_property
    def _cuts(self) -> RepeatedCuts:
        """The constraints of the independent rows: loops over cut joints, and the others."""
        return RepeatedCuts(self, self._rows)

    def _row_wrenches(self, kinematics: Kinematics, memory: RowMemory) -> Iterator[Store]:
        """The stores of the wrenches of unit multipliers on links, and of their point: the origin of the first link.

        Those of cut joints in loops are left out.
        """
        point = kinematics.link_poses[0].p
        for k, x in enumerate(point):
            yield "work", memory.reference + k, x
        for constraint in self._cuts.alone:
            rows = self._rows.numbers_of(constraint)
            if not rows:
                continue
            for number, (wrenches, loaded) in enumerate(entering_wrenches(kinematics, constraint, point)):
                for r, k in rows:
                    at = memory.wrench(r, number, loaded)
                    for j, x in enumerate(wrenches[k]):
                        yield "work", at + j, x

    def _stores_alone(self, kinematics: Kinematics, function: RowFunction, at: np.ndarray) -> Iterator[Store]:
        """The stores of the negative values of rows outside of loops; ``at`` has the place of every row."""
        alone = self._cuts.alone
        for constraint, values in zip(alone, function(kinematics, alone), strict=True):
            for r, k in self._rows.numbers_of(constraint):
                if at[r] >= 0:
                    yield "work", int(at[r]), -values[k]

    def _row_loops(
        self, loops: TreeLoops, function: RowFunction, at: np.ndarray, memory: RowMemory | None = None
    ) -> Iterator[Block]:
        """The loops over cut joints: negative values of their rows and, with a memory, the wrenches of these."""
        for group in self._cuts.groups:
            rows = self._cuts.rows_of(group)
            views = {f"value{j}": ("work", at[r]) for j, r in enumerate(rows.T)}
            if memory is not None:
                places = [
                    [memory.wrench(int(r), 0, ((a, -1.0), (b, 1.0))) for r in several]
                    for several, (a, b) in zip(rows, group.nodes.tolist(), strict=True)
                ]
                wrenches = np.array(places, dtype=np.int64).reshape(rows.shape).T
                views |= {f"wrench{j}": ("work", each) for j, each in enumerate(wrenches)}
            yield self._cuts.block(group, loops, self._row_trace(function, group, memory), views)

    def _find_rows_loaded(self, loops: TreeLoops, function: RowFunction) -> None:
        """Note what the loops over cut joints read."""
        for group in self._cuts.groups:
            self._cuts.trace(group, loops, self._row_trace(function, group, None))

    def _row_trace(self, function: RowFunction, group: CutGroup, memory: RowMemory | None) -> Trace:
        """What is traced of a cut joint: values of its rows, and wrenches if there is a memory of them."""

        def trace(kinematics: CutKinematics, cut: CutJointConstraint) -> Iterator[Store]:
            values = function(kinematics, [cut])[0]
            yield from ((f"value{j}", 0, -values[k]) for j, k in enumerate(group.rows))
            if memory is not None:
                point = np.array([kinematics.tape.load("work", memory.reference + k) for k in range(3)], dtype=object)
                wrenches = entering_wrenches(kinematics, cut, point)[0][0]
                for j, k in enumerate(group.rows):
                    yield from ((f"wrench{j}", i, x) for i, x in enumerate(wrenches[k]))

        return trace

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
            for constraint in self._cuts.alone:
                entering_wrenches(kinematics, constraint, kinematics.link_poses[0].p)
            loop_constraints.bias(kinematics, self._cuts.alone)
            self._find_rows_loaded(loops, loop_constraints.bias)

    def _forward_loops(self, constants: dict[str, np.ndarray]) -> list[Block]:
        if not self.needs_motion:
            return super()._forward_loops(constants)
        loaded, rows = self.loops.loaded, self._rows
        memory = RowMemory(rows, self.topology, self.work, 1)
        every = tuple(range(len(memory.tiles.tiles)))
        x = memory.vector(every)
        elimination = memory.eliminate(every)
        clear = memory.clear()
        right = x + memory.places(every, range(len(rows)))
        sweeper = self._sweep(self.loops)
        passes = [
            sweeper.kinematics(),
            sweeper.unaccelerated(),
            sweeper.factors(2, moving=True),
            sweeper.responses(
                3, share="joint_share", to=Response.ACCELERATION if self.is_motion else None,
                keep=self.largest_n_u if loaded & {"A", "u_dot"} else 0,
            ),
        ]  # fmt: skip
        if "sums" in loaded:
            passes.append(sweeper.momentum_sums())
        self.loops.positions["multipliers"] = right
        views = {"joint_share": ("work", memory.joint_shares[0]), **self._row_views(memory)}
        blocks = self._lay_out(self.loops, views, passes, constants, "a")
        expressions = [*self.loops.expression_blocks(constants)]
        kinematics = self.snapshot(Tape(), full=False).kinematics
        stores = [*self._row_wrenches(kinematics, memory)]
        stores += self._stores_alone(kinematics, loop_constraints.bias, right)
        rows_of_cuts = [*self._row_loops(self.loops, loop_constraints.bias, right, memory)]
        constants |= self._cuts.constants
        blocks = [
            *blocks[:2], *clear, *expressions, *straight_blocks(stores), *rows_of_cuts, blocks[2],
            memory.shares(), memory.products(x), elimination.factorize(), elimination.solve(x),
            memory.load_joints(every, x, 0), *blocks[3:],
        ]  # fmt: skip
        if self._sweeps_full:
            blocks += self._full_loops(constants)
        return blocks

    def _row_views(self, memory: RowMemory) -> dict[str, tuple[str, np.ndarray]]:
        """What the factors of links are stored into, for the rows, and the point that they refer to."""
        point = np.full(len(self.topology.tree.nodes), memory.reference)
        return {"fields": ("work", memory.fields), "reference": ("work", point)}

    # -- projection --------------------------------------------------------------------------------
    def _projection(self) -> tuple[list[Block], dict[str, np.ndarray], int]:
        """One Newton step of q and of u, as in ``multibody.snapshot``."""
        rows, topology = self._rows, self.topology
        there = TreeLoops(self, topology.tree)
        memory = RowMemory(rows, topology, self.work, 2)
        every = tuple(range(len(memory.tiles.tiles)))
        held = tuple(k for k in every if memory.tiles.held[k])
        x, y, w = memory.vector(held), memory.vector(every), memory.vector(every)
        positions, whole = memory.eliminate(held), memory.eliminate(every)
        clear = memory.clear()
        start = partial(self._start_of_projection, memory, held, x)
        drift_at = y + memory.places(every, range(len(rows)))
        start(), self._drift(there, drift_at)
        self._find_rows_loaded(self.loops, loop_constraints.residual)
        self._find_rows_loaded(there, loop_constraints.drift)
        sweeper, (one, two) = self._sweep(self.loops), memory.joint_shares
        passes = [
            sweeper.kinematics(),
            sweeper.factors(1, moving=False),
            sweeper.responses(2, share="one", to=Response.STEP_OF_Q),
            sweeper.responses(3, share="two", to=Response.STEP_OF_U, name="again"),
        ]
        constants = {**self._cuts.constants, "probes": probe_rates(len(rows))}
        views = {"one": ("work", one), "two": ("work", two), **self._row_views(memory)}
        a = self._lay_out(self.loops, views, passes, constants, "a")
        offsets = [
            topology.q_of[n.joint.name].start if n.joint.name in topology.q_of else 0 for n in topology.tree.nodes
        ]
        moved = {"q": ("out", np.array(offsets, dtype=np.int64))}
        b = self._lay_out(there, moved, [self._sweep(there).kinematics()], constants, "b")
        factors = [elimination.factorize() for elimination in memory.eliminations.values()]
        stores, opened = start()
        closing = [*straight_blocks(stores), *self._row_loops(self.loops, loop_constraints.residual, opened, memory)]
        drifting = [
            *straight_blocks(self._drift(there, drift_at)), *self._row_loops(there, loop_constraints.drift, drift_at)
        ]  # fmt: skip
        z, n = topology.layout.traced_point(Tape()).z, topology.n_q + topology.n_u
        tail = [("out", n + k, value) for k, value in enumerate(z)]
        probes = copy_block("probes", np.arange(len(rows)), w + memory.places(every, range(len(rows))))
        blocks = [
            a[0], *clear, *closing, probes, a[1], memory.shares(), memory.products(), *factors,
            positions.solve(x), memory.load_joints(held, x, 0), a[2],
            *b, *drifting, whole.solve(y), memory.load_joints(every, y, 1), a[3],
            whole.forward(w), *whole.quadratic_form(w, n + topology.n_z), *straight_blocks(tail),
        ]  # fmt: skip
        return blocks, constants, n + topology.n_z + 1

    def _start_of_projection(self, memory: RowMemory, held: tuple[int, ...], x: int) -> tuple[list[Store], np.ndarray]:
        """The stores of wrenches and residuals, and the place of the residual of each row; -1 of those of speeds."""
        kinematics = self.snapshot(Tape(), full=False).kinematics
        rows = [r for r, unit in enumerate(self._rows.units) if unit in POSITIONS]
        places = np.full(len(self._rows), -1, dtype=np.int64)
        places[rows] = x + memory.places(held, rows)
        stores = [*self._row_wrenches(kinematics, memory)]
        return [*stores, *self._stores_alone(kinematics, loop_constraints.residual, places)], places

    def _drift(self, loops: TreeLoops, at: np.ndarray) -> list[Store]:
        """The stores of the rates of the rows at the projected position, with the speeds before the projection."""
        tape = Tape()
        point = self.topology.layout.traced_point(tape).replaced(q=tape.inputs("out", self.topology.n_q))
        kinematics = partial(RolledKinematics, loops_of=lambda tree: loops, tape=tape)
        composition = Composition(kinematics=kinematics, motion=RolledMotion)
        snapshot = Snapshot(self.topology, point, formulation=composition)
        return [*self._stores_alone(snapshot.kinematics, loop_constraints.drift, at)]

    # -- rows and poses ----------------------------------------------------------------------------
    def _rows_and_poses(self) -> tuple[list[Block], dict[str, np.ndarray], int]:
        """Errors of the poses of cut joints and how speeds change them, as ``dependent_joints.pose_errors``; then
        residuals and rates of all rows, and the entries of their Jacobian, as ``kernel_outputs.closure``.

        ``loop_rates`` differentiates the first, and the second if its options name it.
        """
        name = self.kernel.name
        has_poses, has_rows = name != "closure", name == "closure" or bool(self.kernel.options)
        made = ClosureBlocks(self, has_poses=has_poses, has_rows=has_rows)
        self.loops.loaded |= {"X"}
        _, entries, _ = made.find()
        sweeper, constants = self._sweep(self.loops), dict[str, np.ndarray]()
        kinds = [("cut_axes", sweeper.pose_columns)] * has_poses + [("carried", sweeper.row_entries)] * has_rows
        passes = [sweeper.kinematics()]
        for k, ((view, make), pairs) in enumerate(zip(kinds, entries, strict=True), start=1):
            nodes, loads, outs = np.array(pairs, dtype=np.int64).reshape(-1, 3).T
            passes.append(make(k, Iterations(nodes, {view: ("work", loads), "entries": ("out", outs)})))
        blocks = self._lay_out(self.loops, {}, passes, constants, "a")
        found, _, size = made.find()
        return [blocks[0], *found, *blocks[1:]], constants | made.constants, size
