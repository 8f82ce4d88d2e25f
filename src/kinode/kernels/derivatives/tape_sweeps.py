"""Derivatives on a tape: forward along a direction, and backward from a result.

A forward sweep carries the rates of the inputs on to the results, and visits only the nodes that depend on these
inputs.  A backward sweep carries sensitivities from one number back to all inputs at once (A. Griewank, A. Walther,
*Evaluating Derivatives*, SIAM 2008, chapter 3).  Both write new operations on the same tape, so that a sweep can be
differentiated again.

Where a root is zero its slope has no bound, and times a rate of zero it would be no number: u*sqrt(u*u) has the slope
zero at rest.  So a root counts as ``LEAST_ROOT`` there, which no other root feels.

``values`` has other scalars for some nodes, by index: the derivative is taken there.  So a node can be a free variable
while it is differentiated by, and have a computed value in the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kinode.algebra.scalars import PARTIALS, PIECEWISE_CONSTANT, Scalar, apply, inverse, is_zero, sqrt
from kinode.algebra.trace import Traced

Rates = dict[int, Scalar]
NO_VALUES: Mapping[int, Scalar] = {}
LEAST_ROOT = 1e-100  # no root above 1e-84 feels it, and its inverse may be cubed
SLOPES: dict[str, Callable[..., tuple[Scalar, ...]]] = {
    **PARTIALS,
    "sqrt": lambda a: (0.5 * _inverse_root(a),),
    "asin": lambda a: (_inverse_root(1.0 - a * a),),
    "acos": lambda a: (-1.0 * _inverse_root(1.0 - a * a),),
}


def _inverse_root(a: Scalar) -> Scalar:
    return inverse(sqrt(a) + LEAST_ROOT)


def sweep_forward(nodes: Sequence[Traced], seeds: Mapping[int, Scalar], values: Mapping[int, Scalar]) -> Rates:
    """The rates of nodes by index, from those of inputs; rates that are known to vanish are left out.

    ``nodes`` are in an order in which they can be computed.
    """
    rates: Rates = {index: rate for index, rate in seeds.items() if not is_zero(rate)}
    for node in nodes:
        for arg in node.args:
            if type(arg) is Traced and arg.index in rates:
                break
        else:
            continue  # it does not change, as most nodes do not
        if node.op in PIECEWISE_CONSTANT:
            continue
        changes = [rates.get(arg.index) if type(arg) is Traced else None for arg in node.args]
        rate = _rate(node, changes, values)
        if not is_zero(rate):
            rates[node.index] = rate
    return rates


def _rate(node: Traced, changes: Sequence[Scalar | None], values: Mapping[int, Scalar]) -> Scalar:
    """The rate of a node from those of its operands."""
    match node.op:
        case "add":
            return changes[0] if changes[1] is None else changes[1] if changes[0] is None else changes[0] + changes[1]
        case "sub":
            return changes[0] if changes[1] is None else -changes[1] if changes[0] is None else changes[0] - changes[1]
        case "neg":
            return -changes[0]  # type: ignore[operator]
        case "pack":
            return node.tape.pack([0.0 if x is None else x for x in changes])
        case "lane":
            return node.tape.lanes(changes[0], node.args[2])[node.args[1]]
        case "where":
            test, yes, no = _values(node, values)[0], *(0.0 if x is None else x for x in changes[1:])
            return yes if yes is no else apply("where", test, yes, no)
    rate: Scalar = 0.0
    for partial, change in zip(SLOPES[node.op](*_values(node, values)), changes, strict=True):
        if change is not None and not is_zero(partial):
            rate = rate + change * partial
    return rate


def _values(node: Traced, values: Mapping[int, Scalar]) -> list[Scalar]:
    """The operands of a node, with the values that replace some of them."""
    return [values.get(arg.index, arg) if type(arg) is Traced else arg for arg in node.args]


def sweep_backward(nodes: Sequence[Traced], seeds: Mapping[int, Scalar], values: Mapping[int, Scalar]) -> Rates:
    """The sensitivities of inputs and other nodes by index, from those of results.

    ``nodes`` are in an order in which they can be computed; they are visited from the last to the first.
    """
    found: Rates = {index: x for index, x in seeds.items() if not is_zero(x)}

    def add(arg: object, x: Scalar) -> None:
        if type(arg) is Traced and not is_zero(x):
            before = found.get(arg.index)
            found[arg.index] = x if before is None else before + x

    for node in reversed(nodes):
        own = found.get(node.index)
        if own is None or node.op == "input" or node.op in PIECEWISE_CONSTANT:
            continue
        if node.op == "where":
            test = _values(node, values)[0]
            add(node.args[1], apply("where", test, own, 0.0))
            add(node.args[2], apply("where", test, 0.0, own))
            continue
        for arg, partial in zip(node.args, SLOPES[node.op](*_values(node, values)), strict=True):
            add(arg, own * partial)
    return found
