"""Euler angles of a body: precession psi, nutation theta, self-rotation phi [SPEC 4.3, 4.4].

    R = Rz(psi) Rx(theta) Rz(phi) C,      w = C' P(phi) P(theta) (psi_dot, theta_dot, phi_dot)   in body axes

They are for reading: kinode turns bodies by joint coordinates and unit quaternions, which have no such singularity.
At theta = 0 and theta = pi the axes of precession and self-rotation are one, and only their sum or difference is known.
A planar motion about z is of that sort throughout.  The remedy is C, a constant turn of the body's axes: with
C = Rx(-pi/2) (``UPRIGHT``) a motion in the plane of x and y has theta = pi/2, phi = 0, and psi is its angle.
"""

from __future__ import annotations

import math

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import IDENTITY3
from kinode.errors import ArgumentError

UPRIGHT: Array = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
SINGULAR = 1e-12  # sin(theta) below which rounding decides the other two angles


def euler_angles(R: Array, C: Array = IDENTITY3) -> Array:
    """psi, theta, phi of a rotation of plain numbers; theta from 0 to pi.

    Where sin(theta) is zero phi is given as zero, and psi is the whole turn.
    """
    E = np.asarray(R, dtype=float) @ np.asarray(C, dtype=float).T
    tilt = math.hypot(E[0, 2], E[1, 2])
    theta = math.atan2(tilt, E[2, 2])
    if tilt < SINGULAR:
        return np.array([math.atan2(E[1, 0], E[0, 0]), theta, 0.0])
    return np.array([math.atan2(E[0, 2], -E[1, 2]), theta, math.atan2(E[2, 0], E[2, 1])])


def euler_rates(R: Array, w: Array, C: Array = IDENTITY3) -> Array:
    """psi_dot, theta_dot, phi_dot for an angular velocity in body axes: T w with T = (C' P(phi) P(theta))^-1 [4.10]."""
    _, theta, phi = euler_angles(R, C)
    if math.sin(theta) < SINGULAR:
        raise ArgumentError("euler_rates: precession and self-rotation have one axis here (theta = 0 or pi); give C")
    x, y, z = np.asarray(C, dtype=float) @ np.asarray(w, dtype=float)
    s, c = math.sin(phi), math.cos(phi)
    psi_dot = (s * x + c * y) / math.sin(theta)
    return np.array([psi_dot, c * x - s * y, z - math.cos(theta) * psi_dot])


def rotation_from_euler(psi: float, theta: float, phi: float, C: Array = IDENTITY3) -> Array:
    """R = Rz(psi) Rx(theta) Rz(phi) C of plain numbers."""

    def about_z(angle: float) -> Array:
        c, s = math.cos(angle), math.sin(angle)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    c, s = math.cos(theta), math.sin(theta)
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    R: Array = about_z(psi) @ about_x @ about_z(phi) @ np.asarray(C, dtype=float)
    return R
