"""Structural analysis of a circuit's equations: how often each is differentiated, and what it is solved for (T-7.12).

Exact derivatives at a random sample show which variables occur in an equation.  Equations of redundant loops, whose
rows repeat each other, are set aside together with the flows that they leave open.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array, rate
from kinode.structure.sigma_method import StructuralAnalysis, find_structure
from kinode.symbolic.circuit_listing.circuit_variables import CircuitVariable
from kinode.symbolic.circuit_listing.component_rows import ComponentRow
from kinode.symbolic.circuit_listing.network_rows import NetworkRow
from kinode.symbolic.circuit_listing.symbol_meanings import Order, SymbolMeanings
from kinode.symbolic.formulas.term_values import SymbolValues
from kinode.symbolic.formulas.vector_terms import IndexedSymbol, symbols_of

if TYPE_CHECKING:
    from kinode.symbolic.circuit_listing.whole_circuit import Circuit

VANISHING = 1e-9  # an exact derivative below this is a rounding error of zero
DEPENDENT = 1e-8  # of its length: what is left of a row that depends on others
REPEATED = -1


@dataclass(frozen=True)
class CircuitAnalysis:
    """Offsets and matching of scalar equations.

    Attributes
    ----------
    differentiated : tuple of int
        For each scalar equation how often it is differentiated; -1 for one that only repeats others.
    solved_for : tuple of str
        The scalar variable that it is matched with; empty for one that only repeats others.
    index : int
        Structural index.
    open_variables : tuple of str
        Scalar variables that the equations leave open: flows of redundant loops; in the kinematic problem speeds that
        nothing prescribes.
    """

    differentiated: tuple[int, ...]
    solved_for: tuple[str, ...]
    index: int
    open_variables: tuple[str, ...]
    structure: StructuralAnalysis


class IncidenceWriter:
    """Which scalar variables occur in which scalar equations, with the highest order of their derivatives."""

    def __init__(
        self, meanings: SymbolMeanings, variables: Mapping[str, CircuitVariable], known: Mapping[Order, Array],
        geometry: Callable[[IndexedSymbol], Any] = lambda symbol: None,
    ) -> None:  # fmt: skip
        self.meanings, self.variables = meanings, variables
        self.rng = np.random.default_rng(11)
        self.samples: dict[Order, Array] = dict(known)
        self.others: dict[IndexedSymbol, Any] = {}
        self.geometry = geometry

    def entries(self, row: ComponentRow) -> list[dict[int, int]]:
        """For each scalar of a row: number of a variable -> order."""
        if isinstance(row, NetworkRow) and row.equation is not None:
            return [self._of_network(row)]
        rows: list[dict[int, int]] = [{} for _ in range(row.size)]
        for column, order, slopes in self.slopes(row):
            for i, slope in enumerate(slopes):
                if abs(slope) > VANISHING:
                    rows[i][column] = max(order, rows[i].get(column, 0))
        return rows

    def slopes(self, row: ComponentRow) -> Iterator[tuple[int, int, Array]]:
        """For each scalar variable in a row its number, its order, and the derivatives of the row's scalars by it."""
        symbols = [x for side in (row.left, row.right) for x in symbols_of(side)]
        orders = list(dict.fromkeys(order for symbol in symbols for order in self.meanings.orders(symbol)))
        ends = np.cumsum([len(self._sample(order)) for order in orders])
        x = np.concatenate([self._sample(order) for order in orders]) if orders else np.empty(0)

        def residual(x: Array) -> Array:
            values = dict(zip(orders, np.split(x, ends[:-1]), strict=True))
            evaluate = SymbolValues(self.meanings.given(values, self._other))
            return np.atleast_1d(evaluate(row.left) - evaluate(row.right))

        places = [
            (self.variables[name].first - 1 + k, order)
            for name, order in orders
            for k in range(self.variables[name].size)
        ]
        for unit, (column, order) in zip(np.eye(len(x)), places, strict=True):
            yield column, order, np.asarray(rate(residual, x, unit), dtype=float)

    def _sample(self, order: Order) -> Array:
        if order not in self.samples:
            size = self.variables[order[0]].size
            self.samples[order] = self.rng.uniform(0.3, 1.0, size)
        return self.samples[order]

    def _other(self, symbol: IndexedSymbol) -> Any:
        """A value for a symbol that is no variable: of the geometry where that is given, else a random one."""
        if symbol not in self.others:
            value = self.geometry(symbol)
            rank = symbol.family.rank
            self.others[symbol] = self.rng.uniform(0.3, 1.0, (3,) * rank) if value is None else value
        return self.others[symbol]

    def _of_network(self, row: NetworkRow) -> dict[int, int]:
        """The incidence that the analysis of networks has; joint coordinates are split into q and speeds."""
        meanings, network = self.meanings, self.meanings.variables.network
        assert row.equation is not None
        entries: dict[int, int] = {}

        def add(name: str, entry: int, order: int) -> None:
            column = self.variables[name].first - 1 + entry
            entries[column] = max(order, entries.get(column, 0))

        for name, order in row.equation.orders(network.variables).items():
            if name in network.joint_of:
                joint, k = network.joint_of[name]
                link = next(x for x in meanings.topology.components[joint].links if x.freedom == k)
                below = network.speed_order(name)  # the variable is a coordinate, or a quasi-velocity
                add(f"{joint}.q", k, 0) if order < below else add(meanings.variables.speed(link), 0, order - below)
            elif network.variables[name].sort == "flow":
                add(self.flow_of(name), 0, order)
            else:
                add(name, 0, order)
        return entries

    def flow_of(self, name: str) -> str:
        """The flow of a link that a network knows by the name of its port."""
        component, port, word = name.rsplit(".", 2)
        links = self.meanings.topology.components[component].links
        link = next(x for x in links if x.port == port)
        return f"{link.name}.{word}"


