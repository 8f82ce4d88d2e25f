"""Waveforms for laws: pulses, periodic shapes and swept sines, of time or of any other quantity.

They are built from the operations of laws and work on every scalar type.  The derivative is that of the smooth pieces;
there is none at corners and jumps.
"""

from __future__ import annotations

import math
from collections.abc import Callable

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
