"""One run of a compiled loop from Python's side: its memory, its output, and the requests of the loop.

The vectors that a run works on are its state, stages, slopes, and what the kernel takes and gives. The memory for the
output may serve one run after another: each ends before the next one writes over it.
"""

from __future__ import annotations

import ctypes
import math
import time as clock
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinode.jit.loop.memory import floats_of, ints_of
from kinode.ode import compiled_loops
from kinode.ode.endings import OF_CODE, Ending, EndKind
from kinode.ode.input_table import CourseTable
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.loops.run_codes import MOST_REACH, SLOW_SHARE, Outcome, Stepping
from kinode.ode.loops.run_memory import RunMemory
from kinode.ode.ode_arguments import Array
from kinode.ode.run_events import RunEvents, find_lost, provide_arrays, provide_block, set_columns
from kinode.ode.solution import OdeSolution, SingularPass

if TYPE_CHECKING:
    from kinode.ode.stiff_takeover import StiffTakeover


def provide_rows(
    run: RunMemory, kernel: KernelSpec, arguments: tuple[Array, Array], quaternions: Sequence[int], stages: int
) -> Array:
    """Give a run its arrays; returns the state vectors: start of a step, end, stage, between, then the slopes."""
    return lay_out_rows(run, kernel, arguments, quaternions, stages, provide_arrays)[0]


def lay_out_rows(
    run: RunMemory, kernel: KernelSpec, arguments: tuple[Array, Array], quaternions: Sequence[int], stages: int,
    provide: Callable[..., list[Array]],
) -> tuple[Array, Array, Array]:  # fmt: skip
    """The same with a function that provides the arrays; returns state vectors, parameters and inputs."""
    n, lanes, model, state = kernel.n_row * kernel.lanes, kernel.lanes, run.model, run.state
    time, x, work, projected, p, inputs, rows = provide(
        lanes, lanes, kernel.n_work * lanes, n + lanes, arguments[0].size, arguments[1].size, (4 + stages) * n
    )
    p[:], inputs[:] = arguments
    model.rate, model.projection, model.completed = kernel.address, kernel.projection, kernel.completed
    model.n, model.n_continuous, model.lanes = n, n, lanes
    run.columns.n_state = run.columns.n_measured = kernel.n_y * lanes
    model.u_at, model.z_at = kernel.n_q * lanes, (kernel.n_q + kernel.n_u) * lanes
    model.n_quaternions, model.quaternions = len(quaternions), ints_of(np.array(quaternions, dtype=np.int64))
    model.time, model.x, model.work, model.projected = map(floats_of, (time, x, work, projected))
    model.p, model.inputs = floats_of(p), floats_of(inputs)
    state.y, state.y_new, state.y_stage, state.between, state.slopes = (
        floats_of(rows[n * k : n * k + n]) for k in range(5)
    )
    run.clocks.time = run.breaks.time = run.breaks.latest = math.inf
    run.breaks.earliest = -math.inf
    return rows.reshape(4 + stages, n), p, inputs


OnLong = Callable[[float, Array, int, int], int | Ending]
"""Called with time, state, numbers of steps and events; gives the step at which it is called again, or ends the run."""
OnNear = Callable[[float, Array], bool]
"""Called with time and state where a run lingers near a singular position; False ends it."""
NEAR_STEPS = 1000  # in a row near a singular position: it is asked whether to go on
LEAST_STEP = 2.0**-60  # as a share of the run's length: no sum of such steps ends the run
PASS_ENDED = 1e-2
"""Share of the largest distance from singular positions: a step that ends farther away ends the pass."""
CHUNK_SECONDS = 0.05  # of wall time after which a loop returns, for an interrupt, a progress bar or a request to stop
NOTED_STEPS = 1000  # bounded by stability, from which on that is worth a word
NO_NUMBERS = floats_of(np.zeros(0))
_BLOCK_NUMBERS = 1 << 19  # numbers in a block of output, at most (4 MB)
MOST_COPIED = 1 << 13  # numbers of sampled output: to copy them takes less time than to provide new memory
MOST_KEPT = 1 << 17  # numbers of a block for output at every step that is kept for other runs


