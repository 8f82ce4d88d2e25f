"""Topology: from the description to a spanning tree, its loops, and the layout of the state.

Joints and bodies are a graph; a breadth-first tree from the world keeps loops short.  Bodies held by
fixed joints are one link for the motion (the ``tree``), and each a node of its own where reactions are
asked for (the ``full`` tree).  A joint that closes a loop is found and kept as a ``Cut``; the dynamics of
loops is not part of this module.

State: q, u hold the coordinates of the tree joints in order of declaration, without driven joints
(functions of time) and coupled ones (functions of another joint); z holds the integral of prescribed speeds and the
states that other components have of their own, and behind all of them the entries that only events change.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import RigidInertia
from kinode.errors import ModelError
from kinode.model.base.events import EventTable, find_events
from kinode.model.base.fields import find_expressions
from kinode.model.base.frames import Resolve
from kinode.model.constraints.constraint import Constraint
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.joints.fixed import Fixed
from kinode.model.joints.joint import Joint
from kinode.model.system import System
from kinode.structure.link_geometry import WORLD, Geometry, Tree, TreeLink, compute_geometry, regroup

if TYPE_CHECKING:
    from kinode.structure.network_blocks import Network


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


class Coupling(NamedTuple):
    """follower.q = ratio * leader.q + offset."""

    leader: str
    ratio: Any
    offset: Any
    constraint: str


@dataclass(frozen=True)
class Coordinate:
    """One entry of the state: whose it is, its name, where it stands and what it is."""

    name: str
    index: int
    role: str  # q, u, z
    joint: str  # or another component, of its own states
    kind: str  # angle, length, dimensionless (of quaternions)


@dataclass(eq=False)
class Topology:
    """What the formulations start from."""

    system: System
    tree: Tree
    full: Tree
    cuts: tuple[Cut, ...]
    couplings: dict[str, Coupling]
    constraints: tuple[Constraint, ...] = ()  # those that are rows; couplings are none
    q_of: dict[str, slice] = field(default_factory=dict)
    u_of: dict[str, slice] = field(default_factory=dict)
    z_of: dict[str, slice] = field(default_factory=dict)
    held_of: dict[str, slice] = field(default_factory=dict)  # entries of z that only events change, behind the others
    events: EventTable | None = None  # None: nothing is discrete
    network: Network | None = None  # of parts between nodes
    parameters: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    n_q: int = 0
    n_u: int = 0
    n_z: int = 0
    unmoved: ModelError | None = None  # why forward dynamics is impossible
    rows: tuple[int, ...] | None = None  # constraint rows that are used, of all; None: all
    _plain: dict[int, Geometry] = field(default_factory=dict)

    @cached_property
    def parameterized(self) -> bool:
        """Whether any constant of the geometry or inertia is arithmetic with parameters."""
        if not self.system.parameters:
            return False
        parts = (*self.system.bodies.values(), *self.system.joints.values())
        return any(True for part in parts for value in part.constants() for _ in find_expressions(value))

    def geometry(self, tree: Tree, resolve: Resolve) -> Geometry:
        """The constants of a tree; computed once where they hold no parameters.

        Where only motion is asked for (the tree with welded bodies) inertias are regrouped.
        """
        kept = self._plain.get(id(tree))
        return self._keep(tree, compute_geometry(self.system, tree, resolve)) if kept is None else kept

    def _keep(self, tree: Tree, found: Geometry) -> Geometry:
        """The constants as ``geometry`` gives them; kept where they hold no parameters."""
        if tree is self.tree:
            found = regroup(tree, found)
        if not self.parameterized:
            self._plain[id(tree)] = found
        return found

    def add_states(self, name: str, count: int) -> None:
        """Lay out the states that a component has of its own."""
        self.z_of[name] = slice(self.n_z, self.n_z + count)
        self.n_z += count

    def states_of(self, name: str) -> tuple[tuple[str, str], ...]:
        """Names and units of the states that a component, or a node of the network, has of its own."""
        own = {} if self.network is None else self.network.states_of
        return own[name] if name in own else tuple(self.system[name].states)

    def initial_states(self, name: str, resolve: Resolve) -> Array:
        """The values of these at the start, as far as its own fields say."""
        if self.network is not None and name in self.network.states_of:
            return np.array([resolve(value) for value in self.network.initial_values(name)])
        return np.asarray(self.system[name].initial_states(resolve))

    @property
    def constrained(self) -> bool:
        """Whether the coordinates of the state are bound by constraint rows."""
        return bool(self.cuts or self.constraints)

    @cached_property
    def row_units(self) -> tuple[tuple[str, str], ...]:
        """Whose each constraint row is, and its unit: cut joints first, constraints behind.

        Rows of a length or an angle hold positions, those of a velocity or angular velocity speeds alone.
        By Gruebler's count n_u - len(row_units) freedoms are left.
        """
        found = [(cut.joint.name, unit) for cut in self.cuts for unit in cut.units]
        return (*found, *((c.name, unit) for c in self.constraints for unit in c.rows(self.system)))

    @cached_property
    def cut_names(self) -> tuple[str, ...]:
        """The joints that close loops."""
        return tuple(cut.joint.name for cut in self.cuts)

    @cached_property
    def holding(self) -> dict[str, int]:
        """Whatever holds bodies, and how many numbers tell of it.

        Six components of each joint's reaction by its name, the effort of a drive or of a gear's follower as
        ``joint.effort``, the multipliers of a constraint by its name.
        """
        joints = self.system.joints
        efforts = [name for name, joint in joints.items() if joint.driven and joint.n_u] + list(self.couplings)
        found = {**dict.fromkeys(joints, 6), **{f"{name}.effort": joints[name].n_u for name in efforts}}
        return {**found, **{c.name: len(c.rows(self.system)) for c in self.constraints}}

    @cached_property
    def tied(self) -> frozenset[str]:
        """The joints of gears, which lead or follow."""
        return frozenset(self.couplings) | {coupling.leader for coupling in self.couplings.values()}

    @cached_property
    def quaternions(self) -> tuple[int, ...]:
        """Where in the state vector [q, u, z] unit quaternions start."""
        joints = self.system.joints
        starts = [
            s.start + (joints[name].quaternion or 0)
            for name, s in self.q_of.items()
            if joints[name].quaternion is not None
        ]
        base = self.n_q + self.n_u
        starts += [
            base + s.start + (joints[n].quaternion or 0)
            for n, s in self.z_of.items()
            if n in joints and joints[n].quaternion is not None
        ]
        return tuple(starts)

    @cached_property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Every entry of q, u and z by name."""
        from kinode.model.quantity_names import coordinate_names

        found = []
        for name, joint in self.system.joints.items():
            if name in self.q_of:
                for role, where, names, kinds in (
                    ("q", self.q_of[name], *coordinate_names(joint)),
                    ("u", self.u_of[name], *_split(joint.coordinates)),
                ):
                    for k, (part, kind) in enumerate(zip(names, kinds, strict=True)):
                        text = f"{name}.{role}" if len(names) == 1 else f"{name}.{role}.{part}"
                        found.append(Coordinate(text, where.start + k, role, name, kind))
        for name, where in self.z_of.items():
            for k, (part, kind) in enumerate(self.states_of(name)):
                found.append(Coordinate(f"{name}.{part}", where.start + k, "z", name, kind))
        for name, where in self.held_of.items():
            for k, (part, kind) in enumerate(self.system[name].held):
                found.append(Coordinate(f"{name}.{part}", where.start + k, "z", name, kind))
        order = {"q": 0, "u": 1, "z": 2}
        return tuple(sorted(found, key=lambda c: (order[c.role], c.index)))


