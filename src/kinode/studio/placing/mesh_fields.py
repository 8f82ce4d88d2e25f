"""The mesh of a body for the form of its shape: files to choose from, and its numbers beside the stated ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kinode.errors import Error
from kinode.formats.yaml_writer import write_scalar
from kinode.model.base.bodies import Body, inertia_matrix
from kinode.model.base.meshes.mesh_checks import CLOSE
from kinode.model.base.meshes.mesh_solids import read_mesh
from kinode.model.base.shapes import Shape
from kinode.model.base.visuals import MESH_SUFFIXES
from kinode.model.system import System
from kinode.studio.scene_data import Plain

MOST_FILES, MOST_FOLDERS = 200, 500
ENTRIES = ("xx", "yy", "zz", "xy", "xz", "yz")
PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def find_mesh_files(place: str | os.PathLike[str] | None) -> tuple[list[str], str]:
    """The mesh files below the folder of a model, as it would name them; or why there are none."""
    if place is None:
        return [], "save the model first: a mesh is a file in its folder"
    folder, names = Path(place).parent, list[str]()
    for count, (root, inner, files) in enumerate(os.walk(folder)):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        names += [
            Path(root, name).relative_to(folder).as_posix() for name in files if name.lower().endswith(MESH_SUFFIXES)
        ]
        if len(names) >= MOST_FILES or count >= MOST_FOLDERS:
            break
    names = [
        name for name in names if name.isprintable() and (folder / name).resolve().is_relative_to(folder.resolve())
    ]
    why = "" if names else f"no {', '.join(MESH_SUFFIXES)} file in the folder of the model"
    return [write_scalar(name) for name in sorted(names)[:MOST_FILES]], why


def is_closed(place: str | os.PathLike[str] | None, name: str) -> bool:
    """Whether a mesh file can give a mass."""
    try:
        return place is not None and read_mesh(Path(place).parent / name)[0].closed
    except Error:
        return False


def describe_mesh(shape: Shape) -> list[str]:
    """A row on the triangles of a mesh."""
    mesh = shape.mesh
    assert mesh is not None
    count = f"{len(mesh.faces):,} triangles"
    if mesh.closed:
        return ["mesh", f"{count}, closed, {mesh.volume:.4g} m³"]
    return ["mesh", f"{count}, open: for looks alone"]


def compare_rows(system: System, body: Body) -> Iterator[tuple[list[str], bool]]:
    """Rows with what the body states and what its closed mesh gives, and whether they differ by more than 2 %."""
    shape, nominal = body.shape, system.nominal
    mesh = None if shape is None else shape.mesh
    assert shape is not None and mesh is not None
    stated = float(nominal(body.mass))
    if shape.mass is None and shape.density is None:
        shape = replace(shape, mass=stated)
    mass = float(nominal(shape.total_mass()))
    yield ["mass", f"{stated:.4g} kg", f"{mass:.4g} kg"], abs(stated - mass) > CLOSE * max(stated, mass)
    center, own = (np.array([float(nominal(x)) for x in at]) for at in (body.center_of_mass, shape.com()))
    apart = float(np.linalg.norm(center - own)) > CLOSE * mesh.reach
    yield ["mass center", f"{_numbers(center)} m", f"{_numbers(own)} m"], apart
    J = np.asarray(body.central_inertia(nominal), dtype=float)
    other = np.asarray(inertia_matrix([nominal(x) for x in shape.inertia()]), dtype=float)
    largest = max(abs(J).max(), abs(other).max())
    for entry, at in zip(ENTRIES, PLACES):
        one, two = J[at], other[at]
        if at[0] == at[1] or max(abs(one), abs(two)) > 1e-9 * largest:
            row = [f"inertia {entry}", f"{one:.4g} kg·m²", f"{two:.4g} kg·m²"]
            yield row, abs(one - two) > CLOSE * largest


def comparison_heads(shape: Shape) -> list[str]:
    """The heads of the two columns of numbers."""
    given = shape.mass is not None or shape.density is not None
    return ["stated", "of the mesh" if given else "of the mesh, with the stated mass"]


def stated_fields(system: System, body: Body) -> dict[str, str]:
    """Mass, center and inertia of a body as numbers for its entry: an open mesh gives none."""
    J = np.asarray(body.central_inertia(system.nominal), dtype=float)
    center = [float(system.nominal(x)) for x in body.center_of_mass]
    entries: list[Any] = [J[at] for at in (PLACES if J[0, 1] or J[0, 2] or J[1, 2] else PLACES[:3])]
    return {
        "mass": f"{float(system.nominal(body.mass)):.6g}", "com": _numbers(center, 6), "inertia": _numbers(entries, 6),
    }  # fmt: skip


def mesh_fields(place: str | os.PathLike[str] | None, chosen: str | None) -> dict[str, Plain]:
    """What the fields of a mesh offer to choose from; "" is what its file says."""
    names = find_mesh_files(place)[0]
    own = [chosen] if chosen is not None and chosen not in names else []
    return {"file": {"choices": [*own, *names]}, "up": {"choices": ["", "x", "y", "z"]}}


def _numbers(values: Any, digits: int = 4) -> str:
    return "[" + ", ".join(f"{x:.{digits}g}" for x in values) + "]"
