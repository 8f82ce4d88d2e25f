"""What a network's structure is found to be: states, differentiated rows, and faults by name."""

import os
import subprocess
import sys

import numpy as np
import pytest
from networks import add_parts, circuit, pole, states_of, turning, two_links

import kinode as kn
from kinode.report.derivation_section import describe_circuit

FIVE = pole("voltage_source", "a", voltage=5.0)


# -- states --------------------------------------------------------------------------------------------
def test_every_storage_is_a_state_where_nothing_ties_it():
    parts = {
        "v": FIVE,
        "r": pole("resistor", "a", "b", resistance=2.0),
        "l": pole("inductor", "b", "c", inductance=0.1),
    }
    system = circuit({**parts, "cap": pole("capacitor", "c", capacitance=1e-3)})
    assert states_of(system) == ["l.current", "cap.voltage"]


def test_a_floating_capacitor_keeps_its_own_voltage_over_a_step():
    """A step of the source passes through a high-pass at once: the state is the voltage across, not that of a node."""
    parts = {
        "v": pole("voltage_source", "a", voltage="where(t < 1, 0, 5)"),
        "c": pole("capacitor", "a", "b", capacitance=1e-3),
        "r": pole("resistor", "b", resistance=100.0),
    }
    run = kn.simulate(circuit(parts), 1.2, times=np.linspace(0, 1.2, 601), rtol=1e-10)
    late = run.t > 1.0 + 1e-9
    expected = 5.0 * np.exp(-(run.t[late] - 1.0) / 0.1)
    assert np.abs(run["b.voltage"][late] - expected).max() < 1e-6


def test_a_start_that_is_given_makes_a_state():
    parts = {
        "c1": pole("capacitor", "a", capacitance=1.0),
        "c2": pole("capacitor", "a", capacitance=2.0, initial_voltage=3.0),
        "r": pole("resistor", "a", resistance=1.0),
    }
    system = circuit(parts)
    assert states_of(system) == ["c2.voltage"]
    assert kn.compile(system).evaluate("c1.voltage", 0.0, [], [])["c1.voltage"] == 3.0


