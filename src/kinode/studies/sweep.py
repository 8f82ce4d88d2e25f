"""``kn.sweep``: many runs of a model, over what varies, with a bar, in memory or into a store; and what it takes.

The arguments become a plan, whose chunks are made by workers.  Further runs of the same study are made in whole
matrices: ``study.evaluate(X)``.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_system import RECURSIVE_NAME, Dynamics
from kinode.errors import ArgumentError, Error
from kinode.model.system import System
from kinode.simulation.input_courses import read_courses
from kinode.simulation.progress_bar import Progress
from kinode.simulation.run_arguments import find_output_times, read_row, read_seconds
from kinode.studies.axes import label_axes, read_axes, read_models, read_table
from kinode.studies.batch import check_names
from kinode.studies.design import Design, make_design
from kinode.studies.kept_results import read_all_kept
from kinode.studies.study import Coordinate, Study, compose_data
from kinode.studies.worker import NOT_RUN, ChunkResult, Engine, Span, StudyPlan, StudyWorker, make_chunk, open_engine
from kinode.tasks.simulate import check_fields, find_begin, read_task
from kinode.version import __version__

if TYPE_CHECKING:
    from kinode.studies.store import StudyStore


COURSE_SAMPLES = 501
"""Times of quantities over time, where the caller says nothing."""


CHUNK_SECONDS = 2.0
"""How long a worker has to do with one chunk."""
MOST_OF_CHUNK = 4096
"""Runs of a chunk, unless there are so many workers that larger ones are needed to keep them busy."""
HUB_SECONDS = 0.05
"""Wall time in s for which scheduler and store are busy with one chunk: ``benchmarks/million_runs.py`` measures it."""
CHUNKS_PER_WORKER = 4
"""At least so many chunks for each worker, so that none waits long for another at the end."""
MANY_WORKERS = 32
"""From so many on the hub may be what all wait for."""


def sweep(
    model: Any, over: Any, until: Any = None, *, keep: Any, design: str | None = None, n: int | None = None,
    seed: int = 0, start: Any = None, parameters: Any = None, inputs: Any = None, on: Any = None,
    workers: int | None = None,
    store: str | os.PathLike[str] | None = None, resume: bool = True, progress: Any = None,
    formulation: str = RECURSIVE_NAME, **fields: Any,
) -> Study:  # fmt: skip
    """Make many runs of a model, and keep of each what is asked for.

    Parameters
    ----------
    model : System, Dynamics, str or path, or None
        The model; None where whole models are an axis of ``over``, named ``model``.
    over : mapping, DataFrame or list of mappings
        What varies, by name: parameters, inputs, initial values ("elbow.q"), arguments of ``kn.simulate`` (method,
        step, rtol, atol, max_step, until, t0), or ``model``. For each a list of values, in SI units or as texts with a
        unit; or how values are drawn: ``kn.normal``, ``kn.uniform``, ``kn.between``. Lists make a grid; a table has
        one row for each run.
    until : float or str, optional
        End of the runs in s, or text with a unit.
    keep : str, function, or list of them
        What is kept of each run: a quantity over time ("crank.q"); a number ("main.reaction.force|peak", least, mean,
        rms, final, time_of_peak, quantile(0.95); "main.reaction.force|order(2)"; "shaft|life(25 kN, -15 cm, 15 cm)");
        or a Python function of the run that gives a number. A vector counts by its magnitude.
    design : {"grid", "rows", "random", "latin", "sobol"}, optional
        How values are chosen; a grid, or random samples where values are drawn. With "rows" the lists of ``over`` are
        columns of a table.
    n : int, optional
        How many samples; of a grid with ``kn.between`` how many values of such an axis.
    seed : int, default 0
        Another number gives other samples.
    start : mapping, State, Assembly, Equilibrium or Trajectory, optional
        The start that all runs have in common, as in ``kn.simulate``.
    parameters, inputs : mapping, optional
        Values that all runs have in common, by name; courses of inputs over time as in ``kn.simulate``.
    on : {"threads", "processes"}, str, Client or Executor, optional
        Where runs are made: threads of this process (default), other processes, a Dask cluster ("tcp://host:8786" or
        its Client), or any executor of ``concurrent.futures``.
    workers : int, optional
        How many threads or processes; one for each processor.
    store : path, optional
        A Zarr store, in which every chunk of runs is kept as soon as it is made; needs zarr.
    resume : bool, default True
        Whether a study that is in the store already goes on where it ended.
    progress : bool or function, optional
        Whether a bar is shown, by default on a terminal after a second; or a function that is given the fraction done
        and may return False to end the study.
    formulation : str, optional
        As in ``kn.compile``.
    **fields
        As in ``kn.simulate``: t0, times, samples, every, method, step, rtol, atol, stop_when, max_step.

    Returns
    -------
    Study
        Results by name; a run that failed has a status and a message. After Ctrl-C it has what is done.

    Raises
    ------
    ArgumentError
        A name, a value or a field is wrong, or the store holds another study.
    Error
        The store cannot be written, or another process makes the runs of its study; what is in it stays.

    Examples
    --------
    >>> over = {"pivot.q": ["10 deg", "20 deg", "30 deg"]}
    >>> study = kn.sweep("examples/pendulum.yaml", over, 1.0, keep=["pivot.reaction.force|peak", "pivot.u|rms"])
    >>> study["pivot.reaction.force|peak"].shape
    (3,)
    """
    worker, times = set_up_study(
        model, over, until, keep=keep, design=design, n=n, seed=seed, start=start, parameters=parameters,
        inputs=inputs, formulation=formulation, **fields,
    )  # fmt: skip
    with open_engine(worker, on, workers) as engine:
        if store is None:
            study = _make_in_memory(worker, engine, times, progress)
        else:
            from kinode.studies.store import StudyStore

            study = _make_in_store(worker, engine, times, progress, StudyStore(store), resume)
    study.evaluation = partial(_evaluate, worker, on, workers)
    return study


def _evaluate(worker: StudyWorker, on: Any, workers: int | None, study: Study, X: Any) -> Array:
    """The single numbers of runs with other values, one row for each run."""
    rows = np.atleast_2d(np.asarray(X, dtype=float))
    names = study.names
    if rows.ndim != 2 or rows.shape[1] != len(names):
        raise ArgumentError(f"evaluate: rows of {len(names)} values are expected, of {', '.join(names)}")
    known = {axis.title: axis for axis in worker.plan.design.axes}
    others = [title for title in known if title not in names]
    if others:
        raise ArgumentError(f"evaluate: {others[0]} has no numbers for values; make a study without it")
    axes = [replace(known[name], values=rows[:, k].tolist(), spread=None) for k, name in enumerate(names)]
    other = StudyWorker(replace(worker.plan, design=make_design(axes, "rows", None, 0)), worker.dynamics)
    results = np.full((len(rows), len(study.scalars)), np.nan)

    def take(result: ChunkResult) -> None:
        span = slice(result.first, result.first + len(result))
        for k, text in enumerate(study.scalars):
            results[span, k] = result.results[text]

    with open_engine(other, on, workers) as engine:
        size = max(1, min(256, -(-len(rows) // (4 * engine.workers))))
        engine.make(iter(_find_spans(len(rows), size)), take, lambda done: True)
    return results


def set_up_study(
    model: Any, over: Any, until: Any = None, *, keep: Any, design: str | None = None, n: int | None = None,
    seed: int = 0, start: Any = None, parameters: Any = None, inputs: Any = None, formulation: str = RECURSIVE_NAME,
    **fields: Any,
) -> tuple[StudyWorker, Array]:  # fmt: skip
    """What makes the runs of a study, and the times of what is kept over time; the arguments are those of `sweep`."""
    check_fields("sweep", fields)
    columns, is_table = read_table(over)
    models, names = read_models(model, columns)
    compiled = [each if isinstance(each, Dynamics) else find_compiled(each, formulation) for each in models]
    taken = [each.text for each in read_all_kept(compiled[0].system, keep, 0)]
    axes = label_axes(read_axes(compiled, names, columns, model is None), taken)
    chosen = make_design(axes, "rows" if is_table and design is None else design, n, _check_seed(seed))
    fields = {name: value for name, value in fields.items() if value is not None and name not in chosen.roles}
    times, fields = _find_times(compiled[0], chosen, until, keep, start, fields)
    wanted = (keep,) if isinstance(keep, str) or callable(keep) else tuple(keep)
    systems = tuple(each.system for each in compiled)
    common = {**(parameters or {}), **read_courses(compiled[0], inputs or {})}
    check_names(compiled[0], common)
    form = compiled[0].formulation
    plan = StudyPlan(systems, tuple(names), until, start, fields, wanted, len(times), chosen, common, form)
    return StudyWorker(plan, compiled), times


def _check_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ArgumentError(f"seed: a whole number from 0 is expected, not {seed!r}")
    return int(seed)


def _find_times(
    dynamics: Dynamics, design: Design, until: Any, keep: Any, start: Any, fields: dict[str, Any]
) -> tuple[Array, dict[str, Any]]:
    """The times of what is kept over time, and the fields that ask for them."""
    kept = read_all_kept(dynamics.system, keep, 0)
    if not any(each.size for each in kept):
        return np.zeros(0), fields
    varying = [name for name in ("until", "t0") if name in design.roles]
    if varying:
        course = next(each.text for each in kept if each.size)
        raise ArgumentError(f"keep: {course} over time needs the same times in all runs, and {varying[0]} varies")
    first = design.rows(0, 1)[0]
    task = read_task(dynamics, until, **fields, **{k: v for k, v in first.items() if design.roles[k] == "field"})
    if start is None or isinstance(start, Mapping):
        begin = read_seconds(dynamics, "t0", fields.get("t0", task.defaults.get("t0", 0.0)))
    else:
        begin = find_begin(task, start, read_row(dynamics, "p", None), read_row(dynamics, "inputs", None)).state.t
    end = read_seconds(dynamics, "until", task.until)
    times = find_output_times(dynamics, task.defaults, task.requested, begin, end)
    if times is not None:
        return times, fields
    fields = {**fields, "samples": COURSE_SAMPLES}
    return np.linspace(begin, end, COURSE_SAMPLES), fields


def choose_chunk(
    runs: int, seconds: float, workers: int, sharing: int = 1, chunk_seconds: float = CHUNK_SECONDS
) -> int:
    """Runs of a chunk, for runs of so many seconds on so many workers, some of which share a chunk.

    A chunk takes some seconds, and every worker has several.  Where so many workers finish chunks faster than the hub
    (scheduler and store) takes them, chunks are larger: the whole then takes least time where a chunk takes a worker as
    long as all chunks take the hub.

    Examples
    --------
    >>> from kinode.studies.sweep import choose_chunk
    >>> choose_chunk(1000, 0.004, 2), choose_chunk(10**9, 0.004, 10_000)
    (125, 111803)
    """
    seconds = max(seconds, 1e-9)
    share = -(-runs * sharing // (CHUNKS_PER_WORKER * workers))
    chunk = max(1, min(int(chunk_seconds * sharing / seconds), share, MOST_OF_CHUNK, runs))
    if workers >= MANY_WORKERS and runs / chunk * HUB_SECONDS > runs * seconds / workers:
        chunk = max(chunk, min(runs, int((runs * HUB_SECONDS / seconds) ** 0.5)))
    return chunk


def make_runs(
    worker: StudyWorker, engine: Engine, take: Callable[[ChunkResult], None], progress: Any = None,
    chunk_seconds: float = CHUNK_SECONDS,
) -> None:  # fmt: skip
    """Make all runs of a study, and give each chunk to ``take`` as soon as it is made.

    A worker has to do with one chunk for ``chunk_seconds`` s; ``progress`` is that of `sweep`.
    """
    size = _find_chunk(worker, engine, chunk_seconds)
    _make_spans(worker, engine, _find_spans(len(worker.plan.design), size), take, progress)


def _find_spans(runs: int, size: int) -> Iterable[Span]:
    return ((first, min(first + size, runs)) for first in range(0, runs, size))


def _make_spans(
    worker: StudyWorker, engine: Engine, spans: Iterable[Span], take: Callable[[ChunkResult], None], progress: Any,
    before: int = 0,
) -> None:  # fmt: skip
    """Make the chunks; Ctrl-C, or a function that says so, ends the study with what is done."""
    runs, done, began = len(worker.plan.design), before, time.perf_counter()

    def words(now: float) -> str:
        seconds = time.perf_counter() - began
        rate = (now - before) / seconds if seconds > 0.0 else 0.0
        return f"{now:.0f} of {runs} runs, {rate:.3g}/s"

    with Progress(0.0, float(runs), progress, words) as bar:

        def took(result: ChunkResult) -> None:
            nonlocal done
            take(result)
            done += len(result)

        try:
            engine.make(iter(spans), took, lambda more: bar(float(done + more)))
        except KeyboardInterrupt:
            return


def _find_chunk(worker: StudyWorker, engine: Engine, chunk_seconds: float = CHUNK_SECONDS) -> int:
    """Runs of a chunk that lasts or travels: some seconds of work, and several chunks for each worker."""
    seconds, design = 0.0, worker.plan.design
    for _ in range(2):  # the first compiles
        began = time.perf_counter()
        make_chunk(worker, 0, design.rows(0, 1))
        seconds = time.perf_counter() - began
        if seconds > chunk_seconds:
            break
    return choose_chunk(len(design), seconds, engine.workers, engine.sharing, chunk_seconds)


def _list_coordinates(design: Design) -> list[Coordinate]:
    return [(axis.title, axis.unit, dim, values) for axis, dim, values in design.coordinates()]


def _find_notes(worker: StudyWorker, times: Array) -> list[str]:
    if len(times) and worker.plan.fields.get("samples") == COURSE_SAMPLES:
        return [f"All results are taken from {COURSE_SAMPLES} times of each run: a quantity over time is kept."]
    return []


def _make_in_memory(worker: StudyWorker, engine: Engine, times: Array, progress: Any) -> Study:
    """The study, its results in memory."""
    design, kept = worker.plan.design, worker.kept
    results = {each.text: np.full((len(design), *each.size), np.nan) for each in kept}
    status, messages = np.zeros(len(design), dtype=np.int8), [""] * len(design)

    def take(result: ChunkResult) -> None:
        span = slice(result.first, result.first + len(result))
        for text, values in result.results.items():
            results[text][span] = values
        status[span], messages[span] = result.status, result.messages

    in_one = engine.sharing == engine.workers  # nothing travels, and nothing lasts
    size = min(MOST_OF_CHUNK, len(design)) if in_one else _find_chunk(worker, engine)
    _make_spans(worker, engine, _find_spans(len(design), size), take, progress)
    told = [(each.text, each.unit, results[each.text]) for each in kept]
    data = compose_data(design.dims, _list_coordinates(design), times.tolist(), told, status, messages)
    return Study(data, [each.text for each in kept], [axis.title for axis in design.axes], _find_notes(worker, times))


def _make_in_store(
    worker: StudyWorker, engine: Engine, times: Array, progress: Any, store: StudyStore, resume: bool
) -> Study:
    """The study in a store, which goes on where it ended."""
    from kinode.studies.store import read_store

    if store.exists and not resume:
        raise ArgumentError(f"store: {store.path} is there already; remove it, or let the study go on")
    design, identity = worker.plan.design, _identify(worker.plan)
    with store.reserve():
        chunk = store.chunk if store.find(identity) else _find_chunk(worker, engine)
        about = {"dims": design.dims, "coordinates": _list_coordinates(design)}
        description = {**about, "times": times.tolist(), "notes": _find_notes(worker, times)}
        store.create(worker.kept, len(design), chunk, identity, description)
        stored = store.read()
        missing = stored.status == NOT_RUN
        spans = [span for span in _find_spans(len(design), chunk) if missing[slice(*span)].any()]
        if not spans:
            return read_store(store, stored)
        before = len(design) - sum(last - first for first, last in spans)
        _make_spans(worker, engine, spans, lambda result: store.write(worker.kept, result), progress, before)
        study = read_store(store)
    if stored.damage:
        study.notes = (*study.notes, f"{store.path}: {stored.damage}, which were made again.")
    return study


def _identify(plan: StudyPlan) -> dict[str, str]:
    """What must be the same for a study to go on."""
    told = repr((sorted(plan.fields.items()), sorted(plan.common.items())))
    return {
        "models": _digest([_write_model(system) for system in plan.models]),
        "design": plan.design.digest(),
        "keep": _digest([_write_kept(each) for each in plan.keep]),
        "fields": _digest([repr(plan.until), _write_start(plan.start), told, plan.formulation]),
        "kinode": __version__,
    }


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _write_model(system: System) -> str:
    """A model as text; one that no file can hold is refused: a store could not tell it from another."""
    from kinode.formats import yaml_files

    try:
        return yaml_files.dumps(system)
    except Error as error:
        raise ArgumentError(
            f"store: {system.name} cannot be written as text, so it cannot be known again: {error}"
        ) from None


def _write_kept(wanted: Any) -> str:
    """What is kept, as text; a function by its code, so that another one of its name is not taken for it."""
    if isinstance(wanted, str):
        return wanted
    code = getattr(wanted, "__code__", None)
    if code is None:
        name = getattr(wanted, "__name__", type(wanted).__name__)
        raise ArgumentError(f"keep: {name} is no plain function, and a store could not know it again")
    told = (getattr(wanted, "__defaults__", None), [cell.cell_contents for cell in wanted.__closure__ or ()])
    return f"{wanted.__module__}.{wanted.__qualname__} {_write_code(code)} {told!r}"


def _write_code(code: CodeType) -> str:
    """What a function computes, without the place where it stands."""
    inner = [_write_code(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts]
    return repr((code.co_code.hex(), code.co_names, inner))


def _write_start(start: Any) -> str:
    if start is None or isinstance(start, Mapping):
        return repr(start)
    state = getattr(start, "end", getattr(start, "state", start))
    return repr((float(state.t), np.asarray(state.y).tolist()))
