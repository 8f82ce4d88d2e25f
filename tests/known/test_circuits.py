"""Circuits against closed forms, and against equations written by hand here and solved by SciPy."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import kinode as kn

TIGHT = {"rtol": 1e-11, "atol": 1e-13}
NEAR = 1e-9  # what a run at TIGHT is off by after some hundred steps, relative to the largest value
G = 9.81
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def circuit(**parts):
    """A system of nothing but parts: name=(kind, fields)."""
    system = kn.System("circuit")
    for name, (kind, fields) in parts.items():
        system.element(name, kind, **fields)
    return system


def assert_near(found, expected, near=NEAR):
    expected = np.broadcast_to(expected, np.shape(found))
    assert np.abs(found - expected).max() <= near * np.abs(expected).max()


def settle(t, first, second):
    """1 - the decay with two rates from a level start: the step response of a second-order system."""
    if first == second:
        return 1.0 - (1.0 - first * t) * np.exp(first * t)
    return (1.0 + (second * np.exp(first * t) - first * np.exp(second * t)) / (first - second)).real


# -- electricity ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("resistance", "words"), [(32.0, "rings"), (256.0, "critical"), (1024.0, "creeps")], ids=lambda x: x
)
def test_series_of_resistor_inductor_and_capacitor(resistance, words):
    """L q'' + R q' + q/C = V, switched on at rest: s = -R/2L +- sqrt((R/2L)^2 - 1/LC)."""
    L, C, V = 0.125, 2.0**-17, 12.0
    system = circuit(
        source=("voltage_source", {"plus": "a", "minus": "gnd", "voltage": V}),
        r=("resistor", {"plus": "a", "minus": "b", "resistance": resistance}),
        coil=("inductor", {"plus": "b", "minus": "c", "inductance": L}),
        cap=("capacitor", {"plus": "c", "minus": "gnd", "capacitance": C}),
    )
    run = kn.simulate(system, 0.02, times=201, **TIGHT)
    decay, apart = resistance / (2 * L), (resistance / (2 * L)) ** 2 - 1 / (L * C)
    assert np.sign(apart) == {"rings": -1, "critical": 0, "creeps": 1}[words]
    first, second = -decay + np.emath.sqrt(apart), -decay - np.emath.sqrt(apart)
    voltage = V * settle(run.t, first, second)
    if first == second:
        current = C * V * decay**2 * run.t * np.exp(-decay * run.t)
    else:
        waves = np.exp(first * run.t) - np.exp(second * run.t)
        current = (C * V * first * second / (first - second) * waves).real
    assert_near(run["cap.voltage"], voltage)
    assert_near(run["c.voltage"], voltage)
    assert_near(run["coil.current"], current)
    assert_near(run["source.current"], current)  # what a source delivers
    assert_near(run["r.voltage"], resistance * current)
    assert run.audit.relative < 1e-9


def test_a_capacitor_across_a_source_takes_the_current_of_its_rate():
    system = circuit(
        source=("voltage_source", {"plus": "a", "minus": "gnd", "voltage": "5*sin(30*t) + 2"}),
        cap=("capacitor", {"plus": "a", "minus": "gnd", "capacitance": 2e-3}),
    )
    run = kn.simulate(system, 0.5, times=101, **TIGHT)
    assert_near(run["cap.current"], 2e-3 * 150 * np.cos(30 * run.t), 1e-12)
    assert_near(run["cap.stored"], 1e-3 * (5 * np.sin(30 * run.t) + 2) ** 2, 1e-12)


def test_an_inductor_in_series_with_a_current_source_has_the_voltage_of_its_rate():
    system = circuit(
        source=("current_source", {"plus": "a", "minus": "gnd", "current": "3*sin(20*t)"}),
        coil=("inductor", {"plus": "a", "minus": "gnd", "inductance": 0.5}),
    )
    run = kn.simulate(system, 0.5, times=101, **TIGHT)
    assert_near(run["a.voltage"], 0.5 * 60 * np.cos(20 * run.t), 1e-12)
    assert_near(run["coil.current"], 3 * np.sin(20 * run.t), 1e-12)


