"""The ship, its gimbal and its drives against figures from four independent derivations."""

import numpy as np
import pytest
from ship import (
    ACCELERATIONS,
    ANGLES,
    BODIES,
    DRIVES,
    EARTH,
    HELD,
    LEVEL,
    RATES,
    RATIOS,
    TIERS,
    TIME,
    held,
    ship,
    ship_on_the_earth,
)

import kinode as kn

STATE = (TIME, ANGLES, RATES)
MOTORS = np.array([0.35, -0.2, 0.02])
CASES = {"level": (ship, LEVEL, ""), "earth": (ship_on_the_earth, EARTH, "ship.")}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    build, known, prefix = CASES[request.param]
    return kn.compile(build()), known, prefix


def test_motors_for_given_accelerations(case):
    """Inverse dynamics (T-6.11): rotor, gear and friction are between the joint's moment and the motor's."""
    dynamics, known, _ = case
    motors = dynamics.effort(*STATE, ACCELERATIONS) / RATIOS
    assert motors == pytest.approx(list(known["motor"].values()), rel=1e-9)


def test_accelerations_by_given_motors(case):
    dynamics, known, _ = case
    assert dynamics.acceleration(*STATE, effort=MOTORS * RATIOS) == pytest.approx(known["driven"], rel=1e-9)
    # The three lower tiers weigh 1e5 times as much; they are prescribed and have no part in the matrix.
    assert dynamics.mass_matrix(TIME, ANGLES) == pytest.approx(np.array(known["matrix"]), rel=1e-9, abs=1e-12)


def test_loads_of_every_tier(case):
    """Force and moment by each tier on the next, motors included, about the pole, in the axes of the next."""
    dynamics, known, prefix = case
    for tier, joint in TIERS.items():
        body = prefix + BODIES[tier]
        found = dynamics.reactions(*STATE, u_dot=ACCELERATIONS, joints=prefix + joint, whole=True, expressed_in=body)[
            prefix + joint
        ]
        # The entries cancel from those of other axes: relative to the whole vector.
        for value, wanted in ((found.force, known["force"][tier]), (found.moment, known["moment"][tier])):
            assert abs(value - wanted).max() < 1e-9 * np.linalg.norm(wanted)


def test_motion_of_every_tier(case):
    """(T-6.1) to (T-6.6): driven by the motors that the accelerations need, so that these are the model's own."""
    dynamics, known, prefix = case
    system = dynamics.system.copy()
    for drive, moment in zip(DRIVES.values(), known["motor"].values(), strict=True):
        system.change(f"{prefix}{drive}.shaft", effort=moment)
    names = []
    for body in BODIES.values():
        of, axes = prefix + body, "@" + prefix + body
        names += [f"{of}.com.position", f"{of}.com.velocity", f"{of}.com.acceleration"]
        names += [f"{of}.angular_velocity{axes}", f"{of}.angular_acceleration{axes}"]
    found = kn.compile(system).evaluate(names, *STATE)
    largest = abs(np.array(known["position"]["C"])).max()  # 4.9e6 m from the earth's center
    for tier, body in BODIES.items():
        words = iter(("position", "velocity", "acceleration", "rate", "turning"))
        for name in [name for name in names if name.startswith(f"{prefix}{body}.")]:
            assert found[name] == pytest.approx(known[next(words)][tier], rel=1e-9, abs=1e-13 * largest + 1e-9)


def test_ten_seconds_under_control():
    """The angles are held by laws in the motors: the trajectory, the motors' moments and the accelerations."""
    known = np.array(HELD)
    start = dict(zip(("azimuth.q", "elevation.q", "roll.q"), ANGLES, strict=True))
    start |= dict(zip(("azimuth.u", "elevation.u", "roll.u"), RATES, strict=True))
    run = kn.simulate(held(), 10.0, start=start, times=known[:, 0], method="dop853", rtol=1e-12, atol=1e-13)
    joints, shafts = list(TIERS.values())[3:], [f"{drive}.shaft" for drive in DRIVES.values()]
    names = [f"{joint}.{part}" for part in ("q", "u") for joint in joints]
    names += [f"{shaft}.effort.drive" for shaft in shafts] + [f"{joint}.u_dot" for joint in joints]
    found = np.column_stack([run[name] for name in names])
    assert abs(found - known[:, 1:]).max() < 1e-8


def test_independent_derivations_agree():
    assert kn.verify(ship()).ok


def test_the_motor_turns_the_tier_below():
    """On the carrier a motor acts by its moment, on the joint by the geared one: the base feels both."""
    system = kn.System("motor", gravity=(0, 0, 0))
    base, arm = system.body("base", inertia=(1, 1, 2.0)), system.body("arm", inertia=(2, 2, 3.0))
    system.revolute("pivot", system.world, base)
    system.revolute("joint", base, arm)
    system.drive("motor", "joint", ratio=-10, inertia=0.05, effort=4.0)
    found = kn.compile(system)
    # With a = base, b = joint, the rotor's momentum about z: 0.05 (a - 10 b).
    # 2 a + 3 (a + b) + 0.05 (a - 10 b) = 0 and 3 (a + b) - 10 * 0.05 (a - 10 b) = -10 * 4
    matrix = np.array([[5.05, 2.5], [2.5, 8.0]])
    assert found.mass_matrix(0, np.zeros(2)) == pytest.approx(matrix)
    assert found.acceleration(0, np.zeros(2), np.zeros(2)) == pytest.approx(np.linalg.solve(matrix, [0, -40]))
