"""kn.equations: textbook forms, printed code that runs, and agreement with the compiled functions."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import build, plans
from sympy import Rational, Symbol, cos, sin

import kinode as kn
from kinode.structure.topology import find_topology
from kinode.tasks.verify_states import random_state

HINGED = ("revolute", "prismatic", "fixed")


def symbols(text: str) -> list[sympy.Symbol]:
    return [Symbol(name) for name in text.split()]


def parameters(system: kn.System, text: str, down: int = 1) -> list:
    """Parameters by name, and gravity g along a negative axis."""
    symbols = [system.parameter(name, 0.5 + 0.1 * k) for k, name in enumerate(text.split())]
    g = system.parameter("g", 9.81)
    system.gravity = tuple(-g if k == down else 0 for k in range(3))
    return symbols


def pendulum() -> kn.System:
    system = kn.System("pendulum")
    m, l, J, c = parameters(system, "m l J c")
    rod = system.body("rod", mass=m, com=(0, -l, 0), inertia={"zz": J})
    system.revolute("pivot", system.world, rod, damping=c)
    return system


def double_pendulum() -> kn.System:
    """Two rods; angles of the second relative to the first."""
    system = kn.System("double_pendulum")
    m1, m2, l1, a1, a2, J1, J2 = parameters(system, "m1 m2 l1 a1 a2 J1 J2")
    upper = system.body("upper", mass=m1, com=(0, -a1, 0), inertia={"zz": J1})
    lower = system.body("lower", mass=m2, com=(0, -a2, 0), inertia={"zz": J2})
    system.revolute("one", system.world, upper)
    system.revolute("two", upper.at(0, -l1, 0), lower)
    return system


def cart_pole() -> kn.System:
    system = kn.System("cart_pole")
    M, m, l, J = parameters(system, "M m l J")
    system.input("F", 0.0)
    cart = system.body("cart", mass=M)
    pole = system.body("pole", mass=m, com=(0, l, 0), inertia={"zz": J})
    system.prismatic("rail", system.world, cart, axis="x", effort="F")
    system.revolute("hinge", cart, pole)
    return system


def arm() -> kn.System:
    """Two links in the plane, with drives (Siciliano and others, Robotics, section 7.3.2, without motors)."""
    system = kn.System("arm")
    m1, m2, a1, l1, l2, I1, I2 = parameters(system, "m1 m2 a1 l1 l2 I1 I2")
    for name in ("tau1", "tau2"):
        system.input(name, 0.0)
    upper = system.body("upper", mass=m1, com=(l1, 0, 0), inertia={"zz": I1})
    lower = system.body("lower", mass=m2, com=(l2, 0, 0), inertia={"zz": I2})
    system.revolute("one", system.world, upper, effort="tau1")
    system.revolute("two", upper.at(a1, 0, 0), lower, effort="tau2")
    return system


def top() -> kn.System:
    """A heavy symmetric top by precession, nutation and spin."""
    system = kn.System("top")
    m, l, A, C = parameters(system, "m l A C", down=2)
    ring, cradle = system.body("ring"), system.body("cradle")
    rotor = system.body("rotor", mass=m, com=(0, 0, l), inertia=(A, A, C))
    system.revolute("precession", system.world, ring)
    system.revolute("nutation", ring, cradle, axis="x")
    system.revolute("spin", cradle, rotor)
    return system


def elastic() -> kn.System:
    system = kn.System("elastic")
    m1, m2, xi, Jz, k, c = parameters(system, "m1 m2 xi Jz k c")
    slider = system.body("slider", mass=m2)
    bob = system.body("bob", mass=m1, com=(0, -xi, 0), inertia={"zz": Jz - m1 * xi * xi})
    system.prismatic("x", system.world, slider, axis="x", stiffness=k, damping=c)
    system.revolute("phi", slider, bob)
    return system


def textbook() -> dict:
    """Hand-written left-hand sides minus right-hand sides."""
    m, l, J, g, c, q, u, a = symbols("m l J g c q_pivot u_pivot u_dot_pivot")
    equations = {pendulum: [(J + m * l**2) * a + m * g * l * sin(q) + c * u]}
    m1, m2, l1, a1, a2, J1, J2 = symbols("m1 m2 l1 a1 a2 J1 J2")
    q1, q2, u1, u2, b1, b2 = symbols("q_one q_two u_one u_two u_dot_one u_dot_two")
    equations[double_pendulum] = [
        (J1 + J2 + m1 * a1**2 + m2 * (l1**2 + a2**2 + 2 * l1 * a2 * cos(q2))) * b1
        + (J2 + m2 * (a2**2 + l1 * a2 * cos(q2))) * b2
        - m2 * l1 * a2 * sin(q2) * (2 * u1 * u2 + u2**2)
        + (m1 * a1 + m2 * l1) * g * sin(q1) + m2 * a2 * g * sin(q1 + q2),
        (J2 + m2 * (a2**2 + l1 * a2 * cos(q2))) * b1 + (J2 + m2 * a2**2) * b2
        + m2 * l1 * a2 * sin(q2) * u1**2 + m2 * a2 * g * sin(q1 + q2),
    ]  # fmt: skip
    M, F, x_dd, th, w, w_d = symbols("M F u_dot_rail q_hinge u_hinge u_dot_hinge")
    equations[cart_pole] = [  # the pole stands up at zero, and a positive angle leans it to the left
        (M + m) * x_dd - m * l * cos(th) * w_d + m * l * sin(th) * w**2 - F,
        -m * l * cos(th) * x_dd + (J + m * l**2) * w_d - m * g * l * sin(th),
    ]
    l2, I1, I2, tau1, tau2 = symbols("l2 I1 I2 tau1 tau2")
    b11 = I1 + m1 * l1**2 + I2 + m2 * (a1**2 + l2**2 + 2 * a1 * l2 * cos(q2))
    b12, b22, h = I2 + m2 * (l2**2 + a1 * l2 * cos(q2)), I2 + m2 * l2**2, -m2 * a1 * l2 * sin(q2)
    equations[arm] = [
        b11 * b1 + b12 * b2 + h * u2 * u1 + h * (u1 + u2) * u2
        + (m1 * l1 + m2 * a1) * g * cos(q1) + m2 * l2 * g * cos(q1 + q2) - tau1,
        b12 * b1 + b22 * b2 - h * u1 * u1 + m2 * l2 * g * cos(q1 + q2) - tau2,
    ]  # fmt: skip
    A, C, th = symbols("A C q_nutation")
    p, n, s = symbols("u_precession u_nutation u_spin")
    pd, nd, sd = symbols("u_dot_precession u_dot_nutation u_dot_spin")
    B = A + m * l**2  # about the tip (Goldstein, Classical Mechanics, section 5.7)
    equations[top] = [
        (B * sin(th) ** 2 + C * cos(th) ** 2) * pd + C * cos(th) * sd
        + 2 * (B - C) * sin(th) * cos(th) * p * n - C * sin(th) * n * s,
        B * nd - (B - C) * sin(th) * cos(th) * p**2 + C * sin(th) * p * s - m * g * l * sin(th),
        C * (sd + cos(th) * pd - sin(th) * p * n),
    ]  # fmt: skip
    m1, m2, xi, Jz, k, x, x_d, x_dd = symbols("m1 m2 xi Jz k q_x u_x u_dot_x")
    ph, ph_d, ph_dd = symbols("q_phi u_phi u_dot_phi")
    equations[elastic] = [  # (T-10.15)
        (m1 + m2) * x_dd + m1 * xi * (ph_dd * cos(ph) - ph_d**2 * sin(ph)) + c * x_d + k * x,
        Jz * ph_dd + m1 * xi * x_dd * cos(ph) + m1 * g * xi * sin(ph),
    ]
    return equations


TEXTBOOK = textbook()


@pytest.mark.parametrize("way", ["lagrange", "recursive", "quasi_base", "rotators"])
@pytest.mark.parametrize("model", TEXTBOOK, ids=lambda model: model.__name__)
def test_textbook(model, way):
    derived = kn.equations(model(), way, shape="expanded")
    for equation, wanted in zip(derived.equations, TEXTBOOK[model], strict=True):
        assert sympy.simplify(sympy.expand(equation.lhs - equation.rhs - wanted, trig=True)) == 0


@pytest.mark.parametrize("model", TEXTBOOK, ids=lambda model: model.__name__)
def test_as_short_as_the_textbook(model):
    """Not longer than what a person wrote, by a few operations at most."""
    derived = kn.equations(model())
    for equation, wanted in zip(derived.equations, TEXTBOOK[model], strict=True):
        assert equation.lhs.count_ops() + equation.rhs.count_ops() <= 1.1 * wanted.count_ops() + 2


def test_symbols_of_joints_whose_names_have_parts():
    """``arm.upper`` and ``arm.q1`` keep their names: the letter of a symbol is the last word of ``arm.upper.u``."""
    system = kn.System("arm")
    upper, lower = (system.body(name, mass=1.0, com=(1, 0, 0)) for name in ("upper", "lower"))
    system.revolute("arm.upper", system.world, upper, axis="z")
    system.revolute("arm.q1", upper, lower, at=(2, 0, 0), axis="z")
    assert [str(x) for x in kn.equations(system).unknowns] == ["u_dot_arm_upper", "u_dot_arm_q1"]
    names = kn.explain(system, {"arm.upper.q": 0.1}).values
    assert {"motion_arm_upper", "motion_arm_q1"} <= names.keys()


def test_matrices():
    derived = kn.equations(double_pendulum())
    M, C, G, Q = derived.matrices()
    u, a = sympy.Matrix(derived.notation.of("u")), sympy.Matrix(derived.unknowns)
    for row, wanted in zip(M * a + C * u + G - Q, TEXTBOOK[double_pendulum], strict=True):
        assert sympy.simplify(sympy.expand(row - wanted, trig=True)) == 0
    rates = zip(derived.notation.of("q"), u, strict=True)
    skew = sum((M.diff(q) * rate for q, rate in rates), sympy.zeros(2)) - 2 * C
    assert (skew + skew.T).applyfunc(sympy.simplify) == sympy.zeros(2)


def test_reactions_of_the_elastic_system():
    """(T-10.16): hinge and guide."""
    derived = kn.equations(elastic(), reactions=["phi", "x"])
    m1, m2, xi, g, x_dd, ph, w, w_d = symbols("m1 m2 xi g u_dot_x q_phi u_phi u_dot_phi")
    X12 = m1 * (x_dd + xi * (w_d * cos(ph) - w**2 * sin(ph)))
    Y12 = m1 * (g + xi * (w_d * sin(ph) + w**2 * cos(ph)))
    force = derived.reactions["phi"].force
    assert [sympy.simplify(a - b) for a, b in zip(force, (X12, Y12, 0), strict=True)] == [0, 0, 0]
    assert sympy.simplify(derived.reactions["x"].force[1] - m2 * g - Y12) == 0
    assert derived.reactions["x"].force[0] == 0  # along the slide nothing is held


# -- printed code ----------------------------------------------------------------------------------
def run_python(text: str, name: str):
    space: dict = {}
    exec(text, space)
    return space[name]


def run_c(text: str, arrays: dict) -> dict:
    """The statements of the printed C function, which are assignments of expressions, evaluated as they stand."""
    import math

    space = {name: getattr(math, name) for name in ("sin", "cos", "tan", "sqrt", "exp", "pow", "fabs")} | arrays
    body = text[text.index("{") + 1 : text.rindex("}")]
    for line in body.strip().splitlines():
        assert line.strip().endswith(";")
        exec(re.sub(r"^\s*const double ", "", line).strip().rstrip(";").strip(), space)
    return space


@pytest.mark.parametrize("shape", ["expanded", "named"])
@settings(max_examples=3, deadline=None)
@given(data=st.data(), seed=st.integers(0, 99))
def test_printed_code_computes_what_is_compiled(shape, data, seed):
    system = build(data.draw(plans(kinds=HINGED, most=2 if shape == "expanded" else 4, loaded=shape == "named")))
    topology = find_topology(system)
    t, q, u, z = random_state(topology, np.random.default_rng(seed))
    joints = list(system.joints)
    derived = kn.equations(system, shape=shape, reactions=joints)
    dynamics = kn.compile(system)
    u_dot = dynamics.acceleration(t, q, u, z=z)
    given = {"q": q, "u": u, "u_dot": u_dot, "z": z}
    out = run_python(derived.python(), "random")(t, *(list(given[role]) for role in derived.arguments))
    M, bias, reactions = out["M"], out["bias"], out["reactions"]
    size = 1 + abs(u_dot).max(initial=0)
    np.testing.assert_allclose(
        np.reshape(M, (topology.n_u,) * 2), dynamics.mass_matrix(t, q, z=z), rtol=1e-9, atol=1e-10
    )
    np.testing.assert_allclose(bias, dynamics.bias(t, q, u, z=z), rtol=1e-8, atol=1e-9 * size)
    wrenches = dynamics.reactions(t, q, u, z=z)
    for joint in joints:
        force, moment = reactions[joint]
        np.testing.assert_allclose(force, wrenches[joint].force, rtol=1e-8, atol=1e-8 * size)
        np.testing.assert_allclose(moment, wrenches[joint].moment, rtol=1e-8, atol=1e-8 * size)
    space = run_c(derived.c(), {"t": t, "p": [], **given, **{name: [0.0] * 99 for name in ("M", "bias", "reactions")}})
    np.testing.assert_allclose(space["bias"][: topology.n_u], bias, rtol=1e-10, atol=1e-10 * size)


def four_bar() -> kn.System:
    """Cut at one pin; planar, so that three of five rows are redundant."""
    system = kn.System("four_bar")
    m, l = parameters(system, "m l")
    crank = system.body("crank", mass=m, com=(l / 2, 0, 0), inertia={"zz": 0.02})
    rod = system.body("rod", mass=0.3, com=(0.4, 0, 0), inertia={"zz": 0.03})
    rocker = system.body("rocker", mass=0.5, com=(0.35, 0, 0), inertia={"zz": 0.04})
    system.revolute("one", system.world, crank, q=1.0, u=2.0)
    system.revolute("two", crank.at(l, 0, 0), rod, guess=-0.6)
    system.revolute("three", rod.at(0.8, 0, 0), rocker, guess=-1.7)
    system.revolute("four", system.world.at(0.9, 0, 0), rocker.at(0.7, 0, 0), damping=0.1)
    return system


def distant() -> kn.System:
    """Two pendulums in space, tied by a distance, one of them driven through a gear."""
    system = kn.System("distant")
    (L,) = parameters(system, "L", down=2)
    a = system.body("a", mass=1.2, com=(L, 0.1, 0), inertia=(0.1, 0.2, 0.15))
    b = system.body("b", mass=0.7, com=(0, 0.2, 0.3), inertia=(0.1, 0.1, 0.12))
    c = system.body("c", mass=0.4, com=(0.1, 0, 0), inertia=(0.02, 0.03, 0.04))
    system.universal("hook", system.world, a)
    system.spherical("ball", system.world.at(0, 1, 0), b)
    system.revolute("shaft", system.world, c, axis="x", motion="0.3*sin(2*t)")
    system.constraint("rod", "distance", a=a.at(L, 0, 0), b=b.at(0, 0, 0.4), distance=1.1)
    return system


LOOPS = (four_bar, distant)


@pytest.mark.parametrize(("model", "shape"), [(four_bar, "expanded"), (four_bar, "named"), (distant, "named")])
def test_printed_loops_compute_what_is_compiled(model, shape):
    """M u_dot + bias = G' lam and G u_dot = gamma, solved as printed; reactions from u_dot and lam."""
    system = model()
    dynamics = kn.compile(system)
    state = dynamics.initial
    derived = kn.equations(system, "recursive", shape=shape, reactions=list(system.joints))
    n, m = dynamics.n_u, len(derived.multipliers)
    function = run_python(derived.python(), system.name)
    given = {"q": state.q, "u": state.u, "z": state.z, "u_dot": [0.0] * n, "lam": [0.0] * m}
    out = function(0.0, *(given[role] for role in derived.arguments))
    M, G = np.array(out["M"]), np.array(out["G"])
    K = np.block([[M, -G.T], [G, np.zeros((m, m))]])
    x = np.linalg.solve(K, np.concatenate([-np.array(out["bias"]), out["gamma"]]))
    np.testing.assert_allclose(x[:n], dynamics.acceleration(0.0, state.q, state.u), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(out["residual"], np.zeros(m), atol=1e-9)
    given |= {"u_dot": x[:n], "lam": x[n:]}
    reactions = function(0.0, *(given[role] for role in derived.arguments))["reactions"]
    for joint, wrench in dynamics.reactions(0.0, state.q, state.u).items():
        for one, two, sure in zip(
            reactions[joint], (wrench.force, wrench.moment), np.split(unique(wrench), 2), strict=True
        ):
            np.testing.assert_allclose(np.where(sure, one, 0), np.where(sure, two, 0), rtol=1e-7, atol=1e-7)
    assert {row.of for row in derived.constraints} == ({"two"} if model is four_bar else {"rod"})
    text = derived.text(60)
    assert all(str(row.symbol) in text for row in derived.constraints)


def unique(wrench) -> np.ndarray:
    return np.array(wrench.components or [wrench.unique] * 6)


def test_tables_inputs_and_awkward_names(tmp_path):
    """A table in a law, a parameter with a name of the printed function's own: in Python, with arrays, and in C."""
    system = kn.System("motor", gravity=(0, 0, 0))
    system.parameter("double", 0.3)
    system.parameter("q", 2.0)
    system.input("volts", 1.5)
    system.table("curve", axes=[-2.0, -1.0, 0.0, 1.0, 2.0], values=[4.0, 1.0, 0.5, 1.0, 3.0], outside="hold")
    wheel = system.body("wheel", inertia=(0.1, 0.1, 0.2))
    system.revolute("axle", system.world, wheel, effort="volts*curve(axle.q) - double*q*axle.u + min(axle.u, 0.1)")
    derived = kn.equations(system, reactions=["axle"])
    wanted = kn.compile(system)
    angles = np.linspace(-2.4, 2.4, 7)
    bias = [wanted.bias(0.0, [x], [0.4])[0] for x in angles]
    function = run_python(derived.python(), "motor")
    printed = [function(0.0, [x], [0.4], [0.0], volts=1.5)["bias"][0] for x in angles]
    np.testing.assert_allclose(printed, bias, rtol=1e-12)
    arrays = run_python(derived.python("numpy"), "motor")(0.0, [angles], [np.full(7, 0.4)], [0.0])["bias"][0]
    np.testing.assert_allclose(arrays, bias, rtol=1e-12)
    library = compile_c(derived.c(), tmp_path)
    for x, value in zip(angles, bias, strict=True):
        given = [[x], [0.4], [0.0], [0.3, 2.0, 1.5]]
        assert call_c(library.motor_equations, 0.0, given, (1, 1, 6))[1][0] == pytest.approx(value, rel=1e-12)


def compile_c(text: str, folder):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    (folder / "a.c").write_text(text)
    command = [compiler, "-shared", "-fPIC", "-O1", "-Werror", "-o", folder / "a.so", folder / "a.c", "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(folder / "a.so"))


def call_c(function, t, arrays, sizes):
    out = [np.zeros(size) for size in sizes]
    given = [np.asarray(x, dtype=float) for x in arrays]
    function(ctypes.c_double(t), *(ctypes.c_void_p(x.ctypes.data) for x in [*given, *out]))
    return out


# -- every body by itself --------------------------------------------------------------------------
def solve_bodies(derived, t, q, u, z):
    """Unknowns by name, from the printed equations, which are as many."""
    given = {"q": q, "u": u, "z": z}
    out = run_python(derived.python(), derived.system.name)(t, *(given[role] for role in derived.arguments))
    x = np.linalg.solve(np.array(out["K"], dtype=float), np.array(out["b"], dtype=float))
    return dict(zip(map(str, derived.unknowns), x, strict=True))


@settings(max_examples=3, deadline=None)
@given(data=st.data(), seed=st.integers(0, 99))
def test_bodies_by_themselves_move_and_are_held_as_compiled(data, seed):
    """Any joints, drives and gears: the linear system as printed has one solution, the compiled one."""
    system = build(data.draw(plans(most=2)))
    topology = find_topology(system)
    t, q, u, z = random_state(topology, np.random.default_rng(seed))
    derived = kn.equations(system, "newton_euler", shape="named")
    values = solve_bodies(derived, t, q, u, z)
    check_bodies(system, values, t, q, u, z)


def check_bodies(system, values, t, q, u, z):
    dynamics = kn.compile(system)
    u_dot = dynamics.acceleration(t, q, u, z=z)
    size = 1 + abs(u_dot).max(initial=0)
    names = [c.name.replace(".u", "", 1).replace(".", "_") for c in dynamics.coordinates if c.role == "u"]
    np.testing.assert_allclose([values[f"u_dot_{name}"] for name in names], u_dot, rtol=1e-7, atol=1e-7 * size)
    for joint, wrench in dynamics.reactions(t, q, u, z=z).items():
        for part, x, sure in zip(
            ["X", "Y", "Z", "MX", "MY", "MZ"], [*wrench.force, *wrench.moment], unique(wrench), strict=True
        ):
            if sure:
                assert values.get(f"{part}_{joint}", 0.0) == pytest.approx(x, rel=1e-6, abs=1e-6 * size)


@pytest.mark.parametrize("model", LOOPS, ids=lambda model: model.__name__)
def test_bodies_in_loops(model):
    system = model()
    state = kn.compile(system).initial
    derived = kn.equations(system, "newton_euler")
    values = solve_bodies(derived, 0.0, state.q, state.u, state.z)
    check_bodies(system, values, 0.0, state.q, state.u, state.z)


def robot() -> kn.System:
    """Two links in space; along the elbow's x and z no acceleration is unknown, only products of speeds are left."""
    system = kn.System("robot", gravity=(0, 0, -9.81))
    L = system.parameter("L", 0.6)
    a = system.body("a", mass=3, com=(L / 2, 0, 0), inertia=(0.01, 0.08, 0.09))
    b = system.body("b", mass=1.5, com=(0.1, 0.02, 0.2), inertia=(0.02, 0.03, 0.025, 0.001, 0.002, -0.001))
    system.revolute("base", system.world, a, axis="z", damping=0.3)
    system.revolute("elbow", a.at(L, 0, 0), b, axis="y", stiffness=5, neutral=0.2)
    system.force("wind", b.at(0.1, 0, 0.3), ("0.4*sin(2*t)", 0, 0), expressed_in="world")
    return system


@pytest.mark.parametrize("shape", ["expanded", "named"])
def test_bodies_of_an_arm_in_space_are_a_square_system(shape):
    derived = kn.equations(robot(), "newton_euler", shape=shape)
    assert derived.K.shape == (17, 17)
    assert len(derived.equations) == 17
    assert all(any(x != 0 for x in derived.K.row(i)) for i in range(17))
    state = (0.37, [0.4, -1.1], [1.3, 0.7])
    check_bodies(derived.system, solve_bodies(derived, *state, []), *state, [])


@pytest.mark.parametrize("shape", ["expanded", "named"])
def test_rows_that_share_what_vanishes_keep_the_system_square(shape):
    """Of a body that swings about a point on its axis x, Vx_dot is zero, and both rows of the pin's force speak of it.

    Without it these would be sin(q) (..) = 0 and cos(q) (..) = 0, neither of which does for all angles.
    """
    system = kn.System("swing")
    rod = system.body("rod", mass=2, com=(0.1, 0.2, 0), inertia={"zz": 0.3})
    system.revolute("pin", system.world.at(0.9, 0, 0), rod.at(0.7, 0, 0))
    derived = kn.equations(system, "newton_euler", shape=shape)
    assert "Vx_dot_rod" in map(str, derived.unknowns)
    for angle in (0.0, np.pi / 2, 1.0):
        state = (0.0, [angle], [1.1])
        check_bodies(system, solve_bodies(derived, *state, []), *state, [])


def test_bodies_have_no_mass_matrix_of_the_whole():
    with pytest.raises(kn.ArgumentError, match=r"\.bodies has the matrices of each, \.K and \.b"):
        kn.equations(pendulum(), "newton_euler").matrices()


def test_bodies_of_the_elastic_system():
    """(T-10.11) to (T-10.14): ten equations in the plane, nothing of the third dimension; the pendulum's matrices."""
    derived = kn.equations(elastic(), "newton_euler")
    assert len(derived.equations) == len(derived.unknowns) == 10
    assert not any(name in str(derived) for name in ("Z_phi", "MX_", "MY_", "wx_", "Vz_", "0 = 0"))
    m1, xi, Jz, w, c, s, g = *symbols("m1 xi Jz wz_bob"), cos(Symbol("q_phi")), sin(Symbol("q_phi")), Symbol("g")
    bob = derived.bodies["bob"]
    plane = [3, 4, 2]  # V_x, V_y, w_z; the axis x of (T-10.12) points to the mass center, ours is y, upwards
    assert bob.M.extract(plane, plane) == sympy.Matrix([[m1, 0, m1 * xi], [0, m1, 0], [m1 * xi, 0, Jz]])
    Omega = sympy.Matrix([[0, -m1 * w, 0], [m1 * w, 0, m1 * xi * w], [0, -m1 * xi * w, 0]])
    v = sympy.Matrix([Symbol("Vx_bob"), Symbol("Vy_bob"), w])
    assert sympy.expand(bob.Omega.extract(plane, plane) * v - Omega * v) == sympy.zeros(3, 1)
    assert bob.Q.extract(plane, [0]) == sympy.Matrix([-m1 * g * s, -m1 * g * c, -m1 * g * xi * s])


# -- errors ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"formulation": "kane"}, "none of recursive, lagrange"),
        ({"shape": "long"}, "none of auto"),
        ({"reactions": ["elbow"]}, "has no joint 'elbow'; it has pivot"),
    ],
)
def test_errors(fields, words):
    with pytest.raises(kn.ArgumentError, match=words):
        kn.equations(pendulum(), **fields)


