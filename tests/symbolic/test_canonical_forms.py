"""Hamilton's equations as formulas, the matrices A and D, and lengths that are written without a root."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sympy

import kinode as kn
from kinode.symbolic.hamilton_equations import adjugate
from kinode.symbolic.normal_form import Harmonic, taking_roots
from kinode.symbolic.square_roots import polynomial_root
from known.elastic import EXAMPLES


def driven():
    system = kn.System("driven", gravity=(0, -9.81, 0))
    cart = system.body("cart", mass=2.0)
    bob = system.body("bob", mass=1.0, com=(0, -0.5, 0), inertia=(0.1, 0.1, 0.1))
    system.prismatic("rail", system.world, cart, axis="x", motion="0.1*sin(2*t)")
    system.revolute("pin", cart, bob, axis="z", damping=0.2)
    return system


# -- Hamilton ---------------------------------------------------------------------------------------


def test_the_hamiltonian_of_the_elastic_system():
    """Its derivatives by p are the speeds, those by q the rates of the momenta (T-10.17)."""
    e = kn.equations(kn.load(EXAMPLES / "elastic_system.yaml"), "hamilton")
    p, speeds = e.p, [sympy.Symbol("u_rail"), sympy.Symbol("u_hinge")]
    for symbol, speed in zip(p, e.speeds, strict=True):
        assert sympy.simplify(sympy.nsimplify(e.H.diff(symbol) - speed)) == 0
    by_momenta = dict(zip(speeds, e.speeds, strict=True))
    for q, rate, Q in zip(sympy.symbols("q_rail q_hinge"), e.p_dot, e.Q, strict=True):
        assert sympy.simplify(sympy.nsimplify((rate - Q).xreplace(by_momenta) + e.H.diff(q))) == 0
    assert e.is_energy and list(e.Q) == [-sympy.Symbol("damping") * speeds[0], 0]
    assert "holds while\n  free_length + q_rail > 0" in str(e)


def test_a_prescribed_motion_makes_h_differ_from_the_energy():
    e = kn.equations(driven(), "hamilton")
    assert not e.is_energy
    assert "H is not the energy, since motions are prescribed" in str(e)
    t, q, p, u = sympy.symbols("t q_pin p_pin u_pin")
    speed = sympy.cos(2 * t) / 5
    T = sympy.Rational(3, 2) * speed**2 + sympy.Rational(35, 200) * u**2 + u * speed * sympy.cos(q) / 2
    energy = T - sympy.Rational(4905, 1000) * sympy.cos(q)
    ours = e.energy.xreplace({p: sympy.Rational(35, 100) * u + speed * sympy.cos(q) / 2})
    assert sympy.simplify(sympy.nsimplify(ours - energy)) == 0


@pytest.mark.parametrize("name", ["spinning_top", "double_pendulum", "gyroscope"])
def test_the_generated_code_moves_as_the_compiled_dynamics(name):
    """u and p_dot, the latter by a small step of the motion; the top has quasi-momenta."""
    system = kn.load(EXAMPLES / f"{name}.yaml")
    dynamics, namespace = kn.compile(system), {}
    exec(kn.equations(system, "hamilton").python(), namespace)
    units, start = np.eye(dynamics.n_u), dynamics.initial

    def momenta(q, u):
        energies = [[dynamics.energy(0.0, q, u + s * unit)[0] for s in (1, -1)] for unit in units]
        return np.array([(a - b) / 2 for a, b in energies])

    q, u, h = start.q, np.random.default_rng(0).normal(size=dynamics.n_u), 1e-5
    results = namespace[name](0.0, list(q), list(momenta(q, u)))
    np.testing.assert_allclose(results["u"], u, rtol=1e-9, atol=1e-9)
    y, rate = np.concatenate([q, u]), dynamics.rate(0.0, np.concatenate([q, u]))
    there = [momenta(*np.split(y + s * h * rate, [dynamics.n_q])) for s in (1, -1)]
    np.testing.assert_allclose(results["p_dot"], (there[0] - there[1]) / (2 * h), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(results["energy"], sum(dynamics.energy(0.0, q, u)), rtol=1e-12)


def test_many_momenta_get_names():
    system = kn.load(EXAMPLES / "ship_gimbal.yaml")
    assert kn.equations(system, "hamilton").shape == "named"
    with pytest.raises(kn.Error, match="hamilton has none"):
        kn.equations(system, "hamilton", reactions="roll")


def test_the_adjugate_over_the_determinant_is_the_inverse():
    A = np.random.default_rng(0).normal(size=(3, 3))
    inverse, determinant = adjugate((A @ A.T).astype(object))
    np.testing.assert_allclose(np.asarray(inverse / determinant, dtype=float), np.linalg.inv(A @ A.T))


# -- matrices ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "quasi_base"])
def test_inertia_of_prescribed_motions_stands_in_d(formulation):
    matrices = kn.equations(driven(), formulation, shape="expanded").matrices()
    t, q, u = sympy.symbols("t q_pin u_pin")
    M, C, _, Q = matrices
    assert len(matrices) == 4 and matrices.A == M == matrices[0]
    assert sympy.nsimplify(matrices.D[0] + sympy.sin(2 * t) * sympy.cos(q) / 5) == 0
    assert C[0] == 0 and sympy.nsimplify(Q[0] + u / 5) == 0
    assert pickle.loads(pickle.dumps(matrices)).D == matrices.D


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
def test_without_prescribed_motions_d_is_c_u(formulation):
    matrices = kn.equations(kn.load(EXAMPLES / "double_pendulum.yaml"), formulation, shape="expanded").matrices()
    u = sympy.Matrix(sympy.symbols("u_shoulder u_elbow"))
    assert all(sympy.simplify(sympy.nsimplify(x)) == 0 for x in matrices.C * u - matrices.D)


# -- lengths ----------------------------------------------------------------------------------------


def test_a_spring_along_a_slide_is_linear():
    e = kn.equations(kn.load(EXAMPLES / "elastic_system.yaml"))
    assert "+ q_rail*stiffness = -damping*u_rail" in str(e).replace("\n     ", "")
    assert str(e).endswith("this holds while\n  free_length + q_rail > 0")
    assert "while free_length + q_rail > 0" in e.python() and "while free_length + q_rail > 0" in e.c()
    assert r"free_{length} + q_{\mathrm{rail}} &> 0" in e.latex()
    named = str(kn.equations(kn.load(EXAMPLES / "elastic_system.yaml"), shape="named"))
    assert "sqrt" not in named and "holds while" in named


def test_the_root_has_the_sign_of_the_start():
    """A spring whose slide starts on the other side of its anchor."""
    system = kn.System("other side", gravity=(0, 0, 0))
    body = system.body("body", mass=1.0, inertia=(1, 1, 1))
    system.prismatic("rail", system.world, body, axis="x", q=-0.4)
    system.spring("spring", system.world, body, stiffness=10.0, free_length=0.3)
    e = kn.equations(system)
    assert [str(x) for x in e.conditions] == ["-q_rail"]
    bias = sympy.lambdify(sympy.Symbol("q_rail"), e.bias[0])
    np.testing.assert_allclose(-bias(-0.4), kn.compile(system).acceleration(0.0, [-0.4], [0.0])[0], rtol=1e-12)
    system.change("rail", q=0.0)  # the ends meet: no sign is known
    system.change("spring", free_length=0.0)
    assert not kn.equations(system).conditions


def test_roots_of_polynomials():
    a, b, c = (Harmonic.symbol(name) for name in "abc")
    for root in (a + 2 * b, a - 0.3, 3 * a * b - c + 0.5, a * a + b):
        found = polynomial_root(root * root)
        assert found is not None and isinstance(found * found - root * root, float)
    for other in (a * a + b, a * a + 2 * a * b - b * b, -1 * a * a, 2 * a * a):
        assert polynomial_root(other) is None


class _Positive:
    """The rules of roots that are all positive, without reciprocals."""

    def find_root(self, x):
        return polynomial_root(x)

    def invert(self, x):
        return None

    def reduced(self, terms):
        return terms


def test_roots_are_taken_within_their_context_only():
    a, b = Harmonic.symbol("a"), Harmonic.symbol("b")
    square = (a + b) * (a + b)
    with taking_roots(_Positive()):
        assert repr(kn.sqrt(square)) in (repr(a + b), repr(-1 * (a + b)))
    assert "sqrt" in repr(kn.sqrt(square))
