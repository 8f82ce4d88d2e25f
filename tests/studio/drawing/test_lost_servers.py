"""What a server that was killed leaves: offered by the next one, and handed over by pages that come back."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from desk_pages import scene, set_value

from kinode.studio.document.journal import journal_path

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
RLC = (EXAMPLES / "rlc.yaml").read_text()


# -- offered -------------------------------------------------------------------------------------------
KILLED = """
import sys, time
from pathlib import Path
from kinode.studio.document.document_files import open_file
from kinode.studio.editor.studio_desk import StudioDesk
from kinode.studio.server.session import Session
path = Path(sys.argv[1])
desk = StudioDesk(Session(), open_file(path), path.parent)
change = desk.document.gesture({"do": "set", "name": "wire", "path": ["resistance"], "value": "33 Ohm"})
desk.changed(change)
desk.document.gesture({"do": "move", "places": {"coil": [70, 80]}})
print("ready", flush=True)
time.sleep(300)
"""


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_the_text_of_a_killed_server_is_offered_and_taken(make_desk, folder):
    path = folder / "rlc.yaml"
    server = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout.readline() == "ready\n"
        deadline = time.monotonic() + 60
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


# -- handed over ----------------------------------------------------------------------------------------
TYPED = RLC.replace("50 ms", "60 ms")


def handed(opened, text, **changes):
    """What a page hands over that has opened a document and typed something since."""
    document, settings = opened["document"], opened["settings"]
    known = document["text"]
    fields = {
        "server": settings["server"], "version": document["version"], "text": text, "known": known,
        "saved": document["saved"], "source": settings["source"], "places": {}, "waypoints": {},
    }  # fmt: skip
    return {**fields, **changes}


def opened_by(desk):
    return {"document": desk.opened()["document"], "settings": desk.opened()["settings"]}


def kill(desk):
    """End a server as a power cut would: its journal stays as it was written last."""
    desk.drop_kept()
    left = desk.kept.path.read_text() if desk.kept.path.exists() else None
    desk.close()
    if left is None:
        desk.kept.path.unlink(missing_ok=True)
    else:
        desk.kept.path.write_text(left)


def test_a_new_server_goes_on_with_what_a_page_has(make_desk, folder):
    first = make_desk()
    first.changed(first.document.gesture(set_value("33 Ohm")))
    before = opened_by(first)
    kill(first)
    desk = make_desk()
    text = TYPED.replace("20 Ohm", "33 Ohm")  # with what was typed and never came

    async def story(page):
        answer = await page.ask("hand_over", **handed(before, text, places={"coil": [70, 80]}))
        assert answer["handed"] == "merged" and answer["document"]["text"] == text
        assert answer["document"]["recovered"] is None and answer["document"]["dirty"]
        assert desk.document.view.places == {"coil": (70.0, 80.0)}
        again = await page.ask("hand_over", **handed(before, text, places={"coil": [70, 80]}))  # another page
        assert again["handed"] == "same" and again["document"]["version"] == answer["document"]["version"]
        await page.ask("undo")
        assert desk.document.text == RLC and (folder / "rlc.yaml").read_text() == RLC

    scene(desk, story)


def test_what_others_wrote_meanwhile_is_merged_or_asked_about(make_desk, folder):
    before = opened_by(make_desk())
    (folder / "rlc.yaml").write_text(RLC.replace("20 Ohm", "25 Ohm"))
    desk = make_desk()

    async def story(page):
        clash = await page.ask("hand_over", **handed(before, RLC.replace("20 Ohm", "33 Ohm")))
        assert clash["handed"] == "conflict" and "25 Ohm" in clash["document"]["text"]
        merged = await page.ask("hand_over", **handed(before, TYPED))
        assert merged["handed"] == "merged" and merged["document"]["text"] == TYPED.replace("20 Ohm", "25 Ohm")

    scene(desk, story)


def test_a_page_that_was_behind_does_not_undo_what_others_did(make_desk):
    first = make_desk()
    behind = opened_by(first)
    first.changed(first.document.gesture(set_value("33 Ohm")))
    kill(first)
    desk = make_desk()

    async def story(page):
        answer = await page.ask("hand_over", **handed(behind, TYPED))
        assert answer["document"]["text"] == TYPED.replace("20 Ohm", "33 Ohm")

    scene(desk, story)


def test_a_page_of_long_ago_does_not_hide_what_a_later_server_left(make_desk):
    old = make_desk()
    long_ago = opened_by(old)
    old.close()
    later = make_desk()
    later.changed(later.document.gesture(set_value("33 Ohm")))
    kill(later)
    desk = make_desk()

    async def story(page):
        answer = await page.ask("hand_over", **handed(long_ago, TYPED))
        assert answer["handed"] == "conflict" and answer["document"]["text"] == RLC
        assert answer["document"]["recovered"] is not None
        assert "33 Ohm" in (await page.ask("recover", take=True))["document"]["text"]

    scene(desk, story)


def test_the_same_server_gets_only_what_was_typed(make_desk):
    desk = make_desk()
    before = opened_by(desk)
    desk.changed(desk.document.gesture(set_value("33 Ohm")))

    async def story(page):
        nothing = await page.ask("hand_over", **handed(before, RLC, known=None))
        assert nothing["handed"] == "same" and "33 Ohm" in nothing["document"]["text"]
        typed = await page.ask("hand_over", **handed(before, TYPED))
        assert typed["document"]["text"] == TYPED.replace("20 Ohm", "33 Ohm")

    scene(desk, story)


def test_a_new_server_opens_the_model_that_the_page_had(make_desk, folder):
    (folder / "other.yaml").write_text("kinode: 1\nname: other\n")
    first = make_desk("other.yaml")
    other = opened_by(first)

    async def example(page):
        other["example"] = await page.ask("open_example", file="pendulum.yaml")

    scene(first, example)
    first.close()
    desk = make_desk()

    async def story(page):
        answer = await page.ask("hand_over", **handed(other, "kinode: 1\nname: another\n"))
        assert answer["document"]["file"] == "other.yaml" and answer["document"]["text"].endswith("another\n")
        refused = await page.ask("hand_over", **handed(other["example"], "kinode: 1\n"))
        assert "not saved" in refused["error"]["message"]
        await page.ask("revert")
        text = other["example"]["document"]["text"] + "# more\n"
        answer = await page.ask("hand_over", **handed(other["example"], text))
        assert answer["document"]["text"] == text and answer["document"]["file"] is None

    scene(desk, story)


@pytest.mark.parametrize(
    "wrong",
    [{"text": 3}, {"server": None}, {"version": "1"}, {"source": []}, {"source": {"model": "../x.yaml"}},
     {"source": {"example": "nothing"}}, {"places": {"a": "far"}}, {"waypoints": [1]}, {"known": 4}],
    ids=str,
)  # fmt: skip
def test_what_is_no_text_of_a_page_is_refused(make_desk, wrong):
    desk = make_desk()
    fields = handed(opened_by(desk), TYPED, server="another")

    async def story(page):
        assert (await page.ask("hand_over", **{**fields, **wrong}))["error"]["message"]
        assert desk.document.text == RLC

    scene(desk, story)
