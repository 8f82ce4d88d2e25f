"""The linear system of a component circuit: all components connected, and solved for accelerations and flows.

Order of elimination (causality): from the leaves to the root, for each joint its potential V_M, the flow of its body,
the acceleration along its axis, the contribution of F, and the flow on its carrier.  Loop constraints, constraint
elements and locks follow; the matrix of their flows is symmetric positive definite.

Network components are equations of it too, with flows and rates as unknowns beside those of bodies and joints.
All levels but the last depend on states alone, and are solved as in ``network_condensation``.  The equations of the
last level are added to those of the circuit; the accelerations of joints are unknowns there.  Nothing is condensed: the
effort of a component on a joint is the flow at its port.  Blocks of the last level that others need in products and
functions (such as the voltage of a bus that an expression divides by) are solved beforehand too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.affine import Affine, NonlinearError, Unknown, substitute
from kinode.algebra.elimination import solve
from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.spatial import ZERO3, Pose, cross
from kinode.formulations.circuit_equations import (
    CircuitEquations,
    Potential,
    WrenchPair,
    balance,
    closure_jacobian,
    duals,
    parts,
    seen_flow,
    unknowns,
)
from kinode.model.base.element import Load
from kinode.model.base.frames import Frame
from kinode.model.constraints.constraint import Constraint
from kinode.model.joints.joint import Joint
from kinode.model.system import joint_frame
from kinode.multibody import loop_constraints
from kinode.multibody.constraint_scenes import MotionRates
from kinode.multibody.network_condensation import Condensed
from kinode.structure.state_layout import EMPTY
from kinode.structure.tree import WORLD, TreeLink

if TYPE_CHECKING:
    from kinode.formulations.circuit_equations import CircuitKinematics
    from kinode.formulations.component_circuit import CircuitMotion
    from kinode.multibody.locked_joints import LockRows
    from kinode.structure.network_blocks import NetworkBlock


class Wired(Condensed):
    """The network of one evaluation, with its last level unsolved."""

    kinematics: CircuitKinematics

    def acceleration(self, joint: str, coordinate: int) -> Scalar:
        """The acceleration of a joint: known, or unknown as the circuit has it."""
        kinematics = self.kinematics
        if joint in kinematics.topology.cut_names:
            return unknowns(joint, "u_dot", kinematics.system.joints[joint].n_u)[coordinate]
        return kinematics.rates_of(kinematics.tree.nodes[kinematics.node_named[joint]])[coordinate]

    def solve(self) -> None:
        """Solve all levels but the last, once."""
        if not self._done:
            self._done = True
            last = len(self.network.stages) - 1
            self.solve_stages(range(last))
            self._leave_open(last)

    def _leave_open(self, last: int) -> None:
        """The affine forms of the last level; as few of its blocks are solved beforehand as linearity needs."""
        blocks = self.network.stages[last]
        solved: set[int] = set()
        self.forms: dict[int, list[Scalar]] = {}
        while len(self.forms) + len(solved) < len(blocks):
            self.solving = frozenset(x for b, block in enumerate(blocks) if b not in solved for x in block.unknowns)
            b = next(b for b in range(len(blocks)) if b not in solved and b not in self.forms)
            try:
                self.forms[b] = [self.sum(row) for row in blocks[b].rows]
            except NonlinearError as error:
                others = [order for order in error.unknowns if order not in blocks[b].unknowns]
                before = needed(blocks, others) - solved
                if not before or max(before) >= b:
                    self.forms[b] = [
                        self._form(row) for row in blocks[b].rows
                    ]  # raises an error that names the equation
                for number in sorted(before):
                    self.solve_block(last, number)
                solved |= before
                self.forms.clear()

    def wire(self, rows: CircuitEquations) -> None:
        """Add the equations of the last level, solved for its flows and rates."""
        self.solve()
        last = len(self.network.stages) - 1
        for b, forms in sorted(self.forms.items()):
            indices = rows.add(forms)
            for i, order in self.network.pivots(last, b):
                rows.solve_for([indices[i]], [Affine.unknown(order)])

    def along(self, joint: str) -> Array:
        """The effort of network components along a joint: minus their flows."""
        total = np.zeros(self.kinematics.system.joints[joint].n_u, dtype=object)
        total[:] = 0.0
        for name, flows in self.network.flows_at.items():
            if self.network.joint_of[name][0] == joint:
                k = self.network.joint_of[name][1]
                for flow in flows:
                    total[k] = total[k] - self.value((flow, 0))
        return total


def needed(blocks: Sequence[NetworkBlock], unknowns: Iterable[Any]) -> set[int]:
    """The blocks that solve for the unknowns, and all blocks that these need."""
    holder = {order: b for b, block in enumerate(blocks) for order in block.unknowns}
    numbers: set[int] = set()
    stack = [holder[order] for order in unknowns if order in holder]
    while stack:
        b = stack.pop()
        if b not in numbers:
            numbers.add(b)
            orders = (order for row in blocks[b].rows for order in (*row.terms, *row.rest_orders))
            stack += [holder[order] for order in orders if order in holder]
    return numbers


@dataclass(frozen=True, eq=False)
class CutJointFlows:
    """A cut joint: its ``reaction`` and the wrench of its effort (``driving``), at M in M's axes; its u_dot."""

    reaction: Array
    driving: Array
    u_dot: Array


