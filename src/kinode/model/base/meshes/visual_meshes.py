"""Mesh files of visuals: found when a model is imported, read when it is drawn.

A file is looked for in the folder of the model and below, and in the folders of packages that the caller named; names
with ``package://`` are below the package, or below a folder of the model with its name.  Others are not opened.
What is not found is a note of the model; what cannot be read is a warning when it is drawn.

A visual has the axes of its file, whatever that says of "up": RViz and Gazebo draw it so, and robots are described for
them.  The unit that a file states counts, times the scale of the visual.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinode.errors import Error
from kinode.model.base.visuals import MESH_SUFFIXES, Visual

if TYPE_CHECKING:
    from kinode.model.base.meshes.mesh_solids import MeshSolid

PACKAGE, FILE = "package://", "file://"
NAMED = 6  # meshes that a note names
FORMATS = "STL, OBJ, DAE and GLB"


def find_mesh_file(name: str, model: str | Path | None, packages: Mapping[str, Path]) -> str | None:
    """The path of a mesh file; None where it is not below the folder of the model's file or the package."""
    folder = None if model is None else os.path.dirname(model)
    if not name.lower().endswith(MESH_SUFFIXES):
        return None
    places: list[tuple[str, str]] = []  # a folder that is allowed, and the file
    if name.startswith(PACKAGE):
        package, _, rest = name.removeprefix(PACKAGE).partition("/")
        if package in packages:
            places.append((str(packages[package]), os.path.join(packages[package], rest)))
        if folder is not None:
            places += [(folder, os.path.join(folder, package, rest)), (folder, os.path.join(folder, rest))]
    elif "://" in name and not name.startswith(FILE):
        return None
    elif folder is not None:
        places.append((folder, os.path.join(folder, name.removeprefix(FILE))))
    for allowed, path in places:  # most are not there: that is seen at once, and where a path leads takes longer
        if os.path.isfile(path) and _is_below(Path(path), Path(allowed)):
            return str(Path(path))
    return None


def _is_below(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        return False


def note_undrawn(visuals: Mapping[str, Iterable[Visual]]) -> list[str]:
    """Notes on the meshes of bodies, by name, whose files were not found: one for each reason."""
    reasons: dict[str, dict[str, None]] = {}  # in order, each once
    for body, own in visuals.items():
        for visual in own:
            if visual.role == "visual" and visual.kind == "mesh" and visual.path is None:
                name = visual.file or ""
                reasons.setdefault(_reason(name), {})[f"{body} ({name or 'no file'})"] = None
    return [_note(reason, list(named)) for reason, named in reasons.items()]


def _reason(name: str) -> str:
    if not name.lower().endswith(MESH_SUFFIXES):
        return f"of meshes, {FORMATS} are read"
    if name.startswith(PACKAGE):
        return f"not found; packages={{{name.removeprefix(PACKAGE).partition('/')[0]!r}: folder}} tells kn.load where"
    if "://" in name and not name.startswith(FILE):
        return "nothing is fetched from the network"
    return "not found in the folder of the model or below"


def _note(reason: str, named: list[str]) -> str:
    more = f" and {len(named) - NAMED} others" if len(named) > NAMED else ""
    return f"not drawn: {', '.join(named[:NAMED])}{more}; {reason}"


def find_visual_mesh(visual: Visual, body: str) -> MeshSolid | None:
    """The mesh of a visual whose file was found; where it cannot be read, a warning says so once, and None."""
    if visual.path is None:
        return None
    try:
        return _scaled(visual.path, visual.sizes)
    except Error as error:
        _warn_once(visual.path, f"{body}: the mesh {visual.file} is not drawn: {error}")
        return None


@lru_cache(maxsize=1024)
def _warn_once(path: str, message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=2)


@lru_cache(maxsize=256)
def _scaled(path: str, scale: tuple[float, ...]) -> MeshSolid:
    from kinode.model.base.meshes.mesh_solids import make_solid, read_mesh

    mesh, _ = read_mesh(path, up="z")
    return mesh if scale == (1.0, 1.0, 1.0) else make_solid(mesh.vertices * np.array(scale), np.array(mesh.faces))
