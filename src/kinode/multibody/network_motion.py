"""The network of an instant with known accelerations: efforts, quantities, energies, rates of its states.

The network is condensed before accelerations are known (``network_condensation.py``); here those of the motion are
substituted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.affine import constant_and_terms, substitute
from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.errors import LawError

if TYPE_CHECKING:
    from kinode.multibody.snapshot import Snapshot


class NetworkMotion:
    """The network of an instant at its accelerations."""

    def __init__(self, instant: Snapshot) -> None:
        self.instant, self.kinematics = instant, instant.kinematics
        self.condensed, self.motion = instant.condensed, instant.motion

    def effort_on(self, name: str) -> Array:
        """The effort of network components along a joint, with that of the inertia that they add."""
        joint = self.kinematics.system.joints[name]
        if self.condensed is None or name not in self.condensed.network.touched:
            return np.zeros(joint.n_u)
        return tidy([self.number(x, f"effort on {name}") for x in self.condensed.effort_forms(name)])

    def state_rates(self, name: str) -> Array:
        """Rates of the states of a component or a node."""
        assert self.condensed is not None
        states = (state for state in self.condensed.network.states if state.owner == name)
        rates = [(state.name, self.condensed.value((state.variable, state.order + 1))) for state in states]
        return tidy([self.number(rate, f"rate of {name}.{variable}") for variable, rate in rates])

    def quantity(self, owner: str, quantity: str) -> Scalar:
        """A quantity of a component or a node."""
        assert self.condensed is not None
        value = self.condensed.evaluate(self.condensed.network.formula(owner, quantity))
        return self.number(value, f"{owner}.{quantity}")

    def energy(self, kind: str) -> Scalar:
        """The energy that all components store of one kind [J]."""
        return 0.0 if self.condensed is None else self.number(self.condensed.energy(kind), f"{kind} energy")

    def number(self, value: Scalar, what: str) -> Scalar:
        """A value that is affine in accelerations, with those of the motion substituted."""
        _, terms = constant_and_terms(value)
        if not terms:
            return value
        if self.motion.solving:
            raise LawError(f"{what} depends on accelerations, which laws cannot use")
        u_dot = self.motion.u_dot
        return substitute(value, {key: self._acceleration(key, u_dot) for key in terms})

    def _acceleration(self, unknown: Any, u_dot: Array) -> Scalar:
        from kinode.multibody.network_condensation import CutJointAcceleration, StateAcceleration

        if isinstance(unknown, StateAcceleration):
            return u_dot[unknown.speed]
        assert isinstance(unknown, CutJointAcceleration)
        return self.instant.joint_acceleration(unknown.joint)[unknown.coordinate]
