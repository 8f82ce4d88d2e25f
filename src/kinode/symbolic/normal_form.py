"""Symbolic scalars in a normal form: equal trigonometric polynomials are equal objects, and print alike.

A ``Harmonic`` is a sum of terms: rational coefficient x powers of atoms x (1, cos or sin of one angle).  A product of
sines and cosines is stored as a sum of sines and cosines of angle sums.  Therefore sin^2 + cos^2 = 1 and
cos a cos b - sin a sin b = cos(a + b) hold by construction.  An atom is a symbol, or a function of harmonics that has
no such form (a square root, the reciprocal of a sum).  Two atoms are equal if their names and arguments are.

It is a normal form of polynomials in symbols, sines and cosines, and no general simplifier: it does not factor, does
not cancel common factors of quotients, and gives up (``TooLongError``) at ``LONGEST`` terms, or when the operations of
a ``budget`` are used up.

Coefficients are fractions.  Those of a model are exact where a person would write them so (``as_fraction``), else
decimal numbers of 15 digits; an oblique axis has such.  Terms that cancel up to the rounding of these digits vanish:
what remains would be noise, and would keep every wave of a rotation matrix alive.  Long coefficients are rounded to
``DIGITS`` digits, far beyond those of the model.

Why our own: SymPy searches for the identities that hold here by construction.  For a double pendulum in space with two
universal joints, the mass matrix takes 0.02 s here, 3.9 s with ``sympy.trigsimp`` and 4.7 s with ``sympy.simplify``;
the bias vector takes 0.1 s here and 110 s with ``trigsimp`` (SymPy 1.14).  SymPy still prints the result.  A library
with a canonical form of trigonometric polynomials over the rationals would make this module obsolete.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, Protocol
from weakref import WeakValueDictionary

from kinode.algebra.scalars import Scalar, apply, is_number, register_scalar_type

Monomial = tuple[tuple["Atom", int], ...]  # atoms in order of their text, with powers
Angle = tuple[tuple[Monomial, int | Fraction], ...]  # a sum of monomials with coefficients, whole ones as integers
Wave = tuple[str, Angle]  # ("cos" | "sin", angle), or ("", ()) for the factor 1
Key = tuple[Monomial, Wave]

LONGEST = 500  # terms of an expression
DIGITS = 30  # of a long coefficient
LONG_BITS = 128  # of a denominator, from which on a coefficient is rounded
CANCELLED_BITS = 40  # by which a sum is smaller than its terms, if the rest is rounding of products of 15 digits
TELL = 1000  # operations after which the count is told
TEXT_LENGTH = 32  # characters of an atom that count as one operation
PLAIN: Wave = ("", ())
ONE: Key = ((), PLAIN)


class TooLongError(Exception):
    """An expression has more than ``LONGEST`` terms, or takes more operations than its budget: too long to read."""


class Budget:
    """Operations that are left, of a part of the work and of the whole that it is part of."""

    __slots__ = ("left", "operations", "outer", "told", "watch")

    def __init__(self, operations: int, outer: Budget | None, watch: Callable[[int], object] | None) -> None:
        self.operations, self.left, self.outer = operations, operations, outer
        self.watch, self.told = watch, 0

    @property
    def spent(self) -> int:
        """The operations so far."""
        return self.operations - self.left

    def take(self, operations: int) -> None:
        """Take operations from the part, and from the whole; where they do not last, nothing is left."""
        if operations > self.left:
            self.left = 0
            raise TooLongError
        self.left -= operations
        if self.outer is not None:
            self.outer.take(operations)
        if self.watch is not None and self.spent >= self.told + TELL:
            self.told = self.spent
            self.watch(self.spent)


_BUDGET: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def budget(operations: int, watch: Callable[[int], object] | None = None) -> Iterator[Budget]:
    """Raise ``TooLongError`` within, after so many products and sums of terms; the count is the same on any machine.

    A budget within another one is part of it.  ``watch`` is told from time to time how many there were.
    """
    limit = Budget(operations, _BUDGET.get(), watch)
    token = _BUDGET.set(limit)
    try:
        yield limit
    finally:
        _BUDGET.reset(token)


def spend(operations: int) -> None:
    """Take operations from the budget, if there is one."""
    limit = _BUDGET.get()
    if limit is not None:
        limit.take(operations)


class Atom:
    """A symbol, or a function of harmonics that is not expanded; one object for each text (``atom_of``)."""

    __slots__ = ("__weakref__", "args", "function", "text")

    def __init__(self, text: str, function: str = "", args: tuple[Any, ...] = ()) -> None:
        self.text = text
        self.function = function
        self.args = args

    def __lt__(self, other: Atom) -> bool:
        return self.text < other.text

    def __repr__(self) -> str:
        return self.text


_ATOMS: WeakValueDictionary[str, Atom] = WeakValueDictionary()


def atom_of(text: str, function: str = "", args: tuple[Any, ...] = ()) -> Atom:
    """The atom of a text; two atoms are equal if they are one object, which dictionaries find out fast."""
    atom = _ATOMS.get(text)
    if atom is None:
        atom = _ATOMS[text] = Atom(text, function, args)
    return atom


class Harmonic:
    """A sum of terms in normal form."""

    __slots__ = ("terms",)

    def __init__(self, terms: dict[Key, Fraction]) -> None:
        self.terms = terms

    @staticmethod
    def symbol(name: str) -> Harmonic:
        """A symbol of this name."""
        return Harmonic({(((atom_of(name), 1),), PLAIN): Fraction(1)})

    @property
    def _size(self) -> int:
        """The number of terms, those of their angles included."""
        return sum(1 + len(angle) for _, (_, angle) in self.terms)

    def __add__(self, other: Scalar) -> Scalar:
        right = as_harmonic(other)
        if right is None:
            return NotImplemented
        spend(len(right.terms))
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
        spend(self._size * len(right.terms) + len(self.terms) * right._size)
        total: dict[Key, Fraction] = {}
        for (mono, wave), value in self.terms.items():
            for (other_mono, other_wave), other_value in right.terms.items():
                product, coefficient = _product(mono, other_mono), _rounded(value * other_value)
                if wave is PLAIN or other_wave is PLAIN:
                    _add(total, (product, other_wave if wave is PLAIN else wave), coefficient)
                    continue
                half = coefficient / 2
                for key_wave, sign in _wave_product(wave, other_wave):
                    if sign:
                        _add(total, (product, key_wave), half if sign > 0 else -half)
        rules, total = _ROOTS.get(), _without_squared_roots(total)
        return _normal(total if rules is None else rules.reduced(total))

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
        if not isinstance(x, Fraction) and not math.isfinite(x):  # a table beyond its ends
            return _opaque("number", (float(x),))
        value = x if isinstance(x, Fraction) else as_fraction(x)
        return Harmonic({ONE: value} if value else {})
    return None


def as_fraction(x: float) -> Fraction:
    """The fraction that a person would have written: a denominator up to 64, or the decimal number of 15 digits."""
    near = Fraction(x).limit_denominator(64)
    return near if abs(float(near) - x) <= 1e-15 * abs(x) else Fraction(f"{float(x):.15g}")


def _rounded(value: Fraction) -> Fraction:
    """The coefficient; a long one rounded to ``DIGITS`` digits."""
    if value.denominator.bit_length() < LONG_BITS:
        return value
    return round(value, max(DIGITS - _bits(value) * 3 // 10, 0))


def _bits(value: Fraction) -> int:
    """The binary logarithm of a coefficient, to about one."""
    return value.numerator.bit_length() - value.denominator.bit_length()


def _normal(terms: dict[Key, Fraction]) -> Scalar:
    """The sum of the terms; plain 0.0 if there are none, so that products with it vanish at once."""
    if len(terms) > LONGEST:
        raise TooLongError
    return Harmonic(terms) if terms else 0.0


def _add(total: dict[Key, Fraction], key: Key, value: Fraction) -> None:
    before = total.get(key)
    coefficient = value if before is None else before + value
    if coefficient and (before is None or _bits(coefficient) >= _bits(before) - CANCELLED_BITS):
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


def _wave_product(one: Wave, two: Wave) -> tuple[tuple[Wave, int], tuple[Wave, int]]:
    """Twice the product of two sines or cosines, as a sum: 2 cos a cos b = cos(a - b) + cos(a + b), and its like."""
    less, more = _angle_sum(one[1], two[1], -1), _angle_sum(one[1], two[1], 1)
    if one[0] == two[0]:
        return _wave("cos", less, 1), _wave("cos", more, 1 if one[0] == "cos" else -1)
    return _wave("sin", more, 1), _wave(
        "sin", less, 1 if one[0] == "sin" else -1
    )  # 2 sin a cos b = sin(a+b) + sin(a-b)


def _angle_sum(one: Angle, two: Angle, sign: int) -> Angle:
    total = dict(one)
    for mono, value in two:
        coefficient = total.get(mono, 0) + sign * value
        if coefficient:
            total[mono] = _whole(coefficient)
        else:
            total.pop(mono, None)
    return tuple(sorted(total.items()))


def _whole(value: int | Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


def _wave(function: str, angle: Angle, sign: int) -> tuple[Wave, int]:
    """The wave with the first coefficient of its angle positive, and its sign: cos(-a) = cos a, sin(-a) = -sin a."""
    if not angle:
        return PLAIN, sign if function == "cos" else 0
    if angle[0][1] < 0:
        angle = tuple((mono, -value) for mono, value in angle)
        sign = -sign if function == "sin" else sign
    return (function, angle), sign


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
        if wave is PLAIN:
            return mono, value
    return None


class RootRules(Protocol):
    """What is known of square roots: the root of a square, its reciprocal, and products with that, cancelled."""

    def find_root(self, x: Harmonic, /) -> Harmonic | None: ...
    def invert(self, x: Harmonic, /) -> Harmonic | None: ...
    def reduced(self, terms: dict[Key, Fraction], /) -> dict[Key, Fraction]: ...


_ROOTS: ContextVar[RootRules | None] = ContextVar("roots", default=None)


@contextmanager
def taking_roots(rules: RootRules) -> Iterator[None]:
    """Within, square roots follow the rules."""
    token = _ROOTS.set(rules)
    try:
        yield
    finally:
        _ROOTS.reset(token)


def _apply_harmonic(name: str, args: tuple[Scalar, ...]) -> Scalar:
    x = args[0]
    if name in ("sin", "cos") and isinstance(x, Harmonic) and all(wave is PLAIN for _, wave in x.terms):
        angle = tuple(sorted((mono, _whole(value)) for (mono, _), value in x.terms.items()))
        wave, sign = _wave(name, angle, 1)
        return _normal({((), wave): Fraction(sign)} if sign else {})
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
            rules = _ROOTS.get()
            root = rules.find_root(x) if rules is not None and isinstance(x, Harmonic) else None
            return _opaque("sqrt", (x,)) if root is None else root
        case "where" if is_number(x):
            return args[1] if x != 0 else args[2]
    return _opaque(name, args)


def _invert(x: Harmonic) -> Scalar:
    single = _single(x)
    if single is not None:
        mono, value = single
        return Harmonic({(tuple((atom, -power) for atom, power in mono), PLAIN): 1 / value})
    rules = _ROOTS.get()
    known = None if rules is None else rules.invert(x)
    return _opaque("inv", (x,)) if known is None else known


def _opaque(name: str, args: tuple[Scalar, ...]) -> Harmonic:
    """A function that stays as it is, as an atom."""
    return Harmonic({(((atom_of_function(name, args), 1),), PLAIN): Fraction(1)})


def atom_of_function(name: str, args: tuple[Scalar, ...]) -> Atom:
    inner = ", ".join(text_of(arg) if isinstance(arg, Harmonic) else repr(arg) for arg in args)
    spend(len(inner) // TEXT_LENGTH)
    return atom_of(f"{name}({inner})", name, args)


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
