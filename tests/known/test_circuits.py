"""Circuits against closed forms, and against equations written by hand here and solved by SciPy."""

import numpy as np
import pytest
from scipy.linalg import expm
from wired import TIGHT, assert_near, circuit, settle

import kinode as kn

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
    run = kn.simulate(system, 0.02, samples=201, **TIGHT)
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
    run = kn.simulate(system, 0.5, samples=101, **TIGHT)
    assert_near(run["cap.current"], 2e-3 * 150 * np.cos(30 * run.t), 1e-12)
    assert_near(run["cap.stored"], 1e-3 * (5 * np.sin(30 * run.t) + 2) ** 2, 1e-12)


def test_an_inductor_in_series_with_a_current_source_has_the_voltage_of_its_rate():
    system = circuit(
        source=("current_source", {"plus": "a", "minus": "gnd", "current": "3*sin(20*t)"}),
        coil=("inductor", {"plus": "a", "minus": "gnd", "inductance": 0.5}),
    )
    run = kn.simulate(system, 0.5, samples=101, **TIGHT)
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
    run = kn.simulate(system, 0.2, samples=101, **TIGHT)
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
    run = kn.simulate(system, 1.0, samples=101, **TIGHT)
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
    run = kn.simulate(system, 0.2, samples=101, **TIGHT)
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
    run = kn.simulate(system, 0.05, samples=51, **TIGHT)
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
    run = kn.simulate(system, 20.0, samples=101, **TIGHT)
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
    run = kn.simulate(system, 2.0, samples=101, **TIGHT)
    assert_near(run["load.current"], 7.2 * np.sin(5 * run.t) / 2, 1e-12)


# -- shafts and slides ---------------------------------------------------------------------------------


def test_two_masses_and_a_gear_that_gives():
    """At the output the input inertia is J n^2: frequency sqrt(k (1/J_out + 1/(J_in n^2)))."""
    n, k, J_in, J_out = 5.0, 200.0, 0.01, 0.4
    system = circuit(
        one=("shaft_inertia", {"shaft": "rotor", "inertia": J_in, "initial_angle": n * 0.02}),
        gear=("elastic_gearbox", {"input": "rotor", "output": "out", "ratio": n, "stiffness": k}),
        two=("shaft_inertia", {"shaft": "out", "inertia": J_out, "initial_angle": 0.0}),
    )
    run = kn.simulate(system, 1.0, samples=201, **TIGHT)
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
        return kn.simulate(system, 1.0, samples=11, **TIGHT)

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
    run = kn.simulate(system, 1.0, samples=11, **TIGHT)
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
    run = kn.simulate(system, 3.0, samples=101, **TIGHT)
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
    run = kn.simulate(system, 4.0, samples=201, **TIGHT)
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
    run = kn.simulate(system, 1.0, samples=101, **TIGHT)
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
    run = kn.simulate(system, 2.0, samples=41, **TIGHT)
    assert_near(run["shake.force"], -3 * 0.1 * 36 * np.sin(6 * run.t), 1e-12)
    assert_near(run["turn.moment"], 2.0, 1e-12)
    assert_near(run["walk.force"], 12.0, 1e-12)
    assert_near(run["y.position"], 1.5 * run.t**2)
    assert_near(run["z.position"], run.t**2)
