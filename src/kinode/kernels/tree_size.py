"""Decides which systems are large, so that their kernels are loop code (``kernels/rolled/rolled_programs.py``)."""

from __future__ import annotations

from kinode.model.base.element import Element
from kinode.model.system import System
from kinode.structure.massless_freedoms import count_entries
from kinode.structure.topology import Topology, has_friction

ROLL_FROM = 40  # links; from here on loop code is better: its time to compile does not grow with the number of links
ROLL_LOOPS_FROM = 150  # entries of half the mass matrix; smaller systems with constraints are straight-line code
LINK_COST, SPEED_COST = 3, 6  # of loop code in a system with constraints, in entries of straight-line code
LOOPS = "by size"  # or "always", wherever there is loop code, or "never": for tests that compare both
SHARING = 30  # squares of the loops through a link, on average: from here on straight-line code compiles too long


def is_large(topology: Topology) -> bool:
    """Whether a system has loop code instead of straight-line code."""
    if LOOPS == "never" or not _can_be_rolled(topology):
        return False
    if LOOPS == "always":
        return bool(topology.tree.nodes)
    return _has_long_loops(topology) if topology.constrained else len(topology.tree.nodes) >= ROLL_FROM


def _has_long_loops(topology: Topology) -> bool:
    """Whether loop code of a system with constraints runs faster than straight-line code.

    Straight-line code grows with the entries of the mass matrix, loop code with the links.
    """
    cost = LINK_COST * len(topology.tree.nodes) + SPEED_COST * topology.n_u
    return count_entries(topology) >= max(cost, ROLL_LOOPS_FROM) or _shares_links(topology)


def _shares_links(topology: Topology) -> bool:
    """Whether many loops pass through the same links of a long tree, as in a net: its factors fill up."""
    n = len(topology.tree.nodes)
    if n < ROLL_FROM or len(topology.cuts) ** 2 < SHARING:
        return False
    through = dict.fromkeys((node.joint.name for node in topology.full.nodes), 0)
    for cut in topology.cuts:
        for name in topology.carriers(cut.joint.a.body) | topology.carriers(cut.joint.b.body):
            through[name] += 1
    return sum(count * count for count in through.values()) >= SHARING * n


def _can_be_rolled(topology: Topology) -> bool:
    """Whether nothing in the system couples joints beyond what loop code provides for."""
    unsupported = topology.couplings or has_friction(topology.system) or topology.network or topology.groups
    return not unsupported and not _acts_along_joints(topology.system)


def _acts_along_joints(system: System) -> bool:
    """Whether something else than a joint's own effort acts along its freedoms: end stops, brakes, clutches."""
    elements = (type(element).efforts is not Element.efforts for element in system.elements.values())
    return any(joint.ends is not None for joint in system.joints.values()) or any(elements)
