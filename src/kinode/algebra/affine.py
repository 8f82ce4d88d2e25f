"""Affine forms: a constant plus coefficients times named unknowns, over any other scalar type.

The equations of a network are written like any expression.  Evaluating one with affine forms in place of the unknowns
gives a row of a linear system.  Its coefficients have the scalar type of the known numbers.

    x = Affine.unknown("x")
    row = 2.0 * x - sin(t) * y + 3.0        # constant 3, terms {x: 2, y: -sin(t)}
    constant, terms = constant_and_terms(row)

An operation whose result is not affine (a product of two forms, a function of a form, a branch that depends on a form)
raises ``NonlinearError`` with the names of the unknowns.  The caller adds which equation it was.  ``where(c, a, b)``
with a known condition c selects term by term.

A form does not know derivatives.  To differentiate an equation, evaluate it on ``Dual(x, x_dot)`` whose value and rate
are forms.  Where the known numbers are duals themselves, products are duals of forms.  ``constant_and_terms`` turns
such a dual of forms into a constant and coefficients that are duals.

Coefficients that are plain zeros are left out, and a form without terms is replaced by its constant.  So the sparsity
of a linear system contains everything that is known to vanish.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np

from kinode.algebra.scalars import ARITHMETIC, Dual, Scalar, apply, is_number, is_zero, register_scalar_type
from kinode.errors import Error

Unknown = Hashable
Terms = dict[Unknown, Scalar]


class NonlinearError(Error):
    """An expression is not affine in its unknowns: ``operation`` was applied to ``unknowns``."""

    def __init__(self, operation: str, *forms: Scalar) -> None:
        self.operation = operation
        self.unknowns = tuple(dict.fromkeys(name for form in forms if isinstance(form, Affine) for name in form.terms))
        names = ", ".join(str(name) for name in self.unknowns)
        super().__init__(f"not linear in what has to be solved for: {operation} of {names}")


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
        if isinstance(other, (Dual, np.ndarray)):  # they apply the operation to their parts
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


def times(a: Scalar, b: Scalar) -> Scalar:
    """a * b, without recording products with plain 0 and 1."""
    if is_number(a) and a in (0, 1):
        return 0.0 if a == 0 else b
    if is_number(b) and b in (0, 1):
        return 0.0 if b == 0 else a
    return a * b


def form(constant: Scalar, terms: Terms) -> Scalar:
    """The form, or its constant if it has no terms."""
    return Affine(constant, terms) if terms else constant


def merge(one: Terms, two: Terms) -> Terms:
    """The sum of two sets of terms."""
    terms = dict(one)
    for name, x in two.items():
        total = terms.pop(name) + x if name in terms else x
        if not is_zero(total):
            terms[name] = total
    return terms


def constant_and_terms(x: Scalar) -> tuple[Scalar, Terms]:
    """Constant and terms of a number of any scalar type.

    A dual of forms gives a constant and terms that are duals.  A number without unknowns gives no terms.
    """
    if isinstance(x, Affine):
        return x.constant, x.terms
    if not isinstance(x, Dual):
        return x, {}
    (value, terms), (rate, rates) = constant_and_terms(x.value), constant_and_terms(x.rate)
    if not terms and not rates:
        return x, {}
    names = dict.fromkeys((*terms, *rates))
    return Dual(value, rate, x.level), {n: Dual(terms.get(n, 0.0), rates.get(n, 0.0), x.level) for n in names}


def substitute(x: Scalar, values: Mapping[Unknown, Scalar]) -> Scalar:
    """x with the given values in place of unknowns; a value has any scalar type, and may be a form."""
    constant, terms = constant_and_terms(x)
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
    raise NonlinearError(OPERATION_NAMES.get(name, name), *args)


OPERATION_NAMES = {
    "inv": "a quotient", "pow": "a power", "where": "a decision by the value", "less": "a comparison",
    "less_equal": "a comparison", "equal": "a comparison", "fetch": "a table", "interval": "a table",
    "external": "an FMU",
}  # fmt: skip


def _choose(condition: Scalar, one: Scalar, two: Scalar) -> Scalar:
    """``where``, term by term."""
    (a, first), (b, second) = constant_and_terms(one), constant_and_terms(two)
    terms = {n: apply("where", condition, first.get(n, 0.0), second.get(n, 0.0)) for n in {**first, **second}}
    return form(apply("where", condition, a, b), {n: x for n, x in terms.items() if not is_zero(x)})


register_scalar_type(Affine, _apply_affine, wraps=1)
