"""Corners of events that engineers reach: lifting off an end, names of their own, audits across modes."""

from __future__ import annotations

import numpy as np
import pytest

import kinode as kn


def test_what_bounced_to_rest_by_loose_steps_lifts_off_again():
    arm = kn.System("arm", gravity=(0, -9.81, 0))
    upper = arm.body("upper", mass=2, com=(0.25, 0, 0), inertia=(0.05, 0.05, 0.05))
    lower = arm.body("lower", mass=1.2, com=(0.2, 0, 0), inertia=(0.03, 0.03, 0.03))
    arm.revolute("shoulder", arm.world, upper, motion="0.8*sin(4*t)")
    arm.revolute("elbow", upper.at(0.5, 0, 0), lower, stop={"lower": -0.3, "upper": 0.5, "restitution": 0.3})
    run = kn.simulate(arm, 2.0, method="stiff")
    (leaves,) = (event.time for event in run.events if event.becomes == "is free")
    # held by its end the lower arm turns with the upper one; no moment in the elbow is left where it leaves
    q, u_dot = 0.8 * np.sin(4 * leaves), -12.8 * np.sin(4 * leaves)
    u, reach, inertia = 3.2 * np.cos(4 * leaves), 0.2 * 1.2, 0.03 + 1.2 * 0.2**2
    moment = (
        (inertia + reach * 0.5 * np.cos(0.3)) * u_dot
        - reach * 0.5 * np.sin(0.3) * u**2
        + reach * 9.81 * np.cos(q - 0.3)
    )
    assert abs(moment) < 1e-6


def test_an_input_of_a_python_controller_may_be_called_u():
    arm = kn.System("arm", gravity=(0, 0, 0))
    link = arm.body("link", mass=1, inertia=(1, 1, 2))
    arm.revolute("elbow", arm.world, link, u=3.0, effort="brake.output")
    arm.controller("brake", lambda t, u: -4 * u, inputs={"u": "elbow.u"}, period="100 ms")
    run = kn.simulate(arm, 0.5)
    assert run["elbow.u"][-1] == pytest.approx(3 * 0.8**5, rel=1e-12)


@pytest.mark.parametrize("samples", [None, 4])
def test_the_audit_keeps_modes_between_stored_states(samples):
    slider = kn.System("slider", gravity=(0, 0, 0))
    block = slider.body("block", mass=2, inertia=(1, 1, 1))
    slider.prismatic("rail", slider.world, block, axis="x", u=2, friction=kn.coulomb(effort="6 N"))
    run = kn.simulate(slider, 1.0, samples=samples)
    assert run.audit.work["rail.friction"] == pytest.approx(-4, rel=1e-9)


def test_a_circuit_that_stores_nothing_switches_with_every_method():
    lamp = kn.System("lamp")
    lamp.voltage_source("supply", "bus", "gnd", voltage="sin(2*pi*50*t)")
    lamp.switch("key", "bus", "wire", command="sin(2*pi*30*t + 0.1)")
    lamp.resistor("bulb", "wire", "gnd", resistance=10)
    expected = (np.arange(1, 7) * np.pi - 0.1) / (2 * np.pi * 30)
    for method in ("dopri5", "stiff"):
        run = kn.simulate(lamp, 0.1, method=method)
        assert np.allclose([event.time for event in run.events], expected, rtol=1e-9)
        assert np.count_nonzero(run.t == run.events[2].time) == 2  # before and after


def test_an_effort_of_friction_may_be_a_parameter():
    slider = kn.System("slider", gravity=(0, 0, 0))
    grip = slider.parameter("grip", "6 N")
    block = slider.body("block", mass=2, inertia=(1, 1, 1))
    slider.prismatic(
        "rail", slider.world, block, axis="x", u=2, friction=kn.coulomb(effort=grip, static_effort=2 * grip)
    )
    dynamics = kn.compile(slider)
    for value in (6.0, 3.0):
        (stop,) = kn.simulate(dynamics, 2.0, parameters={"grip": value}).events
        assert stop.time == pytest.approx(4 / value, rel=1e-9)


def test_parameters_that_friction_and_ends_cannot_have_are_refused():
    slider = kn.System("slider", gravity=(0, 0, 0))
    given = {"grip": 1, "share": 0.5, "low": -1, "mu": 0.1}
    grip, share, low, mu = (slider.parameter(name, value) for name, value in given.items())
    block = slider.body("block", mass=1, inertia=(1, 1, 1))
    slider.prismatic("rail", slider.world, block, axis="x", friction=kn.coulomb(mu, effort=grip, static_effort=2),
                     stop={"lower": low, "upper": 1, "restitution": share})  # fmt: skip
    dynamics = kn.compile(slider)
    for name, value, field in (("grip", -1, "effort"), ("grip", 3, "static_effort"), ("mu", -0.1, "coefficient"),
                               ("share", 1.5, "restitution"), ("low", 2, "stop")):  # fmt: skip
        with pytest.raises(kn.ModelError, match=f"rail.*{field}"):
            kn.simulate(dynamics, 0.0, parameters={name: value})
    kn.simulate(dynamics, 0.0, parameters={"mu": 0})


