"""Fast runs of one task on several threads, with little Python for each: what one compiled loop makes of a chunk.

A thread takes some runs at a time and finds their starts.  Then one compiled loop makes them one after the other, each
in the memory of the one before.  With the classical Runge-Kutta method at a fixed step, runs of a tree without events,
whose laws have no breaks, all do the same at the same time: they share their steps in the lanes of one kernel.

The numbers are those of single runs.  Not made here are runs at which something is to be looked at but the ending
(loops, stop conditions, guarded fields, other formulations), and those that fail, do not stay finite or are long: the
caller makes each by itself, where it says why.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache as remember
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import RECURSIVE_NAME, Dynamics
from kinode.dynamics.reactions.lost_values import is_shared
from kinode.dynamics.state_batch import find_stored, split_values
from kinode.errors import Error
from kinode.jit.loop.memory import floats_of, ints_of
from kinode.jit.machine_code import ARGUMENTS, compiled
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_table import find_row
from kinode.model.quantities import QuantityExpression, QuantityName, find_expression, find_quantity
from kinode.model.system_checks import find_asking
from kinode.ode.compiled_loops import find_source
from kinode.ode.input_table import Inputs, VaryingInputs, inputs_at
from kinode.ode.integrate import PreparedRun, begin_run
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.loops.run_codes import Outcome
from kinode.ode.method_table import METHODS
from kinode.ode.ode_arguments import count_steps
from kinode.ode.rk4_batch import rk4_batch
from kinode.ode.run import LoopRun
from kinode.ode.run_events import provide_arrays
from kinode.ode.stiff_takeover import WORTH_STEPS
from kinode.results.run_quantities import EQUAL_PEAKS
from kinode.simulation.run_arguments import find_output_times, read_seconds
from kinode.simulation.run_checks import has_guards
from kinode.simulation.run_length import EARLY, check_lengths
from kinode.simulation.solver import Solver, check_span
from kinode.simulation.time_events import find_common_times
from kinode.simulation.watched_laws import find_watched
from kinode.structure.state_layout import EvaluationPoint
from kinode.studies.batch import RowMaker, Team, Values
from kinode.studies.fast.fast_loops import (
    IS_LONG,
    LEFT,
    MADE,
    ManyMemory,
    ReduceMemory,
    RowKernel,
    many_by,
    reduce_rows,
)
from kinode.studies.fast.fast_starts import Starts, StartTable
from kinode.studies.kept_results import Kept
from kinode.tasks.simulate import RunTask

LEAST_RUNS = 2
"""With fewer runs there is nothing to share."""
MOST_OF_PIECE = 32
"""Runs that a thread takes at a time."""
PIECES_PER_THREAD = 4
"""At least, of what is left."""
FIRST_STARTS = 4
"""Runs among which one is looked for that can begin."""
LEAST_LANES = 8
"""With fewer runs the lanes would be mostly empty."""
LEAST_GROUPS = 4
"""Groups of lanes that a thread takes at a time, at least, where there is memory for them."""
BLOCK_BYTES = 32 << 20
"""States of runs in lanes that are kept at a time."""

COMPILED = {"peak": 0, "least": 1, "final": 2, "time_of_peak": 3}
"""Reducers of the compiled loop, by their codes there."""
NO_ROWS = np.zeros((1, 1))
FOLDER = "studies/fast"
"""Where the sources of compiled loops are."""

Put = Callable[[int, Sequence[Any]], None]
"""Given the number of a run and what is kept of it; threads call it, each for runs of its own."""


class FastRuns:
    """Runs of one task that a compiled loop makes.

    Parameters
    ----------
    maker : RowMaker
        What makes a run by itself.
    rows : sequence
        The number of each run and its values, which have the same names in all.
    """

    def __init__(self, maker: RowMaker, rows: Sequence[tuple[int, Values]]) -> None:
        self.maker, self.rows, task = maker, rows, maker.task
        self.dynamics, self.options = task.dynamics, task.options
        self.table = table = _open_table(maker, rows)
        self.measures = RunMeasures(self.dynamics, maker.kept)
        self.t0, self.until = table.begin.state.t, read_seconds(self.dynamics, "until", task.until)
        check_span(self.t0, self.until)
        check_lengths(self.dynamics, self.options.step, self.options.max_step, self.t0, self.until)
        span = self.dynamics, table.p, table.inputs, self.t0, self.until
        laws = find_common_times(*span, table.changed | table.entries.keys()) if self.until > self.t0 else None
        self.lanes = 0 if laws is None or len(laws.breaks) else self._count_lanes()
        """How many runs share their steps; 0 where each has steps of its own."""
        self.solver = None if laws is None or self.lanes else Solver(*span[:3], self.options, laws)
        self.prepared = self._prepare()
        """What the runs have in common where each has steps of its own; None where no loop serves."""

    @classmethod
    def find(cls, maker: RowMaker, rows: Sequence[tuple[int, Values]]) -> FastRuns | None:
        """The runs that a loop makes; None where each has to be made by itself."""
        if len(rows) < LEAST_RUNS or not _is_simple(maker.task):
            return None
        if not RunMeasures.serves(maker.task.dynamics, maker.kept):
            return None
        try:
            runs = cls(maker, rows)
        except Error:  # each run says it
            return None
        return runs if runs.lanes or runs.prepared is not None else None

    def _count_lanes(self) -> int:
        """The lanes of the kernel, where runs can share their steps; else 0."""
        task, topology = self.maker.task, self.dynamics.topology
        chosen = [*task.requested.values(), *(task.defaults.get(name) for name in ("times", "samples", "every"))]
        alike = METHODS[self.options.method].fixed and all(value is None for value in chosen)
        if len(self.rows) < LEAST_LANES or not alike or isinstance(self.table.inputs, VaryingInputs):
            return 0
        if find_asking(self.dynamics.system):  # each run tells its parts of completed steps
            return 0
        serves = topology.events is None and find_watched(self.dynamics) is None
        return self.dynamics.kernels.lanes if serves else 0

    def _prepare(self) -> PreparedRun | None:
        if self.solver is None:
            return None
        task = self.maker.task
        times = find_output_times(self.dynamics, task.defaults, task.requested, self.t0, self.until)
        return self.solver.find_prepared(self.t0, self.until, times)

    def start(self, put: Put, threads: int) -> Team:
        """Threads that make the runs, and put what is kept of each that a loop has made."""
        threads = max(1, min(threads, len(self.rows)))
        return Team(lambda team: self._open(team, put), self._split(threads), threads)

    def _split(self, threads: int) -> Iterator[slice]:
        """What a thread takes at a time; less towards the end, so that none has to wait long for another."""
        least, most, first = 1, MOST_OF_PIECE, 0
        if self.lanes:  # all take equally long
            steps = count_steps(self.t0, self.until, self.options.step or 0.0)
            states = 8 * len(self.table.begin.state.y) * (steps + 1) * self.lanes
            most = self.lanes * max(1, BLOCK_BYTES // (states * threads))
            least = min(LEAST_GROUPS * self.lanes, most)
        while first < len(self.rows):
            rest = len(self.rows) - (0 if self.lanes else first)
            share = rest // (PIECES_PER_THREAD * threads * least) * least
            last = min(first + max(least, min(most, share)), len(self.rows))
            yield slice(first, last)
            first = last

    def _open(self, team: Team, put: Put) -> Callable[[slice], None]:
        """What makes a piece of the runs in one thread."""
        stop, prepared = team.stop, self.prepared
        loop = LaneRuns(self, stop) if prepared is None else ManyRuns(prepared, self, stop)
        has_frames = bool(self.dynamics.system.frames)

        def make(piece: slice) -> None:
            starts, rows = self.table.find([values for _, values in self.rows[piece]]), self.rows[piece]
            chosen = np.flatnonzero(starts.ready)
            for k, kept in loop.make(starts.chosen(chosen)):
                if kept is None or (has_frames and not all(np.isfinite(each).all() for each in kept)):
                    continue  # a run by itself says which frame is undefined
                put(rows[chosen[k]][0], kept)

        return make


def _is_simple(task: RunTask) -> bool:
    """Whether the runs of a task end at their time or fail, are those of its compiled system, and move freely."""
    dynamics = task.dynamics
    if task.stop_when is not None or dynamics.formulation != RECURSIVE_NAME:
        return False
    return not dynamics.topology.constrained and dynamics.n_u > 0 and not has_guards(dynamics)


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


FIRST_ROWS = 4096
"""Rows of the output for which memory is provided at first; a run of more begins anew with twice as many."""
FIRST_NUMBERS = 1 << 19
"""Numbers for which memory is provided at first, at most."""


@remember
def _loop_over_runs(name: str) -> Callable[[ManyMemory], int]:
    """The loop over runs with the main loop of that name."""
    return many_by(name, find_source(name))


class ManyRuns:
    """Runs one after the other in one loop, each with steps of its own, begun in the memory of the one before."""

    def __init__(self, prepared: PreparedRun, runs: FastRuns, stop: Array) -> None:
        self.prepared, self.measures, self.memory = prepared, runs.measures, ManyMemory()
        varying = isinstance(runs.table.inputs, VaryingInputs) and runs.measures.is_computing
        self._measuring = runs.measures.open() if varying else None
        """What measures runs whose inputs have to be found at each row."""
        self._leaves_stiff = runs.solver is not None and runs.solver.stiff_kernel is not None
        self._call = compiled(_loop_over_runs(prepared.loop_name), words="the integrator", folder=FOLDER)
        self._run: LoopRun | None = None
        self._t, self._y, self._out = np.empty(0), np.empty((0, 0)), np.empty((0, 0))
        self.memory.stop = ints_of(stop)
        self._pristine = ctypes.create_string_buffer(0)
        self._kept_alive: list[Any] = []

    def make(self, starts: Starts) -> Iterator[tuple[int, list[Any] | None]]:
        """The places of runs that reach their end, and what is kept of each."""
        memory, count, inputs = self.memory, len(starts.y), starts.input_rows
        if not count:
            return
        if self._run is None:
            self._lay_out(starts, inputs)
        y, p, rows = (np.ascontiguousarray(each) for each in (starts.y, starts.p, inputs))
        state, results = np.zeros(count, dtype=np.int64), np.zeros((count, max(1, memory.reduce.count)))
        memory.y, memory.p, memory.inputs = floats_of(y), floats_of(p), floats_of(rows)
        memory.state, memory.results = ints_of(state), floats_of(results)
        at_once = 1 if self.measures.in_python or self._measuring else count
        for first in range(0, count, at_once):
            memory.next, memory.last = first, min(first + at_once, count)
            self._drive(state)
            for k in range(first, memory.next):
                if state[k] == MADE:
                    yield k, self._take(starts, k, results[k])
            if memory.next < memory.last:  # it was stopped
                return

    def _drive(self, state: Array) -> None:
        """Call the loop until the runs are made."""
        memory, call = self.memory, self._call
        while True:
            code = call(memory)
            if code == Outcome.ROWS_FULL:
                self._provide(2 * memory.run.output.room)
            elif code == IS_LONG:
                state[memory.next] = LEFT
                memory.next += 1
            else:
                return

    def _take(self, starts: Starts, k: int, reduced: Array) -> list[Any] | None:
        """What is kept of the run that was made last, or of one that Python has nothing to do with."""
        rows = self.memory.run.output.written
        t, y = self._t[:rows], self._y[:rows]
        if self._measuring is not None:
            return self._measuring.measure(t, y, starts.p[k], starts.inputs_of(k))
        return self.measures.compose(reduced, t, y, self._out[:rows])

    # -- memory ---------------------------------------------------------------------------------------------
    def _lay_out(self, starts: Starts, inputs: Array) -> None:
        """Lay out the run that all others begin like."""
        memory, prepared = self.memory, self.prepared
        self._run = run = begin_run(
            prepared.kernel, starts.y[0], prepared.t0, prepared.t1, p=starts.p[0], inputs=inputs[0], memory=memory.run,
            **prepared.options,
        )  # fmt: skip
        run.memory.stiffness.worth = WORTH_STEPS if self._leaves_stiff else 0
        memory.words, memory.run_at = ctypes.sizeof(memory.run) // 8, ctypes.addressof(memory.run)
        memory.n_y, memory.n_p, memory.n_inputs = starts.y.shape[1], starts.p.shape[1], inputs.shape[1]
        memory.own_p, memory.own_inputs = memory.run.model.p, memory.run.model.inputs
        memory.origin, memory.until = prepared.t0, prepared.t1
        memory.at_start, memory.start_known = run.start_rows
        memory.long = EARLY if prepared.options.get("step") is None else 1 << 62
        times = np.zeros(1) if run.given_times is None else np.ascontiguousarray(run.given_times)
        memory.times = floats_of(times)
        if self._measuring is None:
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


class LaneRuns:
    """Runs in the lanes of one kernel, at all steps at the same time."""

    def __init__(self, runs: FastRuns, stop: Array) -> None:
        self.runs, self.stop, self.measuring = runs, stop, runs.measures.open()
        dynamics = runs.dynamics
        rate = dynamics.kernels.machine(Kernel("rate"), runs.lanes)
        sizes = dynamics.n_q, dynamics.n_u, dynamics.n_z
        self.kernel = KernelSpec(rate.address, *sizes, runs.lanes, rate.sizes["work"])

    def make(self, starts: Starts) -> Iterator[tuple[int, list[Any] | None]]:
        """The places of runs that stay finite, and what is kept of each."""
        runs, step = self.runs, self.runs.options.step
        assert step is not None and not isinstance(starts.inputs, VaryingInputs)
        solution = rk4_batch(
            self.kernel, starts.y, runs.t0, runs.until, step, every=1, p=starts.p, inputs=starts.inputs,
            quaternions=runs.dynamics.topology.layout.quaternions, threads=1, on_progress=lambda _: not self.stop[0],
        )  # fmt: skip
        for k, failed in enumerate(solution.failed_component.tolist()):
            if self.stop[0]:
                return
            if failed < 0:
                yield k, self.measuring.measure(solution.t, solution.y[k], starts.p[k], starts.inputs[k])


class RowTimes(NamedTuple):
    """The times of a run, which is all that reducers take from it."""

    t: Array


class RunMeasures:
    """What is kept of each run, by where it comes from.

    Parameters
    ----------
    dynamics : Dynamics
        The compiled system.
    kept : sequence of Kept
        What is kept; ``serves`` tells whether it can be.
    """

    def __init__(self, dynamics: Dynamics, kept: Sequence[Kept]) -> None:
        self.dynamics, self.kept = dynamics, tuple(kept)
        system = dynamics.system
        self._expressions: dict[str, QuantityExpression] = {}
        names = dict[str, QuantityName]()
        for text in dict.fromkeys(each.quantity for each in self.kept):
            expression = find_expression(system, text)
            if expression is not None:
                self._expressions[text] = expression
            for name in [text] if expression is None else expression.names:
                names[name] = find_quantity(system, name)
        self._stored = {text: find_stored(dynamics, name) for text, name in names.items()}
        self._computed = [name for text, name in names.items() if self._stored[text] is None]
        self._kernel = Kernel("evaluate", tuple(name.text for name in self._computed))
        firsts = np.cumsum([0, *(math.prod(name.size) for name in self._computed)]).tolist()
        self._starts = dict(zip((name.text for name in self._computed), firsts))
        self._table = [self._find_entry(each, names) for each in self.kept]
        self.in_loop = [k for k, entry in enumerate(self._table) if entry is not None]
        """What the compiled loop reduces; the rest is reduced in Python."""
        self.in_python = [k for k, entry in enumerate(self._table) if entry is None]

    @staticmethod
    def serves(dynamics: Dynamics, kept: Sequence[Kept]) -> bool:
        """Whether states and quantities by name are all that is needed."""
        return all(each.quantity for each in kept) and all(
            _is_plain(dynamics, name) for each in kept for name in _find_names(dynamics, each.quantity)
        )

    def _find_entry(self, kept: Kept, names: Mapping[str, QuantityName]) -> tuple[int, int, int, int] | None:
        """The row of the loop's table; None for what is reduced in Python."""
        if kept.by not in COMPILED or kept.quantity not in names:
            return None
        stored = self._stored[kept.quantity]
        if stored is not None:
            width = stored.columns.stop - stored.columns.start if stored.vector else 0
            return 0, stored.columns.start, width, COMPILED[kept.by]
        size = names[kept.quantity].size
        return 1, self._starts[kept.quantity], math.prod(size) if size else 0, COMPILED[kept.by]

    def open(self) -> Measuring:
        """The measuring of one thread."""
        return Measuring(self)

    def evaluate(self, t: Array, y: Array, p: Array, inputs: Inputs) -> Array:
        """The computed quantities at the states of a run, side by side."""
        if not self._computed:
            return NO_ROWS
        q, u, z = self.dynamics.topology.layout.split(y)
        return self.dynamics.kernels.call(self._kernel, EvaluationPoint(t, q, u, z, p, inputs_at(inputs, t)))

    def compose(self, reduced: Array, t: Array, y: Array, out: Array) -> list[Any]:
        """What is kept of a run: what the loop has reduced, and what the reducers in Python give."""
        kept: list[Any] = [None] * len(self.kept)
        for k, value in zip(self.in_loop, reduced.tolist()):
            kept[k] = value
        if not self.in_python:
            return kept
        values = dict(split_values(out, self._computed)) if self._computed else {}
        values |= {
            text: y[:, where.columns if where.vector else where.columns.start]
            for text, where in self._stored.items()
            if where is not None
        }
        for text, expression in self._expressions.items():
            values[text] = expression.evaluate(self.dynamics.system, values, len(t))
        for k in self.in_python:
            kept[k] = self.kept[k].take(RowTimes(t), values)  # type: ignore[arg-type]
        return kept

    @property
    def is_computing(self) -> bool:
        """Whether something is to be computed from the states."""
        return bool(self._computed)

    def lay_out(self, kernel: RowKernel, reduce: ReduceMemory) -> None:
        """Give a compiled loop the kernel of the quantities, and the table of reductions."""
        topology, lanes = self.dynamics.topology, self.dynamics.kernels.lanes
        if self._computed:
            code = self.dynamics.kernels.machine(self._kernel, lanes if find_row(self._kernel).lanes else 1)
            kernel.address, kernel.lanes, kernel.n_out = code.address, code.lanes, code.sizes["out"]
            kernel.n_q, kernel.n_u, kernel.n_z = topology.n_q, topology.n_u, topology.n_z
            for name, array in zip(ARGUMENTS, provide_arrays(*(max(1, code.sizes[n]) * code.lanes for n in ARGUMENTS))):
                setattr(kernel, name, floats_of(array))
        reduce.count, reduce.equal = len(self.in_loop), 1.0 - EQUAL_PEAKS
        count = reduce.count + 1
        entries = [number for entry in self._table if entry is not None for number in entry]
        reduce.table = ints_of(np.array([*entries, 0], dtype=np.int64))
        reduce.results, reduce.largest, reduce.least = (floats_of(np.zeros(count)) for _ in range(3))
        reduce.peak_row, reduce.known = (ints_of(np.zeros(count, dtype=np.int64)) for _ in range(2))