def test_two_capacitors_in_parallel_and_one_between_them():
    """Charges flow from one capacitor through a resistor to another: tau = R C1 C2/(C1 + C2)."""
    C1, C2, R, V = 3e-3, 1e-3, 40.0, 8.0
    system = circuit(
        full=("capacitor", {"plus": "a", "minus": "gnd", "capacitance": C1, "initial_voltage": V}),
        r=("resistor", {"plus": "a", "minus": "b", "resistance": R}),
        empty=("capacitor", {"plus": "b", "minus": "gnd", "capacitance": C2}),
    )
    run = kn.simulate(system, 0.2, times=101, **TIGHT)
    tau, rest = R * C1 * C2 / (C1 + C2), V * C1 / (C1 + C2)
    assert_near(run["b.voltage"], rest * (1 - np.exp(-run.t / tau)))
    assert_near(run["r.current"], V / R * np.exp(-run.t / tau))


def test_a_floating_capacitor():
    """Neither side of the capacitor is held: R1 - C - R2 in series with a source."""
    system = circuit(
        source=("voltage_source", {"plus": "a", "minus": "gnd", "voltage": 10.0}),
        r1=("resistor", {"plus": "a", "minus": "b", "resistance": 100.0}),
        cap=("capacitor", {"plus": "b", "minus": "c", "capacitance": 1e-3}),
        r2=("resistor", {"plus": "c", "minus": "gnd", "resistance": 300.0}),
    )
    run = kn.simulate(system, 1.0, times=101, **TIGHT)
    current = 10.0 / 400 * np.exp(-run.t / 0.4)
    assert_near(run["c.voltage"], 300 * current)
    assert_near(run["cap.voltage"], 10 - 400 * current)


def test_a_transformer_makes_a_load_look_larger():
    """Seen from the primary side a load is ratio^2 times as large: R L in series with ratio^2 of it."""
    V, R1, R2, L2, n = 24.0, 2.0, 0.5, 0.02, 3.0
    system = circuit(
        source=("voltage_source", {"plus": "a", "minus": "gnd", "voltage": V}),
        r1=("resistor", {"plus": "a", "minus": "b", "resistance": R1}),
        unit=("transformer", {"plus": "b", "minus": "gnd", "second_plus": "c", "second_minus": "gnd", "ratio": n}),
        r2=("resistor", {"plus": "c", "minus": "d", "resistance": R2}),
        coil=("inductor", {"plus": "d", "minus": "gnd", "inductance": L2}),
    )
    run = kn.simulate(system, 0.2, times=101, **TIGHT)
    R, L = R1 + n * n * R2, n * n * L2
    current = V / R * (1 - np.exp(-R / L * run.t))
    assert_near(run["r1.current"], current)
    assert_near(run["coil.current"], n * current)
    assert_near(run["b.voltage"], n * run["c.voltage"], 1e-12)


def test_coupled_inductors():
    """M i' = v - R i by the matrix exponential."""
    V, R1, R2, L1, L2, k = 5.0, 3.0, 7.0, 0.02, 0.08, 0.9
    system = circuit(
        source=("voltage_source", {"plus": "a", "minus": "gnd", "voltage": V}),
        r1=("resistor", {"plus": "a", "minus": "b", "resistance": R1}),
        coils=(
            "coupled_inductors",
            {
                "plus": "b", "minus": "gnd", "second_plus": "c", "second_minus": "gnd",
                "inductance": L1, "second_inductance": L2, "coupling": k,
            },
        ),
        r2=("resistor", {"plus": "c", "minus": "gnd", "resistance": R2}),
    )  # fmt: skip
    run = kn.simulate(system, 0.05, times=51, **TIGHT)
    M = k * np.sqrt(L1 * L2)
    A = -np.linalg.solve([[L1, M], [M, L2]], np.diag([R1, R2]))
    rest = np.array([V / R1, 0.0])
    currents = np.array([rest - expm(A * t) @ rest for t in run.t])
    assert_near(run["coils.current"], currents[:, 0])
    assert_near(run["coils.second_current"], currents[:, 1])
    assert run.audit.relative < 1e-9


