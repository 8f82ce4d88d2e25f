"""Motions with conditions on velocities: the benchmark bicycle as published, Chaplygin's sleigh in closed form."""

import math

import numpy as np
import pytest

import kinode as kn

TIGHT = {"method": "dop853", "rtol": 1e-12, "atol": 1e-13}

# J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab, Linearized dynamics equations for the balance and steer of
# a bicycle: a benchmark and review, Proc. R. Soc. A 463 (2007).  Table 1 has the parameters, which are exact; x goes
# forward, z down, the origin is where the rear wheel touches.  M, C1, K0, K2 of lean and steer are given to 14 digits,
# and the eigenvalues at a few speeds: weave, its frequency, capsize, castering.
WHEELBASE, TRAIL, TILT, GRAVITY = 1.02, 0.08, math.pi / 10, 9.81
M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
C1 = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])
AT_5 = [
    -14.07838969279822,
    -0.77534188219585 - 4.46486771378823j,
    -0.77534188219585 + 4.46486771378823j,
    -0.32286642900409,
]
AT_REST = [-5.53094371765393, -3.13164324790656, 3.13164324790656, 5.53094371765393]
STABLE = (4.29238253634111, 6.02426201538837)  # m/s: from weave to capsize


def bicycle(speed):
    system = kn.System("bicycle", gravity=(0, 0, GRAVITY))
    rear = system.body("rear_wheel", mass=2, inertia=(0.0603, 0.12, 0.0603))
    frame = system.body("frame", mass=85, com=(0.3, 0, -0.9), inertia=(9.2, 11, 2.8, 0, 2.4, 0))
    fork = system.body("fork", mass=4, com=(0.9, 0, -0.7), inertia=(0.05892, 0.06, 0.00708, 0, -0.00756, 0))
    front = system.body("front_wheel", mass=3, inertia=(0.1405, 0.28, 0.1405))
    steer_axis = (math.sin(TILT), 0, math.cos(TILT))
    system.free("path", system.world, frame, velocity=(speed, 0, 0))
    system.revolute("rear_hub", frame.at(0, 0, -0.3), rear, axis="y", u=-speed / 0.3)
    system.revolute("steer", frame, fork, at=(WHEELBASE + TRAIL, 0, 0), axis=steer_axis)
    system.revolute("front_hub", fork.at(WHEELBASE, 0, -0.35), front, axis="y", u=-speed / 0.35)
    system.rolling("rear_contact", rear, axis="y", radius=0.3, normal="-z")
    system.rolling("front_contact", front, axis="y", radius=0.35, normal="-z")
    return system


def eigenvalues(speed):
    """The four of lean and steer; going on, straight ahead and at another speed, is neutral."""
    every = np.array(kn.linearize(bicycle(speed)).eigenvalues)
    every = every[np.argsort(-abs(every))]
    assert abs(every[4:]).max() < 1e-6
    return np.sort_complex(every[:4])


def published(speed):
    """Eigenvalues of M q'' + v C1 q' + (g K0 + v^2 K2) q = 0."""
    stiffness, damping = np.linalg.solve(M, GRAVITY * K0 + speed**2 * K2), np.linalg.solve(M, speed * C1)
    return np.sort_complex(np.linalg.eigvals(np.block([[np.zeros((2, 2)), np.eye(2)], [-stiffness, -damping]])))


@pytest.mark.parametrize("speed", [0.0, 1.0, 3.0, 5.0, 8.0, 10.0])
def test_the_benchmark_bicycle(speed):
    """Central differences of what moves cost three of the fourteen digits."""
    assert eigenvalues(speed) == pytest.approx(published(speed), rel=1e-9, abs=1e-9)


def test_the_table_of_the_benchmark_bicycle():
    assert eigenvalues(5.0) == pytest.approx(np.array(AT_5), abs=1e-9)
    assert eigenvalues(0.0) == pytest.approx(np.array(AT_REST), abs=1e-11)


@pytest.mark.parametrize(("speed", "before"), [(STABLE[0], 1), (STABLE[1], -1)])
def test_the_bicycle_is_stable_by_itself_between_two_speeds(speed, before):
    growth = [eigenvalues(speed + change).real.max() for change in (-1e-6, 0.0, 1e-6)]
    assert growth[1] == pytest.approx(0.0, abs=1e-9)
    assert before * growth[0] > 1e-8
    assert before * growth[2] < -1e-8


def test_the_sleigh_of_chaplygin():
    """v = V tanh(k t), w = V sqrt(m/J)/cosh(k t), k = m a V/J, J about the blade (Bloch, Nonholonomic Mechanics, 1.7).

    The blade holds m I / J v w across; the heading turns by 2 sqrt(J/m)/a atan(tanh(k t/2)) since t = 0, when v = 0.
    """
    m, a, I, V = 2.0, 0.3, 0.15, 1.2
    J = I + m * a**2
    k, turn = m * a * V / J, V * math.sqrt(m / J)
    system = kn.System("sleigh", gravity=(0, 0, 0))
    body = system.body("body", mass=m, com=(a, 0, 0), inertia=(0.1, 0.1, I))
    system.planar("ice", system.world, body, u=(0, 0, turn))
    system.knife_edge("blade", body)
    run = kn.simulate(system, 4.0, samples=201, **TIGHT)
    v, w = V * np.tanh(k * run.t), turn / np.cosh(k * run.t)
    assert run["body.velocity.x@body"] == pytest.approx(v, abs=1e-10)
    assert run["ice.u.angle"] == pytest.approx(w, abs=1e-10)
    heading = 2 * math.sqrt(J / m) / a * np.arctan(np.tanh(k * run.t / 2))
    assert run["ice.q.angle"] == pytest.approx(heading, abs=1e-9)
    assert abs(run["blade.reaction"]) == pytest.approx(abs(m * I / J * v * w), abs=1e-9)
    assert run.audit.relative < 1e-11