@pytest.mark.parametrize("period", [0.1 / 7, np.pi / 100, 1 / (2 * np.pi * 50), 0.001234567890123])
def test_any_period_is_one(period):
    clock = kn.System("clock", gravity=(0, 0, 0))
    clock.prismatic("rail", clock.world, clock.body("block", mass=1, inertia=(1, 1, 1)), axis="x", u=1)
    clock.sample_hold("watch", "rail.q", period)
    run = kn.simulate(clock, 100.3 * period, times=[99.5 * period, 100.2 * period])
    assert run["watch.output"] == pytest.approx([99 * period, 100 * period], rel=1e-12)


def test_stiff_runs_may_begin_late():
    drop = kn.System("drop")
    drop.prismatic("flight", drop.world, drop.body("bob", mass=1, inertia=(1, 1, 1)), axis="z", q=1, stop={"lower": 0})
    run = kn.simulate(drop, 1e6 + 1.0, t0=1e6, method="stiff")
    (hit,) = run.events
    assert hit.time - 1e6 == pytest.approx((2 / 9.81) ** 0.5, abs=1e-6)


def test_added_efforts_decide_on_what_sticks():
    arm = kn.System("arm", gravity=(0, -9.81, 0))
    link = arm.body("link", mass=1, com=(0.3, 0, 0), inertia=(0.1, 0.1, 0.1))
    arm.revolute("elbow", arm.world, link, friction=kn.coulomb(effort=1))
    dynamics, weight, inertia = kn.compile(arm), 9.81 * 0.3 * np.cos(0.2), 0.1 + 0.09
    rest = 0.0, np.array([0.2]), np.zeros(1)
    for moment, left in ((0.5, 0.0), (-0.9, 0.0), (2.0, 1.0), (-3.0, -2.0)):
        assert dynamics.acceleration(*rest, effort=[weight + moment]) == pytest.approx([left / inertia], abs=1e-12)
    push = {"link": ((0, (weight + 2) / 0.3 / np.cos(0.2), 0), (0, 0, 0))}  # at the origin: it moves nothing
    assert dynamics.acceleration(*rest, wrenches=push) == pytest.approx([(1 - weight) / inertia])
    for wanted in (0.0, 2.0, -3.0):
        given = dynamics.acceleration(*rest, effort=dynamics.effort(*rest, [wanted]))
        assert given == pytest.approx([wanted], abs=1e-12)
    both = dynamics.acceleration(0.0, np.full((2, 1), 0.2), np.zeros((2, 1)), effort=[[weight], [weight + 2]])
    assert both == pytest.approx(np.array([[0], [1 / inertia]]), abs=1e-12)


def test_friction_in_all_hinges_of_a_four_bar_breaks_loose_together():
    grips = {"a": 1.0, "b": 2.0, "c": 0.5, "d": 0.7}
    lift = kn.System("lift", gravity=(0, 0, 0))
    low, top = (lift.body(n, mass=2, com=(0.25, 0, 0), inertia=(0.01, 0.05, 0.05)) for n in ("low", "top"))
    plate = lift.body("plate", mass=5, com=(0.1, 0.1, 0), inertia=(0.02, 0.02, 0.02))
    rubs = {name: {"friction": kn.coulomb(effort=grip)} for name, grip in grips.items()}
    lift.revolute("a", lift.world, low, q="20 deg", effort="8*sin(2*t)", **rubs["a"])
    lift.revolute("b", lift.world.at(0, 0.2, 0), top, **rubs["b"])
    lift.revolute("c", low.at(0.5, 0, 0), plate, **rubs["c"])
    lift.revolute("d", top.at(0.5, 0, 0), plate.at(0, 0.2, 0), **rubs["d"])
    run = kn.simulate(lift, 1.0)
    # all of them turn as fast, so that their moments add up against that of the drive; the plate does not turn
    grip, inertia = sum(grips.values()), 2 * (0.05 + 2 * 0.25**2) + 5 * 0.5**2
    loose = np.arcsin(grip / 8) / 2
    assert run.events[-1].time == pytest.approx(loose, abs=1e-6)
    assert np.ptp(run["a.q"][run.t < loose]) < 1e-14
    assert run["a.u"][-1] == pytest.approx(
        (4 * (np.cos(2 * loose) - np.cos(2)) - grip * (1 - loose)) / inertia, rel=1e-6
    )
