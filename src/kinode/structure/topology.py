"""Topology: the spanning tree of a system, its loops, and the layout of the state.

Bodies that fixed joints weld together are one link in the ``tree``, which serves the motion.  In the ``full`` tree,
which serves the reactions, each body is a node of its own.  The dynamics of loops is not part of this module.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ModelError
from kinode.model.base.events import EventTable, find_events
from kinode.model.base.frames import Resolve
from kinode.model.constraints.constraint import Constraint, Relation
from kinode.model.joints.fixed import Fixed
from kinode.model.joints.joint import Joint
from kinode.model.network.nodes import find_node
from kinode.model.system import System
from kinode.structure.massless_freedoms import find_massless_freedom, find_massless_gears
from kinode.structure.spanning_tree import Cut, span, turns
from kinode.structure.state_layout import Coordinate, StateLayout, lay_out_state
from kinode.structure.tree import WORLD, Geometry, Tree, TreeLink, compute_geometry, regroup

if TYPE_CHECKING:
    from kinode.model.constraints.tooth_mesh import ToothMesh
    from kinode.structure.network_blocks import Network


class Coupling(NamedTuple):
    """follower.q = ratio * leader.q + offset."""

    leader: str
    ratio: Any
    offset: Any
    constraint: str


class RowGroup(NamedTuple):
    """Constraint rows of positions, of which no choice stays independent as the mechanism moves, and their rank."""

    rows: tuple[int, ...]
    rank: int


@dataclass(frozen=True, eq=False)
class Topology:
    """The structure of a system, without numbers: the starting point of every formulation.

    ``rows`` are the independent constraint rows, where they are known; None means all rows.  They depend on a closed
    position (``loop_closure.py``), so that ``with_rows`` makes a new topology of them.  In place of those of a group of
    ``groups`` stand combinations of its rows, divided by ``scale``, which follow the position
    (multibody/loop_constraints.py).
    """

    system: System
    tree: Tree
    full: Tree
    cuts: tuple[Cut, ...]
    couplings: Mapping[str, Coupling]
    constraints: tuple[Constraint, ...]  # those with constraint rows; couplings have none
    layout: StateLayout
    events: EventTable | None  # None: nothing is discrete
    network: Network | None  # of components between nodes
    parameterized: bool  # whether any constant of the geometry or inertia is an expression of parameters
    unmoved: ModelError | None  # the error that forward dynamics raises; None where it is possible
    rows: tuple[int, ...] | None = None
    groups: tuple[RowGroup, ...] = ()
    scale: tuple[float, ...] = ()
    _geometries: dict[int, Geometry] = field(default_factory=dict, repr=False)

    def with_rows(
        self, rows: tuple[int, ...], groups: tuple[RowGroup, ...] = (), scale: tuple[float, ...] = ()
    ) -> Topology:
        """The same topology with the constraint rows that are used."""
        return replace(self, rows=rows, groups=groups, scale=scale)

    # -- state -------------------------------------------------------------------------------------
    @property
    def q_of(self) -> Mapping[str, slice]:
        return self.layout.q_of

    @property
    def u_of(self) -> Mapping[str, slice]:
        return self.layout.u_of

    @property
    def z_of(self) -> Mapping[str, slice]:
        return self.layout.z_of

    @property
    def n_q(self) -> int:
        return self.layout.n_q

    @property
    def n_u(self) -> int:
        return self.layout.n_u

    @property
    def n_z(self) -> int:
        return self.layout.n_z

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that can be changed after compiling: those that are numbers."""
        return self.layout.parameters

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.layout.inputs

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Every entry of q, u and z by name."""
        return self.layout.coordinates

    def initial_states(self, name: str, resolve: Resolve) -> Array:
        """The initial values of a component's own states, from its fields."""
        if self.network is not None and name in self.network.states_of:
            return np.array([resolve(value) for value in self.network.initial_values(name)])
        return np.asarray(self.system[name].initial_states(resolve))

    def advance_q(self, q: Array, step: Array) -> Array:
        """Coordinates after a step along the speeds of the state; quaternions stay unit."""
        advanced = q.copy()
        for name, where in self.q_of.items():
            advanced[where] = self.system.joints[name].advance(q[where], step[self.u_of[name]])
        return advanced

    # -- constants ---------------------------------------------------------------------------------
    def geometry(self, tree: Tree, resolve: Resolve) -> Geometry:
        """The constants of a tree; computed once where they do not depend on parameters.

        Inertias of the ``tree``, which serves the motion alone, are regrouped.
        """
        known = self._geometries.get(id(tree))
        if known is not None:
            return known
        geometry = compute_geometry(self.system, tree, resolve)
        geometry = regroup(tree, geometry) if tree is self.tree else geometry
        if not self.parameterized:
            self._geometries[id(tree)] = geometry
        return geometry

    # -- constraints -------------------------------------------------------------------------------
    @cached_property
    def constrained(self) -> bool:
        """Whether the system has constraint rows."""
        return bool(self.cuts or self.constraints)

    @cached_property
    def has_articulated_gears(self) -> bool:
        """Whether gears are solved by articulated bodies, not by the mass matrix."""
        if not self.couplings or self.constrained:
            return False
        from kinode.structure.massless_freedoms import prefers_articulated_gears

        return prefers_articulated_gears(self)

    @cached_property
    def row_units(self) -> tuple[tuple[str, str], ...]:
        """Owner and unit of each constraint row: cut joints first, then constraints.

        Rows of a length or an angle constrain positions, those of a velocity or angular velocity speeds alone.
        Gruebler's count of freedoms is n_u - len(row_units).
        """
        cut_rows = [(cut.joint.name, unit) for cut in self.cuts for unit in cut.units]
        return (*cut_rows, *((c.name, unit) for c in self.constraints for unit in c.rows(self.system)))

    @cached_property
    def cut_names(self) -> tuple[str, ...]:
        """The cut joints."""
        return tuple(cut.joint.name for cut in self.cuts)

    @cached_property
    def holding(self) -> dict[str, int]:
        """Everything that transmits a load between bodies, with the number of its components.

        Six components of each joint's reaction by its name, the effort of a drive or of a gear's follower as
        ``joint.effort``, the multipliers of a constraint by its name.
        """
        joints = self.system.joints
        efforts = [name for name, joint in joints.items() if joint.driven and joint.n_u] + list(self.couplings)
        sizes = {**dict.fromkeys(joints, 6), **{f"{name}.effort": joints[name].n_u for name in efforts}}
        return {**sizes, **{c.name: len(c.rows(self.system)) for c in self.constraints}}

    @cached_property
    def meshes(self) -> dict[str, ToothMesh]:
        """The gears whose teeth are known, by the names of their constraints."""
        from kinode.model.constraints.gear_coupling import CoordinateCoupling

        gears = [c for c in self.system.constraints.values() if isinstance(c, CoordinateCoupling)]
        followers = {coupling.constraint: name for name, coupling in self.couplings.items()}
        meshes = ((gear.name, gear.mesh(self.system, followers.get(gear.name))) for gear in gears)
        return {name: mesh for name, mesh in meshes if mesh is not None}

    @cached_property
    def joints_without_teeth(self) -> frozenset[str]:
        """The joints that would take the forces of gears whose teeth are not given.

        They are the two joints and fixed ones between their carriers; without a common carrier, all joints between the
        four bodies.  Of a network's gear, whose shafts may be nodes, the joints at its shafts.
        """
        from kinode.model.constraints.tooth_mesh import find_sides

        joints, loaded = self.system.joints, set[str]()
        for geared in self._joints_of_gears():
            loaded |= set(geared)
            if len(geared) == 2:
                sides = find_sides(self.system, *geared)
                bodies = [side.body for name in geared for side in (joints[name].a, joints[name].b)]
                loaded |= self.joints_between(bodies) if sides is None else sides[2].keys()
        return frozenset(loaded)

    def _joints_of_gears(self) -> Iterator[list[str]]:
        """The joints of each gear whose teeth are not given: two of a constraint, up to two of a network's part."""
        from kinode.model.constraints.gear_coupling import CoordinateCoupling

        for gear in self.system.constraints.values():
            if isinstance(gear, CoordinateCoupling) and gear.pressure_angle is None:
                yield list(gear.joints().values())
        for part in self.system.parts.values():
            nodes = [find_node(self.system, part, port, part.ports()[port]) for port in part.toothed]
            yield list(dict.fromkeys(node.joint for node in nodes if node.joint is not None))

    def carriers(self, body: str) -> set[str]:
        """The joints of the tree between the world and a body."""
        return {self.full.nodes[i].joint.name for i in self.full.path(self.full.node_of[body])}

    def joints_between(self, bodies: Iterable[str]) -> set[str]:
        """The joints of the tree on the paths between some bodies."""
        carriers = [self.carriers(body) for body in bodies]
        return set[str]().union(*carriers) - set[str].intersection(*carriers)

    @cached_property
    def tied(self) -> frozenset[str]:
        """The joints that gears couple: leaders and followers."""
        return frozenset(self.couplings) | {coupling.leader for coupling in self.couplings.values()}


