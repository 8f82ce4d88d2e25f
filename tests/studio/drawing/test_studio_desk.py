"""The desk of the studio: requests and pushes of pages, runs behind the text, and nothing that is lost."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from page_wire import PageWire, play

import kinode as kn
from kinode.formats.editing.text_edits import Edit, apply_edits
from kinode.studio.documents import journal
from kinode.studio.documents.document_file import new_file, open_file
from kinode.studio.documents.journal import journal_path
from kinode.studio.drawing.studio_desk import StudioDesk
from kinode.studio.live_pages.session import Session

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
RLC = (EXAMPLES / "rlc.yaml").read_text()
DONE = 60.0  # s, for all that is under way


@pytest.fixture(autouse=True)
def _own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(journal, "LATE_SECONDS", 0.01)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "models"
    place.mkdir()
    (place / "rlc.yaml").write_text(RLC)
    return place


@pytest.fixture
def make_desk(folder):
    desks = []

    def make(name="rlc.yaml", **options):
        file = new_file(folder) if name is None else open_file(folder / name)
        desks.append(StudioDesk(Session(**options), file, folder))
        return desks[-1]

    yield make
    for desk in desks:
        desk.close()


class Page:
    """A page: asks, and keeps what is pushed meanwhile."""

    def __init__(self, wire):
        self.wire, self.seq, self.pushes = wire, 0, []

    async def ask(self, kind, **fields):
        self.seq += 1
        self.wire.ask(self.seq, kind, **fields)
        while True:
            message = await self.wire.answer()
            header = message[0] if isinstance(message, tuple) else message
            if header.get("seq") == self.seq:
                return header
            self.pushes.append(header)

    async def settled(self, desk):
        """All pushes, when all is checked and run."""
        await asyncio.to_thread(desk.checker.wait, DONE)
        await self.ask("can_connect", **{"from": {"component": "x", "port": "y"}})
        return self.pushes

    def last(self, kind):
        return next((push for push in reversed(self.pushes) if push.get("kind") == kind), None)


def scene(desk, story):
    """Play a story, a coroutine of a page."""

    async def scenario(wire):
        await story(Page(wire))

    play(scenario, desk.session)


def set_value(value, name="wire", field="resistance"):
    return {"do": "set", "name": name, "path": [field], "value": value}


# -- the document -----------------------------------------------------------------------------------------------------
def test_a_page_opens_all_of_it(make_desk):
    async def story(page):
        opened = await page.ask("studio_open")
        document = opened["document"]
        assert document["text"] == RLC and document["version"] == 0 and not document["dirty"]
        assert document["file"] == "rlc.yaml" and document["recovered"] is None
        assert {box["name"] for box in opened["sketch"]["boxes"]} == {"source", "wire", "coil", "tank"}
        assert opened["problems"] == [] and opened["settings"]["readOnly"] is False
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
        assert page.last("problems") == {"kind": "problems", "version": 1, "problems": []}
        assert page.last("run_state")["state"] == "shown"
        told = [push["kind"] for push in page.pushes if push.get("version") == 1]
        assert told.index("run_state") < told.index("problems")  # what is shown is never said to be newer than it is
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
        problems = page.last("problems")["problems"]
        assert {problem["component"] for problem in problems} >= {"wire"}
        wrong = next(problem for problem in problems if problem["component"] == "wire")
        assert wrong["field"] == "resistance" and wrong["line"] == 7
        assert desk.live.shown[1] is first and page.last("run_state")["state"] == "stale"
        assert page.last("model_error") is not None
        broken = {box["name"]: box["broken"] for box in page.last("sketch")["sketch"]["boxes"]}
        assert broken["wire"] and broken["coil"] is None
        await page.ask("undo")
        await page.settled(desk)
        assert desk.live.is_right and page.last("run_state")["state"] == "shown"

    scene(desk, story)


def test_the_drawing_stays_while_a_bracket_is_open_in_the_text(make_desk):
    desk = make_desk()

    async def story(page):
        first = (await page.ask("studio_open"))["sketch"]
        place = RLC.index("20 Ohm")
        answer = await page.ask("gesture", version=0, gesture={"do": "text", "edits": [[place, place, "{"]]})
        await page.settled(desk)
        assert page.last("sketch")["sketch"] == {**first, "version": answer["version"]}
        assert page.last("problems")["problems"][0]["line"] is not None
        await page.ask("undo")
        await page.settled(desk)
        assert page.last("problems")["problems"] == []

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
        assert opened["problems"] == [] and page.last("problems")["problems"] == []
        assert page.last("run_state")["state"] == "empty"
        assert "nothing to run yet" in (await page.ask("open"))["error"]["message"]

    scene(desk, story)


def test_a_run_that_fails_is_a_problem(make_desk, folder):
    text = "kinode: 1\nbodies:\n  a: {mass: 1}\njoints:\n  j: {kind: revolute, between: [world, a]}\n"
    (folder / "loop.yaml").write_text(text + "constraints:\n  c: {kind: distance, between: [world, a], distance: 3}\n")
    desk = make_desk("loop.yaml")

    async def story(page):
        await page.ask("studio_open")
        await page.settled(desk)
        assert (await page.ask("studio_open"))["problems"], "a loop that cannot be closed is said"

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
        assert page.last("problems")["problems"] == []
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
    desk.checker.standing |= standing
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
        first, other = Page(wire), PageWire()
        attending = asyncio.create_task(desk.session.attend(other))
        second = Page(other)
        await first.ask("gesture", version=0, gesture=set_value("30 Ohm"))
        assert "30 Ohm" in (await second.ask("studio_open"))["document"]["text"]
        await second.ask("gesture", version=1, gesture=set_value("40 Ohm"))
        await first.ask("can_connect", **{"from": {}})
        assert first.last("document")["version"] == 2
        await second.ask("new_model", discard=True)
        await first.ask("can_connect", **{"from": {}})
        assert first.last("reopen") is not None
        other.incoming.put_nowait(None)
        await attending

    play(scenario, desk.session)


# -- the file ---------------------------------------------------------------------------------------------------------
def test_saving_writes_the_file_and_removes_the_journal(make_desk, folder):
    desk = make_desk()
    path = journal_path(folder / "rlc.yaml")

    async def story(page):
        await page.ask("gesture", version=0, gesture=set_value("30 Ohm"))
        deadline = time.monotonic() + 10
        while not path.exists() and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        assert path.exists()
        answer = await page.ask("save")
        assert answer["saved"] == "rlc.yaml" and not answer["dirty"]
        assert "30 Ohm" in (folder / "rlc.yaml").read_text() and not path.exists()
        assert not (await page.ask("studio_open"))["document"]["dirty"]

    scene(desk, story)


def test_a_file_changed_on_the_disk_is_followed(make_desk, folder):
    desk = make_desk()

    async def story(page):
        await page.ask("gesture", version=0, gesture=set_value("30 Ohm"))
        (folder / "rlc.yaml").write_text(RLC.replace("50 ms", "80 ms"))
        deadline = time.monotonic() + 20
        while "80 ms" not in desk.document.text and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        assert "80 ms" in desk.document.text and "30 Ohm" in desk.document.text
        await page.settled(desk)
        assert "merged" in page.last("disk")["words"] and not page.last("disk")["conflict"]
        (folder / "rlc.yaml").write_text(RLC.replace("20 Ohm", "77 Ohm"))
        while desk.document.conflict is None and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        assert "changed on the disk" in (await page.ask("save"))["error"]["message"]
        await page.ask("disk", take="theirs")
        assert "77 Ohm" in desk.document.text

    scene(desk, story)


def test_another_model_is_opened_when_nothing_would_be_lost(make_desk, folder):
    (folder / "other.yaml").write_text("kinode: 1\nname: other\n")
    (folder / "notes.yaml").write_text("shopping: 1\n")
    desk = make_desk()

    async def story(page):
        await page.ask("gesture", version=0, gesture=set_value("30 Ohm"))
        refused = await page.ask("open_example", file="pendulum.yaml")
        assert "not saved" in refused["error"]["message"] and "30 Ohm" in desk.document.text
        await page.ask("save")
        opened = await page.ask("open_example", file="pendulum.yaml")
        assert opened["document"]["file"] is None and opened["document"]["version"] > 1
        assert any(box["role"] == "SB" for box in opened["sketch"]["boxes"])
        assert (await page.ask("open_model", file="other.yaml"))["document"]["file"] == "other.yaml"
        assert (await page.ask("new_model"))["document"]["text"].startswith("kinode: 1")

    scene(desk, story)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("open_model", {"file": "../rlc.yaml"}), ("open_model", {"file": "/etc/passwd"}), ("open_model", {}),
        ("open_example", {"file": "../../etc/passwd"}), ("open_example", {"file": ["a"]}),
        ("save", {"path": "../out.yaml"}), ("save", {"path": "/tmp/out.yaml"}), ("save", {"path": 3}),
        ("inspect", {}), ("inspect", {"name": "nobody"}), ("complete", {}), ("complete", {"position": -1}),
        ("copy", {"names": "wire"}), ("copy", {"names": ["nobody"]}), ("can_connect", {}), ("recover", {}),
        ("recover", {"take": True}), ("disk", {"take": "mine"}), ("gesture", {}), ("gesture", {"version": "1"}),
        ("gesture", {"version": 0, "gesture": [1]}), ("can_connect", {"from": {"component": "wire", "port": "x"}}),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_requests_are_told_so_and_change_nothing(make_desk, folder, kind, fields):
    desk = make_desk()

    async def story(page):
        error = (await page.ask(kind, **fields))["error"]
        assert error["type"] in ("ArgumentError", "ModelError") and error["message"]
        assert desk.document.text == RLC and sorted(path.name for path in folder.iterdir()) == ["rlc.yaml"]

    scene(desk, story)


CHANGING = ("gesture", "undo", "redo", "save", "revert", "recover", "disk", "open_example", "open_model", "new_model")


def test_a_read_only_studio_refuses_every_change_and_writes_nothing(make_desk, folder):
    desk = make_desk(read_only=True)

    async def story(page):
        assert (await page.ask("studio_open"))["settings"]["readOnly"]
        for kind in CHANGING:
            answer = await page.ask(kind, version=0, gesture=set_value("1 Ohm"), take=True, file="pendulum.yaml")
            assert "read-only" in answer["error"]["message"], kind
        assert (await page.ask("inspect", name="wire"))["inspected"]["fields"]
        assert [path.name for path in folder.iterdir()] == ["rlc.yaml"]

    scene(desk, story)


# -- nothing is lost --------------------------------------------------------------------------------------------------
KILLED = """
import sys, time
from pathlib import Path
from kinode.studio.documents.document_file import open_file
from kinode.studio.drawing.studio_desk import StudioDesk
from kinode.studio.live_pages.session import Session
path = Path(sys.argv[1])
desk = StudioDesk(Session(), open_file(path), path.parent)
change = desk.document.gesture({"do": "set", "name": "wire", "path": ["resistance"], "value": "33 Ohm"})
desk.changed(change)
desk.document.gesture({"do": "move", "places": {"coil": [70, 80]}})
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_the_text_of_a_killed_server_is_offered_and_taken(make_desk, folder):
    path = folder / "rlc.yaml"
    server = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout.readline() == "ready\n"
        deadline = time.monotonic() + 20
        while not journal_path(path).exists() and time.monotonic() < deadline:
            time.sleep(0.02)
    finally:
        server.send_signal(signal.SIGKILL)
        server.wait()
    assert path.read_text() == RLC
    desk = make_desk()

    async def story(page):
        opened = await page.ask("studio_open")
        assert opened["document"]["text"] == RLC and "not saved" in opened["document"]["recovered"]["words"]
        await page.ask("gesture", version=0, gesture=set_value("9 H", "coil", "inductance"))
        assert (await page.ask("studio_open"))["document"]["recovered"] is not None
        taken = await page.ask("recover", take=True)
        assert "33 Ohm" in taken["document"]["text"] and taken["document"]["recovered"] is None
        assert desk.document.view.places == {"coil": (70.0, 80.0)}
        await page.ask("undo")
        assert "9 H" in desk.document.text and "20 Ohm" in desk.document.text

    scene(desk, story)


