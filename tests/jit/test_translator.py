"""Loops translated to machine code against the same functions run by Python, construct by construct."""

from __future__ import annotations

import ctypes
import math
import weakref
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loop_records import Step, Walk, fibonacci, move

from kinode.jit.llvm_code import compile_text
from kinode.jit.loop.memory import Floats, Struct, apart, bits, call, floats, floats_of, ints_of, struct, tail
from kinode.jit.loop.translator import translate
from kinode.jit.machine_code import load_object

TYPES = {"int": ctypes.c_int64, "float": ctypes.c_double, "bool": ctypes.c_bool, "None": None}
TYPES |= dict.fromkeys(("Floats", "Ints", "Walk"), ctypes.c_void_p)
LIMIT = 7
integers = st.integers(-(2**40), 2**40)
small = st.integers(-20, 20)
reals = st.floats(-1e100, 1e100)
anything = st.floats()


@cache
def compiled(function):
    """The machine code as a Python function."""
    engine = load_object(compile_text(translate(function, "tested"), optimize=True))
    notes = dict(function.__annotations__)
    result = TYPES[notes.pop("return")]
    made = ctypes.CFUNCTYPE(result, *(TYPES[note] for note in notes.values()))(engine.get_function_address("tested"))
    made.kept = engine
    return made


def same(a, b):
    """Equal to the bit, the sign of zero included, or both not a number."""
    return type(a) is type(b) and ((a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b))


def whole_arithmetic(a: int, b: int, c: int) -> int:
    return (a + b) * 3 - -c + (a & b) + (a | c) - (b ^ c) + abs(a) + min(a, b, c) - max(b, c)


