"""Joints that move others by gears: one that moves no mass at all is an error of forward dynamics, never a NaN."""

import numpy as np
import pytest

import kinode as kn
from kinode.errors import ModelError


def hand(*masses):
    """A palm with three fingers of so much mass; two of them follow the first."""
    system = kn.System("hand")
    palm = system.body("palm", mass=1.0, inertia=(0.01, 0.01, 0.01))
    system.revolute("wrist", system.world, palm)
    for i, mass in enumerate(masses):
        inertia = (1e-5 * mass,) * 3
        finger = system.body(f"finger{i}", mass=mass, com=(0.03, 0, 0) if mass else (0, 0, 0), inertia=inertia)
        system.revolute(f"knuckle{i}", palm.at(0.1, 0.02 * i, 0), finger)
    for i in (1, 2):
        system.gear(f"mimic{i}", f"knuckle{i}", "knuckle0", ratio=0.5)
    return system


def test_fingers_without_mass_are_named():
    dynamics = kn.compile(hand(0.0, 0.0, 0.0))
    q, u = np.zeros(2), np.zeros(2)
    with pytest.raises(ModelError, match=r"knuckle0: finger0 and 2 more bodies .* have no mass"):
        dynamics.acceleration(0.0, q, u)
    assert np.isfinite(dynamics.effort(0.0, q, u, np.ones(2))).all()  # inverse dynamics is possible


def test_one_finger_with_mass_is_enough():
    dynamics = kn.compile(hand(0.0, 0.0, 1e-6))
    assert np.isfinite(dynamics.acceleration(0.0, np.zeros(2), np.ones(2))).all()