def find_topology(system: System) -> Topology:
    """The topology of a system, which is checked first."""
    system.check()
    if not system.bodies and not system.elements:
        raise ModelError(f"{system.name} has no bodies, and no elements")
    steps, cuts = span(system)
    cut = {c.joint.name for c in cuts}
    couplings, constraints = _couplings(system, cut)
    network = _find_network(system)
    without_state = cut | couplings.keys()
    joints = [
        joint
        for name, joint in system.joints.items()
        if name not in without_state and joint.motion is None and joint.n_u
    ]
    layout = lay_out_state(system, joints, network)
    full = _grow(steps, merge=False)
    tree = _grow(steps, merge=True) if any(isinstance(joint, Fixed) for joint, _, _ in steps) else replace(full)
    constants = compute_geometry(system, tree, system.nominal)
    geared = couplings.keys() | {coupling.leader for coupling in couplings.values()}  # gears bring inertia along
    heavy = frozenset[str]() if network is None else network.heavy
    moving, leading = layout.u_of.keys() - geared - heavy, layout.u_of.keys() & geared
    parameterized = _is_parameterized(system)
    return Topology(
        system=system,
        tree=tree,
        full=full,
        cuts=cuts,
        couplings=couplings,
        constraints=constraints,
        layout=layout,
        events=find_events(system, layout.discrete_of),
        network=network,
        parameterized=parameterized,
        unmoved=find_massless_freedom(tree, constants, moving, cuts)
        or find_massless_gears(tree, constants, leading, _gear_ratios(system, couplings, heavy)),
        _geometries={} if parameterized else {id(tree): regroup(tree, constants)},
    )


