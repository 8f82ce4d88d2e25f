"""Shapes: solids of even density that give a body its mass, its center of mass and its inertia.

Where mass properties of a body are stated beside a mesh and differ from those of the mesh, a warning has both numbers.

A solid of a new kind has its sizes, mass and inertia here.  It is read in bodies.py, described in
``formats/json_schema.py``, edited in ``studio/placing/shape_fields.py``, drawn by ``player/scene_data.py`` with
``views/mechanism/drawn_scene.py`` and, in the page, by the solids of ``web/src/scene``, and written by
``exporters/robots/robot_tree.py``.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ModelError
from kinode.model.base.field_reader import Reader
from kinode.model.base.fields import Value, Vector
from kinode.model.base.frames import ZERO
from kinode.model.base.meshes import MeshSolid, read_mesh
from kinode.model.base.value_walk import ValueWalk

if TYPE_CHECKING:
    from kinode.model.base.kinds import NumberLike, VectorLike


AXES = ("x", "y", "z")
Inertia = tuple[Value, Value, Value, Value, Value, Value]


@dataclass(frozen=True)
class Shape:
    """A solid that gives a body its mass properties and its looks; ``kind`` and sizes as they were given."""

    kind: str
    sizes: tuple[tuple[str, Any], ...]
    mass: Value | None = None
    density: Value | None = None
    at: Vector = ZERO
    mesh: MeshSolid | None = None

    def walked(self, walk: ValueWalk, at: Any) -> Shape:
        """The shape after a walk over values; the triangles of a mesh were scaled when they were read."""
        named = () if self.mesh is not None else self.sizes
        sizes = walk.pairs(named, (at.at(name, "length") for name, _ in named)) or self.sizes
        shape = self if sizes is self.sizes else replace(self, sizes=sizes)
        walked: Shape = walk.parts(shape, at, {"mass": "mass", "density": "density", "at": "length"})
        return walked

    def size(self, name: str) -> Any:
        return dict(self.sizes)[name]

    def volume(self) -> Any:
        if self.kind == "box":
            return self.size("x") * self.size("y") * self.size("z")
        if self.kind == "cylinder":
            return self.size("radius") ** 2 * self.size("length") * math.pi
        if self.kind == "sphere":
            return self.size("radius") ** 3 * (4.0 / 3.0 * math.pi)
        if self.mesh is not None:
            return self.mesh.volume
        raise ModelError("a rod is thin: give its mass, not a density", field="density")

    def total_mass(self) -> Value:
        return self.mass if self.mass is not None else self.density * self.volume()

    def com(self) -> Vector:
        if self.mesh is not None:
            a, b, c = (self.at[i] + float(self.mesh.center[i]) for i in range(3))
            return (a, b, c)
        if self.kind != "rod":
            return self.at
        half = [0.0, 0.0, 0.0]
        half[AXES.index(self.size("axis"))] = 0.5
        x, y, z = (self.at[i] + half[i] * self.size("length") for i in range(3))
        return (x, y, z)

    def inertia(self) -> Inertia:
        """About the mass center, in the body's axes."""
        m = self.total_mass()
        if self.mesh is not None:
            xx, yy, zz, xy, xz, yz = (m * (x / self.mesh.volume) for x in self.mesh.tensor)
            return (xx, yy, zz, xy, xz, yz)
        if self.kind == "box":
            x, y, z = (self.size(axis) for axis in AXES)
            principal = (m * (y**2 + z**2) / 12.0, m * (x**2 + z**2) / 12.0, m * (x**2 + y**2) / 12.0)
        elif self.kind == "sphere":
            J = m * self.size("radius") ** 2 * 0.4
            principal = (J, J, J)
        else:
            length = self.size("length")
            r2 = self.size("radius") ** 2 if self.kind == "cylinder" else 0.0
            across = m * (3.0 * r2 + length**2) / 12.0
            along = AXES.index(self.size("axis"))
            principal = (across, across, across)
            principal = (*principal[:along], m * r2 * 0.5, *principal[along + 1 :])
        return (*principal, 0.0, 0.0, 0.0)


MESH_FIELDS = ("file", "scale", "up", "mass", "density", "at")
SHAPE_SIZES = {"box": ("x", "y", "z"), "cylinder": ("radius", "length"), "sphere": ("radius",), "rod": ("length",)}


def box(
    x: NumberLike, y: NumberLike, z: NumberLike, *, mass: NumberLike | None = None,
    density: NumberLike | None = None, at: VectorLike = ZERO,
) -> dict[str, Any]:  # fmt: skip
    """A box as the shape of a body.

    Parameters
    ----------
    x, y, z : number, m
        Lengths of its edges.
    mass : number, kg, optional
        Its mass; or give the density.
    density : number, kg/m^3, optional
        Its density.
    at : 3 numbers, m, default (0, 0, 0)
        Its center, in the body's axes.

    Returns
    -------
    dict
        For the field ``shape`` of a body.

    Examples
    --------
    >>> import kinode as kn
    >>> plate = kn.System("s").body("plate", shape=kn.box("20 cm", "10 cm", "5 mm", mass=0.8))
    """
    return {"box": {"x": x, "y": y, "z": z, "mass": mass, "density": density, "at": at}}


