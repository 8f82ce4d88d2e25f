"""Loops, cases and offsets against the interpreter, and rows through the batch driver."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinode as kn
from kernels import call_lanes, sizes
from kinode.algebra.trace import Tape
from kinode.jit.compiler import compile_program
from kinode.jit.machine_code import ARGUMENTS
from kinode.jit.program import Block, Program, interpret
from kinode.jit.shared_routines import batch_work


def tree_program(n, seed, name="tree"):
    """A walk outward and inward over a random tree, with two kinds of joint and a table of constants."""
    generator = np.random.default_rng(seed)
    parent = np.array([generator.integers(-1, i) if i else -1 for i in range(n)])
    kinds = generator.integers(0, 2, n)
    tape = Tape()
    own, up, length = tape.input("q_own", 0), tape.inputs("up", 2), tape.input("data", 0)
    revolute = [("own", 0, up[0] + length * kn.cos(own)), ("own", 1, up[1] + length * kn.sin(own))]
    prismatic = [("own", 0, kn.maximum(up[0], own)), ("own", 1, up[1] * 0.5 - tape.input("t", 0))]
    places = 2 * np.arange(1, n + 1)
    outward = Block(
        n,
        {
            "q_own": ("q", np.arange(n)),
            "up": ("work", 2 * (parent + 1)),
            "own": ("work", places),
            "data": ("lengths", generator.permutation(n)),
        },
        [revolute, prismatic],
        kinds,
    )
    here, above = tape.inputs("here", 2), tape.inputs("above", 2)
    inward = Block(
        n,
        {"here": ("work", places[::-1]), "above": ("work", 2 * (parent[::-1] + 1))},
        [[("above", 0, above[0] + 0.5 * here[0]), ("above", 1, above[1] * 0.9 + here[1])]],
    )
    first = Block(1, {}, [[("work", 0, 1.0), ("work", 1, tape.input("q", 0))]])
    last = Block(
        2 * n + 2,
        {"from": ("work", np.arange(2 * n + 2)), "to": ("out", np.arange(2 * n + 2)[::-1])},
        [[("to", 0, tape.input("from", 0))]],
    )
    given_sizes = sizes(t=1, q=n, work=2 * n + 2, out=2 * n + 2)
    return Program(name, given_sizes, {"lengths": generator.uniform(0.5, 1, n)}, [first, outward, inward, last])


def expected_rows(program, t, q):
    results = np.zeros((len(q), program.sizes["out"]))
    for row_t, row_q, out in zip(t, q, results, strict=True):
        interpret(program, {"t": row_t, "q": row_q, "work": np.zeros(program.sizes["work"]), "out": out})
    return results


@pytest.mark.parametrize("lanes", (1, 4, 8))
@given(n=st.integers(2, 12), seed=st.integers(0, 1000))
def test_loops_with_cases_and_parents(lanes, n, seed):
    program = tree_program(n, seed)
    generator = np.random.default_rng(seed)
    t, q = generator.normal(size=(lanes, 1)), generator.normal(size=(lanes, n))
    found = call_lanes(compile_program(program, lanes), {"t": t, "q": q})
    np.testing.assert_allclose(found, expected_rows(program, t, q), rtol=1e-12, atol=1e-12)


def test_loads_come_before_stores_in_an_iteration():
    tape = Tape()
    a, b = tape.input("x", 0), tape.input("x", 1)
    exchange = Block(3, {"x": ("work", np.array([0, 1, 2]))}, [[("x", 0, b), ("x", 1, a)]])
    fill = Block(1, {}, [[("work", i, float(i)) for i in range(4)]])
    show = Block(1, {}, [[("out", i, tape.input("work", i)) for i in range(4)]])
    program = Program("exchange", sizes(work=4, out=4), {}, [fill, exchange, show])
    assert call_lanes(compile_program(program, 4), {})[2].tolist() == [1.0, 2.0, 3.0, 0.0]


def test_blocks_that_never_run_and_unknown_arrays():
    tape = Tape()
    never = Block(0, {"v": ("nowhere", np.zeros(0, dtype=int))}, [[("v", 0, tape.input("v", 0))]])
    once = Block(1, {"v": ("q", np.array([1]))}, [[("out", 0, 5.0)], [("out", 0, tape.input("v", 1))]], np.array([1]))
    program = Program("quiet", sizes(q=3, out=1), {}, [never, once])
    assert call_lanes(compile_program(program, 1), {"q": np.array([[1.0, 2.0, 3.0]])})[0, 0] == 3.0
    with pytest.raises(KeyError, match="nowhere"):
        compile_program(Program("bad", sizes(out=1), {}, [Block(1, {}, [[("out", 0, tape.input("nowhere", 0))]])]), 1)
    with pytest.raises(ValueError, match="constant"):
        compile_program(Program("bad", sizes(out=1), {"c": np.ones(2)}, [Block(1, {}, [[("c", 0, 1.0)]])]), 1)


def run_batch(machine, first, last, arrays, strides):
    work = np.full(machine.batch_work_size + 1, np.nan)
    bases = (ctypes.c_void_p * 9)(*[arrays[name].ctypes.data for name in ARGUMENTS])
    steps = (ctypes.c_int64 * 9)(*[strides[name] for name in ARGUMENTS])
    driver = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    driver(machine.batch_address)(first, last, bases, steps, work.ctypes.data)
    assert np.isnan(work[-1])


@pytest.mark.parametrize("lanes", (1, 4, 8))
@pytest.mark.parametrize("n", (5, 400))
def test_batch_driver_with_odd_rows_and_strides(lanes, n):
    program = tree_program(n, 3)
    machine = compile_program(program, lanes)
    assert machine.batch_work_size == batch_work(program.sizes, lanes) >= machine.work_size
    generator = np.random.default_rng(0)
    size = 2 * n + 2
    for first, last in ((0, 1), (0, 4), (2, 13), (3, 3)):
        q = generator.normal(size=(13, n + 3))
        t = generator.normal(size=1)
        out = np.full((13, size + 2), -7.0)
        arrays = {name: np.zeros(1) for name in ARGUMENTS} | {"t": t, "q": q, "out": out}
        run_batch(machine, first, last, arrays, dict.fromkeys(ARGUMENTS, 0) | {"q": n + 3, "out": size + 2})
        expected = expected_rows(program, np.tile(t, (13, 1)), q[:, :n])
        np.testing.assert_allclose(out[first:last, :size], expected[first:last], rtol=1e-11, atol=1e-11)
        untouched = np.ones_like(out, dtype=bool)
        untouched[first:last, :size] = False
        assert (out[untouched] == -7.0).all()
