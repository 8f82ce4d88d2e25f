"""Stiff problems by CVODE against SciPy's Radau method, and how runs end."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinode.ode.cvode import integrate_stiff
from kinode.ode.endings import EndKind


def robertson(t, y):
    """H. H. Robertson (1966): three reactions whose rates differ by nine orders of magnitude."""
    a, b, c = 0.04 * y[0], 3e7 * y[1] ** 2, 1e4 * y[1] * y[2]
    return np.array([c - a, a - c - b, b])


def robertson_jacobian(t, y):
    return np.array([
        [-0.04, 1e4 * y[2], 1e4 * y[1]],
        [0.04, -1e4 * y[2] - 6e7 * y[1], -1e4 * y[1]],
        [0.0, 6e7 * y[1], 0.0],
    ])  # fmt: skip


def van_der_pol(t, y):
    return np.array([y[1], 1000.0 * (1.0 - y[0] ** 2) * y[1] - y[0]])


@pytest.mark.parametrize("jacobian", [robertson_jacobian, None])
def test_robertson(jacobian):
    times = np.concatenate([[0.0], np.logspace(-2, 4, 13)])
    run = integrate_stiff(robertson, jacobian, [1.0, 0.0, 0.0], 0.0, 1e4, times=times, atol=1e-12)
    assert run.success and np.array_equal(run.t, times)
    more = {"method": "Radau", "jac": robertson_jacobian, "rtol": 1e-10, "atol": 1e-14}
    reference = solve_ivp(robertson, (0.0, 1e4), [1.0, 0.0, 0.0], t_eval=times, **more)
    assert np.abs(run.y - reference.y.T).max() < 1e-6
    assert run.steps < 2000


def test_van_der_pol_at_own_steps():
    run = integrate_stiff(van_der_pol, None, [2.0, 0.0], 0.0, 2000.0)
    reference = solve_ivp(van_der_pol, (0.0, 2000.0), [2.0, 0.0], method="Radau", rtol=1e-8, atol=1e-10)
    assert run.success and (run.t[0], run.t[-1]) == (0.0, 2000.0)
    assert run.y[-1] == pytest.approx(reference.y[:, -1], rel=1e-5)
    assert len(run.t) == run.steps + 1
    same = integrate_stiff(van_der_pol, None, [2.0, 0.0], 0.0, 2000.0, times=run.t)
    assert np.array_equal(run.y, same.y)


def test_error_is_proportional_to_the_tolerance():
    errors = []
    for tolerance in (1e-5, 1e-9):
        run = integrate_stiff(lambda t, y: -y + np.cos(t), None, [1.0], 0.0, 5.0, rtol=tolerance, atol=tolerance)
        exact = 0.5 * (np.cos(5.0) + np.sin(5.0)) + 0.5 * np.exp(-5.0)
        errors.append(abs(run.y[-1, 0] - exact))
    assert 1e2 < errors[0] / errors[1] < 1e6
    assert errors[1] < 1e-6


def test_backward():
    run = integrate_stiff(lambda t, y: -y, None, [1.0], 2.0, 0.0, times=[2.0, 1.5, 0.25, 0.0])
    assert run.y[:, 0] == pytest.approx(np.exp(2.0 - run.t), rel=1e-6)


def test_not_finite_names_time_and_component():
    def rate(t, y):
        return np.array([-y[0], 1.0 if t < 0.5 else np.nan])

    run = integrate_stiff(rate, None, [1.0, 0.0], 0.0, 1.0)
    assert (run.ending.kind, run.ending.entry) == (EndKind.NOT_FINITE, 1)
    assert run.ending.time == pytest.approx(0.5, abs=1e-6)
    assert run.t_end == pytest.approx(0.5, abs=1e-6)
    assert np.isfinite(run.y).all()
    at_start = integrate_stiff(lambda t, y: y * np.nan, None, [1.0], 0.0, 1.0)
    assert (at_start.ending.kind, at_start.ending.time, len(at_start.t)) == (EndKind.NOT_FINITE, 0.0, 1)


def test_a_jacobian_that_is_not_finite():
    run = integrate_stiff(lambda t, y: -y, lambda t, y: np.full((1, 1), np.nan), [1.0], 0.0, 1.0)
    assert run.ending.kind is EndKind.NOT_FINITE
    assert np.isfinite(run.y).all()


def test_a_solution_that_runs_away_says_so(capfd):
    run = integrate_stiff(lambda t, y: y * y, None, [1.0], 0.0, 2.0)
    assert run.ending.kind in (EndKind.STEP_TOO_SMALL, EndKind.NOT_FINITE, EndKind.SOLVER_FAILED)
    assert run.t_end == pytest.approx(1.0, abs=1e-4) and run.ending.time == run.t_end
    assert capfd.readouterr() == ("", "")


def test_interrupt_and_stop_keep_what_was_reached():
    def rate(t, y):
        if t > 0.3:
            raise KeyboardInterrupt
        return -y

    run = integrate_stiff(rate, None, [1.0], 0.0, 1.0)
    assert run.ending.kind is EndKind.INTERRUPTED and 0.0 < run.t_end <= 0.3
    assert run.y[-1, 0] == pytest.approx(np.exp(-run.t_end), rel=1e-6)
    run = integrate_stiff(lambda t, y: -y, None, [1.0], 0.0, 1.0, on_progress=lambda t: t < 0.5)
    assert run.ending.kind is EndKind.STOPPED and run.t_end >= 0.5
    assert integrate_stiff(lambda t, y: -y, None, [1.0], 0.0, 1.0, max_steps=3).ending.kind is EndKind.TOO_MANY_STEPS


def test_other_errors_are_passed_on():
    def rate(t, y):
        if t > 0.0:
            raise ZeroDivisionError("of the model")
        return -y

    with pytest.raises(ZeroDivisionError, match="of the model"):
        integrate_stiff(rate, None, [1.0], 0.0, 1.0)


def test_quaternions_stay_unit():
    """Also where the tolerance lets them drift enough to be corrected on the way."""

    def rate(t, y):
        w, i, j, k = y
        return 0.5 * np.array([-k, j, -i, w]) * 2.0

    run = integrate_stiff(rate, None, [1.0, 0.0, 0.0, 0.0], 0.0, 50.0, rtol=1e-5, atol=1e-7, quaternions=[0])
    assert np.abs(np.linalg.norm(run.y, axis=1) - 1.0).max() < 4e-16
    exact = np.stack([np.cos(run.t), 0 * run.t, 0 * run.t, np.sin(run.t)], axis=1)
    assert np.abs(run.y - exact).max() < 2e-2
