"""The recursive formulation: articulated bodies, inverse dynamics, mass matrix, on a tree; gears in large trees.

Featherstone's three passes, written with classical accelerations (link_steps.py).  Loops are not supported here.  The
methods of a ``MovingTree`` take lists of quantities by node; they work for every scalar type.  ``prescribed[i]`` is
None if the acceleration of joint i is unknown.  Nodes as far from the world as each other do not depend on each other:
steps that are alike are traced side by side.

Articulated bodies with gears give the accelerations of a large tree some of whose joints follow others.  A gear between
a follower f and a leader l adds an unknown effort lam along f, and -ratio lam along l, so that

    C u_dot = 0,    C' lam the efforts,    C = [... 1 at f, -ratio at l ...]

Articulated bodies factorize the mass matrix of the tree without gears, M^-1 = P' D^-1 P, where P tau are the shares of
the inward pass (``JointFactor.share``).  Unit efforts of each gear go once through the links between its joints and the
world, s = P c, and the rows of a small symmetric matrix are C M^-1 C' = sum of s' D^-1 s over these links.  The time is
proportional to the links and to the gears; by the mass matrix it grows with the third power of the links.  Every joint
has to move something with mass by itself; the mass matrix does not need that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import add, matmul
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.spatial import (
    IDENTITY_POSE,
    ZERO3,
    ArticulatedInertia,
    Pose,
    RigidInertia,
    moved_force,
    moved_motion,
    solve_spd,
)  # fmt: skip
from kinode.multibody import link_steps
from kinode.multibody.bundles import map_alike
from kinode.multibody.link_steps import JointFactor, LinkKinematics, Spatial
from kinode.structure.state_layout import EMPTY
from kinode.structure.tree import WORLD, Geometry, Tree, TreeLink

T = TypeVar("T")
Level = Sequence[TreeLink]  # nodes as far from the world as each other


def outward(
    levels: Iterable[Level],
    step: Callable[..., T],
    arguments: Callable[[int, T], tuple[Any, ...]],
    start: T,
    mechanics: bool = False,
) -> dict[int, T]:
    """The values of all nodes: of a step from its arguments, for a node and the value of its parent.

    ``start`` is the value of the world; with ``mechanics`` the step is given the joint of the node first.
    """
    found = {WORLD: start}
    for level in levels:
        calls = [arguments(node.index, found[node.parent]) for node in level]
        values = map_alike(step, calls, [node.mechanics for node in level] if mechanics else None)
        found.update(zip((node.index for node in level), values, strict=True))
    del found[WORLD]
    return found


def inward(
    levels: Sequence[Level],
    step: Callable[..., T],
    arguments: Callable[[int], tuple[Any, ...]],
    total: list[T],
    plus: Callable[[T, T], T],
) -> list[T]:
    """Add to the ``total`` of each node what those that it carries pass on by a step."""
    for level in reversed(levels[1:]):
        passed = map_alike(step, [arguments(node.index) for node in level])
        for node, more in zip(reversed(level), reversed(passed), strict=True):
            total[node.parent] = plus(total[node.parent], more)
    return total


def move_tree(tree: Tree, geometry: Geometry, q: Sequence[Array], u: Sequence[Array]) -> list[LinkKinematics]:
    """Link kinematics of all nodes."""

    def arguments(i: int, parent: LinkKinematics) -> tuple[Any, ...]:
        return geometry.placements[i], geometry.forms[i], q[i], u[i], parent.w

    world = LinkKinematics(IDENTITY_POSE, np.zeros((6, 0)), ZERO3, ZERO3, ZERO3)
    found = outward(tree.levels, link_steps.move, arguments, world, mechanics=True)
    return [found[node.index] for node in tree.nodes]


@dataclass(frozen=True, eq=False)
class MovingTree:
    """A tree at an instant: its constants and its link kinematics."""

    tree: Tree
    geometry: Geometry
    links: Sequence[LinkKinematics]

    # -- kinematics --------------------------------------------------------------------------------
    def poses(self) -> list[Pose]:
        """X_WL of all nodes."""
        indices = [node.index for node in self.tree.nodes]
        steps = map_alike(matmul, [(self.geometry.placements[i], self.links[i].X) for i in indices])
        found: dict[int, Pose] = {}
        for level in self.tree.levels:
            if level[0].parent == WORLD:
                found.update((node.index, steps[node.index]) for node in level)
                continue
            calls = [(found[node.parent], steps[node.index]) for node in level]
            found.update(zip((node.index for node in level), map_alike(matmul, calls), strict=True))
        return [found[i] for i in indices]

    def velocities(self, u: Sequence[Array]) -> list[Array]:
        """Velocities of the links' origins, in link axes."""
        placements, links = self.geometry.placements, self.links
        parents = [node.parent for node in self.tree.nodes]

        def arguments(i: int, v_P: Array) -> tuple[Any, ...]:
            w_P = ZERO3 if parents[i] == WORLD else links[parents[i]].w
            return placements[i], links[i].X, links[i].S, (w_P, v_P), u[i]

        found = outward(self.tree.levels, _origin_velocity, arguments, ZERO3)
        return [found[node.index] for node in self.tree.nodes]

    def accelerations(self, u_dot: Sequence[Array], base: Spatial) -> list[Spatial]:
        """Accelerations of links from those of joints."""

        def arguments(i: int, A_P: Spatial) -> tuple[Any, ...]:
            return self.geometry.placements[i], self.links[i], A_P, u_dot[i]

        found = outward(self.tree.levels, _accelerate, arguments, base)
        return [found[node.index] for node in self.tree.nodes]

    # -- articulated bodies ------------------------------------------------------------------------
    def forward_dynamics(
        self,
        tau: Sequence[Array],
        loads: Sequence[Spatial | None],
        base: Spatial,
        prescribed: Sequence[Array | None],
        free: Mapping[int, Scalar] | None = None,
        armature: Mapping[int, Array] | None = None,
    ) -> tuple[list[Array], list[Spatial]]:
        """Accelerations of joints and links from efforts and loads, by articulated bodies.

        ``free`` is 1 or 0 for the nodes whose joints may be stuck; ``armature`` is the inertia that network parts add
        to the freedoms of nodes.
        """
        return self._unfold(self._gather(tau, loads, prescribed, free, armature), base, prescribed)

    def _gather(
        self,
        tau: Sequence[Array],
        loads: Sequence[Spatial | None],
        prescribed: Sequence[Array | None],
        free: Mapping[int, Scalar] | None = None,
        armature: Mapping[int, Array] | None = None,
    ) -> dict[int, JointFactor | None]:
        """The inward pass: the factors of all joints by node, None where the acceleration is prescribed."""
        free, armature, geometry, links = free or {}, armature or {}, self.geometry, self.links
        own = [(geometry.inertias[i], links[i].w, loads[i]) for i in (node.index for node in self.tree.nodes)]
        carried = map_alike(_bias_beyond, own)
        factors: dict[int, JointFactor | None] = {}
        for depth, level in reversed(list(enumerate(self.tree.levels))):
            calls = []
            for i in (node.index for node in level):
                place = geometry.placements[i] if depth else None
                calls.append((links[i], place, *carried[i], tau[i], prescribed[i], free.get(i), armature.get(i)))
            folded = map_alike(_fold, calls)
            for node, (factor, rest) in zip(reversed(level), reversed(folded), strict=True):
                factors[node.index] = factor
                if rest is not None:
                    inertia, wrench = carried[node.parent]
                    carried[node.parent] = inertia + rest[0], _sum(wrench, rest[1])
        return factors

    def _unfold(
        self, factors: Mapping[int, JointFactor | None], base: Spatial, prescribed: Sequence[Array | None]
    ) -> tuple[list[Array], list[Spatial]]:
        """The outward pass: accelerations of joints and links."""

        def arguments(i: int, parent: tuple[Array, Spatial]) -> tuple[Any, ...]:
            return self.geometry.placements[i], self.links[i], parent[1], factors[i], prescribed[i]

        found = outward(self.tree.levels, _unfold, arguments, (EMPTY, base))
        return [found[node.index][0] for node in self.tree.nodes], [found[node.index][1] for node in self.tree.nodes]

    # -- inverse dynamics and mass matrix ----------------------------------------------------------
    def inverse_dynamics(self, A: Sequence[Spatial], loads: Sequence[Spatial | None]) -> list[Spatial]:
        """The wrench of each joint on its link, about the link's origin."""
        geometry, links = self.geometry, self.links
        calls = [(geometry.inertias[i], links[i].w, A[i], loads[i]) for i in (node.index for node in self.tree.nodes)]
        wrench = map_alike(_own_wrench, calls)

        def arguments(i: int) -> tuple[Any, ...]:
            return geometry.placements[i], links[i], wrench[i]

        return inward(self.tree.levels, link_steps.lift_wrench, arguments, wrench, _sum)

    def mass_matrix(self) -> Iterator[tuple[int, int, Array]]:
        """Composite inertias: two joints i and j, of which i carries j or is j, and the block of the mass matrix."""
        nodes, placements, links = self.tree.nodes, self.geometry.placements, self.links
        moving = [node for node in nodes if links[node.index].S.shape[1]]
        composite = self._composite_inertias()
        forces = map_alike(_momentum, [(composite[node.index], links[node.index].S) for node in moving])
        carried = [(node.index, node.index, F) for node, F in zip(moving, forces, strict=True)]
        pairs = list(carried)
        while carried:  # each time one joint further in
            further = [(nodes[i].parent, i, j, F) for i, j, F in carried if nodes[i].parent != WORLD]
            lifted = map_alike(_lift_columns, [(placements[i], links[i].X, F) for _, i, _, F in further])
            carried = [(parent, j, F) for (parent, _, j, _), F in zip(further, lifted, strict=True)]
            pairs += [each for each in carried if links[each[0]].S.shape[1]]
        blocks = map_alike(_along, [(links[i].S, F) for i, _, F in pairs])
        return ((i, j, block) for (i, j, _), block in zip(pairs, blocks, strict=True))

    def _composite_inertias(self) -> list[RigidInertia]:
        """The inertia of each link with all that it carries."""
        composite = list(self.geometry.inertias)

        def arguments(i: int) -> tuple[Any, ...]:
            return composite[i], self.links[i].X, self.geometry.placements[i]

        return inward(self.tree.levels, _seen_by_parent, arguments, composite, add)

    # -- gears -------------------------------------------------------------------------------------
    def geared_dynamics(
        self,
        tau: Sequence[Array],
        loads: Sequence[Spatial | None],
        base: Spatial,
        prescribed: Sequence[Array | None],
        gears: Sequence[GearedPair],
        armature: Mapping[int, Array] | None = None,
    ) -> tuple[list[Array], list[Spatial]]:
        """Accelerations of joints and links from efforts and loads, of a tree with gears."""
        factors = self._gather(tau, loads, prescribed, None, armature)
        shares = [self._unit_shares(factors, gear) for gear in gears]
        alone = self._accelerations_at(factors, base, prescribed, gears)
        missing = np.array([gear.ratio * alone[gear.leader] - alone[gear.follower] for gear in gears], dtype=object)
        efforts = solve_spd(_compliance(factors, shares), missing)
        for effort, share in zip(efforts, shares, strict=True):
            for i, s in share.items():
                factor = factors[i]
                assert factor is not None
                factors[i] = factor._replace(share=factor.share + s * effort)
        return self._unfold(factors, base, prescribed)

    def _unit_shares(self, factors: Mapping[int, JointFactor | None], gear: GearedPair) -> dict[int, Array]:
        """What a unit effort of a gear is along each joint between it and the world, inward; by node."""
        links = self.links
        along: dict[int, Scalar] = {gear.follower: 1.0}
        along[gear.leader] = along.get(gear.leader, 0.0) - gear.ratio
        carried: dict[int, Spatial] = {}
        shares: dict[int, Array] = {}
        for i in sorted(self._between(along), reverse=True):
            factor, p = factors[i], carried.get(i)
            if factor is not None:
                share = np.zeros(links[i].S.shape[1], dtype=object) + along.get(i, 0.0)
                if p is not None:
                    share = share - links[i].S.T @ np.concatenate(p)
                shares[i] = share
                push = factor.U @ (factor.D_inverse @ share)
                own = push[:3], push[3:]
                p = own if p is None else _sum(p, own)
            parent = self.tree.nodes[i].parent
            if parent == WORLD or p is None:
                continue
            lifted = link_steps.lift_wrench(self.geometry.placements[i], links[i], p)
            carried[parent] = lifted if parent not in carried else _sum(carried[parent], lifted)
        return shares

    def _between(self, ends: Iterable[int]) -> set[int]:
        """The nodes between some of them and the world, themselves included."""
        return set[int]().union(*(self.tree.path(i) for i in ends))

    def _accelerations_at(
        self,
        factors: Mapping[int, JointFactor | None],
        base: Spatial,
        prescribed: Sequence[Array | None],
        gears: Sequence[GearedPair],
    ) -> dict[int, Scalar]:
        """The accelerations of the geared joints without the efforts of the gears."""
        ends = {end for gear in gears for end in (gear.follower, gear.leader)}
        some = tuple(self.tree.nodes[i] for i in sorted(self._between(ends)))
        joints, _ = replace(self, tree=Tree(some, ()))._unfold(factors, base, prescribed)
        return {node.index: u_dot[0] for node, u_dot in zip(some, joints, strict=True) if node.index in ends}


