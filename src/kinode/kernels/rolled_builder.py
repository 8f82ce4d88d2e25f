"""Puts a rolled program together: prelude, loops over the tree, laws and elements, loops, results.

prelude        numbers that depend on parameters, driven joints
kinematics     loop outward
laws           efforts by law and loads of elements, straight-line, loading what the loop left
dynamics       loop inward, loop outward
full tree      where reactions are asked for: two more loops, with every body a link
results        straight-line, loading what the loops left
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, is_number
from kinode.algebra.trace import Tape
from kinode.expressions.syntax_tree import Expression
from kinode.jit.program import Block, Program, Store
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_table import find_row, outputs_of, sizes
from kinode.kernels.rolled_motion import RolledKinematics, RolledMotion
from kinode.kernels.rolled_programs import Sweeper, pack_numbers
from kinode.kernels.tree_sweeps import Plan, SweepLayout, TreePass, lay_out
from kinode.multibody.composition import Composition
from kinode.multibody.snapshot import Snapshot
from kinode.structure.link_geometry import Tree
from kinode.structure.topology import Topology


class WorkSpace:
    """Hands out places in ``work``."""

    def __init__(self) -> None:
        self.size = 0

    def take(self, count: int) -> int:
        start, self.size = self.size, self.size + count
        return start


class TreeLoops:
    """One tree of a rolled program: its plan, its loops and where they leave their results."""

    def __init__(self, roller: RolledBuilder, tree: Tree) -> None:
        self.roller, self.tree = roller, tree
        self.places: dict[str, np.ndarray] = {}
        self.asked: set[str] = set()
        self.tau_at: dict[int, int] = {}
        self.load_at: dict[int, int] = {}

    def load(self, tape: Tape, name: str, index: int, size: int) -> Array:
        """What a loop gave for a node, noted; before the layout is known, something to count on."""
        self.asked.add(name)
        start = int(self.places[name][index]) if name in self.places else 0
        return np.array([tape.load("work", start + k) for k in range(size)], dtype=object)

    def laws(self, tape: Tape) -> list[Store]:
        """Efforts by law and loads, stored for the loops; also finds which nodes have any."""
        snapshot = self.roller.snapshot(tape, full=self.tree is self.roller.topology.full)
        stores: list[Store] = []
        memory = self.roller.memory
        for node in self.tree.nodes:
            if is_by_law(node.joint) and node.joint.n_u:
                at = self.tau_at.setdefault(node.index, -1)
                if at < 0:
                    at = self.tau_at[node.index] = memory.take(node.joint.n_u)
                values = snapshot.loads.own_effort(node.joint.name)
                stores += [("work", at + k, value) for k, value in enumerate(values)]
        if self.roller.topology.system.elements or snapshot.given.wrenches:
            for i, load in enumerate(snapshot.loads.link_loads):
                if load is not None:
                    at = self.load_at.setdefault(i, -1)
                    if at < 0:
                        at = self.load_at[i] = memory.take(6)
                    stores += [("work", at + k, value) for k, value in enumerate(np.concatenate(load))]
        return stores

    def plan(self, numbers: Sequence[Array], views: dict[str, np.ndarray]) -> Plan:
        roller, topology = self.roller, self.roller.topology
        nodes = self.tree.nodes

        def offsets(of: Mapping[str, slice]) -> np.ndarray:
            return np.array([of[n.joint.name].start if n.joint.name in of else 0 for n in nodes], dtype=np.int64)

        def table(of: dict[int, int]) -> np.ndarray:
            return np.array([of.get(n.index, 0) for n in nodes], dtype=np.int64)

        q, u = offsets(topology.q_of), offsets(topology.u_of)
        driven = [roller.driven.get(n.joint.name, (0, 0, 0)) for n in nodes]
        dq, du, da = (np.array(column, dtype=np.int64) for column in zip(*driven, strict=True))
        rate = roller.kernel.name == "rate"
        found = {
            "q": ("q", q), "u": ("u", u), "xe": ("x", u), "xu": ("x", u), "out_q": ("out", q),
            "out_u": ("out", u + (topology.n_q if rate else 0)),
            "dq": ("work", dq), "du": ("work", du), "da": ("work", da),
            "tau": ("work", table(self.tau_at)), "load": ("work", table(self.load_at)),
            "base": ("work", np.full(len(nodes), roller.base_at, dtype=np.int64)),
            **{name: ("work", at) for name, at in views.items()},
        }  # fmt: skip
        flags = [(n.joint.name in roller.driven, n.index in self.tau_at, n.index in self.load_at) for n in nodes]
        return Plan([n.parent for n in nodes], [n.mechanics for n in nodes], numbers, flags, found)

    def lay_out(
        self, numbers: Sequence[Array], views: dict[str, np.ndarray], passes: Sequence[TreePass], prefix: str
    ) -> SweepLayout:
        laid = lay_out(self.plan(numbers, views), passes, self.roller.memory.size, prefix, self.roller.root, self.asked)
        self.roller.memory.size = laid.work
        self.places.update(laid.places)
        return laid


def is_by_law(joint: Any) -> bool:
    """Whether a joint's own effort is more than constant stiffness and damping."""
    constants = [*(joint.stiffness or ()), *(joint.neutral or ()), *(joint.damping or ())]
    return joint.effort is not None or any(isinstance(x, Expression) for x in constants)


