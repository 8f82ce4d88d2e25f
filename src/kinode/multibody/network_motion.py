"""What parts of a network have to do with the motion: efforts, inertia of their own, energies, rates of their states.

The network itself is condensed without accelerations (``network_condensation.py``); here its forms meet those of the
motion.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.multibody.instant import Instant


class PartMotion(Instant):
    """An instant whose accelerations are found with the inertia of parts."""

    accelerating = False  # while accelerations are under way, nothing else can depend on them
    u_dot: Any  # accelerations of the state, which the motion finds
    joint_acceleration: Any  # that of a joint

    @property
    def joined_by_parts(self) -> bool:
        """Whether parts make the acceleration of a joint act on another."""
        return self.condensed is not None and self.condensed.diagonal is None

    @cached_property
    def armature(self) -> dict[int, Array]:
        """The inertia that parts add to the freedoms of nodes, where it does not join them."""
        found: dict[int, Array] = {}
        own = (self.condensed.diagonal if self.condensed is not None else None) or {}
        for node in self.tree.nodes if own else ():
            where = self.topology.u_of.get(node.joint.name, slice(0, 0))
            if any(k in own for k in range(where.start, where.stop)):
                found[node.index] = tidy([own.get(k, 0.0) for k in range(where.start, where.stop)])
        return found

    def armature_effort(self, u_dot: Array) -> Array:
        """What accelerations of the state take for the inertia of parts: J_a u_dot."""
        total: list[Any] = [0.0] * self.topology.n_u
        for i, j, x in self.condensed.inertia if self.condensed is not None else ():
            total[i] = total[i] + x * u_dot[j]
        return tidy(total)

    def parts_on(self, name: str) -> Array:
        """What parts do along a joint, for the inertia that they add too."""
        joint = self.system.joints[name]
        if self.condensed is None or name not in self.condensed.network.touched:
            return np.zeros(joint.n_u)
        return tidy([self.part_number(x, f"effort on {name}") for x in self.condensed.effort_forms(name)])

    def part_number(self, value: Scalar, what: str) -> Scalar:
        """A number from a form in accelerations, at those of the motion."""
        from kinode.multibody.network_condensation import without_accelerations

        return without_accelerations(self, value, what)

    def part_quantity(self, owner: str, quantity: str) -> Scalar:
        """A quantity of a part or a node."""
        assert self.condensed is not None
        value = self.condensed.evaluate(self.condensed.network.formula(owner, quantity))
        return self.part_number(value, f"{owner}.{quantity}")

    def part_energy(self, kind: str) -> Scalar:
        """What all parts store: kinetic, potential or electric."""
        return 0.0 if self.condensed is None else self.part_number(self.condensed.energy(kind), f"{kind} energy")

    def part_rates(self, name: str) -> Array:
        """Rates of the states of a part or a node."""
        assert self.condensed is not None
        states = (state for state in self.condensed.network.states if state.owner == name)
        rates = [(s.name, self.condensed.value((s.variable, s.order + 1))) for s in states]
        return tidy([self.part_number(x, f"rate of {name}.{word}") for word, x in rates])