def _sum(one: Spatial, other: Spatial) -> Spatial:
    return one[0] + other[0], one[1] + other[1]


def _bias_beyond(inertia: RigidInertia, w: Array, load: Spatial | None) -> tuple[ArticulatedInertia, Spatial]:
    """The inertia of a link, and what its rotation needs beyond the load on it."""
    moment, force = link_steps.bias_wrench(inertia, w)
    return inertia.articulated(), (moment, force) if load is None else (moment - load[0], force - load[1])


def _fold(
    link: LinkKinematics, X_PF: Pose | None, inertia: ArticulatedInertia, p: Spatial, tau: Array,
    known: Array | None, free: Scalar | None, armature: Array | None,
) -> tuple[JointFactor | None, tuple[ArticulatedInertia, Spatial] | None]:  # fmt: skip
    """The factor of a joint whose acceleration is not ``known``; what its parent carries, if it has a placement."""
    factor = None
    if known is None:
        factor = link_steps.gather(link.S, inertia, p, tau, free, armature)
    if X_PF is None:
        return factor, None
    if factor is not None:
        rest, push = link_steps.pass_on(link, inertia, p, factor)
    else:
        assert known is not None
        rest, push = link_steps.pass_on_driven(link, inertia, p, known)
    return factor, (link_steps.lift_inertia(X_PF, link, rest), link_steps.lift_wrench(X_PF, link, push))


