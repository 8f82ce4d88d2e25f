"""Heat in the audit: counted once, where it leaves the system, against closed forms."""

import numpy as np
import pytest
from networks import AMBIENT, add_thermal

import kinode as kn

TIGHT = {"rtol": 1e-11, "atol": 1e-12}


def test_a_resistor_warms_a_capacity():
    """C T' = V^2/R - G (T - T0), whose solution is T0 + P/G (1 - exp(-G t/C))."""
    system = add_thermal(kn.System("heated"))
    system.voltage_source("source", "bus", "gnd", voltage=10)
    system.resistor("wire", "bus", "gnd", resistance=5, heat="core")
    system.element("mass", "heat_capacity", node="core", capacity=40)
    system.element("air", "heat_conductance", a="core", conductance=2)
    run = kn.simulate(system, 60.0, samples=61, **TIGHT)
    P, G, C = 20.0, 2.0, 40.0
    rise = P / G * (1 - np.exp(-G * run.t / C))
    assert run["core.temperature"] == pytest.approx(AMBIENT + rise, abs=1e-8)
    exact = P * 60.0 - C * rise[-1]  # what the room has taken
    assert run.audit.work["ambient"] == pytest.approx(-exact, rel=1e-9)
    assert run.audit.work["source"] == pytest.approx(P * 60.0, rel=1e-12)
    assert abs(run.audit.work["wire"]) < 1e-9 * P * 60.0  # its losses stay in the system, as heat
    assert run.audit.change == pytest.approx(C * rise[-1], rel=1e-9)
    assert run.audit.relative < 1e-9
    assert run["system.thermal_energy"] == pytest.approx(C * (AMBIENT + rise))
    assert run["wire.lost"] == pytest.approx(np.full(61, P)) and run["wire.power"] == pytest.approx(np.zeros(61))


def test_a_winding_whose_resistance_follows_its_temperature():
    """At rest V^2/R(T) = G (T - T0), a quadratic for the rise of the temperature."""
    system = add_thermal(kn.System("winding"))
    system.voltage_source("source", "bus", "gnd", voltage=10)
    system.dc_motor("motor", "bus", "gnd", "shaft", resistance="5*(1 + 0.004*(copper.temperature - 293.15))",
                    constant=0.05, inductance=0.01, heat="copper")  # fmt: skip
    system.angle_source("brake", "shaft", angle=0.0)  # held: all power is lost in the winding
    system.element("mass", "heat_capacity", node="copper", capacity=20)
    system.element("air", "heat_conductance", a="copper", conductance=0.5)
    a, k, G = 0.004, 100.0 / 5.0, 0.5
    rise = (-1 + np.sqrt(1 + 4 * a * k / G)) / (2 * a)
    run = kn.simulate(system, 2000.0, method="stiff", rtol=1e-9, atol=1e-10)
    assert run["copper.temperature"][-1] == pytest.approx(AMBIENT + rise, rel=1e-6)
    assert f"{AMBIENT + rise:.6g}" in str(kn.equilibrium(system))
    assert run.audit.relative < 1e-6


def test_what_has_no_heat_port_is_lost_to_the_system():
    system = add_thermal(kn.System("half"))
    system.voltage_source("source", "bus", "gnd", voltage=10)
    system.resistor("warm", "bus", "gnd", resistance=5, heat="core")
    system.resistor("cold", "bus", "gnd", resistance=10)
    system.element("mass", "heat_capacity", node="core", capacity=40)
    system.element("air", "heat_conductance", a="core", conductance=2)
    run = kn.simulate(system, 10.0, **TIGHT)
    assert run.audit.work["cold"] == pytest.approx(-100.0, rel=1e-9)
    assert abs(run.audit.work["warm"]) < 1e-9 and run.audit.relative < 1e-9
