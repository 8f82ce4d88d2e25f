"""Runs that share their steps, in the lanes of one kernel.

Possible with the classical Runge-Kutta method at a fixed step, for a tree without events, whose laws have no breaks:
then all runs do the same at the same time.  The numbers are those of single runs.  A run that does not stay finite is
left to the caller, who makes it by itself, where it says why.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.kernels.kernel_options import Kernel
from kinode.model.system_checks import find_asking
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.method_table import METHODS
from kinode.ode.ode_arguments import count_steps
from kinode.ode.rk4_batch import BatchSolution, rk4_batch
from kinode.ode.runs.input_table import VaryingInputs
from kinode.simulation.law_bounds.watched_laws import find_watched
from kinode.simulation.run_length import check_lengths
from kinode.tasks.batches.run_rows import RowMaker
from kinode.tasks.swift_runs.run_measures import Measuring
from kinode.tasks.swift_runs.start_table import Starts
from kinode.tasks.swift_runs.swift_batch import GoesOn, Put, SwiftBatch

LEAST_RUNS = 8
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
    if rows < LEAST_RUNS or not METHODS[task.options.method].fixed or requested or defaults:
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
