"""Two models compared by what they mean: what differs is named, with both values and lines, and nothing else is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import kinode as kn
from kinode.comparing.models import ModelSide, RowChange, compare_sides, read_side, side_of_checked, side_of_text
from kinode.comparing.taken_rows import find_taking
from kinode.editing.checked_text import check_text
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import apply_edits
from kinode.formats.yaml_files import dumps
from kinode.formats.yaml_text import SpanNode

PATHS = sorted((Path(__file__).resolve().parents[3] / "examples").glob("*.yaml"))
AXIS = next(path for path in PATHS if path.stem == "motor_axis")
FEW = [path for path in PATHS if path.stem in ("motor_axis", "slider_crank", "rotor", "double_pendulum")]
ARM = """kinode: 1
name: arm
parameters: {L: 0.5 m, k: 2}
bodies:
  upper: {mass: 2 kg, com: [L/2, 0, 0], frames: {tip: [L, 0, 0]}}
  lower: {mass: 1, com: [200 mm, 0, 0]}
joints:
  shoulder: {kind: revolute, between: [world, upper], effort: 3*sin(t) + k*t}
  elbow: {kind: revolute, between: [upper.tip, lower], q: 30 deg}
elements:
  source: {kind: voltage_source, plus: bus, minus: gnd, voltage: 12}
  load: {kind: resistor, plus: bus, minus: gnd, resistance: 4 Ohm}
