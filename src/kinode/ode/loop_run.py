"""One run of a compiled loop, as Python sees it: its memory, its output, and what the loop comes back for."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Sequence

import numpy as np

from kinode.jit.pointers import floats_of, ints_of
from kinode.ode import compiled_loops
from kinode.ode.ending import Ending, EndKind, interrupted_at, reached_end, stopped_at
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.loops.run_codes import Outcome, Stepping
from kinode.ode.loops.run_memory import RunMemory
from kinode.ode.ode_arguments import Array
from kinode.ode.run_events import RunEvents
from kinode.ode.solution import OdeSolution, SingularPass

LEFT = 1e-2
"""Share of the largest distance from singular positions, at the end of a step: from there the next pass is another."""
CHUNK_SECONDS = 0.05
"""Time after which a loop comes back, so that an interrupt, a progress bar and a wish to stop are dealt with."""
_BLOCK_NUMBERS = 1 << 19


def provide_parts(*sizes: int) -> list[Array]:
    """Zeros in one piece of memory, each part at a multiple of 64 bytes, as vector instructions like it."""
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + -(-size // 8) * 8)
    room = np.zeros(starts[-1] + 8)
    first = (-room.ctypes.data % 64) // 8
    return [room[first + start : first + start + size] for start, size in zip(starts, sizes, strict=False)]


def provide_rows(
    run: RunMemory, kernel: KernelSpec, arguments: tuple[Array, Array], quaternions: Sequence[int], stages: int
) -> Array:
    """Give a run its arrays; the rows of states: at the start of a step, at its end, at a stage, between, slopes."""
    n, lanes, model, state = kernel.n_y * kernel.lanes, kernel.lanes, run.model, run.state
    time, x, work, projected, p, inputs, rows = provide_parts(
        lanes, lanes, kernel.n_work * lanes, n + lanes, arguments[0].size, arguments[1].size, (4 + stages) * n
    )
    p[:], inputs[:] = arguments
    model.rate, model.projection = kernel.address, kernel.projection
    model.n, model.n_continuous, model.lanes = n, n, lanes
    model.u_at, model.z_at = kernel.n_q * lanes, (kernel.n_q + kernel.n_u) * lanes
    model.n_quaternions, model.quaternions = len(quaternions), ints_of(np.array(quaternions, dtype=np.int64))
    model.time, model.x, model.work, model.projected = map(floats_of, (time, x, work, projected))
    model.p, model.inputs = floats_of(p), floats_of(inputs)
    state.y, state.y_new, state.y_stage, state.between, state.slopes = (
        floats_of(rows[n * k : n * k + n]) for k in range(5)
    )
    run.clocks.time = run.breaks.time = run.breaks.latest = math.inf
    run.breaks.earliest = -math.inf
    return rows.reshape(4 + stages, n)


class LoopRun:
    """One run of one lane.

    Parameters
    ----------
    kernel : the model.
    y0 : initial state.
    span : start and end in s.
    arguments : parameters and inputs of the model.
    quaternions : where quaternions begin in the state.
    times : times of the output in s; None for each step.
    stages : slopes that the method keeps.
    max_steps : steps that are allowed.
    first_tick : the first tick of clocks that is still to come; None for the first that is not before the start.
    loop : name of the compiled loop.
    """

    def __init__(
        self, kernel: KernelSpec, y0: Array, span: tuple[float, float], arguments: tuple[Array, Array],
        quaternions: Sequence[int], times: Array | None, stages: int, max_steps: int, first_tick: int | None = None,
        loop: str = "advance_adaptive",
    ) -> None:  # fmt: skip
        self.memory = run = RunMemory()
        rows = provide_rows(run, kernel, arguments, quaternions, stages)
        self.y, self.y_new, self.y_stage, self.between = rows[:4]
        self.max_steps, self.loop = max_steps, loop
        self.passes: list[SingularPass] = []
        self._near_until = -2  # the last step that ended near a singular position
        self.y[:] = y0
        run.step.t = run.step.t_new = run.step.t_start = span[0]
        run.step.t_end = span[1]
        run.step.previous_error, run.step.t_asked, run.counts.failed = 1e-4, math.nan, -1
        run.method.max_steps = max_steps
        run.method.weights = floats_of(np.zeros(stages))
        self.times = np.zeros(0) if times is None else times
        run.output.sampled, run.output.n_times = times is not None, self.times.size
        run.output.times = floats_of(self.times)
        self._blocks: list[tuple[Array, Array]] = []
        self.events = None if kernel.events is None else RunEvents(kernel.events, run, self.y, first_tick)
        self._first_rows(span[0], y0)

    def set_breaks(self, breaks: Array, margin: float) -> None:
        """Tell the loop when laws of time break."""
        run, times = self.memory, np.ascontiguousarray(breaks)
        if times.size and run.step.t_end < run.step.t:
            raise ValueError("t1: breaks are passed forwards in time")
        run.breaks.count, run.breaks.times, run.breaks.margin = times.size, floats_of(times), margin
        run.breaks.next = int(np.searchsorted(times, run.step.t - margin))

    def _make_room(self, rows: int) -> None:
        output = self.memory.output
        self.out_t, self.out_y = np.empty(rows), np.empty((rows, self.y.size))
        output.t, output.y, output.room = floats_of(self.out_t), floats_of(self.out_y), rows

    def _first_rows(self, t0: float, y0: Array) -> None:
        """Room for the output, and the rows that are known before the first step: with events none is."""
        output = self.memory.output
        at_start = int((self.times == t0).sum()) if output.sampled else 1
        known = self.events is None or t0 == self.memory.step.t_end
        free = max(16, min(1024, _BLOCK_NUMBERS // max(1, y0.size)))
        self._make_room(max(1, self.times.size) if output.sampled else free)
        self.out_t[:at_start], self.out_y[:at_start] = t0, y0
        output.written = output.next_time = at_start if known else 0

    def _next_block(self) -> None:
        """Set the full block aside and begin one of twice the size."""
        self._blocks.append((self.out_t, self.out_y))
        self._make_room(max(16, min(2 * len(self.out_t), _BLOCK_NUMBERS // self.y.size)))
        self.memory.output.written = 0

    def drive(
        self, on_progress: Callable[[float], bool] | None, budget: int | None,
        on_long: tuple[int, Callable[[float], None]] | None = None,
    ) -> Ending:  # fmt: skip
        """Call the loop again and again until it is done or something ends it."""
        call, counts, step = compiled_loops.loop(self.loop), self.memory.counts, self.memory.step
        steps, shown = budget or 256, clock.perf_counter()
        try:
            while True:
                began = clock.perf_counter()
                overdue = budget is None and began - shown > 2 * CHUNK_SECONDS
                counts.budget = 0 if overdue else min(steps, self.max_steps - counts.steps)
                code = call(self.memory)
                elapsed = clock.perf_counter() - began
                if code == Outcome.DONE:
                    return reached_end(step.t)
                if self.serve(code):
                    continue
                if code != Outcome.PAUSED or counts.steps >= self.max_steps:
                    return self.describe(code if code != Outcome.PAUSED else Outcome.TOO_MANY_STEPS)
                shown = clock.perf_counter()
                if on_long is not None and counts.steps + counts.rejected >= on_long[0]:
                    on_long[1](step.t)
                    on_long = None
                if budget is None and not overdue:
                    steps = int(min(max(steps * min(8.0, CHUNK_SECONDS / max(elapsed, 1e-9)), 1), 1 << 40))
                if on_progress is not None and on_progress(step.t) is False:
                    return stopped_at(step.t)
        except KeyboardInterrupt:
            return interrupted_at(step.t)

    def serve(self, code: int) -> bool:
        """Do what a loop came back for; False if that is nothing to be done, but its end or a pause."""
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
        """Keep a pass near a singular position, once for all steps that it takes."""
        monitor, step = self.memory.monitor, self.memory.counts.steps
        within = monitor.near_time != self.memory.step.t_new
        near = SingularPass(monitor.near_time, monitor.near_share, (self.y_stage if within else self.y_new).copy())
        if step == self._near_until + 1:
            near = min(near, self.passes.pop(), key=lambda one: one.share)
        self.passes.append(near)
        if monitor.distance < LEFT * monitor.farthest:
            self._near_until = step

    def describe(self, code: int) -> Ending:
        """Why the run cannot go on."""
        t, failed = self.memory.step.t, self.memory.counts.failed
        if code == Outcome.NOT_FINITE:
            when = self.memory.step.failed_time
            message = f"component {failed} of the state is not finite at t = {when:.9g} s"
            return Ending(EndKind.NOT_FINITE, when, message, entry=failed)
        if code == Outcome.STEP_TOO_SMALL:
            message = f"the step became too small at t = {t:.9g} s: the motion is too abrupt to be followed"
            return Ending(EndKind.STEP_TOO_SMALL, t, message)
        if code == Outcome.LEFT_BRANCH:
            message = (
                f"at t = {t:.9g} s a step ended so far from where the loops close that it may have left its branch: "
                "take shorter steps, or a method that chooses them"
            )
            return Ending(EndKind.STEP_TOO_LONG, t, message)
        if self.events is not None and code in (Outcome.MODES_INCONSISTENT, Outcome.CHATTER):
            return self.events.describe(code)
        message = f"the allowed number of steps was used up at t = {t:.9g} s"
        return Ending(EndKind.TOO_MANY_STEPS, t, message)

    def solution(self, ending: Ending) -> OdeSolution:
        """What was reached, as a record."""
        counts, step, written = self.memory.counts, self.memory.step, self.memory.output.written
        blocks = [*self._blocks, (self.out_t[:written], self.out_y[:written])]
        single = len(blocks) == 1 and written == len(self.out_t)
        fixed = self.memory.method.stepping == Stepping.FIXED
        if self.events is not None:
            self.events.collect()
        return OdeSolution(
            t=blocks[0][0] if single else np.concatenate([block[0] for block in blocks]),
            y=blocks[0][1] if single else np.concatenate([block[1] for block in blocks]),
            ending=ending,
            steps=counts.steps + (counts.cut if fixed else 0),
            rejected=counts.rejected,
            evaluations=counts.evaluations,
            t_end=step.t,
            y_end=self.y.copy(),
            next_step=abs(step.h),
            passes=tuple(self.passes),
            events=() if self.events is None else tuple(self.events.listed),
            next_tick=None if self.events is None else self.memory.clocks.first,
        )
