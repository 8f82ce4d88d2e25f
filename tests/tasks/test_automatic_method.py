"""``method="auto"``: stiff models are noticed within a run; its events, loops and record stay whole."""

from __future__ import annotations

import numpy as np
import pytest

import kinode as kn


def stiff_arm(stop: bool = True) -> kn.System:
    """A heavy pendulum that falls onto a hard stop, with a light vane in thick oil on it: 2e5 1/s."""
    system = kn.System("arm", gravity=(0, -9.81, 0))
    arm = system.body("arm", mass=4.0, com=(0.3, 0, 0), inertia=(0.01, 0.2, 0.2))
    vane = system.body("vane", mass=0.01, com=(0.01, 0, 0), inertia={"zz": 5e-5})
    ends = {"stop": {"lower": "-60 deg", "restitution": 0.5}} if stop else {}
    system.revolute("shoulder", system.world, arm, q="20 deg", **ends)
    system.revolute("pivot", arm.at(0.3, 0, 0), vane, damping="10 N*m*s/rad")
    return system


def test_events_after_the_takeover():
    """Impacts are those of the explicit method, in time and number, and so is the motion at the output times."""
    dynamics = kn.compile(stiff_arm())
    run, plain = (kn.simulate(dynamics, 1.5, samples=151, method=method) for method in ("auto", "dopri5"))
    assert run.facts["method"] == "auto" and "by the method stiff" in run.facts["stiff"]
    assert run.facts["steps"] < 0.1 * plain.facts["steps"]
    assert len(run.events) == len(plain.events) > 1
    assert [event.kind for event in run.events] == [event.kind for event in plain.events]
    np.testing.assert_allclose([e.time for e in run.events], [e.time for e in plain.events], atol=1e-7)
    np.testing.assert_allclose(run["shoulder.q"], plain["shoulder.q"], atol=1e-6)


def test_the_record_says_that_stability_bounds_the_steps():
    """A method that the user chose is kept; the record tells which one would do with fewer steps."""
    run = kn.simulate(stiff_arm(), 0.5, method="dopri5")
    assert run.facts["method"] == "dopri5"
    assert 'stability bounds the steps: method="stiff"' in run.facts["stiff"]


def test_what_is_not_stiff_is_a_run_of_dopri5(tmp_path):
    """The default gives the bits of dopri5, and says that it was the method."""
    system = stiff_arm()
    system.change("pivot", damping="1e-4 N*m*s/rad")
    run, plain = kn.simulate(system, 1.0), kn.simulate(system, 1.0, method="dopri5")
    assert run.facts["method"] == "dopri5" and "stiff" not in run.facts
    assert np.array_equal(run.y, plain.y)


def test_a_stop_condition_in_a_stiff_run():
    """Runs in pieces, as stop conditions make them, end at the same time."""
    dynamics = kn.compile(stiff_arm(stop=False))
    runs = [kn.simulate(dynamics, 3.0, method=method, stop_when="shoulder.q < -1.2") for method in ("auto", "dopri5")]
    ends = [run.t[-1] for run in runs]
    assert runs[0].facts["steps"] < 0.5 * runs[1].facts["steps"]
    assert ends[0] == pytest.approx(ends[1], abs=1e-7) and ends[0] < 2.9


def test_loops_stay_closed():
    """A mechanism with loops is taken over too."""
    system = kn.System("slider", gravity=(0, -9.81, 0))
    crank = system.body("crank", mass=1.0, com=(0.1, 0, 0), inertia={"zz": 0.01})
    rod = system.body("rod", mass=1.0, com=(0.2, 0, 0), inertia={"zz": 0.02})
    block = system.body("block", mass=0.5)
    vane = system.body("vane", mass=0.01, com=(0.01, 0, 0), inertia={"zz": 5e-5})
    system.revolute("main", system.world, crank, q="60 deg")
    system.revolute("pin", crank.at(0.2, 0, 0), rod)
    system.prismatic("guide", system.world, block, axis="x", damping="2 N*s/m")
    system.revolute("wrist", rod.at(0.5, 0, 0), block)
    system.revolute("pivot", crank.at(0.1, 0, 0), vane, damping="10 N*m*s/rad")
    run, plain = (kn.simulate(system, 1.0, samples=51, method=method) for method in ("auto", "dopri5"))
    assert run.facts["method"] == "auto" and run.facts["steps"] < 0.2 * plain.facts["steps"]
    np.testing.assert_allclose(run["guide.q"], plain["guide.q"], atol=1e-6)
    gap = run["rod.position"] + run["rod.rotation"] @ np.array([0.5, 0, 0]) - run["block.position"]
    assert np.abs(gap).max() < 1e-8
