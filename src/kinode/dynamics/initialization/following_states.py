"""Consistent initial values of following states: the output of a filter starts at its input, and the like.

Components give them by ``consistent_values``.  A value that the user gives by name is kept.  One following state may
depend on another, so that the values are computed again until none changes.  A ring of following states may have no
consistent values; it keeps those of the last iteration.
"""

from __future__ import annotations

import numpy as np

from kinode.dynamics.initialization.start_quantities import StartQuantities
from kinode.structure.evaluation_point import EvaluationPoint

ITERATIONS = 50  # at most: the longest chain of following states


def make_consistent(quantities: StartQuantities, point: EvaluationPoint, given: frozenset[str]) -> EvaluationPoint:
    """The point with consistent initial values of following states; those in ``given`` are kept."""
    for _ in range(ITERATIONS if quantities.has_followers else 0):
        z, values = point.z.copy(), quantities.following(point)
        for k, place in quantities.places(given):
            z[place] = values[k]
        if z.tobytes() == point.z.tobytes():
            break
        point = point.replaced(z=z)
    return point


def make_all_consistent(
    quantities: StartQuantities, point: EvaluationPoint, given: frozenset[str]
) -> EvaluationPoint:  # fmt: skip
    """The same of a batch of points, of which each comes out as it does alone."""
    if not quantities.has_followers:
        return point
    quantities.find_following(point.row(0))
    following = quantities.places(given)
    for _ in range(ITERATIONS):
        values, z = quantities.evaluate_all(point), point.z.copy()
        for k, place in following:
            z[:, place] = values[:, k]
        if np.array_equal(z, point.z):
            break
        point = point.replaced(z=z)
    return point
