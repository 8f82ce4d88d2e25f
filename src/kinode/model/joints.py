"""The nine joints; ``joint.py`` says what each method is.  ``Reversed`` walks a joint from its child side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from kinode.algebra.scalars import Array, Scalar, atan2, cos, sin, sqrt, tidy
from kinode.algebra.spatial import (
    IDENTITY3,
    ZERO3,
    Pose,
    cross,
    dot,
    quaternion_from_rotation,
    quaternion_of,
    rotation_about,
    rotation_from_quaternion,
    skew,
    turn_about,
)
from kinode.algebra.spatial import (
    vector as vec,
)
from kinode.errors import ModelError
from kinode.model import friction
from kinode.model.fields import Reader, Spec, Value, Values, number, record, special, vector
from kinode.model.frames import ROTATIONS, Resolve, axis_vector, read_axis, read_rotation, rotation_matrix
from kinode.model.friction import Contact, Sizes
from kinode.model.joint import DERIVED, JOINTS, AxialJoint, Joint, Limits, register_joint

__all__ = ["DERIVED", "JOINTS", "Joint", "Limits", "Reversed", "register_joint"]

Z = np.array([0.0, 0.0, 1.0])
BEARING = "where the surfaces of the bearing slide"


@register_joint
@record
class Fixed(Joint):
    """Holds b rigidly to a."""

    kind: ClassVar[str] = "fixed"
    no_friction: ClassVar[str] = "it does not move"

    def transform(self, q: Array, form: Array) -> Pose:
        return Pose(IDENTITY3, ZERO3)

    def motion_subspace(self, q: Array, form: Array) -> Array:
        return np.zeros((6, 0))

    def closure(self, X: Pose, form: Array) -> Array:
        return np.concatenate([X.p, small_rotation(X.R)])

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        return np.zeros(0)


@register_joint
@record
class Revolute(AxialJoint):
    """A hinge: b turns about the axis."""

    kind: ClassVar[str] = "revolute"
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (("angle", "angle"),)
    n_q: ClassVar[int] = 1
    rubs: ClassVar[Mapping[str, str] | None] = {"radius": BEARING, "thrust_radius": "", "length": ""}

    def transform(self, q: Array, form: Array) -> Pose:
        R, turn = turn_about(2, q[0])
        return Pose(R, ZERO3, turn)

    def motion_subspace(self, q: Array, form: Array) -> Array:
        return np.concatenate([Z, ZERO3])[:, None]

    def contacts(self, sizes: Sizes, q: Array, u: Array, form: Array) -> list[Contact]:
        return [friction.journal(sizes, Z, tidy([sizes.share(u[0])]))]

    def closure(self, X: Pose, form: Array) -> Array:
        return np.array([X.p[0], X.p[1], X.p[2], X.R[0, 2], X.R[1, 2]])

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        return np.array([angle_about_z(X.R)])


@register_joint
@record
class Prismatic(AxialJoint):
    """A slide: b travels along the axis."""

    kind: ClassVar[str] = "prismatic"
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (("travel", "length"),)
    n_q: ClassVar[int] = 1
    rubs: ClassVar[Mapping[str, str] | None] = {"radius": "", "length": ""}

    def transform(self, q: Array, form: Array) -> Pose:
        return Pose(IDENTITY3, vec(0.0, 0.0, q[0]), (2, 1.0, 0.0))

    def motion_subspace(self, q: Array, form: Array) -> Array:
        return np.concatenate([ZERO3, Z])[:, None]

    def contacts(self, sizes: Sizes, q: Array, u: Array, form: Array) -> list[Contact]:
        return [friction.guide(sizes, Z, tidy([sizes.share(u[0])]), keyed=True)]

    def closure(self, X: Pose, form: Array) -> Array:
        return np.concatenate([X.p[:2], small_rotation(X.R)])

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        return np.array([X.p[2]])


@register_joint
@record
class Cylindrical(AxialJoint):
    """b travels along the axis and turns about it."""

    kind: ClassVar[str] = "cylindrical"
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (("travel", "length"), ("angle", "angle"))
    n_q: ClassVar[int] = 2
    rubs: ClassVar[Mapping[str, str] | None] = {"radius": BEARING, "length": ""}

    def transform(self, q: Array, form: Array) -> Pose:
        R, turn = turn_about(2, q[1])
        return Pose(R, vec(0.0, 0.0, q[0]), turn)

    def motion_subspace(self, q: Array, form: Array) -> Array:
        return np.column_stack([np.concatenate([ZERO3, Z]), np.concatenate([Z, ZERO3])])

    def contacts(self, sizes: Sizes, q: Array, u: Array, form: Array) -> list[Contact]:
        return [friction.guide(sizes, Z, sizes.against(u, (1.0, sizes.arm)))]

    def closure(self, X: Pose, form: Array) -> Array:
        return np.array([X.p[0], X.p[1], X.R[0, 2], X.R[1, 2]])

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        return np.array([X.p[2], angle_about_z(X.R)])


@register_joint
@record
class Screw(AxialJoint):
    """b turns about the axis and advances by ``lead`` for each turn."""

    kind: ClassVar[str] = "screw"
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (("angle", "angle"),)
    n_q: ClassVar[int] = 1
    rubs: ClassVar[Mapping[str, str] | None] = {"radius": "the mean radius of the thread"}
    lead: Value = number("length", "advance for one whole turn")

    def form(self, resolve: Resolve) -> Array:
        return tidy([resolve(self.lead) / (2.0 * math.pi)])

    def transform(self, q: Array, form: Array) -> Pose:
        R, turn = turn_about(2, q[0])
        return Pose(R, vec(0.0, 0.0, form[0] * q[0]), turn)

    def motion_subspace(self, q: Array, form: Array) -> Array:
        return np.array([0.0, 0.0, 1.0, 0.0, 0.0, form[0]], dtype=object)[:, None]

    def effort_wrench(self, q: Array, form: Array) -> Array:
        return np.concatenate([Z, ZERO3])[:, None]

    def locks_itself(self, nominal: Resolve) -> bool:
        """The friction angle is above the lead angle; that of rest counts where it is given."""
        if self.friction is None or self.friction.slip is not None or self.friction.radius is None:
            return False
        static = self.friction.static_coefficient
        coefficient = nominal(self.friction.coefficient if static is None else static)
        slope = abs(nominal(self.lead)) / (2.0 * math.pi * nominal(self.friction.radius))
        return bool(coefficient > slope)

    def contacts(self, sizes: Sizes, q: Array, u: Array, form: Array) -> list[Contact]:
        return [friction.thread(sizes, form[0], tidy([sizes.share(u[0])]))]

    def closure(self, X: Pose, form: Array) -> Array:
        """The advance is compared within one turn; whole turns are told apart by following the motion."""
        ahead = X.p[2] / form[0]
        return np.array([X.p[0], X.p[1], X.R[0, 2], X.R[1, 2], X.R[1, 0] * cos(ahead) - X.R[0, 0] * sin(ahead)])

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        return np.array([X.p[2] / form[0]])


@register_joint
@record
class Universal(Joint):
    """b turns about axes[0], fixed in a, then about axes[1], fixed in b."""

    kind: ClassVar[str] = "universal"
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (("first", "angle"), ("second", "angle"))
    n_q: ClassVar[int] = 2
    rubs: ClassVar[Mapping[str, str] | None] = {"radius": "that of the pins", "length": ""}
    axes: Any = special("axes", "the two axes, first in a, second in b", ("x", "y"))

    @classmethod
    def read_axes(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Any:
        pair = reader.sequence(raw, 2, "axes", lambda item: read_axis(reader, item, "axes"))
        one, two = (np.array([x if isinstance(x, float) else 0.0 for x in axis_vector(axis)]) for axis in pair)
        if np.linalg.norm(np.cross(one, two)) < 1e-6:
            raise reader.fail("axes", "the two axes of a universal joint must not be parallel")
        return pair

    def axis_rotation(self, resolve: Resolve, nominal: Resolve) -> Array:
        """Canonical: the first axis is z, the second in the plane of x and z."""
        first, second = (axis_vector(axis) for axis in self.axes)
        z = np.array([resolve(x) for x in first], dtype=object)
        y = cross(z, np.array([resolve(x) for x in second], dtype=object))
        z = z / sqrt(z @ z)
        y = y / sqrt(y @ y)
        return tidy(np.column_stack([cross(y, z), y, z]))

    def form(self, resolve: Resolve) -> Array:
        first, second = (np.array([resolve(x) for x in axis_vector(axis)], dtype=object) for axis in self.axes)
        along = first @ second / sqrt((first @ first) * (second @ second))
        return tidy([sqrt(1.0 - along * along), along])

    def transform(self, q: Array, form: Array) -> Pose:
        R, _ = turn_about(2, q[0])
        return Pose(R @ rotation_about(vec(form[0], 0.0, form[1]), q[1]), ZERO3)

    def motion_subspace(self, q: Array, form: Array) -> Array:
        second = vec(form[0], 0.0, form[1])
        first = rotation_about(second, q[1]).T @ Z
        return np.vstack([np.column_stack([first, second]), np.zeros((3, 2))])

    def contacts(self, sizes: Sizes, q: Array, u: Array, form: Array) -> list[Contact]:
        """One for each pin; both carry the whole force."""
        second = turn_about(2, q[0])[0] @ vec(form[0], 0.0, form[1])
        ways = tidy([sizes.share(u[0]), 0.0]), tidy([0.0, sizes.share(u[1])])
        return [friction.journal(sizes, axis, way) for axis, way in zip((Z, second), ways, strict=True)]

    def closure(self, X: Pose, form: Array) -> Array:
        second = X.R @ vec(form[0], 0.0, form[1])
        return np.array([X.p[0], X.p[1], X.p[2], second[2] - form[1]])

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        axis, side = vec(form[0], 0.0, form[1]), vec(0.0, 1.0, 0.0)
        second = X.R @ axis
        first = atan2(second[1], second[0])
        turned = turn_about(2, first)[0].T @ (X.R @ side)
        return tidy([first, atan2(dot(cross(axis, side), turned), dot(side, turned))])


@register_joint
@record
class Spherical(Joint):
    """A ball joint; q is a unit quaternion, u the angular velocity in b's axes."""

    kind: ClassVar[str] = "spherical"
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (("x", "angle"), ("y", "angle"), ("z", "angle"))
    n_q: ClassVar[int] = 4
    quaternion: ClassVar[int | None] = 0
    rubs: ClassVar[Mapping[str, str] | None] = {"radius": "that of the ball"}

    def transform(self, q: Array, form: Array) -> Pose:
        return Pose(rotation_from_quaternion(q), ZERO3)

    def motion_subspace(self, q: Array, form: Array) -> Array:
        return np.vstack([IDENTITY3, np.zeros((3, 3))])

    def rate_map(self, q: Array, u: Array) -> Array:
        return quaternion_rate(q, u)

    def contacts(self, sizes: Sizes, q: Array, u: Array, form: Array) -> list[Contact]:
        return [friction.ball(sizes, sizes.against(u, (1.0, 1.0, 1.0)))]

    def closure(self, X: Pose, form: Array) -> Array:
        return X.p

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        return quaternion_of(X.R)

    @classmethod
    def read_per_coordinate(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Values:
        if field in ("stiffness", "neutral"):
            message = f"a {cls.kind} joint turns by a quaternion and has no angle to act on; use an effort law"
            raise reader.fail(field, message)
        return super().read_per_coordinate(reader, raw, field, spec)


@register_joint
@record
class Planar(AxialJoint):
    """b slides in the plane across the axis (x, y in a's axes) and turns about the axis."""

    kind: ClassVar[str] = "planar"
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (("x", "length"), ("y", "length"), ("angle", "angle"))
    n_q: ClassVar[int] = 3
    rubs: ClassVar[Mapping[str, str] | None] = {"radius": "", "length": ""}

    def transform(self, q: Array, form: Array) -> Pose:
        R, turn = turn_about(2, q[2])
        return Pose(R, vec(q[0], q[1], 0.0), turn)

    def motion_subspace(self, q: Array, form: Array) -> Array:
        R, _ = turn_about(2, q[2])
        return np.vstack([np.column_stack([ZERO3, ZERO3, Z]), np.column_stack([R.T[:, 0], R.T[:, 1], ZERO3])])

    def contacts(self, sizes: Sizes, q: Array, u: Array, form: Array) -> list[Contact]:
        return [friction.floor(sizes, Z, sizes.against(u, (1.0, 1.0, sizes.arm)))]

    def closure(self, X: Pose, form: Array) -> Array:
        return np.array([X.p[2], X.R[0, 2], X.R[1, 2]])

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        return np.array([X.p[0], X.p[1], angle_about_z(X.R)])


@register_joint
@record
class Free(Spherical):
    """No constraint; q is x, y, z in a's axes and a unit quaternion, u velocity and angular velocity in b's axes."""

    kind: ClassVar[str] = "free"
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (
        ("x", "length"), ("y", "length"), ("z", "length"), ("wx", "angle"), ("wy", "angle"), ("wz", "angle"),
    )  # fmt: skip
    n_q: ClassVar[int] = 7
    quaternion: ClassVar[int | None] = 3
    rubs: ClassVar[Mapping[str, str] | None] = None
    no_friction: ClassVar[str] = "nothing touches"

    position: Any = vector("length", "initial position of b in a's axes", None, aside=True)
    rotation: Any = special("rotation", "initial rotation: {rpy: ...}, {quaternion: ...}, ...", aside=True)
    velocity: Any = vector("velocity", "initial velocity of b in a's axes", None, aside=True)
    angular_velocity: Any = vector("angular_velocity", "initial angular velocity of b in a's axes", None, aside=True)

    @classmethod
    def gather(cls, reader: Reader, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """rpy=, quaternion=, matrix= and turns= are spellings of the initial rotation."""
        found = dict(super().gather(reader, given))
        ways = {way: found.pop(way) for way in ROTATIONS if found.get(way) is not None}
        return {**found, "rotation": ways} if ways else found

    @classmethod
    def read_rotation(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Any:
        if isinstance(raw, tuple):
            raw = {raw[0]: raw[1]}
        if not isinstance(raw, Mapping):
            raise reader.fail(field, "takes one of rpy, quaternion, matrix, turns")
        return read_rotation(reader, raw, field)

    def check(self) -> None:
        super().check()
        if self.q is not None and (self.position is not None or self.rotation is not None):
            raise ModelError("is given twice: by q and by position or rotation", component=self.name, field="q")
        if self.u is not None and (self.velocity is not None or self.angular_velocity is not None):
            raise ModelError("is given twice: by u and by velocity or angular_velocity", component=self.name, field="u")

    def initial_q(self, resolve: Resolve) -> Array:
        q = super().initial_q(resolve)
        if self.position is not None:
            q[:3] = [float(resolve(x)) for x in self.position]
        if self.rotation is not None:
            q[3:] = quaternion_from_rotation(rotation_matrix(self.rotation, resolve))
        return q

    def initial_u(self, resolve: Resolve, q: Array | None = None) -> Array:
        u = super().initial_u(resolve)
        R = rotation_from_quaternion((self.initial_q(resolve) if q is None else q)[3:]).astype(float)
        if self.velocity is not None:
            u[:3] = R.T @ np.array([float(resolve(x)) for x in self.velocity])
        if self.angular_velocity is not None:
            u[3:] = R.T @ np.array([float(resolve(x)) for x in self.angular_velocity])
        return u

    @property
    def exact_q(self) -> Array:
        found: Array = super().exact_q | np.repeat([self.position is not None, self.rotation is not None], 3)
        return found

    @property
    def exact_u(self) -> Array:
        found: Array = super().exact_u | np.repeat([self.velocity is not None, self.angular_velocity is not None], 3)
        return found

    def transform(self, q: Array, form: Array) -> Pose:
        return Pose(rotation_from_quaternion(q[3:]), q[:3])

    def motion_subspace(self, q: Array, form: Array) -> Array:
        return np.block([[np.zeros((3, 3)), np.eye(3)], [np.eye(3), np.zeros((3, 3))]])

    def rate_map(self, q: Array, u: Array) -> Array:
        return np.concatenate([rotation_from_quaternion(q[3:]) @ u[:3], quaternion_rate(q[3:], u[3:])])

    def closure(self, X: Pose, form: Array) -> Array:
        return np.zeros(0)

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        return np.concatenate([X.p, quaternion_of(X.R)])


class Reversed:
    """A joint walked from its child side: the tree's parent carries M and the tree's child F."""

    def __init__(self, joint: Joint) -> None:
        self.joint = joint
        self.n_q, self.n_u, self.kind = joint.n_q, joint.n_u, "-" + joint.kind
        self.quaternion = joint.quaternion

    def transform(self, q: Array, form: Array) -> Pose:
        return self.joint.transform(q, form).inverse()

    def motion_subspace(self, q: Array, form: Array) -> Array:
        """Velocity of F relative to M in F's axes: minus the joint's own, moved to F."""
        X = self.joint.transform(q, form)
        S = self.joint.motion_subspace(q, form)
        w = X.R @ S[:3]
        v = X.R @ S[3:]
        return np.vstack([-w, skew(X.p).T @ w - v])

    def effort_wrench(self, q: Array, form: Array) -> Array:
        X = self.joint.transform(q, form)
        T = self.joint.effort_wrench(q, form)
        return -np.vstack([X.R @ T[:3] + skew(X.p) @ (X.R @ T[3:]), X.R @ T[3:]])

    def rate_map(self, q: Array, u: Array) -> Array:
        return self.joint.rate_map(q, u)


def quaternion_rate(q: Array, w: Array) -> Array:
    """q_dot of a unit quaternion for an angular velocity in child axes."""
    q0, q1, q2, q3 = q
    w1, w2, w3 = w
    return np.array(
        [
            -0.5 * (q1 * w1 + q2 * w2 + q3 * w3),
            0.5 * (q0 * w1 + q2 * w3 - q3 * w2),
            0.5 * (q0 * w2 + q3 * w1 - q1 * w3),
            0.5 * (q0 * w3 + q1 * w2 - q2 * w1),
        ],
        dtype=object,
    )


def small_rotation(R: Array) -> Array:
    """Three residuals that vanish with the rotation and are its small angles near it."""
    return np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]], dtype=object) * 0.5


def angle_about_z(R: Array) -> Scalar:
    """Angle of a rotation about z."""
    return atan2(R[1, 0], R[0, 0])
