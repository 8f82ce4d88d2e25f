"""Operations of the robots of the benchmarks, pinned: a regression in folding or sharing that no timing would show."""

from importlib.metadata import distribution

import pytest

from kinode.algebra.trace import count_operations
from kinode.codegen.kernels import Kernel, trace
from kinode.formats import load
from kinode.topology import find_topology

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
