"""Brakes beside friction, stops and other brakes; released ones; those of slides. By hand, at rest and at breakaway."""

from __future__ import annotations

import numpy as np
import pytest

import kinode as kn

J = 0.5  # kg*m^2


def wheel(effort, **fields):
    system = kn.System("wheel", gravity=(0, 0, 0))
    body = system.body("disk", mass=1, inertia=(J, J, J))
    system.revolute("hub", system.world, body, axis="z", effort=effort, **fields)
    return system


def told(run):
    return [(event.component, event.was, event.becomes) for event in run.events]


FRICTION = kn.coulomb(effort=2.0, static_effort=3.0)


@pytest.mark.parametrize("way", [1, -1])
def test_friction_and_a_brake_hold_together_and_slide_together(way):
    """They hold up to 3 + 1.2 * 5, and slide with 2 + 5."""
    system = wheel(f"{way}*3*t", friction=FRICTION)
    system.brake("brake", "hub", 5.0, static_ratio=1.2)
    run = kn.simulate(system, 4.0, rtol=1e-10)
    word = "slides forward" if way > 0 else "slides back"
    assert told(run) == [("hub", "sticks", word), ("brake", "sticks", word)]
    assert run.events[0].time == run.events[1].time == pytest.approx(3.0, rel=1e-9)
    held = run.t < 3.0
    load, brake, friction = (way * run[x] for x in ("hub.effort.drive", "brake.moment", "hub.effort.friction"))
    np.testing.assert_allclose((brake + friction)[held], -load[held], rtol=1e-12)
    np.testing.assert_allclose(brake[held], -np.minimum(load[held], 6.0), rtol=1e-12)
    assert not run["hub.q"][held].any()
    assert run["hub.u"][-1] * way == pytest.approx((3 * (16 - 9) / 2 - 7 * 1) / J, rel=1e-8)


def test_what_a_brake_stops_friction_holds_too():
    system = wheel("1.5", friction=FRICTION, u=4.0)
    system.brake("brake", "hub", 5.0, command="where(t < 2, 1, 0)")
    run = kn.simulate(system, 3.0, rtol=1e-10)
    stops = 4 * J / (7 - 1.5)
    assert told(run) == [
        ("hub", "slides forward", "sticks"),
        ("brake", "slides forward", "sticks"),
        ("brake", "sticks", "is released"),
    ]
    assert [event.time for event in run.events] == pytest.approx([stops, stops, 2.0], rel=1e-9)
    assert run["hub.effort.friction"][-1] == pytest.approx(-1.5, rel=1e-12)
    assert run["hub.effort.friction"][np.searchsorted(run.t, 1.0)] == 0
    assert run["brake.moment"][-1] == 0


def test_two_brakes_hold_one_after_the_other():
    system = wheel("2*t")
    system.brake("one", "hub", 3.0)
    system.brake("two", "hub", 1.0)
    run = kn.simulate(system, 3.0)
    assert [event.time for event in run.events] == pytest.approx([2.0, 2.0], rel=1e-8)
    at = np.searchsorted(run.t, 1.9)
    load = 2 * run.t[at]
    assert (run["one.moment"][at], run["two.moment"][at]) == pytest.approx((-min(load, 3), -max(load - 3, 0)))


def test_what_is_pressed_on_its_end_is_held_by_that_and_friction_holds_it_when_it_is_pulled():
    system = wheel("4 - t", friction=FRICTION, stop={"upper": 0.0})
    run = kn.simulate(system, 8.0)
    assert told(run) == [("hub", "sticks", "slides back"), ("hub", "meets its upper end", "is free")]
    assert [event.time for event in run.events] == pytest.approx([7.0, 7.0], rel=1e-9)
    load, held = 4 - run.t, run.t < 7
    np.testing.assert_allclose(run["hub.effort.stop"][held], -np.maximum(load[held], 0), atol=1e-12)
    np.testing.assert_allclose(run["hub.effort.friction"][held], -np.minimum(load[held], 0), atol=1e-12)


