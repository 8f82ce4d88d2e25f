"""Loop code run backward, differentiated twice, and rates of Jacobians: all are those of the tape."""

import numpy as np
import pytest
from derivative_checks import run_program
from rolled_models import MODELS, prepared, random_tree
from test_tangent_programs import EVERYTHING, NAMED, compare, laws, point_of

import kinode as kn
from kinode.algebra.trace import Tape, count_operations
from kinode.jit.program import Block, Program
from kinode.kernels.derivatives.reverse_programs import reverse_program
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.kernels.rolled import rolled_programs
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology

pytestmark = pytest.mark.usefixtures("loops_always")

BY_STATE = DerivativeOptions(("u_dot",), (("q", None), ("u", None), ("x", None)))


@pytest.fixture(scope="module")
def lawful():
    topology = find_topology(laws())
    return topology, point_of(topology)


@pytest.mark.parametrize("kind", ["gradient", "second_derivatives"])
@pytest.mark.parametrize("seed", [1, 2])
def test_trees_of_all_joints(kind, seed):
    topology = random_tree(8, seed)
    compare(topology, point_of(topology), Kernel(kind, DerivativeOptions(("u_dot",), EVERYTHING)))


@pytest.mark.parametrize("kind", ["gradient", "second_derivatives"])
@pytest.mark.parametrize(
    "of",
    [("rate",), ("energy",), NAMED, ("bias",), ("rate", "b4.position", "j1.reaction.force")],
    ids=lambda of: of[-1],
)
def test_laws_and_states_and_named_quantities(kind, of, lawful):
    compare(*lawful, Kernel(kind, DerivativeOptions(of, EVERYTHING)))


def test_inverse_dynamics(lawful):
    compare(*lawful, Kernel("gradient_of_motion", DerivativeOptions(("effort",), EVERYTHING)))


@pytest.mark.parametrize("frame", ["b4", "loose.com", "b2"])
def test_rate_of_a_jacobian(frame, lawful):
    compare(*lawful, Kernel("jacobian_rate", (frame,)))


def test_second_derivatives_in_loops():
    topology, point = prepared(MODELS["hinges"]())
    compare(topology, point, Kernel("second_derivatives", BY_STATE))


@pytest.mark.parametrize("options", [(), ("closure",)], ids=["poses", "rows"])
@pytest.mark.parametrize("name", ["hinges", "carriage"])
def test_rates_of_loops(name, options):
    topology, point = prepared(MODELS[name]())
    compare(topology, point, Kernel("loop_rates", options))


def balls(n):
    """A chain of ball joints."""
    system, body = kn.System("balls"), None
    for i in range(n):
        new = system.body(f"b{i}", mass=1.3 + 0.1 * (i % 3), com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.3))
        system.spherical(f"j{i}", system.world if body is None else body.at(0.2, 0, 0), new)
        body = new
    return find_topology(system)


def test_code_does_not_grow_with_the_chain():
    def size(kernel, n):
        blocks = rolled_programs.make_program(balls(n), kernel).blocks
        return [sum(sum(count_operations(v for _, _, v in case).values()) for case in b.cases) for b in blocks]

    for name in ("gradient", "second_derivatives"):
        assert size(Kernel(name, BY_STATE), 12) == size(Kernel(name, BY_STATE), 24)


def test_entries_that_are_overwritten_and_entries_that_coincide():
    """y = (a b + c)^2, through a sum that is overwritten and two views of the same entry."""
    tape = Tape()
    left, right, total = tape.input("left", 0), tape.input("right", 0), tape.input("total", 0)
    pairs = {
        "left": ("u", np.array([0, 2, 1])), "right": ("u", np.array([1, 2, 1])),
        "total": ("work", np.zeros(3, dtype=np.int64)),
    }  # fmt: skip
    last = tape.load("work", 0)
    blocks = [
        Block(1, {}, [[("work", 0, 1.0)]]),
        Block(3, pairs, [[("total", 0, total * left * right)]]),
        Block(1, {}, [[("work", 0, last * last)]]),
        Block(1, {}, [[("out", 0, last)]]),
    ]
    program = Program("kernel", {"u": 3, "work": 1, "out": 1, "x": 0}, {}, blocks)
    gradient = reverse_program(program, [[("u", k, 1.0)] for k in range(3)], 0)
    a, b, c = u = np.array([1.5, -0.7, 2.0])
    point = EvaluationPoint(0.0, np.empty(0), u, np.empty(0), np.empty(0), np.empty(0))
    y = a * b * c * c * b * b  # left * right of the three iterations
    expected = 2 * y * np.array([y / a, 3 * y / b, 2 * y / c])
    # a few products in another order: rounding
    assert run_program(gradient, point, np.array([1.0])) == pytest.approx(expected, rel=1e-13)
