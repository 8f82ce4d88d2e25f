"""Rotations, poses, inertias: the vector algebra of rigid bodies, for every scalar type.

``R_AB`` maps components in B to components in A.  ``X_AB`` is the pose of B in A.  A spatial vector is an angular and a
linear 3-vector, angular first [R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 2].  Quaternions are
scalar first, child to parent.  ``rpy`` are angles about fixed x, y, z: R = Rz(yaw) Ry(pitch) Rx(roll).

Matrices have few entries here, and many of them are plain 0 or 1; operations are written out entry by entry where that
keeps the zeros.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kinode.algebra.scalars import (
    Array,
    Scalar,
    asin,
    atan2,
    cos,
    is_number,
    less,
    maximum,
    minimum,
    sin,
    sqrt,
    tidy,
    where,
)

ZERO3 = np.zeros(3)
IDENTITY3 = np.eye(3)
# What angles of 0, 30, 45, 60 and 90 degrees put into rotations; numbers this near to one of them are meant to be it.
COMMON_ENTRIES = np.array([0.0, 0.5, math.sqrt(0.5), math.sqrt(0.75), 1.0])
BETWEEN = (COMMON_ENTRIES[:-1] + COMMON_ENTRIES[1:]) / 2.0
ENTRY_ROUNDING = 1e-15


def vector(x: Scalar, y: Scalar, z: Scalar) -> Array:
    """A 3-vector of any scalar type."""
    return np.array([x, y, z], dtype=object)


def cross(a: Array, b: Array) -> Array:
    """a x b."""
    return vector(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a: Array, b: Array) -> Scalar:
    """a . b."""
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total


def norm(a: Array) -> Scalar:
    """|a|."""
    return sqrt(dot(a, a))


def skew(a: Array) -> Array:
    """S(a) with S(a) b = a x b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]], dtype=object)


def exact_entries(entries: Sequence[Any] | Array) -> Array:
    """Entries of rotations, with exact 0, 1/2, sqrt(1/2), sqrt(3)/2 and 1 of either sign in place of rounded ones.

    cos 90 deg is 6e-17 in floating point, and would be printed and compiled.  What is no plain number stays as it is.
    """
    values = entries if isinstance(entries, np.ndarray) and entries.dtype == float else tidy(entries)
    if values.dtype == object:
        return np.array([_exact_entry(x) for x in values.flat], dtype=object).reshape(values.shape)
    size = abs(values)
    nearest = COMMON_ENTRIES[np.searchsorted(BETWEEN, size)]
    return np.where(abs(size - nearest) <= ENTRY_ROUNDING, np.copysign(nearest, values), values) + 0.0  # no -0.0


def _exact_entry(x: Scalar) -> Scalar:
    if not is_number(x):
        return x
    near = (float(entry) for entry in COMMON_ENTRIES if abs(abs(x) - entry) <= ENTRY_ROUNDING)
    return next((math.copysign(entry, x) for entry in near), float(x)) + 0.0


def rotation_about(axis: Array, angle: Scalar) -> Array:
    """Rot(e, q) = I + sin q S(e) + (1 - cos q) S(e)^2, for a unit axis (T-1.1)."""
    S = skew(axis)
    R: Array = IDENTITY3 + sin(angle) * S + (1.0 - cos(angle)) * (S @ S)
    return R


