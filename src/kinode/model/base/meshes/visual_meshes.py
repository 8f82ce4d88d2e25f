"""Mesh files of visuals: found when a model is imported, read when it is drawn.

A file is looked for in the folder of the model and below, and in the folders of packages that the caller named; names
with ``package://`` are below the package, or below a folder of the model with its name.  Others are not opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from kinode.errors import Error
from kinode.model.base.meshes.mesh_solids import SUFFIXES, MeshSolid, make_solid, read_mesh
from kinode.model.base.visuals import Visual

PACKAGE, FILE = "package://", "file://"


def find_mesh_file(name: str, model: str | Path | None, packages: Mapping[str, Path]) -> str | None:
    """The path of a mesh file; None where it is not below the folder of the model's file or the package."""
    folder = None if model is None else Path(model).parent
    if not name.lower().endswith(SUFFIXES):
        return None
    places: list[tuple[Path, Path]] = []  # a folder that is allowed, and the file
    if name.startswith(PACKAGE):
        package, _, rest = name.removeprefix(PACKAGE).partition("/")
        if package in packages:
            places.append((packages[package], packages[package] / rest))
        if folder is not None:
            places += [(folder, folder / package / rest), (folder, folder / rest)]
    elif "://" in name and not name.startswith(FILE):
        return None
    elif folder is not None:
        places.append((folder, folder / name.removeprefix(FILE)))
    for allowed, path in places:
        try:
            if path.resolve().is_relative_to(allowed.resolve()) and path.is_file():
                return str(path)
        except (OSError, ValueError, RuntimeError):
            continue
    return None


def find_visual_mesh(visual: Visual) -> MeshSolid | None:
    """The mesh of a visual whose file was found; None where it cannot be read: drawings do without."""
    if visual.path is None:
        return None
    try:
        return _scaled(visual.path, visual.sizes)
    except Error:
        return None


@lru_cache(maxsize=256)
def _scaled(path: str, scale: tuple[float, ...]) -> MeshSolid:
    mesh = read_mesh(path, 1.0)
    return mesh if scale == (1.0, 1.0, 1.0) else make_solid(mesh.vertices * np.array(scale), np.array(mesh.faces))
