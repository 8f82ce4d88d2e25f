"""The checks and runs behind a document: after each change, in the background, the newest wins; and the model's state.

A text is checked first: its problems and its sketch go to the pages.  One that is whole is compiled and run, and shown
as on live pages; of one that is not, the last run stays.

`Standing` is one record of one version of the text, from which pages draw every label that tells a state.  It is pushed
whole, ``standing``, whenever a part of it changes.  Of two records that with the higher number is the later one, also
where a server came after another.  All of it is of its version; where a page has a newer one, that is being checked.  A
version that means the same as the one before keeps its run and its proof; any other begins without them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from kinode.editing.checked_text import CheckedText, Problem, check_text
from kinode.editing.places import Box, EntryPlaces, box_prefix, find_box
from kinode.errors import ArgumentError, Error, ModelError
from kinode.formats.yaml_text import plain_value, read_spans
from kinode.model.system import System
from kinode.studio.document.document_files import ModelView, Point, read_point
from kinode.studio.editor.drawn_circuit import BrokenPart, read_entries
from kinode.studio.editor.sketch import Sketch, Sketcher
from kinode.studio.live.live_desk import LiveDesk
from kinode.studio.live.live_view import ShownModel
from kinode.studio.placing.place_desk import SentCure, find_lock_problems, write_cures
from kinode.studio.server.session import GoesOn, Lane

RUNS = "the model is compiled and run"


RunState = Literal["running", "shown", "failed", "stale", "empty"]
VerifyState = Literal["waiting", "running", "agrees", "differs", "none", "unfinished", "asleep"]
"""Waiting until the text is quiet; running; what came out; asleep until it is asked for."""


class SentProblem(TypedDict):
    """Something wrong in the text, as pages show it."""

    message: str
    severity: Annotated[str, Literal["error", "warning", "note"]]
    component: str | None
    field: str | None
    port: str | None
    line: int | None  # from 1
    span: Annotated[list[int], 2] | None
    cures: list[SentCure]
    box: list[str]  # the subsystem in whose text it stands


class RunStanding(TypedDict):
    """How the run of a version stands: stale where the text is not whole, empty where there is nothing to run."""

    state: RunState
    words: str


class ProofStanding(TypedDict):
    """How the comparison of derivations stands."""

    state: VerifyState
    words: str
    share: NotRequired[float]
    seconds: NotRequired[float]


class Standing(TypedDict):
    """How one version of a model stands."""

    number: int
    version: int
    whole: bool
    problems: list[SentProblem]
    run: RunStanding
    proof: ProofStanding


class StandingBoard:
    """Keeps how the newest version stands, and tells the pages.

    Parameters
    ----------
    push : function
        What tells all pages.
    """

    def __init__(self, push: Callable[[Mapping[str, Any]], None]) -> None:
        self._push = push
        self._lock = threading.Lock()
        self._of: CheckedText | None = None
        self._now: Standing | None = None
        self._number = int(1000 * time.time())

    def begin(self, version: int, of: CheckedText, problems: list[SentProblem]) -> None:
        """A version was checked: nothing else is known of it, unless it means the same as the one before."""
        with self._lock:
            self._number += 1
            if self._now is not None and self._of is of:
                self._now = {**self._now, "number": self._number, "version": version, "problems": problems}
            else:
                self._of, self._now = of, first_standing(self._number, version, of, problems)
            self._push({"kind": "standing", **self._now})

    def tell(
        self, of: CheckedText, *, problems: list[SentProblem] | None = None, run: RunStanding | None = None,
        proof: ProofStanding | None = None,
    ) -> None:  # fmt: skip
        """More is known of a text; it is left out where the newest version means something else."""
        with self._lock:
            now = self._now
            if now is None or self._of is not of:
                return
            self._number += 1
            self._now = {
                **now, "number": self._number, "problems": now["problems"] if problems is None else problems,
                "run": run or now["run"], "proof": proof or now["proof"],
            }  # fmt: skip
            self._push({"kind": "standing", **self._now})

    def now(self, version: int, of: CheckedText, problems: list[SentProblem]) -> Standing:
        """How a version stands; of one that is still to be told of, what its text says."""
        with self._lock:
            if self._now is not None and self._now["version"] == version:
                return self._now
            return first_standing(self._number, version, of, problems)

    def forget(self) -> None:
        """Another model comes."""
        with self._lock:
            self._of = self._now = None


def first_standing(number: int, version: int, of: CheckedText, problems: list[SentProblem]) -> Standing:
    """What is known of a version when its text was read."""
    run, proof = RunStanding(state="running", words=RUNS), ProofStanding(state="waiting", words="")
    if not of.complete:
        words = of.problems[0].message
        run, proof = {"state": "stale", "words": words}, {"state": "unfinished", "words": words}
    return Standing(number=number, version=version, whole=of.complete, problems=problems, run=run, proof=proof)


DRAWN_SECTIONS = ("bodies", "joints", "constraints", "elements", "signals", "inputs", "systems")
REST = 1.0  # s without a change before the circuit and the equations of the player are made
SPACING = 100.0  # between parts that came together and have no places in the layout
NOTHING = "there is nothing to run yet: draw a body or a part"


@dataclass(frozen=True)
class ModelVersion:
    """A version of a document: its text, its view, the place of its file, and the subsystem that is meant of it."""

    version: int
    text: str
    view: ModelView
    place: Path
    box: Box = ()


@dataclass(frozen=True)
class CheckedVersion:
    """What a version means: what could be built of it, and all that is wrong."""

    of: ModelVersion
    checked: CheckedText

    @property
    def system(self) -> System:
        """As much as could be built."""
        return self.checked.system


class ModelChecker:
    """Checks, sketches and runs versions of a document, and tells the pages.

    Parameters
    ----------
    live : LiveDesk
        The desk that shows the runs; its session has the pages.
    """

    def __init__(self, live: LiveDesk) -> None:
        self.live, self.model = live, ShownModel(live, rest=REST)
        self.board = StandingBoard(live.session.push)
        """How the newest version stands."""
        self.places: dict[str, Point] = {}
        """Where parts stand that nobody has placed: in a session they keep their places."""
        self.listeners: list[Callable[[CheckedVersion], None]] = []
        """Who hears of every version that was checked."""
        self._lock = threading.RLock()
        self._newest: CheckedVersion | None = None
        self._ahead: CheckedVersion | None = None  # read before the background has come to it
        self._reading = threading.RLock()
        self._inside: CheckedVersion | None = None  # of a subsystem, the last that was asked for
        self._sketch: Sketch | None = None
        self._run_problem: Problem | None = None
        self._locks: tuple[System, list[Problem]] | None = None  # of the last system with loops
        self._ran: System | None = None
        self._checks, self._runs = Lane(self._check), Lane(self._run)

    # -- what is known -----------------------------------------------------------------------------
    def ask(self, version: ModelVersion) -> None:
        """Check a version, in the background."""
        self._checks.ask(version)

    def now(self, version: ModelVersion) -> CheckedVersion:
        """What a version means, found now if the background has not yet."""
        meant = version.text, version.place, version.box
        with self._reading:  # a text is read once, whoever asks first: what is known of it is known of one record
            with self._lock:
                candidates = [self._inside] if version.box else [self._newest, self._ahead]
            for known in candidates:
                if known is not None and (known.of.text, known.of.place, known.of.box) == meant:
                    return known if known.of == version else replace(known, of=version)
            found = CheckedVersion(version, check_text(version.text, version.place, box=version.box))
            with self._lock:
                if version.box:
                    self._inside = found
                else:
                    self._ahead = found
            return found

    def sketch(self, version: ModelVersion) -> Sketch:
        """The sketch of a version."""
        with self._lock:
            if self._sketch is not None and self._sketch["version"] == version.version and not version.box:
                return self._sketch
        return self._draw(self.now(version))

    def problems(self, version: ModelVersion) -> list[SentProblem]:
        """All that is wrong with a version."""
        checked = self.now(version).checked
        found = [write_problem(problem) for problem in checked.problems]
        run, locks = self._run_problem, self._locks
        if found:
            return found
        warned = locks[1] if locks is not None and locks[0] == checked.system else []
        return [write_problem(problem) for problem in ([] if run is None else [run]) + warned]

    def standing(self, version: ModelVersion) -> Standing:
        """How a version stands."""
        return self.board.now(version.version, self.now(version).checked, self.problems(version))

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait until all is checked and run."""
        return self._checks.wait(seconds) and self._runs.wait(seconds)

    def wait_checked(self, seconds: float = 60.0) -> bool:
        """Wait until all is checked; a run may be under way."""
        return self._checks.wait(seconds)

    def reread(self) -> None:
        """A file that the text names was changed: check it anew."""
        with self._lock:
            self._newest = self._ahead = self._inside = self._ran = None

    def forget(self) -> None:
        """Another document comes."""
        with self._lock:
            self._newest = self._sketch = self._run_problem = self._ran = None
            self._inside = self._ahead = None
            self.places = {}
        self.board.forget()
        self.live.forget()

    def close(self) -> None:
        """End."""
        self._checks.close()
        self._runs.close()
        self.model.close()

    # -- checks ------------------------------------------------------------------------------------
    def _check(self, version: ModelVersion, goes_on: GoesOn) -> None:
        found = self.now(version)
        with self._lock:
            same = self._newest is not None and self._newest.checked is found.checked
            self._newest = found
        if not same:
            self._run_problem = None
        with self._lock:
            before = self._sketch
        # While a bracket is open in the text nothing can be read: the drawing stays.
        sketch = self._draw(found) if before is None or found.checked.readable else before
        sketch = {**sketch, "version": version.version}
        with self._lock:
            self._sketch = sketch
        self.board.begin(version.version, found.checked, self.problems(version))
        self.live.session.push({"kind": "sketch", "version": version.version, "sketch": sketch})
        for listener in self.listeners:
            listener(found)
        if same:
            return
        if found.checked.complete:
            self._runs.ask(found)
        else:
            self.live.fail(describe_problem(found.checked.problems[0]))

    def _draw(self, found: CheckedVersion) -> Sketch:
        prefix = box_prefix(found.of.box)
        view = found.of.view.inside(prefix)
        with self._lock:
            places = {**ModelView(self.places).inside(prefix).places, **view.places}
        boxes = read_entries(places_in(found.of.text, found.of.box)) if found.checked.readable else []
        edges = find_edges(found.of) if found.checked.readable else {}
        sketcher = Sketcher(found.system, find_broken(found), places, view.waypoints, view.places, boxes, edges)
        with self._lock:
            own = {prefix + name: (x, y) for name, (x, y) in sketcher.positions().items() if name not in view.places}
            self.places |= own
        return sketcher.draw(found.of.version)

    def kept_places(self, drawn: Collection[str], view: ModelView) -> dict[str, Point]:
        """Where parts stand that are to be saved: those that are drawn, and those of subsystems with a part moved."""
        boxes = {name.rpartition(".")[0] for name in view.places} - {""}
        with self._lock:
            return {n: at for n, at in self.places.items() if n in drawn or n.rpartition(".")[0] in boxes}

    def forget_places(self, prefix: str) -> None:
        """Let the layout place what stands in a subsystem, or all."""
        with self._lock:
            self.places = dict(ModelView(self.places).without(prefix).places)

    def follow_names(self, renamed: Mapping[str, str]) -> None:
        """Keep the places of what has another name now."""
        with self._lock:
            self.places |= ModelView(self.places).renamed(renamed).places if renamed else {}

    def arrange(self, version: ModelVersion, made: Sequence[str], gesture: Mapping[str, Any]) -> dict[str, Point]:
        """Where parts stand that came by a gesture: where they were dropped, in the order of the automatic layout."""
        at = read_at(gesture.get("at"))
        if gesture.get("do") == "duplicate" and len(made) == len(gesture.get("names", ())):
            return self._beside(made, gesture["names"], at, version.view)
        if at is None:
            return {}
        if len(made) == 1:
            return {made[0]: at}
        alone = Sketcher(check_text(version.text, version.place).system).positions()
        known = {name: alone[name] for name in made if name in alone} or {
            name: [SPACING * k, 0.0] for k, name in enumerate(made)
        }
        left, top = min(x for x, _ in known.values()), min(y for _, y in known.values())
        return {name: (at[0] + x - left, at[1] + y - top) for name, (x, y) in known.items()}

    def _beside(self, made: Sequence[str], names: Sequence[str], at: Point | None, view: ModelView) -> dict[str, Point]:
        """Copies stand to each other as what they were copied from."""
        places = {**self.places, **view.places}
        known = {new: places[old] for new, old in zip(made, names) if old in places}
        if not known:
            return {}
        left, top = min(x for x, _ in known.values()), min(y for _, y in known.values())
        dx, dy = (40.0, 40.0) if at is None else (at[0] - left, at[1] - top)
        return {name: (x + dx, y + dy) for name, (x, y) in known.items()}

    # -- runs --------------------------------------------------------------------------------------
    def _run(self, found: CheckedVersion, goes_on: GoesOn) -> None:
        if self._ran is not None and self._ran == found.system and self.live.is_right:
            self._say_run(found, "shown")
            return
        self._run_new(found, goes_on)
        if goes_on():
            self._tell_locks(found)

    def _run_new(self, found: CheckedVersion, goes_on: GoesOn) -> None:
        system = found.system
        if not (system.bodies or system.elements or system.signals):
            self._ran = None
            self.live.forget()
            self.live.fail(ModelError(NOTHING))
            self._say_run(found, "empty", NOTHING)
            return
        try:
            if self.model.show(system, goes_on, cause="text"):
                self._ran = system
                self._say_run(found, "shown")
        except Exception as error:
            self._ran = None
            self.live.fail(error)
            words = str(error) if isinstance(error, Error) else f"kinode failed: {type(error).__name__}: {error}"
            with self._lock:
                if self._newest is None or self._newest.checked is not found.checked:
                    return
                self._run_problem = Problem(words, component=getattr(error, "component", None) or "")
            self._say_run(found, "failed", words)

    def _tell_locks(self, found: CheckedVersion) -> None:
        """Warn of loops that cannot move; after the run, which says whether the model runs at all."""
        before = bool(self._locks and self._locks[1])
        problems = find_lock_problems(found.system, found.of.text)
        with self._lock:
            self._locks = found.system, problems
            newest = self._newest
            if newest is None or newest.checked is not found.checked or not (problems or before):
                return
        self.board.tell(found.checked, problems=self.problems(found.of))

    def _say_run(self, found: CheckedVersion, state: RunState, words: str = "") -> None:
        """Tell the pages how the run stands, and what is wrong with it."""
        self.board.tell(found.checked, problems=self.problems(found.of), run={"state": state, "words": words})


