"""Euler angles and rotation vectors of a body.

Euler angles are precession psi, nutation theta, spin phi (T-10.3), (T-10.4):

    R = Rz(psi) Rx(theta) Rz(phi) C,      w = C' P(phi) P(theta) (psi_dot, theta_dot, phi_dot)   in body axes

They are results only.  The dynamics uses joint coordinates and unit quaternions, which have no such singularity.  At
theta = 0 and theta = pi the axes of precession and spin coincide, and only the sum or the difference of the two angles
is determined.  Then phi and its rate are zero by convention, and psi is the whole angle.  A planar motion about z is
always singular in this sense.  A constant rotation C of the body's axes avoids that: with C = Rx(-pi/2) (``UPRIGHT``)
a motion in the plane of x and y has theta = pi/2, phi = 0, and psi is its angle.

Rotation vectors, axis times angle, are of plain numbers: from matrices and quaternions, and how they change.
"""

from __future__ import annotations

import math

import numpy as np

from kinode.algebra.scalars import Array, atan2, less, sqrt, tidy, where
from kinode.algebra.spatial import IDENTITY3, quaternion_from_rotation, skew

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


NEAR_HALF_TURN = 1e-3  # rad: there a rotation's axis is found from its quaternion


def rotation_vector_between(a: Array, b: Array) -> Array:
    """Rotation vector of the shortest turn from orientation a to b, both unit quaternions; the same in both axes."""
    scalar = float(a @ b)
    vector = a[0] * b[1:] - b[0] * a[1:] - np.cross(a[1:], b[1:])
    size = float(np.linalg.norm(vector))
    if size < 1e-12:
        stretch = 2.0
    else:
        stretch = 2.0 * float(np.arctan2(size, abs(scalar))) / size
    turn: Array = vector * (stretch if scalar >= 0 else -stretch)
    return turn


def rotation_vectors(R: Array) -> Array:
    """Axis times angle of rotation matrices, angles up to half a turn."""
    s = 0.5 * np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
    sine, cosine = np.linalg.norm(s, axis=1), 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0)
    angle = np.arctan2(sine, cosine)
    stretch = np.divide(angle, sine, out=np.ones_like(angle), where=sine > 1e-300)
    turns: Array = s * stretch[:, None]
    for k in np.flatnonzero(angle > np.pi - NEAR_HALF_TURN):
        w, *v = np.asarray(quaternion_from_rotation(R[k]), dtype=float)
        size = float(np.linalg.norm(v))
        turns[k] = np.array(v) * (2.0 * np.arctan2(size, abs(w)) / size * (1.0 if w >= 0 else -1.0))
    return turns


def inverse_right_jacobians(turns: Array) -> Array:
    """Change of rotation vectors for unit angular velocities in the axes of the turned frames."""
    angle = np.linalg.norm(turns, axis=1)
    K = np.zeros((len(turns), 3, 3))
    x, y, z = turns.T
    K[:, 0, 1], K[:, 0, 2], K[:, 1, 0], K[:, 1, 2], K[:, 2, 0], K[:, 2, 1] = -z, y, z, -x, -y, x
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    factor = np.where(small, 1.0 / 12.0, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    J: Array = np.eye(3) + 0.5 * K + factor[:, None, None] * (K @ K)
    return J


def inverse_right_jacobian_rate(turn: Array, rate: Array) -> Array:
    """The rate of an inverse right Jacobian while its rotation vector changes at a rate."""
    angle = float(np.linalg.norm(turn))
    K, K_dot = skew(turn).astype(float), skew(rate).astype(float)
    factor, slope = 1.0 / 12.0, 1.0 / 360.0  # the slope is that by half the square of the angle
    if angle >= 1e-2:
        half = 0.5 * angle
        g, g_slope = half / np.tan(half), 0.5 / np.tan(half) - 0.5 * half / np.sin(half) ** 2
        factor = (1.0 - g) / angle**2
        slope = -(g_slope + 2.0 * (1.0 - g) / angle) / angle**3
    elif angle:
        factor, slope = 1.0 / 12.0 + angle**2 / 720.0, 1.0 / 360.0 + angle**2 / 7560.0
    J_dot: Array = 0.5 * K_dot + slope * float(turn @ rate) * (K @ K) + factor * (K_dot @ K + K @ K_dot)
    return J_dot
