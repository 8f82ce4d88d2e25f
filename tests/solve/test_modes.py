"""Modes: what may be given as one, which events stop a run, and which only come fast."""

from __future__ import annotations

import numpy as np
import pytest

import kinode as kn
from kinode.codegen.records import State


def block(**fields):
    system = kn.System("block", gravity=(0, 0, -9.81))
    system.prismatic("rail", system.world, system.body("block", mass=2.0), axis="x", **fields)
    return system


def test_values_that_are_no_modes_are_refused_wherever_they_are_given():
    system = block(friction=kn.coulomb(0.3), stop={"upper": 1.0})
    dynamics = kn.compile(system)
    friction = r"rail\.friction\.mode: 0\.5 is none of its modes: -1 \(slides back\), 0 \(sticks\), 1 "
    stop = r"rail\.stop\.mode: -1 is none of its modes: 0 \(is free\), 1 \(meets its upper end\)"
    with pytest.raises(kn.ArgumentError, match=friction):
        kn.simulate(system, 1.0, start={"rail.friction.mode": 0.5})
    with pytest.raises(kn.ArgumentError, match=stop):  # it has no lower end
        kn.simulate(system, 1.0, start=State(0.0, np.zeros(1), np.zeros(1), np.array([0.0, -1.0])))
    with pytest.raises(kn.ArgumentError, match=friction):
        dynamics.acceleration(0.0, [0.0], [1.0], z=[0.5, 0.0])
    with pytest.raises(kn.ArgumentError, match=stop):
        dynamics.acceleration(0.0, [0.0], [1.0], z=[[1.0, 0.0], [1.0, -1.0]])
    np.testing.assert_allclose(dynamics.acceleration(0.0, [0.0], [1.0], z=[1.0, 0.0]), [-0.3 * 9.81])
