"""Where the runs of a study are made: threads of this process, other processes, or the workers of a cluster.

All but threads are executors in the sense of ``concurrent.futures``: a pool of processes, Dask's own for a cluster, or
one that the caller has.  A task is a chunk of runs.  A worker that dies costs its chunk, which is made again; a chunk
that kills its workers again and again is given up, and its runs say so.
"""

from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
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
from typing import Any, Protocol

from kinode.errors import ArgumentError, Error
from kinode.jit.thread_team import processors
from kinode.tasks.studies.study_chunks import ChunkResult, fail_chunk, make_chunk, make_packed_chunk
from kinode.tasks.studies.study_plan import StudyWorker

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
            if not result.complete:
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
