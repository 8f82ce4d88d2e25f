"""The worker of a study: its plan, as it travels to whoever makes the runs, and chunks of runs made together.

A plan, made from the arguments of ``kn.sweep``, holds the models, the design and what is kept.  Pickled once, it is a
few kilobytes; a worker opens it once and keeps it, compiles each model once, and is then given numbers of runs.  A
chunk is some seconds of runs, whose results travel together.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_system import RECURSIVE_NAME, Dynamics
from kinode.errors import ArgumentError, Error
from kinode.model.system import System
from kinode.simulation.input_courses import read_courses
from kinode.simulation.run_arguments import find_output_times, read_row, read_seconds
from kinode.studies.axes import label_axes, read_axes, read_models, read_table
from kinode.studies.batch import Batch
from kinode.studies.design import Design, list_rows, make_design
from kinode.studies.fast.fast_runs import FastRuns
from kinode.studies.kept_results import Kept, read_all_kept
from kinode.studies.run_rows import RowMaker, RunRow, Values, check_names, fail_row
from kinode.tasks.simulate import RunTask, check_fields, find_begin, read_task

COURSE_SAMPLES = 501
"""Times of quantities over time, where the caller says nothing."""


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


MOST_OPEN = 4
"""Plans that a worker keeps open."""


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """All that the runs of a study need.

    Attributes
    ----------
    models : tuple of System
        One, or those of the axis ``model``.
    names : tuple of str
        What the models are called.
    until, start, fields
        As in ``kn.simulate``; what varies is not among them.
    common : mapping
        Parameters and inputs that all runs have in common, by name.
    keep : tuple of str or function
    times : int
        Number of times of courses.
    design : Design
    formulation : str
    """

    models: tuple[System, ...]
    names: tuple[str, ...]
    until: Any
    start: Any
    fields: Mapping[str, Any]
    keep: tuple[Any, ...]
    times: int
    design: Design
    common: Mapping[str, Any]
    formulation: str = RECURSIVE_NAME

    def pack(self) -> bytes:
        """The plan as bytes, without values: a chunk comes with its own.

        Raises
        ------
        ArgumentError
            Something, which is named, cannot be sent to another process.
        """
        plan = replace(self, design=self.design.outline())
        try:
            return pickle.dumps(plan)
        except Exception as first:
            try:
                import cloudpickle  # comes with dask; takes functions that no module has
            except ImportError:
                raise self._refusal(first) from None
            try:
                packed: bytes = cloudpickle.dumps(plan)
                return packed
            except Exception as error:
                raise self._refusal(error) from None

    def _refusal(self, error: Exception) -> ArgumentError:
        """Which part cannot be sent."""
        parts: list[tuple[str, Any]] = [("start", self.start)]
        parts += [(f"keep: {getattr(each, '__name__', each)}", each) for each in self.keep]
        for system in self.models:
            for section in ("bodies", "joints", "elements", "parts", "signals", "functions", "tables"):
                entries = getattr(system, section, None)
                if isinstance(entries, Mapping):
                    parts += [(f"{system.name}: {name}", entry) for name, entry in entries.items()]
        culprit = next((name for name, part in parts if not _can_pack(part)), "the model")
        words = "cannot be sent to another process"
        return ArgumentError(f"{culprit} {words} ({error}); put its functions into a module, or use threads")


def _can_pack(part: Any) -> bool:
    try:
        pickle.dumps(part)
    except Exception:
        return False
    return True


class StudyWorker:
    """Makes the runs of a plan; several threads may call it at a time."""

    def __init__(self, plan: StudyPlan, compiled: Sequence[Dynamics] | None = None) -> None:
        self.plan = plan
        self.dynamics = tuple(compiled or (find_compiled(each, plan.formulation) for each in plan.models))
        self.kept: tuple[Kept, ...] = read_all_kept(self.dynamics[0].system, plan.keep, plan.times)
        """What is kept of each run."""
        self._makers: dict[Any, RowMaker] = {}
        self._lock = threading.Lock()
        for dynamics in self.dynamics:
            read_all_kept(dynamics.system, plan.keep, plan.times)
            dynamics.start.settle()

    def make(self, index: int, values: Values, progress: Callable[[float], Any] | None = None) -> RunRow | None:
        """The row of a run; None for a run that ``progress`` stopped."""
        try:
            row = self._maker(*self._find_key(values)).make(index, self._own(values), progress)
        except Error as error:  # of the fields
            return fail_row(index, values, self.kept, str(error))
        return None if row is None else RunRow(index, values, row.status, row.message, row.results, row.notes)

    def group(self, sets: Sequence[Values]) -> list[tuple[RowMaker, list[tuple[int, Values]]]]:
        """The runs of each model with the same fields, as number and values of its own; wrong fields are left out."""
        groups: dict[Any, list[int]] = {}
        of_values = {name for name, role in self._roles.items() if role == "value"}
        if len(of_values) == len(self._roles):  # all runs have the same model and fields
            groups[0, ()] = list(range(len(sets)))
        for k, values in enumerate(() if groups else sets):
            model, fields = self._find_key(values)
            groups.setdefault((model, tuple(sorted(fields.items()))), []).append(k)
        found = list[tuple[RowMaker, list[tuple[int, Values]]]]()
        for (model, fields), places in groups.items():
            with suppress(Error):  # each run says it
                found.append((self._maker(model, dict(fields)), [(k, self._own(sets[k])) for k in places]))
        return found

    @cached_property
    def _roles(self) -> dict[str, str]:
        return self.plan.design.roles

    def _find_key(self, values: Values) -> tuple[int, dict[str, Any]]:
        """The model of a run and its fields."""
        roles = self._roles
        model = next((self.plan.names.index(value) for name, value in values.items() if roles[name] == "model"), 0)
        return model, {name: value for name, value in values.items() if roles[name] == "field"}

    def _own(self, values: Values) -> dict[str, Any]:
        """The values of a run that are neither a model nor a field."""
        return {**self.plan.common, **{name: value for name, value in values.items() if self._roles[name] == "value"}}

    def _task(self, model: int, fields: Mapping[str, Any]) -> RunTask:
        arguments = {"until": self.plan.until, **self.plan.fields, **fields}
        return read_task(self.dynamics[model], arguments.pop("until"), **arguments)

    def _maker(self, model: int, fields: Mapping[str, Any]) -> RowMaker:
        key = model, *sorted(fields.items())
        with self._lock:
            if key not in self._makers:
                kept = read_all_kept(self.dynamics[model].system, self.plan.keep, self.plan.times)
                maker = RowMaker(self._task(model, fields), self.plan.start, kept)
                maker.check({name: 0.0 for name, role in self._roles.items() if role == "value"})
                self._makers[key] = maker
            return self._makers[key]


_OPEN_PLANS: OrderedDict[str, StudyWorker] = OrderedDict()
_OPENING = threading.Lock()


def open_plan(packed: bytes) -> StudyWorker:
    """The worker of a plan that came as bytes; a process opens each plan once."""
    digest = hashlib.sha256(packed).hexdigest()
    with _OPENING:
        if digest not in _OPEN_PLANS:
            _OPEN_PLANS[digest] = StudyWorker(pickle.loads(packed))
            while len(_OPEN_PLANS) > MOST_OPEN:
                _OPEN_PLANS.popitem(last=False)
        _OPEN_PLANS.move_to_end(digest)
        return _OPEN_PLANS[digest]


NOT_RUN, DONE, CONDITION, FAILURE = 0, 1, 2, 3
"""How a run of a study ended, as it is stored."""
STATUS_WORDS = ("not run", "done", "condition", "failed")
_CODES = {word: code for code, word in enumerate(STATUS_WORDS)}


@dataclass(frozen=True, eq=False)
class ChunkResult:
    """The results of the runs from ``first`` on.

    Attributes
    ----------
    first : int
    status : array
        A code for each run.
    messages : list of str
        How each run ended, in words; "" for one that was done.
    results : mapping of str to array
        (run, ...) by the text of what is kept.
    """

    first: int
    status: Array
    messages: list[str]
    results: Mapping[str, Array]

    def __len__(self) -> int:
        return len(self.status)

    @property
    def made(self) -> int:
        """How many runs were made."""
        return int((self.status != NOT_RUN).sum())

    @property
    def left(self) -> list[int]:
        """The places of the runs that are not made."""
        found: list[int] = np.flatnonzero(self.status == NOT_RUN).tolist()
        return found

    def put_kept(self, index: int, kept: Sequence[Any]) -> None:
        """Take over what is kept of a run that was done, in the order of the results."""
        for values, value in zip(self.results.values(), kept):
            values[index] = value
        self.status[index] = DONE

    def put(self, row: RunRow) -> None:
        """Take over what a run gave."""
        self.status[row.index] = _CODES[row.status]
        self.messages[row.index] = "; ".join(([row.message] if row.failed else []) + list(row.notes))
        for text, value in row.results.items():
            self.results[text][row.index] = value


def make_chunk(
    worker: StudyWorker, first: int, sets: Sequence[Values], threads: int = 1,
    goes_on: Callable[[int], bool] | None = None,
) -> ChunkResult:  # fmt: skip
    """Make runs with these values, from the first one's number on: what a compiled loop makes, then each that is left.

    Where ``goes_on``, given the number of runs that are done, says False, and after Ctrl-C, the others are left.
    """
    result = fail_chunk(worker.kept, first, first + len(sets), "", NOT_RUN)

    def look() -> bool:
        return goes_on is None or goes_on(result.made)

    try:
        for maker, rows in worker.group(sets):
            runs = FastRuns.find(maker, rows)
            if runs is not None and not runs.start(result.put_kept, threads).finish(look):
                return result
        batch = Batch(worker.make, sets, result.left, threads)
        try:
            for row in batch:
                result.put(row)
                if not look():
                    break
        finally:
            batch.cancel()
            batch.join()
    except KeyboardInterrupt:
        pass  # what is done is given; the caller sees that it is not all
    return result


def fail_chunk(kept: Sequence[Kept], first: int, last: int, message: str, status: int = FAILURE) -> ChunkResult:
    """A chunk without results: that of a maker that was lost, or one that is to be filled."""
    count = last - first
    nothing = {each.text: np.full((count, *each.size), np.nan) for each in kept}
    return ChunkResult(first, np.full(count, status, dtype=np.int8), [message] * count, nothing)


def make_packed_chunk(packed: bytes, first: int, columns: Mapping[str, Array]) -> ChunkResult:
    """The same in another process, from a plan as bytes and a column of values for each axis."""
    return make_chunk(open_plan(packed), first, list_rows(columns))
