"""Derivatives of every kind of component and mechanism against differences, and their cost in operations."""

from importlib.metadata import distribution

import numpy as np
import pytest
from derivative_checks import ALL, check_derivatives, random_point, run_kernel
from joint_contract import needed_fields
from mechanisms import four_bars
from networks import add_parts, turning, two_links

import kinode as kn
from kinode.algebra.trace import Tape, count_operations, needed, replay
from kinode.kernels.derivatives.derivative_outputs import WORDS
from kinode.kernels.derivatives.derivative_words import OF_SYSTEMS, shape_of
from kinode.kernels.derivatives.motion_equations import find_equations
from kinode.kernels.derivatives.tape_sweeps import sweep_backward, sweep_forward
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.kernels.kernel_outputs import flat
from kinode.kernels.kernel_traces import trace
from kinode.model.joints.joint import JOINTS
from kinode.multibody.snapshot import Snapshot
from kinode.structure.topology import find_topology
from loop_models import bennett, four_bar

EXAMPLES = (
    "asymmetric_shell", "backlash_axis", "balanced_pole", "brake_arm", "double_pendulum", "elastic_system", "excavator",
    "four_bar", "gyroscope", "manipulator", "motor_axis", "quadcopter", "rlc", "rotor", "ship_gimbal", "slider_crank",
    "spatial_slider_crank", "spinning_shell", "strut", "ur5", "walker", "warm_motor",
)  # fmt: skip


def test_every_word_has_a_value_of_its_size():
    dynamics = kn.compile(four_bar())
    topology, given = dynamics.topology, dynamics.arguments
    snapshot = Snapshot(topology, random_point(topology, given.parameters, given.inputs, dynamics.initial.z))
    assert tuple(WORDS) == OF_SYSTEMS
    for word, value in WORDS.items():
        assert np.shape(flat(value(snapshot))) == shape_of(topology, word), word


def check(system, **more):
    dynamics = kn.compile(system)
    point = random_point(dynamics.topology, dynamics.parameters, dynamics.inputs, dynamics.initial.z)
    return check_derivatives(dynamics.topology, point, **more)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_rate_of_every_example(name):
    check(kn.load(f"examples/{name}.yaml"))


def two_bodies(kind, way):
    """Two bodies in a row on joints of a kind, with springs and dampers; ``way`` exchanges the sides of the second."""
    system = kn.System("two bodies", gravity=(1, -2, -9))
    a = system.body("a", mass=1, com=(0.1, 0.2, 0.05), inertia=(0.02, 0.03, 0.04, 0.001, 0.002, -0.001))
    b = system.body("b", mass=2, com=(0.3, 0, 0.1), inertia=(0.04, 0.05, 0.06))
    fields = {**needed_fields(kind, 0.1), **({"axes": ("x", "y")} if "axes" in JOINTS[kind].specs() else {})}
    system.joint("first", kind, system.world.at(0.1, 0, 0, rpy=(0.1, 0.2, 0.3)), a, **fields)
    pair = [a.at(0.3, 0.1, 0.05, rpy=(0.2, 0.3, 0.1)), b.at(0.1, -0.2, 0.1, rpy=(0.5, -0.3, 0.4))]
    system.joint("second", kind, *pair[::way], **fields)
    system.spring("pull", b.at(0.2, 0.1, 0), system.world, stiffness=30.0, damping=2.0, free_length=0.3)
    return system


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind != "fixed"])
def test_every_joint_in_a_tree(kind, way):
    check(two_bodies(kind, way))


def closed_by(kind):
    """Two arms of six freedoms together, joined by a joint of a kind."""
    system = kn.System("arms", gravity=(1, -2, -9))
    a, b, c, d = (
        system.body(name, mass=m, com=(0.1, 0.2, 0.1), inertia=(0.02, 0.03, 0.04))
        for name, m in {"a": 1.0, "b": 2.0, "c": 1.5, "d": 1.2}.items()
    )
    system.revolute("turn", system.world, a, axis=(1, 2, 3), damping=0.1)
    system.revolute("j2", a.at(0.2, 0.1, 0), b, axis=(1, -1, 0.5), damping=0)  # joints with laws stay in the tree
    system.prismatic("slide", system.world.at(0.5, 0, 0), c, axis=(2, 0.3, 1), damping=0.2)
    system.spherical("ball", c.at(0.1, 0.2, 0.2), d, damping=(0.1, 0.1, 0.1))
    fields = {**needed_fields(kind, 1.0), **({"axes": ("x", "y")} if "axes" in JOINTS[kind].specs() else {})}
    system.joint("closing", kind, b.at(0.6, 0.1, 0.2, rpy=(0.2, 0.4, 0.1)), d.at(0.1, 0.4, 0.3), **fields)
    return system


@pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind != "free"])
def test_every_joint_that_closes_a_loop(kind):
    """Anywhere: the loop need not be closed for the equations to have derivatives."""
    topology = find_topology(closed_by(kind))
    assert topology.constrained
    point = random_point(topology, np.empty(0), np.empty(0), np.empty(0), seed=3)  # seed 0 is nearly singular
    check_derivatives(topology, point, of=("u_dot", "d.position", "closing.reaction.force", "turn.reaction.moment"))


@pytest.mark.parametrize("make", [four_bar, bennett, lambda: four_bars(2)])
def test_loops_with_dependent_rows(make):
    check(make(), of=("rate", "system.energy"))


POLES = {"plus": "a", "minus": "gnd"}
CIRCUITS = {
    "motor on a hinge": (turning, {
        "supply": ("voltage_source", {"plus": "s", "minus": "gnd", "voltage": "3*sin(t)"}),
        "line": ("resistor", {"plus": "s", "minus": "a", "resistance": "1 + 0.1*elbow.u^2"}),
        "motor": ("dc_motor", {**POLES, "shaft": "rotor", "resistance": 1.0, "inductance": 0.1, "constant": 0.05,
                               "inertia": 1e-3, "viscous": 1e-3, "coulomb": 0.02}),
        "box": ("gearbox", {"input": "rotor", "output": "elbow", "ratio": 20.0, "viscous": 0.1}),
    }),
    "elastic gears": (two_links, {
        "drive": ("moment_source", {"a": "rotor", "moment": "0.3*cos(2*t)"}),
        "wheel": ("shaft_inertia", {"shaft": "rotor", "inertia": 0.01}),
        "box": ("elastic_gearbox", {"input": "rotor", "output": "shoulder", "ratio": 3.0, "stiffness": 30.0,
                                    "damping": 0.2, "efficiency": 0.8}),
        "loss": ("shaft_loss", {"a": "shoulder", "viscous": 0.2, "coulomb": 0.7, "slip": 0.5}),
        "twist": ("shaft_spring", {"a": "shoulder", "b": "wrist", "stiffness": 4.0, "damping": 0.3}),
        "damper": ("shaft_damper", {"a": "wrist", "damping": 0.1}),
    }),
    "coupled inertia": (two_links, {
        "box": ("gearbox", {"input": "rotor", "output": "shoulder", "housing": "wrist", "ratio": 3.0}),
        "wheel": ("shaft_inertia", {"shaft": "rotor", "inertia": 0.02}),
    }),
    "coils and diodes": (kn.System, {
        "supply": ("voltage_source", {"plus": "s", "minus": "gnd", "voltage": "3*sin(t)"}),
        "line": ("resistor", {"plus": "s", "minus": "a", "resistance": 2.0}),
        "coils": ("coupled_inductors", {"plus": "a", "minus": "gnd", "second_plus": "b", "second_minus": "gnd",
                                        "inductance": 0.5, "second_inductance": 0.3, "coupling": 0.8}),
        "valve": ("diode", {"plus": "b", "minus": "c", "drop": 0.3, "on_resistance": 0.2, "off_conductance": 0.5}),
        "store": ("capacitor", {"plus": "c", "minus": "gnd", "capacitance": 0.4}),
        "load": ("resistor", {"plus": "c", "minus": "gnd", "resistance": 5.0}),
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", CIRCUITS)
def test_circuits_through_their_condensation(name):
    make, parts = CIRCUITS[name]
    check(add_parts(make(name) if make is kn.System else make(), parts))


def test_several_quantities_and_directions_at_once():
    names = ("u_dot", "lower.position", "lower.rotation", "elbow.reaction.force", "system.energy", "energy", "q_dot")
    matrix = check(kn.load("examples/double_pendulum.yaml"), of=names)
    assert len(matrix) == 2 + 3 + 9 + 3 + 1 + 2 + 2


def test_inverse_dynamics_and_reactions_of_given_motion():
    names = ("effort", "lower.acceleration", "elbow.reaction.moment", "bias")
    check(kn.load("examples/double_pendulum.yaml"), of=names, x_is="u_dot")
    check(kn.load("examples/quadcopter.yaml"), of=("effort",), x_is="u_dot")
    check(kn.load("examples/motor_axis.yaml"), of=("effort", "z_dot"), x_is="u_dot")


def test_coordinates_as_they_stand():
    check(two_bodies("free", 1), by=("coordinates", "u", "z"))


def test_discrete_states_do_not_change():
    dynamics = kn.compile(kn.load("examples/brake_arm.yaml"))
    topology = dynamics.topology
    point = random_point(topology, dynamics.parameters, dynamics.inputs, dynamics.initial.z)
    options = DerivativeOptions(("rate",), (("z", None),))
    matrix = run_kernel(topology, Kernel("derivatives", options), point, np.zeros(topology.n_u))
    matrix = matrix.reshape(-1, topology.n_z)
    assert not matrix[:, topology.n_z - topology.events.n_held :].any()


def test_which_systems_are_differentiated_through_their_equations():
    """Friction that depends on reactions and joints that may be locked are not."""
    for name, implicit in {"walker": True, "four_bar": True, "motor_axis": True, "brake_arm": False}.items():
        topology, tape = kn.compile(kn.load(f"examples/{name}.yaml")).topology, Tape()
        equations = find_equations(Snapshot(topology, topology.layout.traced_point(tape)), tape)
        assert (equations is not None) is implicit, name


@pytest.mark.parametrize("name", ["double_pendulum", "quadcopter", "walker", "motor_axis", "ur5"])
def test_backward_and_forward_agree_to_rounding(name):
    topology, tape = kn.compile(kn.load(f"examples/{name}.yaml")).topology, Tape()
    point = topology.layout.traced_point(tape)
    results = [x for x in Snapshot(topology, point).u_dot if hasattr(x, "index")]
    nodes = needed(results)
    inputs = [node for node in nodes if node.op == "input"]
    rng = np.random.default_rng(0)
    start = {node.index: rng.uniform(0.2, 1.0) for node in inputs}
    values = {}
    replay(results, {node.args: start[node.index] for node in inputs}, values)
    changes, weights = rng.normal(size=len(inputs)), rng.normal(size=len(results))
    seeds = {node.index: x for node, x in zip(inputs, changes, strict=True)}
    rates = sweep_forward(nodes, seeds, values)
    forward = sum(w * rates.get(x.index, 0.0) for w, x in zip(weights, results, strict=True))
    back = sweep_backward(nodes, {x.index: w for w, x in zip(weights, results, strict=True)}, values)
    backward = sum(back.get(index, 0.0) * x for index, x in seeds.items())
    assert backward == pytest.approx(forward, rel=1e-12)


# Counted on this code, as upper bounds; an operation on a vector counts once: (operations, divisions).
KNOWN = {
    ("ur5_robot.urdf", "derivatives"): (2073, 6),
    ("ur5_robot.urdf", "derivatives_of_motion"): (1509, 0),
    ("talos_reduced.urdf", "derivatives"): (34493, 32),
    ("talos_reduced.urdf", "derivatives_of_motion"): (25439, 0),
}


@pytest.mark.parametrize(("robot", "kernel"), KNOWN)
def test_operations_of_robots_do_not_grow(robot, kernel):
    files = distribution("example-robot-data").files or []
    path = next(f.locate() for f in files if f.name == robot)
    of = "u_dot" if kernel == "derivatives" else "effort"
    options = DerivativeOptions((of,), (("q", None), ("u", None), ("x", None)))
    counts = count_operations(trace(find_topology(kn.load(path)), Kernel(kernel, options)))
    most, divisions = KNOWN[robot, kernel]
    assert sum(counts.values()) <= most
    assert counts.get("inv", 0) <= divisions


def test_one_parameter_costs_a_column():
    """A single direction is no vector, and visits what depends on it alone."""
    topology = find_topology(kn.load("examples/ur5.yaml"))
    all_of_it = DerivativeOptions(("u_dot",), tuple((word, None) for word in ALL if word in ("q", "u")))
    one = DerivativeOptions(("u_dot",), (("u", 0),))
    most, least = (
        sum(count_operations(trace(topology, Kernel("derivatives", options))).values()) for options in (all_of_it, one)
    )
    assert least < 0.6 * most
