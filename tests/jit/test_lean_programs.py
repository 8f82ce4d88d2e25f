"""Loop code is freed of entries that never change and of stores that nobody reads, and computes the same."""

import numpy as np
import pytest
from mechanisms import net, ring
from rolled_models import MODELS, prepared

from kinode.algebra.trace import Tape, count_operations
from kinode.jit.lean_programs import make_lean
from kinode.jit.machine_code import ARGUMENTS
from kinode.jit.program import Block, Program, interpret
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.rolled.closed_builder import ClosedBuilder


def run(program, q):
    arrays = {name: np.zeros(program.sizes.get(name, 0)) for name in ARGUMENTS}
    arrays["work"][:] = np.nan  # nothing may be read before it was written
    arrays["q"][:] = q
    interpret(program, arrays)
    return arrays["out"]


def program_of(*blocks, n=4, work=32):
    return Program("kernel", {"q": n, "work": work, "out": n}, {}, blocks)


def both(program, n=4):
    lean, q = make_lean(program), np.linspace(0.3, 1.7, n)
    assert run(lean, q) == pytest.approx(run(program, q), rel=1e-15)
    return lean


def operations(program):
    cases = [stores for block in program.blocks for stores in block.cases]
    return sum(sum(count_operations(value for _, _, value in stores).values()) for stores in cases)


def outward(step, first, size):
    """A loop over four links, each of which stores ``step`` of what the one before stored; the first ``first``."""
    at = size * np.arange(4)
    tape = Tape()
    before = [tape.input("up", k) for k in range(size)]
    stores = [("own", k, x) for k, x in enumerate(step(before, tape.input("angle", 0)))]
    start = Block(1, {}, [[("work", k, x) for k, x in enumerate(first)]])
    views = {"up": ("work", at), "own": ("work", at + size), "angle": ("q", np.arange(4))}
    return start, Block(4, views, [stores])


def collect(size, positions):
    """A loop that stores the sum of some entries of each link as a result."""
    tape = Tape()
    total = sum((tape.input("own", k) for k in positions[1:]), tape.input("own", positions[0]))
    return Block(4, {"own": ("work", size + size * np.arange(4)), "to": ("out", np.arange(4))}, [[("to", 0, total)]])


def test_a_number_is_known_through_a_loop():
    # x is turned by zero all along: y stays 0 and the scale stays 1, which no single link can know
    def step(before, angle):
        x, y, scale = before
        return [scale * (x + angle * y) + angle, scale * (y - y * angle), scale * 1.0]

    lean = both(program_of(*outward(step, [0.5, 0.0, 1.0], 3), collect(3, [0, 1, 2])))
    assert operations(lean) == 2  # x + angle, and x + 1 in the result
    stored = [store for block in lean.blocks for case in block.cases for store in case]
    assert sum(view in ("own", "work") for view, _, _ in stored) == 2  # x of the first, and of the others


def test_what_only_concerns_itself_is_not_computed():
    # y is never zero, but no result reads it; it only goes on to the next y
    lean = both(program_of(*outward(lambda b, a: [b[0] * a, b[1] * a + 2.0], [1.5, 2.5], 2), collect(2, [0])))
    assert operations(lean) == 1


def test_two_numbers_in_one_place_are_none():
    views = {"own": ("work", np.array([0, 0])), "to": ("out", np.arange(2))}
    cases = [[("own", 0, 1.0), ("to", 0, Tape().input("work", 1))], [("own", 0, 2.0)]]
    read = Block(1, {}, [[("out", 3, Tape().input("work", 0) * 3.0)]])
    program = program_of(
        Block(1, {}, [[("work", 1, 4.0)]]), Block(2, views, cases, np.array([0, 1])), read
    )  # fmt: skip
    lean = both(program)
    assert operations(lean) == 1  # 3 times what stands there last


def test_a_number_that_a_later_loop_overwrites_is_none():
    tape = Tape()
    more = Block(4, {"sum": ("work", np.zeros(4, dtype=int)), "angle": ("q", np.arange(4))},
                 [[("sum", 0, tape.input("sum", 0) + tape.input("angle", 0))]])  # fmt: skip
    lean = both(
        program_of(Block(1, {}, [[("work", 0, 0.0)]]), more, Block(1, {}, [[("out", 0, Tape().input("work", 0))]]))
    )
    assert operations(lean) == 1


def test_entries_that_nothing_stores_stay_as_they_are():
    lean = make_lean(program_of(Block(1, {}, [[("out", 0, Tape().input("work", 7) * 2.0)]])))
    assert operations(lean) == 1


def test_vectors_stay_whole():
    tape = Tape()
    vector = tape.pack([tape.input("work", k) for k in range(4)]) * tape.input("q", 0)
    stores = [("work", 8 + k, x) for k, x in enumerate(tape.lanes(vector, 4))]
    first = [("work", 0, Tape().input("q", 1)), *(("work", k, 0.0) for k in (1, 2, 3))]
    lean = both(program_of(*(Block(1, {}, [s]) for s in (first, stores, [("out", 0, Tape().input("work", 8))]))))
    assert [len(block.cases[0]) for block in lean.blocks] == [4, 4, 1]


@pytest.mark.parametrize("kernel", ["rate", "projection", "closure"])
@pytest.mark.parametrize("name", [*MODELS, "ring", "net"])
def test_models_give_the_same_numbers(name, kernel):
    make = {**MODELS, "ring": lambda: ring(8, "revolute"), "net": lambda: net(2, 2)}[name]
    topology, point = prepared(make())
    program = ClosedBuilder(topology, Kernel(kernel)).program()
    found = []
    for each in (program, make_lean(program)):
        arrays = {name: np.zeros(each.sizes.get(name, 0)) for name in ARGUMENTS}
        arrays["work"][:] = np.nan
        for part in ("t", "q", "u", "z", "p", "inputs"):
            arrays[part][:] = getattr(point, part)
        interpret(each, arrays)
        found.append(arrays["out"])
    # terms that are zero are left out: what is left is summed in the same order
    assert found[1] == pytest.approx(found[0], rel=1e-13, abs=1e-13 * abs(found[0]).max())


@pytest.mark.parametrize(("kernel", "before", "after"), [("rate", 296, 96), ("projection", 269, 103)])
def test_links_of_a_plane_ring_have_few_operations(kernel, before, after):
    program = ClosedBuilder(prepared(ring(40, "revolute"))[0], Kernel(kernel)).program()

    def per_link(program):
        """Operations of a link that is neither first nor last, in the loops over links."""
        loops = [block for block in program.blocks if block.count == 40 and len(block.cases) == 6]
        return sum(sum(count_operations(value for _, _, value in block.cases[1]).values()) for block in loops)

    assert (per_link(program), per_link(make_lean(program))) == (before, after)


@pytest.mark.parametrize("first", [float("-inf"), float("inf"), float("nan")])
def test_an_infinite_constant_is_not_taken_for_the_number_that_follows(first):
    def read(position):
        return Block(1, {}, [[("out", position, Tape().input("work", 0))]])

    store, again = (Block(1, {}, [[("work", 0, value)]]) for value in (first, 3.0))
    program = program_of(store, read(0), again, read(1))
    q = np.zeros(4)
    np.testing.assert_array_equal(run(make_lean(program), q), run(program, q))