run: {until: 2 s}
"""


def compared(before, after, file=None):
    sides = [side_of_text(text, file, label) for text, label in ((before, "before"), (after, "after"))]
    return compare_sides(*sides)


def rows(comparison):
    return [(row.change, row.part, row.field, row.before, row.after) for row in comparison]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_model_does_not_differ_from_itself_however_it_is_written(path):
    side = read_side(path)
    assert not compare_sides(side, ModelSide(side.system.copy(), "copy"))
    assert not compare_sides(side, side_of_text(dumps(side.system), path, "written anew"))


def test_units_order_and_comments_do_not_count():
    other = ARM.replace("mass: 2 kg, com: [L/2, 0, 0]", "com: [0.5*L, 0, 0], mass: 2000 g")  # and a comment
    other = other.replace("200 mm", "0.2").replace("3*sin(t) + k*t", "t*k + sin(t)*3").replace("bodies:", "bodies: # a")
    other = other.replace("30 deg", "0.5235987755982988 rad")
    assert other != ARM
    assert not compared(ARM, other)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("mass: 2 kg", "mass: 3", (RowChange.CHANGED, "upper", "mass", "2 kg", "3 kg")),
        ("q: 30 deg", "q: 45 deg", (RowChange.CHANGED, "elbow", "q", "30 deg", "45 deg")),
        ("L: 0.5 m", "L: 60 cm", (RowChange.CHANGED, "L", "value", "0.5 m", "60 cm")),
        ("+ k*t", "- k*t", (RowChange.CHANGED, "shoulder", "effort", "3*sin(t) + k*t", "3*sin(t) - k*t")),
        ("[upper.tip, lower]", "[upper, lower]", (RowChange.CHANGED, "elbow", "a", "upper.tip", "upper")),
        ("until: 2 s", "until: 3 s, rtol: 1e-6", (RowChange.CHANGED, "run", "until", "2 s", "3 s")),
        ("tip: [L, 0, 0]", "tip: [L, 0, 0.1]", (RowChange.CHANGED, "upper", "frames.tip", "[L, 0, 0]", "[L, 0, 0.1]")),
        ("voltage: 12", "voltage: 12, note: x", None),
    ],
)
def test_a_field_that_changed(old, new, expected):
    if expected is None:
        with pytest.raises(kn.Error, match="note"):
            compared(ARM, ARM.replace(old, new))
        return
    found = compared(ARM, ARM.replace(old, new))
    assert rows(found)[0] == expected
    line = 1 + next(k for k, text in enumerate(ARM.splitlines()) if old in text)
    assert (found.rows[0].line_before, found.rows[0].line_after) == (line, line)
    assert len(found) == 1 + ("rtol" in new)


def test_percent_and_links():
    other = ARM.replace("mass: 2 kg", "mass: 1 kg").replace(
        "resistor, plus: bus, minus: gnd", "resistor, plus: gnd, minus: bus"
    )
    found = compared(ARM, other)
    mass, plus, minus = found.rows
    assert (mass.percent, mass.link, plus.link, plus.field) == (-50.0, False, True, "plus")
    assert (minus.before, minus.after, found.parts) == ("gnd", "bus", ["upper", "load"])


def test_parts_that_came_went_and_were_renamed():
    other = ARM.replace("upper", "boom").replace("bus", "rail").replace("tip", "end").replace("L", "reach")
    other = other.replace("  load: {kind: resistor, plus: rail, minus: gnd, resistance: 4 Ohm}\n", "")
    other = other.replace("run:", "  heater: {kind: resistor, plus: rail, minus: gnd, resistance: 5 Ohm}\nrun:")
    found = compared(ARM, other)
    assert rows(found) == [
        (RowChange.RENAMED, "reach", "", "L", "reach"),
        (RowChange.RENAMED, "boom", "", "upper", "boom"),
        (RowChange.RENAMED, "boom", "frames.end", "upper.tip", "boom.end"),
        (RowChange.ADDED, "heater", "", "", "{kind: resistor, plus: rail, minus: gnd, resistance: 5 Ohm}"),
        (RowChange.REMOVED, "load", "", "{kind: resistor, plus: bus, minus: gnd, resistance: 4 Ohm}", ""),
        (RowChange.RENAMED, "rail", "", "bus", "rail"),
    ]
    assert [row.line_after for row in found][:2] == [3, 5]


def test_subsystems_are_one_row(tmp_path):
    (tmp_path / "unit.yaml").write_text(
        "kinode: 1\nbodies: {rod: {mass: 1}}\njoints: {pin: {kind: revolute, between: [world, rod]}}\n"
    )
    file = tmp_path / "both.yaml"
    one = "kinode: 1\nsystems:\n  left: {file: unit.yaml}\n"
    two = one + "  right: {file: unit.yaml}\n"
    assert rows(compared(one, two, file)) == [(RowChange.ADDED, "right", "", "", "2 components")]
    assert rows(compared(two, one, file)) == [(RowChange.REMOVED, "right", "", "2 components", "")]
    assert rows(compared(one, one.replace("left", "first"), file)) == [
        (RowChange.RENAMED, "first", "", "left", "first")
    ]
    inner = one.replace("unit.yaml}", "unit.yaml}\nchanges: {left.rod: {mass: 3}}")
    assert rows(compared(one, inner, file)) == [(RowChange.CHANGED, "left.rod", "mass", "1 kg", "3 kg")]


def test_declared_kinds_domains_notes_and_gravity():
    head = "kinode: 1\ngravity: [0, 0, -9.81]\nnotes: [one]\n"
    found = compared(head, head.replace("9.81", "1.62").replace("one", "two"))
    assert [(row.part, row.field) for row in found] == [("", "gravity"), ("", "notes")]
    assert found.rows[0].after == "[0, 0, -1.62] m/s^2"
    path = next(path for path in PATHS if path.stem == "warm_motor")
    text = path.read_text()
    other = text.replace("doc: heat, whose", "doc: Heat, whose").replace("doc: a mass that", "doc: what")
    found = [(row.section, row.part, row.field) for row in compared(text, other, path)]
    assert found == [("domains", "thermal", "doc"), ("components", "heat_capacity", "doc")]


def test_the_result_prints_and_is_plain_data():
    one = kn.loads(ARM)
    two = one.copy()
    two.change("upper", mass="3 kg")
    found = kn.compare(one, two)
    assert str(found) == "arm -> arm: 1 changed\n~ upper.mass  2 kg -> 3 kg (+50 %)"
    assert repr(found) == "<ModelComparison of 'arm' and 'arm': 1 changed>"
    assert json.loads(json.dumps(found.to_dict()))["rows"][0]["after"] == "3 kg"
    cells = re.findall("<td[^>]*>([^<]*)</td>", found._repr_html_())
    assert cells == ["~ changed", "upper", "mass", "2 kg", "3 kg", "+50 %", ""] and found and len(found) == 1
    assert not kn.compare(one, one.copy()) and "no difference" in str(kn.compare(one, one.copy()))


def test_what_cannot_be_compared_is_refused(tmp_path):
    with pytest.raises(kn.ArgumentError, match="a System or the path of a model is expected, not 3"):
        kn.compare(3, kn.loads(ARM))
    with pytest.raises(kn.ModelError, match="no such file"):
        kn.compare(tmp_path / "absent.yaml", kn.loads(ARM))


def test_unfinished_models_are_compared_as_they_are_written():
    wrong = ARM.replace("mass: 1,", "mass: 1 m,")
    sides = [side_of_checked(text, check_text(text), "") for text in (ARM, wrong)]
    found = compare_sides(*sides)
    assert [(row.part, row.field) for row in found if row.part == "lower"] == [("lower", "")]
    assert "1 m" in next(row.after for row in found if row.part == "lower")


# -- gestures --------------------------------------------------------------------------------------
def numbers_in(node: SpanNode, path=()):
    if isinstance(node.value, float):
        yield path, node.value
    for k, item in enumerate(node.items):
        yield from numbers_in(item, (*path, k))
    for key, entry in node.entries.items():
        yield from numbers_in(entry.node, (*path, key))


def side_of(text, path, label=""):
    return side_of_checked(text, check_text(text, path), label)


def random_gesture(draw, side):
    name = draw(st.sampled_from(list(side.places.paths)))
    numbers = list(numbers_in(side.places.node(name)))
    what = draw(st.sampled_from(["set", "set", "rename", "delete", "duplicate"]))
    if what == "set" and numbers:
        where, value = draw(st.sampled_from(numbers))
        return {"do": "set", "name": name, "path": list(where) or ["value"], "value": repr(1.5 * value + 0.25)}
    if what in ("delete", "duplicate"):
        return {"do": what, "names": [name]}
    return {"do": "rename", "name": name, "to": f"{name}_other"}


@given(st.data())
@settings(max_examples=8, deadline=None)
def test_a_changed_number_names_its_part_alone(data):
    path = data.draw(st.sampled_from(FEW))
    text = path.read_text()
    before = side_of(text, path)
    name = data.draw(st.sampled_from([n for n in before.places.paths if list(numbers_in(before.places.node(n)))]))
    where, value = data.draw(st.sampled_from(list(numbers_in(before.places.node(name)))))
    gesture = {"do": "set", "name": name, "path": list(where) or ["value"], "value": repr(1.5 * value + 0.25)}
    after = side_of(apply_edits(text, plan_gesture(text, gesture, path).edits), path)
    assert compare_sides(before, after).parts == [name]


@given(st.data())
@settings(max_examples=8, deadline=None, phases=(Phase.explicit, Phase.generate))
def test_taking_over_all_rows_makes_two_models_equal(data):
    path = data.draw(st.sampled_from(FEW))
    before = side_of(path.read_text(), path)
    text = before.text
    for _ in range(data.draw(st.integers(1, 3))):
        try:
            text = apply_edits(text, plan_gesture(text, random_gesture(data.draw, side_of(text, path)), path).edits)
        except kn.Error:
            continue
    for _ in range(80):
        mine = side_of(text, path)
        found = compare_sides(before, mine)
        if not found:
            break
        text = apply_edits(text, plan_gesture(text, take_one(found, before, mine, path), path).edits)
    assert not compare_sides(before, side_of(text, path))


def take_one(found, other, mine, path):
    reasons = []
    for row in found:
        try:
            return find_taking(row, other, mine, path)
        except kn.Error as error:
            reasons.append(f"{row}: {error}")
    raise AssertionError(reasons)


def test_taking_over_keeps_comments_and_the_names_of_this_model():
    mine = ARM.replace("upper", "boom").replace("mass: 1, ", "mass: 9, ").replace("{until: 2 s}", "{until: 7 s} # long")
    sides = side_of(ARM, None, "file.yaml"), side_of(mine, None)
    taken = {row.name: find_taking(row, *sides) for row in compare_sides(*sides)}
    assert taken["lower.mass"] == {
        "do": "set", "name": "lower", "path": ["mass"], "value": "1", "words": "take over lower.mass from file.yaml",
    }  # fmt: skip
    assert (taken["boom"]["name"], taken["boom"]["to"]) == ("boom", "upper")
    text = apply_edits(mine, plan_gesture(mine, taken["run.until"]).edits)
    assert "{until: 2 s} # long" in text
    lacking = mine.replace("  elbow: {kind: revolute, between: [boom.tip, lower], q: 30 deg}\n", "")
    sides = side_of(ARM, None), side_of(lacking, None)
    row = next(row for row in compare_sides(*sides) if row.part == "elbow")
    text = apply_edits(lacking, plan_gesture(lacking, find_taking(row, *sides)).edits)
    assert "elbow: {kind: revolute, between: [boom.tip, lower], q: 30 deg}" in text


def test_what_comes_from_another_file_is_taken_over_as_a_change(tmp_path):
    (tmp_path / "base.yaml").write_text(ARM)
    file = tmp_path / "mine.yaml"
    mine, other = "kinode: 1\nextends: base.yaml\n", "kinode: 1\nextends: base.yaml\nchanges: {upper: {mass: 5 kg}}\n"
    sides = side_of(other, file), side_of(mine, file)
    (row,) = compare_sides(*sides).rows
    text = apply_edits(mine, plan_gesture(mine, find_taking(row, *sides, file), file).edits)
    assert check_text(text, file).system.bodies["upper"].mass == 5.0
    back = side_of(mine, file), side_of(other, file)
    (row,) = compare_sides(*back).rows
    text = apply_edits(other, plan_gesture(other, find_taking(row, *back, file), file).edits)
    assert check_text(text, file).system.bodies["upper"].mass == 2.0
