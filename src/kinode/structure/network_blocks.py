"""The analyzed network of a system: its states and blocks of equations, for formulations, results and views.

Sample values for the names in equations find singular systems that structure alone does not show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.affine import Affine, NonlinearError
from kinode.algebra.elimination import Pivots, SingularError, choose_pivots
from kinode.algebra.scalars import Array, Scalar
from kinode.errors import ModelError
from kinode.expressions.equation_parser import rate_name
from kinode.expressions.syntax_tree import Expression, symbol
from kinode.model.base.fields import Value
from kinode.model.network.nodes import Node
from kinode.model.network.part import Part, PartInitialValue
from kinode.model.system import System
from kinode.structure import network_errors
from kinode.structure.network_equations import NetworkEquations
from kinode.structure.network_records import (
    ExpressionOrNumber,
    NetworkEquation,
    Order,
    UnknownRate,
    Variable,
    single_order,
)

if TYPE_CHECKING:
    from kinode.structure.sigma_method import StructuralAnalysis  # which needs parts of SciPy that take time to import


LARGEST_VALUE = 1e12  # of a formula at a sample: beyond, it is taken as undefined


@dataclass
class SampleValues:
    """Generic numbers for names, the same in every run; ``shift`` selects one of several samples."""

    system: System
    values: dict[str, float] = field(default_factory=dict)
    shift: int = 0

    def __call__(self, value: ExpressionOrNumber) -> float:
        """A formula at the sample; a generic number where it is undefined or beyond 1e12."""
        if not isinstance(value, Expression):
            return float(value)
        try:
            result = float(value.evaluate(self.lookup, self.call))
        except (ArithmeticError, ValueError, ModelError):
            result = float("nan")
        return result if abs(result) < LARGEST_VALUE else self.lookup(value.text())

    def lookup(self, name: str) -> float:
        """The value of a name: that of a parameter, one of a mode's values, or a generic number."""
        number = self.values.get(name)
        if number is None:
            parameters = self.system.parameter_values()
            modes = self._modes(name)
            if modes:  # the same for all components in the first samples, then mixed
                index = self.shift if self.shift < len(modes) else int(10 * self._number(name))
                number = modes[index % len(modes)]
            else:
                number = parameters[name] if name in parameters else self._number(name)
            self.values[name] = number
        return number

    def _modes(self, name: str) -> list[float]:
        """The values that a mode can have; none for other names."""
        owner, _, mode = name.rpartition(".")
        part = self.system.components.get(owner)
        if not isinstance(part, Part) or mode not in part.modes:
            return []
        roots = [root for root in part.event_functions if root.mode == mode]
        return sorted({value for root in roots for value in (root.value, root.then)})

    def _number(self, name: str) -> float:
        """Between 0.5 and 1.5, by the letters of the name."""
        seed = sum((k + 1 + self.shift) * ord(letter) for k, letter in enumerate(name))
        return 0.5 + (seed * 0.618033988749895) % 1.0

    def call(self, table: str, args: tuple[Scalar, ...], axes: tuple[int, ...] = ()) -> Scalar:
        """The value of a table; NonlinearError where an argument is an unknown."""
        if any(isinstance(arg, Affine) for arg in args):
            raise NonlinearError("a table", *args)
        return self.system.callable_tables[table].call(args, axes)

    def coefficient(self, equation: NetworkEquation, name: str, order: int) -> float:
        """The partial derivative of an equation by a derivative of a variable.

        An indirect dependence counts as a generic number, since its expression is not in the network.
        """
        coefficient = self(equation.terms.get((name, order), 0.0))
        if isinstance(equation.rest, Expression) and (name, order) in equation.rest_orders:
            wanted = rate_name(name, order)
            coefficient += self(equation.rest.derivative(wanted)) if wanted in equation.rest.names() else 0.0
        if (name, order) in equation.indirect:
            coefficient += -0.3 * self._number(f"{equation.label} {name}")
        return coefficient


PIVOT_SAMPLES = 5  # sample values at which the order of elimination is chosen


@dataclass(frozen=True)
class NetworkState:
    """An entry of z: the state ``owner.name`` is derivative ``order`` of a variable."""

    owner: str
    name: str
    unit: str
    variable: str
    order: int


@dataclass(frozen=True)
class NetworkBlock:
    """Equations that are solved together, and their unknowns."""

    rows: tuple[NetworkEquation, ...]
    unknowns: tuple[Order, ...]


