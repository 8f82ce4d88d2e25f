"""Structural analysis of a circuit's equations: how often each is differentiated, and what it is solved for (T-7.12).

Exact derivatives at a random sample show which variables occur in an equation.  Equations of redundant loops, whose
rows of velocities only repeat others, are set aside together with the flows that they leave open.  The signed incidence
matrix says which branch leads from which node to which.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from kinode.algebra.scalars import Array, rate
from kinode.dynamics.compiled_system import Dynamics
from kinode.model.circuit_topology import INFORMATION, VECTOR, WORLD, CircuitLink, CircuitNode, CircuitTopology
from kinode.sheets.tables import Table
from kinode.sheets.terms import IndexedSymbol, symbols_of
from kinode.sheets.values import SymbolValues
from kinode.structure.sigma_method import StructuralAnalysis, find_structure
from kinode.structure.topology import find_topology
from kinode.symbolic.circuit.circuit_state import CircuitState
from kinode.symbolic.circuit.circuit_variables import POTENTIAL, CircuitVariable, Order, SymbolMeanings, scalar_names
from kinode.symbolic.circuit.component_rows import ComponentRow, NetworkRow

if TYPE_CHECKING:
    from kinode.multibody.snapshot import Snapshot
    from kinode.symbolic.circuit.whole_circuit import Circuit


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


def find_redundant(circuit: Circuit) -> tuple[list[int], list[str]]:
    """Scalar equations of loops that repeat others at the start, and the flows that they leave open.

    Structure does not show which rows of a plane loop are redundant; numbers do.  The rows of the joints that close
    loops come last, so that they are the ones set aside.
    """
    if not find_topology(circuit.system).cuts and not circuit.system.constraints:
        return [], []
    rows = _velocity_rows(circuit)
    repeated = [rows.places[i] for i in find_repeated(rows.matrix, rows.order)]
    return [i for i, _, _ in repeated], [_dual(circuit, row, k) for _, row, k in repeated]


def find_free_speeds(circuit: Circuit) -> tuple[list[int], list[str]]:
    """Scalar equations that repeat others, and the speeds of joints that no source, constraint or loop prescribes."""
    rows = _velocity_rows(circuit)
    speeds = [
        circuit.unknowns.speed(link)
        for name in circuit.system.joints
        for link in circuit.components[name].links
        if link.freedom is not None
    ]
    units = np.zeros((len(speeds), rows.matrix.shape[1]))
    for k, name in enumerate(speeds):
        units[k, rows.columns[circuit.unknowns.variables[name].first - 1]] = 1.0
    count = len(rows.order)
    repeated = find_repeated(np.vstack([rows.matrix, units]), [*rows.order, *range(count, count + len(speeds))])
    free = [name for k, name in enumerate(speeds) if count + k not in repeated]
    return [rows.places[i][0] for i in repeated if i < count], free


class _VelocityRows(NamedTuple):
    """Rows of velocities at the start: their matrix, the order in which they count, and where they stand.

    ``columns`` has the column of each scalar variable that is a rate; ``places`` for each row its number among all
    scalar equations, its equation and its number there.
    """

    matrix: Array
    order: list[int]
    places: list[tuple[int, ComponentRow, int]]
    columns: dict[int, int]


def _velocity_rows(circuit: Circuit) -> _VelocityRows:
    topology, variables = find_topology(circuit.system), circuit.unknowns.variables
    dynamics = Dynamics(circuit.system)
    snapshot = dynamics.snapshot(dynamics.initial)
    start = CircuitState(circuit, 0.0, {}, snapshot)
    writer = IncidenceWriter(circuit.meanings, variables, start_positions(snapshot), start.geometry)
    rates = [v for v in variables.values() if v.sort == POTENTIAL or ".com.velocity" in v.name]
    columns = {v.first - 1 + k: 0 for v in rates for k in range(v.size)}
    columns = {number: k for k, number in enumerate(columns)}
    speed_of = _speeds_of_coordinates(circuit)
    matrix: list[Array] = [np.zeros((0, len(columns)))]
    places: list[tuple[int, ComponentRow, int]] = []
    early: list[int] = []
    late: list[int] = []
    first = 0
    for _, row in circuit.rows:
        if row.dual:
            part = np.zeros((row.size, len(columns)))
            slopes = {number: slope for number, _, slope in writer.slopes(row)}
            if not any(number in columns for number in slopes):  # a prescribed position: its rate has the same slopes
                slopes = {speed_of[number]: slope for number, slope in slopes.items() if number in speed_of}
            for number in slopes.keys() & columns.keys():
                part[:, columns[number]] = slopes[number]
            closes = row.owner in topology.cut_names or row.owner in circuit.system.constraints
            (late if closes else early).extend(range(len(places), len(places) + row.size))
            places += [(first + k, row, k) for k in range(row.size)]
            matrix.append(part)
        first += row.size
    return _VelocityRows(np.vstack(matrix), [*early, *late], places, columns)


def _speeds_of_coordinates(circuit: Circuit) -> dict[int, int]:
    """Numbers of coordinates whose rates are speeds, and of these: a prescribed position is one of its rate too."""
    numbers = {}
    for name, joint in circuit.system.joints.items():
        if joint.quaternion is None and joint.n_q == joint.n_u:
            for k, link in enumerate(x for x in circuit.components[name].links if x.freedom is not None):
                speed = circuit.unknowns.variables[circuit.unknowns.speed(link)].first - 1
                numbers[circuit.unknowns.variables[f"{name}.q"].first - 1 + k] = speed
    return numbers


def _dual(circuit: Circuit, row: ComponentRow, k: int) -> str:
    """The scalar flow that belongs to the k-th scalar of a row of velocities."""
    multiplier = row.dual.endswith(".reaction")
    name = row.dual + ("" if multiplier or row.size == 1 else circuit.axes_suffix)
    if multiplier:
        same = [other for _, other in circuit.rows if other.dual == row.dual]
        k = next(i for i, other in enumerate(same) if other is row)
    return scalar_names(circuit.system, circuit.unknowns.variables[name])[k]


def start_positions(snapshot: Snapshot) -> dict[tuple[str, int], Array]:
    """The coordinates of all joints at an instant."""
    names = [f"{name}.q" for name, joint in snapshot.system.joints.items() if joint.n_u]
    return {(name, 0): np.atleast_1d(np.asarray(snapshot.quantity(name), dtype=float)) for name in names}


@dataclass(frozen=True, eq=False)
class Incidence:
    """Nodes by branches: 1 where a branch begins, -1 where it ends.

    A branch is a link of a component.  It begins at the link's node and ends at the reference of its kind: the world,
    ``gnd``.  A component through which its flow passes is one branch, from its first node to its second.  Every column
    has the sum zero or, if both ends are a reference, no entry.

    Attributes
    ----------
    matrix : csr_array
        The matrix, sparse, of integers.
    nodes, branches : tuple of str
        Names of rows and columns.
    """

    matrix: Any
    nodes: tuple[str, ...]
    branches: tuple[str, ...]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Head and rows of a table: one row for each branch, with its two ends."""
        columns = self.matrix.tocsc()
        rows = []
        for k, branch in enumerate(self.branches):
            entries = columns.indices[columns.indptr[k] : columns.indptr[k + 1]]
            signs = columns.data[columns.indptr[k] : columns.indptr[k + 1]]
            start = next((self.nodes[i] for i, sign in zip(entries, signs, strict=True) if sign > 0), "")
            end = next((self.nodes[i] for i, sign in zip(entries, signs, strict=True) if sign < 0), "")
            rows.append([str(k + 1), branch, start, end])
        return ["branch", "name", "from", "to"], rows

    def to_dataframe(self) -> Any:
        """The matrix as a table of pandas with names; needs pandas."""
        import pandas  # type: ignore[import-untyped]

        return pandas.DataFrame(self.matrix.toarray(), index=list(self.nodes), columns=list(self.branches))

    def __str__(self) -> str:
        """The matrix with names; a dot is a zero."""
        pairs = zip(self.nodes, self.matrix.toarray(), strict=True)
        rows = [[name, *("." if x == 0 else f"{x:+d}" for x in row)] for name, row in pairs]
        return "\n".join(Table(["", *self.branches], rows).lines())


