"""``kn.sweep``: many runs of a model, over what varies."""

from __future__ import annotations

import hashlib
import os
import pickle
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_formulations import RECURSIVE_NAME
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, Error
from kinode.simulation.output_times import find_output_times
from kinode.simulation.progress_bar import Progress
from kinode.simulation.task_arguments import read_seconds
from kinode.tasks.batches.value_sets import check_names
from kinode.tasks.simulate import read_task
from kinode.tasks.studies.kept_results import keeps_courses, read_all_kept
from kinode.tasks.studies.study import Study
from kinode.tasks.studies.study_axes import label_axes, read_axes, read_models, read_table
from kinode.tasks.studies.study_chunks import NOT_RUN, ChunkResult, make_chunk
from kinode.tasks.studies.study_design import Design, make_design
from kinode.tasks.studies.study_engines import Engine, Span, open_engine
from kinode.tasks.studies.study_evaluation import StudyEvaluation
from kinode.tasks.studies.study_files import compose_data, read_store
from kinode.tasks.studies.study_plan import StudyPlan, StudyWorker
from kinode.tasks.studies.study_store import StudyStore
from kinode.version import __version__

COURSE_SAMPLES = 501
"""Times of quantities over time, where the caller says nothing."""
CHUNK_SECONDS = 2.0
"""How long a worker has to do with one chunk."""
MOST_OF_CHUNK = 4096
"""Runs of a chunk."""
CHUNKS_PER_WORKER = 4
"""At least so many chunks for each worker, so that none waits long for another at the end."""
FIELDS = ("t0", "times", "samples", "every", "method", "step", "rtol", "atol", "stop_when", "max_step")


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
        Values that all runs have in common, by name.
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

    Examples
    --------
    >>> over = {"pivot.q": ["10 deg", "20 deg", "30 deg"]}
    >>> study = kn.sweep("examples/pendulum.yaml", over, 1.0, keep=["pivot.reaction.force|peak", "pivot.u|rms"])
    >>> study["pivot.reaction.force|peak"].shape
    (3,)
    """
    for name in fields:
        if name not in FIELDS:
            raise ArgumentError(f"sweep: {name} is no argument of it; those of a run are {', '.join(FIELDS)}")
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
    common = {**(parameters or {}), **(inputs or {})}
    check_names(compiled[0], common)
    form = compiled[0].formulation
    plan = StudyPlan(systems, tuple(names), until, start, fields, wanted, len(times), chosen, common, form)
    worker = StudyWorker(plan, compiled)
    with open_engine(worker, on, workers) as engine:
        making = _Making(worker, engine, times, progress)
        study = making.in_memory() if store is None else making.in_store(StudyStore(store), resume)
    study.evaluation = StudyEvaluation(worker, on, workers)
    return study


def _check_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ArgumentError(f"seed: a whole number from 0 is expected, not {seed!r}")
    return int(seed)


def _find_times(
    dynamics: Dynamics, design: Design, until: Any, keep: Any, start: Any, fields: dict[str, Any]
) -> tuple[Array, dict[str, Any]]:
    """The times of what is kept over time, and the fields that ask for them."""
    kept = read_all_kept(dynamics.system, keep, 0)
    if not keeps_courses(kept):
        return np.zeros(0), fields
    varying = [name for name in ("until", "t0") if name in design.roles]
    if varying:
        course = next(each.text for each in kept if each.size)
        raise ArgumentError(f"keep: {course} over time needs the same times in all runs, and {varying[0]} varies")
    first = design.rows(0, 1)[0]
    task = read_task(dynamics, until, **fields, **{k: v for k, v in first.items() if design.roles[k] == "field"})
    by_name = start is None or isinstance(start, Mapping)
    t0 = fields.get("t0", task.defaults.get("t0") if by_name else None)
    begin = read_seconds(dynamics, "t0", t0) if t0 is not None else getattr(start, "t", 0.0) if not by_name else 0.0
    begin = float(np.asarray(begin).reshape(-1)[-1])
    end = read_seconds(dynamics, "until", task.until)
    times = find_output_times(dynamics, task.defaults, task.requested, begin, end)
    if times is not None:
        return times, fields
    fields = {**fields, "samples": COURSE_SAMPLES}
    return np.linspace(begin, end, COURSE_SAMPLES), fields


class _Making:
    """The making of a study's runs: in chunks, with a bar, in memory or into a store."""

    def __init__(self, worker: StudyWorker, engine: Engine, times: Array, progress: Any) -> None:
        self.worker, self.engine, self.times, self.progress = worker, engine, times, progress
        self.design, self.kept = worker.plan.design, worker.kept
        self.runs = len(self.design)
        self.notes = self._find_notes()

    def _find_notes(self) -> list[str]:
        if len(self.times) and self.worker.plan.fields.get("samples") == COURSE_SAMPLES:
            return [f"All results are taken from {COURSE_SAMPLES} times of each run: a quantity over time is kept."]
        return []

    def in_memory(self) -> Study:
        """The study, its results in memory."""
        results = {each.text: np.full((self.runs, *each.size), np.nan) for each in self.kept}
        status, messages = np.zeros(self.runs, dtype=np.int8), [""] * self.runs

        def take(result: ChunkResult) -> None:
            span = slice(result.first, result.first + len(result))
            for text, values in result.results.items():
                results[text][span] = values
            status[span], messages[span] = result.status, result.messages

        size = self._find_chunk()
        self._make(((first, min(first + size, self.runs)) for first in range(0, self.runs, size)), 0, take)
        told = [(each.text, each.unit, results[each.text]) for each in self.kept]
        coordinates = [(axis.title, axis.unit, dim, values) for axis, dim, values in self.design.coordinates()]
        data = compose_data(self.design.dims, coordinates, self.times.tolist(), told, status, messages)
        return Study(data, [each.text for each in self.kept], [axis.title for axis in self.design.axes], self.notes)

    def in_store(self, store: StudyStore, resume: bool) -> Study:
        """The study in a store, which goes on where it ended."""
        identity = self._identity()
        if store.exists:
            if not resume:
                raise ArgumentError(f"store: {store.path} is there already; remove it, or let the study go on")
            store.open(identity)
        else:
            coordinates = [(axis.title, axis.unit, dim, values) for axis, dim, values in self.design.coordinates()]
            description = {
                "dims": self.design.dims, "coordinates": coordinates, "times": self.times.tolist(), "notes": self.notes,
            }  # fmt: skip
            store.create(self.kept, self.runs, self._find_chunk(), identity, description)
        open_spans, missing = self._find_missing(store)
        if missing:
            self._make(open_spans, self.runs - missing, lambda result: store.write(self.kept, result))
        return read_store(store)

    def _find_missing(self, store: StudyStore) -> tuple[Iterator[Span], int]:
        """The chunks that are not done, and how many runs they have."""
        status, size = store.status, store.chunk
        firsts = [first for first in range(0, self.runs, size) if (status[first : first + size] == NOT_RUN).any()]
        spans = [(first, min(first + size, self.runs)) for first in firsts]
        return iter(spans), sum(last - first for first, last in spans)

    def _make(self, spans: Iterator[Span], before: int, take: Any) -> None:
        """Make the chunks; Ctrl-C, or a function that says so, ends the study with what is done."""
        done = before
        began = time.perf_counter()

        def words(now: float) -> str:
            seconds = time.perf_counter() - began
            rate = (now - before) / seconds if seconds > 0.0 else 0.0
            return f"{now:.0f} of {self.runs} runs, {rate:.3g}/s"

        with Progress(0.0, float(self.runs), self.progress, words) as bar:

            def took(result: ChunkResult) -> None:
                nonlocal done
                take(result)
                done += len(result)

            try:
                self.engine.make(spans, took, lambda more: bar(float(done + more)))
            except KeyboardInterrupt:
                return

    def _find_chunk(self) -> int:
        """Runs of a chunk: some seconds of work, and several chunks for each worker."""
        share = -(-self.runs // (CHUNKS_PER_WORKER * self.engine.workers))
        began, count = time.perf_counter(), 1
        seconds = CHUNK_SECONDS
        for _ in range(2):  # the first compiles
            make_chunk(self.worker, 0, 1)
            seconds, began = time.perf_counter() - began, time.perf_counter()
            if seconds > CHUNK_SECONDS:
                break
        count = int(CHUNK_SECONDS * (self.engine.workers if self._together else 1) / max(seconds, 1e-9))
        return max(1, min(MOST_OF_CHUNK, count, self.runs if self._together else share))

    @property
    def _together(self) -> bool:
        """Whether all workers work on one chunk, as threads do."""
        return not hasattr(self.engine, "executor")

    def _identity(self) -> dict[str, str]:
        """What must be the same for a study to go on."""
        plan = self.worker.plan
        told = repr((sorted(plan.fields.items()), sorted(plan.common.items())))
        return {
            "models": _digest([_write_model(system) for system in plan.models]),
            "design": self.design.digest(),
            "keep": _digest([getattr(each, "__name__", each) for each in plan.keep]),
            "fields": _digest([repr(plan.until), _write_start(plan.start), told, plan.formulation]),
            "kinode": __version__,
        }


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _write_model(system: Any) -> str:
    """A model as text; of one that no file can hold, what is sent to other processes."""
    from kinode.formats import yaml_files

    try:
        return yaml_files.dumps(system)
    except Error:
        return hashlib.sha256(pickle.dumps(system)).hexdigest()


def _write_start(start: Any) -> str:
    if start is None or isinstance(start, Mapping):
        return repr(start)
    state = getattr(start, "end", getattr(start, "state", start))
    return repr((float(state.t), np.asarray(state.y).tolist()))
