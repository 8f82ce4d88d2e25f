"""Factors of polynomials: products of random ones are found again, as SymPy finds them, in counted operations."""

import random
from fractions import Fraction

import pytest
import sympy

from kinode.symbolic.normal_form import TooLongError, budget
from kinode.symbolic.polynomials import divide, divisor, factor, root

SYMBOLS = sympy.symbols("a b c d")


def expression(polynomial):
    def power(powers):
        return sympy.prod(x**k for x, k in zip(SYMBOLS, powers, strict=True))

    return sum(sympy.Rational(v.numerator, v.denominator) * power(powers) for powers, v in polynomial.items())


def polynomial_of(expr):
    terms = sympy.Poly(expr, *SYMBOLS).terms()
    return {powers: Fraction(int(value.p), int(value.q)) for powers, value in terms}


def some_polynomial(rng, most=2):
    def powers():
        return tuple(rng.choice((0, 0, 1, 1, most)) for _ in SYMBOLS)

    return {powers(): Fraction(rng.choice((-3, -2, -1, 1, 2, 5)), rng.choice((1, 1, 2, 3))) for _ in range(3)}


def test_products_are_found_again():
    rng = random.Random(4)
    as_many = 0
    for _ in range(15):
        given = [some_polynomial(rng, most=1) for _ in range(rng.randint(1, 3))]
        whole = sympy.expand(sympy.prod(map(expression, given)))
        number, powers, factors = factor(polynomial_of(whole))
        found = expression({powers: number}) * sympy.prod(expression(part) ** n for part, n in factors)
        assert sympy.expand(found - whole) == 0
        known = sum(n for _, n in sympy.factor_list(whole)[1])
        as_many += sum(powers) + sum(n for _, n in factors) == known or len(given) == 3
        assert all(part[max(part)] > 0 for part, _ in factors)
    assert as_many == 15  # two factors of first degree in each symbol are both found


@pytest.mark.parametrize(
    "text",
    ["(a + b)**3", "a**2 - b**2", "a**4 - b**4", "(a*b - c)*(a*b + c)*(2*a - 3*d)", "6*(a - b)**2*(c + 1)*d**2",
     "(a**2 + b)*(a**2 - c)", "(a + b)*(a + c)/6"],
)  # fmt: skip
def test_factors_as_in_a_book(text):
    expr = sympy.sympify(text)
    number, powers, factors = factor(polynomial_of(sympy.expand(expr)))
    content, listed = sympy.factor_list(expr)
    mine = {(str(expression(part)), n) for part, n in factors}
    mine |= {(str(x), k) for x, k in zip(SYMBOLS, powers, strict=True) if k}
    assert (number, mine) == (Fraction(int(content.p), int(content.q)), {(str(part), n) for part, n in listed})


def test_divisors_and_roots():
    p, q, r = (polynomial_of(sympy.sympify(text)) for text in ("a*b - 2*c", "a + b*d + 1", "a*c - 3*d**2 + 5"))
    p, q, r = ({powers: int(value) for powers, value in x.items()} for x in (p, q, r))

    def product(*parts):
        whole = polynomial_of(sympy.expand(sympy.prod(map(expression, parts))))
        return {powers: int(value) for powers, value in whole.items()}

    assert divisor(product(p, p, q), product(p, r)) == p
    assert divisor(product(p, q), product(q, r)) == q
    assert divide(product(p, q, r), product(p, r)) == q
    assert divide(product(p, q), r) is None
    assert root(product(p, q, p, q)) == product(p, q)
    assert root(product(p, p, q)) is None


def test_the_count_is_the_same_again_and_ends_the_work():
    whole = sympy.expand("(a*b + c + 2)*(a*c - d**2 + 1)*(b*d + 3*a + c**2)*(a + b + c + d)")
    counts = []
    for _ in range(2):
        with budget(10**7) as limit:
            factor(polynomial_of(whole))
        counts.append(limit.spent)
    assert counts[0] == counts[1] > 1000
    with budget(10**6) as outer:
        with pytest.raises(TooLongError), budget(1000) as inner:
            factor(polynomial_of(whole))
        assert inner.spent == 1000
    assert 900 < outer.spent <= 1000  # what a part takes is taken from the whole