def _gear_ratios(
    system: System, couplings: Mapping[str, Coupling], heavy: Collection[str]
) -> dict[str, dict[str, float]]:
    """For each joint that leads others, the speeds of these and its own, 1; without those that have other inertia."""
    groups: dict[str, dict[str, float]] = {}
    for name in couplings:
        follower, ratio = name, 1.0
        while name in couplings:
            ratio, name = ratio * float(system.nominal(couplings[name].ratio)), couplings[name].leader
        groups.setdefault(name, {name: 1.0})[follower] = ratio
    return {leader: rates for leader, rates in groups.items() if not rates.keys() & set(heavy)}


def _is_parameterized(system: System) -> bool:
    """Whether any constant of the geometry or inertia is an expression of parameters."""
    if not system.parameters:
        return False
    components = (*system.bodies.values(), *system.joints.values())
    specs = (component.specs()[field][1] for component in components for field, _ in component.expressions())
    return any(not spec.aside and not spec.kind.acts for spec in specs)


def _find_network(system: System) -> Network | None:
    if not system.parts:
        return None
    from kinode.structure.network_analysis import find_network  # imports SciPy's graphs, which takes time

    return find_network(system)


def _grow(steps: list[tuple[Joint, str, str]], *, merge: bool) -> Tree:
    """The tree of steps (joint, from body, to body); with ``merge`` fixed joints weld bodies into one link."""
    node_of: dict[str, int] = {"world": WORLD}
    links: list[dict[str, Any]] = []
    ground: list[tuple[Joint, str, str]] = []
    for joint, body, other in steps:
        if merge and isinstance(joint, Fixed):
            link_index = node_of[other] = node_of[body]
            if link_index == WORLD:
                ground.append((joint, body, other))
            else:
                links[link_index]["bodies"].append(other)
                links[link_index]["welds"].append((joint, body, other))
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


