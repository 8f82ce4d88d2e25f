"""The shape of a body for a form: its kind, its numbers as written, its mesh, and the mass and inertia that they give.

A mesh is offered where its file can be: below the folder of the model.  What a body states beside it counts, and stands
beside what the mesh would give.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

import numpy as np

from kinode.atomic_files import is_below
from kinode.editing.draft import ModelDraft
from kinode.errors import Error
from kinode.formats.yaml_text import SpanNode, plain_value, read_spans
from kinode.formats.yaml_writer import write_scalar
from kinode.model.base.bodies import MESH_SUFFIXES, Body, inertia_matrix
from kinode.model.base.meshes import read_mesh
from kinode.model.base.shapes import CLOSE, MESH_FIELDS, SHAPE_SIZES, Shape
from kinode.model.system import System
from kinode.player.scene_data import Plain
from kinode.studio.document.model_document import Gesture

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
    names = [name for name in names if name.isprintable() and is_below(folder / name, folder)]
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


WORDS = {
    "x": "length along x", "y": "length along y", "z": "length along z", "radius": "its radius",
    "length": "its length", "axis": "the axis of the body that it lies along", "mass": "mass; or give the density",
    "density": "density; or give the mass", "at": "its center in the body's axes; of a rod where it begins",
    "file": "file of the triangles, in the folder of the model or below",
    "scale": "length of one unit of the file; left out, what the file says, or 1 m",
    "up": "axis of the file that becomes z; left out, what the file says",
}  # fmt: skip
MESH_AT = "where the origin of the file lies, in the body's axes"
FIRST = {"x": "0.4 m", "y": "0.05 m", "z": "0.05 m", "radius": "0.05 m", "length": "0.4 m"}
KEPT = ("mass", "density", "at")  # what another kind of shape takes over
OWN = ("mass", "com", "inertia", "about")  # of a body without a shape


class ShapeField(TypedDict):
    """A field of a shape, as written."""

    name: str
    text: str | None
    words: str
    choices: NotRequired[list[str]]  # "" among them: left out


class ShapeProperties(TypedDict):
    """Mass, mass center and inertia in words, each with one number or two."""

    properties: list[list[str]]
    columns: list[str]  # heads of the numbers, where there are two
    differs: list[str]  # properties whose two numbers differ


class ShapeData(ShapeProperties):
    """The shape of a body as a form."""

    name: str
    solid: str  # its kind; empty if it has none
    fields: list[ShapeField]
    kinds: dict[str, Gesture]  # what makes it one
    missing: dict[str, str]  # kinds that cannot be had, and why


def describe_shape(system: System, draft: ModelDraft, name: str) -> ShapeData:
    """The shape of a body.

    Parameters
    ----------
    system : System
        As much of the model as could be built.
    draft : ModelDraft
        Its text.
    name : str
        A body of the text.
    """
    path = draft.path_of(name)
    node = draft.root.find(*path, "shape")
    kind = next(iter(node.entries), "") if node is not None else ""
    inner = node.find(kind) if node is not None and kind else None
    names = (*SHAPE_SIZES.get(kind, ()), *(("axis",) if kind in ("cylinder", "rod") else ()))
    names += ("mass", *(() if kind == "rod" else ("density",)), "at") if kind else ()
    names = MESH_FIELDS if kind == "mesh" else names
    more: Any = mesh_fields(draft.file, _text(draft, inner, "file")) if kind == "mesh" else {}
    words = WORDS | ({"at": MESH_AT} if kind == "mesh" else {})
    files, why = find_mesh_files(draft.file)
    kinds = {new: _make(draft, name, path, inner, new) for new in SHAPE_SIZES}
    if kind == "mesh" or files:
        kinds["mesh"] = _make_mesh(system, draft, name, path, inner, files)
    return {
        "name": name,
        "solid": kind,
        "fields": [more.get(x, {}) | {"name": x, "text": _text(draft, inner, x), "words": words[x]} for x in names],
        "kinds": cast(dict[str, Gesture], kinds),
        "missing": {} if "mesh" in kinds else {"mesh": why},
        **_properties(system, name),
    }


def _text(draft: ModelDraft, node: SpanNode | None, name: str) -> str | None:
    found = None if node is None else node.find(name)
    return None if found is None else draft.text[found.start : found.end]


def _make(draft: ModelDraft, name: str, path: Any, inner: SpanNode | None, kind: str) -> Plain:
    """The gesture that gives a body a shape of a kind, with the mass that it has."""
    entry = draft.root.find(*path)
    kept = {key: text for key in KEPT if (text := _text(draft, inner, key)) is not None}
    if not kept.keys() & {"mass", "density"}:  # the body itself has the mass
        center = _text(draft, entry, "com")
        kept |= {"mass": _text(draft, entry, "mass") or "1 kg"} | ({} if center is None else {"at": center})
    if kind == "rod":
        kept.pop("density", None)
        kept.setdefault("mass", "1 kg")
    sizes = {key: _text(draft, inner, key) or FIRST[key] for key in SHAPE_SIZES[kind]}
    sizes |= {"axis": _text(draft, inner, "axis") or "x"} if kind in ("cylinder", "rod") else {}
    content = ", ".join(f"{key}: {text}" for key, text in {**sizes, **kept}.items())
    gestures: list[Plain] = [
        {"do": "set", "name": name, "path": [own], "value": None}
        for own in OWN
        if entry is not None and own in entry.entries
    ]
    gestures.append({"do": "set", "name": name, "path": ["shape"], "value": f"{{{kind}: {{{content}}}}}"})
    return {"do": "all", "gestures": gestures[::-1], "words": f"make {name} a {kind}"}


def _make_mesh(
    system: System, draft: ModelDraft, name: str, path: Any, inner: SpanNode | None, files: list[str]
) -> Plain:
    """The gesture that gives a body the first mesh of the folder; what the body weighs stays."""
    file = _text(draft, inner, "file") or files[0]
    kept = {key: text for key in ("mass", "density") if (text := _text(draft, inner, key)) is not None}
    gestures: list[Plain] = []
    body, closed = system.bodies.get(name), is_closed(draft.file, str(plain_value(read_spans(file))))
    if not kept and closed and draft.root.find(*path, "mass") is None:
        kept = {"mass": "1 kg"}
    if kept and isinstance(body, Body) and not closed:
        stated, kept = stated_fields(system, body), {}
        gestures = [{"do": "set", "name": name, "path": [own], "value": text} for own, text in stated.items()]
    content = ", ".join(f"{key}: {text}" for key, text in {"file": file, **kept}.items())
    gestures.insert(0, {"do": "set", "name": name, "path": ["shape"], "value": f"{{mesh: {{{content}}}}}"})
    return {"do": "all", "gestures": gestures, "words": f"make {name} a mesh"}


def _properties(system: System, name: str) -> ShapeProperties:
    rows, differs, columns = list[list[str]](), list[str](), list[str]()
    body = system.bodies.get(name)
    shape = body.shape if isinstance(body, Body) else None
    try:
        if shape is not None and shape.mesh is not None:
            rows.append(describe_mesh(shape))
        if isinstance(body, Body) and shape is not None and shape.mesh and shape.mesh.closed and body.states_mass:
            columns = comparison_heads(shape)
            for row, apart in compare_rows(system, body):
                rows.append(row)
                differs += [row[0]] if apart else []
        elif isinstance(body, Body):
            rows += _own_rows(system, body)
    except (Error, ArithmeticError, ValueError):
        pass
    return {"properties": rows, "columns": columns, "differs": differs}


def _own_rows(system: System, body: Body) -> Iterator[list[str]]:
    yield ["mass", f"{_short(system.nominal(body.mass))} kg"]
    yield ["mass center", "[" + ", ".join(_short(system.nominal(x)) for x in body.center_of_mass) + "] m"]
    for entry, value in zip(ENTRIES, body.inertia):
        number = float(system.nominal(value))
        if number or entry in ENTRIES[:3]:
            about = (
                ""
                if body.given_about == "com"
                else f" about the {'origin' if body.about == 'origin' else 'mass center'}"
            )
            yield [f"inertia {entry}{about}", f"{_short(number)} kg·m²"]


def _short(value: float) -> str:
    return f"{float(value):.4g}"
