"""Fields that are not there and fields that are missing: told with what there is, from Python and from files."""

import pytest

import kinode as kn
from kinode.formats.yaml_files import loads

HINGE = "kinode: 1\nbodies: {arm: {mass: 1}}\njoints:\n  pin: {kind: revolute, between: [world, arm], %s}\n"


def hinge(**fields):
    system = kn.System("s")
    return system.revolute("pin", system.world, system.body("arm", mass=1), **fields)


@pytest.mark.parametrize("make", [lambda **f: hinge(**f), lambda **f: loads(HINGE % ", ".join(f"{k}: 1" for k in f))])
def test_an_unknown_field_is_answered_with_the_fields_there_are(make):
    with pytest.raises(kn.ModelError) as caught:
        make(stifness=1)
    assert caught.value.component == "pin" and caught.value.field == "stifness"
    words = "a revolute has no field 'stifness'; did you mean stiffness? Its fields are a, b, at, q, u, guess, motion"
    assert words in str(caught.value)
    with pytest.raises(kn.ModelError, match=r"a revolute has no field 'xyzzy'; its fields are a, b, at"):
        make(xyzzy=1)


@pytest.mark.parametrize("make", [lambda **f: hinge(**f), lambda **f: loads(HINGE % ", ".join(f"{k}: 1" for k in f))])
def test_all_unknown_fields_are_told_at_once(make):
    with pytest.raises(kn.ModelError, match=r"no fields 'stifness', 'dampng'; did you mean stiffness or damping\?"):
        make(stifness=1, dampng=1)


def test_all_missing_fields_are_told_at_once():
    system = kn.System("s")
    with pytest.raises(kn.ModelError, match=r"^m: shaft, resistance and constant are needed and were not given"):
        system.dc_motor("m", "a", "gnd")
    with pytest.raises(kn.ModelError, match=r"^r\.resistance: is needed and was not given"):
        system.resistor("r", "a", "gnd")
    with pytest.raises(kn.ModelError, match=r"^pin: a and b are needed and were not given"):
        system.revolute("pin")
    with pytest.raises(kn.ModelError, match=r"^unit: ratio and inertia are needed and were not given"):
        system.drive("unit", "pin")
    assert not system.components


def test_a_file_is_told_all_missing_fields_with_the_line_of_the_component():
    text = "kinode: 1\nelements:\n  m:\n    kind: dc_motor\n    plus: a\n    minus: gnd\n"
    with pytest.raises(kn.ModelError, match="m: shaft, resistance and constant are needed") as caught:
        loads(text, "motor.yaml")
    assert caught.value.line == 3


def test_other_names_of_a_field_are_named_too():
    with pytest.raises(kn.ModelError, match=r"no field 'torque_const'; did you mean torque_constant"):
        kn.System("s").dc_motor("m", "a", "gnd", "shaft", resistance=1, torque_const=2)
