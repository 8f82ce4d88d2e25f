"""Structure constants of speeds that are no rates of coordinates: [n_j, n_i] = sum over k of c[j, i, k] n_k.

n_i are the rates of a joint's coordinates for a unit of each speed.  They commute for angles and lengths.  For angular
velocities in child axes the constants are those of the cross product.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from kinode.algebra.scalars import Array, rate
from kinode.errors import ArgumentError
from kinode.model.joints.joint import Joint

LARGEST_DEVIATION = 1e-9  # of a bracket from the sum of directions, and of a constant from one place to another


def structure_constants(joint: Joint) -> Array:
    """c[j, i, k] of a joint; an error if they are not constant."""
    first, second = (_at(joint, _generic(joint, size)) for size in (0.3, 0.7))
    if np.abs(first - second).max(initial=0.0) > LARGEST_DEVIATION:
        raise ArgumentError(
            f"the speeds of {joint.name} have no constant structure: their brackets change with the position"
        )
    constants: Array = np.round(first, 9) + 0.0
    return constants


def _generic(joint: Joint, size: float) -> Array:
    return joint.advance(joint.neutral_q(), size + 0.17 * np.arange(joint.n_u))


def _direction(joint: Joint, unit: Array, q: Array) -> Array:
    return joint.rate_map(q, unit)


def _at(joint: Joint, q: Array) -> Array:
    units = np.eye(joint.n_u)
    N = np.array([np.asarray(joint.rate_map(q, unit), dtype=float) for unit in units]).T
    c = np.zeros((joint.n_u,) * 3)
    for j in range(joint.n_u):
        for i in range(joint.n_u):
            along = (rate(partial(_direction, joint, units[k]), q, N[:, m]) for k, m in ((i, j), (j, i)))
            bracket = np.asarray(np.subtract(*along), dtype=float)
            c[j, i], *_ = np.linalg.lstsq(N, bracket, rcond=None)
            if np.abs(N @ c[j, i] - bracket).max(initial=0.0) > LARGEST_DEVIATION:
                raise ArgumentError(
                    f"the speeds of {joint.name} have no constant structure: their brackets change with the position"
                )
    return c
