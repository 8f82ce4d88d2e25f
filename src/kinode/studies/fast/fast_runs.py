"""Fast runs of one task on several threads, a few at a time, with little Python for each.

Where nothing is to be looked at but the ending, a run goes through a prepared run in the memory of the one before, or
many runs go through one compiled loop; a thread has its own memory.  Loops, stop conditions, guarded fields and other
formulations take the way of single runs.

Runs share their steps in the lanes of one kernel with the classical Runge-Kutta method at a fixed step, for a tree
without events, whose laws have no breaks: then all do the same at the same time.

The numbers are those of single runs.  Runs that cannot be made so, that fail or do not stay finite are left to the
caller, who makes each by itself, where it says why.
"""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import RECURSIVE_NAME, Dynamics
from kinode.errors import Error
from kinode.jit.kernel_call import alone
from kinode.jit.loop.memory import floats_of, ints_of
from kinode.jit.machine_code import compiled
from kinode.kernels.kernel_options import Kernel
from kinode.model.system_checks import find_asking
from kinode.ode.endings import Ending, EndKind
from kinode.ode.input_table import Inputs, VaryingInputs, split_inputs
from kinode.ode.integrate import PreparedRun, begin_run
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.loops.run_codes import Outcome
from kinode.ode.method_table import METHODS
from kinode.ode.ode_arguments import count_steps
from kinode.ode.rk4_batch import BatchSolution, rk4_batch
from kinode.ode.run import LoopRun, OnLong, OutputRoom
from kinode.ode.stiff_takeover import WORTH_STEPS
from kinode.simulation.run_arguments import find_output_times, read_seconds
from kinode.simulation.run_checks import check_run, has_guards
from kinode.simulation.run_length import EARLY, LengthWatch, check_lengths
from kinode.simulation.solver import Solver, check_span, compute_motion, split
from kinode.simulation.time_events import LawTimes, find_common_times
from kinode.simulation.watched_laws import find_watched
from kinode.studies.fast import fast_loops
from kinode.studies.fast.fast_loops import IS_LONG, MADE, ManyMemory
from kinode.studies.fast.fast_starts import Starts, StartTable
from kinode.studies.fast.run_measures import FOLDER, Measuring, RowTimes, RunMeasures
from kinode.studies.run_rows import RowMaker, Values
from kinode.tasks.simulate import RunTask

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


OnProgress = Callable[[float], bool]


class MotionRows(NamedTuple):
    """Times and states of a run that reached its end."""

    t: Array
    y: Array


def fits_swift_runs(task: RunTask) -> bool:
    """Whether the runs of a task end at their time or fail, and are those of its compiled system."""
    return task.stop_when is None and task.dynamics.formulation == RECURSIVE_NAME


