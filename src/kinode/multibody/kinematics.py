"""The kinematics of one instant on one tree: all that does not depend on efforts, loads, friction or accelerations.

Joint states, link kinematics, poses and velocities of frames, cut joints, gravity, and what follows from these alone:
bias accelerations, the mass matrix of the bodies, momentum and energy.  Everything is computed on demand, and once.
Instants that differ in what is given share one ``Kinematics`` by reference.

Link kinematics follow from the recursion.  A formulation with its own kinematics overrides ``link_kinematics`` and
``link_velocities``, or ``body_pose`` and ``body_velocity``, or ``find_joint_state``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.sparse_ldl import Row
from kinode.algebra.spatial import ZERO3, Pose, cross, dot
from kinode.model.base.frames import Frame
from kinode.model.base.scene import Solid
from kinode.model.joints.joint import Joint, spring_energies
from kinode.model.system import joint_frame
from kinode.multibody import link_steps
from kinode.multibody.bundles import map_alike
from kinode.multibody.given import Given, JointState
from kinode.multibody.laws import Laws
from kinode.multibody.link_steps import LinkKinematics, Spatial
from kinode.multibody.loop_constraints import Constraints
from kinode.multibody.recursive_dynamics import MovingTree, move_tree
from kinode.multibody.tooth_forces import ToothForces
from kinode.structure.state_layout import EMPTY, EvaluationPoint
from kinode.structure.topology import Topology
from kinode.structure.tree import WORLD, Geometry, Tree, find_node_frame

SIDES = ("parent", "child")


class Kinematics:
    """Positions and velocities of joints, links and frames at one point, on one tree.

    ``given.joint_states`` replace the states of their joints; the other fields of ``given`` have no effect here.
    """

    def __init__(self, topology: Topology, tree: Tree, point: EvaluationPoint, laws: Laws, given: Given) -> None:
        self.topology, self.system, self.tree, self.point = topology, topology.system, tree, point
        self.t, self.q, self.u, self.z = point.t, point.q, point.u, point.z
        self.laws, self.given = laws, given
        self.resolve = self.law = laws.resolve
        self.lookup, self.timely = laws.lookup, laws.timely
        self._joint_states: dict[str, JointState] = dict(given.joint_states)
        self._poses: dict[Frame, Pose] = {}
        self._velocities: dict[Frame, tuple[Array, Array]] = {}
        self._places: dict[Frame, tuple[int, Pose]] = {}
        self._cut_poses: dict[str, tuple[Pose, Pose, Pose]] = {}

    def serves(self, given: Given) -> bool:
        """Whether an instant at the same point with other ``given`` values can share this kinematics."""
        return given.joint_states is self.given.joint_states

    @cached_property
    def full(self) -> Kinematics:
        """The same with every body a link of its own."""
        return self if self.tree is self.topology.full else self.on_tree(self.topology.full)

    def on_tree(self, tree: Tree) -> Self:
        """The same point on another tree."""
        return type(self)(self.topology, tree, self.point, self.laws, self.given)

    # -- states ------------------------------------------------------------------------------------
    def other_states(self, name: str, /) -> Array:
        """The entries of z that belong to a component."""
        return self.z[self.topology.z_of[name]]

    def discrete_states(self, name: str, /) -> dict[str, Scalar]:
        """The discrete states of a component, by name; where the state has none, their consistent initial values."""
        if not len(self.z):
            return dict(self.system[name].consistent_values(self))
        where = self.topology.layout.discrete_of.get(name)
        names = (entry for entry, _ in self.system[name].discrete_states)
        return {} if where is None else dict(zip(names, self.z[where], strict=True))

    def joint_state(self, name: str, /) -> JointState:
        """q, u of a joint, and u_dot where it is prescribed."""
        state = self._joint_states.get(name)
        if state is None:
            state = self._joint_states[name] = self.find_joint_state(name)
        return state

    def find_joint_state(self, name: str) -> JointState:
        """q, u and u_dot of a joint: from the state, a gear, an expression of time, or the poses of a cut joint."""
        topology, joint = self.topology, self.system.joints[name]
        if name in topology.q_of:
            return self.q[topology.q_of[name]], self.u[topology.u_of[name]], None
        if joint.n_u == 0:
            return EMPTY, EMPTY, EMPTY
        if name in topology.couplings:
            coupling = topology.couplings[name]
            q, u, u_dot = self.joint_state(coupling.leader)
            ratio, offset = self.resolve(coupling.ratio), self.resolve(coupling.offset)
            return ratio * q + offset, ratio * u, None if u_dot is None else ratio * u_dot
        if name in topology.cut_names and not joint.driven:
            return (*self.cut_state(name), None)
        if joint.motion is not None:
            q, u, u_dot = self.timely(joint.motion, 2)
            return q, u, u_dot
        assert joint.speed is not None
        u, u_dot = self.timely(joint.speed, 1)
        return self.other_states(name), u, u_dot

    def joint_rate(self, name: str, /) -> Array:
        """Rate of a joint's coordinates."""
        q, u, _ = self.joint_state(name)
        return self.system.joints[name].rate_map(q, u)

    @cached_property
    def node_states(self) -> list[JointState]:
        """The state of each node's joint."""
        return [self.joint_state(node.joint.name) for node in self.tree.nodes]

    @cached_property
    def node_named(self) -> dict[str, int]:
        """The node of each joint of the tree."""
        return {node.joint.name: node.index for node in self.tree.nodes}

    def advanced_q(self, step: Array) -> Array:
        """Coordinates after a small step along the speeds of the state."""
        q = np.array(self.q, dtype=object)
        for name, where in self.topology.q_of.items():
            joint = self.system.joints[name]
            q[where] = self.q[where] + joint.rate_map(self.q[where], step[self.topology.u_of[name]])
        return tidy(q)

    # -- links -------------------------------------------------------------------------------------
    @cached_property
    def geometry(self) -> Geometry:
        """The constants of all links."""
        return self.topology.geometry(self.tree, self.resolve)

    @cached_property
    def link_kinematics(self) -> Sequence[LinkKinematics]:
        """Pose, subspace, angular velocity and bias acceleration of each link."""
        states = self.node_states
        return move_tree(self.tree, self.geometry, [state[0] for state in states], [state[1] for state in states])

    @property
    def moving_tree(self) -> MovingTree:
        """The tree at this instant."""
        return MovingTree(self.tree, self.geometry, self.link_kinematics)

    @cached_property
    def link_poses(self) -> Sequence[Pose]:
        """X_WL of each link."""
        return self.moving_tree.poses()

    @cached_property
    def link_velocities(self) -> Sequence[Array]:
        """Velocity of each link's origin, in link axes."""
        return self.moving_tree.velocities([state[1] for state in self.node_states])

    @cached_property
    def unaccelerated(self) -> tuple[list[Array], Sequence[Spatial]]:
        """Accelerations of node joints and links for u_dot = 0 of the state."""
        at_rest = self.scatter(np.zeros(self.topology.n_u))
        return at_rest, self.moving_tree.accelerations(at_rest, self.base)

    # -- frames ------------------------------------------------------------------------------------
    def locate_frame(self, frame: Frame) -> tuple[int, Pose]:
        """The node that carries a frame and its pose in the link."""
        place = self._places.get(frame)
        if place is None:
            place = self._places[frame] = find_node_frame(self.tree, self.geometry, frame, self.resolve)
        return place

    def pose(self, frame: Frame, /) -> Pose:
        """X_WF."""
        if frame not in self._poses:
            observer = self.system.frames.get(frame.body)
            if observer is None:
                self._poses[frame] = self.body_pose(frame)
            else:
                X = observer.pose(self)
                self._poses[frame] = X if frame.is_plain else X @ frame.pose(self.resolve)
        return self._poses[frame]

    def body_pose(self, frame: Frame) -> Pose:
        """The same of a frame on a body."""
        node, X = self.locate_frame(frame)
        return X if node == WORLD else self.link_poses[node] @ X

    def velocity(self, frame: Frame, /) -> tuple[Array, Array]:
        """Angular velocity and velocity of a frame's origin, in world axes."""
        velocity = self._velocities.get(frame)
        if velocity is None:
            observer = self.system.frames.get(frame.body)
            if observer is None:
                velocity = self.body_velocity(frame)
            else:
                w, v = observer.velocity(self)
                velocity = w, v + cross(w, self.pose(frame).p - observer.pose(self).p)
            self._velocities[frame] = velocity
        return velocity

    def body_velocity(self, frame: Frame) -> tuple[Array, Array]:
        """The same of a frame on a body."""
        node, X = self.locate_frame(frame)
        if node == WORLD:
            return ZERO3, ZERO3
        R, w = self.link_poses[node].R, self.link_kinematics[node].w
        return R @ w, R @ (self.link_velocities[node] + cross(w, X.p))

    def own_velocity(self, frame: Frame) -> tuple[Array, Array]:
        """The same of a frame on a body in the frame's own axes; no rotation to the world and back is part of it."""
        node, X = self.locate_frame(frame)
        if node == WORLD:
            return ZERO3, ZERO3
        w = self.link_kinematics[node].w
        return X.R.T @ w, X.R.T @ (self.link_velocities[node] + cross(w, X.p))

    # -- cut joints --------------------------------------------------------------------------------
    def cut_pose(self, name: str) -> tuple[Pose, Pose, Pose]:
        """X_WF, X_WM and X_FM of a joint, from the poses of its frames, in canonical axes."""
        if name not in self._cut_poses:
            self.place_cuts([name])
        return self._cut_poses[name]

    def place_cuts(self, names: Iterable[str]) -> None:
        """Find the poses of joints, for ``cut_pose``; those that are alike side by side."""
        missing = [self.system.joints[name] for name in dict.fromkeys(names) if name not in self._cut_poses]
        calls = []
        for joint in missing:
            frames = (self.pose(joint_frame(joint, side)) for side in SIDES)
            calls.append((*frames, joint.axis_rotation(self.resolve, self.system.nominal)))
        self._cut_poses.update(zip((joint.name for joint in missing), map_alike(_place_cut, calls), strict=True))

    def cut_state(self, name: str) -> tuple[Array, Array]:
        """q and u of a cut joint, from the poses and velocities of its frames; angles within a turn."""
        joint = self.system.joints[name]
        q = tidy(joint.solve_coordinates(self.cut_pose(name)[2], joint.form(self.resolve)))
        return q, self.relative_speeds(name, q, self.velocity)

    def relative_speeds(self, name: str, q: Array, velocity: Callable[[Frame], tuple[Array, Array]]) -> Array:
        """u of a joint from velocities of its frames: their part along its freedoms."""
        joint = self.system.joints[name]
        return tidy(joint.effort_wrench(q, joint.form(self.resolve)).T @ self.relative_velocity(name, velocity))

    def relative_velocity(self, name: str, velocity: Callable[[Frame], tuple[Array, Array]]) -> Array:
        """Velocity of a joint's frame M relative to its frame F, in M's axes [angular; linear]."""
        joint, (F, M, _) = self.system.joints[name], self.cut_pose(name)
        (w_F, v_F), (w_M, v_M) = (velocity(joint_frame(joint, side)) for side in SIDES)
        w, v = w_M - w_F, v_M - v_F - cross(w_F, M.p - F.p)
        return np.concatenate([M.R.T @ w, M.R.T @ v])

    @cached_property
    def constraints(self) -> Constraints:
        """The loop constraints."""
        return Constraints(self)

    @cached_property
    def tooth_forces(self) -> ToothForces:
        """The forces of gears whose teeth are known."""
        return ToothForces(self)

    # -- between the state and the tree ------------------------------------------------------------
    def state_of(self, name: str) -> tuple[int, Scalar] | None:
        """Index in u of the speed that a joint follows, and the ratio to it; None for driven and cut joints."""
        ratio: Scalar = 1.0
        while name in self.topology.couplings:
            ratio = ratio * self.resolve(self.topology.couplings[name].ratio)
            name = self.topology.couplings[name].leader
        return (self.topology.u_of[name].start, ratio) if name in self.topology.u_of else None

    def scatter(self, u_dot: Array) -> list[Array]:
        """Accelerations of all node joints from those of the state: given, prescribed and coupled."""
        each = []
        for node, (_, _, known) in zip(self.tree.nodes, self.node_states, strict=True):
            state = self.state_of(node.joint.name)
            if state is None:
                assert known is not None
                each.append(known)
            else:
                start, ratio = state
                each.append(ratio * u_dot[start : start + node.joint.n_u])
        return each

    def collect(self, per_node: Sequence[Array]) -> Array:
        """Generalized forces of the state from those of the node joints: the transpose of ``scatter``."""
        total: list[Any] = [0.0] * self.topology.n_u
        for node, values in zip(self.tree.nodes, per_node, strict=True):
            state = self.state_of(node.joint.name)
            if state is not None:
                start, ratio = state
                for k, value in enumerate(values):
                    total[start + k] = total[start + k] + ratio * value
        return tidy(total)

    # -- gravity and inertia -----------------------------------------------------------------------
    @cached_property
    def gravity(self) -> Array:
        """The acceleration of free fall, in world axes."""
        return tidy([self.resolve(x) for x in self.system.gravity])

    @cached_property
    def base(self) -> Spatial:
        """Acceleration of the base that represents gravity, [0; -g]."""
        return ZERO3, -self.gravity

    @cached_property
    def solids(self) -> list[Solid]:
        """Every body with its mass and its inertia about its mass center."""
        bodies = self.system.bodies.values()
        return [Solid(b.com, self.resolve(b.mass), b.central_inertia(self.resolve)) for b in bodies]

    @cached_property
    def mass_rows(self) -> list[Row]:
        """The rows of the bodies' mass matrix; entries of two joints that do not carry each other are left out."""
        return find_mass_rows(self)

    @cached_property
    def link_sums(self) -> Array:
        """Kinetic energy, momentum, angular momentum, first moment and mass of the links, 11 numbers."""
        return sum_links(self)

    @property
    def spring_energy(self) -> Scalar:
        """The energy of the stiffness of all joints [J]."""
        return find_spring_energy(self, self.system.joints.values())

    @cached_property
    def sums(self) -> Array:
        """The same for all bodies, including those fixed to the world."""
        ground = self.geometry.ground
        total: Array = self.link_sums + np.concatenate([np.zeros(7), ground.moment, [ground.mass]])
        return total

    @property
    def kinetic_energy(self) -> Scalar:
        """Of all bodies [J]."""
        return self.sums[0]

    @property
    def momenta(self) -> tuple[Array, Array, Array, Scalar]:
        """Momentum, angular momentum about the world's origin, first moment, mass."""
        return self.sums[1:4], self.sums[4:7], self.sums[7:10], self.sums[10]

    def potential_energy(self, of_elements: Iterable[Scalar]) -> Scalar:
        """Of gravity and joint stiffness, with that of elements; gravity's is zero at the world's origin [J]."""
        total = potential_energy(self)
        for energy in of_elements:
            total = total + energy
        return total