@lru_cache(maxsize=4)
def places_in(text: str, box: Box = ()) -> EntryPlaces:
    """Where the components stand in a text, or in a subsystem of it; that of the last texts is kept."""
    return EntryPlaces(text, find_box(read_spans(text), box))


def find_edges(of: ModelVersion) -> Mapping[str, str]:
    """The nodes of a subsystem that are connected outside, with what they are there."""
    if not of.box:
        return {}
    entries = read_entries(places_in(of.text, of.box[:-1]))
    return next((entry.connect for entry in entries if entry.name == of.box[-1]), {})


def find_broken(found: CheckedVersion) -> list[BrokenPart]:
    """The components of a text that could not be built, as they are drawn."""
    if not found.checked.broken:
        return []
    places = places_in(found.of.text, found.of.box)
    parts = []
    for name, words in found.checked.broken.items():
        section, node = places.section_of(name), places.node(name)
        if section in DRAWN_SECTIONS:
            fields = plain_value(node) if node is not None else {}
            kind = places.kind_of(name)
            parts.append(BrokenPart(name, section, kind, words, fields if isinstance(fields, Mapping) else {}))
    return parts


def write_problem(problem: Problem) -> SentProblem:
    """A problem as plain data."""
    return {
        "message": problem.message,
        "severity": "note" if problem.severity == "follows" else problem.severity,
        "component": problem.component or None,
        "field": problem.field or None,
        "port": problem.port or None,
        "line": problem.line,
        "span": None if problem.span is None else list(problem.span),
        "cures": write_cures(problem.cures),
        "box": list(problem.box),
    }


def describe_problem(problem: Problem) -> ModelError:
    """A problem as an error of the model."""
    component, field = problem.component or None, problem.field or None
    return ModelError(problem.message, component=component, field=field, line=problem.line)


def read_at(raw: Any) -> Point | None:
    """Where something was dropped; None if that was not said."""
    if raw is None:
        return None
    try:
        return read_point(raw, "at")
    except Error as error:
        raise ArgumentError(str(error)) from None
