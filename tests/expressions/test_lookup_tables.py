"""Tables: interpolation and its derivatives in every scalar type, against NumPy and SciPy."""

import math
from itertools import product

import numpy as np
import pytest

import kinode as kn
from kinode.algebra.scalars import FLOAT_FUNCTIONS, Dual
from kinode.algebra.trace import Tape, replay
from kinode.expressions.lookup_tables import DEGREES, METHODS, OUTSIDE, Table
from kinode.expressions.parser import parse
from kinode.expressions.table_files import read_table_file

AXES = ((0.0, 1.0, 1.5, 4.0, 4.25), (-2.0, 0.0, 3.0, 3.5), (0.0, 2.0), (1.0, 2.0, 4.0))
RNG = np.random.default_rng(7)


def make(dimensions, method="linear", outside="error"):
    axes = AXES[:dimensions]
    values = np.random.default_rng(dimensions).normal(size=[len(axis) for axis in axes])
    if outside == "repeat":
        for k in range(dimensions):
            np.moveaxis(values, k, 0)[-1] = np.moveaxis(values, k, 0)[0]
    return Table("T", axes, values, method, outside)


CASES = [
    (n, method, outside)
    for n, method, outside in product((1, 2, 3, 4), METHODS, OUTSIDE)
    if method not in DEGREES or n <= 2
]


def points(table, count, beyond=0.0):
    low = np.array([axis[0] for axis in table.axes])
    high = np.array([axis[-1] for axis in table.axes])
    return RNG.uniform(low - beyond, high + beyond, (count, len(low)))


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_one_axis_agrees_with_scipy(count):
    from scipy.interpolate import CubicSpline

    axis, values = AXES[0][:count], RNG.normal(size=count)
    spline = CubicSpline(axis, values)
    x = np.linspace(axis[0], axis[-1], 37)
    cubic, linear = Table("c", axis, values, "cubic"), Table("l", axis, values)
    assert np.allclose([cubic.evaluate(v) for v in x], spline(x), rtol=0, atol=1e-13)
    assert np.allclose([cubic.derivative(0, v) for v in x], spline(x, 1), rtol=0, atol=1e-12)
    assert np.allclose([cubic.evaluate(v, along=(0, 0)) for v in x], spline(x, 2), rtol=0, atol=1e-12)
    assert np.allclose([linear.evaluate(v) for v in x], np.interp(x, axis, values), rtol=0, atol=1e-14)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 7, 30])
def test_a_quintic_table_has_four_continuous_derivatives(count):
    axis = np.cumsum(RNG.uniform(0.5, 1.5, count))
    table = Table("q", axis, RNG.normal(size=count), "quintic")
    for x, order in product(axis[1:-1], range(5)):
        before, after = (table.evaluate(x + step, along=(0,) * order) for step in (-1e-9, 1e-9))
        assert before == pytest.approx(after, rel=1e-6, abs=1e-5)
    assert [table.evaluate(x) for x in axis] == pytest.approx(table.values, abs=1e-12)


def test_a_quintic_table_has_the_accelerations_of_a_smooth_motion():
    """Halving the interval of the samples divides the error of the second derivative by 2^4."""
    x = np.linspace(4, 6, 101)
    errors = []
    for count in (26, 51):
        axis = np.linspace(0, 10, count)
        table = Table("q", axis, np.sin(2 * axis), "quintic")
        errors.append(max(abs(table.evaluate(v, along=(0, 0)) + 4 * math.sin(2 * v)) for v in x))
    assert errors[1] < 0.01
    assert 12 < errors[0] / errors[1] < 24


@pytest.mark.parametrize("dimensions", [2, 3, 4])
@pytest.mark.parametrize("method", ["linear", "nearest"])
def test_more_axes_agree_with_scipy(dimensions, method):
    from scipy.interpolate import RegularGridInterpolator

    table = make(dimensions, method)
    reference = RegularGridInterpolator(table.axes, table.array(), method=method)
    for x in points(table, 50):
        assert math.isclose(table.evaluate(*x), reference(x)[0], rel_tol=0, abs_tol=1e-13)


