"""What the studio answers besides drawing and runs: comparisons, equations, explanations, reports, other forms.

All are about the text as it stands, saved or not, and change nothing.  Long ones are done by processes of their own;
how far they are is pushed to the page that asked, ``pane_progress``.  After each change, when the text is whole and
quiet for a moment, derivations are compared in the background; a newer text ends the work at once.  All pages are told
how that stands as part of the one record (`Standing`), and what was found by ``verification``.

Symbols of printed equations carry names as their indices: of components (``q_elbow``, ``F_arm.1``, ``lam_pin, 2``), of
nodes, or they are parameters, inputs and signals, which belong to all that read them.  A word belongs to the longest
name that it begins with, so that a page can light up its part.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict, cast

from kinode.errors import ArgumentError, Error, ModelError, counted
from kinode.exporters.export import EXPORTS, file_name, find_export
from kinode.formulations.formulation_table import FORMULATIONS
from kinode.model.base.fields import Component
from kinode.model.system import System
from kinode.structure.topology import find_topology
from kinode.studio.editor.checked_model import CheckedVersion, ProofStanding, VerifyState
from kinode.studio.editor.study_form import Plain
from kinode.studio.editor.worker_tasks import ExplainedModel, VerifiedRow, WrittenEquations
from kinode.studio.server.messages import request
from kinode.studio.server.session import Client, GoesOn, Job, Lane
from kinode.studio.server.worker import DerivationProcess, StoppedError

if TYPE_CHECKING:
    from kinode.studio.editor.studio_desk import StudioDesk


class Verification(TypedDict):
    """What the comparison of derivations found in a version."""

    state: VerifyState
    version: int
    words: str
    rows: list[VerifiedRow]
    share: NotRequired[float]  # how far it is
    failures: NotRequired[list[str]]
    skipped: NotRequired[list[tuple[str, str]]]  # names, and why
    seconds: NotRequired[float]


class PaneProgress(TypedDict):
    """How far the request of a pane is."""

    pane: str
    share: float
    words: str


class ModelSize(TypedDict):
    """How large a model is; equations of a large one wait until they are asked for."""

    bodies: int
    freedoms: int
    parts: int
    words: str
    large: bool


FormulationChoice = dict[Literal["name", "words", "reason"], str]
"""A form of equations, and why it does not apply; empty where it does."""


ExportChoice = dict[Literal["kind", "words", "suffix"], str]
"""Another form of the model, as text."""


class ModelDescription(TypedDict):
    """What can be asked of a model."""

    size: ModelSize
    formulations: list[FormulationChoice]
    shapes: list[str]
    joints: list[str]
    frames: list[str]
    exports: list[ExportChoice]
    owners: dict[str, list[str]]  # the parts that a word of a symbol belongs to


class ModelAbout(ModelDescription):
    """What can be asked of a version."""

    version: int


class Equations(WrittenEquations):
    """The equations of a version."""

    version: int


class Explanation(ExplainedModel):
    """The derivation of a version, step by step."""

    version: int


MOST_READERS = 12  # of a parameter; one that more read lights up nothing in particular


def find_owners(system: System) -> dict[str, list[str]]:
    """The components that each word of a symbol belongs to.

    Examples
    --------
    >>> owners = find_owners(kn.load("examples/motor_axis.yaml"))
    >>> owners["elbow"], owners["reach"], owners["rotor"]
    (['elbow'], ['arm'], ['motor', 'gear'])
    """
    owners: dict[str, list[str]] = {}
    readers: dict[str, list[str]] = {}
    components: dict[str, Component] = {
        name: x
        for section in (system.bodies, system.joints, system.constraints, system.elements, system.frames)
        for name, x in section.items()
    }
    for name, component in components.items():
        for _, law in component.expressions():
            for word in law.names():
                if name not in readers.setdefault(word, []):
                    readers[word].append(name)
    for word in (*system.parameters, *system.inputs, *system.signals):
        if 0 < len(readers.get(word, ())) <= MOST_READERS:
            owners[word] = readers[word]
    owners |= _nodes(system)
    owners |= {name: [name] for name in components}
    return owners | {name.replace(".", "_"): parts for name, parts in owners.items() if "." in name}


def _nodes(system: System) -> dict[str, list[str]]:
    """The parts that meet at each node."""
    try:
        nodes = system.nodes
    except Error:  # a network that is not whole
        return {}
    ends = {name: list(dict.fromkeys(part for part, _ in x.ports)) for name, x in nodes.items() if not x.reference}
    return {name: parts for name, parts in ends.items() if 0 < len(parts) <= MOST_READERS}


QUIET = 1.5  # s without a change
UNDER_WAY = ("waiting", "running", "asleep")
ASLEEP = "derivations are compared when you ask for it"
STOPPED = "the comparison was stopped"
EMPTY = "there is nothing to derive yet"


class VerifyWatch:
    """Follows the versions of a document that were checked.

    Parameters
    ----------
    push : function
        What tells all pages.
    automatic : bool, default True
        Whether each change is followed by a comparison; else `compare_now` begins one.
    stand : function, optional
        What takes the state into the record of how the model stands.
    quiet : float
        Seconds without a change before derivations are compared.
    """

    def __init__(
        self, push: Callable[[Mapping[str, Any]], None], automatic: bool = True, quiet: float = QUIET,
        stand: Callable[[CheckedVersion, ProofStanding], None] = lambda *_: None,
    ) -> None:  # fmt: skip
        self._push, self._automatic, self._quiet, self._stand = push, automatic, quiet, stand
        self._stopped: CheckedVersion | None = None
        self._process = DerivationProcess()
        self._lock = threading.Lock()
        self._newest: CheckedVersion | None = None
        self._done: tuple[CheckedVersion, Any] | None = None
        self._ended = False
        self._now: Verification = {"state": "waiting", "version": -1, "words": "", "rows": []}
        self._work = Lane(self._compare)

    @property
    def now(self) -> Verification:
        """How it stands."""
        return self._now

    def checked(self, found: CheckedVersion) -> None:
        """A version was checked: compare it, unless it means the same as the last."""
        with self._lock:
            before, self._newest, done = self._newest, found, self._done
        if before is not None and before.checked is found.checked and self._now["state"] in UNDER_WAY:
            return  # parts were moved, nothing else
        if not found.checked.complete:
            problem = found.checked.problems[0]
            self._tell(found, "unfinished", problem.message)
        elif not (found.system.bodies or found.system.elements):
            self._tell(found, "none", EMPTY)
        elif done is not None and done[0].system == found.system:
            self._tell(found, **done[1])
        elif self._automatic:
            self._tell(found, "waiting")
            self._work.ask(found, self._quiet)
        else:
            self._tell(found, "asleep", ASLEEP)

    def compare_now(self, found: CheckedVersion) -> None:
        """Compare a version, though it was before or was stopped."""
        with self._lock:
            self._newest, self._done, self._stopped = found, None, None
        if not found.checked.complete or not (found.system.bodies or found.system.elements):
            self.checked(found)
            return
        self._tell(found, "running", share=0.0)
        self._work.ask(found)

    def stop(self) -> None:
        """End the comparison that is under way."""
        with self._lock:
            self._stopped = self._newest

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait until nothing is to be compared."""
        return self._work.wait(seconds)

    def close(self) -> None:
        """End; what is under way is stopped."""
        self._ended = True
        self._work.close()
        self._process.close()

    def _is_newest(self, found: CheckedVersion) -> bool:
        newest = self._newest
        if self._ended or newest is None or newest.checked is not found.checked:
            return False
        return self._stopped is None or self._stopped.checked is not found.checked

    def _compare(self, found: CheckedVersion, _: GoesOn) -> None:
        self._tell(found, "running", share=0.0)

        def tell(share: float, words: str) -> None:
            self._tell(found, "running", words, share=share)

        try:
            goes_on = lambda: self._is_newest(found)  # noqa: E731
            answer: Any = self._process.ask("verify", found.of.text, found.of.place, goes_on=goes_on, tell=tell)
        except StoppedError:
            self._tell(found, "asleep", STOPPED)
            return
        except Error as error:
            answer = {"state": "none", "words": str(error), "rows": []}
        with self._lock:
            if self._is_newest(found):
                self._done = found, answer
        self._tell(found, **answer)

    def _tell(self, found: CheckedVersion, state: VerifyState, words: str = "", **more: Any) -> None:
        with self._lock:
            if self._newest is None or self._newest.checked is not found.checked:
                return
            version = self._newest.of.version
            told: Any = {"rows": [], **more, "state": state, "words": words, "version": version}
            self._now = now = cast(Verification, told)
        proof: ProofStanding = {"state": state, "words": words}
        if "share" in now:
            proof["share"] = now["share"]
        if "seconds" in now:
            proof["seconds"] = now["seconds"]
        self._stand(found, proof)
        if state not in ("waiting", "running"):
            self._push({"kind": "verification", **now})


