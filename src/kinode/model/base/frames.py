"""Frames: positions and axes on bodies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, sqrt, tidy
from kinode.algebra.spatial import (
    IDENTITY3,
    ZERO3,
    Pose,
    exact_entries,
    rotation_about,
    rotation_from_quaternion,
    rotation_from_rpy,
    turn_about,
)
from kinode.model.base.field_reader import FieldKind, Reader, Schema, plainly, ref
from kinode.model.base.fields import Value, Vector, unknown
from kinode.model.base.value_walk import XYZ, Form, ValueWalk, is_plain_tuple

Resolve = Callable[[Value], Scalar]
ZERO: Vector = (0.0, 0.0, 0.0)
LETTERS = ("x", "y", "z", "-x", "-y", "-z")  # axes by name
ROTATIONS = ("rpy", "quaternion", "matrix", "turns")
FRAME_FIELDS = ("at", *ROTATIONS, "on")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*\Z")
PATTERN = "^" + NAME.pattern.removesuffix(r"\Z") + "$"
# What can be asked of a body by name, beside its frames.
FRAME_WORDS = frozenset(
    {"com", "position", "velocity", "acceleration", "quaternion", "rpy", "rotation"}
    | {"angular_velocity", "angular_acceleration"}
)
# Rounding error of a normalized vector or rotation.  Values this close to unit length are not normalized again, so that
# saving and loading keeps every digit.
UNIT_LENGTH_ROUNDING = 1e-14


@dataclass(frozen=True)
class Frame:
    """Axes fixed in a body: ``position`` of the origin and ``rotation`` as it was given.

    ``rotation`` is None or a pair (form, data) with the form rpy, quaternion, matrix or turns.  Position and rotation
    are in the axes of the body, or of ``base`` if the frame is defined on another frame of the same body.
    """

    body: str
    position: Vector = ZERO
    rotation: tuple[str, Any] | None = None
    name: str | None = None
    base: Frame | None = None

    def pose(self, resolve: Resolve) -> Pose:
        """X_BF, the pose of the frame in its body; ``resolve`` evaluates its numbers."""
        p = ZERO3 if self.position == ZERO else tidy([resolve(x) for x in self.position])
        R = IDENTITY3 if self.rotation is None else rotation_matrix(self.rotation, resolve)
        if self.base is None:
            return Pose(R, p)
        X = self.base.pose(resolve)
        return Pose(X.R if self.rotation is None else exact_entries(X.R @ R), tidy(X.p + X.R @ p))

    def on(self, base: Frame) -> Frame:
        """This frame with position and rotation relative to another frame of the body."""
        if self.is_plain:
            return replace(base, name=self.name)
        inner = base if self.base is None else self.base.on(base)
        return replace(self, body=base.body, base=None if inner.is_plain else replace(inner, name=None))

    def shifted(self, p: Vector) -> Frame:
        """The frame shifted by p in its own axes, without a name."""
        if p == ZERO:
            return self if self.name is None else replace(self, name=None)
        return Frame(self.body, p).on(self)

    @property
    def is_plain(self) -> bool:
        """Whether the frame is the body's own."""
        return self.position == ZERO and self.rotation is None and self.base is None

    @property
    def has_plain_numbers(self) -> bool:
        """Whether it has no expressions."""
        return self.rotation is None and self.base is None and is_plain_tuple(self.position)

    def walked(self, walk: ValueWalk, at: Any) -> Frame:
        """The frame after a walk over values."""
        return walk.frame(self, at)

    def __str__(self) -> str:
        return f"{self.body}.{self.name}" if self.name else self.body


def rotation_matrix(rotation: tuple[str, Any], resolve: Resolve) -> Array:
    """The rotation matrix of a rotation as it was given: rpy, quaternion, matrix or turns; a right angle is exact."""
    form, data = rotation
    if form == "rpy":
        return exact_entries(rotation_from_rpy([resolve(x) for x in data]))
    if form == "quaternion":
        return exact_entries(rotation_from_quaternion(exact_entries([resolve(x) for x in data])))
    if form == "matrix":
        return exact_entries([[resolve(x) for x in row] for row in data])
    R: Array = IDENTITY3
    for axis, angle in data:
        if isinstance(axis, str):
            sign = -1.0 if axis[0] == "-" else 1.0
            turn, _ = turn_about("xyz".index(axis[-1]), sign * resolve(angle))
        else:
            e = np.array([resolve(x) for x in axis], dtype=object)
            turn = rotation_about(tidy(e / sqrt(e @ e)), resolve(angle))
        R = exact_entries(R @ exact_entries(turn))
    return R


def read_frame(reader: Reader, body: str, raw: Any, field: str, name: str | None) -> Frame:
    """A frame on a body: three numbers, or a mapping with at, a rotation and ``on``, the frame it is relative to."""
    if isinstance(raw, np.ndarray):
        raw = raw.tolist()
    if isinstance(raw, (list, tuple)):
        raw = {"at": raw}
    if not isinstance(raw, Mapping):
        raise reader.fail(field, f"a frame is [x, y, z] or {{at: [x, y, z], rpy: [...]}}, not {raw!r}")
    for key in raw:
        if key not in FRAME_FIELDS:
            raise reader.fail(field, unknown("a frame has no field", key, FRAME_FIELDS))
    at = raw.get("at")
    position = ZERO if at is None else reader.vector(at, "length", field)
    frame = Frame(body, position, read_rotation(reader, raw, field), name)
    start = raw.get("on")
    if start is None:
        return frame
    base = reader.frame(start, field) if isinstance(start, str) else read_frame(reader, body, start, field, None)
    if base.body != body:
        raise reader.fail(field, f"{start} is on {base.body}, not on {body}")
    return frame.on(base)


