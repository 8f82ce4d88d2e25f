"""Physical dimensions: products of powers of kg, m, s, A and K, and the names that engineers give them.

Radians are plain numbers: N*m/rad and N*m have one dimension.  Several names may share a dimension (moment, energy);
the name says which unit is written with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from kinode.errors import UnitError

BASE_UNITS = ("kg", "m", "s", "A", "K")


@dataclass(frozen=True)
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
        """The SI unit as text: that of the named dimension if there is one, else powers of base units."""
        named = _find_named(self)
        return named.unit if named else self._powers()

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


@dataclass(frozen=True)
class NamedDimension:
    """A dimension with a name and the SI unit to write with it."""

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


def base_dimension(**exponents: int) -> Dimension:
    """The dimension with these exponents of the base units."""
    return Dimension(tuple(exponents.get(name, 0) for name in BASE_UNITS))


DIMENSIONLESS = base_dimension()
FORCE = base_dimension(kg=1, m=1, s=-2)
ENERGY = base_dimension(kg=1, m=2, s=-2)
POWER = base_dimension(kg=1, m=2, s=-3)
VOLTAGE = base_dimension(kg=1, m=2, s=-3, A=-1)
LENGTH, TIME, CURRENT = base_dimension(m=1), base_dimension(s=1), base_dimension(A=1)

_ROWS: list[tuple[str, Dimension, str]] = [
    ("dimensionless", DIMENSIONLESS, "1"),
    ("angle", DIMENSIONLESS, "rad"),
    ("length", LENGTH, "m"),
    ("mass", base_dimension(kg=1), "kg"),
    ("time", TIME, "s"),
    ("current", CURRENT, "A"),
    ("temperature", base_dimension(K=1), "K"),
    ("area", LENGTH**2, "m^2"),
    ("volume", LENGTH**3, "m^3"),
    ("velocity", LENGTH / TIME, "m/s"),
    ("acceleration", LENGTH / TIME**2, "m/s^2"),
    ("rate", DIMENSIONLESS / TIME, "1/s"),
    ("frequency", DIMENSIONLESS / TIME, "Hz"),
    ("angular_velocity", DIMENSIONLESS / TIME, "rad/s"),
    ("angular_acceleration", DIMENSIONLESS / TIME**2, "rad/s^2"),
    ("force", FORCE, "N"),
    ("moment", ENERGY, "N*m"),
    ("energy", ENERGY, "J"),
    ("power", POWER, "W"),
    ("inertia", base_dimension(kg=1, m=2), "kg*m^2"),
    ("momentum", FORCE * TIME, "N*s"),
    ("angular_momentum", ENERGY * TIME, "N*m*s"),
    ("stiffness", FORCE / LENGTH, "N/m"),
    ("rotational_stiffness", ENERGY, "N*m/rad"),
    ("compliance", LENGTH / FORCE, "m/N"),
    ("rotational_compliance", DIMENSIONLESS / ENERGY, "rad/(N*m)"),
    ("damping", FORCE * TIME / LENGTH, "N*s/m"),
    ("rotational_damping", ENERGY * TIME, "N*m*s/rad"),
    ("density", base_dimension(kg=1, m=-3), "kg/m^3"),
    ("pressure", FORCE / LENGTH**2, "Pa"),
    ("lead", LENGTH, "m/rev"),
    ("voltage", VOLTAGE, "V"),
    ("resistance", VOLTAGE / CURRENT, "Ohm"),
    ("conductance", CURRENT / VOLTAGE, "S"),
    ("inductance", VOLTAGE * TIME / CURRENT, "H"),
    ("capacitance", CURRENT * TIME / VOLTAGE, "F"),
    ("charge", CURRENT * TIME, "C"),
    ("flux", VOLTAGE * TIME, "Wb"),
    ("torque_constant", ENERGY / CURRENT, "N*m/A"),
    ("speed_constant", CURRENT / ENERGY, "rad/s/V"),
]
NAMED_DIMENSIONS = {name: NamedDimension(name, dimension, unit) for name, dimension, unit in _ROWS}


def check_plain_length(text: str, dimension: Dimension, angular: int) -> None:
    """Refuse a length for an angle where the angle would be forgotten, and a lead be 2 pi too small."""
    if dimension == LENGTH and angular:
        message = f"{text} is a length for an angle, and a parameter keeps a length alone"
        raise UnitError(f"{message}: write a lead as the length of one turn, a pitch radius as that of a radian")


def describe_dimension(dimension: Dimension) -> str:
    """A dimension in words, with its SI unit: "a force (N)"."""
    named = _find_named(dimension)
    return f"{named.words} ({named.unit})" if named else f"a quantity in {dimension.unit}"


def _find_named(dimension: Dimension) -> NamedDimension | None:
    """The first named dimension that is equal to this one."""
    return next((named for named in NAMED_DIMENSIONS.values() if named.dimension == dimension), None)