def _split(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)


def find_topology(system: System) -> Topology:
    """Check the system and lay it out."""
    system.check()
    if not system.bodies and not system.elements:
        raise ModelError(f"{system.name} has no bodies, and no elements")
    steps, cuts = _span(system)
    tree, full = _grow(steps, merge=True), _grow(steps, merge=False)
    couplings, constraints = _couplings(system, {cut.joint.name for cut in cuts})
    topology = Topology(system, tree, full, cuts, couplings, constraints)
    topology.parameters = tuple(n for n, p in system.parameters.items() if isinstance(p.value, float))
    topology.inputs = tuple(system.inputs)
    cut = {c.joint.name for c in cuts}
    for name, joint in system.joints.items():
        if name in cut or name in topology.couplings or joint.motion is not None or joint.n_u == 0:
            continue
        if joint.speed is not None:
            topology.add_states(name, len(joint.states))
            continue
        topology.q_of[name] = slice(topology.n_q, topology.n_q + joint.n_q)
        topology.u_of[name] = slice(topology.n_u, topology.n_u + joint.n_u)
        topology.n_q += joint.n_q
        topology.n_u += joint.n_u
    for name, component in system.components.items():
        if name not in system.joints and component.states:
            topology.add_states(name, len(component.states))
    if system.parts:
        from kinode.structure.network_analysis import (
            find_network,  # which needs parts of SciPy that take time to import
        )

        topology.network = find_network(system)
        for name, states in topology.network.states_of.items() if topology.network else ():
            topology.add_states(name, len(states))
    for name, component in system.components.items():
        if component.held:
            topology.held_of[name] = slice(topology.n_z, topology.n_z + len(component.held))
            topology.n_z += len(component.held)
    topology.events = find_events(system, topology.held_of)
    topology.unmoved = _find_unmoved(topology)
    return topology


def _span(system: System) -> tuple[list[tuple[Joint, str, str]], tuple[Cut, ...]]:
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
        if cut.joint.ends is not None and _turns(cut.joint):
            field = "stop" if cut.joint.stop is not None else "backlash"
            message = f"it closes a loop ({', '.join(cut.loop)}) and how often it turned is not known"
            raise ModelError(f"{message}; put it on another joint of the loop", component=cut.joint.name, field=field)
        if cut.joint.driven:
            field = "speed" if cut.joint.motion is None else "motion"
            message = f"the other joints of its loop are all driven ({', '.join(cut.loop)}) and decide its motion"
            raise ModelError(f"{message}; leave it out", component=cut.joint.name, field=field)
    return steps, cuts


