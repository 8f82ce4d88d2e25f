"""Batches of runs by the classical Runge-Kutta method, in groups of as many runs as lanes."""

from __future__ import annotations

import math

from kinode.jit.loop.memory import Floats, tail
from kinode.ode.loops.fixed_step import classical_step
from kinode.ode.loops.loop_primitives import project, rate
from kinode.ode.loops.run_codes import Outcome
from kinode.ode.loops.run_memory import BatchMemory


def _gather(batch: BatchMemory, group: int, source: Floats, stride: int, n: int, target: Floats) -> None:
    """Interleave the rows of a group: target[i * lanes + lane]; the last run fills lanes without a run."""
    lanes = batch.run.model.lanes
    for lane in range(lanes):
        row = tail(source, stride * min(group * lanes + lane, batch.runs - 1))
        for i in range(n):
            target[i * lanes + lane] = row[i]


def _scatter(batch: BatchMemory, group: int, sample: int) -> None:
    """Store the present states of a group as the given sample of each of its runs."""
    lanes, y = batch.run.model.lanes, batch.run.state.y
    n = batch.run.model.n // lanes
    for lane in range(min(lanes, batch.runs - group * lanes)):
        row = tail(batch.run.output.y, n * ((group * lanes + lane) * batch.samples + sample))
        for i in range(n):
            row[i] = y[i * lanes + lane]


def _note_failures(batch: BatchMemory, group: int, step: int) -> None:
    """Note the step and the component of each run that becomes not finite."""
    lanes, new = batch.run.model.lanes, batch.run.state.y_new
    steps, components = batch.failed_step, batch.failed_component
    for lane in range(min(lanes, batch.runs - group * lanes)):
        run_index = group * lanes + lane
        if steps[run_index] < 0:
            for i in range(batch.run.model.n // lanes):
                if not math.isfinite(new[i * lanes + lane]):
                    steps[run_index] = step
                    components[run_index] = i
                    break


def run_groups(batch: BatchMemory) -> int:
    """Integrate the groups of runs, one after the other.

    A run that becomes not finite does not stop the others of its group.
    """
    run = batch.run
    model, step, y, new = run.model, run.step, run.state.y, run.state.y_new
    n, steps = model.n // model.lanes, run.method.max_steps
    for group in range(batch.first_group, batch.last_group):
        _gather(batch, group, batch.start, n, n, y)
        _gather(batch, group, batch.p, batch.p_stride, batch.n_p, model.p)
        _gather(batch, group, batch.inputs, batch.inputs_stride, batch.n_inputs, model.inputs)
        _scatter(batch, group, 0)
        for k in range(steps):
            t = step.t_start + k * step.h
            rate(run, t, y, run.state.slopes)
            bad = classical_step(run, t, step.h)
            if bad != 0:
                _note_failures(batch, group, k + 1)
            project(run, t + step.h, new)
            for i in range(model.n):
                y[i] = new[i]
            if (k + 1) % batch.every == 0:
                _scatter(batch, group, (k + 1) // batch.every)
            elif k + 1 == steps:
                _scatter(batch, group, batch.samples - 1)
            run.counts.steps += 1
            if batch.stop[0] != 0:
                return Outcome.PAUSED
    return Outcome.DONE