@dataclass(frozen=True, eq=False)
class CircuitSolution:
    """Values of all unknowns; ``brakes`` are the friction forces if they stayed symbolic."""

    values: Mapping[Unknown, Scalar]
    cut_joints: Mapping[str, CutJointFlows]
    network: Wired | None = None
    brakes: Mapping[Unknown, Scalar] = field(default_factory=dict)

    def numbers(self, forms: Iterable[Scalar]) -> Array:
        """The values of affine forms."""
        partial = [substitute(x, self.values) for x in forms]
        return tidy([substitute(x, self.brakes) for x in partial] if self.brakes else partial)


def constraint_flows(kinematics: CircuitKinematics) -> Array:
    """Flows of the independent rows of loop constraints."""
    constraints, chosen = kinematics.constraints.loop_constraints, kinematics.topology.rows
    flows = np.concatenate([EMPTY, *(unknowns(each.name, "held", len(each.units)) for each in constraints)])
    return flows if chosen is None else flows[list(chosen)]


def lock_flows(lock_rows: LockRows) -> Array:
    """Flows (locking forces) of all locks, in their order."""
    return np.array([Affine.unknown((x.owner, x.part, "lock")) for x in lock_rows.locks], dtype=object)


class CircuitSystem:
    """The equations of one evaluation, while they are assembled.

    If accelerations are given (inverse dynamics), loops are open and no joint is locked.
    """

    def __init__(self, motion: CircuitMotion) -> None:
        self.given, self.loads, self.locks = motion.given, motion.loads, motion.locks
        self.kinematics, self.topology = motion.kinematics, motion.topology
        self.potentials = self.kinematics.potentials
        self.nodes = self.kinematics.tree.nodes
        self.free = self.given.u_dot is None
        self.rows = CircuitEquations()
        self.rows.add(self.potentials.rows.rows)
        self.on: list[list[WrenchPair]] = [[] for _ in self.nodes]  # flows on each link, about its origin
        network = self.topology.network
        self.network = None if network is None else Wired(self.kinematics, self.loads.scene, network)
        self.along: dict[str, Array] = {}  # efforts of gears and locks along joints
        self.cut_joints: dict[str, CutJointFlows] = {}

    def solve(self) -> CircuitSolution:
        """Assemble all equations and solve them."""
        self.load(self.loads.outer_loads)
        self.gear()
        if self.network is not None:
            self.network.wire(self.rows)
        constraints, closing = self.kinematics.constraints, list[int]()
        if self.free:
            self.add_lock_efforts()
            flows = constraint_flows(self.kinematics)
            flows_of = constraints.scatter(flows) if constraints.loop_constraints else {}
            every = [self.close(cut.joint, flows_of[cut.joint.name]) for cut in self.topology.cuts]
            every += [self.constrain(each, flows_of[each.name]) for each in self.topology.constraints]
            closing = self.rows.add(constraints.combine(np.concatenate([EMPTY, *every])))
        for node in reversed(self.nodes):
            self.wire(node)
        if self.free:
            self.rows.solve_for(closing, flows)
            self.add_lock_rows()
        return CircuitSolution(solve(self.rows.rows, self.rows.pivots), self.cut_joints, self.network)

    def load(self, loads: list[Load]) -> None:
        """Add loads, given in world axes, to the flows on bodies."""
        for flows, load in zip(self.on, self.loads.sum_on_links(loads), strict=True):
            if load is not None:
                flows.append(load)

    def act(self, name: str, effort: Array) -> None:
        """Add an effort along a joint's freedoms."""
        self.along[name] = self.along[name] + effort if name in self.along else effort

    def effort(self, name: str) -> Array:
        """The effort along a joint's freedoms, without that of a drive that prescribes its motion."""
        total, added = self.loads.own_effort(name), self.given.effort
        if added is not None and name in self.topology.u_of:
            total = total + added[self.topology.u_of[name]]
        if self.network is not None and name in self.network.network.touched:
            total = total + self.network.along(name)
        return total + self.along[name] if name in self.along else total

    # -- trees -----------------------------------------------------------------------------------------
    def wire(self, node: TreeLink) -> None:
        """Add a link, the kinematic node that carries it, and its flow on the carrier."""
        i, name, rows, p = node.index, node.joint.name, self.rows, self.potentials
        geometry = self.kinematics.geometry
        X_PF, X, S = geometry.placements[i], p.poses[i], p.subspaces[i]
        at_M, carried, at_F = p.sources[i]
        flow = unknowns(name, "flow", 6)
        own = rows.add(balance(geometry.inertias[i], p.links[i], p.gravity[i], [split(flow), *self.on[i]]))
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
        """Add the equation along a joint's freedoms: it is solved for the acceleration, or for the effort of a gear."""
        name, topology, kinematics = node.joint.name, self.topology, self.kinematics
        effort = self.effort(name)
        open_rates = self.free and kinematics.node_states[node.index][2] is None
        u_dot = kinematics.rates_of(node)
        if name in topology.couplings:
            coupling = topology.couplings[name]
            if open_rates:
                leader = kinematics.rates_of(self.nodes[kinematics.node_named[coupling.leader]])
                ratio = kinematics.resolve(coupling.ratio)
                self.rows.solve_for(self.rows.add(x - ratio * y for x, y in zip(u_dot, leader, strict=True)), u_dot)
            indices = self.rows.add(needed - effort)
            self.rows.solve_for(indices, unknowns(coupling.constraint, "gear", node.joint.n_u))
        elif open_rates:
            self.rows.solve_for(self.rows.add(needed - effort), u_dot)

    def gear(self) -> None:
        """Add the efforts of gears along the following and the leading joint."""
        for follower, coupling in self.topology.couplings.items():
            flow = unknowns(coupling.constraint, "gear", self.kinematics.system.joints[follower].n_u)
            self.act(follower, flow)
            self.act(coupling.leader, -self.kinematics.resolve(coupling.ratio) * flow)

    # -- loops -----------------------------------------------------------------------------------------
    def port(self, frame: Frame, C: Pose) -> tuple[int, Pose, Potential]:
        """The link that carries a joint's frame, the frame's pose there, and its potential."""
        node, X = self.kinematics.locate_frame(frame)
        X = X @ C
        rest = Potential(np.zeros(6), self.potentials.level)
        V = rest if node == WORLD else self.potentials.links[node]
        return node, X, Potential(V.seen_from(X), self.potentials.level)

    def close(self, joint: Joint, flows: Array) -> Array:
        """Add the flows of a cut joint along its constrained directions; returns its rows along these."""
        kinematics, level = self.kinematics, self.potentials.level
        form = joint.form(kinematics.resolve)
        C = Pose(joint.axis_rotation(kinematics.resolve, kinematics.system.nominal), ZERO3)
        (a, X_a, F), (b, X_b, M) = (self.port(joint_frame(joint, side), C) for side in ("parent", "child"))
        q, u, _ = kinematics.joint_state(joint.name)
        moving = duals(q, joint.rate_map(q, u), level) if joint.n_u else q
        X, S = joint.transform(moving, form), joint.motion_subspace(moving, form)
        relative = M.moving - F.seen_from(X)
        missing = parts(relative - S @ u if joint.n_u else relative, level)[1]
        G, T = closure_jacobian(joint, kinematics.cut_pose(joint.name)[2], form), joint.effort_wrench(q, form)
        reaction, driving = G.T @ flows, T @ self.effort(joint.name) if joint.n_u else np.zeros(6)
        self.cut_joints[joint.name] = CutJointFlows(reaction, driving, T.T @ missing)
        if self.network is not None:
            u_dot = unknowns(joint.name, "u_dot", joint.n_u)
            self.rows.solve_for(self.rows.add(u_dot - T.T @ missing), u_dot)
        flow = reaction + driving
        if b != WORLD:
            self.on[b].append(seen_flow(X_b, flow))
        if a != WORLD:
            back = np.concatenate(seen_flow(joint.transform(q, form), -flow))
            self.on[a].append(seen_flow(X_a, back))
        rows: Array = G @ missing
        return rows

    def constrain(self, element: Constraint, flows: Array) -> Array:
        """Add the loads of a constraint element on bodies; returns its differentiated rows."""
        kinematics = self.kinematics
        constraint = loop_constraints.loop_constraint_of(self.topology, element)
        then = MotionRates(self.acceleration, self.turn)
        rows = loop_constraints.row_rates(
            kinematics, constraint, kinematics.velocity, kinematics.joint_rate, then, passing=True
        )
        self.load(kinematics.constraints.loads_of(constraint, flows))
        return rows

    def acceleration(self, frame: Frame) -> tuple[Array, Array]:
        """Angular acceleration and acceleration of a frame on a body, in world axes, as affine forms."""
        node, X = self.kinematics.locate_frame(frame)
        if node == WORLD:
            return ZERO3, ZERO3
        R, V = self.kinematics.link_poses[node].R, self.potentials.links[node]
        (w, v), (eps, v_dot) = split(V.values), split(V.rates)
        return R @ eps, R @ (v_dot + cross(w, v) + cross(eps, X.p) + cross(w, cross(w, X.p)))

    def turn(self, name: str) -> Array:
        """Accelerations of a joint of the tree."""
        return self.kinematics.rates_of(self.nodes[self.kinematics.node_named[name]])

    # -- locks -----------------------------------------------------------------------------------------
    def add_lock_efforts(self) -> None:
        """Add the locking forces along joints."""
        for lock, flow in zip(self.locks.locks, lock_flows(self.locks), strict=True):
            for name, factor in lock.joints:
                self.act(name, np.array([factor * flow], dtype=object))

    def add_lock_rows(self) -> None:
        """Add the rows of locks: zero acceleration if stuck, else zero locking force; their pivots never vanish."""
        for lock, flow in zip(self.locks.locks, lock_flows(self.locks), strict=True):
            rate: Scalar = 0.0
            for name, factor in lock.joints:
                cut_joint = self.cut_joints.get(name)
                rate = rate + factor * (self.turn(name) if cut_joint is None else cut_joint.u_dot)[0]
            row = lock.stuck * rate + (1.0 - lock.stuck) * flow
            self.rows.solve_for(self.rows.add([row]), [flow])


def split(V: Array) -> WrenchPair:
    """Angular and linear part."""
    return V[:3], V[3:]