@pytest.mark.parametrize("method", DEGREES)
def test_a_bicubic_table_reproduces_a_bicubic_polynomial(method):
    def f(x, y):
        return (1 + x - 0.2 * x**3) * (2 - y + 0.1 * y**2 + 0.05 * y**3)

    values = [[f(x, y) for y in AXES[1]] for x in AXES[0]]
    table = Table("T", AXES[:2], values, method)
    for x, y in points(table, 30):
        assert math.isclose(table.evaluate(x, y), f(x, y), rel_tol=1e-11, abs_tol=1e-11)


@pytest.mark.parametrize(("dimensions", "method", "outside"), CASES)
def test_grid_points_are_met(dimensions, method, outside):
    table = make(dimensions, method, outside)
    for index in np.ndindex(*table.shape):
        x = [axis[i] for axis, i in zip(table.axes, index, strict=True)]
        # One polynomial of degree 5 through uneven random points cancels from terms of some 1e3.
        tolerance = 1e-10 if method == "quintic" else 1e-12
        assert math.isclose(table.evaluate(*x), table.array()[index], rel_tol=0, abs_tol=tolerance)


@pytest.mark.parametrize(("dimensions", "method", "outside"), CASES)
def test_all_kinds_of_number_agree(dimensions, method, outside):
    table = make(dimensions, method, outside)
    tape = Tape()
    inputs = tape.inputs("x", dimensions)
    duals = [Dual(x, 1.0 + k) for k, x in enumerate(inputs)]
    moving = table.evaluate(*duals)
    slope = moving.rate if isinstance(moving, Dual) else 0.0
    outputs = [table.evaluate(*inputs), slope, *(table.derivative(k, *inputs) for k in range(dimensions))]
    for x in points(table, 12, beyond=0.0 if outside == "error" else 1.0):
        value, rate, *partials = replay(outputs, {("x", k): float(v) for k, v in enumerate(x)})
        assert value == pytest.approx(table.evaluate(*x), rel=1e-14, abs=1e-14)
        assert partials == pytest.approx([table.derivative(k, *x) for k in range(dimensions)], rel=1e-14, abs=1e-14)
        assert rate == pytest.approx(sum((1.0 + k) * d for k, d in enumerate(partials)), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize(("dimensions", "method", "outside"), CASES)
def test_derivatives_are_those_of_the_values(dimensions, method, outside):
    table = make(dimensions, method, outside)
    for x, k in product(points(table, 10), range(dimensions)):
        if any(abs(v - p) < 1e-5 for v, axis in zip(x, table.axes, strict=True) for p in axis):
            continue
        step = np.eye(dimensions)[k] * 1e-6
        slope = (table.evaluate(*(x + step)) - table.evaluate(*(x - step))) / 2e-6
        if method not in ("nearest", "previous"):
            assert table.derivative(k, *x) == pytest.approx(slope, rel=1e-6, abs=1e-6)
        else:
            assert table.derivative(k, *x) == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("outside", OUTSIDE)
def test_symbols_agree(method, outside):
    import sympy

    table = make(1, method, outside)
    x = sympy.Symbol("x")
    modules = [{"interval": FLOAT_FUNCTIONS["interval"], "fetch": FLOAT_FUNCTIONS["fetch"]}, "math"]
    for formula, floats in (
        (table.evaluate(x), table.evaluate),
        (table.derivative(0, x), lambda v: table.derivative(0, v)),
    ):
        function = sympy.lambdify(x, formula, modules)
        for (v,) in points(table, 8):
            assert function(v) == pytest.approx(floats(v), rel=1e-13, abs=1e-11 if method == "quintic" else 1e-13)


def test_outside():
    values = (1.0, 3.0, 2.0)
    held, continued = (Table("T", (0, 1, 2), values, outside=outside) for outside in ("hold", "extrapolate"))
    assert [held.evaluate(x) for x in (-5, 7)] == [1, 2]
    assert [held.derivative(0, x) for x in (-5, 0, 2, 7)] == [0, 2, -1, 0]
    assert [continued.evaluate(x) for x in (-1, 3)] == [-1, 1]
    assert [continued.derivative(0, x) for x in (-1, 3)] == [2, -1]


@pytest.mark.parametrize(("dimensions", "method"), [(n, m) for n, m, outside in CASES if outside == "repeat"])
def test_a_table_that_repeats(dimensions, method):
    """Whole periods away, in every direction, values and derivatives are those of the first period."""
    table = make(dimensions, method, "repeat")
    periods = np.array([axis[-1] - axis[0] for axis in table.axes])
    assert [table.period(k) for k in range(dimensions)] == pytest.approx(periods)
    for x in points(table, 12):
        away = x + RNG.integers(-3, 4, dimensions) * periods
        assert table.evaluate(*away) == pytest.approx(table.evaluate(*x), rel=1e-9, abs=1e-9)
        for k in range(dimensions):
            assert table.derivative(k, *away) == pytest.approx(table.derivative(k, *x), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("method", DEGREES)
def test_a_spline_that_repeats_is_smooth_at_its_seam(method):
    from scipy.interpolate import make_interp_spline

    axis = np.array([0.0, 0.5, 1.5, 2.0, 2.6, 3.1, 4.0])
    values = np.array([1.0, 3.0, -2.0, 0.5, 0.0, 2.0, 1.0])
    table, degree = Table("T", axis, values, method, "repeat"), DEGREES[method]
    spline = make_interp_spline(axis, values, k=degree, bc_type="periodic")
    for order in range(degree):
        along = (0,) * order
        before, after = (table.evaluate(8.0 + step, along=along) for step in (-1e-9, 1e-9))
        assert before == pytest.approx(after, rel=1e-5, abs=1e-5)
        assert table.evaluate(9.7, along=along) == pytest.approx(spline(1.7, nu=order), rel=1e-9, abs=1e-9)
    assert table.corners(0) == ()


def test_each_axis_has_an_outside_of_its_own():
    table = Table("T", ((0, 90, 360), (0, 10)), [[1, 2], [5, 7], [1, 2]], outside=("repeat", "hold"))
    assert table.evaluate(360 + 90, 25) == 7
    assert table.derivative(1, 90, 25) == 0
    assert table.period(0) == 360
    assert table.period(1) == math.inf
    assert Table("T", (0, 1), (2, 3), outside=("hold",)) == Table("T", (0, 1), (2, 3), outside="hold")


def test_corners_of_a_table_that_repeats_are_those_of_one_period():
    linear, nearest = (Table("T", (0, 1, 4), (1, 2, 1), method, "repeat") for method in ("linear", "nearest"))
    assert linear.corners(0) == (0, 1)
    assert nearest.corners(0) == (0.5, 2.5)  # at 0 and 4 it has the same value


def test_outside_is_refused_or_not_a_number():
    table = Table("torque", ((0, 1, 2), (0, 5)), [[1, 2], [3, 4], [5, 6]])
    with pytest.raises(kn.LawError, match=r"torque: 7 lies outside axis 1, which goes from 0 to 5"):
        table.evaluate(1, 7)
    tape = Tape()
    inputs = tape.inputs("x", 2)
    outputs = [table.evaluate(*inputs), table.derivative(0, *inputs)]
    for x, y in ((-1.0, 1.0), (3.0, 1.0), (1.0, -0.1), (1.0, 5.1)):
        assert all(math.isnan(value) for value in replay(outputs, {("x", 0): x, ("x", 1): y}))
    assert math.isnan(table.evaluate(math.nan, 1.0))


def test_previous_and_nearest():
    previous = Table("T", (0, 1, 2), (10, 20, 30), "previous")
    assert [previous.evaluate(x) for x in (0, 0.99, 1, 1.99, 2)] == [10, 10, 20, 20, 30]
    nearest = Table("T", (0, 1, 2), (10, 20, 30), "nearest", "hold")
    assert [nearest.evaluate(x) for x in (-1, 0, 0.49, 0.51, 1.49, 1.51, 9)] == [10, 10, 10, 20, 20, 30, 30]


def test_a_table_in_a_law():
    table = make(1, "cubic")
    law = parse("2*T(x^2)", ["T"])
    assert law == 2 * table.evaluate(parse("x^2"))
    slope = law.derivative("x")
    for x in (0.3, 1.1, 1.9):
        value = law.evaluate(lambda name, x=x: Dual(x, 1.0), lambda name, args, axes=(): table.call(args, axes))
        assert value.rate == pytest.approx(
            slope.evaluate(lambda name, x=x: x, lambda n, a, axes=(): table.call(a, axes))
        )


def test_a_table_is_a_value():
    a, b = Table("T", (0, 1), (2, 3)), Table("T", [[0.0, 1.0]], np.array([2, 3]))
    assert a == b
    assert hash(a) == hash(b)
    assert a.evaluate(0.5) == 2.5
    with pytest.raises(AttributeError):
        a.name = "other"


WRONG = [
    ({"axes": (0, 0, 1), "values": (1, 2, 3)}, "T.axes: axis 0 must increase from point to point: 0 follows 0"),
    ({"axes": (0,), "values": (1,)}, "T.axes: axis 0 needs at least 2 points"),
    ({"axes": (), "values": ()}, "T.axes: a table has 1 to 4 axes, not 0"),
    ({"axes": ((0, 1),) * 5, "values": np.zeros((2,) * 5)}, "a table has 1 to 4 axes, not 5"),
    ({"axes": (0, 1, 2), "values": (1, 2)}, "T.values: the axes need 3 values, but there are 2"),
    ({"axes": ((0, 1), (0, 1, 2)), "values": [[1, 2], [3, 4], [5, 6]]}, "need 2 x 3 values, but there are 3 x 2"),
    ({"axes": (0, math.inf), "values": (1, 2)}, "T.axes: every number must be finite"),
    ({"axes": (0, 1), "values": (1, math.nan)}, "T.values: every number must be finite"),
    ({"axes": (0, 1), "values": (1, "a")}, "T.values: these are not numbers"),
    ({"axes": (0, 1), "values": ((1, 2), (3,))}, "T.values: these are not numbers in rows of equal length"),
    ({"axes": (0, 1), "values": (1, 2), "method": "liner"}, "T.method: 'liner' is not known; did you mean linear?"),
    ({"axes": (0, 1), "values": (1, 2), "outside": "zero"}, "T.outside: 'zero' is not known; there are error, hold"),
    ({"axes": ((0, 1),) * 3, "values": np.zeros((2, 2, 2)), "method": "cubic"}, "cubic takes one or two axes, not 3"),
    (
        {"axes": (0, 90, 350), "values": (1, 2, 4), "outside": "repeat"},
        "T.outside: axis 0 repeats, but its value at 350, 4, is not that at 0, 1: add the point that closes the period",
    ),
    (
        {"axes": (0, 1), "values": (1, 2), "outside": ("hold", "error")},
        "T.outside: one word for all axes or one for each of the 1 is expected, not 2",
    ),
    ({"axes": "abc", "values": (1, 2)}, "T.axes: a table has 1 to 4 axes, not 0"),
]


@pytest.mark.parametrize(("fields", "message"), WRONG)
def test_wrong_tables_are_refused(fields, message):
    with pytest.raises(kn.ModelError) as caught:
        Table("T", **fields)
    assert message in str(caught.value)


def test_wrong_calls_are_refused():
    with pytest.raises(kn.LawError, match="T: takes 1 argument, not 2"):
        make(1).evaluate(1.0, 2.0)
    with pytest.raises(kn.LawError, match="T: there is no axis 1"):
        make(1).derivative(1, 1.0)


@pytest.mark.parametrize(
    "text", ["0,1\n1,3\n", "t;y\n0;1\n# note\n\n1;3", "\ufeffx y\n0 1\n1 3.0\n", "0\t1\r\n1\t3e0\r\n"]
)
def test_files(tmp_path, text):
    file = tmp_path / "table.csv"
    file.write_text(text, encoding="utf-8", newline="")
    table = Table("T", *read_table_file(file))
    assert (table.axes, table.values) == (((0, 1),), (1, 3))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,1\n1,2,3\n", "table.csv:2: the lines before have 2 columns, this line 3"),
        ("0,1\n1,x\n", "table.csv:2: 'x' is not a finite number"),
        ("0,1\n0,2\n", "table.csv:2: the axis must increase: 0 follows 0"),
        ("0,1\n1,1e999\n", "table.csv:2: '1e999' is not a finite number"),
        ("0,5,1,5\n", "decimals follow a point"),
        ("0,1\n", "a table needs at least 2 points; there are 1"),
        ("", "a table needs at least 2 points; there are 0"),
        ("a,b\nc,d\n", "table.csv:2: 'c' is not a finite number"),
    ],
)
def test_wrong_files_name_the_line(tmp_path, text, message):
    file = tmp_path / "table.csv"
    file.write_text(text)
    with pytest.raises(kn.ModelError) as caught:
        read_table_file(file)
    assert message in str(caught.value)


