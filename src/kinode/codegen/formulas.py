"""Equations as text: for a terminal, for LaTeX, as a Python function, as a C function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kinode.errors import ArgumentError

if TYPE_CHECKING:
    from kinode.codegen.equations import Equations

WIDTH = 100  # characters of LaTeX after which a sum is broken


# -- terminal --------------------------------------------------------------------------------------
def write_text(equations: Equations) -> str:
    """One line an equation, in SymPy's plain notation."""
    lines = [heading(equations)]
    lines += [f"  {symbol} = {formula}" for symbol, formula in equations.intermediates]
    lines += [f"  {equation.lhs} = {equation.rhs}" for equation in equations.equations]
    for joint, reaction in equations.reactions.items():
        for word, vector in zip(("force", "moment"), reaction, strict=True):
            for axis, entry in zip("xyz", vector, strict=True):
                lines.append(f"  {joint}.reaction.{word}.{axis} = {entry}")
    return "\n".join(lines)


def heading(equations: Equations) -> str:
    """What is shown."""
    count = len(equations.unknowns)
    return f"{equations.system.name}: {count} equation{'s' * (count != 1)} of motion, by {equations.formulation}"


# -- LaTeX -----------------------------------------------------------------------------------------
def write_latex(equations: Equations, document: bool) -> str:
    """An align environment, sums broken where they get long; or a document that holds it."""
    rows = [_aligned(_latex(equations, symbol), formula, equations) for symbol, formula in equations.intermediates]
    rows += [f"{_broken(e.lhs, equations)} &= {_latex(equations, e.rhs)}" for e in equations.equations]
    for joint, reaction in equations.reactions.items():
        for letter, vector in zip("FM", reaction, strict=True):
            for axis, entry in zip("xyz", vector, strict=True):
                name = rf"{letter}^{{\mathrm{{{_plain(joint)}}}}}_{{{axis}}}"
                rows.append(_aligned(name, entry, equations))
    body = "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"
    if not document:
        return body
    title = _plain(equations.system.name)
    head = "\\documentclass{article}\n\\usepackage{amsmath}\n\\usepackage[margin=2cm]{geometry}\n\\allowdisplaybreaks\n"
    return f"{head}\\begin{{document}}\n\\section*{{{title}}}\n{body}\n\\end{{document}}\n"


def _plain(name: str) -> str:
    return name.replace("_", r"\_")


def _latex(equations: Equations, expr: Any) -> str:
    import sympy

    names = {symbol: equations.notation.latex.get(name) for name, symbol in equations.symbols.items()}
    found: str = sympy.latex(expr, symbol_names={symbol: text for symbol, text in names.items() if text})
    return found


def _aligned(name: str, formula: Any, equations: Equations) -> str:
    return rf"{name} &= {_broken(formula, equations, '&')}"


def _broken(expr: Any, equations: Equations, mark: str = "") -> str:
    """A sum in lines of moderate length."""
    import sympy

    lines: list[str] = []
    line = ""
    for term in sympy.Add.make_args(expr) if expr.is_Add else [expr]:
        text = _latex(equations, term)
        text = text if text.startswith("-") or not (line or lines) else f"+ {text}"
        if line and len(line) + len(text) > WIDTH:
            lines.append(line)
            line = ""
        line = f"{line} {text}".strip()
    return (rf" \\ {mark}\quad ").join([*lines, line])


# -- source code -----------------------------------------------------------------------------------
def write_python(equations: Equations) -> str:
    """A function of the state in plain Python, with the parameters' present values as defaults."""
    import sympy

    printer = sympy.printing.pycode
    write: Callable[[Any], str] = lambda expr: printer(expr, fully_qualified_modules=True)  # noqa: E731
    given = _defaults(equations)
    more = f", *, {', '.join(f'{name}={value!r}' for name, value in given.items())}" if given else ""
    n = len(equations.unknowns)
    lines = ["import math", "", "", f"def {_identifier(equations)}(t, q, u, u_dot=None, z=(){more}):"]
    lines.append(f'    """{heading(equations)}: M and bias of M u_dot + bias = 0, and reactions."""')
    for role in ("q", "u", "z"):
        symbols = equations.notation.of(role)
        if symbols:
            lines.append(f"    {', '.join(map(str, symbols))}, = {role}")
    if n:
        lines.append(f"    {', '.join(map(str, equations.unknowns))}, = u_dot or [0.0] * {n}")
    lines += [f"    {symbol} = {write(formula)}" for symbol, formula in equations.intermediates]
    rows = [f"[{', '.join(write(equations.M[i, j]) for j in range(n))}]" for i in range(n)]
    lines.append(f"    M = [{(',' + chr(10) + '         ').join(rows)}]")
    lines.append(f"    bias = [{', '.join(map(write, equations.bias))}]")
    lines.append("    reactions = {")
    for joint, (force, moment) in equations.reactions.items():
        lines.append(f"        {joint!r}: ([{', '.join(map(write, force))}], [{', '.join(map(write, moment))}]),")
    lines += ["    }", "    return M, bias, reactions", ""]
    return "\n".join(lines)


def write_c(equations: Equations) -> str:
    """The same in C99: parameters and inputs in one array, matrices by rows."""
    import sympy

    _no_tables(equations)
    given, n = list(_defaults(equations)), len(equations.unknowns)
    lines = ["#include <math.h>", "", f"/* {heading(equations)}: M u_dot + bias = 0.", ""]
    arrays = {role: [str(s) for s in equations.notation.of(role)] for role in ("q", "u", "u_dot", "z")}
    arrays["p"] = given
    lines += [f"   {role}: {', '.join(names)}" for role, names in arrays.items() if names]
    lines.append(f"   M: {n} x {n} by rows; bias: {n}; reactions: force, moment of {', '.join(equations.reactions)} */")
    arguments = ", ".join(f"const double *{role}" for role in arrays)
    lines += [f"void {_identifier(equations)}(double t, {arguments}, double *M, double *bias, double *reactions)", "{"]
    for role, names in arrays.items():
        lines += [f"    const double {name} = {role}[{i}];" for i, name in enumerate(names)]
    lines += [f"    const double {symbol} = {sympy.ccode(formula)};" for symbol, formula in equations.intermediates]
    flat = [x for pair in equations.reactions.values() for part in pair for x in part]
    for array, entries in (("M", list(equations.M)), ("bias", list(equations.bias)), ("reactions", flat)):
        lines += [f"    {array}[{i}] = {sympy.ccode(x)};" for i, x in enumerate(entries)]
    return "\n".join([*lines, "}", ""])


def _defaults(equations: Equations) -> dict[str, float]:
    """Parameters and inputs with their present values."""
    system, names = equations.system, equations.notation.names
    values = system.parameter_values()
    topology = equations.topology
    found = {names["p", i]: float(values[name]) for i, name in enumerate(topology.parameters)}
    for i, name in enumerate(topology.inputs):
        found[names["inputs", i]] = float(system.nominal(system.inputs[name].value))
    return found


def _identifier(equations: Equations) -> str:
    found = "".join(c if c.isalnum() else "_" for c in equations.system.name)
    return found if found[:1].isalpha() else f"system_{found}"


def _no_tables(equations: Equations) -> None:
    if equations.system.tables:
        names: Sequence[str] = list(equations.system.tables)
        raise ArgumentError(f"c: tables are not written in C: {', '.join(names)}; python() writes them")
