"""Friction that sticks, stops, play: against closed forms.

Sources: Coulomb's oscillator and pendulum, the block on a belt and the bouncing ball are in every textbook of
vibrations (e.g. Magnus and Popp, Schwingungen); the formulas used are written out in each test.
"""

from __future__ import annotations

import numpy as np
import pytest
from happenings import began
from hypothesis import given
from hypothesis import strategies as st

import kinode as kn

G = 9.81


def turned(run, component):
    """When a component came to rest, for a moment or for good."""
    return np.array([e.time for e in run.events if component in e.components and e.was.startswith("slides")])


def block(**fields):
    """A block of 2 kg on a level rail along x."""
    system = kn.System("block", gravity=(0, 0, -G))
    system.prismatic("rail", system.world, system.body("block", mass=2, inertia=(1, 1, 1)), axis="x", **fields)
    return system


# -- sticking --------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["dopri5", "rk4", "stiff"])
def test_a_block_on_a_belt_sticks_and_slips_with_the_period_of_the_textbook(method):
    """With d = (mu_s - mu) m g / k and w = sqrt(k/m): T = 2 d / v + 2 (pi - atan(w d / v)) / w."""
    m, k, v, mu_s, mu = 1.0, 100.0, 0.1, 0.4, 0.2
    system = kn.System("belt", gravity=(0, 0, -G))
    belt = system.body("belt", mass=1, inertia=(1, 1, 1))
    system.prismatic("drive", system.world, belt, axis="x", speed=v)
    load = system.body("load", mass=m, inertia=(0.1, 0.1, 0.1))
    system.prismatic("rub", belt, load, axis="x", friction=kn.coulomb(mu, static_coefficient=mu_s))
    system.spring("spring", system.world, load, stiffness=k)
    how = {
        "rk4": {"step": 1e-3},
        "stiff": {"rtol": 1e-11, "atol": 1e-13},
        "dopri5": {"rtol": 1e-11, "atol": 1e-13},
    }
    run = kn.simulate(system, 5.0, method=method, **how[method])
    d, w = (mu_s - mu) * m * G / k, np.sqrt(k / m)
    period = 2 * d / v + 2 * (np.pi - np.arctan2(d * w, v)) / w
    starts = began(run, "rub", "slides back")
    assert len(starts) == 6
    np.testing.assert_allclose(np.diff(starts), period, rtol={"dopri5": 1e-9, "rk4": 1e-7, "stiff": 1e-9}[method])
    stuck = run["rub.friction.mode"] == 0
    assert stuck.any() and not run["rub.u"][stuck].any()


def test_an_oscillator_with_coulomb_friction_loses_the_same_at_each_turn_and_stops_where_it_should():
    """Each half swing lasts pi/w and loses 2 f, f = mu m g / k; it stops at the first turn within f of the middle."""
    mu, k, x0 = 0.1, 50.0, 0.5
    system = block(q=x0, friction=kn.coulomb(mu), stiffness=k)
    run = kn.simulate(system, 5.0, rtol=1e-10, atol=1e-12)
    f, half = mu * 2 * G / k, np.pi / np.sqrt(k / 2)
    turns = [x0]
    while abs(turns[-1]) > f:
        turns.append(-(abs(turns[-1]) - 2 * f) * np.sign(turns[-1]))
    stops = turned(run, "rail")
    np.testing.assert_allclose(stops, half * np.arange(1, len(turns)), rtol=1e-9)
    assert run["rail.q"][-1] == pytest.approx(turns[-1], rel=1e-8)
    assert len(np.unique(run["rail.q"][run.t > stops[-1]])) == 1  # not a bit of creep
    assert run["rail.effort.friction"][-1] == pytest.approx(k * turns[-1], rel=1e-8)
    assert run.audit.relative < 1e-8


def test_a_pendulum_with_constant_friction_stops_where_it_can_be_held():
    """Energy at the turns: m g l (cos a - cos b) = M (a + b), while m g l sin(a) > M."""
    from scipy.optimize import brentq

    m, l, M, a0 = 1.5, 0.4, 0.6, 2.0
    system = kn.System("pendulum", gravity=(0, -G, 0))
    bob = system.body("bob", mass=m, com=(0, -l, 0), inertia={"xx": 1e-9, "yy": 1e-9, "zz": 1e-9})
    system.revolute("pivot", system.world, bob, q=a0, friction=kn.coulomb(effort=M))
    run = kn.simulate(system, 10.0, rtol=1e-11, atol=1e-13)
    turns = [a0]
    while m * G * l * np.sin(turns[-1]) > M:
        a = turns[-1]
        turns.append(brentq(lambda b, a=a: m * G * l * (np.cos(b) - np.cos(a)) - M * (a + b), -a + 1e-9, a))
    stops = turned(run, "pivot")
    at = [(-1) ** k * run["pivot.q"][np.searchsorted(run.t, t)] for k, t in enumerate(stops, 1)]
    np.testing.assert_allclose(at, turns[1:], atol=1e-8)
    assert run["pivot.friction.mode"][-1] == 0


