"""The rows of constraints on a large tree: which links each of them loads, and straight-line code of their loads.

A row with the multiplier 1 loads the links of its frames with wrenches, by virtual power.  Its loads pass through all
links between these and the world.  A pair is a link together with a row that passes through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from kinode.algebra.scalars import Array, tidy
from kinode.algebra.spatial import ZERO3, cross
from kinode.model.base.frames import Frame
from kinode.model.system import joint_frame
from kinode.multibody.kinematics import SIDES, Kinematics
from kinode.multibody.restraints.constraint_forces import frames_of
from kinode.multibody.restraints.loop_constraints import LoopConstraint, carriers_of, freedoms, row_rates


class PassingRows:
    """Some rows of all constraints: the constraint of each row, and its number among the rows of the constraint."""

    def __init__(self, kinematics: Kinematics, chosen: Sequence[int] | None) -> None:
        constraints = kinematics.constraints.loop_constraints
        every = [(constraint, k) for constraint in constraints for k in range(len(constraint.units))]
        self.constraints = constraints
        self.rows = every if chosen is None else [every[k] for k in chosen]
        self.units = [constraint.units[k] for constraint, k in self.rows]
        self._kinematics = kinematics
        self._numbers: dict[int, list[tuple[int, int]]] = {}
        for r, (constraint, k) in enumerate(self.rows):
            self._numbers.setdefault(id(constraint), []).append((r, k))

    def __len__(self) -> int:
        return len(self.rows)

    def numbers_of(self, constraint: LoopConstraint) -> Iterable[tuple[int, int]]:
        """The rows of a constraint among these rows, and their numbers in the constraint."""
        return self._numbers.get(id(constraint), [])

    @cached_property
    def rows_by_node(self) -> list[list[int]]:
        """The rows that pass through each link."""
        passing: list[list[int]] = [[] for _ in self._kinematics.tree.nodes]
        nodes_of = {id(constraint): loaded_nodes(self._kinematics, constraint) for constraint in self.constraints}
        for r, (constraint, _) in enumerate(self.rows):
            for i in nodes_of[id(constraint)]:
                passing[i].append(r)
        return passing


def loaded_nodes(kinematics: Kinematics, constraint: LoopConstraint) -> set[int]:
    """The links between the world and the frames of a constraint."""
    frames, joints = constraint.find_dependencies(kinematics)
    frames = [*frames, *(joint_frame(kinematics.system.joints[j], side) for j in joints for side in SIDES)]
    return set[int]().union(*(carriers_of(kinematics, frame) for frame in frames))


def unit_wrenches(kinematics: Kinematics, constraint: LoopConstraint, about: Array) -> list[tuple[Frame, Array]]:
    """The frames that a constraint loads, and for each unit multiplier moment about a point and force: rows x 6.

    All is in world axes.
    """
    rates = kinematics.constraints.virtual_rates(constraint)
    return [(frame, _wrenches_at(kinematics, frame, each, about)) for frame, each in rates]


def _wrenches_at(kinematics: Kinematics, frame: Frame, rates: list[Array], about: Array) -> Array:
    """The load on a frame from the rates of rows for the six unit velocities of it: rows x 6."""
    p = kinematics.pose(frame).p - about
    wrenches = []
    for values in zip(*rates, strict=True):
        force = tidy(values[3:])
        wrenches.append(np.concatenate([tidy(values[:3]) + cross(p, force), force]))
    return np.array(wrenches, dtype=object).reshape(-1, 6)


def _child_wrenches(kinematics: Kinematics, constraint: LoopConstraint, child: Frame, about: Array) -> Array:
    """The same for the child's frame of a cut joint; that of its parent is not traced in vain."""

    def rates(unit: Array) -> Array:
        def speed(frame: Frame) -> tuple[Array, Array]:
            return (unit[:3], unit[3:]) if frame == child else (np.zeros(3), np.zeros(3))

        return row_rates(kinematics, constraint, speed, _turn_nothing)

    return _wrenches_at(kinematics, child, [rates(unit) for unit in np.eye(6)], about)


def _turn_nothing(name: str) -> Array:
    """Rates of the coordinates of a tree joint, on which the pose of a cut joint does not depend."""
    raise AssertionError(name)


def entering_wrenches(
    kinematics: Kinematics, constraint: LoopConstraint, about: Array
) -> list[tuple[Array, list[tuple[int, float]]]]:
    """Wrenches for unit multipliers, rows x 6, each with the links that it loads and its sign there.

    Where a constraint joins two frames, the wrench on one is the negative of that on the other.  That on the child of
    a cut joint, in whose parent's axes the rows are, takes fewer operations.
    """
    if constraint.relative:
        parent, child = constraint.find_dependencies(kinematics)[0]
        if parent != child:
            other, node = (kinematics.locate_frame(frame)[0] for frame in (parent, child))
            return [(_child_wrenches(kinematics, constraint, child, about), [(other, -1.0), (node, 1.0)])]
    return [
        (wrenches, [(kinematics.locate_frame(frame)[0], 1.0)])
        for frame, wrenches in unit_wrenches(kinematics, constraint, about)
    ]


def carried_frames(kinematics: Kinematics, constraint: LoopConstraint) -> dict[int, tuple[Frame, ...]]:
    """The frames of a constraint that each link carries which can change its rows."""
    relative = constraint.relative
    frames = constraint.find_dependencies(kinematics)[0] if relative else frames_of(kinematics, constraint)
    carriers = {frame: carriers_of(kinematics, frame) for frame in frames}
    nodes = dict.fromkeys(i for i, _, _, _ in freedoms(kinematics, constraint))
    return {i: tuple(frame for frame in carriers if i in carriers[frame]) for i in nodes}


def carried_wrenches(kinematics: Kinematics, constraint: LoopConstraint) -> dict[tuple[Frame, ...], Array]:
    """The load on each set of frames that some link carries.

    The load is moment about the world's origin and force for each row, in world axes: rows x 6.
    """
    loads = dict(unit_wrenches(kinematics, constraint, ZERO3))
    none = np.zeros((len(constraint.units), 6))
    sets = dict.fromkeys(carried_frames(kinematics, constraint).values())
    return {frames: sum((loads[f] for f in frames), none) for frames in sets}
