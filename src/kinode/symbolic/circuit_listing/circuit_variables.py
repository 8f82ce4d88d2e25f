"""Variables of a circuit: potentials of nodes, flows of links, internal variables of components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kinode.expressions.units import DIMENSIONS
from kinode.model.circuit_links.circuit_topology import INFORMATION, VECTOR, CircuitLink, CircuitTopology
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.quantity_names import find_quantity
from kinode.model.system import System
from kinode.structure.network_equations import NetworkEquations

POTENTIAL, FLOW, INTERNAL = "potential", "flow", "internal"


class CircuitVariable(NamedTuple):
    """An unknown of the circuit.

    Attributes
    ----------
    name : str
        A quantity by name: ``elbow.1.velocity``, ``wire.1.current``, ``arm.com.velocity@arm``.
    sort : str
        ``potential`` (of a node), ``flow`` (of a link) or ``internal`` (of a component).
    owner : str
        The node, link or component.
    unit : str
        SI unit; several, with commas between them, where components differ.
    size : int
        Number of scalars.
    first : int
        Number of its first scalar, from 1.
    """

    name: str
    sort: str
    owner: str
    unit: str
    size: int
    first: int


class CircuitVariables:
    """All variables of a circuit, in the order potentials, flows, internal ones."""

    def __init__(self, system: System, topology: CircuitTopology, network: NetworkEquations, basis: str) -> None:
        self.system, self.topology, self.network = system, topology, network
        self.at = "@world" if basis == "global" else ""
        self.variables: dict[str, CircuitVariable] = {}
        self._count = 0
        self._potentials()
        self._flows()
        self._internal()

    def _add(self, name: str, sort: str, owner: str, unit: str, size: int = 1) -> None:
        self.variables[name] = CircuitVariable(name, sort, owner, unit, size, self._count + 1)
        self._count += size

    def _potentials(self) -> None:
        for node in self.topology.nodes.values():
            if node.reference or node.kind == INFORMATION:
                continue
            if node.kind == VECTOR:
                for word, unit in (("velocity", "m/s"), ("angular_velocity", "rad/s")):
                    self._add(f"{node.name}.{word}{self.at}", POTENTIAL, node.name, unit, 3)
            elif node.links[0].freedom is not None:
                self._add(self.speed(node.links[0]), POTENTIAL, node.name, unit_of(node.links[0].words.potential_unit))
        for name, variable in self.network.variables.items():
            if variable.sort == POTENTIAL:
                self._add(name, POTENTIAL, variable.owner, unit_of(variable.unit))

    def speed(self, link: CircuitLink) -> str:
        """The potential of a joint's freedom: named by the joint's own link."""
        return f"{self.topology.at_joint(link).name}.speed"

    def _flows(self) -> None:
        for link in self.topology.links:
            if link.kind == VECTOR:
                self._add(f"{link.name}.force{self.at}", FLOW, link.name, "N", 3)
                self._add(f"{link.name}.moment{self.at}", FLOW, link.name, "N*m", 3)
            elif link.kind != INFORMATION:
                domain = link.words
                self._add(f"{link.name}.{domain.flow}", FLOW, link.name, unit_of(domain.units[domain.flow]))

    def _internal(self) -> None:
        for body in self.system.bodies:
            self._add(f"{body}.com.velocity{self.at or '@' + body}", INTERNAL, body, "m/s", 3)
        for name, joint in self.system.joints.items():
            if joint.n_u:
                units = _units(find_quantity(self.system, f"{name}.q").dimension)
                self._add(f"{name}.q", INTERNAL, name, units, joint.n_q)
        for name, constraint in self.system.constraints.items():
            count = 1 if isinstance(constraint, CoordinateCoupling) else len(constraint.rows(self.system))
            units = _units(find_quantity(self.system, f"{name}.reaction").dimension)
            self._add(f"{name}.reaction", INTERNAL, name, units, count)
        for name, variable in self.network.variables.items():
            if variable.sort == "unknown":
                self._add(name, INTERNAL, variable.owner, unit_of(variable.unit))

    @property
    def count(self) -> int:
        """Number of scalar unknowns."""
        return self._count

    def scalars(self) -> list[str]:
        """The names of all scalars, in order: ``elbow.1.velocity.x``."""
        return [label for variable in self.variables.values() for label in scalar_names(self.system, variable)]


def scalar_names(system: System, variable: CircuitVariable) -> list[str]:
    """The names of the components of a variable."""
    if variable.size == 1:
        return [variable.name]
    head, at, axes = variable.name.partition("@")
    parts = find_quantity(system, variable.name).parts
    return [f"{head}.{part}{at}{axes}" for part in parts]


def unit_of(dimension: str) -> str:
    """The SI unit of a dimension."""
    return DIMENSIONS[dimension].unit if dimension in DIMENSIONS else ""


def _units(dimension: str | tuple[str, ...]) -> str:
    if isinstance(dimension, str):
        return unit_of(dimension)
    return ", ".join(unit_of(x) for x in dimension)


def counts(variables: Mapping[str, CircuitVariable]) -> dict[str, int]:
    """Number of scalars of each sort."""
    total = dict.fromkeys((POTENTIAL, FLOW, INTERNAL), 0)
    for variable in variables.values():
        total[variable.sort] += variable.size
    return total
