"""Files are written on every system: Windows renames none that is open."""

import os

import pytest

from kinode import atomic_files


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


def test_a_failure_leaves_the_old_file(tmp_path):
    file = tmp_path / "table.csv"
    file.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), atomic_files.replacing(file) as stream:
        stream.write(b"new")
        1 / 0  # noqa: B018
    assert file.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_files_are_written_on_this_system(tmp_path):
    """As they are here, with a reader that has the old file closed."""
    file = tmp_path / "table.csv"
    for text in ("first", "second"):
        atomic_files.write_text(file, text)
        assert file.read_text(encoding="utf-8") == text
    atomic_files.write_folder(tmp_path / "code", {"a.c": b"1", "inner/b.h": b"2"})
    atomic_files.write_folder(tmp_path / "code", {"a.c": b"3"})
    assert (tmp_path / "code" / "a.c").read_bytes() == b"3"
