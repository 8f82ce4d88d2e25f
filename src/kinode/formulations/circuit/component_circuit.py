"""The component circuit: the equations of a mechanism from component equations and nodal laws alone [SPEC 2].

``circuit_rows`` holds the rows of components; here they are joined to one linear system for all accelerations and flows
of an instant, which is solved in the order of causality (``elimination``).  With the recursive formulation it shares
what joints say of themselves (``transform``, ``motion_subspace``, ``closure``), the constants of bodies, laws and
loads; no recursion, no mass matrix, no derivative written by hand.

Reactions are the flows of links.  Where friction depends on them, the brakes of the contacts are unknowns that stay
open in the solution: it is affine in them, and ``friction`` finds which ones agree with the reactions they make.
The mass matrix and the bias are what the efforts are when accelerations stay open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from kinode.algebra.affine import gather, is_zero
from kinode.algebra.scalars import Array, Scalar, inverse, new_level, tidy
from kinode.algebra.sparse_ldl import Row
from kinode.algebra.spatial import ZERO3, Pose, cross, dot
from kinode.formulations.circuit.circuit_equations import (
    Cause,
    CircuitEquations,
    Potential,
    duals,
    momentum,
    name_of,
    unknowns,
)
from kinode.formulations.circuit.circuit_solution import CircuitSolution, CircuitSystem, closing_flows, holding_flows
from kinode.multibody.links.link_steps import LinkKinematics, Spatial
from kinode.multibody.restraints.coupled_friction import find_joint_friction, has_friction, solve_brakes
from kinode.multibody.restraints.locked_joints import Locking
from kinode.multibody.restraints.loop_statics import Statics
from kinode.multibody.snapshot import Snapshot
from kinode.structure.evaluation_point import EMPTY, EvaluationPoint
from kinode.structure.link_geometry import WORLD, TreeLink
from kinode.structure.topology import Topology


class Kinematics:
    """Potentials and the rows that give them, from the root to the leaves: nothing that efforts change."""

    def __init__(self, circuit: ComponentCircuit) -> None:
        self.rows, self.level = CircuitEquations(), new_level()
        self.sources: list[tuple[Cause, ...]] = []  # for each node: of its link V_M, of what F brings there, of F
        self.links: list[Potential] = []
        self.poses: list[Pose] = []  # X_FM
        self.subspaces: list[Array] = []
        self.gravity: list[Array] = []  # in link axes
        rest = Potential(np.zeros(6), self.level)
        for node, X_PF, form in zip(
            circuit.tree.nodes, circuit.geometry.placements, circuit.geometry.forms, strict=True
        ):
            name, (q, u, _) = node.joint.name, circuit.node_states[node.index]
            u_dot = circuit.rates_of(node)
            carrier = rest if node.parent == WORLD else self.links[node.parent]
            at_F = Cause(self.rows, name, "F", carrier.seen_from(X_PF), self.level)
            moving = duals(q, node.mechanics.rate_map(q, u), self.level) if node.joint.n_u else q
            X, S = node.mechanics.transform(moving, form), node.mechanics.motion_subspace(moving, form)
            carried = Cause(self.rows, name, "T", at_F.potential.seen_from(X), self.level)
            own = S @ duals(u, u_dot, self.level) if node.joint.n_u else np.zeros(6)
            at_M = Cause(self.rows, name, "M", carried.potential.moving + own, self.level)
            X, S = node.mechanics.transform(q, form), node.mechanics.motion_subspace(q, form)
            g = circuit.gravity if node.parent == WORLD else self.gravity[node.parent]
            self.sources.append((at_M, carried, at_F))
            self.links.append(at_M.potential)
            self.poses.append(X)
            self.subspaces.append(S)
            self.gravity.append(X.R.T @ (X_PF.R.T @ g))


class ComponentCircuit(Snapshot):
    """One instant of a system as a circuit of components; every body is one."""

    articulated: ClassVar[bool] = False

    def __init__(self, topology: Topology, point: EvaluationPoint, **given: Any) -> None:
        super().__init__(topology, point, **{**given, "full": True})

    # -- one level lower: poses, velocities -------------------------------------------------------------
    @cached_property
    def kinematics(self) -> Kinematics:
        return Kinematics(self)

    @cached_property
    def moved(self) -> list[LinkKinematics]:
        """What is asked of a link besides its pose: no bias of accelerations, which differentiating rows gives."""
        k = self.kinematics
        each = zip(k.poses, k.subspaces, k.links, strict=True)
        return [LinkKinematics(X, S, V.values[:3], ZERO3, ZERO3) for X, S, V in each]

    @cached_property
    def link_velocities(self) -> list[Array]:
        return [V.values[3:] for V in self.kinematics.links]

    def rates_of(self, node: TreeLink) -> Array:
        """u_dot of a node's joint: prescribed, given, or unknown."""
        name, known = node.joint.name, self.node_states[node.index][2]
        if known is not None:
            return known
        if self.given_u_dot is not None:
            way = self.state_of(name)
            assert way is not None
            start, ratio = way
            return np.array([ratio * x for x in self.given_u_dot[start : start + node.joint.n_u]], dtype=object)
        return unknowns(name, "u_dot", node.joint.n_u)

    # -- the linear system ------------------------------------------------------------------------------
    @cached_property
    def solution(self) -> CircuitSolution:
        """All accelerations and flows; with friction, at the brakes that agree with the reactions they make."""
        if self.given_friction is not None or self._own_motion is not None or not has_friction(self.system):
            return CircuitSystem(self).solve()
        rubbing = find_joint_friction(self)
        x = unknowns("friction", "brake", rubbing[-1].where.stop)
        there = self.with_friction({one.name: one.efforts(x) for one in rubbing})
        forms = [[gather(entry) for entry in one.wrench(there)] for one in rubbing]
        W_0 = [tidy([constant for constant, _ in form]) for form in forms]
        B = [tidy([[terms.get(name_of(brake), 0.0) for brake in x] for _, terms in form]) for form in forms]
        found, sound = solve_brakes(rubbing, W_0, B)
        brakes = {name_of(brake): value * inverse(sound) for brake, value in zip(x, found, strict=True)}
        return replace(there.solution, brakes=brakes)

    def with_friction(self, efforts: Mapping[str, Array]) -> Self:
        """The same instant with friction efforts that are given; what they do not change is shared."""
        if not has_friction(self.system):
            return self
        there = self.at(effort=self.extra_effort, wrenches=self.wrenches, u_dot=self.given_u_dot, friction=efforts)
        there.__dict__.update(kinematics=self.kinematics, _joint_states=self._joint_states, _frames=self._frames)
        there.locked = self.locked
        return there

    @cached_property
    def locking(self) -> Locking:
        """What may hold joints still: with the flows that the solution has for it."""
        return ConstraintFlows(self)

    @cached_property
    def _friction(self) -> tuple[Mapping[str, Array], Mapping[str, Scalar]]:
        rubbing = find_joint_friction(self)
        x = tidy(list(self.solution.brakes.values())) if rubbing else EMPTY
        efforts = {one.name: tidy(one.efforts(x)) for one in rubbing}
        return efforts, {one.name: one.limit(x) for one in rubbing if one.joint.sticks}

    @cached_property
    def _accelerations(self) -> tuple[list[Array], list[Spatial]]:
        if self.given_u_dot is None and self.topology.unmoved is not None:
            raise self.topology.unmoved
        each, links = [], []
        for node, V, g in zip(self.tree.nodes, self.kinematics.links, self.kinematics.gravity, strict=True):
            each.append(self.solution.numbers(self.rates_of(node)))
            V_dot = self.solution.numbers(V.rates)
            w, v = V.values[:3], V.values[3:]
            links.append((V_dot[:3], tidy(V_dot[3:] + cross(w, v) - g)))
        return each, links

    @cached_property
    def link_wrenches(self) -> list[Spatial]:
        """The flow of each link at its first port."""
        flows = [self.solution.numbers(unknowns(node.joint.name, "flow", 6)) for node in self.tree.nodes]
        return [(flow[:3], flow[3:]) for flow in flows]

    @property
    def multipliers(self) -> Array | None:  # type: ignore[override]
        """Flows of the independent closing rows; accelerations that are given leave loops open."""
        if not self.topology.constrained or self.given_u_dot is not None:
            return None
        return self.solution.numbers(x for flows in closing_flows(self).values() for x in flows if not is_zero(x))

    def _cut_wrench(self, name: str, balance: Statics | None) -> tuple[Spatial, Spatial]:
        if balance is not None:
            return super()._cut_wrench(name, balance)
        flow = self.solution.numbers(self.solution.closings[name].held)
        own = self.solution.numbers(self.solution.closings[name].driving)
        R = self.system.joints[name].axis_rotation(self.resolve, self.system.nominal) @ self.cut_pose(name)[2].R
        whole = flow + own
        return (R @ whole[:3], R @ whole[3:]), (R @ flow[:3], R @ flow[3:])

    # -- parts ------------------------------------------------------------------------------------------
    def part_effort(self, name: str) -> Array | None:
        """What elements such as brakes do along a joint; nothing is condensed, as parts act by their flows."""
        own = self.element_efforts.get(name)
        return None if own is None else tidy([own])

    def parts_on(self, name: str) -> Array:
        """What parts do along a joint."""
        parts = self.solution.parts
        if parts is None or name not in parts.network.touched:
            return np.zeros(self.system.joints[name].n_u)
        return self.solution.numbers(parts.along(name))

    def part_rates(self, name: str) -> Array:
        """Rates of the states of a part or a node: unknowns of the circuit."""
        parts = self.solution.parts
        assert parts is not None
        states = [state for state in parts.network.states if state.owner == name]
        return self.solution.numbers(parts.value((state.variable, state.order + 1)) for state in states)

    @cached_property
    def efforts(self) -> list[Array]:
        own: list[Array] = super().efforts
        return [tau + self.parts_on(node.joint.name) for tau, node in zip(own, self.tree.nodes, strict=True)]

    @cached_property
    def inverse_effort(self) -> Array:
        return self.efforts_beyond(self.link_wrenches)

    # -- what follows -----------------------------------------------------------------------------------
    @cached_property
    def link_sums(self) -> Array:
        """Kinetic energy, momentum, angular momentum, first moment and mass of all links."""
        total: Array = np.zeros(11)
        for inertia, V, X in zip(self.geometry.inertias, self.kinematics.links, self.link_poses, strict=True):
            P, H = momentum(inertia, V.values)
            energy = 0.5 * (dot(V.values[:3], H) + dot(V.values[3:], P))
            force = X.R @ P
            about = X.R @ H + cross(X.p, force)
            first = X.R @ inertia.moment + inertia.mass * X.p
            total = total + np.concatenate([[energy], force, about, first, [inertia.mass]])
        return total

    @cached_property
    def _open(self) -> Array:
        """Efforts along the speeds of the state as forms in its accelerations: M u_dot + h - tau."""
        friction = self.sliding if has_friction(self.system) else {}
        u_dot = unknowns("state", "u_dot", self.topology.n_u)
        there = self.at(effort=self.extra_effort, wrenches=self.wrenches, u_dot=u_dot, friction=friction)
        return there.inverse_effort

    @cached_property
    def mass_rows(self) -> list[Row]:
        return [{name[2]: x for name, x in gather(row)[1].items()} for row in self._open]  # type: ignore[index]

    @cached_property
    def bias_effort(self) -> Array:
        return tidy([-gather(row)[0] for row in self._open])


class ConstraintFlows(Locking):
    """Locks, whose efforts are flows of the circuit."""

    @cached_property
    def _found_efforts(self) -> Array:
        circuit: Any = self.motion
        found = circuit.solution.numbers(holding_flows(circuit))
        return tidy([s * x for s, x in zip(self.stuck, found, strict=True)])
