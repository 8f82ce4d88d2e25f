"""The automatic choice: stiffness is noticed, another method takes the run over, and gives it back if it fails."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from rates import F, kepler, kepler_start, kernel

from kinode.ode.integrate import PreparedRun, integrate
from kinode.ode.kernel_spec import JacobianSpec, KernelSpec
from kinode.ode.loops.run_codes import JacobianForm
from kinode.ode.method_table import METHODS
from kinode.ode.stiff_takeover import WORTH_STEPS

LAMBDA = 1e5
SPAN = 3.0
STEPS_OF_STABILITY = SPAN * LAMBDA / 3.3  # what an explicit method of order 5 needs


@cache
def follower() -> KernelSpec:
    """z0 follows cos t, with an eigenvalue of -1e5 1/s; z1' = z0."""

    def rate(t: F, q: F, u: F, z: F, p: F, inputs: F, x: F, work: F, out: F) -> None:
        out[0] = -1e5 * (z[0] - math.cos(t[0]))
        out[1] = z[0]

    return kernel(rate, 0, 0, 2)


def exact(t):
    """The slow solution of the follower; its start is on it."""
    w = 1.0 / LAMBDA
    z0 = (np.cos(t) + w * np.sin(t)) / (1.0 + w * w)
    return np.stack([z0, (np.sin(t) - w * np.cos(t) + w) / (1.0 + w * w)], axis=-1)


def test_a_stiff_problem_is_taken_over():
    """A run at the edge of stability changes its method, and is as exact as before at steps and between them."""
    times = np.linspace(0.0, SPAN, 301)
    run = integrate(follower(), exact(0.0), 0.0, SPAN, method="auto", times=times, stiff_kernel=follower)
    assert run.success and run.taken_over is not None and 0.0 < run.taken_over < 0.1 * SPAN
    assert run.steps < 0.1 * STEPS_OF_STABILITY
    assert np.abs(run.y - exact(times)).max() < 1e-7


def test_an_explicit_method_takes_all_steps_and_says_so():
    """Without another method the run goes on, and the solution tells that stability bounds its steps."""
    for method in ("dopri5", "dop853"):
        run = integrate(follower(), exact(0.0), 0.0, SPAN, method=method, stiff_kernel=follower)
        assert run.taken_over is None and run.steps > 0.5 * STEPS_OF_STABILITY
        assert run.bound_from is not None and run.bound_from < 0.1 * SPAN


def test_a_run_with_few_steps_to_come_is_not_worth_it():
    """The other method is not prepared for the last steps of a run."""
    span = 0.5 * WORTH_STEPS * 3.3 / LAMBDA
    run = integrate(follower(), exact(0.0), 0.0, span, method="auto", stiff_kernel=follower)
    assert run.success and run.taken_over is None and run.bound_from is not None


def test_what_is_not_stiff_stays_as_it_was():
    """An orbit is integrated by the same steps, to the last bit, whether another method may take over or not."""
    run, alone = (
        integrate(kepler(), kepler_start(0.6), 0.0, 1000.0, method=method, stiff_kernel=stiff)
        for method, stiff in (("auto", kepler), ("dopri5", None))
    )
    assert run.steps > 2 * WORTH_STEPS and run.taken_over is None and run.bound_from is None
    assert np.array_equal(run.y, alone.y)


def test_derivatives_that_fail_give_the_run_back():
    """Where the other method cannot go on, the first one finishes the run."""

    def without_value(t: F, q: F, u: F, z: F, p: F, inputs: F, x: F, work: F, out: F) -> None:
        for i in range(4):
            out[i] = z[0] / (z[1] - z[1])

    broken = JacobianSpec(kernel(without_value, 0, 0, 2).address, 0, 1, JacobianForm.WHOLE)
    run = integrate(
        follower(),
        exact(0.0),
        0.0,
        0.5,
        method="auto",
        max_steps=10**6,
        stiff_kernel=lambda: replace(follower(), jacobian=broken),
    )
    assert run.success and run.taken_over is not None
    assert run.steps > 0.5 * 0.5 * LAMBDA / 3.3
    assert np.abs(run.y_end - exact(0.5)).max() < 1e-7


def test_the_cheaper_method_goes_on():
    """Where derivatives are wrong, the equations are solved for short steps only: the first method is cheaper."""

    def zero(t: F, q: F, u: F, z: F, p: F, inputs: F, x: F, work: F, out: F) -> None:
        for i in range(4):
            out[i] = 0.0

    model = replace(follower(), jacobian=JacobianSpec(kernel(zero, 0, 0, 2).address, 0, 1, JacobianForm.WHOLE))
    run, alone, stiff = (
        integrate(model, exact(0.0), 0.0, 0.5, method=method, stiff_kernel=lambda: model)
        for method in ("auto", "dopri5", "stiff")
    )
    assert run.success and run.taken_over is not None
    assert np.abs(run.y_end - exact(0.5)).max() < 1e-7
    assert run.evaluations < 1.5 * alone.evaluations < 0.5 * stiff.evaluations


def test_a_fast_forcing_is_no_reason_to_give_the_run_back():
    """A forcing as fast as the eigenvalue needs short steps of both methods, and far more of the first one."""

    def rate(t: F, q: F, u: F, z: F, p: F, inputs: F, x: F, work: F, out: F) -> None:
        fast = 1.0 / (1.0 + math.exp(-1e4 * (t[0] - 0.1)))  # from 0.1 s on
        out[0] = -1e5 * (z[0] - math.cos(t[0]) - fast * math.sin(5e4 * t[0]))
        out[1] = z[0]

    restless = kernel(rate, 0, 0, 2)
    run, alone, stiff = (
        integrate(restless, [1.0, 0.0], 0.0, 0.3, method=method, stiff_kernel=lambda: restless)
        for method in ("auto", "dopri5", "stiff")
    )
    assert run.success and run.taken_over is not None and run.taken_over < 0.1
    np.testing.assert_allclose(run.y_end, alone.y_end, atol=1e-7)
    assert run.evaluations < 1.1 * stiff.evaluations < 0.5 * alone.evaluations


def test_runs_after_a_takeover_begin_with_the_first_method():
    """A prepared run lays its memory out anew after another method has used it."""
    prepared = PreparedRun(follower(), 0.0, SPAN, method="auto")
    runs = [prepared.solve(exact(0.0), stiff_kernel=follower) for _ in range(3)]
    assert all(run.taken_over == runs[0].taken_over is not None for run in runs)
    assert all(np.array_equal(run.y, runs[0].y) for run in runs)


def test_one_method_names_another():
    """It names a method for stiff problems that keeps loops closed."""
    method = METHODS["auto"]
    assert method.then is not None and METHODS[method.then].stiff


@pytest.mark.parametrize("name", METHODS)
def test_methods_that_are_watched_end_with_two_stages_at_one_time(name):
    """The estimate of the eigenvalue compares the last two stages of a step."""
    table = METHODS[name].tableau()
    if table.stability:
        assert table.nodes[table.last] == table.nodes[table.last - 1] == 1.0
