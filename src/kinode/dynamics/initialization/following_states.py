"""Consistent initial values of following states: the output of a filter starts at its input, and the like.

Components give them by ``settled``.  A value that the user gives by name stays.  One following state may depend on
another, so that the values are found in rounds until nothing changes.  A ring of following states has no consistent
value and keeps what the rounds leave.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from kinode.model.base.fields import Component
from kinode.multibody.snapshot import Snapshot
from kinode.structure.evaluation_point import EvaluationPoint
from kinode.structure.topology import Topology

ROUNDS = 50


def settle(topology: Topology, point: EvaluationPoint, said: Collection[str]) -> EvaluationPoint:
    """The point with consistent initial values of following states; those in ``said`` stay as they are."""
    system = topology.system
    owners = dict.fromkeys((*topology.z_of, *topology.layout.discrete_of))
    plain = Component.consistent_values
    followers = [name for name in owners if name in system and type(system[name]).consistent_values is not plain]
    places = {c.name: c.index for c in topology.coordinates if c.role == "z" and c.name not in said}
    for _ in range(ROUNDS if followers else 0):
        scene, z = Snapshot(topology, point), point.z.copy()
        for name in followers:
            for part, value in system[name].consistent_values(scene).items():
                if f"{name}.{part}" in places:
                    z[places[f"{name}.{part}"]] = float(value)
        if np.array_equal(z, point.z):
            break
        point = point.replaced(z=z)
    return point