@pytest.mark.parametrize("slope, moves", [(0.39, False), (0.41, True)])
def test_a_block_on_an_incline_stays_up_to_the_friction_angle(slope, moves):
    angle = np.arctan(slope)
    system = kn.System("incline", gravity=(0, -G, 0))
    axis = (float(np.cos(angle)), float(np.sin(angle)), 0)
    body = system.body("block", mass=2, inertia=(0.1, 0.1, 0.1))
    system.prismatic("slide", system.world, body, axis=axis, friction=kn.coulomb(0.3, static_coefficient=0.4))
    run = kn.simulate(system, 1.0)
    expected = -0.5 * G * (np.sin(angle) - 0.3 * np.cos(angle)) if moves else 0.0
    assert run["slide.q"][-1] == pytest.approx(expected, rel=1e-9)


def test_stribeck_friction_falls_with_the_speed():
    """u_dot = -(mu + (mu_s - mu) exp(-(u/v)^2)) g."""
    from scipy.integrate import solve_ivp

    mu, mu_s, v = 0.1, 0.3, 0.2
    run = kn.simulate(
        block(u=1.0, friction=kn.coulomb(mu, static_coefficient=mu_s, stribeck_speed=v)), 2.0, rtol=1e-10, atol=1e-12
    )
    law = lambda t, u: -(mu + (mu_s - mu) * np.exp(-((u / v) ** 2))) * G  # noqa: E731
    ends = solve_ivp(law, (0, 2), [1.0], rtol=1e-11, atol=1e-13, events=[_stops])
    assert began(run, "rail", "sticks") == pytest.approx(ends.t_events[0], rel=1e-8)


def _stops(t, u):
    return u[0]


_stops.terminal = True


def test_nothing_drifts_while_it_sticks():
    """A million steps of a swinging load below the friction's limit."""
    system = block(friction=kn.coulomb(0.3), effort="5*sin(7*t)")
    run = kn.simulate(system, 1000.0, method="rk4", step=1e-3, samples=11)
    assert not run["rail.q"].any() and not run["rail.u"].any()


# -- ends of a range -------------------------------------------------------------------------------
def test_a_bouncing_ball_comes_to_rest_after_the_sum_of_its_flights():
    """Dropped from h: t = sqrt(2 h / g) (1 + e) / (1 - e)."""
    h, e = 0.7, 0.6
    system = kn.System("ball", gravity=(0, 0, -G))
    ball = system.body("ball", mass=0.3, inertia=(1e-3, 1e-3, 1e-3))
    system.prismatic("flight", system.world, ball, axis="z", q=h, stop={"lower": 0, "restitution": e})
    run = kn.simulate(system, 4.0, rtol=1e-10, atol=1e-14)
    hits = began(run, "flight", "meets its lower end")
    flights = np.sqrt(2 * h / G) * (1 + 2 * np.cumsum([0, *(e ** np.arange(1, 15))]))
    np.testing.assert_allclose(hits[:15], flights, rtol=1e-8)
    assert hits[-1] == pytest.approx(np.sqrt(2 * h / G) * (1 + e) / (1 - e), abs=1e-5)
    assert run["flight.stop.mode"][-1] == -1
    assert run["flight.effort.stop"][-1] == pytest.approx(0.3 * G, rel=1e-12)
    assert abs(run["flight.q"][-1]) < 1e-11
    assert len(np.unique(run["flight.q"][run.t > hits[-1]])) == 1


@pytest.mark.parametrize("rigid", [True, False])
def test_a_free_mass_in_play_goes_to_and_fro_with_the_period_of_the_textbook(rigid):
    """Rigid flanks: 2 play / v; compliant ones keep the mass for pi sqrt(m/k) each."""
    play, v, k = 0.02, 0.3, 2e4
    flanks = {"restitution": 1.0} if rigid else {"stiffness": k}
    run = kn.simulate(block(u=v, backlash={"play": play, **flanks}), 2.0, rtol=1e-11, atol=1e-14)
    period = 2 * play / v + (0 if rigid else 2 * np.pi * np.sqrt(2 / k))
    hits = began(run, "rail", "meets its upper flank")
    np.testing.assert_allclose(np.diff(hits), period, rtol=1e-8)
    free = run["rail.stop.mode"] == 0
    np.testing.assert_allclose(abs(run["rail.u"][free]), v, rtol=1e-8)


