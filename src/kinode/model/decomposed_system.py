"""Joints with several freedoms taken apart into hinges and slides: ``System.decomposed``.

Joint ``heel`` with the coordinates x, y, angle becomes the joints ``heel.x``, ``heel.y`` and ``heel.angle`` in series,
with the massless bodies ``heel.link1`` and ``heel.link2`` between them.  Accelerations and wrenches stay what they are.

A ball and the turning of a free joint become three hinges, with angles, R = Rot(e1, a1) Rot(e2, a2) Rot(e3, a3).  The
sequence z, y, x (yaw, pitch, roll) is singular where the second angle is 90 degrees; z, x, z (precession, nutation,
spin) is singular elsewhere, so that one of the two always serves.  With the columns of B, the axes of the hinges seen
from b,

    u_angular = B rates,   u_linear = R' x_dot,   effort along the pairs = B' moment,  R force

which carries over initial speeds, efforts, damping and laws that name them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import IDENTITY3, rotation_about
from kinode.errors import LawError, ModelError
from kinode.expressions.syntax_tree import Expression, symbol
from kinode.model.base.bodies import Body
from kinode.model.base.field_reader import FieldKind
from kinode.model.base.fields import Component
from kinode.model.base.frames import Frame
from kinode.model.base.parameters import Input, Parameter
from kinode.model.base.value_walk import Place, ValueWalk, find_expressions
from kinode.model.component_store import joint_frame
from kinode.model.joints.joint import INITIAL, JOINTS, LAWS_PER_COORDINATE, PER_COORDINATE, Joint
from kinode.model.network.joint_sources import find_freedom
from kinode.model.network.part import PORT
from kinode.model.quantities import link_quantity, split_owner

if TYPE_CHECKING:
    from kinode.model.system import System


def rotation(axes: Collection[Array], angles: Collection[Any]) -> Array:
    """R = Rot(axis 1, angle 1) Rot(axis 2, angle 2) ..."""
    R: Array = IDENTITY3
    for axis, angle in zip(axes, angles, strict=True):
        R = R @ rotation_about(axis, angle)
    return R


def hinge_axes(axes: Collection[Array], angles: Collection[Any]) -> Array:
    """B: the axes of hinges in series as columns, seen from the last link."""
    R, columns = IDENTITY3, []
    for axis, angle in reversed(list(zip(axes, angles, strict=True))):
        columns.append(R.T @ axis)
        R = rotation_about(axis, angle) @ R
    return np.column_stack(columns[::-1])


def angles_of(R: Array, sequence: str) -> tuple[float, float, float]:
    """The three angles of a rotation of plain numbers about the axes of a sequence such as "zyx" or "zxz"."""
    i, j, k = ("xyz".index(letter) for letter in sequence)
    third = k if k != i else 3 - i - j
    sense = 1.0 if (j - i) % 3 == 1 else -1.0  # of i, j, third: right-handed or not
    if k != i:
        return (
            math.atan2(-sense * R[j, k], R[k, k]),
            math.asin(min(1.0, max(-1.0, sense * R[i, k]))),
            math.atan2(-sense * R[i, j], R[i, i]),
        )
    tilt = math.hypot(R[j, i], R[third, i])
    first = math.atan2(R[j, i], -sense * R[third, i])
    return first, math.atan2(tilt, R[i, i]), math.atan2(R[i, j], sense * R[i, third])


PREFERRED, OTHER = "zyx", "zxz"
STEEP = 0.9  # sine of the second angle of z, y, x from which the other sequence is taken
LOCKED = 1e-6  # volume of the axes of three hinges below which they are in one plane
ANGLES = {"x": "roll", "y": "pitch", "z": "yaw"}
EULER_ANGLES = ("precession", "nutation", "spin")
REFUSED = {
    "friction": "its friction depends on all its freedoms at once",
    "stop": "its stop belongs to one freedom",
    "backlash": "its backlash belongs to one freedom",
    "limits": "its limits belong to one freedom",
}


class PairSeries:
    """The pairs of one joint: names, axes in the joint's axes, and what its fields become."""

    def __init__(self, system: System, joint: Joint, sequence: str | None) -> None:
        self.system, self.joint = system, joint
        self.ball = joint.quaternion is not None
        self.slides = 3 if joint.n_u == 6 else 0  # of a free joint, before its hinges
        self._check()
        self.start = joint.initial_q(system.nominal)
        self.sequence = self._sequence(sequence) if self.ball else ""
        self.coordinates = [*"xyz"[: self.slides], *self._angles()] if self.ball else [c for c, _ in joint.coordinates]
        self.names = [f"{joint.name}.{coordinate}" for coordinate in self.coordinates]

    def _fail(self, message: str, field: str | None = None) -> ModelError:
        return ModelError(f"cannot be taken apart: {message}", component=self.joint.name, field=field)

    def _check(self) -> None:
        """Refuse what pairs in series cannot have."""
        for field, why in REFUSED.items():
            if getattr(self.joint, field) is not None:
                raise self._fail(why, field)
        if self.ball and self.joint.speed is not None:
            raise self._fail("its speed is prescribed in the axes of b, which no hinge has", "speed")
        start = ("q", "u", "guess", "rotation", "velocity", "angular_velocity") if self.ball else ("axis", "axes")
        for field in start:
            if find_expressions(getattr(self.joint, field, None)):
                raise self._fail("it depends on parameters", field)
        if self._is_in_loop():
            raise self._fail("it is part of a loop of joints")

    def _is_in_loop(self) -> bool:
        """Whether its bodies stay connected without it."""
        reached, others = {self.joint.a.body}, [j for j in self.system.joints.values() if j is not self.joint]
        grown = True
        while grown:
            new = {x for j in others for x in (j.a.body, j.b.body) if {j.a.body, j.b.body} & reached}
            grown = not new <= reached
            reached |= new
        return self.joint.b.body in reached

    # -- angles ------------------------------------------------------------------------------------
    def _sequence(self, given: str | None) -> str:
        R = self._start_rotation
        if given is None:
            given = OTHER if abs(R[2, 0]) > STEEP else PREFERRED
        letters = isinstance(given, str) and len(given) == 3 and set(given) <= set("xyz")
        if not letters or given[0] == given[1] or given[1] == given[2]:
            raise ModelError(
                f"sequences: three axes are expected, such as 'zyx', not {given!r}", component=self.joint.name
            )
        axes = [np.eye(3)["xyz".index(letter)] for letter in given]
        if abs(np.linalg.det(hinge_axes(axes, angles_of(R, given)).astype(float))) < LOCKED:
            message = f"sequences: at the start the hinges {', '.join(given)} are in one plane (gimbal lock)"
            raise ModelError(f"{message}; take another sequence", component=self.joint.name)
        return given

    @property
    def _start_rotation(self) -> Array:
        return np.asarray(self.joint.transform(self.start, np.empty(0)).R, dtype=float)

    def _angles(self) -> tuple[str, ...]:
        first, second, third = tuple(self.sequence)
        return EULER_ANGLES if first == third else (ANGLES[first], ANGLES[second], ANGLES[third])

    @cached_property
    def axes(self) -> list[Array]:
        """The axis of each pair, in the joint's axes."""
        if self.ball:
            units = np.eye(3)
            return [*units[: self.slides], *(units["xyz".index(letter)] for letter in self.sequence)]
        nominal = self.system.nominal
        C = self.joint.axis_rotation(nominal, nominal)
        return [np.asarray(C @ pair.axis, dtype=float) for pair in self.joint.pairs(self.joint.form(nominal))]

    # -- speeds and efforts of a ball or free joint --------------------------------------------------
    @cached_property
    def _angle_symbols(self) -> list[Expression]:
        return [symbol(f"{name}.q") for name in self.names[self.slides :]]

    @cached_property
    def R(self) -> Array:
        """The rotation, as expressions of the angles."""
        return rotation(self.axes[self.slides :], self._angle_symbols)

    @cached_property
    def B(self) -> Array:
        """The axes of the hinges seen from b, as expressions of the angles."""
        return hinge_axes(self.axes[self.slides :], self._angle_symbols)

    @cached_property
    def speeds(self) -> list[Any]:
        """The speeds u of the joint, as expressions of the pairs."""
        rates = np.array([symbol(f"{name}.u") for name in self.names], dtype=object)
        if not self.ball:
            return list(rates)
        return [*(self.R.T @ rates[:3] if self.slides else ()), *(self.B @ rates[self.slides :])]

    def _efforts(self, law: Callable[[Any], Any]) -> list[Any] | None:
        """Efforts along the pairs of a ball or free joint, of its efforts and damping in the axes of b."""
        effort, damping = self.joint.effort, self.joint.damping
        if effort is None and damping is None:
            return None
        own = [0.0 if effort is None else law(effort[k]) for k in range(self.joint.n_u)]
        if damping is not None:
            own = [tau - law(d) * u for tau, d, u in zip(own, damping, self.speeds, strict=True)]
        loads = np.array(own, dtype=object)
        return [*(self.R @ loads[:3] if self.slides else ()), *(self.B.T @ loads[self.slides :])]

    # -- the joints in its place ---------------------------------------------------------------------
    def joints(self, law: Callable[[Any], Any]) -> list[Component]:
        """Massless bodies and joints, in the order of declaration; ``law`` rewrites laws."""
        made: list[Component] = []
        joint, last = self.joint, len(self.names) - 1
        at, end = joint_frame(joint, "parent"), joint_frame(joint, "child")
        fields = self._fields(law)
        form = joint.form(self.system.nominal)
        for k, (name, pair, axis) in enumerate(zip(self.names, joint.pairs(form), self.axes, strict=True)):
            link = f"{joint.name}.link{k + 1}"
            if k < last:
                made.append(Body(link, system=None))
            kind = "screw" if pair.turns and pair.slides else "revolute" if pair.turns else "prismatic"
            own = {"lead": 2.0 * math.pi * float(pair.slide)} if kind == "screw" else {}
            b = Frame(link) if k < last else end
            made.append(JOINTS[kind](name, a=at, b=b, axis=tuple(float(x) for x in axis), **fields[k], **own))
            at = Frame(link)
        return made

    def _fields(self, law: Callable[[Any], Any]) -> list[dict[str, Any]]:
        """The fields of each pair."""
        if not self.ball:
            given = self.joint.values_of(PER_COORDINATE, LAWS_PER_COORDINATE, INITIAL)
            return [{field: (law(values[k]),) for field, values in given.items()} for k in range(len(self.names))]
        fields: list[dict[str, Any]] = [{} for _ in self.names]
        efforts = self._efforts(law)
        for k, value in enumerate(efforts or ()):
            fields[k]["effort"] = (value if isinstance(value, Expression) else float(value),)
        self._add_start(fields)
        return fields

    def _add_start(self, fields: list[dict[str, Any]]) -> None:
        """Initial coordinates and speeds of a ball or free joint, as far as they are given."""
        joint, n = self.joint, self.slides
        angles = angles_of(self._start_rotation, self.sequence)
        coordinates = [*(float(x) for x in self.start[:n]), *angles]
        position = getattr(joint, "position", None)
        if position is not None:
            coordinates[:n] = list(position)
        word = "q" if joint.guess is None else "guess"
        given = joint.exact_q if joint.guess is None else np.full(joint.n_u, True)
        for k, value in enumerate(coordinates):
            if given[k]:
                fields[k][word] = (value,)
        u = joint.initial_u(self.system.nominal, self.start)
        B = hinge_axes(self.axes[n:], angles).astype(float)
        speeds = [*(self._start_rotation @ u[:3] if n else ()), *np.linalg.solve(B, u[n:])]
        for k, value in enumerate(speeds):
            if joint.exact_u[k]:
                fields[k]["u"] = (float(value),)

    # -- names in laws -------------------------------------------------------------------------------
    def meaning(self, rest: str, axes: str) -> Any:
        """What the joint's quantity ``rest`` is with its pairs; None if they do not have it."""
        word, _, tail = link_quantity(self.joint, rest).partition(".")
        at = f"@{axes}" if axes else ""
        if word in ("parent", "child"):
            return symbol(f"{self.names[0 if word == 'parent' else -1]}.{word}.{tail}{at}")
        if word == "wrench":
            return symbol(f"{self.names[-1]}.{rest}{at or f'@{self.names[0]}.parent'}")
        if word == "power" and not self.ball:
            return sum((symbol(f"{name}.{rest}") for name in self.names[1:]), symbol(f"{self.names[0]}.{rest}"))
        own = [name for name, _ in self.joint.coordinates]
        share, _, coordinate = tail.rpartition(".")
        if word == "u" and tail in own:
            return self.speeds[own.index(tail)]
        direct = own[: self.slides] if self.ball else own
        if coordinate not in direct or (self.ball and word != "q"):
            return None
        quantity = f"{word}.{share}" if share else word
        return symbol(f"{self.names[direct.index(coordinate)]}.{quantity}")