class LoopRun:
    """One run of one lane.

    Parameters
    ----------
    kernel : the model.
    y0 : initial state.
    span : start and end in s.
    arguments : parameters and inputs of the model.
    quaternions : index of the first component of each quaternion in the state.
    times : output times in s; None for each step.
    stages : number of slopes that the method keeps.
    max_steps : largest number of steps.
    first_tick : the first clock tick to come; None for the first that is not before the start.
    loop : name of the compiled loop.
    memory : where the run is laid out; new memory by default.
    """

    def __init__(
        self, kernel: KernelSpec, y0: Array, span: tuple[float, float], arguments: tuple[Array, Array],
        quaternions: Sequence[int], times: Array | None, stages: int, max_steps: int, first_tick: int | None = None,
        loop: str = "advance_adaptive", memory: RunMemory | None = None,
    ) -> None:  # fmt: skip
        self.memory = run = memory if memory is not None else RunMemory()
        self._storage: list[Array] = []
        self._pristine: tuple[bytes, list[Array]] | None = None  # memory and storage before the first step
        rows, p, inputs = lay_out_rows(run, kernel, arguments, quaternions, stages, self.provide)
        self._copies = [(1, p, inputs)]  # of parameters and inputs, with the lanes over which they are interleaved
        self.y, self.y_new, self.y_stage = rows[:3]
        self.slopes = rows[4:]
        self.max_steps, self.loop, self.arguments = max_steps, loop, arguments
        self.takeover: StiffTakeover | None = None
        self.passes: list[SingularPass] = []
        self.on_near: OnNear | None = None
        self._near_until, self._near_steps = -2, 0  # the last step that ended near a singular position; those in a row
        self.y[:] = y0
        self.span, self.given_times = span, times
        run.step.origin, run.step.t_end = span[0], span[1] - span[0]
        run.step.least = LEAST_STEP * abs(run.step.t_end)
        run.step.previous_error, run.counts.failed, run.counts.goal = 1e-4, -1, -1
        run.method.max_steps = max_steps
        run.method.weights = floats_of(np.zeros(stages))
        self.times = np.zeros(0) if times is None else times - span[0]
        run.output.sampled, run.output.n_times = times is not None, self.times.size
        run.output.times = floats_of(self.times)
        self._blocks: list[tuple[Array, Array]] = []
        self._kept: tuple[Array, Array] | None = None  # memory of the output that all runs of this layout write into
        self.events: RunEvents | None = None
        if kernel.columns is not None:
            set_columns(run, kernel.columns, self.provide)
        if kernel.events is not None:
            self.events = RunEvents(kernel.events, run, self.y, first_tick, span, self.provide)
        if self.events is not None:
            run.step.t_end = float(self.events.align(np.array([run.step.t_end]), np.array([span[1]]))[0])
        self._set_bounds(kernel)
        self._first_rows(y0)

    def provide(self, *sizes: int) -> list[Array]:
        """Arrays of zeros that the loop works on; ``begin_again`` resets them."""
        block, arrays = provide_block(*sizes)
        self._storage.append(block)
        return arrays

    @property
    def storage(self) -> Sequence[Array]:
        """The blocks of memory that the loop works on, beside ``memory``."""
        return self._storage

    @cached_property
    def _rows_at_start(self) -> int:
        """The rows of the output at the start."""
        return int((self.times == 0.0).sum()) if self.memory.output.sampled else 1

    @property
    def start_rows(self) -> tuple[int, bool]:
        """The rows of the output at the start, and whether their states are known before the first step."""
        return self._rows_at_start, self.events is None or self.memory.step.t_end == 0.0

    def provide_arguments(self, lanes: int) -> tuple[Array, Array]:
        """Parameters and inputs, each interleaved over lanes."""
        p, inputs = self.provide(*(lanes * values.size for values in self.arguments))
        self._copies.append((lanes, p, inputs))
        self._write_arguments()
        return p, inputs

    def _write_arguments(self) -> None:
        for lanes, p, inputs in self._copies:
            for copy, values in ((p, self.arguments[0]), (inputs, self.arguments[1])):
                copy[:] = values if lanes == 1 else np.repeat(values, lanes)

    def keep_layout(self) -> None:
        """Keep what the run looks like before its first step, for ``begin_again``."""
        self._pristine = bytes(self.memory), [block.copy() for block in self._storage]
        if self.out_y.size <= (MOST_COPIED if self.memory.output.sampled else MOST_KEPT):
            self._kept = self.out_t, self.out_y

    def begin_again(self, y0: Array, arguments: tuple[Array, Array]) -> None:
        """Begin anew with another start, other parameters and inputs, in the memory of the run before."""
        assert self._pristine is not None
        memory, blocks = self._pristine
        ctypes.memmove(ctypes.addressof(self.memory), memory, len(memory))
        for block, first in zip(self._storage, blocks, strict=True):
            np.copyto(block, first)
        self.arguments, self.y[:] = arguments, y0
        self._write_arguments()
        self.passes, self._near_until, self._blocks, self.takeover, self.on_near = [], -2, [], None, None
        if self.events is not None:
            self.events.listed = []
        if self._kept is not None:  # where the memory of the run already points
            self.out_t, self.out_y = self._kept
            self._write_start(y0)
        else:
            self._first_rows(y0)

    @property
    def _is_kept(self) -> bool:
        """Whether the output stands where that of the next run will, so that its receiver needs a copy."""
        return self._kept is not None and self.out_t is self._kept[0]

    def release_output(self) -> None:
        """Forget the output, which its receiver keeps, and who may take the run over."""
        self._blocks, self.takeover, self.on_near = [], None, None
        if not self._is_kept:
            self.memory.output.t = self.memory.output.y = NO_NUMBERS
        del self.out_t, self.out_y

    def absolute(self, t: float) -> float:
        """A time of the loop, which counts from the start, as a time of the model."""
        at_end = t == self.memory.step.t_end and math.isfinite(self.span[1])
        return self.span[1] if at_end else self.span[0] + t

    @property
    def now(self) -> float:
        """The present time of the model in s."""
        return self.absolute(self.memory.step.t)

    @property
    def state(self) -> Array:
        """The present state, without columns."""
        state: Array = self.y[: self.memory.columns.n_state]
        return state

    def _set_bounds(self, kernel: KernelSpec) -> None:
        """Give the loop the bounds of laws and event functions."""
        spec, bounds = kernel.bounds, self.memory.bounds
        if kernel.events is not None:
            covered = np.zeros(len(kernel.events.modes), dtype=np.int64)
            for j, k in enumerate(() if spec is None else spec.functions):
                covered[k] = 1 + j
            bounds.covered = ints_of(covered)
        if spec is None:
            return
        n, laws, count = spec.n_arguments, spec.n_laws, spec.n_laws + len(spec.functions)
        bounds.kernel, bounds.arguments, bounds.laws = spec.bounds, spec.arguments, spec.laws
        bounds.n_arguments, bounds.n_laws, bounds.count = n, laws, count
        bounds.functions = ints_of(np.array(spec.functions, dtype=np.int64))
        arrays = self.provide(*[2 * n] * 5, *[2 * count] * 2, *[laws] * 4, n)
        arrays[-1][:] = spec.widths
        pointers = [floats_of(array) for array in arrays]
        bounds.ranges, bounds.piece, bounds.box, bounds.before, bounds.after = pointers[:5]
        bounds.out, bounds.box_out = pointers[5:7]
        bounds.laws_before, bounds.laws_after, bounds.least, bounds.most, bounds.widths = pointers[7:]
        bounds.reach = MOST_REACH

    def set_breaks(self, breaks: Array, margin: float) -> None:
        """Give the loop the breaks of expressions of time, in s, and their accuracy."""
        run, times = self.memory, np.ascontiguousarray(breaks - self.span[0])
        if self.events is not None:
            times = self.events.align(times, breaks)
        if times.size and self.span[1] < self.span[0]:
            raise ValueError("t1: breaks are passed forwards in time")
        run.breaks.count, run.breaks.times, run.breaks.margin = times.size, floats_of(times), margin
        run.breaks.next = int(np.searchsorted(times, run.step.t - margin))

    def set_courses(self, table: CourseTable) -> None:
        """Give the loop the courses of the inputs that change."""
        functions = 0 if self.events is None else len(self.events.g)
        at, g = self.provide(len(table.pairs), functions)
        table.fill(self.memory.courses, at.view(np.int64), g)

    def _allocate(self, rows: int) -> None:
        """New output arrays for so many states."""
        output = self.memory.output
        self.out_t, self.out_y = np.empty(rows), np.empty((rows, self.y.size))
        output.t, output.y, output.room = floats_of(self.out_t), floats_of(self.out_y), len(self.out_t)

    def _first_rows(self, y0: Array) -> None:
        """Allocate the output and write the state at the start; with events it is known only after mode iteration."""
        output = self.memory.output
        at_start, start_known = self.start_rows
        block_rows = max(16, min(1024, _BLOCK_NUMBERS // max(1, y0.size)))
        self._allocate(max(1, self.times.size) if output.sampled else block_rows)
        self._write_start(y0)
        output.written = output.next_time = at_start if start_known else 0

    def _write_start(self, y0: Array) -> None:
        """Write the rows of the output at the start."""
        self.out_t[: self._rows_at_start], self.out_y[: self._rows_at_start] = 0.0, y0

    def _next_block(self) -> None:
        """Keep the full block of output and begin one of twice the size."""
        self._blocks.append((self.out_t, self.out_y))
        self._allocate(max(16, min(2 * len(self.out_t), _BLOCK_NUMBERS // self.y.size)))
        self.memory.output.written = 0

    def complete(
        self, on_progress: Callable[[float], bool] | None, budget: int | None,
        on_long: tuple[int, OnLong] | None = None,
    ) -> OdeSolution:  # fmt: skip
        """The solution of the whole run."""
        if self.span[0] == self.span[1] or self.y.size == 0:
            return self.solution(Ending(EndKind.DONE, self.span[1], "nothing to integrate"))
        return self.solution(self.drive(on_progress, budget, on_long))

    def drive(
        self, on_progress: Callable[[float], bool] | None, budget: int | None,
        on_long: tuple[int, OnLong] | None = None,
    ) -> Ending:  # fmt: skip
        """Call the loop repeatedly until the run ends."""
        call, counts = compiled_loops.loop(self.loop), self.memory.counts
        steps, shown = budget or 256, clock.perf_counter()
        try:
            while True:
                began = clock.perf_counter()
                overdue = budget is None and began - shown > 2 * CHUNK_SECONDS
                counts.budget = 0 if overdue else min(steps, self.max_steps - counts.steps)
                if on_long is not None:
                    counts.budget = min(counts.budget, max(1, on_long[0] - counts.steps - counts.rejected))
                if self.takeover is not None:
                    counts.budget = self.takeover.limit(counts.budget)
                code = call(self.memory)
                elapsed = clock.perf_counter() - began
                if code == Outcome.DONE:
                    return EndKind.DONE.at(self.now)
                if code == Outcome.STIFF and self.takeover is not None:
                    self.takeover.take_over()
                    call = compiled_loops.loop(self.loop)
                    continue
                if self.serve(code):
                    if code == Outcome.NEAR_SINGULAR and self._ends_near():
                        return Ending(EndKind.STALLED, self.now, f"the run lingers near t = {self.now:.9g} s")
                    continue
                if self.takeover is not None and self.takeover.changes(code):
                    call = compiled_loops.loop(self.loop)
                    continue
                if code != Outcome.PAUSED or counts.steps >= self.max_steps:
                    return self.describe(code if code != Outcome.PAUSED else Outcome.TOO_MANY_STEPS)
                shown = clock.perf_counter()
                if on_long is not None and counts.steps + counts.rejected >= on_long[0]:
                    later = on_long[1](self.now, self.state.copy(), counts.steps + counts.rejected, self.n_events)
                    if isinstance(later, Ending):
                        return later
                    on_long = later, on_long[1]
                if budget is None and not overdue:
                    steps = int(min(max(steps * min(8.0, CHUNK_SECONDS / max(elapsed, 1e-9)), 1), 1 << 40))
                if on_progress is not None and on_progress(self.now) is False:
                    return EndKind.STOPPED.at(self.now)
        except KeyboardInterrupt:
            return EndKind.INTERRUPTED.at(self.now)

    @property
    def n_events(self) -> int:
        """How many event functions have triggered so far."""
        return 0 if self.events is None else len(self.events.listed) + self.memory.events.listed

    def serve(self, code: int) -> bool:
        """Serve a request of the loop; False if the code is no request, but an end or a pause."""
        if code == Outcome.NEAR_SINGULAR:
            self._note_pass()
        elif code == Outcome.ROWS_FULL:
            self._next_block()
        elif self.events is not None and code == Outcome.EVENTS_FULL:
            self.events.collect()
        elif self.events is not None and code == Outcome.PYTHON_CLOCK:
            self.events.call_clocks()
        else:
            return False
        return True

    def _note_pass(self) -> None:
        """Record a pass of a singular position; steps in a row near it count as one pass."""
        monitor, step = self.memory.monitor, self.memory.counts.steps
        within = monitor.near_time != self.memory.step.t_new
        y = (self.y_stage if within else self.y_new)[: self.memory.columns.n_state]
        singular_pass = SingularPass(self.absolute(monitor.near_time), monitor.near_share, y.copy())
        self._near_steps = self._near_steps + 1 if step == self._near_until + 1 else 0
        if self._near_steps:
            singular_pass = min(singular_pass, self.passes.pop(), key=lambda each: each.share)
        self.passes.append(singular_pass)
        if monitor.distance < PASS_ENDED * monitor.farthest:
            self._near_until = step

    def _ends_near(self) -> bool:
        """Whether a pass of a singular position has lasted long, and is not to go on."""
        due = self._near_steps > 0 and self._near_steps % NEAR_STEPS == 0
        return due and self.on_near is not None and not self.on_near(self.now, self.state)

    def describe(self, code: int) -> Ending:
        """The ending for a code with which a run cannot continue."""
        if self.events is not None and code in (Outcome.MODES_INCONSISTENT, Outcome.CHATTER):
            return self.events.describe(code)
        kind, length = OF_CODE[Outcome(code)], abs(self.memory.step.t_end)
        t = self.absolute(self.memory.step.failed_time) if kind is EndKind.NOT_FINITE else self.now
        entry = self.memory.counts.failed if kind in (EndKind.NOT_FINITE, EndKind.PART_STOPS) else None
        return kind.at(t, entry=entry, least=f"{SLOW_SHARE * length:.1g} s", length=f"{length:g} s")

    def _times_of(self, t: Array) -> Array:
        """The times of stored states: those that were asked for, or those of the steps."""
        if self.given_times is not None:
            return self.given_times[: len(t)].copy()
        if self.span == (0.0, self.memory.step.t_end):
            return t
        return np.where(t == self.memory.step.t_end, self.span[1], self.span[0] + t)

    def solution(self, ending: Ending) -> OdeSolution:
        """The results of the run so far."""
        counts, step, written = self.memory.counts, self.memory.step, self.memory.output.written
        n, m = self.memory.columns.n_state, self.memory.columns.count
        t, y = self.out_t[:written], self.out_y[:written]
        if self._blocks:
            t, y = (np.concatenate(parts) for parts in zip(*self._blocks, (t, y), strict=True))
        elif written < len(self.out_t) or self._is_kept:
            t, y = t.copy(), y.copy()
        fixed, stiffness = self.memory.method.stepping == Stepping.FIXED, self.memory.stiffness
        if self.events is not None:
            self.events.collect()
        return OdeSolution(
            t=self._times_of(t),
            y=np.ascontiguousarray(y[:, :n]) if m else y,
            ending=ending,
            steps=counts.steps + (counts.cut if fixed else 0),
            rejected=counts.rejected,
            evaluations=counts.evaluations,
            t_end=self.now,
            y_end=self.state.copy(),
            next_step=abs(step.h),
            passes=tuple(self.passes),
            events=() if self.events is None else tuple(self.events.listed),
            next_tick=None if self.events is None else self.memory.clocks.first,
            bound_from=self.absolute(stiffness.first) if stiffness.bound_steps >= NOTED_STEPS else None,
            taken_over=None if self.takeover is None else self.takeover.time,
            columns=y[:, n:].reshape(len(y), m, n) if m else None,
            columns_lost=find_lost(self.memory, self.absolute),
        )
