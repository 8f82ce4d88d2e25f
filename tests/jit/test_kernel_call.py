"""Kernels as functions of Python: what fits goes straight through, what does not goes to the fallback."""

from __future__ import annotations

import gc
import inspect
import sys
import tracemalloc
import weakref

import numpy as np
import pytest
from own_process import in_own_process

import kinode as kn
from kernels import sizes, straight
from kinode.algebra.trace import Tape
from kinode.jit import python_function
from kinode.jit.compiler import compile_program
from kinode.jit.kernel_call import run, run_batch
from kinode.jit.program import Block, Program

Q, U = np.arange(3.0), np.array([1.0, -1.0, 0.5])


def make_program(name="rate"):
    tape = Tape()
    q, u = tape.inputs("q", 3), tape.inputs("u", 3)
    t, p, x = tape.input("t", 0), tape.input("p", 0), tape.input("x", 0)
    first = Block(1, {}, [[("work", k, kn.sin(q[k])) for k in range(3)]])
    held = tape.inputs("work", 3)
    stores = [("out", k, held[k] + p * u[k]) for k in range(3)] + [("out", 3 + k, q[k] * t + x) for k in range(3)]
    return Program(name, sizes(t=1, q=3, u=3, p=1, x=1, work=3, out=6), {}, [first, Block(1, {}, [stores])])


def expected(t, q, u, p=2.0, x=0.0):
    return np.concatenate([np.sin(q) + p * u, q * t + x])


def fallback(*args, **keywords):
    return "fallback", args, keywords


@pytest.fixture(scope="module")
def machine():
    return compile_program(make_program(), 1)


@pytest.fixture
def make():
    return python_function.make_callable


def defaults():
    return {"p": np.array([2.0]), "x": np.zeros(1)}


def test_this_interpreter_is_supported():
    assert python_function.supported()


@pytest.mark.parametrize("t", [0.5, 2, np.float64(-1.0), 0, -3])
def test_exact_arguments(make, machine, t):
    function = make(machine, ("t", "q", "u"), defaults(), (6,), fallback)
    result = function(t, Q, U)
    assert type(result) is np.ndarray
    assert result.flags.owndata
    np.testing.assert_allclose(result, expected(float(t), Q, U), rtol=1e-14)


def test_other_roles_and_shapes(make, machine):
    own = defaults()
    function = make(machine, ("t", "q", "u", "x"), own, (2, 3), fallback, name="rate", doc="Rates.")
    result = function(1.0, Q, U, np.array([5.0]))
    np.testing.assert_allclose(result, expected(1.0, Q, U, x=5.0).reshape(2, 3), rtol=1e-14)
    short = make(machine, ("t", "q"), own | {"u": U}, (6,), fallback)
    np.testing.assert_allclose(short(1.0, Q), expected(1.0, Q, U), rtol=1e-14)
    own["p"][0] = 3.0
    np.testing.assert_allclose(short(1.0, Q), expected(1.0, Q, U, p=3.0), rtol=1e-14)
    assert function.__name__ == "rate"
    assert function.__doc__ == "Rates."


def test_arguments_at_the_end_may_be_left_out(make, machine):
    function = make(machine, ("t", "q", "u", "x"), {"p": np.array([2.0])}, (6,), fallback, least=3)
    np.testing.assert_allclose(function(1.0, Q, U), expected(1.0, Q, U), rtol=1e-14)
    np.testing.assert_allclose(function(1.0, Q, U, np.array([5.0])), expected(1.0, Q, U, x=5.0), rtol=1e-14)
    assert function(1.0, Q)[0] == "fallback"
    assert function(1.0, Q, U, np.zeros(1), U)[0] == "fallback"


def test_an_argument_without_a_role_is_none_or_left_out(make, machine):
    function = make(machine, ("t", "q", "u", None), defaults(), (6,), fallback, least=3, keywords={"more": None})
    for result in (function(1.0, Q, U), function(1.0, Q, U, None), function(1.0, Q, U, more=None)):
        np.testing.assert_allclose(result, expected(1.0, Q, U), rtol=1e-14)
    for wrong in (np.zeros(0), np.zeros(1), 0.0, "x"):
        assert function(1.0, Q, U, wrong)[0] == function(1.0, Q, U, more=wrong)[0] == "fallback"


