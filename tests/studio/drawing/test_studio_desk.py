"""The desk of the studio: requests and pushes of pages, and the runs behind the text."""

import asyncio
import itertools
from pathlib import Path

from desk_pages import DeskPage, scene, set_value
from page_wire import PageWire, play

import kinode as kn
from kinode.editing.spans import Edit, apply_edits
from kinode.studio.editor import checked_model
from kinode.studio.editor.panes import PaneAnswers

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
RLC = (EXAMPLES / "rlc.yaml").read_text()


def test_a_page_opens_all_of_it(make_desk):
    async def story(page):
        opened = await page.ask("studio_open")
        document = opened["document"]
        assert document["text"] == RLC and document["version"] == 0 and not document["dirty"]
        assert document["file"] == "rlc.yaml" and document["recovered"] == ""
        assert {box["name"] for box in opened["sketch"]["boxes"]} == {"source", "wire", "coil", "tank"}
        assert opened["standing"]["problems"] == [] and opened["settings"]["readOnly"] is False
        assert any(kind["kind"] == "resistor" for kind in opened["catalogue"]["kinds"])

    scene(make_desk(), story)


def test_a_gesture_is_answered_and_told_and_run(make_desk):
    desk = make_desk()

    async def story(page):
        await page.settled(desk)
        answer = await page.ask("gesture", version=0, gesture=set_value("30 Ohm"))
        assert answer["version"] == 1 and answer["dirty"] and answer["canUndo"]
        assert apply_edits(RLC, map(Edit._make, answer["edits"])) == RLC.replace("20 Ohm", "30 Ohm")
        await page.settled(desk)
        assert page.last("document")["version"] == 1 and page.last("sketch")["version"] == 1
        stood = [push for push in page.pushes if push["kind"] == "standing" and push["version"] == 1]
        assert [push["run"]["state"] for push in stood] == ["running", "shown"]  # never said to be newer than it is
        assert all(push["whole"] and push["problems"] == [] for push in stood)
        run = desk.live.shown[1].run
        assert run.system["wire"].resistance == 30.0

    scene(desk, story)


def test_undo_and_redo_are_told(make_desk):
    desk = make_desk()

    async def story(page):
        await page.ask("gesture", version=0, gesture=set_value("30 Ohm"))
        back = await page.ask("undo")
        assert back["version"] == 2 and not back["dirty"] and back["canRedo"] and desk.document.text == RLC
        again = await page.ask("redo")
        assert again["version"] == 3 and "30 Ohm" in desk.document.text
        refused = await page.ask("redo")
        assert "nothing to redo" in refused["error"]["message"]

    scene(desk, story)


def test_undo_gives_a_moved_part_its_automatic_place_back(make_desk):
    desk = make_desk()

    async def story(page):
        first = {box["name"]: box["at"] for box in (await page.ask("studio_open"))["sketch"]["boxes"]}
        await page.ask("gesture", version=0, gesture={"do": "move", "places": {"coil": [500, 300]}})
        await page.settled(desk)
        moved = {box["name"]: box["at"] for box in page.last("sketch")["sketch"]["boxes"]}
        assert moved == first | {"coil": [500.0, 300.0]}
        await page.ask("undo")
        await page.settled(desk)
        assert {box["name"]: box["at"] for box in page.last("sketch")["sketch"]["boxes"]} == first

    scene(desk, story)


def test_a_broken_text_keeps_the_last_run_and_says_all_that_is_wrong(make_desk):
    desk = make_desk()

    async def story(page):
        await page.settled(desk)
        first = desk.live.shown[1]
        start = RLC.index("gnd, voltage")
        edits = [[start, start + 3, "gdn"], [RLC.index("20 Ohm"), RLC.index("20 Ohm") + 6, "20 m"]]
        await page.ask("gesture", version=0, gesture={"do": "text", "edits": edits})
        await page.settled(desk)
        problems = page.last("standing")["problems"]
        assert {problem["component"] for problem in problems} >= {"wire"}
        wrong = next(problem for problem in problems if problem["component"] == "wire")
        assert wrong["field"] == "resistance" and wrong["line"] == 7
        assert desk.live.shown[1] is first and page.last("standing")["run"]["state"] == "stale"
        assert page.last("model_error") is not None
        broken = {box["name"]: box["broken"] for box in page.last("sketch")["sketch"]["boxes"]}
        assert broken["wire"] and broken["coil"] is None
        await page.ask("undo")
        await page.settled(desk)
        assert desk.live.is_right and page.last("standing")["run"]["state"] == "shown"

    scene(desk, story)


