"""The dimension of an expression, as far as it is known.

A plain number, or a name of unknown dimension, has the dimension None: it may be added to anything, and a product with
it has the dimension None.  Functions such as sin(t) accept any dimension and return None, because "sin(t)" is how
people write sin(1 rad/s * t).
"""

from __future__ import annotations

from collections.abc import Callable

from kinode.algebra.scalars import is_number
from kinode.errors import UnitError
from kinode.expressions.syntax_tree import Expression, walk
from kinode.expressions.units import DIMENSIONLESS, Dimension, describe_dimension

_ALIKE = frozenset({"add", "sub", "min", "max", "less", "less_equal", "equal", "where", "atan2"})


def find_dimension(expression: Expression, lookup: Callable[[str], Dimension | None]) -> Dimension | None:
    """The dimension of an expression; ``lookup`` gives the dimension of a name.  UnitError if terms do not fit."""
    dimensions: dict[int, Dimension | None] = {}
    for node in walk(expression):
        args = [dimensions[id(arg)] if type(arg) is Expression else None for arg in node.args]
        dimensions[id(node)] = lookup(node.args[0]) if node.op == "name" else _combine(node, args)
    return dimensions[id(expression)]


def _combine(node: Expression, dimensions: list[Dimension | None]) -> Dimension | None:
    a = dimensions[0]
    b = dimensions[1] if len(dimensions) > 1 else None
    if node.op in _ALIKE:
        known = [x for x in dimensions[node.op == "where" :] if x is not None]
        if len(set(known)) > 1:
            what = " and ".join(describe_dimension(x) for x in known[:2])
            raise UnitError(f"{node.excerpt()} puts {what} together")
        if node.op == "atan2":
            return DIMENSIONLESS
        return known[0] if known and node.op in ("add", "sub", "min", "max", "where") else None
    if node.op == "mul":
        return a * b if a is not None and b is not None else None
    if node.op in ("neg", "abs", "floor"):
        return a
    if node.op in ("asin", "acos", "atan"):
        return DIMENSIONLESS
    power = {"inv": -1.0, "sqrt": 0.5}.get(node.op) or (node.args[1] if node.op == "pow" else None)
    return a**power if a is not None and power is not None and is_number(power) else None
