"""``kn.circuit`` of declared domains, sources on joints, quasi-velocities and vector ports: every row holds."""

from pathlib import Path

import numpy as np
import pytest
from networks import add_thermal

import kinode as kn

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def ball():
    system = kn.System("ball")
    body = system.body("body", mass=1, com=(0.3, 0.1, 0.2), inertia=(0.4, 0.5, 0.6))
    system.spherical("joint", system.world, body, u=(1, 2, 3))
    system.shaft_damper("rub", "joint.3.x", damping=0.1)
    system.shaft_spring("twist", "joint.3.z", stiffness=5)
    return system


def cushion():
    system = kn.System("cushion")
    body = system.body("body", mass=2, com=(0.1, 0, 0.05), inertia=(0.4, 0.5, 0.6))
    body.at(0.3, 0.2, 0.1, name="tip")
    system.free("joint", system.world, body, velocity=(1, 0, 0.3), angular_velocity=(0.5, 1, 2))
    rows = {"cushion": "hand.force = damping*hand.velocity", "free": "hand.moment = 0"}
    system.define("pad", ports={"hand": "mechanical"}, parameters={"damping": "N*s/m"}, equations=rows)
    system.element("pad", "pad", hand="body.tip", damping=3)
    return system


def link():
    system = ball()
    system.frame_link("line", "node", on="body", along="x")
    system.slide_spring("rope", "node", stiffness=30)
    return system


def warm():
    system = add_thermal(ball())
    system.change("rub", heat="oil")
    system.element("sump", "heat_capacity", node="oil", capacity=50, initial_temperature=300)
    system.element("air", "heat_conductance", a="oil", conductance=2)
    return system


SYSTEMS = {
    "manipulator": lambda: kn.load(EXAMPLES / "manipulator.yaml"),
    "warm_motor": lambda: kn.load(EXAMPLES / "warm_motor.yaml"),
    "ball": ball, "cushion": cushion, "link": link, "warm": warm,
}  # fmt: skip


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_row_holds(name):
    circuit = kn.circuit(SYSTEMS[name]())
    state = circuit.evaluate()
    assert state.worst[0] < 1e-9, state.worst
    assert abs(state.tellegen) < 1e-9 * max(1.0, max(abs(x) for x in state.power.values()))
    assert circuit.text() and circuit.latex() and circuit.to_json()


def test_sources_are_components_under_their_own_names():
    system = SYSTEMS["manipulator"]()
    circuit, run = kn.circuit(system), kn.simulate(system, 0.2)
    assert {"Ew2", "DC", "Ef3", "KN1", "KN2", "SB1", "SB2"} <= circuit.components.keys()
    assert circuit.components["Ew2"].role == "E" and "KN1.speed" not in circuit.components
    assert run["Ew2.1.moment"] == pytest.approx(-run["Ew2.moment"])
    assert np.abs(run.circuit.tellegen).max() < 1e-10


def test_letters_are_those_of_the_domain():
    text = kn.circuit(SYSTEMS["warm_motor"]()).text()
    assert "Q" in text and "T" in text and "heat_flow" in text


def test_power_of_heat_is_the_flow_itself():
    state = kn.circuit(warm()).evaluate()
    assert state.power["air.1"] == pytest.approx(2 * (300 - 293.15))
    assert state.power["air.2"] == pytest.approx(-2 * (300 - 293.15))
