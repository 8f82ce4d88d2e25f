"""Intervals contain every value that a function takes on them."""

import numpy as np
import pytest
from example_counts import examples
from hypothesis import example, given
from hypothesis import strategies as st

from kinode.algebra.intervals import RULES, Interval
from kinode.algebra.scalars import FLOAT_FUNCTIONS, apply
from kinode.algebra.trace import Tape, replay

VALUES = (0.5, -1.0, 3.0, 2.0)
ends = st.tuples(st.floats(-4, 4), st.floats(-4, 4)).map(sorted)
share = st.floats(0, 1)


def test_every_function_has_a_rule():
    assert RULES.keys() == FLOAT_FUNCTIONS.keys()


def arguments(name, boxes, shares):
    """Intervals of a function's arguments, and a point in them."""
    points = [min(low + s * (high - low), high) for (low, high), s in zip(boxes, shares)]
    count = {"where": 3}.get(name, 2 if name in BINARY else 1)
    front = ((-1.0, 0.0, 1.0, 2.0),) if name == "interval" else (VALUES,) if name == "fetch" else ()
    if name == "fetch":
        boxes, points = [(1.0, 2.0)], [1.0 + round(shares[0])]
    return (*front, *(Interval(*box) for box in boxes[:count])), (*front, *points[:count])


BINARY = {"add", "sub", "mul", "pow", "atan2", "min", "max", "less", "less_equal", "equal"}


@pytest.mark.parametrize("name", sorted(FLOAT_FUNCTIONS.keys() - {"external"}))
@examples(30, nightly=100)
@example(boxes=([0.0, 0.0], [-1.0, 0.0], [0.0, 0.0]), shares=(0.0, 0.0, 0.0))
@example(boxes=([0.0, 0.0], [0.0, 1.0], [0.0, 0.0]), shares=(0.0, 0.0, 0.0))
@example(boxes=([-2.0, -1.0], [1.0, 2.0], [0.0, 0.0]), shares=(0.0, 0.0, 0.0))
@given(boxes=st.tuples(ends, ends, ends), shares=st.tuples(share, share, share))
def test_bounds_hold(name, boxes, shares):
    box, point = arguments(name, boxes, shares)
    bounds, value = apply(name, *box), FLOAT_FUNCTIONS[name](*point)
    if not np.isnan(value):
        slack = 1e-12 * (1.0 + abs(value)) if np.isfinite(value) else 0.0
        assert bounds.low - slack <= value or value < -1e150
        assert value <= bounds.high + slack or value > 1e150


@examples(30, nightly=100)
@given(box=ends)
def test_a_point_has_tight_bounds(box):
    x = box[0]
    for name in ("sin", "cos", "exp", "tanh", "abs", "floor", "sign"):
        bounds = apply(name, Interval(x, x))
        assert bounds.low == bounds.high == pytest.approx(FLOAT_FUNCTIONS[name](x))


def test_a_square_is_not_negative():
    x = Interval(-1.0, 3.0)
    assert (apply("mul", x, x).low, apply("mul", x, x).high) == (0.0, 9.0)


def test_a_tape_replayed_with_intervals_bounds_its_outputs():
    tape = Tape()
    x = tape.input("q", 0)
    window = apply("less", apply("abs", x - 30.0), 1.0)
    cases = {(0.0, 28.0): (0.0, 0.0), (0.0, 100.0): (0.0, 1.0), (29.5, 30.5): (1.0, 1.0)}
    for box, expected in cases.items():
        (bounds,) = replay([window], {("q", 0): Interval(*box)})
        assert (bounds.low, bounds.high) == expected
