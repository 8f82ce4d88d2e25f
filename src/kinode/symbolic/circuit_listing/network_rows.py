"""Equations of the parts of networks, as their declarations have them, in the symbols of the circuit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kinode.expressions.equation_parser import rate_name, split_rate
from kinode.model.circuit_links.circuit_topology import CircuitTopology
from kinode.structure.network_equations import NetworkEquations
from kinode.structure.network_records import INTEGRAL, SPEED, NetworkEquation
from kinode.symbolic.circuit_listing import link_symbols as s
from kinode.symbolic.circuit_listing.component_rows import ComponentRow
from kinode.symbolic.formulas.law_terms import law_term, name_term
from kinode.symbolic.formulas.vector_terms import Family, VectorTerm

ACCENTS = ("", "dot", "ddot")


@dataclass(frozen=True)
class NetworkRow(ComponentRow):
    """A row of a part, with the equation that the analysis of networks has of it."""

    equation: NetworkEquation | None = None


class NetworkRows:
    """The rows of all parts."""

    def __init__(self, network: NetworkEquations, topology: CircuitTopology) -> None:
        self.network = network
        self._letters = s.shared_letters(network.domains.values())  # of unknowns
        self.meaning_of: dict[VectorTerm, tuple[str, int]] = {}  # symbol -> variable and order of its derivative
        self.link_of = {
            network.flow(link.component, link.port): link.name
            for link in topology.links
            if link.component in network.parts and link.port in network.parts[link.component].ports()
        }

    def of(self, part: str) -> Iterator[NetworkRow]:
        """The rows of a part."""
        known = {(e.owner, e.name): e for e in self.network.rows}
        for row in self.network.parts[part].equations():
            left, right = (law_term(self.network.expand(side), self.symbol) for side in row.equation)
            equation = known.get((part, row.name))
            yield NetworkRow(part, row.name, left, right, 1, equation=equation)

    def speeds(self) -> Iterator[NetworkRow]:
        """Rows for the speeds of shafts that occur in no other row, and for the integrals of quasi-velocities."""
        for equation in self.network.rows:
            if equation.name in (SPEED, INTEGRAL) and equation.owner in self.network.nodes:
                left, right = (self.symbol(rate_name(*order)) for order in equation.terms)
                yield NetworkRow(equation.owner, equation.name, left, right, 1, equation=equation)

    def symbol(self, name: str) -> VectorTerm:
        """The symbol of a name: a potential, a flow, an unknown, its rate, or the name itself."""
        base, order = split_rate(name)
        symbol = self._symbol(name, base, order)
        if base in self.network.variables:
            self.meaning_of[symbol] = (base, order)
        return symbol

    def _symbol(self, name: str, base: str, order: int) -> VectorTerm:
        accent = ACCENTS[min(order, 2)]
        variable = self.network.variables.get(base)
        if variable is None:
            return name_term(name)
        if variable.sort == "joint":
            return self._joint(base, order)
        if variable.sort == "unknown":
            owner, _, word = base.rpartition(".")
            return Family(self._letters.get(word, word), "{0}", 0, accent=accent)[owner]
        words = s.energy_symbols(self.network.domains[variable.kind])
        owner, _, word = base.rpartition(".")
        if variable.sort == "flow":
            return self._dotted(words.flow, accent)[self.link_of[base]]
        family = words.position if words.position is not None and word == words.position.words else words.potential
        if family is words.position and order:  # speeds are what all read
            family, accent = words.potential, ACCENTS[order - 1]
        return self._dotted(family, accent)[owner]

    def _joint(self, name: str, order: int) -> VectorTerm:
        """The coordinate of a joint, its speed or acceleration."""
        joint, k = self.network.joint_of[name]
        coordinates = self.network.system.joints[joint].coordinates
        label = joint if len(coordinates) == 1 else f"{joint}.{coordinates[k][0]}"
        if not self.network.speed_order(name):
            order += 1
        return Family("q", "{0}", 0, accent=ACCENTS[order])[label]

    def _dotted(self, family: Family, accent: str) -> Family:
        return Family(family.letter, family.below, 0, family.unit, family.words, accent)
