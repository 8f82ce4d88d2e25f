"""Laws of a subsystem whose world becomes a frame: vectors in world axes, written out as seen from that frame.

In the subsystem itself nothing changes by that, since its world rests at the origin: ``b.position.x`` is
``b.position.x@world - world.position.x@world``.  Where that world is a frame W of another system, the same words say
what is meant there, with all vectors in the same axes:

    position          p_b - p_W
    velocity          v_b - v_W - w_W x (p_b - p_W)
    angular_velocity  w_b - w_W

Orientations, forces and moments are turned only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinode.algebra.scalars import Scalar
from kinode.errors import LawError, ModelError
from kinode.expressions.syntax_tree import Expression
from kinode.model.quantity_names import XYZ, QuantityName, find_quantity

if TYPE_CHECKING:
    from kinode.model.system import System

RATES = ("velocity", "angular_velocity")
UNKNOWN = ("acceleration", "angular_acceleration", "momentum", "angular_momentum", "wind")  # relative to a moving world


def seen_from_world(system: System, text: str, moving: bool) -> Scalar | None:
    """A name of a law as seen from the world of its system, which may be ``moving``; None: it stays as it is."""
    try:
        name = find_quantity(system, text)
    except LawError:  # the check of the system reports it
        return None
    if name.part is None or name.sort not in ("frame", "system", "body", "carried", "element", "constraint"):
        return None
    if name.sort == "constraint" and not name.quantity.startswith("on."):
        return None
    if name.quantity in ("position", "com"):
        return _relative(name, name.part)
    about_origin = name.sort == "system" and name.quantity == "angular_momentum"
    if about_origin or (moving and name.quantity in UNKNOWN):
        why = "moves" if moving else "is not that of the system it is added to"
        message = f"{text}: the world of {system.name} {why}, and {name.quantity} is not known relative to it"
        raise ModelError(f"{message}; use coordinates of joints, or write the law in the whole system")
    if moving and name.sort == "frame" and name.quantity in RATES:
        return _relative_rate(name, name.part)
    return _turned(system, text) if name.axes is None else None


def _turned(system: System, text: str) -> Expression | None:
    """The same in the axes of the world; None for what has axes of its own only."""
    try:
        find_quantity(system, f"{text}@world")
    except LawError:
        return None
    return _named(text, "world")


def _named(text: str, axes: str) -> Expression:
    return Expression("name", (f"{text.partition('@')[0]}@{axes}",))


def _whole(name: QuantityName) -> tuple[str, str]:
    """The name of its owner, and the axes."""
    head, _, axes = name.text.partition("@")
    return head.rpartition(".")[0].rpartition(".")[0], axes or "world"


def _relative(name: QuantityName, part: int, quantity: str | None = None) -> Scalar:
    """What a vector is beyond that of the world."""
    owner, axes = _whole(name)
    quantity = quantity or name.quantity
    of_world = "position" if quantity == "com" else quantity
    own = _named(f"{owner}.{quantity}.{XYZ[part]}", axes)
    return own - _named(f"world.{of_world}.{XYZ[part]}", axes)


def _relative_rate(name: QuantityName, part: int) -> Scalar:
    relative = _relative(name, part)
    if name.quantity == "angular_velocity":
        return relative
    axes = _whole(name)[1]
    i, j = (part + 1) % 3, (part + 2) % 3
    w_i, w_j = (_named(f"world.angular_velocity.{XYZ[k]}", axes) for k in (i, j))
    return relative - (w_i * _relative(name, j, "position") - w_j * _relative(name, i, "position"))