LOOPS = {
    "capacitors side by side": ({"c1": ("a", "gnd"), "c2": ("a", "gnd")}, 1),
    "capacitors in a triangle off the ground": ({"c1": ("a", "b"), "c2": ("b", "c"), "c3": ("c", "a")}, 2),
    "capacitors in a square with a diagonal": (
        {"c1": ("a", "b"), "c2": ("b", "c"), "c3": ("c", "d"), "c4": ("d", "a"), "c5": ("a", "c")},
        3,
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_of_capacitors_have_fewer_states(name):
    ends, count = LOOPS[name]
    parts = {c: pole("capacitor", *at, capacitance=1.0 + k) for k, (c, at) in enumerate(ends.items())}
    for k, node in enumerate(sorted({n for at in ends.values() for n in at} - {"gnd"})):
        parts[f"r{node}"] = pole("resistor", node, resistance=1.0 + k)
        parts[f"i{node}"] = pole("current_source", node, current=f"cos({k + 1}*t)")
    system = circuit(parts)
    assert len(states_of(system)) == count
    run = kn.simulate(system, 0.5, rtol=1e-9)
    around = sum(run[f"c{k + 1}.voltage"] for k in range(3)) if "c3" in ends else run["c1.voltage"] - run["c2.voltage"]
    if name.endswith("ground"):
        assert np.abs(around).max() < 1e-12
    assert run.audit.relative < 1e-8


def test_inductors_that_meet_at_a_node_have_fewer_states():
    parts = {f"l{n}": pole("inductor", n, "star", inductance=1.0 + k) for k, n in enumerate("abc")}
    parts |= {f"r{n}": pole("resistor", n, resistance=1.0) for n in "abc"}
    system = circuit({**parts, "i": pole("current_source", "a", current="sin(t)")})
    assert len(states_of(system)) == 2
    run = kn.simulate(system, 1.0, rtol=1e-9)
    assert np.abs(run["la.current"] + run["lb.current"] + run["lc.current"]).max() < 1e-12
    assert run.audit.relative < 1e-8


def test_storages_that_are_no_states_are_reported_with_what_decides_them():
    dynamics = kn.compile(circuit({"v": FIVE, "c": pole("capacitor", "a", capacitance=1.0)}))
    network = dynamics.topology.network
    assert network.states == ()
    assert network.reports == ("c.voltage is no state of its own: it follows from v",)
    assert network.reports[0] in str(describe_circuit(dynamics))
    assert [(row.owner, times) for row, times in network.differentiated] == [("v", 1), ("c", 1)]
    shafts = {
        "j1": ("shaft_inertia", {"shaft": "x", "inertia": 1.0}),
        "j2": ("shaft_inertia", {"shaft": "y", "inertia": 1.0}),
        "g": ("gearbox", {"input": "x", "output": "y", "ratio": 2.0}),
    }
    reports = kn.compile(circuit(shafts)).topology.network.reports
    assert any("y.speed is no state" in said and "g and x.speed" in said for said in reports)


# -- index reduction, by closed forms ------------------------------------------------------------------
def test_capacitor_across_a_source():
    parts = {"v": pole("voltage_source", "a", voltage="5*sin(100*t)"), "c": pole("capacitor", "a", capacitance=1e-3)}
    run = kn.simulate(circuit(parts), 0.1)
    assert np.allclose(run["c.current"], 0.5 * np.cos(100 * run.t), rtol=0, atol=1e-14)
    assert np.allclose(run["v.current"], run["c.current"], rtol=0, atol=1e-14)


def test_inductors_in_series_with_a_current_source():
    parts = {
        "i": pole("current_source", "a", current="2*cos(50*t)"),
        "l1": pole("inductor", "a", "b", inductance=1e-3),
        "l2": pole("inductor", "b", inductance=2e-3),
    }
    run = kn.simulate(circuit(parts), 0.1)
    assert np.allclose(run["a.voltage"], -3e-3 * 100 * np.sin(50 * run.t), rtol=0, atol=1e-14)


def test_inertias_that_are_rigidly_geared():
    parts = {
        "m": ("moment_source", {"a": "x", "moment": 1.0}),
        "j1": ("shaft_inertia", {"shaft": "x", "inertia": 1.0}),
        "j2": ("shaft_inertia", {"shaft": "x", "inertia": 2.0}),
        "j3": ("shaft_inertia", {"shaft": "y", "inertia": 2.0}),
        "g": ("gearbox", {"input": "x", "output": "y", "ratio": 2.0}),
    }
    system = circuit(parts)
    run = kn.simulate(system, 0.5)
    assert np.allclose(run["x.speed"], run.t / 3.5, rtol=1e-12, atol=1e-14)  # J = 1 + 2 + 2/2^2
    assert np.allclose(run["y.angle"], run["x.angle"] / 2, rtol=0, atol=1e-14)


def test_an_angle_that_is_prescribed_raises_the_index_by_two():
    parts = {
        "p": ("angle_source", {"a": "x", "angle": "sin(3*t)"}),
        "j": ("shaft_inertia", {"shaft": "x", "inertia": 2.0}),
        "k": ("shaft_spring", {"a": "x", "b": "y", "stiffness": 4.0}),
        "load": ("shaft_inertia", {"shaft": "y", "inertia": 1.0}),
    }
    system = circuit(parts)
    assert states_of(system) == ["y.angle", "y.speed"]
    run = kn.simulate(system, 2.0, rtol=1e-10)
    moment = -18 * np.sin(3 * run.t) + 4 * (run["x.angle"] - run["y.angle"])
    assert np.allclose(run["p.moment"], moment, rtol=0, atol=1e-12)
    exact = (4 * np.sin(3 * run.t) - 6 * np.sin(2 * run.t)) / (4 - 9)  # y'' = 4 (sin 3t - y), from rest
    assert np.allclose(run["y.angle"], exact, rtol=0, atol=1e-8)


def test_a_shaft_between_springs_without_inertia_has_a_speed():
    parts = {
        "p": ("angle_source", {"a": "x", "angle": "sin(2*t)"}),
        "k1": ("shaft_spring", {"a": "x", "b": "mid", "stiffness": 1.0}),
        "k2": ("shaft_spring", {"a": "mid", "stiffness": 3.0}),
    }
    run = kn.simulate(circuit(parts), 1.0)
    assert np.allclose(run["mid.angle"], np.sin(2 * run.t) / 4, rtol=0, atol=1e-14)
    assert np.allclose(run["mid.speed"], np.cos(2 * run.t) / 2, rtol=0, atol=1e-14)
    assert run.audit.relative < 1e-12


# -- laws ----------------------------------------------------------------------------------------------
def test_algebraic_feedback_by_a_law_is_solved():
    """b = a/2 and a = 1 - 2 b: b = 1/4."""
    parts = {
        "v": pole("voltage_source", "a", voltage="1 - 2*b.voltage"),
        "r1": pole("resistor", "a", "b", resistance=1.0),
        "r2": pole("resistor", "b", resistance=1.0),
    }
    assert kn.compile(circuit(parts)).evaluate("b.voltage", 0.0, [], [])["b.voltage"] == pytest.approx(0.25, rel=1e-15)


def test_feedback_through_a_controller_is_solved_with_the_network():
    """A proportional controller without a state of its own: v = 3 (1 - b), b = v/2, so b = 3/5."""
    parts = {
        "r1": pole("resistor", "a", "b", resistance=1.0),
        "r2": pole("resistor", "b", resistance=1.0),
        "control": ("pid", {"error": "1 - b.voltage", "proportional": 3.0}),
        "v": pole("voltage_source", "a", voltage="control.output"),
    }
    found = kn.compile(circuit(parts)).evaluate("b.voltage", 0.0, [], [])["b.voltage"]
    assert found == pytest.approx(0.6, rel=1e-14)


# -- faults --------------------------------------------------------------------------------------------
def refused(system, *words, kind=kn.ModelError):
    with pytest.raises(kind) as caught:
        kn.compile(system)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_a_loop_of_voltage_sources():
    refused(circuit({"v": FIVE, "w": pole("voltage_source", "a", voltage=5.0)}), "v and w", "loop", "voltage sources")
    ring = {"v1": ("a", "b"), "v2": ("b", "c"), "v3": ("c", "a")}
    parts = {name: pole("voltage_source", *ends, voltage=1.0) for name, ends in ring.items()}
    refused(circuit({**parts, "r": pole("resistor", "b", resistance=1.0)}), "v1, v2 and v3", "loop")


def test_sources_of_current_in_series():
    parts = {"i": pole("current_source", "a", current=1.0), "k": pole("current_source", "b", "a", current=2.0)}
    refused(circuit({**parts, "r": pole("resistor", "b", resistance=1.0)}), "i and k are in series", "current at a")
    coil = {**parts, "l": pole("inductor", "b", "c", inductance=1.0), "m": pole("current_source", "c", current="t")}
    refused(circuit(coil), "in series", "every current at")


def test_gears_in_a_circle_say_one_thing_twice():
    ratios = {"g1": ("x", "y", 2.0), "g2": ("y", "z", 3.0), "g3": ("x", "z", 6.0)}
    parts = {name: ("gearbox", {"input": a, "output": b, "ratio": n}) for name, (a, b, n) in ratios.items()}
    refused(circuit({**parts, "j": ("shaft_inertia", {"shaft": "x", "inertia": 1.0})}), "g1, g2 and g3", "twice")


def test_a_source_that_is_shorted():
    refused(
        circuit({"v": pole("voltage_source", "a", "a", voltage=5.0), "r": pole("resistor", "a", resistance=1.0)}), "v"
    )


def test_two_sources_of_speed_on_one_shaft():
    sources = {f"s{k}": ("speed_source", {"a": "x", "speed": "sin(t)"}) for k in (1, 2)}
    system = circuit({**sources, "j": ("shaft_inertia", {"shaft": "x", "inertia": 1.0})})
    refused(system, "s1 and s2", "one shaft")


def test_a_joint_whose_motion_a_part_decides():
    geared = {"s": ("speed_source", {"a": "rotor", "speed": "sin(t)"})}
    geared["g"] = ("gearbox", {"input": "rotor", "output": "elbow", "ratio": 3.0})
    refused(add_parts(turning(), geared), "s: ", "joint elbow", "speed=")


def test_joints_that_a_gear_ties_together():
    system = add_parts(two_links(), {"g": ("gearbox", {"input": "shoulder", "output": "wrist", "ratio": 3.0})})
    refused(system, "g: ", "shoulder", "wrist", "constraint")


def test_a_row_that_is_not_affine():
    parts = {
        "v": pole("voltage_source", "a", voltage="1 - b.voltage^2"),
        "r1": pole("resistor", "a", "b", resistance=1.0),
        "r2": pole("resistor", "b", resistance=1.0),
    }
    refused(circuit(parts), "v: ", "not linear", "power of b.voltage")


def test_an_input_that_would_have_to_be_differentiated():
    system = kn.System("c")
    system.input("u", 3.0)
    add_parts(system, {"v": pole("voltage_source", "a", voltage="u"), "c": pole("capacitor", "a", capacitance=1.0)})
    refused(system, "v: ", "rate of u", "resistance")


def test_a_start_that_cannot_be():
    parts = {
        "c1": pole("capacitor", "a", capacitance=1.0, initial_voltage=1.0),
        "c2": pole("capacitor", "a", capacitance=2.0, initial_voltage=3.0),
        "r": pole("resistor", "a", resistance=1.0),
    }
    with pytest.raises(kn.ModelError, match=r"initial_voltage: .* cannot be"):
        kn.simulate(circuit(parts), 1.0)


def test_a_start_that_a_joint_decides():
    system = add_parts(turning(), {"j": ("shaft_inertia", {"shaft": "elbow", "inertia": 1.0, "initial_speed": 2.0})})
    with pytest.raises(kn.ModelError, match=r"j.initial_speed: 2 cannot be: the joint elbow .* give it u="):
        kn.simulate(system, 1.0)
    system.change("elbow", u=2.0)
    assert kn.simulate(system, 0.1)["j.speed"][0] == 2.0


def test_a_spring_that_is_wound_up_at_the_start():
    parts = {
        "j1": ("shaft_inertia", {"shaft": "x", "inertia": 1.0}),
        "j2": ("shaft_inertia", {"shaft": "y", "inertia": 1.0, "initial_angle": 0.5}),
        "k": ("shaft_spring", {"a": "x", "b": "y", "stiffness": 4.0, "initial_angle": 0.2}),
    }
    run = kn.simulate(circuit(parts), 0.1)
    assert run["y.angle"][0] == 0.5
    assert run["x.angle"][0] == pytest.approx(0.7, rel=1e-14)


def test_laws_of_the_mechanism_do_not_depend_on_its_accelerations():
    system = turning(effort="0.1*j.moment")
    add_parts(system, {"j": ("shaft_inertia", {"shaft": "elbow", "inertia": 1.0})})
    with pytest.raises(kn.LawError, match="accelerations"):
        kn.simulate(system, 0.1)


WITHOUT_ASSERTS = """
import sys
sys.path[:0] = [{folder!r}, {folder!r} + '/../support']
import test_network_analysis
assert False  # is not run
test_network_analysis.test_accelerations_that_act_on_other_joints_by_a_law_are_no_inertia()
"""


def test_no_check_of_inertia_is_lost_without_asserts():
    code = WITHOUT_ASSERTS.format(folder=os.path.dirname(__file__))
    found = subprocess.run([sys.executable, "-O", "-c", code], capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr


def test_accelerations_that_act_on_other_joints_by_a_law_are_no_inertia():
    """The current of a capacitor goes with the acceleration of the shoulder; as a law it moves the wrist alone."""
    parts = {
        "v": pole("voltage_source", "a", voltage="shoulder.u"),
        "c": pole("capacitor", "a", capacitance=1.0),
        "m": ("moment_source", {"a": "wrist", "moment": "0.1*c.current"}),
    }
    with pytest.raises(kn.ModelError, match="no inertia"):
        kn.compile(add_parts(two_links(), parts)).acceleration(0.0, [0.1, 0.2], [0.0, 0.0])


# -- units ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [1e-15, 1e-11, 1.0, 1e12])
def test_rows_are_not_taken_for_dependent_by_their_units(size):
    """10 pF is a capacitor: how storages share what they take depends on their ratio alone."""
    system = kn.System("s")
    system.voltage_source("source", "top", "gnd", voltage=1)
    system.resistor("one", "top", "b", resistance=1e3)
    system.capacitor("c1", "b", "c", capacitance=size)
    system.capacitor("c2", "c", "d", capacitance=2 * size)
    system.capacitor("c3", "b", "d", capacitance=3 * size)
    system.resistor("two", "d", "gnd", resistance=1e3)
    system.inductor("l1", "top", "e", inductance=size)
    system.inductor("l2", "e", "gnd", inductance=2 * size)
    system.inductor("l3", "e", "gnd", inductance=3 * size)
    system.shaft_inertia("fast", "x", inertia=size)
    system.gearbox("gear", input="x", output="y", ratio=10)
    system.shaft_inertia("slow", "y", inertia=size)
    system.moment_source("push", "x", moment=1)
    dynamics = kn.compile(system)
    found = dynamics.evaluate(["c3.current", "l2.voltage", "fast.moment"], 0.0, [], [], z=np.zeros(dynamics.n_z))
    expected = [9 / 11 / 2e3, 1.2 / 2.2, 1 / 1.01]
    np.testing.assert_allclose(list(found.values()), expected, rtol=1e-12)