def test_where_it_does_not_apply():
    system = kn.System("ball")
    ball = system.body("ball", mass=1, inertia=(1, 1, 1))
    system.free("flight", system.world, ball)
    system.constraint("rope", "distance", a=ball, b=system.world.at(0, 0, 1), distance=1.0)
    with pytest.raises(kn.ArgumentError, match=r"quasi_base does not apply to ball.*rope"):
        kn.equations(system, "quasi_base")
    assert len(kn.equations(system).equations) == 6


def test_fractions_are_written_as_people_do():
    system = kn.System("rod", gravity=(0, -9.81, 0))
    rod = system.body("rod", mass="2 kg", com=(0, -0.5, 0), inertia={"zz": 1 / 6})
    system.revolute("pivot", system.world, rod)
    (equation,) = kn.equations(system).equations
    assert str(equation.lhs) == "2*u_dot_pivot/3 + 9.81*sin(q_pivot)"
    assert Rational(2, 3) in equation.lhs.atoms(Rational)


def test_laws_in_time_stay_as_typed():
    for way in ("lagrange", "newton_euler"):
        text = str(kn.equations(robot(), way, shape="expanded"))
        assert "sin(2*t)" in text
        assert "cos(t)" not in text
    system = kn.System("pushed", gravity=(0, 0, 0))
    system.parameter("phi", 0.3)
    rod = system.body("rod", mass=1, com=(1, 0, 0), inertia={"zz": 1})
    system.revolute("pivot", system.world, rod)
    system.force("push", rod.at(1, 0, 0), (0, "3*cos(2*t + phi)", 0), expressed_in="world")
    (equation,) = kn.equations(system).equations
    q, t = symbols("q_pivot t")
    assert equation.rhs == 3 * cos(q) * cos(2 * t + Symbol("phi"))


