"""What pages ask that build in 3D: scenes, previews that change nothing, pulls, mobility, shapes."""

import shutil
from pathlib import Path

import pytest
from desk_pages import scene

import kinode as kn
from kinode.studio.placing.place_desk import find_lock_problems

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
        assert "at: 3 numbers" in wrong["error"]["message"]
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


LOCKED = """kinode: 1
bodies:
  crank: {mass: 1, inertia: [0.1, 0.1, 0.1]}
  rod: {mass: 1, inertia: [0.1, 0.1, 0.1]}
  piston: {mass: 1, inertia: [0.1, 0.1, 0.1]}
joints:
  main: {kind: revolute, between: [world, crank]}
  pin: {kind: revolute, between: [crank, rod], at: [0.1, 0, 0]}
  wrist: {kind: revolute, between: [rod, piston], at: [0.6, 0, 0]}
  slide: {kind: prismatic, between: [world, piston], at: [0.6, 0, 0]}  # the default axis is z
run: {until: 10 ms}
"""


def test_a_locked_mechanism_is_explained_and_freed_by_a_click(make_desk, folder):
    (folder / "locked.yaml").write_text(LOCKED)
    desk = make_desk("locked.yaml")

    async def story(page):
        await page.settled(desk)
        problems = (await page.ask("studio_open"))["standing"]["problems"]
        (warning,) = (problem for problem in problems if problem["severity"] == "warning")
        assert warning["component"] == "slide" and warning["line"] == 10
        assert warning["message"].startswith("The loop of main, pin, wrist and slide is locked")
        (cure,) = warning["cures"]
        assert cure["words"] == "give slide the axis x"
        card = await page.ask("mobility")
        assert card["cures"] == [cure] and warning["message"] in card["sentences"]
        assert dict(card["counts"])["degrees of freedom"] == "0" and card["badges"]["main"].startswith("locked")
        await page.ask("gesture", gesture=cure["gesture"])
        assert desk.document.text == LOCKED.replace("0]}  # the", "0], axis: x}  # the")
        await page.settled(desk)
        assert (await page.ask("studio_open"))["standing"]["problems"] == [] and page.last("standing")["problems"] == []

    scene(desk, story)


def test_a_frame_of_bars_in_a_mechanism_that_moves_is_no_fault():
    swing = "  arm: {mass: 1, inertia: [0.1, 0.1, 0.1]}\njoints:\n  swing: {kind: revolute, between: [world, arm]}\n"
    moving = LOCKED.replace("joints:\n", swing)
    assert find_lock_problems(kn.loads(moving), moving) == []
    acted = moving.replace("run:", "elements: {drive: {kind: moment_source, a: main, moment: 1}}\nrun:")
    assert len(find_lock_problems(kn.loads(acted), acted)) == 1
    boxed = "kinode: 1\nsystems:\n  box:\n    system:\n" + "".join(
        f"      {line}\n" for line in LOCKED.splitlines()[1:-1]
    )
    (problem,) = find_lock_problems(kn.loads(boxed), boxed)
    assert problem.box == ("box",) and problem.cures[0].gesture["box"] == ["box"]
