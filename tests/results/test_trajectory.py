"""What a run answers: names, units, shapes, loads against formulas, motion seen from moving frames."""

import pickle

import numpy as np
import pytest
from run_models import arm, pendulum

import kinode as kn

TIGHT = {"method": "dop853", "rtol": 1e-11, "atol": 1e-12}


@pytest.fixture(scope="module")
def run():
    return kn.simulate(arm(), 2.0, samples=41)


def test_every_name_has_a_value_and_a_unit(run):
    names = run.names()
    assert len(names) == len(set(names))
    values = run.evaluate(names)
    for name in names:
        assert values[name].shape[0] == len(run) == 41
        assert np.isfinite(values[name]).all(), name
        assert isinstance(run.units(name), str)
    assert np.array_equal(run["t"], run.t)


def test_states_are_the_stored_ones(run):
    """By name from memory, and the same by machine code."""
    assert np.array_equal(run["elbow.q"], run.q[:, 0])
    assert np.array_equal(run["elbow.u"], run.u[:, 0])
    assert np.array_equal(run["shoulder.q"], run.z[:, 0])
    again = run.dynamics.evaluate(["elbow.q", "shoulder.q", "L", "push"], **run.arguments)
    for name, values in again.items():
        assert np.array_equal(values, run[name])
    # the integral of the prescribed speed
    assert run["shoulder.q"] == pytest.approx(0.25 * (1 - np.cos(2 * run.t)), abs=1e-8)
    assert run["shoulder.u"] == pytest.approx(0.5 * np.sin(2 * run.t), abs=1e-14)


@pytest.mark.parametrize(("name", "unit"), [
    ("t", "s"), ("elbow.q", "rad"), ("elbow.u", "rad/s"), ("elbow.u_dot", "rad/s^2"), ("elbow.effort", "N*m"),
    ("elbow.effort.spring", "N*m"), ("elbow.reaction.force", "N"), ("elbow.reaction.moment.x", "N*m"),
    ("elbow.power", "W"), ("lower.position", "m"), ("lower.velocity.y@upper", "m/s"), ("lower.rotation", "1"),
    ("lower.rpy", "rad"), ("return.length", "m"), ("return.tension", "N"), ("return.power", "W"), ("wind.force", "N"),
    ("system.energy", "J"), ("system.momentum", "N*s"), ("system.angular_momentum", "N*m*s"), ("L", "m"), ("push", ""),
])  # fmt: skip
def test_units(run, name, unit):
    assert run.units(name) == unit


def test_units_of_mixed_parts():
    system = kn.System("box", gravity=(0, 0, 0))
    system.free("flight", system.world, system.body("box", mass=1.0, inertia=(1, 1, 1)))
    run = kn.simulate(system, 0.1)
    assert run.units("flight.u") == ("m/s",) * 3 + ("rad/s",) * 3
    assert run.units("flight.q.x") == "m"
    assert run.units("flight.q.qw") == "1"


def test_an_unknown_name_gets_a_proposal(run):
    with pytest.raises(kn.LawError, match="did you mean elbow"):
        run["elbo.q"]
    with pytest.raises(kn.ArgumentError, match="name of a quantity"):
        run[3]


def test_one_name_or_many(run):
    (values,) = run.evaluate("elbow.q").values()
    assert np.array_equal(values, run["elbow.q"])
    assert len(repr(run.audit)) < 1000  # no array in it, however long the run


def test_a_run_goes_to_another_process(run):
    again = pickle.loads(pickle.dumps(run))
    assert np.array_equal(again["elbow.reaction.force"], run["elbow.reaction.force"])
    assert (again.status, again.facts) == (run.status, run.facts)


