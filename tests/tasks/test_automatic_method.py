"""``method="auto"``: stiff models are noticed within a run; its events, loops and record stay whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compiled_examples import compiled_example
from example_counts import is_fixed

import kinode as kn

EXAMPLES = sorted({path.stem for path in Path("examples").glob("*.yaml")} - {"warm_motor"})  # that one is stiff
SHOWN = ("backlash_axis", "brake_arm", "double_pendulum", "excavator", "four_bar", "motor_axis", "stewart_platform")
"""Examples with events, clocks, loops, a network; the others are left to the nightly run."""


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


ROBOT = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 0.25"/><mass value="2"/>
  <inertia ixx="0.05" iyy="0.05" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="lower"><inertial><origin xyz="0 0 0.2"/><mass value="1"/>
  <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
  <dynamics damping="5e8"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 0.5"/>
  <axis xyz="0 1 0"/><dynamics damping="0.1"/></joint>
</robot>"""


@pytest.mark.parametrize("options", [{}, {"method": "stiff"}, {"method": "stiff", "rtol": 1e-10, "atol": 1e-12}])
def test_a_hinge_with_very_much_damping_holds_like_a_driven_one(tmp_path, options):
    """A robot with 5e8 N m s/rad, which would take an explicit method 5e9 steps, as stability bounds them.

    The lower link swings about a pivot that stays: the moments of some 10 N m turn the hinge by 1e-8 rad/s.
    """
    (tmp_path / "arm.urdf").write_text(ROBOT)
    system = kn.load(tmp_path / "arm.urdf")
    held = system.copy()
    held.change("shoulder", damping=None, motion=0.3)
    run = kn.simulate(system, 10.0, start={"shoulder.q": 0.3, "elbow.q": 0.5}, samples=101, **options)
    exact = kn.simulate(held, 10.0, start={"elbow.q": 0.5}, samples=101, method="dop853", rtol=1e-12, atol=1e-13)
    assert run.facts["steps"] < 500 and run.facts["method"] == options.get("method", "auto")
    np.testing.assert_allclose(run["shoulder.q"], 0.3, atol=1e-7)
    np.testing.assert_allclose(run["elbow.q"], exact["elbow.q"], atol=1e-7)


@pytest.mark.parametrize(("damping", "method"), [("10 N*m*s/rad", "auto"), ("1e-4 N*m*s/rad", "dopri5")])
def test_many_runs_have_the_bits_of_single_ones(damping, method):
    """In a study, runs that stay explicit are made in one compiled loop, and what turns stiff by itself."""
    system, starts = stiff_arm(), [0.2, 0.3, 0.4]
    system.change("pivot", damping=damping)
    study = kn.sweep(system, {"shoulder.q": starts}, 1.0, keep="shoulder.q|final")
    runs = [kn.simulate(system, 1.0, start={"shoulder.q": q}) for q in starts]
    assert study["shoulder.q|final"].values.tolist() == [run["shoulder.q"][-1] for run in runs]
    assert {run.facts["method"] for run in runs} == {method}


@pytest.mark.parametrize("name", SHOWN if is_fixed() else EXAMPLES)
def test_examples_that_stay_explicit_have_the_bits_of_dopri5(name):
    """Examples that are not stiff are runs of dopri5, those with loops, events and clocks too."""
    dynamics = compiled_example(name)
    until = min(2.0, dynamics.system.run_defaults.get("until", 2.0))
    run, plain = (kn.simulate(dynamics, until, method=method) for method in ("auto", "dopri5"))
    assert run.facts["method"] == "dopri5"
    assert np.array_equal(run.t, plain.t) and np.array_equal(run.y, plain.y)


def random_chain(seed):
    """Links on hinges about any axes, with springs of 1 to 1e4 N m/rad and dampers of 0.01 to 1e6 N m s/rad."""
    rng = np.random.default_rng(seed)
    system = kn.System("chain", gravity=(0, -9.81, 0))
    before = system.world
    for k in range(rng.integers(2, 5)):
        com, inertia = rng.uniform(-0.1, 0.1, 3), rng.uniform(0.01, 0.015, 3)
        link = system.body(f"link{k}", mass=rng.uniform(0.1, 2.0), com=tuple(com), inertia=tuple(inertia))
        start = {"q": rng.uniform(-1, 1), "u": rng.uniform(-2, 2), "axis": str(rng.choice(["x", "y", "z"]))}
        forces = {"damping": 10 ** rng.uniform(-2, 6), "stiffness": 10 ** rng.uniform(0, 4)}
        system.revolute(f"j{k}", before, link, **start, **forces)
        before = link.at(*rng.uniform(-0.3, 0.3, 3))
    return system


@pytest.mark.parametrize("seed", range(8 if is_fixed() else 200))
def test_random_chains_of_any_stiffness(seed):
    """Explicit to the end or taken over, the default has the errors of its tolerances and takes few steps.

    One chain in ten stays explicit with steps of 1 to 3 times the fastest time constant, which accuracy and stability
    bound together: 71,000 steps at most in 200 chains, where others would take 1e7.
    """
    dynamics = kn.compile(random_chain(seed))
    run = kn.simulate(dynamics, 0.5, samples=11)
    exact = kn.simulate(dynamics, 0.5, samples=11, method="stiff", rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(run.q, exact.q, atol=2e-6 if is_fixed() else 1e-5)  # some swing chaotically
    assert run.facts["steps"] < (8000 if is_fixed() else 80_000)


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
