"""Cases whose solution is known: in closed form, or published.  Each figure names its origin."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import kinode as kn

TIGHT = {"method": "dop853", "rtol": 1e-12, "atol": 1e-13}


def pendulum(mass, arm, inertia, gravity, angle):
    """A body on a pin, gravity along -y; the angle counts from hanging."""
    system = kn.System("pendulum", gravity=(0, -gravity, 0))
    body = system.body("body", mass=mass, com=(0, -arm, 0), inertia=(inertia, inertia, inertia))
    system.revolute("pin", system.world, body, axis="z", q=angle)
    return system


@pytest.mark.parametrize("angle", [0.1, 1.5, 3.0])
@pytest.mark.parametrize(("options", "tolerance"), [(TIGHT, 1e-9), ({}, 2e-5), ({"method": "stiff"}, 2e-5)])
def test_pendulum_in_closed_form(angle, options, tolerance):
    """sin(q/2) = k sn(K - w t), with k = sin(q0/2), w^2 = m g d / (I + m d^2): any book on elliptic functions.

    From 3.0 rad the body stands still near the top, where errors grow a thousandfold.
    """
    mass, arm, inertia, gravity = 2.0, 0.7, 0.3, 9.81
    run = kn.simulate(pendulum(mass, arm, inertia, gravity, angle), 10.0, samples=101, **options)
    w = np.sqrt(mass * gravity * arm / (inertia + mass * arm**2))
    k = np.sin(angle / 2)
    sn = ellipj(ellipk(k**2) - w * run.t, k**2)[0]
    assert np.abs(run["pin.q"] - 2 * np.arcsin(k * sn)).max() < tolerance


def test_body_without_torque():
    """Jacobi's solution of Euler's equations (Landau, Lifshitz, Mechanics, section 37), for J1 < J2 < J3."""
    J1, J2, J3 = 1.0, 2.0, 2.5
    w0 = np.array([0.8, 0.0, 1.1])
    energy2, M2 = J1 * w0[0] ** 2 + J3 * w0[2] ** 2, (J1 * w0[0]) ** 2 + (J3 * w0[2]) ** 2
    assert M2 > energy2 * J2  # the axis of J3 goes round
    system = kn.System("stone", gravity=(0, 0, 0))
    stone = system.body("stone", mass=1.0, inertia=(J1, J2, J3))
    system.free("flight", system.world, stone, angular_velocity=tuple(w0), velocity=(0.1, 0.2, 0.3))
    run = kn.simulate(system, 30.0, samples=301, **TIGHT)
    rate = np.sqrt((J3 - J2) * (M2 - energy2 * J1) / (J1 * J2 * J3))
    k2 = (J2 - J1) * (energy2 * J3 - M2) / ((J3 - J2) * (M2 - energy2 * J1))
    sn, cn, dn, _ = ellipj(rate * run.t, k2)
    exact = np.column_stack([
        np.sqrt((energy2 * J3 - M2) / (J1 * (J3 - J1))) * cn,
        np.sqrt((energy2 * J3 - M2) / (J2 * (J3 - J2))) * sn,
        np.sqrt((M2 - energy2 * J1) / (J3 * (J3 - J1))) * dn,
    ])  # fmt: skip
    assert np.abs(run["flight.u"][:, 3:] - exact).max() < 1e-9
    assert np.abs(run["system.angular_momentum"] - run["system.angular_momentum"][0]).max() < 1e-9
    assert np.abs(np.linalg.norm(run["flight.q"][:, 3:], axis=1) - 1).max() < 1e-14
    assert run.audit.relative < 1e-11


def test_the_wing_nut_of_dzhanibekov_turns_over():
    """It spins about its middle axis, and turns over every 2 K(k)/rate seconds: Jacobi's solution near its separatrix.

    A. G. Petrov, S. E. Volodin, *Janibekov's effect and the laws of mechanics*, Doklady Physics 58 (2013) 349, with
    the integrals of Landau, Lifshitz, section 37; by the arithmetic-geometric mean, half the period is 3.77020715874 s.
    """
    J, half = (1.0, 2.0, 3.0), 3.77020715874
    system = kn.System("nut", gravity=(0, 0, 0))
    system.free("flight", system.world, system.body("nut", mass=0.1, inertia=J), angular_velocity=(0, 5, 0.05))
    run = kn.simulate(system, 4 * half, samples=16001, **TIGHT)
    w = run["flight.u"][:, 3:]
    k = np.flatnonzero(w[:-1, 1] * w[1:, 1] < 0)
    passed = run.t[k] - w[k, 1] * np.diff(run.t)[k] / (w[k + 1, 1] - w[k, 1])
    assert passed == pytest.approx(half * np.array([0.5, 1.5, 2.5, 3.5]), abs=1e-7)
    # between, the nut stands upright on its angular momentum, head up and head down by turns
    momentum = np.hypot(2 * 5, 3 * 0.05)
    assert 2 * w[[4000 * n for n in range(5)], 1] / momentum == pytest.approx(
        10 / momentum * (-1.0) ** np.arange(5), abs=1e-9
    )


def test_the_pendulum_of_wilberforce():
    """Travel and turn of a bob on a helical spring exchange their energy: two normal modes beat.

    m z'' = -k z - e q/2, I q'' = -d q - e z/2 (R. E. Berg, T. S. Marshall, *Wilberforce pendulum oscillations and
    normal modes*, Am. J. Phys. 59 (1991) 32): 2 w^2 = k/m + d/I +- sqrt((k/m - d/I)^2 + e^2/(m I)).
    """
    m, inertia, k, d, e, drop = 0.5164, 1.45e-4, 2.80, 7.86e-4, 9.28e-3, 0.1
    slow, fast = 2.210249683211, 2.440827597869  # one beat takes 27.2497 s
    depth = m * 9.81 / (k - e**2 / (4 * d))  # it hangs where k z + e q/2 = -m g and d q + e z/2 = 0
    rest = np.array([-depth, e / (2 * d) * depth])
    system = kn.System("wilberforce", gravity=(0, 0, -9.81))
    bob = system.body("bob", mass=m, inertia=(1e-4, 1e-4, inertia))
    pull, twist = f"-{k}*coil.q.travel - {e / 2}*coil.q.angle", f"-{d}*coil.q.angle - {e / 2}*coil.q.travel"
    system.cylindrical("coil", system.world, bob, axis="z", q=tuple(rest - [drop, 0]), effort=(pull, twist))
    linear = kn.linearize(system, {"coil.q": tuple(rest)})
    assert sorted(abs(linear.eigenvalues.imag)) == pytest.approx([slow, slow, fast, fast], rel=1e-11)
    run = kn.simulate(system, 60.0, samples=601, **TIGHT)
    # each mode keeps its share: z = sum of a_i cos(w_i t), q = sum of (2 m w_i^2 - 2 k) a_i / e cos(w_i t)
    turns = 2 * (m * np.array([slow, fast]) ** 2 - k) / e
    shares = -drop * np.array([turns[1], -turns[0]]) / (turns[1] - turns[0])
    waves = shares * np.cos(np.outer(run.t, [slow, fast]))
    assert run["coil.q"] - rest == pytest.approx(np.column_stack([waves.sum(axis=1), waves @ turns]), abs=1e-8)


def test_iftomm_a01():
    """Simple pendulum of the IFToMM library of multibody benchmarks, problem A01: L = 1 m, g = 9.81, from (-1, 0).

    The position after 10 s is theirs; the last of its ten digits is rounded.
    """
    system = kn.System("a01", gravity=(0, -9.81, 0))
    point = system.body("point", mass=1.0, com=(1.0, 0, 0))
    system.revolute("pin", system.world, point, axis="z", q="180 deg")
    run = kn.simulate(system, 10.0, **TIGHT)
    assert run["point.com.position"][-1] == pytest.approx([-0.2750874626, -0.9614192051, 0.0], abs=2e-10)
    assert run.audit.relative < 1e-11


# Time, position of the center and reaction force on the ground, in the records of the commercial program Adams that
# Project Chrono publishes (data/testing/joints, Revolute_Case01, BSD-3-Clause).  Six digits are written; its
# accelerations, and so its forces, are good to 1e-3: over its whole record 6e-4 is the largest distance from here.
ADAMS = [
    (0.5, (1.66081, 0.0, -1.11432), (13.2797, 0.0, -9.14925)),
    (1.0, (-0.892381, 0.0, -1.78988), (-11.4612, 0.0, -23.2273)),
    (4.0, (1.29696, 0.0, -1.52246), (14.1691, 0.0, -16.8718)),
    (5.0, (-1.99968, 0.0, -0.0355587), (-0.510225, 0.0, -0.248259)),
]


@pytest.mark.parametrize(("time", "position", "force"), ADAMS)
def test_adams_revolute_case_1(time, position, force):
    """A bar of 1 kg on a hinge about y, its center 2 m away, let go from the horizontal."""
    system = kn.System("case 1", gravity=(0, 0, -9.80665))
    bar = system.body("bar", mass=1.0, com=(2.0, 0, 0), inertia=(0.04, 0.1, 0.1))
    system.revolute("hinge", system.world, bar, axis="y")
    run = kn.simulate(system, time, **TIGHT)
    assert run["bar.com.position"][-1] == pytest.approx(position, abs=6e-6)
    reaction = run.reaction("hinge", on="world")
    assert reaction.on == "world"
    assert reaction.force[-1] == pytest.approx(force, abs=1e-3)
    assert reaction.moment[-1] == pytest.approx([0, 0, 0], abs=1e-10)
