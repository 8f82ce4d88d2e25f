"""External functions on a tape: machine code calls them by address, once for all results of equal arguments."""

import ctypes

import numpy as np
import pytest
import sympy

from kernels import call_lanes, straight
from kinode.algebra.intervals import Interval
from kinode.algebra.named_data import ExternalFunction, ExternalResult, NamedData
from kinode.algebra.scalars import apply, value_and_rate
from kinode.algebra.trace import Tape
from kinode.jit.compiler import build, compile_program
from kinode.jit.program import interpret

CALLED = []


@ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int64, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double)
)
def door(context, number, given, out):
    """Number 0 is (a b, a + b); 1 is its derivative by a, 2 that by b."""
    CALLED.append(number)
    a, b = given[0], given[1]
    out[0], out[1] = [(a * b, a + b), (b, 1.0), (a, 1.0)][number]


class Product(ExternalFunction):
    owner, size = "product", 2

    def __init__(self, number=0):
        self.number, self.name = number, f"product {number}"
        self.door = NamedData("product", (float(ctypes.cast(door, ctypes.c_void_p).value), 0.0))

    def evaluate(self, arguments):
        out = (ctypes.c_double * 2)()
        door(None, self.number, (ctypes.c_double * 2)(*arguments), out)
        return list(out)

    def derivative(self, result, argument):
        return ExternalResult(Product(1 + argument), result) if self.number == 0 else None


FIRST, SECOND = (ExternalResult(Product(), k) for k in (0, 1))


@pytest.mark.parametrize("lanes", [1, 4, 8])
def test_machine_code_calls_it_once_for_all_results(lanes):
    tape = Tape()
    q = tape.inputs("q", 3)
    b = apply("sin", q[1])
    values = [
        apply("external", FIRST, q[0], b) + q[2],
        apply("external", SECOND, q[0], b),
        apply("external", FIRST, b, 2),
    ]
    program = straight([("out", k, value) for k, value in enumerate(values)], q=3, out=3)
    rows = np.random.default_rng(1).normal(size=(lanes, 3))
    CALLED.clear()
    found = call_lanes(compile_program(program, lanes), {"q": rows})
    assert len(CALLED) == 2 * lanes
    sines = np.sin(rows[:, 1])
    expected = np.stack([rows[:, 0] * sines + rows[:, 2], rows[:, 0] + sines, 2 * sines], 1)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)
    out = np.zeros(3)
    interpret(program, {"q": rows[0], "out": out})
    np.testing.assert_allclose(out, expected[0], rtol=1e-14)


def test_cached_code_gets_the_address_when_it_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setenv("KINODE_CACHE_DIR", str(tmp_path))
    tape = Tape()
    q = tape.inputs("q", 2)
    program = straight([("out", 0, apply("external", FIRST, *q))], q=2, out=1)
    data = {"product": Product().door}
    for _ in range(2):
        machine = build("external test", 1, lambda: program, data)
        assert call_lanes(machine, {"q": np.array([[3.0, 4.0]])})[0, 0] == 12.0


def test_other_kinds_of_number():
    point, direction = np.array([3.0, 4.0]), np.array([1.0, 10.0])
    values, rates = value_and_rate(lambda x: np.array([apply("external", FIRST, *x)], dtype=object), point, direction)
    assert (values[0], rates[0]) == (12.0, 34.0)
    bounds = apply("external", FIRST, Interval(0.0, 1.0), 2.0)
    assert bounds.low < -1e100 and bounds.high > 1e100, "nothing is known of it"
    np.testing.assert_array_equal(apply("external", SECOND, np.arange(3.0), 1.0), [1.0, 2.0, 3.0])
    x = sympy.Symbol("x")
    assert apply("external", FIRST, x, 2.0).func.__name__ == "product 0_1"


def test_a_tape_keeps_one_node_for_equal_calls():
    tape = Tape()
    a, b = tape.inputs("q", 2)
    assert apply("external", FIRST, a, b) is apply("external", ExternalResult(Product(), 0), a, b)
    assert apply("external", FIRST, a, b) is not apply("external", SECOND, a, b)