def test_what_was_left_can_be_dropped(make_desk, folder):
    first = make_desk()
    first.changed(first.document.gesture(set_value("33 Ohm")))
    first.close()
    assert journal_path(folder / "rlc.yaml").exists()
    desk = make_desk()

    async def story(page):
        assert (await page.ask("studio_open"))["document"]["recovered"] is not None
        assert (await page.ask("recover", take=False))["document"]["text"] == RLC
        assert (await page.ask("studio_open"))["document"]["recovered"] is None

    scene(desk, story)
    desk.close()
    assert [path.name for path in folder.iterdir()] == ["rlc.yaml"]


# -- a stranger's model -----------------------------------------------------------------------------------------------
def test_a_strangers_model_reads_nothing_outside_and_runs_no_code(make_desk, folder, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("0,1\n1,2\n")
    flag = tmp_path / "flag"
    text = f"""kinode: 1
tables:
  a: {{file: ../secret.csv}}
  b: {{file: {secret}}}
systems:
  c: {{file: ../other.yaml}}
signals:
  d: __import__('os').system('touch {flag}')
elements:
  e: {{kind: controller, function: os.system, inputs: [t], every: 1 s}}
notes: !!python/object/apply:os.system ['touch {flag}']
"""
    (folder / "evil.yaml").write_text(text)
    desk = make_desk("evil.yaml")

    async def story(page):
        problems = (await page.ask("studio_open"))["problems"]
        assert problems
        await page.settled(desk)

    scene(desk, story)
    assert not flag.exists()
    assert not {"a", "b", "d", "e"} & desk.checked().system.components.keys()
