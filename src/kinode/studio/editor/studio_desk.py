"""The desk of the studio: one document, the pages that show it, and who answers what.

Its requests are the methods below that say so; those of other parts of the page are answered beside it
(library.py, inspection.py, comparison.py, studies.py, panes.py, studio/placing/place_desk.py).

Some take ``box``: the list of subsystems that lead to the open one.  A gesture in it is ``{do: "in", box, gesture}``.
Those of LiveDesk, which shows the runs, come on top.
Pushed to all pages are ``document``, ``sketch``, ``standing`` (checked_model.py), ``disk``, ``reopen`` (another
document), and what LiveDesk pushes.  Changes of the text are answered in the order in which they came.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NewType, NotRequired, TypedDict

from kinode.editing.checked_text import CheckedText
from kinode.editing.copying import copy_components
from kinode.editing.draft import ModelDraft, read_places
from kinode.editing.gesture_words import BoxNames, read_word
from kinode.editing.places import Box
from kinode.errors import ArgumentError, Error, ModelError
from kinode.studio.document.document_files import (
    DocumentFile,
    FileThere,
    Point,
    copy_of,
    find_target,
    new_file,
    open_file,
    write_view,
)
from kinode.studio.document.journal import Journal, JournalEntry, KeptText
from kinode.studio.document.model_document import (
    DocumentChange,
    DocumentState,
    FileExists,
    Gesture,
    GestureAnswer,
    ModelDocument,
    Side,
    ToldChange,
)
from kinode.studio.editor.checked_model import CheckedVersion, ModelChecker, ModelVersion, Standing
from kinode.studio.editor.comparison import ComparisonAnswers
from kinode.studio.editor.completion import Completion, FieldPlace, complete_law, complete_text, find_law_problem
from kinode.studio.editor.inspection import Inspected, TableData, inspect_component, inspect_table
from kinode.studio.editor.kinds import Plain, find_fits, make_catalogue
from kinode.studio.editor.library import (
    GalleryExample,
    GalleryModel,
    LibraryAnswers,
    draw_examples,
    find_example,
    find_model,
    find_models,
)
from kinode.studio.editor.sketch import PortPlace, Sketch
from kinode.studio.editor.studies import StudyAnswers
from kinode.studio.live.live_desk import LiveDesk
from kinode.studio.live.model_watch import Stamp, Watch, find_stamp
from kinode.studio.placing.place_desk import PlaceDesk
from kinode.studio.server.messages import request
from kinode.studio.server.session import Job, Session

Catalogue = NewType("Catalogue", Plain)
"""The kinds that can be drawn, as `kinode.studio.editor.kinds` makes it."""


class DocumentData(DocumentState):
    """The document with its text."""

    text: str
    model: int  # how many models the server opened before this one
    recovered: str  # words on what a killed server left unsaved; empty if there is nothing


class StudioSettings(TypedDict):
    """What a page is told once of the studio."""

    readOnly: bool
    file: str | None  # as seen from the folder of the studio
    folder: str
    proposed: str  # the file name that saving proposes
    trouble: str  # what could not be kept or read beside the model
    named: bool  # whether a new model is saved under the proposed name unasked


class OpenedStudio(TypedDict):
    """The whole of a document."""

    document: DocumentData
    sketch: Sketch
    catalogue: Catalogue
    standing: Standing
    settings: StudioSettings


class Saved(DocumentState):
    """A document that was saved, and the name of its file."""

    saved: str


class TextPush(ToldChange):
    """A change, with the number of the request that asked for it."""

    origin: int


class SketchPush(TypedDict):
    """The drawing of a new version."""

    version: int
    sketch: Sketch


class DiskPush(TypedDict):
    """What is said of the file: it was changed, contradicts what was changed here, or makes trouble."""

    words: str
    conflict: NotRequired[bool]
    trouble: NotRequired[bool]


class Gallery(TypedDict):
    """The examples, and the models of the folder."""

    examples: list[GalleryExample]
    recent: list[GalleryModel]


class StudioDesk:
    """Holds the document of the studio, and answers its pages.

    Parameters
    ----------
    session : Session
    file : DocumentFile
        The model that is opened first.
    folder : path
        Below which models are saved and opened.
    """

    def __init__(self, session: Session, file: DocumentFile, folder: Path) -> None:
        self.session, self.folder = session, folder
        self.live = LiveDesk(session, file.name)
        self.checker = ModelChecker(self.live)
        self._catalogue = make_catalogue()
        self._journal: Journal | None = None
        self._watch: Watch | None = None
        self._trouble = ""
        self._others: Stamp = ()
        self.studies, self._library = StudyAnswers(self), LibraryAnswers(self)
        for each in (self, ComparisonAnswers(self), PlaceDesk(self), self.studies, self._library):
            session.add(each)
        self._begin(file)

    # -- the document ------------------------------------------------------------------------------
    def _begin(self, file: DocumentFile, version: int = 0) -> None:
        """Take up a document: watch its file, keep its journal, check it."""
        self.document = ModelDocument(file, self._arrange, self._check_now, version)
        self.live.file = file.name
        self._keep(file)
        self._check()

    def _keep(self, file: DocumentFile) -> None:
        """Begin the journal and the watch of a file; what a killed server left is to be offered."""
        if self._journal is not None:
            self._journal.close()
        if self._watch is not None:
            self._watch.close()
        self._journal = self._watch = None
        self.kept = KeptText(file.path, file.saved, looks=not self.session.read_only)
        if self.session.read_only:
            return
        self._journal = Journal(self.kept.path, self._unsaved, self._say_trouble)
        if file.path is not None:
            self._others = self._named_files()
            self._watch = Watch(partial(find_stamp, file.path), self._disk_changed).start()

    def _named_files(self) -> Stamp:
        """What tells versions of the files apart that the model names."""
        path = self.document.file.path
        return () if path is None else find_stamp(path)[1:]

    def _unsaved(self) -> JournalEntry | None:
        document = self.document
        with document.lock:
            if not document.dirty:
                return None
            view = write_view(document.view, document.file.name)
            return JournalEntry(document.text, time.time(), view)

    def _say_trouble(self, words: str) -> None:
        self._trouble = words
        self.session.push({"kind": "disk", "words": words or "unsaved changes are kept again", "trouble": bool(words)})

    def version(self, box: Box = ()) -> ModelVersion:
        """The document as it is now, or a subsystem of it."""
        document = self.document
        with document.lock:
            return ModelVersion(
                document.version, document.text, document.view, document.file.place, read_word("box", box, BoxNames)
            )

    def checked(self, box: Box = ()) -> CheckedVersion:
        """What the document, or a subsystem of it, means now."""
        return self.checker.now(self.version(box))

    def close(self) -> None:
        """End; what is not saved stays in the journal."""
        if self._watch is not None:
            self._watch.close()
        if self._journal is not None:
            self._journal.close()
        self.studies.close()
        self._library.close()
        self.checker.close()
        self.live.close()

    def _check(self) -> None:
        self.checker.ask(self.version())

    def _check_now(self, text: str) -> CheckedText:
        document = self.document
        return self.checker.now(ModelVersion(document.version, text, document.view, document.file.place)).checked

    def _arrange(self, text: str, made: Sequence[str], gesture: Mapping[str, Any]) -> Mapping[str, Point]:
        document = self.document
        new = ModelVersion(document.version, text, document.view, document.file.place)
        return self.checker.arrange(new, made, gesture)

    def changed(self, change: DocumentChange, origin: int = -1) -> GestureAnswer:
        """Tell all pages of a change, and check what it led to."""
        if change.tidied is not None:
            self.checker.forget_places(change.tidied)
        self.checker.follow_names(change.renamed)
        told: ToldChange = {
            **self.document.state(), "version": change.version, "edits": change.edits, "words": change.words,
        }  # fmt: skip
        self.session.push({"kind": "document", **told, "origin": origin})
        if self._journal is not None:
            self._journal.note()
        self._check()
        made, removed = list(change.made), list(change.removed)
        return {**told, "made": made, "removed": removed, "renamed": dict(change.renamed)}

    def _disk_changed(self) -> None:
        """The file, or one that it names, was changed."""
        try:
            change = self.document.follow_disk()
        except Error as error:
            self.session.push({"kind": "disk", "words": str(error), "trouble": True})
            return
        if change is None:
            others = self._named_files()
            if others != self._others:
                self._others = others
                self.checker.reread()
                self._check()
            return
        self.changed(change)
        conflict = self.document.conflict is not None
        self.session.push({"kind": "disk", "words": change.words, "conflict": conflict})

    # -- answers: the document ---------------------------------------------------------------------
    @request("studio_open", lane="document")
    def opened(self) -> OpenedStudio:
        """The document, its sketch, the catalogue, how it stands and the settings."""
        version = self.version()
        file = self.document.file
        state, model = self.document.state(), self.live.model
        return {
            "document": {
                **state, "version": version.version, "text": version.text, "model": model,
                "recovered": self.kept.words,
            },
            "sketch": self.checker.sketch(version),
            "catalogue": Catalogue({**self._catalogue, **self._declared()}),
            "standing": self.checker.standing(version),
            "settings": {
                "readOnly": self.session.read_only, "file": self._file_below(), "folder": self.folder.name,
                "proposed": file.name, "trouble": self._trouble or file.words, "named": file.named,
            },
        }  # fmt: skip

    def _file_below(self) -> str | None:
        """The file of the document as seen from the folder; None before it is saved."""
        path, folder = self.document.file.path, self.folder.absolute()
        if path is None:
            return None
        return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name

    def _declared(self) -> Plain:
        """The catalogue with the kinds that the model declares itself."""
        own = self.checked().system.kinds
        return make_catalogue(own) if own else {}

    @request("gesture", lane="document", changes=True)
    def gesture(self, job: Job, gesture: Gesture, version: int | None = None) -> GestureAnswer:
        """A change by the canvas, the inspector or the text editor."""
        return self.changed(self.document.gesture(gesture, version), job.seq)

    @request("undo", lane="document", changes=True)
    def undo(self, job: Job) -> GestureAnswer:
        """Take back the last change."""
        return self.changed(self.document.undo(), job.seq)

    @request("redo", lane="document", changes=True)
    def redo(self, job: Job) -> GestureAnswer:
        """Make it again."""
        return self.changed(self.document.redo(), job.seq)

    @request("save", lane="document", changes=True)
    def save(self, job: Job, path: str | None = None, overwrite: bool = False) -> Saved | FileExists:
        """Write the file; ``exists`` is the name of one that is not overwritten unasked."""
        document = self.document
        own = document.file.path
        if path is None and own is None and document.file.named:
            path = document.file.name
        try:
            target = None if path is None else find_target(self.folder, path, own, overwrite)
        except FileThere as there:
            return {"exists": there.name}
        places = self.checker.kept_places(self._drawn(), document.view)
        change = document.save(places, target)
        if self._journal is not None:
            self._journal.write_now()
        if document.file.path != own:
            self.live.file = document.file.name
            self._keep(document.file)
        if change is not None:
            self.changed(change)
        state = document.state()
        self.session.push({"kind": "document", **state, "edits": [], "origin": job.seq, "words": "saved"})
        return {"saved": document.file.name, **state}

    def _drawn(self) -> set[str]:
        return {box["name"] for box in self.checker.sketch(self.version())["boxes"]}

    @request("revert", lane="document", changes=True)
    def revert(self, job: Job) -> OpenedStudio:
        """Back to what is saved."""
        file = self.document.file
        self.changed(self.document.take_over(file.saved, "back to what is saved", file.view), job.seq)
        return self.opened()

    @request("recover", lane="document", changes=True)
    def recover(self, job: Job, take: bool) -> OpenedStudio:
        """Take over what a killed server left, or drop it."""
        entry = self.kept.entry
        if entry is None:
            raise ArgumentError("nothing was left unsaved")
        if take:
            taken = self.document.take_over(entry.text, "took over what was kept", entry.model_view())
            self.changed(taken, job.seq)
        if self._journal is not None:
            self._journal.write_now()  # what the document has is kept before what was left goes
        self.kept.drop()
        return self.opened()

    @request("disk", lane="document", changes=True)
    def disk(self, job: Job, take: Side) -> GestureAnswer:
        """End a conflict with the file on the disk."""
        return self.changed(self.document.settle(take), job.seq)

    # -- answers: other documents ------------------------------------------------------------------
    @request("open_example", lane="document", changes=True)
    def open_example(self, job: Job, file: str, discard: bool = False) -> OpenedStudio:
        """An example as a new model."""
        return self.exchange(job, copy_of(find_example(file)), discard)

    @request("open_model", lane="document", changes=True)
    def open_model(self, job: Job, file: str, discard: bool = False) -> OpenedStudio:
        """A model of the folder, or below it."""
        return self.exchange(job, open_file(find_model(self.folder, file)), discard)

    @request("new_model", lane="document", changes=True)
    def new_model(self, job: Job, discard: bool = False) -> OpenedStudio:
        """An empty model."""
        return self.exchange(job, new_file(self.folder), discard)

    def exchange(self, job: Job, file: DocumentFile, discard: bool) -> OpenedStudio:
        """Take up another document, and tell the other pages."""
        if self.document.dirty and not discard:
            raise ModelError(f"{self.document.file.name} has changes that are not saved: save it, or take them back")
        if self._journal is not None:
            self.document.forget_changes()
            self._journal.write_now()
        version = self.document.version + 1
        self.checker.forget()
        self._begin(file, version)
        for client in self.session.clients:
            if client is not job.client:
                client.push({"kind": "reopen"})
        return self.opened()

    # -- answers: questions ------------------------------------------------------------------------
    @request("box_sketch", lane="box_sketch")
    def box_sketch(self, box: Box) -> dict[Literal["sketch"], Sketch | None]:
        """The sketch of the inside of a subsystem; null while it cannot be read."""
        version = self.version(box)
        return {"sketch": self.checker.sketch(version) if self.checker.now(version).checked.readable else None}

    @request("inspect", lane="inspect")
    def inspect(self, name: str, box: Box = ()) -> dict[Literal["inspected"], Inspected]:
        """A component in full; of "" the whole."""
        version = self.version(box)
        return {"inspected": inspect_component(self.checker.now(version), self.checker.sketch(version), name)}

    @request("inspect_table", lane="inspect_table")
    def inspect_table(self, name: str) -> dict[Literal["table"], TableData]:
        """A table: its cells as written, and its curves; or why it cannot be shown as cells."""
        return {"table": inspect_table(self.checked(), name)}

    @request("complete")
    def complete(
        self, position: int, law: str | None = None, field: FieldPlace | None = None, box: Box = ()
    ) -> Completion:  # fmt: skip
        """What may be typed next, at a place of the text or of a law that is typed into a field."""
        if position < 0:
            raise ArgumentError(f"position: a place in the text is expected, not {position}")
        if law is None:
            found = self.checked()
            return complete_text(found.of.text, position, found.system)
        found = self.checked(box)
        answer = complete_law(found.system, law, position)
        return {**answer, "problem": find_law_problem(found, field, law, answer)}

    @request("can_connect", lane="can_connect")
    def can_connect(self, port: PortPlace, box: Box = ()) -> dict[Literal["targets"], dict[str, str]]:
        """For each port "", or why the one that is named cannot be connected to it."""
        version = self.version(box)
        draft = ModelDraft(version.text, version.place, self.checker.now(version).checked, version.box)
        return {"targets": find_fits(draft, dict(self.checker.sketch(version)), port["component"], port["port"])}

    @request("copy", lane="copy")
    def copy(self, names: list[str], box: Box = ()) -> dict[Literal["text"], str]:
        """Components as text, to be pasted into this model or another."""
        version = self.version(box)
        return {"text": copy_components(read_places(version.text, version.box), names)}

    @request("gallery", lane="gallery")
    def gallery(self, job: Job) -> Gallery:
        """The examples with their pictures, and the models of the folder."""
        recent: list[GalleryModel] = [
            {"file": name, "name": Path(name).stem, "words": ""} for name in find_models(self.folder)
        ]
        return {"examples": draw_examples(job.goes_on), "recent": recent}
