"""Chains of hinges and slides: kinematics by Rodrigues matrices, reactions as sums over the bodies behind a joint.

For the joint-reaction methods (T-9.1) to (T-9.9).  Every joint is taken apart into pairs of class V, in series, with
massless links between them.  A chain link is a body, or a massless link, with the pair that carries it.  All vectors
are in world axes: the axis e, the pole O (the pair's point on the side of the link), the mass center C.  Positions
follow from Rodrigues matrices (T-9.1), (T-9.2).

A joint that is turned by a quaternion is a placement, which has no freedom, and pairs along the axes of b whose
coordinates are zero at the instant: so they never align, and their speeds are those of the joint.

Reactions are sums over the bodies behind a joint (T-9.8), (T-9.9); the methods of vector_methods.py define the inertia
of one body.  The recursive formulation is not used.  Loops, and joints that do not say their pairs, are not supported.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.sparse_ldl import Row, sparse
from kinode.algebra.spatial import IDENTITY3, IDENTITY_POSE, ZERO3, Pose, cross, dot, rotation_about, solve_spd
from kinode.model.base.frames import Frame
from kinode.model.joints.joint import Joint
from kinode.model.joints.joint_math import Pair
from kinode.model.system import joint_frame
from kinode.multibody.instant_reactions import Reactions
from kinode.multibody.kinematics import Kinematics
from kinode.multibody.link_steps import Spatial
from kinode.multibody.loop_statics import Support
from kinode.multibody.motion import Motion
from kinode.structure.tree import TreeLink

Z = np.array([0.0, 0.0, 1.0])
NONE3 = np.zeros((3, 3))
NO_PAIR = Pair(Z)


@dataclass(frozen=True, eq=False)
class ChainLink:
    """A link with the pair that carries it, in world axes; ``path`` are the links from the base to this one.

    The last link of a joint is a body; those before it are massless, without a name of a body.
    """

    index: int
    name: str  # of its pair: the joint's, and its coordinate if it has several
    body: str
    joint: Joint
    reversed: bool
    node: int  # of the joint in the tree
    freedom: int | None  # which of the joint's speeds is that of the pair; None: it has none
    path: tuple[int, ...]
    X: Pose  # of the body, or of the massless link
    mount: Array  # the joint's point on the carrier's side
    pole: Array
    axis: Array
    pair: Pair
    coordinate: Scalar
    center: Array
    mass: Scalar
    J: Array  # about the center
    axes: Array  # canonical axes of the joint on the link's side
    placement: Pose  # without freedom: by the quaternion of a ball or free joint

    @property
    def turns(self) -> bool:
        return self.pair.turns

    @property
    def slides(self) -> bool:
        return self.pair.slides

    @property
    def slide(self) -> Scalar:
        """Advance along the axis for a unit of the coordinate."""
        return self.pair.slide

    @property
    def unit(self) -> str:
        """Of the coordinate."""
        return "rad" if self.turns else "m"


class ChainStep(NamedTuple):
    """A step from one link of a joint to the next: a pair with its coordinate, or a placement without freedom."""

    name: str
    freedom: int | None
    pair: Pair
    coordinate: Scalar = 0.0
    placement: Pose = IDENTITY_POSE

    def reversed(self) -> ChainStep:
        """From the other side: relative to b, a moves in the opposite sense."""
        return self._replace(pair=self.pair._replace(axis=-self.pair.axis), placement=self.placement.inverse())

    @property
    def X(self) -> Pose:
        """The pose after the step, in canonical axes."""
        axis, turns, slide = self.pair
        if self.freedom is None:
            return self.placement
        R = rotation_about(axis, self.coordinate) if turns else IDENTITY3  # (T-9.1)
        return Pose(R, slide * self.coordinate * axis if self.pair.slides else ZERO3)


def chain_steps(joint: Joint, q: Array, form: Array) -> list[ChainStep]:
    """A joint as pairs of class V, from a to b; where a quaternion turns it, its placement and pairs at zero."""
    pairs = joint.pairs(form)
    names = [joint.name] if len(pairs) < 2 else [f"{joint.name}.{name}" for name, _ in joint.coordinates]
    if joint.quaternion is not None:
        X = joint.transform(q, form)
        placed = ChainStep(f"{joint.name}.placement", None, NO_PAIR, placement=X)
        return [placed, *(ChainStep(name, k, pair) for k, (name, pair) in enumerate(zip(names, pairs)))]
    if not pairs:
        return [ChainStep(joint.name, None, NO_PAIR)]
    return [ChainStep(name, k, pair, q[k]) for k, (name, pair) in enumerate(zip(names, pairs))]


class ChainKinematics(Kinematics):
    """Kinematics of a tree at one instant, its joints taken apart into hinges, slides and screws."""

    # -- positions ---------------------------------------------------------------------------------
    @cached_property
    def links(self) -> list[ChainLink]:
        """All links, each after its carrier."""
        return self.links_at(lambda joint: self.joint_state(joint.name)[0])

    def links_at(self, coordinates: Callable[[Joint], Array]) -> list[ChainLink]:
        """The links for given coordinates of the joints."""
        links: list[ChainLink] = []
        at = {"world": -1}
        for node in self.tree.nodes:
            links += self._joint_links(links, at[node.carrier], node, coordinates(node.joint))
            at[node.bodies[0]] = len(links) - 1
        return links

    def _joint_links(self, links: Sequence[ChainLink], carrier: int, node: TreeLink, q: Array) -> list[ChainLink]:
        """The links of one joint: massless ones, and the body that it carries."""
        joint = node.joint
        X = IDENTITY_POSE if carrier < 0 else links[carrier].X
        near, far = (joint_frame(joint, side).pose(self.resolve) for side in _sides(node.reversed))
        C = Pose(joint.axis_rotation(self.resolve, self.system.nominal), ZERO3)
        steps = chain_steps(joint, q, joint.form(self.resolve))
        if node.reversed:
            steps = [step.reversed() for step in reversed(steps)]
        path = links[carrier].path if carrier >= 0 else ()
        X, series = X @ near @ C, list[ChainLink]()
        for k, step in enumerate(steps):
            path = (*path, len(links) + k)
            mount, axis = X.p, X.R @ step.pair.axis
            X = X @ step.X
            body = node.bodies[0] if k == len(steps) - 1 else ""
            inertia = (X, X.p, 0.0, NONE3)
            if body:
                inertia = self._inertia(body, X @ C.inverse() @ far.inverse())
            where, center, mass, J = inertia
            series.append(
                ChainLink(
                    path[-1], step.name, body, joint, node.reversed, node.index, step.freedom,
                    path, where, mount, X.p, axis, step.pair, step.coordinate, center, mass, J, X.R, step.placement,
                )
            )  # fmt: skip
        return series

    def _inertia(self, name: str, X: Pose) -> tuple[Pose, Array, Scalar, Array]:
        """Pose, mass center, mass and inertia about the center of a body, in world axes."""
        body = self.system.bodies[name]
        rigid, c = body.rigid_inertia(self.resolve), tidy([self.resolve(x) for x in body.center_of_mass])
        J = X.R @ (rigid.J - rigid.mass * ((c @ c) * IDENTITY3 - np.outer(c, c))) @ X.R.T
        return X, X.point(c), rigid.mass, J

    @cached_property
    def link_of(self) -> dict[str, ChainLink]:
        """The link of each body."""
        return {link.body: link for link in self.links if link.body}

    @cached_property
    def links_of_node(self) -> list[list[ChainLink]]:
        """The links of each node's joint, from the carrier on."""
        series: list[list[ChainLink]] = [[] for _ in self.tree.nodes]
        for link in self.links:
            series[link.node].append(link)
        return series

    def carried_by(self, name: str) -> ChainLink:
        """The link of the body that a joint carries."""
        return self.links_of_node[self.node_named[name]][-1]

    def behind(self, k: int) -> Iterator[ChainLink]:
        """The bodies that a joint carries."""
        return (link for link in self.links if k in link.path and link.body)

    # -- motion ------------------------------------------------------------------------------------
    def moving(self, link: ChainLink) -> Iterator[tuple[ChainLink, Scalar]]:
        """The joints with a freedom between the base and a body, and their speeds."""
        for k in link.path:
            if self.links[k].freedom is not None:
                yield self.links[k], self.speeds[k]

    @cached_property
    def speeds(self) -> list[Scalar]:
        """The speed of each link's pair, 0 if it has none."""
        return self.per_link([state[1] for state in self.node_states])

    def per_link(self, per_node: Sequence[Array]) -> list[Scalar]:
        """Values of the joints' speeds, by link; 0 for links without freedom."""
        return [0.0 if link.freedom is None else per_node[link.node][link.freedom] for link in self.links]

    def pair_accelerations(self, per_node: Sequence[Array]) -> list[Scalar]:
        """Accelerations of the pairs, from those of the joints."""
        joints = zip(self.tree.nodes, self.node_states, per_node, strict=True)
        return self.per_link([node.joint.pair_accelerations(state[1], given) for node, state, given in joints])

    def quasi_base(self, alpha: ChainLink, point: Array) -> Array:
        """T: velocity of a point for a unit speed of a joint that carries it (T-9.3)."""
        turned: Array = cross(alpha.axis, point - alpha.pole) if alpha.turns else ZERO3
        return turned + alpha.slide * alpha.axis if alpha.slides else turned

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
            if beta.freedom is None:
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
        for link in self.link_of.values():
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
        """Q: the components of the wrench of each joint along its freedoms (T-9.9)."""
        return [
            self.efforts_of(series, self.behind_joint(series[-1].index, wrenches, series[-1].pole))
            for series in self.links_of_node
        ]

    def efforts_of(self, series: Sequence[ChainLink], wrench: Spatial) -> Array:
        """The components along the freedoms of a joint, of a wrench about the pole of its last link (T-9.9)."""
        (moment, force), at = wrench, series[-1].pole
        efforts: list[Scalar] = [0.0] * series[-1].joint.n_u
        for link in series:
            if link.freedom is not None:
                turned = dot(link.axis, moment + cross(at - link.pole, force)) if link.turns else 0.0
                efforts[link.freedom] = turned + link.slide * dot(link.axis, force) if link.slides else turned
        return tidy(efforts)

    def unit_effort(self, link: ChainLink) -> Spatial:
        """The wrench of a unit effort of a pair on the last link of its joint, about that link's pole."""
        assert link.freedom is not None
        series, T = self.links_of_node[link.node], self.effort_wrenches(link.joint)[:, link.freedom]
        if not link.reversed:
            return T[:3], T[3:]
        return -T[:3] - cross(series[0].mount - series[-1].pole, T[3:]), -T[3:]  # the opposite acts on a

    def effort_wrenches(self, joint: Joint) -> Array:
        """The wrenches of unit efforts of a joint on b, about b's joint point, in world axes, as columns."""
        T = joint.effort_wrench(self.joint_state(joint.name)[0], joint.form(self.resolve))
        R = self.pose(joint_frame(joint, "child")).R @ joint.axis_rotation(self.resolve, self.system.nominal)
        return np.vstack([R @ T[:3], R @ T[3:]])

    def as_given(self, link: ChainLink, wrench: Spatial) -> tuple[Spatial, Spatial]:
        """A wrench on a link about its pole, as a wrench by a on b of the joint: whole, and without its efforts."""
        (moment, force), joint, series = wrench, link.joint, self.links_of_node[link.node]
        efforts = self.efforts_of(series, wrench)
        if link.reversed:  # the opposite acts on b, about b's own point
            moment, force = -moment - cross(link.pole - series[0].mount, force), -force
        whole = reaction = moment, force
        if joint.n_u:
            own = self.effort_wrenches(joint) @ efforts
            reaction = moment - own[:3], force - own[3:]
        R = self.pose(joint_frame(joint, "parent")).R
        (M, F), (M_R, F_R) = whole, reaction
        return (R.T @ M, R.T @ F), (R.T @ M_R, R.T @ F_R)

    # -- the state ---------------------------------------------------------------------------------
    @cached_property
    def state_speeds(self) -> list[tuple[int, Scalar] | None]:
        """For each link: the index of its speed in the state and the ratio; None if it does not follow the state."""
        states = []
        for link in self.links:
            state = self.state_of(link.joint.name) if link.freedom is not None else None
            states.append(None if state is None else (state[0] + (link.freedom or 0), state[1]))
        return states


