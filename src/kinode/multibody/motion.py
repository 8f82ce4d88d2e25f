"""The motion of one instant: the interface that all formulations implement, and the recursive one.

    M u_dot = bias_effort + G' lam + lock forces,    bias_effort = tau - h

A formulation computes accelerations, mass matrix, bias and the wrenches of joints: ``RecursiveMotion``,
``CircuitMotion``, ``RolledMotion``, ``LagrangeMotion`` and ``ChainMotion``.

The recursive one takes articulated bodies if nothing couples the joints.  With loops, or locks across several joints,
the equations of motion are a saddle-point system (``Saddle``).  With gears, or networks that couple
accelerations, they are solved by the mass matrix; in large trees with gears by articulated bodies and an unknown effort
for each gear.  Locked joints, and the inertia that networks add to a freedom, leave articulated bodies as they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kinode.algebra.scalars import Array, Scalar, rate, tidy
from kinode.algebra.sparse_ldl import Row, Saddle
from kinode.algebra.spatial import ZERO3, cross, solve_spd
from kinode.model.base.element import Load
from kinode.model.base.frames import Frame
from kinode.model.system import joint_frame
from kinode.multibody import link_steps, loop_constraints
from kinode.multibody.coupled_friction import FrictionSolution, solve_friction
from kinode.multibody.link_steps import Spatial
from kinode.multibody.recursive_dynamics import GearedPair
from kinode.structure.state_layout import EMPTY
from kinode.structure.tree import WORLD

if TYPE_CHECKING:
    from kinode.multibody.snapshot import Snapshot


class Motion(ABC):
    """The accelerations of one instant, and the forces that they need."""

    articulated: ClassVar[bool] = False  # locked joints are part of the recursion; its residuals are their efforts
    sweeps_full_tree: ClassVar[bool] = False  # the full tree is solved on its own, not from these accelerations

    def __init__(self, instant: Snapshot) -> None:
        self.instant, self.kinematics = instant, instant.kinematics
        self.loads, self.locks = instant.loads, instant.lock_rows
        self.given, self.topology = instant.given, instant.topology
        self.find_solver = instant.shared.find_solver or cache(self._find_solver)
        self._solving = False

    # -- equations ---------------------------------------------------------------------------------
    @property
    @abstractmethod
    def mass_rows(self) -> list[Row]:
        """The rows of the mass matrix without the entries that are known to be zero."""

    @cached_property
    def mass_matrix(self) -> Array:
        """M by the speeds of the state."""
        M = np.zeros((self.topology.n_u, self.topology.n_u), dtype=object)
        M[:] = 0.0
        for i, row in enumerate(self.mass_rows):
            for j, x in row.items():
                M[i, j] = x
        return M

    def _find_solver(self) -> Saddle:
        """The equations of motion with rows of loops and locks, factorized; independent of efforts.

        It solves for accelerations and multipliers, from generalized forces and the right-hand sides of the rows.
        """
        rows = self.kinematics.constraints.rows if self.topology.constrained else []
        return Saddle(self.mass_rows, rows, self.locks.rows, self.locks.stuck)

    @property
    @abstractmethod
    def bias_effort(self) -> Array:
        """Generalized forces that accelerate the state: tau - h."""

    @property
    def efforts(self) -> Sequence[Array]:
        """Efforts along each node's joint; of driven joints without the drive."""
        return self.loads.efforts

    # -- accelerations -----------------------------------------------------------------------------
    @abstractmethod
    def find_accelerations(self) -> tuple[Sequence[Array], Sequence[Spatial]]:
        """Accelerations of node joints, and of links less gravity."""

    @cached_property
    def _accelerations(self) -> tuple[Sequence[Array], Sequence[Spatial]]:
        if self.given.u_dot is None and self.topology.unmoved is not None:
            raise self.topology.unmoved
        self._solving = True
        try:
            return self.find_accelerations()
        finally:
            self._solving = False

    def scatter(self, u_dot: Array) -> tuple[list[Array], list[Spatial]]:
        """Accelerations of node joints and links from those of the state."""
        joints = self.kinematics.scatter(u_dot)
        return joints, self.kinematics.moving_tree.accelerations(joints, self.kinematics.base)

    @property
    def solving(self) -> bool:
        """Whether accelerations are being solved for, so that no expression may depend on them."""
        return self._solving

    @property
    def node_accelerations(self) -> Sequence[Array]:
        """u_dot of each node's joint."""
        return self._accelerations[0]

    @property
    def link_accelerations(self) -> Sequence[Spatial]:
        """Classical accelerations of links less gravity, in link axes."""
        return self._accelerations[1]

    @cached_property
    def u_dot(self) -> Array:
        """Accelerations of the state."""
        if self.given.u_dot is not None:
            return self.given.u_dot
        u_dot: list[Any] = [0.0] * self.topology.n_u
        for node, values in zip(self.kinematics.tree.nodes, self.node_accelerations, strict=True):
            if node.joint.name in self.topology.u_of:
                u_dot[self.topology.u_of[node.joint.name]] = values
        return tidy(u_dot)

    def body_acceleration(self, frame: Frame) -> tuple[Array, Array]:
        """Angular acceleration and acceleration of the origin of a frame on a body, in world axes."""
        kinematics = self.kinematics
        node, X = kinematics.locate_frame(frame)
        if node == WORLD:
            return ZERO3, ZERO3
        R, w = kinematics.link_poses[node].R, kinematics.link_kinematics[node].w
        eps, W = self.link_accelerations[node]
        return R @ eps, R @ (W + cross(eps, X.p) + cross(w, cross(w, X.p))) + kinematics.gravity

    def joint_acceleration(self, name: str) -> Array:
        """u_dot of a joint of the tree, or of a cut joint."""
        kinematics = self.kinematics
        if name not in self.topology.cut_names:
            return self.node_accelerations[kinematics.node_named[name]]
        joint = kinematics.system.joints[name]
        q, u, known = kinematics.joint_state(name)
        if known is not None:
            return known
        F, M, _ = kinematics.cut_pose(name)
        frames = [joint_frame(joint, side) for side in ("parent", "child")]
        (w_F, v_F), (w_M, v_M) = (kinematics.velocity(frame) for frame in frames)
        (e_F, a_F), (e_M, a_M) = (self.body_acceleration(frame) for frame in frames)
        w, v, p = w_M - w_F, v_M - v_F - cross(w_F, M.p - F.p), M.p - F.p
        w_dot = e_M - e_F - cross(w_M, w)
        v_dot = a_M - a_F - cross(e_F, p) - cross(w_F, v_M - v_F) - cross(w_M, v)
        form = joint.form(kinematics.resolve)
        change = rate(lambda x: joint.motion_subspace(x, form) @ u, q, joint.rate_map(q, u))
        relative = np.concatenate([M.R.T @ w_dot, M.R.T @ v_dot]) - change
        return tidy(joint.effort_wrench(q, form).T @ relative)

    # -- forces that the motion needs --------------------------------------------------------------
    @cached_property
    def link_wrenches(self) -> Sequence[Spatial]:
        """The wrench of each node's joint on its link, about the link's origin, in link axes."""
        return self.inverse_dynamics(self.link_accelerations)

    def inverse_dynamics(self, links: Sequence[Spatial]) -> list[Spatial]:
        """The same for given accelerations of links."""
        return self.kinematics.moving_tree.inverse_dynamics(links, self.loads.link_loads)

    def efforts_beyond(self, wrenches: Sequence[Spatial]) -> Array:
        """Efforts, added to the model's own, for which joints exert given wrenches on their links: S'W - tau."""
        needed = [along(link.S, w) for link, w in zip(self.kinematics.link_kinematics, wrenches, strict=True)]
        return self.kinematics.collect([h - tau for h, tau in zip(needed, self.efforts, strict=True)])

    @cached_property
    def inverse_effort(self) -> Array:
        """Efforts, added to the model's own, that the given accelerations need."""
        return self.efforts_beyond(self.link_wrenches)

    def inertia_load(self, body: str) -> Load:
        """The inertia force and moment of a body (d'Alembert) as a load on it; for the full tree."""
        kinematics = self.kinematics
        i = kinematics.tree.node_of[body]
        if i == WORLD:
            return Load(Frame(body), ZERO3, ZERO3)
        X, (eps, W) = kinematics.link_poses[i], self.link_accelerations[i]
        A = (eps, W + X.R.T @ kinematics.gravity)
        inertia, w = kinematics.geometry.inertias[i], kinematics.link_kinematics[i].w
        moment, force = link_steps.inertia_wrench(inertia, w, A)
        return Load(Frame(body), -(X.R @ force), -(X.R @ moment), at=X.p)

    # -- constraints, locks and friction -----------------------------------------------------------
    @cached_property
    def saddle_solution(self) -> tuple[Array, Array]:
        """u_dot, exactly zero for locked joints, and the multipliers of constraint rows and locks."""
        gamma: list[Scalar] = []
        if self.topology.constrained:
            gamma += [*-self.kinematics.constraints.chosen(loop_constraints.bias)]
        gamma += self.locks.gamma
        u_dot, multipliers = self.find_solver()(self.bias_effort, tidy(gamma))
        return self.locks.still(u_dot), multipliers

    @property
    def multipliers(self) -> Array:
        """One for each independent constraint row, given or solved for: M u_dot = tau - h + G' lam."""
        if self.given.multipliers is not None:
            return self.given.multipliers
        return self.saddle_solution[1][: len(self.kinematics.constraints.rows)]

    @property
    def lock_multipliers(self) -> Array:
        """The locking effort of each lock, as the equations give it; zero if the lock is not active."""
        first = len(self.kinematics.constraints.rows) if self.topology.constrained else 0
        return tidy([s * h for s, h in zip(self.locks.stuck, self.saddle_solution[1][first:], strict=True)])

    def solve_friction(self) -> FrictionSolution:
        """Sliding friction, solved together with the reactions that it depends on."""
        return solve_friction(self.instant)


