"""All problems of an unfinished text are found, each with its place, and what mends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kinode.editing.checked_text import FOLLOWS, Problem, check_text
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import apply_edits
from kinode.formats.yaml_files import load
from kinode.model.circuit_topology import find_circuit_topology

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "examples").glob("*.yaml"))
AXIS = next(path for path in EXAMPLES if path.stem == "motor_axis").read_text()


def own(text: str) -> dict[str, Problem]:
    """The problems that follow from no other, by the component and field that they are at."""
    problems = [problem for problem in check_text(text).problems if problem.severity != FOLLOWS]
    return {f"{problem.component}.{problem.field}": problem for problem in problems}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_right_model_is_read_as_it_is(path):
    checked = check_text(path.read_text(), path)
    assert checked.complete and not checked.problems and not checked.broken
    assert checked.system == load(path)


def test_every_error_is_found_and_points_at_its_value():
    text = AXIS.replace("mass: 3,", "mass: 3 m,").replace("kind: pid", "kind: pidd").replace("run:", "runn:")
    text = text.replace("24 V", "24 A").replace("ratio: ratio", "ratio: rati")
    problems = own(text)
    assert set(problems) == {".runn", "arm.mass", "controller.kind", "battery.voltage", "gear.ratio"}
    places = {name: text[slice(*problem.span)] for name, problem in problems.items()}
    assert places == {
        ".runn": "runn", "arm.mass": "3 m", "controller.kind": "pidd", "battery.voltage": "24 A", "gear.ratio": "rati",
    }  # fmt: skip
    assert all(text.splitlines()[p.line - 1].count(text[slice(*p.span)]) for p in problems.values())
    checked = check_text(text)
    assert {p.component for p in checked.problems if p.severity == FOLLOWS} == {"elbow"}
    assert set(checked.system.declared) == {"ratio", "reach", "target", "amplifier", "motor"}
    find_circuit_topology(checked.system)  # which a drawing needs


def test_one_wrong_thing_is_said_once():
    assert set(own(AXIS.replace("kind: battery", "kind: batery"))) == {"battery.kind"}
    assert set(own(AXIS.replace("mass: 3,", "mas: 3,"))) == {"arm.mas"}


@pytest.mark.parametrize(
    ("wrong", "right", "at"),
    [
        ("minus: gdn, shaft", "minus: gnd, shaft", "motor.minus"),
        ("kind: dcmotor", "kind: dc_motor", "motor.kind"),
        ("shaft: rotor, resistence", "shaft: rotor, resistance", "motor.resistence"),
        ("between: [world, amr]", "between: [world, arm]", "elbow.b"),
        ("measured: elbw.q", "measured: elbow.q", "controller.measured"),
        ("joint:", "joints:", ".joint"),
        ("voltage: 24 v", "voltage: 24 V", "battery.voltage"),
        ("measured: elbow.Q", "measured: elbow.q", "controller.measured"),
        ("measured: elbow,", "measured: elbow.q,", "controller.measured"),
    ],
)
def test_the_nearest_name_is_one_click_away(wrong, right, at):
    text = AXIS.replace(right, wrong)
    assert text != AXIS
    problem = own(text)[at]
    cure = problem.cures[0]
    assert apply_edits(text, plan_gesture(text, cure.gesture).edits) == AXIS


def mended(text: str, at: str, words: str) -> str:
    (cure,) = [cure for cure in own(text)[at].cures if words in cure.words]
    return apply_edits(text, plan_gesture(text, cure.gesture).edits)


def test_a_loose_body_is_freed_or_fixed():
    text = "kinode: 1\nbodies: {a: {mass: 1}, b: {mass: 1}}\n"
    assert set(own(text)) == {"a.", "b."}
    after = mended(mended(text, "a.", "move freely"), "b.", "fix b")
    assert check_text(after).complete
    assert [joint.kind for joint in check_text(after).system.joints.values()] == ["free", "fixed"]


def test_a_floating_circuit_gets_its_ground():
    text = "kinode: 1\nelements:\n  s: {kind: voltage_source, plus: a, minus: b, voltage: 1}\n"
    text += "  r: {kind: resistor, plus: a, minus: b, resistance: 1}\n"
    after = mended(text, "s.plus", "to gnd")
    assert check_text(after).complete


def test_a_joint_of_a_body_to_itself_is_joined_to_the_world():
    text = "kinode: 1\nbodies: {a: {mass: 1}}\njoints: {j: {kind: fixed, between: [a, a]}}\n"
    assert check_text(mended(text, "j.", "join j to the world")).complete


def test_a_missing_version_is_written():
    text = "bodies: {a: {mass: 1}}\njoints: {j: {kind: fixed, between: [world, a]}}\n"
    assert check_text(mended(text, ".", "kinode: 1")).complete


def test_ports_of_two_domains_at_one_node_leave_one_out():
    text = AXIS.replace("input: rotor", "input: coil")
    problem = own(text)["gear.input"]
    assert problem.port == "input"
    assert "gear" in check_text(text).broken
    find_circuit_topology(check_text(text).system)


def test_all_open_ports_are_named():
    text = "kinode: 1\nelements:\n  a: {kind: resistor, plus: n1, minus: n2, resistance: 1 Ohm}\n"
    assert set(own(text)) == {"a.plus", "a.minus"}


NO_MODELS = ["", "- 1", "kinode: 1\na: [", "\tx", "kinode: 1\nbodies: 3\njoints: []\n", "kinode: 2"]


@pytest.mark.parametrize("text", NO_MODELS)
def test_what_is_no_model_has_problems_and_no_traceback(text):
    checked = check_text(text)
    assert checked.problems and not checked.complete


def test_what_is_missing_because_of_an_error_is_not_said_again():
    parts = "  s: {kind: voltage_source, plus: x, minus: y, voltage: 1}\n  r: {kind: resistor, plus: x, minus: y, %s}\n"
    text = "kinode: 1\nelements:\n" + parts % "resistance: 1 m"
    assert set(own(text)) == {"r.resistance"}
    loose = "kinode: 1\nbodies: {a: {mass: 1}, b: {mass: 1}}\njoints: {j: {kind: fixd, between: [world, a]}}\n"
    assert set(own(loose)) == {"j.kind", "b."}


def test_a_name_given_twice_gets_a_number():
    text = "kinode: 1\nbodies:\n  a: {mass: 1}\n  a: {mass: 2}\n"
    (problem,) = check_text(text).problems
    after = apply_edits(text, plan_gesture(text, problem.cures[0].gesture).edits)
    assert after == text.replace("  a: {mass: 2}", "  a_2: {mass: 2}")


def test_broken_yaml_gives_its_line():
    (problem,) = check_text("kinode: 1\nbodies: {a: {mass: 1}\njoints: x\n").problems
    assert problem.line is not None and problem.span is not None


def test_a_subsystem_with_an_error_is_one_problem():
    text = "kinode: 1\nsystems:\n  leg: {system: {bodies: {a: {mass: -1}}}}\n"
    problems = check_text(text).problems
    assert [problem.line for problem in problems] == [3]
