"""Sines and cosines of a loop over links are computed before it, four at a time, and are the same numbers."""

import numpy as np
import pytest
from mechanisms import ring
from rolled_models import prepared

from kinode.algebra.scalars import apply
from kinode.algebra.trace import Tape, needed
from kinode.jit.kernel_text.early_turns import AT_ONCE, TURNS, compute_turns_early
from kinode.jit.machine_code import ARGUMENTS
from kinode.jit.program import Block, Program, interpret
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.rolled.closed_builder import ClosedBuilder


def turns(block):
    nodes = (node for stores in block.cases for node in needed(value for _, _, value in stores))
    return [node.op for node in nodes if node.op in TURNS]


def run(program, **given):
    arrays = {name: np.zeros(program.sizes.get(name, 0)) for name in ARGUMENTS}
    arrays["work"][:] = np.nan  # nothing may be read before it was written
    for name, values in given.items():
        arrays[name][:] = values
    interpret(program, arrays)
    return arrays["out"]


def loop(n, array, case_of=None):
    """A loop over n links: a case with sine and cosine, and one with the sine of an angle less."""
    one, two = Tape(), Tape()
    angle = one.input("angle", 1)
    cases = [
        [("to", 0, apply("sin", angle) * apply("cos", angle) + angle)],
        [("to", 0, -apply("sin", two.input("angle", 0)))],
    ]
    views = {"angle": (array, np.arange(n)), "to": ("out", np.arange(n)[::-1])}
    return Block(n, views, cases, np.arange(n) % 2 if case_of is None else case_of)


@pytest.mark.parametrize("n", [14, 16, 20])
def test_angles_are_taken_together(n):
    program = Program("kernel", {"q": n + 1, "work": 0, "out": n}, {}, [loop(n, "q")])
    early = compute_turns_early(program)
    q = np.linspace(-2, 3, n + 1)
    assert (run(early, q=q) == run(program, q=q)).all()
    if n < 16:  # two links have an angle in common, and with eight angles it pays
        assert early is program
        return
    first, second = early.blocks
    assert (first.count, turns(first), turns(second)) == (-(-(n // 2) // AT_ONCE), ["sin", "cos"] * AT_ONCE, [])


def test_angles_that_the_program_computes_stay_where_they_are():
    tape = Tape()
    copy = Block(
        9, {"from": ("q", np.arange(9)), "to": ("work", np.arange(9))}, [[("to", 0, tape.input("from", 0) * 2.0)]]
    )
    program = Program("kernel", {"q": 9, "work": 9, "out": 8}, {}, [copy, loop(8, "work")])
    assert compute_turns_early(program) is program


@pytest.mark.parametrize("kernel", ["rate", "projection"])
def test_links_of_a_ring_load_their_turns(kernel):
    topology, point = prepared(ring(9, "revolute"))
    program = ClosedBuilder(topology, Kernel(kernel)).program()
    early = compute_turns_early(program)
    given = {name: getattr(point, name) for name in ("t", "q", "u", "z", "p", "inputs")}
    assert (run(early, **given) == run(program, **given)).all()
    loops = [block for block in early.blocks[1:] if block.count > 1 and turns(block)]
    assert len(loops) == (kernel == "projection")  # there q of the closed position is computed in between
