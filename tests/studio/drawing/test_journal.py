"""The journal: what was not saved is on the disk, and is offered."""

import json
import os
import time

import pytest

from kinode.studio.document.journal import Journal, JournalEntry, KeptText, journal_path, read_journal


def write(path, text="new", process=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"text": text, "when": time.time(), "view": "", "process": process}))


def test_a_change_is_on_the_disk_soon_and_gone_when_saved(tmp_path):
    kept = [JournalEntry("new", time.time())]
    path = tmp_path / ".a.yaml.kinode-journal"
    keeper = Journal(path, lambda: kept[0])
    keeper.note()
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    entry = read_journal(path)
    assert (entry.text, entry.process) == ("new", os.getpid())
    assert path.stat().st_mode & 0o077 == 0
    kept[0] = None
    keeper.close()
    assert not path.exists()


def test_what_is_not_saved_stays_when_the_server_ends(tmp_path):
    path = tmp_path / ".a.yaml.kinode-journal"
    Journal(path, lambda: JournalEntry("new", time.time())).close()
    assert read_journal(path).text == "new"


def test_what_a_killed_server_left_is_offered_until_it_is_dropped(tmp_path):
    file = tmp_path / "a.yaml"
    write(journal_path(file))
    first = KeptText(file, "old")
    assert first.entry.text == "new" and "not saved" in first.words
    write(first.path, "newer")  # the next server writes its own, and is killed too
    second = KeptText(file, "old")
    assert second.entry.text == "newer"
    second.drop()
    assert KeptText(file, "old").entry is None


def test_what_was_saved_after_all_is_not_offered(tmp_path):
    file = tmp_path / "a.yaml"
    write(journal_path(file), "same")
    assert KeptText(file, "same").entry is None
    assert not journal_path(file).exists()


def test_two_studios_do_not_take_each_others_journal(tmp_path, monkeypatch):
    file = tmp_path / "a.yaml"
    write(journal_path(file), process=os.getppid())
    kept = KeptText(file, "old")
    assert kept.entry is None and kept.path != journal_path(file)
    assert read_journal(journal_path(file)).text == "new"


def test_a_folder_that_cannot_be_written_has_its_journal_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    file = tmp_path / "models" / "a.yaml"
    other = tmp_path / "others" / "a.yaml"
    assert journal_path(file).is_relative_to(tmp_path / "state")
    assert journal_path(file) != journal_path(other)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"text": 3, "when": 0, "view": "", "process": 0}', "\0"])
def test_a_journal_that_cannot_be_read_is_none(tmp_path, text):
    path = tmp_path / "j"
    path.write_text(text)
    assert read_journal(path) is None
    assert read_journal(tmp_path / "nothing") is None


def test_a_full_disk_is_said_and_said_again_when_it_is_over(tmp_path, monkeypatch):
    said = []
    keeper = Journal(tmp_path / "j", lambda: JournalEntry("new", 0.0), said.append)

    def full(descriptor):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    keeper.write_now()
    assert "No space left" in said[0]
    monkeypatch.undo()
    keeper.write_now()
    assert said[1:] == [""]
    keeper.close()