def _couplings(system: System, cut: set[str]) -> tuple[dict[str, Coupling], tuple[Constraint, ...]]:
    """The couplings by follower, and the constraints with rows.

    A coupling eliminates the coordinate of its follower.  A gear at a cut joint has a constraint row instead.
    """
    couplings: dict[str, Coupling] = {}
    constraints = []
    relations = _directed_relations(system, cut)
    for constraint in system.constraints.values():
        relation = relations.get(constraint.name)
        if relation is None or relation.follower in cut or relation.leader in cut:
            if relation is not None:
                _check_turns(system, cut, relation.follower, relation.leader, constraint.name)
            constraints.append(constraint)
            continue
        if system.joints[relation.follower].driven:
            message = f"{relation.follower} has a prescribed motion already, and {relation.leader} leads it"
            raise ModelError(message, component=constraint.name)
        if relation.follower in couplings:
            message = f"{relation.follower} follows two joints, which other gears couple already: one is too many"
            raise ModelError(message, component=constraint.name)
        coupling = Coupling(relation.leader, relation.ratio, relation.offset, constraint.name)
        couplings[relation.follower] = coupling
    for name in couplings:
        chain = [name]
        while (leader := couplings[chain[-1]].leader) in couplings:
            if leader in chain:
                message = f"gears go in a circle: {' -> '.join([*chain, leader])}"
                raise ModelError(message, component=couplings[name].constraint)
            chain.append(leader)
    return couplings, tuple(constraints)


def _directed_relations(system: System, cut: set[str]) -> dict[str, Relation]:
    """The relations of gears and racks by their names, directed so that no joint follows two.

    Joints lead whose motion is prescribed; otherwise the first that no relation makes a follower.
    """
    relations = {name: relation for name, c in system.constraints.items() if (relation := c.relation(system))}
    gears_at: dict[str, list[str]] = {}
    for name, relation in relations.items():
        for joint in (relation.follower, relation.leader):
            gears_at.setdefault(joint, []).append(name)
    followers = {relation.follower for relation in relations.values() if relation.leader not in cut}
    driven = [name for name in gears_at if system.joints[name].driven and name not in cut]
    reached: set[str] = set()
    for leaders in (driven, *([name] for name in gears_at if name not in followers | cut)):
        reached.update(leaders)
        while leaders:
            leader = leaders.pop()
            for name in gears_at[leader]:
                relation = relations[name]
                other = relation.leader if relation.follower == leader else relation.follower
                if other not in reached | cut:
                    relations[name] = relation if relation.leader == leader else relation.reversed()
                    reached.add(other)
                    leaders.append(other)
    return relations


def _check_turns(system: System, cut: set[str], follower: str, leader: str, constraint: str) -> None:
    """Refuse a gear between two cut joints that turn: their full turns are not known."""
    if all(name in cut and turns(system.joints[name]) for name in (follower, leader)):
        message = f"{follower} and {leader} both close loops: how often they turned is not known"
        raise ModelError(message, component=constraint)


def has_friction(system: System) -> bool:
    """Whether any joint has friction."""
    return any(joint.friction is not None for joint in system.joints.values())
