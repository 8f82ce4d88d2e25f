"""A chunk of a study: some seconds of runs, made together, whose results travel together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.records import dataclass
from kinode.tasks.batches.reducers import Kept
from kinode.tasks.batches.run_many import Batch
from kinode.tasks.batches.run_rows import FAILED
from kinode.tasks.studies.study_plan import StudyWorker, open_plan

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
    messages : tuple of str
        How each run ended, in words; "" for one that was done.
    results : mapping of str to array
        (run, ...) by the text of what is kept.
    """

    first: int
    status: Array
    messages: tuple[str, ...]
    results: Mapping[str, Array]

    def __len__(self) -> int:
        return len(self.status)


def make_chunk(
    worker: StudyWorker, first: int, last: int, threads: int = 1, goes_on: Callable[[int], bool] | None = None
) -> ChunkResult | None:
    """Make the runs from the first up to, without, the last; None if ``goes_on`` (runs that are done) said False.

    After Ctrl-C ``KeyboardInterrupt`` is raised.
    """
    sets = worker.plan.design.rows(first, last)
    rows = []
    for row in worker.make_together(0, sets, threads):
        rows.append(row)
        if goes_on is not None and not goes_on(len(rows)):
            return None
    made = {row.index for row in rows}
    batch = Batch(worker, sets, [k for k in range(len(sets)) if k not in made], threads)
    try:
        for row in batch:
            rows.append(row)
            if goes_on is not None and not goes_on(len(rows)):
                return None
    finally:
        batch.cancel()
        batch.join()
    rows.sort(key=lambda row: row.index)
    return ChunkResult(
        first,
        np.array([_CODES[row.status] for row in rows], dtype=np.int8),
        tuple(_say(row.status, row.message, row.notes) for row in rows),
        {each.text: _stacked(each, [row.results[each.text] for row in rows]) for each in worker.kept},
    )


def fail_chunk(kept: Sequence[Kept], first: int, last: int, message: str) -> ChunkResult:
    """A chunk whose maker was lost."""
    count = last - first
    nothing = {each.text: np.full((count, *each.size), np.nan) for each in kept}
    return ChunkResult(first, np.full(count, FAILURE, dtype=np.int8), (message,) * count, nothing)


def make_packed_chunk(packed: bytes, first: int, last: int) -> ChunkResult:
    """The same in another process, from a plan as bytes."""
    result = make_chunk(open_plan(packed), first, last)
    assert result is not None
    return result


def _say(status: str, message: str, notes: Sequence[str]) -> str:
    return "; ".join(([message] if status == FAILED else []) + list(notes))


def _stacked(kept: Kept, values: Sequence[Any]) -> Array:
    return np.asarray(values, dtype=float).reshape(len(values), *kept.size)
