"""Observer frames: reference frames that are not part of a body.

An observer is based on another frame (a body, the world, another observer) and moves relative to it in a known way.
Results can be relative to it and expressed in its axes; laws and loads can use its axes.  Nothing is joined to it and
nothing acts on it.  One class is one kind.  It gives its pose, velocity and acceleration relative to its base frame, in
the axes of the base.  The motion in space follows in the same way for all kinds (T-8.0):

    w = w_B + w_rel                         v = v_B + w_B x r + v_rel
    eps = eps_B + eps_rel + w_B x w_rel     a = a_B + eps_B x r + w_B x (w_B x r) + 2 w_B x v_rel + a_rel

A kind may have states of its own, which are integrated with those of the system.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kinode.algebra.scalars import Array, Scalar, atan2, inverse, sqrt, tidy
from kinode.algebra.spatial import IDENTITY3, IDENTITY_POSE, ZERO3, Pose, cross, dot, rotation_about, skew
from kinode.errors import ModelError
from kinode.model.base.element import turned_letter
from kinode.model.base.field_reader import Reader
from kinode.model.base.fields import (
    Component,
    Spec,
    Value,
    Vector,
    choice,
    laws,
    number,
    record,
    special,
    vector,
)
from kinode.model.base.frames import LETTERS, ZERO, Frame, Resolve, axis_vector, read_axis
from kinode.model.base.registration import Registry, register

if TYPE_CHECKING:
    from kinode.model.base.scene import AccelerationScene, LawScene, PositionScene, VelocityScene

FRAMES: Registry[Observer] = Registry()
WORLD = Frame("world")
Rates = tuple[Array, Array]  # angular, linear


@record
class Observer(Component):
    """A frame that is no part of a body; of this kind, it rests in the frame that it stands on."""

    section: ClassVar[str] = "frames"
    kind_registry: ClassVar[Registry[Any]] = FRAMES
    quantities: ClassVar[dict[str, str]] = {}  # name -> dimension, beside those of every frame
    follows_velocity: ClassVar[bool] = False  # whether its axes need velocities, and its angular velocity accelerations

    on: Frame = special("base", "what it stands on: a body, a place on one, another frame", WORLD)

    @classmethod
    def read_base(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Frame:
        frame: Frame = reader.frame(raw, field)
        return frame

    @classmethod
    def read_axis(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Any:
        return read_axis(reader, raw, field)

    def check(self) -> None:
        """Refuse fields that contradict each other."""

    def placed(self, world: Frame) -> Observer:
        """The observer with the frame ``world`` in place of its world: its directions in world axes turn with it."""
        return self

    def within(self, system: Any) -> Observer:
        """The observer as part of a larger system: what it takes from its whole system is written out."""
        return self

    def undefined(self, scene: VelocityScene) -> str:
        """Why it is not defined at a state of plain numbers; nothing if it is."""
        return ""

    # -- relative to the base frame, in its axes -------------------------------------------------------
    def place(self, scene: PositionScene) -> Pose:
        """Rotation and position."""
        return IDENTITY_POSE

    def speed(self, scene: VelocityScene) -> Rates:
        """Angular velocity and velocity."""
        return ZERO3, ZERO3

    def change(self, scene: AccelerationScene) -> Rates:
        """Time derivatives of the components of ``speed``."""
        return ZERO3, ZERO3

    def quantity(self, name: str, scene: AccelerationScene) -> Scalar:
        raise KeyError(name)

    # -- in space, in world axes -----------------------------------------------------------------------
    def pose(self, scene: PositionScene) -> Pose:
        """X_WF."""
        return scene.pose(self.on) @ self.place(scene)

    def velocity(self, scene: VelocityScene) -> Rates:
        """Angular velocity and velocity of the origin."""
        X, (w, v) = scene.pose(self.on), scene.velocity(self.on)
        w_rel, v_rel = (X.R @ part for part in self.speed(scene))
        return w + w_rel, v + cross(w, X.R @ self.place(scene).p) + v_rel

    def acceleration(self, scene: AccelerationScene) -> Rates:
        """Angular acceleration and acceleration of the origin."""
        X, (w, _), (eps, a) = scene.pose(self.on), scene.velocity(self.on), scene.acceleration(self.on)
        r = X.R @ self.place(scene).p
        w_rel, v_rel = (X.R @ part for part in self.speed(scene))
        eps_rel, a_rel = (X.R @ part for part in self.change(scene))
        a = a + cross(eps, r) + cross(w, cross(w, r)) + 2.0 * cross(w, v_rel) + a_rel
        return eps + eps_rel + cross(w, w_rel), a

    def origin_velocity(self, scene: VelocityScene) -> Array:
        """Velocity of the origin, also where the angular velocity needs accelerations."""
        return self.velocity(scene)[1]

    def origin_acceleration(self, scene: AccelerationScene) -> Array:
        """Acceleration of the origin, also where the angular acceleration is not known."""
        return self.acceleration(scene)[1]


@register("fixed")
class FixedFrame(Observer):
    """A place on a body, or in the world, under a name of its own."""


@register("inertial")
class Inertial(Observer):
    """A frame that moves evenly along a line in the world and does not turn."""

    even: Vector = vector("velocity", "its velocity, in the axes of the place that it starts from", ZERO, "velocity")

    def check(self) -> None:
        if self.on.body != "world":
            message = f"an inertial frame stands on the world, not on {self.on}; a frame of kind fixed or moving may"
            raise ModelError(message, component=self.name, field="on")

    def place(self, scene: LawScene) -> Pose:
        return Pose(IDENTITY3, self._speed(scene) * scene.t)

    def speed(self, scene: LawScene) -> Rates:
        return ZERO3, self._speed(scene)

    def _speed(self, scene: LawScene) -> Array:
        return tidy([scene.resolve(x) for x in self.even])


@register("moving")
class PrescribedFrame(Observer):
    """A frame that moves by laws of time relative to the frame that it stands on."""

    timely: ClassVar[tuple[str, ...]] = ("position", "rpy", "turns")
    position: Vector = laws("length", "position of the origin, three laws of time", ZERO)
    rpy: Vector | None = laws("angle", "turns about the fixed axes x, y, z, three laws of time", None)
    turns: tuple[tuple[Any, Value], ...] | None = special("turns", "[axis, law of time] in turn: any Euler angles")

    @classmethod
    def read_turns(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> tuple[tuple[Any, Value], ...]:
        if not isinstance(raw, (list, tuple)) or not raw:
            raise reader.fail(field, "is a list of (axis, law) pairs, such as [[z, 0.2*t], [x, 10 deg]]")
        turns = []
        for item in raw:
            if not isinstance(item, (list, tuple)) or len(item) != 2:
                raise reader.fail(field, f"each turn is a pair of an axis and an angle, not {item!r}")
            turns.append((read_axis(reader, item[0], field), reader.law(item[1], "angle", field)))
        return tuple(turns)

    def check(self) -> None:
        if self.rpy is not None and self.turns is not None:
            raise ModelError("give rpy or turns, not both", component=self.name, field="turns")

    def place(self, scene: LawScene) -> Pose:
        R: Array = IDENTITY3
        for e, (angle,) in self._turned(scene, 0):
            R = R @ rotation_about(e, angle)
        return Pose(R, scene.timely(self.position, 0)[0])

    def speed(self, scene: LawScene) -> Rates:
        R, w = IDENTITY3, ZERO3
        for e, (angle, first) in self._turned(scene, 1):
            w = w + R @ e * first
            R = R @ rotation_about(e, angle)
        return w, scene.timely(self.position, 1)[1]

    def change(self, scene: LawScene) -> Rates:
        R, w, eps = IDENTITY3, ZERO3, ZERO3
        for e, (angle, first, second) in self._turned(scene, 2):
            axis = R @ e  # rotated by the turns before it
            eps = eps + axis * second + cross(w, axis * first)
            w = w + axis * first
            R = R @ rotation_about(e, angle)
        return eps, scene.timely(self.position, 2)[2]

    def _turned(self, scene: LawScene, order: int) -> list[tuple[Array, tuple[Scalar, ...]]]:
        """Axis, angle and its derivatives of each turn, outermost first."""
        turns = self.turns or ()
        if self.rpy is not None:
            turns = tuple(zip("zyx", reversed(self.rpy), strict=True))
        angles = zip(*scene.timely([angle for _, angle in turns], order), strict=True)
        return [(_unit(scene, axis), each) for (axis, _), each in zip(turns, angles, strict=True)]


def _unit(scene: LawScene, axis: Any) -> Array:
    """An axis as a unit vector."""
    e = tidy([scene.resolve(x) for x in axis_vector(axis)])
    return e if isinstance(axis, str) else tidy(e * inverse(sqrt(dot(e, e))))


@record
class _Rolled(Observer):
    """A frame that shares an axis with its base frame B, which rolls about that axis by phi relative to it.

    With e the axis and p the roll rate of B: X = Rot(e, -phi), w_rel = -e phi_dot, eps_rel = -e phi_ddot.
    """

    quantities: ClassVar[dict[str, str]] = {"roll": "angle"}

    def axis_in(self, scene: LawScene) -> Array:
        raise NotImplementedError

    def roll_rate(self, scene: VelocityScene) -> Scalar:
        """phi_dot."""
        raise NotImplementedError

    def roll_change(self, scene: AccelerationScene) -> Scalar:
        """phi_ddot."""
        raise NotImplementedError

    def speed(self, scene: VelocityScene) -> Rates:
        return self.axis_in(scene) * -self.roll_rate(scene), ZERO3

    def change(self, scene: AccelerationScene) -> Rates:
        return self.axis_in(scene) * -self.roll_change(scene), ZERO3


@register("nonrolling")
class Nonrolling(_Rolled):
    """Nonrolling (aeroballistic) axes: they follow an axis of a body and have no angular velocity about it.

    The roll of the body relative to them is a state of its own, phi_dot = p (T-8.14).
    """

    axis: Any = special("axis", "the shared axis: x, y, z, -x, -y, -z or three numbers, in the axes stood on", "x")
    roll: Value = number("angle", "initial roll of the body relative to the frame", 0.0, aside=True)

    @property
    def states(self) -> tuple[tuple[str, str], ...]:
        return (("roll", "angle"),)

    def initial_states(self, resolve: Resolve) -> Array:
        return np.array([float(resolve(self.roll))])

    def state_rates(self, scene: VelocityScene) -> Array:
        return tidy([self.roll_rate(scene)])

    def axis_in(self, scene: LawScene) -> Array:
        return _unit(scene, self.axis)

    def place(self, scene: PositionScene) -> Pose:
        return Pose(rotation_about(self.axis_in(scene), -scene.other_states(self.name)[0]), ZERO3)

    def roll_rate(self, scene: VelocityScene) -> Scalar:
        return dot(scene.pose(self.on).R @ self.axis_in(scene), scene.velocity(self.on)[0])

    def roll_change(self, scene: AccelerationScene) -> Scalar:
        return dot(scene.pose(self.on).R @ self.axis_in(scene), scene.acceleration(self.on)[0])

    def quantity(self, name: str, scene: PositionScene) -> Scalar:
        return scene.other_states(self.name)[0]


@register("fixed_plane")
class FixedPlane(_Rolled):
    """Fixed-plane axes: they follow an axis of a body, and the next axis stays level [2.14, second closure].

    With the axis x, y stays at right angles to the upright direction Z and z leans towards it:
    p_frame = r (x . Z) / (z . Z), where r is the angular velocity about z.  No state is needed, since the roll follows
    from where the axis points.  Where it points along Z there is no such frame.
    """

    axis: str = choice(LETTERS, "the shared axis, of the axes stood on", "x")
    upright: str = choice(LETTERS, "axis of the world that the next axis stays at right angles to", "z")

    def placed(self, world: Frame) -> Observer:
        return dataclasses.replace(self, upright=turned_letter(self, "upright", world))

    def axis_in(self, scene: LawScene) -> Array:
        return np.array(axis_vector(self.axis), dtype=float)

    def _triad(self, scene: PositionScene) -> tuple[Scalar, Scalar, Scalar]:
        """Z along the axis e, the next axis l and e x l of the body."""
        e, k = self.axis_in(scene), "xyz".index(self.axis[-1])
        l = IDENTITY3[(k + 1) % 3]
        up = scene.pose(self.on).R.T @ np.array(axis_vector(self.upright), dtype=float)
        return dot(e, up), dot(l, up), dot(cross(e, l), up)

    def place(self, scene: PositionScene) -> Pose:
        _, l, m = self._triad(scene)
        S, size = skew(self.axis_in(scene)), inverse(sqrt(l * l + m * m))
        return Pose(IDENTITY3 - (l * size) * S + (1.0 - m * size) * (S @ S), ZERO3)

    def undefined(self, scene: PositionScene) -> str:
        _, l, m = self._triad(scene)
        words = f"{self.on} points its axis {self.axis} along the upright axis {self.upright}: no axis is level"
        return words if float(l) == float(m) == 0.0 else ""

    def _about(self, scene: PositionScene, w: Array) -> tuple[Scalar, Scalar, Scalar]:
        """Components of a vector in world axes along e, along the level axis and along the third axis of this frame."""
        e, R = self.axis_in(scene), scene.pose(self.on).R @ self.place(scene).R
        l = IDENTITY3[("xyz".index(self.axis[-1]) + 1) % 3]
        return dot(R @ e, w), dot(R @ l, w), dot(R @ cross(e, l), w)

    def _slope(self, scene: PositionScene) -> tuple[Scalar, Scalar]:
        """(e . Z) / (z . Z), and 1 / (z . Z)."""
        c, l, m = self._triad(scene)
        s = inverse(sqrt(l * l + m * m))
        return c * s, s

    def roll_rate(self, scene: VelocityScene) -> Scalar:
        p, _, r = self._about(scene, scene.velocity(self.on)[0])
        return p - r * self._slope(scene)[0]

    def roll_change(self, scene: AccelerationScene) -> Scalar:
        """With q about the level axis: c = e . Z changes at -q s, the slope c/s at c_dot / s^3; s = z . Z."""
        _, q, r = self._about(scene, scene.velocity(self.on)[0])
        p_dot, _, r_dot = self._about(scene, scene.acceleration(self.on)[0])
        slope, inverse_s = self._slope(scene)
        # r = w . z, and z turns with the frame: w . (w_frame x z) = q (p - p_frame)
        r_dot = r_dot + q * self.roll_rate(scene)
        return p_dot - r_dot * slope + r * q * inverse_s * inverse_s

    def quantity(self, name: str, scene: PositionScene) -> Scalar:
        _, l, m = self._triad(scene)
        return atan2(l, m)
