"""The evaluation context (``Scene``) of one instant, in which elements, joints, observers and events are evaluated."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Self

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.spatial import Pose, cross
from kinode.model.base.fields import Value
from kinode.model.base.frames import Frame, Resolve
from kinode.model.base.observers.moving_frames import needs_jerk
from kinode.model.base.scene import Solid
from kinode.multibody.coupled_friction import Friction
from kinode.multibody.given import Given, JointState
from kinode.multibody.kinematics import Kinematics
from kinode.multibody.laws import Laws
from kinode.multibody.locked_joints import Locking
from kinode.multibody.motion import Motion
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology


class InstantScene(ABC):
    """The ``Scene`` of components, computed by the parts of an instant; subclasses provide the parts."""

    def __init__(self, topology: Topology, point: EvaluationPoint, given: Given, laws: Laws) -> None:
        self.topology, self.system, self.point, self.given = topology, topology.system, point, given
        self.t, self.q, self.u, self.z = point.t, point.q, point.u, point.z
        self.p, self.inputs = point.p, point.inputs
        self.laws = laws
        self.resolve: Resolve = laws.resolve
        self.law: Resolve = laws.resolve
        self.lookup: Callable[[str], Scalar] = laws.lookup

    @property
    @abstractmethod
    def kinematics(self) -> Kinematics:
        """Positions and velocities."""

    @property
    @abstractmethod
    def motion(self) -> Motion:
        """Accelerations, and the forces that they need."""

    @property
    @abstractmethod
    def friction(self) -> Friction:
        """Sliding friction."""

    @property
    @abstractmethod
    def locking(self) -> Locking:
        """Locking efforts."""

    @property
    @abstractmethod
    def own_motion(self) -> Self | None:
        """The same instant with the model's own accelerations, if accelerations in loops are given; else None."""

    @abstractmethod
    def at(self, point: EvaluationPoint) -> Self:
        """An instant at another point, with nothing given."""

    # -- laws and states ---------------------------------------------------------------------------
    @cached_property
    def network_rates(self) -> Mapping[str, str]:
        """The states of networks that are time derivatives of others: name and unit, in the order of z."""
        network = self.topology.network
        states = () if network is None else network.states
        units = {f"{state.owner}.{state.name}": state.unit for state in states if state.order == 1}
        return {c.name: units[c.name] for c in self.topology.coordinates if c.role == "z" and c.name in units}

    def timely(self, laws: Sequence[Value], order: int) -> list[Array]:
        """Expressions of time, with their derivatives up to an order."""
        return self.laws.timely(laws, order)

    def other_states(self, name: str, /) -> Array:
        """The entries of z that belong to a component."""
        return self.kinematics.other_states(name)

    def discrete_states(self, name: str, /) -> Mapping[str, Scalar]:
        """The discrete states of a component, by name."""
        return self.kinematics.discrete_states(name)

    def held(self, name: str, /) -> Mapping[str, Scalar]:
        """``discrete_states`` as version 0.1 called it, for plug-ins in its words."""
        warnings.warn("scene.held is now called scene.discrete_states", FutureWarning, stacklevel=2)
        return self.discrete_states(name)

    def joint_state(self, name: str, /) -> JointState:
        """q, u of a joint, and u_dot where it is prescribed."""
        return self.kinematics.joint_state(name)

    def joint_rate(self, name: str, /) -> Array:
        """Rate of a joint's coordinates."""
        return self.kinematics.joint_rate(name)

    def joint_acceleration(self, name: str, /) -> Array:
        """u_dot of a joint of the tree, or of a cut joint."""
        return self.motion.joint_acceleration(name)

    def shifted(self, state: str, by: Scalar, /) -> Self:
        """The same instant with one of the other states, by name, increased."""
        z = self.z.copy()
        index = next(c.index for c in self.topology.coordinates if c.role == "z" and c.name == state)
        z[index] = z[index] + by
        return self.at(self.point.replaced(z=z))

    # -- frames ------------------------------------------------------------------------------------
    def pose(self, frame: Frame, /) -> Pose:
        """X_WF."""
        return self.kinematics.pose(frame)

    def velocity(self, frame: Frame, /) -> tuple[Array, Array]:
        """Angular velocity and velocity of a frame's origin, in world axes."""
        observer = self.system.frames.get(frame.body)
        if observer is None or not needs_jerk(self.system, frame):
            return self.kinematics.velocity(frame)
        w, v = observer.velocity(self)
        return w, v + cross(w, self.pose(frame).p - observer.pose(self).p)

    def acceleration(self, frame: Frame, /) -> tuple[Array, Array]:
        """Angular acceleration and acceleration of a frame's origin, in world axes."""
        observer = self.system.frames.get(frame.body)
        if observer is None:
            return self.motion.body_acceleration(frame)
        (w, _), (eps, a), arm = observer.velocity(self), observer.acceleration(self), self.pose(frame).p
        arm = arm - observer.pose(self).p
        return eps, a + cross(eps, arm) + cross(w, cross(w, arm))

    # -- bodies -----------------------------------------------------------------------------------
    @property
    def gravity(self) -> Array:
        """The acceleration of free fall, in world axes."""
        return self.kinematics.gravity

    @property
    def solids(self) -> Sequence[Solid]:
        """Every body with its mass and its inertia about its mass center."""
        return self.kinematics.solids

    # -- friction and locked joints ----------------------------------------------------------------
    def friction_limit(self, name: str, /) -> Scalar:
        """The largest locking effort of a joint's friction."""
        return self.friction.limit(name)

    def held_effort(self, owner: str, part: str, /) -> Scalar:
        """The locking effort of a lock; zero if accelerations are given."""
        if self.own_motion is not None:
            return self.own_motion.held_effort(owner, part)
        return 0.0 if self.given.u_dot is not None else self.locking.effort_of(owner, part)

    def held_beside(self, owner: str, part: str, /) -> Scalar:
        """1 while another active lock of the same joint could take more, else 0."""
        return self.locking.beside(owner, part)

    def lock_response(self, owner: str, part: str, /) -> Scalar:
        """The acceleration of a lock's joints for a unit of its effort, by the diagonal of the mass matrix."""
        return self.locking.response_of(owner, part)

    def stopped(self, owner: str, part: str, /) -> Array:
        """The speeds of the state when a lock becomes active."""
        return self.locking.stopped(owner, part)

    def struck(self, owner: str, part: str, restitution: Scalar, /) -> Array:
        """The speeds of the state after an impact: that of a lock returns times the restitution."""
        return self.locking.struck(owner, part, restitution)
