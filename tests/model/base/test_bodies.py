"""Mass properties of bodies, given or from a shape."""

import math

import pytest

import kinode as kn
from kinode.errors import ModelError


def test_a_body_from_a_shape_has_its_mass_center_and_inertia():
    system = kn.System("wheel")
    wheel = system.body("wheel", shape=kn.cylinder(radius=0.1, length=0.2, density=1000, at=(0, 0, 0.3)))
    mass = 1000 * math.pi * 0.1**2 * 0.2
    assert wheel.mass == pytest.approx(mass, rel=1e-14)
    assert wheel.center_of_mass == pytest.approx((0, 0, 0.3)) and wheel.about == "com"
    assert wheel.inertia[2] == pytest.approx(mass * 0.1**2 / 2, rel=1e-14)
    assert f"mass={wheel.mass!r}" in repr(wheel)


def test_the_mass_of_a_shape_follows_its_parameter_and_changes():
    system = kn.System("ball")
    m = system.parameter("m", "2 kg")
    ball = system.body("ball", shape=kn.sphere(radius=0.1, mass=m))
    assert system.nominal(ball.mass) == 2.0
    heavier = system.change("ball", shape=kn.sphere(radius=0.1, mass=5.0))
    assert heavier.mass == 5.0
    plain = system.change("ball", shape=None, mass=3.0, inertia=(0.1, 0.1, 0.1))
    assert plain.mass == 3.0 and plain.inertia[:3] == (0.1, 0.1, 0.1)


def test_mass_beside_a_shape_that_has_one_is_refused():
    system = kn.System("ball")
    with pytest.raises(ModelError, match=r"ball\.shape: the shape has a mass or density"):
        system.body("ball", mass=1.0, shape=kn.sphere(radius=0.1, mass=2.0))
