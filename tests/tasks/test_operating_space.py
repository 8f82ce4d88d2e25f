"""Which rotations and translations bodies have, the class of the whole, and who gives the motion."""

from pathlib import Path

import pytest

import kinode as kn
import loop_models as models

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def two_segments(**first):
    """The manipulator of component circuits: a velocity source in the first joint, a damper in the second."""
    system = kn.System("manipulator", gravity=(0, 0, 0))
    one = system.body("SB1", mass=8, com=(0.28, 0.01, 0), inertia={"zz": 0.27})
    two = system.body("SB2", mass=5, com=(0.22, -0.015, 0), inertia={"zz": 0.11})
    system.revolute("KN1", system.world, one, **(first or {"q": 0.3, "speed": "1.2*sin(0.8*t) + 0.5*cos(1.7*t)"}))
    system.revolute("KN2", one.at(0.6, 0.03, 0), two, q=0.9, u=-0.4, damping=0.8)
    return system


def test_the_planar_arm_is_of_class_three():
    found = kn.operating_space(two_segments())
    assert str(found.whole) == "P3 = (Tx ∩ Ty) ∩ Rz"
    assert (found.whole.name, found.whole.short, found.whole.word) == ("P3", "(Tx, Ty) Rz", "planar motion")
    assert {name: space.freedoms for name, space in found.bodies.items()} == {"SB1": 1, "SB2": 2}
    assert [(j.pair, j.space.short, j.mode) for j in found.joints.values()] == [
        ("V", "Rz", "kinematic"),
        ("V", "Rz", "dynamic"),
    ]
    assert found.joints["KN1"].source.startswith("velocity source 1.2*sin(0.8*t)")
    assert (found.mode, found.driven, found.free) == ("dynamic", 1, 1)


CLASSES = {
    "rotation": ("Rz", "P1", lambda s, b: s.revolute("j", s.world, b)),
    "translation": ("Tx", "P1", lambda s, b: s.prismatic("j", s.world, b, axis="x")),
    "oblique slide": ("Tx, Ty", "P2", lambda s, b: s.prismatic("j", s.world, b, axis=(0.6, 0.8, 0))),
    "screw": ("Tz Rz", "P2", lambda s, b: s.screw("j", s.world, b, lead=0.01)),
    "plane": ("(Ty, Tz) Rx", "P3", lambda s, b: s.planar("j", s.world, b, axis="x")),
    "ball": ("Rx, Ry, Rz", "P3", lambda s, b: s.spherical("j", s.world, b)),
    "free": ("(Tx, Ty, Tz) (Rx, Ry, Rz)", "P6", lambda s, b: s.free("j", s.world, b)),
    "weld": ("none", "P0", lambda s, b: s.fixed("j", s.world, b)),
}


@pytest.mark.parametrize("name", CLASSES)
def test_one_body_by_its_joint(name):
    short, number, join = CLASSES[name]
    system = kn.System("one")
    join(system, system.body("b", mass=1, inertia=(1, 1, 1)))
    found = kn.operating_space(system)
    assert (found.whole.short, found.whole.name) == (short, number)
    assert found.bodies["b"].freedoms == found.whole.freedoms == system["j"].n_u
    assert found.mode == ("rest" if name == "weld" else "dynamic")


def test_the_mass_center_decides_about_translations():
    system = kn.System("pendulum")
    system.revolute("hinge", system.world, system.body("bob", mass=1, com=(0, 0, -1)), axis="y")
    assert kn.operating_space(system).whole.short == "(Tx, Tz) Ry"


def test_axes_of_another_frame():
    system = kn.System("ramp")
    system.prismatic("slide", system.world, system.body("cart", mass=1), axis=(0.6, 0, 0.8))
    system.world.at(0, 0, 0, matrix=((0.6, 0, -0.8), (0, 1, 0), (0.8, 0, 0.6)), name="ramp")
    assert kn.operating_space(system).whole.short == "Tx, Tz"
    seen = kn.operating_space(system, expressed_in="world.ramp")
    assert (seen.whole.short, seen.axes) == ("Tx", "world.ramp")
    with pytest.raises(kn.ModelError, match="ramp2"):
        kn.operating_space(system, expressed_in="world.ramp2")


