"""The worker's own side: it reads tasks, a line of JSON each, and writes what becomes of them.

Each is a function of an `Order`; what they answer is plain data, formulas as HTML with MathML.  What is heavy for
derivations is imported when it is needed.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NotRequired, TypedDict

from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_system import Dynamics
from kinode.editing.checked_text import check_text
from kinode.errors import ArgumentError, Error, ModelError, find_close, suggest
from kinode.jit.threads import processors
from kinode.model.system import System
from kinode.simulation.run_arguments import read_seconds
from kinode.studies.axes import FIELDS
from kinode.studies.batch import FAILED, check_names, read_value
from kinode.studies.kept_results import BY_SIZE, read_kept
from kinode.studies.sweep import make_runs, set_up_study
from kinode.studies.worker import ChunkResult, StudyWorker, make_chunk, open_engine
from kinode.studio.editor.study_form import (
    FieldError,
    FormAxis,
    Plain,
    StudyDescription,
    StudyForm,
    list_names,
    read_form,
)
from kinode.studio.live.later_parts import make_parts
from kinode.studio.server.messages import describe_error

DEFAULT_END = 10.0  # s, as elsewhere where a model does not say
LONGEST_CODE = 2_000_000  # characters of a form that a page is sent
MOST_VALUES = 400  # variables of a circuit whose numbers are shown


@dataclass(frozen=True)
class Order:
    """What a task is given: the system, its text, the fields of the request, and where to tell how far it is.

    What there is of an answer before all of it goes to ``give``.
    """

    system: System
    text: str
    fields: Mapping[str, Any]
    tell: Callable[[float, str], None]
    give: Callable[[Plain], None] = lambda part: None


class VerifiedRow(TypedDict):
    """A quantity, and the difference between two derivations of it."""

    quantity: str
    one: str
    two: str
    difference: float | None  # null: not a number
    tolerance: float
    where: str
    ok: bool
    seconds: float | None


class WrittenEquations(TypedDict):
    """Equations in the forms that there are."""

    heading: str
    formulation: str
    shape: str
    operations: int | None
    html: str
    latex: NotRequired[str]
    text: NotRequired[str]
    python: NotRequired[str]
    c: NotRequired[str]
    json: NotRequired[str]


class ExplainedStep(TypedDict):
    """A step of a derivation, and the parts that it is about."""

    title: str
    words: str
    html: str
    parts: list[str]


class ExplainedModel(TypedDict):
    """A derivation step by step, and the vector scheme."""

    t: float
    steps: list[ExplainedStep]
    scheme: str


class StudyCheck(TypedDict):
    """What is wrong with a form by field; if nothing is, the runs and the seconds that they may take."""

    errors: list[FieldError]
    runs: int
    seconds: float | None
    note: str


def verify_model(order: Order) -> Plain:
    """Compare all derivations that apply."""
    from kinode.tasks.verify import verify

    began = time.perf_counter()
    try:
        found = verify(order.system, progress=lambda share: order.tell(share, "derivations are compared"))
    except Error as error:
        return {"state": "none", "words": str(error), "rows": [], "failures": [], "skipped": [], "seconds": 0.0}
    took = dict(found.seconds)
    return {
        "state": "agrees" if found.ok else "differs",
        "words": f"{found.name}{found.verdict}",
        "rows": [
            {
                "quantity": row.quantity, "one": row.one, "two": row.two, "difference": row.difference,
                "tolerance": row.tolerance, "where": row.where, "ok": row.ok, "seconds": took.get(row.two),
            }
            for row in found.rows
        ],
        "failures": found.failures,
        "skipped": [list(each) for each in found.skipped],
        "seconds": time.perf_counter() - began,
    }  # fmt: skip


def write_equations(order: Order) -> WrittenEquations:
    """The equations of motion in any formulation and shape."""
    from kinode.symbolic.equations import equations

    fields = order.fields
    formulation, shape, frame, reactions = (fields[x] for x in ("formulation", "shape", "frame", "reactions"))
    if formulation == "circuit" and not frame:
        return write_circuit(order)
    order.tell(0.1, "equations are derived")
    printed: Any = (
        equations(order.system, frame=frame) if frame
        else equations(order.system, formulation or None, shape, reactions)
    )  # fmt: skip
    order.tell(0.6, "formulas are written")
    operations = getattr(printed, "operations", None)
    written: WrittenEquations = {
        "heading": getattr(printed, "heading", "") or order.system.name,
        "formulation": getattr(printed, "formulation", formulation) or "",
        "shape": getattr(printed, "shape", shape),
        "operations": operations if isinstance(operations, int) else None,
        "html": str(printed.mathml()),
    }
    written.update(_forms(printed, ("latex", "text", "python", "c")))
    return written


def write_circuit(order: Order) -> WrittenEquations:
    """The equations of every component in link variables, and the numbers of all variables at the start."""
    from kinode.sheets.markup import table, tag
    from kinode.sheets.tables import Table, number
    from kinode.symbolic.circuit.whole_circuit import circuit

    order.tell(0.1, "the circuit is analyzed")
    listing = circuit(order.system, order.fields["basis"], order.fields["mode"])
    html = str(listing.mathml())
    if order.fields["numbers"] and listing.mode == "dynamic":
        order.tell(0.6, "its values are computed")
        now = listing.evaluate()
        shown = list(listing.variables.items())[:MOST_VALUES]
        rows = [(name, ", ".join(number(float(x) + 0.0) for x in now[name]), v.unit) for name, v in shown]
        size, row = now.worst
        words = f"All equations hold to {size:.1e} ({row}); the powers of all branches sum to {now.tellegen:.1e} W."
        rest = len(listing.variables) - len(shown)
        words += f" {rest} more variables are not shown." if rest > 0 else ""
        html += (
            tag("h3", "Values at the start")
            + tag("p", words)
            + table(Table(("variable", "value", "unit"), rows, "wwu"))
        )
    written: WrittenEquations = {
        "heading": str(listing).partition("\n")[0], "formulation": "circuit", "shape": "vectors", "operations": None,
        "html": html, "json": listing.to_json(),
    }  # fmt: skip
    written.update(_forms(listing, ("latex", "text")))
    return written


def _forms(printed: Any, names: tuple[str, ...]) -> Any:
    """The forms that equations can be copied in; one that does not exist, or is too long to be sent, is left out."""
    forms = {}
    for name in names:
        try:
            text = getattr(printed, name)() if hasattr(printed, name) else ""
        except (Error, NotImplementedError, AttributeError):
            continue
        if text and len(text) <= LONGEST_CODE:
            forms[name] = text
    return forms


def explain_model(order: Order) -> ExplainedModel:
    """The derivation step by step, and the vector scheme."""
    from kinode.report.derivation_section import describe_scheme
    from kinode.symbolic.explain import explain

    order.tell(0.1, "the steps are derived")
    explanation = explain(order.system)
    order.tell(0.6, "the scheme is drawn")
    names = set(order.system.components)
    steps = list[ExplainedStep]()
    for step, section in zip(explanation.steps, explanation.sections, strict=True):
        words = [item.owner for item in step.items] + [cell for row in (step.table or ((), ()))[1] for cell in row]
        parts = [found for word in words if (found := _component(str(word), names))]
        html = str(section.mathml())
        steps.append({"title": step.title, "words": step.words, "html": html, "parts": list(dict.fromkeys(parts))})
    try:
        scheme = str(describe_scheme(order.system)) if order.system.bodies else ""
    except Error:
        scheme = ""
    return {"t": explanation.t, "steps": steps, "scheme": scheme}


def _component(word: str, names: set[str]) -> str:
    """The component that a word names, ``elbow`` of ``elbow.q``; empty if none."""
    while word and word not in names:
        word = word.rpartition(".")[0]
    return word


def write_report(order: Order) -> Plain:
    """The report of a run of the model as it stands."""
    from kinode.report.run_report import compose
    from kinode.tasks.simulate import simulate

    def goes_on(share: float = 0.0, *_: object) -> bool:
        order.tell(0.5 * share, "the model is simulated")
        return True

    given = order.system.run_defaults
    until = None if "until" in given or "times" in given else given.get("t0", 0.0) + DEFAULT_END
    run = simulate(order.system, until, progress=goes_on)
    order.tell(0.5, "the report is written")
    return {"html": compose(run, verify=order.fields["verify"], explain=order.fields["explain"])}


def write_script(order: Order) -> Plain:
    """The model in another form."""
    from kinode.exporters.export import ExportOrder, find_export

    chosen = find_export(order.fields["format"])
    if not chosen.is_text:
        raise ArgumentError(f"export: {chosen.words}: kn.export and kinode export write it")
    return {"text": str(chosen.write(ExportOrder(order.system, order.text))), "suffix": chosen.suffix}


TASKS: dict[str, Callable[[Order], Mapping[str, Any]]] = {
    "verify": verify_model,
    "equations": write_equations,
    "explain": explain_model,
    "report": write_report,
    "script": write_script,
}

CHUNK_SECONDS = 0.25  # results appear so often
TELL_EVERY = 0.2  # s
LONGEST_TRIAL = 1.0  # s that a run may take to say how long all would take
BATCH_SECONDS, MOST_TRIED = 0.15, 64  # of short runs several are tried


def check_study(order: Order) -> StudyCheck:
    """What is wrong with a form, or how long its runs would take."""
    form, errors = read_form(order.fields["form"])
    dynamics = find_compiled(order.system)
    known = {each["field"] for each in errors}
    errors += [each for each in check_fields(dynamics, form) if each["field"] not in known]
    if errors:
        return {"errors": errors, "runs": form.runs, "seconds": None, "note": ""}
    try:
        worker = _set_up(order, form)
    except Error as error:
        errors = [FieldError(field="axes", message=str(error))]
        return {"errors": errors, "runs": form.runs, "seconds": None, "note": ""}
    order.tell(0.5, "one run is made")
    seconds, note = _try_runs(worker, form.runs)
    return {"errors": [], "runs": form.runs, "seconds": seconds, "note": note}


def check_fields(dynamics: Dynamics, form: StudyForm) -> list[FieldError]:
    """What the model says of the fields of a form."""
    errors = [each for k, axis in enumerate(form.axes) for each in _check_axis(dynamics, f"axes.{k}", axis, form)]
    for k, text in enumerate(form.keep):
        try:
            read_kept(dynamics.system, text, 0)
        except Error as error:
            errors.append(FieldError(field=f"keep.{k}", message=_words(error)))
    try:
        begin = read_seconds(dynamics, "t0", dynamics.system.run_defaults.get("t0", 0.0))
        if form.until and not read_seconds(dynamics, "until", form.until) > begin:
            raise ArgumentError(f"a time after the start, {begin:g} s, is expected")
    except Error as error:
        errors.append(FieldError(field="until", message=_words(error)))
    return errors


def _check_axis(dynamics: Dynamics, field: str, axis: FormAxis, form: StudyForm) -> list[FieldError]:
    system = dynamics.system
    if not axis.name:
        return []
    if axis.name in FIELDS and axis.name not in system.parameters and axis.name not in system.inputs:
        words = f"{axis.name} is a setting of runs: kn.sweep varies it in Python"
        return [FieldError(field=f"{field}.name", message=words)]
    try:
        check_names(dynamics, {axis.name: 0.0})
    except Error as error:
        near = find_close(axis.name, list_names(system))
        return [FieldError(field=f"{field}.name", message=suggest(_words(error), axis.name, near))]
    errors = []
    for word, text in axis.texts().items():
        try:
            read_value(dynamics, axis.name, text)
        except (Error, ValueError, TypeError) as error:
            errors.append(FieldError(field=f"{field}.{word.partition('.')[0]}", message=_words(error)))
    if not errors:
        try:
            given = axis.given(form.design)
            if not isinstance(given, list):
                given.numbers(axis.name, lambda value: read_value(dynamics, axis.name, value))
        except Error as error:
            errors.append(FieldError(field=f"{field}.second", message=_words(error)))
    return errors


def _words(error: BaseException) -> str:
    words = str(error).partition("\n")[0]
    return words.removeprefix("keep: ").removeprefix("of: ").removeprefix("over: ")


def _set_up(order: Order, form: StudyForm) -> StudyWorker:
    given = order.system.run_defaults
    end = None if "until" in given or "times" in given else float(given.get("t0", 0.0)) + DEFAULT_END
    return set_up_study(order.system, form.over(), form.until or end, **form.options())[0]


def _try_runs(worker: StudyWorker, runs: int) -> tuple[float, str]:
    """Seconds that all runs may take, and what the first run says if it fails."""
    _try_run(worker)  # compiles
    one, note = _try_run(worker)
    count = min(runs, MOST_TRIED, int(BATCH_SECONDS / max(one, 1e-6)))
    if count < 2:
        return one * -(-runs // processors()), note
    began = time.perf_counter()
    make_chunk(worker, 0, worker.plan.design.rows(0, count), processors())
    return (time.perf_counter() - began) / count * runs, note


def _try_run(worker: StudyWorker) -> tuple[float, str]:
    """Seconds of the first run, by the share that it got to in a while, and its message."""
    began, reached = time.perf_counter(), 1e-3

    def goes_on(share: float = 0.0) -> bool:
        nonlocal reached
        reached = max(reached, share)
        return time.perf_counter() - began < LONGEST_TRIAL

    row = worker.make(0, worker.plan.design.rows(0, 1)[0], goes_on)
    seconds = time.perf_counter() - began
    if row is None:
        return seconds / reached, ""
    return seconds, f"the first run: {row.message}" if row.status == FAILED else ""


def make_study(order: Order) -> Plain:
    """Make the runs; each chunk is given as it is made."""
    form, errors = read_form(order.fields["form"])
    errors += [] if errors else check_fields(find_compiled(order.system), form)
    if errors:
        raise ArgumentError(f"{errors[0]['field']}: {errors[0]['message']}")
    worker = _set_up(order, form)
    order.give({"description": describe_study(worker)})
    told = 0.0

    def goes_on(share: float) -> bool:
        nonlocal told
        if time.perf_counter() - told > TELL_EVERY:
            told = time.perf_counter()
            order.tell(share, "")
        return True

    with open_engine(worker, None, None) as engine:
        make_runs(worker, engine, lambda chunk: order.give({"chunk": plain_chunk(chunk)}), goes_on, CHUNK_SECONDS)
    return {"done": True}


def describe_study(worker: StudyWorker) -> StudyDescription:
    """What the runs of a study have, before any is made."""
    design = worker.plan.design
    return {
        "dims": [{"name": name, "length": length} for name, length in design.dims.items()],
        "axes": [
            {
                "name": axis.name, "title": axis.title, "unit": axis.unit, "dim": dim, "values": values,
                "shown": {"unit": axis.unit, "factor": 1.0},
            }
            for axis, dim, values in design.coordinates()
        ],
        "kept": [
            {"text": each.text, "unit": each.unit, "bySize": each.text.rpartition("|")[2].strip() in BY_SIZE}
            for each in worker.kept
        ],
        "runs": len(design),
        "until": _find_end(worker),
    }  # fmt: skip


def _find_end(worker: StudyWorker) -> float | None:
    """The end of all runs, s; None where the model gives times in its place."""
    dynamics = worker.dynamics[0]
    until = worker.plan.until if worker.plan.until is not None else dynamics.system.run_defaults.get("until")
    return None if until is None else read_seconds(dynamics, "until", until)


def plain_chunk(chunk: ChunkResult) -> Plain:
    """The results of a chunk as plain data; messages by the number of their run."""
    messages = {str(chunk.first + k): text for k, text in enumerate(chunk.messages) if text}
    return {
        "first": chunk.first, "status": chunk.status.tolist(), "messages": messages,
        "results": {text: values.tolist() for text, values in chunk.results.items()},
    }  # fmt: skip


STUDY_TASKS: dict[str, Callable[[Order], Mapping[str, Any]]] = {"study_check": check_study, "study": make_study}

KNOWN = {**TASKS, **STUDY_TASKS}
POLITE = 5  # by how much others come first


def main() -> None:
    """Do tasks until the input ends."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print goes nowhere
    with suppress(AttributeError, OSError):
        os.nice(POLITE)
    warnings.simplefilter("ignore")
    for module in sys.argv[1:]:
        with suppress(ImportError):
            importlib.import_module(module)
    for line in sys.stdin.buffer:
        order = json.loads(line)
        try:
            answer: Any = {"answer": do_task(order, output)}
        except Exception as error:
            answer = {"error": describe_error(error)}
        _write(output, answer)


def do_task(order: dict[str, Any], output: BinaryIO) -> Mapping[str, Any]:
    """What one task answers."""

    def tell(share: float, words: str = "") -> None:
        _write(output, {"share": share, "words": words})

    def give(part: dict[str, Any]) -> None:
        _write(output, {"part": part})

    if order["task"] == "run_parts":
        return make_parts(order["fields"]["run"])
    if order["task"] not in KNOWN:
        raise Error(f"there is no task {order['task']!r:.40}")
    system = read_system(order["text"], order["place"], order["trust"])
    return KNOWN[order["task"]](Order(system, order["text"], order["fields"], tell, give))


@lru_cache(maxsize=1)
def read_system(text: str, place: str, trust: bool) -> System:
    """The system of a text that is whole; that of the last text is kept."""
    checked = check_text(text, Path(place), trust)
    if not checked.complete:
        problem = checked.problems[0]
        raise ModelError(problem.message, component=problem.component or None, field=problem.field or None)
    return checked.system


def _write(output: BinaryIO, told: dict[str, Any]) -> None:
    output.write(json.dumps(told).encode() + b"\n")
    output.flush()


if __name__ == "__main__":
    main()
