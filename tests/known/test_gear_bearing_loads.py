"""Bearing loads of gears, from textbooks and by hand.

Budynas, Nisbett, *Shigley's Mechanical Engineering Design* (McGraw-Hill, 9th edition), chapter 13: example 13-7, forces
on an idler; example 13-9, bearings of a shaft with an overhung helical pinion.  The book's numbers have three digits,
some from rounded ones, and are compared to the last of them.  The other cases are equilibria of a few lines.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinode as kn

LBF, INCH, HP = 4.4482216, 0.0254, 745.7
MM = 1e-3
RADIAL = np.tan(np.radians(20.0))


def wheel(system, name, radius):
    return system.body(name, mass=1.0, inertia=(radius**2, radius**2, radius**2))


def still(system, **fields):
    """One state of a system that runs steadily."""
    return kn.simulate(system, 1e-3, samples=2, **fields)


def test_an_idler_of_shigley_example_13_7():
    """2.5 kW at 1750 rpm, 20 degrees, module 2.5 mm, 20 and 50 teeth: the idler's shaft takes 0.347 kN in x and y."""
    power, speed = 2500.0, 1750 * 2 * np.pi / 60
    system = kn.System("idler", gravity=(0, 0, 0))
    r2, r3, r4 = (teeth * 2.5 * MM / 2 for teeth in (20, 50, 30))
    places = {"gear2": (0, -(r2 + r3), 0), "gear3": (0, 0, 0), "gear4": (-(r3 + r4), 0, 0)}
    for (name, place), radius in zip(places.items(), (r2, r3, r4), strict=True):
        fields = {"gear2": {"speed": speed}, "gear4": {"effort": -power / (speed * 20 / 30)}}.get(name, {})
        system.revolute(f"shaft{name[-1]}", system.world.at(*place), wheel(system, name, radius), **fields)
    teeth = {"pressure_angle": "20 deg"}
    system.constraint("mesh23", "gear", input="shaft3", output="shaft2", ratio=-20 / 50, **teeth)
    system.constraint("mesh34", "gear", input="shaft4", output="shaft3", ratio=-50 / 30, **teeth)
    run = still(system)
    on_3 = run["mesh23.on.gear3.force"][0] / 1e3
    assert on_3 == pytest.approx([-0.546, 0.199, 0], abs=5e-4)
    assert np.linalg.norm(on_3) == pytest.approx(0.581, abs=5e-4)
    assert run["mesh34.on.gear3.force"][0] / 1e3 == pytest.approx([0.199, -0.546, 0], abs=5e-4)
    shaft = run.reaction("shaft3")
    assert shaft.force[0] / 1e3 == pytest.approx([0.347, 0.347, 0], abs=5e-4)
    assert shaft.moment[0] == pytest.approx(np.zeros(3), abs=1e-9)
    assert shaft.left_out == ()


def test_a_helical_pinion_of_shigley_example_13_9():
    """1 hp at 1800 rpm, pressure angle 20 degrees, helix 30 degrees; bearings at 0 and 10 in, pinion at 13 in."""
    speed = 1800 * 2 * np.pi / 60
    r = 18 / (12 * np.cos(np.radians(30.0))) / 2 * INCH
    system = kn.System("motor shaft", gravity=(0, 0, 0))
    pinion, gear = wheel(system, "pinion", r), wheel(system, "gear", 2 * r)
    system.revolute("motor", system.world, pinion, axis="x", effort=-HP / speed)
    system.revolute("load", system.world.at(0.5, 3 * r, 0), gear, axis="x", speed=speed / 2)
    teeth = {"pressure_angle": "20 deg", "helix_angle": "30 deg", "mesh_at": 13 * INCH}
    system.constraint("mesh", "gear", input="motor", output="load", ratio=-2, **teeth)
    run = still(system)
    force = run["mesh.on.pinion.force"][0] / LBF
    assert force == pytest.approx([-23.3, -17.0, 40.4], abs=0.05)
    assert np.linalg.norm(force) == pytest.approx(49.6, abs=0.1)
    A, B = run.bearings("motor", at=(0, 10 * INCH))
    assert A.force[0] / LBF == pytest.approx([23.3, -3.1, 12.1], abs=0.1)
    assert B.force[0] / LBF == pytest.approx([0, 20.1, -52.5], abs=0.1)


