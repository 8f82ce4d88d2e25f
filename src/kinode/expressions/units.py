"""Units: "30 deg", "250 N/m" and "0.1 N*m*s/rad" to SI numbers with their dimension.

The table is our own and small.  Radians are plain numbers, so that N*m/rad and N*m are one dimension;
Hz is kept apart by ``cycles``, because 1 Hz is no angular rate of 1 rad/s.  Prefixes from p to G stand before
the units that commonly take them.  "g" is the gram; "t" is time and therefore no tonne.  Products are
read from left to right: N/m*s is (N/m)*s.  Conversions are exact to the last digit.

Units with an offset (degC) are not dealt with, nor are sums of quantities.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from kinode.errors import UnitError, find_close

BASE_UNITS = ("kg", "m", "s", "A", "K")
LONGEST_TEXT, LARGEST_POWER = 200, 12


@dataclass(frozen=True, slots=True)
class Dimension:
    """Exponents of kg, m, s, A and K."""

    exponents: tuple[int | Fraction, ...] = (0,) * len(BASE_UNITS)

    def __mul__(self, other: Dimension) -> Dimension:
        return Dimension(tuple(a + b for a, b in zip(self.exponents, other.exponents, strict=True)))

    def __truediv__(self, other: Dimension) -> Dimension:
        return Dimension(tuple(a - b for a, b in zip(self.exponents, other.exponents, strict=True)))

    def __pow__(self, power: float | Fraction) -> Dimension:
        power = power if isinstance(power, int) else Fraction(power).limit_denominator(1000)
        return Dimension(tuple(a * power for a in self.exponents))

    @property
    def unit(self) -> str:
        """The SI unit as text: that of the named dimension where there is one, else powers of base units."""
        return next((kind.unit for kind in DIMENSIONS.values() if kind.dimension == self), None) or self._powers()

    def _powers(self) -> str:
        above: list[str] = []
        below: list[str] = []
        for name, exponent in zip(BASE_UNITS, self.exponents, strict=True):
            if exponent:
                size = str(abs(exponent)) if exponent.denominator == 1 else f"({abs(exponent)})"
                (above if exponent > 0 else below).append(name if abs(exponent) == 1 else f"{name}^{size}")
        text = "*".join(above) or "1"
        return text + "".join(f"/{name}" for name in below)

    def __str__(self) -> str:
        return self.unit


@dataclass(frozen=True, slots=True)
class NamedDimension:
    """A dimension in its role: what it is called, and the SI unit to write with it."""

    name: str
    dimension: Dimension
    unit: str

    @property
    def words(self) -> str:
        """The name with its article: "a length", "an angular velocity"."""
        if self.name == self.unit:
            return f"a quantity in {self.unit}"
        name = self.name.replace("_", " ")
        return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit: its dimension and size in SI, which is ``ratio * pi**turns``."""

    ratio: Fraction
    dimension: Dimension
    cycles: bool = False
    turns: int = 0

    @property
    def factor(self) -> float:
        """The unit's size in SI."""
        return self.convert(Fraction(1))

    def convert(self, number: Fraction) -> float:
        """A number of these units in SI, rounded once."""
        return float(number * self.ratio) * math.pi**self.turns

    def __mul__(self, other: Unit) -> Unit:
        dimension = self.dimension * other.dimension
        return Unit(self.ratio * other.ratio, dimension, self.cycles or other.cycles, self.turns + other.turns)

    def __pow__(self, power: int) -> Unit:
        return Unit(self.ratio**power, self.dimension**power, self.cycles, self.turns * power)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in SI with what was known of its unit; ``text`` is how it was written."""

    value_si: float
    dimension: Dimension
    unit_text: str
    cycles: bool = False
    text: str = ""


def _base(**exponents: int) -> Dimension:
    return Dimension(tuple(exponents.get(name, 0) for name in BASE_UNITS))


DIMENSIONLESS = _base()
_N = _base(kg=1, m=1, s=-2)
_J = _base(kg=1, m=2, s=-2)
_W = _base(kg=1, m=2, s=-3)
_V = _base(kg=1, m=2, s=-3, A=-1)
_M, _S, _A = _base(m=1), _base(s=1), _base(A=1)

_PREFIXES = {"p": -12, "n": -9, "u": -6, "m": -3, "c": -2, "d": -1, "k": 3, "M": 6, "G": 9}
# name: (size, dimension, prefixes it takes)
_PLAIN: dict[str, tuple[str, Dimension, str]] = {
    "m": ("1", _M, "pnumcdk"),
    "g": ("1/1000", _base(kg=1), "umk"),
    "s": ("1", _S, "pnum"),
    "A": ("1", _A, "pnumk"),
    "K": ("1", _base(K=1), "m"),
    "N": ("1", _N, "umkMG"),
    "J": ("1", _J, "umkMG"),
    "W": ("1", _W, "umkMG"),
    "Pa": ("1", _N / _M**2, "mkMG"),
    "V": ("1", _V, "numkM"),
    "Ohm": ("1", _V / _A, "umkMG"),
    "ohm": ("1", _V / _A, "umkMG"),
    "S": ("1", _A / _V, "um"),
    "C": ("1", _A * _S, "pnum"),
    "F": ("1", _A * _S / _V, "pnum"),
    "H": ("1", _V * _S / _A, "pnum"),
    "T": ("1", _V * _S / _M**2, "um"),
    "Wb": ("1", _V * _S, "um"),
    "Nm": ("1", _J, "umkM"),
    "Wh": ("3600", _J, "kM"),
    "bar": ("100000", _N / _M**2, "m"),
    "l": ("1/1000", _M**3, "m"),
    "min": ("60", _S, ""),
    "h": ("3600", _S, ""),
    "rad": ("1", DIMENSIONLESS, "um"),
    "%": ("1/100", DIMENSIONLESS, ""),
    "in": ("0.0254", _M, ""),
    "ft": ("0.3048", _M, ""),
    "lb": ("0.45359237", _base(kg=1), ""),
    "lbf": ("4.4482216152605", _N, ""),
}
# What holds pi: name: (multiple of pi, dimension)
_ROUND: dict[str, tuple[str, Dimension]] = {
    "deg": ("1/180", DIMENSIONLESS),
    "rev": ("2", DIMENSIONLESS),
    "turn": ("2", DIMENSIONLESS),
    "rpm": ("1/30", DIMENSIONLESS / _S),
}


def _build_units() -> dict[str, Unit]:
    units = {"Hz": Unit(Fraction(1), DIMENSIONLESS / _S, cycles=True)}
    units |= {name: Unit(Fraction(size), dimension, turns=1) for name, (size, dimension) in _ROUND.items()}
    units |= {name: Unit(Fraction(size), dimension) for name, (size, dimension, _) in _PLAIN.items()}
    for name, prefixes in [("Hz", "mkMG"), *((name, entry[2]) for name, entry in _PLAIN.items())]:
        for prefix in prefixes:
            size = Unit(Fraction(10) ** _PREFIXES[prefix], DIMENSIONLESS)
            units.setdefault(prefix + name, size * units[name])
    return units


UNITS = _build_units()


class Dimensions(dict[str, NamedDimension]):
    """Dimensions by name; what has no name can be asked for by its unit in SI: "W/K"."""

    def __missing__(self, text: str) -> NamedDimension:
        unit = parse_unit(text)
        if unit.ratio != 1 or unit.turns or unit.cycles:
            raise UnitError(f"{text!r} is no SI unit: write {unit.dimension.unit}")
        return NamedDimension(text, unit.dimension, text)


def find_unit_name(text: str) -> str:
    """What is measured in a unit of SI, in one word where there is one: "rad/s" is an angular_velocity."""
    if text in DIMENSIONS:
        return text
    unit = text.replace(" ", "")
    same = [name for name, kind in DIMENSIONS.items() if kind.unit == unit]
    dimension = DIMENSIONS[text].dimension if not same else None
    return next(iter(same or (name for name, kind in DIMENSIONS.items() if kind.dimension == dimension)), text)


def _name_dimensions() -> Dimensions:
    rows: list[tuple[str, Dimension, str]] = [
        ("dimensionless", DIMENSIONLESS, "1"),
        ("angle", DIMENSIONLESS, "rad"),
        ("length", _M, "m"),
        ("mass", _base(kg=1), "kg"),
        ("time", _S, "s"),
        ("current", _A, "A"),
        ("temperature", _base(K=1), "K"),
        ("area", _M**2, "m^2"),
        ("volume", _M**3, "m^3"),
        ("velocity", _M / _S, "m/s"),
        ("acceleration", _M / _S**2, "m/s^2"),
        ("rate", DIMENSIONLESS / _S, "1/s"),
        ("frequency", DIMENSIONLESS / _S, "Hz"),
        ("angular_velocity", DIMENSIONLESS / _S, "rad/s"),
        ("angular_acceleration", DIMENSIONLESS / _S**2, "rad/s^2"),
        ("force", _N, "N"),
        ("moment", _J, "N*m"),
        ("energy", _J, "J"),
        ("power", _W, "W"),
        ("inertia", _base(kg=1, m=2), "kg*m^2"),
        ("momentum", _N * _S, "N*s"),
        ("angular_momentum", _J * _S, "N*m*s"),
        ("stiffness", _N / _M, "N/m"),
        ("rotational_stiffness", _J, "N*m/rad"),
        ("compliance", _M / _N, "m/N"),
        ("rotational_compliance", DIMENSIONLESS / _J, "rad/(N*m)"),
        ("damping", _N * _S / _M, "N*s/m"),
        ("rotational_damping", _J * _S, "N*m*s/rad"),
        ("density", _base(kg=1, m=-3), "kg/m^3"),
        ("pressure", _N / _M**2, "Pa"),
        ("lead", _M, "m/rev"),
        ("voltage", _V, "V"),
        ("resistance", _V / _A, "Ohm"),
        ("conductance", _A / _V, "S"),
        ("inductance", _V * _S / _A, "H"),
        ("capacitance", _A * _S / _V, "F"),
        ("charge", _A * _S, "C"),
        ("flux", _V * _S, "Wb"),
        ("torque_constant", _J / _A, "N*m/A"),
        ("speed_constant", _A / _J, "rad/s/V"),
    ]
    return Dimensions({name: NamedDimension(name, dimension, unit) for name, dimension, unit in rows})


DIMENSIONS = _name_dimensions()

_SPELLINGS = str.maketrans({"µ": "u", "μ": "u", "·": "*", "⋅": "*"})
_REPLACED = (("Ω", "Ohm"), ("Ω", "Ohm"), ("°", "deg"), ("²", "^2"), ("³", "^3"), ("⁻¹", "^-1"), ("**", "^"))
_TOKEN = re.compile(r"\s*(?:(?P<name>[A-Za-z%]+)|(?P<integer>[+-]?\d+)|(?P<mark>[*/.^()]))")


class _Reader:
    """Reads one unit: product = factor {(* | . | / | space) factor}, factor = (name | (product) | 1) [^ integer]."""

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
        if not token.lstrip("+-").isdigit() or len(token) > 3 or abs(int(token)) > LARGEST_POWER:
            raise self.fail(f"a power is a whole number up to {LARGEST_POWER}")
        result = unit ** int(token)
        if any(not -LARGEST_POWER <= exponent / 4 <= LARGEST_POWER for exponent in result.dimension.exponents):
            raise self.fail("its powers are too high")
        if max(result.ratio.numerator, result.ratio.denominator).bit_length() > 1000:
            raise self.fail("its size is beyond all numbers")
        return result

    def find(self, name: str) -> Unit:
        unit = UNITS.get(name)
        if unit is not None:
            return unit
        if name == "t":
            raise self.fail("t is the time, and no unit; a tonne is 1000 kg")
        raise self.fail(f"{name!r} is no known unit{_suggest(name)}")


_WORDS = {"degree": "deg", "radian": "rad", "newton": "N", "meter": "m", "metre": "m", "millimeter": "mm"}
_WORDS |= {"gram": "g", "kilogram": "kg", "second": "s", "sec": "s", "minute": "min", "hour": "h", "degc": "K"}


def _suggest(name: str) -> str:
    word = _WORDS.get(name.lower().removesuffix("s"))
    same = [word] if word else [unit for unit in UNITS if unit.lower() == name.lower()]
    close = same or find_close(name, UNITS)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def parse_unit(text: str) -> Unit:
    """The unit of a text such as "N*m*s/rad"."""

    def fail(reason: str) -> UnitError:
        return UnitError(f"cannot read the unit {text!r}: {reason}")

    if len(text) > LONGEST_TEXT:
        raise UnitError(f"a unit of {len(text)} characters is too long")
    return _Reader(text, fail).read()


_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_NUMBERLIKE = re.compile(r"[+-]?(?:nan|inf|infinity|[\d.,_']+(?:[eE][+-]?[\d.,_]*)?)", re.IGNORECASE)
_UNITLIKE = re.compile(r"(?:1\s*/|[A-Za-z°µμΩΩ%(])(?:[\w°µμΩΩ%*/.·⋅()²³⁻¹\s]|\^\(?[+-]?|\*\*\(?[+-]?)*")


def parse_quantity(text: str) -> Quantity | None:
    """The quantity that a text "<number> <unit>" holds; None where the text is anything else."""
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
    return Quantity(_convert(number, unit, text), unit.dimension, unit_text, unit.cycles, f"{number} {unit_text}")


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
    """The quantity's SI value, once it is sure to have the dimension that the field needs.

    A lead is a length for each turn, whether it is given as 5 mm, 5 mm/rev or in mm/rad.
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
    if named and named.name == "lead" and _is_angular(quantity):
        return quantity.value_si * 2 * math.pi
    return quantity.value_si


def _is_angular(quantity: Quantity) -> bool:
    return any(name in quantity.unit_text for name in ("rad", "deg", "°", "rev", "turn"))


def describe(quantity: Quantity) -> str:
    """What a quantity is, in words with its SI unit: "a force (N)"."""
    if quantity.dimension == DIMENSIONLESS:
        return "an angle (rad)" if _is_angular(quantity) else "a plain number"
    return describe_dimension(quantity.dimension)


def describe_dimension(dimension: Dimension) -> str:
    """What has this dimension, in words with the SI unit."""
    kind = next((kind for kind in DIMENSIONS.values() if kind.dimension == dimension), None)
    return f"{kind.words} ({kind.unit})" if kind else f"a quantity in {dimension.unit}"
