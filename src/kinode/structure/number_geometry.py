"""Geometry of large trees whose constants are plain numbers: all links at a time, as arrays.

The equations are those of ``tree.py``, which takes any scalar type, link by link.  For twenty thousand links
that takes four seconds, and this a quarter of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import IDENTITY3, Pose, RigidInertia, exact_entries
from kinode.model.base.frames import ZERO
from kinode.model.joints.joint import AxialJoint, Joint
from kinode.model.system import System, joint_frame

SIDES = ("parent", "child")


class Poses:
    """Many poses: rotations n x 3 x 3 and positions n x 3."""

    def __init__(self, R: Array, p: Array) -> None:
        self.R, self.p = R, p

    @classmethod
    def of(cls, poses: Sequence[Pose]) -> Poses:
        """Of a list of poses."""
        return cls(
            np.array([X.R for X in poses], dtype=float).reshape(-1, 3, 3),
            np.array([X.p for X in poses], dtype=float).reshape(-1, 3),
        )

    def __matmul__(self, other: Poses) -> Poses:
        return Poses(self.R @ other.R, self.p + (self.R @ other.p[..., None])[..., 0])

    def inverse(self) -> Poses:
        """The inverse of each."""
        R = self.R.swapaxes(1, 2)
        return Poses(R, -(R @ self.p[..., None])[..., 0])

    def clean(self) -> Poses:
        """The same without rounding errors of common angles in the rotations."""
        return Poses(exact_entries(self.R), self.p)

    def chosen(self, which: Array) -> Poses:
        """Some of them."""
        return Poses(self.R[which], self.p[which])

    def each(self) -> list[Pose]:
        """A list of poses."""
        return list(map(Pose, self.R, self.p))


def joint_sides(system: System, joints: Sequence[Joint]) -> tuple[Poses, Poses]:
    """F and M of each joint on its bodies, in canonical axes."""
    known: dict[object, Array] = {}

    def canonical(joint: Joint) -> Array:
        kind = type(joint)
        if kind.axis_rotation is Joint.axis_rotation:
            return IDENTITY3
        if not isinstance(joint, AxialJoint) or kind.axis_rotation is not AxialJoint.axis_rotation:
            return joint.axis_rotation(system.nominal, system.nominal)
        if joint.axis not in known:
            known[joint.axis] = joint.axis_rotation(system.nominal, system.nominal)
        return known[joint.axis]

    C = np.array([canonical(joint) for joint in joints], dtype=float).reshape(-1, 3, 3)
    poses = []
    for side in SIDES:
        R = np.empty((len(joints), 3, 3))
        R[:] = IDENTITY3
        positions = []
        for i, joint in enumerate(joints):
            frame = joint.a if side == "parent" else joint.b
            if frame.rotation is None and frame.base is None and joint.at == ZERO:
                positions.append(frame.position)
                continue
            X = joint_frame(joint, side).pose(system.nominal)
            R[i] = X.R
            positions.append(tuple(X.p))
        poses.append(Poses(R @ C, np.array(positions, dtype=float).reshape(-1, 3)))
    return poses[0], poses[1]


def link_inertias(system: System, names: Sequence[str], X: Poses) -> list[RigidInertia]:
    """The inertias of bodies in frames in which their poses are ``X`` (T-1.2)."""
    bodies = [system.bodies[name] for name in names]
    masses, centers, tensors, about = zip(*(body.mass_properties for body in bodies), strict=True)
    mass = np.array(masses, dtype=float)
    c = np.array(centers, dtype=float).reshape(-1, 3)
    entries = np.array(tensors, dtype=float).reshape(-1, 6)
    J = entries[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)
    central = np.array([word == "com" for word in about], dtype=bool)
    J = J + np.where(central, mass, 0.0)[:, None, None] * _shifts(c, c)
    h = (X.R @ (mass[:, None] * c)[..., None])[..., 0]
    J = X.R @ J @ X.R.swapaxes(1, 2)
    J = 0.5 * (J + J.swapaxes(1, 2)) + 2.0 * _shifts(X.p, h) + mass[:, None, None] * _shifts(X.p, X.p)
    return list(map(RigidInertia, mass.tolist(), h + mass[:, None] * X.p, J))


def _shifts(a: Array, b: Array) -> Array:
    """(a.b) 1 - (a b' + b a')/2 of each pair of vectors."""
    products = a[:, :, None] * b[:, None, :]
    dots = np.einsum("ij,ij->i", a, b)
    shifts: Array = dots[:, None, None] * IDENTITY3 - 0.5 * (products + products.swapaxes(1, 2))
    return shifts


def regrouped(
    kinds: Sequence[str], parents: Sequence[int], placements: Sequence[Pose], inertias: Iterable[RigidInertia]
) -> tuple[list[RigidInertia], RigidInertia]:
    """The inertias after regrouping (``link_geometry.regroup``), and what the world gets.

    From the tips inward, in plain Python: each step needs the one before.  R diag(a, a, 0) R' = a (1 - z z').
    """
    inertias = list(inertias)
    X = Poses.of(placements)
    axes, points = X.R[:, :, 2].tolist(), X.p.tolist()
    sums = [[x.mass, *x.moment, *_upper(x.J)] for x in (*inertias, RigidInertia.zero())]  # the world last, as index -1
    for i in reversed(range(len(kinds))):
        own = sums[i]
        m, _, _, s, xx, yy, zz, xy, xz, yz = own
        x, y, z = points[i]
        above = sums[parents[i]]
        added: tuple[float, ...]
        if kinds[i] == "revolute":
            a, (ex, ey, ez) = yy, axes[i]
            sums[i] = [0.0, own[1], own[2], 0.0, xx - a, 0.0, zz, xy, xz, yz]
            hx, hy, hz = s * ex, s * ey, s * ez
            shift = a + 2.0 * (x * hx + y * hy + z * hz) + m * (x * x + y * y + z * z)
            added = (
                m, hx + m * x, hy + m * y, hz + m * z,
                shift - a * ex * ex - 2.0 * x * hx - m * x * x,
                shift - a * ey * ey - 2.0 * y * hy - m * y * y,
                shift - a * ez * ez - 2.0 * z * hz - m * z * z,
                -a * ex * ey - (x * hy + y * hx) - m * x * y,
                -a * ex * ez - (x * hz + z * hx) - m * x * z,
                -a * ey * ez - (y * hz + z * hy) - m * y * z,
            )  # fmt: skip
        elif kinds[i] == "prismatic":
            sums[i] = [*own[:4], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
            J = X.R[i] @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ X.R[i].T
            added = (0.0, 0.0, 0.0, 0.0, *_upper(0.5 * (J + J.T)))
        else:
            continue
        sums[parents[i]] = [one + two for one, two in zip(above, added, strict=True)]
    table = np.array(sums)
    J = table[:, [4, 7, 8, 7, 5, 9, 8, 9, 6]].reshape(-1, 3, 3)
    *links, world = map(RigidInertia, table[:, 0].tolist(), table[:, 1:4], J)
    return links, world


def _upper(J: Array) -> list[float]:
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = J.tolist()
    return [xx, yy, zz, xy, xz, yz]
