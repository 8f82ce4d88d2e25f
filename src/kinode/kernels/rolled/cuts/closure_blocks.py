"""The blocks of loop code that close loops: pose errors of cut joints, residuals, rates and loads of all rows.

They stand behind the loop of the kinematics.  Loops over links and cut joints, or links and rows, then multiply axes
and loads by the freedoms of links (``closed_sweeps.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.spatial import ZERO3
from kinode.algebra.trace import Tape
from kinode.jit.program import Block, Store
from kinode.kernels.rolled.cuts.repeated_cuts import CutGroup, CutKinematics, RepeatedCuts, Trace, Views
from kinode.kernels.rolled.passing_rows import PassingRows, carried_frames, carried_wrenches, unit_wrenches
from kinode.kernels.rolled.tree_loops import straight_blocks
from kinode.model.base.frames import Frame
from kinode.model.system import joint_frame
from kinode.multibody.dependent_joints import AXES, HEAD, PoseError, n_cut_coordinates
from kinode.multibody.kinematics import SIDES, Kinematics
from kinode.multibody.restraints import loop_constraints
from kinode.multibody.restraints.loop_constraints import CutJointConstraint, LoopConstraint, carriers_of, freedoms

if TYPE_CHECKING:
    from kinode.kernels.rolled.rolled_builder import RolledBuilder

Pairs = list[tuple[int, int, int]]
"""Node, index of its load or axes in ``work``, and index of the first entry in ``out``."""


class ClosureBlocks:
    """The blocks of one kernel: of pose errors, of all rows, or of both."""

    def __init__(self, builder: RolledBuilder, *, has_poses: bool, has_rows: bool) -> None:
        self.topology, self.work, self.loops = builder.topology, builder.work, builder.loops
        self._snapshot, self._has_poses, self._has_rows = builder.snapshot, has_poses, has_rows
        self._cuts = RepeatedCuts(builder, PassingRows(self._kinematics(Tape()), None))
        self._axes_at = self.work.allocate(2 * AXES * len(self.topology.cuts)) if has_poses else 0
        self._load_places: dict[tuple[str, tuple[str, ...]], int] = {}

    @property
    def constants(self) -> dict[str, np.ndarray]:
        """The tables of cut joints."""
        return self._cuts.constants

    def _kinematics(self, tape: Tape) -> Kinematics:
        return self._snapshot(tape, full=False).kinematics

    def find(self) -> tuple[list[Block], list[Pairs], int]:
        """The blocks, the pairs of each kind, and the size of ``out``; what is read of loops is noted as loaded."""
        blocks, pairs, size = list[Block](), list[Pairs](), 0
        for find, wanted in ((self._pose_blocks, self._has_poses), (self._closure_blocks, self._has_rows)):
            if wanted:
                pairs.append([])
                found, size = find(pairs[-1], size)
                blocks += found
        return blocks, pairs, size

    def _closure_blocks(self, entries: Pairs, start: int) -> tuple[list[Block], int]:
        """The blocks of residuals, rates and loads, from some place in ``out`` on, and the size of ``out``.

        ``entries`` gets node, index of its load in ``work`` and index of the first entry in ``out`` of each pair.
        """
        kinematics, cuts = self._kinematics(Tape()), self._cuts
        counts = [len(constraint.units) for constraint in cuts.rows.constraints]
        first = start + np.cumsum(counts) - counts
        out = start + 2 * sum(counts)
        for constraint in cuts.rows.constraints:
            carried = carried_frames(kinematics, constraint)
            at = {frames: self._loads_at(constraint, frames) for frames in dict.fromkeys(carried.values())}
            n_columns = sum(kinematics.tree.nodes[i].joint.n_u for i in carried)
            for k in range(len(constraint.units)):
                here = out + k * n_columns
                for i, frames in carried.items():
                    entries.append((i, at[frames] + 6 * k, here))
                    here += kinematics.tree.nodes[i].joint.n_u
            out += len(constraint.units) * n_columns
        return [
            *straight_blocks(self._closure_alone(kinematics, first, sum(counts))),
            *self._closure_loops(first, sum(counts)),
        ], out

    def _loads_at(self, constraint: LoopConstraint, frames: tuple[Frame, ...]) -> int:
        """The index in ``work`` of the loads of a constraint's rows on some of its frames."""
        key = constraint.name, tuple(map(str, frames))
        if key not in self._load_places:
            self._load_places[key] = self.work.allocate(6 * len(constraint.units))
        return self._load_places[key]

    def _closure_alone(self, kinematics: Kinematics, first: np.ndarray, count: int) -> list[Store]:
        """The stores of residuals, rates and loads of constraints outside of loops."""
        cuts, stores = self._cuts, list[Store]()
        number = {id(constraint): k for k, constraint in enumerate(cuts.rows.constraints)}
        for behind, function in ((0, loop_constraints.residual), (count, loop_constraints.drift)):
            for constraint, values in zip(cuts.alone, function(kinematics, cuts.alone), strict=True):
                at = int(first[number[id(constraint)]]) + behind
                stores += [("out", at + k, x) for k, x in enumerate(values)]
        for constraint in cuts.alone:
            for frames, wrenches in carried_wrenches(kinematics, constraint).items():
                at = self._loads_at(constraint, frames)
                stores += [("work", at + k, x) for k, x in enumerate(wrenches.ravel())]
        return stores

    def _closure_loops(self, first: np.ndarray, count: int) -> Iterator[Block]:
        """The same of cut joints in loops."""

        def trace(kinematics: CutKinematics, cut: CutJointConstraint) -> Iterator[Store]:
            for view, function in (("residual", loop_constraints.residual), ("rate", loop_constraints.drift)):
                yield from ((view, k, x) for k, x in enumerate(function(kinematics, [cut])[0]))
            for side, (_, wrenches) in zip(SIDES, unit_wrenches(kinematics, cut, ZERO3), strict=True):
                yield from ((side, k, x) for k, x in enumerate(wrenches.ravel()))

        for group in self._cuts.groups:
            at = first[group.members]
            views = {"residual": ("out", at), "rate": ("out", at + count)}
            for side in SIDES:
                joints = (self.topology.cuts[number].joint for number in group.members.tolist())
                ends = zip(
                    self._cuts.constraints_of(group), (joint_frame(joint, side) for joint in joints), strict=True
                )
                places = [self._loads_at(one, (frame,)) for one, frame in ends]
                views[side] = "work", np.array(places, dtype=np.int64)
            yield from self._loop_over(group, trace, views)

    def _loop_over(self, group: CutGroup, trace: Trace, views: Views) -> Iterator[Block]:
        """The loop over cut joints; before the loops over links are laid out, what it reads is noted."""
        if self.loops.is_laid_out:
            yield self._cuts.block(group, self.loops, trace, views)
        else:
            self._cuts.trace(group, self.loops, trace)

    def _pose_blocks(self, entries: Pairs, out: int) -> tuple[list[Block], int]:
        """The blocks of errors and axes, and the size of ``out``; ``entries`` as in ``_closure_blocks``."""
        tape = Tape()
        kinematics, x = self._kinematics(tape), tape.inputs("x", n_cut_coordinates(self.topology))
        grouped = {k for group in self._cuts.groups for k in group.members.tolist()}
        stores: list[Store] = []
        axes_at, start, places = self._axes_at, 0, list[tuple[int, int, int, int]]()
        for number, cut in enumerate(self.topology.cuts):
            head, tail = out, 0
            out += HEAD
            child = carriers_of(kinematics, joint_frame(cut.joint, "child"))
            for i in dict.fromkeys(i for i, _, _, _ in freedoms(kinematics, CutJointConstraint(cut))):
                entries.append((i, axes_at + (0 if i in child else AXES), out))
                out += 6 * kinematics.tree.nodes[i].joint.n_u
            tail, out = out, out + 6 * cut.joint.n_u
            if number not in grouped:
                error = PoseError(kinematics, cut.joint, x[start : start + cut.joint.n_q])
                for array, at, values in (
                    ("out", head, error.head),
                    ("out", tail, error.tail),
                    ("work", axes_at, error.both_axes),
                ):
                    stores += [(array, at + k, value) for k, value in enumerate(values)]
            places.append((head, tail, axes_at, start))
            start += cut.joint.n_q
            axes_at += 2 * AXES
        return [*straight_blocks(stores), *self._pose_loops(np.array(places, dtype=np.int64).reshape(-1, 4))], out

    def _pose_loops(self, places: np.ndarray) -> Iterator[Block]:
        """The same of cut joints in loops; ``places`` has those of head, tail, axes and coordinates of each."""

        def trace(kinematics: CutKinematics, cut: CutJointConstraint) -> Iterator[Store]:
            error = PoseError(kinematics, cut.joint, kinematics.tape.inputs("cut_q", cut.joint.n_q))
            for view, values in (("head", error.head), ("tail", error.tail), ("axes", error.both_axes)):
                yield from ((view, k, value) for k, value in enumerate(values))

        for group in self._cuts.groups:
            head, tail, axes, q = places[group.members].T
            views = {"head": ("out", head), "tail": ("out", tail), "axes": ("work", axes), "cut_q": ("x", q)}
            yield from self._loop_over(group, trace, views)
