"""The vectors that a run works on: state, stages, slopes, and what the kernel takes and gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from kinode.jit.pointers import floats_of, ints_of
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.loops.run_memory import RunMemory
from kinode.ode.ode_arguments import Array
from kinode.ode.runs.run_arrays import provide_arrays


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
