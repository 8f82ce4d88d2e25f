"""Loops over elements of a kind on a large tree: one is traced, the numbers of all stand in a table.

Elements of a group have the same type, the same of their numbers are zero, and the same of their frames are on the
world.  The loads of an element are added to those of the links that carry its frames, one element after the other; its
loads must depend on its numbers and on the motion of its frames alone (``Element.repeatable``).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar, is_number
from kinode.algebra.spatial import ZERO3, Pose, cross
from kinode.algebra.trace import Tape
from kinode.jit.program import Block, Store
from kinode.kernels.alike import Columns
from kinode.model.base.element import Element
from kinode.model.base.frames import Frame
from kinode.model.system import System
from kinode.structure.tree import WORLD

FEWEST = 8  # elements of a group; fewer stay straight-line code
POSE, LOAD = 12, 6  # numbers of a pose and of a load
Locate = Callable[[Frame], tuple[int, Pose]]
"""Gives the node that carries a frame, and the frame's pose in its link."""
Views = dict[str, tuple[str, np.ndarray | None]]


class ElementGroup(NamedTuple):
    """Elements that share their code."""

    elements: tuple[Element, ...]
    frames: tuple[str, ...]
    """The names of the fields that are frames."""
    numbers: tuple[str, ...]
    """The names of the fields that are numbers other than zero."""
    nodes: np.ndarray
    """The node of each frame, an element in each row."""
    columns: Columns
    """Numbers, then the poses of the frames in their links."""

    @property
    def names(self) -> frozenset[str]:
        """The names of the elements."""
        return frozenset(element.name for element in self.elements)


def find_groups(system: System, locate: Locate) -> list[ElementGroup]:
    """The groups of elements that are large enough."""
    groups: dict[Any, list[tuple[Element, list[int], list[float]]]] = {}
    for element in system.elements.values():
        fields = element.repeatable()
        if fields is None:
            continue
        frames = [getattr(element, name) for name in fields.frames]
        values = {name: getattr(element, name) for name in fields.numbers}
        if any(frame.body in system.frames for frame in frames) or not all(map(is_number, values.values())):
            continue
        places = [locate(frame) for frame in frames]
        poses = [x for _, X in places for x in (*np.asarray(X.R, dtype=object).ravel(), *X.p)]
        nodes = [node for node, _ in places]
        if len(set(nodes)) < len(nodes) or not all(map(is_number, poses)):
            continue  # its own loads would have to be added to each other first, or are computed when code runs
        numbers = tuple(name for name, value in values.items() if value != 0.0)
        key = type(element), fields.frames, numbers, tuple(node == WORLD for node in nodes)
        row = [*(float(values[name]) for name in numbers), *map(float, poses)]
        groups.setdefault(key, []).append((element, nodes, row))
    return [
        ElementGroup(
            tuple(element for element, _, _ in members), frames, numbers,
            np.array([nodes for _, nodes, _ in members], dtype=np.int64),
            Columns(np.array([row for _, _, row in members])),
        )
        for (_, frames, numbers, _), members in groups.items()
        if len(members) >= FEWEST
    ]  # fmt: skip


@dataclass(eq=False)
class TracedScene:
    """The scene of the element that is traced: poses and velocities of its frames, from the loops over links."""

    tape: Tape
    ends: Mapping[Frame, str]
    """The name of the field of each frame; it is that of its views."""
    poses: Mapping[str, Pose]
    """The pose of each frame in its link."""
    on_world: frozenset[str]
    loaded: set[str]
    """The results of loops that are read, by name."""

    def link_pose(self, end: str) -> Pose:
        """X_WL of the link that carries a frame."""
        self.loaded.add("X")
        values = self.tape.inputs(f"X {end}", POSE)
        return Pose(values[:9].reshape(3, 3), values[9:])

    def pose(self, frame: Frame, /) -> Pose:
        """X_WF."""
        end = self.ends[frame]
        return self.poses[end] if end in self.on_world else self.link_pose(end) @ self.poses[end]

    def velocity(self, frame: Frame, /) -> tuple[Array, Array]:
        """Angular velocity and velocity of a frame's origin, in world axes."""
        end = self.ends[frame]
        if end in self.on_world:
            return ZERO3, ZERO3
        self.loaded |= {"w", "v"}
        R, w, v = self.link_pose(end).R, self.tape.inputs(f"w {end}", 3), self.tape.inputs(f"v {end}", 3)
        return R @ w, R @ (v + cross(w, self.poses[end].p))

    def law(self, value: Scalar, /) -> Scalar:
        """The value of a field."""
        return value

    resolve = law


def trace_group(group: ElementGroup) -> tuple[list[Store], set[str]]:
    """The stores of one element, and the results of the loops over links that they read."""
    tape = Tape()
    row = group.columns.traced(tape)
    element = copy.copy(group.elements[0])
    for name, value in zip(group.numbers, row, strict=False):
        object.__setattr__(element, name, value)
    ends = {Frame(end): end for end in group.frames}  # frames that are told apart by their names
    for frame, end in ends.items():
        object.__setattr__(element, end, frame)
    poses = {}
    for k, end in enumerate(group.frames):
        entries = row[len(group.numbers) + POSE * k :][:POSE]
        poses[end] = Pose(entries[:9].reshape(3, 3), entries[9:])
    world = frozenset(end for k, end in enumerate(group.frames) if group.nodes[0, k] == WORLD)
    scene = TracedScene(tape, ends, poses, world, set())
    total = dict[str, tuple[Array, Array]]()
    for load in element.wrenches(scene):  # type: ignore[arg-type]  # of a scene it needs no more
        end = ends[load.on]
        if end in world:
            continue
        X = scene.link_pose(end)
        force = X.R.T @ load.force
        arm = poses[end].p if load.at is None else X.R.T @ (load.at - X.p)
        moment = X.R.T @ load.moment + cross(arm, force)
        before = total.get(end)
        total[end] = (moment, force) if before is None else (before[0] + moment, before[1] + force)
    stores: list[Store] = []
    for end, load_of in total.items():
        sums = tape.inputs(f"load {end}", LOAD)
        stores += [(f"load {end}", k, sums[k] + x) for k, x in enumerate(np.concatenate(load_of))]
    return stores, scene.loaded


def lay_out_groups(
    groups: Sequence[ElementGroup], prefix: str, positions: Mapping[str, np.ndarray], load_at: Mapping[int, int],
    constants: dict[str, np.ndarray],
) -> Iterator[Block]:  # fmt: skip
    """The loops over groups of elements.

    Parameters
    ----------
    groups : sequence of ElementGroup
    prefix : str
        Begins the names of their tables among ``constants``.
    positions : mapping
        The indices in ``work`` of the results of loops over links, by name and node.
    load_at : mapping
        The index in ``work`` of the load of each node.
    constants : dict
        Gets the tables.
    """
    for number, group in enumerate(groups):
        name = f"{prefix}elements{number}"
        if group.columns.tabled:
            constants[name] = group.columns.table.ravel()
        views: Views = {"row": (name, group.columns.starts(group.columns.tabled))}
        stores, loaded = trace_group(group)
        for k, end in enumerate(group.frames):
            nodes = group.nodes[:, k]
            if nodes[0] != WORLD:
                views |= {f"{result} {end}": ("work", positions[result][nodes]) for result in sorted(loaded)}
                views[f"load {end}"] = "work", np.array([load_at[i] for i in nodes.tolist()], dtype=np.int64)
        yield Block(len(group.elements), views, [stores])
