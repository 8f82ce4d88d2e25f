"""An MJCF file to MuJoCo's compiled model, which has defaults, includes, angles and inertias of geoms resolved.

A model may come from anywhere.  Before MuJoCo opens anything, ``check_files`` reads the document and what it includes,
and refuses a file outside the folder of the model.  Textures and skins are never opened: nothing needs them here.

Numbers of the compiled model are written as kinode does: positions, rotations, axes, inertias, drawn shapes.  Entries
that are zero or one but for rounding are made so: what is zero on the drawing is zero in the equations.
"""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import quaternion_of, rotation_from_quaternion
from kinode.atomic_files import is_below
from kinode.errors import TRUST, ModelError, unreadable
from kinode.importers import xml_reader
from kinode.importers.xml_reader import XmlElement
from kinode.model.base.bodies import Visual
from kinode.optional_packages import need

DEEPEST_INCLUDES = 30
FOLDERS = ("meshdir", "texturedir", "assetdir")
UNOPENED = ("texture", "skin")
_LINE = re.compile(r",?\s*line (\d+)")
_ELEMENT = re.compile(r"\s*Element (?:name )?'([^']*)'(?:, id \d+)?")


def import_mujoco() -> Any:
    """The package, or an error that says how it is installed."""
    return need("mujoco", "mjcf", "a model of MuJoCo")


def compile_file(file: Path, root: XmlElement, trust: bool, notes: list[str]) -> tuple[Any, Any]:
    """MuJoCo's specification and compiled model of a file that was parsed; ``notes`` gets what MuJoCo warns of."""
    check_files(file, root, trust)
    mujoco = import_mujoco()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            spec = _specify(mujoco, file, root)
            for texture in spec.textures:
                texture.file, texture.cubefiles, texture.builtin = "", [], mujoco.mjtBuiltin.mjBUILTIN_FLAT
                texture.width = texture.height = texture.nchannel = 3
            for skin in list(spec.skins):
                spec.delete(skin)
            # Ranges of muscles, which are left out here, would be found by simulations.
            spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE
            model = spec.compile()
        except (ValueError, mujoco.FatalError, mujoco.UnexpectedError) as error:
            raise _located(str(error), file) from None
    notes.extend(f"MuJoCo warns: {' '.join(str(warning.message).split())}" for warning in said)
    return spec, model


def _specify(mujoco: Any, file: Path, root: XmlElement) -> Any:
    """MuJoCo's specification of a file; it opens those called .xml alone, others it gets as text."""
    if file.suffix.lower() == ".xml":
        return mujoco.MjSpec.from_file(str(file))
    folder = file.parent
    named = [element.attributes["file"] for element in _walk(root) if element.tag == "include"]
    inner = [path for path, _ in _included(file, root, folder, 0)]
    texts = {
        name: (folder / name).read_bytes() for name in [*named, *(x.relative_to(folder).as_posix() for x in inner)]
    }
    spec = mujoco.MjSpec.from_string(file.read_text(encoding="utf-8-sig"), include=texts)
    spec.modelfiledir = f"{folder.resolve()}{os.sep}"
    return spec


def check_files(file: Path, root: XmlElement, trust: bool) -> None:
    """Refuse a document that names a file outside its folder, unless the caller trusts it."""
    if not trust:
        _check_scope(file, root, file.parent.resolve(), 0)


def _check_scope(file: Path, root: XmlElement, folder: Path, depth: int) -> None:
    """Check a model with what it includes, which share their compiler settings, and the models that it attaches."""
    documents = [(file, root), *_included(file, root, folder, depth)]
    elements = [(where, element) for where, top in documents for element in _walk(top)]
    settings = [element.attributes for _, element in elements if element.tag == "compiler"]
    named = {given[name] for given in settings for name in FOLDERS if name in given} or {""}
    for where, element in elements:
        if element.tag in (*UNOPENED, "include"):
            continue
        for name, value in element.attributes.items():
            if name.startswith("file"):
                for below in {""} if element.tag == "model" else named:
                    _require_inside(
                        folder, folder / below / value, where, element, f"{below}{'/' * bool(below)}{value}"
                    )
        if element.tag == "model" and "file" in element.attributes:
            path, top = _read(file, element, folder, depth)
            _check_scope(path, top, folder, depth + 1)


def _included(file: Path, root: XmlElement, folder: Path, depth: int) -> Iterator[tuple[Path, XmlElement]]:
    """The documents that a document includes."""
    for element in _walk(root):
        if element.tag == "include" and "file" in element.attributes:
            path, top = _read(file, element, folder, depth)
            yield path, top
            yield from _included(path, top, folder, depth + 1)


def _read(file: Path, element: XmlElement, folder: Path, depth: int) -> tuple[Path, XmlElement]:
    """The document that an element names."""
    name = element.attributes["file"]
    path = folder / name
    if not path.exists() and (file.parent / name).exists():
        path = file.parent / name
    _require_inside(folder, path, file, element, name)
    if depth >= DEEPEST_INCLUDES:
        raise ModelError("files include files too deep, or in a circle", file=str(file), line=element.line)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    return path, xml_reader.parse(data, str(path))


def _require_inside(folder: Path, path: Path, file: Path, element: XmlElement, name: str) -> None:
    if not is_below(path, folder) or Path(name).is_absolute():
        message = f"{name!r} is outside the folder of the model; {TRUST}"
        raise ModelError(message, component=element.attributes.get("name"), file=str(file), line=element.line)


def _walk(element: XmlElement) -> Iterator[XmlElement]:
    """All elements in the order of the document; bodies may be nested deeper than Python's stack."""
    waiting = [element]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.children))


def _located(text: str, file: Path) -> ModelError:
    """MuJoCo's message as an error with line and element."""
    line, element = _LINE.search(text), _ELEMENT.search(text)
    message = _ELEMENT.sub("", _LINE.sub("", text))
    message = " ".join(message.split()).removeprefix("XML ").removeprefix("Error: ").removeprefix("Error: ")
    name = element[1] if element and element[1] else None
    number = int(line[1]) if line and int(line[1]) else None
    return ModelError(f"MuJoCo refuses the model: {message}", component=name, file=str(file), line=number)


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
