"""Builds the loop code of a large tree: prelude, loops over the links, expressions and elements, results.

prelude        numbers that depend on parameters, motion of driven joints
kinematics     loop outward
expressions    efforts of joints and loads of elements; straight-line code that loads the loop's results
dynamics       loop inward, loop outward
full tree      for reactions: two more loops, with every body a link
results        straight-line code that loads the loops' results
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, is_number, tidy
from kinode.algebra.spatial import IDENTITY_POSE
from kinode.algebra.trace import Tape
from kinode.jit.program import Block, Program, Store
from kinode.kernels.kernel_options import Kernel, ReactionOptions
from kinode.kernels.kernel_table import added_efforts, find_row, sizes
from kinode.kernels.kernel_traces import outputs_of
from kinode.kernels.rolled.rolled_motion import RolledKinematics, RolledMotion
from kinode.kernels.rolled.tree_loops import TreeLoops, Views, WorkSpace, is_by_law, straight_blocks
from kinode.kernels.rolled.tree_passes import (
    SEEN,
    ZERO_ACCELERATIONS,
    ReactionSweeper,
    Sweeper,
    pack_numbers,
    reaction_numbers,
)
from kinode.kernels.rolled.tree_sweeps import SweepLayout, TreePass
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.multibody.given import Given
from kinode.multibody.loop_constraints import frame_bias
from kinode.multibody.snapshot import Composition, Snapshot
from kinode.structure.topology import Topology
from kinode.structure.tree import Tree


class RolledBuilder:
    """Builds the loop code of a kernel.

    ``adds_efforts`` says that x is efforts that are added.  ``also`` are quantities whose values stand behind the
    result of the kernel, by name.  ``prelude_stores`` are the stores of the prelude.
    ``driven`` has the indices in ``work`` of q, u, u_dot of driven joints.
    """

    def __init__(
        self, topology: Topology, kernel: Kernel, *, adds_efforts: bool = False, also: tuple[str, ...] = ()
    ) -> None:
        self.topology, self.kernel, self.also = topology, kernel, also
        self.adds_efforts = adds_efforts or kernel.name == "loaded_acceleration"
        self.count = sizes(topology, kernel) | ({"x": topology.n_u} if adds_efforts else {})
        self._given = added_efforts if adds_efforts else find_row(kernel).given
        self.work = WorkSpace()
        self.prelude_tape = Tape()
        self.prelude = Snapshot(topology, topology.layout.traced_point(self.prelude_tape, moving=False))
        self.prelude_stores: list[Store] = []
        self.driven: dict[str, tuple[int, int, int]] = {}
        self._store_driven()
        self.base_at = self._store_base()
        self.reported = self._find_reported()
        self.loops = TreeLoops(self, topology.tree)
        self.full_loops = TreeLoops(self, topology.full)

    def _find_reported(self) -> dict[str, int]:
        """The joints whose reactions the loops store themselves, with their numbers among the results."""
        options, topology = self.kernel.options, self.topology
        if not isinstance(options, ReactionOptions) or options.support is not None:
            return {}
        if any(isinstance(constraint, CoordinateCoupling) for constraint in topology.constraints):
            return {}
        return {name: k for k, name in enumerate(options.joints) if name not in topology.cut_names}

    def _store_driven(self) -> None:
        """Store the motion of driven joints in the prelude."""
        for name, joint in self.topology.system.joints.items():
            if joint.driven:
                at = []
                for values in self.prelude.joint_state(name):
                    assert values is not None
                    at.append(self.work.allocate(len(values)))
                    self.prelude_stores += [("work", at[-1] + k, value) for k, value in enumerate(values)]
                self.driven[name] = (at[0], at[1], at[2])

    def _store_base(self) -> int:
        """Store the acceleration of the world minus gravity; returns its index in ``work``."""
        at = self.work.allocate(6)
        values = np.concatenate(self.prelude.kinematics.base)
        self.prelude_stores += [("work", at + k, value) for k, value in enumerate(values)]
        return at

    def world_values(self, name: str, tape: Tape) -> Array:
        """What the world gives to its children: acceleration minus gravity A, pose X, or zero velocity."""
        if name in ("A", "A0"):
            values = np.concatenate(self.prelude.kinematics.base)
            return values if all(is_number(x) for x in values) else tape.inputs("base", 6)
        if name == "gravity":
            return self.world_values("A", tape)[3:]
        if name == "X":
            return np.concatenate([np.eye(3).ravel(), np.zeros(3)])
        return np.zeros(3 if name in ("w", "v") else 6)

    def given(self, tape: Tape) -> Mapping[str, Any]:
        """What a snapshot gets besides the state: added efforts and wrenches, accelerations."""
        if self.kernel.name in ("effort", "bias"):  # their loops read x themselves
            return {}
        return self._given(self.topology, tape.inputs("x", self.count["x"]))

    def loops_of(self, tree: Tree) -> TreeLoops:
        """The loops over one of the two trees."""
        return self.loops if tree is self.topology.tree else self.full_loops

    def snapshot(self, tape: Tape, *, full: bool) -> Snapshot:
        """A snapshot whose links are loaded from the loops of its tree."""
        kinematics = partial(RolledKinematics, loops_of=self.loops_of, tape=tape)
        given = Given(**self.given(tape))
        if full and self.topology.constrained:
            rows = range(len(self.topology.row_units if self.topology.rows is None else self.topology.rows))
            given = replace(given, multipliers=tidy([self.loops.load(tape, "multipliers", r, 1)[0] for r in rows]))
        return Snapshot(
            self.topology, self.topology.layout.traced_point(tape), given=given, full=full,
            formulation=Composition(kinematics=kinematics, motion=RolledMotion),
        )  # fmt: skip

    # -- the program -------------------------------------------------------------------------------
    def program(self) -> Program:
        """The whole program."""
        name = self.kernel.name
        if name == "jacobian":
            return self._jacobian()
        if name == "jacobian_rate":
            return self._jacobian_rate()
        self._find_loaded(self.loops)
        blocks: list[Block] = []
        constants: dict[str, np.ndarray] = {}
        if name in ("effort", "bias"):
            blocks += self._inverse_loops(constants)
        else:
            blocks += self._forward_loops(constants)
        tail, size = self._results()
        blocks = [*straight_blocks(self.prelude_stores), *blocks, *straight_blocks(tail)]
        sizes = {**self.count, "work": self.work.size, "out": size}
        return Program("kernel", sizes, constants, blocks)

    def _lay_out(
        self, loops: TreeLoops, views: Views, passes: Sequence[TreePass], constants: dict[str, np.ndarray], prefix: str
    ) -> list[Block]:
        layout = loops.lay_out(self._numbers(loops.tree), views, passes, prefix)
        constants[f"{prefix}rows"] = layout.table
        self.prelude_stores += [("work", position, value) for position, value in layout.prelude]
        return layout.blocks

    def _jacobian(self) -> Program:
        """Velocities of a frame for unit speeds: a column for each freedom that carries it, all others zero."""
        topology, n = self.topology, self.topology.n_u
        assert isinstance(self.kernel.options, tuple)
        frame, at = topology.system.find_frame(self.kernel.options[0]), self.work.allocate(3)

        def position() -> list[Store]:
            kinematics = self.snapshot(Tape(), full=False).kinematics
            return [("work", at + k, x) for k, x in enumerate(kinematics.pose(frame).p)]

        position()
        self.loops.loaded |= {"X"}
        carriers = topology.tree.path(topology.tree.node_of[frame.body])
        nodes = np.array([i for i in carriers if topology.tree.nodes[i].joint.name in topology.u_of], dtype=np.int64)
        views = {"frame_point": ("work", np.full(len(topology.tree.nodes), at))}
        sweeper = self._sweeper(self.loops, None)
        passes = [sweeper.kinematics(), sweeper.frame_columns(n, nodes)]
        constants: dict[str, np.ndarray] = {}
        first, second = self._lay_out(self.loops, views, passes, constants, "a")
        zeros = Block(n, {"column": ("out", np.arange(n))}, [[("column", r * n, 0.0) for r in range(6)]])
        blocks = [*straight_blocks(self.prelude_stores), first, zeros, *straight_blocks(position()), second]
        sizes = {**self.count, "work": self.work.size, "out": 6 * n}
        return Program("kernel", sizes, constants, blocks)

    def _jacobian_rate(self) -> Program:
        """Angular and linear acceleration of a frame without accelerations of the state."""
        assert isinstance(self.kernel.options, tuple)
        frame = self.topology.system.find_frame(self.kernel.options[0])

        def result() -> list[Store]:
            kinematics = self.snapshot(Tape(), full=False).kinematics
            return [("out", k, x) for k, x in enumerate(np.concatenate(frame_bias(kinematics, frame)))]

        result()
        sweeper, constants = self._sweeper(self.loops, None), dict[str, np.ndarray]()
        passes = self._lay_out(self.loops, {}, [sweeper.kinematics(), sweeper.unaccelerated()], constants, "a")
        blocks = [*straight_blocks(self.prelude_stores), *passes, *straight_blocks(result())]
        return Program("kernel", {**self.count, "work": self.work.size, "out": 6}, constants, blocks)

    def _find_loaded(self, loops: TreeLoops) -> None:
        """Trace expressions and results once without a layout, to learn which results of loops they load."""
        loops.expressions(Tape())
        self._results()
        self._seen_stores(0)
        if self._sweeps_full:
            self.full_loops.expressions(Tape())
            if not self._is_static:
                self.loops.loaded |= {"u_dot"}

    @property
    def _sweeps_full(self) -> bool:
        """Whether there are loops over the full tree."""
        return bool(self.full_loops.loaded or self.reported)

    @property
    def _is_static(self) -> bool:
        """Whether the loops over the full tree need no accelerations."""
        return bool(self.reported) and self._reaction_options.part == "static"

    @property
    def _reaction_options(self) -> ReactionOptions:
        assert isinstance(self.kernel.options, ReactionOptions)
        return self.kernel.options

    def _seen_stores(self, at: int) -> list[Store]:
        """The stores of the point and the axes that reactions are converted to, if they are; their poses are loaded."""
        if not self.reported:
            return []
        frames = (self._reaction_options.about, self._reaction_options.axes)
        if frames == (None, None):
            return []
        self.full_loops.loaded |= {"X"}
        snapshot, system = self.snapshot(Tape(), full=True), self.topology.system
        point, axes = (IDENTITY_POSE if f is None else snapshot.pose(system.find_frame(f)) for f in frames)
        values = [*point.p, *np.asarray(axes.R, dtype=object).ravel()]
        return [("work", at + k, x) for k, x in enumerate(values)]

    def _sweeper(
        self, loops: TreeLoops, given: str | None, effort_out: bool = False, kind: type[Sweeper] = Sweeper
    ) -> Sweeper:
        loaded = loops.loaded
        return kind(
            poses="X" in loaded or "sums" in loaded, speeds="v" in loaded or "sums" in loaded,
            rates=self.kernel.name == "rate" and loops is self.loops, given=given, effort_out=effort_out,
            added=self.adds_efforts,
        )  # fmt: skip

    def _numbers(self, tree: Tree) -> list[Array]:
        """The constants of each link; stiffness and damping are zero where expressions give the effort."""
        geometry = self.topology.geometry(tree, self.prelude.resolve)
        numbers = []
        for node in tree.nodes:
            joint, n = node.joint, node.joint.n_u
            laws = np.zeros(3 * n)
            if not is_by_law(joint):
                for k, values in enumerate((joint.stiffness, joint.neutral, joint.damping)):
                    if values is not None:
                        laws = laws if all(type(x) is float for x in values) else laws.astype(object)
                        laws[k * n : k * n + n] = values
            i = node.index
            packed = pack_numbers(geometry.placements[i], geometry.forms[i], geometry.inertias[i], laws)
            if joint.name in self.reported and tree is self.topology.full:
                on, nominal = self._reaction_options.on, self.topology.system.nominal
                packed = np.concatenate([packed, reaction_numbers(node, on, self.prelude.resolve, nominal)])
            numbers.append(packed)
        return numbers

    def _with_expressions(self, loops: TreeLoops, layout: SweepLayout, constants: dict[str, np.ndarray]) -> list[Block]:
        """The blocks, with the expressions behind the first of them; adds the layout's prelude."""
        self.prelude_stores += [("work", position, value) for position, value in layout.prelude]
        return [layout.blocks[0], *loops.expression_blocks(constants), *layout.blocks[1:]]

    @property
    def is_motion(self) -> bool:
        """Whether the results are accelerations of the state, which loops store themselves."""
        return self.kernel.name in ("acceleration", "loaded_acceleration", "rate")

    @property
    def needs_motion(self) -> bool:
        """Whether accelerations are solved for."""
        solved = {"multipliers"} if self.kernel.name == "reactions_of_motion" else {"A", "u_dot", "multipliers"}
        return self.is_motion or bool(self.loops.loaded & solved)

    @property
    def largest_n_u(self) -> int:
        """The largest number of freedoms of a joint."""
        return max((node.joint.n_u for node in self.topology.tree.nodes), default=0)

    def _inverse_loops(self, constants: dict[str, np.ndarray]) -> list[Block]:
        """Inverse dynamics: efforts from accelerations."""
        given = ZERO_ACCELERATIONS if self.kernel.name == "bias" else "x_u_dot"
        sweeper = self._sweeper(self.loops, given, effort_out=True)
        passes = [sweeper.kinematics(), sweeper.required_wrenches(), sweeper.joint_wrenches()]
        layout = self.loops.lay_out(self._numbers(self.topology.tree), {}, passes, "a")
        constants["arows"] = layout.table
        return self._with_expressions(self.loops, layout, constants)

    def _forward_loops(self, constants: dict[str, np.ndarray]) -> list[Block]:
        """Kinematics and, if accelerations are needed, forward dynamics; then the loops over the full tree."""
        loaded = self.loops.loaded
        sweeper = self._sweeper(self.loops, None)
        passes = [sweeper.kinematics()]
        if self.needs_motion:
            keep = bool(loaded & {"A", "u_dot"})
            out = "out_u" if self.is_motion else None
            passes += [sweeper.articulated_inertias(), sweeper.accelerations(self.largest_n_u, out, keep=keep)]
        if "sums" in loaded:
            passes.append(sweeper.momentum_sums())
        layout = self.loops.lay_out(self._numbers(self.topology.tree), {}, passes, "a")
        constants["arows"] = layout.table
        blocks = self._with_expressions(self.loops, layout, constants)
        if self._sweeps_full:
            blocks += self._full_loops(constants)
        return blocks

    def _full_loops(self, constants: dict[str, np.ndarray]) -> list[Block]:
        """The full tree: wrenches of every joint from the accelerations, which are known now."""
        nodes = self.topology.full.nodes
        node_of = {n.joint.name: n.index for n in self.topology.tree.nodes}
        views: dict[str, tuple[str, np.ndarray]] = {}
        given = "x_u_dot"
        if self.kernel.name != "reactions_of_motion":
            given = "solved_u_dot"
            if not self._is_static:
                at = self.loops.positions["u_dot"]
                solved = [at[node_of[n.joint.name]] if n.joint.n_u else 0 for n in nodes]
                views["solved_u_dot"] = "work", np.array(solved, dtype=np.int64)
        keep = "f" in self.full_loops.loaded
        at_wrench = self.work.allocate(6 * len(nodes) if keep else 0) + 6 * np.arange(len(nodes), dtype=np.int64)
        seen_at = self.work.allocate(SEEN)
        views["joint_wrench"], views["seen"] = ("work", at_wrench), ("work", np.full(len(nodes), seen_at))
        views["out_reaction"] = "out", np.array([6 * self.reported.get(n.joint.name, 0) for n in nodes], dtype=np.int64)
        sweeper = self._sweeper(self.full_loops, given, kind=ReactionSweeper)
        assert isinstance(sweeper, ReactionSweeper)
        sweeper.options = self._reaction_options if self.reported else None
        passes = [sweeper.kinematics(), sweeper.required_wrenches(), sweeper.reactions(keep=keep)]
        layout = self.full_loops.lay_out(self._numbers(self.topology.full), views, passes, "b")
        self.full_loops.positions["f"] = at_wrench
        constants["brows"] = layout.table
        first, *rest = self._with_expressions(self.full_loops, layout, constants)
        return [first, *straight_blocks(self._seen_stores(seen_at)), *rest]

    def _results(self) -> tuple[list[Store], int]:
        """The stores of the results behind the loops, and the size of ``out``."""
        name = self.kernel.name
        if name in ("acceleration", "loaded_acceleration", "effort", "bias") and not self.also:
            return [], self.topology.n_u
        snapshot = self.snapshot(Tape(), full=False)
        stores, size = self._own_results(snapshot)
        values = outputs_of(Kernel("evaluate", self.also), snapshot)
        return [*stores, *(("out", size + k, x) for k, x in enumerate(values))], size + len(values)

    def _own_results(self, snapshot: Snapshot) -> tuple[list[Store], int]:
        """The same for the kernel itself."""
        topology, name = self.topology, self.kernel.name
        if name in ("acceleration", "loaded_acceleration", "effort", "bias"):
            return [], topology.n_u
        if name == "rate":
            start = topology.layout.role_slices["z"].start
            return [("out", start + k, x) for k, x in enumerate(snapshot.z_dot)], start + topology.n_z
        if self.reported:
            options = self._reaction_options
            others = [name for name in options.joints if name not in self.reported]
            values = outputs_of(Kernel(name, replace(options, joints=tuple(others))), snapshot)
            places = [6 * options.joints.index(name) + k for name in others for k in range(6)]
            return [("out", k, x) for k, x in zip(places, values, strict=True)], 6 * len(options.joints)
        outputs = outputs_of(self.kernel, snapshot)
        return [("out", k, x) for k, x in enumerate(outputs)], len(outputs)
