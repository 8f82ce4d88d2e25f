"""Long constant tables are written as bytes: the same numbers as one by one."""

from __future__ import annotations

import numpy as np
import pytest

from kernels import call_lanes, sizes
from kinode.algebra.trace import Tape
from kinode.jit import llvm_program
from kinode.jit.compiler import compile_program
from kinode.jit.program import Block, Program

SPECIAL = [0.0, -0.0, np.inf, -np.inf, 5e-324, -1.5, np.pi]


@pytest.mark.parametrize("long_from", [4, 10_000])
def test_tables_hold_the_same_bits(monkeypatch, long_from):
    monkeypatch.setattr(llvm_program, "LONG_TABLE", long_from)
    table = np.array([*SPECIAL, *np.random.default_rng(1).normal(size=25)])
    order = np.random.default_rng(2).permutation(len(table))  # offsets that are in no progression
    tape = Tape()
    block = Block(
        len(table), {"c": ("table", order), "out": ("out", np.arange(len(table)))}, [[("out", 0, tape.load("c", 0))]]
    )
    program = Program("long_table", sizes(out=len(table)), {"table": table}, [block])
    found = call_lanes(compile_program(program, 1), {})
    assert found[0].tobytes() == table[order].tobytes()
