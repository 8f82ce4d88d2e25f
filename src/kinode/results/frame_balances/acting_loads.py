"""What acts on bodies over a run, about the origin of a frame: weight, elements, joints, constraints."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.formulations.frame_loads import element_loads, traced_snapshot
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.results import joint_loads
from kinode.results.frame_balances.motion_in_frame import MotionInFrame, cross_each
from kinode.results.frame_balances.run_balance import BalanceSide
from kinode.symbolic.balances import vector_balances as terms

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities


class Acting:
    """What acts on some of the bodies: their weight, elements, joints and constraints to what is not among them."""

    def __init__(self, run: RunQuantities, frame: str, seen: MotionInFrame, bodies: list[str]) -> None:
        self.run, self.frame, self.seen, self.bodies = run, frame, seen, set(bodies)
        self.forces: dict[str, Array] = {}
        self.moments: dict[str, Array] = {}

    @cached_property
    def side(self) -> BalanceSide:
        """The sum of each, by name."""
        self._add_weight()
        self._add_elements()
        self._add_joints()
        self._add_constraints()
        return BalanceSide(self.forces, self.moments)

    def _add(self, name: str, force: Array, moment: Array) -> None:
        for sums, value in ((self.forces, force), (self.moments, moment)):
            sums[name] = sums[name] + value if name in sums else value

    def _add_weight(self) -> None:
        g = self.seen.into(self.run["system.gravity"])
        for body in self.run.system.bodies:
            if body in self.bodies:
                weight = self.seen.masses[body] * g
                arm = self.seen.given[terms.r](body) + self.seen.given[terms.rho](body)
                self._add("weight", weight.T, cross_each(arm, weight).T)

    def _add_elements(self) -> None:
        dynamics = self.run.dynamics
        names = list(element_loads(traced_snapshot(dynamics.topology), dynamics.system.find_frame(self.frame)))
        if names:
            values = np.atleast_2d(self.run.states.call(dynamics, "element_loads", (self.frame,)))
            for k, (element, body) in enumerate(names):
                if body in self.bodies:
                    self._add(element, values[:, 6 * k : 6 * k + 3], values[:, 6 * k + 3 : 6 * k + 6])

    def _add_joints(self) -> None:
        """The whole wrench of each joint between one of these bodies and another, or the world."""
        joints = {
            name: joint.b.body in self.bodies
            for name, joint in self.run.system.joints.items()
            if (joint.a.body in self.bodies) != (joint.b.body in self.bodies)
        }
        # of all joints, so that every balance about the frame uses the same compiled function
        wrenches = joint_loads.whole_wrenches(self.run, list(self.run.system.joints), self.frame) if joints else {}
        for name, on_child in joints.items():
            sign = 1.0 if on_child else -1.0
            self._add(name, sign * wrenches[name].force, sign * wrenches[name].moment)
        for mesh in self.run.dynamics.topology.meshes:
            for name, (force, moment) in self._along_joints(mesh).items():
                if name in joints:
                    sign = -1.0 if joints[name] else 1.0
                    self._add(name, sign * force, sign * moment)

    def _along_joints(self, mesh: str) -> dict[str, tuple[Array, Array]]:
        """The effort of a gear as part of the wrench of its two joints; known teeth exert it on the wheels instead."""
        system, couplings = self.run.system, self.run.dynamics.topology.couplings
        tied = {c.constraint: (name, c.leader, c.ratio) for name, c in couplings.items()}
        if mesh in tied:
            follower, leader, ratio = tied[mesh]
        else:
            rows = system.constraints[mesh].relation(system)
            assert rows is not None
            follower, leader, ratio = rows.follower, rows.leader, rows.ratio
        resolve, effort = self.run.dynamics.arguments.resolver(self.run.p), self.run[f"{mesh}.reaction"]
        shares = {follower: effort, leader: -float(resolve(ratio)) * effort}
        return {name: self._effort_wrench(name, share, resolve) for name, share in shares.items()}

    def _effort_wrench(self, name: str, effort: Array, resolve: Any) -> tuple[Array, Array]:
        """Force, and moment about the origin of the frame, of an effort along a revolute or prismatic joint."""
        joint = self.run.system.joints[name]
        axes = np.asarray(joint.axis_rotation(resolve, resolve), dtype=float)
        unit = np.asarray(joint.effort_wrench(np.zeros(joint.n_q), joint.form(resolve)), dtype=float)[:, 0]
        turn, p = self.run[f"{name}.child.rotation"] @ axes, self.run[f"{name}.child.position"]
        moment, force = (turn @ part * effort[:, None] for part in (unit[:3], unit[3:]))
        moment = moment + np.cross(p - self.seen.motion[self.frame]["position"], force)
        return self.seen.into(force).T, self.seen.into(moment).T

    def _add_constraints(self) -> None:
        """The forces of constraints on these bodies; a gear whose teeth are not known acts along its joints alone."""
        system, meshes = self.run.system, self.run.dynamics.topology.meshes
        for name, constraint in system.constraints.items():
            if isinstance(constraint, CoordinateCoupling) and name not in meshes:
                continue
            for body, place in constraint.places(system).items():
                if body not in self.bodies:
                    continue
                force, moment = (self.run[f"{name}.on.{body}.{what}@{self.frame}"] for what in ("force", "moment"))
                at = self.run.dynamics.system.find_frame(place)
                position = self.seen.into(self._position(body, at) - self.seen.motion[self.frame]["position"])
                self._add(name, force, moment + np.cross(position.T, force))

    def _position(self, body: str, place: Any) -> Array:
        resolve = self.run.dynamics.arguments.resolver(self.run.p)
        p = np.asarray(place.pose(resolve).p, dtype=float)
        of = self.seen.motion[body]
        return np.asarray(of["position"] + of["rotation"] @ p)
