"""The heavy symmetric top: steady precession and nutation in closed form (Goldstein, Classical Mechanics, 5.7)."""

import math

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import kinode as kn

TIGHT = {"method": "dop853", "rtol": 1e-12, "atol": 1e-13}
MASS, ARM, SPIN_INERTIA, CROSS_INERTIA, G, TILT = 1.5, 0.2, 0.02, 0.08, 9.81, 0.6  # inertias about the fixed point


def top(precession, spin):
    """A top on its tip, leaning by TILT; rates about the vertical and about its own axis, in rad/s."""
    system = kn.System("top", gravity=(0, 0, -G))
    across = CROSS_INERTIA - MASS * ARM**2
    body = system.body("body", mass=MASS, com=(0, 0, ARM), inertia=(across, across, SPIN_INERTIA))
    half = (math.cos(TILT / 2), math.sin(TILT / 2), 0, 0)
    u = (0, precession * math.sin(TILT), precession * math.cos(TILT) + spin)
    system.spherical("tip", system.world, body, q=half, u=u)
    return system


def test_slow_and_fast_steady_precession():
    """I1 cos(th) W^2 - I3 w3 W + m g l = 0 has two roots: the top goes round evenly at either of them."""
    w3 = 90.0
    root = math.sqrt((SPIN_INERTIA * w3) ** 2 - 4 * CROSS_INERTIA * MASS * G * ARM * math.cos(TILT))
    rates = [(SPIN_INERTIA * w3 + sign * root) / (2 * CROSS_INERTIA * math.cos(TILT)) for sign in (-1, 1)]
    assert rates[0] == pytest.approx(MASS * G * ARM / (SPIN_INERTIA * w3), rel=0.1)  # the slow one of school books
    for rate in rates:
        run = kn.simulate(top(rate, w3 - rate * math.cos(TILT)), 2.0, samples=401, **TIGHT)
        x, y, z = run["body.com.position"].T
        assert z == pytest.approx(np.full(401, ARM * math.cos(TILT)), abs=1e-10)
        turned = np.unwrap(np.arctan2(y, x))
        assert turned - turned[0] == pytest.approx(rate * run.t, abs=1e-8)
        # on its tip acts its weight, and what holds its center of mass on the circle
        pull = MASS * rate**2 * ARM * math.sin(TILT)
        force = run["tip.reaction.force"]
        assert np.hypot(force[:, 0], force[:, 1]) == pytest.approx(np.full(401, pull), rel=1e-8)
        assert force[:, 2] == pytest.approx(np.full(401, MASS * G), rel=1e-8)


def test_nutation_of_a_top_that_is_let_go():
    """u = cos(th): u'^2 = (1 - u^2)(alpha - beta u) - (b - a u)^2; let go at rest it swings from u0 to a root u1."""
    w3 = 60.0
    run = kn.simulate(top(0.0, w3), 2.0, samples=4001, **TIGHT)
    u, rate = run["body.com.position.z"] / ARM, run["body.com.velocity.z"] / ARM
    a, beta, u0 = SPIN_INERTIA * w3 / CROSS_INERTIA, 2 * MASS * G * ARM / CROSS_INERTIA, math.cos(TILT)
    alpha, b = beta * u0, a * u0
    assert rate**2 == pytest.approx((1 - u**2) * (alpha - beta * u) - (b - a * u) ** 2, abs=1e-8)
    p = a**2 / beta
    u1 = p / 2 - math.sqrt(p**2 / 4 - p * u0 + 1)
    assert u.max() == pytest.approx(u0, abs=1e-10)
    assert u.min() == pytest.approx(u1, abs=1e-5)  # a sample lies within 0.25 ms of the turning point
    assert u.min() >= u1 - 1e-10
    assert run.audit.relative < 1e-10


@pytest.mark.parametrize("precession", [0.0, -4.0])
def test_nutation_is_an_elliptic_sine(precession):
    """u = u1 + (u2 - u1) sn^2(K - w t), w^2 = beta (u3 - u1)/4, k^2 = (u2 - u1)/(u3 - u1) from a turning point u2.

    E. T. Whittaker, *Analytical Dynamics*, sections 71 and 72.  Let go at rest the axis draws cusps, and comes back
    after 0.561307721210 s; thrown backward it draws loops.
    """
    w3 = 60.0
    run = kn.simulate(top(precession, w3 - precession * math.cos(TILT)), 2.0, samples=401, **TIGHT)
    u2, sin2 = math.cos(TILT), math.sin(TILT) ** 2
    a, beta = SPIN_INERTIA * w3 / CROSS_INERTIA, 2 * MASS * G * ARM / CROSS_INERTIA
    b = a * u2 + precession * sin2  # momentum about the vertical, over I1
    alpha = beta * u2 + precession**2 * sin2
    # (1 - u^2)(alpha - beta u) - (b - a u)^2 without its root u2 is beta u^2 + middle u + last
    middle = beta * u2 - alpha - a**2
    last = middle * u2 - beta + 2 * a * b
    u1, u3 = sorted(np.roots([beta, middle, last]))
    k2, w = (u2 - u1) / (u3 - u1), math.sqrt(beta * (u3 - u1)) / 2
    if not precession:
        assert 2 * ellipk(k2) / w == pytest.approx(0.561307721210, abs=1e-11)
    sn = ellipj(ellipk(k2) - w * run.t, k2)[0]
    u = run["body.com.position.z"] / ARM
    assert u == pytest.approx(u1 + (u2 - u1) * sn**2, abs=1e-9)
    # the precession, from the momentum about the vertical
    x, y = run["body.com.position"].T[:2]
    vx, vy = run["body.com.velocity"].T[:2]
    assert (x * vy - y * vx) / ARM**2 == pytest.approx(b - a * u, abs=1e-8)