class RolledBuilder:
    """Makes the rolled program of a kernel."""

    def __init__(self, topology: Topology, kernel: Kernel) -> None:
        self.topology, self.kernel = topology, kernel
        self.count = sizes(topology, kernel)
        self.memory = WorkSpace()
        self.prelude_tape = Tape()
        self.prelude = Snapshot(topology, topology.layout.traced_point(self.prelude_tape))
        self.first: list[Store] = []
        self.driven: dict[str, tuple[int, int, int]] = {}
        self._place_driven()
        self.base_at = self._place_base()
        self.loops = TreeLoops(self, topology.tree)
        self.full_loops = TreeLoops(self, topology.full)

    def _place_driven(self) -> None:
        for name, joint in self.topology.system.joints.items():
            if joint.driven:
                at = []
                for values in self.prelude.joint_state(name):
                    assert values is not None
                    at.append(self.memory.take(len(values)))
                    self.first += [("work", at[-1] + k, value) for k, value in enumerate(values)]
                self.driven[name] = (at[0], at[1], at[2])

    def _place_base(self) -> int:
        at = self.memory.take(6)
        values = np.concatenate(self.prelude.kinematics.base)
        self.first += [("work", at + k, value) for k, value in enumerate(values)]
        return at

    def root(self, name: str, tape: Tape) -> Array:
        """What the world gives to its children."""
        if name == "A":
            values = np.concatenate(self.prelude.kinematics.base)
            return values if all(is_number(x) for x in values) else tape.inputs("base", 6)
        if name == "X":
            return np.concatenate([np.eye(3).ravel(), np.zeros(3)])
        return np.zeros(3)

    def given(self, tape: Tape) -> Mapping[str, Any]:
        """What a snapshot is given besides the state: added efforts and wrenches, accelerations."""
        if self.kernel.name in ("effort", "bias"):  # the loops see to these
            return {}
        return find_row(self.kernel).given(self.topology, tape.inputs("x", self.count["x"]))

    def loops_of(self, tree: Tree) -> TreeLoops:
        """The loops over one of the two trees."""
        return self.loops if tree is self.topology.tree else self.full_loops

    def snapshot(self, tape: Tape, *, full: bool) -> Snapshot:
        """A snapshot whose links are loaded from the loops of its tree."""
        kinematics = partial(RolledKinematics, loops_of=self.loops_of, tape=tape)
        return Snapshot(
            self.topology, self.topology.layout.traced_point(tape), full=full,
            formulation=Composition(kinematics=kinematics, motion=RolledMotion), **self.given(tape),
        )  # fmt: skip

    # -- the program -------------------------------------------------------------------------------
    def program(self) -> Program:
        name = self.kernel.name
        self._ask(self.loops)
        blocks: list[Block] = []
        constants: dict[str, np.ndarray] = {}
        if name in ("effort", "bias"):
            blocks += self._inverse_loops(constants)
        else:
            blocks += self._forward_loops(constants)
        tail, size = self._results()
        blocks = [*self._straight(self.first), *blocks, *self._straight(tail)]
        sizes = {**self.count, "work": self.memory.size, "out": size}
        return Program("kernel", sizes, constants, blocks)

    def _straight(self, stores: list[Store]) -> Iterator[Block]:
        """Straight-line blocks, long ones cut so that they compile in linear time."""
        for k in range(0, len(stores), PIECE):
            yield Block(1, {}, [stores[k : k + PIECE]])

    def _ask(self, loops: TreeLoops) -> None:
        """Trace laws and results once without places, to learn what they load."""
        loops.laws(Tape())
        self._results()
        if self.full_loops.asked:
            self.full_loops.laws(Tape())
            self.loops.asked |= {"u_dot"}

    def _sweeper(self, loops: TreeLoops, given: str | None, effort_out: bool = False) -> Sweeper:
        asked = loops.asked
        return Sweeper(
            poses="X" in asked or "sums" in asked, speeds="v" in asked or "sums" in asked,
            rates=self.kernel.name == "rate", given=given, effort_out=effort_out,
            added=self.kernel.name == "loaded_acceleration",
        )  # fmt: skip

    def _numbers(self, tree: Tree) -> list[Array]:
        geometry = self.topology.geometry(tree, self.prelude.resolve)
        found = []
        for node in tree.nodes:
            joint, n = node.joint, node.joint.n_u
            laws = np.zeros(3 * n, dtype=object)
            laws[:] = 0.0
            if not is_by_law(joint):
                for k, values in enumerate((joint.stiffness, joint.neutral, joint.damping)):
                    if values is not None:
                        laws[k * n : k * n + n] = values
            i = node.index
            found.append(pack_numbers(geometry.placements[i], geometry.forms[i], geometry.inertias[i], laws))
        return found

    def _with_laws(self, loops: TreeLoops, laid: SweepLayout, blocks: list[Block], after: int) -> list[Block]:
        """Loops with the laws behind the first ``after`` of them, and the parameters' numbers before all."""
        self.first += [("work", place, value) for place, value in laid.prelude]
        return [*blocks[:after], *self._straight(loops.laws(Tape())), *blocks[after:]]

    def _inverse_loops(self, constants: dict[str, np.ndarray]) -> list[Block]:
        given = "zero" if self.kernel.name == "bias" else "xu"
        sweeper = self._sweeper(self.loops, given, effort_out=True)
        passes = [sweeper.kinematics(), sweeper.require(), sweeper.collect()]
        laid = self.loops.lay_out(self._numbers(self.topology.tree), {}, passes, "a")
        constants["arows"] = laid.table
        return self._with_laws(self.loops, laid, laid.blocks, 1)

    def _forward_loops(self, constants: dict[str, np.ndarray]) -> list[Block]:
        name, asked = self.kernel.name, self.loops.asked
        moving = name in ("acceleration", "loaded_acceleration", "rate")
        needs_motion = moving or (asked & {"A", "u_dot"} and name != "reactions_of_motion")
        sweeper = self._sweeper(self.loops, None)
        passes = [sweeper.kinematics()]
        most = max((n.joint.n_u for n in self.topology.tree.nodes), default=0)
        if needs_motion:
            keep = bool(asked & {"A", "u_dot"})
            passes += [sweeper.gather(), sweeper.accelerate(most, "out_u" if moving else None, keep=keep)]
        if "sums" in asked:
            passes.append(sweeper.sums())
        laid = self.loops.lay_out(self._numbers(self.topology.tree), {}, passes, "a")
        constants["arows"] = laid.table
        blocks = self._with_laws(self.loops, laid, laid.blocks, 1)
        if self.full_loops.asked:
            blocks += self._full_loops(constants)
        return blocks

    def _full_loops(self, constants: dict[str, np.ndarray]) -> list[Block]:
        """The full tree: wrenches of every joint from the accelerations that are known now."""
        nodes = self.topology.full.nodes
        node_of = {n.joint.name: n.index for n in self.topology.tree.nodes}
        views: dict[str, np.ndarray] = {}
        given = "xu"
        if self.kernel.name != "reactions_of_motion":
            given = "found"
            at = self.loops.places["u_dot"]
            views["found"] = np.array([at[node_of[n.joint.name]] if n.joint.n_u else 0 for n in nodes], dtype=np.int64)
        start = self.memory.take(6 * len(nodes))
        views["keep_f"] = start + 6 * np.arange(len(nodes), dtype=np.int64)
        sweeper = self._sweeper(self.full_loops, given)
        passes = [sweeper.kinematics(), sweeper.require(), sweeper.collect()]
        laid = self.full_loops.lay_out(self._numbers(self.topology.full), views, passes, "b")
        self.full_loops.places["f"] = views["keep_f"]
        constants["brows"] = laid.table
        return self._with_laws(self.full_loops, laid, laid.blocks, 1)

    def _results(self) -> tuple[list[Store], int]:
        """What is computed behind the loops, and the size of ``out``."""
        topology, name = self.topology, self.kernel.name
        if name in ("acceleration", "loaded_acceleration", "effort", "bias"):
            return [], topology.n_u
        tape = Tape()
        snapshot = self.snapshot(tape, full=False)
        if name == "rate":
            start = topology.layout.role_slices["z"].start
            return [("out", start + k, x) for k, x in enumerate(snapshot.z_dot)], start + topology.n_z
        outputs = outputs_of(self.kernel, snapshot)
        return [("out", k, x) for k, x in enumerate(outputs)], len(outputs)


PIECE = 4000
