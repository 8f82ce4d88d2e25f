"""Text for a terminal and LaTeX: matrices, sums broken between their terms, escaped words.

A matrix is a table where it fits, else a list of its entries.  Words of users (names, notes) stay text in LaTeX,
whatever they hold: characters that are not printable (line breaks, control characters, marks that turn the direction of
writing, halves of surrogate pairs) become ``\\uXXXX``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from kinode.sheets.tables import Table

GAP = "  "
ZERO = ("0", "0.0")


def write_matrix(
    title: str, cells: Sequence[Sequence[str]], rows: Sequence[str], columns: Sequence[str], width: int, *,
    by_column: bool = False,
) -> list[str]:  # fmt: skip
    """The lines of a matrix: a table with dots for zeros, or the entries by row, or ``by_column``."""
    lines = ["", f"{title}, {len(rows)} x {len(columns)}"]
    if all(cell in ZERO for row in cells for cell in row):
        return [*lines, GAP + "all zero"]
    shown = [["." if cell in ZERO else cell for cell in row] for row in cells]
    table = Table(["", *columns], [[name, *row] for name, row in zip(rows, shown, strict=True)]).lines()
    if len(GAP + max(table, key=len)) <= width:
        return lines + [GAP + line for line in table]
    if by_column:
        shown, rows, columns = [list(column) for column in zip(*shown, strict=True)], columns, rows
    size = max(len(name) for name in rows)
    for name, row in zip(rows, shown, strict=True):
        entries = [f"{column}: {cell}" for column, cell in zip(columns, row, strict=True) if cell != "."]
        lines += _listed(GAP + name.ljust(size) + GAP, entries, width)
    return lines


def write_vector(title: str, cells: Sequence[str], names: Sequence[str], width: int) -> list[str]:
    """The lines of a vector; zeros are left out."""
    entries = [(name, cell) for name, cell in zip(names, cells, strict=True) if cell not in ZERO]
    lines = [line for name, cell in entries for line in wrapped(f"{GAP}{name} = {cell}", width)]
    return ["", f"{title}, {len(names)} x 1", *(lines or [GAP + "all zero"])]


def _listed(head: str, entries: Sequence[str], width: int) -> list[str]:
    """Entries after a name, separated by commas, on as many lines as they need; nothing if there are none."""
    lines: list[str] = []
    for k, entry in enumerate(entries):
        text = entry + ("," if k < len(entries) - 1 else "")
        if lines and len(lines[-1]) + 1 + len(text) <= width:
            lines[-1] += f" {text}"
        else:
            first, *rest = wrapped(text, max(width - len(head), 20))
            lines += [(" " * len(head) if lines else head) + first, *(" " * len(head) + line for line in rest)]
    return lines


LATEX_LINE = 100  # characters of LaTeX after which a sum is broken
INDENT = 6
HOLDS_WHILE = "this holds while"  # over what has to stay positive


def positive_first(terms: Sequence[Any]) -> list[Any]:
    """The terms of a sum, beginning with a positive one if there is one."""
    k = next((k for k, term in enumerate(terms) if not term.could_extract_minus_sign()), 0)
    return [terms[k], *terms[:k], *terms[k + 1 :]]


def number_printer(kind: str, settings: Mapping[str, Any]) -> Any:
    """A printer of SymPy: r - p q, not -p q + r; 10**(-24), 2.5*10**(-12), in place of 1.0e-24, 2.5e-12."""
    return _number_printer(kind)(dict(settings))


@cache
def _number_printer(kind: str) -> Any:
    from sympy.printing.latex import LatexPrinter
    from sympy.printing.str import StrPrinter

    base: Any = {"StrPrinter": StrPrinter, "LatexPrinter": LatexPrinter}[kind]

    class NumberPrinter(base):  # type: ignore[misc]
        def _as_ordered_terms(self, expr: Any, order: Any = None) -> Any:
            return positive_first(super()._as_ordered_terms(expr, order=order))

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


def wrapped(text: str, width: int, indent: int = INDENT) -> list[str]:
    """Lines of at most this width, broken between terms; a term that is too long is broken inside brackets."""
    lines = [""]
    for term in _pieces(text, deepest=0):
        whole = [term] if len(term) + indent <= width else _pieces(term, deepest=len(term))
        for piece in [x for part in whole for x in _words(part, width - indent)]:
            space = "" if lines[-1].endswith("*") else " "
            if lines[-1] and len(lines[-1]) + len(space) + len(piece) > width:
                lines.append(" " * indent + piece)
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


def aligned(rows: Sequence[str]) -> str:
    """Rows in an align environment."""
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"


def latex_document(heading: str, body: str) -> str:
    """A complete LaTeX document; the heading is plain text."""
    head = "\\documentclass{article}\n\\usepackage{amsmath}\n\\usepackage[margin=2cm]{geometry}\n\\allowdisplaybreaks\n"
    return f"{head}\\begin{{document}}\n\\section*{{{latex_text(heading)}}}\n{body}\n\\end{{document}}\n"


LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    **{mark: f"\\{mark}" for mark in "{}_#%&$"},
}


def latex_text(words: str) -> str:
    """Words outside of formulas in LaTeX."""
    return "".join(LATEX.get(letter, letter) for letter in visible_text(words))


def visible_text(words: str) -> str:
    if words.isprintable():
        return words
    return "".join(letter if letter.isprintable() else _code(ord(letter)) for letter in words)


def _code(number: int) -> str:
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