def _sides(is_reversed: bool) -> tuple[str, str]:
    return ("child", "parent") if is_reversed else ("parent", "child")


NO_WRENCH: Spatial = (ZERO3, ZERO3)


class ChainMotion(Motion):
    """The motion of a tree of hinges, slides and screws; subclasses define the inertia of a body."""

    kinematics: ChainKinematics

    # -- balances ----------------------------------------------------------------------------------
    @abstractmethod
    def inertia_of(self, link: ChainLink, speeds: Sequence[Scalar], accelerations: Sequence[Scalar]) -> Spatial:
        """Moment about the mass center and force that the motion of one body needs."""

    def kinetic(self, speeds: Sequence[Scalar], accelerations: Sequence[Scalar]) -> list[Spatial]:
        """Moment and force that the motion of each body needs, at its mass center."""
        return [
            self.inertia_of(link, speeds, accelerations) if link.body else NO_WRENCH for link in self.kinematics.links
        ]

    @cached_property
    def static(self) -> list[Spatial]:
        """Moment and force that balance weight and applied loads, at each mass center (T-9.24)."""
        k = self.kinematics
        balancing: list[Spatial] = [(ZERO3, -link.mass * k.gravity) for link in k.links]
        for load in self.loads.outer_loads:
            if load.on.body != "world":
                link = k.link_of[load.on.body]
                point = k.pose(load.on).p if load.at is None else load.at
                M, F = balancing[link.index]
                balancing[link.index] = (M - load.moment - cross(point - link.center, load.force), F - load.force)
        return balancing

    @cached_property
    def moving_wrenches(self) -> list[Spatial]:
        """Moment and force that the actual motion of each body needs."""
        return self.kinetic(self.kinematics.speeds, self.accelerations)

    def wrenches_at_centers(self, part: str) -> list[Spatial]:
        """Moment and force that each body needs: total, static or kinetic (T-9.24) to (T-9.26)."""
        if part == "static":
            return self.static
        if part == "kinetic":
            return self.moving_wrenches
        pairs = zip(self.static, self.moving_wrenches, strict=True)
        return [(a[0] + b[0], a[1] + b[1]) for a, b in pairs]

    # -- equations of motion -----------------------------------------------------------------------
    @cached_property
    def mass_matrix(self) -> Array:
        """M, column by column: the efforts for a unit acceleration from rest."""
        k = self.kinematics
        still = [0.0] * len(k.links)
        columns = []
        for j in range(self.topology.n_u):
            unit = [state[1] if state is not None and state[0] == j else 0.0 for state in k.state_speeds]
            columns.append(k.collect(k.along(self.kinetic(still, unit))))
        return np.array(columns, dtype=object).T if columns else np.zeros((0, 0))

    @cached_property
    def mass_rows(self) -> list[Row]:
        """The rows of the mass matrix."""
        return sparse(self.mass_matrix)

    def needed(self, per_node: Sequence[Array]) -> Array:
        """Efforts to be added to those of the model for given accelerations of the joints."""
        k = self.kinematics
        moving = self.kinetic(k.speeds, k.pair_accelerations(per_node))
        total = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(moving, self.static, strict=True)]
        return k.collect([h - tau for h, tau in zip(k.along(total), self.efforts, strict=True)])

    @cached_property
    def bias_effort(self) -> Array:
        """Generalized forces that accelerate the state: tau - h."""
        return -self.needed(self.kinematics.scatter(np.zeros(self.topology.n_u)))

    @cached_property
    def inverse_effort(self) -> Array:
        """Efforts beyond the model's own that the given accelerations need."""
        return self.needed(self.kinematics.scatter(self.u_dot))

    # -- accelerations -----------------------------------------------------------------------------
    @cached_property
    def u_dot(self) -> Array:
        """Accelerations of the state."""
        if self.given.u_dot is not None:
            return self.given.u_dot
        if self.locks.locks:
            return self.saddle_solution[0]
        return tidy(solve_spd(self.mass_matrix, self.bias_effort)) if self.topology.n_u else np.empty(0)

    def find_accelerations(self) -> tuple[list[Array], list[Spatial]]:
        """Accelerations of node joints and links from those of the state."""
        return self.scatter(self.u_dot)

    @property
    def node_accelerations(self) -> list[Array]:
        """u_dot of each node's joint."""
        return self.kinematics.scatter(self.u_dot)

    @cached_property
    def accelerations(self) -> list[Scalar]:
        """The acceleration of each link's pair, 0 if it has no freedom."""
        return self.kinematics.pair_accelerations(self.node_accelerations)

    def body_acceleration(self, frame: Frame) -> tuple[Array, Array]:
        """Angular acceleration and acceleration of the origin of a frame on a body, in world axes."""
        if frame.body == "world":
            return ZERO3, ZERO3
        k = self.kinematics
        link, point, rates = k.link_of[frame.body], k.pose(frame).p, (k.speeds, self.accelerations)
        return k.turning_rate(link, *rates), k.point_acceleration(link, point, *rates)

    # -- joints ------------------------------------------------------------------------------------
    def joint_wrench(self, name: str, part: str) -> tuple[Spatial, Spatial]:
        """The whole wrench of a joint, and its reaction: by a on b, about b's joint point, in a's axes (T-9.9)."""
        k = self.kinematics
        link = k.carried_by(name)
        return k.as_given(link, k.behind_joint(link.index, self.wrenches_at_centers(part), link.pole))

    def joint_effort(self, name: str) -> Array:
        """The effort along a joint's freedom."""
        k = self.kinematics
        link = k.carried_by(name)
        if link.joint.driven or name in self.topology.tied or self.given.u_dot is not None:
            return k.along(self.wrenches_at_centers("total"))[link.node]
        effort: Array = self.efforts[link.node] + self.instant.locking.by_joint.get(name, 0.0)
        return effort


class ChainReactions(Reactions):
    """Reactions as sums over the bodies behind a joint."""

    @property
    def chains(self) -> ChainMotion:
        """The motion."""
        assert isinstance(self.motion, ChainMotion)
        return self.motion

    def wrench_without_teeth(self, name: str, part: str = "total", hold: Support = None) -> tuple[Spatial, Spatial]:
        """The whole wrench of a joint, and its reaction; there are no loops, so no support is needed."""
        return self.chains.joint_wrench(name, part)

    def gear_effort(self, constraint: str, part: str = "total", hold: Support = None) -> Scalar:
        """The effort of a gear along the joint that follows."""
        total = super().gear_effort(constraint)
        if part == "total":
            return total
        k = self.chains.kinematics
        efforts = k.along(self.chains.static)
        follower = self.topology.meshes[constraint].follower.joint
        static = self.instant.efforts.gear_effort(follower, lambda name: efforts[k.node_named[name]])[0]
        return static if part == "static" else total - static

    def link_effort(self, name: str) -> Array:
        """The effort along a joint's freedom."""
        return self.chains.joint_effort(name)
