"""The spanning tree: tree joints and cut joints.

Bodies are the nodes of a graph, joints its edges.  A breadth-first tree from the world keeps loops short.  The joints
outside of the tree are cut joints: each closes a loop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from kinode.errors import ModelError
from kinode.model.base.value_walk import is_plain_tuple
from kinode.model.joints.joint import Joint
from kinode.model.system import System

FREE = 6  # freedoms of a joint without constraints


class Cut(NamedTuple):
    """A cut joint; ``loop`` names the tree joints of the loop that it closes."""

    joint: Joint
    loop: tuple[str, ...]

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each of its constraint rows: lengths first, then angles."""
        total = 6 - self.joint.n_u
        lengths = min(total, 3 - sum(kind == "length" for _, kind in self.joint.coordinates))
        return ("length",) * lengths + ("angle",) * (total - lengths)


def span(system: System) -> tuple[list[tuple[Joint, str, str]], tuple[Cut, ...]]:
    """The steps (joint, from body, to body) of a breadth-first tree, in depth-first order, and the cut joints."""
    joints_at: dict[str, list[Joint]] = {name: [] for name in ("world", *system.bodies)}
    for joint in system.joints.values():
        joints_at[joint.a.body].append(joint)
        joints_at[joint.b.body].append(joint)
    kept = _preferred_joints(system)
    parent_of: dict[str, tuple[Joint, str]] = {}  # body -> tree joint to its parent body, and that body
    children: dict[str, list[tuple[Joint, str]]] = {name: [] for name in joints_at}
    used: set[str] = set()
    queue: deque[str] = deque()

    def enter(body: str) -> None:
        """Reach a body, and all bodies that preferred joints connect with it."""
        reached = [body]
        for body in reached:
            queue.append(body)
            reached += [other for joint in joints_at[body] if joint.name in kept and (other := take(joint, body))]

    def take(joint: Joint, body: str) -> str | None:
        """Make a joint a tree joint if it leads to a new body; that body, or None."""
        other = joint.b.body if joint.a.body == body else joint.a.body
        if other == "world" or other in parent_of or joint.name in used:
            return None
        used.add(joint.name)
        parent_of[other] = (joint, body)
        children[body].append((joint, other))
        return other

    free = {name for name, joint in system.joints.items() if joint.n_u == FREE}
    later: deque[tuple[Joint, str]] = deque()  # free joints: as cut joints they add no rows, and save six speeds
    enter("world")
    while queue or later:
        if queue:
            body = queue.popleft()
            later.extend((joint, body) for joint in joints_at[body] if joint.name in free)
            edges = [(joint, body) for joint in joints_at[body] if joint.name not in free]
        else:
            edges = [later.popleft()]
        for joint, body in edges:
            if other := take(joint, body):
                enter(other)
    order = {name: k for k, name in enumerate(system.joints)}
    for below in children.values():
        if len(below) > 1:
            below.sort(key=lambda pair: order[pair[0].name])
    steps: list[tuple[Joint, str, str]] = []
    stack = [(joint, "world", other) for joint, other in reversed(children["world"])]
    while stack:
        joint, body, other = stack.pop()
        steps.append((joint, body, other))
        stack.extend((below, other, child) for below, child in reversed(children[other]))
    cuts = tuple(Cut(joint, _loop(joint, parent_of)) for joint in system.joints.values() if joint.name not in used)
    _check_cuts(cuts)
    return steps, cuts


def _check_cuts(cuts: Iterable[Cut]) -> None:
    """Refuse what a cut joint cannot have."""
    for cut in cuts:
        if cut.joint.ends is not None and turns(cut.joint):
            field = "stop" if cut.joint.stop is not None else "backlash"
            message = f"it closes a loop ({', '.join(cut.loop)}) and how often it turned is not known"
            raise ModelError(f"{message}; put it on another joint of the loop", component=cut.joint.name, field=field)
        if cut.joint.driven:
            field = "speed" if cut.joint.motion is None else "motion"
            message = f"the other joints of its loop are all driven ({', '.join(cut.loop)}) and decide its motion"
            raise ModelError(f"{message}; leave it out", component=cut.joint.name, field=field)


def _geared_joints(system: System) -> set[str]:
    """The joints that gears connect."""
    from kinode.model.constraints.gear_coupling import CoordinateCoupling

    return {
        name for c in system.constraints.values() if isinstance(c, CoordinateCoupling) for name in c.joints().values()
    }


def _preferred_joints(system: System) -> set[str]:
    """Joints that the tree keeps as far as they form no loop: drives, what cannot be cut, light bodies, laws."""
    group = {name: name for name in ("world", *system.bodies)}

    def find(body: str) -> str:
        while group[body] != body:
            body = group[body]
        return body

    kept = set()
    geared = _geared_joints(system) if system.constraints else set()
    geared |= {node.joint for node in system.nodes.values() if node.joint is not None}  # a network acts on them

    light = _light_bodies(system)

    def rank(joint: Joint) -> int:
        """Drives first, then what cannot be cut, then what light bodies hang on, then laws; 4 where none applies."""
        if joint.driven:
            return 0
        if joint.ends is not None:
            return 1
        if light and joint.n_u < FREE and not light.isdisjoint((joint.a.body, joint.b.body)):
            return 2
        has_law = not (joint.effort is joint.stiffness is joint.damping is None)
        return 3 if has_law or joint.name in geared else 4

    ranked = ((rank(joint), joint) for joint in system.joints.values())
    for _, joint in sorted((pair for pair in ranked if pair[0] < 4), key=itemgetter(0)):
        a, b = find(joint.a.body), find(joint.b.body)
        if a != b:
            group[a] = b
            kept.add(joint.name)
    return kept


def _light_bodies(system: System) -> set[str]:
    """Bodies without mass or without inertia: a loop that is cut beside one leaves it to move by itself."""
    light = set()
    for name, body in system.bodies.items():
        mass, _, inertia, about = body.mass_properties
        if type(mass) is float and mass > 0.0 and about == "com" and is_plain_tuple(inertia):
            if not any(inertia):
                light.add(name)
            continue
        if about == "com":
            turns = any(system.nominal(x) != 0.0 for x in inertia)
        else:
            turns = bool(np.asarray(body.central_inertia(system.nominal), dtype=float).any())
        if float(system.nominal(mass)) == 0.0 or not turns:
            light.add(name)
    return light


def _loop(joint: Joint, parent_of: dict[str, tuple[Joint, str]]) -> tuple[str, ...]:
    """The tree joints between the two bodies of a cut joint."""

    def path_to_world(body: str) -> list[str]:
        names = []
        while body != "world":
            carrier, body = parent_of[body]
            names.append(carrier.name)
        return names

    from_a, from_b = path_to_world(joint.a.body), path_to_world(joint.b.body)
    shared = set(from_a) & set(from_b)
    return tuple(n for n in from_a if n not in shared) + tuple(n for n in reversed(from_b) if n not in shared)


def turns(joint: Joint) -> bool:
    """Whether the first coordinate of a joint is an angle."""
    return joint.coordinates[0][1] == "angle"