def cylinder(
    radius: NumberLike, length: NumberLike, *, axis: str = "z", mass: NumberLike | None = None,
    density: NumberLike | None = None, at: VectorLike = ZERO,
) -> dict[str, Any]:  # fmt: skip
    """A cylinder as the shape of a body.

    Parameters
    ----------
    radius, length : number, m
        Its sizes.
    axis : str, default "z"
        Axis of the body that it lies along: x, y or z.
    mass, density, at
        As for ``box``; ``at`` is its center.

    Returns
    -------
    dict
        For the field ``shape`` of a body.
    """
    return {"cylinder": {"radius": radius, "length": length, "axis": axis, "mass": mass, "density": density, "at": at}}


def sphere(
    radius: NumberLike, *, mass: NumberLike | None = None, density: NumberLike | None = None, at: VectorLike = ZERO
) -> dict[str, Any]:
    """A solid ball as the shape of a body.

    Parameters
    ----------
    radius : number, m
        Its size.
    mass, density, at
        As for ``box``; ``at`` is its center.

    Returns
    -------
    dict
        For the field ``shape`` of a body.
    """
    return {"sphere": {"radius": radius, "mass": mass, "density": density, "at": at}}


def rod(
    length: NumberLike, *, axis: str = "x", mass: NumberLike | None = None, at: VectorLike = ZERO
) -> dict[str, Any]:
    """A thin rod as the shape of a body.

    Parameters
    ----------
    length : number, m
        Its size.
    axis : str, default "x"
        Axis of the body that it runs along: x, y or z.
    mass : number, kg, optional
        Its mass.
    at : 3 numbers, m, default (0, 0, 0)
        Its first end, in the body's axes.

    Returns
    -------
    dict
        For the field ``shape`` of a body.
    """
    return {"rod": {"length": length, "axis": axis, "mass": mass, "at": at}}


def mesh(
    file: str | os.PathLike[str], *, scale: NumberLike | None = None, up: str | None = None,
    mass: NumberLike | None = None, density: NumberLike | None = None, at: VectorLike = ZERO,
) -> dict[str, Any]:  # fmt: skip
    """The triangles of a file as the shape of a body; takes trimesh: ``pip install 'kinode[mesh]'``.

    Parameters
    ----------
    file : path
        STL, OBJ, DAE or GLB; in a model file relative to it, and in its folder or below.
    scale : number, m, optional
        Length of one unit of the file: 0.001 or "1 mm" for a drawing in mm.  Without it, as a DAE file says; else 1 m.
    up : str, optional
        Axis of the file that becomes z of the body: x, y or z.  Without it, what a DAE file says, y of a GLB file, and
        z of STL and OBJ.
    mass : number, kg, optional
        Mass of a closed mesh of even density; or give the density.
    density : number, kg/m^3, optional
        Its density.  With neither, the mesh is for looks alone, and the body states its own mass.
    at : 3 numbers, m, default (0, 0, 0)
        Where the origin of the file lies, in the body's axes.

    Returns
    -------
    dict
        For the field ``shape`` of a body.
    """
    return {"mesh": {"file": file, "scale": scale, "up": up, "mass": mass, "density": density, "at": at}}


def _read_mesh_shape(reader: Reader, given: Any, name: str) -> Shape:
    """The shape of a mesh: its triangles are read now, and its mass needs a closed surface."""
    if not isinstance(given, Mapping) or not isinstance(given.get("file"), str | os.PathLike):
        raise reader.fail(name, "a mesh needs the name of its file")
    given = {key: value for key, value in given.items() if value is not None}
    for key in given:
        if key not in MESH_FIELDS:
            raise reader.fail(f"{name}.{key}", f"a mesh has no {key!r}; it takes {', '.join(MESH_FIELDS)}")
    if "mass" in given and "density" in given:
        raise reader.fail(name, "give mass or density, not both")
    scale, up = given.get("scale"), given.get("up")
    if scale is not None:
        scale = reader.number(scale, "length", f"{name}.scale")
        if not isinstance(scale, float) or not 0.0 < scale < math.inf:
            raise reader.fail(f"{name}.scale", "a positive number is expected; meshes do not depend on parameters")
    if up is not None and (not isinstance(up, str) or up not in AXES):
        raise reader.fail(f"{name}.up", f"must be x, y or z, not {up!r}")
    try:
        solid, taken = read_mesh(given["file"], scale, up)
    except ModelError as error:
        raise reader.fail(f"{name}.{error.field or 'file'}", error.message) from None
    numbers = {
        key: reader.number(given[key], key, f"{name}.{key}") if key in given else None for key in ("mass", "density")
    }
    if (numbers["mass"] is not None or numbers["density"] is not None) and not solid.closed:
        why = f"{solid.open_edges:,} edges join no two triangles" if solid.open_edges else "it encloses no volume"
        message = f"the mesh is open ({why}), so that no mass follows from it; state mass, com and inertia of the body"
        raise reader.fail(name, message)
    file = given["file"]
    sizes: tuple[tuple[str, Any], ...] = (("file", file if isinstance(file, str) else os.fspath(file)),)
    sizes += (("scale", taken.unit), *((("up", up),) if up is not None else ()))
    at = reader.vector(given.get("at", ZERO), "length", f"{name}.at")
    return Shape("mesh", sizes, numbers["mass"], numbers["density"], at, solid)


