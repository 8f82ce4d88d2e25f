"""Clocks in the integrator loops: exact multiples of a period, counted in integer base ticks."""

from __future__ import annotations

import math

from kinode.ode.loops.columns.column_shift import argument_of
from kinode.ode.loops.loop_primitives import run_kernel
from kinode.ode.loops.run_memory import RunMemory


def begin_ticks(run: RunMemory) -> None:
    """Find the first tick of each clock (stored after its period and phase); later ticks need no division."""
    ticks = run.clocks.ticks
    for s in range(run.clocks.count):
        period, phase = ticks[3 * s], ticks[3 * s + 1]
        late = max(0, run.clocks.first - phase)
        ticks[3 * s + 2] = phase + (late + period - 1) // period * period
    _find_tick(run)


def _find_tick(run: RunMemory) -> None:
    """Find the next tick of any clock."""
    clocks, due = run.clocks, -1
    ticks = clocks.ticks
    for s in range(clocks.count):
        due = ticks[3 * s + 2] if due < 0 else min(due, ticks[3 * s + 2])
    clocks.due = due
    clocks.time = math.inf
    if due >= 0:
        since = float((due - clocks.base) * clocks.numerator) / float(clocks.denominator)
        clocks.time = clocks.base_time + since


def tick(run: RunMemory) -> bool:
    """Run the compiled clocks whose tick it is; True if Python clocks have to be called too."""
    clocks, mask = run.clocks, run.events.mask
    ticks, in_python = clocks.ticks, clocks.in_python
    compiled, called = False, False
    for s in range(clocks.count):
        mask[s] = 0.0
        if ticks[3 * s + 2] == clocks.due:
            ticks[3 * s + 2] += ticks[3 * s]
            if in_python[s] != 0:
                called = True
            else:
                mask[s] = 1.0
                compiled = True
    if compiled:
        x = argument_of(run, mask, clocks.count)
        run_kernel(run, clocks.sample, _tick_time(run), run.state.y, x, run.events.changed)
        take_changed(run)
    if clocks.modes_depend != 0:
        run.events.consistent = 0
    for s in range(clocks.count):
        mask[s] = 0.0
    clocks.first = clocks.due + 1
    _find_tick(run)
    return called


def _tick_time(run: RunMemory) -> float:
    """The time of the model at the present tick, to the last bit: samples see a law of time at it, on no side of it."""
    return float(run.clocks.due * run.clocks.numerator) / float(run.clocks.denominator)


def take_changed(run: RunMemory) -> None:
    """Make the state after an event or a tick the present one."""
    y, changed = run.state.y, run.events.changed
    for i in range(run.model.n):
        y[i] = changed[i]
