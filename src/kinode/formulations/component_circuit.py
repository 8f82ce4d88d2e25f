"""The component circuit: the equations of a mechanism from component equations and nodal laws alone (T-7.13).

``circuit_equations`` has the equations of components.  ``circuit_solution`` forms one linear system for all
accelerations and flows, which is solved in the order of causality (``algebra.elimination``).  Shared with the recursive
formulation are the functions of joints (``transform``, ``motion_subspace``, ``closure``), the constants of bodies,
expressions and loads.  There is no recursion, no mass matrix, and no derivative written by hand.

Reactions are the flows of links.  If friction depends on them, the friction forces stay symbolic: the solution is
affine in them, and ``coupled_friction`` finds the values that agree with the reactions.  The mass matrix and the bias
are the coefficients and the constant of the efforts with symbolic accelerations.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from kinode.algebra.affine import constant_and_terms
from kinode.algebra.scalars import Array, inverse, tidy
from kinode.algebra.sparse_ldl import Row
from kinode.algebra.spatial import cross
from kinode.formulations.circuit_equations import CircuitKinematics, name_of, unknowns
from kinode.formulations.circuit_solution import CircuitSolution, CircuitSystem, constraint_flows, lock_flows
from kinode.multibody.coupled_friction import FrictionSolution, find_joint_friction, friction_of_brakes, solve_brakes
from kinode.multibody.given import Given
from kinode.multibody.instant_reactions import Reactions
from kinode.multibody.link_steps import Spatial
from kinode.multibody.loop_statics import Statics
from kinode.multibody.motion import Motion
from kinode.multibody.network_motion import NetworkMotion
from kinode.multibody.snapshot import Composition
from kinode.structure.state_layout import EMPTY
from kinode.structure.topology import has_friction


class CircuitMotion(Motion):
    """The motion of a system as a circuit of components; every body is one."""

    kinematics: CircuitKinematics

    # -- the linear system ------------------------------------------------------------------------------
    @cached_property
    def solution(self) -> CircuitSolution:
        """All accelerations and flows; with friction, for the friction forces that agree with the reactions."""
        system = self.kinematics.system
        if self.given.friction is not None or self.instant.own_motion is not None or not has_friction(system):
            return CircuitSystem(self).solve()
        frictions = find_joint_friction(self.kinematics)
        x = unknowns("friction", "brake", frictions[-1].where.stop)
        symbolic = self.instant.with_friction({friction.name: friction.efforts(x) for friction in frictions})
        forms = [[constant_and_terms(entry) for entry in friction.wrench(symbolic)] for friction in frictions]
        W_0 = [tidy([constant for constant, _ in form]) for form in forms]
        B = [tidy([[terms.get(name_of(brake), 0.0) for brake in x] for _, terms in form]) for form in forms]
        values, sound = solve_brakes(frictions, W_0, B)
        brakes = {name_of(brake): value * inverse(sound) for brake, value in zip(x, values, strict=True)}
        assert isinstance(symbolic.motion, CircuitMotion)
        return replace(symbolic.motion.solution, brakes=brakes)

    def solve_friction(self) -> FrictionSolution:
        """Efforts and limits of friction for the brakes of the solution."""
        frictions = find_joint_friction(self.kinematics)
        return friction_of_brakes(frictions, tidy(list(self.solution.brakes.values())) if frictions else EMPTY)

    def find_accelerations(self) -> tuple[list[Array], list[Spatial]]:
        """Accelerations of node joints, and of links less gravity."""
        each, links, potentials = [], [], self.kinematics.potentials
        for node, V, g in zip(self.kinematics.tree.nodes, potentials.links, potentials.gravity, strict=True):
            each.append(self.solution.numbers(self.kinematics.rates_of(node)))
            V_dot = self.solution.numbers(V.rates)
            w, v = V.values[:3], V.values[3:]
            links.append((V_dot[:3], tidy(V_dot[3:] + cross(w, v) - g)))
        return each, links

    @cached_property
    def link_wrenches(self) -> list[Spatial]:
        """The flow of each link at its first port."""
        nodes = self.kinematics.tree.nodes
        flows = [self.solution.numbers(unknowns(node.joint.name, "flow", 6)) for node in nodes]
        return [(flow[:3], flow[3:]) for flow in flows]

    @property
    def multipliers(self) -> Array:
        """Flows of the independent loop constraints; None if accelerations are given, which leaves loops open."""
        if not self.topology.constrained or self.given.u_dot is not None:
            return super().multipliers
        return self.solution.numbers(constraint_flows(self.kinematics))

    @property
    def lock_multipliers(self) -> Array:
        """Flows of all locks."""
        flows = self.solution.numbers(lock_flows(self.locks))
        return tidy([s * x for s, x in zip(self.locks.stuck, flows, strict=True)])

    # -- networks ---------------------------------------------------------------------------------------
    def network_effort(self, name: str) -> Array:
        """The effort of network components along a joint: the networks are not condensed, their flows are unknowns."""
        network = self.solution.network
        if network is None or name not in network.network.touched:
            return np.zeros(self.kinematics.system.joints[name].n_u)
        return self.solution.numbers(network.along(name))

    @cached_property
    def efforts(self) -> list[Array]:
        """Efforts along each node's joint, those of networks included."""
        pairs = zip(self.loads.efforts, self.kinematics.tree.nodes, strict=True)
        return [tau + self.network_effort(node.joint.name) for tau, node in pairs]

    # -- energies, mass matrix, bias --------------------------------------------------------------------
    @cached_property
    def _open(self) -> Array:
        """Efforts along the speeds of the state as affine forms in its accelerations: M u_dot + h - tau."""
        friction = self.loads.friction.sliding if has_friction(self.kinematics.system) else {}
        u_dot, given = unknowns("state", "u_dot", self.topology.n_u), self.given
        given = Given(effort=given.effort, wrenches=given.wrenches, u_dot=u_dot, friction=friction)
        return self.instant.again(given).inverse_effort

    @cached_property
    def mass_rows(self) -> list[Row]:
        """The coefficients of accelerations in the efforts."""
        return [{name[2]: x for name, x in constant_and_terms(row)[1].items()} for row in self._open]  # type: ignore[index]

    @cached_property
    def bias_effort(self) -> Array:
        """The efforts without accelerations, with the opposite sign."""
        return tidy([-constant_and_terms(row)[0] for row in self._open])


