"""kn.equations: textbook forms, reactions, what is refused, and how long formulas are written."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from equation_models import elastic, parameters, pendulum, robot, symbols
from sympy import Rational, Symbol, cos, sin

import kinode as kn


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
