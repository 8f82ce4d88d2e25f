"""Momentum and angular momentum by name: of a body, of the bodies that a joint carries, of the system."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import build, plans

import kinode as kn

near = np.testing.assert_allclose


def flywheel() -> kn.System:
    """A wheel on an arm that turns about another axis."""
    system = kn.System("flywheel")
    arm = system.body("arm", mass=2.0, com=(0.5, 0, 0), inertia=(0.01, 0.2, 0.2))
    wheel = system.body("wheel", mass=3.0, inertia=(0.4, 0.2, 0.2))
    system.revolute("base", system.world, arm, axis="z", u=2.0)
    system.revolute("axle", arm.at(1.0, 0, 0), wheel, axis="x", u=50.0)
    return system


def test_a_wheel_on_an_arm():
    """m r w across the arm; spin along the axle and the arm's rate about z; about the base m r^2 w in addition."""
    run = kn.simulate(flywheel(), 0.01, samples=2)
    owners = ("wheel", "axle", "base", "system")
    values = run.evaluate([f"{owner}.{word}" for owner in owners for word in ("momentum", "angular_momentum")])
    near(values["wheel.momentum"][0], [0, 3.0 * 1.0 * 2.0, 0], atol=1e-12)
    near(values["wheel.angular_momentum"][0], [0.4 * 50.0, 0, 0.2 * 2.0], atol=1e-12)
    near(values["axle.angular_momentum"][0], values["wheel.angular_momentum"][0], atol=1e-12)
    near(run.angular_momentum("axle", about="world")[0], [20.0, 0, 0.4 + 3.0 * 2.0], atol=1e-12)
    near(values["base.momentum"], values["system.momentum"], atol=1e-12)
    near(values["base.angular_momentum"], values["system.angular_momentum"], atol=1e-12)
    near(run["wheel.angular_momentum@wheel"], run.angular_momentum("wheel", expressed_in="wheel"), atol=1e-12)
    assert run.units("wheel.momentum") == "N*s"
    assert run.units("axle.angular_momentum.x") == "N*m*s"


@settings(max_examples=6)
@given(plans(most=4, loaded=False, driven=False), st.integers(0, 99))
def test_bodies_add_up_to_the_system(plan, seed):
    """Of the bodies, of the joints to the world, and about any point of any body."""
    system = build(plan)
    now = kn.compile(system)
    rng = np.random.default_rng(seed)
    u = rng.normal(size=now.n_u)
    bodies, roots = list(system.bodies), [n for n, j in system.joints.items() if "world" in (j.a.body, j.b.body)]
    owners = [*bodies, *roots, "system"]
    names = [f"{owner}.{word}" for owner in owners for word in ("momentum", "angular_momentum")]
    places = [f"{body}.com.position" for body in bodies]
    values = now.evaluate([*names, *places], 0.0, now.initial.q, u)
    whole = values["system.momentum"]
    near(sum(values[f"{body}.momentum"] for body in bodies), whole, atol=1e-11)
    near(sum(values[f"{root}.momentum"] for root in roots), whole, atol=1e-11)
    about_world = sum(
        values[f"{body}.angular_momentum"] + np.cross(values[f"{body}.com.position"], values[f"{body}.momentum"])
        for body in bodies
    )
    near(about_world, values["system.angular_momentum"], atol=1e-11)


def test_the_rate_of_angular_momentum_is_the_moment_about_a_fixed_point():
    """Weight is the only load on a double pendulum about its fixed shoulder."""
    system = kn.load("examples/double_pendulum.yaml")
    times = [0.3 - 1e-4, 0.3, 0.3 + 1e-4]
    run = kn.simulate(system, times[-1], times=times, rtol=1e-11, atol=1e-13)
    rate = (run.angular_momentum("shoulder")[2] - run.angular_momentum("shoulder")[0]) / 2e-4
    weights = sum(
        np.cross(run[f"{body}.com.position"][1], system.bodies[body].mass * run["system.gravity"][1])
        for body in system.bodies
    )
    near(rate, weights, rtol=1e-6, atol=1e-9)


def test_what_is_refused():
    loop = kn.compile(kn.load("examples/four_bar.yaml"))
    with pytest.raises(kn.ModelError, match="left: it is part of the loop that top closes"):
        loop.evaluate("left.momentum", 0.0, loop.initial.q, loop.initial.u)
    run = kn.simulate(flywheel(), 0.01, samples=2)
    with pytest.raises(kn.ArgumentError, match="neither a body nor a joint is called 'weel'; did you mean wheel"):
        run.angular_momentum("weel")
    with pytest.raises(kn.LawError, match="did you mean momentum"):
        run["wheel.momentun"]


def test_in_a_subsystem_on_a_moving_frame_it_is_not_known():
    inner = flywheel()
    inner.signal("spin", "wheel.angular_momentum.x")
    outer = kn.System("outer")
    outer.add("still", inner, on=outer.world.at(0, 0, 0, rpy=(0, 0, np.pi / 2)))
    run = kn.simulate(outer, 0.01, samples=2)
    near(run["still.spin"][0], 20.0, rtol=1e-12)  # in the axes of the subsystem's world
    table = outer.body("table", mass=1.0, inertia=(1, 1, 1))
    outer.revolute("turn", outer.world, table)
    with pytest.raises(kn.ModelError, match="angular_momentum is not known relative to it"):
        outer.add("moving", inner, on=table)
