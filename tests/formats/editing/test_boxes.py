"""Gestures in subsystems: the text of the box alone is changed, and what is outside follows the names inside."""

from __future__ import annotations

import json
import random

import pytest

import kinode as kn
from kinode.editing.checked_text import check_text
from kinode.editing.draft import ModelDraft
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import apply_edits, invert_edits

INNER = """\
parameters: {ratio: 10}
elements:
  motor: {kind: dc_motor, plus: coil, minus: gnd, shaft: rotor, resistance: 0.9 Ohm, constant: 48 mN*m/A}  # small
  gear: {kind: gearbox, input: rotor, output: out, ratio: ratio}
"""
TEXT = f"""\
kinode: 1
parameters: {{ratio: 60}}
bodies:
  arm: {{mass: 3, com: [0.3, 0, 0], inertia: {{zz: 0.15}}}}
joints:
  elbow: {{kind: revolute, between: [world, arm]}}
systems:
  drive:  # of the arm
    parameters: {{ratio: ratio}}
    connect: {{out: elbow}}
    system:
{"".join(f"      {line}" for line in INNER.splitlines(keepends=True))}
elements:
  supply: {{kind: voltage_source, plus: drive.coil, minus: gnd, voltage: 3}}
  push: {{kind: force, on: arm, force: [drive.motor.current, 0, 0]}}
"""


def inside(gesture, *box):
    return {"do": "in", "box": list(box or ("drive",)), "gesture": gesture}


def after(text, *gestures):
    for gesture in gestures:
        text = apply_edits(text, plan_gesture(text, gesture).edits)
    return text


def drive(change=lambda system: None):
    """The inner system by Python, with a change of it."""
    inner = _inner()
    change(inner)
    return inner


def _inner():
    inner = kn.System("drive")
    inner.parameter("ratio", 10)
    inner.add_component(inner.make_component("elements", "motor", "dc_motor", {
        "plus": "coil", "minus": "gnd", "shaft": "rotor", "resistance": "0.9 Ohm", "constant": "48 mN*m/A",
    }))  # fmt: skip
    inner.add_component(inner.make_component("elements", "gear", "gearbox", {
        "input": "rotor", "output": "out", "ratio": "ratio",
    }))  # fmt: skip
    return inner


def test_the_patch_gives_the_system_that_python_gives():
    inner = drive(lambda system: system.change("gear", ratio="2*ratio"))
    outer = kn.loads(TEXT)
    whole = kn.System("whole")
    whole.parameter("ratio", 60)
    whole.add("drive", inner, parameters={"ratio": "ratio"}, connect={"out": "elbow"})
    text = after(TEXT, inside({"do": "set", "name": "gear", "path": ["ratio"], "value": "2*ratio"}))
    changed = kn.loads(text)
    assert changed["drive.gear"] == whole["drive.gear"] != outer["drive.gear"]
    assert {**changed.declared, "drive.gear": None} == {**outer.declared, "drive.gear": None}
    assert text.replace("2*ratio", "ratio") == TEXT


@pytest.mark.parametrize("old, new", [("coil", "power"), ("ratio", "gain"), ("motor", "engine"), ("out", "shaft")])
def test_a_name_inside_is_another_outside_too(old, new):
    text = after(TEXT, inside({"do": "rename", "name": old, "to": new}))
    checked = check_text(text)
    assert checked.complete, checked.problems
    assert old not in check_text(text, box=("drive",)).system.declared
    assert f"drive.{old}" not in text
    assert after(text, inside({"do": "rename", "name": new, "to": old})) == TEXT


def test_what_is_gone_inside_is_given_nothing_outside():
    text = after(TEXT, inside({"do": "delete", "names": ["gear"]}), inside({"do": "delete", "names": ["ratio"]}))
    assert "connect" not in text and "parameters: {ratio: ratio}" not in text
    assert "parameters: {ratio: 60}" in text


def test_two_nodes_that_become_one_inside_become_one_outside():
    text = TEXT.replace("connect: {out: elbow}", "connect: {out: elbow, coil: bus}")
    text = text.replace("drive.coil", "bus")
    both = inside({"do": "add", "kind": "resistor", "fields": {"plus": "coil", "minus": "second"}})
    text = after(text, both).replace("coil: bus}", "coil: bus, second: other}")
    one, two = {"component": "resistor", "port": "minus"}, {"component": "motor", "port": "plus"}
    joined = inside({"do": "connect", "from": one, "to": two})
    assert "second" not in after(text, joined)
    assert check_text(after(text, joined)).complete


def test_a_box_that_gets_empty_can_be_filled_again():
    emptied = after(
        TEXT, inside({"do": "delete", "names": ["gear", "motor"]}), inside({"do": "delete", "names": ["ratio"]})
    )
    assert "system: {}" in emptied
    text = after(emptied, inside({"do": "add", "kind": "resistor"}), inside({"do": "add", "kind": "body"}))
    assert list(check_text(text, box=("drive",)).system.declared) == ["body", "resistor"]


