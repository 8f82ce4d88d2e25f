"""Affine forms are what arithmetic says, over every scalar type, and refuse what is not affine."""

import math

import numpy as np
import pytest
import sympy

import kinode as kn
from kinode.algebra import scalars
from kinode.algebra.affine import Affine, NonlinearError, constant_and_terms, substitute
from kinode.algebra.scalars import Dual, apply, new_level
from kinode.algebra.trace import Tape, Traced, replay

X, Y = Affine.unknown("x"), Affine.unknown("y")


def combine(a, b, c):
    """An affine expression in x and y, written with every operation there is for forms."""
    return -(a * X - Y / b) * 2.0 + (c - X * c) + 3.0 + +Y + kn.where(b, X, Y) * a


def by_hand(a, b, c, x, y):
    return -(a * x - y / b) * 2.0 + (c - x * c) + 3.0 + y + (x if b != 0 else y) * a


def test_floats():
    constant, terms = constant_and_terms(combine(1.5, 0.5, -2.0))
    value = constant + terms["x"] * 0.7 + terms["y"] * -1.1
    assert value == pytest.approx(by_hand(1.5, 0.5, -2.0, 0.7, -1.1), rel=1e-15)


def test_traced_numbers():
    tape = Tape()
    a, b, c = tape.inputs("p", 3)
    for row in (combine(a, b, c), combine(1.5, b, c), combine(a, b, -2.0)):
        constant, terms = constant_and_terms(row)
        assert set(terms) == {"x", "y"}
        at = {("p", i): value for i, value in enumerate((1.5, 0.5, -2.0))}
        values = replay([constant, terms["x"], terms["y"]], at)
        assert values[0] + values[1] * 0.7 + values[2] * -1.1 == pytest.approx(
            by_hand(1.5, 0.5, -2.0, 0.7, -1.1), rel=1e-15
        )


def test_symbols():
    a, b = sympy.symbols("a b")
    constant, terms = constant_and_terms(a * X + Y * b - a + (b - X))
    assert sympy.simplify(terms["x"] - (a - 1)) == 0
    assert terms["y"] == b
    assert sympy.simplify(constant - (b - a)) == 0


def test_duals_outside_become_coefficients():
    """A row with known numbers that change: the terms change too, as by differences."""
    level = new_level()
    row = combine(Dual(1.5, 1.0, level), Dual(0.5, -0.3, level), -2.0)
    constant, terms = constant_and_terms(row)
    h = 1e-6
    ahead, behind = (constant_and_terms(combine(1.5 + s, 0.5 - 0.3 * s, -2.0)) for s in (h, -h))
    assert constant.rate == pytest.approx((ahead[0] - behind[0]) / (2 * h), abs=1e-8)
    for name in ("x", "y"):
        assert terms[name].value == pytest.approx(constant_and_terms(combine(1.5, 0.5, -2.0))[1][name], rel=1e-15)
        assert terms[name].rate == pytest.approx((ahead[1][name] - behind[1][name]) / (2 * h), abs=1e-8)


def test_rows_are_differentiated_by_duals_of_forms():
    """d/dt (t^2 x + y) = 2 t x + t^2 x' + y', the rates being unknowns too; twice gives x'' t^2 + 4 t x' + 2 x."""
    one, two = new_level(), new_level()
    t = Dual(Dual(3.0, 1.0, one), Dual(1.0, 0.0, one), two)
    x = [Affine.unknown(("x", k)) for k in range(3)]
    moving = Dual(Dual(x[0], x[1], one), Dual(x[1], x[2], one), two)
    row = t * t * moving
    assert constant_and_terms(row.rate.value)[1] == {("x", 0): 6.0, ("x", 1): 9.0}
    assert constant_and_terms(row.rate.rate)[1] == {("x", 0): 2.0, ("x", 1): 12.0, ("x", 2): 9.0}


def test_what_vanishes_leaves_no_term():
    assert X - X == 0.0
    assert X * 0.0 + 2.0 == 2.0
    assert constant_and_terms(X + Y - X)[1] == {"y": 1.0}
    assert (X - X + 2.0) * Y is not None  # a product with what is no form any more
    assert apply("pow", X, 1) is X
    assert apply("pow", X, 0) == 1.0


def test_numpy_arrays_of_forms():
    A = np.array([[1.0, 2.0], [3.0, 4.0]])
    rows = A @ np.array([X, Y], dtype=object) + np.array([5.0, 6.0])
    assert [constant_and_terms(row) for row in rows] == [(5.0, {"x": 1.0, "y": 2.0}), (6.0, {"x": 3.0, "y": 4.0})]
    assert constant_and_terms(np.float64(2.0) * X)[1] == {"x": 2.0}
    assert [constant_and_terms(x)[1] for x in X * np.array([1.0, 2.0])] == [{"x": 1.0}, {"x": 2.0}]


def test_values_in_place_of_unknowns():
    row = 2.0 * X - Y + 1.0
    assert substitute(row, {"x": 3.0, "y": 4.0}) == 3.0
    assert constant_and_terms(substitute(row, {"x": Y + 1.0})) == (3.0, {"y": 1.0})
    assert substitute(4.0, {"x": 1.0}) == 4.0


def test_a_condition_chooses_term_by_term():
    assert constant_and_terms(kn.where(1.0, X, 2.0)) == (0.0, {"x": 1.0})
    assert kn.where(0.0, X, 2.0) == 2.0
    tape = Tape()
    c = tape.input("c", 0)
    for row in (kn.where(c, X, 2.0), kn.where(c, 2.0 + X, Y)):
        constant, terms = constant_and_terms(row)
        assert type(terms["x"]) is Traced
        assert replay([terms["x"]], {("c", 0): 1.0}) == [1.0]
        assert replay([terms["x"]], {("c", 0): 0.0}) == [0.0]
        assert replay([constant], {("c", 0): 0.0}) == [2.0 if "y" not in terms else 0.0]


@pytest.mark.parametrize(
    ("operation", "names"),
    [
        (lambda: X * Y, "x, y"),
        (lambda: 1.0 / X, "x"),
        (lambda: Y / X, "x"),
        (lambda: X**2, "x"),
        (lambda: scalars.sin(X), "x"),
        (lambda: scalars.maximum(Tape().input("a", 0), Y), "y"),
        (lambda: scalars.maximum(Dual(2.0, 1.0), Y), "y"),
        (lambda: scalars.minimum(X, 0.0), "x"),
        (lambda: scalars.absolute(X), "x"),
        (lambda: kn.where(X, 1.0, 2.0), "x"),
        (lambda: scalars.less(X, Y), "x, y"),
        (lambda: Dual(X, Y) * Dual(X, Y), "x"),
        (lambda: scalars.fetch((1.0, 2.0), X), "x"),
    ],
)
def test_what_is_not_affine_is_refused_with_its_unknowns(operation, names):
    with pytest.raises(NonlinearError, match=f"of {names}$"):
        operation()


def test_of_mixed_types_the_one_that_wraps_decides():
    """A dual beside a traced number, in either order: the rate is kept."""
    tape = Tape()
    a = tape.input("a", 0)
    for args in ((a, Dual(2.0, 1.0)), (Dual(2.0, 1.0), a)):
        largest = apply("max", *args)
        assert isinstance(largest, Dual)
        assert replay([largest.rate], {("a", 0): 1.0}) == [1.0]
        assert replay([largest.rate], {("a", 0): 3.0}) == [0.0]
    chosen = kn.where(a, Dual(1.0, math.pi), 0.0)
    assert replay([chosen.rate], {("a", 0): 1.0}) == [math.pi]
