"""``kinode diff``: two files, a file against its last commit, peaks side by side; a narrow terminal, JSON, refusals."""

import json
import os
import shutil
import subprocess

import pytest
from command_line import PENDULUM, kinode

import kinode as kn

LONGER = PENDULUM.replace("L: 1 m", "L: 1500 mm").replace("push", "shove").replace("q: 20 deg", "q: 25 deg")


@pytest.fixture
def other(tmp_path):
    path = tmp_path / "longer.yaml"
    path.write_text(LONGER)
    return path


def git(folder, *words):
    names = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    env = {**os.environ, **names, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, env=env)


def test_two_files(model, other):
    done = kinode("diff", model, other, COLUMNS="110")
    assert done.returncode == 0, done.stderr
    assert "1 renamed, 2 changed" in done.stdout
    table = [line.split() for line in done.stdout.splitlines() if line.startswith(("~", ">"))]
    assert table == [
        ["~", "changed", "L", "value", "1", "m", "1500", "mm", "+50", "%", "3"],
        [">", "renamed", "shove", "push", "4"],
        ["~", "changed", "pivot", "q", "20", "deg", "25", "deg", "+25", "%", "8"],
    ]
    assert kinode("diff", model, other, "--exit-code").returncode == 1
    same = kinode("diff", model, model, "--exit-code")
    assert (same.returncode, "no difference" in same.stdout) == (0, True)


def test_a_narrow_terminal_has_one_below_the_other(model, other):
    lines = kinode("diff", model, other, COLUMNS="40").stdout.splitlines()
    assert "~ L.value  (line 3)" in lines and "    1 m -> 1500 mm (+50 %)" in lines
    assert max(map(len, lines)) <= 40


def test_json_and_peaks(model, other):
    done = kinode("diff", model, other, "--json", "--peaks", "--until", "1 s")
    found = json.loads(done.stdout)
    assert [row["part"] for row in found["rows"]] == ["L", "shove", "pivot"]
    peaks = {row["name"]: row for row in found["peaks"]}
    pivot = peaks["pivot.q"]
    assert pivot["percent"] == pytest.approx(100 * (pivot["after"] / pivot["before"] - 1)) and pivot["unit"] == "rad"
    shown = kinode("diff", model, other, "--peaks", "--until", "1 s", COLUMNS="50").stdout
    assert "pivot.force" in shown and "change" in shown and max(map(len, shown.splitlines()[-9:])) <= 50


def test_runs_in_python(model, other):
    one, two = (kn.simulate(kn.load(path), 0.5) for path in (model, other))
    found = kn.compare(one, two)
    rows = {row.name: row for row in found}
    assert rows["pivot.q"].before == pytest.approx(abs(one["pivot.q"]).max())
    assert rows["pivot.force"].after == pytest.approx(max((two["pivot.reaction.force"] ** 2).sum(axis=1) ** 0.5))
    assert "pivot.q" in str(found) and "pivot.q" in found._repr_html_() and found.to_dict()["rows"]
    assert {row.percent for row in kn.compare(one, one)} <= {0.0, None}
    assert "equal peaks" in repr(kn.compare(one, one))
    with pytest.raises(kn.ArgumentError, match="a run is compared with a run"):
        kn.compare(one, kn.load(model))


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_file_against_its_last_commit(model, tmp_path):
    alone = kinode("diff", model)
    assert alone.returncode == 2 and "is in no git repository" in alone.stderr
    git(tmp_path, "init", "-q")
    assert "has no commit yet" in kinode("diff", model).stderr
    (tmp_path / "part.yaml").write_text(
        "kinode: 1\nbodies: {rod: {mass: 1}}\njoints: {pin: {kind: revolute, between: [world, rod]}}\n"
    )
    whole = tmp_path / "whole.yaml"
    whole.write_text("kinode: 1\nsystems: {left: {file: part.yaml}}\n")
    git(tmp_path, "add", "part.yaml", "whole.yaml", "pendulum.yaml")
    git(tmp_path, "commit", "-qm", "first")
    assert "no difference" in kinode("diff", model).stdout
    model.write_text(PENDULUM.replace("mass: 1", "mass: 2"))
    assert "rod.shape.rod.mass" in kinode("diff", model, COLUMNS="60").stdout
    (tmp_path / "part.yaml").write_text((tmp_path / "part.yaml").read_text().replace("mass: 1", "mass: 3"))
    assert "left.rod" in kinode("diff", whole).stdout  # the file that it names was changed
    new = tmp_path / "new.yaml"
    new.write_text(PENDULUM)
    assert "new.yaml is not in the commit HEAD" in kinode("diff", new).stderr
    assert "there is no commit 'v9'" in kinode("diff", model, "--commit", "v9").stderr
    assert "is no commit" in kinode("diff", model, "--commit=--output=x").stderr


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_nothing_of_a_repository_is_run(model, tmp_path):
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    trap = f"touch {tmp_path / 'trapped'}"
    for key in ("core.fsmonitor", "core.pager", "diff.x.textconv", "alias.cat-file", "core.sshCommand"):
        git(tmp_path, "config", key, trap)
    git(tmp_path, "config", "filter.x.smudge", trap)
    (tmp_path / ".gitattributes").write_text("*.yaml diff=x filter=x\n")
    assert "no difference" in kinode("diff", model).stdout
    assert not (tmp_path / "trapped").exists()


def test_what_does_not_fit_is_refused(model, other, tmp_path):
    for words, said in (
        (["diff", tmp_path / "absent.yaml"], "there is no file"),
        (["diff", model, other, "--commit", "v1"], "is for one MODEL"),
        (["diff", model, other, "--until", "1"], "is for --peaks"),
    ):
        done = kinode(*words)
        assert done.returncode == 2 and said in " ".join(done.stderr.split())
