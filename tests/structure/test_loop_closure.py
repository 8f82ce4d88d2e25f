"""Rows that stand for all rows of a Jacobian."""

import numpy as np
import pytest

from kinode.structure.loop_closure import LOST_RANK, surely_serve


@pytest.mark.parametrize("weight", [1.0, 1e-2, 1e-5, 0.0])
def test_a_bound_shows_only_rows_that_serve(weight):
    generator = np.random.default_rng(4)
    base = generator.normal(size=(6, 9))
    base[5] = base[:5].T @ generator.normal(size=5) + weight * base[5]  # dependent but for the weight
    G = np.vstack([base, generator.normal(size=(4, 6)) @ base, generator.normal(size=9) * 1e-15])
    for rows in ((0, 1, 2, 3, 4, 5), (1, 2, 3, 6, 7, 8), (0, 1, 2, 3, 4)):
        sizes = [np.linalg.svd(part, compute_uv=False)[len(rows) - 1] for part in (G[list(rows)], G)]
        assert not surely_serve(G, rows) or sizes[0] > LOST_RANK * sizes[1]
    assert surely_serve(G, (0, 1, 2, 3, 4, 5)) == (weight > 0)