def test_a_battery_with_inner_resistance():
    system = circuit(
        battery=("battery", {"plus": "a", "minus": "gnd", "voltage": "12 - 0.1*battery.drawn", "resistance": 0.5}),
        load=("resistor", {"plus": "a", "minus": "gnd", "resistance": 5.5}),
    )
    run = kn.simulate(system, 20.0, times=101, **TIGHT)
    current = 2 * np.exp(-0.1 / 6 * run.t)  # 6 i = 12 - 0.1 drawn
    assert_near(run["battery.current"], current)
    assert_near(run["battery.drawn"], 120 * (1 - np.exp(-0.1 / 6 * run.t)))
    assert_near(run["battery.lost"], 0.5 * current**2)
    assert_near(run["battery.power"], -5.5 * current**2)  # into it


def test_a_controlled_source_amplifies():
    system = circuit(
        source=("voltage_source", {"plus": "a", "minus": "gnd", "voltage": "sin(5*t)"}),
        r=("resistor", {"plus": "a", "minus": "gnd", "resistance": 10.0}),
        gain=("voltage_source", {"plus": "b", "minus": "gnd", "voltage": "7*a.voltage + 2*r.current"}),
        load=("resistor", {"plus": "b", "minus": "gnd", "resistance": 2.0}),
    )
    run = kn.simulate(system, 2.0, times=101, **TIGHT)
    assert_near(run["load.current"], 7.2 * np.sin(5 * run.t) / 2, 1e-12)


# -- motors --------------------------------------------------------------------------------------------
MOTOR = {"resistance": 1.2, "inductance": 0.01, "constant": 0.05, "inertia": 2e-4, "viscous": 1e-4}


def fed(**changes):
    """A motor at 24 V that turns nothing but its own rotor."""
    return circuit(
        source=("voltage_source", {"plus": "a", "minus": "gnd", "voltage": 24.0}),
        motor=("dc_motor", {"plus": "a", "minus": "gnd", "shaft": "shaft", **MOTOR, **changes}),
        idle=("shaft_damper", {"a": "shaft", "damping": 0.0001}),
    )


def poles(R, L, K, J, b):
    return np.linalg.eigvals([[-R / L, -K / L], [K / J, -b / J]])


def test_spin_up_with_two_time_constants():
    R, L, K, J, b = 1.2, 0.01, 0.05, 2e-4, 2e-4
    run = kn.simulate(fed(), 1.0, times=201, **TIGHT)
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
    run = kn.simulate(fed(), 0.5, times=51, **method)
    first, second = poles(1.2, 0.01, 0.05, 2e-4, 2e-4)
    rest = 24 * 0.05 / (0.05**2 + 1.2 * 2e-4)
    assert_near(run["shaft.speed"], rest * settle(run.t, first, second), near)


def test_spin_up_without_inductance():
    """One state less, and one time constant: J R/(K^2 + R b)."""
    R, K, J, b = 1.2, 0.05, 2e-4, 2e-4
    system = fed(inductance=0)
    run = kn.simulate(system, 1.0, times=201, **TIGHT)
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
    run = kn.simulate(system, 2.0, times=51, **TIGHT)
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
    run = kn.simulate(geared(inductance=0), 3.0, times=201, **TIGHT)
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
    run, other = kn.simulate(system, 2.0, times=51, **TIGHT), kn.simulate(geared(), 2.0, times=51, **TIGHT)
    for name in ("hinge.q", "hinge.u", "hinge.u_dot", "motor.current"):
        assert_near(run[name], other[name])


