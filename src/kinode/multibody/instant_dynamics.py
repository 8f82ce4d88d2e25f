"""The dynamics of one instant: accelerations, mass matrix, energies.

The recursive formulation does the mechanics; this class connects it to the state and its couplings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from kinode.algebra.scalars import Array, Scalar, rate, tidy
from kinode.algebra.sparse_ldl import Row
from kinode.algebra.spatial import ZERO3, cross, dot, solve_spd
from kinode.model.base.element import Load
from kinode.model.base.frames import Frame
from kinode.model.system import joint_frame
from kinode.multibody.links import link_steps, recursive_dynamics
from kinode.multibody.links.link_steps import Spatial
from kinode.multibody.network_motion import PartMotion
from kinode.multibody.restraints.constraint_forces import Constraints
from kinode.multibody.restraints.coupled_friction import has_friction, solve_friction
from kinode.multibody.restraints.locked_joints import Locking
from kinode.structure.evaluation_point import EMPTY, EvaluationPoint
from kinode.structure.link_geometry import WORLD

# What no effort changes, and instants that differ in efforts alone share.
KINEMATICS = (
    "geometry", "_joint_states", "node_states", "moved", "link_poses", "link_velocities", "gravity", "base",
    "unaccelerated", "mass_rows", "_frames", "condensed",
)  # fmt: skip


class InstantDynamics(PartMotion):
    """An instant with what follows from the equations of motion."""

    articulated: ClassVar[bool] = True  # accelerations are found by articulated bodies, where nothing joins them
    joint_wrench: Any  # what joints transmit, which friction may depend on, and the load that a moving body is:
    inertia_load: Any  # reactions find them

    def body_acceleration(self, frame: Frame) -> tuple[Array, Array]:
        """Angular acceleration and acceleration of the origin of a frame on a body, in world axes."""
        node, X = self.place(frame)
        if node == WORLD:
            return ZERO3, ZERO3
        R, w = self.link_poses[node].R, self.moved[node].w
        eps, W = self.link_accelerations[node]
        return R @ eps, R @ (W + cross(eps, X.p) + cross(w, cross(w, X.p))) + self.gravity

    # -- dynamics ----------------------------------------------------------------------------------
    def spread(self, u_dot: Array) -> list[Array]:
        """Accelerations of all node joints from those of the state: given, prescribed and coupled."""
        found = []
        for node, (_, _, known) in zip(self.tree.nodes, self.node_states, strict=True):
            way = self.state_of(node.joint.name)
            if way is None:
                assert known is not None
                found.append(known)
            else:
                start, ratio = way
                found.append(ratio * u_dot[start : start + node.joint.n_u])
        return found

    def collect(self, per_node: list[Array]) -> Array:
        """Generalized forces of the state from those of the node joints: the transpose of ``spread``."""
        total: list[Any] = [0.0] * self.topology.n_u
        for node, values in zip(self.tree.nodes, per_node, strict=True):
            way = self.state_of(node.joint.name)
            if way is not None:
                start, ratio = way
                for k, value in enumerate(values):
                    total[start + k] = total[start + k] + ratio * value
        return tidy(total)

    @cached_property
    def _accelerations(self) -> tuple[list[Array], list[Spatial]]:
        """Accelerations of node joints and links."""
        self.accelerating = True
        try:
            return self._find_accelerations()
        finally:
            self.accelerating = False

    def _find_accelerations(self) -> tuple[list[Array], list[Spatial]]:
        if self.given_u_dot is None and self.topology.unmoved is not None:
            raise self.topology.unmoved
        nodes, geometry, moved = self.tree.nodes, self.geometry, self.moved
        if self.given_u_dot is not None:
            each = self.spread(self.given_u_dot)
            return each, recursive_dynamics.accelerate_tree(nodes, geometry, moved, each, self.base)
        if self.topology.constrained:
            each = self.spread(self.constraints.accelerations)
            return each, recursive_dynamics.accelerate_tree(nodes, geometry, moved, each, self.base)
        if self.locking.locks and not self.locking.single:
            each = self.spread(self.locking.solution[0])
            return each, recursive_dynamics.accelerate_tree(nodes, geometry, moved, each, self.base)
        if self.topology.couplings or self.joined_by_parts:
            each = self.spread(solve_spd(self.mass_matrix, self.bias_effort))
            return each, recursive_dynamics.accelerate_tree(nodes, geometry, moved, each, self.base)
        prescribed = [known for _, _, known in self.node_states]
        return recursive_dynamics.forward_dynamics(
            nodes, geometry, moved, self.efforts, self.loads, self.base, prescribed, self.locking.free, self.armature
        )

    @cached_property
    def locking(self) -> Locking:
        """What may hold joints still."""
        return Locking(self)

    def axis_residual(self, node: int) -> Scalar:
        """The effort that the joint of a node lacks for what its link needs: what a lock holds with."""
        found: Scalar = along(self.moved[node].S, self.link_wrenches[node])[0] - self.efforts[node][0]
        if node in self.armature:
            found = found + self.armature[node][0] * self.node_accelerations[node][0]
        return found

    # -- friction ----------------------------------------------------------------------------------
    @cached_property
    def sliding(self) -> Mapping[str, Array]:
        """Efforts of friction that slides, by joint: given, or as the reactions of the motion ask for.

        Inverse dynamics has the reactions of the given accelerations; with loops, those of the model's own motion.
        """
        if self.given_friction is not None:
            return self.given_friction
        return self._friction[0] if self._own_motion is None else self._own_motion.sliding

    @cached_property
    def _friction(self) -> tuple[Mapping[str, Array], Mapping[str, Scalar]]:
        return solve_friction(self)

    def friction_limit(self, name: str) -> Scalar:
        """What the friction of a joint may hold with."""
        return self._friction[1][name]

    @cached_property
    def _own_motion(self) -> Self | None:
        """Where accelerations in loops are given: the same instant without them."""
        if self.given_u_dot is None or not self.topology.constrained:
            return None
        return self.at(effort=self.extra_effort, wrenches=self.wrenches)

    @cached_property
    def friction_efforts(self) -> Mapping[str, Array]:
        """Efforts of friction, by joint, with what it holds with where it sticks."""
        if self.given_friction is not None and not self.locked:
            return self.given_friction
        return {name: effort + self.held_effort(name, "friction") for name, effort in self.sliding.items()}

    def held_effort(self, owner: str, part: str) -> Scalar:
        """What a lock holds with; accelerations that are given leave nothing to hold."""
        if self._own_motion is not None:
            return self._own_motion.held_effort(owner, part)
        return 0.0 if self.given_u_dot is not None else self.locking.effort_of(owner, part)

    def lock_response(self, owner: str, part: str) -> Scalar:
        """The acceleration that a unit of a lock's effort would give its joints, were they alone."""
        return self.locking.response_of(owner, part)

    def held_beside(self, owner: str, part: str) -> Scalar:
        """1 while another lock holds the joint of one, and could hold more, else 0."""
        return self.locking.beside(owner, part)

    def stopped(self, owner: str, part: str) -> Array:
        """The speeds of the state when a lock begins to hold."""
        return self.locking.stopped(owner, part)

    def struck(self, owner: str, part: str, restitution: Scalar) -> Array:
        """The speeds of the state after an impact: that of a lock returns times the restitution."""
        return self.locking.struck(owner, part, restitution)

    @cached_property
    def lock_efforts(self) -> Mapping[str, Scalar]:
        """What locks do along joints."""
        if self.given_u_dot is not None and self._own_motion is None:
            return self.given_holding
        return (self._own_motion or self).locking.by_joint

    @property
    def friction_effort(self) -> Array:
        """Efforts of friction along the speeds of the state."""
        return self.collect([self.effort_shares(node.joint.name)["friction"] for node in self.tree.nodes])

    def with_friction(self, efforts: Mapping[str, Array]) -> Self:
        """The same instant with friction efforts that are given; what they do not change is shared."""
        if not has_friction(self.system):
            return self
        there = self.at(effort=self.extra_effort, wrenches=self.wrenches, u_dot=self.given_u_dot, friction=efforts)
        there.__dict__.update(_kept(self))
        there.__dict__["_other_tree"] = self._other_tree
        there.locked = self.locked
        if self.topology.constrained:
            there.constraints.share(self.constraints)
        return there

    @cached_property
    def _other_tree(self) -> dict[str, Any]:
        """The kinematics of the full tree, where several instants ask for its reactions."""
        if self.tree is self.topology.full:
            return {}
        return _kept(self.at(friction={}, full=True))

    @cached_property
    def constraints(self) -> Constraints:
        """The constraints that close loops."""
        return Constraints(self)

    def at(self, point: EvaluationPoint | None = None, **given: Any) -> Self:
        """An instant at another point, or with other efforts, loads or accelerations that are given."""
        return type(self)(self.topology, self.point if point is None else point, **given)

    def advanced_q(self, step: Array) -> Array:
        """Coordinates after a small step along the speeds of the state."""
        found = np.array(self.q, dtype=object)
        for name, where in self.topology.q_of.items():
            joint = self.system.joints[name]
            found[where] = self.q[where] + joint.rate_map(self.q[where], step[self.topology.u_of[name]])
        return tidy(found)

    @cached_property
    def unaccelerated(self) -> tuple[list[Array], list[Spatial]]:
        """Accelerations of node joints and links while those of the state are zero."""
        still = self.spread(np.zeros(self.topology.n_u))
        return still, recursive_dynamics.accelerate_tree(self.tree.nodes, self.geometry, self.moved, still, self.base)

    @cached_property
    def bias_effort(self) -> Array:
        """Generalized forces that are left to accelerate the state: tau - h."""
        _, A = self.unaccelerated
        wrench = recursive_dynamics.inverse_dynamics(self.tree.nodes, self.geometry, self.moved, A, self.loads)
        needed = [along(m.S, w) for m, w in zip(self.moved, wrench, strict=True)]
        return self.collect([tau - h for tau, h in zip(self.efforts, needed, strict=True)])

    @property
    def node_accelerations(self) -> list[Array]:
        return self._accelerations[0]

    @property
    def link_accelerations(self) -> list[Spatial]:
        """Classical accelerations of links less gravity, in link axes."""
        return self._accelerations[1]

    @cached_property
    def u_dot(self) -> Array:
        """Accelerations of the state."""
        if self.given_u_dot is not None:
            return self.given_u_dot
        found: list[Any] = [0.0] * self.topology.n_u
        for node, values in zip(self.tree.nodes, self.node_accelerations, strict=True):
            if node.joint.name in self.topology.u_of:
                found[self.topology.u_of[node.joint.name]] = values
        return tidy(found)

    @cached_property
    def q_dot(self) -> Array:
        return self._rates(self.topology.q_of, self.topology.n_q, self.joint_rate)

    def joint_rate(self, name: str) -> Array:
        """Rate of a joint's coordinates."""
        q, u, _ = self.joint_state(name)
        return self.system.joints[name].rate_map(q, u)

    @cached_property
    def z_dot(self) -> Array:
        own = {} if self.topology.network is None else self.topology.network.states_of

        def rates(name: str) -> Array:
            return self.part_rates(name) if name in own else self.system[name].state_rates(self)

        return self._rates(self.topology.z_of, self.topology.n_z, rates)

    def _rates(self, places: Mapping[str, slice], size: int, rates: Callable[[str], Array]) -> Array:
        """Rates of states, each in its place."""
        found: list[Any] = [0.0] * size
        for name, where in places.items():
            found[where] = rates(name)
        return tidy(found)

    @cached_property
    def link_wrenches(self) -> list[Spatial]:
        """What each node's joint passes on to its link, about the link's origin, in link axes."""
        return recursive_dynamics.inverse_dynamics(
            self.tree.nodes, self.geometry, self.moved, self.link_accelerations, self.loads
        )

    @cached_property
    def inverse_effort(self) -> Array:
        """Efforts beyond the model's own that the given accelerations need."""
        found: Array = self.efforts_beyond(self.link_wrenches)
        return found if self.condensed is None else found + self.armature_effort(self.u_dot)

    def efforts_beyond(self, wrenches: list[Spatial]) -> Array:
        """Efforts beyond the model's own that joints need to pass on wrenches to their links: S'W - tau."""
        needed = [along(m.S, w) for m, w in zip(self.moved, wrenches, strict=True)]
        return self.collect([h - tau for h, tau in zip(needed, self.efforts, strict=True)])

    @cached_property
    def mass_matrix(self) -> Array:
        M = np.zeros((self.topology.n_u, self.topology.n_u), dtype=object)
        M[:] = 0.0
        for i, row in enumerate(self.mass_rows):
            for j, x in row.items():
                M[i, j] = x
        return M

    @cached_property
    def mass_rows(self) -> list[Row]:
        """The rows of the mass matrix without the entries of joints that do not carry each other."""
        M: list[Row] = [{} for _ in range(self.topology.n_u)]
        ways = [self.state_of(node.joint.name) for node in self.tree.nodes]

        def place(i: int, S: Array, j: int, F: Array) -> None:
            if ways[i] is None or ways[j] is None:
                return
            (a, ratio_a), (b, ratio_b) = ways[i], ways[j]  # type: ignore[misc]
            block = S.T @ F * (ratio_a * ratio_b)
            for k in range(block.shape[0]):
                for l in range(block.shape[1]):
                    M[a + k][b + l] = M[a + k].get(b + l, 0.0) + block[k, l]
                    if i != j:
                        M[b + l][a + k] = M[b + l].get(a + k, 0.0) + block[k, l]

        recursive_dynamics.mass_matrix(self.tree.nodes, self.geometry, self.moved, place)
        for i, j, x in self.condensed.inertia if self.condensed is not None else ():
            M[i][j] = M[i].get(j, 0.0) + x
        return M

    def state_of(self, name: str) -> tuple[int, Scalar] | None:
        """Where in u a joint's speeds are found, and times what; None where they are prescribed."""
        ratio: Scalar = 1.0
        while name in self.topology.couplings:
            ratio = ratio * self.resolve(self.topology.couplings[name].ratio)
            name = self.topology.couplings[name].leader
        return (self.topology.u_of[name].start, ratio) if name in self.topology.u_of else None

    # -- whole -------------------------------------------------------------------------------------
    @cached_property
    def sums(self) -> Array:
        """Kinetic energy, momentum, angular momentum, first moment and mass of all bodies, 11 numbers."""
        ground = self.geometry.ground
        total: Array = self.link_sums + np.concatenate([np.zeros(7), ground.moment, [ground.mass]])
        return total

    @cached_property
    def link_sums(self) -> Array:
        """The same of the links alone, without what rests in the world."""
        total: Array = np.zeros(11)
        for inertia, moved, v, X in zip(
            self.geometry.inertias, self.moved, self.link_velocities, self.link_poses, strict=True
        ):
            total = total + np.concatenate(link_steps.momentum_sums(inertia, moved.w, v, X))
        return total

    @property
    def kinetic_energy(self) -> Scalar:
        return self.sums[0]

    @property
    def momenta(self) -> tuple[Array, Array, Array, Scalar]:
        """Momentum, angular momentum about the world's origin, first moment, mass."""
        return self.sums[1:4], self.sums[4:7], self.sums[7:10], self.sums[10]

    @cached_property
    def potential_energy(self) -> Scalar:
        """Of gravity, joint stiffness and elements that have one; zero at the world's origin."""
        total: Scalar = -dot(self.gravity, self.sums[7:10])
        for joint in self.system.joints.values():
            if joint.stiffness is not None:
                q = self.joint_state(joint.name)[0]
                neutral = np.zeros(joint.n_u) if joint.neutral is None else [self.resolve(x) for x in joint.neutral]
                for k, x, x0 in zip(joint.stiffness, q, neutral, strict=True):
                    total = total + 0.5 * self.resolve(k) * (x - x0) * (x - x0)
        for element in self.system.elements.values():
            total = total + element.potential(self)
        return total

    # -- joints ------------------------------------------------------------------------------------
    @cached_property
    def full(self) -> InstantDynamics:
        """The same instant with every body a node of its own."""
        held = self.articulated and self.given_u_dot is None and bool(self.locking.locks)
        if self.tree is self.topology.full and not held:
            return self
        full = type(self)(
            self.topology, self.point,
            effort=self.extra_effort, wrenches=self.wrenches, u_dot=self.u_dot, friction=self.sliding, full=True,
        )  # fmt: skip
        full.given_holding = self.lock_efforts
        full.__dict__.update(self.__dict__.get("_other_tree", {}))
        if self.topology.constrained:
            full.multipliers = self.constraints.multipliers
        return full

    multipliers: Array | None = None

    @property
    def closing_loads(self) -> list[Load]:
        """What constraints do to bodies: known to the full tree, whose reactions they are part of."""
        return [] if self.multipliers is None else self.constraints.loads(self.multipliers)

    @cached_property
    def node_named(self) -> dict[str, int]:
        return {node.joint.name: node.index for node in self.tree.nodes}

    def joint_acceleration(self, name: str) -> Array:
        """u_dot of a joint, in the tree or closing a loop."""
        if name not in self.topology.cut_names:
            return self.node_accelerations[self.node_named[name]]
        joint = self.system.joints[name]
        q, u, known = self.joint_state(name)
        if known is not None:
            return known
        F, M, _ = self.cut_pose(name)
        frames = [joint_frame(joint, side) for side in ("parent", "child")]
        (w_F, v_F), (w_M, v_M) = (self.velocity(frame) for frame in frames)
        (e_F, a_F), (e_M, a_M) = (self.acceleration(frame) for frame in frames)
        w, v, p = w_M - w_F, v_M - v_F - cross(w_F, M.p - F.p), M.p - F.p
        w_dot = e_M - e_F - cross(w_M, w)
        v_dot = a_M - a_F - cross(e_F, p) - cross(w_F, v_M - v_F) - cross(w_M, v)
        form = joint.form(self.resolve)
        change = rate(lambda x: joint.motion_subspace(x, form) @ u, q, joint.rate_map(q, u))
        relative = np.concatenate([M.R.T @ w_dot, M.R.T @ v_dot]) - change
        return tidy(joint.effort_wrench(q, form).T @ relative)


def _kept(motion: InstantDynamics) -> dict[str, Any]:
    """What instants share that differ in efforts alone."""
    _ = motion.moved, motion.link_poses
    return {name: motion.__dict__[name] for name in KINEMATICS if name in motion.__dict__}


def along(S: Array, wrench: Spatial) -> Array:
    """S'F: the part of a wrench along a joint's freedoms."""
    return S.T @ np.concatenate(wrench) if S.shape[1] else EMPTY
