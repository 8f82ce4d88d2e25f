"""Radau IIA: its coefficients by their conditions, its order, stiff problems with known solutions, linear equations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from newton_runs import assert_solves, prepared
from rates import kepler, kepler_exact, kepler_start, kernel, robertson
from scipy.integrate import solve_ivp

from kinode.jit.loop.memory import Floats as F
from kinode.jit.loop.memory import floats_of, ints_of
from kinode.ode.endings import EndKind
from kinode.ode.integrate import integrate
from kinode.ode.loops import jacobian_structure, newton_matrices
from kinode.ode.radau_table import find_nodes, radau
from kinode.ode.tableaus import nested

STAGES = (3, 5, 7)


# -- coefficients ------------------------------------------------------------------------------------------------------
def test_three_stages_are_those_of_the_book():
    """Hairer, Wanner II, table IV.5.6: nodes (4 -+ sqrt 6) / 10 and 1, weights (16 -+ sqrt 6) / 36 and 1/9."""
    root, table = math.sqrt(6.0), radau(3)
    assert find_nodes(3) == pytest.approx([(4 - root) / 10, (4 + root) / 10, 1.0], abs=1e-15)
    assert table.stages[3, 1:4] == pytest.approx([(16 - root) / 36, (16 + root) / 36, 1 / 9], abs=1e-15)
    assert table.eigenvalues[0] == pytest.approx(3.0 + 3.0 ** (2 / 3) - 3.0 ** (1 / 3), abs=1e-13)  # IV.8, (8.16)


@pytest.mark.parametrize("s", STAGES)
def test_the_conditions_of_collocation(s):
    """B(2 s - 1) and C(s) of Butcher; the error estimate vanishes for polynomials of degree s."""
    table = radau(s)
    c, a, b = table.nodes[1 : s + 1], table.stages[1 : s + 1, 1 : s + 1], table.stages[s, 1 : s + 1]
    for k in range(1, 2 * s):
        assert b @ c ** (k - 1) == pytest.approx(1 / k, abs=1e-13)
    for k in range(1, s + 1):
        assert a @ c ** (k - 1) == pytest.approx(c**k / k, abs=1e-13)
        assert table.errors[0, : s + 1] @ table.nodes[: s + 1] ** (k - 1) == pytest.approx(0.0, abs=1e-12)
    assert abs(table.errors[0, : s + 1] @ table.nodes[: s + 1] ** s) > 1e-5


@pytest.mark.parametrize("s", STAGES)
def test_the_transformation_splits_the_inverse(s):
    table = radau(s)
    split = table.change_back @ table.slopes @ table.change
    expected = np.zeros((s, s))
    expected[0, 0] = table.eigenvalues[0]
    for k in range(1, s, 2):
        a, b = table.eigenvalues[k : k + 2]
        expected[k : k + 2, k : k + 2] = [[a, -b], [b, a]]
    assert np.abs(split - expected).max() < 1e-11
    assert np.abs(table.slopes @ table.stages[1 : s + 1, 1 : s + 1] - np.eye(s)).max() < 1e-12


def solve_linear(table, s, z):
    """One step of y' = z y from 1: the slopes as the loops keep them."""
    a = table.stages[1 : s + 1, 1 : s + 1]
    k = z * np.linalg.solve(np.eye(s) - z * a, np.ones(s))
    raw = table.errors[0, 0] * z + table.errors[0, 1 : s + 1] @ k
    error = table.eigenvalues[0] * raw / (table.eigenvalues[0] - z)
    return np.concatenate([[z], k, [error], [0.0]])


@pytest.mark.parametrize("s", [3, 5])
def test_the_order_of_the_end_of_the_dense_output_and_of_the_estimate(s):
    """Halving a step divides the errors by 2^(2 s), 2^(s + 2) and 2^(s + 1), up to terms of higher order."""
    table, theta = radau(s), 0.4
    ends, inside, estimates = [], [], []
    for z in {3: (-0.5, -0.25), 5: (-1.0, -0.5)}[s]:  # larger errors than rounding
        slopes = solve_linear(table, s, z)
        ends.append(1.0 + table.stages[s] @ slopes - math.exp(z))
        inside.append(1.0 + nested(theta, s + 1) @ table.dense @ slopes - math.exp(theta * z))
        estimates.append(slopes[s + 1])
    assert math.log2(ends[0] / ends[1]) == pytest.approx(2 * s, abs=0.9)
    assert math.log2(inside[0] / inside[1]) == pytest.approx(s + 2, abs=0.9)
    assert math.log2(estimates[0] / estimates[1]) == pytest.approx(s + 1, abs=0.9)


