"""Meshes of bodies: triangles from STL, OBJ, DAE or GLB files, mass properties of closed ones, files of visuals.

trimesh reads the file's bytes and nothing else: what a file names besides (materials, textures) is not opened, and
nothing is fetched.  A closed mesh, whose triangles all look outward, has a volume, a center and a tensor for density 1.
``coarser`` gives fewer triangles for drawings: corners in one cell of a grid become one.

Unit and upward axis are those that the format or the file itself says.  STL and OBJ say neither.  GLB is in m with y
upward (glTF 2.0, section 3.4).  DAE has both in the ``<asset>`` of the document (COLLADA 1.4, chapter 5): a unit of 1 m
and y upward where the file is silent.

Mesh files of visuals are found when a model is imported, and read when it is drawn.  A file is looked for in the folder
of the model and below, and in the folders of packages that the caller named; names with ``package://`` are below the
package, or below a folder of the model with its name.  Others are not opened.  What is not found is a note of the
model; what cannot be read is a warning when it is drawn.  A visual has the axes of its file, whatever that says of
"up": RViz and Gazebo draw it so, and robots are described for them.  The unit that a file states counts, times the
scale of the visual.
"""

from __future__ import annotations

import io
import math
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from kinode.algebra.scalars import Array
from kinode.atomic_files import is_below
from kinode.errors import Error, ModelError
from kinode.model.base.bodies import MESH_SUFFIXES, Visual
from kinode.model.base.value_walk import ValueWalk
from kinode.optional_packages import need

# Rotations that bring the upward axis of a file to z, as COLLADA's viewers do.
TURNS = {
    "x": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
}


class MeshConventions(NamedTuple):
    """Length of a file's unit in m, and its axis that points upward."""

    unit: float
    up: str


def find_conventions(kind: str, data: bytes) -> MeshConventions:
    """What a file of a kind ("stl", "obj", "dae", "glb") says; ValueError where it says nonsense."""
    if kind == "dae":
        return _read_asset(data)
    return MeshConventions(1.0, "y" if kind == "glb" else "z")


def turn_up(vertices: Array, up: str) -> Array:
    """Corners turned so that an axis of the file becomes z."""
    return vertices if up == "z" else np.ascontiguousarray(vertices @ TURNS[up].T)


def _read_asset(data: bytes) -> MeshConventions:
    """The unit and axis of a COLLADA document: those of its own asset, not of the assets of its parts."""
    unit, up, depth = 1.0, "y", 0
    try:
        for event, element in ElementTree.iterparse(io.BytesIO(data), events=("start", "end")):
            depth += 1 if event == "start" else -1
            tag = element.tag.rpartition("}")[2]
            if event == "end" and depth == 2 and tag == "unit":
                unit = float(element.get("meter", 1.0))
            elif event == "end" and depth == 2 and tag == "up_axis":
                up = (element.text or "").strip()[:1].lower()
            elif event == "end" and depth == 1 and tag == "asset":
                break
    except ElementTree.ParseError as error:
        raise ValueError(f"its XML cannot be read: {error}") from None
    if not (math.isfinite(unit) and unit > 0.0):
        raise ValueError(f"its unit is {unit:g} m")
    if up not in TURNS:
        raise ValueError("its up_axis is none of X_UP, Y_UP, Z_UP")
    return MeshConventions(unit, up)


LARGEST_FILE = 100_000_000  # bytes
MOST_TRIANGLES = 5_000_000
ROUNDING = 1e-9


class LocatedFile(str):
    """The name of a file as a model says it, and the path at which the model's loader found it."""

    __slots__ = ("path",)
    path: Path

    @classmethod
    def at(cls, name: str, path: Path) -> LocatedFile:
        """A name with its path."""
        located = cls(name)
        located.path = Path(os.path.abspath(path))  # the caller may change its folder
        return located


def locate_mesh(
    fields: Mapping[str, Any], find_file: Callable[[str, str], Path], find_drawn: Callable[[str], str | None]
) -> Mapping[str, Any]:
    """The fields of a body, in which the file of a mesh has the path that ``find_file`` gives.

    Files of visuals have the path of ``find_drawn``; where it finds none they stay as they are.
    """
    visuals = fields.get("meshes")
    if isinstance(visuals, list):
        fields = {**fields, "meshes": [_locate_visual(visual, find_drawn) for visual in visuals]}
    shape = fields.get("shape")
    mesh = shape.get("mesh") if isinstance(shape, Mapping) else None
    if not isinstance(mesh, Mapping) or not isinstance(mesh.get("file"), str):
        return fields
    name = str(mesh["file"])
    return {**fields, "shape": {"mesh": {**mesh, "file": LocatedFile.at(name, find_file(name, "shape.file"))}}}


