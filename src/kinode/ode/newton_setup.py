"""Gives a run of an implicit method its coefficients and arrays."""

from __future__ import annotations

import math

import numpy as np

from kinode.jit.pointers import floats_of, ints_of
from kinode.ode.event_spec import Array
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.loops.implicit.sparse_structure import FILL_SHARE
from kinode.ode.loops.implicit.stage_places import HALF, STAGES, WIDTH
from kinode.ode.loops.implicit.structure_analysis import FEW, MOST_ENTRIES, MOST_JOINT
from kinode.ode.loops.run_codes import JacobianForm
from kinode.ode.method_table import DEFAULT_METHOD
from kinode.ode.radau_table import RadauTableau
from kinode.ode.runs.loop_run import LoopRun
from kinode.ode.tableaus import Tableau

INDICES = (
    "eliminated", "row_starts", "part", "parents", "kept", "place", "block_of", "block_starts", "block_entries",
    "below_starts", "below_ends", "below_many", "colors", "is_sparse", "order", "rank", "degree", "fill_starts",
    "across_starts", "joint_at",
)  # fmt: skip
"""Arrays of indices, of the size of the state."""
FILL = ("fill_rows", "across_columns", "across_entries")
"""Arrays of indices, of the size of the fill of sparse factors."""
MOST_STATES = 6000
"""States of a run: the matrices have a dozen numbers for each pair of them."""
HOLD = 1.2
"""A step grows only if it may be longer by this factor."""
SLOW, SLOW_SMALL = 0.02, 0.005
"""Contraction of an iteration from which on a Jacobian is replaced; that of few states costs less than an iteration."""
EASE = 1.0
"""Error estimate of a step that is just accepted, at a tolerance of 1, in tolerances."""


def set_newton(run: LoopRun, kernel: KernelSpec, table: Tableau, rtol: float) -> None:
    """Give a run the coefficients of its implicit method, and its matrices and vectors."""
    assert isinstance(table, RadauTableau), f"{table.name} is not an implicit method"
    newton, model = run.memory.newton, run.memory.model
    n, stages, pairs = model.n_continuous, len(table.eigenvalues), table.pairs
    if n > MOST_STATES:
        raise ValueError(
            f"method: '{table.name}' keeps full matrices, of {MOST_STATES} states at most, and the system has {n}; "
            f"use {DEFAULT_METHOD}"
        )
    newton.stages, newton.pairs, newton.hold = stages, pairs, HOLD
    whole = kernel.jacobian is not None and kernel.jacobian.form == JacobianForm.WHOLE
    newton.slow = SLOW_SMALL if whole else SLOW
    newton.ease = max(1.0, EASE * max(rtol, 1e-15) ** (-1.0 / (stages + 2)))
    newton.eigenvalues = floats_of(table.eigenvalues)
    newton.change, newton.change_back, newton.slopes, newton.shifts, newton.inverse_shifts = map(
        floats_of, _find_places(table)
    )
    jacobian, pattern, direct, through, factors, f, scale, rounding, noise, x, before = run.provide(
        *[n * n] * 4, (1 + 2 * pairs) * n * n, stages * model.n, *[model.n] * 3, 3 * n, n
    )
    z, w, change, right, joint = run.provide(
        *[WIDTH * model.n] * 3, WIDTH * min(n, MOST_JOINT), WIDTH * n * min(n, MOST_JOINT)
    )
    inverse, scratch, extension = run.provide(model.n, WIDTH, stages * WIDTH)
    newton.inverse_scale, newton.scratch, newton.extension = map(floats_of, (inverse, scratch, extension))
    newton.extended_from = newton.extended_by = -1.0
    newton.jacobian, newton.pattern, newton.factors = floats_of(jacobian), floats_of(pattern), floats_of(factors)
    newton.direct, newton.through, newton.x = floats_of(direct), floats_of(through), floats_of(x)
    newton.scale, newton.rounding, newton.noise = floats_of(scale), floats_of(rounding), floats_of(noise)
    newton.z, newton.w, newton.f, newton.change_of_w = map(floats_of, (z, w, f, change))
    newton.right, newton.joint = floats_of(right), floats_of(joint)
    sizes = {"pivots": (1 + pairs) * model.n, "row_columns": MOST_ENTRIES * n + 1} | dict.fromkeys(INDICES, n + 1)
    sizes |= {"below_rows": n * n // FEW + n + 1} | dict.fromkeys(FILL, n * n // FILL_SHARE + n + 1)
    for name, array in zip(sizes, run.provide(*sizes.values()), strict=True):
        setattr(newton, name, ints_of(array.view(np.int64)))
    newton.jacobian_time = newton.jacobian_failed = newton.jump_time = newton.step_time = math.nan
    newton.slope_before = floats_of(before)
    newton.left_over = 1.0
    _set_columns(run, kernel)


def _find_places(table: RadauTableau) -> tuple[Array, ...]:
    """The tables of change, its inverse and slopes, and the eigenvalues and their inverses, at eight places."""
    stages, pairs = len(table.eigenvalues), table.pairs
    assert stages == STAGES, f"{stages} stages: stage_places.py is written for {STAGES}"
    change, back, slopes = np.zeros((3, stages, WIDTH))
    places = [0, *(place for pair in range(1, pairs + 1) for place in (pair, HALF + pair))]
    change[:, :stages] = table.change.T
    back[:, places] = table.change_back.T
    slopes[:, :stages] = table.slopes.T
    shifts = np.full(HALF, complex(table.eigenvalues[0]))
    shifts[1 : pairs + 1] = table.eigenvalues[1::2] + 1j * table.eigenvalues[2::2]
    numbers = (np.concatenate([values.real, values.imag]) for values in (shifts, 1.0 / shifts))
    return change, back, slopes, *numbers


def _set_columns(run: LoopRun, kernel: KernelSpec) -> None:
    """Give a run the kernel of derivatives, and its arguments interleaved over the lanes."""
    spec, columns = kernel.jacobian, run.memory.newton.columns
    if spec is None:
        return
    lanes, n = spec.lanes, kernel.n_y
    columns.kernel, columns.lanes, columns.form = spec.address, lanes, spec.form
    columns.n_q, columns.n_u = kernel.n_q, kernel.n_u
    results = n * (lanes if spec.form == JacobianForm.COLUMNS else n)
    time, y, x, work, out = run.provide(lanes, n * lanes, n * lanes, spec.n_work * lanes, results)
    columns.time, columns.y, columns.x, columns.work, columns.out = map(floats_of, (time, y, x, work, out))
    columns.p, columns.inputs = map(floats_of, run.provide_arguments(lanes))
