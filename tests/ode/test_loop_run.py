"""Times of a run: counted from its start inside, steps no shorter than a share of its length, stalls named."""

import math

import numpy as np
import pytest

import kinode as kn
from kinode.ode.endings import EndKind


def pendulum():
    system = kn.System("pendulum")
    system.revolute("pivot", system.world, system.body("bob", mass=1.0, com=(0, 0, -1)), axis="y", q=1.0)
    return system


@pytest.mark.parametrize("method", ["dopri5", "dop853", "stiff", "rk4"])
@pytest.mark.parametrize("start", [1e9, -3e7, 0.1])
def test_a_late_start_costs_no_digits(method, start):
    step = {"step": 1e-2} if method == "rk4" else {}
    early = kn.simulate(pendulum(), 10.0, method=method, **step)
    late = kn.simulate(pendulum(), start + 10.0, t0=start, method=method, **step)
    assert len(late) == len(early)
    np.testing.assert_allclose(late["pivot.q"], early["pivot.q"], rtol=0, atol=1e-12)
    assert (late.t[0], late.t[-1]) == (start, start + 10.0)


def test_output_times_of_a_late_start_are_those_asked_for():
    times = 1e9 + np.array([0.0, 0.25, 0.5, 3.0])
    late = kn.simulate(pendulum(), 1e9 + 3, t0=1e9, times=times)
    early = kn.simulate(pendulum(), 3.0, times=times - 1e9)
    np.testing.assert_array_equal(late.t, times)
    np.testing.assert_allclose(late["pivot.q"], early["pivot.q"], rtol=0, atol=1e-12)


def sampled():
    """A slider held by a clocked controller, with a law of time that jumps on a tick."""
    system = kn.System("sampled", gravity=(0, 0, 0))
    system.prismatic(
        "slide", system.world, system.body("body", mass=1.0), axis="x", effort="-held.output + step(t - start - 0.2)"
    )
    system.parameter("start", 0.0)
    system.sample_hold("held", input="4*slide.q + slide.u", period="10 ms")
    return system


@pytest.mark.parametrize("start", [0.3, 86400.0])
def test_clocks_tick_at_the_same_instants_after_a_late_start(start):
    runs = [
        kn.simulate(sampled(), t0 + 1.0, t0=t0, parameters={"start": t0}, every=0.05)["slide.q"] for t0 in (0.0, start)
    ]
    np.testing.assert_allclose(runs[1], runs[0], rtol=0, atol=1e-9)


def slider(law):
    system = kn.System("slider", gravity=(0, 0, 0))
    system.prismatic("j", system.world, system.body("body", mass=1.0), axis="x", effort=law)
    return system


@pytest.mark.parametrize(
    ("law", "words"),
    [("1 - 1000*sign(j.u)", r"j\.u is driven back to zero"), ("where(j.q > 0, -1000, 1000) + 1", r"of j \(j\.u\)")],
)
@pytest.mark.filterwarnings("ignore::kinode.errors.LongRunWarning")
def test_a_run_that_stalls_at_its_start_is_named(law, words):
    """Each side of the jump drives back across it, in steps without end."""
    with pytest.raises(kn.SimulationError, match=words) as failure:
        kn.simulate(slider(law), 10.0)
    run = failure.value.run
    assert run.ending.kind is EndKind.STALLED
    assert len(run) < 500_000
    assert np.diff(run.t).min(initial=math.inf) >= 10.0 * 2.0**-60