def test_losses_of_a_motor_are_what_the_supply_loses():
    """At rest all that goes in is lost: in the winding, in the bearings, in the iron."""
    run = kn.simulate(fed(coulomb=0.01, slip=0.1, inductance=0), 3.0, times=31, **TIGHT)
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
    run = kn.simulate(system, 0.05, times=51, **TIGHT)
    A, drive = dq(100.0)
    steady = np.linalg.solve(A, -drive)
    currents = np.array([steady - expm(A * t) @ steady for t in run.t])
    assert_near(run["motor.current_d"], currents[:, 0])
    assert_near(run["motor.current_q"], currents[:, 1])
    moment = scaling * 4 * (0.02 + (2e-3 - 3e-3) * currents[:, 0]) * currents[:, 1]
    assert_near(run["motor.shaft.moment"], -moment)
    assert_near(run["turn.moment"], -moment)
    settled = kn.simulate(system, 2.0, times=3, **TIGHT)
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

    run = kn.simulate(system, 0.1, times=51, **TIGHT)
    exact = solve_ivp(rates, (0, 0.1), [0, 0, 0], "DOP853", run.t, rtol=1e-12, atol=1e-13).y
    for name, values in zip(("motor.current_d", "motor.current_q", "s.speed"), exact, strict=True):
        assert_near(run[name], values)
    assert_near(run["battery.current"], 1.5 * run.t / 0.1 * (-0.1 * exact[0] + 0.4 * exact[1]))
    assert run.audit.relative < 1e-9


# -- shafts and slides ---------------------------------------------------------------------------------


def test_two_masses_and_a_gear_that_gives():
    """At the output the input inertia is J n^2: frequency sqrt(k (1/J_out + 1/(J_in n^2)))."""
    n, k, J_in, J_out = 5.0, 200.0, 0.01, 0.4
    system = circuit(
        one=("shaft_inertia", {"shaft": "rotor", "inertia": J_in, "initial_angle": n * 0.02}),
        gear=("elastic_gearbox", {"input": "rotor", "output": "out", "ratio": n, "stiffness": k}),
        two=("shaft_inertia", {"shaft": "out", "inertia": J_out, "initial_angle": 0.0}),
    )
    run = kn.simulate(system, 1.0, times=201, **TIGHT)
    rate = np.sqrt(k * (1 / J_out + 1 / (J_in * n * n)))
    twist = 0.02 * np.cos(rate * run.t)
    assert_near(run["gear.twist"], twist)
    mean = 0.02 * J_in * n * n / (J_in * n * n + J_out)
    assert_near(run["out.angle"], mean - J_in * n * n / (J_in * n * n + J_out) * twist)
    assert_near(run["gear.output.moment"], -k * twist)
    assert run.audit.relative < 1e-9
    found = max(abs(mode.eigenvalue.imag) for mode in kn.linearize(system, {"rotor.angle": 0.0}).modes)
    assert found == pytest.approx(rate, rel=1e-10)


def test_a_gear_with_losses_takes_more_than_it_gives():
    """At an even speed the input gives moment/(ratio efficiency); driven back the output gives ratio/(2 - 1/eta)."""
    n, eta, load = 10.0, 0.8, 6.0

    def run(moment, speed):
        system = circuit(
            turn=("speed_source", {"a": "rotor", "speed": speed}),
            gear=("elastic_gearbox", {"input": "rotor", "output": "out", "ratio": n, "efficiency": eta,
                                      "stiffness": 500.0, "damping": 5.0}),
            load=("moment_source", {"a": "out", "moment": moment}),
        )  # fmt: skip
        return kn.simulate(system, 1.0, times=11, **TIGHT)

    ahead = run(-load, 20.0)
    assert ahead["turn.moment"][-1] == pytest.approx(load / n / eta, rel=1e-9)
    assert ahead["gear.lost"][-1] == pytest.approx(load * 2.0 * (1 / eta - 1), rel=1e-9)
    back = run(-load, -20.0)
    assert back["turn.moment"][-1] == pytest.approx(load / n * (2 - 1 / eta), rel=1e-9)
    assert back["gear.lost"][-1] > 0


