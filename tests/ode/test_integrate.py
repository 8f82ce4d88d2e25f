"""Explicit methods: order, accuracy against tolerance, output, interruption, failure."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rates import driven, ending, explosion, kepler, kepler_exact, kepler_start, momentum, tumbling

from kinode.ode.endings import EndKind
from kinode.ode.integrate import integrate
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.method_table import METHODS
from kinode.ode.tableaus import nested

E = 0.3
ROUND = 0.1  # on this orbit order 8 shows before rounding hides it
ROUND_START = kepler_start(ROUND)
PERIOD = 2.0 * math.pi
LOOSE = {"rtol": 1.0, "atol": 1e3}  # every step is accepted, so that max_step is the step
DRIVEN = {"p": [9.81, 0.1], "inputs": [2.0]}


def steps_of(method: str, count: int, span: float) -> dict:
    if method == "rk4":
        return {"method": method, "step": span / count}
    return {"method": method, "max_step": span / count, "first_step": span / count, **LOOSE}


def slope(sizes: list[int], errors: list[float]) -> float:
    return -float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])


@pytest.mark.parametrize(("method", "order", "sizes"), [
    ("rk4", 4, [200, 400, 800]),
    ("dopri5", 5, [100, 200, 400]),
    ("dop853", 8, [30, 40, 60]),
])  # fmt: skip
def test_order_of_the_solution(method, order, sizes):
    """The error after one orbit falls with the order of the method, at steps and between them alike."""
    between = np.linspace(0.0, PERIOD, 38)[1:]
    ends, samples = [], []
    for size in sizes:
        run = integrate(kepler(), ROUND_START, 0.0, PERIOD, **steps_of(method, size, PERIOD))
        assert run.steps == size
        ends.append(np.abs(run.y[-1] - ROUND_START).max())
        dense = integrate(kepler(), ROUND_START, 0.0, PERIOD, times=between, **steps_of(method, size, PERIOD))
        samples.append(np.abs(dense.y - kepler_exact(ROUND, between)).max())
    assert slope(sizes, ends) == pytest.approx(order, abs=0.4)
    assert slope(sizes, samples) > order - 0.4


@pytest.mark.parametrize(("method", "order", "lengths"), [
    ("rk4", 3, [0.2, 0.1, 0.05]),
    ("dopri5", 5, [0.2, 0.1, 0.05]),
    ("dop853", 7, [0.6, 0.4, 0.3]),
])  # fmt: skip
def test_order_of_the_dense_output(method, order, lengths):
    """Within one step from an exact start the error is O(h ** (order + 1))."""
    errors = []
    for h in lengths:
        times = 1.0 + np.linspace(0.0, h, 12)[1:-1]
        run = integrate(kepler(), kepler_exact(ROUND, 1.0), 1.0, 1.0 + h, times=times, **steps_of(method, 1, h))
        assert run.steps == 1
        errors.append(np.abs(run.y - kepler_exact(ROUND, times)).max())
    assert -slope(lengths, errors) == pytest.approx(order + 1, abs=0.45)


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
def test_coefficients_satisfy_the_conditions_on_quadrature(method):
    """sum_j w_j(theta) c_j^k = theta^(k+1) / (k + 1) up to the order; rows of the stages sum to the nodes."""
    table = METHODS[method].tableau()
    assert np.allclose(table.stages.sum(axis=1), table.nodes, atol=2e-15)
    assert np.allclose(table.errors.sum(axis=1), 0.0, atol=2e-15)
    for theta in (0.1, 0.5, 0.83, 1.0):
        weights = nested(theta, len(table.dense)) @ table.dense
        for k in range(table.dense_order):
            assert weights @ table.nodes**k == pytest.approx(theta ** (k + 1) / (k + 1), abs=1e-14)
    last = table.stages[table.last]
    for k in range(table.order):
        assert last @ table.nodes**k == pytest.approx(1.0 / (k + 1), abs=1e-14)


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
def test_error_is_proportional_to_the_tolerance(method):
    """A tolerance ten thousand times as small gives an error a thousand to a hundred thousand times as small."""
    times = np.linspace(0.0, 3.0 * PERIOD, 50)
    errors = []
    for tolerance in (1e-6, 1e-10):
        run = integrate(
            kepler(), kepler_start(E), 0.0, 3.0 * PERIOD, method=method, rtol=tolerance, atol=tolerance, times=times
        )
        errors.append(np.abs(run.y - kepler_exact(E, times)).max())
    assert 1e3 < errors[0] / errors[1] < 1e5


def test_defaults_give_results_to_one_in_a_million():
    times = np.linspace(0.0, PERIOD, 100)
    run = integrate(kepler(), kepler_start(E), 0.0, PERIOD, times=times)
    assert run.success
    assert np.abs(run.y - kepler_exact(E, times)).max() < 1e-6
    energy = 0.5 * (run.y[:, 2:] ** 2).sum(axis=1) - 1.0 / np.hypot(run.y[:, 0], run.y[:, 1])
    assert np.abs(energy + 0.5).max() < 1e-7


@pytest.mark.parametrize("method", ["dopri5", "dop853", "rk4"])
def test_own_steps_and_requested_times_agree(method):
    """A requested time that is a step gets the very state of that step; others lie on the same run."""
    more = {"method": method, "step": 0.01, **DRIVEN}
    own = integrate(driven(), [1.0, 0.0, 0.0], 0.0, 3.0, **more)
    assert (own.t[0], own.t[-1]) == (0.0, 3.0)
    assert (np.diff(own.t) > 0).all()
    same = integrate(driven(), [1.0, 0.0, 0.0], 0.0, 3.0, times=own.t, **more)
    assert np.array_equal(own.t, same.t)
    assert np.array_equal(own.y, same.y)
    middle = (own.t[1:] + own.t[:-1]) / 2
    between = integrate(driven(), [1.0, 0.0, 0.0], 0.0, 3.0, times=middle, **more)
    exact = {"method": "dop853", "rtol": 1e-12, "atol": 1e-12}
    reference = integrate(driven(), [1.0, 0.0, 0.0], 0.0, 3.0, times=middle, **exact, **DRIVEN)
    assert np.abs(between.y - reference.y).max() < (1e-6 if method != "rk4" else 1e-5)
    assert between.steps == own.steps


@pytest.mark.parametrize("method", ["dopri5", "dop853", "rk4"])
@pytest.mark.parametrize("times", [None, np.linspace(0.0, 5.0, 77)])
def test_a_run_in_pieces_is_the_same_run(method, times):
    """Returning to Python after every step or two, or with the room for output full, changes no bit."""
    start, more = [1.0, 0.0, 0.0], {"method": method, "step": 0.003, "times": times, **DRIVEN}
    whole = integrate(driven(), start, 0.0, 5.0, chunk=10**9, **more)
    for chunk in (1, 2, 17, None):
        pieces = integrate(driven(), start, 0.0, 5.0, chunk=chunk, **more)
        assert np.array_equal(whole.t, pieces.t)
        assert np.array_equal(whole.y, pieces.y)
        assert (whole.steps, whole.evaluations) == (pieces.steps, pieces.evaluations)


def test_long_output_grows_as_needed():
    run = integrate(kepler(), kepler_start(E), 0.0, PERIOD, method="rk4", step=PERIOD / 300_000)
    assert run.t.shape == (300_001,)
    assert np.allclose(np.diff(run.t), PERIOD / 300_000, rtol=0, atol=1e-14)
    assert np.abs(run.y[::1000] - kepler_exact(E, run.t[::1000])).max() < 1e-11


@pytest.mark.parametrize("method", ["dopri5", "dop853", "rk4"])
def test_backward_returns_to_the_start(method):
    start = np.array([1.0, 0.2, 0.3])
    more = {"method": method, "step": 0.001, **DRIVEN}
    there = integrate(driven(), start, 0.0, 2.0, **more)
    back = integrate(driven(), there.y[-1], 2.0, 0.0, times=[2.0, 1.0, 0.5, 0.0], **more)
    assert back.t.tolist() == [2.0, 1.0, 0.5, 0.0]
    assert np.abs(back.y[-1] - start).max() < 1e-6
    assert np.abs(back.y[1] - integrate(driven(), start, 0.0, 1.0, **more).y[-1]).max() < 1e-6


@pytest.mark.parametrize("method", ["dopri5", "dop853", "rk4"])
def test_quaternions_stay_unit_and_the_rest_right(method):
    """Unit to rounding at steps and samples; angular momentum in fixed axes, which depends on all of it, stays."""
    start = np.array([1.0, 0.0, 0.0, 0.0, 0.3, 2.0, 0.1])
    for times in (None, np.linspace(0.0, 20.0, 333)):
        more = {"method": method, "step": 0.005, "times": times, "rtol": 1e-9, "atol": 1e-9}
        run = integrate(tumbling(), start, 0.0, 20.0, quaternions=[0], **more)
        assert np.abs(np.linalg.norm(run.y[:, :4], axis=1) - 1.0).max() < 4e-16
        assert np.abs(momentum(run.y) - momentum(start)).max() < 1e-6
        free = integrate(tumbling(), start, 0.0, 20.0, **more)
        assert free.steps == pytest.approx(run.steps, rel=0.02)


def test_normalizing_keeps_the_order():
    """Reusing the last slope after quaternions were normalized costs no order."""
    start = np.array([1.0, 0.0, 0.0, 0.0, 0.3, 2.0, 0.1])
    exact = integrate(tumbling(), start, 0.0, 5.0, method="dop853", rtol=1e-13, atol=1e-13, quaternions=[0]).y[-1]
    sizes, errors = [40, 80, 160], []
    for size in sizes:
        run = integrate(tumbling(), start, 0.0, 5.0, quaternions=[0], **steps_of("dopri5", size, 5.0))
        errors.append(np.abs(run.y[-1] - exact).max())
    assert slope(sizes, errors) > 4.6


@pytest.mark.parametrize("method", ["dopri5", "dop853", "rk4"])
def test_not_finite_names_time_and_component(method):
    run = integrate(ending(), [1.0, 0.0, 0.0], 0.0, 2.0, method=method, step=0.01, p=[1.234])
    assert run.ending.kind is EndKind.NOT_FINITE
    assert run.ending.entry == 1
    assert run.ending.time == pytest.approx(1.234, abs=0.02)
    assert "component 1" in run.ending.message and "t = 1.2" in run.ending.message
    assert np.isfinite(run.y).all()
    assert run.t[-1] == run.t_end == pytest.approx(1.234, abs=0.02)
    assert np.abs(run.y[:, 0] - np.exp(-run.t)).max() < 1e-8
    if method != "rk4":  # the step is cut down until the edge is reached
        assert run.t_end == pytest.approx(1.234, abs=1e-9)


def test_not_finite_at_the_start():
    run = integrate(ending(), [1.0, 0.0, 0.0], 0.5, 2.0, p=[0.0])
    assert (run.ending.kind, run.ending.entry, run.ending.time) == (EndKind.NOT_FINITE, 1, 0.5)
    assert run.t.tolist() == [0.5]


def test_a_solution_that_runs_away():
    run = integrate(explosion(), [1.0], 0.0, 2.0)
    assert run.ending.kind in (EndKind.STEP_TOO_SMALL, EndKind.NOT_FINITE)
    assert run.t_end == pytest.approx(1.0, abs=1e-6)
    assert run.ending.time == pytest.approx(1.0, abs=0.01)


def test_progress_stops_and_interrupt_ends_with_what_was_reached():
    seen = []

    def three_calls(t):
        seen.append(t)
        return len(seen) < 3

    run = integrate(kepler(), kepler_start(E), 0.0, 1e9, on_progress=three_calls)
    assert run.ending.kind is EndKind.STOPPED
    assert len(seen) == 3
    assert run.t[-1] == seen[-1] == run.t_end

    def interrupt(t):
        raise KeyboardInterrupt

    run = integrate(kepler(), kepler_start(E), 0.0, 1e9, on_progress=interrupt, times=np.arange(0.0, 1e5, 1.0))
    assert run.ending.kind is EndKind.INTERRUPTED
    assert "interrupted at t = " in run.ending.message
    assert len(run.t) > 1 and run.t[-1] <= run.t_end


@pytest.mark.parametrize("method", ["dopri5", "dop853", "rk4"])
def test_no_more_steps_than_allowed(method):
    run = integrate(kepler(), kepler_start(E), 0.0, 1e6, method=method, step=0.01, max_steps=1000)
    assert run.ending.kind is EndKind.TOO_MANY_STEPS
    assert 900 <= run.steps <= 1000 and len(run.t) == run.steps + 1
    enough = integrate(kepler(), kepler_start(E), 0.0, 1.0, method="rk4", step=0.01, max_steps=100)
    assert enough.success and enough.steps == 100


def test_tolerance_of_each_component_and_largest_step():
    """A component without a tolerance of its own does not limit the step; max_step does."""
    tight = integrate(driven(), [1.0, 0.0, 0.0], 0.0, 5.0, rtol=0.0, atol=1e-9, **DRIVEN)
    loose = integrate(driven(), [1.0, 0.0, 0.0], 0.0, 5.0, rtol=0.0, atol=[1e-3, 1e-3, 1e-3], **DRIVEN)
    mixed = integrate(driven(), [1.0, 0.0, 0.0], 0.0, 5.0, rtol=0.0, atol=[1e-3, 1e-3, 1e-9], **DRIVEN)
    assert loose.steps < mixed.steps <= tight.steps
    short = integrate(driven(), [1.0, 0.0, 0.0], 0.0, 5.0, rtol=0.0, atol=1e-3, max_step=0.01, **DRIVEN)
    assert np.diff(short.t).max() <= 0.01 * 1.00001


def test_going_on_from_the_end():
    first = integrate(kepler(), kepler_start(E), 0.0, 2.0)
    second = integrate(kepler(), first.y_end, first.t_end, 4.0, first_step=first.next_step)
    assert np.abs(second.y[-1] - kepler_exact(E, 4.0)).max() < 1e-6
    assert second.rejected <= 1


def test_nothing_to_do():
    run = integrate(kepler(), kepler_start(E), 1.0, 1.0, times=[1.0])
    assert run.success and run.t.tolist() == [1.0]
    assert integrate(KernelSpec(kepler().address, 0, 0), [], 0.0, 1.0).success


@pytest.mark.parametrize(("change", "words"), [
    ({"y0": [1.0]}, "y0: expected 4 numbers"),
    ({"y0": [1.0, np.nan, 0.0, 0.0]}, "y0: component 1"),
    ({"t1": np.inf}, "t0, t1: must be finite"),
    ({"times": [0.0, 2.0]}, "times: must go from 0 to 1"),
    ({"times": [0.5, 0.2]}, "times: must go from 0 to 1"),
    ({"times": [[0.5]]}, "times: expected a list"),
    ({"times": [np.nan]}, "times: every time must be finite"),
    ({"rtol": -1.0}, "rtol: must not be negative"),
    ({"atol": [1.0, 1.0]}, "atol: expected one number or 4"),
    ({"rtol": 0.0, "atol": 0.0}, "atol: must be positive"),
    ({"method": "euler"}, "method: expected"),
    ({"method": "rk4"}, "step: a method of fixed step needs"),
    ({"quaternions": [1]}, "quaternions: each begins"),
    ({"max_step": 0.0}, "max_step: must be positive"),
    ({"p": [[1.0]]}, "p: expected a list"),
])  # fmt: skip
def test_wrong_arguments_are_named(change, words):
    arguments = {"y0": kepler_start(E), "t0": 0.0, "t1": 1.0} | change
    with pytest.raises(ValueError, match=words):
        integrate(kepler(), **arguments)
