"""Intervals: a lower and an upper bound, both of one other scalar type.

A function of intervals gives bounds of all values that the function takes on them.  Replaying a tape with intervals in
place of its inputs (``trace.replay``) gives the code that bounds its outputs over a box of states.

    x = Interval(1.0, 3.0)
    apply("sub", x, 2.0)                    # [-1, 1]
    apply("abs", apply("sub", x, 2.0))      # [0, 1]

Bounds hold up to rounding: operations do not round outwards.  They may be far too wide where one quantity occurs
several times (x - x is not 0); halving the box makes them narrower.  Outside the domain of a function its bounds are
those of the part inside.  Poles give bounds of ``HUGE``, which products with 0 survive.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from kinode.algebra.named_data import ExternalResult
from kinode.algebra.scalars import (
    Scalar,
    apply,
    equal,
    fetch,
    floor,
    inverse,
    is_number,
    less,
    less_equal,
    maximum,
    minimum,
    register_scalar_type,
    where,
)

HUGE = 1e150  # bound of a function with a pole


class Interval:
    """All numbers from ``low`` to ``high``."""

    __slots__ = ("high", "low")

    def __init__(self, low: Scalar, high: Scalar) -> None:
        self.low = low
        self.high = high

    def __repr__(self) -> str:
        return f"[{self.low!r}, {self.high!r}]"


def interval_of(x: Scalar) -> Interval:
    """The interval itself, or that of a single value."""
    return x if isinstance(x, Interval) else Interval(x, x)


def _hull(*values: Scalar) -> Interval:
    low = high = values[0]
    for value in values[1:]:
        low, high = minimum(low, value), maximum(high, value)
    return Interval(low, high)


def _multiply(a: Interval, b: Interval) -> Interval:
    if a is b:
        return _square(a)
    for x, y in ((a, b), (b, a)):
        if x.low is x.high or (is_number(x.low) and x.low == x.high):
            if is_number(x.low):
                ends = (x.low * y.low, x.low * y.high)
                return Interval(*(ends if x.low >= 0 else reversed(ends)))
            return _hull(x.low * y.low, x.low * y.high)
    return _hull(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high)


def _square(x: Interval) -> Interval:
    size = _absolute(x)
    return Interval(size.low * size.low, size.high * size.high)


def _absolute(x: Interval) -> Interval:
    return Interval(maximum(0.0, maximum(x.low, -1.0 * x.high)), maximum(-1.0 * x.low, x.high))


def _holds_zero(x: Interval) -> Scalar:
    """1 if zero is among the values, else 0."""
    return less_equal(x.low, 0.0) * less_equal(0.0, x.high)


def _invert(x: Interval) -> Interval:
    pole = _holds_zero(x)
    return Interval(where(pole, -HUGE, inverse(x.high)), where(pole, HUGE, inverse(x.low)))


def _raise(base: Interval, exponent: Interval) -> Interval:
    if is_number(exponent.low) and exponent.low == exponent.high:
        power = float(exponent.low)
        if power < 0:
            return _invert(_raise(base, interval_of(-power)))
        if power.is_integer() and power % 2 == 1:
            return Interval(apply("pow", base.low, power), apply("pow", base.high, power))
        known = _absolute(base) if power.is_integer() else _positive(base)
        return Interval(apply("pow", known.low, power), apply("pow", known.high, power))
    # |base|^exponent rises or falls with either one: its extremes are at the corners; a whole exponent keeps the sign
    size = _absolute(base)
    corners = [apply("pow", x, y) for x in (size.low, size.high) for y in (exponent.low, exponent.high)]
    span = _hull(*(minimum(corner, HUGE) for corner in corners))
    return Interval(where(less(base.low, 0.0), -1.0 * span.high, span.low), span.high)


def _positive(x: Interval) -> Interval:
    return Interval(maximum(x.low, 0.0), maximum(x.high, 0.0))


def _increasing(name: str, low: float = -math.inf, high: float = math.inf) -> Callable[[Interval], Interval]:
    """The rule of a function that rises; its argument is kept within its domain."""

    def inside(x: Scalar) -> Scalar:
        x = x if math.isinf(low) else maximum(x, low)
        return x if math.isinf(high) else minimum(x, high)

    return lambda x: Interval(apply(name, inside(x.low)), apply(name, inside(x.high)))


def _arccosine(x: Interval) -> Interval:
    angle = _increasing("asin", -1.0, 1.0)(x)
    return Interval(0.5 * math.pi - angle.high, 0.5 * math.pi - angle.low)


def _wave(name: str, crest: float) -> Callable[[Interval], Interval]:
    """The rule of a sine or cosine with a crest at this angle: the bound is a crest or trough that lies inside."""

    def passes(x: Interval, angle: float) -> Scalar:
        turns = (floor((end - angle) * (0.5 / math.pi)) for end in (x.high, x.low))
        return less(0.0, next(turns) - next(turns))

    def rule(x: Interval) -> Interval:
        ends = _hull(apply(name, x.low), apply(name, x.high))
        return Interval(where(passes(x, crest + math.pi), -1.0, ends.low), where(passes(x, crest), 1.0, ends.high))

    return rule


def _tangent(x: Interval) -> Interval:
    branches = [floor((end - 0.5 * math.pi) * (1.0 / math.pi)) for end in (x.low, x.high)]
    pole = less(0.0, branches[1] - branches[0])
    return Interval(where(pole, -HUGE, apply("tan", x.low)), where(pole, HUGE, apply("tan", x.high)))


def _angle(y: Interval, x: Interval) -> Interval:
    """Of ``atan2``: where x is positive the angle rises with y and is extreme at a corner; else any angle."""
    corners = _hull(*(apply("atan2", a, b) for a in (y.low, y.high) for b in (x.low, x.high)))
    ahead = less(0.0, x.low)
    return Interval(where(ahead, corners.low, -math.pi), where(ahead, corners.high, math.pi))


def _compare(holds: Callable[[Scalar, Scalar], Scalar]) -> Callable[[Interval, Interval], Interval]:
    return lambda a, b: Interval(holds(a.high, b.low), holds(a.low, b.high))


def _coincide(a: Interval, b: Interval) -> Interval:
    always = equal(a.low, a.high) * equal(b.low, b.high) * equal(a.low, b.low)
    return Interval(always, less_equal(a.low, b.high) * less_equal(b.low, a.high))


def _choose(condition: Interval, a: Interval, b: Interval) -> Interval:
    may_be_false, may_be_true = _holds_zero(condition), 1.0 - equal(condition.low, 0.0) * equal(condition.high, 0.0)
    both = _hull(a.low, b.low).low, _hull(a.high, b.high).high
    ends = ((a.low, b.low, both[0]), (a.high, b.high, both[1]))
    return Interval(*(where(may_be_false, where(may_be_true, any_, no), yes) for yes, no, any_ in ends))


def _fetch(values: tuple[float, ...], index: Interval) -> Interval:
    """A table's entry: itself where the index is known, else any entry."""
    known = equal(index.low, index.high)
    entry = fetch(values, index.low)
    return Interval(where(known, entry, min(values)), where(known, entry, max(values)))


