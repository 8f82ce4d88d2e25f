"""Numbers of MuJoCo's compiled model as kinode writes them: positions, rotations, axes, inertias, drawn shapes.

Entries that are zero or one but for rounding are made so: what is zero on the drawing is zero in the equations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import quaternion_of, rotation_from_quaternion
from kinode.model.base.visuals import Visual

ROUNDING = 4e-15
Vector3 = tuple[float, float, float]
Rotation = tuple[str, Any]
EXPOSED_GROUP = 3  # geoms of groups 0 to 2 are drawn by MuJoCo unless the user asks for more


def tidy_number(value: Any, scale: float = 1.0) -> float:
    """A plain number; one that is zero but for rounding is zero."""
    number = float(value)
    return number + 0.0 if abs(number) > ROUNDING * scale else 0.0


def tidy_vector(values: Sequence[Any]) -> Vector3:
    """Three plain numbers, those that are zero beside the others as zero."""
    scale = max((abs(float(x)) for x in values), default=0.0)
    x, y, z = (tidy_number(value, scale) for value in values)
    return (x, y, z)


def quaternion_matrix(quaternion: Sequence[Any]) -> Array:
    """The rotation matrix of w, x, y, z, with exact zeros and ones."""
    q = np.array([float(x) for x in quaternion])
    R: Array = np.asarray(rotation_from_quaternion(q / np.linalg.norm(q)), dtype=float)
    R[abs(R) < ROUNDING] = 0.0
    R[abs(abs(R) - 1.0) < ROUNDING] = np.sign(R[abs(abs(R) - 1.0) < ROUNDING])
    return R


def turn_matrix(axis: Sequence[Any], angle: float) -> Array:
    """The rotation matrix about an axis of unit length."""
    half = 0.5 * angle
    return quaternion_matrix([math.cos(half), *(math.sin(half) * float(x) for x in axis)])


def rotation_of(R: Array) -> Rotation | None:
    """A rotation as frames hold it: none, a turn about one axis, a matrix of zeros and ones, or a quaternion."""
    if np.array_equal(R, np.eye(3)):
        return None
    for k, letter in enumerate("xyz"):
        i, j = (k + 1) % 3, (k + 2) % 3
        if R[k, k] == 1.0 and not (R[i, k] or R[j, k] or R[k, i] or R[k, j]):
            return "turns", ((letter, math.atan2(R[j, i], R[i, i])),)
    if np.isin(R, (-1.0, 0.0, 1.0)).all():
        return "matrix", tuple(tuple(float(x) + 0.0 for x in row) for row in R)
    return "quaternion", tuple(float(x) for x in quaternion_of(R))


def axis_of(values: Sequence[Any]) -> str | Vector3:
    """An axis by its letter where it is one."""
    v = tidy_vector(values)
    if v.count(0.0) == 2:
        return ("-" if min(v) < 0 else "") + "xyz"[[x != 0.0 for x in v].index(True)]
    length = math.hypot(*v)
    return (v[0] / length, v[1] / length, v[2] / length)


def inertia_of(moments: Sequence[Any], quaternion: Sequence[Any]) -> tuple[float, ...]:
    """The entries xx, yy, zz, xy, xz, yz of a tensor in the body's axes, from principal moments and their axes."""
    R = quaternion_matrix(quaternion)
    J = R @ np.diag([float(x) for x in moments]) @ R.T
    scale = float(abs(J).max())
    return tuple(tidy_number(J[i, j], scale) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))


def visual_of(model: Any, geom: int, mesh_files: Sequence[str]) -> Visual | None:
    """What a geom is drawn as; None where kinode has no such solid."""
    kind = KINDS.get(int(model.geom_type[geom]))
    size, R, p = model.geom_size[geom], quaternion_matrix(model.geom_quat[geom]), model.geom_pos[geom]
    collides = model.geom_contype[geom] != 0 or model.geom_conaffinity[geom] != 0
    role = "collision" if collides and model.geom_group[geom] >= EXPOSED_GROUP else "visual"
    file, sizes = None, tuple(float(x) for x in size)
    if kind == "mesh":
        mesh = int(model.geom_dataid[geom])
        file = mesh_files[mesh] if mesh >= 0 else ""
        if not file:
            return None
        # MuJoCo moves the mesh to its center and principal axes; the file has it where it was drawn.
        R = R @ quaternion_matrix(model.mesh_quat[mesh]).T
        p = p - R @ model.mesh_pos[mesh]
        sizes = tuple(float(x) for x in model.mesh_scale[mesh])
    elif kind == "box":
        sizes = tuple(2.0 * x for x in sizes)
    elif kind in ("cylinder", "capsule"):
        sizes = (sizes[0], 2.0 * sizes[1])
    elif kind == "sphere":
        sizes = sizes[:1]
    else:
        return None
    w = [float(x) for x in quaternion_of(R)]
    turned = None if w == [1.0, 0.0, 0.0, 0.0] else tuple(w)
    return Visual(kind, sizes, tidy_vector(p), role=role, file=file, quaternion=turned)


# mjtGeom: plane 0, hfield 1, sphere 2, capsule 3, ellipsoid 4, cylinder 5, box 6, mesh 7
KINDS = {2: "sphere", 3: "capsule", 5: "cylinder", 6: "box", 7: "mesh"}