def _place_cut(X_a: Pose, X_b: Pose, C: Array) -> tuple[Pose, Pose, Pose]:
    """X_WF, X_WM and X_FM of a joint, from the poses of its frames and the rotation to canonical axes."""
    canonical = Pose(C, ZERO3)
    F, M = X_a @ canonical, X_b @ canonical
    return F, M, F.inverse() @ M


def find_mass_rows(kinematics: Kinematics) -> list[Row]:
    """The rows of the mass matrix, by composite inertias, without those of joints that do not carry each other."""
    M: list[Row] = [{} for _ in range(kinematics.topology.n_u)]
    states = [kinematics.state_of(node.joint.name) for node in kinematics.tree.nodes]
    for i, j, block in kinematics.moving_tree.mass_matrix():
        if states[i] is None or states[j] is None:
            continue
        (a, ratio_a), (b, ratio_b) = states[i], states[j]  # type: ignore[misc]
        block = block * (ratio_a * ratio_b)
        for k in range(block.shape[0]):
            for l in range(block.shape[1]):
                M[a + k][b + l] = M[a + k].get(b + l, 0.0) + block[k, l]
                if i != j:
                    M[b + l][a + k] = M[b + l].get(a + k, 0.0) + block[k, l]
    return M


def sum_links(kinematics: Kinematics) -> Array:
    """Kinetic energy, momentum, angular momentum, first moment and mass of the links, 11 numbers."""
    total: Array = np.zeros(11)
    for inertia, link, v, X in zip(
        kinematics.geometry.inertias,
        kinematics.link_kinematics,
        kinematics.link_velocities,
        kinematics.link_poses,
        strict=True,
    ):
        total = total + np.concatenate(link_steps.momentum_sums(inertia, link.w, v, X))
    return total


def potential_energy(kinematics: Kinematics) -> Scalar:
    """Of gravity and joint stiffness; that of gravity is zero at the world's origin [J]."""
    total: Scalar = -dot(kinematics.gravity, kinematics.sums[7:10])
    return total + kinematics.spring_energy


def find_spring_energy(kinematics: Kinematics, joints: Iterable[Joint]) -> Scalar:
    """The energy of the stiffness of joints [J]."""
    total: Scalar = 0.0
    for joint in joints:
        for energy in spring_energies(joint, kinematics.joint_state(joint.name)[0], kinematics.resolve):
            total = total + energy
    return total
