"""A gesture changes what it means to change, and not a byte more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kinode as kn
from kinode.editing.checked_text import check_text
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import apply_edits, invert_edits
from kinode.formats.yaml_files import loads
from kinode.model.base.element import ELEMENTS
from kinode.model.base.observers.moving_frames import FRAMES
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.joints.joint import JOINTS

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
AXIS = (EXAMPLES / "motor_axis.yaml").read_text()
RLC = (EXAMPLES / "rlc.yaml").read_text()
ARM = """\
kinode: 1
name: arm
parameters: {L: 0.5 m}
bodies:
  upper: {mass: 2, com: [L/2, 0, 0], inertia: [0.1, 0.1, 0.1], frames: {tip: [L, 0, 0]}}  # the first
  lower: {mass: 1, inertia: [0.1, 0.1, 0.1]}
joints:
  # where it stands
  shoulder: {kind: revolute, between: [world, upper], axis: z}
  elbow:    {kind: revolute, between: [upper.tip, lower], axis: z, effort: -L*elbow.u}
elements:
  pull: {kind: force, on: lower, force: ["max(0, L)*elbow.q", 0, 0], expressed_in: upper}
"""


def do(text: str, **gesture: object) -> str:
    """The text after a gesture, which leads back by its inverse."""
    plan = plan_gesture(text, gesture)
    after = apply_edits(text, plan.edits)
    assert apply_edits(after, invert_edits(text, plan.edits)) == text
    return after


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines that are gone, and the lines that are new."""
    old, new = before.splitlines(), after.splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


# -- set -------------------------------------------------------------------------------------------
def test_a_field_is_set_and_all_else_stays():
    after = do(AXIS, do="set", name="motor", path=["resistance"], value="1.1 Ohm")
    assert after == AXIS.replace("resistance: 0.9 Ohm", "resistance: 1.1 Ohm")


def test_a_new_field_stands_at_the_end_of_its_entry():
    after = do(ARM, do="set", name="lower", path=["com"], value="[0, L, 0]")
    assert "lower: {mass: 1, inertia: [0.1, 0.1, 0.1], com: [0, L, 0]}" in after
    assert loads(after).bodies["lower"] == loads(ARM.replace("{mass: 1,", "{mass: 1, com: [0, L, 0],")).bodies["lower"]


def test_a_law_with_a_comma_is_quoted_in_braces_and_not_on_a_line():
    assert 'effort: "max(1, t)"' in do(ARM, do="set", name="elbow", path=["effort"], value="max(1, t)")
    block = "kinode: 1\nsignals:\n  s: t\n"
    assert do(block, do="set", name="s", path=["law"], value="max(1, t)") == "kinode: 1\nsignals:\n  s: max(1, t)\n"


def test_laws_in_a_list_are_quoted_one_by_one():
    after = do(ARM, do="set", name="pull", path=["force"], value="[min(1, t), 0, a: b]")
    assert 'force: ["min(1, t)", 0, "a: b"]' in after


def test_a_field_is_taken_out_and_the_short_form_of_a_parameter_grows():
    after = do(ARM, do="set", name="pull", path=["expressed_in"], value=None)
    assert after == ARM.replace(", expressed_in: upper", "")
    assert "{L: {value: 0.5 m, note: length}}" in do(ARM, do="set", name="L", path=["note"], value="length")
    assert "{L: 0.6 m}" in do(ARM, do="set", name="L", path=["value"], value="0.6 m")


def test_the_top_of_the_file_is_set_in_its_order():
    after = do(ARM, do="set", name="", path=["gravity"], value="[0, -9.81, 0]")
    assert after.splitlines()[2] == "gravity: [0, -9.81, 0]"
    after = do(RLC, do="set", name="", path=["run", "until"], value="1 s")
    assert "run: {until: 1 s}" in after


def test_what_stands_on_lines_of_its_own_may_become_a_value():
    text = "kinode: 1\nbodies:\n  a:   # it\n    mass: 1\n    com:\n      - 0\n      - 1\n      - 2\n  b: {}\n"
    after = do(text, do="set", name="a", path=["com"], value="[1, 2, 3]")
    assert after == text.replace("com:\n      - 0\n      - 1\n      - 2\n", "com: [1, 2, 3]\n")
    assert do(text, do="set", name="a", path=["com", 1], value="7") == text.replace("- 1\n", "- 7\n")


def test_sides_of_between_are_fields():
    after = do(ARM, do="set", name="elbow", path=["b"], value="{body: lower, at: [0, 1, 0]}")
    assert "between: [upper.tip, {body: lower, at: [0, 1, 0]}]" in after


