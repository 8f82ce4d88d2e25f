"""Motions with conditions on velocities: the benchmark bicycle as published, Chaplygin's sleigh in closed form."""

import math

import numpy as np
import pytest
from example_counts import by_day

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


@pytest.mark.parametrize("speed", by_day([0.0, 1.0, 3.0, 5.0, 8.0, 10.0], 3))
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


# A thin disc rolls without slip on a level plane.  In axes along its level tangent (1), up its plane (2) and along its
# axle (3), with inclination theta of the plane of the disc, theta_dot = w1, A = m r^2/4 about a diameter, C = m r^2/2:
#
#     (A + m r^2) w1_dot = -(C + m r^2) w2 w3 + A w2^2 cot(theta) - m g r cos(theta) + r P3
#     A w2_dot = (C w3 - A w2 cot(theta)) w1,    (C + m r^2) w3_dot = m r^2 w1 w2
#
# where P3 is the part along the axle of a force on its center (E. J. Routh, Advanced Rigid Dynamics, 1905, art. 244).
MASS, RADIUS = 1.0, 0.3
DIAMETER, AXLE, ROLLED = MASS * RADIUS**2 / 4, MASS * RADIUS**2 / 2, MASS * RADIUS**2


def disc(theta, w2, w3):
    """A disc that rolls along x with its inclination and speeds, e2 in the plane of y and z."""
    e1, e2 = np.array([1.0, 0.0, 0.0]), np.array([0.0, math.cos(theta), math.sin(theta)])
    e3 = np.cross(e1, e2)
    system = kn.System("disc")
    body = system.body("disc", mass=MASS, inertia=(DIAMETER, AXLE, DIAMETER))
    axes = np.column_stack([e1, e3, np.cross(e1, e3)]).tolist()
    system.free("path", system.world, body, position=(RADIUS * e2).tolist(), rotation={"matrix": axes},
                velocity=(-RADIUS * w3 * e1).tolist(), angular_velocity=(w2 * e2 + w3 * e3).tolist())  # fmt: skip
    system.rolling("contact", body, axis="y", radius=RADIUS)
    return system


def rolling_rate(theta, w2, w3):
    """Square of the frequency of small motions about a steady one."""
    cot, sin = 1 / math.tan(theta), math.sin(theta)
    by_w2, by_w3 = AXLE * w3 / DIAMETER - w2 * cot, ROLLED * w2 / (AXLE + ROLLED)
    stiffness = (AXLE + ROLLED) * (w3 * by_w2 + w2 * by_w3) - 2 * DIAMETER * w2 * cot * by_w2
    return (stiffness + DIAMETER * w2**2 / sin**2 - MASS * 9.81 * RADIUS * sin) / (DIAMETER + ROLLED)


@pytest.mark.parametrize("speed", by_day([0.0, 3.2, 3.0, 6.0, 3.4, -20.0], 4))
def test_an_upright_disc_wobbles(speed):
    """Stable above w^2 = m g r A / (C (C + m r^2)) = g / 3 r: 3.302 rad/s."""
    linear, square = kn.linearize(disc(math.pi / 2, 0.0, speed)), rolling_rate(math.pi / 2, 0.0, speed)
    assert linear.stable == (square > 0)
    wanted = np.sqrt(complex(-square))
    assert min(abs(linear.eigenvalues - wanted)) < 1e-8 * abs(wanted)
    assert sum(abs(linear.eigenvalues) > 1e-6) == 2
    if speed == 6.0:
        assert abs(wanted) == pytest.approx(7.76144316, rel=1e-9)


