"""Identities that every formulation has to satisfy, for any model.

An identity has the outputs it needs, and a function for its two sides and the scale of their difference.  Derivatives
are exact: the formulation is evaluated in dual numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, rate
from kinode.algebra.spatial import dot
from kinode.formulations.formulation_table import Formulation, InstantValues
from kinode.model.network.domain import ENERGIES
from kinode.model.network.part import Part
from kinode.multibody.power import element_power, part_balance, part_power
from kinode.multibody.snapshot import Snapshot
from kinode.structure.topology import Topology

Sides = tuple[Any, Any, float]  # left, right, scale of their difference
Check = Callable[[Topology, Formulation, InstantValues, dict[str, Any], np.random.Generator], Sides]


@dataclass(frozen=True)
class Identity:
    """left = right, for every formulation that has the outputs ``needs``."""

    quantity: str
    against: str
    needs: frozenset[str]
    sides: Check


IDENTITIES: list[Identity] = []


def identity(quantity: str, against: str, *needs: str) -> Callable[[Check], Check]:
    """Decorator that registers a function as an identity."""

    def add(check: Check) -> Check:
        IDENTITIES.append(Identity(quantity, against, frozenset(needs), check))
        return check

    return add


@dataclass(frozen=True)
class Powers:
    """The power of all loads on a system, in W; ``springs`` is that of joint stiffness."""

    gravity: float
    elements: float
    efforts: float
    springs: float
    inertia: float  # size of the power between bodies: its rounding errors remain where no other power is
    parts: float  # size of the power of network components, whose energy is subtracted from the total

    @property
    def size(self) -> float:
        """Scale of the power balance."""
        mechanical = abs(self.gravity) + abs(self.elements) + abs(self.efforts) + abs(self.springs)
        return mechanical + self.inertia + self.parts


def find_powers(snapshot: Snapshot) -> Powers:
    """Power of gravity, of elements at the points where they act, and of efforts and drives along the joints.

    Joints with a prescribed motion, also by a driven gear, count with their whole effort.  Joints of a gear that is not
    driven count with their own efforts, since the gear itself does no work.
    """
    of_elements = [element_power(snapshot, element) for element in snapshot.system.elements.values()]
    elements: Scalar = sum(of_elements, 0.0)
    full = snapshot.full
    efforts: Scalar = 0.0
    springs: Scalar = 0.0
    kinematics = full.kinematics
    subspaces = (link.S for link in kinematics.link_kinematics)
    for node, (_, u, known), S, wrench in zip(
        kinematics.tree.nodes, kinematics.node_states, subspaces, full.motion.link_wrenches, strict=True
    ):
        if node.joint.n_u:
            name = node.joint.name
            own = snapshot.loads.own_effort(name) + snapshot.network.effort_on(name) - _without_inertia(snapshot, name)
            total = own if known is None else S.T @ np.concatenate(wrench)
            spring = snapshot.efforts.shares(name)["spring"]
            springs = springs + dot(spring, u)
            efforts = efforts + dot(total - spring, u)
    gravity = dot(snapshot.gravity, snapshot.momenta[0])
    inertia = snapshot.kinetic_energy * np.abs(snapshot.u).max(initial=0.0)
    network = snapshot.system.parts.values()
    parts = sum(_through(snapshot, part) + abs(float(part_power(snapshot, part.name))) for part in network)
    return Powers(float(gravity), float(elements), float(efforts), float(springs), float(inertia), parts)


def _without_inertia(snapshot: Snapshot, name: str) -> Any:
    """Effort of the network on a joint, without the inertia that its components add."""
    effort = snapshot.loads.outer_effort(name)
    return 0.0 if effort is None else effort


def _network_energy(topology: Topology, n: InstantValues, u_dot: Array, *kinds: str) -> Scalar:
    """Stored energy of the network components, of some kinds, in J."""
    snapshot = Snapshot(topology, n, u_dot=u_dot)
    return sum((snapshot.network.energy(kind) for kind in kinds), 0.0)


def grow(
    topology: Topology, numbers: InstantValues, u_dot: Array, function: Callable[[InstantValues], Scalar]
) -> float:
    """Time derivative of a function of the state while the system moves with u_dot."""
    n = numbers
    snapshot = Snapshot(topology, n, u_dot=u_dot)
    y = np.concatenate([[n.t], n.q, n.u, n.z])
    y_dot = np.concatenate([[1.0], snapshot.q_dot, u_dot, snapshot.z_dot])

    def value(x: Array) -> Array:
        q, u, z = topology.layout.split(x[1:])
        return np.array([function(replace(n, t=x[0], q=q, u=u, z=z))], dtype=object)

    return float(rate(value, y, y_dot)[0])


@identity("M symmetric, positive", "M'", "mass_matrix")
def _symmetric(
    topology: Topology, formulation: Formulation, point: InstantValues, result: dict[str, Any], rng: np.random.Generator
) -> Sides:
    M = np.asarray(result["mass_matrix"], dtype=float)
    positive = M.size == 0 or np.linalg.eigvalsh(M)[0] > 0
    return M, M.T if positive else np.full_like(M, np.nan), 0.0


@identity("M as Hessian", "of kinetic energy", "mass_matrix", "kinetic_energy")
def _hessian(
    topology: Topology, formulation: Formulation, point: InstantValues, result: dict[str, Any], rng: np.random.Generator
) -> Sides:
    """In a random direction d of u: d2T/ds2 = d'M d; electric energy counts where currents follow from the speeds."""
    d = rng.normal(size=topology.n_u)
    zero = np.zeros(topology.n_u)

    def energy(u: Array) -> Array:
        values = formulation.evaluate(topology, replace(point, u=u), ("kinetic_energy",))
        electric = _network_energy(topology, replace(point, u=u), zero, "electric")
        return np.array([values["kinetic_energy"] + electric], dtype=object)

    M = np.asarray(result["mass_matrix"], dtype=float)
    return d @ M @ d, float(rate(lambda u: rate(energy, u, d), point.u, d)[0]), abs(M).max(initial=0.0)


