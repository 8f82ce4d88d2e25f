"""The directions in which a joint can react, in the axes of its parent, and their names.

A joint whose freedoms lie along coordinate axes of its parent side has unit vectors: the forces X, Y, Z and the moments
MX, MY, MZ that it transmits.  If its axis is oblique, these are taken along its own axes, of which the third is the
axis.  A screw and a universal joint have neither: their directions are the gradients of their closure.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.model.base.plain_values import find_expressions
from kinode.model.joints.joint import Joint
from kinode.model.system import System

PARTS = ("MX", "MY", "MZ", "X", "Y", "Z")
FORCES_FIRST = (3, 4, 5, 0, 1, 2)
SMALLEST = 1e-12  # of a direction at a generic position: smaller is rounding


class ReactionDirections(NamedTuple):
    """N of a joint, [moment; force] in the given axes of its parent side, one column for each direction; and names.

    ``own_axes``: the names refer to the joint's own axes, of which the third is along its axis.  ``slides``: the joint
    points of its two sides may be apart.
    """

    N: Array
    parts: tuple[str, ...]
    own_axes: bool
    slides: bool


def find_directions(system: System, joint: Joint) -> ReactionDirections | None:
    """The directions of a joint's reaction as constants; None if they change with its position."""
    q, form = _generic_position(joint), joint.form(system.nominal)
    R = np.asarray(joint.transform(q, form).R, dtype=float)
    S = np.asarray(joint.motion_subspace(q, form), dtype=float).reshape(6, joint.n_u)
    C = np.asarray(joint.axis_rotation(system.nominal, system.nominal), dtype=float)
    own = _turned(R) @ S
    slides = bool(np.abs(S[3:]).max(initial=0.0) > SMALLEST)
    if not _has_expressions(joint):
        parts = _free_rows(_turned(C) @ own)
        if parts is not None:
            return ReactionDirections(np.eye(6)[:, parts], tuple(PARTS[k] for k in parts), False, slides)
    parts = _free_rows(own)
    if parts is None or _has_expressions(joint):
        return None
    return ReactionDirections(_turned(C)[:, parts], tuple(PARTS[k] for k in parts), True, slides)


def _has_expressions(joint: Joint) -> bool:
    """Whether the axes of a joint depend on parameters."""
    axes = (getattr(joint, field, None) for field in ("axis", "axes", "normal"))
    return any(True for value in axes if value is not None for _ in find_expressions(value))


def _free_rows(A: Array) -> list[int] | None:
    """The components that no freedom has, forces first; None if freedoms share components."""
    moving = np.abs(A).max(axis=1, initial=0.0) > SMALLEST
    if int(moving.sum()) != A.shape[1]:
        return None
    return [k for k in FORCES_FIRST if not moving[k]]


def _generic_position(joint: Joint) -> Array:
    """Coordinates in which nothing is parallel by chance."""
    return joint.advance(joint.neutral_q(), 0.3 + 0.17 * np.arange(joint.n_u))


def _turned(R: Array) -> Array:
    """[[R, 0], [0, R]]."""
    return np.kron(np.eye(2), R)
