"""The desk of a live page: one model, the values chosen for it, the run that is shown; and who answers what.

==============  =====================================  ==========================================================
kind            fields                                 answer
==============  =====================================  ==========================================================
open                                                   the run (player/run_document.py), with ``live`` in its header
set             values, start, until, reset, series    what has changed, with all series or those named
rows            id                                     all series of one of the last runs
series          names                                  quantities at the times of the pictures
causes          joint, by                              who loads a joint
response        name, low, high, of, points            a response curve begins; it comes by pushes
response_stop   name                                   it ends
branch          t, state, values, until                a run from the state at a time, with changes
modes           t                                      eigenvalues and mode shapes at the state at a time
locus           name, low, high, t, points             eigenvalues along a number
checks          what                                   the audit, or independent derivations compared
==============  =====================================  ==========================================================

Values are in SI or texts with units; those that were set before stay, None means that of the file, ``reset`` forgets
all.  Pushed are ``progress``, ``model`` (a new file, or more of the same), ``model_error`` and ``response``.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.kernels.state import State
from kinode.model.base.fields import short
from kinode.player.equation_data import equation_data
from kinode.player.run_document import audit_badge, series_info, verification_badge
from kinode.player.scene_data import Plain
from kinode.simulation.run_arguments import read_seconds
from kinode.studies.batch import read_value
from kinode.studio.live.changing_run import ChangingRun, ChosenRun, change_state, rows_of
from kinode.studio.live.page_data import Packed, PageData, looks_alike
from kinode.studio.live.response_curves import ResponseBoard
from kinode.studio.server.session import Answer, Client, Job, Session, describe_error
from kinode.tasks.mode_shapes import ModeShape, mode_shapes, root_locus
from kinode.tasks.simulate import find_begin

WAIT_SECONDS = 0.1
GEOMETRY = "geometry"  # what a page remembers: the shapes that it was sent
MOST_RUNS = 8  # whose series can be asked for
CHECKS = {"audit": audit_badge, "verify": verification_badge}


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
        answers: Mapping[str, Callable[[Job], Answer]] = {
            "open": self.open, "set": self.set, "rows": self.rows, "series": self.series, "causes": self.causes,
            "modes": self.modes, "locus": self.locus, "branch": self.branch, "checks": self.checks,
            "response": self.response, "response_stop": self.response_stop,
        }  # fmt: skip
        for kind, answer in answers.items():
            session.handle(kind, answer)
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
    def open(self, job: Job) -> Answer:
        """The run as it is now; waits for the first."""
        while not self._ready.wait(WAIT_SECONDS):
            if not job.goes_on():
                return {}
        data, chosen = self.shown
        header, arrays = self._document(data, chosen)
        job.client.memory[GEOMETRY] = data.geometry(chosen)
        if self._trouble is not None:
            header["live"]["trouble"] = describe_error(self._trouble)
        return header, arrays

    def set(self, job: Job) -> Answer:
        """A run with other values."""
        wanted = job.fields.get("series")
        if wanted is not None and not (isinstance(wanted, list) and all(isinstance(x, str) for x in wanted)):
            raise ArgumentError(f"series: a list of names is expected, not {short(wanted)}")
        with self.responses.pausing():
            while True:
                data, before = self.shown
                fields, old = job.fields, None if job.fields.get("reset") else before.choice
                choice = data.model.choice(fields.get("values"), fields.get("start"), fields.get("until"), old)
                chosen = data.model.compute(choice, data.names, job.goes_on)
                self._last.append(chosen)
                with self._lock:
                    if self.shown[0] is not data:  # the file was changed meanwhile
                        continue
                    if job.goes_on():
                        self._shown = data, chosen
                return data.update(chosen, wanted, self._find_moved(job, data, chosen))

    @staticmethod
    def _find_moved(job: Job, data: PageData, chosen: ChosenRun) -> Plain | None:
        """Shapes and places, if this page has others."""
        geometry, memory = data.geometry(chosen), job.client.memory
        if GEOMETRY in memory and looks_alike(memory[GEOMETRY], geometry):
            return None
        if job.goes_on():  # else the answer is not sent
            memory[GEOMETRY] = geometry
        return geometry

    def rows(self, job: Job) -> Answer:
        """All series of a run, of which "set" sent a few."""
        number = job.fields.get("id")
        for chosen in list(self._last):
            if chosen.number == number:
                rows, series = self.shown[0].rows(chosen)
                return {"rows": rows}, {"series": series}
        raise ArgumentError(f"id: there is no run {short(number)} any more")

    def series(self, job: Job) -> Answer:
        """Further quantities, at the times of the pictures."""
        names = job.fields.get("names")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ArgumentError(f"names: a list of names is expected, not {short(names)}")
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

    def causes(self, job: Job) -> Answer:
        """Who loads a joint."""
        joint, by = job.fields.get("joint"), job.fields.get("by", "body")
        if not isinstance(joint, str) or not isinstance(by, str):
            raise ArgumentError(f"joint, by: names are expected, not {short(joint)} and {short(by)}")
        _, chosen = self.shown
        breakdown = chosen.frames.breakdown(joint, by)
        name = f"causes.{by}.{joint}"
        return {"joint": joint, "by": by, "names": list(breakdown.names), "array": name}, {name: breakdown.loads}

    def response(self, job: Job) -> Answer:
        """Begin a response curve."""
        data, chosen = self.shown
        self.responses.start(job.client, data.model, chosen, job.fields)
        return {"started": True}

    def response_stop(self, job: Job) -> Answer:
        """End a response curve, or all of a page."""
        name = job.fields.get("name")
        self.responses.stop(job.client, name if isinstance(name, str) else None)
        return {}

    def branch(self, job: Job) -> Answer:
        """A run from the state at a time, with changes; the run that is shown stays."""
        data, chosen = self.shown
        fields, model = job.fields, data.model
        t = read_seconds(chosen.dynamics, "t", fields.get("t"))
        choice = model.choice(fields.get("values"), None, fields.get("until"), replace(chosen.choice, start={}))
        state = model.state_at(chosen, t)
        if not choice.until > state.t:
            raise ArgumentError(f"t: {t:g} s is the end; a branch needs some time after it")
        setting, inputs = model.split(choice.values)
        p, given = rows_of(setting, inputs)
        with self.responses.pausing(), setting.dynamics.start.lock:
            state = change_state(setting.dynamics, state, fields.get("state"), p, given)
            begin = find_begin(model.task(setting.dynamics, choice.until), state, p, given)
        made = model.compute(choice, data.names, job.goes_on, begin)
        return data.branch_document(made, f"branch at {t:.4g} s")

    def modes(self, job: Job) -> Answer:
        """Eigenvalues and mode shapes at a time of the run."""
        data, chosen = self.shown
        return answer_modes(chosen, data.model.state_at(chosen, job.fields.get("t")))

    def locus(self, job: Job) -> Answer:
        """Eigenvalues along a number."""
        data, chosen = self.shown
        return answer_locus(chosen, data.model.state_at(chosen, job.fields.get("t")), job.fields)

    def checks(self, job: Job) -> Answer:
        """The audit of the run, or a comparison of independent derivations."""
        what = job.fields.get("what")
        if what not in CHECKS:
            raise ArgumentError(f"what: one of {', '.join(CHECKS)} is expected, not {short(what)}")
        return CHECKS[what](self.shown[1].run)


MOST_SWINGS = 60  # modes whose poses are sent
DEFAULT_POINTS, MOST_POINTS = 25, 401


def answer_modes(chosen: ChosenRun, state: State) -> tuple[Plain, dict[str, Array]]:
    """Eigenvalues and modes at a state, with the poses of each mode over a period."""
    shapes = mode_shapes(chosen.dynamics, state, parameters=chosen.run.p, inputs=chosen.run.inputs)
    arrays: dict[str, Array] = {}
    modes, eigenvalues = [], []
    for k, shape in enumerate(shapes.modes):
        swing = shapes.swing(k) if k < MOST_SWINGS else None
        name = f"mode.{k}" if swing is not None and swing.moves else ""
        if swing is not None and name:
            arrays[name] = swing.poses
        pair = _pair(shape.eigenvalue)
        eigenvalues += [pair, [pair[0], -pair[1]]] if shape.eigenvalue.imag else [pair]
        record = {"eigenvalue": pair, "frequency": shape.frequency, "damping": shape.damping, "words": _words(shape)}
        modes.append({**record, "poses": name})
    return {"t": state.t, "eigenvalues": eigenvalues, "modes": modes, "bodies": list(chosen.run.system.bodies)}, arrays


def _words(shape: ModeShape) -> str:
    """A mode in words: how it goes, and what moves most."""
    real, damping = shape.eigenvalue.real, shape.damping
    if not shape.eigenvalue.imag:
        way = "stays" if real == 0.0 else f"{'grows' if real > 0 else 'decays'} in {_number(1 / abs(real))} s"
    else:
        hertz = f"{_number(shape.frequency / (2 * math.pi))} Hz"
        way = f"{hertz}, grows" if damping < 0.0 else f"{hertz}, damping {_number(damping)}"
    most = shape.mode.largest()
    return f"{way}: {', '.join(most)}" if most else way


def answer_locus(chosen: ChosenRun, state: State, fields: Mapping[str, Any]) -> Plain:
    """Eigenvalues along the values of a number, at a state that is kept."""
    name, points, dynamics = fields.get("name"), fields.get("points", DEFAULT_POINTS), chosen.dynamics
    if isinstance(points, bool) or not isinstance(points, int) or not 2 <= points <= MOST_POINTS:
        raise ArgumentError(f"points: a number from 2 to {MOST_POINTS} is expected, not {short(points)}")
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"name: the name of a number is expected, not {short(name)}")
    number = dynamics.live.get(name)
    if number is not None and number.structural:
        raise ArgumentError(f"{name}: other values need a new compilation: {number.reason}")
    low, high = (read_value(dynamics, name, fields.get(end)) for end in ("low", "high"))
    if not (math.isfinite(low) and math.isfinite(high)) or low == high:
        raise ArgumentError(f"low, high: two different values of {name} are expected")
    others = {key: value for key, value in chosen.setting.parameters.items() if key != name}
    inputs = {key: value for key, value in chosen.inputs.items() if key != name}
    found = root_locus(dynamics, state, name, np.linspace(low, high, points).tolist(), parameters=others, inputs=inputs)
    return {
        "name": name,
        "t": state.t,
        "values": found.values.tolist(),
        "eigenvalues": [[_pair(value) for value in row] for row in found.eigenvalues],
        "failed": [{"value": value, "message": message} for value, message in found.failures.items()],
    }


def _pair(value: complex) -> list[float]:
    return [float(value.real), float(value.imag)]


def _number(value: float) -> str:
    return f"{value:.3g}"
