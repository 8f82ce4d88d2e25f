"""The component circuit of a system, in the open: ``kn.circuit``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from kinode.atomic_files import write_text
from kinode.errors import ArgumentError
from kinode.hooks import hook
from kinode.model.base.fields import short
from kinode.model.circuit_topology import (
    INFORMATION,
    VECTOR,
    WORLD,
    CircuitComponent,
    CircuitLink,
    CircuitNode,
    CircuitTopology,
    find_circuit_topology,
    is_outlet,
)
from kinode.model.system import System
from kinode.sheets.sheet import FormulaSheet, PrintedSheet, SheetSection
from kinode.sheets.terms import Definition, symbols_of
from kinode.sheets.typeset import PLAIN, written
from kinode.structure.network_equations import NetworkEquations
from kinode.structure.topology import find_topology
from kinode.symbolic.circuit.circuit_analysis import (
    CircuitAnalysis,
    Incidence,
    IncidenceWriter,
    analyze,
    analyze_motion,
    find_free_speeds,
    find_incidence,
    find_pieces,
    find_redundant,
)
from kinode.symbolic.circuit.circuit_sheet import ScalarCircuit, compose_sheet, to_data
from kinode.symbolic.circuit.circuit_state import CircuitState, evaluate_circuit
from kinode.symbolic.circuit.circuit_variables import CircuitVariable, CircuitVariables, SymbolMeanings, counts
from kinode.symbolic.circuit.component_rows import ComponentRow, ComponentRows, NetworkRows, nodal_rows

if TYPE_CHECKING:
    from kinode.kernels.state import State


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
class Circuit(PrintedSheet):
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
    formulation: ClassVar[str] = "circuit"
    shape: ClassVar[str] = "vectors"

    @cached_property
    def _topology(self) -> CircuitTopology:
        return find_circuit_topology(self.system)

    @property
    def components(self) -> dict[str, CircuitComponent]:
        return dict(self._topology.components)

    @property
    def nodes(self) -> dict[str, CircuitNode]:
        return dict(self._topology.nodes)

    @property
    def links(self) -> tuple[CircuitLink, ...]:
        return self._topology.links

    @property
    def branches(self) -> tuple[CircuitLink, ...]:
        """The links that have a flow; the number of a branch is its place here, from 1."""
        return tuple(link for link in self.links if link.kind != INFORMATION)

    @property
    def inner_branches(self) -> tuple[CircuitLink, ...]:
        """The branches whose powers sum to zero; what a reference node of heat gives or takes is left out."""
        return tuple(link for link in self.branches if not is_outlet(self.nodes[link.node], link))

    @cached_property
    def incidence(self) -> Incidence:
        """The signed incidence matrix of nodes and branches."""
        return find_incidence(self._topology)

    @property
    def pieces(self) -> list[list[str]]:
        """The components of each piece that hangs together by links."""
        return find_pieces(self._topology)

    @property
    def operating_space(self) -> Any:
        """The class of the operating space: which rotations and translations there are; None without bodies."""
        return hook("operating_space")(self.system) if self.system.bodies else None

    @cached_property
    def _led(self) -> set[str]:
        """Bodies whose motion is prescribed: joined to the world by fixed and driven joints alone."""
        led, grows = {WORLD}, True
        while grows:
            grows = False
            for joint in self.system.joints.values():
                ends = {joint.a.body, joint.b.body}
                if (joint.driven or not joint.n_u) and len(ends & led) == 1:
                    led |= ends
                    grows = True
        return led

    def mode_of(self, link: CircuitLink) -> str:
        """``kinematic`` where the motion at a link is prescribed, or information; else ``dynamic``."""
        if link.kind == INFORMATION or self.mode == KINEMATIC:
            return KINEMATIC
        if link.kind == VECTOR:
            body = link.frame.body if link.frame is not None else WORLD
            return KINEMATIC if body in self._led or body not in self.system.bodies else DYNAMIC
        on_joint = link.freedom is not None and self.system.joints[self._topology.at_joint(link).component].driven
        return KINEMATIC if on_joint else DYNAMIC

    # -- equations ---------------------------------------------------------------------------------
    @cached_property
    def _network(self) -> NetworkEquations:
        return NetworkEquations(self.system)

    @cached_property
    def unknowns(self) -> CircuitVariables:
        return CircuitVariables(self.system, self._topology, self._network, self.basis)

    @cached_property
    def variables(self) -> dict[str, CircuitVariable]:
        if self.mode == DYNAMIC:
            return dict(self.unknowns.variables)
        symbols = (x for _, _, row in self.shown for side in (row.left, row.right) for x in symbols_of(side))
        occurring = {name for symbol in dict.fromkeys(symbols) for name, _ in self.meanings.orders(symbol)}
        return {name: x for name, x in self.unknowns.variables.items() if name in occurring}

    @cached_property
    def meanings(self) -> SymbolMeanings:
        """What the symbols of the equations stand for."""
        return SymbolMeanings(self.system, self._topology, self.unknowns)

    @cached_property
    def network_rows(self) -> NetworkRows:
        """The rows of parts, and what their symbols stand for."""
        return NetworkRows(self._network, self._topology)

    @cached_property
    def rows(self) -> tuple[tuple[str, ComponentRow], ...]:
        """All rows with their kind, ``component`` or ``node``."""
        writer, network = ComponentRows(self.system, self._topology, self.basis), self.network_rows
        rows: list[tuple[str, ComponentRow]] = []
        for component in self.components.values():
            if component.role == "part":
                rows += [("component", row) for row in (*network.of(component.name), *writer.loads(component))]
            elif component.role != "signal":
                rows += [("component", row) for row in writer.of(component)]
        rows += [("component", row) for row in network.speeds()]
        rows += [("node", row) for row in nodal_rows(self._topology)]
        return tuple(rows)

    @property
    def shown(self) -> list[tuple[int, str, ComponentRow]]:
        """The rows of the circuit's mode, each with the number of its first scalar, from 0, and its kind."""
        rows, first = [], 0
        for kind, row in self.rows:
            rows += [(first, kind, row)] if self.mode == DYNAMIC or row.kinematic else []
            first += row.size
        return rows

    @cached_property
    def analysis(self) -> CircuitAnalysis:
        """The structural analysis of all scalar equations; in the kinematic problem of those without flows."""
        writer = IncidenceWriter(self.meanings, self.unknowns.variables, {})
        if self.mode == DYNAMIC:
            entries = [entry for _, row in self.rows for entry in writer.entries(row)]
            return analyze(entries, self.unknowns.scalars(), *find_redundant(self))
        entries = [{} for _, row in self.rows for _ in range(row.size)]
        for first, _, row in self.shown:
            entries[first : first + row.size] = writer.entries(row)
        return analyze_motion(entries, self, *find_free_speeds(self))

    @property
    def index(self) -> int:
        return self.analysis.index

    @cached_property
    def equations(self) -> tuple[CircuitEquation, ...]:
        equations, analysis = [], self.analysis
        for first, kind, row in self.shown:
            part = slice(first, first + row.size)
            equations.append(
                CircuitEquation(
                    first + 1, row.size, row.owner, row.name, kind,
                    Definition(row.left, row.right, row.number, row.name),
                    analysis.differentiated[part], analysis.solved_for[part],
                )
            )  # fmt: skip
        return tuple(equations)

    @property
    def axes_suffix(self) -> str:
        """What names of vectors end with: the axes that they are in, where these are the world's."""
        return self.unknowns.at

    def evaluate(self, state: State | None = None, *, inputs: Mapping[str, float] | None = None) -> CircuitState:
        """The solution vector V at a state, and how well every equation holds.

        Parameters
        ----------
        state : State, optional
            Default: the assembled start.  ``dynamics.state`` makes others; ``run.circuit.at(t)`` is that of a run.
        inputs : mapping, optional
            Values of inputs by name; default are the model's own.

        Returns
        -------
        CircuitState
            With ``V``, ``residuals``, ``power`` and ``tellegen``.

        Examples
        --------
        >>> now = kn.circuit(kn.load("examples/pendulum.yaml")).evaluate()
        >>> now["pivot.2.force"].round(4) + 0.0
        array([ 0.    , -2.4525,  0.    ])
        """
        return evaluate_circuit(self, state, inputs)

    def scalar(self) -> ScalarCircuit:
        """The same circuit with its vector links taken apart into scalar ones.

        Returns
        -------
        ScalarCircuit
            With ``links`` and ``equations``; prints as text, ``.latex()``, ``.mathml()``.
        """
        return ScalarCircuit(self)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The whole circuit as JSON, written to a file if a path is given.

        Returns
        -------
        str
        """
        text = json.dumps(to_data(self), indent=1, ensure_ascii=False)
        if path is not None:
            write_text(path, text)
        return text

    def python(self, module: str = "math") -> str:
        """Refused: a circuit is a set of equations to be solved, not a function."""
        raise ArgumentError("a circuit is no function that could be written as code; formulation recursive is one")

    def c(self) -> str:
        """Refused, as ``python``."""
        return self.python()

    @cached_property
    def _sheet(self) -> FormulaSheet:
        return compose_sheet(self)

    def _repr_html_(self) -> str:
        return self.mathml()

    def __getitem__(self, title: str) -> SheetSection:
        """The section of the listing with that title: ``circuit["Nodal laws"]``."""
        return self._sheet[title]

    def __repr__(self) -> str:
        c = self.counts
        return f"<Circuit of {self.system.name!r}: {len(self.components)} components, {len(self.nodes)} nodes, {c}>"

    @property
    def counts(self) -> dict[str, int]:
        """Scalar unknowns by sort, and scalar equations of components and nodes."""
        equations = {"component": 0, "node": 0}
        for _, kind, row in self.shown:
            equations[kind] += row.size
        return {**counts(self.variables), **{f"{kind} equations": n for kind, n in equations.items()}}


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
    find_topology(system)  # refuses what hangs nowhere
    return Circuit(system, basis, mode)
