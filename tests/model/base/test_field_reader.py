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


@pytest.mark.parametrize("make", [lambda q: hinge(q=q), lambda q: loads(HINGE % f'q: "{q}"')])
def test_a_text_without_a_unit_is_no_angle(make):
    for text in ("90", "-90", " 1.5e1 "):
        number = text.strip()
        with pytest.raises(
            kn.UnitError, match=rf"^.*pin\.q: '{number}' has no unit: '{number} deg', or '{number} rad'\?"
        ):
            make(text)
    for text in ("0", "0.0", "pi/2", "90*deg", "45 + 45", "90 deg", "2 rad"):
        make(text)


@pytest.mark.parametrize("field", ["q", "guess", "motion", "neutral"])
def test_a_plain_number_for_an_angle_is_in_radians(field):
    with pytest.raises(kn.UnitError, match="'90 deg', or '90 rad'"):
        hinge(**{field: "90"})
    plain = loads(HINGE % f"{field}: 1.5")["pin"]
    assert getattr(plain, field)[0] == getattr(hinge(**{field: 1.5}), field)[0] == 1.5


def test_other_numbers_in_text_are_si():
    system = kn.System("s")
    slide = system.prismatic("rail", system.world, system.body("arm", mass="2"), axis="x", q="0.5", u="3")
    assert (slide.q[0], slide.u[0], system["arm"].mass) == (0.5, 3.0, 2.0)


def test_a_text_without_a_unit_is_no_value_of_a_parameter_or_input_that_is_an_angle(tmp_path):
    system = kn.System("angles")
    phi, r = system.parameter("written", "30 deg"), system.parameter("declared", 0.3, unit="rad")
    system.parameter("share", "90 %")
    system.input("tilt", "3 deg")
    arm = system.body("arm", mass=1, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("hinge", system.world, arm, axis="y", q=phi + r, effort="tilt*share")
    system.save(tmp_path / "angles.yaml")
    for loaded in (system, kn.load(tmp_path / "angles.yaml")):
        for name in ("written", "declared"):
            with pytest.raises(kn.UnitError, match="'90' has no unit: '90 deg', or '90 rad'"):
                kn.simulate(loaded, 0.1, parameters={name: "90"})
        with pytest.raises(kn.UnitError, match="'90 deg', or '90 rad'"):
            kn.simulate(loaded, 0.1, inputs={"tilt": "90"})
        with pytest.raises(kn.ArgumentError, match=r"^written: '90' has no unit: '90 deg', or '90 rad'"):
            kn.sweep(loaded, {"written": ["1 rad", "90"]}, 0.1, keep=["hinge.q"])
        with pytest.raises(kn.UnitError, match="'90 deg', or '90 rad'"):
            loaded.change("written", value="90")
        run = kn.simulate(loaded, 0.1, parameters={"written": 0.5, "declared": "0", "share": "0.9"})
        assert run["hinge.q"][0] == 0.5