@pytest.mark.parametrize("shape", [(6,), (2, 3), (3, 2)])
def test_a_result_goes_into_a_given_array(make, machine, shape):
    function = make(machine, ("t", "q", "u"), defaults(), shape, fallback, takes_out=True)
    out = np.full(shape, np.nan)
    references = sys.getrefcount(out)
    for _ in range(100):
        assert function(1.0, Q, U, out=out) is out
    assert sys.getrefcount(out) == references
    np.testing.assert_allclose(out, expected(1.0, Q, U).reshape(shape), rtol=1e-14)
    assert function(1.0, Q, U) is not out


def test_an_array_for_the_result_that_does_not_fit_goes_to_the_fallback(make, machine):
    function = make(machine, ("t", "q", "u"), defaults(), (2, 3), fallback, takes_out=True)
    fixed = np.zeros((2, 3))
    fixed.flags.writeable = False
    wrong = [np.zeros((3, 2)), np.zeros(6), np.zeros((2, 3), dtype=np.float32), np.zeros((3, 2)).T, fixed, "out", None]
    for out in wrong:
        result = function(1.0, Q, U, out=out)
        assert result is not out
        assert result[0] == "fallback"
    assert function(1.0, Q, U, into=np.zeros((2, 3)))[0] == "fallback"
    assert function(1.0, Q, out=np.zeros((2, 3)), u=U)[0] == "fallback"
    without = make(machine, ("t", "q", "u"), defaults(), (2, 3), fallback)
    assert without(1.0, Q, U, out=np.zeros((2, 3)))[0] == "fallback"


@pytest.mark.parametrize("wrong", [1e13, -1e13, np.inf, -np.inf, np.nan])
def test_a_result_beyond_the_limit_goes_to_the_fallback(make, machine, wrong):
    """The last entry of the result is q[2]*t + x."""
    function = make(machine, ("t", "q", "u"), defaults(), (6,), fallback, takes_out=True, limit=1e12)
    q, out = np.array([0.1, 0.2, wrong]), np.zeros(6)
    references = sys.getrefcount(out)
    for _ in range(100):
        assert function(1.0, q, U)[0] == function(1.0, q, U, out=out)[0] == "fallback"
    assert sys.getrefcount(out) == references
    largest = np.array([0.1, 0.2, -1e12])
    assert function(1.0, largest, U, out=out) is out
    np.testing.assert_array_equal(function(1.0, largest, U), out)
    without = make(machine, ("t", "q", "u"), defaults(), (6,), fallback)
    np.testing.assert_array_equal(without(1.0, q, U)[-1:], [wrong])


def test_signature_of_the_built_in(machine):
    function = python_function.make_callable(machine, ("t", "q", "u"), defaults(), (6,), fallback, name="rate")
    assert list(inspect.signature(function).parameters) == ["t", "q", "u"]
    assert inspect.isbuiltin(function)


def test_a_result_in_pieces_is_a_tuple_of_arrays(make, machine):
    function = make(machine, ("t", "q", "u"), defaults(), [(3,), (1, 2), ()], fallback)
    result, whole = function(1.0, Q, U), expected(1.0, Q, U)
    assert type(result) is tuple
    assert [part.shape for part in result] == [(3,), (1, 2), ()]
    assert all(part.flags.owndata for part in result)
    np.testing.assert_allclose(np.hstack([part.ravel() for part in result]), whole, rtol=1e-14)
    function(2.0, U, Q)
    np.testing.assert_allclose(result[0], whole[:3], rtol=1e-14)
    with pytest.raises(ValueError, match="6 results"):
        make(machine, ("t", "q", "u"), defaults(), [(3,), (2,)], fallback)


def test_what_is_returned_is_made_of_the_result(make, machine):
    joined = make(machine, ("t", "q", "u"), defaults(), [(3,), (3,)], fallback, wrap=np.hstack)
    np.testing.assert_allclose(joined(1.0, Q, U), expected(1.0, Q, U), rtol=1e-14)
    named = make(machine, ("t", "q", "u"), defaults(), (6,), fallback, wrap=lambda values: {"rate": values})
    np.testing.assert_allclose(named(1.0, Q, U)["rate"], expected(1.0, Q, U), rtol=1e-14)

    def refuse(values):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        make(machine, ("t", "q", "u"), defaults(), (6,), fallback, wrap=refuse)(1.0, Q, U)


