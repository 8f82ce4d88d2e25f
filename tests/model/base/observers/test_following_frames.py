"""Frames that follow the state: their rates are those of their poses, and they say where they do not exist."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinode as kn
from kinode.formats.yaml_files import dumps, loads
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology
from kinode.tasks.verify import random_state


def pair():
    """A body that flies, with a member that slides in it, seen from frames of all kinds that follow the state."""
    system = kn.System("pair", gravity=(0, 0, -9.81))
    shell = system.body("shell", mass=4.0, com=(0, 0.02, 0.01), inertia=(0.5, 4.0, 4.2, -0.03, 0.02, -0.015))
    member = system.body("member", mass=2.0, inertia=(0.01, 0.012, 0.015))
    system.free("flight", system.world, shell, velocity=(20, 2, -1), angular_velocity=(9, 0.4, -0.2))
    system.prismatic("across", shell.at(0.15, 0.05, -0.03), member, axis="y", stiffness=5000, q=0.004, u=0.1)
    system.frame("middle", "mass_center")
    system.frame("own", "mass_center", on=shell, of=["shell"])
    system.frame("wind", "velocity")
    system.frame("path", "velocity", point=shell.at(0.3, 0, 0, name="nose"), on=shell, upright="-y")
    system.frame("sight", "line", start=system.world.at(1, 2, 3), end=shell)
    system.frame("link", "line", start=shell, end=member, on=shell, upright="y")
    system.frame("camera", "fixed", on="wind")
    return system


SYSTEM = pair()
TOPOLOGY = find_topology(SYSTEM)


def rotation_rate(R_dot, R):
    S = R_dot @ R.T
    return np.array([S[2, 1], S[0, 2], S[1, 0]])


def along_the_motion(seed):
    """Snapshots a little before, at and a little after a random state, along its motion."""
    t, q, u, z = (np.asarray(x, dtype=float) for x in random_state(TOPOLOGY, np.random.default_rng(seed)))
    middle = Snapshot(TOPOLOGY, EvaluationPoint(float(t), q, u, z))
    rates = [np.asarray(x, dtype=float) for x in (middle.q_dot, middle.u_dot, middle.z_dot)]
    h = 1e-5
    ends = [
        Snapshot(TOPOLOGY, EvaluationPoint(float(t) + s, q + s * rates[0], u + s * rates[1], z + s * rates[2]))
        for s in (-h, h)
    ]
    return ends[0], middle, ends[1], 2.0 * h


def plain(x):
    return np.asarray(x, dtype=float)


@given(st.integers(0, 2**16))
@settings(max_examples=10)
def test_rates_are_those_of_poses(seed):
    """Central differences along the tangent of the motion: first rates of what depends on q and u are exact to h^2."""
    before, now, after, step = along_the_motion(seed)
    for name in SYSTEM.frames:
        frame = SYSTEM.find_frame(name)
        poses = [s.pose(frame) for s in (before, now, after)]
        R_dot = (plain(poses[2].R) - plain(poses[0].R)) / step
        w = plain(now.velocity(frame)[0])
        scale = 1.0 + np.abs(w).max()
        assert rotation_rate(R_dot, plain(poses[1].R)) == pytest.approx(w, abs=2e-5 * scale**3), name
        if name not in ("wind", "path", "camera"):
            speeds = [s.velocity(frame) for s in (before, after)]
            eps, a = (plain(x) for x in now.acceleration(frame))
            changes = [(plain(speeds[1][k]) - plain(speeds[0][k])) / step for k in (0, 1)]
            assert changes[0] == pytest.approx(eps, abs=2e-5 * scale**4), name
            assert changes[1] == pytest.approx(a, abs=2e-5 * scale**3), name
        assert plain(poses[1].R.T @ poses[1].R) == pytest.approx(np.eye(3), abs=1e-12)


def test_axes_are_where_the_rule_says():
    run = kn.simulate(SYSTEM, 0.02, samples=5)
    v = run["system.momentum"] / 6.0
    assert run["wind.velocity@wind"] == pytest.approx(
        np.column_stack([np.linalg.norm(v, axis=1), np.zeros((5, 2))]), abs=1e-12
    )
    assert run["wind.rotation"][:, 2, 1] == pytest.approx(np.zeros(5), abs=1e-14)  # y of the frame is level
    assert (run["wind.rotation"][:, 2, 2] > 0).all()
    assert run["middle.position"] == pytest.approx(run["system.com"])
    assert run["own.position"] == pytest.approx(run["shell.com.position"])
    assert run.position("member", relative_to="link")[:, 1:] == pytest.approx(np.zeros((5, 2)), abs=1e-14)
    across = np.einsum("tij,tj->ti", run["shell.rotation"].transpose(0, 2, 1), run["link.rotation"][:, :, 1])
    assert across[:, 1] == pytest.approx(np.zeros(5), abs=1e-14)  # at right angles to y of the shell


def test_loads_may_be_given_along_the_velocity():
    """Drag along the velocity of a point mass takes its energy at the rate of force times speed."""
    system = kn.System("drop", gravity=(0, 0, -9.81))
    ball = system.body("ball", mass=2.0, inertia=(1, 1, 1))
    system.free("free", system.world, ball, velocity=(3, 1, 4))
    system.frame("wind", "velocity")
    system.force("drag", ball, ("-0.4*ball.velocity.x@wind^2", 0, 0), expressed_in="wind")
    run = kn.simulate(system, 1.0, samples=5)
    speed = np.linalg.norm(run["ball.velocity"], axis=1)
    assert run["drag.power"] == pytest.approx(-0.4 * speed**3)
    assert kn.verify(system, 1).ok


def test_balances_about_them_close_where_their_angular_acceleration_is_known():
    run = kn.simulate(SYSTEM, 0.02, samples=3)
    for frame in ("own", "link"):
        assert max(run.balance(of, frame).residual for of in ("system", "member")) < 1e-11
    for frame in ("wind", "camera"):
        with pytest.raises(kn.Error, match="balance: wind follows a velocity: its angular acceleration needs the jerk"):
            run.balance("system", frame)
    assert "wind follows a velocity" in " ".join(kn.equations(SYSTEM, frame="wind").text().split())
    assert "it does not turn" in kn.equations(SYSTEM, frame="middle").text()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wind.angular_acceleration", "wind follows a velocity: its angular acceleration needs the jerk"),
        ("camera.acceleration", "camera stands on wind, which follows a velocity"),
    ],
)
def test_what_needs_the_jerk_is_refused_by_name(name, words):
    run = kn.simulate(SYSTEM, 0.01, samples=2)
    with pytest.raises(kn.Error, match=words):
        run[name]
    with pytest.raises(kn.Error, match="wind follows a velocity, and has no pose by positions alone"):
        run.dynamics.pose("wind", 0.0, run.q[0])
    system = pair()
    system.force("late", "shell", ("wind.angular_velocity.x", 0, 0))
    with pytest.raises(kn.Error, match=r"wind\.angular_velocity"):
        kn.compile(system)


def pendulum():
    system = kn.System("pendulum")
    bar = system.body("bar", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("pivot", system.world, bar, axis="y", q=0.3)
    system.frame("wind", "velocity")
    system.frame("line", "line", start=bar, end=system.world)
    system.frame("up", "line", start=system.world, end=system.world.at(0, 0, 1))
    system.frame("plane", "fixed_plane", on=system.world.at(0, 0, 0, rpy=(0, "-90 deg", 0)), axis="x", upright="z")
    return system


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wind.rotation", "wind: at t = 0 s the mass center does not move: there are no axes along its velocity"),
        ("bar.com.position@wind", "wind: at t = 0 s the mass center does not move"),
        ("line.quaternion", "line: at t = 0 s bar and world are in one place: no line goes from one to the other"),
        ("up.rotation", "up: at t = 0 s its first axis points along the upright axis z"),
    ],
)
def test_where_there_is_no_such_frame_the_error_has_the_time(name, words):
    run = kn.simulate(pendulum(), 0.1, samples=3)
    with pytest.raises(kn.Error, match=words):
        run[name]


def test_reactions_and_balances_in_axes_that_do_not_exist():
    run = kn.simulate(pendulum(), 0.1, samples=3)
    with pytest.raises(kn.Error, match="wind: at t = 0 s the mass center does not move"):
        run.reaction("pivot", expressed_in="wind")
    with pytest.raises(kn.Error, match="line: at t = 0 s bar and world are in one place"):
        run.balance("bar", about="line")


def test_a_run_that_loses_its_axes_says_which_and_when():
    system = kn.System("toss", gravity=(0, 0, 0))
    ball = system.body("ball", mass=1.0, inertia=(1, 1, 1))
    system.free("free", system.world, ball)
    system.frame("wind", "velocity")
    system.force("lift", ball, (0, 1, 0), expressed_in="wind")
    with pytest.raises(kn.SimulationError, match="wind: the mass center does not move"):
        kn.simulate(system, 1.0)


def test_files_and_subsystems_keep_them():
    again = loads(dumps(SYSTEM))
    assert again.frames == SYSTEM.frames
    whole = kn.System("whole")
    whole.add("one", SYSTEM, on=whole.world.at(0, 0, 1))
    other = whole.body("other", mass=100.0, inertia=(1, 1, 1))
    whole.free("apart", whole.world, other, position=(50, 0, 0))
    run = kn.simulate(whole, 0.01, samples=2)
    assert run["one.middle.position"][0] == pytest.approx(
        (4.0 * run["one.shell.com.position"][0] + 2.0 * run["one.member.com.position"][0]) / 6.0
    )
    assert whole.frames["one.path"].point.body == "one.shell"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "line", "start": "shell"}, "x.end: a line needs the places of its start and end"),
        ({"kind": "line", "start": "shell", "end": "shell"}, "x.end: starts and ends at shell"),
        ({"kind": "mass_center", "of": ["shel"]}, "x.of: no body or frame is called 'shel'"),
        ({"kind": "mass_center", "of": ["shell.nose"]}, "x.of: is a list of bodies, not of places such as shell.nose"),
        ({"kind": "velocity", "point": "shell", "of": "shell"}, "x.point: give point or of, not both"),
        ({"kind": "velocity", "upright": "up"}, "x.upright"),
        ({"kind": "speed"}, "no frame is called 'speed'"),
    ],
)
def test_wrong_fields_are_refused(fields, words):
    with pytest.raises(kn.ModelError, match=words):
        SYSTEM.copy().frame("x", **fields)
