"""Operations of the robots of the benchmarks, pinned: a regression in folding or sharing that no timing would show."""

from importlib.metadata import distribution

import pytest
from mechanisms import four_bars

import kinode as kn
from kinode.algebra.trace import count_operations
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_traces import trace
from kinode.structure.topology import find_topology
from kinode.symbolic.traced_derivation import Derivation

# Counted on this code, as upper bounds: (operations, divisions).  Pinocchio's templates do not fold and need more.
KNOWN = {
    ("ur5_robot.urdf", "acceleration"): (649, 5),
    ("ur5_robot.urdf", "effort"): (346, 0),
    ("ur5_robot.urdf", "mass_matrix"): (169, 0),
    ("talos_reduced.urdf", "acceleration"): (6729, 27),
    ("talos_reduced.urdf", "effort"): (3536, 0),
    ("talos_reduced.urdf", "mass_matrix"): (2244, 0),
}


@pytest.mark.parametrize(("robot", "kernel"), KNOWN)
def test_operations_do_not_grow(robot, kernel):
    files = distribution("example-robot-data").files or []
    path = next(f.locate() for f in files if f.name == robot)
    counts = count_operations(trace(find_topology(kn.load(path)), Kernel(kernel)))
    most, divisions = KNOWN[robot, kernel]
    assert sum(counts.values()) <= most
    assert counts.get("inv", 0) <= divisions


# Counted on this code, as upper bounds, for N four-bars: operations at N = 10, and for each one more.
LOOPS = {"rate": (2207, 224), "closure": (771, 77), "projection": (2451, 252)}


@pytest.mark.parametrize("kernel", LOOPS)
def test_operations_grow_with_the_number_of_loops_and_no_faster(kernel):
    def count(n):
        topology = find_topology(four_bars(n))
        if kernel != "closure":  # of each closing hinge the two rows in the plane are independent
            topology = topology.with_rows(tuple(k for k in range(len(topology.row_units)) if k % 5 < 2))
        return sum(count_operations(trace(topology, Kernel(kernel))).values())

    ten, twenty, forty = count(10), count(20), count(40)
    assert (forty - twenty) == 2 * (twenty - ten)
    most, each = LOOPS[kernel]
    assert ten <= most and (twenty - ten) <= 10 * each


@pytest.mark.parametrize("n", [2, 4, 8])
def test_printed_equations_cost_as_much_as_compiled_ones(n):
    """With names for what recurs: mass matrix and bias of a spatial chain, in operations as SymPy counts them."""
    system = kn.System("chain")
    last = system.world
    for i in range(n):
        m, l, A, C = (system.parameter(f"{x}{i}", 1.0 + 0.1 * i) for x in "mlAC")
        body = system.body(f"b{i}", mass=m, com=(l, 0, 0), inertia=(A, C, C))
        system.revolute(f"j{i}", last, body, axis="xyz"[(i + 2) % 3])
        last = body.at(l, 0, 0)
    topology, printed = find_topology(system), kn.equations(system, shape="named")
    compiled = [count_operations(trace(topology, Kernel(kernel))) for kernel in ("mass_matrix", "bias")]
    assert printed.operations <= 1.5 * sum(sum(counts.values()) for counts in compiled)
    assert printed.operations <= 1.5 * Derivation(topology, "recursive").operations  # which shares what both need