def rotation_from_quaternion(quaternion: Array) -> Array:
    """R of a unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ],
        dtype=object,
    )


def rotation_from_rpy(rpy: Sequence[Scalar]) -> Array:
    """R = Rz(yaw) Ry(pitch) Rx(roll)."""
    roll, pitch, yaw = rpy
    cr, sr, cp, sp, cy, sy = exact_entries([cos(roll), sin(roll), cos(pitch), sin(pitch), cos(yaw), sin(yaw)])
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ],
        dtype=object,
    )


def rpy_from_rotation(R: Array) -> Array:
    """Roll, pitch, yaw of a rotation; pitch between -90 and 90 degrees."""
    pitch = asin(maximum(-1.0, minimum(1.0, -1.0 * R[2, 0])))
    return tidy([atan2(R[2, 1], R[2, 2]), pitch, atan2(R[1, 0], R[0, 0])])


def quaternion_from_rotation(R: Array) -> Array:
    """Unit quaternion of a rotation matrix of floats; the scalar part is not negative."""
    R = np.asarray(R, dtype=float)
    diagonal = np.array([R.trace(), R[0, 0], R[1, 1], R[2, 2]])
    k = int(np.argmax(diagonal))
    q = np.empty(4)
    q[k] = np.sqrt(max(0.0, 1.0 + 2.0 * diagonal[k] - R.trace())) / 2.0
    if k == 0:
        q[1:] = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4.0 * q[0])
    else:
        i, j, l = k - 1, k % 3, (k + 1) % 3
        q[0] = (R[l, j] - R[j, l]) / (4.0 * q[k])
        q[1 + j] = (R[i, j] + R[j, i]) / (4.0 * q[k])
        q[1 + l] = (R[i, l] + R[l, i]) / (4.0 * q[k])
    return -q if q[0] < 0 else q


def quaternion_of(R: Array) -> Array:
    """Unit quaternion of a rotation matrix of any scalar type, from the largest of the four squared components."""
    squares = [
        1.0 + R[0, 0] + R[1, 1] + R[2, 2],
        1.0 + R[0, 0] - R[1, 1] - R[2, 2],
        1.0 - R[0, 0] + R[1, 1] - R[2, 2],
        1.0 - R[0, 0] - R[1, 1] + R[2, 2],
    ]
    x, y, z = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    xy, xz, yz = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    rows = [[squares[0], x, y, z], [x, squares[1], xy, xz], [y, xy, squares[2], yz], [z, xz, yz, squares[3]]]
    best, row = squares[0], rows[0]
    for k in range(1, 4):
        better = less(best, squares[k])
        best = where(better, squares[k], best)
        row = [where(better, a, b) for a, b in zip(rows[k], row, strict=True)]
    scale = 0.5 / sqrt(best)
    flip = where(less(row[0], 0.0), -1.0, 1.0)
    return tidy([entry * scale * flip for entry in row])


@cache
def _signed_axis(k: int, positive: bool) -> Array:
    """The signed permutation matrix that maps z to a coordinate axis."""
    e = np.zeros(3)
    e[k] = 1.0 if positive else -1.0
    x = np.roll(np.abs(e), 1)
    R = np.column_stack([x, np.cross(e, x), e])
    R.flags.writeable = False
    return R


def rotation_to_axis(axis: Sequence[Scalar], nominal: Sequence[float]) -> Array:
    """A rotation that maps z to the given axis; ``nominal`` is the axis in plain numbers.

    A signed coordinate axis gives a signed permutation matrix, which needs no operations in traced code.
    """
    values = np.asarray(nominal, dtype=float)
    k = int(np.argmax(np.abs(values)))
    if np.count_nonzero(values) == 1 and not any(not isinstance(a, (float, int)) for a in axis):
        return _signed_axis(k, bool(values[k] > 0))
    length = sqrt(dot(np.array(axis, dtype=object), np.array(axis, dtype=object)))
    z = np.array([a / length for a in axis], dtype=object)
    helper = np.zeros(3)
    helper[int(np.argmin(np.abs(values)))] = 1.0
    y = cross(z, helper)
    y = y / norm(y)
    x = cross(y, z)
    return exact_entries(np.column_stack([x, y, z]))


@dataclass(frozen=True, eq=False)
class Pose:
    """X_AB: rotation R_AB and position p_AB of B in A.

    ``turn`` is (axis, cos, sin) if R is known to be a rotation about one coordinate axis.  It does not change a result;
    with it a symmetric matrix is rotated in 16 operations instead of 27.
    """

    R: Array
    p: Array
    turn: tuple[int, Scalar, Scalar] | None = None

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.R @ other.R, self.p + self.R @ other.p)

    def inverse(self) -> Pose:
        """X_BA."""
        turn = None if self.turn is None else (self.turn[0], self.turn[1], -self.turn[2])
        return Pose(self.R.T, -(self.R.T @ self.p), turn)

    def point(self, p: Array) -> Array:
        """The position in A of a point given in B."""
        position: Array = self.p + self.R @ p
        return position


IDENTITY_POSE = Pose(IDENTITY3, ZERO3)


def turn_about(axis: int, angle: Scalar) -> tuple[Array, tuple[int, Scalar, Scalar]]:
    """Rotation about a coordinate axis (0, 1, 2) and its (axis, cos, sin)."""
    c, s = cos(angle), sin(angle)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R = np.zeros((3, 3), dtype=object)
    R[:] = 0.0
    R[axis, axis] = 1.0
    R[j, j] = R[k, k] = c
    R[j, k], R[k, j] = -s, s
    return R, (axis, c, s)


def rotate_matrix(R: Array, A: Array, turn: tuple[int, Scalar, Scalar] | None, symmetric: bool) -> Array:
    """R A R'."""
    if turn is not None:
        return _turn_matrix(A, turn, symmetric)
    if not symmetric:
        turned: Array = R @ A @ R.T
        return turned
    Y = R @ A
    result = np.empty((3, 3), dtype=object)
    for i in range(3):
        for j in range(i, 3):
            result[i, j] = result[j, i] = dot(Y[i], R[j])
    return result


