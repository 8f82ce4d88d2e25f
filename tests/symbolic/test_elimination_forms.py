"""The matrices that eliminate constraint forces: the planar formulas of the elastic system, and values of many models.

The planar case is typed in from docs/theory/elastic-system.md: (T-10.12) to (T-10.16).
"""

from __future__ import annotations

import shutil
import subprocess
from xml.etree import ElementTree

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import plans, topology_of

import kinode as kn
from kinode.algebra.trace import Tape
from kinode.formulations.absolute_coordinates import Absolute
from kinode.model.base.frames import Frame
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.symbolic.elimination_printed import evaluate_trace
from kinode.symbolic.elimination_trace import CHARTS, EliminationTrace, find_chart
from kinode.symbolic.normal_form import TooLongError
from kinode.tasks.verify import random_state
from known.elastic import EXAMPLES

PLANE = ["Vx_pendulum", "Vy_pendulum", "wz_pendulum", "Vx_slider", "Vy_slider"]
FORCES = ["X_hinge", "Y_hinge", "Y_rail"]


@pytest.fixture(scope="module")
def elastic_elimination():
    return kn.equations(kn.load(EXAMPLES / "elastic_system.yaml"), "newton_euler").elimination


def test_the_planar_matrices_are_those_of_the_document(elastic_elimination):
    """Its pendulum lies along x1; the example's hangs along -y, so that (Vx, Vy) there are (-Vy, Vx) here."""
    e = elastic_elimination.reduced
    k = [e.velocities.index(name) for name in PLANE]
    rows = [e.multipliers.index(name) for name in FORCES]
    turn = sympy.diag(sympy.Matrix([[0, -1], [1, 0]]), 1, 1, 1)  # document's (V1, V2) from the example's
    xi, w, phi, x, V = sympy.symbols("arm wz_pendulum q_hinge q_rail Vx_slider")
    stiffness, damping = sympy.symbols("stiffness damping")
    M = turn * e.M.extract(k, k) * turn.T
    assert M == sympy.Matrix([[1, 0, 0, 0, 0], [0, 1, xi, 0, 0], [0, xi, 1, 0, 0], [0, 0, 0, 5, 0], [0, 0, 0, 0, 5]])
    Omega = turn * e.Omega.extract(k, k) * turn.T
    assert Omega[:3, :3] == w * sympy.Matrix([[0, -1, -xi], [1, 0, 0], [xi, 0, 0]])
    assert not any(Omega[3:, :]) and not any(Omega[:, 3:])
    g = sympy.Float("9.81")
    wanted = sympy.Matrix(
        [g * sympy.cos(phi), -g * sympy.sin(phi), -g * xi * sympy.sin(phi), -stiffness * x - damping * V, -5 * g]
    )
    difference = (turn * e.Q.extract(k, [0]) - wanted).applyfunc(sympy.simplify)
    assert all(abs(sympy.N(entry)) < 1e-12 for entry in difference)
    L = turn * e.L.extract(k, rows)
    c, s = sympy.cos(phi), sympy.sin(phi)
    assert L == sympy.Matrix([[s, -c, 0], [c, s, 0], [0, 0, 0], [-1, 0, 0], [0, -1, 1]])
    assert turn * e.L_dot.extract(k, rows) == (sympy.diff(L, phi) * w)


def is_identity(expr, angle):
    """Whether a rational function of sin and cos of an angle, and of symbols, is zero."""
    s, c = sympy.symbols("s c")
    waves = {
        sympy.sin(2 * angle): 2 * s * c,
        sympy.cos(2 * angle): 2 * c**2 - 1,
        sympy.sin(angle): s,
        sympy.cos(angle): c,
    }
    above = sympy.numer(sympy.together(sympy.nsimplify(expr.xreplace(waves))))
    return sympy.reduced(sympy.expand(above), [s**2 + c**2 - 1], s)[1] == 0


def test_the_constraint_forces_are_those_of_the_document(elastic_elimination):
    """X12, Y12, Y20 of (T-10.16) with the accelerations of (T-10.15), and B1, B2, B3 by their definitions."""
    e = elastic_elimination.reduced
    symbols = {name: sympy.Symbol(name) for name in ("arm", "stiffness", "damping", "q_hinge", "q_rail")}
    xi, k, c, phi, x = symbols.values()
    v, w = sympy.symbols("v w")
    moving = dict(
        zip(
            sympy.symbols("Vx_slider Vx_pendulum Vy_pendulum wz_pendulum"),
            (v, v * sympy.cos(phi), -v * sympy.sin(phi), w),
            strict=True,
        )
    )
    J, g = 1, sympy.Rational(981, 100)
    a, b = sympy.symbols("a b")
    minimal = sympy.solve(
        [
            6 * a + xi * (b * sympy.cos(phi) - w**2 * sympy.sin(phi)) + c * v + k * x,
            J * b + xi * a * sympy.cos(phi) + g * xi * sympy.sin(phi),
        ],
        [a, b],
    )
    a, b = minimal[a], minimal[b]
    X12 = a + xi * (b * sympy.cos(phi) - w**2 * sympy.sin(phi))
    Y12 = g + xi * (b * sympy.sin(phi) + w**2 * sympy.cos(phi))
    wanted = {"X_hinge": X12, "Y_hinge": Y12, "Y_rail": 5 * g + Y12, "MZ_rail": sympy.S.Zero}
    for name, formula in zip(e.multipliers, e.lam, strict=True):
        assert is_identity(formula.xreplace(moving) - wanted[name], phi), name
    inverse = e.M.inv()
    for ours, definition in (
        (e.B1, e.L.T * inverse * e.L),
        (e.B2, e.L.T * inverse),
        (e.B3, e.L.T * inverse * e.Omega - e.L_dot.T),
    ):
        assert all(is_identity(entry, phi) for entry in ours - definition)