def test_no_record_of_how_the_model_stands_contradicts_itself(make_desk):
    """Through faults, cures, a part that is moved, an empty model: every record is of one text and says one thing."""
    desk = make_desk()
    panes = PaneAnswers(desk, verify=False)

    async def story(page):
        await page.settled(desk)
        place = RLC.index("20 Ohm")
        for gesture in (
            {"do": "text", "edits": [[place, place + 6, "20 m"]]},
            {"do": "text", "edits": [[place, place + 4, "30 Ohm"]]},
            {"do": "move", "places": {"coil": [500, 300]}},
            {"do": "text", "edits": [[place, place, "{"]]},
        ):
            answer = await page.ask("gesture", gesture=gesture)
            assert "error" not in answer, answer
            await page.settled(desk)
        for _ in range(4):
            await page.ask("undo")
            await page.settled(desk)
        moved = await page.ask("gesture", gesture={"do": "move", "places": {"coil": [400, 300]}})
        await page.settled(desk)
        last = page.last("standing")
        assert (last["version"], last["run"]["state"], last["proof"]["state"]) == (moved["version"], "shown", "asleep")
        opened = (await page.ask("studio_open"))["standing"]
        assert opened == {name: value for name, value in last.items() if name != "kind"}
        await page.ask("new_model", discard=True)
        await page.settled(desk)
        stood = [push for push in page.pushes if push["kind"] == "standing"]
        assert page.last("standing")["run"]["state"] == "empty" and len(stood) > 8
        for one, two in itertools.pairwise(stood):
            assert one["number"] < two["number"] and one["version"] <= two["version"]
        for push in stood:
            faulty = any(problem["severity"] == "error" for problem in push["problems"])
            assert push["whole"] is not faulty  # no run of these texts fails
            assert (push["run"]["state"] == "stale") is faulty
            assert (push["proof"]["state"] == "unfinished") is faulty

    try:
        scene(desk, story)
    finally:
        panes.close()


def test_a_text_is_read_once_whoever_asks_first(make_desk, monkeypatch):
    """What a page asks for is the record that the background comes to: what is found of it later is told of it."""
    read = []
    check = checked_model.check_text
    monkeypatch.setattr(
        checked_model, "check_text", lambda text, *given, **more: read.append(text) or check(text, *given, **more)
    )
    for _ in range(5):
        desk = make_desk()
        first = desk.checked()
        assert desk.checker.wait() and desk.checked().checked is first.checked
    assert read == [RLC] * 5


def test_the_drawing_stays_while_a_bracket_is_open_in_the_text(make_desk):
    desk = make_desk()

    async def story(page):
        first = (await page.ask("studio_open"))["sketch"]
        place = RLC.index("20 Ohm")
        answer = await page.ask("gesture", version=0, gesture={"do": "text", "edits": [[place, place, "{"]]})
        await page.settled(desk)
        assert page.last("sketch")["sketch"] == {**first, "version": answer["version"]}
        assert page.last("standing")["problems"][0]["line"] is not None
        await page.ask("undo")
        await page.settled(desk)
        assert page.last("standing")["problems"] == []

    scene(desk, story)


def test_questions_of_several_parts_of_a_page_are_all_answered(make_desk):
    desk = make_desk()

    async def scenario(wire):
        for seq, name in enumerate(["wire", "coil", "tank", "", "source"]):
            wire.ask(seq, "inspect", name=name)
        answers = {}
        while len(answers) < 5:
            answer = await wire.answer()
            if "seq" in answer:
                assert "error" not in answer, answer
                answers[answer["seq"]] = answer["inspected"]["name"]
        assert answers == {0: "wire", 1: "coil", 2: "tank", 3: "", 4: "source"}

    play(scenario, desk.session)


def test_an_empty_model_has_no_problem_and_no_run(make_desk):
    desk = make_desk()

    async def story(page):
        opened = await page.ask("new_model")
        await page.settled(desk)
        assert opened["standing"]["problems"] == [] and page.last("standing")["problems"] == []
        assert page.last("standing")["run"]["state"] == "empty"
        assert "nothing to run yet" in (await page.ask("open"))["error"]["message"]

    scene(desk, story)


def test_a_run_that_fails_is_a_problem(make_desk, folder):
    text = "kinode: 1\nbodies:\n  a: {mass: 1}\njoints:\n  j: {kind: revolute, between: [world, a]}\n"
    (folder / "loop.yaml").write_text(text + "constraints:\n  c: {kind: distance, between: [world, a], distance: 3}\n")
    desk = make_desk("loop.yaml")

    async def story(page):
        await page.ask("studio_open")
        await page.settled(desk)
        assert (await page.ask("studio_open"))["standing"]["problems"], "a loop that cannot be closed is said"

    scene(desk, story)