def along(S: Array, wrench: Spatial) -> Array:
    """S'F: the component of a wrench along a joint's freedoms."""
    return S.T @ np.concatenate(wrench) if S.shape[1] else EMPTY


class RecursiveMotion(Motion):
    """Accelerations by articulated bodies, or by the mass matrix where joints are coupled."""

    articulated: ClassVar[bool] = True

    @cached_property
    def mass_rows(self) -> list[Row]:
        """The rows of the mass matrix: of the bodies, with the inertia that networks add."""
        rows, network = self.kinematics.mass_rows, self.loads.condensed
        if network is None:
            return rows
        rows = [dict(row) for row in rows]
        for i, j, x in network.inertia:
            rows[i][j] = rows[i].get(j, 0.0) + x
        return rows

    @cached_property
    def bias_effort(self) -> Array:
        """Generalized forces that accelerate the state: tau - h."""
        kinematics = self.kinematics
        wrenches = self.inverse_dynamics(kinematics.unaccelerated[1])
        needed = [along(link.S, w) for link, w in zip(kinematics.link_kinematics, wrenches, strict=True)]
        return kinematics.collect([tau - h for tau, h in zip(self.efforts, needed, strict=True)])

    @cached_property
    def inverse_effort(self) -> Array:
        """Efforts, added to the model's own, that the given accelerations need."""
        effort, network = self.efforts_beyond(self.link_wrenches), self.loads.condensed
        return effort if network is None else effort + network.armature_effort(self.u_dot)

    # -- accelerations -----------------------------------------------------------------------------
    def find_accelerations(self) -> tuple[list[Array], list[Spatial]]:
        """Accelerations of node joints, and of links less gravity."""
        k, loads = self.kinematics, self.loads
        if self.given.u_dot is not None:
            return self.scatter(self.given.u_dot)
        if self.topology.constrained or (self.locks.locks and not self._locks_single_joints):
            return self.scatter(self.saddle_solution[0])
        network = loads.condensed
        prescribed = [known for _, _, known in k.node_states]
        armature = None if network is None else network.armature
        if self.has_articulated_gears:
            return k.moving_tree.geared_dynamics(
                loads.efforts, loads.link_loads, k.base, prescribed, self._gears, armature
            )
        if self.topology.couplings or (network is not None and network.couples):
            return self.scatter(solve_spd(self.mass_matrix, self.bias_effort))
        return k.moving_tree.forward_dynamics(
            loads.efforts, loads.link_loads, k.base, prescribed, self.locks.free, armature
        )

    @cached_property
    def has_articulated_gears(self) -> bool:
        """Whether gears are solved by articulated bodies: in trees whose mass matrix would take more operations."""
        network = self.loads.condensed
        if self.locks.locks or (network is not None and network.couples):
            return False
        return self.topology.has_articulated_gears

    @property
    def _gears(self) -> list[GearedPair]:
        """The gears whose joints follow a speed of the state."""
        k, gears = self.kinematics, []
        leaders = {self.topology.u_of[name].start: i for name, i in k.node_named.items() if name in self.topology.u_of}
        for name in self.topology.couplings:
            way = k.state_of(name)
            if way is not None:
                gears.append(GearedPair(k.node_named[name], leaders[way[0]], way[1]))
        return gears

    @cached_property
    def _locks_single_joints(self) -> bool:
        """Whether each lock acts on one joint of a tree without gears and loops, so that articulated bodies apply."""
        network = self.loads.condensed
        if self.topology.constrained or self.topology.couplings or (network is not None and network.couples):
            return False
        return all(len(lock.joints) == 1 for lock in self.locks.locks)

    # -- locks -------------------------------------------------------------------------------------
    @property
    def lock_multipliers(self) -> Array:
        """The locking effort of each lock; of several active locks of one joint, the first takes all."""
        locks = self.locks
        if not self._locks_single_joints:
            return super().lock_multipliers
        efforts, remaining = [], dict.fromkeys(locks.free, 1.0)
        for lock in locks.locks:
            i = self.kinematics.node_named[lock.joints[0][0]]
            residual = self._axis_residual(i)
            efforts.append(lock.stuck * remaining[i] * residual / lock.joints[0][1])
            remaining[i] = remaining[i] * (1.0 - lock.stuck)
        return tidy(efforts)

    def _axis_residual(self, node: int) -> Scalar:
        """The effort that its link needs beyond the efforts along a node's joint: the locking effort."""
        S, network = self.kinematics.link_kinematics[node].S, self.loads.condensed
        residual: Scalar = along(S, self.link_wrenches[node])[0] - self.efforts[node][0]
        if network is not None and node in network.armature:
            residual = residual + network.armature[node][0] * self.node_accelerations[node][0]
        return residual
