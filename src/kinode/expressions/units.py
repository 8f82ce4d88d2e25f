"""Units: "30 deg", "250 N/m" and "0.1 N*m*s/rad" to SI numbers with their dimension.

The table of units is small.  A radian is a plain number.  Hz is marked by ``cycles``, because 1 Hz is not an angular
velocity of 1 rad/s.  Prefixes from p to G are allowed before the units that commonly take them.  "g" is the gram; "t"
is the time and therefore not the tonne.  Products are read from left to right: N/m*s is (N/m)*s.  Conversions are
rounded once.  Units with an offset (degC) and sums of quantities are not supported.

Why our own: pint (0.25) reads "10 Nm" as ten number-metres, 10000 m/kg, and accepts Hz as an angular velocity: both are
wrong in a mechanical model, and silent.  Importing pint and making its registry takes 0.56 s, this module 0.03 s.  A
library with a table that can be restricted, exact ratios, messages with suggestions, and a start of that order would
make this module obsolete.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache as remember

from kinode.errors import LawError, NonSIUnitError, UnitError, find_close, suggest
from kinode.expressions.dimensions import (
    CURRENT,
    DIMENSIONLESS,
    ENERGY,
    FORCE,
    LENGTH,
    NAMED_DIMENSIONS,
    POWER,
    TIME,
    VOLTAGE,
    Dimension,
    NamedDimension,
    base_dimension,
    describe_dimension,
)

__all__ = [
    "DIMENSIONLESS",
    "DIMENSIONS",
    "Dimension",
    "NamedDimension",
    "Quantity",
    "Unit",
    "check_dimension",
    "describe",
    "describe_dimension",
    "find_meant_unit",
    "find_unit_name",
    "find_unit_word",
    "find_units",
    "parse_quantity",
    "parse_si_unit",
    "parse_unit",
]

LONGEST_TEXT = 200  # characters of a quantity
LARGEST_POWER = 12  # exponent in a unit


@dataclass(frozen=True)
class Unit:
    """One unit: its dimension, and its size in SI, which is ``ratio * pi**turns``.

    ``cycles`` marks Hz.  ``angular`` is the power of an angle in the unit: 1 for rad, deg, rev, turn and rpm, -1 for
    mm/rev, 0 for mm.
    """

    ratio: Fraction
    dimension: Dimension
    cycles: bool = False
    turns: int = 0
    angular: int = 0

    @property
    def factor(self) -> float:
        """The unit's size in SI."""
        return self.convert(Fraction(1))

    def convert(self, number: Fraction) -> float:
        """A number of these units in SI, rounded once."""
        return float(number * self.ratio) * math.pi**self.turns

    def __mul__(self, other: Unit) -> Unit:
        return Unit(
            self.ratio * other.ratio,
            self.dimension * other.dimension,
            self.cycles or other.cycles,
            self.turns + other.turns,
            self.angular + other.angular,
        )

    def __pow__(self, power: int) -> Unit:
        return Unit(self.ratio**power, self.dimension**power, self.cycles, self.turns * power, self.angular * power)


@dataclass(frozen=True)
class Quantity:
    """A number in SI with its dimension; ``text`` is how it was written, the rest as in ``Unit``."""

    value_si: float
    dimension: Dimension
    unit_text: str
    cycles: bool = False
    text: str = ""
    angular: int = 0


