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
@pytest.mark.parametrize(
    ("options", "tolerance"), [(TIGHT, 1e-9), ({}, 2e-5), ({"method": "stiff"}, 2e-5), ({"method": "cvode"}, 1e-3)]
)
def test_pendulum_in_closed_form(angle, options, tolerance):
    """sin(q/2) = k sn(K - w t), with k = sin(q0/2), w^2 = m g d / (I + m d^2): any book on elliptic functions.

    From 3.0 rad the body stands still near the top, where errors grow a thousandfold; BDF keeps 40 times larger ones.
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
