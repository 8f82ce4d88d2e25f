"""Balances about moving frames over a run: they close on every kind of system, their terms are what they say."""

from __future__ import annotations

import numpy as np
import pytest
from constraint_contract import ConstraintExample, two_arms
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import build, plans

import kinode as kn
from kinode.formulations.free_flight import FreeFlight
from kinode.tasks.verify import random_state
from kinode.views.plots.load_plots import plot_balance

# Accelerations and reactions come from different sweeps of the recursion; what is left are sums of products of them.
ROUNDING = 1e-10


def with_frames(system, body):
    """The system, seen from frames of all kinds that need no velocity of their own."""
    system.frame("calm", "nonrolling", on=body, axis=(1, 2, -1), roll=0.3)
    system.frame("guest", "moving", on=body, position=("0.2*t", 0.1, "sin(t)"), rpy=("t", "0.2*t", 0.3))
    system.frame("train", "inertial", velocity=(3, -1, 2))
    return system


def at_random(system, rng, count=2):
    """A run that holds random states."""
    dynamics = kn.compile(system)
    states = [random_state(dynamics.topology, rng) for _ in range(count)]
    y = [np.concatenate([np.asarray(x, dtype=float) for x in state[1:4]]) for state in states]
    return kn.Trajectory(dynamics, [float(state[0]) for state in states], y)


@given(plans(most=3), st.sampled_from(["calm", "guest", "train", "body0"]), st.integers(0, 2**16))
@settings(max_examples=5)
def test_balances_close_on_random_trees(plan, frame, seed):
    system = with_frames(build(plan), "body0")
    run = at_random(system, np.random.default_rng(seed))
    for of in ("system", *system.bodies):
        assert run.balance(of, frame).residual < ROUNDING, (of, frame)


def test_constraints_are_among_what_acts():
    tie = ConstraintExample("distance", lambda one, two: {"a": one, "b": two, "distance": 0.7})
    run = kn.simulate(two_arms(tie), 0.01, samples=2)
    balance = run.balance("d", "b")
    assert balance.residual < ROUNDING
    assert np.abs(balance["tie"][0]).max() > 0.1


def test_teeth_push_the_wheels_and_their_effort_is_counted_once():
    system = kn.System("train", gravity=(1, -2, -9))
    base = system.body("base", mass=2, com=(0.1, 0.2, 0.05), inertia=(0.3, 0.4, 0.5))
    system.revolute("root", system.world, base, axis=(1, 2, 0.5), q=0.3, u=1.0)
    for name, x in (("a", 0.1), ("b", 0.3)):
        wheel = system.body(name, mass=1, com=(0.02, 0.01, 0.3), inertia=(0.1, 0.1, 0.15))
        load = {"effort": "3*sin(5*t) + 1"} if name == "a" else {"damping": 0.5}
        system.revolute(f"j{name}", base.at(x, 0.05, 0, rpy=(0.4, 0.1, 0.7)), wheel, **load)
    system.constraint("mesh", "gear", input="ja", output="jb", ratio=-2.3, pressure_angle="20 deg")
    run = kn.simulate(system, 0.05, samples=3)
    assert max(run.balance(of, "a").residual for of in ("system", "base", "a", "b")) < ROUNDING
    force, _ = run.balance("b", "a")["mesh"]
    assert np.abs(force).max() > 0.1
    assert force == pytest.approx(run["mesh.on.b.force@a"])


def spinning_pair():
    """A spinning body with a member that slides across its axis."""
    system = kn.System("pair", gravity=(0, 0, -9.81))
    shell = system.body("shell", mass=4.0, com=(0, 0.02, 0.01), inertia=(0.5, 4.0, 4.2, -0.03, 0.02, -0.015))
    member = system.body("member", mass=2.0, inertia=(0.01, 0.012, 0.015))
    system.free("flight", system.world, shell, velocity=(20, 2, -1), angular_velocity=(9, 0.4, -0.2))
    system.prismatic("across", shell.at(0.15, 0.05, -0.03), member, axis="y", stiffness=5000, q=0.004, u=0.1)
    system.frame("aero", "nonrolling", on=shell)
    return system


def test_the_sides_are_those_of_the_formulation_free_flight():
    run = kn.simulate(spinning_pair(), 0.02, samples=2)
    dynamics = run.dynamics
    balances = FreeFlight(dynamics.snapshot(dynamics.initial), dynamics.system.find_frame("aero")).balances()
    for of in ("system", "shell", "member"):
        moment, force = balances[of].needed
        balance = run.balance(of, "aero")
        assert balance.motion.force[0] == pytest.approx(np.asarray(force, dtype=float), rel=1e-9, abs=1e-8)
        assert balance.motion.moment[0] == pytest.approx(np.asarray(moment, dtype=float), rel=1e-9, abs=1e-8)


def test_terms_are_what_their_formulas_say():
    run = kn.simulate(spinning_pair(), 0.02, samples=5)
    balance = run.balance("member", "aero")
    assert balance.formulas["Coriolis"] == ("m_j (2 Omega x (r°_j + rho°_j))", "")
    assert balance.formulas["centrifugal, r"] == ("", "m_j (r_j + rho_j) x (Omega x (Omega x r_j))")
    W = run["aero.angular_velocity@aero"]
    v = run.velocity("member", relative_to="aero")
    assert balance.motion.forces["Coriolis"] == pytest.approx(2.0 * 2.0 * np.cross(W, v), abs=1e-12)
    assert balance["weight"][0] == pytest.approx(2.0 * run["system.gravity@aero"])
    # within the system the slide's force cancels
    assert "across" not in run.balance("system", "aero").acting.names
    spring = run.balance("member", "shell")["across"][0]
    assert spring[:, 1] == pytest.approx(-5000 * run["across.q"])


def test_the_table_shows_both_sides_and_the_residual():
    run = kn.simulate(spinning_pair(), 0.02, samples=5)
    text = str(run.balance("system", "aero"))
    lines = text.splitlines()
    assert lines[0] == "system: balance about the origin of aero, in its axes; peaks and rms"
    words = [line.split("  ")[0].strip() or line.strip().split("  ")[0] for line in lines[2:]]
    assert words[0] == "acting"
    assert words[-1] == "residual"
    assert {"weight", "motion", "gyroscopic", "Coriolis, r", "sum"} <= set(words)
    assert all(len(line) <= 80 for line in lines)


def test_a_plot_shows_both_sides(tmp_path):
    balance = kn.simulate(spinning_pair(), 0.02, samples=5).balance("system", "aero")
    figure = balance.plot(of="moment", axis="y", file=tmp_path / "moment.svg")
    assert [len(axes.lines) > 1 for axes in figure.axes] == [True, True]
    assert (tmp_path / "moment.svg").stat().st_size > 1000
    with pytest.raises(kn.Error, match="axis: x, y or z, not 'u'"):
        plot_balance(balance, axis="u")
    with pytest.raises(kn.Error, match="of: force or moment"):
        plot_balance(balance, of="power")


def test_errors_name_the_body_and_the_frame():
    run = kn.simulate(spinning_pair(), 0.02, samples=2)
    with pytest.raises(kn.Error, match="balance: no body is called 'shel'; did you mean shell"):
        run.balance("shel", "aero")
    with pytest.raises(kn.Error, match="no body or frame is called 'areo'; did you mean aero"):
        run.balance("shell", "areo")
    with pytest.raises(kn.Error, match="the balance has no term 'Corioli'; did you mean Coriolis"):
        run.balance("shell", "aero")["Corioli"]
