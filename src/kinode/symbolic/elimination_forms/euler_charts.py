"""Three Euler angles of a body, with a constant rotation that keeps them away from their singular position.

    R = Rz(psi) Rx(theta) Rz(phi) C,    w = C' P(phi) P(theta) (psi_dot, theta_dot, phi_dot)        (T-10.3)

The angles are singular where sin(theta) = 0, that is where the third axis of R C' is along z.  With one of three
rotations C, which turn different body axes into the third, sin(theta) is at least 0.8 in every position.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from kinode.algebra.euler_angles import UPRIGHT, euler_angles
from kinode.algebra.scalars import Array, cos, sin, tidy
from kinode.algebra.spatial import turn_about

ANGLES = ("psi", "theta", "phi")


class EulerChart(NamedTuple):
    """The angles psi, theta, phi with a rotation C; ``text`` names it."""

    text: str
    C: Array

    def rotation(self, angles: Array) -> Array:
        """R of the angles."""
        psi, theta, phi = angles
        R: Array = turn_about(2, psi)[0] @ turn_about(0, theta)[0] @ turn_about(2, phi)[0] @ self.C
        return R

    def rates(self, angles: Array) -> Array:
        """T: the rates of the angles for an angular velocity in body axes."""
        _, theta, phi = angles
        s, c, over = sin(phi), cos(phi), 1.0 / sin(theta)
        inverse = np.array(
            [
                [s * over, c * over, 0.0],
                [c, -1.0 * s, 0.0],
                [-1.0 * s * over * cos(theta), -1.0 * c * over * cos(theta), 1.0],
            ],
            dtype=object,
        )
        return tidy(inverse @ self.C)

    def angles(self, R: Array) -> Array:
        """The angles of a rotation of plain numbers."""
        return np.asarray(euler_angles(np.asarray(R, dtype=float), self.C), dtype=float)

    def distance(self, R: Array) -> float:
        """|sin(theta)| of a rotation: 0 in the singular position."""
        cosine = float((np.asarray(R, dtype=float) @ self.C.T)[2, 2])
        return math.sqrt(max(0.0, 1.0 - cosine * cosine))


CHARTS = (
    EulerChart("C = 1", np.eye(3)),
    EulerChart("C = Rx(-pi/2)", UPRIGHT),
    EulerChart("C = Ry(pi/2)", np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])),
)
"""The first is the paper's; where it is singular, the second is."""
NEAR = 0.7  # |sin(theta)| below which another rotation C is looked for


def find_chart(R: Array) -> EulerChart:
    """The first chart that is far from its singular position; one of the three always is."""
    far = [chart for chart in CHARTS if chart.distance(R) >= NEAR]
    return far[0]
