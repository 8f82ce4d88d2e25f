"""Copies keep the connections among their parts, take free names, and connect to nothing that was not meant."""

from __future__ import annotations

from pathlib import Path

import pytest

import kinode as kn
from kinode.editing.adding import GROUPS
from kinode.editing.checked_text import check_text
from kinode.editing.copying import copy_components
from kinode.editing.draft import read_places
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import apply_edits
from kinode.formats.yaml_files import loads

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
AXIS = (EXAMPLES / "motor_axis.yaml").read_text()
EXCAVATOR = (EXAMPLES / "excavator.yaml").read_text()
ARM = """\
kinode: 1
bodies: {base: {mass: 1, inertia: [1, 1, 1]}}
joints: {stand: {kind: revolute, between: [world, base], axis: y}}
"""


def do(text: str, /, **gesture: object) -> tuple[str, list[str]]:
    plan = plan_gesture(text, gesture)
    return apply_edits(text, plan.edits), plan.made


def test_a_duplicate_is_connected_within_itself_alone():
    after, made = do(AXIS, do="duplicate", names=["motor", "gear", "controller"])
    assert made == ["controller_2", "motor_2", "gear_2"]
    system = check_text(after).system
    assert system["motor_2"].plus == "n1" and system["motor_2"].minus == "gnd"
    assert system["motor_2"].shaft == system["gear_2"].input == "n2"
    assert system["gear_2"].output == "elbow"
    assert system["motor_2"].resistance == system["motor"].resistance
    assert after.startswith(AXIS.split("run:")[0])


def test_references_among_copies_follow_them():
    after, made = do(AXIS, do="duplicate", names=["amplifier", "controller", "arm", "elbow"])
    assert set(made) == {"amplifier_2", "controller_2", "arm_2", "elbow_2"}
    system = check_text(after).system
    assert system["amplifier_2"].modulation.text() == "controller_2.output"
    assert system["controller_2"].measured.text() == "elbow_2.q"
    assert (system["elbow_2"].a.body, system["elbow_2"].b.body) == ("world", "arm_2")
    assert system["arm_2"].com.position == system["arm"].com.position


def test_what_stands_on_lines_is_pasted_as_it_is_meant():
    after, made = do(AXIS, do="paste", text=EXCAVATOR)
    assert {"boom", "soil", "digging", "in_the_ground"} <= set(made)
    ours, theirs = loads(after), loads(EXCAVATOR)
    for name in ("boom", "stick", "soil", "swing", "boom_pin", "digging", "in_the_ground"):
        assert ours[name] == theirs[name]


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_values_that_are_shared_are_written_out(name):
    text = "kinode: 1\nbodies:\n  a: &body {mass: 1, inertia: &j [1, 2, 2]}\n"
    text += "  b:\n    mass: 2  # kg\n    inertia: *j\n  c: *body\n"
    places = read_places(text)
    copied = check_text(f"kinode: 1\n{copy_components(places, [name])}").system
    after, (made,) = do(text, do="duplicate", names=[name])
    system = check_text(after).system
    for again in (copied[name], system[made]):
        assert again.mass == system[name].mass and again.inertia == system[name].inertia


@pytest.mark.parametrize("what", GROUPS)
def test_a_group_is_whole_on_a_joint(what):
    after, made = do(ARM, do="group", what=what)
    checked = check_text(after)
    assert checked.complete, checked.problems
    assert len(made) > 1
    again, more = do(after, do="group", what=what, on="base" if what == "link" else "stand")
    assert not set(made) & set(more)
    assert not check_text(again).broken


OWN_NAMES = ("link", "hinge", "motor", "gear", "supply", "target", "controller", "battery", "amplifier")
OWN_NODES = ("coil", "rotor", "bus", "output", "n1")


def find_ends(system, made):
    """What a new group is put on, as its parts have it, and nothing that it has itself."""
    for name in made:
        part = system[name]
        if name in system.joints:
            yield part.a.body
            assert part.b.body in made
        elif name.startswith("gear"):
            yield part.output
            assert part.input not in system.joints
        elif name.startswith("controller") and system.elements[name].measured.text().endswith(".q"):
            yield part.measured.text().removesuffix(".q")


