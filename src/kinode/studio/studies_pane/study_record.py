"""A study that the server holds: its form, the model it is of, and the runs that are made."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.expressions.units import parse_unit
from kinode.studio.drawing.checked_model import CheckedVersion
from kinode.studio.studies_pane.study_form import StudyForm, write_call, write_command
from kinode.tasks.studies.study_chunks import NOT_RUN

if TYPE_CHECKING:
    from kinode.tasks.studies.study import Study

Plain = dict[str, Any]
RUNNING, DONE, STOPPED, FAILED = "running", "done", "stopped", "failed"


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

    def __init__(self, number: int, form: StudyForm, raw: Any, found: CheckedVersion, file: str) -> None:
        self.number, self.form, self.raw, self.found, self.file = number, form, raw, found, file
        self.state, self.words, self.older = RUNNING, "", False
        self.description: Plain = {"dims": [], "axes": [], "kept": [], "runs": form.runs, "until": None}
        self.results: dict[str, Array] = {}
        self.status = np.zeros(form.runs, dtype=np.int32)
        self.messages: dict[int, str] = {}
        self.when = time.time()
        self.seconds = 0.0
        self._began = time.perf_counter()
        self._share = 0.0

    # -- what comes in -----------------------------------------------------------------------------
    def describe(self, description: Plain) -> None:
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

    def end(self, state: str, words: str = "") -> None:
        """It is over."""
        self.state, self.words = state, words
        self.seconds = time.perf_counter() - self._began

    # -- what goes out -----------------------------------------------------------------------------
    @property
    def done(self) -> int:
        """Runs whose results are here."""
        return int((self.status != NOT_RUN).sum())

    def progress(self) -> Plain:
        """How far it is, in runs, runs per second and seconds left."""
        runs = self.form.runs
        reached = max(self.done, round(self._share * runs)) if self.state == RUNNING else self.done
        seconds = time.perf_counter() - self._began if self.state == RUNNING else self.seconds
        rate = reached / seconds if seconds > 0.0 else 0.0
        return {
            "id": self.number, "state": self.state, "words": self.words, "runs": runs, "done": self.done,
            "reached": reached, "seconds": seconds, "rate": rate, "older": self.older,
            "left": (runs - reached) / rate if rate > 0.0 and self.state == RUNNING else None,
        }  # fmt: skip

    def summary(self) -> Plain:
        """One line of the list of studies."""
        over = ", ".join(axis.name for axis in self.form.axes)
        return {**self.progress(), "title": f"{over}: {self.form.runs} runs", "when": self.when, "file": self.file}

    def packet(self) -> tuple[Plain, dict[str, Array]]:
        """All of it."""
        header = {
            **self.summary(), **self.description, "form": self.raw, "messages": self.messages,
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
        from kinode.tasks.studies.study import Study
        from kinode.tasks.studies.study_files import compose_data

        told = self.description
        coordinates = [(axis["title"], axis["unit"], axis["dim"], axis["values"]) for axis in told["axes"]]
        kept = [(each["text"], each["unit"], self.results[each["text"]]) for each in told["kept"]]
        messages = [self.messages.get(k, "") for k in range(self.form.runs)]
        dims = {each["name"]: each["length"] for each in told["dims"]}
        data = compose_data(dims, coordinates, [], kept, self.status.astype(np.int8), messages)
        return Study(data, [each["text"] for each in told["kept"]], [axis["title"] for axis in told["axes"]])


def _shown(unit: str) -> Plain:
    """A unit as pages use it: the number that is shown is that in SI through the factor."""
    return {"unit": unit, "factor": parse_unit(unit).factor if unit else 1.0}
