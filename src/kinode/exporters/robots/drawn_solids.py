"""What a body is drawn with, its shape and its meshes alike, as solids at a place."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import rotation_from_quaternion, rotation_from_rpy
from kinode.model.base.bodies import Body
from kinode.model.base.meshes.mesh_conventions import TURNS
from kinode.model.base.meshes.mesh_solids import find_file_conventions, find_mesh_path
from kinode.model.system import System

# Turns that bring z to an axis.
TO_AXIS = {
    "x": np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "z": np.eye(3),
}
THIN = 0.01  # radius of a thin rod, of its length


class ExportedSolid(NamedTuple):
    """A box, cylinder, capsule, sphere or mesh, with its pose in the body as a 4x4 matrix."""

    kind: str
    sizes: tuple[float, ...]
    pose: Array
    role: str = "visual"
    file: str | None = None
    """The name of a mesh file, as the model has it."""
    path: str | None = None
    """Where that file is; None where it was not found."""


def find_solids(system: System, body: Body) -> list[ExportedSolid]:
    """The solids of a body."""
    solids = [] if body.shape is None else [_shape(system, body)]
    for visual in body.meshes:
        R = rotation_from_rpy(list(visual.rpy)) if visual.quaternion is None else None
        R = rotation_from_quaternion(np.array(visual.quaternion)) if R is None else R
        solids.append(
            ExportedSolid(
                visual.kind,
                visual.sizes,
                _pose(np.asarray(R, dtype=float), visual.at),
                visual.role,
                visual.file,
                visual.path,
            )
        )
    return solids


def _shape(system: System, body: Body) -> ExportedSolid:
    shape = body.shape
    assert shape is not None
    sizes: dict[str, Any] = {
        name: value if isinstance(value, str) else system.nominal(value) for name, value in shape.sizes
    }
    at = [system.nominal(x) for x in shape.at]
    if shape.kind == "box":
        return ExportedSolid("box", (sizes["x"], sizes["y"], sizes["z"]), _pose(np.eye(3), at))
    if shape.kind == "sphere":
        return ExportedSolid("sphere", (sizes["radius"],), _pose(np.eye(3), at))
    if shape.mesh is not None:
        return _mesh(sizes, at)
    R = TO_AXIS[sizes["axis"]]
    if shape.kind == "rod":
        middle = np.array(at) + 0.5 * sizes["length"] * R[:, 2]
        return ExportedSolid("cylinder", (THIN * sizes["length"], sizes["length"]), _pose(R, middle))
    return ExportedSolid("cylinder", (sizes["radius"], sizes["length"]), _pose(R, at))


def _mesh(sizes: dict[str, Any], at: object) -> ExportedSolid:
    """A mesh as readers of robots take it: in the axes of its file, scaled beside the unit that the file states."""
    own = find_file_conventions(sizes["file"])
    scale = sizes["scale"] / own.unit
    pose, path = _pose(TURNS[sizes.get("up", own.up)], at), str(find_mesh_path(sizes["file"]))
    return ExportedSolid("mesh", (scale,) * 3, pose, file=str(sizes["file"]), path=path)


def _pose(R: Array, p: object) -> Array:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, np.asarray(p, dtype=float)
    return X
