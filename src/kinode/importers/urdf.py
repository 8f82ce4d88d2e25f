"""URDF in: links become bodies, joints joints, mimic joints gears.

What is read: links with inertials (rotated ones too), visuals and collisions; joints of every type; origins, axes,
limits, dynamics, mimic.  Ignored: materials, transmissions, gazebo and other tags of other tools.

How it is read, where URDF leaves it open or kinode differs:

- The root link is welded to the world, or with ``base="free"`` carried by a free joint "base".  A root link that is
  called world is the world itself on a fixed base.
- Bodies and joints share one namespace, of letters, digits and _.  Names that do not fit are changed, joints keep
  theirs before links, and ``System.notes`` says what is called what.
- Angles of rpy within 1e-10 rad of a multiple of 90 degrees, and axes as near to x, y or z, are taken as exact, so
  that what is zero on the drawing is zero in the equations.
- Damping acts.  Friction cannot act yet and is in the notes.  Limits are recorded.
- A link without inertial has no mass.  That is fine where it is carried along, or carries something; where nothing
  with mass is left at the end of a moving joint, the accelerations do not exist and asking for them is an error.
- An inertia that no body can have, common in such files, is kept and noted.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any, NamedTuple

from kinode.errors import ModelError, unreadable
from kinode.importers import xml_reader
from kinode.importers.urdf_names import UrdfNames, choose_names
from kinode.importers.urdf_values import Source, rotate_inertia
from kinode.importers.xml_reader import XmlElement
from kinode.model.base.fields import unknown
from kinode.model.base.frames import Frame
from kinode.model.base.visuals import Visual
from kinode.model.system import System

KINDS = {
    "fixed": "fixed", "continuous": "revolute", "revolute": "revolute", "prismatic": "prismatic",
    "floating": "free", "planar": "planar",
}  # fmt: skip
FREEDOMS = {"fixed": 0, "continuous": 1, "revolute": 1, "prismatic": 1, "floating": 6, "planar": 3}
IGNORED = {
    "robot": {"link", "joint", "gazebo", "transmission", "material", "ros2_control", "sensor", "group", "mujoco",
              "drake"},
    "link": {"inertial", "visual", "collision", "contact", "sensor", "material", "gazebo", "self_collision_checking",
             "collision_checking", "self_collide"},
    "joint": {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller",
              "hardwareInterface", "gazebo"},
}  # fmt: skip


class UrdfLink(NamedTuple):
    """A link element and its name."""

    name: str
    element: XmlElement


class Pair(NamedTuple):
    """A joint element, its name and type, and the links that it joins."""

    name: str
    kind: str
    parent: str
    child: str
    element: XmlElement


def load(path: str | os.PathLike[str], base: str = "fixed", *, mimic: bool = True, name: str | None = None) -> System:
    """The system in a URDF file."""
    file = Path(path)
    try:
        data = file.read_bytes()
    except (OSError, ValueError) as error:
        raise unreadable(file, error) from None
    return read(data, base, mimic=mimic, name=name, file=str(file))


def read(
    data: bytes | str, base: str = "fixed", *, mimic: bool = True, name: str | None = None, file: str | None = None
) -> System:
    """The system in the text of a URDF file; ``file`` is named in errors."""
    if base not in ("fixed", "free"):
        raise ModelError(f'base is "fixed" or "free", not {base!r}')
    return _Builder(Source(file), xml_reader.parse(data, file), base, mimic, name).build()


class _Builder:
    """Turns a document into a system."""

    def __init__(self, source: Source, robot: XmlElement, base: str, mimic: bool, name: str | None) -> None:
        self.source, self.robot, self.base, self.mimic = source, robot, base, mimic
        _check_document(source, robot)
        self.links = {link.name: link for link in self._links()}
        self.joints = {joint.name: joint for joint in self._joints()}
        self.root = _find_root(source, robot, self.links, self.joints)
        self.names: UrdfNames = choose_names(self.links, self.joints, world=self.root if base == "fixed" else None)
        self.system = System(name or robot.attributes.get("name") or "robot")
        self.notes = self.system.notes

    def build(self) -> System:
        self.notes.extend(self.names.notes)
        for link in self.links.values():
            self._add_body(link)
        root = self.names.links[self.root]
        if root != "world":
            kind = "free" if self.base == "free" else "fixed"
            self.system.joint(self.names.base, kind, self.system.world, Frame(root))
        for joint in self.joints.values():
            self._add_joint(joint)
        if self.mimic:
            self._add_gears()
        self._note_unknown()
        return self.system

    # -- what there is -----------------------------------------------------------------------------
    def _links(self) -> list[UrdfLink]:
        found: dict[str, UrdfLink] = {}
        for element in self.robot.find_all("link"):
            name = self.source.name(element, "a link")
            if name in found:
                raise self.source.fail(element, _twice("link", found[name].element), name)
            found[name] = UrdfLink(name, element)
        return list(found.values())

    def _joints(self) -> list[Pair]:
        found: dict[str, Pair] = {}
        for element in self.robot.find_all("joint"):
            name = self.source.name(element, "a joint")
            if name in found:
                raise self.source.fail(element, _twice("joint", found[name].element), name)
            kind = self.source.text(element, "type", name, "type")
            if kind not in KINDS:
                raise self.source.fail(element, unknown("no joint of URDF has the type", kind, KINDS), name, "type")
            ends = []
            for side in ("parent", "child"):
                end = element.find(side)
                if end is None:
                    raise self.source.fail(element, f'needs <{side} link="..."/>', name, side)
                link = self.source.text(end, "link", name, side)
                if link not in self.links:
                    raise self.source.fail(end, unknown("no link is called", link, self.links), name, side)
                ends.append(link)
            found[name] = Pair(name, kind, ends[0], ends[1], element)
        return list(found.values())

    # -- bodies ------------------------------------------------------------------------------------
    def _add_body(self, link: UrdfLink) -> None:
        name = self.names.links[link.name]
        if name == "world":
            if link.element.children:
                self.notes.append("the root link 'world' is the world itself; its mass and looks are left out")
            return
        fields = self._inertial(link)
        looks = tuple(self._look(link, part) for part in link.element.find_all("visual", "collision"))
        looks = tuple(look for look in looks if look is not None)
        if looks:
            fields["meshes"] = looks
        try:
            try:
                self.system.body(name, **fields)
            except ModelError as error:
                if error.field != "inertia":
                    raise
                self.system.body(name, **fields, physical=False)
                self.notes.append(f"{name}: the inertia is kept, though {error.message}")
        except ModelError as error:
            error.component = link.name
            raise error.located(file=self.source.file, line=link.element.line) from None

    def _inertial(self, link: UrdfLink) -> dict[str, Any]:
        """Mass, center and inertia of a link, in its axes."""
        inertial, source = link.element.find("inertial"), self.source
        if inertial is None:
            return {}
        found = {}
        for part in ("mass", "inertia"):
            child = inertial.find(part)
            if child is None:
                raise source.fail(inertial, f"an inertial needs <{part} .../>", link.name, f"inertial.{part}")
            found[part] = child
        mass = source.number(found["mass"], "value", link.name, "inertial.mass")
        if mass < 0:
            raise source.fail(found["mass"], f"must not be negative, and is {mass:g}", link.name, "inertial.mass")
        entries = [
            source.number(found["inertia"], f"i{key}", link.name, "inertial.inertia")
            for key in ("xx", "yy", "zz", "xy", "xz", "yz")
        ]
        position, rotation = source.origin(inertial, link.name, "inertial.origin")
        if rotation is not None and any(entries):
            entries = rotate_inertia(rotation, entries)
        return {"mass": mass, "com": position, "inertia": tuple(entries)}

    def _look(self, link: UrdfLink, part: XmlElement) -> Visual | None:
        """What is drawn of a visual or collision; None where the file says nothing of it."""
        source, field = self.source, part.tag
        geometry = part.find("geometry")
        if geometry is None or not geometry.children:
            return None
        shape = geometry.children[0]
        sizes: tuple[float, ...]
        file = None
        if shape.tag == "mesh":
            file = shape.attributes.get("filename", "")
            sizes = source.numbers(shape, "scale", 3, link.name, f"{field}.mesh", (1.0, 1.0, 1.0))
        elif shape.tag == "box":
            sizes = source.numbers(shape, "size", 3, link.name, f"{field}.box")
        elif shape.tag in ("cylinder", "capsule"):
            sizes = tuple(
                source.number(shape, size, link.name, f"{field}.{shape.tag}") for size in ("radius", "length")
            )
        elif shape.tag == "sphere":
            sizes = (source.number(shape, "radius", link.name, f"{field}.sphere"),)
        else:
            return None
        position, rotation = source.origin(part, link.name, f"{field}.origin")
        if rotation is None:
            return Visual(shape.tag, sizes, position, role=part.tag, file=file)
        return Visual(shape.tag, sizes, position, role=part.tag, file=file, **{rotation[0]: rotation[1]})

    # -- joints ------------------------------------------------------------------------------------
    def _add_joint(self, joint: Pair) -> None:
        name, source = self.names.joints[joint.name], self.source
        position, rotation = source.origin(joint.element, joint.name, "origin")
        a = Frame(self.names.links[joint.parent], position, rotation)
        fields: dict[str, Any] = {}
        if joint.kind not in ("fixed", "floating"):
            fields["axis"] = source.axis(joint.element, joint.name)
            fields.update(self._limits(joint))
            fields.update(self._dynamics(joint, name))
        fixed = self._held_value(joint)
        if fixed is not None:
            fields["motion"] = fixed
        try:
            self.system.joint(name, KINDS[joint.kind], a, Frame(self.names.links[joint.child]), **fields)
        except ModelError as error:
            error.component = joint.name
            raise error.located(file=source.file, line=joint.element.line) from None

    def _limits(self, joint: Pair) -> dict[str, Any]:
        element = joint.element.find("limit")
        if element is None or FREEDOMS[joint.kind] != 1:
            return {}
        found = {}
        travels = joint.kind != "continuous"
        for key, attribute, needed in (
            ("lower", "lower", travels), ("upper", "upper", travels),
            ("effort", "effort", False), ("speed", "velocity", False),
        ):  # fmt: skip
            if attribute in element.attributes:
                value = self.source.number(element, attribute, joint.name, f"limit.{attribute}", endless=True)
                if math.isfinite(value) and (travels or key not in ("lower", "upper")):
                    found[key] = value
            elif needed:
                found[key] = 0.0
        if "lower" in found and "upper" in found and found["lower"] > found["upper"]:
            message = f"the lower limit {found['lower']:g} is above the upper limit {found['upper']:g}"
            raise self.source.fail(element, message, joint.name, "limit")
        return {"limits": found} if found else {}

    def _dynamics(self, joint: Pair, name: str) -> dict[str, Any]:
        element = joint.element.find("dynamics")
        if element is None:
            return {}
        values = {}
        for key in ("damping", "friction"):
            value = values[key] = self.source.number(element, key, joint.name, f"dynamics.{key}", 0.0)
            if value < 0:
                message = f"must not be negative, and is {value:g}"
                raise self.source.fail(element, message, joint.name, f"dynamics.{key}")
        if values["friction"]:
            unit = "N" if joint.kind == "prismatic" else "N*m"
            self.notes.append(f"{name}: friction of {values['friction']!r} {unit} is recorded here and does not act")
        if values["damping"] and joint.kind == "planar":
            self.notes.append(f"{name}: damping of {values['damping']!r} is left out; of a planar joint it has no unit")
            return {}
        return {"damping": values["damping"]} if values["damping"] else {}

    # -- mimic -------------------------------------------------------------------------------------
    def _mimic(self, joint: Pair) -> tuple[Pair, float, float] | None:
        """The leader of a joint, the multiplier and the offset."""
        element = joint.element.find("mimic")
        if element is None or not self.mimic:
            return None
        leader = self.source.text(element, "joint", joint.name, "mimic")
        if leader not in self.joints:
            message = unknown("no joint is called", leader, self.joints) + " (mimic=False loads the file without it)"
            raise self.source.fail(element, message, joint.name, "mimic")
        multiplier = self.source.number(element, "multiplier", joint.name, "mimic.multiplier", 1.0)
        offset = self.source.number(element, "offset", joint.name, "mimic.offset", 0.0)
        for one in (joint, self.joints[leader]):
            if FREEDOMS[one.kind] > 1:
                message = f"{one.name} is {one.kind}; only joints with one freedom follow or lead"
                raise self.source.fail(element, message, joint.name, "mimic")
        return self.joints[leader], multiplier, offset

    def _held_value(self, joint: Pair) -> float | None:
        """Where a joint stands that mimics one that does not move, or by a multiplier of zero."""
        found = self._mimic(joint)
        if found is None or joint.kind == "fixed":
            return None
        leader, multiplier, offset = found
        if multiplier != 0.0 and leader.kind != "fixed":
            return None
        name = self.names.joints[joint.name]
        self.notes.append(f"{name}: it mimics {leader.name}, which cannot move it, and is held at {offset:g}")
        return offset

    def _add_gears(self) -> None:
        follows: dict[str, str] = {}
        for joint in self.joints.values():
            found = self._mimic(joint)
            if found is None:
                continue
            leader, multiplier, offset = found
            name = self.names.joints[joint.name]
            if joint.kind == "fixed":
                self.notes.append(f"{name}: it is fixed, and its mimic is left out")
                continue
            if multiplier == 0.0 or leader.kind == "fixed":
                continue
            element = joint.element.find("mimic")
            assert element is not None
            follows[joint.name] = leader.name
            seen = [joint.name]
            while seen[-1] in follows:
                seen.append(follows[seen[-1]])
                if seen[-1] == joint.name:
                    message = f"mimic joints go in a circle: {' -> '.join(seen)}"
                    raise self.source.fail(element, message, joint.name, "mimic")
            self.system.constraint(
                self.names.fresh(f"{name}_mimic"), "gear",
                input=name, output=self.names.joints[leader.name], ratio=multiplier, offset=offset,
            )  # fmt: skip

    # -- what was left out -------------------------------------------------------------------------
    def _note_unknown(self) -> None:
        seen: dict[tuple[str, str], list[int]] = {}
        for part in (self.robot, *self.robot.find_all("link", "joint")):
            for child in part.children:
                if child.tag not in IGNORED[part.tag]:
                    seen.setdefault((part.tag, child.tag), []).append(child.line)
        for (owner, tag), lines in seen.items():
            more = " and others" if len(lines) > 1 else ""
            self.notes.append(f"<{tag}> in <{owner}> is not known and left out (line {lines[0]}{more})")


def _twice(what: str, first: XmlElement) -> str:
    return f"a {what} of this name stands in line {first.line} already"


def _check_document(source: Source, robot: XmlElement) -> None:
    """The document is a robot and not one of the things that it is often mistaken for."""
    expanded = "this is a xacro file, which holds macros; run xacro on it first: xacro in.xacro > out.urdf"
    if robot.tag != "robot":
        known = {"sdf": "this is SDF", "mujoco": "this is a MuJoCo model"}
        found = known.get(robot.tag, f"the root element is <{robot.tag}>")
        raise source.fail(robot, f"{found}; URDF starts with <robot>")
    for part in (robot, *robot.children):
        for child in part.children:
            if child.tag.startswith("xacro:"):
                raise source.fail(child, expanded)
    if robot.find("link") is None:
        raise source.fail(robot, "the robot has no links")


def _find_root(source: Source, robot: XmlElement, links: dict[str, UrdfLink], joints: dict[str, Pair]) -> str:
    """The one link that no joint carries; all others must be reached from it."""
    carrier: dict[str, Pair] = {}
    for joint in joints.values():
        if joint.child in carrier:
            other = carrier[joint.child]
            message = f"{joint.child} is the child of {other.name} already (line {other.element.line}); URDF is a tree"
            raise source.fail(joint.element, message, joint.name, "child")
        if joint.child == joint.parent:
            raise source.fail(joint.element, f"joins {joint.child} to itself", joint.name)
        carrier[joint.child] = joint
    roots = [name for name in links if name not in carrier]
    if len(roots) > 1:
        listed = ", ".join([*roots[:4], "..."] if len(roots) > 4 else roots)
        message = f"{listed} have no parent; only one link, the root, may stand without"
        raise source.fail(links[roots[1]].element, message, roots[1])
    children: dict[str, list[str]] = {name: [] for name in links}
    for joint in joints.values():
        children[joint.parent].append(joint.child)
    reached, stack = set(), roots[:]
    while stack:
        name = stack.pop()
        reached.add(name)
        stack.extend(children[name])
    for name in links:
        if name not in reached:
            way = [name]
            while way[-1] not in way[:-1]:
                way.append(carrier[way[-1]].parent)
            ring = way[way.index(way[-1]) :]
            message = f"the joints go in a circle: {' <- '.join(ring)}; a URDF is a tree with one root"
            raise source.fail(carrier[ring[0]].element, message, carrier[ring[0]].name)
    return roots[0]
