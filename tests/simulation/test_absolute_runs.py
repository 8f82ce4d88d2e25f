"""Runs in absolute coordinates: the elastic system's figures, loops, drift, and what they refuse.

The figures are given to 1e-12 and simulated to 1e-11 here; 1e-8 leaves room for the drift.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinode as kn
from kinode.simulation.absolute_drift import Drift, JointDrift
from known.elastic import DEFAULT, elastic, series

TIGHT = {"method": "dop853", "rtol": 1e-11, "atol": 1e-13}


def test_the_elastic_system_by_its_own_24_equations():
    t, angle, speed, place, X12, Y12, Y20 = series(DEFAULT).T
    run = kn.simulate(elastic("default"), times=t, until=t[-1], formulation="newton_euler", **TIGHT)
    for name, wanted in (("hinge.q", angle), ("hinge.u", speed), ("rail.q", place)):
        np.testing.assert_allclose(run[name], wanted, rtol=0, atol=1e-8)
    np.testing.assert_allclose(run["hinge.reaction.force"][:, :2], np.column_stack([X12, Y12]), rtol=0, atol=1e-7)
    np.testing.assert_allclose(run["rail.reaction.force"][:, 1], Y20, rtol=0, atol=1e-7)
    assert run.facts["formulation"] == "newton_euler"
    drift = run.audit.drift
    assert 0.0 < drift.length < 1e-9
    assert drift.velocity < 1e-9
    assert "drift: joints are apart by up to" in str(run.audit)


def test_the_drift_is_that_of_the_tolerance():
    """A coarse run drifts, and says so; a run by the recursion has no such drift."""
    system = kn.load("examples/double_pendulum.yaml")
    coarse, fine = (
        kn.simulate(system, 2.0, samples=3, formulation="newton_euler", rtol=rtol).audit.drift for rtol in (1e-4, 1e-9)
    )
    assert coarse.length > 100 * fine.length > 0.0
    assert coarse.joints["elbow"].length == coarse.length
    assert kn.simulate(system, 0.1, samples=3).audit.drift is None


def test_a_joint_that_comes_apart_ends_the_run_as_a_failure():
    system = kn.load("examples/double_pendulum.yaml")
    with pytest.raises(kn.SimulationError, match=r"elbow came apart, by .* m .*shorten the step") as caught:
        kn.simulate(system, 5.0, samples=3, formulation="newton_euler", method="rk4", step=0.03)
    assert caught.value.run.audit.drift.length > 5e-3


def test_a_four_bar_turns_as_by_the_recursion():
    """Redundant rows are left out, and the crank's angle counts full turns."""
    system = kn.load("examples/four_bar.yaml")
    start = {"crank.u": 12.0} if "crank.u" in [c.name for c in kn.compile(system).coordinates] else None
    one, two = (
        kn.simulate(system, 1.0, samples=21, start=start, formulation=f, **TIGHT) for f in ("recursive", "newton_euler")
    )
    np.testing.assert_allclose(two.y, one.y, rtol=0, atol=1e-7)
    assert abs(two.q).max() > 2 * np.pi or start is None
    last = list(system.joints)[-1]
    np.testing.assert_allclose(two[f"{last}.reaction.force"], one[f"{last}.reaction.force"], rtol=0, atol=1e-5)


def test_quaternions_do_not_change_their_sign_between_states():
    system = kn.System("tumbling", gravity=(0, 0, 0))
    body = system.body("body", mass=1.0, inertia=(1.0, 1.2, 1.5))
    system.free("flight", system.world, body, angular_velocity=(3.0, 0.1, 0.0))
    one, two = (kn.simulate(system, 4.0, samples=81, formulation=f, **TIGHT) for f in ("recursive", "newton_euler"))
    assert one["flight.q.qw"].min() < -0.5
    np.testing.assert_allclose(two.y, one.y, rtol=0, atol=1e-8)


def test_drives_gears_and_other_states():
    """A driven joint, a gear on it, a prescribed speed, and a network without inertia."""
    system = kn.System("train", gravity=(0, -9.81, 0))
    arm, wheel = (
        system.body("arm", mass=2.0, inertia=(1, 1, 1)),
        system.body("wheel", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.2)),
    )
    bob = system.body("bob", mass=0.5, com=(0, -0.3, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("base", system.world, arm, axis="z", speed="2 + sin(t)")
    system.revolute("shaft", arm.at(0.5, 0, 0), wheel, axis="z")
    system.constraint("gear", "gear", input="shaft", output="base", ratio=3.0)
    system.revolute("pin", wheel.at(0.1, 0, 0), bob, axis="z", stiffness=4.0)
    one, two = (kn.simulate(system, 3.0, samples=11, formulation=f, **TIGHT) for f in ("recursive", "newton_euler"))
    np.testing.assert_allclose(two.y, one.y, rtol=0, atol=1e-7)
    np.testing.assert_allclose(two["base.effort"], one["base.effort"], rtol=0, atol=1e-5)
    assert two.audit.drift.joints["shaft"].angle < 1e-8


@pytest.mark.parametrize("formulation", ["circuit", "lagrange", "hamilton", "quasi_base", "rotators"])
def test_every_formulation_that_can_be_compiled_runs(formulation):
    system = elastic("default")
    wanted = series(DEFAULT)[2]
    run = kn.simulate(system, 1.0, samples=2, formulation=formulation, rtol=1e-10)
    assert abs(run["hinge.q"][-1] - wanted[1]) < 1e-7
    assert run.facts["formulation"] == formulation


def test_wrong_arguments_are_refused():
    system = kn.load("examples/pendulum.yaml")
    for more, message in (
        ({"stop_when": "pivot.q > 1"}, "stop_when: runs by newton_euler go on"),
        ({"atol": [1e-9, 1e-9]}, "atol: runs by newton_euler take one number"),
    ):
        with pytest.raises(kn.Error, match=message):
            kn.simulate(system, 1.0, formulation="newton_euler", **more)
    with pytest.raises(kn.Error, match=r"newton_eulr.*did you mean newton_euler"):
        kn.simulate(system, 1.0, formulation="newton_eulr")
    with pytest.raises(kn.Error, match="free_flight balances one instant"):
        kn.compile(system, formulation="free_flight")
    with pytest.raises(kn.Error, match="the system is compiled as recursive"):
        kn.simulate(kn.compile(system), 1.0, formulation="circuit")


def test_a_number_that_is_not_finite_is_named_by_its_body():
    system = kn.System("broken", gravity=(0, 0, 0))
    body = system.body("body", mass=1.0, inertia=(1, 1, 1))
    system.prismatic("rail", system.world, body, axis="x", effort="1/(0.5 - t)^2", u=0.0)
    with pytest.raises(kn.SimulationError) as caught:
        kn.simulate(system, 1.0, formulation="newton_euler", method="rk4", step=0.1)
    assert caught.value.run.status == "failed"


def test_drift_is_kept_in_the_facts_of_a_run():
    drift = Drift({"pin": JointDrift(1e-9, 2e-10, 3e-9, 0.0), "rail": JointDrift()})
    assert Drift.from_facts(drift.to_facts()) == drift
    assert str(drift) == (
        "drift: joints are apart by up to 1.0e-09 m and 2.0e-10 rad, "
        "their velocities by 3.0e-09 m/s and 0.0e+00 rad/s; most at pin"
    )
