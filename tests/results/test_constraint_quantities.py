"""What constraints tell by name: how far they are from holding, what they hold with, and what they do to bodies."""

import numpy as np
import pytest

import kinode as kn

G = 9.81


def pendulum():
    """A bob at a distance, in a plane: the rod pushes with -m (l w^2 + g cos)."""
    system = kn.System("bob", gravity=(0, -G, 0))
    bob = system.body("bob", mass=2, inertia=(0.01, 0.01, 0.01))
    eye = bob.at(0.05, 0, 0, name="eye")
    system.planar("flat", system.world, bob, guess=(0.6, -0.5, 0))
    system.constraint("rod", "distance", a=system.world, b=eye, distance=0.8)
    return system


def test_a_rod_by_name():
    run = kn.simulate(pendulum(), 0.5, samples=6)
    assert run.units("rod.residual") == "m" and run.units("rod.reaction") == "N"
    assert run.units("rod.on.bob.moment") == "N*m"
    assert {"rod.residual", "rod.reaction", "rod.on.bob.force", "rod.on.world.moment"} <= set(run.names())
    assert np.abs(run["rod.residual"]).max() < 1e-12
    line = run["bob.eye.position"]
    push = run["rod.reaction"]
    assert run["rod.on.bob.force"] == pytest.approx(push[:, None] * line / 0.8, abs=1e-10)
    assert run["rod.on.world.force"] == pytest.approx(-run["rod.on.bob.force"], abs=1e-12)
    assert np.abs(run["rod.on.bob.moment"]).max() < 1e-12  # told about the eye, where the rod holds
    # Newton: what the bob needs is its weight and the rod
    needed = 2 * (run["bob.acceleration"] + [0, G, 0])
    assert run["rod.on.bob.force"] == pytest.approx(needed, abs=1e-9)
    assert run["rod.on.bob.force.x@bob"] == pytest.approx(
        np.einsum("ti,ti->t", run["bob.rotation"][:, :, 0], needed), abs=1e-9
    )


def test_a_wheel_tells_normal_force_and_grip():
    """A ball rolls down a plane: it grips with 2/7 of the weight along the plane, and does not slip."""
    tilt = 0.3
    system = kn.System("slope", gravity=(G * np.sin(tilt), 0, -G * np.cos(tilt)))
    ball = system.body("ball", mass=3, inertia=(0.4 * 3 * 0.1**2,) * 3)
    system.free("f", system.world, ball, position=(0, 0, 0.1))
    system.constraint("contact", "rolling", wheel=ball, radius=0.1, shape="ball")
    run = kn.simulate(system, 0.4, samples=5)
    assert run.units("contact.residual") == ("m", "m/s", "m/s") and run.units("contact.reaction") == "N"
    assert np.abs(run["contact.residual.normal"]).max() < 1e-12
    assert np.abs(run["contact.residual"]).max() < 1e-10  # of speeds of 1 m/s, after one Newton step
    assert run["contact.reaction.normal"] == pytest.approx(3 * G * np.cos(tilt), abs=1e-9)
    grip = 2 / 7 * 3 * G * np.sin(tilt)
    assert np.hypot(run["contact.reaction.x"], run["contact.reaction.y"]) == pytest.approx(grip, abs=1e-9)
    force = [-grip, 0, 3 * G * np.cos(tilt)]
    assert run["contact.on.ball.force"] == pytest.approx(np.tile(force, (5, 1)), abs=1e-9)
    assert run["contact.on.ball.moment"] == pytest.approx(np.tile([0, grip * 0.1, 0], (5, 1)), abs=1e-9)


def test_a_gear_is_the_same_by_name_whether_it_is_a_row_or_not():
    """A rack that hangs on its pinion: between joints of the tree it is no row of the equations."""
    system = kn.System("pinion", gravity=(0, -G, 0))
    wheel, bar = system.body("wheel", mass=1, inertia=(0.01, 0.01, 0.02)), system.body("bar", mass=3)
    system.revolute("turn", system.world, wheel)
    system.prismatic("rise", system.world, bar, axis="y")
    system.constraint("mesh", "rack", rack="rise", pinion="turn", radius=0.2, offset=0.05)
    run = kn.simulate(system, 0.2, samples=3)
    fall = 3 * G * 0.2**2 / (0.02 + 3 * 0.2**2)  # of the bar
    assert run["mesh.reaction"] == pytest.approx(3 * (G - fall), abs=1e-10)
    assert run.units("mesh.reaction") == "N"
    assert run["mesh.residual"] == pytest.approx(0.0, abs=1e-15)
    assert run["mesh.on.bar.force.y"] == pytest.approx(run["mesh.reaction"], abs=1e-12)
    assert run["mesh.on.wheel.moment.z"] == pytest.approx(-0.2 * run["mesh.reaction"], abs=1e-12)