def decompose(system: System, sequences: Mapping[str, str]) -> System:
    """The system with all joints of several freedoms taken apart."""
    for name in sequences:
        joint = system.joints.get(name)
        if joint is None or joint.quaternion is None:
            known = [key for key, x in system.joints.items() if x.quaternion is not None]
            message = f"sequences: {name} is no joint that a quaternion turns; these are {', '.join(known) or 'none'}"
            raise ModelError(message)
    for joint in system.joints.values():
        if not joint.has_pairs:
            message = f"a {joint.kind} joint does not say which hinges and slides it is made of"
            raise ModelError(message, component=joint.name)
    system = system.as_declared()
    series = {
        name: PairSeries(system, joint, sequences.get(name)) for name, joint in system.joints.items() if joint.n_u > 1
    }
    return Decomposition(system, series).run()


class Decomposition(ValueWalk):
    """One system in the making, whose laws name the pairs."""

    def __init__(self, system: System, series: Mapping[str, PairSeries]) -> None:
        super().__init__()
        self.system, self.series = system, series

    def run(self) -> System:
        new = self.system.copy()
        if not self.series:
            return new
        made: list[Component] = []
        for old in self.system.components.values():
            if old.name in self.series:
                made += self.series[old.name].joints(partial(self.value, at=Place(old.name)))
            else:
                changed = {} if isinstance(old, Parameter | Input) else self.changes(old)
                made.append(dataclasses.replace(old, **changed) if changed else old)
        new.fill(made)
        new.check()
        return new

    def name(self, name: str, at: Place, kind: FieldKind) -> str:
        if kind is PORT:
            return self._port(name, at)
        if name in self.series:
            pairs = ", ".join(self.series[name].names)
            message = f"names {name}, which is taken apart into {pairs}"
            raise ModelError(message, component=at.component, field=at.field)
        return name

    def _port(self, node: str, at: Place) -> str:
        """What a port is connected to: a freedom of a joint is a pair of its own, but for quasi-velocities."""
        joint, freedom = find_freedom(self.system.joints, node) or (None, None)
        if joint is None or joint.name not in self.series:
            return node
        if joint.quaternion is None and f"{joint.name}.{freedom}" in self.series[joint.name].names:
            return f"{joint.name}.{freedom}"
        pairs = ", ".join(self.series[joint.name].names)
        raise ModelError(f"acts on {node}, which is no freedom of {pairs}", component=at.component, field=at.field)

    def law(self, law: Expression, at: Place) -> Any:
        meanings = {text: self._meaning(text, at) for text in law.names().difference(at.local)}
        changed = {text: new for text, new in meanings.items() if new is not None}
        return law.substitute(changed) if changed else law

    def _meaning(self, text: str, at: Place) -> Any:
        """What a name of a law becomes; None if it stays."""
        head, _, axes = text.partition("@")
        renamed = self._frame_name(axes)
        owner, rest = self._owner(head)
        if owner not in self.series:
            return symbol(f"{head}@{renamed}") if renamed != axes else None
        meaning = self.series[owner].meaning(rest, renamed)
        if meaning is None:
            message = f"names {text}, which {owner} does not have once it is taken apart"
            raise ModelError(message, component=at.component, field=at.field or None)
        return meaning

    def _frame_name(self, axes: str) -> str:
        owner, rest = self._owner(axes) if axes else ("", "")
        if owner not in self.series:
            return axes
        return f"{self.series[owner].names[0 if rest == 'parent' else -1]}.{rest}"

    def _owner(self, head: str) -> tuple[str, str]:
        try:
            return split_owner(self.system, head, head)
        except LawError:
            return "", ""
