"""The loops over one tree of a large system: which results other code loads, and where in ``work`` they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache as remember
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.trace import Tape
from kinode.expressions.syntax_tree import Expression
from kinode.jit.program import Block, Store
from kinode.kernels.rolled.repeated_elements import LOAD, ElementGroup, find_groups, lay_out_groups, trace_group
from kinode.kernels.rolled.tree_sweeps import LinkFlags, Plan, SweepLayout, TreePass, lay_out
from kinode.structure.tree import WORLD, Tree, find_node_frame

if TYPE_CHECKING:
    from kinode.kernels.rolled.rolled_builder import RolledBuilder

Views = Mapping[str, tuple[str, np.ndarray]]
STORES_PER_BLOCK = 48  # of straight-line code: memory operations of one block cost LLVM more than quadratic time
LARGEST_RESULT = 32  # numbers of a loop's result for one node, at most


class WorkSpace:
    """Allocates the array ``work``."""

    def __init__(self) -> None:
        self.size = 0

    def allocate(self, count: int) -> int:
        """The index of the first of ``count`` new entries."""
        start, self.size = self.size, self.size + count
        return start


class TreeLoops:
    """The loops over one tree: their plan, and where in ``work`` they leave their results.

    ``loaded`` are the results that straight-line code loads.  ``tau_at`` and ``load_at`` are the indices in ``work`` of
    the efforts and loads of nodes.
    """

    def __init__(self, builder: RolledBuilder, tree: Tree) -> None:
        self.builder, self.tree = builder, tree
        self.positions: dict[str, np.ndarray] = {}
        self.loaded: set[str] = set()
        self.is_laid_out = False
        self._provisional: dict[tuple[str, int], int] = {}
        self.tau_at: dict[int, int] = {}
        self.load_at: dict[int, int] = {}

    def load(self, tape: Tape, name: str, index: int, size: int) -> Array:
        """The result of a loop for a node, noted as loaded; before the layout is known, any entries of ``work``.

        These are different for each node: what is the same would cancel, and a spring would have no length.
        """
        self.loaded.add(name)
        if self.is_laid_out:
            start = int(self.positions[name][index])
        else:
            start = LARGEST_RESULT * self._provisional.setdefault((name, index), len(self._provisional))
        return np.array([tape.load("work", start + k) for k in range(size)], dtype=object)

    def expressions(self, tape: Tape) -> list[Store]:
        """The stores of efforts and loads for the loops; also finds the nodes that have any."""
        stores: list[Store] = []
        if not self._has_expressions():
            return stores
        snapshot = self.builder.snapshot(tape, full=self.tree is self.builder.topology.full)
        work = self.builder.work
        for node in self.tree.nodes:
            if is_by_law(node.joint) and node.joint.n_u:
                at = self.tau_at.setdefault(node.index, -1)
                if at < 0:
                    at = self.tau_at[node.index] = work.allocate(node.joint.n_u)
                values = snapshot.loads.own_effort(node.joint.name)
                stores += [("work", at + k, value) for k, value in enumerate(values)]
        if self.builder.topology.system.elements or snapshot.given.wrenches or self.builder.topology.constrained:
            repeated = [name for group in self.groups for name in group.names]
            for i, load in enumerate(snapshot.loads.link_loads_without(repeated)):
                if load is not None:
                    at = self.allocate_load(i)
                    stores += [("work", at + k, value) for k, value in enumerate(np.concatenate(load))]
            for group in self.groups:
                self.loaded |= trace_group(group)[1]
                for i in dict.fromkeys(group.nodes[group.nodes != WORLD].tolist()):
                    self.allocate_load(i)
        return stores

    def allocate_load(self, node: int) -> int:
        """The index in ``work`` of the load of a node."""
        if node not in self.load_at:
            self.load_at[node] = self.builder.work.allocate(LOAD)
        return self.load_at[node]

    @cached_property
    def groups(self) -> list[ElementGroup]:
        """Elements that are loops of their own."""
        topology, resolve = self.builder.topology, self.builder.prelude.resolve
        if not topology.system.elements:
            return []
        geometry = topology.geometry(self.tree, resolve)
        return find_groups(topology.system, lambda frame: find_node_frame(self.tree, geometry, frame, resolve))

    def expression_blocks(self, constants: dict[str, np.ndarray]) -> Iterator[Block]:
        """The blocks of efforts and loads; ``constants`` gets the tables of elements."""
        stores = self.expressions(Tape())
        known = {position for array, position, _ in stores if array == "work"}
        nodes = dict.fromkeys(i for group in self.groups for i in group.nodes[group.nodes != WORLD].tolist())
        at = np.array([self.load_at[i] for i in nodes if self.load_at[i] not in known], dtype=np.int64)
        if len(at):
            yield Block(len(at), {"load": ("work", at)}, [[("load", k, 0.0) for k in range(LOAD)]])
        yield from straight_blocks(stores)
        prefix = "full" if self.tree is self.builder.topology.full else "tree"
        yield from lay_out_groups(self.groups, prefix, self.positions, self.load_at, constants)

    def _has_expressions(self) -> bool:
        """Whether joints have efforts by a law, or anything but joints loads links."""
        topology = self.builder.topology
        if topology.system.elements or topology.constrained or self.builder.given(Tape()):
            return True
        return any(is_by_law(node.joint) for node in self.tree.nodes)

    def plan(self, numbers: Sequence[Array], views: Views) -> Plan:
        """The links of the tree with their numbers, flags and views; ``views`` come before those of the state."""
        builder, topology = self.builder, self.builder.topology
        nodes = self.tree.nodes

        def offsets(of: Mapping[str, slice]) -> np.ndarray:
            return np.array([of[n.joint.name].start if n.joint.name in of else 0 for n in nodes], dtype=np.int64)

        def table(of: dict[int, int]) -> np.ndarray:
            return np.array([of.get(n.index, 0) for n in nodes], dtype=np.int64)

        q, u = offsets(topology.q_of), offsets(topology.u_of)
        flag = remember(LinkFlags)
        driven = [builder.driven.get(n.joint.name, (0, 0, 0)) for n in nodes]
        driven_q, driven_u, driven_u_dot = (np.array(column, dtype=np.int64) for column in zip(*driven, strict=True))
        behind_q = builder.kernel.name in ("rate", "projection")
        all_views = {
            "q": ("q", q), "u": ("u", u), "x_effort": ("x", u), "x_u_dot": ("x", u), "out_q": ("out", q),
            "out_u": ("out", u + (topology.n_q if behind_q else 0)),
            "driven_q": ("work", driven_q), "driven_u": ("work", driven_u), "driven_u_dot": ("work", driven_u_dot),
            "tau": ("work", table(self.tau_at)), "load": ("work", table(self.load_at)),
            "base": ("work", np.full(len(nodes), builder.base_at, dtype=np.int64)),
            **views,
        }  # fmt: skip
        reported = builder.reported if self is builder.full_loops else {}
        flags = [
            flag(
                n.joint.name in builder.driven, n.index in self.tau_at, n.index in self.load_at,
                n.joint.name in reported,
            )
            for n in nodes
        ]  # fmt: skip
        return Plan([n.parent for n in nodes], [n.mechanics for n in nodes], numbers, flags, all_views)

    def lay_out(self, numbers: Sequence[Array], views: Views, passes: Sequence[TreePass], prefix: str) -> SweepLayout:
        """Lay out passes over the tree behind what ``work`` already holds."""
        layout = lay_out(
            self.plan(numbers, views), passes, self.builder.work.size, prefix, self.builder.world_values, self.loaded
        )
        self.builder.work.size = layout.work
        self.positions.update(layout.positions)
        self.is_laid_out = True
        return layout


def straight_blocks(stores: Sequence[Store]) -> Iterator[Block]:
    """Straight-line blocks of limited size, which compile in linear time."""
    for k in range(0, len(stores), STORES_PER_BLOCK):
        yield Block(1, {}, [stores[k : k + STORES_PER_BLOCK]])


def is_by_law(joint: Any) -> bool:
    """Whether a joint has an effort, or a stiffness or damping, that is an expression."""
    if joint.effort is joint.stiffness is joint.neutral is joint.damping is None:
        return False
    constants = [*(joint.stiffness or ()), *(joint.neutral or ()), *(joint.damping or ())]
    return joint.effort is not None or any(isinstance(x, Expression) for x in constants)
