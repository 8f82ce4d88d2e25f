"""Names that laws define, such as signals: evaluated, ordered and substituted along chains of any length.

A signal may use another one, and that a third.  Nothing here is recursive, so that the chain may have thousands.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

from kinode.algebra.scalars import Dual, Scalar, apply, is_number
from kinode.errors import LawError
from kinode.expressions.syntax_tree import Calling, Expression


class Definitions:
    """Names that laws define, such as signals, and the values of names as far as they are known.

    Parameters
    ----------
    law_of : function
        The law, or the number, that defines a name; None where the caller of ``evaluate`` looks it up.
    values : dict, optional
        Values by name; ``evaluate`` adds those of the defined names that it needs.
    """

    __slots__ = ("law_of", "values")

    def __init__(
        self, law_of: Callable[[str], Expression | float | None], values: dict[str, Scalar] | None = None
    ) -> None:
        self.law_of, self.values = law_of, {} if values is None else values


def evaluate(
    expression: Expression, lookup: Callable[[str], Scalar], call: Calling | None, definitions: Definitions | None
) -> Scalar:
    """The value of an expression, of any scalar type, with the values of the defined names that it needs."""
    if definitions is None and expression.op == "name":
        return _compute(expression, expression.args, lookup, call, None)
    values: dict[int, Scalar] = {}
    entered: dict[str, None] = {}  # the defined names whose laws are being evaluated, each needed by the one before
    stack = [expression]
    while stack:
        node = stack[-1]
        needed = node.args
        law = None if definitions is None or node.op != "name" else _law_of(node.args[0], definitions)
        if law is not None:
            needed = (law,)
        elif node.op == "where" and id(node.args[0]) in values:
            condition = values[id(node.args[0])]
            if is_number(condition):
                needed = (node.args[1] if condition != 0 else node.args[2],)
        elif node.op == "where":
            needed = node.args[:1]
        missing = [arg for arg in needed if type(arg) is Expression and id(arg) not in values]
        if missing:
            if law is not None:
                _enter(node.args[0], entered)
            stack.extend(reversed(missing))
            continue
        stack.pop()
        args = tuple(values[id(arg)] if type(arg) is Expression else arg for arg in needed)
        if law is not None and definitions is not None:
            entered.pop(node.args[0], None)
            values[id(node)] = definitions.values[node.args[0]] = args[0]
        elif id(node) not in values:
            values[id(node)] = (
                args[0] if node.op == "where" and len(args) == 1 else _compute(node, args, lookup, call, definitions)
            )
    return values[id(expression)]


def _law_of(name: str, definitions: Definitions) -> Expression | float | None:
    """The law of a name that has one and no value yet."""
    return None if name in definitions.values else definitions.law_of(name)


def _enter(name: str, entered: dict[str, None]) -> None:
    if name in entered:
        path = list(entered)
        raise LawError(f"depends on itself: {' -> '.join((*path[path.index(name) :], name))}", component=name)
    entered[name] = None


def _compute(
    node: Expression, args: tuple[Any, ...], lookup: Callable[[str], Scalar], call: Calling | None,
    definitions: Definitions | None,
) -> Scalar:  # fmt: skip
    if node.op == "name":
        known = None if definitions is None else definitions.values.get(args[0])
        value = lookup(args[0]) if known is None else known
        return float(value) if is_number(value) else value
    if node.op in ("call", "call_derivative"):
        if call is None:
            raise LawError(f"the law calls the table {args[0]!r}, which is not available")
        return call(args[0], args[1:]) if node.op == "call" else call(args[0], args[2:], args[1])
    value = apply(node.op, *args)
    return value if node.total else _keep_domain(value, args)


def _keep_domain(value: Scalar, args: tuple[Any, ...]) -> Scalar:
    """A value that is a number whatever its arguments are (x/x is traced as 1): only where the arguments are finite."""
    plain = value
    while type(plain) is Dual:
        plain = plain.value
    if is_number(plain):
        for arg in args:
            if not is_number(arg):
                finite = apply("less_equal", apply("abs", arg), sys.float_info.max)
                value = apply("where", finite, value, arg)
    return value


def order_by_need(
    laws: Mapping[str, Expression | float], names: Iterable[str], known: Container[str] = ()
) -> list[str]:
    """The names that have laws, among these and those that their laws use: each after all that it needs.

    Names that are ``known`` already are left out.
    """
    ordered: dict[str, None] = {}
    stack, entered = list(names), dict[str, None]()
    while stack:
        name = stack[-1]
        law = laws.get(name)
        if law is None or name in ordered or name in known:
            stack.pop()
            continue
        used = law.names() if type(law) is Expression else ()
        waiting = sorted(x for x in used if x in laws and x not in ordered and x not in known)
        if waiting:
            _enter(name, entered)
            stack.extend(waiting)
            continue
        stack.pop()
        entered.pop(name, None)
        ordered[name] = None
    return list(ordered)


def write_out(
    laws: Mapping[str, Expression | float], names: Iterable[str] | None = None
) -> dict[str, Expression | float]:
    """The laws of some names, or of all, with every name that has a law replaced by it; in the order of need.

    A law that several others need is one object in all of them.
    """
    written: dict[str, Expression | float] = {}
    for name in order_by_need(laws, laws if names is None else names):
        law = laws[name]
        written[name] = law.substitute(written) if type(law) is Expression else law
    return written