def test_a_planetary_gear():
    """The housing takes what input and output do not hold: n - 1 times the input's moment; with it free, speeds add."""
    system = circuit(
        drive=("speed_source", {"a": "sun", "speed": 30.0}),
        trim=("speed_source", {"a": "ring", "speed": "5*t"}),
        gear=("gearbox", {"input": "sun", "output": "carrier", "housing": "ring", "ratio": 4.0}),
        load=("shaft_damper", {"a": "carrier", "damping": 2.0}),
    )
    run = kn.simulate(system, 1.0, times=11, **TIGHT)
    carrier = (30.0 + 3.0 * 5 * run.t) / 4.0
    assert_near(run["carrier.speed"], carrier, 1e-12)
    assert_near(run["drive.moment"], 2 * carrier / 4, 1e-12)
    assert_near(run["trim.moment"], 3 * 2 * carrier / 4, 1e-12)


def test_a_rack_under_a_pinion():
    """A moment on a pinion with inertia moves a body on a slide: M r/(J + m r^2)."""
    r, J, m, M, b = 0.04, 3e-3, 2.5, 1.8, 6.0
    system = kn.System("rack", gravity=(0, 0, 0))
    system.prismatic("slide", system.world, system.body("table", mass=m), axis="x", damping=b)
    system.element("drive", "moment_source", a="pinion", moment=M)
    system.element("wheel", "shaft_inertia", shaft="pinion", inertia=J)
    system.element("rack", "pinion", shaft="pinion", rack="slide", radius=r)
    run = kn.simulate(system, 3.0, times=101, **TIGHT)
    mass = m + J / r**2
    speed = M / r / b * (1 - np.exp(-b / mass * run.t))
    assert_near(run["slide.u"], speed)
    assert_near(run["pinion.speed"], speed / r)
    assert_near(run["rack.rack.force"], -(m * M / r / mass * np.exp(-b / mass * run.t) + b * speed))


def test_a_mass_on_a_spring_with_a_damper_over_a_lever():
    """Seen at the mass, a spring at the other arm counts with the square of the arms' ratio."""
    m, k, d, near, far = 2.0, 900.0, 12.0, 0.2, 0.6
    system = circuit(
        mass=("slide_mass", {"slide": "x", "mass": m, "initial_position": 0.05}),
        lever=("lever", {"a": "x", "b": "y", "arm_a": far, "arm_b": -near}),
        spring=("slide_spring", {"a": "y", "stiffness": k, "damping": d}),
    )
    run = kn.simulate(system, 4.0, times=201, **TIGHT)
    share = (near / far) ** 2
    decay = d * share / (2 * m)
    rate = np.sqrt(k * share / m - decay**2)
    wave = np.exp(-decay * run.t) * (np.cos(rate * run.t) + decay / rate * np.sin(rate * run.t))
    assert_near(run["x.position"], 0.05 * wave)
    assert_near(run["y.position"], -0.05 * near / far * wave)
    assert run.audit.relative < 1e-9


def test_friction_on_a_shaft_stops_it():
    """J w' = -M tanh(w/slip): sinh(w/slip) falls evenly on a logarithmic scale."""
    J, M, slip, start = 0.02, 0.3, 0.5, 10.0
    system = circuit(
        wheel=("shaft_inertia", {"shaft": "s", "inertia": J, "initial_speed": start}),
        drag=("shaft_loss", {"a": "s", "coulomb": M, "slip": slip}),
    )
    run = kn.simulate(system, 1.0, times=101, **TIGHT)
    speed = slip * np.arcsinh(np.sinh(start / slip) * np.exp(-M / (J * slip) * run.t))
    assert_near(run["s.speed"], speed)
    assert_near(run["drag.lost"], M * np.tanh(speed / slip) * speed)


