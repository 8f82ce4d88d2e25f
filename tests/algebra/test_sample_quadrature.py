"""Integrals through samples: exact for polynomials, honest about corners and jumps."""

import numpy as np
import pytest

from kinode.results.work import NODES, integrate_samples


def samples(function, t, jump=None):
    values = function(t)[:, None]
    before, after = values[:-1].copy(), values[1:].copy()
    if jump is not None:
        before[jump:] += 1.0
        after[jump:] += 1.0
    return np.diff(t), before, after


def test_polynomials_are_integrated_exactly():
    t = np.linspace(-1.0, 2.0, 31)
    integrals, errors = integrate_samples(*samples(lambda t: 8 * t**7 - 3 * t**2, t), enough=0.0)
    assert integrals[:, 0] == pytest.approx(np.diff(t**8 - t**3), abs=1e-10)
    assert errors.max() < 1e-9


def test_the_estimated_error_covers_the_error():
    t = np.linspace(0.0, 6.0, 25)
    integrals, errors = integrate_samples(*samples(lambda t: np.sin(2 * t), t), enough=0.0)
    actual = np.abs(integrals[:, 0] + np.diff(np.cos(2 * t)) / 2)
    assert (actual <= errors).all()
    assert 1e-12 < errors.max() < 1e-4


def test_only_the_interval_with_a_corner_is_uncertain():
    t = np.linspace(0.0, 1.0, 101)
    integrals, errors = integrate_samples(*samples(lambda t: np.maximum(0.0, np.sin(t - 0.4537)), t), enough=1e-15)
    assert np.flatnonzero(errors > 1e-12).tolist() == [45]
    assert errors[45] > 1e-7
    exact = np.diff(np.where(t > 0.4537, 1.0 - np.cos(t - 0.4537), 0.0))
    assert np.delete(integrals[:, 0] - exact, 45) == pytest.approx(0.0, abs=1e-14)


def test_polynomials_do_not_cross_a_jump_or_a_change_of_distance():
    t = np.linspace(0.0, 1.0, 41)
    integrals, errors = integrate_samples(*samples(np.cos, t, jump=17), enough=0.0)
    assert integrals.sum() == pytest.approx(np.sin(1.0) + 23 / 40, abs=1e-10)
    assert np.isfinite(errors).all()
    uneven = np.concatenate([t[:20], t[20:] ** 1.5 + 1.0])
    errors = integrate_samples(*samples(np.cos, uneven), enough=0.0)[1]
    assert np.isinf(errors[19:]).all()
    assert np.isfinite(errors[:19]).all()


def test_few_samples_give_nothing():
    t = np.linspace(0.0, 1.0, NODES - 1)
    assert np.isinf(integrate_samples(*samples(np.cos, t), enough=0.0)[1]).all()
