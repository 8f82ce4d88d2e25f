"""The evaluation context of components at one instant: the ``scene`` of their methods, in levels.

A scene works in any scalar type: floats, dual numbers, traced scalars, symbols.  Vectors are in world axes.  Each level
adds quantities that take more to compute:

    LawScene            expressions, time, lookup by name
    PositionScene       poses, states, discrete states, mass properties
    VelocityScene       velocities, joint states
    AccelerationScene   accelerations
    LockScene           efforts of locks, and the speeds after an impact
    Scene               all of these, and the time derivatives of network states

A component names the lowest level that it needs.  Constraints have scenes of their own, whose poses carry rates:
``ConstraintScene`` for residuals, ``SlidingScene`` for slips.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.spatial import Pose
from kinode.model.base.frames import Frame

if TYPE_CHECKING:
    from kinode.model.base.fields import Value
    from kinode.model.system import System


class Solid(NamedTuple):
    """A body: its mass center, its mass and its inertia about the mass center, in its own axes."""

    com: Frame
    mass: Scalar
    inertia: Array


class LawScene(Protocol):
    """Expressions at one instant."""

    @property
    def t(self) -> Scalar:
        """Time [s]."""
        ...

    def resolve(self, value: Value, /) -> Scalar:
        """A constant or a law as a number."""
        ...

    def law(self, value: Value, /) -> Scalar:
        """The same: the value of a field that may be a law."""
        ...

    def lookup(self, name: str, /) -> Scalar:
        """The value of a name in a law: a parameter, an input, a signal or any quantity."""
        ...

    def timely(self, laws: Sequence[Value], order: int) -> list[Array]:
        """Laws of time with their derivatives up to an order."""
        ...


class PositionScene(LawScene, Protocol):
    """Positions, states and mass properties."""

    @property
    def z(self) -> Array:
        """All states other than coordinates and speeds; the discrete ones are last."""
        ...

    @property
    def gravity(self) -> Array:
        """The acceleration of free fall [m/s^2]."""
        ...

    @property
    def solids(self) -> Sequence[Solid]:
        """Every body with its mass properties."""
        ...

    def pose(self, frame: Frame, /) -> Pose:
        """Rotation and origin of a frame."""
        ...

    def other_states(self, name: str, /) -> Array:
        """The states that a component has of its own."""
        ...

    def discrete_states(self, name: str, /) -> Mapping[str, Scalar]:
        """The discrete states of a component, which only events change, by name."""
        ...


class VelocityScene(PositionScene, Protocol):
    """Velocities of frames and joints."""

    @property
    def u(self) -> Array:
        """All speeds of the state [m/s, rad/s]."""
        ...

    def velocity(self, frame: Frame, /) -> tuple[Array, Array]:
        """Angular velocity, and velocity of the frame's origin."""
        ...

    def joint_state(self, name: str, /) -> tuple[Array, Array, Array | None]:
        """q and u of a joint, and u_dot where it is prescribed."""
        ...

    def joint_rate(self, name: str, /) -> Array:
        """Time derivative q_dot of a joint's coordinates."""
        ...


class AccelerationScene(VelocityScene, Protocol):
    """Accelerations of frames and joints."""

    def acceleration(self, frame: Frame, /) -> tuple[Array, Array]:
        """Angular acceleration, and acceleration of the frame's origin."""
        ...

    def joint_acceleration(self, name: str, /) -> Array:
        """u_dot of a joint."""
        ...


class LockScene(AccelerationScene, Protocol):
    """Efforts of locks.  A lock is named by its component and its part, as in ``Lock``."""

    def friction_limit(self, name: str, /) -> Scalar:
        """The largest locking effort of the friction of a joint, N or N*m."""
        ...

    def held_effort(self, owner: str, part: str, /) -> Scalar:
        """The effort of a lock, N or N*m; zero while it is not active."""
        ...

    def held_beside(self, owner: str, part: str, /) -> Scalar:
        """1 while another lock on the same joint is active and below its limit, else 0."""
        ...

    def lock_response(self, owner: str, part: str, /) -> Scalar:
        """The acceleration of its joints for a unit effort of a lock, without other loads."""
        ...

    def stopped(self, owner: str, part: str, /) -> Array:
        """All speeds of the state after a lock becomes active."""
        ...

    def struck(self, owner: str, part: str, restitution: Scalar, /) -> Array:
        """All speeds of the state after an impact, which reverses the speed of the lock times the restitution."""
        ...


class Scene(LockScene, Protocol):
    """Every level together."""

    @property
    def network_rates(self) -> Mapping[str, str]:
        """The network states that are time derivatives of others, such as shaft speeds: name and unit, in order."""
        ...

    def shifted(self, state: str, by: Scalar, /) -> Scene:
        """The same instant with one of the other states, by name, increased."""
        ...


class ConstraintScene(Protocol):
    """The context of a constraint's residual: poses and coordinates, which may carry time derivatives."""

    @property
    def system(self) -> System:
        """The system that the constraint is part of."""
        ...

    def pose(self, frame: Frame, /) -> Pose:
        """Rotation and origin of a frame."""
        ...

    def joint_q(self, name: str, /) -> Array:
        """Coordinates of a joint."""
        ...

    def wraps(self, name: str, /) -> bool:
        """Whether a joint's coordinate is an angle that is known up to full turns."""
        ...

    def resolve(self, value: Value, /) -> Scalar:
        """A constant or a law as a number."""
        ...

    def law(self, value: Value, /) -> Scalar:
        """A law of time, with time derivatives if poses have them."""
        ...

    def nominal(self, value: Value, /) -> float:
        """A constant or a law at the nominal parameters, for the choice of axes."""
        ...


class SlidingScene(ConstraintScene, Protocol):
    """The context of a constraint's slip: velocities too."""

    def velocity(self, frame: Frame, /) -> tuple[Array, Array]:
        """Angular velocity, and velocity of the frame's origin."""
        ...
