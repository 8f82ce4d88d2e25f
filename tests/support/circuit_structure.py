"""The structure of a mechanism's circuit: its equations before differentiation (T-7.12).

    circuit = find_circuit(topology)
    circuit.rows, circuit.variables        names: (owner, what, number)
    circuit.structure                      index, number of differentiations of each row (``structure.sigma_method``)

The equations are those of ``circuit_equations`` with the third links of joints: the expression of an effort, a source
of velocity (speed) or of position (motion), a gear, q' = N(q) u, and the acceleration u', which a joint declares so
that its speed, and not that of a link, is chosen as a state.  Exact derivatives at a random sample show which variables
occur in a row.

Joints are constraints on velocities, which gives index 2; a prescribed position adds one.

Constraint elements are not included.  Structure detects redundant loops whose rows vanish, such as planar ones
(StructureError); others look independent to it, and only numbers tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, rate
from kinode.algebra.spatial import Pose, cross, moved_force, moved_motion
from kinode.errors import ArgumentError
from kinode.formulations.circuit_equations import momentum
from kinode.model.joints.joint import Joint
from kinode.model.system import joint_frame
from kinode.structure.sigma_method import StructuralAnalysis, find_structure
from kinode.structure.topology import Topology
from kinode.structure.tree import WORLD, TreeLink, find_node_frame

Name = tuple[str, str, int]
Given = tuple[str, str, int, int]  # owner, what, size, order of the derivative
VANISHING_DERIVATIVE = 1e-9  # an exact derivative below this is a rounding error of zero


@dataclass(frozen=True)
class CircuitStructure:
    """Rows and variables by name, and the structural analysis of their incidence."""

    rows: tuple[Name, ...]
    variables: tuple[Name, ...]
    structure: StructuralAnalysis


def find_circuit(topology: Topology) -> CircuitStructure:
    """The structure of the circuit of a mechanism of bodies and joints."""
    if topology.constraints:
        names = ", ".join(c.name for c in topology.constraints)
        raise ArgumentError(f"the structure of a circuit is that of bodies and joints; no joint: {names}")
    writer = _StructureWriter(topology)
    for node in topology.full.nodes:
        writer.node(node)
    for cut in topology.cuts:
        writer.cut_joint(cut.joint)
    for node in topology.full.nodes:
        writer.body(node)
    variables = tuple(dict.fromkeys(name for entries in writer.entries for name in entries))
    index_of = {name: j for j, name in enumerate(variables)}
    rows = [{index_of[name]: order for name, order in entries.items()} for entries in writer.entries]
    return CircuitStructure(tuple(writer.rows), variables, find_structure(rows, len(variables)))


class _StructureWriter:
    """Collects rows, with the variables that occur in them."""

    def __init__(self, topology: Topology) -> None:
        self.topology, self.resolve = topology, topology.system.nominal
        self.geometry = topology.geometry(topology.full, self.resolve)
        self.rng = np.random.default_rng(7)
        self.rows: list[Name] = []
        self.entries: list[dict[Name, int]] = []
        self.ports: dict[int, list[tuple[str, Pose]]] = {node.index: [] for node in topology.full.nodes}

    def write(self, owner: str, what: str, function: Callable[..., Iterable[Any]], *given: Given) -> None:
        """Add the rows of a function of variables, each with those that it depends on at a random sample."""
        names = [((whose, kind, k), order) for whose, kind, size, order in given for k in range(size)]
        ends = np.cumsum([size for _, _, size, _ in given])[:-1]
        x = self.rng.uniform(0.3, 1.0, len(names))

        def rows(x: Array) -> Array:
            return np.array(list(function(*np.split(x, ends))), dtype=object)

        columns = [rate(rows, x, unit) for unit in np.eye(len(x))]
        for i in range(len(rows(x))):
            entries: dict[Name, int] = {}
            for (name, order), column in zip(names, columns, strict=True):
                if abs(column[i]) > VANISHING_DERIVATIVE:
                    entries[name] = max(order, entries.get(name, 0))
            self.rows.append((owner, what, i))
            self.entries.append(entries)

    # -- components ------------------------------------------------------------------------------------
    def node(self, node: TreeLink) -> None:
        """Add a joint of the tree, which carries a body at the body's first link."""
        X_PF, name, body = self.geometry.placements[node.index], node.joint.name, node.bodies[0]
        self.port(node.parent, f"{name}.F", X_PF)
        form = self.geometry.forms[node.index]
        self.joint(node.joint, node.mechanics, form, (body, "V", 6, 0))
        carried = () if node.parent == WORLD else ((self.name_of(node.parent), "gravity", 3, 0),)

        def turned(q: Array, own: Array, *other: Array) -> Array:
            g = other[0] if other else np.ones(3)
            difference: Array = own - node.mechanics.transform(q, form).R.T @ (X_PF.R.T @ g)
            return difference

        self.write(body, "sees gravity", turned, (name, "q", node.joint.n_q, 0), (body, "gravity", 3, 0), *carried)

    def cut_joint(self, joint: Joint) -> None:
        """Add a cut joint, between further links of its bodies."""
        C = Pose(joint.axis_rotation(self.resolve, self.resolve), np.zeros(3))
        for side, letter in (("parent", "F"), ("child", "M")):
            node, X = find_node_frame(self.topology.full, self.geometry, joint_frame(joint, side), self.resolve)
            self.port(node, f"{joint.name}.{letter}", X @ C)
        self.joint(joint, joint, joint.form(self.resolve), (f"{joint.name}.M", "V", 6, 0))

    def name_of(self, node: int) -> str:
        """The body of a node."""
        return self.topology.full.nodes[node].bodies[0]

    def port(self, node: int, link: str, X: Pose) -> None:
        """Add a further link of a body; the base has a source of zero velocity there."""
        if node == WORLD:
            self.write(link, "rests", lambda V: V, (link, "V", 6, 0))
            return
        self.ports[node].append((link, X))

        def moved(V: Array, own: Array) -> Array:
            difference: Array = own - np.concatenate(moved_motion(X, V[:3], V[3:]))
            return difference

        self.write(link, "moves with its body", moved, (self.name_of(node), "V", 6, 0), (link, "V", 6, 0))

    def joint(self, joint: Joint, mechanics: Any, form: Array, M: Given) -> None:
        """Add a kinematic node from its link F to its link M, and its third link."""
        name, n_q, n_u = joint.name, joint.n_q, joint.n_u
        q, u = (name, "q", n_q, 0), (name, "u", n_u, 0)
        on_F, on_M, effort = (f"{name}.F", "flow", 6, 0), (f"{name}.M", "flow", 6, 0), (name, "effort", n_u, 0)

        def moves(q: Array, u: Array, V_F: Array, V_M: Array) -> Array:
            own = mechanics.motion_subspace(q, form) @ u if n_u else np.zeros(6)
            difference: Array = V_M - np.concatenate(moved_motion(mechanics.transform(q, form), V_F[:3], V_F[3:])) - own
            return difference

        def passes(q: Array, f_F: Array, f_M: Array) -> Array:
            total: Array = f_F + np.concatenate(moved_force(mechanics.transform(q, form), f_M[:3], f_M[3:]))
            return total

        def acts(q: Array, f: Array, e: Array) -> Array:
            difference: Array = mechanics.motion_subspace(q, form).T @ f - e
            return difference

        self.write(name, "moves", moves, q, u, (f"{name}.F", "V", 6, 0), M)
        self.write(name, "passes on", passes, q, on_F, on_M)
        if n_u:
            self.write(name, "acts", acts, q, on_M, effort)
            self.write(name, "turns", lambda v, q, u: v - joint.rate_map(q, u), (name, "q", n_q, 1), q, u)
            self.write(name, "accelerates", lambda v, a: v - a, (name, "u", n_u, 1), (name, "u_dot", n_u, 0))
            self.third(joint, q, u, effort)

    def third(self, joint: Joint, q: Given, u: Given, effort: Given) -> None:
        """Add the equations of the third link: a source of position or velocity, or the effort, and gears."""
        name, couplings = joint.name, self.topology.couplings
        if joint.motion is not None:
            self.write(name, "is given", lambda q: q, q)
        elif joint.speed is not None:
            self.write(name, "is given", lambda u: u, u)
        else:
            gears = [c.constraint for follower, c in couplings.items() if name in (follower, c.leader)]
            flows = [(gear, "gear", joint.n_u, 0) for gear in gears]
            self.write(name, "law", lambda q, u, e, *more: e - u - sum(q) - sum(more), q, u, effort, *flows)
        if name in couplings:
            leader = (couplings[name].leader, "u", joint.n_u, 0)
            self.write(name, "follows", lambda u, v: u - 2.0 * v, u, leader)

    def body(self, node: TreeLink) -> None:
        """Add the balance of a solid body with all its links."""
        body, inertia, ports = node.bodies[0], self.geometry.inertias[node.index], self.ports[node.index]

        def balance(V_dot: Array, V: Array, g: Array, own: Array, *flows: Array) -> Array:
            (P_dot, H_dot), (P, H) = momentum(inertia, V_dot), momentum(inertia, V)
            moment = H_dot + cross(V[:3], H) + cross(V[3:], P) - cross(inertia.moment, g) - own[:3]
            force = P_dot + cross(V[:3], P) - inertia.mass * g - own[3:]
            for (_, X), flow in zip(ports, flows, strict=True):
                m, f = moved_force(X, flow[:3], flow[3:])
                moment, force = moment - m, force - f
            return np.concatenate([moment, force])

        links = [(link, "flow", 6, 0) for link in (f"{node.joint.name}.M", *(link for link, _ in ports))]
        self.write(body, "balance", balance, (body, "V", 6, 1), (body, "V", 6, 0), (body, "gravity", 3, 0), *links)
