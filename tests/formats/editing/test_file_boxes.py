"""Subsystems that are files: added by a gesture, and written out ones that become files; the System stays the same."""

from pathlib import Path

import pytest

import kinode as kn
from kinode.editing.draft import ModelDraft
from kinode.editing.file_boxes import check_box_file, load_file_box, name_of_file, write_box_file
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import apply_edits, invert_edits

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
WALKER = EXAMPLES / "walker.yaml"
NESTED = """kinode: 1
name: outer
systems:
  # the leg, twice as long
  leg:
    on: world
    system:
      bodies: {a: {mass: 1}}  # one body
      # a hinge
      joints:
        hinge: {kind: revolute, between: [world, a]}
      systems: {inner: {file: library/part.yaml}}
"""


def done(text, place, **gesture):
    plan = plan_gesture(text, gesture, place)
    new = apply_edits(text, plan.edits)
    assert apply_edits(new, invert_edits(text, plan.edits)) == text
    return new, plan


def test_a_file_is_added_as_python_adds_it():
    text = WALKER.read_text()
    new, plan = done(text, WALKER, do="insert", file="strut.yaml")
    assert plan.made == ["strut"] and plan.words == "add strut from strut.yaml"
    assert new == text.replace("0.41 m}}\n", "0.41 m}}\n  strut: {file: strut.yaml}\n")
    expected = kn.load(WALKER)
    expected.add("strut", kn.load(EXAMPLES / "strut.yaml"))
    assert kn.loads(new, file=WALKER).declared == expected.declared
    _, again = done(new, WALKER, do="insert", file="strut.yaml", fields={"on": "trunk"})
    assert again.made == ["strut_2"]


def test_a_file_is_added_to_an_open_box(tmp_path):
    place = tmp_path / "model.yaml"
    (tmp_path / "leg.yaml").write_text((EXAMPLES / "leg.yaml").read_text())
    text = "kinode: 1\nsystems: {box: {system: {bodies: {a: {mass: 1}}}}}\n"
    new, plan = done(text, place, do="in", box=["box"], gesture={"do": "insert", "file": "leg.yaml"})
    assert plan.made == ["box.leg"] and "systems: {leg: {file: leg.yaml}}" in new


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("walker.yaml", "in a circle"),
        ("nobody.yaml", "no such file"),
        ("../secret.yaml", "outside the folder"),
        ("/etc/passwd.yaml", "outside the folder"),
        ("mkdocs.yml", "starts with 'kinode: 1'|version of the format is missing"),
        ("broken.yaml", "line 2"),
        ("walker.view.yaml", "view|kinode"),
    ],
)
def test_what_cannot_be_a_subsystem_says_why(tmp_path, file, words):
    for name in ("walker", "leg"):
        (tmp_path / f"{name}.yaml").write_text((EXAMPLES / f"{name}.yaml").read_text())
    (tmp_path.parent / "secret.yaml").write_text("kinode: 1\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: x\n")
    (tmp_path / "broken.yaml").write_text("kinode: 1\nbodies: {a: {mass: -1 m}}\n")
    (tmp_path / "walker.view.yaml").write_text("kinode_view: 1\nplaces: {}\n")
    with pytest.raises(kn.ArgumentError, match=words) as error:
        plan_gesture(WALKER.read_text(), {"do": "insert", "file": file}, tmp_path / "walker.yaml")
    assert file in str(error.value)


def test_a_file_that_contains_the_model_is_refused(tmp_path):
    place = tmp_path / "arm.yaml"
    place.write_text("kinode: 1\n")
    (tmp_path / "robot.yaml").write_text("kinode: 1\nsystems: {arm: {file: arm.yaml}}\n")
    with pytest.raises(kn.ModelError, match="in a circle"):
        load_file_box(place, "robot.yaml")


