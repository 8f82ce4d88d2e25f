"""The matrices of the elimination as they are printed: the sheet of their formulas, and that of numbers at a state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.trace import replay
from kinode.formulations.eliminated_motion import find_light_bodies
from kinode.sheets.sheet import FormulaSheet, Matrix, PrintedSheet, SheetSection
from kinode.sheets.terms import SymbolStyle, VectorTerm, formula_sum
from kinode.sheets.text import latex_text
from kinode.structure.state_layout import EvaluationPoint
from kinode.symbolic.elimination_trace import ANGLES, EliminationTrace, EulerChart, find_chart
from kinode.symbolic.printed_equations import matrix

if TYPE_CHECKING:
    from kinode.symbolic.elimination_matrices import EliminationMatrices


EQUATIONS = ("M v_dot = -Omega v + Q + L lambda", "lambda = B1^-1 (B3 v + sigma - B2 Q)", "x_dot = D v")
ROTATION = "Rz(psi) Rx(theta) Rz(phi) C"
LATEX_EQUATIONS = (
    r"\mathbf{M}\dot{\mathbf{v}} &= -\boldsymbol{\Omega}\mathbf{v} + \mathbf{Q}"
    r" + \mathbf{L}_\lambda\boldsymbol{\lambda}",
    r"\boldsymbol{\lambda} &= \mathbf{B}_1^{-1}"
    r"\left(\mathbf{B}_3\mathbf{v} + \boldsymbol{\sigma} - \mathbf{B}_2\mathbf{Q}\right)",
    r"\dot{\mathbf{x}} &= \mathbf{D}\mathbf{v}",
)


def compose_elimination(e: EliminationMatrices) -> list[SheetSection]:
    """The sections of the sheet: the equations, what has a name, the matrices and vectors, D of the bodies."""
    velocities, rows = e.velocities, e.multipliers

    def block(title: str, symbol: str, A: Any, down: Sequence[str], across: Sequence[str] | None = None) -> Matrix:
        cells = [[_term(e, x) for x in A.row(i)] for i in range(A.shape[0])]
        columns = None if across is None else _symbols(e, across)
        return Matrix(title, symbol, cells, _symbols(e, down), columns, across is rows and down is not rows)

    shown = [
        block("M", r"\mathbf{M}", e.M, velocities, velocities),
        block("Omega", r"\boldsymbol{\Omega}", e.Omega, velocities, velocities),
        block("L_lambda", r"\mathbf{L}_\lambda", e.L, velocities, rows),
        block("rate of L_lambda", r"\dot{\mathbf{L}}_\lambda", e.L_dot, velocities, rows),
    ]
    if e.writes_inverse:
        shown += [
            block("B1 = L'M^-1 L", r"\mathbf{B}_1", e.B1, rows, rows),
            block("B2 = L'M^-1", r"\mathbf{B}_2", e.B2, rows, velocities),
            block("B3 = L'M^-1 Omega - L_dot'", r"\mathbf{B}_3", e.B3, rows, velocities),
        ]
    shown.append(block("lambda", r"\boldsymbol{\lambda}", matrix(e.unknowns, 1), rows))
    shown.append(block("v", r"\mathbf{v}", matrix(e.velocity_formulas, 1), velocities))
    shown.append(block("Q", r"\mathbf{Q}", e.Q, velocities))
    if any(x != 0 for x in e.sigma):
        shown.append(block("sigma", r"\boldsymbol{\sigma}", e.sigma, rows))
    equations = SheetSection("", law=("\n".join(EQUATIONS), " \\\\\n".join(LATEX_EQUATIONS)))
    named = SheetSection("", lines=e.named_lines)
    return [equations, named, SheetSection("", matrices=tuple(shown)), *_charts(e)]


def _term(e: EliminationMatrices, expr: Any) -> VectorTerm:
    return formula_sum([expr], e.notation.styles)


def _symbols(e: EliminationMatrices, names: Sequence[str]) -> list[VectorTerm]:
    import sympy

    return [_term(e, sympy.Symbol(name)) for name in names]


def _charts(e: EliminationMatrices) -> Iterator[SheetSection]:
    """D of the bodies, once for all that have the same Euler angles: the rotation C, and T without the body's name."""
    import sympy

    for part in ANGLES:
        e.notation.styles[part] = SymbolStyle(part)
    for text in dict.fromkeys(chart.text for chart in e.charts.values()):
        bodies = [body for body, chart in e.charts.items() if chart.text == text]
        plain = {sympy.Symbol(f"{part}_{bodies[0].replace('.', '_')}"): sympy.Symbol(part) for part in ANGLES}
        T = e.body_rates(bodies[0])[1].xreplace(plain)
        names, rotation = latex_text(", ".join(bodies)), r"R_z(\psi)\, R_x(\theta)\, R_z(\varphi)\, \mathbf{C}"
        given = rf"\text{{{names}:}}\quad \mathbf{{R}} = {rotation},\quad \text{{{latex_text(text)}}}"
        cells = [[_term(e, x) for x in T.row(i)] for i in range(3)]
        rates = Matrix("T", r"\mathbf{T}", cells, [f"{part}_dot" for part in ANGLES], ["wx", "wy", "wz"])
        title = f"D = diag(R, T) of {', '.join(bodies)}"
        yield SheetSection(title, law=(f"R = {ROTATION}, {text}", given), matrices=(rates,))


