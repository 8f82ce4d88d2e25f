"""A snapshot: one instant of a system, which answers for every quantity by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinode.algebra.euler_angles import euler_angles, euler_rates
from kinode.algebra.scalars import Array, Scalar, sqrt
from kinode.algebra.spatial import ZERO3, cross, dot, quaternion_of, rpy_from_rotation
from kinode.model.base.frames import Frame
from kinode.model.constraints.constraint import POSITIONS
from kinode.model.quantity_names import QuantityName, find_quantity
from kinode.multibody.instant_reactions import Reactions
from kinode.multibody.power import element_power
from kinode.multibody.restraints import loop_constraints
from kinode.multibody.restraints.loop_statics import Statics, Support

Efforts = Callable[[str], Array]  # of a joint: what acts along its freedoms


class Snapshot(Reactions):
    """Coordinates, poses, velocities, accelerations, loads, reactions and energies, by name."""

    def quantity(self, name: str | QuantityName) -> Any:
        """Any quantity: a number or an array."""
        found = find_quantity(self.system, name) if isinstance(name, str) else name
        if found.text not in self._quantities:
            value = getattr(self, f"_{found.sort}_quantity")(found)
            self._quantities[found.text] = (
                value if found.part is None else np.asarray(value, dtype=object).reshape(-1)[found.part]
            )
        return self._quantities[found.text]

    def _time_quantity(self, name: QuantityName) -> Scalar:
        return self.t

    def _parameter_quantity(self, name: QuantityName) -> Scalar:
        return self.lookup(name.owner)

    _input_quantity = _signal_quantity = _parameter_quantity

    def _in_axes(self, vector: Array, axes: Frame | None) -> Array:
        return vector if axes is None else self.pose(axes).R.T @ vector

    def _frame_quantity(self, name: QuantityName) -> Any:
        frame = name.frame
        assert frame is not None
        match name.quantity:
            case "position":
                return self._in_axes(self.pose(frame).p, name.axes)
            case "velocity" | "angular_velocity":
                return self._in_axes(self.velocity(frame)[name.quantity == "velocity"], name.axes)
            case "acceleration" | "angular_acceleration":
                return self._in_axes(self.acceleration(frame)[name.quantity == "acceleration"], name.axes)
        R = self.pose(frame).R if name.axes is None else self.pose(name.axes).R.T @ self.pose(frame).R
        if name.quantity == "euler_rates":
            turned = self.velocity(frame)[0] - (ZERO3 if name.axes is None else self.velocity(name.axes)[0])
            return euler_rates(R, self.pose(frame).R.T @ turned)
        read = {"rpy": rpy_from_rotation, "euler": euler_angles, "quaternion": quaternion_of}
        return read[name.quantity](R) if name.quantity in read else R

    def _held_quantity(self, name: QuantityName) -> Scalar:
        return self.held(name.owner)[name.quantity]

    def _observer_quantity(self, name: QuantityName) -> Scalar:
        return self.system.frames[name.owner].quantity(name.quantity, self)

    def _system_quantity(self, name: QuantityName) -> Any:
        match name.quantity:
            case "energy":
                return sum(self.energies, 0.0)
            case "kinetic_energy" | "potential_energy" | "electric_energy":
                return self.energies[("kinetic", "potential", "electric").index(name.quantity.partition("_")[0])]
            case "gravity":
                return self._in_axes(self.gravity, name.axes)
        P, L, first, mass = self.momenta
        return self._in_axes({"momentum": P, "angular_momentum": L, "com": first / mass}[name.quantity], name.axes)

    @property
    def energies(self) -> tuple[Scalar, Scalar, Scalar]:
        """Kinetic, potential and electric energy of bodies, joints, elements and parts."""
        own = [self.part_energy(kind) for kind in ("kinetic", "potential", "electric")]
        return self.kinetic_energy + own[0], self.potential_energy + own[1], own[2]

    def _part_quantity(self, name: QuantityName) -> Scalar:
        return self.part_quantity(name.owner, name.quantity)

    _node_quantity = _part_quantity

    def _element_quantity(self, name: QuantityName) -> Any:
        if name.quantity == "power":
            return element_power(self, self.system.elements[name.owner])
        value = self.system.elements[name.owner].quantity(name.quantity, self)
        return self._in_axes(value, name.axes) if name.parts else value

    def _joint_quantity(self, name: QuantityName) -> Any:
        joint, key = self.system.joints[name.owner], name.quantity
        if key in ("q", "u"):
            q, u, _ = self.joint_state(joint.name)
            state = u if key == "u" else q
            return state if name.parts else state[0]
        value: Array
        if key == "u_dot":
            value = self.joint_acceleration(joint.name)
        elif key == "power":
            return dot(self.joint_effort(joint.name), self.joint_state(joint.name)[1]) if joint.n_u else 0.0
        elif key == "effort":
            value = self.joint_effort(joint.name)
        elif key.startswith("effort."):
            value = self._effort_share(joint.name, key.removeprefix("effort."))
        else:
            return self._wrench_quantity(name)
        return value if name.parts else value[0] if len(value) else 0.0

    def _effort_share(self, name: str, share: str, effort: Efforts | None = None) -> Array:
        shares, effort = self.effort_shares(name), effort or self.joint_effort
        if share == "drive" and self.system.joints[name].driven:
            own = shares["spring"] + shares["damping"] + shares["friction"] + shares["stop"]
            drive: Array = effort(name) - own - self._beside(name) + self._passed_on(name, effort)
            return drive
        return self.parts_on(name) if share == "parts" else shares[share]

    def _beside(self, name: str) -> Array:
        """What parts of networks and elements do along a joint, which is none of its own efforts."""
        found: Array = self.parts_on(name) + self.element_efforts.get(name, 0.0)
        return found

    def _passed_on(self, name: str, effort: Efforts) -> Scalar:
        """What gears take from a joint for those that follow it."""
        total: Scalar = 0.0
        for follower, coupling in self.topology.couplings.items():
            if coupling.leader == name:
                total = total + self.resolve(coupling.ratio) * self._gear_effort(follower, effort)
        return total

    def _gear_effort(self, follower: str, effort: Efforts) -> Array:
        """What a gear does along the joint that follows."""
        needed = effort(follower) - sum(self.effort_shares(follower).values()) - self._beside(follower)
        found: Array = needed + self._passed_on(follower, effort)
        return found

    def holding(self, origin: str, part: str = "total", hold: Support = None) -> Array:
        """Force and moment of a joint, effort of a drive or gear, or multipliers (``topology.holding``)."""
        one, *rest = (self._held(origin, balance) for balance in self.balances(part, hold))
        found: Array = one - rest[0] if rest else one
        return found

    def _held(self, origin: str, statics: Statics | None) -> Array:
        """The same in one balance."""
        effort = self.joint_effort if statics is None else statics.passed_effort
        if origin in self.system.joints:
            moment, force = self._balanced_wrench(origin, statics)[1]
            return np.concatenate([force, moment])
        if origin in self.system.constraints:
            return self.multipliers_of(origin, statics)
        name = origin.removesuffix(".effort")
        if name in self.topology.couplings:
            return self._gear_effort(name, effort)
        return self._effort_share(name, "drive", effort)

    def multipliers_of(self, constraint: str, statics: Statics | None = None) -> Array:
        """What a constraint holds with: a force or moment for each of its rows."""
        for follower, coupling in self.topology.couplings.items():
            if coupling.constraint == constraint:
                return self._gear_effort(follower, self.joint_effort if statics is None else statics.passed_effort)
        lam = self.constraints.multipliers if statics is None else statics.multipliers
        return self.constraints.spread(lam)[constraint]

    def _constraint_quantity(self, name: QuantityName) -> Any:
        tie = loop_constraints.loop_constraint_of(self.topology, self.system.constraints[name.owner])
        value: Array
        if name.quantity == "residual":
            slips = [unit not in POSITIONS for unit in tie.units]
            value = loop_constraints.residual(self, tie)
            value = np.where(slips, loop_constraints.drift(self, tie), value) if any(slips) else value
        elif name.quantity == "reaction":
            value = self.multipliers_of(name.owner)
        else:
            return self._wrench_on(name, self.multipliers_of(name.owner))
        return value if name.parts else value[0]

    def unit_wrenches(self, name: QuantityName) -> list[Scalar]:
        """The force or moment of a constraint on a body, as asked for by name, for each unit multiplier."""
        count = len(self.system.constraints[name.owner].rows(self.system))
        each = [np.asarray(self._wrench_on(name, lam), dtype=object).ravel() for lam in np.eye(count)]
        return [x for values in each for x in (values if name.part is None else values[[name.part]])]

    def _wrench_on(self, name: QuantityName, lam: Array) -> Array:
        """Force, or moment about the place where the constraint holds the body, in world axes or others."""
        constraint, about = self.system.constraints[name.owner], name.frame
        assert about is not None
        loads = self.constraints.loads_of(loop_constraints.loop_constraint_of(self.topology, constraint), lam)
        loads = [load for load in loads if load.on.body == about.body]
        total = sum((load.force for load in loads), ZERO3)
        if name.quantity.endswith("moment"):
            at = self.pose(about).p
            total = sum((load.moment + cross(self.pose(load.on).p - at, load.force) for load in loads), ZERO3)
        return self._in_axes(total, name.axes)

    def _wrench_quantity(self, name: QuantityName) -> Any:
        kind, _, part = name.quantity.partition(".")
        moment, force = self.reaction(name.owner, whole=kind == "wrench", expressed_in=name.axes)
        if part in ("axial", "radial"):
            joint = self.system.joints[name.owner]
            axis = joint.axis_rotation(self.resolve, self.system.nominal) @ np.array([0.0, 0.0, 1.0])
            along = dot(axis, force)
            if part == "axial":
                return along
            across = force - along * axis
            return sqrt(dot(across, across))
        return moment if part == "moment" else force