def analyze(
    entries: Sequence[Mapping[int, int]], names: Sequence[str], repeated: Collection[int] = (),
    open_variables: Collection[str] = (),
) -> CircuitAnalysis:  # fmt: skip
    """The structural analysis of scalar equations; those that only repeat others are set aside, with open flows."""
    kept = [i for i in range(len(entries)) if i not in repeated]
    used = [j for j, name in enumerate(names) if name not in open_variables]
    place = {column: k for k, column in enumerate(used)}
    rows = [{place[c]: order for c, order in entries[k].items() if c in place} for k in kept]
    structure = find_structure(rows, len(used))
    differentiated, solved_for = [REPEATED] * len(entries), [""] * len(entries)
    for row, k in enumerate(kept):
        differentiated[k] = structure.c[row]
        solved_for[k] = names[used[structure.matching[row]]]
    return CircuitAnalysis(tuple(differentiated), tuple(solved_for), structure.index, tuple(open_variables), structure)


def analyze_motion(
    entries: Sequence[Mapping[int, int]], circuit: Circuit, repeated: Collection[int], free: Collection[str]
) -> CircuitAnalysis:
    """The structural analysis of the kinematic problem, in which speeds that nothing prescribes are given."""
    numbers = {v.first - 1 + k for v in circuit.variables.values() for k in range(v.size)}
    names = circuit.unknowns.scalars()
    absent = [name for j, name in enumerate(names) if j not in numbers]
    others = {i for i, entry in enumerate(entries) if not entry}
    return replace(analyze(entries, names, {*repeated, *others}, {*absent, *free}), open_variables=tuple(free))


def find_repeated(rows: Array, order: Sequence[int]) -> list[int]:
    """The rows of a matrix that depend on rows before them in the given order."""
    basis = np.zeros((min(len(order), rows.shape[1]), rows.shape[1]))
    rank, repeated = 0, []
    for i in order:
        size, rest = np.linalg.norm(rows[i]), rows[i]
        for _ in range(2):  # twice is enough for rounding
            rest = rest - (basis[:rank] @ rest) @ basis[:rank]
        left = np.linalg.norm(rest)
        if left <= DEPENDENT * size or rank == len(basis):
            repeated.append(i)
        else:
            basis[rank] = rest / left
            rank += 1
    return repeated
