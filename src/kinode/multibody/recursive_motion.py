"""The recursive formulation of one instant: articulated bodies if nothing couples the joints, else the mass matrix.

With loops, or locks across several joints, the equations of motion are a saddle-point system (``EquationMatrix``).
With gears, or networks that couple accelerations, they are solved by the mass matrix; in large trees with gears by
articulated bodies and an unknown effort for each gear.  In all other cases they are solved by articulated bodies, with
locked joints and the inertia that networks add to a freedom.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.sparse_ldl import Row
from kinode.algebra.spatial import solve_spd
from kinode.multibody.links import recursive_dynamics
from kinode.multibody.links.geared_dynamics import GearedPair, geared_dynamics
from kinode.multibody.links.link_steps import Spatial
from kinode.multibody.motion import Motion, along


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
            return geared_dynamics(
                k.tree.nodes, k.geometry, k.link_kinematics, loads.efforts, loads.link_loads, k.base, prescribed,
                self._gears, armature,
            )  # fmt: skip
        if self.topology.couplings or (network is not None and network.couples):
            return self.scatter(solve_spd(self.mass_matrix, self.bias_effort))
        return recursive_dynamics.forward_dynamics(
            k.tree.nodes, k.geometry, k.link_kinematics, loads.efforts, loads.link_loads, k.base, prescribed,
            self.locks.free, armature,
        )  # fmt: skip

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
