"""Quaternions of rotation matrices, scalar first, for pictures."""

from __future__ import annotations

import numpy as np

from kinode.algebra.scalars import Array


def quaternion_of(R: Array) -> Array:
    """Quaternions w, x, y, z of rotation matrices (..., 3, 3), from the largest of the four (Shepperd)."""
    R = np.asarray(R, dtype=float)
    trace = R[..., 0, 0] + R[..., 1, 1] + R[..., 2, 2]
    diagonal = np.stack([trace, R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]], axis=-1)
    best = np.argmax(np.nan_to_num(diagonal), axis=-1)
    w = np.stack([1 + trace, R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], -1)
    x = np.stack(
        [w[..., 1], 1 + 2 * R[..., 0, 0] - trace, R[..., 0, 1] + R[..., 1, 0], R[..., 0, 2] + R[..., 2, 0]], -1
    )
    y = np.stack([w[..., 2], x[..., 2], 1 + 2 * R[..., 1, 1] - trace, R[..., 1, 2] + R[..., 2, 1]], -1)
    z = np.stack([w[..., 3], x[..., 3], y[..., 3], 1 + 2 * R[..., 2, 2] - trace], -1)
    choices = np.stack([w, x, y, z], axis=-2)
    q = np.take_along_axis(choices, best[..., None, None], axis=-2)[..., 0, :]
    return np.asarray(q / np.linalg.norm(q, axis=-1, keepdims=True))


def continuous(q: Array) -> Array:
    """The same rotations (time, 4) with signs such that neighbors are near each other."""
    signs = np.ones(len(q))
    if len(q) > 1:
        signs[1:] = np.cumprod(np.where(np.einsum("ki,ki->k", q[1:], q[:-1]) < 0, -1.0, 1.0))
    return np.asarray(q * signs[:, None])
