"""Given values of an instant besides its state: efforts, loads, accelerations, and forces that are known already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from kinode.algebra.scalars import Array, Scalar

JointState = tuple[Array, Array, Array | None]
"""q and u of a joint, and u_dot where it is prescribed."""
NOTHING: Mapping[str, Any] = MappingProxyType({})


def _nothing() -> Mapping[str, Any]:
    """The same empty mapping for all instants, so that sharing can compare by identity."""
    return NOTHING


@dataclass(frozen=True, eq=False)
class Given:
    """Given values of an instant besides time, state, parameters and inputs.

    Parameters
    ----------
    effort : array, optional
        Efforts added to the model's own, one for each entry of u [N, N*m].
    wrenches : mapping of body to (force, moment)
        Loads added to the model's own, in world axes at the body's origin [N, N*m].
    u_dot : array, optional
        Accelerations of the state, which then are not solved for [m/s^2, rad/s^2].
    friction : mapping of joint to efforts, optional
        Efforts of sliding friction, which then do not follow from the reactions.
    sticking : bool
        Whether sticking friction adds its locking effort to ``friction``; without ``friction`` it always does.
    lock_efforts : mapping of joint to effort
        Known locking efforts along joints [N, N*m].
    multipliers : array, optional
        Known multipliers, one for each independent constraint row [N, N*m].
    joint_states : mapping of joint to (q, u, u_dot)
        Joint states that replace those of the state and of expressions, for example by symbols.
    """

    effort: Array | None = None
    wrenches: Mapping[str, tuple[Array, Array]] = field(default_factory=_nothing)
    u_dot: Array | None = None
    friction: Mapping[str, Array] | None = None
    sticking: bool = False
    lock_efforts: Mapping[str, Scalar] = field(default_factory=_nothing)
    multipliers: Array | None = None
    joint_states: Mapping[str, JointState] = field(default_factory=_nothing)

    @property
    def locks_hold(self) -> bool:
        """Whether locked friction is part of the friction efforts."""
        return self.friction is None or self.sticking