def test_damped_flanks_push_and_never_pull():
    """The contact ends where the force does, before the flank is back: the return speed is that of the closed form."""
    k, c, v, m = 1e4, 60.0, 0.5, 2.0
    run = kn.simulate(block(u=v, stop={"upper": 0, "stiffness": k, "damping": c}), 0.2, rtol=1e-11, atol=1e-14)
    w0, D = np.sqrt(k / m), c / (2 * np.sqrt(k * m))
    wd = w0 * np.sqrt(1 - D * D)
    end = (2 / wd) * np.arctan2(np.sqrt(1 - D * D), D)  # k x + c x' = 0 with x = v/wd exp(-D w0 t) sin(wd t)
    speed = v * np.exp(-D * w0 * end) * (np.cos(wd * end) - D * w0 / wd * np.sin(wd * end))
    free = began(run, "rail", "is free")
    assert free[-1] == pytest.approx(end, rel=1e-8)
    assert run["rail.u"][-1] == pytest.approx(speed, rel=1e-8)
    assert run["rail.effort.stop"].max() < 1e-9


# -- several joints at once ------------------------------------------------------------------------
def arm(n=6, friction=None, **more):
    """A chain of hinges in all directions."""
    system = kn.System("arm", gravity=(0, 0, -G))
    last = system.world
    for k in range(n):
        m = 4.0 / (k + 1)
        body = system.body(f"link{k}", mass=m, com=(0.15, 0.01, 0.02), inertia=(0.02 * m, 0.03 * m, 0.025 * m))
        system.revolute(f"axis{k}", last, body, axis="zyyxyx"[k % 6], friction=friction(k) if friction else None,
                        **{name: value(k) for name, value in more.items()})  # fmt: skip
        last = body.at(0.3, 0, 0.05)
    return system


LIMITS = np.array([6.0, 14.0, 5.0, 0.5, 0.7, 0.02])


def test_coupled_friction_is_the_solution_of_a_quadratic_program():
    """At rest the efforts h within their limits are those of the least (f + h)' M^-1 (f + h) (Gauss, Moreau).

    Solved independently by bounded least squares; moving joints have their full friction.
    """
    from scipy.optimize import lsq_linear

    dynamics = kn.compile(arm(friction=lambda k: kn.coulomb(effort=float(LIMITS[k]))))
    rng = np.random.default_rng(7)
    count, worst = np.zeros(7, dtype=int), 0.0
    for _ in range(1000):
        q, u = rng.uniform(-3, 3, 6), rng.normal(size=6) * (rng.uniform(size=6) < 0.3)
        M, f = dynamics.mass_matrix(0.0, q), -dynamics.bias(0.0, q, u) - np.sign(u) * LIMITS
        rest = u == 0
        C = np.linalg.inv(np.linalg.cholesky(M))
        found = dynamics.acceleration(0.0, q, u)
        h = np.zeros(6)
        if rest.any():
            bounds = (-LIMITS[rest], LIMITS[rest])
            h[rest] = lsq_linear(C[:, rest], -C @ f, bounds, method="bvls", tol=1e-15, max_iter=200).x
        a = np.linalg.solve(M, f + h)
        worst = max(worst, abs(found - a).max() / (1 + abs(a).max()))
        count[int(np.sum(found[rest] == 0))] += 1
    assert worst < 1e-9
    assert (count > 0).sum() >= 5  # none, some and most of them stick


def test_events_of_an_arm_do_not_depend_on_the_tolerance():
    friction = lambda k: kn.coulomb(effort=float(LIMITS[k]), static_effort=1.3 * float(LIMITS[k]), stribeck_speed=0.1)  # noqa: E731
    laws = lambda k: f"{2.5 * LIMITS[k]}*sin({1.1 + 0.37 * k}*t + {k})"  # noqa: E731
    system = arm(friction=friction, effort=laws, damping=lambda k: 0.3 * float(LIMITS[k]))
    dynamics = kn.compile(system)
    lists = []
    for rtol in (1e-5, 1e-7, 1e-9, 1e-11):
        run = kn.simulate(dynamics, 5.0, rtol=rtol, atol=rtol * 1e-2)
        lists.append([(e.components[0], e.was, e.becomes) for e in run.events])
        last = [e.time for e in run.events]
        assert run.audit.relative < 100 * rtol
    assert len(lists[0]) > 20
    assert all(events == lists[0] for events in lists)
    assert len({name for name, _, _ in lists[0]}) == 6
    assert (np.diff(last) >= 0).all()