def test_printed_lines_fit_a_terminal():
    lines = str(kn.equations(robot(), "newton_euler")).splitlines()
    assert 60 < max(map(len, lines)) <= 80


def oblique_arm(**spring) -> kn.System:
    """One body on an oblique hinge, between oblique frames, held by a spring."""
    system = kn.System("oblique_arm")
    arm = system.body("arm", mass=1.3, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.25, 0.01, 0.02, 0.03))
    mount, foot = system.world.at(0.1, 0.2, 0.3, rpy=(0.3, 0.4, 0.5)), arm.at(0.05, 0.07, 0.01, rpy=(0.1, 0.2, 0.7))
    system.revolute("hinge", mount, foot, axis=(0.3, -0.5, 0.8), q=0.2)
    system.spring("spring", system.world.at(0.5, 0.4, 0.3), arm.at(0.3, 0.1, 0.2), stiffness=100, **spring)
    return system


@pytest.mark.parametrize("spring", [{}, {"free_length": 0.4, "damping": 3}], ids=["linear", "damped"])
def test_an_oblique_hinge_with_a_spring_is_written_out(spring):
    """The waves of the two oblique frames cancel; what is left is as long as for an axis z."""
    system = oblique_arm(**spring)
    derived = kn.equations(system)
    assert derived.shape == "expanded"
    assert derived.operations < 80
    agrees(system, derived)


