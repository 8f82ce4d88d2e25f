"""Drives: the same as rotor, shaft and gear written by hand, and their errors."""

import numpy as np
import pytest

import kinode as kn


def arm(axis="y"):
    system = kn.System("arm")
    link = system.body("link", mass=2, com=(0.3, 0, 0), inertia=(0.01, 0.06, 0.06))
    system.revolute("shoulder", system.world, link, axis=axis, damping=0.2)
    return system


def by_hand():
    system = arm()
    rotor = system.body("motor.rotor", mass=0.4, com=(0, 0.02, 0), inertia=(2e-4, 3e-4, 2e-4))
    system.revolute("motor.shaft", system.world.at(0, 0.1, 0), rotor, axis="y", effort="2*sin(t)")
    system.constraint("motor.gear", "gear", input="motor.shaft", output="shoulder", ratio=-30)
    return system


def test_a_drive_is_what_one_would_write_by_hand():
    system = arm()
    fields = {"mass": 0.4, "com": (0, 0.02, 0), "inertia": (3e-4, 2e-4), "effort": "2*sin(t)"}
    shaft = system.drive("motor", "shoulder", ratio=-30, on=system.world.at(0, 0.1, 0), **fields)
    assert shaft.name == "motor.shaft"
    assert system == by_hand()


def test_files(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text("""
kinode: 1
name: arm
bodies: {link: {mass: 2, com: [0.3, 0, 0], inertia: [0.01, 0.06, 0.06]}}
joints: {shoulder: {kind: revolute, between: [world, link], axis: y, damping: 0.2}}
drives:
  motor: {joint: shoulder, ratio: -30, on: {body: world, at: [0, 0.1, 0]}, mass: 0.4, com: [0, 0.02, 0],
          inertia: [3e-4, 2e-4], effort: 2*sin(t)}
""")
    system = kn.load(path)
    assert system == by_hand()
    system.save(tmp_path / "again.yaml")
    assert kn.load(tmp_path / "again.yaml") == system


def test_a_slanting_axis_turns_the_rotor_with_it():
    """About any axis the rotor adds ratio^2 times its axial inertia, whatever the transverse one is."""
    e = np.array([1.0, 2.0, -2.0]) / 3
    plain, driven = arm(tuple(e)), arm(tuple(e))
    driven.drive("motor", "shoulder", ratio=20, inertia=(5e-4, 4e-4))
    masses = [kn.compile(system).mass_matrix(0, [0.7])[0, 0] for system in (plain, driven)]
    assert masses[1] - masses[0] == pytest.approx(400 * 5e-4, rel=1e-12)
    J = driven["motor.rotor"].inertia
    tensor = np.array([[J[0], J[3], J[4]], [J[3], J[1], J[5]], [J[4], J[5], J[2]]])
    assert tensor == pytest.approx(4e-4 * np.eye(3) + 1e-4 * np.outer(e, e))


def test_a_spindle_drives_a_slide():
    """A motor that turns 200 rad for each meter: 200^2 J are felt as mass."""
    system = kn.System("feed")
    system.prismatic("slide", system.world, system.body("table", mass=50), axis="x")
    system.drive("motor", "slide", ratio="200", inertia=1e-3, effort=1.5)
    assert kn.compile(system).acceleration(0, [0.0], [0.0]) == pytest.approx([200 * 1.5 / (50 + 200**2 * 1e-3)])


WRONG = [
    ({"joint": "sholder"}, "motor.joint: no joint is called 'sholder'; did you mean shoulder?"),
    ({"ratio": None}, "motor.ratio: is needed and was not given"),
    ({"ratio": 0}, "motor.gear.ratio: must not be zero"),
    ({"inertia": (1, 2, 3)}, "motor.inertia: "),
    ({"inertia": (3, 1)}, "motor.rotor.inertia: no body has it"),
    ({"inertia": "1 kg"}, "motor.inertia: 1 kg is a mass"),
    ({"speed": 3}, "motor.speed: a drive has no field 'speed'"),
    ({"on": "link"}, "motor.on: is on link, which shoulder moves; a drive is carried by the other side"),
    ({"on": "pole"}, "motor.axis: is needed: the axes of pole are not those in which shoulder has its own"),
    ({"joint": "float"}, "motor.joint: float has 6 freedoms; a drive turns a joint with one"),
]


@pytest.mark.parametrize(("fields", "message"), WRONG)
def test_wrong_drives_are_refused_and_leave_nothing_behind(fields, message):
    system = arm()
    system.body("pole", mass=1, inertia=(1, 1, 1))
    system.free("float", system.world, system["pole"])
    before = system.copy()
    with pytest.raises(kn.Error) as caught:
        system.drive("motor", **{"joint": "shoulder", "ratio": 10, "inertia": 1e-3, **fields})
    assert message in str(caught.value)
    assert system == before
