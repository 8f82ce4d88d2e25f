"""Derivatives of reactions that equilibrium alone does not determine.

How they are shared is part of the tape (``shared_quantities.py``), for one pattern of redundancy.  The pattern is found
at the states of a call.  Those that were found before are tried first.  A pattern that is not proved to hold at all
states of a call is not used (``certified_sharing.py``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kinode.dynamics.derivative_calls.derivative_request import DerivativeRequest
from kinode.dynamics.shared_patterns import find_pattern
from kinode.dynamics.state_batches.state_batch import StateBatch
from kinode.structure.evaluation_point import EvaluationPoint

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


def settle_sharing(dynamics: Dynamics, request: DerivativeRequest, point: EvaluationPoint) -> DerivativeRequest:
    """The request with the pattern of redundancy at the states of a call; unchanged where nothing is shared."""
    if not request.is_shared or 0 in request.shape or point.n_rows == 0:
        return request
    pattern = find_pattern(dynamics, StateBatch.of(point))
    return replace(request, options=replace(request.options, sharing=pattern))
