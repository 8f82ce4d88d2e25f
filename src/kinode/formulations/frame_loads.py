"""The loads of elements on bodies, by element, about the origin of any frame and in its axes."""

from __future__ import annotations

from kinode.algebra.spatial import cross
from kinode.algebra.trace import Tape
from kinode.model.base.frames import Frame
from kinode.multibody.links.link_steps import Spatial
from kinode.multibody.snapshot import Snapshot
from kinode.structure.topology import Topology


def element_loads(snapshot: Snapshot, frame: Frame) -> dict[tuple[str, str], Spatial]:
    """(element, body) -> moment about the origin of the frame and force, in its axes; loads on the world are left out.

    Which pairs there are depends on the model alone, not on the state.
    """
    X, bodies = snapshot.pose(frame), snapshot.system.bodies
    loads: dict[tuple[str, str], Spatial] = {}
    for name, element in snapshot.system.elements.items():
        for load in element.wrenches(snapshot):
            if load.on.body not in bodies:
                continue
            at = snapshot.pose(load.on).p if load.at is None else load.at
            force = X.R.T @ load.force
            moment = X.R.T @ load.moment + cross(X.R.T @ (at - X.p), force)
            before = loads.get((name, load.on.body))
            loads[name, load.on.body] = (moment, force) if before is None else (before[0] + moment, before[1] + force)
    return loads


def traced_snapshot(topology: Topology) -> Snapshot:
    """An instant of traced scalars, for what depends on the model alone: no number is ever undefined."""
    return Snapshot(topology, topology.layout.traced_point(Tape()))
