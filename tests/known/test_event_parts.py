"""Parts that change their mode: brakes, clutches, diodes, switches, relays, play; against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from happenings import began

import kinode as kn

G = 9.81


def test_a_clutch_brings_two_wheels_together_and_a_brake_stops_both():
    """Momentum is shared at 5 N*m; then 20 N*m stop the second wheel, and the clutch the first."""
    system = kn.System("line", gravity=(0, 0, 0))
    for name, J, u in (("one", 2.0, 10.0), ("two", 3.0, 0.0)):
        body = system.body(name, mass=1, inertia=(J, J, J))
        system.revolute(f"shaft_{name}", system.world, body, u=u)
    system.clutch("clutch", "shaft_one", "shaft_two", "5 N*m", command="where(t < 1, 0, 1)")
    system.brake("brake", "shaft_two", "20 N*m", command="where(t < 4, 0, 1)")
    run = kn.simulate(system, 8.0, rtol=1e-11, atol=1e-13)
    # to 1e-6: the steps of the commands, which are laws, fall within steps of the integrator
    together = 1 + 10 / (5 / 2 + 5 / 3)
    assert began(run, "clutch", "sticks") == pytest.approx([together, 5.6], rel=1e-6)
    assert run["clutch.slip"][np.searchsorted(run.t, 3.9)] == pytest.approx(0, abs=1e-12)
    assert run["shaft_one.u"][np.searchsorted(run.t, 3.9)] == pytest.approx(2 * 10 / 5, rel=1e-6)
    assert began(run, "brake", "sticks") == pytest.approx(4 + 4 / (15 / 3), rel=1e-6)  # 20 less the 5 of the clutch
    assert abs(run["shaft_one.u"][-1]) < 1e-12 and abs(run["shaft_two.u"][-1]) < 1e-12
    assert run.audit.work["clutch"] + run.audit.work["brake"] == pytest.approx(-100, rel=1e-6)
    assert kn.verify(system, 1, compiled=False).ok


def test_a_brake_holds_an_arm_up_to_its_capacity():
    system = kn.System("arm", gravity=(0, -G, 0))
    body = system.body("arm", mass=2, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("shoulder", system.world, body)
    system.brake("brake", "shoulder", 12.0, command="1 - 0.1*t", static_ratio=1.2)
    run = kn.simulate(system, 5.0)
    (slips,) = began(run, "brake", "slides back")
    assert slips == pytest.approx(10 * (1 - 2 * G * 0.5 / (1.2 * 12)), rel=1e-9)
    assert run["brake.moment"][0] == pytest.approx(2 * G * 0.5, rel=1e-12)
    assert not run["shoulder.q"][run.t < slips].any()


@pytest.mark.parametrize("command, applied", [(-2, 0), (0.5, 0.5), (3, 1)])
def test_a_command_beyond_its_range_presses_no_harder_than_fully(command, applied):
    system = kn.System("wheel", gravity=(0, 0, 0))
    system.revolute("hub", system.world, system.body("disk", mass=1, inertia=(0.5, 0.5, 0.5)), u=10)
    system.brake("brake", "hub", 2.0, command=command)
    assert kn.simulate(system, 1.0)["hub.u"][-1] == pytest.approx(10 - applied * 2 / 0.5, rel=1e-12)


@pytest.mark.parametrize(
    "fields, said",
    [
        ({"joint": "slide"}, "slide is a prismatic joint; it acts in joints with one freedom that turn"),
        ({"joint": "hing"}, "no joint is called 'hing'; did you mean hinge"),
        ({"capacity": -1.0}, "must be 0 at least, not -1"),
        ({"static_ratio": 0.5}, "must be 1 at least, not 0.5"),
        ({"capacity": "3 N"}, "capacity"),
    ],
)
def test_brakes_that_cannot_be_are_refused(fields, said):
    system = kn.System("bad")
    system.revolute("hinge", system.world, system.body("one", mass=1, inertia=(1, 1, 1)))
    system.prismatic("slide", system.world, system.body("two", mass=1, inertia=(1, 1, 1)))
    with pytest.raises(kn.Error) as error:
        system.element("brake", "brake", **{"joint": "hinge", "capacity": 1.0, **fields})
        kn.compile(system)
    assert said in str(error.value) and "brake" in str(error.value)


def test_a_diode_lets_a_coil_run_down_to_the_extinction_angle_of_the_textbook():
    """sin(b - phi) + sin(phi) exp(-b / tan(phi)) = 0 with tan(phi) = w L / R (Mohan, Undeland, Robbins, ch. 5)."""
    from scipy.optimize import brentq

    R, L, w = 10.0, 0.05, 2 * np.pi * 50
    system = kn.System("rectifier")
    system.voltage_source("mains", "a", "gnd", voltage=f"100*sin({w}*t)")
    system.diode("diode", "a", "b", on_resistance=1e-6)
    system.resistor("load", "b", "c", resistance=R)
    system.inductor("coil", "c", "gnd", inductance=L)
    run = kn.simulate(system, 0.05, rtol=1e-9, atol=1e-11, method="stiff")
    phi = np.arctan2(w * L, R)
    b = brentq(lambda b: np.sin(b - phi) + np.sin(phi) * np.exp(-b / np.tan(phi)), np.pi + 1e-6, 2 * np.pi - 1e-6)
    ends, starts = began(run, "diode", "blocks"), began(run, "diode", "conducts")
    np.testing.assert_allclose(w * ends, [b, b + 2 * np.pi], rtol=1e-6)
    np.testing.assert_allclose(w * starts, 2 * np.pi * np.arange(3), atol=1e-6)


def test_a_switch_follows_its_command():
    system = kn.System("flash")
    system.voltage_source("supply", "a", "gnd", voltage=5.0)
    system.switch("switch", "a", "b", command="sin(20*t)")
    system.resistor("load", "b", "gnd", resistance=10.0)
    system.capacitor("store", "b", "gnd", capacitance=1e-3, initial_voltage=0.0)
    run = kn.simulate(system, 0.4, method="stiff", rtol=1e-8, atol=1e-10)
    opens = began(run, "switch", "is open")
    np.testing.assert_allclose(opens, np.pi / 20 * np.array([1.0]), rtol=1e-8)
    at = np.searchsorted(run.t, opens[0] + 0.1)
    leak = 5 * 1e-9 * 10
    assert run["store.voltage"][at] == pytest.approx(
        leak + 50 / 10.001 * np.exp(-(run.t[at] - opens[0]) / 0.01), rel=1e-5
    )


def test_wheels_geared_with_play_knock_with_the_period_of_two_free_masses():
    """Half a period: play / v free, pi sqrt(m / k) in contact; m is the reduced inertia, v the speed of the twist."""
    system = kn.System("gear")
    system.shaft_inertia("motor", "one", inertia=0.01, initial_speed=1.0, initial_angle=0.0)
    system.backlash_gear("gear", "one", "two", ratio=5.0, play=0.02, stiffness=1e3)
    system.shaft_inertia("load", "two", inertia=0.75, initial_speed=0.0, initial_angle=0.0)
    run = kn.simulate(system, 1.0, rtol=1e-10, atol=1e-13)
    m = 1 / (1 / 0.25 + 1 / 0.75)
    half = 0.02 / 0.2 + np.pi * np.sqrt(m / 1e3)
    hits = began(run, "gear", "touches its forward flank", "touches its backward flank")
    np.testing.assert_allclose(hits, 0.05 + half * np.arange(len(hits)), rtol=1e-8)
    assert len(hits) == 7
    assert run.audit.relative < 1e-8


def test_a_relay_remembers():
    """x'' = -1/2 sign: from 1 it passes on = 0.1, and switches at off = -0.1 after sqrt(4.4) s."""
    system = kn.System("relay", gravity=(0, 0, 0))
    body = system.body("block", mass=2, inertia=(1, 1, 1))
    system.prismatic("rail", system.world, body, axis="x", q=1.0, effort="-r.output")
    system.relay("r", "rail.q", on=0.1, off=-0.1, high=1, low=-1)
    run = kn.simulate(system, 10.0, rtol=1e-9, atol=1e-11)
    first = np.sqrt(4.4)
    v = 0.5 * first
    assert began(run, "r", "is off")[0] == pytest.approx(first, rel=1e-9)
    t = 2 * v + 2 * np.sqrt(v * v + 0.2)  # -0.1 - v t + t^2/4 = 0.1
    assert began(run, "r", "is on")[0] == pytest.approx(first + t, rel=1e-8)


def test_bristles_slide_with_the_stribeck_curve_and_bend_before():
    """At constant speed the deflection is g(u)/stiffness; for small loads the joint is a spring."""
    fields = {"sliding": 4.0, "static": 5.0, "stribeck_speed": 0.01, "stiffness": 1e5, "damping": 300.0, "viscous": 2.0}
    system = kn.System("bristles", gravity=(0, 0, 0))
    body = system.body("block", mass=2, inertia=(1, 1, 1))
    system.prismatic("rail", system.world, body, axis="x", speed=0.012)
    system.slide_lugre("rub", "rail", **fields)
    run = kn.simulate(system, 1.0, method="stiff", samples=2)
    g = 4 + np.exp(-1.44)
    assert run["rub.force"][-1] == pytest.approx(-(g + 2 * 0.012), rel=1e-6)
    assert run["rub.deflection"][-1] == pytest.approx(g / 1e5, rel=1e-6)
    system.change("rail", speed=None, effort=1.0, damping=500.0)
    rest = kn.simulate(system, 2.0, method="stiff", samples=2)
    assert rest["rail.q"][-1] == pytest.approx(1.0 / 1e5, rel=0.3)  # it creeps a little, which is LuGre's known flaw


@pytest.mark.parametrize("mu, locks", [(0.15, True), (0.02, False)])
def test_a_thread_that_locks_itself_is_found_and_holds_any_load(mu, locks):
    """The friction angle against the lead angle; a load ten times as large changes nothing."""
    system = kn.System("jack", gravity=(0, 0, -G))
    system.parameter("m", 200.0)
    nut = system.body("nut", mass="m", inertia=(1, 1, 0.5))
    system.screw("thread", system.world, nut, lead="5 mm", friction=kn.coulomb(mu, radius="12 mm"))
    assert ("no load drives it back" in str(system.summary())) is locks
    dynamics = kn.compile(system)
    for m in (200.0, 2000.0):
        run = kn.simulate(dynamics, 1.0, parameters={"m": m})
        assert bool(run["thread.q"][-1] == 0.0) is locks
    gear = kn.System("gear")
    gear.shaft_inertia("motor", "one", inertia=0.01)
    gear.elastic_gearbox("worm", "one", "two", ratio=50.0, stiffness=1e3, efficiency=0.4)
    gear.shaft_inertia("load", "two", inertia=1.0)
    assert "worm" in str(gear.summary()).partition("locking by itself")[2]