@pytest.mark.parametrize(
    ("gesture", "reason"),
    [
        ({"do": "set", "name": "nobody", "path": ["mass"], "value": "1"}, "nothing called 'nobody'"),
        ({"do": "set", "name": "lower", "path": ["mass"], "value": " "}, "a value is needed"),
        ({"do": "set", "name": "lower", "path": ["mass"], "value": 3}, "as text"),
        ({"do": "set", "name": "", "path": ["bodyes"], "value": "1"}, "a model has no 'bodyes'"),
        ({"do": "set", "name": "lower", "path": ["mass"], "value": "[1, 2"}, "brackets"),
        ({"do": "sett"}, "did you mean set"),
        ({"do": "rename", "name": "lower", "to": "upper"}, "is taken"),
        ({"do": "rename", "name": "lower", "to": "1x"}, "is no name"),
        ({"do": "add", "kind": "resistr"}, "did you mean resistor"),
        ({"do": "add", "kind": "body", "name": "upper"}, "is taken"),
        ({"do": "delete", "names": ["L"]}, "L is used by upper"),
        ({"do": "delete", "names": "upper"}, "a list of names"),
    ],
)
def test_what_cannot_be_done_says_why(gesture, reason):
    with pytest.raises(kn.ArgumentError, match=reason):
        plan_gesture(ARM, gesture)


# -- add -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "kind", [*JOINTS, *CONSTRAINTS, *(kind for kind in ELEMENTS if kind != "fmu"), *FRAMES]
    + ["body", "parameter", "signal", "table"],
)  # fmt: skip
def test_every_kind_can_be_added_and_is_whole(kind):
    plan = plan_gesture(ARM, {"do": "add", "kind": kind})
    checked = check_text(apply_edits(ARM, plan.edits))
    (name,) = plan.made
    assert name in checked.system.declared, checked.problems


def test_an_fmu_can_be_added_but_is_code_that_waits_for_trust():
    after = do(ARM, do="add", kind="fmu")
    checked = check_text(after)
    assert [(problem.component, problem.field) for problem in checked.problems] == [("fmu", "file")]
    assert "trust=True" in checked.problems[0].message
    assert "fmu" not in checked.system.declared


def test_names_come_from_the_kind_and_nodes_are_fresh():
    after = do(RLC, do="add", kind="dc_motor")
    assert "motor:  {kind: dc_motor, plus: n1, minus: n2, shaft: n3, inertia: 1e-4 kg*m^2, resistance: 1 Ohm" in after
    again = plan_gesture(after, {"do": "add", "kind": "dc_motor"})
    assert again.made == ["motor_2"]
    assert re.search(r"plus: n4\W+minus: n5\W+shaft: n6\b", apply_edits(after, again.edits))


def test_a_first_component_makes_its_section_where_it_belongs():
    after = do("kinode: 1\nname: new\nrun: {until: 1 s}\n", do="add", kind="body", name="b", fields={"mass": "1 kg"})
    assert after == "kinode: 1\nname: new\nbodies:\n  b: {mass: 1 kg}\nrun: {until: 1 s}\n"


def test_json_stays_json():
    import json

    text = '{"kinode": 1, "bodies": {"a": {"mass": 1}}}'
    after = do(text, do="add", kind="body", name="b", fields={"mass": "2 kg", "com": "[0, 1, x]"})
    assert json.loads(after)["bodies"]["b"] == {"mass": "2 kg", "com": [0, 1, "x"]}
    after = do(after, do="add", kind="fixed", fields={"between": "[world, b]"})
    assert json.loads(after)["joints"] == {"fixed": {"kind": "fixed", "between": ["world", "b"]}}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_breaks_and_a_missing_last_one_stay(end):
    text = ARM.replace("\n", end).removesuffix(end)
    after = do(text, do="add", kind="force", name="push", fields={"on": "lower", "force": "[0, 0, 1]"})
    assert after == f"{text}{end}  push: {{kind: force, on: lower, force: [0, 0, 1]}}"
    assert do(after, do="delete", names=["push"]) == text


# -- connect ---------------------------------------------------------------------------------------
def connect(text: str, one: tuple[str, str], two: object) -> str:
    to = {"component": two[0], "port": two[1]} if isinstance(two, tuple) else two
    return do(text, do="connect", **{"from": {"component": one[0], "port": one[1]}, "to": to})