_PREFIXES = {"p": -12, "n": -9, "u": -6, "m": -3, "c": -2, "d": -1, "k": 3, "M": 6, "G": 9}
# name: (size, dimension, prefixes it takes)
_UNIT_ROWS: dict[str, tuple[str, Dimension, str]] = {
    "m": ("1", LENGTH, "pnumcdk"),
    "g": ("1/1000", base_dimension(kg=1), "umk"),
    "s": ("1", TIME, "pnum"),
    "A": ("1", CURRENT, "pnumk"),
    "K": ("1", base_dimension(K=1), "m"),
    "N": ("1", FORCE, "umkMG"),
    "J": ("1", ENERGY, "umkMG"),
    "W": ("1", POWER, "umkMG"),
    "Pa": ("1", FORCE / LENGTH**2, "mkMG"),
    "V": ("1", VOLTAGE, "numkM"),
    "Ohm": ("1", VOLTAGE / CURRENT, "umkMG"),
    "ohm": ("1", VOLTAGE / CURRENT, "umkMG"),
    "S": ("1", CURRENT / VOLTAGE, "um"),
    "C": ("1", CURRENT * TIME, "pnum"),
    "F": ("1", CURRENT * TIME / VOLTAGE, "pnum"),
    "H": ("1", VOLTAGE * TIME / CURRENT, "pnum"),
    "T": ("1", VOLTAGE * TIME / LENGTH**2, "um"),
    "Wb": ("1", VOLTAGE * TIME, "um"),
    "Nm": ("1", ENERGY, "umkM"),
    "Wh": ("3600", ENERGY, "kM"),
    "bar": ("100000", FORCE / LENGTH**2, "m"),
    "l": ("1/1000", LENGTH**3, "m"),
    "min": ("60", TIME, ""),
    "h": ("3600", TIME, ""),
    "rad": ("1", DIMENSIONLESS, "um"),
    "%": ("1/100", DIMENSIONLESS, ""),
    "in": ("0.0254", LENGTH, ""),
    "ft": ("0.3048", LENGTH, ""),
    "lb": ("0.45359237", base_dimension(kg=1), ""),
    "lbf": ("4.4482216152605", FORCE, ""),
}
# units with an angle and pi: name: (multiple of pi, dimension)
_ANGLE_ROWS: dict[str, tuple[str, Dimension]] = {
    "deg": ("1/180", DIMENSIONLESS),
    "rev": ("2", DIMENSIONLESS),
    "turn": ("2", DIMENSIONLESS),
    "rpm": ("1/30", DIMENSIONLESS / TIME),
}


@remember
def find_units() -> dict[str, Unit]:
    """Every unit by name, prefixes included."""
    units = {"Hz": Unit(Fraction(1), DIMENSIONLESS / TIME, cycles=True)}
    for name, (size, dimension) in _ANGLE_ROWS.items():
        units[name] = Unit(Fraction(size), dimension, turns=1, angular=1)
    for name, (size, dimension, _) in _UNIT_ROWS.items():
        units[name] = Unit(Fraction(size), dimension, angular=int(name == "rad"))
    for name, prefixes in [("Hz", "mkMG"), *((name, entry[2]) for name, entry in _UNIT_ROWS.items())]:
        for prefix in prefixes:
            factor = Unit(Fraction(10) ** _PREFIXES[prefix], DIMENSIONLESS)
            units.setdefault(prefix + name, factor * units[name])
    return units


class Dimensions(dict[str, NamedDimension]):
    """Dimensions by name; a dimension without a name is found by its SI unit: "W/K"."""

    def __missing__(self, text: str) -> NamedDimension:
        return NamedDimension(text, parse_si_unit(text), text)


def find_unit_name(text: str) -> str:
    """The name of the dimension that an SI unit measures, if it has one: "rad/s" is angular_velocity."""
    if text in DIMENSIONS:
        return text
    same = [name for name, named in DIMENSIONS.items() if named.unit == text.replace(" ", "")]
    dimension = DIMENSIONS[text].dimension if not same else None
    return next(iter(same or (name for name, named in DIMENSIONS.items() if named.dimension == dimension)), text)


DIMENSIONS = Dimensions(NAMED_DIMENSIONS)

_SPELLINGS = str.maketrans({"µ": "u", "μ": "u", "·": "*", "⋅": "*"})
_REPLACED = (("Ω", "Ohm"), ("Ω", "Ohm"), ("°", "deg"), ("²", "^2"), ("³", "^3"), ("⁻¹", "^-1"), ("**", "^"))
_TOKEN = re.compile(r"\s*(?:(?P<name>[A-Za-z%]+)|(?P<integer>[+-]?\d+)|(?P<mark>[*/.^()]))")