DIGITS = 6  # of a printed number
NOISE = 1e-13  # of the largest number in a matrix: smaller ones are printed as zero


@dataclass(frozen=True, eq=False)
class EliminationValues(PrintedSheet):
    """M v_dot = -Omega v + Q + L lam, lam = B1^-1 (B3 v + sigma - B2 Q) - W gamma, x_dot = D v, as numbers.

    Attributes
    ----------
    t : float
        Time, s.
    velocities, multipliers, coordinates : list of str
        Names of the entries of v, lam and x.
    M, Omega, v, Q, L, L_dot : array
        As in ``EliminationMatrices``; SI units.
    sigma : array
        Accelerations that drives prescribe; zero for joints without one.
    x : array
        Position of the origin and Euler angles of each body.
    charts : dict of str to EulerChart
        The rotation C of each body, chosen so that its angles are far from their singular position.
    weights : array
        W: zero, but for rows that act on a body without inertia, whose M has no inverse.  There M + L W L' stands in
        place of M.
    """

    t: float
    velocities: list[str]
    multipliers: list[str]
    coordinates: list[str]
    M: Array = field(repr=False)
    Omega: Array = field(repr=False)
    v: Array = field(repr=False)
    Q: Array = field(repr=False)
    L: Array = field(repr=False)
    L_dot: Array = field(repr=False)
    sigma: Array = field(repr=False)
    x: Array = field(repr=False)
    D: Array = field(repr=False)
    charts: dict[str, EulerChart] = field(repr=False)
    weights: Array = field(repr=False)

    @property
    def B2(self) -> Array:
        """L'M^-1."""
        inverted: Array = np.linalg.solve(self.M + (self.L * self.weights) @ self.L.T, self.L).T
        return inverted

    @property
    def B1(self) -> Array:
        """L'M^-1 L."""
        product: Array = self.B2 @ self.L
        return product

    @property
    def B3(self) -> Array:
        """L'M^-1 Omega - L_dot'."""
        difference: Array = self.B2 @ self.Omega - self.L_dot.T
        return difference

    @property
    def gamma(self) -> Array:
        """The right side of L'v_dot = gamma."""
        gamma: Array = self.sigma - self.L_dot.T @ self.v
        return gamma

    @property
    def lam(self) -> Array:
        """B1^-1 (B3 v + sigma - B2 Q): the reactions by name, and what drives, gears and constraints exert."""
        if not self.multipliers:
            return np.empty(0)
        multipliers: Array = np.linalg.solve(self.B1, self.B3 @ self.v + self.sigma - self.B2 @ self.Q)
        multipliers -= self.weights * self.gamma
        return multipliers

    @property
    def v_dot(self) -> Array:
        """M^-1 (-Omega v + Q + L lam)."""
        M, gamma = self.M + (self.L * self.weights) @ self.L.T, self.gamma
        right = self.Q - self.Omega @ self.v + self.L @ (self.lam + self.weights * gamma)
        accelerations: Array = np.linalg.solve(M, right)
        return accelerations

    @property
    def x_dot(self) -> Array:
        """D v."""
        rates: Array = self.D @ self.v
        return rates

    @property
    def drift(self) -> Array:
        """L'v less the prescribed velocities: zero in a state that the joints allow, if nothing is driven."""
        drift: Array = self.L.T @ self.v
        return drift

    def __getitem__(self, name: str) -> float:
        """A velocity, multiplier or coordinate by its name."""
        for names, values in ((self.velocities, self.v), (self.multipliers, self.lam), (self.coordinates, self.x)):
            if name in names:
                return float(values[names.index(name)])
        known = ", ".join((*self.velocities, *self.multipliers, *self.coordinates))
        raise KeyError(f"{name!r} is none of {known}")

    @cached_property
    def _sheet(self) -> FormulaSheet:
        velocities, rows, x = self.velocities, self.multipliers, self.coordinates

        def block(title: str, values: Array, down: Sequence[str], across: Sequence[str] | None = None) -> Matrix:
            cells = _cells(values[:, None] if across is None else values)
            by_column = across is rows and down is not rows
            return Matrix(title, rf"\text{{{latex_text(title)}}}", cells, down, across, by_column)

        matrices = (
            block("M", self.M, velocities, velocities), block("Omega", self.Omega, velocities, velocities),
            block("L_lambda", self.L, velocities, rows), block("rate of L_lambda", self.L_dot, velocities, rows),
            block("B1 = L'M^-1 L", self.B1, rows, rows), block("B2 = L'M^-1", self.B2, rows, velocities),
            block("B3 = L'M^-1 Omega - L_dot'", self.B3, rows, velocities), block("v", self.v, velocities),
            block("Q", self.Q, velocities), block("lambda", self.lam, rows), block("v_dot", self.v_dot, velocities),
            block("x", self.x, x), block("x_dot = D v", self.x_dot, x),
        )  # fmt: skip
        return FormulaSheet(f"at t = {self.t:g} s", (SheetSection("", matrices=matrices),))