def division(a: int, b: int) -> int:
    return 1000 * (a // b) + a % b


def quotient(a: int, b: int) -> float:
    return a / b


def real_arithmetic(x: float, y: float, n: int) -> float:
    return -x * y + n - x / 3.0 + abs(y) * 2 + float(n) + math.fabs(x)


def powers(x: float, y: float) -> float:
    return x**y + x**2 + math.sqrt(x)


def functions(x: float) -> float:
    return math.sin(x) + math.cos(x) * math.exp(-abs(x)) + math.atan(x) + math.tanh(x) + math.log(1.0 + abs(x))


def rounded(x: float) -> int:
    return int(x) + 1000 * math.floor(x)


def extremes(x: float, y: float, n: int) -> float:
    return min(x, y) + max(y, x, n)


def comparisons(x: float, y: float, n: int) -> int:
    found = int(x < y) + 2 * int(x <= y) + 4 * int(x > y) + 8 * int(x >= y) + 16 * int(x == y) + 32 * int(x != y)
    return found + 64 * int(n < 3) + 128 * int(n == 3) + 256 * int(-5 <= n < x <= 10.0) + 512 * int(math.isfinite(x))


def choices(x: float, y: float, n: int) -> int:
    if x > y and (n > 0 or not y > 0.0):
        return 1
    elif n:
        m = 2 if x < 0.0 else 3
        return -m if n == LIMIT else m
    return 4


def enclosed(scale: int):
    """A number of an enclosing function counts as a constant."""

    def inner(n: int) -> int:
        return scale * n

    return inner


@given(integers, integers, integers)
def test_arithmetic_of_integers(a, b, c):
    a, b, c = a >> 8, b >> 8, c
    assert compiled(whole_arithmetic)(a, b, c) == whole_arithmetic(a, b, c)


@given(integers, st.one_of(small, integers).filter(bool))
def test_division_rounds_down(a, b):
    a >>= 12
    assert compiled(division)(a, b) == division(a, b)
    assert same(compiled(quotient)(a, b), quotient(a, b))


def test_division_by_zero_is_no_trap():
    """Python raises; machine code cannot."""
    assert compiled(division)(5, 0) == 0
    assert compiled(quotient)(5, 0) == math.inf


@given(reals, reals, integers)
def test_arithmetic_of_real_numbers(x, y, n):
    assert same(compiled(real_arithmetic)(x, y, n), real_arithmetic(x, y, n))


@given(st.floats(0.0, 1e3), st.floats(0.0, 20.0))
def test_powers(x, y):
    assert math.isclose(compiled(powers)(x, y), powers(x, y), rel_tol=1e-15, abs_tol=0.0)


@given(st.floats(-1e3, 1e3))
def test_functions_of_the_library(x):
    """Those of the C library that Python calls too."""
    assert math.isclose(compiled(functions)(x), functions(x), rel_tol=1e-15, abs_tol=1e-15)
    assert compiled(rounded)(x) == rounded(x)


def test_rounding_what_has_no_integer():
    assert compiled(rounded)(math.nan) == 0


@given(anything, anything, small)
def test_extremes_and_comparisons(x, y, n):
    """Also of what is not a number, or not finite."""
    assert same(compiled(extremes)(x, y, n), float(extremes(x, y, n)))
    assert compiled(comparisons)(x, y, n) == comparisons(x, y, n)
    assert compiled(choices)(x, y, n) == choices(x, y, n)


@pytest.mark.parametrize("scale", [3, -4])
def test_numbers_of_an_enclosing_function(scale):
    assert compiled(enclosed(scale))(5) == 5 * scale


def ranges(values: Floats, n: int, out: Floats) -> int:
    count = 0
    for i in range(n):
        if values[i] < 0.0:
            continue
        for k in range(i, -1, -2):
            if k == 5:
                break
            out[i] += values[k] * (k + 1)
            count += 1
    for i in range(2, n, 3):
        out[i], out[0] = out[0], out[i]
        i = i * 2
        count -= i
    return count


def searching(values: Floats, n: int, out: Floats) -> int:
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if values[middle] < out[0]:
            low = middle + 1
        else:
            high = middle
    step = 1
    while True:
        step *= 2
        if step > low:
            break
    total: float = 0
    while low:
        low -= 1
        total += values[low]
    out[1] = total
    return step


def helpers(values: Floats, n: int, out: Floats) -> int:
    swap(values, out, n)
    size = norm(out, n)
    for i in range(n):
        out[i] /= 1 + size
    return fibonacci(n)


def swap(a: Floats, b: Floats, n: int) -> None:
    """Returns early, and changes what it is given."""
    if n < 2:
        return
    for i in range(n):
        a[i], b[i] = b[i], a[i]


def norm(a: Floats, n: int) -> float:
    square = 0.0
    for i in range(n):
        square += a[i] * a[i]
    return math.sqrt(square)


@pytest.mark.parametrize("function", [ranges, searching, helpers])
@given(data=st.data())
def test_loops_over_rows(function, data):
    n = data.draw(st.integers(0, 12))
    values = np.sort(data.draw(st.lists(st.floats(-1e3, 1e3), min_size=20, max_size=20)))
    results = []
    for run in (lambda v, o: compiled(function)(v, n, o), lambda v, o: function(floats(v), n, floats(o))):
        given_values, out = values.copy(), np.arange(20.0)
        results.append((run(given_values.ctypes.data, out.ctypes.data), given_values.tobytes(), out.tobytes()))
    assert results[0] == results[1]


def indirect(kernel: int, rows: Floats, n: int) -> float:
    """The kernel at an address, called on rows of two numbers."""
    q, out = tail(rows, 2), tail(rows, 16)
    for _ in range(n):
        call(
            kernel, rows, q, tail(rows, 4), tail(rows, 6), tail(rows, 8), tail(rows, 10), tail(rows, 12),
            tail(rows, 14), out,
        )  # fmt: skip
        for i in range(2):
            q[i] = out[i]
    return out[0]


def growth(t: Floats, q: Floats, u: Floats, z: Floats, p: Floats, i: Floats, x: Floats, w: Floats, o: Floats) -> None:
    o[0], o[1] = q[0] + t[0] * q[1], q[1] + p[0]


def test_kernels_are_called_by_their_address():
    kernel = compiled(growth)
    results = []
    address = ctypes.cast(kernel, ctypes.c_void_p).value
    for run in (compiled(indirect), lambda address, rows, n: indirect(address, floats(rows), n)):
        rows = np.tile([0.5, 1.0], 9)
        results.append(run(address, rows.ctypes.data, 4))
    assert results[0] == results[1] == 0.5 + 0.5 * (1.0 + 1.5 + 2.0 + 2.5)


def walk(trip: Walk, n: int) -> float:
    """Fields are read, set and changed in place, through records within and under another name."""
    here, path = trip.here, trip.path
    for i in range(n):
        here.x, here.y = here.y + trip.scale * path[i], here.x
        trip.there.hits += Step.FORTH if here.x > 0.0 else Step.BACK
        path[i] = trip.there.y
        trip.marks[i] = trip.there.hits
        trip.steps += move(trip.there, i)
    return here.x - tail(path, 1)[0]


def sign_bits(values: Floats, n: int) -> int:
    count = 0
    for i in range(n):
        count += int(bits(values)[i] < 0)
    return count


@given(st.lists(st.floats(-1e3, 1e3), min_size=8, max_size=8), reals, reals)
def test_records(values, x, scale):
    """Machine code and Python change the same bytes of a record."""
    results = []
    for run in (lambda trip: compiled(walk)(ctypes.addressof(trip), 7), lambda trip: walk(trip, 7)):
        trip, path, marks = Walk(), np.array(values), np.zeros(8, dtype=np.int64)
        trip.path, trip.marks, trip.scale, trip.here.x, trip.there.y = floats_of(path), ints_of(marks), scale, x, 0.5
        result = run(trip)
        fields = (trip.steps, trip.here.x, trip.here.y, trip.there.y, trip.there.hits)
        results.append((result, fields, path.tobytes(), marks.tobytes()))
    assert same(results[0][0], results[1][0])
    assert results[0][1:] == results[1][1:]


@given(st.lists(anything, min_size=6, max_size=6))
def test_bits_of_numbers(values):
    row = np.array(values)
    assert compiled(sign_bits)(row.ctypes.data, 6) == sign_bits(floats_of(row), 6) == np.signbit(row).sum()


def test_a_record_keeps_its_arrays():
    """Also where it lies within another, and until another array takes the place."""

    def give(owner):
        row = np.arange(5.0)
        owner.path = floats_of(row)
        return weakref.ref(row)

    trip = Walk()
    first = give(trip)
    assert first() is not None and trip.path[3] == 3.0
    second = give(trip)
    assert first() is None and second() is not None
    del trip
    assert second() is None


def test_rows_of_other_numbers_are_refused():
    with pytest.raises(TypeError, match="contiguous float64 is expected, not int64"):
        floats_of(np.zeros(3, dtype=np.int64))
    with pytest.raises(TypeError, match="contiguous int64"):
        ints_of(np.zeros((4, 4), dtype=np.int64)[:, 1])


def test_a_field_of_another_type_is_refused():
    class Named(Struct):
        name: str

    with pytest.raises(TypeError, match=r"Named\.name: a field is an int, a float, Floats, Ints or a Struct"):
        struct(Named)


def entrywise(a: Floats, b: Floats, out: Floats, n: int, x: float) -> int:
    """Four entries at a time, where the rows do not overlap."""
    for i in range(n):
        out[i] = -a[i] * x + max(abs(b[i]), a[i]) / 3.0 - min(out[i], 0.5)
        b[i] += out[i]
    for i in range(1, n):
        a[i] -= b[i]
    return n


@given(st.integers(-3, 14), st.lists(st.integers(0, 12), min_size=3, max_size=3), st.data())
def test_rows_that_overlap_give_what_python_gives(n, offsets, data):
    """Rows in one array, at any distance: the same, a few entries apart, or far."""
    values = np.array(data.draw(st.lists(st.floats(-10.0, 10.0), min_size=30, max_size=30)))
    results = []
    for run in (compiled(entrywise), lambda a, b, out, n, x: entrywise(floats(a), floats(b), floats(out), n, x)):
        room = values.copy()
        run(*(room.ctypes.data + 8 * offset for offset in offsets), n, 0.75)
        results.append(room.tobytes())
    assert results[0] == results[1]


def turned(a: Floats, b: Floats, out: Floats, n: int, x: float) -> int:
    """Several entries at once, in rows that are said to lie apart; two of them may be the same."""
    for i in apart(1, n):
        a[i], b[i] = a[i] * x - b[i], a[i] + b[i] * x
        out[i] += a[i] * b[i]
    return n


@given(st.integers(-3, 10), st.booleans(), st.data())
def test_rows_that_are_said_to_lie_apart(n, same, data):
    """What Python gives, without a comparison of addresses."""
    values = np.array(data.draw(st.lists(st.floats(-10.0, 10.0), min_size=30, max_size=30)))
    results = []
    for run in (compiled(turned), lambda a, b, out, n, x: turned(floats(a), floats(b), floats(out), n, x)):
        room = values.copy()
        run(*(room.ctypes.data + 8 * offset for offset in (0, 10, 10 if same else 20)), n, 0.75)
        results.append(room.tobytes())
    assert results[0] == results[1]


def chosen_by(enabled: bool) -> Callable[[int], int]:
    """A function with branches that a truth value of this one rules out, with what is no loop code in them."""

    def choose(x: int) -> int:
        if enabled:
            return x + 1
        if enabled and print(x):
            return x + 2
        elif x > 3:
            return x + 3
        return x

    return choose


@pytest.mark.parametrize("enabled", [False, True])
def test_a_branch_that_is_ruled_out_is_not_compiled(enabled):
    """It has a call that could not be."""
    choose = chosen_by(enabled)
    assert [compiled(choose)(x) for x in (3, 4)] == [choose(3), choose(4)] == ([4, 5] if enabled else [3, 7])
