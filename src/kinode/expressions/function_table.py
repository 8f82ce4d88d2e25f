"""The functions and constants of laws, and the names that a model may therefore not use.

Every function is built from the operations of ``algebra.scalars``, so it works on every scalar type.  The waveforms
(pulse, square, chirp ...) are in ``waveforms.py``.
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable
from typing import NamedTuple

from kinode.algebra.scalars import Scalar, apply, mod
from kinode.expressions.syntax_tree import divide
from kinode.expressions.waveforms import WAVEFORMS

CONSTANTS = {"pi": math.pi, "deg": math.pi / 180, "rpm": math.pi / 30}


class Function(NamedTuple):
    """A function of laws: its least and greatest number of arguments (None: no limit), what it builds, and a note.

    ``signature`` names the arguments of a function with several: "clamp(x, low, high)".
    """

    least: int
    most: int | None
    apply: Callable[..., Scalar]
    note: str
    signature: str = ""


def _fold(op: str) -> Callable[..., Scalar]:
    """A function of any number of arguments, from an operation of two."""

    def function(first: Scalar, *rest: Scalar) -> Scalar:
        for arg in rest:
            first = apply(op, first, arg)
        return first

    return function


def _clamp(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    return apply("min", apply("max", x, low), high)


def _hypot(*args: Scalar) -> Scalar:
    squares = [apply("pow", arg, 2.0) for arg in args]
    return apply("sqrt", _fold("add")(*squares))


def _smoothstep(x: Scalar, start: Scalar, end: Scalar) -> Scalar:
    s = _clamp(divide(x - start, end - start), 0.0, 1.0)
    return s * s * (3.0 - 2.0 * s)


def _plain(op: str, count: int, note: str, signature: str = "") -> Function:
    """An operation of ``algebra.scalars`` as a function of laws."""
    return Function(count, count, lambda *args: apply(op, *args), note, signature)


FUNCTIONS: dict[str, Function] = {
    "sin": _plain("sin", 1, "sine of an angle in rad"),
    "cos": _plain("cos", 1, "cosine of an angle in rad"),
    "tan": _plain("tan", 1, "tangent of an angle in rad"),
    "asin": _plain("asin", 1, "angle with this sine"),
    "acos": _plain("acos", 1, "angle with this cosine"),
    "atan": _plain("atan", 1, "angle with this tangent"),
    "atan2": _plain("atan2", 2, "angle of the point (x, y)", "atan2(y, x)"),
    "sinh": _plain("sinh", 1, "hyperbolic sine"),
    "cosh": _plain("cosh", 1, "hyperbolic cosine"),
    "tanh": _plain("tanh", 1, "hyperbolic tangent"),
    "exp": _plain("exp", 1, "exponential"),
    "log": _plain("log", 1, "natural logarithm"),
    "sqrt": _plain("sqrt", 1, "square root"),
    "abs": _plain("abs", 1, "absolute value"),
    "sign": _plain("sign", 1, "-1, 0 or 1"),
    "floor": _plain("floor", 1, "the next whole number below"),
    "min": Function(2, None, _fold("min"), "the least of its arguments"),
    "max": Function(2, None, _fold("max"), "the greatest of its arguments"),
    "hypot": Function(2, None, _hypot, "root of the sum of squares"),
    "where": _plain("where", 3, "a where c is not 0, else b", "where(c, a, b)"),
    "step": Function(1, 1, lambda x: apply("less_equal", 0.0, x), "0 before x = 0, 1 from there on"),
    "ramp": Function(1, 1, lambda x: apply("max", x, 0.0), "0 before x = 0, x after"),
    "clamp": Function(3, 3, _clamp, "x kept between low and high", "clamp(x, low, high)"),
    "mod": Function(2, 2, mod, "what is left of a beyond whole multiples of b, with the sign of b", "mod(a, b)"),
    "smoothstep": Function(
        3, 3, _smoothstep, "from 0 at x0 to 1 at x1 by a cubic, level at both ends", "smoothstep(x, x0, x1)"
    ),
    **{name: Function(*entry) for name, entry in WAVEFORMS.items()},
}
RESERVED = frozenset(FUNCTIONS) | frozenset(CONSTANTS) | frozenset(keyword.kwlist)
# How other languages call these functions, for error messages.
OTHER_NAMES = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "ln": "log", "pow": "^"}
OTHER_NAMES |= {"sgn": "sign", "fabs": "abs", "if": "where", "iff": "where", "heaviside": "step", "fmod": "mod"}
OTHER_NAMES |= {"minimum": "min", "maximum": "max", "clip": "clamp", "power": "^", "ifelse": "where"}
