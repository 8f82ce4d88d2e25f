"""The parts that a snapshot is composed of: the only place where formulations differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinode.algebra.scalars import Array
from kinode.multibody.given import Given
from kinode.multibody.instant_reactions import Reactions
from kinode.multibody.kinematics import Kinematics
from kinode.multibody.laws import Laws
from kinode.multibody.motion import Motion, MotionProblem
from kinode.multibody.networks.network_motion import NetworkMotion
from kinode.multibody.recursive_motion import RecursiveMotion
from kinode.multibody.restraints.loop_statics import LoadedTree
from kinode.structure.evaluation_point import EvaluationPoint
from kinode.structure.link_geometry import Tree
from kinode.structure.topology import Topology

if TYPE_CHECKING:
    from kinode.multibody.networks.network_condensation import Condensed


@dataclass(frozen=True, eq=False)
class Composition:
    """The constructors of the parts of a snapshot; the defaults are those of the recursive formulation.

    ``whole_tree``: every body is a link of its own.  ``condenses``: networks are condensed to efforts and inertia of
    joints; otherwise their flows are unknowns of the formulation.
    """

    whole_tree: bool = False
    condenses: bool = True
    kinematics: Callable[[Topology, Tree, EvaluationPoint, Laws, Given], Kinematics] = Kinematics
    motion: Callable[[MotionProblem], Motion] = RecursiveMotion
    network: Callable[[Kinematics, Condensed | None, Motion, Callable[[str], Array]], NetworkMotion] = NetworkMotion
    reactions: Callable[[LoadedTree, Callable[[], LoadedTree]], Reactions] = Reactions


RECURSIVE = Composition()
