"""The kinematics of a circuit: potentials of its nodes, whose rates are unknown, and what follows from them.

Potentials are dual numbers: velocities, and forms in the accelerations of joints as their rates.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from kinode.algebra.scalars import Array, new_level
from kinode.algebra.spatial import ZERO3, Pose, cross, dot
from kinode.formulations.circuit.circuit_equations import Cause, CircuitEquations, Potential, duals, momentum, unknowns
from kinode.multibody.given import Given
from kinode.multibody.kinematics import Kinematics
from kinode.multibody.links.link_steps import LinkKinematics
from kinode.structure.link_geometry import WORLD, TreeLink


class Potentials:
    """Potentials and their equations, from the root to the leaves; they do not depend on efforts."""

    def __init__(self, kinematics: CircuitKinematics) -> None:
        self.rows, self.level = CircuitEquations(), new_level()
        self.sources: list[tuple[Cause, ...]] = []  # for each node: of V_M, of V_F at M, of V_F
        self.links: list[Potential] = []
        self.poses: list[Pose] = []  # X_FM
        self.subspaces: list[Array] = []
        self.gravity: list[Array] = []  # in link axes
        rest, geometry = Potential(np.zeros(6), self.level), kinematics.geometry
        for node, X_PF, form in zip(kinematics.tree.nodes, geometry.placements, geometry.forms, strict=True):
            name, (q, u, _) = node.joint.name, kinematics.node_states[node.index]
            u_dot = kinematics.rates_of(node)
            carrier = rest if node.parent == WORLD else self.links[node.parent]
            at_F = Cause(self.rows, name, "F", carrier.seen_from(X_PF), self.level)
            moving = duals(q, node.mechanics.rate_map(q, u), self.level) if node.joint.n_u else q
            X, S = node.mechanics.transform(moving, form), node.mechanics.motion_subspace(moving, form)
            carried = Cause(self.rows, name, "T", at_F.potential.seen_from(X), self.level)
            own = S @ duals(u, u_dot, self.level) if node.joint.n_u else np.zeros(6)
            at_M = Cause(self.rows, name, "M", carried.potential.moving + own, self.level)
            X, S = node.mechanics.transform(q, form), node.mechanics.motion_subspace(q, form)
            g = kinematics.gravity if node.parent == WORLD else self.gravity[node.parent]
            self.sources.append((at_M, carried, at_F))
            self.links.append(at_M.potential)
            self.poses.append(X)
            self.subspaces.append(S)
            self.gravity.append(X.R.T @ (X_PF.R.T @ g))


class CircuitKinematics(Kinematics):
    """Positions and velocities as potentials; given accelerations are part of them."""

    def serves(self, given: Given) -> bool:
        """Whether an instant that is given other things has this kinematics: not with other accelerations."""
        return super().serves(given) and given.u_dot is self.given.u_dot

    def rates_of(self, node: TreeLink) -> Array:
        """u_dot of a node's joint: prescribed, given, or unknowns."""
        name, known = node.joint.name, self.node_states[node.index][2]
        if known is not None:
            return known
        if self.given.u_dot is not None:
            state = self.state_of(name)
            assert state is not None
            start, ratio = state
            return np.array([ratio * x for x in self.given.u_dot[start : start + node.joint.n_u]], dtype=object)
        return unknowns(name, "u_dot", node.joint.n_u)

    @cached_property
    def potentials(self) -> Potentials:
        """Of all links."""
        return Potentials(self)

    @cached_property
    def link_kinematics(self) -> list[LinkKinematics]:
        """Link kinematics without bias accelerations, which follow here from differentiating the equations."""
        p = self.potentials
        each = zip(p.poses, p.subspaces, p.links, strict=True)
        return [LinkKinematics(X, S, V.values[:3], ZERO3, ZERO3) for X, S, V in each]

    @cached_property
    def link_velocities(self) -> list[Array]:
        """Velocity of each link's origin, in link axes."""
        return [V.values[3:] for V in self.potentials.links]

    @cached_property
    def link_sums(self) -> Array:
        """Kinetic energy, momentum, angular momentum, first moment and mass of all links."""
        total: Array = np.zeros(11)
        for inertia, V, X in zip(self.geometry.inertias, self.potentials.links, self.link_poses, strict=True):
            P, H = momentum(inertia, V.values)
            energy = 0.5 * (dot(V.values[:3], H) + dot(V.values[3:], P))
            force = X.R @ P
            about = X.R @ H + cross(X.p, force)
            first = X.R @ inertia.moment + inertia.mass * X.p
            total = total + np.concatenate([[energy], force, about, first, [inertia.mass]])
        return total