def ladder():
    """Its foot's line holds it across the plane, as the planar joint does already."""
    system = kn.System("ladder", gravity=(0, -G, 2.0))
    rod = system.body("rod", mass=1, com=(0.5, 0, 0), inertia=(0.01, 1 / 12, 1 / 12))
    system.planar("flat", system.world, rod, guess=(0, 0.9, -0.6))
    system.constraint("wall", "point_on_line", point=rod, line=system.world, axis="y")
    system.constraint("level", "point_on_plane", point=rod.at(1, 0, 0), plane=system.world, normal="y")
    return system


def test_constraints_share_with_joints():
    """2 N across the plane: the joint and the line carry 1 N each, of least norm; the moments are the joint's."""
    run = kn.simulate(ladder(), 0.2, samples=3)
    flat = run.reaction("flat")
    assert flat.shared == "least norm" and flat.components == (True, True, False, True, True, True)
    assert flat.force[:, 2] + run["wall.on.rod.force.z"] == pytest.approx(-2.0, abs=1e-9)
    assert run["wall.on.rod.force.z"] == pytest.approx(-1.0, abs=1e-9)
    assert kn.mobility(ladder()).redundant == 1
    # balance of moments about the rod's origin, where the line holds: the weight acts in the middle
    moment = np.einsum("tij,tj->ti", run["flat.parent.rotation"], flat.moment)
    arm = run["rod.com.position"] - run["rod.position"]
    across = np.cross(arm, [0, 0, 2.0]) + moment
    assert across[:, :2] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rod", "rod is a constraint, and no number; .* It has residual, reaction, on.world.force"),
        ("rod.force", "rod has no quantity 'force'"),
        ("rod.on.nobody.force", "did you mean on"),
        ("rod.residual.x", "it is a single number"),
        ("rod.reaction@bob", "no axes to be expressed in"),
        ("rod.on.bob.force.w", "its parts are x, y, z"),
    ],
)
def test_names_that_are_none(name, message):
    dynamics = kn.compile(pendulum())
    with pytest.raises(kn.LawError, match=message):
        dynamics.evaluate(name, 0.0, dynamics.initial.q, dynamics.initial.u)


def test_euler_angles_of_a_free_top():
    """Without load a symmetric body precesses at L/A about its angular momentum, L; its nutation stays."""
    A, C, theta, spin = 0.3, 0.1, 0.6, 20.0
    # L along z: A (precession) = L and C (precession cos + spin) = L cos
    precession = C * spin / ((A - C) * np.cos(theta))
    system = kn.System("top", gravity=(0, 0, 0))
    top = system.body("top", mass=1, inertia=(A, A, C))
    w = [0, precession * np.sin(theta), precession * np.cos(theta) + spin]  # in body axes, at spin angle 0
    R = np.array([[1, 0, 0], [0, np.cos(theta), -np.sin(theta)], [0, np.sin(theta), np.cos(theta)]])
    system.free("f", system.world, top, rpy=(theta, 0, 0), angular_velocity=tuple(R @ w))
    run = kn.simulate(system, 1.0, samples=11)
    assert run["top.euler.nutation"] == pytest.approx(theta, abs=1e-7)  # the usual tolerance, three turns
    wanted = np.outer(run.t, [precession, spin])
    turned = run["top.euler"][:, [0, 2]] - wanted
    assert np.abs(np.angle(np.exp(1j * turned))).max() < 1e-6  # within a turn
    assert run["top.euler_rates"] == pytest.approx(np.tile([precession, 0, spin], (11, 1)), abs=1e-6)
    assert run.units("top.euler") == "rad" and run.units("top.euler_rates.spin") == "rad/s"


