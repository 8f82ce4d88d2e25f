"""Gives a run of an implicit method its coefficients and arrays."""

from __future__ import annotations

import math

import numpy as np

from kinode.jit.loop.memory import floats_of, ints_of
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.loops.jacobian_structure import FEW, FILL_SHARE, MOST_ENTRIES
from kinode.ode.loops.run_codes import JacobianForm
from kinode.ode.method_table import DEFAULT_METHOD
from kinode.ode.radau_table import RadauTableau
from kinode.ode.run import LoopRun
from kinode.ode.tableaus import Tableau

INDICES = (
    "eliminated", "row_starts", "part", "parents", "kept", "place", "block_of", "block_starts", "block_entries",
    "below_starts", "below_ends", "below_many", "colors", "is_sparse", "order", "rank", "degree", "fill_starts",
    "across_starts",
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
    newton.change, newton.change_back = floats_of(table.change), floats_of(table.change_back)
    newton.slopes, newton.eigenvalues = floats_of(table.slopes), floats_of(table.eigenvalues)
    jacobian, pattern, direct, through, factors, *vectors, scale, rounding, noise, x, before = run.provide(
        *[n * n] * 4, (1 + 2 * pairs) * n * n, *[stages * model.n] * 4, *[model.n] * 3, 3 * n, n
    )
    inverse, squares, extension = run.provide(model.n, model.n, stages * stages)
    newton.inverse_scale, newton.squares, newton.extension = map(floats_of, (inverse, squares, extension))
    newton.extended_from = newton.extended_by = -1.0
    newton.jacobian, newton.pattern, newton.factors = floats_of(jacobian), floats_of(pattern), floats_of(factors)
    newton.direct, newton.through, newton.x = floats_of(direct), floats_of(through), floats_of(x)
    newton.scale, newton.rounding, newton.noise = floats_of(scale), floats_of(rounding), floats_of(noise)
    newton.z, newton.w, newton.f, newton.change_of_w = map(floats_of, vectors)
    sizes = {"pivots": (1 + pairs) * model.n, "row_columns": MOST_ENTRIES * n + 1} | dict.fromkeys(INDICES, n + 1)
    sizes |= {"below_rows": n * n // FEW + n + 1} | dict.fromkeys(FILL, n * n // FILL_SHARE + n + 1)
    for name, array in zip(sizes, run.provide(*sizes.values()), strict=True):
        setattr(newton, name, ints_of(array.view(np.int64)))
    newton.jacobian_time = newton.jacobian_failed = newton.jump_time = newton.step_time = math.nan
    newton.slope_before = floats_of(before)
    newton.left_over = 1.0
    _set_columns(run, kernel)


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
