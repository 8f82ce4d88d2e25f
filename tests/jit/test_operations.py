"""Kernels against the definition of each operation, in one, four and eight lanes."""

from __future__ import annotations

import math
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import call_lanes, straight
from kinode.algebra.scalars import FLOAT_FUNCTIONS, apply
from kinode.algebra.trace import Tape
from kinode.jit.compiler import compile_program
from kinode.jit.program import interpret

LANES = (1, 4, 8)
TABLES = ("interval", "fetch")
ARITY = dict.fromkeys(FLOAT_FUNCTIONS, 1)
ARITY |= dict.fromkeys(("add", "sub", "mul", "pow", "atan2", "min", "max", "less", "less_equal", "equal"), 2)
ARITY["where"] = 3
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 1e-310, 1e300, -1e300, 1e5, 99999.9, 1e6]
SPECIAL += [math.inf, -math.inf, math.nan]
JUMPS = ("sign", "floor", "less", "less_equal", "equal")
EXACT = ("neg", "abs", "min", "max", "where")
BREAKS = (-1.0, 0.0, 0.25, 2.0, 5.0)


def reference(op, args):
    """What the definition says; a negative base with a broken exponent is NaN however large the power."""
    if op == "pow" and -math.inf < args[0] < 0 and math.isfinite(args[1]) and not args[1].is_integer():
        return math.nan
    try:
        return FLOAT_FUNCTIONS[op](*args)
    except OverflowError:
        return math.inf


