"""Networks on joints: efforts, inertia that parts add, several joints in one network, loops, drives, parameters."""

import numpy as np
import pytest
from networks import add_parts, circuit, pole, turning, two_links

import kinode as kn

MOTOR = {"resistance": 0.5, "constant": 0.05}


def supply(voltage):
    return pole("voltage_source", "bus", voltage=voltage)


# -- closed forms --------------------------------------------------------------------------------------
def test_spin_up_of_a_motor_without_inductance():
    """J w' = k (V - k w)/R: w = V/k (1 - exp(-k^2 t/(R J)))."""
    J, R, k, V = 2e-3, 0.5, 0.05, 12.0
    parts = {"v": supply(V), "m": pole("dc_motor", "bus", shaft="elbow", **MOTOR)}
    run = kn.simulate(add_parts(turning(inertia=J), parts), 5.0, rtol=1e-10, atol=1e-12)
    assert np.allclose(run["elbow.u"], V / k * (1 - np.exp(-(k**2) * run.t / (R * J))), rtol=0, atol=1e-7)
    assert np.allclose(run["m.current"], V / R * np.exp(-(k**2) * run.t / (R * J)), rtol=0, atol=1e-7)


def test_a_geared_rotor_counts_by_the_square_of_the_ratio():
    parts = {
        "v": supply(12.0),
        "m": pole("dc_motor", "bus", shaft="rotor", **MOTOR),
        "j": ("shaft_inertia", {"shaft": "rotor", "inertia": 1e-4}),
        "g": ("gearbox", {"input": "rotor", "output": "elbow", "ratio": 10.0}),
    }
    dynamics = kn.compile(add_parts(turning(inertia=2e-3), parts))
    assert dynamics.n_z == 0
    assert dynamics.mass_matrix(0.0, [0.3])[0, 0] == pytest.approx(2e-3 + 100 * 1e-4, rel=1e-14)
    current = (12.0 - 0.05 * 10 * 0.7) / 0.5
    expected = 10 * 0.05 * current / (2e-3 + 100 * 1e-4)
    assert dynamics.acceleration(0.0, [0.3], [0.7])[0] == pytest.approx(expected, rel=1e-13)
    found = dynamics.evaluate(["g.output.moment", "elbow.effort", "rotor.speed"], 0.0, [0.3], [0.7])
    assert found["elbow.effort"] == pytest.approx(2e-3 * expected, rel=1e-12)  # what the body itself takes
    assert found["g.output.moment"] == pytest.approx(-2e-3 * expected, rel=1e-12)
    assert found["rotor.speed"] == pytest.approx(7.0, rel=1e-15)


def test_a_current_fed_motor_has_no_electrical_state():
    motor = pole("dc_motor", "bus", shaft="elbow", **MOTOR)
    parts = {"i": pole("current_source", "bus", current="3*cos(t)"), "m": motor}
    run = kn.simulate(add_parts(turning(inertia=2e-3), parts), 2.0, rtol=1e-10)
    assert run.dynamics.n_z == 0
    assert np.allclose(run["elbow.u"], 0.05 * 3 * np.sin(run.t) / 2e-3, rtol=0, atol=1e-6)


def test_a_capacitor_at_an_ideal_motor_is_an_inertia():
    """i = C k w', moment = k i: J = C k^2 on the shaft."""
    parts = {"c": pole("capacitor", "bus", capacitance=0.4), "m": pole("dc_motor", "bus", shaft="elbow", resistance=0.0,
             constant=0.05)}  # fmt: skip
    dynamics = kn.compile(add_parts(turning(inertia=2e-3, u=3.0), parts))
    assert dynamics.mass_matrix(0.0, [0.0])[0, 0] == pytest.approx(2e-3 + 0.4 * 0.05**2, rel=1e-14)
    assert dynamics.evaluate("c.voltage", 0.0, [0.0], [3.0])["c.voltage"] == pytest.approx(0.15)


def test_a_body_without_mass_turns_by_the_inertia_of_a_rotor():
    system = kn.System("massless", gravity=(0, 0, 0))
    system.revolute("elbow", system.world, system.body("arm"), axis="z")
    add_parts(system, {"j": ("shaft_inertia", {"shaft": "elbow", "inertia": 0.5}),
                       "m": ("moment_source", {"a": "elbow", "moment": 1.0})})  # fmt: skip
    assert kn.compile(system).acceleration(0.0, [0.0], [0.0])[0] == pytest.approx(2.0)


