"""Subsystems on the canvas: closed as boxes with ports, open as circuits of their own, places kept for both."""

from pathlib import Path

import pytest

import kinode as kn
from kinode.editing.checked_text import check_text
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import apply_edits
from kinode.studio.document.document_files import ModelView, new_file
from kinode.studio.editor.checked_model import CheckedVersion, ModelVersion, places_in
from kinode.studio.editor.drawn_circuit import read_entries
from kinode.studio.editor.inspection import inspect_component
from kinode.studio.editor.sketch import Sketcher
from kinode.studio.editor.studio_desk import StudioDesk
from kinode.studio.server.session import Session

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
AXIS = EXAMPLES / "motor_axis.yaml"


@pytest.fixture(autouse=True)
def _own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(scope="module")
def boxed():
    text = AXIS.read_text()
    plan = plan_gesture(text, {"do": "enclose", "names": ["motor", "gear"], "name": "drive"}, AXIS)
    return apply_edits(text, plan.edits)


def sketch(text, place):
    return Sketcher(check_text(text, place).system, boxes=read_entries(places_in(text))).draw()


def box_of(drawn, name):
    return next(box for box in drawn["boxes"] if box["name"] == name)


def ends(drawn, link):
    found = next(each for each in drawn["links"] if each["name"] == link)
    return {(end["component"], end["port"]) for end in found["ends"]}


def test_a_closed_box_has_the_links_that_cross_its_edge(boxed):
    drawn = sketch(boxed, AXIS)
    box = box_of(drawn, "drive")
    assert box["inside"] == {"file": "", "count": 2}
    ports = {port["name"]: (port["kind"], port["domain"], port["field"]) for port in box["ports"]}
    assert ports == {
        "coil": ("energy", "electrical", ["connect", "coil"]),
        "output": ("energy", "rotational", ["connect", "output"]),
    }  # fmt: skip
    assert ends(drawn, "coil") == {("amplifier", "second_plus"), ("drive", "coil")}
    assert ("drive", "output") in ends(drawn, "elbow.3")
    assert not any(each["name"].startswith("drive.") for each in drawn["boxes"])


def test_boxes_stand_in_the_row_of_bodies_and_on_their_frames():
    for name, box, port, other in (("walker", "left", "on", "trunk"), ("stewart_platform", "leg1", "rod", "top1")):
        path = EXAMPLES / f"{name}.yaml"
        drawn = sketch(path.read_text(), path)
        assert box_of(drawn, box)["inside"]["file"].endswith(".yaml")
        links = [link for link in drawn["links"] if {"component": box, "port": port} in link["ends"]]
        assert [other in {end["component"] for end in link["ends"]} for link in links] == [True]
    assert next(port for port in box_of(drawn, "leg1")["ports"] if port["name"] == "on")["reference"] == "world"


def test_a_broken_box_is_drawn(boxed):
    text = boxed.replace("connect: {coil: coil", "connect: {nothing: coil")
    found = CheckedVersion(ModelVersion(1, text, ModelView(), AXIS), check_text(text, AXIS))
    assert "nothing" in found.checked.broken["drive"]


def test_the_inspector_shows_a_box_from_outside(boxed):
    version = ModelVersion(1, boxed, ModelView(), AXIS)
    found = CheckedVersion(version, check_text(boxed, AXIS))
    shown = inspect_component(found, sketch(boxed, AXIS), "drive")
    rows = {".".join(row["path"]): row for row in shown["fields"]}
    assert (rows["parameters.ratio"]["given"], rows["parameters.ratio"]["default"]) == ("ratio", "60")
    assert (rows["parameters.ratio"]["value"], rows["parameters.ratio"]["live"]) == (60.0, "drive.ratio")
    assert rows["connect.output"]["given"] == "elbow"
    assert rows["connect.rotor"]["given"] is None


