"""Laws that cannot be read: the error points at the character; no text raises anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinode as kn
from kinode.expressions.parser import parse
from kinode.expressions.syntax_tree import Expression

TABLES = {"foo": 1, "left.map": 2}


REFUSED = [
    ("", 0, "the law is empty"),
    ("   ", 3, "the law is empty"),
    ("2 + snh(x)", 4, "'snh' is no function or table; did you mean sinh?"),
    ("arctan(x)", 0, "did you mean atan?"),
    ("ln(x)", 0, "did you mean log?"),
    ("fooo(x)", 0, "did you mean foo?"),
    ("t(3)", 0, "to multiply write t*(...)"),
    ("pi(3)", 0, "'pi' is a number"),
    ("(a + b).real", 7, "only a name has parts after a point"),
    ("a..b", 1, "only a name has parts"),
    ("'x'", 0, "no quoted text"),
    ('x + "y"', 4, "no quoted text"),
    ("a[0]", 1, "'[' has no meaning"),
    ("{a}", 0, "'{' has no meaning"),
    ("a = b", 2, "to compare write =="),
    ("a != b", 2, "1 - (a == b)"),
    ("a b", 2, "an operator is missing: write a*b"),
    ("2 m", 2, "write 2*m (or 2, in SI units: a quantity such as '2 m' stands alone)"),
    ("2m", 1, "number and unit stand apart: write '2 m' for a quantity; for a product write 2*m"),
    ("2x", 1, "'x' is no known unit; for a product write 2*x"),
    ("2sin(t)", 1, "'sin' is a function, and no unit; for a product write 2*sin(...)"),
    ("90deg*t", 2, "number and unit stand apart: write '90 deg' for a quantity; for a product write 90*deg"),
    ("4k7", 1, "'k' is no unit: write 4.7e3, or the unit with its prefix"),
    ("2(x)", 1, "an operator is missing: write 2*(...)"),
    ("1 2", 2, "two numbers side by side"),
    ("1.2.3", 3, "two numbers side by side"),
    ("(a", 0, "this parenthesis is not closed"),
    ("sin((a)", 3, "this parenthesis is not closed"),
    ("a)", 1, "this parenthesis closes none"),
    ("()", 1, "a number, a name or a function is expected, not ')'"),
    ("a +", 3, "the law ends too early"),
    ("*a", 0, "expected, not '*'"),
    ("a,b", 1, "a comma stands between the arguments"),
    ("sin()", 0, "'sin' takes 1 argument, not 0"),
    ("sin(a, b)", 0, "'sin' takes 1 argument, not 2"),
    ("min(a)", 0, "'min' takes at least 2 arguments, not 1"),
    ("where(a, b)", 0, "where(c, a, b)"),
    ("foo(a, b)", 0, "'foo' takes 1 argument, not 2"),
    ("foo.d1(a)", 0, "has no axis 1"),
    ("sin", 0, "'sin' is a function: write sin(...)"),
    ("foo + 1", 0, "'foo' is a function"),
    ("x + 1e999", 4, "no finite value"),
    ("x + 1/0", 5, "divides by zero"),
    ("x/(1 - 1)", 1, "divides by zero"),
    ("log(0)", 0, "no finite value"),
    ("sqrt(-1)*x", 0, "no finite value"),
    ("10^999", 2, "no finite value"),
    ("exp(1e9)", 0, "no finite value"),
    ("lambda", 0, "'lambda' has no meaning"),
    ("a and b", 2, "write a*b"),
    ("not a", 0, "write 1 - a"),
    ("1 if a else 2", 2, "where(condition, a, b)"),
    ("True", 0, "write 1"),
    ("__class__", 0, "names do not begin with an underscore"),
    ("a.__class__", 2, "names do not begin with an underscore"),
    ("x²", 0, "powers are written x^2"),
    ("a < b < c", 6, "comparisons do not chain"),
    ("x % 2", 2, "mod(a, b)"),
    ("a & b", 2, "a*b is 'and'"),
    ("a@", 1, "'@' stands between"),
    ("x; y", 1, "';' has no meaning"),
    ("(" * 101 + "x" + ")" * 101, 101, "nested more than 100 deep"),
    ("-" * 101 + "x", 101, "nested more than 100 deep"),
    ("x^" * 101 + "x", 202, "nested more than 100 deep"),
]


@pytest.mark.parametrize(("text", "position", "message"), REFUSED)
def test_refused_text_points_at_the_character(text, position, message):
    with pytest.raises(kn.LawError) as caught:
        parse(text, TABLES)
    assert message in str(caught.value)
    assert (caught.value.text, caught.value.position) == (text, position)


def test_text_that_is_too_long():
    with pytest.raises(kn.LawError, match="10001 characters is too long"):
        parse("x" * 10_001)
    assert parse("+".join(["x"] * 5000)).evaluate(lambda name: 1.0) == 5000


@given(st.text(max_size=30))
def test_garbage_raises_nothing_but_law_errors(text):
    try:
        parse(text, TABLES)
    except kn.LawError as error:
        assert 0 <= error.position <= len(text)


@given(st.text(alphabet="xt1.e2+-*/^(),<>=@ _sincofmaw'[", max_size=60))
def test_likely_garbage_raises_nothing_but_law_errors(text):
    try:
        law = parse(text, TABLES)
    except kn.LawError:
        return
    if isinstance(law, Expression):
        assert parse(law.text(), TABLES) == law
