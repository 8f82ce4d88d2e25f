"""The journal of a document: what was not saved yet, on the disk, for the case that the server is killed.

It is a file beside the model (``.axis.yaml.kinode-journal``), or in the user's state folder where the model's folder
cannot be written or there is no file yet.  The whole text is written, as a whole or not at all, at most half a second
after a change.  Saving removes it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kinode.atomic_files import naming_failures, replacing
from kinode.errors import Error
from kinode.studio.document.document_files import ModelView, parse_view

ENDING = ".kinode-journal"
LATE_SECONDS = 0.4
LARGEST = 50_000_000
UNTITLED = "untitled"


@dataclass(frozen=True)
class JournalEntry:
    """An unsaved document: its text, when that was, its view, and the process that wrote it."""

    text: str
    when: float
    view: str = ""
    process: int = 0

    @property
    def words(self) -> str:
        """When that was, for people."""
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.when))

    def model_view(self) -> ModelView | None:
        """Where parts stood; None if that cannot be read."""
        try:
            return parse_view(self.view)
        except Error:
            return None


def state_folder() -> Path:
    """Where kinode keeps what belongs to no model: the user's state folder."""
    given = os.environ.get("XDG_STATE_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    return (Path(given) if given else Path.home() / ".local" / "state") / "kinode"


def journal_path(file: Path | None) -> Path:
    """The journal of a model; of one without a file that of the user."""
    if file is None:
        return state_folder() / f"{UNTITLED}{ENDING}"
    if os.access(file.parent, os.W_OK):
        return file.with_name(f".{file.name}{ENDING}")
    number = hashlib.sha256(os.fspath(file.resolve()).encode(errors="surrogateescape")).hexdigest()[:12]
    return state_folder() / f"{file.name}-{number}{ENDING}"


def read_journal(path: Path) -> JournalEntry | None:
    """What a journal holds; None where there is none, or it cannot be read."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        data = json.loads(path.read_text(encoding="utf-8"))
        entry = JournalEntry(data["text"], data["when"], data["view"], data["process"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    texts, numbers = (entry.text, entry.view), (entry.when, entry.process)
    right = all(isinstance(x, str) for x in texts) and all(isinstance(x, int | float) for x in numbers)
    return entry if right else None


class KeptText:
    """What a killed server left of a document, until it is taken over or dropped.

    The journal is put aside, so that the one of this server does not overwrite it.

    Parameters
    ----------
    file : path, optional
        The file of the document.
    saved : str
        Its text on the disk.
    looks : bool, default True
        Whether something is looked for; else nothing was left, and no file is touched.
    """

    def __init__(self, file: Path | None, saved: str, looks: bool = True) -> None:
        self.path = journal_path(file)
        self._aside = self.path.with_name(f"{self.path.name}.old")
        self.entry: JournalEntry | None = None
        if not looks:
            return
        left = read_journal(self.path)
        if left is not None and is_alive(left.process):  # another studio has this file open
            self.path = self.path.with_name(f"{self.path.name}-{os.getpid()}")
            return
        if left is not None:
            with contextlib.suppress(OSError):
                os.replace(self.path, self._aside)
        entry = read_journal(self._aside) or left
        if entry is not None and entry.text == saved:
            self.drop()
        else:
            self.entry = entry

    @property
    def words(self) -> str:
        """What a page says of it; empty if there is nothing."""
        return "" if self.entry is None else f"Changes of {self.entry.words} were not saved."

    def drop(self) -> None:
        """It is taken over, or not wanted."""
        self.entry = None
        with contextlib.suppress(OSError):
            remove_journal(self._aside)


def is_alive(process: int) -> bool:
    """Whether another process of that number is there; where that cannot be asked, no."""
    if os.name != "posix" or process <= 0 or process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


class Journal:
    """Writes the journal of a document in a thread of its own.

    Parameters
    ----------
    path : path
    find : function
        Gives what there is to be kept, None where all is saved.
    on_trouble : function
        Told in words when the journal cannot be written, and with "" when it can again.
    """

    def __init__(
        self, path: Path, find: Callable[[], JournalEntry | None], on_trouble: Callable[[str], None] = lambda _: None
    ) -> None:
        self.path, self._find, self._on_trouble = path, find, on_trouble
        self._trouble = ""
        self._changed, self._ended = threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._work, name="kinode journal", daemon=True)
        self._thread.start()

    def note(self) -> None:
        """Something has changed."""
        self._changed.set()

    def write_now(self) -> None:
        """Write what there is, or remove the journal where all is saved."""
        with self._lock:
            entry = self._find()
            try:
                if entry is None:
                    remove_journal(self.path)
                else:
                    _write(self.path, entry)
                words = ""
            except (Error, OSError) as error:
                words = f"unsaved changes are not kept: {error}"
        if words != self._trouble:
            self._trouble = words
            self._on_trouble(words)

    def close(self) -> None:
        """Write the last of it, and end."""
        if not self._ended.is_set():
            self._ended.set()
            self._changed.set()
            self._thread.join()
            self.write_now()

    def _work(self) -> None:
        while not self._ended.is_set():
            self._changed.wait()
            if self._ended.wait(LATE_SECONDS):
                return
            self._changed.clear()
            self.write_now()


def _write(path: Path, entry: JournalEntry) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"text": entry.text, "when": entry.when, "view": entry.view, "process": os.getpid()}
    with naming_failures(path), replacing(path, mode=0o600) as stream:
        stream.write(json.dumps(data).encode())


def remove_journal(path: Path) -> None:
    """Remove a journal, if there is one."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
