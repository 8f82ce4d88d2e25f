"""Laws: text, structure, derivatives and values in every scalar type; and what is said about wrong text."""

import copy
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinode as kn
from kinode.algebra import scalars
from kinode.algebra.scalars import Dual
from kinode.algebra.trace import Tape, replay
from kinode.expressions.function_table import CONSTANTS, FUNCTIONS, RESERVED
from kinode.expressions.parser import is_name, locate, parse
from kinode.expressions.syntax_tree import DEEPEST, Expression, symbol

X, Y = symbol("x"), symbol("elbow.q")
TABLES = {"foo": 1, "left.map": 2}


def value(law, call=None, **names):
    return law if isinstance(law, float) else law.evaluate(lambda name: names[name], call)


VALUES = [
    ("1 + 2*3", 7.0),
    ("-2^2", -4.0),
    ("2^-1", 0.5),
    ("2^3^2", 512.0),
    ("2**3**2", 512.0),
    ("-x^2", -9.0),
    ("(-x)^2", 9.0),
    ("10 - x - 1", 6.0),
    ("12/x/2", 2.0),
    ("12/x*2", 8.0),
    ("+x - -x", 6.0),
    ("1e2 + .5 + 1. + 2E-1", 101.7),
    ("180*deg - pi", 0.0),
    ("60*rpm/(2*pi)", 1.0),
    ("x < 4", 1.0),
    ("x <= 3", 1.0),
    ("x > 3", 0.0),
    ("x >= 3", 1.0),
    ("x == 3", 1.0),
    ("1 + (x > 2)*2", 3.0),
    ("1 + 1 < x - 2", 0.0),
    ("min(x, 2, 5)", 2.0),
    ("max(x, 2, 5, -7)", 5.0),
    ("where(x > 2, 10, 20)", 10.0),
    ("where(x > 4, 10, 20)", 20.0),
    ("step(x - 3)", 1.0),
    ("step(x - 3.1)", 0.0),
    ("ramp(x)", 3.0),
    ("ramp(-x)", 0.0),
    ("clamp(x, 0, 1)", 1.0),
    ("clamp(x, 4, 5)", 4.0),
    ("mod(x, 2)", 1.0),
    ("mod(-x, 2)", 1.0),
    ("mod(x, -2)", -1.0),
    ("smoothstep(x, 2, 4)", 0.5),
    ("smoothstep(x, 4, 8)", 0.0),
    ("smoothstep(x, 0, 1)", 1.0),
    ("hypot(x, 4)", 5.0),
    ("hypot(x, 4, 12)", 13.0),
    ("atan2(x, x)*4/pi", 1.0),
    ("sign(-x)*abs(-x)", -3.0),
    ("floor(x + 0.7)", 3.0),
    ("sqrt(x*3) + log(exp(x))", 6.0),
    ("sin(x)^2 + cos(x)^2", 1.0),
    ("cosh(x)^2 - sinh(x)^2", 1.0),
    ("tan(atan(x)) + asin(sin(1)) + acos(cos(1)) + tanh(x)*cosh(x)/sinh(x)", 6.0),
    ("  x  ", 3.0),
]


@pytest.mark.parametrize(("text", "expected"), VALUES)
def test_values(text, expected):
    law = parse(text)
    assert value(law, x=3.0) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    if isinstance(law, Expression):
        assert parse(law.text()) == law


