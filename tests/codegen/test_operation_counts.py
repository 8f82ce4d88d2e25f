"""Operations of the robots of the benchmarks, pinned: a regression in folding or sharing that no timing would show."""

from importlib.metadata import distribution

import pytest

from kinode.algebra.trace import count_operations
from kinode.codegen.kernels import Kernel, trace
from kinode.formats import load
from kinode.topology import find_topology
from known.mechanisms import four_bars

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
    counts = count_operations(trace(find_topology(load(path)), Kernel(kernel)))
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
            topology.rows = tuple(k for k in range(len(topology.row_units)) if k % 5 < 2)
        return sum(count_operations(trace(topology, Kernel(kernel))).values())

    ten, twenty, forty = count(10), count(20), count(40)
    assert (forty - twenty) == 2 * (twenty - ten)
    most, each = LOOPS[kernel]
    assert ten <= most and (twenty - ten) <= 10 * each
