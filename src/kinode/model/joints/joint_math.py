"""What several joints share: pairs that they are made of, rates of quaternions, small rotations, angles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar, atan2

X, Y, Z = np.eye(3)
BEARING = "where the surfaces of the bearing slide"


class Pair(NamedTuple):
    """A pair with one freedom (class V): a hinge, a slide or a screw, in canonical axes.

    ``slide`` is the advance along the axis for a unit of the coordinate: 1 of a slide, 0 of a hinge.
    """

    axis: Array
    turns: bool = False
    slide: Scalar = 0.0

    @property
    def slides(self) -> bool:
        """Whether it advances along its axis."""
        return not isinstance(self.slide, float) or self.slide != 0.0


def hinge(axis: Array) -> Pair:
    """A hinge about an axis."""
    return Pair(axis, turns=True)


def slider(axis: Array) -> Pair:
    """A slide along an axis."""
    return Pair(axis, slide=1.0)


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
