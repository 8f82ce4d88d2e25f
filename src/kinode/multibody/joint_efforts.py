"""Efforts along joints by share: drive, spring, damping, friction, stop, parts, rotor, gear; they add up to the effort.

The drive of a prescribed joint, and the effort of a gear, are the whole effort less all other shares.

A gear has a motor side and a load side: with the ratio i the shaft of the motor turns i times as fast as the load
moves.  At the load, ``drive`` is i times what drives the shaft (T-6.11), and ``rotor`` is the rest of what the gear
transmits: inertia, weight and losses of the shaft, negative where they take from the drive.  At the shaft, ``gear`` is
what the gear takes.

Unknown efforts in the effort of a joint are those of its drive, and of the gears that act along it (``EffortOrigins``).
In a system with redundant constraints they are shared together with the reactions (T-5.6).  All shares of an effort are
linear in them, so that one table of factors serves numbers and operations on a tape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.model.constraints.constraint import find_transmissions
from kinode.model.constraints.gear_coupling import Transmission
from kinode.multibody.loop_statics import Statics, Support
from kinode.structure.topology import Topology

if TYPE_CHECKING:
    from kinode.multibody.snapshot import Snapshot

Efforts = Callable[[str], Array]  # of a joint: the whole effort along its freedoms


class JointEfforts:
    """The efforts along the joints of an instant."""

    def __init__(self, instant: Snapshot) -> None:
        self.instant, self.loads, self.network = instant, instant.loads, instant.network
        self.reactions, self.kinematics, self.topology = instant.reactions, instant.kinematics, instant.topology

    def shares(self, name: str) -> dict[str, Array]:
        """A joint's own efforts: drive (its expression), spring, damping, friction, stop; locking efforts included."""
        joint = self.kinematics.system.joints[name]
        shares = self.loads.shares(name, {} if joint.friction is None else self.instant.friction_efforts)
        if joint.ends is not None:
            shares["stop"] = shares["stop"] + self.instant.held_effort(name, "stop")
        return shares

    @property
    def friction(self) -> Array:
        """Efforts of friction along the speeds of the state."""
        nodes = self.kinematics.tree.nodes
        return self.kinematics.collect([self.shares(node.joint.name)["friction"] for node in nodes])

    def own_share(self, name: str, share: str, effort: Efforts | None = None) -> Array:
        """A share of the joint itself, without gears; ``effort`` gives whole efforts, else those of the motion."""
        shares, effort = self.shares(name), effort or self.reactions.link_effort
        if share == "drive" and self.kinematics.system.joints[name].driven:
            own = shares["spring"] + shares["damping"] + shares["friction"] + shares["stop"]
            drive: Array = effort(name) - own - self._outer(name) + self._passed_on(name, effort)
            return drive
        return self._outer(name) if share == "parts" else shares[share]

    def share(self, name: str, share: str) -> Array:
        """One share of a joint's effort, as the drives geared to it see it; all shares add up to the effort."""
        if share == "drive":
            return self._motor_effort(name, parts=False)
        if share == "rotor":
            rotor: Array = np.zeros(self.kinematics.system.joints[name].n_u)
            for gear in self._gears_at(name, "load"):
                ratio = self.kinematics.resolve(gear.ratio)
                rotor = rotor + self._effort_of_gear(gear, name) - ratio * self._motor_effort(gear.motor, parts=True)
            return rotor
        if share == "gear":
            zero: Array = np.zeros(self.kinematics.system.joints[name].n_u)
            return sum((self._effort_of_gear(gear, name) for gear in self._gears_at(name, "motor")), zero)
        return self.own_share(name, share)

    def _motor_effort(self, name: str, *, parts: bool) -> Array:
        """What drives a joint: its own drive, network parts if wanted, and what drives the shafts geared to it."""
        total = self.own_share(name, "drive")
        if parts:
            total = total + self.network.effort_on(name)
        for gear in self._gears_at(name, "load"):
            total = total + self.kinematics.resolve(gear.ratio) * self._motor_effort(gear.motor, parts=True)
        return total

    def _gears_at(self, name: str, side: str) -> list[Transmission]:
        """The gears that have a joint on their motor side or on their load side."""
        return [gear for gear in find_transmissions(self.kinematics.system) if getattr(gear, side) == name]

    def _effort_of_gear(self, gear: Transmission, name: str) -> Array:
        """The effort of a gear along one of its joints."""
        relation = self.kinematics.system.constraints[gear.constraint].relation(self.kinematics.system)
        assert relation is not None
        along = self.multipliers_of(gear.constraint)
        return along if name == relation.follower else -self.kinematics.resolve(relation.ratio) * along

    def _outer(self, name: str) -> Array:
        """The efforts of networks and elements along a joint, with those of the elements' locks."""
        outer: Array = self.network.effort_on(name) + self.loads.element_efforts.get(name, 0.0)
        for lock in self.instant.lock_rows.locks if self.kinematics.system.joints[name].n_u == 1 else ():
            factor = dict(lock.joints).get(name)
            if factor is not None and lock.owner != name:
                outer = outer + factor * self.instant.held_effort(lock.owner, lock.part)
        return outer

    def element_effort(self, element: str, joint: str) -> Scalar:
        """The effort of one element along a joint of one freedom, with that of its locks."""
        total = self.kinematics.system.elements[element].efforts(self.loads.scene).get(joint, 0.0)
        for lock in self.instant.lock_rows.locks:
            if lock.owner == element and joint in dict(lock.joints):
                total = total + dict(lock.joints)[joint] * self.instant.held_effort(lock.owner, lock.part)
        return total

    def _passed_on(self, name: str, effort: Efforts) -> Scalar:
        """The effort that gears transmit from a joint to its followers."""
        total: Scalar = 0.0
        for follower, coupling in self.topology.couplings.items():
            if coupling.leader == name:
                total = total + self.kinematics.resolve(coupling.ratio) * self.gear_effort(follower, effort)
        return total

    def gear_effort(self, follower: str, effort: Efforts) -> Array:
        """The effort of a gear along its following joint."""
        needed = effort(follower) - sum(self.shares(follower).values()) - self._outer(follower)
        gear: Array = needed + self._passed_on(follower, effort)
        return gear

    # -- load-bearing constraints ------------------------------------------------------------------
    def holding(self, origin: str, part: str = "total", hold: Support = None) -> Array:
        """Force and moment of a joint, effort of a drive or gear, or multipliers (``topology.holding``)."""
        if origin in self.kinematics.system.joints:
            moment, force = self.reactions.joint_wrench(origin, part, hold)[1]
            return np.concatenate([force, moment])
        first, *rest = (self._in_balance(origin, balance) for balance in self.reactions.balances(part, hold))
        difference: Array = first - rest[0] if rest else first
        return difference

    def _in_balance(self, origin: str, balance: Statics | None) -> Array:
        """``holding`` of efforts and multipliers in one balance."""
        if origin in self.kinematics.system.constraints:
            return self.multipliers_of(origin, balance)
        name, effort = origin.removesuffix(".effort"), self._efforts_in(balance)
        return (
            self.gear_effort(name, effort) if name in self.topology.couplings else self.own_share(name, "drive", effort)
        )

    def multipliers_of(self, constraint: str, balance: Statics | None = None) -> Array:
        """The multipliers of a constraint: a force or moment for each of its rows."""
        for follower, coupling in self.topology.couplings.items():
            if coupling.constraint == constraint:
                return self.gear_effort(follower, self._efforts_in(balance))
        return self.kinematics.constraints.scatter(self.reactions.multipliers(balance))[constraint]

    def _efforts_in(self, balance: Statics | None) -> Efforts:
        return self.reactions.link_effort if balance is None else balance.passed_effort


