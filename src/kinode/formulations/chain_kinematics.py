"""Kinematics of trees of revolute and prismatic joints, for the joint-reaction methods (T-9.1) to (T-9.9).

A chain link is a body with the joint that carries it.  All vectors are in world axes: the axis e, the pole O (the
joint's point on the side of the link), the mass center C.  Positions follow from Rodrigues matrices (T-9.1), (T-9.2).
The recursive formulation is not used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.spatial import IDENTITY3, IDENTITY_POSE, ZERO3, Pose, cross, dot, rotation_about
from kinode.model.base.frames import Frame
from kinode.model.joints.joint import Joint
from kinode.model.system import joint_frame
from kinode.multibody.kinematics import Kinematics
from kinode.multibody.links.link_steps import Spatial
from kinode.structure.topology import Topology

REVOLUTE, PRISMATIC, FIXED = "revolute", "prismatic", "fixed"
Z = np.array([0.0, 0.0, 1.0])


def hinges_and_slides(topology: Topology) -> str | None:
    """The reason why these methods do not apply, or None."""
    other = [joint.name for joint in topology.system.joints.values() if joint.kind not in (REVOLUTE, PRISMATIC, FIXED)]
    return f"it knows revolute, prismatic and fixed joints alone: {', '.join(other)}" if other else None


@dataclass(frozen=True, eq=False)
class ChainLink:
    """A body with the joint that carries it, in world axes; ``path`` are the links from the base to this one."""

    index: int
    body: str
    joint: Joint
    reversed: bool
    path: tuple[int, ...]
    X: Pose  # of the body
    mount: Array  # the joint's point on the carrier's side
    pole: Array
    axis: Array
    center: Array
    mass: Scalar
    J: Array  # about the center

    @property
    def turns(self) -> bool:
        return self.joint.kind == REVOLUTE

    @property
    def slides(self) -> bool:
        return self.joint.kind == PRISMATIC


class ChainKinematics(Kinematics):
    """Kinematics of a tree of revolute and prismatic joints at one instant."""

    # -- positions ---------------------------------------------------------------------------------
    @cached_property
    def links(self) -> list[ChainLink]:
        """All links, each after its carrier."""
        links: list[ChainLink] = []
        at = {"world": -1}
        for node in self.tree.nodes:
            carrier = at[node.carrier]
            at[node.bodies[0]] = len(links)
            links.append(self._link(links, carrier, node.joint, node.reversed, node.bodies[0]))
        return links

    def _link(self, links: Sequence[ChainLink], carrier: int, joint: Joint, is_reversed: bool, name: str) -> ChainLink:
        X_WA = IDENTITY_POSE if carrier < 0 else links[carrier].X
        near, far = (joint_frame(joint, side).pose(self.resolve) for side in _sides(is_reversed))
        axis, q = joint.axis_rotation(self.resolve, self.system.nominal) @ Z, 0.0
        if joint.n_u:
            q = self.joint_state(joint.name)[0][0]
        if is_reversed:  # the carrier is b: relative to it, a moves in the opposite sense
            axis = -axis
        turn = rotation_about(axis, q) if joint.kind == REVOLUTE else IDENTITY3  # (T-9.1)
        slide = q * axis if joint.kind == PRISMATIC else ZERO3
        X_WF = X_WA @ near
        X = X_WF @ Pose(turn, slide) @ far.inverse()
        body = self.system.bodies[name]
        rigid, c = body.rigid_inertia(self.resolve), tidy([self.resolve(x) for x in body.center_of_mass])
        J = X.R @ (rigid.J - rigid.mass * ((c @ c) * IDENTITY3 - np.outer(c, c))) @ X.R.T
        path = (*(links[carrier].path if carrier >= 0 else ()), len(links))
        pole = X_WF.point(slide)
        return ChainLink(
            len(links), name, joint, is_reversed, path, X, X_WF.p, pole, X_WF.R @ axis, X.point(c), rigid.mass, J
        )

    @cached_property
    def link_of(self) -> dict[str, ChainLink]:
        """The link of each body."""
        return {link.body: link for link in self.links}

    def behind(self, k: int) -> Iterator[ChainLink]:
        """The bodies that a joint carries."""
        return (link for link in self.links if k in link.path)

    # -- motion ------------------------------------------------------------------------------------
    def moving(self, link: ChainLink) -> Iterator[tuple[ChainLink, Scalar]]:
        """The joints with a freedom between the base and a body, and their speeds."""
        for k in link.path:
            if self.links[k].joint.n_u:
                yield self.links[k], self.speeds[k]

    @cached_property
    def speeds(self) -> list[Scalar]:
        """The speed of each link's joint, 0 for fixed joints."""
        return [state[1][0] if len(state[1]) else 0.0 for state in self.node_states]

    def quasi_base(self, alpha: ChainLink, point: Array) -> Array:
        """T: velocity of a point for a unit speed of a joint that carries it (T-9.3)."""
        return cross(alpha.axis, point - alpha.pole) if alpha.turns else alpha.axis

    def turning(self, link: ChainLink, speeds: Sequence[Scalar] | None = None) -> Array:
        """Angular velocity of a link (T-9.6)."""
        speeds = self.speeds if speeds is None else speeds
        total: Array = ZERO3
        for k in link.path:
            if self.links[k].turns:
                total = total + self.links[k].axis * speeds[k]
        return total

    def turning_rate(self, link: ChainLink, speeds: Sequence[Scalar], accelerations: Sequence[Scalar]) -> Array:
        """Angular acceleration of a link; every axis rotates with the joints before it (T-9.6)."""
        total, carried = ZERO3, ZERO3
        for k in link.path:
            if self.links[k].turns:
                e = self.links[k].axis
                total = total + e * accelerations[k] + cross(carried, e) * speeds[k]
                carried = carried + e * speeds[k]
        return total

    def point_velocity(self, link: ChainLink, point: Array) -> Array:
        """Velocity of a point fixed in a link (T-9.5)."""
        total: Array = ZERO3
        for alpha, speed in self.moving(link):
            total = total + self.quasi_base(alpha, point) * speed
        return total

    def point_acceleration(
        self, link: ChainLink, point: Array, speeds: Sequence[Scalar], accelerations: Sequence[Scalar]
    ) -> Array:
        """Acceleration of a point fixed in a link (T-9.5), with the sum over Gamma collected by the outer joint.

        Gamma_ab = e_a x T_b, a before b, occurs twice in the sum, Gamma_bb once.  So the angular velocities before b
        count twice, b's own once.
        """
        total, carried = ZERO3, ZERO3
        for k in link.path:
            beta = self.links[k]
            if not beta.joint.n_u:
                continue
            T = self.quasi_base(beta, point)
            own = beta.axis * speeds[k] if beta.turns else ZERO3
            total = total + T * accelerations[k] + cross(2.0 * carried + own, T * speeds[k])
            carried = carried + own
        return total

    # -- poses and velocities for expressions and elements -----------------------------------------
    def body_pose(self, frame: Frame) -> Pose:
        """X_WF of a frame on a body."""
        X = frame.pose(self.resolve)
        return X if frame.body == "world" else self.link_of[frame.body].X @ X

    def body_velocity(self, frame: Frame) -> tuple[Array, Array]:
        """Angular velocity and velocity of the origin of a frame on a body, in world axes."""
        if frame.body == "world":
            return ZERO3, ZERO3
        link = self.link_of[frame.body]
        return self.turning(link), self.point_velocity(link, self.pose(frame).p)

    @cached_property
    def sums(self) -> Array:
        """Kinetic energy, momentum, angular momentum, first moment and mass of all bodies."""
        total: Array = np.zeros(11)
        for link in self.links:
            w, v = self.turning(link), self.point_velocity(link, link.center)
            L = link.J @ w
            energy = 0.5 * (link.mass * dot(v, v) + dot(w, L))
            parts = ([energy], link.mass * v, L + cross(link.center, link.mass * v), link.mass * link.center)
            total = total + np.concatenate([*parts, [link.mass]])
        return total

    # -- what joints pass on -----------------------------------------------------------------------
    def behind_joint(self, k: int, wrenches: Sequence[Spatial], point: Array) -> Spatial:
        """Moment about a point and force on all bodies behind a joint, from those at the mass centers (T-9.8)."""
        moment, force = ZERO3, ZERO3
        for link in self.behind(k):
            M, F = wrenches[link.index]
            moment = moment + M + cross(link.center - point, F)
            force = force + F
        return moment, force

    def along(self, wrenches: Sequence[Spatial]) -> list[Array]:
        """Q: the component of the wrench of each joint along its freedom (T-9.9)."""
        efforts = []
        for link in self.links:
            moment, force = self.behind_joint(link.index, wrenches, link.pole)
            efforts.append(tidy([dot(link.axis, moment if link.turns else force)] if link.joint.n_u else []))
        return efforts

    def as_given(self, link: ChainLink, wrench: Spatial) -> tuple[Spatial, Spatial]:
        """A wrench on a link about its pole, as a wrench by a on b of the joint: whole, and without its axis part."""
        moment, force = wrench
        e = link.axis
        reaction = (
            moment - dot(e, moment) * e if link.turns else moment,
            force - dot(e, force) * e if link.slides else force,
        )
        R = self.pose(joint_frame(link.joint, "parent")).R
        wrenches = []
        for M, F in (wrench, reaction):
            if link.reversed:  # the opposite acts on b, about b's own point
                M, F = -M - cross(link.pole - link.mount, F), -F
            wrenches.append((R.T @ M, R.T @ F))
        return wrenches[0], wrenches[1]

    # -- the state ---------------------------------------------------------------------------------
    @cached_property
    def state_speeds(self) -> list[tuple[int, Scalar, int]]:
        """For each link: the index of its speed in the state, the ratio, and its number of freedoms."""
        states = [self.state_of(link.joint.name) for link in self.links]
        return [
            (0, 0.0, link.joint.n_u) if state is None else (state[0], state[1], link.joint.n_u)
            for link, state in zip(self.links, states, strict=True)
        ]


def scalars(per_node: Sequence[Array]) -> list[Scalar]:
    """The only entry of each array, 0 for empty ones."""
    return [values[0] if len(values) else 0.0 for values in per_node]


def _sides(is_reversed: bool) -> tuple[str, str]:
    return ("child", "parent") if is_reversed else ("parent", "child")
