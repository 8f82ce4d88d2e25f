"""Many runs at a time: the same numbers as one by one, whatever the lanes, threads and samples."""

from __future__ import annotations

import numpy as np
import pytest
from rates import driven, ending, kepler, kepler_exact, kepler_start, momentum, tumbling

from kinode.ode.endings import EndKind
from kinode.ode.integrate import integrate
from kinode.ode.rk4_batch import rk4_batch

RANDOM = np.random.default_rng(7)
STARTS = RANDOM.normal(size=(11, 3))
P = np.column_stack([RANDOM.uniform(1.0, 9.0, 11), np.full(11, 0.1)])
INPUTS = RANDOM.normal(size=(11, 1))


@pytest.mark.parametrize("lanes", [1, 4, 8])
@pytest.mark.parametrize("every", [None, 1, 7])
@pytest.mark.parametrize("threads", [1, 2])
def test_batch_equals_single_runs_bit_for_bit(lanes, every, threads):
    """11 runs fill no number of lanes, 7 does not divide 40 steps: the rest must be right too."""
    batch = rk4_batch(driven(lanes), STARTS, 0.0, 2.0, 0.05, every=every, p=P, inputs=INPUTS, threads=threads)
    assert batch.success and batch.steps == 40
    assert len(batch.t) == {None: 2, 1: 41, 7: 7}[every]
    assert (batch.t[0], batch.t[-1]) == (0.0, 2.0)
    for i, start in enumerate(STARTS):
        run = integrate(driven(), start, 0.0, 2.0, method="rk4", step=0.05, p=P[i], inputs=INPUTS[i], times=batch.t)
        assert np.array_equal(run.y, batch.y[i])


def test_one_row_of_parameters_serves_all():
    shared = rk4_batch(driven(4), STARTS, 0.0, 1.0, 0.05, p=P[0], inputs=INPUTS[0])
    rows = rk4_batch(driven(4), STARTS, 0.0, 1.0, 0.05, p=np.tile(P[0], (11, 1)), inputs=np.tile(INPUTS[0], (11, 1)))
    assert np.array_equal(shared.y, rows.y)


def test_batch_is_right():
    """Against the exact orbits, backward as well."""
    exact = [np.stack([kepler_exact(e, t) for e in (0.0, 0.1, 0.3)]) for t in (0.0, 3.0)]
    there = rk4_batch(kepler(), exact[0], 0.0, 3.0, 0.001)
    assert np.abs(there.y[:, -1] - exact[1]).max() < 1e-11
    back = rk4_batch(kepler(), exact[1], 3.0, 0.0, 0.001)
    assert np.abs(back.y[:, -1] - exact[0]).max() < 1e-11


def test_quaternions_of_every_lane_stay_unit():
    starts = np.array([[1.0, 0.0, 0.0, 0.0, 0.3, 2.0 + 0.1 * i, 0.1] for i in range(6)])
    batch = rk4_batch(tumbling(4), starts, 0.0, 10.0, 0.005, every=100, quaternions=[0])
    assert np.abs(np.linalg.norm(batch.y[..., :4], axis=-1) - 1.0).max() < 4e-16
    assert np.abs(momentum(batch.y) - momentum(starts)[:, None]).max() < 1e-7


def test_runs_that_are_not_finite_are_named_and_disturb_no_other():
    ends = np.array([[9.0], [0.5], [9.0], [9.0], [0.25], [9.0]])
    batch = rk4_batch(ending(4), np.tile([1.0, 0.0, 0.0], (6, 1)), 0.0, 1.0, 0.01, p=ends, every=10)
    assert not batch.success
    assert batch.failed_component.tolist() == [-1, 1, -1, -1, 1, -1]
    assert batch.failed_time[[1, 4]] == pytest.approx([0.51, 0.26], abs=0.011)
    assert np.isnan(batch.failed_time[[0, 2, 3, 5]]).all()
    assert "2 of 6 runs" in batch.ending.message and "run 1, component 1" in batch.ending.message
    well = rk4_batch(ending(4), np.tile([1.0, 0.0, 0.0], (6, 1)), 0.0, 1.0, 0.01, p=[9.0], every=10)
    assert np.array_equal(batch.y[[0, 2, 3, 5]], well.y[[0, 2, 3, 5]])
    assert np.isnan(batch.y[1, -1, 1]) and np.isfinite(batch.y[1, :5]).all()


def test_stopping_leaves_whole_runs_or_none():
    calls = []

    def stop(done):
        calls.append(done)
        return False

    starts = np.tile(kepler_start(0.2), (64, 1))
    batch = rk4_batch(kepler(), starts, 0.0, 4e4, 0.01, on_progress=stop)
    assert batch.ending.kind is EndKind.STOPPED
    assert len(calls) == 1 and 0.0 <= calls[0] < 1.0
    finished = np.isfinite(batch.y).all(axis=(1, 2))
    assert not finished.all()
    assert np.array_equal(batch.y[:, 0], starts)
    assert np.isnan(batch.y[~finished, 1]).all()


def test_no_runs_and_no_time():
    assert rk4_batch(kepler(), np.zeros((0, 4)), 0.0, 1.0, 0.1).y.shape == (0, 2, 4)
    still = rk4_batch(kepler(), kepler_start(0.1), 1.0, 1.0, 0.1)
    assert still.success and np.array_equal(still.y[0, -1], kepler_start(0.1))


@pytest.mark.parametrize(("change", "words"), [
    ({"y0": np.zeros((2, 3))}, "y0: expected rows of 4"),
    ({"step": -1.0}, "step: "),
    ({"every": 0}, "every: "),
    ({"p": np.zeros((3, 1))}, "p: expected one row for each of the 2 runs"),
    ({"inputs": 1.0}, "inputs: expected one or two dimensions"),
    ({"t1": np.nan}, "t0, t1: must be finite"),
    ({"quaternions": [1]}, "quaternions: each begins"),
])  # fmt: skip
def test_wrong_arguments_are_named(change, words):
    arguments = {"y0": np.zeros((2, 4)), "t0": 0.0, "t1": 1.0, "step": 0.1} | change
    with pytest.raises(ValueError, match=words):
        rk4_batch(kepler(), **arguments)
