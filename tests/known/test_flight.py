"""Loads of flight against closed forms: falling and gliding with drag, epicyclic motion of a shell, standard air."""

import numpy as np
import pytest

import kinode as kn

SEA, G = 1.225, 9.81
# U.S. Standard Atmosphere 1976, table I, by geometric altitude: T [K], p [Pa], density [kg/m^3], speed of sound [m/s].
# Table I gives the kinetic temperature; above 80 km the molecular one, which our column holds, is not in it.
PUBLISHED = {
    0.0: (288.150, 1.01325e5, 1.2250, 340.29),
    5_000.0: (255.676, 5.4048e4, 7.3643e-1, 320.55),
    10_000.0: (223.252, 2.6500e4, 4.1351e-1, 299.53),
    20_000.0: (216.650, 5.5293e3, 8.8910e-2, 295.07),
    30_000.0: (226.509, 1.1970e3, 1.8410e-2, 301.71),
    50_000.0: (270.650, 7.9779e1, 1.0269e-3, 329.80),
    80_000.0: (198.639, 1.0524e0, 1.8458e-5, 282.54),
}


def ball(velocity=(0, 0, 0), gravity=(0, 0, -G), **air):
    system = kn.System("ball", gravity=gravity)
    shot = system.body("shot", shape=kn.sphere("5 cm", mass=0.5))
    system.free("flight", system.world, shot, velocity=velocity)
    system.ballistic("air", shot, area=8e-3, length=0.1, drag=0.47, sound_speed=340, **{"density": SEA, **air})
    return system


DRAG = 0.5 * SEA * 8e-3 * 0.47 / 0.5  # deceleration at 1 m/s


@pytest.mark.parametrize("altitude", PUBLISHED)
def test_standard_air(altitude):
    found = [f(altitude) for f in (kn.air_temperature, kn.air_pressure, kn.air_density, kn.air_sound_speed)]
    assert found == pytest.approx(PUBLISHED[altitude], rel=1e-4)  # five digits are printed


# Bottom of each layer, geopotential altitude [m] -> pressure [Pa]: J. Denker, "Altimetry" (2007), table of section 1.
LAYERS = {11e3: 22632.1, 20e3: 5474.89, 32e3: 868.019, 47e3: 110.906, 51e3: 66.9389, 71e3: 3.95642}


@pytest.mark.parametrize("H", LAYERS)
def test_bottom_of_layers(H):
    altitude = 6_356_766.0 * H / (6_356_766.0 - H)
    assert kn.air_pressure(altitude) == pytest.approx(LAYERS[H], rel=1e-5)  # six digits are printed


def test_viscosity_of_standard_air():
    """The same table at sea level and at 20 km [Pa s]."""
    assert kn.air_viscosity(0.0) == pytest.approx(1.7894e-5, rel=3e-5)
    assert kn.air_viscosity(20_000.0) == pytest.approx(1.4216e-5, rel=3e-5)


def test_air_carries_its_own_weight():
    """dp/dh = -density g, with g falling by the square of the distance from the earth's center [m]."""
    for h in np.linspace(-4e3, 85e3, 60):
        g = 9.80665 * (6_356_766.0 / (6_356_766.0 + h)) ** 2
        assert kn.air_pressure.call((h,), (0,)) == pytest.approx(-kn.air_density(h) * g, rel=1e-12)


def test_air_ends():
    with pytest.raises(kn.LawError, match=r"air_density: .* from -5 km to 86 km; the altitude is 90 km"):
        kn.air_density(90e3)
    high = ball((0, 0, 500), density=None)
    high.change("flight", q=(0, 0, 85.9e3, 1, 0, 0, 0))
    with pytest.raises(kn.SimulationError, match=r"air\.density: the standard atmosphere reaches"):
        kn.simulate(high, 5.0)


def test_falling_through_air():
    """v = c tanh(g t / c), fallen c^2/g log cosh(g t / c), c the terminal speed; then the terminal speed itself."""
    run = kn.simulate(ball(), 3.0, rtol=1e-10, atol=1e-10)
    c = np.sqrt(G / DRAG)
    assert -run["shot.velocity.z"] == pytest.approx(c * np.tanh(G * run.t / c), abs=1e-7)
    assert -run["shot.position.z"] == pytest.approx(c**2 / G * np.log(np.cosh(G * run.t / c)), abs=1e-7)
    assert -kn.simulate(ball(), 60.0)["shot.velocity.z"][-1] == pytest.approx(c, rel=1e-7)


