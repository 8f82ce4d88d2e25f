"""Components are removed with what hangs on them, and renamed wherever they are named."""

from __future__ import annotations

import pytest
from example_choice import EXAMPLES, examples_for

import kinode as kn
from kinode.formats.yaml_files import load, loads


def axis() -> kn.System:
    return load(next(path for path in EXAMPLES if path.stem == "motor_axis"))


def test_what_hangs_on_a_body_goes_with_it():
    system = axis()
    assert system.remove("arm") == ["arm", "elbow"]
    assert system["gear"].output == "n1"  # its port is open now
    assert system["controller"].measured is None
    assert not system.bodies and not system.joints


def test_a_parameter_in_use_stays():
    system = axis()
    with pytest.raises(kn.ModelError, match=r"reach: is used by arm\.given_com|reach: is used by arm"):
        system.remove("reach")
    assert system == axis()
    system.change("arm", com=(0, 0, 0), frames={})
    assert system.remove("reach") == ["reach"]


@pytest.mark.parametrize(
    ("name", "reason"), [("nobody", "nothing called"), ("world", "cannot be removed"), ("rotor", "is no component")]
)
def test_what_cannot_be_removed_says_why(name, reason):
    with pytest.raises(kn.ModelError, match=reason):
        axis().remove(name)


def test_a_drive_goes_as_a_whole():
    system = load(next(path for path in EXAMPLES if path.stem == "ship_gimbal"))
    removed = system.remove("roll_drive")
    assert set(removed) == {"roll_drive.rotor", "roll_drive.shaft", "roll_drive.gear"}
    system.check()


@pytest.mark.parametrize("path", examples_for(), ids=lambda path: path.stem)
def test_a_new_name_and_the_old_one_again_leave_all_as_it_was(path):
    before = load(path)
    for name in list(before.declared):
        system = load(path)
        system.rename(name, "something_else")
        assert name not in system.declared
        system.check()
        assert system != before
        system.rename("something_else", name)
        assert system == before


def test_nodes_and_frames_have_names_too():
    system = axis()
    system.rename("rotor", "shaft")
    assert (system["motor"].shaft, system["gear"].input) == ("shaft", "shaft")
    system.rename("arm.hand", "grip")
    assert str(system.find_frame("arm.grip")) == "arm.grip"
    assert [str(use) for use in system.uses("shaft")] == ["motor.shaft", "gear.input"]
    with pytest.raises(kn.ModelError, match="taken by a node"):
        system.rename("arm", "bus")
    with pytest.raises(kn.ModelError, match="taken"):
        system.rename("arm", "elbow")


def test_a_name_that_a_law_has_for_itself_is_refused():
    text = "kinode: 1\nparameters: {p: 2}\nbodies: {b: {mass: 1}}\njoints: {j: {kind: free, between: [world, b]}}\n"
    system = loads(text + "elements: {s: {kind: spring, a: world, b: b, tension: p*length}}\n")
    with pytest.raises(kn.ModelError, match="a meaning of its own"):
        system.rename("p", "rate")
    assert [str(use) for use in system.uses("p")] == ["s.tension"]