def test_loops_take_motion_away():
    """Balls and cylinders in a planar loop move as hinges do; its drive gives all of it."""
    found = kn.operating_space(models.four_bar("spherical", "cylindrical"))
    assert found.whole.short == "(Tx, Ty) Rz"
    assert {name: j.space.short for name, j in found.joints.items()} == dict.fromkeys(("j1", "j2", "j3", "j4"), "Rz")
    assert {name: j.pair for name, j in found.joints.items()} == {"j1": "V", "j2": "III", "j3": "IV", "j4": "V"}
    assert (found.mode, found.free) == ("dynamic", 1)
    driven = kn.operating_space(models.four_bar("spherical", "cylindrical", drives={"j1": "0.9 + 2*t"}))
    assert (driven.mode, driven.driven, driven.free) == ("kinematic", 1, 0)
    assert {j.mode for j in driven.joints.values()} == {"kinematic"}
    assert driven.joints["j3"].source == "the drives of its loop"
    assert driven.whole == found.whole


def test_a_singular_start_is_not_the_measure():
    found = kn.operating_space(models.four_bars(2, angle=-1.5707963267948966))
    assert found.whole.freedoms == found.free == 1


def test_constant_laws_hold_and_gears_follow():
    held = kn.operating_space(two_segments(motion=0.3))
    assert held.joints["KN1"].mode == "rest"
    assert held.bodies["SB1"].name == "P0"
    assert (held.driven, held.free) == (0, 1)
    assert kn.operating_space(two_segments(q=0.3, speed=0.0)).joints["KN1"].mode == "rest"
    system = two_segments()
    rotor = system.body("rotor", mass=0.1, inertia=(1e-4, 1e-4, 2e-4))
    system.revolute("shaft", system.world, rotor)
    system.constraint("wheels", "gear", input="shaft", output="KN1", ratio=20)
    found = kn.operating_space(system)
    assert found.joints["shaft"].mode == "kinematic"
    assert "gear wheels" in found.joints["shaft"].source
    assert found.bodies["rotor"].short == "Rz"


def test_drives_in_some_directions():
    system = kn.System("table", gravity=(0, 0, 0))
    plate = system.body("plate", mass=1, inertia=(1, 1, 1))
    system.planar("guide", system.world, plate, motion=("0.1*sin(t)", 0.2, 0.0))
    found = kn.operating_space(system)
    assert (found.whole.short, found.mode, found.driven) == ("Tx", "kinematic", 1)
    free = kn.System("flight", gravity=(0, 0, 0))
    craft = free.body("craft", mass=1, inertia=(1, 1, 1))
    free.free("way", free.world, craft, position=(1, 2, 3), speed=("1 + t", 0, 0, 0, 0, 0))
    assert kn.operating_space(free).whole.freedoms == 1


@pytest.mark.parametrize(
    ("file", "whole", "mode"),
    [
        ("slider_crank", "(Tx, Ty) Rz", "kinematic"),
        ("gyroscope", "Rx, Ry, Rz", "dynamic"),
        ("excavator", "(Tx, Ty, Tz) (Rx, Ry, Rz)", "dynamic"),
    ],
)
def test_examples(file, whole, mode):
    found = kn.operating_space(EXAMPLES / f"{file}.yaml")
    assert (found.whole.short, found.mode) == (whole, mode)
    assert kn.operating_space(kn.compile(kn.load(EXAMPLES / f"{file}.yaml"))) == found


def test_printed():
    lines = str(kn.operating_space(two_segments())).splitlines()
    assert lines[0] == "manipulator: P3 = (Tx ∩ Ty) ∩ Rz, planar motion, in the axes of the world"
    assert lines[1] == "mode: dynamic, 1 freedom by forces and 1 freedom given by laws"
    assert lines[4].split() == ["SB1", "P3", "(Tx,", "Ty)", "Rz", "1"]
    assert lines[-1].split() == ["KN2", "V", "Rz", "dynamic", "damper"]
    with pytest.raises(kn.ArgumentError, match="a System, a compiled one or a file"):
        kn.operating_space(3)
