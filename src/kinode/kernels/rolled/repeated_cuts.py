"""Loops over cut joints of a kind in a large system: one is traced, the numbers of all stand in a table.

Cut joints of a group have the same kind and the same constants, the same of their frames are on the world, and the same
of their rows are used.  Their numbers are the poses of their two frames, in canonical axes, in the links that carry
them.  A number that is the same for all is a literal.  Numbers that depend on parameters are computed in the prelude.
Cut joints that few others are like, and constraint elements, stay straight-line code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array, is_number
from kinode.algebra.spatial import IDENTITY_POSE, ZERO3, Pose
from kinode.algebra.trace import Tape
from kinode.jit.program import Block, Store
from kinode.kernels.alike import Columns, pattern_of
from kinode.kernels.rolled.constraint_rows import PassingRows
from kinode.kernels.rolled.rolled_motion import Loaded, RolledKinematics, RolledMotion
from kinode.kernels.rolled.tree_loops import TreeLoops
from kinode.model.base.frames import Frame
from kinode.model.system import joint_frame
from kinode.multibody.given import Given
from kinode.multibody.kinematics import SIDES, Kinematics
from kinode.multibody.laws import Laws
from kinode.multibody.link_steps import LinkKinematics, Spatial
from kinode.multibody.loop_constraints import CutJointConstraint, LoopConstraint
from kinode.multibody.snapshot import Composition, Snapshot
from kinode.structure.spanning_tree import Cut
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology
from kinode.structure.tree import WORLD, Tree

if TYPE_CHECKING:
    from kinode.kernels.rolled.rolled_builder import RolledBuilder


FEWEST = 4  # cut joints of a group; fewer stay straight-line code
POSE = 12  # numbers of a pose
ENDS = ("a", "b")
OF_LINKS = ("X", "w", "v", "A0")  # results of loops over links that may be read
Views = Mapping[str, tuple[str, np.ndarray]]
Trace = Callable[["CutKinematics", CutJointConstraint], Iterable[Store]]


@dataclass(frozen=True, eq=False)
class CutGroup:
    """Cut joints that share their code.

    ``members`` are their numbers, ``rows`` those of the rows that are used, among the rows of each.  ``nodes`` has the
    links of their frames, a joint in each row; the numbers of the prelude begin at ``computed_at``.
    """

    cut: Cut
    members: np.ndarray
    rows: tuple[int, ...]
    nodes: np.ndarray
    columns: Columns
    name: str
    computed_at: int

    @property
    def views(self) -> Views:
        """The numbers of each joint."""
        columns = self.columns
        computed = columns.starts(columns.computed, self.computed_at)
        return {"row": (self.name, columns.starts(columns.tabled)), "prow": ("work", computed)}


class CutKinematics(RolledKinematics):
    """Kinematics of the cut joint that is traced for its group: its two links are loaded by views.

    The poses of its frames are in canonical axes.
    """

    def __init__(
        self, topology: Topology, tree: Tree, point: EvaluationPoint, laws: Laws, given: Given,
        loops: TreeLoops, tape: Tape, group: CutGroup,
    ) -> None:  # fmt: skip
        super().__init__(topology, tree, point, laws, given, lambda tree: loops, tape)
        self.tape, numbers = tape, group.columns.traced(tape).reshape(2, POSE)
        frames = [joint_frame(group.cut.joint, side) for side in SIDES]
        nodes = group.nodes[0].tolist()
        self._seen, self._found = loops.loaded, dict(zip(nodes, ENDS, strict=True))
        self._ends: dict[Frame, tuple[int, Pose]] = {
            frame: (node, Pose(x[:9].reshape(3, 3), x[9:]))
            for frame, node, x in zip(frames, nodes, numbers, strict=True)
        }

    def load(self, name: str, index: int, size: int) -> Array:
        """The values that a loop computed for the link of one of the two frames."""
        self._seen.add(name)
        return self._tape.inputs(f"{name} {self._found[index]}", size)

    def locate_frame(self, frame: Frame) -> tuple[int, Pose]:
        """The link of a frame, and its pose there."""
        return self._ends[frame]

    def place_cuts(self, names: Any) -> None:
        """Find the poses of the joint."""
        if not self._cut_poses:
            (name,) = set(names)
            F, M = (self.pose(frame) for frame in self._ends)
            self._cut_poses[name] = F, M, F.inverse() @ M

    @cached_property
    def link_kinematics(self) -> Sequence[LinkKinematics]:
        """Angular velocities alone."""

        def make(i: int) -> LinkKinematics:
            return LinkKinematics(IDENTITY_POSE, np.zeros((6, 0)), self.load("w", i, 3), ZERO3, ZERO3)

        return Loaded(len(self.tree.nodes), make)

    @cached_property
    def unaccelerated(self) -> tuple[list[Array], Sequence[Spatial]]:
        """Accelerations of links for u_dot = 0 of the state; none of joints."""

        def make(i: int) -> Spatial:
            values = self.load("A0", i, 6)
            return values[:3], values[3:]

        return [], Loaded(len(self.tree.nodes), make)


class RepeatedCuts:
    """The constraints of a system: groups of cut joints, and the others, which are alone.

    Parameters
    ----------
    builder : RolledBuilder
        Gets the stores of numbers that depend on parameters.
    rows : PassingRows
        The rows that are used.
    """

    def __init__(self, builder: RolledBuilder, rows: PassingRows) -> None:
        self._builder, self.rows = builder, rows
        cuts = builder.topology.cuts
        found = self._numbers(builder.prelude.kinematics, cuts) if len(cuts) >= FEWEST else {}
        self.groups = [self._make(f"cuts{k}", several, found) for k, several in enumerate(_group(found))]
        grouped = {number for group in self.groups for number in group.members.tolist()}
        self.alone = [one for k, one in enumerate(rows.constraints) if k not in grouped]

    @property
    def constants(self) -> dict[str, np.ndarray]:
        """The tables of the groups."""
        return {group.name: group.columns.table.ravel() for group in self.groups if group.columns.tabled}

    def constraints_of(self, group: CutGroup) -> list[LoopConstraint]:
        """The constraints of a group."""
        return [self.rows.constraints[k] for k in group.members.tolist()]

    def rows_of(self, group: CutGroup) -> np.ndarray:
        """The used rows of a group: a joint in each row."""
        each = [[r for r, _ in self.rows.numbers_of(constraint)] for constraint in self.constraints_of(group)]
        return np.array(each, dtype=np.int64).reshape(len(each), len(group.rows))

    def _numbers(self, kinematics: Kinematics, cuts: Sequence[Cut]) -> dict[int, tuple[Any, list[int], Array]]:
        """By the number of a cut joint: what its group has in common, the links of its frames, its numbers."""
        found: dict[int, tuple[Any, list[int], Array]] = {}
        system, resolve = kinematics.system, kinematics.resolve
        for k, cut in enumerate(cuts):
            frames = [joint_frame(cut.joint, side) for side in SIDES]
            form = cut.joint.form(resolve)
            if any(frame.body in system.frames for frame in frames) or not all(map(is_number, form)):
                continue
            places = [kinematics.locate_frame(frame) for frame in frames]
            nodes = [node for node, _ in places]
            if nodes[0] == nodes[1]:
                continue
            C = Pose(cut.joint.axis_rotation(resolve, system.nominal), ZERO3)
            poses = [X @ C for _, X in places]
            values = np.array([x for X in poses for x in (*np.asarray(X.R).ravel(), *X.p)], dtype=object)
            rows = tuple(own for _, own in self.rows.numbers_of(self.rows.constraints[k]))
            world = tuple(node == WORLD for node in nodes)
            found[k] = (type(cut.joint), tuple(map(float, form)), world, rows), nodes, values
        return found

    def _make(self, name: str, members: list[int], found: Mapping[int, tuple[Any, list[int], Array]]) -> CutGroup:
        """A group; its numbers that depend on parameters are computed in the prelude."""
        columns = Columns(np.array([found[k][2] for k in members], dtype=object))
        at = self._builder.work.allocate(len(columns.prelude))
        self._builder.prelude_stores += [("work", at + k, value) for k, value in enumerate(columns.prelude)]
        (_, _, _, rows), _, _ = found[members[0]]
        return CutGroup(
            self._builder.topology.cuts[members[0]], np.array(members, dtype=np.int64), rows,
            np.array([found[k][1] for k in members], dtype=np.int64), columns, name, at,
        )  # fmt: skip

    def trace(self, group: CutGroup, loops: TreeLoops, trace: Trace) -> list[Store]:
        """The stores of the joint that is traced; the results of loops that they read are noted as loaded."""
        topology, tape = self._builder.topology, Tape()
        kinematics = partial(CutKinematics, loops=loops, tape=tape, group=group)
        composition = Composition(kinematics=kinematics, motion=RolledMotion)
        instant = Snapshot(topology, topology.layout.traced_point(tape), formulation=composition).kinematics
        assert isinstance(instant, CutKinematics)
        return [*trace(instant, CutJointConstraint(group.cut))]

    def block(self, group: CutGroup, loops: TreeLoops, trace: Trace, views: Views) -> Block:
        """The loop over the joints of a group; the loops over links are laid out."""
        stores, every = self.trace(group, loops, trace), {**group.views, **views}
        for nodes, end in zip(group.nodes.T, ENDS, strict=True):
            if nodes[0] != WORLD:
                loaded = (name for name in OF_LINKS if name in loops.positions)
                every |= {f"{name} {end}": ("work", loops.positions[name][nodes]) for name in loaded}
        return Block(len(group.members), every, [stores])


def _group(found: Mapping[int, tuple[Any, list[int], Array]]) -> list[list[int]]:
    """The members of each group: joints whose numbers have the same zeros and ones, else any that have the rest."""
    close: dict[Any, list[int]] = {}
    for k, (key, _, values) in found.items():
        close.setdefault((key, pattern_of(values)), []).append(k)
    groups = [members for members in close.values() if len(members) >= FEWEST]
    wide: dict[Any, list[int]] = {}
    for (key, _), members in close.items():
        if len(members) < FEWEST:
            wide.setdefault(key, []).extend(members)
    return groups + [sorted(members) for members in wide.values() if len(members) >= FEWEST]
