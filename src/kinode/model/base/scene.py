"""What a component may ask of the instant it is evaluated at: the ``scene`` of its methods, in levels.

A scene answers in whatever kind of number the question is put: floats, dual numbers, traced scalars, symbols.  Vectors
are in world axes.  Each level adds to the one before it what takes more to compute:

    LawScene            expressions, time, lookup by name
    PositionScene       poses, states, discrete states, mass properties
    VelocityScene       velocities, joint states
    AccelerationScene   accelerations
    LockScene           what locked joints hold with, and the speeds after an impact
    Scene               all of these, and the rates of networks

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
        """The number that a name in a law stands for: a parameter, an input, a signal, any quantity."""
        ...

    def timely(self, laws: Sequence[Value], order: int) -> list[Array]:
        """Laws of time with their derivatives up to an order."""
        ...


class PositionScene(LawScene, Protocol):
    """Positions, states and mass properties."""

    @property
    def z(self) -> Array:
        """All states beyond coordinates and speeds; the discrete ones stand last."""
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
        """Rate of a joint's coordinates."""
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
    """What locked joints hold with.  A lock is named by the component that owns it, and its part of it."""

    def friction_limit(self, name: str, /) -> Scalar:
        """The effort that the friction of a joint can hold with."""
        ...

    def held_effort(self, owner: str, part: str, /) -> Scalar:
        """The effort that a lock holds with, zero while it does not."""
        ...

    def held_beside(self, owner: str, part: str, /) -> Scalar:
        """1 while another lock holds the joint of one, and could hold more, else 0."""
        ...

    def lock_response(self, owner: str, part: str, /) -> Scalar:
        """The acceleration that a unit of a lock's effort would give its joints, were they alone."""
        ...

    def stopped(self, owner: str, part: str, /) -> Array:
        """All speeds of the state when a lock begins to hold."""
        ...

    def struck(self, owner: str, part: str, restitution: Scalar, /) -> Array:
        """All speeds of the state after an impact: that of the lock returns times the restitution."""
        ...


class Scene(LockScene, Protocol):
    """Everything that a component may ask."""

    @property
    def network_rates(self) -> Mapping[str, str]:
        """The states of networks that are rates of others, as the speed of a shaft: name and unit, in their order."""
        ...

    def shifted(self, state: str, by: Scalar, /) -> Scene:
        """The same instant with one of the other states, by name, increased."""
        ...


class ConstraintScene(Protocol):
    """What the residual of a constraint may ask: poses and coordinates, which may carry rates."""

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
        """A law of time, with its rates where poses have them."""
        ...

    def nominal(self, value: Value, /) -> float:
        """A constant or a law with the parameters' nominal values, to choose axes by."""
        ...


class SlidingScene(ConstraintScene, Protocol):
    """What the slip of a constraint may ask: velocities too."""

    def velocity(self, frame: Frame, /) -> tuple[Array, Array]:
        """Angular velocity, and velocity of the frame's origin."""
        ...
