"""A sheet of formulas in vectors: sections of numbered definitions and equations, as text, LaTeX and MathML.

``PrintedText`` is what all that prints as text has in common: equations, matrices, sheets.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinode.sheets.markup import Markup, join, table, tag
from kinode.sheets.tables import MINUS, Table, word_table
from kinode.sheets.terms import (
    Cases,
    Definition,
    Negative,
    Number,
    Product,
    ScalarFormula,
    Sum,
    VectorTerm,
    expressions_of,
    parts_of,
)
from kinode.sheets.text import (
    HOLDS_WHILE,
    LATEX_LINE,
    ZERO,
    aligned,
    latex_document,
    latex_text,
    wrapped,
    write_matrix,
    write_vector,
)
from kinode.sheets.typeset import LATEX, MATHML, PLAIN, condition_text, latex_number, signed_terms, written


class PrintedText:
    """What prints as text, within a width; ``_write_text`` writes it."""

    def text(self, width: int = 80) -> str:
        """All of it as text.

        Parameters
        ----------
        width : int
            Characters of a line; default 80.

        Returns
        -------
        str
        """
        return self._write_text(width)

    def __str__(self) -> str:
        return self.text()

    def _write_text(self, width: int) -> str:
        raise NotImplementedError


SHORTEST_LINE = 40  # characters of a line of text, at least
LONGEST_PRODUCT = 160  # characters of LaTeX of a product that is not broken
WIDEST_MATRIX = 8  # columns of a matrix that fits on paper
WIDEST_CELL = 40  # characters of a cell of a table in LaTeX that is not wrapped
LONGEST_MARKUP = 48  # of a line of MathML: 3 for an operation of a scalar term, 8 for a term in vectors
ROUNDING = 1e-14  # of the largest value of a unit: smaller ones are not shown


@dataclass(frozen=True)
class Matrix:
    """A matrix with the names of its rows and columns, or a vector, which has no names of columns.

    In text a wide one is written ``by_column``, and a vector whose entries are their own names is left out.
    """

    title: str
    symbol: str  # in LaTeX
    cells: Sequence[Sequence[str | VectorTerm]]
    rows: Sequence[str | VectorTerm]
    columns: Sequence[str | VectorTerm] | None = None
    by_column: bool = False


@dataclass(frozen=True)
class SheetSection:
    """Formulas under a title, after a few words.

    Attributes
    ----------
    title, words : str
        What the formulas are, and what holds for all of them.
    lines : tuple of Definition
        The formulas.  Those with a value that are zero are listed in text alone.
    table : tuple, optional
        Head and rows: which body has which number, values of symbols.  A cell is a text or a symbol.
    positive : tuple of VectorTerm
        What has to stay positive for all formulas of the sheet to hold.
    law : tuple of str, optional
        A general formula before the others: its lines as text, and rows in LaTeX.
    matrices : tuple of Matrix
        After the formulas.
    notes : tuple of str
        Remarks at the end.
    """

    title: str
    words: str = ""
    lines: tuple[Definition, ...] = ()
    table: tuple[Sequence[str], Sequence[Sequence[str | VectorTerm]]] | None = None
    positive: tuple[VectorTerm, ...] = ()
    law: tuple[str, str] | None = None
    matrices: tuple[Matrix, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def typeset(self) -> list[Definition]:
        """The formulas that are shown in LaTeX and MathML."""
        return [line for line in self.lines if not line.value or not isinstance(line.right, Number)]

    def mathml(self) -> Markup:
        """All below the title as HTML with MathML."""
        parts = [tag("p", self.words)] if self.words else []
        parts += [tag("pre", self.law[0])] if self.law else []
        if lines := self.typeset:
            parts.append(_markup_values(lines) if lines[0].value else _markup_lines(lines))
        parts += [_markup_matrix(block) for block in self.matrices]
        if self.table is not None:
            head, cells = self.table
            parts.append(table(word_table(head, [[_markup_cell(x) for x in row] for row in cells])))
        for term in self.positive:
            shown = tag("math", Markup(written(term, MATHML)), tag("mo", ">"), tag("mn", "0"))
            parts.append(tag("p", f"{HOLDS_WHILE} ", shown))
        return join([*parts, *(tag("p", note, class_="note") for note in self.notes)])


class PrintedSheet(PrintedText):
    """What prints as a sheet of formulas, which ``_sheet`` composes."""

    @cached_property
    def _sheet(self) -> FormulaSheet:
        raise NotImplementedError

    def _write_text(self, width: int) -> str:
        return self._sheet.text(width)

    def latex(self, *, document: bool = False) -> str:
        """The equations in LaTeX.

        Parameters
        ----------
        document : bool
            Whether to write a complete document, with all tables; default are align environments.

        Returns
        -------
        str
        """
        body = self._sheet.latex_body(document)
        return latex_document(self._sheet.heading, body) if document else body

    def mathml(self) -> str:
        """All tables and equations as HTML with MathML, which browsers typeset.

        Returns
        -------
        str
        """
        return join(join([tag("h3", x.title) if x.title else "", x.mathml()]) for x in self._sheet.sections)


@dataclass(frozen=True)
class FormulaSheet(PrintedSheet):
    """Formulas that print as text, LaTeX and MathML."""

    heading: str
    sections: tuple[SheetSection, ...]

    @cached_property
    def _sheet(self) -> FormulaSheet:
        return self

    def __getitem__(self, title: str) -> SheetSection:
        for section in self.sections:
            if section.title == title:
                return section
        raise KeyError(f"{title!r} is none of the sections {', '.join(s.title for s in self.sections)}")

    def only(self, *titles: str) -> FormulaSheet:
        """A sheet with some of the sections."""
        return FormulaSheet(self.heading, tuple(self[title] for title in titles))

    @property
    def definitions(self) -> list[Definition]:
        """All formulas, in the order of the sections."""
        return [line for section in self.sections for line in section.lines]

    def _write_text(self, width: int) -> str:
        width = max(width, SHORTEST_LINE)
        lines = textwrap.wrap(self.heading, width)
        for section in self.sections:
            lines += ["", *textwrap.wrap(section.title, width)] if section.title else []
            lines += _paragraph(section.words, width)
            lines += ["", *(f"  {line}" for line in section.law[0].splitlines())] if section.law else []
            for line in section.lines:
                lines += _text_lines(line, width)
            for block in section.matrices:
                lines += _matrix_lines(block, width)
            if section.table is not None:
                head, cells = section.table
                lines += _table_lines(word_table(head, [[_text_cell(x) for x in row] for row in cells]), width)
            if section.positive:
                lines += ["", HOLDS_WHILE]
                lines += [x for term in section.positive for x in wrapped(f"  {written(term, PLAIN)} > 0", width)]
            lines += [line for note in section.notes for line in _paragraph(note, width)]
        return "\n".join(lines)

    def latex_body(self, told: bool) -> str:
        """The formulas in LaTeX; those of a sheet that is ``told`` with its titles, words and tables."""
        parts = []
        for section in self.sections:
            if told and section.title:
                parts += [rf"\subsection*{{{latex_text(section.title)}}}", latex_text(section.words)]
            parts += [aligned([section.law[1]])] if section.law else []
            rows = [_latex_row(line) for line in section.typeset]
            parts += [aligned(rows)] if rows else []
            parts += [aligned(_latex_matrix(block)) for block in section.matrices]
            if told and section.table is not None:
                parts += [r"\par\noindent", _latex_table(*section.table)]
            if section.positive:
                rows = [rf"{written(term, LATEX)} &> 0" for term in section.positive]
                parts.append(aligned([rf"\text{{{HOLDS_WHILE}}}\quad {rows[0]}", *rows[1:]]))
            parts += map(latex_text, section.notes) if told else []
        return "\n".join(part for part in parts if part)

    def _repr_latex_(self) -> str:
        return self.latex()


class SheetValues(PrintedText, Mapping[str, Any]):
    """The values of all symbols at one instant, by name: ``values["T_1(3)"]``; prints as a table.

    Attributes
    ----------
    units : dict of str to str
        SI unit of each value.
    """

    def __init__(self, values: Mapping[str, Any], units: Mapping[str, str]) -> None:
        self._values, self.units = dict(values), dict(units)

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            raise KeyError(f"{name!r} is no symbol of this sheet; list(values) names all {len(self)}")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def _write_text(self, width: int) -> str:
        """A table: symbol, unit, value; what is rounding beside the largest value of its unit is 0."""
        largest: dict[str, float] = {}
        for name, value in self.items():
            largest[self.units[name]] = max(largest.get(self.units[name], 0.0), float(np.max(np.abs(value))))
        rows = [(x, self.units[x], _number_text(value, ROUNDING * largest[self.units[x]])) for x, value in self.items()]
        return "\n".join(_table_lines(word_table(("symbol", "unit", "value"), rows), width))


def _number_text(value: Any, smallest: float) -> str:
    if np.ndim(value) == 2:
        return ", ".join(_number_text(row, smallest) for row in value)
    if np.ndim(value) == 1:
        return f"({', '.join(_number_text(x, smallest) for x in value)})"
    return f"{0.0 if abs(value) <= smallest else value:.6g}"


# -- text ------------------------------------------------------------------------------------------
def _paragraph(words: str, width: int) -> list[str]:
    return textwrap.wrap(words, width, initial_indent="  ", subsequent_indent="  ")


def _text_lines(line: Definition, width: int) -> list[str]:
    if line.value and _is_number(line.right):
        return [f"  {written(line.left, PLAIN)} = {line.value}"]
    if isinstance(line.right, Cases):
        lines = _case_lines(line.left, line.right, width)
    else:
        lines = _sum_lines(line, width)
    remark = line.value or "  ".join(x for x in (line.words, line.number) if x)
    if remark and len(lines[-1]) + 3 + len(remark) <= width:
        lines[-1] = f"{lines[-1]}{remark:>{width - len(lines[-1])}}"
    elif remark:
        lines.append(f"{remark:>{width}}" if len(remark) < width else f"      {remark}")
    return lines


def _case_lines(left: VectorTerm, cases: Cases, width: int) -> list[str]:
    """One line for each case, below each other; where they are too long, below the symbol."""
    front, lines = f"  {written(left, PLAIN)} =", list[str]()
    texts = [
        f"{written(term, PLAIN)}  {'otherwise' if where is None else f'if {condition_text(where, PLAIN)}'}"
        for term, where in cases.cases
    ]
    if max(len(text) for text in texts) + len(front) < width:
        return [f"{front if not k else ' ' * len(front)} {text}" for k, text in enumerate(texts)]
    for text in texts:
        lines += wrapped(f"    {text}", width)
    return [front, *lines]


def _sum_lines(line: Definition, width: int) -> list[str]:
    formula = f"  {written(line.left, PLAIN)} = {written(line.right, PLAIN)}"
    if line.where is not None:
        formula += f" for {condition_text(line.where, PLAIN)}"
    return wrapped(formula, width)


def _table_lines(shown: Table, width: int) -> list[str]:
    return [f"  {line}" for line in shown.lines(width - 2)]


def _matrix_lines(block: Matrix, width: int) -> list[str]:
    cells, rows = [[_text_cell(x) for x in row] for row in block.cells], list(map(_text_cell, block.rows))
    if block.columns is not None:
        columns = list(map(_text_cell, block.columns))
        return write_matrix(block.title, cells, rows, columns, width, by_column=block.by_column)
    entries = [cell for (cell,) in cells]
    return write_vector(block.title, entries, rows, width) if entries != rows else []


def _is_number(side: VectorTerm) -> bool:
    return isinstance(side, Number) or all(x.is_number for x in expressions_of(side))


def _text_cell(cell: str | VectorTerm) -> str:
    return cell if isinstance(cell, str) else written(cell, PLAIN)


# -- LaTeX -----------------------------------------------------------------------------------------
def _latex_row(line: Definition) -> str:
    """One line, aligned at the equals sign; a long left side takes lines of its own."""
    left, right = (_latex_lines(side) for side in (line.left, line.right))
    if line.value:
        unit = "" if line.unit == "1" else rf"\ \mathrm{{{line.unit.replace('*', chr(92) + ',')}}}"
        value = latex_number(line.value) + unit
        right = [value] if _is_number(line.right) else [*right[:-1], f"{right[-1]} = {value}"]
    where = "" if line.where is None else rf" \quad ({condition_text(line.where, LATEX)})"
    number = rf" \tag*{{{latex_text(line.number)}}}" if line.number else ""
    if len(left) == 1:
        return rf"{left[0]} &= " + r" \\ &\quad ".join(right) + where + number
    return r"& " + r" \\ &\quad ".join(left) + r" \\ &\qquad = " + r" \\ &\qquad\quad ".join(right) + where + number


def _latex_lines(side: VectorTerm) -> list[str]:
    """A sum in lines of about ``LATEX_LINE`` characters."""
    rows = [""]
    for k, term in enumerate(parts_of(side)):
        for piece in _latex_pieces(term, k == 0):
            if rows[-1] and len(rows[-1]) + len(piece) > LATEX_LINE:
                rows.append("")
            rows[-1] = f"{rows[-1]} {piece}".strip()
    return rows


def _latex_pieces(term: VectorTerm, first: bool) -> list[str]:
    """A term with its sign; a long product of a factor and a sum in pieces, between which a line may be broken."""
    ((minus, text),) = signed_terms(term, LATEX)
    sign = "- " if minus else "" if first else "+ "
    inner = term.term if isinstance(term, Negative) else term
    if len(text) <= LONGEST_PRODUCT or not isinstance(inner, Product) or not isinstance(inner.factors[-1], Sum):
        return [sign + text]
    front = written(Product(inner.factors[:-1]), LATEX) if len(inner.factors) > 1 else ""
    pieces = [f"{'- ' if minus else '+ '}{text}" for minus, text in signed_terms(inner.factors[-1], LATEX)]
    pieces[0] = rf"{sign}{front}\, \bigl( {pieces[0].removeprefix('+ ')}"
    pieces[-1] += r" \bigr)"
    return pieces


def _latex_table(head: Sequence[str], rows: Sequence[Sequence[str | VectorTerm]]) -> str:
    """A table; a column of long words is wrapped."""
    cells = [[latex_text(x) if isinstance(x, str) else f"${written(x, LATEX)}$" for x in row] for row in (head, *rows)]
    words = [[x if isinstance(x, str) else "" for x in row] for row in (head, *rows)]
    longest = [max(len(row[k]) for row in words) for k in range(len(head))]
    columns = "".join(r"p{0.4\linewidth}" if length > WIDEST_CELL else "l" for length in longest)
    lines = [" & ".join(row) + r" \\" for row in cells]
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", lines[0], r"\hline", *lines[1:], r"\end{tabular}"])


def _latex_cell(cell: str | VectorTerm) -> str:
    return latex_text(cell) if isinstance(cell, str) else written(cell, LATEX)


def _latex_matrix(block: Matrix) -> list[str]:
    """A matrix, or the entries of a wide one that are not zero, by the names of their rows and columns."""
    cells = [[_latex_cell(x) for x in row] for row in block.cells]
    if block.columns is None or len(block.columns) <= WIDEST_MATRIX:
        body = r"\\".join(" & ".join(row) for row in cells)
        return [rf"{block.symbol} &= \left[\begin{{matrix}}{body}\end{{matrix}}\right]"]
    rows, columns = list(map(_latex_cell, block.rows)), list(map(_latex_cell, block.columns))
    entries = [(rows[i], columns[j], x) for i, row in enumerate(cells) for j, x in enumerate(row) if x not in ZERO]
    lines = [rf"{block.symbol}\bigl[{row},\, {column}\bigr] &= {x}" for row, column, x in entries]
    return lines or [f"{block.symbol} &= 0"]


# -- MathML ----------------------------------------------------------------------------------------
def _markup_values(lines: Sequence[Definition]) -> Markup:
    """A row for each formula: what it is of, its value, and the formula itself."""
    rows = []
    for line in lines:
        left, right = (Markup(written(side, MATHML)) for side in (line.left, line.right))
        formula = tag("math", tag("mrow", left, tag("mo", "="), right))
        unit = "" if line.unit == "1" else line.unit
        rows.append([line.words, line.value.replace("-", MINUS), unit, formula])
    return table(Table(["", "at the start", "", "formula"], rows, "wnuw"))


def _markup_lines(lines: Sequence[Definition]) -> Markup:
    rows = [row for line in lines for row in _markup_rows(line)]
    return tag("div", tag("math", tag("mtable", *rows, displaystyle="true", columnalign="left")), class_="wide")


def _markup_rows(line: Definition) -> list[Markup]:
    """An equation on as many lines as it needs, with what it says behind the last one."""
    rows: list[list[Any]] = [[]]
    size = 0
    for side in (line.left, line.right):
        rows[-1] += [tag("mo", "=")] if rows[-1] else []
        for k, (term, (minus, text)) in enumerate(zip(parts_of(side), signed_terms(side, MATHML), strict=True)):
            own = _markup_size(term)
            if size and size + own > LONGEST_MARKUP:
                rows.append([tag("mspace", width="2em")])
                size = 0
            size += own
            rows[-1] += [tag("mo", MINUS if minus else "+")] if minus or k else []
            rows[-1].append(Markup(text))
    if line.where is not None:
        rows[-1] += [tag("mspace", width="1em"), tag("mtext", f"({condition_text(line.where, MATHML)})")]
    remark = [tag("mtext", "  ".join(x for x in (line.words, line.number) if x))]
    shown = [[tag("mtd", *row, style="text-align:left; padding:0.25em 0")] for row in rows]
    shown[-1].append(tag("mtd", *remark, style="text-align:left; padding-left:2em"))
    return [tag("mtr", *row) for row in shown]


def _markup_size(term: VectorTerm) -> int:
    inner = term.term if isinstance(term, Negative) else term
    if isinstance(inner, Number):
        return 0
    return 3 * (int(inner.expression.count_ops()) + 1) if isinstance(inner, ScalarFormula) else 8


def _markup_matrix(block: Matrix) -> Markup:
    rows = [tag("mtr", *(tag("mtd", _markup_entry(x)) for x in row)) for row in block.cells]
    shown = tag("mrow", tag("mo", "["), tag("mtable", *rows), tag("mo", "]"))
    formula = tag("math", shown, display="block", style="text-align:left")
    return join([tag("h3", block.title), tag("div", formula, class_="wide")])


def _markup_entry(cell: str | VectorTerm) -> Markup:
    return tag("mn", cell) if isinstance(cell, str) else Markup(written(cell, MATHML))


def _markup_cell(cell: str | VectorTerm) -> str:
    return cell if isinstance(cell, str) else tag("math", Markup(written(cell, MATHML)))
