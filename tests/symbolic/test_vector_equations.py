"""Reactions in vectors: what is printed is evaluated, and is what the compiled dynamics gives."""

from __future__ import annotations

import xml.dom.minidom

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import build, plans

import kinode as kn
from kinode.multibody.snapshot import Snapshot
from kinode.sheets.terms import Index, IndexedSymbol
from kinode.sheets.typeset import PLAIN, written
from kinode.structure.state_layout import EvaluationPoint
from kinode.tasks.verify import random_state
from known.joint_reactions import BASE, HINGES, MASS_MOMENTS, REACTIONS, ROTATORS, SLIDE, U_DOT, Q, U

METHODS = ("quasi_base", "rotators")
near = np.testing.assert_allclose


def chain(rows, name="O") -> kn.System:
    system = kn.System("chain")
    at = system.world.at(*BASE)
    for k, (kind, axis, mass, center, end, inertia) in enumerate(rows, 1):
        names = dict(zip(("xx", "yy", "zz", "xy", "xz", "yz"), inertia, strict=True))
        body = system.body(f"V{k}", mass=mass, com=center, inertia=names)
        system.joint(f"{name}{k}", {"R": "revolute", "P": "prismatic"}[kind], at, body, axis=axis)
        at = body.at(*end)
    return system


# -- the paper's chains ------------------------------------------------------------------------------
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("name", "rows"), [("3R", HINGES), ("RPR", SLIDE)])
def test_reference(name, rows, method):
    values = kn.equations(chain(rows), method, reactions=["O1"], shape="vectors").values(0.0, Q[name], U, U_DOT)
    for k in (1, 2, 3):
        force, moment, effort = REACTIONS[name, k, "total"]
        near(values[f"F_R{k}"], force, rtol=0, atol=1e-10)
        near(values[f"M_R{k}"], moment, rtol=0, atol=1e-10)
        near(values[f"Q_{k}"], effort, rtol=0, atol=1e-10)
        near(
            values[f"d(K_{k})/dt"], np.add(REACTIONS[name, k, "kinetic"][0], _along(values, rows, name, k)), atol=1e-10
        )


def _along(values, rows, name, k):
    """The kinetic share along a slide, which the reaction leaves out."""
    letter = "n" if f"n_{k}" in values else "e"
    return REACTIONS[name, k, "kinetic"][2] * values[f"{letter}_{k}"] if rows[k - 1][0] == "P" else np.zeros(3)


def test_mass_moments_and_rotators_of_the_reference():
    values = kn.equations(chain(HINGES), "rotators", shape="vectors").values(0.0, Q["3R"], U, U_DOT)
    for name, value in MASS_MOMENTS.items():
        kind, body, axis = name[0], name[1], name[-1]
        near(values[f"{kind}_n{axis}^(O{body})"], value, rtol=0, atol=1e-12, err_msg=name)
    paper = {
        "R1": "R_1(S1)", "R20": "R_1(r2)", "R2": "R_1(S2)", "R21": "R_2(S2)", "R22": "R_12(S2)", "R30": "R_1(r2)",
        "R3": "R_1(r3)", "R31": "R_2(r3)", "R32": "R_12(r3)", "R33": "R_1(S3)", "R34": "R_2(S3)", "R35": "R_12(S3)",
        "R36": "R_3(S3)", "R37": "R_13(S3)", "R38": "R_23(S3)",
    }  # fmt: skip
    assert set(paper) == set(ROTATORS)
    for theirs, ours in paper.items():
        near(values[ours], ROTATORS[theirs], rtol=0, atol=1e-12, err_msg=theirs)


def test_the_momentum_of_three_hinges_written_out():
    """(T-9.18) and (T-9.19), typed in from the theory, with the symbols of the sheet."""
    v = kn.equations(chain(HINGES), "rotators", shape="vectors").values(0.0, Q["3R"], U, U_DOT)
    w, m = (0, *U), {i: v[f"m_{i}"] for i in (1, 2, 3)}
    S = {(i, a): v[f"S_n{a}^(O{i})"] for i in (1, 2, 3) for a in range(1, i + 1)}
    J = {(i, a): v[f"J_n{a}^(O{i})"] for i in (1, 2, 3) for a in range(1, i + 1)}
    r12, r23 = v["r_1,2"], v["r_2,3"]
    a, b, c = w[1] * np.cross(v["n_1"], r12), w[1] * np.cross(v["n_1"], r23), w[2] * np.cross(v["n_2"], r23)
    K = w[1] * S[1, 1] + a * (m[2] + m[3]) + w[1] * S[2, 1] + w[2] * S[2, 2] + (b + c) * m[3]
    K = K + w[1] * S[3, 1] + w[2] * S[3, 2] + w[3] * S[3, 3]
    near(v["K_1"], K, atol=1e-13)
    L = w[1] * J[1, 1] + w[1] * J[2, 1] + w[2] * J[2, 2] + w[1] * J[3, 1] + w[2] * J[3, 2] + w[3] * J[3, 3]
    L = L + np.cross(r12 + v["rho_2C"], a) * m[2] + np.cross(r12, w[1] * S[2, 1] + w[2] * S[2, 2])
    L = L + np.cross(r12 + r23 + v["rho_3C"], a + b + c) * m[3]
    L = L + np.cross(r12 + r23, w[1] * S[3, 1] + w[2] * S[3, 2] + w[3] * S[3, 3])
    near(v["L_O1"], L, atol=1e-13)


