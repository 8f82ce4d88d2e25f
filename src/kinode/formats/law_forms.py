"""Laws by their meaning: two laws have one form if they differ only in the order and grouping of sums and products.

A form is a sum of terms, each a number times powers of factors.  Products of sums are not expanded: such a sum is a
factor of its own.  Numbers are compared to twelve digits.  Equal forms mean equal laws wherever both are defined;
unequal forms may still be equal, as sin(x)^2 + cos(x)^2 and 1 are.
"""

from __future__ import annotations

from typing import Any

from kinode.expressions.syntax_tree import Expression, walk

DIGITS = 12
Factors = frozenset[tuple[int, float]]  # which factor, and its power
Terms = dict[Factors, float]
ONE: Factors = frozenset()


def round_number(value: float) -> float:
    """A number to the digits that are compared."""
    return float(f"{value:.{DIGITS}g}") + 0.0


class LawForms:
    """Numbers for forms: laws of one meaning get one number.

    Examples
    --------
    >>> from kinode.formats.law_forms import LawForms
    >>> from kinode.expressions.syntax_tree import symbol
    >>> x, y, forms = symbol("x"), symbol("y"), LawForms()
    >>> forms.find(2 * x + y / 2) == forms.find(0.5 * y + x * 2)
    True
    """

    def __init__(self) -> None:
        self._known: dict[Any, int] = {}

    def find(self, law: Expression | float) -> int:
        """The number of the form of a law."""
        return self._number(self._sum_key(self._terms(law)))

    def _number(self, key: Any) -> int:
        return self._known.setdefault(key, len(self._known))

    def _sum_key(self, terms: Terms) -> Any:
        return "sum", frozenset((factors, round_number(x)) for factors, x in terms.items() if x != 0.0)

    def _terms(self, law: Expression | float) -> Terms:
        if not isinstance(law, Expression):
            return {ONE: float(law)}
        done: dict[int, Terms] = {}
        for node in walk(law):
            args = [done[id(x)] if isinstance(x, Expression) else x for x in node.args]
            done[id(node)] = self._combine(node.op, args)
        return done[id(law)]

    def _combine(self, op: str, args: list[Any]) -> Terms:
        terms = [x if isinstance(x, dict) else {ONE: x} if isinstance(x, float) else x for x in args]
        match op:
            case "add" | "sub":
                return _add(terms[0], terms[1], 1.0 if op == "add" else -1.0)
            case "neg":
                return _add({}, terms[0], -1.0)
            case "mul":
                return self._multiply(terms[0], terms[1])
            case "inv":
                return self._power(terms[0], -1.0)
            case "pow" if list(terms[1]) == [ONE] and terms[1][ONE].is_integer():
                return self._power(terms[0], terms[1][ONE])
        keys = tuple(self._number(self._sum_key(x)) if isinstance(x, dict) else x for x in terms)
        return {frozenset([(self._number((op, keys)), 1.0)]): 1.0}

    def _multiply(self, one: Terms, two: Terms) -> Terms:
        for constant, other in ((one, two), (two, one)):
            if set(constant) <= {ONE}:
                return _add({}, other, constant.get(ONE, 0.0))
        (first, x), (second, y) = self._single(one), self._single(two)
        powers = dict(first)
        for factor, power in second:
            powers[factor] = powers.get(factor, 0.0) + power
        return {frozenset((factor, power) for factor, power in powers.items() if power): x * y}

    def _power(self, base: Terms, exponent: float) -> Terms:
        factors, x = self._single(base)
        try:
            return {frozenset((factor, power * exponent) for factor, power in factors): x**exponent}
        except (ZeroDivisionError, OverflowError):
            return {frozenset([(self._number(("pow", self._number(self._sum_key(base)))), exponent)]): 1.0}

    def _single(self, terms: Terms) -> tuple[Factors, float]:
        """A sum as one term: itself as a factor where it has several."""
        if len(terms) == 1:
            return next(iter(terms.items()))
        if not terms:
            return ONE, 0.0
        return frozenset([(self._number(self._sum_key(terms)), 1.0)]), 1.0


def _add(one: Terms, two: Terms, times: float) -> Terms:
    total = dict(one)
    for factors, x in two.items():
        total[factors] = total.get(factors, 0.0) + times * x
    return {factors: x for factors, x in total.items() if x != 0.0}
