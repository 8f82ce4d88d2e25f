"""Frames that follow the state: at the mass center, along a velocity, along a line between two points.

Two of them have their first axis e along a vector d.  Its next axis y stays level, at right angles to the upright
direction n, and the third, z = e x y, leans towards n: the roll of fixed-plane axes (T-8.14, second closure).

    e = d / |d|,  y = n x e / |n x e|,  w = e x e_dot + (z . y_dot) e                                         (T-8.26)

For a line d follows from positions: pose, velocity and acceleration are known as those of a body.  For a velocity the
axes need the velocity, w needs the acceleration, and the angular acceleration the jerk, which is not computed: such a
frame serves as axes and origin of results, loads and drawings, and its angular acceleration is refused by name.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kinode.algebra.scalars import Array, inverse, sqrt, tidy
from kinode.algebra.spatial import ZERO3, Pose, cross, dot
from kinode.model.base.field_reader import Reader
from kinode.model.base.fields import Spec, choice, record, special
from kinode.model.base.frames import LETTERS, Frame, axis_vector
from kinode.model.base.kinds import register
from kinode.model.base.observers.moving_frames import JERK, Observer, Rates

if TYPE_CHECKING:
    from kinode.model.base.scene import AccelerationScene, PositionScene, VelocityScene
    from kinode.model.system import System


QUIET = np.errstate(divide="ignore", invalid="ignore")  # of vectors without length; the numbers say so themselves


@record
class _Followed(Observer):
    """A frame at the mass center of bodies."""

    of: tuple[Frame, ...] = special("bodies", "the bodies whose mass center it follows; all if left out", ())

    @classmethod
    def read_bodies(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> tuple[Frame, ...]:
        """A body, or a list of bodies."""
        items = raw if isinstance(raw, list | tuple) else [raw]
        frames = tuple(reader.frame(item, field) for item in items)
        for frame in frames:
            if not frame.is_plain or frame.body == "world":
                raise reader.fail(field, f"is a list of bodies, not of places such as {frame}")
        return frames

    def within(self, system: System) -> Observer:
        """The frame with all bodies of its system by name."""
        return self if self.of else dataclasses.replace(self, of=tuple(Frame(body) for body in system.bodies))

    def _mean(self, scene: PositionScene, values: Any) -> Array:
        """The mean of a vector over the mass centers of the bodies, weighted with their masses."""
        chosen = {frame.body for frame in self.of}
        solids = [solid for solid in scene.solids if not chosen or solid.com.body in chosen]
        if not solids:
            raise self.error_at(None, "there are no bodies, and so no mass center")
        mass, total = 0.0, ZERO3
        for solid in solids:
            if type(solid.mass) is float and solid.mass == 0.0:
                continue
            mass, total = mass + solid.mass, total + solid.mass * values(solid.com)
        if type(mass) is float and mass == 0.0:
            raise self.error_at("of", f"{', '.join(s.com.body for s in solids)} have no mass")
        return tidy(total * inverse(mass))

    def center(self, scene: PositionScene) -> Array:
        """Position of the mass center."""
        return self._mean(scene, lambda com: scene.pose(com).p)

    def center_velocity(self, scene: VelocityScene) -> Array:
        """Its velocity."""
        return self._mean(scene, lambda com: scene.velocity(com)[1])

    def center_acceleration(self, scene: AccelerationScene) -> Array:
        """Its acceleration."""
        return self._mean(scene, lambda com: scene.acceleration(com)[1])


@register("mass_center")
class MassCenter(_Followed):
    """A frame whose origin is the mass center of the system, or of some bodies, with the axes of what it stands on."""

    def pose(self, scene: PositionScene) -> Pose:
        return Pose(scene.pose(self.on).R, self.center(scene))

    def velocity(self, scene: VelocityScene) -> Rates:
        return scene.velocity(self.on)[0], self.center_velocity(scene)

    def acceleration(self, scene: AccelerationScene) -> Rates:
        return scene.acceleration(self.on)[0], self.center_acceleration(scene)

    def origin_acceleration(self, scene: AccelerationScene) -> Array:
        return self.center_acceleration(scene)


class DirectedAxes:
    """The axes along a vector d whose next axis is at right angles to n, and their rates as far as those of d go."""

    @QUIET
    def __init__(self, d: Array, n: Array, d1: Array | None = None, n1: Array = ZERO3) -> None:
        self.d, self.n, self.d1, self.n1 = d, n, d1, n1
        self.length = inverse(sqrt(dot(d, d)))
        self.e = d * self.length
        self.c = cross(n, self.e)
        self.across = inverse(sqrt(dot(self.c, self.c)))
        self.y = self.c * self.across
        self.z = cross(self.e, self.y)

    @property
    def R(self) -> Array:
        """Columns e, y, z."""
        return tidy(np.array([self.e, self.y, self.z], dtype=object).T)

    @QUIET
    def rates(self) -> tuple[Array, Array, Array]:
        """e_dot, y_dot and the angular velocity."""
        assert self.d1 is not None
        e1 = (self.d1 - self.e * dot(self.e, self.d1)) * self.length
        c1 = cross(self.n1, self.e) + cross(self.n, e1)
        y1 = (c1 - self.y * dot(self.y, c1)) * self.across
        return e1, y1, tidy(cross(self.e, e1) + self.e * dot(self.z, y1))

    @QUIET
    def turning_rate(self, d2: Array, n2: Array) -> Array:
        """The angular acceleration."""
        assert self.d1 is not None
        e1, y1, w = self.rates()
        longer = dot(self.e, self.d1)
        e2 = (d2 - 2.0 * e1 * longer - self.e * (dot(e1, self.d1) + dot(self.e, d2))) * self.length
        c1 = cross(self.n1, self.e) + cross(self.n, e1)
        c2 = cross(n2, self.e) + 2.0 * cross(self.n1, e1) + cross(self.n, e2)
        y2 = (c2 - 2.0 * y1 * dot(self.y, c1) - self.y * (dot(y1, c1) + dot(self.y, c2))) * self.across
        roll, z1 = dot(self.z, y1), cross(w, self.z)
        return tidy(cross(self.e, e2) + e1 * roll + self.e * (dot(z1, y1) + dot(self.z, y2)))


@record
class _Directed(Observer):
    """A frame whose first axis is along a vector; the next stays level."""

    upright: str = choice(LETTERS, "axis, of what it stands on, that the second axis stays at right angles to", "z")

    def _upright(self, scene: PositionScene) -> Array:
        return tidy(scene.pose(self.on).R @ np.array(axis_vector(self.upright), dtype=float))

    def _along(self, scene: VelocityScene) -> Array:
        """The vector that it is along."""
        raise NotImplementedError

    def missing(self) -> str:
        """What there is not if the vector has no length."""
        raise NotImplementedError

    def undefined(self, scene: VelocityScene) -> str:
        d, n = (np.asarray(x, dtype=float) for x in (self._along(scene), self._upright(scene)))
        if not d.any():
            return self.missing()
        across = np.cross(n, d / np.linalg.norm(d))
        return f"its first axis points along the upright axis {self.upright}: no second is level" * (not across.any())


@register("velocity")
class AlongVelocity(_Directed, _Followed):
    """A frame whose first axis is along the velocity of its origin: the mass center of the system, or a place.

    Wind axes.  The second axis stays level.
    """

    follows_velocity: ClassVar[bool] = True
    point: Frame | None = special("base", "a place whose velocity it follows, in place of the mass center")

    def check(self) -> None:
        if self.point is not None and self.of:
            raise self.error_at("point", "give point or of, not both")

    def within(self, system: System) -> Observer:
        return self if self.point is not None else super().within(system)

    def _along(self, scene: VelocityScene) -> Array:
        return self.center_velocity(scene) if self.point is None else scene.velocity(self.point)[1]

    def missing(self) -> str:
        who = "the mass center" if self.point is None else str(self.point)
        return f"{who} does not move: there are no axes along its velocity"

    def pose(self, scene: VelocityScene) -> Pose:  # type: ignore[override]
        origin = self.center(scene) if self.point is None else scene.pose(self.point).p
        return Pose(DirectedAxes(self._along(scene), self._upright(scene)).R, origin)

    def velocity(self, scene: AccelerationScene) -> Rates:  # type: ignore[override]
        if not hasattr(scene, "acceleration"):
            raise self.error_at(None, "its angular velocity needs accelerations")
        v, n = self._along(scene), self._upright(scene)
        turning = cross(scene.velocity(self.on)[0], n)
        return DirectedAxes(v, n, self.origin_acceleration(scene), turning).rates()[2], v

    def origin_velocity(self, scene: VelocityScene) -> Array:
        return self._along(scene)

    def acceleration(self, scene: AccelerationScene) -> Rates:
        raise self.error_at(None, f"follows a velocity: {JERK}")

    def origin_acceleration(self, scene: AccelerationScene) -> Array:
        return self.center_acceleration(scene) if self.point is None else scene.acceleration(self.point)[1]


@register("line")
class AlongLine(_Directed):
    """A frame at one point, whose first axis points to another; the second axis stays level."""

    start: Frame = special("base", "the place of its origin")
    end: Frame = special("base", "the place that its first axis points to")

    def check(self) -> None:
        for field in ("start", "end"):
            if getattr(self, field) is None:
                raise self.error_at(field, "a line needs the places of its start and end")
        if self.start == self.end:
            raise self.error_at("end", f"starts and ends at {self.start}")

    def _along(self, scene: PositionScene) -> Array:
        return tidy(scene.pose(self.end).p - scene.pose(self.start).p)

    def missing(self) -> str:
        return f"{self.start} and {self.end} are in one place: no line goes from one to the other"

    def pose(self, scene: PositionScene) -> Pose:
        return Pose(DirectedAxes(self._along(scene), self._upright(scene)).R, scene.pose(self.start).p)

    def _moving(self, scene: VelocityScene) -> DirectedAxes:
        n = self._upright(scene)
        d1 = scene.velocity(self.end)[1] - scene.velocity(self.start)[1]
        return DirectedAxes(self._along(scene), n, d1, cross(scene.velocity(self.on)[0], n))

    def velocity(self, scene: VelocityScene) -> Rates:
        return self._moving(scene).rates()[2], scene.velocity(self.start)[1]

    def acceleration(self, scene: AccelerationScene) -> Rates:
        (w, _), (eps, _), n = scene.velocity(self.on), scene.acceleration(self.on), self._upright(scene)
        n2 = cross(eps, n) + cross(w, cross(w, n))
        a = scene.acceleration(self.start)[1]
        return self._moving(scene).turning_rate(scene.acceleration(self.end)[1] - a, n2), a
