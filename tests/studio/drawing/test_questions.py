"""What pages ask: inspection, completion, ports that fit, the gallery, copies."""

from pathlib import Path

import numpy as np
import pytest

import kinode as kn
from kinode.editing.checked_text import check_text
from kinode.editing.copying import copy_components
from kinode.editing.draft import ModelDraft, read_places
from kinode.editing.gestures import plan_gesture
from kinode.studio.document.document_files import ModelView
from kinode.studio.editor.checked_model import CheckedVersion, ModelVersion
from kinode.studio.editor.completion import complete_law, complete_text
from kinode.studio.editor.inspection import inspect_component
from kinode.studio.editor.kinds import find_fits
from kinode.studio.editor.library import draw_examples, find_example, find_models
from kinode.studio.editor.sketch import Sketcher

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
AXIS = (EXAMPLES / "motor_axis.yaml").read_text()


def checked(text, place=EXAMPLES / "motor_axis.yaml"):
    version = ModelVersion(1, text, ModelView(), place)
    return CheckedVersion(version, check_text(text, place))


@pytest.fixture(scope="module")
def axis():
    return checked(AXIS)


@pytest.fixture(scope="module")
def draft(axis):
    return ModelDraft(AXIS, axis.of.place, axis.checked)


@pytest.fixture(scope="module")
def sketch(axis):
    return Sketcher(axis.system).draw()


# -- the inspector ----------------------------------------------------------------------------------------------------
def test_fields_say_what_is_written_and_what_it_is(axis, sketch):
    motor = inspect_component(axis, sketch, "motor")
    fields = {field["name"]: field for field in motor["fields"]}
    assert motor["kind"] == "dc_motor" and motor["section"] == "elements" and motor["words"]
    assert fields["inductance"]["given"] == "0.4 mH" and fields["inductance"]["value"] == pytest.approx(4e-4)
    assert fields["constant"]["line"] == 1 + AXIS[: AXIS.index("constant:")].count("\n")
    assert fields["initial_current"]["given"] is None and fields["initial_current"]["value"] is None
    ports = {port["name"]: port for port in motor["ports"]}
    assert ports["minus"]["link"] == "gnd" and "amplifier" in ports["plus"]["words"]
    assert ports["shaft"]["link"] == "rotor"
    elbow = {port["name"]: port for port in inspect_component(axis, sketch, "elbow")["ports"]}
    assert elbow["1"]["link"] == "world" and elbow["2"]["link"] == "arm"


def test_laws_say_what_they_read(axis, sketch):
    fields = {f["name"]: f for f in inspect_component(axis, sketch, "controller")["fields"]}
    assert fields["measured"]["reads"] == ["elbow.q"] and fields["measured"]["value"] is None
    gear = {f["name"]: f for f in inspect_component(axis, sketch, "gear")["fields"]}
    assert gear["ratio"]["reads"] == ["ratio"] and gear["ratio"]["value"] == 60.0


def test_the_sides_of_a_joint_are_found_in_between(axis, sketch):
    fields = {f["name"]: f for f in inspect_component(axis, sketch, "elbow")["fields"]}
    assert fields["a"]["given"] == "world" and fields["b"]["given"] == "arm"


def test_what_a_joint_is_drawn_with_is_the_joint(axis, sketch):
    assert inspect_component(axis, sketch, "elbow.damping")["name"] == "elbow"


def test_the_whole_has_a_name_gravity_and_a_run(axis, sketch):
    whole = inspect_component(axis, sketch, "")
    given = {tuple(f["path"]): f["given"] for f in whole["fields"] if f["given"] is not None}
    assert given == {("name",): "motor_axis", ("gravity",): "[0, -9.81, 0]", ("run", "until"): "4 s"}
    assert whole["parameters"] == ["ratio", "reach"]


def test_parameters_and_signals_have_their_fields(axis, sketch):
    assert inspect_component(axis, sketch, "reach")["fields"][0]["given"] == "0.35 m"
    assert "smoothstep" in inspect_component(axis, sketch, "target")["fields"][0]["given"]


def test_a_broken_component_can_be_inspected(sketch):
    found = checked(AXIS.replace("0.9 Ohm", "0.9 Om"))
    motor = inspect_component(found, sketch, "motor")
    assert motor["broken"] and {f["name"]: f["given"] for f in motor["fields"]}["resistance"] == "0.9 Om"


def test_every_component_of_every_example_can_be_inspected():
    for path in EXAMPLES.glob("*.yaml"):
        found = checked(path.read_text(), path)
        drawing = Sketcher(found.system).draw()
        for box in drawing["boxes"]:
            assert inspect_component(found, drawing, box["name"])["section"], (path, box["name"])