class Measuring:
    """Measures one run after another, in memory of its own."""

    def __init__(self, measures: RunMeasures) -> None:
        self.measures, self._memory = measures, ReduceMemory()
        self._call = compiled(reduce_rows, words="the integrator", folder=FOLDER)
        measures.lay_out(RowKernel(), self._memory)
        self._results = np.zeros(len(measures.in_loop) + 1)
        self._memory.results = floats_of(self._results)

    def measure(self, t: Array, y: Array, p: Array, inputs: Inputs) -> list[Any] | None:
        """What is kept of a run, in the order of what was asked for; None for one that is to be made by itself."""
        measures, memory = self.measures, self._memory
        try:
            out = measures.evaluate(t, y, p, inputs)
            if measures.in_loop:
                memory.rows, memory.y_width, memory.out_width = len(t), y.shape[1], out.shape[1]
                memory.t, memory.y, memory.out = floats_of(t), floats_of(y), floats_of(out)
                self._call(memory)
            return measures.compose(self._results, t, y, out)
        except Exception:  # it comes again in the run by itself, which says it
            return None


def _find_names(dynamics: Dynamics, text: str) -> Sequence[str]:
    expression = find_expression(dynamics.system, text)
    return (text,) if expression is None else expression.names


def _is_plain(dynamics: Dynamics, text: str) -> bool:
    """Whether a quantity is a state, or the result of a kernel at a state as it is."""
    name = find_quantity(dynamics.system, text)
    if name.needs == "time" or is_shared(dynamics, name):
        return False
    turns = name.quantity == "q" and name.owner in dynamics.topology.cut_names  # made continuous along a run
    return find_stored(dynamics, name) is not None or not turns
