"""What is given of an instant besides its state: efforts, loads, accelerations, forces that are known already."""

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
    """One mapping for all, so that instants can tell that they were given the same."""
    return NOTHING


@dataclass(frozen=True, eq=False)
class Given:
    """What an instant is given besides time, state, parameters and inputs.

    Parameters
    ----------
    effort : array, optional
        Efforts beyond the model's own, one for each entry of u [N, N*m].
    wrenches : mapping of body to (force, moment)
        Loads beyond the model's own, in world axes at the body's origin [N, N*m].
    u_dot : array, optional
        Accelerations of the state, which then are not solved for [m/s^2, rad/s^2].
    friction : mapping of joint to efforts, optional
        Efforts of friction that slides, which then do not follow from the reactions.
    sticking : bool
        Whether locked friction adds its holding force to ``friction``; without ``friction`` it always does.
    lock_efforts : mapping of joint to effort
        What locks do along joints, where it is known.
    multipliers : array, optional
        One for each independent constraint row, where they are known.
    joint_states : mapping of joint to (q, u, u_dot)
        Joint states that replace those of the state and of laws: symbols, say.
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
