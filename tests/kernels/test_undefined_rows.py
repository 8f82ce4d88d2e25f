"""Positions in which a constraint has no defined rows are refused, by its name and in its own words."""

from __future__ import annotations

import pytest

import kinode as kn


def make_disc(roll: float) -> kn.System:
    system = kn.System("disc")
    wheel = system.body("wheel", mass=1, inertia=(0.01, 0.01, 0.02))
    system.free("move", system.world, wheel, position=(0, 0, 0.1), rpy=(roll, 0, 0))
    system.constraint("rim", "rolling", wheel=wheel, radius=0.1)
    return system


def test_a_flat_disc_has_no_lowest_point() -> None:
    with pytest.raises(kn.AssemblyError, match="rim: the disc lies flat, and has no lowest point"):
        kn.simulate(make_disc(0.0), 0.1)


def test_a_disc_on_its_rim_rolls() -> None:
    run = kn.simulate(make_disc("90 deg"), 0.1)
    assert run["wheel.position.z"] == pytest.approx(0.1, abs=1e-9)


def test_a_state_that_is_not_finite_is_no_fault_of_the_constraint() -> None:
    dynamics = kn.compile(make_disc("90 deg"))
    q = dynamics.initial.q.copy()
    q[0] = float("nan")
    with pytest.raises(kn.Error, match="move"):
        kn.simulate(dynamics, 0.1, start=kn.State(0.0, q, dynamics.initial.u, dynamics.initial.z))