def test_euler_angles_in_other_axes_and_where_they_are_singular():
    """Planar motion about z: precession is the whole turn.  In axes that lie flat its angle is the spin."""
    system = kn.System("disc", gravity=(0, 0, 0))
    disc = system.body("disc", mass=1, inertia=(1, 1, 2))
    system.world.at(0, 0, 0, rpy=(np.pi / 2, 0, 0), name="flat")
    system.revolute("pin", system.world, disc, q=0.4, u=1.5)
    run = kn.simulate(system, 0.2, samples=3)
    angle = 0.4 + 1.5 * run.t
    assert run["disc.euler"] == pytest.approx(np.column_stack([angle, 0 * angle, 0 * angle]), abs=1e-9)
    assert run["disc.euler_rates"] == pytest.approx(np.tile([1.5, 0, 0], (3, 1)), abs=1e-9)
    seen = run["disc.euler@world.flat"]
    assert seen[:, 1] == pytest.approx(np.pi / 2)
    assert np.angle(np.exp(1j * (seen[:, 2] - angle - np.pi))) == pytest.approx(0.0, abs=1e-9)
    assert run["disc.euler_rates@world.flat"] == pytest.approx(np.tile([0, 0, 1.5], (3, 1)), abs=1e-9)


def wheel(speed=1.0, lift="0", side=1.0):
    """A wheel of 1 kg and 0.3 m that rolls along x; ``lift`` is a force that pulls it up."""
    system = kn.System("wheel", gravity=(0, 0, -G))
    body = system.body("wheel", mass=1, inertia=(0.0225, 0.045, 0.0225))
    turns = {"velocity": (speed, 0, 0), "angular_velocity": (0, side * speed / 0.3, 0)}
    system.free("path", system.world, body, position=(0, 0, side * 0.3), **turns)
    system.rolling("ground", body, axis="y", radius=0.3, normal=(0, 0, side))
    system.force("crane", body, force=(0, 0, lift), expressed_in="world")
    return system


def test_a_wheel_that_is_pulled_up_says_when():
    """20 N/s take its 9.81 N away at 0.4905 s; at the end the ground would have to pull with 10.19 N."""
    with pytest.warns(kn.RunWarning, match="normal reaction of ground changes its sign, down to -10.19 N at t = 1 s"):
        run = kn.simulate(wheel(lift="20*t"), 1.0)
    (event,) = run.events
    assert (event.kind, event.components) == ("pull", ("ground",))
    assert event.time == pytest.approx(G / 20, abs=1e-9) and "would let the wheel lift off" in event.message
    with pytest.warns(kn.RunWarning, match="changes its sign, 2 times in all, down to"):
        kn.simulate(wheel(lift="15*sin(8*t)"), 1.0, samples=201)
    with pytest.warns(kn.RunWarning, match="between t = 0 and 0.25 s the normal"):  # asin(9.81/15)/8 s = 0.0891 s
        kn.simulate(wheel(lift="15*sin(8*t)"), 1.0, samples=5)


def test_what_hangs_from_the_ground_is_pulled_from_the_start():
    with pytest.warns(kn.RunWarning, match=r"at t = 0 s the normal reaction of ground pulls, down to -9.81 N"):
        kn.simulate(wheel(side=-1.0), 0.1)


def test_a_support_that_is_pulled_up_says_when():
    """A beam on two supports, 1 m apart, and a weight that goes from the middle beyond the right one at 1 m/s.

    The left support carries m g (1/2 - x), which changes its sign at 0.5 s; at the end it would pull with 5 m g / 10.
    """
    system = kn.System("beam", gravity=(0, 0, -G))
    beam = system.body("beam", mass=1e-3, inertia=(1e-3, 1e-3, 1e-3))
    weight = system.body("weight", mass=60, inertia=(1, 1, 1))
    system.planar("plane", system.world, beam, axis="y")
    system.prismatic("rail", beam, weight, axis="x", motion="t")
    system.constraint("left", "point_on_plane", point=beam.at(-0.5, 0, 0), plane=system.world)
    system.constraint("right", "point_on_plane", point=beam.at(0.5, 0, 0), plane=system.world)
    with pytest.warns(kn.RunWarning, match="normal reaction of left changes its sign"):
        run = kn.simulate(system, 1.0, samples=101)
    assert [(event.kind, event.components) for event in run.events] == [("pull", ("left",))]
    assert run.events[0].time == pytest.approx(0.5, abs=1e-3)
    assert run["left.reaction"][-1] == pytest.approx(-0.5 * 60 * G, rel=1e-3)


def test_a_wheel_that_presses_is_not_remarked(recwarn):
    assert kn.simulate(wheel(lift="9.7*sin(8*t)"), 1.0).events == ()
    weightless = wheel()
    weightless.gravity = (0, 0, 0)
    assert kn.simulate(weightless, 0.5).events == ()  # what is left is rounding
    assert not [each for each in recwarn if each.category is kn.RunWarning]
