"""Laws as terms of formulas: what a law says, in the symbols of a sheet."""

from __future__ import annotations

from collections.abc import Callable

from kinode.expressions.syntax_tree import Expression, walk
from kinode.symbolic.formulas.vector_terms import (
    Call,
    Family,
    Number,
    Power,
    Quotient,
    VectorTerm,
    as_term,
)

COMPARISONS = {"less": "<", "less_equal": "<=", "equal": "="}


def name_term(name: str) -> VectorTerm:
    """A symbol that is written by its whole name."""
    return Family(name)()


def law_term(law: Expression | float, symbol: Callable[[str], VectorTerm] = name_term) -> VectorTerm:
    """A law as a term; ``symbol`` gives the symbol of a name."""
    if not isinstance(law, Expression):
        return as_term(law)
    terms: dict[int, VectorTerm] = {}
    for node in walk(law):  # arguments come before what is made of them
        args = tuple(terms[id(x)] if isinstance(x, Expression) else x for x in node.args)
        terms[id(node)] = _made(node.op, args, symbol)
    return terms[id(law)]


def _made(op: str, args: tuple[object, ...], symbol: Callable[[str], VectorTerm]) -> VectorTerm:
    if op == "name":
        return symbol(str(args[0]))
    if op in ("call", "call_derivative"):
        table, *rest = (x for x in args if not isinstance(x, tuple))
        first, *others = [as_term(x) for x in rest]
        return Call(str(table) + "'" * (op == "call_derivative"), first, tuple(others))
    terms = [as_term(x) for x in args]
    a, b = terms[0], terms[-1]
    match op:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "neg":
            return -a
        case "inv":
            return Quotient(Number(1.0), a)
        case "mul":
            return _multiplied(a, b)
        case "pow" if isinstance(b, Number) and b.value == int(b.value) > 0:
            return Power(a, int(b.value))
    return Call(op, a, tuple(terms[1:]))


def _multiplied(a: VectorTerm, b: VectorTerm) -> VectorTerm:
    """A product; that with an inverse is a quotient."""
    one = Number(1.0)
    if isinstance(b, Quotient) and b.above == one:
        return Quotient(a, b.below)
    if isinstance(a, Quotient) and a.above == one:
        return Quotient(b, a.below)
    return a * b
