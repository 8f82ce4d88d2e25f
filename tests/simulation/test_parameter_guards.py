"""Numbers of parts that become what no part has: by parameters of a call, by laws in a run."""

import numpy as np
import pytest

import kinode as kn


def discharging(resistance):
    system = kn.System("circuit")
    system.parameter("R", 2.0)
    system.capacitor("tank", "top", "gnd", capacitance=1.0, initial_voltage=1)
    system.resistor("wire", "top", "gnd", resistance=resistance)
    return system


@pytest.mark.parametrize("p", [{"R": -1}, [-1.0], [[1.0], [-1.0]], np.append(np.arange(1.0, 40.0), -1.0)[:, None]])
def test_compiled_functions_refuse_parameters_that_no_part_can_have(p):
    dynamics = kn.compile(discharging("R/2"))
    with pytest.raises(kn.ModelError, match=r"wire.resistance: must be positive, and is -0.5"):
        dynamics.rate(0.0, [1.0] if isinstance(p, dict) or np.ndim(p) == 1 else np.ones((len(p), 1)), p=p)
    assert dynamics.rate(0.0, [1.0], p=[4.0]) == pytest.approx([-0.5])


@pytest.mark.parametrize(("law", "when"), [
    ("R - 3*pulse(t - 0.4, 0.05)", r"at t = 0\.4\d* s the resistance of wire, .*, is -1, and must be positive"),
    ("1.5*top.voltage - 1", r"at t = 0\.\d* s the resistance of wire, 1\.5\*top\.voltage - 1, is -|is .*e-\d+ then"),
    ("2 - 4*t", r"at t = 0\.5 s the resistance of wire|the resistance of wire, 2 - 4\*t, is .*e-\d+ then"),
])  # fmt: skip
def test_a_law_that_makes_a_resistance_negative_ends_the_run(law, when):
    """Between the times that are kept too, where it is a law of time."""
    with pytest.raises(kn.SimulationError, match=when) as caught:
        kn.simulate(discharging(law), 1.0, samples=3)
    assert caught.value.run.t[-1] <= 0.5


def test_a_law_that_is_negative_at_the_start_is_refused_at_once():
    with pytest.raises(kn.SimulationError, match=r"at t = 0 s the resistance of wire, R - 3\*tank\.voltage, is -1"):
        kn.simulate(discharging("R - 3*tank.voltage"), 1.0)


def test_a_law_that_stays_positive_is_left_alone():
    run = kn.simulate(discharging("R*(1 + 0.9*sin(7*t))"), 1.0, samples=3)
    assert run.status == "done"
