"""Trees of links and their constant numbers: where joints sit, what links weigh.

A link's frame is its joint's, so that joints act about or along z at its origin.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, is_number
from kinode.algebra.spatial import IDENTITY_POSE, Pose, RigidInertia, vector
from kinode.model.base.frames import Frame, Resolve
from kinode.model.joints.joint import Joint
from kinode.model.system import System, joint_frame
from kinode.structure.reversed_joint import Reversed

WORLD = -1


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
        """The joint as the tree walks it."""
        return Reversed(self.joint) if self.reversed else self.joint

    @property
    def carrier(self) -> str:
        """The body on the tree's parent side of the joint."""
        return self.joint.b.body if self.reversed else self.joint.a.body


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes, parents before children, and the links that bodies belong to."""

    nodes: tuple[TreeLink, ...]
    ground: tuple[tuple[Joint, str, str], ...]  # fixed joints that weld bodies to the world

    @cached_property
    def node_of(self) -> dict[str, int]:
        """Index of the node that a body belongs to."""
        found = {body: node.index for node in self.nodes for body in node.bodies}
        found["world"] = WORLD
        for _, _, body in self.ground:
            found[body] = WORLD
        return found


@dataclass(frozen=True, eq=False)
class Geometry:
    """The constant numbers of a tree, in one kind of number."""

    placements: list[Pose]  # X_PF of each node, canonical axes, in the parent's link frame
    forms: list[Array]
    inertias: list[RigidInertia]
    bodies: dict[str, Pose]  # X_LB of each body in its link's frame
    ground: RigidInertia  # what rests in the world, about its origin


def compute_geometry(system: System, tree: Tree, resolve: Resolve) -> Geometry:
    """Placements, inertias and body poses; a link's frame is its joint's, so that joints act about z at its origin."""
    bodies: dict[str, Pose] = {"world": IDENTITY_POSE}

    def weld(joint: Joint, body: str, other: str) -> None:
        F, M = (joint_frame(joint, side).pose(resolve) for side in ("parent", "child"))
        step = F @ M.inverse() if joint.a.body == body else M @ F.inverse()
        bodies[other] = clean(bodies[body] @ step)

    ground = RigidInertia.zero()
    for joint, body, other in tree.ground:
        weld(joint, body, other)
        ground = ground + system.bodies[other].rigid_inertia(resolve).seen_from(bodies[other])
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


def regroup(tree: Tree, geometry: Geometry) -> Geometry:
    """Hand on to the parent what of a link's inertia cannot tell the link from its parent.

    A mass on the axis of a hinge, and a tensor diag(a, a, 0) about it, move alike on either side of the
    hinge; so does any tensor on either side of a slide.  Every energy, effort and acceleration stays what
    it is, while zeros take the place of numbers (the base parameters of identification, Gautier and
    Khalil 1990).  Joint reactions would change: they are computed from the inertias as they are.
    """
    inertias, ground = list(geometry.inertias), geometry.ground
    zero = np.zeros((3, 3))
    for node in reversed(tree.nodes):
        own = inertias[node.index]
        if node.joint.kind == "revolute":
            a = own.J[1, 1]
            shared = RigidInertia(own.mass, vector(0.0, 0.0, own.moment[2]), diagonal(a, a, 0.0))
            rest = RigidInertia(0.0, vector(own.moment[0], own.moment[1], 0.0), own.J - shared.J)
        elif node.joint.kind == "prismatic":
            shared = RigidInertia(0.0, np.zeros(3), own.J)
            rest = RigidInertia(own.mass, own.moment, zero)
        else:
            continue
        inertias[node.index] = rest
        handed = shared.seen_from(geometry.placements[node.index])
        if node.parent == WORLD:
            ground = ground + handed
        else:
            inertias[node.parent] = inertias[node.parent] + handed
    return replace(geometry, inertias=inertias, ground=ground)


def diagonal(a: Scalar, b: Scalar, c: Scalar) -> Array:
    """A diagonal 3x3 matrix of any kind of number."""
    return np.array([[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]], dtype=object)


def clean(X: Pose) -> Pose:
    """The pose with rounding noise in a rotation of plain numbers set to exact 0 and 1, so that it folds."""
    R = X.R
    if R.dtype == object and all(is_number(x) for x in R.flat):
        R = R.astype(float)
    if R.dtype != object:
        R = R.copy()
        R[abs(R) < 4e-16] = 0.0
        for sign in (1.0, -1.0):
            R[abs(R - sign) < 4e-16] = sign
    p = X.p.astype(float) if X.p.dtype == object and all(is_number(x) for x in X.p) else X.p
    return Pose(R, p)


def find_node_frame(tree: Tree, geometry: Geometry, frame: Frame, resolve: Resolve) -> tuple[int, Pose]:
    """The node that carries a frame, and the frame's pose in the node's link frame."""
    X = geometry.bodies[frame.body]
    return tree.node_of[frame.body], X if frame.is_plain else X @ frame.pose(resolve)
