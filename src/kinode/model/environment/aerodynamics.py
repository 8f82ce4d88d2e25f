"""Loads of the air on a body, by its coefficients.

The air meets a body with v, the velocity of the reference point less the wind; V = |v|.  In axes with x ahead, y to the
right and z below, as flight mechanics has them (or any others: the definitions are these), with v = (v_x, v_y, v_z) and
the body's angular velocity (p, q, r):

    alpha = atan2(v_z, v_x)     beta = asin(v_y / V)     incidence: the angle between x and v
    mach = V / sound_speed      dynamic_pressure = 1/2 density V^2
    roll_ratio, pitch_ratio, yaw_ratio = p l / V, q l / V, r l / V      with l the reference length

Coefficients are laws in which these names can be used, and tables can be called.  Density and speed of sound are those
of the standard atmosphere unless other laws are given.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from kinode.algebra.scalars import Array, Scalar, atan2, inverse, sqrt, tidy
from kinode.algebra.spatial import cross, dot
from kinode.errors import LawError
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.element import Element, Load, check_still
from kinode.model.base.fields import POSITIVE, Value, Vector, frame, law, laws, number, record, special
from kinode.model.base.frames import ZERO, Frame
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene, PositionScene, VelocityScene
from kinode.model.environment.atmosphere import air_density, air_sound_speed

if TYPE_CHECKING:
    from kinode.model.system import System

ORDER = 110  # in lists of kinds

AIR = {"altitude": "length", "density": "density", "sound_speed": "velocity"}
FLOW = {
    "airspeed": "velocity", "mach": "dimensionless", "dynamic_pressure": "pressure",
    "alpha": "angle", "beta": "angle", "incidence": "angle",
    "roll_ratio": "dimensionless", "pitch_ratio": "dimensionless", "yaw_ratio": "dimensionless",
}  # fmt: skip
NAMES = frozenset((*AIR, *FLOW))
# m/s: added to the speed so that angles, ratios and their derivatives stay finite in still air.  It is too small to
# change a result.
STILL_AIR_SPEED = 1e-12


@record
class _Airborne(Element):
    """What all loads of the air have in common: the air, the flow and the sizes."""

    quantities: ClassVar[dict[str, str]] = {"force": "force", "moment": "moment", "wind": "velocity", **AIR, **FLOW}
    single: ClassVar[frozenset[str]] = NAMES
    lawful: ClassVar[frozenset[str]] = frozenset(quantities)
    symbol: ClassVar[str] = "aerodynamics"
    local: ClassVar[Mapping[str, frozenset[str]]] = {
        **dict.fromkeys(("wind", "density", "sound_speed"), frozenset({"altitude"}))
    }

    on: Frame = frame("body, or frame whose origin is the reference point")
    expressed_in: Frame | None = special(
        "axes_of", "axes of coefficients and angles, x ahead; those of `on` if left out"
    )
    area: Value = number("area", "reference area", range=POSITIVE)
    length: Value = number("length", "reference length", range=POSITIVE)
    wind: Vector = laws("velocity", "velocity of the air, in world axes; laws may use altitude", ZERO)
    density: Value | None = law(
        "density", "density of the air, a law of altitude; standard if left out", range=POSITIVE
    )
    sound_speed: Value | None = law(
        "velocity", "speed of sound, a law of altitude; standard if left out", range=POSITIVE
    )
    altitude: Value | None = law("length", "altitude; if left out, height over the world's origin, against gravity")

    def check_in(self, system: System) -> None:
        """The direction against gravity, which defines the altitude."""
        weightless = all(system.nominal(x) == 0.0 for x in system.gravity)
        if weightless and self.altitude is None and self._asks_altitude():
            message = "there is no gravity to tell which way is up: give a law for it, or for density and sound_speed"
            raise self.error_at("altitude", message)

    def placed(self, world: Frame) -> Element:
        """The wind has components in the axes of the world of its own system."""
        if world == Frame("world") or self.wind == ZERO:
            return self
        R = world.pose(lambda x: x).R
        check_still(world, R.flat, self.name, "wind")
        wind = (sum((r * x for r, x in zip(row, self.wind, strict=True) if r != 0.0), 0.0) for row in R)
        return dataclasses.replace(self, wind=tuple(wind))

    def _asks_altitude(self) -> bool:
        if self.density is None or self.sound_speed is None:
            return True
        expressions = (e for field, e in self.expressions() if "altitude" in self.local.get(field, ()))
        return any("altitude" in e.names() for e in expressions)

    # -- the flow --------------------------------------------------------------------------------------
    def axes(self, scene: PositionScene) -> Array:
        """R_WA."""
        return scene.pose(self.on if self.expressed_in is None else self.expressed_in).R

    def flow(self, scene: VelocityScene) -> Array:
        """Velocity of the reference point through the air, in world axes."""
        return tidy(scene.velocity(self.on)[1] - self._wind(scene))

    def _wind(self, scene: LawScene) -> Array:
        return tidy([scene.law(self.own("wind", x)) for x in self.wind])

    def _law(self, scene: LawScene, field: str) -> Scalar:
        return scene.law(self.own(field, getattr(self, field)))

    def _named(self, scene: LawScene, name: str) -> Scalar:
        """A quantity of its own, kept for the instant."""
        return scene.law(Expression("name", (f"{self.name}.{name}",)))

    def quantity(self, name: str, scene: VelocityScene) -> Scalar:
        if name in AIR:
            return self._air(name, scene)
        if name in FLOW:
            return self._flow(name, scene)
        if name == "wind":
            return self._wind(scene)
        return self.load(scene)[name == "moment"]

    def _air(self, name: str, scene: PositionScene) -> Scalar:
        if getattr(self, name) is not None:
            return self._law(scene, name)
        if name == "altitude":
            g = scene.gravity
            return -dot(scene.pose(self.on).p, g) * inverse(sqrt(dot(g, g)))
        h = self._named(scene, "altitude")
        try:
            return air_density(h) if name == "density" else air_sound_speed(h)
        except LawError as error:
            raise self.error_at(name, error.message) from None

    def _flow(self, name: str, scene: VelocityScene) -> Scalar:
        v = self.flow(scene)
        V = sqrt(dot(v, v) + STILL_AIR_SPEED * STILL_AIR_SPEED)
        match name:
            case "airspeed":
                return V
            case "mach":
                return V / self._named(scene, "sound_speed")
            case "dynamic_pressure":
                return 0.5 * self._named(scene, "density") * dot(v, v)
        R = self.axes(scene)
        if name in ("roll_ratio", "pitch_ratio", "yaw_ratio"):
            k = ("roll_ratio", "pitch_ratio", "yaw_ratio").index(name)
            return dot(R[:, k], scene.velocity(self.on)[0]) * scene.law(self.length) / V
        x, y, z = R.T @ v
        match name:
            case "alpha":
                return atan2(z, x + STILL_AIR_SPEED)
            case "beta":
                return atan2(y, sqrt(x * x + z * z + STILL_AIR_SPEED * STILL_AIR_SPEED))
        return atan2(sqrt(y * y + z * z + STILL_AIR_SPEED * STILL_AIR_SPEED), x + STILL_AIR_SPEED)

    # -- the load --------------------------------------------------------------------------------------
    def load(self, scene: VelocityScene) -> tuple[Array, Array]:
        """Force at the reference point and moment about it, in world axes."""
        raise NotImplementedError

    def wrenches(self, scene: VelocityScene) -> Sequence[Load]:
        return (Load(self.on, *self.load(scene)),)


@register("aerodynamic", shortcut=True)
class Aerodynamic(_Airborne):
    """Air on any body, by six coefficients along the axes.

    force = dynamic_pressure area C_F,  moment = dynamic_pressure area length C_M.
    """

    local: ClassVar[Mapping[str, frozenset[str]]] = {
        **_Airborne.local, "force_coefficients": NAMES, "moment_coefficients": NAMES,
    }  # fmt: skip
    force_coefficients: Vector = laws("dimensionless", "of the force along x, y, z", ZERO)
    moment_coefficients: Vector = laws("dimensionless", "of the moment about x, y, z", ZERO)

    def check(self) -> None:
        super().check()
        if self.force_coefficients == ZERO and self.moment_coefficients == ZERO:
            raise self.error_at(None, "has neither force_coefficients nor moment_coefficients")

    def load(self, scene: VelocityScene) -> tuple[Array, Array]:
        R = self.axes(scene) * (self._named(scene, "dynamic_pressure") * scene.law(self.area))
        force = R @ self._coefficients(scene, "force_coefficients")
        return force, R @ self._coefficients(scene, "moment_coefficients") * scene.law(self.length)

    def _coefficients(self, scene: LawScene, field: str) -> Array:
        return tidy([scene.law(self.own(field, x)) for x in getattr(self, field)])


COEFFICIENTS = ("drag", "lift", "magnus_force", "roll_damping", "overturning", "pitch_damping", "magnus_moment")


@register("ballistic", shortcut=True)
class Ballistic(_Airborne):
    """Air on a body of revolution, as exterior ballistics has it (McCoy, Modern Exterior Ballistics, chapter 2).

    With x along the axis of revolution, i = v / V, S and d the reference area and diameter, p the spin and
    Q = 1/2 density V^2 S:

        force  = -Q C_D i + Q C_La i x (x x i) + Q (p d / V) C_Npa i x x
        moment = Q d (p d / V) C_lp x + Q d C_Ma i x x + Q d (d / V) C_Mq x x x_dot + Q d (p d / V) C_Mpa x x (i x x)

    in this order: drag, lift, magnus_force; roll_damping, overturning, pitch_damping (C_Mq + C_Ma_dot), magnus_moment.
    Written below with v = V i, which needs no division and holds in still air too.
    """

    local: ClassVar[Mapping[str, frozenset[str]]] = {**_Airborne.local, **dict.fromkeys(COEFFICIENTS, NAMES)}
    drag: Value = law("dimensionless", "C_D, against the flow", 0.0)
    lift: Value = law("dimensionless", "C_La, across the flow, for a unit of sin(incidence)", 0.0)
    magnus_force: Value = law("dimensionless", "C_Npa, for a unit of roll_ratio and sin(incidence)", 0.0)
    roll_damping: Value = law("dimensionless", "C_lp, for a unit of roll_ratio", 0.0)
    overturning: Value = law("dimensionless", "C_Ma, for a unit of sin(incidence)", 0.0)
    pitch_damping: Value = law("dimensionless", "C_Mq + C_Ma_dot, for a unit of rate times length over airspeed", 0.0)
    magnus_moment: Value = law("dimensionless", "C_Mpa, for a unit of roll_ratio and sin(incidence)", 0.0)

    def check(self) -> None:
        super().check()
        if all(getattr(self, field) == 0.0 for field in COEFFICIENTS):
            raise self.error_at(None, f"has no coefficient: give some of {', '.join(COEFFICIENTS)}")

    def load(self, scene: VelocityScene) -> tuple[Array, Array]:
        C = {field: self._law(scene, field) for field in COEFFICIENTS}
        v, x, (w, _), d = self.flow(scene), self.axes(scene)[:, 0], scene.velocity(self.on), scene.law(self.length)
        V, p, side = self._named(scene, "airspeed"), dot(x, w), cross(v, x)
        scale = 0.5 * self._named(scene, "density") * scene.law(self.area)
        ahead = dot(v, x)
        force = v * (-C["drag"] * V) + (x * dot(v, v) - v * ahead) * C["lift"] + side * (d * p * C["magnus_force"])
        moment = x * (d * V * p * C["roll_damping"]) + side * (V * C["overturning"])
        moment = moment + (w - x * p) * (d * V * C["pitch_damping"]) + (v - x * ahead) * (d * p * C["magnus_moment"])
        return tidy(force * scale), tidy(moment * (scale * d))
