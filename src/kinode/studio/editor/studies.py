"""What the studio answers about studies: many runs of the model as it stands, in a process of their own.

Pushed to all pages are ``study_state`` (how far a study is; whether its model is older than the text) and, as a packet,
``study_chunk``: runs that were made, from ``first`` on.  One study runs at a time.  A `StudyRecord` has its form, the
model it is of, and the runs that are made.  Studies stay as long as the server lives.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict, cast

import numpy as np

from kinode.algebra.scalars import Array
from kinode.editing.draft import ModelDraft
from kinode.errors import ArgumentError, Error, ModelError
from kinode.exporters.export import file_name
from kinode.expressions.units import parse_unit
from kinode.studies.worker import NOT_RUN
from kinode.studio.document.model_document import GestureAnswer
from kinode.studio.editor.checked_model import CheckedVersion
from kinode.studio.editor.study_form import (
    START,
    FieldError,
    Plain,
    RawForm,
    ShownUnit,
    StudyChoices,
    StudyDescription,
    StudyForm,
    describe_choices,
    list_names,
    read_form,
    take_gesture,
    write_call,
    write_command,
)
from kinode.studio.editor.worker_tasks import StudyCheck
from kinode.studio.live.page_data import start_values
from kinode.studio.server.messages import Arrays, request
from kinode.studio.server.session import Job
from kinode.studio.server.worker import DerivationProcess, StoppedError

if TYPE_CHECKING:
    from kinode.studies.study import Study
    from kinode.studio.editor.studio_desk import StudioDesk


StudyState = Literal["running", "done", "stopped", "failed"]


class StudyProgress(TypedDict):
    """How far a study is."""

    id: int
    state: StudyState
    words: str
    runs: int
    done: int
    reached: int  # runs of the chunk under way too
    seconds: float
    rate: float  # runs per second
    left: float | None  # s
    older: bool  # whether its model is older than the text


class StudySummary(StudyProgress):
    """A study in one line."""

    title: str


class StudyDropped(TypedDict):
    """A study that is forgotten."""

    id: int
    state: Literal["dropped"]


class StudyChunk(TypedDict):
    """Runs that were made, from the first of them on; arrays have their status and results."""

    id: int
    first: int
    messages: dict[str, str]


class StudyHeader(StudySummary, StudyDescription):
    """All of a study but its results."""

    form: RawForm
    messages: dict[str, str]  # by run
    command: str
    python: str


class StudyRefused(TypedDict):
    """Why there can be no study yet."""

    why: str
    version: int


class StudyAbout(StudyRefused, StudyChoices):
    """What a study of a version can vary and keep."""


class StudyBegun(TypedDict):
    """The study that was begun, or what is wrong with its form."""

    id: NotRequired[int]
    errors: list[FieldError]


class StudyRecord:
    """One study.

    Parameters
    ----------
    number : int
        Tells studies of a server apart.
    form : StudyForm
    raw : dict
        The form as the page sent it, to be filled in again.
    found : CheckedVersion
        The model that it is of.
    file : str
        What the model is called.
    """

    def __init__(self, number: int, form: StudyForm, raw: RawForm, found: CheckedVersion, file: str) -> None:
        self.number, self.form, self.raw, self.found, self.file = number, form, raw, found, file
        self.state: StudyState = "running"
        self.words, self.older = "", False
        self.description: StudyDescription = {"dims": [], "axes": [], "kept": [], "runs": form.runs, "until": None}
        self.results: dict[str, Array] = {}
        self.status = np.zeros(form.runs, dtype=np.int32)
        self.messages: dict[int, str] = {}
        self.seconds = 0.0
        self._began = time.perf_counter()
        self._share = 0.0

    # -- what comes in -----------------------------------------------------------------------------
    def describe(self, description: StudyDescription) -> None:
        """What its runs have."""
        units = {axis.name: axis.unit for axis in self.form.axes}
        for axis in description["axes"]:
            axis["shown"] = _shown(units.get(axis["name"], ""))
        self.description = description
        self.results = {each["text"]: np.full(description["runs"], np.nan) for each in description["kept"]}
        self._began = time.perf_counter()

    def take(self, chunk: Plain) -> dict[str, Array]:
        """Runs that are made; the arrays that pages are sent."""
        first, count = int(chunk["first"]), len(chunk["status"])
        span = slice(first, first + count)
        self.status[span] = chunk["status"]
        self.messages |= {int(k): str(text) for k, text in chunk["messages"].items()}
        for text, values in chunk["results"].items():
            self.results[text][span] = values
        return {"status": self.status[span], "results": np.array([row[span] for row in self.results.values()])}

    def reach(self, share: float) -> None:
        """How far it is, runs of the chunk under way too."""
        self._share = share

    def end(self, state: StudyState, words: str = "") -> None:
        """It is over."""
        self.state, self.words = state, words
        self.seconds = time.perf_counter() - self._began

    # -- what goes out -----------------------------------------------------------------------------
    @property
    def done(self) -> int:
        """Runs whose results are here."""
        return int((self.status != NOT_RUN).sum())

    def progress(self) -> StudyProgress:
        """How far it is, in runs, runs per second and seconds left."""
        runs = self.form.runs
        reached = max(self.done, round(self._share * runs)) if self.state == "running" else self.done
        seconds = time.perf_counter() - self._began if self.state == "running" else self.seconds
        rate = reached / seconds if seconds > 0.0 else 0.0
        return {
            "id": self.number, "state": self.state, "words": self.words, "runs": runs, "done": self.done,
            "reached": reached, "seconds": seconds, "rate": rate, "older": self.older,
            "left": (runs - reached) / rate if rate > 0.0 and self.state == "running" else None,
        }  # fmt: skip

    def summary(self) -> StudySummary:
        """One line of the list of studies."""
        over = ", ".join(axis.name for axis in self.form.axes)
        return {**self.progress(), "title": f"{over}: {self.form.runs} runs"}

    def packet(self) -> tuple[StudyHeader, dict[str, Array]]:
        """All of it."""
        header: StudyHeader = {
            **self.summary(), **self.description, "form": self.raw,
            "messages": {str(run): text for run, text in self.messages.items()},
            "command": write_command(self.form, self.file), "python": write_call(self.form, self.file),
        }  # fmt: skip
        rows = np.array(list(self.results.values())).reshape(len(self.results), self.form.runs)
        return header, {"status": self.status, "results": rows}

    def values_of(self, run: int) -> dict[str, float]:
        """What varied, with its values in a run, in SI."""
        dims = {each["name"]: each["length"] for each in self.description["dims"]}
        places = dict(zip(dims, np.unravel_index(run, tuple(dims.values()))))
        return {axis["name"]: float(axis["values"][int(places[axis["dim"]])]) for axis in self.description["axes"]}

    def study(self) -> Study:
        """The same as `kn.sweep` returns it."""
        from kinode.studies.study import Study, compose_data

        told = self.description
        coordinates = [(axis["title"], axis["unit"], axis["dim"], axis["values"]) for axis in told["axes"]]
        kept = [(each["text"], each["unit"], self.results[each["text"]]) for each in told["kept"]]
        messages = [self.messages.get(k, "") for k in range(self.form.runs)]
        dims = {each["name"]: each["length"] for each in told["dims"]}
        data = compose_data(dims, coordinates, [], kept, self.status.astype(np.int8), messages)
        return Study(data, [each["text"] for each in told["kept"]], [axis["title"] for axis in told["axes"]])


def _shown(unit: str) -> ShownUnit:
    return {"unit": unit, "factor": parse_unit(unit).factor if unit else 1.0}


MOST_STUDIES = 12  # that stay


class StudyAnswers:
    """Holds the studies of one studio, and answers its pages.

    Parameters
    ----------
    desk : StudioDesk
        Whose document is studied.
    """

    def __init__(self, desk: StudioDesk) -> None:
        self._desk = desk
        self._lock = threading.RLock()
        self._process = DerivationProcess()
        self._studies: dict[int, StudyRecord] = {}
        self._running: StudyRecord | None = None
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._count = 0
        desk.checker.listeners.append(self._checked)

    def close(self) -> None:
        """End what is under way."""
        self._stopping = True
        self._process.close()

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until no study runs."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    # -- before a study ----------------------------------------------------------------------------
    @request("study_about", lane="studies")
    def about(self) -> StudyAbout | StudyRefused:
        """What can vary, with ranges, and be kept; or why there can be no study yet."""
        found = self._desk.checked()
        why = _refusal(found)
        if why:
            return {"why": why, "version": found.of.version}
        draft = ModelDraft(found.of.text, found.of.place, found.checked)
        return {**describe_choices(found.system, draft, self._start(found)), "why": "", "version": found.of.version}

    def _start(self, found: CheckedVersion) -> dict[str, float]:
        """The initial values, where a run of the model is shown."""
        live = self._desk.live
        if not live.is_shown:
            return {}
        data, chosen = live.shown
        if data.model.system != found.system or chosen.choice.values or chosen.choice.start:
            return {}
        return start_values(chosen)

    @request("study_check")
    def check(self, job: Job, form: RawForm) -> StudyCheck:
        """What is wrong with a form, or how long it would take; the time is not known while a study runs."""
        found = self._desk.checked()
        read, errors = read_form(form)
        if self._running is not None or _refusal(found):
            return {"errors": errors, "runs": read.runs, "seconds": None, "note": _refusal(found)}
        try:
            told = self._process.ask("study_check", found.of.text, found.of.place, {"form": form}, job.goes_on)
            return cast(StudyCheck, told)
        except StoppedError:
            job.stop()
            raise

    # -- a study -----------------------------------------------------------------------------------
    @request("study_run", lane="studies")
    def run(self, form: RawForm) -> StudyBegun:
        """Begin a study of the model as it stands."""
        found = self._desk.checked()
        read, errors = read_form(form)
        if errors:
            return {"errors": errors}
        why = _refusal(found)
        if why:
            raise ModelError(why)
        with self._lock:
            if self._running is not None:
                raise ArgumentError("a study is running: stop it, or wait for it")
            self._count += 1
            record = StudyRecord(self._count, read, form, found, self._desk.document.file.name)
            self._studies[record.number] = self._running = record
            for number in list(self._studies)[:-MOST_STUDIES]:
                del self._studies[number]
            self._stopping = False
        self._tell(record)
        self._thread = threading.Thread(target=self._make, args=(record,), name="kinode study", daemon=True)
        self._thread.start()
        return {"id": record.number, "errors": []}

    def _make(self, record: StudyRecord) -> None:
        """Have the runs made, and tell the pages of them."""

        def take(part: Plain) -> None:
            if "description" in part:
                with self._lock:
                    record.describe(part["description"])
            else:
                with self._lock:
                    arrays = record.take(part["chunk"])
                header = {"first": part["chunk"]["first"], "messages": part["chunk"]["messages"]}
                self._desk.session.push({"kind": "study_chunk", "id": record.number, **header}, arrays)
            self._tell(record)

        def tell(share: float, words: str) -> None:
            record.reach(share)
            self._tell(record)

        of, fields = record.found.of, {"form": record.raw}
        state: StudyState = "done"
        words = ""
        try:
            self._process.ask("study", of.text, of.place, fields, lambda: not self._stopping, tell, take)
        except StoppedError:
            state = "stopped"
        except Error as error:
            state, words = "failed", str(error)
        except Exception as error:  # the page must not wait for ever
            state, words = "failed", f"kinode failed, which is a fault of its own: {type(error).__name__}: {error}"
        with self._lock:
            record.end(state, words)
            self._running = None
        self._tell(record)

    def _tell(self, record: StudyRecord) -> None:
        self._desk.session.push({"kind": "study_state", **record.summary()})

    @request("study_stop", lane="studies")
    def stop(self, id: int | None = None) -> dict[Literal["stopped"], bool]:
        """End the study that runs; what is done stays."""
        running = self._running
        if running is not None and id in (None, running.number):
            self._stopping = True
        return {"stopped": running is not None}

    def _checked(self, found: CheckedVersion) -> None:
        """A version was checked: say which studies are of another model."""
        with self._lock:
            records = list(self._studies.values())
        for record in records:
            same = record.found.of.text == found.of.text or record.found.system == found.system
            if record.older == same:
                record.older = not same
                self._tell(record)

    # -- studies that there are --------------------------------------------------------------------
    @request("study_list", lane="studies")
    def summaries(self) -> dict[Literal["studies"], list[StudySummary]]:
        """One line for each study, the newest first."""
        with self._lock:
            return {"studies": [each.summary() for each in reversed(self._studies.values())]}

    @request("study_open", lane="studies")
    def open(self, id: int) -> tuple[StudyHeader, Arrays]:
        """All of a study: axes, what is kept, form, command, call; status, results."""
        with self._lock:
            return self._find(id).packet()

    @request("study_drop", lane="studies")
    def drop(self, id: int) -> None:
        """Forget a study."""
        record = self._find(id)
        with self._lock:
            if record.state == "running":
                raise ArgumentError("this study is running: stop it first")
            del self._studies[record.number]
        self._desk.session.push({"kind": "study_state", "id": record.number, "state": "dropped"})

    @request("study_csv", lane="studies")
    def csv(self, id: int) -> dict[Literal["text", "name"], str]:
        """One row for each run."""
        record = self._find(id)
        if not record.results:
            raise ArgumentError("no run of this study is done yet")
        with self._lock:
            study = record.study()
        return {"text": study.csv_text(), "name": f"{file_name(record.found.system.name)}_study.csv"}

    @request("study_take", lane="document", changes=True)
    def take(self, job: Job, id: int, run: int) -> GestureAnswer:
        """Write the values of a run into the model, as one step of undo."""
        record = self._find(id)
        if not 0 <= run < record.form.runs or not record.description["axes"]:
            raise ArgumentError(f"run: the number of a run is expected, not {run}")
        found = self._desk.checked()
        known = list_names(found.system)
        values = record.values_of(run)
        missing = [name for name in values if name not in known]
        if missing:
            raise ArgumentError(f"{missing[0]} is not there any more: the study is of an older model")
        draft = ModelDraft(found.of.text, found.of.place, found.checked)
        starts = {name for name in values if known[name] == START}
        gesture = take_gesture(draft, values, starts)
        answer = self._desk.changed(self._desk.document.gesture(gesture), job.seq)
        return {**answer, "words": gesture["words"]}

    def _find(self, number: int) -> StudyRecord:
        with self._lock:
            if number not in self._studies:
                raise ArgumentError(f"id: there is no study {number} any more")
            return self._studies[number]


def _refusal(found: CheckedVersion) -> str:
    """Why there can be no study of a model; empty if there can."""
    if not found.checked.complete:
        return f"the model is not whole yet: {found.checked.problems[0].message}"
    if not (found.system.bodies or found.system.elements):
        return "there is nothing to run yet"
    return ""