def test_the_inspector_shows_what_an_extended_file_says_and_what_is_changed():
    text, place = "kinode: 1\nextends: motor_axis.yaml\nchanges: {motor: {resistance: 2 Ohm}}\n", EXAMPLES / "mine.yaml"
    found = CheckedVersion(ModelVersion(1, text, ModelView(), place), check_text(text, place))
    shown = inspect_component(found, {"boxes": [], "links": []}, "motor")
    rows = {row["name"]: row for row in shown["fields"]}
    assert shown["origin"] == "motor_axis.yaml"
    assert (rows["resistance"]["given"], rows["resistance"]["value"]) == ("2 Ohm", 2.0)
    assert (rows["constant"]["given"], rows["constant"]["default"]) == (None, "0.048")


# -- the desk --------------------------------------------------------------------------------------
@pytest.fixture
def desk(boxed, tmp_path):
    made = StudioDesk(Session(), new_file(tmp_path, boxed, "axis.yaml"), tmp_path)
    yield made
    made.close()


def inside(gesture):
    return {"do": "in", "box": ["drive"], "gesture": gesture}


def drawn_inside(desk):
    return desk.checker.sketch(desk.version(("drive",)))


def test_the_inside_is_a_circuit_of_its_own(desk):
    drawn = drawn_inside(desk)
    assert {box["name"] for box in drawn["boxes"]} == {"motor", "gear"}
    output = next(port for port in box_of(drawn, "gear")["ports"] if port["name"] == "output")
    assert output["edge"] == "elbow"
    fits = desk.can_connect({"component": "gear", "port": "output"}, ("drive",))["targets"]
    assert fits["motor:shaft"] == "" and "electrical" in fits["motor:plus"]
    assert "motor:" in desk.copy(["motor"], ("drive",))["text"]
    with pytest.raises(kn.ArgumentError, match="no subsystem"):
        desk.version(("other",)) and desk.checked(("other",))


def test_places_inside_are_kept_and_tidied_by_themselves(desk):
    document = desk.document
    for gesture in (
        {"do": "move", "places": {"elbow": [10, 20]}},
        inside({"do": "move", "places": {"gear": [300, 40]}}),
    ):
        desk.changed(document.gesture(gesture))
    assert dict(document.view.places) == {"elbow": (10, 20), "drive.gear": (300, 40)}
    assert box_of(drawn_inside(desk), "gear")["at"] == [300.0, 40.0]
    desk.changed(document.gesture({"do": "rename", "name": "drive", "to": "axis"}))
    assert "axis.gear" in document.view.places
    desk.changed(document.undo())
    desk.changed(document.gesture(inside({"do": "tidy"})))
    assert dict(document.view.places) == {"elbow": (10, 20)}


def test_copies_inside_stand_beside_what_they_were_copied_from(desk):
    desk.changed(desk.document.gesture(inside({"do": "move", "places": {"motor": [100, 100]}})))
    change = desk.document.gesture(inside({"do": "duplicate", "names": ["motor"]}))
    assert change.made == ("drive.motor_2",)
    assert desk.document.view.places["drive.motor_2"] == (140.0, 140.0)


def test_a_problem_inside_names_its_box(desk):
    desk.changed(desk.document.gesture(inside({"do": "set", "name": "gear", "path": ["ratio"], "value": "ratoi"})))
    problems = desk.checker.problems(desk.version())
    first = next(problem for problem in problems if problem["severity"] == "error")
    assert (first["component"], first["box"]) == ("drive.gear", ["drive"])


def test_changes_inside_and_outside_are_taken_back_in_turn(desk, boxed):
    steps = [
        inside({"do": "set", "name": "gear", "path": ["ratio"], "value": "70"}), {"do": "delete", "names": ["battery"]},
        inside({"do": "all", "gestures": [{"do": "rename", "name": "coil", "to": "c"}, {"do": "add", "kind": "body"}]}),
        {"do": "dissolve", "name": "drive"},
    ]  # fmt: skip
    for step in steps:
        desk.changed(desk.document.gesture(step))
    for _ in steps:
        desk.changed(desk.document.undo())
    assert desk.document.text == boxed
