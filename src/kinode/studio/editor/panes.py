"""What the studio answers besides drawing and runs: comparisons, equations, explanations, reports, other forms.

==================  ===================================  ========================================================
kind                fields                               answer
==================  ===================================  ========================================================
pane_about                                               size (bodies, freedoms, parts, large, words), forms of
                                                         equations, joints, frames, exports, symbols
pane_verification                                        as the push ``verification`` (`VerifyWatch`)
pane_verify                                              compares derivations now; the push tells of it
pane_equations      formulation, shape, reactions,       as the task ``equations`` (worker_tasks.py)
                    frame, basis, mode, numbers
pane_explain                                             as the task ``explain``
pane_export         kind                                 text, name of the file
pane_report         verify, explain                      path of the page
pane_stop           pane                                 ends the request of that kind that is under way
==================  ===================================  ========================================================

All are about the text as it stands, saved or not, and change nothing.  Long ones are done by processes of their own;
how far they are is pushed to the page that asked, ``pane_progress``.  After each change, when the text is whole and
quiet for a moment, derivations are compared in the background; a newer text ends the work at once.  All pages are told
how that stands as part of the one record (`Standing`), and what was found by ``verification``, with ``state``:

========== =================================================================================
waiting    the text was changed; it is compared when it is quiet
running    derivations are compared; ``share`` says how far that is
agrees     all do
differs    some do not: ``failures``
none       nothing can be compared: ``words`` has the reason
unfinished the model is not whole
asleep     it is compared when that is asked for
========== =================================================================================

Symbols of printed equations carry names as their indices: of components (``q_elbow``, ``F_arm.1``, ``lam_pin, 2``), of
nodes, or they are parameters, inputs and signals, which belong to all that read them.  A word belongs to the longest
name that it begins with, so that a page can light up its part.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kinode.errors import ArgumentError, Error, ModelError, counted
from kinode.exporters.export import EXPORTS, file_name, find_export
from kinode.formulations.formulation_table import FORMULATIONS
from kinode.model.base.fields import Component
from kinode.model.system import System
from kinode.structure.topology import find_topology
from kinode.studio.editor.checked_model import CheckedVersion
from kinode.studio.editor.worker import DerivationProcess, Plain, StoppedError
from kinode.studio.server.session import Answer, Client, Job, NewestWork

if TYPE_CHECKING:
    from kinode.studio.editor.studio_desk import StudioDesk


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
LOOK = 0.05  # s between looks at whether there was one
UNDER_WAY = ("waiting", "running", "asleep")
ASLEEP = "derivations are compared when you ask for it"
STANDING = ("state", "words", "share", "seconds")  # what the record of how the model stands has of it
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
        stand: Callable[[CheckedVersion, Plain], None] = lambda *_: None,
    ) -> None:  # fmt: skip
        self._push, self._automatic, self._quiet, self._stand = push, automatic, quiet, stand
        self._stopped: CheckedVersion | None = None
        self._process = DerivationProcess()
        self._lock = threading.Lock()
        self._newest: CheckedVersion | None = None
        self._done: tuple[CheckedVersion, Plain] | None = None
        self._ended = False
        self._now: Plain = {"state": "waiting", "version": -1, "words": "", "rows": []}
        self._work: NewestWork[CheckedVersion] = NewestWork("kinode verify", self._compare)

    @property
    def now(self) -> Plain:
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
            self._work.ask(found)
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

    def _compare(self, found: CheckedVersion, _: Callable[..., bool]) -> None:
        quiet = time.monotonic() + (self._quiet if self._now["state"] == "waiting" else 0.0)
        while time.monotonic() < quiet:
            if not self._is_newest(found):
                self._tell(found, "asleep", STOPPED)
                return
            time.sleep(LOOK)
        self._tell(found, "running", share=0.0)

        def tell(share: float, words: str) -> None:
            self._tell(found, "running", words, share=share)

        try:
            goes_on = lambda: self._is_newest(found)  # noqa: E731
            answer = self._process.ask("verify", found.of.text, found.of.place, goes_on=goes_on, tell=tell)
        except StoppedError:
            self._tell(found, "asleep", STOPPED)
            return
        except Error as error:
            answer = {"state": "none", "words": str(error), "rows": []}
        with self._lock:
            if self._is_newest(found):
                self._done = found, answer
        self._tell(found, **answer)

    def _tell(self, found: CheckedVersion, state: str, words: str = "", **more: Any) -> None:
        with self._lock:
            if self._newest is None or self._newest.checked is not found.checked:
                return
            version = self._newest.of.version
            self._now = now = {"rows": [], **more, "state": state, "words": words, "version": version}
        self._stand(found, {name: value for name, value in now.items() if name in STANDING})
        if state not in ("waiting", "running"):
            self._push({"kind": "verification", **now})


Put = Callable[[str, str], None]
MOST_REPORTS = 4  # pages of reports that stay
LARGE_FREEDOMS, LARGE_BODIES, LARGE_PARTS = 6, 8, 30  # beyond which equations wait until they are asked for
TASKS = {"pane_equations": "equations", "pane_explain": "explain", "pane_export": "script", "pane_report": "report"}
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
        session = desk.session
        session.handle("pane_about", self.about)
        session.handle("pane_verification", self.verification)
        session.handle("pane_verify", self.verify)
        session.handle("pane_stop", self.stop, lane="pane_stop")
        for kind in TASKS:
            session.handle(kind, self.derive)

    def close(self) -> None:
        """End all processes."""
        for each in (self.verifying, self._deriving, self._reporting):
            each.close()

    # -- answers -----------------------------------------------------------------------------------
    def about(self, job: Job) -> Answer:
        """What can be asked of the model as it stands."""
        found = self._desk.checked()
        return {**describe_model(found.system, found.checked.complete), "version": found.of.version}

    def verification(self, job: Job) -> Answer:
        """How the comparison stands."""
        return self.verifying.now

    def verify(self, job: Job) -> Answer:
        """Compare derivations now."""
        self.verifying.compare_now(self._desk.checked())
        return self.verifying.now

    def stop(self, job: Job) -> Answer:
        """End what is under way for a page."""
        if job.fields.get("pane") == "pane_verify":
            self.verifying.stop()
            return {"stopped": True}
        with self._lock:
            running = self._running.get((job.client, str(job.fields.get("pane"))))
        if running is not None:
            running.stop()
        return {"stopped": running is not None}

    def derive(self, job: Job) -> Answer:
        """What a task makes of the model."""
        kind, version = job.kind, self._desk.version()
        if kind == "pane_export":
            find_export(job.fields.get("kind_of_file"))
        if kind == "pane_report" and self._put is None:
            raise ArgumentError("reports need a server that shows them")
        self._refuse_unfinished()

        def tell(share: float, words: str) -> None:
            job.client.push({"kind": "pane_progress", "pane": kind, "share": share, "words": words})

        fields = {name: value for name, value in job.fields.items() if name not in ("seq", "kind")}
        fields |= {"kind": fields.pop("kind_of_file")} if "kind_of_file" in fields else {}
        process = self._reporting if kind == "pane_report" else self._deriving
        with self._lock:
            self._running[job.client, kind] = job
        try:
            answer = process.ask(TASKS[kind], version.text, version.place, fields, job.goes_on, tell)
        except StoppedError:
            job.stop()
            return {}
        finally:
            with self._lock:
                if self._running.get((job.client, kind)) is job:
                    del self._running[job.client, kind]
        return {**self._finished(kind, answer), "version": version.version}

    def _finished(self, kind: str, answer: Plain) -> Plain:
        """What the page is told of an answer."""
        name = file_name(self._desk.checked().system.name)
        if kind == "pane_export":
            return {"text": answer["text"], "name": f"{name}{answer['suffix']}"}
        if kind == "pane_report":
            assert self._put is not None
            path = f"/report_{self._reports % MOST_REPORTS + 1}.html"
            self._reports += 1
            self._put(path, answer["html"])
            return {"path": path, "name": f"{name}.html"}
        return answer

    def _refuse_unfinished(self) -> None:
        checked = self._desk.checked().checked
        if not checked.complete:
            problem = checked.problems[0]
            message = f"the model is not whole yet: {problem.message}"
            raise ModelError(message, component=problem.component or None, field=problem.field or None)


def add_pane_answers(desk: StudioDesk, put: Put | None = None, verify: bool = True) -> PaneAnswers:
    """Let a studio answer its panes; what comes back is to be closed with it."""
    return PaneAnswers(desk, put, verify)


# -- what can be asked -----------------------------------------------------------------------------
def describe_model(system: System, whole: bool) -> Plain:
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


def list_formulations(system: System) -> list[dict[str, str]]:
    """The formulations that equations can be written by, each with why it does not apply, or nothing."""
    from kinode.symbolic.equations import CIRCUIT, WRITTEN

    try:
        topology = find_topology(system)
        reasons = {name: FORMULATIONS[name].applies(topology) or "" for name in WRITTEN}
        if not topology.n_u and not topology.n_z:
            reasons = dict.fromkeys(reasons, "nothing moves by itself")
    except Error as error:
        reasons = dict.fromkeys(WRITTEN, str(error))
    return [{"name": name, "words": WORDS.get(name, ""), "reason": reason} for name, reason in reasons.items()] + [
        {"name": CIRCUIT, "words": WORDS[CIRCUIT], "reason": ""}
    ]
