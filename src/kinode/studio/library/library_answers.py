"""What the pages ask about the library, and how a box becomes a file of it.

=============  ====================================  ============================================================
kind           fields                                answer
=============  ====================================  ============================================================
library                                              parts (library_files.describe_part), folder: where it lies
library_save   names, box, name, words, overwrite,   as gesture, and part: its file; or exists: one not replaced
               at                                    unasked
=============  ====================================  ============================================================

``names`` is a subsystem that is written out, or components that become one first; all of it is one step of undo.
Pushed to all pages is ``library``, the same as the answer, when files came, went or were changed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinode.atomic_files import naming_failures, write_bytes
from kinode.errors import ArgumentError, Error
from kinode.formats.editing.box_places import box_prefix
from kinode.formats.editing.boxing.file_boxes import check_box_file, name_of_file, write_box_file
from kinode.formats.editing.gestures import plan_gesture
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.editing.text_edits import apply_edits
from kinode.studio.documents.document_file import FileThere, find_target, new_file
from kinode.studio.documents.view_file import ModelView, view_path
from kinode.studio.drawing.checked_model import ModelVersion
from kinode.studio.drawing.kind_boxes import Plain
from kinode.studio.library.library_files import LIBRARY, LibraryShelf, library_folder, listing_stamp
from kinode.studio.live_pages.model_watch import Stamp
from kinode.studio.live_pages.session import Answer, Job

if TYPE_CHECKING:
    from kinode.studio.drawing.studio_desk import StudioDesk

POLL_SECONDS = 0.7  # between two looks at the folders
LONGEST_WORDS = 400


class LibraryAnswers:
    """Answers the pages of one desk about its library, and watches the folders while a page is there.

    Parameters
    ----------
    desk : StudioDesk
        The document whose folder is looked into.
    """

    def __init__(self, desk: StudioDesk) -> None:
        self.desk = desk
        self._shelf, self._lock = LibraryShelf(), threading.Lock()
        self._stamp: Stamp = ()
        self._told: Plain = {}
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    # -- what there is -----------------------------------------------------------------------------
    def shelf(self, job: Job) -> Answer:
        """All parts of the library; from then on pages are told of changes."""
        with self._lock:
            if self._thread is None and not self._end.is_set():
                self._thread = threading.Thread(target=self._watch, name="kinode library", daemon=True)
                self._thread.start()
            return self._look()

    def look_now(self) -> None:
        """Tell the pages what there is, if that is new."""
        with self._lock:
            before = self._told
            if self._look() != before:
                self.desk.session.push({"kind": "library", **self._told})

    def _look(self) -> Plain:
        place = self.desk.document.file.place
        self._stamp = listing_stamp(place)
        where = os.path.relpath(library_folder(place), place.parent)
        self._told = {"parts": self._shelf.parts(place), "folder": LIBRARY if where == "." else where}
        return self._told

    def _watch(self) -> None:
        while not self._end.wait(POLL_SECONDS):
            if self.desk.session.clients and listing_stamp(self.desk.document.file.place) != self._stamp:
                self.look_now()

    def close(self) -> None:
        """Look no longer."""
        self._end.set()

    # -- a box becomes a file ----------------------------------------------------------------------
    def save(self, job: Job) -> Answer:
        """Write a subsystem as a file of the library, and let the model read it from there."""
        fields, desk = job.fields, self.desk
        version = desk.version(job)
        names, wanted = _read_names(fields), _read_name(fields)
        file = desk.document.file
        if file.path is None and file.place.parent.absolute() != desk.folder.absolute():
            raise ArgumentError("save the model first: its library lies beside its file")
        folder = library_folder(version.place)
        base = folder.parent if folder != version.place.parent else folder
        try:
            inside = folder.relative_to(base).as_posix()
            target = find_target(base, f"{inside}/{wanted}", None, fields.get("overwrite") is True)
        except FileThere as there:
            return {"exists": there.name, **desk.document.state()}
        if target == version.place:
            raise ArgumentError(f"{target.name} is the model that is open: choose another name")
        shown = target.relative_to(version.place.parent).as_posix()
        gesture, text = self._plan(version, names, target, shown, fields)
        view = (
            version.view.inside(box_prefix((*version.box, names[0]))) if len(names) == 1 else _view_of(version, names)
        )
        restore = _Before(target)
        with naming_failures(folder):
            folder.mkdir(exist_ok=True)
        new_file(folder, text, target.name).written(text, view, target)
        try:
            change = desk.document.gesture(gesture)
        except Error:
            restore.back()
            raise
        answer = desk.changed(change, job.seq)
        self.look_now()
        return {**answer, "part": shown}

    def _plan(
        self, version: ModelVersion, names: list[str], target: Path, shown: str, fields: Mapping[str, Any]
    ) -> tuple[Plain, str]:  # fmt: skip
        """The gesture that makes the box a reference, and the text of its file."""
        text, steps, name = version.text, [], names[0]
        places = ModelDraft(text, version.place, box=version.box).places
        if len(names) > 1 or places.section_of(name) != "systems":
            enclosing: Plain = {"do": "enclose", "names": names, "name": name_of_file(target.name)}
            if fields.get("at") is not None:
                enclosing["at"] = fields["at"]
            plan = plan_gesture(text, _inside(version, enclosing), version.place)
            text = apply_edits(text, plan.edits)
            name = plan.made[0].rpartition(".")[2]
            steps.append(enclosing)
        draft = ModelDraft(text, version.place, box=version.box)
        words = fields.get("words") or ""
        if not isinstance(words, str) or len(words) > LONGEST_WORDS:
            raise ArgumentError(f"words: at most {LONGEST_WORDS} letters about the part are expected")
        written = write_box_file(draft, name, target, words)
        check_box_file(written, target, version.place)
        steps.append({"do": "refer", "name": name, "file": shown})
        said = f"save {name} as {shown}"
        return _inside(version, {"do": "all", "gestures": steps, "words": said}), written


class _Before:
    """A file and its view as they were, to be put back."""

    def __init__(self, target: Path) -> None:
        self._files = {path: path.read_bytes() if path.is_file() else None for path in (target, view_path(target))}

    def back(self) -> None:
        """Put them back."""
        for path, data in self._files.items():
            if data is None:
                path.unlink(missing_ok=True)
            else:
                write_bytes(path, data)


def _inside(version: ModelVersion, gesture: Plain) -> Plain:
    return {"do": "in", "box": list(version.box), "gesture": gesture} if version.box else gesture


def _view_of(version: ModelVersion, names: list[str]) -> ModelView:
    """Where components stand that become a part."""
    inside = version.view.inside(box_prefix(version.box))
    return ModelView({name: inside.places[name] for name in names if name in inside.places})


def _read_names(fields: Mapping[str, Any]) -> list[str]:
    names = fields.get("names")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        raise ArgumentError("names: the parts that are to be saved are expected")
    return list(dict.fromkeys(names))


def _read_name(fields: Mapping[str, Any]) -> str:
    name = fields.get("name")
    if not isinstance(name, str) or not name.strip():
        raise ArgumentError(f"name: the name of a file is expected, not {name!r:.40}")
    name = name.strip()
    if "/" in name or "\\" in name:
        raise ArgumentError(f"name: {name!r:.60} is to be a file in the library, without folders")
    return name


def add_library_answers(desk: StudioDesk, changing_lane: str) -> LibraryAnswers:
    """Let a desk answer about its library; what changes the text waits in the lane of its changes."""
    answers = LibraryAnswers(desk)
    desk.session.handle("library", answers.shelf, lane="library")
    desk.session.handle("library_save", answers.save, changes=True, lane=changing_lane)
    return answers