# -- several joints ------------------------------------------------------------------------------------
def differential():
    """A rotor whose angle is a combination of two joints', driven and braked."""
    parts = {
        "j": ("shaft_inertia", {"shaft": "rotor", "inertia": 1e-3}),
        "g": ("gearbox", {"input": "rotor", "output": "shoulder", "ratio": 3.0, "housing": "wrist"}),
        "v": supply("5*sin(3*t)"),
        "m": pole("dc_motor", "bus", shaft="rotor", inductance=1e-2, **MOTOR),
    }
    return add_parts(two_links(), parts)


def test_a_network_that_joins_two_joints_by_its_inertia():
    """rotor = 3 shoulder - 2 wrist: T = J (3 a - 2 b)^2/2 adds [[9, -6], [-6, 4]] J to the mass matrix."""
    with_rotor, bare = kn.compile(differential()), kn.compile(two_links())
    q, u = np.array([0.3, -0.4]), np.array([0.8, -0.5])
    added = with_rotor.mass_matrix(0.2, q, z=[0.7]) - bare.mass_matrix(0.2, q)
    assert np.allclose(added, 1e-3 * np.array([[9.0, -6.0], [-6.0, 4.0]]), rtol=1e-12, atol=1e-16)
    u_dot = with_rotor.acceleration(0.2, q, u, z=[0.7])
    moment = 0.05 * 0.7
    effort = bare.effort(0.2, q, u, u_dot) + added @ u_dot - moment * np.array([3.0, -2.0])
    assert np.abs(effort).max() < 1e-13
    assert np.abs(with_rotor.effort(0.2, q, u, u_dot, z=[0.7])).max() < 1e-13


def test_motors_on_one_bus_share_its_sag():
    parts = {
        "v": pole("battery", "bus", voltage=12.0, resistance=0.3),
        "m1": pole("dc_motor", "bus", shaft="shoulder", **MOTOR),
        "m2": pole("dc_motor", "bus", shaft="wrist", **MOTOR),
    }
    dynamics = kn.compile(add_parts(two_links(), parts))
    u = np.array([3.0, -5.0])
    found = dynamics.evaluate(["bus.voltage", "m1.current", "m2.current"], 0.0, [0.1, 0.2], u)
    G = 1 / 0.5
    bus = (12 / 0.3 + G * 0.05 * u.sum()) / (1 / 0.3 + 2 * G)
    assert found["bus.voltage"] == pytest.approx(bus, rel=1e-14)
    assert found["m1.current"] == pytest.approx(G * (bus - 0.05 * 3), rel=1e-13)


# -- loops, drives, gears of joints --------------------------------------------------------------------
def four_bar():
    system = kn.System("four-bar", gravity=(0, -9.81, 0))
    crank = system.body("crank", mass=0.4, com=(0.05, 0, 0), inertia={"zz": 1e-3})
    rod = system.body("rod", mass=0.6, com=(0.15, 0, 0), inertia={"zz": 4e-3})
    rocker = system.body("rocker", mass=0.5, com=(0.1, 0, 0), inertia={"zz": 2e-3})
    system.revolute("main", system.world, crank, axis="z", guess="60 deg")
    system.revolute("pin", crank.at(0.1, 0, 0), rod, axis="z", guess="-40 deg")
    system.revolute("pivot", system.world.at(0.3, 0, 0), rocker, axis="z", guess="80 deg")
    system.revolute("knee", rod.at(0.3, 0, 0), rocker.at(0.2, 0, 0), axis="z")
    return system


def motor_parts(joint):
    return {
        "v": supply("6*cos(2*t)"),
        "m": pole("dc_motor", "bus", shaft="rotor", inductance=1e-2, **MOTOR),
        "j": ("shaft_inertia", {"shaft": "rotor", "inertia": 2e-5}),
        "g": ("gearbox", {"input": "rotor", "output": joint, "ratio": 8.0}),
    }


