"""Trees of links and their constants: joint placements and link inertias.

The frame of a link is that of its joint, so that a joint acts about or along z at its origin.  A spanning tree that
reaches the child body of a joint first has the joint in the opposite direction (``Reversed``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, is_number, tidy
from kinode.algebra.spatial import IDENTITY_POSE, Pose, RigidInertia, exact_entries, skew
from kinode.model.base.frames import Frame, Resolve
from kinode.model.joints.joint import Joint
from kinode.model.system import System, joint_frame
from kinode.structure.number_geometry import Poses, joint_sides, link_inertias, regrouped


class Reversed:
    """A joint in the opposite direction: the parent link carries its frame M and the child link its frame F."""

    def __init__(self, joint: Joint) -> None:
        self.joint = joint
        self.n_q, self.n_u, self.kind = joint.n_q, joint.n_u, "-" + joint.kind
        self.quaternion = joint.quaternion

    def transform(self, q: Array, form: Array) -> Pose:
        return self.joint.transform(q, form).inverse()

    def motion_subspace(self, q: Array, form: Array) -> Array:
        """Velocity of F relative to M, at F and in its axes, for unit speeds: minus that of M relative to F."""
        X = self.joint.transform(q, form)
        S = self.joint.motion_subspace(q, form)
        w = X.R @ S[:3]
        v = X.R @ S[3:]
        return np.vstack([-w, skew(X.p).T @ w - v])

    def effort_wrench(self, q: Array, form: Array) -> Array:
        X = self.joint.transform(q, form)
        T = self.joint.effort_wrench(q, form)
        return -np.vstack([X.R @ T[:3] + skew(X.p) @ (X.R @ T[3:]), X.R @ T[3:]])

    def rate_map(self, q: Array, u: Array) -> Array:
        return self.joint.rate_map(q, u)


WORLD = -1  # index of the world among the nodes of a tree


@dataclass(frozen=True, eq=False)
class TreeLink:
    """A link of a tree and the joint that carries it; ``bodies`` are welded together, the joint's first."""

    index: int
    parent: int
    joint: Joint
    reversed: bool
    bodies: tuple[str, ...]
    welds: tuple[tuple[Joint, str, str], ...]  # fixed joints inside: (joint, body it comes from, body it carries)

    @cached_property
    def mechanics(self) -> Any:
        """The joint in the direction of the tree, from the parent link to this link."""
        return Reversed(self.joint) if self.reversed else self.joint

    @property
    def carrier(self) -> str:
        """The body on the tree's parent side of the joint."""
        return self.joint.b.body if self.reversed else self.joint.a.body


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree of links (``nodes``), parents before children."""

    nodes: tuple[TreeLink, ...]
    ground: tuple[tuple[Joint, str, str], ...]  # fixed joints that weld bodies to the world

    @cached_property
    def node_of(self) -> dict[str, int]:
        """Index of the node that a body belongs to."""
        node_of = {body: node.index for node in self.nodes for body in node.bodies}
        node_of["world"] = WORLD
        for _, _, body in self.ground:
            node_of[body] = WORLD
        return node_of

    @cached_property
    def levels(self) -> list[list[TreeLink]]:
        """The nodes by the number of joints between them and the world, outward."""
        depths, levels = {WORLD: -1}, list[list[TreeLink]]()
        for node in self.nodes:
            depth = depths[node.index] = depths[node.parent] + 1
            if depth == len(levels):
                levels.append([])
            levels[depth].append(node)
        return levels

    def path(self, node: int) -> list[int]:
        """The nodes between a node, itself included, and the world, which is not."""
        path = []
        while node != WORLD:
            path.append(node)
            node = self.nodes[node].parent
        return path

    def beyond(self, node: int) -> set[int]:
        """The node and all that it carries."""
        carried = {node}
        for other in self.nodes[node + 1 :]:
            if other.parent in carried:
                carried.add(other.index)
        return carried


@dataclass(frozen=True, eq=False)
class Geometry:
    """The constants of a tree, in one scalar type."""

    placements: list[Pose]  # X_PF of each node, canonical axes, in the parent's link frame
    forms: list[Array]  # joint constants of each node
    inertias: list[RigidInertia]
    bodies: dict[str, Pose]  # X_LB of each body in its link's frame
    ground: RigidInertia  # of the bodies welded to the world, about its origin


MANY_LINKS = 40  # from here on trees of plain numbers are computed as arrays


def compute_geometry(system: System, tree: Tree, resolve: Resolve) -> Geometry:
    """Placements, joint constants, inertias and body poses of a tree."""
    if len(tree.nodes) >= MANY_LINKS and not system.parameters:
        return _compute_many(system, tree)
    bodies: dict[str, Pose] = {"world": IDENTITY_POSE}
    weld = partial(_weld, bodies, resolve)
    ground = _find_ground(system, tree, resolve, bodies)
    placements, forms, inertias = [], [], []
    for node in tree.nodes:
        joint = node.joint
        C = Pose(joint.axis_rotation(resolve, system.nominal), np.zeros(3))
        sides = [joint_frame(joint, side).pose(resolve) @ C for side in ("parent", "child")]
        near, far = reversed(sides) if node.reversed else sides
        placements.append(clean(bodies[node.carrier] @ near))
        bodies[node.bodies[0]] = clean(far.inverse())
        for inner, body, other in node.welds:
            weld(inner, body, other)
        forms.append(joint.form(resolve))
        total = RigidInertia.zero()
        for name in node.bodies:
            total = total + system.bodies[name].rigid_inertia(resolve).seen_from(bodies[name])
        inertias.append(total)
    return Geometry(placements, forms, inertias, bodies, ground)


def _weld(bodies: dict[str, Pose], resolve: Resolve, joint: Joint, body: str, other: str) -> None:
    """Add the pose of a body that a fixed joint holds to another."""
    F, M = (joint_frame(joint, side).pose(resolve) for side in ("parent", "child"))
    step = F @ M.inverse() if joint.a.body == body else M @ F.inverse()
    bodies[other] = clean(bodies[body] @ step)


def _find_ground(system: System, tree: Tree, resolve: Resolve, bodies: dict[str, Pose]) -> RigidInertia:
    """The inertia of the bodies welded to the world, whose poses are added to ``bodies``."""
    ground = RigidInertia.zero()
    for joint, body, other in tree.ground:
        _weld(bodies, resolve, joint, body, other)
        ground = ground + system.bodies[other].rigid_inertia(resolve).seen_from(bodies[other])
    return ground


def _compute_many(system: System, tree: Tree) -> Geometry:
    """The geometry of a large tree of plain numbers, all links at a time."""
    nodes, resolve = tree.nodes, system.nominal
    bodies: dict[str, Pose] = {"world": IDENTITY_POSE}
    ground = _find_ground(system, tree, resolve, bodies)
    F, M = joint_sides(system, [node.joint for node in nodes])
    turned = np.array([node.reversed for node in nodes], dtype=bool)
    near = Poses(np.where(turned[:, None, None], M.R, F.R), np.where(turned[:, None], M.p, F.p))
    far = Poses(np.where(turned[:, None, None], F.R, M.R), np.where(turned[:, None], F.p, M.p))
    own = far.inverse().clean()
    bodies |= zip((node.bodies[0] for node in nodes), own.each(), strict=True)
    for node in nodes:
        for joint, body, other in node.welds:
            _weld(bodies, resolve, joint, body, other)
    carriers = Poses.of([bodies[node.carrier] for node in nodes])
    inertias = link_inertias(system, [node.bodies[0] for node in nodes], own)
    for node in nodes:
        for name in node.bodies[1:]:
            more = system.bodies[name].rigid_inertia(resolve).seen_from(bodies[name])
            inertias[node.index] = inertias[node.index] + more
    forms = [node.joint.form(resolve) for node in nodes]
    return Geometry((carriers @ near).clean().each(), forms, inertias, bodies, ground)


def regroup(tree: Tree, geometry: Geometry) -> Geometry:
    """Move to the parent the share of a link's inertia that has the same effect on either side of the joint.

    For a revolute joint that is a mass on the axis and a tensor diag(a, a, 0) about it; for a prismatic joint it is
    any tensor.  Energies, efforts and accelerations do not change, while zeros replace numbers (the base parameters of
    identification, Gautier and Khalil 1990).  Joint reactions would change: they use the inertias before regrouping.
    """
    inertias, ground = list(geometry.inertias), geometry.ground
    plain = all(
        part.dtype == float for X, I in zip(geometry.placements, inertias, strict=True)
        for part in (X.R, X.p, I.moment, I.J)
    )  # fmt: skip
    if len(tree.nodes) >= MANY_LINKS and plain:
        kinds, parents = [node.joint.kind for node in tree.nodes], [node.parent for node in tree.nodes]
        inertias, given = regrouped(kinds, parents, geometry.placements, inertias)
        return replace(geometry, inertias=inertias, ground=ground + given)
    zero = np.zeros((3, 3))
    for node in reversed(tree.nodes):
        own = inertias[node.index]
        if node.joint.kind == "revolute":
            a = own.J[1, 1]
            shared = RigidInertia(own.mass, tidy([0.0, 0.0, own.moment[2]]), tidy(diagonal(a, a, 0.0)))
            rest = RigidInertia(0.0, tidy([own.moment[0], own.moment[1], 0.0]), own.J - shared.J)
        elif node.joint.kind == "prismatic":
            shared = RigidInertia(0.0, np.zeros(3), own.J)
            rest = RigidInertia(own.mass, own.moment, zero)
        else:
            continue
        inertias[node.index] = rest
        in_parent = shared.seen_from(geometry.placements[node.index])
        if node.parent == WORLD:
            ground = ground + in_parent
        else:
            inertias[node.parent] = inertias[node.parent] + in_parent
    return replace(geometry, inertias=inertias, ground=ground)


def diagonal(a: Scalar, b: Scalar, c: Scalar) -> Array:
    """A diagonal 3x3 matrix of any scalar type."""
    return np.array([[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]], dtype=object)


def clean(X: Pose) -> Pose:
    """The pose without rounding errors of common angles in the rotation, so that traced code is shorter."""
    p = X.p.astype(float) if X.p.dtype == object and all(is_number(x) for x in X.p) else X.p
    return Pose(exact_entries(X.R), p)


def find_node_frame(tree: Tree, geometry: Geometry, frame: Frame, resolve: Resolve) -> tuple[int, Pose]:
    """The node that carries a frame, and the frame's pose in the node's link frame."""
    X = geometry.bodies[frame.body]
    return tree.node_of[frame.body], X if frame.is_plain else X @ frame.pose(resolve)