@pytest.mark.parametrize("s", STAGES)
def test_it_is_stable_however_stiff(s):
    """L-stable: of a stiff part nothing is left, and nothing grows on the left half plane."""
    table = radau(s)
    assert abs(1.0 + table.stages[s] @ solve_linear(table, s, -1e9)) < 1e-6
    a, b = table.stages[1 : s + 1, 1 : s + 1], table.stages[s, 1 : s + 1]
    for w in np.logspace(-2, 4, 50):
        z = 1j * w
        assert abs(1.0 + z * b @ np.linalg.solve(np.eye(s) - z * a, np.ones(s))) <= 1.0 + 1e-12


# -- runs --------------------------------------------------------------------------------------------------------------
def test_errors_follow_the_tolerance_and_steps_the_order():
    """Between steps the error of a step is of order 7: a tolerance a thousandth as large takes 1000^(1/7) the steps."""
    times, errors, steps = np.linspace(0.0, 6.0, 200), [], []
    for rtol in (1e-6, 1e-9, 1e-12):
        run = integrate(kepler(), kepler_start(0.5), 0.0, 6.0, method="stiff", times=times, rtol=rtol, atol=rtol)
        errors.append(np.abs(run.y - kepler_exact(0.5, times)).max() / rtol)
        steps.append(run.steps)
    assert all(0.1 < error < 60 for error in errors)
    assert steps[1] / steps[0] == pytest.approx(1000 ** (1 / 7), rel=0.25)
    assert steps[2] / steps[1] == pytest.approx(1000 ** (1 / 7), rel=0.25)


def prothero():
    """y' = p (y - cos t) - sin t: from y = 1 the cosine, however large p (Prothero, Robinson 1974)."""

    def rate(t: F, q: F, u: F, z: F, p: F, inputs: F, x: F, work: F, out: F) -> None:
        out[0] = p[0] * (z[0] - math.cos(t[0])) - math.sin(t[0])

    return kernel(rate, 0, 0, 1)


@pytest.mark.parametrize("stiffness", [-1e2, -1e5, -1e9])
@pytest.mark.parametrize("offset", [0.0, 0.5])
def test_a_stiff_equation_with_a_known_solution(stiffness, offset):
    """With an offset a fast transient comes first; it dies out, and the steps grow to those of the cosine."""
    times = np.linspace(1.0, 10.0, 50)
    run = integrate(prothero(), [1.0 + offset], 0.0, 10.0, method="stiff", times=times, p=[stiffness])
    assert run.success and run.steps < 120
    assert np.abs(run.y[:, 0] - np.cos(times)).max() < 3e-8
    back = integrate(prothero(), [1.0], 0.0, -10.0, method="stiff", p=[-stiffness])
    assert back.y[-1, 0] == pytest.approx(math.cos(10.0), abs=1e-8)


def test_robertson():
    """The values at 40 s and 4e10 s are those of the Test Set for IVP Solvers and of the manual of LSODE."""
    run = integrate(robertson(), [1.0, 0.0, 0.0], 0.0, 4e10, method="stiff", times=[40.0, 4e10], rtol=1e-10, atol=1e-18)
    assert run.success and run.steps < 1000
    assert run.y[0] == pytest.approx([0.7158270688, 9.185534765e-6, 0.2841637457], rel=1e-9)
    assert run.y[1] == pytest.approx([5.2e-8, 2.08e-13, 1.0], rel=2e-2)
    assert run.y.sum(axis=1) == pytest.approx([1.0, 1.0], abs=1e-12)


def test_van_der_pol():
    def rate(t: F, q: F, u: F, z: F, p: F, inputs: F, x: F, work: F, out: F) -> None:
        out[0] = u[0]
        out[1] = 1000.0 * (1.0 - q[0] * q[0]) * u[0] - q[0]

    def same(t, y):
        return [y[1], 1000.0 * (1.0 - y[0] ** 2) * y[1] - y[0]]

    times = np.linspace(0.0, 2000.0, 41)
    run = integrate(kernel(rate, 1, 1), [2.0, 0.0], 0.0, 2000.0, method="stiff", times=times)
    reference = solve_ivp(same, (0.0, 2000.0), [2.0, 0.0], method="Radau", rtol=1e-8, atol=1e-10, t_eval=times)
    assert run.success and run.steps < 500
    assert np.abs(run.y[:, 0] - reference.y[0]).max() < 2e-5


