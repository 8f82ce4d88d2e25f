"""Identities that every derivation of the equations has to satisfy, whatever the model.

Each is one row: the outputs it needs, and a function that gives its two sides and the size that their difference
is to be measured by.  Derivatives are exact: the formulation is evaluated in dual numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, rate
from kinode.algebra.spatial import dot
from kinode.formulations.formulation_table import Formulation, InstantValues
from kinode.model.network.part import Part
from kinode.multibody.power import element_power, part_balance, part_power
from kinode.multibody.snapshot import Snapshot
from kinode.structure.topology import Topology

Sides = tuple[Any, Any, float]
Check = Callable[[Topology, Formulation, InstantValues, dict[str, Any], np.random.Generator], Sides]


@dataclass(frozen=True)
class Identity:
    """left = right for every formulation that gives the outputs ``needs``."""

    quantity: str
    against: str
    needs: frozenset[str]
    sides: Check


IDENTITIES: list[Identity] = []


def identity(quantity: str, against: str, *needs: str) -> Callable[[Check], Check]:
    """Add a function to the identities."""

    def add(check: Check) -> Check:
        IDENTITIES.append(Identity(quantity, against, frozenset(needs), check))
        return check

    return add


@dataclass(frozen=True)
class Powers:
    """The power of what acts on a system, in watts; ``springs`` is that of joint stiffness."""

    gravity: float
    elements: float
    efforts: float
    springs: float
    inertia: float  # what bodies would exchange in moving, by size: rounding is there where no power is
    parts: float  # what parts exchange and make, by size: their energy is taken off from that of the whole

    @property
    def size(self) -> float:
        mechanical = abs(self.gravity) + abs(self.elements) + abs(self.efforts) + abs(self.springs)
        return mechanical + self.inertia + self.parts


def find_powers(snapshot: Snapshot) -> Powers:
    """Power of gravity, of elements at the points where they act, and of efforts and drives along the joints.

    The joints of a gear that is driven count with all they transmit; those of a gear that is not, with their own
    efforts, since the gear between them does no work.
    """
    found = [element_power(snapshot, element) for element in snapshot.system.elements.values()]
    elements: Scalar = sum(found, 0.0)
    full = snapshot.full
    efforts: Scalar = 0.0
    springs: Scalar = 0.0
    k = full.kinematics
    subspaces = (link.S for link in k.link_kinematics)
    for node, (_, u, known), S, wrench in zip(
        k.tree.nodes, k.node_states, subspaces, full.motion.link_wrenches, strict=True
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
    parts = sum(
        _through(snapshot, x) + abs(float(part_power(snapshot, x.name))) for x in snapshot.system.parts.values()
    )
    return Powers(float(gravity), float(elements), float(efforts), float(springs), float(inertia), parts)


def _without_inertia(snapshot: Snapshot, name: str) -> Any:
    """What parts do along a joint, but for the inertia that they add."""
    found = snapshot.loads.outer_effort(name)
    return 0.0 if found is None else found


def _of_parts(topology: Topology, n: InstantValues, u_dot: Array, *kinds: str) -> Scalar:
    """What parts store."""
    now = Snapshot(topology, n, u_dot=u_dot)
    return sum((now.network.energy(kind) for kind in kinds), 0.0)


def grow(
    topology: Topology, numbers: InstantValues, u_dot: Array, function: Callable[[InstantValues], Scalar]
) -> float:
    """The rate at which a function of the state changes while the system moves with u_dot."""
    n = numbers
    now = Snapshot(topology, n, u_dot=u_dot)
    y = np.concatenate([[n.t], n.q, n.u, n.z])
    y_dot = np.concatenate([[1.0], now.q_dot, u_dot, now.z_dot])

    def value(x: Array) -> Array:
        q, u, z = topology.layout.split(x[1:])
        return np.array([function(replace(n, t=x[0], q=q, u=u, z=z))], dtype=object)

    return float(rate(value, y, y_dot)[0])


@identity("M symmetric, positive", "M'", "mass_matrix")
def _symmetric(
    topology: Topology, way: Formulation, numbers: InstantValues, result: dict[str, Any], rng: np.random.Generator
) -> Sides:
    M = np.asarray(result["mass_matrix"], dtype=float)
    positive = M.size == 0 or np.linalg.eigvalsh(M)[0] > 0
    return M, M.T if positive else np.full_like(M, np.nan), 0.0


@identity("M as Hessian", "of kinetic energy", "mass_matrix", "kinetic_energy")
def _hessian(
    topology: Topology, way: Formulation, numbers: InstantValues, result: dict[str, Any], rng: np.random.Generator
) -> Sides:
    """Along one direction of u at random: d2T/ds2 = d'M d; what is electric counts where it follows speeds at once."""
    d = rng.normal(size=topology.n_u)
    still = np.zeros(topology.n_u)

    def energy(u: Array) -> Array:
        found = way.evaluate(topology, replace(numbers, u=u), ("kinetic_energy",))
        electric = _of_parts(topology, replace(numbers, u=u), still, "electric")
        return np.array([found["kinetic_energy"] + electric], dtype=object)

    M = np.asarray(result["mass_matrix"], dtype=float)
    return d @ M @ d, float(rate(lambda u: rate(energy, u, d), numbers.u, d)[0]), abs(M).max(initial=0.0)