@pytest.mark.parametrize("turn", [1.0, -1.0], ids=["ahead", "back"])
def test_teeth_push_wheels_apart_whichever_flank_carries(turn):
    """An external pair on the x axis: radial forces do not change with the torque, the others change their sign."""
    system = kn.System("pair", gravity=(0, 0, 0))
    system.revolute("small", system.world, wheel(system, "a", 0.1), effort=5.0 * turn)
    system.revolute("large", system.world.at(0.3, 0, 0), wheel(system, "b", 0.2), speed=0)
    system.constraint("mesh", "gear", input="small", output="large", ratio=-2, pressure_angle="20 deg", helix_angle=0.2)
    run, F_t = still(system), 50.0
    radial, axial = F_t * RADIAL / np.cos(0.2), F_t * np.tan(0.2)
    expected = np.array([-radial, -F_t * turn, axial * turn])  # on a: away from b, against its motion, along the axis
    assert run["mesh.on.a.force"][0] == pytest.approx(expected)
    assert run["small.reaction.force"][0] == pytest.approx(-expected)
    assert run["large.reaction.force"][0] == pytest.approx(expected)
    assert run["large.reaction.moment"][0] == pytest.approx([0, axial * turn * 0.2, 0])  # axial force at x = -0.2
    assert run["small.reaction.radial"][0] == pytest.approx(np.hypot(radial, F_t))


def planetary():
    """A sun of 50, a planet of 50 and a ring of 150 mm; the ring is part of the world, the sun is held."""
    system = kn.System("planetary", gravity=(0, 0, 0))
    carrier, planet = wheel(system, "carrier", 0.1), wheel(system, "planet", 0.05)
    system.revolute("main", system.world, carrier, speed=0)
    system.revolute("pin", carrier.at(0.1, 0, 0), planet)
    system.revolute("sun", carrier, wheel(system, "inner_wheel", 0.05), effort=2.0)
    teeth = {"pressure_angle": "20 deg", "helix_angle": 0.3}
    system.constraint("ring", "gear", input="pin", output="main", ratio=-3, **teeth)
    system.constraint("inner", "gear", input="sun", output="pin", ratio=-1, **{**teeth, "helix_angle": -0.3})
    return system


def test_a_planet_between_sun_and_ring():
    """Both tangential forces add up on the pin, radial and axial ones cancel; the axial ones tilt the planet."""
    run, F_t = still(planetary()), 2.0 / 0.05
    sun, ring = run["inner.on.planet.force"][0], run["ring.on.planet.force"][0]
    assert sun == pytest.approx([F_t * RADIAL / np.cos(0.3), F_t, F_t * np.tan(0.3)])
    assert ring == pytest.approx([-sun[0], F_t, -sun[2]])
    assert run["ring.on.world.force"][0] == pytest.approx(-ring)
    pin = run.reaction("pin")
    assert pin.force[0] == pytest.approx([0, -2 * F_t, 0])
    assert pin.moment[0] == pytest.approx([0, -2 * 0.05 * sun[2], 0])
    assert run["main.effort.drive"][0] == pytest.approx(-0.15 * F_t)  # the carrier is held against the ring's torque


def test_a_rack_lifts_off_its_pinion():
    """A pinion below a rack along x: it pushes the rack along and up, the rack tilts in its guide."""
    system = kn.System("rack", gravity=(0, 0, 0))
    system.prismatic("guide", system.world.at(0, 0.1, 0), wheel(system, "bar", 1.0), axis="x", motion="0")
    system.revolute("axle", system.world.at(0.3, 0.02, 0), wheel(system, "pinion", 0.05), effort=-4.0)
    system.constraint("mesh", "rack", rack="guide", pinion="axle", radius=-0.08, pressure_angle="20 deg")
    run, F_t = still(system), 50.0
    assert run["mesh.on.bar.force"][0] == pytest.approx([F_t, F_t * RADIAL, 0])
    guide = run.reaction("guide")
    assert guide.force[0] == pytest.approx([0, -F_t * RADIAL, 0])
    assert guide.moment[0] == pytest.approx([0, 0, -0.3 * F_t * RADIAL])
    assert run["guide.effort"][0] == pytest.approx(0.0, abs=1e-9)
    assert run["axle.reaction.force"][0] == pytest.approx([F_t, F_t * RADIAL, 0])
