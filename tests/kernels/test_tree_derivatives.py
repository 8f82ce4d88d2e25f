"""Derivatives of large trees by the recursion are those of the tape, for every joint that it covers."""

import numpy as np
import pytest
from rolled_models import KINDS, chain, random_tree

import kinode as kn
from kinode.algebra.trace import count_operations
from kinode.jit import compiler, kernel_call
from kinode.jit.machine_code import ARGUMENTS
from kinode.jit.program import interpret
from kinode.kernels import kernel_traces
from kinode.kernels.derivatives.derivative_words import is_known_tree
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.kernels.rolled import rolled_programs, tree_derivatives
from kinode.kernels.rolled.tree_derivatives import FIELDS, N_FIELDS, DerivativeBuilder, find_runs, order_freedoms
from kinode.structure.topology import find_topology

pytestmark = pytest.mark.usefixtures("loops_always")

ALL = (("q", None), ("u", None), ("x", None))
OF_MOTION = Kernel("derivatives", DerivativeOptions(("u_dot",), ALL))
OF_EFFORT = Kernel("derivatives_of_motion", DerivativeOptions(("effort",), ALL))


def arguments(program, topology, seed=5):
    rng = np.random.default_rng(seed)
    arrays = {name: rng.normal(size=program.sizes.get(name, 0)) for name in ARGUMENTS}
    for start in topology.layout.quaternions:
        arrays["q"][start : start + 4] /= np.linalg.norm(arrays["q"][start : start + 4])
    arrays["p"][:] = 1.3
    arrays["work"][:] = np.nan  # nothing may be read before it was written
    return arrays


def run(program, topology):
    arrays = arguments(program, topology)
    interpret(program, arrays)
    return arrays["out"]


@pytest.mark.parametrize("kernel", [OF_MOTION, OF_EFFORT], ids=["u_dot", "effort"])
@pytest.mark.parametrize(("seed", "branches"), [(1, False), (2, True), (3, True), (4, True)])
def test_the_recursion_gives_what_the_tape_gives(kernel, seed, branches):
    topology = random_tree(8, seed, branches=branches)
    program = rolled_programs.make_program(topology, kernel)
    assert program.finish is not None
    found, wanted = (run(x, topology) for x in (program, kernel_traces.make_program(topology, kernel)))
    # The same derivatives in another order of operations: rounding, times the condition of the mass matrix.
    assert found == pytest.approx(wanted, rel=1e-11, abs=1e-12 * abs(wanted).max())


@pytest.mark.parametrize("by", ["u", "x", "uq", "xu", "qx"])
@pytest.mark.parametrize("name", ["derivatives", "derivatives_of_motion"])
def test_any_choice_of_columns_in_any_order(name, by):
    topology, of = random_tree(3, 7, branches=False), "u_dot" if name == "derivatives" else "effort"
    kernel = Kernel(name, DerivativeOptions((of,), tuple((word, None) for word in by)))
    makers = (rolled_programs.make_program, kernel_traces.make_program)
    found, wanted = (run(make(topology, kernel), topology) for make in makers)
    assert found == pytest.approx(wanted, rel=1e-11, abs=1e-12 * abs(wanted).max())


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "driven"])
def test_every_joint(kind):
    topology = random_tree(3, 7, kinds=(kind,), branches=False)
    found, wanted = (
        run(make(topology, OF_MOTION), topology) for make in (rolled_programs.make_program, kernel_traces.make_program)
    )
    assert found == pytest.approx(wanted, rel=1e-11, abs=1e-12 * abs(wanted).max())


