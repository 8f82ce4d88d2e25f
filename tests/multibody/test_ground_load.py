"""The load of a whole system on the ground, against the balance of its momentum."""

import numpy as np
import pytest

import kinode as kn

H = 5e-5  # spacing of the times of differences, s


def swing():
    """A spring, a force with and one without reaction, a distance held to the world, a world on the child's side."""
    system = kn.System("swing", gravity=(0.4, 0, -9.81))
    bob = system.body("bob", mass=2, com=(0.1, 0.05, -0.5), inertia=(0.05, 0.06, 0.02))
    system.revolute("hinge", bob, system.world.at(0.2, 0.1, 1.5), axis="y", q=0.4, damping=0.3)
    system.spring("tie", bob.at(0, 0, -0.6), system.world.at(1, 0.4, 0.3), stiffness=40, free_length=0.5)
    system.force("push", bob.at(0.1, 0, 0, name="grip"), ("sin(3*t)", 2, 0.5))
    system.force("inner", bob.at(0, 0, -0.2), (3, "cos(2*t)", 0), reaction_on=system.world)
    ball = system.body("ball", mass=0.5, inertia=(1e-3, 2e-3, 3e-3))
    system.free("loose", system.world, ball, position=(2, 0, 0), angular_velocity=(1, 2, 3))
    system.constraint("string", "distance", a=ball.at(0.1, 0, 0), b=system.world.at(2.1, 0.3, 0.4), distance=0.5)
    return system


def disc():
    system = kn.System("disc")
    wheel = system.body("wheel", mass=3, inertia=(0.2, 0.1, 0.1))
    system.free("base", system.world, wheel, position=(0, 0, 0.3), angular_velocity=(5, 0, 0.3))
    system.constraint("track", "rolling", wheel=wheel, axis="x", radius=0.3)
    return system


EXAMPLES = ("slider_crank", "spatial_slider_crank", "double_pendulum", "gyroscope", "four_bar")
MODELS = {name: (lambda name=name: kn.load(f"examples/{name}.yaml")) for name in EXAMPLES}
MODELS |= {"swing": swing, "disc": disc}


@pytest.mark.parametrize("name", MODELS)
def test_what_the_ground_takes_is_what_momentum_lacks(name):
    """d(momentum)/dt = weight + outer forces - force on the ground, and the same of moments about the origin."""
    system = MODELS[name]()
    run = kn.simulate(system, times=0.05 + H * np.arange(5), until=0.05 + 4 * H, t0=0.0, rtol=1e-12, atol=1e-12)
    values = run.evaluate(["system.momentum", "system.angular_momentum", "system.com", "ground.force", "ground.moment"])
    mass = sum(run.system.nominal(body.mass) for body in system.bodies.values())
    weight = mass * np.array([run.system.nominal(x) for x in system.gravity])
    force, moment = weight, np.cross(values["system.com"][2], weight)
    for element in system.elements.values():
        if element.kind == "force" and element.reaction_on is None:
            outer, at = run[f"{element.name}.force"][2], run.position(element.on)[2]
            force, moment = force + outer, moment + np.cross(at, outer)
    for balance, momentum, load in ((force, "momentum", "force"), (moment, "angular_momentum", "moment")):
        rate = np.array([1, -8, 0, 8, -1]) @ values[f"system.{momentum}"] / (12 * H)
        size = max(1.0, abs(balance).max(), abs(rate).max())
        np.testing.assert_allclose(values[f"ground.{load}"][2], balance - rate, rtol=0, atol=2e-6 * size)


def test_a_mechanism_at_rest_loads_the_ground_with_its_weight_in_any_axes():
    system = kn.System("stand")
    leg = system.body("leg", mass=3, com=(0.2, 0, 0.4), inertia=(0.1, 0.1, 0.1))
    system.fixed("foot", system.world.at(1, 0, 0, rpy=(0, "90 deg", 0), name="side"), leg)
    run = kn.simulate(system, 0.1, samples=2)
    assert run["ground.force"][0] == pytest.approx([0, 0, -3 * 9.81])
    assert run["ground.force@world.side"][0] == pytest.approx([3 * 9.81, 0, 0])
    assert run["ground.moment.y"][0] == pytest.approx(3 * 9.81 * run["leg.com.position.x"][0])
    assert run.units("ground.moment") == "N*m" and "ground.force" in run.names()


def test_a_balanced_crank_does_not_shake_the_ground():
    system = kn.System("crank", gravity=(0, 0, 0))
    for name, com, inertia in (("light", 0.1, 0.01), ("balanced", 0.0, 0.01)):
        body = system.body(name, mass=2, com=(com, 0, 0), inertia=(inertia, inertia, inertia))
        system.revolute(f"{name}_pin", system.world, body, axis="z", speed=100)
    run = kn.simulate(system, 0.1, samples=11)
    assert np.linalg.norm(run["ground.force"], axis=1) == pytest.approx(2 * 0.1 * 100**2)


def test_a_body_called_ground_keeps_its_name():
    system = kn.System("yard")
    system.fixed("bolt", system.world, system.body("ground", mass=1))
    run = kn.simulate(system, 0.1, samples=2)
    assert run["ground.position"].shape == (2, 3) and "ground.force" not in run.names()
    with pytest.raises(kn.LawError, match="ground is a body here"):
        run["ground.force"]
