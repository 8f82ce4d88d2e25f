"""The earth: its pull toward a center, and its turning under what stands on it.

Both act on every body of the system, whatever the bodies are joined to, and both have a potential.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kinode.algebra.scalars import Array, Scalar, cos, inverse, sin, sqrt, tidy
from kinode.algebra.spatial import cross, dot
from kinode.model.base.element import Element, Load, turned_letter
from kinode.model.base.fields import POSITIVE, Value, choice, frame, number, record
from kinode.model.base.frames import LETTERS, Frame, axis_vector
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene, PositionScene, VelocityScene

if TYPE_CHECKING:
    from kinode.model.system import System

ORDER = 90  # in lists of kinds

EARTH_MU = 3.986004418e14  # m^3/s^2, WGS 84
EARTH_RATE = 7.292115e-5  # rad/s


@record
class _Everywhere(Element):
    """An element that acts on all bodies; a system has at most one of each kind."""

    everywhere: ClassVar[bool] = True

    @property
    def conservative(self) -> bool:
        return True

    def check_in(self, system: System) -> None:
        others = [e.name for e in system.elements.values() if e.kind == self.kind and e.name != self.name]
        if others:
            message = f"acts on every body already, and {others[0]} does so once more; keep one of them"
            raise self.error_at(None, message)


@register("central_gravity", symbol="gravity", shortcut=True)
class CentralGravity(_Everywhere):
    """The pull of a sphere on every body, with the moment by which it turns long bodies upright.

    With r from the center to a mass center, n = r / |r|, m and J mass and inertia about the mass center, to the second
    order in size over distance (MacCullagh):

        potential = -mu m / r - mu (tr J - 3 n.J n) / (2 r^3)
        force     = -mu m n / r^2 - 3 mu ((tr J - 5 n.J n) n + 2 J n) / (2 r^4)
        moment    = 3 mu n x J n / r^3
    """

    quantities: ClassVar[dict[str, str]] = {"potential": "energy"}
    single: ClassVar[frozenset[str]] = frozenset(quantities)

    center: Frame = frame("center of the sphere", Frame("world"))
    mu: Value = number(
        None, "gravitational constant times mass, m^3/s^2; the earth's if left out", EARTH_MU, range=POSITIVE
    )

    def check_in(self, system: System) -> None:
        super().check_in(system)
        if any(system.nominal(x) != 0.0 for x in system.gravity):
            raise self.error_at(None, "acts in place of the system's uniform gravity: set gravity to (0, 0, 0)")
        if self.center.body != "world":
            message = f"is a place in the world, not on {self.center.body}, which would not feel the opposite pull"
            raise self.error_at("center", message)

    def wrenches(self, scene: PositionScene) -> Sequence[Load]:
        loads, mu = [], scene.law(self.mu)
        for com, mass, J in scene.solids:
            n, away, Jn, along, size = self._seen(scene, com, J)
            square = away * away
            second = (n * (size - 5.0 * along) + 2.0 * Jn) * (1.5 * square)
            force = (n * mass + second) * (-mu * square)
            loads.append(Load(com, tidy(force), tidy(cross(n, Jn) * (3.0 * mu * square * away))))
        return loads

    def potential(self, scene: PositionScene) -> Scalar:
        total: Scalar = 0.0
        for com, mass, J in scene.solids:
            _, away, _, along, size = self._seen(scene, com, J)
            total = total - (mass + (size - 3.0 * along) * (0.5 * away * away)) * away
        return total * scene.law(self.mu)

    def quantity(self, name: str, scene: PositionScene) -> Scalar:
        return self.potential(scene)

    def _seen(self, scene: PositionScene, com: Frame, J: Array) -> tuple[Array, Scalar, Array, Scalar, Scalar]:
        """n, 1 / r, J n in world axes, n.J n, tr J."""
        X = scene.pose(com)
        r = X.p - scene.pose(self.center).p
        away = inverse(sqrt(dot(r, r)))
        n = r * away
        Jn = X.R @ (J @ (X.R.T @ n))
        return n, away, Jn, dot(n, Jn), J[0, 0] + J[1, 1] + J[2, 2]


@register("earth_rotation", symbol="earth_rotation", shortcut=True)
class EarthRotation(_Everywhere):
    """The world turns evenly about an axis: what is at rest in it feels the earth's rotation.

    The world's axes stay those of a place on the earth, at a latitude, and with Omega their angular velocity every body
    feels what inertia asks for beyond its motion relative to them.  With r from a point of the axis to its mass center,
    v the velocity of that and w its angular velocity:

        force     = -m (2 Omega x v + Omega x (Omega x r))
        moment    = -(w x J Omega - J (w x Omega) + Omega x J w + Omega x J Omega)
        potential = -1/2 m |Omega x r|^2 - 1/2 Omega.J Omega

    The axis goes through the world's origin, so that nothing is added to the gravity there: the system's ``gravity`` is
    what a plumb line shows.  With central gravity, which is the pull alone, let it go through the center.
    """

    quantities: ClassVar[dict[str, str]] = {"angular_velocity": "angular_velocity", "potential": "energy"}
    single: ClassVar[frozenset[str]] = frozenset({"potential"})

    latitude: Value = number("angle", "latitude of the world's origin, north positive")
    north: str = choice(LETTERS, "axis of the world that points north", "x")
    up: str = choice(LETTERS, "axis of the world that points up", "z")
    through: Frame = frame("a point of the axis, in the world", Frame("world"))
    rate: Value = number("angular_velocity", "rate of turning; the earth's if left out", EARTH_RATE)

    def check(self) -> None:
        if self.north[-1] == self.up[-1]:
            raise self.error_at("north", f"up is {self.up}: north is level")
        if self.through.body != "world":
            raise self.error_at("through", f"is a place in the world, not on {self.through.body}")

    def placed(self, world: Frame) -> Element:
        """North and up are axes of the world that it was made in, and have to be some of the other's."""
        return dataclasses.replace(self, **{field: turned_letter(self, field, world) for field in ("north", "up")})

    def turning(self, scene: LawScene) -> Array:
        """Omega."""
        north, up = (np.array(axis_vector(axis), dtype=float) for axis in (self.north, self.up))
        latitude = scene.law(self.latitude)
        return tidy((north * cos(latitude) + up * sin(latitude)) * scene.law(self.rate))

    def wrenches(self, scene: VelocityScene) -> Sequence[Load]:
        loads, Omega = [], self.turning(scene)
        for com, mass, J in scene.solids:
            X, (w, v) = scene.pose(com), scene.velocity(com)
            J = X.R @ J @ X.R.T
            r = X.p - scene.pose(self.through).p
            force = cross(Omega, 2.0 * v + cross(Omega, r)) * -mass
            moment = J @ cross(w, Omega) - cross(w, J @ Omega) - cross(Omega, J @ (w + Omega))
            loads.append(Load(com, tidy(force), tidy(moment)))
        return loads

    def potential(self, scene: PositionScene) -> Scalar:
        total, Omega = 0.0, self.turning(scene)
        for com, mass, J in scene.solids:
            X = scene.pose(com)
            around, seen = cross(Omega, X.p - scene.pose(self.through).p), X.R.T @ Omega
            total = total - 0.5 * (mass * dot(around, around) + dot(seen, J @ seen))
        return total

    def quantity(self, name: str, scene: PositionScene) -> Scalar:
        return self.turning(scene) if name == "angular_velocity" else self.potential(scene)
