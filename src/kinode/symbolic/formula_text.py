"""Equations as text for a terminal and in LaTeX.  Long sums are broken between their terms."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from kinode.symbolic.escaped_text import latex_text

if TYPE_CHECKING:
    from kinode.symbolic.printed_equations import EquationLine, Printed

LATEX_LINE = 100  # characters of LaTeX after which a sum is broken
INDENT = 6
HOLDS_WHILE = "this holds while"  # over what has to stay positive


# -- terminal --------------------------------------------------------------------------------------
def write_text(printed: Printed, width: int) -> str:
    """The equations in SymPy's plain notation, with a title over each section."""
    lines = [printed.heading]
    for section in printed.sections:
        lines += ["", section.title] if section.title else []
        for line in section.lines:
            lines += wrapped(f"  {_joined(line.left)} = {_joined(line.right)}", width)
    if printed.conditions:
        lines += ["", HOLDS_WHILE]
        lines += [line for x in printed.conditions for line in wrapped(f"  {_joined(terms_in(x))} > 0", width)]
    return "\n".join(lines)


def plain_text(expr: Any) -> str:
    """An expression in SymPy's plain notation."""
    return str(number_printer("StrPrinter", {"full_prec": False}).doprint(expr))


def number_printer(kind: str, settings: Mapping[str, Any]) -> Any:
    """A printer of SymPy that writes powers of ten as such: 10**(-24), 2.5*10**(-12), in place of 1.0e-24, 2.5e-12."""
    return _number_printer(kind)(dict(settings))


@cache
def _number_printer(kind: str) -> Any:
    from sympy.printing.latex import LatexPrinter
    from sympy.printing.str import StrPrinter

    base: Any = {"StrPrinter": StrPrinter, "LatexPrinter": LatexPrinter}[kind]

    class NumberPrinter(base):  # type: ignore[misc]
        def _print_Float(self, expr: Any) -> str:
            text = str(super()._print_Float(expr))
            if base is LatexPrinter:
                return re.sub(r"^(-?)1\.0 \\cdot ", r"\1", text)
            mantissa, mark, exponent = text.partition("e")
            if not mark:
                return text
            power = f"10**({exponent})" if exponent.startswith("-") else f"10**{exponent[1:]}"
            return {"1.0": power, "-1.0": f"-{power}"}.get(mantissa, f"{mantissa}*{power}")

    return NumberPrinter


def _joined(terms: Sequence[Any]) -> str:
    """The terms, joined by their signs."""
    texts = [plain_text(term) for term in terms]
    signed = [f"- {text[1:].lstrip()}" if text.startswith("-") else f"+ {text}" for text in texts[1:]]
    return " ".join([texts[0], *signed])


def terms_in(expr: Any) -> list[Any]:
    """The terms of a sum, as SymPy orders them."""
    return list(expr.as_ordered_terms()) if expr.is_Add else [expr]


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most this width, broken between terms; a term that is too long is broken inside brackets."""
    lines = [""]
    for term in _pieces(text, deepest=0):
        whole = [term] if len(term) + INDENT <= width else _pieces(term, deepest=len(term))
        for piece in [x for part in whole for x in _words(part, width - INDENT)]:
            space = "" if lines[-1].endswith("*") else " "
            if lines[-1] and len(lines[-1]) + len(space) + len(piece) > width:
                lines.append(" " * INDENT + piece)
            else:
                lines[-1] = f"{lines[-1]}{space}{piece}" if lines[-1] else piece
    return lines


def _words(text: str, width: int) -> list[str]:
    """A text that is too long, split after the indices of sums and before conditions; else at blanks, or factors."""
    if len(text) <= width:
        return [text]
    parts = re.split(r"(?<=\]) |  (?=if )", text)
    words = [x for part in parts for x in ([part] if len(part) <= width else re.split(r" (?![^\[]*\])", part))]
    return [x for word in words for x in ([word] if len(word) <= width else re.split(r"(?<=[^*]\*)(?!\*)", word))]


def _pieces(text: str, deepest: int) -> list[str]:
    """The text, split before signs that are inside at most ``deepest`` brackets, and in no square ones."""
    depth, square, start, pieces = 0, 0, 0, []
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        square += (letter == "[") - (letter == "]")
        if depth <= deepest and not square and i > start and re.match(r" [-+=] ", text[i : i + 3]):
            pieces.append(text[start:i])
            start = i + 1
    return [*pieces, text[start:]]


# -- LaTeX -----------------------------------------------------------------------------------------
def write_latex(printed: Printed, document: bool) -> str:
    """An align environment for each section, or a document with all of them."""
    parts = []
    for section in printed.sections:
        if document and section.title:
            parts.append(rf"\subsection*{{{latex_text(section.title)}}}")
        rows = [_row(line, printed) for line in section.lines]
        if rows:
            parts.append(aligned(rows))
    if printed.conditions:
        rows = [rf"{latex_of(printed, x)} &> 0" for x in printed.conditions]
        parts.append(aligned([rf"\text{{{HOLDS_WHILE}}}\quad " + rows[0], *rows[1:]]))
    body = "\n".join(parts)
    return latex_document(printed.heading, body) if document else body


def aligned(rows: Sequence[str]) -> str:
    """Rows in an align environment."""
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"


def latex_document(heading: str, body: str) -> str:
    """A complete LaTeX document; the heading is plain text."""
    head = "\\documentclass{article}\n\\usepackage{amsmath}\n\\usepackage[margin=2cm]{geometry}\n\\allowdisplaybreaks\n"
    return f"{head}\\begin{{document}}\n\\section*{{{latex_text(heading)}}}\n{body}\n\\end{{document}}\n"


def _row(line: EquationLine, printed: Printed) -> str:
    """One line, aligned at the equals sign; a long left side takes lines of its own."""
    left, right = (_broken(terms, printed) for terms in line)
    if len(left) == 1:
        return rf"{left[0]} &= " + r" \\ &\quad ".join(right)
    return r"& " + r" \\ &\quad ".join(left) + r" \\ &\qquad = " + r" \\ &\qquad\quad ".join(right)


def latex_of(printed: Printed, expr: Any) -> str:
    """An expression in LaTeX, with the styles of its symbols."""
    import sympy

    styles = {sympy.Symbol(name): style.latex for name, style in printed.notation.styles.items()}
    return str(number_printer("LatexPrinter", {"symbol_names": styles}).doprint(expr))


def _broken(terms: Sequence[Any], printed: Printed) -> list[str]:
    """A sum in lines of about ``LATEX_LINE`` characters."""
    lines = [""]
    for k, term in enumerate(terms):
        text = latex_of(printed, term)
        text = text if text.startswith("-") or not k else f"+ {text}"
        if lines[-1] and len(lines[-1]) + len(text) > LATEX_LINE:
            lines.append("")
        lines[-1] = f"{lines[-1]} {text}".strip()
    return lines
