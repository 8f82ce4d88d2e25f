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
from kinode.errors import ArgumentError
from kinode.model.base.fields import unknown
from kinode.model.system import joint_frame
from kinode.multibody.quantity_values import find_carried

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


def angular_momentum(run: RunQuantities, of: Any, about: Any, expressed_in: Any) -> Array:
    """Angular momentum of a body, of the bodies that a joint carries or of the system, about any point.

    With the absolute velocities, at each instant about the place where the point is: L_A = L_B + (r_B - r_A) x P.
    """
    owner, own_point = _moving_bodies(run, of)
    point = own_point if about is None else run.dynamics.arguments.frame_name(about)
    axes = "world" if expressed_in is None else run.dynamics.arguments.frame_name(expressed_in)
    names = [f"{owner}.momentum", f"{owner}.angular_momentum"]
    places = [f"{frame}.position" for frame in (own_point, point) if frame != "world"]
    values = run.evaluate([*names, *places, *([f"{axes}.rotation"] if axes != "world" else [])])
    P, L = (values[name] for name in names)
    here, there = (0.0 if frame == "world" else values[f"{frame}.position"] for frame in (own_point, point))
    if point != own_point:
        L = L + np.cross(here - there, P)
    return L if axes == "world" else np.einsum("tji,tj->ti", values[f"{axes}.rotation"], L)


def _moving_bodies(run: RunQuantities, of: Any) -> tuple[str, str]:
    """The owner of the quantity, and the point that its angular momentum is about by default."""
    name = getattr(of, "name", of)
    if name == "system" or of is run.system:
        return "system", "world"
    if name in run.system.bodies:
        return name, f"{name}.com"
    if name in run.system.joints:
        side = find_carried(run.dynamics.topology, name)[1]
        joint = run.system.joints[name]
        return name, f"{name}.{'child' if side == joint_frame(joint, 'child') else 'parent'}"
    known = ["system", *run.system.bodies, *run.system.joints]
    raise ArgumentError(unknown("angular_momentum: neither a body nor a joint is called", str(name), known))
