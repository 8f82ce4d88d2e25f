"""Prepared runs: the same bits as single ones, whatever ran before in their memory."""

from __future__ import annotations

import numpy as np
import pytest
from rates import driven, explosion, kepler, kepler_start

from kinode.ode.endings import EndKind
from kinode.ode.integrate import PreparedRun, integrate

STARTS = [kepler_start(eccentricity) for eccentricity in (0.3, 0.6, 0.3)]


def assert_same(run, single):
    assert np.array_equal(run.t, single.t) and np.array_equal(run.y, single.y)
    counts = ("steps", "rejected", "evaluations", "t_end", "next_step")
    assert [getattr(run, name) for name in counts] == [getattr(single, name) for name in counts]
    assert run.ending == single.ending


@pytest.mark.parametrize("options", [
    {}, {"times": np.linspace(0.0, 5.0, 7)}, {"method": "dop853"}, {"method": "rk4", "step": 0.01}, {"method": "stiff"},
])  # fmt: skip
def test_runs_one_after_the_other(options):
    """Each run gives the bits of a run by itself, and keeps its states when others follow."""
    prepared = PreparedRun(kepler(), 0.0, 5.0, **options)
    runs = [prepared.solve(start) for start in STARTS]
    for run, start in zip(runs, STARTS, strict=True):
        assert_same(run, integrate(kepler(), start, 0.0, 5.0, **options))
    assert not np.array_equal(runs[0].y_end, runs[1].y_end)


@pytest.mark.parametrize("method", ["dopri5", "stiff"])
def test_parameters_and_inputs(method):
    """Parameters and inputs are those of the run, in all copies that the method keeps of them."""
    prepared = PreparedRun(driven(), 0.0, 2.0, method=method)
    for p, inputs in (([9.81, 0.1], [2.0]), ([1.6, 0.5], [-1.0]), ([9.81, 0.1], [2.0])):
        run = prepared.solve([0.2, 0.0, 0.1], p, inputs)
        assert_same(run, integrate(driven(), [0.2, 0.0, 0.1], 0.0, 2.0, method=method, p=p, inputs=inputs))


def test_after_a_failed_run():
    """A run that fails leaves nothing behind."""
    prepared = PreparedRun(explosion(), 0.0, 2.0)
    single = [integrate(explosion(), [y], 0.0, 2.0) for y in (0.1, 1.0, 0.1)]
    runs = [prepared.solve([y]) for y in (0.1, 1.0, 0.1)]
    assert [run.ending.failed for run in runs] == [False, True, False]
    assert runs[1].ending.kind is single[1].ending.kind is not EndKind.DONE
    for run, other in zip(runs, single, strict=True):
        assert_same(run, other)


def test_wrong_arguments_are_refused_every_time():
    """The checks of a start act in every run."""
    prepared = PreparedRun(driven(), 0.0, 1.0)
    prepared.solve([0.2, 0.0, 0.1], [9.81, 0.1], [2.0])
    with pytest.raises(ValueError, match="y0: component 1 is nan"):
        prepared.solve([0.2, np.nan, 0.1], [9.81, 0.1], [2.0])
    with pytest.raises(ValueError, match="y0: expected 3 numbers"):
        prepared.solve([0.2], [9.81, 0.1], [2.0])
    with pytest.raises(ValueError, match=r"p, inputs: .2, 1. numbers are expected"):
        prepared.solve([0.2, 0.0, 0.1], [9.81], [2.0])
