"""Frames that share an axis with a body and do not roll with it: nonrolling and fixed-plane axes (T-8.14)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kinode.algebra.scalars import Array, Scalar, atan2, inverse, sqrt, tidy
from kinode.algebra.spatial import IDENTITY3, ZERO3, Pose, cross, dot, rotation_about, skew
from kinode.model.base.element import turned_letter
from kinode.model.base.fields import Value, choice, number, record, special
from kinode.model.base.frames import LETTERS, Frame, Resolve, axis_vector
from kinode.model.base.kinds import register
from kinode.model.base.observers.moving_frames import Observer, Rates, unit_axis

if TYPE_CHECKING:
    from kinode.model.base.scene import AccelerationScene, LawScene, PositionScene, VelocityScene


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
        return unit_axis(scene, self.axis)

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
