"""The desk of the studio: one document, the pages that show it, and who answers what.

=============  ==============================  ==================================================================
kind           fields                          answer
=============  ==============================  ==================================================================
studio_open                                    document, sketch, catalogue, standing, settings
gesture        version, gesture                version, edits, names that were made, removed, renamed; words; state
undo, redo                                     the same
save           path, overwrite                 saved: the file; or exists: one that is not overwritten unasked
revert                                         back to what is saved, one step of undo; as studio_open
recover        take                            take over what was not saved when the server ended, or drop it
disk           take: mine, theirs              end a conflict with the file on the disk
inspect        name                            inspected: fields and ports of a component; of "" the whole
complete       position or law, field          from, options
can_connect    from                            targets: for each port "" or why it does not fit
copy           names                           text
gallery                                        examples, models of the folder
open_example   file; open_model file           as studio_open; new_model likewise
box_sketch     box                             box, version, sketch of the inside; null while it cannot be read
=============  ==============================  ==================================================================

inspect, complete with a law, can_connect and copy take ``box``: the list of subsystems that lead to the open one.  A
gesture inside it is ``{do: "in", box, gesture}``.
Those of LiveDesk, which shows the runs, come on top.
Pushed to all pages are ``document``, ``sketch``, ``standing`` (checked_model.py), ``disk``, ``reopen`` (another
document), and what LiveDesk pushes.  Changes of the text are answered in the order in which they came.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kinode.editing.checked_text import CheckedText
from kinode.editing.copying import copy_components
from kinode.editing.draft import ModelDraft, read_places
from kinode.editing.gesture_words import BoxNames, read_word
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
from kinode.studio.document.model_document import DocumentChange, ModelDocument
from kinode.studio.editor.checked_model import CheckedVersion, ModelChecker, ModelVersion
from kinode.studio.editor.comparison import add_comparison_answers
from kinode.studio.editor.completion import complete_law, complete_text, find_law_problem
from kinode.studio.editor.inspection import add_table_answers, inspect_component
from kinode.studio.editor.kinds import Plain, find_fits, make_catalogue
from kinode.studio.editor.library import add_library_answers, draw_examples, find_example, find_model, find_models
from kinode.studio.editor.studies import add_study_answers
from kinode.studio.live.live_desk import LiveDesk
from kinode.studio.live.model_watch import ModelWatch, Stamp, find_stamp
from kinode.studio.placing.place_desk import add_place_answers
from kinode.studio.server.session import Answer, Job, Session


def add_box_answers(desk: StudioDesk) -> None:
    """Let a desk answer what pages ask about subsystems."""

    def box_sketch(job: Job) -> Answer:
        version = desk.version(job)
        found = desk.checker.now(version)
        sketch = desk.checker.sketch(version) if found.checked.readable else None
        return {"box": list(version.box), "version": version.version, "sketch": sketch}

    desk.session.handle("box_sketch", box_sketch, lane="box_sketch")


TEXT_LANE = "document"


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
        self._watch: ModelWatch | None = None
        self._trouble = ""
        self._others: Stamp = ()
        changing: Mapping[str, Callable[[Job], Answer]] = {
            "gesture": self.gesture, "undo": self.undo, "redo": self.redo, "save": self.save, "revert": self.revert,
            "recover": self.recover, "disk": self.disk, "open_example": self.open_example,
            "open_model": self.open_model, "new_model": self.new_model,
        }  # fmt: skip
        asking: Mapping[str, Callable[[Job], Answer]] = {
            "inspect": self.inspect, "complete": self.complete, "can_connect": self.can_connect, "copy": self.copy,
            "gallery": self.gallery,
        }  # fmt: skip
        for kind, answer in changing.items():
            session.handle(kind, answer, changes=True, lane=TEXT_LANE)
        session.handle("studio_open", self.open, lane=TEXT_LANE)
        for kind, answer in asking.items():  # of completions the newest wins; others are asked by several parts
            session.handle(kind, answer, lane="" if kind == "complete" else kind)
        add_box_answers(self)
        add_comparison_answers(self, TEXT_LANE)
        add_table_answers(self)
        add_place_answers(self)
        self.studies = add_study_answers(self, TEXT_LANE)
        self._library = add_library_answers(self, TEXT_LANE)
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
            self._watch = ModelWatch(file.path, self._disk_changed).start()

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

    def version(self, job: Job | None = None) -> ModelVersion:
        """The document as it is now; of a request that names its ``box``, that subsystem."""
        document = self.document
        box = () if job is None else read_word("box", job.fields.get("box") or (), BoxNames)
        with document.lock:
            return ModelVersion(document.version, document.text, document.view, document.file.place, box)

    def checked(self, job: Job | None = None) -> CheckedVersion:
        """What the document, or a subsystem of it, means now."""
        return self.checker.now(self.version(job))

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

    def changed(self, change: DocumentChange, origin: int = -1) -> Plain:
        """Tell all pages of a change, and check what it led to."""
        if change.tidied is not None:
            self.checker.forget_places(change.tidied)
        self.checker.follow_names(change.renamed)
        told = {**self.document.state(), "version": change.version, "edits": [list(edit) for edit in change.edits]}
        self.session.push({"kind": "document", **told, "origin": origin, "words": change.words})
        if self._journal is not None:
            self._journal.note()
        self._check()
        names = {"made": list(change.made), "removed": list(change.removed), "renamed": dict(change.renamed)}
        return {**told, **names, "words": change.words}

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
    def open(self, job: Job) -> Answer:
        """The whole of it."""
        return self.opened()

    def opened(self) -> Plain:
        """The document, its sketch, the catalogue, how it stands and the settings."""
        version = self.version()
        file = self.document.file
        state, model = self.document.state(), self.live.model
        document = {**state, "version": version.version, "text": version.text, "model": model}
        return {
            "document": {**document, "recovered": self.kept.offer()},
            "sketch": self.checker.sketch(version),
            "catalogue": {**self._catalogue, **self._declared()},
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

    def gesture(self, job: Job) -> Answer:
        """A change by the canvas, the inspector or the text editor."""
        version = job.fields.get("version")
        if version is not None and type(version) is not int:
            raise ArgumentError(f"version: a whole number is expected, not {version!r:.40}")
        return self.changed(self.document.gesture(job.fields.get("gesture") or {}, version), job.seq)

    def undo(self, job: Job) -> Answer:
        """Take back the last change."""
        return self.changed(self.document.undo(), job.seq)

    def redo(self, job: Job) -> Answer:
        """Make it again."""
        return self.changed(self.document.redo(), job.seq)

    def save(self, job: Job) -> Answer:
        """Write the file."""
        path, document = job.fields.get("path"), self.document
        own = document.file.path
        if path is None and own is None and document.file.named:
            path = document.file.name
        try:
            target = None if path is None else find_target(self.folder, path, own, job.fields.get("overwrite") is True)
        except FileThere as there:
            return {"exists": there.name, **document.state()}
        places = self.checker.kept_places(self._drawn(), document.view)
        change = document.save(places, target)
        if self._journal is not None:
            self._journal.write_now()
        if document.file.path != own:
            self.live.file = document.file.name
            self._keep(document.file)
        if change is not None:
            self.changed(change)
        self.session.push({"kind": "document", **document.state(), "edits": [], "origin": job.seq, "words": "saved"})
        return {"saved": document.file.name, **document.state()}

    def _drawn(self) -> set[str]:
        return {box["name"] for box in self.checker.sketch(self.version())["boxes"]}

    def revert(self, job: Job) -> Answer:
        """Back to what is saved."""
        self.changed(self.document.revert(), job.seq)
        return self.opened()

    def recover(self, job: Job) -> Answer:
        """Take over what a killed server left, or drop it."""
        take, entry = job.fields.get("take"), self.kept.entry
        if not isinstance(take, bool):
            raise ArgumentError("take: true or false is expected")
        if entry is None:
            raise ArgumentError("nothing was left unsaved")
        if take:
            self.changed(self.document.restore(entry.text, entry.model_view()), job.seq)
        if self._journal is not None:
            self._journal.write_now()  # what the document has is kept before what was left goes
        self.kept.drop()
        return self.opened()

    def disk(self, job: Job) -> Answer:
        """End a conflict with the file on the disk."""
        return self.changed(self.document.settle(str(job.fields.get("take"))), job.seq)

    # -- answers: other documents ------------------------------------------------------------------
    def open_example(self, job: Job) -> Answer:
        """An example as a new model."""
        return self.exchange(job, copy_of(find_example(job.fields.get("file"))))

    def open_model(self, job: Job) -> Answer:
        """A model of the folder, or below it."""
        return self.exchange(job, open_file(find_model(self.folder, job.fields.get("file"))))

    def new_model(self, job: Job) -> Answer:
        """An empty model."""
        return self.exchange(job, new_file(self.folder))

    def exchange(self, job: Job, file: DocumentFile) -> Answer:
        """Take up another document, and tell the other pages."""
        if self.document.dirty and job.fields.get("discard") is not True:
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
    def inspect(self, job: Job) -> Answer:
        """A component in full."""
        name, version = job.fields.get("name"), self.version(job)
        if not isinstance(name, str):
            raise ArgumentError(f"name: the name of a component is expected, not {name!r:.40}")
        return {"inspected": inspect_component(self.checker.now(version), self.checker.sketch(version), name)}

    def complete(self, job: Job) -> Answer:
        """What may be typed next."""
        position, law = job.fields.get("position"), job.fields.get("law")
        if type(position) is not int or position < 0:
            raise ArgumentError(f"position: a whole number is expected, not {position!r:.40}")
        found = self.checked(job if law is not None else None)
        if law is not None:
            answer = complete_law(found.system, str(law), position)
            return {**answer, "problem": find_law_problem(found, job.fields.get("field"), str(law), answer)}
        return complete_text(found.of.text, position, found.system)

    def can_connect(self, job: Job) -> Answer:
        """The ports that a port may be connected to."""
        origin = job.fields.get("from")
        if not isinstance(origin, Mapping):
            raise ArgumentError("from: a port is expected, {component, port}")
        version = self.version(job)
        draft = ModelDraft(version.text, version.place, self.checker.now(version).checked, version.box)
        component, port = str(origin.get("component")), str(origin.get("port"))
        return {"targets": find_fits(draft, self.checker.sketch(version), component, port)}

    def copy(self, job: Job) -> Answer:
        """Components as text, to be pasted into this model or another."""
        names = job.fields.get("names")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ArgumentError("names: a list of names is expected")
        version = self.version(job)
        return {"text": copy_components(read_places(version.text, version.box), names)}

    def gallery(self, job: Job) -> Answer:
        """The examples with their pictures, and the models of the folder."""
        recent = [{"file": name, "name": Path(name).stem, "words": ""} for name in find_models(self.folder)]
        return {"examples": draw_examples(job.goes_on), "recent": recent}
