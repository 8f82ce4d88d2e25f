"""A system as a tree of bodies in plain numbers: what URDF and MJCF can say, and in sentences what they cannot.

A joint of several freedoms is a series of hinges and slides, whose axes are given where all coordinates are zero.  A
joint that the tree goes through backwards is that series in the opposite order, with opposite axes: its coordinates
stay what they are.  Only the coordinates of spherical and free joints change there.

What a body is drawn with, its shape and its meshes alike, are solids at a place.  Laws, friction by load, circuits and
controllers cannot be said.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import Pose, rotation_from_quaternion, rotation_from_rpy
from kinode.errors import ExportWarning, ModelError, caller_depth
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.bodies import Body
from kinode.model.base.frames import Frame
from kinode.model.base.meshes import TURNS, find_file_conventions, find_mesh_path
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
    turned = pose_matrix(A, np.zeros(3))
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
    """A pose as a 4x4 matrix."""
    return pose_matrix(pose.R, pose.p)


def pose_matrix(R: Array, p: object) -> Array:
    """A rotation and a position as a 4x4 matrix."""
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = np.asarray(R, dtype=float), np.asarray(p, dtype=float)
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


# Turns that bring z to an axis.
TO_AXIS = {
    "x": np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "z": np.eye(3),
}
THIN = 0.01  # radius of a thin rod, of its length


class ExportedSolid(NamedTuple):
    """A box, cylinder, capsule, sphere or mesh, with its pose in the body as a 4x4 matrix."""

    kind: str
    sizes: tuple[float, ...]
    pose: Array
    role: str = "visual"
    file: str | None = None
    """The name of a mesh file, as the model has it."""
    path: str | None = None
    """Where that file is; None where it was not found."""


def find_solids(system: System, body: Body) -> list[ExportedSolid]:
    """The solids of a body."""
    solids = [] if body.shape is None else [_shape(system, body)]
    for visual in body.meshes:
        R = rotation_from_rpy(list(visual.rpy)) if visual.quaternion is None else None
        R = rotation_from_quaternion(np.array(visual.quaternion)) if R is None else R
        solids.append(
            ExportedSolid(
                visual.kind,
                visual.sizes,
                pose_matrix(np.asarray(R, dtype=float), visual.at),
                visual.role,
                visual.file,
                visual.path,
            )
        )
    return solids


def _shape(system: System, body: Body) -> ExportedSolid:
    shape = body.shape
    assert shape is not None
    sizes: dict[str, Any] = {
        name: value if isinstance(value, str) else system.nominal(value) for name, value in shape.sizes
    }
    at = [system.nominal(x) for x in shape.at]
    if shape.kind == "box":
        return ExportedSolid("box", (sizes["x"], sizes["y"], sizes["z"]), pose_matrix(np.eye(3), at))
    if shape.kind == "sphere":
        return ExportedSolid("sphere", (sizes["radius"],), pose_matrix(np.eye(3), at))
    if shape.mesh is not None:
        return _mesh(sizes, at)
    R = TO_AXIS[sizes["axis"]]
    if shape.kind == "rod":
        middle = np.array(at) + 0.5 * sizes["length"] * R[:, 2]
        return ExportedSolid("cylinder", (THIN * sizes["length"], sizes["length"]), pose_matrix(R, middle))
    return ExportedSolid("cylinder", (sizes["radius"], sizes["length"]), pose_matrix(R, at))


def _mesh(sizes: dict[str, Any], at: object) -> ExportedSolid:
    """A mesh as readers of robots take it: in the axes of its file, scaled beside the unit that the file states."""
    own = find_file_conventions(sizes["file"])
    scale = sizes["scale"] / own.unit
    pose, path = pose_matrix(TURNS[sizes.get("up", own.up)], at), str(find_mesh_path(sizes["file"]))
    return ExportedSolid("mesh", (scale,) * 3, pose, file=str(sizes["file"]), path=path)


def describe_joint(joint: Joint, said: Iterable[str]) -> list[str]:
    """The fields of a joint that act and are not among those that the file says."""
    words = {
        "effort": "its effort law", "stiffness": "its spring", "damping": "its damping", "friction": "its friction",
        "stop": "its stop", "backlash": "its backlash", "motion": "its prescribed motion",
        "speed": "its prescribed speed",
    }  # fmt: skip
    freed = {"motion": ", and it moves freely", "speed": ", and it moves freely"}
    return [
        f"{joint.name}: {text} is left out{freed.get(field, '')}"
        for field, text in words.items()
        if getattr(joint, field) is not None and field not in said
    ]


def describe_rest(system: System, said: Iterable[str]) -> list[str]:
    """Constraints, elements and signals that the file does not say."""
    said = set(said)
    lines = [
        f"{component.name}: {component.kind or 'an element'} is left out"
        for section in (system.constraints, system.elements)
        for component in section.values()
        if component.name not in said
    ]
    if system.signals:
        lines.append(f"signals are left out: {', '.join(system.signals)}")
    return lines


def describe_parameters(system: System) -> list[str]:
    """What became of parameters and of the values of inputs: no loss of the mechanism, and said in a comment alone."""
    lines = [f"parameters are written as numbers: {', '.join(system.parameters)}"] if system.parameters else []
    values = {name: float(system.nominal(given.value)) for name, given in system.inputs.items()}
    set_ones = [f"{name} = {value:g}" for name, value in values.items() if value != 0.0]
    return [*lines, *([f"values of inputs are not written: {', '.join(set_ones)}"] if set_ones else [])]


def describe_start(system: System, fields: Iterable[str]) -> list[str]:
    """Joints whose values at the start (of the fields q, guess, u) the file does not have: for a comment alone."""
    wanted = tuple(fields)
    named = [
        joint.name
        for joint in system.joints.values()
        if any(value != 0.0 for field in wanted for value in _numbers(system, getattr(joint, field, None)))
    ]
    words = "speeds" if wanted == ("u",) else "coordinates and speeds"
    return [f"{words} at the start are not written: {', '.join(named)}"] if named else []


def _numbers(system: System, values: object) -> list[float]:
    """The given values of a joint in numbers; laws by their nominal values."""
    return [float(system.nominal(value)) for value in values] if isinstance(values, tuple | list) else []


def comment(lines: Iterable[str], indent: str = "  ") -> str:
    """Sentences as an XML comment, which may not hold two hyphens in a row."""
    return "".join(f"{indent}<!-- {line.replace('--', '- -')} -->\n" for line in lines)


def warn(form: str, system: System, lines: list[str]) -> None:
    """A warning that names what is left out."""
    if lines:
        more = f"; and {len(lines) - 6} more" if len(lines) > 6 else ""
        message = f"{form} cannot say all of {system.name} (comments in the file list it): {'; '.join(lines[:6])}{more}"
        warnings.warn(message, ExportWarning, stacklevel=caller_depth())
