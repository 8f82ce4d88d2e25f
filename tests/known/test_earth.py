"""The earth: orbits, librations and pendulums against closed forms, the turning world against a driven base."""

import numpy as np
import pytest
from ship import ACCELERATIONS, ANGLES, EARTH, RATES, RATIOS, TIME, ship

import kinode as kn

MU, DAY = 3.986004418e14, 7.292115e-5
ORBIT = 7.0e6
RATE = np.sqrt(MU / ORBIT**3)


def satellite(inertia=(0, 0, 0), mass=500.0, velocity=None, **turning):
    system = kn.System("satellite", gravity=(0, 0, 0))
    body = system.body("craft", mass=mass, inertia=inertia)
    speed = (0, RATE * ORBIT, 0) if velocity is None else velocity
    system.free("flight", system.world, body, position=(ORBIT, 0, 0), velocity=speed, **turning)
    system.central_gravity("earth")
    return system


def test_a_circular_orbit_closes_after_its_period():
    run = kn.simulate(satellite((300, 300, 300)), 2 * np.pi / RATE, rtol=1e-11, atol=1e-6)
    assert abs(run["craft.position"][-1] - (ORBIT, 0, 0)).max() < 1e-8 * ORBIT
    assert np.linalg.norm(run["craft.position"], axis=1) == pytest.approx(ORBIT, rel=1e-9)


def test_kepler():
    """At the far end of an ellipse after half a period of its major axis; energy and angular momentum stay."""
    v = 1.15 * RATE * ORBIT
    a = 1 / (2 / ORBIT - v * v / MU)
    run = kn.simulate(satellite((300, 300, 300), velocity=(0, v, 0)), np.pi * np.sqrt(a**3 / MU), rtol=1e-11, atol=1e-6)
    assert run["craft.position"][-1] == pytest.approx([ORBIT - 2 * a, 0, 0], abs=1e-7 * a)
    energy = 250.0 * v * v - MU * 500.0 / ORBIT
    assert run["system.energy"] == pytest.approx(energy, rel=1e-9)
    assert run["earth.potential"] == pytest.approx(-MU * 500 / np.linalg.norm(run["craft.position"], axis=1), rel=1e-12)
    assert run["system.angular_momentum.z"] == pytest.approx(500 * v * ORBIT, rel=1e-9)


def test_libration_of_a_long_satellite():
    """Gravity gradient: in the plane of the orbit a small pitch swings at n sqrt(3 (J_across - J_along) / J_normal)."""
    along, across, normal = 50.0, 900.0, 920.0
    tilt = 1e-3
    craft = satellite((along, across, normal), rpy=(0, 0, tilt), angular_velocity=(0, 0, RATE))
    swing = RATE * np.sqrt(3 * (across - along) / normal)
    run = kn.simulate(craft, 2 * np.pi / swing, rtol=1e-11, atol=1e-9)
    pitch = run["craft.rpy.yaw"] - np.arctan2(run["craft.position.y"], run["craft.position.x"])
    assert np.unwrap(pitch) == pytest.approx(tilt * np.cos(swing * run.t), abs=3e-6 * tilt + 3e-9)


@pytest.mark.parametrize("latitude", [np.radians(48.85), -0.6])
def test_foucault(latitude):
    """Small swings z = x + i y: z'' + 2 i W z' + w^2 z = 0, W the rate about the vertical: the plane turns at -W."""
    amplitude, mass, length, J = 1e-3, 28.0, 67.0, 1e-3
    system = kn.System("pendulum", gravity=(0, 0, -9.81))
    bob = system.body("bob", mass=mass, com=(0, 0, -length), inertia=(J, J, J))
    system.spherical("wire", system.world, bob, q=(np.cos(amplitude / 2), 0, np.sin(amplitude / 2), 0))
    system.earth_rotation("earth", latitude=latitude)
    run = kn.simulate(system, 3000.0, rtol=1e-10, atol=1e-13)
    x, y, _ = run["bob.com.position"].T
    W, own = DAY * np.sin(latitude), np.sqrt(9.81 / (length + J / (mass * length)))
    swing = np.hypot(own, W)
    known = x[0] * np.exp(-1j * W * run.t) * (np.cos(swing * run.t) + 1j * W / swing * np.sin(swing * run.t))
    # The plane has turned by 0.1; the period of the swing is longer by amplitude^2 / 16, a phase of 7e-5 in the end.
    assert abs(x + 1j * y - known).max() < 1.5e-4 * abs(x[0])
    assert abs(np.imag(known)).max() > 0.1 * abs(x[0])


