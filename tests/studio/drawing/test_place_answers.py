"""What pages ask that build in 3D: scenes, previews that change nothing, pulls, mobility, shapes."""

import shutil
from pathlib import Path

import pytest
from desk_pages import scene

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.fixture
def desk(folder, make_desk):
    shutil.copy(EXAMPLES / "double_pendulum.yaml", folder)
    return make_desk("double_pendulum.yaml")


def test_a_scene_says_what_can_be_placed_and_a_preview_changes_nothing(desk):
    text = desk.document.text

    async def story(page):
        shown = await page.ask("place_scene")
        assert {body["name"] for body in shown["bodies"]} == {"upper", "lower"} and shown["gaps"] == []
        centers = {place["name"]: place for place in shown["places"] if place["kind"] == "center"}
        at = [x + 0.01 for x in centers["lower"]["at"]]
        gesture = {"do": "place", "what": {"center": "lower"}, "at": at, "step": 1e-3, "parameters": True}
        moved = await page.ask("place_scene", gesture=gesture)
        (lower,) = [body for body in moved["bodies"] if body["name"] == "lower"]
        assert lower["com"] == pytest.approx(at, abs=1e-3)
        refused = await page.ask("place_scene", gesture={**gesture, "at": [1]})
        assert "three numbers" in refused["error"]["message"]
        assert desk.document.text == text and desk.document.version == 0

    scene(desk, story)


def test_a_pull_leads_to_a_start_or_is_refused(desk):
    async def story(page):
        early = await page.ask("place_start")
        assert "nothing was pulled" in early["error"]["message"]
        wrong = await page.ask("place_pull", body="lower", at=[0, 0], goal=[0, 0, 0])
        assert "at: three numbers" in wrong["error"]["message"]
        lost = await page.ask("place_pull", body="nobody", at=[0, 0, 0], goal=[0, 0, 0])
        assert "no body 'nobody'" in lost["error"]["message"]
        pulled = await page.ask("place_pull", body="lower", at=[0.2, 0, 0], goal=[0.45, 0.3, 0], anew=True)
        assert set(pulled["values"]) == {"shoulder", "elbow"} and pulled["left"] < 0.01
        start = await page.ask("place_start")
        await page.ask("gesture", version=0, gesture=start["gesture"])
        assert desk.document.text.count("q:") >= 1
        late = await page.ask("place_start")
        assert "nothing was pulled since" in late["error"]["message"]

    scene(desk, story)


def test_mobility_and_shapes_are_answered(desk):
    async def story(page):
        found = await page.ask("mobility")
        assert ["degrees of freedom", "2"] in found["counts"] and found["badges"] == {}
        assert (await page.ask("place_frames"))["frames"] == [{"name": "lower.tip", "body": "lower"}]
        shape = await page.ask("shape", name="lower")
        assert dict(shape["properties"])["mass"].endswith("kg") and shape["solid"] == ""
        refused = await page.ask("shape", name="elbow2")
        assert "nothing called 'elbow2'" in refused["error"]["message"]

    scene(desk, story)


def test_a_model_without_bodies_has_an_empty_scene(make_desk):
    async def story(page):
        assert (await page.ask("place_scene"))["empty"] is True
        assert "no body yet" in (await page.ask("mobility"))["error"]["message"]

    scene(make_desk(), story)
