"""Stated mass properties of a body beside those of its mesh: where they differ, a warning has both numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.model.base.shapes import Shape

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