RULES: dict[str, Callable[..., Interval]] = {
    "add": lambda a, b: Interval(a.low + b.low, a.high + b.high),
    "sub": lambda a, b: Interval(a.low - b.high, a.high - b.low),
    "mul": _multiply,
    "neg": lambda a: Interval(-1.0 * a.high, -1.0 * a.low),
    "inv": _invert,
    "pow": _raise,
    "sqrt": _increasing("sqrt", 0.0),
    "sin": _wave("sin", 0.5 * math.pi),
    "cos": _wave("cos", 0.0),
    "tan": _tangent,
    "asin": _increasing("asin", -1.0, 1.0),
    "acos": _arccosine,
    "atan": _increasing("atan"),
    "atan2": _angle,
    "sinh": _increasing("sinh"),
    "cosh": lambda a: _increasing("cosh")(_absolute(a)),
    "tanh": _increasing("tanh"),
    "exp": _increasing("exp"),
    "log": _increasing("log", 0.0),
    "abs": _absolute,
    "sign": _increasing("sign"),
    "min": lambda a, b: Interval(minimum(a.low, b.low), minimum(a.high, b.high)),
    "max": lambda a, b: Interval(maximum(a.low, b.low), maximum(a.high, b.high)),
    "floor": _increasing("floor"),
    "less": _compare(less),
    "less_equal": _compare(less_equal),
    "equal": _coincide,
    "where": _choose,
    "interval": lambda breaks, x: Interval(apply("interval", breaks, x.low), apply("interval", breaks, x.high)),
    "fetch": _fetch,
    "external": lambda result, *args: Interval(-HUGE, HUGE),  # nothing is known of it
}
"""The rule of each function of ``scalars.FLOAT_FUNCTIONS``: bounds of its values from bounds of its arguments."""


def _apply_interval(name: str, args: tuple[Any, ...]) -> Interval:
    fixed = (tuple, ExternalResult)
    return RULES[name](*(arg if isinstance(arg, fixed) else interval_of(arg) for arg in args))


register_scalar_type(Interval, _apply_interval, wraps=3)
