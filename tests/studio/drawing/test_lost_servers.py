"""What a server that was killed leaves is offered by the next one."""

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
        assert opened["document"]["text"] == RLC and "not saved" in opened["document"]["recovered"]
        await page.ask("gesture", version=0, gesture=set_value("9 H", "coil", "inductance"))
        assert (await page.ask("studio_open"))["document"]["recovered"] != ""
        taken = await page.ask("recover", take=True)
        assert "33 Ohm" in taken["document"]["text"] and taken["document"]["recovered"] == ""
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
        assert (await page.ask("studio_open"))["document"]["recovered"] != ""
        assert (await page.ask("recover", take=False))["document"]["text"] == RLC
        assert (await page.ask("studio_open"))["document"]["recovered"] == ""

    scene(desk, story)
    desk.close()
    assert [path.name for path in folder.iterdir()] == ["rlc.yaml"]
