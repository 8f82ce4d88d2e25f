"""Reactions in trees as sums over the bodies behind a joint (T-9.8), (T-9.9).

The methods (quasi_base_vectors, vector_rotators) define the inertia of one body; positions and velocities are those of
``chain_kinematics``.  The recursive formulation is not used.

Loops, and joints that do not say their pairs, are not supported.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.sparse_ldl import Row, sparse
from kinode.algebra.spatial import ZERO3, cross, solve_spd
from kinode.formulations.chain_kinematics import ChainKinematics, ChainLink
from kinode.model.base.frames import Frame
from kinode.multibody.instant_reactions import Reactions
from kinode.multibody.links.link_steps import Spatial
from kinode.multibody.motion import Motion, MotionProblem
from kinode.multibody.restraints.locked_joints import Locking
from kinode.multibody.restraints.loop_statics import Support

NO_WRENCH: Spatial = (ZERO3, ZERO3)


class ChainMotion(Motion):
    """The motion of a tree of hinges, slides and screws; subclasses define the inertia of a body."""

    kinematics: ChainKinematics

    def __init__(self, problem: MotionProblem) -> None:
        super().__init__(problem)
        assert isinstance(problem.kinematics, ChainKinematics)
        self.kinematics = problem.kinematics

    # -- balances ----------------------------------------------------------------------------------
    @abstractmethod
    def inertia_of(self, link: ChainLink, speeds: Sequence[Scalar], accelerations: Sequence[Scalar]) -> Spatial:
        """Moment about the mass center and force that the motion of one body needs."""

    def kinetic(self, speeds: Sequence[Scalar], accelerations: Sequence[Scalar]) -> list[Spatial]:
        """Moment and force that the motion of each body needs, at its mass center."""
        return [
            self.inertia_of(link, speeds, accelerations) if link.body else NO_WRENCH for link in self.kinematics.links
        ]

    @cached_property
    def static(self) -> list[Spatial]:
        """Moment and force that balance weight and applied loads, at each mass center (T-9.24)."""
        k = self.kinematics
        balancing: list[Spatial] = [(ZERO3, -link.mass * k.gravity) for link in k.links]
        for load in self.loads.outer_loads:
            if load.on.body != "world":
                link = k.link_of[load.on.body]
                point = k.pose(load.on).p if load.at is None else load.at
                M, F = balancing[link.index]
                balancing[link.index] = (M - load.moment - cross(point - link.center, load.force), F - load.force)
        return balancing

    @cached_property
    def moving_wrenches(self) -> list[Spatial]:
        """Moment and force that the actual motion of each body needs."""
        return self.kinetic(self.kinematics.speeds, self.accelerations)

    def wrenches_at_centers(self, part: str) -> list[Spatial]:
        """Moment and force that each body needs: total, static or kinetic (T-9.24) to (T-9.26)."""
        if part == "static":
            return self.static
        if part == "kinetic":
            return self.moving_wrenches
        pairs = zip(self.static, self.moving_wrenches, strict=True)
        return [(a[0] + b[0], a[1] + b[1]) for a, b in pairs]

    # -- equations of motion -----------------------------------------------------------------------
    @cached_property
    def mass_matrix(self) -> Array:
        """M, column by column: the efforts for a unit acceleration from rest."""
        k = self.kinematics
        still = [0.0] * len(k.links)
        columns = []
        for j in range(self.topology.n_u):
            unit = [state[1] if state is not None and state[0] == j else 0.0 for state in k.state_speeds]
            columns.append(k.collect(k.along(self.kinetic(still, unit))))
        return np.array(columns, dtype=object).T if columns else np.zeros((0, 0))

    @cached_property
    def mass_rows(self) -> list[Row]:
        """The rows of the mass matrix."""
        return sparse(self.mass_matrix)

    def needed(self, per_node: Sequence[Array]) -> Array:
        """Efforts to be added to those of the model for given accelerations of the joints."""
        k = self.kinematics
        moving = self.kinetic(k.speeds, k.pair_accelerations(per_node))
        total = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(moving, self.static, strict=True)]
        return k.collect([h - tau for h, tau in zip(k.along(total), self.efforts, strict=True)])

    @cached_property
    def bias_effort(self) -> Array:
        """Generalized forces that accelerate the state: tau - h."""
        return -self.needed(self.kinematics.scatter(np.zeros(self.topology.n_u)))

    @cached_property
    def inverse_effort(self) -> Array:
        """Efforts beyond the model's own that the given accelerations need."""
        return self.needed(self.kinematics.scatter(self.u_dot))

    # -- accelerations -----------------------------------------------------------------------------
    @cached_property
    def u_dot(self) -> Array:
        """Accelerations of the state."""
        if self.given.u_dot is not None:
            return self.given.u_dot
        if self.locks.locks:
            return self.saddle_solution[0]
        return tidy(solve_spd(self.mass_matrix, self.bias_effort)) if self.topology.n_u else np.empty(0)

    def find_accelerations(self) -> tuple[list[Array], list[Spatial]]:
        """Accelerations of node joints and links from those of the state."""
        return self.scatter(self.u_dot)

    @property
    def node_accelerations(self) -> list[Array]:
        """u_dot of each node's joint."""
        return self.kinematics.scatter(self.u_dot)

    @cached_property
    def accelerations(self) -> list[Scalar]:
        """The acceleration of each link's pair, 0 if it has no freedom."""
        return self.kinematics.pair_accelerations(self.node_accelerations)

    def body_acceleration(self, frame: Frame) -> tuple[Array, Array]:
        """Angular acceleration and acceleration of the origin of a frame on a body, in world axes."""
        if frame.body == "world":
            return ZERO3, ZERO3
        k = self.kinematics
        link, point, rates = k.link_of[frame.body], k.pose(frame).p, (k.speeds, self.accelerations)
        return k.turning_rate(link, *rates), k.point_acceleration(link, point, *rates)

    # -- joints ------------------------------------------------------------------------------------
    def joint_wrench(self, name: str, part: str) -> tuple[Spatial, Spatial]:
        """The whole wrench of a joint, and its reaction: by a on b, about b's joint point, in a's axes (T-9.9)."""
        k = self.kinematics
        link = k.carried_by(name)
        return k.as_given(link, k.behind_joint(link.index, self.wrenches_at_centers(part), link.pole))

    def joint_effort(self, name: str) -> Array:
        """The effort along a joint's freedom."""
        k = self.kinematics
        link = k.carried_by(name)
        if link.joint.driven or name in self.topology.tied or self.given.u_dot is not None:
            return k.along(self.wrenches_at_centers("total"))[link.node]
        locking = Locking(self.locks, self, self.loads.friction.limit)
        effort: Array = self.efforts[link.node] + locking.by_joint.get(name, 0.0)
        return effort


class ChainReactions(Reactions):
    """Reactions as sums over the bodies behind a joint."""

    @property
    def chains(self) -> ChainMotion:
        """The motion."""
        assert isinstance(self.motion, ChainMotion)
        return self.motion

    def wrench_without_teeth(self, name: str, part: str = "total", hold: Support = None) -> tuple[Spatial, Spatial]:
        """The whole wrench of a joint, and its reaction; there are no loops, so no support is needed."""
        return self.chains.joint_wrench(name, part)

    def gear_effort(self, constraint: str, part: str = "total", hold: Support = None) -> Scalar:
        """The effort of a gear along the joint that follows."""
        total = super().gear_effort(constraint)
        if part == "total":
            return total
        k = self.chains.kinematics
        efforts = k.along(self.chains.static)
        follower = self.topology.meshes[constraint].follower.joint
        static = self.instant.efforts.gear_effort(follower, lambda name: efforts[k.node_named[name]])[0]
        return static if part == "static" else total - static

    def link_effort(self, name: str) -> Array:
        """The effort along a joint's freedom."""
        return self.chains.joint_effort(name)
