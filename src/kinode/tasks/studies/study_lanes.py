"""Runs of a chunk that share their steps, in the lanes of one kernel.

Possible with the classical Runge-Kutta method at a fixed step, for a tree without events, whose laws have no breaks:
then all runs of a chunk do the same at the same time.  The numbers are those of single runs.  A run that does not stay
finite is made once more by itself, which says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import Error
from kinode.kernels.kernel_options import Kernel
from kinode.ode.ending import reached_end
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.method_table import METHODS
from kinode.ode.ode_arguments import count_steps
from kinode.ode.rk4_batch import BatchSolution, rk4_batch
from kinode.simulation.law_bounds.watched_laws import find_watched
from kinode.simulation.run_length import check_lengths
from kinode.simulation.solver import StateHistory, check_span, check_start
from kinode.simulation.task_arguments import read_seconds
from kinode.simulation.time_events import find_law_times
from kinode.tasks.batches.reducers import reduce_run
from kinode.tasks.batches.run_rows import RowMaker, RunRow, fail_row
from kinode.tasks.batches.value_sets import Values
from kinode.tasks.simulate import RunStart, finish_run

LEAST_RUNS = 8
"""With fewer runs the lanes would be mostly empty."""
BLOCK_BYTES = 64 << 20
"""States of runs that are kept at a time."""
EVALUATIONS = 4
"""Of the rate in a step."""


class _LaneRun(NamedTuple):
    """A run that is ready to begin."""

    number: int
    values: Values
    begin: RunStart
    p: Array
    inputs: Array


def fits_lanes(maker: RowMaker) -> bool:
    """Whether the runs of a task can share their steps, as far as the task tells."""
    task, dynamics = maker.task, maker.task.dynamics
    requested = any(value is not None for value in task.requested.values())
    defaults = any(name in task.defaults for name in ("times", "samples", "every"))
    if not METHODS[task.options.method].fixed or requested or defaults or task.stop_when is not None:
        return False
    topology = dynamics.topology
    return topology.events is None and not topology.constrained and dynamics.n_u > 0 and find_watched(dynamics) is None


def make_in_lanes(maker: RowMaker, rows: Sequence[tuple[int, Values]], threads: int) -> Iterator[RunRow | None]:
    """The rows of runs; None for one that has to be made by itself."""
    until = read_seconds(maker.task.dynamics, "until", maker.task.until)
    ready: list[_LaneRun] = []
    for index, values in rows:
        try:
            begin, p, inputs = maker.find_start(values)
            if not _shares_steps(maker, begin, p, inputs, until) or (ready and begin.state.t != ready[0].begin.state.t):
                yield None
                continue
            check_start(begin.dynamics, begin.state, p, inputs)
        except Error as error:
            yield fail_row(index, values, maker.kept, str(error))
            continue
        ready.append(_LaneRun(index, values, begin, p, inputs))
    if not ready:
        return
    t0, options, dynamics = ready[0].begin.state.t, maker.task.options, maker.task.dynamics
    assert options.step is not None
    check_lengths(dynamics, options.step, options.max_step, t0, until)
    kernel, steps = _find_kernel(dynamics), count_steps(t0, until, options.step) if until > t0 else 0
    size = max(kernel.lanes * threads, BLOCK_BYTES // max(1, 8 * kernel.n_y * (steps + 1)))
    for first in range(0, len(ready), size):
        block = ready[first : first + size]
        solution = rk4_batch(
            kernel, np.stack([run.begin.state.y for run in block]), t0, until, options.step, every=1,
            p=np.stack([run.p for run in block]), inputs=np.stack([run.inputs for run in block]),
            quaternions=dynamics.topology.layout.quaternions, threads=threads,
        )  # fmt: skip
        for k, run in enumerate(block):
            yield _finish(maker, run, solution, k)


def _shares_steps(maker: RowMaker, begin: RunStart, p: Array, inputs: Array, until: float) -> bool:
    """Whether no law of a run asks for steps of its own."""
    check_span(begin.state.t, until)
    laws = find_law_times(begin.dynamics, p, inputs, begin.state.t, until)
    return begin.dynamics is maker.task.dynamics and not len(laws.breaks)


def _find_kernel(dynamics: Dynamics) -> KernelSpec:
    lanes = dynamics.kernels.lanes
    rate = dynamics.kernels.machine(Kernel("rate"), lanes)
    return KernelSpec(rate.address, dynamics.n_q, dynamics.n_u, dynamics.n_z, lanes, rate.sizes["work"])


def _finish(maker: RowMaker, run: _LaneRun, solution: BatchSolution, k: int) -> RunRow | None:
    """What is kept of a run; None for one that did not stay finite."""
    if solution.failed_component[k] >= 0:
        return None
    y, t_end = np.ascontiguousarray(solution.y[k]), float(solution.t[-1])
    motion = StateHistory(
        solution.t, y, run.p, run.inputs, reached_end(t_end), t_end, y[-1], solution.steps,
        EVALUATIONS * solution.steps, dynamics=run.begin.dynamics, method=maker.task.options.method,
    )  # fmt: skip
    try:
        trajectory = finish_run(maker.task, run.begin, motion)
        notes = tuple(notice.message for notice in run.begin.notices)
        if trajectory.ending.failed:
            return fail_row(run.number, run.values, maker.kept, trajectory.message, notes)
        kept: dict[str, Any] = reduce_run(trajectory, maker.kept)
        return RunRow(run.number, run.values, trajectory.status, trajectory.message, kept, notes)
    except Error as error:
        return fail_row(run.number, run.values, maker.kept, str(error))
