"""kn.explain: its formulas, computed one after the other, are the compiled quantities; it prints in 80 columns."""

from unittest import mock

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import build, plans

import kinode as kn
from kinode.symbolic import writers
from kinode.tasks.verify import random_state

EXAMPLES = "examples"


def state_of(dynamics, seed):
    t, q, u, z = random_state(dynamics.topology, np.random.default_rng(seed))
    return kn.State(t, q, u, z)


def computed(explanation, dynamics, state):
    """All formulas as they are printed, from the symbols of the state alone."""
    snapshot = dynamics.snapshot(state)
    arrays = {"t": [state.t], "q": state.q, "u": state.u, "z": state.z, "p": snapshot.p, "inputs": snapshot.inputs,
              "u_dot": snapshot.u_dot}  # fmt: skip
    if dynamics.topology.constrained:
        arrays["lam"] = snapshot.multipliers
    names = explanation.notation.names
    known = {sympy.Symbol(n): float(arrays[role][i]) for (role, i), n in names.items() if role in arrays}
    values = {}
    for item in explanation.items:
        for name, formula in zip(item.names, item.formulas, strict=True):
            number = float(formula.xreplace(known))
            values[name] = known[sympy.Symbol(name)] = number
    return values


def compiled(dynamics, state):
    """Quantities by name, and all that a joint passes on to a body, from machine code."""
    arguments = (state.t, state.q, state.u)

    def wrench(joint, body, pole):
        given = {"on": body, "about": pole, "expressed_in": body}
        reaction = dynamics.reactions(*arguments, z=state.z, whole=True, joints=joint, **given)[joint]
        return reaction.moment, reaction.force

    return lambda names: dynamics.evaluate(names, *arguments, z=state.z), wrench


def plain(dynamics, state):
    """The same from plain numbers, without any compiling."""
    snapshot = dynamics.snapshot(state)
    find = snapshot.system.find_frame

    def wrench(joint, body, pole):
        return snapshot.reaction(joint, whole=True, on=body, about=find(pole), expressed_in=find(body))

    return lambda names: {name: np.asarray(snapshot.quantity(name), dtype=float) for name in names}, wrench


def check(system, state=None, source=compiled):
    """Turning, velocities, accelerations and wrenches of every body, in its own axes; what has to vanish."""
    dynamics = kn.compile(system)
    state = dynamics.initial if state is None else state
    evaluate, wrench = source(dynamics, state)
    explanation = kn.explain(system, at=state)
    numbers = computed(explanation, dynamics, state)
    size = max(1.0, max(map(abs, numbers.values())))

    def of(stem, body):
        return np.array([numbers[f"{stem}_{body.replace('.', '_')}_{axis}"] for axis in "xyz"])

    for node in dynamics.topology.full.nodes:
        body, joint = node.bodies[0], node.joint.name
        pole = f"{joint}.{'parent' if node.reversed else 'child'}"
        names = {"w": f"{body}.angular_velocity@{body}", "eps": f"{body}.angular_acceleration@{body}",
                 "v": f"{pole}.velocity@{body}", "W": f"{pole}.acceleration@{body}", "rC": f"{body}.com.position",
                 "r": f"{pole}.position"}  # fmt: skip
        values = evaluate(list(names.values()))
        for stem, name in names.items():
            assert of(stem, body) == pytest.approx(values[name], abs=1e-10 * size), name
        moment, force = wrench(joint, body, pole)
        assert of("F", body) == pytest.approx(np.asarray(force, dtype=float), abs=1e-9 * size)
        assert of("M", body) == pytest.approx(np.asarray(moment, dtype=float), abs=1e-9 * size)
    for name, value in numbers.items():
        if name.startswith(("rest_", "motion_")):
            assert value == pytest.approx(0.0, abs=1e-9 * size), name
    return explanation


@given(plans(most=3, loaded=False), st.integers(0, 99))
@settings(max_examples=5, deadline=None)
def test_printed_formulas_are_the_quantities_of_random_trees(plan, seed):
    system = build(plan)
    # Factors of random numbers would be looked for in vain, and long.
    with mock.patch.object(writers, "MOST_FACTORED", 0), mock.patch.object(writers, "MOST_TERMS", 0):
        check(system, state_of(kn.compile(system), seed), source=plain)


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "quadcopter"])
def test_printed_formulas_are_the_compiled_quantities(name):
    explanation = check(kn.load(f"{EXAMPLES}/{name}.yaml"))
    text = str(explanation)
    assert max(map(len, text.splitlines())) <= 80
    assert max(map(len, explanation.text(60, ["Decompose", "Angular velocities", "Check"]).splitlines())) <= 60
    for body in explanation.system.bodies:
        assert f" {body} " in text
    titles = [step.title for step in explanation.steps]
    assert ("Close the loops" in titles) == explanation.topology.constrained
    assert [f"{k + 1}. {title}" in text for k, title in enumerate(titles)] == [True] * len(titles)


