"""Builds the loop code of large systems with constraints, on the passes of ``closed_sweeps.py``.

motion         kinematics, accelerations for u_dot = 0; straight-line code of loads, efforts and rows; factors, rows,
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
from kinode.kernels.rolled.closed_sweeps import ClosedSweeper, Response
from kinode.kernels.rolled.passing_rows import PassingRows, carried_wrenches, entering_wrenches
from kinode.kernels.rolled.rolled_builder import RolledBuilder
from kinode.kernels.rolled.rolled_motion import RolledKinematics, RolledMotion
from kinode.kernels.rolled.row_memory import RowMemory
from kinode.kernels.rolled.tree_loops import TreeLoops, straight_blocks
from kinode.kernels.rolled.tree_sweeps import Iterations, TreePass
from kinode.model.constraints.constraint import POSITIONS
from kinode.multibody.composition import Composition
from kinode.multibody.dependent_joints import PoseError, n_cut_coordinates
from kinode.multibody.kinematics import Kinematics
from kinode.multibody.restraints import loop_constraints
from kinode.multibody.restraints.loop_constraints import CutJointConstraint, freedoms
from kinode.multibody.restraints.projection import probe_rates
from kinode.multibody.snapshot import Snapshot

Pairs = list[tuple[int, int, int]]
"""Node, index of its load or axes in ``work``, and index of the first entry in ``out``."""


class ClosedBuilder(RolledBuilder):
    """Builds the loop code of a kernel of a system with constraints.

    ``right_sides`` says how often a motion is solved for with the same factors.
    """

    right_sides = 1

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

    def _row_wrenches(self, kinematics: Kinematics, memory: RowMemory) -> Iterator[Store]:
        """The stores of the wrenches of unit multipliers on links, and of their point: the origin of the first link."""
        point = kinematics.link_poses[0].p
        for k, x in enumerate(point):
            yield "work", memory.reference + k, x
        for constraint in self._rows.constraints:
            rows = self._rows.numbers_of(constraint)
            if not rows:
                continue
            for number, (wrenches, loaded) in enumerate(entering_wrenches(kinematics, constraint, point)):
                for r, k in rows:
                    at = memory.wrench(r, number, loaded)
                    for j, x in enumerate(wrenches[k]):
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
                entering_wrenches(kinematics, constraint, kinematics.link_poses[0].p)
            kinematics.constraints.chosen(loop_constraints.bias)

    def _forward_loops(self, constants: dict[str, np.ndarray]) -> list[Block]:
        if not self.needs_motion:
            return super()._forward_loops(constants)
        loaded, rows = self.loops.loaded, self._rows
        memory = self.memory = RowMemory(rows, self.topology, self.work, self.right_sides)
        every = tuple(range(len(memory.tiles.tiles)))
        x, *_ = self.vectors = [memory.vector(every) for _ in range(self.right_sides)]
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
        self._extend(sweeper, passes, views)
        blocks = self._lay_out(self.loops, views, passes, constants, "a")
        expressions = [*self.loops.expression_blocks(constants)]
        kinematics = self.snapshot(Tape(), full=False).kinematics
        stores = [*self._row_wrenches(kinematics, memory)]
        biases = kinematics.constraints.chosen(loop_constraints.bias)
        stores += [("work", int(at), -bias) for at, bias in zip(right, biases, strict=True)]
        blocks = [
            *blocks[:2], *clear, *expressions, *straight_blocks(stores), blocks[2],
            memory.shares(), memory.products(x), elimination.factorize(), elimination.solve(x),
            memory.load_joints(every, x, 0), *blocks[3:],
        ]  # fmt: skip
        if self._sweeps_full:
            blocks += self._full_loops(constants)
        return blocks

    def _extend(self, sweeper: ClosedSweeper, passes: list[TreePass], views: dict[str, tuple[str, np.ndarray]]) -> None:
        """Add passes behind those of a motion, and views."""

    def _row_views(self, memory: RowMemory) -> dict[str, tuple[str, np.ndarray]]:
        """What the factors of links are stored into, for the rows, and the point that they refer to."""
        point = np.full(len(self.topology.tree.nodes), memory.reference)
        return {"fields": ("work", memory.fields), "reference": ("work", point)}

    # -- projection --------------------------------------------------------------------------------
    def _projection(self) -> tuple[list[Block], dict[str, np.ndarray], int]:
        """One Newton step of q and of u, as in ``multibody.restraints.projection``."""
        rows, topology = self._rows, self.topology
        there = TreeLoops(self, topology.tree)
        memory = RowMemory(rows, topology, self.work, 2)
        every = tuple(range(len(memory.tiles.tiles)))
        held = tuple(k for k in every if memory.tiles.held[k])
        x, y, w = memory.vector(held), memory.vector(every), memory.vector(every)
        positions, whole = memory.eliminate(held), memory.eliminate(every)
        clear = memory.clear()
        start = partial(self._start_of_projection, memory, held, x, every, w)
        drift_at = y + memory.places(every, range(len(rows)))
        start(), self._drift(there, drift_at)
        sweeper, (one, two) = self._sweep(self.loops), memory.joint_shares
        passes = [
            sweeper.kinematics(),
            sweeper.factors(1, moving=False),
            sweeper.responses(2, share="one", to=Response.STEP_OF_Q),
            sweeper.responses(3, share="two", to=Response.STEP_OF_U, name="again"),
        ]
        constants: dict[str, np.ndarray] = {}
        views = {"one": ("work", one), "two": ("work", two), **self._row_views(memory)}
        a = self._lay_out(self.loops, views, passes, constants, "a")
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
            a[0], *clear, *straight_blocks(start()), a[1], memory.shares(), memory.products(), *factors,
            positions.solve(x), memory.load_joints(held, x, 0), a[2],
            *b, *straight_blocks(self._drift(there, drift_at)), whole.solve(y), memory.load_joints(every, y, 1), a[3],
            whole.forward(w), *straight_blocks(tail),
        ]  # fmt: skip
        return blocks, constants, n + topology.n_z + 1

    def _start_of_projection(
        self, memory: RowMemory, held: tuple[int, ...], x: int, every: tuple[int, ...], w: int
    ) -> list[Store]:
        """The stores of wrenches, residuals and of the rates that probe the effective mass."""
        kinematics = self.snapshot(Tape(), full=False).kinematics
        rows = [r for r, unit in enumerate(self._rows.units) if unit in POSITIONS]
        residual = kinematics.constraints.chosen(loop_constraints.residual)[rows]
        stores = [*self._row_wrenches(kinematics, memory)]
        places = x + memory.places(held, rows)
        stores += [("work", int(at), -value) for at, value in zip(places, residual, strict=True)]
        probe = probe_rates(len(self._rows))
        places = w + memory.places(every, range(len(self._rows)))
        return stores + [("work", int(at), float(value)) for at, value in zip(places, probe, strict=True)]

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
    def _rows_and_poses(self) -> tuple[list[Block], dict[str, np.ndarray], int]:
        """Errors of the poses of cut joints and how speeds change them, as ``dependent_joints.pose_errors``; then
        residuals and rates of all rows, and the entries of their Jacobian, as ``kernel_outputs.closure``.

        ``loop_rates`` differentiates the first, and the second if its options name it.
        """
        name, axes_at = self.kernel.name, 0
        has_poses, has_rows = name != "closure", name == "closure" or bool(self.kernel.options)
        if has_poses:
            axes_at = self.work.allocate(42 * len(self.topology.cuts))

        def find_stores() -> tuple[list[list[Store]], list[Pairs], int]:
            stores, pairs, size = list[list[Store]](), list[Pairs](), 0
            for find, wanted in ((partial(self._pose_stores, axes_at), has_poses), (self._closure_stores, has_rows)):
                if wanted:
                    pairs.append([])
                    found, size = find(pairs[-1], size)
                    stores.append(found)
            return stores, pairs, size

        self.loops.loaded |= {"X"}
        _, entries, _ = find_stores()
        sweeper, constants = self._sweep(self.loops), dict[str, np.ndarray]()
        kinds = [("cut_axes", sweeper.pose_columns)] * has_poses + [("carried", sweeper.row_entries)] * has_rows
        passes = [sweeper.kinematics()]
        for k, ((view, make), found) in enumerate(zip(kinds, entries, strict=True), start=1):
            nodes, loads, outs = np.array(found, dtype=np.int64).reshape(-1, 3).T
            passes.append(make(k, Iterations(nodes, {view: ("work", loads), "entries": ("out", outs)})))
        blocks = self._lay_out(self.loops, {}, passes, constants, "a")
        stores, _, size = find_stores()
        straight = [block for part in stores for block in straight_blocks(part)]
        return [blocks[0], *straight, *blocks[1:]], constants, size

    def _closure_stores(self, entries: Pairs, start: int) -> tuple[list[Store], int]:
        """The stores of residuals, rates and loads, from some place in ``out`` on, and the size of ``out``.

        ``entries`` gets node, index of its load in ``work`` and index of the first entry in ``out`` of each pair.
        """
        kinematics = self.snapshot(Tape(), full=False).kinematics
        constraints = kinematics.constraints
        values = [x for f in (loop_constraints.residual, loop_constraints.drift) for x in constraints.every(f)]
        stores: list[Store] = [("out", start + k, x) for k, x in enumerate(values)]
        out = start + len(values)
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

    def _pose_stores(self, axes_at: int, entries: Pairs, out: int) -> tuple[list[Store], int]:
        """The stores of errors and axes, and the size of ``out``; ``entries`` as in ``_closure_stores``."""
        tape = Tape()
        kinematics, x = self.snapshot(tape, full=False).kinematics, tape.inputs("x", n_cut_coordinates(self.topology))
        stores: list[Store] = []
        start = 0
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