Factors = dict[str, Scalar]  # name in ``topology.holding`` -> factor


class EffortOrigins:
    """The origins of the efforts of all joints; ``resolve`` gives the values of ratios."""

    def __init__(self, topology: Topology, resolve: Callable[[Any], Scalar]) -> None:
        self.topology, self.resolve = topology, resolve
        self._followers = {coupling.constraint: follower for follower, coupling in topology.couplings.items()}
        self._gears = [gear for gear in find_transmissions(topology.system) if gear.constraint in self._followers]

    def of_share(self, joint: str, share: str) -> Factors:
        """Those of the whole ``effort``, or of its shares ``effort.drive``, ``effort.gear``, ``effort.rotor``."""
        if share == "effort":
            return self._of_whole(joint)
        if share == "effort.drive":
            return self._of_drive(joint)
        total: Factors = {}
        for gear in self._gears:
            if share == "effort.gear" and gear.motor == joint:
                _add(total, self._of_gear(gear.constraint, joint), 1.0)
            elif share == "effort.rotor" and gear.load == joint:
                _add(total, self._of_gear(gear.constraint, joint), 1.0)
                _add(total, self._of_drive(gear.motor), -self.resolve(gear.ratio))
        return total

    def _of_whole(self, joint: str) -> Factors:
        couplings = self.topology.couplings
        total: Factors = {f"{joint}.effort": 1.0} if self._is_driven(joint) or joint in couplings else {}
        for coupling in couplings.values():
            if coupling.leader == joint:
                _add(total, self._of_gear(coupling.constraint, joint), 1.0)
        return total

    def _of_drive(self, joint: str) -> Factors:
        """Its own drive, and the drives of the motors that are geared to it."""
        total: Factors = {f"{joint}.effort": 1.0} if self._is_driven(joint) else {}
        for gear in self._gears:
            if gear.load == joint:
                _add(total, self._of_drive(gear.motor), self.resolve(gear.ratio))
        return total

    def _of_gear(self, constraint: str, joint: str) -> Factors:
        follower = self._followers[constraint]
        factor = 1.0 if joint == follower else -self.resolve(self.topology.couplings[follower].ratio)
        return {f"{follower}.effort": factor}

    def _is_driven(self, joint: str) -> bool:
        record = self.topology.system.joints[joint]
        return record.driven and record.n_u > 0


def _add(total: Factors, more: Factors, times: Scalar) -> None:
    """Add factors to a table."""
    for origin, factor in more.items():
        total[origin] = total.get(origin, 0.0) + times * factor
