"""What laws of time do within a moment is not stepped over."""

import math

import numpy as np
import pytest

import kinode as kn


def pushed(law):
    """A body of 1 kg at rest that a force pushes along x."""
    system = kn.System("pushed", gravity=(0, 0, 0))
    system.parameter("width", "10 ms")
    system.prismatic("slide", system.world, system.body("body", mass=1.0), axis="x", effort=law)
    return system


@pytest.mark.parametrize(
    ("law", "speed"),
    [
        ("100*pulse(t - 5, 0.01)", 1.0),
        ("100*pulse(t - 5, width)", 1.0),
        ("100*(step(t - 5) - step(t - 5.01))", 1.0),
        ("100*((t >= 5)*(t < 5.01))", 1.0),
        ("where(t > 5, where(t < 5.01, 100, 0), 0)", 1.0),
        ("200*max(0, 1 - abs(t - 5)/0.005)", 1.0),
        ("100*(smoothstep(t, 5, 5.01) - smoothstep(t, 5.01, 5.02))", 1.0),
        ("10*pulse(t, 0.001, 0.5)", 10 * 0.001 * 20),
        ("10*(square(t - 0.1, 0.5, 0.002) + 1)", 20 * 0.001 * 20),
    ],
)
@pytest.mark.parametrize("method", ["dopri5", "dop853", "stiff"])
def test_a_short_push_gives_its_impulse(law, speed, method):
    run = kn.simulate(pushed(law), 10.0, method=method)
    assert run["slide.u"][-1] == pytest.approx(speed, rel=2e-4)


@pytest.mark.parametrize(
    ("command", "on", "changes"),
    [
        ("square(t, 0.02)", 0.5, 10),
        ("sin(2*pi*50*t)", 0.5, 10),
        ("0.001 + sin(2*pi*50*t)", 0.5 + math.asin(0.001) / math.pi, 10),
        ("pulse(t, 0.001, 0.02)", 0.05, 10),
    ],
)
def test_a_switch_goes_there_and_back(command, on, changes):
    """A charge counts what a switch lets through in 0.1 s; nothing else moves."""
    system = kn.System("chopper")
    system.voltage_source("source", "a", "gnd", voltage=1.0)
    system.switch("switch", "a", "b", command=command, on_resistance=1e-7, off_conductance=1e-9)
    system.resistor("load", "b", "gnd", resistance=1.0)
    system.integrator("charge", input="load.current")
    run = kn.simulate(system, 0.1)
    assert run["charge.output"][-1] == pytest.approx(0.1 * on, rel=1e-4)
    assert len(run.events) == pytest.approx(changes, abs=1)


def test_slow_laws_ask_for_nothing():
    """The steps of a swing are those of its error control, whatever a law does slowly."""
    slow = kn.simulate(pushed("step(t - 2)"), 10.0)
    assert len(slow.t) < 60
    assert np.isfinite(slow["slide.q"]).all()
