"""Unit and upward axis of a mesh file, as its format or the file itself says them.

STL and OBJ say neither.  GLB is in m with y upward (glTF 2.0, section 3.4).  DAE has both in the ``<asset>`` of the
document (COLLADA 1.4, chapter 5): a unit of 1 m and y upward where the file is silent.
"""

from __future__ import annotations

import io
import math
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from kinode.algebra.scalars import Array

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
