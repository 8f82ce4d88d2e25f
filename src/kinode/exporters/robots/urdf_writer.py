"""URDF of a system: links with inertials and visuals, joints with limits and damping, mimic joints of gears.

A link's frame is where its joint is: so says URDF.  Bodies whose joint stands elsewhere have their numbers moved there.
Joints of several freedoms are chains with links without mass between them.  Loops are opened, which is listed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from kinode.algebra.scalars import Array
from kinode.exporters.robots.robot_tree import (
    ExportedSolid,
    JointStep,
    TreeJoint,
    comment,
    describe_joint,
    describe_parameters,
    describe_rest,
    describe_start,
    find_followers,
    find_solids,
    make_tree,
    numbers,
    tidy_array,
    tidy_inertia,
    warn,
)
from kinode.model.base.bodies import Body
from kinode.model.base.meshes import FILE
from kinode.model.system import System

UNLIMITED = 1e12  # N, m/s: URDF wants an effort and a speed for every limit


def write_urdf(system: System, folder: Path | None = None) -> str:
    """The text of a URDF file in a folder; what it cannot say is warned of, and listed in comments."""
    tree = make_tree(system)
    unsaid: list[str] = []
    files = MeshNames(folder)
    if tuple(system.nominal(x) for x in system.gravity) != (0.0, 0.0, -9.81):
        gravity = numbers([system.nominal(x) for x in system.gravity])
        unsaid.append(f"URDF has no gravity; that of this model is {gravity} m/s^2")
    followers = find_followers(system)
    parts = ['  <link name="world"/>\n']
    place = {"world": np.eye(4)}  # the body's frame in that of its link
    for tree_joint in tree.joints:
        place[tree_joint.child] = np.linalg.inv(tree_joint.on_child)
        parts.append(_joint(system, tree_joint, place, followers))
        parts.append(_link(system, system.bodies[tree_joint.child], place[tree_joint.child], files))
        one = len(tree_joint.steps) == 1
        said = ("damping",) if one and tree_joint.joint.damping is not None else ()
        held = ("motion",) if tree_joint.kind == "fixed" else ()
        unsaid += describe_joint(tree_joint.joint, (*said, *held))
        if tree_joint.kind == "spherical":
            unsaid.append(f"{tree_joint.joint.name}: URDF has no ball joint; it is three hinges about x, y and z")
    for joint in tree.cuts:
        unsaid.append(f"{joint.name}: URDF has no loops; this {joint.kind} joint is left out, and its loop is open")
    unsaid += describe_rest(system, [name for name, *_ in followers.values()]) + files.unsaid
    warn("URDF", system, unsaid)
    notes = comment([*unsaid, *describe_parameters(system), *describe_start(system, ("q", "guess", "u"))])
    return f'<?xml version="1.0"?>\n<robot name={quoteattr(system.name)}>\n{notes}{"".join(parts)}</robot>\n'


# -- joints ----------------------------------------------------------------------------------------
def _joint(system: System, tree_joint: TreeJoint, place: dict[str, Array], followers: dict[str, Any]) -> str:
    """A joint, or the chain of joints and links that it is made of."""
    joint, X = tree_joint.joint, place[tree_joint.parent] @ tree_joint.on_parent
    parent, child = tree_joint.parent, tree_joint.child
    if tree_joint.kind in ("fixed", "free"):
        kind = {"fixed": "fixed", "free": "floating"}[tree_joint.kind]
        return _element(joint.name, kind, parent, child, X, "")
    steps = tree_joint.steps
    if tree_joint.kind == "spherical":
        steps = tuple(JointStep(f"{joint.name}_{x}", True, np.eye(3)[k], k) for k, x in enumerate("xyz"))
    text = ""
    for k, step in enumerate(steps):
        last = k == len(steps) - 1
        end = child if last else f"{child}_{step.name}"
        inner = f"    <axis xyz={quoteattr(numbers(step.axis))}/>\n"
        if len(steps) == 1:
            inner += _details(system, tree_joint, followers)
        text += _element(step.name, _kind(step, tree_joint), parent, end, X, inner)
        text += "" if last else f"  <link name={quoteattr(end)}/>\n"
        parent, X = end, np.eye(4)
    return text


def _kind(step: JointStep, tree_joint: TreeJoint) -> str:
    """The type of a joint; only those that have ends are called revolute."""
    limits = tree_joint.joint.limits
    ends = len(tree_joint.steps) == 1 and limits is not None and None not in (limits.lower, limits.upper)
    if not step.turns:
        return "prismatic"
    return "revolute" if ends else "continuous"


def _details(system: System, tree_joint: TreeJoint, followers: dict[str, Any]) -> str:
    """Limits, damping and mimic of a joint of one freedom."""
    joint, text = tree_joint.joint, ""
    slides = not tree_joint.steps[0].turns
    limits = joint.limits
    if limits is not None or slides:
        given = {
            "lower": None if limits is None else limits.lower, "upper": None if limits is None else limits.upper,
            "effort": None if limits is None else limits.effort, "velocity": None if limits is None else limits.speed,
        }  # fmt: skip
        known = {name: system.nominal(value) for name, value in given.items() if value is not None}
        if slides:
            known = {"lower": -UNLIMITED, "upper": UNLIMITED} | known
        known = known | {name: UNLIMITED for name in ("effort", "velocity") if name not in known}
        text += "    <limit " + " ".join(f"{name}={quoteattr(numbers(x))}" for name, x in known.items()) + "/>\n"
    if joint.damping is not None:
        text += f"    <dynamics damping={quoteattr(numbers(system.nominal(joint.damping[0])))}/>\n"
    if joint.name in followers:
        _, leader, ratio, offset = followers[joint.name]
        values = f"multiplier={quoteattr(numbers(ratio))} offset={quoteattr(numbers(offset))}"
        text += f"    <mimic joint={quoteattr(leader)} {values}/>\n"
    return text


def _element(name: str, kind: str, parent: str, child: str, X: Array, inner: str) -> str:
    ends = f"    <parent link={quoteattr(parent)}/>\n    <child link={quoteattr(child)}/>\n"
    head = f'  <joint name={quoteattr(name)} type="{kind}">\n'
    return f"{head}{_origin(X, '    ')}{ends}{inner}  </joint>\n"


# -- links -----------------------------------------------------------------------------------------
class MeshNames:
    """Names of mesh files as they are seen from the folder of the exported file; ``unsaid`` is what it misses."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = None if folder is None else os.path.abspath(folder)
        self.unsaid: list[str] = []

    def name(self, body: str, solid: ExportedSolid) -> str:
        """The name to write; that of the model where it names a package, or where no folder is known."""
        given = solid.file or ""
        if "://" in given and not given.startswith(FILE):
            return given
        if solid.path is None:
            self.unsaid.append(f"{body}: its mesh {given or 'without a file'} was not found")
            return given
        if self.folder is None:
            return given
        try:
            seen = Path(os.path.relpath(solid.path, self.folder)).as_posix()
        except ValueError:  # another drive of Windows
            seen = Path(os.path.abspath(solid.path)).as_posix()
        if seen.startswith("../") or Path(seen).is_absolute():
            self.unsaid.append(f"{body}: its mesh lies outside the folder of the file, at {seen}")
        return seen


