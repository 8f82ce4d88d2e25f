"""Kinematics and motion of a large tree that load the results of loops.

Expressions and elements are straight-line code between the loops (``rolled_builder.py``).  They get poses, velocities
and accelerations through these classes, which note what is loaded, so that the loops compute nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, TypeVar, overload

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.sparse_ldl import Row
from kinode.algebra.spatial import ZERO3, Pose
from kinode.algebra.trace import Tape
from kinode.kernels.rolled.tree_loops import TreeLoops, is_by_law
from kinode.kernels.rolled.tree_passes import LINK_SUMS
from kinode.multibody.given import Given
from kinode.multibody.kinematics import Kinematics, find_spring_energy
from kinode.multibody.laws import Laws
from kinode.multibody.link_steps import LinkKinematics, Spatial
from kinode.multibody.motion import Motion
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology
from kinode.structure.tree import Tree

T = TypeVar("T")


class Loaded(Sequence[T]):
    """A list whose entries are made at their first use."""

    def __init__(self, size: int, make: Callable[[int], T]) -> None:
        self._size, self._make, self._made = size, make, dict[int, T]()

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._size))]
        if index not in self._made:
            self._made[index] = self._make(index)
        return self._made[index]

    def __iter__(self) -> Iterator[T]:
        return (self[i] for i in range(self._size))


class RolledKinematics(Kinematics):
    """Kinematics of a tree, loaded from the results of loops; ``loops_of`` gives the loops of each tree."""

    def __init__(
        self,
        topology: Topology,
        tree: Tree,
        point: EvaluationPoint,
        laws: Laws,
        given: Given,
        loops_of: Callable[[Tree], TreeLoops],
        tape: Tape,
    ) -> None:
        super().__init__(topology, tree, point, laws, given)
        self._loops_of, self._loops, self._tape = loops_of, loops_of(tree), tape

    def on_tree(self, tree: Tree) -> RolledKinematics:
        """The same point on another tree, with its loops."""
        return RolledKinematics(self.topology, tree, self.point, self.laws, self.given, self._loops_of, self._tape)

    def load(self, name: str, index: int, size: int) -> Array:
        """The values that a loop computed for a node."""
        return self._loops.load(self._tape, name, index, size)

    @cached_property
    def link_kinematics(self) -> Sequence[LinkKinematics]:
        """Pose, subspace and angular velocity of each link; bias accelerations are not available."""

        def make(i: int) -> LinkKinematics:
            node, (q, _, _) = self.tree.nodes[i], self.node_states[i]
            form = self.geometry.forms[i]
            X, S = node.mechanics.transform(q, form), node.mechanics.motion_subspace(q, form)
            return LinkKinematics(X, S, self.load("w", i, 3), ZERO3, ZERO3)

        return Loaded(len(self.tree.nodes), make)

    @cached_property
    def link_poses(self) -> Sequence[Pose]:
        """X_WL of each link."""

        def make(i: int) -> Pose:
            values = self.load("X", i, 12)
            return Pose(values[:9].reshape(3, 3), values[9:])

        return Loaded(len(self.tree.nodes), make)

    @cached_property
    def link_velocities(self) -> Sequence[Array]:
        """Velocity of each link's origin, in link axes."""
        return Loaded(len(self.tree.nodes), lambda i: self.load("v", i, 3))

    @cached_property
    def unaccelerated(self) -> tuple[list[Array], Sequence[Spatial]]:
        """Accelerations of node joints and links for u_dot = 0 of the state."""

        def make(i: int) -> Spatial:
            values = self.load("A0", i, 6)
            return values[:3], values[3:]

        return self.scatter(np.zeros(self.topology.n_u)), Loaded(len(self.tree.nodes), make)

    @cached_property
    def link_sums(self) -> Array:
        """Kinetic energy, momentum, angular momentum, first moment and mass of the links."""
        return self.load("sums", -1, LINK_SUMS)[:-1]

    @property
    def spring_energy(self) -> Scalar:
        """The energy of the stiffness of all joints; the loops have summed that of constant stiffness."""
        summed = {node.joint.name for node in self.tree.nodes if not is_by_law(node.joint)}
        others = [joint for name, joint in self.system.joints.items() if name not in summed]
        return self.load("sums", -1, LINK_SUMS)[-1] + find_spring_energy(self, others)


class RolledMotion(Motion):
    """The motion that loops have computed, for the tree with merged welds and for the full one."""

    sweeps_full_tree: ClassVar[bool] = True
    kinematics: RolledKinematics

    @property
    def mass_rows(self) -> list[Row]:
        """Rows of the mass matrix of the bodies."""
        return self.kinematics.mass_rows

    @property
    def bias_effort(self) -> Array:
        """Not available: loops solve for accelerations without it."""
        raise NotImplementedError("loop code does not provide the bias effort")

    def find_accelerations(self) -> tuple[Sequence[Array], Sequence[Spatial]]:
        """Accelerations of node joints, and of links less gravity."""
        kinematics = self.kinematics
        n = len(kinematics.tree.nodes)

        def link(i: int) -> Spatial:
            values = kinematics.load("A", i, 6)
            return values[:3], values[3:]

        def joint(i: int) -> Array:
            known = kinematics.node_states[i][2]
            return known if known is not None else kinematics.load("u_dot", i, kinematics.tree.nodes[i].joint.n_u)

        return Loaded(n, joint), Loaded(n, link)

    @property
    def multipliers(self) -> Array:
        """One for each independent constraint row, given or loaded."""
        if self.given.multipliers is not None:
            return self.given.multipliers
        count = len(self.kinematics.constraints.units)
        return tidy([self.kinematics.load("multipliers", r, 1)[0] for r in range(count)])

    @cached_property
    def link_wrenches(self) -> Sequence[Spatial]:
        """The wrench of each node's joint on its link, about the link's origin, in link axes."""

        def make(i: int) -> Spatial:
            values = self.kinematics.load("f", i, 6)
            return values[:3], values[3:]

        return Loaded(len(self.kinematics.tree.nodes), make)
