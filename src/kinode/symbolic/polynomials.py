"""Polynomials with rational coefficients: exact division, greatest common divisors, factors.

A polynomial is a dictionary from the powers of its symbols to its coefficients.  Products and quotients of terms are
taken from the ``budget`` of ``normal_form``, so that what takes long ends, after the same count on any machine.

``factor`` finds all factors that differ in their symbols, all powers, and those of what is quadratic in any symbol (or
in a power of one) by the root of its discriminant.  A product of two factors with the same symbols, each of them of
degree two or more in every one, stays as it is.

Why our own: ``sympy.factor`` has no bound.  A damper between a plane body and the world makes it search for hours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from kinode.symbolic.normal_form import spend

PRIME = 2**31 - 1
POINTS = (1009, 30011, 500009, 7000003, 90000049, 1100000009)  # numbers for symbols
Powers = tuple[int, ...]
Polynomial = dict[Powers, int]  # without zeros
Factors = list[tuple[Polynomial, int]]  # each with its power


def factor(terms: Mapping[Powers, Fraction]) -> tuple[Fraction, Powers, Factors]:
    """The number, the product of powers, and the factors with whole coefficients, whose product the polynomial is.

    The largest monomial of each factor has a positive coefficient.
    """
    number, powers, rest = common_factor(terms)
    found: Factors = []
    for part in _split(rest):
        for i, (known, power) in enumerate(found):
            if known == part:
                found[i] = known, power + 1
                break
        else:
            found.append((part, 1))
    return number, powers, found


def common_factor(terms: Mapping[Powers, Fraction]) -> tuple[Fraction, Powers, Polynomial]:
    """The number and the product of powers that all terms have in common, and the rest; powers may be negative."""
    spend(len(terms))
    bottom = math.lcm(*(value.denominator for value in terms.values()))
    whole = {powers: int(value * bottom) for powers, value in terms.items()}
    powers = tuple(min(column) for column in zip(*whole, strict=True))
    number = math.gcd(*whole.values()) * (1 if whole[max(whole)] > 0 else -1)
    rest = {_less(given, powers): value // number for given, value in whole.items()}
    return Fraction(number, bottom), powers, rest


def product(p: Polynomial, q: Polynomial) -> Polynomial:
    """p q."""
    spend(len(p) * len(q))
    result = Polynomial()
    for powers, value in p.items():
        for other, number in q.items():
            _add(result, _more(powers, other), value * number)
    return result


def total(p: Polynomial, q: Polynomial) -> Polynomial:
    """p + q."""
    spend(len(q))
    result = dict(p)
    for powers, value in q.items():
        _add(result, powers, value)
    return result


def divide(p: Polynomial, d: Polynomial) -> Polynomial | None:
    """p / d where d divides p without a rest, else None."""
    lead = max(d)
    over, others = d[lead], [(powers, value) for powers, value in d.items() if powers != lead]
    rest, quotient = dict(p), Polynomial()
    while rest:
        top = max(rest)
        value, left = divmod(rest.pop(top), over)
        powers = _less(top, lead)
        if left or min(powers, default=0) < 0:
            return None
        quotient[powers] = value
        spend(1 + len(others))
        for other, number in others:
            _add(rest, _more(powers, other), -value * number)
    return quotient


def divisor(p: Polynomial, q: Polynomial) -> Polynomial:
    """The greatest common divisor, its largest monomial positive."""
    if not p or not q:
        return _positive(p or q)
    spend(len(p) + len(q))
    number = math.gcd(*p.values(), *q.values())
    common = tuple(min(column) for column in zip(*p, *q, strict=True))
    if len(p) == 1 or len(q) == 1:
        return {common: number}
    p, q = _primitive(p), _primitive(q)
    n = len(common)
    p, q = (_shifted(x, [min(column) for column in zip(*x, strict=True)]) for x in (p, q))
    degrees = [(max(one), max(two)) for one, two in zip(zip(*p, strict=True), zip(*q, strict=True), strict=True)]
    for x in sorted(range(n), key=lambda x: (sum(degrees[x]), x)):
        if not any(degrees[x]):
            continue
        if all(degrees[x]):
            result = _common_in(p, q, x)
        else:  # what both have in common has no power of x
            one, other = (p, q) if _degree(p, x) else (q, p)
            result = other
            for coefficient in sorted(_coefficients(one, x).values(), key=len):
                result = divisor(result, coefficient)
                if _is_one(result):
                    break
        break
    else:
        result = {(0,) * n: 1}
    return {_more(powers, common): value * number for powers, value in _primitive(result).items()}


def root(p: Polynomial) -> Polynomial | None:
    """The polynomial whose square p is, found term by term from the largest monomial; else None."""
    if not p:
        return {}
    lead = max(p)
    number = math.isqrt(max(p[lead], 0))
    if number**2 != p[lead] or any(power % 2 for power in lead):
        return None
    first = tuple(power // 2 for power in lead)
    result, rest = {first: number}, dict(p)
    del rest[lead]
    while rest:
        top = max(rest)
        value, left = divmod(rest[top], 2 * number)
        powers = _less(top, first)
        if left or min(powers, default=0) < 0 or powers >= min(result):
            return None
        spend(2 * len(result) + 1)
        for other, coefficient in result.items():
            _add(rest, _more(powers, other), -2 * value * coefficient)
        _add(rest, _more(powers, powers), -value * value)
        result[powers] = value
    return result


# -- factors ---------------------------------------------------------------------------------------
def _split(p: Polynomial) -> list[Polynomial]:
    """The factors of a polynomial without a common number or a common power of a symbol; none of 1."""
    degrees = [max(column) for column in zip(*p, strict=True)]
    symbols = sorted((x for x, degree in enumerate(degrees) if degree), key=lambda x: degrees[x])
    if not symbols:
        return []
    for x in symbols:
        content = _content(p, x)
        if len(content) > 1:
            return [*_split(content), *_split(_quotient(p, content))]
    if any(degrees[x] == 1 for x in symbols):
        return [p]
    for x in symbols:
        half, odd = divmod(degrees[x], 2)
        if not odd and all(powers[x] % half == 0 for powers in p):
            return _split_quadratic(p, x, half)
    x = symbols[0]
    repeated = _primitive(divisor(p, _derivative(p, x)))
    return [*_split(repeated), *_split(_quotient(p, repeated))] if len(repeated) > 1 else [p]


def _split_quadratic(p: Polynomial, x: int, step: int) -> list[Polynomial]:
    """The factors of A X^2 + B X + C with X = x^step: those of its roots, if its discriminant is a square."""
    parts = _coefficients(p, x)
    A, B, C = (parts.get(power * step, {}) for power in (2, 1, 0))
    square = product(B, B)
    for powers, value in product(A, C).items():
        _add(square, powers, -4 * value)
    rooted = root(square)
    if rooted is None:
        return [p]
    linear = {_with(powers, x, step): 2 * value for powers, value in A.items()}
    for part in (B, rooted):
        for powers, value in part.items():
            _add(linear, powers, value)
    first = _primitive(linear)
    one = _quotient(first, _content(first, x))
    other = _quotient(p, one)
    return [*_split(one), *_split(other)] if step > 1 else [one, other]


def _content(p: Polynomial, x: int) -> Polynomial:
    """The greatest common divisor of the coefficients of the powers of a symbol."""
    result = Polynomial()
    for coefficient in sorted(_coefficients(p, x).values(), key=len):
        result = divisor(result, coefficient)
        if _is_one(result):
            break
    return result


def _common_in(p: Polynomial, q: Polynomial, x: int) -> Polynomial:
    """The greatest common divisor of two polynomials in x: of their contents, and by Euclid of the rest."""
    contents = _content(p, x), _content(q, x)
    outer = divisor(*contents)
    if _are_coprime(p, q, x):
        return outer
    p, q = (_quotient(whole, content) for whole, content in zip((p, q), contents, strict=True))
    if _degree(p, x) < _degree(q, x):
        p, q = q, p
    while _degree(q, x):
        rest = _pseudo_rest(p, q, x)
        if not rest:
            return product(outer, q)
        p, q = q, _quotient(rest, _content(rest, x))
    return outer


def _are_coprime(p: Polynomial, q: Polynomial, x: int) -> bool:
    """Whether two polynomials surely have no factor with x in common: they have none where the others are numbers."""
    one, two = (_image(part, x) for part in (p, q))
    if not one[0] or not two[0]:  # by chance no image of this degree
        return False
    while two:
        spend(len(one) * len(two))
        inverse = pow(two[0], -1, PRIME)
        while len(one) >= len(two):
            scale = one[0] * inverse % PRIME
            less = [value * scale for value in two] + [0] * (len(one) - len(two))
            one = [(a - b) % PRIME for a, b in zip(one[1:], less[1:], strict=True)]
        while one and not one[0]:
            del one[0]
        one, two = two, one
    return len(one) == 1


def _image(p: Polynomial, x: int) -> list[int]:
    """The coefficients of x from the highest power on, the others being numbers, modulo a prime."""
    spend(len(p))
    values = [0] * (_degree(p, x) + 1)
    for powers, value in p.items():
        for i, power in enumerate(powers):
            value = value if i == x else value * pow(POINTS[i % len(POINTS)] + i, power, PRIME) % PRIME
        values[-1 - powers[x]] += value
    return [value % PRIME for value in values]


def _pseudo_rest(p: Polynomial, q: Polynomial, x: int) -> Polynomial:
    """The rest of p, times powers of the first coefficient of q, over q."""
    degree = _degree(q, x)
    first = _coefficients(q, x)[degree]
    while p and _degree(p, x) >= degree:
        top = _degree(p, x)
        less = product({_with(powers, x, top - degree): v for powers, v in _coefficients(p, x)[top].items()}, q)
        p = product(p, first)
        for powers, value in less.items():
            _add(p, powers, -value)
        p = _primitive(p) if p else p
    return p


# -- pieces ----------------------------------------------------------------------------------------
def _quotient(p: Polynomial, d: Polynomial) -> Polynomial:
    """p / d, where d is known to divide p."""
    quotient = divide(p, d)
    assert quotient is not None
    return quotient


def _primitive(p: Polynomial) -> Polynomial:
    """The polynomial without a common number, its largest monomial positive."""
    spend(len(p))
    number = math.gcd(*p.values())
    p = _positive(p)
    return p if number == 1 else {powers: value // number for powers, value in p.items()}


def _is_one(p: Polynomial) -> bool:
    return all(value == 1 and not any(powers) for powers, value in p.items())


def _positive(p: Polynomial) -> Polynomial:
    return {powers: -value for powers, value in p.items()} if p and p[max(p)] < 0 else p


def _coefficients(p: Polynomial, x: int) -> dict[int, Polynomial]:
    """The coefficients of the powers of one symbol, with that symbol's power zero."""
    spend(len(p))
    parts: dict[int, Polynomial] = {}
    for powers, value in p.items():
        parts.setdefault(powers[x], {})[_with(powers, x, 0)] = value
    return parts


def _derivative(p: Polynomial, x: int) -> Polynomial:
    return {_with(powers, x, powers[x] - 1): value * powers[x] for powers, value in p.items() if powers[x]}


def _degree(p: Polynomial, x: int) -> int:
    return max((powers[x] for powers in p), default=0)


def _shifted(p: Polynomial, powers: Iterable[int]) -> Polynomial:
    less = tuple(powers)
    return {_less(given, less): value for given, value in p.items()} if any(less) else p


def _with(powers: Powers, x: int, power: int) -> Powers:
    return (*powers[:x], power, *powers[x + 1 :])


def _more(one: Powers, two: Powers) -> Powers:
    return tuple(a + b for a, b in zip(one, two, strict=True))


def _less(one: Powers, two: Powers) -> Powers:
    return tuple(a - b for a, b in zip(one, two, strict=True))


def _add(total: Polynomial, powers: Powers, value: int) -> None:
    value += total.get(powers, 0)
    if value:
        total[powers] = value
    else:
        total.pop(powers, None)