WRITTEN = [
    "a - (b - c)",
    "a - b + c",
    "a/(b*c)",
    "a/b*c",
    "a*(b/c)",
    "a*(b + c)",
    "-(a + b)",
    "-(a*b)",
    "-a*b",
    "(a^b)^c",
    "a^b^c",
    "(-a)^2",
    "-a^2",
    "2^-a",
    "x/3",
    "1/x",
    "1/(1 + x)",
    "1/x/y",
    "(a < b)*c",
    "(a < b) < c",
    "where(a < b, a + 1, -b)",
    "min(a, b, c)",
    "min(a, min(b, c))",
    "max(min(a, b), c)",
    "foo(x + 1)",
    "foo.d0(x)",
    "foo.d0.d0(x)",
    "left.map(x, 2)",
    "left.map.d0.d1(x, y)",
    "lower.velocity.y@lower.tip*2",
    "1e-07*x",
    "x*-3",
    "a == b",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_text_has_no_needless_parentheses(text):
    assert parse(text, TABLES).text() == text


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (X + 0, X),
        (0 + X, X),
        (X - 0, X),
        (0 - X, -X),
        (X * 1, X),
        (1 * X, X),
        (X * 0, 0.0),
        (-1 * X, -X),
        (0 - (0 - X), X),
        (X**1, X),
        (X**0, 1.0),
        (X / 1, X),
        (1 / (1 / X), X),
        (X + -2, X - 2),
        (X - -2, X + 2),
        (X + (-Y), X - Y),
        (scalars.where(1.0, X, Y), X),
        (scalars.where(X, Y, Y), Y),
        ((X / 3).substitute({"x": 2.0}), 2 / 3),
        ((X / 4).derivative("x"), 0.25),
        (0 * scalars.sin(X), 0.0),
        (0 * (X / 3) ** 2, 0.0),
    ],
)
def test_folding(law, expected):
    assert law == expected
    assert type(law) is type(expected)


# law, an argument where one of its operations has no value, and the law's value elsewhere (at 2)
UNDEFINED = [
    ("0/x", 0.0, 0.0),
    ("0*(1/x)", 0.0, 0.0),
    ("x/x", 0.0, 1.0),
    ("(x - x)*(1/(x - 1))", 1.0, 0.0),
    ("1/x - 1/x", 0.0, 0.0),
    ("log(x) - log(x)", -1.0, 0.0),
    ("0*log(x)", 0.0, 0.0),
    ("0*log(x)", -1.0, 0.0),
    ("sqrt(x)*0", -1.0, 0.0),
    ("0*asin(x/4)", 5.0, 0.0),
    ("0*x^-1", 0.0, 0.0),
    ("0*x^0.5", -1.0, 0.0),
    ("0*(1 + foo(x))", 9.0, 0.0),
]


def table_to_five(_, args, axes=()):
    return scalars.log(5.0 - args[0])


@pytest.mark.parametrize(("text", "outside", "elsewhere"), UNDEFINED)
def test_what_has_no_value_is_not_simplified_away(text, outside, elsewhere):
    """Compared with the arithmetic of IEEE 754, in which 0/0, 0*inf, inf - inf and 0*nan are no numbers."""
    law, node = parse(text, TABLES), Tape().input("y", 0)
    traced = law.evaluate({"x": node}.get, table_to_five)
    for kind in (lambda x: replay([traced], {("y", 0): x})[0], lambda x: value(law, table_to_five, x=x)):
        assert not math.isfinite(kind(outside))
        assert kind(2.0) == elsewhere


@pytest.mark.parametrize("text", ["0/(x - x)", "(x - x)/(x - x)", "0*log(x - x)"])
def test_what_has_no_value_anywhere_is_no_number(text):
    assert not math.isfinite(value(parse(text), x=Tape().input("y", 0)))
    assert not math.isfinite(value(parse(text), x=2.0))


NUMBERS = st.floats(-1e3, 1e3, allow_nan=False) | st.integers(-3, 3).map(float) | st.floats(1e-300, 1e300)
ONE = [
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "sqrt",
    "abs",
    "sign",
    "floor",
]
TWO = ["atan2", "min", "max", "less", "less_equal", "equal", "pow"]


def grow(inner):
    operators = [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b if not (scalars.is_number(b) and b == 0) else a,
    ]
    pair = st.tuples(inner, inner)
    return st.one_of(
        st.tuples(st.sampled_from(operators), pair).map(lambda p: p[0](*p[1])),
        st.tuples(st.sampled_from(ONE), inner).map(lambda p: scalars.apply(p[0], p[1])),
        st.tuples(st.sampled_from(TWO), pair).map(lambda p: scalars.apply(p[0], *p[1])),
        inner.map(lambda a: -a),
        st.tuples(inner, inner, inner).map(lambda p: scalars.where(*p)),
        inner.map(lambda a: Expression("call", ("foo", a))),
        pair.map(lambda p: Expression("call_derivative", ("left.map", (0, 1), *p))),
    ).filter(lambda e: isinstance(e, Expression) or math.isfinite(e))


