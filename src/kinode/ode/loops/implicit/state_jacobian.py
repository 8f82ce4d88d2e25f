"""The Jacobian of the rate by the continuous states, column by column.

The columns are exact where the model has a kernel of directional derivatives: as many at a time as it has lanes. Else
they are differences of the rate.
"""

from __future__ import annotations

from kinode.jit.pointers import call, tail
from kinode.ode.loops.implicit.shifted_equations import gather_blocks
from kinode.ode.loops.implicit.structure_analysis import note_pattern
from kinode.ode.loops.loop_primitives import law_time, rate
from kinode.ode.loops.run_memory import RunMemory

DIFFERENCE = 2.0**-26  # change of a state for a difference, relative to its size
LEAST_SIZE = 1e-2  # of a state, in its unit: the change is not smaller than for this


def find_jacobian(run: RunMemory) -> None:
    """Evaluate the Jacobian at the present state; ``slopes`` begins with the rate there."""
    newton = run.newton
    newton.jacobians += 1
    newton.jacobian_time, newton.jacobian_wanted, newton.factored = run.step.t, 0, 0.0
    if newton.columns.kernel != 0:
        _find_exact(run)
    else:
        _find_differences(run)
    _find_rounding(run)
    note_pattern(run)
    gather_blocks(run)


def _find_rounding(run: RunMemory) -> None:
    """The rounding error of the rate: stiff forces are small differences of large products."""
    n, y, rounding = run.model.n_continuous, run.state.y, run.newton.rounding
    for i in range(n):
        rounding[i] = 0.0
    for j in range(n):
        size, column = 2.0**-52 * abs(y[j]), tail(run.newton.jacobian, j * n)
        for i in range(n):
            rounding[i] += size * abs(column[i])


def _find_exact(run: RunMemory) -> None:
    """Directional derivatives along the unit vectors."""
    columns, n, lanes = run.newton.columns, run.model.n_continuous, run.newton.columns.lanes
    time, many, x, out, y = columns.time, columns.y, columns.x, columns.out, run.state.y
    now = law_time(run, run.step.t)
    for lane in range(lanes):
        time[lane] = now
    for i in range(run.model.n):
        for lane in range(lanes):
            many[i * lanes + lane] = y[i]
            x[i * lanes + lane] = 0.0
    u, z = tail(many, columns.n_q * lanes), tail(many, (columns.n_q + columns.n_u) * lanes)
    first = 0
    while first < n:
        count = min(lanes, n - first)
        for lane in range(count):
            x[(first + lane) * lanes + lane] = 1.0
        call(columns.kernel, time, many, u, z, columns.p, columns.inputs, x, columns.work, out)
        for lane in range(count):
            x[(first + lane) * lanes + lane] = 0.0
            column = tail(run.newton.jacobian, (first + lane) * n)
            for i in range(n):
                column[i] = out[i * lanes + lane]
        first += lanes


def _find_differences(run: RunMemory) -> None:
    """Differences of the rate for a small change of each state."""
    n, y, stage, k = run.model.n_continuous, run.state.y, run.state.y_stage, run.state.slopes
    changed_rate = run.newton.f
    for i in range(n):
        stage[i] = y[i]
    for j in range(n):
        column = tail(run.newton.jacobian, j * n)
        changed = y[j] + DIFFERENCE * max(abs(y[j]), LEAST_SIZE)
        stage[j] = changed
        rate(run, run.step.t, stage, changed_rate)
        stage[j] = y[j]
        inverse = 1.0 / (changed - y[j])
        for i in range(n):
            column[i] = (changed_rate[i] - k[i]) * inverse
    run.counts.evaluations += n