def test_the_printed_matrices(elastic_elimination):
    text = elastic_elimination.text(80)
    assert max(map(len, text.splitlines())) <= 80
    assert "elastic_system: 12 velocities, 10 constraint forces eliminated" in text
    assert "X_hinge   Vx_slider: -1, Vx_pendulum: cos(q_hinge), Vy_pendulum: -sin(q_hinge)" in text
    assert "R = Rz(psi) Rx(theta) Rz(phi) C, C = Rx(-pi/2)" in text
    assert text.endswith("this holds while\n  free_length + q_rail > 0")
    latex = elastic_elimination.reduced.latex(document=True)
    assert r"\mathbf{B}_1 &= \left[\begin{matrix}" in latex
    assert latex.count(r"\begin{align*}") == latex.count(r"\end{align*}") > 10
    values = str(elastic_elimination.at())
    assert "  Y_rail = 56.4075" in values
    assert max(map(len, values.splitlines())) <= 80


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="TeX is not installed")
def test_a_real_tex_compiles_it(elastic_elimination, tmp_path):
    four_bar = kn.equations(kn.load(EXAMPLES / "four_bar.yaml"), "newton_euler").elimination.reduced
    hamilton = kn.equations(kn.load(EXAMPLES / "elastic_system.yaml"), "hamilton")
    for k, printed in enumerate((elastic_elimination.reduced, four_bar, hamilton)):
        (tmp_path / f"{k}.tex").write_text(printed.latex(document=True), encoding="utf-8")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{k}.tex"]
        outcome = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert outcome.returncode == 0, outcome.stdout[-500:]


def test_the_matrices_in_a_browser(elastic_elimination):
    markup = elastic_elimination.reduced.mathml()
    ElementTree.fromstring(f"<div>{markup}</div>".replace("&nbsp;", " "))
    assert markup.count("<math") == 10 + 2  # ten matrices and vectors, T, the condition
    assert "this holds while" in markup


def test_the_24_equations_at_a_state(elastic_elimination):
    """x_dot = D v are the rates of positions and Euler angles, by a small step of the motion."""
    system = kn.load(EXAMPLES / "elastic_system.yaml")
    dynamics, h = kn.compile(system), 1e-6
    q, u = np.array([0.1, 0.7]), np.array([-0.3, 1.4])
    before, after = (elastic_elimination.at(0.0, q + s * h * u, u) for s in (-1, 1))
    now = elastic_elimination.at(0.0, q, u)
    np.testing.assert_allclose(now.x_dot, (after.x - before.x) / (2 * h), atol=1e-8)
    np.testing.assert_allclose(now["psi_pendulum"], 0.7, rtol=1e-14)
    np.testing.assert_allclose([now["theta_pendulum"], now["phi_pendulum"]], [np.pi / 2, 0.0], atol=1e-14)
    np.testing.assert_allclose(now.L.T @ now.v, 0.0, atol=1e-14)
    np.testing.assert_allclose(now.L.T @ now.v_dot, now.gamma, atol=1e-12)
    rate = dynamics.acceleration(0.0, q, u)
    np.testing.assert_allclose([now.v_dot[0], now.v_dot[-1]], rate, rtol=1e-12)
    with pytest.raises(KeyError, match="none of Vx_slider"):
        now["Vx_wall"]


def test_the_generated_code_gives_the_same_matrices(elastic_elimination):
    namespace = {}
    exec(elastic_elimination.python(), namespace)
    q, u = [0.1, 0.7], [-0.3, 1.4]
    values = elastic_elimination.at(0.0, q, u)
    moving = [values[name] for name in ("Vx_slider", "wz_pendulum", "Vx_pendulum", "Vy_pendulum")]
    results = namespace["elastic_system"](0.0, q, u, moving)
    for name in ("M", "Omega", "Q", "L", "L_dot", "sigma"):
        np.testing.assert_allclose(results[name], getattr(values, name), atol=1e-13)


def traced(topology):
    """The matrices of a tree, with symbols for all velocities."""
    tape = Tape()
    point = topology.layout.traced_point(tape)
    plain = Absolute(Snapshot(topology, point))
    velocities = {body: tape.inputs("v", 6 * len(plain.bodies))[k : k + 6] for body, k in plain.bodies.items()}
    return EliminationTrace(topology, tape, point, velocities, {body: plain.velocity(body) for body in plain.bodies})


