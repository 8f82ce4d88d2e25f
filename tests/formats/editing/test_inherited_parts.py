"""Components of the file that a model extends: what is changed of them stands in ``changes`` of this file."""

from pathlib import Path

import pytest

import kinode as kn
from kinode.errors import ArgumentError
from kinode.formats.editing.checked_text import check_text
from kinode.formats.editing.gestures import plan_gesture
from kinode.formats.editing.text_edits import apply_edits

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
START = "kinode: 1\nextends: motor_axis.yaml  # the axis\n"
PLACE = EXAMPLES / "mine.yaml"  # beside the file that it extends


def after(text, *changes):
    for name, path, value in changes:
        gesture = {"do": "set", "name": name, "path": path, "value": value}
        text = apply_edits(text, plan_gesture(text, gesture, PLACE).edits)
    return text


def test_a_change_gives_the_system_that_python_gives():
    text = after(START, ("motor", ["resistance"], "2 Ohm"), ("ratio", ["value"], "70"), ("target", ["law"], "sin(t)"))
    system = kn.load(EXAMPLES / "motor_axis.yaml")
    system.change("motor", resistance="2 Ohm")
    system.change("ratio", value=70)
    system.change("target", law="sin(t)")
    checked = check_text(text, PLACE)
    assert checked.complete
    assert checked.system.declared == system.declared
    assert text.startswith(START + "changes:\n")


def test_a_change_that_is_taken_back_leaves_nothing():
    text = after(START, ("motor", ["resistance"], "2 Ohm"), ("motor", ["inertia"], "1e-4 kg*m^2"))
    text = after(text, ("motor", ["resistance"], None))
    assert "resistance" not in text and "inertia: 1e-4 kg*m^2" in text
    assert after(text, ("motor", ["inertia"], None)) == START


def test_a_field_of_the_other_file_gets_its_default():
    text = after(START, ("motor", ["viscous"], None))
    assert "motor: {viscous: null}" in text
    assert check_text(text, PLACE).system["motor"].viscous == 0.0


@pytest.mark.parametrize(
    "gesture, words",
    [
        ({"do": "set", "name": "arm", "path": ["inertia", "zz"], "value": "1"}, "give all of it anew"),
        (
            {"do": "set", "name": "motor", "path": ["kind"], "value": "resistor"},
            "of the file motor_axis.yaml, and stays",
        ),
        ({"do": "delete", "names": ["motor"]}, "comes from motor_axis.yaml"),
        ({"do": "rename", "name": "motor", "to": "engine"}, "comes from motor_axis.yaml"),
    ],
)
def test_what_stands_in_the_other_file_says_so(gesture, words):
    with pytest.raises(ArgumentError, match=words):
        plan_gesture(START, gesture, PLACE)
