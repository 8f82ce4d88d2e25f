"""Symbolic partial derivatives of laws.

The partial derivatives of operations are those of ``algebra.scalars.PARTIALS``.  A table is differentiated by calls of
its derivative along an axis.  At corners and jumps (``abs``, ``min``, ``where``) the derivative is one-sided.
"""

from __future__ import annotations

from kinode.algebra.scalars import PARTIALS, Scalar, is_zero
from kinode.expressions.syntax_tree import Expression, build, plain_inverse, walk


def differentiate(expression: Expression, name: str) -> Expression | float:
    """The partial derivative of an expression with respect to a name."""
    derivatives: dict[int, Scalar] = {}
    for node in walk(expression):
        derivatives[id(node)] = _derivative(node, name, derivatives)
    result: Expression | float = plain_inverse(derivatives[id(expression)])
    return result


def _derivative(node: Expression, name: str, derivatives: dict[int, Scalar]) -> Scalar:
    """The derivative of an operation, by the chain rule from those of its arguments."""
    if node.op == "name":
        return 1.0 if node.args[0] == name else 0.0
    changes = [derivatives[id(arg)] if type(arg) is Expression else 0.0 for arg in node.args]
    if all(is_zero(change) for change in changes):
        return 0.0
    if node.op == "where":
        return build("where", (node.args[0], *changes[1:]))
    if node.op in ("call", "call_derivative"):
        table, *args = node.args
        axes = args.pop(0) if node.op == "call_derivative" else ()
        changes = changes[-len(args) :]
        partials: tuple[Scalar, ...] = tuple(
            Expression("call_derivative", (table, tuple(sorted((*axes, i))), *args)) for i in range(len(args))
        )
    else:
        partials = PARTIALS[node.op](*node.args)
    total: Scalar = 0.0
    for partial, change in zip(partials, changes, strict=True):
        if not is_zero(change):
            total = total + partial * change
    return total
