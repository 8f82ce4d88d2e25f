"""The loads of one instant: what acts on bodies, and the model's own efforts along its joints.

What locked joints hold with is not among them unless it is given: the motion finds it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.spatial import cross
from kinode.model.base.element import Load
from kinode.model.base.frames import Frame
from kinode.model.quantities import EFFORT_SHARES
from kinode.multibody.link_steps import Spatial
from kinode.structure.tree import WORLD

if TYPE_CHECKING:
    from kinode.multibody.coupled_friction import Friction
    from kinode.multibody.network_condensation import Condensed
    from kinode.multibody.snapshot import Snapshot


class Loads:
    """Loads and efforts of an instant."""

    def __init__(self, instant: Snapshot) -> None:
        self.scene, self.kinematics = instant, instant.kinematics
        self.system, self.topology, self.given = instant.system, instant.topology, instant.given

    @property
    def friction(self) -> Friction:
        """Sliding friction."""
        return self.scene.friction

    @cached_property
    def condensed(self) -> Condensed | None:
        """The network whose efforts are included; None if the formulation treats its flows as unknowns."""
        return self.scene.condensed if self.scene.formulation.condenses else None

    # -- on bodies ---------------------------------------------------------------------------------
    @cached_property
    def element_loads(self) -> list[Load]:
        """Loads of elements."""
        return [load for element in self.system.elements.values() for load in element.wrenches(self.scene)]

    @property
    def given_loads(self) -> list[Load]:
        """Given wrenches."""
        return [Load(Frame(body), force, moment) for body, (force, moment) in self.given.wrenches.items()]

    @property
    def outer_loads(self) -> list[Load]:
        """Loads of elements, and given wrenches."""
        return self.element_loads + self.given_loads

    @cached_property
    def cut_loads(self) -> list[Load]:
        """The efforts of cut joints."""
        return [load for name in self.topology.cut_names for load in self.cut_efforts(name)]

    @property
    def applied_loads(self) -> list[Load]:
        """Loads of elements, given wrenches, and the efforts of cut joints."""
        return self.outer_loads + self.cut_loads

    @property
    def closing_loads(self) -> list[Load]:
        """Loads of constraints whose multipliers are given."""
        multipliers = self.given.multipliers
        return [] if multipliers is None else self.kinematics.constraints.loads(multipliers)

    @cached_property
    def link_loads(self) -> list[Spatial | None]:
        """Moment about the link's origin and force on each link, in link axes, of all loads on bodies."""
        return self.sum_on_links([*self.applied_loads, *self.closing_loads])

    def link_loads_without(self, left_out: Collection[str]) -> list[Spatial | None]:
        """The same without the loads of some elements, by name."""
        others = [element for name, element in self.system.elements.items() if name not in left_out]
        loads = [load for element in others for load in element.wrenches(self.scene)]
        return self.sum_on_links([*loads, *self.given_loads, *self.cut_loads, *self.closing_loads])

    def sum_on_links(self, loads: Sequence[Load]) -> list[Spatial | None]:
        """Loads on bodies, summed by link: moment about the link's origin and force, in link axes."""
        kinematics = self.kinematics
        total: list[Spatial | None] = [None] * len(kinematics.tree.nodes)
        for load in loads:
            node, X = kinematics.locate_frame(load.on)
            if node == WORLD:
                continue
            X_WL = kinematics.link_poses[node]
            force = X_WL.R.T @ load.force
            arm = X.p if load.at is None else X_WL.R.T @ (load.at - X_WL.p)
            moment = X_WL.R.T @ load.moment + cross(arm, force)
            previous = total[node]
            total[node] = (moment, force) if previous is None else (previous[0] + moment, previous[1] + force)
        return total

    def cut_efforts(self, name: str) -> list[Load]:
        """The efforts of a cut joint, as loads on its two bodies."""
        kinematics, joint = self.kinematics, self.system.joints[name]
        unlocked = name not in self.given.lock_efforts
        if not joint.effects and unlocked and self.outer_effort(name) is None:
            return []
        _, M, _ = kinematics.cut_pose(name)
        tau = self.own_effort(name)
        wrench = joint.effort_wrench(kinematics.joint_state(name)[0], joint.form(kinematics.resolve)) @ tau
        moment, force = M.R @ wrench[:3], M.R @ wrench[3:]
        return [Load(joint.b, force, moment, at=M.p), Load(joint.a, -force, -moment, at=M.p)]

    # -- along joints ------------------------------------------------------------------------------
    def shares(self, name: str, friction: Mapping[str, Array]) -> dict[str, Array]:
        """A joint's own efforts with given friction: drive (its expression), spring, damping, friction, stop.

        The locking efforts of rigid stops and sticking friction follow from the motion; they are not included.
        """
        joint = self.system.joints[name]
        own = {effect.share: effect.effort(joint, self.scene, friction) for effect in joint.effects}
        return {**dict.fromkeys(EFFORT_SHARES, np.zeros(joint.n_u)), **own}

    def own_effort(self, name: str) -> Array:
        """The sum of the model's own efforts along a joint; of locking efforts, the given ones alone."""
        shares = self.shares(name, self.friction.sliding)
        total: Array = sum(shares.values(), np.zeros(self.system.joints[name].n_u))
        outer, locks = self.outer_effort(name), self.given.lock_efforts
        total = total if outer is None else total + outer
        return total + locks[name] if name in locks else total

    def outer_effort(self, name: str) -> Array | None:
        """Efforts of networks and elements along a joint, without the inertia of networks; None if there are none."""
        network = None if self.condensed is None else self.condensed.effort(name)
        own = self.element_efforts.get(name)
        if own is None:
            return network
        return tidy([own]) if network is None else network + own

    @cached_property
    def element_efforts(self) -> dict[str, Scalar]:
        """Efforts of elements along joints; these are not among the loads on bodies."""
        total: dict[str, Scalar] = {}
        for element in self.system.elements.values():
            for name, effort in element.efforts(self.scene).items():
                total[name] = total.get(name, 0.0) + effort
        return total

    @cached_property
    def efforts(self) -> list[Array]:
        """Efforts along each node's joint; of driven joints without the drive."""
        efforts, added = [], self.given.effort
        for node in self.kinematics.tree.nodes:
            name = node.joint.name
            tau = self.own_effort(name)
            if added is not None and name in self.topology.u_of:
                tau = tau + added[self.topology.u_of[name]]
            efforts.append(tau)
        return efforts
