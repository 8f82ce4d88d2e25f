"""The hinges and slides of one joint, in series: their names and axes, and what its fields and quantities become.

With the rotation R of the angles and the columns of B, the axes of the hinges seen from b,

    u_angular = B rates,   u_linear = R' x_dot,   effort along the pairs = B' moment,  R force

which carries over initial speeds, efforts, damping and laws that name them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ModelError
from kinode.expressions.syntax_tree import Expression, symbol
from kinode.model.base.bodies import Body
from kinode.model.base.fields import Component
from kinode.model.base.frames import Frame
from kinode.model.decomposition.euler_sequences import angles_of, hinge_axes, rotation
from kinode.model.frame_lookup import joint_frame
from kinode.model.joints.joint import JOINTS, Joint
from kinode.model.quantity_names import link_quantity

if TYPE_CHECKING:
    from kinode.model.system import System

PREFERRED, OTHER = "zyx", "zxz"
STEEP = 0.9  # sine of the second angle of z, y, x from which the other sequence is taken
LOCKED = 1e-6  # volume of the axes of three hinges below which they are in one plane
ANGLES = {"x": "roll", "y": "pitch", "z": "yaw"}
EULER_ANGLES = ("precession", "nutation", "spin")
PER_COORDINATE = ("q", "u", "guess", "motion", "speed", "effort", "stiffness", "neutral", "damping")
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
            if _has_expressions(getattr(self.joint, field, None)):
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
            given = {field: getattr(self.joint, field) for field in PER_COORDINATE}
            return [
                {field: (law(values[k]),) for field, values in given.items() if values is not None}
                for k in range(len(self.names))
            ]
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


def _has_expressions(value: Any) -> bool:
    if isinstance(value, Expression):
        return True
    return isinstance(value, tuple | list) and any(_has_expressions(x) for x in value)
