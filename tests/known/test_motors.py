"""Motors against closed forms, and against equations written by hand here and solved by SciPy."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from wired import MOTOR, TIGHT, assert_near, circuit, fed, settle

import kinode as kn


def poles(R, L, K, J, b):
    return np.linalg.eigvals([[-R / L, -K / L], [K / J, -b / J]])


def test_spin_up_with_two_time_constants():
    R, L, K, J, b = 1.2, 0.01, 0.05, 2e-4, 2e-4
    run = kn.simulate(fed(), 1.0, samples=201, **TIGHT)
    first, second = poles(R, L, K, J, b)
    rest = 24 * K / (K * K + R * b)
    speed = rest * settle(run.t, first, second)
    slope = rest * first * second * (np.exp(first * run.t) - np.exp(second * run.t)) / (first - second)
    assert_near(run["shaft.speed"], speed)
    assert_near(run["motor.current"], (J * slope + b * speed) / K)
    assert_near(run["motor.speed"], speed)
    assert run.audit.relative < 1e-9


@pytest.mark.parametrize(
    ("method", "near"),
    [({"method": "stiff", "rtol": 1e-9, "atol": 1e-12}, 1e-6), ({"method": "rk4", "step": 2e-4}, 1e-8)],
    ids=("stiff", "rk4"),
)
def test_every_method_runs_the_motor_up(method, near):
    """Errors of the fourth-order method: (step/time constant)^4 = (2e-4/8e-3)^4, over 120, is 3e-9."""
    run = kn.simulate(fed(), 0.5, samples=51, **method)
    first, second = poles(1.2, 0.01, 0.05, 2e-4, 2e-4)
    rest = 24 * 0.05 / (0.05**2 + 1.2 * 2e-4)
    assert_near(run["shaft.speed"], rest * settle(run.t, first, second), near)


def test_spin_up_without_inductance():
    """One state less, and one time constant: J R/(K^2 + R b)."""
    R, K, J, b = 1.2, 0.05, 2e-4, 2e-4
    system = fed(inductance=0)
    run = kn.simulate(system, 1.0, samples=201, **TIGHT)
    rest, tau = 24 * K / (K * K + R * b), J * R / (K * K + R * b)
    speed = rest * (1 - np.exp(-run.t / tau))
    assert_near(run["shaft.speed"], speed)
    assert_near(run["motor.current"], (24 - K * speed) / R)


def test_poles_of_a_motor():
    system = fed()
    system.input("volts", 24.0)
    system.change("source", voltage="volts")
    R, L, K, J, b = 1.2, 0.01, 0.05, 2e-4, 2e-4
    speed = 24 * K / (K * K + R * b)
    small = kn.linearize(system, {"shaft.speed": speed, "motor.current": b * speed / K})
    found = sorted(value.real for value in small.eigenvalues if abs(value) > 1e-9)
    assert found == pytest.approx(sorted(poles(R, L, K, J, b).real), rel=1e-10)
    row = small.states.index("motor.current")
    assert small.B[row, 0] == pytest.approx(1 / L, rel=1e-12)


def test_a_motor_fed_with_current_pushes_evenly():
    system = circuit(
        source=("current_source", {"plus": "a", "minus": "gnd", "current": 3.0}),
        motor=("dc_motor", {"plus": "a", "minus": "gnd", "shaft": "shaft", **MOTOR, "viscous": 0}),
        load=("shaft_inertia", {"shaft": "shaft", "inertia": 3e-4}),
    )
    run = kn.simulate(system, 2.0, samples=51, **TIGHT)
    speed = 0.05 * 3 / 5e-4 * run.t
    assert_near(run["shaft.speed"], speed)
    assert_near(run["shaft.angle"], 0.5 * speed * run.t)
    assert_near(run["a.voltage"], 1.2 * 3 + 0.05 * speed)


def geared(ratio=40.0, load=0.5, **motor):
    """A motor that turns a body about an upright axis through a gearbox."""
    system = kn.System("table")
    body = system.body("table", mass=1, inertia=(1, 1, load))
    system.revolute("hinge", system.world, body)
    system.element("supply", "voltage_source", plus="bus", minus="gnd", voltage=24)
    system.element("motor", "dc_motor", plus="bus", minus="gnd", shaft="rotor", **{**MOTOR, **motor})
    system.element("gear", "gearbox", input="rotor", output="hinge", ratio=ratio)
    return system


def test_a_rotor_behind_a_gear_counts_with_the_square_of_the_ratio():
    R, K, J, b, n, load = 1.2, 0.05, 2e-4, 1e-4, 40.0, 0.5
    run = kn.simulate(geared(inductance=0), 3.0, samples=201, **TIGHT)
    pull = n * n * (K * K / R + b)
    rest, tau = n * K * 24 / R / pull, (J * n * n + load) / pull
    speed = rest * (1 - np.exp(-run.t / tau))
    assert_near(run["hinge.u"], speed)
    assert_near(run["rotor.speed"], n * speed)
    assert_near(run["hinge.u_dot"], rest / tau * np.exp(-run.t / tau))
    assert_near(run["gear.output.moment"], -load * rest / tau * np.exp(-run.t / tau), 1e-8)
    assert_near(run["hinge.effort"], load * rest / tau * np.exp(-run.t / tau), 1e-8)
    assert run.audit.relative < 1e-9


def test_the_rotor_of_a_drive_does_the_same():
    """A rotor as a body on its carrier, geared to the hinge: the motor's shaft is the joint ``unit.shaft``."""
    system = kn.System("table")
    body = system.body("table", mass=1, inertia=(1, 1, 0.5))
    system.revolute("hinge", system.world, body)
    system.drive("unit", "hinge", ratio=40, inertia=2e-4)
    system.element("supply", "voltage_source", plus="bus", minus="gnd", voltage=24)
    system.element("motor", "dc_motor", plus="bus", minus="gnd", shaft="unit.shaft", **{**MOTOR, "inertia": 0})
    run, other = kn.simulate(system, 2.0, samples=51, **TIGHT), kn.simulate(geared(), 2.0, samples=51, **TIGHT)
    for name in ("hinge.q", "hinge.u", "hinge.u_dot", "motor.current"):
        assert_near(run[name], other[name])