def test_sources_of_position_speed_and_force():
    system = circuit(
        shake=("position_source", {"a": "x", "position": "0.1*sin(6*t)"}),
        mass=("slide_mass", {"slide": "x", "mass": 3.0}),
        turn=("angle_source", {"a": "s", "angle": "2*t^2"}),
        wheel=("shaft_inertia", {"shaft": "s", "inertia": 0.5}),
        walk=("velocity_source", {"a": "y", "velocity": "3*t"}),
        cart=("slide_mass", {"slide": "y", "mass": 4.0}),
        push=("force_source", {"a": "z", "force": 12.0}),
        sled=("slide_mass", {"slide": "z", "mass": 6.0}),
    )
    run = kn.simulate(system, 2.0, times=41, **TIGHT)
    assert_near(run["shake.force"], -3 * 0.1 * 36 * np.sin(6 * run.t), 1e-12)
    assert_near(run["turn.moment"], 2.0, 1e-12)
    assert_near(run["walk.force"], 12.0, 1e-12)
    assert_near(run["y.position"], 1.5 * run.t**2)
    assert_near(run["z.position"], run.t**2)


# -- machines ------------------------------------------------------------------------------------------
ARM = {"mass": 3.0, "reach": 0.4, "inertia": 0.2}  # inertia about the mass center


def arm(voltage=24.0, kind="gearbox", motor=MOTOR, **gear):
    """An arm on a hinge, weight and all, turned by a motor through a gear with drag."""
    system = kn.System("arm", gravity=(0, -G, 0))
    body = system.body("arm", mass=ARM["mass"], com=(ARM["reach"], 0, 0), inertia={"zz": ARM["inertia"]})
    system.revolute("elbow", system.world, body, q=-0.5, damping=0.3)
    system.element("supply", "voltage_source", plus="bus", minus="gnd", voltage=voltage)
    system.element("motor", "dc_motor", plus="bus", minus="gnd", shaft="rotor", **motor)
    system.element("gear", kind, input="rotor", output="elbow", ratio=-30.0, coulomb=0.002, slip=0.5, **gear)
    return system


def test_a_motor_lifts_an_arm():
    R, L, K, J, b, n = 1.2, 0.01, 0.05, 2e-4, 1e-4, -30.0
    m, l, inertia = ARM["mass"], ARM["reach"], ARM["inertia"] + ARM["mass"] * ARM["reach"] ** 2

    def rates(t, x):
        q, w, i = x
        drag = b * n * w + 0.002 * np.tanh(n * w / 0.5)
        moment = n * (K * i - drag) - 0.3 * w - m * G * l * np.cos(q)
        return [w, moment / (inertia + n * n * J), (-20 + 8 * np.sin(3 * t) - R * i - K * n * w) / L]

    run = kn.simulate(arm("-20 + 8*sin(3*t)"), 3.0, times=101, **TIGHT)
    exact = solve_ivp(rates, (0, 3), [-0.5, 0, 0], "DOP853", run.t, rtol=1e-12, atol=1e-13).y
    for name, values in zip(("elbow.q", "elbow.u", "motor.current"), exact, strict=True):
        assert_near(run[name], values)
    assert_near(run["rotor.angle"], n * exact[0])
    assert run.audit.relative < 1e-9


def test_a_motor_lifts_an_arm_through_a_gear_that_gives_and_rubs():
    """The gear begins without twist: the rotor stands and turns as the arm does."""
    R, L, K, J, b, n, eta = 1.2, 0.01, 0.05, 2e-4, 1e-4, -30.0, 0.8
    m, l, inertia = ARM["mass"], ARM["reach"], ARM["inertia"] + ARM["mass"] * ARM["reach"] ** 2
    system = arm("-20 + 8*sin(3*t)", "elastic_gearbox", stiffness=800, damping=2, efficiency=eta, viscous=1e-5)
    system.change("elbow", u=0.7)

    def rates(t, x):
        q, w, i, angle, speed = x
        load = 800 * (angle / n - q) + 2 * (speed / n - w)
        drag = (b + 1e-5) * speed + (0.002 + (1 / eta - 1) * abs(load / n)) * np.tanh(speed / 0.5)
        lift = (load - 0.3 * w - m * G * l * np.cos(q)) / inertia
        return [w, lift, (-20 + 8 * np.sin(3 * t) - R * i - K * speed) / L, speed, (K * i - load / n - drag) / J]

    run = kn.simulate(system, 2.0, times=101, **TIGHT)
    begin = [-0.5, 0.7, 0, n * -0.5, n * 0.7]
    exact = solve_ivp(rates, (0, 2), begin, "DOP853", run.t, rtol=1e-12, atol=1e-13).y
    for name, values in zip(("elbow.q", "elbow.u", "motor.current", "rotor.angle", "rotor.speed"), exact, strict=True):
        assert_near(run[name], values)