def test_what_has_no_value_ends_the_run():
    def rate(t: F, q: F, u: F, z: F, p: F, inputs: F, x: F, work: F, out: F) -> None:
        out[0] = z[0] * z[0] if t[0] < 10.0 else z[0]

    def root(t: F, q: F, u: F, z: F, p: F, inputs: F, x: F, work: F, out: F) -> None:
        out[0] = -1e3 * math.sqrt(z[0])

    pole = integrate(kernel(rate, 0, 0, 1), [1.0], 0.0, 2.0, method="stiff")
    assert pole.ending.kind in (EndKind.NOT_FINITE, EndKind.STEP_TOO_SMALL)
    assert pole.t_end == pytest.approx(1.0, abs=1e-6)
    below = integrate(kernel(root, 0, 0, 1), [1.0], 0.0, 2.0, method="stiff")
    assert below.ending.kind is EndKind.NOT_FINITE and below.ending.entry == 0
    assert below.ending.time == pytest.approx(2e-3, abs=1e-4)


# -- linear equations --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 2, 5, 13])
def test_factors_solve_what_needs_row_exchanges(n):
    random = np.random.default_rng(n)
    a = random.normal(size=(n, n)) * 10.0 ** random.uniform(-3, 3, size=(n, 1))
    a[0, 0] = 0.0 if n > 1 else a[0, 0]
    c, b, d = random.normal(size=(n, n)), random.normal(size=n), random.normal(size=n)
    pivots = np.zeros(n, dtype=np.int64)
    matrix, x = a.T.flatten(), b.copy()
    assert newton_matrices.factor_real(floats_of(matrix), ints_of(pivots), 0, n)
    newton_matrices.solve_real(floats_of(matrix), ints_of(pivots), 0, n, floats_of(x))
    assert a @ x == pytest.approx(b, abs=1e-9)
    re, im, x, y = a.T.flatten(), c.T.flatten(), b.copy(), d.copy()
    pointers = floats_of(re), floats_of(im), ints_of(pivots)
    assert newton_matrices.factor_complex(*pointers, 0, n)
    newton_matrices.solve_complex(*pointers, 0, n, floats_of(x), floats_of(y))
    assert np.abs((a + 1j * c) @ (x + 1j * y) - (b + 1j * d)).max() < 1e-9


def test_a_singular_matrix_is_told():
    pivots = np.zeros(2, dtype=np.int64)
    assert not newton_matrices.factor_real(floats_of(np.array([1.0, 2.0, 2.0, 4.0])), ints_of(pivots), 0, 2)
    assert not newton_matrices.factor_complex(floats_of(np.zeros(4)), floats_of(np.zeros(4)), ints_of(pivots), 0, 2)


def mechanism(random, n):
    """The Jacobian of a mechanism of n freedoms, [q, u]: q' = u, and every acceleration depends on everything."""
    dynamics = random.normal(size=(n, 2 * n)) * np.repeat([1e6, 1e2], n)
    return np.vstack([np.hstack([np.zeros((n, n)), np.eye(n)]), dynamics])


def test_positions_are_eliminated_and_independent_parts_fall_apart():
    """Two mechanisms whose states are mixed, a state on its own, and one that only follows."""
    random = np.random.default_rng(3)
    n = 12
    jacobian = np.zeros((n, n))
    order = random.permutation(10)
    first, second = order[:4], order[4:]
    jacobian[np.ix_(first, first)] = mechanism(random, 2)
    jacobian[np.ix_(second, second)] = mechanism(random, 3)
    jacobian[10, 10] = -5.0
    jacobian[11, first[2]] = 3.0
    run = prepared(jacobian)
    newton = run.memory.newton
    assert newton.n_eliminated == 2 + 3 + 1
    assert sorted(np.diff([newton.block_starts[k] for k in range(newton.n_blocks + 1)])) == [1, 2, 3]
    assert_solves(run, jacobian)
    jacobian[10, 0] = 1.0  # a new entry joins two parts
    run.matrix[:] = jacobian.T.ravel()
    jacobian_structure.note_pattern(run.memory)
    assert newton.n_blocks == 2