def read_shape(reader: Reader, raw: Any, name: str) -> Shape:
    """A mapping with one of box, cylinder, sphere, rod, mesh."""
    if isinstance(raw, Shape):
        return raw
    if isinstance(raw, Mapping) and list(raw) == ["mesh"]:
        return _read_mesh_shape(reader, raw["mesh"], name)
    if not isinstance(raw, Mapping) or len(raw) != 1 or next(iter(raw)) not in SHAPE_SIZES:
        raise reader.fail(name, f"takes one of {', '.join(SHAPE_SIZES)}, mesh with its sizes")
    ((kind, given),) = raw.items()
    if not isinstance(given, Mapping):
        raise reader.fail(name, f"a {kind} needs {', '.join(SHAPE_SIZES[kind])} and mass or density")
    given = {k: v for k, v in given.items() if v is not None}
    allowed = {*SHAPE_SIZES[kind], "mass", "density", "at"} | ({"axis"} if kind in ("cylinder", "rod") else set())
    for key in given:
        if key not in allowed:
            raise reader.fail(f"{name}.{key}", f"a {kind} has no {key!r}; it takes {', '.join(sorted(allowed))}")
    sizes: list[tuple[str, Any]] = []
    for size in SHAPE_SIZES[kind]:
        if size not in given:
            raise reader.fail(name, f"a {kind} needs {size}")
        value = reader.number(given[size], "length", f"{name}.{size}")
        if isinstance(value, float) and value <= 0:
            raise reader.fail(f"{name}.{size}", f"must be positive, not {value:g}")
        sizes.append((size, value))
    if "axis" in allowed:
        axis = given.get("axis", "x" if kind == "rod" else "z")
        if not isinstance(axis, str) or axis not in AXES:
            raise reader.fail(f"{name}.axis", f"must be x, y or z, not {axis!r}")
        sizes.append(("axis", axis))
    if ("mass" in given) and ("density" in given):
        raise reader.fail(name, "give mass or density, not both")
    shape = Shape(
        kind,
        tuple(sizes),
        reader.number(given["mass"], "mass", f"{name}.mass") if "mass" in given else None,
        reader.number(given["density"], "density", f"{name}.density") if "density" in given else None,
        reader.vector(given.get("at", ZERO), "length", f"{name}.at"),
    )
    if shape.density is not None and kind == "rod":
        raise reader.fail(name, "a rod is thin and has no volume: give its mass")
    return shape


CLOSE = 0.02  # share of the mass, of the size of the body, of the largest moment


def compare_with_mesh(
    name: str, shape: Shape, mass: Any, com: Any, inertia: Callable[[Any], Array], nominal: Callable[[Any], float]
) -> None:
    """Warn where the mesh, of the density or mass given with it, has other mass properties than the body states."""
    solid = shape.mesh
    if solid is None or not solid.closed or (shape.mass is None and shape.density is None):
        return
    told, found = float(nominal(mass)), float(nominal(shape.total_mass()))
    differ = []
    if abs(told - found) > CLOSE * max(told, found):
        differ.append(f"mass {told:.4g} kg is stated, the mesh has {found:.4g} kg")
    stated, own = (np.array([float(nominal(x)) for x in place]) for place in (com, shape.com()))
    if np.linalg.norm(stated - own) > CLOSE * solid.reach:
        differ.append(f"mass center {_numbers(stated)} m is stated, that of the mesh is {_numbers(own)} m")
    moments = np.sort(np.linalg.eigvalsh(np.asarray(inertia(nominal), dtype=float)))
    xx, yy, zz, xy, xz, yz = (float(nominal(x)) for x in shape.inertia())
    others = np.sort(np.linalg.eigvalsh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])))
    if moments.any() and abs(moments - others).max() > CLOSE * max(moments[-1], others[-1]):
        differ.append(
            f"principal moments {_numbers(moments)} kg*m^2 are stated, the mesh has {_numbers(others)} kg*m^2"
        )
    if differ:
        warnings.warn(f"{name}: {'; '.join(differ)}. What is stated counts.", UserWarning, stacklevel=2)


def _numbers(values: Array) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in values) + ")"
