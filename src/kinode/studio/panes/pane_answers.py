"""What the studio answers besides drawing and runs: comparisons, equations, explanations, reports, other forms.

==================  ===================================  ========================================================
kind                fields                               answer
==================  ===================================  ========================================================
pane_about                                               size (bodies, freedoms, parts, large, words), forms of
                                                         equations, joints, frames, exports, symbols
pane_verification                                        as the push ``verification`` (verify_watch.py)
pane_verify                                              compares derivations now; the push tells of it
pane_equations      formulation, shape, reactions,       as the task ``equations`` (derivation_tasks.py)
                    frame, basis, mode, numbers
pane_explain                                             as the task ``explain``
pane_export         kind                                 text, name of the file
pane_report         verify, explain                      path of the page
pane_stop           pane                                 ends the request of that kind that is under way
==================  ===================================  ========================================================

All are about the text as it stands, saved or not, and change nothing.  Long ones are done by processes of their own;
how far they are is pushed to the page that asked, ``pane_progress``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from kinode.errors import ArgumentError, Error, ModelError
from kinode.exporters.export import EXPORTS, file_name, find_export
from kinode.formulations.formulation_table import FORMULATIONS
from kinode.model.system import System
from kinode.structure.topology import find_topology
from kinode.studio.live_pages.session import Answer, Client, Job
from kinode.studio.panes.derivation_process import DerivationProcess, Plain, StoppedError
from kinode.studio.panes.symbol_owners import find_owners
from kinode.studio.panes.verify_watch import VerifyWatch

if TYPE_CHECKING:
    from kinode.studio.drawing.studio_desk import StudioDesk

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
    from kinode.symbolic.equations_of_motion import SHAPES

    bodies, freedoms = len(system.bodies), sum(joint.n_u for joint in system.joints.values())
    parts = len(system.elements)
    counted = ((bodies, "body", "bodies"), (freedoms, "freedom", "freedoms"), (parts, "part", "parts"))
    words = ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in counted if n)
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
    from kinode.symbolic.equations_of_motion import CIRCUIT, WRITTEN

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
