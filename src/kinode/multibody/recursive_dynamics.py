"""The recursive formulation: articulated bodies, inverse dynamics, mass matrix, on a tree; gears in large trees.

Featherstone's three passes, written with classical accelerations (link_steps.py).  Loops are not supported here.  Each
function takes the nodes of a tree, and lists of their quantities by node; it works for every scalar type.  ``links``
are the link kinematics of all nodes.  ``prescribed[i]`` is None if the acceleration of joint i is unknown.  Nodes as
far from the world as each other do not depend on each other: steps that are alike are traced side by side.

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

from collections.abc import Iterator, Mapping, Sequence
from operator import matmul
from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.spatial import ZERO3, ArticulatedInertia, Pose, RigidInertia, moved_force, moved_motion, solve_spd
from kinode.multibody import link_steps
from kinode.multibody.bundles import map_alike
from kinode.multibody.link_steps import JointFactor, LinkKinematics, Spatial
from kinode.structure.tree import WORLD, Geometry, TreeLink


def by_depth(nodes: Sequence[TreeLink]) -> list[list[TreeLink]]:
    """The nodes by the number of joints between them and the world, outward; with each its parent is among them."""
    depths: dict[int, int] = {}
    levels: list[list[TreeLink]] = []
    for node in nodes:
        depth = depths[node.index] = 0 if node.parent == WORLD else depths[node.parent] + 1
        if depth == len(levels):
            levels.append([])
        levels[depth].append(node)
    return levels


def move_tree(
    nodes: Sequence[TreeLink], geometry: Geometry, q: Sequence[Array], u: Sequence[Array], base_w: Array = ZERO3
) -> list[LinkKinematics]:
    """Link kinematics of all nodes, outward."""
    links: dict[int, LinkKinematics] = {}
    for level in by_depth(nodes):
        calls = []
        for node in level:
            i, w_P = node.index, base_w if node.parent == WORLD else links[node.parent].w
            calls.append((geometry.placements[i], geometry.forms[i], q[i], u[i], w_P))
        moved = map_alike(link_steps.move, calls, [node.mechanics for node in level])
        links.update(zip((node.index for node in level), moved, strict=True))
    return [links[node.index] for node in nodes]


def poses(nodes: Sequence[TreeLink], geometry: Geometry, links: Sequence[LinkKinematics]) -> list[Pose]:
    """X_WL of all nodes, outward."""
    steps = map_alike(matmul, [(geometry.placements[node.index], links[node.index].X) for node in nodes])
    found: dict[int, Pose] = {}
    for level in by_depth(nodes):
        if level[0].parent == WORLD:
            found.update((node.index, steps[node.index]) for node in level)
            continue
        calls = [(found[node.parent], steps[node.index]) for node in level]
        found.update(zip((node.index for node in level), map_alike(matmul, calls), strict=True))
    return [found[node.index] for node in nodes]


def forward_dynamics(
    nodes: Sequence[TreeLink],
    geometry: Geometry,
    links: Sequence[LinkKinematics],
    tau: Sequence[Array],
    loads: Sequence[Spatial | None],
    base: Spatial,
    prescribed: Sequence[Array | None],
    free: Mapping[int, Scalar] | None = None,
    armature: Mapping[int, Array] | None = None,
) -> tuple[list[Array], list[Spatial]]:
    """Accelerations of joints and links from efforts and loads, by articulated bodies.

    ``free`` is 1 or 0 for the nodes whose joints may be stuck; ``armature`` is the inertia that network parts add to
    the freedoms of nodes.
    """
    factors = gather_tree(nodes, geometry, links, tau, loads, prescribed, free, armature)
    return unfold_tree(nodes, geometry, links, factors, base, prescribed)


def gather_tree(
    nodes: Sequence[TreeLink],
    geometry: Geometry,
    links: Sequence[LinkKinematics],
    tau: Sequence[Array],
    loads: Sequence[Spatial | None],
    prescribed: Sequence[Array | None],
    free: Mapping[int, Scalar] | None = None,
    armature: Mapping[int, Array] | None = None,
) -> dict[int, JointFactor | None]:
    """The inward pass: the factors of all joints by node, None where the acceleration is prescribed."""
    free, armature = free or {}, armature or {}
    own = [(geometry.inertias[i], links[i].w, loads[i]) for i in (node.index for node in nodes)]
    carried = map_alike(_bias_beyond, own)
    factors: dict[int, JointFactor | None] = {}
    for depth, level in reversed(list(enumerate(by_depth(nodes)))):
        calls = []
        for i in (node.index for node in level):
            place = geometry.placements[i] if depth else None
            calls.append((links[i], place, *carried[i], tau[i], prescribed[i], free.get(i), armature.get(i)))
        folded = map_alike(_fold, calls)
        for node, (factor, rest) in zip(reversed(level), reversed(folded), strict=True):
            factors[node.index] = factor
            if rest is not None:
                inertia, (moment, force) = carried[node.parent]
                carried[node.parent] = inertia + rest[0], (moment + rest[1][0], force + rest[1][1])
    return factors


def unfold_tree(
    nodes: Sequence[TreeLink],
    geometry: Geometry,
    links: Sequence[LinkKinematics],
    factors: Mapping[int, JointFactor | None],
    base: Spatial,
    prescribed: Sequence[Array | None],
) -> tuple[list[Array], list[Spatial]]:
    """The outward pass: accelerations of joints and links."""
    unfolded: dict[int, tuple[Array, Spatial]] = {}
    for level in by_depth(nodes):
        outward = []
        for node in level:
            i, A_P = node.index, base if node.parent == WORLD else unfolded[node.parent][1]
            outward.append((geometry.placements[i], links[i], A_P, factors[i], prescribed[i]))
        unfolded.update(zip((node.index for node in level), map_alike(_unfold, outward), strict=True))
    return [unfolded[node.index][0] for node in nodes], [unfolded[node.index][1] for node in nodes]


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


def accelerate_tree(
    nodes: Sequence[TreeLink],
    geometry: Geometry,
    links: Sequence[LinkKinematics],
    u_dot: Sequence[Array],
    base: Spatial,
) -> list[Spatial]:
    """Accelerations of links from those of joints, outward."""
    A: dict[int, Spatial] = {}
    for level in by_depth(nodes):
        calls = []
        for node in level:
            i, A_P = node.index, base if node.parent == WORLD else A[node.parent]
            calls.append((geometry.placements[i], links[i], A_P, u_dot[i]))
        A.update(zip((node.index for node in level), map_alike(_accelerate, calls), strict=True))
    return [A[node.index] for node in nodes]


def _accelerate(X_PF: Pose, link: LinkKinematics, A_P: Spatial, u_dot: Array) -> Spatial:
    return link_steps.accelerate(link, link_steps.carry(X_PF, link, A_P), u_dot)


def inverse_dynamics(
    nodes: Sequence[TreeLink],
    geometry: Geometry,
    links: Sequence[LinkKinematics],
    A: Sequence[Spatial],
    loads: Sequence[Spatial | None],
) -> list[Spatial]:
    """The wrench of each joint on its link, about the link's origin, inward."""
    calls = [(geometry.inertias[i], links[i].w, A[i], loads[i]) for i in (node.index for node in nodes)]
    wrench = map_alike(_own_wrench, calls)
    for level in reversed(by_depth(nodes)[1:]):
        lifted = map_alike(
            link_steps.lift_wrench, [(geometry.placements[n.index], links[n.index], wrench[n.index]) for n in level]
        )
        for node, (moment, force) in zip(reversed(level), reversed(lifted), strict=True):
            wrench[node.parent] = (wrench[node.parent][0] + moment, wrench[node.parent][1] + force)
    return wrench