class SwiftMotion:
    """Integrates runs of a task whose starts are in a table."""

    def __init__(self, task: RunTask, table: StartTable) -> None:
        self.task, self.dynamics, self.table = task, task.dynamics, table
        self.t0, self.until = table.begin.state.t, read_seconds(task.dynamics, "until", task.until)
        check_span(self.t0, self.until)
        self.times = find_output_times(self.dynamics, task.defaults, task.requested, self.t0, self.until)
        varying = table.changed | table.entries.keys()
        self.laws: LawTimes | None = find_common_times(
            self.dynamics, table.p, table.inputs, self.t0, self.until, varying
        )
        """The times of laws, where they are the same in all runs."""
        self.stiff_kernel: Callable[[], KernelSpec] | None = None
        """The model of a method for stiff systems that may take runs over."""
        self.prepared = self._find_prepared()
        """What the runs share; None where they take the way of single runs."""

    def _find_prepared(self) -> PreparedRun | None:
        task, dynamics, table = self.task, self.dynamics, self.table
        simple = not dynamics.topology.constrained and dynamics.n_u > 0 and not has_guards(dynamics)
        if not simple or self.laws is None or not self.until > self.t0:
            return None
        solver = Solver(dynamics, table.p, table.inputs, task.options, self.laws)
        check_lengths(dynamics, task.options.step, task.options.max_step, self.t0, self.until)
        self.stiff_kernel = solver.stiff_kernel
        return solver.find_prepared(self.t0, self.until, self.times)

    def integrate(self, room: OutputRoom, y: Array, p: Array, inputs: Inputs, goes_on: OnProgress) -> MotionRows | None:
        """The motion from a start; None of a run that did not reach its end."""
        if self.prepared is None:
            return self._integrate_alone(y, p, inputs, goes_on)
        watch: dict[str, tuple[int, OnLong]] = {}
        if self.task.options.step is None:
            length = LengthWatch(self.dynamics, p, inputs, METHODS[self.task.options.method])
            watch = length.watch(0, self.t0, self.until)
        ending, t, states = self.prepared.solve_in(
            room, y, p, split_inputs(inputs)[0], on_progress=goes_on, stiff_kernel=self.stiff_kernel, **watch
        )
        return MotionRows(t, states) if _is_done(ending) else None

    def _integrate_alone(self, y: Array, p: Array, inputs: Inputs, goes_on: OnProgress) -> MotionRows | None:
        start = split(self.dynamics, self.t0, y)
        motion = compute_motion(
            self.dynamics, start, self.until, times=self.times, options=self.task.options, p=p, inputs=inputs,
            on_progress=goes_on,
        )  # fmt: skip
        motion = check_run(motion.dynamics or self.dynamics, motion)
        alike = motion.dynamics is None or motion.dynamics is self.dynamics
        return MotionRows(motion.t, motion.y) if alike and _is_done(motion.ending) else None


def _is_done(ending: Ending) -> bool:
    return ending.kind is EndKind.DONE


FIRST_ROWS = 4096
"""Rows of the output for which memory is provided at first; a run of more begins anew with twice as many."""
FIRST_NUMBERS = 1 << 19
"""Numbers for which memory is provided at first, at most."""


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
        return prepared.loop_name in fast_loops.LOOPS and not (varying_inputs and measures.is_computing)

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
        memory, source = self.memory, fast_loops.LOOPS[self.prepared.loop_name]
        call = compiled(source, words="the integrator", folder=FOLDER)
        while True:
            code = call(memory)
            if code == Outcome.ROWS_FULL:
                self._provide(2 * memory.run.output.room)
            elif code == IS_LONG:
                state[memory.next] = fast_loops.LEFT
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


LEAST_LANES = 8
"""With fewer runs the lanes would be mostly empty."""
BLOCK_BYTES = 32 << 20
"""States of runs that are kept at a time."""


class _LaneBlock(NamedTuple):
    """Runs that are integrated together."""

    places: Array
    """Their places among the rows of the batch."""
    starts: Starts
    chosen: Array
    """Which of the starts are theirs."""


def fits_lanes(maker: RowMaker, rows: int) -> bool:
    """Whether so many runs of a task can share their steps, as far as the task tells."""
    task, dynamics = maker.task, maker.task.dynamics
    requested = any(value is not None for value in task.requested.values())
    defaults = any(name in task.defaults for name in ("times", "samples", "every"))
    if rows < LEAST_LANES or not METHODS[task.options.method].fixed or requested or defaults:
        return False
    topology = dynamics.topology
    if find_asking(dynamics.system):  # each run tells its parts of completed steps
        return False
    return topology.events is None and not topology.constrained and dynamics.n_u > 0 and find_watched(dynamics) is None


