"""A subsystem made of a selection has the equations that the model had; dissolved, it is the model that it was."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from enclosed_models import drawn_state, rates
from example_choice import EXAMPLES, examples_for

import kinode as kn
from kinode.editing.checked_text import check_text
from kinode.editing.draft import ModelDraft
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import apply_edits
from kinode.formats.yaml_files import load
from kinode.structure.topology import find_topology

FOLDER = Path(__file__).resolve().parents[3] / "examples"
PATHS = examples_for([path for path in EXAMPLES if "circuit:" not in path.read_text()], fields=False)
SELECTIONS = 3  # of each model
CLOSE = 1e-8  # sums in another order, through the condition of a mass matrix


def enclosed(path, names, text=None):
    text = path.read_text() if text is None else text
    plan = plan_gesture(text, {"do": "enclose", "names": names, "name": "box"}, path)
    return apply_edits(text, plan.edits)


def dissolved(text, path):
    return apply_edits(text, plan_gesture(text, {"do": "dissolve", "name": "box"}, path).edits)


def selections(path):
    names = list(ModelDraft(path.read_text(), path).places.paths)
    rng = random.Random(path.stem)
    for _ in range(SELECTIONS):
        yield rng.sample(names, rng.randint(1, len(names)))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_any_selection_and_back(path):
    before = load(path)
    loops = find_topology(before).constrained  # with other joints first, others are cut
    t, state = (0.0, {}) if loops else drawn_state(before, 0)
    expected = {} if loops else rates(before, t, state)
    for names in selections(path):
        try:
            text = enclosed(path, names)
        except kn.ArgumentError as error:
            assert "nothing of this can be in a subsystem" in str(error), names
            continue
        checked = check_text(text, path)
        assert checked.complete, (names, checked.problems)
        assert any(name.startswith("box.") for name in checked.system.declared)
        if not loops:
            now = rates(checked.system, t, state, "box.")
            assert now == pytest.approx(expected, rel=CLOSE, abs=CLOSE), names
        again = check_text(dissolved(text, path), path)
        assert again.complete, (names, again.problems)
        assert dict(again.system.declared) == dict(before.declared), names


AXIS = FOLDER / "motor_axis.yaml"


def test_what_crosses_the_edge():
    text = enclosed(AXIS, ["motor", "gear", "controller"])
    assert "    parameters: {ratio: ratio}\n" in text
    assert "    bind: {target: target, elbow_q: elbow.q}\n" in text
    assert "    connect: {coil: coil, output: elbow}\n" in text
    assert "modulation: box.controller.output" in text
    box = check_text(text, AXIS, box=("box",))
    assert box.complete
    assert "elbow_q: {value: 0, unit: rad}" in text


def test_lines_and_comments_come_along():
    text = AXIS.read_text().replace("slip: 1 rad/s}\nrun", "slip: 1 rad/s}  # elastic\nrun")
    new = enclosed(AXIS, ["motor", "gear"], text)
    kept = [line.strip() for line in text.splitlines()]
    for line in new.splitlines():
        if "motor" in line or "elastic" in line or "constant" in line:
            assert line.strip() in kept or "output: output" in line
    assert new.startswith(text[: text.index("systems")] if "systems" in text else text[: text.index("elements")])


def test_joints_to_bodies_outside_stay_outside():
    path = FOLDER / "double_pendulum.yaml"
    plan = plan_gesture(path.read_text(), {"do": "enclose", "names": ["elbow", "lower"], "name": "box"}, path)
    assert plan.renamed == {"lower": "box.lower"}
    assert "outside stays elbow: elbow is joined to upper, which is outside" in plan.words
    with pytest.raises(kn.ArgumentError, match="elbow is joined to upper"):
        plan_gesture(path.read_text(), {"do": "enclose", "names": ["elbow"]}, path)


def test_refusals():
    text = AXIS.read_text()
    for gesture, words in (
        ({"do": "enclose", "names": ["ratio"]}, "stay outside"),
        ({"do": "enclose", "names": ["nothing"]}, "nothing called"),
        ({"do": "enclose", "names": ["motor"], "name": "gear"}, "taken"),
        ({"do": "enclose", "names": []}, "a list of names"),
        ({"do": "dissolve", "name": "motor"}, "no subsystem"),
    ):
        with pytest.raises(kn.ArgumentError, match=words):
            plan_gesture(text, gesture, AXIS)
    walker = FOLDER / "walker.yaml"
    with pytest.raises(kn.ArgumentError, match=r"in the file leg\.yaml"):
        plan_gesture(walker.read_text(), {"do": "dissolve", "name": "left"}, walker)


def test_an_input_bound_to_a_law_is_dissolved_into_a_signal():
    text = enclosed(AXIS, ["controller"]).replace("target: target,", "target: 2*target,", 1)
    new = dissolved(text, AXIS)
    assert check_text(new, AXIS).complete
    assert "target_2: 2*target" in new and "target: target_2" in new


def test_names_that_are_taken_outside_get_a_number():
    text = enclosed(AXIS, ["motor", "gear"])
    text = text.replace(
        "elements:\n  battery", "elements:\n  motor: {kind: resistor, plus: bus, minus: gnd, resistance: 1}\n  battery"
    )
    new = check_text(dissolved(text, AXIS), AXIS)
    assert new.complete
    assert new.system["motor"].kind == "resistor"
    assert new.system["motor_2"].kind == "dc_motor"
