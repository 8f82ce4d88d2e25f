"""The universal joint (Cardan, Hooke): two angles about crossing axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from kinode.algebra.scalars import Array, atan2, sqrt, tidy
from kinode.algebra.spatial import ZERO3, Pose, cross, dot, rotation_about, turn_about
from kinode.algebra.spatial import vector as vec
from kinode.model.base.field_reader import Reader
from kinode.model.base.fields import Spec, special
from kinode.model.base.frames import Resolve, axis_vector, read_axis
from kinode.model.base.kinds import register
from kinode.model.joints import coulomb_friction
from kinode.model.joints.coulomb_friction import Sizes, SlidingContact
from kinode.model.joints.joint import Joint
from kinode.model.joints.joint_math import Pair, Z, hinge

ORDER = 60  # in lists of kinds


@register("universal", symbol="universal", shortcut=True)
class Universal(Joint):
    """b turns about axes[0], fixed in a, then about axes[1], fixed in b."""

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

    def pairs(self, form: Array) -> tuple[Pair, ...]:
        return (hinge(Z), hinge(vec(form[0], 0.0, form[1])))

    def contacts(self, sizes: Sizes, q: Array, u: Array, form: Array) -> list[SlidingContact]:
        """One for each pin; both carry the whole force."""
        second = turn_about(2, q[0])[0] @ vec(form[0], 0.0, form[1])
        directions = tidy([sizes.share(u[0]), 0.0]), tidy([0.0, sizes.share(u[1])])
        return [
            coulomb_friction.journal(sizes, axis, direction)
            for axis, direction in zip((Z, second), directions, strict=True)
        ]

    def closure(self, X: Pose, form: Array) -> Array:
        second = X.R @ vec(form[0], 0.0, form[1])
        return np.array([X.p[0], X.p[1], X.p[2], second[2] - form[1]])

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        axis, side = vec(form[0], 0.0, form[1]), vec(0.0, 1.0, 0.0)
        second = X.R @ axis
        first = atan2(second[1], second[0])
        turned = turn_about(2, first)[0].T @ (X.R @ side)
        return tidy([first, atan2(dot(cross(axis, side), turned), dot(side, turned))])
