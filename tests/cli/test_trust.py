"""--trust: every command that reads a model takes it, none trusts by itself, and one sentence says what to do."""

import inspect
import re

import pytest
from command_line import kinode

from kinode.cli.commands import app
from kinode.editing.checked_text import check_text, is_trusted, trusting
from kinode.errors import TRUST
from kinode.studio.editor.studio_view import StudioView

BASE = """kinode: 1
name: base
bodies: {rod: {shape: {rod: {length: 1, mass: 1}}}}
joints: {pivot: {kind: revolute, between: [world, rod], axis: y, q: 20 deg}}
run: {until: 0.1}
"""
FREE = {"examples", "schema", "bench"}  # commands without a model
ARGUMENTS = {
    "run": ["--quiet"], "verify": ["--states", "1"], "equations": [], "explain": [], "circuit": [], "reactions": [],
    "balance": ["--about", "rod"], "show": ["--text"], "sweep": ["--over", "pivot.q=1 rad,2 rad", "--quiet"],
    "view": ["--output", "{}/page.html"], "export": ["--to", "yaml", "--out", "{}/out.yaml"],
    "identify": ["{}/log.csv", "--measure", "pivot.q=q", "--free", "rod.shape.mass"],
}  # fmt: skip


@pytest.fixture
def outside(tmp_path):
    """A model that extends a file outside its folder."""
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "log.csv").write_text("t,q\n0,0.349\n0.05,0.34\n0.1,0.3\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "model.yaml").write_text("kinode: 1\nextends: ../base.yaml\n")
    return inner / "model.yaml"


def test_every_command_with_a_model_takes_trust():
    for command in app.registered_commands:
        name = command.callback.__name__
        assert ("trust" in inspect.signature(command.callback).parameters) == (name not in FREE)
        assert name in {*ARGUMENTS, *FREE, "studio", "diff"}


@pytest.mark.parametrize("command", ARGUMENTS)
def test_nothing_is_trusted_by_default(command, outside, tmp_path):
    more = [part.format(tmp_path) for part in ARGUMENTS[command]]
    done = kinode(command, outside, *more)
    assert done.returncode == 1 and "outside the folder of the model; " + TRUST in " ".join(done.stderr.split())


@pytest.mark.parametrize("command", ["verify", "balance", "view", "sweep", "equations"])
def test_trust_lets_a_model_name_other_files(command, outside, tmp_path):
    more = [part.format(tmp_path) for part in ARGUMENTS[command]]
    done = kinode(command, outside, *more, "--trust")
    assert done.returncode == 0, done.stderr


def test_models_are_compared_with_trust(outside):
    assert "outside the folder" in kinode("diff", outside, outside).stderr
    assert kinode("diff", outside, outside, "--trust").returncode == 0


def test_the_studio_trusts_the_model_it_was_started_with_and_no_other(outside, tmp_path):
    def problems(place):
        return [problem.message for problem in check_text(outside.read_text(), place).problems]

    assert re.search("trust=True in Python, --trust", problems(outside)[0])
    with StudioView(outside, program="", verify=False, trust=True) as view:
        assert list(view.desk.checked().system.bodies) == ["rod"] and is_trusted(outside)
        other = outside.with_name("other.yaml")
        assert problems(outside) == [] and len(problems(other)) == 1
    assert len(problems(outside)) == 1 and not is_trusted(outside)
    with trusting(outside), trusting(outside):
        pass
    assert not is_trusted(outside)
    with pytest.raises(ValueError, match="trust is for a model that is named"):
        StudioView(folder=tmp_path, program="", trust=True)


def test_one_sentence_in_every_place():
    from kinode.importers.robot_files import REFUSED

    assert REFUSED.endswith(TRUST)
