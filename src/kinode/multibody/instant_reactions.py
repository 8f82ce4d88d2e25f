"""The reactions of one instant: the wrenches of joints, whole, and split into static and kinetic shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array, Scalar, sign, tidy
from kinode.algebra.spatial import ZERO3, cross
from kinode.errors import ModelError
from kinode.model.base.frames import Frame
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.constraints.tooth_mesh import ToothMesh
from kinode.model.system import joint_frame
from kinode.multibody.link_steps import Spatial
from kinode.multibody.loop_statics import INERTIA_OF, Statics, Support, joints_in_loops
from kinode.multibody.motion import along
from kinode.structure.state_layout import EMPTY

if TYPE_CHECKING:
    from kinode.multibody.snapshot import Snapshot


class Reactions:
    """The reactions of the joints and constraints of an instant, fixed joints included."""

    def __init__(self, instant: Snapshot) -> None:
        self.instant = instant
        self.kinematics, self.loads, self.motion = instant.kinematics, instant.loads, instant.motion
        self.system, self.topology = self.kinematics.system, self.kinematics.topology
        self._statics: dict[tuple[Support, str | None], Statics] = {}

    # -- balances ----------------------------------------------------------------------------------
    def statics(self, hold: Support = None, moving: str | None = None) -> Statics:
        """Static equilibrium, or with the inertia of one body, with the freedoms ``hold`` as support of loops."""
        known = self._statics.get((hold, moving))
        if known is None:
            known = self._statics[hold, moving] = Statics(self.instant, hold, moving)
        return known

    def balances(self, part: str, hold: Support = None) -> tuple[Statics | None, ...]:
        """The balance that gives a share of reactions, or two whose difference it is; None stands for the motion.

        The static share is due to gravity and loads alone, the kinetic share to inertia (T-9.24) to (T-9.26);
        ``inertia of rod`` is the contribution of the motion of the rod alone to the kinetic share.
        """
        if part == "total":
            return (None,)
        static = self.statics(hold)
        if part == "kinetic":
            return None, static
        return (self.statics(hold, part.removeprefix(INERTIA_OF)), static) if part != "static" else (static,)

    def multipliers(self, balance: Statics | None = None) -> Array:
        """Multipliers of the independent constraint rows in one balance."""
        return self.motion.multipliers if balance is None else balance.multipliers

    # -- wrenches ----------------------------------------------------------------------------------
    def joint_wrench(self, name: str, part: str = "total", hold: Support = None) -> tuple[Spatial, Spatial]:
        """The whole wrench of a joint, and its reaction: (moment, force) by a on b, about M, in F's given axes.

        ``part`` as in ``balances``.  In loops the freedoms ``hold`` support the mechanism.
        """
        whole, reaction = self.wrench_without_teeth(name, part, hold)
        for mesh in self.kinematics.tooth_forces.at(name):
            change = self.tooth_reaction(name, mesh, part, hold)
            whole, reaction = _plus(whole, change), _plus(reaction, change)
        return whole, reaction

    def wrench_without_teeth(self, name: str, part: str = "total", hold: Support = None) -> tuple[Spatial, Spatial]:
        """The same with gears that act along the joints alone."""
        first, *rest = (self.balanced_wrench(name, balance) for balance in self.balances(part, hold))
        return first if not rest else (_less(first[0], rest[0][0]), _less(first[1], rest[0][1]))

    def tooth_reaction(self, name: str, mesh: ToothMesh, part: str = "total", hold: Support = None) -> Spatial:
        """What the tooth force of a mesh adds to the reaction of a joint."""
        return self.tooth_load(name, mesh, self.gear_effort(mesh.constraint, part, hold), part)

    def tooth_load(self, name: str, mesh: ToothMesh, effort: Scalar, part: str = "total") -> Spatial:
        """The same for an effort of the gear.

        The whole load decides which flank carries it, also for its shares.  Where nothing can move, the share does.
        """
        teeth = self.kinematics.tooth_forces
        motionless = self.topology.unmoved is not None and self.motion.given.u_dot is None
        flank = None if part == "total" or motionless else sign(self.gear_effort(mesh.constraint))
        return teeth.reaction(name, mesh, teeth.forces[mesh.constraint].force(effort, flank))

    def gear_effort(self, constraint: str, part: str = "total", hold: Support = None) -> Scalar:
        """The effort of a gear along the joint that follows."""
        first, *rest = (self.instant.efforts.multipliers_of(constraint, x)[0] for x in self.balances(part, hold))
        return first - rest[0] if rest else first

    def pressing_wrench(self, name: str) -> tuple[Spatial, Array]:
        """The reaction of a joint without separating forces of teeth, and the efforts of the gears that have them.

        Both are linear in the efforts of friction.
        """
        reaction, teeth = self.wrench_without_teeth(name)[1], self.kinematics.tooth_forces
        efforts = []
        for mesh in teeth.at(name):
            efforts.append(self.gear_effort(mesh.constraint))
            reaction = _plus(
                reaction, teeth.reaction(name, mesh, teeth.forces[mesh.constraint].force(efforts[-1], 0.0))
            )
        return reaction, tidy(efforts)

    def balanced_wrench(self, name: str, balance: Statics | None) -> tuple[Spatial, Spatial]:
        """The whole wrench of a joint, and its reaction, in one balance; without the tooth forces of gears."""
        if balance is not None and not balance.closed and name in joints_in_loops(self.topology):
            message = "it is part of a loop: its static part depends on which joints hold the mechanism"
            raise ModelError(message, component=name)
        if name in self.topology.cut_names:
            return self.cut_wrench(name, balance)
        full = self.instant.full
        i = full.kinematics.node_named[name]
        node, link = full.kinematics.tree.nodes[i], full.kinematics.link_kinematics[i]
        moment, force = (full.motion if balance is None else balance).link_wrenches[i]
        T = node.mechanics.effort_wrench(full.kinematics.node_states[i][0], full.kinematics.geometry.forms[i])
        own = T @ along(link.S, (moment, force)) if node.joint.n_u else np.zeros(6)
        geared = self._gear_wrench(name, T, balance)
        C = node.joint.axis_rotation(self.kinematics.resolve, self.system.nominal)
        p_FM = link.X.inverse().p
        wrenches = []
        for m, f in ((moment + geared[:3], force + geared[3:]), (moment - own[:3], force - own[3:])):
            if node.reversed:  # the tree's child is a and its axes are F's; b takes the opposite, about its own origin
                wrenches.append((C @ (cross(p_FM, f) - m), C @ -f))
            else:
                R = C @ link.X.R
                wrenches.append((R @ m, R @ f))
        return wrenches[0], wrenches[1]

    def cut_wrench(self, name: str, balance: Statics | None) -> tuple[Spatial, Spatial]:
        """The same for a cut joint: the wrench of its multipliers, with and without its own effort."""
        joint = self.system.joints[name]
        R = self.kinematics.pose(joint_frame(joint, "parent")).R
        child = joint_frame(joint, "child")
        own = [load for load in self.instant.full.loads.cut_efforts(name) if load.on == joint.b]
        multipliers = self.multipliers(balance)
        if balance is not None:
            own += [load for load in balance.loads_of(name) if load.on == child]
        reaction = [load for load in self.kinematics.constraints.loads(multipliers, name) if load.on == child]
        moment = sum((load.moment for load in reaction), ZERO3)
        force = sum((load.force for load in reaction), ZERO3)
        whole = (moment + sum((load.moment for load in own), ZERO3), force + sum((load.force for load in own), ZERO3))
        T = joint.effort_wrench(self.kinematics.joint_state(name)[0], joint.form(self.kinematics.resolve))
        geared, R_M = self._gear_wrench(name, T, balance), self.kinematics.cut_pose(name)[1].R
        whole = (whole[0] + R_M @ geared[:3], whole[1] + R_M @ geared[3:])
        return (R.T @ whole[0], R.T @ whole[1]), (R.T @ moment, R.T @ force)

    def seen(
        self, name: str, wrench: Spatial, on: str | None = None, about: Frame | None = None,
        expressed_in: Frame | None = None,
    ) -> Spatial:  # fmt: skip
        """A joint's wrench by a on b, about b's joint point, in a's axes, converted to another body, point or axes."""
        joint, (moment, force), pose = self.system.joints[name], wrench, self.kinematics.pose
        if on is not None and on == joint.a.body:
            moment, force = -moment, -force
        if about is None and expressed_in is None:
            return moment, force
        R = pose(self.system.find_frame(f"{name}.parent")).R
        moment, force = R @ moment, R @ force
        if about is not None:
            arm = pose(self.system.find_frame(f"{name}.child")).p - pose(about).p
            moment = moment + cross(arm, force)
        back = (R if expressed_in is None else pose(expressed_in).R).T
        return back @ moment, back @ force

    # -- efforts -----------------------------------------------------------------------------------
    def joint_effort(self, name: str) -> Array:
        """The effort along a joint's freedoms, including the drive of a prescribed motion and efforts of gears."""
        effort, geared = self.link_effort(name), self.coupling_effort(name)
        return effort if geared is None else effort + geared

    def coupling_effort(self, name: str, balance: Statics | None = None) -> Scalar | None:
        """The effort along a joint of gears that have constraint rows; None if it has none."""
        rows = [c for c in self.topology.constraints if isinstance(c, CoordinateCoupling)]
        relations = [(c.name, c.relation(self.system)) for c in rows if name in c.joints().values()]
        if not relations:
            return None
        multipliers, total = self.kinematics.constraints.scatter(self.multipliers(balance)), 0.0
        for constraint, relation in relations:
            factor = 1.0 if name == relation.follower else -self.kinematics.resolve(relation.ratio)
            total = total + factor * multipliers[constraint][0]
        return total

    def _gear_wrench(self, name: str, T: Array, balance: Statics | None) -> Array:
        """The same as a wrench; ``T`` is that of a unit effort."""
        effort = self.coupling_effort(name, balance)
        return np.zeros(6) if effort is None else T[:, 0] * effort

    def link_effort(self, name: str) -> Array:
        """The effort along a joint's freedoms, without that of gears that have constraint rows."""
        joint, topology = self.system.joints[name], self.topology
        if joint.n_u == 0:
            return EMPTY
        full = self.instant.full
        if name in topology.cut_names:
            return tidy(full.loads.own_effort(name))
        i = full.kinematics.node_named[name]
        heavy = topology.network is not None and name in topology.network.heavy
        if joint.driven or heavy or name in topology.tied or self.motion.given.u_dot is not None:
            return along(full.kinematics.link_kinematics[i].S, full.motion.link_wrenches[i])
        return full.motion.efforts[i]


def _plus(left: Spatial, right: Spatial) -> Spatial:
    return left[0] + right[0], left[1] + right[1]


def _less(left: Spatial, right: Spatial) -> Spatial:
    return left[0] - right[0], left[1] - right[1]