@pytest.mark.parametrize("joint", ["main", "pivot"])
def test_a_motor_in_a_loop_keeps_the_energy(joint):
    run = kn.simulate(add_parts(four_bar(), motor_parts(joint)), 1.0, rtol=1e-9)
    assert run.audit.relative < 1e-7
    assert np.abs(run[f"{joint}.u"] * 8 - run["rotor.speed"]).max() < 1e-9


def test_a_motor_on_the_joint_where_the_loop_would_be_cut():
    """What parts act on stays in the tree; a loop of nothing else is refused by name."""
    system = add_parts(four_bar(), motor_parts("knee"))
    assert kn.compile(system).topology.cut_names != ("knee",)
    assert kn.simulate(system, 0.3, rtol=1e-9).audit.relative < 1e-7
    for k, joint in enumerate(("main", "pin", "pivot")):
        system.element(f"j{k}", "shaft_inertia", shaft=joint, inertia=1e-4)
    with pytest.raises(kn.Error, match="closes a loop"):
        kn.simulate(system, 0.1)


def test_a_motor_without_inertia_on_a_joint_that_closes_a_loop():
    """All four joints have a damper part: one of them closes the loop, and its moment acts on its bodies."""
    dampers = {f"d{k}": ("shaft_damper", {"a": joint, "damping": 0.02 * (k + 1)})
               for k, joint in enumerate(("main", "pin", "pivot", "knee"))}  # fmt: skip
    run = kn.simulate(add_parts(four_bar(), dampers), 1.0, rtol=1e-9)
    plain = four_bar()
    for k, joint in enumerate(("main", "pin", "pivot", "knee")):
        plain.change(joint, damping=0.02 * (k + 1))
    other = kn.simulate(plain, 1.0, rtol=1e-9, times=run.t)
    assert np.abs(run["main.u"] - other["main.u"]).max() < 1e-6
    assert run.audit.relative < 1e-7


def test_a_joint_that_is_driven_drives_its_parts():
    """A generator on a shaft with a law: the drive gives what the generator takes."""
    system = turning(speed="2 + sin(t)")
    motor = pole("dc_motor", "bus", shaft="elbow", inertia=1e-3, **MOTOR)
    parts = {"m": motor, "r": pole("resistor", "bus", resistance=2.0)}
    run = kn.simulate(add_parts(system, parts), 2.0, rtol=1e-9)
    speed, rate = 2 + np.sin(run.t), np.cos(run.t)
    current = 0.05 * speed / 2.5
    assert np.allclose(run["r.current"], current, rtol=1e-12)
    assert np.allclose(run["elbow.effort"], 2e-3 * rate, rtol=0, atol=1e-13)
    assert np.allclose(run["elbow.effort.drive"], 3e-3 * rate + 0.05 * current, rtol=0, atol=1e-13)
    assert run.audit.relative < 1e-9


def test_parts_on_a_joint_that_follows_another():
    """wrist = 2 shoulder by a constraint; a rotor on each of them."""
    system = two_links()
    system.constraint("tie", "gear", input="wrist", output="shoulder", ratio=2.0)
    bare = kn.compile(system).mass_matrix(0.0, [0.4])[0, 0]
    parts = {f"j{joint}": ("shaft_inertia", {"shaft": joint, "inertia": 0.1}) for joint in ("shoulder", "wrist")}
    add_parts(system, {**parts, "v": supply(3.0), "m": pole("dc_motor", "bus", shaft="wrist", **MOTOR)})
    dynamics = kn.compile(system)
    assert dynamics.mass_matrix(0.0, [0.4])[0, 0] == pytest.approx(bare + 0.1 + 4 * 0.1, rel=1e-13)
    run = kn.simulate(system, 1.0, rtol=1e-9)
    assert run.audit.relative < 1e-8


# -- arguments of a run --------------------------------------------------------------------------------
def test_parameters_of_parts_are_arguments_of_the_compiled_code():
    system = turning()
    system.parameter("R", 0.5)
    system.parameter("n", 10.0)
    parts = {
        "v": supply(12.0),
        "m": pole("dc_motor", "bus", shaft="rotor", resistance="R", constant=0.05, inertia=1e-4),
        "g": ("gearbox", {"input": "rotor", "output": "elbow", "ratio": "n"}),
    }
    dynamics = kn.compile(add_parts(system, parts))
    assert len(dynamics.kernels.made) == 0
    for R, n in ((0.5, 10.0), (2.0, 3.0)):
        expected = n * 0.05 * (12 - 0.05 * n * 0.7) / R / (2e-3 + n**2 * 1e-4)
        found = dynamics.acceleration(0.0, [0.0], [0.7], p={"R": R, "n": n})
        assert found[0] == pytest.approx(expected, rel=1e-12)
    assert len(dynamics.kernels.made) == 1


