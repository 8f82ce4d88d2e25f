"""What a component states of its energy is compared to what its equations do."""

from __future__ import annotations

import pytest

import kinode as kn

RIGHT = {"stored": "inductance*current^2/2", "stores": "electric", "lost": "resistance*current^2"}


def coil(loop=False, **stated):
    """A coil of one's own beside parts that are known to be right, and a mechanism with or without a loop."""
    system = kn.System("coil")
    system.define(
        "coil", base="two_pole", parameters={"resistance": "Ohm", "inductance": "H"}, laws={"pushed": "V"},
        equations={"winding": "voltage + pushed = resistance*current + inductance*der(current)"}, **stated,
    )  # fmt: skip
    arm = system.body("arm", mass=2, inertia=(1, 1, 1), com=(0.5, 0, 0))
    system.revolute("pivot", system.world, arm, axis="y")
    if loop:
        other = system.body("other", mass=1, inertia=(1, 1, 1))
        system.revolute("second", system.world, other, axis="y")
        system.revolute("third", arm, other, axis="y")
    system.battery("pack", "bus", "gnd", voltage=12.0, resistance=0.1)
    system.dc_motor("motor", "bus", "gnd", "pivot", resistance=0.6, inductance=0.01, constant=0.1, inertia=1e-3)
    system.element("own", "coil", plus="bus", minus="gnd", resistance=2, inductance=0.1, pushed=0.0)
    return system


def wrong(system):
    return [text for text in kn.verify(system, 2, compiled=False).failures if text.startswith("power into parts")]


@pytest.mark.parametrize("loop", [False, True])
def test_what_is_stated_rightly_is_confirmed(loop):
    verification = kn.verify(coil(loop, **RIGHT), 2, compiled=False)
    assert verification.ok, verification.failures
    assert any(row.quantity == "power into parts" for row in verification.rows)


@pytest.mark.parametrize(
    "change", [{"lost": "3*resistance*current^2"}, {"lost": "0"}, {"stored": "inductance*current^2"}, {"stored": "0"}]
)
@pytest.mark.parametrize("loop", [False, True])
def test_what_is_stated_wrongly_is_found_by_name(change, loop):
    said = wrong(coil(loop, **RIGHT | change))
    assert len(said) == 1
    assert "at own, state" in said[0]


def test_what_a_component_is_supplied_with_counts():
    system = coil(**RIGHT)
    system.change("own", pushed="3*sin(t) + 1")
    assert wrong(system)
    system = coil(**RIGHT, supplied="pushed*current")
    system.change("own", pushed="3*sin(t) + 1")
    assert not wrong(system)


def test_a_component_that_states_nothing_is_a_source():
    assert not wrong(coil())


def test_what_is_supplied_is_a_power():
    with pytest.raises(kn.Error, match=r"coil\.supplied: .* not a power"):
        coil(**RIGHT, supplied="pushed")


def test_energy_of_what_is_no_state():
    """A piezo whose charge is the state: its energy is told by a voltage, whose rate stands in no row."""
    system = kn.System("stack")
    system.define(
        "piezo", ports={"plus": "electrical", "minus": "electrical", "rod": "translational"},
        parameters={"C": "F", "k": "N/m", "d": "N/V"}, unknowns={"charge": {"unit": "C", "start": "q0"}},
        names={"voltage": "plus.voltage - minus.voltage", "x": "rod.position"},
        equations={"through": "plus.current + minus.current = 0", "current": "plus.current = der(charge)",
                   "charge": "charge = C*voltage + d*x", "force": "rod.force = k*x - d*voltage"},
        stored="C*voltage^2/2 + k*x^2/2", stores="electric",
    )  # fmt: skip
    system.voltage_source("supply", "bus", "gnd", voltage="100*sin(500*t)")
    system.resistor("wire", "bus", "top", resistance=1000)
    system.element("stack1", "piezo", plus="top", minus="gnd", rod="tip", C=1e-6, k=1e6, d=10)
    system.slide_mass("load", "tip", mass=0.1)
    verification = kn.verify(system, 2)
    assert verification.ok, str(verification)
    assert kn.simulate(system, 1e-3, rtol=1e-10, atol=1e-14).audit.relative < 1e-9
