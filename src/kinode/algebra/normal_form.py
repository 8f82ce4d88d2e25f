"""Symbolic scalars in a normal form: equal trigonometric polynomials are equal objects, and print alike.

A ``Harmonic`` is a sum of terms: rational coefficient x powers of atoms x (1, cos or sin of one angle).  A product of
sines and cosines is stored as a sum of sines and cosines of angle sums.  Therefore sin^2 + cos^2 = 1 and
cos a cos b - sin a sin b = cos(a + b) hold by construction.  An atom is a symbol, or a function of harmonics that has
no such form (a square root, the reciprocal of a sum).  Two atoms are equal if their names and arguments are.

It is a normal form of polynomials in symbols, sines and cosines, and no general simplifier: it does not factor, does
not cancel common factors of quotients, and gives up (``TooLongError``) at ``LONGEST`` terms.

Why our own: SymPy searches for the identities that hold here by construction.  For a double pendulum in space with two
universal joints, the mass matrix takes 0.02 s here, 3.9 s with ``sympy.trigsimp`` and 4.7 s with ``sympy.simplify``;
the bias vector takes 0.1 s here and 110 s with ``trigsimp`` (SymPy 1.14).  SymPy still prints the result.  A library
with a canonical form of trigonometric polynomials over the rationals would make this module obsolete.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from kinode.algebra.scalars import Scalar, apply, is_number, register_scalar_type

Monomial = tuple[tuple["Atom", int], ...]  # atoms in order of their text, with powers
Angle = tuple[tuple[Monomial, Fraction], ...]  # a sum of monomials with coefficients
Wave = tuple[str, Angle]  # ("cos" | "sin", angle), or ("", ()) for the factor 1
Key = tuple[Monomial, Wave]

LONGEST = 500  # terms of an expression
PLAIN: Wave = ("", ())
ONE: Key = ((), PLAIN)


class TooLongError(Exception):
    """An expression has more than ``LONGEST`` terms: too many to read."""


class Atom:
    """A symbol, or a function of harmonics that is not expanded; ordered and compared by its text."""

    __slots__ = ("args", "function", "text")

    def __init__(self, text: str, function: str = "", args: tuple[Any, ...] = ()) -> None:
        self.text = text
        self.function = function
        self.args = args

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.text == other.text

    def __lt__(self, other: Atom) -> bool:
        return self.text < other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text


class Harmonic:
    """A sum of terms in normal form."""

    __slots__ = ("terms",)

    def __init__(self, terms: dict[Key, Fraction]) -> None:
        self.terms = terms

    @staticmethod
    def symbol(name: str) -> Harmonic:
        """A symbol of this name."""
        return Harmonic({(((Atom(name), 1),), PLAIN): Fraction(1)})

    def __add__(self, other: Scalar) -> Scalar:
        right = as_harmonic(other)
        if right is None:
            return NotImplemented
        total = dict(self.terms)
        for key, value in right.terms.items():
            _add(total, key, value)
        return _normal(total)

    __radd__ = __add__

    def __neg__(self) -> Harmonic:
        return Harmonic({key: -value for key, value in self.terms.items()})

    def __pos__(self) -> Harmonic:
        return self

    def __sub__(self, other: Scalar) -> Scalar:
        right = as_harmonic(other)
        return NotImplemented if right is None else self + -right

    def __rsub__(self, other: Scalar) -> Scalar:
        return -self + other

    def __mul__(self, other: Scalar) -> Scalar:
        right = as_harmonic(other)
        if right is None:
            return NotImplemented
        if len(self.terms) * len(right.terms) > 20 * LONGEST:
            raise TooLongError
        total: dict[Key, Fraction] = {}
        for (mono, wave), value in self.terms.items():
            for (other_mono, other_wave), other_value in right.terms.items():
                product = _product(mono, other_mono)
                for key_wave, share in _wave_product(wave, other_wave):
                    _add(total, (product, key_wave), value * other_value * share)
        return _normal(_without_squared_roots(total))

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        return self * apply("inv", other)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return apply("inv", self) * other

    def __pow__(self, exponent: Scalar) -> Scalar:
        return apply("pow", self, exponent)

    def __repr__(self) -> str:
        return text_of(self)


def as_harmonic(x: Scalar) -> Harmonic | None:
    """A number as a harmonic; None for another scalar type."""
    if isinstance(x, Harmonic):
        return x
    if isinstance(x, Fraction) or is_number(x):
        value = x if isinstance(x, Fraction) else as_fraction(x)
        return Harmonic({ONE: value} if value else {})
    return None


def as_fraction(x: float) -> Fraction:
    """The fraction that a person would have written: a denominator up to 64, or the decimal number of 15 digits."""
    near = Fraction(x).limit_denominator(64)
    return near if abs(float(near) - x) <= 1e-15 * abs(x) else Fraction(f"{float(x):.15g}")


def _normal(terms: dict[Key, Fraction]) -> Scalar:
    """The sum of the terms; plain 0.0 if there are none, so that products with it vanish at once."""
    if len(terms) > LONGEST:
        raise TooLongError
    return Harmonic(terms) if terms else 0.0


def _add(total: dict[Key, Fraction], key: Key, value: Fraction) -> None:
    coefficient = total.get(key, 0) + value
    if coefficient:
        total[key] = coefficient
    else:
        total.pop(key, None)


def _product(one: Monomial, two: Monomial) -> Monomial:
    if not one or not two:
        return one or two
    powers = dict(one)
    for atom, power in two:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted((atom, power) for atom, power in powers.items() if power))


def _wave_product(one: Wave, two: Wave) -> Iterable[tuple[Wave, Fraction]]:
    """The product of two sines or cosines, as a sum: 2 cos a cos b = cos(a - b) + cos(a + b), and its like."""
    if one == PLAIN or two == PLAIN:
        return ((two if one == PLAIN else one, Fraction(1)),)
    half = Fraction(1, 2)
    less, more = _angle_sum(one[1], two[1], -1), _angle_sum(one[1], two[1], 1)
    if one[0] == two[0]:
        return (_wave("cos", less, half), _wave("cos", more, half if one[0] == "cos" else -half))
    sign = 1 if one[0] == "sin" else -1  # sin a cos b = (sin(a+b) + sin(a-b))/2
    return (_wave("sin", more, half), _wave("sin", less, sign * half))


def _angle_sum(one: Angle, two: Angle, sign: int) -> Angle:
    total = dict(one)
    for mono, value in two:
        coefficient = total.get(mono, Fraction(0)) + sign * value
        if coefficient:
            total[mono] = coefficient
        else:
            total.pop(mono, None)
    return tuple(sorted(total.items()))


def _wave(function: str, angle: Angle, share: Fraction) -> tuple[Wave, Fraction]:
    """The wave with the first coefficient of its angle positive: cos(-a) = cos a, sin(-a) = -sin a."""
    if not angle:
        return (PLAIN, share) if function == "cos" else (PLAIN, Fraction(0))
    if angle[0][1] < 0:
        angle = tuple((mono, -value) for mono, value in angle)
        share = -share if function == "sin" else share
    return (function, angle), share


def _without_squared_roots(terms: dict[Key, Fraction]) -> dict[Key, Fraction]:
    """The terms with sqrt(x)^2 replaced by x."""
    if not any(atom.function == "sqrt" and abs(power) > 1 for mono, _ in terms for atom, power in mono):
        return terms
    total: Scalar = 0.0
    for (mono, wave), value in terms.items():
        part: Scalar = Harmonic({(tuple((a, p) for a, p in mono if not _even_root(a, p)), wave): value})
        for atom, power in mono:
            if _even_root(atom, power):
                count, rest = divmod(power, 2)
                part = part * apply("pow", atom.args[0], count)
                if rest:
                    part = part * Harmonic({(((atom, 1),), PLAIN): Fraction(1)})
        total = total + part
    result = as_harmonic(total)
    assert result is not None
    return result.terms


def _even_root(atom: Atom, power: int) -> bool:
    return atom.function == "sqrt" and (power > 1 or power < 0)


def _single(x: Harmonic) -> tuple[Monomial, Fraction] | None:
    """Monomial and coefficient of a harmonic that is one product of atoms, else None."""
    if len(x.terms) == 1:
        ((mono, wave), value), *_ = x.terms.items()
        if wave == PLAIN:
            return mono, value
    return None


def _apply_harmonic(name: str, args: tuple[Scalar, ...]) -> Scalar:
    x = args[0]
    if name in ("sin", "cos") and isinstance(x, Harmonic) and all(wave == PLAIN for _, wave in x.terms):
        angle = tuple(sorted((mono, value) for (mono, _), value in x.terms.items()))
        wave, share = _wave(name, angle, Fraction(1))
        return _normal({((), wave): share} if share else {})
    match name:
        case "add":
            return x + args[1]
        case "sub":
            return x - args[1]
        case "mul":
            return x * args[1]
        case "neg":
            return -x
        case "inv":
            return _invert(x)
        case "pow" if is_number(args[1]) and float(args[1]).is_integer() and abs(args[1]) <= 16:
            result: Scalar = 1.0
            for _ in range(int(abs(args[1]))):
                result = result * x
            return apply("inv", result) if args[1] < 0 else result
        case "pow" if is_number(args[1]) and args[1] == 0.5:
            return apply("sqrt", x)
        case "sqrt":
            return _opaque("sqrt", (x,))
        case "where" if is_number(x):
            return args[1] if x != 0 else args[2]
    return _opaque(name, args)


def _invert(x: Harmonic) -> Scalar:
    single = _single(x)
    if single is not None:
        mono, value = single
        return Harmonic({(tuple((atom, -power) for atom, power in mono), PLAIN): 1 / value})
    atom = _atom("inv", (x,))
    return Harmonic({(((atom, 1),), PLAIN): Fraction(1)})


def _opaque(name: str, args: tuple[Scalar, ...]) -> Harmonic:
    """A function that stays as it is, as an atom."""
    return Harmonic({(((_atom(name, args), 1),), PLAIN): Fraction(1)})


def _atom(name: str, args: tuple[Scalar, ...]) -> Atom:
    inner = ", ".join(text_of(arg) if isinstance(arg, Harmonic) else repr(arg) for arg in args)
    return Atom(f"{name}({inner})", name, args)


def text_of(x: Harmonic) -> str:
    """The terms in a fixed order: two harmonics are equal if and only if their texts are."""
    parts = []
    for (mono, (function, angle)), value in sorted(x.terms.items()):
        factors = [str(value), *(f"{atom}^{power}" for atom, power in mono)]
        if function:
            inner = " + ".join("*".join([str(v), *(f"{a}^{p}" for a, p in m)]) for m, v in angle)
            factors.append(f"{function}({inner})")
        parts.append("*".join(factors))
    return " + ".join(parts) or "0"


register_scalar_type(Harmonic, _apply_harmonic)