@dataclass(eq=False)
class Network:
    """The network of a system: equations, structure, states, and blocks in the order of solving (``stages``)."""

    system: System
    rows: NetworkEquations = field(repr=False)
    structure: StructuralAnalysis = field(repr=False)
    states: tuple[NetworkState, ...]
    stages: tuple[tuple[NetworkBlock, ...], ...] = field(repr=False)
    differentiated: tuple[tuple[NetworkEquation, int], ...]
    _formulas: dict[tuple[str, str], ExpressionOrNumber] = field(default_factory=dict, repr=False)
    _energies: dict[str, dict[str, ExpressionOrNumber]] = field(default_factory=dict, repr=False)
    _stored_rates: dict[str, ExpressionOrNumber] = field(default_factory=dict, repr=False)
    _pivots: dict[tuple[int, int], Pivots] = field(default_factory=dict, repr=False)

    @property
    def parts(self) -> dict[str, Part]:
        return self.rows.parts

    @property
    def nodes(self) -> dict[str, Node]:
        return self.rows.nodes

    @property
    def variables(self) -> Mapping[str, Variable]:
        return self.rows.variables

    @property
    def joint_of(self) -> Mapping[str, tuple[str, int]]:
        """The joint coordinates that occur in equations, by variable: joint and number of its freedom."""
        return self.rows.joint_of

    @property
    def flows_at(self) -> Mapping[str, tuple[str, ...]]:
        """The flows of the ports at joints, by variable; they act on the joint with the opposite sign."""
        return self.rows.flows_at

    @cached_property
    def touched(self) -> frozenset[str]:
        """The joints that components of the network act on."""
        return frozenset(self.joint_of[name][0] for name in self.flows_at)

    @cached_property
    def heavy(self) -> frozenset[str]:
        """The joints to which the network may add inertia: flows there depend on accelerations of joints."""
        dependent: set[Order] = {self.rows.acceleration_of(name) for name in self.joint_of}
        for block in self.stages[-1]:
            if any(dependent.intersection((*equation.terms, *equation.rest_orders)) for equation in block.rows):
                dependent |= set(block.unknowns)
        joints = (name for name, flows in self.flows_at.items() if any((flow, 0) in dependent for flow in flows))
        return frozenset(self.joint_of[name][0] for name in joints)

    @cached_property
    def states_of(self) -> dict[str, tuple[tuple[str, str], ...]]:
        """Names and units of the states of each component or node."""
        states: dict[str, tuple[tuple[str, str], ...]] = {}
        for state in self.states:
            states[state.owner] = (*states.get(state.owner, ()), (state.name, state.unit))
        return states

    @cached_property
    def starts(self) -> tuple[PartInitialValue, ...]:
        """Initial values of components, with their quantities in variables of the network."""
        return tuple(
            start._replace(quantity=self.rows.expand(start.quantity))
            for part in self.parts.values()
            for start in part.initial_values()
        )

    def initial_values(self, owner: str) -> list[Value]:
        """Initial values of the states of a component or node: given by a field, else those at rest."""
        given = {single_order(start.quantity): start.value for start in self.starts}
        own = (state for state in self.states if state.owner == owner)
        return [given.get((s.variable, s.order), self._default(s)) for s in own]

    def _default(self, state: NetworkState) -> float:
        """The initial value of a state that none is given for: a potential begins with that of its reference."""
        node = self.nodes.get(state.owner)
        return 0.0 if node is None or state.order else node.domain.reference_of(state.name)

    def formula(self, owner: str, quantity: str) -> ExpressionOrNumber:
        """A quantity of a component or node in variables of the network."""
        if (owner, quantity) not in self._formulas:
            self._formulas[owner, quantity] = self.rows.expand(symbol(f"{owner}.{quantity}"))
        return self._formulas[owner, quantity]

    def energies(self, part: Part) -> dict[str, ExpressionOrNumber]:
        """The stored energy of a component, by kind of energy, in variables."""
        if part.name not in self._energies:
            texts = part.energies()
            self._energies[part.name] = {kind: self.rows.expand(part.formula(text)) for kind, text in texts.items()}
        return self._energies[part.name]

    def stored_rate(self, part: str) -> ExpressionOrNumber:
        """The time derivative of the energy that a component stores, in variables and their derivatives."""
        if part not in self._stored_rates:
            try:
                self._stored_rates[part] = self.rows.rate(self.formula(part, "stored"))
            except UnknownRate as error:
                message = f"the rate of {error}, by which it stores energy, is not known"
                raise ModelError(message, component=part, field="stored") from None
        return self._stored_rates[part]

    def pivots(self, stage: int, number: int) -> Pivots:
        """The order of elimination in a block, chosen once at sample values."""
        if (stage, number) not in self._pivots:
            block = self.stages[stage][number]
            trivial: Pivots = [(0, block.unknowns[0])]
            self._pivots[stage, number] = self._choose_pivots(block) if len(block.rows) > 1 else trivial
        return self._pivots[stage, number]

    def _choose_pivots(self, block: NetworkBlock) -> Pivots:
        samples = [SampleValues(self.system, shift=k) for k in range(PIVOT_SAMPLES)]
        wanted = set(block.unknowns)
        rows: list[dict[Any, Array]] = []
        for equation in block.rows:
            orders = [order for order in dict.fromkeys((*equation.terms, *equation.rest_orders)) if order in wanted]
            rows.append({order: np.array([s.coefficient(equation, *order) for s in samples]) for order in orders})
        try:
            return choose_pivots(rows, block.unknowns)
        except SingularError as error:
            dependent = [block.rows[i] for i in error.rows]
            raise network_errors.explain_singular(self.rows, dependent, error.unknowns) from None

    @cached_property
    def reports(self) -> tuple[str, ...]:
        """Notes on energy storages that are no states: what determines them instead."""
        notes = []
        origins: dict[Order, dict[str, None]] = {
            (s.variable, s.order): {f"{s.owner}.{s.name}": None} for s in self.states
        }
        for block in (block for stage in self.stages[:-1] for block in stage):
            owners: dict[str, None] = dict.fromkeys(e.owner for e in block.rows if e.owner in self.parts)
            for order in (order for e in block.rows for order in (*e.terms, *e.rest_orders)):
                joint = self.joint_of.get(order[0])
                owners |= origins.get(order, {}) if joint is None else {joint[0]: None}
            origins |= dict.fromkeys(block.unknowns, owners)
            for name, derivative in block.unknowns:
                variable = self.variables[name]
                node = self.nodes.get(variable.owner)
                if variable.sort == "unknown" or (node is not None and node.domain.position and derivative < 2):
                    quantity = name if node is None or not derivative else f"{node.name}.{node.domain.potential}"
                    others = [owner for owner in owners if owner != variable.owner]
                    notes.append(network_errors.describe_dependent(quantity, others))
        return tuple(notes)
