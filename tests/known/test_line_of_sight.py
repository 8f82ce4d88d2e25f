"""A camera in ideal gimbals on a moving deck: rate and angle feedback hold it still, as far as its mass is on the axes.

Ideal: rings without mass, axes that meet in one point, no friction, motors without rotors.  Then nothing but the
moment of the motors turns the camera, I w' + w x I w = m - c x f with f the force in its pole, c from the pole to the
center of mass.  To first order in the angles theta and in c, with a the acceleration of the pole,

    I theta'' + D theta' + K theta = -c x M (a - g)
"""

import numpy as np
import pytest

import kinode as kn

MASS, INERTIA, GRAVITY = 28.0, np.array([0.4, 0.7, 0.6]), np.array([0, 0, -9.80665])
STIFFNESS, DAMPING = 400.0, 60.0
ANGLES = ("camera.rotation.zy", "camera.rotation.xz", "camera.rotation.yx")  # of a small turn about x, y, z


def gimbal(deck_moves=True):
    """The deck of the ship example, and a camera whose center of mass is off the pole by the parameters cx, cy, cz."""
    system = kn.System("gimbal", gravity=GRAVITY)
    for name in ("cx", "cy", "cz"):
        system.parameter(name, 0.0)
    heeling, yawing, deck = (system.body(name) for name in ("heeling", "yawing", "deck"))
    sway, heave, heel, yaw, pitch = "0", "0.3*sin(2*t)", "0", "0", "0"
    if deck_moves:
        sway, heave = "0.35*sin(2*pi*t/11 + 0.9)", "0.9*sin(2*pi*t/7.5 + 0.5)"
        heel, yaw = "0.21*sin(2*pi*t/9 + 0.3)", "0.05*sin(2*pi*t/17 + 1.1)"
        pitch = "0.07*sin(2*pi*t/6.5 - 0.7)"
    system.planar("heel", system.world, heeling, axis="x", motion=(sway, heave, heel))
    system.revolute("yaw", heeling, yawing, axis="z", motion=yaw)
    system.revolute("pitch", yawing, deck, axis="y", motion=pitch)
    head, yoke = system.body("head"), system.body("yoke")
    system.body("camera", mass=MASS, com=("cx", "cy", "cz"), inertia=INERTIA)
    for axis, angle in zip("xyz", ANGLES, strict=True):
        system.signal(f"m{axis}", f"-{STIFFNESS}*{angle} - {DAMPING}*camera.angular_velocity.{axis}")

    def about(body, axis):
        return " + ".join(f"m{k}*{body}.rotation.{k}{axis}" for k in "xyz")

    system.revolute("azimuth", deck.at(6.5, 0.4, 8.2), head, axis="z", effort=about("head", "z"))
    system.revolute("elevation", head, yoke, axis="y", effort=about("yoke", "y"))
    system.revolute("roll", yoke, system["camera"], axis="x", effort=about("camera", "x"))
    return system


def at_rest(dynamics):
    """The joints at t = 0 with the camera level and still in the world."""
    R = dynamics.pose("deck", 0.0, np.zeros(3))[0].T  # = Rz(azimuth) Ry(elevation) Rx(roll)
    q = np.array([np.arctan2(R[1, 0], R[0, 0]), -np.arcsin(R[2, 0]), np.arctan2(R[2, 1], R[2, 2])])
    rate = dynamics.evaluate("deck.angular_velocity", 0.0, q, np.zeros(3))["deck.angular_velocity"]
    u = -np.linalg.solve(dynamics.jacobian("camera", 0.0, q)[0], rate)
    names = ("azimuth", "elevation", "roll")
    return {f"{name}.{part}": x for part, values in (("q", q), ("u", u)) for name, x in zip(names, values, strict=True)}


def turn(dynamics, offset, until=20.0, count=2001):
    """Times and the small turn of the camera about x, y, z."""
    parameters = dict(zip(("cx", "cy", "cz"), offset, strict=True))
    times = np.linspace(0, until, count)
    run = kn.simulate(
        dynamics, until, start=at_rest(dynamics), times=times, parameters=parameters, method="dop853",
        rtol=1e-11, atol=1e-13,
    )  # fmt: skip
    return run, np.column_stack([run[name] for name in ANGLES])


@pytest.fixture(scope="module")
def dynamics():
    return kn.compile(gimbal())


def test_without_offset_the_error_is_zero_to_rounding(dynamics):
    run, error = turn(dynamics, (0, 0, 0))
    assert abs(run["azimuth.q"]).max() > 0.05  # the gimbals do move
    assert abs(run["roll.q"]).max() > 0.2
    assert abs(error).max() < 1e-11


@pytest.mark.parametrize("direction", [(0, 0, 1), (1, 0, 0), (0.5, -1, 0.3)])
def test_the_error_grows_with_the_offset_as_the_linear_theory_says(dynamics, direction):
    from scipy.signal import lsim

    run, _ = turn(dynamics, (0, 0, 0))
    moment = -np.cross(direction, MASS * (run["azimuth.parent.acceleration"] - GRAVITY))
    linear = np.column_stack(
        [lsim(([1], [J, DAMPING, STIFFNESS]), m, run.t)[1] for J, m in zip(INERTIA, moment.T, strict=True)]
    )
    offsets = (1e-5, 1e-4, 1e-3)
    errors = [turn(dynamics, c * np.array(direction))[1] / c for c in offsets]
    largest = abs(linear).max()
    assert largest > 0.05
    # What is left is of the second order in the offset: ten times as much for ten times the offset.
    rest = [abs(error - linear).max() / largest for error in errors]
    assert rest[0] < 3e-4  # and here the samples of the forcing
    assert rest[1] < 3e-3
    assert 7 < rest[2] / rest[1] < 13


def test_the_amplitude_for_one_harmonic():
    """A heave A sin(w t) turns a camera that is too heavy in front: M c w^2 A/|K - I w^2 + i w D| about y."""
    c, w, amplitude = 1e-4, 2.0, 0.3
    run, error = turn(kn.compile(gimbal(deck_moves=False)), (c, 0, 0), 60.0, 6001)
    settled = error[run.t > 60.0 - 6 * np.pi, 1]  # six whole periods
    wanted = MASS * c * w**2 * amplitude / abs(STIFFNESS - INERTIA[1] * w**2 + 1j * w * DAMPING)
    assert np.ptp(settled) / 2 == pytest.approx(wanted, rel=2e-3)
    assert settled.mean() == pytest.approx(MASS * c * 9.80665 / STIFFNESS, rel=2e-3)  # its weight pulls it down
