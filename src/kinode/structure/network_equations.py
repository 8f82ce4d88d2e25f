"""The equations of a network: component equations and nodal laws in the variables of the network (T-7.13).

Ports at a node share its potential, so that potentials are variables of nodes: ``bus.voltage``, ``shaft.angle``,
``slide.position``.  Speeds are the time derivatives of angles and positions.  The variable of a joint's node is the
joint coordinate, ``elbow.q``; that of a quasi-velocity is the speed itself, ``ball.u.x``, with its integral beside it.
The potential of a reference is that of its domain, mostly zero.  Flows are variables of ports (``coil.plus.current``),
and components have unknowns of their own (``coil.flux``).

Expressions are expanded until they contain only variables, parameters, inputs, t, and quantities from outside of the
network (``hand.position.x``, ``pid.output``).

Equations are records of ``network_records.py``: coefficients of variables, and a rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import NoReturn

from kinode.algebra.affine import Affine, NonlinearError, constant_and_terms
from kinode.algebra.scalars import Scalar, is_zero
from kinode.errors import LawError
from kinode.expressions.definitions import order_by_need
from kinode.expressions.equation_parser import find_rate, rate_name, split_rate, substitute
from kinode.expressions.syntax_tree import Expression, symbol
from kinode.model.base.fields import Component
from kinode.model.network.domain import domain_of_coordinate
from kinode.model.network.nodes import Node, find_nodes
from kinode.model.network.part import Part
from kinode.model.quantities import find_quantity, link_quantity, split_owner
from kinode.model.system import System
from kinode.structure.network_records import (
    INTEGRAL,
    SPEED,
    ExpressionOrNumber,
    NetworkEquation,
    Order,
    UnknownRate,
    Variable,
    coordinate_name,
    has_rates,
)


class NetworkEquations:
    """Variables and equations of a system's network."""

    def __init__(self, system: System) -> None:
        self.system, self.domains = system, system.all_domains
        self.parts: dict[str, Part] = system.parts
        self.nodes: dict[str, Node] = find_nodes(system)
        self.node_of = {port: node for node in self.nodes.values() for port in node.ports}
        self.variables: dict[str, Variable] = {}
        self._meanings: dict[str, ExpressionOrNumber | None] = {}
        self._finding: list[str] = []  # stack of the names whose meaning is being found, to detect cycles
        self._indirect: dict[str, frozenset[Order]] = {}
        self.joint_of: dict[str, tuple[str, int]] = {}  # joint variable -> joint, number of its freedom
        self.flows_at: dict[str, tuple[str, ...]] = {}  # joint variable -> flows of the ports there
        self._add_variables()
        self.rows = [*self._part_equations(), *self._node_equations(), *self._integral_equations()]
        self.rows += self._speed_equations(self.rows)

    # -- variables ---------------------------------------------------------------------------------
    def _add_variables(self) -> None:
        """The variables of nodes, of ports and of components, in this order."""
        for node in self.nodes.values():
            if not node.reference:
                name = self.potential(node)
                if node.joint is None:
                    quantity = node.domain.position or node.domain.potential
                    self._add(name, "potential", node.name, node.kind, node.domain.units[quantity])
                else:
                    self.joint_variable(name, node.joint, node.coordinate or 0)
                    if node.quasi:
                        self._add(_integral(node), "potential", node.name, node.kind, node.domain.position_unit or "")
                    self.flows_at[name] = tuple(self.flow(*port) for port in node.ports)
        for part in self.parts.values():
            for port, domain in part.ports().items():
                self._add(self.flow(part.name, port), "flow", part.name, domain.kind, domain.units[domain.flow])
            for name, unknown in part.all_unknowns().items():
                self._add(f"{part.name}.{name}", "unknown", part.name, "", unknown.unit)

    def _add(self, name: str, sort: str, owner: str, kind: str, unit: str) -> None:
        self.variables[name] = Variable(name, sort, owner, kind, unit)

    def potential(self, node: Node) -> str:
        """The name of a node's variable."""
        if node.joint is None:
            return f"{node.name}.{node.domain.position or node.domain.potential}"
        return coordinate_name(self.system.joints[node.joint], node.coordinate or 0)

    def flow(self, part: str, port: str) -> str:
        """The name of the flow into a component at a port."""
        return f"{part}.{port}.{self.parts[part].ports()[port].flow}"

    def joint_variable(self, name: str, joint: str, coordinate: int) -> ExpressionOrNumber:
        """The coordinate of a joint as a variable; the mechanism determines it."""
        if name not in self.variables:
            unit = self.system.joints[joint].coordinates[coordinate][1]
            domain, quasi = domain_of_coordinate(unit), not has_rates(self.system.joints[joint])
            self._add(name, "joint", joint, domain.kind, domain.potential_unit if quasi else unit)
            self.joint_of[name] = (joint, coordinate)
        return symbol(name)

    def speed_order(self, name: str) -> int:
        """Which derivative of a joint variable is its speed: the first, or none where it is a quasi-velocity."""
        return 1 if has_rates(self.system.joints[self.joint_of[name][0]]) else 0

    def acceleration_of(self, name: str) -> Order:
        """The derivative of a joint variable that is the acceleration, which the mechanism determines."""
        return name, self.speed_order(name) + 1

    # -- names -------------------------------------------------------------------------------------
    @cached_property
    def _signals(self) -> dict[str, ExpressionOrNumber]:
        """The laws of the signals."""
        return {name: signal.law for name, signal in self.system.signals.items()}

    def expand(self, value: ExpressionOrNumber) -> ExpressionOrNumber:
        """A formula in variables, parameters, inputs, t and quantities from outside of the network."""
        if not isinstance(value, Expression):
            return value
        meanings = {}
        names = {split_rate(name)[0] for name in value.names()}
        for name in order_by_need(self._signals, names, known=self._meanings):
            if name not in self._finding:
                self.meaning(name)  # the innermost first: a chain of signals may be long
        for base in sorted(names):
            meaning = self.meaning(base)
            if meaning is not None:
                meanings[base] = meaning
        return self._with_known_rates(substitute(value, meanings))

    def _with_known_rates(self, value: ExpressionOrNumber) -> ExpressionOrNumber:
        """A formula with known time derivatives put in: zero for constants, one for t, velocities for positions."""
        if not isinstance(value, Expression):
            return value
        rates: dict[str, ExpressionOrNumber] = {}
        for name in value.names():
            base, order = split_rate(name)
            if order and (base in self.system.parameters or self.is_discrete(base)):
                rates[name] = 0.0
            elif order and base == "t":
                rates[name] = 1.0 if order == 1 else 0.0
            elif order and (speed := self._speed_of(base)) is not None:
                rates[name] = symbol(rate_name(speed, order - 1))
        with_rates: ExpressionOrNumber = value.substitute(rates) if rates else value
        return with_rates

    def _speed_of(self, name: str) -> str | None:
        """The velocity that belongs to the position of a frame in the world; None for any other quantity."""
        vector, _, axis = name.rpartition(".")
        owner, _, quantity = vector.rpartition(".")
        if quantity != "position" or name in self.variables or find_quantity(self.system, name).frame is None:
            return None
        return f"{owner}.velocity.{axis}"

    def rate(self, value: ExpressionOrNumber) -> ExpressionOrNumber:
        """The time derivative of a formula; UnknownRate where it needs that of a quantity from outside."""
        rate = self._with_known_rates(find_rate(value))
        if isinstance(rate, Expression):
            for name in sorted(rate.names()):
                base, order = split_rate(name)
                if order and base not in self.variables:
                    raise UnknownRate(base)
        return rate

    def meaning(self, name: str) -> ExpressionOrNumber | None:
        """The formula that a name stands for; None where it stands for itself."""
        if name not in self._meanings:
            if name in self._finding:
                self._refuse_cycle((*self._finding[self._finding.index(name) :], name))
            self._finding.append(name)
            try:
                self._meanings[name] = self._find_meaning(name)
            finally:
                self._finding.pop()
        return self._meanings[name]

    def _refuse_cycle(self, names: tuple[str, ...]) -> NoReturn:
        """Refuse an expression that defines a quantity by itself: ``moment="1 + 0.5*source.moment"``."""
        part = self._part_of(names[0])
        message = f"depends on itself: {' -> '.join(names)}"
        if part is None:
            raise LawError(message, component=names[0])
        raise LawError(message, component=part.name, field=names[0][len(part.name) + 1 :])

    def _find_meaning(self, name: str) -> ExpressionOrNumber | None:
        if name in self.variables or self.is_plain(name) or "@" in name:
            return None
        system = self.system
        if name in system.signals:
            return self.expand(system.signals[name].law)
        head, _, word = name.rpartition(".")
        node = self.nodes.get(head)
        if node is not None and node.joint is None and not node.reference and word == node.domain.potential:
            return symbol(rate_name(self.potential(node)))
        part = self._part_of(name)
        if part is not None:
            return self._part_meaning(part, name[len(part.name) + 1 :])
        return self._joint_meaning(name)

    def _part_of(self, name: str) -> Part | None:
        words = name.split(".")
        for count in range(len(words) - 1, 0, -1):
            part = self.parts.get(".".join(words[:count]))
            if part is not None:
                return part
        return None

    def _part_meaning(self, part: Part, quantity: str) -> ExpressionOrNumber | None:
        if quantity in part.modes:
            return None
        port, _, word = quantity.rpartition(".")
        node = self.node_of.get((part.name, port))
        if node is not None and word in (node.domain.position, node.domain.potential):
            if node.reference:
                return node.domain.reference_of(word)
            if node.quasi:
                return symbol(_integral(node) if word == node.domain.position else self.potential(node))
            value = symbol(self.potential(node))
            return find_rate(value) if node.domain.position and word == node.domain.potential else value
        return self.expand(part.quantity_formula(quantity))

    def _joint_meaning(self, name: str) -> ExpressionOrNumber | None:
        """The variable of a joint coordinate, or its rate for a speed; None where speeds are no such rates."""
        owner, rest = split_owner(self.system, name, name)
        joint = self.system.joints.get(owner)
        role, _, part = (rest if joint is None else link_quantity(joint, rest)).partition(".")
        if joint is None or role not in ("q", "u") or not has_rates(joint):
            return None
        names = [coordinate for coordinate, _ in joint.coordinates]
        if (part or len(names) > 1) and part not in names:
            return None
        index = names.index(part) if part else 0
        variable = coordinate_name(joint, index)
        coordinate = self.joint_variable(variable, owner, index)
        if name == variable:  # it stands for itself
            return None
        return find_rate(coordinate) if role == "u" else coordinate

    def is_plain(self, name: str) -> bool:
        """Whether a name is the time, a parameter or an input."""
        return name == "t" or name in self.system.parameters or name in self.system.inputs

    def is_discrete(self, name: str) -> bool:
        """Whether it is a discrete state: the mode of a switch, the output of a sampled controller."""
        return "." in name and name not in self.variables and find_quantity(self.system, name).needs == "events"

    def indirect_variables(self, name: str) -> frozenset[Order]:
        """The variables that a quantity from outside depends on, by the expressions of its component."""
        if name not in self._indirect:
            self._indirect[name] = frozenset()
            plain = self.is_plain(name) or "@" in name or self.is_discrete(name)
            owner = None if plain else self.system.components.get(split_owner(self.system, name, name)[0])
            variables: set[Order] = set()
            for _, expression in owner.expressions() if isinstance(owner, Component) else ():
                variables |= self.variables_of(self.expand(expression))
            self._indirect[name] = frozenset(variables)
        return self._indirect[name]

    def variables_of(self, value: ExpressionOrNumber) -> frozenset[Order]:
        """Variables and orders that a formula depends on, directly or indirectly."""
        variables: set[Order] = set()
        for name in value.names() if isinstance(value, Expression) else ():
            base, order = split_rate(name)
            if base in self.variables:
                variables.add((base, order))
            else:
                variables |= self.indirect_variables(base)
        return frozenset(variables)

    # -- equations ---------------------------------------------------------------------------------
    def make(self, name: str, owner: str, value: ExpressionOrNumber, solves: str | None = None) -> NetworkEquation:
        """The equation formula = 0."""
        value = self.expand(value)
        terms, rest = self._split(value)
        indirect = frozenset().union(*(self._indirect_in(part) for part in (rest, *terms.values())))
        return NetworkEquation(name, owner, terms, rest, indirect, 0, solves)

    def _indirect_in(self, value: ExpressionOrNumber) -> frozenset[Order]:
        """The variables that a formula depends on indirectly."""
        names = {split_rate(name)[0] for name in value.names()} if isinstance(value, Expression) else set()
        return frozenset().union(*(self.indirect_variables(name) for name in names if name not in self.variables))

    def _split(self, value: ExpressionOrNumber) -> tuple[dict[Order, Scalar], ExpressionOrNumber]:
        """Coefficients of the variables, and the rest; all is rest where a formula is not affine."""
        if not isinstance(value, Expression):
            return {}, value

        def lookup(name: str) -> Scalar:
            order = split_rate(name)
            return Affine.unknown(order) if order[0] in self.variables else symbol(name)

        def call(table: str, args: tuple[Scalar, ...], axes: tuple[int, ...] = ()) -> Scalar:
            if any(isinstance(arg, Affine) for arg in args):
                raise NonlinearError("a table", *args)
            return Expression("call_derivative", (table, axes, *args)) if axes else Expression("call", (table, *args))

        try:
            constant, terms = constant_and_terms(value.evaluate(lookup, call))
        except NonlinearError:
            return {}, value
        return {order: x for order, x in terms.items() if isinstance(order, tuple)}, constant

    def differentiate(self, equation: NetworkEquation) -> NetworkEquation:
        """The time derivative of an equation."""
        terms: dict[Order, Scalar] = {}

        def add(order: Order, x: Scalar) -> None:
            terms[order] = terms[order] + x if order in terms else x

        for (name, order), x in equation.terms.items():
            add((name, order + 1), x)
            change = self.rate(x)
            if not is_zero(change):
                add((name, order), change)
        if equation.indirect:
            raise UnknownRate(self._first_indirect(equation))
        terms = {order: x for order, x in terms.items() if not is_zero(x)}
        return NetworkEquation(
            equation.name,
            equation.owner,
            terms,
            self.rate(equation.rest),
            frozenset(),
            equation.n_differentiations + 1,
            equation.solves,
        )

    def _first_indirect(self, equation: NetworkEquation) -> str:
        """The first quantity from outside in an equation that depends on variables."""
        for value in (equation.rest, *equation.terms.values()):
            for name in sorted(value.names()) if isinstance(value, Expression) else ():
                base, _ = split_rate(name)
                if base not in self.variables and self.indirect_variables(base):
                    return base
        return equation.owner

    def _part_equations(self) -> Iterable[NetworkEquation]:
        for part in self.parts.values():
            for equation in part.equations():
                yield self.make(equation.name, part.name, equation.equation.residual, equation.solves)

    def _node_equations(self) -> Iterable[NetworkEquation]:
        """The flows into the components at a node sum to zero; at a joint the sum acts on the joint."""
        for node in self.nodes.values():
            if not node.reference and node.joint is None:
                terms: dict[Order, Scalar] = {(self.flow(*port), 0): 1.0 for port in node.ports}
                yield NetworkEquation(f"sum of {node.domain.flow}s", node.name, terms, 0.0)

    def _integral_equations(self) -> Iterable[NetworkEquation]:
        """The angle or position at a quasi-velocity is its integral, a state of its own."""
        for node in self.nodes.values():
            if node.quasi:
                terms: dict[Order, Scalar] = {(_integral(node), 1): 1.0, (self.potential(node), 0): -1.0}
                yield NetworkEquation(INTEGRAL, node.name, terms, 0.0)

    def _speed_equations(self, equations: Iterable[NetworkEquation]) -> Iterable[NetworkEquation]:
        """A speed variable for every shaft whose speed occurs in no equation: its power needs one."""
        moving = {name for equation in equations for name, order in equation.orders(self.variables).items() if order}
        for node in self.nodes.values():
            name = self.potential(node) if not node.reference else ""
            if node.domain.position and node.joint is None and not node.reference and name not in moving:
                speed = f"{node.name}.{node.domain.potential}"
                self._add(speed, "potential", node.name, node.kind, node.domain.units[node.domain.potential])
                yield NetworkEquation(SPEED, node.name, {(speed, 0): 1.0, (name, 1): -1.0}, 0.0)


def _integral(node: Node) -> str:
    """The name of the variable that integrates a quasi-velocity."""
    return f"{node.name}.{node.domain.position}"
