"""Components of the file that a model extends: what is changed of them stands in ``changes`` of this file."""

from pathlib import Path

import pytest

import kinode as kn
from kinode.editing.checked_text import check_text
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import apply_edits, invert_edits

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
    with pytest.raises(kn.ArgumentError, match=words):
        plan_gesture(START, gesture, PLACE)


# -- connections ------------------------------------------------------------------------------------
RLC = "kinode: 1\nextends: rlc.yaml\nelements:\n  r: {kind: resistor, plus: n1, minus: n2, resistance: 5}\n"


def done(text, **gesture):
    plan = plan_gesture(text, gesture, PLACE)
    new = apply_edits(text, plan.edits)
    assert apply_edits(new, invert_edits(text, plan.edits)) == text
    return new


def end(component, port):
    return {"component": component, "port": port}


@pytest.mark.parametrize("turned", [False, True])
def test_an_own_part_is_connected_to_an_inherited_node(turned):
    ends = [end("r", "plus"), end("coil", "plus")]
    one, two = ends[::-1] if turned else ends
    text = done(RLC, do="connect", **{"from": one, "to": two})
    assert text == RLC.replace("plus: n1", "plus: middle")  # the name that the other file knows stays
    text = done(text, do="connect", **{"from": end("r", "minus"), "to": {"reference": "gnd"}})
    checked = check_text(text, PLACE)
    assert checked.complete and checked.system["r"].plus == "middle"


def test_a_part_acts_in_an_inherited_joint_and_a_joint_holds_an_inherited_body():
    text = (
        "kinode: 1\nextends: double_pendulum.yaml\nelements:\n  d: {kind: shaft_damper, a: n1, b: world, damping: 5}\n"
    )
    text = done(text, do="connect", **{"from": end("d", "a"), "to": end("elbow", "3")})
    assert "a: elbow" in text and check_text(text, PLACE).complete
    body = list(kn.load(EXAMPLES / "double_pendulum.yaml").bodies)[-1]
    text = done(text, do="add", kind="body", name="tool")
    text = done(text, do="add", kind="revolute", name="wrist", fields={"between": "[world, tool]"})
    text = done(text, do="connect", **{"from": end("wrist", "1"), "to": end(body, "body")})
    checked = check_text(text, PLACE)
    assert checked.complete and checked.system.joints["wrist"].a.body == body


def test_inherited_parts_are_connected_and_disconnected_by_changes():
    text = done(RLC.replace("plus: n1, minus: n2", "plus: middle, minus: gnd"),
                do="connect", **{"from": end("coil", "plus"), "to": end("tank", "plus")})  # fmt: skip
    system = check_text(text, PLACE).system
    assert (system["wire"].minus, system["coil"].plus, system["r"].plus) == ("top", "top", "top")
    assert "changes:\n  wire: {minus: top}\n  coil: {plus: top}\n" in text
    apart = done("kinode: 1\nextends: rlc.yaml\n", do="disconnect", component="coil", port="plus")
    assert apart.endswith("changes:\n  coil: {plus: n1}\n")
    side = {"from": end("elbow", "1"), "to": {"reference": "world"}}
    moved = done("kinode: 1\nextends: double_pendulum.yaml\n", do="connect", **side)
    assert check_text(moved, PLACE).system.joints["elbow"].a.body == "world"
    itself = {"from": end("shoulder", "2"), "to": {"reference": "world"}}
    with pytest.raises(kn.ArgumentError, match="to itself"):
        done("kinode: 1\nextends: double_pendulum.yaml\n", do="connect", **itself)


# -- the text of the base ---------------------------------------------------------------------------
MINE = """# My axis.
kinode: 1
name: mine
extends: motor_axis.yaml
bodies:
  plate: {mass: 1, inertia: [0.1, 0.1, 0.1]}  # a new one
joints:
  hold: {kind: fixed, between: [world, plate]}
changes:
  motor: {resistance: 2 Ohm}
  ratio: 70
run: {until: 1 s}
"""


def test_the_base_is_taken_over_with_changes_and_comments():
    text = done(MINE, do="take_base")
    base = (EXAMPLES / "motor_axis.yaml").read_text()
    before, after_ = check_text(MINE, PLACE).system, check_text(text, PLACE).system
    assert before.declared == after_.declared and before.run_defaults == after_.run_defaults
    assert text.startswith("# My axis.\n") and "extends" not in text and "changes" not in text
    assert "# a new one" in text and "resistance: 2 Ohm" in text
    kept = [line for line in base.splitlines() if line.lstrip().startswith("#")]
    assert kept and all(line in text for line in kept)


def test_what_was_refused_goes_on_in_one_step():
    taking = {"do": "take_base"}
    text = done(MINE, do="all", gestures=[taking, {"do": "rename", "name": "motor", "to": "engine"}])
    assert "engine" in check_text(text, PLACE).system.elements
    text = done(MINE, do="all", gestures=[taking, {"do": "delete", "names": ["motor"]}])
    assert "motor" not in check_text(text, PLACE).system.elements


def test_bases_of_bases_and_robots(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "leg.yaml").write_text((EXAMPLES / "leg.yaml").read_text())
    (tmp_path / "one.yaml").write_text("kinode: 1\nextends: leg.yaml\nchanges: {thigh: {mass: 5}}\n")
    place, text = tmp_path / "two.yaml", "kinode: 1\nextends: {file: one.yaml}\nchanges: {shank: {mass: 3}}\n"
    new = apply_edits(text, plan_gesture(text, {"do": "take_base"}, place).edits)
    assert kn.loads(new, file=place).declared == kn.loads(text, file=place).declared and "extends" not in new
    (tmp_path / "arm.urdf").write_text(
        "<robot name='arm'><link name='base'/><link name='a'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        "<joint name='j' type='continuous'><parent link='base'/><child link='a'/><axis xyz='0 0 1'/></joint></robot>"
    )
    text = "kinode: 1\nname: robot\nextends: arm.urdf\nchanges: {a: {mass: 2}}\n"
    new = apply_edits(text, plan_gesture(text, {"do": "take_base"}, place).edits)
    assert kn.loads(new, file=place).declared == kn.loads(text, file=place).declared
    for wrong in ("kinode: 1\n", "kinode: 1\nextends: nobody.yaml\n", "kinode: 1\nextends: ../x.yaml\n"):
        with pytest.raises(kn.ArgumentError, match=r"extends no file|cannot be taken over"):
            plan_gesture(wrong, {"do": "take_base"}, place)
