"""Derivatives of reactions that equilibrium alone does not determine.

How they are shared is part of the tape (``shared_quantities.py``), for one pattern of redundancy.  The pattern is found
at the states of a call.  Those that were found before are tried first.  A pattern that is not proved to hold at all
states of a call is not used (``redundancy.py``).

In large loops there is loop code around the rule of least norm in numbers.  Quantities depend on the state and on the
changes of loads by sharing.  The changes follow from loads of joints and from their frames and freedoms
(``dynamics/reactions/world_stiffness.py``).  Two calls of one function, which goes along a direction, give

    the loads, and with them the changes;
    the derivatives of quantities for given changes, by the state and by the changes, and those of loads, frames and
    freedoms by the state: a column for each direction
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.derivatives.derivative_request import DerivativeRequest
from kinode.dynamics.reactions.redundancy import find_joint_tables
from kinode.dynamics.reactions.sharing_pattern import find_pattern
from kinode.dynamics.state_batch import StateBatch
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.rolled.rolled_programs import is_loop_code
from kinode.model.quantities import find_quantity

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics
    from kinode.structure.state_layout import EvaluationPoint


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
    return is_loop_code(dynamics.topology, Kernel("shared_along", request.options))


def find_shared_columns(dynamics: Dynamics, request: DerivativeRequest, point: EvaluationPoint, effort: Array) -> Array:
    """The matrix of derivatives at each state.

    Parameters
    ----------
    dynamics : Dynamics
    request : DerivativeRequest
        With the pattern of redundancy.
    point : EvaluationPoint
        A state or several.
    effort : array
        Added efforts, for each state or for all.
    """
    at_state = _make_columns(dynamics, request)
    rows = point.n_rows if point.n_rows is not None else len(effort) if effort.ndim == 2 else None
    if rows is None:
        return at_state(point, effort)
    each = [
        at_state(point if point.n_rows is None else point.row(k), effort[k] if effort.ndim == 2 else effort)
        for k in range(rows)
    ]
    return np.array(each)


def _make_columns(dynamics: Dynamics, request: DerivativeRequest) -> Callable[[EvaluationPoint, Array], Array]:
    """The derivatives at one state, as a function of it and of added efforts.

    ``changed`` are the loads whose changes quantities depend on: those of the joints that they belong to.
    """
    sharing, system, holding = request.options.sharing, dynamics.topology.system, dynamics.topology.holding
    assert sharing is not None
    options = replace(request.options, sharing=replace(sharing, locks=(), shared=()))  # code is that of any pattern
    kernels, kernel, tables = dynamics.kernels, Kernel("shared_along", options), find_joint_tables(dynamics, sharing)
    owners = {find_quantity(system, name).owner for name in request.of}
    changed = np.flatnonzero(np.repeat([name in owners for name in holding], [*holding.values()]))
    n, (n_results, n_columns) = len(tables.units), request.shape
    count = n_columns + len(changed)

    def at_state(point: EvaluationPoint, effort: Array) -> Array:
        arguments = np.zeros((count, len(effort) + n + n_columns + n))
        _, changes, factors, rates = np.split(arguments, np.cumsum([len(effort), n, n_columns]), axis=1)
        arguments[:, : len(effort)] = effort
        stiffness = tables.at_state(kernels.call(Kernel("stress_directions"), point).ravel())
        loads = kernels.call(kernel, point, arguments[0])[-n:] / tables.units
        change, _ = stiffness.share(loads)
        changes[:] = np.where(tables.shared, change * tables.units, 0.0)
        factors[:n_columns] = np.eye(n_columns)
        rates[np.arange(n_columns, count), changed] = 1.0
        found = kernels.call(kernel, point, arguments)
        total: Array = found[:n_columns, :n_results].T.copy()
        of_loads, of_directions = np.split(found[:n_columns, n_results:-n], [n], axis=1)
        for row, of_changes in zip(total, found[n_columns:, :n_results].T, strict=True):
            by_changes = np.zeros(n)
            by_changes[changed] = of_changes
            by_loads, by_directions = stiffness.sensitivities(loads, by_changes * tables.units)
            row += of_loads @ (by_loads / tables.units) + of_directions @ by_directions
        return total

    return at_state
