"""Refuses derivatives in singular positions of loops, where accelerations have none.

There the constraint rows depend on each other, and what would be divided by zero is divided by rounding errors.  A
result that is neither infinite nor very large is not looked at, so that the check costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.structure.evaluation_point import EvaluationPoint
from kinode.structure.loop_closure import find_rank

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics

SUSPICIOUS = 1e12  # in SI; divisions by rounding errors give 1e13 and more


def find_limit(dynamics: Dynamics) -> float | None:
    """Beyond this size a prepared function leaves its result to ``check_positions``; None where no loop is."""
    return SUSPICIOUS if dynamics.topology.constrained else None


def check_positions(dynamics: Dynamics, of: str, point: EvaluationPoint, result: Array) -> Array:
    """The derivatives of ``of``; an error where they are those in a singular position."""
    if not dynamics.topology.constrained or not result.size:
        return result
    states = result[None] if point.n_rows is None else result
    with np.errstate(invalid="ignore"):
        usual = (abs(states) < SUSPICIOUS).all(axis=tuple(range(1, states.ndim)))
    for k in map(int, np.flatnonzero(~usual)):
        alone = point.n_rows is None
        extra = _count_extra(dynamics, point if alone else point.row(k))
        if extra:
            where = "this state" if alone else f"state {k}"
            more = f"{extra} more freedom{'s' * (extra > 1)} than at positions beside it"
            raise ArgumentError(f"{of}: {where} is a singular position, with {more}: there is no derivative")
    return result


def _count_extra(dynamics: Dynamics, point: EvaluationPoint) -> int:
    """The freedoms of a position beyond those of others; none where the constraint rows are not finite."""
    closure = dynamics.closure
    G = dynamics.loops.evaluate(point)[1][closure.used]
    return max(0, len(closure.rows) - find_rank(G)) if np.isfinite(G).all() else 0
