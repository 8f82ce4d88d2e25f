"""A page comes back: to the server that it had, or to one that was started after that one was killed.

=============  ====================================  ===========================================================
kind           fields                                answer
=============  ====================================  ===========================================================
hand_over      server, version, text, known, saved,  as studio_open, and handed: "same", "merged", or "conflict"
               source, places, waypoints             where both sides changed the same lines
=============  ====================================  ===========================================================

``text`` is what the page has, with all that was typed; ``known`` the text of ``version`` at the server that it had;
``saved`` what was saved then; ``source`` the model (`source_of`); ``places`` and ``waypoints`` where parts stood.

A new server reads the file.  Its text becomes the page's, merged by lines with what others made of the file meanwhile.
The journal of the killed server is used where it knows more than the page, which was behind; else it is dropped: the
page has all of it.  The same server has gone on: only what was typed and never came is merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinode.errors import ArgumentError, Error, ModelError
from kinode.formats.yaml_text import LARGEST_TEXT
from kinode.studio.document.document_files import (
    DocumentFile,
    ModelView,
    copy_of,
    find_target,
    new_file,
    open_file,
    read_point,
    read_points,
)
from kinode.studio.document.model_document import merge_texts
from kinode.studio.editor.library import find_example
from kinode.studio.server.session import Answer, Job

if TYPE_CHECKING:
    from kinode.studio.editor.studio_desk import StudioDesk


def add_hand_over_answers(desk: StudioDesk) -> None:
    """Let pages hand over what they have."""
    desk.session.handle("hand_over", lambda job: hand_over(desk, job), changes=True, lane="document")


def source_of(file: DocumentFile, folder: Path) -> dict[str, str]:
    """Where a document comes from: a model of the folder, an example, or nothing but a name."""
    if file.path is not None:
        try:
            return {"model": file.path.relative_to(folder.absolute()).as_posix()}
        except ValueError:
            return {"model": file.path.name}
    try:
        example = find_example(file.name)
    except ArgumentError:
        example = None
    return {"example": file.name} if example == file.place else {"new": file.name}


@dataclass(frozen=True)
class HandedText:
    """What a page hands over."""

    server: str
    version: int
    text: str
    known: str
    saved: str
    source: Mapping[str, Any]
    view: ModelView

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> HandedText:
        """From a request."""
        text = _text(fields, "text")
        known = text if fields.get("known") is None else _text(fields, "known")
        saved = known if fields.get("saved") is None else _text(fields, "saved")
        version, source = fields.get("version"), fields.get("source")
        if type(version) is not int:
            raise ArgumentError(f"version: a whole number is expected, not {version!r:.40}")
        if not isinstance(source, Mapping):
            raise ArgumentError(f"source: an object is expected, not {source!r:.40}")
        return cls(_text(fields, "server"), version, text, known, saved, source, _view(fields))


def hand_over(desk: StudioDesk, job: Job) -> Answer:
    """Take what a page has, and answer with what the document is then."""
    handed = HandedText.read(job.fields)
    document = desk.document
    if handed.server == desk.mark:
        text, view = merge_texts(handed.known, handed.text, document.text), document.view
    else:
        _show_source(desk, job, handed.source)
        document = desk.document
        text, view = _merged(desk, handed), handed.view
    if text is None:
        return {**desk.opened(), "handed": "conflict"}
    before = document.text
    desk.changed(document.restore(text, view), job.seq)
    if handed.server != desk.mark:
        desk.drop_kept()
    return {**desk.opened(), "handed": "same" if before == text else "merged"}


def _merged(desk: StudioDesk, handed: HandedText) -> str | None:
    """The text of a page and of a server that is new to it; None where the same lines were changed."""
    here, left = desk.document.text, desk.kept.entry
    typed = handed.text
    if left is not None and left.server != handed.server and left.text != typed:
        return None  # it is neither this page's nor known to it: the person is asked
    if left is not None and left.server == handed.server and left.version > handed.version:
        newer = merge_texts(handed.known, typed, left.text)
        return None if newer is None else merge_texts(left.base, newer, here)
    if here == handed.known:  # another page was here first
        return typed
    merged = merge_texts(handed.saved, typed, here)
    return merge_texts(handed.known, typed, here) if merged is None else merged


def _show_source(desk: StudioDesk, job: Job, source: Mapping[str, Any]) -> None:
    """Let the server show the model of the page, if it shows another."""
    document = desk.document
    if source == source_of(document.file, desk.folder):
        return
    if document.dirty:
        raise ModelError(f"the server shows another model now, {document.file.name}, which is not saved")
    desk.exchange(job, _file_of(desk.folder, source))


def _file_of(folder: Path, source: Mapping[str, Any]) -> DocumentFile:
    if "example" in source:
        return copy_of(find_example(source["example"]))
    if "model" in source:
        return open_file(find_target(folder, source["model"], None, overwrite=True))
    return new_file(folder)


def _text(fields: Mapping[str, Any], name: str) -> str:
    given = fields.get(name)
    if not isinstance(given, str) or len(given) > LARGEST_TEXT:
        raise ArgumentError(f"{name}: a text is expected, not {given!r:.40}")
    return given


def _view(fields: Mapping[str, Any]) -> ModelView:
    places, waypoints = fields.get("places") or {}, fields.get("waypoints") or {}
    if not isinstance(places, Mapping) or not isinstance(waypoints, Mapping):
        raise ArgumentError("places, waypoints: objects are expected")
    try:
        return ModelView(
            {name: read_point(at, f"places: {name}") for name, at in places.items()},
            {name: read_points(points, f"waypoints: {name}") for name, points in waypoints.items()},
        )
    except Error as error:
        raise ArgumentError(str(error)) from None