def reference_of(link: CircuitLink) -> str:
    """The name of the reference node of a link's kind."""
    if link.kind == VECTOR:
        return WORLD
    return link.words.reference_node


def find_incidence(topology: CircuitTopology) -> Incidence:
    """The incidence matrix of a circuit."""
    names = [node.name for node in topology.nodes.values() if node.kind != INFORMATION]
    branches, entries = [], []
    for component in topology.components.values():
        links = [link for link in component.links if link.kind != INFORMATION]
        if component.through:
            branches.append(component.name)
            entries.append((links[0].node, links[1].node))
            links = links[2:]
        for link in links:
            branches.append(link.name)
            entries.append((link.node, reference_of(link)))
    nodes = list(dict.fromkeys([*names, *(end for pair in entries for end in pair)]))
    place = {name: k for k, name in enumerate(nodes)}
    rows, columns, signs = [], [], []
    for k, (start, end) in enumerate(entries):
        if start != end:
            rows += [place[start], place[end]]
            columns += [k, k]
            signs += [1, -1]
    matrix = csr_array((np.array(signs, dtype=int), (rows, columns)), shape=(len(nodes), len(branches)))
    return Incidence(matrix, tuple(nodes), tuple(branches))


def find_pieces(topology: CircuitTopology) -> list[list[str]]:
    """Names of the components of each piece that hangs together by links, without the references."""
    names = [name for name in topology.components if name != WORLD]
    nodes: Sequence[CircuitNode] = [node for node in topology.nodes.values() if not node.reference]
    place = {name: k for k, name in enumerate(names)}
    pairs = [
        (place[link.component], len(names) + k)
        for k, node in enumerate(nodes)
        for link in node.links
        if link.component in place
    ]
    rows, columns = np.array(pairs, dtype=int).reshape(-1, 2).T
    size = len(names) + len(nodes)
    graph = csr_array((np.ones(len(pairs)), (rows, columns)), shape=(size, size))
    _, labels = connected_components(graph, directed=False)
    pieces: dict[int, list[str]] = {}
    for name, label in zip(names, labels, strict=False):
        pieces.setdefault(int(label), []).append(name)
    return list(pieces.values())