def test_a_field_that_is_zero_leaves_its_state_out():
    for inductance, states in ((0.0, 0), (1e-3, 1)):
        parts = {"v": supply(1.0), "m": pole("dc_motor", "bus", shaft="elbow", inductance=inductance, **MOTOR)}
        assert kn.compile(add_parts(turning(), parts)).n_z == states


def test_starts_by_name_and_by_field():
    parts = {"c": pole("capacitor", "a", capacitance=1.0, initial_voltage=2.0)}
    parts |= {"r": pole("resistor", "a", resistance=1.0)}
    dynamics = kn.compile(circuit(parts))
    assert dynamics.initial.z[0] == 2.0
    assert dynamics.state({"c.voltage": "3 V"}).z[0] == 3.0
    run = kn.simulate(dynamics, 1.0, start={"c.voltage": 3.0}, rtol=1e-9)
    assert run["c.voltage"][-1] == pytest.approx(3 * np.exp(-1.0), rel=1e-7)


def test_the_choice_of_states_is_part_of_what_is_cached():
    """Two capacitors side by side: the one whose start is given is the state, and the machine code differs."""
    found = []
    for given in ("c1", "c2"):
        parts = {name: pole("capacitor", "a", capacitance=value, **({"initial_voltage": 1.0} if name == given else {}))
                 for name, value in (("c1", 1.0), ("c2", 2.0))}  # fmt: skip
        dynamics = kn.compile(circuit({**parts, "r": pole("resistor", "a", resistance=1.0)}))
        found.append(dynamics.kernels.fingerprint)
        assert dynamics.rate(0.0, [1.0])[0] == pytest.approx(-1 / 3)
    assert found[0] != found[1]


def test_small_motions_and_rest_with_a_network():
    """An arm held by a motor at a voltage: k V/R = m g l cos q; the current is a state that rests too."""
    system = kn.System("held", gravity=(0, -9.81, 0))
    arm = system.body("arm", mass=1.0, com=(0.1, 0, 0), inertia={"zz": 1e-3})
    system.revolute("elbow", system.world, arm, axis="z")
    parts = {"v": supply(5.0), "m": pole("dc_motor", "bus", shaft="elbow", inductance=1e-2, **MOTOR)}
    rest = kn.equilibrium(add_parts(system, parts))
    assert rest.values["m.current"] == pytest.approx(10.0, rel=1e-9)
    assert np.cos(rest.values["elbow.q"]) == pytest.approx(0.05 * 10 / (9.81 * 0.1), rel=1e-9)
    small = kn.linearize(system, rest)
    assert small.states == ("elbow.q", "elbow.u", "m.current")
    J = 1e-3 + 0.1**2
    slope = 9.81 * 0.1 * np.sin(rest.values["elbow.q"]) / J
    assert np.allclose(small.A, [[0, 1, 0], [slope, 0, 0.05 / J], [0, -5.0, -50.0]], rtol=1e-9, atol=1e-12)


def test_batches_and_lanes_agree_with_single_calls():
    dynamics = kn.compile(differential())
    rng = np.random.default_rng(0)
    q, u, z = rng.normal(size=(100, 2)), rng.normal(size=(100, 2)), rng.normal(size=(100, 1))
    whole = dynamics.acceleration(0.1, q, u, z=z)
    single = np.array([dynamics.acceleration(0.1, a, b, z=c) for a, b, c in zip(q, u, z, strict=True)])
    assert np.allclose(whole, single, rtol=1e-12, atol=1e-12)
    plain = dynamics.snapshot(kn.State(0.1, q[0], u[0], z[0]))
    assert np.allclose(plain.u_dot, single[0], rtol=1e-12)


# -- modes ---------------------------------------------------------------------------------------------
BRIDGE = {"d1": ("b", "p"), "d2": ("gnd", "p"), "d3": ("n", "b"), "d4": ("n", "gnd")}


