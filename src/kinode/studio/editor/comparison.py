"""What the studio answers about another model: what differs, the peaks of both runs, taking over a difference.

================  ==========================  ==================================================================
kind              fields                      answer
================  ==========================  ==================================================================
compare_choices                               files of the folder, whether there is a commit, whether it is saved
compare           other                       label, verdict, rows, ghosts: boxes of parts that only the other has
compare_scene     other                       bodies that only the other has, at its start, as a packet
compare_run       other                       peaks side by side, and the run of the other as a packet
compare_take      other, rows                 as a gesture: the rows, by part, field and change, as the other has them
================  ==========================  ==================================================================

``other`` is {file: name} of the folder, {commit: revision}, {saved: true}, or {text, label}: a text that the page has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinode.comparing.committed_model import committed_model
from kinode.comparing.models import ComparedRow, ModelComparison, ModelSide, RowChange, compare_sides, side_of_checked
from kinode.comparing.taken_rows import find_taking
from kinode.editing.checked_text import check_text
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import apply_edits
from kinode.errors import ArgumentError, Error
from kinode.results.compare import compare_runs
from kinode.studio.document.document_files import open_file
from kinode.studio.editor.kinds import Plain
from kinode.studio.editor.library import find_models
from kinode.studio.editor.sketch import Sketcher
from kinode.studio.live.changing_run import ChangingRun
from kinode.studio.live.page_data import PageData
from kinode.studio.placing.still_model import StillModel
from kinode.studio.placing.still_scene import still_document
from kinode.studio.server.session import Answer, Job

if TYPE_CHECKING:
    from kinode.studio.editor.studio_desk import StudioDesk


LANE = "comparison"
MOST_TAKEN = 400  # rows at once


def add_comparison_answers(desk: StudioDesk, changing_lane: str) -> None:
    """Let a desk answer about other models; what changes the text waits in the lane of its changes."""
    answers = ComparisonAnswers(desk)
    handle = desk.session.handle
    handle("compare_choices", answers.choices, lane="compare_choices")
    handle("compare", answers.compare)
    handle("compare_scene", answers.scene)
    handle("compare_run", answers.run, lane=LANE)
    handle("compare_take", answers.take, changes=True, lane=changing_lane)


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
    def other(self, raw: Any) -> Iterator[ModelSide]:
        """The model that a page names."""
        if not isinstance(raw, Mapping):
            raise ArgumentError("other: {file}, {commit}, {saved} or {text, label} is expected")
        file, place = self.desk.document.file, self.desk.document.file.place
        if "file" in raw:
            yield self._in_folder(raw["file"])
        elif "commit" in raw:
            if file.path is None or not isinstance(raw["commit"], str):
                raise ArgumentError("the model is in no file yet: save it, and commit it")
            with committed_model(file.path, raw["commit"]) as then:
                yield _side(then.text, then.place, then.label)
        elif "saved" in raw:
            yield _side(file.saved, place, f"{file.name} as saved")
        elif isinstance(raw.get("text"), str):
            yield _side(raw["text"], place, str(raw.get("label") or "before")[:200])
        else:
            raise ArgumentError("other: {file}, {commit}, {saved} or {text, label} is expected")

    def _in_folder(self, name: Any) -> ModelSide:
        folder = self.desk.folder
        if name not in find_models(folder):
            raise ArgumentError(f"file: the folder {folder.name} has no model {name!r:.60}")
        file = open_file(folder / str(name))
        return _side(file.saved, file.place, str(name))

    # -- answers -----------------------------------------------------------------------------------
    def choices(self, job: Job) -> Answer:
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

    def compare(self, job: Job) -> Answer:
        """What differs from the other model to this one."""
        mine = self.mine()
        with self.other(job.fields.get("other")) as other:
            found = compare_sides(other, mine)
            ghosts = self._ghosts(other, found)
        return {
            "label": other.label, "verdict": found.verdict, "version": self.desk.version().version,
            "rows": [row.to_dict() for row in found], "ghosts": ghosts,
        }  # fmt: skip

    def _ghosts(self, other: ModelSide, found: ModelComparison) -> list[Plain]:
        """The boxes of parts that only the other model has, where it would draw them beside what is here."""
        gone = {row.part for row in found if row.change is RowChange.REMOVED}
        if not gone:
            return []
        renamed = {row.after: row.before for row in found if row.change is RowChange.RENAMED and not row.field}
        boxes = self.desk.checker.sketch(self.desk.version())["boxes"]
        places = {renamed.get(box["name"], box["name"]): box["at"] for box in boxes}
        drawn = Sketcher(other.system, places=places).draw()["boxes"]
        return [box for box in drawn if box["owner"] in gone or box["owner"].partition(".")[0] in gone]

    def scene(self, job: Job) -> Answer:
        """The bodies that only the other model has, where they are at its start."""
        with self.other(job.fields.get("other")) as other:
            gone = {row.part for row in compare_sides(other, self.mine()) if row.change is RowChange.REMOVED}
            if not gone & other.system.bodies.keys():
                return {"bodies": []}
            header, arrays = still_document(StillModel(other.system), None)
        rows = [k for k, body in enumerate(header["bodies"]) if body["name"] in gone]
        nothing: Plain = {"frames": [], "joints": [], "elements": [], "gaps": [], "label": other.label}
        bodies = [header["bodies"][k] for k in rows]
        return {**header, **nothing, "bodies": bodies}, {**arrays, "poses": arrays["poses"][rows]}

    def run(self, job: Job) -> Answer:
        """The run of the other model until the end of the one that is shown, and the peaks of both."""
        with self.other(job.fields.get("other")) as other:
            checked = other.broken or not (other.system.bodies or other.system.elements)
            if checked:
                raise ArgumentError(f"{other.label} is not whole, and does not run")
            data, chosen = self.desk.live.shown
            model = ChangingRun(other.system, chosen.choice.until)
            page = PageData(model, other.label)
            made = model.compute(model.choice(), page.names, job.goes_on)
            if not job.goes_on():
                return {}
            peaks = compare_runs(made.run, chosen.run, (other.label, data.file))
            header, arrays = page.branch_document(made, other.label)
        return {**header, "peaks": peaks.to_dict()["rows"]}, arrays

    def take(self, job: Job) -> Answer:
        """Take over rows from the other model, as one step of undo."""
        wanted = job.fields.get("rows")
        if not isinstance(wanted, list) or not wanted or not all(isinstance(row, Mapping) for row in wanted):
            raise ArgumentError("rows: a list of rows is expected, {part, field, change}")
        keys = [tuple(str(row.get(word, "")) for word in ("part", "field", "change")) for row in wanted[:MOST_TAKEN]]
        mine, place = self.mine(), self.desk.document.file.place
        with self.other(job.fields.get("other")) as other:
            gestures = list(take_rows(keys, other, mine, place))
        words = f"took over {len(gestures)} differences from {other.label}" if len(gestures) > 1 else ""
        gesture = gestures[0] if len(gestures) == 1 else {"do": "all", "gestures": gestures}
        answer = self.desk.changed(self.desk.document.gesture(gesture), job.seq)
        return {**answer, "words": words or gesture.get("words", "")}


def take_rows(keys: list[tuple[str, ...]], other: ModelSide, mine: ModelSide, place: Path) -> Iterator[Plain]:
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
