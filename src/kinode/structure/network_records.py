"""Variables and single equations of a network, as records.

An equation is stored as coefficients of the variables and their derivatives, as far as it is affine, and a rest:

    sum of coefficient * derivative k of variable + rest = 0
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kinode.algebra.scalars import Scalar
from kinode.expressions.equation_parser import split_rate
from kinode.expressions.syntax_tree import Expression
from kinode.model.joints.joint import Joint

Order = tuple[str, int]  # a variable and the order of its derivative
ExpressionOrNumber = Expression | float
SPEED, INTEGRAL = "speed", "integral of the speed"  # names of equations of nodes


@dataclass(frozen=True)
class Variable:
    """A quantity that the equations are solved for; ``sort`` is potential, flow, unknown or joint."""

    name: str
    sort: str
    owner: str  # node, part or joint
    kind: str  # of the node, the name of its domain; empty for unknowns
    unit: str


@dataclass(frozen=True)
class NetworkEquation:
    """One equation of a component or a node."""

    name: str
    owner: str  # component or node
    terms: Mapping[Order, Scalar]  # coefficients of the variables and their derivatives
    rest: ExpressionOrNumber
    indirect: frozenset[Order] = frozenset()  # variables that it depends on through quantities from outside
    n_differentiations: int = 0
    solves: str | None = None  # the quantity that the equation defines

    @cached_property
    def rest_orders(self) -> frozenset[Order]:
        """Variables and orders that the rest depends on, directly or indirectly."""
        names = self.rest.names() if isinstance(self.rest, Expression) else ()
        return frozenset(split_rate(name) for name in names) | self.indirect

    def orders(self, variables: Mapping[str, Any]) -> dict[str, int]:
        """The highest order at which each variable occurs."""
        orders: dict[str, int] = {}
        for name, order in (*self.terms, *self.rest_orders):
            if name in variables and order >= orders.get(name, 0):
                orders[name] = order
        return orders

    @property
    def label(self) -> str:
        """Its name in messages; sample values are seeded with it too."""
        return f"{self.name} of {self.owner}"


class UnknownRate(Exception):
    """An equation has to be differentiated and contains a quantity without a known time derivative: its name."""


def has_rates(joint: Joint) -> bool:
    """Whether a joint's speeds are the rates of its coordinates."""
    return joint.quaternion is None and joint.n_q == joint.n_u and joint.n_u > 0


def coordinate_name(joint: Joint, coordinate: int) -> str:
    """The name of one coordinate of a joint, or of its quasi-velocity where speeds are no rates of coordinates."""
    names = [name for name, _ in joint.coordinates]
    if not has_rates(joint):
        return f"{joint.name}.u.{names[coordinate]}"
    return f"{joint.name}.q" if len(names) == 1 else f"{joint.name}.q.{names[coordinate]}"


def single_order(value: ExpressionOrNumber) -> Order | None:
    """The variable and order of a formula that is a single derivative of a variable; None for any other."""
    return split_rate(value.args[0]) if isinstance(value, Expression) and value.op == "name" else None