Put = Callable[[str, str], None]
MOST_REPORTS = 4  # pages of reports that stay
LARGE_FREEDOMS, LARGE_BODIES, LARGE_PARTS = 6, 8, 30  # beyond which equations wait until they are asked for
WORDS = {
    "lagrange": "energies differentiated; for reading",
    "recursive": "joint coordinates, articulated bodies",
    "quasi_base": "vectors of a quasi-base",
    "rotators": "vector rotators",
    "hamilton": "canonical form",
    "newton_euler": "every body, reactions as unknowns",
    "circuit": "every component in link variables, with numbers",
}


class PaneAnswers:
    """Answers the panes of one studio.

    Parameters
    ----------
    desk : StudioDesk
        Whose document is derived from.
    put : function, optional
        What serves a page from memory under a path; without it there are no reports.
    verify : bool, default True
        Whether derivations are compared after each change, else when it is asked for.
    """

    def __init__(self, desk: StudioDesk, put: Put | None = None, verify: bool = True) -> None:
        self._desk, self._put, self._reports = desk, put, 0
        self._lock = threading.Lock()
        self._running: dict[tuple[Client, str], Job] = {}
        self._deriving, self._reporting = DerivationProcess(), DerivationProcess()
        board = desk.checker.board
        self.verifying = VerifyWatch(
            desk.session.push, verify, stand=lambda found, proof: board.tell(found.checked, proof=proof)
        )
        desk.checker.listeners.append(self.verifying.checked)
        self.verifying.checked(desk.checked())
        desk.session.add(self)

    def close(self) -> None:
        """End all processes."""
        for each in (self.verifying, self._deriving, self._reporting):
            each.close()

    # -- answers -----------------------------------------------------------------------------------
    @request("pane_about")
    def about(self) -> ModelAbout:
        """What can be asked of the model as it stands."""
        found = self._desk.checked()
        return {**describe_model(found.system, found.checked.complete), "version": found.of.version}

    @request("pane_verification")
    def verification(self) -> Verification:
        """How the comparison stands."""
        return self.verifying.now

    @request("pane_verify")
    def verify(self) -> Verification:
        """Compare derivations now; the push tells of it."""
        self.verifying.compare_now(self._desk.checked())
        return self.verifying.now

    @request("pane_stop", lane="pane_stop")
    def stop(self, job: Job, pane: str) -> dict[Literal["stopped"], bool]:
        """End the request of a kind that is under way for a page."""
        if pane == "pane_verify":
            self.verifying.stop()
            return {"stopped": True}
        with self._lock:
            running = self._running.get((job.client, pane))
        if running is not None:
            running.stop()
        return {"stopped": running is not None}

    @request("pane_equations")
    def equations(
        self, job: Job, formulation: str = "", shape: str = "auto", frame: str = "", reactions: list[str] | None = None,
        basis: str = "body", mode: str = "dynamic", numbers: bool = True,
    ) -> Equations:  # fmt: skip
        """The equations of motion in any formulation and shape; of a circuit in a basis and a mode, with numbers."""
        fields: Plain = {"formulation": formulation, "shape": shape, "frame": frame, "reactions": reactions or []}
        fields |= {"basis": basis, "mode": mode, "numbers": numbers}
        return cast(Equations, self._derive(job, "equations", fields))

    @request("pane_explain")
    def explain(self, job: Job) -> Explanation:
        """The derivation step by step, and the scheme."""
        return cast(Explanation, self._derive(job, "explain", {}))

    @request("pane_export")
    def export(self, job: Job, format: str) -> dict[Literal["text", "name"], str]:
        """The model in another form: its text, and the name of its file."""
        find_export(format)
        made = self._derive(job, "script", {"format": format})
        return {"text": made["text"], "name": f"{self._name}{made['suffix']}"}

    @request("pane_report")
    def report(self, job: Job, verify: bool = True, explain: bool = False) -> dict[Literal["path", "name"], str]:
        """The report of a run of the model as it stands: the path of its page."""
        if self._put is None:
            raise ArgumentError("reports need a server that shows them")
        made = self._derive(job, "report", {"verify": verify, "explain": explain})
        path = f"/report_{self._reports % MOST_REPORTS + 1}.html"
        self._reports += 1
        self._put(path, made["html"])
        return {"path": path, "name": f"{self._name}.html"}

    def _derive(self, job: Job, task: str, fields: Plain) -> Plain:
        """What a task makes of the model."""
        kind, version = job.kind, self._desk.version()
        self._refuse_unfinished()

        def tell(share: float, words: str) -> None:
            job.client.push({"kind": "pane_progress", "pane": kind, "share": share, "words": words})

        process = self._reporting if task == "report" else self._deriving
        with self._lock:
            self._running[job.client, kind] = job
        try:
            answer = process.ask(task, version.text, version.place, fields, job.goes_on, tell)
        except StoppedError:
            job.stop()
            raise
        finally:
            with self._lock:
                if self._running.get((job.client, kind)) is job:
                    del self._running[job.client, kind]
        return {**answer, "version": version.version}

    @property
    def _name(self) -> str:
        return file_name(self._desk.checked().system.name)

    def _refuse_unfinished(self) -> None:
        checked = self._desk.checked().checked
        if not checked.complete:
            problem = checked.problems[0]
            message = f"the model is not whole yet: {problem.message}"
            raise ModelError(message, component=problem.component or None, field=problem.field or None)