def test_flying_level_against_the_air_and_with_the_wind():
    """Without weight: v = v0 / (1 + k v0 t) relative to the air, which the wind carries along."""
    wind = np.array([3.0, -2.0, 1.0])
    run = kn.simulate(ball((43, -2, 1), gravity=(0, 0, 0), wind=tuple(wind), altitude=0), 5.0, rtol=1e-10, atol=1e-10)
    k, t = DRAG, run.t
    assert run["shot.velocity"][:, 0] - wind[0] == pytest.approx(40 / (1 + k * 40 * t), rel=1e-8)
    assert run["shot.position"][:, 0] - wind[0] * t == pytest.approx(np.log(1 + k * 40 * t) / k, abs=1e-6)
    assert abs(run["shot.velocity"][:, 1:] - wind[1:]).max() < 1e-9
    assert run["air.airspeed"] == pytest.approx(run["air.mach"] * 340, rel=1e-12)
    assert run.audit.relative < 1e-9
    assert run["air.dynamic_pressure"] == pytest.approx(0.5 * SEA * run["air.airspeed"] ** 2, rel=1e-12)


# -- a shell ----------------------------------------------------------------------------------------------
SHELL = {"m": 43.0, "x": 0.14, "y": 1.4, "d": 0.155, "V": 600.0, "p": 1200.0}
AREA = np.pi * SHELL["d"] ** 2 / 4
FORM = {
    "drag": 0.25, "lift": 1.9, "magnus_force": -0.7, "overturning": 3.6, "pitch_damping": -17.0, "magnus_moment": 0.4,
}  # fmt: skip


def shell(tilt=(1e-5, -2e-5), turn=(2e-4, 1e-4)):
    """A shell whose drag a thrust makes up for, so that it flies evenly but for its nodding."""
    system = kn.System("shell", gravity=(0, 0, 0))
    form = {name: system.parameter(f"C_{name}", value) for name, value in FORM.items()}
    body = system.body("shell", mass=SHELL["m"], inertia=(SHELL["x"], SHELL["y"], SHELL["y"]))
    V = SHELL["V"]
    across = (V, V * tilt[0], V * tilt[1])
    system.free("flight", system.world, body, velocity=across, angular_velocity=(SHELL["p"], *turn))
    system.frame("aero", "nonrolling", on=body)
    common = {"area": AREA, "length": SHELL["d"], "density": SEA, "sound_speed": 340, "altitude": 0}
    system.ballistic("air", body, expressed_in="aero", **common, **form)
    system.thrust("motor", body, 0.5 * SEA * V**2 * AREA * form["drag"])
    return system


def nodding(**form):
    """The exact linear equations of v + i w and q + i r in nonrolling axes, as a complex matrix."""
    C, (m, A, B, d, V, spin) = FORM | form, SHELL.values()
    k = 0.5 * SEA * AREA
    return np.array([
        [-k * ((C["drag"] + C["lift"]) * V + 1j * d * spin * C["magnus_force"]) / m, 1j * V],
        [
            k * d * (d * spin * C["magnus_moment"] - 1j * V * C["overturning"]) / B,
            (k * d * d * V * C["pitch_damping"] + 1j * A * spin) / B,
        ],
    ])  # fmt: skip


@pytest.fixture(scope="module")
def flying():
    return kn.compile(shell())


@pytest.mark.parametrize("form", [{}, {"magnus_moment": 2.5}, {"overturning": -2.0}], ids=["shell", "Magnus", "finned"])
def test_epicyclic_motion(form, flying):
    """v + i w and q + i r are sums of two turning arms, whose rates and growth are eigenvalues."""
    t = np.linspace(0.0, 0.6, 61)
    given = {f"C_{name}": value for name, value in form.items()}
    run = kn.simulate(flying, times=t, until=0.6, rtol=1e-10, atol=1e-13, parameters=given)
    rates, arms = np.linalg.eig(nodding(**form))
    start = np.array([600.0 * (1e-5 - 2e-5j), 2e-4 + 1e-4j])
    known = (arms * np.linalg.solve(arms, start)) @ np.exp(np.outer(rates, t))
    v, w = run["shell.velocity@aero"], run["shell.angular_velocity@aero"]
    # The tilt of 2e-5 is small against 1, and so to its square are the terms that were left out.
    assert v[:, 1] + 1j * v[:, 2] == pytest.approx(known[0], abs=2e-6 * abs(known[0]).max())
    assert w[:, 1] + 1j * w[:, 2] == pytest.approx(known[1], abs=2e-6 * abs(known[1]).max())
    assert run["air.alpha"] == pytest.approx(v[:, 2] / v[:, 0], abs=1e-12)
    assert run["air.beta"] == pytest.approx(v[:, 1] / v[:, 0], abs=1e-12)
    growth = max(rates.real)
    assert (growth > 0) == ("magnus_moment" in form)  # too strong a Magnus moment makes the slow arm grow
    assert run["air.roll_ratio"] == pytest.approx(1200 * 0.155 / 600, rel=1e-6)


