"""How many entries a mass matrix has, and what follows from that: when gears are solved without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinode.structure.inertias.massless_freedoms import find_massless_freedom
from kinode.structure.link_geometry import compute_geometry

if TYPE_CHECKING:
    from kinode.structure.topology import Topology

# Operations, counted on chains and branched trees: of an entry of M, of a link's articulated inertia, of a gear at it
ENTRY, LINK, GEAR = 25, 220, 35
MOST_ENTRIES = 400  # as of a chain of 28 links; straight-line code that uses all of them gets long beyond


def count_entries(topology: Topology) -> int:
    """Entries of half the mass matrix of the tree: pairs of freedoms, one of which carries the other."""
    carried: list[int] = []  # speeds between the world and each link, its own included
    entries = 0
    for node in topology.tree.nodes:
        n = node.joint.n_u if node.joint.name in topology.u_of else 0
        carried.append(n + (carried[node.parent] if node.parent >= 0 else 0))
        entries += n * carried[-1]
    return entries


def prefers_articulated_gears(topology: Topology) -> bool:
    """Whether gears take fewer operations by articulated bodies than by the mass matrix, and can be solved so.

    Each joint has to move something with mass by itself: of a geared shaft without mass only the mass matrix knows.
    """
    n, entries = len(topology.tree.nodes), count_entries(topology)
    by_matrix = entries * (ENTRY + 4 * entries / (3 * max(n, 1)))  # entries, and their elimination along the paths
    if by_matrix <= n * (LINK + GEAR * len(topology.couplings)):
        return False
    geometry = compute_geometry(topology.system, topology.tree, topology.system.nominal)
    moving = topology.u_of.keys() | topology.couplings.keys()
    return find_massless_freedom(topology.tree, geometry, moving, topology.cuts) is None
