"""``kn.explain`` of a circuit: topology, nodal laws, equations, their structure, and what they reduce to.

The steps are those of docs/theory/circuits.md: components and nodes (T-7.13), the equations as they stand, the Sigma
method (T-7.16, T-7.17), and the condensation (T-7.18).  What is solved here is what is compiled
(``multibody.network_condensation``): each unknown is written with the symbols of those before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kinode.algebra.affine import constant_and_terms
from kinode.algebra.scalars import Scalar, is_number
from kinode.algebra.trace import replay
from kinode.errors import counted
from kinode.expressions.equation_parser import rate_name
from kinode.expressions.syntax_tree import Expression
from kinode.expressions.units import DIMENSIONS
from kinode.multibody.network_condensation import Condensed
from kinode.multibody.snapshot import Snapshot
from kinode.sheets.tables import Whole
from kinode.sheets.terms import SymbolStyle
from kinode.structure.network_blocks import Network, NetworkBlock, NetworkState
from kinode.structure.network_records import NetworkEquation, Order
from kinode.symbolic.explain_motion import ExplainedSystem
from kinode.symbolic.explanation import Item, Step

LARGEST_SUM = 1e-300  # of the flows at a node, below which they are all zero


class CircuitSteps:
    """The steps of a circuit, in the order of the methods; later ones use the symbols of earlier ones."""

    def __init__(self, explained: ExplainedSystem, plain: Snapshot) -> None:
        network = explained.topology.network
        assert network is not None
        self.network: Network = network
        self.explained, self.plain, self.sheet = explained, plain, explained.sheet

    def steps(self) -> list[Step]:
        """All of them."""
        nodes = [self.nodes()] if self.network.nodes else []
        check = [self.check()] if self.network.nodes else []
        return [self.components(), *nodes, self.equations(), self.structure(), *self.reduction(), *check]

    # -- topology ----------------------------------------------------------------------------------
    def components(self) -> Step:
        """The parts, and what their ports are connected to."""
        rows = []
        for name, part in self.network.parts.items():
            at = {port: self.network.rows.node_of[name, port].name for port in part.ports()}
            at |= {port: str(getattr(part, port)) for port in part.vector_ports}
            rows.append((name, part.kind, ", ".join(f"{port} {node}" for port, node in at.items())))
        words = "The circuit consists of components with ports. A flow is what acts on the component at its port."
        return Step("Components", words, table=(("component", "kind", "ports at nodes"), tuple(rows)))

    def nodes(self) -> Step:
        """The nodes with their potentials, and the laws of nodes."""
        rows, kinds = [], dict.fromkeys(node.domain for node in self.network.nodes.values())
        for node in self.network.nodes.values():
            domain, flows = node.domain, [self.network.rows.flow(*port) for port in node.ports]
            if node.reference:
                says = f"{domain.potential} = {domain.reference_value:g} {DIMENSIONS[domain.potential_unit].unit}"
            elif node.joint is not None:
                says = f"{' + '.join(flows)} = what the joint feels, with the other sign"
            else:
                says = f"{' + '.join(flows)} = 0"
            rows.append((node.name, node.kind, self._potential(node), Whole(says)))
        powers = [f"{d.potential} times {d.flow}" if d.product_is_power else f"{d.flow} itself" for d in kinds]
        pieces = _count_pieces(self.network)
        words = (
            "All ports at a node share its potential, and their flows sum to zero. "
            f"There {_are(len(self.network.nodes), 'node')}, in {counted(pieces, 'connected piece')}; "
            f"the power through a port is {', '.join(powers)}."
        )
        law = ("phi_1 = phi_2 = ...,   sum f = 0", r"\varphi_1 = \varphi_2 = \dots, \quad \sum f = 0")
        return Step("Laws of the nodes", words, law, table=(("node", "domain", "potential", "law"), tuple(rows)))

    def _potential(self, node: Any) -> str:
        if node.reference:
            return "reference"
        name = self.network.rows.potential(node)
        return f"der({name})" if node.domain.position and not node.quasi else name

    # -- equations ---------------------------------------------------------------------------------
    def equations(self) -> Step:
        """All equations before anything is differentiated."""
        texts = self._part_texts()
        rows = []
        for k, row in enumerate(self.network.rows.rows):
            text = Whole(texts.get((row.owner, row.name), equation_text(row)))
            rows.append((str(k + 1), row.owner, row.name, text))
        variables = self.network.variables
        joints = len(self.network.joint_of)
        known = f", beside {counted(joints, 'variable')} of joints" if joints else ""
        words = (
            f"Components and nodes say {counted(len(rows), 'equation')}, for {len(variables) - joints} unknowns"
            f"{known}: potentials of nodes, flows of ports, and what components have of their own."
        )
        return Step("Equations", words, table=(("row", "of", "name", "equation"), tuple(rows)))

    def _part_texts(self) -> dict[tuple[str, str], str]:
        """The equations of components as they were declared, in the names of the system."""
        expand, texts = self.network.rows.expand, {}
        for part in self.network.parts.values():
            for row in part.equations():
                left, right = (_text(expand(side)) for side in row.equation)
                texts[part.name, row.name] = f"{left} = {right}"
        return texts

    # -- structure ---------------------------------------------------------------------------------
    def structure(self) -> Step:
        """How often each equation is differentiated, and what it is solved for, in the order of solving."""
        rows, notes = [], [f"{note}." for note in self.network.reports]
        for stage, number, block in self._blocks():
            solved: dict[int, Any] = dict(self.network.pivots(stage, number))
            numbers = [self._number(row) for row in block.rows]
            for k, row in enumerate(block.rows):
                times = str(row.n_differentiations or "")
                rows.append((numbers[k], row.label, times, rate_name(*solved[k])))
            if len(numbers) > 1:
                notes.append(f"Rows {', '.join(numbers)} are solved together.")
        structure, states = self.network.structure, self.network.states
        named = ", ".join(f"{state.owner}.{state.name}" for state in states)
        words = (
            "The structure alone says how often a row is differentiated, and what it is solved for (Sigma method). "
            f"The index of the circuit is {structure.index}. "
            + (f"Its states are {named}." if states else "It has no states of its own.")
        )
        law = ("d_j - c_i >= sigma_ij,   equal on the matching",
               r"d_j - c_i \ge \sigma_{ij}, \quad \text{equal on the matching}")  # fmt: skip
        head = ("row", "equation", "d/dt", "solved for")
        return Step("Structure", words, law, table=(head, tuple(rows)), notes=tuple(notes))

    def _blocks(self) -> Iterator[tuple[int, int, NetworkBlock]]:
        for stage, blocks in enumerate(self.network.stages):
            for number, block in enumerate(blocks):
                yield stage, number, block

    def _number(self, row: NetworkEquation) -> str:
        """The number of an equation; of a differentiated one that of the one that it comes from."""
        for k, one in enumerate(self.network.rows.rows):
            if one.label == row.label:
                return str(k + 1)
        return ""

    # -- formulas and numbers ----------------------------------------------------------------------
    def reduction(self) -> list[Step]:
        """Each unknown by those before it, then the rates of the states and the efforts on joints."""
        snapshot = self.explained.snapshot
        condensed = snapshot.condensed
        assert condensed is not None
        solved: list[Item] = []
        written: _Written = _Written(condensed, lambda orders: solved.extend(self._define(written.values, orders)))
        written.solve()
        rates = [self._rate(written, state) for state in self.network.states]
        words = "Level by level the rows are solved, each unknown in the symbols of those before it."
        steps = [Step("Solve the rows", words, items=tuple(solved))] if solved else []
        if rates:
            words = "What is left is one equation for each state: its rate."
            steps.append(Step("Reduced equations", words, items=tuple(rates)))
        if self.network.flows_at:
            steps.append(self._efforts())
        return steps

    def _define(self, known: dict[Order, Scalar], orders: Sequence[Order]) -> list[Item]:
        """The items of some unknowns; those that do not depend on accelerations become symbols."""
        items = []
        for order in orders:
            value = known[order]
            affine = constant_and_terms(value)[1]
            number = self.explained.snapshot.network.number(value, rate_name(*order)) if affine else value
            item, (named,) = self.sheet.define(_stem(order), "", np.array([number], dtype=object), self._unit(order),
                                               parts=("",), named=not affine)  # fmt: skip
            if not affine:
                known[order] = named
            self.sheet.notation.styles[item.names[0]] = self._style(order)
            items.append(item)
        return items

    def _rate(self, written: Condensed, state: NetworkState) -> Item:
        """The rate of a state by the states alone, or by the symbols of the rows where that would be long."""
        order = (state.variable, state.order + 1)
        formula: Any = None
        for condensed in (self.explained.snapshot.condensed, written):
            assert condensed is not None
            value = self.explained.snapshot.network.number(condensed.value(order), rate_name(*order))
            formula = self.sheet.write(value) if formula is None else formula
        name = f"{state.owner}.{state.name}"
        index = next(c.index for c in self.explained.topology.coordinates if c.role == "z" and c.name == name)
        number = float(replay([value], self.sheet.numbers)[0])
        symbol = self.sheet.notation.names["z_dot", index]
        return Item(name, (symbol,), (formula,), (number,), (f"{DIMENSIONS[state.unit].unit}/s",))

    def _style(self, order: Order) -> SymbolStyle:
        """How an unknown is typeset: the letter of its domain, with its owner below."""
        variable = self.network.variables[order[0]]
        owner, _, word = variable.name.rpartition(".")
        letters = self.network.rows.domains[variable.kind].letters if variable.kind else {}
        return SymbolStyle(letters.get(word, word).replace("_", " "), min(order[1], 2), owner)

    def _unit(self, order: Order) -> str:
        unit = DIMENSIONS[self.network.variables[order[0]].unit].unit
        return unit if not order[1] else f"{unit}/s" if order[1] == 1 else f"{unit}/s^{order[1]}"

    def _efforts(self) -> Step:
        """What the circuit exerts on joints: tau_0 - J_a u_dot."""
        items = []
        for name in self.network.touched:
            joint = self.explained.system.joints[name]
            effort = self.explained.snapshot.network.effort_on(name)
            units = ["N*m" if unit == "angle" else "N" for _, unit in joint.coordinates]
            parts = [part for part, _ in joint.coordinates] if joint.n_u > 1 else ("",)
            items.append(self.sheet.show("circuit", name, effort, units, parts=parts))
        words = (
            "On joints the circuit acts by the flows there, with the other sign. "
            "What is in proportion to accelerations counts as inertia of the joint."
        )
        law = ("Q = tau_0 - J_a u_dot", r"Q = \tau_0 - J_a \dot{u}")
        return Step("Efforts on joints", words, law, tuple(items))

    # -- check -------------------------------------------------------------------------------------
    def check(self) -> Step:
        """The nodal laws and the sum of all powers, with the numbers of this state."""
        value, rows = self._value, []
        sums, powers, sizes = [0.0], 0.0, 0.0
        for node in self.network.nodes.values():
            flows = [value(*port, node.domain.flow) for port in node.ports]
            if not node.reference and node.joint is None:
                sums.append(abs(sum(flows)) / max(LARGEST_SUM, max(map(abs, flows), default=0.0)))
                for port, flow in zip(node.ports, flows, strict=True):
                    power = flow * value(*port, node.domain.potential) if node.domain.product_is_power else flow
                    powers, sizes = powers + power, sizes + abs(power)
        rows.append(("sum of flows at a node, relative to the largest", f"{max(sums):.1e}"))
        rows.append(("sum of potential times flow at all nodes, relative", f"{abs(powers) / (sizes or 1.0):.1e}"))
        words = "What nodes hand on they neither keep nor make: flows and powers sum to zero there (Tellegen)."
        return Step("Check of the nodes", words, table=(("law", "off by"), tuple(rows)))

    def _value(self, part: str, port: str, word: str) -> float:
        return float(self.plain.network.quantity(part, f"{port}.{word}"))


class _Written(Condensed):
    """A condensed network whose unknowns are handed to a function once they are solved."""

    def __init__(self, condensed: Condensed, define: Any) -> None:
        super().__init__(condensed.kinematics, condensed.scene, condensed.network)
        self._define = define

    def solve_block(self, stage: int, number: int) -> None:
        super().solve_block(stage, number)
        self._define(self.network.stages[stage][number].unknowns)


# -- text ------------------------------------------------------------------------------------------
def equation_text(row: NetworkEquation) -> str:
    """An equation from its coefficients: 20*wire.plus.current - supply.voltage = 0."""
    total: Any = 0.0
    for (name, order), x in row.terms.items():
        total = total + x * Expression("name", (rate_name(name, order),))
    return f"{_text(total + row.rest)} = 0"


def _text(value: Scalar) -> str:
    if is_number(value):
        return f"{float(value):g}"
    return value.text() if isinstance(value, Expression) else str(value)


def _stem(order: Order) -> str:
    return "_".join(["der"] * order[1] + [order[0].replace(".", "_")])


def _are(number: int, one: str) -> str:
    return f"{'is' if number == 1 else 'are'} {counted(number, one)}"


def _count_pieces(network: Network) -> int:
    """The number of pieces that are connected by components; all references and joints count as one node each."""
    at: Mapping[tuple[str, str], Any] = network.rows.node_of
    piece = {name: name for name in network.nodes}

    def root(name: str) -> str:
        while piece[name] != name:
            name = piece[name]
        return name

    for name, part in network.parts.items():
        joined = [at[name, port].name for port in part.ports()]
        for other in joined[1:]:
            piece[root(other)] = root(joined[0])
    return len({root(name) for name in network.nodes})