def test_problems_inside_stand_in_their_box():
    wrong = after(TEXT, inside({"do": "set", "name": "gear", "path": ["ratio"], "value": "2*ratoi"}))
    problem = next(problem for problem in check_text(wrong).problems if problem.severity == "error")
    assert (problem.component, problem.field, problem.box) == ("drive.gear", "ratio", ("drive",))
    assert wrong[slice(*problem.span)] == "2*ratoi"
    assert after(wrong, problem.cures[0].gesture) == after(
        TEXT, inside({"do": "set", "name": "gear", "path": ["ratio"], "value": "2*ratio"})
    )
    assert [p.box for p in check_text(wrong, box=("drive",)).problems] == [()]


def test_cures_inside_are_done_inside():
    joint = {"do": "add", "kind": "revolute", "name": "hinge", "fields": {"between": "[body, body]"}}
    text = after(TEXT, inside({"do": "add", "kind": "body"}), inside(joint))
    cures = [cure for problem in check_text(text).problems for cure in problem.cures]
    mended = next(cure.gesture for cure in cures if cure.gesture["do"] == "in")
    assert mended["box"] == ["drive"]
    assert "hinge: {kind: revolute, between: [world, body]}" in after(text, mended)


@pytest.mark.parametrize(
    "text, words",
    [
        ("kinode: 1\nsystems: {drive: {file: leg.yaml}}", "in the file leg.yaml: open that"),
        ("kinode: 1\nsystems: {drive: {on: world}}", "missing"),
        ("kinode: 1\nsystems: {a: &x {system: {}}, drive: *x}", "several places"),
        ("kinode: 1\nsystems: {drive: {system: 3}}", "no mapping"),
        ("kinode: 1", "no subsystem 'drive'"),
    ],
)
def test_what_cannot_be_opened_says_why(text, words):
    with pytest.raises(kn.ArgumentError, match=words):
        plan_gesture(text, inside({"do": "add", "kind": "resistor"}))


def test_a_gesture_in_a_box_is_needed():
    for wrong in ({"do": "in", "box": ["drive"]}, {"do": "in", "box": "drive", "gesture": {"do": "add"}},
                  inside(inside({"do": "add", "kind": "resistor"}))):  # fmt: skip
        with pytest.raises(kn.ArgumentError):
            plan_gesture(TEXT, wrong)


# -- ports -----------------------------------------------------------------------------------------
def test_ports_of_a_box_are_connected_and_taken_apart():
    coil, supply = {"component": "drive", "port": "coil"}, {"component": "supply", "port": "plus"}
    apart = after(TEXT, {"do": "disconnect", **coil})
    assert "plus: n1" in apart
    for one, two in ((coil, supply), (supply, coil)):
        joined = after(apart, {"do": "connect", "from": one, "to": two})
        assert "connect: {out: elbow, coil: n1}" in joined
        assert check_text(joined).complete
    open_again = after(joined, {"do": "disconnect", "component": "drive", "port": "out"})
    assert "connect: {coil: n1}" in open_again
    assert "connect: {coil: n1, out: elbow}" in after(
        open_again,
        {"do": "connect", "from": {"component": "drive", "port": "out"}, "to": {"component": "elbow", "port": "3"}},
    )


def test_ports_that_do_not_fit_say_why():
    with pytest.raises(kn.ArgumentError, match="rotational"):
        plan_gesture(TEXT, {"do": "connect", "from": {"component": "drive", "port": "coil"},
                            "to": {"component": "elbow", "port": "3"}})  # fmt: skip
    with pytest.raises(kn.ArgumentError, match="has no node, body, joint, input or component 'power'"):
        plan_gesture(TEXT, {"do": "disconnect", "component": "drive", "port": "power"})


# -- any sequence ----------------------------------------------------------------------------------
def some_gesture(rng, text):
    box = ("drive",) if rng.random() < 0.7 else ()
    try:
        names = list(ModelDraft(text, box=box).places.paths)
    except kn.ArgumentError:
        box, names = (), list(ModelDraft(text).places.paths)
    kind = rng.choice(["resistor", "body", "signal", "parameter"])
    name = rng.choice(names) if names else "motor"
    gesture = rng.choice([
        {"do": "add", "kind": kind},
        {"do": "rename", "name": name, "to": f"other_{rng.randint(0, 99)}"},
        {"do": "delete", "names": [name]},
        {"do": "duplicate", "names": [name]},
        {"do": "set", "name": name, "path": ["note"], "value": "a word"},
        {"do": "connect", "from": {"component": name, "port": "plus"}, "to": {"reference": "gnd"}},
        {"do": "enclose", "names": rng.sample(names, min(len(names), 2))},
        {"do": "dissolve", "name": name},
    ])  # fmt: skip
    return inside(gesture, *box) if box else gesture


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("style", ["lines", "json"])
def test_any_gestures_and_as_many_undos_leave_the_same_bytes(seed, style):
    rng = random.Random(seed)
    start = TEXT if style == "lines" else json.dumps(_plain(TEXT))
    text, undo = start, []
    for _ in range(18):
        try:
            edits = plan_gesture(text, some_gesture(rng, text)).edits
        except kn.ArgumentError:
            continue
        undo.append(invert_edits(text, edits))
        text = apply_edits(text, edits)
        assert check_text(text).readable
    assert len(undo) > 5
    for inverse in reversed(undo):
        text = apply_edits(text, inverse)
    assert text == start


def _plain(text):
    from kinode.formats.yaml_text import plain_value, read_spans

    return plain_value(read_spans(text))
