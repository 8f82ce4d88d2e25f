"""Parts as rows of the circuit, beside bodies and joints, say what the condensed network says to the recursion."""

import numpy as np
import pytest
from networks import add_parts, pole, turning, two_links

import kinode as kn
from kinode.formulations.component_circuit import CIRCUIT
from kinode.multibody.network_condensation import Condensed
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint

MOTOR = {"resistance": 0.8, "constant": 0.05, "inertia": 4e-4}
SUPPLY = {"supply": pole("voltage_source", "bus", voltage="12*sin(3*t)")}


def motor(name, shaft, inductance=2e-3):
    return {name: pole("dc_motor", "bus", shaft=shaft, inductance=inductance, **MOTOR)}


def gear(inside, outside, ratio=20.0, housing="world"):
    return "gearbox", {"input": inside, "output": outside, "ratio": ratio, "housing": housing}


def on_the_joint():
    """The rotor turns with the joint itself; no inductance, so that the current follows at once."""
    return add_parts(two_links(), {**SUPPLY, **motor("motor", "wrist", inductance=0.0)})


def through_a_gear():
    """The rotor turns twenty times as fast as the joint: its inertia is reflected."""
    return add_parts(two_links(), {**SUPPLY, **motor("motor", "rotor"), "gear": gear("rotor", "wrist")})


def between_joints():
    """A gear whose housing turns with one joint and whose output is another: accelerations act across."""
    return add_parts(
        two_links(), {**SUPPLY, **motor("motor", "rotor"), "gear": gear("rotor", "wrist", 7.0, housing="shoulder")}
    )


def elastic():
    """A rotor on a soft shaft: angle and speed of its own."""
    spring = ("shaft_spring", {"a": "rotor", "b": "wrist", "stiffness": 30.0, "damping": 0.2})
    return add_parts(two_links(), {**SUPPLY, **motor("motor", "rotor"), "spring": spring})


def driven():
    """The other joint moves by a law of time: the parts decide what its drive has to do."""
    system = two_links(motion="0.3*sin(2*t)")
    return add_parts(system, {**SUPPLY, **motor("motor", "wrist"), **motor("other", "shoulder")})


def geared():
    """Joints that a gear constraint ties, the motor on the one that follows."""
    system = two_links()
    system.constraint("tie", "gear", input="wrist", output="shoulder", ratio=-2.5)
    return add_parts(
        system, {**SUPPLY, **motor("motor", "wrist"), "drum": ("shaft_inertia", {"shaft": "shoulder", "inertia": 0.02})}
    )


def slider_crank():
    """A loop, driven at its crank; the piston drags a mass by a lever."""
    system = kn.System("crank", gravity=(0, -9.81, 0))
    crank, rod = (
        system.body(name, mass=1.0, com=(c, 0, 0), inertia=(1e-3, 1e-2, 1e-2))
        for name, c in (("crank", 0.05), ("rod", 0.2))
    )
    piston = system.body("piston", mass=0.5)
    system.revolute("main", system.world, crank, q=0.4, u=2.0)
    system.revolute("pin", crank.at(0.1, 0, 0), rod, guess=-0.1)
    system.prismatic("bore", system.world, piston, axis="x", guess=0.5)
    system.revolute("wrist", rod.at(0.4, 0, 0), piston)
    lever = ("lever", {"a": "bore", "b": "load", "arm_a": 0.2, "arm_b": 0.3})
    mass = ("slide_mass", {"slide": "load", "mass": 0.7})
    return add_parts(system, {**SUPPLY, **motor("motor", "main"), "lever": lever, "mass": mass})


MODELS = [on_the_joint, through_a_gear, between_joints, elastic, driven, geared, slider_crank]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_all_ways_agree_with_parts(model):
    verification = kn.verify(model(), 2, compiled=False)
    assert verification.ok, str(verification)
    compared = {row.quantity for row in verification.rows if {row.one, row.two} == {"recursive", "circuit"}}
    assert compared >= {"accelerations", "reactions"}
    assert "other rates" in compared or model is on_the_joint


@pytest.mark.parametrize("model", [through_a_gear, slider_crank], ids=lambda model: model.__name__)
def test_the_same_motion_by_code_of_either(model):
    """Two runs of machine code, to the tolerance of the integrator."""
    ends = []
    for way in ("recursive", "circuit"):
        run = kn.simulate(kn.compile(model(), formulation=way), 0.3, rtol=1e-10, atol=1e-12)
        ends.append(np.concatenate([np.atleast_1d(run[c.name][-1]) for c in run.dynamics.coordinates]))
    assert abs(ends[0] - ends[1]).max() < 1e-7 * abs(ends[0]).max()


def test_nothing_is_condensed(monkeypatch):
    """Accelerations, flows and rates come from one system of rows, not from forms of efforts in accelerations."""
    dynamics = kn.compile(between_joints())
    state = dynamics.snapshot(kn.State(0.2, np.array([0.3, -0.4]), np.array([1.0, 2.0]), np.array([0.5])))
    wanted = np.concatenate([state.u_dot, state.z_dot])

    def refuse(*_):
        raise AssertionError("condensed")

    monkeypatch.setattr(Condensed, "effort", refuse)
    monkeypatch.setattr(Condensed, "effort_forms", refuse)
    circuit = Snapshot(state.topology, EvaluationPoint(state.t, state.q, state.u, state.z), formulation=CIRCUIT)
    assert np.allclose(np.concatenate([circuit.u_dot, circuit.z_dot]).astype(float), wanted.astype(float), rtol=1e-12)


def test_reflected_inertia_is_in_the_mass_matrix():
    """J + n^2 J_rotor, in closed form."""
    system = add_parts(
        turning(inertia=2e-3), {**SUPPLY, **motor("motor", "rotor"), "gear": gear("rotor", "elbow", 20.0)}
    )
    topology = kn.compile(system).topology
    start = EvaluationPoint(0.0, np.zeros(1), np.zeros(1), np.zeros(topology.n_z))
    M = Snapshot(topology, start, formulation=CIRCUIT).mass_matrix
    assert M[0, 0] == pytest.approx(2e-3 + 20.0**2 * MOTOR["inertia"], rel=1e-12)
