"""Watches the file of a model, and the files that it names, for changes by an editor."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

from kinode.atomic_files import is_below
from kinode.formats.yaml_files import find_file_names

POLL_SECONDS = 0.3
SETTLE_SECONDS = 0.05  # an editor may write in several pieces
MOST_FILES = 200
LARGEST_TEXT = 2_000_000  # bytes of a file that is searched for names of others
_TEXTS = (".yaml", ".yml", ".json", ".urdf", ".xml", ".mjcf", ".xacro")
Stamp = tuple[tuple[str, int, int], ...]


class Watch:
    """Polls files, and calls a function in a thread of its own when they were changed.

    Parameters
    ----------
    find : function
        Gives what tells versions of the files apart.
    on_change : function
        Called without arguments; what it raises ends nothing.
    seconds : float
        Between two looks.
    """

    def __init__(self, find: Callable[[], Stamp], on_change: Callable[[], None], seconds: float = POLL_SECONDS) -> None:
        self._find, self._on_change, self._seconds = find, on_change, seconds
        self._end = threading.Event()
        self._stamp = find()
        self._thread = threading.Thread(target=self._watch, name="kinode watch", daemon=True)

    def start(self) -> Watch:
        """Begin to watch."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Watch no longer."""
        self._end.set()

    def _watch(self) -> None:
        while not self._end.wait(self._seconds):
            stamp = self._find()
            if stamp == self._stamp:
                continue
            while not self._end.wait(SETTLE_SECONDS) and (later := self._find()) != stamp:
                stamp = later
            self._stamp = stamp
            if not self._end.is_set():
                self._on_change()


def find_stamp(file: Path) -> Stamp:
    """What tells versions of a model's files apart: name, time of change and size of each."""
    stamps = []
    for path in find_named_files(file):
        try:
            status = os.stat(path)
        except OSError:
            stamps.append((str(path), 0, -1))
            continue
        stamps.append((str(path), status.st_mtime_ns, status.st_size))
    return tuple(stamps)


def find_named_files(file: Path) -> list[Path]:
    """The file and all files below its folder that its text names, and theirs."""
    found, waiting = dict.fromkeys([file]), [file]
    while waiting and len(found) < MOST_FILES:
        here = waiting.pop()
        for name in _named_in(here):
            path = here.parent / name
            try:
                known = path in found or not path.is_file()
            except (OSError, ValueError):
                continue
            if not known and is_below(path, file.parent):
                found[path] = None
                waiting.append(path)
    return list(found)


def _named_in(file: Path) -> list[str]:
    """Words of a text that look like names of files."""
    try:
        if file.suffix.lower() not in _TEXTS or file.stat().st_size > LARGEST_TEXT:
            return []
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return find_file_names(text)
