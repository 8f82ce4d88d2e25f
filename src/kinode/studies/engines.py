"""Engines of a study: its runs in threads of this process, in other processes, or on the workers of a cluster.

All but threads are executors in the sense of ``concurrent.futures``: a pool of processes, Dask's own for a cluster, or
one that the caller has.  A task is a chunk of runs.  A worker that dies costs its chunk, which is made again; a chunk
that kills its workers again and again is given up, and its runs say so.  The runs are made with a bar, in memory or
into a store.
"""

from __future__ import annotations

import hashlib
import itertools
import multiprocessing
import time
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
from contextlib import contextmanager
from types import CodeType
from typing import Any, Protocol

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, Error
from kinode.jit.threads import processors
from kinode.model.system import System
from kinode.simulation.progress_bar import Progress
from kinode.studies.store import Coordinate, StudyStore, compose_data, read_store
from kinode.studies.study import Study
from kinode.studies.worker import (
    COURSE_SAMPLES,
    NOT_RUN,
    ChunkResult,
    StudyWorker,
    fail_chunk,
    make_chunk,
    make_packed_chunk,
)
from kinode.version import __version__

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


def choose_chunk(
    runs: int, seconds: float, workers: int, sharing: int = 1, chunk_seconds: float = CHUNK_SECONDS
) -> int:
    """Runs of a chunk, for runs of so many seconds on so many workers, some of which share a chunk.

    A chunk takes some seconds, and every worker has several.  Where so many workers finish chunks faster than the hub
    (scheduler and store) takes them, chunks are larger: the whole then takes least time where a chunk takes a worker as
    long as all chunks take the hub.

    Examples
    --------
    >>> from kinode.studies.engines import choose_chunk
    >>> choose_chunk(1000, 0.004, 2), choose_chunk(10**9, 0.004, 10_000)
    (125, 111803)
    """
    seconds = max(seconds, 1e-9)
    share = -(-runs * sharing // (CHUNKS_PER_WORKER * workers))
    chunk = max(1, min(int(chunk_seconds * sharing / seconds), share, MOST_OF_CHUNK, runs))
    if workers >= MANY_WORKERS and runs / chunk * HUB_SECONDS > runs * seconds / workers:
        chunk = max(chunk, min(runs, int((runs * HUB_SECONDS / seconds) ** 0.5)))
    return chunk


class StudyMaking:
    """Makes the runs of a study.

    Parameters
    ----------
    worker : StudyWorker
    engine : Engine
    times : array
        Of what is kept over time.
    progress : bool or function, optional
        As in `sweep`.
    chunk_seconds : float
        How long a worker has to do with one chunk, where chunks last, travel or are shown.
    """

    def __init__(
        self, worker: StudyWorker, engine: Engine, times: Array, progress: Any = None,
        chunk_seconds: float = CHUNK_SECONDS,
    ) -> None:  # fmt: skip
        self.worker, self.engine, self.times, self.progress = worker, engine, times, progress
        self._chunk_seconds = chunk_seconds
        self.design, self.kept = worker.plan.design, worker.kept
        self.runs = len(self.design)
        self.notes = self._find_notes()

    def _find_notes(self) -> list[str]:
        if len(self.times) and self.worker.plan.fields.get("samples") == COURSE_SAMPLES:
            return [f"All results are taken from {COURSE_SAMPLES} times of each run: a quantity over time is kept."]
        return []

    def make(self, take: Callable[[ChunkResult], None]) -> None:
        """Make all runs, and give each chunk to ``take`` as soon as it is made."""
        self._make(self._find_spans(lasting=True), 0, take)

    def _find_spans(self, lasting: bool) -> Iterator[Span]:
        size = self._find_chunk(lasting)
        return ((first, min(first + size, self.runs)) for first in range(0, self.runs, size))

    def in_memory(self) -> Study:
        """The study, its results in memory."""
        results = {each.text: np.full((self.runs, *each.size), np.nan) for each in self.kept}
        status, messages = np.zeros(self.runs, dtype=np.int8), [""] * self.runs

        def take(result: ChunkResult) -> None:
            span = slice(result.first, result.first + len(result))
            for text, values in result.results.items():
                results[text][span] = values
            status[span], messages[span] = result.status, result.messages

        self._make(self._find_spans(lasting=False), 0, take)
        told = [(each.text, each.unit, results[each.text]) for each in self.kept]
        data = compose_data(self.design.dims, self._coordinates(), self.times.tolist(), told, status, messages)
        return Study(data, [each.text for each in self.kept], [axis.title for axis in self.design.axes], self.notes)

    def in_store(self, store: StudyStore, resume: bool) -> Study:
        """The study in a store, which goes on where it ended."""
        if store.exists and not resume:
            raise ArgumentError(f"store: {store.path} is there already; remove it, or let the study go on")
        identity = self._identity()
        with store.reserve():
            chunk = store.chunk if store.find(identity) else self._find_chunk(lasting=True)
            about = {"dims": self.design.dims, "coordinates": self._coordinates()}
            description = {**about, "times": self.times.tolist(), "notes": self.notes}
            store.create(self.kept, self.runs, chunk, identity, description)
            stored = store.read()
            open_spans, missing = self._find_missing(stored.status, chunk)
            if not missing:
                return read_store(store, stored)
            self._make(open_spans, self.runs - missing, lambda result: store.write(self.kept, result))
            study = read_store(store)
        if stored.damage:
            study.notes = (*study.notes, f"{store.path}: {stored.damage}, which were made again.")
        return study

    def _coordinates(self) -> list[Coordinate]:
        return [(axis.title, axis.unit, dim, values) for axis, dim, values in self.design.coordinates()]

    def _find_missing(self, status: Array, size: int) -> tuple[Iterator[Span], int]:
        """The chunks that are not done, and how many runs they have."""
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

    def _find_chunk(self, lasting: bool) -> int:
        """Runs of a chunk: of what lasts or travels, some seconds of work, and several chunks for each worker."""
        engine = self.engine
        shared = min(MOST_OF_CHUNK, self.runs)
        if engine.sharing == engine.workers and not lasting:
            return shared
        seconds = 0.0
        for _ in range(2):  # the first compiles
            began = time.perf_counter()
            make_chunk(self.worker, 0, self.design.rows(0, 1))
            seconds = time.perf_counter() - began
            if seconds > self._chunk_seconds:
                break
        return choose_chunk(self.runs, seconds, engine.workers, engine.sharing, self._chunk_seconds)

    def _identity(self) -> dict[str, str]:
        """What must be the same for a study to go on."""
        plan = self.worker.plan
        told = repr((sorted(plan.fields.items()), sorted(plan.common.items())))
        return {
            "models": _digest([_write_model(system) for system in plan.models]),
            "design": self.design.digest(),
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


class Engine(Protocol):
    """Makes chunks."""

    workers: int
    sharing: int
    """Workers that make a chunk together."""

    def make(self, spans: Iterator[Span], take: Take, goes_on: GoesOn) -> None:
        """Make the chunks, in any order, and give each to ``take`` in this thread."""


class ThreadEngine:
    """Threads of this process: the loops are machine code, and release Python's lock."""

    def __init__(self, worker: StudyWorker, threads: int) -> None:
        self.worker, self.workers, self.sharing = worker, threads, threads

    def make(self, spans: Iterator[Span], take: Take, goes_on: GoesOn) -> None:
        """Make one chunk after the other, each in all threads."""
        design = self.worker.plan.design
        for first, last in spans:
            result = make_chunk(self.worker, first, design.rows(first, last), self.workers, goes_on)
            take(result)
            if result.left:
                return


class ExecutorEngine:
    """An executor in the sense of ``concurrent.futures``.

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
        self.worker, self.executor, self.workers, self.renew = worker, executor, workers, renew
        self.sharing = 1
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
        yield ThreadEngine(worker, workers or processors())
    elif on == "processes":
        count = workers or processors()
        engine = ExecutorEngine(worker, _make_pool(count), count, lambda: _make_pool(count))
        try:
            yield engine
        finally:
            engine.executor.shutdown(wait=True, cancel_futures=True)
    elif isinstance(on, str):
        with _open_client(on) as client:
            yield _make_cluster_engine(worker, client)
    elif hasattr(on, "get_executor"):
        yield _make_cluster_engine(worker, on)
    elif isinstance(on, Executor) or hasattr(on, "submit"):
        yield ExecutorEngine(worker, on, workers or int(getattr(on, "_max_workers", 0)) or processors())
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


def _make_cluster_engine(worker: StudyWorker, client: Any) -> ExecutorEngine:
    """Dask's own executor; each worker has as many tasks at a time as it has threads."""
    threads: Sequence[int] = list(client.nthreads().values())
    return ExecutorEngine(worker, client.get_executor(pure=False, retries=MOST_ATTEMPTS - 1), sum(threads) or 1)
