"""Derivatives of reactions that equilibrium alone does not determine.

How they are shared is part of the tape (``shared_quantities.py``), for one pattern of redundancy.  The pattern is found
at the states of a call.  Those that were found before are tried first.  A pattern that is not proved to hold at all
states of a call is not used (``redundancy.py``).

In large loops there is loop code around the rule of least norm in numbers.  Quantities depend on the state and on the
changes of loads by sharing.  The changes follow from loads of joints and from their frames and freedoms
(``world_stiffness.py``).  Three calls of one function, which is run backward, give

    the loads, and with them the changes;
    the derivatives of quantities for given changes, by the state and by the changes;
    the derivatives of loads, frames and freedoms, with the weights that follow from these.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.derivatives.derivative_request import DerivativeRequest
from kinode.dynamics.reactions.redundancy import find_joint_tables
from kinode.dynamics.reactions.sharing_pattern import find_pattern
from kinode.dynamics.reactions.world_stiffness import JointTables
from kinode.dynamics.state_batch import StateBatch
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.rolled.rolled_programs import is_loop_code
from kinode.structure.state_layout import EvaluationPoint

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


def settle_sharing(dynamics: Dynamics, request: DerivativeRequest, point: EvaluationPoint) -> DerivativeRequest:
    """The request with the pattern of redundancy at the states of a call; unchanged where nothing is shared."""
    if not request.is_shared or 0 in request.shape or point.n_rows == 0:
        return request
    pattern = find_pattern(dynamics, StateBatch.of(point))
    return replace(request, options=replace(request.options, sharing=pattern))


def shares_in_numbers(dynamics: Dynamics, request: DerivativeRequest) -> bool:
    """Whether a request is one for shared reactions of a large system that loop code serves."""
    if not request.is_shared or request.of_motion or dynamics.formulation != "recursive":
        return False
    return is_loop_code(dynamics.topology, Kernel("shared_gradient", request.options))


def find_shared_gradients(
    dynamics: Dynamics, request: DerivativeRequest, point: EvaluationPoint, effort: Array, weights: Array
) -> Array:
    """The derivatives of weighted sums at each state.

    Parameters
    ----------
    dynamics : Dynamics
    request : DerivativeRequest
        With the pattern of redundancy.
    point : EvaluationPoint
        A state or several.
    effort : array
        Added efforts, for each state or for all.
    weights : array
        A row for each sum; or for each state such rows.
    """
    sharing = request.options.sharing
    assert sharing is not None
    tables = find_joint_tables(dynamics, sharing)
    options = replace(request.options, sharing=replace(sharing, locks=(), shared=()))  # code is that of any pattern
    at_state = _SharedGradients(dynamics, Kernel("shared_gradient", options), tables, request.shape[1])
    rows = next((len(x) for x in (effort, weights[..., 0, :]) if x.ndim == 2), None)
    rows = rows if point.n_rows is None else point.n_rows
    if rows is None:
        return at_state(point, effort, weights)
    each = [
        at_state(
            point if point.n_rows is None else point.row(k),
            effort[k] if effort.ndim == 2 else effort, weights[k] if weights.ndim == 3 else weights,
        )
        for k in range(rows)
    ]  # fmt: skip
    return np.array(each)


class _SharedGradients:
    """The derivatives at one state; ``kernel`` is the function that is run backward."""

    def __init__(self, dynamics: Dynamics, kernel: Kernel, tables: JointTables, n_columns: int) -> None:
        self.kernels, self.kernel, self.tables, self.n_columns = dynamics.kernels, kernel, tables, n_columns

    def __call__(self, point: EvaluationPoint, effort: Array, weights: Array) -> Array:
        tables, n, (count, n_results) = self.tables, len(self.tables.units), weights.shape
        arguments = np.zeros((count, len(effort) + n + n_results + n + tables.size))
        _, changes, of_results, of_loads, of_directions = np.split(
            arguments, np.cumsum([len(effort), n, n_results, n]), axis=1
        )
        arguments[:, : len(effort)] = effort
        stiffness = tables.at_state(self.kernels.call(Kernel("stress_directions"), point).ravel())
        loads = self.kernels.call(self.kernel, point, arguments[0])[self.n_columns + n :] / tables.units
        change, _ = stiffness.share(loads)
        changes[:] = np.where(tables.shared, change * tables.units, 0.0)
        of_results[:] = weights
        direct = self.kernels.call(self.kernel, point, arguments)
        of_results[:] = 0.0
        for k, by_changes in enumerate(direct[:, self.n_columns : self.n_columns + n]):
            by_loads, of_directions[k] = stiffness.sensitivities(loads, by_changes * tables.units)
            of_loads[k] = by_loads / tables.units
        indirect = self.kernels.call(self.kernel, point, arguments)
        total: Array = direct[:, : self.n_columns] + indirect[:, : self.n_columns]
        return total