# -- what can be asked -----------------------------------------------------------------------------
def describe_model(system: System, whole: bool) -> ModelDescription:
    """Size, forms of equations that apply, joints and frames, other forms, and what symbols belong to."""
    from kinode.symbolic.equations import SHAPES

    bodies, freedoms = len(system.bodies), sum(joint.n_u for joint in system.joints.values())
    parts = len(system.elements)
    counts = ((bodies, "body", "bodies"), (freedoms, "freedom", "freedoms"), (parts, "part", "parts"))
    words = ", ".join(counted(n, one, many) for n, one, many in counts if n)
    return {
        "size": {
            "bodies": bodies, "freedoms": freedoms, "parts": parts, "words": words or "nothing yet",
            "large": bodies > LARGE_BODIES or freedoms > LARGE_FREEDOMS or parts > LARGE_PARTS,
        },
        "formulations": list_formulations(system) if whole else [],
        "shapes": list(SHAPES),
        "joints": list(system.joints),
        "frames": [*system.bodies, *system.frames],
        "exports": [{"kind": kind, "words": x.words, "suffix": x.suffix} for kind, x in EXPORTS.items() if x.is_text],
        "owners": find_owners(system),
    }  # fmt: skip


def list_formulations(system: System) -> list[FormulationChoice]:
    """The formulations that equations can be written by, each with why it does not apply, or nothing."""
    from kinode.symbolic.equations import CIRCUIT, WRITTEN

    try:
        topology = find_topology(system)
        reasons = {name: FORMULATIONS[name].applies(topology) or "" for name in WRITTEN}
        if not topology.n_u and not topology.n_z:
            reasons = dict.fromkeys(reasons, "nothing moves by itself")
    except Error as error:
        reasons = dict.fromkeys(WRITTEN, str(error))
    reasons[CIRCUIT] = ""
    return [{"name": name, "words": WORDS.get(name, ""), "reason": reason} for name, reason in reasons.items()]
