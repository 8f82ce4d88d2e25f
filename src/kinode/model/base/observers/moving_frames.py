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

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from kinode.algebra.scalars import Array, Scalar, inverse, sqrt, tidy
from kinode.algebra.spatial import IDENTITY3, IDENTITY_POSE, ZERO3, Pose, cross, dot, rotation_about
from kinode.model.base.field_reader import Reader
from kinode.model.base.fields import Component, Spec, Value, Vector, laws, record, special, vector
from kinode.model.base.frames import ZERO, Frame, axis_vector, read_turns
from kinode.model.base.kinds import Registry, register

if TYPE_CHECKING:
    from kinode.model.base.scene import AccelerationScene, LawScene, PositionScene, VelocityScene
    from kinode.model.system import System


FRAMES: Registry[Observer] = Registry()
WORLD = Frame("world")
Rates = tuple[Array, Array]  # angular, linear
Row = tuple[str | tuple[str, ...], tuple[str, ...], str]
"""Of a quantity: its unit, or that of each part; the names of the parts; what has to be known."""


@record
class Observer(Component):
    """A frame that is no part of a body; of this kind, it rests in the frame that it stands on."""

    section: ClassVar[str] = "frames"
    kind_registry: ClassVar[Registry[Any]] = FRAMES
    quantities: ClassVar[dict[str, str]] = {}  # name -> dimension, beside those of every frame
    follows_velocity: ClassVar[bool] = False  # whether its axes need velocities, and its angular velocity accelerations

    on: Frame = special("base", "what it stands on: a body, a place on one, another frame", WORLD)

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
            raise self.error_at("on", message)

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
        return read_turns(reader, raw, field, "law", "[[z, 0.2*t], [x, 10 deg]]", reader.law)

    def check(self) -> None:
        if self.rpy is not None and self.turns is not None:
            raise self.error_at("turns", "give rpy or turns, not both")

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
        return [(unit_axis(scene, axis), each) for (axis, _), each in zip(turns, angles, strict=True)]


def unit_axis(scene: LawScene, axis: Any) -> Array:
    """An axis as a unit vector."""
    e = tidy([scene.resolve(x) for x in axis_vector(axis)])
    return e if isinstance(axis, str) else tidy(e * inverse(sqrt(dot(e, e))))


JERK = "its angular acceleration needs the jerk, the rate of accelerations, which is not computed"


def needs_jerk(system: System, frame: Frame) -> str:
    """The frame along a velocity that a frame is, or stands on; nothing if its angular acceleration is known."""
    return next((name for name in standing(system, frame) if system.frames[name].follows_velocity), "")


def known_rates(system: System, owner: str, quantity: str, table: Mapping[str, Row]) -> dict[str, Row]:
    """Quantities of a frame, with what they need if it follows a velocity; ValueError if one needs the jerk."""
    along = needs_jerk(system, Frame(owner))
    if not along:
        return dict(table)
    own = along == owner
    if quantity == "angular_acceleration" or (quantity == "acceleration" and not own):
        follows = "follows" if own else f"stands on {along}, which follows"
        raise ValueError(f"{owner} {follows} a velocity: {JERK}")
    late = ("angular_velocity", "euler_rates", *(() if own else ("velocity",)))
    return {name: (*row[:2], "acceleration" if name in late else row[2]) for name, row in table.items()}


def standing(system: System, frame: Frame) -> list[str]:
    """The frames that a frame is, stands on or lies between, which are no part of a body."""
    names: list[str] = []
    queue = [frame]
    while queue:
        observer = system.frames.get(queue.pop().body)
        if observer is not None and observer.name not in names:
            names.append(observer.name)
            queue += [x for x in (getattr(observer, key, None) for key in ("on", "point", "start", "end")) if x]
    return names