def test_modal_rates_of_ballistic_theory():
    """McCoy's quadratic s^2 + (H - i P) s - (M + i P T) = 0 in calibers of travel, without products of air terms."""
    m, A, B, d, V, p = SHELL.values()
    air = SEA * AREA * d / (2 * m)
    H = air * (FORM["lift"] - FORM["pitch_damping"] * m * d * d / B)
    M = air * m * d * d / B * FORM["overturning"]
    T = air * (FORM["lift"] + FORM["magnus_moment"] * m * d * d / A)
    P = A / B * p * d / V
    quadratic = np.sort_complex(np.roots([1.0, H - 1j * P, -(M + 1j * P * T)]) * V / d)
    exact = np.sort_complex(np.linalg.eigvals(nodding(magnus_force=0.0, drag=0.0)))
    assert P * P / (4 * M) > 1  # gyroscopically stable
    assert quadratic.imag == pytest.approx(exact.imag, rel=1e-3)
    assert quadratic.real == pytest.approx(exact.real, rel=5e-3)


def test_two_descriptions_of_one_shell():
    """Drag, lift and Magnus of a body of revolution as six coefficients along the axes."""
    system = shell(tilt=(0.1, -0.2), turn=(3.0, 2.0))
    ahead, across = "cos(incidence)", "sin(incidence)"
    y, z = "sin(beta)", "cos(beta)*sin(alpha)"  # of v / V
    D, L, N = FORM["drag"], FORM["lift"], FORM["magnus_force"]
    force = (
        f"-{D}*{ahead} + {L}*{across}^2",
        f"-({D} + {L}*{ahead})*{y} + ({N})*roll_ratio*{z}",
        f"-({D} + {L}*{ahead})*{z} - ({N})*roll_ratio*{y}",
    )
    Ma, Mq, Mp = FORM["overturning"], FORM["pitch_damping"], FORM["magnus_moment"]
    moment = (
        0,
        f"{Ma}*{z} + ({Mq})*pitch_ratio + {Mp}*roll_ratio*{y}",
        f"-{Ma}*{y} + ({Mq})*yaw_ratio + {Mp}*roll_ratio*{z}",
    )
    common = {k: v for k, v in system["air"].given().items() if k not in FORM}
    system.element("six", "aerodynamic", force_coefficients=force, moment_coefficients=moment, **common)
    dynamics = kn.compile(system)
    state = dynamics.state({})
    names = ("air.force", "six.force", "air.moment", "six.moment")
    found = dynamics.evaluate(names, state.t, state.q, state.u, z=state.z)
    assert found["six.force"] == pytest.approx(found["air.force"], rel=1e-9)
    assert found["six.moment"] == pytest.approx(found["air.moment"], rel=1e-9)


def test_thrust_from_a_table_and_in_any_direction():
    """Without air and weight the velocity gained is the impulse over the mass, which stays."""
    system = kn.System("rocket", gravity=(0, 0, 0))
    hull = system.body("hull", mass=4.0, inertia=(1, 1, 1))
    system.free("flight", system.world, hull, rpy=(0.3, -0.4, 0.5))
    system.table("burn", axes=[0, 1, 2, 3], values=[0, 100, 80, 0], outside="hold")
    system.thrust("motor", hull, "burn(t)", axis="-z")
    run = kn.simulate(system, 4.0, rtol=1e-10, times=np.linspace(0, 4, 9))
    assert run["motor.thrust"] == pytest.approx(np.interp(run.t, [0, 1, 2, 3], [0, 100, 80, 0]), abs=1e-9)
    assert run["hull.velocity@hull"][-1] == pytest.approx([0, 0, -180 / 4.0], abs=1e-6)
    assert abs(run["hull.angular_velocity"]).max() < 1e-12


def test_gravity_in_any_axes():
    system = ball()
    system.change("flight", velocity=(0, 0, 0), angular_velocity=(0.3, 0.2, -0.1))
    run = kn.simulate(system, 1.0)
    R = run["shot.rotation"].reshape(-1, 3, 3)
    assert run["system.gravity@shot"] == pytest.approx(R[:, 2, :] * -G, abs=1e-12)


def everything():
    system = shell()
    system.gravity = (0, 0, -9.80665)
    system.table("drag_by_mach", axes=[0, 1, 2, 5], values=[0.1, 0.3, 0.25, 0.2], outside="hold")
    system.change("air", drag="drag_by_mach(mach)", density=None, altitude=None, wind=("0.01*altitude", 0, 0))
    system.signal("thick", "air_density(shell.position.z)/air_density.d0(10)")
    system.earth_rotation("earth", latitude="40 deg", north="-y")
    return system


def test_saved_and_loaded(tmp_path):
    system = everything()
    system.save(tmp_path / "shell.yaml")
    again = kn.load(tmp_path / "shell.yaml")
    assert again == system
    assert "air_density(shell.position.z)" in (tmp_path / "shell.yaml").read_text()


