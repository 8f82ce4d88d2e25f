"""Equations as text: "voltage = resistance*current + inductance*der(current)".

Both sides are laws (``parser.py``), in which ``der(...)`` is a rate: of a name it is the quantity called
``der(current)``, ``der(der(angle))`` in expressions; of anything else the chain rule writes it out at once.  Which
names exist, and which of them are constant, is for the caller to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from kinode.algebra.scalars import Scalar
from kinode.errors import LawError
from kinode.expressions.parser import LONGEST_TEXT, parse, tokenize
from kinode.expressions.syntax_tree import Expression, build, symbol, walk

RATE = "der"
HIGHEST = 8  # rates of rates
LARGEST_RATE = 200_000  # operations times names that are differentiated: some seconds


class Equation(NamedTuple):
    """left = right."""

    left: Expression | float
    right: Expression | float

    @property
    def residual(self) -> Expression | float:
        """What vanishes: left - right."""
        found: Expression | float = build("sub", (self.left, self.right))
        return found

    def names(self) -> frozenset[str]:
        """The quantities on both sides, ``der(...)`` among them."""
        return frozenset().union(*(side.names() for side in self if isinstance(side, Expression)))

    def text(self) -> str:
        return " = ".join(side.text() if isinstance(side, Expression) else f"{side:g}" for side in self)


def rate_name(name: str, order: int = 1) -> str:
    """What the rate of a named quantity is called: der(angle), der(der(angle))."""
    return f"{RATE}(" * order + name + ")" * order


@lru_cache(maxsize=4096)
def split_rate(name: str) -> tuple[str, int]:
    """A name without its der(...), and how many there were."""
    order = 0
    while name.startswith(f"{RATE}(") and name.endswith(")"):
        name, order = name[len(RATE) + 1 : -1], order + 1
    return name, order


def find_rate(value: Expression | float) -> Expression | float:
    """The rate of an expression by the rates of the quantities in it."""
    rate: Scalar = 0.0
    if isinstance(value, Expression):
        names = sorted(value.names())
        if len(names) * sum(1 for _ in walk(value)) > LARGEST_RATE or any(split_rate(n)[1] >= HIGHEST for n in names):
            raise LawError(f"the rate of {value.short()} is too long to be written out")
        for name in names:
            factor = value.derivative(name)
            rate = rate + (factor if name == "t" else factor * symbol(rate_name(name)))
    found: Expression | float = rate
    return found


def substitute(value: Expression | float, values: Mapping[str, Expression | float]) -> Expression | float:
    """The expression with others in place of names, and their rates in place of the rates of these."""
    if not isinstance(value, Expression):
        return value
    wanted: dict[str, Expression | float] = {}
    for name in value.names():
        base, order = split_rate(name)
        if base in values:
            put = values[base]
            for _ in range(order):
                put = find_rate(put)
            wanted[name] = put
    return value.substitute(wanted) if wanted else value


@lru_cache(maxsize=4096)
def parse_formula(text: str) -> Expression | float:
    """A law that may hold ``der(...)``."""
    if not isinstance(text, str):
        raise LawError(f"an equation is text, not {text!r}")
    found = parse(text, {RATE: 1})
    if not isinstance(found, Expression) or RATE not in found.calls():
        return found
    made: dict[int, Scalar] = {}
    for node in walk(found):
        args = tuple(made[id(arg)] if type(arg) is Expression else arg for arg in node.args)
        if node.op == "call_derivative":
            raise LawError("der(...) has no derivatives of its own", text=text, position=0)
        if node.op == "call":
            made[id(node)] = find_rate(args[1])
        else:
            made[id(node)] = node if node.op == "name" else build(node.op, args)
    result: Expression | float = made[id(found)]
    return result


@lru_cache(maxsize=4096)
def parse_equation(text: str) -> Equation:
    """The two sides of "left = right"."""
    if not isinstance(text, str):
        raise LawError(f"an equation is text, not {text!r}")
    if len(text) > LONGEST_TEXT:
        raise LawError(f"an equation of {len(text)} characters is too long (at most {LONGEST_TEXT})")
    signs = [token.position for token in tokenize(text) if token.kind == "="]
    if len(signs) != 1:
        said = "an equation has two sides: left = right" if not signs else "an equation has one '='"
        raise LawError(said, text=text, position=signs[1] if signs else max(0, len(text) - 1))
    try:  # blanks keep the place of what stands on the right
        return Equation(parse_formula(text[: signs[0]]), parse_formula(" " * (signs[0] + 1) + text[signs[0] + 1 :]))
    except LawError as error:
        error.text = text if error.text is not None else None
        raise
