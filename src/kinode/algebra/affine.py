"""Affine forms: a constant and coefficients of named unknowns, over any other kind of number.

Rows of a network are written as laws are, and evaluated with forms in place of what is not known yet: what comes out
is the row of a linear system, with the coefficients of whatever kind the known numbers are.

    x = Affine.unknown("x")
    row = 2.0 * x - sin(t) * y + 3.0        # constant 3, terms {x: 2, y: -sin(t)}
    constant, terms = gather(row)

What would not stay affine (a product of two forms, a function of a form, a decision that hangs on a form) raises
``NonlinearError``, which names the unknowns; who evaluates the row says which row it was.  ``where(c, a, b)`` with a
known condition c chooses term by term.

A form knows nothing of derivatives.  A row is differentiated by evaluating it on ``Dual(x, x_dot)`` whose value and
rate are forms; where the known numbers are duals themselves, products come out as duals of forms, which ``gather``
turns inside out: a constant and coefficients that are duals.

Coefficients that are plain zeros are left out, and a form without terms is its constant, so that the structure follows
from what is known to vanish.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np

from kinode.algebra.scalars import ARITHMETIC, Dual, Scalar, apply, is_number, register_kind
from kinode.errors import Error

Unknown = Hashable
Terms = dict[Unknown, Scalar]


class NonlinearError(Error):
    """What was to be affine in its unknowns is not: ``unknowns`` are those that ``operation`` was applied to."""

    def __init__(self, operation: str, *forms: Scalar) -> None:
        self.operation = operation
        self.unknowns = tuple(dict.fromkeys(name for form in forms if isinstance(form, Affine) for name in form.terms))
        said = ", ".join(str(name) for name in self.unknowns)
        super().__init__(f"not linear in what has to be solved for: {operation} of {said}")


class Affine:
    """constant + sum of coefficient * unknown; made by ``unknown`` and arithmetic."""

    __slots__ = ("constant", "terms")

    def __init__(self, constant: Scalar, terms: Terms) -> None:
        self.constant = constant
        self.terms = terms

    @classmethod
    def unknown(cls, name: Unknown) -> Affine:
        """The form that is the unknown itself."""
        return cls(0.0, {name: 1.0})

    def __add__(self, other: Scalar) -> Scalar:
        if isinstance(other, Affine):
            return form(self.constant + other.constant, merge(self.terms, other.terms))
        if isinstance(other, (Dual, np.ndarray)):  # which know what to do with their parts
            return NotImplemented
        return Affine(self.constant + other, self.terms)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        if isinstance(other, Affine):
            return form(self.constant - other.constant, merge(self.terms, (-other).terms))
        if isinstance(other, (Dual, np.ndarray)):
            return NotImplemented
        return Affine(self.constant - other, self.terms)

    def __rsub__(self, other: Scalar) -> Scalar:
        return -self + other

    def __mul__(self, other: Scalar) -> Scalar:
        if isinstance(other, Affine):
            raise NonlinearError("a product", self, other)
        if isinstance(other, (Dual, np.ndarray)):
            return NotImplemented
        terms = {name: times(x, other) for name, x in self.terms.items()}
        return form(times(self.constant, other), {name: x for name, x in terms.items() if not is_zero(x)})

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        return self * apply("inv", other)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        raise NonlinearError("a quotient", self)

    def __neg__(self) -> Affine:
        return Affine(-self.constant, {name: -x for name, x in self.terms.items()})

    def __pos__(self) -> Affine:
        return self

    def __pow__(self, exponent: Scalar) -> Scalar:
        return apply("pow", self, exponent)

    def __repr__(self) -> str:
        return " + ".join([repr(self.constant), *(f"{x!r}*{name}" for name, x in self.terms.items())])


def is_zero(x: Scalar) -> bool:
    """Whether x is known to vanish, whatever the state."""
    return is_number(x) and x == 0


def times(a: Scalar, b: Scalar) -> Scalar:
    """a * b, without writing down products with plain 0 and 1."""
    if is_number(a) and a in (0, 1):
        return 0.0 if a == 0 else b
    if is_number(b) and b in (0, 1):
        return 0.0 if b == 0 else a
    return a * b


def form(constant: Scalar, terms: Terms) -> Scalar:
    """The form, or its constant where it has no terms."""
    return Affine(constant, terms) if terms else constant


def merge(one: Terms, two: Terms) -> Terms:
    """The sum of two sets of terms."""
    found = dict(one)
    for name, x in two.items():
        total = found.pop(name) + x if name in found else x
        if not is_zero(total):
            found[name] = total
    return found


def gather(x: Scalar) -> tuple[Scalar, Terms]:
    """Constant and terms of a number of any kind: a form's own, duals turned inside out, none of others."""
    if isinstance(x, Affine):
        return x.constant, x.terms
    if not isinstance(x, Dual):
        return x, {}
    (value, terms), (rate, rates) = gather(x.value), gather(x.rate)
    if not terms and not rates:
        return x, {}
    names = dict.fromkeys((*terms, *rates))
    return Dual(value, rate, x.level), {n: Dual(terms.get(n, 0.0), rates.get(n, 0.0), x.level) for n in names}


def substitute(x: Scalar, values: Mapping[Unknown, Scalar]) -> Scalar:
    """The number with values (of any kind, forms too) in place of those unknowns that have one."""
    constant, terms = gather(x)
    for name, coefficient in terms.items():
        constant = constant + times(coefficient, values[name] if name in values else Affine.unknown(name))
    return constant


def _apply_affine(name: str, args: tuple[Scalar, ...]) -> Scalar:
    if name in ARITHMETIC:
        return ARITHMETIC[name](*args)
    match name:
        case "pow" if is_number(args[1]) and args[1] in (0, 1):
            return args[0] if args[1] == 1 else 1.0
        case "where" if not isinstance(args[0], Affine):
            return _choose(*args)
    raise NonlinearError(WORDS.get(name, name), *args)


WORDS = {
    "inv": "a quotient", "pow": "a power", "where": "a decision by the value", "less": "a comparison",
    "less_equal": "a comparison", "equal": "a comparison", "fetch": "a table", "interval": "a table",
}  # fmt: skip


def _choose(condition: Scalar, one: Scalar, two: Scalar) -> Scalar:
    """where, term by term."""
    (a, first), (b, second) = gather(one), gather(two)
    terms = {n: apply("where", condition, first.get(n, 0.0), second.get(n, 0.0)) for n in {**first, **second}}
    return form(apply("where", condition, a, b), {n: x for n, x in terms.items() if not is_zero(x)})


register_kind(Affine, _apply_affine, wraps=1)
