"""Freedoms without inertia, and the entries of the mass matrix.

Forward dynamics would give freedoms without inertia infinite acceleration.  Inverse dynamics and kinematics are
possible, so that the error is stored and raised by forward dynamics alone.  What resists a freedom is compared with
the moments of inertia, or the mass, of all that is carried, taken as rigid: less than their rounding is nothing.
Masses are not compared with moments of inertia: a body of 1 kg may have 1e-19 kg m^2.

Where every joint moves something with mass by itself, gears of large trees are solved without the mass matrix.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import RigidInertia
from kinode.errors import ModelError
from kinode.structure.spanning_tree import Cut
from kinode.structure.tree import WORLD, Geometry, Tree, TreeLink, compute_geometry

if TYPE_CHECKING:
    from kinode.structure.topology import Topology


ZERO_INERTIA = 1e-14  # of the inertia of what is carried, taken as rigid: less is rounding
GENERIC_Q = 0.37  # rad or m, added to the neutral position, which may be symmetric


def find_massless_freedom(
    tree: Tree, geometry: Geometry, moving: Collection[str], cuts: Iterable[Cut]
) -> ModelError | None:
    """The error of the first freedom without inertia; None where all have inertia.

    ``moving`` are the joints to check: neither driven, nor geared, nor with inertia from a network.
    """
    nodes = tree.nodes
    if _have_inertia(geometry.inertias):  # each link resists by itself
        return None
    carried = np.zeros((len(nodes), 2, 6, 6))  # what each link carries: its articulated inertia, and as if rigid
    for node in reversed(nodes):
        i, inertia = node.index, geometry.inertias[node.index]
        I, rigid = carried[i] + _matrix(inertia)
        q = node.joint.advance(node.joint.neutral_q(), GENERIC_Q * (1.0 + 0.3 * np.arange(node.joint.n_u) + 0.1 * i))
        S = np.asarray(node.mechanics.motion_subspace(q, geometry.forms[i]), dtype=float)
        if node.joint.name in moving and node.joint.n_u:
            inverse = _inverse(S.T @ I @ S, _bounds(rigid, S))
            if inverse is None:
                return _error(node, inertia, bool(carried[i].any()), cuts)
            U = I @ S
            I = I - U @ inverse @ U.T if np.isfinite(U).all() else I
        if node.parent != WORLD:
            X = geometry.placements[i] @ node.mechanics.transform(q, geometry.forms[i])
            B = _motion_transform(np.asarray(X.R, dtype=float), np.asarray(X.p, dtype=float))
            carried[node.parent] += B.T @ np.array([I, rigid]) @ B
    return None


def find_massless_gears(
    tree: Tree, geometry: Geometry, moving: Collection[str], ratios: Mapping[str, Mapping[str, float]]
) -> ModelError | None:
    """The error of the first joint that moves nothing with mass, neither by itself nor through gears.

    ``ratios`` has, for each joint that leads others, the speeds of these and of itself while its own is one.
    """
    for leader, rates in ratios.items():
        if leader not in moving:
            continue
        velocities, energy, scale = list[Array](), 0.0, 0.0
        for node in tree.nodes:
            i, n = node.index, node.joint.n_u
            q = node.joint.advance(node.joint.neutral_q(), GENERIC_Q * (1.0 + 0.3 * np.arange(n) + 0.1 * i))
            X = geometry.placements[i] @ node.mechanics.transform(q, geometry.forms[i])
            B = _motion_transform(np.asarray(X.R, dtype=float), np.asarray(X.p, dtype=float))
            V = np.zeros(6) if node.parent == WORLD else B @ velocities[node.parent]
            if node.joint.name in rates:
                V = V + np.asarray(node.mechanics.motion_subspace(q, geometry.forms[i]), dtype=float) @ (
                    np.full(n, rates[node.joint.name])
                )
            I = _matrix(geometry.inertias[i])
            velocities.append(V)
            energy, scale = energy + float(V @ I @ V), scale + float(_bounds(I, V))
        if energy <= ZERO_INERTIA * scale:
            first, *others = (node.bodies[0] for node in tree.nodes if node.joint.name in rates)
            return ModelError(
                f"{first} and {f'{len(others)} more bodies' if others[1:] else others[0]} that it moves by gears or "
                "mimics have no mass, and carry nothing: the joint would give them infinite acceleration",
                component=leader,
            )
    return None


def _error(node: TreeLink, inertia: RigidInertia, carries: bool, cuts: Iterable[Cut]) -> ModelError:
    own = float(inertia.mass) > 0 or bool(np.any(np.asarray(inertia.J, dtype=float)))
    what = "inertia about its axis" if own else "mass"
    if carries:
        least = f" beyond {ZERO_INERTIA:g} of that of what it carries" if np.any(np.asarray(inertia.J, float)) else ""
        message = (
            f"{node.bodies[0]} has no {what}{least}, and nothing that it carries resists every freedom of the joint: "
            "it would get infinite acceleration; give it more, or put a distance constraint in place of a massless rod"
        )
    elif any(node.joint.name in cut.loop for cut in cuts):
        message = (
            f"{node.bodies[0]} has no {what} and its loop is cut behind it, where kinode needs some; "
            "give it a little, or put a distance constraint in place of a massless rod"
        )
    else:
        message = f"{node.bodies[0]} has no {what} and carries nothing: the joint would give it infinite acceleration"
    return ModelError(message, component=node.joint.name)


def _have_inertia(inertias: Sequence[RigidInertia]) -> bool:
    """Whether every link resists every motion by itself; numbers that are not finite are refused elsewhere."""
    I = np.zeros((len(inertias), 6, 6))
    if inertias:
        I[:, :3, :3] = np.array([inertia.J for inertia in inertias], dtype=float)
        moments = np.array([inertia.moment for inertia in inertias], dtype=float)
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            I[:, i, 3 + j] = I[:, 3 + j, i] = -moments[:, k]
            I[:, j, 3 + i] = I[:, 3 + i, j] = moments[:, k]
            I[:, 3 + i, 3 + i] = [inertia.mass for inertia in inertias]
    largest = abs(I).max(axis=(1, 2))
    known = (largest > 0.0) & (largest < np.inf)
    if not (largest[~known] > 0.0).all():
        return False
    return bool((np.linalg.eigvalsh(I[known] / largest[known, None, None])[:, 0] > ZERO_INERTIA).all())


def _matrix(inertia: RigidInertia) -> Array:
    """6 x 6, angular before linear."""
    whole = inertia.articulated()
    return np.asarray(np.block([[whole.J, whole.H], [whole.H.T, whole.M]]), dtype=float)


def _motion_transform(R: Array, p: Array) -> Array:
    """Velocity of a frame at R, p for that of the frame it is given in."""
    K = np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])
    return np.block([[R.T, np.zeros((3, 3))], [-R.T @ K, R.T]])


def _bounds(I: Array, S: Array) -> Any:
    """For each motion of S the inertia if its axis were the worst: by the sums of the moments and of the masses."""
    return np.trace(I[:3, :3]) * (S[:3] ** 2).sum(axis=0) + np.trace(I[3:, 3:]) * (S[3:] ** 2).sum(axis=0)


def _inverse(along: Array, bounds: Array) -> Array | None:
    """The inverse of the inertia along the freedoms of a joint; None if it does not resist each of them."""
    if not (np.isfinite(along).all() and np.isfinite(bounds).all()):
        return np.zeros_like(along)  # numbers that are not finite are refused elsewhere
    if not (bounds > 0.0).all():
        return None
    units = 1.0 / np.sqrt(bounds)
    sizes, directions = np.linalg.eigh(units[:, None] * along * units)
    if sizes[0] <= ZERO_INERTIA:
        return None
    directions = units[:, None] * directions
    return np.asarray(directions / sizes @ directions.T)


# Operations, counted on chains and branched trees: of an entry of M, of a link's articulated inertia, of a gear at it
ENTRY, LINK, GEAR = 25, 220, 35
MOST_ENTRIES = 400  # as of a chain of 28 links; straight-line code that uses all of them gets long beyond


def count_entries(topology: Topology) -> int:
    """Entries of half the mass matrix of the tree: pairs of freedoms, one of which carries the other."""
    carried: list[int] = []  # speeds between the world and each link, its own included
    entries = 0
    for node in topology.tree.nodes:
        n = node.joint.n_u if node.joint.name in topology.u_of else 0
        carried.append(n + (carried[node.parent] if node.parent >= 0 else 0))
        entries += n * carried[-1]
    return entries


def prefers_articulated_gears(topology: Topology) -> bool:
    """Whether gears take fewer operations by articulated bodies than by the mass matrix, and can be solved so.

    Each joint has to move something with mass by itself: of a geared shaft without mass only the mass matrix knows.
    """
    n, entries = len(topology.tree.nodes), count_entries(topology)
    by_matrix = entries * (ENTRY + 4 * entries / (3 * max(n, 1)))  # entries, and their elimination along the paths
    if by_matrix <= n * (LINK + GEAR * len(topology.couplings)):
        return False
    geometry = compute_geometry(topology.system, topology.tree, topology.system.nominal)
    moving = topology.u_of.keys() | topology.couplings.keys()
    return find_massless_freedom(topology.tree, geometry, moving, topology.cuts) is None