NAMES = st.sampled_from(["x", "t", "elbow.q", "lower.velocity.y@lower", "L1"]).map(symbol)
LAWS = st.recursive(NAMES | NUMBERS, grow, max_leaves=12).filter(lambda e: isinstance(e, Expression))


@pytest.mark.filterwarnings("ignore:overflow")
@settings(deadline=None)
@given(LAWS)
def test_text_reads_back_as_the_same_expression(law):
    again = parse(law.text(), TABLES)
    assert again == law
    assert hash(again) == hash(law)
    assert pickle.loads(pickle.dumps(law)) == law
    assert law.rename(lambda name: name) == law
    assert law.substitute({}) is law


SMOOTH = ["sin(x*y)", "x^3*y", "y^x", "2^x", "x^-2", "1/x", "x/y/2", "tan(x)", "asin(x/5)", "acos(x/5)", "atan(x*y)"]
SMOOTH += ["atan2(x, y)", "sinh(x)*cosh(y)", "tanh(x)", "exp(-x*y)", "log(x + y)", "sqrt(x*y)", "abs(-x*y)", "x^0.5"]
SMOOTH += ["min(x, y)", "max(x, y, 1)", "where(x < y, x^2, y)", "smoothstep(x, 0, 4)", "mod(x, 3)", "clamp(x, 0, 9)"]
SMOOTH += ["floor(x)*x", "step(x)*x^2", "sign(x)*x", "hypot(x, y)", "(x < y)*x", "(x - y)*(x + y) - 2"]


@pytest.mark.parametrize("text", SMOOTH)
def test_derivatives_and_kinds_of_number(text):
    law = parse(text)
    slope = law.derivative("x")
    tape = Tape()
    nodes = dict(zip("xy", tape.inputs("q", 2), strict=True))
    traced = law.evaluate(nodes.__getitem__), value(slope, **nodes)
    for x, y in ((1.3, 2.2), (2.6, 0.4)):
        exact = value(slope, x=x, y=y)
        difference = (value(law, x=x + 1e-6, y=y) - value(law, x=x - 1e-6, y=y)) / 2e-6
        assert exact == pytest.approx(difference, rel=1e-7, abs=1e-7)
        replayed = replay(traced, {("q", 0): x, ("q", 1): y})
        assert replayed == pytest.approx([value(law, x=x, y=y), exact], rel=1e-13, abs=1e-13)
    if isinstance(slope, Expression):
        assert parse(slope.text()) == slope


