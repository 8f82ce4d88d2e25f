"""Modes: what may be given as one, which events stop a run, and which only come fast."""

from __future__ import annotations

import numpy as np
import pytest
from discrete import known_kinds

import kinode as kn


def block(**fields):
    system = kn.System("block", gravity=(0, 0, -9.81))
    system.prismatic("rail", system.world, system.body("block", mass=2.0), axis="x", **fields)
    return system


def test_values_that_are_no_modes_are_refused_wherever_they_are_given():
    system = block(friction=kn.coulomb(0.3), stop={"upper": 1.0})
    dynamics = kn.compile(system)
    friction = r"rail\.friction\.mode: 0\.5 is none of its modes: -1 \(slides back\), 0 \(sticks\), 1 "
    stop = r"rail\.stop\.mode: -1 is none of its modes: 0 \(is free\), 1 \(meets its upper end\)"
    with pytest.raises(kn.ArgumentError, match=friction):
        kn.simulate(system, 1.0, start={"rail.friction.mode": 0.5})
    with pytest.raises(kn.ArgumentError, match=stop):  # it has no lower end
        kn.simulate(system, 1.0, start=kn.State(0.0, np.zeros(1), np.zeros(1), np.array([0.0, -1.0])))
    with pytest.raises(kn.ArgumentError, match=friction):
        dynamics.acceleration(0.0, [0.0], [1.0], z=[0.5, 0.0])
    with pytest.raises(kn.ArgumentError, match=stop):
        dynamics.acceleration(0.0, [0.0], [1.0], z=[[1.0, 0.0], [1.0, -1.0]])
    np.testing.assert_allclose(dynamics.acceleration(0.0, [0.0], [1.0], z=[1.0, 0.0]), [-0.3 * 9.81])


def room(cold, warm, tau="0.5 s"):
    system = block()
    system.element("room", kind="thermostat", cold=cold, warm=warm, tau=tau)
    return system


@pytest.mark.parametrize("method, tau", [("dopri5", 0.5), ("dopri5", 50.0), ("rk4", 0.5), ("stiff", 5e4)])
def test_what_drives_itself_back_across_one_level_is_named(method, tau):
    """Without two levels: its modes last 1e-9 of the scale, however slow they are."""
    with known_kinds():
        options = {"step": tau / 100} if method == "rk4" else {}
        with pytest.raises(kn.SimulationError, match=r"room changes without end at t = .* events") as caught:
            kn.simulate(room(1.5, 1.5, tau), 4 * tau, method=method, **options)
    assert caught.value.run.t[-1] == pytest.approx(tau * np.log(2), rel=1e-3)  # 3 (1 - exp(-t/tau)) = 1.5


def test_fast_events_that_lead_somewhere_are_none_of_that():
    """A heater between two levels, a lamp by a clock of 20 kHz, a ball that comes to rest after a thousand bounces."""
    with known_kinds():
        fast = kn.simulate(room(1.5, 1.5 + 1e-4), 0.5, rtol=1e-3)
    assert len(fast.events) > 2000
    system = kn.System("lamp")
    system.voltage_source("supply", "bus", "gnd", voltage=1e-6)
    system.switch("key", "bus", "wire", command="0.3 - (t/5e-5 - floor(t/5e-5))")
    system.resistor("bulb", "wire", "out", resistance=10)
    system.capacitor("store", "out", "gnd", capacitance=1)
    assert len(kn.simulate(system, 0.1).events) == pytest.approx(4000, abs=2)
    ball = kn.System("ball", gravity=(0, 0, -9.81))
    stop = {"lower": 0.0, "restitution": 0.995}
    ball.prismatic("fall", ball.world, ball.body("ball", mass=1), axis="z", q=1e-4, stop=stop)
    run = kn.simulate(ball, 100.0)
    assert len(run.events) > 1000 and run["fall.q"][-1] == pytest.approx(0, abs=1e-9)


def test_numbers_that_brakes_and_relays_cannot_have_are_refused_where_parameters_give_them():
    system = block()
    system.parameter("grip", 2.0)
    system.slide_brake("claw", "rail", "grip")
    system.relay("switch_on", "rail.q", "grip", 1.0)
    dynamics = kn.compile(system)
    with pytest.raises(kn.ModelError, match=r"claw\.capacity: must be 0 at least, not -1"):
        kn.simulate(dynamics, 1.0, parameters={"grip": -1.0})
    with pytest.raises(kn.ModelError, match=r"switch_on\.off: 1 is not below the 1 of on"):
        kn.simulate(dynamics, 1.0, parameters={"grip": 1.0})
    system.parameter("wrong", -3.0)
    system.slide_brake("other", "rail", "wrong")
    with pytest.raises(kn.ModelError, match=r"other\.capacity: must be 0 at least, not -3"):
        kn.compile(system)


def test_a_batch_without_modes_has_those_of_each_row():
    dynamics = kn.compile(block(friction=kn.coulomb(0.3)))
    u = np.array([[2.0], [-1.0], [0.0]])
    rows = dynamics.acceleration(0.0, np.zeros((3, 1)), u)
    assert rows.ravel() == pytest.approx([-0.3 * 9.81, 0.3 * 9.81, 0.0])  # against the motion; at rest it sticks
    assert dynamics.acceleration(0.0, np.zeros((0, 1)), np.zeros((0, 1))).shape == (0, 1)


@pytest.mark.parametrize("efforts", [(0.5, 5.0, -5.0), (5.0, 0.5, 0.2), (-3.0, 2.5, 0.1)])
def test_each_of_several_frictions_gets_a_mode_of_its_own(efforts):
    """At rest: what pushes more than 1.6 N slides against 1 N, what pushes less stays; modes are not given."""
    system = kn.System("sliders", gravity=(0, 0, 0))
    for k, effort in enumerate(efforts):
        body = system.body(f"b{k}", mass=2.0, inertia=(1, 1, 1))
        friction = kn.coulomb(effort=1.0, static_effort=1.6)
        system.prismatic(f"j{k}", system.world, body, axis="x", effort=effort, friction=friction)
    slides = [np.sign(effort) * (abs(effort) - 1.0) / 2.0 if abs(effort) > 1.6 else 0.0 for effort in efforts]
    np.testing.assert_allclose(kn.compile(system).acceleration(0.0, np.zeros(3), np.zeros(3)), slides, atol=1e-14)
