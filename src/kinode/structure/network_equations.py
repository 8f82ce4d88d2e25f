"""The rows of a network: what parts say and what nodes demand, in as few variables as there are (T-7.13).

Ports that meet at a node share its potential, so that potentials are variables of nodes: ``bus.voltage``,
``shaft.angle``, ``slide.position``, whose rates are the speeds.  A joint's node has the joint's own coordinate,
``elbow.q``, and the references stand for zero.  Flows are variables of ports (``coil.plus.current``) and unknowns of
parts (``coil.flux``).  Laws are written out until they hold nothing but variables, parameters, inputs, t, and what
others decide (``hand.position.x``, ``pid.output``), which stays as it is.

A row is kept as coefficients of the variables and their rates, as far as it is affine in them, and a rest:

    sum of coefficient * derivative k of variable + rest = 0
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from kinode.algebra.affine import Affine, NonlinearError, constant_and_terms
from kinode.algebra.scalars import Scalar, is_zero
from kinode.errors import LawError
from kinode.expressions.equation_parser import find_rate, rate_name, split_rate, substitute
from kinode.expressions.syntax_tree import Expression, symbol
from kinode.model.base.fields import Component
from kinode.model.joints.joint import Joint
from kinode.model.network.nodes import Node, find_nodes, find_parts
from kinode.model.network.part import Part
from kinode.model.quantity_names import find_quantity, link_quantity, split_owner
from kinode.model.system import System

Order = tuple[str, int]  # a variable and the order of its derivative
ExpressionOrNumber = Expression | float
REFERENCE_VALUE = 0.0


@dataclass(frozen=True)
class Variable:
    """A quantity that rows are solved for; ``sort`` is potential, flow, unknown or joint."""

    name: str
    sort: str
    owner: str  # node, part or joint
    kind: str  # of the node: electrical, rotational, translational; empty for unknowns
    unit: str


@dataclass(frozen=True)
class NetworkEquation:
    """One equation; ``owner`` is a part or a node, ``through`` the variables that the rest depends on by others."""

    name: str
    owner: str
    terms: Mapping[Order, Scalar]
    rest: ExpressionOrNumber
    through: frozenset[Order] = frozenset()
    times: int = 0  # it was differentiated
    solves: str | None = None

    @cached_property
    def rest_orders(self) -> frozenset[Order]:
        """Variables and orders in the rest, those of what it uses included."""
        names = self.rest.names() if isinstance(self.rest, Expression) else ()
        return frozenset(split_rate(name) for name in names) | self.through

    def orders(self, variables: Mapping[str, Any]) -> dict[str, int]:
        """The highest order at which each variable occurs."""
        found: dict[str, int] = {}
        for name, order in (*self.terms, *self.rest_orders):
            if name in variables and order >= found.get(name, 0):
                found[name] = order
        return found

    @property
    def said(self) -> str:
        """Its name in messages."""
        return f"{self.name} of {self.owner}"


class NetworkEquations:
    """Variables and rows of a system's network."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.parts: dict[str, Part] = find_parts(system)
        self.nodes: dict[str, Node] = find_nodes(system)
        self.node_of = {port: node for node in self.nodes.values() for port in node.ports}
        self.variables: dict[str, Variable] = {}
        self._meanings: dict[str, ExpressionOrNumber | None] = {}
        self._finding: list[str] = []  # names whose meaning is being found, each for the one before it
        self._through: dict[str, frozenset[Order]] = {}
        self.joint_of: dict[str, tuple[str, int]] = {}  # joint variable -> joint, number of its freedom
        self.flows_at: dict[str, tuple[str, ...]] = {}  # joint variable -> flows of the ports there
        self._place_variables()
        self.rows = [*self._part_rows(), *self._node_rows()]
        self.rows += self._speed_rows(self.rows)

    # -- variables ---------------------------------------------------------------------------------
    def _place_variables(self) -> None:
        for node in self.nodes.values():
            if not node.reference:
                name = self.potential(node)
                if node.joint is None:
                    word = node.domain.position or node.domain.potential
                    self._add(name, "potential", node.name, node.kind, node.domain.units[word])
                else:
                    self.joint_variable(name, node.joint, node.coordinate or 0)
                    self.flows_at[name] = tuple(self.flow(*port) for port in node.ports)
        for part in self.parts.values():
            for port, kind in part.ports().items():
                self._add(self.flow(part.name, port), "flow", part.name, kind.kind, kind.units[kind.flow])
            for name, one in part.all_unknowns().items():
                self._add(f"{part.name}.{name}", "unknown", part.name, "", one.unit)

    def _add(self, name: str, sort: str, owner: str, kind: str, unit: str) -> None:
        self.variables[name] = Variable(name, sort, owner, kind, unit)

    def potential(self, node: Node) -> str:
        """The variable of a node."""
        if node.joint is None:
            return f"{node.name}.{node.domain.position or node.domain.potential}"
        return coordinate_name(self.system.joints[node.joint], node.coordinate or 0)

    def flow(self, part: str, port: str) -> str:
        """The variable of what flows into a part at a port."""
        return f"{part}.{port}.{self.parts[part].ports()[port].flow}"

    def joint_variable(self, name: str, joint: str, coordinate: int) -> ExpressionOrNumber:
        """The coordinate of a joint as a variable, which the motion decides."""
        if name not in self.variables:
            unit = self.system.joints[joint].coordinates[coordinate][1]
            self._add(name, "joint", joint, "rotational" if unit == "angle" else "translational", unit)
            self.joint_of[name] = (joint, coordinate)
        return symbol(name)

    # -- names -------------------------------------------------------------------------------------
    def expand(self, value: ExpressionOrNumber) -> ExpressionOrNumber:
        """A formula in variables, parameters, inputs, t and what others decide."""
        if not isinstance(value, Expression):
            return value
        put = {}
        for name in value.names():
            base, _ = split_rate(name)
            meaning = self.meaning(base)
            if meaning is not None:
                put[base] = meaning
        return self._settled(substitute(value, put))

    def _settled(self, value: ExpressionOrNumber) -> ExpressionOrNumber:
        """Without the rates of what does not change."""
        if not isinstance(value, Expression):
            return value
        still: dict[str, ExpressionOrNumber] = {}
        for name in value.names():
            base, order = split_rate(name)
            if order and (base in self.system.parameters or self.is_held(base)):
                still[name] = 0.0
            elif order and base == "t":
                still[name] = 1.0 if order == 1 else 0.0
            elif order and (speed := self._speed_of(base)) is not None:
                still[name] = symbol(rate_name(speed, order - 1))
        found: ExpressionOrNumber = value.substitute(still) if still else value
        return found

    def _speed_of(self, name: str) -> str | None:
        """The rate of a place of a body in the world, which the motion knows; None for anything else."""
        place, _, part = name.rpartition(".")
        owner, _, quantity = place.rpartition(".")
        if quantity != "position" or name in self.variables or find_quantity(self.system, name).sort != "frame":
            return None
        return f"{owner}.velocity.{part}"

    def rate(self, value: ExpressionOrNumber) -> ExpressionOrNumber:
        """The rate of a formula; of what others decide it is not known."""
        found = self._settled(find_rate(value))
        if isinstance(found, Expression):
            for name in sorted(found.names()):
                base, order = split_rate(name)
                if order and base not in self.variables:
                    raise UnknownRate(base)
        return found

    def meaning(self, name: str) -> ExpressionOrNumber | None:
        """What a name stands for; None where it stands for itself."""
        if name not in self._meanings:
            if name in self._finding:
                self._refuse_circle((*self._finding[self._finding.index(name) :], name))
            self._finding.append(name)
            try:
                self._meanings[name] = self._find_meaning(name)
            finally:
                self._finding.pop()
        return self._meanings[name]

    def _refuse_circle(self, names: tuple[str, ...]) -> NoReturn:
        """Laws of parts that give a quantity by itself: ``moment="1 + 0.5*source.moment"``."""
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
            found = self.parts.get(".".join(words[:count]))
            if found is not None:
                return found
        return None

    def _part_meaning(self, part: Part, quantity: str) -> ExpressionOrNumber | None:
        if quantity in part.modes:
            return None
        port, _, word = quantity.rpartition(".")
        node = self.node_of.get((part.name, port))
        if node is not None and word in (node.domain.position, node.domain.potential):
            value: ExpressionOrNumber = REFERENCE_VALUE if node.reference else symbol(self.potential(node))
            return find_rate(value) if node.domain.position and word == node.domain.potential else value
        return self.expand(part.quantity_formula(quantity))

    def _joint_meaning(self, name: str) -> ExpressionOrNumber | None:
        """Coordinates and speeds of joints are variables, where speeds are rates of coordinates."""
        owner, rest = split_owner(self.system, name, name)
        joint = self.system.joints.get(owner)
        role, _, part = (rest if joint is None else link_quantity(joint, rest)).partition(".")
        if joint is None or role not in ("q", "u") or not has_rates(joint):
            return None
        names = [coordinate for coordinate, _ in joint.coordinates]
        if (part or len(names) > 1) and part not in names:
            return None
        at = names.index(part) if part else 0
        variable = coordinate_name(joint, at)
        if name == variable:  # itself, once it is a variable
            self.joint_variable(variable, owner, at)
            return None
        found = self.joint_variable(variable, owner, at)
        return find_rate(found) if role == "u" else found

    def is_plain(self, name: str) -> bool:
        """Whether a name is that of a number from outside."""
        return name == "t" or name in self.system.parameters or name in self.system.inputs

    def is_held(self, name: str) -> bool:
        """Whether only events change it: the mode of a switch, the output of a sampled controller."""
        return "." in name and name not in self.variables and find_quantity(self.system, name).sort == "held"

    def through(self, name: str) -> frozenset[Order]:
        """The variables that something of others depends on by its laws."""
        if name not in self._through:
            self._through[name] = frozenset()
            plain = self.is_plain(name) or "@" in name or self.is_held(name)
            owner = None if plain else self.system.components.get(split_owner(self.system, name, name)[0])
            found: set[Order] = set()
            for _, law in owner.expressions() if isinstance(owner, Component) else ():
                found |= self.variables_of(self.expand(law))
            self._through[name] = frozenset(found)
        return self._through[name]

    def variables_of(self, value: ExpressionOrNumber) -> frozenset[Order]:
        """Variables and orders that a formula depends on, by others too."""
        found: set[Order] = set()
        for name in value.names() if isinstance(value, Expression) else ():
            base, order = split_rate(name)
            if base in self.variables:
                found.add((base, order))
            else:
                found |= self.through(base)
        return frozenset(found)

    # -- rows --------------------------------------------------------------------------------------
    def make(self, name: str, owner: str, value: ExpressionOrNumber, solves: str | None = None) -> NetworkEquation:
        """The row in which a formula vanishes."""
        value = self.expand(value)
        terms, rest = self._split(value)
        through = frozenset().union(*(self._others(part) for part in (rest, *terms.values())))
        return NetworkEquation(name, owner, terms, rest, through, 0, solves)

    def _others(self, value: ExpressionOrNumber) -> frozenset[Order]:
        names = {split_rate(name)[0] for name in value.names()} if isinstance(value, Expression) else set()
        return frozenset().union(*(self.through(name) for name in names if name not in self.variables))

    def _split(self, value: ExpressionOrNumber) -> tuple[dict[Order, Scalar], ExpressionOrNumber]:
        """Coefficients of the variables, and the rest; all is rest where a row is not affine."""
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

    def differentiate(self, row: NetworkEquation) -> NetworkEquation:
        """The rate of a row."""
        terms: dict[Order, Scalar] = {}

        def add(order: Order, x: Scalar) -> None:
            terms[order] = terms[order] + x if order in terms else x

        for (name, order), x in row.terms.items():
            add((name, order + 1), x)
            change = self.rate(x)
            if not is_zero(change):
                add((name, order), change)
        if row.through:
            raise UnknownRate(self._first_other(row))
        terms = {order: x for order, x in terms.items() if not is_zero(x)}
        return NetworkEquation(row.name, row.owner, terms, self.rate(row.rest), frozenset(), row.times + 1, row.solves)

    def _first_other(self, row: NetworkEquation) -> str:
        for value in (row.rest, *row.terms.values()):
            for name in sorted(value.names()) if isinstance(value, Expression) else ():
                if split_rate(name)[0] not in self.variables and self.through(split_rate(name)[0]):
                    return split_rate(name)[0]
        return row.owner

    def _part_rows(self) -> Iterable[NetworkEquation]:
        for part in self.parts.values():
            for equation in part.equations():
                yield self.make(equation.name, part.name, equation.equation.residual, equation.solves)

    def _node_rows(self) -> Iterable[NetworkEquation]:
        """Flows into the parts at a node sum to zero; at a joint the joint takes what is left."""
        for node in self.nodes.values():
            if not node.reference and node.joint is None:
                terms: dict[Order, Scalar] = {(self.flow(*port), 0): 1.0 for port in node.ports}
                yield NetworkEquation(f"sum of {node.domain.flow}s", node.name, terms, 0.0)

    def _speed_rows(self, rows: Iterable[NetworkEquation]) -> Iterable[NetworkEquation]:
        """A shaft that nothing asks for its speed has one all the same: what passes through it is power."""
        moving = {name for row in rows for name, order in row.orders(self.variables).items() if order}
        for node in self.nodes.values():
            name = self.potential(node) if not node.reference else ""
            if node.domain.position and node.joint is None and not node.reference and name not in moving:
                speed = f"{node.name}.{node.domain.potential}"
                self._add(speed, "potential", node.name, node.kind, node.domain.units[node.domain.potential])
                yield NetworkEquation("speed", node.name, {(speed, 0): 1.0, (name, 1): -1.0}, 0.0)


class UnknownRate(Exception):
    """A row has to be differentiated and holds something whose rate is not known: its name."""


def has_rates(joint: Joint) -> bool:
    """Whether a joint's speeds are the rates of its coordinates."""
    return joint.quaternion is None and joint.n_q == joint.n_u and joint.n_u > 0


def coordinate_name(joint: Joint, coordinate: int) -> str:
    """The name of one coordinate of a joint."""
    names = [name for name, _ in joint.coordinates]
    return f"{joint.name}.q" if len(names) == 1 else f"{joint.name}.q.{names[coordinate]}"
