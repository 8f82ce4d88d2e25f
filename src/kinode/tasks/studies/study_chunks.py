"""A chunk of a study: some seconds of runs, made together, whose results travel together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.tasks.batches.reducers import Kept
from kinode.tasks.batches.run_many import Batch
from kinode.tasks.batches.run_rows import RunRow
from kinode.tasks.batches.value_sets import Values
from kinode.tasks.studies.study_design import list_rows
from kinode.tasks.studies.study_plan import StudyWorker, open_plan
from kinode.tasks.swift_runs.lane_batch import make_runs
from kinode.tasks.swift_runs.swift_batch import SwiftBatch

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
    def complete(self) -> bool:
        """Whether every run was made."""
        return bool((self.status != NOT_RUN).all())

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
    """Make runs with these values, from the first one's number on.

    Where ``goes_on``, given the number of runs that are done, says False, and after Ctrl-C, the others are left.
    """
    result = fail_chunk(worker.kept, first, first + len(sets), "", NOT_RUN)
    try:
        if not _make_together(worker, sets, threads, result, goes_on):
            return result
        made = int((result.status != NOT_RUN).sum())
        for done, row in enumerate(_make_rows(worker, sets, result, threads), made + 1):
            result.put(row)
            if goes_on is not None and not goes_on(done):
                break
    except KeyboardInterrupt:
        pass  # what is done is given; the caller sees that it is not all
    return result


def _make_together(
    worker: StudyWorker, sets: Sequence[Values], threads: int, result: ChunkResult,
    goes_on: Callable[[int], bool] | None,
) -> bool:  # fmt: skip
    """Make the runs that can share what they do; False where they were stopped."""
    made = 0
    for maker, rows in worker.group(sets):
        batch = SwiftBatch.find(maker, rows)
        if batch is None:
            continue

        def look(done: int, before: int = made) -> bool:
            return goes_on is None or goes_on(before + done)

        if not make_runs(batch, result.put_kept, threads, look):
            return False
        made += len(rows) - len(batch.left)
    return True


def _make_rows(worker: StudyWorker, sets: Sequence[Values], result: ChunkResult, threads: int) -> Iterator[RunRow]:
    """The rows of the runs that are not made yet, as they come."""
    batch = Batch(worker, sets, np.flatnonzero(result.status == NOT_RUN).tolist(), threads)
    try:
        yield from batch
    finally:
        batch.cancel()
        batch.join()


def fail_chunk(kept: Sequence[Kept], first: int, last: int, message: str, status: int = FAILURE) -> ChunkResult:
    """A chunk without results: that of a maker that was lost, or one that is to be filled."""
    count = last - first
    nothing = {each.text: np.full((count, *each.size), np.nan) for each in kept}
    return ChunkResult(first, np.full(count, status, dtype=np.int8), [message] * count, nothing)


def make_packed_chunk(packed: bytes, first: int, columns: Mapping[str, Array]) -> ChunkResult:
    """The same in another process, from a plan as bytes and a column of values for each axis."""
    return make_chunk(open_plan(packed), first, list_rows(columns))
