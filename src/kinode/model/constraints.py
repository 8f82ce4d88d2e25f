"""Constraints beyond joints: what ties frames or coordinates together, one class for each kind.

A constraint gives ``residual(scene)``, which vanishes where it holds (of poses and joint coordinates), and
``slip(scene)``, which vanishes where nothing slips (linear in velocities); ``units`` names the unit of each
row, residuals (length, angle) first, slips (velocity, angular_velocity) behind.  Rates, Jacobians, forces,
files and schema are derived.  Lengths and angles may be laws of time, whose rates count too (``scene.law``): an
actuator of prescribed length.  ``Coupled`` constraints tie two joints of one freedom: while both are joints of the
tree, one of them leaves the state and there is no row at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from kinode.algebra.expressions import Expression
from kinode.algebra.scalars import Array, Scalar, atan2, cos, sin, sqrt
from kinode.algebra.spatial import Pose, cross, dot, rotation_to_axis
from kinode.errors import ModelError
from kinode.model.fields import Component, Reader, Spec, Value, choice, frame, law, number, record, special, unknown
from kinode.model.frames import Frame, axis_vector, read_axis

CONSTRAINTS: dict[str, type[Constraint]] = {}
POSITIONS = frozenset({"length", "angle"})  # units of residuals; those of slips are rates
FLAT = 1e-6  # sine of an angle below which two directions count as parallel


class ConstraintScene(Protocol):
    """What a constraint may ask; vectors are in world axes."""

    system: Any

    def pose(self, frame: Frame) -> Pose: ...

    def velocity(self, frame: Frame) -> tuple[Array, Array]:
        """Angular velocity, and velocity of the frame's origin: for slips alone."""
        ...

    def joint_q(self, name: str) -> Array: ...

    def wraps(self, name: str) -> bool:
        """Whether a joint's coordinate is an angle that is known up to full turns."""
        ...

    def resolve(self, value: Value) -> Scalar: ...

    def law(self, value: Value) -> Scalar:
        """A law of time, with its rates where poses have them."""
        ...

    def nominal(self, value: Value) -> float: ...


@dataclass(frozen=True)
class Relation:
    """follower.q = ratio * leader.q + offset."""

    follower: str
    leader: str
    ratio: Value
    offset: Value


