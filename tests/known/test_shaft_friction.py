"""Friction of shafts and slides that sticks, and gears that lock themselves: against closed forms.

The belt and Coulomb's oscillator are in every textbook of vibrations (e.g. Magnus and Popp, Schwingungen), self-locking
in those of machine elements (e.g. Niemann and Winter, Maschinenelemente); the formulas are written out in each test.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinode as kn


def began(run, component, *words):
    """When a component began to do something."""
    return np.array([e.time for e in run.events if component in e.components and e.becomes in words])


def plain():
    return kn.System("shafts", gravity=(0, 0, 0))


def oscillator(friction=True, **fields):
    """A wheel on a torsion spring, whose frequency is 10 rad/s."""
    system = plain()
    system.shaft_inertia("wheel", "shaft", inertia=0.02, initial_angle=1.07, initial_speed=0.0)
    system.shaft_spring("spring", "shaft", stiffness=2.0)
    if friction:
        system.shaft_friction("bearing", "shaft", **{"coulomb": 0.1, **fields})
    return system


# -- shafts and slides -----------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["dopri5", "rk4", "stiff"])
def test_a_wheel_on_a_moving_drum_sticks_and_slips_with_the_period_of_the_textbook(method):
    """With d = (breakaway - coulomb)/k, w = sqrt(k/J): it sticks for 2 d/v and slips for (2 pi - 2 atan(w d/v))/w."""
    J, k, v, held, sliding = 0.5, 8.0, 0.5, 1.5, 1.0
    system = plain()
    system.shaft_inertia("wheel", "shaft", inertia=J, initial_angle=0.0, initial_speed=v)
    system.shaft_spring("spring", "shaft", stiffness=k)
    system.speed_source("drive", "drum", speed=v)
    system.shaft_friction("rub", "shaft", "drum", coulomb=sliding, breakaway=held)
    how = {"rk4": {"step": 1e-3}, "stiff": {"rtol": 1e-9, "atol": 1e-11}, "dopri5": {"rtol": 1e-11, "atol": 1e-13}}
    run = kn.simulate(system, 8.0, method=method, **how[method])
    d, w = (held - sliding) / k, np.sqrt(k / J)
    slips, sticks = began(run, "rub", "slides back"), began(run, "rub", "sticks")
    exact = {"dopri5": 1e-9, "rk4": 1e-7, "stiff": 1e-6}[method]
    assert len(slips) == 5 and slips[0] == pytest.approx(held / (k * v), rel=exact)
    np.testing.assert_allclose(slips[1:] - sticks[: len(slips) - 1], 2 * d / v, rtol=exact)
    np.testing.assert_allclose(
        sticks[: len(slips)] - slips[: len(sticks)], 2 * (np.pi - np.arctan2(w * d, v)) / w, rtol=exact
    )
    stuck = run["rub.mode"] == 0
    np.testing.assert_array_equal(run["shaft.speed"][stuck], v)


def test_an_oscillator_loses_the_same_at_each_turn_and_stops_where_it_should():
    """Each half swing lasts pi/w and loses 2 f, f = coulomb/k: from 1.07 over 0.97 to 0.07 and 0.03."""
    run = kn.simulate(oscillator(), 6.0, rtol=1e-11, atol=1e-13)
    ends = np.array([e.time for e in run.events])
    np.testing.assert_allclose(ends, np.pi / 10 * np.arange(1, 12), rtol=1e-9)
    assert run.events[-1].becomes == "sticks"
    assert run["shaft.angle"][-1] == pytest.approx(0.03, abs=1e-10)
    assert run["shaft.speed"][-1] == 0.0 and run["bearing.moment"][-1] == pytest.approx(-0.06, abs=1e-9)


def test_events_are_the_same_at_every_tolerance():
    system = oscillator(breakaway=0.15, stribeck_speed=0.2, viscous=1e-3)
    fine = kn.simulate(system, 6.0, rtol=1e-12, atol=1e-14)
    for rtol in (1e-5, 1e-7, 1e-10):
        run = kn.simulate(system, 6.0, rtol=rtol, atol=rtol / 100)
        assert [(e.was, e.becomes) for e in run.events] == [(e.was, e.becomes) for e in fine.events]
        np.testing.assert_allclose([e.time for e in run.events], [e.time for e in fine.events], atol=100 * rtol)


def test_energy_never_grows_and_is_what_was_lost():
    law = {"breakaway": 0.15, "stribeck_speed": 0.2, "viscous": 1e-3}
    run = kn.simulate(oscillator(**law), 5.0, samples=20001, rtol=1e-10, atol=1e-12)
    energy = run["system.energy"]
    assert np.diff(energy).max() < 1e-10 * energy[0]
    assert (run["bearing.lost"] >= 0).all()
    assert run.audit.relative < 1e-6


def test_a_slide_is_a_shaft_in_other_words():
    system = plain()
    system.slide_mass("mass", "rod", mass=0.02, initial_position=1.07, initial_speed=0.0)
    system.slide_spring("spring", "rod", stiffness=2.0)
    law = {"coulomb": 0.1, "breakaway": 0.15, "stribeck_speed": 0.2, "viscous": 1e-3}
    system.slide_friction("guide", "rod", **law)
    slide = kn.simulate(system, 5.0, rtol=1e-10, atol=1e-12)
    shaft = kn.simulate(oscillator(**law), 5.0, rtol=1e-10, atol=1e-12)
    assert [e.becomes for e in slide.events] == [e.becomes for e in shaft.events]
    np.testing.assert_allclose(slide["rod.position"][-1], shaft["shaft.angle"][-1], atol=1e-9)


def test_a_joint_with_the_same_friction_moves_in_the_same_way():
    law = {"breakaway": 0.15, "stribeck_speed": 0.2}
    system = kn.System("joint", gravity=(0, 0, 0))
    wheel = system.body("wheel", mass=1, inertia=(0.02, 0.02, 0.02))
    friction = kn.coulomb(effort=0.1, static_effort=0.15, stribeck_speed=0.2)
    system.revolute("shaft", system.world, wheel, q=1.07, stiffness=2.0, friction=friction)
    joint = kn.simulate(system, 5.0, samples=301, rtol=1e-11, atol=1e-13)
    shaft = kn.simulate(oscillator(**law), 5.0, samples=301, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(shaft["shaft.angle"], joint["shaft.q"], atol=1e-9)
    assert [e.becomes for e in shaft.events] == [e.becomes for e in joint.events]
    np.testing.assert_allclose([e.time for e in shaft.events], [e.time for e in joint.events], atol=1e-9)


def test_a_shaft_that_rubs_on_a_joint_turns_with_it_once_it_sticks():
    """J1 u1 + J2 u2 stays; they meet after J1 J2 (u2 - u1)/((J1 + J2) M), and then speed up together."""
    system = plain()
    arm = system.body("arm", mass=1, inertia=(0.3, 0.3, 0.3))
    system.revolute("axis", system.world, arm, axis="z", u=2.0)
    system.shaft_inertia("disk", "shaft", inertia=0.6, initial_angle=0.0, initial_speed=0.0)
    system.shaft_friction("rub", "shaft", "axis", coulomb=0.4)
    system.moment_source("push", "axis", moment="max(0, 0.2*(t - 2))")
    run = kn.simulate(system, 3.0, rtol=1e-10, atol=1e-12)
    assert run.events[0].time == pytest.approx(0.3 * 0.6 * 2 / (0.9 * 0.4), rel=1e-9)
    assert len(run.events) == 1
    assert run["axis.u"][-1] == pytest.approx(2 / 3 + 0.1 / 0.9, rel=1e-8)
    assert run["shaft.speed"][-1] == pytest.approx(run["axis.u"][-1], abs=1e-9)
    assert run["rub.moment"][-1] == pytest.approx(-0.6 * 0.2 / 0.9, rel=1e-9)


def test_what_turns_with_a_geared_inertia_sticks():
    """A moment M at the slow side of a gear is M/ratio at the fast one."""
    system = plain()
    system.shaft_inertia("rotor", "fast", inertia=1.0, initial_angle=0.0, initial_speed=1.0)
    system.gearbox("gear", "fast", "slow", ratio=10)
    system.shaft_friction("bearing", "slow", coulomb=1.0)
    run = kn.simulate(system, 1000.0, samples=11)
    assert [e.becomes for e in run.events] == ["sticks"]
    assert abs(run["fast.speed"][-1]) < 1e-30
    assert run.events[0].time == pytest.approx(10.0, rel=1e-9)
    assert run["fast.angle"][-1] == pytest.approx(5.0, rel=1e-9)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda s: s.moment_source("push", "shaft", moment="sin(t)"), "add a shaft_inertia"),
        (lambda s: s.shaft_spring("spring", "shaft", stiffness=2), "add a shaft_inertia"),
        (lambda s: s.speed_source("drive", "shaft", speed=2), "add a shaft_inertia"),
    ],
)
def test_friction_without_an_inertia_is_refused(build, words):
    system = plain()
    build(system)
    system.shaft_friction("bearing", "shaft", coulomb=1)
    with pytest.raises(kn.ModelError, match=words) as caught:
        kn.simulate(system, 1.0)
    assert caught.value.component == "bearing"


def test_two_that_stick_on_one_shaft_are_refused():
    system = oscillator()
    system.shaft_friction("second", "shaft", coulomb=1)
    with pytest.raises(kn.ModelError, match="bearing and second stick on one shaft"):
        kn.simulate(system, 1.0)


def test_a_joint_has_its_own_friction():
    system = plain()
    system.revolute("axis", system.world, system.body("arm", mass=1, inertia=(1, 1, 1)))
    system.shaft_friction("bearing", "axis", coulomb=1)
    with pytest.raises(kn.ModelError, match="joint axis by friction=") as caught:
        kn.simulate(system, 1.0)
    assert (caught.value.component, caught.value.field) == ("bearing", "a")


# -- gears that lock themselves --------------------------------------------------------------------
def hoist(efficiency, motor=0.0, load=-5.0, **fields):
    """A motor, a worm gear and a drum with a load that hangs on it."""
    system = plain()
    system.shaft_inertia("rotor", "motor", inertia=1e-3, initial_speed=0.0)
    system.shaft_inertia("drum", "out", inertia=0.05, initial_angle=0.0, initial_speed=0.0)
    gear = {"ratio": 20, "stiffness": 2000, "damping": 8, "efficiency": efficiency, **fields}
    system.worm_gear("worm", "motor", "out", **gear)
    system.moment_source("drive", "motor", moment=motor)
    system.moment_source("load", "out", moment=load)
    return system


@pytest.mark.parametrize("efficiency", [0.3, 0.5])
def test_a_load_that_hangs_on_a_gear_that_locks_itself_stays(efficiency):
    """The mesh gives by load/stiffness, and that is all."""
    system = hoist(efficiency)
    assert "locking by itself" in str(system.summary()) and "worm" in str(system.summary())
    run = kn.simulate(system, 3000.0, samples=5)
    assert not run.events
    np.testing.assert_allclose(run["motor.speed"], 0.0, atol=1e-20)  # rounding of the implicit method's equations
    np.testing.assert_allclose(run["motor.angle"], 0.0, atol=1e-16)
    assert run["worm.twist"][-1] == pytest.approx(5 / 2000, rel=1e-6)
    assert run["worm.friction"][-1] == pytest.approx(-5 / 20, rel=1e-6)
    assert (run["worm.self_locking"] == 1).all()


@pytest.mark.parametrize(("efficiency", "fields"), [(0.501, {}), (0.8, {}), (0.4, {"back_efficiency": 0.1})])
def test_above_the_threshold_the_load_runs_back(efficiency, fields):
    """(J ratio^2 + eta_b drum) a = eta_b load at the output, once the mesh is at ease."""
    system = hoist(efficiency, **fields)
    assert "locking by itself" not in str(system.summary())
    run = kn.simulate(system, 2.0, rtol=1e-10, atol=1e-12)
    back = fields.get("back_efficiency", 2 - 1 / efficiency)
    expected = -5 * back / (1e-3 * 400 + back * 0.05)
    u = run["out.speed"]
    rate = (u[-1] - u[len(u) // 2]) / (run.t[-1] - run.t[len(u) // 2])
    assert rate == pytest.approx(expected, rel=1e-6)
    assert (run["worm.self_locking"] == 0).all() and run["worm.mode"][-1] == -1


def test_efficiency_forward_and_back():
    """At a steady speed the share eta of the motor's power arrives, or eta_b of the load's."""
    forward, back = 0.6, 2 - 1 / 0.6
    system = plain()
    system.parameter("load", 5.0)
    system.parameter("speed", 30.0)
    system.shaft_inertia("rotor", "motor", inertia=1e-3, initial_angle=0.0, initial_speed="speed")
    system.shaft_inertia("drum", "out", inertia=0.05, initial_speed="speed/20")
    system.worm_gear("worm", "motor", "out", ratio=20, stiffness=2000, damping=8, efficiency=forward)
    system.shaft_damper("hold", "motor", "steady", damping=2.0)
    system.speed_source("drive", "steady", speed="speed")
    system.moment_source("weight", "out", moment="load")
    for load, speed, share in ((-5, 30, forward), (5, -30, forward), (-5, -30, back), (5, 30, back)):
        run = kn.simulate(system, 3.0, parameters={"load": load, "speed": speed}, rtol=1e-10, atol=1e-12)
        into = run["worm.input.moment"][-1] * run["motor.speed"][-1]
        out = -run["worm.output.moment"][-1] * run["out.speed"][-1]
        assert (out / into if into > 0 else into / out) == pytest.approx(share, rel=1e-7)
        assert run["worm.lost"][-1] == pytest.approx(into - out, rel=1e-6)


def test_a_hoist_that_is_switched_off_locks_itself():
    """Lifting, then no motor: friction and load bring it to rest, and it stays there."""
    system = hoist(0.4, motor="1.2*(t < 1)")
    fine = kn.simulate(system, 60.0, rtol=1e-11, atol=1e-13, max_step=0.05)
    for rtol in (1e-5, 1e-7, 1e-10):
        run = kn.simulate(system, 60.0, rtol=rtol, atol=rtol / 100, max_step=0.05)
        assert [e.becomes for e in run.events] == ["locks itself"]
        assert run.events[0].time == pytest.approx(fine.events[0].time, abs=200 * rtol)
        after = run["motor.angle"][run.t > run.events[0].time + 1e-9]
        assert np.ptp(after) == 0.0 and run["motor.speed"][-1] == 0.0
        assert (run["worm.lost"] >= -1e-12).all()  # where it locks, the speed has just passed zero


def test_a_gear_on_a_joint_holds_an_arm_against_its_weight():
    """The arm sinks by m g l/k and no further."""
    system = kn.System("arm", gravity=(0, 0, -9.81))
    arm = system.body("arm", mass=2.0, inertia=(0.01, 0.01, 0.01), com=(0.4, 0, 0))
    system.revolute("elbow", system.world, arm, axis="y")
    system.shaft_inertia("rotor", "motor", inertia=1e-4, initial_speed=0.0)
    system.worm_gear("worm", "motor", "elbow", ratio=50, stiffness=5000, damping=50, efficiency=0.35)
    run = kn.simulate(system, 20.0, rtol=1e-9, atol=1e-11)
    moment = 2 * 9.81 * 0.4 * np.cos(run["elbow.q"][-1])
    assert run["elbow.q"][-1] == pytest.approx(moment / 5000, rel=1e-6)
    assert not run.events and not run["motor.speed"].any()
