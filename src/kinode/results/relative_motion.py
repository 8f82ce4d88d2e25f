"""Motion of a frame relative to an observer that moves and rotates.

r is the vector from the origin of the observer J to that of the frame, w and eps are J's angular velocity and
acceleration:

    v_rel = v - v_J - w x r
    a_rel = a - a_J - eps x r - w x (w x r) - 2 w x v_rel
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities

_NEEDED = {
    "position": ("position",),
    "velocity": ("position", "velocity", "angular_velocity"),
    "acceleration": ("position", "velocity", "angular_velocity", "acceleration", "angular_acceleration"),
    "angular_velocity": ("angular_velocity",),
}


def motion(run: RunQuantities, quantity: str, of: Any, relative_to: Any, expressed_in: Any) -> Array:
    """A quantity of a frame relative to an observer, in the observer's axes or in others."""
    frame = run.dynamics.arguments.frame_name(of)
    observer = None if relative_to is None else run.dynamics.arguments.frame_name(relative_to)
    axes = observer if expressed_in is None else run.dynamics.arguments.frame_name(expressed_in)
    observer, axes = (None if x == "world" else x for x in (observer, axes))
    names = [f"{owner}.{key}" for owner in (frame, observer) if owner for key in _NEEDED[quantity]]
    values = run.evaluate([*names, *([f"{axes}.rotation"] if axes else [])])
    vector = values[f"{frame}.{quantity}"]
    if observer:
        vector = _relative(quantity, {key: values[f"{frame}.{key}"] for key in _NEEDED[quantity]},
                           {key: values[f"{observer}.{key}"] for key in _NEEDED[quantity]})  # fmt: skip
    return vector if not axes else np.einsum("tji,tj->ti", values[f"{axes}.rotation"], vector)


def _relative(quantity: str, of: dict[str, Array], by: dict[str, Array]) -> Array:
    """The quantity of the frame ``of`` relative to the observer ``by``, in world axes."""
    difference: Array = of[quantity] - by[quantity]
    if quantity in ("position", "angular_velocity"):
        return difference
    r, w = of["position"] - by["position"], by["angular_velocity"]
    v: Array = of["velocity"] - by["velocity"] - np.cross(w, r)
    if quantity == "velocity":
        return v
    rotation = np.cross(by["angular_acceleration"], r) + np.cross(w, np.cross(w, r))
    a: Array = difference - rotation - 2.0 * np.cross(w, v)
    return a
