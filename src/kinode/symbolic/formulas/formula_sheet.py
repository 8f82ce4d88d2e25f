"""A sheet of formulas in vectors: sections of numbered definitions and equations, as text, LaTeX and MathML."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from kinode.symbolic.escaped_text import latex_text
from kinode.symbolic.formula_text import LATEX_LINE, aligned, latex_document, wrapped
from kinode.symbolic.formulas.typefaces import LATEX, MATHML, PLAIN
from kinode.symbolic.formulas.typeset import condition_text, signed_terms, written
from kinode.symbolic.formulas.vector_terms import Definition
from kinode.symbolic.markup import Markup, join, tag

SHORTEST_LINE = 40  # characters of a line of text, at least
LEAST_COLUMN = 16  # characters of the last column of a table, at least
LONGEST_MARKUP = 6  # terms of a sum on one line of MathML


@dataclass(frozen=True)
class SheetSection:
    """Formulas under a title, after a few words.

    Attributes
    ----------
    title, words : str
        What the formulas are, and what holds for all of them.
    lines : tuple of Definition
        The formulas.
    table : tuple, optional
        Head and rows: which body has which number, values of symbols.
    """

    title: str
    words: str = ""
    lines: tuple[Definition, ...] = ()
    table: tuple[Sequence[str], Sequence[Sequence[str]]] | None = None


@dataclass(frozen=True)
class FormulaSheet:
    """Formulas that print as text, LaTeX and MathML."""

    heading: str
    sections: tuple[SheetSection, ...]

    def __getitem__(self, title: str) -> SheetSection:
        for section in self.sections:
            if section.title == title:
                return section
        raise KeyError(f"{title!r} is none of the sections {', '.join(s.title for s in self.sections)}")

    @property
    def definitions(self) -> list[Definition]:
        """All formulas, in the order of the sections."""
        return [line for section in self.sections for line in section.lines]

    def text(self, width: int = 80) -> str:
        """The formulas as text with lines of at most this many characters.

        Returns
        -------
        str
        """
        width = max(width, SHORTEST_LINE)
        lines = textwrap.wrap(self.heading, width)
        for section in self.sections:
            lines += ["", *textwrap.wrap(section.title, width)]
            lines += textwrap.wrap(section.words, width, initial_indent="  ", subsequent_indent="  ")
            for line in section.lines:
                lines += _text_lines(line, width)
            if section.table is not None:
                lines += _text_table(*section.table, width)
        return "\n".join(lines)

    def latex(self, *, document: bool = False) -> str:
        """The formulas in LaTeX: an align environment for each section, or a complete document.

        Returns
        -------
        str
        """
        parts = []
        for section in self.sections:
            if document:
                parts += [rf"\subsection*{{{latex_text(section.title)}}}", latex_text(section.words)]
            if section.lines:
                parts.append(aligned([_latex_row(line) for line in section.lines]))
            if document and section.table is not None:
                parts.append(_latex_table(*section.table))
        body = "\n".join(part for part in parts if part)
        return latex_document(self.heading, body) if document else body

    def mathml(self) -> str:
        """The formulas as HTML with MathML, which browsers typeset.

        Returns
        -------
        str
        """
        parts: list[Markup] = []
        for section in self.sections:
            parts.append(tag("h3", section.title))
            parts += [tag("p", section.words)] if section.words else []
            rows = [row for line in section.lines for row in _markup_rows(line)]
            if rows:
                body = tag("mtable", *rows, displaystyle="true", columnalign="left")
                parts.append(tag("div", tag("math", body), class_="wide"))
            if section.table is not None:
                parts.append(_markup_table(*section.table))
        return join(parts)

    def __str__(self) -> str:
        return self.text()

    def _repr_latex_(self) -> str:
        return self.latex()


# -- text ------------------------------------------------------------------------------------------
def _text_lines(line: Definition, width: int) -> list[str]:
    formula = f"  {written(line.left, PLAIN)} = {written(line.right, PLAIN)}"
    if line.where is not None:
        formula += f" for {condition_text(line.where, PLAIN)}"
    lines = wrapped(formula, width)
    remark = "  ".join(x for x in (line.words, line.number) if x)
    if remark and len(lines[-1]) + 3 + len(remark) <= width:
        lines[-1] = f"{lines[-1]}{remark:>{width - len(lines[-1])}}"
    elif remark:
        lines.append(f"{remark:>{width}}" if len(remark) < width else f"      {remark}")
    return lines


def _text_table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """A table whose last column is broken where a line would be too long, and the others if that is not enough."""
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
    longest = max((len(word) for row in rows for word in row[-1].split()), default=0)
    room = width - sum(w + 2 for w in widths[:-1]) - 2
    if room >= min(max(LEAST_COLUMN, longest), widths[-1]):
        widths[-1] = min(widths[-1], room)
    else:
        most = max(widths)
        while most > 1 and 2 + sum(min(w, most) + 2 for w in widths) - 2 > width:
            most -= 1
        widths = [min(w, most) for w in widths]
    lines = []
    for row in (head, *rows):
        columns = [_folded(cell, w) for cell, w in zip(row, widths, strict=True)]
        lines += [
            ("  " + "  ".join(f"{x:<{w}}" for x, w in zip(pieces, widths, strict=True))).rstrip()
            for pieces in zip_longest(*columns, fillvalue="")
        ]
    return lines


def _folded(text: str, width: int) -> list[str]:
    """Lines of at most this width, broken between words, or in a long name after a point, or anywhere."""
    words = []
    for word in text.split():
        parts = re.findall(r"[^._ ]*[._]|[^._ ]+", word) if len(word) > width else [word]
        rest = ""
        for part in parts:
            if len(rest) + len(part) > width and rest:
                words.append(rest)
                rest = ""
            rest += part
        words.append(rest)
    return textwrap.wrap(" ".join(words), width) or [""]


# -- LaTeX -----------------------------------------------------------------------------------------
def _latex_row(line: Definition) -> str:
    rows = [""]
    for k, (minus, text) in enumerate(signed_terms(line.right, LATEX)):
        piece = f"- {text}" if minus else f"+ {text}" if k else text
        if rows[-1] and len(rows[-1]) + len(piece) > LATEX_LINE:
            rows.append("")
        rows[-1] = f"{rows[-1]} {piece}".strip()
    where = "" if line.where is None else rf" \quad ({condition_text(line.where, LATEX)})"
    number = rf" \tag*{{{latex_text(line.number)}}}" if line.number else ""
    return rf"{written(line.left, LATEX)} &= " + r" \\ &\quad ".join(rows) + where + number


def _latex_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [" & ".join(latex_text(cell) for cell in row) + r" \\" for row in (head, *rows)]
    return (
        rf"\begin{{tabular}}{{{'l' * len(head)}}}"
        + "\n"
        + "\n".join([lines[0], r"\hline", *lines[1:]])
        + "\n\\end{tabular}"
    )


# -- MathML ----------------------------------------------------------------------------------------
def _markup_rows(line: Definition) -> list[Markup]:
    terms = signed_terms(line.right, MATHML)
    pieces = [terms[k : k + LONGEST_MARKUP] for k in range(0, len(terms), LONGEST_MARKUP)]
    rows: list[list[Any]] = []
    for k, piece in enumerate(pieces):
        start = [Markup(written(line.left, MATHML)), tag("mo", "=")] if not k else [tag("mspace", width="2em")]
        sign = [tag("mo", "+")] if k and not piece[0][0] else []
        rows.append([*start, *sign, Markup(MATHML.signed(piece))])
    if line.where is not None:
        rows[-1] += [tag("mspace", width="1em"), tag("mtext", f"({condition_text(line.where, MATHML)})")]
    remark = [tag("mtext", "  ".join(x for x in (line.words, line.number) if x))]
    shown = [[tag("mtd", *row, style="text-align:left; padding:0.25em 0")] for row in rows]
    shown[-1].append(tag("mtd", *remark, style="text-align:left; padding-left:2em"))
    return [tag("mtr", *row) for row in shown]


def _markup_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    top = tag("thead", tag("tr", *(tag("th", cell) for cell in head)))
    body = tag("tbody", *(tag("tr", *(tag("td", cell) for cell in row)) for row in rows))
    return tag("div", tag("table", top, body), class_="wide")
