"""The workers of a study: their plan, chunks of runs, and where they work: threads, processes, or a cluster.

A plan, made from the arguments of ``kn.sweep``, holds the models, the design and what is kept.  Pickled once, it is a
few kilobytes; a worker opens it once and keeps it, compiles each model once, and is then given numbers of runs.  A
chunk is some seconds of runs, whose results travel together.

All but threads of this process are executors in the sense of ``concurrent.futures``: a pool of processes, Dask's own
for a cluster, or one that the caller has.  A worker that dies costs its chunk, which is made again; a chunk that kills
its workers again and again is given up, and its runs say so.
"""

from __future__ import annotations

import hashlib
import itertools
import multiprocessing
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_system import RECURSIVE_NAME, Dynamics
from kinode.errors import ArgumentError, Error
from kinode.jit.threads import processors
from kinode.model.system import System
from kinode.studies.batch import Batch, RowMaker, RunRow, Values, fail_row
from kinode.studies.design import Design, list_rows
from kinode.studies.fast.fast_runs import FastRuns
from kinode.studies.kept_results import Kept, read_all_kept
from kinode.tasks.simulate import RunTask, read_task

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
            return self._maker(*self._find_key(values)).make(index, self._own(values), progress)
        except Error as error:  # of the fields
            return fail_row(index, values, self.kept, str(error))

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


MOST_ATTEMPTS = 3
"""How often a chunk is tried whose worker died."""
MOST_WAITING = 256
"""Chunks that an executor of others is given at a time; with more workers, two for each, as a pool of kinode's own."""
POLL = 0.2
"""Seconds between two looks at whether the study goes on."""
CLUSTER_EXTRA = "a cluster needs dask: pip install 'kinode[cluster]'"

Span = tuple[int, int]
Take = Callable[[ChunkResult], None]
GoesOn = Callable[[int], bool]
"""Given the runs that are done of the chunk under way; False ends the study."""


class Engine(NamedTuple):
    """Where chunks are made."""

    make: Callable[[Iterator[Span], Take, GoesOn], None]
    """Makes the chunks, in any order, and gives each to ``Take`` in this thread."""
    workers: int
    sharing: int = 1
    """Workers that make a chunk together."""


def _make_in_threads(worker: StudyWorker, threads: int, spans: Iterator[Span], take: Take, goes_on: GoesOn) -> None:
    """One chunk after the other, each in all threads: the loops are machine code, and release Python's lock."""
    for first, last in spans:
        result = make_chunk(worker, first, worker.plan.design.rows(first, last), threads, goes_on)
        take(result)
        if result.left:
            return


