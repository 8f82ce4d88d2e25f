"""The reactions of one instant: what joints transmit, whole, and split into static and kinetic parts."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from kinode.algebra.scalars import Array, tidy
from kinode.algebra.spatial import ZERO3, cross
from kinode.errors import ModelError
from kinode.model.base.element import Load
from kinode.model.base.frames import Frame
from kinode.model.system import joint_frame
from kinode.multibody.instant_dynamics import InstantDynamics, along
from kinode.multibody.links import link_steps
from kinode.multibody.links.link_steps import Spatial
from kinode.multibody.restraints.loop_statics import INERTIA_OF, Statics, Support, joints_in_loops
from kinode.structure.evaluation_point import EMPTY
from kinode.structure.link_geometry import WORLD


class Reactions(InstantDynamics):
    """A motion with what joints and loops hold with."""

    def statics(self, hold: Support = None, moving: str | None = None) -> Statics:
        """Equilibrium without inertia, or with that of one body, with certain freedoms of loops held."""
        found = self._statics.get((hold, moving))
        if found is None:
            found = self._statics[hold, moving] = Statics(self, hold, moving)
        return found

    @cached_property
    def _statics(self) -> dict[tuple[Support, str | None], Statics]:
        return {}

    def inertia_load(self, body: str) -> Load:
        """What the motion of a body asks for, as a load on it with the opposite sign; of the full tree."""
        i = self.tree.node_of[body]
        if i == WORLD:
            return Load(Frame(body), ZERO3, ZERO3)
        X, (eps, W) = self.link_poses[i], self.link_accelerations[i]
        A = (eps, W + X.R.T @ self.gravity)
        moment, force = link_steps.inertia_wrench(self.geometry.inertias[i], self.moved[i].w, A)
        return Load(Frame(body), -(X.R @ force), -(X.R @ moment), at=X.p)

    def balances(self, part: str, hold: Support = None) -> tuple[Statics | None, ...]:
        """The balance that a part of reactions belongs to, or two of which it is the difference; None is the motion.

        The static part is that of gravity and loads alone, the kinetic part that of inertia [3.24-3.26]; ``inertia of
        rod`` is what the motion of the rod alone contributes to it.
        """
        if part == "total":
            return (None,)
        static = self.statics(hold)
        if part == "kinetic":
            return None, static
        return (self.statics(hold, part.removeprefix(INERTIA_OF)), static) if part != "static" else (static,)

    def joint_wrench(self, name: str, part: str = "total", *, hold: Support = None) -> tuple[Spatial, Spatial]:
        """All that a joint transmits, and its reaction: (moment, force) by a on b, about M, in F's given axes.

        ``part`` as in ``balances``.  In loops ``hold`` says which freedoms hold the mechanism.
        """
        one, *rest = (self._balanced_wrench(name, balance) for balance in self.balances(part, hold))
        return one if not rest else (_less(one[0], rest[0][0]), _less(one[1], rest[0][1]))

    def _balanced_wrench(self, name: str, balance: Statics | None) -> tuple[Spatial, Spatial]:
        """What a joint transmits, and its reaction, in one balance."""
        if balance is not None and not balance.closed and name in joints_in_loops(self.topology):
            message = "it is part of a loop: its static part depends on which joints hold the mechanism"
            raise ModelError(message, component=name)
        if name in self.topology.cut_names:
            return self._cut_wrench(name, balance)
        full = self.full
        i = full.node_named[name]
        node, moved = full.tree.nodes[i], full.moved[i]
        moment, force = (full if balance is None else balance).link_wrenches[i]
        T = node.mechanics.effort_wrench(full.node_states[i][0], full.geometry.forms[i])
        own = T @ along(moved.S, (moment, force)) if node.joint.n_u else np.zeros(6)
        C = node.joint.axis_rotation(self.resolve, self.system.nominal)
        p_FM = moved.X.inverse().p
        found = []
        for m, f in ((moment, force), (moment - own[:3], force - own[3:])):
            if node.reversed:  # the tree's child is a and its axes are F's; b takes the opposite, about its own origin
                found.append((C @ (cross(p_FM, f) - m), C @ -f))
            else:
                R = C @ moved.X.R
                found.append((R @ m, R @ f))
        return found[0], found[1]

    def _cut_wrench(self, name: str, balance: Statics | None) -> tuple[Spatial, Spatial]:
        """The same of a joint that closes a loop: its multipliers, and its own effort on top."""
        joint = self.system.joints[name]
        R = self.pose(joint_frame(joint, "parent")).R
        child = joint_frame(joint, "child")
        own = [load for load in self.full.cut_efforts(name) if load.on == joint.b]
        multipliers = (self.constraints if balance is None else balance).multipliers
        if balance is not None:
            own += [load for load in balance.loads_of(name) if load.on == child]
        held = [load for load in self.constraints.loads(multipliers, name) if load.on == child]
        moment = sum((load.moment for load in held), ZERO3)
        force = sum((load.force for load in held), ZERO3)
        whole = (moment + sum((x.moment for x in own), ZERO3), force + sum((x.force for x in own), ZERO3))
        return (R.T @ whole[0], R.T @ whole[1]), (R.T @ moment, R.T @ force)

    def reaction(
        self, name: str, part: str = "total", *, hold: Support = None, whole: bool = False,
        on: str | None = None, about: Frame | None = None, expressed_in: Frame | None = None,
    ) -> Spatial:  # fmt: skip
        """Moment and force of a joint's reaction (or of all that it transmits), on a body, about a point, in axes.

        Left out: on the child, about its joint point, in the parent's joint axes.  ``hold`` as in ``joint_wrench``.
        """
        return self.seen(name, self.joint_wrench(name, part, hold=hold)[0 if whole else 1], on, about, expressed_in)

    def seen(
        self, name: str, wrench: Spatial, on: str | None = None, about: Frame | None = None,
        expressed_in: Frame | None = None,
    ) -> Spatial:  # fmt: skip
        """A wrench of a joint by a on b, about b's joint point, in a's axes, as it is asked for."""
        joint, (moment, force) = self.system.joints[name], wrench
        if on is not None and on == joint.a.body:
            moment, force = -moment, -force
        if about is None and expressed_in is None:
            return moment, force
        R = self.pose(self.system.find_frame(f"{name}.parent")).R
        moment, force = R @ moment, R @ force
        if about is not None:
            arm = self.pose(self.system.find_frame(f"{name}.child")).p - self.pose(about).p
            moment = moment + cross(arm, force)
        back = (R if expressed_in is None else self.pose(expressed_in).R).T
        return back @ moment, back @ force

    def joint_effort(self, name: str) -> Array:
        """What acts along a joint's freedoms, the drive of a prescribed motion and what gears pass on included."""
        joint = self.system.joints[name]
        if joint.n_u == 0:
            return EMPTY
        if name in self.topology.cut_names:
            return tidy(self.full.own_effort(name))
        full = self.full
        i = full.node_named[name]
        heavy = self.topology.network is not None and name in self.topology.network.heavy
        if joint.driven or heavy or name in self.topology.tied or self.given_u_dot is not None:
            return along(full.moved[i].S, full.link_wrenches[i])
        return full.efforts[i]


def _less(one: Spatial, two: Spatial) -> Spatial:
    return one[0] - two[0], one[1] - two[1]
