"""Hosts without wide vectors, and what importing costs."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

PLAIN_HOST = """
import numpy as np
from kinode.jit import llvm_code as machine
from kinode.jit.compiler import compile_program
real = machine.host()
plain = real._replace(cpu="x86-64", features="")
machine.host = lambda: plain
assert machine.choose_lanes() == 1
from kernels import call_lanes, straight
from kinode.algebra.trace import Tape
tape = Tape()
q = tape.inputs("q", 2)
stores = [("out", k, tape.node(op, q[0])) for k, op in enumerate(("sin", "cos", "floor", "sqrt", "exp"))]
for lanes in (1, 4, 8):
    built = compile_program(straight(stores, q=2, out=5), lanes)
    rows = np.linspace(0.1, 3.0, 2 * lanes).reshape(lanes, 2)
    x = rows[:, 0]
    expected = np.stack([np.sin(x), np.cos(x), np.floor(x), np.sqrt(x), np.exp(x)], axis=1)
    np.testing.assert_allclose(call_lanes(built, {"q": rows}), expected, rtol=1e-14)
"""

LAZY = """
import sys
import kinode.jit.kernel_call, kinode.jit.python_function
assert "llvmlite" not in sys.modules and "concurrent.futures" not in sys.modules
"""


def run_script(script, **environment):
    place = Path(__file__).parents[1] / "support"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=place, env={**os.environ, **environment})


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names an x86 processor")
def test_a_host_without_avx2_or_fma():
    run_script(PLAIN_HOST, KINODE_CACHE="0")


def test_importing_does_not_load_llvm():
    run_script(LAZY)
