"""Units: what each text means in SI, and what is said about each text that means nothing."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinode as kn
from kinode.expressions.units import (
    DIMENSIONLESS,
    DIMENSIONS,
    Dimension,
    check_dimension,
    find_units,
    parse_quantity,
    parse_unit,
)

READ = [
    ("30 deg", math.radians(30), "angle"),
    ("180 deg", math.pi, "angle"),
    ("-1.5 rad", -1.5, "angle"),
    ("250 N/m", 250.0, "stiffness"),
    ("0.1 N*m*s/rad", 0.1, "rotational_damping"),
    ("10 Nm", 10.0, "moment"),
    ("10 N*m", 10.0, "moment"),
    ("10 N.m", 10.0, "moment"),
    ("10 N m", 10.0, "moment"),
    ("10 N·m", 10.0, "moment"),
    ("2 kN*m/rad", 2000.0, "rotational_stiffness"),
    ("3000 rpm", 100 * math.pi, "angular_velocity"),
    ("2 rev/s", 4 * math.pi, "angular_velocity"),
    ("1 turn", 2 * math.pi, "angle"),
    ("57 mm", 0.057, "length"),
    ("1.1 um", 1.1e-6, "length"),
    ("5 us", 5e-6, "time"),
    ("5 µs", 5e-6, "time"),
    ("2 MPa", 2e6, "pressure"),
    ("90 km/h", 25.0, "velocity"),
    ("9.81 m/s^2", 9.81, "acceleration"),
    ("9.81 m/s**2", 9.81, "acceleration"),
    ("9.81 m/s²", 9.81, "acceleration"),
    ("9.81 m*s^-2", 9.81, "acceleration"),
    ("9.81 m*s^(-2)", 9.81, "acceleration"),
    ("4 1/s", 4.0, "rate"),
    ("3 g", 0.003, "mass"),
    ("3 kg", 3.0, "mass"),
    ("1e3 kg/m^3", 1000.0, "density"),
    ("3 g*cm^2", 3e-7, "inertia"),
    ("7 kg*m^2", 7.0, "inertia"),
    ("2 min", 120.0, "time"),
    ("2 h", 7200.0, "time"),
    (".5 V", 0.5, "voltage"),
    ("1. mA", 1e-3, "current"),
    ("4.7 kOhm", 4700.0, "resistance"),
    ("4.7 Ω", 4.7, "resistance"),
    ("4.7 V/A", 4.7, "resistance"),
    ("10 mH", 0.01, "inductance"),
    ("10 uF", 1e-5, "capacitance"),
    ("10 C", 10.0, "charge"),
    ("0.05 N*m/A", 0.05, "torque_constant"),
    ("0.05 V*s/rad", 0.05, "torque_constant"),
    ("50 %", 0.5, "dimensionless"),
    ("50 Hz", 50.0, "frequency"),
    ("3 W", 3.0, "power"),
    ("3 J", 3.0, "energy"),
    ("10 (m/s)^2/m", 10.0, "acceleration"),
    ("1 in", 0.0254, "length"),
    ("  2   m  ", 2.0, "length"),
    ("0 deg", 0.0, "angle"),
    ("1e-400 m", 0.0, "length"),
    ("5 mm", 0.005, "lead"),
]


@pytest.mark.parametrize(("text", "value", "kind"), READ)
def test_a_quantity_in_si(text, value, kind):
    quantity = parse_quantity(text)
    assert quantity is not None
    assert check_dimension(quantity, kind) == value or math.isclose(quantity.value_si, value, rel_tol=1e-15)
    assert check_dimension(quantity, DIMENSIONS[kind].dimension) == quantity.value_si


# NIST Special Publication 811 (2008): table 1 base units, 3 derived ones, 6 others, appendix B customary ones, all
# exact.  A pound-force is a pound times the standard acceleration of free fall, 9.806 65 m/s^2.  Size, power of pi,
# exponents of kg, m, s, A and K.
POUND = Fraction(45359237, 10**8)
NIST = {
    "m": (1, 0, (0, 1, 0, 0, 0)), "g": (Fraction(1, 1000), 0, (1, 0, 0, 0, 0)), "s": (1, 0, (0, 0, 1, 0, 0)),
    "A": (1, 0, (0, 0, 0, 1, 0)), "K": (1, 0, (0, 0, 0, 0, 1)), "rad": (1, 0, (0, 0, 0, 0, 0)),
    "Hz": (1, 0, (0, 0, -1, 0, 0)), "N": (1, 0, (1, 1, -2, 0, 0)), "Pa": (1, 0, (1, -1, -2, 0, 0)),
    "J": (1, 0, (1, 2, -2, 0, 0)), "Nm": (1, 0, (1, 2, -2, 0, 0)), "W": (1, 0, (1, 2, -3, 0, 0)),
    "C": (1, 0, (0, 0, 1, 1, 0)), "V": (1, 0, (1, 2, -3, -1, 0)), "F": (1, 0, (-1, -2, 4, 2, 0)),
    "Ohm": (1, 0, (1, 2, -3, -2, 0)), "ohm": (1, 0, (1, 2, -3, -2, 0)), "S": (1, 0, (-1, -2, 3, 2, 0)),
    "Wb": (1, 0, (1, 2, -2, -1, 0)), "T": (1, 0, (1, 0, -2, -1, 0)), "H": (1, 0, (1, 2, -2, -2, 0)),
    "min": (60, 0, (0, 0, 1, 0, 0)), "h": (3600, 0, (0, 0, 1, 0, 0)), "l": (Fraction(1, 1000), 0, (0, 3, 0, 0, 0)),
    "deg": (Fraction(1, 180), 1, (0, 0, 0, 0, 0)), "rev": (2, 1, (0, 0, 0, 0, 0)), "turn": (2, 1, (0, 0, 0, 0, 0)),
    "rpm": (Fraction(2, 60), 1, (0, 0, -1, 0, 0)), "%": (Fraction(1, 100), 0, (0, 0, 0, 0, 0)),
    "bar": (10**5, 0, (1, -1, -2, 0, 0)), "Wh": (3600, 0, (1, 2, -2, 0, 0)),
    "in": (Fraction(254, 10**4), 0, (0, 1, 0, 0, 0)), "ft": (Fraction(12 * 254, 10**4), 0, (0, 1, 0, 0, 0)),
    "lb": (POUND, 0, (1, 0, 0, 0, 0)), "lbf": (POUND * Fraction(980665, 10**5), 0, (1, 1, -2, 0, 0)),
}  # fmt: skip
NIST_PREFIXES = {"p": -12, "n": -9, "u": -6, "m": -3, "c": -2, "d": -1, "k": 3, "M": 6, "G": 9}


def test_every_unit_has_the_size_of_nist():
    units = find_units()
    assert set(NIST) <= set(units)
    for name, unit in units.items():
        prefix, plain = ("", name) if name in NIST else (name[0], name[1:])
        size, pi, exponents = NIST[plain]
        scale = Fraction(10) ** (NIST_PREFIXES[prefix] if prefix else 0)
        assert (unit.ratio, unit.turns, unit.dimension.exponents) == (size * scale, pi, exponents), name


@pytest.mark.parametrize(
    "text",
    [
        "2*m",
        "x",
        "",
        "  ",
        "1e5",
        "2 + x",
        "2 - x",
        "2 m - 1",
        "2 *m",
        "2 / s",
        "sin(2*t)",
        "m 2",
        "- 3 m",
        "a b",
        "1e9*t",
        "-2.5E+6*sin(t)",
    ],
)
def test_other_texts_are_no_quantity(text):
    assert parse_quantity(text) is None


REFUSED = [
    ("2 foo", "'foo' is no known unit"),
    ("1 KN", "did you mean kN?"),
    ("1 newtons", "did you mean N?"),
    ("30 degrees", "did you mean deg?"),
    ("3 sec", "did you mean s?"),
    ("2 t", "t is the time"),
    ("20 degC", "did you mean K?"),
    ("1,5 m", "decimals follow a point"),
    ("1.2.3 m", "'1.2.3' in '1.2.3 m' is not a finite number"),
    ("1_000 m", "not a finite number"),
    ("nan m", "not a finite number"),
    ("-inf N", "not a finite number"),
    ("1e999 m", "too large"),
    ("1e308 km", "too large"),
    ("1 m^99", "a power is a whole number up to 12"),
    ("1 m^x", "a power is a whole number"),
    ("1 m2", "a power is written ^2"),
    ("3 (m", "a parenthesis is not closed"),
    ("3 m)", "')' is not expected there"),
    ("3 m/", "ends too early"),
    ("3 m//s", "'/' is not expected there"),
    (
        "3 m*sin(t)",
        "'sin' is a function, and no unit ('3 m*sin(t)' is read as a quantity; a product is written with *)",
    ),
    ("2 sin(t)", "'sin' is a function, and no unit"),
    ("2 pi", "'pi' is a number, and no unit"),
    ("1 ((((%^12)^12)^12)^12)^12", "beyond all numbers"),
    ("1 (m^12)^12", "powers are too high"),
    ("1 " + "m*" * 100 + "m", "too long"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_refused_quantities_say_why(text, message):
    with pytest.raises(kn.UnitError) as caught:
        parse_quantity(text)
    assert message in str(caught.value)


JOINED = {
    "5mm": "write '5 mm' for a quantity; for a product write 5*mm",
    " 1e-3m/s ": "write '1e-3 m/s' for a quantity",
    "-90deg": "write '-90 deg' for a quantity",
    "5%": "write '5 %' for a quantity",
    "30°": "write '30 °' for a quantity",
    "4k7": "'k' is no unit: write 4.7e3",
}


@pytest.mark.parametrize("text", JOINED)
def test_a_unit_stands_apart_from_its_number(text):
    with pytest.raises(kn.LawError) as caught:
        parse_quantity(text)
    assert JOINED[text] in str(caught.value)


MISFITS = [
    ("250 N", "stiffness", "return.k: 250 N is a force (N); a stiffness is needed, in N/m"),
    ("30 deg", "length", "return.k: 30 deg is an angle (rad); a length is needed, in m"),
    ("3 m", "dimensionless", "return.k: 3 m is a length (m); a plain number is needed"),
    ("50 Hz", "angular_velocity", "50 Hz counts cycles; an angular velocity is needed, in rad/s; write rpm"),
    ("2 kg*m^5", "mass", "2 kg*m^5 is a quantity in kg*m^5; a mass is needed, in kg"),
    ("2 kg", "inertia", "2 kg is a mass (kg); an inertia is needed, in kg*m^2"),
    ("1 N*s/m", "rotational_damping", "is a damping (N*s/m); a rotational damping is needed, in N*m*s/rad"),
    ("1 s", Dimension() / DIMENSIONS["time"].dimension, "1 s is a time (s); needed is a quantity in 1/s"),
]


@pytest.mark.parametrize(("text", "kind", "message"), MISFITS)
def test_a_wrong_dimension_names_the_field(text, kind, message):
    with pytest.raises(kn.UnitError) as caught:
        check_dimension(parse_quantity(text), kind, field="k", component="return")
    assert message in str(caught.value)
    assert (caught.value.component, caught.value.field) == ("return", "k")


def test_a_lead_is_per_turn_however_it_is_given():
    for text in ("5 mm", "5 mm/rev", "5 mm/turn", "5 mm/min/rpm", "300 mm/min/(rev/s)", "5 mm*rev/rev"):
        assert math.isclose(check_dimension(parse_quantity(text), "lead"), 0.005, rel_tol=1e-15)
    assert math.isclose(check_dimension(parse_quantity("1 mm/rad"), "lead"), 0.002 * math.pi, rel_tol=1e-15)
    for text in ("5 mm*rev", "5 mm/rev^2"):
        with pytest.raises(kn.UnitError, match="no length for a turn"):
            check_dimension(parse_quantity(text), "lead")


def test_every_named_dimension_has_the_unit_it_claims():
    for kind in DIMENSIONS.values():
        assert parse_unit(kind.unit).dimension == kind.dimension, kind.name


def test_dimensions_write_a_unit_that_reads_back():
    dimensions = {unit.dimension for unit in find_units().values()}
    for one in dimensions:
        for other in dimensions:
            dimension = one / other**2
            assert parse_unit(dimension.unit).dimension == dimension


def test_roots_of_dimensions():
    area = DIMENSIONS["area"].dimension
    assert area**0.5 == DIMENSIONS["length"].dimension
    assert str(DIMENSIONS["length"].dimension ** 0.5) == "m^(1/2)"
    assert DIMENSIONLESS**3.7 == DIMENSIONLESS


@given(st.text(alphabet="0123456789.eE+-*/^() mNskgradHzΩ°²%", max_size=40))
def test_garbage_is_refused_or_no_quantity(text):
    try:
        quantity = parse_quantity(text)
    except (kn.UnitError, kn.LawError):
        return
    assert quantity is None or math.isfinite(quantity.value_si)
