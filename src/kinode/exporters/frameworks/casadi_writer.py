"""Traced values as CasADi expressions: the tape written a third time, beside machine code and formulas.

An operation of the tape is one of CasADi's, so that values agree to rounding and CasADi's derivatives are exact.
Lookup tables become sums over their intervals, in which all terms but one are zero.  Of a ``where`` both sides are
computed; CasADi multiplies the derivative of the side that is not taken by zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kinode.algebra.scalars import ARITHMETIC, Scalar
from kinode.algebra.trace import Traced, needed
from kinode.errors import ModelError

SAME_NAME = (
    "sqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "floor",
)


class CasadiWriter:
    """Writes nodes of one tape; what was written for one result serves the next."""

    def __init__(self, casadi: Any, inputs: Mapping[str, Any]) -> None:
        """``inputs`` are the CasADi symbols in place of the input arrays of the tape."""
        self.casadi, self.inputs = casadi, inputs
        self.values: dict[int, Any] = {}
        self.operations = _operations(casadi)

    def write(self, results: Sequence[Scalar]) -> list[Any]:
        """CasADi scalars of traced results; numbers stay numbers."""
        for node in needed(results):
            if node.index not in self.values:
                self.values[node.index] = self._write(node)
        return [self.values[x.index] if type(x) is Traced else float(x) for x in results]

    def _write(self, node: Traced) -> Any:
        if node.op == "input":
            name, position = node.args
            return self.inputs[name][position]
        if node.op == "external":
            message = "it is an FMU, code of others, which CasADi cannot hold"
            raise ModelError(message, component=node.args[0].function.owner)
        args = (self.values[arg.index] if type(arg) is Traced else arg for arg in node.args)
        return self.operations[node.op](*args)


def _operations(casadi: Any) -> Mapping[str, Callable[..., Any]]:
    """CasADi's function of each operation of a tape."""

    def interval(breaks: Sequence[float], x: Any) -> Any:
        """The number of breaks up to x, less the first and without the last."""
        return sum((x >= b for b in breaks[1:-1]), casadi.SX(0))

    def fetch(values: Sequence[float], index: Any) -> Any:
        return sum((v * (index == k) for k, v in enumerate(values) if v != 0), casadi.SX(0))

    def pack(*entries: Any) -> Any:
        return casadi.vertcat(*entries)

    def lane(vector: Any, k: int, width: int) -> Any:
        return vector[k] if vector.numel() == width else vector

    return {
        **ARITHMETIC,
        **{name: getattr(casadi, name) for name in SAME_NAME},
        "inv": lambda a: 1.0 / a,
        "pow": casadi.power,
        "abs": casadi.fabs,
        "sign": casadi.sign,
        "min": casadi.fmin,
        "max": casadi.fmax,
        "less": lambda a, b: a < b,
        "less_equal": lambda a, b: a <= b,
        "equal": lambda a, b: a == b,
        "where": lambda c, a, b: casadi.if_else(c != 0, a, b),
        "interval": interval,
        "fetch": fetch,
        "pack": pack,
        "lane": lane,
    }


def casadi_names(texts: Iterable[str]) -> dict[str, str]:
    """A name that CasADi takes for each text, no two alike: letters, digits and single underscores."""
    names: dict[str, str] = {}
    for text in texts:
        words = "".join(x if x.isascii() and x.isalnum() else " " for x in text).split()
        name = "_".join(words) or "x"
        name = name if name[0].isalpha() and name not in ("null", "jac", "hess") else f"x_{name}"
        known, count = name, 1
        while name in names.values():
            count += 1
            name = f"{known}_{count}"
        names[text] = name
    return names
