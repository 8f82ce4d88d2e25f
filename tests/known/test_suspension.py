"""A double wishbone suspension with ball joints, against its closed form by a triangle and three spheres.

The lower arm carries its ball round its axis; the upper ball is where its circle has the height of the knuckle from
there (A cos + B sin = C); the ball of the track rod has three known distances (trilateration: F. Thomas, L. Ros,
*Revisiting trilateration for robot localization*, IEEE Trans. Robotics 21 (2005) 93).
"""

import numpy as np
import pytest

import kinode as kn

TIGHT = {"method": "dop853", "rtol": 1e-11, "atol": 1e-12}
# x forward, y to the left, z up, of a left wheel, in m: a point of each arm's axis, the ball joints, the track rod.
LOWER, UPPER = np.array([0.0, 0.36, 0.20]), np.array([0.02, 0.44, 0.48])
LOW_BALL, HIGH_BALL = np.array([0.01, 0.72, 0.18]), np.array([-0.01, 0.69, 0.46])
RACK, ROD = np.array([-0.13, 0.37, 0.24]), np.array([-0.14, 0.70, 0.23])
HUB, FACE = np.array([0.0, 0.75, 0.31]), np.array([0.0, 0.80, 0.31])  # on the axle of the wheel
LOWER_AXIS, UPPER_AXIS = (np.array(a) / np.linalg.norm(a) for a in ((1.0, 0.05, 0.03), (1.0, 0.08, -0.06)))


def turned(axis, angle, vector):
    """Rodrigues' formula."""
    cross, along = np.cross(axis, vector), axis * (axis @ vector)
    return along + np.cos(angle) * (vector - along) + np.sin(angle) * cross


def third(points, sizes, side):
    """The point at three distances from three points, on one side of their plane."""
    e1, e2 = points[1] - points[0], points[2] - points[0]
    d = np.linalg.norm(e1)
    e1 = e1 / d
    i = e1 @ e2
    e2 = e2 - i * e1
    j = np.linalg.norm(e2)
    x = (sizes[0] ** 2 - sizes[1] ** 2 + d**2) / (2 * d)
    y = (sizes[0] ** 2 - sizes[2] ** 2 + i**2 + j**2 - 2 * i * x) / (2 * j)
    z = side * np.sqrt(sizes[0] ** 2 - x**2 - y**2)
    return points[0] + x * e1 + y * e2 / j + z * np.cross(e1, e2 / j)


def knuckle_points(angle):
    """The lower ball, the upper ball and the ball of the track rod at an angle of the lower arm."""
    low = LOWER + turned(LOWER_AXIS, angle, LOW_BALL - LOWER)
    arm, to_low = HIGH_BALL - UPPER, low - UPPER
    along = UPPER_AXIS * (UPPER_AXIS @ arm)
    A, B = (arm - along) @ to_low, np.cross(UPPER_AXIS, arm) @ to_low
    C = (arm @ arm + to_low @ to_low - np.sum((HIGH_BALL - LOW_BALL) ** 2)) / 2 - along @ to_low
    turns = np.arctan2(B, A) + np.array([-1, 1]) * np.arccos(C / np.hypot(A, B))
    high = UPPER + turned(UPPER_AXIS, turns[np.abs(turns).argmin()], arm)
    corners = [LOW_BALL, HIGH_BALL, RACK]
    side = np.sign(np.cross(HIGH_BALL - LOW_BALL, RACK - LOW_BALL) @ (ROD - LOW_BALL))
    return [low, high, third([low, high, RACK], [np.linalg.norm(ROD - p) for p in corners], side)]


def carried(points, place):
    """Where a place of the knuckle at the start has got to with three of its points."""

    def axes(a, b, c):
        n = np.cross(b - a, c - a)
        return np.column_stack([b - a, c - a, n])

    start = [LOW_BALL, HIGH_BALL, ROD]
    return points[0] + axes(*points) @ np.linalg.solve(axes(*start), place - LOW_BALL)


def test_a_double_wishbone_with_ball_joints():
    system = kn.System("wishbones", gravity=(0, 0, -9.81))
    plain = {"inertia": (0.01, 0.01, 0.01)}
    lower = system.body("lower", mass=3.0, com=tuple((LOW_BALL - LOWER) / 2), **plain)
    upper = system.body("upper", mass=2.0, com=tuple((HIGH_BALL - UPPER) / 2), **plain)
    knuckle = system.body("knuckle", mass=20.0, com=tuple(HUB - LOW_BALL), inertia=(0.5, 0.8, 0.5))
    system.revolute("arm", system.world.at(*LOWER), lower, axis=tuple(LOWER_AXIS), motion="0.25*sin(2*t)")
    system.revolute("upper_arm", system.world.at(*UPPER), upper, axis=tuple(UPPER_AXIS), guess=0.0)
    system.spherical("low_ball", lower.at(*(LOW_BALL - LOWER)), knuckle, guess=(1, 0, 0, 0))
    system.spherical("high_ball", upper.at(*(HIGH_BALL - UPPER)), knuckle.at(*(HIGH_BALL - LOW_BALL)))
    rod = float(np.linalg.norm(ROD - RACK))
    system.distance("rod", system.world.at(*RACK), knuckle.at(*(ROD - LOW_BALL)), rod)
    for name, place in {"hub": HUB, "face": FACE}.items():
        knuckle.at(*(place - LOW_BALL), name=name)
    run = kn.simulate(system, np.pi, samples=61, **TIGHT)
    points = [knuckle_points(angle) for angle in 0.25 * np.sin(2 * run.t)]
    for name, place in {"hub": HUB, "face": FACE}.items():
        wanted = np.array([carried(known, place) for known in points])
        assert run[f"knuckle.{name}.position"] == pytest.approx(wanted, abs=1e-10)
    hub, axle = run["knuckle.hub.position"], (run["knuckle.face.position"] - run["knuckle.hub.position"]) / 0.05
    camber, toe = np.degrees(np.arcsin(axle[:, 2])), np.degrees(np.arctan2(axle[:, 0], axle[:, 1]))
    bump_and_rebound = [15, 45]  # the arm at 0.25 and -0.25 rad
    assert hub[bump_and_rebound, 2] - HUB[2] == pytest.approx([0.08986397, -0.08749584], abs=1e-8)
    assert camber[bump_and_rebound] == pytest.approx([0.39468417, 1.87350016], abs=1e-7)
    assert toe[bump_and_rebound] == pytest.approx([-1.56109494, 0.62302998], abs=1e-7)
    assert run.audit.relative < 1e-9