def _unfold(
    X_PF: Pose, link: LinkKinematics, A_P: Spatial, factor: JointFactor | None, known: Array | None
) -> tuple[Array, Spatial]:
    """The acceleration of a joint and of its link, from that of the parent."""
    start = link_steps.carry(X_PF, link, A_P)
    if known is None:
        assert factor is not None
        known = link_steps.joint_acceleration(factor, start)
    return known, link_steps.accelerate(link, start, known)


def _accelerate(X_PF: Pose, link: LinkKinematics, A_P: Spatial, u_dot: Array) -> Spatial:
    return link_steps.accelerate(link, link_steps.carry(X_PF, link, A_P), u_dot)


def _own_wrench(inertia: RigidInertia, w: Array, A: Spatial, load: Spatial | None) -> Spatial:
    """What the motion of a link needs beyond the load on it."""
    moment, force = link_steps.inertia_wrench(inertia, w, A)
    return (moment, force) if load is None else (moment - load[0], force - load[1])


def _seen_by_parent(inertia: RigidInertia, X: Pose, X_PF: Pose) -> RigidInertia:
    return inertia.seen_from(X).seen_from(X_PF)


def _momentum(inertia: RigidInertia, S: Array) -> Array:
    """I S, of all that a link carries, one column for each freedom."""
    whole = inertia.articulated()
    return _columns([whole.times(S[:3, k], S[3:, k]) for k in range(S.shape[1])])


