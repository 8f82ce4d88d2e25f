"""A system as a tree of bodies in plain numbers: what URDF and MJCF can say, and a list of what they cannot.

A joint of several freedoms is a series of hinges and slides, whose axes are given where all coordinates are zero.  A
joint that the tree goes through backwards is that series in the opposite order, with opposite axes: its coordinates
stay what they are.  Only the coordinates of spherical and free joints change there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import Pose
from kinode.errors import ModelError
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.frames import Frame
from kinode.model.constraints.gear_coupling import GearConstraint, RackConstraint
from kinode.model.joints.joint import Joint
from kinode.model.system import System, joint_frame
from kinode.structure.spanning_tree import span


class JointStep(NamedTuple):
    """One hinge or slide of a joint: its name, its axis in the joint's axes, and the coordinate that it is."""

    name: str
    turns: bool
    axis: Array
    coordinate: int


class TreeJoint(NamedTuple):
    """A joint of the tree: its frame on parent and child as 4x4 matrices, and the steps between them at zero."""

    joint: Joint
    parent: str
    child: str
    on_parent: Array
    on_child: Array
    steps: tuple[JointStep, ...]
    kind: str
    """fixed, series, spherical or free"""
    backwards: bool


class RobotTree(NamedTuple):
    """The joints of the tree from the world outwards, and those that close loops."""

    joints: tuple[TreeJoint, ...]
    cuts: tuple[Joint, ...]


def make_tree(system: System) -> RobotTree:
    """The tree of a system; a joint that is no series of hinges and slides is refused by name."""
    system.check()
    steps, cuts = span(system)
    return RobotTree(tuple(_tree_joint(system, *step) for step in steps), tuple(cut.joint for cut in cuts))


def _tree_joint(system: System, joint: Joint, parent: str, child: str) -> TreeJoint:
    sides = [matrix(joint_frame(joint, side), system) for side in ("parent", "child")]
    backwards = joint.a.body != parent
    A = np.asarray(joint.axis_rotation(system.nominal, system.nominal), dtype=float)
    if backwards:
        sides.reverse()
    held = constant_motion(joint)
    if held is not None:
        X = _given_pose(system, joint, A, held)
        sides[0] = sides[0] @ (np.linalg.inv(X) if backwards else X)
    ends = joint, parent, child, sides[0], sides[1]
    if held is not None or not joint.n_u:
        return TreeJoint(*ends, (), "fixed", backwards)
    if joint.quaternion is not None:
        return TreeJoint(*ends, (), "free" if joint.n_u == 6 else "spherical", backwards)
    if not joint.has_pairs:
        raise ModelError(f"a {joint.kind} joint has no counterpart in this format", component=joint.name)
    found = []
    for k, pair in enumerate(joint.pairs(joint.form(system.nominal))):
        if pair.turns and pair.slides:
            raise ModelError(f"a {joint.kind} joint has no counterpart in this format", component=joint.name)
        axis = tidy_array(A @ np.asarray(pair.axis, dtype=float))
        name = joint.name if joint.n_u == 1 else f"{joint.name}_{joint.coordinates[k][0]}"
        found.append(JointStep(name, pair.turns, -axis + 0.0 if backwards else axis, k))
    series = tuple(reversed(found)) if backwards else tuple(found)
    return TreeJoint(*ends, series, "series", backwards)


def constant_motion(joint: Joint) -> Array | None:
    """The coordinates of a joint whose prescribed motion is numbers."""
    if joint.motion is None or any(isinstance(value, Expression) for value in joint.motion):
        return None
    return np.array([float(value) for value in joint.motion])


def _given_pose(system: System, joint: Joint, A: Array, q: Array) -> Array:
    """X_FM of a joint in the axes in which its frames are given."""
    inner = to_matrix(joint.transform(q, joint.form(system.nominal)))
    turned = np.eye(4)
    turned[:3, :3] = A
    return tidy_array(turned @ inner @ turned.T)


def initial_pose(system: System, tree_joint: TreeJoint, q: Array) -> Array:
    """The pose of the child in its parent for coordinates of the joint."""
    joint = tree_joint.joint
    A = np.asarray(joint.axis_rotation(system.nominal, system.nominal), dtype=float)
    X = _given_pose(system, joint, A, q)
    X = np.linalg.inv(X) if tree_joint.backwards else X
    pose: Array = tree_joint.on_parent @ X @ np.linalg.inv(tree_joint.on_child)
    return pose


class Following(NamedTuple):
    """follower.q = ratio * leader.q + offset, by a constraint."""

    constraint: str
    leader: str
    ratio: float
    offset: float


def find_followers(system: System) -> dict[str, Following]:
    """The joints that gears and racks make follow others."""
    followers = {}
    for gear in system.constraints.values():
        if isinstance(gear, GearConstraint | RackConstraint):
            relation = gear.relation(system)
            ratio, offset = float(system.nominal(relation.ratio)), float(system.nominal(relation.offset))
            followers[relation.follower] = Following(gear.name, relation.leader, ratio, offset)
    return followers


# -- plain numbers ---------------------------------------------------------------------------------
def matrix(frame: Frame, system: System) -> Array:
    """The pose of a frame in its body."""
    return to_matrix(frame.pose(system.nominal))


def to_matrix(pose: Pose) -> Array:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = np.asarray(pose.R, dtype=float), np.asarray(pose.p, dtype=float)
    return X


def tidy_array(values: Array) -> Array:
    """The numbers, those that are zero but for rounding as zero."""
    out = np.array(values, dtype=float)
    out[abs(out) < 1e-15] = 0.0
    return out + 0.0


def numbers(values: Any) -> str:
    """Numbers as an attribute, with all their digits."""
    return " ".join(repr(float(value) + 0.0).removesuffix(".0") for value in np.ravel(values))


def tidy_inertia(J: Array) -> Array:
    """A symmetric tensor whose rounding errors are zero."""
    J = 0.5 * (J + J.T)
    J[abs(J) < 4e-16 * abs(J).max()] = 0.0
    return J
