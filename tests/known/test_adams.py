"""Records of the commercial program Adams that Project Chrono publishes (data/testing/joints, BSD-3-Clause).

Six digits are written.  The figures here were checked over the whole record, every 10 ms for 5 s; the largest
distances found there are the tolerances.
"""

import numpy as np
import pytest

import kinode as kn

TIGHT = {"method": "dop853", "rtol": 1e-12, "atol": 1e-13}
GRAVITY = (0, 0, -9.80665)

# Time, position and velocity of the center, force on the ground.  The record of case 1 was made with a loose
# tolerance: it is 8e-4 m away from that of case 2, which is the same motion elsewhere.
CASE_1 = [
    (0.5, (1.66081, 0, -1.11432), (-2.57277, 0, -3.8345), (13.28, 0, -9.14947)),
    (1.0, (-0.892369, 0, -1.78988), (-5.23737, 0, 2.61106), (-11.4609, 0, -23.227)),
    (2.5, (-0.265279, 0, -1.98233), (6.10396, 0, -0.816939), (-3.77304, 0, -28.4336)),
    (5.0, (-1.99967, 0, -0.0361929), (-0.0148923, 0, 0.822711), (-0.511671, 0, -0.248448)),
]
CASE_2 = [
    (0.5, (2.66081, 2, 1.88568), (-2.57277, 0, -3.8345), (13.2797, 0, -9.14925)),
    (1.0, (0.107619, 2, 1.21012), (-5.23742, 0, 2.61123), (-11.4613, 0, -23.2273)),
    (2.5, (0.734494, 2, 1.0177), (6.10431, 0, -0.817604), (-3.77661, 0, -28.4358)),
    (4.0, (2.29696, 2, 1.47754), (-4.10868, 0, -3.50013), (14.1689, 0, -16.8716)),
    (5.0, (-0.999684, 2, 2.96444), (-0.0146657, 0, 0.824742), (-0.510211, 0, -0.248253)),
]


@pytest.mark.parametrize(
    ("record", "at", "tilt", "tolerances"),
    [(CASE_1, (0, 0, 0), 0.0, (9e-4, 3e-3, 1.3e-2)), (CASE_2, (1, 2, 3), -np.pi / 4, (6e-6, 6e-6, 6e-4))],
)
def test_spherical(record, at, tilt, tolerances):
    """Spherical_Case01, 02: a bar of 1 kg on a ball joint, its center 2 m away, let go from the horizontal."""
    system = kn.System("ball", gravity=GRAVITY)
    bar = system.body("bar", mass=1.0, com=(2.0, 0, 0), inertia=(0.04, 0.1, 0.1))
    system.spherical("ball", system.world.at(*at, rpy=(tilt, 0, 0)), bar)
    run = kn.simulate(system, 5.0, times=[0.0, *(row[0] for row in record)], **TIGHT)
    found = (
        run["bar.com.position"],
        run.velocity("bar.com"),
        run.reaction("ball", on="world", expressed_in="world").force,
    )
    for values, expected, tolerance in zip(found, list(zip(*record, strict=True))[1:], tolerances, strict=True):
        assert np.abs(values[1:] - np.array(expected)).max() < tolerance


SPRING = [
    (0.5, -0.9167, -2.74529, -10.5397),
    (1.0, -1.74502, 0.0261347, -17.4371),
    (2.5, -0.953206, -1.66452, -10.3643),
    (4.0, -0.619, -0.0493662, -6.21468),
    (5.0, -1.26242, 0.0480496, -12.6002),
]


def test_translational_spring():
    """TranSpring_Case01: height, speed and force on the ground of a body on a vertical spring.

    The record is of a spring of 10 N/m, damping 0.5 N*s/m, without tension at the start (force = 10 z + 0.5 v in all
    of its rows); the model file that lies beside it has other figures.
    """
    system = kn.System("spring", gravity=GRAVITY)
    body = system.body("body", mass=1.0, inertia=(0.04, 0.1, 0.1))
    system.free("flight", system.world, body)
    system.spring("spring", system.world.at(0, 0, -20), body, stiffness=10, free_length=20, damping=0.5)
    run = kn.simulate(system, 5.0, times=[0.0, *(row[0] for row in SPRING)], **TIGHT)
    values = np.column_stack([run["body.position"][:, 2], run.velocity("body")[:, 2], run["spring.tension"]])[1:]
    assert np.all(np.abs(values - np.array(SPRING)[:, 1:]) < (6e-6, 6e-6, 6e-5))