def check_frame_name(reader: Reader, name: Any, taken: Iterable[str | None]) -> None:
    """Refuse names of frames that are no names, reserved or taken."""
    if not isinstance(name, str) or not NAME.match(name):
        raise reader.fail("frames", f"{name!r} is no name: use letters, digits and _, starting with a letter")
    if name.partition(".")[0] in FRAME_WORDS:
        raise reader.fail("frames", f"{name!r} has a meaning of its own and cannot name a frame; choose another")
    if name in taken:
        raise reader.fail("frames", f"has a frame {name!r} already")


def read_rotation(reader: Reader, given: Mapping[str, Any], field: str) -> tuple[str, Any] | None:
    """One of rpy, quaternion, matrix, turns; numbers are checked, quaternions brought to unit length."""
    forms = [form for form in ROTATIONS if given.get(form) is not None]
    if not forms:
        return None
    if len(forms) > 1:
        raise reader.fail(field, f"give one of {', '.join(forms)}, not several")
    form, raw = forms[0], given[forms[0]]
    if form == "rpy":
        return form, reader.vector(raw, "angle", "rpy")
    if form == "quaternion":
        return form, read_quaternion(reader, raw, "quaternion")
    if form == "matrix":
        rows = reader.sequence(raw, 3, "matrix", lambda row: reader.vector(row, None, "matrix"))
        R = np.array(rows, dtype=object)
        if all(isinstance(x, float) for x in R.flat):
            R = R.astype(float)
            if abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
                raise reader.fail("matrix", "is not a rotation: its rows must be orthonormal and right-handed")
            if abs(R @ R.T - np.eye(3)).max() > UNIT_LENGTH_ROUNDING:
                U, _, Vt = np.linalg.svd(R)
                rows = tuple(tuple(float(x) for x in row) for row in (U @ Vt))
        return form, rows
    return form, read_turns(reader, raw, "turns", "angle", "[[z, 30 deg], [x, 10 deg]]", reader.number)


def read_turns(
    reader: Reader, raw: Any, field: str, what: str, example: str, read: Callable[[Any, str, str], Value]
) -> tuple[tuple[Any, Value], ...]:
    """Pairs of an axis and an angle, or a law of one."""
    if not isinstance(raw, (list, tuple)) or not raw:
        raise reader.fail(field, f"is a list of (axis, {what}) pairs, such as {example}")
    for item in raw:
        if not isinstance(item, (list, tuple)) or len(item) != 2:
            raise reader.fail(field, f"each turn is a pair of an axis and an angle, not {item!r}")
    return tuple((read_axis(reader, axis, field), read(angle, "angle", field)) for axis, angle in raw)


def read_axis(reader: Reader, raw: Any, field: str) -> Any:
    """A letter x, y, z, -x, -y, -z, or a unit vector made from three numbers."""
    if isinstance(raw, str):
        text = raw.strip().lower().removeprefix("+")
        if text not in ("x", "y", "z", "-x", "-y", "-z"):
            raise reader.fail(field, f"{raw!r} is no axis: write x, y, z, -x, -y, -z or three numbers")
        return text
    values = reader.vector(raw, None, field)
    if all(isinstance(x, float) for x in values):
        length = float(np.linalg.norm(np.array(values, dtype=float)))
        if not length > 1e-12:
            raise reader.fail(field, "an axis needs a direction; this one has no length")
        if abs(length - 1.0) > UNIT_LENGTH_ROUNDING:
            return tuple(float(x) / length for x in values)
    return values


FieldKind("axis", "AxisLike", "", ref("axis"), plainly(read_axis), first="z", form=Form.AXIS, parts=XYZ)


def axis_vector(axis: Any) -> tuple[Value, Value, Value]:
    """The three numbers of an axis as ``read_axis`` returns it."""
    if not isinstance(axis, str):
        return (axis[0], axis[1], axis[2])
    v = [0.0, 0.0, 0.0]
    v["xyz".index(axis[-1])] = -1.0 if axis[0] == "-" else 1.0
    return (v[0], v[1], v[2])


def read_quaternion(reader: Reader, raw: Any, field: str) -> tuple[Value, ...]:
    """Four numbers (w, x, y, z), scaled to unit length; far from it they are refused."""
    values = reader.sequence(raw, 4, field, lambda item: reader.number(item, "dimensionless", field))
    if all(isinstance(x, float) for x in values):
        length = float(np.linalg.norm(np.array(values, dtype=float)))
        if abs(length - 1.0) > 1e-3:
            raise reader.fail(field, f"has length {length:.6g}; a unit quaternion (w, x, y, z) is expected")
        return values if abs(length - 1.0) <= UNIT_LENGTH_ROUNDING else tuple(float(x) / length for x in values)
    return values


def given_axis(joint: Any, nominal: Any) -> Array | None:
    """A joint's axis in its own axes, as plain numbers; None if it has none."""
    axis = getattr(joint, "axis", None)
    if axis is None:
        return None
    v = np.array([float(nominal(x)) for x in axis_vector(axis)])
    return np.array(v / np.linalg.norm(v))


def named(entry: Schema, description: str) -> Schema:
    return {
        "description": description,
        "oneOf": [
            {"type": "object", "propertyNames": {"pattern": PATTERN}, "additionalProperties": entry},
            {"type": "null"},
        ],
    }
