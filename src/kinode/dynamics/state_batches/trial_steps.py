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


def take_trial_steps(
    dynamics: Dynamics, t: Array, y: Array, h: Array, span: tuple[Array, Array], p: Array, inputs: Array
) -> TrialSteps:
    """Take a step of length ``h`` from each state; ``span`` are the times within which laws are evaluated."""
    table, topology = dop853(), dynamics.topology
    rows, n = y.shape
    lanes = dynamics.kernels.lanes
    machine = dynamics.kernels.machine(POWER, lanes)
    n_all, n_groups = machine.sizes["out"], -(-rows // lanes)
    out, error = np.zeros((rows, n_all)), np.zeros((rows, n_all))
    tables = [np.ascontiguousarray(x) for x in (table.stages, table.nodes, table.errors)]
    arrays = [np.ascontiguousarray(x, dtype=float) for x in (t, h, *span, y)]
    constants = [np.repeat(np.append(x, 0.0), lanes) for x in (p, inputs)]

    def work(first: int, last: int) -> None:
        memory = TrialMemory()
        memory.first, memory.last, memory.rows, memory.lanes = first, last, rows, lanes
        memory.kernel, memory.n, memory.n_all = machine.address, n, n_all
        memory.u_at, memory.z_at = topology.n_q, topology.n_q + topology.n_u
        memory.stages, memory.width = table.last, table.stages.shape[1]
        memory.weights, memory.nodes, memory.errors = map(floats_of, tables)
        memory.t, memory.h, memory.earliest, memory.latest, memory.y = map(floats_of, arrays)
        memory.out, memory.error = floats_of(out), floats_of(error)
        memory.p, memory.inputs = map(floats_of, constants)
        memory.x, memory.time = floats_of(np.zeros(1 + machine.sizes["x"] * lanes)), floats_of(np.zeros(lanes))
        memory.work = floats_of(np.zeros(1 + machine.work_size))
        memory.steps, memory.begin, memory.stage, memory.sum, memory.other = (
            floats_of(np.zeros((n_all + 1) * lanes)) for _ in range(5)
        )
        memory.rates = floats_of(np.zeros(table.last * n_all * lanes))
        load_loop(take_steps)(memory)

    in_threads(work, n_groups, LEAST_GROUPS)
    return TrialSteps(y + out[:, :n], out[:, n:], error[:, :n], error[:, n:])
