"""Components and the factor in levels, against dense linear algebra."""

import numpy as np
import pytest

from kinode.structure.row_levels import factorize_rows, find_components


def chain(n, width=4, seed=0):
    """Rows that share columns with their neighbors, and rows of zeros, in any order."""
    rng = np.random.default_rng(seed)
    A = np.zeros((n + 3, 2 * n + width))
    for i in range(n):
        A[i, 2 * i : 2 * i + width] = rng.normal(size=width)
    return A[rng.permutation(len(A))]


def apart(*parts):
    """Matrices along a diagonal."""
    A = np.zeros(tuple(np.sum([part.shape for part in parts], axis=0)))
    at = np.zeros(2, dtype=int)
    for part in parts:
        A[at[0] : at[0] + part.shape[0], at[1] : at[1] + part.shape[1]] = part
        at += part.shape
    return A


def test_components_have_the_singular_values_of_all():
    A = apart(chain(5), chain(1), chain(9, 2), np.ones((3, 1)))
    rng = np.random.default_rng(1)
    A = A[rng.permutation(len(A))][:, rng.permutation(A.shape[1])]
    components = find_components(A)
    assert len(components) == 1 + 1 + 9 + 1  # two columns each: rows that share none
    each = np.concatenate([np.linalg.svd(A[np.ix_(*part)], compute_uv=False) for part in components])
    whole = np.linalg.svd(A, compute_uv=False)
    assert np.sort(each)[::-1] == pytest.approx(whole[: len(each)], rel=1e-12)
    assert whole[len(each) :] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("A", [chain(1), chain(40), chain(200, 7), apart(chain(50), chain(3), chain(70, 2))])
def test_factor_of_independent_rows(A):
    factor = factorize_rows(A)
    sizes = np.linalg.svd(A, compute_uv=False)
    rank = int((sizes > 1e-8).sum())
    assert factor is not None and factor.rank == rank
    assert factor.rows == np.flatnonzero(A.any(axis=1)).tolist()
    assert factor.top >= sizes[0] * (1 - 1e-12)
    share = sizes[rank - 1] / factor.top
    assert factor.exceeds(0.999 * share) and not factor.exceeds(1.001 * share)
    r = np.where(A.any(axis=1), np.random.default_rng(2).normal(size=len(A)), 0.0)
    assert factor.step(r) == pytest.approx(np.linalg.lstsq(A, r, rcond=None)[0], abs=1e-12 / share)
    U, s, V = np.linalg.svd(A, full_matrices=False)
    damped = V.T @ (s / (s**2 + 0.3**2) * (U.T @ r))
    assert factor.damped(0.3).step(r) == pytest.approx(damped, abs=1e-12)
    Z = factor.null_space()
    assert Z.shape[1] == A.shape[1] - rank
    assert abs(A @ Z).max(initial=0.0) < 1e-13 and Z.T @ Z == pytest.approx(np.eye(Z.shape[1]), abs=1e-13)


def test_dependent_rows_have_no_factor():
    A = chain(60)
    A[3] = 0.0
    A[3] = A[7] + A[9]
    assert factorize_rows(A) is None
    A[3] += 1e-9 * np.random.default_rng(0).normal(size=A.shape[1])  # not sure
    assert factorize_rows(A) is None
    assert factorize_rows(A[:, :30]) is None  # more rows than columns


def test_rows_of_rounding_errors_count_as_zero():
    A = chain(60)
    zero = np.flatnonzero(~A.any(axis=1))
    rows = factorize_rows(A).rows
    A[zero[0]] = 1e-16 * np.random.default_rng(0).normal(size=A.shape[1])
    assert factorize_rows(A).rows == rows


def test_scaled_rows_have_the_same_solution():
    A = chain(60)
    units = np.where(np.arange(len(A)) % 2, 1.0, 1e-3)
    r = np.where(A.any(axis=1), 1.0, 0.0)
    plain, scaled = factorize_rows(A), factorize_rows(A * units[:, None], scaled=True)
    assert scaled.step(r * units) == pytest.approx(plain.step(r), rel=1e-10, abs=1e-12)


def test_rows_stand_in_blocks_of_limited_size():
    """Time in proportion to the rows: those of a long chain are in small blocks."""
    assert max(len(rows) for rows in factorize_rows(chain(500))._blocks) < 40