@pytest.mark.parametrize("what", GROUPS)
@pytest.mark.parametrize("name", OWN_NAMES + OWN_NODES)
def test_a_group_is_put_on_what_has_one_of_its_own_names(what, name):
    old = "base" if what == "link" else "stand"
    text, all_made = ARM.replace(old, name), []
    for _ in range(3):
        text, made = do(text, do="group", what=what, on=name)
        checked = check_text(text)
        assert checked.complete, checked.problems
        assert set(find_ends(checked.system, made)) == {name}
        assert not set(made) & {*all_made, name, "base", "stand"}
        all_made += made


def test_a_link_on_a_link_hangs_at_its_tip():
    """Two links of 0.4 m make a chain of 0.8 m: the second begins where the first ends, and does not lie on it."""
    once, _ = do("kinode: 1\nname: new\n", do="group", what="link")
    for on in (None, "link"):
        system = check_text(do(once, do="group", what="link", on=on)[0]).system
        run = kn.simulate(system, 0.0)
        assert run.position("link_2")[0] == pytest.approx([0.4, 0, 0], abs=1e-15)
        assert run.position("link_2.tip")[0] == pytest.approx([0.8, 0, 0], abs=1e-15)


@pytest.mark.parametrize("first", GROUPS)
@pytest.mark.parametrize("second", GROUPS)
def test_groups_that_follow_one_another_are_put_on_what_is_there(first, second):
    """Each twice: the second link hangs on the first one, and no group is put on itself."""
    text, there = ARM, {"base", "stand"}
    for what in (first, first, second, second):
        text, made = do(text, do="group", what=what)
        checked = check_text(text)
        assert checked.complete, checked.problems
        assert set(find_ends(checked.system, made)) <= there
        there |= {*made}


def test_a_group_keeps_the_effort_that_a_joint_has_and_says_so():
    once, _ = do(ARM, do="group", what="pid_loop")
    plan = plan_gesture(once, {"do": "group", "what": "pid_loop"})
    assert plan.words == "add pid loop; stand keeps the effort that it has, and controller_2 gives none yet"
    assert check_text(apply_edits(once, plan.edits)).system["stand"].effort[0].text() == "controller.output"


def test_a_copy_does_not_become_what_another_part_names():
    """The second arm is not among what is pasted: it is missing, and no pasted body takes its place."""
    pasted = "bodies: {base: {mass: 1}}\njoints: {hinge: {kind: revolute, between: [base_2, base], axis: y}}\n"
    after, made = do(ARM, do="paste", text=pasted)
    assert made == ["base_3", "hinge"]
    (problem,) = check_text(after).problems
    assert problem.component == "hinge" and "base_2" in problem.message


@pytest.mark.parametrize("what", GROUPS)
def test_a_group_may_come_first(what):
    after, _ = do("kinode: 1\nname: new\n", do="group", what=what)
    checked = check_text(after)
    assert not checked.broken
    assert {problem.field for problem in checked.problems} <= {"output"}  # an open node, to be connected


@pytest.mark.parametrize(
    ("gesture", "reason"),
    [
        ({"do": "paste", "text": "a: ["}, "no part of a model"),
        ({"do": "paste", "text": "- 1"}, "no components"),
        ({"do": "paste", "text": "bodies: {b: {}}\nextends: x.urdf"}, "extends cannot be pasted"),
        ({"do": "paste", "text": ""}, "needs 'text'"),
        ({"do": "duplicate", "names": ["nobody"]}, "nothing called"),
        ({"do": "group", "what": "robot"}, "there are link"),
        ({"do": "group", "what": "link", "on": "stand"}, "is put on a body"),
    ],
)
def test_what_cannot_be_pasted_says_why(gesture, reason):
    with pytest.raises(kn.ArgumentError, match=reason):
        plan_gesture(ARM, gesture)