def agrees(system: kn.System, derived) -> None:
    """The printed Python function gives the compiled acceleration."""
    scope: dict = {}
    exec(derived.python(), scope)
    dynamics = kn.compile(system)
    state = dynamics.initial
    result = scope[system.name](0.3, state.q, state.u + 0.1, *([state.z] if len(state.z) else []))
    u_dot = np.linalg.solve(np.array(result["M"], dtype=float), -np.array(result["bias"], dtype=float))
    expected = dynamics.acceleration(0.3, state.q, state.u + 0.1, z=state.z)
    np.testing.assert_allclose(u_dot, expected, rtol=1e-9, atol=1e-9 * abs(expected).max())


def test_what_would_be_long_gets_names():
    """A wrist of oblique hinges: expanding it does not end, so that its budget does."""
    system = kn.System("wrist")
    body = system.world
    for k in range(3):
        link = system.body(f"link{k}", mass=1.0 + 0.1 * k, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.25, 0.01, 0, 0.02))
        system.revolute(f"hinge{k}", body.at(0.3, 0.1, 0.2, rpy=(0.1, 0.5, 0.3)), link, axis=(1, 2, 3 + k), q=0.3)
        body = link
    derived = kn.equations(system)
    assert derived.shape == "named"
    agrees(system, derived)
    with pytest.raises(kn.ArgumentError, match="shape='named'"):
        kn.equations(oblique_chain := two_balls(), shape="expanded")
    assert kn.equations(oblique_chain).shape == "named"