def _turn_matrix(A: Array, turn: tuple[int, Scalar, Scalar], symmetric: bool) -> Array:
    """R A R' for a rotation about a coordinate axis.

    In the plane (j, k) of the rotation the trace and the antisymmetric part of A are invariant.  The result B has
    B_jj = A_jj + s f, B_kk = A_kk - s f, B_jk = -c f - A_kj, B_kj = -c f - A_jk
    with f = s (A_kk - A_jj) - c (A_jk + A_kj).
    """
    i, c, s = turn
    j, k = (i + 1) % 3, (i + 2) % 3
    result = np.empty((3, 3), dtype=object)
    result[i, i] = A[i, i]
    result[j, i] = c * A[j, i] - s * A[k, i]
    result[k, i] = s * A[j, i] + c * A[k, i]
    both = A[j, k] + A[k, j]
    f = s * (A[k, k] - A[j, j]) - c * both
    result[j, j] = A[j, j] + s * f
    result[k, k] = A[k, k] - s * f
    if symmetric:
        result[i, j], result[i, k] = result[j, i], result[k, i]
        result[j, k] = result[k, j] = -(c * f) - A[j, k]
        return result
    result[i, j] = c * A[i, j] - s * A[i, k]
    result[i, k] = s * A[i, j] + c * A[i, k]
    result[j, k] = -(c * f) - A[k, j]
    result[k, j] = -(c * f) - A[j, k]
    return result


@dataclass(frozen=True, eq=False)
class RigidInertia:
    """Mass, first moment m c and inertia tensor about the origin of a frame."""

    mass: Scalar
    moment: Array
    J: Array

    @staticmethod
    def zero() -> RigidInertia:
        return RigidInertia(0.0, ZERO3, np.zeros((3, 3)))

    def __add__(self, other: RigidInertia) -> RigidInertia:
        return RigidInertia(self.mass + other.mass, self.moment + other.moment, self.J + other.J)

    def seen_from(self, X: Pose) -> RigidInertia:
        """The same inertia in frame A; X is the pose X_AB of its own frame B (T-1.2)."""
        if X.R.dtype == self.J.dtype == self.moment.dtype == X.p.dtype == float and isinstance(self.mass, float):
            return self._seen_from_floats(X.R, X.p)
        h = X.R @ self.moment
        J = rotate_matrix(X.R, self.J, X.turn, symmetric=True)
        p = X.p
        shift = 2.0 * dot(p, h) + self.mass * dot(p, p)
        result = np.empty((3, 3), dtype=object)
        for i in range(3):
            for j in range(i, 3):
                entry = J[i, j] - (p[i] * h[j] + h[i] * p[j]) - self.mass * (p[i] * p[j])
                result[i, j] = result[j, i] = entry + shift if i == j else entry
        return RigidInertia(self.mass, h + self.mass * p, result)

    def _seen_from_floats(self, R: Array, p: Array) -> RigidInertia:
        """The same with plain numbers, all entries at a time."""
        h = R @ self.moment
        J = R @ self.J @ R.T
        column = p[:, None]
        products = column * h
        J = 0.5 * (J + J.T) - (products + products.T) - self.mass * (column * p)
        J.flat[::4] += 2.0 * float(p @ h) + self.mass * float(p @ p)
        return RigidInertia(self.mass, h + self.mass * p, J)

    def articulated(self) -> ArticulatedInertia:
        """The same inertia as blocks of a 6x6 matrix."""
        return ArticulatedInertia(self.J, skew(self.moment), self.mass * IDENTITY3)


