"""What the studio answers about another model: what differs, the peaks of both runs, taking over a difference.

``other`` is {file: name} of the folder, {commit: revision}, {saved: true}, or {text, label}: a text that the page has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict, cast, final

from kinode.comparing.committed_model import committed_model
from kinode.comparing.models import ComparedRow, ModelComparison, ModelSide, RowChange, compare_sides, side_of_checked
from kinode.comparing.taken_rows import find_taking
from kinode.editing.checked_text import check_text
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import apply_edits
from kinode.errors import ArgumentError, Error
from kinode.results.compare import ComparedPeak, compare_runs
from kinode.studio.document.document_files import open_file
from kinode.studio.document.model_document import GestureAnswer
from kinode.studio.editor.kinds import Plain
from kinode.studio.editor.library import find_models
from kinode.studio.editor.sketch import SketchBox, Sketcher
from kinode.studio.live.changing_run import ChangingRun
from kinode.studio.live.page_data import Packed, PageData
from kinode.studio.placing.still_model import StillModel
from kinode.studio.placing.still_scene import still_document
from kinode.studio.server.messages import Arrays, request
from kinode.studio.server.session import Job

if TYPE_CHECKING:
    from kinode.studio.editor.studio_desk import StudioDesk


MOST_TAKEN = 400  # rows at once


@final
class InFile(TypedDict):
    """A model of the folder."""

    file: str


@final
class InCommit(TypedDict):
    """The model as it was committed."""

    commit: str


@final
class AsSaved(TypedDict):
    """The model as its file has it."""

    saved: Literal[True]


@final
class AsText(TypedDict):
    """A model that the page has."""

    text: str
    label: NotRequired[str]


Other = InFile | InCommit | AsSaved | AsText


class CompareChoices(TypedDict):
    """What the document can be compared with."""

    files: list[str]
    commit: str  # the last commit in words; empty where there is none, and why
    why: str
    saved: bool


class ComparedModels(TypedDict):
    """What differs from the other model to this one, and the boxes of parts that the other alone has."""

    label: str
    verdict: str
    version: int
    rows: list[ComparedRow]
    ghosts: list[SketchBox]


class ComparedRun(TypedDict):
    """What the header of the other run has beside its own."""

    peaks: list[ComparedPeak]


class RowKey(TypedDict):
    """What tells a difference from others."""

    part: str
    field: str
    change: str


class ComparisonAnswers:
    """Compares the document of a desk with other models."""

    def __init__(self, desk: StudioDesk) -> None:
        self.desk = desk

    # -- the two sides -----------------------------------------------------------------------------
    def mine(self) -> ModelSide:
        """The document as it is now."""
        found = self.desk.checked()
        return side_of_checked(found.of.text, found.checked, self.desk.document.file.name)

    @contextmanager
    def other(self, named: Other) -> Iterator[ModelSide]:
        """The model that a page names."""
        file, place = self.desk.document.file, self.desk.document.file.place
        if "file" in named:
            yield self._in_folder(named["file"])
        elif "commit" in named:
            if file.path is None:
                raise ArgumentError("the model is in no file yet: save it, and commit it")
            with committed_model(file.path, named["commit"]) as then:
                yield _side(then.text, then.place, then.label)
        elif "saved" in named:
            yield _side(file.saved, place, f"{file.name} as saved")
        else:
            yield _side(named["text"], place, (named.get("label") or "before")[:200])

    def _in_folder(self, name: str) -> ModelSide:
        folder = self.desk.folder
        if name not in find_models(folder):
            raise ArgumentError(f"file: the folder {folder.name} has no model {name!r:.60}")
        file = open_file(folder / name)
        return _side(file.saved, file.place, name)

    # -- answers -----------------------------------------------------------------------------------
    @request("compare_choices", lane="compare_choices")
    def choices(self) -> CompareChoices:
        """What the document can be compared with."""
        file = self.desk.document.file
        own = None if file.path is None else file.path.name
        commit, why = "", "the model is in no file yet"
        if file.path is not None:
            try:
                with committed_model(file.path) as then:
                    commit, why = then.label, ""
            except Error as error:
                why = str(error)
        files = [name for name in find_models(self.desk.folder) if name != own]
        return {"files": files, "commit": commit, "why": why, "saved": file.path is not None}

    @request("compare")
    def compare(self, other: Other) -> ComparedModels:
        """What differs from the other model to this one."""
        mine = self.mine()
        with self.other(other) as side:
            found = compare_sides(side, mine)
            ghosts = self._ghosts(side, found)
        return {
            "label": side.label, "verdict": found.verdict, "version": self.desk.version().version,
            "rows": cast(list[ComparedRow], [row.to_dict() for row in found]), "ghosts": ghosts,
        }  # fmt: skip

    def _ghosts(self, other: ModelSide, found: ModelComparison) -> list[SketchBox]:
        """The boxes of parts that only the other model has, where it would draw them beside what is here."""
        gone = {row.part for row in found if row.change is RowChange.REMOVED}
        if not gone:
            return []
        renamed = {row.after: row.before for row in found if row.change is RowChange.RENAMED and not row.field}
        boxes = self.desk.checker.sketch(self.desk.version())["boxes"]
        places = {renamed.get(box["name"], box["name"]): box["at"] for box in boxes}
        drawn = Sketcher(other.system, places=places).draw()["boxes"]
        return [box for box in drawn if box["owner"] in gone or box["owner"].partition(".")[0] in gone]

    @request("compare_scene")
    def scene(self, other: Other) -> Packed | dict[Literal["bodies"], list[str]]:
        """The bodies that only the other model has, where they are at its start."""
        with self.other(other) as side:
            gone = {row.part for row in compare_sides(side, self.mine()) if row.change is RowChange.REMOVED}
            if not gone & side.system.bodies.keys():
                return {"bodies": []}
            header, arrays = still_document(StillModel(side.system), None)
        rows = [k for k, body in enumerate(header["bodies"]) if body["name"] in gone]
        nothing: Plain = {"frames": [], "joints": [], "elements": [], "gaps": [], "label": side.label}
        bodies = [header["bodies"][k] for k in rows]
        return {**header, **nothing, "bodies": bodies}, {**arrays, "poses": arrays["poses"][rows]}

    @request("compare_run", lane="comparison")
    def run(self, job: Job, other: Other) -> tuple[ComparedRun, Arrays]:
        """The run of the other model until the end of the one that is shown, and the peaks of both."""
        with self.other(other) as side:
            if side.broken or not (side.system.bodies or side.system.elements):
                raise ArgumentError(f"{side.label} is not whole, and does not run")
            data, chosen = self.desk.live.shown
            model = ChangingRun(side.system, chosen.choice.until)
            page = PageData(model, side.label)
            made = model.compute(model.choice(), page.names, job.goes_on)
            peaks = compare_runs(made.run, chosen.run, (side.label, data.file))
            header, arrays = page.branch_document(made, side.label)
        return cast(ComparedRun, {**header, "peaks": peaks.to_dict()["rows"]}), arrays

    @request("compare_take", lane="document", changes=True)
    def take(self, job: Job, other: Other, rows: list[RowKey]) -> GestureAnswer:
        """Take over rows from the other model, as one step of undo."""
        keys = [(row["part"], row["field"], row["change"]) for row in rows[:MOST_TAKEN]]
        if not keys:
            raise ArgumentError("rows: which differences? None was sent")
        mine, place = self.mine(), self.desk.document.file.place
        with self.other(other) as side:
            gestures = list(take_rows(keys, side, mine, place))
        words = f"took over {len(gestures)} differences from {side.label}" if len(gestures) > 1 else ""
        gesture = gestures[0] if len(gestures) == 1 else {"do": "all", "gestures": gestures}
        answer = self.desk.changed(self.desk.document.gesture(gesture), job.seq)
        return {**answer, "words": words or str(gesture.get("words", ""))}


def take_rows(keys: Sequence[tuple[str, ...]], other: ModelSide, mine: ModelSide, place: Path) -> Iterator[Plain]:
    """The gestures that take over rows, one after the other."""
    waiting, reason = list(keys), "this difference is not there any more"
    while waiting:
        rows = {_key(row): row for row in compare_sides(other, mine)}
        waiting = [key for key in waiting if key in rows]
        gesture = None
        for key in waiting:
            try:
                gesture = find_taking(rows[key], other, mine, place)
                break
            except Error as error:
                reason = str(error)
        if gesture is None:
            break
        yield gesture
        text = apply_edits(mine.text, plan_gesture(mine.text, gesture, place).edits)
        mine = _side(text, place, mine.label)
        keys = []
    if keys:
        raise ArgumentError(reason)


def _key(row: ComparedRow) -> tuple[str, ...]:
    return row.part, row.field, row.change.value


def _side(text: str, place: Path, label: str) -> ModelSide:
    return side_of_checked(text, check_text(text, place), label)
