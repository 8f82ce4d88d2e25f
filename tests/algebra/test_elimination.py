"""Elimination in a given order against NumPy's solver, for every scalar type; orders that are chosen at samples."""

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from kinode.algebra.affine import Affine, constant_and_terms
from kinode.algebra.elimination import SingularError, choose_pivots, solve
from kinode.algebra.scalars import Dual, new_level
from kinode.algebra.trace import Tape, count_operations, replay


def forms(A, b, names=None):
    """Rows A x - b as forms."""
    names = names or range(A.shape[1])
    x = np.array([Affine.unknown(name) for name in names], dtype=object)
    return list(A @ x - b)


@st.composite
def systems(draw):
    n = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    A = np.where(rng.random((n, n)) < 0.35, rng.normal(size=(n, n)), 0.0)
    A[np.arange(n), rng.permutation(n)] += rng.choice([-1.0, 1.0, 2.5], size=n)
    units = 10.0 ** rng.integers(-4, 5, size=(2, n))
    return A, rng.normal(size=n), units


@given(systems())
def test_chosen_orders_solve_what_can_be_solved(problem):
    A, b, units = problem
    scaled = units[0][:, None] * A * units[1]
    if np.linalg.cond(A) > 1e6:
        return
    rows = [{j: x for j, x in enumerate(row) if x != 0} for row in scaled]
    pivots = choose_pivots(rows, range(len(b)))
    assert sorted(i for i, _ in pivots) == list(range(len(b)))
    solution = solve(forms(scaled, units[0] * b), pivots)
    x = np.linalg.solve(A, b)
    assert np.allclose(
        [solution[j] * units[1][j] for j in range(len(b))], x, rtol=0, atol=1e-8 * max(1.0, abs(x).max())
    )


A = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, -1.0], [1.0, 0.0, 4.0]])
b = np.array([1.0, -2.0, 0.5])
ORDER = [(0, "x"), (1, "y"), (2, "z")]


def test_traced_numbers_and_symbols():
    tape = Tape()
    entries = tape.inputs("A", 9).reshape(3, 3)
    solution = solve(forms(entries, b, "xyz"), ORDER)
    at = {("A", k): value for k, value in enumerate(A.flat)}
    assert np.allclose(replay([solution[n] for n in "xyz"], at), np.linalg.solve(A, b), rtol=1e-14)
    s = sympy.Symbol("s")
    symbolic = solve(forms(A + s * np.eye(3), b, "xyz"), ORDER)
    assert float(symbolic["y"].subs(s, 0.25)) == pytest.approx(np.linalg.solve(A + 0.25 * np.eye(3), b)[1], rel=1e-13)


def test_duals_carry_the_rate_of_the_solution():
    """x = A^-1 b: x' = -A^-1 A' x."""
    level, change = new_level(), np.array([[0.3, 0, 0], [0, -0.2, 0.1], [0, 0, 0.5]])
    moving = np.array([[Dual(v, r, level) for v, r in zip(*rows, strict=True)] for rows in zip(A, change, strict=True)])
    solution = solve(forms(moving, b, "xyz"), ORDER)
    x = np.linalg.solve(A, b)
    assert np.allclose([solution[n].value for n in "xyz"], x, rtol=1e-14)
    assert np.allclose([solution[n].rate for n in "xyz"], -np.linalg.solve(A, change @ x), rtol=1e-13)


def test_unknowns_without_a_pivot_stay():
    """Two rows for three unknowns: x and y as forms in z, which solve the rows for every z."""
    solution = solve(forms(A, b, "xyz")[:2], ORDER[:2])
    for z in (0.0, 1.7):
        values = [
            constant_and_terms(solution[n])[0] + constant_and_terms(solution[n])[1].get("z", 0.0) * z for n in "xy"
        ]
        assert np.allclose(A[:2] @ [*values, z], b[:2], rtol=1e-14)
    assert set(constant_and_terms(solution["x"])[1]) == {"z"}


def test_rows_without_a_pivot_are_left_alone():
    rows = [*forms(A, b, "xyz"), Affine.unknown("x") + 7.0]
    assert solve(rows, ORDER)["x"] == pytest.approx(np.linalg.solve(A, b)[0])


def test_constants_cost_nothing():
    """y = x, z = -y, x = t: signs alone."""
    tape = Tape()
    x, y, z = (Affine.unknown(n) for n in "xyz")
    solution = solve([y - x, z + y, x - tape.input("t", 0)], [(0, "y"), (1, "z"), (2, "x")])
    assert count_operations(solution.values()) == {}


def test_a_pivot_that_is_not_there():
    with pytest.raises(SingularError):
        solve(
            [Affine.unknown("x") + Affine.unknown("y"), Affine.unknown("x") + Affine.unknown("y")], [(0, "x"), (1, "y")]
        )


def test_dependent_rows_are_named_and_sound_ones_are_not():
    rows = [{"a": 1.0, "b": 1.0}, {"c": 2.0}, {"a": 2.0, "b": 2.0, "c": 1.0}, {"d": 1.0, "c": 3.0}]
    with pytest.raises(SingularError) as error:
        choose_pivots(rows, ["a", "b", "c", "d"])
    assert error.value.rows == (0, 1, 2)
    assert error.value.unknowns == ("a", "b")


def test_pivots_hold_at_every_sample():
    """An entry that vanishes at one of the samples is no pivot."""
    rows = [
        {"x": np.array([0.0, 1.0]), "y": np.array([1.0, 1.0])},
        {"x": np.array([1.0, 1.0]), "y": np.array([1.0, 0.0])},
    ]
    assert set(choose_pivots(rows, ["x", "y"])) == {(0, "y"), (1, "x")}
    with pytest.raises(SingularError):
        choose_pivots([{"x": np.array([0.0, 1.0])}], ["x"])


def test_an_order_for_a_long_ladder_does_not_fill():
    """A tridiagonal matrix in random order costs a few operations a row."""
    n = 400
    rng = np.random.default_rng(4)
    names = [str(k) for k in rng.permutation(n)]
    rows = [{names[j]: 2.5 if j == i else -1.0 for j in (i - 1, i, i + 1) if 0 <= j < n} for i in range(n)]
    shuffled = [rows[i] for i in rng.permutation(n)]
    tape = Tape()
    right = tape.inputs("b", n)
    forms = [sum(Affine.unknown(k) * x for k, x in row.items()) - right[i] for i, row in enumerate(shuffled)]
    solution = solve(forms, choose_pivots(shuffled, names))
    assert sum(count_operations(solution.values()).values()) < 8 * n


def test_what_varies_is_a_pivot_only_where_nothing_else_is():
    """Voltages behind a bridge: second = m*first, with m anything at the samples and 0 elsewhere."""
    m = np.array([0.7, 1.2, 0.9])
    rows = [{"first": m, "second": -1.0}, {"second": 1.0, "current": -2.0}, {"first": 1.0, "back": 3.0, "current": 1.0},
            {"back": 1.0, "current": m}]  # fmt: skip
    coefficients = [{name: np.broadcast_to(x, 3) for name, x in row.items()} for row in rows]
    pivots = choose_pivots(coefficients, ["first", "second", "current", "back"])
    still = [{name: 0.0 if x is m else x for name, x in row.items()} for row in rows]
    right = [0.0, 0.0, 1.0, 0.0]
    solution = solve([sum(Affine.unknown(n) * x for n, x in row.items()) - b for row, b in zip(still, right)], pivots)
    assert solution == {"first": 1.0, "second": 0.0, "current": 0.0, "back": 0.0}
