"""Which trees are large: their kernels are loops over the links (``rolled_programs.py``)."""

from __future__ import annotations

from kinode.model.base.element import Element
from kinode.model.system import System
from kinode.multibody.restraints.coupled_friction import has_friction
from kinode.structure.topology import Topology

ROLL_FROM = 40  # links from which loops win: they compile in the same time for any number


def is_large(topology: Topology) -> bool:
    """Whether loops serve a tree better than straight-line code."""
    apart = topology.couplings or topology.constrained or has_friction(topology.system) or topology.network
    return len(topology.tree.nodes) >= ROLL_FROM and not apart and not _acts_along_joints(topology.system)


def _acts_along_joints(system: System) -> bool:
    """Whether anything beside the joints' own laws acts along them: ends of ranges, brakes, clutches."""
    elements = (type(element).efforts is not Element.efforts for element in system.elements.values())
    return any(joint.ends is not None for joint in system.joints.values()) or any(elements)
