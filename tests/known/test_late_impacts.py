"""Impacts late in a run, where the last bit of time is a way that counts, against their closed form."""

from __future__ import annotations

import numpy as np
import pytest

import kinode as kn


def block(**fields):
    """A block on a rail, with nothing that pulls."""
    system = kn.System("block", gravity=(0, 0, 0))
    system.prismatic("rail", system.world, system.body("block", mass=2, inertia=(1, 1, 1)), axis="x", **fields)
    return system


@pytest.mark.parametrize("speed, play, until", [(5.0, 40.0, 5000.0), (2000.0, 400.0, 40.0)])
def test_impacts_late_in_a_run_are_met_once(speed, play, until):
    """The last bit of time is a way of eps t v there, which no longer counts as nothing."""
    run = kn.simulate(block(u=speed, backlash={"play": play, "restitution": 1.0}), until)
    hits = (np.arange(until * speed / play + 1) + 0.5) * play / speed
    np.testing.assert_allclose([e.time for e in run.events], hits[hits < until], rtol=1e-12)
    assert set(abs(run["rail.u"])) == {speed}