@identity("inverse dynamics", "M u_dot + bias", "mass_matrix", "bias", "effort")
def _inverse(
    topology: Topology, way: Formulation, numbers: InstantValues, result: dict[str, Any], rng: np.random.Generator
) -> Sides:
    u_dot = rng.normal(size=topology.n_u)
    M, h = (np.asarray(result[name], dtype=float) for name in ("mass_matrix", "bias"))
    needed = way.evaluate(topology, replace(numbers, u_dot=u_dot), ("effort",))["effort"]
    friction = _snapshot(topology, numbers, u_dot).efforts.friction
    return needed, M @ u_dot + h - friction, abs(M).max(initial=0.0)


@identity("inverse dynamics", "of forward dynamics", "u_dot", "effort", "bias")
def _inverse_of_forward(
    topology: Topology, way: Formulation, numbers: InstantValues, result: dict[str, Any], rng: np.random.Generator
) -> Sides:
    """The accelerations that the model finds need no effort beyond its own."""
    needed = way.evaluate(topology, replace(numbers, u_dot=result["u_dot"]), ("effort",))["effort"]
    size = abs(np.asarray(result["bias"], dtype=float)).max(initial=1e-300)
    return needed, np.zeros(topology.n_u), size


def _snapshot(topology: Topology, n: InstantValues, u_dot: Array) -> Snapshot:
    return Snapshot(topology, n, u_dot=np.asarray(u_dot, dtype=float))


@identity("power balance", "power of all forces", "u_dot", "kinetic_energy")
def _power(
    topology: Topology, way: Formulation, numbers: InstantValues, result: dict[str, Any], rng: np.random.Generator
) -> Sides:
    """Kinetic energy of bodies grows by the power of all forces."""
    powers = find_powers(_snapshot(topology, numbers, result["u_dot"]))

    def energy(n: InstantValues) -> Scalar:
        whole = way.evaluate(topology, n, ("kinetic_energy",))["kinetic_energy"]
        return whole - _of_parts(topology, n, result["u_dot"], "kinetic")

    growth = grow(topology, numbers, result["u_dot"], energy)
    return growth, powers.gravity + powers.elements + powers.efforts + powers.springs, powers.size


@identity("energy rate", "power put in", "u_dot", "kinetic_energy", "potential_energy")
def _energy(
    topology: Topology, way: Formulation, numbers: InstantValues, result: dict[str, Any], rng: np.random.Generator
) -> Sides:
    """Energy grows by the power of efforts, drives and elements, less what elements and parts keep for themselves."""
    powers = find_powers(_snapshot(topology, numbers, result["u_dot"]))

    def energy(n: InstantValues) -> Scalar:
        found = way.evaluate(topology, n, ("kinetic_energy", "potential_energy"))
        now = Snapshot(topology, n)
        kept = sum((element.potential(now) for element in topology.system.elements.values()), 0.0)
        kept = kept + _of_parts(topology, n, result["u_dot"], "kinetic", "potential", "electric")
        return found["kinetic_energy"] + found["potential_energy"] - kept

    return grow(topology, numbers, result["u_dot"], energy), powers.elements + powers.efforts, powers.size


def compare_parts(topology: Topology, n: InstantValues, u_dot: Array) -> dict[str, Sides]:
    """Of each part: what it stores less what goes in by its ports, against what is stated as supplied and lost.

    A part that states nothing is a source.  Parts with modes keep their balance in the modes that fit the state, and
    a state at random need not fit.
    """
    parts, now = topology.system.parts, _snapshot(topology, n, u_dot)
    stating = [x for x in parts.values() if {x.stored, x.lost, x.supplied} != {"0"} and not x.modes]
    size = max((_through(now, part) for part in parts.values()), default=0.0) if stating else 0.0
    return {part.name: (*map(float, part_balance(now, part.name)), size) for part in stating}  # type: ignore[misc]


def _through(now: Snapshot, part: Part) -> float:
    """The power through the ports of a part, all of it counted as positive."""
    ends = [(f"{port}.{kind.potential}", f"{port}.{kind.flow}") for port, kind in part.ports().items()]
    return sum(abs(float(now.network.quantity(part.name, a) * now.network.quantity(part.name, b))) for a, b in ends)