def test_arguments_by_keyword(make, machine):
    named = {"force": "x", "p": "p", "checked": None}
    function = make(machine, ("t", "q", "u", "x"), defaults(), (6,), fallback, least=3, keywords=named)
    x, p = np.array([5.0]), np.array([3.0])
    np.testing.assert_allclose(function(1.0, Q, U, force=x, p=p), expected(1.0, Q, U, 3.0, 5.0), rtol=1e-14)
    np.testing.assert_allclose(function(1.0, Q, U, p=p), expected(1.0, Q, U, 3.0), rtol=1e-14)
    np.testing.assert_allclose(function(1.0, Q, U, None, p=None, checked=None), expected(1.0, Q, U), rtol=1e-14)
    for more in ({"checked": p}, {"force": [5.0]}, {"other": None}, {"out": np.zeros(6)}):
        assert function(1.0, Q, U, **more)[0] == "fallback"
    assert function(1.0, Q, U, x, force=x)[0] == "fallback"
    assert function(1.0, Q, None)[0] == "fallback"


def test_a_function_that_is_found_by_the_first_argument(machine):
    inner = python_function.make_callable(machine, ("t", "q", "u"), defaults(), (6,), fallback)
    known = {"rate": inner, ("a", "b"): lambda *args, **named: (args, named)}
    function = python_function.make_finder(known, fallback, "find", "(of, t, q, u)", "Finds.")
    np.testing.assert_array_equal(function("rate", 1.0, Q, U), inner(1.0, Q, U))
    assert function(("a", "b"), 1, x=2) == ((1,), {"x": 2})
    for args, named in ((("other", 1), {}), ((["rate"], 1), {}), ((), {"of": "rate"})):
        assert function(*args, **named) == ("fallback", args, named)
    assert list(inspect.signature(function).parameters) == ["of", "t", "q", "u"]
    assert function.__doc__ == "Finds."


class Sub(np.ndarray):
    pass


MISFITS = {
    "keywords": ((0.0, Q), {"u": U}),
    "too few": ((0.0, Q), {}),
    "too many": ((0.0, Q, U, U), {}),
    "none": ((), {}),
    "list": ((0.0, [0.0, 1.0, 2.0], U), {}),
    "integers": ((0.0, np.arange(3), U), {}),
    "single": ((0.0, Q.astype(np.float32), U), {}),
    "byte order": ((0.0, Q.astype(">f8"), U), {}),
    "long": ((0.0, np.zeros(4), U), {}),
    "batch": ((0.0, np.zeros((2, 3)), U), {}),
    "scalar array": ((0.0, np.zeros(()), U), {}),
    "strided": ((0.0, np.zeros(6)[::2], U), {}),
    "unaligned": ((0.0, np.zeros(25, dtype=np.uint8)[1:].view(float), U), {}),
    "subclass": ((0.0, Q.view(Sub), U), {}),
    "time array": ((np.zeros(1), Q, U), {}),
    "time text": (("0", Q, U), {}),
    "time bool": ((True, Q, U), {}),
    "time huge": ((10**400, Q, U), {}),
}


@pytest.mark.parametrize("case", MISFITS)
def test_what_does_not_fit_falls_back(make, machine, case):
    function = make(machine, ("t", "q", "u"), defaults(), (6,), fallback)
    args, keywords = MISFITS[case]
    mark, got, named = function(*args, **keywords)
    assert mark == "fallback"
    assert all(a is b for a, b in zip(got, args, strict=True))
    assert named == keywords


def test_errors_of_the_fallback_come_through(make, machine):
    def refuse(*args):
        raise TypeError("not like this")

    function = make(machine, ("t", "q", "u"), defaults(), (6,), refuse)
    with pytest.raises(TypeError, match="not like this"):
        function("x")
    with pytest.raises(TypeError, match="not like this"):
        function(10**400, Q, U)