def two_balls() -> kn.System:
    system = kn.System("two_balls")
    body = system.world
    for k in range(2):
        link = system.body(f"link{k}", mass=1.0, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.25, 0.01, 0.02, 0.03))
        system.spherical(f"ball{k}", body.at(0.3, 0.1, 0.2), link)
        body = link
    return system


def test_a_table_with_ends_is_written():
    """Standard air is defined up to an altitude; beyond, the formula says that there is no number."""
    system = kn.load("examples/spinning_shell.yaml")
    derived = kn.equations(system)
    agrees(system, derived)
    assert "nan" in derived.python()
    assert "NAN" in derived.c()


def test_reactions_at_gears_with_and_without_teeth():
    """Without teeth the heading says what is missing; with them, the equations that cannot have them are refused."""
    system = kn.System("pair", gravity=(0, 0, 0))
    for name, place in (("a", 0.0), ("b", 0.3)):
        body = system.body(name, mass=1, inertia=(1, 1, 1))
        system.revolute(f"j{name}", system.world.at(place, 0, 0), body, effort=1.0)
    system.constraint("mesh", "gear", input="ja", output="jb", ratio=-2)
    assert "reaction of ja, without tooth force: zero" in str(kn.equations(system, "recursive", reactions="ja"))
    assert "joint jb, its reaction without tooth force\n" in str(kn.equations(system, "newton_euler"))
    system.change("mesh", pressure_angle="20 deg")
    text = str(kn.equations(system, "recursive", reactions="ja"))
    assert "without tooth force" not in text
    assert "ja.reaction.force.y" in text
    with pytest.raises(kn.Error, match="which flank of the teeth of mesh carries the load is not linear"):
        kn.equations(system, "newton_euler")
    with pytest.raises(kn.Error, match="rotators have no tooth forces, as of mesh"):
        _ = kn.equations(system, "rotators", reactions="ja").terms
