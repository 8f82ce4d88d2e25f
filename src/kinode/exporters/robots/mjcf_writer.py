"""MJCF of a system: bodies with their frames, joints in series, springs, armatures, gears, loops, a keyframe.

Loops and gears become equalities, which MuJoCo softens.  A revolute loop joint is two points of its axis that are
connected, a spherical one is one point, a fixed one a weld.  Forces of inputs along a joint become motors.
Contacts are switched off, since kinode has none, and so are recorded limits, which do not act in kinode either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import quaternion_of
from kinode.exporters.robots.robot_tree import (
    Following,
    JointStep,
    TreeJoint,
    comment,
    describe_joint,
    describe_parameters,
    describe_rest,
    describe_start,
    find_followers,
    find_solids,
    initial_pose,
    make_tree,
    matrix,
    numbers,
    pose_matrix,
    tidy_array,
    tidy_inertia,
    warn,
)
from kinode.expressions.printer import write as write_law
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.bodies import Body
from kinode.model.base.frames import Frame
from kinode.model.elements.spring import Spring
from kinode.model.joints.joint import Joint
from kinode.model.network.rotational import ShaftInertia
from kinode.model.network.translational import SlideMass
from kinode.model.system import System, joint_frame

LEAST = 1.5e-15  # kg, kg*m^2: MuJoCo refuses bodies that move with less than 1e-15
ROUNDING = 1e-9
SPREAD = 0.1  # m between the points of an axis that are connected
_MOTOR = re.compile(r"(?:(-?[\d.]+(?:e[-+]?\d+)?)\*)?(-)?([A-Za-z_][\w.]*)\Z")


def write_mjcf(system: System) -> str:
    """The text of an MJCF file; what it cannot say is warned of, and listed in comments."""
    return _MjcfWriter(system).write()


class _MjcfWriter:
    """Collects the sections of a document."""

    def __init__(self, system: System) -> None:
        self.system, self.tree = system, make_tree(system)
        self.unsaid: list[str] = []
        self.said: set[str] = set()
        self.sites: dict[str, list[str]] = {}
        self.actuators: list[str] = []
        self.equalities: list[str] = []
        self.tendons: list[str] = []
        self.start: list[float] = []
        self.children: dict[str, list[TreeJoint]] = {}
        for tree_joint in self.tree.joints:
            self.children.setdefault(tree_joint.parent, []).append(tree_joint)
        self.armatures = self._find_armatures()

    def write(self) -> str:
        system = self.system
        self._add_frames()
        for joint in self.tree.cuts:
            self._close(joint)
        for follower, following in find_followers(system).items():
            self._couple(follower, following)
        self._add_springs()
        bodies = "".join(self._body(tree_joint, "    ") for tree_joint in self.children.get("world", []))
        world = "".join(f"    {site}\n" for site in self.sites.get("world", []))
        self.unsaid += describe_rest(system, self.said)
        warn("MJCF", system, self.unsaid)
        gravity = quoteattr(numbers([system.nominal(x) for x in system.gravity]))
        head = f"<mujoco model={quoteattr(system.name)}>\n{comment([*self.unsaid, *self._comments()])}"
        head += '  <compiler angle="radian" autolimits="false" balanceinertia="true"/>\n'
        head += f'  <option gravity={gravity}>\n    <flag contact="disable"/>\n  </option>\n'
        body = f"  <worldbody>\n{world}{bodies}  </worldbody>\n"
        rest = "".join(
            f"  <{tag}>\n{''.join(f'    {line}{chr(10)}' for line in lines)}  </{tag}>\n"
            for tag, lines in (("tendon", self.tendons), ("equality", self.equalities), ("actuator", self.actuators))
            if lines
        )
        return f"{head}{body}{rest}{self._keyframe()}</mujoco>\n"

    def _comments(self) -> list[str]:
        """What is no loss of a mechanism, and said in comments alone."""
        partial = [
            joint.name
            for joint in self.system.joints.values()
            if joint.limits is not None
            and (joint.n_u > 1 or None in (joint.limits.lower, joint.limits.upper) or joint.limits.effort is not None
                 or joint.limits.speed is not None)
        ]  # fmt: skip
        limits = [f"limits are written in part, or not: {', '.join(partial)}"] if partial else []
        return [*describe_parameters(self.system), *describe_start(self.system, ("u",)), *limits]

    # -- bodies ------------------------------------------------------------------------------------
    def _body(self, tree_joint: TreeJoint, indent: str) -> str:
        """A body with its joints, and all that hang on it."""
        body = self.system.bodies[tree_joint.child]
        X = tree_joint.on_parent @ np.linalg.inv(tree_joint.on_child)
        joints = self._joints(tree_joint)
        inner = [*joints, *self._inertial(body, bool(joints)), *self._geoms(body), *self.sites.get(body.name, [])]
        lines = "".join(f"{indent}  {line}\n" for line in inner)
        below = "".join(self._body(child, indent + "  ") for child in self.children.get(body.name, []))
        return f"{indent}<body name={quoteattr(body.name)}{placed(X)}>\n{lines}{below}{indent}</body>\n"

    def _inertial(self, body: Body, moves: bool) -> list[str]:
        system = self.system
        mass = system.nominal(body.mass)
        J = tidy_inertia(np.asarray(body.central_inertia(system.nominal), dtype=float))
        if not (moves or mass or J.any()):
            return []
        com = [system.nominal(x) for x in body.center_of_mass]
        moments, R = principal_axes(J)
        if moves or J.any():
            moments, mass = np.maximum(moments, LEAST), max(mass, LEAST)
        low, middle, high = np.sort(moments)
        if high > low + middle and high <= (low + middle) * (1.0 + ROUNDING):  # a plate, but for rounding
            moments[np.argmax(moments)] = np.nextafter(low + middle, 0.0)
        elif high > low + middle:
            listed = numbers(np.sort(np.linalg.eigvalsh(J)))
            self.unsaid.append(
                f"{body.name}: no body has its inertia, of the moments {listed}; MuJoCo takes their mean"
            )
        text = f'<inertial{placed(pose_matrix(R, com))} mass="{numbers(mass)}" diaginertia="{numbers(moments)}"/>'
        return [text if "pos=" in text else text.replace("<inertial", '<inertial pos="0 0 0"')]

    def _geoms(self, body: Body) -> list[str]:
        lines = []
        for solid in find_solids(self.system, body):
            if solid.kind == "mesh":
                self.unsaid.append(f"{body.name}: the mesh {solid.file} is left out")
                continue
            sizes = list(solid.sizes)
            if solid.kind == "box":
                sizes = [0.5 * x for x in sizes]
            elif solid.kind != "sphere":
                sizes[1] *= 0.5
            drawn = f'type="{solid.kind}" size="{numbers(sizes)}"{placed(solid.pose)}'
            lines.append(f'<geom {drawn} mass="0" contype="0" conaffinity="0"/>')
        return lines

    # -- joints ------------------------------------------------------------------------------------
    def _joints(self, tree_joint: TreeJoint) -> list[str]:
        joint, X = tree_joint.joint, tree_joint.on_child
        lines = []
        said = ["damping", "limits"]
        if tree_joint.kind == "fixed":
            self.unsaid += describe_joint(joint, ("motion", *said))
            return []
        if tree_joint.kind == "free" and tree_joint.parent == "world":
            lines = [f"<freejoint name={quoteattr(joint.name)}/>"]
            said.remove("damping")
        elif tree_joint.kind in ("spherical", "free"):
            slides = [JointStep(f"{joint.name}_{x}", False, np.eye(3)[k], k) for k, x in enumerate("xyz")]
            for step in slides if tree_joint.kind == "free" else []:
                lines.append(self._step(tree_joint, step, X, ""))
            damping = self._number(joint.damping, 3 if tree_joint.kind == "free" else 0)
            same = joint.damping is None or len({self._number(joint.damping, k) for k in range(joint.n_u)}) == 1
            said = said if same else ["limits"]
            acts = f' damping="{numbers(damping)}"' if damping and same else ""
            at = numbers(tidy_array(X[:3, 3]))
            lines.append(f'<joint name={quoteattr(joint.name)} type="ball" pos="{at}"{acts}/>')
            if tree_joint.backwards:
                self.unsaid.append(f"{joint.name}: its coordinates are those of the opposite direction")
        for step in tree_joint.steps:
            acts, extra = self._acts(joint, step)
            lines.append(self._step(tree_joint, step, X, acts))
            said += extra
        self.unsaid += describe_joint(joint, said)
        self._note_start(tree_joint)
        return lines

    def _step(self, tree_joint: TreeJoint, step: JointStep, X: Array, acts: str) -> str:
        axis, at = tidy_array(X[:3, :3] @ step.axis), tidy_array(X[:3, 3])
        kind = "hinge" if step.turns else "slide"
        return f'<joint name={quoteattr(step.name)} type="{kind}" axis="{numbers(axis)}" pos="{numbers(at)}"{acts}/>'

    def _acts(self, joint: Joint, step: JointStep) -> tuple[str, list[str]]:
        """What acts along one coordinate, as attributes, and the fields that are said by it."""
        k, text, said = step.coordinate, "", ["stiffness"]
        damping, stiffness = self._number(joint.damping, k), self._number(joint.stiffness, k)
        text += f' damping="{numbers(damping)}"' if damping else ""
        if stiffness:
            text += f' stiffness="{numbers(stiffness)}" springref="{numbers(self._number(joint.neutral, k))}"'
        if joint.name in self.armatures:
            text += f' armature="{numbers(self.armatures[joint.name])}"'
        friction = joint.friction
        if friction is not None and set(friction.given()) == {"effort"} and joint.n_u == 1:
            text += f' frictionloss="{numbers(self.system.nominal(friction.effort or 0.0))}"'
            said.append("friction")
        ends = joint.limits
        if joint.n_u == 1 and ends is not None and ends.lower is not None and ends.upper is not None:
            span = [self.system.nominal(ends.lower), self.system.nominal(ends.upper)]
            text += f' range="{numbers(span)}" limited="false"'
        if self._add_motor(joint, step):
            said.append("effort")
        return text, said

    def _add_motor(self, joint: Joint, step: JointStep) -> bool:
        """A motor for an effort that is an input times a number; whether the effort is said."""
        if joint.effort is None:
            return True
        law = joint.effort[step.coordinate]
        if not isinstance(law, Expression):
            return float(law) == 0.0
        match = _MOTOR.match(write_law(law))
        if match is None or match[3] not in self.system.inputs:
            return False
        gear = float(match[1] or 1.0) * (-1.0 if match[2] else 1.0)
        taken = any(f"name={quoteattr(match[3])}" in line for line in self.actuators)
        name = f"{match[3]}_{step.name}" if taken else match[3]
        self.actuators.append(f'<motor name={quoteattr(name)} joint={quoteattr(step.name)} gear="{numbers(gear)}"/>')
        return True

    def _number(self, values: Iterable[object] | None, k: int) -> float:
        return 0.0 if values is None else float(self.system.nominal(list(values)[k]))  # type: ignore[arg-type]

    def _find_armatures(self) -> dict[str, float]:
        """Rotors and masses at joints of one freedom, which MJCF has as armature."""
        found: dict[str, float] = {}
        for part in self.system.elements.values():
            if isinstance(part, ShaftInertia | SlideMass):
                joint, value = (part.shaft, part.inertia) if isinstance(part, ShaftInertia) else (part.slide, part.mass)
                if joint in self.system.joints and self.system.joints[joint].n_u == 1:
                    found[joint] = found.get(joint, 0.0) + self.system.nominal(value)
                    self.said.add(part.name)
        return found

    # -- sites, springs, loops, gears ----------------------------------------------------------------
    def _add_frames(self) -> None:
        for body in (self.system.world, *self.system.bodies.values()):
            for frame in body.frames:
                self._site(f"{body.name}.{frame.name}", frame)

    def _site(self, name: str, frame: Frame, shift: Array | None = None) -> str:
        """A site on a body, at a frame or a place in it."""
        X = matrix(frame, self.system)
        if shift is not None:
            X = X.copy()
            X[:3, 3] += X[:3, :3] @ shift
        self.sites.setdefault(frame.body, []).append(f"<site name={quoteattr(name)}{placed(X)}/>")
        return name

    def _add_springs(self) -> None:
        """Springs between points are spatial tendons."""
        for spring in self.system.elements.values():
            if isinstance(spring, Spring) and spring.tension is None:
                ends = [self._site(f"{spring.name}.{side}", getattr(spring, side)) for side in "ab"]
                values = {"stiffness": spring.stiffness, "damping": spring.damping, "springlength": spring.free_length}
                given = " ".join(f'{key}="{numbers(self.system.nominal(value))}"' for key, value in values.items())
                path = "".join(f"<site site={quoteattr(end)}/>" for end in ends)
                self.tendons.append(f"<spatial name={quoteattr(spring.name)} {given}>{path}</spatial>")
                self.said.add(spring.name)

    def _close(self, joint: Joint) -> None:
        """A joint that closes a loop as equalities between sites."""
        tag = {"fixed": "weld", "spherical": "connect", "revolute": "connect"}.get(joint.kind)
        if tag is None:
            self.unsaid.append(f"{joint.name}: MJCF cannot close a loop by a {joint.kind} joint; its loop is open")
            return
        A = np.asarray(joint.axis_rotation(self.system.nominal, self.system.nominal), dtype=float)
        shifts = [np.zeros(3)] if joint.kind != "revolute" else [np.zeros(3), SPREAD * A[:, 2]]
        for k, shift in enumerate(shifts):
            name = joint.name if k == 0 else f"{joint.name}.axis"
            sites = [self._site(f"{name}.{side}", joint_frame(joint, side), shift) for side in ("parent", "child")]
            ends = f"site1={quoteattr(sites[0])} site2={quoteattr(sites[1])}"
            self.equalities.append(f"<{tag} name={quoteattr(name)} {ends}/>")
        self.unsaid += describe_joint(joint, ("limits",))

    def _couple(self, follower: str, following: Following) -> None:
        constraint, leader, ratio, offset = following
        held = {one.joint.name: one.kind for one in self.tree.joints}
        if held.get(follower) != "series" or held.get(leader) != "series":
            self.unsaid.append(f"{constraint}: couples a joint that the tree does not have as one of its own")
            self.said.add(constraint)
            return
        terms = numbers([offset, ratio, 0.0, 0.0, 0.0])
        ends = f"joint1={quoteattr(follower)} joint2={quoteattr(leader)}"
        self.equalities.append(f'<joint name={quoteattr(constraint)} {ends} polycoef="{terms}"/>')
        self.said.add(constraint)

    # -- start -------------------------------------------------------------------------------------
    def _note_start(self, tree_joint: TreeJoint) -> None:
        """Coordinates at the start, in MuJoCo's order: that of the joints in the file."""
        joint = tree_joint.joint
        q = np.asarray(joint.initial_q(self.system.nominal), dtype=float)
        if tree_joint.kind == "series":
            self.start += [float(q[step.coordinate]) for step in tree_joint.steps]
            return
        X = initial_pose(self.system, tree_joint, q)
        if tree_joint.kind == "free" and tree_joint.parent == "world":
            self.start += [*X[:3, 3], *unit_quaternion(X[:3, :3])]
            return
        zero = tree_joint.on_parent @ np.linalg.inv(tree_joint.on_child)
        turn = zero[:3, :3].T @ X[:3, :3]
        if tree_joint.kind == "free":
            at = zero @ np.append(tree_joint.on_child[:3, 3], 1.0)
            now = X @ np.append(tree_joint.on_child[:3, 3], 1.0)
            self.start += [float(x) for x in (tree_joint.on_parent[:3, :3].T @ (now - at)[:3])]
        self.start += unit_quaternion(turn)

    def _keyframe(self) -> str:
        if not self.start:
            return ""
        qpos = numbers(tidy_array(np.array(self.start)))
        return f'  <keyframe>\n    <key name="home" qpos="{qpos}"/>\n  </keyframe>\n'


def unit_quaternion(R: Array) -> list[float]:
    return [float(x) for x in quaternion_of(R)]


def principal_axes(J: Array) -> tuple[Array, Array]:
    """Principal moments and the rotation of their axes; those of the body where the tensor is diagonal there.

    MuJoCo's own way to them stops at off-diagonal entries of 1e-12 kg*m^2, which is much for the parts of a hand.
    """
    if not (J[0, 1] or J[0, 2] or J[1, 2]):
        return np.diag(J).copy(), np.eye(3)
    scale = float(abs(J).max())
    moments, R = np.linalg.eigh(J / scale)
    return moments * scale, R * np.sign(np.linalg.det(R))


def placed(X: Array) -> str:
    """Attributes of a pose, as far as it is not the identity."""
    X = tidy_array(X)
    text = f' pos="{numbers(X[:3, 3])}"' if X[:3, 3].any() else ""
    return text if np.array_equal(X[:3, :3], np.eye(3)) else f'{text} quat="{numbers(unit_quaternion(X[:3, :3]))}"'