def test_every_derivation_knows_the_motor():
    assert kn.verify(arm("-20 + 8*sin(3*t)")).ok


@pytest.mark.parametrize("inductance", [0.0, 0.01])
def test_a_motor_holds_an_arm(inductance):
    """n K V/R = m g l cos q, below the level where the weight grows with the angle."""
    rest = kn.equilibrium(arm(-6.0, motor={**MOTOR, "inductance": inductance, "inertia": 1e-5}))
    lift = 30 * 0.05 * 6.0 / 1.2
    assert rest.values["elbow.q"] == pytest.approx(-np.arccos(lift / (ARM["mass"] * G * ARM["reach"])), rel=1e-8)
    assert rest.stable


def test_a_controller_holds_an_arm_at_its_target():
    """The integral finds the voltage: the weight at the target, over the gear, the constant and the resistance."""
    system = arm("-1*controller.output")
    pid = {"error": "0.3 - elbow.q", "proportional": 30, "integral": 40, "derivative": 2, "error_rate": "-elbow.u"}
    system.element("controller", "pid", **pid)
    rest = kn.equilibrium(system)
    current = -ARM["mass"] * G * ARM["reach"] * np.cos(0.3) / (30 * 0.05)
    assert rest.values["elbow.q"] == pytest.approx(0.3, rel=1e-9)
    assert rest.values["motor.current"] == pytest.approx(current, rel=1e-9)
    assert rest.values["controller.integral"] == pytest.approx(-1.2 * current, rel=1e-9)
    assert rest.stable


def test_a_motor_without_load_settles_at_its_speed():
    """The angle of the shaft goes on, and nothing depends on it."""
    rest = kn.equilibrium(fed())
    assert rest.values["shaft.speed"] == pytest.approx(24 * 0.05 / (0.05**2 + 1.2 * 2e-4), rel=1e-9)
    assert rest.stable
    with pytest.raises(kn.ArgumentError, match=r"(shaft.speed|motor.current) would not stay"):
        kn.linearize(fed())


def test_two_axes_share_a_supply():
    """Both motors pull the bus down: the battery's voltage is common, whichever arm moves."""
    system = kn.System("two", gravity=(0, 0, 0))
    system.element("battery", "battery", plus="bus", minus="gnd", voltage=24, resistance=0.2)
    for k, inertia in enumerate((0.3, 0.7)):
        body = system.body(f"arm{k}", mass=1, inertia=(1, 1, inertia))
        system.revolute(f"hinge{k}", system.world, body)
        motor = {**MOTOR, "inductance": 0, "inertia": 0}
        system.element(f"motor{k}", "dc_motor", plus="bus", minus="gnd", shaft=f"hinge{k}", **motor)
    run = kn.simulate(system, 20.0, times=51, **TIGHT)
    R, K, b, r = 1.2, 0.05, 1e-4, 0.2
    # i_k = (v - K w_k)/R, v = 24 - r (i_0 + i_1)
    mix = np.linalg.inv(R * np.eye(2) + r * np.ones((2, 2)))
    A = np.diag([1 / 0.3, 1 / 0.7]) @ (-K * mix * K - b * np.eye(2))
    drive = np.diag([1 / 0.3, 1 / 0.7]) @ (K * mix @ [24.0, 24.0])
    steady = np.linalg.solve(A, -drive)
    speeds = np.array([steady - expm(A * t) @ steady for t in run.t])
    assert_near(run["hinge0.u"], speeds[:, 0])
    assert_near(run["hinge1.u"], speeds[:, 1])


