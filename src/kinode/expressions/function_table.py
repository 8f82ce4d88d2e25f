"""The functions and constants of laws, waveforms among them, and the names that a model may therefore not use.

Every function is built from the operations of ``algebra.scalars``, so it works on every scalar type.  Waveforms are
pulses, periodic shapes and swept sines, of time or of any other quantity; their derivative is that of the smooth
pieces, and there is none at corners and jumps.
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable
from typing import NamedTuple

from kinode.algebra.scalars import Scalar, apply, mod
from kinode.expressions.syntax_tree import divide


def pulse(x: Scalar, width: Scalar, period: Scalar | None = None) -> Scalar:
    """1 from 0 to ``width``, else 0; repeated in each period if there is one."""
    begun = apply("less_equal", 0.0, x)
    return begun * apply("less", x if period is None else mod(x, period), width)


def square(x: Scalar, period: Scalar, duty: Scalar = 0.5) -> Scalar:
    """1 in the first part of each period (the share ``duty``), then -1."""
    return 2.0 * apply("less", _phase(x, period), duty) - 1.0


def triangle(x: Scalar, period: Scalar) -> Scalar:
    """A triangle wave in phase with a sine: from 0 up to 1, down to -1, back to 0."""
    return 4.0 * apply("abs", _phase(x - 0.25 * period, period) - 0.5) - 1.0


def sawtooth(x: Scalar, period: Scalar) -> Scalar:
    """From -1 up to 1 in each period."""
    return 2.0 * _phase(x, period) - 1.0


def chirp(x: Scalar, first: Scalar, last: Scalar, span: Scalar) -> Scalar:
    """A sine whose frequency changes linearly from ``first`` at 0 to ``last`` at ``span``, constant outside."""
    within = apply("min", apply("max", x, 0.0), span)
    cycles = first * apply("min", x, 0.0) + last * apply("max", x - span, 0.0)
    cycles = cycles + within * (first + divide(0.5 * (last - first) * within, span))
    return apply("sin", 2.0 * math.pi * cycles)


def _phase(x: Scalar, period: Scalar) -> Scalar:
    """The position of x within its period, from 0 to 1."""
    turns = divide(x, period)
    return turns - apply("floor", turns)


# name: (least and most arguments, function, note, signature)
WAVEFORMS: dict[str, tuple[int, int, Callable[..., Scalar], str, str]] = {
    "pulse": (
        2, 3, pulse,
        "1 while x is from 0 to width, else 0; with a period, again in each that follows",
        "pulse(x, width, period)",
    ),
    "square": (
        2, 3, square,
        "1 in the first half of each period, or the share that duty says, then -1",
        "square(x, period, duty)",
    ),
    "triangle": (2, 2, triangle, "as a sine in straight lines, between -1 and 1", "triangle(x, period)"),
    "sawtooth": (2, 2, sawtooth, "from -1 up to 1 in each period", "sawtooth(x, period)"),
    "chirp": (
        4, 4, chirp,
        "a sine whose frequency goes from f0 at 0 to f1 at x1, in cycles for a unit of x",
        "chirp(x, f0, f1, x1)",
    ),
}  # fmt: skip

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
