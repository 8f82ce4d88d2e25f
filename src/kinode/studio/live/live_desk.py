"""The desk of a live page: one model, the values chosen for it, the run that is shown; and who answers what.

Values are in SI or texts with units; those that were set before stay, None means that of the file, ``reset`` forgets
all.  Pushed are ``progress``, ``model`` (a new file, or more of the same), ``model_error`` and ``response``.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, NotRequired, TypedDict

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.kernels.state import State
from kinode.player.equation_data import equation_data
from kinode.player.run_document import audit_badge, series_info, verification_badge
from kinode.player.scene_data import Plain
from kinode.studies.batch import read_value
from kinode.studio.live.changing_run import Changes, ChangingRun, ChosenRun, change_state, rows_of
from kinode.studio.live.page_data import (
    BadgeData,
    Geometry,
    LiveState,
    Packed,
    PageData,
    Rows,
    RunHeader,
    UpdateHeader,
    looks_alike,
)
from kinode.studio.live.response_curves import DEFAULT_POINTS, FailedValue, ResponseBoard
from kinode.studio.server.messages import Arrays, Quantity, describe_error, request
from kinode.studio.server.session import Client, Job, Session
from kinode.tasks.mode_shapes import mode_shapes, root_locus
from kinode.tasks.simulate import find_begin

WAIT_SECONDS = 0.1
Complex = tuple[float, float]
LOCUS_POINTS = 25
GEOMETRY = "geometry"  # what a page remembers: the shapes that it was sent
MOST_RUNS = 8  # whose series can be asked for
CHECKS = {"audit": audit_badge, "verify": verification_badge}


class Progress(TypedDict):
    """What is being done before there is a run."""

    words: str


class ModelFault(TypedDict):
    """What is wrong with a model."""

    message: str
    line: int | None
    component: str | None
    field: NotRequired[str]
    file: NotRequired[str]


class LiveHeader(LiveState):
    """What can be set, and what is; how many models were opened before; what is wrong now, if the run is older."""

    model: int
    trouble: NotRequired[ModelFault]


class SentMode(TypedDict):
    """A mode: its eigenvalue, frequency in rad/s, damping ratio, what moves most, and the array of its poses."""

    eigenvalue: Complex
    frequency: float
    damping: float
    moves: str
    poses: str  # empty where no body moves


class SentModes(TypedDict):
    """Eigenvalues and modes."""

    eigenvalues: list[Complex]
    modes: list[SentMode]


class SentLocus(TypedDict):
    """Eigenvalues along the values of a number."""

    values: list[float]
    eigenvalues: list[list[Complex]]
    failed: list[FailedValue]


class SentCauses(TypedDict):
    """Who loads a joint: the array has the contributors' loads over time."""

    joint: str
    by: Literal["body", "cause"]
    names: list[str]
    array: str


class RowsHeader(TypedDict):
    """The rows of series that an answer has."""

    rows: Rows


