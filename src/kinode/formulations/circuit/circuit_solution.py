"""All components of an instant wired together, and solved: one linear system for accelerations and flows.

Order of the pivots (causality): from leaf to root for each joint its potential V_M, the flow of its body, the
acceleration of its own axis, what F brings, and the flow that goes on to the carrier; behind them what joins branches,
closing rows of loops, constraints and locks, whose flows have a symmetric positive matrix among themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.affine import Affine, Unknown, is_zero, substitute
from kinode.algebra.elimination import solve
from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.spatial import ZERO3, Pose, cross
from kinode.formulations.circuit.circuit_equations import (
    CircuitEquations,
    Potential,
    WrenchPair,
    balance,
    duals,
    held_directions,
    parts,
    seen_flow,
    unknowns,
)
from kinode.formulations.circuit.circuit_networks import Wired
from kinode.model.base.element import Load
from kinode.model.base.frames import Frame
from kinode.model.constraints.constraint import Constraint
from kinode.model.joints.joint import Joint
from kinode.model.system import joint_frame
from kinode.multibody.restraints import loop_constraints
from kinode.structure.link_geometry import WORLD, TreeLink

if TYPE_CHECKING:
    from kinode.formulations.circuit.component_circuit import ComponentCircuit


@dataclass(frozen=True, eq=False)
class ClosingJoint:
    """A joint that closes a loop: what it holds with and what drives it, at M in M's axes; its own accelerations."""

    held: Array
    driving: Array
    u_dot: Array


@dataclass(frozen=True, eq=False)
class CircuitSolution:
    """Values of all unknowns; ``brakes`` are those of friction where it stayed open."""

    values: Mapping[Unknown, Scalar]
    closings: Mapping[str, ClosingJoint]
    parts: Wired | None = None
    brakes: Mapping[Unknown, Scalar] = field(default_factory=dict)

    def numbers(self, forms: Iterable[Scalar]) -> Array:
        """What forms of unknowns are."""
        found = [substitute(x, self.values) for x in forms]
        return tidy([substitute(x, self.brakes) for x in found] if self.brakes else found)


def closing_flows(circuit: ComponentCircuit) -> dict[str, Array]:
    """Flows of the rows that close loops, by constraint; zero where a row depends on others."""
    chosen, start, found = circuit.topology.rows, 0, {}
    for tie in circuit.constraints.ties:
        flows = unknowns(tie.name, "held", len(tie.units))
        for k in range(len(flows)):
            if chosen is not None and start + k not in chosen:
                flows[k] = 0.0
        found[tie.name], start = flows, start + len(flows)
    return found


def holding_flows(circuit: ComponentCircuit) -> Array:
    """Flows of all locks, in their order."""
    return np.array([Affine.unknown((x.owner, x.part, "lock")) for x in circuit.locking.locks], dtype=object)