def test_a_released_brake_has_no_events_and_holds_nothing():
    """A pendulum swings as it does without the brake; applied at its turn, the brake holds it there."""
    system = kn.System("arm", gravity=(0, -9.81, 0))
    body = system.body("arm", mass=2, com=(0, -0.5, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("shoulder", system.world, body, q=0.3)
    free = kn.simulate(system, 5.0, rtol=1e-10)
    system.parameter("on", 9.0)
    system.brake("brake", "shoulder", 20.0, command="where(t < on, 0, 1)")
    run = kn.simulate(system, 5.0, rtol=1e-10)
    assert run.events == () and not run["brake.moment"].any() and np.unique(run["brake.mode"]) == [2]
    assert run["shoulder.q"][-1] == pytest.approx(free["shoulder.q"][-1], rel=1e-7)
    run = kn.simulate(system, 5.0, parameters={"on": 0.2})
    assert [x[1:] for x in told(run)] == [("is released", "slides back"), ("slides back", "sticks")]
    rest = kn.equilibrium(system)
    assert rest.sticking == () and rest.values["shoulder.q"] == pytest.approx(0, abs=1e-9)
    assert kn.equilibrium(system, parameters={"on": -1.0}).sticking == ("brake",)


def test_a_brake_of_a_slide_stops_and_holds_a_block_on_an_incline():
    """It slides with 40 N against m g sin(a) = 9.81 N: a deceleration of 15.095 m/s^2."""
    system = kn.System("incline", gravity=(0, 0, -9.81))
    tilt = np.pi / 6
    block = system.body("block", mass=2)
    system.prismatic("rail", system.world, block, axis=(np.cos(tilt), 0, -np.sin(tilt)), u=3.0)
    system.slide_brake("brake", "rail", "40 N")
    run = kn.simulate(system, 1.0, rtol=1e-10)
    rate = (40 - 2 * 9.81 * 0.5) / 2
    assert run.events[0].time == pytest.approx(3 / rate, rel=1e-9)
    assert run["rail.q"][-1] == pytest.approx(3**2 / (2 * rate), rel=1e-9)
    assert run["brake.force"][-1] == pytest.approx(-9.81, rel=1e-12)
    with pytest.raises(kn.Error, match=r"rail is a prismatic joint.*slide_brake acts in those that slide"):
        system.brake("wrong", "rail", 1.0)
        kn.compile(system)


def linkage(**fields):
    """Two bars of 1 m and a plate between them, of which each point moves as the bars do: 4 kg*m^2 about the hinge."""
    system = kn.System("linkage", gravity=(0, 0, 0))
    plate = system.body("plate", mass=2, com=(0.1, 0.1, 0), inertia=(0.02, 0.02, 0.02))
    for name, at in (("low", 0.0), ("top", 0.2)):
        bar = system.body(name, mass=1, com=(0.0, 0, 0), inertia=(1, 1, 1))
        own = fields if name == "low" else {}
        system.revolute(f"hinge_{name}", system.world.at(0, at, 0), bar, axis="z", **own)
        system.revolute(f"pin_{name}", bar.at(1, 0, 0), plate.at(0, at, 0), axis="z")
    return system


def test_what_an_end_throws_back_in_a_loop_slides_back():
    system = linkage(friction=kn.coulomb(effort=4.0), stop={"upper": 0.35, "restitution": 0.5}, q=0.0, u=1.0)
    run = kn.simulate(system, 2.0, rtol=1e-10)
    meets = 1 - np.sqrt(1 - 2 * 0.35)
    back = 0.5 * (1 - meets)
    assert run.events[0].time == run.events[1].time == pytest.approx(meets, rel=1e-9)
    assert told(run)[1:] == [("hinge_low", "slides forward", "slides back"), ("hinge_low", "slides back", "sticks")]
    assert run.events[2].time == pytest.approx(meets + back, rel=1e-9)
    assert run["hinge_low.q"][-1] == pytest.approx(0.35 - back**2 / 2, rel=1e-8)


def test_a_brake_closes_on_a_moving_loop():
    system = linkage(q=0.0, u=1.0)
    system.brake("brake", "hinge_low", 4.0, command="where(t < 0.5, 0, 1)")
    run = kn.simulate(system, 2.0, rtol=1e-10)
    assert [x[1:] for x in told(run)] == [("is released", "slides forward"), ("slides forward", "sticks")]
    assert run["hinge_low.q"][-1] == pytest.approx(0.5 + 0.5, rel=1e-6)  # a law of time is seen within a step


def test_a_drive_works_against_friction_while_it_moves_and_alone_while_it_rests():
    system = wheel("0", friction=FRICTION)
    system.brake("brake", "hub", 5.0)
    t = np.array([0.5, 1.2, 1.8, 2.0, 2.5, 3.2, 3.8, 4.5])
    run = kn.inverse(system, t, {"hub": "smoothstep(t, 1, 2) - smoothstep(t, 3, 4)"})
    way = np.array([0, 1, 1, 0, 0, -1, -1, 0])
    u_dot = np.where((t % 2 > 1) & (t < 4), np.sign(2.5 - t) * (6 - 12 * (t % 1)), 0.0)
    np.testing.assert_allclose(run["hub.effort.friction"], -2.0 * way, atol=1e-12)
    np.testing.assert_allclose(run["brake.moment"], -5.0 * way, atol=1e-12)
    np.testing.assert_allclose(run["hub.effort.drive"], 7.0 * way + J * u_dot, atol=1e-9)


def test_three_arms_between_stops_with_friction_gain_nothing_and_come_to_rest_to_the_last_bit():
    """Hundreds of impacts and reversals; hanging, all arms press on their lower ends."""
    system = kn.System("arms", gravity=(0, -9.81, 0))
    last = system.world
    ends = {"lower": -0.5, "upper": 0.5, "restitution": 0.4}
    for k in range(3):
        body = system.body(f"arm{k}", mass=1, com=(0.25, 0, 0), inertia=(0.01, 0.02, 0.02))
        system.revolute(f"j{k}", last, body, q=0.3, stop=ends, friction=kn.coulomb(effort=0.02))
        last = body.at(0.5, 0, 0)
    run = kn.simulate(system, 3.0)
    q, u, z = np.split(run.y, [3, 6], axis=1)
    energy = np.sum(run.dynamics.energy(run.t, q, u, z=z), axis=-1)
    assert len(run.events) > 200 and np.diff(energy).max() < 1e-12 * abs(energy).max()
    assert not run.y[-1, 3:6].any()
    angles = -0.5 * np.arange(1, 4)
    levers = [
        9.81 * sum(0.5 * np.cos(angles[k:i]).sum() + 0.25 * np.cos(angles[i]) for i in range(k, 3)) for k in range(3)
    ]
    assert [run[f"j{k}.effort.stop"][-1] for k in range(3)] == pytest.approx(levers, rel=1e-9)


def test_every_derivation_knows_brakes_and_bristles():
    system = wheel("1", friction=kn.coulomb(0.1, radius=0.05, effort=0.3), stop={"upper": 0.5})
    system.gravity = (0, -9.81, 0)
    block = system.body("block", mass=1, com=(0.1, 0.2, 0))
    system.prismatic("rail", system.bodies["disk"].at(0.2, 0, 0), block, axis="x")
    system.brake("brake", "hub", 2.0)
    system.slide_brake("claw", "rail", 3.0, command="1 - 0.1*t")
    fields = {"sliding": 1.0, "static": 1.5, "stribeck_speed": 0.1, "stiffness": 100.0, "damping": 1.0}
    system.slide_lugre("rub", "rail", **fields)
    assert kn.verify(system, 3, compiled=False).ok
