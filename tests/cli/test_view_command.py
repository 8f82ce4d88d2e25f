"""``kinode view``: a model or stored runs become one file; what does not fit is refused by name."""

import base64
import re
import warnings
import zlib

import pytest
from command_line import kinode

import kinode as kn
from kinode.player.packet import read_packet

DATA = re.compile(r'<script type="application/x-kinode-run">([^<]*)</script>')


def runs_in(file):
    return [read_packet(zlib.decompress(base64.b64decode(text))) for text in DATA.findall(file.read_text())]


def test_a_model_becomes_a_file(model, tmp_path):
    page = tmp_path / "pendulum.html"
    done = kinode("view", model, "--output", page, "--until", "1 s", "--keep", "rod.acceleration", "--rate", 20)
    assert (done.returncode, done.stdout.strip()) == (0, f"wrote {page}"), done.stderr
    ((header, arrays),) = runs_in(page)
    assert header["name"] == "pendulum" and len(arrays["t"]) == 21 and arrays["t"][-1] == 1.0
    assert "rod.acceleration" in [info["name"] for info in header["series"]]


def test_equations_can_be_left_out(model, tmp_path):
    shown = []
    for k, more in enumerate([(), ("--no-equations",)]):
        page = tmp_path / f"{k}.html"
        assert kinode("view", model, "--output", page, "--until", "0.1 s", *more).returncode == 0
        ((header, _),) = runs_in(page)
        shown.append(header["equations"] is not None)
    assert shown == [True, False]
    report = tmp_path / "out"
    assert kinode("run", model, "--until", "0.1 s", "--report", report, "--no-equations").returncode == 0
    assert "<h2>Equations</h2>" not in (report / "pendulum.html").read_text()


@pytest.mark.parametrize("found", [True, False])
def test_only_a_browser_that_was_found_is_said_to_be_opened(model, monkeypatch, tmp_path, found):
    addresses = []
    monkeypatch.setattr("webbrowser.open", lambda address: addresses.append(address) or found)
    monkeypatch.setattr("tempfile.mkdtemp", lambda prefix: str(tmp_path))
    done = kinode("view", model, "--until", "0.1 s")
    page = tmp_path / "pendulum.html"
    assert done.returncode == 0 and page.exists() and addresses == [page.as_uri()]
    assert done.stdout.strip() == f"{'opened' if found else 'wrote'} {page}"
    assert ("no browser was found" in done.stderr) is not found
    run = kn.simulate(kn.load(model), 0.1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert run.view() == page
    words = [f"no browser was found on this machine: open {page} in one"]
    assert [str(warning.message) for warning in caught] == ([] if found else words)


def test_stored_runs_are_shown_together(model, tmp_path):
    system = kn.load(model)
    for name, length in (("a", 1.0), ("b", 2.0)):
        kn.simulate(system, length, samples=31).save(tmp_path / f"{name}.nc")
    page = tmp_path / "both.html"
    done = kinode("view", tmp_path / "a.nc", tmp_path / "b.nc", "--output", page)
    assert done.returncode == 0, done.stderr
    assert [header["label"] for header, _ in runs_in(page)] == ["a.nc", "b.nc"]
    assert [header["run"]["to"] for header, _ in runs_in(page)] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("{model}", "--output", "{folder}/x.txt"), "a player is written as .html"),
        (("{model}", "--rate", "-1", "--output", "{folder}/x.html"), "rate"),
        (("{model}", "--keep", "rod.colour", "--output", "{folder}/x.html"), "colour"),
        (("{model}", "--video", "{folder}/x.gif"), ".webm"),
        (("nothing.nc", "--output", "{folder}/x.html"), "nothing.nc"),
        (("{model}", "{model}", "--live"), "--live takes one model file"),
    ],
)
def test_what_does_not_fit_is_refused(model, tmp_path, args, words):
    done = kinode("view", *(arg.format(model=model, folder=tmp_path) for arg in args))
    assert done.returncode != 0 and words in " ".join(done.stderr.split())
    assert not list(tmp_path.glob("x.*"))


def test_a_failed_run_is_shown(tmp_path):
    model = tmp_path / "blow.yaml"
    model.write_text(
        "kinode: 1\nname: blow\nbodies: {ball: {mass: 1}}\n"
        "joints: {rail: {kind: prismatic, between: [world, ball], axis: x, q: 0.5, effort: 500*rail.q^5}}\n"
    )
    page = tmp_path / "blow.html"
    done = kinode("view", model, "--output", page)
    assert done.returncode == 0 and page.exists(), done.stderr
    ((header, _),) = runs_in(page)
    assert header["run"]["status"] == "failed" and header["events"][-1]["kind"] == "end"
