"""The studio compares its document with other models: rows, ghosts, peaks, taking over; refusals."""

import os
import shutil
import subprocess

import pytest
from desk_pages import scene, set_value

from kinode.studio.server.session import Job


def test_another_file_is_compared_and_taken_over(make_desk, folder, rlc):
    other = rlc.replace("20 Ohm", "25 Ohm")
    other = other.replace(
        "elements:\n", "elements:\n  bleeder: {kind: resistor, plus: top, minus: gnd, resistance: 1 kOhm}\n"
    )
    (folder / "other.yaml").write_text(other)
    desk = make_desk()

    async def story(page):
        choices = await page.ask("compare_choices")
        assert choices["files"] == ["other.yaml"] and choices["saved"] and "in no git repository" in choices["why"]
        found = await page.ask("compare", other={"file": "other.yaml"})
        assert [(row["change"], row["part"], row["field"]) for row in found["rows"]] == [
            ("changed", "wire", "resistance"), ("removed", "bleeder", ""),
        ]  # fmt: skip
        assert found["label"] == "other.yaml" and [box["name"] for box in found["ghosts"]] == ["bleeder"]
        rows = [{"part": "wire", "field": "resistance", "change": "changed"}]
        done = await page.ask("compare_take", other={"file": "other.yaml"}, rows=rows)
        assert desk.document.text == rlc.replace("20 Ohm", "25 Ohm") and done["version"] == 1
        everything = [dict(row) for row in found["rows"]]
        await page.ask("compare_take", other={"file": "other.yaml"}, rows=everything)
        assert (await page.ask("compare", other={"file": "other.yaml"}))["rows"] == []
        await page.ask("undo")
        await page.ask("undo")
        assert desk.document.text == rlc
        gone = await page.ask("compare_take", other={"saved": True}, rows=rows)
        assert "not there any more" in gone["error"]["message"]

    scene(desk, story)


BODIES = """kinode: 1
bodies: {arm: {mass: 1}, tool: {mass: 2, shape: {sphere: {radius: 0.1}}}}
joints:
  slide: {kind: prismatic, between: [world, arm], axis: x, q: 0.3}
  weld: {kind: fixed, between: [{body: arm, at: [0, 0.5, 0]}, tool]}
"""


def test_bodies_that_are_gone_stand_where_the_other_model_has_them(make_desk, folder):
    (folder / "was.yaml").write_text(BODIES)
    (folder / "now.yaml").write_text(BODIES.replace(", tool: {mass: 2, shape: {sphere: {radius: 0.1}}}", "").replace(
        "  weld: {kind: fixed, between: [{body: arm, at: [0, 0.5, 0]}, tool]}\n", ""
    ))  # fmt: skip
    desk = make_desk("now.yaml")

    async def story(page):
        gone = await page.ask("compare_scene", other={"file": "was.yaml"})
        assert [body["name"] for body in gone["bodies"]] == ["tool"] and gone["joints"] == gone["frames"] == []
        assert (await page.ask("compare_scene", other={"saved": True}))["bodies"] == []
        refused = await page.ask("compare_scene", other={"file": "none.yaml"})
        assert "has no model" in refused["error"]["message"]

    scene(desk, story)
    answer = desk.session.handler_of("compare_scene")
    _, arrays = answer(Job(1, "compare_scene", {"other": {"file": "was.yaml"}}, None))
    assert arrays["poses"].shape == (1, 7, 1) and arrays["poses"][0, :3, 0] == pytest.approx([0.3, 0.5, 0.0])


def test_saved_text_and_peaks(make_desk):
    desk = make_desk()

    async def story(page):
        await page.ask("gesture", version=0, gesture=set_value("40 Ohm"))
        await page.settled(desk)
        found = await page.ask("compare", other={"saved": True})
        assert [(row["before"], row["after"], row["percent"]) for row in found["rows"]] == [("20 Ohm", "40 Ohm", 100.0)]
        run = await page.ask("compare_run", other={"saved": True})
        peaks = {peak["name"]: peak for peak in run["peaks"]}
        assert peaks["coil.current"]["before"] > peaks["coil.current"]["after"] > 0
        assert peaks["coil.current"]["percent"] < 0 and run["format"] == "kinode-run"
        text = await page.ask("compare", other={"text": desk.document.text, "label": "pinned run"})
        assert text["rows"] == [] and text["label"] == "pinned run"

    scene(desk, story)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_last_commit(make_desk, folder, rlc):
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
           "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}  # fmt: skip
    for words in (["init", "-q"], ["add", "rlc.yaml"], ["commit", "-qm", "first"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True, env=env, capture_output=True)
    (folder / "rlc.yaml").write_text(rlc.replace("20 Ohm", "22 Ohm"))

    async def story(page):
        assert (await page.ask("compare_choices"))["commit"].startswith("rlc.yaml at HEAD (")
        found = await page.ask("compare", other={"commit": "HEAD"})
        assert [(row["part"], row["before"]) for row in found["rows"]] == [("wire", "20 Ohm")]

    scene(make_desk(), story)


def test_what_cannot_be_compared_is_said(make_desk, folder):
    (folder / "broken.yaml").write_text("kinode: 1\nbodies: {a: {mass: 1 m}}\n")
    (folder / "odd.yaml").write_text("kinode: 1\nbodies: {a: [\n")
    desk = make_desk()

    async def story(page):
        for other, words in (
            ({"file": "../secret.yaml"}, "has no model"), ({"commit": "HEAD"}, "in no git repository"),
            (3, "is expected"), ({}, "is expected"), ({"file": "odd.yaml"}, "cannot be compared"),
            ({"commit": 3}, "is expected"),
        ):  # fmt: skip
            assert words in (await page.ask("compare", other=other))["error"]["message"]
        await page.settled(desk)
        refused = await page.ask("compare_run", other={"file": "broken.yaml"})
        assert "does not run" in refused["error"]["message"]
        assert "rows" in (await page.ask("compare_take", other={"saved": True}, rows=[]))["error"]["message"]

    scene(desk, story)
    closed = make_desk(read_only=True)

    async def reader(page):
        refused = await page.ask("compare_take", other={"saved": True}, rows=[{"part": "wire"}])
        assert "read-only" in refused["error"]["message"]
        assert (await page.ask("compare", other={"saved": True}))["rows"] == []

    scene(closed, reader)
