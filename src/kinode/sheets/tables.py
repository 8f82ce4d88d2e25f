"""Tables of results: numbers as text, a record for a table, and one for the sheet that a result is shown as.

A result composes its ``sheet`` once, of a title, tables and lines.  Here it is written as text; ``sheets.markup``
writes it as HTML, for pages and notebooks, and ``cli.terminal_tables`` for a terminal.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np

MINUS = "\u2212"
NARROWEST_CELL = 20  # characters of a cell of a table that is wrapped
UNLIMITED = 10**9  # characters of a line
_SIGNS = (("**", "^"), ("^-1", "⁻¹"), ("^-2", "⁻²"), ("^2", "²"), ("^3", "³"), ("*", "·"))


# -- numbers and units -----------------------------------------------------------------------------
def format_number(value: float, digits: int = 4) -> str:
    """A number as text with this many significant digits."""
    if not np.isfinite(value):
        return "infinite" if value > 0 else "not finite"
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        return f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:.0f}"
    return f"{value:.{digits - 1}e}"


def number(value: float, digits: int = 4) -> str:
    """A number for readers: four digits, powers of ten only where they are needed."""
    if not np.isfinite(value):
        return "not finite"
    shown = format_number(value, digits)
    if value and not 1e-3 <= abs(value) < 1e6:
        mantissa, _, exponent = shown.partition("e")
        if "." in mantissa:
            mantissa = mantissa.rstrip("0").rstrip(".")
        shown = f"{mantissa}e{int(exponent)}"
    return shown.replace("-", MINUS)


def format_percent(share: float) -> str:
    """A share of 1 in percent."""
    return f"{100.0 * share:.0f} %".replace("-0 %", "0 %") if np.isfinite(share) else "-"


def pretty_unit(unit: str) -> str:
    """A unit as it is typeset: N*m becomes N·m; what is markup already stays."""
    if type(unit) is not str:
        return unit
    for plain, sign in _SIGNS:
        unit = unit.replace(plain, sign)
    return unit


Head = str | tuple[str, str]  # of a column: words, or words and a unit


# -- tables ----------------------------------------------------------------------------------------
class Strong(str):
    """Text of a cell or a line that stands out; ``why`` says what that means."""

    why: str

    def __new__(cls, text: str, why: str = "") -> Strong:
        strong = super().__new__(cls, text)
        strong.why = why
        return strong


class Whole(str):
    """Text of a cell that is not wrapped: an equation."""


@dataclass(frozen=True)
class Table:
    """Rows under a head.

    Attributes
    ----------
    head : sequence of Head
        What the columns are.
    rows : sequence of sequence of str
        The cells; where HTML is all that is written, they may be markup.
    kinds : str
        A letter for each column: w for words and u for units, both flush left; n for numbers and q for numbers with
        their units, both flush right.  Default are numbers after a column of words.
    title : str
        Over the table.
    narrow : sequence of int
        The columns that are shown where there is no room for all.
    """

    head: Sequence[Head]
    rows: Sequence[Sequence[Any]]
    kinds: str = ""
    title: str = ""
    narrow: Sequence[int] = ()

    def __post_init__(self) -> None:
        if not self.kinds:
            object.__setattr__(self, "kinds", "w".ljust(len(self.head), "n"))

    @property
    def heads(self) -> list[str]:
        """The head as text."""
        return [cell if isinstance(cell, str) else " ".join(cell) for cell in self.head]

    @property
    def left(self) -> list[bool]:
        """Of each column, whether it is flush left."""
        return [kind in "wu" for kind in self.kinds]

    def pick(self, columns: Sequence[int]) -> Table:
        """The table with some of its columns."""
        rows = [[row[k] for k in columns] for row in self.rows]
        return replace(
            self, head=[self.head[k] for k in columns], rows=rows, kinds="".join(self.kinds[k] for k in columns)
        )

    def most(self, count: int) -> Table:
        """The table with so many rows; the last one, which may be a sum, stays."""
        return self if len(self.rows) <= count else replace(self, rows=[*self.rows[: count - 1], self.rows[-1]])

    def typeset(self) -> Table:
        """The table with its units as they are typeset."""
        head = [(x[0], pretty_unit(x[1])) if isinstance(x, tuple) else pretty_unit(x) for x in self.head]
        rows = [
            [pretty_unit(cell) if kind in "uq" else cell for cell, kind in zip(row, self.kinds, strict=True)]
            for row in self.rows
        ]
        return replace(self, head=head, rows=rows)

    def lines(self, width: int = UNLIMITED) -> list[str]:
        """Lines of text; if they do not fit the widest column is wrapped, or else the last ones stand below the others.

        What is ``Whole`` is not wrapped.
        """
        texts = [*([self.heads] if any(self.heads) else []), *self.rows]
        widths = [max((len(row[k]) for row in texts), default=0) for k in range(len(self.head))]
        widest = widths.index(max(widths))
        room = width - 2 * (len(widths) - 1) - sum(widths) + widths[widest]
        whole = any(isinstance(row[widest], Whole) for row in self.rows)
        if room < (widths[widest] if whole else min(widths[widest], NARROWEST_CELL)):
            return [line for row in texts for line in self._two_lines(row, widths, width)]
        widths[widest] = min(widths[widest], room)
        lines = []
        for row in texts:
            cells = [[cell] for cell in row]
            if len(row[widest]) > room:
                cells[widest] = textwrap.wrap(row[widest], room, break_long_words=False)
            lines += [self._line(part, widths) for part in zip_longest(*cells, fillvalue="")]
        return lines

    def _line(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        """The first cells of a row in columns."""
        return "  ".join(x.ljust(w) if left else x.rjust(w) for x, w, left in zip(cells, widths, self.left)).rstrip()

    def _two_lines(self, row: Sequence[str], widths: Sequence[int], width: int) -> list[str]:
        """The cells of a row that fit, and below them the others."""
        fit = max(1, sum(sum(widths[: k + 1]) + 2 * k <= width for k in range(len(widths))))
        rest = "  ".join(cell for cell in row[fit:] if cell)
        below = [rest] if isinstance(row[-1], Whole) else textwrap.wrap(rest, width - 4)
        return [self._line(row[:fit], widths), *(f"    {line}" for line in below)]


def word_table(head: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "") -> Table:
    """A table of words, all flush left."""
    return Table(head, rows, "w" * len(head), title)


def range_table(title: str, ranges: Iterable[tuple[str, Any, str]], digits: int = 4) -> Table:
    """What changes over time, each with its name, its values and its unit: at the start and the end, least and most."""
    rows = []
    for name, values, unit in ranges:
        ends = (values[0], values[-1], np.nanmin(values), np.nanmax(values)) if len(values) else [np.nan] * 4
        rows.append([name, *(number(float(x), digits) for x in ends), unit])
    return Table(("name", "start", "end", "least", "most", "unit"), rows, "wnnnnu", title)


# -- sheets ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Sheet:
    """What a result is shown as: its title, what follows it in the first line, and tables and lines in their order."""

    title: str
    rest: str = ""
    parts: Sequence[Table | str] = ()

    def text(self) -> str:
        """The sheet as text."""
        lines = [self.title + self.rest] if self.title else []
        for part in self.parts:
            lines += part.lines() if isinstance(part, Table) else [part]
        return "\n".join(lines)


class Shown:
    """What prints as its ``sheet``, and is shown as that in a notebook."""

    @property
    def sheet(self) -> Sheet:
        """Title, tables and lines."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.sheet.text()

    def _repr_html_(self) -> str:
        from kinode.sheets.markup import notebook

        return notebook(self.sheet)
