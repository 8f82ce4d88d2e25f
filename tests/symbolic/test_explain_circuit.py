"""``kn.explain`` of circuits: the steps, their formulas against the compiled rates, text, LaTeX and HTML."""

import numpy as np
import pytest
import sympy
from networks import add_thermal, circuit, pole

import kinode as kn
from kinode.symbolic.explanation import WIDTH


def rlc():
    return circuit(
        {
            "source": pole("voltage_source", "supply", voltage="12 V"),
            "wire": pole("resistor", "supply", "middle", resistance="20 Ohm"),
            "coil": pole("inductor", "middle", "top", inductance="100 mH"),
            "tank": pole("capacitor", "top", capacitance="10 uF"),
        },
        "rlc",
    )


def arm():
    system = kn.System("arm", gravity=(0, -9.81, 0))
    body = system.body("body", mass=3, com=(0.35, 0, 0), inertia={"zz": 0.15})
    system.revolute("elbow", system.world, body, damping=0.2)
    system.battery("battery", "bus", "gnd", voltage="24 V", resistance="50 mOhm")
    system.dc_motor("motor", "bus", "gnd", "rotor", resistance=0.9, inductance=4e-4, constant=0.048, inertia=6e-5)
    system.gearbox("gear", "rotor", "elbow", ratio=60)
    return system


def warm():
    system = add_thermal(rlc())
    system.change("wire", heat="core")
    system.element("mass", "heat_capacity", node="core", capacity=3)
    system.element("air", "heat_conductance", a="core", conductance=2)
    return system


def test_the_steps_of_a_circuit_alone():
    explanation = kn.explain(rlc())
    titles = ["Components", "Laws of the nodes", "Equations", "Structure", "Solve the rows", "Reduced equations"]
    assert [step.title for step in explanation.steps] == [*titles, "Check of the nodes", "Check"]
    text = str(explanation)
    assert "wire       resistor        plus supply, minus middle" in text
    assert "coil.minus.current + tank.plus.current = 0" in text
    assert "supply.voltage - middle.voltage = 20*wire.plus.current" in text
    assert "4 nodes, in 1 connected piece" in text and "The index of the circuit is 1." in text
    assert "body" not in text


def test_every_row_is_told_with_what_it_is_solved_for():
    explanation = kn.explain(arm())
    head, rows = explanation["Structure"].table
    assert head == ("row", "equation", "d/dt", "solved for")
    of_gear = [row for row in rows if row[1] == "ratio of the angles of gear"]
    assert [(row[2], row[3]) for row in of_gear] == [
        ("", "rotor.angle"), ("1", "der(rotor.angle)"), ("2", "der(der(rotor.angle))"),
    ]  # fmt: skip
    numbers = {row[0] for row in explanation["Equations"].table[1]}
    assert {row[0] for row in rows} == numbers == {str(k + 1) for k in range(12)}
    titles = [step.title for step in explanation.steps]
    assert titles.index("Eliminate the reactions") < titles.index("Components") < titles.index("Add the drives")


@pytest.mark.parametrize("make", [rlc, arm, warm])
def test_formulas_of_the_reduction_give_the_compiled_rates(make):
    """Each formula is evaluated with the numbers of the symbols before it, at a state that is not at rest."""
    system = make()
    dynamics = kn.compile(system)
    rng = np.random.default_rng(3)
    at = {c.name: rng.normal() for c in dynamics.coordinates if not c.name.endswith("temperature")}
    explanation = kn.explain(system, at=at)
    values = dict(explanation.values)
    moved = dynamics.state(at)
    letters = {c.name: ({"q": moved.q, "u": moved.u, "z": moved.z}[c.role][c.index], c) for c in dynamics.coordinates}
    for name, (value, c) in letters.items():
        values[f"{c.role}_{name.replace('.', '_')}" if c.role == "z" else f"{c.role}_{c.joint}"] = value
    if dynamics.n_u:
        values["u_dot_elbow"] = float(dynamics.acceleration(0.0, moved.q, moved.u, z=moved.z)[0])
    steps = (explanation["Solve the rows"], explanation["Reduced equations"])
    checked = 0
    for item in (item for step in steps for item in step.items):
        for formula, value in zip(item.formulas, item.values, strict=True):
            if formula is None:
                continue
            found = sympy.sympify(formula).subs({s: values[str(s)] for s in formula.free_symbols})
            assert float(found) == pytest.approx(value, rel=1e-9, abs=1e-9), item.names
            checked += 1
    assert checked >= len(system.parts)
    snapshot = dynamics.snapshot(moved)
    rates = {item.owner: item.values[0] for item in explanation["Reduced equations"].items}
    for c in dynamics.coordinates:
        if c.name in rates:
            assert rates[c.name] == pytest.approx(float(snapshot.z_dot[c.index]), rel=1e-9, abs=1e-9)
    assert len(rates) == dynamics.n_z


def test_nodes_of_several_domains():
    text = " ".join(str(kn.explain(warm())).split())
    assert "temperature = 293.15 K" in text and "heat_flow itself" in text and "voltage times current" in text


@pytest.mark.parametrize("make", [rlc, arm, warm])
def test_it_prints_in_narrow_and_wide_terminals_and_as_markup(make):
    explanation = kn.explain(make())
    for width in (50, WIDTH):
        assert explanation.text(width)
    latex = explanation.latex(document=True)
    assert r"\mathit{coil_" not in latex and latex.count("{") == latex.count("}")
    assert "<math" in explanation.html()


def test_where_there_is_little_room_equations_stand_whole_below_their_rows():
    explanation = kn.explain(rlc())
    lines = explanation.text(50, ["Equations"]).splitlines()
    head = lines.index("  row  of      name")
    shown = [line.strip() for line in lines[head + 1 :: 2]]
    assert shown == ["equation", *(row[3] for row in explanation["Equations"].table[1])]


def test_a_circuit_whose_rows_are_solved_together():
    system = circuit(
        {
            "source": pole("current_source", "a", current=2),
            "r1": pole("resistor", "a", resistance=1),
            "r2": pole("resistor", "a", "b", resistance=2),
            "r3": pole("resistor", "b", resistance=3),
        }
    )
    structure = kn.explain(system)["Structure"]
    assert any("are solved together" in note for note in structure.notes)
