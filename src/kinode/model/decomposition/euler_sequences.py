"""Rotations by three angles about any sequence of axes: R = Rot(e1, a1) Rot(e2, a2) Rot(e3, a3)."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import IDENTITY3, rotation_about


def rotation(axes: Collection[Array], angles: Collection[Any]) -> Array:
    """R = Rot(axis 1, angle 1) Rot(axis 2, angle 2) ..."""
    R: Array = IDENTITY3
    for axis, angle in zip(axes, angles, strict=True):
        R = R @ rotation_about(axis, angle)
    return R


def hinge_axes(axes: Collection[Array], angles: Collection[Any]) -> Array:
    """B: the axes of hinges in series as columns, seen from the last link."""
    R, columns = IDENTITY3, []
    for axis, angle in reversed(list(zip(axes, angles, strict=True))):
        columns.append(R.T @ axis)
        R = rotation_about(axis, angle) @ R
    return np.column_stack(columns[::-1])


def angles_of(R: Array, sequence: str) -> tuple[float, float, float]:
    """The three angles of a rotation of plain numbers about the axes of a sequence such as "zyx" or "zxz"."""
    i, j, k = ("xyz".index(letter) for letter in sequence)
    third = k if k != i else 3 - i - j
    sense = 1.0 if (j - i) % 3 == 1 else -1.0  # of i, j, third: right-handed or not
    if k != i:
        return (
            math.atan2(-sense * R[j, k], R[k, k]),
            math.asin(min(1.0, max(-1.0, sense * R[i, k]))),
            math.atan2(-sense * R[i, j], R[i, i]),
        )
    tilt = math.hypot(R[j, i], R[third, i])
    first = math.atan2(R[j, i], -sense * R[third, i])
    return first, math.atan2(tilt, R[i, i]), math.atan2(R[i, j], sense * R[i, third])