@given(plans(), st.integers(0, 99))
@settings(max_examples=6)
def test_values_on_random_trees_are_those_of_the_recursion(plan, seed):
    topology = topology_of(plan)
    trace = traced(topology)
    point = EvaluationPoint(*random_state(topology, np.random.default_rng(seed)))
    snapshot, n = Snapshot(topology, point), len(trace.v)
    values = evaluate_trace(trace, point, list(range(n)), list(range(len(trace.rows))), ([], ["all"], []))
    scale = max(10.0, np.abs(values.v_dot).max())
    for k, name in enumerate(topology.system.bodies):
        R, (alpha, a) = np.asarray(snapshot.pose(Frame(name)).R, dtype=float), snapshot.acceleration(Frame(name))
        V, w = values.v[6 * k :][:3], values.v[6 * k + 3 :][:3]
        V_dot, w_dot = values.v_dot[6 * k :][:3], values.v_dot[6 * k + 3 :][:3]
        assert np.abs(R @ (V_dot + np.cross(w, V)) - a).max() < 1e-8 * scale
        assert np.abs(R @ w_dot - alpha).max() < 1e-8 * scale
        assert np.abs(values.x_dot[6 * k :][:3] - R @ V).max() < 1e-12 * scale


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "walker"])
def test_what_is_left_out_is_zero(name):
    system = kn.load(EXAMPLES / f"{name}.yaml")
    e = kn.equations(system, "newton_euler").elimination
    whole, short = e.at(), e.reduced.at()
    assert len(short.lam) < len(whole.lam)
    lam = dict(zip(whole.multipliers, whole.lam, strict=True))
    weight = 9.81 * sum(float(system.nominal(body.mass)) for body in system.bodies.values())
    scale = max(*abs(whole.lam), weight)  # the walker falls at the start: all its loads are rounding of weights
    for multiplier, value in lam.items():
        expected = short[multiplier] if multiplier in short.multipliers else 0.0
        assert abs(value - expected) < 1e-10 * scale


@pytest.mark.parametrize("axis", [(0.6, 0, 0.8), (0.6, 0.8, 0)])
def test_what_is_left_out_of_a_joint_with_an_oblique_axis_is_zero(axis):
    """Its forces have the names of its own axes, in which other ones are zero than in those of its parent."""
    system = kn.System("oblique", gravity=(0, 0, -9.81))
    body = system.body("body", mass=1.0, com=(0, 0, -0.5), inertia=(1, 1, 1))
    system.prismatic("rail", system.world, body, axis=axis)
    e = kn.equations(system, "newton_euler").elimination
    whole, short = e.at(), e.reduced.at()
    lam = dict(zip(short.multipliers, short.lam, strict=True))
    assert len(lam) < len(whole.lam)
    wanted = [lam.get(name, 0.0) for name in whole.multipliers]
    np.testing.assert_allclose(whole.lam, wanted, rtol=0, atol=1e-14 * 9.81)  # some roundings


def test_one_of_the_charts_is_always_far_from_its_singular_position():
    rng = np.random.default_rng(0)
    for _ in range(200):
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        R *= np.sign(np.linalg.det(R))
        chart = find_chart(R)
        assert chart.distance(R) >= 0.7
        angles = chart.angles(R)
        np.testing.assert_allclose(np.asarray(chart.rotation(angles), dtype=float), R, atol=1e-12)
    assert find_chart(np.eye(3)) is CHARTS[1]
    assert CHARTS[0].distance(np.eye(3)) == 0.0


def test_what_has_no_elimination_says_why():
    with pytest.raises(kn.Error, match="shoulder_brake"):
        _ = kn.equations(kn.load(EXAMPLES / "brake_arm.yaml"), "newton_euler").elimination
    four_bar = kn.equations(kn.load(EXAMPLES / "four_bar.yaml"), "newton_euler").elimination
    with pytest.raises(kn.Error, match=r"lam: 17 multipliers .*\.at\(\)\.lam"):
        _ = four_bar.lam
    light = kn.equations(kn.load(EXAMPLES / "cart_pole.yaml"), "newton_euler").elimination
    with pytest.raises(kn.Error, match="has no inertia about some axis"):
        _ = light.B1
    assert light.at().weights.any()


def test_a_body_that_flies_has_nothing_to_eliminate():
    flying = kn.equations(kn.load("examples/asymmetric_shell.yaml"), "newton_euler").elimination
    assert flying.text().startswith("asymmetric_shell: 6 velocities, 0 constraint forces") and flying.B1.shape == (0, 0)


def test_what_is_too_long_for_an_inverse_is_printed_without_it(monkeypatch):
    def too_long(block):
        raise TooLongError

    sheet = kn.equations(kn.load("examples/elastic_system.yaml"), "newton_euler").elimination.reduced
    monkeypatch.setattr("kinode.symbolic.elimination_matrices.inverse", too_long)
    with pytest.raises(kn.Error, match="written out"):
        _ = sheet.B1
    assert "M, 6 x 6" in sheet.text() and "B1 = " not in sheet.text()
