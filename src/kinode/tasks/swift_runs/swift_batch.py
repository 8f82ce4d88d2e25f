"""Runs of one task on several threads, a few at a time, with little Python for each.

Runs that cannot be made so, and those that fail, are left to the caller, who makes each by itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import Error
from kinode.jit.kernel_call import alone
from kinode.ode.runs.input_table import Inputs, VaryingInputs
from kinode.ode.runs.output_room import OutputRoom
from kinode.tasks.batches.run_rows import RowMaker
from kinode.tasks.batches.value_sets import Values
from kinode.tasks.swift_runs.many_runs import ManyRuns
from kinode.tasks.swift_runs.run_measures import Measuring, RunMeasures
from kinode.tasks.swift_runs.start_table import Starts, StartTable
from kinode.tasks.swift_runs.swift_motion import SwiftMotion, fits_swift_runs

LEAST_RUNS = 2
"""With fewer runs there is nothing to share."""
MOST_OF_PIECE = 32
"""Runs that a thread takes at a time."""
PIECES_PER_THREAD = 4
"""At least, of what is left."""
FIRST_STARTS = 4
"""Runs among which one is looked for that can begin."""
LOOK = 0.05
"""Seconds between two looks at whether the runs go on."""

Put = Callable[[int, Sequence[Any]], None]
"""Given the number of a run and what is kept of it; threads call it, each for runs of its own."""
GoesOn = Callable[[int], bool]
"""Given the number of runs that are done; False ends them."""


class SwiftBatch:
    """Runs with several sets of values.

    Parameters
    ----------
    maker : RowMaker
        What makes a run by itself.
    rows : sequence
        The number of each run and its values, which have the same names in all.
    """

    def __init__(self, maker: RowMaker, rows: Sequence[tuple[int, Values]]) -> None:
        self.maker, self.rows = maker, rows
        self.table = _open_table(maker, rows)
        self.motion = SwiftMotion(maker.task, self.table)
        self.measures = RunMeasures(maker.task.dynamics, maker.kept)
        self.left: list[int] = []
        """Places, among ``rows``, of runs that are to be made by themselves."""
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._taken, self._done, self._working, self._stop = 0, 0, 0, np.zeros(1, dtype=np.int64)
        self._fault: BaseException | None = None

    @classmethod
    def find(cls, maker: RowMaker, rows: Sequence[tuple[int, Values]]) -> SwiftBatch | None:
        """The batch of some runs; None where each has to be made by itself."""
        if len(rows) < LEAST_RUNS or not fits_swift_runs(maker.task):
            return None
        if not RunMeasures.serves(maker.task.dynamics, maker.kept):
            return None
        try:
            return cls(maker, rows)
        except Error:  # each run says it
            return None

    def make(self, put: Put, threads: int, goes_on: GoesOn | None = None) -> bool:
        """Make all runs; False where they were stopped."""
        count = max(1, min(threads, len(self.rows)))
        self._working = count
        team = [threading.Thread(target=self._work, args=(put, count), name="kinode runs") for _ in range(count)]
        for thread in team:
            thread.start()
        try:
            while not self._ended.wait(LOOK):
                if goes_on is not None and not goes_on(self._done):
                    self._stop[0] = 1
        finally:  # also after Ctrl-C
            if not self._ended.is_set():
                self._stop[0] = 1
            for thread in team:
                thread.join()
        if self._fault is not None:
            raise self._fault
        return not self.is_stopped and (goes_on is None or goes_on(self._done))

    @property
    def is_stopped(self) -> bool:
        """Whether the runs are to stop."""
        return bool(self._stop[0])

    def _work(self, put: Put, threads: int) -> None:
        """Make one piece after the other."""
        try:
            make = self._open()
            with alone():
                while not self._stop[0] and (piece := self._take(threads)) is not None:
                    starts = self.table.find([values for _, values in self.rows[piece]])
                    self.left += [int(piece.start + k) for k in np.flatnonzero(~starts.ready)]
                    for k, kept in make(starts, np.flatnonzero(starts.ready)):
                        if kept is None:
                            self.left.append(int(piece.start + k))
                        else:
                            put(self.rows[piece.start + k][0], kept)
                            self._done += 1
        except BaseException as fault:
            self._fault, self._stop[0] = fault, 1
        finally:
            with self._lock:
                self._working -= 1
                if not self._working:
                    self._ended.set()

    def _take(self, threads: int) -> slice | None:
        """The next piece."""
        with self._lock:
            first, rest = self._taken, len(self.rows) - self._taken
            if not rest:
                return None
            self._taken += max(1, min(MOST_OF_PIECE, rest // (PIECES_PER_THREAD * threads)))
            return slice(first, self._taken)

    def _open(self) -> Callable[[Starts, Array], Iterator[tuple[int, list[Any] | None]]]:
        """What makes runs in one thread, given starts and which of them."""
        prepared, varying = self.motion.prepared, isinstance(self.table.inputs, VaryingInputs)
        if prepared is None or not ManyRuns.serves(prepared, self.measures, varying):
            return _OneByOne(self).make
        many = ManyRuns(prepared, self.measures, self._stop, self.motion.stiff_kernel is not None)

        def make(starts: Starts, chosen: Array) -> Iterator[tuple[int, list[Any] | None]]:
            ready = starts.chosen(chosen)
            for k, kept in many.make(ready):
                yield int(chosen[k]), None if kept is None or self._is_undefined(kept) else kept

        return make

    def measure(self, measuring: Measuring, t: Array, y: Array, p: Array, inputs: Inputs) -> list[Any] | None:
        """What is kept of a motion; None for a run that is to be made by itself."""
        try:
            kept = measuring.measure(t, y, p, inputs)
        except Exception:  # as above
            return None
        return None if self._is_undefined(kept) else kept

    def _is_undefined(self, kept: Sequence[Any]) -> bool:
        """Whether a frame may be undefined, which a run by itself names."""
        has_frames = bool(self.maker.task.dynamics.system.frames)
        return has_frames and not all(np.isfinite(each).all() for each in kept)


class _OneByOne:
    """Makes one run after the other in one thread, each driven by Python."""

    def __init__(self, batch: SwiftBatch) -> None:
        self.batch, self.room, self.measuring = batch, OutputRoom(), batch.measures.open()

    def make(self, starts: Starts, chosen: Array) -> Iterator[tuple[int, list[Any] | None]]:
        """The places of runs and what is kept of each; None for one that is to be made by itself."""
        for k in chosen.tolist():
            kept = self._make_one(starts.y[k], starts.p[k], starts.inputs_of(k))
            if self.batch.is_stopped:
                return
            yield k, kept

    def _make_one(self, y: Array, p: Array, inputs: Inputs) -> list[Any] | None:
        try:
            motion = self.batch.motion.integrate(self.room, y, p, inputs, lambda _: not self.batch.is_stopped)
        except Exception:  # it comes again in the run by itself, which says it
            return None
        return None if motion is None else self.batch.measure(self.measuring, motion.t, motion.y, p, inputs)


def _open_table(maker: RowMaker, rows: Sequence[tuple[int, Values]]) -> StartTable:
    """The table of starts, from the first run that can begin."""
    first = rows[0][1]
    varying = frozenset(
        name
        for name, value in first.items()
        if any(values[name] is not value and values[name] != value for _, values in rows)
    )
    reason: Error | None = None
    for _, values in rows[:FIRST_STARTS]:
        try:
            table = StartTable(maker, values, varying)
        except Error as error:
            reason = error
            continue
        if table.usable:
            return table
    raise reason or Error("no run of the first ones begins without a word")