@pytest.mark.parametrize("text", SMOOTH)
def test_derivatives_agree_with_duals(text):
    law = parse(text)
    for x, y in ((1.3, 2.2), (2.6, 0.4)):
        dual = value(law, x=Dual(x, 1.0), y=y)
        assert value(law.derivative("x"), x=x, y=y) == pytest.approx(dual.rate, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("text", [text for text in SMOOTH if "mod" not in text])
def test_symbols_agree(text):
    import sympy

    law = parse(text)
    formula = law.evaluate(sympy.Symbol)
    point = {"x": 1.3, "y": 2.2}
    assert float(formula.subs(point)) == pytest.approx(value(law, **point), rel=1e-12)


def test_laws_of_laws():
    law = parse("a*sin(b)")
    assert law.evaluate(lambda name: X if name == "a" else Y) == X * scalars.sin(Y)
    assert law.substitute({"a": 2.0, "b": X**2}) == parse("2*sin(x^2)")
    assert law.substitute({"a": 0.0}) == 0.0
    assert law.rename(lambda name: f"left.{name}") == parse("left.a*sin(left.b)")
    assert parse("foo(x)", TABLES).rename(lambda name: f"left.{name}").text() == "left.foo(left.x)"
    assert isinstance(scalars.sin(Dual(X, Y)).rate, Expression)
    assert scalars.atan2(X, Dual(1.0, 2.0)).rate.names() == {"x"}


def test_tables_are_called_with_values_and_axes():
    law = parse("left.map(x, 2*x)", TABLES)
    second = law.derivative("x").derivative("x")
    assert law.calls() == second.calls() == {"left.map"}

    def call(table, args, axes=()):
        a, b = args  # the table is a^2 b^3
        return {
            (): a**2 * b**3,
            (0,): 2 * a * b**3,
            (1,): 3 * a**2 * b**2,
            (0, 0): 2 * b**3,
            (0, 1): 6 * a * b**2,
            (1, 1): 6 * a**2 * b,
        }[axes]

    assert value(second, call, x=1.5) == pytest.approx(8 * 20 * 1.5**3)
    with pytest.raises(kn.LawError, match=r"left\.map"):
        value(law, x=1.0)


def test_only_the_branch_taken_is_computed():
    law = parse("where(x < 1, foo(x), 7)", TABLES)

    def call(table, args, axes=()):
        raise kn.LawError("outside")

    assert value(law, call, x=2.0) == 7
    with pytest.raises(kn.LawError, match="outside"):
        value(law, call, x=0.0)


def test_deep_and_shared_laws():
    law = X
    for _ in range(1200):
        law = scalars.sin(law) + law * 0.5
    assert math.isfinite(value(law, x=0.3))
    assert law.names() == {"x"}
    assert pickle.loads(pickle.dumps(law)) == law
    assert copy.deepcopy(law) == law
    assert math.isfinite(value(law.derivative("x"), x=0.3))
    with pytest.raises(kn.LawError, match="too long to be written out"):
        law.text()
    assert len(repr(law)) < 300
    with pytest.raises(kn.LawError, match="deep"):
        for _ in range(DEEPEST):
            law = scalars.sin(law)


def test_an_expression_is_a_value():
    assert X == symbol("x")
    assert X != Y
    assert X != 1.0
    assert len({X, symbol("x"), Y}) == 2
    assert symbol("x") in [Y, X]
    with pytest.raises(AttributeError):
        X.op = "sin"


def test_python_that_would_go_wrong_silently_is_refused():
    with pytest.raises(kn.LawError, match="neither true nor false"):
        bool(X < 1)
    with pytest.raises(kn.LawError, match="neither true nor false"):
        max(X, 0)
    with pytest.raises(kn.LawError, match="no number yet"):
        math.sin(X)
    for wrong in (math.inf, math.nan):
        with pytest.raises(kn.LawError, match="cannot stand in a law"):
            X * wrong
    with pytest.raises(kn.LawError, match="divides by zero"):
        X / 0
    with pytest.raises(kn.LawError, match="declared table"):
        scalars.interval((0.0, 1.0), X)
    with pytest.raises(TypeError):
        X + "1"
    with pytest.raises(kn.LawError, match="no operation"):
        Expression("system", ("x",))


def test_with_numpy():
    assert np.float64(2) * X == 2 * X
    assert list(np.array([1.0, 2.0]) * X) == [X, 2 * X]
    assert np.array([X, Y]) @ np.array([Y, X]) == X * Y + Y * X
    assert abs(X) == scalars.absolute(X)
    assert scalars.sign(X).evaluate(lambda name: np.float64(-2)) == -1
    assert np.sin(np.array([X, Y])).tolist() == [scalars.sin(X), scalars.sin(Y)]


def test_locate():
    text = "2*elbow.q + elbow.q2 + foo.d0(x)"
    assert locate(text, "elbow.q2") == 12
    assert locate(text, "elbow.q") == 2
    assert locate(text, "foo") == 23
    assert locate(text, "elbow") is None


def test_names():
    assert all(is_name(name) for name in ("x", "elbow.q", "lower.velocity.y@lower", "a_1", "ω"))
    assert not any(is_name(name) for name in ("", "1a", "_a", "a._b", "a.", "a@", "a@b@c", "a b", "a-b", "x²"))
    assert {"sin", "pi", "deg", "lambda"} <= RESERVED
    assert not set(FUNCTIONS) & set(CONSTANTS)
    assert all(function.note for function in FUNCTIONS.values())


def test_importing_is_quick():
    code = (
        "import sys; from kinode.expressions import parser, lookup_tables; print({'scipy', 'sympy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
