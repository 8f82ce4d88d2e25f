"""Frames: places and axes on bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.spatial import (
    IDENTITY3,
    ZERO3,
    Pose,
    rotation_about,
    rotation_from_quaternion,
    rotation_from_rpy,
    turn_about,
)
from kinode.errors import ModelError
from kinode.model.fields import Reader, Value, Vector

Resolve = Callable[[Value], Scalar]
ZERO: Vector = (0.0, 0.0, 0.0)
ROTATIONS = ("rpy", "quaternion", "matrix", "turns")


@dataclass(frozen=True)
class Frame:
    """Axes fixed in a body: ``position`` of the origin and ``rotation`` as it was given.

    ``rotation`` is None or a pair (way, data) with the way rpy, quaternion, matrix or turns.
    ``then`` is a shift in the frame's own axes, as a joint's ``at`` makes it.
    """

    body: str
    position: Vector = ZERO
    rotation: tuple[str, Any] | None = None
    name: str | None = None
    then: Vector = ZERO

    def pose(self, resolve: Resolve) -> Pose:
        """X_BF: the frame in its body, its numbers found by ``resolve``."""
        p = ZERO3 if self.position == ZERO else tidy([resolve(x) for x in self.position])
        R = IDENTITY3 if self.rotation is None else tidy(rotation_matrix(self.rotation, resolve))
        if self.then != ZERO:
            p = tidy(p + R @ tidy([resolve(x) for x in self.then]))
        return Pose(R, p)

    def shifted(self, p: Vector) -> Frame:
        """The frame moved by p in its own axes."""
        if self.then != ZERO:
            raise ModelError("a frame can be shifted only once")
        return self if p == ZERO else replace(self, then=p)

    @property
    def is_plain(self) -> bool:
        """Whether the frame is the body's own."""
        return self.position == ZERO and self.rotation is None and self.then == ZERO

    def __str__(self) -> str:
        return f"{self.body}.{self.name}" if self.name else self.body


def rotation_matrix(rotation: tuple[str, Any], resolve: Resolve) -> Array:
    """R of a rotation in the way it was given."""
    way, data = rotation
    if way == "rpy":
        return rotation_from_rpy([resolve(x) for x in data])
    if way == "quaternion":
        return rotation_from_quaternion(np.array([resolve(x) for x in data], dtype=object))
    if way == "matrix":
        return np.array([[resolve(x) for x in row] for row in data], dtype=object)
    R: Array = IDENTITY3
    for axis, angle in data:
        if isinstance(axis, str):
            sign = -1.0 if axis[0] == "-" else 1.0
            turn, _ = turn_about("xyz".index(axis[-1]), sign * resolve(angle))
        else:
            turn = rotation_about(np.array(axis), resolve(angle))
        R = R @ turn
    return R


def read_rotation(reader: Reader, given: dict[str, Any], field: str) -> tuple[str, Any] | None:
    """One of rpy, quaternion, matrix, turns; numbers are checked, quaternions brought to unit length."""
    ways = [way for way in ROTATIONS if given.get(way) is not None]
    if not ways:
        return None
    if len(ways) > 1:
        raise reader.fail(field, f"give one of {', '.join(ways)}, not several")
    way, raw = ways[0], given[ways[0]]
    if way == "rpy":
        return way, reader.vector(raw, "angle", "rpy")
    if way == "quaternion":
        return way, read_quaternion(reader, raw, "quaternion")
    if way == "matrix":
        rows = reader.sequence(raw, 3, "matrix", lambda row: reader.vector(row, None, "matrix"))
        R = np.array(rows, dtype=object)
        if all(isinstance(x, float) for x in R.flat):
            R = R.astype(float)
            if abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
                raise reader.fail("matrix", "is not a rotation: its rows must be orthonormal and right-handed")
            U, _, Vt = np.linalg.svd(R)
            rows = tuple(tuple(float(x) for x in row) for row in (U @ Vt))
        return way, rows
    if not isinstance(raw, (list, tuple)):
        raise reader.fail("turns", "is a list of (axis, angle) pairs, such as [(z, 30 deg), (x, 10 deg)]")
    return way, tuple(_read_turn(reader, item) for item in raw)


def _read_turn(reader: Reader, item: Any) -> tuple[Any, Value]:
    if not isinstance(item, (list, tuple)) or len(item) != 2:
        raise reader.fail("turns", f"each turn is a pair of an axis and an angle, not {item!r}")
    return read_axis(reader, item[0], "turns"), reader.number(item[1], "angle", "turns")


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
        if abs(length - 1.0) > 1e-15:
            return tuple(float(x) / length for x in values)  # type: ignore[arg-type]
    return values


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
        return tuple(float(x) / length for x in values)
    return values
