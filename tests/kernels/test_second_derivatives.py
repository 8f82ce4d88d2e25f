"""Loop code differentiated twice, and rates of Jacobians and loops: all are those of the tape."""

import pytest
from rolled_models import MODELS, prepared, random_tree
from test_tangent_programs import EVERYTHING, NAMED, compare, laws, point_of

import kinode as kn
from kinode.algebra.trace import count_operations
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.kernels.rolled import rolled_programs
from kinode.structure.topology import find_topology

pytestmark = pytest.mark.usefixtures("loops_always")

BY_STATE = DerivativeOptions(("u_dot",), (("q", None), ("u", None), ("x", None)))


@pytest.fixture(scope="module")
def lawful():
    topology = find_topology(laws())
    return topology, point_of(topology)


@pytest.mark.parametrize("seed", [1, 2])
def test_trees_of_all_joints(seed):
    topology = random_tree(8, seed)
    compare(topology, point_of(topology), Kernel("second_derivatives", DerivativeOptions(("u_dot",), EVERYTHING)))


@pytest.mark.parametrize(
    "of",
    [("rate",), ("energy",), NAMED, ("bias",), ("rate", "b4.position", "j1.reaction.force")],
    ids=lambda of: of[-1],
)
def test_laws_and_states_and_named_quantities(of, lawful):
    compare(*lawful, Kernel("second_derivatives", DerivativeOptions(of, EVERYTHING)))


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
    def size(n):
        blocks = rolled_programs.make_program(balls(n), Kernel("second_derivatives", BY_STATE)).blocks
        return [sum(sum(count_operations(v for _, _, v in case).values()) for case in b.cases) for b in blocks]

    assert size(12) == size(24)
