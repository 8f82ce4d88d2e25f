"""The memory of many runs in one compiled loop, from Python's side; a thread has its own."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from functools import cache as remember
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.jit.code_cache import source_digest
from kinode.jit.pointers import floats_of, ints_of
from kinode.ode.compiled_loops import CompiledLoop, Loop, load_loops
from kinode.ode.integrate import begin_run
from kinode.ode.loops.run_codes import Outcome
from kinode.ode.runs.loop_run import LoopRun
from kinode.ode.runs.prepared_run import PreparedRun
from kinode.ode.runs.stiff_takeover import WORTH_STEPS
from kinode.simulation.run_length import EARLY
from kinode.tasks.swift_runs import many_loop
from kinode.tasks.swift_runs.many_loop import IS_LONG, MADE, ManyMemory
from kinode.tasks.swift_runs.run_measures import LOADING, RowTimes, RunMeasures
from kinode.tasks.swift_runs.start_table import Starts

FIRST_ROWS = 4096
"""Rows of the output for which memory is provided at first; a run of more begins anew with twice as many."""
FIRST_NUMBERS = 1 << 19
"""Numbers for which memory is provided at first, at most."""


@remember
def _load(name: str) -> CompiledLoop:
    source = source_digest("ode/loops", "tasks/swift_runs")
    find: Callable[[str], Loop] = lambda _: many_loop.LOOPS[name]  # type: ignore[assignment,return-value]  # noqa: E731
    return load_loops(source and f"{name} {source}", ("make_many",), find)["make_many"]


def _loop(name: str) -> CompiledLoop:
    with LOADING:
        return _load(name)


class ManyRuns:
    """Makes runs that a prepared run describes, and measures them.

    Parameters
    ----------
    prepared : PreparedRun
        The model, the span of time and the method.
    measures : RunMeasures
        What is kept.
    stop : array
        One whole number, nonzero once the runs are to stop.
    leaves_stiff : bool
        Whether runs whose steps stability bounds are left, since another method takes them over.
    """

    def __init__(self, prepared: PreparedRun, measures: RunMeasures, stop: Array, leaves_stiff: bool) -> None:
        self.prepared, self.measures, self.memory = prepared, measures, ManyMemory()
        self.leaves_stiff = leaves_stiff
        self._run: LoopRun | None = None
        self._t, self._y, self._out = np.empty(0), np.empty((0, 0)), np.empty((0, 0))
        self.memory.stop = ints_of(stop)
        self._pristine = ctypes.create_string_buffer(0)
        self._kept_alive: list[Any] = []

    @staticmethod
    def serves(prepared: PreparedRun, measures: RunMeasures, varying_inputs: bool) -> bool:
        """Whether a loop exists for the method, and nothing of the inputs has to be found at each row."""
        return prepared.loop_name in many_loop.LOOPS and not (varying_inputs and measures.is_computing)

    def make(self, starts: Starts) -> Iterator[tuple[int, list[Any] | None]]:
        """The places of runs and what is kept of each; None for one that is to be made by itself."""
        memory, count, inputs = self.memory, len(starts.y), starts.input_rows
        if not count:
            return
        if self._run is None:
            self._lay_out(starts, inputs)
        y, p, rows = (np.ascontiguousarray(each) for each in (starts.y, starts.p, inputs))
        state, results = np.zeros(count, dtype=np.int64), np.zeros((count, max(1, memory.reduce.count)))
        memory.y, memory.p, memory.inputs = floats_of(y), floats_of(p), floats_of(rows)
        memory.state, memory.results = ints_of(state), floats_of(results)
        at_once = 1 if self.measures.in_python else count
        for first in range(0, count, at_once):
            memory.next, memory.last = first, min(first + at_once, count)
            self._drive(state)
            for k in range(first, memory.next):
                yield k, self._take(results[k]) if state[k] == MADE else None
            if memory.next < memory.last:  # it was stopped
                return

    def _drive(self, state: Array) -> None:
        """Call the loop until the runs are made."""
        memory, call = self.memory, _loop(self.prepared.loop_name)
        while True:
            code = call(memory)
            if code == Outcome.ROWS_FULL:
                self._provide(2 * memory.run.output.room)
            elif code == IS_LONG:
                state[memory.next] = many_loop.LEFT
                memory.next += 1
            else:
                return

    def _take(self, reduced: Array) -> list[Any]:
        """What is kept of the run that was made last, or of one that Python has nothing to do with."""
        measures = self.measures
        kept: list[Any] = [None] * len(measures.kept)
        for k, value in zip(measures.in_loop, reduced.tolist()):
            kept[k] = value
        if measures.in_python:
            rows = self.memory.run.output.written
            t, y = self._t[:rows], self._y[:rows]
            values, times = measures.by_name(t, y, self._out[:rows]), RowTimes(t)
            for k in measures.in_python:
                kept[k] = measures.kept[k].take(times, values)  # type: ignore[arg-type]
        return kept

    # -- memory ---------------------------------------------------------------------------------------------
    def _lay_out(self, starts: Starts, inputs: Array) -> None:
        """Lay out the run that all others begin like."""
        memory, prepared = self.memory, self.prepared
        self._run = run = begin_run(
            prepared.kernel, starts.y[0], prepared.t0, prepared.t1, p=starts.p[0], inputs=inputs[0], memory=memory.run,
            **prepared.options,
        )  # fmt: skip
        run.memory.stiffness.worth = WORTH_STEPS if self.leaves_stiff else 0
        memory.words, memory.run_at = ctypes.sizeof(memory.run) // 8, ctypes.addressof(memory.run)
        memory.n_y, memory.n_p, memory.n_inputs = starts.y.shape[1], starts.p.shape[1], inputs.shape[1]
        memory.own_p, memory.own_inputs = memory.run.model.p, memory.run.model.inputs
        memory.origin, memory.until = prepared.t0, prepared.t1
        memory.at_start, memory.start_known = run.start_rows
        memory.long = EARLY if prepared.options.get("step") is None else 1 << 62
        times = np.zeros(1) if run.given_times is None else np.ascontiguousarray(run.given_times)
        memory.times = floats_of(times)
        self.measures.lay_out(memory.kernel, memory.reduce)
        sampled = memory.run.output.sampled != 0
        most = FIRST_NUMBERS // max(1, memory.n_y + memory.kernel.n_out)
        self._provide(run.times.size + 1 if sampled else max(16, min(FIRST_ROWS, most)))

    def _provide(self, rows: int) -> None:
        """Provide memory for so many rows, and keep what the run looks like before its first step."""
        run, memory = self._run, self.memory
        assert run is not None
        if self._kept_alive:
            ctypes.memmove(memory.run_at, self._pristine, 8 * memory.words)
        self._t, self._y = np.empty(rows), np.empty((rows, memory.n_y))
        self._out = np.empty((rows, max(1, memory.kernel.n_out)))
        output, reduce = memory.run.output, memory.reduce
        output.t, output.y, output.room = floats_of(self._t), floats_of(self._y), rows
        reduce.t, reduce.y, reduce.out = floats_of(self._t), floats_of(self._y), floats_of(self._out)
        reduce.y_width, reduce.out_width = memory.n_y, self._out.shape[1]
        self._pristine = ctypes.create_string_buffer(bytes(memory.run), 8 * memory.words)
        memory.pristine_at = ctypes.addressof(self._pristine)
        if self._kept_alive:
            return
        table = []
        for block in run.storage:
            copy = block.copy()
            self._kept_alive.append((block, copy))
            table += [block.ctypes.data, copy.ctypes.data, block.size]
        memory.blocks = len(self._kept_alive)
        memory.block_table = ints_of(np.array([*table, 0], dtype=np.int64))
