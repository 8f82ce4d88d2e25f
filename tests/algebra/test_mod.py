"""kn.mod on every scalar type, in laws and in Python."""

import math

import pytest

import kinode as kn
from kinode.algebra.scalars import Dual
from kinode.algebra.trace import Tape, replay
from kinode.expressions.parser import parse
from kinode.expressions.syntax_tree import symbol

CASES = [(7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (-0.25, 1.0), (6.0, 2.0), (0.0, 3.0)]


@pytest.mark.parametrize(("a", "b"), CASES)
def test_the_remainder_has_the_sign_of_the_divisor(a, b):
    tape = Tape()
    x, y = tape.inputs("x", 2)
    assert kn.mod(a, b) == a % b
    assert replay([kn.mod(x, y)], {("x", 0): a, ("x", 1): b})[0] == a % b
    assert parse("mod(x, y)").evaluate({"x": a, "y": b}.__getitem__) == a % b
    assert kn.mod(Dual(a, 2.0), b).value == a % b
    assert kn.mod(Dual(a, 2.0), b).rate == 2.0  # floor is piecewise constant


def test_python_and_the_parser_write_the_same_law():
    assert kn.mod(symbol("x"), 2.0) == parse("mod(x, 2)")
    assert symbol("x") % 2.0 == parse("mod(x, 2)")


def test_a_symbol():
    import sympy

    x = sympy.Symbol("x")
    assert float(kn.mod(x, 2.0).subs(x, 7.5)) == 1.5


def test_no_remainder_of_zero():
    assert math.isnan(kn.mod(1.0, 0.0))
    with pytest.raises(kn.LawError, match="zero"):
        kn.mod(symbol("x"), 0.0)
    with pytest.raises(kn.LawError, match="no finite value"):
        parse("mod(1, 0)")


def test_a_law_in_python():
    system = kn.System("pushed", gravity=(0, 0, 0))
    time = system.signal("time", "t")
    system.prismatic("slide", system.world, system.body("body", mass=1.0), axis="x", effort=kn.mod(time, 0.5))
    assert kn.simulate(system, 2.0)["slide.u"][-1] == pytest.approx(4 * 0.5**2 / 2, rel=1e-9)
