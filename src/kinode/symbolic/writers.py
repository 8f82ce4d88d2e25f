"""Two writers that turn a tape into SymPy expressions.

``SymbolWriter`` writes expanded formulas from the normal form, with common factors taken out.  It tries three forms:
sines and cosines of angle sums, powers of sines, powers of cosines; and keeps the shortest: cos(q1 + q2) for an arm,
sin(nutation)^2 for a top.  The phase of a function of time is kept as one angle: sin(2 t) stays.  ``Namer`` writes the
operations of the tape, with a name for each value that is used more than once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

from kinode.algebra.named_data import ExternalResult
from kinode.algebra.scalars import Scalar, apply, is_number
from kinode.algebra.trace import Traced, needed, replay
from kinode.symbolic.normal_form import (
    Angle,
    Atom,
    Harmonic,
    Monomial,
    TooLongError,
    Wave,
    as_fraction,
    budget,
    spend,
    taking_roots,
)
from kinode.symbolic.notation import Notation
from kinode.symbolic.polynomials import Factors, Powers, common_factor, factor
from kinode.symbolic.square_roots import OVER

MOST_TERMS = 60  # of a sum for which all three forms are tried
MOST_FACTORED = 25  # terms of a sum that is factored: for longer ones it takes long and seldom succeeds
LONGEST_FACTORED = (
    10**9
)  # numerators and denominators of its coefficients: longer ones come from decimals, do not factor
MOST_EXPANDED = 400  # products of single sines and cosines in a sum for which all three forms are tried
FACTORS_BUDGET = 5000  # operations that the factors of one coefficient may take; else it stays as it is
WRITTEN_TERM = 200  # operations of the budget that writing one term counts as
EXPANDED_TERM = 20  # the same for a product of single sines and cosines
LARGEST_DENOMINATOR = 64  # of a number that is written as a fraction
LAST_DIGITS = 2e-14  # of a number: what products and sums of decimal numbers of 15 digits put there by rounding
SHORT_DIGITS = 12  # a number of so many digits is written for one that differs from it in the last digits alone

Coefficient = dict[Monomial, Fraction]  # a polynomial in symbols and functions


class Namer:
    """Writes the operations of a tape, naming each value that is used more than once."""

    def __init__(self, notation: Notation) -> None:
        self.notation = notation
        self._written: dict[int, Any] = {}
        self.conditions: list[Any] = []
        self.intermediates: list[tuple[Any, Any]] = []  # names and formulas, in an order in which they can be computed
        self._count = 0

    def write_all(self, outputs: Sequence[Scalar]) -> list[Any]:
        """The outputs as expressions in the named values."""
        import sympy

        nodes = needed(outputs)
        uses: dict[int, int] = {}
        for node in nodes:
            for arg in node.args:
                if type(arg) is Traced:
                    uses[arg.index] = uses.get(arg.index, 0) + 1
        for x in outputs:
            if type(x) is Traced:
                uses[x.index] = uses.get(x.index, 0) + 1
        for node in nodes:
            if node.index in self._written:
                continue
            if node.op == "input":
                self._written[node.index] = sympy.Symbol(self.notation.names[node.args])
                continue
            formula = self._length(node)
            if formula is None:
                formula = apply(node.op, *(self._argument(arg) for arg in node.args))
            if uses[node.index] > 1 and node.op != "neg" and not (formula.is_Atom or (-formula).is_Atom):
                name = sympy.Symbol(self._fresh())
                self.intermediates.append((name, with_plain_numbers(formula)))
                formula = name
            self._written[node.index] = formula
        return [with_plain_numbers(self._argument(x)) for x in outputs]

    def _length(self, node: Traced) -> Any:
        """sqrt(x^2) as x or -x, whichever is positive at the start; None for all other operations."""
        square = node.args[0] if node.op == "sqrt" else None
        if type(square) is not Traced or square.op != "mul" or square.args[0] is not square.args[1]:
            return None
        sign = self.notation.signs.sign_of(square.args[0])
        if not sign:
            return None
        length = self._argument(square.args[0]) * sign
        self.conditions.append(length)
        return length

    def _fresh(self) -> str:
        self._count += 1
        name = f"x{self._count}"
        return self._fresh() if name in self.notation.taken else name

    def _argument(self, arg: Any) -> Any:
        import sympy

        if type(arg) is Traced:
            return self._written[arg.index]
        if isinstance(arg, tuple | ExternalResult):
            return arg
        return _plain_number(as_fraction(arg)) if math.isfinite(arg) else sympy.sympify(float(arg))


class SymbolWriter:
    """Writes expanded formulas with the symbols of one derivation."""

    def __init__(self, notation: Notation) -> None:
        self.notation = notation
        self.intermediates: list[tuple[Any, Any]] = []  # added by the user of the writer
        self._values: dict[int, Scalar] = {}  # of the nodes of the tape, in normal form
        self._atoms: dict[str, Any] = {}  # functions that are written already, by their text
        self._coefficients: dict[Any, Any] = {}  # coefficients that are factored already

    def write_all(self, outputs: Sequence[Scalar]) -> list[Any]:
        """The outputs of a tape, each written out."""
        with taking_roots(self.notation.signs):
            return [self.write(x) for x in replay(outputs, self.notation.harmonics, self._values)]

    @property
    def conditions(self) -> list[Any]:
        """What has to be positive for the formulas to hold: lengths that are written without a root."""
        return [self.write(root) for root in self.notation.signs.conditions.values()]

    def write(self, x: Scalar) -> Any:
        """A scalar as the shortest of three forms."""
        import sympy

        if is_number(x):
            return _plain_number(as_fraction(x)) if math.isfinite(x) else sympy.sympify(float(x))
        if not isinstance(x, Harmonic):
            return sympy.sympify(x)
        spend(WRITTEN_TERM * len(x.terms))
        waves: dict[Wave, Coefficient] = {}
        for (mono, wave), value in x.terms.items():
            waves.setdefault(wave, {})[mono] = value
        candidates = [self._sum(waves, self._wave)]
        compound = any(self._is_compound(wave) for wave in waves)
        expansion = sum(map(self._expansion, waves)) if compound and len(x.terms) <= MOST_TERMS else 0
        if 0 < expansion <= MOST_EXPANDED:
            spend(EXPANDED_TERM * expansion)
            candidates += [self._in_powers(waves, keep) for keep in (sympy.sin, sympy.cos)]
        return with_plain_numbers(min(candidates, key=lambda expr: expr.count_ops()))

    # -- pieces ------------------------------------------------------------------------------------
    def _monomial(self, mono: Monomial) -> Any:
        import sympy

        return sympy.Mul(*(self._atom(atom) ** power for atom, power in mono))

    def _atom(self, atom: Atom) -> Any:
        import sympy

        if not atom.function:
            return sympy.Symbol(atom.text)
        if atom.text not in self._atoms:
            args: list[Any] = [arg if isinstance(arg, tuple | ExternalResult) else self.write(arg) for arg in atom.args]
            if atom.function in ("inv", OVER, "number"):
                self._atoms[atom.text] = args[0] if atom.function == "number" else 1 / args[0]
            else:
                self._atoms[atom.text] = apply(atom.function, *args)
        return self._atoms[atom.text]

    def _angle(self, angle: Angle) -> Any:
        import sympy

        return sympy.Add(*(_rational(value) * self._monomial(mono) for mono, value in angle))

    def _wave(self, wave: Wave) -> Any:
        import sympy

        return getattr(sympy, wave[0])(self._angle(wave[1])) if wave[0] else sympy.S.One

    def _phase(self, wave: Wave) -> tuple[Angle, Angle]:
        """An angle in two parts: the phase of a function of time, 2 t + phi, and the rest."""
        if not any(_has_time(mono) for mono, _ in wave[1]):
            return (), wave[1]
        given = {name for (role, _), name in self.notation.names.items() if role in ("t", "p")}
        phase = [term for term in wave[1] if _has_time(term[0]) or {atom.text for atom, _ in term[0]} <= given]
        return tuple(phase), tuple(term for term in wave[1] if term not in phase)

    def _expansion(self, wave: Wave) -> int:
        """About how many products of single sines and cosines the expansion of a wave has."""
        phase, rest = self._phase(wave)
        return 1 << min(len(phase) + math.ceil(sum(abs(float(value)) for _, value in rest)), 20)

    def _is_compound(self, wave: Wave) -> bool:
        """Whether an angle is a sum or a multiple, so that products of sines and cosines are another form of it."""
        phase, rest = self._phase(wave)
        return len(rest) + bool(phase) > 1 or any(abs(float(value)) > 1 for _, value in rest)

    def _in_single_angles(self, wave: Wave) -> Any:
        """A sine or cosine expanded in those of single angles; the phase of a function of time is one angle."""
        import sympy

        phase, rest = self._phase(wave)
        if not phase:
            return sympy.expand_trig(self._wave(wave))
        symbol = sympy.Dummy()
        expanded = sympy.expand_trig(getattr(sympy, wave[0])(self._angle(rest) + symbol))
        return expanded.xreplace({symbol: self._angle(phase)})

    def _in_powers(self, waves: Mapping[Wave, Coefficient], keep: Any) -> Any:
        """The sum in sines and cosines of single angles, with squares of ``keep`` only."""
        import sympy

        total: dict[Any, Coefficient] = {}
        other = sympy.cos if keep is sympy.sin else sympy.sin
        for wave, coefficient in waves.items():
            product = expanded(self._in_single_angles(wave))
            product = expanded(product.replace(_is_square_of(other), lambda power: _exchanged(power, keep)))
            for term in sympy.Add.make_args(product):
                number, trig = term.as_coeff_Mul()
                part = total.setdefault(trig, {})
                for mono, value in coefficient.items():
                    part[mono] = part.get(mono, Fraction(0)) + value * Fraction(int(number.p), int(number.q))
        return self._sum(total, lambda trig: trig)

    # -- coefficients ------------------------------------------------------------------------------
    def _sum(self, parts: Mapping[Any, Coefficient], write: Callable[[Any], Any]) -> Any:
        """The sum of coefficients times what they belong to."""
        import sympy

        kept = {key: {mono: value for mono, value in part.items() if value} for key, part in parts.items()}
        return sympy.Add(*(self._factored(part) * write(key) for key, part in kept.items() if part))

    def _factored(self, terms: Coefficient) -> Any:
        """The shortest of: the polynomial, the polynomial with common factors taken out, its factors."""
        key = frozenset(terms.items())
        if key not in self._coefficients:
            self._coefficients[key] = min(self._forms(terms), key=lambda form: form.count_ops())
        return self._coefficients[key]

    def _forms(self, terms: Coefficient) -> list[Any]:
        """A polynomial as it is, and with factors, as far as these are found within ``FACTORS_BUDGET``."""
        import sympy

        forms = [sympy.Add(*(_rational(value) * self._monomial(mono) for mono, value in terms.items()))]
        if not 1 < len(terms) <= MOST_FACTORED:
            return forms
        atoms = sorted({atom for mono in terms for atom, _ in mono})
        symbols = [self._atom(atom) for atom in atoms]
        polynomial = {tuple(dict(mono).get(atom, 0) for atom in atoms): value for mono, value in terms.items()}
        number, powers, rest = common_factor(polynomial)
        if max(map(abs, rest.values())) <= LONGEST_FACTORED:
            forms.append(write_product(symbols, *_signed(number, powers, [(rest, 1)]), fractions=True))
        else:  # the number is a part of the last digits
            sign, size = Fraction(1 if number > 0 else -1), abs(number)
            number, powers, [(rest, _)] = _signed(sign, powers, [(rest, 1)])
            forms.append(write_product(symbols, number, powers, [({x: size * k for x, k in rest.items()}, 1)]))
        if all(max(abs(x.numerator), x.denominator) <= LONGEST_FACTORED for x in terms.values()):
            with suppress(TooLongError), budget(FACTORS_BUDGET):
                forms.append(write_product(symbols, *_signed(*factor(polynomial))))
        return forms


def expanded(expr: Any) -> Any:
    """A product of sums as a sum, its terms taken from the budget."""
    import sympy

    spend(_count_terms(expr))
    return sympy.expand(expr)


def _count_terms(expr: Any) -> int:
    """The terms of an expression when its products of sums are written out."""
    if expr.is_Add:
        return sum(map(_count_terms, expr.args))
    if expr.is_Mul:
        return math.prod(map(_count_terms, expr.args))
    if expr.is_Pow and expr.exp.is_Integer:
        return math.comb(_count_terms(expr.base) + abs(int(expr.exp)) - 1, abs(int(expr.exp)))
    return 1


def write_product(
    symbols: Sequence[Any], number: Fraction, powers: Powers,
    factors: Sequence[tuple[Mapping[Powers, int | Fraction], int]], *, fractions: bool = False,
) -> Any:  # fmt: skip
    """A number, powers of symbols and factors; a number is not multiplied into a sum.

    With ``fractions`` a sum keeps those that it has: q + 13/100 and not (100 q + 13)/100.
    """
    import sympy

    def monomial(powers: Powers) -> Any:
        return sympy.Mul(*(symbol**power for symbol, power in zip(symbols, powers, strict=True)))

    below = number.denominator if fractions else 1
    if any(value % below == 0 for part, _ in factors for value in part.values()):
        number *= below
    else:
        below = 1
    sums = [
        sympy.Add(*(_rational(Fraction(value) / below) * monomial(x) for x, value in part.items())) ** power
        for part, power in factors
    ]
    product = sympy.Mul(monomial(powers), *sums)
    return sympy.Mul(_rational(number), product, evaluate=not product.is_Add or number == 1)


def _rational(value: int | Fraction) -> Any:
    import sympy

    return sympy.Rational(value.numerator, value.denominator)


def _signed(number: Fraction, powers: Powers, factors: Factors) -> tuple[Fraction, Powers, Factors]:
    """The same product without a sign in front, where its only factor has terms of both signs and can take it."""
    if number < 0 and len(factors) == 1 and factors[0][1] == 1 and min(factors[0][0].values()) < 0:
        return -number, powers, [({given: -value for given, value in factors[0][0].items()}, 1)]
    return number, powers, factors


def _is_square_of(function: Any) -> Callable[[Any], bool]:
    return lambda expr: bool(expr.is_Pow and expr.base.func == function and expr.exp.is_Integer and expr.exp >= 2)


def _exchanged(power: Any, keep: Any) -> Any:
    """cos^n in terms of sines, or sin^n in terms of cosines."""
    count, rest = divmod(int(power.exp), 2)
    return (1 - keep(power.base.args[0]) ** 2) ** count * power.base**rest


def _has_time(mono: Monomial) -> bool:
    return any(atom.text == "t" for atom, _ in mono)


def _is_decimal(denominator: int) -> bool:
    """Whether a fraction is written as a decimal: 9.81 and 0.05 are, 1/12 is not."""
    return denominator > LARGEST_DENOMINATOR or denominator % 5 == 0


def with_plain_numbers(expr: Any) -> Any:
    """The expression with its numbers as a person writes them: 9.81 for 981/100, 1/2 for 0.500000000000001."""
    import sympy

    unusual = {x for x in expr.atoms(sympy.Float, sympy.Rational) if x.is_Float or _is_decimal(x.q)}
    expr = expr.xreplace({x: _plain_number(as_fraction(float(x))) for x in unusual if x.is_finite})
    numbers = {x: round(float(x)) for x in expr.atoms(sympy.Float) if x.is_finite}  # 10 (x + 0.1) is now 10 x + 1.0
    whole = {x: sympy.Integer(n) for x, n in numbers.items() if abs(x - n) <= LAST_DIGITS * abs(x)}
    return expr.xreplace(whole) if whole else expr


def _plain_number(value: Fraction) -> Any:
    """A fraction, or a decimal number of 15 digits; of fewer, if what follows is rounding."""
    import sympy

    for near in (value.limit_denominator(LARGEST_DENOMINATOR), Fraction(f"{float(value):.{SHORT_DIGITS}g}")):
        if abs(near - value) <= LAST_DIGITS * abs(value):
            value = near
            break
    if not _is_decimal(value.denominator):
        return sympy.Rational(value.numerator, value.denominator)
    return sympy.Float(f"{float(value):.15g}", 15)