def _lift_columns(X_PF: Pose, X: Pose, F: Array) -> Array:
    """Wrenches in link axes, transformed to the parent's frame."""
    return _columns([moved_force(X_PF, *moved_force(X, F[:3, k], F[3:, k])) for k in range(F.shape[1])])


def _columns(F: Sequence[Spatial]) -> Array:
    return np.column_stack([np.concatenate(f) for f in F])


def _along(S: Array, F: Array) -> Array:
    block: Array = S.T @ F
    return block


def _origin_velocity(X_PF: Pose, X: Pose, S: Array, V_P: Spatial, u: Array) -> Array:
    _, v = moved_motion(X, *moved_motion(X_PF, *V_P))
    velocity: Array = v + (S[3:] @ u if S.shape[1] else ZERO3)
    return velocity


class GearedPair(NamedTuple):
    """The node of a joint that follows, that of the joint whose speed is a state, and the ratio of their speeds."""

    follower: int
    leader: int
    ratio: Scalar


def _compliance(factors: Mapping[int, JointFactor | None], shares: Sequence[Mapping[int, Array]]) -> Array:
    """C M^-1 C': the relative acceleration at one gear for a unit effort of another."""
    n = len(shares)
    rows = np.zeros((n, n), dtype=object)
    rows[:] = 0.0
    for g, one in enumerate(shares):
        responses = {i: factor.D_inverse @ s for i, s in one.items() if (factor := factors[i]) is not None}
        for h, two in enumerate(shares[: g + 1]):
            for i, response in responses.items():
                if i in two:
                    rows[g, h] = rows[g, h] + two[i] @ response
            rows[h, g] = rows[g, h]
    return rows