def chain():
    """A body in flight that carries two others, and a spring to the world."""
    system = kn.System("chain", gravity=(0, 0, 0))
    names = ("one", "two", "three")
    bodies = [
        system.body(name, mass=1 + k, com=(0.1, 0.2 * k, -0.1), inertia=(0.3, 0.4, 0.5, 0.02, -0.03, 0.01))
        for k, name in enumerate(names)
    ]
    system.free("flight", system.world, bodies[0])
    system.revolute("knee", bodies[0].at(0.3, 0, 0), bodies[1], axis=(1, 2, 3))
    system.universal("ankle", bodies[1].at(0, 0.4, 0), bodies[2], axes=("x", "y"))
    return system


def test_turning_world_against_a_driven_base():
    """The same motion relative to the world: as an element, and on a body that a joint turns."""
    latitude, rate, point = 0.7, 0.9, (0.4, -0.3, 0.2)
    north, up = np.eye(3)[1], np.eye(3)[0]
    seen = chain()
    seen.earth_rotation("earth", latitude=latitude, rate=rate, north="y", up="x", through=seen.world.at(*point))
    driven = kn.System("driven", gravity=(0, 0, 0))
    base = driven.body("base")
    axis = tuple(north * np.cos(latitude) + up * np.sin(latitude))
    driven.revolute("turning", driven.world, base, axis=axis, at=point, motion=f"{rate}*t")
    driven.add("on", chain(), on=base)
    one, two = kn.compile(seen), kn.compile(driven)
    rng = np.random.default_rng(5)
    for _ in range(3):
        q, u = rng.uniform(-1, 1, one.n_q), rng.uniform(-1, 1, one.n_u)
        q[3:7] /= np.linalg.norm(q[3:7])
        assert one.acceleration(0.0, q, u) == pytest.approx(two.acceleration(0.0, q, u), abs=1e-11)
        assert one.effort(0.0, q, u, u) == pytest.approx(two.effort(0.0, q, u, u), abs=1e-11)
        ours, theirs = one.reactions(0.0, q, u), two.reactions(0.0, q, u)
        for joint in ("knee", "ankle"):
            assert ours[joint].force == pytest.approx(theirs[f"on.{joint}"].force, abs=1e-11)
            assert ours[joint].moment == pytest.approx(theirs[f"on.{joint}"].moment, abs=1e-11)


def test_the_ship_on_the_earth():
    """The ship of known/ship.py with the earth as an element in place of a first segment; x north, y west, z up."""
    system = ship()
    system.gravity = (0, 0, -9.82)  # the pull alone, without the centrifugal part
    center = system.world.at(0, 0, -6_371_000.0)
    system.earth_rotation("earth", latitude="50 deg", through=center)
    dynamics = kn.compile(system)
    motors = dynamics.effort(TIME, ANGLES, RATES, ACCELERATIONS) / RATIOS
    assert motors == pytest.approx(list(EARTH["motor"].values()), rel=1e-8)


def test_a_ball_dropped_on_the_turning_earth_falls_east():
    """1/3 rate g cos(latitude) t^3 to the first order in the rate; it falls off the plumb line to the east."""
    system = kn.System("tower")
    ball = system.body("ball", shape=kn.sphere("1 cm", mass=1))
    system.free("fall", system.world, ball)
    system.earth_rotation("earth", latitude="45 deg")
    run = kn.simulate(system, 5.0, rtol=1e-11, atol=1e-12)
    east = -run["ball.position.y"]
    assert east[-1] == pytest.approx(DAY * 9.81 * np.cos(np.pi / 4) * 125 / 3, rel=1e-6)
    assert run.audit.relative < 1e-9


def test_errors():
    system = satellite()
    system.central_gravity("moon", mu=4.9e12, center=system.world.at(3.8e8, 0, 0))
    with pytest.raises(kn.ModelError, match=r"earth: acts on every body already, and moon does so once more"):
        kn.compile(system)
    system = satellite()
    system.gravity = (0, 0, -9.81)
    with pytest.raises(kn.ModelError, match=r"earth: acts in place of the system's uniform gravity"):
        kn.compile(system)
    with pytest.raises(kn.ModelError, match=r"spin\.north: up is z: north is level"):
        system.earth_rotation("spin", latitude=0.3, north="-z")
    with pytest.raises(kn.ModelError, match=r"spin\.through: is a place in the world, not on craft"):
        system.earth_rotation("spin", latitude=0.3, through="craft")
    with pytest.raises(kn.ModelError, match=r"mars\.mu: must be positive, not -1"):
        system.central_gravity("mars", mu=-1)