class LiveDesk:
    """Holds the model that a page shows, and answers its requests.

    Parameters
    ----------
    session : Session
        The pages; the desk registers who answers each kind.
    file : str
        The name of the model's file, for the page.
    """

    def __init__(self, session: Session, file: str = "") -> None:
        self.session, self.file = session, file
        self.responses = ResponseBoard()
        self.model = 0
        """Which model is shown: how many were opened before it."""
        self._lock = threading.RLock()
        self._ready = threading.Event()
        self._shown: tuple[PageData, ChosenRun] | None = None
        self._trouble: BaseException | None = None
        self._words = "reading the model"
        self._last: deque[ChosenRun] = deque(maxlen=MOST_RUNS)
        session.add(self)
        session.on_open = self._greet

    # -- the model ---------------------------------------------------------------------------------
    def show(self, data: PageData, chosen: ChosenRun, model: int | None = None) -> bool:
        """Show a version of the model and its run from now on; not one of a model that was left meanwhile."""
        with self._lock:
            if model is not None and model != self.model:
                return False
            self._shown, self._trouble = (data, chosen), None
            self._ready.set()
            return True

    def fail(self, error: BaseException) -> None:
        """Say what is wrong with the model; a run that is shown stays."""
        with self._lock:
            self._trouble = error
            self._ready.set()
        self.session.push({"kind": "model_error", "line": None, "component": None, **describe_error(error)})

    def say(self, words: str) -> None:
        """Tell the pages what is being done."""
        self._words = words
        self.session.push({"kind": "progress", "words": words})

    @property
    def shown(self) -> tuple[PageData, ChosenRun]:
        """The model and the run that are shown."""
        with self._lock:
            if self._shown is None:
                raise self._trouble or ArgumentError("the model is being compiled")
            return self._shown

    @property
    def is_shown(self) -> bool:
        """Whether there is a run."""
        return self._shown is not None

    def shows(self, model: ChangingRun) -> bool:
        """Whether the run that is shown is one of this model."""
        shown = self._shown
        return shown is not None and shown[0].model is model

    @property
    def is_right(self) -> bool:
        """Whether there is a run, and nothing is wrong with the model since."""
        return self._shown is not None and self._trouble is None

    @property
    def is_answered(self) -> bool:
        """Whether pages that asked for the run have an answer: the run, or what is wrong; more comes by pushes."""
        return self._ready.is_set()

    def forget(self) -> None:
        """Another model comes: there is no run until it is computed."""
        with self._lock:
            self._shown = self._trouble = None
            self._last.clear()
            self.model += 1

    def exchange(self, data: PageData, complete: Callable[[ChosenRun], tuple[PageData, ChosenRun]]) -> bool:
        """Show more of the model that is shown, at the values that it has by then; False if another is shown."""
        while True:
            with self._lock:
                if self._shown is None or self._shown[0] is not data:
                    return False
                before = self._shown
            after = complete(before[1])
            with self._lock:
                if self._shown is before:
                    self._shown = after
                    return True

    def push_model(self, cause: str) -> None:
        """Send the whole run to all pages; ``cause`` is "file" after an edit, "more" where there is more of it."""
        if self.session.clients:
            data, chosen = self.shown
            header, arrays = self._document(data, chosen)
            for client in self.session.clients:
                client.memory[GEOMETRY] = data.geometry(chosen)
            self.session.push({**header, "kind": "model", "cause": cause}, arrays)

    def _document(self, data: PageData, chosen: ChosenRun) -> Packed:
        """The whole run, with the model that it is of."""
        header, arrays = data.document(chosen)
        return {**header, "live": {**header["live"], "model": self.model}}, arrays

    def close(self) -> None:
        """Stop what is under way."""
        self.responses.close()

    def _greet(self, client: Client) -> None:
        if not self._ready.is_set():
            client.push({"kind": "progress", "words": self._words})

    # -- answers -----------------------------------------------------------------------------------
    @request("open")
    def open(self, job: Job) -> tuple[RunHeader, Arrays]:
        """The run as it is now; waits for the first."""
        while not self._ready.wait(WAIT_SECONDS):
            if not job.goes_on():
                raise ArgumentError("stopped")
        data, chosen = self.shown
        header, arrays = self._document(data, chosen)
        job.client.memory[GEOMETRY] = data.geometry(chosen)
        if self._trouble is not None:
            header["live"]["trouble"] = describe_error(self._trouble)
        return RunHeader(header), arrays

    @request("set")
    def set(
        self, job: Job, values: Changes | None = None, start: Changes | None = None, until: Quantity | None = None,
        reset: bool = False, series: list[str] | None = None,
    ) -> tuple[UpdateHeader, Arrays]:  # fmt: skip
        """A run with other values: what has changed, with all series or those named."""
        with self.responses.pausing():
            while True:
                data, before = self.shown
                choice = data.model.choice(values, start, until, None if reset else before.choice)
                chosen = data.model.compute(choice, data.names, job.goes_on)
                self._last.append(chosen)
                with self._lock:
                    if self.shown[0] is not data:  # the file was changed meanwhile
                        continue
                    if job.goes_on():
                        self._shown = data, chosen
                return data.update(chosen, series, self._find_moved(job, data, chosen))

    @staticmethod
    def _find_moved(job: Job, data: PageData, chosen: ChosenRun) -> Geometry | None:
        """Shapes and places, if this page has others."""
        geometry, memory = data.geometry(chosen), job.client.memory
        if GEOMETRY in memory and looks_alike(memory[GEOMETRY], geometry):
            return None
        if job.goes_on():  # else the answer is not sent
            memory[GEOMETRY] = geometry
        return geometry

    @request("rows")
    def rows(self, id: int) -> tuple[RowsHeader, Arrays]:
        """All series of one of the last runs, of which "set" sent a few."""
        for chosen in list(self._last):
            if chosen.number == id:
                rows, series = self.shown[0].rows(chosen)
                return {"rows": rows}, {"series": series}
        raise ArgumentError(f"id: there is no run {id} any more")

    @request("series")
    def series(self, names: list[str]) -> Packed:
        """Further quantities, at the times of the pictures."""
        data, chosen = self.shown
        terms = {} if data.equations is None else {info["name"]: info for info in data.equations.infos}
        found = self._find_terms(chosen, names) if any(name in terms for name in names) else {}
        values = chosen.frames.evaluate([name for name in names if name not in terms])
        infos, rows = list[Plain](), list[Array]()
        for name in dict.fromkeys(names):
            if name in terms:
                columns = found.get(name, np.full(len(chosen.frames), np.nan))[None]
                info: Plain = {"words": "", "group": "terms", "parts": [], **terms[name], "row": len(rows)}
            else:
                columns = np.asarray(values[name], dtype=np.float32).reshape(len(chosen.frames), -1).T
                info = series_info(chosen.run, name, data.groups.get(name, "kept"), len(rows), len(columns))
            infos.append(info)
            rows += list(columns)
        stacked = np.array(rows, dtype=np.float32).reshape(len(rows), len(chosen.frames))
        return {"series": infos}, {"t": np.asarray(chosen.frames.t, dtype=float), "series": stacked}

    @staticmethod
    def _find_terms(chosen: ChosenRun, names: list[str]) -> dict[str, Array]:
        """The values of terms of equations in the run as it is now."""
        record = equation_data(chosen.run, chosen.frames)
        return {} if record is None else {x["name"]: row for x, row in zip(record.infos, record.values)}

    @request("causes")
    def causes(self, joint: str, by: Literal["body", "cause"] = "body") -> tuple[SentCauses, Arrays]:
        """Who loads a joint."""
        _, chosen = self.shown
        breakdown = chosen.frames.breakdown(joint, by)
        name = f"causes.{by}.{joint}"
        return {"joint": joint, "by": by, "names": list(breakdown.names), "array": name}, {name: breakdown.loads}

    @request("response")
    def response(
        self, job: Job, name: str, low: Quantity, high: Quantity, of: str = "", points: int = DEFAULT_POINTS
    ) -> None:  # fmt: skip
        """Begin a response curve; it comes by pushes."""
        data, chosen = self.shown
        self.responses.start(job.client, data.model, chosen, name, (low, high), of, points)

    @request("response_stop")
    def response_stop(self, job: Job, name: str | None = None) -> None:
        """End a response curve, or all of a page."""
        self.responses.stop(job.client, name)

    @request("branch")
    def branch(
        self, job: Job, t: Quantity, state: Changes | None = None, values: Changes | None = None,
        until: Quantity | None = None,
    ) -> Packed:  # fmt: skip
        """A run from the state at a time, with changes; the run that is shown stays."""
        data, chosen = self.shown
        model = data.model
        choice = model.choice(values, None, until, replace(chosen.choice, start={}))
        begin = model.state_at(chosen, t)
        if not choice.until > begin.t:
            raise ArgumentError(f"t: {begin.t:g} s is the end; a branch needs some time after it")
        setting, inputs = model.split(choice.values)
        p, given = rows_of(setting, inputs)
        task = model.task(setting.dynamics, choice.until)  # whose lock is never waited for with that of a start
        with self.responses.pausing(), setting.dynamics.start.lock:
            changed = change_state(setting.dynamics, begin, state, p, given)
            start = find_begin(task, changed, p, given)
        made = model.compute(choice, data.names, job.goes_on, start)
        return data.branch_document(made, f"branch at {begin.t:.4g} s")

    @request("modes")
    def modes(self, t: Quantity) -> tuple[SentModes, Arrays]:
        """Eigenvalues and mode shapes at a time of the run."""
        data, chosen = self.shown
        return answer_modes(chosen, data.model.state_at(chosen, t))

    @request("locus")
    def locus(self, t: Quantity, name: str, low: Quantity, high: Quantity, points: int = LOCUS_POINTS) -> SentLocus:
        """Eigenvalues along a number, at a time of the run."""
        data, chosen = self.shown
        return answer_locus(chosen, data.model.state_at(chosen, t), name, (low, high), points)

    @request("checks")
    def checks(self, what: Literal["audit", "verify"]) -> BadgeData:
        """The audit of the run, or a comparison of independent derivations."""
        return BadgeData(CHECKS[what](self.shown[1].run))