@dataclass(frozen=True, eq=False)
class ArticulatedInertia:
    """Blocks of the symmetric 6x6 matrix [[J, H], [H', M]] that maps [w; v] to [moment; force]."""

    J: Array
    H: Array
    M: Array

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.J + other.J, self.H + other.H, self.M + other.M)

    def times(self, w: Array, v: Array) -> tuple[Array, Array]:
        """[moment; force] of a motion [w; v]."""
        return self.J @ w + self.H @ v, self.H.T @ w + self.M @ v

    def seen_from(self, X: Pose) -> ArticulatedInertia:
        """The same inertia in frame A; X is the pose X_AB of its own frame B."""
        J = rotate_matrix(X.R, self.J, X.turn, symmetric=True)
        H = rotate_matrix(X.R, self.H, X.turn, symmetric=False)
        M = rotate_matrix(X.R, self.M, X.turn, symmetric=True)
        return ArticulatedInertia(J, H, M).shifted(X.p)

    def shifted(self, p: Array) -> ArticulatedInertia:
        """The same inertia, in the same axes, about another origin; p is the position of the present origin there."""
        if all(isinstance(x, (float, int)) and x == 0 for x in p):
            return self
        SM = np.array([cross(p, self.M[:, j]) for j in range(3)], dtype=object).T
        H = self.H + SM
        # J + S(p) H'^T + (S(p) H^T)^T = J + S H'^T - H S, symmetric by construction
        SH_new = np.array([cross(p, H[j, :]) for j in range(3)], dtype=object).T
        SH_old = np.array([cross(p, self.H[j, :]) for j in range(3)], dtype=object).T
        J = np.empty((3, 3), dtype=object)
        for i in range(3):
            for j in range(i, 3):
                J[i, j] = J[j, i] = self.J[i, j] + SH_new[i, j] + SH_old[j, i]
        return ArticulatedInertia(J, H, self.M)


def moved_force(X: Pose, moment: Array, force: Array) -> tuple[Array, Array]:
    """Transform a wrench from B (about B's origin) to A (about A's origin); X is X_AB."""
    f = X.R @ force
    return X.R @ moment + cross(X.p, f), f


def moved_motion(X: Pose, w: Array, v: Array) -> tuple[Array, Array]:
    """Transform a motion (velocity, or acceleration of the origin) from A to B; X is X_AB."""
    return X.R.T @ w, X.R.T @ (v + cross(w, X.p))


def solve_spd(A: Array, B: Array) -> Array:
    """Solve A X = B for a symmetric positive definite A of any scalar type, by A = L D L'."""
    n = len(A)
    L = np.zeros((n, n), dtype=object)
    D_inverse: list[Any] = []
    work = np.array(A, dtype=object)
    for j in range(n):
        pivot = 1.0 / work[j, j]
        D_inverse.append(pivot)
        for i in range(j + 1, n):
            L[i, j] = work[i, j] * pivot
        for i in range(j + 1, n):
            for k in range(j + 1, i + 1):
                work[i, k] = work[i, k] - L[i, j] * work[k, j]
    X = np.array(B, dtype=object)
    for i in range(n):
        for k in range(i):
            X[i] = X[i] - L[i, k] * X[k]
    for i in range(n):
        X[i] = X[i] * D_inverse[i]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            X[i] = X[i] - L[k, i] * X[k]
    return X
