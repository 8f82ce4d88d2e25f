"""Quotients of polynomials: SymPy expressions with common factors cancelled, within a budget of operations.

An expression is read as a quotient of two polynomials in its symbols; sines, roots and other functions count as
symbols.  ``cancelled`` and ``factored`` write it again.  What takes more than ``BUDGET`` operations raises
``TooLongError``, and stays as it is with those who ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import solve_spd
from kinode.symbolic.normal_form import as_fraction
from kinode.symbolic.polynomials import Polynomial, common_factor, divide, divisor, factor, product, total
from kinode.symbolic.writers import with_plain_numbers, write_product

BUDGET = 10_000  # operations that one expression may take


class PolynomialQuotient:
    """A quotient of two polynomials with whole coefficients, without a common factor."""

    __slots__ = ("above", "below")

    def __init__(self, above: Polynomial, below: Polynomial) -> None:
        common = divisor(above, below) if above else below
        sign = -1 if common[max(common)] * below[max(below)] < 0 else 1
        if len(common) > 1 or any(max(common)) or sign * common[max(common)] != 1:
            common = {powers: sign * value for powers, value in common.items()}
            above, below = (divide(x, common) or {} for x in (above, below))
        self.above, self.below = above, below

    def _other(self, x: Any) -> PolynomialQuotient:
        if isinstance(x, PolynomialQuotient):
            return x
        one, value = (0,) * len(max(self.below)), as_fraction(x)
        return PolynomialQuotient({one: value.numerator} if value else {}, {one: value.denominator})

    def __add__(self, x: Any) -> PolynomialQuotient:
        other = self._other(x)
        if self.below == other.below:
            return PolynomialQuotient(total(self.above, other.above), self.below)
        above = total(product(self.above, other.below), product(other.above, self.below))
        return PolynomialQuotient(above, product(self.below, other.below))

    __radd__ = __add__

    def __neg__(self) -> PolynomialQuotient:
        return PolynomialQuotient({powers: -value for powers, value in self.above.items()}, self.below)

    def __sub__(self, x: Any) -> PolynomialQuotient:
        return self + -self._other(x)

    def __rsub__(self, x: Any) -> PolynomialQuotient:
        return self._other(x) + -self

    def __mul__(self, x: Any) -> PolynomialQuotient:
        if isinstance(x, np.ndarray):
            return NotImplemented  # each entry by itself
        other = self._other(x)
        one, two = PolynomialQuotient(self.above, other.below), PolynomialQuotient(other.above, self.below)
        return PolynomialQuotient(product(one.above, two.above), product(one.below, two.below))

    __rmul__ = __mul__

    def __truediv__(self, x: Any) -> PolynomialQuotient:
        other = self._other(x)
        return self * PolynomialQuotient(other.below, other.above)

    def __rtruediv__(self, x: Any) -> PolynomialQuotient:
        return self._other(x) / self


class QuotientReader:
    """Reads expressions as quotients in common symbols, and writes them."""

    def __init__(self, expressions: Sequence[Any]) -> None:
        self.symbols: list[Any] = []
        self._known: dict[Any, PolynomialQuotient] = {}
        for expr in expressions:
            self._collect(expr)
        self.symbols.sort(key=str)

    def _collect(self, expr: Any) -> None:
        """List what counts as a symbol."""
        if expr.is_Add or expr.is_Mul:
            for part in expr.args:
                self._collect(part)
        elif expr.is_Pow and expr.exp.is_Integer:
            self._collect(expr.base)
        elif not expr.is_Number:
            symbol = _base(expr)[0]
            if symbol not in self.symbols:
                self.symbols.append(symbol)

    def read(self, expr: Any) -> PolynomialQuotient:
        """An expression as a quotient."""
        if expr not in self._known:
            self._known[expr] = self._read(expr)
        return self._known[expr]

    def _read(self, expr: Any) -> PolynomialQuotient:
        one = {(0,) * len(self.symbols): 1}
        if expr.is_Number:
            value = Fraction(int(expr.p), int(expr.q)) if expr.is_Rational else as_fraction(float(expr))
            return PolynomialQuotient(one, one) * value
        if expr.is_Add or expr.is_Mul:
            parts = [self.read(part) for part in expr.args]
            if expr.is_Add:  # what has a common denominator first
                parts.sort(key=lambda part: sorted(part.below.items()))
            return reduce(add if expr.is_Add else mul, parts)
        base, power = _base(expr)
        if expr.is_Pow and expr.exp.is_Integer:
            whole = self.read(base)
        else:
            place = self.symbols.index(base)
            whole = PolynomialQuotient({tuple(int(k == place) for k in range(len(self.symbols))): 1}, one)
        result = PolynomialQuotient(one, one)
        for _ in range(abs(power)):
            result = result * whole
        return 1 / result if power < 0 else result

    def cancelled(self, quotient: PolynomialQuotient) -> Any:
        """The quotient with two sums."""
        return self._write(quotient, whole=True)

    def factored(self, quotient: PolynomialQuotient) -> Any:
        """The quotient with the factors of both."""
        return self._write(quotient, whole=False)

    def _write(self, quotient: PolynomialQuotient, *, whole: bool) -> Any:
        import sympy

        if not quotient.above:
            return sympy.S.Zero
        sides = []
        for side in (quotient.above, quotient.below):
            terms = {powers: Fraction(value) for powers, value in side.items()}
            if whole:
                number, powers, rest = common_factor(terms)
                sides.append((number, powers, [(rest, 1)]))
            else:
                sides.append(factor(terms))
        (number, powers, factors), (under, less, divisors) = sides
        lowered = tuple(a - b for a, b in zip(powers, less, strict=True))
        quotients = [(part, -power) for part, power in divisors if len(part) > 1]
        factors = [(part, power) for part, power in factors if len(part) > 1]
        return with_plain_numbers(write_product(self.symbols, number / under, lowered, [*factors, *quotients]))


def _base(expr: Any) -> tuple[Any, int]:
    """An expression as a whole power: x^3, sqrt(x)^-1."""
    if expr.is_Pow and expr.exp.is_Rational:
        return expr.base ** (expr.exp / expr.exp.p), int(expr.exp.p)
    return expr, 1


def inverse(A: Any) -> Any:
    """The inverse of a symmetric positive definite SymPy matrix, its entries cancelled."""
    import sympy

    n = A.shape[0]
    if not n:
        return sympy.zeros(0, 0)
    reader = QuotientReader(list(A))
    entries: Array = np.array([reader.read(x) for x in A], dtype=object).reshape(n, n)
    solved = solve_spd(entries, np.array([[reader.read(sympy.Integer(i == j)) for j in range(n)] for i in range(n)]))
    return sympy.Matrix(n, n, [reader.cancelled(x) for x in solved.ravel()])