def test_two_nodes_become_one_and_the_name_of_a_person_stays():
    text = do(RLC, do="add", kind="resistor", name="load")
    after = connect(text, ("load", "plus"), ("tank", "plus"))
    after = connect(after, ("source", "minus"), ("load", "minus"))
    assert "load:   {kind: resistor, plus: top, minus: n2," in after
    assert "source: {kind: voltage_source, plus: supply, minus: n2," in after  # a port leaves a reference by itself
    after = connect(after, ("source", "minus"), {"reference": "gnd"})
    assert loads(after).nodes["gnd"].ports == (("source", "minus"), ("tank", "minus"), ("load", "minus"))


def test_a_shaft_is_connected_to_a_joint_and_laws_follow_a_node():
    text = AXIS.replace("measured: elbow.q", "measured: rotor.angle/ratio")
    with pytest.raises(kn.ArgumentError, match=r"motor\.shaft is rotational, and coil is electrical"):
        connect(text, ("motor", "shaft"), {"link": "coil"})
    after = do(text, do="rename", name="rotor", to="pinion")
    assert "measured: pinion.angle/ratio" in after
    assert "shaft: pinion" in after and "input: pinion" in after
    loads(after)
    spare = do(text, do="add", kind="shaft_damper", name="drag")
    spare = connect(spare, ("drag", "a"), ("elbow", "3"))
    assert loads(spare).nodes["elbow"].ports == (("gear", "output"), ("drag", "a"))


def test_the_freedom_that_fits_is_found():
    text = ARM.replace("elbow:    {kind: revolute", "elbow:    {kind: cylindrical").replace(", effort: -L*elbow.u", "")
    text = do(text, do="add", kind="shaft_damper", name="drag")
    assert "drag: {kind: shaft_damper, a: elbow.angle," in connect(text, ("drag", "a"), ("elbow", "3"))
    ball = do(text.replace("kind: cylindrical", "kind: planar"), do="add", kind="slide_damper", name="rub")
    with pytest.raises(kn.ArgumentError, match="several freedoms"):
        connect(ball, ("rub", "a"), ("elbow", "3"))


def test_sides_of_joints_are_joined_to_bodies():
    assert "between: [lower, upper]" in connect(ARM, ("shoulder", "1"), ("lower", ""))
    with pytest.raises(kn.ArgumentError, match="join upper to itself"):
        connect(ARM, ("elbow", "2"), ("upper", ""))
    assert "between: [world, lower]" in connect(ARM, ("elbow", "1"), {"reference": "world"})
    assert "on: upper.tip" in connect(ARM, ("pull", "on"), ("upper", "elbow.1"))


def test_a_quantity_is_dropped_on_a_field():
    after = connect(AXIS, ("target", "out"), ("amplifier", "modulation"))
    assert "modulation: target}" in after
    after = connect(AXIS, ("elbow", "u"), ("amplifier", "modulation"))
    assert "modulation: elbow.u}" in after


@pytest.mark.parametrize(
    ("one", "two", "reason"),
    [
        (("motor", "plus"), ("gear", "input"), "motor.plus is electrical, and gear.input is rotational"),
        (("motor", "plus"), {"reference": "world"}, "its reference is gnd, not world"),
        (("motor", "plus"), ("arm", ""), "do not fit"),
        (("elbow", "1"), ("motor", "shaft"), "do not fit"),
        (("arm", ""), ("arm", "hand"), "put a joint between"),
        (("motor", "plus"), ("motor", "plus"), "a connection has two"),
        (("motor", "plus"), ("amplifier", "second_plus"), "connected already, at coil"),
        (("motor", "sharft"), ("gear", "input"), "has no port 'sharft'"),
        (("motor", "plus"), {"link": "nothing"}, "no wire is called"),
    ],
)
def test_what_does_not_fit_says_why(one, two, reason):
    with pytest.raises(kn.ArgumentError, match=reason):
        connect(AXIS, one, two)


def test_disconnected_ports_get_nodes_of_their_own():
    assert do(RLC, do="disconnect", component="coil", port="minus") == RLC.replace("minus: top", "minus: n1")
    after = do(ARM, do="disconnect", component="elbow", port="2")
    assert "elbow:    {kind: revolute, axis: z, effort: -L*elbow.u, a: upper.tip}" in after
    assert connect(after, ("elbow", "2"), ("lower", "")).count("b: lower") == 1
    after = do(AXIS, do="disconnect", component="amplifier", port="in controller")
    assert "modulation: 0}" in after
    after = do(AXIS, do="disconnect", component="elbow", port="3")
    assert "output: n1" in after


