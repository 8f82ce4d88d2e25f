"""An FMU in the studio: its fields in the form, its run, what is said without trust."""

import shutil

import pytest
from small_fmus import make_fmu
from studio_hands import studio

import kinode as kn

MODEL = """\
kinode: 1
name: room
parameters: {power: 2}
elements:
  room: {kind: fmu, file: room.fmu, inputs: {u: power}, parameters: {high: 1.0}}
run: {until: 2}
"""


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def model(tmp_path):
    shutil.copy(make_fmu("thermostat", 2), tmp_path / "room.fmu")
    file = tmp_path / "model.yaml"
    file.write_text(MODEL)
    return file


def field(page, name):
    return page.locator(f".inspector [data-field='{name}'] input[type=text]").first


def test_its_fields_are_changed_in_the_form_and_it_runs(make_page, model):
    page = make_page(width=1440, height=1000)
    with studio(page, model, trust=True) as hands:
        page.evaluate("() => kinodeStudio.select(['room'], 'test')")
        field(page, "file").wait_for()
        assert hands.problems() == [] and field(page, "file").input_value() == "room.fmu"
        hands.wait_for_run("room.x")
        field(page, "inputs").fill("{u: 2*power}")
        field(page, "inputs").press("Enter")
        hands.wait()
        assert hands.problems() == []
        part = kn.loads(hands.text, model, trust=True)["room"]
        assert str(part.inputs[0][1].text()) == "2*power"


def test_without_trust_one_sentence_says_what_to_do(make_page, model):
    page = make_page(width=1440, height=1000)
    with studio(page, model) as hands:
        [problem] = hands.problems()
        assert "is code and would run" in problem and "--trust on the command line" in problem
