"""The recursive formulation: articulated bodies, inverse dynamics, mass matrix, on a tree.

Featherstone's three passes, written with classical accelerations (link_steps.py).  Loops are not supported here.

Each function takes the nodes of a tree, and lists of their quantities by node; it works for every scalar type.
``links`` are the link kinematics of all nodes.  ``prescribed[i]`` is None if the acceleration of joint i is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.spatial import ZERO3, ArticulatedInertia, moved_force, moved_motion
from kinode.multibody.links import link_steps
from kinode.multibody.links.link_steps import LinkKinematics, Spatial
from kinode.structure.link_geometry import WORLD, Geometry, TreeLink


def move_tree(
    nodes: Sequence[TreeLink], geometry: Geometry, q: Sequence[Array], u: Sequence[Array], base_w: Array = ZERO3
) -> list[LinkKinematics]:
    """Link kinematics of all nodes, outward."""
    links: list[LinkKinematics] = []
    for node, X_PF, form in zip(nodes, geometry.placements, geometry.forms, strict=True):
        w_P = base_w if node.parent == WORLD else links[node.parent].w
        links.append(link_steps.move(node.mechanics, X_PF, form, q[node.index], u[node.index], w_P))
    return links


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
    free, armature = free or {}, armature or {}
    inertia: list[ArticulatedInertia] = [i.articulated() for i in geometry.inertias]
    p: list[Spatial] = []
    for node, load in zip(nodes, loads, strict=True):
        moment, force = link_steps.bias_wrench(geometry.inertias[node.index], links[node.index].w)
        p.append((moment, force) if load is None else (moment - load[0], force - load[1]))
    factors: list[link_steps.JointFactor | None] = [None] * len(nodes)
    for node in reversed(nodes):
        i, X_PF = node.index, geometry.placements[node.index]
        known = prescribed[i]
        if known is None:
            factor = link_steps.gather(links[i].S, inertia[i], p[i], tau[i], free.get(i), armature.get(i))
            factors[i] = factor
            if node.parent == WORLD:
                continue
            rest, push = link_steps.pass_on(links[i], inertia[i], p[i], factor)
        else:
            if node.parent == WORLD:
                continue
            rest, push = link_steps.pass_on_driven(links[i], inertia[i], p[i], known)
        inertia[node.parent] = inertia[node.parent] + link_steps.lift_inertia(X_PF, links[i], rest)
        moment, force = link_steps.lift_wrench(X_PF, links[i], push)
        p[node.parent] = (p[node.parent][0] + moment, p[node.parent][1] + force)
    u_dot: list[Array] = []
    A: list[Spatial] = []
    for node in nodes:
        i = node.index
        start = link_steps.carry(geometry.placements[i], links[i], base if node.parent == WORLD else A[node.parent])
        known = prescribed[i]
        own = known if known is not None else link_steps.joint_acceleration(factors[i], start)  # type: ignore[arg-type]
        u_dot.append(own)
        A.append(link_steps.accelerate(links[i], start, own))
    return u_dot, A


def accelerate_tree(
    nodes: Sequence[TreeLink],
    geometry: Geometry,
    links: Sequence[LinkKinematics],
    u_dot: Sequence[Array],
    base: Spatial,
) -> list[Spatial]:
    """Accelerations of links from those of joints, outward."""
    A: list[Spatial] = []
    for node in nodes:
        i = node.index
        start = link_steps.carry(geometry.placements[i], links[i], base if node.parent == WORLD else A[node.parent])
        A.append(link_steps.accelerate(links[i], start, u_dot[i]))
    return A


def inverse_dynamics(
    nodes: Sequence[TreeLink],
    geometry: Geometry,
    links: Sequence[LinkKinematics],
    A: Sequence[Spatial],
    loads: Sequence[Spatial | None],
) -> list[Spatial]:
    """The wrench of each joint on its link, about the link's origin, inward."""
    wrench: list[Spatial] = []
    for node in nodes:
        moment, force = link_steps.inertia_wrench(geometry.inertias[node.index], links[node.index].w, A[node.index])
        load = loads[node.index]
        wrench.append((moment, force) if load is None else (moment - load[0], force - load[1]))
    for node in reversed(nodes):
        if node.parent != WORLD:
            X_PF = geometry.placements[node.index]
            moment, force = link_steps.lift_wrench(X_PF, links[node.index], wrench[node.index])
            wrench[node.parent] = (wrench[node.parent][0] + moment, wrench[node.parent][1] + force)
    return wrench


def mass_matrix(
    nodes: Sequence[TreeLink],
    geometry: Geometry,
    links: Sequence[LinkKinematics],
    add_block: Callable[[int, Array, int, Array], None],
) -> None:
    """Composite inertias; ``add_block(i, B_i, j, B_j)`` receives the block of joints i and j as B_i' B_j."""
    composite = list(geometry.inertias)
    for node in reversed(nodes):
        if node.parent != WORLD:
            in_parent = composite[node.index].seen_from(links[node.index].X).seen_from(geometry.placements[node.index])
            composite[node.parent] = composite[node.parent] + in_parent
    for node in nodes:
        i = node.index
        S = links[i].S
        if S.shape[1] == 0:
            continue
        whole = composite[i].articulated()
        F = [whole.times(S[:3, k], S[3:, k]) for k in range(S.shape[1])]
        add_block(i, S, i, _columns(F))
        j, X_PF = node.parent, geometry.placements[i]
        inner = links[i]
        while j != WORLD:
            F = [moved_force(X_PF, *moved_force(inner.X, *f)) for f in F]
            if links[j].S.shape[1]:
                add_block(j, links[j].S, i, _columns(F))
            inner, X_PF, j = links[j], geometry.placements[j], nodes[j].parent


def _columns(F: Sequence[Spatial]) -> Array:
    return np.column_stack([np.concatenate(f) for f in F])


def velocities(
    nodes: Sequence[TreeLink], geometry: Geometry, links: Sequence[LinkKinematics], u: Sequence[Array]
) -> list[Array]:
    """Velocities of the links' origins, in link axes, outward."""
    origin_velocities: list[Array] = []
    for node in nodes:
        i, link = node.index, links[node.index]
        w_P, v_P = (ZERO3, ZERO3) if node.parent == WORLD else (links[node.parent].w, origin_velocities[node.parent])
        _, v = moved_motion(link.X, *moved_motion(geometry.placements[i], w_P, v_P))
        origin_velocities.append(v + (link.S[3:] @ u[i] if link.S.shape[1] else ZERO3))
    return origin_velocities