# -- any tree ----------------------------------------------------------------------------------------
@settings(max_examples=15, deadline=None)
@given(plans(most=4), st.integers(0, 99), st.sampled_from(METHODS))
def test_printed_sums_are_the_compiled_wrenches(plan, seed, method):
    """All joints, declared from either side, with drives, gears and loads: whole wrenches, reactions and efforts."""
    system = build(plan)
    sheet = kn.equations(system, method, shape="vectors")
    topology, world = sheet.dynamics.topology, system.find_frame("world")
    point = EvaluationPoint(*random_state(topology, np.random.default_rng(seed)))
    u_dot = np.random.default_rng(seed + 1).normal(size=topology.n_u)
    values = sheet.values(point.t, point.q, point.u, u_dot, z=point.z)
    now = Snapshot(topology, point, u_dot=u_dot)
    for name, numbers in sheet.numbers.items():
        link = sheet.form.numbers.links[numbers[-1] - 1]
        sense, shift = 1.0, np.zeros(3)
        if link.reversed:  # the sheet's wrench acts on a, about a's point
            ends = [now.pose(system.find_frame(f"{name}.{side}")).p for side in ("parent", "child")]
            sense, shift = -1.0, (ends[1] - ends[0]).astype(float)
        own = f"R,{name}" if len(numbers) > 1 else f"R{numbers[-1]}"
        for whole, which in ((True, str(numbers[-1])), (False, own)):
            moment, force = (sense * x.astype(float) for x in now.reaction(name, whole=whole, expressed_in=world))
            size = 1e-9 * (1.0 + max(np.max(np.abs(values[f"{letter}_{numbers[-1]}"])) for letter in "FM"))
            near(values[f"F_{which}"], force, atol=size, err_msg=name)
            near(values[f"M_{which}"], moment + np.cross(shift, force), atol=size, err_msg=name)


@pytest.mark.parametrize("method", METHODS)
def test_the_compiled_reactions_of_a_machine(method):
    """The ship: prescribed motions of a planar joint, geared rotors, laws of control."""
    system = kn.load("examples/ship_gimbal.yaml")
    sheet = kn.equations(system, method, shape="vectors")
    now = kn.compile(system)
    start = now.initial
    values = sheet.values(2.0, start.q, start.u, z=start.z)
    for name, wrench in now.reactions(2.0, start.q, start.u, z=start.z, whole=True, expressed_in="world").items():
        k = sheet.numbers[name][-1]
        near(values[f"F_{k}"], wrench.force, rtol=1e-9, atol=1e-9 * abs(wrench.force).max(), err_msg=name)
        near(values[f"M_{k}"], wrench.moment, rtol=1e-9, atol=1e-9 * abs(wrench.moment).max() + 1e-9, err_msg=name)


@settings(max_examples=8, deadline=None)
@given(plans(most=3), st.integers(0, 99), st.sampled_from(METHODS))
def test_every_printed_equation_holds(plan, seed, method):
    """Both sides of each line, for all values of its indices; and of the lines of single joints."""
    system = build(plan)
    sheet = kn.equations(system, method, shape="vectors", reactions=list(system.joints))
    t, q, u, z = random_state(sheet.dynamics.topology, np.random.default_rng(seed))
    evaluate = sheet.evaluator(t, q, u, np.random.default_rng(seed).normal(size=sheet.dynamics.n_u), z=z)
    scale = 1.0 + max(np.max(np.abs(evaluate.symbol(s))) for s, _ in sheet.symbols())
    for line in sheet.definitions:
        left = line.left
        assert isinstance(left, IndexedSymbol)
        for places in sheet.form.listed[left.family].domain():
            if any(isinstance(x, int | str) and x != at for x, at in zip(left.places, places)):
                continue
            letters = {x.letter: at for x, at in zip(left.places, places) if isinstance(x, Index)}
            one, other = evaluate.symbol(IndexedSymbol(left.family, places)), evaluate(line.right, letters)
            near(other, one, atol=1e-9 * scale, err_msg=f"{written(left, PLAIN)} at {places}")


