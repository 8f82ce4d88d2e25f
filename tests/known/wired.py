"""What tests of circuits, motors and machines share."""

import numpy as np

import kinode as kn

TIGHT = {"rtol": 1e-11, "atol": 1e-13}
NEAR = 1e-9  # what a run at TIGHT is off by after some hundred steps, relative to the largest value


def circuit(**parts):
    """A system of nothing but parts: name=(kind, fields)."""
    system = kn.System("circuit")
    for name, (kind, fields) in parts.items():
        system.element(name, kind, **fields)
    return system


def assert_near(found, expected, near=NEAR):
    expected = np.broadcast_to(expected, np.shape(found))
    assert np.abs(found - expected).max() <= near * np.abs(expected).max()


def settle(t, first, second):
    """1 - the decay with two rates from a level start: the step response of a second-order system."""
    if first == second:
        return 1.0 - (1.0 - first * t) * np.exp(first * t)
    return (1.0 + (second * np.exp(first * t) - first * np.exp(second * t)) / (first - second)).real


MOTOR = {"resistance": 1.2, "inductance": 0.01, "constant": 0.05, "inertia": 2e-4, "viscous": 1e-4}


def fed(**changes):
    """A motor at 24 V that turns nothing but its own rotor."""
    return circuit(
        source=("voltage_source", {"plus": "a", "minus": "gnd", "voltage": 24.0}),
        motor=("dc_motor", {"plus": "a", "minus": "gnd", "shaft": "shaft", **MOTOR, **changes}),
        idle=("shaft_damper", {"a": "shaft", "damping": 0.0001}),
    )
