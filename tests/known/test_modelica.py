"""Examples of Modelica.Mechanics.MultiBody against the reference results that the Modelica Association publishes.

The records (MAP-LIB_ReferenceResults, Modelica 4.0.0) are of Dymola with DASSL and a tolerance of 1e-6: 1e-5 rad and
1e-4 rad/s is what they hold.  World: gravity 9.80665 m/s^2 along -y.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinode as kn

TIGHT = {"method": "dop853", "rtol": 1e-12, "atol": 1e-13}
G = 9.80665


def test_pendulum():
    """Elementary.Pendulum: 1 kg at 0.5 m, inertia 0.001 kg m^2, a damper of 0.1 N m s/rad.  t, rev.phi, rev.w."""
    record = np.array([
        [0.1, -0.0963594740968355, -1.9132967936705],
        [0.36, -1.14983599160817, -5.64809983325851],
        [5.0, -1.67963464183622, -2.31814702855536],
    ])  # fmt: skip
    system = kn.System("Pendulum", gravity=(0, -G, 0))
    body = system.body("body", mass=1.0, com=(0.5, 0, 0), inertia=(0.001, 0.001, 0.001))
    system.revolute("rev", system.world, body, axis="z", damping=0.1)
    run = kn.simulate(system, 5.0, times=[0.0, *record[:, 0]], **TIGHT)
    assert run["rev.q"][1:] == pytest.approx(record[:, 1], abs=1e-5)
    assert run["rev.u"][1:] == pytest.approx(record[:, 2], abs=1e-4)


def test_double_pendulum():
    """Elementary.DoublePendulum: two boxes of 0.5 x 0.06 x 0.06 m, 7700 kg/m^3, a damper of 0.1 in the first hinge.

    t, revolute1.phi, revolute1.w, revolute2.phi, revolute2.w.
    """
    record = np.array([
        [0.1002, -0.125230870024152, -2.46804701305642, 0.164564822884664, 3.1795379251562],
        [0.1182, -0.173277955008986, -2.86543146977533, 0.225693553878126, 3.59511758005106],
        [2.9952, -2.33744251606748, 4.03600479639967, -1.73586687636693, -0.208507251243533],
        [3.0, -2.31792856164629, 4.09411019727828, -1.73649166916319, -0.0503767046344943],
    ])  # fmt: skip
    system = kn.System("DoublePendulum", gravity=(0, -G, 0))
    box = kn.box("0.5 m", "0.06 m", "0.06 m", density=7700, at=(0.25, 0, 0))
    upper, lower = (system.body(name, shape=box) for name in ("boxBody1", "boxBody2"))
    system.revolute("revolute1", system.world, upper, axis="z", damping=0.1)
    system.revolute("revolute2", upper.at(0.5, 0, 0), lower, axis="z")
    run = kn.simulate(system, 3.0, times=[0.0, *record[:, 0]], **TIGHT)
    values = np.column_stack([run[name][1:] for name in ("revolute1.q", "revolute1.u", "revolute2.q", "revolute2.u")])
    assert values[:, ::2] == pytest.approx(record[:, 1::2], abs=1e-4)  # after 3 s errors have grown fourfold
    assert values[:, 1::2] == pytest.approx(record[:, 2::2], abs=2e-4)
    assert values[:2] == pytest.approx(record[:2, 1:], abs=1e-5)


def test_planar_four_bar():
    """Loops.PlanarFourbar: boxes of 0.05 x 0.05 m, a damper of 0.1 in the first hinge.  t, revolute1.phi, revolute1.w.

    The bars whirl at 13 rad/s, and the error of the record grows with every turn: by 5 s it is 6e-4 rad, while runs
    with tolerances of 1e-8 and 1e-11 here agree to 1e-8.
    """
    record = np.array([
        [1.0, -1.82106780567352, 12.4555110108612],
        [1.2, -0.310168057143461, 3.83764380570461],
        [5.0, -0.939783395642669, 6.99349011457421],
    ])  # fmt: skip
    r1, r2, r3 = np.array([0.4, 0, 0]), np.array([0.1, 1.1, 0]), np.array([-0.15, 1.0, 0])
    r4 = r1 + r2 - r3
    system = kn.System("PlanarFourbar", gravity=(0, -G, 0))

    def box(name, r):
        length = float(np.linalg.norm(r))
        mass = 7700 * length * 0.05**2
        return system.body(name, mass=mass, com=tuple(r / 2), inertia={"zz": mass * (length**2 + 0.05**2) / 12})

    body1, body2, body4 = box("body1", r1), box("body2", r2), box("body4", r4)
    system.revolute("revolute1", system.world, body1, damping=0.1, q=0, u=0)
    system.revolute("revolute2", body1.at(*r1), body2)
    system.revolute("revolute3", system.world.at(*r3), body4)
    system.revolute("revolute4", body4.at(*r4), body2.at(*r2))
    times = [0.0, *record[:, 0]]
    run, looser = (kn.simulate(system, 5.0, times=times, rtol=rtol, atol=rtol / 10) for rtol in (1e-11, 1e-8))
    assert run["revolute1.q"] == pytest.approx(looser["revolute1.q"], abs=1e-6)
    angle, speed = (abs(run[name][1:] - column) for name, column in zip(("revolute1.q", "revolute1.u"), record.T[1:]))
    assert (angle < [5e-5, 2e-5, 1e-3]).all()
    assert (speed < [5e-4, 5e-4, 5e-3]).all()


# Loops.Engine1b with Utilities.Engine1Base and Utilities.GasForce2: all parts of steel; s is the piston's way down from
# 0.45 m above the shaft.
STEEL, CRANK, ROD, BORE, STROKE = 7700.0, 0.1, 0.2, 0.1, 0.35


def engine_parts():
    """Crankshaft: mass, first moment, moment of inertia about its axis; masses of rod and piston."""
    web = STEEL * CRANK * 0.02 * 0.05  # two boxes, one on each side
    pin = STEEL * 0.1 * np.pi * 0.015**2  # in two halves
    shaft = STEEL * 0.1 * np.pi * 0.025**2
    about_axis = shaft * 0.025**2 / 2 + pin * (0.015**2 / 2 + CRANK**2)
    about_axis += 2 * web * ((CRANK**2 + 0.05**2) / 12 + (CRANK / 2) ** 2)
    rod, piston = STEEL * ROD * 0.02 * 0.06, STEEL * 0.1 * np.pi * 0.05**2
    return shaft + pin + 2 * web, (pin + web) * CRANK, about_axis, rod, piston


# The pressure in bar within the stroke of this engine, by powers of x = 1 - s / L, the highest first.
EXPANSION, COMPRESSION = (145.930, -131.707, 17.3438, 17.9272, 2.4), (177.4132, -287.2189, 151.8252, -24.9973, 2.4)


def engine():
    """One cylinder with gas force, started at the upper dead centre with 10 rad/s; a flywheel of 1 kg m^2."""
    mass, moment, about_axis, rod_mass, piston_mass = engine_parts()
    system = kn.System("Engine1b", gravity=(0, -G, 0))
    crank = system.body("crank", mass=mass, com=(0, moment / mass, 0),
                        inertia={"xx": 1.0 + about_axis - moment**2 / mass})  # fmt: skip
    rod = system.body("connectingRod", mass=rod_mass, com=(0, ROD / 2, 0),
                      inertia={"xx": rod_mass * (ROD**2 + 0.06**2) / 12})  # fmt: skip
    piston = system.body("piston", mass=piston_mass, com=(0, -0.05, 0), inertia=(1, 1, 1))
    system.revolute("bearing", system.world, crank, axis="x", q=0, u=10)
    system.revolute("b2", crank.at(0, CRANK, 0), rod, axis="x")
    system.revolute("b1", rod.at(0, ROD, 0), piston.at(0, -0.1, 0), axis="x")
    down, up = (" + ".join(f"{a}*x^{4 - k}" for k, a in enumerate(curve)) for curve in (EXPANSION, COMPRESSION))
    system.signal("x", f"1 - cylinder.q/{STROKE}")
    law = f"{1e5 * np.pi * BORE**2 / 4} * where(cylinder.u < 0, {up}, {down})"
    system.prismatic("cylinder", system.world.at(0, 0.45, 0), piston, axis=(0, -1, 0), guess=0.05, effort=law)
    return system


def engine_by_lagrange(times):
    """Angle and speed of the crank: the equation of one freedom, its inertia and the gas force as functions of it.

    J(phi) phi'' + J'(phi) phi'^2 / 2 = - dV/dphi + p A ds/dphi, from one dead centre to the next.
    """
    _, moment, about_axis, rod_mass, piston_mass = engine_parts()
    rod_inertia = rod_mass * (ROD**2 + 0.06**2) / 12

    def geometry(phi):
        sine, cosine = np.sin(phi), np.cos(phi)
        lean = np.arcsin(CRANK * sine / ROD)  # of the rod
        lean1 = CRANK * cosine / (ROD * np.cos(lean))
        lean2 = (-CRANK * sine / ROD + np.sin(lean) * lean1**2) / np.cos(lean)
        # positions, slopes and curvatures along phi: piston's pin y; middle of the rod (z, y)
        y = CRANK * cosine + ROD * np.cos(lean)
        y1 = -CRANK * sine - ROD * np.sin(lean) * lean1
        y2 = -CRANK * cosine - ROD * (np.cos(lean) * lean1**2 + np.sin(lean) * lean2)
        middle1 = np.array([CRANK * cosine / 2, (y1 - CRANK * sine) / 2])
        middle2 = np.array([-CRANK * sine / 2, (y2 - CRANK * cosine) / 2])
        return y, y1, y2, middle1, middle2, lean1, lean2

    def rate(t, state, expands):
        phi, w = state
        y, y1, y2, middle1, middle2, lean1, lean2 = geometry(phi)
        J = 1.0 + about_axis + piston_mass * y1**2 + rod_mass * middle1 @ middle1 + rod_inertia * lean1**2
        J1 = 2 * (piston_mass * y1 * y2 + rod_mass * middle1 @ middle2 + rod_inertia * lean1 * lean2)
        weight = G * (-moment * np.sin(phi) + piston_mass * y1 + rod_mass * middle1[1])
        s = 0.45 - 0.1 - y
        force = 1e5 * np.polyval(EXPANSION if expands else COMPRESSION, 1 - s / STROKE) * np.pi * BORE**2 / 4
        return w, (-J1 * w**2 / 2 - weight - force * y1) / J

    values, state, t, half_turns = [], np.array([0.0, 10.0]), 0.0, 0
    while len(values) < len(times):

        def dead_centre(t, state, *_, at=np.pi * (half_turns + 1)):
            return state[0] - at

        dead_centre.terminal = True
        part = solve_ivp(rate, (t, times[-1]), state, method="DOP853", rtol=1e-12, atol=1e-12,
                         args=(half_turns % 2 == 0,), events=dead_centre, dense_output=True)  # fmt: skip
        values += [part.sol(time) for time in times[len(values) :] if time <= part.t[-1]]
        t, state, half_turns = part.t[-1], part.y[:, -1], half_turns + 1
    return np.array(values).T


def test_engine():
    """Loops.Engine1b: a slider-crank with gas force that jumps at each dead centre.  t, inertia.phi, inertia.w."""
    record = np.array([
        [0.05, 1.1507987905436263, 44.845601067918508],
        [0.1, 4.0010483940915904, 59.785892895190798],
        [0.15, 6.7100194868221319, 55.095041903842457],
        [0.2, 10.312261578657955, 77.664036357505339],
        [0.28, 16.799933831306827, 91.358699744913253],
    ])  # fmt: skip
    run = kn.simulate(engine(), 0.28, times=[0.0, *record[:, 0]], **TIGHT)
    angle, speed = engine_by_lagrange(record[:, 0].tolist())
    assert run["bearing.q"][1:] == pytest.approx(angle, abs=1e-8)
    assert run["bearing.u"][1:] == pytest.approx(speed, abs=1e-6)
    assert run["bearing.q"][1:] == pytest.approx(record[:, 1], rel=1e-5)  # the record's events come a little late
    assert run["bearing.u"][1:] == pytest.approx(record[:, 2], rel=2e-5)
