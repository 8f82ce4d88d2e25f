"""Events that are easily missed or met twice: forces while all is at rest, moments within a step.

Each is compared with a solution from event to event of its own.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import kinode as kn

G, M = 9.81, 2.0


def block(**fields):
    """A block of 2 kg on a level rail."""
    system = kn.System("block", gravity=(0, 0, -G))
    system.prismatic("rail", system.world, system.body("block", mass=M, inertia=(1, 1, 1)), axis="x", **fields)
    return system


def _speed(amplitude, w, drag, begins, t):
    """Of what began to slide from rest."""
    return (amplitude / w * (np.cos(w * begins) - np.cos(w * t)) - drag * (t - begins)) / M


def shaken(amplitude, w, limit, until):
    """Times at which a block that is shaken by a sine begins to slide and to stick, and where it ends."""
    t, x, times = 0.0, 0.0, []
    while True:
        grid = np.linspace(t, until, max(2, int((until - t) * w * 100)))
        beyond = np.flatnonzero(abs(amplitude * np.sin(w * grid)) > limit * (1 + 1e-12))
        if not len(beyond):
            return times, x
        k = int(beyond[0])
        over = lambda at: abs(amplitude * np.sin(w * at)) - limit  # noqa: E731
        begins = float(grid[k]) if k == 0 else brentq(over, grid[k - 1], grid[k], xtol=1e-14)
        way = np.sign(np.sin(w * grid[k]))
        speed = partial(_speed, amplitude, w, way * limit, begins)
        later = begins + np.linspace(1e-4, 2 * np.pi / w, 4000)
        back = int(np.flatnonzero(way * speed(later) < 0)[0])
        ends = brentq(speed, later[back - 1], later[back], xtol=1e-14)
        if begins > until:
            return times, x
        times.append(begins)
        d = min(ends, until) - begins
        moved = amplitude / w * (np.cos(w * begins) * d - (np.sin(w * (begins + d)) - np.sin(w * begins)) / w)
        x += (moved - way * limit * d * d / 2) / M
        if ends > until:
            return times, x
        times.append(ends)
        t = ends


@pytest.mark.parametrize(
    "how", [{}, {"method": "dop853"}, {"method": "rk4", "step": 0.02}, {"method": "stiff", "rtol": 1e-8, "atol": 1e-11}]
)
@pytest.mark.parametrize("amplitude", [6.1, 8.0])
def test_forces_are_seen_while_everything_is_at_rest(how, amplitude):
    """A state at rest has no error that asks for short steps; what pulls exceeds the limit for moments alone."""
    times, x = shaken(amplitude, 7.0, 0.3 * M * G, 20.0)
    run = kn.simulate(block(friction=kn.coulomb(0.3), effort=f"{amplitude}*sin(7*t)"), 20.0, **how)
    assert len(times) > 80
    found = [e.time for e in run.events]
    assert len(found) == len(times)
    np.testing.assert_allclose(found, times, atol=2e-4 if how.get("method") == "rk4" else 1e-5)
    assert run["rail.q"][-1] == pytest.approx(x, abs=1e-5)


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.floats(1.05, 3.0), st.floats(2.0, 60.0), st.sampled_from(["dopri5", "stiff"]))
def test_however_it_is_shaken(share, w, method):
    limit = 0.2 * M * G
    times, _ = shaken(share * limit, w, limit, 3.0)
    system = block(friction=kn.coulomb(0.2), effort="pull*sin(rate*t)")
    system.parameter("pull", share * limit)
    system.parameter("rate", w)
    run = kn.simulate(system, 3.0, method=method, rtol=1e-8, atol=1e-11)
    long = [k for k in range(1, len(times)) if times[k] - times[k - 1] > 1e-6]
    if len(long) + 1 >= len(times):  # turning without a rest is one event
        np.testing.assert_allclose([e.time for e in run.events], times, atol=1e-5)
    else:
        assert len(run.events) >= len(long)


def test_a_root_that_is_negative_for_a_moment_within_a_step_is_seen():
    """A swing that comes to its stop by the last part of its way: for 0.06 s, in steps of 0.1 s."""
    w = np.sqrt(50 / M)
    system = block(q=-1.0, stiffness=50.0, stop={"upper": 0.99, "restitution": 0.5})
    first = [kn.simulate(system, 1.0, method="rk4", step=step).events[0].time for step in (0.11, 0.1, 0.09, 0.08)]
    np.testing.assert_allclose(first, np.arccos(-0.99) / w, atol=2e-2)


def test_a_swing_with_stops_and_friction_against_another_integrator():
    """Restitution and Coulomb's friction together, from event to event by SciPy."""
    k, mu, e, upper = 80.0, 0.1, 0.6, 0.2
    run = kn.simulate(
        block(q=-0.5, stiffness=k, friction=kn.coulomb(mu), stop={"upper": upper, "restitution": e}), 6.0,
        rtol=1e-10, atol=1e-12,
    )  # fmt: skip
    t, y, way, met = 0.0, [-0.5, 0.0], 1.0, []
    while True:
        rate = lambda t, y, s=way: [y[1], (-k * y[0] - s * mu * M * G) / M]  # noqa: E731
        turns, hits = (lambda t, y, s=way, t0=t: s * y[1] + 1e-9 * (t == t0)), (lambda t, y: y[0] - upper)
        turns.terminal = hits.terminal = True
        turns.direction, hits.direction = -1, 1
        found = solve_ivp(rate, (t, 6.0), y, events=[turns, hits], rtol=1e-11, atol=1e-13, max_step=0.02)
        t, y = float(found.t[-1]), list(found.y[:, -1])
        if found.status == 0:
            break
        met.append(t)
        if len(found.t_events[1]):
            y, way = [upper, -e * y[1]], -1.0
        elif abs(k * y[0]) <= mu * M * G:
            break
        else:
            y, way = [y[0], 0.0], -np.sign(y[0])
    times = np.unique([event.time for event in run.events])
    np.testing.assert_allclose(times, met, atol=1e-8)
    assert run["rail.q"][-1] == pytest.approx(y[0], abs=1e-8)
    assert np.diff(run["system.energy"]).max() < 1e-9