def _own_wrench(inertia: RigidInertia, w: Array, A: Spatial, load: Spatial | None) -> Spatial:
    """What the motion of a link needs beyond the load on it."""
    moment, force = link_steps.inertia_wrench(inertia, w, A)
    return (moment, force) if load is None else (moment - load[0], force - load[1])


def mass_matrix(
    nodes: Sequence[TreeLink], geometry: Geometry, links: Sequence[LinkKinematics]
) -> Iterator[tuple[int, int, Array]]:
    """Composite inertias: two joints i and j, of which i carries j or is j, and the block of the mass matrix."""
    moving = [node for node in nodes if links[node.index].S.shape[1]]
    composite = _composite_inertias(nodes, geometry, links)
    forces = map_alike(_momentum, [(composite[node.index], links[node.index].S) for node in moving])
    carried = [(node.index, node.index, F) for node, F in zip(moving, forces, strict=True)]
    pairs = list(carried)
    while carried:  # each time one joint further in
        inward = [(nodes[i].parent, i, j, F) for i, j, F in carried if nodes[i].parent != WORLD]
        lifted = map_alike(_lift_columns, [(geometry.placements[i], links[i].X, F) for _, i, _, F in inward])
        carried = [(parent, j, F) for (parent, _, j, _), F in zip(inward, lifted, strict=True)]
        pairs += [each for each in carried if links[each[0]].S.shape[1]]
    blocks = map_alike(_along, [(links[i].S, F) for i, _, F in pairs])
    return ((i, j, block) for (i, j, _), block in zip(pairs, blocks, strict=True))


def _composite_inertias(
    nodes: Sequence[TreeLink], geometry: Geometry, links: Sequence[LinkKinematics]
) -> list[RigidInertia]:
    """The inertia of each link with all that it carries."""
    composite = list(geometry.inertias)
    for level in reversed(by_depth(nodes)[1:]):
        seen = map_alike(
            _seen_by_parent, [(composite[n.index], links[n.index].X, geometry.placements[n.index]) for n in level]
        )
        for node, in_parent in zip(reversed(level), reversed(seen), strict=True):
            composite[node.parent] = composite[node.parent] + in_parent
    return composite


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


