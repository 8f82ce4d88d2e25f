"""The tasks of the process that makes studies, each a function of an `Order`.

============  ======  ==============================================================================
task          fields  answer
============  ======  ==============================================================================
study_check   form    errors by field; if there are none: runs, seconds that they may take, a note
study         form    done; parts come before: the description, then each chunk of runs
============  ======  ==============================================================================
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, Error, find_close, suggest
from kinode.jit.thread_team import processors
from kinode.simulation.task_arguments import read_seconds
from kinode.studio.panes.derivation_tasks import DEFAULT_END, Order
from kinode.studio.studies_pane.study_choices import list_names
from kinode.studio.studies_pane.study_form import FieldError, FormAxis, Plain, StudyForm, read_form
from kinode.tasks.batches.reducers import BY_SIZE
from kinode.tasks.batches.run_rows import FAILED
from kinode.tasks.batches.value_sets import check_names, read_value
from kinode.tasks.studies.kept_results import read_kept
from kinode.tasks.studies.study_axes import FIELDS
from kinode.tasks.studies.study_chunks import ChunkResult, make_chunk
from kinode.tasks.studies.study_engines import open_engine
from kinode.tasks.studies.study_making import StudyMaking
from kinode.tasks.studies.study_plan import StudyWorker
from kinode.tasks.studies.study_setup import set_up_study

CHUNK_SECONDS = 0.25  # results appear so often
TELL_EVERY = 0.2  # s
LONGEST_TRIAL = 1.0  # s that a run may take to say how long all would take
BATCH_SECONDS, MOST_TRIED = 0.15, 64  # of short runs several are tried


def check_study(order: Order) -> Plain:
    """What is wrong with a form, or how long its runs would take."""
    form, errors = read_form(order.fields.get("form"))
    dynamics = find_compiled(order.system)
    errors += [each for each in check_fields(dynamics, form) if each.field not in {known.field for known in errors}]
    if errors:
        told = [{"field": each.field, "message": each.message} for each in errors]
        return {"errors": told, "runs": form.runs, "seconds": None, "note": ""}
    try:
        worker = _set_up(order, form)[0]
    except Error as error:
        return {"errors": [{"field": "axes", "message": str(error)}], "runs": form.runs, "seconds": None, "note": ""}
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
            errors.append(FieldError(f"keep.{k}", _words(error)))
    try:
        begin = read_seconds(dynamics, "t0", dynamics.system.run_defaults.get("t0", 0.0))
        if form.until and not read_seconds(dynamics, "until", form.until) > begin:
            raise ArgumentError(f"a time after the start, {begin:g} s, is expected")
    except Error as error:
        errors.append(FieldError("until", _words(error)))
    return errors


def _check_axis(dynamics: Dynamics, field: str, axis: FormAxis, form: StudyForm) -> list[FieldError]:
    system = dynamics.system
    if not axis.name:
        return []
    if axis.name in FIELDS and axis.name not in system.parameters and axis.name not in system.inputs:
        return [FieldError(f"{field}.name", f"{axis.name} is a setting of runs: kn.sweep varies it in Python")]
    try:
        check_names(dynamics, {axis.name: 0.0})
    except Error as error:
        near = find_close(axis.name, list_names(system))
        return [FieldError(f"{field}.name", suggest(_words(error), axis.name, near))]
    errors = []
    for word, text in axis.texts().items():
        try:
            read_value(dynamics, axis.name, text)
        except (Error, ValueError, TypeError) as error:
            errors.append(FieldError(f"{field}.{word.partition('.')[0]}", _words(error)))
    if not errors:
        try:
            given = axis.given(form.design)
            if not isinstance(given, list):
                given.numbers(axis.name, lambda value: read_value(dynamics, axis.name, value))
        except Error as error:
            errors.append(FieldError(f"{field}.second", _words(error)))
    return errors


def _words(error: BaseException) -> str:
    words = str(error).partition("\n")[0]
    return words.removeprefix("keep: ").removeprefix("of: ").removeprefix("over: ")


def _set_up(order: Order, form: StudyForm) -> tuple[StudyWorker, Any]:
    given = order.system.run_defaults
    end = None if "until" in given or "times" in given else float(given.get("t0", 0.0)) + DEFAULT_END
    return set_up_study(order.system, form.over(), form.until or end, **form.options())


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
    form, errors = read_form(order.fields.get("form"))
    errors += [] if errors else check_fields(find_compiled(order.system), form)
    if errors:
        raise ArgumentError(f"{errors[0].field}: {errors[0].message}")
    worker, times = _set_up(order, form)
    order.give({"description": describe_study(worker)})
    told = 0.0

    def goes_on(share: float) -> bool:
        nonlocal told
        if time.perf_counter() - told > TELL_EVERY:
            told = time.perf_counter()
            order.tell(share, "")
        return True

    with open_engine(worker, None, None) as engine:
        making = StudyMaking(worker, engine, times, goes_on, CHUNK_SECONDS)
        making.make(lambda chunk: order.give({"chunk": plain_chunk(chunk)}))
    return {"done": True}


def describe_study(worker: StudyWorker) -> Plain:
    """What the runs of a study have, before any is made."""
    design = worker.plan.design
    return {
        "dims": [{"name": name, "length": length} for name, length in design.dims.items()],
        "axes": [
            {"name": axis.name, "title": axis.title, "unit": axis.unit, "dim": dim, "values": values}
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


STUDY_TASKS: dict[str, Callable[[Order], Plain]] = {"study_check": check_study, "study": make_study}