def rectifier():
    parts = {"v": pole("voltage_source", "a", voltage="10*sin(6*t)"), "rs": pole("resistor", "a", "b", resistance=1.0)}
    parts |= {name: pole("diode", *ends) for name, ends in BRIDGE.items()}
    parts |= {"c": pole("capacitor", "p", "n", capacitance=0.05), "r": pole("resistor", "p", "n", resistance=20.0)}
    return circuit(parts)


def test_one_order_of_elimination_serves_all_modes_of_a_bridge():
    """Conducting or blocking, 1 mOhm or 1 GOhm: 16 combinations against dense nodal equations."""
    dynamics = kn.compile(rectifier())
    for number in range(16):
        on = {name: bool(number >> k & 1) for k, name in enumerate(BRIDGE)}
        z = np.array([3.0 if c.name == "c.voltage" else float(on[c.joint]) for c in dynamics.coordinates])
        A, right, at = np.zeros((4, 4)), np.zeros(4), {"b": 0, "p": 1, "n": 2}
        resistors = [(*ends, 1e-3 if on[name] else 1e9) for name, ends in BRIDGE.items()]
        for plus, minus, R in (*resistors, ("p", "n", 20.0), ("b", "gnd", 1.0)):
            for one, other in ((plus, minus), (minus, plus)):
                if one in at:
                    A[at[one], at[one]] += 1 / R
                    if other in at:
                        A[at[one], at[other]] -= 1 / R
        right[0] = 10 * np.sin(6 * 0.3)  # through 1 Ohm
        A[:, 3] = A[3] = [0.0, 1.0, -1.0, 0.0]  # the capacitor holds its voltage
        right[3] = 3.0
        found = dynamics.evaluate(["b.voltage", "p.voltage", "n.voltage", "c.current"], 0.3, [], [], z=z)
        expected = np.linalg.solve(A, right)
        assert np.allclose([float(x) for x in found.values()], expected, rtol=0, atol=1e-7 * abs(expected).max()), on


def test_a_rectifier_charges_its_capacitor():
    run = kn.simulate(rectifier(), 2.0)
    late = run["c.voltage"][run.t > 1.0]
    assert 6.0 < late.min() < late.max() < 10.0
    assert run["c.voltage"].min() > -1e-3


def test_a_law_may_divide_by_a_voltage_that_a_state_decides():
    """The circuit as a whole solves the voltage of the bus before the rows that are not linear in it."""
    system = kn.System("s")
    system.battery("pack", "bus", "gnd", voltage=48, resistance=0.02)
    system.capacitor("link", "bus", "gnd", capacitance=1e-3, initial_voltage=40)
    system.bridge("bridge", "bus", "gnd", "out", "gnd", modulation="10/bus.voltage")
    system.resistor("load", "out", "gnd", resistance=3)
    for way in ("recursive", "circuit"):
        found = kn.compile(system, formulation=way).rate(0.0, [0.0, 40.0])
        np.testing.assert_allclose(found, [400, (400 - 10 / 40 * 10 / 3) / 1e-3], rtol=1e-12)
    assert kn.verify(system).ok


@pytest.mark.parametrize("formulation", ["recursive", "circuit"])
def test_a_bridge_that_passes_nothing_on(formulation):
    """At the zero of its law nothing is divided by it: the load is shorted, the bus keeps 2 A * 3 Ohm."""
    system = kn.System("s")
    system.current_source("supply", "bus", "gnd", current=2)
    system.resistor("sink", "bus", "gnd", resistance=3)
    system.bridge("bridge", "bus", "gnd", "out", "gnd", modulation="sin(t)")
    system.resistor("series", "out", "middle", resistance=2)
    system.resistor("load", "middle", "gnd", resistance=2)
    dynamics = kn.compile(system, formulation=formulation)
    for t in (0.0, 1e-9, 0.5):
        m = np.sin(t)
        bus = 2 / (1 / 3 + m * m / 4)
        found = dynamics.evaluate(["bus.voltage", "load.current", "bridge.current"], t, [], [])
        np.testing.assert_allclose(list(found.values()), [bus, m * bus / 4, m * m * bus / 4], rtol=1e-13)