@identity("inverse dynamics", "M u_dot + bias", "mass_matrix", "bias", "effort")
def _inverse(
    topology: Topology, formulation: Formulation, point: InstantValues, result: dict[str, Any], rng: np.random.Generator
) -> Sides:
    u_dot = rng.normal(size=topology.n_u)
    M, h = (np.asarray(result[name], dtype=float) for name in ("mass_matrix", "bias"))
    effort = formulation.evaluate(topology, replace(point, u_dot=u_dot), ("effort",))["effort"]
    friction = _snapshot(topology, point, u_dot).efforts.friction
    return effort, M @ u_dot + h - friction, abs(M).max(initial=0.0)


@identity("inverse dynamics", "of forward dynamics", "u_dot", "effort", "bias", "mass_matrix")
def _inverse_of_forward(
    topology: Topology, formulation: Formulation, point: InstantValues, result: dict[str, Any], rng: np.random.Generator
) -> Sides:
    """Inverse dynamics at the accelerations of forward dynamics gives zero additional effort.

    Beside the bias, or beside what accelerates by 1 where nothing acts and the bias is rounding alone.
    """
    effort = formulation.evaluate(topology, replace(point, u_dot=result["u_dot"]), ("effort",))["effort"]
    sizes = [abs(np.asarray(result[name], dtype=float)).max(initial=1e-300) for name in ("bias", "mass_matrix")]
    return effort, np.zeros(topology.n_u), max(sizes)


def _snapshot(topology: Topology, n: InstantValues, u_dot: Array) -> Snapshot:
    return Snapshot(topology, n, u_dot=np.asarray(u_dot, dtype=float))


@identity("power balance", "power of all forces", "u_dot", "kinetic_energy")
def _power(
    topology: Topology, formulation: Formulation, point: InstantValues, result: dict[str, Any], rng: np.random.Generator
) -> Sides:
    """The time derivative of the bodies' kinetic energy is the power of all forces."""
    powers = find_powers(_snapshot(topology, point, result["u_dot"]))

    def energy(n: InstantValues) -> Scalar:
        total = formulation.evaluate(topology, n, ("kinetic_energy",))["kinetic_energy"]
        return total - _network_energy(topology, n, result["u_dot"], "kinetic")

    growth = grow(topology, point, result["u_dot"], energy)
    return growth, powers.gravity + powers.elements + powers.efforts + powers.springs, powers.size


@identity("energy rate", "power put in", "u_dot", "kinetic_energy", "potential_energy")
def _energy(
    topology: Topology, formulation: Formulation, point: InstantValues, result: dict[str, Any], rng: np.random.Generator
) -> Sides:
    """The time derivative of the energy, without that of elements and network components, is the supplied power."""
    powers = find_powers(_snapshot(topology, point, result["u_dot"]))

    def energy(n: InstantValues) -> Scalar:
        energies = formulation.evaluate(topology, n, ("kinetic_energy", "potential_energy"))
        snapshot = Snapshot(topology, n)
        stored = sum((element.potential(snapshot) for element in topology.system.elements.values()), 0.0)
        stored = stored + _network_energy(topology, n, result["u_dot"], *ENERGIES)
        return energies["kinetic_energy"] + energies["potential_energy"] - stored

    return grow(topology, point, result["u_dot"], energy), powers.elements + powers.efforts, powers.size


def compare_parts(topology: Topology, n: InstantValues, u_dot: Array) -> dict[str, Sides]:
    """Power balance of each network component: stored minus received power, against its declared supply and loss.

    A component that declares none of them is a source and is left out.  So are components with modes: their balance
    holds only in modes that are consistent with the state, and a random state need not be.
    """
    parts, snapshot = topology.system.parts, _snapshot(topology, n, u_dot)
    declaring = [part for part in parts.values() if {part.stored, part.lost, part.supplied} != {"0"} and not part.modes]
    size = max((_through(snapshot, part) for part in parts.values()), default=0.0) if declaring else 0.0
    return {part.name: (*map(float, part_balance(snapshot, part.name)), size) for part in declaring}  # type: ignore[misc]


def _through(snapshot: Snapshot, part: Part) -> float:
    """Sum of the absolute powers through the ports of a component, in W."""
    pairs = [(f"{port}.{kind.potential}", f"{port}.{kind.flow}") for port, kind in part.ports().items()]
    quantity = snapshot.network.quantity
    return sum(abs(float(quantity(part.name, potential) * quantity(part.name, flow))) for potential, flow in pairs)
