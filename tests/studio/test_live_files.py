"""Live pages of files and of runs: the page follows its file, a run shows itself, the command serves a model."""

import shutil
import subprocess
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from live_page import LivePage

import kinode as kn
from kinode.player.diagram_data import diagram_data
from kinode.player.equation_data import equation_data
from kinode.studio.live.later_parts import LaterParts, find_later_parts
from kinode.studio.live.live_view import LiveView, serve_model, view_live
from kinode.studio.live.model_watch import find_named_files, find_stamp

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def model_file(tmp_path):
    file = tmp_path / "double_pendulum.yaml"
    shutil.copy(EXAMPLES / "double_pendulum.yaml", file)
    return file


def test_the_page_follows_the_file_and_a_wrong_one_leaves_the_run(model_file):
    system = kn.load(model_file)
    body = next(iter(system.bodies))
    mass = f"{body}.mass"
    with LiveView(system, 1.0, file=model_file, player="") as view, LivePage(view.server) as page:
        opened, _ = page.ask("open")
        assert opened["live"]["file"] == "double_pendulum.yaml"
        free = [x for x in opened["live"]["parameters"] if x["group"] == body and not x["structural"]]
        number = next(x for x in free if x["name"] != mass)
        page.ask("set", values={number["name"]: 1.25 * number["value"], mass: 7.0})
        text = model_file.read_text()
        changed = system.copy()
        changed.change(body, mass=3.0)
        changed.save(model_file)
        header, _ = page.wait_for("model", lambda x: x["cause"] == "file")
        values = {x["name"]: x["value"] for x in header["live"]["parameters"]}
        assert values[mass] == 3.0  # the file has the last word on what was written anew
        assert values[number["name"]] == 1.25 * number["value"]
        model_file.write_text(text.replace("revolute", "revolut"))
        error, _ = page.wait_for("model_error")
        assert error["line"] and error["component"] and "revolut" in error["message"]
        assert page.ask("set")[0]["run"]["status"] == "done"
        assert page.ask("open")[0]["live"]["trouble"]["line"] == error["line"]
        page.pushed.clear()
        model_file.write_text(text)
        page.wait_for("model", lambda x: x["cause"] == "file")
        assert page.ask("open")[0]["live"].get("trouble") is None


def test_files_that_a_model_names_are_watched(tmp_path):
    model, table = tmp_path / "arm.yaml", tmp_path / "curves" / "torque.csv"
    table.parent.mkdir()
    table.write_text("0,1\n")
    model.write_text("tables: {torque: {file: curves/torque.csv}}\nextends: ../outside.yaml\nname: no.csv\n")
    (tmp_path.parent / "outside.yaml").write_text("kinode: 1\n")
    assert find_named_files(model) == [model, table]
    before = find_stamp(model)
    table.write_text("0,1\n1,2\n")
    assert find_stamp(model) != before


def test_parts_that_take_long_come_from_another_process():
    run = kn.simulate(kn.load(EXAMPLES / "rlc.yaml"), 0.01, samples=11, progress=False)
    found = find_later_parts(run, diagram=True, equations=True)
    here = equation_data(run)
    assert found.diagram == diagram_data(run.system)
    assert found.equations.infos == here.infos and np.allclose(found.equations.values, here.values, rtol=1e-12)


def test_parts_that_are_not_wanted_any_more_end_their_process(monkeypatch):
    run = kn.simulate(kn.load(EXAMPLES / "rlc.yaml"), 0.01, samples=11, progress=False)
    started, looks = [], []

    class Started(subprocess.Popen):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Started)
    assert find_later_parts(run, diagram=True, equations=True, goes_on=lambda: looks.append(1) or len(looks) < 3) == (
        None,
        None,
    )
    assert len(started) == 1 and started[0].returncode != 0  # ended, not left to finish


@pytest.mark.parametrize("cause", ["closed", "another model"])
def test_what_is_made_for_a_page_ends_with_it_and_with_its_model(cause, monkeypatch):
    asked, ended = [], Event()

    def make(run, *, diagram, equations, goes_on):
        asked.append(run)
        while len(asked) == 1 and goes_on():
            ended.wait(0.01)
        ended.set()
        return LaterParts(None, None)

    monkeypatch.setattr("kinode.studio.live.live_view.find_later_parts", make)
    system, more = kn.load(EXAMPLES / "pendulum.yaml"), kn.load(EXAMPLES / "double_pendulum.yaml")
    with LiveView(system, 1.0, player="") as view:
        with LivePage(view.server) as page:
            page.ask("open")
        assert not ended.wait(0.1)
        if cause == "another model":
            view.model.show(more)
            assert ended.wait(60) and view.complete.wait(60) and len(asked) == 2
    assert ended.wait(60)
    assert view.complete.is_set() == (cause == "another model")


def test_a_run_shows_itself_live_with_its_values_start_and_end(monkeypatch):
    monkeypatch.setattr("kinode.studio.live.live_view.find_player", lambda: "")
    run = kn.simulate(
        kn.load(EXAMPLES / "motor_axis.yaml"), 0.5, parameters={"ratio": 40.0}, start={"elbow.q": 0.25}, progress=False
    )
    with view_live(run, browser=False) as view, LivePage(view.server) as page:
        header, arrays = page.ask("open")
        assert str(view.server.port) in repr(view) and "token" in view.url and view.url not in repr(view)
        assert header["live"]["values"] == {"ratio": 40.0} and arrays["t"][-1] == 0.5
        assert header["live"]["start"]["elbow.q"] == pytest.approx(0.25)
        row = next(x["row"] for x in header["series"] if x["name"] == "elbow.q")
        assert arrays["series"][row, -1] == pytest.approx(run["elbow.q"][-1], rel=1e-6)
    assert view.wait(60)


def test_the_command_serves_a_model_and_tells_what_is_wrong(model_file, monkeypatch):
    monkeypatch.setattr("kinode.studio.live.live_view.find_player", lambda: "")
    opened, said = [], []
    monkeypatch.setattr("webbrowser.open", opened.append)  # which finds none
    monkeypatch.setattr(LiveView, "wait", lambda self, seconds=None: True)
    serve_model(model_file, until="500 ms", say=said.append)
    assert opened[0].startswith("http://127.0.0.1:") and "double_pendulum.yaml" in said[0]
    assert "no browser was found on this machine: open http://127.0.0.1:" in said[0]
    with pytest.raises(kn.ModelError, match="no such file"):
        serve_model(model_file.parent / "nothing.yaml", say=said.append)


def test_what_is_wrong_at_first_is_shown_on_the_page(model_file):
    errors = []
    system = kn.load(model_file)
    with LiveView(system, 1.0, values={"nobody.mass": 1.0}, player="", on_error=errors.append) as view:
        with LivePage(view.server) as page:
            header, _ = page.ask("open")
        assert "nobody.mass" in header["error"]["message"] and len(errors) == 1