def test_losses_of_a_motor_are_what_the_supply_loses():
    """At rest all that goes in is lost: in the winding, in the bearings, in the iron."""
    run = kn.simulate(fed(coulomb=0.01, slip=0.1, inductance=0), 3.0, samples=31, **TIGHT)
    speed, current = run["motor.speed"][-1], run["motor.current"][-1]
    assert run["motor.lost"][-1] == pytest.approx(1.2 * current**2 + 1e-4 * speed**2 + 0.01 * speed, rel=1e-9)
    assert run["source.power"][-1] == pytest.approx(-24 * current, rel=1e-12)
    assert run["motor.lost"][-1] + 1e-4 * speed**2 == pytest.approx(24 * current, rel=1e-6)


DQ = {"resistance": 0.4, "inductance_d": 2e-3, "inductance_q": 3e-3, "flux": 0.02, "pole_pairs": 4}


def dq(speed, R=0.4, Ld=2e-3, Lq=3e-3, flux=0.02, p=4):
    """i' = A i + e - c: the equations of both axes at a constant speed."""
    A = np.array([[-R / Ld, p * speed * Lq / Ld], [-p * speed * Ld / Lq, -R / Lq]])
    return A, np.array([-10.0 / Ld, (25.0 - p * speed * flux) / Lq])


@pytest.mark.parametrize("scaling", [1.5, 1.0])
def test_brushless_motor_at_a_constant_speed(scaling):
    """Steady state by a linear system, the way there by the matrix exponential."""
    system = circuit(
        motor=("brushless_motor", {"shaft": "s", "voltage_d": -10, "voltage_q": 25, "scaling": scaling, **DQ}),
        turn=("speed_source", {"a": "s", "speed": 100.0}),
    )
    run = kn.simulate(system, 0.05, samples=51, **TIGHT)
    A, drive = dq(100.0)
    steady = np.linalg.solve(A, -drive)
    currents = np.array([steady - expm(A * t) @ steady for t in run.t])
    assert_near(run["motor.current_d"], currents[:, 0])
    assert_near(run["motor.current_q"], currents[:, 1])
    moment = scaling * 4 * (0.02 + (2e-3 - 3e-3) * currents[:, 0]) * currents[:, 1]
    assert_near(run["motor.shaft.moment"], -moment)
    assert_near(run["turn.moment"], -moment)
    settled = kn.simulate(system, 2.0, samples=3, **TIGHT)
    assert settled["motor.current_d"][-1] == pytest.approx(steady[0], rel=1e-9)
    assert settled["motor.current_q"][-1] == pytest.approx(steady[1], rel=1e-9)
    assert run.audit.relative < 1e-9


def test_brushless_motor_runs_up_from_a_bus():
    """Inverter, both axes and rotor against the equations solved by SciPy; the bus delivers what the axes take."""
    system = circuit(
        battery=("battery", {"plus": "bus", "minus": "gnd", "voltage": 48, "resistance": 0.1}),
        motor=(
            "inverter_motor",
            {"plus": "bus", "minus": "gnd", "shaft": "s", "modulation_d": "-0.1*min(1, t/0.1)",
             "modulation_q": "0.4*min(1, t/0.1)", "inertia": 1e-3, "viscous": 1e-3, **DQ},
        ),
        load=("shaft_damper", {"a": "s", "damping": 4e-3}),
    )  # fmt: skip
    R, Ld, Lq, flux, p = 0.4, 2e-3, 3e-3, 0.02, 4

    def rates(t, x):
        d, q, w = x
        md, mq = -0.1 * min(1, t / 0.1), 0.4 * min(1, t / 0.1)
        bus = 48 - 0.1 * 1.5 * (md * d + mq * q)
        return [
            (md * bus - R * d + p * w * Lq * q) / Ld,
            (mq * bus - R * q - p * w * (Ld * d + flux)) / Lq,
            (1.5 * p * (flux + (Ld - Lq) * d) * q - 5e-3 * w) / 1e-3,
        ]

    run = kn.simulate(system, 0.1, samples=51, **TIGHT)
    exact = solve_ivp(rates, (0, 0.1), [0, 0, 0], "DOP853", run.t, rtol=1e-12, atol=1e-13).y
    for name, values in zip(("motor.current_d", "motor.current_q", "s.speed"), exact, strict=True):
        assert_near(run[name], values)
    assert_near(run["battery.current"], 1.5 * run.t / 0.1 * (-0.1 * exact[0] + 0.4 * exact[1]))
    assert run.audit.relative < 1e-9