def same(a, b, ulps=2):
    """Equal up to rounding, NaN included; the ulp of an infinity is infinite, so that infinities are compared."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if math.isinf(a) or math.isinf(b):
        return a == b
    return a == b or abs(a - b) <= ulps * math.ulp(max(abs(a), abs(b)))


def samples(op, count):
    generator = np.random.default_rng(7)
    grid = SPECIAL if op != "fetch" else [0.0, 1.0, 2.0, 3.0, 4.0, math.nan, math.inf]
    if op == "interval":
        grid = [*SPECIAL, *BREAKS, 0.3, -7.0]
    found = [generator.choice(grid, size=count) for _ in range(400)]
    if op != "fetch":
        found += [generator.normal(size=count) * generator.choice([1e-3, 1.0, 30.0]) for _ in range(200)]
    found += [[x] * count for x in grid]
    return np.array([*found, *([found[0]] * (-len(found) % 8))], dtype=float)


@pytest.mark.parametrize("lanes", LANES)
def test_every_operation_and_special_value(lanes):
    ops = sorted(set(FLOAT_FUNCTIONS) - {"external"})  # that is in test_external_calls.py
    tape = Tape()
    q = tape.inputs("q", 3)
    stores = []
    for k, op in enumerate(ops):
        args = (BREAKS, q[0]) if op in TABLES else tuple(q[: ARITY[op]])
        stores.append(("out", k, tape.node(op, *args)))
    machine = compile_program(straight(stores, q=3, out=len(ops)), lanes)
    with np.errstate(all="ignore"):
        for k, op in enumerate(ops):
            rows = samples(op, 3)
            for start in range(0, len(rows), lanes):
                out = call_lanes(machine, {"q": rows[start : start + lanes]})
                for row, result in zip(rows[start : start + lanes], out[:, k], strict=True):
                    args = (BREAKS, float(row[0])) if op in TABLES else tuple(map(float, row[: ARITY[op]]))
                    assert same(result, reference(op, args)), (op, args, result)


@st.composite
def tapes(draw):
    """Random expressions in four inputs; what jumps gets only operands that are computed without rounding."""
    tape = Tape()
    exact = list(tape.inputs("q", 4))
    rounded = list(exact)
    for _ in range(draw(st.integers(1, 60))):
        op = draw(st.sampled_from(["sin", "cos", "atan", "tanh", "add", "sub", "mul", "table", *JUMPS, *EXACT]))
        pick = st.sampled_from(exact if op in JUMPS or op == "table" else rounded)
        args = [draw(pick) for _ in range(ARITY.get(op, 1))]
        if len(args) == 2:
            args[1] = draw(st.one_of(pick, st.floats(-2, 2)))
        if op == "where":
            args[0] = draw(st.sampled_from(exact))
        if op == "table":
            new = tape.node("fetch", BREAKS, tape.node("interval", BREAKS, *args))
        else:
            new = tape.node(op, *args)
        if op in ("add", "sub", "mul"):
            new = tape.node("sin", new)
        rounded.append(new)
        if op in JUMPS or op == "table":
            exact.append(new)
    return rounded


@settings(max_examples=25)
@given(tapes(), st.integers(0, 2**32 - 1))
def test_random_tapes(values, seed):
    rows = np.random.default_rng(seed).normal(size=(8, 4)) * 2
    program = straight([("out", k, value) for k, value in enumerate(values)], q=4, out=len(values))
    expected = np.zeros((8, len(values)))
    for row, out in zip(rows, expected, strict=True):
        interpret(program, {"q": row, "out": out})
    for lanes in LANES:
        machine = compile_program(program, lanes)
        found = np.vstack([call_lanes(machine, {"q": rows[k : k + lanes]}) for k in range(0, 8, lanes)])
        # Sixty steps of slope at most two could double an error sixty times; in fact they hardly ever do.
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_a_power_with_negative_base_and_overflow():
    tape = Tape()
    a, b = tape.inputs("q", 2)
    machine = compile_program(straight([("out", 0, tape.node("pow", a, b))], q=2, out=1), 1)
    minus = [(-1e200, 3.0), (-1e-200, -3.0), (-10.0, 309.0), (-math.inf, 3.0)]
    plus = [(-1e200, 2.0), (-0.0, -1.0), (0.0, -2.5), (-math.inf, 2.0), (1e200, 3.0)]
    for row in [*minus, *plus, (-0.0, 3.0), (-2.0, 0.5), (-2.0, 3.0), (2.0, 0.3)]:
        expected, by_array = FLOAT_FUNCTIONS["pow"](*row), apply("pow", np.array(row[:1]), np.array(row[1:]))[0]
        assert same(call_lanes(machine, {"q": np.array([row])})[0, 0], expected) and same(by_array, expected)
        assert row not in minus or expected == -math.inf
        assert row not in plus or expected == math.inf


def ulps(value, exact):
    unit = math.ulp(float(exact)) if exact else math.ulp(0.0)
    return abs(float((mpmath.mpf(value) - exact) / unit))


@cache
def sines_and_cosines():
    """Numbers, and their sines and cosines to many digits; once for all lanes."""
    generator = np.random.default_rng(1)
    points = [generator.uniform(-r, r, 600) for r in (1.0, 10.0, 1e3, 1e5, 1e7, 1e15)]
    # Next to the multiples of pi/2 nearly all digits cancel.
    multiples = generator.integers(1, 63000, 2000) * (math.pi / 2)
    points += [multiples, np.nextafter(multiples, 0.0), -np.nextafter(multiples, 1e9)]
    points += [np.array([1e5, np.nextafter(1e5, 1e6), 1e-300, 5e-324, 1e-8, -1e-8, 1e300, 0.0])]
    xs = np.concatenate(points)
    exact = []
    for x in map(float, xs):
        with mpmath.workprec(1200 if abs(x) > 1e20 else 300):  # pi to so many digits as the multiple of it takes
            exact.append((mpmath.sin(mpmath.mpf(x)), mpmath.cos(mpmath.mpf(x))))
    return xs, exact


@pytest.mark.parametrize("lanes", LANES)
def test_sine_and_cosine_to_one_unit_in_the_last_place(lanes):
    tape = Tape()
    (x,) = tape.inputs("q", 1)
    stores = [("out", 0, tape.node("sin", x)), ("out", 1, tape.node("cos", x))]
    machine = compile_program(straight(stores, q=1, out=2), lanes)
    xs, exact = sines_and_cosines()
    worst = 0.0
    with mpmath.workprec(300):
        for start in range(0, len(xs) - lanes + 1, lanes):
            found = call_lanes(machine, {"q": xs[start : start + lanes, None]})
            for (sine, cosine), (s, c) in zip(found, exact[start : start + lanes], strict=True):
                worst = max(worst, ulps(sine, s), ulps(cosine, c))
    assert worst < 1.0


@pytest.mark.parametrize("lanes", LANES)
def test_the_exponential_to_one_unit_in_the_last_place(lanes):
    tape = Tape()
    (x,) = tape.inputs("q", 1)
    machine = compile_program(straight([("out", 0, tape.node("exp", x))], q=1, out=1), lanes)
    generator = np.random.default_rng(2)
    halves = (generator.integers(-1000, 1000, 400) + 0.5) * math.log(2.0)  # where the reduced argument is longest
    points = [generator.uniform(-r, r, 400) for r in (1e-8, 0.4, 2.0, 30.0, 708.0)]
    ends = np.array([708.0, -708.0, np.nextafter(708.0, 1e9), 709.7, 1e-300, -5e-324, 0.0, -700.0])
    xs = np.concatenate([*points, halves, np.nextafter(halves, 0.0), ends])
    worst = 0.0
    with mpmath.workprec(200):
        for start in range(0, len(xs) - lanes + 1, lanes):
            rows = xs[start : start + lanes]
            for value, (found,) in zip(rows, call_lanes(machine, {"q": rows[:, None]}), strict=True):
                worst = max(worst, ulps(found, mpmath.exp(mpmath.mpf(float(value)))))
    assert worst < 1.0


def test_functions_of_laws_are_computed_together_as_one_by_one():
    tape, alone = Tape(), Tape()
    values = np.array([[0.3, -1.0, 2.0, 1e6, 5.0, 0.1, 800.0]])

    def laws(x):
        return [apply(f, 0.5 * v * v - v) for f in ("exp", "sin", "cos") for v in x] + [
            apply("exp", apply("sin", x[0]))
        ]

    several = [("out", i, value) for i, value in enumerate(laws(tape.inputs("q", 7)))]
    found = call_lanes(compile_program(straight(several, q=7, out=22), 1), {"q": values})[0]
    for i, value in enumerate(laws(alone.inputs("q", 7))):
        one = compile_program(straight([("out", 0, value)], q=7, out=1), 1)
        assert same(call_lanes(one, {"q": values})[0, 0], found[i], ulps=0)


def test_a_far_lane_does_not_disturb_its_neighbors():
    tape = Tape()
    (x,) = tape.inputs("q", 1)
    machine = compile_program(straight([("out", 0, tape.node("sin", x))], q=1, out=1), 4)
    alone = call_lanes(machine, {"q": np.array([[0.3], [1.0], [2.0], [3.0]])})
    mixed = call_lanes(machine, {"q": np.array([[0.3], [1e6], [math.inf], [3.0]])})
    assert alone[0, 0] == mixed[0, 0]
    assert alone[3, 0] == mixed[3, 0]
    assert mixed[1, 0] == math.sin(1e6)
    assert math.isnan(mixed[2, 0])


def test_large_angles_are_those_of_the_library():
    """Beyond the reduction by pi/2 in three parts, which would lose digits without a word."""
    tape, angles = Tape(), [1.00001e5, 3e7, 1.2345e10, 1e15, 1e22, -3e8, -1e12, 1e18]
    (x,) = tape.inputs("q", 1)
    stores = [("out", 0, tape.node("sin", x)), ("out", 1, tape.node("cos", x))]
    found = call_lanes(compile_program(straight(stores, q=1, out=2), 8), {"q": np.array(angles)[:, None]})
    assert found.tolist() == [[math.sin(angle), math.cos(angle)] for angle in angles]


def test_an_operation_without_code_is_named():
    tape = Tape()
    bad = tape.node("gamma", tape.input("q", 0))
    with pytest.raises(ValueError, match="gamma"):
        compile_program(straight([("out", 0, bad)], q=1, out=1), 1)


@pytest.mark.parametrize("width", [2, 3, 4])
@pytest.mark.parametrize("lanes", LANES)
def test_vectors_of_scalars(lanes, width):
    """Sums, products, signs and choices of vectors and scalars; stored whole, in part, and out of order."""
    tape = Tape()
    q = tape.inputs("q", 6)
    a = tape.pack([q[0], 0.0, *q[2:width]])
    b = tape.pack([1.0, q[1], *[2.0] * (width - 2)])
    test = apply("less", q[4], q[5])
    vectors = [a * b + q[3], -(a * q[4]) - b, 3.0 - a * 2.0, apply("where", test, a, b), apply("where", test, a, 0.0)]
    whole = [x for vector in vectors for x in tape.lanes(vector, width)]
    parts = [tape.lanes(vectors[0], width)[1], *reversed(tape.lanes(vectors[1], width)), tape.lanes(2.5, width)[0]]
    program = into_out([*whole, *parts], q=6)
    machine = compile_program(program, lanes)
    rows = np.random.default_rng(1).normal(size=(lanes, 6))
    found = call_lanes(machine, {"q": rows})
    for row, result in zip(rows, found, strict=True):
        out = np.zeros(len(result))
        interpret(program, {"q": row, "out": out})
        np.testing.assert_allclose(result, out, rtol=1e-14, atol=1e-15)


def into_out(results, **sizes):
    return straight([("out", k, x) for k, x in enumerate(results)], out=len(results), **sizes)
