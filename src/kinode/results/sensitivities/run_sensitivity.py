"""Derivatives of quantities along a run, from those of its states: dQ = (dQ/dy) S + dQ/dp at each time.

Reactions that equilibrium alone does not determine follow from a rule, which is no part of the compiled code.  They are
differentiated along each column by differences of order four, at states that are projected onto the constraints.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.load_uniqueness import is_shared
from kinode.dynamics.named_quantities import evaluate_names
from kinode.dynamics.redundant_reactions import share
from kinode.dynamics.state_batches.state_batch import StateBatch
from kinode.errors import ArgumentError
from kinode.expressions.syntax_tree import Expression
from kinode.kernels.derivatives.request_sizes import shape_of
from kinode.kernels.kernel_options import ColumnOptions, Kernel
from kinode.model.base.fields import unknown
from kinode.model.quantity_expressions import QuantityExpression, find_expression
from kinode.model.quantity_names import find_quantity
from kinode.ode.runs.input_table import inputs_at
from kinode.simulation.state_columns.column_values import RunColumns
from kinode.structure.evaluation_point import EvaluationPoint

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities

STEP = 1e-3
"""Change of states and parameters in a difference, as a share of their size."""
WEIGHTS = {-2: 1.0 / 12.0, -1: -8.0 / 12.0, 1: 8.0 / 12.0, 2: -1.0 / 12.0}


def find_sensitivity(run: RunQuantities, of: str, by: str) -> Array:
    """The derivative of a quantity by a name, (time, ...)."""
    columns = check_columns(run, [by])
    derivatives = all_sensitivities(run, columns, of)
    return np.ascontiguousarray(derivatives[:, columns.request.names.index(by)])


def all_sensitivities(run: RunQuantities, columns: RunColumns, of: str) -> Array:
    """The derivatives of a quantity by all names, (time, name, ...)."""
    _check_end(run, columns)
    if not isinstance(of, str):
        raise ArgumentError(f"of: the name of a quantity is expected, not {of!r}")
    expression = find_expression(run.system, of)
    if expression is not None:
        return _of_expression(run, columns, expression)
    shape, m = shape_of(run.dynamics.topology, of), len(columns.request.names)
    if is_shared(run.dynamics, find_quantity(run.system, of)):
        return np.stack([_difference(run, columns, k, of) for k in range(m)], axis=1)
    kernel = Kernel("columns", ColumnOptions(Kernel("evaluate", (of,)), columns.request.by))
    at = EvaluationPoint(run.t, run.q, run.u, run.z, run.p, inputs_at(run.inputs, run.t))
    result = run.dynamics.kernels.call(kernel, at, columns.values.reshape(len(run), -1))
    size = int(np.prod(shape, dtype=int))
    return result[:, size:].reshape(len(run), m, *shape)


def _of_expression(run: RunQuantities, columns: RunColumns, expression: QuantityExpression) -> Array:
    """The derivatives of an expression, by the chain rule from those of the quantities in it."""
    total, values = np.zeros((len(run), len(columns.request.names))), run.evaluate(expression.names)
    for name in expression.names:
        assert isinstance(expression.value, Expression)
        partial_derivative = expression._replace(value=expression.value.derivative(name))
        factor = partial_derivative.evaluate(run.system, values, len(run))
        total += factor[:, None] * all_sensitivities(run, columns, name)
    return total


def _difference(run: RunQuantities, columns: RunColumns, k: int, of: str) -> Array:
    """The derivative of a quantity along a column, by differences."""
    S, by = columns.values[:, k], columns.request.by[k]
    value = columns.request.values(run.p, run.inputs)[k]
    sizes = np.maximum(abs(run.y).max(axis=0, initial=0.0), 1.0)
    steepest = max(float((abs(S) / sizes).max(initial=0.0)), 1.0 / (abs(value or 0.0) or 1.0))
    step, total = STEP / steepest, np.zeros(())
    for i, weight in WEIGHTS.items():
        p, inputs = run.p.copy(), inputs_at(run.inputs, run.t).copy()
        if by is not None:
            (p if by[0] == "p" else inputs)[..., by[1]] += i * step
        states = _closed(run, run.y + i * step * S, p, inputs)
        values = evaluate_names(run.dynamics, (of,), states, partial(share, run.dynamics, states))
        total = total + weight / step * values[of]
    return total


def _closed(run: RunQuantities, y: Array, p: Array, inputs: Array) -> StateBatch:
    """States projected onto the constraints, by two Newton steps."""
    for _ in range(2):
        y = run.dynamics.kernels.call(Kernel("projection"), run.dynamics.point_of(run.t, y, p, inputs))[:, : y.shape[1]]
    q, u, z = run.dynamics.topology.layout.split(y)
    return StateBatch(t=run.t, q=q, u=u, z=z, p=p, inputs=inputs)


def check_columns(run: RunQuantities, names: list[str]) -> RunColumns:
    """The derivatives of the states, if the run has them by these names."""
    if run.columns is None:
        raise ArgumentError(f"by: the run has no derivatives; simulate it with sensitivity={names!r}")
    for by in names:
        if by not in run.columns.request.names:
            raise ArgumentError(unknown("by: the run was not differentiated by", by, run.columns.request.names))
    return run.columns


def _check_end(run: RunQuantities, columns: RunColumns) -> None:
    """Refuse a run that goes on after the derivatives ended."""
    if columns.lost_time is not None and len(run) and run.t[-1] >= columns.lost_time:
        raise ArgumentError(f"{columns.message}; end the run before")