def test_machine_code_runs_the_loop():
    topology = random_tree(60, 9)  # more freedoms than a panel has columns
    program = rolled_programs.make_program(topology, OF_MOTION)
    assert topology.n_u > tree_derivatives.WIDTH
    arrays = arguments(program, topology)
    given = {name: arrays[name] for name in ARGUMENTS if name not in ("work", "out")}
    found = kernel_call.run(compiler.compile_program(program, 1), given).reshape(topology.n_u, -1)
    n = topology.n_u
    of_effort = rolled_programs.make_program(topology, OF_EFFORT)
    acceleration = rolled_programs.make_program(topology, Kernel("loaded_acceleration"))
    loads = np.zeros(acceleration.sizes["x"])
    loads[:n] = arrays["x"]
    u_dot = kernel_call.run(compiler.compile_program(acceleration, 1), {**given, "x": loads})
    inverse = kernel_call.run(compiler.compile_program(of_effort, 1), {**given, "x": u_dot}).reshape(n, -1)
    M, M_inverse = inverse[:, 2 * n :], found[:, 2 * n :]
    assert abs(M - M.T).max() <= 1e-12 * abs(M).max()
    # Each product is exact to rounding times the condition of M, which is some 1e4 here.
    assert abs(M @ M_inverse - np.eye(n)).max() <= 1e-9
    residual = M @ found[:, : 2 * n] + inverse[:, : 2 * n]
    assert abs(residual).max() <= 1e-9 * abs(inverse).max()


def test_some_columns_in_another_order():
    topology = random_tree(6, 3)
    whole = run(rolled_programs.make_program(topology, OF_MOTION), topology).reshape(topology.n_u, 3, -1)
    some = Kernel("derivatives", DerivativeOptions(("u_dot",), (("x", None), ("q", None))))
    found = run(rolled_programs.make_program(topology, some), topology).reshape(topology.n_u, 2, -1)
    assert (found[:, 0] == whole[:, 2]).all()
    assert (found[:, 1] == whole[:, 0]).all()


def test_code_does_not_grow_with_the_chain():
    def size(n):
        blocks = rolled_programs.make_program(chain(n), OF_MOTION).blocks
        return [sum(sum(count_operations(v for _, _, v in case).values()) for case in b.cases) for b in blocks]

    assert size(30) == size(60)


def test_operations_of_a_link_are_pinned():
    program = rolled_programs.make_program(chain(30), OF_MOTION)
    passes = [block for block in program.blocks if block.count > 1]
    most = [max(sum(count_operations(v for _, _, v in case).values()) for case in block.cases) for block in passes]
    assert sum(most) <= 1491


def test_freedoms_are_numbered_depth_first():
    topology = random_tree(12, 4)
    freedoms = order_freedoms(topology.tree, dict(topology.u_of))
    assert sorted(freedoms.entries) == list(range(topology.n_u))
    for i, parent in enumerate(freedoms.parents):
        assert parent < i < freedoms.subtree_ends[i]
        assert parent < 0 or freedoms.subtree_ends[i] <= freedoms.subtree_ends[parent]
    (firsts, slots, attached), (following, slot_firsts) = find_runs(freedoms)
    assert all(slots[first] == k for k, first in enumerate(slot_firsts))
    assert sum(slot >= 0 for slot in attached) + sum(slot >= 0 for slot in following) == len(slot_firsts)
    assert all(firsts[i] == i or freedoms.parents[i] == i - 1 for i in range(topology.n_u))


def test_the_loop_reads_the_fields_where_the_passes_store_them():
    starts = dict(zip(FIELDS, np.cumsum([0, *FIELDS.values()]).tolist(), strict=False))
    named = {name: getattr(tree_derivatives, name.upper()) for name in FIELDS}
    assert named == starts
    assert sum(FIELDS.values()) == N_FIELDS


def test_what_the_recursion_does_not_cover():
    system = kn.System("covered")
    arm = system.body("arm", mass=1, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("pin", system.world, arm, axis="z")
    assert is_known_tree(find_topology(system))
    system.force("push", arm.at(0.1, 0, 0), (1, 0, 0))
    topology = find_topology(system)
    assert not is_known_tree(topology)
    assert rolled_programs.make_program(topology, OF_MOTION).finish is None
    one = Kernel("derivatives", DerivativeOptions(("u_dot",), (("q", 0),)))
    assert rolled_programs.make_program(chain(4), one).finish is None
    assert DerivativeBuilder(chain(4), OF_MOTION).program().finish is not None
