"""A circuit as a sheet of formulas, as plain data for JSON, and with its vector links taken apart into scalar ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.reactions.lost_values import find_left_out
from kinode.model.circuit_topology import INFORMATION, VECTOR, CircuitComponent
from kinode.sheets.sheet import FormulaSheet, PrintedSheet, SheetSection
from kinode.sheets.terms import Definition, Family, IndexedSymbol, ScalarFormula, SymbolStyle, symbols_of
from kinode.sheets.typeset import LATEX, PLAIN, written
from kinode.sheets.values import SymbolValues
from kinode.structure.topology import find_topology
from kinode.symbolic.circuit import link_symbols
from kinode.symbolic.circuit import link_symbols as s
from kinode.symbolic.circuit.circuit_variables import FLOW, INTERNAL, POTENTIAL, scalar_names, unit_of
from kinode.symbolic.printed_equations import writing_out
from kinode.symbolic.writers import expanded

if TYPE_CHECKING:
    from kinode.symbolic.circuit.whole_circuit import Circuit, CircuitEquation


ROLES = {
    "SB": "solid body", "KN": "kinematic node", "E": "source", "DC": "dynamic component", "part": "part",
    "signal": "signal",
}  # fmt: skip
AXES = {
    "body": "Vectors are in the axes of the body that their link is on; a ring marks rates in these axes.",
    "global": "Vectors are in world axes.",
}
KINEMATIC = "kinematic"
SIGNS = "A flow is what acts on the component at that link. "


def compose_sheet(circuit: Circuit) -> FormulaSheet:
    """Components, nodes, counts, the equations of each component, nodal laws, and the structural analysis."""
    sections = [_components(circuit), _nodes(circuit), _counts(circuit), _symbols(circuit)]
    by_owner: dict[str, list[CircuitEquation]] = {}
    nodal: list[CircuitEquation] = []
    for equation in circuit.equations:
        (nodal if equation.kind == "node" else by_owner.setdefault(equation.owner, [])).append(equation)
    for owner, equations in by_owner.items():
        component = circuit.components.get(owner)
        title = f"{owner}: {_words(component)}" if component is not None else owner
        sections.append(SheetSection(title, "", tuple(map(_line, equations))))
    if nodal:
        words = "The flows of all links at a node sum to zero; potentials are the node's own."
        sections.append(SheetSection("Nodal laws", words, tuple(map(_line, nodal))))
    sections.append(_structure(circuit))
    counted = circuit.counts
    heading = (
        f"{circuit.system.name}: circuit of {len(circuit.components)} components, "
        f"{sum(counted[x] for x in (POTENTIAL, FLOW, INTERNAL))} unknowns, index {circuit.index}"
    )
    return FormulaSheet(heading, tuple(sections))


def _line(equation: CircuitEquation) -> Definition:
    return Definition(equation.formula.left, equation.formula.right, f"({equation.numbers})", equation.name)


def _words(component: CircuitComponent) -> str:
    role = ROLES[component.role]
    code = component.role if component.role in ("SB", "KN", "E", "DC") else ""
    kind = "" if component.role == "SB" else f", {component.kind}"
    return f"{role} {code}".strip() + kind


def _components(circuit: Circuit) -> SheetSection:
    rows = []
    for component in circuit.components.values():
        links = ", ".join(f"{x.number} at {x.node}" for x in component.links if x.kind != INFORMATION)
        role = component.role if component.role not in ("part",) else _domains(component)
        rows.append((component.name, role, component.kind, links))
    return SheetSection("Components", "", (), (("component", "role", "kind", "links"), rows))


def _domains(component: CircuitComponent) -> str:
    return ", ".join(dict.fromkeys(link.domain.kind for link in component.links if link.domain is not None))


def _nodes(circuit: Circuit) -> SheetSection:
    rows = [
        (str(n.number), n.name, "reference" if n.reference else n.kind, ", ".join(x.name for x in n.links))
        for n in circuit.nodes.values()
    ]
    return SheetSection("Nodes", "", (), (("node", "name", "kind", "links"), rows))


def _counts(circuit: Circuit) -> SheetSection:
    """How many unknowns and equations there are, and how the reduced count follows."""
    c = circuit.counts
    total = c[POTENTIAL] + c[FLOW] + c[INTERNAL]
    if circuit.mode == KINEMATIC:
        return SheetSection("Unknowns and equations", _motion_words(circuit) + AXES[circuit.basis])
    kinematic = sum(row.size for kind, row in circuit.rows if row.dual and kind == "component")
    rest = c["component equations"] - kinematic
    words = (
        f"{total} unknowns: {c[POTENTIAL]} potentials of nodes, {c[FLOW]} flows of links, {c[INTERNAL]} internal "
        f"variables. As many equations: {c['component equations']} of components, {c['node equations']} of nodes. "
        f"Nodal laws give {c['node equations']} flows by others, which leaves {total - c['node equations']} unknowns; "
        f"{kinematic} rows of velocities give as many potentials and velocities of mass centers, which leaves {rest}. "
        + SIGNS
        + AXES[circuit.basis]
    )
    left_out = find_left_out(find_topology(circuit.system))
    for loads in dict.fromkeys(left_out.values()):
        names = ", ".join(name for name, each in left_out.items() if each == loads)
        words += f" Flows of {names} are without {' and '.join(loads)}."
    return SheetSection("Unknowns and equations", words)


def _motion_words(circuit: Circuit) -> str:
    """What the kinematic problem has, and which speeds it needs."""
    c, analysis = circuit.counts, circuit.analysis
    if not circuit.system.bodies:
        return "There are no bodies: the kinematic problem has no equations. "
    repeated = sum(x < 0 for equation in circuit.equations for x in equation.differentiated)
    words = (
        f"The kinematic problem, without flows: {c[POTENTIAL] + c[INTERNAL]} unknowns, {c[POTENTIAL]} potentials of "
        f"nodes and {c[INTERNAL]} internal variables; {c['component equations']} equations. "
    )
    words += f"{repeated} of them repeat others. " if repeated else ""
    free = ", ".join(analysis.open_variables)
    return (
        words
        + (f"Nothing prescribes {free}; with these given, " if free else "All speeds are prescribed: ")
        + ("the equations determine the motion. Numbers are those of the whole circuit. ")
    )


def _symbols(circuit: Circuit) -> SheetSection:
    """What the symbols mean: the first of each kind."""
    first: dict[Family, IndexedSymbol] = {}
    for _, _, row in circuit.shown:
        for symbol in (x for side in (row.left, row.right) for x in symbols_of(side)):
            first.setdefault(symbol.family, symbol)
    known = [x for x in vars(link_symbols).values() if isinstance(x, Family) and x in first]
    families = [*known, *(x for x in first if x.words and x not in known)]
    rows = [(written(first[x], PLAIN), x.words, unit_of(x.unit) or x.unit) for x in families]
    words = "The first symbol of each kind, its meaning and its SI unit." if rows else ""
    return SheetSection("Symbols", words, (), (("symbol", "meaning", "unit"), rows) if rows else None)


def _structure(circuit: Circuit) -> SheetSection:
    rows = []
    for equation in circuit.equations:
        times = ", ".join("repeats others" if x < 0 else str(x) for x in equation.differentiated)
        times = times if len(set(equation.differentiated)) > 1 else times.partition(",")[0]
        rows.append((equation.numbers, equation.owner, equation.name, times, _together(equation.solved_for)))
    words = f"Structural index {circuit.index}. How often each equation is differentiated, and what it is solved for."
    left_open = circuit.analysis.open_variables
    if left_open and circuit.mode != KINEMATIC:
        words += f" Redundant loops leave open: {', '.join(left_open)}."
    head = ("number", "owner", "equation", "differentiated", "solved for")
    return SheetSection("Structural analysis", words, (), (head, rows))


def _together(names: Sequence[str]) -> str:
    """Names of scalars; the three components of one vector by its name alone."""
    heads = set()
    for name, axis in zip(names, "xyz", strict=False):
        head, at, axes = name.partition("@")
        heads.add(f"{head.removesuffix(f'.{axis}')}{at}{axes}" if head.endswith(f".{axis}") else "")
    vector = len(names) == 3 and len(heads) == 1 and "" not in heads
    return heads.pop() if vector else ", ".join(filter(None, names))


def to_data(circuit: Circuit) -> dict[str, Any]:
    """The whole circuit as plain data."""
    incidence = circuit.incidence
    return {
        "name": circuit.system.name,
        "basis": circuit.basis,
        "mode": circuit.mode,
        "index": circuit.index,
        "counts": circuit.counts,
        "components": [
            {
                "name": x.name, "role": x.role, "kind": x.kind, "of": x.owner,
                "links": [
                    {"number": y.number, "port": y.port, "type": y.kind, "node": y.node,
                     "domain": "" if y.domain is None else y.domain.kind, "mode": circuit.mode_of(y)} for y in x.links
                ],
            } for x in circuit.components.values()
        ],
        "nodes": [
            {"number": n.number, "name": n.name, "kind": n.kind, "reference": n.reference,
             "links": [x.name for x in n.links]} for n in circuit.nodes.values()
        ],
        "incidence": [
            {"branch": branch, "from": start, "to": end} for _, branch, start, end in incidence.table()[1]
        ],
        "pieces": circuit.pieces,
        "variables": [v._asdict() for v in circuit.variables.values()],
        "equations": [
            {
                "numbers": e.numbers, "owner": e.owner, "name": e.name, "kind": e.kind, "text": e.text(),
                "latex": f"{written(e.formula.left, LATEX)} = {written(e.formula.right, LATEX)}",
                "differentiated": list(e.differentiated), "solved_for": list(e.solved_for),
            } for e in circuit.equations
        ],
    }  # fmt: skip


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

    def _repr_html_(self) -> str:
        return self.mathml()


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
