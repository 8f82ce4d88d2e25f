"""Efforts along joints by share: drive, spring, damping, friction, stop, and what gears pass on.

The drive of a prescribed joint, and what a gear does, are what is left of the whole effort.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.multibody.instant_reactions import Reactions
from kinode.multibody.loads import Loads
from kinode.multibody.networks.network_motion import NetworkMotion
from kinode.multibody.restraints.loop_statics import Statics, Support

Efforts = Callable[[str], Array]  # of a joint: what acts along its freedoms


class JointEfforts:
    """The efforts along the joints of an instant.

    ``friction_efforts`` are those of friction with what it holds with where it sticks, and ``held_effort`` is what a
    lock of a joint holds with.
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
        """A joint's own efforts: drive (its law), spring, damping, friction, stop, with what locks hold with."""
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
        """One share of a joint's effort; ``effort`` gives the whole, that of the motion if left out."""
        shares, effort = self.shares(name), effort or self.reactions.joint_effort
        if share == "drive" and self.kinematics.system.joints[name].driven:
            own = shares["spring"] + shares["damping"] + shares["friction"] + shares["stop"]
            drive: Array = effort(name) - own - self._outer(name) + self._passed_on(name, effort)
            return drive
        return self.network.effort_on(name) if share == "parts" else shares[share]

    def _outer(self, name: str) -> Array:
        """What networks and elements do along a joint, which is none of its own efforts."""
        outer: Array = self.network.effort_on(name) + self.loads.element_efforts.get(name, 0.0)
        return outer

    def _passed_on(self, name: str, effort: Efforts) -> Scalar:
        """What gears take from a joint for those that follow it."""
        total: Scalar = 0.0
        for follower, coupling in self.topology.couplings.items():
            if coupling.leader == name:
                total = total + self.kinematics.resolve(coupling.ratio) * self._gear_effort(follower, effort)
        return total

    def _gear_effort(self, follower: str, effort: Efforts) -> Array:
        """What a gear does along the joint that follows."""
        needed = effort(follower) - sum(self.shares(follower).values()) - self._outer(follower)
        gear: Array = needed + self._passed_on(follower, effort)
        return gear

    # -- load-bearing constraints ------------------------------------------------------------------
    def holding(self, origin: str, part: str = "total", hold: Support = None) -> Array:
        """Force and moment of a joint, effort of a drive or gear, or multipliers (``topology.holding``)."""
        one, *rest = (self._held(origin, balance) for balance in self.reactions.balances(part, hold))
        difference: Array = one - rest[0] if rest else one
        return difference

    def _held(self, origin: str, balance: Statics | None) -> Array:
        """The same in one balance."""
        if origin in self.kinematics.system.joints:
            moment, force = self.reactions.balanced_wrench(origin, balance)[1]
            return np.concatenate([force, moment])
        if origin in self.kinematics.system.constraints:
            return self.multipliers_of(origin, balance)
        name, effort = origin.removesuffix(".effort"), self._efforts_in(balance)
        return self._gear_effort(name, effort) if name in self.topology.couplings else self.share(name, "drive", effort)

    def multipliers_of(self, constraint: str, balance: Statics | None = None) -> Array:
        """What a constraint holds with: a force or moment for each of its rows."""
        for follower, coupling in self.topology.couplings.items():
            if coupling.constraint == constraint:
                return self._gear_effort(follower, self._efforts_in(balance))
        return self.kinematics.constraints.scatter(self.reactions.multipliers(balance))[constraint]

    def _efforts_in(self, balance: Statics | None) -> Efforts:
        return self.reactions.joint_effort if balance is None else balance.passed_effort