class LaneBatch:
    """The runs of a batch, in lanes.

    Parameters
    ----------
    batch : SwiftBatch
        The runs, their starts and what is kept of them.
    """

    def __init__(self, batch: SwiftBatch) -> None:
        self.batch, self.dynamics, self.options = batch, batch.maker.task.dynamics, batch.maker.task.options
        self.kernel, self._goes_on = _find_kernel(self.dynamics), True

    @classmethod
    def find(cls, batch: SwiftBatch) -> LaneBatch | None:
        """The runs in lanes; None where each has steps of its own."""
        laws = batch.motion.laws
        if laws is None or len(laws.breaks) or isinstance(batch.table.inputs, VaryingInputs):
            return None
        return cls(batch) if fits_lanes(batch.maker, len(batch.rows)) else None

    def make(self, put: Put, threads: int, goes_on: GoesOn | None = None) -> bool:
        """Make all runs; False where they were stopped.

        While one block of runs is integrated, the starts of the next are found and the results of the last reduced.
        """
        waiting, done = deque[tuple[_LaneBlock, Future[BatchSolution]]](), 0
        measuring, blocks = self.batch.measures.open(), self._find_blocks(threads)
        with ThreadPoolExecutor(1) as executor:
            try:
                while True:
                    block = next(blocks, None)
                    if block is not None:
                        waiting.append((block, executor.submit(self._integrate, block, threads)))
                    if len(waiting) > 1 or (waiting and block is None):
                        solved, future = waiting.popleft()
                        solution = future.result()
                        for k in range(len(solved.places)):
                            self._finish(put, measuring, solved, solution, k)
                            done += 1
                            if goes_on is not None and not goes_on(done):
                                return False
                    if block is None and not waiting:
                        return True
            finally:  # after Ctrl-C, or if nobody wants the other rows
                self._goes_on = False

    def _find_blocks(self, threads: int) -> Iterator[_LaneBlock]:
        """The blocks of all runs."""
        batch, motion, step = self.batch, self.batch.motion, self.options.step
        assert step is not None
        check_lengths(self.dynamics, step, self.options.max_step, motion.t0, motion.until)
        steps = count_steps(motion.t0, motion.until, step) if motion.until > motion.t0 else 0
        at_once = self.kernel.lanes * threads
        groups = BLOCK_BYTES // max(1, 8 * self.kernel.n_y * (steps + 1)) // at_once
        size = at_once * max(1, groups)  # no thread has less to do than another
        for first in range(0, len(batch.rows), size):
            starts = batch.table.find([values for _, values in batch.rows[first : first + size]])
            batch.left += [int(first + k) for k in np.flatnonzero(~starts.ready)]
            chosen = np.flatnonzero(starts.ready)
            if len(chosen):
                yield _LaneBlock(first + chosen, starts, chosen)

    def _integrate(self, block: _LaneBlock, threads: int) -> BatchSolution:
        """The states of all runs of a block at all steps."""
        motion, step, starts, chosen = self.batch.motion, self.options.step, block.starts, block.chosen
        assert step is not None and not isinstance(starts.inputs, VaryingInputs)
        return rk4_batch(
            self.kernel, starts.y[chosen], motion.t0, motion.until, step, every=1, p=starts.p[chosen],
            inputs=starts.inputs[chosen], quaternions=self.dynamics.topology.layout.quaternions, threads=threads,
            on_progress=lambda done: self._goes_on,
        )  # fmt: skip

    def _finish(self, put: Put, measuring: Measuring, block: _LaneBlock, solution: BatchSolution, k: int) -> None:
        """What is kept of a run; one that did not stay finite is made by itself."""
        place, row = int(block.places[k]), block.chosen[k]
        if solution.failed_component[k] < 0:
            p, inputs = block.starts.p[row], block.starts.inputs_of(row)
            kept = self.batch.measure(measuring, solution.t, solution.y[k], p, inputs)
            if kept is not None:
                put(self.batch.rows[place][0], kept)
                return
        self.batch.left.append(place)


def _find_kernel(dynamics: Dynamics) -> KernelSpec:
    lanes = dynamics.kernels.lanes
    rate = dynamics.kernels.machine(Kernel("rate"), lanes)
    return KernelSpec(rate.address, dynamics.n_q, dynamics.n_u, dynamics.n_z, lanes, rate.sizes["work"])


def make_runs(
    batch: SwiftBatch, put: Put, threads: int, goes_on: GoesOn | None = None
) -> bool:  # fmt: skip
    """Make the runs of a batch in lanes where they can share their steps, else each with its own; False if stopped."""
    lanes = LaneBatch.find(batch)
    return batch.make(put, threads, goes_on) if lanes is None else lanes.make(put, threads, goes_on)
