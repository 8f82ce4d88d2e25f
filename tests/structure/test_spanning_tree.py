"""The spanning tree: where loops are cut."""

import numpy as np
import pytest

import kinode as kn


def four_bar_with_crosses(**cross):
    """A four-bar whose coupler hangs on two universal joints, each made of two hinges with a body between."""
    system = kn.System("crosses", gravity=(0, -9.81, 0))
    crank, rocker = (system.body(name, mass=1, inertia=(0.01, 0.01, 0.01)) for name in ("crank", "rocker"))
    rod = system.body("rod", mass=1, inertia=(0.01, 0.01, 0.01), com=(0.3, 0, 0))
    one, two = (system.body(name, **cross) for name in ("one", "two"))
    system.revolute("left", system.world, crank, q=0.5, u=2)
    system.revolute("h1", crank.at(0.2, 0, 0), one)
    system.revolute("h2", one, rod, axis="y")
    system.revolute("h3", rod.at(0.6, 0, 0), two, axis="y")
    system.revolute("h4", two, rocker.at(0.4, 0, 0))
    system.revolute("right", system.world.at(0.5, 0, 0.2), rocker, guess=1.2)
    return system


def test_a_loop_is_not_cut_beside_a_body_without_mass():
    """Crosses of a millionth of the mass of the bars move nearly as crosses without mass do."""
    light = kn.simulate(four_bar_with_crosses(mass=1e-6, inertia=(1e-9, 1e-9, 1e-9)), 0.5)
    none = kn.simulate(four_bar_with_crosses(), 0.5)
    for name in ("left.q", "right.q"):
        assert none[name][-1] == pytest.approx(light[name][-1], abs=1e-4)
    assert np.ptp(none["left.q"]) > 1.0


def test_a_body_without_mass_that_no_cut_serves_is_refused():
    system = kn.System("rod", gravity=(0, 0, -9.81))
    a, b = (system.body(name, mass=1, inertia=(0.1, 0.1, 0.1)) for name in "ab")
    rod = system.body("rod")
    system.revolute("left", system.world, a, axis="y", guess=0.1)
    system.revolute("right", system.world.at(1, 0, 0), b, axis="y", guess=0.1)
    system.spherical("one", a.at(0, 0, 1), rod)
    system.spherical("two", rod.at(1, 0, 0), b.at(0, 0, 1))
    with pytest.raises(kn.ModelError, match="rod has no"):
        kn.simulate(system, 0.1)  # it may turn about its own axis