COLUMNS = "t, heave, roll\n0, 1, 5\n1, 3, 7\n"


@pytest.mark.parametrize("column", ["roll", 2])
def test_one_column_of_several(tmp_path, column):
    file = tmp_path / "deck.csv"
    file.write_text(COLUMNS)
    assert read_table_file(file, column) == (((0.0, 1.0),), (5.0, 7.0))


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        (COLUMNS, None, "deck.csv:1: a table file has 2 columns, this one 3; "),
        (COLUMNS, "pitch", "deck.csv:1: no column of values is called 'pitch'; there are heave, roll"),
        (COLUMNS, "t", "deck.csv:1: no column of values is called 't'"),
        (COLUMNS, 3, "deck.csv:1: there is no column 3; the first after the axis is 1, the last 2"),
        (COLUMNS, True, "deck.csv:1: there is no column True"),
        ("t,a,a\n0,1,2\n1,1,2\n", "a", "deck.csv:1: several columns are called 'a'"),
        ("0,1,2\n1,1,2\n", "a", "deck.csv:1: no column is called 'a': the first line is no header"),
        (COLUMNS + "2,4\n", 1, "deck.csv:4: the lines before have 3 columns, this line 2"),
    ],
)
def test_wrong_columns_are_refused(tmp_path, text, column, message):
    file = tmp_path / "deck.csv"
    file.write_text(text)
    with pytest.raises(kn.ModelError) as caught:
        read_table_file(file, column)
    assert message in str(caught.value)