class CircuitNetwork(NetworkMotion):
    """Networks as part of the circuit: efforts and rates are its unknowns."""

    @property
    def solution(self) -> CircuitSolution:
        """The solution of the whole circuit."""
        assert isinstance(self.motion, CircuitMotion)
        return self.motion.solution

    def effort_on(self, name: str) -> Array:
        """The effort of network components along a joint."""
        assert isinstance(self.motion, CircuitMotion)
        return self.motion.network_effort(name)

    def state_rates(self, name: str) -> Array:
        """Time derivatives of the states of a network component or node: unknowns of the circuit."""
        network = self.solution.network
        assert network is not None
        states = [state for state in network.network.states if state.owner == name]
        return self.solution.numbers(network.value((state.variable, state.order + 1)) for state in states)


class CircuitReactions(Reactions):
    """Reactions as flows of links."""

    def cut_wrench(self, name: str, balance: Statics | None) -> tuple[Spatial, Spatial]:
        """What a cut joint transmits, and its reaction, from the flows of its constraint rows and its effort."""
        if balance is not None:
            return super().cut_wrench(name, balance)
        assert isinstance(self.motion, CircuitMotion)
        solution = self.motion.solution
        flow = solution.numbers(solution.cut_joints[name].reaction)
        own = solution.numbers(solution.cut_joints[name].driving)
        C = self.system.joints[name].axis_rotation(self.kinematics.resolve, self.system.nominal)
        R = C @ self.kinematics.cut_pose(name)[2].R
        whole = flow + own
        return (R @ whole[:3], R @ whole[3:]), (R @ flow[:3], R @ flow[3:])


CIRCUIT = Composition(
    whole_tree=True,
    condenses=False,
    kinematics=CircuitKinematics,
    motion=CircuitMotion,
    network=CircuitNetwork,
    reactions=CircuitReactions,
)
"""A snapshot of a system as a circuit of components: ``Snapshot(topology, point, formulation=CIRCUIT)``."""