def test_a_circuit_as_drawn_is_connected_by_lines():
    text = (EXAMPLES / "manipulator.yaml").read_text()
    after = do(text, do="disconnect", component="DC", port="")
    assert changed_lines(text, after) == (["    - DC-KN2.3    # the losses, and the second joint's freedom"], [])
    again = connect(after, ("DC", "a"), ("KN2", "3"))
    assert changed_lines(after, again) == ([], ["    - DC.a-KN2.3"])
    assert loads(again) == loads(text)


# -- delete and rename -----------------------------------------------------------------------------
def test_what_hangs_on_a_body_goes_with_it_and_comments_stay():
    plan = plan_gesture(ARM, {"do": "delete", "names": ["upper"]})
    assert sorted(plan.removed) == ["elbow", "shoulder", "upper"]
    after = apply_edits(ARM, plan.edits)
    assert "# where it stands" not in after  # the section of the joints is gone with the last of them
    assert list(check_text(after).system.bodies) == ["lower"]
    assert "expressed_in" not in after


def test_ports_at_a_deleted_joint_stay_together():
    text = connect(do(AXIS, do="add", kind="shaft_damper", name="drag"), ("drag", "a"), ("elbow", "3"))
    plan = plan_gesture(text, {"do": "delete", "names": ["elbow"]})
    after = apply_edits(text, plan.edits)
    assert plan.removed == ["elbow"]
    assert "output: n1," in after and "a: n1," in after
    assert "measured" not in after


def test_the_last_entry_takes_its_section_along():
    text = "kinode: 1\nparameters: {p: 1}\nbodies:\n  a: {}\n\nrun: {until: 1 s}\n"
    assert do(text, do="delete", names=["p", "a"]) == "kinode: 1\n\nrun: {until: 1 s}\n"


def test_a_name_changes_everywhere_and_columns_stay():
    after = do(AXIS, do="rename", name="elbow", to="hinge")
    gone, new = changed_lines(AXIS, after)
    assert [line.replace("elbow", "hinge") for line in gone] == new
    assert loads(after).joints["hinge"] == loads(AXIS.replace("elbow", "hinge")).joints["hinge"]
    after = do(AXIS, do="rename", name="gear", to="reduction")
    assert "  reduction:  {kind: elastic_gearbox" in after
    after = do(AXIS, do="rename", name="arm.hand", to="grip")
    assert "frames: {grip: [2*reach, 0, 0]}" in after


def test_units_words_and_local_names_are_no_references():
    text = "kinode: 1\nparameters: {z: 1 m, length: 2}\nbodies: {a: {mass: length, com: [z, 0, 0]}, b: {mass: 1}}\n"
    text += "joints: {j: {kind: revolute, between: [world, a], axis: z}, k: {kind: free, between: [world, b]}}\n"
    text += "elements: {s: {kind: spring, a: a, b: b, tension: length*z}}\n"
    after = do(text, do="rename", name="z", to="height")
    assert "axis: z" in after and "com: [height, 0, 0]" in after and "tension: length*height" in after
    after = do(text, do="rename", name="length", to="m2")
    assert "mass: m2" in after and "tension: length*z" in after
    with pytest.raises(kn.ArgumentError, match="a meaning of its own in a law of s"):
        plan_gesture(text, {"do": "rename", "name": "z", "to": "rate"})


def test_several_gestures_are_one_step():
    gestures = [
        {"do": "add", "kind": "body", "name": "b", "fields": {"mass": "1"}},
        {"do": "add", "kind": "revolute", "name": "j", "fields": {"between": "[lower, b]"}},
        {"do": "rename", "name": "b", "to": "c"},
    ]
    plan = plan_gesture(ARM, {"do": "all", "gestures": gestures, "words": "a link"})
    after = apply_edits(ARM, plan.edits)
    assert "j:        {kind: revolute, between: [lower, c]}" in after
    assert (plan.made, plan.words) == (["b", "j"], "a link")


# -- what cannot be patched ------------------------------------------------------------------------
def test_shared_values_and_other_files_are_refused():
    text = "kinode: 1\nbodies:\n  a: &x {mass: 1}\n  b: *x\n"
    for name in ("a", "b"):
        with pytest.raises(kn.ArgumentError, match="used in several places"):
            plan_gesture(text, {"do": "set", "name": name, "path": ["mass"], "value": "2"})
    walker = (EXAMPLES / "walker.yaml").read_text()
    with pytest.raises(kn.ArgumentError, match=r"left\.hip belongs to the subsystem left"):
        plan_gesture(walker, {"do": "set", "name": "left.hip", "path": ["damping"], "value": "2"}, EXAMPLES / "w.yaml")
    with pytest.raises(kn.Error, match="no model yet"):
        plan_gesture("- 1\n", {"do": "add", "kind": "body"})