def _link(system: System, body: Body, X: Array, files: MeshNames) -> str:
    """A link with its inertial and visuals; X is the pose of the body in the link's frame."""
    text = f"  <link name={quoteattr(body.name)}>\n"
    mass = system.nominal(body.mass)
    if mass or any(system.nominal(x) for x in body.inertia):
        J = np.asarray(body.central_inertia(system.nominal), dtype=float)
        com = np.array([system.nominal(x) for x in body.center_of_mass])
        J, com = tidy_inertia(X[:3, :3] @ J @ X[:3, :3].T), tidy_array(X[:3, :3] @ com + X[:3, 3])
        entries = {"ixx": J[0, 0], "iyy": J[1, 1], "izz": J[2, 2], "ixy": J[0, 1], "ixz": J[0, 2], "iyz": J[1, 2]}
        listed = " ".join(f"{name}={quoteattr(numbers(value))}" for name, value in entries.items())
        text += f"    <inertial>\n      <origin xyz={quoteattr(numbers(com))}/>\n"
        text += f"      <mass value={quoteattr(numbers(mass))}/>\n      <inertia {listed}/>\n    </inertial>\n"
    for solid in find_solids(system, body):
        text += _visual(body.name, solid, X, files)
    return text + "  </link>\n"


def _visual(body: str, solid: ExportedSolid, X: Array, files: MeshNames) -> str:
    if solid.kind == "mesh":
        shape = f"<mesh filename={quoteattr(files.name(body, solid))} scale={quoteattr(numbers(solid.sizes))}/>"
    elif solid.kind == "box":
        shape = f"<box size={quoteattr(numbers(solid.sizes))}/>"
    elif solid.kind == "sphere":
        shape = f"<sphere radius={quoteattr(numbers(solid.sizes))}/>"
    else:
        radius, length = solid.sizes
        shape = f"<{solid.kind} radius={quoteattr(numbers(radius))} length={quoteattr(numbers(length))}/>"
    inner = f"{_origin(X @ solid.pose, '      ')}      <geometry>{shape}</geometry>\n"
    return f"    <{solid.role}>\n{inner}    </{solid.role}>\n"


def _origin(X: Array, indent: str) -> str:
    X = tidy_array(X)
    if np.array_equal(X, np.eye(4)):
        return ""
    roll, pitch = np.arctan2(X[2, 1], X[2, 2]), np.arctan2(-X[2, 0], np.hypot(X[0, 0], X[1, 0]))
    yaw = np.arctan2(X[1, 0], X[0, 0])
    if np.hypot(X[0, 0], X[1, 0]) < 1e-9:  # pitch of 90 degrees: roll and yaw turn about one axis
        roll, yaw = 0.0, np.arctan2(-X[0, 1], X[1, 1])
    turned = f" rpy={quoteattr(numbers([roll, pitch, yaw]))}" if any((roll, pitch, yaw)) else ""
    return f"{indent}<origin xyz={quoteattr(numbers(X[:3, 3]))}{turned}/>\n"
