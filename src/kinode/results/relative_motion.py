"""Motion of one frame as seen from another that moves and turns itself.

With r from the origin of the observer J to that of the frame, and J's angular velocity w and acceleration eps:

    v_rel = v - v_J - w x r
    a_rel = a - a_J - eps x r - w x (w x r) - 2 w x v_rel
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory

_NEEDED = {
    "position": ("position",),
    "velocity": ("position", "velocity", "angular_velocity"),
    "acceleration": ("position", "velocity", "angular_velocity", "acceleration", "angular_acceleration"),
    "angular_velocity": ("angular_velocity",),
}


def motion(run: Trajectory, quantity: str, of: Any, relative_to: Any, expressed_in: Any) -> Array:
    """A quantity of a frame as seen from another; its axes are the observer's unless others are asked for."""
    name = run.dynamics.arguments.frame_name(of)
    observer = None if relative_to is None else run.dynamics.arguments.frame_name(relative_to)
    axes = observer if expressed_in is None else run.dynamics.arguments.frame_name(expressed_in)
    observer, axes = (None if x == "world" else x for x in (observer, axes))
    wanted = [f"{owner}.{key}" for owner in (name, observer) if owner for key in _NEEDED[quantity]]
    found = run.evaluate([*wanted, *([f"{axes}.rotation"] if axes else [])])
    vector = found[f"{name}.{quantity}"]
    if observer:
        vector = _seen(quantity, {key: found[f"{name}.{key}"] for key in _NEEDED[quantity]},
                       {key: found[f"{observer}.{key}"] for key in _NEEDED[quantity]})  # fmt: skip
    return vector if not axes else np.einsum("tji,tj->ti", found[f"{axes}.rotation"], vector)


def _seen(quantity: str, of: dict[str, Array], by: dict[str, Array]) -> Array:
    difference: Array = of[quantity] - by[quantity]
    if quantity in ("position", "angular_velocity"):
        return difference
    r, w = of["position"] - by["position"], by["angular_velocity"]
    v: Array = of["velocity"] - by["velocity"] - np.cross(w, r)
    if quantity == "velocity":
        return v
    turning = np.cross(by["angular_acceleration"], r) + np.cross(w, np.cross(w, r))
    seen: Array = difference - turning - 2.0 * np.cross(w, v)
    return seen