def velocities(
    nodes: Sequence[TreeLink], geometry: Geometry, links: Sequence[LinkKinematics], u: Sequence[Array]
) -> list[Array]:
    """Velocities of the links' origins, in link axes, outward."""
    found: dict[int, Array] = {}
    for level in by_depth(nodes):
        calls = []
        for node in level:
            i, P = node.index, node.parent
            V_P = (ZERO3, ZERO3) if P == WORLD else (links[P].w, found[P])
            calls.append((geometry.placements[i], links[i].X, links[i].S, V_P, u[i]))
        found.update(zip((node.index for node in level), map_alike(_origin_velocity, calls), strict=True))
    return [found[node.index] for node in nodes]


def _origin_velocity(X_PF: Pose, X: Pose, S: Array, V_P: Spatial, u: Array) -> Array:
    _, v = moved_motion(X, *moved_motion(X_PF, *V_P))
    velocity: Array = v + (S[3:] @ u if S.shape[1] else ZERO3)
    return velocity


class GearedPair(NamedTuple):
    """The node of a joint that follows, that of the joint whose speed is a state, and the ratio of their speeds."""

    follower: int
    leader: int
    ratio: Scalar


def geared_dynamics(
    nodes: Sequence[TreeLink],
    geometry: Geometry,
    links: Sequence[LinkKinematics],
    tau: Sequence[Array],
    loads: Sequence[Spatial | None],
    base: Spatial,
    prescribed: Sequence[Array | None],
    gears: Sequence[GearedPair],
    armature: Mapping[int, Array] | None = None,
) -> tuple[list[Array], list[Spatial]]:
    """Accelerations of joints and links from efforts and loads, of a tree with gears."""
    factors = gather_tree(nodes, geometry, links, tau, loads, prescribed, None, armature)
    shares = [_unit_shares(nodes, geometry, links, factors, gear) for gear in gears]
    alone = _accelerations_at(nodes, geometry, links, factors, base, prescribed, gears)
    missing = np.array([gear.ratio * alone[gear.leader] - alone[gear.follower] for gear in gears], dtype=object)
    efforts = solve_spd(_compliance(factors, shares), missing)
    for effort, share in zip(efforts, shares, strict=True):
        for i, s in share.items():
            factor = factors[i]
            assert factor is not None
            factors[i] = factor._replace(share=factor.share + s * effort)
    return unfold_tree(nodes, geometry, links, factors, base, prescribed)


def _unit_shares(
    nodes: Sequence[TreeLink],
    geometry: Geometry,
    links: Sequence[LinkKinematics],
    factors: Mapping[int, JointFactor | None],
    gear: GearedPair,
) -> dict[int, Array]:
    """What a unit effort of a gear is along each joint between it and the world, inward; by node."""
    along: dict[int, Scalar] = {gear.follower: 1.0}
    along[gear.leader] = along.get(gear.leader, 0.0) - gear.ratio
    carried: dict[int, Spatial] = {}
    shares: dict[int, Array] = {}
    for i in sorted(_paths(nodes, along), reverse=True):
        factor, p = factors[i], carried.get(i)
        if factor is not None:
            share = np.zeros(links[i].S.shape[1], dtype=object) + along.get(i, 0.0)
            if p is not None:
                share = share - links[i].S.T @ np.concatenate(p)
            shares[i] = share
            push = factor.U @ (factor.D_inverse @ share)
            p = (push[:3], push[3:]) if p is None else (p[0] + push[:3], p[1] + push[3:])
        parent = nodes[i].parent
        if parent == WORLD or p is None:
            continue
        lifted = link_steps.lift_wrench(geometry.placements[i], links[i], p)
        before = carried.get(parent)
        carried[parent] = lifted if before is None else (before[0] + lifted[0], before[1] + lifted[1])
    return shares


def _paths(nodes: Sequence[TreeLink], ends: Mapping[int, Scalar]) -> set[int]:
    """The nodes between some of them and the world, themselves included."""
    found: set[int] = set()
    for i in ends:
        while i != WORLD and i not in found:
            found.add(i)
            i = nodes[i].parent
    return found


def _accelerations_at(
    nodes: Sequence[TreeLink],
    geometry: Geometry,
    links: Sequence[LinkKinematics],
    factors: Mapping[int, JointFactor | None],
    base: Spatial,
    prescribed: Sequence[Array | None],
    gears: Sequence[GearedPair],
) -> dict[int, Scalar]:
    """The accelerations of the geared joints without the efforts of the gears."""
    ends = {end: 1.0 for gear in gears for end in (gear.follower, gear.leader)}
    some = [nodes[i] for i in sorted(_paths(nodes, ends))]
    joints, _ = unfold_tree(some, geometry, links, factors, base, prescribed)
    return {node.index: u_dot[0] for node, u_dot in zip(some, joints, strict=True) if node.index in ends}


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
