"""Which unknown efforts make up the effort of a joint: those of its drive, and of the gears that act along it.

In a system with redundant constraints they are shared together with the reactions (T-5.6).  All shares of an effort are
linear in them, so that one table of factors serves numbers and operations on a tape.  ``multibody/joint_efforts.py``
defines the shares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinode.algebra.scalars import Scalar
from kinode.model.constraints.constraint import find_transmissions
from kinode.structure.topology import Topology

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
