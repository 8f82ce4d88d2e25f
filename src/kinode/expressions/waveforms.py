"""Waveforms for laws: pulses, periodic shapes and swept sines, of time or of anything else.

Made of the operations that laws have, so that they work in every kind of number; within their pieces they have the
derivatives of these pieces, and none at corners and jumps.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from kinode.algebra.scalars import Scalar, apply
from kinode.expressions.syntax_tree import divide, modulo


def pulse(x: Scalar, width: Scalar, period: Scalar | None = None) -> Scalar:
    """1 for a width from 0 on, once or again in each period."""
    begun = apply("less_equal", 0.0, x)
    return begun * apply("less", x if period is None else modulo(x, period), width)


def square(x: Scalar, period: Scalar, duty: Scalar = 0.5) -> Scalar:
    """1 for a share of each period, then -1."""
    return 2.0 * apply("less", _phase(x, period), duty) - 1.0


def triangle(x: Scalar, period: Scalar) -> Scalar:
    """In straight lines as a sine: up from 0 to 1, down to -1, and back."""
    return 4.0 * apply("abs", _phase(x - 0.25 * period, period) - 0.5) - 1.0


def sawtooth(x: Scalar, period: Scalar) -> Scalar:
    """From -1 up to 1 in each period."""
    return 2.0 * _phase(x, period) - 1.0


def chirp(x: Scalar, first: Scalar, last: Scalar, span: Scalar) -> Scalar:
    """A sine whose frequency goes evenly from one to another over a span from 0 on, and stays before and after."""
    within = apply("min", apply("max", x, 0.0), span)
    cycles = first * apply("min", x, 0.0) + last * apply("max", x - span, 0.0)
    cycles = cycles + within * (first + divide(0.5 * (last - first) * within, span))
    return apply("sin", 2.0 * math.pi * cycles)


def _phase(x: Scalar, period: Scalar) -> Scalar:
    """Where in its period x is, from 0 to 1."""
    turns = divide(x, period)
    return turns - apply("floor", turns)


# name: (least and most arguments, function, note)
WAVEFORMS: dict[str, tuple[int, int, Callable[..., Scalar], str]] = {
    "pulse": (
        2, 3, pulse,
        "pulse(x, width, period): 1 while x is from 0 to width, else 0; with a period, again in each that follows",
    ),
    "square": (
        2, 3, square,
        "square(x, period, duty): 1 in the first half of each period, or the share that duty says, then -1",
    ),
    "triangle": (2, 2, triangle, "triangle(x, period): as a sine in straight lines, between -1 and 1"),
    "sawtooth": (2, 2, sawtooth, "sawtooth(x, period): from -1 up to 1 in each period"),
    "chirp": (
        4, 4, chirp,
        "chirp(x, f0, f1, x1): a sine whose frequency goes from f0 at 0 to f1 at x1, in cycles for a unit of x",
    ),
}  # fmt: skip
