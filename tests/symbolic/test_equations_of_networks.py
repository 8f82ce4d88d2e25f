"""Printed equations of what is no motion: networks and controllers, against the compiled rates."""

import inspect
from pathlib import Path

import numpy as np
import pytest

import kinode as kn

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def lagging():
    """A pendulum whose acceleration is measured with a lag: the rate of a state holds an acceleration."""
    system = kn.System("lagging", gravity=(0, -9.81, 0))
    system.revolute("pivot", system.world, system.body("rod", mass=2, com=(0.4, 0, 0), inertia={"zz": 0.1}))
    system.element("gauge", "sensor", measures="pivot.u_dot", lag=0.05)
    return system


def motor():
    system = kn.System("motor", gravity=(0, -9.81, 0))
    system.revolute("pivot", system.world, system.body("rod", mass=2, com=(0.4, 0, 0), inertia={"zz": 0.1}))
    system.input("volts", 3.0)
    L = system.parameter("L", "2 mH")
    system.voltage_source("supply", "bus", "gnd", voltage="volts + sin(t)")
    system.dc_motor("motor", "bus", "gnd", "rotor", resistance=0.9, inductance=L, constant=0.05, inertia=1e-4)
    system.gearbox("gear", "rotor", "pivot", ratio=20)
    return system


SYSTEMS = {
    "rlc": lambda: kn.load(EXAMPLES / "rlc.yaml"),
    "motor_axis": lambda: kn.load(EXAMPLES / "motor_axis.yaml"),
    "lagging": lagging,
    "motor": motor,
}


@pytest.mark.parametrize("shape", ["expanded", "named"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_rates_of_other_states(name, shape):
    system = SYSTEMS[name]()
    space = {}
    exec(kn.equations(system, shape=shape).python(), space)
    function, dynamics = space[name], kn.compile(system)
    a, b = dynamics.n_q, dynamics.n_q + dynamics.n_u
    y = np.random.default_rng(1).uniform(-1, 1, b + dynamics.n_z)
    rate = dynamics.rate(0.7, y)
    given = {"t": 0.7, "q": y[:a], "u": y[a:b], "u_dot": rate[a:b], "z": y[b:]}
    outputs = function(**{key: x for key, x in given.items() if key in inspect.signature(function).parameters})
    assert np.abs(np.array(outputs["z_dot"]) - rate[b:]).max() < 1e-13 * np.abs(rate).max() * len(rate)
    residual = np.array(outputs["M"], dtype=float).reshape(b - a, b - a) @ rate[a:b] + np.array(outputs["bias"])
    assert np.abs(residual).max(initial=0.0) < 1e-12 * max(1.0, np.abs(outputs["bias"]).max(initial=0.0))


def test_a_circuit_reads_as_in_a_book():
    text = str(kn.equations(SYSTEMS["rlc"]()))
    assert "0 equations of motion and 2 of other states" in text
    assert "z_dot_tank_voltage = 100000*z_coil_current" in text
    assert "z_dot_coil_current = -200*z_coil_current - 10*z_tank_voltage + 120" in text


def test_the_rotor_stands_in_the_mass_matrix():
    derived = kn.equations(motor())
    assert float(derived.M[0, 0]) == pytest.approx(0.1 + 2 * 0.4**2 + 20**2 * 1e-4)
    assert "u_dot" not in derived.arguments
    assert "u_dot" in kn.equations(lagging()).arguments