def test_defaults_are_checked(make, machine):
    with pytest.raises(ValueError, match="'p'"):
        make(machine, ("t", "q", "u"), {"x": np.zeros(1)}, (6,), fallback)
    with pytest.raises(ValueError, match="float64"):
        make(machine, ("t", "q", "u"), {"x": np.zeros(1), "p": np.zeros(1, dtype=int)}, (6,), fallback)
    with pytest.raises(ValueError, match="6 results"):
        make(machine, ("t", "q", "u"), defaults(), (5,), fallback)


@in_own_process
def test_nothing_leaks():
    machine = compile_program(make_program(), 1)
    function = python_function.make_callable(machine, ("t", "q", "u"), defaults(), (6,), fallback, limit=1e12)
    t, misfit, far = 0.25, [1.0], np.full(3, 1e13)
    parts = python_function.make_callable(
        machine, ("t", "q", "u"), defaults(), [(2, 2), (2,)], fallback, limit=1e12, wrap=list, keywords={"p": "p"}
    )
    finder, p = python_function.make_finder({"parts": parts}, fallback, "find", "()", ""), np.array([3.0])
    things = (Q, U, t, misfit, fallback, function, np.ndarray, np.dtype(float), parts, finder, list, p, None, "parts")
    for _ in range(1000):
        function(t, Q, U)
        function(t, misfit, U)
    gc.collect()
    before = [sys.getrefcount(thing) for thing in things]
    tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]
    for _ in range(10_000):
        function(t, Q, U)
        function(2, Q, U)
        function(t, far, U)
        finder("parts", t, Q, U, p=p)
        finder("parts", t, Q, U, p=None)
        parts(t, far, U)
    for _ in range(1000):
        finder([], t, misfit, u=U)
        parts(t, misfit, U)
        function(t, misfit, u=U)
        function(10**400, Q, U)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - start
    tracemalloc.stop()
    assert grown < 5_000
    assert max(abs(sys.getrefcount(thing) - b) for thing, b in zip(things, before, strict=True)) <= 3


@in_own_process
def test_the_function_keeps_alive_what_it_needs_and_no_longer():
    machine = compile_program(make_program(), 1)
    engine = weakref.ref(machine.engine[0])
    function = python_function.make_callable(machine, ("t", "q", "u"), defaults(), (6,), fallback)
    del machine
    gc.collect()
    np.testing.assert_allclose(function(1.0, Q, U), expected(1.0, Q, U), rtol=1e-14)
    assert engine() is not None
    del function
    gc.collect()
    assert engine() is None


@pytest.mark.parametrize("lanes", (1, 4))
@pytest.mark.parametrize("rows", (0, 1, 7, 3001))
def test_rows_on_threads(lanes, rows, monkeypatch):
    monkeypatch.setattr("kinode.jit.kernel_call.LEAST_SHARED_TIME", 0.0)
    monkeypatch.setattr("kinode.jit.threads.processors", lambda: 3)
    machine = compile_program(make_program(), lanes)
    generator = np.random.default_rng(0)
    t, q, u = generator.normal(size=rows), generator.normal(size=(3, rows)).T, generator.normal(size=(rows, 5))[:, 1:4]
    arguments = {"t": (t, True), "q": (q, True), "u": (u, True), "p": (np.array([2.0]), False)}
    found = run_batch(machine, rows, arguments)
    want = np.array([expected(*row) for row in zip(t, q, u, strict=True)]).reshape(rows, 6)
    np.testing.assert_allclose(found, want, rtol=1e-13, atol=1e-13)


def test_a_single_run_and_wrong_sizes(machine):
    np.testing.assert_allclose(run(machine, {"t": [1.0], "q": Q, "u": U, "p": [2.0]}), expected(1.0, Q, U), rtol=1e-14)
    with pytest.raises(ValueError, match="'q'"):
        run(machine, {"q": np.zeros(2)})
    with pytest.raises(ValueError, match="4 rows of 3 numbers"):
        run_batch(machine, 4, {"q": (np.zeros((4, 2)), True)})


def test_a_constant_program_has_no_arguments():
    function = python_function.make_callable(
        compile_program(straight([("out", 0, 4.0)], out=1), 1), (), {}, (1,), fallback
    )
    assert function().tolist() == [4.0]
