"""Events and columns of derivatives of one run: the arrays and records for the loops, and what happened.

The loops return to Python where the list of events is full, and at the ticks of clocks that are functions in Python.
Columns end where a derivative does not exist; where that was is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from kinode.jit.loop.memory import floats_of, ints_of
from kinode.ode.endings import MANY_IDLE, MANY_INSTANTS, OF_CODE, Ending
from kinode.ode.kernel_spec import Array, ColumnSpec, EventSpec, Fired
from kinode.ode.loops.run_codes import MAX_INSTANTS, Lost, Outcome
from kinode.ode.loops.run_memory import RunMemory
from kinode.ode.solution import LostColumns


def provide_arrays(*sizes: int) -> list[Array]:
    """Arrays of zeros in one block of memory, each aligned to 64 bytes for vector instructions."""
    return provide_block(*sizes)[1]


def provide_block(*sizes: int) -> tuple[Array, list[Array]]:
    """The block and its arrays."""
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + -(-size // 8) * 8)
    block = np.zeros(starts[-1] + 8)
    first = (-block.ctypes.data % 64) // 8
    return block, [block[first + start : first + start + size] for start, size in zip(starts, sizes, strict=False)]


LIST_SIZE = 512
"""Least capacity of the event list."""


class RunEvents:
    """The events of one run, whose present state is ``y``; ``provide`` makes their arrays."""

    def __init__(
        self, spec: EventSpec, run: RunMemory, y: Array, first_tick: int | None, span: tuple[float, float],
        provide: Callable[..., list[Array]] = provide_arrays,
    ) -> None:  # fmt: skip
        m, n, room, clocks_count = len(spec.modes), y.size, LIST_SIZE + 2 * len(spec.modes), len(spec.ticks)
        self.spec, self.run, self.y, self.span = spec, run, y, span
        self.listed: list[Fired] = []
        numbers = provide(2 * m, m, m, m, m + clocks_count, n, 3 * room)
        self.g, self.g_before, self.g_half, values, mask, changed, listed = numbers
        sizes = (m, m, m, m, m, room, 3 * clocks_count, clocks_count)
        integers = [array.view(np.int64) for array in provide(*sizes)]
        modes, of_state, armed, triggered, active, self._functions, ticks, in_python = integers
        self._numbers = listed.reshape(room, 3)
        values[:], modes[:], of_state[:] = spec.values, spec.modes, spec.of_state or [0] * m
        ticks.reshape(-1, 3)[:, :2] = np.array(spec.ticks, dtype=np.int64).reshape(-1, 2)
        in_python[:] = spec.in_python or [0] * clocks_count
        run.columns.n_measured = max(1, run.columns.n_state - spec.n_discrete)
        if run.columns.count == 0:  # else discrete states lie before the columns, and have slopes that are zero
            run.model.n_continuous = run.columns.n_measured
        run.chatter.cluster_time = -math.inf
        events = run.events
        events.present, events.count, events.room = 1, m, room
        events.functions, events.cheap, events.reset = spec.functions, spec.cheap, spec.reset
        events.modes, events.values, events.of_state = ints_of(modes), floats_of(values), ints_of(of_state)
        events.g, events.g_before, events.g_half = floats_of(self.g), floats_of(self.g_before), floats_of(self.g_half)
        events.armed, events.triggered, events.active = ints_of(armed), ints_of(triggered), ints_of(active)
        events.mask, events.changed = floats_of(mask), floats_of(changed)
        events.list_numbers, events.list_functions = floats_of(listed), ints_of(self._functions)
        clocks = run.clocks
        clocks.count, clocks.sample, clocks.modes_depend = clocks_count, spec.sample, spec.modes_depend
        clocks.numerator, clocks.denominator = spec.tick.numerator, spec.tick.denominator
        clocks.ticks, clocks.in_python = ints_of(ticks), ints_of(in_python)
        clocks.base = spec.first_tick(run.step.origin)
        clocks.base_time = spec.seconds_after(run.step.origin, clocks.base)
        clocks.first = clocks.base if first_tick is None else first_tick

    def absolute(self, t: float) -> float:
        """A time of the loop, which counts from the start, as a time of the model."""
        at_end = t == self.run.step.t_end and math.isfinite(self.span[1])
        return self.span[1] if at_end else self.span[0] + t

    def align(self, times: Array, breaks: Array) -> Array:
        """Breaks as times from the start of the run; one on a clock tick gets the time of the tick to the last bit."""
        clocks = self.run.clocks
        if not clocks.count or self.run.step.origin == 0.0:
            return times
        tick = float(clocks.numerator) / float(clocks.denominator)
        ticks = np.rint(breaks / tick)
        since = (ticks - clocks.base) * float(clocks.numerator) / float(clocks.denominator)
        on_tick = ticks * float(clocks.numerator) / float(clocks.denominator) == breaks
        aligned: Array = np.where(on_tick, clocks.base_time + since, times)
        return aligned

    def collect(self) -> None:
        """Move the events from the loop's list to ``listed``."""
        count = self.run.events.listed
        if not count:
            return
        for (t, before, after), k in zip(self._numbers[:count].tolist(), self._functions[:count].tolist(), strict=True):
            self.listed.append(Fired(self.absolute(t), k, before, after))
        self.run.events.listed = 0

    def call_clocks(self) -> None:
        """Call the clocks that are functions in Python and tick now."""
        assert self.spec.call is not None
        which = [s for s in self.spec.due(self.run.clocks.first - 1) if self.spec.in_python[s]]
        self.spec.call(self.absolute(self.run.step.t), self.y, which)

    def describe(self, code: int) -> Ending:
        """The ending for chatter or inconsistent modes."""
        t, owner = self.absolute(self.run.step.t), self.spec.owners[self.run.events.blamed]
        how = MANY_INSTANTS if self.run.chatter.cluster > MAX_INSTANTS else MANY_IDLE
        return OF_CODE[Outcome(code)].at(t, owner, how=how)


def set_columns(run: RunMemory, spec: ColumnSpec, provide: Callable[..., list[Array]]) -> None:
    """Give a run its columns; ``provide`` makes their arrays."""
    columns, rates = run.columns, spec.break_rates
    columns.count, columns.functions, columns.n_inputs = spec.count, spec.functions, spec.n_inputs
    x, out, before, shifts = provide(spec.n_argument, spec.n_functions, run.model.n, spec.count)
    columns.x, columns.out, columns.before, columns.shifts = map(floats_of, (x, out, before, shifts))
    columns.breaks_shift = int(rates is not None)
    columns.break_shifts = floats_of(np.zeros(0) if rates is None else np.ascontiguousarray(rates).ravel())


def find_lost(run: RunMemory, absolute: Callable[[float], float]) -> LostColumns | None:
    """From when on the columns are no derivatives; None if they are to the end."""
    columns = run.columns
    if columns.lost == Lost.NOTHING:
        return None
    return LostColumns(absolute(columns.lost_time), Lost(columns.lost), columns.lost_function)