@pytest.mark.parametrize("name", ["motor_axis", "rlc", "stewart_platform"])
def test_the_extent_of_a_sketch_holds_it_with_little_around_it(name):
    """Beyond the boxes there are a margin and at most the words beside them."""
    path = next(path for path in EXAMPLES.glob("*.yaml") if path.stem == name)
    drawing = Sketcher(checked(path.read_text(), path).system).draw()
    middles, halves = (np.array([box[key] for box in drawing["boxes"]]) for key in ("at", "size"))
    start, size = np.split(np.array(drawing["extent"]), 2)
    around = [(middles - halves / 2).min(axis=0) - start, start + size - (middles + halves / 2).max(axis=0)]
    assert np.min(around) >= 40 and np.max(around) <= 130, around


def test_nobody_is_inspected(axis, sketch):
    with pytest.raises(kn.ArgumentError, match="nothing is called"):
        inspect_component(axis, sketch, "nobody")


# -- completion -------------------------------------------------------------------------------------------------------
def labels(text, found=None):
    """The options where the text has a bar."""
    position = text.index("|")
    text = text.replace("|", "", 1)
    answer = complete_text(text, position, found or check_text(AXIS).system)
    return [option["label"] for option in answer["options"]], answer["from"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("kinode: 1\nbod|", "bodies"),
        ("elements:\n  motor: {kind: dc|", "dc_motor"),
        ("elements:\n  motor:\n    kind: dc|", "dc_motor"),
        ("joints:\n  j: {kind: rev|}\n", "revolute"),
        ("elements:\n  motor: {kind: dc_motor, resi|", "resistance"),
        ("elements:\n  motor:\n    kind: dc_motor\n    resi|\n", "resistance"),
        ("elements:\n  motor:\n    resi|\n    kind: dc_motor\n", "resistance"),
        ("elements:\n  r: {kind: resistor, plus: co|}", "coil"),
        ("elements:\n  m: {kind: dc_motor, shaft: elb|}", "elbow"),
        ("joints:\n  j: {kind: revolute, between: [world, ar|]}", "arm"),
        ("elements:\n  s: {kind: spring, a: arm.ha|}", "arm.hand"),
        ("elements:\n  c: {kind: pid, measured: elbow.|}", "elbow.q"),
        ("signals:\n  s: 2*smooth|", "smoothstep"),
        ("bodies:\n  b: {mass: 2 k|}", "kg"),
        ("bodies:\n  b: {about: or|}", "origin"),
        ("elements:\n  g: {kind: gearbox, ratio: rat|}", "ratio"),
        ("run: {meth|}", "method"),
        ("bodies:\n  b: {shape: {cyl|}}", "cylinder"),
        ("bodies:\n  b:\n    shape:\n      box:\n        den|\n", "density"),
        ("bodies:\n  b: {frames: {tip: {qua|}}}", "quaternion"),
        ("joints:\n  j: {kind: revolute, limits: {eff|}}", "effort"),
        ("joints:\n  j: {kind: revolute, a: arm.ha|}", "arm.hand"),
        ("joints:\n  j: {kind: revolute, a: {body: ar|}}", "arm"),
        ("frames:\n  f: {body: ar|}", "arm"),
        ("tables:\n  t: {meth|}", "method"),
        ("tables:\n  t: {method: cub|}", "cubic"),
        ("tables:\n  t: {outside: ho|}", "hold"),
        ("systems:\n  s: {on: arm.ha|}", "arm.hand"),
        ("run: {method: st|}", "stiff"),
        ("# {\nelements:\n  motor: {kind: dc|", "dc_motor"),
        ("signals: {s: 'a, {'}\nelements:\n  motor: {kind: dc|", "dc_motor"),
    ],
)
def test_what_fits_is_offered_first(text, first):
    found, start = labels(text)
    assert found and found[0] == first, found[:5]
    assert text.replace("|", "")[start : text.index("|")] in first


def test_names_of_parts_are_free():
    assert labels("elements:\n  mo|")[0] == []


def test_laws_are_completed_by_themselves():
    system = check_text(AXIS).system
    assert complete_law(system, "2*elb", 5) == complete_law(system, "2*elb + 1", 5)
    assert complete_law(system, "2*elb", 5)["from"] == 2
    assert complete_law(system, "2*elb", 5)["options"][0]["label"] == "elbow.q"
    assert complete_law(system, "3 mN", 4)["options"][0]["label"] == "mN"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_completion_never_fails_wherever_the_cursor_is(path):
    text = path.read_text()
    system = check_text(text, path).system
    for position in range(0, len(text), 37):
        answer = complete_text(text[:position], position, system)
        assert 0 <= answer["from"] <= position


# -- ports that fit ---------------------------------------------------------------------------------------------------
def test_ports_of_one_domain_fit(draft, sketch):
    fits = find_fits(draft, sketch, "motor", "plus")
    assert fits["battery:plus"] == "" and fits["reference:gnd"] == ""
    assert "rotational" in fits["gear:input"] and "quantity" in fits["target:out"] and fits["reference:world"]