# -- impacts ---------------------------------------------------------------------------------------
def test_an_impact_goes_through_the_whole_mechanism():
    """Impulse-momentum with the rest of the arm free: u+ = u- + M^-1 e p, u_j+ = -e u_j-, in a dense solution."""
    system = arm(n=4)
    system.change("axis2", stop={"upper": 0.3, "restitution": 0.4})
    dynamics = kn.compile(system)
    run = kn.simulate(dynamics, 1.0, start={"axis2.u": 2.0, "axis0.u": 0.5, "axis1.u": -0.3}, rtol=1e-9, atol=1e-12)
    (hit,) = began(run, "axis2", "meets its upper end")[:1]
    k = int(np.flatnonzero(run.t == hit)[0])
    before, after = (np.array([run[f"axis{j}.u"][i] for j in range(4)]) for i in (k, k + 1))
    assert run.t[k + 1] == hit
    M = dynamics.mass_matrix(hit, [run[f"axis{j}.q"][k] for j in range(4)])
    e = np.eye(4)[2]
    p = -1.4 * before[2] / (e @ np.linalg.solve(M, e))
    np.testing.assert_allclose(after, before + np.linalg.solve(M, e) * p, rtol=1e-9)
    lost = 0.5 * before @ M @ before - 0.5 * after @ M @ after
    assert lost == pytest.approx(0.5 * before[2] ** 2 * (1 - 0.4**2) / (e @ np.linalg.solve(M, e)), rel=1e-8)


def slider_crank(**bore):
    system = kn.System("slider_crank", gravity=(0, -G, 0))
    crank = system.body("crank", mass=0.4, com=(0.015, 0, 0), inertia=(2e-4, 2e-4, 4e-4))
    rod = system.body("rod", mass=0.3, com=(0.06, 0, 0), inertia=(1e-5, 3e-4, 3e-4))
    piston = system.body("piston", mass=0.25, com=(0.13, 0, 0), inertia=(1e-4, 1e-4, 1e-4))
    system.revolute("main", system.world, crank, q=0.4, u=-8)
    system.revolute("crankpin", crank, rod, at=(0.03, 0, 0))
    system.prismatic("bore", system.world, piston, at=(0.13, 0, 0), axis="x", **bore)
    system.revolute("wristpin", rod, piston, at=(0.13, 0, 0))
    return system


@pytest.mark.parametrize("restitution", [0.0, 0.7])
def test_an_impact_goes_through_a_loop(restitution):
    """One freedom: the crank's speed is turned by the restitution alone, since piston and crank move together."""
    run = kn.simulate(slider_crank(stop={"upper": -0.001, "restitution": restitution}), 0.1, rtol=1e-9, atol=1e-12)
    hit = began(run, "bore", "meets its upper end")[0]
    k = int(np.flatnonzero(run.t == hit)[0])
    for name in ("main", "crankpin", "bore"):
        assert run[f"{name}.u"][k + 1] == pytest.approx(-restitution * run[f"{name}.u"][k], rel=1e-7, abs=1e-7)
    assert run["system.energy"][-1] <= run["system.energy"][0] * (1 + 1e-9) + 1e-9
    assert np.linalg.norm([run["wristpin.parent.position"] - run["wristpin.child.position"]]) < 1e-6


def test_what_rests_on_its_stop_is_thrown_up_by_an_impact_and_not_held_down():
    """A lever: its arm rests on a stop, and is struck so that it turns away from it."""
    system = kn.System("two", gravity=(0, -G, 0))
    low = system.body("low", mass=1, com=(0, 0, 0), inertia=(1, 1, 1))
    high = system.body("high", mass=1, com=(0, 0, 0), inertia=(1, 1, 1))
    system.prismatic("base", system.world, low, axis="y", q=0, stop={"lower": 0, "restitution": 0})
    system.prismatic("hop", low, high, axis="y", q=0.05, u=3.0, stop={"upper": 0.1, "restitution": 0.5})
    run = kn.simulate(system, 0.2, rtol=1e-9, atol=1e-12)
    assert run["base.stop.mode"][0] == -1
    hit = began(run, "hop", "meets its upper end")[0]
    k = int(np.flatnonzero(run.t == hit)[0])
    v = run["hop.u"][k]
    # the upper mass pulls the lower one along: momentum m v is shared, the relative speed turns
    assert run["base.u"][k + 1] == pytest.approx(0.75 * v, rel=1e-8)
    assert run["hop.u"][k + 1] == pytest.approx(-0.5 * v, rel=1e-8)
    assert began(run, "base", "is free")[0] == hit


