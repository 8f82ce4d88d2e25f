"""The free joint: six freedoms, a position and a quaternion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from kinode.algebra.scalars import Array, tidy
from kinode.algebra.spatial import Pose, cross, quaternion_of, rotation_from_quaternion, skew
from kinode.model.base.field_reader import Reader
from kinode.model.base.fields import Alternative, Spec, special, vector
from kinode.model.base.frames import Resolve, read_rotation, rotation_matrix
from kinode.model.base.kinds import register
from kinode.model.joints.joint_math import Pair, X, Y, Z, quaternion_rate, slider
from kinode.model.joints.spherical import Spherical

ORDER = 90  # in lists of kinds
ROTATION = {
    "rpy": Alternative(("rotation",), Spec("vector", "angle", "initial rotation: about the fixed axes x, y, z")),
    "quaternion": Alternative(("rotation",), Spec("numbers", None, "initial rotation: w, x, y, z")),
    "matrix": Alternative(("rotation",), Spec("matrix", None, "initial rotation: rows of its matrix")),
    "turns": Alternative(("rotation",), Spec("turns", None, "initial rotation: [axis, angle] in turn")),
}


@register("free", symbol="free", shortcut=True)
class Free(Spherical):
    """No constraint; q is x, y, z in a's axes and a unit quaternion, u velocity and angular velocity in b's axes."""

    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (
        ("x", "length"), ("y", "length"), ("z", "length"), ("wx", "angle"), ("wy", "angle"), ("wz", "angle"),
    )  # fmt: skip
    n_q: ClassVar[int] = 7
    quaternion: ClassVar[int | None] = 3
    alternative_fields: ClassVar[Mapping[str, Alternative]] = ROTATION
    rubs: ClassVar[Mapping[str, str] | None] = None
    no_friction: ClassVar[str] = "nothing touches"

    position: Any = vector("length", "initial position of b in a's axes", None, aside=True)
    rotation: Any = special("rotation", "initial rotation: {rpy: ...}, {quaternion: ...}, ...", aside=True)
    velocity: Any = vector("velocity", "initial velocity of b in a's axes", None, aside=True)
    angular_velocity: Any = vector("angular_velocity", "initial angular velocity of b in a's axes", None, aside=True)

    @classmethod
    def gather(cls, reader: Reader, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """rpy=, quaternion=, matrix= and turns= give the initial rotation."""
        fields = dict(super().gather(reader, given))
        rotations = {name: fields.pop(name) for name in ROTATION if fields.get(name) is not None}
        return {**fields, "rotation": rotations} if rotations else fields

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
            raise self.error_at("q", "is given twice: by q and by position or rotation")
        if self.u is not None and (self.velocity is not None or self.angular_velocity is not None):
            raise self.error_at("u", "is given twice: by u and by velocity or angular_velocity")

    def initial_q(self, resolve: Resolve) -> Array:
        q = super().initial_q(resolve)
        place = q[:3] if self.position is None else [resolve(x) for x in self.position]
        turn = q[3:] if self.rotation is None else quaternion_of(rotation_matrix(self.rotation, resolve))
        return tidy([*place, *turn])

    def initial_u(self, resolve: Resolve, q: Array | None = None) -> Array:
        u = super().initial_u(resolve)
        R = tidy(rotation_from_quaternion((self.initial_q(resolve) if q is None else q)[3:]))
        v = u[:3] if self.velocity is None else R.T @ tidy([resolve(x) for x in self.velocity])
        w = u[3:] if self.angular_velocity is None else R.T @ tidy([resolve(x) for x in self.angular_velocity])
        return tidy([*v, *w])

    @property
    def exact_q(self) -> Array:
        exact: Array = super().exact_q | np.repeat([self.position is not None, self.rotation is not None], 3)
        return exact

    @property
    def exact_u(self) -> Array:
        exact: Array = super().exact_u | np.repeat([self.velocity is not None, self.angular_velocity is not None], 3)
        return exact

    def transform(self, q: Array, form: Array) -> Pose:
        return Pose(rotation_from_quaternion(q[3:]), q[:3])

    def motion_subspace(self, q: Array, form: Array) -> Array:
        return np.block([[np.zeros((3, 3)), np.eye(3)], [np.eye(3), np.zeros((3, 3))]])

    def pairs(self, form: Array) -> tuple[Pair, ...]:
        return (slider(X), slider(Y), slider(Z), *super().pairs(form))

    def pair_accelerations(self, u: Array, u_dot: Array) -> Array:
        """The slides stand still in a while b turns, which adds w cross v to their accelerations."""
        turning = super().pair_accelerations(u[3:], u_dot[3:])
        return np.concatenate([u_dot[:3] + cross(u[3:], u[:3]), turning])

    def rate_map(self, q: Array, u: Array) -> Array:
        return np.concatenate([rotation_from_quaternion(q[3:]) @ u[:3], quaternion_rate(q[3:], u[3:])])

    def axes_rate(self, speeds: Array) -> Array:
        turn, travel = skew(speeds[3:]), skew(speeds[:3])
        return np.block([[turn, travel], [np.zeros((3, 3)), turn]])

    def closure(self, X: Pose, form: Array) -> Array:
        return np.zeros(0)

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        return np.concatenate([X.p, quaternion_of(X.R)])
