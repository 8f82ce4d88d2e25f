"""The undo stack of the studio: the text of a model and where its parts stand, one document, one undo for both.

Every change is a list of edits of spans, a change of the view, or both, and one step of undo.  What edits do not touch
stays character for character: k changes and k undos leave the same text.  Where the text was changed elsewhere as well,
the edits between two texts are found, and both sides are merged by lines.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple, TypedDict

from kinode.editing.checked_text import CheckedText
from kinode.editing.gesture_words import BoxNames, Edits, read_word
from kinode.editing.gestures import plan_gesture
from kinode.editing.places import Box, box_prefix
from kinode.editing.spans import Edit, EditedText, apply_edits, invert_edits, rebase_edits
from kinode.errors import ArgumentError, Error
from kinode.formats.yaml_text import LARGEST_TEXT
from kinode.studio.document.document_files import DocumentFile, ModelView, Point, read_point, read_points

LONGEST_EXACT = 4000  # lines that are compared one by one


def find_edits(before: str, after: str) -> list[Edit]:
    """Edits of lines that make one text the other; the fewer, the less a cursor jumps."""
    if before == after:
        return []
    one, other = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if len(one) + len(other) > LONGEST_EXACT:
        return [_narrow(before, after)]
    starts = _starts(one)
    found = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return [Edit(starts[a], starts[b], "".join(other[c:d])) for tag, a, b, c, d in found if tag != "equal"]


def _narrow(before: str, after: str) -> Edit:
    """One edit: what lies between the common beginning and the common end."""
    first, most = 0, min(len(before), len(after))
    while first < most and before[first] == after[first]:
        first += 1
    last = 0
    while last < most - first and before[-1 - last] == after[-1 - last]:
        last += 1
    return Edit(first, len(before) - last, after[first : len(after) - last])


def _starts(lines: Sequence[str]) -> list[int]:
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return starts


def merge_texts(base: str, mine: str, theirs: str) -> str | None:
    """What both sides made of a text; None where they changed the same lines, or lines side by side, differently."""
    if mine == theirs or theirs == base:
        return mine
    if mine == base:
        return theirs
    origin = base.splitlines(keepends=True)
    ours, yours = _changes(origin, mine), _changes(origin, theirs)
    merged, at = [], 0
    while ours or yours:
        if ours and yours and ours[0] == yours[0]:
            yours.pop(0)
        elif ours and yours and _meet(ours[0], yours[0]):
            return None
        first = ours if not yours or (ours and ours[0][:2] <= yours[0][:2]) else yours
        a, b, lines = first.pop(0)
        merged += [*origin[at:a], *lines]
        at = b
    return "".join([*merged, *origin[at:]])


Change = tuple[int, int, list[str]]


def _changes(origin: list[str], text: str) -> list[Change]:
    lines = text.splitlines(keepends=True)
    found = SequenceMatcher(None, origin, lines, autojunk=False).get_opcodes()
    return [(a, b, lines[c:d]) for tag, a, b, c, d in found if tag != "equal"]


def _meet(one: Change, other: Change) -> bool:
    """Whether two changes overlap or touch."""
    return one[0] <= other[1] and other[0] <= one[1]


MOST_STEPS = 2000
MOST_VERSIONS = 400  # whose edits are known, so that an edit of an older text can be moved
MOST_TOGETHER = 500  # gestures in one
VIEW_GESTURES = ("move", "waypoints", "tidy")
Side = Literal["mine", "theirs"]
Arrange = Callable[[str, Sequence[str], Mapping[str, Any]], Mapping[str, Point]]


class Gesture(TypedDict):
    """What a person does to a model: ``do`` says what it is, the rest is its own (`kinode.editing.gestures`)."""

    do: str


class DocumentState(TypedDict):
    """What a page shows of the document, less its text."""

    version: int
    dirty: bool
    canUndo: bool
    canRedo: bool
    file: str | None
    conflict: bool


class ToldChange(DocumentState):
    """A change of the text: its edits, in code points, belong to the version before."""

    edits: list[Edit]
    words: str


class GestureAnswer(ToldChange):
    """What a page is answered that asked for a change: names that it made, removed and renamed too."""

    made: list[str]
    removed: list[str]
    renamed: dict[str, str]


class FileExists(TypedDict):
    """A file that is there, and is not overwritten unasked."""

    exists: str


class DocumentStep(NamedTuple):
    """What was done, and what leads back."""

    edits: list[Edit]
    inverse: list[Edit]
    before: ModelView
    after: ModelView
    words: str


@dataclass(frozen=True)
class DocumentChange:
    """A change that was made: the version that it led to, its edits, and names that came, went or changed."""

    version: int
    edits: list[Edit]
    words: str = ""
    made: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    tidied: str | None = None
    """What stands before the names whose places are forgotten: empty for all, ``leg.`` for those in a subsystem."""


class ModelDocument:
    """The text of a model with its versions; from any thread.

    Parameters
    ----------
    file : DocumentFile
    arrange : function, optional
        Says where parts stand that came by a gesture: of the new text, their names and the gesture.
    check : function, optional
        What a text means, where that is known already.
    version : int
        Of the text as it is; where a page had another document before, one that is higher.
    """

    def __init__(
        self, file: DocumentFile, arrange: Arrange | None = None, check: Callable[[str], CheckedText] | None = None,
        version: int = 0,
    ) -> None:  # fmt: skip
        self.file = file
        self.lock = threading.RLock()
        self.text, self.view, self.version = file.saved, file.view, version
        self.conflict: str | None = None
        """The text on the disk, where it contradicts what was changed here."""
        self._arrange, self._check = arrange, check
        self._undo: deque[DocumentStep] = deque(maxlen=MOST_STEPS)
        self._redo: list[DocumentStep] = []
        self._history: deque[tuple[int, list[Edit]]] = deque(maxlen=MOST_VERSIONS)

    @property
    def dirty(self) -> bool:
        """Whether something is not saved."""
        return self.text != self.file.saved or self.view != self.file.view

    def state(self) -> DocumentState:
        """What a page shows of the document, less its text."""
        with self.lock:
            return {
                "version": self.version,
                "dirty": self.dirty,
                "canUndo": bool(self._undo),
                "canRedo": bool(self._redo),
                "file": None if self.file.path is None else self.file.name,
                "conflict": self.conflict is not None,
            }

    # -- gestures ----------------------------------------------------------------------------------
    def gesture(self, gesture: Mapping[str, Any], version: int | None = None) -> DocumentChange:
        """Make the change that a gesture asks for; it is one step of undo."""
        with self.lock:
            plan = _GesturePlan(self, version)
            plan.take(gesture)
            edits, made = plan.text.edits(), tuple(plan.made)
            return self._step(edits, plan.view, plan.words, made, plan.removed, plan.renamed, plan.tidied)

    def check(self, text: str) -> CheckedText | None:
        """What a text means, where that is known already."""
        return None if self._check is None else self._check(text)

    def places_of(self, text: str, made: Sequence[str], gesture: Mapping[str, Any]) -> Mapping[str, Point]:
        """Where parts stand that came by a gesture."""
        return self._arrange(text, made, gesture) if self._arrange is not None and made else {}

    def take_over(self, text: str, words: str, view: ModelView | None = None) -> DocumentChange:
        """Make the text one that came from elsewhere, as one step of undo: the disk, the journal, what is saved."""
        with self.lock:
            return self._step(find_edits(self.text, text), self.view if view is None else view, words)

    def rebased(self, edits: Iterable[Edit], version: int | None) -> list[Edit]:
        """Edits of an older version as edits of the present text; ArgumentError where that was changed."""
        edits = list(edits)
        if version is None or version == self.version:
            return edits
        known = [later for number, later in self._history if number > version]
        if version > self.version or len(known) != self.version - version:
            raise ArgumentError(f"stale: this is version {self.version}, and the change is of {version}")
        for later in known:
            try:
                edits = rebase_edits(edits, later)
            except ArgumentError as error:
                raise ArgumentError(f"stale: {error}") from None
        return edits

    def _step(
        self, edits: list[Edit], view: ModelView, words: str, made: tuple[str, ...] = (), removed: Iterable[str] = (),
        renamed: Mapping[str, str] | None = None, tidied: str | None = None,
    ) -> DocumentChange:  # fmt: skip
        if edits or view != self.view:
            step = DocumentStep(edits, invert_edits(self.text, edits), self.view, view, words)
            self._go(edits, view)
            self._undo.append(step)
            self._redo.clear()
        return DocumentChange(self.version, edits, words, made, tuple(removed), renamed or {}, tidied)

    def _go(self, edits: list[Edit], view: ModelView) -> None:
        text = apply_edits(self.text, edits)
        if len(text) > LARGEST_TEXT:
            raise ArgumentError(f"a model has at most {LARGEST_TEXT // 1_000_000} MB of text")
        self.text, self.view, self.version = text, view, self.version + 1
        self._history.append((self.version, edits))

    # -- undo --------------------------------------------------------------------------------------
    def undo(self) -> DocumentChange:
        """Take back the last step."""
        with self.lock:
            if not self._undo:
                raise ArgumentError("there is nothing to undo")
            step = self._undo.pop()
            self._go(step.inverse, step.before)
            self._redo.append(step)
            return DocumentChange(self.version, step.inverse, f"took back: {step.words}")

    def redo(self) -> DocumentChange:
        """Make the step again that was taken back last."""
        with self.lock:
            if not self._redo:
                raise ArgumentError("there is nothing to redo")
            step = self._redo.pop()
            self._go(step.edits, step.after)
            self._undo.append(step)
            return DocumentChange(self.version, step.edits, f"again: {step.words}")

    # -- the file ----------------------------------------------------------------------------------
    def follow_disk(self) -> DocumentChange | None:
        """Take over what the file says now: as it is, or merged with what was changed here; None if nothing is new.

        Where both changed the same lines the text stays, and ``conflict`` is what the file says.
        """
        with self.lock:
            theirs = self.file.on_disk()
            if theirs is None or theirs == self.file.saved:
                return None
            if theirs == self.conflict:
                return None
            merged = merge_texts(self.file.saved, self.text, theirs)
            if merged is None:
                self.conflict = theirs
                return DocumentChange(self.version, [], "the file was changed on the disk, at places changed here too")
            words = "read the file anew" if merged == theirs else "merged with what was changed on the disk"
            self._saved_is(theirs)
            return self.take_over(merged, words)

    def settle(self, take: Side) -> DocumentChange:
        """End a conflict: "mine" keeps the text here, "theirs" takes that of the file."""
        with self.lock:
            if self.conflict is None:
                raise ArgumentError("the file on the disk does not contradict what was changed here")
            theirs = self.conflict
            self._saved_is(theirs)
            words = "took the text on the disk" if take == "theirs" else "kept the text here"
            return self.take_over(theirs if take == "theirs" else self.text, words)

    def _saved_is(self, text: str) -> None:
        self.file, self.conflict = replace(self.file, saved=text), None

    def save(self, places: Mapping[str, Point], path: Any = None) -> DocumentChange | None:
        """Write the file; what others have written to it since is merged first, and returned as a change.

        ``places`` says where all parts stand: once one was placed by hand, all are kept.
        """
        with self.lock:
            change = None
            if path is None or path == self.file.path:
                change = self.follow_disk()
                if self.conflict is not None:
                    raise Error(f"{self.file.name} was changed on the disk too: take one of the two texts first")
            if self.view.places:
                self.view = self.view.moved({name: at for name, at in places.items() if name not in self.view.places})
            self.file = self.file.written(self.text, self.view, path)
            return change

    def forget_changes(self) -> None:
        """Count what is not saved as not wanted."""
        with self.lock:
            self.file = replace(self.file, saved=self.text, view=self.view)


class _GesturePlan:
    """Collects what a gesture, or several together, make of text and view."""

    def __init__(self, document: ModelDocument, version: int | None) -> None:
        self.document, self.version = document, version
        self.text, self.view = EditedText(document.text), document.view
        self.made: list[str] = []
        self.removed: list[str] = []
        self.renamed: dict[str, str] = {}
        self.words = ""
        self.tidied: str | None = None

    def take(self, gesture: Any, box: Box = ()) -> None:
        """Add a gesture, which may be one in a subsystem."""
        if not isinstance(gesture, Mapping) or not isinstance(gesture.get("do"), str):  # one inside of another
            raise ArgumentError(f"gesture: an object with 'do' is expected, not {gesture!r:.60}")
        what = gesture["do"]
        if what == "all":
            self._take_all(gesture.get("gestures"), box)
        elif what == "in":
            self.take(gesture.get("gesture"), (*box, *read_word("box", gesture.get("box"), BoxNames)))
        elif what == "text":
            first = self.text.text == self.document.text
            edits = [Edit(*edit) for edit in read_word("edits", gesture.get("edits"), Edits)]
            self.text.apply(self.document.rebased(edits, self.version) if first else edits)
            self.words = "typed"
        elif what in VIEW_GESTURES:
            self._take_view(what, gesture, box_prefix(box))
        else:
            text = self.text.text
            whole = {"do": "in", "box": list(box), "gesture": dict(gesture)} if box else dict(gesture)
            plan = plan_gesture(text, whole, self.document.file.place, self.document.check(text))
            self.text.apply(plan.edits)
            self.made += plan.made
            self.removed += plan.removed
            self.renamed |= plan.renamed
            self.view = self.view.renamed(plan.renamed) if plan.renamed else self.view
            places = self.document.places_of(self.text.text, plan.made, _named_from_top(gesture, box))
            self.view = self.view.moved(places) if places else self.view
            self.words = plan.words

    def _take_all(self, gestures: Any, box: Box) -> None:
        if not isinstance(gestures, list) or len(gestures) > MOST_TOGETHER:
            raise ArgumentError(f"gestures: a list of at most {MOST_TOGETHER} gestures is expected")
        for each in gestures:
            self.take(each, box)

    def _take_view(self, what: str, gesture: Mapping[str, Any], prefix: str) -> None:
        if what == "tidy":
            self.view, self.words, self.tidied = self.view.without(prefix), "tidied up", prefix
        elif what == "move":
            places = gesture.get("places")
            if not isinstance(places, Mapping):
                raise ArgumentError("places: positions [x, y] by name are expected")
            self.view = self.view.moved({f"{prefix}{name}": _point(at, name) for name, at in places.items()})
            self.words = "moved"
        else:
            link, points = gesture.get("link"), gesture.get("points")
            if not isinstance(link, str):
                raise ArgumentError(f"link: the name of a link is expected, not {link!r:.40}")
            self.view = self.view.routed(f"{prefix}{link}", None if points is None else _points(points, link))
            self.words = "led the link"


def _named_from_top(gesture: Mapping[str, Any], box: Box) -> Mapping[str, Any]:
    """A gesture in a subsystem with the names that its components have in the whole."""
    names = gesture.get("names")
    if not box or not isinstance(names, list):
        return gesture
    return {**gesture, "names": [f"{box_prefix(box)}{name}" for name in names]}


def _point(raw: Any, where: object) -> Point:
    try:
        return read_point(raw, f"places: {where}")
    except Error as error:
        raise ArgumentError(str(error)) from None


def _points(raw: Any, where: str) -> tuple[Point, ...]:
    try:
        return read_points(raw, f"points: {where}")
    except Error as error:
        raise ArgumentError(str(error)) from None
