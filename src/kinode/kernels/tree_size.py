"""Decides which trees are large, so that their kernels are loop code (``rolled_programs.py``)."""

from __future__ import annotations

from kinode.model.base.element import Element
from kinode.model.system import System
from kinode.multibody.restraints.coupled_friction import has_friction
from kinode.structure.topology import Topology

ROLL_FROM = 40  # links; from here on loop code is better: its time to compile does not grow with the number of links


def is_large(topology: Topology) -> bool:
    """Whether a system has loop code instead of straight-line code."""
    unsupported = topology.couplings or topology.constrained or has_friction(topology.system) or topology.network
    return len(topology.tree.nodes) >= ROLL_FROM and not unsupported and not _acts_along_joints(topology.system)


def _acts_along_joints(system: System) -> bool:
    """Whether something else than a joint's own effort acts along its freedoms: end stops, brakes, clutches."""
    elements = (type(element).efforts is not Element.efforts for element in system.elements.values())
    return any(joint.ends is not None for joint in system.joints.values()) or any(elements)
