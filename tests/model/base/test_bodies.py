"""Mass properties of bodies, given or from a shape."""

import math

import pytest

import kinode as kn
from kinode.formats.yaml_files import dumps


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
    with pytest.raises(kn.ModelError, match=r"ball\.shape: the shape has a mass or density"):
        system.body("ball", mass=1.0, shape=kn.sphere(radius=0.1, mass=2.0))


PLANES = {"xx": ("x", (0.2, 0.3)), "yy": ("y", (0.1, 0.3)), "zz": ("z", (0.1, 0.2))}


def hinged(axis, mass, com, **fields):
    """The moment of inertia that a hinge at the origin feels."""
    system = kn.System("plate", gravity=(3, -9.81, 5))
    plate = system.body("plate", mass=mass, com=com, **fields)
    system.revolute("pin", system.world, plate, axis=axis)
    return system, kn.compile(system).mass_matrix(0.0, [0.4])[0, 0]


@pytest.mark.parametrize("entry", PLANES)
def test_one_moment_about_the_origin_is_what_a_hinge_there_feels(entry):
    """Huygens and Steiner: J - m d^2 about the mass center, the other two are half of that, with their own d^2."""
    own, com, mass, J = PLANES[entry][0], (0.1, 0.2, 0.3), 2.0, 0.5
    central = J - mass * sum(x * x for x in PLANES[entry][1])
    for axis, offsets in PLANES.values():
        system, felt = hinged(axis, mass, com, inertia={entry: J}, about="origin")
        half = central if axis == own else central / 2
        assert felt == pytest.approx(half + mass * sum(x * x for x in offsets), rel=1e-14)
    assert kn.verify(system).ok
    assert system.bodies["plate"].about == "com" and "about its mass center" in " ".join(system.summary().split())


def test_one_moment_about_the_origin_follows_its_parameters_and_is_written_as_given():
    """The period of a physical pendulum: 2 pi sqrt(J / (m g a)) with J about its pivot, whatever else is not known."""
    system = kn.System("pendulum", gravity=(0, -9.81, 0))
    m, a, J = system.parameter("m", 2.0), system.parameter("a", 0.3), system.parameter("J", 0.5)
    bar = system.body("bar", mass=m, com=(0, -a, 0), inertia={"zz": J}, about="origin")
    system.revolute("pin", system.world, bar, axis="z")
    assert str(kn.equations(system)).splitlines()[-1].strip() == "J*u_dot_pin + 9.81*a*m*sin(q_pin) = 0"
    for model in (system, system.copy(), kn.loads(dumps(system))):
        for values in ({}, {"J": 0.7}, {"m": 1.0, "a": 0.5}):
            p = {"m": 2.0, "a": 0.3, "J": 0.5} | values
            (mode,) = kn.linearize(model, parameters=values).eigenvalues[:1]
            assert abs(mode.imag) == pytest.approx(math.sqrt(p["m"] * 9.81 * p["a"] / p["J"]), rel=1e-9)
    assert "{zz: J}, about: origin" in dumps(system)
    with pytest.raises(kn.ModelError, match=r"bar\.inertia: .* it is at least m \(x\^2 \+ y\^2\) = 0\.18 kg\*m\^2"):
        kn.simulate(system, 0.1, parameters={"J": 0.1})


@pytest.mark.parametrize("entry", PLANES)
def test_one_moment_about_the_origin_is_at_least_that_of_the_mass_center(entry):
    axis, offsets = PLANES[entry]
    least = 2.0 * sum(x * x for x in offsets)
    for J in (least, least * (1 + 1e-15), least * (1 - 1e-15)):  # a point mass, whatever rounds
        system, felt = hinged(axis, 2.0, (0.1, 0.2, 0.3), inertia={entry: J}, about="origin")
        assert felt == pytest.approx(least, rel=1e-14) and not any(system.bodies["plate"].inertia)
    for J in (0.99 * least, 0.0, -least):
        with pytest.raises(
            kn.ModelError, match=rf"plate\.inertia: no body has it: {entry} about the origin is .* = {least:g} kg"
        ):
            hinged(axis, 2.0, (0.1, 0.2, 0.3), inertia={entry: J}, about="origin")
