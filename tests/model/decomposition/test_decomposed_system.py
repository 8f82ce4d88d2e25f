"""Joints of several freedoms taken apart into hinges and slides: the same motion, the same wrenches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import build, plans

import kinode as kn
from kinode.algebra.spatial import quaternion_of, rotation_about
from kinode.model.decomposed_system import angles_of, hinge_axes, rotation

SEQUENCES = [a + b + c for a in "xyz" for b in "xyz" for c in "xyz" if a != b and b != c]
near = np.testing.assert_allclose


def axes_of(sequence):
    return [np.eye(3)["xyz".index(letter)] for letter in sequence]


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_angles_of_every_sequence(sequence):
    rng = np.random.default_rng(SEQUENCES.index(sequence))
    for _ in range(5):
        R = rotation_about(np.array([0.6, 0.0, 0.8]), rng.uniform(-3, 3)) @ rotation_about(
            np.array([0.0, 1.0, 0.0]), rng.uniform(-3, 3)
        )
        angles = angles_of(R.astype(float), sequence)
        near(rotation(axes_of(sequence), angles).astype(float), R.astype(float), atol=1e-12)
        rates, h = rng.normal(size=3), 1e-6
        ahead, behind = (rotation(axes_of(sequence), np.add(angles, s * h * rates)).astype(float) for s in (1, -1))
        spin = (R.T @ (ahead - behind) / (2 * h)).astype(float)
        near(
            (hinge_axes(axes_of(sequence), angles) @ rates).astype(float),
            [spin[2, 1], spin[0, 2], spin[1, 0]],
            atol=1e-7,
        )


def with_random_start(system, rng):
    """The same system, its free joints somewhere in motion."""
    for name, joint in system.joints.items():
        if not joint.n_u or joint.driven or (system.constraints and joint.kind in ("revolute", "prismatic", "screw")):
            continue
        q = rng.normal(size=joint.n_q)
        if joint.quaternion is not None:
            turn = rng.normal(size=4)
            q[joint.quaternion :] = turn / np.linalg.norm(turn)
        system.change(name, q=tuple(q), u=tuple(rng.normal(size=joint.n_u)))
    return system


def motion_and_wrenches(system, names):
    """Accelerations of the bodies and wrenches of the joints that ``names`` maps to, at the start, in world axes."""
    now = kn.compile(system)
    start, snapshot = now.initial, now.snapshot(now.initial)
    world = system.find_frame("world")
    moved = [np.concatenate(snapshot.acceleration(system.bodies[b].com)) for b in system.bodies if ".link" not in b]
    wrenches = {
        old: np.concatenate(snapshot.reaction(new, whole=True, expressed_in=world)) for old, new in names.items()
    }
    assert start.t == 0.0
    return np.array(moved, dtype=float), {name: w.astype(float) for name, w in wrenches.items()}


@settings(max_examples=12, deadline=None)
@given(plans(most=3), st.integers(0, 99))
def test_the_same_motion_and_the_same_wrenches(plan, seed):
    """Trees of all joints, with drives, springs, damping, efforts in axes of b, gears and loads."""
    assume(not any(link.kind in ("spherical", "free") and link.drive == "speed" for link in plan.links))
    system = with_random_start(build(plan), np.random.default_rng(seed))
    apart = system.decomposed()
    assert {joint.n_u for joint in apart.joints.values()} <= {0, 1}
    last = {name: [x for x in apart.joints if x == name or x.startswith(f"{name}.")][-1] for name in system.joints}
    one, loads = motion_and_wrenches(system, {name: name for name in system.joints})
    other, apart_loads = motion_and_wrenches(apart, last)
    size = 1.0 + abs(one).max()
    near(other, one, atol=1e-9 * size)
    for name, wrench in loads.items():
        near(apart_loads[name], wrench, atol=1e-9 * size * (1.0 + abs(wrench).max()), err_msg=name)


def ball(rotation_at_start=None, **fields) -> kn.System:
    system = kn.System("ball")
    bar = system.body("bar", mass=1, com=(0.5, 0.1, 0), inertia=(0.01, 0.1, 0.1))
    if rotation_at_start is not None:
        fields["q"] = tuple(quaternion_of(rotation_at_start).astype(float))
    system.spherical("ball", system.world, bar, **fields)
    return system


def test_where_one_sequence_is_singular_another_is_taken():
    assert list(ball().decomposed().joints) == ["ball.yaw", "ball.pitch", "ball.roll"]
    upright = rotation_about(np.array([0.0, 1.0, 0.0]), np.pi / 2)
    apart = ball(upright, u=(1.0, 2.0, 3.0)).decomposed()
    assert list(apart.joints) == ["ball.precession", "ball.nutation", "ball.spin"]
    near(kn.compile(apart).evaluate("bar.rotation", 0.0, kn.compile(apart).initial.q, np.zeros(3))["bar.rotation"],
         upright.astype(float), atol=1e-12)  # fmt: skip
    with pytest.raises(kn.ModelError, match=r"ball.*hinges z, y, x are in one plane"):
        ball(upright).decomposed({"ball": "zyx"})
    assert list(ball(upright).decomposed({"ball": "yxz"}).joints) == ["ball.pitch", "ball.roll", "ball.yaw"]


def test_the_same_run():
    """A ball with damping in its own axes, and a law that names its speed."""
    whole = ball(u=(0.4, 1.0, 2.0), damping=(0.1, 0.2, 0.05), effort=("0.3*cos(t) - 0.1*ball.u.z", 0, 0))
    whole.signal("spin", "ball.u.x^2 + ball.u.y^2 + ball.u.z^2")
    names = ("bar.com.position", "spin", "system.energy")
    runs = [kn.simulate(s, 0.5, samples=3, rtol=1e-10, atol=1e-12) for s in (whole, whole.decomposed())]
    one, other = (run.evaluate(names) for run in runs)
    for name in names:
        near(other[name], one[name], rtol=1e-7, atol=1e-8, err_msg=name)


def test_names_in_laws():
    system = kn.System("names")
    cart = system.body("cart", mass=1.0, inertia=(1, 1, 1))
    system.planar("plane", system.world, cart, u=(1.0, 2.0, 3.0), q=(0.1, 0.2, 0.3))
    for name, law in {
        "place": "plane.q.x + 2*plane.q.angle", "work": "plane.effort.drive.x*plane.u.x",
        "rate": "plane.angle.speed", "seen": "cart.velocity.x@plane.child", "there": "plane.child.position.x",
    }.items():  # fmt: skip
        system.signal(name, law)
    apart = system.decomposed()
    one, other = kn.compile(system), kn.compile(apart)
    for name in ("place", "work", "rate", "seen", "there"):
        values = [x.evaluate(name, 0.0, x.initial.q, x.initial.u)[name] for x in (one, other)]
        near(*values, atol=1e-12, err_msg=name)
    assert apart.signals["place"].law.names() == {"plane.x.q", "plane.angle.q"}
    assert system.signals["place"].law.names() == {"plane.q.x", "plane.q.angle"}  # the given system stays


def test_what_is_refused(monkeypatch):
    def refuses(system, match, **sequences):
        with pytest.raises(kn.ModelError, match=match):
            system.decomposed(sequences)

    refuses(ball(speed=(0, 0, 1)), "ball.*speed.*axes of b")
    refuses(
        ball(friction={"coulomb": {"coefficient": 0.1, "radius": 0.1, "slip": 0.01}}),
        "ball.*friction.*all its freedoms",
    )
    refuses(ball(), "three axes are expected, such as 'zyx', not 'zzx'", ball="zzx")
    refuses(ball(), "bal is no joint that a quaternion turns; these are ball", bal="zyx")
    named = ball()
    named.signal("turned", "ball.q.qw")
    refuses(named, "turned.*names ball.q.qw, which ball does not have once it is taken apart")
    refuses(kn.load("examples/stewart_platform.yaml"), "cannot be taken apart: it is part of a loop of joints")
    monkeypatch.delattr("kinode.model.joints.spherical.Spherical.pairs")
    refuses(ball(), "ball: a spherical joint does not say which hinges and slides")


def test_a_screw_stays_and_so_does_a_system_without_joints_to_take_apart():
    system = kn.System("press")
    nut = system.body("nut", mass=1.0, inertia=(1, 1, 1))
    system.screw("thread", system.world, nut, lead=0.01)
    assert list(system.decomposed().joints) == ["thread"]


def test_it_is_saved_and_read(tmp_path):
    apart = ball(u=(0.4, 1.0, 2.0), damping=(0.1, 0.2, 0.05)).decomposed()
    apart.save(tmp_path / "apart.yaml")
    read = kn.load(tmp_path / "apart.yaml")
    one, other = kn.compile(apart), kn.compile(read)
    near(one.acceleration(0.0, one.initial.q, one.initial.u), other.acceleration(0.0, other.initial.q, other.initial.u))