def test_a_model_drawn_from_nothing_runs(make_desk):
    desk = make_desk(None)

    async def story(page):
        opened = await page.ask("studio_open")
        assert opened["sketch"]["boxes"] == [] and opened["document"]["file"] is None
        version = 0
        for gesture in (
            {"do": "add", "kind": "voltage_source", "fields": {"plus": "a", "minus": "gnd", "voltage": "12 V"},
             "at": [0, 0]},
            {"do": "add", "kind": "resistor", "fields": {"plus": "a", "minus": "b", "resistance": "2 Ohm"},
             "at": [100, 0]},
            {"do": "add", "kind": "capacitor", "fields": {"plus": "b", "minus": "gnd", "capacitance": "1 mF"},
             "at": [200, 0]},
        ):  # fmt: skip
            answer = await page.ask("gesture", version=version, gesture=gesture)
            assert "error" not in answer and len(answer["made"]) == 1, answer
            version = answer["version"]
        await page.settled(desk)
        assert page.last("standing")["problems"] == []
        boxes = {box["name"]: box for box in page.last("sketch")["sketch"]["boxes"]}
        assert [box["at"] for box in boxes.values()] == [[0, 0], [100, 0], [200, 0]]
        assert all(box["pinned"] for box in boxes.values())
        assert desk.live.is_right
        saved = await page.ask("save", path="rc")
        assert saved["saved"] == "rc.yaml" and (desk.folder / "rc.view.yaml").exists()
        assert len(kn.load(desk.folder / "rc.yaml").elements) == 3

    scene(desk, story)


def test_parts_keep_their_places_while_others_come_and_go(make_desk):
    desk = make_desk()

    async def story(page):
        first = (await page.ask("studio_open"))["sketch"]
        places = {box["name"]: box["at"] for box in first["boxes"]}
        gesture = {"do": "add", "kind": "resistor", "fields": {"plus": "supply", "minus": "gnd"}, "at": [400, 300]}
        await page.ask("gesture", version=0, gesture=gesture)
        await page.ask("gesture", version=1, gesture={"do": "delete", "names": ["coil"]})
        await page.ask("gesture", version=2, gesture={"do": "rename", "name": "tank", "to": "store"})
        await page.settled(desk)
        now = {box["name"]: box["at"] for box in page.last("sketch")["sketch"]["boxes"]}
        assert now["source"] == places["source"] and now["wire"] == places["wire"] and now["store"] == places["tank"]
        for _ in range(3):
            await page.ask("undo")
        await page.settled(desk)
        assert {box["name"]: box["at"] for box in page.last("sketch")["sketch"]["boxes"]} == places

    scene(desk, story)


def test_copies_stand_to_each_other_as_what_they_came_from(make_desk):
    desk = make_desk()
    standing = {"wire": (100.0, 0.0), "coil": (180.0, 40.0)}
    desk.checker.places |= standing
    gesture = {"do": "duplicate", "names": ["wire", "coil"], "at": [300, 300]}
    places = desk.checker.arrange(desk.version(), ["wire_2", "coil_2"], gesture)
    assert places == {"wire_2": (300.0, 300.0), "coil_2": (380.0, 340.0)}


def test_tidy_forgets_all_places(make_desk):
    desk = make_desk()

    async def story(page):
        first = (await page.ask("studio_open"))["sketch"]
        await page.ask("gesture", version=0, gesture={"do": "move", "places": {"coil": [0, 500], "wire": [90, 500]}})
        await page.ask("gesture", version=1, gesture={"do": "tidy"})
        await page.settled(desk)
        sketch = page.last("sketch")["sketch"]
        assert [box["at"] for box in sketch["boxes"]] == [box["at"] for box in first["boxes"]]
        assert not any(box["pinned"] for box in sketch["boxes"])

    scene(desk, story)


def test_two_pages_see_one_model(make_desk):
    desk = make_desk()

    async def scenario(wire):
        first, other = DeskPage(wire), PageWire()
        attending = asyncio.create_task(desk.session.attend(other))
        second = DeskPage(other)
        await first.ask("gesture", version=0, gesture=set_value("30 Ohm"))
        assert "30 Ohm" in (await second.ask("studio_open"))["document"]["text"]
        await second.ask("gesture", version=1, gesture=set_value("40 Ohm"))
        await first.ask("can_connect", port={})
        assert first.last("document")["version"] == 2
        await second.ask("new_model", discard=True)
        await first.ask("can_connect", port={})
        assert first.last("reopen") is not None
        other.incoming.put_nowait(None)
        await attending

    play(scenario, desk.session)
