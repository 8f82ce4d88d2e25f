"""A run stops where its condition first becomes true, however short it is true."""

import math

import pytest

import kinode as kn


def pendulum():
    system = kn.System("pendulum")
    bob = system.body("bob", mass=1.0, com=(0, 0, -1))
    system.revolute("pivot", system.world, bob, axis="y", q=1.0)
    return system


HALF_PERIOD = 2.0 * kn.simulate(pendulum(), 10.0, stop_when="pivot.q < 0").t[-1]


@pytest.mark.parametrize("method", ["dopri5", "stiff"])
@pytest.mark.parametrize("width", [1e-3, 1e-6])
def test_a_short_rest_at_the_turning_point_stops_the_run(width, method):
    """The first turning point after the start, where the pendulum is at rest too, is half a period later."""
    run = kn.simulate(pendulum(), 10.0, stop_when=f"abs(pivot.u) < {width}", method=method)
    assert run.status == "condition"
    deceleration = 9.80665 * math.sin(1.0)
    assert run.t[-1] == pytest.approx(HALF_PERIOD - width / deceleration, abs=1e-6)


@pytest.mark.parametrize(
    ("condition", "time"),
    [("exp(-((t - 3.3)/1e-4)**2) > 0.5", 3.3 - 1e-4 * math.sqrt(math.log(2))), ("abs(t - 5) < 1e-9", 5.0)],
)
def test_a_short_time_stops_the_run(condition, time):
    assert kn.simulate(pendulum(), 10.0, stop_when=condition).t[-1] == pytest.approx(time, abs=1e-8)


def test_a_point_that_passes_a_small_window_stops_the_run():
    system = pendulum()
    system.bodies["bob"].at(0, 0, -1, name="tip")
    run = kn.simulate(system, 10.0, stop_when="abs(bob.tip.position.x - 0.1) < 1e-6")
    assert abs(run["bob.tip.position.x"][-1] - 0.1) == pytest.approx(1e-6, rel=1e-3)
    assert run.t[-1] < 0.5 * HALF_PERIOD + 0.1


def test_a_condition_that_is_nearly_met_does_not_stop():
    run = kn.simulate(pendulum(), 3.0, stop_when="pivot.q > 1 + 1e-7")
    assert run.status == "done"


def test_a_driven_mechanism_stops_within_a_short_window_of_time():
    system = kn.System("driven", gravity=(0, 0, 0))
    system.revolute("crank", system.world, system.body("bar", mass=1.0), axis="z", motion="t")
    run = kn.simulate(system, 10.0, stop_when="abs(crank.q - 7.0007) < 1e-5")
    assert run.status == "condition"
    assert run.t[-1] == pytest.approx(7.0007 - 1e-5, abs=1e-8)
