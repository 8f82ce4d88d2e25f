"""Load sharing by compliances, (T-5.6), for many states at once: least complementary energy first, then least norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kinode.algebra.scalars import Array
from kinode.dynamics.state_batches.stress_loop import SURE_PIVOT, SURE_ROW, ZERO_PIVOT, ZERO_ROW
from kinode.formulations.reaction_uniqueness import RANK_TOLERANCE, UNIQUE

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class CompliantSharing:
    """The result for some states: a row for each."""

    change: Array
    elastic: Flags  # whether compliances alone determine each component, as far as it is not unique
    doubtful: Flags


def share_by_compliance(W: Array, slabs: Array, redundancy: Any, x: Array) -> CompliantSharing:
    """Share components ``x`` in states with the stresses N; a slab begins with the rows of N of its state.

    The complementary energy is |W x|^2 / 2.
    """
    rows, n = x.shape
    result = CompliantSharing(np.zeros((rows, n)), np.ones((rows, n), dtype=bool), np.zeros(rows, dtype=bool))
    for k in np.unique(redundancy[redundancy > 0]):
        group = np.flatnonzero(redundancy == k)
        N = np.linalg.qr(slabs[group, : n * k].reshape(len(group), n, k))[0]
        U, s, Vt = np.linalg.svd(W @ N, full_matrices=True)
        largest = s.max(axis=1, initial=0.0)[:, None]
        rank = (s > RANK_TOLERANCE * largest).sum(axis=1)
        result.doubtful[group] |= ((s > ZERO_PIVOT * largest) & (s < SURE_PIVOT * largest)).any(axis=1)
        for r in np.unique(rank):
            same = np.flatnonzero(rank == r)
            where, basis = group[same], N[same]
            loads = np.einsum("gji,gj->gi", U[same][:, :, :r], x[where] @ W.T) / s[same][:, :r]
            change = -_times(basis, _times(Vt[same][:, :r].swapaxes(1, 2), loads))
            undetermined = basis @ Vt[same][:, r:].swapaxes(1, 2)
            change -= _times(undetermined, np.einsum("gij,gi->gj", undetermined, x[where] + change))
            norms = np.linalg.norm(undetermined, axis=2)
            result.change[where], result.elastic[where] = change, norms < UNIQUE
            result.doubtful[where] |= ((norms > ZERO_ROW) & (norms < SURE_ROW)).any(axis=1)
    return result


def _times(matrices: Array, vectors: Array) -> Array:
    """Each matrix times its vector."""
    product: Array = np.einsum("gij,gj->gi", matrices, vectors)
    return product
