"""The matrices of the elimination as text and in LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kinode.symbolic.elimination_forms.euler_charts import ANGLES
from kinode.symbolic.elimination_forms.matrix_tables import write_matrix, write_vector
from kinode.symbolic.escaped_text import latex_text
from kinode.symbolic.formula_text import HOLDS_WHILE, aligned, latex_document, latex_of, plain_text, wrapped
from kinode.symbolic.markup import Markup, join, tag
from kinode.symbolic.mathml import printer_of
from kinode.symbolic.notation import SymbolStyle
from kinode.symbolic.printed_equations import matrix

if TYPE_CHECKING:
    from kinode.symbolic.elimination_forms.elimination_matrices import EliminationMatrices

EQUATIONS = ("M v_dot = -Omega v + Q + L lambda", "lambda = B1^-1 (B3 v + sigma - B2 Q)", "x_dot = D v")
ROTATION = "Rz(psi) Rx(theta) Rz(phi) C"
WIDEST = 8  # columns of a matrix that fits on paper
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
    steps = [f"  {symbol} = {plain_text(formula)}" for symbol, formula in e.intermediates]
    named = [line for step in steps for line in wrapped(step, width)]
    head = [e.heading, "", *(f"  {equation}" for equation in EQUATIONS)]
    return "\n".join([*head, *(["", *named] if named else []), *lines])


def _euler_lines(e: EliminationMatrices, width: int) -> list[str]:
    """D of the bodies, once for all that have the same angles."""
    lines: list[str] = []
    for bodies, text, T in _charts(e):
        cells = [[plain_text(x) for x in T.row(i)] for i in range(3)]
        lines += ["", f"D = diag(R, T) of {', '.join(bodies)}", f"  R = {ROTATION}, {text}"]
        lines += write_matrix("  T", cells, [f"{part}_dot" for part in ANGLES], ["wx", "wy", "wz"], width)[1:]
    return lines


def _charts(e: EliminationMatrices) -> list[tuple[list[str], str, Any]]:
    """The bodies that share their Euler angles, the rotation C as text, and T in angles without the body's name."""
    import sympy

    shared = []
    for part in ANGLES:
        e.notation.styles[part] = SymbolStyle(part)
    for text in dict.fromkeys(chart.text for chart in e.charts.values()):
        bodies = [body for body, chart in e.charts.items() if chart.text == text]
        plain = {sympy.Symbol(f"{part}_{bodies[0].replace('.', '_')}"): sympy.Symbol(part) for part in ANGLES}
        shared.append((bodies, text, e.body_rates(bodies[0])[1].xreplace(plain)))
    return shared


def _every(e: EliminationMatrices) -> list[tuple[str, str, Any, Sequence[str], Sequence[str]]]:
    """Title, LaTeX, entries and names of all matrices and vectors."""
    velocities, rows, one = e.velocities, e.multipliers, ("",)
    shown = _shown(e)
    shown.append(("lambda", r"\boldsymbol{\lambda}", matrix(e.unknowns, 1), rows, one))
    shown.append(("v", r"\mathbf{v}", matrix(e.velocity_formulas, 1), velocities, one))
    shown.append(("Q", r"\mathbf{Q}", e.Q, velocities, one))
    if any(x != 0 for x in e.sigma):
        shown.append(("sigma", r"\boldsymbol{\sigma}", e.sigma, rows, one))
    return shown


# -- MathML ----------------------------------------------------------------------------------------
def write_elimination_markup(e: EliminationMatrices) -> Markup:
    """The matrices as MathML, under their titles."""
    printer = printer_of(e.notation.styles)

    def block(title: str, A: Any) -> list[Markup]:
        shown = tag("math", Markup(printer(A)), display="block", style="text-align:left")
        return [tag("h3", title), tag("div", shown, class_="wide")]

    parts = [tag("p", equation) for equation in EQUATIONS]
    parts += [tag("p", f"{symbol} = ", tag("math", Markup(printer(formula)))) for symbol, formula in e.intermediates]
    for title, _, A, _, _ in _every(e):
        parts += block(title, A)
    for bodies, text, T in _charts(e):
        parts += [*block(f"T of {', '.join(bodies)}", T), tag("p", f"D = diag(R, T), R = {ROTATION}, {text}")]
    for x in e.conditions:
        parts.append(tag("p", f"{HOLDS_WHILE} ", tag("math", Markup(printer(x)), tag("mo", ">"), tag("mn", "0"))))
    return join(parts)


# -- LaTeX -----------------------------------------------------------------------------------------
def write_elimination_latex(e: EliminationMatrices, document: bool) -> str:
    """The matrices in LaTeX; of wide ones the entries that are not zero."""
    parts = [aligned(LATEX_EQUATIONS)]
    parts += [aligned([f"{latex_of(e, symbol)} &= {latex_of(e, formula)}"]) for symbol, formula in e.intermediates]
    for _, symbol, A, rows, columns in _every(e):
        if A.shape[1] <= WIDEST:
            parts.append(aligned([f"{symbol} &= {latex_of(e, A)}"]))
            continue
        entries = [(i, j) for i in range(A.shape[0]) for j in range(A.shape[1]) if A[i, j] != 0]
        lines = [f"{_entry(e, symbol, rows[i], columns[j])} &= {latex_of(e, A[i, j])}" for i, j in entries]
        parts.append(aligned(lines or [f"{symbol} &= 0"]))
    for bodies, text, T in _charts(e):
        names, rotation = latex_text(", ".join(bodies)), r"R_z(\psi)\, R_x(\theta)\, R_z(\varphi)\, \mathbf{C}"
        given = rf"\text{{{names}:}}\quad \mathbf{{R}} = {rotation},\quad \text{{{latex_text(text)}}}"
        parts.append(aligned([given]))
        parts.append(aligned([rf"\mathbf{{T}} &= {latex_of(e, T)}"]))
    if e.conditions:
        parts.append(aligned([rf"\text{{{HOLDS_WHILE}}}\quad {latex_of(e, x)} &> 0" for x in e.conditions]))
    body_text = "\n".join(parts)
    return latex_document(e.heading, body_text) if document else body_text


def _entry(e: EliminationMatrices, symbol: str, row: str, column: str) -> str:
    """An entry of a matrix by the names of its row and column."""
    import sympy

    return rf"{symbol}\bigl[{latex_of(e, sympy.Symbol(row))},\, {latex_of(e, sympy.Symbol(column))}\bigr]"
