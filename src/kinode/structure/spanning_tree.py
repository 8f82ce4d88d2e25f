"""The spanning tree: which joints carry bodies and which close loops.

Bodies and joints are a graph.  A breadth-first tree from the world keeps loops short.  The joints that the tree leaves
out are cut: each closes a loop.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from kinode.errors import ModelError
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.joints.joint import Joint
from kinode.model.system import System

FREE = 6  # freedoms of a joint that holds nothing


class Cut(NamedTuple):
    """A joint that closes a loop; ``loop`` names the joints of the tree that it closes on."""

    joint: Joint
    loop: tuple[str, ...]

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each of its rows: residuals of positions come first, those of directions behind."""
        total = 6 - self.joint.n_u
        lengths = min(total, 3 - sum(kind == "length" for _, kind in self.joint.coordinates))
        return ("length",) * lengths + ("angle",) * (total - lengths)


def span(system: System) -> tuple[list[tuple[Joint, str, str]], tuple[Cut, ...]]:
    """Breadth-first over the graph: (joint, from body, to body) in an order of depth-first descent, and the cuts."""
    at: dict[str, list[Joint]] = {name: [] for name in ("world", *system.bodies)}
    for joint in system.joints.values():
        at[joint.a.body].append(joint)
        at[joint.b.body].append(joint)
    kept = _with_laws(system)
    way: dict[str, tuple[Joint, str]] = {}
    children: dict[str, list[tuple[Joint, str]]] = {name: [] for name in at}
    used: set[str] = set()
    queue: deque[str] = deque()

    def enter(body: str) -> None:
        """Reach a body, and through the joints that the tree keeps all that they connect it with."""
        found = [body]
        for body in found:
            queue.append(body)
            found += [other for joint in at[body] if joint.name in kept and (other := take(joint, body))]

    def take(joint: Joint, body: str) -> str | None:
        """Go over a joint to a body that was not reached before."""
        other = joint.b.body if joint.a.body == body else joint.a.body
        if other == "world" or other in way or joint.name in used:
            return None
        used.add(joint.name)
        way[other] = (joint, body)
        children[body].append((joint, other))
        return other

    later: deque[tuple[Joint, str]] = deque()  # joints that hold nothing: as cuts they cost no rows and spare speeds
    enter("world")
    while queue or later:
        if queue:
            body = queue.popleft()
            later.extend((joint, body) for joint in at[body] if joint.n_u == FREE)
            ways = [(joint, body) for joint in at[body] if joint.n_u < FREE]
        else:
            ways = [later.popleft()]
        for joint, body in ways:
            if other := take(joint, body):
                enter(other)
    order = {name: k for k, name in enumerate(system.joints)}
    for below in children.values():
        below.sort(key=lambda pair: order[pair[0].name])
    steps: list[tuple[Joint, str, str]] = []
    stack = [(joint, "world", other) for joint, other in reversed(children["world"])]
    while stack:
        joint, body, other = stack.pop()
        steps.append((joint, body, other))
        stack.extend((j, other, o) for j, o in reversed(children[other]))
    cuts = tuple(Cut(j, _loop(j, way)) for j in system.joints.values() if j.name not in used)
    for cut in cuts:
        if cut.joint.ends is not None and turns(cut.joint):
            field = "stop" if cut.joint.stop is not None else "backlash"
            message = f"it closes a loop ({', '.join(cut.loop)}) and how often it turned is not known"
            raise ModelError(f"{message}; put it on another joint of the loop", component=cut.joint.name, field=field)
        if cut.joint.driven:
            field = "speed" if cut.joint.motion is None else "motion"
            message = f"the other joints of its loop are all driven ({', '.join(cut.loop)}) and decide its motion"
            raise ModelError(f"{message}; leave it out", component=cut.joint.name, field=field)
    return steps, cuts


def _with_laws(system: System) -> set[str]:
    """Joints that are driven, geared or have own efforts, as far as they close no loop: the tree keeps them."""
    group = {name: name for name in ("world", *system.bodies)}

    def find(body: str) -> str:
        while group[body] != body:
            body = group[body]
        return body

    kept = set()
    geared = {
        name for c in system.constraints.values() if isinstance(c, CoordinateCoupling) for name in c.joints().values()
    }
    geared |= {node.joint for node in system.nodes.values() if node.joint is not None}  # parts act on them

    def has_law(joint: Joint) -> bool:
        own = (joint.motion, joint.speed, joint.effort, joint.stiffness, joint.damping, joint.ends)
        return any(law is not None for law in own) or joint.name in geared

    for joint in sorted(filter(has_law, system.joints.values()), key=lambda joint: not joint.driven):  # drives first
        a, b = find(joint.a.body), find(joint.b.body)
        if a != b:
            group[a] = b
            kept.add(joint.name)
    return kept


def _loop(joint: Joint, way: dict[str, tuple[Joint, str]]) -> tuple[str, ...]:
    """The tree joints between the two bodies of a closing joint."""

    def path(body: str) -> list[str]:
        found = []
        while body != "world":
            carrier, body = way[body]
            found.append(carrier.name)
        return found

    one, two = path(joint.a.body), path(joint.b.body)
    shared = set(one) & set(two)
    return tuple(n for n in one if n not in shared) + tuple(n for n in reversed(two) if n not in shared)


def turns(joint: Joint) -> bool:
    return joint.coordinates[0][1] == "angle"
