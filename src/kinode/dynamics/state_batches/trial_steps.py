"""One step of order 8 from each state of a batch, with the work of each cause and the estimated errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.state_batches.model_loops import in_threads, load_loop
from kinode.dynamics.state_batches.trial_step_loop import TrialMemory, take_steps
from kinode.jit.pointers import floats_of
from kinode.kernels.kernel_options import Kernel
from kinode.ode.runs.input_table import Inputs, split_inputs
from kinode.ode.tableaus import dop853

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics

POWER = Kernel("power")
LEAST_GROUPS = 64  # for each thread


@dataclass(frozen=True, eq=False)
class TrialSteps:
    """The ends of the steps, the work of each cause, and the errors that the lower orders estimate."""

    y: Array
    work: Array
    state_error: Array
    work_error: Array


class TrialStepper:
    """Takes steps of a system with given parameters and inputs; it keeps the work arrays of the last steps."""

    def __init__(self, dynamics: Dynamics, p: Array, inputs: Inputs) -> None:
        self.table, topology = dop853(), dynamics.topology
        self.lanes = dynamics.kernels.lanes
        self.machine = dynamics.kernels.machine(POWER, self.lanes)
        self.n, self.n_all = topology.n_q + topology.n_u + topology.n_z, self.machine.sizes["out"]
        self.u_at, self.z_at = topology.n_q, topology.n_q + topology.n_u
        self.tables = [np.ascontiguousarray(x) for x in (self.table.stages, self.table.nodes, self.table.errors)]
        row, self.courses = split_inputs(inputs)
        self.constants = [np.repeat(np.append(x, 0.0), self.lanes) for x in (p, row)]
        self.evaluations = 0  # so far
        self._own_memory = self._new_memory()

    def _new_memory(self) -> TrialMemory:
        """A record with everything that does not depend on the states."""
        memory, table, machine, lanes = TrialMemory(), self.table, self.machine, self.lanes
        memory.kernel, memory.n, memory.n_all, memory.lanes = machine.address, self.n, self.n_all, lanes
        memory.u_at, memory.z_at, memory.stages, memory.width = self.u_at, self.z_at, table.last, table.stages.shape[1]
        memory.weights, memory.nodes, memory.errors = map(floats_of, self.tables)
        p, inputs = self.constants
        memory.p, memory.inputs = floats_of(p), floats_of(inputs.copy())  # courses write into the inputs
        if self.courses is not None:
            self.courses.fill(memory.courses, np.zeros(len(self.courses.pairs), dtype=np.int64), np.zeros(0))
        memory.x, memory.time = floats_of(np.zeros(1 + machine.sizes["x"] * lanes)), floats_of(np.zeros(lanes))
        memory.work = floats_of(np.zeros(1 + machine.work_size))
        memory.steps, memory.begin, memory.stage, memory.sum, memory.other = (
            floats_of(np.zeros((self.n_all + 1) * lanes)) for _ in range(5)
        )
        memory.rates = floats_of(np.zeros(table.last * self.n_all * lanes))
        return memory

    def take(self, t: Array, y: Array, h: Array, span: tuple[Array, Array]) -> TrialSteps:
        """Take a step of length ``h`` from each state; ``span`` are the times within which laws are evaluated."""
        rows, n = y.shape
        self.evaluations += rows * self.table.last
        out, error = np.zeros((rows, self.n_all)), np.zeros((rows, self.n_all))
        arrays = [np.ascontiguousarray(x, dtype=float) for x in (t, h, *span, y)]

        def work(first: int, last: int) -> None:
            memory = self._own_memory if first == 0 else self._new_memory()
            memory.first, memory.last, memory.rows = first, last, rows
            memory.t, memory.h, memory.earliest, memory.latest, memory.y = map(floats_of, arrays)
            memory.out, memory.error = floats_of(out), floats_of(error)
            load_loop(take_steps)(memory)

        if rows:
            in_threads(work, -(-rows // self.lanes), LEAST_GROUPS)
        return TrialSteps(y + out[:, :n], out[:, n:], error[:, :n], error[:, n:])
