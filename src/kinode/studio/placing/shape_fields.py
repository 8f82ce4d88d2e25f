"""The shape of a body for a form: its kind, its numbers as written, and the mass and inertia that they give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kinode.errors import Error
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.span_nodes import SpanNode
from kinode.model.base.bodies import Body
from kinode.model.base.shapes import SHAPE_SIZES
from kinode.model.system import System
from kinode.studio.scene_data import Plain

WORDS = {
    "x": "length along x", "y": "length along y", "z": "length along z", "radius": "its radius",
    "length": "its length", "axis": "the axis of the body that it lies along", "mass": "mass; or give the density",
    "density": "density; or give the mass", "at": "its center in the body's axes; of a rod where it begins",
}  # fmt: skip
ENTRIES = ("xx", "yy", "zz", "xy", "xz", "yz")
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
        one, ``properties``: mass, mass center and inertia in words.
    """
    path = draft.path_of(name)
    node = draft.root.find(*path, "shape")
    kind = next(iter(node.entries), "") if node is not None else ""
    inner = node.find(kind) if node is not None and kind else None
    names = (*SHAPE_SIZES.get(kind, ()), *(("axis",) if kind in ("cylinder", "rod") else ()))
    names += ("mass", *(() if kind == "rod" else ("density",)), "at") if kind else ()
    return {
        "name": name,
        "solid": kind,
        "fields": [{"name": x, "text": _text(draft, inner, x), "words": WORDS[x]} for x in names],
        "kinds": {new: _make(draft, name, path, inner, new) for new in SHAPE_SIZES},
        "properties": list(_properties(system, name)),
    }


def _text(draft: ModelDraft, node: SpanNode | None, name: str) -> str | None:
    found = None if node is None else node.find(name)
    return None if found is None else draft.text[found.start : found.end]


def _make(draft: ModelDraft, name: str, path: Any, inner: SpanNode | None, kind: str) -> Plain:
    """The gesture that gives a body a shape of a kind, with the mass that it has."""
    entry = draft.root.find(*path)
    kept = {key: text for key in KEPT if (text := _text(draft, inner, key)) is not None}
    if inner is None:
        kept = {"mass": _text(draft, entry, "mass") or "1 kg"}
        center = _text(draft, entry, "com")
        kept |= {} if center is None else {"at": center}
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


def _properties(system: System, name: str) -> Iterator[list[str]]:
    body = system.bodies.get(name)
    if not isinstance(body, Body):
        return
    try:
        yield ["mass", f"{_short(system.nominal(body.mass))} kg"]
        yield ["mass center", "[" + ", ".join(_short(system.nominal(x)) for x in body.center_of_mass) + "] m"]
        for entry, value in zip(ENTRIES, body.inertia):
            number = float(system.nominal(value))
            if number or entry in ENTRIES[:3]:
                yield [f"inertia {entry}", f"{_short(number)} kg·m²"]
    except (Error, ArithmeticError, ValueError):
        return


def _short(value: float) -> str:
    return f"{float(value):.4g}"
