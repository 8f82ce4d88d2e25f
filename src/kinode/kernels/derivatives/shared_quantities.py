"""Quantities by name after redundant reactions are shared, as operations on a tape.

Compiled reactions come from an independent set of constraint rows.  The rule of least norm (T-5.6) adds a change that
does not depend on where loops were cut (``formulations/equal_stiffness.py``).  ``dynamics/reactions/redundancy.py``
adds it to numbers.  Here it is part of the tape, so that shared reactions have derivatives, and can be written as C or
for CasADi.  Which components are shared, and which coordinates lock the mechanism, is found before, at a state.

Not done here: sharing by compliances, and quantities of links of the circuit.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, is_zero, tidy
from kinode.algebra.spatial import dot
from kinode.formulations.equal_stiffness import EqualStiffness
from kinode.kernels.kernel_options import SharingOptions
from kinode.model.constraints.constraint import ANGULAR
from kinode.model.quantities import ACTED_ON, JOINT_WRENCHES, POWERS, SHARE_OF, QuantityName
from kinode.multibody.joint_efforts import EffortOrigins
from kinode.multibody.loop_constraints import loop_constraints_of
from kinode.multibody.quantity_values import part_of_wrench
from kinode.multibody.snapshot import Snapshot
from kinode.structure.topology import Topology


def find_effort_units(topology: Topology, joint: str, length: float) -> list[float]:
    """The unit of each effort of a joint: the length for angles."""
    return [length if kind == "angle" else 1.0 for _, kind in topology.system.joints[joint].coordinates]


def find_load_units(topology: Topology, length: float) -> Array:
    """The divisor of each component of ``topology.holding``: the length for moments."""
    units: list[float] = []
    multipliers = {constraint.name: constraint.units for constraint in loop_constraints_of(topology)}
    for name in topology.holding:
        if name in topology.system.joints:
            units += [1.0] * 3 + [length] * 3
        elif name in multipliers:
            units += [length if kind in ANGULAR else 1.0 for kind in multipliers[name]]
        else:
            units += find_effort_units(topology, name.removesuffix(".effort"), length)
    return np.array(units)


class SharedLoads:
    """The loads of one instant after sharing; ``options`` say what is shared."""

    def __init__(self, snapshot: Snapshot, options: SharingOptions) -> None:
        self.snapshot, self.options, self.sizes = snapshot, options, snapshot.topology.holding
        self._ends = np.cumsum(list(self.sizes.values()))[:-1]

    @cached_property
    def stiffness(self) -> EqualStiffness:
        """All joints as equally stiff ones."""
        return EqualStiffness(self.snapshot, self.options.length, self.options.locks)

    @cached_property
    def origins(self) -> EffortOrigins:
        """What the efforts of joints are made up of."""
        return EffortOrigins(self.snapshot.topology, self.snapshot.resolve)

    def share(self, loads: Iterable[Scalar]) -> tuple[Array, Scalar]:
        """The change of all components of ``topology.holding``, moments over the length; the efforts of the locks."""
        chosen = tidy([load if flag else 0.0 for load, flag in zip(loads, self.options.shared, strict=True)])
        change, locked = self.stiffness.share(dict(zip(self.sizes, np.split(chosen, self._ends), strict=True)))
        return np.concatenate([change[name] for name in self.sizes]), locked

    @cached_property
    def changes(self) -> dict[str, Array]:
        """The change of each load that is shared; zero for the others."""
        units = find_load_units(self.snapshot.topology, self.options.length)
        loads = np.concatenate([self.snapshot.holding(name) for name in self.sizes])
        change, _ = self.share(load / unit for load, unit in zip(loads, units, strict=True))
        kept = [
            value * unit if flag else 0.0 for value, unit, flag in zip(change, units, self.options.shared, strict=True)
        ]
        return dict(zip(self.sizes, np.split(tidy(kept), self._ends), strict=True))

    # -- by name -----------------------------------------------------------------------------------
    def quantity(self, name: QuantityName) -> Any:
        """A quantity of a joint or a constraint, shared."""
        if name.quantity in ACTED_ON:
            return self._of_effort(name)
        if name.quantity not in JOINT_WRENCHES:
            return self._of_constraint(name)
        value = self._of_wrench(name)
        return value if name.part is None else value[name.part]

    def _of_wrench(self, name: QuantityName) -> Any:
        """The reaction of a joint, or its whole wrench, in the axes of the name."""
        kind, _, part = name.quantity.partition(".")
        moment, force = self.snapshot.joint_wrench(name.owner)[0 if kind == "wrench" else 1]
        change = self.changes[name.owner]
        effort = self._effort(name.owner, "effort") if kind == "wrench" else np.zeros(0)
        if not all(map(is_zero, effort)):
            change = change + self._along(name.owner) @ effort
        wrench = (moment + change[3:], force + change[:3])
        moment, force = self.snapshot.reactions.seen(name.owner, wrench, expressed_in=name.axes)
        return part_of_wrench(self.snapshot, name.owner, part, moment, force)

    def _along(self, joint: str) -> Array:
        """Force and moment of unit efforts of a joint: six rows, a column for each freedom."""
        stiff, length = self.stiffness.joints[joint], self.options.length
        units = find_effort_units(self.snapshot.topology, joint, length)
        columns = [
            np.concatenate([stiff.R_FM @ effort[:3], length * (stiff.R_FM @ effort[3:])]) / unit
            for effort, unit in zip(stiff.efforts, units, strict=True)
        ]
        return np.array(columns).reshape(len(columns), 6).T

    def _effort(self, joint: str, share: str) -> Array:
        """The change of the efforts along a joint's freedoms, or of a share of them."""
        total: Array = np.zeros(self.snapshot.system.joints[joint].n_u)
        for origin, factor in self.origins.of_share(joint, share).items():
            total = total + factor * self.changes[origin]
        return total

    def _of_effort(self, name: QuantityName) -> Any:
        """The effort of a joint, one of its shares, or a power."""
        base: Any = self.snapshot.quantity(name)
        change = self._effort(name.owner, SHARE_OF.get(name.quantity, name.quantity))
        if name.quantity in POWERS:
            return base + dot(change, self.snapshot.joint_state(name.owner)[1])
        if name.part is not None:
            return base + change[name.part]
        return base + change if name.parts else base + change[0]

    def _of_constraint(self, name: QuantityName) -> Any:
        """The multipliers of a constraint, or its force or moment on a body, which are linear in them."""
        couplings = self.snapshot.topology.couplings
        origin = next((f"{n}.effort" for n, c in couplings.items() if c.constraint == name.owner), name.owner)
        base, change = self.snapshot.quantity(name), self.changes[origin]
        if name.quantity != "reaction":
            each = self.snapshot.unit_wrenches(name._replace(part=None))
            change = change @ np.array(each, dtype=object).reshape(len(change), -1)
        if name.part is not None:
            return base + change[name.part]
        return base + change if name.parts else base + change[0]


class GivenChanges(SharedLoads):
    """The loads of an instant whose changes are given, one after the other as in ``topology.holding``."""

    def __init__(self, snapshot: Snapshot, options: SharingOptions, changes: Array) -> None:
        super().__init__(snapshot, options)
        self.changes = dict(zip(self.sizes, np.split(changes, self._ends), strict=True))


def find_shared(snapshot: Snapshot, loads: SharedLoads, name: QuantityName) -> Any:
    """A quantity by name, with the loads of joints and constraints shared."""
    return loads.quantity(name) if name.is_load else snapshot.quantity(name)
