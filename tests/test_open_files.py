"""Files are written on every system: Windows renames none that is open, and has no locks that say who writes."""

import os

import pytest

from kinode import atomic_files


@pytest.fixture
def as_on_windows(monkeypatch):
    """Files are closed before they are renamed, as they must be there."""
    monkeypatch.setattr(atomic_files, "RENAMES_OPEN_FILES", False)


@pytest.mark.usefixtures("as_on_windows")
def test_a_file_is_closed_before_it_is_renamed(tmp_path, monkeypatch):
    file, rename, closed = tmp_path / "table.csv", os.replace, []

    def replace(source, target):
        closed.append(stream.closed)
        rename(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with atomic_files.replacing(file) as stream:
        stream.write(b"new")
    assert closed == [True]
    assert file.read_bytes() == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


@pytest.mark.usefixtures("as_on_windows")
def test_a_failure_leaves_the_old_file(tmp_path):
    file = tmp_path / "table.csv"
    file.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), atomic_files.replacing(file) as stream:
        stream.write(b"new")
        1 / 0  # noqa: B018
    assert file.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


@pytest.mark.usefixtures("as_on_windows")
def test_what_a_killed_process_left_goes_after_a_while(tmp_path):
    """A file that was closed a moment ago is about to get its name."""
    young, old = (tmp_path / f".kinode-{k:016x}.part" for k in range(2))
    for file in (young, old):
        file.write_bytes(b"half")
    past = young.stat().st_mtime - 2.0 * atomic_files.LEFT_AFTER
    os.utime(old, (past, past))
    atomic_files.write_text(tmp_path / "new", "done")
    assert {path.name for path in tmp_path.iterdir()} == {young.name, "new"}


def test_files_are_written_on_this_system(tmp_path):
    """As they are here, with a reader that has the old file closed."""
    file = tmp_path / "table.csv"
    for text in ("first", "second"):
        atomic_files.write_text(file, text)
        assert file.read_text(encoding="utf-8") == text
    atomic_files.write_folder(tmp_path / "code", {"a.c": b"1", "inner/b.h": b"2"})
    atomic_files.write_folder(tmp_path / "code", {"a.c": b"3"})
    assert (tmp_path / "code" / "a.c").read_bytes() == b"3"
