"""Friction against closed forms of the textbook, and against a slider-crank written out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinode as kn

G = 9.81


def start_acceleration(system):
    dynamics = kn.compile(system)
    return dynamics.acceleration(0.0, dynamics.initial.q, dynamics.initial.u)


def test_a_block_slides_up_an_incline_with_constant_deceleration():
    angle, mu, u0 = np.deg2rad(20), 0.2, 3.0
    system = kn.System("incline", gravity=(0, -G, 0))
    block = system.body("block", mass=2, inertia=(0.1, 0.1, 0.1))
    axis = (float(np.cos(angle)), float(np.sin(angle)), 0)
    system.prismatic("slide", system.world, block, axis=axis, u=u0, friction=kn.coulomb(mu))
    run = kn.simulate(system, 0.5, samples=6)
    a = -G * (np.sin(angle) + mu * np.cos(angle))
    np.testing.assert_allclose(run["slide.q"], u0 * run.t + 0.5 * a * run.t**2, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(run["slide.effort.friction"], -mu * 2 * G * np.cos(angle), rtol=1e-12)
    lost = -mu * 2 * G * np.cos(angle) * run["slide.q"][-1]
    assert run.audit.work["slide.friction"] == pytest.approx(lost, rel=1e-9)
    assert run.audit.relative < 1e-10


@settings(max_examples=10)
@given(st.floats(0.0, 0.02), st.floats(5.0, 40.0), st.floats(-3.0, 3.0), st.floats(0.05, 0.5))
def test_journal_bearing_of_an_unbalanced_shaft(e, w, q, mu):
    """Mass m at e turns in a bearing of radius r; the bearing holds weight, centrifugal and tangential force.

    With a the angular acceleration, (J + m e^2) a = -m g e cos q - mu r |R|, R = m (g + acceleration of the mass):
    a quadratic equation in a, of which the root with |R| > 0 counts.
    """
    m, J, r = 2.0, 0.01, 0.02
    system = kn.System("shaft", gravity=(0, -G, 0))
    system.parameter("e", e)
    system.parameter("mu", mu)
    rotor = system.body("rotor", mass=m, com=("e", 0, 0), inertia=(J, J, J))
    system.revolute("bearing", system.world, rotor, friction=kn.coulomb("mu", radius=r, slip=1e-6))
    dynamics = shaft(system)
    found = dynamics.acceleration(0.0, [q], [w], p={"e": e, "mu": mu})[0]
    normal, tangent = np.array([np.cos(q), np.sin(q)]), np.array([-np.sin(q), np.cos(q)])
    R_0, R_1 = m * (np.array([0, G]) - e * w * w * normal), m * e * tangent
    I, drive = J + m * e * e, -m * G * e * np.cos(q)
    # (I a - drive)^2 = (mu r)^2 |R_0 + a R_1|^2
    k = (mu * r) ** 2
    roots = np.roots([I * I - k * R_1 @ R_1, -2 * (I * drive + k * R_0 @ R_1), drive**2 - k * R_0 @ R_0])
    braking = [a.real for a in roots if I * a.real - drive <= 0]
    assert len(braking) == 1
    assert found == pytest.approx(braking[0], rel=1e-10, abs=1e-9)


_SHAFTS: list[kn.Dynamics] = []


def shaft(system):
    """The machine code is the same for all values of the parameters."""
    if not _SHAFTS:
        _SHAFTS.append(kn.compile(system))
    return _SHAFTS[0]


def test_a_balanced_shaft_runs_down_with_constant_deceleration():
    m, J, mu, r = 3.0, 0.02, 0.1, 0.015
    system = kn.System("run_down", gravity=(0, -G, 0))
    rotor = system.body("rotor", mass=m, inertia=(J, J, J))
    system.revolute("bearing", system.world, rotor, u=20, friction=kn.coulomb(mu, radius=r))
    run = kn.simulate(system, 5.0, samples=6)
    np.testing.assert_allclose(run["bearing.u"], 20 - mu * r * m * G / J * run.t, rtol=1e-9)


@pytest.mark.parametrize("mu", [0.05, 0.15])
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_square_thread_raises_and_lowers_as_the_textbook_says(mu, way):
    """A nut of mass m on a standing spindle: the moment for a load F is F r tan(lead angle +- friction angle)."""
    m, J, lead, r = 200.0, 0.5, 0.005, 0.012
    system = kn.System("jack", gravity=(0, 0, -G))
    nut = system.body("nut", mass=m, inertia=(1, 1, J))
    system.screw("thread", system.world, nut, lead=lead, u=5 * way, friction=kn.coulomb(mu, radius=r))
    p = lead / (2 * np.pi)
    arm = r * np.tan(np.arctan(p / r) + way * np.arctan(mu))
    # J a = -F arm, F = m (g + p a)
    assert start_acceleration(system)[0] == pytest.approx(-m * G * arm / (J + m * p * arm), rel=1e-12)


def test_a_self_locking_thread_stops_under_its_load_and_a_slippery_one_runs_away():
    ends = {}
    for mu in (0.15, 0.02):
        system = kn.System("jack", gravity=(0, 0, -G))
        nut = system.body("nut", mass=200, inertia=(1, 1, 0.5))
        system.screw("thread", system.world, nut, lead="5 mm", u=-5, friction=kn.coulomb(mu, radius="12 mm"))
        ends[mu] = kn.simulate(system, 3.0)["thread.u"][-1]
    assert 0.005 / (2 * np.pi * 0.012) < 0.15  # the lead angle is below the friction angle
    assert abs(ends[0.15]) < 1e-2
    assert ends[0.02] < -5


@pytest.mark.parametrize("h", [0.1, 0.9])
def test_a_drawer_brakes_harder_the_farther_its_mass_is_from_the_rail(h):
    """Preload P, guide length L, mass m at h beside the rail: m a = -mu (P + 2 h m |a| / L)."""
    mu, L, P, m = 0.2, 0.4, 5.0, 2.0
    assert start_acceleration(drawer(mu, h, L, P, m))[0] == pytest.approx(-mu * P / m / (1 - 2 * mu * h / L), rel=1e-12)


def drawer(mu, h, L, P, m):
    system = kn.System("drawer", gravity=(0, 0, 0))
    box = system.body("box", mass=m, com=(0, h, 0), inertia=(0.1, 0.1, 0.1))
    system.prismatic("rail", system.world, box, axis="x", u=1, friction=kn.coulomb(mu, length=L, preload=P))
    return system


def test_a_drawer_beyond_the_limit_jams_and_says_so():
    """2 mu h / L > 1: no acceleration fulfills the equation, whatever the preload."""
    system = drawer(0.2, 1.1, 0.4, 5.0, 2.0)
    assert not np.isfinite(start_acceleration(system)).all()
    with pytest.raises(
        kn.SimulationError, match=r"at t = 0 s .*rail jams: friction makes its own load grow 1\.1 times"
    ):
        kn.simulate(system, 0.1)


MU, LINKS = 0.2, (0.03, 0.1)  # crank and rod
RADII = {"main": 0.01, "crankpin": 0.01, "wristpin": 0.008}


def slider_crank(order=("main", "crankpin", "wristpin", "bore"), u=50.0):
    """Without redundant constraints: the crankpin may slide along its axis, the wristpin is a ball."""
    system = kn.System("slider_crank", gravity=(0, -G, 0))
    crank = system.body("crank", mass=0.4, com=(0.015, 0, 0), inertia=(2e-4, 2e-4, 4e-4))
    rod = system.body("rod", mass=0.3, com=(0.06, 0, 0), inertia=(1e-5, 3e-4, 3e-4))
    piston = system.body("piston", mass=0.25, com=(0.13, 0, 0), inertia=(1e-4, 1e-4, 1e-4))
    rough = {name: kn.coulomb(MU, radius=radius, slip=0.5) for name, radius in RADII.items()}
    rough["crankpin"] = kn.coulomb(MU, radius=RADII["crankpin"], slip=0.5 * RADII["crankpin"])
    joints = {
        "main": lambda: system.revolute("main", system.world, crank, q=0.4, u=u, friction=rough["main"]),
        "crankpin": lambda: system.cylindrical("crankpin", crank, rod, at=(0.03, 0, 0), friction=rough["crankpin"]),
        "wristpin": lambda: system.spherical("wristpin", rod, piston, at=(0.13, 0, 0), friction=rough["wristpin"]),
        "bore": lambda: system.prismatic(
            "bore", system.world, piston, at=(0.13, 0, 0), axis="x", friction=kn.coulomb(MU, slip=0.05)
        ),
    }
    for name in order:
        joints[name]()
    return system


def by_hand(q, w):
    """Angular acceleration of the crank, from the balances of three bodies in the plane with their pin forces."""
    from scipy.optimize import fsolve

    r, l = LINKS
    along = lambda angle: np.array([np.cos(angle), np.sin(angle)])  # noqa: E731
    across = lambda angle: np.array([-np.sin(angle), np.cos(angle)])  # noqa: E731
    turn = lambda a, b: a[0] * b[1] - a[1] * b[0]  # noqa: E731
    phi = -np.arcsin(r / l * np.sin(q))
    slope = -r / l * np.cos(q) / np.cos(phi)
    bend = (r / l * np.sin(q) + np.sin(phi) * slope**2) / np.cos(phi)
    spin = slope * w
    B, to_G2 = r * along(q), 0.03 * along(phi)
    x_dot = (r * across(q) * w + l * across(phi) * spin)[0]
    g = np.array([0, -G])

    def balances(x):
        a, A, F_B, F_C, N = x[0] * 1e3, x[1:3], x[3:5], x[5:7], x[7]
        turned = bend * w**2 + slope * a
        a_B = r * (across(q) * a - along(q) * w**2)
        a_C = a_B + l * (across(phi) * turned - along(phi) * spin**2)
        a_2 = a_B + 0.03 * (across(phi) * turned - along(phi) * spin**2)
        brake = lambda name, force, speed: -MU * RADII[name] * np.hypot(*force) * np.tanh(speed / 0.5)  # noqa: E731
        M_A, M_B, M_C = brake("main", A, w), brake("crankpin", F_B, spin - w), brake("wristpin", F_C, -spin)
        rub = -MU * abs(N) * np.tanh(x_dot / 0.05)
        G1 = 0.015 * along(q)
        crank = A - F_B + 0.4 * g - 0.4 * 0.015 * (across(q) * a - along(q) * w**2)
        turns = turn(-G1, A) + turn(B - G1, -F_B) + M_A - M_B - 4e-4 * a
        rod = F_B - F_C + 0.3 * g - 0.3 * a_2
        rocks = turn(-to_G2, F_B) + turn(l * along(phi) - to_G2, -F_C) + M_B - M_C - 3e-4 * turned
        piston = F_C + np.array([rub, N]) + 0.25 * g - 0.25 * a_C
        return np.array([*crank, turns * 100, *rod, rocks * 100, *piston])

    found, _, _, said = fsolve(balances, np.zeros(8), xtol=1e-14, full_output=True)
    assert np.abs(balances(found)).max() < 1e-9, said
    return found[0] * 1e3, found


def test_slider_crank_with_friction_in_all_joints():
    from scipy.integrate import solve_ivp

    dynamics = kn.compile(slider_crank())
    run = kn.simulate(dynamics, 0.04, samples=9, rtol=1e-10, atol=1e-12)
    for k in (0, 3, 8):
        a, forces = by_hand(run["main.q"][k], run["main.u"][k])
        assert run["main.u_dot"][k] == pytest.approx(a, rel=1e-9)
        assert run["bore.reaction.radial"][k] == pytest.approx(abs(forces[7]), rel=1e-8)
        assert run["main.reaction.radial"][k] == pytest.approx(np.hypot(*forces[1:3]), rel=1e-8)
    alone = solve_ivp(lambda t, y: [y[1], by_hand(*y)[0]], (0, 0.04), [0.4, 50.0], rtol=1e-8, atol=1e-8)
    assert run["main.u"][-1] == pytest.approx(alone.y[1, -1], rel=1e-6)
    assert run["main.u"][-1] < 45  # friction matters
    assert run.audit.relative < 1e-8
    assert run.audit.change == pytest.approx(sum(run.audit.work.values()), rel=1e-7)


def test_where_the_loop_is_cut_makes_no_difference():
    """Each order of declaration cuts the loop elsewhere; the friction of the cut joint is one of four."""
    cuts, found = set(), []
    for order in (("main", "crankpin", "wristpin", "bore"), ("bore", "wristpin", "crankpin", "main")):
        dynamics = kn.compile(slider_crank(order))
        cuts.add(dynamics.topology.cut_names)
        run = kn.simulate(dynamics, 0.02, samples=3, rtol=1e-10, atol=1e-12)
        names = ("main.u", "crankpin.effort.friction", "bore.effort.friction", "wristpin.effort.friction")
        found.append(np.concatenate([run[name].ravel() for name in names]))
    assert len(cuts) == 2
    np.testing.assert_allclose(found[0], found[1], rtol=1e-8, atol=1e-9)
