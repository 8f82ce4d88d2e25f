"""The shape of a body for a form: its kind, its numbers as written, and the mass and inertia that they give.

A mesh is offered where its file can be: below the folder of the model.  What a body states beside it counts, and stands
beside what the mesh would give.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kinode.errors import Error
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.span_nodes import SpanNode
from kinode.formats.yaml_text import plain_value, read_spans
from kinode.model.base.bodies import Body
from kinode.model.base.shapes import MESH_FIELDS, SHAPE_SIZES
from kinode.model.system import System
from kinode.studio.placing.mesh_fields import (
    ENTRIES,
    compare_rows,
    comparison_heads,
    describe_mesh,
    find_mesh_files,
    is_closed,
    mesh_fields,
    stated_fields,
)
from kinode.studio.scene_data import Plain

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


def describe_shape(system: System, draft: ModelDraft, name: str) -> Plain:
    """The shape of a body.

    Parameters
    ----------
    system : System
        As much of the model as could be built.
    draft : ModelDraft
        Its text.
    name : str
        A body of the text.

    Returns
    -------
    dict
        ``solid``, its kind ("" if it has none), ``fields`` with their texts, ``kinds`` with the gesture that makes it
        one, ``missing``: kinds that cannot be had, and why, ``properties``: mass, mass center and inertia in words,
        ``columns``: heads of their numbers where there are two, ``differs``: properties whose two numbers differ.
    """
    path = draft.path_of(name)
    node = draft.root.find(*path, "shape")
    kind = next(iter(node.entries), "") if node is not None else ""
    inner = node.find(kind) if node is not None and kind else None
    names = (*SHAPE_SIZES.get(kind, ()), *(("axis",) if kind in ("cylinder", "rod") else ()))
    names += ("mass", *(() if kind == "rod" else ("density",)), "at") if kind else ()
    names = MESH_FIELDS if kind == "mesh" else names
    more = mesh_fields(draft.file, _text(draft, inner, "file")) if kind == "mesh" else {}
    words = WORDS | ({"at": MESH_AT} if kind == "mesh" else {})
    files, why = find_mesh_files(draft.file)
    kinds = {new: _make(draft, name, path, inner, new) for new in SHAPE_SIZES}
    if kind == "mesh" or files:
        kinds["mesh"] = _make_mesh(system, draft, name, path, inner, files)
    return {
        "name": name,
        "solid": kind,
        "fields": [{"name": x, "text": _text(draft, inner, x), "words": words[x], **more.get(x, {})} for x in names],
        "kinds": kinds,
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


def _properties(system: System, name: str) -> Plain:
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
