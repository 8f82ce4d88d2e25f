"""Euler angles of a body: precession psi, nutation theta, spin phi (T-10.3), (T-10.4).

    R = Rz(psi) Rx(theta) Rz(phi) C,      w = C' P(phi) P(theta) (psi_dot, theta_dot, phi_dot)   in body axes

Euler angles are results only.  The dynamics uses joint coordinates and unit quaternions, which have no such
singularity.

At theta = 0 and theta = pi the axes of precession and spin coincide, and only the sum or the difference of the two
angles is determined.  Then phi and its rate are zero by convention, and psi is the whole angle.  A planar motion about
z is always singular in this sense.  A constant rotation C of the body's axes avoids that: with C = Rx(-pi/2)
(``UPRIGHT``) a motion in the plane of x and y has theta = pi/2, phi = 0, and psi is its angle.
"""

from __future__ import annotations

import math

import numpy as np

from kinode.algebra.scalars import Array, atan2, less, sqrt, tidy, where
from kinode.algebra.spatial import IDENTITY3

UPRIGHT: Array = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
SINGULAR_SIN_THETA = 1e-12  # below, the other two angles would be rounding errors


def euler_angles(R: Array, C: Array = IDENTITY3) -> Array:
    """psi, theta, phi of a rotation in rad; theta is within 0 and pi, the others within -pi and pi."""
    E = R @ C.T
    tilt = sqrt(E[0, 2] * E[0, 2] + E[1, 2] * E[1, 2])
    flat = less(tilt, SINGULAR_SIN_THETA)
    psi = where(flat, atan2(E[1, 0], E[0, 0]), atan2(E[0, 2], -1.0 * E[1, 2]))
    return tidy([psi, atan2(tilt, E[2, 2]), where(flat, 0.0, atan2(E[2, 0], E[2, 1]))])


def euler_rates(R: Array, w: Array, C: Array = IDENTITY3) -> Array:
    """psi_dot, theta_dot, phi_dot for an angular velocity w in body axes: T w, T = (C' P(phi) P(theta))^-1 (T-10.10).

    sin(phi) and cos(phi) are entries of R divided by sin(theta); no angle is computed.  Where the axes coincide,
    theta_dot is the rate at which they separate.
    """
    E, (x, y, z) = R @ C.T, C @ w
    tilt = sqrt(E[0, 2] * E[0, 2] + E[1, 2] * E[1, 2])
    flat = less(tilt, SINGULAR_SIN_THETA)
    safe = where(flat, 1.0, tilt)
    s, c = E[2, 0] / safe, E[2, 1] / safe
    psi_dot = where(flat, E[2, 2] * z, (s * x + c * y) / safe)
    theta_dot = where(flat, sqrt(x * x + y * y), c * x - s * y)
    return tidy([psi_dot, theta_dot, z - E[2, 2] * psi_dot])


def rotation_from_euler(psi: float, theta: float, phi: float, C: Array = IDENTITY3) -> Array:
    """R = Rz(psi) Rx(theta) Rz(phi) C of plain numbers; angles in rad."""

    def about_z(angle: float) -> Array:
        c, s = math.cos(angle), math.sin(angle)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    c, s = math.cos(theta), math.sin(theta)
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    R: Array = about_z(psi) @ about_x @ about_z(phi) @ np.asarray(C, dtype=float)
    return R
