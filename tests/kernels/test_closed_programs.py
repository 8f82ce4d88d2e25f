"""Loop code of systems with constraints computes what the snapshot computes, and does not grow with their size."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from mechanisms import four_bars, net, ring
from rolled_models import MODELS, carriage, prepared

import kinode as kn
from kinode.algebra.trace import count_operations
from kinode.jit.machine_code import ARGUMENTS
from kinode.jit.program import Program, interpret
from kinode.kernels import kernel_traces
from kinode.kernels.kernel_options import Kernel, ReactionOptions
from kinode.kernels.kernel_table import find_row
from kinode.kernels.rolled import rolled_programs
from kinode.kernels.rolled.rolled_elimination import TILE, RolledElimination
from kinode.kernels.tree_size import is_large
from kinode.multibody.dependent_joints import pose_errors
from kinode.multibody.snapshot import Snapshot
from kinode.structure.topology import find_topology

EXAMPLES = Path(__file__).parents[2] / "examples"
KERNELS = ("rate", "loaded_acceleration", "projection", "closure", "pose_errors", "energy", "effort", "power")


def run(program: Program, point, x):
    arrays = {name: np.zeros(program.sizes.get(name, 0)) for name in ARGUMENTS}
    arrays["work"][:] = np.nan  # nothing may be read before it was written
    for name in ("t", "q", "u", "z", "p", "inputs"):
        arrays[name][:] = getattr(point, name)
    arrays["x"][:] = x
    interpret(program, arrays)
    return arrays["out"]


def expected(topology, kernel, point, x):
    given = find_row(kernel).given(topology, x)
    snapshot = Snapshot(topology, point, **given)
    if kernel.name == "pose_errors":
        return pose_errors(snapshot, x).astype(float)
    return np.array(kernel_traces.outputs_of(kernel, snapshot), dtype=float)


def compare(topology, point, kernel, tolerance=1e-11):
    program = rolled_programs.make_program(topology, kernel)
    assert any(block.count > 1 for block in program.blocks)
    x = np.random.default_rng(1).normal(size=program.sizes["x"])
    found, wanted = run(program, point, x), expected(topology, kernel, point, x)
    # The same equations, eliminated in another order: rounding, times the condition of the mass matrix.
    assert found == pytest.approx(wanted, rel=tolerance, abs=tolerance * abs(wanted).max()), kernel


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", MODELS)
def test_loop_code_computes_what_the_snapshot_computes(loops_always, name, kernel):
    topology, point = prepared(MODELS[name]())
    if kernel != "pose_errors" or topology.cuts:
        compare(topology, point, Kernel(kernel))


@pytest.mark.parametrize("name", MODELS)
def test_quantities_in_loop_code(loops_always, name):
    topology, point = prepared(MODELS[name]())
    last, joints = list(topology.system.bodies)[-1], list(topology.system.joints)
    names = (f"{last}.acceleration", f"{joints[-1]}.u_dot", "system.momentum", "ground.force")
    compare(topology, point, Kernel("evaluate", names))


@pytest.mark.parametrize("kernel", ["reactions", "reactions_of_motion"])
@pytest.mark.parametrize("name", MODELS)
def test_reactions_in_loop_code(loops_always, name, kernel):
    topology, point = prepared(MODELS[name]())
    compare(topology, point, Kernel(kernel, ReactionOptions(joints=tuple(topology.system.joints))))


def test_a_ring_of_twenty_rods_is_loop_code():
    topology, point = prepared(ring(20))
    compare(topology, point, Kernel("rate"))
    compare(topology, point, Kernel("projection"))


def test_a_net_whose_loops_share_links(loops_always):
    topology, point = prepared(net(3, 3))
    compare(topology, point, Kernel("rate"))
    compare(topology, point, Kernel("projection"))


@cache
def operations(n, kind, name):
    program = rolled_programs.make_program(find_topology(ring(n, kind)), Kernel(name))
    counts = [sum(sum(count_operations(v for _, _, v in case).values()) for case in b.cases) for b in program.blocks]
    return counts, sum(block.count for block in program.blocks)


@pytest.mark.parametrize("name", ["rate", "projection", "closure", "pose_errors"])
def test_code_of_a_ring_does_not_grow_with_its_length(name):
    small, large = operations(40, "spherical", name), operations(80, "spherical", name)
    assert small[0] == large[0]
    assert large[1] <= 2 * small[1] + 10  # iterations: their number grows in proportion


def test_small_loops_stay_straight_line_code():
    for system in (ring(6), ring(20, "revolute"), kn.load(EXAMPLES / "stewart_platform.yaml"), carriage()):
        assert not is_large(find_topology(system))
    assert not is_large(find_topology(four_bars(60)))
    for system in (ring(10), ring(40, "revolute"), net(8, 8)):
        assert is_large(find_topology(system))


@pytest.mark.parametrize("density", [0.05, 0.3, 1.0])
def test_elimination_by_table(density):
    rng = np.random.default_rng(3)
    n, missing = 9, 3
    pattern = np.triu(rng.random((n, n)) < density, 1)
    pattern = pattern | pattern.T
    entries = np.kron(pattern | np.eye(n, dtype=bool), np.ones((TILE, TILE)))
    A = np.where(entries, rng.normal(size=entries.shape), 0.0)
    A = (A + A.T) / 2 + 8 * n * np.eye(len(A))
    A[-missing:] = A[:, -missing:] = 0.0  # rows that only fill the last tile
    A[-missing:, -missing:] = np.eye(missing)
    elimination = RolledElimination([set(np.flatnonzero(row).tolist()) for row in pattern], 5)
    x = 5 + elimination.size
    work = np.full(x + len(A), np.nan)
    work[5 : 5 + elimination.n_cleared] = 0.0
    for i in range(n):
        for j in [*np.flatnonzero(pattern[i, :i]).tolist(), i]:
            tile = A[TILE * i : TILE * i + TILE, TILE * j : TILE * j + TILE]
            work[elimination.tile(i, j) : elimination.tile(i, j) + TILE * TILE] = tile.T.ravel()
    b = rng.normal(size=len(A))
    work[x:] = b
    factor = elimination.factorize()
    interpret(Program("solve", {"work": len(work)}, {}, [factor, elimination.solve(x)]), {"work": work})
    assert work[x:] == pytest.approx(np.linalg.solve(A, b), rel=1e-12)
    work[x:] = b
    interpret(Program("forward", {"work": len(work)}, {}, [elimination.forward(x)]), {"work": work})
    form = Program("form", {}, {}, elimination.quadratic_form(x, 0))
    out = np.ones(1)
    interpret(form, {"work": work, "out": out})
    assert out[0] == pytest.approx(b @ np.linalg.solve(A, b), rel=1e-12)