FREE = 6  # freedoms of a joint that holds nothing


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


def _grow(steps: list[tuple[Joint, str, str]], *, merge: bool) -> Tree:
    """Nodes from steps; with ``merge`` a fixed joint adds its body to the link that it comes from."""
    node_of: dict[str, int] = {"world": WORLD}
    links: list[dict[str, Any]] = []
    ground: list[tuple[Joint, str, str]] = []
    for joint, body, other in steps:
        if merge and isinstance(joint, Fixed):
            home = node_of[other] = node_of[body]
            if home == WORLD:
                ground.append((joint, body, other))
            else:
                links[home]["bodies"].append(other)
                links[home]["welds"].append((joint, body, other))
            continue
        node_of[other] = len(links)
        links.append(
            {"parent": node_of[body], "joint": joint, "reversed": joint.b.body == body, "bodies": [other], "welds": []}
        )
    nodes = tuple(
        TreeLink(i, link["parent"], link["joint"], link["reversed"], tuple(link["bodies"]), tuple(link["welds"]))
        for i, link in enumerate(links)
    )
    return Tree(nodes, tuple(ground))


def _turns(joint: Joint) -> bool:
    return joint.coordinates[0][1] == "angle"


def _couplings(system: System, cut: set[str]) -> tuple[dict[str, Coupling], tuple[Constraint, ...]]:
    """Which joints follow which, and the constraints that have to be rows: a gear at a joint that closes a loop too."""
    found: dict[str, Coupling] = {}
    rows = []
    for constraint in system.constraints.values():
        tie = constraint.relation(system)
        if tie is None or tie.follower in cut or tie.leader in cut:
            if tie is not None and all(n in cut and _turns(system.joints[n]) for n in (tie.follower, tie.leader)):
                message = f"{tie.follower} and {tie.leader} both close loops: how often they turned is not known"
                raise ModelError(message, component=constraint.name)
            rows.append(constraint)
            continue
        if tie.follower in found:
            raise ModelError(f"{tie.follower} follows two joints", component=constraint.name)
        found[tie.follower] = Coupling(tie.leader, tie.ratio, tie.offset, constraint.name)
    for name in found:
        seen = [name]
        while (leader := found[seen[-1]].leader) in found:
            if leader in seen:
                raise ModelError(
                    f"gears go in a circle: {' -> '.join([*seen, leader])}", component=found[name].constraint
                )
            seen.append(leader)
    return found, tuple(rows)


def _find_unmoved(topology: Topology) -> ModelError | None:
    """A freedom that nothing with inertia resists: it would be thrown to infinite acceleration.

    Inverse dynamics and kinematics have no trouble with it, so that it is kept and told where motion is asked for.
    """
    system, nodes = topology.system, topology.tree.nodes
    geometry = compute_geometry(system, topology.tree, system.nominal)
    topology._keep(topology.tree, geometry)
    heavy = [False] * len(nodes)  # whether anything beyond the link has inertia
    for node in reversed(nodes):
        i, inertia = node.index, geometry.inertias[node.index]
        own = float(inertia.mass) > 0 or bool(np.any(np.asarray(inertia.J, dtype=float)))
        moves = node.joint.name in topology.u_of and node.joint.name not in topology.tied  # gears bring inertia along
        moves = moves and (topology.network is None or node.joint.name not in topology.network.heavy)
        if moves and not heavy[i] and not _resists(node, inertia, geometry.forms[i]):
            what = "inertia about its axis" if own else "mass"
            message = (
                f"{node.bodies[0]} has no {what} and carries nothing: the joint would give it infinite acceleration"
            )
            if any(node.joint.name in cut.loop for cut in topology.cuts):
                message = (
                    f"{node.bodies[0]} has no {what} and its loop is cut behind it, where kinode needs some; "
                    "give it a little, or put a distance constraint in place of a massless rod"
                )
            return ModelError(message, component=node.joint.name)
        if node.parent != WORLD:
            heavy[node.parent] = heavy[node.parent] or heavy[i] or own
    return None


def _resists(node: TreeLink, inertia: RigidInertia, form: Array) -> bool:
    """Whether a link alone has inertia along every freedom of its joint, in a position without symmetry."""
    q = node.joint.neutral_q()
    if node.joint.quaternion is None:
        q = q + 0.37
    S = np.asarray(node.mechanics.motion_subspace(q, form), dtype=float)
    whole = inertia.articulated()
    I = np.asarray(np.block([[whole.J, whole.H], [whole.H.T, whole.M]]), dtype=float)
    felt = np.linalg.eigvalsh(S.T @ I @ S)
    return bool(felt[0] > 1e-14 * max(felt[-1], abs(I).max(), 1e-300))