def _locate_visual(visual: Any, find_drawn: Callable[[str], str | None]) -> Any:
    name = visual.get("file") if isinstance(visual, Mapping) else None
    path = find_drawn(name) if isinstance(name, str) else None
    return visual if path is None else {**visual, "file": LocatedFile.at(str(name), Path(path))}


@dataclass(frozen=True, eq=False)
class MeshSolid:
    """The triangles of a file, in m, and what follows from them.

    Attributes
    ----------
    vertices, faces : array
        Corners (n, 3) and the three corners of each triangle (m, 3).
    digest : str
        Tells meshes apart: two are equal if their digests are.
    closed : bool
        Whether the triangles enclose a volume.
    open_edges : int
        Edges that do not join two triangles.
    volume : float
        m^3; zero where the mesh is open.
    center : array
        Of the volume; of an open mesh, of its surroundings.
    tensor : tuple of float
        xx, yy, zz, xy, xz, yz about the center for density 1.
    """

    vertices: Array
    faces: Array
    digest: str
    closed: bool
    open_edges: int
    volume: float
    center: Array
    tensor: tuple[float, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeshSolid) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<mesh of {len(self.faces):,} triangles>"

    def walked(self, walk: ValueWalk, at: Any) -> MeshSolid:
        """Itself: none of its numbers is one of the model."""
        return self

    @property
    def reach(self) -> float:
        """The radius of the ball around the middle of its box that holds it."""
        low, high = self.vertices.min(axis=0), self.vertices.max(axis=0)
        return float(np.linalg.norm(high - low)) / 2

    @property
    def middle(self) -> Array:
        """The middle of the box around it."""
        return np.asarray((self.vertices.min(axis=0) + self.vertices.max(axis=0)) / 2)

    def coarser(self, most: int) -> tuple[Array, Array]:
        """Corners and triangles for a drawing, of at most so many triangles."""
        return _coarser(self, most)


def read_mesh(
    file: str | os.PathLike[str], scale: float | None = None, up: str | None = None
) -> tuple[MeshSolid, MeshConventions]:
    """The mesh in a file, and the unit and upward axis that it was read with.

    ``scale`` is the length of its unit in m, ``up`` the axis that becomes z; None is what the file says.
    """
    path = Path(getattr(file, "path", os.fspath(file)))
    name = os.fspath(file)
    if path.suffix.lower() not in MESH_SUFFIXES:
        raise ModelError(f"{name!r} is no mesh that is read: {', '.join(MESH_SUFFIXES)} are", field="file")
    try:
        status = path.stat()
        if status.st_size > LARGEST_FILE:
            raise ModelError(f"{name!r} is larger than {LARGEST_FILE // 1_000_000} MB", field="file")
        return _read(str(path), name, scale, up, status.st_mtime_ns, status.st_size)
    except (OSError, ValueError) as error:
        raise ModelError(
            f"{name!r} cannot be read: {getattr(error, 'strerror', None) or error}", field="file"
        ) from None


@lru_cache(maxsize=64)
def _read(
    path: str, name: str, scale: float | None, up: str | None, changed: int, size: int
) -> tuple[MeshSolid, MeshConventions]:
    trimesh = need("trimesh", "mesh", f"{name}: a mesh")
    data = Path(path).read_bytes()
    kind = Path(path).suffix.lower()[1:]
    if kind == "dae":
        need("collada", "mesh", f"{name}: a DAE file")
    try:
        own = find_conventions(kind, data)
        loaded = trimesh.load(io.BytesIO(data), file_type=kind, force="mesh", **_options(kind))
        vertices, faces = np.asarray(loaded.vertices, dtype=float), np.asarray(loaded.faces, dtype=np.int64)
    except Exception as error:  # a file that others made: whatever the reader stumbles over
        raise ModelError(f"{name!r} is no {kind.upper()} file that can be read: {error}", field="file") from None
    if vertices.ndim != 2 or vertices.shape[-1] != 3 or not len(faces):
        raise ModelError(f"{name!r} holds no triangles", field="file")
    if len(faces) > MOST_TRIANGLES:
        raise ModelError(f"{name!r} has {len(faces):,} triangles; at most {MOST_TRIANGLES:,} are read", field="file")
    if not np.isfinite(vertices).all():
        raise ModelError(f"{name!r} has corners that are no finite numbers", field="file")
    taken = MeshConventions(own.unit if scale is None else scale, own.up if up is None else up)
    return make_solid(turn_up(vertices, taken.up) * taken.unit, faces), taken