class _UnitParser:
    """Parser of a unit: product = factor {(* | . | / | space) factor}, factor = (name | (product) | 1) [^ integer]."""

    def __init__(self, text: str, fail: Callable[[str], UnitError]) -> None:
        self.fail = fail
        self.tokens: list[str] = []
        position, clean = 0, text.translate(_SPELLINGS).rstrip()
        for old, new in _REPLACED:
            clean = clean.replace(old, new)
        while position < len(clean):
            match = _TOKEN.match(clean, position)
            if match is None:
                raise fail(f"{clean[position:].strip()[0]!r} cannot stand in a unit")
            self.tokens.append(match.group().strip())
            position = match.end()
        self.tokens.append("")

    def read(self) -> Unit:
        unit = self.product()
        if self.tokens[0]:
            raise self.fail(f"{self.tokens[0]!r} is not expected there")
        return unit

    def product(self) -> Unit:
        unit = self.factor()
        while self.tokens[0] not in ("", ")"):
            inverse = self.tokens[0] == "/"
            if self.tokens[0] in ("*", "/", "."):
                self.tokens.pop(0)
            elif self.tokens[0][0] in "+-0123456789":
                raise self.fail(f"a power is written ^{self.tokens[0]}")
            factor = self.factor()
            unit = unit * (factor**-1 if inverse else factor)
        return unit

    def factor(self) -> Unit:
        token = self.tokens.pop(0)
        if token == "(":
            unit = self.product()
            if self.tokens.pop(0) != ")":
                raise self.fail("a parenthesis is not closed")
        elif token == "1":
            unit = Unit(Fraction(1), DIMENSIONLESS)
        elif token and (token[0].isalpha() or token == "%"):
            unit = self.find(token)
        else:
            raise self.fail("it ends too early" if not token else f"{token!r} is not expected there")
        if self.tokens[0] == "^":
            self.tokens.pop(0)
            unit = self.power(unit, self.tokens.pop(0))
        return unit

    def power(self, unit: Unit, token: str) -> Unit:
        if token == "(" and len(self.tokens) > 1 and self.tokens[1] == ")":
            token = self.tokens.pop(0)
            self.tokens.pop(0)
        if token == "(" and "".join(self.tokens[1:2] + self.tokens[3:4]) == "/)":
            return self.root(unit, self.tokens.pop(0))
        if not token.lstrip("+-").isdigit() or len(token) > 3 or abs(int(token)) > LARGEST_POWER:
            raise self.fail(f"a power is a whole number up to {LARGEST_POWER}")
        result = unit ** int(token)
        if any(not -LARGEST_POWER <= exponent / 4 <= LARGEST_POWER for exponent in result.dimension.exponents):
            raise self.fail("its powers are too high")
        if max(result.ratio.numerator, result.ratio.denominator).bit_length() > 1000:
            raise self.fail("its size is beyond all numbers")
        return result

    def root(self, unit: Unit, above: str) -> Unit:
        """A fractional power, m^(3/2): of SI units alone, whose size is 1."""
        _, below, _ = (self.tokens.pop(0) for _ in range(3))
        if not (above.isdigit() and below.isdigit() and len(above + below) < 8 and int(below)):
            raise self.fail("a fractional power is written ^(3/2)")
        if unit.ratio != 1 or unit.turns or unit.cycles:
            raise self.fail("a fractional power is of an SI unit")
        return Unit(unit.ratio, unit.dimension ** Fraction(int(above), int(below)))

    def find(self, name: str) -> Unit:
        unit = find_units().get(name)
        if unit is not None:
            return unit
        if name == "t":
            raise self.fail("t is the time, and no unit; a tonne is 1000 kg")
        if word := _word_of_laws(name):
            raise self.fail(f"{name!r} is {word}, and no unit")
        raise self.fail(suggest(f"{name!r} is no known unit", name, _near_units(name)))


_UNIT_WORDS = {"degree": "deg", "radian": "rad", "newton": "N", "meter": "m", "metre": "m", "millimeter": "mm"}
_UNIT_WORDS |= {"gram": "g", "kilogram": "kg", "second": "s", "sec": "s", "minute": "min", "hour": "h", "degc": "K"}
_UNIT_WORDS |= {"inch": "in", "inche": "in", "millimetre": "mm", "nmm": "N*mm", "kmh": "km/h", "u/min": "rpm"}