def test_results_cannot_be_changed(run):
    for array in (run.t, run.y, run["elbow.q"], run["lower.position"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_reaction_of_a_pendulum_at_rest():
    run = kn.simulate(pendulum(), 1.0)
    for part, force in (("total", 2 * 9.81), ("static", 2 * 9.81), ("kinetic", 0.0)):
        wrench = run.reaction("pin", part)
        assert wrench.force == pytest.approx(np.tile([0, force, 0], (len(run), 1)), abs=1e-12)
        assert wrench.moment == pytest.approx(0.0 * wrench.force, abs=1e-12)
    assert (wrench.on, wrench.at, wrench.frame) == ("bar", "pin.child", "pin.parent")


def test_reaction_of_a_swinging_pendulum():
    """Force on the bar: m (a - g), a from q, u and q'' = -m g d sin q / (J + m d^2)."""
    m, d, J, g = 2.0, 0.5, 0.05, 9.81
    run = kn.simulate(pendulum(q=2.0, u=1.0), 3.0, **TIGHT)
    q, u = run["pin.q"], run["pin.u"]
    u_dot = -m * g * d * np.sin(q) / (J + m * d**2)
    along, across = np.array([np.sin(q), -np.cos(q)]), np.array([np.cos(q), np.sin(q)])
    inertia = m * d * (u_dot * across - u**2 * along)
    weight = m * np.array([0 * q, g + 0 * q])
    for part, expected in (("total", inertia + weight), ("static", weight), ("kinetic", inertia)):
        force = run.reaction("pin", part).force
        assert force[:, :2] == pytest.approx(expected.T, abs=1e-11)
        assert np.abs(force[:, 2]).max() < 1e-12
    assert run["pin.u_dot"] == pytest.approx(u_dot, abs=1e-10)
    # the same loads on the other body, about another point, in other axes
    other = run.reaction("pin", on="world")
    assert np.array_equal(other.force, -run.reaction("pin").force)
    tip = run.reaction("pin", about="bar.tip", expressed_in="bar")
    total = run.reaction("pin").force
    turned = np.einsum("tji,tj->ti", run["bar.rotation"], total)
    assert tip.force == pytest.approx(turned, abs=1e-12)
    assert tip.moment == pytest.approx(np.cross([0.0, 1.0, 0.0], turned), abs=1e-12)
    assert (tip.at, tip.frame) == ("bar.tip", "bar")
    with pytest.raises(kn.ArgumentError, match="joins world and bar"):
        run.reaction("pin", on="tip")
    with pytest.raises(kn.ArgumentError, match="total, static or kinetic"):
        run.reaction("pin", part="dynamic")


def test_wrench_is_reaction_and_effort():
    run = kn.simulate(pendulum(q=1.0, effort="3*cos(t)"), 2.0, samples=21)
    wrench, reaction = run.wrench("pin"), run.reaction("pin")
    assert wrench.force == pytest.approx(reaction.force, abs=1e-12)
    extra = wrench.moment - reaction.moment
    assert extra == pytest.approx(np.outer(3 * np.cos(run.t), [0, 0, 1]), abs=1e-10)


def test_bearings_of_a_shaft():
    """A weight beside two bearings: the lever's law; an axial load goes to the first."""
    system = kn.System("shaft", gravity=(0, -10.0, -2.0))
    shaft = system.body("shaft", mass=3.0, com=(0, 0, 0.3), inertia=(0.1, 0.1, 0.1))
    system.revolute("spindle", system.world, shaft, axis="z", speed=100.0)
    run = kn.simulate(system, 0.1, samples=5)
    first, second = run.bearings("spindle", at=("0 mm", "200 mm"))
    assert first.force == pytest.approx(np.tile([0, 30 * -0.5, 6.0], (5, 1)), abs=1e-10)
    assert second.force == pytest.approx(np.tile([0, 30 * 1.5, 0.0], (5, 1)), abs=1e-10)
    assert first.radial == pytest.approx(np.full(5, 15.0))
    assert first.axial == pytest.approx(np.full(5, 6.0))
    assert (second.at, second.on) == (0.2, "shaft")


def test_bearings_hold_the_reaction_of_any_axis():
    system = kn.System("tilted", gravity=(1.0, -9.0, 4.0))
    body = system.body("body", mass=2.0, com=(0.3, -0.1, 0.2), inertia=(0.1, 0.2, 0.25))
    system.revolute("pin", system.world, body, axis=(1, 2, -2), u=3.0)
    run = kn.simulate(system, 1.0, samples=11)
    e, z = np.array([1, 2, -2]) / 3, (-0.2, 0.7)
    pair = run.bearings("pin", at=z)
    wrench = run.reaction("pin")
    assert sum(b.force for b in pair) == pytest.approx(wrench.force, abs=1e-12)
    assert sum(np.cross(b.at * e, b.force) for b in pair) == pytest.approx(wrench.moment, abs=1e-12)
    assert np.abs(pair[1].force @ e).max() < 1e-12
    with pytest.raises(kn.ArgumentError, match="two different places"):
        run.bearings("pin", at=(0.1, 0.1))
    with pytest.raises(kn.ArgumentError, match="two places"):
        run.bearings("pin", at=0.1)


def test_motion_seen_from_a_turning_table():
    """A ball that rolls off a turntable in a straight line: at rest in the world, it goes in a circle for the table."""
    system = kn.System("table", gravity=(0, 0, 0))
    table = system.body("table", mass=1.0, inertia=(1, 1, 1))
    ball = system.body("ball", mass=1.0, inertia=(1, 1, 1))
    system.revolute("turn", system.world, table, axis="z", speed=2.0)
    system.free("flight", system.world, ball, position=(1, 0, 0), velocity=(0, 0.5, 0))
    run = kn.simulate(system, 1.0, samples=11, **TIGHT)
    w, v = np.array([0, 0, 2.0]), np.array([0, 0.5, 0])
    r = run["ball.position"]
    turn = np.einsum("tji,tj->ti", run["table.rotation"], np.stack([r, v - np.cross(w, r)], 1)[:, 0])
    assert run.position("ball", relative_to="table") == pytest.approx(turn, abs=1e-12)
    seen = run.velocity("ball", relative_to="table", expressed_in="world")
    assert seen == pytest.approx(v - np.cross(w, r), abs=1e-12)
    # centrifugal and Coriolis, without any force
    felt = -np.cross(w, np.cross(w, r)) - 2 * np.cross(w, seen)
    assert run.acceleration("ball", relative_to="table", expressed_in="world") == pytest.approx(felt, abs=1e-10)
    assert run.angular_velocity("ball", relative_to="table") == pytest.approx(np.tile(-w, (11, 1)), abs=1e-12)


def test_relative_velocity_is_the_rate_of_relative_position(run):
    """By differences of a fine sampling: in the axes of the observer the position's rate is the velocity."""
    fine = kn.simulate(run.dynamics, 1.0, samples=2001, **TIGHT)
    middle = slice(1, -1)
    gap = fine.t[2] - fine.t[0]
    for low, high in (("position", "velocity"), ("velocity", "acceleration")):
        values = getattr(fine, low)("lower.com", relative_to="upper")
        rate = (values[2:] - values[:-2]) / gap
        assert getattr(fine, high)("lower.com", relative_to="upper")[middle] == pytest.approx(rate, abs=2e-4)


def test_end_goes_on(run):
    whole = kn.simulate(run.dynamics, 4.0, **TIGHT)
    half = kn.simulate(run.dynamics, 2.0, **TIGHT)
    rest = kn.simulate(run.dynamics, 4.0, start=half, **TIGHT)
    assert rest.t[0] == 2.0
    assert rest.end.y == pytest.approx(whole.end.y, abs=1e-9)
    again = kn.simulate(run.dynamics, 4.0, start=half.end, **TIGHT)
    assert np.array_equal(again.end.y, rest.end.y)