def find_file_conventions(file: str | os.PathLike[str]) -> MeshConventions:
    """The unit and upward axis that a file states, once it was read as a mesh."""
    path = find_mesh_path(file)
    try:
        return find_conventions(path.suffix.lower()[1:], path.read_bytes())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"{os.fspath(file)!r} cannot be read: {reason}", field="file") from None


def find_mesh_path(file: str | os.PathLike[str]) -> Path:
    """Where the file of a mesh is: where the model's loader found it, or where its name says."""
    return Path(getattr(file, "path", os.fspath(file)))


def _options(kind: str) -> dict[str, Any]:
    return {"skip_materials": True} if kind == "obj" else {}


def make_solid(vertices: Array, faces: Array) -> MeshSolid:
    """The mesh of corners and triangles; a closed one that looks inward is turned round."""
    import hashlib

    vertices, faces = _merge(vertices, faces)
    digest = hashlib.sha256(vertices.tobytes() + faces.tobytes()).hexdigest()[:24]
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    keys = edges[:, 0] * len(vertices) + edges[:, 1]
    back = edges[:, 1] * len(vertices) + edges[:, 0]
    once = len(np.unique(keys)) == len(keys)
    alone = int((~np.isin(keys, back)).sum())
    volume, center, tensor = _integrals(vertices, faces)
    closed = once and alone == 0 and abs(volume) > 1e-12 * max(np.ptp(vertices, axis=0).max(), 1e-300) ** 3
    if closed and volume < 0:
        faces, volume, tensor = faces[:, ::-1].copy(), -volume, tuple(-x for x in tensor)
    if not closed:
        volume, center, tensor = 0.0, (vertices.min(axis=0) + vertices.max(axis=0)) / 2, (0.0,) * 6
    vertices.flags.writeable = faces.flags.writeable = False
    return MeshSolid(vertices, faces, digest, closed, alone, volume, center, tensor)


def _merge(vertices: Array, faces: Array) -> tuple[Array, Array]:
    """Corners at one place are one, and triangles without an area are left out."""
    span = float(np.ptp(vertices, axis=0).max()) or 1.0
    _, first, which = np.unique(
        np.round(vertices / (1e-8 * span)).astype(np.int64), axis=0, return_index=True, return_inverse=True
    )
    faces = which.reshape(-1)[faces]
    kept = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return np.ascontiguousarray(vertices[first]), np.ascontiguousarray(faces[kept])


def _integrals(vertices: Array, faces: Array) -> tuple[float, Array, tuple[float, ...]]:
    """Volume, center and tensor about it, as sums over the tetrahedra between triangles and a point."""
    base = vertices.mean(axis=0)
    a, b, c = (vertices[faces[:, k]] - base for k in range(3))
    parts = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    volume = float(parts.sum())
    if volume == 0.0:
        return 0.0, base, (0.0,) * 6
    center = (parts[:, None] * (a + b + c)).sum(axis=0) / (4.0 * volume)
    total = a + b + c
    second = np.zeros((3, 3))
    for x in (a, b, c, total):
        second += np.einsum("i,ij,ik->jk", parts, x, x)
    second = second / 20.0 - volume * np.outer(center, center)
    J = np.trace(second) * np.eye(3) - second
    center = base + center
    J[abs(J) < ROUNDING * abs(J).max()] = 0.0  # what is zero on the drawing is zero in the equations
    center[abs(center) < ROUNDING * np.ptp(vertices, axis=0).max()] = 0.0
    return volume, center, tuple(map(float, (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])))


@lru_cache(maxsize=128)
def _coarser(solid: MeshSolid, most: int) -> tuple[Array, Array]:
    vertices, faces = solid.vertices, solid.faces
    low, span = vertices.min(axis=0), float(np.ptp(vertices, axis=0).max()) or 1.0
    cells = max(8, int(math.sqrt(most)))
    while len(faces) > most:
        cell = np.floor((solid.vertices - low) / span * cells).astype(np.int64)
        _, which, counts = np.unique(cell, axis=0, return_inverse=True, return_counts=True)
        which = which.reshape(-1)
        middles = np.zeros((len(counts), 3))
        np.add.at(middles, which, solid.vertices)
        vertices, corners = middles / counts[:, None], which[solid.faces]
        kept = (corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2]) & (corners[:, 2] != corners[:, 0])
        faces = np.unique(corners[kept], axis=0)
        cells = int(cells * 0.8)
        if cells < 2:
            break
    return vertices, faces


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
        if os.path.isfile(path) and is_below(Path(path), Path(allowed)):
            return str(Path(path))
    return None


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

    mesh, _ = read_mesh(path, up="z")
    return mesh if scale == (1.0, 1.0, 1.0) else make_solid(mesh.vertices * np.array(scale), np.array(mesh.faces))