# -- all sorts of mechanisms -----------------------------------------------------------------------
def drawn_mechanism(seed):
    """A tree, sometimes with a loop, with friction, play and stops in many of its joints."""
    rng = np.random.default_rng(seed)
    system = kn.System("drawn", gravity=tuple(rng.normal(size=3) * 5))
    bodies = [system.world]
    for k in range(int(rng.integers(1, 5))):
        m = float(rng.uniform(0.2, 3))
        body = system.body(
            f"b{k}", mass=m, com=tuple(rng.uniform(-0.2, 0.2, 3)), inertia=(0.02 * m, 0.03 * m, 0.025 * m)
        )
        kind = ("revolute", "prismatic", "screw")[int(rng.choice(3, p=[0.55, 0.35, 0.1]))]
        fields = {"lead": 0.1} if kind == "screw" else {}
        fields |= {"u": float(rng.normal()) if rng.uniform() < 0.7 else 0.0, "axis": tuple(rng.normal(size=3))}
        if rng.uniform() < 0.7:
            loads = {"revolute": {"radius": 0.01}, "screw": {"radius": 0.02}, "prismatic": {}}[kind]
            fields["friction"] = kn.coulomb(
                float(rng.uniform(0, 0.3)), effort=float(rng.uniform(0.01, 2)), static_effort=float(rng.uniform(2, 3)),
                **loads, **({"stribeck_speed": 0.05} if rng.uniform() < 0.5 else {}),
            )  # fmt: skip
        ends = (
            {"restitution": float(rng.uniform(0, 1))}
            if rng.uniform() < 0.5
            else {"stiffness": 2e3, "damping": float(rng.uniform(0, 20))}
        )
        if rng.uniform() < 0.4:
            fields["stop"] = {"lower": -float(rng.uniform(0, 0.3)), "upper": float(rng.uniform(0.01, 0.3)), **ends}
        elif rng.uniform() < 0.3:
            fields["backlash"] = {"play": float(rng.uniform(0, 0.1)), **ends}
        elif rng.uniform() < 0.3:
            fields["stiffness"] = 20.0
        on = bodies[int(rng.integers(len(bodies)))]
        system.joint(f"j{k}", kind, on.at(*rng.uniform(-0.3, 0.3, 3)), body, **fields)
        bodies.append(body)
    if len(bodies) > 3 and rng.uniform() < 0.3:
        a, b = bodies[-1].at(0.1, 0, 0), system.world.at(0.5, 0.2, 0.1)
        there = kn.compile(system)
        ends = [np.asarray(there.snapshot(there.initial).pose(x).p, dtype=float) for x in (a, b)]
        for name in system.joints:
            system.change(name, u=None)
        system.constraint("rod", "distance", a=a, b=b, distance=float(np.linalg.norm(ends[0] - ends[1])))
    return system


@given(st.integers(0, 10**9))
def test_every_mechanism_finishes_or_says_why_not_and_gains_no_energy(seed):
    system = drawn_mechanism(seed)
    try:
        run = kn.simulate(system, 1.0, rtol=1e-6, atol=1e-9)
    except kn.SimulationError as error:
        assert any(name in str(error) for name in system.joints), str(error)
        run = error.run
        if run is None or not len(run):  # nothing can begin
            return
    assert all(np.isfinite(run[f"{name}.{x}"]).all() for name in system.joints for x in "qu")
    energy = run["system.energy"].copy()
    for name, joint in system.joints.items():
        if joint.ends is not None and not joint.ends.rigid:
            depth = run[f"{name}.q"] - np.clip(run[f"{name}.q"], *(float(x) for x in bounds_of(joint)))
            energy += 0.5 * 2e3 * depth**2
    scale = 1 + abs(energy).max()  # what a step may be off by, 1e-6 of a speed, a hundred times over
    assert np.diff(energy).max(initial=0.0) < 1e-4 * scale
    assert run.audit.largest < 1e-4 * scale


def bounds_of(joint):
    from kinode.model.joints.end_stops import bounds

    return bounds(joint, float)
