"""Expressions of quantities, asked for like a quantity: ``run["elbow.q*180/pi"]``, ``run["arm.effort*arm.u"]``.

The text is parsed as a law, never evaluated as Python.  It may use whatever a result may be: every scalar quantity,
also accelerations and reactions, functions, and the system's tables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.errors import LawError
from kinode.expressions.parser import locate, parse
from kinode.expressions.syntax_tree import Expression, walk
from kinode.expressions.units import DIMENSIONS, Dimension
from kinode.model.base.parameters import Input, Parameter
from kinode.model.quantity_names import find_quantity

if TYPE_CHECKING:
    from kinode.model.system import System

_MORE_THAN_A_NAME = re.compile(r"[^\w.@]")
# Operations whose result is an angle, and those whose result has the unit of their arguments.
_ANGLES = frozenset({"asin", "acos", "atan", "atan2"})
_KEEP_UNIT = frozenset({"name", "add", "sub", "neg", "abs", "min", "max", "where"})


class QuantityExpression(NamedTuple):
    """An expression of quantities: its text, its syntax tree (a number if it is constant) and the names in it."""

    text: str
    value: Expression | float
    names: tuple[str, ...]

    def evaluate(self, system: System, values: Mapping[str, Array], count: int) -> Array:
        """Its values at ``count`` times, from those of its names."""

        def call(table: str, args: tuple[Scalar, ...], axes: tuple[int, ...] = ()) -> Scalar:
            return system.callable_tables[table].call(args, axes)

        value = self.value
        result = value.evaluate(values.__getitem__, call) if isinstance(value, Expression) else value
        return np.array(np.broadcast_to(np.asarray(result, dtype=float), (count,)))


def find_expression(system: System, text: str) -> QuantityExpression | None:
    """The expression in a text; None if the text is the name of one quantity.

    Raises
    ------
    LawError
        The text cannot be parsed, or a name in it is no scalar quantity.
    UnitError
        Quantities of different dimensions are added or compared.
    """
    if not _MORE_THAN_A_NAME.search(text):
        return None
    value = parse(text, system.call_counts())
    names = tuple(sorted(value.names())) if isinstance(value, Expression) else ()
    for name in names:
        try:
            quantity = find_quantity(system, name)
        except LawError as error:
            position = (locate(text, name) or 0) + (error.position or 0)
            raise LawError(error.message, text=text, position=position) from None
        if quantity.size != ():
            head, at, axes = name.partition("@")
            message = f"{name} has {len(quantity.parts)} parts; write {head}.{quantity.parts[0]}{at}{axes}"
            raise LawError(message, text=text, position=locate(text, name))
    expression = QuantityExpression(text, value, names)
    _dimension(system, expression)
    return expression


def find_unit(system: System, expression: QuantityExpression) -> str:
    """The SI unit of an expression; "" where a plain factor leaves it open: ``180/pi`` turns rad into degrees."""
    dimension = _dimension(system, expression)
    if dimension is None:
        return ""
    units = {unit_of(system, name) for name in expression.names}
    assert isinstance(expression.value, Expression)
    if len(units) == 1 and all(node.op in _KEEP_UNIT for node in walk(expression.value)):
        unit = units.pop()
        return unit if isinstance(unit, str) else unit[0]
    return "rad" if expression.value.op in _ANGLES else dimension.unit


def _dimension(system: System, expression: QuantityExpression) -> Dimension | None:
    def lookup(name: str) -> Dimension | None:
        quantity = find_quantity(system, name)
        if quantity.sort in ("parameter", "input", "signal"):
            return getattr(system[quantity.owner], "dimension", None)
        assert isinstance(quantity.dimension, str)
        return DIMENSIONS[quantity.dimension].dimension

    return expression.value.dimension(lookup) if isinstance(expression.value, Expression) else None


def unit_of(system: System, name: str) -> str | tuple[str, ...]:
    """The SI unit of a quantity: one, or one for each component if they differ; "" if it is not known."""
    quantity = find_quantity(system, name)
    if quantity.sort in ("parameter", "input"):
        record = system[quantity.owner]
        known = isinstance(record, Parameter | Input) and record.dimension is not None
        return str(record.dimension.unit) if known else ""
    if quantity.sort == "signal":
        return ""
    if isinstance(quantity.dimension, str):
        return DIMENSIONS[quantity.dimension].unit
    each = tuple(DIMENSIONS[part].unit for part in quantity.dimension)
    return each[0] if len(set(each)) == 1 else each