def test_a_run_that_takes_away_a_state_is_told_which():
    system = fed()
    system.parameter("L", 0.01)
    system.change("motor", inductance="L")
    with pytest.raises(kn.ModelError, match=r"motor.inductance: L is zero, .* write the number 0"):
        kn.simulate(system, 0.1, parameters={"L": 0.0})


@pytest.mark.parametrize(
    ("kind", "port", "effort", "expected"),
    [("moment_source", "slide.angle", "moment", (0.0, 0.5)), ("force_source", "slide.travel", "force", (0.125, 0.0))],
)
def test_parts_act_along_one_of_several_freedoms(kind, port, effort, expected):
    system = kn.System("screwdriver", gravity=(0, 0, 0))
    system.cylindrical("slide", system.world, system.body("rod", mass=4, inertia=(1, 1, 1)))
    system.element("push", kind, a=port, **{effort: 1.0})
    run = kn.simulate(system, 1.0, times=3, **TIGHT)
    assert run["slide.q"][-1] == pytest.approx(expected, abs=1e-12)


def test_a_motor_turns_a_loop():
    """A crank that a motor turns, against the same moment and inertia in the joint and in a body."""
    runs = []
    for by_hand in (False, True):
        system = kn.System("four_bar", gravity=(0, -G, 0))
        crank = system.body("crank", mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02))
        coupler = system.body("coupler", mass=2, com=(0.3, 0, 0), inertia=(0.01, 0.05, 0.05))
        rocker = system.body("rocker", mass=1.5, com=(0.2, 0, 0), inertia=(0.01, 0.03, 0.03))
        R, K, n = MOTOR["resistance"], MOTOR["constant"], 20.0
        law = f"{n * K / R}*(24 - {n * K}*left.u) - {n * n * MOTOR['viscous']}*left.u" if by_hand else None
        system.revolute("left", system.world, crank, q="50 deg", effort=law)
        system.revolute("pin", crank.at(0.2, 0, 0), coupler, guess="-30 deg")
        system.revolute("right", system.world.at(0.5, 0, 0), rocker, guess="70 deg")
        system.revolute("top", coupler.at(0.6, 0, 0), rocker.at(0.4, 0, 0))
        if by_hand:
            rotor = system.body("rotor", inertia={"zz": n * n * MOTOR["inertia"]})
            system.fixed("on_the_crank", crank, rotor)
        else:
            system.element("supply", "voltage_source", plus="bus", minus="gnd", voltage=24)
            motor = {**MOTOR, "inductance": 0}
            system.element("motor", "dc_motor", plus="bus", minus="gnd", shaft="shaft", **motor)
            system.element("gear", "gearbox", input="shaft", output="left", ratio=n)
        runs.append(kn.simulate(system, 1.0, times=21, **TIGHT))
    for name in ("left.q", "right.q", "left.u_dot", "top.reaction.force"):
        assert_near(runs[0][name], runs[1][name], 1e-8)


def test_the_axis_of_the_examples_follows_its_path():
    run = kn.simulate(EXAMPLES / "motor_axis.yaml", rtol=1e-8)
    late = run.t > 3.6
    assert np.abs(run["elbow.q"] - run["target"])[late].max() < 2e-3
    assert np.abs(run["gear.twist"]).max() < 0.01
    assert run["battery.drawn"][-1] == pytest.approx(np.trapezoid(run["battery.current"], run.t), rel=1e-3)
    lost = sum(run[f"{part}.lost"] for part in ("battery", "motor", "gear"))
    assert lost.min() >= 0
    assert run.audit.relative < 1e-6
