"""The network of a system's parts as a record: what formulations, results and views start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.elimination import Pivots, SingularError, choose_pivots
from kinode.algebra.scalars import Array
from kinode.errors import ModelError
from kinode.expressions.equation_parser import split_rate
from kinode.expressions.syntax_tree import Expression, symbol
from kinode.model.base.fields import Value
from kinode.model.network.nodes import Node
from kinode.model.network.part import Part, Start
from kinode.model.system import System
from kinode.structure import network_errors
from kinode.structure.network_equations import (
    ExpressionOrNumber,
    NetworkEquation,
    NetworkEquations,
    Order,
    UnknownRate,
    Variable,
)
from kinode.structure.sample_values import SampleValues

if TYPE_CHECKING:
    from kinode.structure.sigma_method import StructuralAnalysis  # which needs parts of SciPy that take time to import

PIVOT_SAMPLES = 5


@dataclass(frozen=True)
class NetworkState:
    """An entry of z: ``owner.name`` is derivative ``order`` of a variable."""

    owner: str
    name: str
    unit: str
    variable: str
    order: int


@dataclass(frozen=True)
class NetworkBlock:
    """Rows to be solved together, and for what."""

    rows: tuple[NetworkEquation, ...]
    unknowns: tuple[Order, ...]


@dataclass(eq=False)
class Network:
    """What the formulations start from where a system has parts."""

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
        """The coordinates of joints that occur, by variable: joint and number of its freedom."""
        return self.rows.joint_of

    @property
    def flows_at(self) -> Mapping[str, tuple[str, ...]]:
        """The flows of the ports at joints, by variable; with the opposite sign they act on the joint."""
        return self.rows.flows_at

    @cached_property
    def touched(self) -> frozenset[str]:
        """The joints that parts act on."""
        return frozenset(self.joint_of[name][0] for name in self.flows_at)

    @cached_property
    def heavy(self) -> frozenset[str]:
        """The joints to which parts may add inertia: what acts on them depends on accelerations of joints."""
        moved: set[Order] = {(name, 2) for name in self.joint_of}
        for block in self.stages[-1]:
            if any(moved.intersection((*row.terms, *row.rest_orders)) for row in block.rows):
                moved |= set(block.unknowns)
        touched = (name for name, flows in self.flows_at.items() if any((flow, 0) in moved for flow in flows))
        return frozenset(self.joint_of[name][0] for name in touched)

    @cached_property
    def states_of(self) -> dict[str, tuple[tuple[str, str], ...]]:
        """Names and units of the states of each part or node."""
        found: dict[str, tuple[tuple[str, str], ...]] = {}
        for state in self.states:
            found[state.owner] = (*found.get(state.owner, ()), (state.name, state.unit))
        return found

    @cached_property
    def starts(self) -> tuple[Start, ...]:
        """Initial values of parts, their quantities in the variables of the network."""
        return tuple(
            start._replace(quantity=self.rows.expand(start.quantity))
            for part in self.parts.values()
            for start in part.initial_values()
        )

    def initial_values(self, owner: str) -> list[Value]:
        """What the states of a part or a node are at the start by the fields that are just about them, else zero."""
        given = {single_order(start.quantity): start.value for start in self.starts}
        return [given.get((s.variable, s.order), 0.0) for s in self.states if s.owner == owner]

    def formula(self, owner: str, quantity: str) -> ExpressionOrNumber:
        """A quantity of a part or a node in variables."""
        if (owner, quantity) not in self._formulas:
            self._formulas[owner, quantity] = self.rows.expand(symbol(f"{owner}.{quantity}"))
        return self._formulas[owner, quantity]

    def energies(self, part: Part) -> dict[str, ExpressionOrNumber]:
        """What a part stores by kind of energy, in variables."""
        if part.name not in self._energies:
            texts = part.energies()
            self._energies[part.name] = {kind: self.rows.expand(part.formula(text)) for kind, text in texts.items()}
        return self._energies[part.name]

    def stored_rate(self, part: str) -> ExpressionOrNumber:
        """The rate of the energy that a part stores, in variables and their rates."""
        if part not in self._stored_rates:
            try:
                self._stored_rates[part] = self.rows.rate(self.formula(part, "stored"))
            except UnknownRate as error:
                message = f"the rate of {error}, by which it stores energy, is not known"
                raise ModelError(message, component=part, field="stored") from None
        return self._stored_rates[part]

    def pivots(self, stage: int, number: int) -> Pivots:
        """The order of elimination in a block: chosen once, at sample values."""
        if (stage, number) not in self._pivots:
            block = self.stages[stage][number]
            trivial: Pivots = [(0, block.unknowns[0])]
            self._pivots[stage, number] = self._choose_pivots(block) if len(block.rows) > 1 else trivial
        return self._pivots[stage, number]

    def _choose_pivots(self, block: NetworkBlock) -> Pivots:
        samples = [SampleValues(self.system, shift=k) for k in range(PIVOT_SAMPLES)]
        wanted = set(block.unknowns)
        rows: list[dict[Any, Array]] = []
        for row in block.rows:
            orders = [order for order in dict.fromkeys((*row.terms, *row.rest_orders)) if order in wanted]
            rows.append({order: np.array([s.coefficient(row, *order) for s in samples]) for order in orders})
        try:
            return choose_pivots(rows, block.unknowns)
        except SingularError as error:
            wrong = [block.rows[i] for i in error.rows]
            raise network_errors.explain_singular(self.rows, wrong, error.unknowns) from None

    @cached_property
    def reports(self) -> tuple[str, ...]:
        """What one should know of it, in words: which storages are no states, and whose they are instead."""
        found = []
        origins: dict[Order, dict[str, None]] = {
            (s.variable, s.order): {f"{s.owner}.{s.name}": None} for s in self.states
        }
        for block in (block for stage in self.stages[:-1] for block in stage):
            owners: dict[str, None] = dict.fromkeys(row.owner for row in block.rows if row.owner in self.parts)
            for key in (key for row in block.rows for key in (*row.terms, *row.rest_orders)):
                joint = self.joint_of.get(key[0])
                owners |= origins.get(key, {}) if joint is None else {joint[0]: None}
            origins |= dict.fromkeys(block.unknowns, owners)
            for name, order in block.unknowns:
                variable = self.variables[name]
                node = self.nodes.get(variable.owner)
                if variable.sort == "unknown" or (node is not None and node.domain.position and order < 2):
                    said = name if node is None or not order else f"{node.name}.{node.domain.potential}"
                    found.append(network_errors.tell_dependent(said, [o for o in owners if o != variable.owner]))
        return tuple(found)


def single_order(value: ExpressionOrNumber) -> Order | None:
    """The variable, and its order, that a formula is; None where it is something else."""
    return split_rate(value.args[0]) if isinstance(value, Expression) and value.op == "name" else None