def _cells(values: Array) -> list[list[str]]:
    """Numbers as text; what is rounding beside the largest is zero."""
    least = NOISE * float(np.abs(values).max(initial=0.0))
    return [[f"{x:.{DIGITS}g}" if abs(x) > least else "0" for x in row] for row in values]


def evaluate_trace(
    trace: EliminationTrace, point: EvaluationPoint, columns: list[int], rows: list[int],
    names: tuple[list[str], list[str], list[str]],
) -> EliminationValues:  # fmt: skip
    """The values of a trace at a point, of some velocities and rows; ``names`` are those of v, lam and x."""
    arrays: dict[str, Any] = {
        "t": [point.t],
        "q": point.q,
        "u": point.u,
        "z": point.z,
        "p": point.p,
        "inputs": point.inputs,
    }
    given = {(name, i): float(x) for name, array in arrays.items() for i, x in enumerate(np.ravel(array))}
    velocities = replay([x for body in trace.bodies for x in trace.formulas[body]], given)
    given |= {("v", i): float(x) for i, x in enumerate(velocities)}

    def numbers(A: Array) -> Array:
        flat = replay(list(np.asarray(A, dtype=object).ravel()), given)
        return np.array(flat, dtype=float).reshape(np.shape(A))

    M, Omega = (numbers(A)[np.ix_(columns, columns)] for A in (trace.M, trace.Omega))
    L, L_dot = (numbers(A)[:, rows] for A in (trace.L, trace.L_dot))
    v, Q = (numbers(A) for A in (trace.v, trace.Q))
    x, D, charts = _positions(trace.bodies, numbers(trace.poses).reshape(-1, 12))
    return EliminationValues(
        float(np.ravel(point.t)[0]), *names, M=M, Omega=Omega, v=v[columns], Q=Q[columns], L=L[columns],
        L_dot=L_dot[columns], sigma=numbers(trace.gamma)[rows] + L_dot.T @ v, x=x, D=D[:, columns], charts=charts,
        weights=_weights(trace, L),
    )  # fmt: skip


def _weights(trace: EliminationTrace, L: Array) -> Array:
    """W of the rows that act on bodies without inertia."""
    system = trace.topology.system
    light = [trace.bodies.index(name) for name in find_light_bodies(system)]
    masses = [float(system.nominal(body.mass)) for body in system.bodies.values()]
    touched = [any(L[6 * k : 6 * k + 6, j].any() for k in light) for j in range(L.shape[1])]
    return np.array(touched, dtype=float) * (sum(masses) / len(masses) or 1.0)


def _positions(bodies: Sequence[str], poses: Array) -> tuple[Array, Array, dict[str, EulerChart]]:
    """x, D and the charts of all bodies, from R and p of each."""
    x, n = [], 6 * len(bodies)
    D, charts = np.zeros((n, n)), {}
    for k, (body, pose) in enumerate(zip(bodies, poses, strict=True)):
        R = pose[:9].reshape(3, 3)
        chart = charts[body] = find_chart(R)
        angles = chart.angles(R)
        x += [*pose[9:], *angles]
        D[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = R
        D[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = np.asarray(chart.rates(angles), dtype=float)
    return np.array(x), D, charts