class _ExecutorTeam:
    """Makes chunks by an executor in the sense of ``concurrent.futures``.

    Parameters
    ----------
    worker : StudyWorker
        The plan, and what is kept.
    executor : Executor
    workers : int
        How many tasks it works on at a time.
    renew : function, optional
        Makes a new executor in the place of one that broke.
    """

    def __init__(
        self, worker: StudyWorker, executor: Executor, workers: int, renew: Callable[[], Executor] | None = None
    ) -> None:
        self.worker, self.executor, self.renew = worker, executor, renew
        self.window = max(MOST_WAITING if renew is None else 0, 2 * workers)
        self._packed = worker.plan.pack()

    def make(self, spans: Iterator[Span], take: Take, goes_on: GoesOn) -> None:
        """Keep the executor busy until all chunks are made.

        Where a pool broke, all that it had is suspected.  Suspects are tried one at a time, so that the one which kills
        its worker is found, and no other is given up for it.
        """
        under_way: dict[Future[ChunkResult], Span] = {}
        suspects: list[Span] = []
        attempts: dict[Span, int] = {}
        try:
            while True:
                for span in self._find_next(spans, suspects, len(under_way)):
                    values = self.worker.plan.design.columns(*span)
                    under_way[self.executor.submit(make_packed_chunk, self._packed, span[0], values)] = span
                if not under_way:
                    return
                done, _ = wait(under_way, timeout=POLL, return_when=FIRST_COMPLETED)
                lost, error = self._take_done(done, under_way, take)
                if len(lost) == 1:
                    attempts[lost[0]] = attempts.get(lost[0], 0) + 1
                    if attempts[lost[0]] >= MOST_ATTEMPTS:
                        words = f"the worker died {MOST_ATTEMPTS} times at this chunk: {error}"
                        take(fail_chunk(self.worker.kept, *lost.pop(), words))
                suspects += lost
                if not goes_on(0):
                    return
        finally:
            for future in under_way:
                future.cancel()

    def _find_next(self, spans: Iterator[Span], suspects: list[Span], under_way: int) -> Iterator[Span]:
        """The chunks that are to begin now."""
        if suspects:
            if not under_way:
                yield suspects.pop(0)
            return
        yield from itertools.islice(spans, max(0, self.window - under_way))

    def _take_done(
        self, done: set[Future[ChunkResult]], under_way: dict[Future[ChunkResult], Span], take: Take
    ) -> tuple[list[Span], BaseException | None]:
        """Take the results that came; the spans whose worker was lost, and the reason."""
        lost: list[Span] = []
        reason: BaseException | None = None
        for future in done:
            span = under_way.pop(future)
            error = CancelledError("the task was cancelled") if future.cancelled() else future.exception()
            if error is None:
                take(future.result())
            elif _is_lost(error):
                lost.append(span)
                reason = error
            else:
                raise error
        if isinstance(reason, BrokenExecutor):  # all that it had is lost
            if self.renew is None:
                raise Error(f"on: the executor broke: {reason}")
            lost += under_way.values()
            under_way.clear()
            self.executor = self.renew()
        return lost, reason


def _is_lost(error: BaseException) -> bool:
    """Whether an error says that a worker died."""
    return isinstance(error, BrokenExecutor | CancelledError) or type(error).__name__ == "KilledWorker"  # of dask


@contextmanager
def open_engine(worker: StudyWorker, on: Any, workers: int | None) -> Iterator[Engine]:
    """The engine that the argument ``on=`` of ``kn.sweep`` means; what was opened here is closed at the end."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise ArgumentError(f"workers: a number from 1 is expected, not {workers!r}")
    if on is None or on == "threads":
        count = workers or processors()
        yield Engine(partial(_make_in_threads, worker, count), count, count)
    elif on == "processes":
        count = workers or processors()
        team = _ExecutorTeam(worker, _make_pool(count), count, lambda: _make_pool(count))
        try:
            yield Engine(team.make, count)
        finally:
            team.executor.shutdown(wait=True, cancel_futures=True)
    elif isinstance(on, str):
        with _open_client(on) as client:
            yield _make_cluster_engine(worker, client)
    elif hasattr(on, "get_executor"):
        yield _make_cluster_engine(worker, on)
    elif isinstance(on, Executor) or hasattr(on, "submit"):
        count = workers or int(getattr(on, "_max_workers", 0)) or processors()
        yield Engine(_ExecutorTeam(worker, on, count).make, count)
    else:
        raise ArgumentError(f"on: threads, processes, the address of a cluster or an executor, not {on!r:.60}")


def _make_pool(count: int) -> Executor:
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))


@contextmanager
def _open_client(address: str) -> Iterator[Any]:
    known = ("threads", "processes")
    if "://" not in address:
        raise ArgumentError(f"on: {address!r} is none of {', '.join(known)}, and no address such as tcp://host:8786")
    try:
        from distributed import Client
    except ImportError:
        raise ArgumentError(f"on: {address}: {CLUSTER_EXTRA}") from None
    try:
        client = Client(address, timeout="20s")
    except (OSError, ValueError) as error:
        raise ArgumentError(f"on: {address}: the cluster does not answer: {error}") from None
    try:
        yield client
    finally:
        client.close()


def _make_cluster_engine(worker: StudyWorker, client: Any) -> Engine:
    """Dask's own executor; each worker has as many tasks at a time as it has threads."""
    threads: Sequence[int] = list(client.nthreads().values())
    executor, count = client.get_executor(pure=False, retries=MOST_ATTEMPTS - 1), sum(threads) or 1
    return Engine(_ExecutorTeam(worker, executor, count).make, count)
