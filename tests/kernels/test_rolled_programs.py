"""Rolled programs compute what the snapshot computes: loops, spilled values and laws between them, on random trees."""

from dataclasses import replace

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given
from strategies import plans, topology_of

import kinode as kn
from kinode.algebra.trace import count_operations
from kinode.jit.machine_code import ARGUMENTS
from kinode.jit.program import interpret
from kinode.kernels import kernel_table, kernel_traces
from kinode.kernels.kernel_options import Kernel, ReactionOptions
from kinode.kernels.kernel_table import added_loads
from kinode.kernels.rolled import rolled_programs
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology

pytestmark = pytest.mark.usefixtures("loops_always")


def state_of(topology, seed=0):
    rng = np.random.default_rng(seed)
    q, u, z = rng.normal(size=topology.n_q), rng.normal(size=topology.n_u), rng.normal(size=topology.n_z)
    y = np.concatenate([q, u, z])
    for start in topology.layout.quaternions:
        y[start : start + 4] /= np.linalg.norm(y[start : start + 4])
    q, u, z = np.split(y, [topology.n_q, topology.n_q + topology.n_u])
    values = topology.system.parameter_values()
    p = np.array([values[name] for name in topology.parameters])
    inputs = np.array([topology.system.nominal(i.value) for i in topology.system.inputs.values()])
    return 0.7, q, u, z, p, inputs


def run_rolled(topology, kernel, state, x):
    assert rolled_programs.is_loop_code(topology, kernel)
    program = rolled_programs.make_program(topology, kernel)
    arrays = {name: np.zeros(program.sizes.get(name, 0)) for name in ARGUMENTS}
    arrays["work"][:] = np.nan  # nothing may be read before it was written
    for name, values in zip(("t", "q", "u", "z", "p", "inputs"), state, strict=True):
        arrays[name][:] = values
    arrays["x"][:] = x
    interpret(program, arrays)
    return arrays["out"]


def expected(topology, kernel, state, x):
    """The same from a snapshot of floats."""
    t, *rest = state
    given_ = {}
    if kernel.name in ("effort", "reactions_of_motion"):
        given_ = {"u_dot": x}
    elif kernel.name == "bias":
        given_ = {"u_dot": np.zeros(topology.n_u)}
    elif kernel.name == "loaded_acceleration":
        given_ = added_loads(topology, x)
    return np.array(
        kernel_traces.outputs_of(kernel, Snapshot(topology, EvaluationPoint(t, *rest), **given_)), dtype=float
    )


def all_kernels(system):
    joints = tuple(system.joints)
    moving = [name for name, joint in system.joints.items() if joint.n_u]
    last = list(system.bodies)[-1]
    names = (f"{last}.acceleration", f"{moving[-1]}.u_dot", "system.com", "system.energy")
    names = (*names, f"{joints[0]}.reaction.moment")
    yield from map(Kernel, ("acceleration", "loaded_acceleration", "rate", "effort", "bias", "energy"))
    yield Kernel("evaluate", names)
    yield Kernel("reactions", ReactionOptions(joints=tuple(joints)))
    yield Kernel("reactions_of_motion", ReactionOptions(whole=True, joints=tuple(joints)))
    yield Kernel("pose", (last,))
    yield Kernel("jacobian", (last,))
    yield Kernel("reactions", ReactionOptions(part="static", joints=joints, about=last))
    yield Kernel("reactions", ReactionOptions(part="kinetic", joints=joints, axes=last))
    yield Kernel("reactions_of_motion", ReactionOptions(part="kinetic", joints=joints[::-1], whole=True))
    on = ReactionOptions(joints=joints[-1:], on=system.joints[joints[-1]].a.body, about="world", axes=last)
    yield Kernel("reactions", on)


@examples(8, nightly=120)
@given(plans(most=5))
def test_loops_compute_what_the_snapshot_computes(plan):
    topology = topology_of(plan)
    if topology.couplings:
        return
    state = state_of(topology)
    for kernel in all_kernels(topology.system):
        x = np.random.default_rng(1).normal(size=kernel_table.sizes(topology, kernel)["x"])
        found, wanted = run_rolled(topology, kernel, state, x), expected(topology, kernel, state, x)
        # the same arithmetic in another order: rounding only
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9 * (1 + abs(wanted).max())), kernel


