"""kn.equations: textbook forms, printed code that runs, and agreement with the compiled functions."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Rational, Symbol, cos, sin

import kinode as kn
from formulations.strategies import build, plans
from kinode.algebra.harmonics import Harmonic
from kinode.algebra.scalars import apply
from kinode.results.verify import random_state
from kinode.topology import find_topology

HINGED = ("revolute", "prismatic", "fixed")


def symbols(text: str) -> list[sympy.Symbol]:
    return [Symbol(name) for name in text.split()]


def parameters(system: kn.System, text: str, down: int = 1) -> list:
    """Parameters by name, and gravity g along a negative axis."""
    found = [system.parameter(name, 0.5 + 0.1 * k) for k, name in enumerate(text.split())]
    g = system.parameter("g", 9.81)
    system.gravity = tuple(-g if k == down else 0 for k in range(3))
    return found


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
    found = {pendulum: [(J + m * l**2) * a + m * g * l * sin(q) + c * u]}
    m1, m2, l1, a1, a2, J1, J2 = symbols("m1 m2 l1 a1 a2 J1 J2")
    q1, q2, u1, u2, b1, b2 = symbols("q_one q_two u_one u_two u_dot_one u_dot_two")
    found[double_pendulum] = [
        (J1 + J2 + m1 * a1**2 + m2 * (l1**2 + a2**2 + 2 * l1 * a2 * cos(q2))) * b1
        + (J2 + m2 * (a2**2 + l1 * a2 * cos(q2))) * b2
        - m2 * l1 * a2 * sin(q2) * (2 * u1 * u2 + u2**2)
        + (m1 * a1 + m2 * l1) * g * sin(q1) + m2 * a2 * g * sin(q1 + q2),
        (J2 + m2 * (a2**2 + l1 * a2 * cos(q2))) * b1 + (J2 + m2 * a2**2) * b2
        + m2 * l1 * a2 * sin(q2) * u1**2 + m2 * a2 * g * sin(q1 + q2),
    ]  # fmt: skip
    M, F, x_dd, th, w, w_d = symbols("M F u_dot_rail q_hinge u_hinge u_dot_hinge")
    found[cart_pole] = [  # the pole stands up at zero, and a positive angle leans it to the left
        (M + m) * x_dd - m * l * cos(th) * w_d + m * l * sin(th) * w**2 - F,
        -m * l * cos(th) * x_dd + (J + m * l**2) * w_d - m * g * l * sin(th),
    ]
    l2, I1, I2, tau1, tau2 = symbols("l2 I1 I2 tau1 tau2")
    b11 = I1 + m1 * l1**2 + I2 + m2 * (a1**2 + l2**2 + 2 * a1 * l2 * cos(q2))
    b12, b22, h = I2 + m2 * (l2**2 + a1 * l2 * cos(q2)), I2 + m2 * l2**2, -m2 * a1 * l2 * sin(q2)
    found[arm] = [
        b11 * b1 + b12 * b2 + h * u2 * u1 + h * (u1 + u2) * u2
        + (m1 * l1 + m2 * a1) * g * cos(q1) + m2 * l2 * g * cos(q1 + q2) - tau1,
        b12 * b1 + b22 * b2 - h * u1 * u1 + m2 * l2 * g * cos(q1 + q2) - tau2,
    ]  # fmt: skip
    A, C, th = symbols("A C q_nutation")
    p, n, s = symbols("u_precession u_nutation u_spin")
    pd, nd, sd = symbols("u_dot_precession u_dot_nutation u_dot_spin")
    B = A + m * l**2  # about the tip (Goldstein, Classical Mechanics, section 5.7)
    found[top] = [
        (B * sin(th) ** 2 + C * cos(th) ** 2) * pd + C * cos(th) * sd
        + 2 * (B - C) * sin(th) * cos(th) * p * n - C * sin(th) * n * s,
        B * nd - (B - C) * sin(th) * cos(th) * p**2 + C * sin(th) * p * s - m * g * l * sin(th),
        C * (sd + cos(th) * pd - sin(th) * p * n),
    ]  # fmt: skip
    m1, m2, xi, Jz, k, x, x_d, x_dd = symbols("m1 m2 xi Jz k q_x u_x u_dot_x")
    ph, ph_d, ph_dd = symbols("q_phi u_phi u_dot_phi")
    found[elastic] = [  # SPEC [4.15]
        (m1 + m2) * x_dd + m1 * xi * (ph_dd * cos(ph) - ph_d**2 * sin(ph)) + c * x_d + k * x,
        Jz * ph_dd + m1 * xi * x_dd * cos(ph) + m1 * g * xi * sin(ph),
    ]
    return found


TEXTBOOK = textbook()


@pytest.mark.parametrize("way", ["lagrange", "recursive", "quasi_base", "rotators"])
@pytest.mark.parametrize("model", TEXTBOOK, ids=lambda model: model.__name__)
def test_textbook(model, way):
    found = kn.equations(model(), way, shape="expanded")
    for equation, wanted in zip(found.equations, TEXTBOOK[model], strict=True):
        assert sympy.simplify(sympy.expand(equation.lhs - equation.rhs - wanted, trig=True)) == 0


@pytest.mark.parametrize("model", TEXTBOOK, ids=lambda model: model.__name__)
def test_as_short_as_the_textbook(model):
    """Not longer than what a person wrote, by a few operations at most."""
    found = kn.equations(model())
    for equation, wanted in zip(found.equations, TEXTBOOK[model], strict=True):
        assert equation.lhs.count_ops() + equation.rhs.count_ops() <= 1.1 * wanted.count_ops() + 2


def test_matrices():
    found = kn.equations(double_pendulum())
    M, C, G, Q = found.matrices()
    u, a = sympy.Matrix(found.notation.of("u")), sympy.Matrix(found.unknowns)
    for row, wanted in zip(M * a + C * u + G - Q, TEXTBOOK[double_pendulum], strict=True):
        assert sympy.simplify(sympy.expand(row - wanted, trig=True)) == 0
    rates = zip(found.notation.of("q"), u, strict=True)
    skew = sum((M.diff(q) * rate for q, rate in rates), sympy.zeros(2)) - 2 * C
    assert (skew + skew.T).applyfunc(sympy.simplify) == sympy.zeros(2)


def test_reactions_of_the_elastic_system():
    """SPEC [4.16]: hinge and guide."""
    found = kn.equations(elastic(), reactions=["phi", "x"])
    m1, m2, xi, g, x_dd, ph, w, w_d = symbols("m1 m2 xi g u_dot_x q_phi u_phi u_dot_phi")
    X12 = m1 * (x_dd + xi * (w_d * cos(ph) - w**2 * sin(ph)))
    Y12 = m1 * (g + xi * (w_d * sin(ph) + w**2 * cos(ph)))
    force = found.reactions["phi"].force
    assert [sympy.simplify(a - b) for a, b in zip(force, (X12, Y12, 0), strict=True)] == [0, 0, 0]
    assert sympy.simplify(found.reactions["x"].force[1] - m2 * g - Y12) == 0
    assert found.reactions["x"].force[0] == 0  # along the slide nothing is held


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
@settings(max_examples=5, deadline=None)
@given(data=st.data(), seed=st.integers(0, 99))
def test_printed_code_computes_what_is_compiled(shape, data, seed):
    system = build(data.draw(plans(kinds=HINGED, most=2 if shape == "expanded" else 4, loaded=shape == "named")))
    topology = find_topology(system)
    t, q, u, z = random_state(topology, np.random.default_rng(seed))
    joints = list(system.joints)
    found = kn.equations(system, shape=shape, reactions=joints)
    dynamics = kn.compile(system)
    u_dot = dynamics.acceleration(t, q, u, z=z)
    M, bias, reactions = run_python(found.python(), "random")(t, list(q), list(u), list(u_dot), list(z))
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
    out = {name: [0.0] * size for name, size in (("M", 99), ("bias", 9), ("reactions", 99))}
    given_ = {"t": t, "q": q, "u": u, "u_dot": u_dot, "z": z, "p": [], **out}
    space = run_c(found.c(), given_)
    np.testing.assert_allclose(space["bias"][: topology.n_u], bias, rtol=1e-10, atol=1e-10 * size)


# -- the readable number ---------------------------------------------------------------------------
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_harmonics_compute_as_floats_do(seed):
    """Random expressions: the normal form has the value of the expression."""
    rng = np.random.default_rng(seed)
    values = dict(zip("abcd", rng.uniform(0.5, 1.5, 4), strict=True))
    pool = [(Harmonic.symbol(name), value) for name, value in values.items()]
    for _ in range(12):
        (x, a), (y, b) = (pool[k] for k in rng.integers(len(pool), size=2))
        op = rng.choice(["add", "sub", "mul", "sin", "cos", "neg"])
        args = (x, y) if op in ("add", "sub", "mul") else (x,)
        plain = (a, b)[: len(args)]
        if any(isinstance(v, Harmonic) and len(v.terms) > 40 for v in args):
            continue
        pool.append((apply(op, *args), apply(op, *plain)))
    from kinode.codegen.notation import Writer

    class Names:
        symbols = {name: Symbol(name) for name in "abcd"}

    for x, value in pool:
        written = Writer(Names).write(x)  # type: ignore[arg-type]
        assert float(written.subs(values)) == pytest.approx(value, rel=1e-8, abs=1e-8)


def test_harmonics_know_that_equal_is_equal():
    a, b = Harmonic.symbol("a"), Harmonic.symbol("b")
    c, s = apply("cos", a), apply("sin", a)
    assert repr(c * c + s * s) == "1"
    assert c * apply("cos", b) - s * apply("sin", b) - apply("cos", a + b) == 0.0
    root = apply("sqrt", a * a + b)
    assert root * root - a * a - b == 0.0


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
    with pytest.raises(kn.ArgumentError, match=r"quasi_base does not apply to ball.*flight"):
        kn.equations(system, "quasi_base")
    assert len(kn.equations(system).equations) == 6


def test_fractions_are_written_as_people_do():
    system = kn.System("rod", gravity=(0, -9.81, 0))
    rod = system.body("rod", mass="2 kg", com=(0, -0.5, 0), inertia={"zz": 1 / 6})
    system.revolute("pivot", system.world, rod)
    (equation,) = kn.equations(system).equations
    assert str(equation.lhs) == "2*u_dot_pivot/3 + 9.81*sin(q_pivot)"
    assert Rational(2, 3) in equation.lhs.atoms(Rational)
