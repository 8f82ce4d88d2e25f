"""A circuit as a sheet of formulas, and as plain data for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kinode.dynamics.left_out_loads import find_left_out
from kinode.model.circuit_links.circuit_topology import INFORMATION, CircuitComponent
from kinode.structure.topology import find_topology
from kinode.symbolic.circuit_listing import link_symbols
from kinode.symbolic.circuit_listing.circuit_variables import FLOW, INTERNAL, POTENTIAL, unit_of
from kinode.symbolic.formulas.formula_sheet import FormulaSheet, SheetSection
from kinode.symbolic.formulas.typefaces import LATEX, PLAIN
from kinode.symbolic.formulas.typeset import written
from kinode.symbolic.formulas.vector_terms import Definition, Family, IndexedSymbol, symbols_of

if TYPE_CHECKING:
    from kinode.symbolic.circuit_listing.whole_circuit import Circuit, CircuitEquation

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
