"""Equations as text: "voltage = resistance*current + inductance*der(current)".

Both sides are laws (``parser.py``) in which ``der(...)`` is a time derivative.  The derivative of a name is a quantity
of its own, called ``der(current)``, ``der(der(angle))``.  The derivative of any other expression is expanded by the
chain rule.  The caller decides which names exist, and which of them are constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from kinode.algebra.scalars import Scalar
from kinode.errors import LawError
from kinode.expressions.parser import LONGEST_TEXT, parse, tokenize
from kinode.expressions.syntax_tree import Expression, build, symbol, walk

DERIVATIVE = "der"
HIGHEST_ORDER = 8  # of a time derivative
LARGEST_DERIVATIVE = 200_000  # operations times names of an expression: its derivative takes some seconds


class Equation(NamedTuple):
    """left = right."""

    left: Expression | float
    right: Expression | float

    @property
    def residual(self) -> Expression | float:
        """left - right, which vanishes."""
        difference: Expression | float = build("sub", (self.left, self.right))
        return difference

    def names(self) -> frozenset[str]:
        """The quantities on both sides, ``der(...)`` among them."""
        return frozenset().union(*(side.names() for side in self if isinstance(side, Expression)))

    def text(self) -> str:
        return " = ".join(side.text() if isinstance(side, Expression) else f"{side:g}" for side in self)


def rate_name(name: str, order: int = 1) -> str:
    """The name of a time derivative: der(angle), der(der(angle))."""
    return f"{DERIVATIVE}(" * order + name + ")" * order


@lru_cache(maxsize=4096)
def split_rate(name: str) -> tuple[str, int]:
    """The quantity and the order of a time derivative: ("angle", 2) for der(der(angle))."""
    order = 0
    while name.startswith(f"{DERIVATIVE}(") and name.endswith(")"):
        name, order = name[len(DERIVATIVE) + 1 : -1], order + 1
    return name, order


def find_rate(value: Expression | float) -> Expression | float:
    """The time derivative of an expression, in terms of the derivatives of its quantities."""
    rate: Scalar = 0.0
    if isinstance(value, Expression):
        names = sorted(value.names())
        size = len(names) * sum(1 for _ in walk(value))
        if size > LARGEST_DERIVATIVE or any(split_rate(n)[1] >= HIGHEST_ORDER for n in names):
            raise LawError(f"the rate of {value.excerpt()} is too long to be written out")
        for name in names:
            factor = value.derivative(name)
            rate = rate + (factor if name == "t" else factor * symbol(rate_name(name)))
    result: Expression | float = rate
    return result


def substitute(value: Expression | float, values: Mapping[str, Expression | float]) -> Expression | float:
    """Replace names by expressions, and time derivatives of these names by the derivatives of the expressions."""
    if not isinstance(value, Expression):
        return value
    replacements: dict[str, Expression | float] = {}
    for name in value.names():
        base, order = split_rate(name)
        if base in values:
            replacement = values[base]
            for _ in range(order):
                replacement = find_rate(replacement)
            replacements[name] = replacement
    return value.substitute(replacements) if replacements else value


@lru_cache(maxsize=4096)
def parse_formula(text: str) -> Expression | float:
    """Parse a law that may contain ``der(...)``."""
    if not isinstance(text, str):
        raise LawError(f"an equation is text, not {text!r}")
    parsed = parse(text, {DERIVATIVE: 1})
    if not isinstance(parsed, Expression) or DERIVATIVE not in parsed.calls():
        return parsed
    expanded: dict[int, Scalar] = {}
    for node in walk(parsed):
        args = tuple(expanded[id(arg)] if type(arg) is Expression else arg for arg in node.args)
        if node.op == "call_derivative":
            raise LawError("der(...) has no derivatives of its own", text=text, position=0)
        if node.op == "call":
            expanded[id(node)] = find_rate(args[1])
        else:
            expanded[id(node)] = node if node.op == "name" else build(node.op, args)
    result: Expression | float = expanded[id(parsed)]
    return result


@lru_cache(maxsize=4096)
def parse_equation(text: str) -> Equation:
    """Parse "left = right"."""
    if not isinstance(text, str):
        raise LawError(f"an equation is text, not {text!r}")
    if len(text) > LONGEST_TEXT:
        raise LawError(f"an equation of {len(text)} characters is too long (at most {LONGEST_TEXT})")
    signs = [token.position for token in tokenize(text) if token.kind == "="]
    if len(signs) != 1:
        message = "an equation has two sides: left = right" if not signs else "an equation has one '='"
        raise LawError(message, text=text, position=signs[1] if signs else max(0, len(text) - 1))
    try:  # with blanks in place of the left side, positions in error messages stay right
        return Equation(parse_formula(text[: signs[0]]), parse_formula(" " * (signs[0] + 1) + text[signs[0] + 1 :]))
    except LawError as error:
        error.text = text if error.text is not None else None
        raise
