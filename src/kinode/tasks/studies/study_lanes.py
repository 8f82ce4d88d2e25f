"""Runs of a chunk that share their steps, in the lanes of one kernel.

Possible with the classical Runge-Kutta method at a fixed step, for a tree without events, whose laws have no breaks:
then all runs of a chunk do the same at the same time.  The numbers are those of single runs.  A run that does not stay
finite is made once more by itself, which says why.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

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
from kinode.ode.runs.input_table import VaryingInputs
from kinode.simulation.law_bounds.watched_laws import find_watched
from kinode.simulation.run_length import check_lengths
from kinode.simulation.solver import StateHistory, check_span, check_start
from kinode.simulation.task_arguments import read_seconds
from kinode.simulation.time_events import find_law_times
from kinode.tasks.batches.run_rows import RowMaker, RunRow
from kinode.tasks.batches.value_sets import Values
from kinode.tasks.simulate import RunStart, finish_run

LEAST_RUNS = 8
"""With fewer runs the lanes would be mostly empty."""
BLOCK_BYTES = 32 << 20
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
    """The rows of runs; None for one that has to be made by itself.

    While one block of runs is integrated, Python finds the starts of the next and reduces the results of the last.
    """
    lanes = _Lanes(maker, threads)
    waiting, open_rows = deque[tuple[list[_LaneRun], Future[BatchSolution]]](), iter(rows)
    with ThreadPoolExecutor(1) as executor:
        try:
            while True:
                block: list[_LaneRun] = []
                for index, values in open_rows:
                    start = lanes.find_start(index, values)
                    if not isinstance(start, _LaneRun):
                        yield start
                        continue
                    block.append(start)
                    if len(block) >= lanes.size:
                        break
                if block:
                    waiting.append((block, executor.submit(lanes.integrate, block)))
                if len(waiting) > 1 or (waiting and not block):
                    done, future = waiting.popleft()
                    solution = future.result()
                    for k, run in enumerate(done):
                        yield _finish(maker, run, solution, k)
                if not block and not waiting:
                    return
        finally:  # after Ctrl-C, or if nobody wants the other rows
            lanes.goes_on = False


class _Lanes:
    """What the runs of a chunk share: their steps, and the code that makes them."""

    def __init__(self, maker: RowMaker, threads: int) -> None:
        self.maker, self.threads, self.goes_on = maker, threads, True
        self.dynamics, self.options = maker.task.dynamics, maker.task.options
        self.until = read_seconds(self.dynamics, "until", maker.task.until)
        self.kernel = _find_kernel(self.dynamics)
        self.t0: float | None = None
        self.size = 1
        """Runs of a block."""

    def find_start(self, index: int, values: Values) -> _LaneRun | RunRow | None:
        """A run that is ready to begin; the row of one that cannot; None for one that has to be made by itself."""
        try:
            begin, p, inputs = self.maker.find_start(values)
            if isinstance(inputs, VaryingInputs) or self.t0 not in (None, begin.state.t):
                return None
            if not _shares_steps(self.maker, begin, p, inputs, self.until):
                return None
            check_start(begin.dynamics, begin.state, p, inputs)
        except Error as error:
            return self.maker.fail(index, values, error)
        if self.t0 is None:
            self._begin(begin.state.t)
        return _LaneRun(index, values, begin, p, inputs)

    def _begin(self, t0: float) -> None:
        """Take over the time at which the first run begins."""
        step = self.options.step
        assert step is not None
        check_lengths(self.dynamics, step, self.options.max_step, t0, self.until)
        steps = count_steps(t0, self.until, step) if self.until > t0 else 0
        at_once = self.kernel.lanes * self.threads
        groups = BLOCK_BYTES // max(1, 8 * self.kernel.n_y * (steps + 1)) // at_once
        self.size, self.t0 = at_once * max(1, groups), t0  # no thread has less to do than another

    def integrate(self, block: Sequence[_LaneRun]) -> BatchSolution:
        """The states of all runs of a block at all steps."""
        assert self.t0 is not None and self.options.step is not None
        return rk4_batch(
            self.kernel, np.stack([run.begin.state.y for run in block]), self.t0, self.until, self.options.step,
            every=1, p=np.stack([run.p for run in block]), inputs=np.stack([run.inputs for run in block]),
            quaternions=self.dynamics.topology.layout.quaternions, threads=self.threads,
            on_progress=lambda done: self.goes_on,
        )  # fmt: skip


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
        return maker.finish(run.number, run.values, run.begin, finish_run(maker.task, run.begin, motion))
    except Exception as error:  # as of a run by itself
        return maker.fail(run.number, run.values, error)
