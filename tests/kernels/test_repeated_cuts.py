"""Cut joints of a kind are one loop: it computes what the snapshot computes, and its code does not grow."""

import numpy as np
import pytest
from mechanisms import net
from rolled_models import prepared
from test_closed_programs import compare

import kinode as kn
from kinode.algebra.trace import Tape, count_operations
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.rolled import rolled_programs
from kinode.kernels.rolled.closed_builder import ClosedBuilder
from kinode.kernels.rolled.constraint_rows import PassingRows
from kinode.kernels.rolled.repeated_cuts import FEWEST, RepeatedCuts
from kinode.structure.topology import find_topology
from kinode.structure.tree import WORLD

KERNELS = ("rate", "projection", "closure", "pose_errors")
KINDS = {
    "revolute": {"axis": (0.6, 0, 0.8)},
    "spherical": {},
    "universal": {},
    "cylindrical": {"axis": "y"},
    "screw": {"axis": "x", "lead": 0.02},
    "prismatic": {"axis": (0, 0.6, -0.8)},
}


def trestles(n, kind, on_world):
    """Pairs of legs in a row, all of other lengths, that a joint closes at the top; or single legs held there."""
    system = kn.System("trestles", gravity=(0, 0, -9))
    for i in range(n):
        tops, size = [], 1.03 + 0.1 * i
        for k, side in enumerate("lr"[: 1 if on_world else 2]):
            leg = system.body(f"{side}{i}", mass=1, com=(0, 0, 0.5), inertia=(0.1, 0.1, 0.02))
            system.spherical(f"foot_{side}{i}", system.world.at(i, k * 0.7, 0), leg)
            tops.append(leg.at(0.1 * k, 0, size))
        top = (system.world.at(i + 0.3, 0.2, size), *tops) if on_world else tops
        getattr(system, kind)(f"top{i}", *top, **KINDS[kind])
    return system


def groups_of(topology):
    builder = ClosedBuilder(topology, Kernel("closure"))
    rows = PassingRows(builder.snapshot(Tape(), full=False).kinematics, None)
    return RepeatedCuts(builder, rows)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("on_world", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_cut_joints_in_a_loop(loops_always, kind, on_world, kernel):
    topology, point = prepared(trestles(FEWEST + 1, kind, on_world))
    cuts = groups_of(topology)
    assert sum(len(group.members) for group in cuts.groups) == FEWEST + 1 and not cuts.alone
    assert all((group.nodes == WORLD).any() == on_world for group in cuts.groups)
    compare(topology, point, Kernel(kernel))


@pytest.mark.parametrize("kernel", KERNELS)
def test_numbers_of_parameters_are_computed_before(loops_always, kernel):
    system = kn.System("hung", gravity=(0, -9, 0))
    long = system.parameter("long", 1.2)
    for i in range(FEWEST + 2):
        legs = [system.body(f"b{i}_{k}", mass=1, com=(0.4, 0, 0), inertia=(0.1, 0.1, 0.1)) for k in range(2)]
        for k, leg in enumerate(legs):
            system.revolute(f"j{i}_{k}", system.world.at(i + k * 0.5, 0, 0), leg, q=0.3 + k)
        system.revolute(f"top{i}", legs[0].at(long * (1 + i), 0, 0), legs[1].at(long, 0.1, 0))
    topology, point = prepared(system)
    cuts = groups_of(topology)
    assert [len(group.columns.computed) for group in cuts.groups] == [2]
    compare(topology, point, Kernel(kernel))


def test_what_few_are_like_is_no_loop(loops_always):
    system = trestles(FEWEST, "spherical", False)
    for i in range(FEWEST - 1):
        leg = system.body(f"x{i}", mass=1, com=(0, 0, 1), inertia=(1, 1, 1))
        system.spherical(f"near{i}", system.world.at(0, i, 2), leg)
        system.revolute(f"end{i}", leg.at(0, 1, 0), system.world.at(1, i, 3), axis="x")
    system.distance("rod", system.bodies["l0"].at(1, 0, 0), system.bodies["r1"], 1.5)
    topology, point = prepared(system)
    cuts = groups_of(topology)
    assert [len(group.members) for group in cuts.groups] == [FEWEST]
    assert [one.name for one in cuts.alone] == [*(f"end{i}" for i in range(FEWEST - 1)), "rod"]
    for kernel in KERNELS:
        compare(topology, point, Kernel(kernel))


@pytest.mark.parametrize("kernel", KERNELS)
def test_code_of_a_net_does_not_grow_with_it(kernel):
    counts = []
    for n in (8, 12):
        system = net(n, n)
        topology = find_topology(system)
        if kernel in ("rate", "projection"):
            rows = [5 * k + j for k in range(len(topology.cuts)) for j in (0, 1)]  # those of the plane
            topology = topology.with_rows(tuple(rows))
        program = rolled_programs.make_program(topology, Kernel(kernel))
        straight = [block for block in program.blocks if block.count == 1]
        assert len(straight) <= 3
        counts.append(sum(sum(count_operations(v for _, _, v in c).values()) for b in program.blocks for c in b.cases))
    assert counts[0] == counts[1]


def test_cut_joints_of_a_net_are_one_group():
    cuts = groups_of(find_topology(net(8, 8)))
    (group,) = cuts.groups
    assert len(group.members) == 64 and not cuts.alone and not group.columns.tabled  # all numbers are the same
    assert np.array_equal(group.rows, range(5))