def test_a_box_of_a_selection_becomes_a_file_with_the_same_system(tmp_path):
    place, target = tmp_path / "axis.yaml", tmp_path / "library" / "drive.yaml"
    text = (EXAMPLES / "motor_axis.yaml").read_text()
    boxed, _ = done(text, place, do="enclose", names=["motor", "gear"], name="drive")
    content = write_box_file(ModelDraft(boxed, place), "drive", target, "A motor\nwith its gear.")
    assert content.startswith("# A motor with its gear.\nkinode: 1\nname: drive\n")
    target.parent.mkdir()
    target.write_text(content)
    referring, plan = done(boxed, place, do="refer", name="drive", file="library/drive.yaml")
    assert "system:" not in referring and plan.words == "read drive from library/drive.yaml"
    assert kn.loads(referring, file=place) == kn.loads(boxed, file=place)
    assert referring.partition("systems:")[0] == boxed.partition("systems:")[0]
    check_box_file(content, target, place)


def test_comments_stay_and_files_are_named_from_the_new_place(tmp_path):
    place, target = tmp_path / "outer.yaml", tmp_path / "library" / "leg.yaml"
    content = write_box_file(ModelDraft(NESTED, place), "leg", target)
    inside = NESTED.partition("    system:\n")[2].replace("      ", "", 1).replace("\n      ", "\n")
    assert content == "kinode: 1\nname: leg\n" + inside.replace("library/part.yaml", "part.yaml")
    referring, _ = done(NESTED, place, do="refer", name="leg", file="library/leg.yaml")
    assert "# the leg, twice as long" in referring and referring.endswith("    file: library/leg.yaml\n")
    outside = NESTED.replace("library/part.yaml", "part.yaml")
    with pytest.raises(kn.ArgumentError, match=r"leg names part.yaml, which lies outside library/"):
        write_box_file(ModelDraft(outside, place), "leg", target)


def test_a_box_in_brackets_and_in_json(tmp_path):
    place, target = tmp_path / "m.json", tmp_path / "library" / "b.yaml"
    text = '{"kinode": 1, "systems": {"b": {"system": {"name": "own", "bodies": {"a": {"mass": 2}}}, "on": "world"}}}'
    content = write_box_file(ModelDraft(text, place), "b", target)
    assert "name: own" in content.replace(chr(34), "") and "kinode: 1" in content
    referring, _ = done(text, place, do="refer", name="b", file="library/b.yaml")
    assert referring == '{"kinode": 1, "systems": {"b": {"file": "library/b.yaml", "on": "world"}}}'


def test_refusals_of_boxes(tmp_path):
    place, target = tmp_path / "m.yaml", tmp_path / "library" / "b.yaml"
    alias = "kinode: 1\nbodies: {x: &heavy {mass: 9}}\nsystems: {b: {system: {bodies: {a: *heavy}}}}\n"
    with pytest.raises(kn.ArgumentError, match="written elsewhere"):
        write_box_file(ModelDraft(alias, place), "b", target)
    with pytest.raises(kn.ArgumentError, match="x is no subsystem"):
        plan_gesture(alias, {"do": "refer", "name": "x", "file": "f.yaml"}, place)
    with pytest.raises(kn.ArgumentError, match="in the file"):
        plan_gesture(WALKER.read_text(), {"do": "refer", "name": "left", "file": "f.yaml"}, WALKER)
    with pytest.raises(kn.ArgumentError, match=r"would not be a subsystem: .*mass.*line 2"):
        check_box_file("kinode: 1\nbodies: {a: {mass: 1 m}}\n", target, place)
    itself = "kinode: 1\nsystems: {again: {file: b.yaml}}\n"
    with pytest.raises(kn.ArgumentError, match="in a circle"):
        check_box_file(itself, target, place)


@pytest.mark.parametrize(
    ("file", "name"), [("library/two-stage gear.yaml", "two_stage_gear"), ("3d.yaml", "box_3d"), ("--.yaml", "box")]
)
def test_names_of_files_become_names_of_boxes(file, name):
    assert name_of_file(file) == name
