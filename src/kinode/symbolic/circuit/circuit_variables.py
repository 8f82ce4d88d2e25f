"""Variables of a circuit: potentials of nodes, flows of links, internal variables of components, and what symbols mean.

``SymbolMeanings`` gives for a symbol the variables that it depends on, and its value for given values of variables: at
a random sample for the structural analysis, or at an instant of the motion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.expressions.units import DIMENSIONS
from kinode.model.circuit_topology import INFORMATION, VECTOR, CircuitLink, CircuitTopology
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.quantities import find_quantity
from kinode.model.system import System
from kinode.sheets.terms import Family, IndexedSymbol
from kinode.structure.network_equations import NetworkEquations
from kinode.symbolic.circuit import link_symbols as s

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


Order = tuple[str, int]  # a variable and the order of its derivative
Values = Mapping[Order, Array]


class SymbolMeanings:
    """Variables and constants behind the symbols of a circuit."""

    def __init__(self, system: System, topology: CircuitTopology, variables: CircuitVariables) -> None:
        self.system, self.topology, self.variables = system, topology, variables
        self.at = variables.at
        self.link_named = {link.name: link for link in topology.links}
        self.resolve = system.nominal

    # -- variables ---------------------------------------------------------------------------------
    def orders(self, symbol: IndexedSymbol) -> list[Order]:
        """The variables, with the orders of their derivatives, that a symbol depends on."""
        family, name = symbol.family, str(symbol.places[-1]) if symbol.places else ""
        link, pattern, order = self.link_named.get(name), s.VARIABLES.get(symbol.family, ""), 0
        if pattern:
            variable = pattern.format(
                name=name, node=link.node if link is not None else "", row=name.partition(",")[0],
                joint=self.joint_of(name), at=self.at, own=self.at or f"@{name}",
            )  # fmt: skip
            order = int(family.accent in ("dot", "ring"))
        elif link is None or link.domain is None:
            return []
        elif family == s.energy_symbols(link.words).flow:
            variable = f"{link.name}.{link.words.flow}"
        elif family == s.energy_symbols(link.words).potential and link.freedom is not None:
            variable = self.variables.speed(link)
        else:
            return []
        return [(variable, order)] if variable in self.variables.variables else []

    def joint_of(self, name: str) -> str:
        """The joint that a name is of: its own, that of one of its coordinates, or that of one of its links."""
        return name if name in self.system.joints else name.rpartition(".")[0]

    # -- values ------------------------------------------------------------------------------------
    def given(self, values: Values, other: Callable[[IndexedSymbol], Any]) -> Callable[[IndexedSymbol], Any]:
        """A function from a symbol to its value; ``other`` gives those of laws, loads and orientations."""

        def value(symbol: IndexedSymbol) -> Any:
            orders = self.orders(symbol)
            if len(orders) == 1 and (orders[0] in values):
                return self._from_variable(symbol, values[orders[0]])
            constant = self._constants.get(symbol)
            return other(symbol) if constant is None else constant

        return value

    def _from_variable(self, symbol: IndexedSymbol, x: Array) -> Any:
        family, name = symbol.family, str(symbol.places[-1])
        if family in (s.Q, s.Q_DOT):
            return x[self.coordinate_number(name)]
        if family == s.MULTIPLIER:
            return x[int(name.partition(",")[2] or 1) - 1]
        if family in (s.A, s.RHO, s.TURNING, s.SLIDING, s.RATE_MAP):
            return self._of_joint(family, name, x)
        return x if family.rank else x[0]

    def coordinate_number(self, name: str) -> int:
        """The number of a coordinate among those of its joint."""
        joint = self.joint_of(name)
        words = [word for word, _ in self.system.joints[joint].coordinates]
        return 0 if name == joint else words.index(name.rpartition(".")[2])

    def _of_joint(self, family: Family, name: str, q: Array) -> Any:
        """Rotation, shift, columns of freedoms and rate map of a joint at its coordinates."""
        link = self.link_named.get(name)
        joint = self.system.joints[self.joint_of(name)]
        X_a, X_b, form = self._sides[joint.name]
        if family == s.RATE_MAP:
            return np.stack([np.asarray(joint.rate_map(q, unit)) for unit in np.eye(joint.n_u)], axis=1)
        X = joint.transform(q, form)
        if family == s.A:
            return X_b @ X.R.T @ X_a.T
        if family == s.RHO:
            return X_a @ X.p
        assert link is not None and link.freedom is not None
        column = joint.motion_subspace(q, form)[:, link.freedom]
        return X_b @ (column[:3] if family == s.TURNING else column[3:])

    @cached_property
    def _sides(self) -> dict[str, tuple[Array, Array, Array]]:
        """For each joint the rotations from its canonical axes to the axes of its two bodies, and its constants."""
        sides = {}
        for name, joint in self.system.joints.items():
            C = joint.axis_rotation(self.resolve, self.resolve)
            R_a, R_b = (frame.pose(self.resolve).R @ C for frame in (joint.a, joint.b))
            sides[name] = (R_a, R_b, joint.form(self.resolve))
        return sides

    @cached_property
    def _constants(self) -> dict[IndexedSymbol, Any]:
        """Masses, inertias, positions of links, and what does not move in joints without freedoms."""
        constants: dict[IndexedSymbol, Any] = {
            s.GRAVITY(): np.array([self.resolve(x) for x in self.system.gravity], dtype=float)
        }
        coms = {}
        for name, body in self.system.bodies.items():
            coms[name] = body.com.pose(self.resolve).p
            constants[s.MASS[name]] = self.resolve(body.mass)
            constants[s.INERTIA[name]] = body.central_inertia(self.resolve)
        for link in self.topology.links:
            if link.component in coms and link.frame is not None:
                constants[s.RHO[link.name]] = link.frame.pose(self.resolve).p - coms[link.component]
        for name, joint in self.system.joints.items():
            if not joint.n_u:
                R_a, R_b, form = self._sides[name]
                constants[s.A[name]] = R_b @ joint.transform(np.zeros(0), form).R.T @ R_a.T
        return constants
