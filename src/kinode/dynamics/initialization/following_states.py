"""Consistent initial values of following states: the output of a filter starts at its input, and the like.

Components give them by ``consistent_values``.  A value that the user gives by name is kept.  One following state may
depend on another, so that the values are computed again until none changes.  A ring of following states may have no
consistent values; it keeps those of the last iteration.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from kinode.model.base.fields import Component
from kinode.multibody.snapshot import Snapshot
from kinode.structure.evaluation_point import EvaluationPoint
from kinode.structure.topology import Topology

ITERATIONS = 50  # at most: the longest chain of following states


def make_consistent(topology: Topology, point: EvaluationPoint, given: Collection[str]) -> EvaluationPoint:
    """The point with consistent initial values of following states; those in ``given`` are kept."""
    system = topology.system
    owners = dict.fromkeys((*topology.z_of, *topology.layout.discrete_of))
    default = Component.consistent_values
    followers = [name for name in owners if name in system and type(system[name]).consistent_values is not default]
    index_of = {c.name: c.index for c in topology.coordinates if c.role == "z" and c.name not in given}
    for _ in range(ITERATIONS if followers else 0):
        scene, z = Snapshot(topology, point), point.z.copy()
        for name in followers:
            for state, value in system[name].consistent_values(scene).items():
                if f"{name}.{state}" in index_of:
                    z[index_of[f"{name}.{state}"]] = float(value)
        if np.array_equal(z, point.z):
            break
        point = point.replaced(z=z)
    return point
