"""The Jacobian of the rate by the continuous states.

It is exact where the model has a kernel of derivatives: of the whole matrix, of accelerations, or of directional
derivatives, which gives as many columns at a time as it has lanes. Else its columns are differences of the rate.
Derivatives that are integrated with the state (sensitivity_columns.py) have the Jacobian of the state.
"""

from __future__ import annotations

from kinode.jit.loop.memory import Floats, apart, call, tail
from kinode.ode.loops.courses import follow_courses
from kinode.ode.loops.jacobian_structure import agrees, note_pattern, other_direction
from kinode.ode.loops.loop_primitives import law_time, rate
from kinode.ode.loops.newton_matrices import gather_blocks
from kinode.ode.loops.run_codes import JacobianForm
from kinode.ode.loops.run_memory import RunMemory

DIFFERENCE = 2.0**-26  # change of a state for a difference, relative to its size
EPSILON = 2.0**-52  # relative rounding error
LEAST_SIZE = 1e-2  # of a state, in its unit: the change is not smaller than for this


def find_jacobian(run: RunMemory, t: float, y: Floats) -> None:
    """Evaluate the Jacobian at a state; for differences that is the start of the step."""
    newton = run.newton
    newton.jacobians += 1
    newton.jacobian_time, newton.jacobian_wanted, newton.factored = run.step.t, 0, 0.0
    if newton.columns.kernel == 0:
        _find_differences(run)
    else:
        _interleave(run, t, y)
        if newton.columns.form == JacobianForm.WHOLE and run.columns.count != 0:
            _find_blocks(run)
        elif newton.columns.form == JacobianForm.WHOLE:
            _find_whole(run)
        elif newton.columns.form == JacobianForm.ACCELERATIONS:
            _find_accelerations(run)
        else:
            _find_columns(run)
    _find_rounding(run)
    note_pattern(run)
    gather_blocks(run)


def _find_rounding(run: RunMemory) -> None:
    """The rounding error of the rate: stiff forces are small differences of large products."""
    n, y, rounding = run.model.n_continuous, run.state.y, run.newton.rounding
    for i in range(n):
        rounding[i] = 0.0
    for j in range(n):
        size, column = EPSILON * abs(y[j]), tail(run.newton.jacobian, j * n)
        for i in apart(n):
            rounding[i] += size * abs(column[i])


def _interleave(run: RunMemory, t: float, y: Floats) -> None:
    """Time and state for each lane of the kernel, and no direction."""
    columns, lanes = run.newton.columns, run.newton.columns.lanes
    time, many, x = columns.time, columns.y, columns.x
    now = law_time(run, t)
    for lane in range(lanes):
        time[lane] = now
    for i in range(run.columns.n_state):
        for lane in range(lanes):
            many[i * lanes + lane] = y[i]
            x[i * lanes + lane] = 0.0
    if run.courses.count != 0:
        follow_courses(run.courses, time, lanes, columns.inputs)


def _call_kernel(run: RunMemory) -> None:
    """Call the kernel of derivatives with its arguments."""
    columns, lanes = run.newton.columns, run.newton.columns.lanes
    u, z = tail(columns.y, columns.n_q * lanes), tail(columns.y, (columns.n_q + columns.n_u) * lanes)
    call(
        columns.kernel, columns.time, columns.y, u, z, columns.p, columns.inputs, columns.x, columns.work, columns.out
    )  # fmt: skip


def _find_whole(run: RunMemory) -> None:
    """The whole matrix; discrete states have rows and columns at its end."""
    n, stride, out = run.model.n_continuous, run.model.n, run.newton.columns.out
    _call_kernel(run)
    for j in range(n):
        column, source = tail(run.newton.jacobian, j * n), tail(out, j)
        for i in range(n):
            column[i] = source[i * stride]


def _find_blocks(run: RunMemory) -> None:
    """The matrix of a state with columns: that of the state stands for the state and for each of its columns.

    How columns change with the state is left out: the iteration finds the state by itself, and columns after it.
    """
    n, size, out = run.model.n_continuous, run.columns.n_state, run.newton.columns.out
    _call_kernel(run)
    for block in range(run.columns.count + 1):
        first = block * size
        for j in range(size):
            column = tail(run.newton.jacobian, (first + j) * n + first)
            for i in range(size):
                column[i] = out[i * size + j]


def _find_accelerations(run: RunMemory) -> None:
    """The rows of the accelerations; positions change by their speeds."""
    n, half, out = run.model.n_continuous, run.newton.columns.n_u, run.newton.columns.out
    _call_kernel(run)
    for j in range(n):
        column = tail(run.newton.jacobian, j * n)
        for i in range(half):
            column[i] = 1.0 if j == half + i else 0.0
            column[half + i] = out[i * n + j]


def _find_columns(run: RunMemory) -> None:
    """Directional derivatives: along groups of columns that share no row, or along all unit vectors."""
    if run.newton.n_colors == 0 or not _find_groups(run):
        _find_each(run)


def _find_each(run: RunMemory) -> None:
    """Directional derivatives along the unit vectors."""
    columns, n, lanes = run.newton.columns, run.model.n_continuous, run.newton.columns.lanes
    x, out, first = columns.x, columns.out, 0
    while first < n:
        count = min(lanes, n - first)
        for lane in range(count):
            x[(first + lane) * lanes + lane] = 1.0
        _call_kernel(run)
        for lane in range(count):
            x[(first + lane) * lanes + lane] = 0.0
            column = tail(run.newton.jacobian, (first + lane) * n)
            for i in range(n):
                column[i] = out[i * lanes + lane]
        first += lanes


def _find_groups(run: RunMemory) -> bool:
    """Directional derivatives along groups of columns; False if an entry that is not in the pattern disturbs them."""
    newton, columns, n, lanes = run.newton, run.newton.columns, run.model.n_continuous, run.newton.columns.lanes
    x, out, colors, last = columns.x, columns.out, newton.colors, newton.n_colors
    fine, first = True, 0
    while first <= last:
        for j in range(n):
            for lane in range(lanes):
                x[j * lanes + lane] = 1.0 if colors[j] == first + lane else 0.0
            if last < first + lanes:
                x[j * lanes + last - first] = other_direction(j)
        _call_kernel(run)
        for j in range(n):
            lane = colors[j] - first
            if lane >= 0 and lane < lanes:
                pattern, column = tail(newton.pattern, j * n), tail(newton.jacobian, j * n)
                for i in range(n):
                    column[i] = out[i * lanes + lane] if pattern[i] != 0.0 else 0.0
        if last < first + lanes:
            fine = agrees(run, out, lanes, last - first)
        first += lanes
    for i in range(n * lanes):
        x[i] = 0.0
    return fine


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
