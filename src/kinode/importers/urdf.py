"""Importer of URDF: links become bodies, joints joints, mimic joints gears.

It reads links with inertials (rotated ones too), visuals and collisions; joints of every type; origins, axes, limits,
dynamics, mimic.  It ignores materials, transmissions, gazebo and other tags of other tools.

Where URDF leaves the meaning open, or kinode differs:

- The root link is fixed to the world.  With ``base="free"`` a free joint "base" connects them.  On a fixed base, a root
  link called world is the world itself.
- In kinode bodies and joints share one namespace of letters, digits and _.  Other names are changed; of a link and a
  joint with one name, the joint keeps it.  ``System.notes`` lists the changes.
- Angles of rpy within 1e-10 rad of a multiple of 90 degrees, and axes equally close to x, y or z, are taken as exact.
  So entries that are zero on the drawing are zero in the equations.
- Damping acts.  Friction does not act yet and is noted.  Limits are recorded.
- A link without inertial has no mass.  This is allowed if the link moves with a body that has mass.  If nothing with
  mass is left at the end of a moving joint, its acceleration is undetermined, and computing it is an error.
- An inertia that no body can have, common in such files, is kept and noted.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from kinode.errors import ModelError
from kinode.importers import xml_reader
from kinode.importers.robot_names import UrdfNames, add_body, choose_names
from kinode.importers.xml_reader import XmlElement
from kinode.model.base.bodies import Visual, inertia_matrix
from kinode.model.base.fields import unknown
from kinode.model.base.frames import ZERO, Frame, rotation_matrix
from kinode.model.base.meshes import find_mesh_file, note_undrawn
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


class UrdfJoint(NamedTuple):
    """A joint element, its name and type, and the links that it connects."""

    name: str
    kind: str
    parent: str
    child: str
    element: XmlElement


def read(
    data: bytes | str | XmlElement, base: str = "fixed", *, mimic: bool = True, name: str | None = None,
    file: str | None = None, packages: Mapping[str, str | os.PathLike[str]] | None = None,
) -> System:  # fmt: skip
    """The system in the text or root of a URDF document; ``file`` is its name, ``packages`` folders with its meshes."""
    if base not in ("fixed", "free"):
        raise ModelError(f'base is "fixed" or "free", not {base!r}')
    folders = {package: Path(folder) for package, folder in (packages or {}).items()}
    robot = data if isinstance(data, XmlElement) else xml_reader.parse(data, file)
    return _Builder(Source(file), robot, base, mimic, name, folders).build()


class _Builder:
    """Builds the system of a URDF document."""

    def __init__(
        self, source: Source, robot: XmlElement, base: str, mimic: bool, name: str | None, packages: Mapping[str, Path]
    ) -> None:
        self.source, self.robot, self.base, self.mimic, self.packages = source, robot, base, mimic, packages
        _check_document(source, robot)
        self.links = {link.name: link for link in self._links()}
        self.joints = {joint.name: joint for joint in self._joints()}
        self.root = _find_root(source, robot, self.links, self.joints)
        self.names: UrdfNames = choose_names(self.links, self.joints, world=self.root if base == "fixed" else None)
        self.system = System(name or " ".join(robot.attributes.get("name", "").split()) or "robot")
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
        self.notes.extend(note_undrawn({name: body.meshes for name, body in self.system.bodies.items()}))
        return self.system

    # -- links and joints of the document ----------------------------------------------------------
    def _links(self) -> list[UrdfLink]:
        links: dict[str, UrdfLink] = {}
        for element in self.robot.find_all("link"):
            name = self.source.name(element, "a link")
            if name in links:
                raise self.source.fail(element, _twice("link", links[name].element), name)
            links[name] = UrdfLink(name, element)
        return list(links.values())

    def _joints(self) -> list[UrdfJoint]:
        joints: dict[str, UrdfJoint] = {}
        for element in self.robot.find_all("joint"):
            name = self.source.name(element, "a joint")
            if name in joints:
                raise self.source.fail(element, _twice("joint", joints[name].element), name)
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
            joints[name] = UrdfJoint(name, kind, ends[0], ends[1], element)
        return list(joints.values())

    # -- bodies ------------------------------------------------------------------------------------
    def _add_body(self, link: UrdfLink) -> None:
        name = self.names.links[link.name]
        if name == "world":
            if link.element.children:
                self.notes.append("the root link 'world' is the world itself; its mass and visuals are left out")
            return
        fields = self._inertial(link)
        parts = link.element.find_all("visual", "collision")
        if visuals := tuple(visual for part in parts if (visual := self._visual(link, part)) is not None):
            fields["meshes"] = visuals
        try:
            add_body(self.system, name, fields)
        except ModelError as error:
            error.component = link.name
            raise error.located(file=self.source.file, line=link.element.line) from None

    def _inertial(self, link: UrdfLink) -> dict[str, Any]:
        """Mass, center of mass and inertia of a link, in its axes."""
        inertial, source = link.element.find("inertial"), self.source
        if inertial is None:
            return {}
        children = {}
        for part in ("mass", "inertia"):
            child = inertial.find(part)
            if child is None:
                raise source.fail(inertial, f"an inertial needs <{part} .../>", link.name, f"inertial.{part}")
            children[part] = child
        mass = source.number(children["mass"], "value", link.name, "inertial.mass")
        if mass < 0:
            raise source.fail(children["mass"], f"must not be negative, and is {mass:g}", link.name, "inertial.mass")
        entries = [
            source.number(children["inertia"], f"i{key}", link.name, "inertial.inertia")
            for key in ("xx", "yy", "zz", "xy", "xz", "yz")
        ]
        position, rotation = source.origin(inertial, link.name, "inertial.origin")
        if rotation is not None and any(entries):
            entries = rotate_inertia(rotation, entries)
        return {"mass": mass, "com": position, "inertia": tuple(entries)}

    def _visual(self, link: UrdfLink, part: XmlElement) -> Visual | None:
        """The visual of a <visual> or <collision> element; None if it has no geometry that is known."""
        source, field, file = self.source, part.tag, None
        geometry = part.find("geometry")
        if geometry is None or not geometry.children:
            return None
        shape = geometry.children[0]
        sizes: tuple[float, ...]
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
            self.notes.append(f"{self.names.links[link.name]}: <{shape.tag}> of a {field} is not known and not drawn")
            return None
        position, rotation = source.origin(part, link.name, f"{field}.origin")
        path = None if file is None else find_mesh_file(file, source.file, self.packages)
        turn = {} if rotation is None else {rotation[0]: rotation[1]}
        return Visual(shape.tag, sizes, position, role=part.tag, file=file, path=path, **turn)

    # -- joints ------------------------------------------------------------------------------------
    def _add_joint(self, joint: UrdfJoint) -> None:
        name, source = self.names.joints[joint.name], self.source
        position, rotation = source.origin(joint.element, joint.name, "origin")
        a = Frame(self.names.links[joint.parent], position, rotation)
        fields: dict[str, Any] = {}
        if joint.kind not in ("fixed", "floating"):
            fields["axis"] = source.axis(joint.element, joint.name)
            fields.update(self._limits(joint))
            fields.update(self._dynamics(joint, name))
        fixed = self._constant_value(joint)
        if fixed is not None:
            fields["motion"] = fixed
        try:
            self.system.joint(name, KINDS[joint.kind], a, Frame(self.names.links[joint.child]), **fields)
        except ModelError as error:
            error.component = joint.name
            raise error.located(file=source.file, line=joint.element.line) from None

    def _limits(self, joint: UrdfJoint) -> dict[str, Any]:
        element = joint.element.find("limit")
        if element is None or FREEDOMS[joint.kind] != 1:
            return {}
        limits = {}
        travels = joint.kind != "continuous"
        for key, attribute, needed in (
            ("lower", "lower", travels), ("upper", "upper", travels),
            ("effort", "effort", False), ("speed", "velocity", False),
        ):  # fmt: skip
            if attribute in element.attributes:
                value = self.source.number(element, attribute, joint.name, f"limit.{attribute}", endless=True)
                if math.isfinite(value) and (travels or key not in ("lower", "upper")):
                    limits[key] = value
            elif needed:
                limits[key] = 0.0
        if "lower" in limits and "upper" in limits and limits["lower"] > limits["upper"]:
            message = f"the lower limit {limits['lower']:g} is above the upper limit {limits['upper']:g}"
            raise self.source.fail(element, message, joint.name, "limit")
        return {"limits": limits} if limits else {}

    def _dynamics(self, joint: UrdfJoint, name: str) -> dict[str, Any]:
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
    def _mimic(self, joint: UrdfJoint) -> tuple[UrdfJoint, float, float] | None:
        """Leader, multiplier and offset of a mimic joint; None for another joint."""
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

    def _constant_value(self, joint: UrdfJoint) -> float | None:
        """The constant coordinate of a joint that mimics a fixed joint, or mimics with a multiplier of zero."""
        mimic = self._mimic(joint)
        if mimic is None or joint.kind == "fixed":
            return None
        leader, multiplier, offset = mimic
        if multiplier != 0.0 and leader.kind != "fixed":
            return None
        name = self.names.joints[joint.name]
        self.notes.append(f"{name}: it mimics {leader.name}, which cannot move it, and is fixed at {offset:g}")
        return offset

    def _add_gears(self) -> None:
        follows: dict[str, str] = {}
        for joint in self.joints.values():
            mimic = self._mimic(joint)
            if mimic is None:
                continue
            leader, multiplier, offset = mimic
            name = self.names.joints[joint.name]
            if joint.kind == "fixed":
                self.notes.append(f"{name}: it is fixed, and its mimic is left out")
                continue
            if multiplier == 0.0 or leader.kind == "fixed":
                continue
            element = joint.element.find("mimic")
            assert element is not None
            follows[joint.name] = leader.name
            chain = [joint.name]
            while chain[-1] in follows:
                chain.append(follows[chain[-1]])
                if chain[-1] == joint.name:
                    message = f"mimic joints go in a circle: {' -> '.join(chain)}"
                    raise self.source.fail(element, message, joint.name, "mimic")
            self.system.constraint(
                self.names.fresh(f"{name}_mimic"), "gear",
                input=name, output=self.names.joints[leader.name], ratio=multiplier, offset=offset,
            )  # fmt: skip

    # -- unknown elements --------------------------------------------------------------------------
    def _note_unknown(self) -> None:
        lines_of: dict[tuple[str, str], list[int]] = {}
        for part in (self.robot, *self.robot.find_all("link", "joint")):
            for child in part.children:
                if child.tag not in IGNORED[part.tag]:
                    lines_of.setdefault((part.tag, child.tag), []).append(child.line)
        for (owner, tag), lines in lines_of.items():
            more = " and others" if len(lines) > 1 else ""
            self.notes.append(f"<{tag}> in <{owner}> is not known and left out (line {lines[0]}{more})")


def _twice(what: str, first: XmlElement) -> str:
    return f"a {what} of this name stands in line {first.line} already"


def _check_document(source: Source, robot: XmlElement) -> None:
    """Check that the document is a robot, and not xacro, SDF or MJCF."""
    expanded = "this is a xacro file, which holds macros; run xacro on it first: xacro in.xacro > out.urdf"
    if robot.tag != "robot":
        known = {"sdf": "this is SDF", "mujoco": "this is a MuJoCo model"}
        format_ = known.get(robot.tag, f"the root element is <{robot.tag}>")
        raise source.fail(robot, f"{format_}; URDF starts with <robot>")
    for part in (robot, *robot.children):
        for child in part.children:
            if child.tag.startswith("xacro:"):
                raise source.fail(child, expanded)
    if robot.find("link") is None:
        raise source.fail(robot, "the robot has no links")


def _find_root(source: Source, robot: XmlElement, links: dict[str, UrdfLink], joints: dict[str, UrdfJoint]) -> str:
    """The root: the one link that is no child of a joint.  All links must be connected to it."""
    joint_to: dict[str, UrdfJoint] = {}
    for joint in joints.values():
        if joint.child in joint_to:
            other = joint_to[joint.child]
            message = f"{joint.child} is the child of {other.name} already (line {other.element.line}); URDF is a tree"
            raise source.fail(joint.element, message, joint.name, "child")
        if joint.child == joint.parent:
            raise source.fail(joint.element, f"joins {joint.child} to itself", joint.name)
        joint_to[joint.child] = joint
    roots = [name for name in links if name not in joint_to]
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
            path = [name]
            while path[-1] not in path[:-1]:
                path.append(joint_to[path[-1]].parent)
            ring = path[path.index(path[-1]) :]
            message = f"the joints go in a circle: {' <- '.join(ring)}; a URDF is a tree with one root"
            raise source.fail(joint_to[ring[0]].element, message, joint_to[ring[0]].name)
    return roots[0]


Vector3 = tuple[float, float, float]
Rotation = tuple[str, tuple[float, ...]]

# rad: an angle this close to a multiple of 90 degrees is one; files print pi/2 with 11 digits or more
EXACT = 1e-10
QUARTER = math.pi / 2


class Source:
    """Reads the attributes of elements of one file."""

    def __init__(self, file: str | None) -> None:
        self.file = file

    def fail(self, at: XmlElement, message: str, component: str | None = None, field: str | None = None) -> ModelError:
        return ModelError(message, component=component, field=field, file=self.file, line=at.line)

    def name(self, element: XmlElement, what: str) -> str:
        """The name of a link or joint."""
        name = element.attributes.get("name", "")
        if not name.strip():
            raise self.fail(element, f'{what} needs a name: <{element.tag} name="...">', field="name")
        return name

    def text(self, element: XmlElement, attribute: str, component: str, field: str) -> str:
        """A required attribute."""
        value = element.attributes.get(attribute)
        if value is None:
            raise self.fail(element, f'<{element.tag}> needs {attribute}="..."', component, field)
        return value

    def number(
        self, element: XmlElement, attribute: str, component: str, field: str,
        default: float | None = None, *, endless: bool = False,
    ) -> float:  # fmt: skip
        """A finite number; with ``endless`` infinity is allowed."""
        raw = element.attributes.get(attribute)
        if raw is None and default is not None:
            return default
        if raw is None:
            raw = self.text(element, attribute, component, field)
        return self._float(raw, element, attribute, component, field, endless)

    def numbers(
        self, element: XmlElement, attribute: str, count: int, component: str, field: str,
        default: tuple[float, ...] | None = None,
    ) -> tuple[float, ...]:  # fmt: skip
        """Numbers separated by blanks."""
        raw = element.attributes.get(attribute)
        if raw is None and default is not None:
            return default
        words = self.text(element, attribute, component, field).split()
        try:
            quick = tuple([float(word) + 0.0 for word in words])  # + 0.0: no -0.0
            if len(quick) == count and math.isfinite(sum(quick)) and "_" not in raw:  # type: ignore[operator]
                return quick
        except ValueError:
            pass
        values = tuple(self._float(word, element, attribute, component, field, False) for word in words)
        if len(values) != count:
            raise self.fail(element, f"{attribute} takes {count} numbers, not {len(values)}: {raw!r}", component, field)
        return values

    def _float(self, raw: str, element: XmlElement, attribute: str, component: str, field: str, endless: bool) -> float:
        try:
            value = float(raw)
        except ValueError:
            value = None
        if value is None or "_" in raw:
            hint = "; run xacro on the file first" if "$" in raw else ""
            raise self.fail(element, f"{attribute}: {_short(raw)} is not a number{hint}", component, field)
        if math.isnan(value) or (math.isinf(value) and not endless):
            raise self.fail(element, f"{attribute} must be finite, not {raw.strip()}", component, field)
        return value + 0.0

    def origin(self, owner: XmlElement, component: str, field: str) -> tuple[Vector3, Rotation | None]:
        """Position and rotation of an origin; None for no rotation."""
        element = owner.find("origin")
        if element is None:
            return ZERO, None  # type: ignore[return-value]
        x, y, z = self.numbers(element, "xyz", 3, component, field, (0.0, 0.0, 0.0))
        if "quat_xyzw" in element.attributes:
            return (x, y, z), self._quaternion(element, component, field)
        rpy = self.numbers(element, "rpy", 3, component, field, (0.0, 0.0, 0.0))
        if not any(rpy):
            return (x, y, z), None
        rpy = tuple(exact_angle(angle) for angle in rpy)
        return (x, y, z), ("rpy", rpy) if any(rpy) else None

    def _quaternion(self, element: XmlElement, component: str, field: str) -> Rotation:
        if "rpy" in element.attributes:
            raise self.fail(element, "give rpy or quat_xyzw, not both", component, field)
        x, y, z, w = self.numbers(element, "quat_xyzw", 4, component, field)
        length = math.hypot(x, y, z, w)
        if not abs(length - 1.0) <= 1e-3:
            message = f"quat_xyzw has length {length:.6g}; a unit quaternion is expected"
            raise self.fail(element, message, component, field)
        return "quaternion", (w / length, x / length, y / length, z / length)

    def axis(self, joint: XmlElement, component: str) -> str | Vector3:
        """A unit vector, or its name if it is x, y, z, -x, -y or -z; x by default."""
        element = joint.find("axis")
        if element is None:
            return "x"
        values = self.numbers(element, "xyz", 3, component, "axis", (1.0, 0.0, 0.0))
        length = math.hypot(*values)
        if not 1e-12 < length < math.inf:
            raise self.fail(element, f"an axis needs a direction; this one has length {length:g}", component, "axis")
        x, y, z = (value / length if abs(value) > EXACT * length else 0.0 for value in values)
        if (x, y, z).count(0.0) == 2:
            return ("-" if min(x, y, z) < 0 else "") + ("x" if x else "y" if y else "z")
        return (x, y, z)


def exact_angle(angle: float) -> float:
    """The angle, or the multiple of 90 degrees that it is within ``EXACT`` of."""
    turns = round(angle / QUARTER)
    return turns * QUARTER if abs(angle - turns * QUARTER) <= EXACT else angle


def rotate_inertia(rotation: Rotation, entries: list[float]) -> list[float]:
    """Tensor entries xx, yy, zz, xy, xz, yz, rotated from the axes of the inertial into those of the link."""
    R: Any = rotation_matrix(rotation, lambda value: value).astype(float)
    R[abs(R) < 4e-16] = 0.0
    J = R @ inertia_matrix(entries).astype(float) @ R.T
    J = 0.5 * (J + J.T)
    return [float(J[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]


def _short(raw: str) -> str:
    return repr(raw if len(raw) <= 40 else raw[:37] + "...")
