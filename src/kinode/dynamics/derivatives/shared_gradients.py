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

from kinode.dynamics.derivatives.derivative_request import DerivativeRequest
from kinode.dynamics.reactions.sharing_pattern import find_pattern
from kinode.dynamics.state_batch import StateBatch
from kinode.structure.state_layout import EvaluationPoint

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


def settle_sharing(dynamics: Dynamics, request: DerivativeRequest, point: EvaluationPoint) -> DerivativeRequest:
    """The request with the pattern of redundancy at the states of a call; unchanged where nothing is shared."""
    if not request.is_shared or 0 in request.shape or point.n_rows == 0:
        return request
    pattern = find_pattern(dynamics, StateBatch.of(point))
    return replace(request, options=replace(request.options, sharing=pattern))