@record
class Constraint(Component):
    """Ties bodies or coordinates together beyond what joints do."""

    section: ClassVar[str] = "constraints"
    units: ClassVar[tuple[str, ...]] = ()
    labels: ClassVar[tuple[str, ...]] = ()  # what the rows are called, where there are several

    def rows(self, system: Any) -> tuple[str, ...]:
        """The unit of each row."""
        return self.units

    def residual(self, scene: ConstraintScene) -> Array:
        """What is missing for the constraint to hold."""
        return np.empty(0)

    def slip(self, scene: ConstraintScene) -> Array:
        """The velocities that must not be, linear in those of the frames."""
        return np.empty(0)

    def relation(self, system: Any) -> Relation | None:
        """How one joint follows another, of a constraint that can be had by leaving one out of the state."""
        return None

    def lengths(self, system: Any) -> list[float]:
        """All that tells how large the mechanism is: places of frames on their bodies, fields that are lengths."""
        found = []
        for field, spec in self.specs().values():
            value = getattr(self, field.name)
            if spec.shape == "frame":
                found.append(float(np.linalg.norm(np.asarray(value.pose(system.nominal).p, dtype=float))))
            elif spec.dimension == "length":
                found.append(abs(law_at_start(system, value)))
        return found

    def places(self, system: Any) -> dict[str, Frame]:
        """The bodies that it acts on, and about which point of each its moment is told."""
        sides = [getattr(self, field.name) for field, spec in self.specs().values() if spec.shape == "frame"]
        return {side.body: side for side in sides}

    def check(self, system: Any) -> None:
        """Refuse what cannot hold."""

    @classmethod
    def read_axis(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Any:
        return read_axis(reader, raw, field)

    @classmethod
    def read_axes(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Any:
        return reader.sequence(raw, 2, field, lambda item: read_axis(reader, item, field))

    def _apart(self, *fields: str) -> None:
        """Refuse two frames on one body."""
        one, two = (getattr(self, field) for field in fields)
        if one.body == two.body:
            message = f"both sides are on {one.body}, where nothing can move"
            raise ModelError(message, component=self.name, field=fields[1])

    def _positive(self, system: Any, field: str, hint: str = "") -> None:
        value = law_at_start(system, getattr(self, field))
        if value <= 0:
            raise ModelError(f"must be positive, not {value:g}{hint}", component=self.name, field=field)


def law_at_start(system: Any, value: Value) -> float:
    """A law of time at t = 0, parameters and inputs as the model has them."""
    if not isinstance(value, Expression):
        return float(value)

    def look_up(name: str) -> float:
        if name in system.signals:
            return law_at_start(system, system.signals[name].law)
        if name in system.inputs:
            return float(system.nominal(system.inputs[name].value))
        return 0.0 if name == "t" else float(system.parameter_values()[name])

    return float(value.evaluate(look_up, lambda table, args, axes=(): system.callable_tables[table].call(args, axes)))


def register_constraint(cls: type[Constraint]) -> type[Constraint]:
    """Make a constraint known by its ``kind``."""
    CONSTRAINTS[cls.kind] = cls
    return cls


def _basis(axis: Any, scene: ConstraintScene) -> Array:
    """Axes of a frame turned so that z is the given direction."""
    v = axis_vector(axis)
    return rotation_to_axis([scene.resolve(x) for x in v], [scene.nominal(x) for x in v])


def _direction(axis: Any, scene: ConstraintScene) -> Array:
    return _basis(axis, scene)[:, 2]


def _row(*values: Scalar) -> Array:
    return np.array(values, dtype=object)


# -- between frames --------------------------------------------------------------------------------
@register_constraint
@record
class Distance(Constraint):
    """Two points keep a distance, as if a massless rod held them; the multiplier is its force, positive pushing.

    With a law of time it is an actuator of prescribed length.
    """

    kind: ClassVar[str] = "distance"
    timely: ClassVar[tuple[str, ...]] = ("distance",)
    units: ClassVar[tuple[str, ...]] = ("length",)
    a: Frame = frame("one point")
    b: Frame = frame("the other point")
    distance: Value = law("length", "distance of the two points, or a law of time for it", ...)

    def residual(self, scene: ConstraintScene) -> Array:
        # Half the difference of squares over the length: smooth everywhere, and near the goal the error of length.
        line, length = scene.pose(self.b).p - scene.pose(self.a).p, scene.law(self.distance)
        return _row((dot(line, line) - length * length) * 0.5 / length)

    def check(self, system: Any) -> None:
        self._apart("a", "b")
        self._positive(system, "distance", "; points that meet are a spherical joint")


@register_constraint
@record
class PointOnLine(Constraint):
    """The origin of a frame stays on a line of another; turning is free."""

    kind: ClassVar[str] = "point_on_line"
    units: ClassVar[tuple[str, ...]] = ("length", "length")
    labels: ClassVar[tuple[str, ...]] = ("x", "y")
    point: Frame = frame("the point")
    line: Frame = frame("frame through whose origin the line goes")
    axis: Any = special("axis", "direction of the line, in that frame's axes", "z")

    def residual(self, scene: ConstraintScene) -> Array:
        X = scene.pose(self.line)
        across: Array = (X.R @ _basis(self.axis, scene)).T @ (scene.pose(self.point).p - X.p)
        return across[:2]

    def check(self, system: Any) -> None:
        self._apart("point", "line")


@register_constraint
@record
class PointOnPlane(Constraint):
    """The origin of a frame stays in a plane of another, or at a height over it; turning is free."""

    kind: ClassVar[str] = "point_on_plane"
    timely: ClassVar[tuple[str, ...]] = ("height",)
    units: ClassVar[tuple[str, ...]] = ("length",)
    point: Frame = frame("the point")
    plane: Frame = frame("frame through whose origin the plane goes")
    normal: Any = special("axis", "normal of the plane, in that frame's axes", "z")
    height: Value = law("length", "height of the point over the plane, along the normal, or a law of time", 0.0)

    def residual(self, scene: ConstraintScene) -> Array:
        X = scene.pose(self.plane)
        n = X.R @ _direction(self.normal, scene)
        return _row(dot(n, scene.pose(self.point).p - X.p) - scene.law(self.height))

    def check(self, system: Any) -> None:
        self._apart("point", "plane")


@register_constraint
@record
class Angle(Constraint):
    """Directions of two frames keep an angle, neither parallel nor opposite; the multiplier is the moment."""

    kind: ClassVar[str] = "angle"
    timely: ClassVar[tuple[str, ...]] = ("angle",)
    units: ClassVar[tuple[str, ...]] = ("angle",)
    a: Frame = frame("one frame")
    b: Frame = frame("the other frame")
    axes: Any = special("axes", "the direction in each frame", ("z", "z"))
    angle: Value = law("angle", "angle between the two directions, or a law of time for it", float(np.pi / 2))

    def residual(self, scene: ConstraintScene) -> Array:
        one, two = (
            scene.pose(side).R @ _direction(axis, scene) for side, axis in zip((self.a, self.b), self.axes, strict=True)
        )
        wanted = scene.law(self.angle)
        return _row((cos(wanted) - dot(one, two)) / sin(wanted))  # near the goal the error of the angle

    def check(self, system: Any) -> None:
        self._apart("a", "b")
        angle = law_at_start(system, self.angle)
        if not FLAT < angle < np.pi - FLAT:
            message = f"must lie between 0 and 180 deg, not {np.degrees(angle):g} deg; parallel axes need a joint"
            raise ModelError(message, component=self.name, field="angle")


# -- rolling and sliding ---------------------------------------------------------------------------
@register_constraint
@record
class Rolling(Constraint):
    """A thin disc or a ball rolls on a plane: it touches, and its lowest point does not slip.

    The disc may tilt but not lie flat, since then it would touch everywhere.
    """

    kind: ClassVar[str] = "rolling"
    units: ClassVar[tuple[str, ...]] = ("length", "velocity", "velocity")
    labels: ClassVar[tuple[str, ...]] = ("normal", "x", "y")
    wheel: Frame = frame("frame at the center of the wheel")
    axis: Any = special("axis", "axle of the wheel, in that frame's axes; a ball needs none", "z")
    radius: Value = number("length", "radius of the wheel")
    ground: Frame = frame("frame through whose origin the plane goes", Frame("world"))
    normal: Any = special("axis", "normal of the plane on the side of the wheel, in that frame's axes", "z")
    shape: str = choice(("disc", "ball"), "what rolls", "disc")

    def _contact(self, scene: ConstraintScene) -> tuple[Array, Array, Scalar]:
        """Axes of the plane, from the wheel's center to the contact, height of the center that touching needs."""
        T, r = scene.pose(self.ground).R @ _basis(self.normal, scene), scene.resolve(self.radius)
        n = T[:, 2]
        if self.shape == "ball":
            return T, -r * n, r
        e = scene.pose(self.wheel).R @ _direction(self.axis, scene)
        tilt = dot(n, e)
        upright = sqrt(1.0 - tilt * tilt)
        return T, (tilt * e - n) * (r / upright), r * upright

    def residual(self, scene: ConstraintScene) -> Array:
        T, _, height = self._contact(scene)
        return _row(dot(T[:, 2], scene.pose(self.wheel).p - scene.pose(self.ground).p) - height)

    def slip(self, scene: ConstraintScene) -> Array:
        T, arm, _ = self._contact(scene)
        (w, v), (w_g, v_g) = scene.velocity(self.wheel), scene.velocity(self.ground)
        from_ground = scene.pose(self.wheel).p + arm - scene.pose(self.ground).p
        sliding = v + cross(w, arm) - v_g - cross(w_g, from_ground)
        return _row(dot(T[:, 0], sliding), dot(T[:, 1], sliding))

    def check(self, system: Any) -> None:
        self._apart("wheel", "ground")
        self._positive(system, "radius")


@register_constraint
@record
class KnifeEdge(Constraint):
    """A blade, skate or wheel of no size: its point moves along the blade, not across it in the plane."""

    kind: ClassVar[str] = "knife_edge"
    units: ClassVar[tuple[str, ...]] = ("velocity",)
    blade: Frame = frame("frame at the point of contact")
    axis: Any = special("axis", "direction of the blade, in that frame's axes", "x")
    ground: Frame = frame("what the blade moves on", Frame("world"))
    normal: Any = special("axis", "normal of the plane, in the ground's axes", "z")

    def slip(self, scene: ConstraintScene) -> Array:
        X, G = scene.pose(self.blade), scene.pose(self.ground)
        side = cross(G.R @ _direction(self.normal, scene), X.R @ _direction(self.axis, scene))
        (_, v), (w_g, v_g) = scene.velocity(self.blade), scene.velocity(self.ground)
        across = dot(side, v - v_g - cross(w_g, X.p - G.p))
        return _row(across / sqrt(dot(side, side)))

    def check(self, system: Any) -> None:
        self._apart("blade", "ground")


# -- between joints --------------------------------------------------------------------------------
@record
class Coupled(Constraint):
    """Two joints of one freedom, of which one follows the other."""

    def joints(self) -> dict[str, str]:
        """Fields that name joints, and the joints."""
        return {
            name: getattr(self, field.name) for name, (field, spec) in self.specs().items() if spec.shape == "joint"
        }

    def relation(self, system: Any) -> Relation:
        raise NotImplementedError

    def places(self, system: Any) -> dict[str, Frame]:
        joints = [system.joints[name] for name in self.joints().values()]
        return {side.body: Frame(side.body) for joint in joints for side in (joint.a, joint.b)}

    def rows(self, system: Any) -> tuple[str, ...]:
        return (system.joints[self.relation(system).follower].coordinates[0][1],)

    def residual(self, scene: ConstraintScene) -> Array:
        tie = self.relation(scene.system)
        ratio = scene.resolve(tie.ratio)
        follower, leader = scene.joint_q(tie.follower)[0], scene.joint_q(tie.leader)[0]
        off = follower - ratio * leader - scene.resolve(tie.offset)
        if scene.wraps(tie.follower):
            off = _within_a_turn(off)
        elif scene.wraps(tie.leader):
            off = ratio * _within_a_turn(off / ratio)
        return _row(off)

    def check(self, system: Any) -> None:
        for field, name in self.joints().items():
            joint = system.joints.get(name)
            if joint is None:
                message = unknown("no joint is called", name, system.joints)
                raise ModelError(message, component=self.name, field=field)
            if joint.n_u != 1:
                message = f"{joint.name} has {joint.n_u} freedoms; a {self.kind} ties joints with one"
                raise ModelError(message, component=self.name, field=field)
        one, two = self.joints().values()
        if one == two:
            raise ModelError("ties a joint to itself", component=self.name)


def _within_a_turn(angle: Scalar) -> Scalar:
    return atan2(sin(angle), cos(angle))


@register_constraint
@record
class Gear(Coupled):
    """input.q = ratio * output.q + offset, for two joints of one freedom."""

    kind: ClassVar[str] = "gear"
    input: str = special("joint", "the joint that follows", ...)
    output: str = special("joint", "the joint that leads", ...)
    ratio: Value = number(None, "input.q for a unit of output.q")
    offset: Value = number(None, "input.q where output.q is 0", 0.0)

    def relation(self, system: Any) -> Relation:
        return Relation(self.input, self.output, self.ratio, self.offset)

    def check(self, system: Any) -> None:
        super().check(system)
        if system.joints[self.input].driven:
            raise ModelError(f"{self.input} has a prescribed motion already", component=self.name, field="input")
        if self.ratio == 0.0:
            raise ModelError("must not be zero", component=self.name, field="ratio")


@register_constraint
@record
class Rack(Coupled):
    """rack.q = radius * pinion.q + offset, for a slide and a hinge; a negative radius turns the other way."""

    kind: ClassVar[str] = "rack"
    rack: str = special("joint", "the joint that travels", ...)
    pinion: str = special("joint", "the joint that turns", ...)
    radius: Value = number("length", "travel for a radian of the pinion: its pitch radius")
    offset: Value = number("length", "travel where the pinion's angle is 0", 0.0)

    def relation(self, system: Any) -> Relation:
        """The rack follows, unless its travel is prescribed."""
        if not system.joints[self.rack].driven:
            return Relation(self.rack, self.pinion, self.radius, self.offset)
        return Relation(self.pinion, self.rack, 1.0 / self.radius, -1.0 * self.offset / self.radius)

    def check(self, system: Any) -> None:
        super().check(system)
        for field, unit in (("rack", "length"), ("pinion", "angle")):
            joint = system.joints[getattr(self, field)]
            if joint.coordinates[0][1] != unit:
                verb = {"length": "travel", "angle": "turn"}[unit]
                raise ModelError(f"{joint.name} does not {verb}", component=self.name, field=field)
        if system.joints[self.rack].driven and system.joints[self.pinion].driven:
            raise ModelError("both joints have a prescribed motion already", component=self.name)
        if self.radius == 0.0:
            raise ModelError("must not be zero", component=self.name, field="radius")
