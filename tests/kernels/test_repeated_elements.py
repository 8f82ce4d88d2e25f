"""Loops over springs of a large tree compute what the springs one by one compute, and their code does not grow."""

import numpy as np
import pytest
from derivative_checks import run_program

import kinode as kn
from kinode.algebra.trace import count_operations
from kinode.kernels import kernel_traces
from kinode.kernels.kernel_options import Kernel, ReactionOptions
from kinode.kernels.rolled import repeated_elements, rolled_programs
from kinode.kernels.rolled.repeated_elements import find_groups
from kinode.kernels.tree_size import is_large
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology

pytestmark = pytest.mark.usefixtures("loops_always")


def sprung(n, *, closed=False):
    """A chain with springs to the world, between neighbors and without damping, and some that are no part of a loop."""
    system = kn.System("sprung", gravity=(0.2, -9.81, 0.1))
    system.parameter("k", 30.0)
    before = system.world
    for i in range(n):
        link = system.body(f"b{i}", mass=1 + 0.01 * i, com=(0.05, 0.01, 0), inertia=(0.01, 0.02, 0.03))
        system.revolute(f"j{i}", before, link, axis="xyz"[i % 3])
        system.spring(f"to_world{i}", system.world.at(0.1 * i, 0.3, 0.02), link.at(0.05, 0.02, 0.01),
                      stiffness=100.0 + i, damping=1.5, free_length=0.2)  # fmt: skip
        if i:
            system.spring(f"to_next{i}", system[f"b{i - 1}"].at(0.02, 0.03, 0), link.at(0.03, 0.04, 0.01),
                          stiffness=200.0, free_length=0.05 + 0.001 * i)  # fmt: skip
            system.spring(f"without_length{i}", link.at(0.01, 0.02, 0), system.world.at(0, 0, 0.1), stiffness=3.0)
        before = link.at(0.1, 0, 0)
    system.spring("by_parameter", system.world, system["b2"].at(0, 0.1, 0), stiffness="k", free_length=0.1)
    system.spring("by_law", system.world, system["b3"].at(0, 0.1, 0), tension="5*length + 0.1*rate")
    system.spring("within", system["b4"].at(0, 0.1, 0), system["b4"].at(0.1, 0, 0), stiffness=5.0, free_length=0.3)
    system.force("push", system["b5"], (1.0, "0.2*t", 0.0))
    if closed:
        system.spherical("last", system.world.at(0.07 * n, -0.05, 0), before)
    return find_topology(system)


def point_of(topology):
    rng = np.random.default_rng(2)
    q, u = (0.3 * rng.normal(size=n) for n in (topology.n_q, topology.n_u))
    for k in topology.layout.quaternions:
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return EvaluationPoint(0.7, q, u, np.empty(0), np.array([30.0]), np.empty(0))


def groups_of(topology):
    kinematics = Snapshot(topology, point_of(topology)).kinematics
    return find_groups(topology.system, kinematics.locate_frame)


@pytest.mark.parametrize(
    ("name", "closed"),
    [
        ("rate", False),
        ("effort", False),
        ("direction", False),
        ("reactions", False),
        ("rate", True),
        ("reactions", True),
    ],
)
def test_springs_in_loops_are_those_one_by_one(name, closed):
    topology = sprung(12, closed=closed)
    assert is_large(topology)
    options = ReactionOptions(joints=tuple(topology.system.joints)) if name == "reactions" else None
    kernel = Kernel(name) if options is None else Kernel(name, options)
    program, point = rolled_programs.make_program(topology, kernel), point_of(topology)
    x = np.random.default_rng(3).normal(size=program.sizes["x"])
    for k in topology.layout.quaternions if name == "direction" else ():  # off the unit sphere, formulas differ
        x[k : k + 4] -= (x[k : k + 4] @ point.q[k : k + 4]) * point.q[k : k + 4]
    found = run_program(program, point, x)
    wanted = run_program(kernel_traces.make_program(topology, kernel), point, x)
    # the same arithmetic in another order: rounding, times the condition of a long chain
    assert found == pytest.approx(wanted, rel=1e-8, abs=1e-9 * abs(wanted).max())
    assert wanted.any()


def test_what_shares_its_code():
    groups = groups_of(sprung(12))
    assert sorted(len(group.elements) for group in groups) == [11, 11, 12]
    names = frozenset[str]().union(*(group.names for group in groups))
    assert not names & {"by_parameter", "by_law", "within", "push"}
    assert groups_of(sprung(repeated_elements.FEWEST - 1)) == []


def test_code_does_not_grow_with_the_number_of_springs():
    def size(n):
        program = rolled_programs.make_program(sprung(n), Kernel("rate"))
        return [sum(sum(count_operations(v for _, _, v in case).values()) for case in b.cases) for b in program.blocks]

    assert size(12) == size(21)