def test_momenta_are_those_of_the_results():
    system = kn.load("examples/double_pendulum.yaml")
    q, u = [0.3, -0.8], [1.0, 2.0]
    names = [f"{joint}.{word}" for joint in system.joints for word in ("momentum", "angular_momentum")]
    known = kn.compile(system).evaluate(names, 0.0, q, u)
    for method in METHODS:
        values = kn.equations(system, method, shape="vectors").values(0.0, q, u)
        for k, joint in enumerate(system.joints, 1):
            near(values[f"K_{k}"], known[f"{joint}.momentum"], atol=1e-12)
            near(values[f"L_O{k}"], known[f"{joint}.angular_momentum"], atol=1e-12)


# -- printing ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", METHODS)
def test_the_length_does_not_grow_with_the_number_of_bodies(method):
    def lines(n):
        return len(kn.equations(chain(HINGES * n), method, reactions=["O1"], shape="vectors").definitions)

    assert lines(1) == lines(4)


def test_the_authors_formulas():
    text = kn.equations(chain(HINGES), "quasi_base", reactions=["O1"], shape="vectors").text(100)
    for formula in (
        "v_Ci = sum[alpha = 1 .. i] T_alpha(i) q_dot_alpha",
        "F_R1 = sum[i = 1 .. 3] m_i (a_Ci - g) - xi_1 F_u1 e_1",
        "M_R1 = sum[i = 1 .. 3] (d(L_Ci)/dt + R_i(1) x m_i (a_Ci - g)) - xi_bar_1 M_u1 e_1",
        "Gamma_alpha,beta(i) = xi_bar_alpha (e_alpha x T_beta(i))  if alpha <= beta <= i",
        "2       V2    O2     hinge  1",
    ):
        assert formula in text
    rotators = kn.equations(chain(HINGES), "rotators", shape="vectors").text(100)
    assert "D_n_alpha^(Oi) = n_alpha x (J_n_alpha^(Oi) x n_alpha)" in rotators
    assert "sigma" not in rotators  # there is no slide


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("width", [80, 50])
def test_lines_fit(method, width):
    sheet = kn.equations(kn.load("examples/ship_gimbal.yaml"), method, reactions=["azimuth", "heel"], shape="vectors")
    _, _, formulas = sheet.text(width).partition("\nGiven\n")  # the table before it holds names as they are
    assert [line for line in formulas.splitlines() if len(line) > width] == []


@pytest.mark.parametrize("method", METHODS)
def test_latex_and_mathml_are_well_formed(method):
    sheet = kn.equations(kn.load("examples/ship_gimbal.yaml"), method, reactions=["heel"], shape="vectors")
    source = sheet.latex(document=True)
    assert source.count(r"\left(") == source.count(r"\right)")
    assert source.count("{") == source.count("}")
    assert r"\tag*{(7)}" in source
    xml.dom.minidom.parseString(f"<div>{sheet.mathml()}</div>")


def test_values_print_with_units():
    values = kn.equations(chain(SLIDE), "quasi_base", shape="vectors").values(0.0, Q["RPR"], U, U_DOT)
    assert values.units["T_1(3)"] == "m"
    assert values.units["T_2(3)"] == "1"  # of a slide
    assert values.units["Q_2"] == "N"
    assert "  m_1          kg       6" in values.text()
    assert all(len(line) <= 50 for line in values.text(50).splitlines() if "d(" not in line)
    with pytest.raises(KeyError, match="'T_9' is no symbol of this sheet"):
        values["T_9"]


# -- what is refused ---------------------------------------------------------------------------------
def test_where_it_does_not_apply():
    with pytest.raises(kn.ArgumentError, match=r"vectors are for .* quasi_base and rotators, not lagrange"):
        kn.equations(chain(HINGES), "lagrange", shape="vectors")
    with pytest.raises(kn.ArgumentError, match="in vectors does not apply to four_bar: the system has loops"):
        kn.equations(kn.load("examples/four_bar.yaml"), shape="vectors")
    with pytest.raises(kn.ArgumentError, match="has no joint 'O9'"):
        kn.equations(chain(HINGES), "rotators", reactions=["O9"], shape="vectors")
    sheet = kn.equations(chain(HINGES), "rotators", shape="vectors")
    with pytest.raises(kn.ArgumentError, match="one state is expected, not a batch"):
        sheet.values(0.0, np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(kn.ArgumentError, match="q"):
        sheet.values(0.0, [0.0], U)


def test_a_system_that_cannot_move_is_refused():
    system = kn.System("post")
    system.fixed("foot", system.world, system.body("post", mass=1.0))
    with pytest.raises(kn.ArgumentError, match="does not apply to post: no joint of it has a freedom"):
        kn.equations(system, shape="vectors", reactions=["foot"])
