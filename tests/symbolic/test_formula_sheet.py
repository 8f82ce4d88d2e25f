"""Formulas in vectors: printed in three languages, and evaluated."""

import xml.dom.minidom

import numpy as np
import pytest

from kinode.sheets.sheet import FormulaSheet, SheetSection
from kinode.sheets.terms import (
    Call,
    Cases,
    Definition,
    Family,
    Grid,
    Index,
    IndexCondition,
    IndexSet,
    Norm,
    Number,
    Quotient,
    Skew,
    SumOver,
)
from kinode.sheets.typeset import LATEX, MATHML, PLAIN, written
from kinode.sheets.values import TermValues

T = Family("T", "{0}({1})", rank=1, unit="m", words="quasi-base vector")
e, C, O, v = (Family(letter, "{0}", rank=1) for letter in ("e", "C", "O", "v"))
q_dot = Family("q", "{0}", accent="dot")
A = Family("A", "{0}", rank=2)
alpha, i = Index("alpha"), Index("i")
below = IndexSet(alpha, "{0} <= {1}", (i,), lambda body: range(1, body + 1))
QUASI_BASE = Definition(
    T[alpha, i],
    Cases(
        (
            (e[alpha].cross(C[i] - O[alpha]), IndexCondition("{0} <= {1}", (alpha, i), lambda a, b: a <= b)),
            (Number(0), None),
        )
    ),
    "(11)",
    "quasi-base vectors",
)
VELOCITY = Definition(v[i], SumOver((below,), T[alpha, i] * q_dot[alpha]), "(4)")
SHEET = FormulaSheet("chain: vectors", (SheetSection("Velocities", "For every body i.", (QUASI_BASE, VELOCITY)),))


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (e[1].cross(C[2] - O[1]), "e_1 x (C_2 - O_1)"),
        (e[1].cross(e[2]).cross(e[3]), "(e_1 x e_2) x e_3"),
        (e[1].cross(e[2].cross(e[3])), "e_1 x (e_2 x e_3)"),
        (-(e[1] + e[2]), "-e_1 - e_2"),
        (A[1].T * (e[1] - e[2]), "A_1' (e_1 - e_2)"),
        ((A[1] * A[2]).inverse, "(A_1 A_2)^-1"),
        (e[1] - 2 * e[2], "e_1 - 2 e_2"),
        (q_dot[1].squared * e[1], "q_dot_1^2 e_1"),
        (e[1].dot(e[2]) * e[3], "(e_1 . e_2) e_3"),
        (Quotient(e[1], Norm(e[1].cross(e[2]))), "e_1/|e_1 x e_2|"),
        (Skew(e["arm"]), "S(e_arm)"),
        (Call("cos", q_dot[1]) * e[1], "cos(q_dot_1) e_1"),
        (SumOver((below,), e[alpha]).cross(e[1]), "(sum[alpha <= i] e_alpha) x e_1"),
        (Number(-1.0) * e[1], "(-1) e_1"),
    ],
)  # fmt: skip
def test_brackets_stand_where_the_order_of_operations_asks_for_them(term, text):
    assert written(term, PLAIN) == text


def test_a_definition_in_three_languages():
    assert "  T_alpha(i) = e_alpha x (C_i - O_alpha)  if alpha <= i\n               0  otherwise" in SHEET.text(120)
    assert r"\boldsymbol{T}_{\alpha (i)} &= \begin{cases}" in SHEET.latex()
    assert r"\sum_{\alpha  \le  i}" in SHEET.latex()
    page = xml.dom.minidom.parseString(f"<div>{SHEET.mathml()}</div>")
    assert [x.firstChild.data for x in page.getElementsByTagName("mtext")][-1] == "(4)"
    assert all(len(line) <= 60 for line in SHEET.text(60).splitlines())


def test_names_of_bodies_are_escaped():
    hostile = e["a_b{}%<script>"]
    assert r"\mathrm{a\_b\{\}\%" in written(hostile, LATEX)
    assert "<script>" not in written(hostile, MATHML)
    assert "{}" in written(hostile, PLAIN)


def test_printed_formulas_are_evaluated():
    rng = np.random.default_rng(1)
    axes, centers, poles, speeds = rng.normal(size=(4, 4, 3))
    given = {e: lambda k: axes[k], C: lambda k: centers[k], O: lambda k: poles[k], q_dot: lambda k: speeds[k][0]}
    values = TermValues(SHEET.definitions, given)
    expected = sum(speeds[k][0] * np.cross(axes[k], centers[2] - poles[k]) for k in (1, 2))
    np.testing.assert_allclose(values(v[2]), expected, rtol=1e-14)
    assert not values(T[3, 2]).any()


def test_values_of_every_kind_of_term():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 3))
    matrix = rng.normal(size=(3, 3))
    values = TermValues((), {e: lambda k: (a, b)[k], A: lambda k: matrix, q_dot: lambda k: 0.3})
    cases = {
        e[0].dot(e[1]) * e[0]: np.dot(a, b) * a,
        A[0] * e[0] - e[1]: matrix @ a - b,
        A[0].T * A[0].inverse * e[1]: matrix.T @ np.linalg.solve(matrix, b),
        Skew(e[0]) * e[1]: np.cross(a, b),
        Quotient(e[0], Norm(e[1])): a / np.linalg.norm(b),
        Call("sin", q_dot[0]) * e[0]: np.sin(0.3) * a,
        Grid(((q_dot[0],), (Number(2),))): np.array([0.3, 2.0]),
    }
    for term, expected in cases.items():
        np.testing.assert_allclose(values(term), expected, rtol=1e-12, err_msg=written(term, PLAIN))
    blocks = Grid(((A[0], Skew(e[0])), (Skew(e[0]), A[0])))
    assert values(blocks).shape == (6, 6)


def test_a_symbol_without_definition_is_named():
    with pytest.raises(KeyError, match="C is neither defined nor given"):
        TermValues((), {})(C[1])