def geared():
    """An arm that a motor turns through a gear, with names that need care."""
    system = kn.System("geared", gravity=(0, -9.81, 0))
    system.parameter("L", 0.5)
    arm = system.body("arm", mass=2.0, com=("L/2", 0, 0), inertia=(0.01, 0.05, 0.05))
    rotor = system.body("rotor", mass=0.1, inertia=(1e-4, 1e-4, 2e-4))
    system.revolute("joint_1", system.world, arm, q=0.3, u=0.4, damping=0.2)
    system.revolute("spin", system.world.at(0.1, 0, 0), rotor, effort="0.02*cos(t)")
    system.constraint("gear", "gear", input="spin", output="joint_1", ratio=50)
    return system


def test_gears_and_symbols():
    """The equation of an arm with a geared rotor, by hand: (m L^2/4 + J + N^2 j) q_ddot + ... = N M."""
    explanation = check(geared())
    L, q, u, a, t = sympy.symbols("L q_joint_1 u_joint_1 u_dot_joint_1 t")
    inertia = sympy.Float("0.05") + 2 * (L / 2) ** 2 + 2500 * sympy.Float("2e-4")
    by_hand = inertia * a + sympy.Float("9.81") * L * sympy.cos(q) + u / 5 - sympy.cos(t)
    left = explanation.formulas["motion_joint_1"] - by_hand
    for numbers in ((0.7, 0.2, 1.1, -0.4, 0.9), (0.4, 2.2, -0.3, 1.4, 3.0)):
        assert float(left.subs(dict(zip((L, q, u, a, t), numbers, strict=True)))) == pytest.approx(0.0, abs=1e-12)
    assert explanation.formulas["u_spin"] == 50 * u
    assert explanation["Decompose"].table[1][1][4] == "revolute, geared to joint_1"


def test_rotors_of_parts():
    """A rotor on a gear has no body: what it adds stands among the efforts, and nothing is left over."""
    system = kn.System("arm", gravity=(0, -9.81, 0))
    system.revolute("pin", system.world, system.body("arm", mass=3, com=(0.35, 0, 0), inertia={"zz": 0.15}))
    system.shaft_inertia("rotor", "shaft", inertia=6e-5)
    system.gearbox("gear", "shaft", "pin", ratio=60)
    explanation = kn.explain(system)
    assert explanation.values["eps_arm_z"] == pytest.approx(-3 * 9.81 * 0.35 / (0.15 + 3 * 0.35**2 + 3600 * 6e-5))
    assert explanation.values["rest_pin"] == pytest.approx(0.0, abs=1e-12)


def test_latex_and_html():
    explanation = kn.explain(geared())
    latex = explanation.latex(document=True)
    assert latex.count(r"\begin{align*}") == latex.count(r"\end{align*}") > 5
    assert r"\omega_{\mathrm{arm,z}} &= \dot{q}_{\mathrm{joint\_1}}" in latex
    assert "$" not in latex and latex.count("{") == latex.count("}")
    html = explanation.html()
    assert html.count("<details>") == len(explanation.steps)
    assert html.count("<math>") == html.count("</math>") > 20
    assert "<msub>" in html and "InvisibleTimes" not in html


def test_the_state_is_chosen_by_name():
    explanation = kn.explain(geared(), at={"joint_1.q": 0.0, "joint_1.u": 3.0})
    assert explanation.values["w_arm_z"] == 3.0
    assert explanation.values["rC_arm_x"] == pytest.approx(0.25)


def test_what_is_refused():
    with pytest.raises(kn.ArgumentError, match="a System is expected"):
        kn.explain("pendulum.yaml")
    with pytest.raises(KeyError, match="Guess"):
        kn.explain(geared())["Guess"]


def test_nothing_is_left_out_as_long():
    """The ship with its gimbal: every formula is written, those longer than a line with names for their parts."""
    explanation = kn.explain(kn.load(f"{EXAMPLES}/ship_gimbal.yaml"))
    assert "long)" not in explanation.text() + explanation.html()
    names, formulas = explanation.formulas.keys(), explanation.formulas
    assert max(formula.count_ops() for formula in formulas.values()) <= 60
    assert {"y1", "A_azimuth_roll", "D_roll", "rC_camera_x", "vC_camera_x", "WC_camera_x"} <= names
    assert max(map(len, explanation.text(80).splitlines())) <= 80


def test_mass_centers_move_as_they_do():
    """Document 000, (3) to (5): positions, velocities and accelerations of poles and mass centers."""
    system = kn.load(f"{EXAMPLES}/ship_gimbal.yaml")
    dynamics = kn.compile(system)
    state = state_of(dynamics, 4)
    values = kn.explain(system, at=state).values
    names = ["camera.com.position", "camera.com.velocity@camera", "camera.com.acceleration@camera"]
    expected = dynamics.evaluate(names, state.t, state.q, state.u, z=state.z)
    for name, stem in zip(names, ("rC", "vC", "WC"), strict=True):
        written = [values[f"{stem}_camera_{axis}"] for axis in "xyz"]
        np.testing.assert_allclose(written, expected[name], rtol=1e-9, atol=1e-9)