MOST_SWINGS = 60  # modes whose poses are sent
MOST_POINTS = 401  # of a locus


def answer_modes(chosen: ChosenRun, state: State) -> tuple[SentModes, Arrays]:
    """Eigenvalues and modes at a state, with the poses of each mode over a period."""
    shapes = mode_shapes(chosen.dynamics, state, parameters=chosen.run.p, inputs=chosen.run.inputs)
    arrays: dict[str, Array] = {}
    modes, eigenvalues = list[SentMode](), list[Complex]()
    for k, shape in enumerate(shapes.modes):
        swing = shapes.swing(k) if k < MOST_SWINGS else None
        name = f"mode.{k}" if swing is not None and swing.moves else ""
        if swing is not None and name:
            arrays[name] = swing.poses
        pair = _pair(shape.eigenvalue)
        eigenvalues += [pair, (pair[0], -pair[1])] if shape.eigenvalue.imag else [pair]
        moves = ", ".join(shape.mode.largest())
        modes.append({
            "eigenvalue": pair, "frequency": shape.frequency, "damping": shape.damping, "moves": moves, "poses": name,
        })  # fmt: skip
    return {"eigenvalues": eigenvalues, "modes": modes}, arrays


def answer_locus(
    chosen: ChosenRun, state: State, name: str, ends: tuple[Quantity, Quantity], points: int
) -> SentLocus:  # fmt: skip
    """Eigenvalues along the values of a number, at a state that is kept."""
    dynamics = chosen.dynamics
    if not 2 <= points <= MOST_POINTS:
        raise ArgumentError(f"points: a number from 2 to {MOST_POINTS} is expected, not {points}")
    number = dynamics.live.get(name)
    if number is not None and number.structural:
        raise ArgumentError(f"{name}: other values need a new compilation: {number.reason}")
    low, high = (read_value(dynamics, name, end) for end in ends)
    if not (math.isfinite(low) and math.isfinite(high)) or low == high:
        raise ArgumentError(f"low, high: two different values of {name} are expected")
    others = {key: value for key, value in chosen.setting.parameters.items() if key != name}
    inputs = {key: value for key, value in chosen.inputs.items() if key != name}
    found = root_locus(dynamics, state, name, np.linspace(low, high, points).tolist(), parameters=others, inputs=inputs)
    return {
        "values": found.values.tolist(),
        "eigenvalues": [[_pair(value) for value in row] for row in found.eigenvalues],
        "failed": [{"value": value, "message": message} for value, message in found.failures.items()],
    }


def _pair(value: complex) -> Complex:
    return float(value.real), float(value.imag)