def find_unit_word(name: str) -> str | None:
    """The unit that a word stands for: degrees, seconds."""
    return _UNIT_WORDS.get(name.lower().removesuffix("s"))


def find_meant_unit(text: str) -> str | None:
    """The unit that a text is, or means but does not write: degrees, RPM, mm/s2, U/min."""

    def mend(match: re.Match[str]) -> str:
        name = match[0]
        same = (x for x in known if x.lower() == name.lower() and len(x) > 1)
        return name if name in known else find_unit_word(name) or next(same, name)

    known = find_units()
    mended = find_unit_word(text) or re.sub(r"[^\W\d_]+", mend, text)
    with_powers = re.sub(r"(?<=[A-Za-z])(?=-?\d)", "^", mended) if "/" in text or "-" in text else mended
    for unit in (text, mended, with_powers):
        with suppress(UnitError):
            parse_unit(unit)
            return unit
    return None


def _near_units(name: str) -> list[str]:
    word, known = find_unit_word(name), find_units()
    return [word] if word else [x for x in known if x.lower() == name.lower()] or find_close(name, known)


def _word_of_laws(name: str) -> str:
    """What a name means in a law, if it has a meaning there."""
    from kinode.expressions.function_table import CONSTANTS, FUNCTIONS  # which imports this module

    return "a function" if name in FUNCTIONS else "a number" if name in CONSTANTS else ""


def parse_unit(text: str) -> Unit:
    """The unit of a text such as "N*m*s/rad"."""

    def fail(reason: str) -> UnitError:
        return UnitError(f"cannot read the unit {text!r}: " + reason)

    if len(text) > LONGEST_TEXT:
        raise UnitError(f"a unit of {len(text)} characters is too long")
    return _UnitParser(text, fail).read()


def parse_si_unit(text: str) -> Dimension:
    """The dimension of an SI unit; other units are refused."""
    unit = parse_unit(text)
    if unit.ratio != 1 or unit.turns or unit.cycles:
        raise NonSIUnitError(f"{text!r} is no SI unit: write {unit.dimension.unit}")
    return unit.dimension


_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_NUMBERLIKE = re.compile(r"[+-]?(?:nan|inf|infinity|[\d.,_']+(?:[eE][+-]?[\d.,_]*)?)", re.IGNORECASE)
_JOINED = re.compile(rf"\s*({_NUMBER.pattern})(?![eE][+-]?\d)([A-Za-z°µμΩΩ%][\w°µμΩΩ%*/.·⋅()²³⁻¹^]*)\s*", re.ASCII)
_PREFIX = re.compile(r"([kMGunp])(\d*)")
_PREFIX_POWERS = {"k": "e3", "M": "e6", "G": "e9", "u": "e-6", "n": "e-9", "p": "e-12"}
_UNITLIKE = re.compile(r"(?:1\s*/|[A-Za-z°µμΩΩ%(])(?:[\w°µμΩΩ%*/.·⋅()²³⁻¹\s]|\^\(?[+-]?|\*\*\(?[+-]?)*")


def parse_quantity(text: str) -> Quantity | None:
    """Parse a quantity.

    Parameters
    ----------
    text : str
        "<number> <unit>", such as "250 N/m".

    Returns
    -------
    Quantity or None
        The number in SI with its dimension; None if the text has another form (a law, a plain number).

    Raises
    ------
    UnitError
        If the text has this form, but the number or the unit cannot be read.
    LawError
        If the unit follows the number without a space.

    Examples
    --------
    >>> parse_quantity("30 rpm").value_si
    3.141592653589793
    """
    joined = _JOINED.fullmatch(text)
    if joined is not None and not _NUMBER.fullmatch(text.strip()):
        raise LawError(describe_joined(*joined.groups()), text=text, position=joined.start(2))
    parts = text.split(None, 1)
    if len(parts) != 2 or not _UNITLIKE.fullmatch(parts[1].rstrip()) or not _NUMBERLIKE.fullmatch(parts[0]):
        return None
    number, unit_text = parts[0], parts[1].rstrip()
    if len(text) > LONGEST_TEXT:
        raise UnitError(f"a quantity of {len(text)} characters is too long")
    if not _NUMBER.fullmatch(number):
        hint = "; decimals follow a point" if "," in number else ""
        raise UnitError(f"{number!r} in {text.strip()!r} is not a finite number{hint}")
    if not math.isfinite(float(number)):
        raise UnitError(f"{number!r} in {text.strip()!r} is too large")
    try:
        unit = parse_unit(unit_text)
    except UnitError as error:
        error.message += f" ({text.strip()!r} is read as a quantity; a product is written with *)"
        raise
    value, written = _convert(number, unit, text), f"{number} {unit_text}"
    return Quantity(value, unit.dimension, unit_text, unit.cycles, written, unit.angular)