def test_a_shaft_fits_a_joint_that_turns(draft, sketch):
    fits = find_fits(draft, sketch, "motor", "shaft")
    assert fits["elbow:3"] == "" and fits["reference:world"] == "" and fits["arm:body"]


def test_bodies_are_joined_by_joints():
    pendulum = checked((EXAMPLES / "double_pendulum.yaml").read_text())
    draft, drawing = ModelDraft(pendulum.of.text, None, pendulum.checked), Sketcher(pendulum.system).draw()
    names = {box["role"]: box["name"] for box in drawing["boxes"]}
    body = [box["name"] for box in drawing["boxes"] if box["role"] == "SB"]
    fits = find_fits(draft, drawing, body[0], "body")
    assert "joint" in fits[f"{body[1]}:body"] and "joint" in fits["reference:world"]
    joint = names["KN"]
    sides = find_fits(draft, drawing, joint, "1")
    assert sides["reference:world"] == "" and sides["reference:gnd"]
    own = next(name for name in body if f"{joint}.2" in {p["name"] for b in drawing["boxes"] if b["name"] == name
                                                         for p in b["ports"]})  # fmt: skip
    assert "to itself" in sides[f"{own}:body"]


def test_signals_go_from_out_to_in(draft, sketch):
    fits = find_fits(draft, sketch, "target", "out")
    assert fits["controller:in target"] == "" and "both give" in fits["controller:out"]
    assert "reference" in fits["reference:gnd"]


def test_every_port_has_a_verdict(draft, sketch):
    ports = {f"{box['name']}:{port['name']}" for box in sketch["boxes"] for port in box["ports"]}
    for name in sorted(ports):
        component, _, port = name.partition(":")
        assert {
            key for key in find_fits(draft, sketch, component, port) if not key.startswith("reference:")
        } == ports - {name}


@pytest.mark.parametrize("name", ["motor_axis", "double_pendulum", "rlc", "backlash_axis"])
def test_what_fits_can_be_connected_and_nothing_else(name):
    path = EXAMPLES / f"{name}.yaml"
    model = checked(path.read_text(), path)
    draft, drawing = ModelDraft(model.of.text, path, model.checked), Sketcher(model.system).draw()
    ports = [(box["name"], port["name"]) for box in drawing["boxes"] for port in box["ports"]]
    for component, port in ports[::3]:
        for target, refusal in find_fits(draft, drawing, component, port).items():
            one, _, two = target.partition(":")
            to = {"reference": two} if one == "reference" else {"component": one, "port": two}
            gesture = {"do": "connect", "from": {"component": component, "port": port}, "to": to}
            try:
                plan_gesture(model.of.text, gesture, path, model.checked)
                said = ""
            except kn.ArgumentError as error:
                said = str(error)
            assert bool(said) == bool(refusal), (component, port, target, said, refusal)


# -- the gallery and copies -------------------------------------------------------------------------------------------
def test_the_gallery_has_every_example_with_its_words(monkeypatch):
    monkeypatch.setattr("kinode.studio.editor.library.draw_example", lambda path: "<svg/>")
    rows = draw_examples()
    assert {row["file"] for row in rows} == {path.name for path in EXAMPLES.glob("*.yaml")}
    assert all(row["words"] and row["svg"] for row in rows)


def test_no_file_but_an_example_is_one():
    assert find_example("rlc.yaml") == EXAMPLES / "rlc.yaml"
    for name in ("../pyproject.toml", "/etc/passwd", "nothing.yaml", None, 3, "arm.py"):
        with pytest.raises(kn.ArgumentError, match="no example"):
            find_example(name)


def test_models_of_a_folder_are_found_by_what_they_are(tmp_path):
    (tmp_path / "a.yaml").write_text("# a remark\nkinode: 1\n")
    (tmp_path / "b.json").write_text('{"kinode": 1}')
    (tmp_path / "a.view.yaml").write_text("kinode_view: 1\n")
    (tmp_path / ".hidden.yaml").write_text("kinode: 1\n")
    (tmp_path / "list.yaml").write_text("milk: 2\n")
    assert find_models(tmp_path) == ["a.yaml", "b.json"]
    assert find_models(tmp_path / "nowhere") == []


def test_a_copy_is_text_that_loads():
    text = copy_components(read_places(AXIS), ["battery", "motor", "target"])
    again = kn.loads(f"kinode: 1\nparameters: {{ratio: 1}}\n{text}elements2: {{}}\n".replace("elements2: {}\n", "")
                     .replace("bus", "coil").replace("shaft: rotor", "shaft: world"))  # fmt: skip
    assert list(again.elements) == ["battery", "motor"] and list(again.signals) == ["target"]