def test_files_that_are_no_text(tmp_path):
    file = tmp_path / "table.csv"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(kn.ModelError, match="not text in UTF-8"):
        read_table_file(file)
    with pytest.raises(kn.ModelError, match="cannot be read"):
        read_table_file(tmp_path / "missing.csv")


# -- exchangeable tables ----------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["linear", "cubic", "previous"])
def test_code_serves_exchangeable_tables_with_other_numbers(method):
    """Equal columns of one table, and equal tables, are not taken for the same where the numbers may change."""
    x = np.linspace(0, 2, 6)

    def make(one, two, exchangeable=True):
        system = kn.System("tables", gravity=(0, 0, 0))
        for name, values in (("one", one), ("two", two)):
            system.table(name, axes=x, values=values, method=method, outside="extrapolate", exchangeable=exchangeable)
        law = "one(slide.q) - 2*two(slide.q)"
        system.prismatic("slide", system.world, system.body("block", mass=1), axis="x", effort=law)
        return kn.compile(system)

    same, different = make(x**2, x**2), make(np.sin(x), np.ones(6))
    assert same.kernels.fingerprint == different.kernels.fingerprint
    for dynamics, numbers in ((same, (x**2, x**2)), (different, (np.sin(x), np.ones(6)))):
        plain = make(*numbers, exchangeable=False)
        for q in (-0.3, 0.7, 1.95):
            np.testing.assert_array_equal(dynamics.acceleration(0.0, [q], [0.0]), plain.acceleration(0.0, [q], [0.0]))