def describe_joined(number: str, word: str) -> str:
    """What is wrong with a number that a word follows without a space: 10kOhm, 10k, 4k7, 2x."""
    letter = _PREFIX.fullmatch(word)
    if letter is not None:  # as on resistors and capacitors
        decimals = f"{number}{'.' * bool(letter[2])}{letter[2]}{_PREFIX_POWERS[letter[1]]}"
        return f"{letter[1]!r} is no unit: write {decimals}, or the unit with its prefix, '10 kOhm'"
    product = f"; for a product write {number}*{word}" if word[0].isalpha() else ""
    try:
        parse_unit(word)
    except UnitError as error:
        name = "".join(re.findall(r"^\w+", word))
        if name != word and name in find_units():  # 90deg*t
            return describe_joined(number, name)
        reason, call = error.message.partition(": ")[2], "(...)" * (_word_of_laws(word) == "a function")
        return f"{reason}{product}{call}".replace("?; for", "? For")
    return f"number and unit stand apart: write '{number} {word}' for a quantity{product}"


def refuse_bare_angle(text: str) -> None:
    """Refuse a text that is a number alone for an angle; zero is zero in any unit."""
    number = text.strip()
    if _NUMBER.fullmatch(number) and float(number) != 0:
        raise UnitError(f"{number!r} has no unit: '{number} deg', or '{number} rad'?")


def convert_all(numbers: Iterable[str], unit_text: str) -> list[float]:
    """Many numbers in one unit in SI, each as ``parse_quantity`` gives it."""
    unit = parse_unit(unit_text)
    return [_convert(number, unit, number) for number in numbers]


def _convert(number: str, unit: Unit, text: str) -> float:
    if float(number) == 0:
        return 0.0
    try:
        value = unit.convert(Fraction(number))
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise UnitError(f"{text.strip()!r} is too large")
    return value


def check_dimension(
    quantity: Quantity, expected: str | Dimension, *, field: str | None = None, component: str | None = None
) -> float:
    """The SI value of a quantity that has the expected dimension; a UnitError otherwise.

    A lead is a length per turn: 5 mm and 5 mm/rev are the same, and a value in mm/rad or mm/min/rpm is converted.
    """
    named = DIMENSIONS[expected] if isinstance(expected, str) else None
    dimension = named.dimension if named else expected
    need = f"{named.words} is needed, in {named.unit}" if named else f"needed is a quantity in {dimension}"
    need = "a plain number is needed" if expected == "dimensionless" else need
    given = quantity.text or f"{quantity.value_si:g} {quantity.unit_text}"
    if quantity.dimension != dimension:
        raise UnitError(f"{given} is {describe(quantity)}; {need}", field=field, component=component)
    if quantity.cycles and named and named.name not in ("frequency", "rate"):
        instead = "; write rpm, rev/s or rad/s" if named.name == "angular_velocity" else ""
        raise UnitError(f"{given} counts cycles; {need}{instead}", field=field, component=component)
    if named and named.name == "lead" and quantity.angular:
        if quantity.angular != -1:
            raise UnitError(f"{given} is no length for a turn; {need}", field=field, component=component)
        return quantity.value_si * 2 * math.pi
    return quantity.value_si


def describe(quantity: Quantity) -> str:
    """A quantity in words, with its SI unit: "a force (N)"."""
    if quantity.dimension == DIMENSIONLESS:
        return "an angle (rad)" if quantity.angular else "a plain number"
    return describe_dimension(quantity.dimension)
