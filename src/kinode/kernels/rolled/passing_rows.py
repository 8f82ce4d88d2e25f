"""The rows of constraints on a large tree: which links each of them loads, and straight-line code of their loads.

A row with the multiplier 1 loads the links of its frames with wrenches, by virtual power.  Its loads pass through all
links between these and the world.  A pair is a link together with a row that passes through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from kinode.algebra.scalars import Array, tidy
from kinode.algebra.spatial import cross
from kinode.model.base.frames import Frame
from kinode.model.system import joint_frame
from kinode.multibody.kinematics import SIDES, Kinematics
from kinode.multibody.links.link_steps import Spatial
from kinode.multibody.restraints.loop_constraints import LoopConstraint, carriers_of, freedoms
from kinode.structure.link_geometry import WORLD


class PassingRows:
    """Some rows of all constraints: the constraint of each row, and its number among the rows of the constraint."""

    def __init__(self, kinematics: Kinematics, chosen: Sequence[int] | None) -> None:
        constraints = kinematics.constraints.loop_constraints
        every = [(constraint, k) for constraint in constraints for k in range(len(constraint.units))]
        self.constraints = constraints
        self.rows = every if chosen is None else [every[k] for k in chosen]
        self.units = [constraint.units[k] for constraint, k in self.rows]
        self._kinematics = kinematics

    def __len__(self) -> int:
        return len(self.rows)

    def numbers_of(self, constraint: LoopConstraint) -> Iterable[tuple[int, int]]:
        """The rows of a constraint among these rows, and their numbers in the constraint."""
        return [(r, k) for r, (other, k) in enumerate(self.rows) if other is constraint]

    @cached_property
    def rows_by_node(self) -> list[list[int]]:
        """The rows that pass through each link."""
        passing: list[list[int]] = [[] for _ in self._kinematics.tree.nodes]
        nodes_of = {id(constraint): loaded_nodes(self._kinematics, constraint) for constraint in self.constraints}
        for r, (constraint, _) in enumerate(self.rows):
            for i in nodes_of[id(constraint)]:
                passing[i].append(r)
        return passing

    @cached_property
    def pairs(self) -> np.ndarray:
        """Link and row of each pair, from the tips of the tree to the world."""
        pairs = [(i, r) for i in reversed(range(len(self.rows_by_node))) for r in self.rows_by_node[i]]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def neighbors(self, among: Sequence[int]) -> list[set[int]]:
        """For each of some rows, the others of them that pass through one of its links, by their numbers there."""
        number = {r: k for k, r in enumerate(among)}
        neighbors: list[set[int]] = [set() for _ in among]
        for node, rows in zip(self._kinematics.tree.nodes, self.rows_by_node, strict=True):
            if node.joint.name in self._kinematics.topology.u_of:
                here = {number[r] for r in rows if r in number}
                for k in here:
                    neighbors[k] |= here
        return [row - {k} for k, row in enumerate(neighbors)]


def loaded_nodes(kinematics: Kinematics, constraint: LoopConstraint) -> set[int]:
    """The links between the world and the frames of a constraint."""
    frames, joints = constraint.find_dependencies(kinematics)
    frames = [*frames, *(joint_frame(kinematics.system.joints[j], side) for j in joints for side in SIDES)]
    return set[int]().union(*(carriers_of(kinematics, frame) for frame in frames))


def link_wrenches(kinematics: Kinematics, constraint: LoopConstraint) -> dict[int, list[Spatial]]:
    """The wrench on each loaded link for each unit multiplier of a constraint, in link axes about the link's origin."""
    wrenches: dict[int, list[Spatial]] = {}
    for frame, rates in kinematics.constraints.virtual_rates(constraint):
        node, X = kinematics.locate_frame(frame)
        if node == WORLD:
            continue
        R = kinematics.link_poses[node].R
        here = []
        for values in zip(*rates, strict=True):
            force = R.T @ tidy(values[3:])
            here.append((R.T @ tidy(values[:3]) + cross(X.p, force), force))
        known = wrenches.get(node)
        if known is not None:
            here = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(known, here, strict=True)]
        wrenches[node] = here
    return wrenches


def carried_wrenches(
    kinematics: Kinematics, constraint: LoopConstraint
) -> tuple[dict[int, tuple[Frame, ...]], dict[tuple[Frame, ...], Array]]:
    """The frames of a constraint that each link carries which can change its rows; and the load on each such set.

    The load is moment about the world's origin and force for each row, in world axes: rows x 6.
    """
    loads: dict[Frame, Array] = {}
    for frame, rates in kinematics.constraints.virtual_rates(constraint):
        p = kinematics.pose(frame).p
        wrenches = []
        for values in zip(*rates, strict=True):
            force = tidy(values[3:])
            wrenches.append(np.concatenate([tidy(values[:3]) + cross(p, force), force]))
        loads[frame] = np.array(wrenches, dtype=object).reshape(-1, 6)
    carriers = {frame: carriers_of(kinematics, frame) for frame in loads}
    nodes = dict.fromkeys(i for i, _, _, _ in freedoms(kinematics, constraint))
    carried = {i: tuple(frame for frame in loads if i in carriers[frame]) for i in nodes}
    none = np.zeros((len(constraint.units), 6))
    return carried, {frames: sum((loads[f] for f in frames), none) for frames in dict.fromkeys(carried.values())}
