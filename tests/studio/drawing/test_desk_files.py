"""The desk of the studio and its files: saved, followed, refused, read by nobody who should not."""

import asyncio
import errno
import os
import time
from pathlib import Path

import pytest
from desk_pages import scene, set_value

from kinode.studio.document.document_files import new_file
from kinode.studio.document.journal import journal_path
from kinode.studio.editor.studio_desk import StudioDesk
from kinode.studio.server.session import Session

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
RLC = (EXAMPLES / "rlc.yaml").read_text()


def test_saving_writes_the_file_and_removes_the_journal(make_desk, folder):
    desk = make_desk()
    path = journal_path(folder / "rlc.yaml")

    async def story(page):
        await page.ask("gesture", version=0, gesture=set_value("30 Ohm"))
        deadline = time.monotonic() + 60
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
        deadline = time.monotonic() + 60
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


def test_another_file_is_overwritten_only_when_asked_for(make_desk, folder):
    (folder / "other.yaml").write_text("kinode: 1\n")
    desk = make_desk()

    async def story(page):
        assert (await page.ask("save", path="other"))["exists"] == "other.yaml"
        assert (folder / "other.yaml").read_text() == "kinode: 1\n" and desk.document.file.name == "rlc.yaml"
        assert (await page.ask("save", path="other", overwrite=True))["saved"] == "other.yaml"
        assert (folder / "other.yaml").read_text() == RLC and desk.document.file.name == "other.yaml"

    scene(desk, story)


def test_a_new_model_that_was_given_a_name_is_saved_under_it(folder):
    desk = StudioDesk(Session(), new_file(folder, name="axis.yaml"), folder)

    async def story(page):
        assert (await page.ask("studio_open"))["settings"]["named"] is True
        (folder / "axis.yaml").write_text("somebody else's")  # meanwhile
        assert (await page.ask("save"))["exists"] == "axis.yaml"
        (folder / "axis.yaml").unlink()
        assert (await page.ask("save"))["saved"] == "axis.yaml" and (folder / "axis.yaml").exists()

    scene(desk, story)
    desk.close()


@pytest.mark.parametrize("trouble", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_a_disk_that_takes_nothing_is_said_and_nothing_is_lost(make_desk, folder, monkeypatch, trouble):
    desk = make_desk()

    def refuse(*_):
        raise OSError(trouble, os.strerror(trouble))

    async def story(page):
        await page.ask("gesture", version=0, gesture=set_value("30 Ohm"))
        monkeypatch.setattr(os, "fsync", refuse)
        error = (await page.ask("save"))["error"]["message"]
        assert "rlc.yaml" in error and os.strerror(trouble) in error
        assert (folder / "rlc.yaml").read_text() == RLC
        opened = (await page.ask("studio_open"))["document"]
        assert opened["dirty"] and "30 Ohm" in opened["text"]
        monkeypatch.undo()
        assert (await page.ask("save"))["saved"] == "rlc.yaml" and "30 Ohm" in (folder / "rlc.yaml").read_text()

    scene(desk, story)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("open_model", {"file": "../rlc.yaml"}), ("open_model", {"file": "/etc/passwd"}), ("open_model", {}),
        ("open_example", {"file": "../../etc/passwd"}), ("open_example", {"file": ["a"]}),
        ("save", {"path": "../out.yaml"}), ("save", {"path": "/tmp/out.yaml"}), ("save", {"path": 3}),
        ("inspect", {}), ("inspect", {"name": "nobody"}), ("complete", {}), ("complete", {"position": -1}),
        ("copy", {"names": "wire"}), ("copy", {"names": ["nobody"]}), ("can_connect", {}), ("recover", {}),
        ("recover", {"take": True}), ("disk", {"take": "mine"}), ("disk", {"take": "both"}), ("gesture", {}),
        ("gesture", {"version": "1"}),
        ("gesture", {"version": 0, "gesture": [1]}), ("can_connect", {"port": {"component": "wire", "port": "x"}}),
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


CHANGING = (
    "gesture",
    "undo",
    "redo",
    "save",
    "revert",
    "recover",
    "disk",
    "open_example",
    "open_model",
    "new_model",
)


def test_a_read_only_studio_refuses_every_change_and_writes_nothing(make_desk, folder):
    left = journal_path(None)  # of a new model, which has nothing to do with this one
    left.parent.mkdir(parents=True)
    left.write_text('{"text": "x", "when": 1, "view": "", "process": 0}')
    desk = make_desk(read_only=True)

    async def story(page):
        assert (await page.ask("studio_open"))["document"]["recovered"] == "" and left.exists()
        assert (await page.ask("studio_open"))["settings"]["readOnly"]
        for kind in CHANGING:
            answer = await page.ask(kind, version=0, gesture=set_value("1 Ohm"), take=True, file="pendulum.yaml")
            assert "read-only" in answer["error"]["message"], kind
        assert (await page.ask("inspect", name="wire"))["inspected"]["fields"]
        assert [path.name for path in folder.iterdir()] == ["rlc.yaml"]

    scene(desk, story)


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
        problems = (await page.ask("studio_open"))["standing"]["problems"]
        assert problems
        await page.settled(desk)

    scene(desk, story)
    assert not flag.exists()
    assert not {"a", "b", "d", "e"} & desk.checked().system.components.keys()
