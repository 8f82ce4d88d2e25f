"""Response curves: closed forms, failures, the background."""

from __future__ import annotations

import numpy as np
import pytest

import kinode as kn
from kinode.studies.batch import refined_order, response_curve, start_response_curve


def driven(damping=0.4) -> kn.System:
    """A cart on a spring, pushed by a sine of 10 rad/s: its amplitude is largest at k = 100 N/m."""
    system = kn.System("driven", gravity=(0, 0, 0))
    k = system.parameter("k", "100 N/m", bounds=(1.0, 1000.0))
    system.input("push", 1.0)
    cart = system.body("cart", mass=1.0)
    system.prismatic("rail", system.world, cart, axis="x", stiffness=k, damping=damping, effort="push*sin(10*t)")
    return system


def test_a_curve_is_the_amplitude_of_a_driven_oscillator():
    """After 60 s the motion is the steady one: amplitude 1/|k - m w^2 + i c w|."""
    dynamics, fields = kn.compile(driven(damping=1.0)), {"t0": 0.0, "times": np.linspace(50, 60, 4001)}
    curve = response_curve(dynamics, "k", "50 N/m", 150.0, of="rail.q|peak", until=60.0, points=5, **fields)
    assert curve.values.tolist() == [50.0, 75.0, 100.0, 125.0, 150.0]
    expected = 1.0 / np.abs(curve.values - 100.0 + 10.0j)
    np.testing.assert_allclose(np.abs(curve.responses), expected, rtol=1e-5)  # peaks between samples: (w dt)^2/8
    assert curve.least.point in (0, 4)
    assert curve.least.response == curve.responses[curve.least.point]
    assert curve.complete
    assert curve.unit == "N/m"
    assert curve.response_unit == "m"
    assert "rail.q|peak over k: 5 of 5 runs" in str(curve)


def test_other_values_stay_and_inputs_vary():
    dynamics = kn.compile(driven())
    fields = {"until": 1.0, "parameters": {"k": 10.0}, "samples": 201}
    curve = response_curve(dynamics, "push", 0.0, 2.0, of="rail.q|rms", points=3, **fields)
    assert curve.responses[0] == 0.0
    assert curve.responses[2] == pytest.approx(2 * curve.responses[1], rel=1e-6)  # linear
    assert curve.least.value == 0.0
    run = kn.simulate(dynamics, **fields)
    assert curve.responses[1] == pytest.approx(np.sqrt(np.trapezoid(run["rail.q"] ** 2, run.t)), rel=1e-12)


def test_the_least_of_signed_peaks_is_the_smallest_in_size():
    dynamics = kn.compile(driven())
    curve = response_curve(dynamics, "rail.q", -0.5, 0.25, of="rail.q|peak", until=0.01, points=4)
    assert curve.responses == pytest.approx([-0.5, -0.25, 0.0, 0.25], abs=1e-4)
    assert curve.least.point == 2
    final = response_curve(dynamics, "rail.q", -0.5, 0.25, of="rail.q|final", until=0.01, points=4)
    assert final.least.point == 0


def test_where_runs_fail_the_curve_has_a_gap():
    system = kn.System("escaping", gravity=(0, 0, 0))
    system.parameter("a", 1.0)
    system.prismatic("rail", system.world, system.body("cart", mass=1.0), axis="x", u=1.0, effort="a*rail.u^2")
    curve = response_curve(kn.compile(system), "a", 0.0, 2.0, of="rail.u|final", until=0.9, points=5)
    assert np.isfinite(curve.responses).tolist() == [True, True, True, False, False]
    assert list(curve.failures) == [1.5, 2.0]
    assert curve.responses[2] == pytest.approx(10.0, rel=1e-5)
    assert curve.least.value == 0.0
    assert "failed at 2" in str(curve)
    nothing = response_curve(kn.compile(system), "a", 3.0, 4.0, of="rail.u|final", until=0.9, points=2)
    assert nothing.least is None


def test_a_curve_in_the_background_is_refined():
    came = []
    running = start_response_curve(
        kn.compile(driven()), "k", 50.0, 150.0, of="rail.q|peak", until=0.5, points=17, threads=1, on_row=came.append
    )
    curve = running.wait()
    assert [row.index for row in came] == refined_order(17)
    assert np.isfinite(curve.responses).all()
    other = start_response_curve(kn.compile(driven()), "k", 50.0, 150.0, of="rail.q|peak", until=1e7, times=[1e7])
    other.cancel()
    assert not other.wait(180.0).complete
    assert other.batch.finished


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "stiffness"}, "stiffness"),
        ({"low": "2 kg"}, "k"),
        ({"low": 150.0}, "two different values of k"),
        ({"points": 1}, "points"),
        ({"of": "rail.q"}, "peak"),
        ({"of": 3}, "of"),
    ],
)
def test_wrong_arguments_of_a_curve_are_named(change, message):
    arguments = {"name": "k", "low": 50.0, "high": 150.0, "of": "rail.q|peak", "points": 3, **change}
    with pytest.raises(kn.Error, match=message):
        response_curve(kn.compile(driven()), until=1.0, **arguments)
