"""The matrices of the elimination as text and in LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kinode.symbolic.elimination_forms.euler_charts import ANGLES
from kinode.symbolic.elimination_forms.matrix_tables import write_matrix, write_vector
from kinode.symbolic.formula_text import HOLDS_WHILE, aligned, latex_document, latex_of, plain_text
from kinode.symbolic.printed_equations import matrix

if TYPE_CHECKING:
    from kinode.symbolic.elimination_forms.elimination_matrices import EliminationMatrices

EQUATIONS = ("M v_dot = -Omega v + Q + L lambda", "lambda = B1^-1 (B3 v + sigma - B2 Q)", "x_dot = D v")
LATEX_EQUATIONS = (
    r"\mathbf{M}\dot{\mathbf{v}} &= -\boldsymbol{\Omega}\mathbf{v} + \mathbf{Q}"
    r" + \mathbf{L}_\lambda\boldsymbol{\lambda}",
    r"\boldsymbol{\lambda} &= \mathbf{B}_1^{-1}"
    r"\left(\mathbf{B}_3\mathbf{v} + \boldsymbol{\sigma} - \mathbf{B}_2\mathbf{Q}\right)",
    r"\dot{\mathbf{x}} &= \mathbf{D}\mathbf{v}",
)


def _shown(e: EliminationMatrices) -> list[tuple[str, str, Any, Sequence[str], Sequence[str]]]:
    """Title, LaTeX, entries, names of rows and columns of each matrix that is printed."""
    velocities, rows = e.velocities, e.multipliers
    shown: list[tuple[str, str, Any, Sequence[str], Sequence[str]]] = [
        ("M", r"\mathbf{M}", e.M, velocities, velocities),
        ("Omega", r"\boldsymbol{\Omega}", e.Omega, velocities, velocities),
        ("L_lambda", r"\mathbf{L}_\lambda", e.L, velocities, rows),
        ("rate of L_lambda", r"\dot{\mathbf{L}}_\lambda", e.L_dot, velocities, rows),
    ]
    if e.writes_inverse:
        shown += [
            ("B1 = L'M^-1 L", r"\mathbf{B}_1", e.B1, rows, rows),
            ("B2 = L'M^-1", r"\mathbf{B}_2", e.B2, rows, velocities),
            ("B3 = L'M^-1 Omega - L_dot'", r"\mathbf{B}_3", e.B3, rows, velocities),
        ]
    return shown


def write_elimination(e: EliminationMatrices, width: int) -> str:
    """The matrices as text."""
    lines: list[str] = []
    for title, _, A, rows, columns in _shown(e):
        cells = [[plain_text(x) for x in A.row(i)] for i in range(A.shape[0])]
        by_column = A is e.L or A is e.L_dot
        lines += write_matrix(title, cells, rows, columns, width, by_column=by_column)
    lines += write_vector("v", [plain_text(x) for x in e.velocity_formulas], e.velocities, width)
    lines += write_vector("Q", [plain_text(x) for x in e.Q], e.velocities, width)
    if any(x != 0 for x in e.sigma):
        lines += write_vector("sigma", [plain_text(x) for x in e.sigma], e.multipliers, width)
    lines += _euler_lines(e, width)
    if e.conditions:
        lines += ["", HOLDS_WHILE, *(f"  {plain_text(x)} > 0" for x in e.conditions)]
    named = [f"  {symbol} = {plain_text(formula)}" for symbol, formula in e.intermediates]
    head = [e.heading, "", *(f"  {equation}" for equation in EQUATIONS)]
    return "\n".join([*head, *(["", *named] if named else []), *lines])


def _euler_lines(e: EliminationMatrices, width: int) -> list[str]:
    """D of the bodies, once for all that have the same angles."""
    lines, charts = [], {chart.text: chart for chart in e.charts.values()}
    for text in charts:
        bodies = [body for body, chart in e.charts.items() if chart.text == text]
        plain = {f"{part}_{bodies[0].replace('.', '_')}": part for part in ANGLES}
        cells = [[_renamed(plain_text(x), plain) for x in e.body_rates(bodies[0])[1].row(i)] for i in range(3)]
        lines += ["", f"D = diag(R, T) of {', '.join(bodies)}", f"  R = Rz(psi) Rx(theta) Rz(phi) C, {text}"]
        lines += write_matrix("  T", cells, [f"{part}_dot" for part in ANGLES], ["wx", "wy", "wz"], width)[1:]
    return lines


def _renamed(text: str, names: dict[str, str]) -> str:
    for name, short in names.items():
        text = text.replace(name, short)
    return text


def write_elimination_latex(e: EliminationMatrices, document: bool) -> str:
    """The matrices in LaTeX."""
    parts = [aligned(LATEX_EQUATIONS)]
    parts += [aligned([f"{latex_of(e, symbol)} &= {latex_of(e, formula)}"]) for symbol, formula in e.intermediates]
    shown = [(symbol, A) for _, symbol, A, _, _ in _shown(e)]
    shown += [(r"\boldsymbol{\lambda}", matrix(e.unknowns, 1)), (r"\mathbf{v}", matrix(e.velocity_formulas, 1))]
    shown += [(r"\mathbf{Q}", e.Q), (r"\boldsymbol{\sigma}", e.sigma)]
    for body in e.bodies:
        name = body.replace("_", r"\_")
        for letter, A in zip("RT", e.body_rates(body), strict=True):
            shown.append((rf"\mathbf{{{letter}}}_{{\mathrm{{{name}}}}}", A))
    parts += [aligned([f"{symbol} &= {latex_of(e, A)}"]) for symbol, A in shown]
    if e.conditions:
        parts.append(aligned([rf"\text{{{HOLDS_WHILE}}}\quad {latex_of(e, x)} &> 0" for x in e.conditions]))
    body_text = "\n".join(parts)
    return latex_document(e.heading, body_text) if document else body_text