def test_numbers_from_parameters_reach_the_loops():
    system = kn.System("p", gravity=("0", "0", "-9.81"))
    L, m = system.parameter("L", 0.3), system.parameter("m", 2.0)
    system.parameter("g", 9.0)
    body = system.world
    for i in range(4):
        new = system.body(f"b{i}", mass=m * (i + 1), com=(L / 2, 0, 0), inertia=(0.1, 0.1, 0.1))
        place = body.at(L if i else 0, 0, 0)
        system.revolute(f"j{i}", place, new, axis="xyz"[i % 3], damping=0.1 * i, stiffness=m * 0.2)
        body = new
    topology = find_topology(system)
    state = list(state_of(topology))
    for change in (1.0, 1.7):
        state[4] = np.array([0.3, 2.0, 9.0]) * change
        found = run_rolled(topology, Kernel("acceleration"), state, np.empty(0))
        wanted = expected(topology, Kernel("acceleration"), state, None)
        assert found == pytest.approx(wanted, rel=1e-10)


def chain(n, stiffness=0.3):
    system = kn.System("chain")
    body = system.world
    for i in range(n):
        mass = 1 + 0.1 * (i % 7)
        new = system.body(f"b{i}", mass=mass, com=(0.01, 0.02, 0.05), inertia=(0.003, 0.004, 0.005, 1e-4, 0, 0))
        system.revolute(f"j{i}", body.at(0.005, 0.01, 0.1), new, axis="xyz"[i % 3], stiffness=stiffness)
        body = new
    return find_topology(system)


REACTION_KERNELS = [
    Kernel("reactions", ReactionOptions(part="total")),
    Kernel("reactions", ReactionOptions(part="static", about="world")),
    Kernel("reactions", ReactionOptions(part="kinetic", axes="b3", whole=True)),
    Kernel("reactions_of_motion", ReactionOptions()),
]


@pytest.mark.parametrize(
    "kernel", [*map(Kernel, ("acceleration", "rate", "effort", "bias", "energy")), *REACTION_KERNELS,
               Kernel("jacobian", ("b14",)), Kernel("pose", ("b14",))], ids=str,
)  # fmt: skip
def test_code_of_a_chain_does_not_grow_with_its_length(kernel):
    def size(n):
        topology, options = chain(n), kernel.options
        if isinstance(options, ReactionOptions):
            options = replace(options, joints=tuple(topology.system.joints))
        program = rolled_programs.make_program(topology, Kernel(kernel.name, options))
        return [sum(sum(count_operations(v for _, _, v in case).values()) for case in b.cases) for b in program.blocks]

    assert size(30) == size(60)


def test_operations_of_a_link_are_pinned():
    """A regression that no timing would catch: operations of an inner link of a chain, all three passes."""
    program = rolled_programs.make_program(chain(30, None), Kernel("acceleration"))
    passes = [block for block in program.blocks if block.count > 1]
    most = [max(sum(count_operations(v for _, _, v in case).values()) for case in block.cases[:2]) for block in passes]
    assert sum(most) <= 354


@pytest.mark.parametrize("name", ["acceleration", "rate", "energy"])
def test_a_driven_joint_of_several_freedoms(name):
    """Each of its coordinates has a place of its own among the values of the prelude."""
    system = kn.System("drill", gravity=(1, 2, -9))
    arm, spindle, bit = (system.body(x, mass=1.0, com=(0.1, 0.2, 0.3), inertia=(1, 2, 1.5)) for x in ("a", "s", "b"))
    system.revolute("swing", system.world, arm, axis="y")
    system.cylindrical("feed", arm.at(0.3, 0, 0), spindle, axis="z", motion=("0.2*sin(3*t)", "t^2 + 0.1"))
    system.revolute("tilt", spindle.at(0, 0.2, 0), bit, axis="x")
    topology, kernel = find_topology(system), Kernel(name)
    state = state_of(topology)
    assert run_rolled(topology, kernel, state, 0.0) == pytest.approx(expected(topology, kernel, state, 0.0), rel=1e-12)