class CircuitSystem:
    """The rows of an instant, as they are put together.

    Where accelerations are given, loops are open and nothing is locked: efforts are what has to be found.
    """

    def __init__(self, circuit: ComponentCircuit) -> None:
        self.circuit, self.kinematics = circuit, circuit.kinematics
        self.nodes = circuit.tree.nodes
        self.free = circuit.given_u_dot is None
        self.rows = CircuitEquations()
        self.rows.add(self.kinematics.rows.rows)
        self.on: list[list[WrenchPair]] = [[] for _ in self.nodes]  # flows on each link, about its origin
        network = circuit.topology.network
        self.parts = None if network is None else Wired(circuit, network)
        self.along: dict[str, Array] = {}  # what gears and locks do along joints
        self.closings: dict[str, ClosingJoint] = {}

    def solve(self) -> CircuitSolution:
        """Wire everything together and eliminate."""
        self.load(applied_loads(self.circuit))
        self.gear()
        if self.parts is not None:
            self.parts.wire(self.rows)
        last: list[tuple[list[int], Array]] = []
        if self.free:
            self.lock()
            flows = closing_flows(self.circuit)
            last += [self.close(cut.joint, flows[cut.joint.name]) for cut in self.circuit.topology.cuts]
            last += [self.tie(constraint, flows[constraint.name]) for constraint in self.circuit.topology.constraints]
        for node in reversed(self.nodes):
            self.wire(node)
        for places, found in last:
            self.rows.solve_for(places, found)
        if self.free:
            self.hold()
        return CircuitSolution(solve(self.rows.rows, self.rows.pivots), self.closings, self.parts)

    def load(self, loads: list[Load]) -> None:
        """Flows on bodies that are given as loads in world axes."""
        for flows, load in zip(self.on, self.circuit.gathered(loads), strict=True):
            if load is not None:
                flows.append(load)

    def act(self, name: str, effort: Array) -> None:
        """Something acts along a joint's freedoms."""
        self.along[name] = self.along[name] + effort if name in self.along else effort

    def effort(self, name: str) -> Array:
        """All that acts along a joint's freedoms, but for a drive that is to be found."""
        circuit = self.circuit
        total = circuit.own_effort(name)
        if circuit.extra_effort is not None and name in circuit.topology.u_of:
            total = total + circuit.extra_effort[circuit.topology.u_of[name]]
        if self.parts is not None and name in self.parts.network.touched:
            total = total + self.parts.along(name)
        return total + self.along[name] if name in self.along else total

    # -- trees -----------------------------------------------------------------------------------------
    def wire(self, node: TreeLink) -> None:
        """A link, the kinematic node that carries it, and the flow that goes on to its carrier."""
        i, name, rows, k = node.index, node.joint.name, self.rows, self.kinematics
        X_PF, X, S = self.circuit.geometry.placements[i], k.poses[i], k.subspaces[i]
        at_M, carried, at_F = k.sources[i]
        flow = unknowns(name, "flow", 6)
        own = rows.add(balance(self.circuit.geometry.inertias[i], k.links[i], k.gravity[i], [split(flow), *self.on[i]]))
        at_M.solve(rows)
        rows.solve_for(own, flow)
        if node.joint.n_u:
            self.drive(node, S.T @ flow)
        carried.solve(rows)
        if node.parent != WORLD:
            on_M, on_F = unknowns(name, "on M", 6), unknowns(name, "on F", 6)
            rows.solve_for(rows.add(on_M + flow), on_M)
            rows.solve_for(rows.add(on_F - np.concatenate(seen_flow(X, on_M))), on_F)
            self.on[node.parent].append(seen_flow(X_PF, on_F))
        at_F.solve(rows)

    def drive(self, node: TreeLink, needed: Array) -> None:
        """The third link of a kinematic node: it gives the acceleration, or what a gear passes on."""
        name, topology = node.joint.name, self.circuit.topology
        effort = self.effort(name)
        open_rates = self.free and self.circuit.node_states[node.index][2] is None
        u_dot = self.circuit.rates_of(node)
        if name in topology.couplings:
            coupling = topology.couplings[name]
            if open_rates:
                leader = self.circuit.rates_of(self.nodes[self.circuit.node_named[coupling.leader]])
                ratio = self.circuit.resolve(coupling.ratio)
                self.rows.solve_for(self.rows.add(x - ratio * y for x, y in zip(u_dot, leader, strict=True)), u_dot)
            places = self.rows.add(needed - effort)
            self.rows.solve_for(places, unknowns(coupling.constraint, "gear", node.joint.n_u))
        elif open_rates:
            self.rows.solve_for(self.rows.add(needed - effort), u_dot)

    def gear(self) -> None:
        """Gears act along the joint that follows, and back on the one that leads."""
        for follower, coupling in self.circuit.topology.couplings.items():
            flow = unknowns(coupling.constraint, "gear", self.circuit.system.joints[follower].n_u)
            self.act(follower, flow)
            self.act(coupling.leader, -self.circuit.resolve(coupling.ratio) * flow)

    # -- loops -----------------------------------------------------------------------------------------
    def port(self, frame: Frame, C: Pose) -> tuple[int, Pose, Potential]:
        """The link that carries a joint's frame, the frame's pose there, and its potential."""
        node, X = self.circuit.place(frame)
        X = X @ C
        rest = Potential(np.zeros(6), self.kinematics.level)
        V = rest if node == WORLD else self.kinematics.links[node]
        return node, X, Potential(V.seen_from(X), self.kinematics.level)

    def close(self, joint: Joint, flows: Array) -> tuple[list[int], Array]:
        """A joint that closes a loop: rows along the directions that it holds, and flows along these."""
        circuit, level = self.circuit, self.kinematics.level
        form = joint.form(circuit.resolve)
        C = Pose(joint.axis_rotation(circuit.resolve, circuit.system.nominal), ZERO3)
        (a, X_a, F), (b, X_b, M) = (self.port(joint_frame(joint, side), C) for side in ("parent", "child"))
        q, u, _ = circuit.joint_state(joint.name)
        moving = duals(q, joint.rate_map(q, u), level) if joint.n_u else q
        X, S = joint.transform(moving, form), joint.motion_subspace(moving, form)
        relative = M.moving - F.seen_from(X)
        missing = parts(relative - S @ u if joint.n_u else relative, level)[1]
        G, T = held_directions(joint, circuit.cut_pose(joint.name)[2], form), joint.effort_wrench(q, form)
        held, driving = G.T @ flows, T @ self.effort(joint.name) if joint.n_u else np.zeros(6)
        self.closings[joint.name] = ClosingJoint(held, driving, T.T @ missing)
        if self.parts is not None:
            u_dot = unknowns(joint.name, "u_dot", joint.n_u)
            self.rows.solve_for(self.rows.add(u_dot - T.T @ missing), u_dot)
        flow = held + driving
        if b != WORLD:
            self.on[b].append(seen_flow(X_b, flow))
        if a != WORLD:
            back = np.concatenate(seen_flow(joint.transform(q, form), -flow))
            self.on[a].append(seen_flow(X_a, back))
        return self.chosen(G @ missing, flows)

    def tie(self, constraint: Constraint, flows: Array) -> tuple[list[int], Array]:
        """A constraint that is no joint: its rows with as many rates as they need, and what it does to bodies."""
        circuit = self.circuit
        tie = loop_constraints.loop_constraint_of(circuit.topology, constraint)
        then = loop_constraints.MotionRates(self.acceleration, self.turn)
        rows = loop_constraints.row_rates(circuit, tie, circuit.velocity, circuit.joint_rate, then, passing=True)
        self.load(circuit.constraints.loads_of(tie, flows))
        return self.chosen(rows, flows)

    def chosen(self, rows: Array, flows: Array) -> tuple[list[int], Array]:
        """The independent ones."""
        open_ = [not is_zero(flow) for flow in flows]
        return self.rows.add(rows[open_]), flows[open_]

    def acceleration(self, frame: Frame) -> tuple[Array, Array]:
        """Angular acceleration and acceleration of a frame on a body, in world axes, as forms."""
        node, X = self.circuit.place(frame)
        if node == WORLD:
            return ZERO3, ZERO3
        R, V = self.circuit.link_poses[node].R, self.kinematics.links[node]
        (w, v), (eps, v_dot) = split(V.values), split(V.rates)
        return R @ eps, R @ (v_dot + cross(w, v) + cross(eps, X.p) + cross(w, cross(w, X.p)))

    def turn(self, name: str) -> Array:
        """Accelerations of a joint of the tree."""
        return self.circuit.rates_of(self.nodes[self.circuit.node_named[name]])

    # -- locks -----------------------------------------------------------------------------------------
    def lock(self) -> None:
        """What holds joints still acts along them."""
        for lock, flow in zip(self.circuit.locking.locks, holding_flows(self.circuit), strict=True):
            for name, factor in lock.joints:
                self.act(name, np.array([factor * flow], dtype=object))

    def hold(self) -> None:
        """A lock gives the effort that keeps accelerations away, or none: rows whose pivot never vanishes."""
        for lock, flow in zip(self.circuit.locking.locks, holding_flows(self.circuit), strict=True):
            rate: Scalar = 0.0
            for name, factor in lock.joints:
                closing = self.closings.get(name)
                rate = rate + factor * (self.turn(name) if closing is None else closing.u_dot)[0]
            row = lock.stuck * rate + (1.0 - lock.stuck) * flow
            self.rows.solve_for(self.rows.add([row]), [flow])


def split(V: Array) -> WrenchPair:
    """Angular and linear part."""
    return V[:3], V[3:]


def applied_loads(circuit: ComponentCircuit) -> list[Load]:
    """What elements and given wrenches do to bodies."""
    loads = [load for element in circuit.system.elements.values() for load in element.wrenches(circuit)]
    return loads + [Load(Frame(body), force, moment) for body, (force, moment) in circuit.wrenches.items()]
