"""Joints that move no inertia, alone or by gears: an error of forward dynamics, never a NaN; little inertia is some."""

import numpy as np
import pytest

import kinode as kn


def hand(*masses):
    """A palm with three fingers of so much mass; two of them follow the first."""
    system = kn.System("hand")
    palm = system.body("palm", mass=1.0, inertia=(0.01, 0.01, 0.01))
    system.revolute("wrist", system.world, palm)
    for i, mass in enumerate(masses):
        inertia = (1e-5 * mass,) * 3
        finger = system.body(f"finger{i}", mass=mass, com=(0.03, 0, 0) if mass else (0, 0, 0), inertia=inertia)
        system.revolute(f"knuckle{i}", palm.at(0.1, 0.02 * i, 0), finger)
    for i in (1, 2):
        system.gear(f"mimic{i}", f"knuckle{i}", "knuckle0", ratio=0.5)
    return system


def test_fingers_without_mass_are_named():
    dynamics = kn.compile(hand(0.0, 0.0, 0.0))
    q, u = np.zeros(2), np.zeros(2)
    with pytest.raises(kn.ModelError, match=r"knuckle0: finger0 and 2 more bodies .* have no mass"):
        dynamics.acceleration(0.0, q, u)
    assert np.isfinite(dynamics.effort(0.0, q, u, np.ones(2))).all()  # inverse dynamics is possible


def test_one_finger_with_mass_is_enough():
    dynamics = kn.compile(hand(0.0, 0.0, 1e-6))
    assert np.isfinite(dynamics.acceleration(0.0, np.zeros(2), np.ones(2))).all()


KINDS = {
    "revolute": ({"axis": "z"}, "body.angular_velocity.z"),
    "prismatic": ({"axis": "x"}, "body.velocity.x"),
    "spherical": ({}, "body.angular_velocity.z"),
    "planar": ({"axis": "z"}, "body.angular_velocity.z"),
    "free": ({}, "body.angular_velocity.z"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("mass", "inertia"), [(1.0, 1e-19), (1e-18, 1e-36), (1e12, 1e-12)])
def test_how_much_inertia_is_enough_is_no_question_of_units(kind, mass, inertia):
    """A moment as large as the inertia gives 1 rad/s^2, a force as large as the mass 1 m/s^2; in every derivation."""
    options, quantity = KINDS[kind]
    for carried in (False, True):
        system = kn.System("light", gravity=(0, 0, 0))
        body, carrier = system.body("body", mass=mass, inertia=(inertia,) * 3), system.world
        if carried:
            carrier = system.body("carrier", mass=1000.0, inertia=(100.0,) * 3)
            system.fixed("base", system.world, carrier)
        system.joint("pin", kind, carrier.at(0.3 * carried, 0.2 * carried, 0), body, **options)
        system.moment("turn", body, (0, 0, inertia))
        system.force("push", body, (mass, 0, 0))
        assert kn.simulate(system, 1.0)[quantity][-1] == pytest.approx(1.0, rel=1e-9)
        assert carried or kn.verify(system, 1).ok


@pytest.mark.parametrize("inertia", [0.0, 1e-19])
def test_inertia_that_cancels_is_none(inertia):
    """Two hinges on one axis: what the inner one carries turns freely, whatever its inertia."""
    system = kn.System("twice")
    inner = system.body("inner")
    outer = system.body("outer", mass=1.0, inertia=(0.3, 0.3, 0.3 + inertia))
    system.revolute("first", system.world, inner, axis="z")
    system.revolute("second", inner, outer, axis="z")
    with pytest.raises(kn.ModelError, match="first: inner has no mass, and nothing that it carries resists"):
        kn.compile(system).acceleration(0.0, [0.1, 0.2], [0.0, 0.0])


@pytest.mark.parametrize("axis", ["x", (1, 1, 0)])
def test_a_rod_without_inertia_about_its_axis_is_named(axis):
    system = kn.System("rod")
    rod = system.body("rod", shape=kn.rod(length=1.0, mass=2.0, axis="x") if axis == "x" else None, **(
        {} if axis == "x" else {"mass": 2.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.2, "xy": -0.1}}
    ))  # fmt: skip
    system.revolute("bearing", system.world, rod, axis=axis)
    with pytest.raises(kn.ModelError, match="bearing: rod has no inertia about its axis"):
        kn.compile(system).acceleration(0.0, [0.1], [0.0])


def test_inertia_that_is_lost_beside_what_is_carried_is_told_by_its_size():
    """A ball joint at 1 m from one that carries 1 kg: about that line only the body's own inertia resists.

    Beside the 1 kg m^2 across the line, 1e-13 kg m^2 are five hundred times the rounding of a double, 1e-19 are lost.
    """

    def pair(inertia):
        system = kn.System("pair", gravity=(0, -9.81, 0))
        body, end = (system.body(name, mass=1.0, inertia=(inertia,) * 3) for name in ("body", "end"))
        system.spherical("pin", system.world, body)
        system.spherical("ball", body.at(1, 0, 0), end)
        return system

    assert kn.simulate(pair(1e-13), 0.1).status == "done"
    with pytest.raises(kn.ModelError, match="no inertia about its axis beyond 1e-14 of that of what it carries"):
        kn.simulate(pair(1e-19), 0.1)
