"""Builds loop code of a system with constraints whose accelerations and multipliers are given, to be run backward.

equations      kinematics; straight-line code of loads and efforts; accelerations of links; second rates r of the rows
               and loads of the multipliers, cut joints that are alike in loops; e = M x + h - tau - G' lam
results        accelerations of links and sums, where they are needed; reactions; everything else by name

Behind the results the left sides e and r are results too.  Both vanish for the motion that ``adjoint_solver.py`` finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.trace import Tape, Traced, needed
from kinode.jit.program import Block, Program, Store
from kinode.kernels.derivatives.program_rates import roll_groups, roll_stores
from kinode.kernels.derivatives.tape_sweeps import NO_VALUES, sweep_backward
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.rolled.closed_builder import ClosedBuilder
from kinode.kernels.rolled.rolled_builder import RolledBuilder
from kinode.kernels.rolled.rolled_motion import RolledKinematics, RolledMotion
from kinode.kernels.rolled.tree_loops import TreeLoops
from kinode.kernels.rolled.tree_passes import Sweeper
from kinode.kernels.rolled.tree_sweeps import StagedView, TracedLink, TreePass, Values
from kinode.model.system import joint_frame
from kinode.multibody import link_steps, loop_constraints
from kinode.multibody.given import Given
from kinode.multibody.kinematics import SIDES
from kinode.multibody.link_steps import Spatial
from kinode.multibody.loop_constraints import CutJointConstraint, LoopConstraint
from kinode.multibody.snapshot import Composition, Snapshot
from kinode.structure.topology import Topology
from kinode.structure.tree import WORLD, Tree

Results = tuple[Values, dict[str, Array]]
LinkLoads = dict[int, dict[int, Scalar]]
"""Loads by link and component."""
GIVEN = "given_u_dot"  # the view of the accelerations
AGAIN = 3  # the pass of accelerations for results


class EquationBuilder(ClosedBuilder):
    """Builds the loop code; ``unknowns`` are the entries of ``work`` of accelerations, then of multipliers."""

    def __init__(self, topology: Topology, kernel: Kernel, *, adds_efforts: bool, also: tuple[str, ...] = ()) -> None:
        super().__init__(topology, kernel, adds_efforts=adds_efforts, also=also)
        self.n = topology.n_u
        n_rows = len(topology.row_units if topology.rows is None else topology.rows)
        start = self.work.allocate(self.n + n_rows)
        self.unknowns = range(start, start + self.n + n_rows)

    def equations(self) -> Program | None:
        """The program; None if no result depends on the motion."""
        self._find_loaded(self.loops)
        if not self.needs_motion:
            return None
        program = self.program()
        return replace(program, sizes={**program.sizes, "out": program.sizes["out"] + len(self.unknowns)})

    @cached_property
    def _n_results(self) -> int:
        return self._results()[1]

    def _find_loaded(self, loops: TreeLoops) -> None:
        if not loops.loaded:
            RolledBuilder._find_loaded(self, loops)
            if self.needs_motion:
                loops.loaded |= {"X", "w", "v", "A0"}
                for i in self._loaded_nodes(self.topology.tree):
                    loops.allocate_load(i)
            if self._sweeps_full:
                self.full_loops.loaded |= {"X"}
                for i in self._loaded_nodes(self.topology.full):
                    self.full_loops.allocate_load(i)

    def snapshot(self, tape: Tape, *, full: bool) -> Snapshot:
        """A snapshot; before the layout is known multipliers load nothing: ``_loaded_nodes`` tells what they load."""
        if not full or self.loops.is_laid_out:
            return super().snapshot(tape, full=full)
        kinematics = partial(RolledKinematics, loops_of=self.loops_of, tape=tape)
        return Snapshot(
            self.topology, self.topology.layout.traced_point(tape), given=Given(**self.given(tape)), full=True,
            formulation=Composition(kinematics=kinematics, motion=RolledMotion),
        )  # fmt: skip

    def _loaded_nodes(self, tree: Tree) -> list[int]:
        """The links of a tree that multipliers load."""
        kinematics = self.snapshot(Tape(), full=False).kinematics
        nodes: set[int] = set()
        for constraint in kinematics.constraints.loop_constraints:
            frames, joints = constraint.find_dependencies(kinematics)
            frames = [*frames, *(joint_frame(self.topology.system.joints[j], side) for j in joints for side in SIDES)]
            nodes |= {tree.node_of[frame.body] for frame in frames}
        return sorted(nodes - {WORLD})

    def _forward_loops(self, constants: dict[str, np.ndarray]) -> list[Block]:
        """Equations, then what results need besides."""
        topology, loaded, start = self.topology, self.loops.loaded, self.unknowns.start
        names = [node.joint.name for node in topology.tree.nodes]
        u = np.array([topology.u_of[name].start if name in topology.u_of else 0 for name in names], dtype=np.int64)
        n_results = self._n_results
        self.loops.positions["u_dot"] = start + u
        self.loops.positions["multipliers"] = np.arange(start + self.n, self.unknowns.stop)
        sweeper = self._sweeper(self.loops, GIVEN, effort_out=True)
        passes = [sweeper.kinematics(), _equation_accelerations(sweeper), sweeper.joint_wrenches()]
        passes += [_accelerations_again()] * ("A" in loaded)
        passes += [sweeper.momentum_sums()] * ("sums" in loaded)
        views = {GIVEN: ("work", start + u), "out_u": ("out", n_results + u)}
        first, accelerations, efforts, *others = self._lay_out(self.loops, views, passes, constants, "a")
        loads = np.array([self.loops.load_at[i] for i in self._loaded_nodes(topology.tree)], dtype=np.int64)
        clear = Block(len(loads), {"load": ("work", loads)}, [[("load", k, 0.0) for k in range(6)]])
        blocks = [
            first, clear, *self.loops.expression_blocks(constants), accelerations,
            *roll_groups(self._row_stores(n_results + self.n), "cut", constants), efforts, *others,
        ]  # fmt: skip
        if self.is_motion:
            tape, behind = Tape(), topology.n_q if self.kernel.name == "rate" else 0
            blocks += roll_stores([("out", behind + k, tape.input("work", start + k)) for k in range(self.n)])
        if self._sweeps_full:
            blocks += self._full_loops(constants)
        return blocks

    # -- rows --------------------------------------------------------------------------------------
    def _row_stores(self, out: int) -> Iterator[list[Store]]:
        """For each constraint the stores of the second rates of its rows, from ``out`` on, and of its loads."""
        tape = Tape()
        composition = Composition(
            kinematics=partial(_GivenKinematics, loops_of=self.loops_of, tape=tape, start=self.unknowns.start),
            motion=RolledMotion,
        )
        point = self.topology.layout.traced_point(tape)
        snapshot = Snapshot(self.topology, point, formulation=composition)
        constraints = snapshot.kinematics.constraints.loop_constraints
        rates = loop_constraints.bias(snapshot.kinematics, constraints)
        chosen: dict[str, list[tuple[int, int]]] = {}
        for r, (constraint, k) in enumerate(self._rows.rows):
            chosen.setdefault(constraint.name, []).append((r, k))
        for constraint, values in zip(constraints, rates, strict=True):
            rows = chosen.get(constraint.name, [])
            multipliers = {k: tape.input("work", self.unknowns.start + self.n + r) for r, k in rows}
            stores: list[Store] = [("out", out + r, values[k]) for r, k in rows]
            if isinstance(constraint, CutJointConstraint):
                loads = self._loads_of_rates([(values[k], x) for k, x in multipliers.items()])
            else:
                lam = np.array([multipliers.get(k, 0.0) for k in range(len(values))], dtype=object)
                loads = self._loads_on_frames(snapshot, constraint, lam)
            for i, load in loads.items():
                at = self.loops.load_at[i]
                stores += [("work", at + k, tape.input("work", at + k) + x) for k, x in load.items()]
            if stores:
                yield stores

    def _loads_of_rates(self, rates: list[tuple[Scalar, Scalar]]) -> LinkLoads:
        """The loads on links by virtual power: second rates of rows, with their multipliers, are linear in the
        accelerations of links."""
        nodes, seeds = needed(rate for rate, _ in rates), dict[int, Scalar]()
        for rate, multiplier in rates:
            if type(rate) is Traced:
                seeds[rate.index] = seeds.get(rate.index, 0.0) + multiplier
        found = sweep_backward(nodes, seeds, NO_VALUES)
        loads: LinkLoads = {}
        for node in nodes:
            if node.op == "input" and node.args[0] == "work" and node.index in found:
                place = self._accelerated.get(node.args[1])
                if place is not None:
                    loads.setdefault(place[0], {})[place[1]] = found[node.index]
        return loads

    @cached_property
    def _accelerated(self) -> dict[int, tuple[int, int]]:
        """Link and number in its acceleration of entries of ``work``."""
        return {int(at) + k: (i, k) for i, at in enumerate(self.loops.positions["A0"][:-1]) for k in range(6)}

    @staticmethod
    def _loads_on_frames(snapshot: Snapshot, constraint: LoopConstraint, lam: Array) -> LinkLoads:
        """The loads on links of a constraint element, through those on its frames."""
        on_frames = snapshot.kinematics.constraints.loads_of(constraint, lam)
        on_links = snapshot.loads.sum_on_links(on_frames)
        return {i: dict(enumerate(np.concatenate(load))) for i, load in enumerate(on_links) if load is not None}


class _GivenKinematics(RolledKinematics):
    """Kinematics whose accelerations for the rows of constraints are those of the given u_dot, from ``start`` on."""

    def __init__(self, *args: object, start: int, **others: object) -> None:
        super().__init__(*args, **others)  # type: ignore[arg-type]
        self._start = start

    @cached_property
    def unaccelerated(self) -> tuple[list[Array], Sequence[Spatial]]:
        """Accelerations of node joints and links."""
        _, links = super().unaccelerated
        given = [self._tape.input("work", self._start + k) for k in range(self.topology.n_u)]
        return self.scatter(np.array(given, dtype=object)), links


def _equation_accelerations(sweeper: Sweeper) -> TreePass:
    """Outward: accelerations A0 of links from those of joints, and the wrench that each link's motion requires."""
    base = sweeper.required_wrenches()

    def run(link: TracedLink, read: Values) -> Results:
        gives, _ = base.run(link, {"A": read["A0"]})
        return {"A0": gives["A"]}, {}

    return TreePass(True, {"A0": 6}, {"A0": 6}, run)


def _accelerations_again() -> TreePass:
    """Outward: the same accelerations A for results, so that equations do not share what depends on the unknowns."""

    def run(link: TracedLink, read: Values) -> Results:
        kinematics, n = link.local["kinematics"], link.mechanics.n_u
        A = link_steps.carry(link.local["X_PF"], kinematics, (read["A"][:3], read["A"][3:]))
        view = "driven_u_dot" if link.flags.is_driven else StagedView(GIVEN, AGAIN)
        return {"A": np.concatenate(link_steps.accelerate(kinematics, A, link.tape.inputs(view, n)))}, {}

    return TreePass(True, {"A": 6}, {"A": 6}, run)
