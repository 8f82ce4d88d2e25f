"""Derivatives of loop code along a direction are those of the tape: trees, loops, laws, parameters, quantities."""

import numpy as np
import pytest
from derivative_checks import run_program
from mechanisms import four_bars
from rolled_models import MODELS, chain, prepared, random_tree

import kinode as kn
from kinode.algebra.trace import Tape, count_operations
from kinode.jit import compiler, kernel_call
from kinode.jit.program import Block, Program
from kinode.kernels import kernel_traces
from kinode.kernels.derivatives.program_rates import differentiate_program
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.kernels.rolled import rolled_programs
from kinode.kernels.tree_size import is_large
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology

pytestmark = pytest.mark.usefixtures("loops_always")

EVERYTHING = (("q", None), ("u", None), ("z", None), ("x", None), ("p", None), ("t", 0))
DIRECTION = Kernel("direction")


def point_of(topology, seed=5):
    rng = np.random.default_rng(seed)
    q, u, z = (rng.normal(size=n) for n in (topology.n_q, topology.n_u, topology.n_z))
    for start in topology.layout.quaternions:
        q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    values = topology.system.parameter_values()
    return EvaluationPoint(0.4, q, u, z, np.array([values[name] for name in topology.parameters]), np.empty(0))


def compare(topology, point, kernel):
    """Loop code against the tape, in plain numbers."""
    assert is_large(topology)
    program = rolled_programs.make_program(topology, kernel)
    assert len(program.blocks) > 1
    x = np.random.default_rng(3).normal(size=program.sizes["x"])
    for k in topology.layout.quaternions if kernel == DIRECTION else ():  # off the unit sphere, formulas differ
        x[k : k + 4] -= (x[k : k + 4] @ point.q[k : k + 4]) * point.q[k : k + 4]
    found = run_program(program, point, x)
    wanted = run_program(kernel_traces.make_program(topology, kernel), point, x)
    # The same derivatives in another order of operations: rounding, times the condition of the equations.
    assert found == pytest.approx(wanted, rel=1e-10, abs=1e-11 * abs(wanted).max())
    assert wanted.any()


def laws():
    """A driven joint, laws of efforts, a spring, a filter with a state of its own, a ball and a free body."""
    system = kn.System("laws", gravity=(0.3, -9.81, 1.0))
    k = system.parameter("k", 3.0)
    bodies = [system.world]
    for i, kind in enumerate(("revolute", "spherical", "prismatic", "revolute", "universal")):
        new = system.body(f"b{i}", mass=k * (1 + i), com=(0.1, 0.02 * i, 0.05), inertia=(0.3, 0.4, 0.5))
        system.joint(f"j{i}", kind, bodies[-1].at(0.3, 0.1, 0), new)
        bodies.append(new)
    loose = system.body("loose", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.2))
    system.free("fly", system.world, loose)
    system.change("j0", effort="k*sin(j3.q)*j2.u - 0.1*j0.u")
    system.change("j3", motion="0.3*sin(2*t)")
    system.filter("lag", "j2.q", time_constant="0.1*k")
    system.change("j2", effort="-lag.output*k")
    system.spring("pull", loose.at(0.1, 0, 0), bodies[-1].at(0, 0.2, 0), stiffness="20*k", free_length=0.4, damping=1.0)
    return system


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_trees_of_all_joints(seed):
    topology = random_tree(8, seed)
    point = point_of(topology)
    compare(topology, point, DIRECTION)
    compare(topology, point, Kernel("derivatives_along", DerivativeOptions(("u_dot",), EVERYTHING)))


NAMED = ("b4.position", "j1.reaction.force", "pull.tension", "system.energy", "lag.output", "b2.acceleration")


@pytest.mark.parametrize("of", [("rate",), ("u_dot",), ("energy",), NAMED], ids=lambda of: of[0])
def test_laws_and_states_and_named_quantities(of):
    topology = find_topology(laws())
    assert topology.n_z == 1
    compare(topology, point_of(topology), Kernel("derivatives_along", DerivativeOptions(of, EVERYTHING)))


def test_single_parameters_and_coordinates_as_they_stand():
    topology = find_topology(laws())
    options = DerivativeOptions(("rate",), (("coordinates", None), ("p", 0), ("p", None)))  # the parameter counts twice
    compare(topology, point_of(topology), Kernel("derivatives_along", options))


@pytest.mark.parametrize("name", list(MODELS))
def test_loops(name):
    topology, point = prepared(MODELS[name]())
    compare(topology, point, DIRECTION)
    compare(topology, point, Kernel("derivatives_along", DerivativeOptions(("u_dot",), EVERYTHING)))


def test_machine_code_of_several_lanes():
    topology, point = prepared(four_bars(6))
    program = rolled_programs.make_program(topology, DIRECTION)
    lanes = 4
    x = np.eye(program.sizes["x"])[:lanes]
    expected = [run_program(program, point, row) for row in x]
    arrays = {name: np.atleast_1d(getattr(point, name)) for name in ("t", "q", "u", "z", "p", "inputs")}
    given = {name: (array, False) for name, array in arrays.items()} | {"x": (x, True)}
    found = kernel_call.run_batch(compiler.compile_program(program, lanes), lanes, given)
    assert found == pytest.approx(np.array(expected), rel=1e-10, abs=1e-10)


def test_code_does_not_grow_with_the_chain():
    def size(n):
        blocks = rolled_programs.make_program(chain(n), DIRECTION).blocks
        return [sum(sum(count_operations(v for _, _, v in case).values()) for case in b.cases) for b in blocks]

    assert size(30) == size(60)


def test_only_what_moves_has_a_rate():
    """A table times an argument, and another argument that does not change."""
    tape = Tape()
    a, row, b = tape.input("u", 0), tape.input("row", 0), tape.input("p", 0)
    blocks = [
        Block(1, {}, [[("work", 0, b * b), ("work", 1, a * a)]]),
        Block(2, {"row": ("table", np.arange(2)), "to": ("out", np.arange(2))}, [[("to", 0, row * a)]]),
        Block(1, {}, [[("out", 2, tape.load("work", 0) + tape.load("work", 1))]]),
    ]
    program = Program("kernel", {"u": 1, "p": 1, "work": 2, "out": 3, "x": 0}, {"table": np.array([2.0, 3.0])}, blocks)
    rates = differentiate_program(program, [("u", 0, tape.input("x", 0))], 1)
    assert ("work", 2) not in {store[:2] for block in rates.blocks for case in block.cases for store in case}
    arrays = EvaluationPoint(0.0, np.empty(0), np.array([5.0]), np.empty(0), np.array([7.0]), np.empty(0))
    np.testing.assert_array_equal(run_program(rates, arrays, np.array([0.5])), [1.0, 1.5, 5.0])
