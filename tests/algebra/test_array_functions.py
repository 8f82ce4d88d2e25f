"""The elementary functions on arrays agree with those on single numbers, for every function."""

import numpy as np
import pytest

import kinode as kn
from kinode.algebra.scalars import ARRAY_FUNCTIONS, FLOAT_FUNCTIONS, apply
from kinode.expressions.lookup_tables import Table
from kinode.expressions.syntax_tree import Expression, symbol

NUMBERS = np.array([-2.5, -1.0, -0.3, 0.0, 0.2, 1.0, 3.7])
COUNTS = {
    **dict.fromkeys(("add", "sub", "mul", "pow", "atan2", "min", "max", "less", "less_equal", "equal"), 2),
    "where": 3,
}


@pytest.mark.parametrize("name", [name for name in ARRAY_FUNCTIONS if name not in ("interval", "fetch")])
def test_each_entry_is_as_by_itself(name):
    args = [NUMBERS, NUMBERS[::-1], NUMBERS**2][: COUNTS.get(name, 1)]
    expected = [FLOAT_FUNCTIONS[name](*(float(x) for x in row)) for row in zip(*args)]
    assert apply(name, *args) == pytest.approx(expected, rel=1e-14, nan_ok=True)
    assert apply(name, *args).dtype == float


def test_numbers_and_arrays_mix():
    assert kn.maximum(0.0, NUMBERS).tolist() == [0, 0, 0, 0, 0.2, 1, 3.7]
    assert kn.mod(NUMBERS, 1.0) == pytest.approx(NUMBERS % 1.0)
    assert kn.where(NUMBERS > 0, 1.0, NUMBERS)[0] == -2.5


def test_an_array_of_laws():
    laws = kn.sin(np.array([symbol("a"), symbol("b")], dtype=object))
    assert [type(law) for law in laws] == [Expression, Expression]
    assert kn.minimum(NUMBERS, symbol("a"))[0] == kn.minimum(-2.5, symbol("a"))


@pytest.mark.parametrize(("method", "outside"), [("linear", "hold"), ("quintic", "repeat"), ("nearest", "repeat")])
def test_a_table_of_an_array(method, outside):
    table = Table("T", (0, 1, 2, 3, 4, 6, 7), (1, 3, 2, 0, 5, 2, 1), method, outside)
    x = np.linspace(-10, 20, 61)
    assert table.evaluate(x) == pytest.approx([table.evaluate(v) for v in x], rel=1e-12, abs=1e-12)
    slopes = np.broadcast_to(table.derivative(0, x), x.shape)  # that of constant pieces is one number
    assert slopes == pytest.approx([table.derivative(0, v) for v in x], rel=1e-12, abs=1e-12)


def test_what_is_no_number_is_refused():
    with pytest.raises(TypeError, match="no number that kinode knows"):
        kn.sin("1")
