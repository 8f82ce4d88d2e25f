"""The component circuit of a system, in the open: ``kn.circuit``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.model.base.fields import short
from kinode.model.circuit_topology import (
    INFORMATION,
    VECTOR,
    CircuitComponent,
    CircuitLink,
    CircuitNode,
    find_circuit_topology,
)
from kinode.model.system import System
from kinode.structure.network_equations import NetworkEquations
from kinode.structure.topology import find_topology
from kinode.symbolic.circuit_listing.circuit_analysis import CircuitAnalysis, IncidenceWriter, analyze, find_repeated
from kinode.symbolic.circuit_listing.circuit_variables import POTENTIAL, CircuitVariable, CircuitVariables, counts, scalar_names
from kinode.symbolic.circuit_listing.component_rows import ComponentRow, ComponentRows, nodal_rows
from kinode.symbolic.circuit_listing.network_rows import NetworkRows
from kinode.symbolic.circuit_listing.symbol_meanings import SymbolMeanings
from kinode.symbolic.formulas.formula_sheet import FormulaSheet, SheetSection
from kinode.symbolic.formulas.typefaces import PLAIN
from kinode.symbolic.formulas.typeset import written
from kinode.symbolic.formulas.vector_terms import Definition

BASES = ("body", "global")
DYNAMIC, KINEMATIC = "dynamic", "kinematic"


class CircuitEquation(NamedTuple):
    """An equation of the whole network, as it stands before anything is differentiated.

    Attributes
    ----------
    first, size : int
        Number of its first scalar equation, from 1, and how many it has.
    owner, name : str
        Component or node; what it says, in mechanical words.
    kind : str
        ``component`` or ``node``.
    formula : Definition
        Left and right side; prints by ``text``.
    differentiated : tuple of int
        How often the structural analysis differentiates each scalar; -1 where it only repeats others.
    solved_for : tuple of str
        The scalar variable that each is solved for.
    """

    first: int
    size: int
    owner: str
    name: str
    kind: str
    formula: Definition
    differentiated: tuple[int, ...]
    solved_for: tuple[str, ...]

    @property
    def numbers(self) -> str:
        """Its numbers: 7 or 7-9."""
        return str(self.first) if self.size == 1 else f"{self.first}-{self.first + self.size - 1}"

    def text(self) -> str:
        """The formula as text."""
        return f"{written(self.formula.left, PLAIN)} = {written(self.formula.right, PLAIN)}"


@dataclass(frozen=True, eq=False)
class Circuit:
    """The component circuit of a system; ``kn.circuit`` returns it.

    Attributes
    ----------
    components, nodes : dict
        By name; ``links`` are those of all components, ``branches`` those with a flow, in the order of their numbers.
    equations : tuple of CircuitEquation
        All equations of components and nodes.
    variables : dict of str to CircuitVariable
        All unknowns: potentials of nodes, flows of links, internal variables of components.
    index : int
        Structural index of the whole network.
    """

    system: System
    basis: str = "body"
    mode: str = DYNAMIC

    @cached_property
    def _topology(self) -> Any:
        return find_circuit_topology(self.system)

    @property
    def components(self) -> dict[str, CircuitComponent]:
        return dict(self._topology.components)

    @property
    def nodes(self) -> dict[str, CircuitNode]:
        return dict(self._topology.nodes)

    @property
    def links(self) -> tuple[CircuitLink, ...]:
        links: tuple[CircuitLink, ...] = self._topology.links
        return links

    @property
    def branches(self) -> tuple[CircuitLink, ...]:
        """The links that have a flow; the number of a branch is its place here, from 1."""
        return tuple(link for link in self.links if link.kind != INFORMATION)

    # -- equations ---------------------------------------------------------------------------------
    @cached_property
    def _network(self) -> NetworkEquations:
        return NetworkEquations(self.system)

    @cached_property
    def _variables(self) -> CircuitVariables:
        return CircuitVariables(self.system, self._topology, self._network, self.basis)

    @property
    def variables(self) -> dict[str, CircuitVariable]:
        return dict(self._variables.variables)

    @cached_property
    def meanings(self) -> SymbolMeanings:
        """What the symbols of the equations stand for."""
        return SymbolMeanings(self.system, self._topology, self._variables)

    @cached_property
    def rows(self) -> tuple[tuple[str, ComponentRow], ...]:
        """All rows with their kind, ``component`` or ``node``."""
        writer, network = ComponentRows(self.system, self._topology, self.basis), NetworkRows(self._network, self._topology)
        rows: list[tuple[str, ComponentRow]] = []
        for component in self.components.values():
            if component.role == "part":
                rows += [("component", row) for row in network.of(component.name)]
            elif component.role != "signal":
                rows += [("component", row) for row in writer.of(component)]
        rows += [("component", row) for row in network.speeds()]
        rows += [("node", row) for row in nodal_rows(self._topology)]
        return tuple(rows)

    @cached_property
    def analysis(self) -> CircuitAnalysis:
        """The structural analysis of all scalar equations."""
        writer = IncidenceWriter(self.meanings, self._variables.variables, {})
        entries = [entry for _, row in self.rows for entry in writer.entries(row)]
        return analyze(entries, self._variables.scalars(), *self._redundant)

    @cached_property
    def _redundant(self) -> tuple[list[int], list[str]]:
        """Scalar equations of loops that repeat others at the start, and the flows that they leave open.

        Structure does not show which rows of a plane loop are redundant; numbers do.  The rows of the joints that
        close loops come last, so that they are the ones set aside.
        """
        topology = find_topology(self.system)
        if not topology.cuts and not topology.constraints:
            return [], []
        positions = start_positions(self.system)
        writer = IncidenceWriter(self.meanings, self._variables.variables, positions)
        rates = {v.first - 1 + k for v in self.variables.values() if v.sort == POTENTIAL for k in range(v.size)}
        rates |= {v.first - 1 + k for v in self.variables.values() if ".com.velocity" in v.name for k in range(3)}
        speed_of = self._speeds_of_coordinates
        matrix, places, order, last, first = [], [], [], [], 0
        for _, row in self.rows:
            if row.dual:
                part = np.zeros((row.size, self._variables.count))
                for column, _, slopes in writer.slopes(row):
                    column = speed_of.get(column, column)
                    part[:, column] = slopes if column in rates else 0.0
                late = row.owner in topology.cut_names or row.owner in self.system.constraints
                (last if late else order).extend(range(len(places), len(places) + row.size))
                places += [(first + k, row, k) for k in range(row.size)]
                matrix.append(part)
            first += row.size
        repeated = [places[i] for i in find_repeated(np.vstack(matrix), [*order, *last])]
        return [i for i, _, _ in repeated], [self._dual(row, k) for _, row, k in repeated]

    @property
    def _speeds_of_coordinates(self) -> dict[int, int]:
        """Numbers of coordinates whose rates are speeds, and of these: a prescribed position is one of its rate too."""
        numbers = {}
        for name, joint in self.system.joints.items():
            if joint.quaternion is None and joint.n_q == joint.n_u:
                for k, link in enumerate(x for x in self.components[name].links if x.freedom is not None):
                    speed = self.variables[self._variables.speed(link)].first - 1
                    numbers[self.variables[f"{name}.q"].first - 1 + k] = speed
        return numbers

    def _dual(self, row: ComponentRow, k: int) -> str:
        """The scalar flow that belongs to the k-th scalar of a row of velocities."""
        name = row.dual + ("" if row.dual.endswith(".reaction") or row.size == 1 else self._variables.at)
        variable = self.variables[name]
        if row.dual.endswith(".reaction"):
            same = [other for _, other in self.rows if other.dual == row.dual]
            k = next(i for i, other in enumerate(same) if other is row)
        return scalar_names(self.system, variable)[k]

    @property
    def index(self) -> int:
        return self.analysis.index

    @cached_property
    def equations(self) -> tuple[CircuitEquation, ...]:
        equations, first, analysis = [], 0, self.analysis
        for kind, row in self.rows:
            part = slice(first, first + row.size)
            if self.mode == DYNAMIC or row.kinematic:
                equations.append(
                    CircuitEquation(
                        first + 1, row.size, row.owner, row.name, kind,
                        Definition(row.left, row.right, row.number, row.name),
                        analysis.differentiated[part], analysis.solved_for[part],
                    )
                )  # fmt: skip
            first += row.size
        return tuple(equations)

    @property
    def counts(self) -> dict[str, int]:
        """Scalar unknowns by sort, and scalar equations of components and nodes."""
        equations = {"component": 0, "node": 0}
        for kind, row in self.rows:
            equations[kind] += row.size
        return {**counts(self.variables), **{f"{kind} equations": n for kind, n in equations.items()}}


def start_positions(system: System) -> dict[tuple[str, int], Array]:
    """The coordinates of all joints at the assembled start."""
    from kinode.dynamics.compiled_system import Dynamics

    dynamics = Dynamics(system)
    names = [f"{name}.q" for name, joint in system.joints.items() if joint.n_u]
    state = dynamics.initial
    values = dynamics.evaluate(names, state.t, state.q, state.u, z=state.z)
    return {(name, 0): np.atleast_1d(np.asarray(values[name], dtype=float)) for name in names}


def circuit(system: System, basis: str = "body", mode: str = DYNAMIC) -> Circuit:
    """The component circuit of a system: its components, nodes and links, and the equations of the whole network.

    Parameters
    ----------
    system : System
        The system.
    basis : {"body", "global"}
        Vectors in the axes of the bodies (default), or all in world axes.
    mode : {"dynamic", "kinematic"}
        All equations (default), or those of the kinematic problem, in which vector links carry information only.

    Returns
    -------
    Circuit
        Prints as text; ``.components``, ``.nodes``, ``.links``, ``.incidence``, ``.equations``, ``.variables``,
        ``.index``, ``.evaluate(...)``, ``.scalar()``, ``.latex()``, ``.to_json()``.

    Examples
    --------
    >>> circuit = kn.circuit(kn.load("examples/pendulum.yaml"))
    >>> circuit.counts
    {'potential': 13, 'flow': 25, 'internal': 4, 'component equations': 29, 'node equations': 13}
    """
    if not isinstance(system, System):
        raise ArgumentError(f"circuit: a System is expected, not {short(system)}; kn.load reads one from a file")
    if basis not in BASES:
        raise ArgumentError(f"basis: {short(basis)} is none of {', '.join(BASES)}")
    if mode not in (DYNAMIC, KINEMATIC):
        raise ArgumentError(f"mode: {short(mode)} is none of {DYNAMIC}, {KINEMATIC}")
    return Circuit(system, basis, mode)