@pytest.mark.parametrize(("theta", "w2"), by_day([(1.2, 1.0), (1.4, 0.5), (0.8, 3.0), (2.0, 1.5)], 2))
def test_a_leaning_disc_rolls_on_a_circle(theta, w2):
    """The place of the circle stays, seen from axes that turn with the precession w2 / sin(theta)."""
    balance = DIAMETER * w2**2 / math.tan(theta) - MASS * 9.81 * RADIUS * math.cos(theta)
    w3 = balance / (AXLE + ROLLED) / w2
    linear = kn.linearize(disc(theta, w2, w3))
    rates = sorted(x.imag for x in linear.eigenvalues if x.imag > 1e-4)
    assert rates == pytest.approx(sorted([w2 / math.sin(theta), math.sqrt(rolling_rate(theta, w2, w3))]), rel=1e-8)
    assert max(linear.eigenvalues.real) < 1e-4
    assert linear.stability.word == "neutral"  # on another circle, or further on its own, it rolls as steadily


@pytest.mark.nightly
def test_two_hundred_discs_on_circles():
    rng = np.random.default_rng(5)
    for _ in range(200):
        theta, w2 = rng.uniform(0.4, math.pi - 0.4), rng.uniform(0.3, 6) * rng.choice([-1, 1])
        balance = DIAMETER * w2**2 / math.tan(theta) - MASS * 9.81 * RADIUS * math.cos(theta)
        w3 = balance / (AXLE + ROLLED) / w2
        linear, square = kn.linearize(disc(theta, w2, w3)), rolling_rate(theta, w2, w3)
        wanted = np.sqrt(complex(-square))
        assert min(abs(linear.eigenvalues - wanted)) < 1e-6 * abs(wanted)
        assert linear.stability.word == ("neutral" if square > 0 else "unstable")


def test_a_leaning_disc_runs_round_its_circle():
    """Its center goes round at w2/sin(theta) on a circle of radius r w3 sin(theta)/w2, held there by the ground.

    O. M. O'Reilly, *The dynamics of rolling disks and sliding disks*, Nonlinear Dynamics 10 (1996) 287.
    """
    theta, w2 = 1.2, 1.0
    w3 = (DIAMETER * w2**2 / math.tan(theta) - MASS * 9.81 * RADIUS * math.cos(theta)) / (AXLE + ROLLED) / w2
    assert w3 == pytest.approx(-7.834602453, rel=1e-9)
    run = kn.simulate(disc(theta, w2, w3), 6.0, samples=121, **TIGHT)
    precession = w2 / math.sin(theta)
    circle = RADIUS * abs(w3) / precession
    center = run["disc.position"]
    assert center[:, 2] == pytest.approx(np.full(121, RADIUS * math.sin(theta)), abs=1e-9)
    outward = np.exp(1j * (precession * run.t - math.pi / 2))
    around = center[:, 0] + 1j * (center[:, 1] - RADIUS * math.cos(theta) - circle)
    assert around == pytest.approx(circle * outward, abs=1e-8)
    force = run["contact.on.disc.force"]
    assert force[:, 0] + 1j * force[:, 1] == pytest.approx(-MASS * precession**2 * circle * outward, abs=1e-7)
    assert force[:, 2] == pytest.approx(np.full(121, MASS * 9.81), abs=1e-7)


@pytest.mark.parametrize("speed", [2.0, 6.0])
def test_a_rolling_disc_that_is_drawn_to_a_line(speed):
    """A force -K y on its center acts on where it has rolled to: y_dot = -r w3 psi - r w1, psi_dot = w2."""
    K, inertia = 40.0, DIAMETER + ROLLED
    system = disc(math.pi / 2, 0.0, speed)
    system.force("line", "disc", (0, f"-{K}*path.q.y", 0))
    wanted = np.zeros((5, 5))  # y, psi, theta, w1, w2
    wanted[0, [1, 3]] = -RADIUS * speed, -RADIUS
    wanted[1, 4] = wanted[2, 3] = 1.0
    wanted[3, [0, 2, 4]] = RADIUS * K / inertia, MASS * 9.81 * RADIUS / inertia, -(AXLE + ROLLED) * speed / inertia
    wanted[4, 3] = AXLE * speed / DIAMETER
    found = kn.linearize(system).eigenvalues
    for value in np.linalg.eigvals(wanted):
        assert min(abs(found - value)) < 1e-7 * max(1.0, abs(value))


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
