"""Efforts along joints by share: drive, spring, damping, friction, stop, and efforts of gears.

The drive of a prescribed joint, and the effort of a gear, are the whole effort less all other shares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.multibody.instant_reactions import Reactions
from kinode.multibody.loads import Loads
from kinode.multibody.networks.network_motion import NetworkMotion
from kinode.multibody.restraints.loop_statics import Statics, Support

Efforts = Callable[[str], Array]  # of a joint: the whole effort along its freedoms


class JointEfforts:
    """The efforts along the joints of an instant.

    ``friction_efforts`` are those of friction, with the locking efforts of sticking friction; ``held_effort`` gives the
    locking effort of a joint's lock.
    """

    def __init__(
        self,
        loads: Loads,
        network: NetworkMotion,
        reactions: Reactions,
        friction_efforts: Callable[[], Mapping[str, Array]],
        held_effort: Callable[[str, str], Scalar],
    ) -> None:
        self.loads, self.network, self.reactions = loads, network, reactions
        self.kinematics, self.topology = loads.kinematics, loads.kinematics.topology
        self._friction_efforts, self._held_effort = friction_efforts, held_effort

    def shares(self, name: str) -> dict[str, Array]:
        """A joint's own efforts: drive (its expression), spring, damping, friction, stop; locking efforts included."""
        joint = self.kinematics.system.joints[name]
        shares = self.loads.shares(name, {} if joint.friction is None else self._friction_efforts())
        if joint.ends is not None:
            shares["stop"] = shares["stop"] + self._held_effort(name, "stop")
        return shares

    @property
    def friction(self) -> Array:
        """Efforts of friction along the speeds of the state."""
        nodes = self.kinematics.tree.nodes
        return self.kinematics.collect([self.shares(node.joint.name)["friction"] for node in nodes])

    def share(self, name: str, share: str, effort: Efforts | None = None) -> Array:
        """One share of a joint's effort; ``effort`` gives the whole effort, by default that of the motion."""
        shares, effort = self.shares(name), effort or self.reactions.joint_effort
        if share == "drive" and self.kinematics.system.joints[name].driven:
            own = shares["spring"] + shares["damping"] + shares["friction"] + shares["stop"]
            drive: Array = effort(name) - own - self._outer(name) + self._passed_on(name, effort)
            return drive
        return self.network.effort_on(name) if share == "parts" else shares[share]

    def _outer(self, name: str) -> Array:
        """The efforts of networks and elements along a joint."""
        outer: Array = self.network.effort_on(name) + self.loads.element_efforts.get(name, 0.0)
        return outer

    def _passed_on(self, name: str, effort: Efforts) -> Scalar:
        """The effort that gears transmit from a joint to its followers."""
        total: Scalar = 0.0
        for follower, coupling in self.topology.couplings.items():
            if coupling.leader == name:
                total = total + self.kinematics.resolve(coupling.ratio) * self._gear_effort(follower, effort)
        return total

    def _gear_effort(self, follower: str, effort: Efforts) -> Array:
        """The effort of a gear along its following joint."""
        needed = effort(follower) - sum(self.shares(follower).values()) - self._outer(follower)
        gear: Array = needed + self._passed_on(follower, effort)
        return gear

    # -- load-bearing constraints ------------------------------------------------------------------
    def holding(self, origin: str, part: str = "total", hold: Support = None) -> Array:
        """Force and moment of a joint, effort of a drive or gear, or multipliers (``topology.holding``)."""
        first, *rest = (self._in_balance(origin, balance) for balance in self.reactions.balances(part, hold))
        difference: Array = first - rest[0] if rest else first
        return difference

    def _in_balance(self, origin: str, balance: Statics | None) -> Array:
        """``holding`` in one balance."""
        if origin in self.kinematics.system.joints:
            moment, force = self.reactions.balanced_wrench(origin, balance)[1]
            return np.concatenate([force, moment])
        if origin in self.kinematics.system.constraints:
            return self.multipliers_of(origin, balance)
        name, effort = origin.removesuffix(".effort"), self._efforts_in(balance)
        return self._gear_effort(name, effort) if name in self.topology.couplings else self.share(name, "drive", effort)

    def multipliers_of(self, constraint: str, balance: Statics | None = None) -> Array:
        """The multipliers of a constraint: a force or moment for each of its rows."""
        for follower, coupling in self.topology.couplings.items():
            if coupling.constraint == constraint:
                return self._gear_effort(follower, self._efforts_in(balance))
        return self.kinematics.constraints.scatter(self.reactions.multipliers(balance))[constraint]

    def _efforts_in(self, balance: Statics | None) -> Efforts:
        return self.reactions.joint_effort if balance is None else balance.passed_effort
