"""A circuit with its vector links taken apart: scalar links, and each equation as scalar equations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.model.circuit_links.circuit_topology import VECTOR
from kinode.symbolic.circuit_listing import link_symbols as s
from kinode.symbolic.circuit_listing.circuit_variables import scalar_names
from kinode.symbolic.formulas.formula_sheet import FormulaSheet, PrintedSheet, SheetSection
from kinode.symbolic.formulas.term_values import SymbolValues
from kinode.symbolic.formulas.typefaces import PLAIN
from kinode.symbolic.formulas.typeset import written
from kinode.symbolic.formulas.vector_terms import Definition, IndexedSymbol, ScalarFormula
from kinode.symbolic.notation import SymbolStyle, expanded
from kinode.symbolic.printed_equations import writing_out

if TYPE_CHECKING:
    from kinode.symbolic.circuit_listing.whole_circuit import Circuit

XYZ = "xyz"
SMALLEST = 1e-15  # of the largest coefficient of a vector or matrix: what is smaller comes from rounding


class ScalarLink(NamedTuple):
    """A scalar link: its name, its node, the names of its potential and its flow."""

    name: str
    node: str
    potential: str
    flow: str


class ScalarEquation(NamedTuple):
    """A scalar equation: its number, its owner, its name, and both sides as SymPy expressions."""

    number: int
    owner: str
    name: str
    left: Any
    right: Any


@dataclass(frozen=True, eq=False)
class ScalarCircuit(PrintedSheet):
    """A circuit of scalar links; ``circuit.scalar()`` returns it."""

    circuit: Circuit

    @cached_property
    def links(self) -> tuple[ScalarLink, ...]:
        """All scalar links: six of each vector link, one of each energy link; kinematic ones have no flow."""
        links, at, with_flows = [], self.circuit.axes_suffix, self.circuit.mode == "dynamic"
        for link in self.circuit.branches:
            if link.kind == VECTOR:
                for v, f, letter in (("velocity", "force", "v"), ("angular_velocity", "moment", "w")):
                    for axis in XYZ:
                        name = f"{link.name}.{letter}{axis}"
                        node = f"{link.node}.{letter}{axis}"
                        flow = f"{link.name}.{f}.{axis}{at}" if with_flows else ""
                        links.append(ScalarLink(name, node, f"{link.node}.{v}.{axis}{at}", flow))
            else:
                domain = link.words
                potential, flow = (f"{link.name}.{word}" for word in (domain.potential, domain.flow))
                links.append(ScalarLink(link.name, link.node, potential, flow if with_flows else ""))
        return tuple(links)

    @cached_property
    def equations(self) -> tuple[ScalarEquation, ...]:
        """All scalar equations, numbered as in the circuit; constants are numbers, q and other variables symbols."""
        with writing_out(self.circuit.system):
            return self._written()

    def _written(self) -> tuple[ScalarEquation, ...]:
        evaluate = SymbolValues(self._value)
        rows = []
        for number, kind, row in self.circuit.shown:
            owner = f"node {row.owner}" if kind == "node" else row.owner
            left, right = (_scalars(evaluate(side), row.size) for side in (row.left, row.right))
            for k in range(row.size):
                axis = f", {XYZ[k]}" if row.size == 3 else f", {k + 1}" if row.size > 1 else ""
                rows.append(ScalarEquation(number + k + 1, owner, f"{row.name}{axis}", left[k], right[k]))
        return tuple(rows)

    def _value(self, symbol: IndexedSymbol) -> Any:
        import sympy

        values: dict[tuple[str, int], Array] = {}
        for name, order in self.circuit.meanings.orders(symbol):
            scalars = scalar_names(self.circuit.system, self.circuit.variables[name])
            marked = [sympy.Symbol(x if not order else f"der({x})") for x in scalars]
            values[name, order] = np.array(marked, dtype=object)
        return _clean(self.circuit.meanings.given(values, _other)(symbol))

    @cached_property
    def _sheet(self) -> FormulaSheet:
        sections: dict[str, list[Definition]] = {}
        for row in self.equations:
            left, right = (ScalarFormula(x, _styles(x)) for x in (row.left, row.right))
            sections.setdefault(row.owner, []).append(Definition(left, right, f"({row.number})", row.name))
        table = (("link", "node", "potential", "flow"), tuple(self.links))
        heading = f"{self.circuit.system.name}: {len(self.links)} scalar links, {len(self.equations)} equations"
        parts = [SheetSection(title, "", tuple(lines)) for title, lines in sections.items()]
        return FormulaSheet(heading, (SheetSection("Scalar links", "", (), table), *parts))


def _other(symbol: IndexedSymbol) -> Any:
    """A symbol, or an array of symbols, for what is no variable: laws, loads, orientations."""
    import sympy

    rank, name = symbol.family.rank, written(symbol, PLAIN)
    if symbol.family == s.TURN:
        name = f"R_{symbol.places[0]}"
    if not rank:
        return sympy.Symbol(name)
    if rank == 1:
        return np.array([sympy.Symbol(f"{name}.{axis}") for axis in XYZ], dtype=object)
    return np.array([[sympy.Symbol(f"{name}.{i}{j}") for j in XYZ] for i in XYZ], dtype=object)


def _scalars(value: Any, size: int) -> list[Any]:
    """The scalars of a side, written out."""
    import sympy

    flat = list(np.ravel(np.asarray(value, dtype=object)))
    flat = flat * size if len(flat) == 1 else flat
    return [sympy.Add(*[_rounded(t) for t in sympy.Add.make_args(expanded(sympy.sympify(x))) if t != 0]) for x in flat]


def _clean(value: Any) -> Any:
    """A vector or matrix of a component without what only rounding put there: small against its largest entry."""
    import sympy

    if not np.ndim(value):
        return value
    sums = [sympy.Add.make_args(expanded(sympy.sympify(x))) for x in np.ravel(np.asarray(value, dtype=object))]
    largest = max((abs(term.as_coeff_Mul()[0]) for terms in sums for term in terms), default=0.0)
    kept = [[term for term in terms if abs(term.as_coeff_Mul()[0]) > SMALLEST * largest] for terms in sums]
    return np.array([sympy.Add(*terms) for terms in kept], dtype=object).reshape(np.shape(value))


def _rounded(term: Any) -> Any:
    """A term without a factor 1.0."""
    import sympy

    factor, rest = term.as_coeff_Mul()
    return sympy.Integer(int(factor)) * rest if float(factor).is_integer() else factor * rest


def _styles(expression: Any) -> dict[str, SymbolStyle]:
    """Names as they are, for typesetting."""
    styles = {}
    for x in expression.free_symbols:
        dots = x.name.startswith("der(")
        styles[x.name] = SymbolStyle(x.name.removeprefix("der(").removesuffix(")") if dots else x.name, int(dots))
    return styles