def test_as_a_subsystem():
    """Names of the flow and of standard air stay what they are behind a prefix."""
    whole = kn.System("whole", gravity=(0, 0, -9.80665))
    whole.add("left", everything())
    one, two = kn.compile(everything()), kn.compile(whole)
    state = one.state({})
    found = one.evaluate(("air.force", "thick"), 0.0, state.q, state.u, z=state.z)
    again = two.evaluate(("left.air.force", "left.thick"), 0.0, state.q, state.u, z=state.z)
    assert again["left.air.force"] == pytest.approx(found["air.force"], rel=1e-13)
    assert again["left.thick"] == found["thick"]


SIZE = {"area": 1.0, "length": 1.0}
WRONG = {
    "no coefficient": ("ballistic", SIZE, r"air: has no coefficient: give some of drag, lift"),
    "no coefficients": ("aerodynamic", SIZE, r"air: has neither force_coefficients nor moment_coefficients"),
    "area": ("ballistic", {"area": -1, "length": 1, "drag": 1}, r"air\.area: must be positive, not -1"),
    "unit": ("ballistic", {**SIZE, "drag": "1 N"}, r"air\.drag: .*a plain number is needed"),
    "no area": ("ballistic", {"length": 1, "drag": 1}, r"air\.area: is needed and was not given"),
    "unknown name": ("ballistic", {**SIZE, "drag": "machh"}, r"air\.drag: nothing is called 'machh'"),
    "circle": ("ballistic", {**SIZE, "drag": 1, "density": "air.mach"}, r"air\.density: depends on itself: air -> air"),
    "flow in wind": (
        "ballistic",
        {**SIZE, "drag": 1, "wind": ("alpha", 0, 0)},
        r"air\.wind: nothing is called 'alpha'",
    ),
    "no up": ("ballistic", {**SIZE, "drag": 1}, r"air\.altitude: there is no gravity to tell which way is up"),
    "no thrust": ("thrust", {}, r"air\.thrust: is needed and was not given"),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors(case):
    kind, fields, message = WRONG[case]
    system = kn.System("wrong", gravity=(0, 0, 0 if case == "no up" else -9.81))
    system.free("flight", system.world, system.body("body", mass=1, inertia=(1, 1, 1)))
    with pytest.raises(kn.ModelError, match=message):
        system.element("air", kind, on="body", **fields)
        system.check()


def test_names_of_standard_air_are_taken():
    system = ball()
    with pytest.raises(kn.ModelError, match="'air_density' is reserved"):
        system.table("air_density", axes=[0, 1], values=[0, 1])
    with pytest.raises(kn.LawError, match=r"takes 1 argument, not 2"):
        system.signal("thick", "air_density(1, t)")


# -- small motions, and a loose part ------------------------------------------------------------------------


def test_small_motions_of_the_shell():
    """In body axes, which turn at the spin, the arms show at the spin less their own rates."""
    found = kn.linearize(shell((0, 0), (0, 0))).eigenvalues
    for arm in np.linalg.eigvals(nodding()):
        assert abs(found - (arm.real + 1j * (SHELL["p"] - arm.imag))).min() < 1e-6


def loosened():
    """The shell with a part of 0.5 kg that slides across on springs; ``own`` is its frequency with the shell held."""
    system = shell((0, 0), (0, 0))
    system.body("slide")
    system.body("loose", mass=0.5, inertia=(3e-4, 2e-4, 2e-4))
    own = system.parameter("own", 600.0)
    spring = {"stiffness": 0.5 * own**2, "damping": 5.0}
    system.prismatic("loose_y", {"body": "shell", "at": (0.25, 0, 0)}, "slide", axis="y", q=1e-6, **spring)
    system.prismatic("loose_z", "slide", "loose", axis="z", **spring)
    return system


def test_a_loose_part_that_spins_faster_than_it_swings():
    """Rubbing that turns with the spin feeds the whirl: the motion grows at the rate of the linear system."""
    dynamics = kn.compile(loosened())
    fast = kn.linearize(dynamics, {"loose_y.q": 0.0})
    assert not fast.stable
    growth = fast.modes[0].eigenvalue.real
    assert growth == pytest.approx(5.0 * (1200 / 600 - 1), rel=0.02)  # a light part: c / 2m (spin / own - 1)
    run = kn.simulate(dynamics, 1.0, times=np.linspace(0, 1, 201), rtol=1e-9, atol=1e-13)
    size = np.log(np.hypot(run["loose_y.q"], run["loose_z.q"]))[100:]
    assert np.polyfit(run.t[100:], size, 1)[0] == pytest.approx(growth, rel=1e-3)
    assert kn.linearize(dynamics, {"loose_y.q": 0.0}, parameters={"own": 1800.0}).stable
